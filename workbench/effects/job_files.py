"""The folder of a job, a command with an owner process: its record, what it printed, how it ended.

`job.json` and `end.json` are signed. A reader takes them and the output for what another process may have
written: whatever is not as its owner left it makes the job lost, never a result.
"""

# The owner of several commands may have given one of them up, so it holds a lock on the record of each job
# that it works on: an exclusive one until the command is let go, then a shared one.
#
# The names are those of segments: `out.0`, `out.1048576`. The owner removes segments from the middle, so that
# the space of a job is bounded whatever its command prints. Output that cannot be written (a full disk) is
# missing in the same way; the end says which segments there are.

import contextlib
import errno
import fcntl
import hashlib
import hmac
import os
import re
import shutil
import stat
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final, Literal, TypeVar

from msgspec import MsgspecError, Raw, Struct, json

from workbench.effects.command_execution import CommandExit
from workbench.effects.file_primitives import FOLDER_FLAGS, READ_FLAGS
from workbench.effects.process_table import ProcessIdentity

SEGMENT_BYTES: Final = 1_048_576
_KEPT_LAST: Final = 2
"""Segments of the end of an output that are kept."""
_MOST_RECORD_BYTES: Final = 65_536
_MOST_FILES: Final = 512
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SEGMENT_NAME: Final = re.compile(r"(out|err)\.(0|[1-9][0-9]{0,17})")
_CREATE_FLAGS: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_JOB: Final = "job.json"
_END: Final = "end.json"

OutputName = Literal["out", "err"]
JobLife = Literal["outlives", "with driver"]
"""Whether a command continues when its driver dies, or is ended at once."""
JobState = Literal["waiting", "released", "over"]
"""Whether a command waits to be let go, was let go, or its owner is gone or has done with it."""
HowEnded = Literal["ended", "driver lost", "never ran"]


class JobUnreadable(Exception):
    """A job whose folder is missing or not as its owner left it; the message says why."""


class JobPlace(Struct, frozen=True, kw_only=True):
    """Where the folder of a job is, and the key that signs its records."""

    root: Path
    """The folder of all jobs."""
    session: str
    mark: str
    key: bytes


class JobRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job as it is written down before its command may run."""

    mark: str
    owner: ProcessIdentity
    command: ProcessIdentity
    words: str
    """Keyed digest of the words of the command."""
    life: JobLife
    is_apart: bool
    """Whether standard output and error are kept apart."""
    is_boxed: bool
    note: str = ""
    """What the driver wants to know again, in its own words."""


class Segment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kept part of an output."""

    offset: int
    size: int
    digest: str


