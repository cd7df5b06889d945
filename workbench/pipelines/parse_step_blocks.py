"""Parse the nested blocks of a step, such as gate, matrix, iterate, branch, loop and retries."""

import json
import re
from collections.abc import Callable
from typing import Final, Literal, cast

from msgspec import Struct

from workbench.domain.values import Choice, Json
from workbench.pipelines import templates
from workbench.pipelines.documents import DocumentPlace, FieldReader, text_at
from workbench.pipelines.model import (
    Aggregate,
    Branch,
    Contract,
    ContractType,
    FailureAction,
    FailurePolicy,
    GateSpec,
    Loop,
    Matrix,
    Route,
    RouteEdge,
    Step,
)
from workbench.text.safe import one_line

DEFAULT_PARALLEL: Final = 5
"""Pipelines that run at once where an iteration names no number."""
_MOST_ROUNDS: Final = 100
_ITERATION_MODES: Final = {"sequential": False, "parallel": True}
_Strategy = Literal["merge_arrays", "concat", "reduce"]
_STRATEGIES: Final[dict[str, _Strategy]] = {
    "merge_arrays": "merge_arrays", "concat": "concat", "reduce": "reduce",
}  # fmt: skip


def read_iterate(step: FieldReader) -> Matrix | None:
    """Return the items of `iterate` as a matrix; None without one."""
    fields = step.below("iterate")
    if fields is None:
        return None
    fields.required("over")
    items, over = _iterated_items(fields)
    is_parallel = fields.word("mode", _ITERATION_MODES, False)
    limit = fields.whole("max_concurrent", DEFAULT_PARALLEL, 1, 1000)
    fields.unknown()
    return Matrix(
        items=items, over=over, limit=limit if is_parallel else 1, is_iteration=True,
        is_stopping=not is_parallel,
    )  # fmt: skip


def _iterated_items(fields: FieldReader) -> tuple[tuple[Json, ...] | None, str]:
    over = fields.get("over")
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


def read_branch(step: FieldReader) -> Branch | None:
    """Return which pipeline a step runs for which value; None without `branch`."""
    fields = step.below("branch")
    if fields is None:
        return None
    cases = fields.below("cases")
    if cases is None:
        fields.required("cases")
    named_cases = {name: cases.text(name) for name in (cases.place.node.members or {})} if cases else {}
    branch = Branch(on=fields.text("on", required=True), cases=named_cases)
    fields.unknown()
    return branch


def read_aggregate(step: FieldReader) -> Aggregate | None:
    """Return what a step puts together; None without `aggregate`."""
    fields = step.below("aggregate")
    if fields is None:
        return None
    fields.required("strategy")
    aggregate = Aggregate(
        source=fields.text("from", required=True), into=fields.text("into", required=True),
        strategy=fields.word("strategy", _STRATEGIES, "merge_arrays"), key=fields.text("key"),
    )  # fmt: skip
    fields.unknown()
    return aggregate


def read_loop(step: FieldReader, read: Callable[[DocumentPlace], Step | None]) -> Loop | None:
    """Return the steps that are done again; None without `loop`."""
    fields = step.below("loop")
    if fields is None:
        return None
    fields.required("max_iterations")
    steps = tuple(one for place in fields.objects("steps") if (one := read(place)) is not None)
    loop = Loop(
        most=fields.whole("max_iterations", 1, 1, _MOST_ROUNDS), until=fields.text("until"), steps=steps
    )
    fields.unknown()
    return loop


def read_edges(step: FieldReader) -> tuple[RouteEdge, ...]:
    """Return where a step leads; the first edge whose condition holds is taken."""
    edges: list[RouteEdge] = []
    for place in step.objects("edges"):
        fields = FieldReader(place)
        if place.node.members is None:
            continue
        edges.append(
            RouteEdge(target=fields.text("target", required=True), condition=fields.text("condition"))
        )
        fields.unknown({"label": "a label", "description": "a description"})
    return tuple(edges)


def read_route(step: FieldReader, edges: tuple[RouteEdge, ...]) -> Route:
    """Return the route of a conditional step."""
    if not edges:
        step.required("edges")
    return Route(edges=edges)


_DURATION_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MOST_MINUTES: Final = 366 * 24 * 60.0


def duration_seconds(text: str) -> float | None:
    """Return a duration such as `1h30m`, `90s`, `500ms`; None if it is none."""
    compact = text.replace(" ", "")
    parts = _DURATION_PART.findall(compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        return None
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)


