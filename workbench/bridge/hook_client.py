"""The program that an agent's hook runs: it passes the hook's input on, and prints the answer.

It is run as `python -I -S FILE AGENT EVENT DATA OTHERWISE SECONDS [START ...]`, a file on its own: nothing is
imported but modules that are part of the interpreter, so that it starts as fast as Python does. It decides
nothing, except what happens without a background process: OTHERWISE is `ask` (leave the call to the agent's
own prompt), `deny`, or `leave` (the event is not about permission). `ask` denies in a mode without prompts.
`leave` lets the agent continue at once where a background process has to be started first, and then reports.
"""

import _socket
import posix
import sys
import time

BLOCKED = 2
"""Exit code by which every agent takes a call as denied."""
UNASKING_MODES = (b"bypassPermissions", b"yolo")
"""Modes of agents in which they ask their user nothing."""
START_SECONDS = 10.0
"""Seconds that a background process has to open its socket."""
RETURN_SECONDS = 30.0
"""Seconds that one has to come back which has ended without an answer."""
PAUSE_SECONDS = 0.02
MARGIN_SECONDS = 5
"""Seconds before the hook's own timeout at which it stops waiting."""
MAX_INPUT_BYTES = 64_000_000
DENIED = b"Not allowed: workbench has to be asked about this, and does not answer. Tell the user."

Output = tuple[int, bytes, bytes]
"""Exit code, stdout and stderr."""


class NoAnswer(Exception):
    """No background process answers this hook."""


class Lost(Exception):
    """The connection ended before an answer."""


def socket_name(folder: bytes) -> str:
    """Return the name of a workspace's socket."""
    for module in ("_sha2", "_sha256", "hashlib"):  # the first two are parts of the third, by version
        try:
            return __import__(module).sha256(folder).hexdigest()[:16] + ".sock"
        except ImportError:
            continue
    raise NoAnswer


def exists(path: str) -> bool:
    """Return whether a file is there."""
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def nearest_served(folder: bytes) -> bytes | None:
    """Return the nearest folder at or above one whose socket is in the current folder."""
    while not exists(socket_name(folder)):
        above = folder.rpartition(b"/")[0] or b"/"
        if above == folder:
            return None
        folder = above
    return folder


