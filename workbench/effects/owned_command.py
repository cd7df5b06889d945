"""Commands with an owner process, used as those of `command_execution`, that the next driver finds again."""

# The owner runs `command_execution.Command`: gate, box, time limit, what a command leaves and how much it
# prints are dealt with there alone.

import asyncio
import contextlib
import socket
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import msgpack

from workbench.effects.child_processes import (
    GRACE_SECONDS,
    ProcessNotStarted,
    terminate_leftovers,
    unnamed_file,
)
from workbench.effects.command_execution import NEVER_RAN, CommandExit
from workbench.effects.found_job import FoundJob, find_job
from workbench.effects.job_channel import (
    APART,
    ENDED,
    FAILED,
    GO,
    KILL,
    OUTPUT,
    READY,
    STOP,
    ChannelBroken,
    JobChannel,
    JobRequest,
    Release,
    StartFailure,
    decode,
    encode,
)
from workbench.effects.job_files import (
    JobEnd,
    JobLife,
    JobPlace,
    OutputName,
    job_key,
    remove_job,
)
from workbench.effects.own_processes import start_detached, workbench_command_line, workbench_environment
from workbench.effects.process_table import ProcessIdentity, require_mark

_OWNER_MODULE: Final = "workbench.effects.job_owner"
_KILL_SECONDS: Final = 10.0
"""Seconds that an owner has to end its command when told to."""


class OwnerProcess:
    """The process that owns the commands of a driver; started for the first, again where it was killed."""

    def __init__(self, data: Path, log: Path) -> None:
        self._data, self._log = data, log
        self._requests: socket.socket | None = None
        self._close: Callable[[], object] = _nothing
        self._lock = threading.Lock()

    def pass_on(self, descriptors: Sequence[int]) -> None:
        """Give it an end of a connection, the file of a request, and what it is to hold open.

        Raises ProcessNotStarted, and FileRefused for its log.
        """
        with self._lock:
            for is_last in (False, True):
                requests = self._requests or self._start()
                try:
                    socket.send_fds(requests, [b"r"], descriptors)
                except OSError as error:
                    self._forget()
                    if is_last:
                        raise _not_owned(str(error)) from None
                else:
                    return

    def close(self) -> None:
        """Have it end when its commands have. Twice is harmless."""
        with self._lock:
            self._forget()

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                words = workbench_command_line([str(theirs.fileno())], module=_OWNER_MODULE)
                environment = workbench_environment(self._data)
                start_detached(words, self._log, environment, str(self._data), (theirs.fileno(),))
            except BaseException:
                ours.close()
                raise
        self._requests, self._close = ours, weakref.finalize(self, ours.close)
        return ours

    def _forget(self) -> None:
        self._close()
        self._requests = None


def _nothing() -> None:
    """Close nothing: no process was started yet."""


def _not_owned(why: str) -> ProcessNotStarted:
    return ProcessNotStarted("the process that owns the command", why, "do it again")


class Jobs:
    """The jobs of a data folder: starts commands that an owner holds, and finds those of earlier drivers."""

    def __init__(self, data: Path, home_key: bytes, log: Path) -> None:
        self._root, self._home_key = data / "jobs", home_key
        self._owner = OwnerProcess(data, log)

    async def prepare(
        self,
        session: str,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        mark: str,
        *,
        life: JobLife,
        kept_first: int = 0,
        is_apart: bool = False,
        stdin: bytes = b"",
        is_boxed: bool = False,
        note: str = "",
        held: Sequence[int] = (),
    ) -> "OwnedCommand":
        """Have a command made that waits behind its gate; parameters as for `prepare_command`.

        `kept_first`: bytes of the beginning of standard output that a later driver finds in any case. `note`:
        what that driver is told, of a kilobyte or so. `held`: a few descriptors, such as those of locks, that
        stay open until the command has ended. Raises ProcessNotStarted, FileRefused for the log, and
        ValueError for the mark.
        """
        require_mark(mark)
        place = self._place(session, mark)
        request = JobRequest(
            root=str(place.root), session=session, mark=mark, key=place.key, argv=tuple(argv), cwd=cwd,
            environment=dict(env), stdin=stdin, is_apart=is_apart, is_boxed=is_boxed, life=life,
            kept_first=kept_first, note=note,
        )  # fmt: skip
        command = await self._request(place, request, held)
        if command is None:  # the owner was killed with the request in its hands; nothing ran
            command = await self._request(place, request, held)
        if command is None:
            raise _not_owned("it ended before the command was ready")
        return command

    def find(self, session: str, mark: str, command: ProcessIdentity) -> FoundJob:
        """Return the job of a command whose driver has died. Blocks. Raises JobLost."""
        return find_job(self._place(session, mark), command)

    def remove(self, session: str, mark: str) -> None:
        """Remove the folder of a job whose end is recorded; one that cannot be removed is left to tidying."""
        with contextlib.suppress(OSError):
            remove_job(self._root, session, mark)

    def close(self) -> None:
        """Have the owner end when its commands have."""
        self._owner.close()

    def _place(self, session: str, mark: str) -> JobPlace:
        return JobPlace(root=self._root, session=session, mark=mark, key=job_key(self._home_key, mark))

    async def _request(
        self, place: JobPlace, request: JobRequest, held: Sequence[int]
    ) -> "OwnedCommand | None":
        ours, theirs = socket.socketpair()
        channel = JobChannel(ours)
        try:
            with theirs, unnamed_file(msgpack.encode(request)) as file:
                assert file is not None
                self._owner.pass_on((theirs.fileno(), file, *held))
            frame = await channel.receive()
            if frame is not None and frame[0] == READY:
                return OwnedCommand(place, channel, decode(frame[1], ProcessIdentity))
            if frame is not None and frame[0] == FAILED:
                raise _start_failure(frame[1])
        except ChannelBroken as error:
            raise _not_owned(str(error)) from None
        except BaseException:
            channel.close()
            raise
        channel.close()
        return None


