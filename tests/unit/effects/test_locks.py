"""Locks: one holder, freed by the kernel, never mistaken by those who only ask."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.effects.file_locks import FileLock, is_lock_held, lock_holder, remove_unheld_lock

HOLD = """
import sys
from pathlib import Path
from workbench.effects.file_locks import FileLock
lock = FileLock(Path(sys.argv[1]))
print(lock.try_acquire(), flush=True)
sys.stdin.read()
"""


def _holding(path: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "True\n"
    return child


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    assert not is_lock_held(path)
    assert not path.exists()
    first, second = FileLock(path), FileLock(path)
    assert first.try_acquire()
    assert first.try_acquire()
    assert (second.try_acquire(), second.is_mine, is_lock_held(path), lock_holder(path)) == (
        False,
        False,
        True,
        os.getpid(),
    )
    first.release()
    first.release()
    assert (first.is_mine, is_lock_held(path), lock_holder(path)) == (False, False, None)
    with second:
        assert second.try_acquire()
    assert not is_lock_held(path)
    assert path.exists()


def test_the_kernel_frees_it_when_the_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with _holding(path) as child:
        assert (is_lock_held(path), lock_holder(path), FileLock(path).try_acquire()) == (
            True,
            child.pid,
            False,
        )
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert (is_lock_held(path), lock_holder(path)) == (False, None)
        with FileLock(path) as lock:
            assert lock.try_acquire()
            assert lock_holder(path) == os.getpid()


def test_children_of_the_holder_do_not_keep_it(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    lock = FileLock(path)
    assert lock.try_acquire()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False) as child:
        lock.release()
        assert not is_lock_held(path)
        assert child.stdin is not None
        child.stdin.close()


def test_asking_does_not_take_it_from_anybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.lock"
    path.touch()
    asking = os.open(path, os.O_RDONLY)
    fcntl.flock(asking, fcntl.LOCK_SH)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            os.close(asking)

    monkeypatch.setattr("workbench.effects.clock.time.sleep", pause)
    assert not is_lock_held(path)
    with FileLock(path) as lock:
        assert lock.try_acquire()
    assert len(pauses) == 3


def test_a_file_that_lost_its_name_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.lock"
    real = fcntl.flock
    is_first = True

    def lock_after_removal(file: int, kind: int) -> None:
        nonlocal is_first
        if is_first:
            is_first = False
            path.unlink()
        real(file, kind)

    monkeypatch.setattr("workbench.effects.file_locks.fcntl.flock", lock_after_removal)
    with FileLock(path) as lock:
        assert lock.try_acquire()
        assert is_lock_held(path)


def test_remove_unheld(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    assert remove_unheld_lock(path)
    with FileLock(path) as lock:
        assert lock.try_acquire()
        assert not remove_unheld_lock(path)
        assert path.exists()
    assert remove_unheld_lock(path)
    assert not path.exists()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("elsewhere"), Path.mkdir])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.lock"
    make(path)
    with pytest.raises(OSError):
        FileLock(path).try_acquire()
    with pytest.raises(OSError):
        is_lock_held(path)
    assert not (tmp_path / "elsewhere").exists()


def test_files_are_private(tmp_path: Path) -> None:
    with FileLock(tmp_path / "a.lock") as lock:
        lock.try_acquire()
    assert (tmp_path / "a.lock").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_keeps_no_lock_from_being_held(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    path = tmp_path / "x.lock"
    with FileLock(path) as lock:
        assert lock.try_acquire() and is_lock_held(path)
        assert lock_holder(path) is None
