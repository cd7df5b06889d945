"""What an import may read: files, folders of files, and stores that keep a session in many pieces.

A source tells its state (size, time of the last change, inode) without being opened, so that one that did
not change is passed over. Files beside a session tell its title, folder and model. Readers are loaded when
something is opened: a screen that only looks waits for none.
"""

import io
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from stat import S_ISREG
from typing import TYPE_CHECKING, BinaryIO, Final

from msgspec import Struct

from workbench.domain.values import JsonObject
from workbench.formats import chat_logs, cline, droid, kimi
from workbench.formats.input import json_documents
from workbench.formats.json_fields import as_object
from workbench.formats.records import Record
from workbench.text.human import SECOND_MICROS

if TYPE_CHECKING:
    from workbench.formats.detect import UnknownFormat


ReadBeside = Callable[[str], bytes]
"""Reads a file that lies beside the one that is read, by its path from there; empty: there is none."""
_MOST_BESIDE: Final = 64 << 20
"""Bytes of a file beside a session."""


class Neighbours(Struct, frozen=True):
    """The files beside those of a format; `join` adds what they hold to the records."""

    paths: tuple[str, ...]
    """From the folder of the file; `{stem}` is its name without the last ending."""
    join: Callable[[Iterator[Record], list[JsonObject]], Iterator[Record]]
    """Takes one document for each path: an empty one for what is not there, `rows` for a list."""


_TASK: Final = ("ui_messages.json", "api_conversation_history.json", "task_metadata.json")
NEIGHBOURS: Final[dict[str, Neighbours]] = {
    "cline": Neighbours(_TASK, cline.join_screen),
    "droid": Neighbours(("{stem}.settings.json",), droid.join_settings),
    "grok": Neighbours(("summary.json",), chat_logs.join_grok),
    "kimi": Neighbours(("../../state.json", "state.json"), kimi.join_state),
    "roo": Neighbours(_TASK, cline.join_screen),
    "vibe": Neighbours(("meta.json",), chat_logs.join_vibe),
}
"""By the format of the file."""
_TOLD_WITH: Final = {
    "meta.json": "messages.jsonl", "summary.json": "chat_history.jsonl", "task_metadata.json": _TASK[1],
    "ui_messages.json": _TASK[1],
}  # fmt: skip


def nothing_beside(_path: str) -> bytes:
    """Return nothing, for a file of which only its bytes are known."""
    return b""


def with_neighbours(form: str, items: Iterator[Record], name: str, beside: ReadBeside) -> Iterator[Record]:
    """Return the records of a file of a format with what lies beside it."""
    if (neighbours := NEIGHBOURS.get(form)) is None:
        return items
    stem = PurePath(name).stem
    return neighbours.join(items, [_document(beside(path.format(stem=stem))) for path in neighbours.paths])


def _document(data: bytes) -> JsonObject:
    documents = json_documents(data)[0] if data.strip() else []
    value = documents[0].value if documents else None
    return {"rows": value} if isinstance(value, list) else as_object(value)


def is_told_with_another(name: str, names: Collection[str]) -> bool:
    """Return whether a file of a folder is read with another of its files, and is no session of its own."""
    session = name.removesuffix(".settings.json")
    return _TOLD_WITH.get(name, "") in names or (session != name and f"{session}.jsonl" in names)


def read_beside(name: str, path: str) -> bytes:
    """Return a file beside the file `name`, at a path from there; empty if there is none.

    One over 64 MB, one that is no regular file and one behind a link are none; nothing lies beside `-`.
    """
    beside = Path(name).parent / path
    try:
        about = beside.lstat()
        if name == "-" or not S_ISREG(about.st_mode) or about.st_size > _MOST_BESIDE:
            return b""
        return beside.read_bytes()
    except OSError:
        return b""


class FileState(Struct, frozen=True):
    """What changes with a file; of several files their bytes together, the newest time and their number."""

    size: int
    modified_ns: int
    inode: int