def _start_failure(content: bytes) -> ProcessNotStarted:
    failure = decode(content, StartFailure)
    return ProcessNotStarted(failure.what, failure.why, failure.remedy)


class OwnedCommand:
    """A command that waits behind a gate in the hands of its owner; used once."""

    def __init__(self, place: JobPlace, channel: JobChannel, identity: ProcessIdentity) -> None:
        self.identity: Final = identity
        """Recorded before `go`, so that the next driver can find the job."""
        self._place, self._channel = place, channel
        self._is_used = False
        self._received: dict[bytes, int] = {}

    async def go(
        self,
        on_output: Callable[[bytes], None],
        timeout: float | None,
        stop: asyncio.Event | None,
        limit_bytes: int,
        *,
        grace: float = GRACE_SECONDS,
        on_stdout: Callable[[bytes], None] | None = None,
        is_left: Callable[[], bool] = bool,
        stall_seconds: float = 0.0,
    ) -> CommandExit:
        """Let the command go and follow it to its end and that of everything it left.

        Parameters and errors as for `command_execution.Command.go`. Raises JobLost too: its owner was killed,
        what was left of the command was ended, and how it ended is not known. If this is cancelled, the
        command is ended first, unless `is_left` returns True: its owner then continues with it.
        """
        if self._is_used:
            raise RuntimeError("a command can be let go once")
        if stop is not None and stop.is_set():
            self.abandon()
            return NEVER_RAN
        self._is_used = True
        release = Release(
            timeout=timeout, limit_bytes=limit_bytes, grace=grace, stall_seconds=stall_seconds
        )  # fmt: skip
        self._channel.send(GO, encode(release))
        stopping = None if stop is None else asyncio.create_task(self._pass_on_stop(stop))
        try:
            end = await self._follow(on_output, on_stdout or on_output)
        except ProcessNotStarted:
            raise
        except BaseException as error:
            if not (isinstance(error, asyncio.CancelledError) and is_left()):
                self._kill()
            raise
        finally:
            if stopping is not None:
                stopping.cancel()
            self._channel.close()
        return end.ended if end is not None else await self._ended_without_word(on_output, on_stdout)

    def abandon(self) -> None:
        """Close the gate: the command never runs. Twice, or after `go`, is harmless."""
        if not self._is_used:
            self._is_used = True
            self._channel.close()

    async def _follow(
        self, on_errors: Callable[[bytes], None], on_stdout: Callable[[bytes], None]
    ) -> JobEnd | None:
        """Hand on what the owner says, to the end; None where it was killed."""
        takers: dict[bytes, Callable[[bytes], None]] = {OUTPUT: on_errors, APART: on_stdout}
        with contextlib.suppress(ChannelBroken):
            while (frame := await self._channel.receive()) is not None:
                kind, content = frame
                if kind in takers:
                    takers[kind](content)
                    self._count(kind, len(content))
                elif kind == ENDED:
                    return _decode_end(content)
                elif kind == FAILED:
                    raise _start_failure(content)
        return None

    def _count(self, kind: bytes, size: int) -> None:
        self._received[kind] = self._received.get(kind, 0) + size

    async def _pass_on_stop(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._channel.send(STOP)

    def _kill(self) -> None:
        """Have the command ended and wait for that; a cancelled driver must leave nothing behind."""
        self._channel.send(KILL)
        if not self._channel.ended_within(_KILL_SECONDS):
            terminate_leftovers(self.identity, self._place.mark)

    async def _ended_without_word(
        self, on_output: Callable[[bytes], None], on_stdout: Callable[[bytes], None] | None
    ) -> CommandExit:
        """Return how it ended where that was written before the owner was killed. Raises JobLost."""
        job = await asyncio.to_thread(find_job, self._place, self.identity)
        stdout, errors = (self._received.get(kind, 0) for kind in (APART, OUTPUT))
        skipped: dict[OutputName, int] = (
            {"out": stdout, "err": errors} if job.record.is_apart else {"out": errors}
        )
        return await job.follow(on_output, on_stdout=on_stdout, skipped=skipped)


def _decode_end(content: bytes) -> JobEnd | None:
    try:
        return msgspec.json.decode(content, type=JobEnd)
    except msgspec.MsgspecError:
        return None
