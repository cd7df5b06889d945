"""Links swapped in while files are read, written and listed: nothing outside is ever reached.

A sample of swaps at each commit, 10,000 in a campaign; WORKBENCH_RACES sets another number.
"""

import contextlib
import os
import shutil
import threading
import time

import pytest

from tests.support.sizes import size
from workbench.effects import file_primitives
from workbench.effects.file_primitives import BaseMoved, FileMissing, FileRefused
from workbench.effects.files import Root

RACES = size("WORKBENCH_RACES", 400, 10_000)


@pytest.fixture
def place(tmp_path):
    for side in ("in", "out"):
        (tmp_path / side / "a/b").mkdir(parents=True)
        (tmp_path / side / "a/b/f").write_text(side)
    return tmp_path


@pytest.fixture(params=["openat2", "walk"])
def way(request, monkeypatch):
    if request.param == "walk":
        monkeypatch.setattr(file_primitives, "open_beneath", lambda *_: None)
    elif file_primitives._libc() is None:
        pytest.skip("this system has no openat2")
    return request.param


def swapping(place, count, done):
    """Swap a folder for a link to one outside and back again, as often as is asked.

    For a moment nothing has its name. A tool that writes makes the folder anew then, which goes again.
    """
    inside, outside = place / "in", place / "out"
    folder, kept, link = inside / "a", inside / "kept", inside / "link"
    try:
        for _ in range(count):
            link.symlink_to(outside / "a")
            folder.rename(kept)
            with contextlib.suppress(OSError):
                link.rename(folder)
            time.sleep(0)  # lets the other thread in
            for found in (link, folder):
                found.unlink() if found.is_symlink() else shutil.rmtree(found, ignore_errors=True)
            while True:
                with contextlib.suppress(OSError):
                    kept.rename(folder)
                    break
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        done.set()


def used(root, number):
    """Use the file as tools do; what is in the way is refused, and that is fine."""
    with contextlib.suppress(FileRefused, FileMissing, BaseMoved):
        image = root.image("a/b/f")
        assert image is None or image.data != b"out"
        data = f"in{number % 9}".encode()
        staged = root.stage("a/b/f", data, 0o644)
        root.commit(staged, lambda now: now is None or now.startswith(b"in"))
        assert all(entry.name != "outside-only" for entry in root.list("a/b"))


@pytest.mark.spec(66)
def test_nothing_outside_is_read_or_written_whatever_is_swapped(place, way):
    (place / "out/a/b/outside-only").write_text("out")
    before = {path: path.read_bytes() for path in (place / "out").rglob("*") if path.is_file()}
    done = threading.Event()
    swapper = threading.Thread(target=swapping, args=(place, RACES, done))
    with Root(place / "in") as root:
        swapper.start()
        number = 0
        while not done.is_set():
            used(root, number)
            number += 1
        swapper.join()
        used(root, number)
    assert {path: path.read_bytes() for path in (place / "out").rglob("*") if path.is_file()} == before
    assert (place / "in/a/b/f").read_bytes().startswith(b"in")
    assert number > 0


def test_one_call_opens_what_is_beneath_and_nothing_else(place):
    if file_primitives._libc() is None:
        pytest.skip("this system has no openat2")
    (place / "in/l").symlink_to("a")
    root = os.open(place / "in", file_primitives.FOLDER_FLAGS)
    try:
        os.close(file_primitives.open_beneath(root, "a/b", file_primitives.FOLDER_FLAGS))
        for path in ("l/b", "../out", "/etc", "nothing", "a/b/f"):
            with pytest.raises(OSError):
                file_primitives.open_beneath(root, path, file_primitives.FOLDER_FLAGS)
    finally:
        os.close(root)


def test_a_system_without_the_call_walks(place, monkeypatch):
    file_primitives._libc.cache_clear()
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    with Root(place / "in") as root:
        assert root.image("a/b/f").data == b"in"
        assert file_primitives.open_beneath(0, "a", 0) is None
    file_primitives._libc.cache_clear()


def test_a_sandbox_that_refuses_the_call_is_no_failure(monkeypatch):
    import ctypes

    monkeypatch.setattr(file_primitives, "_libc", lambda: (lambda *_: -1, lambda *_: None, 24))
    ctypes.set_errno(38)
    assert file_primitives.open_beneath(0, "a", 0) is None
    ctypes.set_errno(40)
    with pytest.raises(OSError, match="symbolic"):
        file_primitives.open_beneath(0, "a", 0)
