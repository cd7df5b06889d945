"""How the program that wrote a session goes on with it: its command, with the id as one argument."""

import re
import shlex
from collections.abc import Mapping
from typing import Final, cast

from msgspec import Struct

from workbench.domain.rows import Session
from workbench.domain.values import Json

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
    words = _RESUME_COMMANDS.get(session.origin or "")
    if words is None:
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
    return AgentCommand(argv=(*words, key), folder=session.workspace)


def _foreign_id(session: Session) -> str:
    about = session.configuration.get("import")
    key = cast("Mapping[str, Json]", about).get("id") if isinstance(about, Mapping) else None
    return key if isinstance(key, str) else ""
