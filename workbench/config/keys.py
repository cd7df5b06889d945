"""The table of all keys: kind, default, meaning, and what a workspace may do with one before it is trusted.

Owns every default and every bound. Nothing else may hold a second copy of one; documentation, the
example and the schema are made from here.
"""

from collections.abc import Callable

from workbench.config.kinds import (
    Choice,
    Field,
    Flag,
    Kind,
    ListOf,
    Number,
    Record,
    Text,
    TextMap,
    Time,
    Url,
    Whole,
)
from workbench.records import dataclass

CONFIG_VERSION = 1
PROVIDER_KINDS = ("recorded", "openai-compatible", "ollama", "azure-openai", "anthropic")
DEFAULT_BASE_URLS = {"ollama": "http://localhost:11434", "anthropic": "https://api.anthropic.com"}

Narrows = Callable[[object, object], bool]
"""Given a new and the present value: does the new one allow less?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting."""

    path: str
    """Dotted."""
    kind: Kind
    default: object
    meaning: str
    """One sentence."""
    narrows: Narrows | None = None
    """Whether an untrusted workspace may set it so; None: never."""
    is_strict: bool = False
    """A value that cannot be read is fatal: with the default less would be denied."""
    is_united: bool = False
    """A list to which every layer adds."""


def _smaller(new: object, present: object) -> bool:
    return isinstance(new, int | float) and isinstance(present, int | float) and new <= present


def _is(value: object) -> Narrows:
    def narrows(new: object, present: object) -> bool:
        del present
        return new == value

    return narrows


def _always(new: object, present: object) -> bool:
    del new, present
    return True


_GLOB = Text('a pattern such as "Bash(git push*)"')
_LARGEST = 1 << 40

_RULE = Record(
    "a rule {id, tool_name, param_pattern, description}",
    {
        "id": Field(Text(), True, "Name of the rule; any text that no other rule has."),
        "tool_name": Field(Text(), True, "The tool whose calls it may allow."),
        "param_pattern": Field(
            Text("a regular expression"),
            True,
            "Regular expression searched in the canonical JSON of the parameters.",
        ),
        "description": Field(Text(), True, "What the rule allows, in words."),
        "created_at": Field(Time(), False, "When it was made."),
        "last_used_at": Field(Time(), False, "When it was last used before this file was read."),
        "use_count": Field(Whole(0, _LARGEST), False, "How often it was used before this file was read."),
    },
)
_HOOK = Record(
    "a hook {matcher, command}",
    {
        "matcher": Field(_GLOB, True, "Pattern of the calls that it is run for."),
        "command": Field(
            Text("a shell command"), True, "Shell command; a failing PreToolUse command denies."
        ),
    },
)
_PRICES = Record(
    "prices {input_per_million, output_per_million}",
    {
        "input_per_million": Field(
            Number(0, 1e6, includes_low=True), True, "Price of a million tokens sent."
        ),
        "output_per_million": Field(
            Number(0, 1e6, includes_low=True), True, "Price of a million tokens received."
        ),
    },
)

