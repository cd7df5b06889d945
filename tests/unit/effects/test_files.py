"""Files beneath a root: what is hostile is refused, what is written is whole, what moved is not replaced."""

import errno
import os
import resource
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.effects import file_primitives, files
from workbench.effects.file_primitives import BaseMoved, FileMissing, FileRefused, NotDurable
from workbench.effects.files import FileStat, FolderEntry, Root
from workbench.effects.path_files import write_atomic, write_atomic_parts

TOKEN = "0123456789abcdef" * 2


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(b"secret")
    return folder


@pytest.fixture
def inside(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "inside"
    (folder / "dir" / "deep").mkdir(parents=True)
    (folder / "file").write_bytes(b"hello\n")
    (folder / "dir" / "file").write_bytes(b"below\n")
    (folder / "link").symlink_to(outside / "secret")
    (folder / "dirlink").symlink_to(outside)
    (folder / "inner").symlink_to("file")
    (folder / "dangling").symlink_to(outside / "new")
    return folder


@pytest.fixture
def root(inside: Path) -> Iterator[Root]:
    with Root(inside) as opened:
        yield opened


def tree(folder: Path) -> dict[str, bytes | None]:
    paths = sorted(folder.rglob("*"))
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() and not p.is_symlink() else None
        for p in paths
    }


def anything(_: bytes | None) -> bool:
    return True


def write(root: Root, rel: str, data: bytes, mode: int = 0o644) -> None:
    root.commit(root.stage(rel, data, mode), anything)


# --- reading


def test_an_image_is_the_file(root: Root, inside: Path) -> None:
    (inside / "file").chmod(0o751)
    os.link(inside / "file", inside / "second")
    image = root.image("file")
    assert image == files.FileImage(data=b"hello\n", mode=0o751, size=6, links=2)
    assert root.image("./dir//file") == root.image("dir/file")


@pytest.mark.parametrize("rel", ["nothing", "dir/nothing", "no/folder/at/all"])
def test_nothing_there_is_none(root: Root, rel: str) -> None:
    assert root.image(rel) is None
    assert root.stat(rel) == FileStat(kind=None)
    with pytest.raises(FileMissing):
        root.open_read(rel)


HOSTILE = [
    ("", "folder"),
    (".", "folder"),
    ("file/", "folder"),
    ("/etc/passwd", "absolute"),
    ("..", "upwards"),
    ("../outside/secret", "upwards"),
    ("dir/../../outside/secret", "upwards"),
    ("file\0", "NUL"),
    ("\ud800", "characters"),
    ("a" * 300, "too long"),
    ("a/" * 5000 + "b", "too long"),
    ("link", "symbolic link"),
    ("inner", "symbolic link"),
    ("dangling", "symbolic link"),
    ("dirlink/secret", "symbolic link"),
    ("dirlink/new/file", "symbolic link"),
    ("dir", "a folder"),
    ("file/below", "not a folder"),
]


@pytest.mark.spec(66)
@pytest.mark.parametrize(("rel", "why"), HOSTILE)
def test_every_door_refuses_hostile_paths(
    root: Root, inside: Path, outside: Path, rel: str, why: str
) -> None:
    before = tree(inside), tree(outside)
    doors: list[Callable[[], object]] = [
        lambda: root.image(rel),
        lambda: root.open_read(rel),
        lambda: root.stage(rel, b"x", 0o644),
        lambda: root.remove(rel, anything),
    ]
    for door in doors:
        with pytest.raises(FileRefused) as caught:
            door()
        assert why in caught.value.why
        assert caught.value.remedy
    assert (tree(inside), tree(outside)) == before


@pytest.mark.parametrize("rel", ["/x", "../x", "dirlink", "dirlink/x", "file", "file/x", "dir/\0", "a" * 300])
def test_folders_are_not_made_or_listed_through_hostile_paths(root: Root, outside: Path, rel: str) -> None:
    for door in (root.make_directory, root.list):
        with pytest.raises(FileRefused):
            door(rel)
    assert list(outside.iterdir()) == [outside / "secret"]


