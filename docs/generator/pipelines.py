"""The page of pipelines and manifests, from the models that read them."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from docs.generator.member_texts import MANIFEST, PIPELINE
from docs.generator.tables import GENERATED, anchor, code, prose, sentence, table
from workbench.pipelines import parse_contracts, parse_manifest, parse_pipeline, parse_step_blocks
from workbench.pipelines.document_model import DocumentModel, Required

_HEAD = f"""# Pipelines and manifests

{GENERATED}

Every member of a pipeline file and of a manifest. `workbench pipeline validate` checks a file and names the line
of each problem. [Pipelines](../pipelines.md) starts with an example.

Durations are written as `500ms`, `90s`, `1h30m`. A text may be a number or a truth value; a list of texts may be a
single text. Members that other programs use and that are not acted on here are named below the table; a file
with them is read, with a warning.
"""
Models = tuple[type[DocumentModel], ...]
_PIPELINE: Mapping[str, Models] = {
    "pipeline": (parse_pipeline._PipelineDocument,),
    "metadata": (parse_pipeline._MetadataDocument,),
    "input": (parse_pipeline._InputDocument,),
    "pipeline_outputs": (parse_pipeline._OutputDocument,),
    "requires": (parse_pipeline._RequiresDocument,),
    "step": (parse_pipeline._InputStepDocument,),
    "exec": (parse_pipeline._ExecDocument,),
    "memory": (parse_pipeline._MemoryDocument,),
    "inject_artifacts": (parse_pipeline._InjectionDocument,),
    "workspace": (parse_pipeline._WorkspaceDocument,),
    "mount": (parse_pipeline._MountDocument,),
    "output_artifacts": (parse_pipeline._ArtifactDocument,),
    "handover": (parse_step_blocks.HandoverDocument,),
    "contract": (
        parse_contracts.ContractDocument,
        parse_contracts._ReviewDocument,
        parse_contracts._TestCountDocument,
    ),
    "context": (parse_contracts._ContextDocument,),
    "compaction": (parse_step_blocks.CompactionDocument,),
    "retry": (parse_step_blocks.RetryDocument,),
    "validation": (parse_pipeline._ValidationDocument,),
    "outcomes": (parse_pipeline._OutcomeDocument,),
    "gate": (parse_step_blocks._GateDocument,),
    "choices": (parse_step_blocks._ChoiceDocument,),
    "edges": (parse_step_blocks.EdgeDocument,),
    "strategy": (parse_step_blocks.MatrixDocument,),
    "iterate": (parse_step_blocks.IterateDocument,),
    "loop": (parse_step_blocks.LoopDocument,),
    "branch": (parse_step_blocks.BranchDocument,),
    "aggregate": (parse_step_blocks.AggregateDocument,),
    "config": (parse_pipeline._ConfigDocument,),
}
_MANIFEST: Mapping[str, Models] = {
    "manifest": (parse_manifest._ManifestDocument,),
    "metadata": (parse_manifest._MetadataDocument,),
    "adapter": (parse_manifest._AdapterDocument,),
    "persona": (parse_manifest._PersonaDocument,),
    "permissions": (parse_manifest._PermissionsDocument,),
    "hooks": (parse_manifest._HooksDocument,),
    "hook": (parse_manifest._HookDocument,),
    "runtime": (parse_manifest._RuntimeDocument,),
    "relay": (parse_manifest._RelayDocument,),
    "audit": (parse_manifest._AuditDocument,),
    "meta_pipeline": (parse_manifest._LimitsDocument,),
    "routing": (parse_manifest._RoutingDocument,),
    "cost": (parse_manifest._CostDocument,),
}
_READERS = {
    "_text": "text", "_texts": "list of texts", "_flag": "true or false", "_items": "list", "_named": "mapping",
    "_named_texts": "mapping of texts", "_object": "mapping",
}  # fmt: skip
"""What the readers of `document_model` make of a member, by their names."""
_PLACES = {
    "exec": "mapping", "gate": "mapping", "strategy": "mapping", "contract": "mapping", "chat_context": "mapping",
    "script": "text", "pipeline": "text", "message": "text", "trigger": "text", "type": "text",
    "timeout": "duration", "stall_timeout": "duration", "base_delay": "duration", "max_delay": "duration", "items": "list",
    "over": "list or text", "schema": "mapping or text", "dependency_key": "text", "stacked": "true or false",
    "skills": "list of texts",
}  # fmt: skip
"""What a member is that another reader than its model's reads."""
_SECTIONS = {
    "steps": "step", "contracts": "contract", "adapters": "adapter", "personas": "persona",
    "default_permissions": "permissions", "PreToolUse": "hook", "PostToolUse": "hook",
}  # fmt: skip
"""The section of a member that is not named like it."""
_CONTRACT_KINDS = ", ".join(map(code, dict.fromkeys(parse_contracts._CONTRACT_TYPES.values())))


