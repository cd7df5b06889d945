"""Textual driver that writes each frame in one piece and reads the terminal's input with our own reader.

The event loop never waits for a slow terminal: then the writer thread writes. What input means is decided in
`terminal_input`. Loaded by the app when it starts on a real terminal.
"""

# A frame is written by the loop itself, in one piece, where a pseudo-terminal of Linux has room. The
# framework's thread gets its turn when the loop is done with what comes after the frame. A terminal that is
# behind, a large frame, and anything that is no pseudo-terminal goes by the thread; nothing overtakes what
# the thread has not written.

import errno
import os
import select
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, Protocol, cast

from textual import constants
from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from workbench.tui.keyboard.keyboard_app import UnreadKeys
from workbench.tui.terminal_input import PasteStalled, TerminalInput

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp

POLLOUT: Final = 4
"""What `poll` says of a terminal that takes more; with another flag beside it, it is gone."""
_MAX_DIRECT_WRITE: Final = 16_384
"""Letters that are written at once: a pseudo-terminal that takes any takes more than these."""
_MAX_READ: Final = 65_536
_MAX_WAIT_SECONDS: Final = 0.1
"""How long the reading thread waits at most before it looks whether it has to end."""
PASTE_STALLED: Final = "A paste has no end mark yet, so keys go into it. esc esc or ctrl+c ctrl+c ends it."


class WritableProbe(Protocol):
    """Says whether a terminal takes more."""

    def poll(self, timeout: float = 0, /) -> list[tuple[int, int]]:
        """Return something if it does."""
        ...


class TerminalWriter:
    """A terminal that a thread writes to, as to a file; past it while the thread has nothing to do."""

    def __init__(self, file: IO[str], room: WritableProbe | None) -> None:
        """Write to a file.

        Args:
            file: The terminal.
            room: What says whether it takes more; None has everything written by the thread.
        """
        self._file, self._room = file, room
        self.flush, self.fileno, self.isatty = file.flush, file.fileno, file.isatty
        self._handed = self._written = 0
        self._lock = Lock()
        self._frame: list[str] | None = None

    def write(self, text: str) -> None:
        """Write what was handed to the thread."""
        self._file.write(text)
        self._written += 1

    def send(self, data: str, hand_over: Callable[[str], None]) -> None:
        """Write a text in its turn; of a frame nothing until its end.

        Args:
            data: Text and escape sequences.
            hand_over: Gives a text to the thread.
        """
        with self._lock:  # what reads keys is a thread as well, and writes
            if data == SYNC_START:
                self._frame = []
            if self._frame is not None:
                self._frame.append(data)
                if data != SYNC_END:
                    return
                data, self._frame = "".join(self._frame), None
            self._write_or(hand_over, data)

    def _write_or(self, hand_over: Callable[[str], None], data: str) -> None:
        is_next = self._handed == self._written and len(data) <= _MAX_DIRECT_WRITE
        # One that is gone takes nothing: the thread hears of that, and a signal ends the screen.
        if is_next and self._room is not None and [flags for _, flags in self._room.poll(0)] == [POLLOUT]:
            self._file.write(data)
            self._file.flush()
        else:
            self._handed += 1
            hand_over(data)


def writable_probe(file: IO[str]) -> WritableProbe | None:
    """Return what says whether a pseudo-terminal of Linux takes more; None for anything else."""
    if sys.platform != "linux" or not file.isatty() or not os.ttyname(file.fileno()).startswith("/dev/pts/"):
        return None
    probe = select.poll()
    probe.register(file.fileno(), select.POLLOUT)
    return probe


class FrameDriver(LinuxDriver, UnreadKeys):
    """The framework's driver of Linux and macOS, which writes whole frames."""

    def __init__(
        self,
        app: "App[Any]",
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)  # pyright: ignore[reportUnknownMemberType]
        # The framework draws on standard error; where that leads into a file, the terminal is the other one.
        is_shown = sys.__stderr__ is not None and sys.__stderr__.isatty()
        file = cast("IO[str]", sys.__stderr__ if is_shown else sys.__stdout__)
        self._terminal = TerminalWriter(file, writable_probe(file))
        self._file = cast("Any", self._terminal)
        self._input = TerminalInput(constants.ESCAPE_DELAY)

    @property
    def has_unread(self) -> bool:
        return self._input.is_waiting or self._can_read(0)

    def write(self, data: str) -> None:
        """Write to the terminal."""
        self._terminal.send(data, super().write)

    # --- input ------------------------------------------------------------------------------------

    def _run_input_thread(self) -> None:
        """Read input until the end; an error ends the screen as an error of the screen itself does."""
        try:
            self.run_input_thread()
        except BaseException as error:  # noqa: BLE001 -- a thread has nobody above it who would report one
            self._app.call_later(_raise, error)

    def run_input_thread(self) -> None:
        """Read input and send its events until the driver stops."""
        self._input = TerminalInput(constants.ESCAPE_DELAY)
        # What is no UTF-8 is no reason to end: it becomes the replacement character.
        decode = getincrementaldecoder("utf-8")("replace").decode
        is_joined = False
        while not self.exit_event.is_set():
            is_ready = self._can_read(0)
            is_joined = is_joined and is_ready
            if is_ready or self._can_read(self._seconds_until_due()):
                data = self._read()
                if not data:
                    self._app.call_later(self._app.exit)
                    return
                self._send(self._input.feed(decode(data), time.monotonic(), is_joined=is_joined))
                is_joined = True
            else:
                is_joined = False
                self._send(self._input.elapse(time.monotonic()))
        self._send(self._input.close())

    def _can_read(self, seconds: float) -> bool:
        return bool(select.select([self.fileno], [], [], seconds)[0])

    def _seconds_until_due(self) -> float:
        due = self._input.due
        if due is None:
            return _MAX_WAIT_SECONDS
        return min(_MAX_WAIT_SECONDS, max(0.0, due - time.monotonic()))

    def _read(self) -> bytes:
        """Read what the terminal sent; nothing where it is gone."""
        try:
            return os.read(self.fileno, _MAX_READ)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b""

    def _send(self, messages: list[Message]) -> None:
        for message in messages:
            if isinstance(message, PasteStalled):
                app = cast("WorkbenchApp", self._app)
                app.call_later(app.main.say, PASTE_STALLED)
            else:
                self.process_message(message)


def _raise(error: BaseException) -> NoReturn:
    if isinstance(error, Exception):
        raise error
    raise RuntimeError("the reading thread ended") from error
