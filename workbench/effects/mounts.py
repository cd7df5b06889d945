"""File systems of the network, recognized by the table of mounts."""

import re
from pathlib import Path, PurePosixPath
from typing import Final

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


_MOUNTINFO: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def network_mount(path: str | Path, mountinfo: str | None = None) -> str | None:
    """Return the type of the network file system of a path (``nfs4``, ``9p``); None for a local one.

    The path need not exist. `mountinfo` stands in for ``/proc/self/mountinfo``, which macOS does not have.
    """
    kind = _mount_type(Path(path).resolve(), _read_mountinfo() if mountinfo is None else mountinfo)
    return kind if kind in NETWORK_TYPES else None


def _read_mountinfo() -> str:
    try:
        return _MOUNTINFO.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _mount_type(path: Path, mountinfo: str) -> str | None:
    best, mount_type = -1, None
    for line in mountinfo.split("\n"):
        mount = _parse_mount(line)
        if mount is None or not path.is_relative_to(mount[0]):
            continue
        # Not "longer than": of two mounts on one folder the later one covers the earlier.
        if (depth := len(mount[0].parts)) >= best:
            best, mount_type = depth, mount[1]
    return mount_type


def _parse_mount(line: str) -> tuple[PurePosixPath, str] | None:
    fields = line.split(" ")
    if "-" not in fields[6:]:
        return None
    after = fields[fields.index("-", 6) + 1 :]
    if not after:
        return None
    return PurePosixPath(_OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])), after[0]
