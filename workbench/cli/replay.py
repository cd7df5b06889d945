"""`workbench replay`: play a recorded session, or a file of one, on the screen or as text."""

# A replayed file is imported into a data folder of its own, in the temporary folder, removed at the end; a
# lock in it says that it is in use, and the next replay of a file removes what a killed one left. The
# library is the user's: only `--keep` puts it there. An id of a session goes before a file of that name; a
# path always means a file.

import contextlib
import gc
import json
import math
import os
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from msgspec import Struct

from workbench.cli.attached_screen import (
    exit_on_signals,
    raise_unrequested_end,
    require_terminal,
    screen_config,
    usable_config,
)
from workbench.cli.console import Console, color_depth, terminal_encoding
from workbench.cli.context import find_session
from workbench.cli.errors import EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, action_json, call_json, iso_time, session_json
from workbench.config.types import Config
from workbench.domain.codec import event_to_object
from workbench.domain.messages import asked_models
from workbench.domain.rows import Action, Session
from workbench.effects.file_locks import FileLock, is_lock_held
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import workspace_path
from workbench.effects.folders import remove_tree
from workbench.host.host_locks import refuse_inside_agents
from workbench.journal.errors import GuardFailed
from workbench.journal.home import Home, default_home_path
from workbench.journal.journal import Journal
from workbench.text.human import SECOND_MICROS, clock_time_millis, countdown_text, error_sentence
from workbench.text.safe import one_line
from workbench.tui.replay.replay_source import ReplaySource
from workbench.views.replay import SPEEDS, parse_replay_moment, replay_moment_forms, times_went_back_text

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from workbench.cli.replay_follower import FileStamp
    from workbench.formats.assemble import ImportSummary
    from workbench.host.session_import import ImportProgress
    from workbench.journal.imports import SessionImport
    from workbench.tui.backend import Backend

EXAMPLE = """workbench replay
workbench replay 3f2a --at 0:30
workbench replay 3f2a --headless --json
workbench replay 3f2a --headless --at 35%
workbench replay 3f2a --beside 91bc
workbench replay before.jsonl --beside after.jsonl
workbench replay ~/.claude/projects/shop/session.jsonl"""
_SPEEDS: Final = {("max" if math.isinf(speed) else f"{speed:g}"): speed for speed in SPEEDS}


def configure(parser: "ArgumentParser") -> None:
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID|FILE",
        help="the session, or the first characters of its id; the newest here if not given; or any file that"
        " sessions import reads, of which nothing is left afterwards",
    )
    parser.add_argument(
        "--at",
        metavar="T",
        help="start there, paused: 0:30 from its start, 12:01:31, 35%% or #412; with --headless: what was"
        " then",
    )
    known = ", ".join(_SPEEDS)
    parser.add_argument("--speed", choices=_SPEEDS, default="1", metavar="S", help=f"one of {known}")
    parser.add_argument("--beside", metavar="ID|FILE", help="a second session beside it, at the same moment")
    parser.add_argument("--headless", action="store_true", help="print it, open no screen")
    parser.add_argument("--json", action="store_true", help="with --headless: JSON, an event a line")
    file = parser.add_argument_group("a file")
    file.add_argument("--keep", action="store_true", help="import it into the library too")
    file.add_argument("--number", type=int, metavar="N", help="which of its sessions, from 1")
    file.add_argument(
        "--format", type=_format_name, metavar="F", help="the format of the file (default: detected)"
    )


def simple(words: Sequence[str]) -> Mapping[str, object] | None:
    """Return the options of `replay` and `replay ID`, which need no parser; None for others."""
    if len(words) > 1 or any(word.startswith("-") for word in words):
        return None
    names = ("at", "beside", "number", "format")
    flags = ("headless", "json", "keep")
    return {
        "id": next(iter(words), None),
        "speed": "1",
        **dict.fromkeys(names),
        **dict.fromkeys(flags, False),
    }


def _format_name(text: str) -> str:
    from argparse import ArgumentTypeError

    from workbench.formats.detect import format_names

    if text not in format_names():
        raise ArgumentTypeError(f"“{text}” is none of {', '.join(sorted(format_names()))}")
    return text