class ImportSource(Struct, frozen=True, kw_only=True):
    """A file that may hold sessions."""

    name: str
    """Its full path, or `-`."""
    is_named: bool = False
    """Whether it was named itself, and not found below a folder."""
    agent: str = ""
    """The agent in whose folder it was found; empty where its path was named."""

    def open(self) -> tuple[BinaryIO, int]:
        """Open it: its bytes, and when it was changed in microseconds.

        Raises OSError: it cannot be read; UnknownFormat: it is nothing that is read.
        """
        return _open_file(Path(self.name))

    def state(self) -> FileState | None:
        """Return its state now, None of a stream. Raises OSError."""
        if self.name == "-":
            return None
        # A database may keep what is new in a log beside it.
        path = Path(self.name)
        log = _write_ahead_log(path)
        return _joined_state([path, log] if _may_have_log(path) and log.is_file() else [path])


class _StoredSession(ImportSource, frozen=True, kw_only=True):
    """A session in many pieces, as OpenCode stores it."""

    root: str

    def open(self) -> tuple[BinaryIO, int]:
        return _assemble_session(Path(self.root), Path(self.name))

    def state(self) -> FileState:
        return _joined_state(_session_files(Path(self.root), Path(self.name)))


class _EventFolder(ImportSource, frozen=True, kw_only=True):
    """A folder with one file an event, as OpenHands writes it."""

    files: tuple[str, ...]

    def open(self) -> tuple[BinaryIO, int]:
        return _joined_events(Path(self.name), self.files)

    def state(self) -> FileState:
        return _joined_state(Path(self.name) / name for name in self.files)


class _UnreadableFolder(ImportSource, frozen=True, kw_only=True):
    """A folder that cannot be listed."""

    error: OSError

    def open(self) -> tuple[BinaryIO, int]:
        raise self.error

    def state(self) -> None:
        return None


_SKIPPED_FOLDERS: Final = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_STORE_FOLDERS: Final = ("session", "message", "part")
_PIECE_FOLDERS: Final = ("project", "todo", "session_diff", "session_share", "share", *_STORE_FOLDERS)
_EVENT_FILE: Final = re.compile(r"(?:event-)?(\d{1,9})(?:-[\w-]+)?\.json\Z")
"""Files of OpenHands: `7.json` in older versions, `event-00007-<id>.json` in newer ones."""


def find_sources(names: Iterable[str]) -> Iterator[ImportSource]:
    """Yield what there is to read; `-` is left to the caller."""
    for name in names:
        path = Path(name)
        if name != "-" and path.is_dir():
            yield from sources_below(path)
        elif name != "-" and (root := _store_of_file(path)):
            yield _StoredSession(name=name, is_named=True, root=str(root))
        else:
            yield ImportSource(name=name, is_named=True)


_DATABASE_SUFFIXES: Final = (".db", ".sqlite", ".sqlite3", ".vscdb")


def _may_have_log(path: Path) -> bool:
    return path.suffix in _DATABASE_SUFFIXES


def _write_ahead_log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _joined_state(paths: Iterable[Path]) -> FileState:
    states = [FileState(about.st_size, about.st_mtime_ns, about.st_ino) for about in map(os.stat, paths)]
    if len(states) == 1:
        return states[0]
    newest = max((state.modified_ns for state in states), default=0)
    return FileState(sum(state.size for state in states), newest, len(states))


def _unknown(why: str) -> "UnknownFormat":
    from workbench.formats.detect import UnknownFormat

    return UnknownFormat(why)


def _open_file(path: Path) -> tuple[BinaryIO, int]:
    from workbench.formats import opencode
    from workbench.formats.input import MOST_DOCUMENT

    # Without O_NONBLOCK a named pipe would be waited for; what is no file is refused below.
    stream = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
    about = os.fstat(stream.fileno())
    if not stat.S_ISREG(about.st_mode):
        stream.close()
        raise _unknown("it is not a regular file")
    changed = int(about.st_mtime * SECOND_MICROS)
    log = _write_ahead_log(path)
    if about.st_size <= MOST_DOCUMENT and log.is_file() and stream.read(16) == opencode.SQLITE_MAGIC:
        stream.seek(0)
        with stream:
            return io.BytesIO(opencode.apply_write_ahead_log(stream.read(), _read_document(log))), changed
    stream.seek(0)
    return stream, changed


