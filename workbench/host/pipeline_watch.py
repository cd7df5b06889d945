"""A thread that reads changed pipelines again and says what is wrong with them."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from workbench.domain.values import PIPELINE_FOLDERS
from workbench.effects.folder_changes import changed_files
from workbench.journal.errors import JournalError
from workbench.journal.journal import Journal

LOG = logging.getLogger("workbench.host")
HALF_WRITTEN_SECONDS: Final = 0.3
"""Seconds after which a file that is wrong is read again: it may have been caught while it was written."""
MAX_REPORTED_FILES: Final = 5
"""Most files of one change that are reported: a checkout of another branch changes them all."""
PipelineReport = Callable[[str, bool], None]
"""Is given a sentence, and whether it is about an error."""


class PipelineWatch:
    """A thread that tells of changed pipelines and manifests."""

    def __init__(self, journal: Journal, workspace: str, report: PipelineReport, delay: float = 0.0) -> None:
        """Watch the pipelines of a workspace; `report` is called in the thread, after `delay` seconds."""
        self._journal, self._root, self._report = journal, workspace, report
        self._closed = threading.Event()
        self._delay = delay
        self.is_watching = threading.Event()
        self._thread = threading.Thread(target=self._work, name="pipeline watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()

    def _work(self) -> None:
        if self._closed.wait(self._delay):
            return
        from workbench.pipelines.documents import watched_paths

        folders = (self._root, *(f"{self._root}/{folder}" for folder in PIPELINE_FOLDERS))
        self.is_watching.set()
        for paths in changed_files(lambda: watched_paths(self._root), folders, self._closed):
            self._report_changes(sorted(paths))

    def _report_changes(self, paths: list[str]) -> None:
        from workbench.pipelines.load import change_report

        for path in paths[:MAX_REPORTED_FILES]:
            change = change_report(self._root, path)
            if change.is_error and not self._closed.wait(HALF_WRITTEN_SECONDS):
                change = change_report(self._root, path)
            run_note = "; the run under way keeps what it was started with"
            self._report(change.words + run_note * self._is_under_way(change.pipeline), change.is_error)
        if len(paths) > MAX_REPORTED_FILES:
            self._report(f"{len(paths) - MAX_REPORTED_FILES} more files of pipelines changed", False)

    def _is_under_way(self, pipeline: str) -> bool:
        with suppress(JournalError):
            runs = self._journal.pipeline_states(self._root)
            return any(
                run.status in ("running", "waiting") and pipeline in ("", run.pipeline_name) for run in runs
            )
        return False


def log_pipeline_change(words: str, is_error: bool) -> None:
    """Say it in the log of a host."""
    LOG.log(logging.WARNING if is_error else logging.INFO, "%s", words)
