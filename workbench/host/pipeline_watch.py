"""Notice that a pipeline or a manifest of a workspace was changed, and say at once whether it is valid.

Owns the watching of their folders, in a thread. It must never start anything, nor touch a run under way: a
run keeps what it was started with.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from workbench.host.glances import Seen, changes, seen
from workbench.journal.errors import JournalError
from workbench.journal.journal import Journal

LOG = logging.getLogger("workbench.host")

HALF_WRITTEN: Final = 0.3
"""Seconds after which a file that is wrong is read again: it may have been caught while it was written."""

MOST_TOLD: Final = 5
"""Files of one change of which something is said: a checkout of another branch changes them all."""

Tell = Callable[[str, bool], None]
"""Is given a sentence, and whether it is about an error."""


class PipelineWatch:
    """A thread that tells of changed pipelines and manifests."""

    def __init__(self, journal: Journal, workspace: str, tell: Tell, delay: float = 0.0) -> None:
        """Begin to watch.

        Args:
            journal: asked for runs under way.
            workspace: real path.
            tell: called in the thread.
            delay: seconds before anything is loaded or watched.
        """
        self._journal, self._root, self._tell = journal, workspace, tell
        self._over = threading.Event()
        self._delay = delay
        self.is_watching = threading.Event()
        self._thread = threading.Thread(target=self._work, name="pipeline watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Tell no more; the thread ends at once and nobody waits for it."""
        self._over.set()

    def _work(self) -> None:
        if self._over.wait(self._delay):
            return
        from workbench.pipelines.places import watched

        def look() -> Seen:
            return seen(watched(self._root))

        before = look()
        self.is_watching.set()
        for paths in changes(look, before, self._over):
            if not self._over.is_set():
                self._told(sorted(paths))

    def _told(self, paths: list[str]) -> None:
        from workbench.pipelines.verdict import of_file

        for path in paths[:MOST_TOLD]:
            found = of_file(self._root, path)
            if found.is_error and not self._over.wait(HALF_WRITTEN):
                found = of_file(self._root, path)
            kept = "; the run under way keeps what it was started with"
            self._tell(found.words + kept * self._is_under_way(found.pipeline), found.is_error)
        if len(paths) > MOST_TOLD:
            self._tell(f"{len(paths) - MOST_TOLD} more files of pipelines changed", False)

    def _is_under_way(self, pipeline: str) -> bool:
        with suppress(JournalError):
            runs = self._journal.pipeline_states(self._root)
            return any(
                run.status in ("running", "waiting") and pipeline in ("", run.pipeline_name) for run in runs
            )
        return False


def logged(words: str, is_error: bool) -> None:
    """Say it in the log of a host."""
    LOG.log(logging.WARNING if is_error else logging.INFO, "%s", words)
