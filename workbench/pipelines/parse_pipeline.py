"""Parse a pipeline document into the model, reporting every problem at once.

Imports pydantic, so import it only where a pipeline is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, ClassVar, Final, Literal

from msgspec.structs import replace
from pydantic import Field

from workbench.domain.values import SandboxLevel, StepKind
from workbench.pipelines.document_model import (
    METADATA,
    PRESENT,
    REQUIRED,
    DocumentModel,
    Flag,
    Items,
    JsonObjectValue,
    JsonValue,
    Named,
    Place,
    Text,
    Texts,
    Whole,
    Word,
    between,
    one_of,
    read_text,
)
from workbench.pipelines.draft_names import STEP_ID
from workbench.pipelines.model import (
    Aggregate,
    ArtifactInjection,
    ArtifactSpec,
    Branch,
    InputConfig,
    Loop,
    Matrix,
    Mount,
    OutcomeSpec,
    Pipeline,
    PipelineOutput,
    Route,
    RouteEdge,
    Step,
    ValidationRule,
    WorkspaceSpec,
)
from workbench.pipelines.outcomes import FILE_TYPES, NoOutcome, values_at
from workbench.pipelines.outline import is_pipeline, step_kind
from workbench.pipelines.parse_step_blocks import (
    AggregateDocument,
    BranchDocument,
    EdgeDocument,
    HandoverDocument,
    IterateDocument,
    LoopDocument,
    MatrixDocument,
    RetryDocument,
    failure_policy,
    read_gate,
)
from workbench.pipelines.step_order import desugar_steps
from workbench.pipelines.templates import value_text
from workbench.text.located import DocumentPlace, text_at
from workbench.text.safe import one_line

MOST_STEPS: Final = 10_000
_VALUE_TYPES: Final = {
    word: word
    for word in (
        "string", "branch_ref", "findings_report", "issue_ref", "plan_ref", "pr_ref", "scope_result",
        "spec_ref", "work_item_ref", "workspace_ref",
    )
}  # fmt: skip
"""What Wave's files call the type of an input or of an output; it refuses every other word."""
_FIDELITIES: Final = {word: word for word in ("full", "compact", "summary", "fresh")}
"""How much of a thread a step is told, as Wave's files have it."""


class _MetadataDocument(DocumentModel):
    name: Annotated[Text, REQUIRED] = ""
    description: Text = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "version": "a version", "created": "a date", "author": "an author", "release": "a release mark",
        "category": "a category", "disabled": "a mark", "tags": "tags", "complexity": "a size",
    }  # fmt: skip


class _TypedDocument(DocumentModel):
    type: Annotated[str, one_of(_VALUE_TYPES)] = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {"description": "a description"}

    def report_type(self) -> None:
        """Name a type that is known: nothing here checks a value against it."""
        if self.type:
            self.place.key("type").warn("not_run", "type (a type) is read and not acted on here")


class _InputDocument(_TypedDocument):
    source: Text = ""
    json_schema: JsonValue = Field(default=None, alias="schema")
    example: Text = ""
    label_filter: Text = ""
    batch_size: Annotated[Whole, between(0, 1_000_000_000)] = 0
    is_required: Flag = Field(default=False, alias="required")

    def config(self) -> InputConfig:
        self.report_type()
        for name in ("label_filter", "batch_size"):
            if self.place_of(name):
                message = f"{name} is read and not acted on here: a run has the one input that it is given"
                self.place.key(name).warn("not_run", message)
        return self.to(InputConfig, schema=self.json_schema)


class _OutputDocument(_TypedDocument):
    step: Annotated[Text, REQUIRED] = ""
    artifact: Annotated[Text, REQUIRED] = ""
    field: Text = ""

    def output(self, name: str) -> PipelineOutput:
        self.report_type()
        return self.to(PipelineOutput, name=name)


class _RequiresDocument(DocumentModel):
    tools: Texts = ()
    """Looked for on PATH where the pipeline is loaded."""
    not_acted_on: ClassVar[Mapping[str, str]] = {"skills": "skills"}