def _read_document(path: Path) -> bytes:
    from workbench.formats.input import MOST_DOCUMENT

    with path.open("rb") as stream:
        data = stream.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise _unknown(f"{path.name} is over {MOST_DOCUMENT >> 20} MB")
    return data


def sources_below(folder: Path) -> Iterator[ImportSource]:
    """Yield what is in a folder, in the order of its names; a folder that cannot be read is one of them."""
    errors: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=errors.append):
        place = Path(parent)
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        if _is_opencode_store(place):
            yield from store_sources(place)
            folders[:] = [name for name in folders if name not in _PIECE_FOLDERS]
        files = [name for name in sorted(names) if _is_regular(f"{parent}/{name}")]
        if place.name in ("events", "event_stream") and (numbered := _numbered_names(files)):
            yield _EventFolder(name=parent, files=tuple(numbered))
            files = [name for name in files if name not in numbered]
        for name in files:
            if not name.endswith(("-wal", "-shm")) and not is_told_with_another(name, names):
                yield ImportSource(name=f"{parent}/{name}")
    yield from (_UnreadableFolder(name=str(error.filename), error=error) for error in errors)


def listed_sources(folder: Path, is_wanted: Callable[[str], bool]) -> Iterator[ImportSource]:
    """Yield the files below a folder whose path below it is wanted, and each folder that cannot be read."""
    errors: list[OSError] = []
    start = len(str(folder)) + 1
    for parent, folders, names in os.walk(folder, onerror=errors.append):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for path in (f"{parent}/{name}" for name in sorted(names)):
            if is_wanted(path[start:]) and _is_regular(path):
                yield ImportSource(name=path)
    yield from (_UnreadableFolder(name=str(error.filename), error=error) for error in errors)


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False  # it went while the folder was listed


# --- OpenCode: session/<project>/<id>.json, message/<session>/<id>.json, part/<message>/<id>.json ---


def _is_opencode_store(place: Path) -> bool:
    return all((place / name).is_dir() for name in _STORE_FOLDERS)


def _store_of_file(path: Path) -> Path | None:
    root = path.parent.parent.parent
    is_one = path.suffix == ".json" and path.parent.parent.name == "session" and _is_opencode_store(root)
    return root if is_one else None


def store_sources(root: Path) -> Iterator[ImportSource]:
    for path in sorted((root / "session").glob("*/*.json")):
        yield _StoredSession(name=str(path), root=str(root))


def _session_files(root: Path, path: Path) -> Iterator[Path]:
    yield path
    for message in _piece_files(root / "message" / path.stem):
        yield message
        yield from _piece_files(root / "part" / message.stem)


def _assemble_session(root: Path, path: Path) -> tuple[BinaryIO, int]:
    from workbench.formats import opencode

    messages = _piece_files(root / "message" / path.stem)
    parts = (
        (_read_document(message), map(_read_document, _piece_files(root / "part" / message.stem)))
        for message in messages
    )
    changed = max(file.stat().st_mtime for file in (path, *messages))
    return io.BytesIO(opencode.session_document(_read_document(path), parts)), int(changed * SECOND_MICROS)


def _piece_files(folder: Path) -> list[Path]:
    """Return the files of a folder in the order of their names, which rise with time."""
    return sorted(path for path in folder.glob("*.json") if path.is_file() and not path.is_symlink())


# --- OpenHands: one file an event -------------------------------------------------------------------


def _numbered_names(names: list[str]) -> list[str]:
    numbered = [(int(match[1]), name) for name in names if (match := _EVENT_FILE.match(name))]
    return [name for _, name in sorted(numbered)]


def _joined_events(place: Path, names: Sequence[str]) -> tuple[BinaryIO, int]:
    lines = (b" ".join(_read_document(place / name).split()) for name in names)
    changed = max((place / name).stat().st_mtime for name in names)
    return io.BytesIO(b"\n".join(lines) + b"\n"), int(changed * SECOND_MICROS)
