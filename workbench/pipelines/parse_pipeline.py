"""Parse a pipeline document into the model, reporting every problem at once."""

import re
from typing import Final

from msgspec.structs import replace

from workbench.domain.values import StepKind
from workbench.pipelines.documents import DocumentPlace, FieldReader, text_at
from workbench.pipelines.model import (
    Aggregate,
    ArtifactInjection,
    ArtifactSpec,
    Compaction,
    InputConfig,
    Mount,
    Pipeline,
    PipelineOutput,
    Step,
    ValidationRule,
    WorkspaceSpec,
)
from workbench.pipelines.parse_step_blocks import (
    ChildPipeline,
    read_aggregate,
    read_branch,
    read_edges,
    read_gate,
    read_handover,
    read_loop,
    read_matrix,
    read_route,
)
from workbench.pipelines.step_order import desugar_steps
from workbench.text.safe import one_line

PIPELINE_KIND: Final = "WavePipeline"
MOST_STEPS: Final = 2_000
_STEP_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_TOKEN_LIMIT: Final = re.compile(r"token_limit_(\d{1,3})%")
_IGNORED_ROOT_MEMBERS: Final = {
    "hooks": "lifecycle hooks", "chat_context": "chat context",
    "skills": "skills",
}  # fmt: skip
_IGNORED_METADATA_MEMBERS: Final = {
    "version": "a version", "created": "a date", "author": "an author", "release": "a release mark",
    "category": "a category", "disabled": "a mark", "tags": "tags", "complexity": "a size",
}  # fmt: skip
_IGNORED_STEP_MEMBERS: Final = {
    "thread": "a shared conversation", "fidelity": "how much of it", "outcomes": "what becomes of its branch",
    "max_concurrent_agents": "a limit of agents", "concurrency": "a limit",
    "on_failure": "it stands in retry or in a contract", "output": "values of a context",
    "output_schema": "a schema", "config": "settings of the pipeline below", "skills": "skills",
    "description": "a description", "contexts": "contexts", "tier": "a model tier", "budget": "a budget",
}  # fmt: skip


def read_pipeline(place: DocumentPlace) -> Pipeline | None:
    """Read a pipeline document; None if it is none at all."""
    top = FieldReader(place)
    if place.node.members is None:
        return None
    if not _is_pipeline(top, place):
        return None
    metadata = top.below("metadata")
    if metadata is None:
        place.error("missing_field", "the pipeline needs metadata.name")
    steps = top.required("steps")
    places = top.objects("steps")
    if steps is not None and steps.node.items == ():
        steps.error("missing_field", "steps is empty; a pipeline needs at least one")
    if len(places) > MOST_STEPS:
        place.error("wrong_value", f"it has {len(places)} steps; {MOST_STEPS} are the most")
        places = places[:MOST_STEPS]
    desugared = desugar_steps([step for item in places if (step := _read_step(item)) is not None])
    pipeline = Pipeline(
        name=metadata.text("name", required=True) if metadata else "", file=place.file,
        description=metadata.text("description") if metadata else "",
        input=_read_input(top), outputs=_read_pipeline_outputs(top), steps=desugared,
        max_step_visits=top.whole("max_step_visits", 0, 1, 100_000),
    )  # fmt: skip
    if metadata:
        metadata.unknown(_IGNORED_METADATA_MEMBERS)
    requires = top.below("requires")
    if requires:
        requires.texts("tools")  # looked for on PATH where the pipeline is loaded
        requires.unknown({"skills": "skills"})
    top.unknown(_IGNORED_ROOT_MEMBERS)
    return pipeline


def _is_pipeline(top: FieldReader, place: DocumentPlace) -> bool:
    kind = top.get("kind")
    if kind is None:
        members = place.node.members or {}
        if "steps" in members and "metadata" not in members:
            place.error(
                "old_shape",
                "this is the older shape of a pipeline, with name and steps at the top and no kind; "
                "write kind: WavePipeline, metadata.name, and steps with id, persona, exec",
            )
            return False
        top.required("kind")
        return True
    if kind.node.value != PIPELINE_KIND:
        kind.error("wrong_kind", f"kind has to be {PIPELINE_KIND}, not {one_line(text_at(kind), 60)}")
        return False
    return True


def _read_input(top: FieldReader) -> InputConfig:
    fields = top.below("input")
    if fields is None:
        return InputConfig()
    config = InputConfig(
        source=fields.text("source"), schema=fields.json("schema"), example=fields.text("example"),
        label_filter=fields.text("label_filter"), batch_size=fields.whole("batch_size", 0),
        is_required=fields.flag("required", False),
    )  # fmt: skip
    fields.unknown({"type": "a type", "description": "a description"})
    for name in ("label_filter", "batch_size"):
        if fields.has(name):
            message = f"{name} is read and not acted on here: a run has the one input that it is given"
            fields.place.key(name).warn("not_run", message)
    return config


