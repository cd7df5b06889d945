"""The approval queue as rows, the choice of hunks of an action, and which hunks were drawn."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Final, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Hunk, SelectedHunk
from workbench.text.safe import one_line
from workbench.views.folders import NO_FOLDER, Folder
from workbench.views.status_icons import StatusName, action_status

QueueOrder = Literal["time", "new", "session"]
Urgency = Literal["calm", "soon", "now"]
QUEUE_ORDER_WORDS: Final[Mapping[QueueOrder, str]] = {
    "time": "by time left",
    "new": "newest first",
    "session": "by session",
}
SOON_SECONDS: Final = 300
NOW_SECONDS: Final = 60
CALM_COUNTDOWN_STEP: Final = 10
"""Above five minutes a countdown moves in steps of so many seconds."""
MAX_TARGET_CELLS: Final = 400
MAX_TITLE_CELLS: Final = 80
_MICROS = 1_000_000
_NO_CALLS: Mapping[str, Call] = {}
_NO_FOLDERS: Mapping[str, Folder] = {}
FOLDER_GONE: Final = "folder is gone"
"""The state of a row in whose folder nothing can be done now."""


class QueueRow(Struct, frozen=True, kw_only=True):
    """One row of the queue; equal rows are drawn alike, so `left_seconds` has the steps of the screen."""

    id: str
    """Of the action; of the call where a rule decided (`is_action` is False)."""
    sign: StatusName
    verb: str
    target: str
    added: int = 0
    removed: int = 0
    more_files: int = 0
    session_id: str = ""
    session_title: str = ""
    state_word: str = ""
    """`stale`, `! hidden`, `! 3`; of a decided one `2 of 3 hunks`, `approved`, `by rule R3`."""
    left_seconds: float | None = None
    clock: int | None = None
    """When it was decided; None where no times were recorded."""
    waited_seconds: int | None = None
    """How long one that does not expire has waited, in a replay."""
    is_pending: bool = True
    is_action: bool = True
    urgency: Urgency = "calm"
    warnings: tuple[str, ...] = ()
    """Without `stale`, which is the sign's."""
    mark: bool = False
    can_batch: bool = True
    """Gates, questions, trust and what carries a warning are answered one by one."""
    folder: str = ""
    """The name of its folder, where folders are told apart."""
    in_decided: bool = False
    """Stands below the line; a row decided a moment ago still stands among the waiting ones."""


class _RowInputs(NamedTuple):
    action: Action
    session: Session | None
    call: Call | None
    sizes: Sequence[int]
    left: float | None
    waited: int | None
    has_times: bool
    is_marked: bool
    is_undone: bool
    folder: Folder


QueueRowCache = dict[str, tuple[_RowInputs, QueueRow]]


class QueueSummary(Struct, frozen=True, kw_only=True):
    """The queue in three facts, for header, tab, title and bell."""

    waiting: int = 0
    first_left: float | None = None
    """Seconds that the first of them has left; None if none of them expires."""
    first_id: str | None = None
    """The one with the least time; without times the oldest."""
    urgency: Urgency = "calm"
    sessions: int = 0


