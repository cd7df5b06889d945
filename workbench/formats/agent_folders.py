"""Where agents of this machine keep their sessions, what of them is read, and which command goes on.

Only files whose names are those of sessions are listed: settings, keys and logs beside them are never
opened. A command has the session's id as one argument.
"""

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.rows import Session
from workbench.domain.values import Json
from workbench.formats.import_sources import ImportSource, listed_sources, store_sources

_LINES: Final = r".*\.jsonl"
_LOG_FILES: Final = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[^/]+\.json"
"""With a time at the beginning: a folder of so short a name may be of another program."""
_TASK_FILES: Final = r"[^/]+/api_conversation_history\.json"


class AgentPlace(Struct, frozen=True):
    """Sessions in a folder of an agent."""

    folder: str
    """Below the agent's own; empty is that itself."""
    files: str
    """Pattern of the whole path below the folder; empty stands for the store of OpenCode."""


class Agent(Struct, frozen=True, kw_only=True):
    """An agent whose sessions can be looked for."""

    name: str
    """The origin that its sessions have here."""
    title: str
    roots: tuple[str, ...]
    """Its own folder: `~` is the user's, `DATA` and `CONFIG` those of the platform."""
    places: tuple[AgentPlace, ...]
    variable: str = ""
    """The environment variable that names its folder instead; several stand with commas between."""


def _agent(name: str, title: str, roots: str, places: Mapping[str, str], variable: str = "") -> Agent:
    rows = tuple(AgentPlace(folder, files) for folder, files in places.items())
    return Agent(name=name, title=title, roots=tuple(roots.split(", ")), places=rows, variable=variable)


def _editor_roots(extension: str) -> str:
    editors = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
    return ", ".join(f"CONFIG/{editor}/User/globalStorage/{extension}" for editor in editors)


AGENTS: Final = (
    _agent(
        "claude-code", "Claude Code", "~/.claude, CONFIG/claude", {"projects": _LINES}, "CLAUDE_CONFIG_DIR"
    ),
    _agent(
        "codex", "Codex", "~/.codex",
        {"sessions": rf"{_LINES}(\.zst|\.gz)?", "archived_sessions": rf"{_LINES}(\.zst|\.gz)?"}, "CODEX_HOME",
    ),
    _agent("gemini", "Gemini CLI", "~/.gemini", {"tmp": r"[^/]+/chats/.*\.jsonl?"}),
    _agent(
        "antigravity", "Antigravity",
        "~/.gemini/antigravity, ~/.gemini/antigravity-ide, ~/.gemini/antigravity-cli",
        {"brain": r"[^/]+/\.system_generated/logs/transcript\.jsonl"},
    ),
    _agent(
        "opencode", "OpenCode", "DATA/opencode, ~/.local/share/opencode",
        {"": r"opencode[\w.-]*\.db", "storage": ""},
    ),
    _agent("pi", "pi", "~/.pi/agent", {"sessions": _LINES}, "PI_CODING_AGENT_DIR"),
    _agent("pi", "OpenClaw", "~/.openclaw", {"agents": r"[^/]+/sessions/[^/]+\.jsonl"}),
    _agent(
        "qwen", "Qwen Code", "~/.qwen",
        {"projects": r"[^/]+/chats/.*\.jsonl", "tmp": r"[^/]+/chats/.*\.jsonl?"},
    ),
    _agent(
        "copilot", "Copilot CLI", "~/.copilot", {"session-state": r"([^/]+/events|[^/]+)\.jsonl"},
        "COPILOT_HOME",
    ),
    _agent(
        "cursor", "Cursor", "~/.cursor",
        {"projects": r"[^/]+/agent-transcripts/.*\.jsonl", "chats": r".*/store\.db"},
    ),
    _agent("cmd", "cmd", "DATA/cmd, ~/.local/share/cmd", {"logs": _LOG_FILES}),
    _agent("cursor", "Cursor (editor)", "CONFIG/Cursor/User/globalStorage", {"": r"state\.vscdb"}),
    _agent("kimi", "Kimi", "~/.kimi, ~/.kimi-code", {"sessions": r".*/wire\.jsonl"}, "KIMI_SHARE_DIR"),
    _agent("droid", "Factory Droid", "~/.factory", {"sessions": _LINES}),
    _agent("goose", "Goose", "DATA/goose, ~/.local/share/goose", {"sessions": r"sessions\.db|[^/]+\.jsonl"}),
    _agent("crush", "Crush", "DATA/crush, ~/.local/share/crush", {"": r"crush\.db"}, "CRUSH_GLOBAL_DATA"),
    _agent(
        "cline", "Cline", f"~/.cline/data, {_editor_roots('saoudrizwan.claude-dev')}", {"tasks": _TASK_FILES}
    ),
    _agent("roo", "Roo Code", _editor_roots("rooveterinaryinc.roo-cline"), {"tasks": _TASK_FILES}),
    _agent("amp", "Amp", "DATA/amp, ~/.local/share/amp", {"threads": r"T-[^/]+\.json"}),
    _agent("grok", "Grok", "~/.grok", {"sessions": r".*/chat_history\.jsonl"}),
    _agent("hermes", "Hermes", "~/.hermes", {"sessions": r"session_[^/]+\.json"}, "HERMES_HOME"),
    _agent("vibe", "Vibe", "~/.vibe", {"logs/session": r".*/messages\.jsonl|[^/]+\.json"}, "VIBE_HOME"),
)  # fmt: skip
FOLDER_FILES: Final = (("aider", "aider", ".aider.chat.history.md"), ("crush", "Crush", ".crush/crush.db"))
"""What agents keep in the folder that they work in: name, title, path."""
AGENT_NAMES: Final = tuple(
    dict.fromkeys((*(agent.name for agent in AGENTS), *(row[0] for row in FOLDER_FILES)))
)


