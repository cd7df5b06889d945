"""Unix sockets: in a private folder, the processes at their other end, where others are bound (unix(7))."""

import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

_MOST_ADDRESS_BYTES: Final = 100
"""Bytes of an address that every system takes; Linux takes 107, macOS 103."""
_BACKLOG: Final = 64
_PEER_OPTION: Final = getattr(socket, "SO_PEERCRED", None)
_PEER_FORMAT: Final = "3i"


class Peer(Struct, frozen=True, kw_only=True):
    """The process that connected to a socket."""

    pid: int
    """0 where the system does not say, or where it is not visible from here (a container)."""
    uid: int


def listen_in_folder(folder: Path, name: str) -> socket.socket:
    """Return a socket that listens at a name in a private folder, in place of one that was left there.

    The caller holds a lock that no other listener of this name holds. Raises OSError.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
        path = os.fspath(folder / name)
        is_short = len(os.fsencode(path)) <= _MOST_ADDRESS_BYTES
        listener.bind(path if is_short else f"/proc/self/fd/{directory}/{name}")
        os.chmod(name, 0o600, dir_fd=directory)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    finally:
        os.close(directory)
    return listener


def connected_peer(connection: socket.socket) -> Peer | None:
    """Return the process at the other end; None where the system does not say (macOS)."""
    if _PEER_OPTION is None:
        return None
    data = connection.getsockopt(socket.SOL_SOCKET, _PEER_OPTION, struct.calcsize(_PEER_FORMAT))
    pid, uid, _ = struct.unpack(_PEER_FORMAT, data)
    return Peer(pid=pid, uid=uid)


def bound_socket_paths() -> tuple[str, ...]:
    """Return the absolute paths that sockets of this machine are bound to; empty where it does not say."""
    try:
        lines = Path("/proc/net/unix").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ()
    named = (line.split(None, 7) for line in lines[1:])
    return tuple({fields[7] for fields in named if len(fields) > 7 and fields[7].startswith("/")})