def queue_rows(
    actions: Iterable[Action],
    sessions: Mapping[str, Session],
    now: int,
    *,
    order: QueueOrder = "time",
    text_filter: str = "",
    shows_decided: bool = True,
    marks: Collection[str] = frozenset[str](),
    calls: Mapping[str, Call] = _NO_CALLS,
    hunk_sizes: Mapping[str, Sequence[int]] | None = None,
    lingering: Collection[str] = frozenset[str](),
    ruled: Iterable[Call] = (),
    undone: Collection[str] = frozenset[str](),
    folders: Mapping[str, Folder] = _NO_FOLDERS,
    cache: QueueRowCache | None = None,
    has_times: bool = True,
    is_past: bool = False,
) -> tuple[QueueRow, ...]:
    """Return the rows: pending ones in the order asked for, then decided ones, newest first.

    `text_filter` holds words that a row must all have. Rows in `lingering` were decided a moment ago and keep
    their place. `ruled` are calls that a rule let pass. `folders` has the folder of each row by its id, where
    folders are told apart. `cache` is filled anew; a row whose inputs are those
    of the cache is taken from it. Without recorded times (`has_times`) no row has one. In a replay
    (`is_past`) a row that does not expire says how long it has waited.
    """
    sizes = hunk_sizes or {}
    before = {} if cache is None else dict(cache)
    after: QueueRowCache = {} if cache is None else cache
    after.clear()
    for action in actions:
        if action.state != "superseded":
            of = _RowInputs(
                action=action, session=sessions.get(action.session_id), call=calls.get(action.call_id or ""),
                sizes=sizes.get(action.id, ()), left=seconds_left(action, now),
                waited=_waited_seconds(action, now) if is_past and has_times else None, has_times=has_times,
                is_marked=action.id in marks, is_undone=action.id in undone,
                folder=folders.get(action.id, NO_FOLDER),
            )  # fmt: skip
            was = before.get(action.id)
            after[action.id] = was if was is not None and was[0] == of else (of, _action_row(of))
    pairs = [(of.action, row) for of, row in after.values()]
    waiting = [(a, row) for a, row in pairs if (row.is_pending or a.id in lingering)]
    waiting.sort(key=lambda pair: _sort_key(*pair, order))
    below = [row for a, row in pairs if not (row.is_pending or a.id in lingering)]
    below += [
        _rule_decided_row(call, sessions.get(call.session_id), folders.get(call.id, NO_FOLDER))
        for call in ruled
    ]
    below.sort(key=lambda row: (-(row.clock or 0), row.id))
    shown = [row for _, row in waiting]
    shown += [replace(row, in_decided=True) for row in below] if shows_decided else []
    return tuple(row for row in shown if matches_filter(row, text_filter))


def keep_shown_order(rows: Sequence[QueueRow], shown: Sequence[str]) -> tuple[QueueRow, ...]:
    """Return the rows in the order already shown, as while the pane has focus; new ones where they belong."""
    places = {key: place for place, key in enumerate(shown)}
    held = [row for row in rows if row.id in places and not row.in_decided]
    held.sort(key=lambda row: places[row.id])
    behind: dict[str | None, list[QueueRow]] = {}
    before: str | None = None
    for row in rows:
        if row.in_decided:
            break
        if row.id in places:
            before = row.id
        else:
            behind.setdefault(before, []).append(row)
    ordered = list(behind.get(None, ()))
    for row in held:
        ordered += [row, *behind.get(row.id, ())]
    return (*ordered, *(row for row in rows if row.in_decided))


def queue_summary(actions: Iterable[Action], now: int) -> QueueSummary:
    """Return how many actions wait and how long the first of them has."""
    waiting = [action for action in actions if action.state == "pending"]
    if not waiting:
        return QueueSummary()
    first = min(waiting, key=_time_sort_key)
    left = seconds_left(first, now)
    return QueueSummary(
        waiting=len(waiting), first_left=left, first_id=first.id, urgency=urgency_for(left),
        sessions=len({action.session_id for action in waiting}),
    )  # fmt: skip


def next_waiting_id(rows: Sequence[QueueRow], after: str | None, *, step: int = 1) -> str | None:
    """Return the id of the next (1) or previous (-1) row that waits, round the end; None if nothing waits."""
    index = next((n for n, row in enumerate(rows) if row.id == after), None)
    if index is None:
        index = -1 if step > 0 else 0
    for distance in range(1, len(rows) + 1):
        row = rows[(index + step * distance) % len(rows)]
        if row.is_pending:
            return row.id
    return None