class _PipelineDocument(DocumentModel):
    kind: Annotated[Text, PRESENT] = ""
    metadata: _MetadataDocument | None = None
    input: _InputDocument | None = None
    pipeline_outputs: Named[_OutputDocument] = Field(default_factory=dict)
    steps: Annotated[Items[Place], PRESENT] = ()
    max_step_visits: Annotated[Whole, between(1, 100_000)] = 0
    sandbox: Word[SandboxLevel | None] = None
    requires: _RequiresDocument | None = None
    skills: Texts = ()
    chat_context: Place | None = None
    """What a chat about a finished run starts with in another program; it changes nothing of the run."""
    not_acted_on: ClassVar[Mapping[str, str]] = {"hooks": "lifecycle hooks"}


def read_pipeline(place: DocumentPlace) -> Pipeline | None:
    """Read a pipeline document; None if it is none at all."""
    if not is_pipeline(place):
        return None
    document = _PipelineDocument.model_validate(place)
    metadata, places, steps = document.metadata, document.steps, document.place_of("steps")
    if metadata is None:
        place.error("missing_field", "the pipeline needs metadata.name")
    if steps is not None and steps.node.items == ():
        steps.error("missing_field", "steps is empty; a pipeline needs at least one")
    if len(places) > MOST_STEPS:
        place.error("wrong_value", f"it has {len(places):,} steps; {MOST_STEPS:,} are the most")
    outputs = document.pipeline_outputs.items()
    return document.to(
        Pipeline, name=metadata.name if metadata else "", file=place.file,
        description=metadata.description if metadata else "",
        input=document.input.config() if document.input else InputConfig(),
        outputs=tuple(output.output(name) for name, output in outputs if output.is_mapping),
        steps=_with_default_level(
            _with_implied_outputs(desugar_steps(list(_read_steps(places[:MOST_STEPS])))), document.sandbox
        ),
        skills=tuple(map(text_at, document.skills)),
    )  # fmt: skip


def _with_default_level(steps: tuple[Step, ...], level: SandboxLevel | None) -> tuple[Step, ...]:
    """Return the steps; those that run something and name no level of the sandbox have the pipeline's."""
    return tuple(
        replace(step, sandbox=level) if step.sandbox is None and step.kind in ("command", "prompt") else step
        for step in steps
    )


