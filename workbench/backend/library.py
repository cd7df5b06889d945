"""Sessions for the backend of a screen, loaded on first use: named, deleted, forked, imported, exported."""

# A film is made by a process of its own. It draws thousands of frames; in a thread of the screen every key
# would wait for them, and it goes on when its user leaves.

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from workbench.backend.session_export import NARROWEST, THEMES, TRANSCRIPT, WIDEST, export_texts
from workbench.backend.workspace import LocalWorkspace, screen_actor
from workbench.domain.rows import Session
from workbench.effects.child_processes import ProcessNotStarted
from workbench.effects.files import NotAWorkspace
from workbench.effects.own_processes import start_workbench
from workbench.effects.path_files import write_atomic_parts
from workbench.effects.process_table import read_process
from workbench.formats.detect import counting_stream
from workbench.formats.import_sources import ImportSource, find_sources
from workbench.host import session_requests
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.import_choice import (
    FoundHistory,
    delete_expired_imports,
    found_histories,
    import_request,
    session_settings,
    set_watch,
)
from workbench.host.session_import import FileReport, ImportCancelled, ImportResult, import_sources
from workbench.host.session_worktree import own_worktree, release_worktree
from workbench.journal.errors import SessionDriven
from workbench.journal.journal import Journal
from workbench.journal.leases import is_lease_live
from workbench.journal.maintenance import compact_database, finish_deletions
from workbench.journal.search import unique_id_prefix
from workbench.text.human import duration_text, size_text
from workbench.text.safe import one_line
from workbench.tui.backend import BackendError, ExportRequest, ForkRequest, LibraryBackend
from workbench.views.welcome import ImportOffer

if TYPE_CHECKING:
    from workbench.views.undo_plan import UndoPlan

PROGRESS_SECONDS = 0.2
"""Seconds between two words of an import."""
FORMATS_BY_SUFFIX = {
    ".jsonl": "events", ".md": "markdown", ".markdown": "markdown", ".atif.json": "atif",
    ".wink.json": "wink", ".kaiak.jsonl": "kaiak", ".assistant.jsonl": "assistant",
    ".page.html": TRANSCRIPT,
}  # fmt: skip
"""How a file's name ends, and the format that it gets; a longer ending counts before a shorter one."""