KEYS: tuple[Key, ...] = (
    Key(
        path="config_version",
        kind=Whole(1, CONFIG_VERSION),
        default=CONFIG_VERSION,
        meaning="Version of this form.",
    ),
    Key(
        path="default_model",
        kind=Text(),
        default=None,
        meaning="Model of a new session; unset, the provider's own.",
    ),
    Key(
        path="default_provider",
        kind=Text(),
        default=None,
        meaning="Provider of a new session; unset, the only one there is.",
    ),
    Key(
        path="api_timeout_seconds",
        kind=Whole(5, 300),
        default=30,
        meaning="How long a provider may take to connect or to list its models, in seconds; replies have "
        "first_token_seconds and silence_seconds.",
    ),
    Key(
        path="max_session_messages",
        kind=Whole(10, 1000),
        default=100,
        meaning="How many messages of a session a model is shown; none is deleted.",
    ),
    Key(
        path="output_format",
        kind=Choice(("human", "json")),
        default="human",
        meaning="Form of what commands print.",
    ),
    Key(
        path="auto_approval_rules",
        kind=ListOf(_RULE, "rules"),
        default=(),
        meaning="Rules that approve calls.",
    ),
    Key(
        path="approvals.window_minutes",
        kind=Number(0, 1440, "a number of minutes"),
        default=15,
        meaning="How long a question waits before it expires, in minutes.",
        narrows=_smaller,
    ),
    Key(
        path="approvals.read_only",
        kind=Choice(("ask", "auto")),
        default="ask",
        meaning="Whether reading inside the workspace asks.",
        narrows=_is("ask"),
    ),
    Key(
        path="approvals.allow",
        kind=ListOf(_GLOB, "patterns"),
        default=(),
        meaning="Calls that are allowed without asking; only in your own configuration.",
    ),
    Key(
        path="approvals.deny",
        kind=ListOf(_GLOB, "patterns"),
        default=(),
        meaning="Calls that are never made; every layer adds to them.",
        narrows=_always,
        is_strict=True,
        is_united=True,
    ),
    Key(
        path="approvals.on_expiry",
        kind=Choice(("pause", "continue")),
        default="pause",
        meaning="What a session does when nobody answered.",
        narrows=_is("pause"),
    ),
    Key(
        path="approvals.require_seen",
        kind=Flag(),
        default=True,
        meaning="Whether all that is taken is shown before a approves it; if not, the record says so.",
        narrows=_is(True),
    ),
    Key(
        path="limits.tool_output_bytes",
        kind=Whole(256, _LARGEST),
        default=10_240,
        meaning="How much of a tool's output a model is shown, in bytes.",
        narrows=_smaller,
    ),
    Key(
        path="limits.context_file_bytes",
        kind=Whole(256, _LARGEST),
        default=102_400,
        meaning="How much of a file a model is shown, in bytes.",
        narrows=_smaller,
    ),
    Key(
        path="limits.command_seconds",
        kind=Whole(1, 86_400),
        default=60,
        meaning="How long a command may run, in seconds.",
        narrows=_smaller,
    ),
    Key(
        path="limits.output_blob_bytes",
        kind=Whole(1_024, _LARGEST),
        default=104_857_600,
        meaning="How much output of a call is kept, in bytes.",
        narrows=_smaller,
    ),
    Key(
        path="limits.max_turns",
        kind=Whole(1, 10_000),
        default=50,
        meaning="How many model calls one prompt may lead to.",
        narrows=_smaller,
    ),
    Key(path="ui.theme", kind=Text(limit=64), default="workbench-dark", meaning="Colours of the screen."),
    Key(
        path="ui.density",
        kind=Choice(("normal", "compact")),
        default="normal",
        meaning="Whether blank rows and single tool rows are folded.",
    ),
    Key(
        path="ui.glyphs",
        kind=Choice(("auto", "unicode", "ascii")),
        default="auto",
        meaning="Signs to draw with.",
    ),
    Key(
        path="ui.motion",
        kind=Choice(("normal", "none")),
        default="normal",
        meaning="Whether changed rows flash and countdowns show seconds.",
    ),
    Key(
        path="ui.keymap",
        kind=TextMap("an object of action ids and keys", Text("an action id"), Text('keys such as "ctrl+a"')),
        default={},
        meaning="Keys of your own, by action id.",
    ),
    Key(
        path="ui.notify.bell",
        kind=Flag(),
        default=True,
        meaning="Whether the terminal bell rings when something waits.",
    ),
    Key(
        path="ui.notify.title",
        kind=Flag(),
        default=True,
        meaning="Whether the window title says how much waits.",
    ),
    Key(
        path="ui.notify.desktop",
        kind=Choice(("off", "away", "always")),
        default="off",
        meaning="When a desktop notification is sent.",
    ),
    Key(
        path="hooks.PreToolUse",
        kind=ListOf(_HOOK, "hooks"),
        default=(),
        meaning="Commands that run before a call and can deny it. A relative program or script is looked for "
        "in the folder of the file that names it.",
        is_strict=True,
        is_united=True,
    ),
    Key(
        path="hooks.PostToolUse",
        kind=ListOf(_HOOK, "hooks"),
        default=(),
        meaning="Commands that run after a call. A relative program or script is looked for in the folder of "
        "the file that names it.",
        is_strict=True,
        is_united=True,
    ),
    Key(
        path="fetch.allow_loopback",
        kind=Flag(),
        default=False,
        meaning="Whether fetch_webpage may reach this machine.",
        narrows=_is(False),
    ),
    Key(
        path="fetch.allowed_hosts",
        kind=ListOf(Text("a host name", r"[A-Za-z0-9_.:\[\]-]+", 255), "host names"),
        default=(),
        meaning="Hosts that fetch_webpage may reach, names in whole; empty: any public one.",
    ),
    Key(
        path="retention.sealed_days",
        kind=Whole(0, 36_500),
        default=30,
        meaning="How long exact bytes are kept after a session ended, in days.",
    ),
    Key(
        path="pipelines.max_concurrent_workers",
        kind=Whole(1, 64),
        default=5,
        meaning="How many steps of a pipeline run at once.",
        narrows=_smaller,
    ),
)
"""Every key outside `providers`."""