def _with_implied_outputs(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps; what one without declared outputs prints becomes each artifact that others inject."""
    asked_names: dict[str, list[str]] = {}
    for injection in (injection for step in steps for injection in step.injections if not injection.pipeline):
        asked_names.setdefault(injection.step, []).append(injection.artifact)
    return tuple(
        replace(step, outputs=tuple(map(_printed_artifact, dict.fromkeys(asked_names[step.id]))))
        if step.id in asked_names and step.kind in ("prompt", "command") and not step.outputs
        else step
        for step in steps
    )


def _printed_artifact(name: str) -> ArtifactSpec:
    return ArtifactSpec(name=name, kind="stdout", is_required=False, is_implied=True)


class _ExecDocument(DocumentModel):
    type: Text = ""
    source: Text = ""
    source_path: Text = ""

    def problem(self) -> str:
        """Report what is wrong with the type, and return why the step cannot run."""
        written = self.place_of("type")
        word = text_at(written) if written else "prompt"
        if word not in ("prompt", "command") and written:
            written.error("wrong_value", f"exec.type has to be prompt or command, not {one_line(word, 60)}")
        if not self.source and not self.source_path:
            self.place.error("missing_field", f"{self.place.path} needs source (or source_path)")
        return ""


class _SlashCommandDocument(_ExecDocument):
    command: Place | None = None
    args: Place | None = None

    def problem(self) -> str:
        written = self.place_of("type")
        if written:
            written.warn("not_run", "slash_command is not run here", stops_run=True)
        return "its exec.type is slash_command"


class _OtherInjectionDocument(DocumentModel):
    pipeline: Text = ""
    artifact: Annotated[Text, REQUIRED] = ""
    step: Text = ""
    name: Text = Field(default="", alias="as")
    is_optional: Flag = Field(default=False, alias="optional")
    not_acted_on: ClassVar[Mapping[str, str]] = {"type": "a type", "schema_path": "a schema"}


class _InjectionDocument(_OtherInjectionDocument):
    step: Annotated[Text, REQUIRED] = ""


class _MemoryDocument(DocumentModel):
    strategy: Annotated[str, one_of({"fresh": "fresh"})] = "fresh"
    inject_artifacts: Items[Place] = ()

    def injections(self) -> Iterator[ArtifactInjection]:
        for place in self.inject_artifacts:
            model = _OtherInjectionDocument if place.present("pipeline") else _InjectionDocument
            item = model.model_validate(place)
            if place.present("pipeline") and place.present("step"):
                message = "step and pipeline cannot both say where an artifact is from"
                place.key("step").error("wrong_value", message)
            if item.is_mapping:
                yield item.to(ArtifactInjection, name=item.name or item.artifact)


class _MountDocument(DocumentModel):
    source: Annotated[Text, REQUIRED] = ""
    target: Annotated[Text, REQUIRED] = ""
    is_readonly: Annotated[bool, one_of({"readonly": True, "readwrite": False})] = Field(
        default=True, alias="mode"
    )
    subset_from: Text = ""


_WORKSPACE_TYPES: Final = {
    "worktree": True,
    "directory": False,
    "basic": False,
    "folder": False,
    "mount": False,
    "": False,
}
"""Whether a workspace is a worktree; every other one is a folder."""


class _WorkspaceDocument(DocumentModel):
    root: Text = ""
    mount: Items[_MountDocument] = ()
    is_worktree: Annotated[bool, one_of(_WORKSPACE_TYPES)] = Field(default=False, alias="type")
    branch: Text = ""
    base: Text = ""
    ref: Text = ""

    def spec(self) -> WorkspaceSpec:
        return self.to(WorkspaceSpec, mounts=tuple(mount.to(Mount) for mount in self.mount))


class _ArtifactDocument(DocumentModel):
    name: Annotated[Text, REQUIRED] = ""
    path: Text = ""
    type: Text = ""
    source: Annotated[Literal["file", "stdout"], one_of({"file": "file", "stdout": "stdout"})] = "file"
    is_required: Flag = Field(default=True, alias="required")
    not_acted_on: ClassVar[Mapping[str, str]] = {"description": "a description", "schema_path": "a schema"}

    def spec(self) -> ArtifactSpec:
        if self.source == "file":
            self.require("path")
        is_folder = self.source == "file" and self.path.endswith("/")
        return self.to(ArtifactSpec, kind="folder" if is_folder else self.source)


_VALIDATION_TYPES: Final = {
    **{word: word for word in ("file_exists", "folder_exists", "command", "json_schema", "non_empty_file")},
    "dir_exists": "folder_exists", "directory_exists": "folder_exists", "schema": "json_schema",
}  # fmt: skip


class _OutcomeDocument(DocumentModel):
    """A link that a step is expected to leave."""

    type: Annotated[Text, REQUIRED] = ""
    source: Annotated[Text, REQUIRED] = Field(default="", alias="extract_from")
    json_path: Text = ""
    label_path: Text = Field(default="", alias="json_path_label")
    label: Text = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {"description": "a description"}

    def spec(self) -> OutcomeSpec | None:
        """Return the link that is looked for; None where it is not said which, or where."""
        if self.type not in FILE_TYPES:
            self.require("json_path")
        for name in ("json_path", "json_path_label"):
            place = self.place_of(name)
            if place is not None:
                try:
                    values_at(None, text_at(place))
                except NoOutcome as error:
                    place.error("wrong_value", str(error))
        return self.to(OutcomeSpec) if self.type and self.source else None


class _ValidationDocument(DocumentModel):
    type: Annotated[str, one_of(_VALIDATION_TYPES), PRESENT] = ""
    target: Annotated[Text, REQUIRED] = ""
    schema_file: Text = Field(default="", alias="schema")
    message: Text = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "on_failure": "it always fails the step", "max_retries": "it is not tried again",
    }  # fmt: skip


class _ConfigDocument(DocumentModel):
    """Settings of the pipeline that a step runs."""

    env: JsonObjectValue = Field(default_factory=dict)
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "timeout": "a time limit", "max_cycles": "rounds", "inject": "artifacts",
        "stop_condition": "an end", "extract": "results",
    }  # fmt: skip


class _StepDocument(DocumentModel):
    """What every step may have; what only its kind reads is known here and read by the kind's own model."""

    id: Annotated[Text, REQUIRED] = ""
    type: Text = ""
    name: Text = ""
    persona: Text = ""
    adapter: Text = ""
    model: Text = ""
    dependencies: Texts = ()
    exec: Place | None = None
    script: Place | None = None
    pipeline: Place | None = None
    gate: Place | None = None
    strategy: Place | None = None
    iterate: IterateDocument | None = None
    branch: BranchDocument | None = None
    aggregate: AggregateDocument | None = None
    loop: LoopDocument | None = None
    edges: Items[EdgeDocument] = ()
    memory: _MemoryDocument | None = None
    workspace: _WorkspaceDocument | None = None
    output_artifacts: Items[_ArtifactDocument] = ()
    handover: HandoverDocument | None = None
    retry: RetryDocument | None = None
    is_optional: Flag = Field(default=False, alias="optional")
    validation: Items[_ValidationDocument] = ()
    max_visits: Annotated[Whole, between(1, 1000)] = 10
    timeout_minutes: Annotated[Whole, between(1, 100_000)] | None = None
    sandbox: Word[SandboxLevel | None] = None
    is_rework_only: Flag = Field(default=False, alias="rework_only")
    thread: Text = ""
    fidelity: Annotated[str, one_of(_FIDELITIES)] = ""
    config: _ConfigDocument | None = None
    skills: Texts = ()
    outcomes: Annotated[Items[_OutcomeDocument], METADATA] = ()
    most_agents: Annotated[Whole, between(0, 1000)] = Field(default=0, alias="max_concurrent_agents")
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "concurrency": "a limit", "on_failure": "it stands in retry or in a contract",
        "output": "values of a context", "output_schema": "a schema",
        "description": "a description",
        "contexts": "contexts", "tier": "a model tier", "budget": "a budget",
    }  # fmt: skip


