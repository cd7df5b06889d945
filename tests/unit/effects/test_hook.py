"""Hooks: fed, timed, bounded, and ended with all they started."""

import os
from pathlib import Path

import pytest

from tests.support.waits import PATIENCE
from workbench.effects import child_processes
from workbench.effects.child_processes import HookExit, ProcessNotStarted, run_hook

ENV = {"PATH": os.environ["PATH"]}


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(params=["pidfd", "poll"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "poll":
        monkeypatch.setattr(child_processes, "open_pidfd", lambda _: None)


@pytest.mark.parametrize(
    ("command", "stdin", "expected"),
    [
        ("cat; echo no >&2; exit 2", b"in ", HookExit(code=2, output=b"in no\n", timed_out=False)),
        (["printf", "%s", "$HOME"], b"", HookExit(code=0, output=b"$HOME", timed_out=False)),
        ("kill -KILL $$", b"", HookExit(code=None, output=b"", timed_out=False)),
        ("exec 0<&-; exit 0", b"x" * 1_000_000, HookExit(code=0, output=b"", timed_out=False)),
        ("exec 1>&- 2>&-; sleep 0.05; exit 7", b"", HookExit(code=7, output=b"", timed_out=False)),
        ("wc -c", b"x" * 1_000_000, HookExit(code=0, output=b"1000000\n", timed_out=False)),
    ],
)
def test_how_hooks_end(tmp_path: Path, command: str | list[str], stdin: bytes, expected: HookExit) -> None:
    assert run_hook(command, stdin, str(tmp_path), ENV, 20) == expected


def test_output_is_bounded_and_read_on(tmp_path: Path) -> None:
    done = run_hook("head -c 5000000 /dev/zero; exit 3", b"", str(tmp_path), ENV, 20)
    assert (done.code, len(done.output)) == (3, 65536)


@pytest.mark.parametrize("trap", ["", "trap '' TERM;", "trap 'exit 0' TERM;"])
def test_a_hook_that_takes_too_long_never_counts_as_passed(tmp_path: Path, trap: str) -> None:
    script = f"{trap} echo $$ > pid; echo up; while :; do :; done"
    done = run_hook(script, b"", str(tmp_path), ENV, 0.15, grace=0.1)
    assert done == HookExit(code=None, output=b"up\n", timed_out=True)
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_a_hook_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    try:
        done = run_hook("exec sleep 600", b"", str(tmp_path), ENV, PATIENCE, grace=0.1, cancel=reading)
    finally:
        os.close(reading)
    assert done == HookExit(code=None, output=b"", timed_out=True)


@pytest.mark.parametrize(
    "how",
    [
        "sleep 600 & echo $! > pid",
        "(setsid sh -c 'echo $$ > pid; exec sleep 600' &); while ! test -s pid; do :; done",
        "(trap '' TERM; exec sleep 600) & echo $! > pid",
    ],
)
def test_what_a_hook_leaves_is_ended_and_not_waited_for(tmp_path: Path, how: str) -> None:
    done = run_hook(f"{how}; echo x", b"", str(tmp_path), ENV, PATIENCE, grace=0.1)
    assert (done.code, done.output) == (0, b"x\n")
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_a_missing_hook_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProcessNotStarted, match="nothing of that name"):
        run_hook([str(tmp_path / "hook")], b"", str(tmp_path), ENV, 5)
    assert run_hook(str(tmp_path / "hook"), b"", str(tmp_path), ENV, 5).code == 127


def test_nothing_is_left_open(tmp_path: Path) -> None:
    before = list(Path("/proc/self/fd").iterdir())
    run_hook("cat", b"x", str(tmp_path), ENV, 5)
    assert list(Path("/proc/self/fd").iterdir()) == before
