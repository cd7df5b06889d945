"""What the files of a workspace do once it is trusted: hooks, rules, commands, programs, model servers.

Every text is scrubbed, bounded and safe to draw. Nothing here runs anything or asks a server.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct

from workbench.config.keys import PROVIDER_KINDS
from workbench.config.model_names import default_provider_name, split_default_model, split_model_name
from workbench.config.types import Config, LoadedConfig, ToolHook
from workbench.domain.values import Guards, Json, JsonObject
from workbench.policy import trust
from workbench.text.safe import one_line, safe_text
from workbench.text.yaml_nodes import YamlError, parse_yaml

MAX_LISTED_FACTS = 50
"""Hooks and servers that are kept in the question; the rest is counted."""
_MAX_KEPT_TEXT = 3900
"""Characters of a fact; the note on its whole length comes behind them."""
_BUILT_IN_PROGRAM: Final = "workbench"
_MODEL_LINE: Final = re.compile(r"(?m)^[ \t-]*[\"']?model[\"']?[ \t]*:[ \t]*[\"']?([^\"'#\n{}]+)")
_HOOK_EVENTS: Final = ("PreToolUse", "PostToolUse")
CONVERSATION: Final = "conversation"
ASK: Final = "ask"
PIPELINES: Final = "pipelines"
FALLBACK: Final = "fallback of "
"""How a server may be used; behind the last one is the name of the provider that is overloaded."""
_USE_SENTENCES: Final = {
    CONVERSATION: "The conversation would go to {}.",
    ASK: "What you write to workbench ask would go to {}.",
    PIPELINES: "Agents of its pipelines would ask {}.",
}


class FactsLayout(Struct, frozen=True, kw_only=True):
    """How much of the facts is written, and what separates those of one kind."""

    most: int
    command_cells: int
    first: str = " "
    joint: str = "; "
    end: str = "."

    def list(self, texts: Sequence[str]) -> str:
        more = f"{self.joint}and {len(texts) - self.most} more" if len(texts) > self.most else ""
        return f"{self.first}{self.joint.join(texts[: self.most])}{more}{self.end}"


_IN_PROMPT: Final = FactsLayout(most=6, command_cells=300)
WHOLE: Final = FactsLayout(most=50, command_cells=8 * 4000, first="\n  ", joint="\n  ", end="")
"""All that is kept, one a line."""


class HookFact(Struct, frozen=True, kw_only=True):
    """A hook of the workspace."""

    event: str
    matcher: str
    command: str


class RuleFact(Struct, frozen=True, kw_only=True):
    """A rule of the workspace that allows calls without asking."""

    tool: str
    pattern: str
    description: str

    def text(self, cells: int) -> str:
        cut = f" … ({len(self.pattern)} characters)" if len(self.pattern) > cells else ""
        about = f" ({one_line(self.description, 80)})" if self.description else ""
        return f"{one_line(self.tool, 80)} {one_line(self.pattern[:cells], cells * 8)}{cut}{about}"

    def fact(self) -> JsonObject:
        return {"tool": self.tool, "pattern": self.pattern, "description": self.description}


class ServerFact(Struct, frozen=True, kw_only=True):
    """A model server that the workspace's files name or choose."""

    provider: str
    base_url: str
    model: str
    uses: tuple[str, ...] = ()
    """What is sent there unless something else is chosen; empty: it is only named."""
    key_env: str = ""
    """Variable of the environment whose value is sent there as the key, where the workspace names it."""

    @property
    def is_used(self) -> bool:
        return bool(self.uses)

    def place(self) -> str:
        model = f" (model {one_line(self.model, 80)})" if self.model else ""
        key = f" with the key in {one_line(self.key_env, 80)}" if self.key_env else ""
        return f"{one_line(self.base_url, 200)}{model}{key}"

    def sentences(self) -> Iterator[str]:
        for use in self.uses:
            if use.startswith(FALLBACK):
                name = one_line(use.removeprefix(FALLBACK), 80)
                yield f"While {name} is overloaded the conversation would go to {self.place()}."
            else:
                yield _USE_SENTENCES[use].format(self.place())

    def fact(self) -> JsonObject:
        uses: list[Json] = [*self.uses]
        return {
            "provider": self.provider, "base_url": self.base_url, "model": self.model, "used": self.is_used,
            **({"uses": uses} if uses else {}), **({"key_env": self.key_env} if self.key_env else {}),
        }  # fmt: skip


