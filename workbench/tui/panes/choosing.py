"""What the user has chosen about actions before answering: parts, lines, choices, edits, marks, receipts.

Pure state of the approvals pane. An action's id always means the same bytes, so nothing here goes stale by
itself; what is gone from the queue is forgotten.
"""

from collections.abc import Collection, Sequence
from dataclasses import field

from workbench.domain.values import Hunk, SeenBy
from workbench.records import dataclass
from workbench.tui.messages import Decide
from workbench.views.carried import carried
from workbench.views.detail import ActionDetail
from workbench.views.selection import Seen, TakenState


@dataclass(slots=True)
class Choosing:
    """Everything chosen, by action id."""

    taken: dict[str, TakenState] = field(default_factory=dict[str, TakenState])
    _made_of: dict[str, Sequence[Hunk]] = field(default_factory=dict[str, Sequence[Hunk]])
    """The hunks that `taken` was chosen from."""
    _heirs: dict[str, str] = field(default_factory=dict[str, str])
    """Actions that stand in for one of which something was left out, until their hunks are known."""
    lines_gone: dict[str, int] = field(default_factory=dict[str, int])
    """How many lines that were left out are not in the diff that stands in for the old one."""
    texts_gone: set[str] = field(default_factory=set[str])
    """Actions that stand in for one that the user had changed in an editor."""
    hunks: dict[str, int] = field(default_factory=dict[str, int])
    """The hunk under the cursor."""
    choices: dict[str, int] = field(default_factory=dict[str, int])
    """Which of the offered choices is chosen."""
    edits: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    """What the user made of a proposal in an editor: path to bytes."""
    seen: Seen = field(default_factory=Seen)
    marks: set[str] = field(default_factory=set[str])
    lines_left: dict[str, int] = field(default_factory=dict[str, int])
    """Lines that were not on the screen yet, of actions of which one part is left."""
    requires_seen: bool = True
    """Whether all that is taken is shown before `a` approves it: `approvals.require_seen`."""
    confirmed: set[str] = field(default_factory=set[str])
    """Digests of what hides characters and was asked about once more."""
    line: int | None = None
    """The changed line under the cursor while lines are chosen."""
    _whole: tuple[Sequence[Hunk], TakenState] = ((), TakenState(sizes=()))
    """All taken of the hunks asked about last: an answering key asks dozens of times about the same."""

    def taken_of(self, detail: ActionDetail) -> TakenState:
        """Return what is taken of an action, or was."""
        if detail.was_taken is not None:
            return detail.was_taken
        if detail.id in self._heirs:
            self._carry(detail, self._heirs.pop(detail.id))
        taken = self.taken.get(detail.id)
        if taken is None:
            if self._whole[0] is not detail.hunks:
                self._whole = detail.hunks, TakenState.of(detail.hunks)
            taken = self._whole[1]
        return taken

    def take(self, detail: ActionDetail, taken: TakenState) -> None:
        """Choose what is taken of an action."""
        self.taken[detail.id], self._made_of[detail.id] = taken, detail.hunks

    def _carry(self, detail: ActionDetail, old: str) -> None:
        """Leave out of an action what was left out of the one that it stands in for."""
        hunks, state = self._made_of.pop(old), self.taken.pop(old)
        taken, self.lines_gone[detail.id] = carried(hunks, state, detail.hunks)
        self.take(detail, taken)

    def succeed(self, old: str, new: str) -> None:
        """Keep for an action with other bytes what was left out of the one that it stands in for."""
        first = self._heirs.pop(old, old)
        if first in self.taken and new not in self.taken:
            self._heirs[new] = first
        if self.edits.pop(old, None) is not None:
            self.texts_gone.add(new)

    @property
    def chosen(self) -> set[str]:
        """Return the actions of which something was chosen."""
        return {*self.taken, *self.edits, *self._heirs}

    def hunk_of(self, detail: ActionDetail) -> int | None:
        """Return the hunk under the cursor; None without hunks."""
        return min(self.hunks.get(detail.id, 1), len(detail.hunks)) or None

    def choice_of(self, detail: ActionDetail) -> str | None:
        """Return the key of the chosen choice, once answered that of the answer; None when there is none."""
        if not detail.is_pending:
            return detail.chosen
        at = self.choices.get(detail.id, 0)
        return detail.choices[at].key if at < len(detail.choices) else None

    def choose(self, detail: ActionDetail, step: int) -> None:
        """Choose the next (1) or previous (-1) of the offered choices."""
        if detail.choices:
            at = self.choices.get(detail.id, 0) + step
            self.choices[detail.id] = max(0, min(at, len(detail.choices) - 1))

    def to_hunk(self, detail: ActionDetail, step: int) -> None:
        """Go to the next (1) or previous (-1) hunk, as far as there are any."""
        at = (self.hunk_of(detail) or 1) + step
        self.hunks[detail.id] = max(1, min(at, len(detail.hunks)))

    def toggle_hunk(self, detail: ActionDetail) -> None:
        """Leave the hunk under the cursor, or take it."""
        if hunk := self.hunk_of(detail):
            self.take(detail, self.taken_of(detail).toggle_hunk(hunk))

    def toggle_line(self, detail: ActionDetail) -> None:
        """Leave the line under the cursor, or take it."""
        hunk = self.hunk_of(detail)
        if hunk and self.line is not None:
            self.take(detail, self.taken_of(detail).toggle_line(hunk, self.line))

    def to_line(self, detail: ActionDetail, step: int) -> None:
        """Go to the next or previous changed line, into the neighbouring hunk at the ends."""
        hunk = self.hunk_of(detail)
        if hunk is None or self.line is None:
            return
        size = self.taken_of(detail).line_counts(hunk)[1]
        at = self.line + step
        if 1 <= at <= size:
            self.line = at
        elif 1 <= hunk + step <= len(detail.hunks):
            self.hunks[detail.id] = hunk + step
            self.line = 1 if step > 0 else self.taken_of(detail).line_counts(hunk + step)[1]

    def inherit(self, old: str, new: str) -> None:
        """Let an action with the same bytes keep what was chosen of the one it stands in for."""
        for memory in (self.taken, self._made_of, self.hunks, self.choices, self.edits):
            if old in memory:
                memory[new] = memory.pop(old)  # type: ignore[assignment,index]
        self.seen = self.seen.mark(new, self.seen.shown.get(old, frozenset[int]()))

    def unseen(self, detail: ActionDetail) -> tuple[int, ...]:
        """Return the parts that an approval takes and that were not on the screen yet."""
        has_rest = any(not file.hunks for file in detail.files)
        return self.seen.unseen(
            detail.id, self.taken_of(detail), every=detail.must_see_all, has_rest=has_rest
        )

    def seen_by(self, detail: ActionDetail) -> SeenBy:
        """Return what the record says of an approval: whether all of it was on the screen."""
        return "part" if self.unseen(detail) else "all"

    def approval(self, detail: ActionDetail) -> Decide:
        """Return the approval of what is taken of an action."""
        selection = self.taken_of(detail).to_selection() if detail.hunks else None
        return Decide(detail.id, "approve", detail.digest, selection=selection, seen=self.seen_by(detail))

    def was_shown(self, action_id: str, parts: Collection[int], gone: Collection[int], left: int) -> None:
        """Note which parts of an action were on the screen, which left too early, and the lines left."""
        self.seen = self.seen.mark(action_id, parts).unmark(action_id, gone)
        self.lines_left[action_id] = left

    def was_edited(self, action_id: str) -> None:
        """Forget what was taken and seen of a proposal: the user's own text stands in its place."""
        self.taken.pop(action_id, None)
        self._made_of.pop(action_id, None)
        self.seen = self.seen.forget([action_id])

    def insists(self, detail: ActionDetail) -> bool:
        """Return whether `a` shows what was not on the screen before it approves."""
        return bool(self.unseen(detail)) and (self.requires_seen or detail.must_see_all)

    def forget(self, kept: Collection[str]) -> None:
        """Forget what is not in the queue any more."""
        kept = {*kept, *self._heirs.values()}
        memories = (self.taken, self._made_of, self.hunks, self.choices, self.edits, self._heirs)
        for memory in (*memories, self.lines_left, self.lines_gone):
            for gone in memory.keys() - kept:
                del memory[gone]
        self.texts_gone &= kept
        self.marks &= set(kept)
        self.seen = self.seen.forget(self.seen.shown.keys() - kept)
