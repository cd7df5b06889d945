"""Commands with an owner process: used as others, found again by the next driver, never guessed at."""

import asyncio
import errno
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from tests.support.sizes import size
from tests.support.waits import PATIENCE, until
from workbench.effects import command_execution, job_files, job_owner, own_processes
from workbench.effects.child_processes import ProcessNotStarted, unnamed_file
from workbench.effects.command_execution import CommandExit, CommandOutputs, OutputPipe
from workbench.effects.found_job import JobLost, find_job
from workbench.effects.job_channel import (
    GO,
    OUTPUT,
    READY,
    JobChannel,
    JobRequest,
    Release,
    decode,
    encode,
)
from workbench.effects.job_files import (
    SEGMENT_BYTES,
    JobEnd,
    JobFolder,
    JobPlace,
    JobReader,
    JobUnreadable,
    job_key,
)
from workbench.effects.owned_command import Jobs, OwnedCommand
from workbench.effects.process_table import ProcessIdentity, is_running

ENV = {"PATH": os.environ["PATH"], "HOME": "/"}
KEY = b"k" * 32
SESSION = "01SESSION"
LIMIT = 1 << 40


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "jobs").mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="module")
def jobs(data):
    jobs = Jobs(data, KEY, data / "owner.log")
    yield jobs
    jobs.close()


class Printed:
    def __init__(self) -> None:
        self.out, self.err, self.gaps = bytearray(), bytearray(), []

    @property
    def takers(self) -> dict:
        return {"on_stdout": self.out.extend, "on_gap": self.gaps.append, "on_stdout_gap": self.gaps.append}


def new_mark() -> str:
    return f"test-{uuid.uuid4()}"


async def prepared(jobs: Jobs, script: str, mark: str, life="outlives", **options) -> OwnedCommand:
    cwd = options.pop("cwd", "/")
    return await jobs.prepare(SESSION, ["sh", "-c", script], cwd, ENV, mark, life=life, **options)


def run(jobs: Jobs, script: str, *, mark="", timeout=None, limit=LIMIT, stall=0.0, **options):
    """Run a command to its end; return how it ended, what it printed, and its identity."""
    printed = Printed()

    async def work() -> tuple[CommandExit, ProcessIdentity]:
        command = await prepared(jobs, script, mark or new_mark(), **options)
        end = await command.go(
            printed.err.extend, timeout, None, limit, grace=0.1, on_stdout=printed.out.extend,
            stall_seconds=stall,
        )  # fmt: skip
        return end, command.identity

    end, identity = asyncio.run(work())
    return end, printed, identity


def found(jobs: Jobs, mark: str, identity: ProcessIdentity, stop: asyncio.Event | None = None):
    """Follow a job of an earlier driver; return how it ended and what it printed."""
    printed = Printed()
    job = jobs.find(SESSION, mark, identity)
    end = asyncio.run(job.follow(printed.err.extend, stop, **printed.takers))
    return end, printed, job


# --- used as other commands


def test_output_code_and_what_it_reads(jobs, data, tmp_path: Path) -> None:
    script = 'cat; pwd -P; echo "$WORKBENCH_CALL"; echo error >&2; exit 3'
    mark = new_mark()
    end, printed, _ = run(
        jobs, script, mark=mark, cwd=str(tmp_path), is_apart=True, stdin=b"given\n" * 100_000
    )
    assert bytes(printed.out) == b"given\n" * 100_000 + f"{tmp_path.resolve()}\n{mark}\n".encode()
    assert bytes(printed.err) == b"error\n"
    assert (end.code, end.signal, end.stopped, end.timed_out, end.leftovers) == (3, None, False, False, 0)


def test_the_command_gets_no_descriptor_of_its_owner(jobs) -> None:
    _, printed, _ = run(jobs, "ls -l /proc/self/fd | grep -c -e socket -e memfd -e home")
    assert bytes(printed.err) == b"0\n"


