"""What the user has selected of an action, and what the deciding keys would do with it, in words.

Pure: labels, titles, reasons why a key is off, sentences of results. A typed reason answers what it was asked
for, whatever came under the cursor meanwhile.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct, field
from textual.content import Content

from workbench.domain.values import Decision, Hunk, Place, SeenExtent
from workbench.render.approvals import URGENCY_COLORS
from workbench.render.cells import safe_content
from workbench.render.glyphs import Glyphs
from workbench.render.theme import Ink
from workbench.text.human import time_left_text
from workbench.text.safe import one_line
from workbench.tui.pane import DecisionMade, DecisionReported
from workbench.views import action_detail
from workbench.views.action_detail import ActionDetail
from workbench.views.approvals import QueueRow, QueueSummary
from workbench.views.hunk_selection import HunkSelection, SeenHunks, carried_selection

if TYPE_CHECKING:
    from workbench.journal.decisions import DecisionResult


_MAX_CHOICES_BEFORE: Final = 16
"""Keys that chose of which it is known what was chosen before."""


class ApprovalSelection(Struct):
    """Everything chosen, by action id."""

    taken: dict[str, HunkSelection] = field(default_factory=dict[str, HunkSelection])
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
    stops: dict[str, int] = field(default_factory=dict[str, int])
    """Which changed part of that hunk, from 0, where very long lines have several."""
    choices: dict[str, int] = field(default_factory=dict[str, int])
    """Which of the offered choices is chosen."""
    _choices_before: list[tuple[float, str, int]] = field(default_factory=list[tuple[float, str, int]])
    """What was chosen before the newest keys that chose: when, of which action, which."""
    places: dict[str, Place] = field(default_factory=dict[str, Place])
    """Where commands run that were asked about with another place."""
    _places_before: list[tuple[float, str, Place]] = field(default_factory=list[tuple[float, str, Place]])
    """Where commands ran before the newest keys that moved them: when, of which action, where."""
    edits: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    """What the user made of a proposal in an editor: path to bytes."""
    seen: SeenHunks = field(default_factory=SeenHunks)
    marks: set[str] = field(default_factory=set[str])
    lines_left: dict[str, int] = field(default_factory=dict[str, int])
    """Lines that were not on the screen yet, of actions of which one part is left."""
    requires_seen: bool = True
    """Whether all that is taken is shown before `a` approves it: `approvals.require_seen`."""
    takes_single_press: bool = False
    """Whether one press approves an edit that can be undone: `approvals.single_press`."""
    confirmed: set[str] = field(default_factory=set[str])
    """Digests of what hides characters and was asked about once more."""
    line: int | None = None
    """The changed line under the cursor while lines are chosen."""
    _whole: tuple[Sequence[Hunk], HunkSelection] = ((), HunkSelection(sizes=()))
    """All taken of the hunks asked about last: an answering key asks dozens of times about the same."""

    def taken_of(self, detail: ActionDetail) -> HunkSelection:
        """Return what is taken of an action, or was."""
        if detail.was_taken is not None:
            return detail.was_taken
        if detail.id in self._heirs:
            self._carry(detail, self._heirs.pop(detail.id))
        taken = self.taken.get(detail.id)
        if taken is None:
            if self._whole[0] is not detail.hunks:
                self._whole = detail.hunks, HunkSelection.of(detail.hunks)
            taken = self._whole[1]
        return taken

    def take(self, detail: ActionDetail, taken: HunkSelection) -> None:
        """Choose what is taken of an action."""
        self.taken[detail.id], self._made_of[detail.id] = taken, detail.hunks

    def _carry(self, detail: ActionDetail, old: str) -> None:
        """Leave out of an action what was left out of the one that it stands in for."""
        hunks, state = self._made_of.pop(old), self.taken.pop(old)
        taken, self.lines_gone[detail.id] = carried_selection(hunks, state, detail.hunks)
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
        index = self.choices.get(detail.id, 0)
        return detail.choices[index].key if index < len(detail.choices) else None

    def choose(self, detail: ActionDetail, step: int, at: float) -> None:
        """Choose the next (1) or previous (-1) of the offered choices, at a monotonic time in seconds."""
        if detail.choices:
            before = self.choices.get(detail.id, 0)
            self._choices_before = [*self._choices_before, (at, detail.id, before)][-_MAX_CHOICES_BEFORE:]
            index = before + step
            self.choices[detail.id] = max(0, min(index, len(detail.choices) - 1))

    def choose_key(self, detail: ActionDetail, key: str) -> None:
        """Choose the offered choice of a key."""
        self.choices[detail.id] = [choice.key for choice in detail.choices].index(key)

    def place_of(self, detail: ActionDetail) -> Place | None:
        """Return where the command of an action runs if it is approved now, or ran; None of all else."""
        return (self.places.get(detail.id) if detail.is_pending else None) or detail.place

    def move_command(self, detail: ActionDetail, at: float) -> None:
        """Let a command run on the other side of the sandbox, at a monotonic time in seconds."""
        before = self.place_of(detail)
        if before is not None:
            noted: tuple[float, str, Place] = (at, detail.id, before)
            self._places_before = [*self._places_before, noted][-_MAX_CHOICES_BEFORE:]
            self.places[detail.id] = "outside" if before == "inside" else "inside"

    def restore_choices(self, since: float) -> bool:
        """Choose again what was chosen at a monotonic time; return whether anything was chosen since."""
        places = [before for before in self._places_before if before[0] >= since]
        self._places_before = [before for before in self._places_before if before[0] < since]
        for _, action_id, place in reversed(places):
            self.places[action_id] = place
        moved = [before for before in self._choices_before if before[0] >= since]
        self._choices_before = [before for before in self._choices_before if before[0] < since]
        for _, action_id, index in reversed(moved):
            self.choices[action_id] = index
        return bool(moved or places)

    def go_to_hunk(self, action_id: str, hunk: int, stop: int = 0) -> None:
        """Put the cursor on a hunk, or on one of its changed parts."""
        self.hunks[action_id], self.stops[action_id] = hunk, stop

    def to_hunk(self, detail: ActionDetail, step: int) -> None:
        """Go to the next (1) or previous (-1) hunk, as far as there are any."""
        hunk = (self.hunk_of(detail) or 1) + step
        self.go_to_hunk(detail.id, max(1, min(hunk, len(detail.hunks))))

    def to_stop(self, detail: ActionDetail, step: int, stops_of: Callable[[int], int]) -> None:
        """Go to the next (1) or previous (-1) changed part, into the neighbouring hunk at the ends.

        Args:
            detail: the action.
            step: the direction.
            stops_of: how many changed parts a hunk has.
        """
        hunk = self.hunk_of(detail) or 1
        stop = min(self.stops.get(detail.id, 0), stops_of(hunk) - 1) + step
        if 0 <= stop < stops_of(hunk):
            self.go_to_hunk(detail.id, hunk, stop)
        elif 1 <= hunk + step <= len(detail.hunks):
            self.go_to_hunk(detail.id, hunk + step, 0 if step > 0 else stops_of(hunk + step) - 1)

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
        line = self.line + step
        if 1 <= line <= size:
            self.line = line
        elif 1 <= hunk + step <= len(detail.hunks):
            self.go_to_hunk(detail.id, hunk + step)
            self.line = 1 if step > 0 else self.taken_of(detail).line_counts(hunk + step)[1]

    def inherit(self, old: str, new: str) -> None:
        """Let an action with the same bytes keep what was chosen of the one it stands in for."""
        for memory in (
            self.taken, self._made_of, self.hunks, self.stops, self.choices, self.places, self.edits
        ):  # fmt: skip
            if old in memory:
                memory[new] = memory.pop(old)  # type: ignore[assignment,index]
        self.seen = self.seen.mark(new, self.seen.shown.get(old, frozenset[int]()))

    def unseen(self, detail: ActionDetail) -> tuple[int, ...]:
        """Return the parts that an approval takes and that were not on the screen yet."""
        has_rest = any(not file.hunks for file in detail.files)
        return self.seen.unseen(
            detail.id, self.taken_of(detail), every=detail.must_see_all, has_rest=has_rest
        )

    def seen_by(self, detail: ActionDetail) -> SeenExtent:
        """Return what the record says of an approval: whether all of it was on the screen."""
        return "part" if self.unseen(detail) else "all"

    def approval(self, detail: ActionDetail) -> DecisionMade:
        """Return the approval of what is taken of an action."""
        has_parts = bool(detail.hunks) and detail.kind != "files"
        selection = self.taken_of(detail).to_selection() if has_parts else None
        seen = self.seen_by(detail)
        decision = Decision(
            action_id=detail.id, verdict="approve", selection=selection, seen=seen,
            place=self.place_of(detail),
        )  # fmt: skip
        return DecisionMade(decision, detail.digest)

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
        return detail.is_pending and bool(self.unseen(detail)) and (self.requires_seen or detail.must_see_all)

    def forget(self, kept: Collection[str]) -> None:
        """Forget what is not in the queue any more."""
        kept = {*kept, *self._heirs.values()}
        memories = (self.taken, self._made_of, self.hunks, self.stops, self.choices, self.edits, self._heirs)
        for memory in (*memories, self.places, self.lines_left, self.lines_gone):
            for gone in memory.keys() - kept:
                del memory[gone]
        self.texts_gone &= kept
        self.marks &= set(kept)
        self.seen = self.seen.forget(self.seen.shown.keys() - kept)


def is_undoable(detail: ActionDetail | None) -> bool:
    """Return whether an approval of an action changes files only, without a warning: it can be undone."""
    if detail is None or detail.kind != "tool" or detail.is_stale:
        return False
    has_doubt = bool(detail.warnings) or detail.must_see_all
    return bool(detail.files) and detail.command is None and not has_doubt


MAX_LAST_LINE_CELLS: Final = 40
"""Of the last line of what is not on the screen yet."""
NO_ROW: Final = "nothing is under the cursor"
REJECTING_CHOICES: Final = frozenset({"reject", "not_now"})
"""Choices that say no."""
TRUST_HINT: Final = "h l choose, ctrl+t answers"
"""Why no letter answers whether a workspace is trusted."""


def approve_label(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    """Return what `a` does: `approve 2 of 3`, `see 2 more hunks`, `run once`, the chosen answer."""
    if choosing.marks:
        return f"approve {len(choosing.marks)} marked…"
    if detail.reopening is not None:
        return detail.reopening.label
    if detail.is_stale:
        return "new diff"
    if detail.kind == "question" and not detail.choices:
        return "answer…"
    if detail.choices:
        return _choice_label(detail, choosing)
    if detail.id in choosing.edits:
        return "approve your text"
    unseen, words = unseen_text(detail, choosing), _what_approving_does(detail, choosing)
    if unseen and choosing.insists(detail):
        return f"see {unseen}, then {words}" if words else f"see {unseen}"
    base = f"approve {words}" if words else run_words(detail, choosing)
    base = words if detail.kind == "files" else base
    return f"{base}, {unseen} unseen" if unseen else base


def run_words(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    """Return what approving an action without parts does: `run inside`, `run once`, `approve`."""
    if detail.command is None:
        return "approve"
    place = choosing.place_of(detail)
    return "run once" if place is None else f"run {place}"


def _what_approving_does(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    return "keep" if detail.kind == "files" else choosing.taken_of(detail).words()


def unseen_text(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    """Return how much of an action was not on the screen yet: `2 more hunks`; empty if all of it was."""
    unseen, lines = choosing.unseen(detail), choosing.lines_left.get(detail.id, 0)
    if not unseen:
        return ""
    if len(unseen) > 1 or (not lines and detail.hunks):
        return f"{len(unseen)} more hunk{'s' if len(unseen) > 1 else ''}"
    return f"{lines} more line{'s' if lines != 1 else ''}" if lines else "the rest"


class NextPart(Struct, frozen=True, kw_only=True):
    """What was scrolled to, and what of an action is below it."""

    hunk: int | None = None
    stop: int = 0
    """Which of its changed parts, from 0."""
    hunks: int = 0
    lines: int = 0
    last: str = ""
    """The last of these lines."""


def remaining_sentence(following: NextPart, key: str, other: str = "") -> str:
    """Return what is said of what is left after the next part of an action was shown.

    Args:
        following: the part, and what is below it.
        key: that goes on.
        other: what else can be done, as words that go on from there.
    """
    again = f"Look, then {key} again{other}."
    if following.hunks > 1:
        return f"{following.hunks} more hunks. {again}"
    if not following.lines:
        return f"This is the rest. {again}"
    lines = f"{following.lines} more line{'s' if following.lines > 1 else ''}"
    last = f", last: {one_line(following.last, MAX_LAST_LINE_CELLS)}" if following.last else ""
    return f"{lines}{last}. {again}"


_TRUST_CHOICES: Final = {
    "trust": "trust",
    "trust_and_read": "trust, agents may read",
    "trust_and_sandbox": "trust, agents may read and run inside",
    "not_now": "not now",
}


def gate_label(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    """Return what `a` does to a gate beside its graph: `see the rest`, else the chosen answer."""
    is_next = detail.is_pending and choosing.insists(detail)
    return f"see {unseen_text(detail, choosing)}" if is_next else _choice_label(detail, choosing)


def _choice_label(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    key = choosing.choice_of(detail)
    if detail.kind == "trust":
        words, unseen = _TRUST_CHOICES.get(key or "", "answer"), unseen_text(detail, choosing)
        return f"see {unseen}, then {words}" if unseen and choosing.insists(detail) else words
    return next((choice.label for choice in detail.choices if choice.key == key), "answer").lower()


def why_not_approve(detail: ActionDetail | None, choosing: ApprovalSelection) -> str:
    """Return why nothing can be approved; empty when it can be, as in all functions of this name."""
    if choosing.marks:
        return ""
    if detail is None:
        return NO_ROW
    if detail.kind == "trust":
        return action_detail.why_not_answerable(detail, "approve") or TRUST_HINT
    if detail.is_stale and detail.is_pending:
        return ""
    if detail.reopening is not None:
        return detail.reopening.why_not
    return _why_nothing_taken(detail, choosing)


def why_not_approve_unseen(detail: ActionDetail | None, choosing: ApprovalSelection) -> str:
    """Return why nothing can be approved that was not on the screen."""
    if detail is None:
        return NO_ROW
    if detail.kind == "trust" and not choosing.marks:
        return action_detail.why_not_answerable(detail, "approve") or TRUST_HINT
    return _why_not_unseen(detail, choosing) or _why_nothing_taken(detail, choosing)


def _why_nothing_taken(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    if choosing.taken_of(detail).is_nothing:
        return "nothing is taken: space takes a hunk, r rejects all"
    return action_detail.why_not_answerable(detail, "approve")


def why_not_reject(detail: ActionDetail | None, choosing: ApprovalSelection) -> str:
    """Return why the action under the cursor cannot be rejected."""
    if detail is not None and detail.kind == "trust" and not choosing.marks:
        return action_detail.why_not_answerable(detail, "approve") or TRUST_HINT
    return why_not_answerable(detail, "reject")


def why_not_answerable(
    detail: ActionDetail | None, verdict: Literal["approve", "reject", "extend", "edit"]
) -> str:
    """Return why the action under the cursor does not take a verdict."""
    return NO_ROW if detail is None else action_detail.why_not_answerable(detail, verdict)


def why_not_mark(row: QueueRow | None) -> str:
    """Return why a row cannot be marked for a batch."""
    if row is not None and row.can_batch:
        return ""
    if row is None or not row.is_pending:
        return "only what waits can be marked"
    if row.verb == "trust":
        return "the trust question is answered by itself"
    return f"{_ARTICLES.get(row.verb, 'a')} {row.verb} like this one is answered by itself"


def rule_marked_sentence(rule: str, count: int, *, is_marked: bool) -> str:
    """Return what is said once edits for one rule of a linter were marked or unmarked."""
    edits = "1 edit" if count == 1 else f"{count} edits"
    way = "a looks at each and approves" if is_marked else "nothing of them is marked"
    return f"{edits} for {one_line(rule, _MAX_NAMED_CELLS)}: {way}."


_ARTICLES: Final = {"ask": "an", "edit": "an"}


def _why_not_unseen(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    """Return why nothing is approved unseen; empty where it can be."""
    if not detail.is_pending:
        return f"it is {detail.state_word}"
    if detail.is_stale:
        return "the file changed; a makes the new diff"
    if choosing.marks:
        return "of several each is looked at; a opens the table"
    if not choosing.unseen(detail):
        return "all of it was on the screen; a approves it"
    return "it deletes or carries a warning: a shows all of it first" if detail.must_see_all else ""


def why_no_rule(detail: ActionDetail | None) -> str:
    """Return why no rule can be made of an action; what the gate said of it is believed."""
    if detail is None:
        return NO_ROW
    if detail.kind != "tool" or not detail.tool:
        return "only calls of tools can be covered by a rule"
    if not detail.is_pending:
        return f"it is {detail.state_word}"
    if detail.is_stale:
        return "the file changed; make the new diff first"
    return detail.why_no_rule


def why_not_move_command(detail: ActionDetail | None, choosing: ApprovalSelection) -> str:
    """Return why a command cannot run on the other side of the sandbox."""
    if detail is None:
        return NO_ROW
    if detail.place is None:
        return "only commands run inside or outside the sandbox"
    if not detail.is_pending:
        return f"it is {detail.state_word}"
    if detail.level is None and choosing.place_of(detail) == "outside":
        return "it can only run outside the sandbox"
    return ""


def why_no_undo(detail: ActionDetail | None) -> str:
    """Return why the change of an action cannot be undone."""
    if detail is None:
        return NO_ROW
    if detail.is_pending:
        return "nothing was applied yet"
    if detail.kind == "files":
        return "it is an answer about files; undo the change of the call that wrote them"
    if not detail.files:
        return "it changed no file"
    if not detail.has_bytes:
        return "it was done in the session that this one was forked from; undo it there"
    if detail.is_undone:
        return "it is undone already"
    return "" if detail.outcome == "ok" or detail.sign in ("ok", "partly") else "it was not applied"


def why_not_propose_again(detail: ActionDetail | None, *, is_all: bool = False) -> str:
    """Return why the agent cannot be asked to propose an action, or all like it, again."""
    if detail is None:
        return NO_ROW
    if detail.again is None:
        return "only what expired can be proposed again"
    is_one = is_all and not detail.again.why_not and len(detail.again.ids) <= 1
    return "only this one of its session expired; p asks for it" if is_one else detail.again.why_not


def why_no_hunks(detail: ActionDetail | None) -> str:
    """Return why there is no hunk to go to."""
    if detail is None:
        return NO_ROW
    return "" if detail.hunks else "there are no hunks here"


def why_not_select(detail: ActionDetail | None, choosing: ApprovalSelection) -> str:
    """Return why no hunk or line can be taken or left out."""
    if detail is None or not detail.hunks:
        return why_no_hunks(detail)
    if not detail.is_pending:
        return "it is decided"
    if detail.kind == "files":
        return action_detail.AS_FOUND
    return "your text is taken whole" if detail.id in choosing.edits else ""


def why_no_diff(detail: ActionDetail | None) -> str:
    """Return why there is no diff to draw another way."""
    if detail is None:
        return NO_ROW
    return "" if detail.files else "there is no diff here"


def why_one_file(detail: ActionDetail | None) -> str:
    """Return why there is no other file to go to."""
    return why_no_diff(detail) or ("it has one file" if detail is not None and len(detail.files) == 1 else "")


_RESULT_SENTENCES: Final = {
    "decided": "It was decided already, {by}.",
    "expired": "It expired before the answer. Nothing was done; p asks the agent for it again.",
    "superseded": "Another one replaces it now. Nothing was done.",
    "cancelled": "It does not wait any more. Its row says why.",
    "stale": "The file changed. Nothing was written; a makes the new diff.",
    "digest": "It is not what was shown. Nothing was done; look again.",
    "limit": "It was extended as often as it may be.",
    "choice": "It does not offer that answer.",
    "unknown": "It no longer exists.",
}


def decision_result_sentence(result: "DecisionResult") -> str:
    """Return why an answer did not count, in words; empty when it did."""
    if result.ok or result.why is None:
        return ""
    return _RESULT_SENTENCES[result.why].format(by=f"by {result.by}" if result.by else "elsewhere")


_UNDO_WAYS: Final = {
    "below": "its row below what waits, u",
    "hidden": "d shows its row, u there",
    "left": "esc, then u",
    "here": "u",
}
"""How a change is undone from where the cursor goes after its answer."""
_MAX_NAMED_CELLS: Final = 40


def answered_sentence(detail: ActionDetail | None, message: DecisionReported, way: str) -> str:
    """Return what is said of a call that was just answered, with how its change is undone.

    Args:
        detail: What was drawn when the answer was given.
        message: What came of it.
        way: A key of `_UNDO_WAYS`.
    """
    if detail is None or detail.id != message.action_id or detail.kind not in ("tool", "files"):
        return ""
    if detail.kind == "files":
        return _files_answer(detail, message)
    named = one_line(f"{detail.verb} {detail.target}", _MAX_NAMED_CELLS)
    if message.verdict != "approve":
        return f"Rejected: {named}."
    return f"Approved: {named}. To undo: {_UNDO_WAYS[way]}." if detail.files else f"Approved: {named}."


def _files_answer(detail: ActionDetail, message: DecisionReported) -> str:
    named = one_line(detail.target, _MAX_NAMED_CELLS)
    if message.verdict == "approve":
        return f"Kept: {named}."
    return f"To be put back: {named}." if detail.files else f"Noted, nothing can be put back: {named}."


NARROW_LABEL_COLUMNS: Final = 100
"""Columns below which labels are short."""


def waiting_caption(
    summary: QueueSummary,
    colours: Ink,
    glyphs: Glyphs,
    *,
    is_zoomed: bool,
    has_rows: bool,
    is_wide: bool,
    whose: str,
) -> Content:
    """Return what stands beside the pane's name: `◆ 6  of 2 sessions`; over decided rows that none waits.

    `is_wide`: the queue is that of all folders, which is said. `whose`: that it is not only of the session
    on show.
    """
    muted = colours.of("muted")
    where = Content.styled("  all folders" if is_wide else "", muted)
    if not summary.waiting:
        ok = Content.styled(glyphs.of("ok"), colours.sign("ok"))
        return Content.assemble(ok, (" nothing waits", muted), where) if has_rows or is_wide else Content(" ")
    facts = Content.styled(f"{glyphs.of('waiting')} {summary.waiting}", colours.of("waiting", bold=True))
    if whose:
        return facts + safe_content(f"  {glyphs.line(whose)}", muted) + where
    if not is_zoomed:
        return facts + where
    plural = "s" if summary.sessions > 1 else ""
    return facts + Content.styled(f"  of {summary.sessions} session{plural}", muted) + where


def order_caption(words: str, colours: Ink, glyphs: Glyphs, *, is_zoomed: bool) -> Content:
    """Return order or filter; zoomed with the keys that change them."""
    muted, key = colours.of("muted"), colours.of("info", bold=True)
    said = Content.styled(glyphs.line(words), muted)
    if not is_zoomed:
        return said
    return Content.assemble(said, "  ", ("o", key), (" order  ", muted), ("/", key), (" filter", muted))


def full_screen_title(detail: ActionDetail, title: Content, colours: Ink) -> Content:
    """Return what a full-screen detail is about, and who asks, which no row says there."""
    by = f"   {detail.session_title}" if detail.session_title and detail.hunks else ""
    return Content.assemble(title, (by, colours.of("muted")))


def time_left_caption(row: QueueRow | None, colours: Ink, glyphs: Glyphs) -> Content:
    """Return the countdown of a row for a title, with its fuse; empty for what does not expire."""
    if row is None or row.left_seconds is None:
        return Content("")
    style = colours.of(URGENCY_COLORS[row.urgency], bold=row.urgency != "calm")
    return Content.styled(
        f"    {glyphs.countdown_bar(row.left_seconds)}  {time_left_text(row.left_seconds)}", style
    )


def position_caption(detail: ActionDetail, choosing: ApprovalSelection, stops: int = 1) -> str:
    """Return where in its detail the user is: `hunk 2 of 3   2 taken`; without hunks who asks.

    `stops` is how many changed parts the hunk has: `hunk 1 of 1, part 2 of 5   1 taken`.
    """
    hunk, taken = choosing.hunk_of(detail), choosing.taken_of(detail)
    if hunk is None:
        return f"asked by {detail.session_title}" if detail.session_title else " "
    where = f"hunk {hunk} of {len(detail.hunks)}"
    if stops > 1 and choosing.line is None:
        where += f", part {min(choosing.stops.get(detail.id, 0), stops - 1) + 1} of {stops}"
    if choosing.line is not None:
        return f"{where}   line {choosing.line}"
    has_choice = (detail.is_pending and detail.kind != "files") or detail.was_taken is not None
    lost = dropped_parts_caption(detail, choosing)
    return f"{where}   {taken.title_words()}{lost and f'   {lost}'}" if has_choice else where


def dropped_parts_caption(detail: ActionDetail, choosing: ApprovalSelection) -> str:
    """Return what was chosen of an action and is not in the one that stands in for it; empty for nothing."""
    lines = choosing.lines_gone.get(detail.id, 0)
    if not detail.is_pending:
        return ""
    if detail.id in choosing.texts_gone:
        return "your text was for the old diff, this is the agent's again"
    plural, verb = ("s", "are") if lines > 1 else ("", "is")
    return f"{lines} left-out line{plural} {verb} gone from the new diff" if lines else ""


def approval_key_label(
    key_id: str,
    detail: ActionDetail | None,
    choosing: ApprovalSelection,
    *,
    is_split: bool,
    width: int,
    stops: int = 1,
) -> str | None:
    """Return what a key does to what is drawn; None where the table's word says it.

    `stops` is how many changed parts the hunk under the cursor has.
    """
    if key_id == "approvals.hunk-previous" and stops > 1 and choosing.line is None:
        return "part"
    if key_id == "approvals.layout":
        return "unified" if is_split else "split"
    if key_id == "list.open":
        return "full diff" if detail is None or detail.files else "full screen"
    if detail is None:
        is_batch = key_id == "approvals.approve" and choosing.marks
        return "approve marked…" if is_batch else None
    if key_id in ("approvals.approve", "trust.answer"):
        return approve_label(detail, choosing)
    if key_id == "approvals.place":
        return "inside instead" if choosing.place_of(detail) == "outside" else "outside instead"
    if key_id == "approvals.reject" and detail.kind == "files" and not choosing.marks:
        return "put back" if detail.files else "not kept"
    if key_id == "approvals.propose-all-again" and detail.again is not None:
        return f"all {len(detail.again.ids)} again"
    if key_id == "approvals.hunk-toggle" and width < NARROW_LABEL_COLUMNS:
        hunk = choosing.hunk_of(detail)
        return "take" if hunk and choosing.taken_of(detail).state_of(hunk) == "left" else "leave"
    return None


class ReasonInput:
    """The line at the bottom, while it is about an action."""

    def __init__(self) -> None:
        self.about: ActionDetail | None = None
        """What was drawn when the line was asked for."""
        self.seen: SeenExtent | None = None
        """How much of it was on the screen by then."""
        self.reasons: list[str] = []
        """Reasons given before, the newest first."""

    def send(self, purpose: str, text: str) -> DecisionMade | None:
        """Return the answer that a line means; None where it was about no action."""
        about, self.about = self.about, None
        if about is None:
            return None
        if purpose == "answer":
            decision = Decision(action_id=about.id, verdict="approve", text=text, seen=self.seen)
            return DecisionMade(decision, about.digest)
        if text:
            self.reasons = [text, *(reason for reason in self.reasons if reason != text)]
        keys = [choice.key for choice in about.choices]
        choice = next((key for key in keys if key in REJECTING_CHOICES), None)
        decision = Decision(action_id=about.id, verdict="reject", reason=text or None, choice=choice)
        return DecisionMade(decision, about.digest)
