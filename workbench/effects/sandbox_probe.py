"""A program of its own: try in a box what must not work there, and print a word only if none of it does.

Run by `sandbox_proof.py` with nothing of this package. Arguments: the word to print, the folder to write in,
a folder outside, a hidden file, a port of this machine, the process that asks; then `full` for a full box or
`files` for one that hides nothing.
"""

import os
import socket
import sys
from collections.abc import Callable

_NEW_USER_NAMESPACE = 0x10000000


def _main(word: str, inside: str, outside: str, hidden: str, port: str, asker: str, strength: str) -> None:
    attempts: dict[str, Callable[[], object]] = {
        "write outside": lambda: _write(f"{outside}/written"),
        "truncate a file outside": lambda: os.truncate(f"{outside}/kept", 0),
        "reach this machine": lambda: socket.create_connection(("127.0.0.1", int(port)), 5),
        "keep capabilities": lambda: _require_capability("CapEff", "CapPrm"),
        "make a namespace": _make_namespace,
        "keep a way to more privileges": _require_new_privileges,
    }
    if strength == "full":
        attempts |= {
            "read a hidden file": lambda: _read(hidden),
            "see processes outside": lambda: os.stat(f"/proc/{asker}/stat"),  # noqa: PTH116
            "get capabilities again": lambda: _require_capability("CapBnd"),
        }
    else:
        attempts |= {
            "send a packet": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "reach a socket of another program": lambda: socket.socket(socket.AF_UNIX),
            "signal a process outside": lambda: os.kill(int(asker), 0),
        }
    for name, attempt in attempts.items():
        if _works(attempt):
            sys.exit(f"it could {name}")
    _write(f"{inside}/written")
    sys.stdout.write(word)


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _write(path: str) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123
        file.write("x")


def _read(path: str) -> None:
    with open(path, "rb") as file:  # noqa: PTH123
        file.read()


def _require_capability(*names: str) -> None:
    if not any(int(_status(name), 16) for name in names):
        raise PermissionError


def _require_new_privileges() -> None:
    if _status("NoNewPrivs") == "1":
        raise PermissionError


def _status(name: str) -> str:
    with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123
        return next(line.split()[1] for line in file if line.startswith(f"{name}:"))


def _make_namespace() -> None:
    import ctypes

    if ctypes.CDLL(None).unshare(_NEW_USER_NAMESPACE) != 0:
        raise PermissionError


if __name__ == "__main__":
    _main(*sys.argv[1:])