def execute(options: "Namespace", console: Console) -> int:
    if options.json and not options.headless:
        raise UsageError("nothing was replayed", "--json prints, and a screen is drawn", "add --headless")
    if options.id == STDIN and not options.headless:
        raise UsageError("nothing was replayed", "the screen needs stdin for its keys", "add --headless")
    if options.beside is not None and options.headless:
        raise UsageError("nothing was replayed", "--beside is for the screen", "leave --headless out")
    if options.beside == STDIN:
        raise UsageError("nothing was replayed", "the screen needs stdin for its keys", "name a file")
    if not options.headless:
        gc.disable()  # the app lets it go on after its first frame
        require_terminal()
    with _open_session(options, console) as opened:
        if options.headless:
            if opened.remark:
                console.note(opened.remark)
            source = ReplaySource(opened.journal, opened.session)
            index = _start_index(source, options.at)

            print_replay(source, opened.session, index, console, is_json=options.json)
            return EXIT_OK
        with _second_session(opened, options, console) as other:
            return _show_replay(opened, other, options)


class OpenedSession(Struct, frozen=True, kw_only=True):
    """A session that came out of a file, in a journal that is open."""

    journal: Journal
    session: Session
    remark: str
    """What is to be said about the file: how many sessions it has, what was not understood."""
    is_lent: bool = False
    """Whether the journal is gone when the replay is over."""
    file: "ReplayFile | None" = None
    """The file that it was read from."""
    stamp: "FileStamp | None" = None
    """That file as it was then."""


def _show_replay(opened: OpenedSession, other: OpenedSession | None, options: "Namespace") -> int:
    from workbench.tui.replay_app import ReplayApp

    journal, session = opened.journal, opened.session
    config = _replay_config(opened)
    index = None if options.at is None else _start_index(ReplaySource(journal, session), options.at)
    app = ReplayApp(
        journal, session, ui=config.ui, home=str(Path.home()), at=index, speed=_SPEEDS[options.speed],
        remark=opened.remark, beside=None if other is None else (other.journal, other.session),
        backend=None if opened.is_lent else _live_backend(opened), depth=color_depth(),
        encoding=terminal_encoding(),
    )  # fmt: skip
    with _followed(opened), _followed(other), exit_on_signals(app.end_soon):
        app.run()
    raise_unrequested_end(app)
    return EXIT_OK


@contextmanager
def _followed(opened: OpenedSession | None) -> Generator[None, None, None]:
    """Take in what is written to a replayed file, for as long as it is shown."""
    if opened is None or not opened.is_lent or opened.file is None or opened.file.file == STDIN:
        yield
        return
    from workbench.cli.replay_follower import FileFollower
    from workbench.host.session_import import SilentProgress

    file = opened.file
    follower = FileFollower(
        opened.journal, file.file, opened.stamp, lambda intake: _read_file(file, intake, SilentProgress())
    )
    try:
        yield
    finally:
        follower.close()


@contextmanager
def _second_session(
    opened: OpenedSession, options: "Namespace", console: Console
) -> Generator[OpenedSession | None, None, None]:
    word = options.beside
    if word is None:
        yield None
    elif is_path(word):
        with temporary_import(ReplayFile(file=word), console) as opened_file:
            yield opened_file
    elif opened.is_lent:
        from argparse import Namespace

        with _open_session(Namespace(**{**vars(options), "id": word, "keep": False}), console) as opened_file:
            yield opened_file
    elif (session := _session_by_name(opened.journal, word)) is not None:
        yield OpenedSession(journal=opened.journal, session=session, remark="")
    else:
        with temporary_import(ReplayFile(file=word), console) as opened_file:
            yield opened_file


def _live_backend(opened: OpenedSession) -> "Backend":
    from workbench.backend.local_backend import LocalBackend

    return LocalBackend(opened.journal.home, opened.journal, str(Path.cwd()))


