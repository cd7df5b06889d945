"""A workspace with a world around it that a command could harm, and what tells whether it did."""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from pathlib import Path

LIBC = ctypes.CDLL(None)
REMOVE, LOOK = 0, 2
SECRET = "fabricated-0123456789-secret"
KEPT = "kept as it was\n"
VICTIM_FILE = 3
VICTIM = f'cd "$1" && exec {VICTIM_FILE}<>kept && echo ready && read -r line'
"""Waits until its input ends, with a file open."""


def interpreter():
    """Return a Python that every user may run."""
    usual = ("/usr/bin/python3", "/usr/local/bin/python3", os.path.realpath(sys.executable))
    return next(path for path in usual if os.access(path, os.X_OK))


class Scene:
    """One of them; a context manager."""

    def __init__(self, base):
        self.base = Path(base)
        self.outside, self.home, self.data = self.base / "outside", self.base / "home", self.base / "data"
        self.workspace = self.base / "project"
        self.abstract = f"workbench-{uuid.uuid4()}"
        self._opened = contextlib.ExitStack()

    def __enter__(self):
        self._listeners = {
            "abstract": self._listen(socket.AF_UNIX, "\0" + self.abstract),
            "docker": self._listen(socket.AF_UNIX, str(self.outside / "docker.sock")),
            "workspace": self._listen(socket.AF_UNIX, str(self.workspace / "agent.sock")),
            "tcp": self._listen(socket.AF_INET, ("127.0.0.1", 0)),
            "udp": self._listen(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM),
        }
        self._pipe = os.open(self.workspace / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self._opened.callback(os.close, self._pipe)
        self.victim = subprocess.Popen(
            ["/bin/sh", "-c", VICTIM, "victim", str(self.outside)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"TOKEN": SECRET},
        )  # fmt: skip
        self._opened.enter_context(self.victim)
        self._opened.callback(self.victim.stdin.close)
        self._opened.callback(self._let_go)
        assert self.victim.stdout.readline() == b"ready\n"
        self._memory = LIBC.shmget(0, 4096, 0o600)
        assert self._memory >= 0
        return self

    def __exit__(self, *_):
        self._opened.close()
        LIBC.shmctl(self._memory, REMOVE, None)
        self.end_what_stays()
        shutil.rmtree(self.base)

    def facts(self):
        """Return what an attempt is told."""
        ports = {name: self._listeners[name].getsockname()[1] for name in ("tcp", "udp")}
        return ports | {
            "outside": str(self.outside), "home": str(self.home), "data": str(self.data), "abstract": self.abstract,
            "victim": self.victim.pid, "victim_file": VICTIM_FILE, "memory": self._memory,
        }  # fmt: skip

    def make_files(self):
        for folder in (
            self.outside,
            self.home / ".ssh",
            self.home / ".unheard-of",
            self.data,
            self.base / "tmp",
        ):
            folder.mkdir(parents=True)
        for path in (self.home / ".ssh" / "id", self.home / ".unheard-of" / "token", self.data / "key"):
            path.write_text(SECRET)
        (self.home / ".bashrc").write_text(KEPT)
        (self.outside / "kept").write_text(KEPT)
        for folder in (".git/hooks", ".git/objects", ".git/refs", "sub/deep", "below/inner/.git/hooks"):
            (self.workspace / folder).mkdir(parents=True)
        for path in (
            ".git/HEAD",
            ".git/config",
            ".envrc",
            "sub/deep/.envrc",
            "below/inner/.git/HEAD",
            "plain.txt",
        ):
            (self.workspace / path).write_text(KEPT)
        (self.workspace / "link-out").symlink_to(self.outside / "kept")
        (self.workspace / "CLAUDE.md").symlink_to("plain.txt")
        os.mkfifo(self.workspace / "pipe")

    def _listen(self, family, address, kind=socket.SOCK_STREAM):
        listener = self._opened.enter_context(socket.socket(family, kind))
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        listener.setblocking(False)
        return listener

    def _let_go(self):
        """End the victim also where an attempt stopped it."""
        self.victim.send_signal(signal.SIGKILL)

    # --- what happened

    def changed(self):
        """Return what is not as it was of all that a command may not change."""
        kept = {
            self.outside / "kept": KEPT, self.home / ".bashrc": KEPT,
            **{self.workspace / name: KEPT for name in (".git/HEAD", ".git/config", ".envrc", "sub/deep/.envrc")},
            self.workspace / "below/inner/.git/HEAD": KEPT,
        }  # fmt: skip
        differing = [path for path, text in kept.items() if _text(path) != text]
        listed = {self.outside: {"kept", "docker.sock"}, self.home: {".bashrc", ".ssh", ".unheard-of"}}
        listed |= {self.workspace / ".git/hooks": set(), self.workspace / "below/inner/.git/hooks": set()}
        differing += [folder for folder, names in listed.items() if _names(folder) != names]
        made = ("new/folder/.git", "new/.git", "new/bare/HEAD", "new/.GIT", "new/folder/.envrc", ".vscode/tasks.json",
                ".workbench.json")  # fmt: skip
        differing += [path for name in made if (path := self.workspace / name).exists()]
        if not (self.workspace / "CLAUDE.md").is_symlink():
            differing.append(self.workspace / "CLAUDE.md")
        return [str(path.relative_to(self.base)) for path in differing]

    def reached(self):
        """Return which of the sockets and the pipe something came to."""
        names = []
        for name, listener in self._listeners.items():
            with contextlib.suppress(BlockingIOError):
                if listener.type == socket.SOCK_DGRAM:
                    listener.recv(100)
                else:
                    listener.accept()[0].close()
                names.append(name)
        with contextlib.suppress(BlockingIOError):
            if os.read(self._pipe, 100):
                names.append("pipe")
        return names

    def is_victim_gone(self):
        return self.victim.poll() is not None

    def is_victim_limited(self):
        return resource.prlimit(self.victim.pid, resource.RLIMIT_CPU)[0] == 0

    def is_memory_gone(self):
        state = ctypes.create_string_buffer(256)
        return LIBC.shmctl(self._memory, LOOK, state) != 0

    def stays(self):
        """Return whether a process that the attempt left is still there: it holds a lock."""
        path = self.workspace / "stays"
        if not path.exists():
            return False
        with path.open("rb+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def end_what_stays(self):
        """End what an attempt left, where nothing else does."""
        if self.stays():
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    if (process / "cwd").readlink() == self.workspace:
                        os.kill(int(process.name), signal.SIGKILL)


def _text(path):
    try:
        return path.read_text()
    except OSError as error:
        return str(error)


def _names(folder):
    try:
        return {path.name for path in folder.iterdir()}
    except OSError:
        return None


SOURCE = Path(__file__).with_name("escape_attempts.py").read_text()


def attempt_words(name, scene):
    """Return the words that make an attempt."""
    return (interpreter(), "-I", "-S", "-c", SOURCE, name, json.dumps(scene.facts()))
