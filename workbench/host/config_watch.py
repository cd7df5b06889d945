"""Notice that a configuration file was changed, while somebody works by it.

Owns which files count. It must never start anything; what it cannot watch is not followed.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from workbench.effects.folderwatch import changes

LOG = logging.getLogger("workbench.host")

STEP_MS: Final = 1_500
"""How often the collected changes are looked at: each look is a wake-up of a screen that rests."""

SETTLE_MS: Final = 1_500


class ConfigWatch:
    """A thread that calls back after one of some files was changed, made, replaced or removed."""

    def __init__(
        self,
        files: Sequence[Path],
        on_change: Callable[[], None],
        delay: float = 0.0,
        on_start: Callable[[], None] | None = None,
    ) -> None:
        """Begin to watch.

        Args:
            files: Full paths; they need not be there, their folders must.
            on_change: Called in the thread.
            delay: Seconds before anything is loaded or watched.
            on_start: Called in the thread once, after the delay.
        """
        self._files = {str(path) for path in files}
        self._on_change = on_change
        self._over = threading.Event()
        self._delay, self._on_start = delay, on_start
        self._thread = threading.Thread(target=self._work, name="config watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Call back no more; the thread ends within `STEP_MS` and nobody waits for it."""
        self._over.set()

    def _work(self) -> None:
        if self._over.wait(self._delay):
            return
        if self._on_start is not None:
            self._on_start()
        folders = sorted({str(Path(name).parent) for name in self._files})
        try:
            for _ in changes(
                folders, self._over, is_wanted=self._files.__contains__, step_ms=STEP_MS, settle_ms=SETTLE_MS
            ):
                if not self._over.is_set():
                    self._on_change()
        except (OSError, RuntimeError) as error:
            LOG.warning("changes of the configuration are not noticed: %s", error)
