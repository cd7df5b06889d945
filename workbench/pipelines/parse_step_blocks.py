"""The nested blocks of a step as pydantic models: gate, matrix, iterate, branch, loop, contracts, retries.

Imports pydantic, so import it only where a pipeline is read.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final, cast

from msgspec.structs import replace
from pydantic import Field

from workbench.domain.values import Choice, Json
from workbench.pipelines import templates
from workbench.pipelines.document_model import (
    PRESENT,
    REQUIRED,
    DocumentModel,
    Flag,
    Items,
    NamedTexts,
    Place,
    Text,
    Whole,
    between,
    duration_seconds,
    one_of,
    read_text,
)
from workbench.pipelines.model import (
    AggregateStrategy,
    Compaction,
    FailureAction,
    FailurePolicy,
    GateSpec,
    Matrix,
)
from workbench.pipelines.parse_contracts import FAILURE_ACTIONS, ContractDocument, Retries, contract_model
from workbench.text.located import DocumentPlace, text_at

_MOST_WINDOW_SECONDS: Final = 366 * 86400.0


_MODES: Final = {"sequential": False, "parallel": True}


class IterateDocument(DocumentModel):
    """The items that a step is done for, one after the other or at once."""

    over: Annotated[Place | None, PRESENT] = None
    is_parallel: Annotated[bool, one_of(_MODES)] = Field(default=False, alias="mode")
    max_concurrent: Annotated[Whole, between(1, 1000)] = 5

    def matrix(self) -> Matrix:
        items, over = self._items()
        return Matrix(
            items=items, over=over, limit=self.max_concurrent if self.is_parallel else 1, is_iteration=True,
            is_stopping=not self.is_parallel,
        )  # fmt: skip

    def _items(self) -> tuple[tuple[Json, ...] | None, str]:
        over = self.place_of("over")
        if over is None:
            return (), ""
        if over.node.items is not None:
            return tuple(node.value for node in over.node.items), ""
        text = text_at(over)
        if next(templates.template_names(text), None) is not None:
            return None, text
        try:
            listed: object = json.loads(text)
        except ValueError:
            listed = None
        if not isinstance(listed, list):
            over.error("wrong_value", "over has to be a list, a JSON list, or a template that comes to one")
            return (), ""
        return tuple(cast("list[Json]", listed)), ""


_ITEM_MEMBER: Final = re.compile(r"\{\{\s*\.([A-Za-z0-9_.]{0,100})\s*\}\}")
"""How other programs name a member of the item: `{{ .repo }}`."""
_UNSUPPORTED_MEMBERS: Final = {"dependency_key": "order of items", "stacked": "order of items"}


class MatrixDocument(DocumentModel):
    """`strategy`: the items that a step is done for, and the pipeline that each of them runs."""

    type: Annotated[str, one_of({"matrix": "matrix"})] = "matrix"
    items: Place | None = None
    items_source: Text = ""
    item_key: Text = ""
    id_key: Text = Field(default="", alias="item_id_key")
    limit: Annotated[Whole, between(1, 1000)] = Field(default=0, alias="max_concurrency")
    child_pipeline: Text = ""
    input_template: Text = ""
    dependency_key: Place | None = None
    stacked: Place | None = None

    @property
    def child_input(self) -> str:
        """Return the input of the pipeline that each item runs, in our template syntax."""
        return _ITEM_MEMBER.sub(
            lambda match: f"{{{{ item{'.' if match[1] else ''}{match[1]} }}}}", self.input_template
        )

    def matrix(self, step: DocumentPlace) -> Matrix:
        if not self.child_pipeline and self.input_template:
            message = "input_template is not used: it is the input of child_pipeline, which is not named"
            self.place.key("input_template").warn("not_run", message)
        if self.child_pipeline and step.present("exec"):
            message = "exec is not used: every item runs the pipeline that child_pipeline names"
            step.key("exec").warn("not_run", message)
        items = self.place_of("items")
        if items is not None and items.node.items is None:
            items.error("wrong_type", "items has to be a list")
            items = None
        if items is None and not self.items_source:
            self.place.error("missing_field", f"{self.place.path} needs items or items_source")
        for name, meaning in _UNSUPPORTED_MEMBERS.items():
            if self.place_of(name):
                # Without it something else would be run, or in another order: that is worse than nothing.
                self.place.key(name).warn("not_run", f"{name} ({meaning}) is not run here", stops_run=True)
        step_id, artifact = self._source()
        key = self.item_key or self.items_source.partition("#")[2]
        return self.to(
            Matrix, items=tuple(node.value for node in items.node.items or ()) if items else None,
            step=step_id, artifact=artifact, keys=tuple(filter(None, key.split("."))),
        )  # fmt: skip

    def _source(self) -> tuple[str, str]:
        """Return step and artifact of `step/artifact`, `step.artifact` or `step/artifact.json`."""
        separator = "/" if "/" in self.items_source else "."
        step, is_separated, rest = self.items_source.partition(separator)
        if is_separated:
            return step, rest.partition("#")[0]
        source = self.place_of("items_source")
        if source and self.items_source:
            source.error("wrong_value", "items_source has to be STEP/ARTIFACT")
        return "", ""


class BranchDocument(DocumentModel):
    """Which pipeline a step runs for which value."""

    on: Annotated[Text, REQUIRED] = ""
    cases: Annotated[NamedTexts, PRESENT] = Field(default_factory=dict)


_STRATEGIES: Final = {word: word for word in ("merge_arrays", "concat", "reduce")}


class AggregateDocument(DocumentModel):
    """What several steps or items left, put together."""

    source: Annotated[Text, REQUIRED] = Field(default="", alias="from")
    into: Annotated[Text, REQUIRED] = ""
    strategy: Annotated[AggregateStrategy, one_of(_STRATEGIES), PRESENT] = "merge_arrays"
    key: Text = ""


class LoopDocument(DocumentModel):
    """Steps that are done again until something holds."""

    most: Annotated[Whole, between(1, 100), PRESENT] = Field(default=1, alias="max_iterations")
    until: Text = ""
    steps: Items[Place] = ()


class EdgeDocument(DocumentModel):
    """Where a step leads; the first edge whose condition holds is taken."""

    target: Annotated[Text, REQUIRED] = ""
    condition: Text = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {"label": "a label", "description": "a description"}


class _ChoiceDocument(DocumentModel):
    key: Annotated[Text, REQUIRED] = ""
    label: Text | None = None
    target: Text = ""


class _TimerDocument(DocumentModel):
    type: Text = ""
    timeout: Place | None = None
    auto: Place | None = None
    message: Place | None = None
    prompt: Place | None = None
    not_acted_on: ClassVar[Mapping[str, str]] = {"tui_action": "an action of another screen"}


class _GateDocument(DocumentModel):
    type: Place | None = None
    prompt: Text = ""
    message: Place | None = None
    choices: Items[_ChoiceDocument] = ()
    is_freeform: Flag = Field(default=False, alias="freeform")
    timeout: Place | None = None
    is_auto: Flag = Field(default=False, alias="auto")
    default: Text = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "tui_action": "an action of another screen", "pr_number": "a number", "repo": "a repository",
        "branch": "a branch", "interval": "an interval",
    }  # fmt: skip


def read_gate(place: DocumentPlace | None) -> GateSpec:
    """Return what a gate asks; without `gate` the step's own words are used."""
    if place is None:
        return GateSpec()
    kind = place.present("type")
    word = text_at(kind) if kind else "approval"
    if word == "timer":
        return _read_timer(_TimerDocument.model_validate(place))
    gate = _GateDocument.model_validate(place)
    if not gate.is_mapping:
        return GateSpec()
    if kind is not None and word != "approval":
        kind.warn("not_run", f"gates of type {word} are not run here", stops_run=True)
    choices, targets = _read_choices(gate.choices, list((place.member("choices") or place).items()))
    if gate.default and gate.default not in [choice.key for choice in choices]:
        choice_keys = ", ".join(choice.key for choice in choices) or "none"
        place.key("default").error(
            "wrong_value", f"default has to be one of the choices; there are {choice_keys}"
        )
    if gate.is_freeform and choices:
        message = "freeform is not offered beside choices here; a reason may be given with any answer"
        place.key("freeform").warn("not_run", message)
    prompt = gate.prompt or read_text(place, "message")
    return gate.to(
        GateSpec, type=word, prompt=prompt, choices=choices, targets=targets,
        window_minutes=_window_minutes(gate),
    )  # fmt: skip