class OutputEnd(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An output at its end; what no segment covers was not kept."""

    total: int
    segments: tuple[Segment, ...]


class JobEnd(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a job ended."""

    mark: str
    how: HowEnded
    """`driver lost`: ended because its driver died or ended; `never ran`: it was not let go before that."""
    ended: CommandExit
    outputs: dict[OutputName, OutputEnd]


class _Signed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    signature: str
    content: Raw


_Record = TypeVar("_Record", JobRecord, JobEnd)


def job_key(home_key: bytes, mark: str) -> bytes:
    """Derive the key of a job, which is given to its owner and never stored."""
    return hmac.digest(home_key, b"job\0" + mark.encode(), "sha256")


def words_digest(key: bytes, words: tuple[str, ...]) -> str:
    """Return the keyed digest of the words of a command."""
    data = b"\0".join(os.fsencode(word) for word in words)
    return hmac.new(key, b"words\0" + data, hashlib.sha256).hexdigest()


def _signature(key: bytes, name: str, content: bytes) -> str:
    return hmac.new(key, name.encode() + b"\0" + content, hashlib.sha256).hexdigest()


def encode_signed(key: bytes, name: str, record: JobRecord | JobEnd) -> bytes:
    """Return a record and its signature, which holds for the file of this name."""
    content = json.encode(record)
    return json.encode(_Signed(signature=_signature(key, name, content), content=Raw(content)))


def decode_signed(key: bytes, name: str, data: bytes, kind: type[_Record]) -> _Record:
    """Check the signature of a record and return it. Raises JobUnreadable."""
    try:
        signed = json.decode(data, type=_Signed)
        content = bytes(signed.content)
        if not hmac.compare_digest(signed.signature.encode(), _signature(key, name, content).encode()):
            raise JobUnreadable(f"the signature of {name} is wrong")
        return json.decode(content, type=kind)
    except (MsgspecError, UnicodeError) as error:
        raise JobUnreadable(f"{name} cannot be read: {error}") from None


# --- the owner's side -----------------------------------------------------------------------------


class JobFolder:
    """The folder of a job in the hands of its owner."""

    def __init__(self, place: JobPlace) -> None:
        """Make the folder, in place of one that an owner left who ended before its command was let go.

        Raises OSError.
        """
        self._place = place
        for name in (place.session, place.mark):
            _require_name(name)
        parent = _open_or_make_private_folder(place.root / place.session)
        try:
            try:
                os.mkdir(place.mark, 0o700, dir_fd=parent)
            except FileExistsError:
                shutil.rmtree(place.mark, dir_fd=parent)
                os.mkdir(place.mark, 0o700, dir_fd=parent)
            self._folder = os.open(place.mark, FOLDER_FLAGS, dir_fd=parent)
        finally:
            os.close(parent)
        self._outputs: dict[OutputName, OutputWriter] = {}
        self._lock = -1

    def write_record(self, record: JobRecord) -> None:
        """Write down what is about to run, and hold the lock on it. Raises OSError."""
        data = encode_signed(self._place.key, _JOB, record)
        self._lock = self._write(_JOB, data, is_durable=False, is_locked=True)

    def mark_released(self) -> None:
        """Note that the command is let go: what happens from now on may have happened."""
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def close(self) -> None:
        """Give the lock back, and with it the job."""
        for file in (self._lock, self._folder):
            if file >= 0:
                os.close(file)
        self._lock = self._folder = -1

    def output(self, name: OutputName, kept_first: int) -> "OutputWriter":
        """Return what keeps an output; its first bytes, rounded up to segments, are kept in any case."""
        writer = self._outputs[name] = OutputWriter(self._folder, name, kept_first)
        return writer

    def end(self, how: HowEnded, ended: CommandExit) -> JobEnd:
        """Return the end of the job; nothing is printed any more."""
        outputs: dict[OutputName, OutputEnd] = {name: writer.end() for name, writer in self._outputs.items()}
        return JobEnd(mark=self._place.mark, how=how, ended=ended, outputs=outputs)

    def write_end(self, end: JobEnd, *, is_durable: bool) -> None:
        """Write how the job ended. Where the disk is full, the output makes room: the end is worth more.

        `is_durable`: also for the time after a power failure, which a driver that lives sees to in its
        journal. Raises OSError.
        """
        if is_durable:
            for writer in self._outputs.values():
                writer.sync()
        try:
            self._write_end(end, is_durable=is_durable)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            for writer in self._outputs.values():
                writer.remove()
            self._write_end(self.end(end.how, end.ended), is_durable=is_durable)

    def _write_end(self, end: JobEnd, *, is_durable: bool) -> None:
        os.close(self._write(_END, encode_signed(self._place.key, _END, end), is_durable=is_durable))
        if is_durable:
            os.fsync(self._folder)

    def _write(self, name: str, data: bytes, *, is_durable: bool, is_locked: bool = False) -> int:
        """Write a file that is there as a whole or not at all; return its descriptor."""
        temporary = f"{name}.new"
        try:
            file = os.open(temporary, _CREATE_FLAGS, 0o600, dir_fd=self._folder)
        except FileExistsError:
            os.unlink(temporary, dir_fd=self._folder)
            file = os.open(temporary, _CREATE_FLAGS, 0o600, dir_fd=self._folder)
        try:
            if is_locked:
                fcntl.flock(file, fcntl.LOCK_EX)
            _write_all(file, data)
            if is_durable:
                os.fsync(file)
            os.rename(temporary, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except BaseException:
            os.close(file)
            raise
        return file


class OutputWriter:
    """Keeps the beginning and the end of an output in segments."""

    def __init__(self, folder: int, name: OutputName, kept_first: int) -> None:
        self._folder, self._name = folder, name
        self._kept_first = max(1, -(-kept_first // SEGMENT_BYTES))
        self._total = 0
        self._file = -1
        self._digest = hashlib.sha256()
        self._segments: list[Segment] = []
        """Those that are there and complete."""
        self._start = self._size = 0
        self.is_broken = False
        """Whether some could not be written; the rest is counted and not kept."""

    def write(self, data: bytes) -> None:
        """Keep a part of the output; a failure of the disk is noted, and raised to no one."""
        view = memoryview(data)
        while view:
            part = view[: SEGMENT_BYTES - self._total % SEGMENT_BYTES]
            if not self.is_broken:
                self._keep(part)
            self._total += len(part)
            view = view[len(part) :]

    def end(self) -> OutputEnd:
        """Close the output."""
        self._finish_segment()
        return OutputEnd(total=self._total, segments=tuple(self._segments))

    def remove(self) -> None:
        """Remove what was kept."""
        self._finish_segment()
        for segment in self._segments:
            self._unlink(segment)
        self._segments, self.is_broken = [], True

    def sync(self) -> None:
        for segment in self._segments:
            with contextlib.suppress(FileNotFoundError):
                file = os.open(self._segment_name(segment.offset), READ_FLAGS, dir_fd=self._folder)
                try:
                    os.fsync(file)
                finally:
                    os.close(file)

    def _keep(self, part: memoryview) -> None:
        try:
            if self._file < 0:
                self._begin_segment()
            while part:
                count = os.write(self._file, part)
                self._digest.update(part[:count])
                self._size += count
                part = part[count:]
            if self._size == SEGMENT_BYTES:
                self._finish_segment()
                self._remove_middle()
        except OSError:
            self.is_broken = True
            self._finish_segment()

    def _begin_segment(self) -> None:
        name = self._segment_name(self._total)
        self._file = os.open(name, _CREATE_FLAGS, 0o600, dir_fd=self._folder)
        self._start, self._size, self._digest = self._total, 0, hashlib.sha256()

    def _finish_segment(self) -> None:
        if self._file < 0:
            return
        os.close(self._file)
        self._file = -1
        self._segments.append(Segment(offset=self._start, size=self._size, digest=self._digest.hexdigest()))

    def _remove_middle(self) -> None:
        if len(self._segments) > self._kept_first + _KEPT_LAST:
            self._unlink(self._segments.pop(self._kept_first))

    def _unlink(self, segment: Segment) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._segment_name(segment.offset), dir_fd=self._folder)

    def _segment_name(self, offset: int) -> str:
        return f"{self._name}.{offset}"


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _open_or_make_private_folder(path: Path) -> int:
    try:
        file = os.open(path, FOLDER_FLAGS)
    except FileNotFoundError:
        path.mkdir(mode=0o700, exist_ok=True)  # several jobs may be the first at once
        file = os.open(path, FOLDER_FLAGS)
    if os.fstat(file).st_uid != os.geteuid():
        os.close(file)
        raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
    return file


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:80]!r} cannot name a job")


# --- a reader's side ------------------------------------------------------------------------------


class JobReader:
    """Reads the folder of a job, which any process of this user may have written to."""

    def __init__(self, place: JobPlace) -> None:
        """Open the folder. Raises JobUnreadable: it is missing or not our own."""
        self._key, self._mark = place.key, place.mark
        with contextlib.ExitStack() as opened:
            folder = -1
            try:
                for name in (place.session, place.mark):
                    _require_name(name)
                for number, name in enumerate((str(place.root), place.session, place.mark)):
                    folder = os.open(name, FOLDER_FLAGS, dir_fd=folder if number else None)
                    opened.callback(os.close, folder)
                    _require_own(os.fstat(folder), name, is_folder=True)
            except FileNotFoundError:
                raise JobUnreadable("") from None  # an older version kept none
            except (OSError, ValueError) as error:
                raise JobUnreadable(f"its folder was not opened: {error}") from None
            self._folder = os.dup(folder)

    def close(self) -> None:
        """Give the descriptor back; twice is harmless."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def record(self) -> JobRecord:
        """Return the record of the job. Raises JobUnreadable."""
        data = self._read_bounded(_JOB)
        if data is None:
            raise JobUnreadable(f"{_JOB} is missing")
        return self._of_mark(decode_signed(self._key, _JOB, data, JobRecord), _JOB)

    def end(self) -> JobEnd | None:
        """Return the recorded result of the job; None before it is recorded. Raises JobUnreadable."""
        data = self._read_bounded(_END)
        return None if data is None else self._of_mark(decode_signed(self._key, _END, data, JobEnd), _END)

    def state(self) -> JobState:
        """Return what the owner's lock on the job says. Raises JobUnreadable."""
        file = self._open(_JOB, _MOST_RECORD_BYTES)
        if file is None:
            return "over"
        try:
            if _is_free(file, fcntl.LOCK_EX):
                return "over"
            return "released" if _is_free(file, fcntl.LOCK_SH) else "waiting"
        finally:
            os.close(file)

    def offsets(self, output: OutputName) -> list[int]:
        """Return the offsets of the segments that are there, in order. Raises JobUnreadable."""
        found: list[int] = []
        with self._entries() as entries:
            for number, entry in enumerate(entries):
                if number > _MOST_FILES:
                    raise JobUnreadable(f"there are more than {_MOST_FILES} files")
                match = _SEGMENT_NAME.fullmatch(entry.name)
                if match is not None and match[1] == output:
                    found.append(int(match[2]))
        return sorted(found)

    def open_segment(self, output: OutputName, offset: int) -> int | None:
        """Open a segment to read; None where it is not there. Raises JobUnreadable."""
        return self._open(f"{output}.{offset}", SEGMENT_BYTES)

    @contextlib.contextmanager
    def _entries(self) -> Generator[Iterator[os.DirEntry[str]]]:
        try:
            with os.scandir(self._folder) as entries:
                yield entries
        except OSError as error:
            raise JobUnreadable(f"its folder was not read: {error}") from None

    def _of_mark(self, record: _Record, name: str) -> _Record:
        if record.mark != self._mark:
            raise JobUnreadable(f"{name} is about another job")
        return record

    def _read_bounded(self, name: str) -> bytes | None:
        file = self._open(name, _MOST_RECORD_BYTES)
        if file is None:
            return None
        try:
            return os.read(file, _MOST_RECORD_BYTES)
        except OSError as error:
            raise JobUnreadable(f"{name} was not read: {error}") from None
        finally:
            os.close(file)

    def _open(self, name: str, most: int) -> int | None:
        try:
            file = os.open(name, READ_FLAGS | os.O_NOFOLLOW, dir_fd=self._folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise JobUnreadable(f"{name} was not opened: {error}") from None
        try:
            status = os.fstat(file)
            _require_own(status, name, is_folder=False)
            if status.st_size > most:
                raise JobUnreadable(f"{name} is longer than {most} bytes")
        except BaseException:
            os.close(file)
            raise
        return file


def _is_free(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(file, fcntl.LOCK_UN)
    return True


def _require_own(status: os.stat_result, name: str, *, is_folder: bool) -> None:
    is_kind = stat.S_ISDIR(status.st_mode) if is_folder else stat.S_ISREG(status.st_mode)
    if not is_kind or status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise JobUnreadable(f"{name} is not a private {'folder' if is_folder else 'file'} of this user")
    if not is_folder and status.st_nlink > 1:
        raise JobUnreadable(f"{name} has another name too")


def remove_job(root: Path, session: str, mark: str) -> None:
    """Remove the folder of a job, if it exists. Raises OSError."""
    for name in (session, mark):
        _require_name(name)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        parent = os.open(root / session, FOLDER_FLAGS)
        try:
            shutil.rmtree(mark, dir_fd=parent)
        finally:
            os.close(parent)
