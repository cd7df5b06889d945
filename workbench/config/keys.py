"""The table of configuration keys: kind, default, meaning, and what an untrusted workspace may set."""

from collections.abc import Callable
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from workbench.config.types import (
    LARGEST_INTEGER,
    URL,
    AutoApprovalRule,
    PatternText,
    ShellCommand,
    Text,
    TokenPrices,
    ToolHook,
    list_kind,
    text_kind,
    text_map_kind,
)
from workbench.domain.values import DEFAULT_APPROVAL_MINUTES

CONFIG_VERSION = 1
PROVIDER_NAME_PATTERN = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
"""What a provider may be called."""
AllowsLess = Callable[[object, object], bool]
"""Given a new and the present value: does the new one allow less?"""


class ProviderKind(Struct, frozen=True, kw_only=True):
    """A kind of provider as the configuration knows it; `providers.registry` makes its clients."""

    name: str
    has_server: bool = True
    """It asks a server; otherwise it plays a recording."""
    default_base_url: str | None = None
    api_path: str = ""
    """Path of the interface, added to an address that has none."""

    def server_url(self, base_url: str) -> str:
        """Return the address with the path of the interface, without a slash at its end."""
        base_url = base_url.rstrip("/")
        return base_url if urlsplit(base_url).path else base_url + self.api_path


OPENAI_COMPATIBLE = ProviderKind(name="openai-compatible")
OLLAMA = ProviderKind(name="ollama", default_base_url="http://localhost:11434", api_path="/v1")
RECORDED = ProviderKind(name="recorded", has_server=False)
PROVIDER_KINDS = {kind.name: kind for kind in (RECORDED, OPENAI_COMPATIBLE, OLLAMA)}


class ConfigKey(Struct, frozen=True, kw_only=True):
    """One setting."""

    path: str
    """Dotted."""
    kind: Any
    """The type of the value, with its bounds."""
    default: object
    meaning: str
    """One sentence."""
    narrows: AllowsLess | None = None
    """Whether an untrusted workspace may set it so; None: never."""
    is_strict: bool = False
    """A value that cannot be read is fatal: with the default less would be denied."""
    is_united: bool = False
    """A list to which every layer adds."""


def _is_smaller(new: object, present: object) -> bool:
    return isinstance(new, int | float) and isinstance(present, int | float) and new <= present


def _equals(value: object) -> AllowsLess:
    def narrows(new: object, present: object) -> bool:
        del present
        return new == value

    return narrows


def _always_allows_less(new: object, present: object) -> bool:
    del new, present
    return True


def _whole(low: int, high: int = LARGEST_INTEGER) -> Any:
    return Annotated[int, Meta(ge=low, le=high)]