@pytest.mark.parametrize(
    ("script", "options", "expected"),
    [
        ("kill -USR1 $$", {}, {"code": None, "signal": signal.SIGUSR1}),
        ("exec sleep 600", {"timeout": 0.2}, {"timed_out": True, "signal": signal.SIGTERM}),
        ("exec yes", {"limit": 100_000}, {"flooded": True}),
        ("echo; exec sleep 600", {"stall": 0.2}, {"is_stalled": True, "stopped": False}),
        ("setsid sleep 600 &", {}, {"code": 0, "leftovers": 1}),
    ],
)
def test_ends(jobs, script, options, expected) -> None:
    end, printed, _ = run(jobs, script, **options)
    assert {name: getattr(end, name) for name in expected} == expected
    assert len(printed.err) <= options.get("limit", LIMIT)


class Silences:
    """Two outputs that are read, or held, at given times of a clock that is moved by hand."""

    def __init__(self, moments) -> None:
        self.now, self.moments = 0.0, list(moments)
        self.parts = [OutputPipe(-1, bytes, 1) for _ in range(2)]
        self.outputs = CommandOutputs(*self.parts)
        for part in self.parts:
            part._last_read = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        while self.moments and self.moments[0][0] <= until:
            self.now, number, is_held = self.moments.pop(0)
            self.parts[number]._is_held, self.parts[number]._last_read = is_held, self.now
        self.now = until


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 1), st.booleans()), max_size=12), st.integers(1, 20)
)
def test_silence_is_that_of_all_outputs_while_they_are_read(pauses, seconds) -> None:
    moments, now = [], 0
    for pause, number, is_held in pauses:
        now += pause
        moments.append((now, number, is_held))
    moments += [(now + 1, 0, False), (now + 2, 1, False)]
    expected, held, last = None, {0: False, 1: False}, 0
    for at, number, is_held in moments:
        if not any(held.values()) and at > last + seconds:
            break
        last, held[number] = at, is_held
    expected = last + seconds
    clock = Silences(moments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_execution, "time", clock)
        patch.setattr(command_execution.asyncio, "sleep", clock.sleep)
        asyncio.run(clock.outputs.silence(seconds))
    # Where an output was held, the silence is noticed at most one look later.
    assert expected <= clock.now <= expected + (seconds if any(h for *_, h in moments) else 0)


def test_stop_ends_it_and_a_stop_before_runs_nothing(jobs, tmp_path: Path) -> None:
    async def work() -> tuple[CommandExit, CommandExit]:
        stop = asyncio.Event()
        command = await prepared(jobs, "echo begun; exec sleep 600", new_mark())
        first = await command.go(lambda _: stop.set(), None, stop, LIMIT)
        second = await prepared(jobs, f"touch {tmp_path}/ran", new_mark())
        return first, await second.go(lambda _: None, None, stop, LIMIT)

    first, second = asyncio.run(work())
    assert first.stopped
    assert first.signal == signal.SIGTERM
    assert second.stopped
    assert not (tmp_path / "ran").exists()


def test_what_is_not_there_is_not_started(jobs, tmp_path: Path) -> None:
    with pytest.raises(ProcessNotStarted, match="check the path"):
        run(jobs, "true", cwd=f"{tmp_path}/none")


def test_a_receiver_that_fails_ends_the_command(jobs) -> None:
    identities: list[ProcessIdentity] = []

    def fail(_: bytes) -> None:
        raise ValueError("no room")

    async def work() -> None:
        command = await prepared(jobs, "echo begun; exec sleep 600", new_mark())
        identities.append(command.identity)
        await command.go(fail, None, None, LIMIT)

    with pytest.raises(ValueError, match="no room"):
        asyncio.run(work())
    assert not is_running(identities[0])


def test_a_cancelled_driver_leaves_nothing(jobs) -> None:
    async def work() -> tuple[ProcessIdentity, str]:
        begun, mark = asyncio.Event(), new_mark()
        command = await prepared(jobs, "echo begun; exec sleep 600", mark)
        task = asyncio.create_task(command.go(lambda _: begun.set(), None, None, LIMIT))
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return command.identity, mark

    identity, mark = asyncio.run(work())
    assert not is_running(identity)
    assert found(jobs, mark, identity)[0].stopped


