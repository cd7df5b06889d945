"""The owner of a driver's commands: a process that outlives the driver and writes down what becomes of them.

It holds nothing of the driver but the ends of connections. A command whose driver dies before it is let go
never runs; the process ends when its driver and all its commands have.
"""

# One process owns all commands of a driver. One for each would be a fork of a running Python, which copies
# so much of its memory that a command would cost three times the processor time.

import asyncio
import functools
import gc
import os
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import msgpack

from workbench.effects.child_processes import ProcessNotStarted
from workbench.effects.command_execution import (
    NEVER_RAN,
    Command,
    CommandExit,
    prepare_command,
    wait_readable,
)
from workbench.effects.fault_points import fault_point
from workbench.effects.job_channel import (
    APART,
    ENDED,
    FAILED,
    GO,
    KILL,
    MOST_DESCRIPTORS,
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
    HowEnded,
    JobEnd,
    JobFolder,
    JobPlace,
    JobRecord,
    words_digest,
)
from workbench.effects.process_table import ProcessIdentity, become_subreaper, process_identity


async def serve(requests: socket.socket) -> None:
    """Own the command of each request until the driver closes its end and all commands have ended.

    A request is one byte with descriptors: an end of a connection, a file that holds a JobRequest, and what
    is to be held open until the command has ended, such as the lock on the record of its box.
    """
    requests.setblocking(False)
    jobs: set[asyncio.Task[None]] = set()
    while True:
        await wait_readable(requests.fileno())
        data, files, _, _ = socket.recv_fds(requests, 1, MOST_DESCRIPTORS)
        if not data:
            break
        job = asyncio.create_task(_own_command(*files))
        jobs.add(job)
        job.add_done_callback(jobs.discard)
    await asyncio.gather(*jobs)


@functools.cache
def _own_identity() -> ProcessIdentity:
    return process_identity(os.getpid())


_RETRY_SECONDS: Final = 2.0
"""Between two attempts to write an end for which the disk had no room."""
_MOST_RETRIES: Final = 43_200
"""Attempts in all: a day of them."""


async def _own_command(connection: int, request_file: int, *held: int) -> None:
    """Own one command; an unexpected error ends that command and is logged."""
    channel, late = JobChannel(socket.socket(fileno=connection)), None
    try:
        with os.fdopen(request_file, "rb") as file:
            request = msgpack.decode(file.read(), type=JobRequest)
        late = await _Job(request, channel).run()
    except Exception:  # noqa: BLE001 -- the other commands of the driver continue
        traceback.print_exc()
    finally:
        for file in held:
            os.close(file)
        channel.close()
    if late is not None:
        await late.write()


class _LateEnd:
    """The end of a command that could not be written: it is kept here, and written once there is room.

    A later driver sees that the job is still owned, and waits for it.
    """

    def __init__(self, folder: JobFolder, how: HowEnded, ended: CommandExit) -> None:
        self._folder, self._ended = folder, ended
        self._how: HowEnded = how

    async def write(self) -> None:
        """Retry until it is written, until its driver recorded it and removed the folder, or for a day."""
        try:
            for _ in range(_MOST_RETRIES):
                await asyncio.sleep(_RETRY_SECONDS)
                with suppress(OSError):
                    self._write()
                    return
        finally:
            self._folder.close()

    def _write(self) -> None:
        # What was kept of the output may have been removed to make room.
        with suppress(FileNotFoundError):
            self._folder.write_end(self._folder.end(self._how, self._ended), is_durable=True)


