"""Child processes: start, hooks with input and a time limit, termination of what a call left."""

import contextlib
import errno
import os
import re
import select
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.effects.box_start import (
    START_SECONDS,
    BoxGate,
    BoxNotMade,
    box_filter,
    check_box,
    has_waiter,
    with_filter,
    with_gate,
)
from workbench.effects.mounts import Mounts, read_mounts
from workbench.effects.process_marks import CALL_VARIABLE
from workbench.effects.process_table import (
    CHILD_REGISTRY,
    ProcessIdentity,
    ProcessRow,
    ProcessTable,
    ancestor_pids,
    boot_id,
    carries_mark,
    is_descendant,
    open_pidfd,
    process_identity,
    read_process,
    read_process_table,
    reap_later,
    require_mark,
)


class ProcessNotStarted(Exception):
    """A process that was not started: `what` it failed on, `why`, and the `remedy`."""

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(f"{what}: not started, {why}; {remedy}")
        self.what = what
        self.why = why
        self.remedy = remedy


_START_ERROR_WORDS: Final[dict[int, tuple[str, str]]] = {
    errno.ENOENT: ("there is nothing of that name", "check the path"),
    errno.ENOTDIR: ("it is not a folder", "check the path"),
    errno.EACCES: ("this user may not run or enter it", "change its permissions"),
    errno.E2BIG: ("its arguments and environment are too long", "put the long part into a file"),
    errno.ENOEXEC: ("it is not a program", "check its first line or its format"),
    errno.EAGAIN: ("this user has too many processes", "end some and do it again"),
    errno.ENOMEM: ("there is not enough memory", "end some programs and do it again"),
    errno.EMFILE: ("too many files are open", "raise the limit on open files (ulimit -n)"),
}