def _read_timer(timer: _TimerDocument) -> GateSpec:
    minutes = _window_minutes(timer)
    if minutes is None and not timer.place_of("timeout"):
        timer.place.error("missing_field", f"{timer.place.path} needs timeout, how long the timer waits")
    return GateSpec(type="timer", wait_seconds=(minutes or 0) * 60)


def _read_choices(
    documents: Sequence[_ChoiceDocument], places: Sequence[DocumentPlace]
) -> tuple[tuple[Choice, ...], dict[str, str]]:
    choices: dict[str, Choice] = {}
    targets: dict[str, str] = {}
    for document, place in zip(documents, places, strict=False):
        key = document.key
        if key in choices:
            place.error("wrong_value", f"the choice {key} is there twice")
            continue
        choices[key] = Choice(key=key, label=key if document.label is None else document.label)
        if document.target:
            targets[key] = document.target
    return tuple(choices.values()), targets


def _window_minutes(gate: DocumentModel) -> float | None:
    timeout = gate.place_of("timeout")
    if timeout is None:
        return None
    seconds = duration_seconds(text_at(timeout))
    if seconds is None or not 0 < seconds <= _MOST_WINDOW_SECONDS:
        timeout.error("wrong_value", "timeout has to be a duration such as 30m or 1h")
        return None
    return seconds / 60


