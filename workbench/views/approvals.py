"""The approval queue: its rows and their folders."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.rows import Action, Call, Session
from workbench.domain.tools import BuiltInTool, tool_verb
from workbench.domain.values import Place
from workbench.text.human import SECOND_MICROS, home_as_tilde
from workbench.text.safe import marked_spaces, one_line
from workbench.views.hunk_selection import taken_text
from workbench.views.sandbox import is_allowed_by_sandbox
from workbench.views.status_icons import StatusName, action_status
from workbench.views.supervised import ASKS_TOO, agent_name, agent_title, own_question

if TYPE_CHECKING:
    from workbench.views.library import SearchQuery

# --- folders ----------------------------------------------------------------------------------------

MAX_PATH_CELLS: Final = 400


class Folder(Struct, frozen=True, kw_only=True):
    """The workspace of a row, as the screen names it; all texts are one safe line."""

    name: str = ""
    """Its last part, with more before it where another folder ends alike; empty where none is named."""
    path: str = ""
    """With the home folder as `~`."""
    is_other: bool = False
    """Whether it is not the folder of the screen."""
    is_gone: bool = False
    """Whether nothing can be done there now: it is missing, or something else stands in its place."""


NO_FOLDER: Final = Folder()


def short_folder_names(paths: Iterable[str]) -> dict[str, str]:
    """Return the last part of each path, with as many more before it as keep all of them distinct."""
    parts = {path: path.strip("/").split("/") for path in paths}
    lengths = dict.fromkeys(parts, 1)
    while True:
        names = {path: "/".join(words[-lengths[path] :]) for path, words in parts.items()}
        counts = Counter(names.values())
        clashing = [path for path, name in names.items() if counts[name] > 1]
        longer = [path for path in clashing if lengths[path] < len(parts[path])]
        if not longer:
            return {path: one_line(name, MAX_PATH_CELLS) or "/" for path, name in names.items()}
        for path in longer:
            lengths[path] += 1


class FolderNames:
    """Names folders as the screen does; a name may grow when a folder that ends alike becomes known."""

    def __init__(self, here: str, home: str) -> None:
        """Begin with the folder of the screen, and the user's home folder."""
        self.here, self._home = here, home
        self._names = short_folder_names([here])
        self.gone: Collection[str] = frozenset[str]()
        """Workspaces in which nothing can be done now."""
        self._made: dict[str, Folder] = {}

    def learn(self, paths: Iterable[str]) -> None:
        """Keep the names of these folders distinct, beside those that are known."""
        if fresh := set(paths) - self._names.keys() - {""}:
            self._names = short_folder_names([*self._names, *fresh])
            self._made.clear()

    def mark_gone(self, paths: Collection[str]) -> bool:
        """Note in which workspaces nothing can be done now; False when that was known."""
        was, self.gone = self.gone, frozenset(paths)
        self._made.clear()
        return was != self.gone

    def of(self, path: str) -> Folder:
        """Return a folder; without a path one that is not named."""
        if not path:
            return NO_FOLDER
        self.learn([path])
        if path not in self._made:
            shown = one_line(home_as_tilde(path, self._home), MAX_PATH_CELLS)
            self._made[path] = Folder(
                name=self._names[path], path=shown, is_other=path != self.here, is_gone=path in self.gone
            )
        return self._made[path]


def waiting_elsewhere_text(count: int) -> str:
    """Return how many wait in folders that are not shown, and the key that shows them; empty for none."""
    if count == 1:
        return "1 waits in another folder, w shows it"
    return f"{count} wait in other folders, w shows them" if count else ""


# --- rows -------------------------------------------------------------------------------------------

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
_NO_CALLS: Mapping[str, Call] = {}
_NO_FOLDERS: Mapping[str, Folder] = {}
_NO_PLACES: Mapping[str, Place] = {}
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
    names_agent: bool = False
    """Whether the title names an agent that executes its own calls, which is shown also of a single one."""
    state_word: str = ""
    """`stale`, `! hidden`, `! 3`; of a decided one `2 of 3 hunks`, `approved`, `by rule R3`."""
    left_seconds: float | None = None
    clock: int | None = None
    """When it was decided; None where no times were recorded."""
    is_pending: bool = True
    is_action: bool = True
    urgency: Urgency = "calm"
    warnings: tuple[str, ...] = ()
    """Without `stale`, which is the sign's."""
    mark: bool = False
    can_batch: bool = True
    """Gates, questions, trust and what carries a warning are answered one by one."""
    folder: str = ""
    """The name of its folder, where the rows name their folders."""
    agent: str = ""
    """Whose session it is, for the filter: `workbench`, `Claude Code`."""
    workspace: str = ""
    """The path of its folder, for the filter."""
    place: Place | None = None
    """Where its command runs, as it is chosen now; None of all else and in journals of older versions."""
    can_move: bool = False
    """Whether its command could run inside the sandbox as well as outside."""
    in_decided: bool = False
    """Stands below the line; a row decided a moment ago still stands among the waiting ones."""