def with_countdown_in_minutes(row: QueueRow) -> QueueRow:
    """Return a row whose countdown moves once a minute, for screens without motion."""
    if row.left_seconds is None:
        return row
    return replace(row, left_seconds=max(float(NOW_SECONDS - 1), row.left_seconds // 60 * 60))


def matches_filter(row: QueueRow, text_filter: str) -> bool:
    """Return whether a row holds every word of a filter, whatever the case."""
    if not text_filter:
        return True
    text = f"{row.verb} {row.target} {row.state_word} {row.session_title} {row.folder}".casefold()
    return all(word in text for word in text_filter.casefold().split())


def urgency_for(left_seconds: float | None) -> Urgency:
    """Return how near the end is: `soon` below five minutes, `now` below one."""
    if left_seconds is None or left_seconds >= SOON_SECONDS:
        return "calm"
    return "soon" if left_seconds >= NOW_SECONDS else "now"


def seconds_left(action: Action, now: int) -> float | None:
    """Return the seconds a pending action has left in steps of the screen; None if it does not expire."""
    if action.state != "pending" or action.expires_at is None:
        return None
    left = ceil(max(0, action.expires_at - now) / _MICROS)
    return float(left if left < SOON_SECONDS else left - left % CALM_COUNTDOWN_STEP)


def _waited_seconds(action: Action, now: int) -> int | None:
    if action.state != "pending" or action.expires_at is not None:
        return None
    return max(0, now - action.created_at) // _MICROS


def _action_row(of: _RowInputs) -> QueueRow:
    action, left = of.action, of.left
    sign, word = action_status(action, of.call, is_undone=of.is_undone)
    is_pending = action.state == "pending"
    risks = tuple(one_line(warning, 40) for warning in action.warnings if warning != "stale")
    if sign == "partly" and (taken := taken_text(action.selection or (), of.sizes)):
        word = taken if taken.endswith("lines") else f"{taken} hunks"
    verb, target = action_words(action, of.folder)
    if of.folder.is_gone and is_pending:
        risks, word = (FOLDER_GONE, *risks), FOLDER_GONE
    return QueueRow(
        id=action.id, sign=sign, verb=verb, target=target,
        added=action.added, removed=action.removed, more_files=max(0, len(action.files) - 1),
        session_id=action.session_id, session_title=_session_title(of.session),
        state_word=_risk_word(risks, word) if is_pending else word, left_seconds=left,
        clock=action.decided_at if of.has_times else None, waited_seconds=of.waited,
        is_pending=is_pending, urgency=urgency_for(left),
        warnings=risks, mark=of.is_marked,
        can_batch=is_pending and action.kind == "tool" and not action.warnings, folder=of.folder.name,
    )  # fmt: skip


def action_words(action: Action, folder: Folder) -> tuple[str, str]:
    """Return the verb and what it acts on, safe; a trust question says which folder, if it is another one."""
    if action.kind == "trust":
        return "trust", folder.path if folder.is_other else "this folder"
    return one_line(action.verb, 5), one_line(action.target, MAX_TARGET_CELLS)


def _risk_word(risks: Sequence[str], word: str) -> str:
    if word in ("stale", FOLDER_GONE):
        return word
    if not risks:
        return ""
    return f"! {risks[0]}" if len(risks) == 1 else f"! {len(risks)}"


TOOL_VERBS: Final[Mapping[str, str]] = {
    "create_file": "write", "create_directory": "write", "replace_string_in_file": "edit",
    "git.preparePr": "write", "read_file": "read", "context.read": "read", "list_dir": "read",
    "file_search": "read", "grep_search": "read", "terminal_last_command": "read", "fetch_webpage": "fetch",
}  # fmt: skip
"""What the tools do that do not run something; actions carry the verb of theirs, calls do not."""


def _rule_decided_row(call: Call, session: Session | None, folder: Folder) -> QueueRow:
    return QueueRow(
        id=call.id, sign="rule", verb=TOOL_VERBS.get(call.tool, "run"),
        target=one_line(call.target, MAX_TARGET_CELLS),
        session_id=call.session_id, session_title=_session_title(session),
        clock=call.finished_at or call.requested_at,
        state_word=f"by rule {call.rule}" if call.rule else "by the settings", is_pending=False,
        is_action=False,
        can_batch=False, folder=folder.name,
    )  # fmt: skip


def _session_title(session: Session | None) -> str:
    return one_line(session.title, MAX_TITLE_CELLS) if session else ""


def _time_sort_key(action: Action) -> tuple[bool, int, int, str]:
    return action.expires_at is None, action.expires_at or 0, action.created_at, action.id


def _sort_key(action: Action, row: QueueRow, order: QueueOrder) -> tuple[object, ...]:
    if order == "new":
        return (-action.created_at, action.id)
    if order == "session":
        return (row.session_title.casefold(), row.session_id, *_time_sort_key(action))
    return _time_sort_key(action)


HunkState = Literal["taken", "left", "partly"]
WHOLE_ACTION = 0
"""Stands for the body of an action without hunks in `SeenHunks`."""


def hunk_sizes(hunks: Iterable[Hunk]) -> tuple[int, ...]:
    """Return how many changed lines each hunk has, by its index less 1."""
    return tuple(sum(sign in "+-" for sign, _ in hunk.lines) for hunk in hunks)


def taken_text(selection: Sequence[SelectedHunk], sizes: Sequence[int]) -> str:
    """Return what was taken of an action: `2 of 3`, `5 of 9 lines`; empty if its hunks are not known."""
    if not sizes:
        return ""
    if all(piece.lines is None for piece in selection):
        return f"{len(selection)} of {len(sizes)}"
    known = (piece for piece in selection if 1 <= piece.hunk <= len(sizes))
    taken = sum(sizes[piece.hunk - 1] if piece.lines is None else len(piece.lines) for piece in known)
    return f"{taken} of {sum(sizes)} lines"


class HunkSelection(Struct, frozen=True, kw_only=True):
    """Which hunks and lines of an action are left; everything else is taken. All count from 1."""

    sizes: tuple[int, ...]
    """How many changed lines each hunk has, by its index less 1."""
    left: Mapping[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """Hunk index to the lines left; a hunk that is not here is taken whole."""

    @classmethod
    def of(cls, hunks: Sequence[Hunk]) -> "HunkSelection":
        """Return the state of an action nobody chose anything of yet: all taken."""
        return cls(sizes=hunk_sizes(hunks))

    @classmethod
    def decided(cls, hunks: Sequence[Hunk], selection: Sequence[SelectedHunk]) -> "HunkSelection":
        """Return what a decision took and left."""
        sizes, taken = hunk_sizes(hunks), {piece.hunk: piece.lines for piece in selection}
        left: dict[int, frozenset[int]] = {}
        for hunk, size in enumerate(sizes, 1):
            lines = taken.get(hunk, ())
            gone = frozenset[int]() if lines is None else frozenset(range(1, size + 1)).difference(lines)
            if gone:
                left[hunk] = gone
        return cls(sizes=sizes, left=left)

    def state_of(self, hunk: int) -> HunkState:
        left = self.left.get(hunk)
        if not left:
            return "taken"
        return "left" if len(left) == self._size(hunk) else "partly"

    def is_line_taken(self, hunk: int, line: int) -> bool:
        return line not in self.left.get(hunk, ())

    def toggle_hunk(self, hunk: int) -> "HunkSelection":
        """Leave a hunk that is taken whole, take one that is not."""
        if not self._size(hunk):
            return self
        everything = frozenset(range(1, self._size(hunk) + 1))
        return self._with(hunk, frozenset() if self.left.get(hunk) else everything)

    def toggle_line(self, hunk: int, line: int) -> "HunkSelection":
        if not 1 <= line <= self._size(hunk):
            return self
        return self._with(hunk, self.left.get(hunk, frozenset[int]()) ^ {line})

    def toggle_all(self) -> "HunkSelection":
        if self.left:
            return replace(self, left={})
        return replace(
            self, left={n: frozenset(range(1, size + 1)) for n, size in enumerate(self.sizes, 1) if size}
        )

    @property
    def is_all(self) -> bool:
        return not self.left

    @property
    def is_nothing(self) -> bool:
        """Return whether an action with hunks has none of them taken, not even in part."""
        return bool(self.sizes) and not self.taken_hunks

    @property
    def taken_hunks(self) -> tuple[int, ...]:
        every = range(1, len(self.sizes) + 1)
        return tuple(n for n in every if self.state_of(n) != "left") if self.left else tuple(every)

    def line_counts(self, hunk: int) -> tuple[int, int]:
        """Return how many changed lines of a hunk are taken, and how many it has."""
        size = self._size(hunk)
        return size - len(self.left.get(hunk, ())), size

    def to_selection(self) -> tuple[SelectedHunk, ...] | None:
        """Return what a Decision carries: None for everything, else each hunk taken."""
        if self.is_all:
            return None
        return tuple(SelectedHunk(hunk=n, lines=self._lines(n)) for n in self.taken_hunks)

    def words(self) -> str:
        """Return the choice for the answering key: empty for all, `2 of 3`, `5 of 9 lines`."""
        if self.is_all:
            return ""
        if any(self.state_of(n) == "partly" for n in self.left):
            taken = sum(self.sizes) - sum(map(len, self.left.values()))
            return f"{taken} of {sum(self.sizes)} lines"
        return f"{len(self.taken_hunks)} of {len(self.sizes)}"

    def title_words(self) -> str:
        """Return the choice for a title: `3 taken`, `2 taken, 1 left`."""
        taken = len(self.taken_hunks)
        left = len(self.sizes) - taken
        return f"{taken} taken, {left} left" if left else f"{taken} taken"

    def _size(self, hunk: int) -> int:
        return self.sizes[hunk - 1] if 1 <= hunk <= len(self.sizes) else 0

    def _lines(self, hunk: int) -> tuple[int, ...] | None:
        left = self.left.get(hunk)
        return tuple(n for n in range(1, self._size(hunk) + 1) if n not in left) if left else None

    def _with(self, hunk: int, lines: frozenset[int]) -> "HunkSelection":
        others = {n: left for n, left in self.left.items() if n != hunk}
        return replace(self, left={**others, hunk: lines} if lines else others)


class SeenHunks(Struct, frozen=True, kw_only=True):
    """Which hunks of which action were on the screen; marked when its last row was drawn."""

    shown: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])

    def mark(self, action_id: str, hunks: Iterable[int]) -> "SeenHunks":
        """Return the seen hunks with these added; `WHOLE_ACTION` stands for an action without hunks."""
        before = self.shown.get(action_id, frozenset[int]())
        after = before.union(hunks)
        return self if after == before else SeenHunks(shown={**self.shown, action_id: after})

    def unmark(self, action_id: str, hunks: Iterable[int]) -> "SeenHunks":
        """Return the seen hunks without these."""
        before = self.shown.get(action_id, frozenset[int]())
        after = before.difference(hunks)
        return self if after == before else SeenHunks(shown={**self.shown, action_id: after})

    def unseen(
        self, action_id: str, selection: HunkSelection, *, every: bool = False, has_rest: bool = False
    ) -> tuple[int, ...]:
        """Return the hunks that an approval takes and nobody saw; `(WHOLE_ACTION,)` without hunks.

        `every` counts the hunks left as well; `has_rest` says that there are files without hunks beside them.
        """
        needed = tuple(range(1, len(selection.sizes) + 1)) if every else selection.taken_hunks
        if not selection.sizes or has_rest:
            needed = (*needed, WHOLE_ACTION)
        shown = self.shown.get(action_id, frozenset[int]())
        return tuple(n for n in needed if n not in shown)

    def forget(self, action_ids: Iterable[str]) -> "SeenHunks":
        """Return the seen hunks without those of actions that are gone."""
        gone = frozenset(action_ids)
        return SeenHunks(shown={key: hunks for key, hunks in self.shown.items() if key not in gone})


_NEIGHBOUR_SETS: Final = ((-2, -1, 1, 2), (-1, 1), (-1,), (1,), ())
"""Which neighbours have to be the same, from the surest sign to none."""


class _ChangedLine(Struct, frozen=True, kw_only=True):
    hunk: int
    number: int
    run: int
    keys: tuple[Hashable, ...]


def carried_selection(
    old: Sequence[Hunk], state: HunkSelection, new: Sequence[Hunk]
) -> tuple[HunkSelection, int]:
    """Carry a selection over to a new diff; also return how many left lines are gone from it."""
    fresh = HunkSelection.of(new)
    if state.is_all:
        return fresh, 0
    if tuple(old) == tuple(new):
        return state, 0
    before, after = list(_changed_lines(old)), list(_changed_lines(new))
    pairs = _line_pairs(before, after)
    is_left = [not state.is_line_taken(line.hunk, line.number) for line in before]
    whole_runs = {line.run for line in before} - {
        line.run for line, left in zip(before, is_left, strict=True) if not left
    }
    left = {pairs[index] for index, was_left in enumerate(is_left) if was_left and index in pairs}
    taken = {pairs[index] for index, was_left in enumerate(is_left) if not was_left and index in pairs}
    lost = [index for index, was_left in enumerate(is_left) if was_left and index not in pairs]
    # Equal lines of which nobody knows which one was left: none of them is taken.
    same = {before[index].keys[-1] for index in lost}
    unsure = {
        index for index, line in enumerate(after) if index not in left | taken and line.keys[-1] in same
    }
    gone = sum(before[index].keys[-1] not in {after[n].keys[-1] for n in unsure} for index in lost)
    left |= unsure
    # A stretch that was left whole stays whole: half a replacement is no change that anybody chose.
    runs = {after[pairs[index]].run for index in pairs if is_left[index] and before[index].run in whole_runs}
    runs -= {after[index].run for index in taken}
    left |= {index for index, line in enumerate(after) if line.run in runs}
    carried: dict[int, frozenset[int]] = {}
    for index in left:
        line = after[index]
        carried[line.hunk] = carried.get(line.hunk, frozenset[int]()) | {line.number}
    return HunkSelection(sizes=fresh.sizes, left=carried), gone


def _changed_lines(hunks: Sequence[Hunk]) -> Iterator[_ChangedLine]:
    run = 0
    for hunk in hunks:
        texts = [(sign, text) for sign, text in hunk.lines if sign != "\\"]
        number, run = 0, run + 1
        for index, (sign, text) in enumerate(texts):
            if sign == " ":
                run += 1
                continue
            number += 1
            keys = tuple(
                (hunk.path, sign, text, *(_neighbour(texts, index + step) for step in steps))
                for steps in _NEIGHBOUR_SETS
            )
            yield _ChangedLine(hunk=hunk.index, number=number, run=run, keys=keys)


def _neighbour(texts: Sequence[tuple[str, str]], index: int) -> tuple[str, str] | None:
    return texts[index] if 0 <= index < len(texts) else None


def _line_pairs(before: Sequence[_ChangedLine], after: Sequence[_ChangedLine]) -> dict[int, int]:
    """Return which line of the new diff is which of the old one, by their places in the two lists."""
    pairs: dict[int, int] = {}
    used: set[int] = set()
    for level in range(len(_NEIGHBOUR_SETS)):
        olds, news = defaultdict[Hashable, list[int]](list), defaultdict[Hashable, list[int]](list)
        for index, line in enumerate(before):
            if index not in pairs:
                olds[line.keys[level]].append(index)
        for index, line in enumerate(after):
            if index not in used:
                news[line.keys[level]].append(index)
        for key, places in olds.items():
            if len(places) == len(news.get(key, ())):
                pairs |= zip(places, news[key], strict=True)
                used |= set(news[key])
    return pairs