def pipelines_page() -> str:
    """Return the whole page. Raises KeyError for a member without a sentence, or a sentence without one."""
    lines = [_HEAD, "## A pipeline", ""]
    lines += _sections(_PIPELINE, PIPELINE, "pipeline")
    lines += ["## A manifest", ""]
    lines += _sections(_MANIFEST, MANIFEST, "manifest")
    return "\n".join(lines).rstrip() + "\n"


def _sections(
    models: Mapping[str, Models], texts: Mapping[str, Mapping[str, str]], whole: str
) -> Iterator[str]:
    if models.keys() != texts.keys():
        raise KeyError(*(models.keys() ^ texts.keys()))
    titles = {name: _title(name, whole) for name in models}
    for name, parts in models.items():
        yield from (f"### {titles[name]}", "")
        yield from _members(name, parts, texts[name], titles)


def _title(name: str, whole: str) -> str:
    special = {whole: f"The {whole}", "step": "A step of `steps`", "metadata": f"`metadata` of a {whole}"}
    return special.get(name, f"`{name}`")


def _members(name: str, parts: Models, texts: Mapping[str, str], titles: Mapping[str, str]) -> Iterator[str]:
    fields = {field.alias or member: field for part in parts for member, field in part.model_fields.items()}
    if fields.keys() != texts.keys():
        raise KeyError(name, *(fields.keys() ^ texts.keys()))
    rows: list[tuple[str, ...]] = []
    for member, field in fields.items():
        section = _SECTIONS.get(member, member) if member != name else ""
        kind = _CONTRACT_KINDS if (name, member) == ("contract", "type") else _value(member, field)
        is_linked = section in titles and kind in ("mapping", "list")
        shown = f"[{kind}](#{anchor(titles[section])})" if is_linked else kind
        rows.append((code(member), shown, _default(field), sentence(texts[member])))
    yield from table(("member", "value", "default", "meaning"), rows)
    ignored = {
        word: what for part in parts[:1] for word, what in part.not_acted_on.items() if word not in fields
    }
    if ignored:
        words = ", ".join(f"{code(word)} ({prose(what)})" for word, what in ignored.items())
        yield from (f"Not acted on: {words}.", "")


def _value(member: str, field: Any) -> str:
    marks = list(_marks(field))
    for mark in marks:
        values = _closed_over(mark)
        if "words" in values:
            return ", ".join(code(word) for word in values["words"] if word)
        if "least" in values:
            return f"whole number, {values['least']:,} to {values['most']:,}"
    literal = [code(str(word)) for kind in _kinds(field.annotation) for word in _words(kind)]
    return ", ".join(literal) or _plain_kind(member, field, marks)


def _plain_kind(member: str, field: Any, marks: list[Any]) -> str:
    readers = {getattr(getattr(mark, "func", None), "__name__", "") for mark in marks}
    known = [_READERS[reader] for reader in _READERS if reader in readers]
    if known:
        return known[0]
    bounds = {key: getattr(mark, key) for mark in marks for key in ("ge", "le") if hasattr(mark, key)}
    limits = f", {bounds['ge']:,} to {bounds['le']:,}" if bounds else ""
    kinds = list(_kinds(field.annotation))
    if int in kinds or float in kinds:
        return f"{'whole number' if int in kinds else 'number'}{limits}"
    models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, DocumentModel)]
    return "mapping" if models else _PLACES[member]


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield a type and, of an optional one, its parts."""
    yield annotation
    for part in get_args(annotation):
        yield part
        if get_origin(part) is Annotated:
            yield get_args(part)[0]


def _words(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()


def _marks(field: Any) -> Iterator[Any]:
    """Yield what is said of the value of a field, also where it is optional."""
    yield from field.metadata
    for part in get_args(field.annotation):
        for mark in getattr(part, "__metadata__", ()):
            yield from getattr(mark, "metadata", None) or (mark,)


def _closed_over(mark: Any) -> Mapping[str, Any]:
    func: Callable[..., Any] | None = getattr(mark, "func", None)
    return inspect.getclosurevars(func).nonlocals if inspect.isfunction(func) else {}


def _default(field: Any) -> str:
    if any(isinstance(mark, Required) for mark in field.metadata):
        return "required"
    default = field.get_default(call_default_factory=True)
    for mark in field.metadata:
        words = _closed_over(mark).get("words")
        if words:
            same = [word for word in words if word and words[word] == default]
            return code(same[0]) if same else ""
    if isinstance(default, bool):
        return code("true" if default else "false")
    is_value = isinstance(default, str | int | float) and default != ""
    return code(f"{default:g}" if isinstance(default, float) else str(default)) if is_value else ""
