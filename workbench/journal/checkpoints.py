"""Stored checkpoints of a replay: which rows each stretch of a recording changed, in a file of its own.

Owns the file, its form, and that a wrong one is thrown away: it holds nothing that the events do not. Rows
are as recorded, secrets scrubbed; a file goes with any session that is deleted. Never needed, only faster.
"""

import base64
import binascii
import contextlib
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from workbench.domain import fold, machines, run_fold
from workbench.domain.fold import Tables
from workbench.effects.files import FileRefused, open_append, private_folder
from workbench.journal import tables
from workbench.journal.home import Home
from workbench.journal.journal import Journal

FOLDER: Final = "replay"
MOST_FILES: Final = 40
"""Recordings whose checkpoints are kept: those looked at last."""
LARGEST: Final = 64_000_000
"""Bytes of a file that is read; a larger one is thrown away."""
_FORM: Final = 1
_ROWS: Final = tables.INDEX_TABLES

Stored = tuple[int, Callable[[], Tables]]
"""A position and what reads the rows that changed in the stretch up to it."""


class Damaged(ValueError):
    """A stored checkpoint does not hold what it should."""


class Checkpoints:
    """The stored checkpoints of one recording."""

    def __init__(self, journal: Journal, session_id: str, begins: int, stretch: int) -> None:
        """Name the file; nothing is opened.

        Args:
            journal: Where the recording is.
            session_id: Whose.
            begins: The position before its first event.
            stretch: Lasting events between two checkpoints.
        """
        self._journal = journal
        name = journal.blobs.keyed(f"checkpoints {session_id}".encode())[:32]
        self._path = journal.home.path / FOLDER / name
        self._head = json.dumps([_shape(), begins, stretch]).encode()
        self._begins = begins
        self._file: BinaryIO | None = None

    def load(self) -> list[Stored]:
        """Return the checkpoints there are, in order; none if the file is not of this recording as it is."""
        try:
            data = self._path.read_bytes() if self._path.stat().st_size <= LARGEST else b""
        except OSError:
            return []
        lines = data.split(b"\n")
        found = self._chain(lines[1:]) if lines[0] == self._head else []
        if not found:
            _remove(self._path)
        return found

    def _chain(self, lines: Sequence[bytes]) -> list[Stored]:
        """Return what the lines hold; nothing if one is broken, as a crash leaves it, or follows on none."""
        found: list[Stored] = []
        edge, name = self._begins, ""
        for line in lines[:-1]:
            parts = line.split(b" ")
            if len(parts) != 5 or _sum(*parts[:3], parts[4]) != parts[3]:
                return []
            if int(parts[1]) <= edge:
                continue  # two replays of one recording have both written it
            if int(parts[0]) != edge:
                return []
            edge, name = int(parts[1]), parts[2].decode("ascii", "replace")
            found.append((edge, _reader(parts[4])))
        event = self._journal.reader.event_at(edge) if found and not lines[-1] else None
        # A database that was put back from a backup gives the same positions to other events.
        return found if event is not None and event_name(event.id) == name else []

    def keep(self, before: int, edge: int, rows: Tables) -> None:
        """Store what a stretch between two positions changed; a disk that takes no more is no trouble."""
        with contextlib.suppress(OSError, FileRefused):
            file, event = self._file, self._journal.reader.event_at(edge)
            if file is None or event is None:
                return
            payload = base64.b64encode(zlib.compress(_written(rows), 1))
            head = (str(before).encode(), str(edge).encode(), event_name(event.id).encode())
            file.write(b" ".join((*head, _sum(*head, payload), payload)) + b"\n")

    def begin(self) -> None:
        """Store what is kept from now on; call it before rows are read, and `close` at the end.

        A file that is removed because a session is deleted takes along what is written to it afterwards.
        """
        with contextlib.suppress(OSError, FileRefused):
            private_folder(self._path.parent)
            self._file = open_append(self._path)
            if os.fstat(self._file.fileno()).st_size == 0:
                self._file.write(self._head + b"\n")
                _make_room(self._path.parent)

    def close(self) -> None:
        """Let the file go; twice is harmless."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


def forget_checkpoints(home: Home) -> None:
    """Remove every stored checkpoint: rows of a session that is deleted may be in those of others."""
    with contextlib.suppress(OSError):
        for path in (home.path / FOLDER).iterdir():
            _remove(path)


def _make_room(folder: Path) -> None:
    paths = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in paths[MOST_FILES:]:
        _remove(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


# --- lines ------------------------------------------------------------------------------------------


def event_name(event_id: str) -> str:
    """Return what an event is called in a line: ids of imported ones may hold anything."""
    return hashlib.sha256(event_id.encode()).hexdigest()[:16]


def _shape() -> str:
    """Return what changes when rows get other fields, or events do other things to them."""
    names = [[row.__name__, *tables.columns(row)] for row in _ROWS]
    found = hashlib.sha256(json.dumps([_FORM, names]).encode())
    for module in (fold, machines, run_fold):
        with contextlib.suppress(OSError, TypeError):
            found.update(Path(module.__file__ or "").read_bytes())
    return found.hexdigest()[:16]


def _sum(*parts: bytes) -> bytes:
    return f"{zlib.crc32(b' '.join(parts)):08x}".encode()


def _written(rows: Tables) -> bytes:
    parts = (rows.sessions, rows.calls, rows.actions, rows.rules, rows.trusts, rows.pipeline_states,
             rows.step_states)  # fmt: skip
    found = [[tables.dump(row) for row in part.values()] for part in parts]
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _reader(payload: bytes) -> Callable[[], Tables]:
    def read() -> Tables:
        """Return the rows.

        Raises:
            Damaged: They are not what was written.
        """
        rows = Tables()
        try:
            data = zlib.decompress(base64.b64decode(payload))
            found = cast("list[list[list[Any]]]", json.loads(data.decode("utf-8", "surrogatepass")))
            for kind, part in zip(_ROWS, found, strict=True):
                for values in part:
                    rows.put(tables.load(kind, values))
        except (zlib.error, binascii.Error, ValueError, TypeError, KeyError) as error:
            raise Damaged(str(error)) from None
        return rows

    return read