def spawn(
    argv: Sequence[str],
    cwd: str | None,
    env: Mapping[str, str],
    *,
    stdin: int,
    output: int,
    errors: int | None = None,
    is_detached: bool = False,
    inherited: Collection[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, with exactly this environment.

    `output` takes standard error too, unless `errors` is given; `inherited` are further descriptors that it
    gets under their own numbers. A detached process is to outlive us and does
    not count as a running command. Raises ProcessNotStarted.
    """
    try:
        with CHILD_REGISTRY.making(is_detached=is_detached) as children:
            children.append(
                subprocess.Popen(
                    list(argv),
                    cwd=cwd,
                    env=dict(env),
                    stdin=stdin,
                    stdout=output,
                    stderr=subprocess.STDOUT if errors is None else errors,
                    start_new_session=True,
                    bufsize=0,
                    pass_fds=tuple(inherited),
                )
            )
            return children[0]
    except OSError as error:
        raise _not_started(argv[0], error) from error
    except ValueError as error:
        why = "an argument or variable holds a character that cannot be passed on"
        raise ProcessNotStarted(argv[0], f"{why} ({error})", "take it out") from error


def open_pipe(opened: contextlib.ExitStack) -> tuple[int, int]:
    """Make a pipe (reading end, writing end) that the stack closes unless it is relieved of it."""
    ends = os.pipe()
    for end in ends:
        opened.callback(os.close, end)
    return ends


@contextlib.contextmanager
def unnamed_file(data: bytes) -> Generator[int | None]:
    """Open a file with some bytes that nothing else can open, at its beginning; None for no bytes."""
    if not data:
        yield None
        return
    is_linux = sys.platform == "linux"
    with os.fdopen(os.memfd_create("stdin"), "w+b") if is_linux else tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file.fileno()


_ANNOUNCE: Final = f'echo "${CALL_VARIABLE}"; '
GATE_NAME: Final = "workbench-gate"
"""What the shell of a gate calls itself where it cannot run the command."""


def gate_words(script: str, *arguments: str) -> tuple[str, ...]:
    """Return a shell that runs a script, whose arguments are these and the words of a command."""
    return ("/bin/sh", "-c", script, GATE_NAME, *arguments)


@contextlib.contextmanager
def behind_gate(
    argv: Sequence[str], gate: Sequence[str], *, is_boxed: bool
) -> Generator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Put a gate before a command, in its box if it has one; provide the words and what they inherit.

    A gate in a box prints the mark of the call when it is there.
    """
    if not is_boxed:
        yield (*gate, *argv), ()
        return
    shell, option, script, *rest = gate
    words = with_gate(argv, (shell, option, _ANNOUNCE + script, *rest))
    with unnamed_file(box_filter(argv)) as rules:
        yield (words, ()) if rules is None else (with_filter(words, rules), (rules,))


def box_not_started(error: BoxNotMade | TimeoutError, printed: bytes) -> ProcessNotStarted:
    """Return the error of a command whose box was not made; `printed` is what the box printed."""
    lines = printed.decode("utf-8", "replace").strip().split("\n")
    why = lines[-1] or str(error) or f"it took longer than {START_SECONDS:g} s"
    return ProcessNotStarted(
        "the sandbox", why, "run it again; `workbench sandbox status` shows what works here"
    )


def _not_started(program: str, error: OSError) -> ProcessNotStarted:
    number = error.errno or 0
    why, remedy = _START_ERROR_WORDS.get(number, (os.strerror(number), "check the program and its folder"))
    return ProcessNotStarted(str(error.filename or program), why, remedy)


# Enough to make the shell of the gate itself misbehave; taken away whatever the caller passes.
_GATE_DROPPED: Final = re.compile(
    r"BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|WORKBENCH_CALL", re.DOTALL
)


def marked_environment(env: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return an environment for the gate of a command: nothing its shell obeys, and the mark."""
    return {
        **{name: value for name, value in env.items() if not _GATE_DROPPED.fullmatch(name)},
        CALL_VARIABLE: mark,
    }


GRACE_SECONDS: Final = 2.0
"""Seconds between the request to end (SIGTERM) and the end (SIGKILL)."""
_KILL_WAIT_SECONDS: Final = 3.0
ProcessKey = tuple[int, str]


class TerminationTarget(Struct, frozen=True, kw_only=True):
    """What belongs to a call."""

    leader: int | None
    """The process we started, if its number is known to be still its own."""
    group: int | None
    mark: str
    since: int
    """Clock ticks at its start: nothing older can belong to it."""


def termination_target(identity: ProcessIdentity, mark: str) -> TerminationTarget:
    """Describe a call whose process was started by us and was not waited for yet."""
    return TerminationTarget(
        leader=identity.pid, group=identity.group, mark=mark, since=_identity_ticks(identity)
    )


def terminate_leftovers(identity: ProcessIdentity, mark: str, grace: float = GRACE_SECONDS) -> int:
    """End what is left of a call whose host has died; return how many processes were ended.

    The group is ended only if the process is still there with the same start time; what carries the mark is
    ended in any case. Blocks up to `grace` seconds and a few more. Raises ValueError for a mark that is none.
    """
    require_mark(mark)
    if identity.start_time.rpartition(":")[0] != boot_id() and boot_id():
        return 0
    row = read_process(identity.pid)
    is_same = row is not None and row.start_time == identity.start_time
    leader, group = (identity.pid, identity.group) if is_same else (None, None)
    target = TerminationTarget(leader=leader, group=group, mark=mark, since=_identity_ticks(identity))
    return Terminator(target).end(grace)


def _identity_ticks(identity: ProcessIdentity) -> int:
    ticks = identity.start_time.rpartition(":")[2]
    return int(ticks) if boot_id() and ticks.isdigit() else 0


_RISING_SECONDS: Final = 1.0
"""Seconds in which no system gives out all of its numbers for processes (32,768 at the least)."""


class Terminator:
    """Finds and ends what belongs to a call; what it has seen it knows again when its parent is gone.

    Made as soon as the process of the call was started.
    """

    def __init__(self, target: TerminationTarget) -> None:
        self._target, self._begun = target, time.monotonic()
        self._known: set[ProcessKey] = set()
        self._asked: set[ProcessKey] = set()
        self._beyond: set[ProcessKey] = set()
        self._table: ProcessTable = {}

    def notice(self) -> list[ProcessRow]:
        """Return what belongs to the call now and can be ended."""
        first = self._target.leader if self._has_just_begun else None
        self._table = read_process_table(self._target.since, first or 0)
        rows = self._belonging(self._table)
        if rows:  # mostly there are none, and asking for our parents costs as much as the rest
            spared = {os.getpid(), *ancestor_pids()}
            rows = [row for row in rows if row.pid not in spared]
        self._known |= {_process_key(row) for row in rows}
        return [row for row in rows if _process_key(row) not in self._beyond]

    @property
    def _has_just_begun(self) -> bool:
        return self._target.leader is not None and time.monotonic() - self._begun < _RISING_SECONDS

    def has_left_nothing(self) -> bool:
        """Return whether nothing is left of a call that has just begun; False where a look would be slow."""
        if not self._has_just_begun or self.notice():
            return False
        CHILD_REGISTRY.reap(self._table)
        return True

    def ask_inside(self) -> None:
        """Ask all but the leader to end: the leader of a box takes all with it before they could."""
        for row in self.notice():
            if row.pid != self._target.leader:
                _ask_to_end(row)

    def end(self, grace: float) -> int:
        """Ask all to end, and end what is left after the grace; return how many processes that were."""
        begun = time.monotonic()
        while rows := self.notice():
            waited = time.monotonic() - begun
            if waited > grace + _KILL_WAIT_SECONDS:
                break
            self._signal(rows, is_last=waited >= grace)
            time.sleep(min(0.05, 0.005 + waited / 4))
        # What was ended is in the table that was read last: reading it again costs more than all else here.
        CHILD_REGISTRY.reap(self._table)
        return len(self._asked - self._beyond)

    def _signal(self, rows: list[ProcessRow], *, is_last: bool) -> None:
        group = self._target.group
        if is_last and group is not None and any(row.group == group for row in rows):
            # In one step, which a group that forks faster than it is counted does not survive.
            signal_group(group, signal.SIGKILL)
        for row in rows:
            key = _process_key(row)
            is_ours = (
                _signal_process(row, signal.SIGKILL) if is_last else key in self._asked or _ask_to_end(row)
            )
            (self._asked if is_ours else self._beyond).add(key)

    def _belonging(self, table: ProcessTable) -> list[ProcessRow]:
        target = self._target
        rows = [row for row in table.values() if row.is_alive and row.ticks >= target.since]
        adopted = CHILD_REGISTRY.orphans_of(target.leader, table) if target.leader is not None else []
        elders = {row.pid for row in (*rows, *adopted) if row in adopted or _process_key(row) in self._known}
        if target.leader is not None:
            elders.add(target.leader)
        # The environment is read last: that is the costly question.
        return [
            row
            for row in rows
            if row.pid in elders
            or (target.group is not None and row.group == target.group)
            or is_descendant(row, elders, table)
            or carries_mark(row.pid, target.mark)
        ]


def _process_key(row: ProcessRow) -> ProcessKey:
    return row.pid, row.start_time


def _ask_to_end(row: ProcessRow) -> bool:
    # A stopped process sees the request only once it goes on.
    return _signal_process(row, signal.SIGTERM) and _signal_process(row, signal.SIGCONT)


def _signal_process(row: ProcessRow, number: signal.Signals) -> bool:
    with contextlib.suppress(ProcessLookupError):
        try:
            _send_signal(row, number)
        except PermissionError:
            return False
    return True


def _send_signal(row: ProcessRow, number: signal.Signals) -> None:
    if not hasattr(os, "pidfd_open"):
        os.kill(row.pid, number)
        return
    file = os.pidfd_open(row.pid)
    try:
        # The number may have passed to another process since the table was read; the descriptor has not.
        now = read_process(row.pid)
        if now is not None and now.start_time == row.start_time:
            signal.pidfd_send_signal(file, number)
    finally:
        os.close(file)


def signal_group(group: int, number: signal.Signals) -> None:
    """Signal the group of a child of ours that was not waited for yet; nothing there is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _is_readable(file: int, seconds: float) -> bool:
    """Wait until a descriptor is readable or closed; it may have any number, unlike with `select`."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1_000))


class BoxProcesses:
    """All processes in a box; they have ended when the first one has."""

    def __init__(self, argv: Sequence[str], leader: int, ours: Mounts) -> None:
        """Check a box that was started by these words, as `check_box` does. Raises BoxNotMade."""
        self._first = check_box(argv, leader, ours)
        file = open_pidfd(self._first)
        if file is None:
            raise BoxNotMade("this system does not say when processes end")
        self.file: Final = file
        """Becomes readable when they have ended."""

    def have_ended(self, seconds: float) -> bool:
        """Wait for their end, for a limited time."""
        return _is_readable(self.file, seconds)

    def close(self) -> None:
        """Give the descriptor back; the first process may have become our child by now."""
        os.close(self.file)
        CHILD_REGISTRY.reap_orphan(self._first)


HOOK_OUTPUT_LIMIT: Final = 65536
"""Bytes of a hook's output that are kept; the rest is read and thrown away."""
_HOOK_SCRIPT: Final = 'read -r go && exec "$@"'
_CHUNK: Final = 65536
_POLL_SECONDS: Final = 0.02
_DRAIN_SECONDS: Final = 0.2


class HookExit(Struct, frozen=True, kw_only=True):
    """How a hook ended."""

    code: int | None
    """Exit code; None if a signal ended it (also ours, at its time limit)."""
    output: bytes
    """Standard output and error in order, at most 64 KiB."""
    timed_out: bool


def run_hook(
    command: str | Sequence[str],
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    *,
    grace: float = GRACE_SECONDS,
    keep: int = HOOK_OUTPUT_LIMIT,
    errors: int | None = None,
    cancel: int | None = None,
    is_boxed: bool = False,
) -> HookExit:
    """Run a short command: feed it, take `keep` bytes of output at the most, end it after `timeout` seconds.

    Standard error goes to the descriptor `errors`, else to the output. The command is ended earlier when the
    descriptor `cancel` becomes readable. What the command leaves running is ended. `is_boxed`: its words come
    from `sandbox.boxed_argv`; the box dies with this thread, which waits for it here. Raises
    ProcessNotStarted.
    """
    argv = ("/bin/sh", "-c", command) if isinstance(command, str) else command
    mark = f"hook-{uuid.uuid4()}"
    with contextlib.ExitStack() as opened:
        hook_in, our_in = open_pipe(opened)
        our_out, hook_out = open_pipe(opened)
        marked = marked_environment(env, mark)
        gate = gate_words(_HOOK_SCRIPT) if is_boxed else ()
        with behind_gate(argv, gate, is_boxed=is_boxed) as (words, inherited):
            child = spawn(
                words, cwd, marked, stdin=hook_in, output=hook_out, errors=errors, inherited=inherited
            )
        opened.pop_all()
    os.close(hook_in)
    os.close(hook_out)
    exchange = _Exchange(child, our_in, our_out, stdin, keep, cancel)
    return _follow_hook(child, exchange, mark, timeout, grace, argv if is_boxed else ())


def _follow_hook(
    child: subprocess.Popen[bytes],
    exchange: "_Exchange",
    mark: str,
    timeout: float,
    grace: float,
    box: Sequence[str],
) -> HookExit:
    terminator = Terminator(termination_target(process_identity(child.pid), mark))
    try:
        with exchange:
            inside = exchange.enter_box(box, mark) if box else None
            has_ended = exchange.run(time.monotonic() + timeout)
            if inside is None:
                terminator.end(grace)
            else:
                _end_box(inside, terminator, grace, is_over=has_ended)
            exchange.drain()
    except BaseException:
        terminator.end(0.0)
        _exit_status(child)
        raise
    status = _exit_status(child)
    return HookExit(
        code=status if has_ended else None, output=bytes(exchange.output), timed_out=not has_ended
    )


def _end_box(inside: BoxProcesses, terminator: Terminator, grace: float, *, is_over: bool) -> None:
    """Wait until all that runs in a box has ended; where its command has not, ask first."""
    try:
        if not is_over:
            terminator.ask_inside()
        if not inside.have_ended(_KILL_WAIT_SECONDS if is_over else grace):
            terminator.end(0.0)
    finally:
        inside.close()


def _exit_status(child: subprocess.Popen[bytes]) -> int | None:
    try:
        status = child.wait(timeout=1)
    except subprocess.TimeoutExpired:
        reap_later(child)
        return None
    CHILD_REGISTRY.ended(child.pid)
    return status if status >= 0 else None


class _Exchange:
    def __init__(
        self,
        child: subprocess.Popen[bytes],
        stdin: int,
        stdout: int,
        data: bytes,
        keep: int,
        cancel: int | None = None,
    ) -> None:
        self.output = bytearray()
        self._keep = keep
        self._child = child
        self._stdin = stdin
        self._stdout = stdout
        self._rest = memoryview(data)
        self._ended = open_pidfd(child.pid)
        self._selector = selectors.DefaultSelector()
        for file in (stdin, stdout):
            os.set_blocking(file, False)
        self._selector.register(stdin, selectors.EVENT_WRITE, self._feed)
        self._selector.register(stdout, selectors.EVENT_READ, self._take)
        self._cancel = cancel
        if cancel is not None:
            self._selector.register(cancel, selectors.EVENT_READ)

    def __enter__(self) -> "_Exchange":
        if self._ended is not None:
            self._selector.register(self._ended, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._close_stdin()
        os.close(self._stdout)
        if self._ended is not None:
            os.close(self._ended)

    def enter_box(self, argv: Sequence[str], mark: str) -> "BoxProcesses | None":
        """Wait for the gate of a box and have it opened by the first bytes. Raises ProcessNotStarted."""
        gate, ours = BoxGate(mark), read_mounts()
        try:
            while not gate.is_there(self._printed_by_box()):
                pass
            inside = BoxProcesses(argv, self._child.pid, ours) if has_waiter(argv) else None
        except (BoxNotMade, TimeoutError) as error:
            raise box_not_started(error, gate.printed) from None
        self.output += gate.printed
        self._rest = memoryview(b"\n" + self._rest)
        return inside

    def _printed_by_box(self) -> bytes:
        if not _is_readable(self._stdout, START_SECONDS):
            raise TimeoutError
        return os.read(self._stdout, _CHUNK)

    def run(self, deadline: float) -> bool:
        while (seconds_left := deadline - time.monotonic()) > 0:
            ready = self._selector.select(
                seconds_left if self._ended is not None else min(seconds_left, _POLL_SECONDS)
            )
            for key, _ in ready:
                if key.data is not None:
                    key.data()
            if any(key.fd == self._cancel for key, _ in ready):
                return False
            if self._has_ended([key.fd for key, _ in ready]):
                return True
        return False

    def _has_ended(self, ready: list[int]) -> bool:
        if self._ended is not None:
            return self._ended in ready
        return self._child.poll() is not None

    def drain(self) -> None:
        """Take what is in the pipe now; a leftover that holds it open is not waited for."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        while time.monotonic() < deadline and self._read():
            pass

    def _take(self) -> None:
        if self._read() is False:
            self._selector.unregister(self._stdout)

    def _read(self) -> bool | None:
        try:
            chunk = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return None
        self.output += chunk[: self._keep - len(self.output)]
        return bool(chunk)

    def _feed(self) -> None:
        try:
            self._rest = self._rest[os.write(self._stdin, self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._rest = self._rest[:0]
        if not self._rest:
            self._selector.unregister(self._stdin)
            self._close_stdin()

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1
