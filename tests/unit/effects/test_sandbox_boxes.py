"""Commands in boxes: their life from the gate to the end, with the grace they are given, and what they find there."""

import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import threading

import pytest
from msgspec.structs import replace

from tests.support import boxes
from tests.support.waits import PATIENCE
from workbench.effects.child_processes import ProcessNotStarted, run_hook
from workbench.effects.path_files import SYNCING
from workbench.effects.sandbox import boxed_argv, boxed_environment

BACKENDS = ("auto", "landlock")
_SELECTABLE = 1_024


@pytest.fixture
def planned(tmp_path):
    boxes.sandbox()
    return boxes.plan(tmp_path.resolve())


@pytest.fixture(params=BACKENDS)
def choice(request):
    boxes.sandbox(request.param)
    return request.param


def test_a_workspace_may_have_an_odd_name(tmp_path):
    boxes.sandbox()
    folder = tmp_path.resolve()
    planned = boxes.plan(folder, workspace=folder / "a\rb\nc\\040d é")
    assert boxes.says(planned, "echo x > made; cat made") == "x\n"


# --- the life of a command


def test_output_code_and_folder(planned, choice):
    done, output = boxes.run(planned, "echo one; echo two >&2; pwd; exit 3", choice=choice)
    assert output.splitlines() == ["one", "two", planned.box.folder]
    assert (done.code, done.signal, done.leftovers, done.timed_out) == (3, None, 0, False)


def test_arguments_are_not_read_by_a_shell(planned, choice):
    words = ["$HOME", "a b", "`id`", "", "*", "-n", "--", "x\ny", "ü", "--bind"]
    assert boxes.says(planned, "printf", "%s\n", *words, choice=choice) == "".join(
        f"{word}\n" for word in words
    )


def test_input_is_nothing_or_what_is_given(planned, choice):
    assert boxes.says(planned, "readlink /proc/self/fd/0; wc -c", choice=choice) == "/dev/null\n0\n"
    assert boxes.says(planned, "wc -c", choice=choice, stdin=b"x" * 300_000) == "300000\n"


def test_outputs_apart(planned, choice):
    printed, noted = bytearray(), bytearray()
    command = boxes.prepare(planned, "echo out; echo err >&2", choice=choice, is_apart=True)
    asyncio.run(command.go(noted.extend, boxes.SECONDS, None, 1000, on_stdout=printed.extend))
    assert (printed, noted) == (b"out\n", b"err\n")


def test_no_descriptor_is_handed_on(planned, choice):
    listed = boxes.says(planned, "ls -l /proc/self/fd", choice=choice).splitlines()
    assert sum("->" in line for line in listed) == 4, "input, output, errors, and that of ls itself"


def test_nothing_runs_before_it_is_let_go(planned, choice):
    command = boxes.prepare(planned, "touch ran", choice=choice)
    command.abandon()
    assert not os.path.exists(f"{planned.box.workspace}/ran")  # noqa: PTH110


def test_a_stop_that_came_first_executes_nothing(planned):
    stop = asyncio.Event()
    stop.set()
    done, _ = boxes.run(planned, "touch ran", stop=stop)
    assert done.stopped
    assert not os.path.exists(f"{planned.box.workspace}/ran")  # noqa: PTH110


def stopped_at(planned, line, script, grace, **more):
    """Run a command, and stop it when it has printed a line."""
    output = bytearray()

    async def follow():
        stop = asyncio.Event()

        def feed(data):
            output.extend(data)
            if line in output:
                stop.set()

        command = boxes.prepare(planned, script, **more)
        return await command.go(feed, PATIENCE, stop, 1_000_000, grace=grace)

    return asyncio.run(follow()), bytes(output)


def test_a_stopped_command_may_put_its_things_in_order(planned, choice):
    script = 'trap "echo last words; exit 7" TERM; echo ready; while :; do sleep 0.05; done'
    done, output = stopped_at(planned, b"ready", script, PATIENCE, choice=choice)
    assert done.stopped and b"last words" in output
    assert done.code == 7


def test_children_of_a_stopped_command_are_asked_too(planned):
    script = (
        '(trap "echo child done; exit" TERM; echo ready; while :; do sleep 0.05; done) & '
        'trap "wait; exit 0" TERM; wait; wait'
    )
    done, output = stopped_at(planned, b"ready", script, PATIENCE)
    assert done.stopped and b"child done" in output


def test_a_command_that_does_not_listen_is_ended_with_all_it_started(planned, choice):
    script = (
        'trap "" TERM; (setsid sh -c "trap \'\' TERM; sleep 600" &); echo ready; while :; do sleep 0.05; done'
    )
    done, _ = stopped_at(planned, b"ready", script, 0.1, choice=choice)
    assert done.stopped and done.code in (None, 137)


def test_what_a_command_leaves_is_over_when_it_is(planned):
    done, _ = boxes.run(planned, "exec 9>lock; flock 9; (setsid sleep 600 &); true")
    assert (done.code, done.leftovers) == (0, 0)
    lock = f"{planned.box.workspace}/lock"
    assert subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 0


@pytest.mark.parametrize(
    "path", ["/new", "/dev/new", "/run/new", "/etc/new", "/usr/new", "~/new", "/proc/sys/new", "/sys/new"]
)
def test_nothing_can_be_written_next_to_the_writable_places(planned, path):
    done, output = boxes.run(planned, f"echo x > {path}")
    assert done.code != 0 and ("Read-only file system" in output or "cannot create" in output)


