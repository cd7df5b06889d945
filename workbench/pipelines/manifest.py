"""The manifest: S1's fields read from `workbench.yaml` or `wave.yaml`, every problem at once.

Owns which field means what. Whether a file that it names is there is asked of `files`.
"""

from collections.abc import Mapping
from typing import Final, cast

from workbench.domain.values import Json
from workbench.pipelines.fields import Fields, text_of
from workbench.pipelines.files import Files, OutsideRoot
from workbench.pipelines.model import (
    Adapter,
    Hook,
    Manifest,
    MetaLimits,
    Pattern,
    Permissions,
    Persona,
    Runtime,
)
from workbench.pipelines.problems import Place
from workbench.text.located import Node
from workbench.text.safe import one_line

KIND: Final = "WaveManifest"

_ROOT: Final = {
    "server": "a web server", "skills": "skills", "hooks": "lifecycle hooks",
    "params": "parameters", "routing": "task routing", "governance": "policies", "cost": "a budget",
    "sandbox": "isolation", "gates": "gate defaults", "forge": "a code host", "notifications": "notices",
}  # fmt: skip
_ADAPTER: Final = {
    "tier_models": "model tiers", "env": "variables", "timeout": "a time limit", "sandbox": "isolation",
}  # fmt: skip
_PERSONA: Final = {
    "sandbox": "isolation", "skills": "skills", "token_scopes": "token scopes", "tier": "a model tier",
    "tools": "further tools", "capabilities": "capabilities",
}  # fmt: skip
_RUNTIME: Final = {
    "routing": "task routing", "sandbox": "isolation", "artifacts": "artifact limits",
    "pipeline_id_hash_length": "id length", "stall_timeout": "stalled steps", "retros": "retrospectives",
    "cost": "a budget", "circuit_breaker": "a breaker", "timeouts": "further time limits",
    "fallbacks": "other adapters", "max_retries": "default retries", "step_concurrency": "a limit",
    "default_model": "a default model", "default_adapter": "a default adapter",
    "max_concurrency": "a limit of steps", "max_step_concurrency": "a limit of steps",
}  # fmt: skip


def read_manifest(place: Place, files: Files) -> Manifest | None:
    """Read a manifest document; None if it is none at all."""
    top = Fields(place)
    if place.node.members is None:
        return None
    top.text("apiVersion", required=True)
    kind = top.required("kind")
    if kind is not None and kind.node.value != KIND:
        kind.error("wrong_kind", f"kind has to be {KIND}, not {one_line(text_of(kind), 60)}")
    metadata = top.below("metadata")
    if metadata is None:
        place.error("missing_field", "the manifest needs metadata.name")
    for name in ("adapters", "personas", "runtime"):
        top.required(name)
    adapters = {name: _adapter(name, found, files) for name, found in top.named("adapters")}
    personas = {name: _persona(name, found, adapters, files) for name, found in top.named("personas")}
    runtime = top.below("runtime")
    manifest = Manifest(
        name=metadata.text("name", required=True) if metadata else "",
        description=metadata.text("description") if metadata else "",
        repo=(metadata.text("repo") if metadata else "") or top.text("repo"), adapters=adapters,
        personas=personas, runtime=_runtime(runtime) if runtime else Runtime(),
        skill_mounts=_skills(top, files), project=_object(top.json("project")),
        ontology=_object(top.json("ontology")),
    )  # fmt: skip
    if metadata:
        metadata.unknown(
            {"forge": "a code host", "version": "a version", "author": "an author", "created": "a date"}
        )
    top.text("description")
    if top.has("ontology"):
        message = "ontology (domain terms) is read for templates only; agents are not told of it"
        top.place.key("ontology").warn("not_run", message)
    _summarizer(top, manifest)
    for adapter in adapters.values():
        _by_itself(top, adapter, manifest)
    top.unknown(_ROOT)
    return manifest


def _summarizer(top: Fields, manifest: Manifest) -> None:
    name = manifest.runtime.summarizer
    if name and name not in manifest.personas:
        known = ", ".join(manifest.personas) or "none"
        message = (
            f"there is no persona {one_line(name, 60)} to write checkpoints; known: {one_line(known, 300)}"
        )
        _within(top.place, "runtime", "relay", "summarizer_persona").error("unknown_persona", message)


