"""A pipeline document: S1's fields, and what real files add, read into the model; every problem at once.

Owns which field means what. What needs other steps or the manifest is checked in `checks`.
"""

import re
from dataclasses import replace
from typing import Final

from workbench.domain.runs import StepKind
from workbench.pipelines.expanding import expanded
from workbench.pipelines.fields import Fields, text_of
from workbench.pipelines.model import (
    Aggregate,
    ArtifactSpec,
    Compaction,
    Injection,
    InputConfig,
    Mount,
    Pipeline,
    PipelineOutput,
    Step,
    ValidationRule,
    WorkspaceSpec,
)
from workbench.pipelines.problems import Place
from workbench.pipelines.reading_composition import (
    read_aggregate,
    read_branch,
    read_edges,
    read_loop,
    read_route,
)
from workbench.pipelines.reading_gates import read_gate
from workbench.pipelines.reading_handover import read_handover
from workbench.pipelines.reading_matrix import ChildPipeline, read_matrix
from workbench.text.safe import one_line

KIND: Final = "WavePipeline"
MOST_STEPS: Final = 2_000
_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_PERCENT: Final = re.compile(r"token_limit_(\d{1,3})%")

_ROOT: Final = {
    "hooks": "lifecycle hooks", "chat_context": "chat context",
    "skills": "skills",
}  # fmt: skip
_METADATA: Final = {
    "version": "a version", "created": "a date", "author": "an author", "release": "a release mark",
    "category": "a category", "disabled": "a mark", "tags": "tags", "complexity": "a size",
}  # fmt: skip
_STEP: Final = {
    "thread": "a shared conversation", "fidelity": "how much of it", "outcomes": "what becomes of its branch",
    "max_concurrent_agents": "a limit of agents", "concurrency": "a limit",
    "on_failure": "it stands in retry or in a contract", "output": "values of a context",
    "output_schema": "a schema", "config": "settings of the pipeline below", "skills": "skills",
    "description": "a description", "contexts": "contexts", "tier": "a model tier", "budget": "a budget",
}  # fmt: skip


def read_pipeline(place: Place) -> Pipeline | None:
    """Read a pipeline document; None if it is none at all."""
    top = Fields(place)
    if place.node.members is None:
        return None
    if not _is_kind(top, place):
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
    found = expanded([step for item in places if (step := _step(item)) is not None])
    pipeline = Pipeline(
        name=metadata.text("name", required=True) if metadata else "", file=place.file,
        description=metadata.text("description") if metadata else "",
        input=_input(top), outputs=_pipeline_outputs(top), steps=found,
        max_step_visits=top.whole("max_step_visits", 0, 1, 100_000),
    )  # fmt: skip
    if metadata:
        metadata.unknown(_METADATA)
    requires = top.below("requires")
    if requires:
        requires.texts("tools")  # looked for on PATH where the pipeline is loaded
        requires.unknown({"skills": "skills"})
    top.unknown(_ROOT)
    return pipeline


def _is_kind(top: Fields, place: Place) -> bool:
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
    if kind.node.value != KIND:
        kind.error("wrong_kind", f"kind has to be {KIND}, not {one_line(text_of(kind), 60)}")
        return False
    return True


def _input(top: Fields) -> InputConfig:
    fields = top.below("input")
    if fields is None:
        return InputConfig()
    found = InputConfig(
        source=fields.text("source"), schema=fields.json("schema"), example=fields.text("example"),
        label_filter=fields.text("label_filter"), batch_size=fields.whole("batch_size", 0),
        is_required=fields.flag("required", False),
    )  # fmt: skip
    fields.unknown({"type": "a type", "description": "a description"})
    for name in ("label_filter", "batch_size"):
        if fields.has(name):
            message = f"{name} is read and not acted on here: a run has the one input that it is given"
            fields.place.key(name).warn("not_run", message)
    return found


def _pipeline_outputs(top: Fields) -> tuple[PipelineOutput, ...]:
    found: list[PipelineOutput] = []
    for name, place in top.named("pipeline_outputs"):
        fields = Fields(place)
        found.append(
            PipelineOutput(
                name=name, step=fields.text("step", required=True),
                artifact=fields.text("artifact", required=True), field=fields.text("field"),
            )
        )  # fmt: skip
        fields.unknown({"type": "a type", "description": "a description"})
    return tuple(found)