class PipelineFacts(Struct, frozen=True, kw_only=True):
    """What the pipelines of a workspace name."""

    commands: int = 0
    """Lines that name a command."""
    programs: tuple[str, ...] = ()
    """Programs that its manifest starts as agents."""
    models: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    """Providers of its personas; empty text is the default one."""

    def sentences(self, layout: FactsLayout) -> Iterator[str]:
        if self.programs:
            programs = [one_line(name, layout.command_cells) for name in self.programs]
            yield f"Its pipelines start as agents:{layout.list(programs)}"
        if self.models:
            yield f"Its pipelines ask for the models:{layout.list([one_line(it, 80) for it in self.models])}"
        if self.commands:
            lines = "1 line" if self.commands == 1 else f"{self.commands} lines"
            yield f"Its pipelines name commands on {lines}."

    def facts(self) -> JsonObject:
        lists = {"pipeline_programs": self.programs, "pipeline_models": self.models}
        kept: JsonObject = {name: [*texts[:MAX_LISTED_FACTS]] for name, texts in lists.items() if texts}
        return {"pipeline_commands": self.commands, **kept}


class TrustSummary(Struct, frozen=True, kw_only=True):
    """What a workspace's own files do once they act."""

    hooks: tuple[HookFact, ...] = ()
    key_commands: tuple[HookFact, ...] = ()
    """Commands that print the keys of its providers; `matcher` is the provider."""
    rules: tuple[RuleFact, ...] = ()
    denials: int = 0
    servers: tuple[ServerFact, ...] = ()
    pipelines: PipelineFacts = PipelineFacts()
    checker: str = ""
    """The command that would check findings; it runs when somebody has findings fixed."""

    @property
    def guards(self) -> Guards:
        """Return what protects calls only while the trust lasts."""
        if self.hooks:
            return "hooks"
        return "denials" if self.denials else "none"

    def sentences(self, layout: FactsLayout = _IN_PROMPT) -> Iterator[str]:
        if self.hooks:
            yield f"Its hooks would run:{_hooks_in_words(self.hooks, layout)}"
        if self.key_commands:
            yield f"To get keys of providers it would run:{_hooks_in_words(self.key_commands, layout)}"
        if self.rules:
            rules = [rule.text(layout.command_cells) for rule in self.rules]
            yield f"Its rules would allow without asking:{layout.list(rules)}"
        if self.checker:
            yield f"Findings would be checked by: {one_line(self.checker, layout.command_cells)}."
        yield from self._server_sentences(layout)
        yield from self.pipelines.sentences(layout)

    def _server_sentences(self, layout: FactsLayout) -> Iterator[str]:
        used = [sentence for server in self.servers for sentence in server.sentences()]
        yield from used[:MAX_LISTED_FACTS]
        if len(used) > MAX_LISTED_FACTS:
            yield f"Model servers are chosen in {len(used) - MAX_LISTED_FACTS} more places."
        others = [server.place() for server in self.servers if not server.is_used]
        if others:
            yield f"It also names the model servers:{layout.list(others)}"

    def facts(self) -> JsonObject:
        servers: list[Json] = [server.fact() for server in self.servers[:MAX_LISTED_FACTS]]
        keys = _hook_objects(self.key_commands)
        rules: list[Json] = [rule.fact() for rule in self.rules[:MAX_LISTED_FACTS]]
        return {
            "hooks": _hook_objects(self.hooks), "hook_count": len(self.hooks), "servers": servers,
            **self.pipelines.facts(), "denials": self.denials,
            **({"key_commands": keys} if keys else {}), **({"checker": self.checker} if self.checker else {}),
            **({"rules": rules, "rule_count": len(self.rules)} if rules else {}),
        }  # fmt: skip


def summarize_workspace(workspace: str, loaded: LoadedConfig) -> TrustSummary:
    """Say what the files of a workspace would do with trust."""
    config, texts = loaded.config, trust.governing_yaml_texts(workspace)
    manifests = [_yaml_object(texts[name]) for name in trust.PIPELINE_MANIFESTS if name in texts]
    pipelines, manifest = _pipeline_facts(texts, manifests), _manifest_hooks(texts, manifests)
    return TrustSummary(
        hooks=(
            *_hook_facts("PreToolUse", config.hooks.pre_tool_use),
            *_hook_facts("PostToolUse", config.hooks.post_tool_use),
            *(HookFact(event="manifest", matcher="", command=_scrubbed_fact(line)) for line in manifest),
        ),
        key_commands=tuple(_key_commands(loaded)), rules=tuple(_rule_facts(config)),
        denials=sum(pattern.origin.layer == "workspace" for pattern in config.approvals.deny),
        servers=tuple(_server_facts(loaded, _pipeline_providers(config, pipelines))), pipelines=pipelines,
        checker=_scrubbed_fact(config.incidents.checker or "")
        if _is_of_workspace(loaded, "incidents.checker")
        else "",
    )  # fmt: skip