@pytest.mark.parametrize("path", [".", "/tmp", "/var/tmp", "/dev/shm", "~/.cache", "~/.npm"])
def test_the_writable_places_can_be_written(planned, path):
    assert boxes.says(planned, f"echo x > {path}/new && cat {path}/new") == "x\n"


def test_landlock_takes_no_link_for_a_writable_folder(planned, tmp_path):
    boxes.sandbox("landlock")
    (tmp_path / "elsewhere/sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("elsewhere")
    changed = replace(planned, box=replace(planned.box, writable=(f"{tmp_path.resolve()}/link/sub",)))
    with pytest.raises(ProcessNotStarted, match="changed while the sandbox was made"):
        boxes.run(changed, "true", choice="landlock")


def test_a_time_limit(planned, choice):
    done, _ = boxes.run(planned, "sleep 600", choice=choice, timeout=0.5)
    assert done.timed_out


def test_a_box_that_cannot_be_made_says_why(planned):
    broken = replace(planned, box=replace(planned.box, folder=f"{planned.box.workspace}/gone"))
    with pytest.raises(ProcessNotStarted, match="gone"):
        boxes.run(broken, "true")
    argv = boxed_argv(boxes.sandbox(), broken.box, ("true",))
    with pytest.raises(ProcessNotStarted, match="gone"):
        run_hook(argv, b"", "/", {}, boxes.SECONDS, is_boxed=True)


def test_nothing_is_left_in_this_process(planned):
    SYNCING.submit(int).result()
    gc.collect()  # boxes of tests before this one hold their locks until then
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    boxes.run(planned, "true")
    boxes.prepare(planned, "true").abandon()
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


# --- hooks


def hook(planned, script, *, stdin=b"", timeout=boxes.SECONDS, grace=0.1, choice="auto"):
    argv = boxed_argv(boxes.sandbox(choice), planned.box, ("sh", "-c", script))
    environment = boxed_environment({"PATH": os.environ["PATH"]}, planned.box)
    return run_hook(argv, stdin, "/", environment, timeout, grace=grace, is_boxed=True)


@pytest.fixture
def many_descriptors():
    """Hold more descriptors than `select` can watch."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, hard), hard))
    held = [os.open("/dev/null", os.O_RDONLY)]
    while held[-1] < _SELECTABLE:
        held.append(os.dup(held[0]))
    yield
    for file in held:
        os.close(file)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_descriptors")
def test_a_process_with_many_descriptors_runs_hooks_in_boxes(planned):
    assert hook(planned, "echo x").output == b"x\n"


def test_a_hook_reads_its_input_and_no_more(planned, choice):
    data = b"one\n" * 50_000
    done = hook(planned, "wc -c; exit 5", stdin=data, choice=choice)
    assert (done.code, done.output) == (5, f"{len(data)}\n".encode())


def test_a_hook_at_its_time_limit_is_asked_first(planned, choice):
    done = hook(planned, 'trap "echo asked; exit 0" TERM; while :; do sleep 0.05; done', timeout=0.5, grace=PATIENCE,
                choice=choice)  # fmt: skip
    assert done.timed_out and b"asked" in done.output


def test_a_hook_in_a_thread_is_not_ended_with_another_thread(planned):
    """The signal that ends a box follows the thread that started it, and that one waits in `run_hook`."""
    outcomes = []
    other = threading.Thread(target=hook, args=(planned, "true"))

    def work():
        outcomes.append(hook(planned, "read line; echo done", stdin=b"x\n"))

    thread = threading.Thread(target=work)
    other.start()
    thread.start()
    other.join()
    thread.join()
    assert outcomes[0].output == b"done\n"


# --- the parent dies

PARENT = """
import asyncio, sys
from pathlib import Path
from tests.support import boxes
planned = boxes.plan(Path(sys.argv[1]))
def feed(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
if sys.argv[2] == "command":
    asyncio.run(boxes.prepare(planned, sys.argv[3]).go(feed, None, None, 10**6))
else:
    from workbench.effects.child_processes import run_hook
    from workbench.effects.sandbox import boxed_argv
    argv = boxed_argv(boxes.sandbox(), planned.box, ("sh", "-c", "exec >&2; " + sys.argv[3]))
    asyncio.run(asyncio.to_thread(run_hook, argv, b"", "/", {"PATH": "/usr/bin:/bin"}, 600, errors=1, is_boxed=True))
"""
STAYS = "exec 9>lock; flock 9; (setsid sh -c 'trap \"\" TERM HUP; sleep 600' &); echo ready; sleep 600"


@pytest.mark.parametrize("door", ["command", "hook"])
def test_with_its_host_everything_in_a_box_dies(tmp_path, door):
    boxes.sandbox()
    boxes.plan(tmp_path.resolve())
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path.resolve()), door, STAYS], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout.readline() == b"ready\n"
        lock = tmp_path / "project" / "lock"
        assert subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 1
        parent.send_signal(signal.SIGKILL)
    assert subprocess.run(["flock", "-w", str(PATIENCE), lock, "true"], check=False).returncode == 0


def test_a_subreaper_keeps_no_zombies(planned):
    code = """
import os, sys
from pathlib import Path
from tests.support import boxes
from workbench.effects.process_table import become_subreaper
assert become_subreaper()
planned = boxes.plan(Path(sys.argv[1]))
boxes.run(planned, "(setsid sleep 600 &); true")
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("no child")
"""
    folder = os.path.dirname(planned.box.workspace)  # noqa: PTH120
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert done.stdout == "no child\n"
