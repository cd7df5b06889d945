"""The program's own folders and files: private, whole, bounded."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.effects import files, path_files
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import (
    SYNCING,
    open_append,
    private_folder,
    read_bounded,
    write_at_once,
    write_atomic,
)

KILLED = """
import os, signal, sys
from pathlib import Path
from workbench.effects.path_files import write_atomic

def dying(name, real, after):
    def call(*args, **more):
        if name == "write" and not after:
            real(args[0], args[1][:1000])
        if after:
            real(*args, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    return call

path, step, after = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "after"
setattr(os, step, dying(step, getattr(os, step), after))
write_atomic(path, b"new" * 100000)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_private_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    assert private_folder(path) == path.resolve()
    assert mode(path) == 0o700


def test_an_open_folder_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    private_folder(tmp_path)
    assert mode(tmp_path) == 0o700


def test_a_link_of_the_user_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to("real")
    assert private_folder(tmp_path / "alias") == (tmp_path / "real").resolve()


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(FileRefused, match="belongs to user"):
        private_folder(tmp_path)


@pytest.mark.parametrize("make", [Path.touch, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_folder_is_refused(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / "x")
    with pytest.raises(FileRefused):
        private_folder(tmp_path / "x")


def test_write_atomic_replaces_all(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write_atomic(path, b"one")
    assert (path.read_bytes(), mode(path)) == (b"one", 0o600)
    write_atomic(path, b"two", 0o640)
    assert (path.read_bytes(), mode(path)) == (b"two", 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_write_atomic_replaces_a_link_and_not_its_target(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"kept")
    (tmp_path / "link").symlink_to("target")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"kept"
    assert not (tmp_path / "link").is_symlink()


def test_write_atomic_that_fails_leaves_the_old(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileRefused):
        write_atomic(tmp_path / "folder", b"x")
    with pytest.raises(FileRefused, match="gone"):
        write_atomic(tmp_path / "missing" / "x", b"x")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


@pytest.mark.spec(72)
@pytest.mark.parametrize(
    ("step", "when", "is_new"),
    [("write", "before", False), ("write", "after", False), ("fsync", "before", False), ("fsync", "after", False),
     ("rename", "before", False), ("rename", "after", True)],
)  # fmt: skip
def test_a_kill_while_writing_leaves_all_old_or_all_new(
    tmp_path: Path, step: str, when: str, is_new: bool
) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"old" * 100000)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), step, when], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == (b"new" if is_new else b"old") * 100000


def test_read_bounded(tmp_path: Path) -> None:
    path = tmp_path / "config"
    assert read_bounded(path, 10) is None
    path.write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("config")
    assert read_bounded(path, 10) == read_bounded(tmp_path / "link", 10) == b"0123456789"
    with pytest.raises(FileRefused, match="10 bytes, the limit is 9"):
        read_bounded(path, 9)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_read_bounded_never_waits(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / "x")
    with pytest.raises(FileRefused, match="not a regular file"):
        read_bounded(tmp_path / "x", 10)


def test_open_append_writes_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for part in (b"one ", b"two"):
        with open_append(path) as log:
            log.write(part)
    assert (path.read_bytes(), mode(path)) == (b"one two", 0o600)
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(FileRefused, match="symbolic link"):
        open_append(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_written_at_once_is_whole_and_brought_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(
        path_files, "sync_to_disk", lambda file: synced.append(str(Path(f"/proc/self/fd/{file}").readlink()))
    )
    write_at_once(tmp_path / "new.json", b"data")
    assert [(path.name, path.read_bytes(), mode(path)) for path in tmp_path.iterdir()] == [
        ("new.json", b"data", 0o600)
    ]
    SYNCING.submit(int).result()
    assert synced == [str(tmp_path / "new.json"), str(tmp_path)]


def test_a_file_written_at_once_leaves_nothing_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken.json").mkdir()
    with pytest.raises(FileRefused):
        write_at_once(tmp_path / "taken.json", b"data")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.json"]