def _within(place: Place, *path: str) -> Place:
    """Return the place of a member below, or of the nearest thing above it that is there."""
    for name in path:
        place = place.member(name) or place
    return place


def _by_itself(top: Fields, adapter: Adapter, manifest: Manifest) -> None:
    """Name what a manifest says of the personas of another program and what never reaches that program."""
    mine = [one for one in manifest.personas.values() if one.adapter == adapter.name]
    if adapter.is_built_in or not mine:
        return
    written = _within(top.place, "runtime", "relay").path.endswith("relay")
    lost = [
        *(["relay (it keeps its own conversation)"] if written else []),
        *(["hooks"] if any(one.hooks for one in mine) else []),
        *(["temperature"] if any(one.temperature is not None for one in mine) else []),
    ]
    if lost:
        what = f"{' and '.join(lost)} of its personas {'do' if len(lost) > 1 else 'does'} not reach it"
        message = f"{one_line(adapter.binary, 60)} runs by itself and makes its own calls: {what}"
        _within(top.place, "adapters", adapter.name).warn("adapter_by_itself", message)


def _object(value: Json) -> Mapping[str, Json]:
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}


def _adapter(name: str, place: Place, files: Files) -> Adapter:
    fields = Fields(place)
    mode = fields.required("mode")
    if mode is not None and mode.node.value != "headless":
        mode.error("wrong_value", "mode has to be headless: no adapter is run interactively")
    output = fields.word("output_format", {w: w for w in ("json", "jsonl", "stream-json", "text")}, "json")
    template = fields.get("hooks_template")
    if template is not None:
        _require_folder(template, files, "hooks_template")
        template.warn(
            "not_run", "hooks_template is checked and not acted on here; write hooks at the persona"
        )
    adapter = Adapter(
        name=name, binary=fields.text("binary", required=True), output_format=output,
        project_files=tuple(_project_file(item, files) for item in fields.texts("project_files")),
        permissions=_permissions(fields, "default_permissions") or Permissions(),
        hooks_template=text_of(template) if template else "",
        model=fields.text("default_model") or fields.text("model"),
        args=tuple(text_of(item) for item in fields.texts("args")),
    )  # fmt: skip
    fields.unknown(_ADAPTER)
    return adapter


def _project_file(place: Place, files: Files) -> str:
    path = text_of(place)
    try:
        if not files.named(path):
            message = f"the project file {one_line(path, 120)} is not there"
            place.warn("missing_file", message, stops_run=True)
    except OutsideRoot:
        place.error("path_outside", f"{one_line(path, 120)} leads out of the project")
    return path


def _require_folder(place: Place, files: Files, what: str) -> None:
    path = text_of(place)
    try:
        if not files.is_folder(path):
            place.warn("missing_file", f"the folder {one_line(path, 120)} of {what} is not there")
    except OutsideRoot:
        place.error("path_outside", f"{one_line(path, 120)} leads out of the project")


def _permissions(fields: Fields, name: str) -> Permissions | None:
    below = fields.below(name)
    if below is None:
        return None
    found = Permissions(allowed=_patterns(below, "allowed_tools"), deny=_patterns(below, "deny"))
    below.unknown()
    return found


def _patterns(fields: Fields, name: str) -> tuple[Pattern, ...]:
    return tuple(
        Pattern(text=text_of(item), origin=f"{item.file}:{item.node.line}") for item in fields.texts(name)
    )


def _persona(name: str, place: Place, adapters: Mapping[str, Adapter], files: Files) -> Persona:
    fields = Fields(place)
    adapter = fields.required("adapter")
    if adapter is not None and text_of(adapter) not in adapters:
        known = ", ".join(adapters) or "none"
        adapter.error(
            "unknown_adapter", f"there is no adapter {one_line(text_of(adapter), 60)}; known: {known}"
        )
    prompt = fields.required("system_prompt_file")
    if prompt is not None:
        _require_file(prompt, files, f"the prompt of persona {one_line(name, 60)}")
    persona = Persona(
        name=name, adapter=text_of(adapter) if adapter else "", prompt_file=text_of(prompt) if prompt else "",
        description=fields.text("description"), temperature=fields.number("temperature", 0.0, 1.0),
        provider=fields.text("provider"), model=fields.text("model"),
        permissions=_permissions(fields, "permissions"), hooks=tuple(_hooks(fields, files)),
    )  # fmt: skip
    fields.unknown(_PERSONA)
    return persona


