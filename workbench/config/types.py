"""Types of the configuration: what each kind of value may be, and the frozen sections of a Config."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import fields

from workbench.domain.values import Usage
from workbench.text.human import parse_iso_time
from workbench.text.json_nodes import LocatedNode
from workbench.text.safe import has_hidden_characters


class InvalidValue(Exception):
    """A value that its key does not accept: what it must be, where, the key below it, a remedy."""

    def __init__(self, expected: str, node: LocatedNode, key: str = "", remedy: str = "") -> None:
        super().__init__(expected)
        self.expected = expected
        self.node = node
        self.key = key
        self.remedy = remedy


Text = Annotated[str, Meta(max_length=4096, pattern=r"\S", extra={"words": "a text that is not empty"})]
"""A text of one line that is not empty."""
PatternText = Annotated[Text, Meta(extra={"words": 'a pattern such as "Bash(git push*)"'})]
ShellCommand = Annotated[Text, Meta(extra={"words": "a shell command"})]


def text_kind(words: str, form: str = "", limit: int = 4096) -> Any:
    """Return the kind of a text of one line that is not empty; optionally of one form."""
    pattern = f"^(?:{form})$" if form else r"\S"
    return Annotated[str, Meta(max_length=limit, pattern=pattern, extra={"words": words})]


def list_kind(item: Any, what: str) -> Any:
    return Annotated[list[item], Meta(extra={"words": f"a list of {what}"})]


def text_map_kind(words: str, key: Any, value: Any) -> Any:
    return Annotated[dict[key, value], Meta(extra={"words": words})]


def _checked_url(node: LocatedNode) -> str:
    value = str(node.value)
    parts = urlsplit(value)
    if "@" in parts.netloc:
        remedy = "Name the variable that holds the key in key_env."
        raise InvalidValue("a URL without user and password", node, remedy=remedy)
    is_web_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    if not is_web_address or re.search(r"\s", value) or parts.query or parts.fragment:
        raise ValueError(value)
    return value


URL: Any = Annotated[
    str,
    Meta(
        max_length=4096,
        extra={
            "words": 'a URL with scheme and host, such as "http://localhost:11434"',
            "parse": _checked_url,
            "schema": {"type": "string", "format": "uri", "pattern": "^https?://[^@?#\\s]+$"},
        },
    ),
]
"""An address with scheme and host, without a password."""
Timestamp = Annotated[
    int,
    Meta(
        extra={
            "words": 'a time such as "2026-11-21T12:00:00Z"',
            "parse": lambda node: parse_iso_time(node.value),
            "schema": {"type": "string", "format": "date-time"},
        }
    ),
]
"""An ISO 8601 time, kept as microseconds since the epoch."""


def kind_parts(kind: Any) -> tuple[Any, dict[str, Any]]:
    """Return the plain type of a kind, and what is said of it: bounds, words, description."""
    base, *metas = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    facts: dict[str, Any] = {}
    for meta in metas:
        bounds = {name: getattr(meta, name) for name in ("ge", "gt", "le", "description")}
        facts |= {name: value for name, value in bounds.items() if value is not None} | (meta.extra or {})
    return base, facts


def kind_words(kind: Any) -> str:
    base, facts = kind_parts(kind)
    if "words" in facts:
        return facts["words"]
    if get_origin(base) is Literal:
        quoted = [f'"{option}"' for option in get_args(base)]
        return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]
    if base is bool:
        return "true or false"
    if base is int:
        low, high = facts["ge"], facts["le"]
        return f"a whole number from {low} to {high}" if low < high else str(low)
    lower = f"from {facts['ge']:.10g}" if "ge" in facts else f"greater than {facts['gt']:g}"
    return f"{facts.get('what', 'a number')} {lower}, at most {facts['le']:.10g}"


def record_fields(record: type[Struct]) -> dict[str, tuple[Any, bool]]:
    """Return the members that a record may have in a file: their kind, and whether they must be there."""
    hints = get_type_hints(record, include_extras=True)
    return {
        field.name: (hints[field.name] if field.required else get_args(hints[field.name])[0], field.required)
        for field in fields(record)
        if field.name != "origin"
    }


def convert_node(node: LocatedNode, kind: Any) -> Any:
    """Convert a value, each of its members by itself; a record becomes a dict of what is there.

    Raises InvalidValue: it does not fit; says which member, and where it stands.
    """
    base, facts = kind_parts(kind)
    if get_origin(base) is list:
        if node.items is None:
            raise InvalidValue(kind_words(kind), node)
        return [
            _convert_member(f"[{number}]", item, get_args(base)[0]) for number, item in enumerate(node.items)
        ]
    if get_origin(base) is dict:
        return _convert_text_map(node, kind)
    if isinstance(base, type) and issubclass(base, Struct):
        return _convert_record(node, kind, record_fields(base))
    is_free_text = isinstance(node.value, str) and node.value.strip() and get_origin(base) is not Literal
    if is_free_text and (has_hidden_characters(str(node.value)) or "\n" in str(node.value)):
        raise InvalidValue(f"{kind_words(kind)}, on one line and without hidden characters", node)
    try:
        convert(node.value, str if "parse" in facts else kind)
        return facts["parse"](node) if "parse" in facts else node.value
    except (ValidationError, ValueError):
        raise InvalidValue(kind_words(kind), node) from None


def _convert_text_map(node: LocatedNode, kind: Any) -> dict[str, str]:
    if node.members is None:
        raise InvalidValue(kind_words(kind), node)
    key_kind, value_kind = get_args(kind_parts(kind)[0])
    for name, member in node.members.items():
        key = LocatedNode(value=name, line=member.key_line, column=member.key_column)
        _convert_member(name[:40], key, key_kind)
        _convert_member(name[:40], member, value_kind)
    return {name: str(member.value) for name, member in node.members.items()}


def _convert_record(
    node: LocatedNode, kind: Any, members: Mapping[str, tuple[Any, bool]]
) -> dict[str, object]:
    words = kind_words(kind)
    if node.members is None:
        raise InvalidValue(words, node)
    for name in node.members:
        if name not in members:
            raise InvalidValue(f"named {' or '.join(members)}", node.members[name], name[:40])
    for name, (_, is_required) in members.items():
        if is_required and name not in node.members:
            raise InvalidValue(f'{words} with "{name}"', node)
    return {
        name: _convert_member(name, member, members[name][0])
        for name, member in node.members.items()
        if member.value is not None or members[name][1]
    }


def _convert_member(name: str, node: LocatedNode, kind: Any) -> object:
    try:
        return convert_node(node, kind)
    except InvalidValue as unfit:
        raise InvalidValue(unfit.expected, unfit.node, joined_key(name, unfit.key), unfit.remedy) from None


def joined_key(name: str, rest: str) -> str:
    """Return a dotted key with what stands below it: `hooks` and `[0].matcher`."""
    return f"{name}{rest}" if rest.startswith("[") or not rest else f"{name}.{rest}"


LayerName = Literal["default", "user", "workspace", "environment", "option"]
"""Where a value can come from; a later layer takes precedence."""


class Origin(Struct, frozen=True, kw_only=True):
    """Where a value came from."""

    layer: LayerName
    """The layer that gave it."""
    file: str | None = None
    """Path of the file, or the name of the environment variable."""
    line: int | None = None
    """Line in the file, from 1."""

    def where(self) -> str:
        """Name the place: `/home/x/config.json line 12`, `WORKBENCH_UI_MOTION`, `default`."""
        name = self.file or self.layer
        return f"{name} line {self.line}" if self.line else name


DEFAULT_ORIGIN = Origin(layer="default")


class ApprovalPattern(Struct, frozen=True, kw_only=True):
    """A permission glob of `approvals.allow` or `approvals.deny`."""

    text: str
    origin: Origin


_Price = Annotated[float, Meta(ge=0, le=1e6)]
LARGEST_INTEGER = 1 << 40


class ToolHook(Struct, frozen=True, kw_only=True):
    """A command that runs before or after a tool call."""

    matcher: Annotated[PatternText, Meta(description="Pattern of the calls that it is run for.")]
    command: Annotated[ShellCommand, Meta(description="Shell command; a failing PreToolUse command denies.")]
    origin: Origin


class AutoApprovalRule(Struct, frozen=True, kw_only=True):
    """A rule of a config file (seed S0, ApprovalRule). The counts are where the journal starts from."""

    id: Annotated[Text, Meta(description="Name of the rule; any text that no other rule has.")]
    tool_name: Annotated[Text, Meta(description="The tool whose calls it may allow.")]
    param_pattern: Annotated[
        Text,
        Meta(
            description="Regular expression searched in the canonical JSON of the parameters.",
            extra={"words": "a regular expression"},
        ),
    ]
    description: Annotated[Text, Meta(description="What the rule allows, in words.")]
    created_at: Annotated[Timestamp, Meta(description="When it was made.")] | None = None
    last_used_at: (
        Annotated[Timestamp, Meta(description="When it was last used before this file was read.")] | None
    ) = None
    use_count: (
        Annotated[
            int,
            Meta(ge=0, le=LARGEST_INTEGER, description="How often it was used before this file was read."),
        ]
        | None
    ) = 0
    origin: Origin


class TokenPrices(Struct, frozen=True, kw_only=True):
    """What a provider asks, in the user's currency."""

    input_per_million: Annotated[_Price, Meta(description="Price of a million tokens sent.")]
    output_per_million: Annotated[_Price, Meta(description="Price of a million tokens received.")]


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """A place that models answer from. It names where its key is, and never holds it."""

    name: str
    kind: str
    base_url: str | None
    model: str | None
    key_env: str | None
    key_command: str | None
    headers: Mapping[str, str]
    num_ctx: int | None
    max_tokens: int | None
    temperature: float | None
    seed: int | None
    stop: tuple[str, ...]
    tool_choice: Literal["auto", "required", "none"] | None
    first_token_seconds: int | None
    silence_seconds: int | None
    reply_seconds: int | None
    prices: TokenPrices | None
    """None: no price known, so no money is shown."""
    origin: Origin
    """Where its `kind` was said, or the first thing about it."""


