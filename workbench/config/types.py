"""The sections of a Config: each setting with its bounds, default and meaning; and what reading them says."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from workbench.config.keys import (
    CONFIG_VERSION,
    FOLDER_NAME,
    LARGEST_INTEGER,
    PROVIDER_KINDS,
    SHORT_TEXT,
    URL,
    ConfigKey,
    PatternText,
    ShellCommand,
    Text,
    Timestamp,
    always_allows_less,
    is_smaller,
    is_value,
    list_kind,
    section_keys,
    setting,
    text_kind,
    text_map_kind,
)
from workbench.config.sections import (
    TOOL_MAP,
    AskSettings,
    FetchSettings,
    IncidentSettings,
    LimitSettings,
    NoticeCommandSettings,
    NotifySettings,
    RetentionSettings,
    SandboxSettings,
    SessionSettings,
    ToolSettings,
)
from workbench.domain.values import DEFAULT_APPROVAL_MINUTES, Place, SandboxLevel
from workbench.text.problems import Problem

LayerName = Literal["default", "user", "workspace", "environment", "option"]
"""Where a value can come from; a later layer takes precedence."""


class Origin(Struct, frozen=True, kw_only=True):
    """Where a value came from."""

    layer: LayerName
    file: str | None = None
    """Path of the file, or the name of the environment variable."""
    line: int | None = None

    def where(self) -> str:
        """Name the place: `/home/x/config.json line 12`, `WORKBENCH_UI_MOTION`, `default`."""
        name = self.file or self.layer
        return f"{name} line {self.line}" if self.line else name

    def problem(self, key: str, message: str, remedy: str) -> Problem:
        """Return a problem of the value that came from here, with which everything can be started."""
        return Problem(
            message=message, file=self.file or self.layer, line=self.line or 0, key=key, remedy=remedy,
            severity="warning", fatal=False,
        )  # fmt: skip


DEFAULT_ORIGIN = Origin(layer="default")


class ApprovalPattern(Struct, frozen=True, kw_only=True):
    """A permission glob of `approvals.allow` or `approvals.deny`."""

    text: str
    where: Place = "inside"
    """Where the commands run that it allows."""
    origin: Origin


_WHERE: Final = Meta(
    description="Where the commands run that it allows: inside the sandbox, if unset, or outside as you."
)


class PlacedPattern(Struct, frozen=True, kw_only=True):
    """A permission glob in a file, with where the commands run that it allows."""

    pattern: Annotated[PatternText, Meta(description="Pattern of the calls that it allows.")]
    where: Annotated[Place, _WHERE] | None = None


_Price = Annotated[float, Meta(ge=0, le=1e6)]


class ToolHook(Struct, frozen=True, kw_only=True):
    """A command that runs before or after a tool call."""

    matcher: Annotated[PatternText, Meta(description="Pattern of the calls that it is run for.")]
    command: Annotated[ShellCommand, Meta(description="Shell command; a failing PreToolUse command denies.")]
    sandbox: (
        Annotated[
            SandboxLevel,
            Meta(description="What it may touch; unset, all that you may. Without a full sandbox it fails."),
        ]
        | None
    ) = None
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
    where: Annotated[Place, _WHERE] | None = None
    origin: Origin


class TokenPrices(Struct, frozen=True, kw_only=True):
    """What a provider asks, in US dollars."""

    input_per_million: Annotated[_Price, Meta(description="US dollars for a million tokens sent.")]
    output_per_million: Annotated[_Price, Meta(description="US dollars for a million tokens received.")]
    cache_read_per_million: (
        Annotated[
            _Price, Meta(description="The same for tokens that a cache gave; unset, the price of input.")
        ]
        | None
    ) = None
    cache_write_per_million: (
        Annotated[
            _Price, Meta(description="The same for tokens that a cache took; unset, the price of input.")
        ]
        | None
    ) = None
    cache_write_1h_per_million: (
        Annotated[
            _Price, Meta(description="The same for an hour; unset, the price of cache_write_per_million.")
        ]
        | None
    ) = None


WindowKind = Literal["read", "edit", "command", "fetch", "gate"]
"""What a question can be about that expires."""
_Minutes = Annotated[float, Meta(gt=0, le=1440, extra={"what": "a number of minutes"})]


class ApprovalWindow(Struct, frozen=True, kw_only=True):
    """How long questions wait that are of one kind, of one folder, or both."""

    minutes: Annotated[_Minutes, Meta(description="How long they wait before they expire, in minutes.")]
    kind: Annotated[WindowKind, Meta(description="What they are about; unset, any of these.")] | None = None
    folder: (
        Annotated[
            str,
            FOLDER_NAME,
            Meta(description="The workspace they come from, or a folder that it lies in; unset, any."),
        ]
        | None
    ) = None
    origin: Origin


_HOOKS = list_kind(Annotated[ToolHook, Meta(extra={"words": "a hook {matcher, command, sandbox}"})], "hooks")
_PATTERNS = list_kind(PatternText, "patterns")
_ALLOWED = list_kind(
    Annotated[
        PatternText,
        Meta(extra={"words": "a pattern, or an object {pattern, where}", "record": PlacedPattern}),
    ],
    "patterns, or of objects {pattern, where}",
)
_WINDOWS = list_kind(
    Annotated[ApprovalWindow, Meta(extra={"words": "a window {minutes, kind, folder}"})], "windows"
)
_RULE = Annotated[
    AutoApprovalRule, Meta(extra={"words": "a rule {id, tool_name, param_pattern, description}"})
]
_PRICES = Annotated[TokenPrices, Meta(extra={"words": "prices {input_per_million, output_per_million}"})]
_MODEL_PRICES = text_map_kind("an object of model ids and their prices", text_kind("a model id"), _PRICES)
_KEYMAP = text_map_kind(
    "an object of action ids and keys", text_kind("an action id"), text_kind('keys such as "ctrl+a"')
)
_HEADERS = text_map_kind(
    "an object of header names and values",
    text_kind("a header name", "[A-Za-z0-9-]+", 128),
    text_kind("a header value"),
)
_API_VERSION = text_kind("a version such as 2024-10-21", "[0-9A-Za-z._-]{1,64}", 64)
_FILE_NAMES = list_kind(text_kind("the name of a file, without a folder", r"[^/\\\\]+", 255), "file names")
_VARIABLE = text_kind("the name of an environment variable", "[A-Za-z_][A-Za-z0-9_]*", 256)
_Seconds = Annotated[int, Meta(ge=1, le=86_400)]


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """A place that models answer from. It names where its key is, and never holds it."""

    name: str
    kind: Annotated[str, setting("How the provider is spoken to.", kind=Literal[tuple(PROVIDER_KINDS)])]
    base_url: Annotated[str, setting("Where it answers; ollama has a default.", kind=URL)] | None
    model: Annotated[Text, setting("Model that is used when none is named.")] | None
    key_env: Annotated[str, setting("Environment variable that holds the key.", kind=_VARIABLE)] | None
    key_command: (
        Annotated[
            ShellCommand,
            setting("Shell command that prints the key; it runs in the folder of the file that names it."),
        ]
        | None
    )
    headers: Annotated[Mapping[str, str], setting("Headers sent with each request.", kind=_HEADERS)] = field(
        default_factory=dict[str, str]
    )
    num_ctx: (
        Annotated[
            int,
            Meta(ge=256, le=100_000_000),
            setting(
                "Size of the model's context window, in tokens: how full a step of a pipeline may make it."
            ),
        ]
        | None
    )
    api_version: (
        Annotated[
            str,
            setting(
                "Azure OpenAI: version of the interface that its deployments are asked by, such as "
                "2024-10-21; unset, the interface without versions.",
                kind=_API_VERSION,
            ),
        ]
        | None
    )
    thinking_tokens: (
        Annotated[
            int,
            Meta(ge=0, le=1_000_000),
            setting(
                "How many tokens a model of Anthropic may think before it answers; for Ollama, 0 turns "
                "thinking off and any other number on; with 0 OpenAI's Responses are not asked for thoughts. "
                "Unset, as the model does by itself."
            ),
        ]
        | None
    )
    max_tokens: (
        Annotated[
            int,
            Meta(ge=1, le=10_000_000),
            setting("How many tokens one reply may have; unset, as many as the server gives."),
        ]
        | None
    )
    temperature: (
        Annotated[
            float,
            Meta(ge=0, le=2),
            setting("How freely the model chooses its words; unset, the server's own."),
        ]
        | None
    )
    seed: (
        Annotated[
            int,
            Meta(ge=0, le=(1 << 53) - 1),
            setting("Start of the model's random numbers, where the server takes one."),
        ]
        | None
    )
    stop: Annotated[
        tuple[str, ...],
        setting("Texts at which the model stops.", kind=list_kind(text_kind(SHORT_TEXT, limit=256), "texts")),
    ] = ()
    tool_choice: (
        Annotated[
            Literal["auto", "required", "none"],
            setting("Whether the model may, must or must not call tools; unset, the server's own (auto)."),
        ]
        | None
    )
    first_token_seconds: (
        Annotated[
            _Seconds,
            setting(
                "How long a reply may take to begin, in seconds; unset, 600: a server may load its model."
            ),
        ]
        | None
    )
    silence_seconds: (
        Annotated[_Seconds, setting("How long a reply that has begun may pause, in seconds; unset, 180.")]
        | None
    )
    reply_seconds: (
        Annotated[
            _Seconds,
            setting(
                "How long a whole reply may take, in seconds; unset, 3600. What came until then is kept."
            ),
        ]
        | None
    )
    fallback: Annotated[Text, setting("Provider that is asked while this one is overloaded.")] | None
    keep_alive: Annotated[Text, setting('How long Ollama keeps a model loaded, such as "30m".')] | None
    prices: (
        Annotated[
            TokenPrices, setting("Prices of its models; unset, those of the program's table.", kind=_PRICES)
        ]
        | None
    )
    origin: Origin
    """Where its `kind` was said, or the first thing about it."""


class ApprovalSettings(Struct, frozen=True, kw_only=True):
    """How questions are asked and what is answered without asking."""

    window_minutes: Annotated[
        _Minutes, setting("How long a question waits before it expires, in minutes.", narrows=is_smaller)
    ] = DEFAULT_APPROVAL_MINUTES
    windows: Annotated[
        tuple[ApprovalWindow, ...],
        setting(
            "Other windows for questions of one kind or folder; the most specific one counts. A workspace's "
            "own only shorten.",
            kind=_WINDOWS, narrows=always_allows_less, is_united=True,
        ),
    ] = ()  # fmt: skip
    read_only: Annotated[
        Literal["ask", "auto"], setting("Whether reading inside the workspace asks.", narrows=is_value("ask"))
    ] = "ask"
    allow: Annotated[
        tuple[ApprovalPattern, ...],
        setting("Calls that are allowed without asking; only in your own configuration.", kind=_ALLOWED),
    ] = ()
    sandboxed: Annotated[
        Literal["ask", "auto"],
        setting(
            "Whether commands that nothing allows or denies ask, or run inside the sandbox without asking.",
            narrows=is_value("ask"),
        ),
    ] = "ask"
    deny: Annotated[
        tuple[ApprovalPattern, ...],
        setting(
            "Calls that are never made; every layer adds to them.",
            kind=_PATTERNS, narrows=always_allows_less, is_strict=True, is_united=True,
        ),
    ] = ()  # fmt: skip
    on_expiry: Annotated[
        Literal["pause", "continue"],
        setting("What a session does when nobody answered.", narrows=is_value("pause")),
    ] = "pause"
    require_seen: Annotated[
        bool,
        setting(
            "Whether all that is taken is shown before a approves it; if not, the record says so.",
            narrows=is_value(True),
        ),
    ] = True
    single_press: Annotated[
        Literal["off", "edits"],
        setting(
            "Which answers take one press and a second of quiet rather than two presses: none, or those to "
            "edits that can be undone.",
            narrows=is_value("off"),
        ),
    ] = "off"


class UiSettings(Struct, frozen=True, kw_only=True):
    """How the screen looks and which keys it takes."""

    theme: Annotated[str, setting("Colours of the screen.", kind=text_kind(SHORT_TEXT, limit=64))] = (
        "workbench-dark"
    )
    density: Annotated[
        Literal["normal", "compact"], setting("Whether blank rows and single tool rows are folded.")
    ] = "normal"
    glyphs: Annotated[Literal["auto", "unicode", "ascii"], setting("Signs to draw with.")] = "auto"
    motion: Annotated[
        Literal["normal", "none"], setting("Whether changed rows flash and countdowns show seconds.")
    ] = "normal"
    keymap: Annotated[Mapping[str, str], setting("Keys of your own, by action id.", kind=_KEYMAP)] = field(
        default_factory=dict[str, str]
    )
    notify: NotifySettings = NotifySettings()

    def with_value(self, name: str, value: str | bool) -> "UiSettings":
        """Return these settings with one changed, such as `density` or `notify.bell`."""
        section, _, member = name.rpartition(".")
        if section:
            return replace(self, **{section: replace(getattr(self, section), **{member: value})})
        return replace(self, **{name: value})


class ToolHooks(Struct, frozen=True, kw_only=True):
    """Hooks of every layer, the user's own first."""

    pre_tool_use: Annotated[
        tuple[ToolHook, ...],
        setting(
            "Commands that run before a call and can deny it. A relative program or script is looked for in "
            "the folder of the file that names it.",
            kind=_HOOKS, is_strict=True, is_united=True,
        ),
    ] = field(default=(), name="PreToolUse")  # fmt: skip
    post_tool_use: Annotated[
        tuple[ToolHook, ...],
        setting(
            "Commands that run after a call. A relative program or script is looked for in the folder of the "
            "file that names it.",
            kind=_HOOKS, is_strict=True, is_united=True,
        ),
    ] = field(default=(), name="PostToolUse")  # fmt: skip


