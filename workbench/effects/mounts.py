"""Which file system a path lies on, and whether another machine or kernel serves it.

Owns the reading of the mount table. It never touches the path itself, so that a dead server cannot
block the question for longer than resolving the name does.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Final

# fmt: off
_FUSE: Final = (
    "afp", "ceph", "cephfs", "curlftpfs", "davfs", "davfs2", "gcsfuse", "glusterfs", "goofys",
    "grpcfuse", "gvfsd-fuse", "juicefs", "mfs", "moosefs", "osxfs", "rclone", "s3fs", "seaweedfs",
    "smbnetfs", "sshfs", "vmhgfs-fuse",
)
NETWORK_TYPES: Final = frozenset({
    "9p", "acfs", "afp", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fhgfs", "gfs",
    "gfs2", "glusterfs", "gpfs", "lustre", "ncp", "ncpfs", "nfs", "nfs3", "nfs4", "ocfs2", "orangefs",
    "osxfs", "panfs", "pcnfs", "prl_fs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "vmhgfs", "webdav",
    *(f"fuse.{name}" for name in _FUSE),
})
"""File system types on which shared memory and locks between processes cannot be relied on."""
# fmt: on

_MOUNTINFO: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def network_mount(path: str | Path, mountinfo: str | None = None) -> str | None:
    """Name the network (or otherwise foreign) file system that a path lies on.

    Args:
        path: Need not exist; links in it are resolved first.
        mountinfo: The text of ``/proc/self/mountinfo``, read from there if not given.

    Returns:
        The type as the kernel names it (``nfs4``, ``9p``, ``fuse.sshfs``), or None for a local one and
        where there is no such table (macOS).
    """
    kind = _type_at(Path(path).resolve(), _read() if mountinfo is None else mountinfo)
    return kind if kind in NETWORK_TYPES else None


def _read() -> str:
    try:
        return _MOUNTINFO.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _type_at(path: Path, mountinfo: str) -> str | None:
    best, found = -1, None
    for line in mountinfo.split("\n"):
        mount = _parse(line)
        if mount is None or not path.is_relative_to(mount[0]):
            continue
        # Not "longer than": of two mounts on one folder the later one covers the earlier.
        if (depth := len(mount[0].parts)) >= best:
            best, found = depth, mount[1]
    return found


def _parse(line: str) -> tuple[PurePosixPath, str] | None:
    fields = line.split(" ")
    if "-" not in fields[6:]:
        return None
    after = fields[fields.index("-", 6) + 1 :]
    if not after:
        return None
    return PurePosixPath(_OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])), after[0]
