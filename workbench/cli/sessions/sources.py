"""Which files an import reads: those that are named, those below a folder, and stores that are many files.

Owns walking folders and putting together what other programs keep in pieces. It opens files to read and
nothing else; links below a folder are not followed.
"""

import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from workbench.formats import opencode_store
from workbench.formats.lines import MOST_DOCUMENT
from workbench.formats.recognising import NotRecognised

_SKIPPED: Final = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_STORE: Final = ("session", "message", "part")
_PIECES: Final = ("project", "todo", "session_diff", "session_share", "share", *_STORE)
_EVENT: Final = re.compile(r"(?:event-)?(\d{1,9})(?:-[\w-]+)?\.json\Z")
"""Files of OpenHands: `7.json` in older versions, `event-00007-<id>.json` in newer ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something that may hold sessions."""

    name: str
    is_named: bool
    """Whether it was named itself, and not found below a folder."""
    open: Callable[[], tuple[BinaryIO, int]]
    """Opens it: its bytes, and when it was changed in microseconds.

    Raises:
        OSError: It cannot be read.
        NotRecognised: It is nothing that is read.
    """


def sources(given: list[str]) -> Iterator[Source]:
    """Yield what there is to read; `-` is left to the caller."""
    for name in given:
        path = Path(name)
        if name != "-" and path.is_dir():
            yield from _below(path)
        elif name != "-" and (root := _store_of(path)):
            yield _session_of(root, path, is_named=True)
        else:
            yield _file(name, is_named=True)


def _file(name: str, *, is_named: bool) -> Source:
    return Source(name=name, is_named=is_named, open=lambda: _opened(Path(name)))


def _opened(path: Path) -> tuple[BinaryIO, int]:
    # Without O_NONBLOCK a named pipe would be waited for; what is no file is refused below.
    stream = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
    about = os.fstat(stream.fileno())
    if not stat.S_ISREG(about.st_mode):
        stream.close()
        raise NotRecognised("it is no regular file")
    changed = int(about.st_mtime * 1_000_000)
    log = path.with_name(f"{path.name}-wal")
    if about.st_size <= MOST_DOCUMENT and log.is_file() and stream.read(16) == opencode_store.MAGIC:
        stream.seek(0)
        with stream:
            return io.BytesIO(opencode_store.merged(stream.read(), _bytes(log))), changed
    stream.seek(0)
    return stream, changed


def _bytes(path: Path) -> bytes:
    with path.open("rb") as stream:
        data = stream.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise NotRecognised(f"{path.name} is over {MOST_DOCUMENT >> 20} MB")
    return data


def _below(folder: Path) -> Iterator[Source]:
    """Yield the files of a folder, in order."""
    for here, folders, names in os.walk(folder):
        place = Path(here)
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        if _is_store(place):
            yield from _stored(place)
            folders[:] = [name for name in folders if name not in _PIECES]
        files = [name for name in sorted(names) if stat.S_ISREG((place / name).lstat().st_mode)]
        if place.name in ("events", "event_stream") and (numbered := _numbered(files)):
            yield _events(place, numbered)
            files = [name for name in files if name not in numbered]
        for name in files:
            if not name.endswith(("-wal", "-shm")):
                yield _file(str(place / name), is_named=False)


# --- OpenCode: session/<project>/<id>.json, message/<session>/<id>.json, part/<message>/<id>.json ---


def _is_store(place: Path) -> bool:
    return all((place / name).is_dir() for name in _STORE)


def _store_of(path: Path) -> Path | None:
    """Return the store that a session's file belongs to."""
    root = path.parent.parent.parent
    is_one = path.suffix == ".json" and path.parent.parent.name == "session" and _is_store(root)
    return root if is_one else None


def _stored(root: Path) -> Iterator[Source]:
    for path in sorted((root / "session").glob("*/*.json")):
        yield _session_of(root, path, is_named=False)


def _session_of(root: Path, path: Path, *, is_named: bool) -> Source:
    return Source(name=str(path), is_named=is_named, open=lambda: _assembled(root, path))


def _assembled(root: Path, path: Path) -> tuple[BinaryIO, int]:
    messages = _pieces(root / "message" / path.stem)
    parts = ((_bytes(one), map(_bytes, _pieces(root / "part" / one.stem))) for one in messages)
    changed = max(one.stat().st_mtime for one in (path, *messages))
    return io.BytesIO(opencode_store.assembled(_bytes(path), parts)), int(changed * 1_000_000)


def _pieces(folder: Path) -> list[Path]:
    """Return the files of a folder in the order of their names, which rise with time."""
    return sorted(path for path in folder.glob("*.json") if path.is_file() and not path.is_symlink())


# --- OpenHands: one file an event -------------------------------------------------------------------


def _numbered(names: list[str]) -> list[str]:
    found = [(int(match[1]), name) for name in names if (match := _EVENT.match(name))]
    return [name for _, name in sorted(found)]


def _events(place: Path, names: list[str]) -> Source:
    return Source(name=str(place), is_named=False, open=lambda: _joined(place, names))


def _joined(place: Path, names: list[str]) -> tuple[BinaryIO, int]:
    """Return one event a line; a file that is no JSON stays what it is, in its line."""
    lines = (b" ".join(_bytes(place / name).split()) for name in names)
    changed = max((place / name).stat().st_mtime for name in names)
    return io.BytesIO(b"\n".join(lines) + b"\n"), int(changed * 1_000_000)