class AgentFolder(Struct, frozen=True, kw_only=True):
    """A folder with sessions that is on this machine."""

    agent: str
    title: str
    path: str
    """Of the folder; of the file where there is just one."""
    files: str
    """As in `AgentPlace`."""
    is_flat: bool = False
    """Whether its files lie in it and not below it, among things that are none of its business."""

    def sources(self) -> Iterator[ImportSource]:
        """Yield its files by name, unopened; a folder that cannot be read yields one that says so."""
        path = Path(self.path)
        if path.is_file():
            yield ImportSource(name=self.path, agent=self.agent)
        elif self.is_flat:
            names = sorted(file.name for file in path.iterdir() if re.fullmatch(self.files, file.name))
            yield from (ImportSource(name=f"{self.path}/{name}", agent=self.agent) for name in names)
        elif not self.files:
            yield from (replace(source, agent=self.agent) for source in store_sources(path))
        else:
            pattern = re.compile(self.files)
            for source in listed_sources(path, lambda name: pattern.fullmatch(name) is not None):
                yield replace(source, agent=self.agent)

    def sources_of(self, changed: str) -> Iterator[ImportSource]:
        """Yield what is to be read when a path below the folder changed; of a store all its sessions.

        What a database keeps in its log belongs to it.
        """
        name = changed.removesuffix("-wal").removesuffix("-shm")
        if not self.files:
            yield from self.sources()
        elif re.fullmatch(self.files, name) and Path(self.path, name).is_file():
            yield ImportSource(name=f"{self.path}/{name}", agent=self.agent)


def find_agent_folders(
    workspace: str | None = None, env: Mapping[str, str] = os.environ
) -> list[AgentFolder]:
    """Return the folders of agents that are here, in the order of the table.

    `workspace`: a folder that agents may have worked in, where some of them keep their sessions.
    """
    folders: dict[str, AgentFolder] = {}
    for agent in AGENTS:
        for root in _roots(agent, env):
            for place in agent.places:
                path = f"{root}/{place.folder}".rstrip("/")
                if _is_there(path, place):
                    row = AgentFolder(
                        agent=agent.name, title=agent.title, path=path, files=place.files,
                        is_flat=not place.folder,
                    )  # fmt: skip
                    folders.setdefault(f"{os.path.realpath(path)}\0{place.files}", row)
    for name, title, file in FOLDER_FILES if workspace else ():
        path = f"{workspace}/{file}"
        if Path(path).is_file():
            folders.setdefault(path, AgentFolder(agent=name, title=title, path=path, files="", is_flat=True))
    return list(folders.values())


