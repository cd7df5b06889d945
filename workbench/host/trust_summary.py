"""What the files of a workspace would do once it is trusted: hooks, denials, model servers, commands.

Owns the words and facts that the trust question adds to the names of the files. It runs nothing, and what
it returns is bounded and scrubbed: the text comes from the workspace.
"""

import shlex
from collections.abc import Iterator

from workbench.config.values import Config, Hook, Loaded
from workbench.domain.values import Guards, Json, JsonObject
from workbench.policy import trust
from workbench.records import dataclass
from workbench.text.safe import one_line, safe
from workbench.text.scrub import scrub

MOST_LISTED = 50
"""Hooks and servers that are kept in the question; the rest is counted."""
_SHOWN = 6
_COMMAND = 300
_KEPT_COMMAND = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFact:
    """A hook of the workspace."""

    event: str
    matcher: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFact:
    """A model server that the workspace's configuration names."""

    provider: str
    base_url: str
    model: str
    is_used: bool
    """Whether a new conversation goes there unless something else is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSummary:
    """What a workspace's own files do once they act."""

    hooks: tuple[HookFact, ...] = ()
    denials: int = 0
    servers: tuple[ServerFact, ...] = ()
    commands: int = 0
    """Lines of its pipelines that name a command."""

    @property
    def guards(self) -> Guards:
        """Return what would no longer stand in the way of calls if the trust ended."""
        if self.hooks:
            return "hooks"
        return "denials" if self.denials else "none"

    def sentences(self) -> tuple[str, ...]:
        """Return the words of the question besides the names of files; hidden characters are marked."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        if self.hooks:
            shown = "; ".join(map(_hook_words, self.hooks[:_SHOWN]))
            yield f"Its hooks would run: {shown}{_more(len(self.hooks), _SHOWN)}."
        for server in [one for one in self.servers if one.is_used][:1]:
            model = f" (model {one_line(server.model, 80)})" if server.model else ""
            yield f"The conversation would go to {one_line(server.base_url, 200)}{model}."
        others = [one_line(one.base_url, 120) for one in self.servers if not one.is_used]
        if others:
            yield f"It also names the model servers {', '.join(others[:_SHOWN])}{_more(len(others), _SHOWN)}."
        if self.commands:
            lines = "1 line" if self.commands == 1 else f"{self.commands} lines"
            yield f"Its pipelines name commands on {lines}."

    def facts(self) -> JsonObject:
        """Return the same as JSON."""
        hooks: list[Json] = [
            {"event": one.event, "matcher": one.matcher, "argv": ["/bin/sh", "-c", one.command]}
            for one in self.hooks[:MOST_LISTED]
        ]
        servers: list[Json] = [
            {"provider": one.provider, "base_url": one.base_url, "model": one.model, "used": one.is_used}
            for one in self.servers[:MOST_LISTED]
        ]
        return {
            "hooks": hooks, "hook_count": len(self.hooks), "servers": servers,
            "pipeline_commands": self.commands, "denials": self.denials,
        }  # fmt: skip


def summarize(workspace: str, loaded: Loaded) -> TrustSummary:
    """Say what the files of a workspace do.

    Args:
        workspace: Its real path.
        loaded: The settings as they would be with trust.
    """
    config = loaded.config
    named = trust.manifest_commands(workspace)
    return TrustSummary(
        hooks=(
            *_hooks("PreToolUse", config.hooks.pre_tool_use),
            *_hooks("PostToolUse", config.hooks.post_tool_use),
            *(HookFact(event="manifest", matcher="", command=_kept(text)) for text in named),
        ),
        denials=sum(pattern.origin.layer == "workspace" for pattern in config.approvals.deny),
        servers=tuple(_servers(config, loaded)), commands=trust.pipeline_commands(workspace),
    )  # fmt: skip


def _hooks(event: str, hooks: tuple[Hook, ...]) -> Iterator[HookFact]:
    for hook in hooks:
        if hook.origin.layer == "workspace":
            yield HookFact(event=event, matcher=_kept(hook.matcher), command=_kept(hook.command))


def _servers(config: Config, loaded: Loaded) -> Iterator[ServerFact]:
    chosen = loaded.origins.get("default_provider")
    for name, provider in config.providers.items():
        is_used = name == config.default_provider
        names_it = is_used and chosen is not None and chosen.layer == "workspace"
        if provider.base_url and (provider.origin.layer == "workspace" or names_it):
            model = provider.model or (config.default_model if is_used else None) or ""
            yield ServerFact(
                provider=_kept(name), base_url=_kept(provider.base_url), model=_kept(model), is_used=is_used
            )


def _hook_words(hook: HookFact) -> str:
    words = f"/bin/sh -c {shlex.quote(hook.command)}"
    cut = f" … ({len(hook.command)} characters)" if len(words) > _COMMAND else ""
    about = f"{hook.event} {hook.matcher}".strip()
    return f"{one_line(words[:_COMMAND], _COMMAND * 8)}{cut} ({one_line(about, 80)})"


def _more(count: int, shown: int) -> str:
    return f" and {count - shown} more" if count > shown else ""


def _kept(text: str) -> str:
    return safe(scrub(text[:_KEPT_COMMAND]).text)
