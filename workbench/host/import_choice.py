"""Which sessions of other programs are imported, by which settings, and how long they are kept.

Settings count from the user's own file only: no folder decides what is imported from elsewhere.
`found_histories` lists the folders of agents without opening a file in them.
"""

import contextlib
import io
import json
import os
import time
import zlib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from workbench.config.keys import CONFIG_VERSION
from workbench.config.layers import load_config
from workbench.config.provider_edit import NOT_CHANGED, ProviderRefused
from workbench.config.sections import SessionSettings
from workbench.domain.events import SessionCreated
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Json, JsonObject, Refused
from workbench.formats import detect
from workbench.formats.agent_folders import AGENT_NAMES, AgentFolder, find_agent_folders
from workbench.formats.detect import UnknownFormat
from workbench.formats.import_sources import FileState, ImportSource
from workbench.formats.json_fields import as_array, as_object
from workbench.host.provider_config import edit_user_file
from workbench.host.session_import import ImportPlan, ImportRequest, state_of
from workbench.journal.errors import SessionDriven, SessionUnknown
from workbench.journal.home import Home
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.maintenance import delete_session, finish_deletions
from workbench.text.human import DAY_MICROS
from workbench.text.json_edit import set_member
from workbench.text.json_nodes import JsonError, parse_json_nodes

_GLOB: Final = frozenset("*?[")
_SAMPLE_BYTES: Final = 1 << 20
_STORED_SHARE: Final = 0.6
"""How fast an import is, as a share of the speed at which its files are read and scrubbed (measured)."""
_USUAL_RATE: Final = 5e6
"""Bytes a second where nothing could be measured."""


class LeftOut(Struct, frozen=True):
    """What `sessions.leave_out` says: agents, folders, and patterns of folders."""

    entries: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """Return a mark that changes with the entries."""
        return f"{zlib.crc32(repr(sorted(self.entries)).encode()):08x}" if self.entries else ""

    def has_agent(self, agent: str) -> bool:
        return agent in self.entries

    def has_folder(self, folder: str) -> bool:
        """Return whether a folder is left out, by itself, a folder above it, or a pattern."""
        return bool(folder) and any(_names_folder(entry, folder) for entry in self.entries)

    def has_history(self, folder: AgentFolder) -> bool:
        return self.has_agent(folder.agent) or self.has_folder(folder.path)

    def has_session(self, created: SessionCreated) -> bool:
        return self.has_agent(created.origin or "") or self.has_folder(created.workspace or "")

    def has_source(self, source: ImportSource) -> bool:
        return self.has_agent(source.agent) or self.has_folder(source.name)


def _names_folder(entry: str, folder: str) -> bool:
    pattern = str(Path(entry).expanduser()).rstrip("/") or "/"
    if entry in AGENT_NAMES:
        return False
    paths = (folder, *map(str, Path(folder).parents))
    if "/" not in pattern:
        return any(fnmatchcase(Path(path).name, pattern) for path in paths)
    if _GLOB.isdisjoint(pattern):
        return pattern in paths
    return any(fnmatchcase(path, pattern) for path in paths)


def import_request(
    settings: SessionSettings,
    *,
    format_name: str | None = None,
    is_again: bool = False,
    is_found: bool = False,
) -> ImportRequest:
    """Return how files are imported by the settings; `is_found`: nobody named them."""
    left_out = LeftOut(settings.leave_out)
    return ImportRequest(
        format=format_name, is_again=is_again, returns_deleted=not is_found, leaves_out=left_out.has_session,
        left_out_mark=left_out.mark, most_days=settings.keep_imported_days,
    )  # fmt: skip


class FoundHistory(Struct, kw_only=True):
    """What one agent has in one folder."""

    folder: AgentFolder
    is_left_out: bool = False
    """Whether the settings leave all of it out."""
    files: int = 0
    size: int = 0
    """Bytes of all files."""
    due: list[ImportSource] = field(default_factory=list[ImportSource])
    """Files that are new or have changed."""
    due_size: int = 0
    """Their bytes."""


def found_histories(
    journal: Journal | None, settings: SessionSettings, workspace: str | None, *, is_again: bool = False
) -> list[FoundHistory]:
    """Look at every agent's folder that is here, by the status of its files alone.

    `journal` knows what was imported before; without one all is new. `workspace`: a folder that agents may
    have worked in.
    """
    request = import_request(settings, is_again=is_again, is_found=True)
    plan = ImportPlan(journal, request) if journal is not None else None
    left_out = LeftOut(settings.leave_out)
    histories = [_history_of(folder, left_out, plan) for folder in find_agent_folders(workspace)]
    return [history for history in histories if history.files]