def _replay_config(opened: OpenedSession) -> Config:
    if opened.is_lent:
        # The user's own settings; a path that a file names is no workspace of theirs.
        return usable_config(default_home_path(os.environ), workspace_path(None), trusted=False)
    # Only where the session worked are there settings of its workspace.
    place = opened.session.workspace
    folder = place if Path(place).is_dir() else workspace_path(None)
    return screen_config(opened.journal, folder)


# --- which session --------------------------------------------------------------------------------


@contextmanager
def _open_session(options: "Namespace", console: Console) -> Generator[OpenedSession, None, None]:
    file = ReplayFile(file=options.id or "", format=options.format, number=options.number)
    if options.id is not None and is_path(options.id) and not options.keep:
        with temporary_import(file, console) as opened:
            yield opened
        return
    with open_journal() as journal:
        if options.keep:
            if options.id is None:
                raise UsageError("nothing was replayed", "--keep is about a file", "name one")
            refuse_inside_agents(journal, journal.home, "import sessions")
            yield import_replay_file(journal, file, console)
            return
        session = _session_from_options(journal, options)
        if session is not None:
            yield OpenedSession(journal=journal, session=session, remark="")
            return
    with temporary_import(file, console) as opened:
        yield opened


def _session_from_options(journal: Journal, options: "Namespace") -> Session | None:
    if options.id is not None:
        return _session_by_name(journal, options.id)
    workspace = workspace_path(options.directory)
    newest = next(iter(journal.sessions(workspace, limit=1)), None)
    if newest is None:
        why = f"no session was recorded in {workspace}"
        raise Refusal("nothing was replayed", why, "workbench sessions list --all shows others")
    return newest


def _session_by_name(journal: Journal, word: str) -> Session | None:
    try:
        return find_session(journal, word)
    except Refusal as refusal:
        path = Path(word)
        if path.exists():
            return None
        if path.suffix:
            what = f"there is no session “{one_line(word, 80)}”"
            why = "there is no file of that name here either"
            raise Refusal(what, why, "workbench sessions list --all shows ids") from refusal
        raise


def _start_index(source: ReplaySource, moment: str | None) -> int | None:
    if moment is None:
        return None
    index = parse_replay_moment(moment, source.timeline)
    if index is None:
        forms = replay_moment_forms(source.timeline)
        remedy = f"name one of {forms}" if forms else "it has no events"
        raise UsageError("nothing was replayed", f"“{moment}” is not a moment of this recording", remedy)
    return index


STDIN: Final = "-"
_FOLDER_PREFIX: Final = "workbench-replay-"
_LOCK_NAME: Final = "replay.lock"
_LEAST_AGE_SECONDS: Final = 60.0
"""Seconds for which a folder without a held lock may be one that is just being made."""
_MOST_NAMED: Final = 5


class ReplayFile(Struct, frozen=True, kw_only=True):
    """What of which file is to be replayed."""

    file: str
    """Its path, or `-`."""
    format: str | None = None
    """The format that the user named; None looks into the file."""
    number: int | None = None
    """Which of its sessions, from 1; None takes the first."""


def is_path(word: str) -> bool:
    """Return whether an argument can only mean a file."""
    return word == STDIN or os.sep in word


@contextlib.contextmanager
def temporary_import(file: ReplayFile, console: Console) -> Generator[OpenedSession, None, None]:
    """Take a file into a data folder that is gone afterwards."""
    _remove_leftover_folders()
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
    try:
        home = Home.open(folder)
        with FileLock(home.run / _LOCK_NAME) as lock:
            lock.try_acquire()
            with Journal.open(home) as journal:
                yield import_replay_file(journal, file, console, is_lent=True)
    finally:
        remove_tree(str(folder))


