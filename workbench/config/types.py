"""Types of the configuration: the kinds of values that keys accept, and the frozen sections of a Config."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

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


class ValueKind(Protocol):
    """What a key accepts."""

    @property
    def words(self) -> str:
        """Say it after "must be"."""
        ...

    def check(self, node: LocatedNode) -> object:
        """Return the value; raise InvalidValue."""
        ...


class IntegerKind(Struct, frozen=True):
    """A whole number within bounds."""

    low: int
    high: int

    @property
    def words(self) -> str:
        return f"a whole number from {self.low} to {self.high}" if self.low < self.high else str(self.low)

    def check(self, node: LocatedNode) -> int:
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return value
        raise InvalidValue(self.words, node)


class NumberKind(Struct, frozen=True):
    """A number above or from a lower bound, up to a higher one; fractions allowed."""

    low: float
    high: float
    what: str = "a number"
    includes_low: bool = False

    @property
    def words(self) -> str:
        lower = f"from {self.low:.10g}" if self.includes_low else f"greater than {self.low:g}"
        return f"{self.what} {lower}, at most {self.high:.10g}"

    def check(self, node: LocatedNode) -> float:
        value = node.value
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            is_above = value >= self.low if self.includes_low else value > self.low
            if is_above and value <= self.high:
                return value
        raise InvalidValue(self.words, node)


class FlagKind(Struct, frozen=True):
    """True or false."""

    words: str = "true or false"

    def check(self, node: LocatedNode) -> bool:
        if isinstance(node.value, bool):
            return node.value
        raise InvalidValue(self.words, node)


class ChoiceKind(Struct, frozen=True):
    """One of a few words."""

    options: tuple[str, ...]

    @property
    def words(self) -> str:
        quoted = [f'"{option}"' for option in self.options]
        return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]

    def check(self, node: LocatedNode) -> str:
        if isinstance(node.value, str) and node.value in self.options:
            return node.value
        raise InvalidValue(self.words, node)


class TextKind(Struct, frozen=True):
    """A text of one line that is not empty; optionally of one form."""

    words: str = "a text that is not empty"
    form: str = ".*"
    limit: int = 4096

    def check(self, node: LocatedNode) -> str:
        """Check it; hidden characters are refused as well."""
        value = node.value
        if not isinstance(value, str) or not value.strip() or len(value) > self.limit:
            raise InvalidValue(self.words, node)
        if has_hidden_characters(value) or "\n" in value:
            raise InvalidValue(f"{self.words}, on one line and without hidden characters", node)
        if not re.fullmatch(self.form, value):
            raise InvalidValue(self.words, node)
        return value


class UrlKind(Struct, frozen=True):
    """An address with scheme and host, without a password."""

    words: str = 'a URL with scheme and host, such as "http://localhost:11434"'

    def check(self, node: LocatedNode) -> str:
        value = TextKind(self.words).check(node)
        try:
            parts = urlsplit(value)
            is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            raise InvalidValue(self.words, node) from None
        if "@" in parts.netloc:
            raise InvalidValue(
                "a URL without user and password",
                node,
                remedy="Name the variable that holds the key in key_env.",
            )
        if not is_fit or re.search(r"\s", value) or parts.query or parts.fragment:
            raise InvalidValue(self.words, node)
        return value


class TimeKind(Struct, frozen=True):
    """An ISO 8601 time, kept as microseconds."""

    words: str = 'a time such as "2026-11-21T12:00:00Z"'

    def check(self, node: LocatedNode) -> int:
        try:
            return parse_iso_time(TextKind(self.words).check(node))
        except ValueError:
            raise InvalidValue(self.words, node) from None


class ListKind(Struct, frozen=True):
    """An array of one kind; the value is a list of pairs of item and line."""

    item: ValueKind
    what: str

    @property
    def words(self) -> str:
        return f"a list of {self.what}"

    def check(self, node: LocatedNode) -> list[tuple[object, int]]:
        if node.items is None:
            raise InvalidValue(self.words, node)
        return [(checked, item.line) for item, checked in self._checked(node.items)]

    def _checked(self, items: tuple[LocatedNode, ...]) -> Iterator[tuple[LocatedNode, object]]:
        for number, item in enumerate(items):
            try:
                yield item, self.item.check(item)
            except InvalidValue as unfit:
                raise InvalidValue(
                    unfit.expected, unfit.node, _joined_key(f"[{number}]", unfit.key), unfit.remedy
                ) from None


class RecordField(Struct, frozen=True):
    """A member of a record."""

    kind: ValueKind
    is_required: bool
    meaning: str


class RecordKind(Struct, frozen=True):
    """An object with known members; the value is a dict of what is there."""

    what: str
    fields: Mapping[str, RecordField]

    @property
    def words(self) -> str:
        return self.what

    def check(self, node: LocatedNode) -> dict[str, object]:
        """Check each member; missing and unknown ones do not fit, null is absent."""
        if node.members is None:
            raise InvalidValue(self.what, node)
        for name in node.members:
            if name not in self.fields:
                raise InvalidValue(f"named {' or '.join(self.fields)}", node.members[name], name[:40])
        for name, field in self.fields.items():
            if field.is_required and name not in node.members:
                raise InvalidValue(f'{self.what} with "{name}"', node)
        return {
            name: _check_member(name, self.fields[name].kind.check, member)
            for name, member in node.members.items()
            if member.value is not None or self.fields[name].is_required
        }


class TextMapKind(Struct, frozen=True):
    """An object of texts."""

    words: str
    key: TextKind
    value: TextKind

    def check(self, node: LocatedNode) -> dict[str, str]:
        if node.members is None:
            raise InvalidValue(self.words, node)
        for name, member in node.members.items():
            _check_member(
                name[:40],
                self.key.check,
                LocatedNode(value=name, line=member.key_line, column=member.key_column),
            )
            _check_member(name[:40], self.value.check, member)
        return {name: str(member.value) for name, member in node.members.items()}


def _check_member(name: str, check: Callable[[LocatedNode], object], node: LocatedNode) -> object:
    try:
        return check(node)
    except InvalidValue as unfit:
        raise InvalidValue(unfit.expected, unfit.node, _joined_key(name, unfit.key), unfit.remedy) from None


def _joined_key(name: str, rest: str) -> str:
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


class ToolHook(Struct, frozen=True, kw_only=True):
    """A command that runs before or after a tool call."""

    matcher: str
    command: str
    origin: Origin


class AutoApprovalRule(Struct, frozen=True, kw_only=True):
    """A rule of a config file (seed S0, ApprovalRule). The counts are where the journal starts from."""

    id: str
    tool_name: str
    param_pattern: str
    description: str
    created_at: int | None
    """Microseconds since the epoch."""
    last_used_at: int | None
    """Microseconds since the epoch."""
    use_count: int
    origin: Origin


class TokenPrices(Struct, frozen=True, kw_only=True):
    """What a provider asks, in the user's currency."""

    input_per_million: float
    output_per_million: float


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
