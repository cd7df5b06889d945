"""What was written into the settings of other agents, by file, so that it can be taken out again exactly."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from workbench.bridge.agents import Scope
from workbench.bridge.hook_command import Otherwise
from workbench.bridge.hook_settings import HookEntry
from workbench.effects.path_files import read_bounded, write_atomic
from workbench.journal.home import Home

_FILE: Final = "connections.json"
_LARGEST: Final = 4_000_000


class ConnectionRecord(Struct, frozen=True, kw_only=True):
    """One file of an agent that has hooks of ours. Digests are keyed: the file may hold secrets."""

    agent: str
    root: str
    """A folder above the file that was there before."""
    name: str
    """The file's path below it."""
    scope: Scope
    otherwise: Otherwise
    digest_before: str | None
    """Of the file without our hooks; None if there was none."""
    digest_after: str
    blank_before: str | None = None
    """The text before where it was blank."""
    made_folders: tuple[str, ...] = ()
    """Folders that were made for the file, relative to the root, outermost first."""
    entries: tuple[HookEntry, ...] = ()
    """In the order in which they were added; none of a plugin."""

    @property
    def path(self) -> str:
        return f"{self.root}/{self.name}"


class _Records(Struct, frozen=True, kw_only=True):
    files: tuple[ConnectionRecord, ...] = ()


def read_records(home: Home) -> Mapping[str, ConnectionRecord]:
    """Return the records by path of the file; none where they are missing or damaged.

    Without a record hooks are still found by their command line, and cut out one by one.
    """
    data = read_bounded(home.path / _FILE, _LARGEST)
    try:
        records = msgspec.json.decode(data or b"{}", type=_Records)
    except (msgspec.DecodeError, UnicodeDecodeError):
        records = _Records()
    return {record.path: record for record in records.files}


def write_record(home: Home, path: str, record: ConnectionRecord | None) -> None:
    """Replace the record of a file, or remove it. The caller holds the lock of connections."""
    records = {**read_records(home)}
    records.pop(path, None)
    if record is not None:
        records[path] = record
    kept = _Records(files=tuple(records.values()))
    write_atomic(home.path / _FILE, msgspec.json.format(msgspec.json.encode(kept), indent=1))
