"""Changes of files to be undone, file by file, and the sentences about them."""

from collections.abc import Collection, Sequence
from typing import Final, Literal

from msgspec import Struct, field

from workbench.domain.values import FilePlan, Hunk, UndoState
from workbench.text.human import counted
from workbench.text.safe import one_line

_MOST_NAMES: Final = 3
UndoOutcome = Literal["restore", "remove", "bring back"]
OUTCOME_WORDS: Final[dict[UndoOutcome, str]] = {
    "restore": "restored", "remove": "removed", "bring back": "brought back"
}  # fmt: skip
REDO_WORDS: Final[dict[UndoOutcome, str]] = {
    "restore": "changed again", "remove": "deleted again", "bring back": "created again"
}  # fmt: skip
WHY_LEFT: Final[dict[UndoState, str]] = {
    "ready": "",
    "stale": "changed since by somebody else",
    "lost": "its earlier content is no longer kept",
    "refused": "it cannot be read",
}


class UndoRow(Struct, frozen=True, kw_only=True):
    """One file of the table."""

    path: str
    outcome: UndoOutcome
    word: str
    """What would happen to it: `restored`."""
    state: UndoState
    why: str = ""
    """Why it is not taken by itself; empty where it is."""
    calls: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    hunks: tuple[Hunk, ...] = ()
    note: str = ""
    """Why there are no hunks to see."""
    plan: FilePlan
    """What would be written: exactly this, or nothing."""

    @property
    def is_ready(self) -> bool:
        """Return whether it is taken unless somebody leaves it."""
        return self.state == "ready"

    @property
    def can_be_taken(self) -> bool:
        """Return whether it can be written at all."""
        return self.state in ("ready", "stale")


class UndoPlan(Struct, frozen=True, kw_only=True):
    """What undoing the changes of a turn or a session would do, as the files are now."""

    session_id: str
    turn_id: str | None
    subject: str
    """`turn 3` or `the session`."""
    is_redo: bool
    rows: tuple[UndoRow, ...]
    commands: int = 0
    """Commands that ran; what they did is not undone."""
    is_working: bool = False
    """Whether the agent still works."""
    others: int = 0
    """Files in the other direction: undone ones that can be restored, or the reverse."""
    touched: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """For each call the files that it changed and that count as changed now, or with `is_redo` as undone."""

    @property
    def ready(self) -> frozenset[str]:
        """Return the paths that are taken unless somebody leaves them."""
        return frozenset(row.path for row in self.rows if row.is_ready)

    @property
    def title(self) -> str:
        return f"{'Restore' if self.is_redo else 'Undo'} the changes of {self.subject}"

    def taken(self, paths: Collection[str]) -> tuple[UndoRow, ...]:
        """Return the rows of some paths, without those that cannot be written."""
        return tuple(row for row in self.rows if row.path in paths and row.can_be_taken)


def undo_sentences(plan: UndoPlan, taken: Collection[str]) -> list[str]:
    """Return what is to be said under the table: what is left alone, commands, a working agent."""
    stale = [row for row in plan.rows if row.state == "stale"]
    left = [row for row in stale if row.path not in taken]
    lines: list[str] = []
    if left:
        files, them = _were(len(left))
        lines.append(f"{files} changed since by somebody else: not touched unless you take {them}.")
    if len(left) < len(stale):
        files, them = _were(len(stale) - len(left))
        lines.append(f"{files} changed since: taking {them} loses what was done then.")
    gone = sum(not row.can_be_taken for row in plan.rows)
    if gone:
        lines.append(f"{counted(gone, 'file')} cannot be written.")
    if plan.commands and not plan.is_redo:
        what = "1 command ran: what it did is" if plan.commands == 1 else (
            f"{plan.commands} commands ran: what they did is"
        )  # fmt: skip
        lines.append(f"{what} not undone.")
    if plan.is_working:
        lines.append("The agent is still working: what it changes from now on is not part of this.")
    return lines


def _were(count: int) -> tuple[str, str]:
    return ("1 file was", "it") if count == 1 else (f"{count} files were", "them")


def nothing_to_undo(plan: UndoPlan) -> str:
    """Return why the table would be empty, as a sentence."""
    if plan.is_redo:
        return f"Nothing of {plan.subject} was undone."
    if plan.others:
        return f"The changes of {plan.subject} are undone already."
    if plan.commands:
        count = "1 command" if plan.commands == 1 else f"{plan.commands} commands"
        return f"No file to undo in {plan.subject}: it ran {count}, and what commands do is not undone."
    return f"No file to undo in {plan.subject}: it changed none."


def undone_sentence(plan: UndoPlan, paths: Sequence[str]) -> str:
    """Return what is said once it is done."""
    count = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    names = ", ".join(one_line(path, 60) for path in paths[:_MOST_NAMES])
    more = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
    return f"{'Restored' if plan.is_redo else 'Undone'}: {count} of {plan.subject}: {names}{more}."