def _read_pipeline_outputs(top: FieldReader) -> tuple[PipelineOutput, ...]:
    outputs: list[PipelineOutput] = []
    for name, place in top.named("pipeline_outputs"):
        fields = FieldReader(place)
        outputs.append(
            PipelineOutput(
                name=name, step=fields.text("step", required=True),
                artifact=fields.text("artifact", required=True), field=fields.text("field"),
            )
        )  # fmt: skip
        fields.unknown({"type": "a type", "description": "a description"})
    return tuple(outputs)


def _read_step(place: DocumentPlace) -> Step | None:
    fields = FieldReader(place)
    if place.node.members is None:
        return None
    step_id = fields.text("id", required=True)
    if step_id and not _STEP_ID.fullmatch(step_id):
        where = place.member("id") or place
        where.error("wrong_value", f"{one_line(step_id, 60)} cannot be an id; use letters, digits, - _ .")
    loop, branch, aggregate = read_loop(fields, _read_step), read_branch(fields), read_aggregate(fields)
    kind = _step_kind(fields, is_loop=loop is not None)
    matrix, child = read_matrix(fields)
    kind = "pipeline" if child else kind
    source, source_path, problem = _read_exec(fields, kind, child)
    handover = read_handover(fields)
    edges = read_edges(fields)
    outputs = _read_outputs(fields)
    step = Step(
        id=step_id, line=place.node.line, kind=kind, name=fields.text("name"), persona=fields.text("persona"),
        adapter=fields.text("adapter"), model=fields.text("model"),
        needs=tuple(text_at(item) for item in fields.texts("dependencies")), source=source,
        source_path=source_path, injections=_read_memory(fields), workspace=_read_workspace(fields),
        outputs=_aggregate_artifact(aggregate) if aggregate and not outputs else outputs,
        contracts=handover.contracts, failing=handover.failing,
        compaction=_read_compaction(handover.compaction), matrix=matrix,
        validation=_read_validation(fields), gate=read_gate(fields) if kind == "gate" else None,
        pipeline_input=_child_input(fields, kind, child), branch=branch, aggregate=aggregate, loop=loop,
        route=read_route(fields, edges) if kind == "route" and loop is None else None,
        edges=() if kind == "route" else edges, path=place.path,
        max_visits=fields.whole("max_visits", 10, 1, 1000),
        timeout_minutes=fields.whole("timeout_minutes", 0, 1, 100_000) or None,
        is_rework_only=fields.flag("rework_only", False), unrunnable=problem,
    )  # fmt: skip
    if loop is not None and step.kind == "route" and not loop.steps:
        (place.member("loop") or place).error("missing_field", "the loop needs steps, or a pipeline to run")
    if kind == "route":
        step = replace(step, tolerates=step.needs)
    if kind == "prompt" and not step.unrunnable:
        fields.required("persona")
    fields.unknown(_IGNORED_STEP_MEMBERS)
    return step


def _step_kind(fields: FieldReader, *, is_loop: bool) -> StepKind:
    written = fields.text("type")
    if written == "conditional":
        return "route"
    if fields.has("gate") or written == "gate":
        return "gate"
    if fields.has("aggregate"):
        return "aggregate"
    if fields.has("pipeline") or fields.has("branch") or written == "pipeline":
        return "pipeline"
    execution = fields.below("exec")
    kind = execution.text("type") if execution else ""
    if written == "command" or fields.has("script") or kind == "command":
        return "command"
    return "route" if is_loop and execution is None and not fields.has("persona") else "prompt"


def _aggregate_artifact(aggregate: Aggregate) -> tuple[ArtifactSpec, ...]:
    name = aggregate.into.rstrip("/").rpartition("/")[2]
    return (ArtifactSpec(name=name.rpartition(".")[0] or name, path=aggregate.into),)


def _child_input(fields: FieldReader, kind: StepKind, child: ChildPipeline | None) -> str:
    if kind != "pipeline":
        return ""
    return (
        (child.input if child else "") or fields.text("input") or ("{{ item }}" if child else "{{ input }}")
    )


def _read_exec(fields: FieldReader, kind: StepKind, child: ChildPipeline | None) -> tuple[str, str, str]:
    for name in ("script", "pipeline", "gate", "exec"):
        fields.has(name)
    if kind in ("gate", "route", "aggregate"):
        return "", "", ""
    if child is not None:
        return child.name, "", ""
    if kind == "pipeline":
        return fields.text("pipeline", required=not fields.has("branch")), "", ""
    if fields.has("script"):
        return fields.text("script"), "", ""
    execution = fields.below("exec")
    if execution is None:
        fields.required("exec")
        return "", "", ""
    return _read_execution(execution)