class LocalLibrary(LocalWorkspace, LibraryBackend):
    """What the library does with sessions of a journal."""

    def _session(self, session_id: str) -> Session:
        self._require_person("file a session")
        return self._require_session(session_id)

    def retitle(self, session_id: str, title: str) -> str:
        self._session(session_id)
        return f"Renamed: {session_requests.rename_session(self._journal, session_id, title, self._actor)}"

    def tag(self, session_id: str, words: str) -> str:
        session, tags_wanted = self._session(session_id), words.replace(",", " ").split()
        tags_removed = [tag for tag in session.tags if tag not in tags_wanted]
        tags = session_requests.change_tags(self._journal, session, tags_wanted, tags_removed, self._actor)
        return f"Tags: {', '.join(tags)}" if tags else "It has no tags now."

    def archive(self, session_id: str, *, is_archived: bool) -> str:
        session_requests.archive_session(self._journal, self._session(session_id), is_archived, self._actor)
        return "Archived. is:archived in the filter shows it, Z puts it back." if is_archived else "Put back."

    def end(self, session_id: str) -> str:
        session = self._session(session_id)
        status = session_requests.end_session(self._journal, session, self._actor)
        released = release_worktree(self._journal, session.id, own_worktree(self._journal, session))
        return f"It is {status}. {released}".rstrip()

    def delete(self, session_ids: Sequence[str]) -> str:
        count, released = 0, list[str]()
        for session in [self._session(key) for key in session_ids]:
            worktree = own_worktree(self._journal, session)
            try:
                count += session_requests.delete_with_steps(self._journal, session, self._actor)
                released.append(release_worktree(self._journal, session.id, worktree))
            except SessionDriven:
                deleted_before = f" {count} were deleted before it." if count else ""
                title = one_line(session.title, 40)
                raise BackendError(
                    f"Not deleted: “{title}” is running."
                    f" X ends it first, or stop its background process.{deleted_before}"
                ) from None
        finish_deletions(self._journal)
        is_compact = compact_database(self._journal)
        deleted = "The session is deleted." if count == 1 else f"{count} sessions are deleted."
        sentence = " ".join(filter(None, (deleted, *released)))
        remnants = " Remnants may stay in unused pages until workbench doctor --rebuild runs."
        return sentence if is_compact else sentence + remnants

    def fork(self, session_id: str) -> str:
        from workbench.backend.session_fork import ForkOptions, ForkRefused, make_fork

        session = self._session(session_id)
        try:
            forked = make_fork(self._journal, session, ForkOptions(directory=self._workspace), self._actor)
        except (ForkRefused, NotAWorkspace) as error:
            raise BackendError(f"Not forked: {error.why}. Start a session here first, with ctrl+n.") from None
        return forked.session_id

    def undo_plan(self, session_id: str, turn_id: str | None, *, is_redo: bool) -> "UndoPlan":
        from workbench.host.undo import plan_undo

        return plan_undo(self._journal, self._session(session_id), turn_id, is_redo=is_redo)

    def undo_files(self, plan: "UndoPlan", paths: Sequence[str]) -> str:
        from workbench.host.undo import request_undo_of_files
        from workbench.views.undo_plan import undone_sentence

        session, start = self._session(plan.session_id), self._journal.last_position()
        request = request_undo_of_files(self._journal, plan, paths, self._actor)
        self._finish_undo(session, request, start, "Nothing was changed")
        return undone_sentence(plan, paths)

    def undo_change(self, action_id: str) -> str:
        action = self._journal.action(action_id)
        if action is None:
            raise BackendError("Nothing was undone. The action no longer exists.")
        session, start = self._session(action.session_id), self._journal.last_position()
        request = session_requests.request_undo(self._journal, action.id, self._actor)
        about = f"{action.verb} {one_line(action.target, 60)}"
        self._finish_undo(session, request, start, f"Not undone: {about}")
        return f"Undone: {about}."

    def _finish_undo(self, session: Session, request: str, start: int, what: str) -> None:
        """Start a background process unless one works on the session, and wait until the undo is done."""
        from workbench.host.host_start import ensure_host
        from workbench.host.undo import wait_until_undone

        if not is_lease_live(self._home, self._journal.lease(session.id)):
            ensure_host(self._home, self._journal, session.workspace)
        wait_until_undone(self._journal, session.id, request, start, what)

    def export(self, session_id: str, path: str) -> str:
        session = self._session(session_id)
        target = self._at(path)
        form = next(
            (
                FORMATS_BY_SUFFIX[end]
                for end in sorted(FORMATS_BY_SUFFIX, key=len, reverse=True)
                if path.endswith(end)
            ),
            None,
        )
        if form is None and target.suffix in FILM_FORMATS:
            request = ExportRequest(session_id=session.id, path=path)
            return export_film(self._journal, self._workspace, request, lambda _: None)
        if form is None:
            raise BackendError(
                f"Not written: {one_line(path, 60)} ends in none of"
                f" {' '.join([*FORMATS_BY_SUFFIX, *FILM_FORMATS])}."
            )
        if target.exists():
            raise BackendError(
                f"Not written: {one_line(str(target), 80)} is there already. Name another file."
            )
        size = export_to_file(self._journal, session, form, target)
        return f"Written: {one_line(str(target), 120)}, {size_text(size)}."

    def _at(self, path: str) -> Path:
        return Path(self._workspace) / Path(path).expanduser()

    def import_path(self, path: str, goes_on: Callable[[str], bool]) -> str:
        place = self._at(path)
        if not place.exists():
            raise BackendError(f"Nothing was imported: {one_line(str(place), 120)} is not there.")
        return self._import(find_sources([str(place)]), goes_on, is_found=False)

    def _histories(self) -> list[FoundHistory]:
        histories = found_histories(self._journal, session_settings(self._home), self._workspace)
        return [history for history in histories if not history.is_left_out]

    def import_offer(self) -> ImportOffer | None:
        histories = self._histories()
        if not histories:
            return None
        due = [history for history in histories if history.due] or histories
        return ImportOffer(
            agents=tuple(dict.fromkeys(history.folder.title for history in due)),
            files=sum(len(history.due) for history in histories),
            size=sum(history.due_size for history in histories),
        )

    def import_found(self, goes_on: Callable[[str], bool]) -> str:
        sources = [source for history in self._histories() for source in history.due]
        return self._import(sources, goes_on, is_found=True)

    def is_watching(self) -> bool:
        return session_settings(self._home).watch

    def toggle_watch(self) -> str:
        self._require_person("change the configuration")
        is_on = not self.is_watching()
        path = set_watch(self._home, is_on=is_on)
        if not is_on:
            return f"Sessions of other agents are imported on your word only (sessions.watch in {path})."
        from workbench.host.host_start import ensure_host

        ensure_host(self._home, self._journal, self._workspace)
        return (
            f"What other agents write is imported while a background process runs (sessions.watch in {path})."
        )

    def _import(
        self, sources: Iterable[ImportSource], goes_on: Callable[[str], bool], *, is_found: bool
    ) -> str:
        self._require_person("import sessions")
        last_report = [0.0]

        def report(words: str) -> None:
            now = time.monotonic()
            if now - last_report[0] < PROGRESS_SECONDS:
                return
            last_report[0] = now
            if not goes_on(words):
                raise ImportCancelled

        settings = session_settings(self._home)
        request = import_request(settings, is_found=is_found)
        result = import_sources(self._journal, sources, request, _ReportedProgress(report))
        expired = delete_expired_imports(self._journal, settings.keep_imported_days)
        words = f" {expired} were older than is kept, and are deleted." if expired else ""
        return imported_sentence(result) + words