def _history_of(folder: AgentFolder, left_out: LeftOut, plan: ImportPlan | None) -> FoundHistory:
    is_left_out = left_out.has_history(folder)
    history = FoundHistory(folder=folder, is_left_out=is_left_out)
    for source in folder.sources():
        state = state_of(source)
        size = state.size if state is not None else 0
        history.files, history.size = history.files + 1, history.size + size
        if is_left_out or left_out.has_source(source) or _is_known(plan, source, state):
            continue
        history.due.append(source)
        history.due_size += size
    return history


def _is_known(plan: ImportPlan | None, source: ImportSource, state: FileState | None) -> bool:
    return plan is not None and (plan.is_too_old(state) or plan.unchanged(source, state) is not None)


def import_rate(histories: Iterable[FoundHistory]) -> float:
    """Return how many bytes a second an import reads here, measured on the start of the largest new file."""
    sources = [source for history in histories for source in history.due if source.name.endswith(".jsonl")]
    states = [(state.size, source.name) for source in sources if (state := state_of(source)) is not None]
    if not states:
        return _USUAL_RATE
    name = max(states)[1]
    with contextlib.suppress(OSError, UnknownFormat), Path(name).open("rb") as stream:
        sample = stream.read(_SAMPLE_BYTES)
        begin = time.perf_counter()
        opened = detect.open_file(
            io.BytesIO(sample), name, 0, None, store=lambda data: f"recorded:{len(data)}", current_id=str
        )
        events = sum(1 for _ in opened.events)
        seconds = time.perf_counter() - begin
        if events and seconds > 0:
            return len(sample) / seconds * _STORED_SHARE
    return _USUAL_RATE


_ACTOR: Final = Actor(kind="system", via="import")


def sessions_of_origin(journal: Journal, origin: str) -> list[Session]:
    """Return the imported sessions of an agent or format, by its name."""
    rows = [session for session in journal.sessions() if session.origin == origin]
    return [session for session in rows if is_imported_session(journal, session.id)]


def delete_expired_imports(journal: Journal, days: int) -> int:
    """Delete imported sessions that ended so many days ago; 0 keeps all. Returns how many were deleted."""
    if not days:
        return 0
    before = journal.now() - days * DAY_MICROS
    query = "SELECT id FROM session WHERE origin IS NOT NULL AND updated_at < ?"
    with journal.snapshot() as database:
        old = [row[0] for row in database.execute(query, (before,))]
    count = 0
    for session_id in old:
        if is_imported_session(journal, session_id):
            try:
                delete_session(journal, session_id, _ACTOR)
            except (SessionDriven, SessionUnknown):
                continue
            count += 1
    if count:
        finish_deletions(journal)
    return count


_NEW_FILE: Final = json.dumps({"config_version": CONFIG_VERSION}, indent=2) + "\n"


class ImportRefused(Refused):
    """Nothing was imported: the settings say what is left out, and they cannot be read."""


def session_settings(home: Home) -> SessionSettings:
    """Return what the user's configuration says of imports. Raises ImportRefused: it cannot be used."""
    loaded = load_config(home.path, None, trusted=False, env=os.environ, options={})
    if not loaded.is_usable:
        problem = next(problem for problem in loaded.problems if problem.fatal)
        raise ImportRefused("Nothing was imported.", str(problem), "workbench config validate says more.")
    return loaded.config.sessions


def leave_out(home: Home, entries: Iterable[str]) -> str:
    """Add agents, folders and patterns to `sessions.leave_out`; return the path. Raises ProviderRefused."""
    added = list(entries)

    def edit(text: str) -> str:
        present = as_array(_sessions_section(text).get("leave_out")) or []
        return _with_session_setting(
            text, "leave_out", [*present, *(entry for entry in added if entry not in present)]
        )

    return edit_user_file(home, edit).path


def set_watch(home: Home, *, is_on: bool) -> str:
    """Turn `sessions.watch` on or off; return the path of the file. Raises ProviderRefused."""
    return edit_user_file(home, lambda text: _with_session_setting(text, "watch", is_on)).path


def _sessions_section(text: str) -> JsonObject:
    if not text.strip():
        return {}
    try:
        root = as_object(parse_json_nodes(text).value) or {}
    except JsonError as error:
        raise _unreadable(error) from None
    return as_object(root.get("sessions")) or {}


def _with_session_setting(text: str, name: str, value: Json) -> str:
    try:
        return set_member(text if text.strip() else _NEW_FILE, ("sessions", name), value)
    except JsonError as error:
        raise _unreadable(error) from None


def _unreadable(error: JsonError) -> ProviderRefused:
    why = f"Line {error.line}, column {error.column}: {error.reason}."
    return ProviderRefused(NOT_CHANGED, why, "Fix the file, then do this again.")
