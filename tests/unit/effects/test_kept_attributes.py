"""An edit replaces a file: its attributes, its access list and the bounds of its rights stay."""

import errno
import os
import stat
import struct

import pytest

from workbench.effects import file_primitives
from workbench.effects.files import Root

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
USER_OBJ, USER, GROUP_OBJ, MASK, OTHER = 0x01, 0x02, 0x04, 0x10, 0x20
BOB = 65_533


def access_list(*entries):
    """Return an access list as the kernel keeps it (acl(5), version 2): a tag, rights and an id each."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NOBODY = 0xFFFFFFFF
NAMED = access_list(
    (USER_OBJ, 6, NOBODY), (USER, 6, BOB), (GROUP_OBJ, 0, NOBODY), (MASK, 6, NOBODY), (OTHER, 0, NOBODY)
)  # fmt: skip
"""The owner and bob may write; the owning group may nothing, though the mode shows the mask: rw-rw----."""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old\n")
    path.chmod(0o640)
    return path


def edit(file, mode=None):
    with Root(file.parent) as root:
        mode = stat.S_IMODE(file.stat().st_mode) if mode is None else mode
        root.commit(root.stage(file.name, b"new\n", mode), lambda data: data == b"old\n")
    assert file.read_text() == "new\n"


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    if request.param == "named":
        monkeypatch.setattr(file_primitives, "_UNNAMED_FLAGS", None)


@pytest.mark.usefixtures("way")
def test_extended_attributes_stay(file):
    os.setxattr(file, "user.origin", b"https://example.org/\0\xff")
    os.setxattr(file, "user.empty", b"")
    edit(file)
    assert os.getxattr(file, "user.origin") == b"https://example.org/\0\xff"
    assert "user.empty" in os.listxattr(file)


@pytest.mark.usefixtures("way")
def test_an_access_list_stays(file):
    os.setxattr(file, ACCESS, NAMED)
    assert stat.S_IMODE(file.stat().st_mode) == 0o660
    edit(file)
    assert (os.getxattr(file, ACCESS), stat.S_IMODE(file.stat().st_mode)) == (NAMED, 0o660)


@pytest.mark.usefixtures("way")
def test_the_list_that_a_folder_gives_to_new_files_does_not_reach_an_edited_one(file):
    os.setxattr(file.parent, DEFAULT, NAMED)
    edit(file)
    assert ACCESS not in os.listxattr(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def failing(monkeypatch, call, number):
    real = getattr(os, call)

    def fails(target, name, *rest, **more):
        if name == ACCESS:
            raise OSError(number, os.strerror(number))
        return real(target, name, *rest, **more)

    monkeypatch.setattr(file_primitives.os, call, fails)


def test_where_an_access_list_cannot_be_kept_only_the_owner_keeps_rights(file, monkeypatch):
    os.setxattr(file, ACCESS, NAMED)
    failing(monkeypatch, "setxattr", errno.EPERM)
    edit(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_where_a_list_of_the_folder_cannot_be_taken_away_it_gives_nothing(file, monkeypatch):
    os.setxattr(file.parent, DEFAULT, NAMED)
    failing(monkeypatch, "removexattr", errno.EPERM)
    edit(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.ENODATA])
def test_a_file_system_without_lists_keeps_the_mode(file, monkeypatch, number):
    for call in ("getxattr", "setxattr", "removexattr"):
        failing(monkeypatch, call, number)
    edit(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_system_without_attributes_keeps_the_mode(file, monkeypatch):
    for call in ("getxattr", "setxattr", "removexattr", "listxattr"):
        monkeypatch.delattr(file_primitives.os, call)
    edit(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_an_attribute_that_cannot_be_kept_is_no_error(file, monkeypatch):
    os.setxattr(file, "user.a", b"a")

    def refuses(*_, **__):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(file_primitives.os, "setxattr", refuses)
    edit(file)
    assert os.listxattr(file) == []


def test_what_vouches_for_the_old_bytes_is_not_carried_over(file):
    if os.geteuid() != 0:
        assert "security.capability" in file_primitives._CONTENT_ATTRIBUTES
        return
    os.setxattr(file, "security.capability", struct.pack("<IIIII", 0x02000001, 0x400, 0, 0, 0))
    edit(file)
    assert "security.capability" not in os.listxattr(file)


@pytest.mark.parametrize(
    ("old", "wanted", "made"),
    [
        (0o600, 0o644, 0o600), (0o644, 0o600, 0o600), (0o644, 0o755, 0o755), (0o600, 0o777, 0o700),
        (0o444, 0o644, 0o444), (0o755, 0o644, 0o644), (0o640, 0o666, 0o640),
    ],
)  # fmt: skip
def test_nobody_may_do_more_with_the_new_file_than_with_the_old_one(file, old, wanted, made):
    file.chmod(old)
    edit(file, wanted)
    assert stat.S_IMODE(file.stat().st_mode) == made


@pytest.mark.parametrize(("old", "made"), [(0o664, 0o644), (0o660, 0o600), (0o604, 0o604), (0o666, 0o666)])
def test_a_group_that_cannot_be_kept_hands_its_rights_to_no_other(file, monkeypatch, old, made):
    file.chmod(old)
    monkeypatch.setattr(file_primitives, "_keep_owner", lambda *_: None)
    real = os.fstat

    def foreign(descriptor):
        found = real(descriptor)
        if found.st_size == 4 and found.st_ino != inode:
            return os.stat_result((*found[:5], found.st_gid + 1, *found[6:10]))
        return found

    inode = file.stat().st_ino
    monkeypatch.setattr(file_primitives.os, "fstat", foreign)
    with Root(file.parent) as root:
        staged = root.stage(file.name, b"new\n", old)
    monkeypatch.undo()
    assert stat.S_IMODE((file.parent / staged.temporary).stat().st_mode) == made
