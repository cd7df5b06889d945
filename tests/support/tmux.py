"""A window of tmux, as the terminal that many people really have: keys go in, what is on it comes out."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from tests.support.terminal import MOST_REST
from tests.support.waits import PATIENCE


class Tmux:
    """One program in one window of a server of its own; `Terminal`'s ways, as far as they are wanted."""

    def __init__(self, argv, *, cwd, env, columns=120, rows=36):
        # A socket's path may have about 100 characters, a test's folder often has more.
        self._folder = tempfile.mkdtemp(prefix="tmux-")
        self._env = {**env, "TMUX_TMPDIR": self._folder, "TERM": "xterm-256color"}
        self._env.pop("TMUX", None)
        self._argv, self._cwd = [str(word) for word in argv], str(cwd)
        self._size = ["-x", str(columns), "-y", str(rows)]
        self._tell("-f", os.devnull, "new-session", "-d", *self._size, "-c", self._cwd, self._line())
        self._tell("set-option", "-g", "remain-on-exit", "on")

    def _line(self):
        return "exec " + shlex.join(self._argv)

    def _tell(self, *words):
        done = subprocess.run(
            ["tmux", "-u", *words], env=self._env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def press(self, keys):
        """Type keys, all at once."""
        self._tell("send-keys", "-l", keys)

    def text(self):
        """Return what is on the window."""
        return self._tell("capture-pane", "-p")

    def pump(self, seconds):
        """Let the program draw for a time."""
        time.sleep(seconds)

    def rest(self):
        """Let the program draw: when it has done so cannot be seen from here."""
        time.sleep(MOST_REST)

    def until(self, *wanted, seconds=PATIENCE, gone=()):
        """Wait until all texts are on the window and none of `gone`; return what is on it."""
        end = time.monotonic() + seconds
        while True:
            shown = self.text()
            if all(text in shown for text in wanted) and not any(text in shown for text in gone):
                return shown
            assert time.monotonic() < end, f"{wanted} did not come, or {gone} did not go:\n{shown}"
            time.sleep(0.1)

    def resize(self, columns, rows):
        """Change the size as a window would."""
        self._tell("resize-window", "-x", str(columns), "-y", str(rows))

    @property
    def pid(self):
        """Return the program's process id."""
        return int(self._tell("display-message", "-p", "#{pane_pid}"))

    def kill(self):
        """Kill the program without a word, and wait until it is gone."""
        pid, end = self.pid, time.monotonic() + PATIENCE
        os.kill(pid, signal.SIGKILL)
        while _lives(pid):
            assert time.monotonic() < end, f"{pid} lives on"
            self._look_after_children()
            time.sleep(0.05)

    def _look_after_children(self):
        """Tell the server again that a child ended: now and then it misses that, and waits for ever."""
        os.kill(int(self._tell("display-message", "-p", "#{pid}")), signal.SIGCHLD)

    def again(self):
        """Start the program once more, in the window of the one that ended."""
        self._tell("respawn-pane", "-k", "-c", self._cwd, self._line())

    def wait(self, seconds=PATIENCE):
        """Wait for the end of the program and return its exit code."""
        end = time.monotonic() + seconds
        while not (code := self._tell("display-message", "-p", "#{pane_dead_status}").strip()):
            assert time.monotonic() < end, self.text()
            self._look_after_children()
            time.sleep(0.1)
        return int(code)

    def close(self):
        """End the server and with it the program."""
        subprocess.run(["tmux", "kill-server"], env=self._env, capture_output=True, check=False)
        shutil.rmtree(self._folder, ignore_errors=True)


def _lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
