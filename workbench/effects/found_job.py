"""A job that an earlier driver started: read to its end from its folder, or found lost."""

import asyncio
import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from workbench.effects.child_processes import terminate_leftovers
from workbench.effects.command_execution import CommandExit
from workbench.effects.job_files import (
    SEGMENT_BYTES,
    JobEnd,
    JobPlace,
    JobReader,
    JobRecord,
    JobUnreadable,
    OutputName,
    Segment,
)
from workbench.effects.process_table import ProcessIdentity, is_running

LOOK_SECONDS: Final = 0.2
"""Between two looks at the folder of a job that runs."""
_END_SECONDS: Final = 10.0
"""Seconds that an owner has to write how a command ended that was stopped."""
NO_END: Final = "the process that owned it did not write how it ended"
_CHUNK: Final = 65_536


class JobLost(Exception):
    """The result of a command is unknown; all its processes have ended."""


class FoundJob:
    """A job with a valid record; it runs, or has ended."""

    def __init__(self, place: JobPlace, command: ProcessIdentity) -> None:
        """Open the job whose command has this identity, as the journal has it. Raises JobUnreadable."""
        self._reader = JobReader(place)
        self._mark = place.mark
        try:
            self._record = self._reader.record()
            if self._record.command != command:
                raise JobUnreadable("it is about another process")
            self._end = self._reader.end()
        except BaseException:
            self._reader.close()
            raise

    @property
    def record(self) -> JobRecord:
        return self._record

    @property
    def end(self) -> JobEnd | None:
        """How it had ended when it was found or last looked at."""
        return self._end

    @property
    def is_running(self) -> bool:
        """Whether its owner is there and works on it, so that it will write how it ends."""
        return self._end is None and self._is_owned()

    @property
    def is_waiting(self) -> bool:
        """Whether it waits to be let go: its owner ends it as soon as it sees that its driver is gone."""
        return self.is_running and self._reader.state() == "waiting"

    def has_ended(self) -> bool:
        """Look whether its end is written by now. Raises JobUnreadable."""
        self._end = self._reader.end()
        return self._end is not None

    def close(self) -> None:
        """Give back what is held; twice is harmless."""
        self._reader.close()

    async def follow(
        self,
        on_output: Callable[[bytes], None],
        stop: asyncio.Event | None = None,
        *,
        on_stdout: Callable[[bytes], None] | None = None,
        on_gap: Callable[[int], None] | None = None,
        on_stdout_gap: Callable[[int], None] | None = None,
        skipped: Mapping[OutputName, int] | None = None,
    ) -> CommandExit:
        """Hand on what was and is printed, from its beginning, until the command has ended.

        `on_gap`: given the number of bytes that were not kept. `skipped`: bytes that are known already.
        Raises JobLost, after everything of it was ended.
        """
        known = skipped or {}
        is_apart = self._record.is_apart
        errors_gap = on_gap or _ignore
        outputs = [
            _FoundOutput(
                self._reader, "out", (on_stdout or on_output) if is_apart else on_output,
                (on_stdout_gap or errors_gap) if is_apart else errors_gap, known.get("out", 0),
            )
        ]  # fmt: skip
        if is_apart:
            outputs.append(_FoundOutput(self._reader, "err", on_output, errors_gap, known.get("err", 0)))
        try:
            return await self._follow(outputs, stop)
        except JobUnreadable as error:
            raise await self._lost(str(error)) from None
        finally:
            for output in outputs:
                output.close()
            self.close()

    async def _follow(self, outputs: list["_FoundOutput"], stop: asyncio.Event | None) -> CommandExit:
        stopped: float | None = None
        was_running = False
        while True:
            was_owned = self._is_owned()
            self._end = self._reader.end()
            for output in outputs:
                output.hand_on()
            if self._end is not None:
                for output in outputs:
                    output.check(self._end)
                return replace(self._end.ended, stopped=True) if was_running else self._end.ended
            if not was_owned or (stopped is not None and time.monotonic() - stopped > _END_SECONDS):
                raise JobUnreadable(NO_END)
            if stop is not None and stop.is_set() and stopped is None:
                was_running = await asyncio.to_thread(self._terminate) > 0
                stopped = time.monotonic()
            await _wait(stop if stopped is None else None)

    def _terminate(self) -> int:
        return terminate_leftovers(self._record.command, self._mark)

    def _is_owned(self) -> bool:
        return is_running(self._record.owner) and self._reader.state() != "over"

    async def _lost(self, why: str) -> JobLost:
        await asyncio.to_thread(self._terminate)
        return JobLost(why)