def test_an_owner_that_was_killed_before_is_started_again(data) -> None:
    own = Jobs(data, KEY, data / "owner.log")
    mark = new_mark()
    _, _, identity = run(own, "true", mark=mark)
    owner = own.find(SESSION, mark, identity).record.owner
    os.kill(owner.pid, signal.SIGKILL)
    until(lambda: not is_running(owner))
    assert run(own, "exit 4")[0].code == 4
    own.close()


# --- found by the next driver


def test_the_next_driver_finds_how_it_ended(jobs) -> None:
    mark = new_mark()
    end, printed, identity = run(jobs, "echo out; echo err >&2; exit 5", mark=mark, is_apart=True)
    again, read, job = found(jobs, mark, identity)
    assert again == end
    assert (read.out, read.err, read.gaps) == (printed.out, printed.err, [])
    assert job.end is not None
    assert job.end.how == "ended"


def test_the_middle_of_a_long_output_is_not_kept(jobs, data) -> None:
    size, mark = 7 * SEGMENT_BYTES + 5, new_mark()
    script = f"head -c {size} /dev/zero | tr '\\0' x; echo err >&2"
    _, printed, identity = run(jobs, script, mark=mark, is_apart=True)
    assert len(printed.out) == size
    _, read, _ = found(jobs, mark, identity)
    assert len(read.out) + sum(read.gaps) == size
    assert SEGMENT_BYTES * 3 < len(read.out) <= SEGMENT_BYTES * 4
    names = [path.name for path in (data / "jobs" / SESSION / mark).glob("out.*")]
    assert len(names) == 4


def test_a_standard_output_that_is_a_result_is_kept(jobs) -> None:
    size, mark = 5 * SEGMENT_BYTES + 5, new_mark()
    script = f"head -c {size} /dev/zero | tr '\\0' x"
    _, _, identity = run(jobs, script, mark=mark, is_apart=True, kept_first=size)
    _, read, _ = found(jobs, mark, identity)
    assert (len(read.out), read.gaps) == (size, [])


def test_a_command_that_was_never_let_go_never_ran(jobs, tmp_path: Path) -> None:
    mark = new_mark()

    async def work() -> ProcessIdentity:
        command = await prepared(jobs, f"touch {tmp_path}/ran", mark)
        command.abandon()
        return command.identity

    identity = asyncio.run(work())
    until(lambda: not is_running(identity))
    _, _, job = found(jobs, mark, identity)
    assert job.end is not None
    assert job.end.how == "never ran"
    assert not (tmp_path / "ran").exists()


def test_an_owner_that_is_killed_loses_its_command(data, tmp_path: Path) -> None:
    own = Jobs(data, KEY, data / "owner.log")
    mark, printed, identities = new_mark(), Printed(), []

    def kill_owner(chunk: bytes) -> None:
        printed.err.extend(chunk)
        os.kill(own.find(SESSION, mark, identities[0]).record.owner.pid, signal.SIGKILL)

    async def work() -> None:
        command = await prepared(own, "echo begun; exec sleep 600", mark)
        identities.append(command.identity)
        await command.go(kill_owner, None, None, LIMIT)

    with pytest.raises(JobLost, match="did not write how it ended"):
        asyncio.run(work())
    assert bytes(printed.err) == b"begun\n"
    assert not is_running(identities[0])
    with pytest.raises(JobLost):
        own.find(SESSION, mark, identities[0])
    own.close()


# --- drivers that are killed

_DRIVER = """
import asyncio, sys
from pathlib import Path
from msgspec import json
from workbench.effects.owned_command import Jobs

async def main(data, mark, script, life, stall):
    jobs = Jobs(data, b"k" * 32, data / "owner.log")
    command = await jobs.prepare("01SESSION", ["sh", "-c", script], "/", {"PATH": "/usr/bin:/bin"}, mark, life=life)
    print(json.encode(command.identity).decode(), flush=True)
    if life != "prepared":
        await command.go(
            lambda chunk: print(chunk.decode(), end="", flush=True), None, None, 1 << 40,
            stall_seconds=float(stall),
        )

data, mark, script, life, stall = sys.argv[1:]
asyncio.run(main(Path(data), mark, script, life, stall))
"""


