"""Notice that a configuration file was changed, while somebody works by it.

Owns the thread that looks. It must never start anything; what cannot be looked at is not followed.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.host.glances import changes, seen


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
            files: Full paths; they need not be there.
            on_change: Called in the thread.
            delay: Seconds before anything is loaded or looked at; what changes meanwhile is noticed then.
            on_start: Called in the thread once, after the delay.
        """
        self._files = [str(path) for path in files]
        self._before = seen(self._files)
        self._on_change = on_change
        self._over = threading.Event()
        self._delay, self._on_start = delay, on_start
        self._thread = threading.Thread(target=self._work, name="config watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Call back no more; the thread ends at once and nobody waits for it."""
        self._over.set()

    def _work(self) -> None:
        if self._over.wait(self._delay):
            return
        if self._on_start is not None:
            self._on_start()
        for _ in changes(lambda: seen(self._files), self._before, self._over):
            if not self._over.is_set():
                self._on_change()