def _read_execution(fields: FieldReader) -> tuple[str, str, str]:
    written = fields.get("type")
    word = text_at(written) if written else "prompt"
    problem = ""
    if word == "slash_command" and written:
        written.warn("not_run", "slash_command is not run here", stops_run=True)
        problem = "its exec.type is slash_command"
        for name in ("command", "args"):
            fields.has(name)
    elif word not in ("prompt", "command") and written:
        written.error("wrong_value", f"exec.type has to be prompt or command, not {one_line(word, 60)}")
    source, path = fields.text("source"), fields.text("source_path")
    if not source and not path and not problem:
        fields.place.error("missing_field", f"{fields.place.path} needs source (or source_path)")
    fields.unknown()
    return source, path, problem


def _read_memory(fields: FieldReader) -> tuple[ArtifactInjection, ...]:
    memory = fields.below("memory")
    if memory is None:
        return ()
    memory.word("strategy", {"fresh": "fresh"}, "fresh")
    injections: list[ArtifactInjection] = []
    for place in memory.objects("inject_artifacts"):
        item = FieldReader(place)
        if place.node.members is None:
            continue
        if item.has("pipeline"):
            place.key("pipeline").warn(
                "not_run", "artifacts of other pipelines are not injected here", stops_run=True
            )
            continue
        artifact = item.text("artifact", required=True)
        injections.append(
            ArtifactInjection(
                step=item.text("step", required=True), artifact=artifact, name=item.text("as") or artifact,
                is_optional=item.flag("optional", False),
            )
        )  # fmt: skip
        item.unknown({"type": "a type", "schema_path": "a schema"})
    memory.unknown()
    return tuple(injections)


def _read_workspace(fields: FieldReader) -> WorkspaceSpec:
    workspace = fields.below("workspace")
    if workspace is None:
        return WorkspaceSpec()
    kinds = {"worktree": True, "directory": False, "": False}
    spec = WorkspaceSpec(
        root=workspace.text("root"), mounts=tuple(_read_mount(item) for item in workspace.objects("mount")),
        is_worktree=workspace.word("type", kinds, False), branch=workspace.text("branch"),
        base=workspace.text("base"), ref=workspace.text("ref"),
    )  # fmt: skip
    workspace.unknown()
    return spec


def _read_mount(place: DocumentPlace) -> Mount:
    fields = FieldReader(place)
    mount = Mount(
        source=fields.text("source", required=True), target=fields.text("target", required=True),
        is_readonly=fields.word("mode", {"readonly": True, "readwrite": False}, True),
    )  # fmt: skip
    fields.unknown()
    return mount


def _read_outputs(fields: FieldReader) -> tuple[ArtifactSpec, ...]:
    outputs: list[ArtifactSpec] = []
    for place in fields.objects("output_artifacts"):
        item = FieldReader(place)
        if place.node.members is None:
            continue
        is_stdout = item.word("source", {"file": False, "stdout": True}, False)
        path = item.text("path", required=not is_stdout)
        kind = "stdout" if is_stdout else "folder" if path.endswith("/") else "file"
        outputs.append(
            ArtifactSpec(
                name=item.text("name", required=True), path=path, type=item.text("type"), kind=kind,
                is_required=item.flag("required", True),
            )
        )  # fmt: skip
        item.unknown({"description": "a description", "schema_path": "a schema"})
    return tuple(outputs)


def _read_compaction(fields: FieldReader | None) -> Compaction | None:
    if fields is None:
        return None
    trigger = fields.get("trigger")
    match = _TOKEN_LIMIT.fullmatch(text_at(trigger)) if trigger else None
    if trigger is not None and (match is None or not 1 <= int(match[1]) <= 100):
        trigger.error("wrong_value", "trigger has to be token_limit_80% or the like")
    compaction = Compaction(percent=int(match[1]) if match else 80, persona=fields.text("persona"))
    fields.unknown()
    return compaction


_VALIDATION_TYPES: Final = {
    **{word: word for word in ("file_exists", "folder_exists", "command", "json_schema", "non_empty_file")},
    "dir_exists": "folder_exists", "directory_exists": "folder_exists", "schema": "json_schema",
}  # fmt: skip


def _read_validation(fields: FieldReader) -> tuple[ValidationRule, ...]:
    rules: list[ValidationRule] = []
    for place in fields.objects("validation"):
        rule = FieldReader(place)
        kind = rule.word("type", _VALIDATION_TYPES, "")
        rule.required("type")
        target = rule.text("target", required=True)
        rules.append(
            ValidationRule(type=kind, target=target, schema=rule.text("schema"), message=rule.text("message"))
        )
        rule.unknown({"on_failure": "it always fails the step", "max_retries": "it is not tried again"})
    return tuple(rules)