def killed_driver(data: Path, mark: str, script: str, life: str, stall: float = 0) -> ProcessIdentity:
    """Start a driver, kill it when its command has printed a line, and return the identity of the command."""
    words = [sys.executable, "-c", _DRIVER, str(data), mark, script, life, str(stall)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        identity = json.loads(driver.stdout.readline())
        assert driver.stdout.readline() == "begun\n"
        driver.kill()
    return ProcessIdentity(**identity)


def test_a_command_outlives_its_driver_and_is_followed_to_its_end(jobs, data, tmp_path: Path) -> None:
    mark, fifo = new_mark(), tmp_path / "fifo"
    os.mkfifo(fifo)
    script = f"echo begun; read -r line <{fifo}; echo $line; exit 6"
    identity = killed_driver(data, mark, script, "outlives")
    job, printed = jobs.find(SESSION, mark, identity), Printed()
    assert job.is_running

    def let_go(chunk: bytes) -> None:
        printed.err.extend(chunk)
        if printed.err == b"begun\n":
            fifo.write_text("went on\n")

    end = asyncio.run(job.follow(let_go))
    assert end.code == 6
    assert bytes(printed.err) == b"begun\nwent on\n"


def test_a_command_that_its_driver_left_is_ended_when_it_prints_nothing_for_too_long(jobs, data) -> None:
    mark = new_mark()
    identity = killed_driver(data, mark, "echo begun; exec sleep 600", "outlives", stall=0.5)
    end, _, job = found(jobs, mark, identity)
    assert end.is_stalled and not end.stopped
    assert job.end is not None and job.end.how == "ended"
    assert not is_running(identity)


def test_the_next_driver_stops_it(jobs, data) -> None:
    mark, stop = new_mark(), asyncio.Event()
    identity = killed_driver(data, mark, "echo begun; exec sleep 600", "outlives")
    end = asyncio.run(jobs.find(SESSION, mark, identity).follow(lambda _: stop.set(), stop))
    assert end.stopped
    assert not is_running(identity)


def test_a_command_that_lives_with_its_driver_ends_with_it(jobs, data) -> None:
    mark = new_mark()
    identity = killed_driver(data, mark, "echo begun; echo last words; exec sleep 600", "with driver")
    end, printed, job = found(jobs, mark, identity)
    assert end.stopped
    assert bytes(printed.err) == b"begun\nlast words\n"
    assert job.end is not None
    assert job.end.how == "driver lost"


# --- folders that something else wrote to


def _forge(path: Path, name: str) -> None:
    record = json.loads((path / name).read_text())
    content = record["content"]
    if name == "end.json":
        content["ended"]["code"] = 0
    (path / name).write_text(json.dumps({**record, "content": content}))


def _linked(path: Path, name: str) -> None:
    target = path.parent / f"{path.name}-{name}"
    (path / name).rename(target)
    (path / name).symlink_to(target)


def _linked_folder(path: Path) -> None:
    target = path.parent / f"{path.name}-moved"
    path.rename(target)
    path.symlink_to(target)


def _swapped(path: Path) -> None:
    (path / "end.json").write_bytes((path / "job.json").read_bytes())


_TAMPERED = {
    "no folder": lambda path: path.rename(path.parent / f"{path.name}-moved"),
    "a link for the folder": _linked_folder,
    "a folder for all": lambda path: path.chmod(0o755),
    "no record": lambda path: (path / "job.json").unlink(),
    "no end": lambda path: (path / "end.json").unlink(),
    "a link for the record": lambda path: _linked(path, "job.json"),
    "a link for the end": lambda path: _linked(path, "end.json"),
    "a second name of the end": lambda path: (path / "end.json").hardlink_to(path / "more"),
    "an end for all": lambda path: (path / "end.json").chmod(0o644),
    "a forged end": lambda path: _forge(path, "end.json"),
    "the record as the end": _swapped,
    "an end that is no JSON": lambda path: (path / "end.json").write_bytes(b"{"),
    "an endless end": lambda path: (path / "end.json").write_bytes(b" " * 100_000),
    "an end that waits": lambda path: ((path / "end.json").unlink(), os.mkfifo(path / "end.json", 0o600)),
    "other output": lambda path: (path / "out.0").write_bytes(b"x" * 8),
    "shorter output": lambda path: os.truncate(path / "out.0", 2),
    "longer output": lambda path: (path / "out.0").write_bytes((path / "out.0").read_bytes() + b"x"),
    "no output": lambda path: (path / "out.0").unlink(),
    "a link for the output": lambda path: _linked(path, "out.0"),
    "endless output": lambda path: os.truncate(path / "out.0", 1 << 40),
    "more output": lambda path: (path / "out.4096").write_bytes(b"more"),
    "too many files": lambda path: [(path / f"out.{number}0").touch() for number in range(1, 600)],
    "output of another user": lambda path: os.chown(path / "out.0", 12345, -1),
}


@pytest.mark.parametrize("tamper", _TAMPERED)
def test_a_folder_that_was_changed_is_lost(jobs, data, tamper) -> None:
    if "another user" in tamper and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    mark = new_mark()
    _, _, identity = run(jobs, "echo printed; exit 7", mark=mark)
    path = data / "jobs" / SESSION / mark
    if "second name" in tamper:
        (path / "more").write_bytes((path / "end.json").read_bytes())
        (path / "more").chmod(0o600)
        (path / "end.json").unlink()
    _TAMPERED[tamper](path)
    with pytest.raises(JobLost):
        found(jobs, mark, identity)


def _copied_record(path: Path) -> None:
    (path / "copy").write_bytes((path / "job.json").read_bytes())
    (path / "copy").chmod(0o600)
    (path / "copy").rename(path / "job.json")


def _copied_folder(path: Path) -> None:
    path.rename(path.parent / f"{path.name}-moved")
    shutil.copytree(path.parent / f"{path.name}-moved", path)


@pytest.mark.parametrize(
    "tamper",
    [_copied_record, _copied_folder, lambda path: (path / "end.json").write_bytes(b"{}"), _linked_folder],
    ids=[
        "a copy of the record",
        "a copy of the folder",
        "an end that is not its own",
        "a link for the folder",
    ],
)
def test_a_running_command_whose_folder_was_changed_is_ended_and_lost(jobs, data, tamper) -> None:
    mark = new_mark()
    identity = killed_driver(data, mark, "echo begun; exec sleep 600", "outlives")
    tamper(data / "jobs" / SESSION / mark)
    with pytest.raises(JobLost):
        found(jobs, mark, identity)
    assert not is_running(identity)


def _changed(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return chance.choice(
        [
            data[:at],
            data + b"x",
            data[:at] + b"x" + data[at:],
            data[:at] + b"x" + data[at + 1 :],
            b"",
            data[::-1],
        ]
    )


def _tamper(path: Path, other: Path, chance: random.Random) -> None:
    """Do one drawn thing to a file of a job's folder; `other`: the folder of another job."""
    file = path / chance.choice(sorted(entry.name for entry in path.iterdir()))
    aside = path.parent / f"aside-{uuid.uuid4()}"
    match chance.choice(
        ["bytes", "another job", "gone", "link", "second name", "name", "swap", "mode", "fifo"]
    ):
        case "bytes":
            file.write_bytes(_changed(file.read_bytes(), chance))
        case "another job":
            (other / file.name).exists() and shutil.copy(other / file.name, file)
        case "gone":
            file.unlink()
        case "link":
            file.rename(aside)
            file.symlink_to(aside)
        case "second name":
            os.link(file, aside)
        case "name":
            file.rename(
                path / chance.choice(["job.json", "end.json", "out.0", "out.1048576", "err.0", "out.7"])
            )
        case "swap":
            second = path / chance.choice(sorted(entry.name for entry in path.iterdir()))
            file.rename(aside)
            second.exists() and second.rename(file)
            aside.rename(second)
        case "mode":
            file.chmod(chance.choice([0o640, 0o604, 0o666]))
        case "fifo":
            file.unlink()
            os.mkfifo(file, 0o600)


@pytest.mark.parametrize("seed", range(size("WORKBENCH_TAMPERINGS", 60, 2000)))
def test_a_folder_after_drawn_changes_is_lost_or_read_as_it_was_left(jobs, data, ended_jobs, seed) -> None:
    chance = random.Random(seed)
    (mark, identity, expected), (other, _, _) = ended_jobs
    path, kept = data / "jobs" / SESSION / mark, data / "kept" / mark
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(kept, path, copy_function=shutil.copy2)
    for _ in range(chance.randint(1, 3)):
        if any(path.iterdir()):
            _tamper(path, data / "kept" / other, chance)
    try:
        end, printed, _ = found(jobs, mark, identity)
    except JobLost:
        return
    assert (end, bytes(printed.out), bytes(printed.err), printed.gaps) == expected


@pytest.fixture(scope="module")
def ended_jobs(jobs, data):
    """Return two jobs whose folders are kept: marks, identities, and what a reader finds in them."""
    made = []
    for text in ("one", "two"):
        mark = new_mark()
        script = f"head -c {SEGMENT_BYTES + 9} /dev/zero | tr '\\0' {text[0]}; echo {text} >&2; exit 7"
        _, _, identity = run(jobs, script, mark=mark, is_apart=True)
        end, printed, _ = found(jobs, mark, identity)
        shutil.copytree(data / "jobs" / SESSION / mark, data / "kept" / mark)
        made.append((mark, identity, (end, bytes(printed.out), bytes(printed.err), printed.gaps)))
    return made


def test_the_record_of_another_process_or_key_is_lost(jobs, data) -> None:
    mark = new_mark()
    _, _, identity = run(jobs, "true", mark=mark)
    other = ProcessIdentity(pid=identity.pid, group=identity.group, start_time="another")
    with pytest.raises(JobLost, match="another process"):
        jobs.find(SESSION, mark, other)
    with pytest.raises(JobLost, match="signature"):
        Jobs(data, b"x" * 32, data / "owner.log").find(SESSION, mark, identity)
    for hostile in ("..", ".", "a/b", ""):
        with pytest.raises((JobLost, ValueError)):
            jobs.find(SESSION, hostile, identity)


def test_the_folder_is_removed_and_only_that(jobs, data) -> None:
    mark = new_mark()
    run(jobs, "echo x", mark=mark)
    jobs.remove(SESSION, mark)
    assert not (data / "jobs" / SESSION / mark).exists()
    outside = data / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (data / "jobs" / SESSION / mark).symlink_to(outside)
    jobs.remove(SESSION, mark)
    assert (outside / "kept").exists()


# --- full disks, slow drivers


@pytest.fixture
def place(data) -> JobPlace:
    mark = new_mark()
    return JobPlace(root=data / "jobs", session=SESSION, mark=mark, key=job_key(KEY, mark))


def test_a_full_disk_costs_output_and_not_the_end(place, monkeypatch) -> None:
    folder = JobFolder(place)
    output, real_write, room = folder.output("out", 0), os.write, [1000]

    def write(file: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "full")
        count = real_write(file, bytes(data)[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(job_files.os, "write", write)
    monkeypatch.setattr(folder, "_write", _making_room(folder, room))
    output.write(b"x" * 3000)
    folder.write_end(
        folder.end(
            "ended",
            CommandExit(
                code=0, signal=None, timed_out=False, stopped=False, flooded=False, leftovers=0, duration=1.0
            ),
        ),
        is_durable=True,
    )
    end = JobReader(place).end()
    assert end is not None
    assert end.ended.code == 0
    assert (end.outputs["out"].total, end.outputs["out"].segments) == (3000, ())


def _making_room(folder: JobFolder, room: list[int]):
    """Return a write of a record that finds room when the output was removed."""
    write = folder._write

    def work(*arguments, **options) -> int:
        if not JobReader(folder._place).offsets("out"):
            room[0] = 100_000
        return write(*arguments, **options)

    return work


async def _own_and_leave(place: JobPlace, script: str) -> tuple[asyncio.Task[None], ProcessIdentity]:
    """Own a command as an owner does, let it go as its driver, and lose that driver."""
    request = JobRequest(
        root=str(place.root), session=SESSION, mark=place.mark, key=place.key, argv=("sh", "-c", script),
        cwd="/", environment=ENV, stdin=b"", is_apart=False, is_boxed=False, life="outlives", kept_first=0,
        note="",
    )  # fmt: skip
    ours, theirs = socket.socketpair()
    with unnamed_file(msgpack.encode(request)) as file:
        assert file is not None
        owner = asyncio.create_task(job_owner._own_command(theirs.detach(), os.dup(file)))
        channel = JobChannel(ours)
        kind, content = await channel.receive() or (b"", b"")
        assert kind == READY
    channel.send(GO, encode(Release(timeout=None, limit_bytes=LIMIT, grace=0.1, stall_seconds=0.0)))
    await channel.flush()
    channel.close()
    return owner, decode(content, ProcessIdentity)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_an_end_that_cannot_be_written_is_written_once_there_is_room(place, monkeypatch, error) -> None:
    write, failures = JobFolder._write, []
    monkeypatch.setattr(job_owner, "_RETRY_SECONDS", 0.01)

    def fail(folder: JobFolder, name: str, data: bytes, **options) -> int:
        if name == "end.json" and len(failures) < 5:
            failures.append(name)
            raise OSError(error, "no")
        return write(folder, name, data, **options)

    monkeypatch.setattr(JobFolder, "_write", fail)

    async def work() -> CommandExit:
        owner, identity = await _own_and_leave(place, "echo printed; exit 6")
        ended, _ = await asyncio.gather(find_job(place, identity).follow(lambda _: None), owner)
        return ended

    assert asyncio.run(work()).code == 6
    assert len(failures) == 5


def test_an_end_is_not_written_where_its_driver_has_removed_the_folder(place, monkeypatch) -> None:
    monkeypatch.setattr(job_owner, "_RETRY_SECONDS", 0.01)
    failed = asyncio.Event()

    def fail(folder: JobFolder, end: JobEnd, *, is_durable: bool) -> None:
        if not failed.is_set():
            failed.set()
            raise OSError(errno.ENOSPC, "full")
        write(folder, end, is_durable=is_durable)

    async def work() -> None:
        owner, _ = await _own_and_leave(place, "exit 0")
        await failed.wait()
        job_files.remove_job(place.root, SESSION, place.mark)
        await owner

    write = JobFolder.write_end
    monkeypatch.setattr(JobFolder, "write_end", fail)
    asyncio.run(work())
    assert not (place.root / SESSION / place.mark).exists()


def test_a_record_that_cannot_be_written_runs_nothing(jobs, data, tmp_path: Path) -> None:
    (data / "jobs" / "01FILE").write_text("a file where the folder of a session would be")

    async def work() -> None:
        await jobs.prepare("01FILE", ["touch", f"{tmp_path}/ran"], "/", ENV, new_mark(), life="outlives")

    with pytest.raises(ProcessNotStarted, match="record of the command"):
        asyncio.run(work())
    assert not (tmp_path / "ran").exists()


def test_a_slow_driver_takes_the_room_away_and_a_lost_one_does_not() -> None:
    async def work() -> None:
        ours, theirs = socket.socketpair()
        channel, other = JobChannel(ours), JobChannel(theirs)
        while channel.room.is_set():
            channel.send(OUTPUT, b"x" * 65_536)
        frames = 0
        while not channel.room.is_set():
            assert await other.receive() == (OUTPUT, b"x" * 65_536)
            frames += 1
        assert frames
        while channel.room.is_set():
            channel.send(OUTPUT, b"x" * 65_536)
        other.close()
        await channel.room.wait()
        assert channel.is_gone
        channel.send(OUTPUT, b"x" * 10_000_000)
        await channel.flush()
        channel.close()

    asyncio.run(asyncio.wait_for(work(), PATIENCE))


def test_the_owner_is_started_from_this_package(data) -> None:
    words = own_processes.workbench_command_line(
        ["9"], {"PYTHONPATH": ""}, module="workbench.effects.job_owner"
    )
    assert words[1] == "-P"
    assert words[-3:] == ["-m", "workbench.effects.job_owner", "9"]


def test_a_reader_refuses_names_that_lead_out(data) -> None:
    with pytest.raises(JobUnreadable):
        JobReader(JobPlace(root=data / "jobs", session="..", mark="x", key=KEY))
