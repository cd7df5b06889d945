"""Keeps imported sessions in step with the folders of agents: a thread of the background process.

On only where `sessions.watch` says so; of several background processes one watches. It imports as every other
import does, one at a time, and deletes what `sessions.keep_imported_days` keeps no longer.
"""

# A session at work grows with every line. A file that grew is read on from where reading ended; only one
# whose beginning changed is read whole. Each is read again only after twenty times as long as the last
# reading took. A half-written line is read when it is whole.

import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Final

from workbench.config.layers import USER_CONFIG_FILE
from workbench.config.sections import SessionSettings
from workbench.effects.file_locks import FileLock
from workbench.effects.file_primitives import FileRefused
from workbench.effects.folder_changes import tree_changes
from workbench.formats.agent_folders import AgentFolder, find_agent_folders
from workbench.formats.import_sources import ImportSource
from workbench.host.import_choice import (
    ImportRefused,
    LeftOut,
    delete_expired_imports,
    import_request,
    session_settings,
)
from workbench.host.session_import import ImportResult, SilentProgress, import_sources, state_of
from workbench.journal.errors import JournalError
from workbench.journal.home import Home
from workbench.journal.imported_files import forget_missing_files
from workbench.journal.journal import Journal

LOG = logging.getLogger("workbench.host")
WATCH_LOCK: Final = "import-watch.lock"
"""Held by the process that watches."""
_OFF_SECONDS: Final = 5.0
"""Between two looks whether watching was turned on."""
_OTHER_SECONDS: Final = 15.0
"""Between two looks whether the process that watches has ended, and after an error."""
_FLAT_SECONDS: Final = 10.0
"""Between two looks at single files, where no folder is watched."""
_LIST_SECONDS: Final = 900.0
"""Between two looks at all files, changed or not."""
_RETENTION_SECONDS: Final = 3600.0
_REST_SHARE: Final = 20
"""How many times as long as its last reading a file rests before it is read again."""
_CLOSE_SECONDS: Final = 3.0


