"""The contracts of a step as pydantic models: what is checked, by whom, and what a failure of it means.

Imports pydantic, so import it only where a pipeline is read.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import Field

from workbench.pipelines.document_model import (
    PRESENT,
    DocumentModel,
    Flag,
    Items,
    JsonValue,
    Number,
    Place,
    Text,
    Texts,
    Whole,
    between,
    duration_seconds,
    one_of,
)
from workbench.pipelines.model import (
    REVIEW_TYPES,
    Contract,
    ContractType,
    FailureAction,
    Review,
    ReviewContext,
    TestCount,
)
from workbench.policy.regex import InvalidRegex, Regex
from workbench.text.located import DocumentPlace, text_at
from workbench.text.safe import one_line

_CONTRACT_TYPES: Final[dict[str, ContractType]] = {
    "json_schema": "json_schema", "typescript_interface": "typescript_interface", "test_suite": "test_suite",
    "non_empty_file": "non_empty_file", "markdown_spec": "markdown_spec", "test_diff": "test_diff",
    "test_count_baseline": "test_count_baseline", "agent_review": "agent_review", "llm_judge": "llm_judge",
    "jsonschema": "json_schema", "testsuite": "test_suite", "typescript": "typescript_interface",
    "markdownspec": "markdown_spec",
}  # fmt: skip
"""With the short names that older documents of the same program use."""
_CHECKED_TYPES: Final = ", ".join(dict.fromkeys(_CONTRACT_TYPES.values()))
_UNCHECKED_TYPES: Final = ("format", "source_diff", "spec_derived_test", "template", "event_contains")
"""Contract types of real files that nothing here checks; such a contract fails."""
_COUNTED_TYPES: Final = ("test_diff", "test_count_baseline")
FAILURE_ACTIONS: Final[dict[str, FailureAction]] = {
    "retry": "fail", "fail": "fail", "halt": "fail", "skip": "skip", "continue": "continue", "warn": "warn",
    "rework": "rework", "rejected": "fail",
}  # fmt: skip
_FAILURE_WORDS: Final = {word: word for word in FAILURE_ACTIONS}
Retries = Annotated[Whole, between(0, 100)]
_CONTEXT_SOURCES: Final = {"git_diff": "git_diff", "artifact": "artifact"}


class _ContextDocument(DocumentModel):
    """One thing that a reviewer is shown."""

    source: Annotated[str, one_of(_CONTEXT_SOURCES), PRESENT] = "git_diff"
    artifact: Text = ""
    max_size: Annotated[Whole, between(0, 1024 * 1024)] = 0

    def context(self) -> ReviewContext:
        if self.source == "artifact":
            self.require("artifact")
        own = ReviewContext(source="artifact" if self.source == "artifact" else "git_diff")
        most = self.max_size or own.most_bytes
        return ReviewContext(source=own.source, artifact=self.artifact, most_bytes=most)


class ContractDocument(DocumentModel):
    """What is checked once a step has ended, and what its failure means."""

    type: Annotated[Place | None, PRESENT] = None
    json_schema: JsonValue = Field(default=None, alias="schema")
    schema_path: Text = ""
    source: Text = ""
    is_compiled: Flag = Field(default=True, alias="validate")
    command: Text = ""
    dir: Text = ""
    must_pass: Flag = True
    is_repairable: Flag = Field(default=True, alias="allow_recovery")
    rework_step: Text = ""
    on_failure: Annotated[str, one_of(_FAILURE_WORDS)] = ""
    max_retries: Retries | None = None
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "recovery_level": "recovery", "progressive_validation": "recovery", "model": "a judge",
        "criteria": "a judge", "threshold": "a judge", "persona": "a reviewer", "adapter": "a reviewer",
        "criteria_path": "a review", "context": "a review", "token_budget": "a review", "timeout": "a review",
        "prompt": "a review", "glob": "a pattern", "exclude": "a pattern", "min_files": "a number",
        "required": "names", "baseline": "a baseline",
    }  # fmt: skip

    @property
    def word(self) -> str:
        """Return its type as it was written."""
        kind = self.place_of("type")
        return text_at(kind) if kind else ""

    @property
    def is_done_again(self) -> bool:
        """Return whether a rework of it runs the step itself again, as no other step is named for it."""
        return self.on_failure == "rework" and not self.rework_step

    def contract(self) -> Contract:
        word, kind = self.word, self.place_of("type")
        contract_type = _CONTRACT_TYPES.get(word, "unchecked")
        is_own = bool(self.on_failure) and not self.is_done_again
        contract = self.to(
            Contract, type=contract_type, written_type=word, schema=self.json_schema,
            then=FAILURE_ACTIONS[self.on_failure] if is_own else None, review=self.review(),
            tests=self.counted_tests(),
        )  # fmt: skip
        if contract.type == "unchecked":
            if kind is not None:
                _report_unchecked(kind, word, is_blocking=contract.is_blocking)
            return contract
        needs = {
            "json_schema": (self.json_schema is not None or self.schema_path, "schema or schema_path"),
            "test_suite": (self.command, "command"),
            "typescript_interface": (self.source, "source, the file to check"),
            "markdown_spec": (self.source, "source, the file to check"),
            "agent_review": _review_needs(contract.review, has_file=True),
            "llm_judge": _review_needs(contract.review, has_file=False),
        }
        if contract.type == "markdown_spec" and (self.schema_path or self.json_schema is not None):
            schema_place = self.place.key("schema_path" if self.schema_path else "schema")
            schema_place.warn(
                "not_run", "the schema of a markdown_spec is not checked here; headings and text are"
            )
        is_there, members = needs.get(contract.type, (True, ""))
        if not is_there and contract.type in REVIEW_TYPES:
            # The program whose files these are finds it out when it asks.
            message = f"{self.place.path} needs {members}"
            self.place.warn("missing_field", message, stops_run=contract.is_blocking)
        elif not is_there:
            self.place.error("missing_field", f"{self.place.path} needs {members}")
        return contract

    def review(self) -> Review | None:
        """Return who answers it; None where nobody is asked."""
        return None

    def counted_tests(self) -> TestCount | None:
        """Return what counts as a test; None where none are counted."""
        return None


def _review_needs(review: Review | None, *, has_file: bool) -> tuple[bool, str]:
    if has_file:
        is_whole = review is not None and bool(review.criteria or review.criteria_path)
        return bool(is_whole and review and review.persona), "persona, and criteria or criteria_path"
    return bool(review and review.criteria), "criteria, a list of sentences"


class _ReviewDocument(ContractDocument):
    """A contract that a model answers: another agent, or a judge."""

    persona: Text = ""
    adapter: Text = ""
    model: Text = ""
    prompt: Text = ""
    criteria: Texts = ()
    criteria_path: Text = ""
    threshold: Annotated[Number, Field(ge=0, le=1)] = 1.0
    context: Items[_ContextDocument] = ()
    token_budget: Annotated[Whole, between(0, 1_000_000_000)] = 0
    timeout: Place | None = None
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "recovery_level": "recovery", "progressive_validation": "recovery",
    }  # fmt: skip

    def review(self) -> Review | None:
        listed = (text_at(place).strip() for place in self.criteria)
        return self.to(
            Review, criteria=tuple(filter(None, (*listed, self.prompt.strip()))),
            threshold=self.threshold or 1.0,
            context=tuple(item.context() for item in self.context if item.is_mapping),
            timeout_seconds=self._seconds(),
        )  # fmt: skip

    def _seconds(self) -> float:
        timeout = self.place_of("timeout")
        if timeout is None:
            return Review().timeout_seconds
        seconds = duration_seconds(text_at(timeout))
        if not seconds:
            timeout.error("wrong_value", "timeout has to be a duration such as 90s or 2m")
        return seconds or Review().timeout_seconds


class _TestCountDocument(ContractDocument):
    """A contract that counts tests in what git has."""

    max_test_deletions: Annotated[Whole, between(0, 100_000)] = 0
    test_file_pattern: Texts = ()
    test_func_pattern: Text = ""
    base_ref: Text = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {}

    def counted_tests(self) -> TestCount | None:
        default = TestCount()
        pattern = self.place_of("test_func_pattern")
        if pattern is not None:
            try:
                Regex(self.test_func_pattern)
            except InvalidRegex as error:
                pattern.error(
                    "wrong_value", f"test_func_pattern is not a pattern: {one_line(str(error), 120)}"
                )
        return TestCount(
            most_deletions=self.max_test_deletions,
            files=tuple(map(text_at, self.test_file_pattern)) or default.files,
            pattern=self.test_func_pattern or default.pattern, base=self.base_ref or default.base,
        )  # fmt: skip


class _UncheckedDocument(ContractDocument):
    """Named as a whole, so its members are not."""

    reports_unknown: ClassVar[bool] = False


def _report_unchecked(kind: DocumentPlace, word: str, *, is_blocking: bool) -> None:
    if word not in _UNCHECKED_TYPES:
        kind.error(
            "unknown_contract", f"there is no contract type {one_line(word, 60)}; known: {_CHECKED_TYPES}"
        )
        return
    meaning = "so the step fails at it" if is_blocking else "and the step continues with a warning"
    kind.warn(
        "not_run", f"contracts of type {word} are not checked here, {meaning}; checked are {_CHECKED_TYPES}",
        stops_run=is_blocking,
    )  # fmt: skip


def contract_model(place: DocumentPlace) -> type[ContractDocument]:
    """Return the model that reads the contract at a place."""
    kind = place.present("type")
    contract_type = _CONTRACT_TYPES.get(text_at(kind)) if kind else None
    if contract_type is None:
        return _UncheckedDocument
    if contract_type in REVIEW_TYPES:
        return _ReviewDocument
    return _TestCountDocument if contract_type in _COUNTED_TYPES else ContractDocument
