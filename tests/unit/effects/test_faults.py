"""Fault points: nothing when nothing is armed, and exactly the armed passage otherwise."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.waits import PATIENCE, is_readable
from workbench.effects import fault_points

POINT = "journal.after_commit"
PASSES = f"""
from workbench.effects.fault_points import fault_point
for number in range(1, 4):
    print(number, flush=True)
    fault_point("{POINT}")
"""
PASSES_IN_THREAD = f"""
import threading
from workbench.effects.fault_points import fault_point
def work():
    fault_point("{POINT}")
    print("on", flush=True)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.fixture(autouse=True)
def _nothing_armed() -> Iterator[None]:
    yield
    fault_points.disarm_all_faults()


def _start(program: str, value: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, fault_points.FAULTS_VARIABLE: value},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_every_point_has_a_sentence() -> None:
    assert all(sentence.endswith(".") and " " in sentence for sentence in fault_points.FAULT_POINTS.values())
    assert len(fault_points.FAULT_POINTS) >= 24


def test_unarmed_points_do_nothing() -> None:
    fired: list[str] = []
    with fault_points.arm_fault(POINT, lambda: fired.append(POINT)):
        for name in fault_points.FAULT_POINTS.keys() - {POINT}:
            fault_points.fault_point(name)
        assert fired == []
    fault_points.fault_point(POINT)
    assert fired == []


def test_unknown_names_are_errors_everywhere() -> None:
    with pytest.raises(fault_points.UnknownFaultPoint, match=r"no\.such"):
        fault_points.fault_point("no.such")
    with pytest.raises(fault_points.UnknownFaultPoint):
        fault_points.arm_fault("no.such", "exit")
    with pytest.raises(fault_points.UnknownFaultPoint):
        fault_points.arm_faults_from("no.such:exit")


def test_only_the_nth_passage_fires() -> None:
    fired: list[int] = []
    with fault_points.arm_fault(POINT, lambda: fired.append(1), nth=2):
        for _ in range(4):
            fault_points.fault_point(POINT)
            fault_points.fault_point("host.started")
    assert fired == [1]


def test_a_block_disarms_at_its_end_and_leaves_others() -> None:
    fired: list[str] = []
    fault_points.arm_fault(POINT, lambda: fired.append("kept"), nth=2)
    with fault_points.arm_fault(POINT, lambda: fired.append("never"), nth=2):
        fault_points.fault_point(POINT)
    fault_points.fault_point(POINT)
    assert fired == ["kept"]


@pytest.mark.parametrize(
    ("action", "number"),
    [("enospc", errno.ENOSPC), ("eio", errno.EIO), (OSError(errno.EROFS, "x"), errno.EROFS)],
)
def test_errors_are_raised(action: fault_points.FaultAction, number: int) -> None:
    with fault_points.arm_fault(POINT, action), pytest.raises(OSError) as caught:
        fault_points.fault_point(POINT)
    assert caught.value.errno == number


@pytest.mark.parametrize(
    "text", ["journal.after_commit", f"{POINT}:boom", f"{POINT}:exit:x", f"{POINT}:exit:0", f"{POINT}:"]
)
def test_a_wrong_variable_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        fault_points.arm_faults_from(text)


def test_several_points_in_one_variable() -> None:
    fault_points.arm_faults_from(f"{POINT}:enospc:2, host.started:eio ,")
    fault_points.fault_point(POINT)
    with pytest.raises(OSError):
        fault_points.fault_point("host.started")
    with pytest.raises(OSError):
        fault_points.fault_point(POINT)


@pytest.mark.parametrize(("action", "status"), [("exit", 137), ("kill", -signal.SIGKILL)])
def test_the_variable_kills_an_installed_program(action: str, status: int) -> None:
    with _start(PASSES, f"{POINT}:{action}:2") as child:
        out, _ = child.communicate(timeout=PATIENCE)
    assert (child.returncode, out) == (status, "1\n2\n")


@pytest.mark.parametrize("program", [PASSES, PASSES_IN_THREAD])
def test_the_variable_stops_a_program_at_the_point(program: str) -> None:
    with _start(program, f"{POINT}:stop") as child:
        try:
            _, status = os.waitpid(child.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status)
            assert child.stdout is not None
            before = os.read(child.stdout.fileno(), 100) if program is PASSES else b""
            assert not is_readable(child.stdout)
            os.kill(child.pid, signal.SIGCONT)
            after = child.stdout.read()
        finally:
            child.kill()
    assert (before, after) == ((b"1\n", "2\n3\n") if program is PASSES else (b"", "on\n"))