_TOKEN_LIMIT: Final = re.compile(r"token_limit_(\d{1,3})%")


class CompactionDocument(DocumentModel):
    """When a step's conversation is summarised, and by whom."""

    trigger: Place | None = None
    persona: Text = ""

    def compaction(self) -> Compaction:
        """Return it as a percentage of the context window."""
        trigger = self.place_of("trigger")
        match = _TOKEN_LIMIT.fullmatch(text_at(trigger)) if trigger else None
        if trigger is not None and (match is None or not 1 <= int(match[1]) <= 100):
            trigger.error("wrong_value", "trigger has to be token_limit_80% or the like")
        return Compaction(percent=int(match[1]) if match else 80, persona=self.persona)


class HandoverDocument(DocumentModel):
    """What is checked when a step ends, and what a failure of it means."""

    contracts: Items[Place] = ()
    contract: Place | None = None
    max_retries: Retries | None = None
    compaction: CompactionDocument | None = None
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "on_review_fail": "a review", "target_step": "a review", "reviews": "a review",
    }  # fmt: skip

    def contract_documents(self) -> list[ContractDocument]:
        """Return the contracts; a single one counts only without a list."""
        single = self.place_of("contract")
        places = self.contracts or ((single,) if single else ())
        return [contract_model(place).model_validate(place) for place in places]


_DEFAULT_RETRIES: Final = 2
_RETRY_POLICIES: Final = {
    "none": (1, 0.0, 30.0), "standard": (3, 1.0, 30.0), "aggressive": (5, 0.2, 30.0),
    "patient": (3, 5.0, 90.0),
}  # fmt: skip
"""Attempts, seconds of the first delay, and the most that it grows to, as Wave's guide of retry policies."""
_NO_POLICY: Final = (1, 1.0, 30.0)
_BACKOFF_FACTORS: Final = {"": 2.0, "fixed": 1.0, "linear": 1.0, "exponential": 2.0}


class RetryDocument(DocumentModel):
    """How often and when a step is tried again."""

    policy: Annotated[tuple[int, float, float], one_of(_RETRY_POLICIES)] = _NO_POLICY
    max_attempts: Annotated[Whole, between(1, 100)] | None = None
    backoff: Annotated[str, one_of({word: word for word in _BACKOFF_FACTORS if word})] = ""
    then: Annotated[FailureAction, one_of(FAILURE_ACTIONS)] = Field(default="fail", alias="on_failure")
    rework_step: Text = ""
    base_delay: Place | None = None
    max_delay: Place | None = None
    adapt_prompt: Flag = True
    is_tier_kept: Flag = Field(default=False, alias="no_escalate")

    def failure_policy(self) -> FailurePolicy:
        """Return what `retry` alone says of failures."""
        attempts, delay, most = self.policy
        return self.to(
            FailurePolicy, attempts=self.max_attempts or attempts,
            delay_seconds=self._seconds("base_delay", delay),
            delay_factor=_BACKOFF_FACTORS[self.backoff],
            most_delay_seconds=self._seconds("max_delay", most), is_linear=self.backoff == "linear",
        )  # fmt: skip

    def _seconds(self, name: str, default: float) -> float:
        delay = self.place_of(name)
        seconds = duration_seconds(text_at(delay)) if delay else default
        if seconds is None and delay:
            delay.error("wrong_value", f"{name} has to be a duration such as 500ms or 2s")
        return default if seconds is None else seconds


def failure_policy(
    retry: RetryDocument | None, handover: HandoverDocument | None,
    contracts: Sequence[ContractDocument], *, is_optional: bool,
) -> FailurePolicy:  # fmt: skip
    """Return what a failure of a step means, of all that its retry, handover and contracts say."""
    base = retry.failure_policy() if retry else FailurePolicy()
    counts = [contract.max_retries for contract in contracts if contract.max_retries is not None]
    if handover and handover.max_retries is not None:
        counts.append(handover.max_retries)
    if not counts and any(contract.on_failure == "retry" for contract in contracts):
        counts.append(_DEFAULT_RETRIES)
    if not counts and any(contract.is_done_again for contract in contracts) and not base.rework_step:
        counts.append(_DEFAULT_RETRIES)
    then, rework = base.then, base.rework_step
    for contract in contracts:
        action = FAILURE_ACTIONS.get(contract.on_failure)
        # What one contract only warns of says nothing of the others, nor of the step itself. A failure of its
        # program is dealt with as `retry` says, else as the first contract that says something.
        is_stated = bool(rework) or not contract.is_done_again
        if then == "fail" and action in ("skip", "rework") and is_stated:
            then = action
        if action == "rework":
            rework = rework or contract.rework_step
    if is_optional and then == "fail":
        then = "skip"
    attempts = max([base.attempts, *(count + 1 for count in counts)])
    return replace(base, attempts=attempts, then=then, rework_step=rework)