class ImportWatch:
    """A thread that imports what agents write, while the settings ask for it."""

    def __init__(self, home: Home, journal: Journal, workspace: str, delay: float = 0.0) -> None:
        """Begin after `delay` seconds; `workspace` is a folder that agents may work in."""
        self._home, self._journal, self._workspace, self._delay = home, journal, workspace, delay
        self._stop = threading.Event()
        self._config_state: tuple[int, int] | None = None
        self._settings = SessionSettings()
        self._due: dict[str, ImportSource] = {}
        """What has changed and was not read since, by name."""
        self._rests_until: dict[str, float] = {}
        self._followed: set[str] = set()
        """Files of which it was said that they are followed live."""
        self._expired_at = float("-inf")
        self._thread = threading.Thread(target=self._work, name="import watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it; a file that is being read is taken back."""
        self._stop.set()
        self._thread.join(_CLOSE_SECONDS)

    def _work(self) -> None:
        if self._stop.wait(self._delay):
            return
        with FileLock(self._home.run / WATCH_LOCK) as lock:
            while not self._stop.is_set():
                try:
                    pause = self._step(lock)
                except (JournalError, OSError, RuntimeError, FileRefused) as error:
                    LOG.warning("sessions of other agents were not imported: %s", error)
                    pause = _OTHER_SECONDS
                self._stop.wait(pause)

    def _step(self, lock: FileLock) -> float:
        """Do what is due; returns seconds until the next look."""
        self._read_settings()
        self._delete_expired()
        if not self._settings.watch:
            lock.release()
            return _OFF_SECONDS
        if not lock.is_mine and not lock.try_acquire():
            return _OTHER_SECONDS
        self._import_changes()
        return _OFF_SECONDS

    def _read_settings(self) -> bool:
        """Read the settings again if the file was changed; returns whether it was."""
        path = self._home.path / USER_CONFIG_FILE
        status = path.stat() if path.exists() else None
        state = (status.st_mtime_ns, status.st_size) if status is not None else (0, 0)
        if state == self._config_state:
            return False
        self._config_state = state
        try:
            self._settings = session_settings(self._home)
        except ImportRefused as error:
            LOG.warning("%s", error)
            self._settings = SessionSettings()
        return True

    def _delete_expired(self) -> None:
        now = time.monotonic()
        if now - self._expired_at < _RETENTION_SECONDS:
            return
        self._expired_at = now
        if self._settings.watch:
            forget_missing_files(self._journal)
        if count := delete_expired_imports(self._journal, self._settings.keep_imported_days):
            LOG.info(
                "deleted %d imported sessions older than %d days", count, self._settings.keep_imported_days
            )

    def _import_changes(self) -> None:
        """Import what is new, then what changes, until the settings change or folders come and go."""
        folders = self._folders()
        for folder in folders:
            self._queue_sources(folder.sources())
        self._import_due()
        titles = sorted({folder.title for folder in folders})
        LOG.info("in step with the sessions of %s", ", ".join(titles) or "no agent")
        trees = {os.path.realpath(folder.path): folder for folder in folders if not folder.is_flat}
        states = {source.name: state_of(source) for source in _flat_sources(folders)}
        listed_at = float("-inf")
        for paths in self._changes(trees):
            for path in paths:
                self._queue_sources(_sources_of(path, trees))
            if time.monotonic() - listed_at > _LIST_SECONDS:
                # What came before the watch had begun, and what the system lost of too many changes at once.
                listed_at = time.monotonic()
                for folder in folders:
                    self._queue_sources(folder.sources())
            for source in _flat_sources(folders):
                before, states[source.name] = states.get(source.name), state_of(source)
                if states[source.name] != before:
                    self._queue_sources([source])
            self._import_due()
            self._delete_expired()
            if self._read_settings() or (not paths and self._folders() != folders):
                return

    def _changes(self, trees: Iterable[str]) -> Iterator[frozenset[str]]:
        if trees:
            yield from tree_changes(trees, self._stop)
        while not trees and not self._stop.wait(_FLAT_SECONDS):
            yield frozenset()

    def _folders(self) -> list[AgentFolder]:
        left_out = LeftOut(self._settings.leave_out)
        folders = find_agent_folders(self._workspace)
        return [folder for folder in folders if not left_out.has_history(folder)]

    def _queue_sources(self, sources: Iterable[ImportSource]) -> None:
        left_out = LeftOut(self._settings.leave_out)
        for source in sources:
            if not left_out.has_source(source):
                self._due[source.name] = source

    def _import_due(self) -> None:
        now = time.monotonic()
        ready = [name for name in self._due if self._rests_until.get(name, 0.0) <= now]
        sources = [self._due.pop(name) for name in ready]
        if not sources:
            return
        request = import_request(self._settings, is_found=True)
        started_at = time.monotonic()
        result = import_sources(self._journal, sources, request, SilentProgress(self._stop.is_set))
        seconds = time.monotonic() - started_at
        rest_until = time.monotonic() + seconds * _REST_SHARE
        self._rests_until = {name: moment for name, moment in self._rests_until.items() if moment > now}
        self._rests_until.update(
            (report.name, rest_until) for report in result.reports if not report.is_unchanged
        )
        _log_result(result)
        followed = {report.name for report in result.reports if report.followed}
        for name in followed - self._followed:
            LOG.info("%s is followed live: it is recorded while its agent works, and not imported", name)
        self._followed |= followed


def _log_result(result: ImportResult) -> None:
    new = sum(count > 0 for count in result.added.values())
    grown = sum(count < 0 for count in result.added.values())
    if new or grown:
        LOG.info("sessions of other agents: %d imported, %d continued", new, grown)


def _flat_sources(folders: Iterable[AgentFolder]) -> Iterator[ImportSource]:
    """Yield single files: they are looked at, as a watch would be woken by all that lies beside them."""
    for folder in folders:
        if folder.is_flat:
            yield from folder.sources()


def _sources_of(path: str, trees: dict[str, AgentFolder]) -> Iterator[ImportSource]:
    """Yield the sources that a changed path belongs to."""
    for root, folder in trees.items():
        if path.startswith(f"{root}/"):
            yield from folder.sources_of(path[len(root) + 1 :])
