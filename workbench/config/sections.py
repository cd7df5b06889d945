"""Sections of the configuration: limits, sessions, ask, incidents, notices, fetches, tools."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from workbench.config.keys import (
    FOLDER_NAME,
    LARGEST_INTEGER,
    ShellCommand,
    Text,
    is_smaller,
    is_smaller_limit,
    is_value,
    list_kind,
    setting,
    text_kind,
    text_map_kind,
)
from workbench.domain.values import SandboxLevel

_Bytes = Annotated[int, Meta(ge=256, le=LARGEST_INTEGER)]
_Seconds = Annotated[int, Meta(ge=1, le=86_400)]
_Repeats = Annotated[int, Meta(ge=0, le=1_000)]
_Tokens = Annotated[int, Meta(ge=0, le=LARGEST_INTEGER)]
_Dollars = Annotated[float, Meta(ge=0, le=1e6)]
_HOSTS = list_kind(text_kind("a host name", r"[A-Za-z0-9_.:\[\]-]+", 255), "host names")


class TokenLimits(Struct, frozen=True, kw_only=True):
    """After how many tokens, input and output together, a human is asked."""

    session: Annotated[
        _Tokens,
        setting(
            "Tokens after which a session asks whether to continue; 0 is never.", narrows=is_smaller_limit
        ),
    ] = 0
    run: Annotated[
        _Tokens,
        setting(
            "Tokens after which the agents of a pipeline run ask whether to continue; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 0
    day: Annotated[
        _Tokens,
        setting(
            "Tokens in all since midnight after which a session asks; 0 is never.", narrows=is_smaller_limit
        ),
    ] = 0


class CostLimits(Struct, frozen=True, kw_only=True):
    """After how many US dollars a human is asked; what has no known price is not counted."""

    session: Annotated[
        _Dollars,
        setting(
            "US dollars after which a session asks whether to continue; 0 is never.", narrows=is_smaller_limit
        ),
    ] = 0
    run: Annotated[
        _Dollars,
        setting(
            "US dollars after which the agents of a pipeline run ask whether to continue; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 0
    day: Annotated[
        _Dollars,
        setting(
            "US dollars in all since midnight after which a session asks; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 0


class LimitSettings(Struct, frozen=True, kw_only=True):
    """How much a call may take and give."""

    tool_output_bytes: Annotated[
        _Bytes, setting("How much of a tool's output a model is shown, in bytes.", narrows=is_smaller)
    ] = 10_240
    context_file_bytes: Annotated[
        _Bytes, setting("How much of a file a model is shown, in bytes.", narrows=is_smaller)
    ] = 102_400
    command_seconds: Annotated[
        _Seconds, setting("How long a command may run, in seconds.", narrows=is_smaller)
    ] = 60
    compact_percent: Annotated[
        int, Meta(ge=0, le=95), setting("Percent of a context at which it is compacted; 0: never.")
    ] = 80
    output_blob_bytes: Annotated[
        int,
        Meta(ge=1_024, le=LARGEST_INTEGER),
        setting("How much output of a call is kept, in bytes.", narrows=is_smaller),
    ] = 104_857_600
    max_turns: Annotated[
        int,
        Meta(ge=1, le=10_000),
        setting("How many model calls one prompt may lead to.", narrows=is_smaller),
    ] = 50
    repeats_noted: Annotated[
        _Repeats,
        setting(
            "At how many equal results of the same call in a turn the model is told; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 3
    repeats_paused: Annotated[
        _Repeats,
        setting(
            "At how many equal results of the same call the turn is paused; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 5
    tokens: TokenLimits = TokenLimits()
    cost: CostLimits = CostLimits()


_LEFT_OUT = list_kind(Text, 'agents, folders and patterns of folders, such as "codex" or "~/private/*"')


class SessionSettings(Struct, frozen=True, kw_only=True):
    """Which sessions of other programs are imported and how long they are kept."""

    watch: Annotated[
        bool,
        setting(
            "Whether a background process imports what other agents of this machine write, while it runs.",
            narrows=is_value(False),
        ),
    ] = False
    leave_out: Annotated[
        tuple[str, ...],
        setting(
            "Agents, folders and patterns of folders whose sessions are never imported.",
            kind=_LEFT_OUT, is_strict=True, is_united=True,
        ),
    ] = ()  # fmt: skip
    keep_imported_days: Annotated[
        int,
        Meta(ge=0, le=36_500),
        setting("Days after which imported sessions are deleted, counted from their end; 0 keeps them."),
    ] = 0


class AskSettings(Struct, frozen=True, kw_only=True):
    """How `workbench ask` makes a command of words, and what it tells the model (seed S3, Config)."""

    model: (
        Annotated[
            Text,
            setting("Model, or provider/model, that makes commands of words; unset, that of a new session."),
        ]
        | None
    ) = None
    preferences_dir: (
        Annotated[
            str,
            setting(
                "Folder of preferences.md, which says what commands you like; unset, ask in the data folder.",
                kind=Annotated[str, FOLDER_NAME],
            ),
        ]
        | None
    ) = None
    terminal_lines: Annotated[
        int,
        Meta(ge=0, le=10_000),
        setting(
            "Lines of the terminal that the model is shown, without secrets, inside tmux; 0: none.",
            narrows=is_smaller,
        ),
    ] = 100


class IncidentSettings(Struct, frozen=True, kw_only=True):
    """How lists of incidents are made and checked."""

    checker: (
        Annotated[Text, setting("Command that prints what a linter finds, for `incidents run`.")] | None
    ) = None


class NotifySettings(Struct, frozen=True, kw_only=True):
    """What happens when something waits, or ended while nobody looked."""

    bell: Annotated[
        bool, setting("Whether the terminal bell rings when something waits, or ended while nobody looked.")
    ] = True
    title: Annotated[bool, setting("Whether the window title says how much waits.")] = True
    desktop: Annotated[Literal["off", "away", "always"], setting("When a desktop notification is sent.")] = (
        "off"
    )


class NoticeCommandSettings(Struct, frozen=True, kw_only=True):
    """The command that carries notices to where the user is, whether or not a screen is open."""

    command: (
        Annotated[
            ShellCommand,
            setting(
                "Shell command of yours that gets each notice as one JSON object on its input; only in your "
                "own configuration."
            ),
        ]
        | None
    ) = None


class FetchSettings(Struct, frozen=True, kw_only=True):
    """Which addresses fetch_webpage may reach."""

    allow_loopback: Annotated[
        bool, setting("Whether fetch_webpage may reach this machine.", narrows=is_value(False))
    ] = False
    allowed_hosts: Annotated[
        tuple[str, ...],
        setting("Hosts that fetch_webpage may reach, names in whole; empty: any public one.", kind=_HOSTS),
    ] = ()


_VISIBLE = list_kind(text_kind("an absolute path, or one that begins with ~/", r"(/|~/).*", 4_096), "paths")


def is_lower_level(new: object, present: object) -> bool:
    """Return whether a sandbox level allows at most what another does."""
    levels: tuple[object, ...] = get_args(SandboxLevel)
    return new in levels and present in levels and levels.index(new) <= levels.index(present)


class SandboxSettings(Struct, frozen=True, kw_only=True):
    """What commands of agents may touch, and what holds them to it."""

    level: Annotated[
        SandboxLevel,
        setting(
            "What commands may touch that run inside the sandbox: nothing, or the workspace without the "
            "network; outside switches the sandbox off.",
            narrows=is_lower_level,
        ),
    ] = "workspace"
    visible: Annotated[
        tuple[str, ...],
        setting("Paths outside the workspace that commands inside the sandbox can read.", kind=_VISIBLE),
    ] = ()
    required: Annotated[
        bool,
        setting(
            "Whether commands that would run inside are refused where this machine has no full sandbox.",
            narrows=is_value(True),
        ),
    ] = False
    backend: Annotated[
        Literal["auto", "landlock", "none"],
        setting("What the sandbox is made with: the best that works here, Linux's Landlock alone, or none."),
    ] = "auto"


class RetentionSettings(Struct, frozen=True, kw_only=True):
    """How long sealed bytes are kept."""

    sealed_days: Annotated[
        int, Meta(ge=0, le=36_500), setting("How long exact bytes are kept after a session ended, in days.")
    ] = 30


class ToolSettings(Struct, frozen=True, kw_only=True):
    """What the configuration says of one tool."""

    providers: Annotated[
        list[Text],
        Meta(
            description="Providers, by name or kind, whose models may see the tool; without any, none may.",
            extra={"words": 'a list of providers such as ["ollama"]'},
        ),
    ]


TOOL_MAP = text_map_kind(
    'an object such as {"fetch_webpage": {"providers": ["ollama"]}}',
    text_kind("the id of a tool", limit=128),
    Annotated[ToolSettings, Meta(extra={"words": "settings of a tool {providers}"})],
)  # fmt: skip


def narrowed_tools(
    earlier: Mapping[str, ToolSettings], later: Mapping[str, ToolSettings]
) -> dict[str, ToolSettings]:
    """Return the settings of two layers together: a provider has to be named by both that speak of a tool."""
    both = {
        tool: ToolSettings(providers=narrowed_providers(earlier[tool].providers, settings.providers))
        for tool, settings in later.items()
        if tool in earlier
    }
    return {**earlier, **later, **both}


def narrowed_providers(earlier: Sequence[str], later: Sequence[str]) -> list[str]:
    """Return the providers that are in both lists; `*` is every one."""
    if "*" in earlier:
        return list(later)
    return [provider for provider in earlier if "*" in later or provider in later]