class _InputStepDocument(_StepDocument):
    """A step that runs a pipeline and may say its input; elsewhere `input` is no known key."""

    input: Text = ""


def _read_steps(places: Iterable[DocumentPlace]) -> Iterator[Step]:
    for place in places:
        strategy = place.present("strategy") if not place.present("iterate") else None
        matrix = MatrixDocument.model_validate(strategy) if strategy else None
        child = matrix if matrix and matrix.child_pipeline else None
        kind = "pipeline" if child else step_kind(place)
        has_input = kind == "pipeline" and not (child and child.child_input)
        document = (_InputStepDocument if has_input else _StepDocument).model_validate(place)
        if document.is_mapping:
            yield _read_step(document, kind, matrix)


def _read_step(document: _StepDocument, kind: StepKind, matrix: MatrixDocument | None) -> Step:
    place = document.place
    if document.id and not STEP_ID.fullmatch(document.id):
        message = f"{one_line(document.id, 60)} cannot be an id; use letters, digits, - _ ."
        (place.member("id") or place).error("wrong_value", message)
    loop = document.loop and document.loop.to(Loop, steps=tuple(_read_steps(document.loop.steps)))
    if loop and kind == "route" and not loop.steps:
        (place.member("loop") or place).error("missing_field", "the loop needs steps, or a pipeline to run")
    edges = tuple(edge.to(RouteEdge) for edge in document.edges if edge.is_mapping)
    if kind == "route" and not loop and not edges:
        document.require("edges")
    _report_members(document)
    source, source_path, problem = _read_source(document, kind, matrix)
    if kind == "prompt" and not problem and not document.place_of("persona"):
        document.require("persona")
    handover, needs = document.handover, tuple(map(text_at, document.dependencies))
    contracts = handover.contract_documents() if handover else []
    return document.to(
        Step, line=place.node.line, kind=kind, path=place.path, needs=needs,
        tolerates=needs if kind == "route" else (), source=source, source_path=source_path,
        unrunnable=problem, pipeline_input=_pipeline_input(document, kind, matrix),
        child_values=_child_values(document),
        injections=tuple(document.memory.injections()) if document.memory else (),
        workspace=document.workspace.spec() if document.workspace else WorkspaceSpec(),
        outputs=tuple(_read_outputs(document)), matrix=_read_matrix(document, matrix),
        contracts=tuple(contract.contract() for contract in contracts),
        failing=failure_policy(document.retry, handover, contracts, is_optional=document.is_optional),
        compaction=handover.compaction.compaction() if handover and handover.compaction else None,
        validation=tuple(rule.to(ValidationRule, schema=rule.schema_file) for rule in document.validation),
        gate=read_gate(document.place_of("gate")) if kind == "gate" else None, loop=loop,
        branch=document.branch and document.branch.to(Branch),
        aggregate=document.aggregate and document.aggregate.to(Aggregate),
        route=Route(edges=edges) if kind == "route" and not loop else None,
        edges=() if kind == "route" else edges, skills=tuple(map(text_at, document.skills)),
        outcomes=tuple(_outcomes(document)),
    )  # fmt: skip