OnProgress = Callable[[str], None]
_OTHER_IMPORT: Final = "waiting for another import to end"


def export_to_file(journal: Journal, session: Session, form: str, target: Path) -> int:
    """Write a session to a file, whole or not at all; return how many bytes it has."""
    if form == TRANSCRIPT:
        from workbench.backend.session_transcript import transcript_page

        parts = transcript_page(journal, session)
    else:
        parts = (f"{part}\n" for part in export_texts(journal, session, form))
    return write_atomic_parts(target, (part.encode("utf-8", "backslashreplace") for part in parts))


class _ReportedProgress:
    """Tells how much is read; what is told may raise, which ends the import."""

    def __init__(self, report: OnProgress) -> None:
        self._told, self._bytes, self._begin = report, 0, time.monotonic()
        self._files = self._all_files = self._all_bytes = 0

    def begin(self, files: int, size: int) -> None:
        self._begin, self._all_files, self._all_bytes = time.monotonic(), files, size

    def file_done(self) -> None:
        self._files += 1

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO:
        """Return the stream, with what is read of it told."""

        def note(count: int) -> None:
            self._bytes += count
            self._told(self._words(name))

        return counting_stream(stream, note)

    def _words(self, name: str) -> str:
        speed = self._bytes / max(0.001, time.monotonic() - self._begin)
        if self._all_files <= 1:
            return (
                f"{size_text(self._bytes)} read, {size_text(int(speed))}/s  {one_line(Path(name).name, 40)}"
            )
        left = duration_text(max(0, self._all_bytes - self._bytes) / max(1.0, speed), counts_on=True)
        sizes = f"{size_text(self._bytes)} of {size_text(max(self._all_bytes, self._bytes))}"
        return f"{self._files:,} of {self._all_files:,} files, {sizes}, {left} to go"

    def wait(self) -> None:
        self._told(_OTHER_IMPORT)

    def clear(self) -> None:
        """Say nothing more."""


def imported_sentence(result: ImportResult) -> str:
    """Return what came of an import; raises BackendError where nothing did."""
    if result.is_cancelled:
        return "The import was cancelled; files that it had finished stay imported."
    sessions = {session.session_id for report in result.reports for session in report.sessions}
    why = next((report.why_not for report in result.reports if report.why_not), "")
    if not sessions and not result.left_out and not result.unchanged:
        what = f": {one_line(why, 200)}" if why else ", no session was in it"
        raise BackendError(f"Nothing was imported{what}.")
    fresh = sum(result.added.get(session_id, 0) > 0 for session_id in sessions)
    grown = sum(result.added.get(session_id, 0) < 0 for session_id in sessions)
    parts = [f"{fresh} imported"] if fresh else []
    parts += [f"{grown} continued"] if grown else []
    parts += [f"{len(sessions) - fresh - grown} were here already"] if len(sessions) > fresh + grown else []
    parts += [f"{result.followed} followed live"] if result.followed else []
    left_out = result.left_out - result.followed
    parts += [f"{left_out} left out by the settings, or deleted before"] if left_out else []
    return f"{', '.join(parts) or 'Nothing is new'}.{_left_out_text(result.reports)}"