def _is_of_workspace(loaded: LoadedConfig, key: str) -> bool:
    origin = loaded.origins.get(key)
    return origin is not None and origin.layer == "workspace"


def _hook_facts(event: str, hooks: tuple[ToolHook, ...]) -> Iterator[HookFact]:
    for hook in hooks:
        if hook.origin.layer == "workspace":
            yield HookFact(
                event=event, matcher=_scrubbed_fact(hook.matcher), command=_scrubbed_fact(hook.command)
            )


def _rule_facts(config: Config) -> Iterator[RuleFact]:
    for rule in config.auto_approval_rules:
        if rule.origin.layer == "workspace":
            yield RuleFact(
                tool=_scrubbed_fact(rule.tool_name), pattern=_scrubbed_fact(rule.param_pattern),
                description=_scrubbed_fact(rule.description),
            )  # fmt: skip


def _key_commands(loaded: LoadedConfig) -> Iterator[HookFact]:
    for name, provider in loaded.config.providers.items():
        if provider.key_command and _is_of_workspace(loaded, f"providers.{name}.key_command"):
            yield HookFact(
                event="key of", matcher=_scrubbed_fact(name), command=_scrubbed_fact(provider.key_command)
            )


# --- model servers ----------------------------------------------------------------------------------


class _Route(Struct, frozen=True, kw_only=True):
    """A way by which a provider is asked."""

    provider: str
    use: str
    is_of_workspace: bool
    """Whether a file of the workspace chose this way."""
    model: str = ""


def _pipeline_providers(config: Config, pipelines: PipelineFacts) -> tuple[str, ...]:
    """Return the providers that personas name, also in front of a model; empty text is the default one."""
    named = (split_model_name(config, model)[0] for model in pipelines.models)
    return tuple(dict.fromkeys((*pipelines.providers, *filter(None, named))))


def _server_facts(loaded: LoadedConfig, personas: Iterable[str]) -> Iterator[ServerFact]:
    config = loaded.config
    routes = list(_routes(loaded, personas))
    names = dict.fromkeys((*config.providers, *(route.provider for route in routes)))
    for name in names:
        taken = [route for route in routes if route.provider == name]
        provider = config.providers.get(name)
        is_own = provider is not None and provider.origin.layer == "workspace"
        if is_own or any(route.is_of_workspace for route in taken):
            fact = _server_fact(loaded, name, taken)
            if fact.base_url:
                yield fact


def _server_fact(loaded: LoadedConfig, name: str, routes: list[_Route]) -> ServerFact:
    provider, kind = loaded.config.providers.get(name), PROVIDER_KINDS.get(name)
    base_url = provider.base_url if provider else kind.default_base_url if kind else None
    model = next((route.model for route in routes if route.model), provider.model if provider else None)
    names_key = provider is not None and _is_of_workspace(loaded, f"providers.{name}.key_env")
    return ServerFact(
        provider=_scrubbed_fact(name), base_url=_scrubbed_fact(base_url or ""),
        model=_scrubbed_fact(model or ""),
        uses=tuple(dict.fromkeys(_scrubbed_fact(route.use) for route in routes)),
        key_env=_scrubbed_fact(provider.key_env or "") if provider and names_key else "",
    )  # fmt: skip


def _routes(loaded: LoadedConfig, personas: Iterable[str]) -> Iterator[_Route]:
    """Yield how providers are asked, with those that answer while another one is overloaded."""
    direct = [*_direct_routes(loaded, personas)]
    yield from direct
    names = [*dict.fromkeys(route.provider for route in direct)]
    for name in names:
        provider = loaded.config.providers.get(name)
        if provider is not None and provider.fallback:
            if provider.fallback not in names:
                names.append(provider.fallback)
            is_own = _is_of_workspace(loaded, f"providers.{name}.fallback")
            yield _Route(provider=provider.fallback, use=f"{FALLBACK}{name}", is_of_workspace=is_own)