def read_input() -> bytes:
    """Return what is on stdin, or more bytes than are allowed."""
    parts: list[bytes] = []
    size = 0
    while size <= MAX_INPUT_BYTES and (part := posix.read(0, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def write_all(descriptor: int, data: bytes) -> None:
    """Write bytes to a descriptor, however often that takes."""
    while data:
        data = data[posix.write(descriptor, data) :]


def encoded(text: str) -> bytes:
    """Return a word of the command line as it was given."""
    return text.encode("utf-8", "surrogateescape")


def discard_output() -> None:
    """Read nothing and print nothing any more, so that who started this does not wait for it."""
    null = posix.open("/dev/null", posix.O_RDWR)
    for descriptor in (0, 1, 2):
        posix.dup2(null, descriptor)


def continue_alone() -> bool:
    """Continue in a process of its own; False in the one that the agent waits for."""
    if posix.fork():
        return False
    posix.setsid()
    discard_output()
    return True


def start(command: list[str], folder: bytes, data: bytes) -> None:
    """Start the background process of a folder, detached from the agent."""
    kept = {name: value for name, value in posix.environ.items() if not name.startswith(b"PYTHON")}
    kept[b"WORKBENCH_HOME"] = data
    argv = [*map(encoded, command), folder]
    if child := posix.fork():
        posix.waitpid(child, 0)
        return
    try:
        posix.setsid()
        if posix.fork() == 0:
            discard_output()
            posix.chdir(data)
            posix.execve(argv[0], argv, kept)
    finally:
        posix._exit(0)  # pyright: ignore[reportPrivateUsage]


def is_first_to_start(folder: bytes) -> bool:
    """Return whether no other hook that ended starts the process of a folder; keeps a lock until it exits."""
    file = posix.open(socket_name(folder) + ".start", posix.O_CREAT | posix.O_RDWR, 0o600)
    try:
        posix.lockf(file, posix.F_TLOCK, 0)
    except OSError:
        posix.close(file)
        return False
    return True


def connect(folder: bytes, until: float | None) -> _socket.socket:
    """Return a connection to a folder's background process. Raises OSError."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(None if until is None else max(0.1, until - time.monotonic()))
    connection.connect(socket_name(folder))
    return connection


def receive(connection: _socket.socket, size: int) -> bytes:
    """Return exactly so many bytes. Raises Lost."""
    parts: list[bytes] = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise Lost
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def receive_words(connection: _socket.socket) -> list[bytes]:
    """Return the words of a line. Raises Lost or NoAnswer."""
    line = b""
    while not line.endswith(b"\n"):
        if len(line) > 4_096:
            raise NoAnswer
        line += receive(connection, 1)
    return line.split()


def converse(connection: _socket.socket, message: bytes) -> Output | bytes:
    """Send a hook's input; return its answer, or the folder that has to be asked. Raises Lost or NoAnswer."""
    connection.sendall(message)
    words = receive_words(connection)
    if words[:1] == [b"elsewhere"]:
        return receive(connection, int(words[1]))
    if words[:1] != [b"hook"]:
        raise NoAnswer
    code, out, err = map(int, words[1:])
    return code, receive(connection, out), receive(connection, err)


class Hook:
    """One run of a hook."""

    def __init__(
        self, agent: str, event: str, data: str, otherwise: str, seconds: str, command: list[str]
    ) -> None:
        self.agent, self.event, self.otherwise, self.command = agent, event, otherwise, command
        self.data, self.seconds, self.input = encoded(data), int(seconds), b""
        self.until = time.monotonic() + self.seconds - MARGIN_SECONDS if self.seconds else None

    def run(self) -> int:
        """Print the answer, and return the exit code. Raises NoAnswer, or any error."""
        self.input = read_input()
        if len(self.input) > MAX_INPUT_BYTES:
            self.otherwise = "leave" if self.otherwise == "leave" else "deny"
            raise NoAnswer
        folder = self.own_folder()
        posix.chdir(self.data + b"/run")
        message, folder = self.message(), nearest_served(folder) or folder
        for _ in range(3):
            answer = self.answer_of(folder, message)
            if isinstance(answer, tuple):
                return answer[0]
            folder = answer  # the session belongs to that one
        raise NoAnswer

    def own_folder(self) -> bytes:
        """Return the real path of the folder that the agent was started in, as far as it says so."""
        if project := posix.environ.get(encoded(self.agent.upper()) + b"_PROJECT_DIR"):
            posix.chdir(project)
        return posix.getcwdb()

    def message(self) -> bytes:
        """Return header and input; their nonce names this run, however often they are sent."""
        header = (
            f'{{"type":"hook","agent":"{self.agent}","event":"{self.event}","pid":{posix.getppid()},'
            f'"nonce":"{posix.urandom(16).hex()}","size":{len(self.input)},"waits":{self.seconds}}}\n'
        )
        return encoded(header) + self.input

    def answer_of(self, folder: bytes, message: bytes) -> Output | bytes:
        """Return what the background process of a folder says; asked again where it ends before that."""
        is_alone = is_started = was_lost = False
        give_up = time.monotonic() + START_SECONDS
        while time.monotonic() < give_up and (self.until is None or time.monotonic() < self.until):
            try:
                connection = connect(folder, self.until)
            except (FileNotFoundError, ConnectionRefusedError):
                if not self.command and not was_lost:
                    raise NoAnswer from None
                if self.command and self.otherwise == "leave" and not is_alone:
                    if not continue_alone():
                        return 0, b"", b""  # what happened is reported without the agent
                    is_alone = True
                if self.command and not is_started and (not is_alone or is_first_to_start(folder)):
                    start(self.command, folder, self.data)
                    is_started = True
                time.sleep(PAUSE_SECONDS)
                continue
            try:
                answer = converse(connection, message)
            except (Lost, ConnectionError):
                was_lost, give_up = True, time.monotonic() + RETURN_SECONDS
                time.sleep(PAUSE_SECONDS)
                continue
            if isinstance(answer, tuple):
                self.print_answer(connection, answer)
            return answer
        raise NoAnswer

    def print_answer(self, connection: _socket.socket, answer: Output) -> None:
        """Print an answer, and say that it was printed."""
        write_all(1, answer[1])
        write_all(2, answer[2])
        try:
            connection.sendall(b"ok\n")
        except OSError:
            connection.close()

    def without_answer(self) -> int:
        """Do what the command line says where no answer comes; return the exit code."""
        if self.otherwise == "leave" or (self.otherwise == "ask" and not self.is_unasking()):
            return 0
        write_all(2, DENIED)
        return BLOCKED

    def is_unasking(self) -> bool:
        """Return whether the input names a mode without prompts, wherever it does."""
        rest = self.input
        while rest:
            rest = rest.partition(b'"permission_mode"')[2]
            value = rest[:200].lstrip(b" \t\r\n").removeprefix(b":").lstrip(b" \t\r\n")
            if any(value.startswith(b'"' + mode + b'"') for mode in UNASKING_MODES):
                return True
        return False


def main(words: list[str]) -> int:
    """Run the hook of a command line, and return its exit code."""
    hook = Hook(words[0], words[1], words[2], words[3], words[4], words[5:])
    try:
        return hook.run()
    except Exception:  # noqa: BLE001 -- whatever it is, an agent would take a failed hook as permission
        return hook.without_answer()


if __name__ == "__main__":
    posix._exit(main(sys.argv[1:]))  # pyright: ignore[reportPrivateUsage]
