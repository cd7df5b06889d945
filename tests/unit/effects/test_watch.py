"""Files that are watched: what is made, written, replaced or removed is told, also in folders that come later."""

import contextlib
import itertools
import queue
import threading

import pytest
import watchfiles

from tests.support.waits import PATIENCE, until
from workbench.effects import folder_changes
from workbench.effects.folder_changes import changed_files


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(folder_changes, "_REST_STEP_MS", 50)


@contextlib.contextmanager
def watching(files, in_folders):
    told, stop = queue.Queue(), threading.Event()

    def work():
        for group in changed_files(lambda: map(str, files()), [str(folder) for folder in in_folders], stop):
            told.put({path.rpartition("/")[2] for path in group})

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield told
    finally:
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def until_told(told, change):
    """Change something until it is told: the watch begins a moment after its thread."""
    numbers = itertools.count()

    def look():
        change(str(next(numbers)))
        with contextlib.suppress(queue.Empty):
            return told.get(timeout=0.5)

    return until(look)


def test_what_is_made_replaced_or_removed_is_told_and_other_files_are_not(tmp_path):
    path, other = tmp_path / "a", tmp_path / "other"
    with watching(lambda: [path, tmp_path / "gone"], [tmp_path]) as told:
        assert until_told(told, path.write_text) == {"a"}
        other.write_text("456789")
        other.replace(path)
        assert told.get(timeout=PATIENCE) == {"a"}
        other.write_text("1")
        path.unlink()
        assert told.get(timeout=PATIENCE) == {"a"}
        assert told.empty()


def test_a_folder_that_is_made_later_is_watched_and_also_one_that_went_and_came_back(tmp_path):
    folder = tmp_path / "below" / "pipelines"

    def make(text):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a.yaml").write_text(text)

    with watching(lambda: folder.glob("*.yaml"), [folder]) as told:
        assert until_told(told, make) == {"a.yaml"}
        (folder / "b.yaml").write_text("b")
        assert told.get(timeout=PATIENCE) == {"b.yaml"}
        for name in ("a.yaml", "b.yaml"):
            (folder / name).unlink()
        folder.rmdir()
        assert told.get(timeout=PATIENCE) <= {"a.yaml", "b.yaml"}
        while not told.empty():
            told.get()
        assert until_told(told, make) == {"a.yaml"}


def test_where_nothing_can_be_watched_files_are_looked_at_now_and_then(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watchfiles, "watch", refuse)
    monkeypatch.setattr(folder_changes, "_CHECK_MS", 20)
    with watching(lambda: [tmp_path / "a"], [tmp_path]) as told:
        assert until_told(told, (tmp_path / "a").write_text) == {"a"}


@pytest.mark.parametrize("missing", ["", "none/of/these"])
def test_it_ends_at_once_where_it_should_stop(tmp_path, missing):
    stop = threading.Event()
    stop.set()
    assert list(changed_files(lambda: [str(tmp_path / "a")], [str(tmp_path / missing)], stop)) == []
