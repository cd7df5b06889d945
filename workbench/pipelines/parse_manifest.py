"""Parse a manifest (`workbench.yaml` or `wave.yaml`) into the model, reporting every problem at once.

Imports pydantic, so import it only where a manifest is read.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, InstanceOf

from workbench.domain.values import HookRule, JsonObject, PermissionPattern, SandboxLevel
from workbench.pipelines.code_hosts import CODE_HOSTS, known_kind
from workbench.pipelines.document_model import (
    METADATA,
    PRESENT,
    REQUIRED,
    DocumentModel,
    Flag,
    Items,
    JsonObjectValue,
    Named,
    Number,
    Place,
    Required,
    Text,
    Texts,
    Whole,
    Word,
    duration_seconds,
    is_text_item,
)
from workbench.pipelines.documents import (
    ProjectFiles,
    check_script_exists,
    reporting_outside,
    require_file,
    require_folder,
)
from workbench.pipelines.model import Adapter, Manifest, MetaLimits, Permissions, Persona, Runtime
from workbench.pipelines.outline import MANIFEST_KIND, PIPELINE_KIND, report_wrong_kind
from workbench.pipelines.skills import SKILL_FOLDERS
from workbench.pipelines.step_notes import no_network_text
from workbench.text.located import DocumentPlace, text_at
from workbench.text.safe import one_line

_PLAIN_RUNTIME: Final = Runtime()
_PLAIN_LIMITS: Final = MetaLimits()
_Count = Annotated[Whole, Field(ge=1, le=1_000_000_000)]


class _PermissionsDocument(DocumentModel):
    allowed_tools: Texts = ()
    deny: Texts = ()


class _AdapterDocument(DocumentModel):
    binary: Annotated[Text, REQUIRED] = ""
    mode: Annotated[Text, PRESENT] = ""
    output_format: Word[Literal["json", "jsonl", "stream-json", "text"]] = "json"
    project_files: Texts = ()
    default_permissions: _PermissionsDocument | None = None
    hooks_template: Text = ""
    default_model: Text = ""
    model: Text = ""
    args: Texts = ()
    tier_models: JsonObjectValue = Field(default_factory=dict)
    sandbox: Word[SandboxLevel | None] = None
    nested_sandbox: Flag = False
    not_acted_on: ClassVar[Mapping[str, str]] = {"env": "variables", "timeout": "a time limit"}


class _HookDocument(DocumentModel):
    matcher: Annotated[Text, REQUIRED] = ""
    command: Annotated[Text, PRESENT] = ""
    sandbox: Word[SandboxLevel | None] = None
    not_acted_on: ClassVar[Mapping[str, str]] = {"timeout": "a time limit"}


class _HooksDocument(DocumentModel):
    before: Items[_HookDocument] = Field(default=(), alias="PreToolUse")
    after: Items[_HookDocument] = Field(default=(), alias="PostToolUse")


class _PersonaDocument(DocumentModel):
    adapter: Annotated[Text, PRESENT] = ""
    system_prompt_file: Annotated[Text, PRESENT] = ""
    description: Text = ""
    temperature: Annotated[Number, Field(ge=0, le=1)] | None = None
    provider: Text = ""
    model: Text = ""
    permissions: _PermissionsDocument | None = None
    hooks: _HooksDocument = _HooksDocument()
    skills: Texts = ()
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "sandbox": "isolation", "token_scopes": "token scopes", "tier": "a model tier",
        "tools": "further tools", "capabilities": "capabilities",
    }  # fmt: skip


class _RelayDocument(DocumentModel):
    token_threshold_percent: Annotated[Whole, Field(ge=1, le=100)] = _PLAIN_RUNTIME.relay_percent
    strategy: Word[Literal["summarize_to_checkpoint"]] = "summarize_to_checkpoint"
    context_window: Annotated[Whole, Field(ge=1_000, le=100_000_000)] = 0
    summarizer_persona: Text = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {"min_messages_to_compact": "a limit"}


class _AuditDocument(DocumentModel):
    log_dir: Text = _PLAIN_RUNTIME.audit_dir
    log_all_tool_calls: Flag = False
    log_all_file_operations: Flag = False


class _LimitsDocument(DocumentModel):
    max_depth: Annotated[Whole, Field(ge=1, le=10)] = _PLAIN_LIMITS.max_depth
    max_total_steps: _Count = _PLAIN_LIMITS.max_total_steps
    max_total_tokens: _Count = _PLAIN_LIMITS.max_total_tokens
    timeout_minutes: _Count = _PLAIN_LIMITS.timeout_minutes


class _RoutingDocument(DocumentModel):
    complexity_map: JsonObjectValue = Field(default_factory=dict)
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "default": "task routing", "rules": "task routing", "default_adapter": "a default adapter",
        "default_model": "a default model", "enabled": "task routing",
    }  # fmt: skip


class _CostDocument(DocumentModel):
    budget_ceiling: Annotated[Number, Field(ge=0, le=1_000_000_000)] = 0.0
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "enabled": "costs are always counted", "warn_at": "a warning", "currency": "costs are US dollars",
    }  # fmt: skip


class _RuntimeDocument(DocumentModel):
    workspace_root: Text = ""
    max_concurrent_workers: Annotated[Whole, Field(ge=1, le=1000)] = _PLAIN_RUNTIME.max_concurrent_workers
    default_timeout_minutes: Annotated[Whole, Field(ge=1, le=100_000)] = (
        _PLAIN_RUNTIME.default_timeout_minutes
    )
    relay: _RelayDocument = _RelayDocument()
    audit: _AuditDocument = _AuditDocument()
    meta_pipeline: _LimitsDocument = _LimitsDocument()
    routing: _RoutingDocument = _RoutingDocument()
    cost: _CostDocument = _CostDocument()
    stall_timeout: Place | None = None
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "sandbox": "isolation", "artifacts": "artifact limits",
        "pipeline_id_hash_length": "id length", "retros": "retrospectives",
        "circuit_breaker": "a breaker", "timeouts": "further time limits",
        "fallbacks": "other adapters", "max_retries": "default retries", "step_concurrency": "a limit",
        "default_model": "a default model", "default_adapter": "a default adapter",
        "max_concurrency": "a limit of steps", "max_step_concurrency": "a limit of steps",
    }  # fmt: skip


class _MetadataDocument(DocumentModel):
    name: Annotated[Text, REQUIRED] = ""
    description: Text = ""
    repo: Text = ""
    forge: Annotated[Text, METADATA] = ""
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "version": "a version", "author": "an author", "created": "a date",
    }  # fmt: skip


class _SkillMountDocument(DocumentModel):
    path: Annotated[Text, PRESENT] = ""


class _ManifestDocument(DocumentModel):
    api_version: Annotated[Text, REQUIRED] = Field(default="", alias="apiVersion")
    kind: Annotated[Text, PRESENT] = ""
    metadata: Annotated[_MetadataDocument, Required("metadata.name")] = _MetadataDocument()
    adapters: Annotated[Named[_AdapterDocument], REQUIRED] = Field(default_factory=dict)
    personas: Annotated[Named[_PersonaDocument], REQUIRED] = Field(default_factory=dict)
    runtime: Annotated[_RuntimeDocument, REQUIRED] = _RuntimeDocument()
    description: Text = ""
    repo: Text = ""
    project: JsonObjectValue = Field(default_factory=dict)
    ontology: JsonObjectValue = Field(default_factory=dict)
    skill_mounts: Items[InstanceOf[DocumentPlace]] = ()
    skills: InstanceOf[DocumentPlace] | None = None
    not_acted_on: ClassVar[Mapping[str, str]] = {
        "server": "a web server", "hooks": "lifecycle hooks",
        "params": "parameters", "routing": "task routing", "governance": "policies", "cost": "a budget",
        "sandbox": "isolation", "gates": "gate defaults", "forge": "a code host", "notifications": "notices",
    }  # fmt: skip


def read_manifest(place: DocumentPlace, files: ProjectFiles) -> Manifest | None:
    """Read a manifest document; None if it is none at all."""
    document = _ManifestDocument.model_validate(place)
    if place.node.members is None:
        return None
    kind = document.place_of("kind")
    if kind is not None and kind.node.value != MANIFEST_KIND:
        report_wrong_kind(kind, f"{MANIFEST_KIND} for a manifest, or {PIPELINE_KIND} for a pipeline")
    adapters = {name: _adapter(name, entry, files) for name, entry in document.adapters.items()}
    personas = {name: _persona(name, entry, adapters, files) for name, entry in document.personas.items()}
    manifest = document.to(
        Manifest, name=document.metadata.name, description=document.metadata.description,
        repo=document.metadata.repo or document.repo,
        forge=_forge(document.metadata), adapters=adapters, personas=personas,
        runtime=_runtime(document.runtime), skill_mounts=tuple(_skill_mounts(document, files)),
        skills=tuple(_skills(document)),
    )  # fmt: skip
    if document.place_of("ontology"):
        message = "ontology (domain terms) is read for templates only; agents are not told of it"
        place.key("ontology").warn("not_run", message)
    _check_summarizer(place, manifest)
    for adapter in adapters.values():
        _warn_unpassed_members(place, adapter, manifest)
        if adapter.sandbox not in (None, "outside") and not adapter.is_built_in:
            _nearest_place(place, "adapters", adapter.name, "sandbox").warn(
                "no_network", no_network_text(adapter)
            )
    return manifest


def _forge(document: _MetadataDocument) -> str:
    place, kind = document.place_of("forge"), known_kind(document.forge)
    if place is not None and document.forge and not kind:
        known = ", ".join(CODE_HOSTS)
        message = f"{one_line(document.forge, 60)} is not a known code host; the remote origin decides"
        place.warn("wrong_value", f"{message}; known: {known}")
    return kind


def _adapter(name: str, document: _AdapterDocument, files: ProjectFiles) -> Adapter:
    mode, template = document.place_of("mode"), document.place_of("hooks_template")
    if mode is not None and mode.node.value != "headless":
        mode.error("wrong_value", "mode has to be headless: no adapter is run interactively")
    if template is not None:
        require_folder(template, files, "hooks_template")
        template.warn(
            "not_run", "hooks_template is checked and not acted on here; write hooks at the persona"
        )
    for path in document.project_files:
        _check_project_file(path, files)
    return document.to(
        Adapter, name=name, project_files=_plain_texts(document.project_files),
        permissions=_permissions(document.default_permissions) or Permissions(),
        model=document.default_model or document.model, args=_plain_texts(document.args),
        tier_models=_model_names(document.tier_models),
    )  # fmt: skip


def _model_names(members: JsonObject) -> dict[str, str]:
    return {tier: name for tier, name in members.items() if isinstance(name, str)}


def _plain_texts(places: tuple[DocumentPlace, ...]) -> tuple[str, ...]:
    return tuple(text_at(place) for place in places)


def _check_project_file(place: DocumentPlace, files: ProjectFiles) -> None:
    path = text_at(place)
    with reporting_outside(place):
        if not files.named(path):
            place.warn("missing_file", f"the project file {one_line(path, 120)} is not there, and not copied")


def _permissions(document: _PermissionsDocument | None) -> Permissions | None:
    if document is None:
        return None
    return Permissions(allowed=_patterns(document.allowed_tools), deny=_patterns(document.deny))


def _patterns(places: tuple[DocumentPlace, ...]) -> tuple[PermissionPattern, ...]:
    return tuple(
        PermissionPattern(text=text_at(place), origin=f"{place.file}:{place.node.line}") for place in places
    )


def _persona(
    name: str, document: _PersonaDocument, adapters: Mapping[str, Adapter], files: ProjectFiles
) -> Persona:
    adapter, prompt = document.place_of("adapter"), document.place_of("system_prompt_file")
    if adapter is not None and document.adapter not in adapters:
        adapter_names = ", ".join(adapters) or "none"
        adapter.error(
            "unknown_adapter", f"there is no adapter {one_line(text_at(adapter), 60)}; known: {adapter_names}"
        )
    if prompt is not None:
        require_file(prompt, files, f"the prompt of persona {one_line(name, 60)}", is_error=True)
    return document.to(
        Persona, name=name, prompt_file=document.system_prompt_file,
        permissions=_permissions(document.permissions), hooks=tuple(_hooks(document.hooks, files)),
        skills=tuple(map(text_at, document.skills)),
    )  # fmt: skip


def _hooks(document: _HooksDocument, files: ProjectFiles) -> Iterator[HookRule]:
    rules = [("PreToolUse", rule) for rule in document.before]
    rules += [("PostToolUse", rule) for rule in document.after]
    for event, rule in rules:
        command = rule.place_of("command")
        if command is not None:
            check_script_exists(command, files, is_error=True)
        yield rule.to(HookRule, event=event, origin=rule.origin)


def _runtime(document: _RuntimeDocument) -> Runtime:
    relay, audit = document.relay, document.audit
    return document.to(
        Runtime, relay_percent=relay.token_threshold_percent, relay_strategy=relay.strategy,
        context_window=relay.context_window, summarizer=relay.summarizer_persona, audit_dir=audit.log_dir,
        log_calls=audit.log_all_tool_calls, log_files=audit.log_all_file_operations,
        meta=document.meta_pipeline.to(MetaLimits),
        complexity_map=_model_names(document.routing.complexity_map),
        budget=document.cost.budget_ceiling, stall_seconds=_stall_seconds(document),
    )  # fmt: skip


def _stall_seconds(document: _RuntimeDocument) -> float:
    place = document.place_of("stall_timeout")
    text = text_at(place).strip() if place else ""
    seconds = 0.0 if text in ("", "0") else duration_seconds(text)
    if seconds is None and place is not None:
        place.error("wrong_value", "stall_timeout has to be a duration such as 90s or 10m; 0 sets no limit")
    return seconds or 0.0


def _skill_mounts(document: _ManifestDocument, files: ProjectFiles) -> Iterator[str]:
    """Yield the folders of skills; only the known ones inside the project are read."""
    for item in document.skill_mounts:
        is_text = isinstance(item.node.value, str)
        path = item if is_text else _SkillMountDocument.model_validate(item).place_of("path")
        if path is not None:
            if not text_at(path).startswith(("/", "~")):
                require_folder(path, files, "skill_mounts")
            if text_at(path).removeprefix("./").rstrip("/") not in SKILL_FOLDERS:
                message = f"skills are only looked for in {', '.join(SKILL_FOLDERS)}, and not here"
                path.warn("not_run", message)
            yield text_at(path)


def _skills(document: _ManifestDocument) -> Iterator[str]:
    """Yield the names of skills; older documents have an object of them, with commands to install each."""
    place = document.place_of("skills")
    if place is None:
        return
    if place.node.members is not None:
        place.warn("not_run", "commands that install or check skills are not run here")
        yield from place.node.members
    elif place.node.items is not None:
        yield from (text_at(item) for item in place.items() if is_text_item(item, "skills"))
    else:
        place.error("wrong_type", "skills has to be a list")


def _check_summarizer(place: DocumentPlace, manifest: Manifest) -> None:
    name = manifest.runtime.summarizer
    if name and name not in manifest.personas:
        persona_names = ", ".join(manifest.personas) or "none"
        known = one_line(persona_names, 300)
        message = f"there is no persona {one_line(name, 60)} to write checkpoints; known: {known}"
        _nearest_place(place, "runtime", "relay", "summarizer_persona").error("unknown_persona", message)


def _nearest_place(place: DocumentPlace, *path: str) -> DocumentPlace:
    for name in path:
        place = place.member(name) or place
    return place


def _warn_unpassed_members(place: DocumentPlace, adapter: Adapter, manifest: Manifest) -> None:
    """Warn of settings of personas that do not reach the program which runs them."""
    mine = [persona for persona in manifest.personas.values() if persona.adapter == adapter.name]
    if adapter.is_built_in or not mine:
        return
    written = _nearest_place(place, "runtime", "relay").path.endswith("relay")
    lost = [
        *(["relay (it keeps its own conversation)"] if written else []),
        *(["hooks"] if any(persona.hooks for persona in mine) else []),
        *(["temperature"] if any(persona.temperature is not None for persona in mine) else []),
    ]
    if lost:
        subject = f"{' and '.join(lost)} of its personas {'do' if len(lost) > 1 else 'does'} not reach it"
        message = f"{one_line(adapter.binary, 60)} runs by itself and makes its own calls: {subject}"
        _nearest_place(place, "adapters", adapter.name).warn("adapter_by_itself", message)