def _is_there(path: str, place: AgentPlace) -> bool:
    """Return whether a place exists; of a folder that holds other things too, whether a file of it does."""
    if place.folder or not Path(path).is_dir():
        return Path(path).is_dir()
    with contextlib.suppress(OSError):
        return any(re.fullmatch(place.files, file.name) for file in Path(path).iterdir())
    return False


def _roots(agent: Agent, env: Mapping[str, str]) -> Iterable[str]:
    home = env.get("HOME") or str(Path.home())
    if named := env.get(agent.variable, "") if agent.variable else "":
        paths = (path.strip() for path in named.split(","))
        return [f"{home}{path[1:]}" if path.startswith("~/") else path for path in paths if path]
    is_mac = sys.platform == "darwin"
    support = f"{home}/Library/Application Support"
    config = support if is_mac else env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    data = support if is_mac else env.get("XDG_DATA_HOME") or f"{home}/.local/share"
    folders = {"~": home, "CONFIG": config, "DATA": data}
    return [f"{folders[first]}/{rest}" for first, _, rest in (root.partition("/") for root in agent.roots)]


_SESSION_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_FORK: Final = re.compile(r"([^/]+)/fork\d+")
_LONGEST_ID: Final = 200
_RESUME_COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "claude-code": ("claude", "--resume"),
    "codex": ("codex", "resume"),
    "gemini": ("gemini", "--resume"),
    "opencode": ("opencode", "--session"),
    "pi": ("pi", "--session"),
    "qwen": ("qwen", "--resume"),
    "copilot": ("copilot", "--resume"),
    "cursor": ("cursor-agent", "--resume"),
    "kimi": ("kimi", "--session"),
    "droid": ("droid", "--resume"),
    "goose": ("goose", "session", "--resume", "--session-id"),
    "crush": ("crush", "--session"),
    "amp": ("amp", "threads", "continue"),
    "vibe": ("vibe", "--resume"),
}
"""By the origin of a session: the words before its id, as each program's documentation has them."""
RESUMABLE_ORIGINS: Final = frozenset(_RESUME_COMMANDS)


class NotResumable(ValueError):
    """A session cannot be continued by the program that wrote it; says why."""


class AgentCommand(Struct, frozen=True, kw_only=True):
    """What continues a session, and where."""

    argv: tuple[str, ...]
    """The program's name and its arguments; the last one is the id."""
    folder: str
    problem: str = ""
    """Why it cannot run here; empty if it can."""

    @property
    def words(self) -> str:
        """Return the command as a shell would read it."""
        return shlex.join(self.argv)

    @property
    def shell_line(self) -> str:
        """Return the line that does the same in a terminal."""
        return f"cd {shlex.quote(self.folder)} && {self.words}"


def agent_command(session: Session) -> AgentCommand:
    """Return what continues an imported session in the program that wrote it. Raises NotResumable."""
    text = _RESUME_COMMANDS.get(session.origin or "")
    if text is None:
        raise NotResumable(
            f"no command is known that continues a session of {session.origin or 'this program'}"
        )
    key = _foreign_id(session)
    if fork := _FORK.fullmatch(key):
        key = fork[1]  # the program knows one session only, and goes on where it stands
    elif session.parent_id is not None or "/" in key:
        raise NotResumable("it is a sub-agent: the session that started it can be continued")
    if len(key) > _LONGEST_ID or not _SESSION_ID.fullmatch(key):
        raise NotResumable("its id is none that can be handed to a program")
    if not session.workspace.startswith("/"):
        raise NotResumable("the folder that it worked in is not recorded")
    return AgentCommand(argv=(*text, key), folder=session.workspace)


def _foreign_id(session: Session) -> str:
    about = session.configuration.get("import")
    key = cast("Mapping[str, Json]", about).get("id") if isinstance(about, Mapping) else None
    return key if isinstance(key, str) else ""