def read_gate(step: FieldReader) -> GateSpec:
    """Return what a gate asks; without `gate` the step's own words are used."""
    fields = step.below("gate")
    if fields is None:
        return GateSpec()
    kind = fields.get("type")
    word = text_at(kind) if kind else "approval"
    if word == "timer":
        return _read_timer(fields)
    if kind is not None and word != "approval":
        kind.warn("not_run", f"gates of type {word} are not run here", stops_run=True)
    if fields.has("auto") and fields.flag("auto", False):
        fields.place.key("auto").warn("not_run", "auto is not followed: only a human answers a gate")
    if fields.has("default"):
        fields.place.key("default").warn("not_run", "default is not followed: a gate never answers itself")
    choices, targets = _read_choices(fields)
    gate = GateSpec(
        type=word, prompt=fields.text("prompt") or fields.text("message"), choices=choices, targets=targets,
        is_freeform=fields.flag("freeform", False), window_minutes=_window_minutes(fields),
    )  # fmt: skip
    if fields.has("freeform") and gate.is_freeform and gate.choices:
        message = "freeform is not offered beside choices here; a reason may be given with any answer"
        fields.place.key("freeform").warn("not_run", message)
    fields.has("message")
    fields.unknown(
        {
            "tui_action": "an action of another screen", "pr_number": "a number", "repo": "a repository",
            "branch": "a branch", "interval": "an interval",
        }
    )  # fmt: skip
    return gate


def _read_timer(fields: FieldReader) -> GateSpec:
    minutes = _window_minutes(fields)
    if minutes is None and not fields.has("timeout"):
        fields.place.error("missing_field", f"{fields.place.path} needs timeout, how long the timer waits")
    for name in ("auto", "message", "prompt"):
        fields.has(name)
    fields.unknown({"tui_action": "an action of another screen"})
    return GateSpec(type="timer", wait_seconds=(minutes or 0) * 60)


def _read_choices(fields: FieldReader) -> tuple[tuple[Choice, ...], dict[str, str]]:
    choices: list[Choice] = []
    targets: dict[str, str] = {}
    for place in fields.objects("choices"):
        item = FieldReader(place)
        key = item.text("key", required=True)
        if any(choice.key == key for choice in choices):
            place.error("wrong_value", f"the choice {key} is there twice")
            continue
        choices.append(Choice(key=key, label=item.text("label", key)))
        target = item.text("target")
        if target:
            targets[key] = target
        item.unknown()
    return tuple(choices), targets


def _window_minutes(fields: FieldReader) -> float | None:
    timeout = fields.get("timeout")
    if timeout is None:
        return None
    seconds = duration_seconds(text_at(timeout))
    if seconds is None or not 0 < seconds <= _MOST_MINUTES * 60:
        timeout.error("wrong_value", "timeout has to be a duration such as 30m or 1h")
        return None
    return seconds / 60


_CONTRACT_TYPES: Final[dict[str, ContractType]] = {
    "json_schema": "json_schema", "typescript_interface": "typescript_interface", "test_suite": "test_suite",
    "non_empty_file": "non_empty_file", "jsonschema": "json_schema", "testsuite": "test_suite",
    "typescript": "typescript_interface",
}  # fmt: skip
"""With the short names that older documents of the same program use."""
_CHECKED_TYPES: Final = "json_schema, typescript_interface, test_suite, non_empty_file"
UNCHECKED_CONTRACT_TYPES: Final = (
    "markdown_spec", "markdownspec", "format", "llm_judge", "source_diff", "agent_review",
    "spec_derived_test", "test_diff", "test_count_baseline", "template", "event_contains",
)  # fmt: skip
"""Contract types of real files that nothing here checks; such a contract fails."""
_FAILURE_ACTIONS: Final[dict[str, FailureAction]] = {
    "retry": "fail", "fail": "fail", "halt": "fail", "skip": "skip", "continue": "continue", "warn": "warn",
    "rework": "rework", "rejected": "fail",
}  # fmt: skip
_RETRY_POLICIES: Final = {
    "none": (1, 0.0, 1.0), "standard": (3, 1.0, 2.0), "aggressive": (5, 0.2, 2.0), "patient": (3, 5.0, 3.0),
}  # fmt: skip
_BACKOFF_FACTORS: Final = {"fixed": 1.0, "linear": 1.0, "exponential": 2.0}
_LINEAR_BACKOFF: Final = "linear"
_DEFAULT_RETRIES: Final = 2


class StepHandover(Struct, frozen=True, kw_only=True):
    """What was read."""

    contracts: tuple[Contract, ...]
    failing: FailurePolicy
    compaction: FieldReader | None


def read_handover(step: FieldReader) -> StepHandover:
    """Return contracts, the policy of failures and the compaction of a step."""
    fields = step.below("handover")
    places = _contract_places(fields) if fields else []
    read = [_read_contract(place) for place in places]
    contracts = tuple(contract for contract, _ in read)
    policies = [policy for _, policy in read]
    retries = fields.whole("max_retries", 0, 0, 100) if fields and fields.has("max_retries") else None
    compaction = fields.below("compaction") if fields else None
    if fields:
        fields.unknown({"on_review_fail": "a review", "target_step": "a review", "reviews": "a review"})
    failing = _read_failure_policy(step, policies, retries)
    return StepHandover(contracts=contracts, failing=failing, compaction=compaction)


