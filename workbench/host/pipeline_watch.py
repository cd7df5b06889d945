"""Notice that a pipeline or a manifest of a workspace was changed, and say at once whether it is valid.

Owns the watching of their folders, in a thread. It must never start anything, nor touch a run under way: a
run keeps what it was started with.
"""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from workbench.effects.folderwatch import changes
from workbench.host.config_watch import SETTLE_MS, STEP_MS
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
        """Tell no more; the thread ends within half a second and nobody waits for it."""
        self._over.set()

    def _work(self) -> None:
        if self._over.wait(self._delay):
            return
        from workbench.pipelines import verdict

        self._verdict = verdict
        try:
            while not self._over.is_set():
                self._watch(self._folders())
        except (OSError, RuntimeError) as error:
            LOG.warning("changes of pipelines are not noticed: %s", error)

    def _folders(self) -> list[str]:
        """Return the folders that are there of those in which pipelines and manifests lie."""
        from workbench.pipelines.load import FOLDERS

        names = {"."} | {part for name in FOLDERS for part in (name, name.partition("/")[0])}
        paths = (f"{self._root}/{name}" if name != "." else self._root for name in sorted(names))
        return [path for path in paths if Path(path).is_dir()]

    def _watch(self, folders: list[str]) -> None:
        """Watch some folders until others are there."""
        self.is_watching.set()
        # The beat finds folders that were made before the watch had begun.
        for changed in changes(
            folders, self._over, is_wanted=self._is_ours, step_ms=STEP_MS, settle_ms=SETTLE_MS, has_beat=True
        ):
            if self._over.is_set():
                return
            self._told(sorted(changed))
            if self._folders() != folders:
                return

    def _is_ours(self, path: str) -> bool:
        return self._verdict.is_watched(self._root, path) or os.path.isdir(path)  # noqa: PTH112 -- text

    def _told(self, paths: list[str]) -> None:
        files = [path for path in paths if self._verdict.is_watched(self._root, path)]
        for path in files[:MOST_TOLD]:
            found = self._verdict.of_file(self._root, path)
            if found.is_error and not self._over.wait(HALF_WRITTEN):
                found = self._verdict.of_file(self._root, path)
            kept = "; the run under way keeps what it was started with"
            self._tell(found.words + kept * self._is_under_way(found.pipeline), found.is_error)
        if len(files) > MOST_TOLD:
            self._tell(f"{len(files) - MOST_TOLD} more files of pipelines changed", False)

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