class PipelineSettings(Struct, frozen=True, kw_only=True):
    """How many steps run at once."""

    max_concurrent_workers: Annotated[
        int, Meta(ge=1, le=64), setting("How many steps of a pipeline run at once.", narrows=is_smaller)
    ] = 5
    max_workspace_steps: Annotated[
        int,
        Meta(ge=1, le=256),
        setting("How many steps run at once in all runs of a workspace; others wait.", narrows=is_smaller),
    ] = 10
    max_home_steps: Annotated[
        int,
        Meta(ge=1, le=256),
        setting("How many steps run at once in all runs of all workspaces.", narrows=is_smaller),
    ] = 20


class Config(Struct, frozen=True, kw_only=True):
    """All settings, every layer taken into account. Read once at start (seed S0, Config)."""

    config_version: Annotated[int, Meta(ge=1, le=CONFIG_VERSION), setting("Version of this form.")] = (
        CONFIG_VERSION
    )
    default_model: (
        Annotated[
            Text,
            setting(
                "Model of a new session; else the provider's. provider/model where default_provider is unset."
            ),
        ]
        | None
    ) = None
    default_provider: Annotated[Text, setting("Provider of a new session; else the only one.")] | None = None
    api_timeout_seconds: Annotated[
        int,
        Meta(ge=5, le=300),
        setting(
            "How long a provider may take to connect or to list its models, in seconds; replies have "
            "first_token_seconds and silence_seconds."
        ),
    ] = 30
    max_session_messages: Annotated[
        int,
        Meta(ge=10, le=1000),
        setting("How many messages of a session a model is shown; none is deleted."),
    ] = 100
    instruction_files: Annotated[
        tuple[str, ...],
        setting(
            "Files of a trusted folder, up to its git root, that join the system prompt.", kind=_FILE_NAMES
        ),
    ] = ("AGENTS.md", "CLAUDE.md")
    output_format: Annotated[
        Literal["human", "json"],
        setting("Form of what commands print; what ask, watch and replay show stays text without --json."),
    ] = "human"
    auto_approval_rules: Annotated[
        tuple[AutoApprovalRule, ...],
        setting("Rules that approve calls.", kind=list_kind(_RULE, "rules"), is_united=True),
    ] = ()
    prices: Annotated[
        Mapping[str, TokenPrices],
        setting(
            "Prices by model id, before those of a provider and of the program's table.", kind=_MODEL_PRICES
        ),
    ] = field(default_factory=dict[str, TokenPrices])
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict[str, ProviderSettings])
    approvals: ApprovalSettings = ApprovalSettings()
    limits: LimitSettings = LimitSettings()
    ui: UiSettings = UiSettings()
    notify: NoticeCommandSettings = NoticeCommandSettings()
    hooks: ToolHooks = ToolHooks()
    fetch: FetchSettings = FetchSettings()
    retention: RetentionSettings = RetentionSettings()
    sessions: SessionSettings = SessionSettings()
    pipelines: PipelineSettings = PipelineSettings()
    incidents: IncidentSettings = IncidentSettings()
    ask: AskSettings = AskSettings()
    sandbox: SandboxSettings = SandboxSettings()
    tools: Annotated[
        Mapping[str, ToolSettings],
        setting(
            "Tools that only some providers' models may see; a later layer only narrows.",
            kind=TOOL_MAP, narrows=always_allows_less, is_strict=True, is_united=True,
        ),
    ] = field(default_factory=dict[str, ToolSettings])  # fmt: skip


CONFIG_KEYS = tuple(section_keys(Config))
"""Every key outside `providers`."""
PROVIDER_KEYS = tuple(section_keys(ProviderSettings))
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
    problems: tuple[Problem, ...]
    ignored: tuple[IgnoredValue, ...]
    notes: tuple[str, ...]

    @property
    def is_usable(self) -> bool:
        """Whether no problem is fatal."""
        return not any(problem.fatal for problem in self.problems)