def _outcomes(document: _StepDocument) -> Iterator[OutcomeSpec]:
    for outcome in document.outcomes:
        spec = outcome.spec() if outcome.is_mapping else None
        if spec is not None:
            yield spec


def _report_members(document: _StepDocument) -> None:
    """Report members that exclude each other, and a fidelity, which is not acted on."""
    place = document.place
    for name in ("persona", "exec", "script") if document.place_of("pipeline") else ():
        if document.place_of(name):
            message = f"a step with pipeline runs that pipeline and nothing else, so {name} would be left out"
            place.key(name).error("wrong_value", message)
    if document.fidelity:
        message = "fidelity (how much of a conversation) is read and not acted on here"
        place.key("fidelity").warn("not_run", message)


def _read_matrix(document: _StepDocument, matrix: MatrixDocument | None) -> Matrix | None:
    if document.place_of("iterate"):
        if document.place_of("strategy"):
            message = "strategy and iterate cannot both say what the items are"
            document.place.key("strategy").error("wrong_value", message)
        return document.iterate.matrix() if document.iterate else None
    return matrix.matrix(document.place) if matrix and matrix.is_mapping else None


def _read_outputs(document: _StepDocument) -> Iterator[ArtifactSpec]:
    specs = [output.spec() for output in document.output_artifacts if output.is_mapping]
    if document.aggregate and not specs:
        name = document.aggregate.into.rstrip("/").rpartition("/")[2]
        yield ArtifactSpec(name=name.rpartition(".")[0] or name, path=document.aggregate.into)
    yield from specs


def _child_values(document: _StepDocument) -> dict[str, str]:
    members = document.config.env if document.config else {}
    return {name: value_text(value) for name, value in members.items() if value is not None}


def _pipeline_input(document: _StepDocument, kind: StepKind, matrix: MatrixDocument | None) -> str:
    if kind != "pipeline":
        return ""
    child = matrix if matrix and matrix.child_pipeline else None
    written = document.input if isinstance(document, _InputStepDocument) else ""
    return (child.child_input if child else "") or written or ("{{ item }}" if child else "{{ input }}")


def _read_source(
    document: _StepDocument, kind: StepKind, matrix: MatrixDocument | None
) -> tuple[str, str, str]:
    """Return the text of what a step runs, or the path of its file, and why it cannot run."""
    if kind == "pipeline" and matrix and matrix.child_pipeline:
        return matrix.child_pipeline, "", ""
    if kind == "pipeline":
        if not document.place_of("branch"):
            document.require("pipeline")
        return read_text(document.place, "pipeline"), "", ""
    if kind not in ("prompt", "command"):
        return "", "", ""
    if document.place_of("script"):
        return read_text(document.place, "script"), "", ""
    document.require("exec")
    execution = document.place_of("exec")
    if execution is None:
        return "", "", ""
    kind_of_it = execution.present("type")
    is_slash = kind_of_it is not None and text_at(kind_of_it) == "slash_command"
    read = (_SlashCommandDocument if is_slash else _ExecDocument).model_validate(execution)
    return read.source, read.source_path, read.problem() if read.is_mapping else ""
