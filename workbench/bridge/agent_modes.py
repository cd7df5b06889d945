"""What an agent's own settings say about its questions and its hooks: its mode, and what turns hooks off.

Checked against the documentation and the installed programs of the versions in the table of agents.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, cast

from msgspec import Struct, field

SettingsSource = Literal["settings", "config", "managed"]
"""The file with the hooks; the file of its other settings; the file of an administrator."""
_NOTHING: Final = "it asks about nothing"
_EDITS_AND_COMMANDS: Final = "it asks about edits and commands that its own rules do not allow"
_COMMANDS: Final = "it asks about commands, not about edits"
_MODEL: Final = "a model decides what it asks about"
_PLANS: Final = "it plans and changes nothing"
_LEAVES_SANDBOX: Final = "it asks when its model wants to leave its sandbox"


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
    own_questions: str = ""
    """When it asks its own user about a call that is asked about here, as a sentence."""
    config: tuple[str, ...] = ()
    """Its files of other settings, from the folder of the hooks; the first that is there counts."""
    managed: tuple[str, ...] = ()
    """Absolute paths of an administrator's settings; the first that is there counts."""
    switches: tuple[OffSwitch, ...] = ()


AGENT_SETTINGS: Final[Mapping[str, AgentSettings]] = {
    "claude": AgentSettings(
        mode_path=("permissions", "defaultMode"), default_mode="auto",
        modes={
            "auto": _MODEL, "default": _EDITS_AND_COMMANDS, "manual": _EDITS_AND_COMMANDS,
            "acceptEdits": "it asks about most commands, not about edits",
            "plan": _PLANS, "bypassPermissions": "it asks about nothing but what its own ask rules name",
            "dontAsk": "it asks about nothing, and denies what its own rules do not allow",
        },
        own_questions="What its own ask rules name it asks about itself, also after an allow here.",
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
            "on-request": _LEAVES_SANDBOX, "on-failure": _LEAVES_SANDBOX, "never": _NOTHING,
            "granular": "it asks about the kinds of calls that its settings name, and denies the others",
        },
        own_questions="What leaves its sandbox it may ask about itself, also after an allow here.",
        config=("config.toml",), managed=("/etc/codex/requirements.toml",),
        switches=(
            OffSwitch(source="config", path=("features", "hooks"), value=False),
            OffSwitch(source="config", path=("features", "codex_hooks"), value=False),
            OffSwitch(source="managed", path=("allow_managed_hooks_only",), value=True),
        ),
    ),
    "gemini": AgentSettings(
        mode_path=("general", "defaultApprovalMode"), default_mode="default",
        modes={
            "default": _EDITS_AND_COMMANDS, "auto_edit": _COMMANDS, "plan": _PLANS,
            "yolo": f"{_EDITS_AND_COMMANDS}: yolo counts on its command line only",
        },
        own_questions="What it asks about in its mode it asks about itself, also after an allow here.",
        managed=(
            "/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json",
        ),
        switches=(
            OffSwitch(source="settings", path=("hooksConfig", "enabled"), value=False),
            OffSwitch(source="managed", path=("hooksConfig", "enabled"), value=False),
        ),
    ),
    "qwen": AgentSettings(
        mode_path=("tools", "approvalMode"), default_mode="auto",
        modes={
            "default": _EDITS_AND_COMMANDS, "auto-edit": _COMMANDS, "auto": _MODEL, "plan": _PLANS,
            "yolo": _NOTHING,
        },
        own_questions="What it asks about in its mode it asks before its hook, so a denial there has no row.",
        managed=("/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json"),
        switches=(
            OffSwitch(source="settings", path=("disableAllHooks",), value=True),
            OffSwitch(source="managed", path=("disableAllHooks",), value=True),
        ),
    ),
    "opencode": AgentSettings(
        own_questions="What its permission rules ask about it asks about itself, also after an allow here.",
        config=("../opencode.jsonc", "../opencode.json"),
    ),
}  # fmt: skip


class PresentMode(Struct, frozen=True, kw_only=True):
    """The mode that an agent starts in, and what it asks about then."""

    name: str
    meaning: str


def present_mode(agent_id: str, files: Mapping[SettingsSource, object]) -> PresentMode | None:
    """Return the mode that an agent's settings name, else its default; None where no mode of it is known."""
    settings = AGENT_SETTINGS[agent_id]
    if not settings.mode_path:
        return _permission_mode(files.get("config"))
    named = _value_at(files.get(settings.mode_source), settings.mode_path)
    if isinstance(named, Mapping):  # a policy with members: Codex's `granular`
        named = next(iter(cast("Mapping[str, object]", named)), None)
    name = named if isinstance(named, str) else settings.default_mode
    return PresentMode(name=name, meaning=settings.modes.get(name, "what it asks about is not known here"))


_MOST_NAMES: Final = 6


def _permission_mode(config: object) -> PresentMode:
    """Return what the permission rules of OpenCode ask about; it has no modes."""
    permission = _value_at(config, ("permission",))
    asking = [key for key, action in permission_rules(permission) if action == "ask"]
    names = list(dict.fromkeys(name for name, _ in asking))
    if ("*", "*") in asking:
        meaning = "they ask about every call that no other rule allows"
    elif names:
        meaning = f"they ask about {', '.join(names[:_MOST_NAMES])}, by pattern where they name one"
    else:
        meaning = "they ask about files outside its folder, .env files and repeated calls only"
    return PresentMode(name="permission rules", meaning=meaning)


def permission_rules(permission: object) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the rules of OpenCode's `permission` in their order: name and pattern, then the action."""
    if isinstance(permission, str):
        permission = {"*": permission}
    for name, value in cast("Mapping[str, object]", permission).items() if _is_object(permission) else ():
        patterns = cast("Mapping[str, object]", value) if _is_object(value) else {"*": value}
        yield from (((name, pattern), each) for pattern, each in patterns.items() if isinstance(each, str))


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)


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
