"""The settings of imports (`sessions` in the user's config.json): read, and changed a member at a time.

Only the user's own file counts: no folder decides what is imported from elsewhere.
"""

import json
import os
from collections.abc import Iterable
from typing import Final

from workbench.config.keys import CONFIG_VERSION
from workbench.config.layers import load_config
from workbench.config.provider_edit import NOT_CHANGED, ProviderRefused
from workbench.config.session_settings import SessionSettings
from workbench.domain.values import Json, JsonObject, Refused
from workbench.formats.records import as_array, as_object
from workbench.host.provider_config import edit_user_file
from workbench.journal.home import Home
from workbench.text.json_edit import set_member
from workbench.text.json_nodes import JsonError, parse_json_nodes

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
    more = list(entries)

    def edit(text: str) -> str:
        known = as_array(_written(text).get("leave_out")) or []
        return _with(text, "leave_out", [*known, *(entry for entry in more if entry not in known)])

    return edit_user_file(home, edit).path


def set_watch(home: Home, *, is_on: bool) -> str:
    """Turn `sessions.watch` on or off; return the path of the file. Raises ProviderRefused."""
    return edit_user_file(home, lambda text: _with(text, "watch", is_on)).path


def _written(text: str) -> JsonObject:
    if not text.strip():
        return {}
    try:
        root = as_object(parse_json_nodes(text).value) or {}
    except JsonError as error:
        raise _unreadable(error) from None
    return as_object(root.get("sessions")) or {}


def _with(text: str, name: str, value: Json) -> str:
    try:
        return set_member(text if text.strip() else _NEW_FILE, ("sessions", name), value)
    except JsonError as error:
        raise _unreadable(error) from None


def _unreadable(error: JsonError) -> ProviderRefused:
    why = f"Line {error.line}, column {error.column}: {error.reason}."
    return ProviderRefused(NOT_CHANGED, why, "Fix the file, then do this again.")
