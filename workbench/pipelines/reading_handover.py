"""What a step hands over and what its failure means: contracts, retries and the words of `on_failure`.

Owns how the several places that speak of retries become one policy.
"""

from dataclasses import dataclass
from typing import Final

from workbench.pipelines.fields import Fields, text_of
from workbench.pipelines.model import Consequence, Contract, ContractType, Failing
from workbench.pipelines.problems import Place
from workbench.pipelines.reading_gates import seconds_of
from workbench.text.safe import one_line

_TYPES: Final[dict[str, ContractType]] = {
    "json_schema": "json_schema", "typescript_interface": "typescript_interface", "test_suite": "test_suite",
    "non_empty_file": "non_empty_file", "jsonschema": "json_schema", "testsuite": "test_suite",
    "typescript": "typescript_interface",
}  # fmt: skip
"""With the short names that older documents of the same program use."""

_CHECKED: Final = "json_schema, typescript_interface, test_suite, non_empty_file"
ELSEWHERE: Final = (
    "markdown_spec", "markdownspec", "format", "llm_judge", "source_diff", "agent_review",
    "spec_derived_test", "test_diff", "test_count_baseline", "template", "event_contains",
)  # fmt: skip
"""Contract types of real files that nothing here checks; such a contract fails."""

_WORDS: Final[dict[str, Consequence]] = {
    "retry": "fail", "fail": "fail", "halt": "fail", "skip": "skip", "continue": "continue", "warn": "warn",
    "rework": "rework", "rejected": "fail",
}  # fmt: skip
_POLICIES: Final = {
    "none": (1, 0.0, 1.0), "standard": (3, 1.0, 2.0), "aggressive": (5, 0.2, 2.0), "patient": (3, 5.0, 3.0),
}  # fmt: skip
_FACTORS: Final = {"fixed": 1.0, "linear": 1.0, "exponential": 2.0}
_LINEAR: Final = "linear"
_DEFAULT_RETRIES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """What was read."""

    contracts: tuple[Contract, ...]
    failing: Failing
    compaction: Fields | None


def read_handover(step: Fields) -> Handover:
    """Return contracts, the policy of failures and the compaction of a step."""
    fields = step.below("handover")
    places = _contract_places(fields) if fields else []
    read = [_contract(place) for place in places]
    contracts = tuple(contract for contract, _ in read)
    policies = [policy for _, policy in read]
    retries = fields.whole("max_retries", 0, 0, 100) if fields and fields.has("max_retries") else None
    compaction = fields.below("compaction") if fields else None
    if fields:
        fields.unknown({"on_review_fail": "a review", "target_step": "a review", "reviews": "a review"})
    failing = _failing(step, policies, retries)
    return Handover(contracts=contracts, failing=failing, compaction=compaction)


def _contract_places(fields: Fields) -> list[Place]:
    many = list(fields.objects("contracts"))
    single = fields.get("contract")
    return many or ([single] if single is not None else [])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Policy:
    word: str = ""
    retries: int | None = None
    rework_step: str = ""


def _contract(place: Place) -> tuple[Contract, _Policy]:
    fields = Fields(place)
    kind = fields.required("type")
    word = text_of(kind) if kind else ""
    found = _TYPES.get(word, "unchecked")
    policy = _Policy(
        word=fields.word("on_failure", {word: word for word in _WORDS}, ""),
        retries=fields.whole("max_retries", 0, 0, 100) if fields.has("max_retries") else None,
        rework_step=fields.text("rework_step"),
    )
    must_pass = fields.flag("must_pass", True)
    is_blocking = must_pass and policy.word not in ("warn", "continue")
    if kind is not None and found == "unchecked":
        _unchecked(kind, word, is_blocking=is_blocking)
    contract = Contract(
        type=found, written_type=word, schema=fields.json("schema"), schema_path=fields.text("schema_path"),
        source=fields.text("source"), is_compiled=fields.flag("validate", True),
        command=fields.text("command"), dir=fields.text("dir"), must_pass=must_pass,
        rework_step=policy.rework_step, then=_WORDS[policy.word] if policy.word else None,
    )  # fmt: skip
    _required_members(contract, fields)
    if found == "unchecked":
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


def _unchecked(kind: Place, word: str, *, is_blocking: bool) -> None:
    if word not in ELSEWHERE:
        kind.error("unknown_contract", f"there is no contract type {one_line(word, 60)}; known: {_CHECKED}")
        return
    meaning = "so the step fails at it" if is_blocking else "and the step goes on with a warning"
    kind.warn(
        "not_run", f"contracts of type {word} are not checked here, {meaning}; checked are {_CHECKED}",
        stops_run=is_blocking,
    )  # fmt: skip


def _required_members(contract: Contract, fields: Fields) -> None:
    place = fields.place
    if contract.type == "json_schema" and contract.schema is None and not contract.schema_path:
        place.error("missing_field", f"{place.path} needs schema or schema_path")
    if contract.type == "test_suite" and not contract.command:
        place.error("missing_field", f"{place.path} needs command")
    if contract.type == "typescript_interface" and not contract.source:
        place.error("missing_field", f"{place.path} needs source, the file to check")


def _failing(step: Fields, policies: list[_Policy], handover_retries: int | None) -> Failing:
    retry = step.below("retry")
    is_optional = step.flag("optional", False)
    base = _retry(retry) if retry else Failing()
    attempts, then, rework = base.attempts, base.then, base.rework_step
    counts = [p.retries for p in policies if p.retries is not None]
    if handover_retries is not None:
        counts.append(handover_retries)
    if any(policy.word == "retry" for policy in policies) and not counts:
        counts.append(_DEFAULT_RETRIES)
    attempts = max([attempts, *(count + 1 for count in counts)])
    for policy in policies:
        # What one contract only warns of says nothing of the others, nor of the step itself.
        if policy.word and _WORDS[policy.word] in ("skip", "rework"):
            then, rework = _WORDS[policy.word], policy.rework_step or rework
    if is_optional and then == "fail":
        then = "skip"
    return Failing(
        attempts=attempts, then=then, rework_step=rework, delay_seconds=base.delay_seconds,
        delay_factor=base.delay_factor, most_delay_seconds=base.most_delay_seconds,
        is_linear=base.is_linear,
    )  # fmt: skip


def _retry(fields: Fields) -> Failing:
    attempts, delay, factor = fields.word("policy", _POLICIES, (1, 0.0, 1.0))
    attempts = fields.whole("max_attempts", attempts, 1, 100)
    factor = fields.word("backoff", _FACTORS, factor)
    backoff = fields.get("backoff")
    found = Failing(
        attempts=attempts, then=fields.word("on_failure", _WORDS, "fail"),
        rework_step=fields.text("rework_step"), delay_seconds=_delay(fields, "base_delay", delay),
        delay_factor=factor, most_delay_seconds=_delay(fields, "max_delay", 60.0),
        is_linear=backoff is not None and text_of(backoff) == _LINEAR,
    )  # fmt: skip
    fields.flag("adapt_prompt", True)
    fields.unknown()
    return found


def _delay(fields: Fields, name: str, default: float) -> float:
    found = fields.get(name)
    if found is None:
        return default
    seconds = seconds_of(text_of(found))
    if seconds is None:
        found.error("wrong_value", f"{name} has to be a duration such as 500ms or 2s")
        return default
    return seconds
