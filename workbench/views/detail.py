"""One action in full: its facts, what it would do file by file, its question, its warnings in words.

Made of what was proposed and of the exact hunks; it never reads a blob and never decides what may be
answered, it says why a thing cannot be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import ActionKind, Choice, Hunk, JsonObject
from workbench.views.queue import Urgency
from workbench.views.signs import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDetail:
    """What an action does to one file, with its hunks numbered over the whole action."""

    path: str
    """As proposed; not made safe."""
    change: Literal["create", "modify", "delete"]
    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0
    note: str = ""
    """Why there are no hunks to see: `binary`, `new and empty`, `deleted`, `only its mode changes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """A mark of the gate or the proposal, with its sentence."""

    word: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDetail:
    """Everything the detail of an action shows but the choice of hunks."""

    id: str
    digest: str
    """Of what is shown; the answer carries it."""
    kind: ActionKind
    verb: str
    tool: str
    target: str
    """One safe line."""
    sign: Meaning
    state_word: str
    session_id: str
    session_title: str
    turn_id: str | None = None
    files: tuple[FileDetail, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    """Of all files, in order of their index."""
    added: int = 0
    removed: int = 0
    command: str | None = None
    """What would run, raw; None if it is no command."""
    cwd: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    """Name and raw text of every parameter that neither the diff nor the command shows."""
    prompt: str | None = None
    """What a gate, question or trust row asks, raw."""
    choices: tuple[Choice, ...] = ()
    subject: tuple[tuple[str, str], ...] = ()
    """What a trust, gate or finding row is about, as name and raw text."""
    warnings: tuple[Risk, ...] = ()
    bar: tuple[str, ...] = ()
    """Up to two lines over the diff: stale, expired, withdrawn, answered elsewhere."""
    left_seconds: float | None = None
    urgency: Urgency = "calm"
    expires_at: int | None = None
    extensions: int = 0
    decided_at: int | None = None
    decided_by: str = ""
    reason: str | None = None
    outcome: str = ""
    """What came of an approved one, one safe line: `ok`, `failed: exit 1`."""
    is_pending: bool = True
    is_stale: bool = False
    must_see_all: bool = False
    """It deletes or carries a warning: all of it must have been on screen before it is approved."""
    successor: str | None = None

    @property
    def is_file_change(self) -> bool:
        """Return whether there are files to look at."""
        return bool(self.files)


def detail(
    action: Action,
    opened: ActionOpened,
    hunks: Sequence[Hunk],
    now: int,
    *,
    session: Session | None = None,
    call: Call | None = None,
    parameters: JsonObject | None = None,
) -> ActionDetail:
    """Return an action in full.

    Args:
        action: its row.
        opened: its proposal as recorded.
        hunks: `Source.exact_hunks`.
        now: the moment, in microseconds.
        session: whose action it is.
        call: what came of it.
        parameters: `Source.exact_parameters`; None shows the recorded ones.
    """
    raise NotImplementedError(action, opened, hunks, now, session, call, parameters)


def why_not(detail: ActionDetail, verdict: Literal["approve", "reject", "extend", "edit"]) -> str:
    """Return why an answer is not possible now, empty if it is: the reason of a faint key."""
    raise NotImplementedError(detail, verdict)
