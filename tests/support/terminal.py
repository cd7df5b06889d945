"""A terminal in memory: the program runs in a pseudo-terminal, pyte says what is on the screen."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

from tests.support.keys import decide
from tests.support.waits import PATIENCE, is_at_work, is_readable

_OWN_TERMINAL = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"


def controlled(argv):
    """Return a command line whose terminal controls it, as a terminal program's does: ctrl+c, `/dev/tty`."""
    return [sys.executable, "-c", _OWN_TERMINAL, *map(str, argv)]


REST = 0.6
"""Seconds: longer than a key is dead after something new came."""
MOST_REST = 1.0
"""Seconds after which a screen that draws on, such as a countdown, is taken as one that rests."""


def trust(terminal, *, may_read=True):
    """Go from the composer to the question of trust, choose, and answer it."""
    terminal.rest()
    for key in ("\r", *(["l"] if may_read else []), "\x14"):
        terminal.press(key)
        terminal.rest()


def leave(terminal):
    """Leave from wherever the keys go, although something waits."""
    terminal.rest()
    terminal.press("\x1b")
    terminal.rest()
    decide(terminal, "q")
    assert terminal.wait() == 0


class Terminal:
    """One program in one terminal; keys go in, the picture comes out."""

    def __init__(self, argv, *, cwd, env, columns=120, rows=36, kind="xterm-256color"):
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._reads, self._has_answered = 0, True
        self._text = None
        self._master, slave = pty.openpty()
        self._size(columns, rows)
        env = {**env, "TERM": kind, "COLORTERM": "truecolor", "COLUMNS": "", "LINES": ""}
        self.process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)

    def resize(self, columns, rows):
        """Change the size as a window would."""
        self._size(columns, rows)
        self.screen.resize(rows, columns)
        self._text = None
        os.killpg(self.process.pid, signal.SIGWINCH)

    def _size(self, columns, rows):
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        """Type keys, all at once."""
        self._has_answered = False
        os.write(self._master, keys.encode())

    def text(self):
        """Return what is on the screen; put together once for each part that the program draws."""
        if self._text is None:
            self._text = "\n".join(self.screen.display)
        return self._text

    def pump(self, seconds):
        """Read what the program draws for a time; False when it has ended."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not self._take(left):
                return False
        return True

    def read_to_end(self):
        """Read what a program has drawn that has ended."""
        assert not self.pump(PATIENCE), self.text()

    def rest(self, quiet=REST, most=MOST_REST):
        """Read what the program draws until it has answered the last key and then drawn nothing for a time."""
        end = time.monotonic() + most
        while (left := end - time.monotonic()) > 0:
            before = self._reads
            if not self._take(min(quiet, left) if self._has_answered else left) or self._reads == before:
                break
        # On a busy machine it may not have come to draw at all.
        for _ in range(round(PATIENCE / quiet)):
            if not is_at_work(self.process.pid) or not self._take(quiet):
                return

    def _take(self, seconds):
        """Read what is drawn next, if something is within a time; False when the program has ended."""
        if is_readable(self._master, seconds):
            try:
                data = os.read(self._master, 65_536)
            except OSError:
                return False
            if not data:
                return False
            self._reads += 1
            self._has_answered = True
            self._stream.feed(data)
            self._text = None
        return True

    def shows(self, *wanted, seconds):
        """Wait for texts that may not come; return whether they did."""
        end = time.monotonic() + seconds
        while not (found := all(text in self.text() for text in wanted)) and time.monotonic() < end:
            self.pump(0.05)
        return found

    def asks_before_end(self, question, seconds=PATIENCE):
        """Wait until the program ends or asks a question; return whether it asks."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            if question in self.text():
                return True
            self.pump(0.05)
        return False

    def until(self, *wanted, seconds=PATIENCE, gone=()):
        """Wait until all texts are on the screen and none of `gone`; return the screen."""
        end = time.monotonic() + seconds
        while True:
            shown = self.text()
            if all(text in shown for text in wanted) and not any(text in shown for text in gone):
                return shown
            assert time.monotonic() < end, f"{wanted} did not come, or {gone} did not go:\n{shown}"
            self.pump(0.05)

    def until_true(self, holds):
        """Wait until a function returns something true; what the program draws meanwhile is read."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, self.text()
            self.pump(0.05)

    def wait(self, seconds=PATIENCE):
        """Wait for the end of the program and return its exit code."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, self.text()
            self.pump(0.05)
        return self.process.returncode

    def close(self):
        """End the program."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)