class _RowInputs(NamedTuple):
    action: Action
    session: Session | None
    call: Call | None
    sizes: Sequence[int]
    left: float | None
    has_times: bool
    is_marked: bool
    is_undone: bool
    is_blocked: bool
    folder: Folder
    place: Place | None


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
    blocked: Collection[str] = frozenset[str](),
    folders: Mapping[str, Folder] = _NO_FOLDERS,
    places: Mapping[str, Place] = _NO_PLACES,
    cache: QueueRowCache | None = None,
    has_times: bool = True,
) -> tuple[QueueRow, ...]:
    """Return the rows: pending ones in the order asked for, then decided ones, newest first.

    `text_filter` is what `matches_filter` takes. Rows in `lingering` were decided a moment ago and keep
    their place. `ruled` are calls that a rule let pass. `blocked` are approved actions whose calls wait for
    one before them. `folders` maps the id of a row to its folder, where the rows name one, `places` that of
    an action to where the user lets it run, where that is not as it was asked. `cache` is
    filled again; a row whose inputs are those of the cache is taken from it. Without recorded times
    (`has_times`) no row has one.
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
                has_times=has_times,
                is_marked=action.id in marks, is_undone=action.id in undone,
                is_blocked=action.id in blocked,
                folder=folders.get(action.id, NO_FOLDER),
                place=(places.get(action.id) if action.state == "pending" else None) or action.place,
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


def blocking_call(call: Call, calls: Iterable[Call]) -> Call | None:
    """Return the first call of the same turn that has to end before an approved one runs."""
    if call.state != "approved":
        return None
    before = (other for other in calls if other.turn_id == call.turn_id and other.ordinal < call.ordinal)
    open_calls = (other for other in before if other.state in _OPEN_CALL_STATES)
    return min(open_calls, key=lambda other: other.ordinal, default=None)


_OPEN_CALL_STATES: Final = frozenset({"pending", "approved", "executing"})


def keep_shown_order(rows: Sequence[QueueRow], shown: Sequence[str]) -> tuple[QueueRow, ...]:
    """Return the rows in the order already shown, as while the pane has focus; new ones where they belong."""
    places = {key: place for place, key in enumerate(shown)}
    ordered_rows = [row for row in rows if row.id in places and not row.in_decided]
    ordered_rows.sort(key=lambda row: places[row.id])
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
    for row in ordered_rows:
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
    """Return whether a row passes a filter in the grammar of the library, whatever the case.

    Words and “phrases” are looked for in the row. `agent:codex`, `folder:shop` and `risk:deletes` narrow,
    with a hyphen before them they leave out; `risk:any` is any risk.
    """
    if not text_filter:
        return True
    query = _parsed_filter(text_filter)
    text = f"{row.verb} {row.target} {row.state_word} {row.session_title} {row.folder}".casefold()
    has_words = all((term.text.casefold() in text) != term.is_excluded for term in query.terms)
    return (
        has_words
        and all(_has_facts(row, key, values) for key, values in query.narrowed.items())
        and not any(
            _has_facts(row, key, (value,)) for key, values in query.excluded.items() for value in values
        )
    )


FILTER_KEYS: Final = ("agent", "folder", "risk")
"""Keys that a filter of the queue accepts before a colon."""


@lru_cache(maxsize=16)
def _parsed_filter(text_filter: str) -> "SearchQuery":
    from workbench.views.library import parse_query  # loaded with the first filter, not with the screen

    return parse_query(text_filter, keys=FILTER_KEYS)


def _has_facts(row: QueueRow, key: str, values: Sequence[str]) -> bool:
    if key == "agent":
        agent = row.agent.casefold().replace(" ", "-")
        return any(agent.startswith(value.replace(" ", "-")) for value in values)
    if key == "folder":
        folder = f"{row.workspace}\n{row.folder}".casefold()
        return all(value.rstrip("/") in folder for value in values)
    risks = [warning.casefold() for warning in row.warnings]
    return all(
        any(risk.startswith(value) for risk in risks) or (value == "any" and bool(risks)) for value in values
    )


def urgency_for(left_seconds: float | None) -> Urgency:
    """Return how near the end is: `soon` below five minutes, `now` below one."""
    if left_seconds is None or left_seconds >= SOON_SECONDS:
        return "calm"
    return "soon" if left_seconds >= NOW_SECONDS else "now"


def seconds_left(action: Action, now: int) -> float | None:
    """Return the seconds a pending action has left in steps of the screen; None if it does not expire."""
    if action.state != "pending" or action.expires_at is None:
        return None
    left = ceil(max(0, action.expires_at - now) / SECOND_MICROS)
    return float(left if left < SOON_SECONDS else left - left % CALM_COUNTDOWN_STEP)


def _action_row(of: _RowInputs) -> QueueRow:
    action, left = of.action, of.left
    sign, word = action_status(action, of.call, is_undone=of.is_undone)
    is_pending = action.state == "pending"
    risks = tuple(one_line(warning, 40) for warning in action.warnings if warning != "stale")
    if sign == "partly" and (taken := taken_text(action.selection or (), of.sizes)):
        word = taken if taken.endswith("lines") else f"{taken} hunks"
    if of.is_blocked and sign == "ok":
        word = f"{word}, waits"
    verb, target = action_words(action, of.folder)
    if of.folder.is_gone and is_pending:
        risks, word = (FOLDER_GONE, *risks), FOLDER_GONE
    state_word = _risk_word(risks, word) if is_pending else word
    if own_question(of.call) and state_word in ("", "running"):
        state_word = ASKS_TOO
    return QueueRow(
        id=action.id, sign=sign, verb=verb, target=target,
        added=action.added, removed=action.removed, more_files=_more_files(action),
        session_id=action.session_id, session_title=_session_title(of.session),
        names_agent=of.session is not None and of.session.is_supervised,
        state_word=state_word, left_seconds=left,
        clock=action.decided_at if of.has_times else None,
        is_pending=is_pending, urgency=urgency_for(left),
        warnings=risks, mark=of.is_marked,
        can_batch=is_pending and action.kind == "tool" and not action.warnings, folder=of.folder.name,
        agent=_agent_of(of.session), workspace=_workspace_of(action, of.session),
        place=of.place, can_move=of.place is not None and action.level is not None,
    )  # fmt: skip


def action_words(action: Action, folder: Folder) -> tuple[str, str]:
    """Return the verb and what it acts on, safe; a trust question says which folder, if it is another one."""
    if action.kind == "trust":
        place = folder.path if folder.is_other else "this folder"
        origin = action.subject.get("worktree_of")
        is_worktree = isinstance(origin, str) and origin
        return "trust", f"{place}, a worktree of {one_line(str(origin), 160)}" if is_worktree else place
    target = marked_spaces(action.target) if action.kind == "tool" else action.target
    return one_line(action.verb, 5), one_line(target, MAX_TARGET_CELLS)


def _more_files(action: Action) -> int:
    """Return how many files the target does not name; that of a move names both."""
    return 0 if action.tool == BuiltInTool.MOVE_FILE.id else max(0, len(action.files) - 1)


def _risk_word(risks: Sequence[str], word: str) -> str:
    if word in ("stale", FOLDER_GONE):
        return word
    if not risks:
        return ""
    return f"! {risks[0]}" if len(risks) == 1 else f"! {len(risks)}"


def _rule_decided_row(call: Call, session: Session | None, folder: Folder) -> QueueRow:
    return QueueRow(
        id=call.id, sign="rule", verb=tool_verb(call.tool),
        target=one_line(marked_spaces(call.target), MAX_TARGET_CELLS),
        session_id=call.session_id, session_title=_session_title(session),
        clock=call.finished_at or call.requested_at,
        state_word=_speaker_words(call), is_pending=False, is_action=False, place=call.place,
        can_batch=False, folder=folder.name,
        agent=_agent_of(session), workspace=session.workspace if session else "",
    )  # fmt: skip


def _speaker_words(call: Call) -> str:
    if call.rule:
        return f"by rule {call.rule}"
    return "by the sandbox" if is_allowed_by_sandbox(call) else "by the settings"


def _agent_of(session: Session | None) -> str:
    return "" if session is None else agent_name(session) or session.agent


def _workspace_of(action: Action, session: Session | None) -> str:
    named = action.subject.get("workspace")
    return named if isinstance(named, str) else session.workspace if session else ""


def _session_title(session: Session | None) -> str:
    return agent_title(session, one_line(session.title, MAX_TITLE_CELLS)) if session else ""


def _time_sort_key(action: Action) -> tuple[bool, int, int, str]:
    return action.expires_at is None, action.expires_at or 0, action.created_at, action.id


def _sort_key(action: Action, row: QueueRow, order: QueueOrder) -> tuple[object, ...]:
    if order == "new":
        return (-action.created_at, action.id)
    if order == "session":
        return (row.session_title.casefold(), row.session_id, *_time_sort_key(action))
    return _time_sort_key(action)


# --- expired actions that an agent is asked to propose again ---------------------------------------

_MAX_TARGET_LENGTH: Final = 300


def propose_again_prompt(actions: Sequence[Action]) -> str:
    """Return what an agent is told: what expired, in plain words, and that it may propose it again."""
    named = [_action_line(action) for action in actions]
    if len(named) == 1:
        return (
            f"Nobody answered in time, so this was not done: {named[0]}. "
            "Propose it again if it is still wanted."
        )
    listed = "\n".join(f"- {name}" for name in named)
    return (
        f"Nobody answered in time, so none of these was done:\n{listed}\n"
        "Propose again each one that is still wanted."
    )


def _action_line(action: Action) -> str:
    tool = f" ({one_line(action.tool, 60)})" if action.tool else ""
    return f"{one_line(action.verb, 20)} {one_line(action.target, _MAX_TARGET_LENGTH)}{tool}"


_MAX_ASKED_CELLS: Final = 72
"""Cells of the target of an action that its agent is asked for again."""


def asked_words(actions: Sequence[Action]) -> str:
    """Return what is said once an agent was asked for actions."""
    if len(actions) == 1:
        target = one_line(actions[0].target, _MAX_ASKED_CELLS)
        return f"The agent is asked to propose it again: {actions[0].verb} {target}."
    return f"The agent is asked to propose {len(actions)} expired actions again."