PROVIDER_KEYS: tuple[Key, ...] = (
    Key(path="kind", kind=Choice(PROVIDER_KINDS), default=None, meaning="How the provider is spoken to."),
    Key(
        path="base_url",
        kind=Url(),
        default=None,
        meaning="Where it answers; ollama and anthropic have a default.",
    ),
    Key(path="model", kind=Text(), default=None, meaning="Model that is used when none is named."),
    Key(
        path="api_version",
        kind=Text(limit=64),
        default=None,
        meaning="Version of the interface (azure-openai, anthropic).",
    ),
    Key(
        path="deployment",
        kind=Text(limit=256),
        default=None,
        meaning="Name of the deployment (azure-openai).",
    ),
    Key(
        path="key_env",
        kind=Text("the name of an environment variable", "[A-Za-z_][A-Za-z0-9_]*", 256),
        default=None,
        meaning="Environment variable that holds the key.",
    ),
    Key(
        path="key_command",
        kind=Text("a shell command"),
        default=None,
        meaning="Shell command that prints the key; it runs in the folder of the file that names it.",
    ),
    Key(
        path="headers",
        kind=TextMap(
            "an object of header names and values",
            Text("a header name", "[A-Za-z0-9-]+", 128),
            Text("a header value"),
        ),
        default={},
        meaning="Headers sent with each request.",
    ),
    Key(
        path="num_ctx",
        kind=Whole(256, 100_000_000),
        default=None,
        meaning="Size of the context window, in tokens (ollama).",
    ),
    Key(
        path="max_tokens",
        kind=Whole(1, 10_000_000),
        default=None,
        meaning="How many tokens one reply may have; unset, as many as the server gives.",
    ),
    Key(
        path="temperature",
        kind=Number(0, 2, includes_low=True),
        default=None,
        meaning="How freely the model chooses its words; unset, the server's own.",
    ),
    Key(
        path="seed",
        kind=Whole(0, (1 << 53) - 1),
        default=None,
        meaning="Start of the model's random numbers, where the server takes one.",
    ),
    Key(
        path="stop",
        kind=ListOf(Text(limit=256), "texts"),
        default=(),
        meaning="Texts at which the model stops.",
    ),
    Key(
        path="tool_choice",
        kind=Choice(("auto", "required", "none")),
        default=None,
        meaning="Whether the model may, must or must not call tools; unset, the server's own (auto).",
    ),
    Key(
        path="first_token_seconds",
        kind=Whole(1, 86_400),
        default=None,
        meaning="How long a reply may take to begin, in seconds; unset, 600: a server may load its model.",
    ),
    Key(
        path="silence_seconds",
        kind=Whole(1, 86_400),
        default=None,
        meaning="How long a reply that has begun may pause, in seconds; unset, 180.",
    ),
    Key(
        path="reply_seconds",
        kind=Whole(1, 86_400),
        default=None,
        meaning="How long a whole reply may take, in seconds; unset, 3600. What came until then is kept.",
    ),
    Key(path="prices", kind=_PRICES, default=None, meaning="Prices; without them no money is shown."),
)
"""Keys of one provider, below `providers.NAME`."""

BY_PATH = {key.path: key for key in KEYS}
PROVIDER_BY_PATH = {key.path: key for key in PROVIDER_KEYS}
SECTIONS = frozenset(
    key.path.rsplit(".", depth)[0] for key in KEYS for depth in range(1, key.path.count(".") + 1)
)
"""Dotted names of objects that hold keys: `approvals`, `ui`, `ui.notify`."""
ALIASES = {"ollama_base_url": "providers.ollama.base_url"}
"""Keys of other programs, and what they are here."""


def key_at(path: str) -> Key | None:
    """Return the key of a dotted path, below a provider too; None for what is none."""
    parts = path.split(".")
    if parts[0] == "providers":
        return PROVIDER_BY_PATH.get(parts[-1]) if len(parts) >= 3 else None
    return BY_PATH.get(path)