def _contract_places(fields: FieldReader) -> list[DocumentPlace]:
    many = list(fields.objects("contracts"))
    single = fields.get("contract")
    return many or ([single] if single is not None else [])


class _RetryPolicy(Struct, frozen=True, kw_only=True):
    word: str = ""
    retries: int | None = None
    rework_step: str = ""


def _read_contract(place: DocumentPlace) -> tuple[Contract, _RetryPolicy]:
    fields = FieldReader(place)
    kind = fields.required("type")
    word = text_at(kind) if kind else ""
    contract_type = _CONTRACT_TYPES.get(word, "unchecked")
    policy = _RetryPolicy(
        word=fields.word("on_failure", {word: word for word in _FAILURE_ACTIONS}, ""),
        retries=fields.whole("max_retries", 0, 0, 100) if fields.has("max_retries") else None,
        rework_step=fields.text("rework_step"),
    )
    must_pass = fields.flag("must_pass", True)
    is_blocking = must_pass and policy.word not in ("warn", "continue")
    if kind is not None and contract_type == "unchecked":
        _unchecked_contract(kind, word, is_blocking=is_blocking)
    contract = Contract(
        type=contract_type, written_type=word, schema=fields.json("schema"),
        schema_path=fields.text("schema_path"), source=fields.text("source"),
        is_compiled=fields.flag("validate", True), command=fields.text("command"), dir=fields.text("dir"),
        must_pass=must_pass, rework_step=policy.rework_step,
        then=_FAILURE_ACTIONS[policy.word] if policy.word else None,
    )  # fmt: skip
    _required_members(contract, fields)
    if contract_type == "unchecked":
        return contract, policy  # named as a whole
    fields.unknown(
        {
            "allow_recovery": "recovery", "recovery_level": "recovery", "progressive_validation": "recovery",
            "model": "a judge", "criteria": "a judge", "threshold": "a judge", "persona": "a reviewer",
            "criteria_path": "a review", "context": "a review", "token_budget": "a review",
            "timeout": "a review", "glob": "a pattern", "exclude": "a pattern", "min_files": "a number",
            "required": "names", "baseline": "a baseline",
        }
    )  # fmt: skip
    return contract, policy


def _unchecked_contract(kind: DocumentPlace, word: str, *, is_blocking: bool) -> None:
    if word not in UNCHECKED_CONTRACT_TYPES:
        kind.error(
            "unknown_contract", f"there is no contract type {one_line(word, 60)}; known: {_CHECKED_TYPES}"
        )
        return
    meaning = "so the step fails at it" if is_blocking else "and the step goes on with a warning"
    kind.warn(
        "not_run", f"contracts of type {word} are not checked here, {meaning}; checked are {_CHECKED_TYPES}",
        stops_run=is_blocking,
    )  # fmt: skip


def _required_members(contract: Contract, fields: FieldReader) -> None:
    place = fields.place
    if contract.type == "json_schema" and contract.schema is None and not contract.schema_path:
        place.error("missing_field", f"{place.path} needs schema or schema_path")
    if contract.type == "test_suite" and not contract.command:
        place.error("missing_field", f"{place.path} needs command")
    if contract.type == "typescript_interface" and not contract.source:
        place.error("missing_field", f"{place.path} needs source, the file to check")


def _read_failure_policy(
    step: FieldReader, policies: list[_RetryPolicy], handover_retries: int | None
) -> FailurePolicy:
    retry = step.below("retry")
    is_optional = step.flag("optional", False)
    base = _read_retry(retry) if retry else FailurePolicy()
    attempts, then, rework = base.attempts, base.then, base.rework_step
    counts = [p.retries for p in policies if p.retries is not None]
    if handover_retries is not None:
        counts.append(handover_retries)
    if any(policy.word == "retry" for policy in policies) and not counts:
        counts.append(_DEFAULT_RETRIES)
    attempts = max([attempts, *(count + 1 for count in counts)])
    for policy in policies:
        # What one contract only warns of says nothing of the others, nor of the step itself.
        if policy.word and _FAILURE_ACTIONS[policy.word] in ("skip", "rework"):
            then, rework = _FAILURE_ACTIONS[policy.word], policy.rework_step or rework
    if is_optional and then == "fail":
        then = "skip"
    return FailurePolicy(
        attempts=attempts, then=then, rework_step=rework, delay_seconds=base.delay_seconds,
        delay_factor=base.delay_factor, most_delay_seconds=base.most_delay_seconds,
        is_linear=base.is_linear,
    )  # fmt: skip