def import_replay_file(
    journal: Journal, file: ReplayFile, console: Console, *, is_lent: bool = False
) -> OpenedSession:
    """Take a file into a journal, as an import does; in a lent one a session at work stays open."""
    # What reads foreign files is loaded for them: a session of the library is on the screen without it.
    from workbench.cli.replay_follower import file_stamp, is_at_work
    from workbench.cli.session_import import ProgressLine
    from workbench.journal.imports import SessionImport, import_turn

    progress, stamp = ProgressLine(console), file_stamp(file.file)
    with import_turn(journal, progress.wait):
        session_import = SessionImport(journal, leaves_open=is_lent and is_at_work(stamp))
        try:
            summaries = _read_file(file, session_import, progress)
            session_import.finish()
        except BaseException as error:
            session_import.cancel()
            if why := _import_problem(error):
                raise _replay_refusal(file, why) from None
            raise
        finally:
            progress.clear()
    stored = [summary for summary in summaries if journal.session(summary.session_id) is not None]
    selected = _chosen_session(file, stored)
    session = journal.session(selected.session_id)
    if session is None:
        raise _replay_refusal(file, "its session no longer exists")
    return OpenedSession(
        journal=journal,
        session=session,
        remark=_choice_remark(stored, selected, file),
        file=file,
        stamp=stamp,
        is_lent=is_lent,
    )


def _read_file(
    file: ReplayFile, session_import: "SessionImport", progress: "ImportProgress"
) -> "list[ImportSummary]":
    from workbench.formats import detect
    from workbench.formats.import_sources import read_beside

    with _open_stream(file.file) as (stream, time_us):
        source = detect.open_file(
            progress.counted(stream, file.file), file.file, time_us, file.format, store=session_import.store,
            current_id=session_import.current_id, recorded_at=session_import.now,
            beside=lambda path: read_beside(file.file, path),
        )  # fmt: skip
        for event in source.events:
            session_import.add(event)
        return source.summaries


@contextlib.contextmanager
def _open_stream(name: str) -> Generator[tuple[BinaryIO, int], None, None]:
    if name == STDIN:
        yield sys.stdin.buffer, time.time_ns() // 1_000
        return
    from workbench.formats.detect import UnknownFormat

    path = Path(name).expanduser()
    status = path.stat()
    # Looked at before it is opened: a pipe that nobody writes to would be waited for.
    if not stat.S_ISREG(status.st_mode):
        raise UnknownFormat("it is not a regular file")
    with path.open("rb") as stream:
        yield stream, int(status.st_mtime * SECOND_MICROS)


def _import_problem(error: BaseException) -> str:
    from workbench.formats.detect import UnknownFormat

    match error:
        case UnknownFormat():
            return str(error)
        case GuardFailed():
            return error.why
        case OSError():
            return error.strerror or str(error)
        case _:
            return ""


def _replay_refusal(file: ReplayFile, why: str) -> Refusal:
    name = "stdin" if file.file == STDIN else one_line(file.file, 120)
    remedy = (
        "workbench sessions import --dry-run FILE says more, workbench sessions list --all shows sessions"
    )
    return Refusal(f"“{name}” was not replayed", why, remedy)


def _chosen_session(file: ReplayFile, summaries: "list[ImportSummary]") -> "ImportSummary":
    if not summaries:
        raise _replay_refusal(file, "no session is in it")
    number = 1 if file.number is None else file.number
    if not 1 <= number <= len(summaries):
        count_text = "1 session is" if len(summaries) == 1 else f"{len(summaries)} sessions are"
        raise UsageError(
            "nothing was replayed", f"{count_text} in that file", f"name one from 1 to {len(summaries)}"
        )
    return summaries[number - 1]


def _choice_remark(summaries: "list[ImportSummary]", selected: "ImportSummary", file: ReplayFile) -> str:
    parts: list[str] = []
    if len(summaries) > 1 and file.number is None:
        names = ", ".join(
            one_line(summary.title, 40) or summary.key[:20] for summary in summaries[:_MOST_NAMED]
        )
        more = ", …" if len(summaries) > _MOST_NAMED else ""
        parts.append(f"{len(summaries)} sessions are in it ({names}{more}); --number 2 shows the next.")
    if count := len(selected.problems):
        places = "1 place" if count == 1 else f"{count} places"
        parts.append(f"{places} of it could not be read as its format says; sessions import lists them.")
    return " ".join(parts)


# --- what killed replays left -----------------------------------------------------------------------


def _remove_leftover_folders() -> None:
    """Remove folders of replays that are not there any more: of this user, and held by nobody."""
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*"):
            with contextlib.suppress(OSError, FileRefused):
                if _is_leftover(folder):
                    remove_tree(str(folder))