class _Job:
    def __init__(self, request: JobRequest, channel: JobChannel) -> None:
        self._request, self._channel = request, channel
        self._place = JobPlace(
            root=Path(request.root), session=request.session, mark=request.mark, key=request.key
        )
        self._stop = asyncio.Event()
        self._following: asyncio.Task[CommandExit] | None = None
        self._is_driver_lost = False
        """Whether the command is ended because its driver is gone or goes."""

    async def run(self) -> _LateEnd | None:
        """Own the command to its end; return that where it could not be written."""
        try:
            command, folder = self._prepare()
        except ProcessNotStarted as error:
            await self._fail(error)
            return None
        late = None
        try:
            late = await self._own(command, folder)
        finally:
            command.abandon()
            if late is None:
                folder.close()
        return late

    async def _own(self, command: Command, folder: JobFolder) -> _LateEnd | None:
        fault_point("job.written")
        self._channel.send(READY, encode(command.identity))
        release = await self._await_release()
        if release is None:
            command.abandon()
            return self._write_end(folder, folder.end("never ran", NEVER_RAN))
        folder.mark_released()
        fault_point("job.released")
        return await self._follow(command, folder, release)

    def _prepare(self) -> tuple[Command, JobFolder]:
        request = self._request
        command = prepare_command(
            request.argv, request.cwd, request.environment, request.mark, is_apart=request.is_apart,
            stdin=request.stdin, is_boxed=request.is_boxed,
        )  # fmt: skip
        fault_point("job.prepared")
        try:
            folder = JobFolder(self._place)
            folder.write_record(self._record(command))
        except OSError as error:
            command.abandon()
            raise ProcessNotStarted(
                "the record of the command", str(error), "make room in the data folder and do it again"
            ) from None
        return command, folder

    def _record(self, command: Command) -> JobRecord:
        request = self._request
        return JobRecord(
            mark=request.mark, owner=_own_identity(), command=command.identity,
            words=words_digest(request.key, request.argv), life=request.life, is_apart=request.is_apart,
            is_boxed=request.is_boxed, note=request.note,
        )  # fmt: skip

    async def _await_release(self) -> Release | None:
        """Return how the command is let go; None where it never will be."""
        with suppress(ChannelBroken):
            frame = await self._channel.receive()
            if frame is not None and frame[0] == GO:
                return decode(frame[1], Release)
        return None

    async def _follow(self, command: Command, folder: JobFolder, release: Release) -> _LateEnd | None:
        listening = asyncio.create_task(self._listen())
        stdout = folder.output("out", self._request.kept_first)
        errors = folder.output("err", 0) if self._request.is_apart else stdout
        channel = self._channel

        def on_output(data: bytes) -> None:
            errors.write(data)
            channel.send(OUTPUT, data)

        def on_stdout(data: bytes) -> None:
            stdout.write(data)
            channel.send(APART, data)

        following = self._following = asyncio.create_task(
            command.go(
                on_output, release.timeout, self._stop, release.limit_bytes, grace=release.grace,
                on_stdout=on_stdout, room=channel.room, stall_seconds=release.stall_seconds,
            )
        )  # fmt: skip
        try:
            ended = await following
        except ProcessNotStarted as error:
            return await self._fail(error, folder)
        except asyncio.CancelledError:
            self._is_driver_lost, ended = True, NEVER_RAN
        finally:
            listening.cancel()
        return await self._end(folder, ended)

    async def _end(self, folder: JobFolder, ended: CommandExit) -> _LateEnd | None:
        end = folder.end("driver lost" if self._is_driver_lost and ended.stopped else "ended", ended)
        fault_point("job.before_end")
        late = self._write_end(folder, end)
        fault_point("job.ended")
        self._channel.send(ENDED, msgspec.json.encode(end))
        await self._channel.flush()
        return late

    def _write_end(self, folder: JobFolder, end: JobEnd) -> _LateEnd | None:
        try:
            folder.write_end(end, is_durable=self._channel.is_gone)
        except OSError:
            return _LateEnd(folder, end.how, end.ended)
        return None

    async def _listen(self) -> None:
        """Do what the driver says, until it is gone."""
        with suppress(ChannelBroken):
            while (frame := await self._channel.receive()) is not None:
                if frame[0] == STOP:
                    self._stop.set()
                if frame[0] == KILL and self._following is not None:
                    self._following.cancel()
        self._channel.close()
        if self._request.life == "with driver" and not self._stop.is_set():
            self._is_driver_lost = True
            self._stop.set()

    async def _fail(self, error: ProcessNotStarted, folder: JobFolder | None = None) -> _LateEnd | None:
        late = None
        if folder is not None:
            late = self._write_end(folder, folder.end("never ran", NEVER_RAN))
        failure = StartFailure(what=error.what, why=error.why, remedy=error.remedy)
        self._channel.send(FAILED, encode(failure))
        await self._channel.flush()
        return late


if __name__ == "__main__":
    become_subreaper()
    gc.freeze()  # what was imported stays: no collection needs to look at it
    asyncio.run(serve(socket.socket(fileno=int(sys.argv[1]))))
