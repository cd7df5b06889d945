"""What a configuration is: frozen sections, and for everything that came from somewhere its origin.

Owns the shapes. It must never read a file, check a value or know a default that the key table has:
a Config is always built from the table.
"""

from collections.abc import Mapping
from typing import Literal

from workbench.records import dataclass

Layer = Literal["default", "user", "workspace", "environment", "option"]
"""Where a value can come from; a later layer takes precedence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a value came from."""

    layer: Layer
    """The layer that gave it."""
    file: str | None = None
    """Path of the file, or the name of the environment variable."""
    line: int | None = None
    """Line in the file, from 1."""

    def where(self) -> str:
        """Name the place: `/home/x/config.json line 12`, `WORKBENCH_UI_MOTION`, `default`."""
        name = self.file or self.layer
        return f"{name} line {self.line}" if self.line else name


DEFAULT = Origin(layer="default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A permission glob of `approvals.allow` or `approvals.deny`."""

    text: str
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A command that runs before or after a tool call."""

    matcher: str
    command: str
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoApprovalRule:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a provider asks, in the user's currency."""

    input_per_million: float
    output_per_million: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A place that models answer from. It names where its key is, and never holds it."""

    name: str
    kind: str
    base_url: str | None
    model: str | None
    api_version: str | None
    deployment: str | None
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
    prices: Prices | None
    """None: no price known, so no money is shown."""
    origin: Origin
    """Where its `kind` was said, or the first thing about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """How questions are asked and what is answered without asking."""

    window_minutes: float
    read_only: Literal["ask", "auto"]
    allow: tuple[Pattern, ...]
    deny: tuple[Pattern, ...]
    """Of every layer."""
    on_expiry: Literal["pause", "continue"]
    require_seen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a call may take and give."""

    tool_output_bytes: int
    context_file_bytes: int
    command_seconds: int
    output_blob_bytes: int
    max_turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify:
    """What happens when something waits."""

    bell: bool
    title: bool
    desktop: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ui:
    """How the screen looks and which keys it takes."""

    theme: str
    density: str
    glyphs: str
    motion: str
    keymap: Mapping[str, str]
    notify: Notify


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Hooks of every layer, the user's own first."""

    pre_tool_use: tuple[Hook, ...]
    post_tool_use: tuple[Hook, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """Which addresses fetch_webpage may reach."""

    allow_loopback: bool
    allowed_hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long sealed bytes are kept."""

    sealed_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipelines:
    """How many steps run at once."""

    max_concurrent_workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings, every layer taken into account. Read once at start (seed S0, Config)."""

    config_version: int
    default_model: str | None
    default_provider: str | None
    api_timeout_seconds: int
    max_session_messages: int
    output_format: str
    auto_approval_rules: tuple[AutoApprovalRule, ...]
    providers: Mapping[str, Provider]
    approvals: Approvals
    limits: Limits
    ui: Ui
    hooks: Hooks
    fetch: Fetch
    retention: Retention
    pipelines: Pipelines


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
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
        place = f"{self.file} line {self.line}" if self.line else self.file
        return f"{place}: {self.message} {self.remedy}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A value of a workspace that has no effect."""

    key: str
    file: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A configuration, where each value came from, and what there is to say about it."""

    config: Config
    origins: Mapping[str, Origin]
    """By dotted key, the defaults included; providers as `providers.NAME.FIELD`."""
    problems: tuple[Problem, ...]
    ignored: tuple[Ignored, ...]
    notes: tuple[str, ...]
    """What was read in an older form."""

    @property
    def is_usable(self) -> bool:
        """Whether no problem is fatal."""
        return not any(problem.fatal for problem in self.problems)