def _is_leftover(folder: Path) -> bool:
    status = folder.lstat()
    is_mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return (
        is_mine
        and time.time() - status.st_mtime > _LEAST_AGE_SECONDS
        and not is_lock_held(folder / "run" / _LOCK_NAME)
    )


NO_TIMES_NOTE: Final = "no times recorded: events are a second apart"
_MOST_SHOWN = 40


def print_replay(
    source: ReplaySource, session: Session, index: int | None, console: Console, *, is_json: bool
) -> None:
    """Print all events, or with a moment what was then."""
    if index is not None:
        source.seek(index)
        if is_json:
            console.json(state_json(source, session))
        else:
            console.say_lines(state_lines(source, session))
        return
    if source.timeline.is_steady:
        console.note(error_sentence(NO_TIMES_NOTE))
    elif back := times_went_back_text(source.timeline):
        console.note(f"{back}: such events stand at the time before them.")
    for event in replay_events_json(source):
        if is_json:
            console.json_line(json.dumps(event, ensure_ascii=False))
        else:
            console.say(
                f"{event['after']:>10.3f} s  #{event['index']:<6} {event['kind']:<22} {event['words']}"
            )


def replay_events_json(source: ReplaySource) -> Iterable[JsonFields]:
    """Yield the events of a recording, each with its times in seconds from the start."""
    timeline = source.timeline
    for index in range(1, len(timeline) + 1):
        event = source.event_at(index)
        if event is not None:
            yield {
                "index": index,
                "at": iso_time(timeline.time(index)),
                "after": (timeline.time(index) - timeline.time(0)) / SECOND_MICROS,
                "played_after": timeline.played(index) / SECOND_MICROS,
                "kind": event.kind,
                "words": source.words_at(index),
                "event": event_to_object(event),
            }


def state_json(source: ReplaySource, session: Session) -> JsonFields:
    """Return what was at the moment as JSON."""
    waiting = _waiting_actions(source)
    counts = Counter(action.session_id for action in waiting)
    asked = asked_models(source.events(session.id, 0, source.index + 1))
    return {
        "session": session.id,
        "index": source.index,
        "events": len(source.timeline),
        "at": iso_time(source.now()),
        "has_times": not source.timeline.is_steady,
        "times_back": source.timeline.went_back,
        "sessions": [
            session_json(shown_session, counts[shown_session.id])
            for shown_session in source.sessions(_MOST_SHOWN)
        ],
        "waiting": [
            {**action_json(action), "left_seconds": _seconds_left(action, source.now())} for action in waiting
        ],
        "calls": [call_json(call, asked) for call in source.calls(session.id)],
    }


def _waiting_actions(source: ReplaySource) -> list[Action]:
    return [action for action in source.actions(0) if action.state == "pending"]


def _seconds_left(action: Action, now: int) -> float | None:
    return None if action.expires_at is None else max(0, action.expires_at - now) / SECOND_MICROS


def state_lines(source: ReplaySource, session: Session) -> Iterable[str]:
    """Yield what was at the moment as lines."""
    title, moment = session.title or session.id[:8], clock_time_millis(source.now())
    yield f"{title}  event {source.index} of {len(source.timeline)}  at {moment}"
    if source.timeline.is_steady:
        yield NO_TIMES_NOTE
    elif back := times_went_back_text(source.timeline):
        yield f"{back}: such events stand at the time before them"
    yield "sessions"
    for shown_session in source.sessions(_MOST_SHOWN):
        yield f"  {shown_session.id[:8]}  {shown_session.status:<12} {shown_session.title}"
    waiting = _waiting_actions(source)
    yield "waiting" if waiting else "nothing waited"
    for action in waiting:
        left = _seconds_left(action, source.now())
        words = "" if left is None else countdown_text(left)
        yield f"  {action.id[:8]}  {words:>8}  {action.verb} {action.target}"
    calls = source.calls(session.id)
    yield "calls" if calls else "no tool was called"
    for call in calls:
        yield f"  {call.id[:8]}  {call.state:<12} {call.tool} {call.target}"
