"""Touches of watched files: which reports of the system count, and that each one is passed on."""

import os
import struct
import sys
import threading

import pytest

from tests.support.waits import PATIENCE
from workbench.effects import file_watch
from workbench.journal import journal
from workbench.journal.home import Home

NAMES = frozenset({b"a.db", b"a.db-wal"})


def told(name, what=4, fill=16):
    return struct.pack("iIII", 1, what, 0, fill) + name.ljust(fill, b"\0")


@pytest.mark.parametrize(
    ("data", "is_about"),
    [
        (b"", False),
        (told(b"a.db"), True),
        (told(b"other") + told(b"a.db-wal"), True),
        (told(b"a.db-shm") + told(b"xa.db"), False),
        (told(b"", fill=0), False),
        (told(b"", what=0x4000, fill=0), True),
        (told(b"a.db")[:10], False),
    ],
    ids=["nothing", "the file", "behind another", "others", "the folder", "some were lost", "cut off"],
)
def test_only_the_named_files_and_lost_events_count(data, is_about):
    assert file_watch.is_about_names(data, NAMES) is is_about


linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is of Linux")


@linux
def test_a_touch_rings_in_one_thread_that_ends_and_a_write_does_not(tmp_path):
    rung, rings, before = threading.Event(), [], set(threading.enumerate())

    def ring():
        rings.append(1)
        rung.set()

    stop = file_watch.watch_files(tmp_path, ("a.db",), ring)
    (listener,) = [one for one in set(threading.enumerate()) - before if one.name == "journal-watch"]
    with (tmp_path / "a.db").open("w") as file:
        for _ in range(20):
            file.write("x")
            file.flush()
    os.utime(tmp_path / "a.db")
    assert rung.wait(PATIENCE)
    stop()
    assert not listener.is_alive() and rings == [1]


@linux
def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        file_watch.watch_files(tmp_path / "none", ("a.db",), lambda: None)


def refuse_to_watch(*_):
    raise OSError(24, "no more watches")


@pytest.mark.parametrize("watch_files", [lambda *_: None, refuse_to_watch])
def test_a_database_that_cannot_be_watched_is_polled(tmp_path, monkeypatch, watch_files):
    monkeypatch.setattr(file_watch, "watch_files", watch_files)
    assert journal._watch_database(Home.open(tmp_path / "home"), lambda: None) is None