class ApprovalSettings(Struct, frozen=True, kw_only=True):
    """How questions are asked and what is answered without asking."""

    window_minutes: float
    read_only: Literal["ask", "auto"]
    allow: tuple[ApprovalPattern, ...]
    deny: tuple[ApprovalPattern, ...]
    """Of every layer."""
    on_expiry: Literal["pause", "continue"]
    require_seen: bool


class LimitSettings(Struct, frozen=True, kw_only=True):
    """How much a call may take and give."""

    tool_output_bytes: int
    context_file_bytes: int
    command_seconds: int
    output_blob_bytes: int
    max_turns: int


class NotifySettings(Struct, frozen=True, kw_only=True):
    """What happens when something waits."""

    bell: bool
    title: bool
    desktop: str


class UiSettings(Struct, frozen=True, kw_only=True):
    """How the screen looks and which keys it takes."""

    theme: str
    density: str
    glyphs: str
    motion: str
    keymap: Mapping[str, str]
    notify: NotifySettings


class ToolHooks(Struct, frozen=True, kw_only=True):
    """Hooks of every layer, the user's own first."""

    pre_tool_use: tuple[ToolHook, ...]
    post_tool_use: tuple[ToolHook, ...]


class FetchSettings(Struct, frozen=True, kw_only=True):
    """Which addresses fetch_webpage may reach."""

    allow_loopback: bool
    allowed_hosts: tuple[str, ...]