def _left_out_text(reports: list[FileReport]) -> str:
    kept = sum(session.kept for report in reports for session in report.sessions)
    problem_count = sum(len(session.problems) for report in reports for session in report.sessions)
    problem_count += sum(len(report.strays) for report in reports)
    unreadable = sum(bool(report.why_not) for report in reports)
    words = f" {kept} records were not understood and are kept." if kept else ""
    words += f" {unreadable} files were none." if unreadable else ""
    return words + (
        f" {problem_count} places had something wrong: workbench sessions import lists them."
        if problem_count
        else ""
    )


FILM_FORMATS: Final = {".html": "html", ".cast": "cast", ".svg": "svg"}
"""How a file's name ends, and what is written into it."""
_POLL_SECONDS: Final = 0.2
"""Seconds between two looks at how far it is."""


def export_film(
    journal: Journal, workspace: str, request: ExportRequest, report: Callable[[str], None]
) -> str:
    """Write a film or a picture, and return what to say."""
    refuse_inside_agents(journal, journal.home, "write a file")
    target = _target_path(workspace, request.path)
    log = journal.home.logs / f"export-{journal.clock.new_id()}.log"
    try:
        pid = start_workbench(_export_arguments(request, target), journal.home.path, log)
        _wait_for_process(pid, lambda: report(_last_log_line(log)))
        log_text = " ".join(_log_lines(log))
    except ProcessNotStarted as error:
        raise BackendError(f"Not written: {error.why}; {error.remedy}.") from None
    finally:
        log.unlink(missing_ok=True)
    if not target.exists():
        raise BackendError(f"Not written: {one_line(log_text, 300) or 'the export ended without a word'}")
    return f"Written: {one_line(str(target), 120)}, {size_text(target.stat().st_size)}."


def _target_path(workspace: str, path: str) -> Path:
    target = (Path(workspace) / Path(path).expanduser()).absolute()
    shown = one_line(str(target), 80)
    if target.suffix not in FILM_FORMATS:
        raise BackendError(f"Not written: {one_line(path, 60)} ends in none of {' '.join(FILM_FORMATS)}.")
    if target.exists():
        raise BackendError(f"Not written: {shown} is there already. Name another file.")
    if not target.parent.is_dir():
        raise BackendError(f"Not written: there is no folder {one_line(str(target.parent), 80)}.")
    return target


def _export_arguments(request: ExportRequest, target: Path) -> list[str]:
    form = FILM_FORMATS[target.suffix]
    across, down = (
        max(low, min(cells, high)) for low, cells, high in zip(NARROWEST, request.size, WIDEST, strict=True)
    )
    theme = request.theme if request.theme in THEMES else THEMES[0]
    moment = ["--at", f"#{request.index}"] if form == "svg" and request.index is not None else []
    return [
        "sessions", "export", "--format", form, "--output", str(target), "--size", f"{across}x{down}",
        "--theme", theme, *moment, "--", request.session_id,
    ]  # fmt: skip


def _wait_for_process(pid: int, look: Callable[[], None]) -> None:
    never = threading.Event()
    while (row := read_process(pid)) is not None and row.is_alive:
        never.wait(_POLL_SECONDS)
        look()


def _last_log_line(log: Path) -> str:
    return one_line(next(reversed(_log_lines(log)), ""), 200)


def _log_lines(log: Path) -> list[str]:
    try:
        lines = log.read_text("utf-8", "replace").split("\n")
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip()]


def fork_at_moment(journal: Journal, request: ForkRequest) -> str:
    """Make the fork that was asked for and return what to say."""
    from workbench.backend.session_fork import ForkOptions, ForkRefused, make_fork

    refuse_inside_agents(journal, journal.home, "fork a session")
    session = journal.session(request.session_id)
    if session is None:
        raise BackendError("No session was forked: it no longer exists.")
    options = ForkOptions(
        position=request.position, folder=request.folder, kind="worktree" if request.is_worktree else "copy"
    )
    try:
        fork = make_fork(journal, session, options, screen_actor())
    except (ForkRefused, NotAWorkspace) as error:
        raise BackendError(f"{error.what}: {error.why}; {error.remedy}.") from None
    with journal.snapshot() as database:
        key = unique_id_prefix(database, "session", fork.session_id)
    if fork.restored is None:
        return f"Forked: {key}, the conversation only. It is the newest session here."
    count, lost = len(fork.restored.files), len(fork.restored.lost)
    what = "1 file" if count == 1 else f"{count} files"
    lost_note = f", {lost} not restored: their bytes are gone" if lost else ""
    place = one_line(fork.workspace, 120)
    return f"Forked: {key}, {what} as then{lost_note}. workbench {place} continues it."
