"""The agents whose hooks are understood: one row each, with everything in which they differ.

The facts were tried with the versions in the rows.
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

Scope = Literal["all", "asked"]
"""`all`: every call comes here. `asked`: only those that the agent itself would ask its user about."""
EventMeaning = Literal["ask", "done", "failed", "started", "turn_done", "interrupted", "ended"]
HookDialect = Literal["claude", "gemini", "opencode"]
"""Which words the hook's input and output have."""


class HookEvent(Struct, frozen=True, kw_only=True):
    """An event of an agent that its settings have to hook."""

    name: str
    means: EventMeaning
    scopes: tuple[Scope, ...] = ("all", "asked")
    has_matcher: bool = False
    """Whether an entry of it names the tools that it is for; ours names all of them."""
    tells_model: bool = False
    """Whether text in its answer reaches the model."""

    is_asked_there: bool = False
    """Whether the agent asks its user in its own screen while the hook waits."""

    @property
    def waits(self) -> bool:
        """Return whether the hook waits for a human, so that it needs the long timeout."""
        return self.means == "ask"


class SettingsPlace(Struct, frozen=True, kw_only=True):
    """The file in which an agent reads its hooks."""

    folder: str
    """Its folder by default; `~` is the user's home."""
    file: str
    """Path below that folder."""
    project: str
    """Path below a project's folder."""
    variable: str = ""
    """The environment variable that names the folder instead."""
    below_variable: str = ""
    """Path between the folder that the variable names and the file's own, such as `opencode`."""
    is_own_file: bool = False
    """The file is ours alone, where nothing else is in it: it is deleted and not edited."""


class AgentTool(Struct, frozen=True):
    """How the calls of an agent's tool are judged."""

    judged_as: str
    """Tool of ours; empty if the call is left to the agent, because all it does comes here again."""
    names: Mapping[str, str] = {}
    """Our name of a parameter, by the agent's; the others have the same."""
    folder: str = ""
    """Parameter with the folder that it runs in."""


class HookedAgent(Struct, frozen=True, kw_only=True):
    """An agent, its hooks, and how they are read and answered."""

    id: str
    name: str
    command: str
    version: str
    """The version whose hooks were tried; empty if they are known from documentation only."""
    origin: str
    """Name of its sessions in the library, and of the format of their files."""
    dialect: HookDialect
    settings: SettingsPlace
    events: tuple[HookEvent, ...]
    tools: Mapping[str, AgentTool]
    """By their names; calls of any other tool are asked about."""
    timeout_unit: Literal["seconds", "milliseconds", "none"]
    """Unit of a hook's timeout; `none` where it waits for ever."""
    scopes: tuple[Scope, ...] = ("all",)
    has_session_file: bool = True
    """Whether its hooks name a file that its session is written to."""
    unasking_modes: tuple[str, ...] = ()
    """Its modes in which it asks its user nothing; named in the input of its hooks."""
    patch_commands: bool = False
    """Whether it applies the patch of an `apply_patch` line itself, and runs no program of that name."""
    takes_new_input: bool = True
    """Whether its hook may allow with another input; if not, a change is made as a whole or denied."""
    allow_needs_input: bool = False
    """Whether its hook may allow only with an input; without one, saying nothing lets the call pass."""
    trust_step: str = ""
    """What its user has to do there once, before it runs a hook."""

    def events_of(self, scope: Scope) -> tuple[HookEvent, ...]:
        """Return the events that have to be hooked for a scope."""
        return tuple(event for event in self.events if scope in event.scopes)

    def event(self, name: str) -> HookEvent | None:
        """Return an event by its name."""
        return next((event for event in self.events if event.name == name), None)