class RetentionSettings(Struct, frozen=True, kw_only=True):
    """How long sealed bytes are kept."""

    sealed_days: int


class PipelineSettings(Struct, frozen=True, kw_only=True):
    """How many steps run at once."""

    max_concurrent_workers: int


class Config(Struct, frozen=True, kw_only=True):
    """All settings, every layer taken into account. Read once at start (seed S0, Config)."""

    config_version: int
    default_model: str | None
    default_provider: str | None
    api_timeout_seconds: int
    max_session_messages: int
    output_format: str
    auto_approval_rules: tuple[AutoApprovalRule, ...]
    providers: Mapping[str, ProviderSettings]
    approvals: ApprovalSettings
    limits: LimitSettings
    ui: UiSettings
    hooks: ToolHooks
    fetch: FetchSettings
    retention: RetentionSettings
    pipelines: PipelineSettings


class ConfigProblem(Struct, frozen=True, kw_only=True):
    """Something in the configuration that is not as it should be."""

    file: str
    """Path, name of the environment variable, or `option`."""
    line: int | None
    column: int | None
    key: str
    """Dotted key; empty where the file as a whole is meant."""
    message: str
    """What is wrong, and what holds instead."""
    remedy: str
    fatal: bool
    """Nothing may be started with it: going on could mean that less is denied than was written."""

    def __str__(self) -> str:
        """Write it on one line, as it is shown."""
        location = f"{self.file} line {self.line}" if self.line else self.file
        return f"{location}: {self.message} {self.remedy}".rstrip()


class IgnoredValue(Struct, frozen=True, kw_only=True):
    """A value of a workspace that has no effect."""

    key: str
    file: str
    line: int | None
    reason: str


class LoadedConfig(Struct, frozen=True, kw_only=True):
    """A configuration, where each value came from, and what there is to say about it."""

    config: Config
    origins: Mapping[str, Origin]
    """By dotted key, the defaults included; providers as `providers.NAME.FIELD`."""
    problems: tuple[ConfigProblem, ...]
    ignored: tuple[IgnoredValue, ...]
    notes: tuple[str, ...]
    """What was read in an older form."""

    @property
    def is_usable(self) -> bool:
        """Whether no problem is fatal."""
        return not any(problem.fatal for problem in self.problems)


_TOKENS_PER_PRICE = 1_000_000


def token_cost(config: Config, provider: str, usage: Usage) -> float | None:
    """Return what some tokens cost at a provider, in the user's currency; None where no price is known."""
    settings = config.providers.get(provider)
    if settings is None or settings.prices is None:
        return None
    prices = settings.prices
    sent, received = usage.input_tokens, usage.output_tokens
    return (sent * prices.input_per_million + received * prices.output_per_million) / _TOKENS_PER_PRICE