def _ignore(_: int) -> None:
    pass


async def _wait(stop: asyncio.Event | None) -> None:
    """Wait until it is time for the next look, or to stop."""
    if stop is None:
        await asyncio.sleep(LOOK_SECONDS)
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LOOK_SECONDS):
            await stop.wait()


class _FoundOutput:
    """One output of a job, read from its segments."""

    def __init__(
        self,
        reader: JobReader,
        name: OutputName,
        on_output: Callable[[bytes], None],
        on_gap: Callable[[int], None],
        skipped: int,
    ) -> None:
        self._reader = reader
        self._name: OutputName = name
        self._on_output, self._on_gap, self._skipped = on_output, on_gap, skipped
        self._position = 0
        self._file: int | None = None
        self._digest = hashlib.sha256()
        self._size = 0
        self._read: dict[int, Segment] = {}

    def hand_on(self) -> None:
        """Hand on what is there. Raises JobUnreadable."""
        while self._file is not None or self._open_next():
            if not self._read_segment():
                return

    def check(self, end: JobEnd) -> None:
        """Compare what was handed on with the end of the job. Raises JobUnreadable."""
        said = end.outputs.get(self._name)
        if said is None:
            if self._position:
                raise JobUnreadable(f"its output {self._name} is of another process")
            return
        self._finish()
        is_as_left = all(self._read.get(segment.offset) == segment for segment in said.segments)
        if not is_as_left or self._reader.offsets(self._name) != [part.offset for part in said.segments]:
            raise JobUnreadable("its output is not as it was left")
        if self._position > said.total:
            raise JobUnreadable("its output is longer than what was printed")
        self._pass_gap(said.total)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open_next(self) -> bool:
        while True:
            offset = min(
                (at for at in self._reader.offsets(self._name) if at >= self._position), default=None
            )
            if offset is None:
                return False
            self._file = self._reader.open_segment(self._name, offset)
            if self._file is not None:
                self._pass_gap(offset)
                self._digest, self._size = hashlib.sha256(), 0
                return True

    def _read_segment(self) -> bool:
        """Hand on what is in the open segment; return whether it is full."""
        assert self._file is not None
        while chunk := self._read_chunk(self._file):
            self._digest.update(chunk)
            self._size += len(chunk)
            self._pass_on(chunk)
        if self._size < SEGMENT_BYTES:
            return False
        self._finish()
        return True

    def _read_chunk(self, file: int) -> bytes:
        try:
            return os.read(file, min(_CHUNK, SEGMENT_BYTES - self._size))
        except OSError as error:
            raise JobUnreadable(f"its output was not read: {error}") from None

    def _finish(self) -> None:
        if self._file is not None:
            start = self._position - self._size
            self._read[start] = Segment(offset=start, size=self._size, digest=self._digest.hexdigest())
            self.close()

    def _pass_on(self, chunk: bytes) -> None:
        known = max(0, min(len(chunk), self._skipped - self._position))
        self._position += len(chunk)
        if known < len(chunk):
            self._on_output(chunk[known:])

    def _pass_gap(self, offset: int) -> None:
        missing = offset - max(self._position, min(self._skipped, offset))
        self._position = offset
        if missing > 0:
            self._on_gap(missing)


def find_job(place: JobPlace, command: ProcessIdentity) -> FoundJob:
    """Return the job of a command whose driver has died.

    `command`: what `process.started` says. Blocks. Raises JobLost: how it ended is not known, and nothing of
    it runs any more.
    """
    try:
        return _open_job(place, command)
    except JobUnreadable as error:
        terminate_leftovers(command, place.mark)
        raise JobLost(str(error)) from None


def _open_job(place: JobPlace, command: ProcessIdentity) -> FoundJob:
    job = FoundJob(place, command)
    # An owner that is gone by now may have written the end after it was looked for.
    if job.end is not None or job.is_running or job.has_ended():
        return job
    job.close()
    raise JobUnreadable(NO_END)