_ALL: Final[tuple[Scope, ...]] = ("all",)
_SESSION_STARTS: Final = HookEvent(name="SessionStart", means="started")
_STOPS: Final = HookEvent(name="Stop", means="turn_done")
_SESSION_ENDS: Final = HookEvent(name="SessionEnd", means="ended")
_BEFORE_TOOL: Final = HookEvent(name="PreToolUse", means="ask", scopes=_ALL, has_matcher=True)
_AFTER_TOOL: Final = HookEvent(name="PostToolUse", means="done", has_matcher=True, tells_model=True)
_AFTER_FAILURE: Final = HookEvent(name="PostToolUseFailure", means="failed", has_matcher=True)

_LEFT: Final = AgentTool("")
_CLAUDE_TOOLS: Final[Mapping[str, AgentTool]] = {
    **{
        name: AgentTool(name)
        for name in (
            "Edit", "MultiEdit", "Write", "NotebookEdit", "Bash", "Read", "Glob", "Grep", "LS", "WebFetch",
        )
    },
    "NotebookRead": AgentTool("Read", {"notebook_path": "file_path"}),
    **dict.fromkeys(
        (
            "Agent", "AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillBash",
            "KillShell", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
            "TodoRead", "TodoWrite", "ToolSearch",
        ),
        _LEFT,
    ),
}  # fmt: skip
_CODEX_TOOLS: Final[Mapping[str, AgentTool]] = {
    "Bash": AgentTool("Bash"),
    "apply_patch": AgentTool("apply_patch", {"command": "patch"}),
    "view_image": AgentTool("Read"),
    **dict.fromkeys(("update_plan", "request_user_input", "get_goal", "create_goal", "update_goal"), _LEFT),
}
_QWEN_TOOLS: Final[Mapping[str, AgentTool]] = {
    "write_file": AgentTool("Write"),
    "edit": AgentTool("Edit"),
    "read_file": AgentTool("Read"),
    "read_many_files": AgentTool("ReadMany"),
    "list_directory": AgentTool("LS"),
    "glob": AgentTool("Glob"),
    "grep_search": AgentTool("Grep"),
    "search_file_content": AgentTool("Grep"),
    "run_shell_command": AgentTool("Bash", folder="directory"),
    "web_fetch": AgentTool("WebFetch"),
    **dict.fromkeys(("todo_write", "task", "exit_plan_mode", "ask_user_question"), _LEFT),
}
_GEMINI_TOOLS: Final[Mapping[str, AgentTool]] = {
    "write_file": AgentTool("Write"),
    "replace": AgentTool("Edit", {"allow_multiple": "replace_all"}),
    "read_file": AgentTool("Read"),
    "read_many_files": AgentTool("ReadMany"),
    "list_directory": AgentTool("LS"),
    "glob": AgentTool("Glob"),
    "grep_search": AgentTool("Grep"),
    "search_file_content": AgentTool("Grep"),
    "run_shell_command": AgentTool("Bash", folder="dir_path"),
    **dict.fromkeys(("write_todos", "ask_user", "enter_plan_mode", "exit_plan_mode"), _LEFT),
}
_OPENCODE_TOOLS: Final[Mapping[str, AgentTool]] = {
    "write": AgentTool("Write", {"filePath": "file_path"}),
    "edit": AgentTool(
        "Edit",
        {
            "filePath": "file_path", "oldString": "old_string", "newString": "new_string",
            "replaceAll": "replace_all",
        },
    ),
    "apply_patch": AgentTool("apply_patch", {"patchText": "patch"}),
    "bash": AgentTool("Bash", folder="workdir"),
    "read": AgentTool("Read", {"filePath": "file_path"}),
    "glob": AgentTool("Glob"),
    "grep": AgentTool("Grep"),
    "list": AgentTool("LS"),
    "webfetch": AgentTool("WebFetch"),
    **dict.fromkeys(("todowrite", "todoread", "task", "question", "plan_enter", "plan_exit"), _LEFT),
}  # fmt: skip

