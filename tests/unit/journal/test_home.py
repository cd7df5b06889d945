"""The data folder: its layout, who may use it, and what it refuses."""

import multiprocessing
import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.journal import home
from workbench.journal.errors import HomeRefused, JournalCorrupt
from workbench.journal.home import Home, create_file_once


def test_every_folder_and_file_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    home = Home.open(tmp_path / "deep" / "home")
    modes = {
        str(path.relative_to(home.path)): (path.is_dir(), stat.S_IMODE(path.stat().st_mode))
        for path in home.path.rglob("*")
    }
    assert modes == {
        "run": (True, 0o700), "blobs": (True, 0o700), "logs": (True, 0o700),
        "blobs/sealed": (True, 0o700), "blobs/recorded": (True, 0o700), "jobs": (True, 0o700),
        "key": (False, 0o600), "run/reserve": (False, 0o600), "journal.db": (False, 0o600),
    }  # fmt: skip
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    assert (len(home.key), home.reserve.stat().st_size) == (32, 1_000_000)


def test_an_existing_folder_is_made_private_and_its_key_stays(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    first = Home.open(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    assert Home.open(tmp_path).key == first.key


def test_the_environment_names_the_folder_and_the_platform_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Home.open(env={"WORKBENCH_HOME": str(tmp_path / "named")}).path == tmp_path / "named"
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / "data" / name))
    for env in ({}, {"WORKBENCH_HOME": ""}):
        assert Home.open(env=env).path == tmp_path / "data" / "workbench"


def _a_file(path: Path, _: pytest.MonkeyPatch) -> None:
    path.write_text("")


def _read_only(path: Path, patch: pytest.MonkeyPatch) -> None:
    path.mkdir()
    patch.setattr(home.os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))


def _not_writable(path: Path, patch: pytest.MonkeyPatch) -> None:
    path.mkdir()
    patch.setattr(home.os, "access", lambda *_: False)


def _of_another_user(path: Path, patch: pytest.MonkeyPatch) -> None:
    path.mkdir()
    mine = os.geteuid()
    patch.setattr(home.os, "geteuid", lambda: mine + 1)


def _on_a_network(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(home, "network_mount", lambda _: "9p")


def _nowhere(path: Path, _: pytest.MonkeyPatch) -> None:
    path.parent.joinpath("file").write_text("")
    path.symlink_to(path.parent / "file" / "below")


@pytest.mark.parametrize(
    ("arrange", "word"),
    [
        (_a_file, "not a directory"),
        (_read_only, "read-only"),
        (_not_writable, "not writable"),
        (_of_another_user, "belongs to user"),
        (_on_a_network, "network or foreign file system (9p)"),
        (_nowhere, "Not a directory"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrange: Callable[..., None], word: str
) -> None:
    path = tmp_path / "home"
    arrange(path, monkeypatch)
    with pytest.raises(HomeRefused) as caught:
        Home.open(path)
    error = caught.value
    assert word in error.why
    assert str(path) in error.what
    assert error.remedy


@pytest.mark.parametrize("damage", [lambda key: key.write_bytes(b"short"), lambda key: key.unlink()])
def test_a_lost_or_damaged_key_is_never_replaced(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    home = Home.open(tmp_path)
    home.database.write_bytes(b"something")
    damage(tmp_path / "key")
    with pytest.raises(JournalCorrupt, match="key file"):
        Home.open(tmp_path)


def test_a_spent_reserve_is_made_again(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    assert (home.free_reserve(), home.free_reserve()) == (True, False)
    assert Home.open(tmp_path).reserve.exists()


def test_what_another_process_created_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "key"

    def make() -> bytes:
        path.write_bytes(b"theirs")
        return b"mine"

    create_file_once(path, make)
    assert path.read_bytes() == b"theirs"
    assert [found.name for found in tmp_path.iterdir()] == ["key"]


def _open_key(path: str) -> bytes:
    return Home.open(Path(path)).key


def test_processes_that_race_for_a_new_home_agree_on_its_key(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        for number in range(5):
            keys = pool.map(_open_key, [str(tmp_path / f"home{number}")] * 3, chunksize=1)
            assert len(set(keys)) == 1