def _require_file(place: Place, files: Files, what: str) -> None:
    path = text_of(place)
    try:
        if files.text(path) is None:
            place.warn(
                "missing_file",
                f"{what} is not there: {one_line(path, 160)}; make the file or name another",
                stops_run=True,
            )
    except OutsideRoot:
        place.error("path_outside", f"{one_line(path, 160)} leads out of the project; keep it inside")


def _hooks(fields: Fields, files: Files) -> list[Hook]:
    below = fields.below("hooks")
    found: list[Hook] = []
    for event in ("PreToolUse", "PostToolUse"):
        for place in below.objects(event) if below else ():
            rule = Fields(place)
            matcher, command = rule.text("matcher", required=True), rule.get("command")
            if command is None:
                rule.required("command")
            else:
                check_script(command, files)
            rule.unknown({"timeout": "a time limit"})
            origin = f"{place.file}:{place.node.line}"
            found.append(
                Hook(event=event, matcher=matcher, command=text_of(command) if command else "", origin=origin)
            )
    if below:
        below.unknown()
    return found


def check_script(command: Place, files: Files) -> None:
    """Report a script that a command line names and that is not there (SPEC part B, 32)."""
    words = text_of(command).split()
    first = words[0] if words else ""
    if not first:
        command.error("missing_field", "the command is empty")
    elif first.startswith("/"):
        return
    elif "/" in first or first.endswith((".sh", ".py")):
        _require_file(command.at(_first_word(command, first), command.path), files, "the script")


def _first_word(command: Place, first: str) -> Node:
    node = command.node
    return Node(value=first, line=node.line, column=node.column)


def _runtime(fields: Fields) -> Runtime:
    relay, audit, meta = fields.below("relay"), fields.below("audit"), fields.below("meta_pipeline")
    plain = Runtime()
    found = Runtime(
        workspace_root=fields.text("workspace_root"),
        max_concurrent_workers=fields.whole("max_concurrent_workers", plain.max_concurrent_workers, 1, 1000),
        default_timeout_minutes=fields.whole(
            "default_timeout_minutes", plain.default_timeout_minutes, 1, 100_000
        ),
        relay_percent=relay.whole("token_threshold_percent", 80, 1, 100) if relay else 80,
        relay_strategy=_strategy(relay),
        context_window=relay.whole("context_window", 0, 1_000, 100_000_000) if relay else 0,
        summarizer=relay.text("summarizer_persona") if relay else "",
        audit_dir=audit.text("log_dir", plain.audit_dir) if audit else plain.audit_dir,
        log_calls=audit.flag("log_all_tool_calls", False) if audit else False,
        log_files=audit.flag("log_all_file_operations", False) if audit else False,
        meta=_meta(meta) if meta else MetaLimits(),
    )
    for below in (relay, audit):
        if below:
            below.unknown({"min_messages_to_compact": "a limit"})
    fields.unknown(_RUNTIME)
    return found


def _strategy(relay: Fields | None) -> str:
    only = "summarize_to_checkpoint"
    return relay.word("strategy", {only: only}, only) if relay else only


def _meta(fields: Fields) -> MetaLimits:
    plain = MetaLimits()
    found = MetaLimits(
        max_depth=fields.whole("max_depth", plain.max_depth, 1, 10),
        max_total_steps=fields.whole("max_total_steps", plain.max_total_steps, 1),
        max_total_tokens=fields.whole("max_total_tokens", plain.max_total_tokens, 1),
        timeout_minutes=fields.whole("timeout_minutes", plain.timeout_minutes, 1),
    )
    fields.unknown()
    return found


def _skills(top: Fields, files: Files) -> tuple[str, ...]:
    found: list[str] = []
    if top.has("skill_mounts"):
        message = "skill_mounts is checked and not acted on here: agents get no skills"
        top.place.key("skill_mounts").warn("not_run", message)
    for item in top.objects("skill_mounts"):
        path = item if isinstance(item.node.value, str) else Fields(item).required("path")
        if path is not None:
            # Nothing is read there, so it may lie anywhere (`~`, `/opt`).
            if not text_of(path).startswith(("/", "~")):
                _require_folder(path, files, "skill_mounts")
            found.append(text_of(path))
    return tuple(found)
