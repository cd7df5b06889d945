"""What an agent's own settings say about its questions and its hooks: its mode, and what turns hooks off.

By the documentation of the versions in the table of agents.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, cast

from msgspec import Struct, field

SettingsSource = Literal["settings", "config", "managed"]
"""The file with the hooks; the TOML file next to it; the file of an administrator."""
_NOTHING: Final = "it asks about nothing"
_EDITS_AND_COMMANDS: Final = "it asks about edits and commands that its own rules do not allow"
_COMMANDS: Final = "it asks about commands, not about edits"
_MODEL: Final = "a model decides what it asks about"
_PLANS: Final = "it plans and changes nothing"


class OffSwitch(Struct, frozen=True, kw_only=True):
    """A setting that keeps an agent from running our hooks."""

    source: SettingsSource
    path: tuple[str, ...]
    value: bool


class AgentSettings(Struct, frozen=True, kw_only=True):
    """Where an agent keeps its mode, what each mode asks about, and which settings turn hooks off."""

    mode_source: SettingsSource = "settings"
    mode_path: tuple[str, ...] = ()
    """Empty where it has no single mode."""
    default_mode: str = ""
    modes: Mapping[str, str] = field(default_factory=dict[str, str])
    config: str = ""
    """Name of the TOML file in its folder."""
    managed: tuple[str, ...] = ()
    """Absolute paths of an administrator's settings; the first that is there counts."""
    switches: tuple[OffSwitch, ...] = ()


AGENT_SETTINGS: Final[Mapping[str, AgentSettings]] = {
    "claude": AgentSettings(
        mode_path=("permissions", "defaultMode"), default_mode="auto",
        modes={
            "auto": _MODEL, "default": _EDITS_AND_COMMANDS, "acceptEdits": _COMMANDS, "plan": _PLANS,
            "bypassPermissions": _NOTHING, "dontAsk": _NOTHING,
        },
        managed=(
            "/etc/claude-code/managed-settings.json",
            "/Library/Application Support/ClaudeCode/managed-settings.json",
        ),
        switches=(
            OffSwitch(source="settings", path=("disableAllHooks",), value=True),
            OffSwitch(source="managed", path=("disableAllHooks",), value=True),
            OffSwitch(source="managed", path=("allowManagedHooksOnly",), value=True),
        ),
    ),
    "codex": AgentSettings(
        mode_source="config", mode_path=("approval_policy",), default_mode="on-request",
        modes={
            "on-request": _MODEL, "untrusted": _EDITS_AND_COMMANDS, "on-failure": _MODEL, "never": _NOTHING,
        },
        config="config.toml", managed=("/etc/codex/requirements.toml",),
        switches=(
            OffSwitch(source="config", path=("features", "hooks"), value=False),
            OffSwitch(source="config", path=("features", "codex_hooks"), value=False),
            OffSwitch(source="managed", path=("allow_managed_hooks_only",), value=True),
        ),
    ),
    "gemini": AgentSettings(
        mode_path=("general", "defaultApprovalMode"), default_mode="default",
        modes={"default": _EDITS_AND_COMMANDS, "auto_edit": _COMMANDS, "plan": _PLANS, "yolo": _NOTHING},
        managed=(
            "/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json",
        ),
        switches=(
            OffSwitch(source="settings", path=("hooksConfig", "enabled"), value=False),
            OffSwitch(source="settings", path=("tools", "enableHooks"), value=False),
            OffSwitch(source="managed", path=("hooksConfig", "enabled"), value=False),
        ),
    ),
    "qwen": AgentSettings(
        mode_path=("tools", "approvalMode"), default_mode="default",
        modes={
            "default": _EDITS_AND_COMMANDS, "auto-edit": _COMMANDS, "auto": _MODEL, "plan": _PLANS,
            "yolo": _NOTHING,
        },
        managed=("/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json"),
        switches=(
            OffSwitch(source="settings", path=("disableAllHooks",), value=True),
            OffSwitch(source="managed", path=("disableAllHooks",), value=True),
        ),
    ),
    "opencode": AgentSettings(),
}  # fmt: skip


class PresentMode(Struct, frozen=True, kw_only=True):
    """The mode that an agent starts in, and what it asks about then."""

    name: str
    meaning: str


def present_mode(agent_id: str, files: Mapping[SettingsSource, object]) -> PresentMode | None:
    """Return the mode that an agent's settings name, else its default; None where it has no single mode."""
    settings = AGENT_SETTINGS[agent_id]
    if not settings.mode_path:
        return None
    named = _value_at(files.get(settings.mode_source), settings.mode_path)
    name = named if isinstance(named, str) else settings.default_mode
    return PresentMode(name=name, meaning=settings.modes.get(name, "what it asks about is not known here"))


def off_switches(agent_id: str, files: Mapping[SettingsSource, object]) -> Iterator[OffSwitch]:
    """Yield the settings that keep an agent from running our hooks."""
    for switch in AGENT_SETTINGS[agent_id].switches:
        if _value_at(files.get(switch.source), switch.path) is switch.value:
            yield switch


def _value_at(value: object, path: tuple[str, ...]) -> object:
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, object]", value).get(name)
    return value