AGENTS: Final = (
    HookedAgent(
        id="claude", name="Claude Code", tools=_CLAUDE_TOOLS,
        command="claude", version="2.1.332", origin="claude-code",
        dialect="claude", timeout_unit="seconds", scopes=("all", "asked"),
        settings=SettingsPlace(
            folder="~/.claude", file="settings.json", project=".claude/settings.local.json",
            variable="CLAUDE_CONFIG_DIR",
        ),
        events=(
            _BEFORE_TOOL,
            HookEvent(
                name="PermissionRequest", means="ask", scopes=("asked",), has_matcher=True,
                is_asked_there=True,
            ),
            _AFTER_TOOL, _AFTER_FAILURE, _SESSION_STARTS, _STOPS, _SESSION_ENDS,
        ),
        unasking_modes=("bypassPermissions",),
    ),
    HookedAgent(
        id="codex", name="Codex", tools=_CODEX_TOOLS,
        command="codex", version="0.171.0", origin="codex", dialect="claude",
        timeout_unit="seconds",
        settings=SettingsPlace(
            folder="~/.codex", file="hooks.json", project=".codex/hooks.json", variable="CODEX_HOME",
            is_own_file=True,
        ),
        events=(
            # No event follows a patch, so the note for the model comes with the answer.
            HookEvent(name="PreToolUse", means="ask", scopes=_ALL, has_matcher=True, tells_model=True),
            HookEvent(name="PostToolUse", means="done", has_matcher=True),
            _SESSION_STARTS, _STOPS, HookEvent(name="Interrupt", means="interrupted"), _SESSION_ENDS,
        ),
        unasking_modes=("bypassPermissions",), patch_commands=True, allow_needs_input=True,
        trust_step="start codex and trust the new hooks when it asks, or with /hooks; until then none runs",
    ),
    HookedAgent(
        id="gemini", name="Gemini CLI", tools=_GEMINI_TOOLS,
        command="gemini", version="0.61.0", origin="gemini", dialect="gemini",
        timeout_unit="milliseconds",
        settings=SettingsPlace(
            folder="~/.gemini", file="settings.json", project=".gemini/settings.json",
        ),
        events=(
            HookEvent(name="BeforeTool", means="ask", scopes=_ALL, has_matcher=True),
            HookEvent(name="AfterTool", means="done", has_matcher=True, tells_model=True),
            _SESSION_STARTS, HookEvent(name="AfterAgent", means="turn_done"), _SESSION_ENDS,
        ),
        unasking_modes=("yolo",),
        trust_step="confirm the warning about new hooks when it starts",
    ),
    HookedAgent(
        id="qwen", name="Qwen Code", tools=_QWEN_TOOLS,
        command="qwen", version="0.24.4", origin="qwen", dialect="claude",
        timeout_unit="milliseconds",
        settings=SettingsPlace(
            folder="~/.qwen", file="settings.json", project=".qwen/settings.json", variable="QWEN_HOME",
        ),
        events=(_BEFORE_TOOL, _AFTER_TOOL, _AFTER_FAILURE, _SESSION_STARTS, _STOPS, _SESSION_ENDS),
        unasking_modes=("yolo",), takes_new_input=False,  # `updatedInput` is accepted, and ignored
    ),
    HookedAgent(
        id="opencode", name="OpenCode", tools=_OPENCODE_TOOLS,
        command="opencode", version="1.18.33", origin="opencode",
        dialect="opencode", timeout_unit="none", has_session_file=False,
        settings=SettingsPlace(
            folder="~/.config/opencode", file="plugins/workbench.js",
            project=".opencode/plugins/workbench.js", variable="XDG_CONFIG_HOME", below_variable="opencode",
            is_own_file=True,
        ),
        events=(
            HookEvent(name="tool.execute.before", means="ask", scopes=_ALL),
            HookEvent(name="tool.execute.after", means="done", tells_model=True),
            HookEvent(name="session.created", means="started"),
            HookEvent(name="session.error", means="interrupted"),
            HookEvent(name="session.idle", means="turn_done"),
            HookEvent(name="session.deleted", means="ended"),
        ),
    ),
)  # fmt: skip


def hooked_agent(agent_id: str) -> HookedAgent | None:
    """Return the agent of an id."""
    return next((agent for agent in AGENTS if agent.id == agent_id), None)