_HOOKS = list_kind(Annotated[ToolHook, Meta(extra={"words": "a hook {matcher, command}"})], "hooks")
_RULE = Annotated[
    AutoApprovalRule, Meta(extra={"words": "a rule {id, tool_name, param_pattern, description}"})
]
_PRICES = Annotated[TokenPrices, Meta(extra={"words": "prices {input_per_million, output_per_million}"})]
_SHORT_TEXT = "a text that is not empty"
CONFIG_KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        path="config_version",
        kind=_whole(1, CONFIG_VERSION),
        default=CONFIG_VERSION,
        meaning="Version of this form.",
    ),
    ConfigKey(
        path="default_model",
        kind=Text,
        default=None,
        meaning="Model of a new session; unset, the provider's own.",
    ),
    ConfigKey(
        path="default_provider",
        kind=Text,
        default=None,
        meaning="Provider of a new session; unset, the only one there is.",
    ),
    ConfigKey(
        path="api_timeout_seconds",
        kind=_whole(5, 300),
        default=30,
        meaning="How long a provider may take to connect or to list its models, in seconds; replies have "
        "first_token_seconds and silence_seconds.",
    ),
    ConfigKey(
        path="max_session_messages",
        kind=_whole(10, 1000),
        default=100,
        meaning="How many messages of a session a model is shown; none is deleted.",
    ),
    ConfigKey(
        path="output_format",
        kind=Literal["human", "json"],
        default="human",
        meaning="Form of what commands print.",
    ),
    ConfigKey(
        path="auto_approval_rules",
        kind=list_kind(_RULE, "rules"),
        default=(),
        meaning="Rules that approve calls.",
    ),
    ConfigKey(
        path="approvals.window_minutes",
        kind=Annotated[float, Meta(gt=0, le=1440, extra={"what": "a number of minutes"})],
        default=DEFAULT_APPROVAL_MINUTES,
        meaning="How long a question waits before it expires, in minutes.",
        narrows=_is_smaller,
    ),
    ConfigKey(
        path="approvals.read_only",
        kind=Literal["ask", "auto"],
        default="ask",
        meaning="Whether reading inside the workspace asks.",
        narrows=_equals("ask"),
    ),
    ConfigKey(
        path="approvals.allow",
        kind=list_kind(PatternText, "patterns"),
        default=(),
        meaning="Calls that are allowed without asking; only in your own configuration.",
    ),
    ConfigKey(
        path="approvals.deny",
        kind=list_kind(PatternText, "patterns"),
        default=(),
        meaning="Calls that are never made; every layer adds to them.",
        narrows=_always_allows_less,
        is_strict=True,
        is_united=True,
    ),
    ConfigKey(
        path="approvals.on_expiry",
        kind=Literal["pause", "continue"],
        default="pause",
        meaning="What a session does when nobody answered.",
        narrows=_equals("pause"),
    ),
    ConfigKey(
        path="approvals.require_seen",
        kind=bool,
        default=True,
        meaning="Whether all that is taken is shown before a approves it; if not, the record says so.",
        narrows=_equals(True),
    ),
    ConfigKey(
        path="limits.tool_output_bytes",
        kind=_whole(256),
        default=10_240,
        meaning="How much of a tool's output a model is shown, in bytes.",
        narrows=_is_smaller,
    ),
    ConfigKey(
        path="limits.context_file_bytes",
        kind=_whole(256),
        default=102_400,
        meaning="How much of a file a model is shown, in bytes.",
        narrows=_is_smaller,
    ),
    ConfigKey(
        path="limits.command_seconds",
        kind=_whole(1, 86_400),
        default=60,
        meaning="How long a command may run, in seconds.",
        narrows=_is_smaller,
    ),
    ConfigKey(
        path="limits.output_blob_bytes",
        kind=_whole(1_024),
        default=104_857_600,
        meaning="How much output of a call is kept, in bytes.",
        narrows=_is_smaller,
    ),
    ConfigKey(
        path="limits.max_turns",
        kind=_whole(1, 10_000),
        default=50,
        meaning="How many model calls one prompt may lead to.",
        narrows=_is_smaller,
    ),
    ConfigKey(
        path="ui.theme",
        kind=text_kind(_SHORT_TEXT, limit=64),
        default="workbench-dark",
        meaning="Colours of the screen.",
    ),
    ConfigKey(
        path="ui.density",
        kind=Literal["normal", "compact"],
        default="normal",
        meaning="Whether blank rows and single tool rows are folded.",
    ),
    ConfigKey(
        path="ui.glyphs",
        kind=Literal["auto", "unicode", "ascii"],
        default="auto",
        meaning="Signs to draw with.",
    ),
    ConfigKey(
        path="ui.motion",
        kind=Literal["normal", "none"],
        default="normal",
        meaning="Whether changed rows flash and countdowns show seconds.",
    ),
    ConfigKey(
        path="ui.keymap",
        kind=text_map_kind(
            "an object of action ids and keys", text_kind("an action id"), text_kind('keys such as "ctrl+a"')
        ),
        default={},
        meaning="Keys of your own, by action id.",
    ),
    ConfigKey(
        path="ui.notify.bell",
        kind=bool,
        default=True,
        meaning="Whether the terminal bell rings when something waits.",
    ),
    ConfigKey(
        path="ui.notify.title",
        kind=bool,
        default=True,
        meaning="Whether the window title says how much waits.",
    ),
    ConfigKey(
        path="ui.notify.desktop",
        kind=Literal["off", "away", "always"],
        default="off",
        meaning="When a desktop notification is sent.",
    ),
    ConfigKey(
        path="hooks.PreToolUse",
        kind=_HOOKS,
        default=(),
        meaning="Commands that run before a call and can deny it. A relative program or script is looked for "
        "in the folder of the file that names it.",
        is_strict=True,
        is_united=True,
    ),
    ConfigKey(
        path="hooks.PostToolUse",
        kind=_HOOKS,
        default=(),
        meaning="Commands that run after a call. A relative program or script is looked for in the folder of "
        "the file that names it.",
        is_strict=True,
        is_united=True,
    ),
    ConfigKey(
        path="fetch.allow_loopback",
        kind=bool,
        default=False,
        meaning="Whether fetch_webpage may reach this machine.",
        narrows=_equals(False),
    ),
    ConfigKey(
        path="fetch.allowed_hosts",
        kind=list_kind(text_kind("a host name", r"[A-Za-z0-9_.:\[\]-]+", 255), "host names"),
        default=(),
        meaning="Hosts that fetch_webpage may reach, names in whole; empty: any public one.",
    ),
    ConfigKey(
        path="retention.sealed_days",
        kind=_whole(0, 36_500),
        default=30,
        meaning="How long exact bytes are kept after a session ended, in days.",
    ),
    ConfigKey(
        path="pipelines.max_concurrent_workers",
        kind=_whole(1, 64),
        default=5,
        meaning="How many steps of a pipeline run at once.",
        narrows=_is_smaller,
    ),
)
"""Every key outside `providers`."""
PROVIDER_KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        path="kind",
        kind=Literal[tuple(PROVIDER_KINDS)],
        default=None,
        meaning="How the provider is spoken to.",
    ),
    ConfigKey(
        path="base_url",
        kind=URL,
        default=None,
        meaning="Where it answers; ollama has a default.",
    ),
    ConfigKey(path="model", kind=Text, default=None, meaning="Model that is used when none is named."),
    ConfigKey(
        path="key_env",
        kind=text_kind("the name of an environment variable", "[A-Za-z_][A-Za-z0-9_]*", 256),
        default=None,
        meaning="Environment variable that holds the key.",
    ),
    ConfigKey(
        path="key_command",
        kind=ShellCommand,
        default=None,
        meaning="Shell command that prints the key; it runs in the folder of the file that names it.",
    ),
    ConfigKey(
        path="headers",
        kind=text_map_kind(
            "an object of header names and values",
            text_kind("a header name", "[A-Za-z0-9-]+", 128),
            text_kind("a header value"),
        ),
        default={},
        meaning="Headers sent with each request.",
    ),
    ConfigKey(
        path="num_ctx",
        kind=_whole(256, 100_000_000),
        default=None,
        meaning="Size of the model's context window, in tokens: how full a step of a pipeline may make it.",
    ),
    ConfigKey(
        path="max_tokens",
        kind=_whole(1, 10_000_000),
        default=None,
        meaning="How many tokens one reply may have; unset, as many as the server gives.",
    ),
    ConfigKey(
        path="temperature",
        kind=Annotated[float, Meta(ge=0, le=2)],
        default=None,
        meaning="How freely the model chooses its words; unset, the server's own.",
    ),
    ConfigKey(
        path="seed",
        kind=_whole(0, (1 << 53) - 1),
        default=None,
        meaning="Start of the model's random numbers, where the server takes one.",
    ),
    ConfigKey(
        path="stop",
        kind=list_kind(text_kind(_SHORT_TEXT, limit=256), "texts"),
        default=(),
        meaning="Texts at which the model stops.",
    ),
    ConfigKey(
        path="tool_choice",
        kind=Literal["auto", "required", "none"],
        default=None,
        meaning="Whether the model may, must or must not call tools; unset, the server's own (auto).",
    ),
    ConfigKey(
        path="first_token_seconds",
        kind=_whole(1, 86_400),
        default=None,
        meaning="How long a reply may take to begin, in seconds; unset, 600: a server may load its model.",
    ),
    ConfigKey(
        path="silence_seconds",
        kind=_whole(1, 86_400),
        default=None,
        meaning="How long a reply that has begun may pause, in seconds; unset, 180.",
    ),
    ConfigKey(
        path="reply_seconds",
        kind=_whole(1, 86_400),
        default=None,
        meaning="How long a whole reply may take, in seconds; unset, 3600. What came until then is kept.",
    ),
    ConfigKey(path="prices", kind=_PRICES, default=None, meaning="Prices; without them no money is shown."),
)
"""Keys of one provider, below `providers.NAME`."""
KEYS_BY_PATH = {key.path: key for key in CONFIG_KEYS}
PROVIDER_KEYS_BY_PATH = {key.path: key for key in PROVIDER_KEYS}
SECTION_PATHS = frozenset(
    key.path.rsplit(".", depth)[0] for key in CONFIG_KEYS for depth in range(1, key.path.count(".") + 1)
)
"""Dotted names of objects that hold keys: `approvals`, `ui`, `ui.notify`."""
KEY_ALIASES = {"ollama_base_url": "providers.ollama.base_url"}
"""Keys of other programs, and what they are here."""


def config_key_at(path: str) -> ConfigKey | None:
    """Return the key of a dotted path, below a provider too; None for what is none."""
    parts = path.split(".")
    if parts[0] == "providers":
        return PROVIDER_KEYS_BY_PATH.get(parts[-1]) if len(parts) >= 3 else None
    return KEYS_BY_PATH.get(path)
