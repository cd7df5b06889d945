"""Commands: nothing before the gate opens, everything ended afterwards, hostile children included."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
import uuid
from pathlib import Path

import pytest

from tests.support.waits import PATIENCE, is_readable, until
from workbench.effects import command_execution, own_processes, process_table
from workbench.effects.child_processes import ProcessNotStarted, terminate_leftovers
from workbench.effects.command_execution import Command, CommandExit, prepare_command
from workbench.effects.process_table import ProcessIdentity, process_identity

ENV = {"PATH": os.environ["PATH"], "HOME": "/"}
LONG = 60.0
BUSY = 1.0
"""Seconds by which a shell has begun, also on a busy machine."""


def mark() -> str:
    return f"test-{uuid.uuid4()}"


def ready(argv: list[str] | str, cwd: Path, env: dict[str, str] | None = None) -> Command:
    words = ["sh", "-c", argv] if isinstance(argv, str) else argv
    return prepare_command(words, str(cwd), ENV if env is None else env, mark())


def run(
    command: Command,
    *,
    timeout: float | None = LONG,
    stop: asyncio.Event | None = None,
    limit: int = 1_000_000,
    grace: float = 0.1,
) -> tuple[CommandExit, bytes]:
    parts: list[bytes] = []
    done = asyncio.run(command.go(parts.append, timeout, stop, limit, grace=grace))
    return done, b"".join(parts)


def is_gone(pid: int, seconds: float = 5.0) -> bool:
    """Wait until a process that need not be our child has ended."""
    try:
        file = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return is_readable(file, seconds)
    finally:
        os.close(file)


def read_pid(path: Path) -> int:
    return int(path.read_text())


# --- the plain life of a command


def test_output_order_and_code(tmp_path: Path) -> None:
    done, output = run(ready("echo one; echo two >&2; echo three; exit 3", tmp_path))
    assert output == b"one\ntwo\nthree\n"
    assert done == CommandExit(
        code=3,
        signal=None,
        timed_out=False,
        stopped=False,
        flooded=False,
        leftovers=0,
        duration=done.duration,
    )
    assert 0 < done.duration < LONG


def test_arguments_are_not_read_by_a_shell(tmp_path: Path) -> None:
    words = ["$HOME", "a b", "`id`", "", "*", "-n", "--", "x\ny", "ü"]
    _, output = run(ready([sys.executable, "-c", "import sys; print(sys.argv[1:])", *words], tmp_path))
    assert output.decode() == f"{words}\n"


def test_folder_environment_input_and_session(tmp_path: Path) -> None:
    command = ready('pwd -P; echo "$A"; cat; echo "$WORKBENCH_CALL"; tty', tmp_path, {**ENV, "A": "b"})
    done, output = run(command)
    assert output.decode().splitlines() == [
        str(tmp_path.resolve()), "b", command._terminator._target.mark, "not a tty"
    ]  # fmt: skip
    assert done.code == 1


def test_the_gate_gives_no_descriptor_away(tmp_path: Path) -> None:
    _, output = run(
        ready("ls -l /proc/self/fd | grep -c -e pipe -e socket; readlink /proc/self/fd/0", tmp_path)
    )
    # Standard output and error of ls inside a pipeline: one pipe to grep, one of the command.
    assert output.splitlines() == [b"2", b"/dev/null"]


def test_a_signal_is_told_apart_from_a_code(tmp_path: Path) -> None:
    done, _ = run(ready("kill -USR1 $$", tmp_path))
    assert (done.code, done.signal) == (None, signal.SIGUSR1)


def test_a_missing_program_says_so(tmp_path: Path) -> None:
    done, output = run(ready(["no-such-program"], tmp_path))
    assert done.code == 127
    assert b"not found" in output


@pytest.mark.parametrize(
    ("argv", "cwd", "why"),
    [
        ([], "/", "no program"),
        (["-x"], "/", "no program"),
        (["true"], "/no/such/folder", "nothing of that name"),
        (["true"], "/dev/null", "not a folder"),
        (["true", "a\0b"], "/", "cannot be passed on"),
        (["true", "\ud800"], "/", "cannot be passed on"),
        (["true", "x" * 200_000], "/", "too long"),
    ],
)
def test_what_cannot_be_started_says_why(argv: list[str], cwd: str, why: str) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(ProcessNotStarted, match=why) as caught:
        prepare_command(argv, cwd, ENV, mark())
    assert caught.value.remedy
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_nothing_is_left_in_this_process(tmp_path: Path) -> None:
    before = list(Path("/proc/self/fd").iterdir())
    command = ready("echo x", tmp_path)
    run(command)
    ready("echo x", tmp_path).abandon()
    assert list(Path("/proc/self/fd").iterdir()) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(command.identity.pid, os.WNOHANG)


# --- the gate


def test_nothing_runs_before_it_is_let_go(tmp_path: Path) -> None:
    command = ready("touch ran", tmp_path)
    assert command.identity == process_identity(command.identity.pid)
    assert command.identity.group == command.identity.pid == os.getsid(command.identity.pid)
    command.abandon()
    command.abandon()
    assert not (tmp_path / "ran").exists()
    assert is_gone(command.identity.pid)
    with pytest.raises(RuntimeError):
        run(command)


def test_a_command_is_let_go_once(tmp_path: Path) -> None:
    command = ready("echo >> ran", tmp_path)
    run(command)
    command.abandon()
    with pytest.raises(RuntimeError):
        run(command)
    assert (tmp_path / "ran").read_bytes() == b"\n"


def test_a_stop_that_came_first_executes_nothing(tmp_path: Path) -> None:
    async def stopped() -> CommandExit:
        stop = asyncio.Event()
        stop.set()
        return await ready("touch ran", tmp_path).go(lambda _: None, LONG, stop, 100)

    done = asyncio.run(stopped())
    assert (done.stopped, done.code, done.duration) == (True, None, 0.0)
    assert not (tmp_path / "ran").exists()


PREPARES = """
import os, signal, sys
from workbench.effects.command_execution import prepare_command
command = prepare_command(["touch", "ran"], sys.argv[1], {"PATH": os.environ["PATH"]}, sys.argv[2])
print(command.identity.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_if_we_are_killed_the_helper_exits_without_executing(tmp_path: Path) -> None:
    died = subprocess.run(
        [sys.executable, "-c", PREPARES, str(tmp_path), mark()],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    assert is_gone(int(died.stdout))
    assert not (tmp_path / "ran").exists()


def test_another_command_does_not_hold_the_gate_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ready("touch ran", tmp_path)
    second = ready("touch other", tmp_path)
    helper = first._child
    # Its second may be over on a busy machine before the helper has had a processor.
    wait = helper.wait
    monkeypatch.setattr(helper, "wait", lambda timeout: wait(PATIENCE))
    first.abandon()
    assert helper.returncode not in (None, -signal.SIGKILL), "it ended when its gate was closed"
    second.abandon()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "hostile",
    [{"BASH_FUNC_read%%": "() { :; }"}, {"SHELLOPTS": "noexec"}, {"ENV": "./evil"}, {"BASH_ENV": "./evil"}],
)
def test_the_environment_cannot_open_or_block_the_gate(tmp_path: Path, hostile: dict[str, str]) -> None:
    (tmp_path / "evil").write_text("touch evil-ran\n")
    command = ready(["touch", "ran"], tmp_path, {**ENV, **hostile})
    command.abandon()
    assert not (tmp_path / "ran").exists()
    run(ready(["touch", "ran"], tmp_path, {**ENV, **hostile}))
    assert (tmp_path / "ran").exists()
    assert not (tmp_path / "evil-ran").exists()


# --- ending


def test_a_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    done, output = run(ready("sleep 60 & echo $! > pid; echo x; wait", tmp_path), timeout=BUSY)
    assert (done.timed_out, done.code, done.signal, output) == (True, None, signal.SIGTERM, b"x\n")
    assert is_gone(read_pid(tmp_path / "pid"))
    assert done.duration < LONG


def test_what_ignores_the_request_is_killed_after_the_grace(tmp_path: Path) -> None:
    script = "trap '' TERM; echo $$ > pid; echo up; while :; do sleep 60; done"
    done, _ = run(ready(script, tmp_path), timeout=BUSY, grace=0.3)
    assert (done.timed_out, done.signal) == (True, signal.SIGKILL)
    assert BUSY + 0.3 <= done.duration < LONG
    assert is_gone(read_pid(tmp_path / "pid"))


def test_the_grace_is_for_cleaning_up(tmp_path: Path) -> None:
    script = "trap 'echo cleaned; exit 5' TERM; echo up; while :; do :; done"
    done, output = run(ready(script, tmp_path), timeout=BUSY, grace=LONG)
    assert (done.timed_out, done.code, output) == (True, 5, b"up\ncleaned\n")


def test_a_stopped_process_is_ended_too(tmp_path: Path) -> None:
    done, _ = run(ready("kill -STOP $$", tmp_path), timeout=BUSY, grace=LONG)
    assert (done.timed_out, done.signal) == (True, signal.SIGTERM)


def test_a_stop_while_it_runs(tmp_path: Path) -> None:
    async def stopping() -> CommandExit:
        stop = asyncio.Event()
        return await ready("echo up; sleep 60", tmp_path).go(lambda _: stop.set(), LONG, stop, 100)

    done = asyncio.run(stopping())
    assert (done.stopped, done.timed_out, done.signal) == (True, False, signal.SIGTERM)


@pytest.mark.parametrize(
    "script",
    [
        "sleep 60 & echo $! > pid",
        "(trap '' HUP TERM; echo up; exec sleep 60) & echo $! > pid",
        "setsid sleep 60 & echo $! > pid",
        "nohup setsid sh -c 'echo $$ > pid; sleep 60; true' >/dev/null 2>&1 & while ! test -s pid; do :; done",
        "(setsid sh -c 'echo $$ > pid; exec sleep 60' &) ; while ! test -s pid; do :; done",
    ],
)
def test_what_outlives_the_command_is_ended_and_not_waited_for(tmp_path: Path, script: str) -> None:
    done, _ = run(ready(script, tmp_path))
    assert done.code == 0
    assert done.leftovers >= 1
    assert done.duration < 5
    assert is_gone(read_pid(tmp_path / "pid"))


DAEMON = """
import os, signal, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open("part", "w") as f:
    f.write(str(os.getpid()))
os.rename("part", "pid")
time.sleep(60)
"""


def test_a_true_daemon_is_found_by_its_mark(tmp_path: Path) -> None:
    script = f'"{sys.executable}" -c "$PROGRAM"; while ! test -s pid; do sleep 0.01; done; echo done'
    done, output = run(ready(script, tmp_path, {**ENV, "PROGRAM": DAEMON}))
    assert (done.code, done.leftovers, output) == (0, 1, b"done\n")
    assert is_gone(read_pid(tmp_path / "pid"))


def test_without_mark_and_group_a_living_descent_is_enough(tmp_path: Path) -> None:
    script = "env -i /usr/bin/setsid -w /bin/sh -c 'echo $$ > pid; exec /bin/sleep 60'; true"
    done, _ = run(ready(script, tmp_path), timeout=BUSY, grace=0.5)
    assert done.timed_out
    assert is_gone(read_pid(tmp_path / "pid"))


def test_another_call_is_left_alone(tmp_path: Path) -> None:
    other = ready("sleep 60", tmp_path)
    try:
        done, _ = run(ready("echo x", tmp_path))
        assert done.leftovers == 0
        assert not is_gone(other.identity.pid, 0)
    finally:
        other.abandon()


def test_a_fork_storm_is_ended(tmp_path: Path) -> None:
    script = "trap '' TERM; i=0; while [ $i -lt 40 ]; do (trap '' TERM; exec sleep 60) & i=$((i+1)); done; echo up; wait"
    done, output = run(ready(script, tmp_path), timeout=BUSY, grace=0.1)
    assert (done.timed_out, output) == (True, b"up\n")
    assert done.duration < LONG


# --- floods


@pytest.mark.parametrize(("count", "is_flooded"), [(1000, False), (1001, True)])
def test_exactly_the_limit_is_no_flood(tmp_path: Path, count: int, is_flooded: bool) -> None:
    done, output = run(ready(f"head -c {count} /dev/zero", tmp_path), limit=1000)
    assert (done.flooded, len(output)) == (is_flooded, 1000)


def test_an_endless_flood_is_ended_and_memory_stays_flat(tmp_path: Path) -> None:
    taken = 0

    def take(chunk: bytes) -> None:
        nonlocal taken
        taken += len(chunk)

    tracemalloc.start()
    done = asyncio.run(ready("yes", tmp_path).go(take, LONG, None, 20_000_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (done.flooded, done.timed_out, taken) == (True, False, 20_000_000)
    assert peak < 2_000_000


def test_a_flood_that_ignores_the_request_is_read_on_and_killed(tmp_path: Path) -> None:
    done, output = run(
        ready("trap '' TERM PIPE; while :; do echo xxxxxxxxxxxxxxxx; done", tmp_path), limit=5000
    )
    assert (done.flooded, done.signal, len(output)) == (True, signal.SIGKILL, 5000)


def test_a_leftover_that_floods_the_pipe_does_not_hold_us(tmp_path: Path) -> None:
    done, _ = run(ready("(trap '' TERM; exec yes) & echo x", tmp_path), limit=1 << 40)
    assert (done.code, done.leftovers) == (0, 1)
    assert done.duration < 3


def test_output_of_a_short_command_is_complete(tmp_path: Path) -> None:
    for _ in range(8):
        _, output = run(ready("printf %65536d 1; printf end", tmp_path))
        assert (len(output), output[-3:]) == (65539, b"end")


# --- what goes wrong on our side


def test_a_receiver_that_fails_ends_the_command(tmp_path: Path) -> None:
    command = ready("echo $$ > pid; echo x; sleep 60", tmp_path)

    def fail(_: bytes) -> None:
        raise KeyError("full")

    with pytest.raises(KeyError, match="full"):
        asyncio.run(command.go(fail, LONG, None, 1000, grace=0.2))
    assert is_gone(command.identity.pid)


def test_a_cancelled_wait_ends_everything(tmp_path: Path) -> None:
    command = ready("trap '' TERM; setsid sleep 60 & echo $! > pid; echo x; sleep 60", tmp_path)

    async def cancelling() -> None:
        up = asyncio.Event()
        task = asyncio.create_task(command.go(lambda _: up.set(), LONG, None, 1000))
        await up.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelling())
    assert is_gone(command.identity.pid)
    assert is_gone(read_pid(tmp_path / "pid"))


def test_without_process_descriptors_a_thread_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_execution, "open_pidfd", lambda _: None)
    done, output = run(ready("echo x; sleep 60 & exit 4", tmp_path))
    assert (done.code, output, done.leftovers) == (4, b"x\n", 1)
    done, _ = run(ready("sleep 60", tmp_path), timeout=0.2)
    assert (done.timed_out, done.signal) == (True, signal.SIGTERM)


def test_many_at_once(tmp_path: Path) -> None:
    async def all_of_them() -> list[CommandExit]:
        commands = [ready(f"sleep 0.05; exit {number}", tmp_path) for number in range(20)]
        return await asyncio.gather(*(command.go(lambda _: None, LONG, None, 100) for command in commands))

    assert [done.code for done in asyncio.run(all_of_them())] == list(range(20))


# --- after a crash of the host

DIES = """
import asyncio, json, os, signal, sys
from workbench.effects.command_execution import prepare_command
command = prepare_command(["sh", "-c", sys.argv[3]], sys.argv[1], {"PATH": os.environ["PATH"]}, sys.argv[2])
i = command.identity
print(json.dumps([i.pid, i.group, i.start_time]), flush=True)
asyncio.run(command.go(lambda _: os.kill(os.getpid(), signal.SIGKILL), None, None, 1000))
"""


def crashed(tmp_path: Path, name: str, script: str) -> ProcessIdentity:
    died = subprocess.run(
        [sys.executable, "-c", DIES, str(tmp_path), name, script],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    pid, group, start = __import__("json").loads(died.stdout)
    return ProcessIdentity(pid=pid, group=group, start_time=start)


def test_what_a_dead_host_left_is_ended(tmp_path: Path) -> None:
    name = mark()
    script = "trap '' HUP PIPE; setsid sleep 60 & echo $! > pid; sleep 60 & echo x; wait"
    identity = crashed(tmp_path, name, script)
    assert terminate_leftovers(identity, name, grace=0.3) == 3
    assert is_gone(identity.pid)
    assert is_gone(read_pid(tmp_path / "pid"))
    assert terminate_leftovers(identity, name) == 0


def test_a_number_that_another_process_has_now_is_spared(tmp_path: Path) -> None:
    stranger = ready("sleep 60", tmp_path)
    try:
        pid, start = stranger.identity.pid, stranger.identity.start_time
        boot, _, ticks = start.rpartition(":")
        for other in (f"{boot}:{int(ticks) - 1}", f"00000000-0000-0000-0000-000000000000:{ticks}", "", "x"):
            identity = ProcessIdentity(pid=pid, group=pid, start_time=other)
            assert terminate_leftovers(identity, mark()) == 0
        assert not is_gone(pid, 0)
    finally:
        stranger.abandon()


def test_ending_never_reaches_ourselves(monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import os; from workbench.effects.child_processes import terminate_leftovers; from workbench.effects.process_table import process_identity;"
        "print(terminate_leftovers(process_identity(os.getpid()), 'outer', grace=0.1))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "WORKBENCH_CALL": "outer"},
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert (done.returncode, done.stdout) == (0, "0\n")


# --- orphans handed to us, and processes that go on after us

ADOPTS = """
import asyncio, os, sys
from workbench.effects.process_table import become_subreaper; from workbench.effects.command_execution import prepare_command; from workbench.effects.own_processes import start_detached
from workbench.effects.process_table import read_process_table
from pathlib import Path
assert become_subreaper()
kept = start_detached(["sleep", "60"], Path("log"), {"PATH": os.environ["PATH"]})
def go(script):
    command = prepare_command(["sh", "-c", script], ".", {"PATH": os.environ["PATH"]}, "c1")
    return asyncio.run(command.go(lambda _: None, 20, None, 1000, grace=0.3))
hidden = "(env -i /usr/bin/setsid /bin/sh -c 'echo $$ > pid; exec /bin/sleep 60' &); while ! test -s pid; do :; done"
print(go(hidden).leftovers)
print(go("(env -i /usr/bin/setsid /bin/true &); (env -i /usr/bin/setsid /bin/sh -c 'exit 3' &); sleep 0.1").code)
rows = [row for row in read_process_table().values() if row.parent == os.getpid()]
print([row.pid == kept and row.is_alive for row in rows])
os.kill(kept, 9)
"""


def test_a_daemon_without_a_mark_is_found_as_an_orphan_and_no_zombie_stays(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ADOPTS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.stderr, done.stdout) == ("", "1\n0\n[True]\n")
    assert is_gone(read_pid(tmp_path / "pid"))


DETACHES = """
import os, signal, sys
from pathlib import Path
from workbench.effects.own_processes import start_detached
script = "echo up; echo err >&2; read -r x; echo end $?; touch ran"
print(start_detached(["sh", "-c", script], Path(sys.argv[1]), {"PATH": os.environ["PATH"]}, cwd=sys.argv[2]), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_detached_process_goes_on_after_us(tmp_path: Path) -> None:
    log = tmp_path / "host.log"
    died = subprocess.run(
        [sys.executable, "-c", DETACHES, str(log), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert is_gone(int(died.stdout))
    assert (log.read_text(), (tmp_path / "ran").exists()) == ("up\nerr\nend 1\n", True)
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_detached_process_that_ends_leaves_no_zombie(tmp_path: Path) -> None:
    pid = own_processes.start_detached(["true"], tmp_path / "log", ENV)
    assert is_gone(pid)
    until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_detached_process_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(ProcessNotStarted, match="nothing of that name"):
        own_processes.start_detached(["/no/such/program"], tmp_path / "log", ENV)


def test_a_command_whose_process_cannot_be_seen_is_not_started_and_leaves_no_zombie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    monkeypatch.setattr(process_table, "read_process", lambda pid: begun.append(pid))
    with pytest.raises(ProcessNotStarted, match="does not show its processes"):
        prepare_command(["/bin/sh", "-c", f"touch {tmp_path}/ran"], str(tmp_path), {}, "m")
    for thread in threading.enumerate():
        if thread.name == f"wait-{begun[0]}":
            thread.join(PATIENCE)
    with pytest.raises(ProcessLookupError):
        os.kill(begun[0], 0)
    assert not (tmp_path / "ran").exists()
