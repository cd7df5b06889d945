"""Sessions as rows and facts, files that one changed, facts of the header, logs of commands."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.domain.events import Event, FileChanged
from workbench.domain.rows import Action, Session
from workbench.domain.values import SYSTEM_SESSION
from workbench.text import human
from workbench.text.human import MINUTE_MICROS, countdown_text, home_as_tilde
from workbench.text.safe import one_line
from workbench.text.width import cell_width
from workbench.views.approvals import MAX_TITLE_CELLS, NO_FOLDER, Folder, FolderNames, Urgency, queue_summary
from workbench.views.status_icons import StatusName, session_status, told_status
from workbench.views.sub_agents import SubAgent
from workbench.views.supervised import agent_name, agent_title, why_not_asked

MAX_STRIP_TITLE_CELLS: Final = 24


class SessionRow(Struct, frozen=True, kw_only=True):
    """One session."""

    id: str
    sign: StatusName
    word: str
    title: str
    waiting: int = 0
    when: int | None = None
    """When it last moved; None while it waits or runs."""
    seconds: int | None = None
    """How long its turn has worked; known of the session on show alone."""
    is_current: bool = False
    is_muted: bool = False
    folder: str = ""
    """The name of its folder where that is not the folder of the screen."""
    is_supervised: bool = False
    """Whether its agent executes its own calls: then the sign of such an agent and its state are shown."""


class ChangedFile(Struct, frozen=True, kw_only=True):
    """One file that a session changed."""

    path: str
    sign: StatusName
    added: int = 0
    removed: int = 0
    action_id: str | None = None


class RunTotals(Struct, frozen=True, kw_only=True):
    """What all steps of a run come to."""

    done: int
    total: int
    tokens: int


_SUBJECTS: Final = {"pipeline": "This run", "step": "This step"}


def subject_name(session: Session | None) -> str:
    """Return whose facts are shown: `This run`, `This step` or `This session`."""
    return _SUBJECTS.get(session.kind if session is not None else "", "This session")


class SidebarFacts(Struct, frozen=True, kw_only=True):
    """What the sidebar says of the session on show, as label and words."""

    facts: tuple[tuple[str, str], ...] = ()


def session_rows(
    sessions: Iterable[Session],
    actions: Iterable[Action],
    *,
    current: str | None = None,
    text_filter: str = "",
    seconds: int | None = None,
    folders: FolderNames | None = None,
) -> tuple[SessionRow, ...]:
    """Return the sessions: those that wait, those that run, then by what moved last.

    Archived sessions, steps of pipelines and commands that were made of words are left out; what a step asks
    waits in its run, and a command stands here while it is the current one. `seconds` is how
    long the turn of the `current` one has worked; `folders` names the folders of sessions that are not of the
    screen's.
    """
    sessions = list(sessions)
    asked = waiting_by_session(sessions, actions)
    waiting = Counter({session_id: len(actions) for session_id, actions in asked.items()})
    shown = [
        session
        for session in sessions
        if session.id != SYSTEM_SESSION and not session.archived and session.kind != "step"
        and (session.kind != "ask" or session.id == current)
    ]  # fmt: skip
    shown.sort(key=lambda s: (not waiting[s.id], s.status not in BUSY_STATUSES, -s.updated_at, s.id))
    words = text_filter.casefold().split()
    rows = [
        _session_row(
            session, waiting[session.id],
            folders.of(session.workspace) if folders and session.workspace != folders.here else NO_FOLDER,
            seconds if session.id == current else None, is_current=session.id == current,
        )
        for session in shown
    ]  # fmt: skip
    return tuple(row for row in rows if all(word in f"{row.folder} {row.title}".casefold() for word in words))


def listed_id(session: Session | None) -> str | None:
    """Return the id of the session that stands for one in lists: of a step that is its run."""
    if session is None:
        return None
    return session.parent_id if session.kind == "step" and session.parent_id else session.id


def waiting_by_session(sessions: Iterable[Session], actions: Iterable[Action]) -> dict[str, list[Action]]:
    """Return what waits, by the session that lists it: what a step asks waits in its run."""
    runs = {step.id: step.parent_id for step in sessions if step.kind == "step" and step.parent_id}
    asked: dict[str, list[Action]] = {}
    for action in actions:
        if action.state == "pending":
            asked.setdefault(_listed_session_id(action.session_id, runs), []).append(action)
    return asked


def _listed_session_id(session: str, runs: Mapping[str, str]) -> str:
    for _ in runs:
        if session not in runs:
            break
        session = runs[session]
    return session


BUSY_STATUSES = ("processing", "initializing")


def _session_row(
    session: Session, waiting: int, folder: Folder, seconds: int | None, *, is_current: bool
) -> SessionRow:
    sign, word = session_status(session, waiting)
    is_quiet = not waiting and session.status not in BUSY_STATUSES
    return SessionRow(
        id=session.id, sign=sign, word=word, title=session_title(session), waiting=waiting,
        when=session.updated_at if is_quiet else None, is_current=is_current, is_muted=is_quiet,
        seconds=seconds if session.status in BUSY_STATUSES else None,
        folder=folder.name if folder.is_other else "", is_supervised=session.is_supervised,
    )  # fmt: skip


def session_title(session: Session) -> str:
    """Return a session's title as one safe line; without one its kind and the start of its id.

    That of a supervised session begins with the name of its agent.
    """
    own = one_line(session.title, MAX_TITLE_CELLS)
    title = agent_title(session, own) or f"{session.kind} {session.id[:8]}"
    number = f"#{session.number}" if session.number else ""
    return f"{title} {number}" if number and not title.endswith(f" {number}") else title


def awaited_text(sessions: Iterable[Session]) -> str:
    """Return what an empty queue waits for: the session that works, or that none does."""
    shown = [one for one in sessions if one.is_conversation or one.kind in ("pipeline", "incidents")]
    working = [session for session in shown if session.status in BUSY_STATUSES]
    if len(working) > 1:
        return f"{len(working)} sessions work: what they ask comes here."
    if working:
        return f"“{session_title(working[0])}” works: what it asks comes here."
    paused = sum(told_status(session) == "paused" for session in shown)
    held = f", {paused} paused" if paused else ""
    return f"No agent works{held}: i writes a message."


def fitting_strip_rows(rows: Sequence[SessionRow], room: int) -> tuple[tuple[SessionRow, ...], int]:
    """Return the rows that fit the strip, always with the current session, and how many there are."""
    fitting: list[SessionRow] = []
    used = 0
    must = next((row for row in rows if row.is_current), None)
    for row in rows:
        reserved = _strip_cells(must) if must is not None and must not in (*fitting, row) else 0
        if used + _strip_cells(row) + reserved > room:
            continue
        fitting.append(row)
        used += _strip_cells(row)
    return tuple(fitting), len(rows)


def _strip_cells(row: SessionRow) -> int:
    count = len(str(row.waiting)) + 1 if row.waiting else 0
    around = (cell_width(row.folder) + 2 if row.folder else 0) + 2 * (row.is_current + row.is_supervised)
    return 2 + min(cell_width(row.title), MAX_STRIP_TITLE_CELLS) + around + count + 3


def changed_files(events: Iterable[Event], actions: Mapping[str, Action]) -> tuple[ChangedFile, ...]:
    """Return the files that a session changed, the last changed first; not those that are as they were."""
    by_call = {action.call_id: action for action in actions.values() if action.call_id}
    files: dict[str, ChangedFile] = {}
    first: dict[str, str | None] = {}
    for event in events:
        if not isinstance(event.body, FileChanged):
            continue
        body, action = event.body, by_call.get(event.call_id or "")
        if body.after == first.setdefault(body.path, body.before):
            files.pop(body.path, None)
            continue
        before = files.pop(body.path, None)
        files[body.path] = ChangedFile(
            path=body.path, sign="partly" if action and action.selection is not None else "ok",
            added=body.added + (before.added if before else 0),
            removed=body.removed + (before.removed if before else 0), action_id=action.id if action else None,
        )  # fmt: skip
    return tuple(reversed(files.values()))


def session_facts(
    session: Session,
    *,
    turns: int,
    asks: str,
    rules: int,
    sandbox: str = "",
    money: str = "",
    waiting: int = 0,
    run: RunTotals | None = None,
) -> SidebarFacts:
    """Return the facts of the session on show; `asks` is what the settings say, others may be empty.

    `run`: the session is a run of a pipeline, whose steps use tokens in sessions of their own.
    """
    tokens = session.usage.total_tokens if run is None else run.tokens
    facts = [
        ("agent", agent_name(session)),
        ("state", session_status(session, waiting)[1] if session.is_supervised else ""),
        ("model", one_line(session.model, 64)),
        ("turns", str(turns) if run is None else ""),
        ("steps", f"{run.done} of {run.total} done" if run is not None else ""),
        ("tokens", human.token_text(tokens)),
        ("cost", money),
        ("asks", asks),
        ("sandbox", sandbox),
        ("rules", f"{rules} on" if rules else ""),
    ]
    return SidebarFacts(facts=tuple((label, words) for label, words in facts if words))


def waiting_in(session: Session, actions: Iterable[Action]) -> int:
    """Return how many actions of a session wait."""
    return sum(action.state == "pending" and action.session_id == session.id for action in actions)


def agent_state(session: Session, waiting: int) -> str:
    """Return name and state of a supervised agent: `Claude Code, idle`; empty for other sessions."""
    name = agent_name(session)
    return f"{name}, {session_status(session, waiting)[1]}" if name else ""


def session_slug(session: Session) -> str:
    return title_slug(session.title) or session.id[:8]


def title_slug(title: str) -> str:
    """Return the ASCII words of a title joined by hyphens; empty where it has none."""
    words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in title.casefold())
    return "-".join(words.split())[:40].rstrip("-")


# --- the header -------------------------------------------------------------------------------------


class HeaderFacts(Struct, frozen=True, kw_only=True):
    """What the header says. Texts are one safe line each."""

    workspace: str = ""
    branch: str = ""
    waiting: int = 0
    first_left: float | None = None
    urgency: Urgency = "calm"
    running: int = 0
    seconds: int | None = None
    """How long the turn of the session on show has worked; None while it does not."""
    failed: int = 0
    model: str = ""
    agent: str = ""
    """Name and state of the agent on show that executes its own calls."""
    tokens: int | None = None
    is_step: bool = False
    """Whether tokens and money are those of one step of a run."""
    money: str = ""
    clock: int = 0
    trouble: str = ""
    elsewhere: int = 0
    """How many wait in folders that are not shown."""
    are_agents_held: bool = False
    """Whether every call of every agent asks, whatever rules and trust allow."""


def hold_notice(key: str, *, is_short: bool = False) -> str:
    """Return what a header says while all agents are held; `key` releases them."""
    return f" HELD; {key} releases " if is_short else f" HELD: every call asks; {key} releases "


def header_facts(
    sessions: Iterable[Session],
    actions: Iterable[Action],
    now: int,
    *,
    workspace: str,
    home: str = "",
    branch: str = "",
    current: Session | None = None,
    tokens: int | None = None,
    money: str = "",
    trouble: str = "",
    seconds: int | None = None,
    elsewhere: int = 0,
    are_agents_held: bool = False,
) -> HeaderFacts:
    """Return the header's facts; `current` gives the model, `trouble` says what is wrong.

    `tokens` are those of `current` with its child sessions; None takes its own. `seconds` is how long the
    turn of `current` has worked.
    """
    actions = list(actions)
    waits = queue_summary(actions, now)
    statuses = [
        told_status(session) for session in sessions if not session.archived and session.kind != "step"
    ]
    return HeaderFacts(
        workspace=one_line(home_as_tilde(workspace, home), 400), branch=one_line(branch, 80),
        waiting=waits.waiting,
        first_left=waits.first_left, urgency=waits.urgency, running=statuses.count("processing"),
        seconds=seconds if current is not None and current.status in BUSY_STATUSES else None,
        failed=statuses.count("failed"), model=one_line(current.model, 64) if current else "",
        tokens=tokens if tokens is not None or current is None else current.usage.total_tokens,
        is_step=current is not None and current.kind == "step", money=one_line(money, 40),
        clock=now - now % MINUTE_MICROS, trouble=one_line(trouble, 200), elsewhere=elsewhere,
        are_agents_held=are_agents_held,
        agent=agent_state(current, waiting_in(current, actions)) if current else "",
    )  # fmt: skip


def terminal_title(facts: HeaderFacts) -> str:
    """Return the terminal's title: `◆ 3 · 0:41 · shop`, or the folder's name alone."""
    folder = facts.workspace.rstrip("/").rpartition("/")[2] or facts.workspace
    folder = f"HELD · {folder}" if facts.are_agents_held else folder
    if not facts.waiting:
        return folder
    left = [countdown_text(facts.first_left)] if facts.first_left is not None else []
    return " · ".join([f"◆ {facts.waiting}", *left, folder])


_WHY_NO_MESSAGE: Final[Mapping[str, str]] = {
    "incidents": "A list of findings reads no messages: 8 shows it, O there the sessions of its agents.",
    "ask": "A command made of words reads no messages: ! asks for another, ctrl+n starts a session.",
    "pipeline": "A pipeline run reads no messages: answer its rows, or ctrl+n starts a session.",
    "step": "A pipeline run reads no messages: answer its rows, or ctrl+n starts a session.",
}


def why_takes_no_message(session: Session) -> str:
    """Return why a session takes no message, as a sentence; empty where it does."""
    return _WHY_NO_MESSAGE.get(session.kind, "") or why_not_asked(session)


def leave_notice(working: int, waiting: int, *, is_wide: bool) -> str:
    """Return what goes on without a screen, and which key leaves; `is_wide` means 100 columns."""
    agents = f"{working} agents keep working" if working > 1 else "1 agent keeps working"
    asks = f"{waiting} asks wait" if waiting > 1 else "1 ask waits"
    parts = [words for words, count in ((agents, working), (asks, waiting)) if count]
    later = "Open workbench again to answer. " if waiting and is_wide else ""
    return f"{', '.join(parts)}. {later}q q leaves, esc stays."


# --- sub-agents -------------------------------------------------------------------------------------


NO_AGENTS: Final[Mapping[str, SubAgent]] = {}


# --- commands that a model made of words ------------------------------------------------------------

MOST_PREVIEW_CHARACTERS: Final = 80
_PREVIEW_CUT: Final = 77


def command_preview(command: str) -> str:
    """Return a command as a log's row has it (S3 LogSummary): above 80 characters its first 77 and `...`."""
    if len(command) <= MOST_PREVIEW_CHARACTERS:
        return command
    return f"{command[:_PREVIEW_CUT]}..."


class LogSummary(Struct, frozen=True, kw_only=True):
    """A row of the list of logs; S3 LogSummary."""

    id: str
    user_query: str
    final_status: str
    model: str
    timestamp: int
    iteration_count: int
    command_preview: str


def summary_line(row: LogSummary, key: str, when: str) -> str:
    """Return one line of the list of logs."""
    command = one_line(row.command_preview, MOST_PREVIEW_CHARACTERS) or "no command"
    count = f"  {row.iteration_count} tries" if row.iteration_count > 1 else ""
    return f"{key}  {when:<16}  {row.final_status:<8}  {command}{count}  {one_line(row.user_query, 60)}"


def log_name(at: str, session_id: str) -> str:
    """Return the id of a log, a safe file name as in S3: `2026-02-01T10-30-00-abc123`; `at` is ISO 8601."""
    return f"{at[:19].replace(':', '-')}-{session_id.replace('-', '')[-6:]}"