PART = st.sampled_from(["..", ".", "", "dir", "dirlink", "link", "file", "new", "deep", "\0", "~", "a\nb"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rel=st.lists(PART, max_size=5).map("/".join))
def test_no_path_reaches_outside(root: Root, outside: Path, rel: str) -> None:
    before = tree(outside)
    doors: list[Callable[[], object]] = [
        lambda: root.image(rel),
        lambda: root.make_directory(rel),
        lambda: write(root, rel, b"x"),
        lambda: root.list(rel),
        lambda: root.remove(rel, lambda data: data == b"x"),
    ]
    for door in doors:
        try:
            result = door()
        except (FileRefused, BaseMoved):
            continue
        assert not isinstance(result, files.FileImage) or result.data != b"secret"
    assert tree(outside) == before


def special(inside: Path) -> dict[str, Path]:
    os.mkfifo(inside / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        # The name of a socket is short; the folder is entered for it.
        before = Path.cwd()
        os.chdir(inside)
        listening.bind("socket")
        os.chdir(before)
    return {"fifo": inside / "fifo", "socket": inside / "socket"}


@pytest.mark.parametrize("name", ["fifo", "socket"])
def test_pipes_and_sockets_are_refused_without_waiting(root: Root, inside: Path, name: str) -> None:
    special(inside)
    for door in (root.image, root.open_read, lambda rel: root.stage(rel, b"x", 0o644)):
        with pytest.raises(FileRefused, match="not a regular file"):
            door(name)
    assert root.stat(name).kind == name


def test_devices_are_refused() -> None:
    with Root("/dev") as dev:
        assert dev.stat("null").kind == "device"
        with pytest.raises(FileRefused, match="a device"):
            dev.image("null")


def test_a_pipe_swapped_in_after_the_check_does_not_block(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap_before_open(monkeypatch, "file", lambda: ((inside / "file").unlink(), os.mkfifo(inside / "file")))
    with pytest.raises(FileRefused, match="named pipe"):
        root.image("file")


def swap_before_open(monkeypatch: pytest.MonkeyPatch, name: str, swap: Callable[[], object]) -> None:
    real = os.open
    swapped = False

    def opening(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        nonlocal swapped
        if path == name and not swapped:
            swapped = True
            swap()
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(file_primitives.os, "open", opening)


@pytest.mark.parametrize("rel", ["dir", "dir/file"])
def test_a_link_swapped_in_after_the_check_is_not_followed(
    root: Root, inside: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, rel: str
) -> None:
    (outside / "file").write_bytes(b"secret")
    path = inside / rel

    def swap() -> None:
        path.rename(inside / "away")
        path.symlink_to(outside / "file" if rel == "dir/file" else outside)

    # Without openat2, in whose one step nothing can be swapped: the walk has to see it.
    monkeypatch.setattr(file_primitives, "open_beneath", lambda *_: None)
    swap_before_open(monkeypatch, path.name, swap)
    with pytest.raises(FileRefused, match="symbolic link"):
        root.image("dir/file")


def test_a_folder_that_flickers_between_real_and_link_never_leads_outside(
    root: Root, inside: Path, outside: Path
) -> None:
    (outside / "file").write_bytes(b"secret")
    (inside / "evil").symlink_to(outside)
    over = threading.Event()

    def flicker() -> None:
        for number in count():
            # Now and then it rests, so that the reader does not always come at the same moment.
            if over.wait(0.001 if number % 16 == 0 else 0):
                return
            (inside / "dir").rename(inside / "kept")
            (inside / "evil").rename(inside / "dir")
            (inside / "dir").rename(inside / "evil")
            (inside / "kept").rename(inside / "dir")

    thread = threading.Thread(target=flicker)
    thread.start()
    seen: set[object] = set()
    try:
        for _ in range(1500):
            try:
                image = root.image("dir/file")
                seen.add(image.data if image else None)
                root.remove("dir/file", lambda data: bool(seen.add(data)))
            except (FileRefused, BaseMoved) as refused:
                seen.add(type(refused))
    finally:
        over.set()
        thread.join()
    assert b"below\n" in seen
    assert b"secret" not in seen
    assert (outside / "file").read_bytes() == b"secret"
    assert sorted(path.name for path in outside.iterdir()) == ["file", "secret"]


def test_a_large_file_is_refused_with_its_size(root: Root, inside: Path) -> None:
    assert root.image("file", limit=6)
    with pytest.raises(FileRefused, match="6 bytes, the limit is 5"):
        root.image("file", limit=5)
    os.truncate(inside / "file", 1 << 40)
    with pytest.raises(FileRefused, match=str(1 << 40)):
        root.image("file")
    with root.open_read("file") as stream:
        assert stream.read(7) == b"hello\n\0"


def test_a_file_that_grows_while_it_is_read_is_still_bounded(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.read

    def reading(file: int, count: int) -> bytes:
        with (inside / "file").open("ab") as stream:
            stream.write(b"x" * 50)
        return real(file, count)

    monkeypatch.setattr(file_primitives.os, "read", reading)
    with pytest.raises(FileRefused, match="the limit is 100"):
        root.image("file", limit=100)


def test_stat_and_list_tell_kinds_without_following(root: Root, inside: Path) -> None:
    special(inside)
    (inside / os.fsdecode(b"\xff")).touch()
    assert root.stat("file") == FileStat(kind="file", size=6, mode=0o644, links=1)
    assert root.stat("").kind == root.stat("dir").kind == "folder"
    assert root.stat("link").kind == "link"
    kinds = {entry.name: entry.kind for entry in root.list("")}
    assert kinds == {
        "dangling": "link",
        "dir": "folder",
        "dirlink": "link",
        "fifo": "fifo",
        "file": "file",
        "inner": "link",
        "link": "link",
        "socket": "socket",
        "\udcff": "file",
    }
    assert root.list("dir") == sorted(root.list("dir"), key=lambda entry: entry.name)
    assert FolderEntry(name="file", kind="file", size=6) in root.list("dir")
    with pytest.raises(FileMissing):
        root.list("nothing")


def test_listing_twice_sees_everything_twice(root: Root) -> None:
    assert root.list("") == root.list("") != []


def test_a_listing_has_an_end(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOST_ENTRIES", 3)
    with pytest.raises(FileRefused, match="more than 3"):
        root.list("")


# --- writing


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o444])
def test_staged_bytes_appear_at_commit_only(root: Root, inside: Path, mode: int) -> None:
    before = (inside / "file").read_bytes()
    staged = root.stage("file", b"new", mode)
    assert (inside / "file").read_bytes() == before
    assert file_primitives.TEMPORARY_NAME.fullmatch(staged.temporary)
    root.commit(staged, lambda data: data == before)
    assert root.image("file") == files.FileImage(data=b"new", mode=mode, size=3, links=1)
    assert not list(inside.glob(".workbench-*"))


def test_a_waiting_file_is_private_until_it_has_its_mode(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    real = os.write

    def writing(file: int, data: memoryview) -> int:
        modes.append(stat.S_IMODE(os.fstat(file).st_mode))
        return real(file, data[:2])

    monkeypatch.setattr(file_primitives.os, "write", writing)
    (inside / "file").chmod(0o666)
    write(root, "file", b"new bytes", 0o666)
    assert set(modes) == {0o600}
    assert (inside / "file").read_bytes() == b"new bytes"
    assert stat.S_IMODE((inside / "file").stat().st_mode) == 0o666


def test_set_id_bits_are_never_given(root: Root, inside: Path) -> None:
    write(root, "file", b"x", 0o6755)
    assert stat.S_IMODE((inside / "file").stat().st_mode) == 0o755


def test_missing_folders_are_made_and_rolled_back(root: Root, inside: Path) -> None:
    before = tree(inside)
    staged = root.stage("dir/a/b/new", b"x", 0o644)
    assert staged.created == ("dir/a", "dir/a/b")
    root.discard(staged)
    root.discard(staged)
    assert tree(inside) == before
    write(root, "dir/a/b/new", b"x")
    assert root.image("dir/a/b/new")


def test_a_committed_file_that_is_removed_again_leaves_no_folder(root: Root, inside: Path) -> None:
    before = tree(inside)
    staged = root.stage("a/b/new", b"x", 0o644)
    root.commit(staged, lambda data: data is None)
    root.discard(staged)
    assert root.image("a/b/new")
    root.remove("a/b/new", lambda data: data == b"x")
    root.discard(staged)
    assert tree(inside) == before


def test_folders_with_other_things_in_them_stay(root: Root, inside: Path) -> None:
    staged = root.stage("a/b/new", b"x", 0o644)
    (inside / "a" / "theirs").touch()
    root.discard(staged)
    assert tree(inside / "a") == {"theirs": b""}


def test_a_moved_base_is_not_replaced(root: Root, inside: Path) -> None:
    staged = root.stage("file", b"ours", 0o644)
    (inside / "file").write_bytes(b"theirs")
    with pytest.raises(BaseMoved):
        root.commit(staged, lambda data: data == b"hello\n")
    assert tree(inside)["file"] == b"theirs"
    assert not list(inside.glob(".workbench-*"))


@pytest.mark.parametrize(("rel", "expected"), [("file", b"hello\n"), ("new", None)])
def test_a_base_that_moves_after_the_comparison_is_not_replaced(
    root: Root, inside: Path, rel: str, expected: bytes | None
) -> None:
    def moves(data: bytes | None) -> bool:
        (inside / rel).write_bytes(b"theirs, later")
        return data == expected

    staged = root.stage(rel, b"ours", 0o644)
    with pytest.raises(BaseMoved):
        root.commit(staged, moves)
    assert (inside / rel).read_bytes() == b"theirs, later"
    with pytest.raises(BaseMoved):
        root.remove(rel, lambda data: (inside / rel).write_bytes(b"again") > 0)
    assert (inside / rel).read_bytes() == b"again"


def test_a_new_file_never_overwrites_one_made_in_the_last_moment(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def linking(*args: object, **names: object) -> None:
        if not str(args[0]).startswith("/proc/"):
            (inside / "new").write_bytes(b"theirs")
        real(*args, **names)  # type: ignore[arg-type]

    monkeypatch.setattr(file_primitives.os, "link", linking)
    with pytest.raises(BaseMoved):
        write(root, "new", b"ours")
    assert (inside / "new").read_bytes() == b"theirs"
    assert not list(inside.glob(".workbench-*"))


def _refuses_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "no links")


@pytest.mark.parametrize("rename", [None, lambda *_: -1, "own"])
def test_file_systems_without_hard_links(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch, rename: object
) -> None:
    monkeypatch.setattr(file_primitives.os, "link", _refuses_links)
    if rename != "own":
        monkeypatch.setattr(file_primitives, "_rename_call", lambda: rename)
        monkeypatch.setattr("ctypes.get_errno", lambda: errno.EINVAL)
    write(root, "new", b"ours")
    assert (inside / "new").read_bytes() == b"ours"
    assert not list(inside.glob(".workbench-*"))


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is of Linux")
def test_a_new_file_overwrites_none_where_hard_links_are_not_possible(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*args: object, **_: object) -> None:
        if not str(args[0]).startswith("/proc/"):
            (inside / "new").write_bytes(b"theirs")
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(file_primitives.os, "link", refuses)
    with pytest.raises(BaseMoved):
        write(root, "new", b"ours")
    assert (inside / "new").read_bytes() == b"theirs"
    assert not list(inside.glob(".workbench-*"))


def test_an_exchanged_folder_is_noticed(root: Root, inside: Path, outside: Path) -> None:
    staged = root.stage("dir/file", b"ours", 0o644)
    (inside / "dir").rename(inside / "away")
    (inside / "dir").mkdir()
    with pytest.raises(BaseMoved, match="folder"):
        root.commit(staged, anything)
    assert (inside / "away" / "file").read_bytes() == b"below\n"
    (inside / "dir").rmdir()
    (inside / "dir").symlink_to(outside)
    with pytest.raises(FileRefused, match="symbolic link"):
        root.commit(staged, anything)
    assert list(outside.iterdir()) == [outside / "secret"]


def test_changed_temporary_bytes_are_not_put_in_place(root: Root, inside: Path) -> None:
    staged = root.stage("file", b"ours", 0o644)
    (inside / staged.temporary).write_bytes(b"other bytes")
    with pytest.raises(FileRefused, match="temporary file was changed"):
        root.commit(staged, anything)
    assert (inside / "file").read_bytes() == b"hello\n"
    staged = root.stage("file", b"ours", 0o644)
    (inside / staged.temporary).rename(inside / "stolen")
    with pytest.raises(FileRefused, match="temporary file was changed"):
        root.commit(staged, anything)


def test_removing_compares_first(root: Root, inside: Path) -> None:
    with pytest.raises(BaseMoved):
        root.remove("file", lambda data: data == b"other")
    root.remove("file", lambda data: data == b"hello\n")
    assert not (inside / "file").exists()
    root.remove("file", lambda data: data is None)
    with pytest.raises(BaseMoved):
        root.remove("file", lambda data: data is not None)


def test_make_directory_tells_what_it_made(root: Root, inside: Path) -> None:
    assert root.make_directory("dir/x/y") == ["dir/x", "dir/x/y"]
    assert root.make_directory("dir/x/y") == []
    before = tree(inside)
    with pytest.raises(FileRefused):
        root.make_directory("dir/z/" + "a" * 300)
    assert tree(inside) == before


def test_the_owner_is_kept_where_it_can_be(root: Root, inside: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(inside / "file", 12345, 23456)
    write(root, "file", b"x", 0o640)
    found = (inside / "file").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o640)


def test_an_owner_that_cannot_be_kept_is_no_error(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []

    def refuses(_: int, owner: int, group: int) -> None:
        asked.append((owner, group))
        raise PermissionError(errno.EPERM, "not root")

    real, inode = os.fstat, (inside / "file").stat().st_ino

    def theirs(file: int) -> os.stat_result:
        found = real(file)
        if found.st_ino != inode:
            return found
        return os.stat_result((*found[:4], 4711, 4712, *found[6:10]), found.__reduce__()[1][1])

    monkeypatch.setattr(file_primitives.os, "fchown", refuses)
    monkeypatch.setattr(file_primitives.os, "fstat", theirs)
    root.stage("file", b"x", 0o640)
    assert asked == [(4711, 4712), (-1, 4712)]


def test_names_of_temporary_files_are_not_targets(root: Root) -> None:
    with pytest.raises(FileRefused, match="temporary"):
        root.stage(f"dir/.workbench-{TOKEN}.tmp", b"x", 0o644)
    write(root, "dir/.workbench-x.tmp", b"x")


# --- failing


def failing(number: int) -> Callable[..., int]:
    def fail(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("call", "number", "words"),
    [
        ("write", errno.ENOSPC, "the disk is full"),
        ("write", errno.EDQUOT, "quota"),
        ("fsync", errno.EIO, "input/output error"),
        ("open", errno.EROFS, "read-only"),
        ("open", errno.EACCES, "may not"),
        ("open", errno.EMFILE, "too many files"),
        ("fchmod", errno.EPERM, "may not"),
    ],
)
def test_a_failing_disk_leaves_nothing_behind(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, words: str
) -> None:
    before = tree(inside)
    real = os.open

    def opening(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_EXCL or flags & UNNAMED == UNNAMED:
            failing(number)()
        return real(path, flags, mode, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, opening if call == "open" else failing(number))
        for rel in ("file", "a/b/new"):
            with pytest.raises(FileRefused, match=words) as caught:
                root.stage(rel, b"x" * 10, 0o644)
            assert caught.value.errno == number
    assert tree(inside) == before


def test_a_write_cut_short_by_the_kernel_leaves_nothing_behind(root: Root, inside: Path) -> None:
    before = tree(inside)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(FileRefused, match="larger than this system allows"):
            root.stage("a/file", b"x" * 2_000_000, 0o644)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert tree(inside) == before


def test_a_failing_rename_leaves_the_old_file(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(inside)
    staged = root.stage("file", b"new", 0o644)
    monkeypatch.setattr(file_primitives.os, "rename", failing(errno.EROFS))
    with pytest.raises(FileRefused, match="read-only"):
        root.commit(staged, anything)
    assert tree(inside) == before


def test_a_folder_that_cannot_be_synced_is_told_apart(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = root.stage("file", b"new", 0o644)
    monkeypatch.setattr(file_primitives.os, "fsync", failing(errno.EIO))
    with pytest.raises(NotDurable, match="in place"):
        root.commit(staged, anything)
    assert (inside / "file").read_bytes() == b"new"
    monkeypatch.setattr(file_primitives.os, "fsync", failing(errno.EINVAL))
    root.remove("file", anything)


def test_everything_is_synced_before_and_after_the_rename(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_sync, real_rename = os.fsync, os.rename

    def syncing(file: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        real_sync(file)

    def renaming(*args: str, **folders: int) -> None:
        steps.append("rename")
        real_rename(*args, **folders)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "rename", renaming)
    write(root, "file", b"new")
    assert steps == ["file", "rename", "folder"]


# --- leftovers, and the root itself


def test_sweeping_takes_old_temporary_files_only(root: Root, inside: Path) -> None:
    old, young = f".workbench-{TOKEN}.tmp", f".workbench-{TOKEN[::-1]}.tmp"
    keep = [".workbench-x.tmp", f"x.workbench-{TOKEN}.tmp", f".workbench-{TOKEN}.tmp~"]
    for folder in (inside, inside / "dir"):
        for name in (old, young, *keep):
            (folder / name).touch()
            os.utime(folder / name, (0, 0))
        os.utime(folder / young)
    (inside / "dir" / "deep" / old).symlink_to("file")
    folders = ["", "dir", "dir/deep", "nothing", "dirlink", "../x"]
    assert root.sweep(folders, 3600) == [old, f"dir/{old}"]
    assert root.sweep(folders, 0) == [young, f"dir/{young}"]
    assert {entry.name for entry in root.list("dir")} == {"file", "deep", *keep}


def test_a_root_has_a_real_path_and_closes(inside: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(inside)
    with Root(tmp_path / "alias") as root:
        assert root.path == str(inside.resolve())
    root.close()
    with pytest.raises(ValueError, match="closed"):
        root.image("file")


@pytest.mark.parametrize("name", ["file", "nothing", "fifo"])
def test_a_root_must_be_a_folder(inside: Path, name: str) -> None:
    os.mkfifo(inside / "fifo")
    with pytest.raises(FileRefused):
        Root(inside / name)


def test_a_root_that_was_removed_says_so(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    with Root(tmp_path / "gone") as root:
        (tmp_path / "gone").rmdir()
        assert root.image("file") is None
        with pytest.raises(FileRefused, match="gone"):
            root.stage("a/file", b"x", 0o644)


def test_no_descriptor_is_left_open(root: Root, inside: Path) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count()
    for rel, _ in HOSTILE:
        for door in (root.image, root.list, root.make_directory, lambda rel: root.stage(rel, b"x", 0o600)):
            try:
                door(rel)
            except FileRefused:
                continue
    staged = root.stage("a/new", b"x", 0o644)
    root.commit(staged, anything)
    root.sweep(["", "dir"], 0)
    assert count() == before


UNNAMED = getattr(os, "O_TMPFILE", 1 << 62)
"""Flags of a file without a name; where there is no such thing, flags that nobody passes."""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_a_death_while_bytes_are_written_leaves_no_half_of_them(inside: Path) -> None:
    """The name comes when the file is whole: a child killed while it writes leaves the folder as it was."""
    child = (
        "import os, sys\n"
        "from workbench.effects import file_primitives\n"
        "here = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)\n"
        "def dying(file, data):\n"
        "    os.write(file, data[:3])\n"
        "    os._exit(137)\n"
        "file_primitives.write_all = dying\n"
        "file_primitives.write_temporary(here, b'0123456789', 0o644)\n"
    )
    before = tree(inside)
    assert subprocess.run([sys.executable, "-c", child, str(inside)], check=False).returncode == 137
    assert tree(inside) == before


@pytest.mark.parametrize("lacks", ["flag", "support", "proc"])
def test_where_there_are_no_files_without_a_name_bytes_are_written_all_the_same(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    opening, linking = os.open, os.link

    def no_support(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & UNNAMED == UNNAMED:
            raise OSError(errno.EOPNOTSUPP, "no")
        return opening(path, flags, mode, dir_fd=dir_fd)

    def no_proc(source: str, target: str, **names: object) -> None:
        if source.startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, "no")
        linking(source, target, **names)  # type: ignore[arg-type]

    if lacks == "flag":
        monkeypatch.setattr(file_primitives, "_UNNAMED_FLAGS", None)
    elif lacks == "support":
        monkeypatch.setattr(file_primitives.os, "open", no_support)
    else:
        monkeypatch.setattr(file_primitives.os, "link", no_proc)
    root.commit(root.stage("written", b"all of it", 0o640), lambda found: found is None)
    assert (inside / "written").read_bytes() == b"all of it"
    assert stat.S_IMODE((inside / "written").stat().st_mode) == 0o640
    assert not list(inside.glob(".workbench-*"))


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "folder"])
@pytest.mark.parametrize(
    "write", [lambda path: write_atomic(path, b"x"), lambda path: write_atomic_parts(path, [b"x"])]
)
def test_a_new_file_takes_the_place_of_files_only(tmp_path, kind, write):
    path = tmp_path / "there"
    os.mkfifo(tmp_path / "pipe")
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("pipe") if kind.startswith("link") else (tmp_path / "pipe").rename(path)
    before = path.lstat()
    with pytest.raises(FileRefused, match="not a regular file"):
        write(path)
    assert path.lstat() == before


def test_a_link_to_a_file_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "link").symlink_to("kept")
    write_atomic_parts(tmp_path / "link", [b"new"])
    assert (tmp_path / "kept").read_text() == "kept"
    assert not (tmp_path / "link").is_symlink()