def _read_retry(fields: FieldReader) -> FailurePolicy:
    attempts, delay, factor = fields.word("policy", _RETRY_POLICIES, (1, 0.0, 1.0))
    attempts = fields.whole("max_attempts", attempts, 1, 100)
    factor = fields.word("backoff", _BACKOFF_FACTORS, factor)
    backoff = fields.get("backoff")
    policy = FailurePolicy(
        attempts=attempts, then=fields.word("on_failure", _FAILURE_ACTIONS, "fail"),
        rework_step=fields.text("rework_step"), delay_seconds=_read_delay(fields, "base_delay", delay),
        delay_factor=factor, most_delay_seconds=_read_delay(fields, "max_delay", 60.0),
        is_linear=backoff is not None and text_at(backoff) == _LINEAR_BACKOFF,
    )  # fmt: skip
    fields.flag("adapt_prompt", True)
    fields.unknown()
    return policy


def _read_delay(fields: FieldReader, name: str, default: float) -> float:
    delay = fields.get(name)
    if delay is None:
        return default
    seconds = duration_seconds(text_at(delay))
    if seconds is None:
        delay.error("wrong_value", f"{name} has to be a duration such as 500ms or 2s")
        return default
    return seconds


_UNSUPPORTED_MEMBERS: Final = {"dependency_key": "order of items", "stacked": "order of items"}
_ITEM_MEMBER: Final = re.compile(r"\{\{\s*\.([A-Za-z0-9_.]{0,100})\s*\}\}")
"""How other programs name a member of the item: `{{ .repo }}`."""


class ChildPipeline(Struct, frozen=True):
    """The pipeline that each item of a matrix runs."""

    name: str
    input: str


def read_matrix(step: FieldReader) -> tuple[Matrix | None, ChildPipeline | None]:
    """Return the matrix of a step and the pipeline that its items run, where it names one."""
    fields = step.below("strategy")
    if step.has("iterate"):
        if fields is not None:
            step.place.key("strategy").error(
                "wrong_value", "strategy and iterate cannot both say what the items are"
            )
        return read_iterate(step), None
    if fields is None:
        return None, None
    child = _read_child_pipeline(step, fields)
    return _read_matrix(fields), child


def _read_child_pipeline(step: FieldReader, fields: FieldReader) -> ChildPipeline | None:
    name, given = fields.text("child_pipeline"), fields.text("input_template")
    if not name:
        if given:
            message = "input_template is not used: it is the input of child_pipeline, which is not named"
            fields.place.key("input_template").warn("not_run", message)
        return None
    if step.has("exec"):
        message = "exec is not used: every item runs the pipeline that child_pipeline names"
        step.place.key("exec").warn("not_run", message)
    return ChildPipeline(
        name, _ITEM_MEMBER.sub(lambda one: f"{{{{ item{'.' if one[1] else ''}{one[1]} }}}}", given)
    )


def _read_matrix(fields: FieldReader) -> Matrix:
    fields.word("type", {"matrix": "matrix"}, "matrix")
    items, source = fields.get("items"), fields.text("items_source")
    if items is not None and items.node.items is None:
        items.error("wrong_type", "items has to be a list")
        items = None
    if items is None and not source:
        fields.place.error("missing_field", f"{fields.place.path} needs items or items_source")
    step_id, artifact = _matrix_source(fields, source)
    matrix = Matrix(
        items=tuple(node.value for node in items.node.items or ()) if items else None, step=step_id,
        artifact=artifact, keys=tuple(filter(None, _matrix_list_key(fields, source).split("."))),
        id_key=fields.text("item_id_key"),
        limit=fields.whole("max_concurrency", 0, 1, 1000),
    )  # fmt: skip
    for name, what in _UNSUPPORTED_MEMBERS.items():
        if fields.has(name):
            # Without it something else would be run, or in another order: that is worse than nothing.
            fields.place.key(name).warn("not_run", f"{name} ({what}) is not run here", stops_run=True)
    fields.unknown()
    return matrix


def _matrix_source(fields: FieldReader, source: str) -> tuple[str, str]:
    """Return step and artifact of `step/artifact`, `step.artifact` or `step/artifact.json`."""
    if not source:
        return "", ""
    step, slash, rest = source.partition("/")
    if not slash:
        step, dot, rest = source.partition(".")
        if not dot:
            place = fields.get("items_source")
            if place:
                place.error("wrong_value", "items_source has to be STEP/ARTIFACT")
            return "", ""
    artifact, _, _ = rest.partition("#")
    return step, artifact


def _matrix_list_key(fields: FieldReader, source: str) -> str:
    """Return the way to the list within the artifact: `item_key`, or what follows `#`."""
    return fields.text("item_key") or source.partition("#")[2]
