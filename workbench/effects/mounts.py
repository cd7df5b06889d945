"""The table of mounts of a process; file systems of the network, recognized by it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

# fmt: off
_FUSE_TYPES: Final = (
    "afp", "ceph", "cephfs", "curlftpfs", "davfs", "davfs2", "gcsfuse", "glusterfs", "goofys",
    "grpcfuse", "gvfsd-fuse", "juicefs", "mfs", "moosefs", "osxfs", "rclone", "s3fs", "seaweedfs",
    "smbnetfs", "sshfs", "vmhgfs-fuse",
)
NETWORK_TYPES: Final = frozenset({
    "9p", "acfs", "afp", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fhgfs", "gfs",
    "gfs2", "glusterfs", "gpfs", "lustre", "ncp", "ncpfs", "nfs", "nfs3", "nfs4", "ocfs2", "orangefs",
    "osxfs", "panfs", "pcnfs", "prl_fs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "vmhgfs", "webdav",
    *(f"fuse.{name}" for name in _FUSE_TYPES),
})
"""File system types on which shared memory and locks between processes cannot be relied on."""
# fmt: on


class MountRow(Struct, frozen=True, kw_only=True):
    """One line of the table."""

    place: str
    device: str
    source: str
    """Which path of its file system is mounted."""
    is_read_only: bool
    kind: str


Mounts = Mapping[str, MountRow]
"""The uppermost mount of each place."""
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def network_mount(path: str | Path, mountinfo: str | None = None) -> str | None:
    """Return the type of the network file system of a path (``nfs4``, ``9p``); None for a local one.

    The path need not exist. `mountinfo` stands in for ``/proc/self/mountinfo``, which macOS does not have.
    """
    kind = _mount_type(Path(path).resolve(), _mountinfo("self") if mountinfo is None else mountinfo)
    return kind if kind in NETWORK_TYPES else None


def read_mounts(process: int | str = "self") -> Mounts:
    """Return the mounts that a process sees, by place, the uppermost of several; empty where none is told."""
    mounts = map(_parse_mount, _mountinfo(process).split("\n"))
    return {mount.place: mount for mount in mounts if mount is not None}


def mounted_source(path: str, mounts: Mounts) -> tuple[str, str]:
    """Return the device of an absolute path without links, and the path within that file system."""
    place = path
    while place not in mounts and place != "/":
        place = os.path.dirname(place)  # noqa: PTH120 -- text
    mount = mounts[place]
    below = path.removeprefix(place).strip("/")
    return mount.device, f"{mount.source.rstrip('/')}/{below}" if below else mount.source


def _mountinfo(process: int | str) -> str:
    try:
        # As bytes: a carriage return in a name ends no line.
        return Path(f"/proc/{process}/mountinfo").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _mount_type(path: Path, mountinfo: str) -> str | None:
    best, mount_type = -1, None
    for line in mountinfo.split("\n"):
        mount = _parse_mount(line)
        if mount is None or not path.is_relative_to(mount.place):
            continue
        # Not "longer than": of two mounts on one folder the later one covers the earlier.
        if (depth := len(PurePosixPath(mount.place).parts)) >= best:
            best, mount_type = depth, mount.kind
    return mount_type


def _parse_mount(line: str) -> MountRow | None:
    fields = line.split(" ")
    if "-" not in fields[6:]:
        return None
    after = fields[fields.index("-", 6) + 1 :]
    if not after:
        return None
    return MountRow(
        place=_unescaped(fields[4]), device=fields[2], source=_unescaped(fields[3]),
        is_read_only="ro" in fields[5].split(","), kind=after[0],
    )  # fmt: skip


def _unescaped(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text) if "\\" in text else text