def _step(place: Place) -> Step | None:
    fields = Fields(place)
    if place.node.members is None:
        return None
    step_id = fields.text("id", required=True)
    if step_id and not _ID.fullmatch(step_id):
        where = place.member("id") or place
        where.error("wrong_value", f"{one_line(step_id, 60)} cannot be an id; use letters, digits, - _ .")
    loop, branch, aggregate = read_loop(fields, _step), read_branch(fields), read_aggregate(fields)
    kind = _kind(fields, is_loop=loop is not None)
    matrix, child = read_matrix(fields)
    kind = "pipeline" if child else kind
    source, source_path, problem = _exec(fields, kind, child)
    handover = read_handover(fields)
    edges = read_edges(fields)
    outputs = _outputs(fields)
    step = Step(
        id=step_id, line=place.node.line, kind=kind, name=fields.text("name"), persona=fields.text("persona"),
        adapter=fields.text("adapter"), model=fields.text("model"),
        needs=tuple(text_of(item) for item in fields.texts("dependencies")), source=source,
        source_path=source_path, injections=_memory(fields), workspace=_workspace(fields),
        outputs=_aggregated(aggregate) if aggregate and not outputs else outputs,
        contracts=handover.contracts, failing=handover.failing,
        compaction=_compaction(handover.compaction), matrix=matrix,
        validation=_validation(fields), gate=read_gate(fields) if kind == "gate" else None,
        pipeline_input=_pipeline_input(fields, kind, child), branch=branch, aggregate=aggregate, loop=loop,
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
    fields.unknown(_STEP)
    return step


def _kind(fields: Fields, *, is_loop: bool) -> StepKind:
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


def _aggregated(aggregate: Aggregate) -> tuple[ArtifactSpec, ...]:
    """Return the artifact that an aggregating step leaves where it declares none."""
    name = aggregate.into.rstrip("/").rpartition("/")[2]
    return (ArtifactSpec(name=name.rpartition(".")[0] or name, path=aggregate.into),)


def _pipeline_input(fields: Fields, kind: StepKind, child: ChildPipeline | None) -> str:
    """Return what a pipeline below is given: what the step says, else what this run was given."""
    if kind != "pipeline":
        return ""
    return (
        (child.input if child else "") or fields.text("input") or ("{{ item }}" if child else "{{ input }}")
    )


def _exec(fields: Fields, kind: StepKind, child: ChildPipeline | None) -> tuple[str, str, str]:
    """Return source, source path, and why it cannot run here."""
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
    return _execution(execution)


def _execution(fields: Fields) -> tuple[str, str, str]:
    written = fields.get("type")
    word = text_of(written) if written else "prompt"
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


def _memory(fields: Fields) -> tuple[Injection, ...]:
    memory = fields.below("memory")
    if memory is None:
        return ()
    memory.word("strategy", {"fresh": "fresh"}, "fresh")
    found: list[Injection] = []
    for place in memory.objects("inject_artifacts"):
        item = Fields(place)
        if place.node.members is None:
            continue
        if item.has("pipeline"):
            place.key("pipeline").warn(
                "not_run", "artifacts of other pipelines are not injected here", stops_run=True
            )
            continue
        artifact = item.text("artifact", required=True)
        found.append(
            Injection(
                step=item.text("step", required=True), artifact=artifact, name=item.text("as") or artifact,
                is_optional=item.flag("optional", False),
            )
        )  # fmt: skip
        item.unknown({"type": "a type", "schema_path": "a schema"})
    memory.unknown()
    return tuple(found)


def _workspace(fields: Fields) -> WorkspaceSpec:
    found = fields.below("workspace")
    if found is None:
        return WorkspaceSpec()
    kinds = {"worktree": True, "directory": False, "": False}
    spec = WorkspaceSpec(
        root=found.text("root"), mounts=tuple(_mount(item) for item in found.objects("mount")),
        is_worktree=found.word("type", kinds, False), branch=found.text("branch"), base=found.text("base"),
        ref=found.text("ref"),
    )  # fmt: skip
    found.unknown()
    return spec


def _mount(place: Place) -> Mount:
    fields = Fields(place)
    mount = Mount(
        source=fields.text("source", required=True), target=fields.text("target", required=True),
        is_readonly=fields.word("mode", {"readonly": True, "readwrite": False}, True),
    )  # fmt: skip
    fields.unknown()
    return mount


def _outputs(fields: Fields) -> tuple[ArtifactSpec, ...]:
    found: list[ArtifactSpec] = []
    for place in fields.objects("output_artifacts"):
        item = Fields(place)
        if place.node.members is None:
            continue
        is_stdout = item.word("source", {"file": False, "stdout": True}, False)
        path = item.text("path", required=not is_stdout)
        kind = "stdout" if is_stdout else "folder" if path.endswith("/") else "file"
        found.append(
            ArtifactSpec(
                name=item.text("name", required=True), path=path, type=item.text("type"), kind=kind,
                is_required=item.flag("required", True),
            )
        )  # fmt: skip
        item.unknown({"description": "a description", "schema_path": "a schema"})
    return tuple(found)


def _compaction(fields: Fields | None) -> Compaction | None:
    if fields is None:
        return None
    trigger = fields.get("trigger")
    match = _PERCENT.fullmatch(text_of(trigger)) if trigger else None
    if trigger is not None and (match is None or not 1 <= int(match[1]) <= 100):
        trigger.error("wrong_value", "trigger has to be token_limit_80% or the like")
    found = Compaction(percent=int(match[1]) if match else 80, persona=fields.text("persona"))
    fields.unknown()
    return found


_RULES: Final = {
    **{word: word for word in ("file_exists", "folder_exists", "command", "json_schema", "non_empty_file")},
    "dir_exists": "folder_exists", "directory_exists": "folder_exists", "schema": "json_schema",
}  # fmt: skip


def _validation(fields: Fields) -> tuple[ValidationRule, ...]:
    found: list[ValidationRule] = []
    for place in fields.objects("validation"):
        rule = Fields(place)
        kind = rule.word("type", _RULES, "")
        rule.required("type")
        target = rule.text("target", required=True)
        found.append(
            ValidationRule(type=kind, target=target, schema=rule.text("schema"), message=rule.text("message"))
        )
        rule.unknown({"on_failure": "it always fails the step", "max_retries": "it is not tried again"})
    return tuple(found)