def _direct_routes(loaded: LoadedConfig, personas: Iterable[str]) -> Iterator[_Route]:
    config, default = loaded.config, default_provider_name(loaded.config)
    named, model = split_default_model(config)
    is_chosen = _is_of_workspace(loaded, "default_model" if named else "default_provider")
    if default:
        yield _Route(
            provider=default, use=CONVERSATION, model=model,
            is_of_workspace=is_chosen or _is_of_workspace(loaded, "default_model"),
        )  # fmt: skip
    if config.ask.model:
        name, model = split_model_name(config, config.ask.model)
        is_own = _is_of_workspace(loaded, "ask.model") or (not name and is_chosen)
        yield _Route(provider=name or default, use=ASK, is_of_workspace=is_own, model=model)
    for name in personas:
        yield _Route(provider=name or default, use=PIPELINES, is_of_workspace=bool(name) or is_chosen)


# --- pipelines --------------------------------------------------------------------------------------


def _pipeline_facts(texts: Mapping[str, str], manifests: list[Mapping[str, object]]) -> PipelineFacts:
    adapters = [entry for manifest in manifests for entry in _entries(manifest, "adapters")]
    personas = [entry for manifest in manifests for entry in _entries(manifest, "personas")]
    programs = [_text(adapter, "binary") for adapter in adapters]
    models = [found.strip() for text in texts.values() for found in _MODEL_LINE.findall(text)]
    models += [_text(entry, name) for entry in (*adapters, *personas) for name in ("model", "default_model")]
    return PipelineFacts(
        commands=trust.count_pipeline_commands(texts),
        programs=_distinct(name for name in programs if name.rpartition("/")[2] != _BUILT_IN_PROGRAM),
        models=_distinct(models), providers=tuple(dict.fromkeys(_text(it, "provider") for it in personas)),
    )  # fmt: skip


def _manifest_hooks(texts: Mapping[str, str], manifests: list[Mapping[str, object]]) -> tuple[str, ...]:
    """Return the hook commands of manifests as they would run, or by line where a manifest cannot be read."""
    commands = [command for manifest in manifests for command in _hook_commands(manifest)]
    by_line = () if all(manifests) else trust.manifest_commands(texts)
    return tuple(dict.fromkeys(filter(None, (*commands, *by_line))))


def _hook_commands(value: object) -> Iterator[str]:
    """Yield the commands of hooks wherever they are: rather too many than one too few."""
    for name, member in _objects(value).items():
        for item in _items(member) if name in _HOOK_EVENTS else ():
            yield _text(item, "command")
        yield from _hook_commands(member)
    for item in _items(value):
        yield from _hook_commands(item)


def _yaml_object(text: str) -> Mapping[str, object]:
    try:
        return _objects(parse_yaml(text).value)
    except YamlError:
        return {}


def _entries(manifest: Mapping[str, object], section: str) -> Iterator[Mapping[str, object]]:
    for entry in _objects(manifest.get(section)).values():
        yield _objects(entry)


def _objects(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _text(entry: object, name: str) -> str:
    value = _objects(entry).get(name)
    return value.strip() if isinstance(value, str) else ""


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_scrubbed_fact(text) for text in texts if text))


# --- words ------------------------------------------------------------------------------------------


def _hooks_in_words(hooks: tuple[HookFact, ...], layout: FactsLayout) -> str:
    return layout.list([_hook_in_words(hook, layout.command_cells) for hook in hooks])


def _hook_in_words(hook: HookFact, cells: int) -> str:
    words = f"/bin/sh -c {shlex.quote(hook.command)}"
    cut = f" … ({len(hook.command)} characters)" if len(words) > cells else ""
    about = f"{hook.event} {hook.matcher}".strip()
    return f"{one_line(words[:cells], cells * 8)}{cut} ({one_line(about, 80)})"


def _hook_objects(hooks: tuple[HookFact, ...]) -> list[Json]:
    return [
        {"event": fact.event, "matcher": fact.matcher, "argv": ["/bin/sh", "-c", fact.command]}
        for fact in hooks[:MAX_LISTED_FACTS]
    ]


def _scrubbed_fact(text: str) -> str:
    from workbench.secrets.scrubber import scrub  # most folders have no such facts, and a screen starts here

    kept = safe_text(scrub(text[:_MAX_KEPT_TEXT]).text)
    return f"{kept} … ({len(text)} characters)" if len(text) > _MAX_KEPT_TEXT else kept
