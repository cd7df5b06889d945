"""What programs write of a session into files beside it: its title, its folder, its model, what it took."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePath
from stat import S_ISREG
from typing import Final

from msgspec import Struct

from workbench.domain.values import JsonObject
from workbench.formats import chat_logs, cline, droid, kimi
from workbench.formats.input import json_documents
from workbench.formats.records import Record, as_object

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
