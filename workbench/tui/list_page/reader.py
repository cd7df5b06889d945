"""Reads in a thread what a page lists, one reading at a time, and again if something changed meanwhile."""

from collections.abc import Callable
from functools import partial
from typing import Final, Generic, TypeVar

from textual.timer import Timer
from textual.widget import Widget

from workbench.tui.render_context import context_of

ResultT = TypeVar("ResultT")
REREAD_SECONDS: Final = 0.25
"""Seconds between two readings while agents work."""


def run_in_thread(owner: Widget, work: Callable[[], object], description: str) -> None:
    """Run a function in a thread on behalf of a widget; several may run at the same time."""
    owner.run_worker(
        work, group=owner.id or "", description=description, thread=True, exit_on_error=False, exclusive=False
    )  # fmt: skip


class ListReader(Generic[ResultT]):
    """The readings of one page or screen."""

    def __init__(
        self,
        owner: Widget,
        read: Callable[[], ResultT],
        show: Callable[[ResultT], None],
        fail: Callable[[Exception], None],
    ) -> None:
        """Read nothing yet.

        Args:
            owner: The page or screen; nothing is shown once it has left.
            read: Reads, in a thread.
            show: Shows what was read, in the event loop.
            fail: Called instead of `show` when reading failed.
        """
        self._owner, self._read, self._show, self._fail = owner, read, show, fail
        self._is_reading, self._is_overtaken = False, False
        self._timer: Timer | None = None

    def read(self) -> None:
        """Read now; while a reading is under way only note that another one has to follow it."""
        if self._is_reading:
            self._is_overtaken = True
            return
        self._is_reading, self._is_overtaken = True, False
        run_in_thread(self._owner, self._read_there, "read a list")

    def read_soon(self, seconds: float | None = None) -> None:
        """Read after some seconds (None: a few times a second) if the owner is on the screen by then."""
        if self._timer is None:
            wait = REREAD_SECONDS if seconds is None else seconds
            self._timer = self._owner.set_timer(wait, self._read_if_shown)

    def _read_if_shown(self) -> None:
        self._timer = None
        if self._owner.display:
            self.read()

    def _read_there(self) -> None:
        try:
            show = partial(self._show, self._read())
        except Exception as error:  # noqa: BLE001 whatever a reading raises is shown, nothing is hidden
            show = partial(self._fail, error)
        context_of(self._owner).call_from_thread(self._end, show)

    def _end(self, show: Callable[[], None]) -> None:
        self._is_reading = False
        if self._owner.is_attached:
            show()
        if self._is_overtaken:
            self.read()
