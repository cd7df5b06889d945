"""Agents of this machine as rows of the screen, and a change of their settings that is asked about."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from workbench.views.status_icons import StatusName


class ConnectionAnswers(Struct, frozen=True, kw_only=True):
    """What a user chose for a connection."""

    scope: str = ""
    """Which calls come here; empty: the first scope of the agent."""
    is_project: bool = False
    """In the settings of the folder, not in the user's own."""
    otherwise: Literal["ask", "deny"] = "ask"
    """Without a background process: the agent's own prompt asks, or the call is denied."""


class AgentRow(Struct, frozen=True, kw_only=True):
    """An agent whose calls can come here."""

    id: str
    name: str
    sign: StatusName
    state: str
    """In a few words: connected, not connected, and whether something is wrong."""
    details: tuple[str, ...] = ()
    """Sentences about it: files, problems, obstacles."""
    is_connected: bool = False
    scopes: Mapping[str, str] = {}
    """What each scope of it means in its present mode."""
    answers: ConnectionAnswers = ConnectionAnswers()
    """Those of its connection; the defaults where it is not connected."""


class ConnectionChange(Struct, frozen=True, kw_only=True):
    """A change of an agent's settings, as it is shown before it is written."""

    number: int
    """By which the backend knows it."""
    agent: str
    title: str
    path: str
    lines: tuple[str, ...]
    """A unified diff, or lines that the user has to put in."""
    answers: ConnectionAnswers = ConnectionAnswers()
    also: str = ""
    """What else is done when it is written, in a sentence."""
    is_removal: bool = False
    why_not: str = ""
    """Why it is only shown; empty where it can be written."""


def connectable_names(rows: Sequence[AgentRow]) -> tuple[str, ...]:
    """Return the names of the agents on this machine while none of them is connected."""
    return () if any(row.is_connected for row in rows) else tuple(row.name for row in rows)


def agents_text(rows: Sequence[AgentRow]) -> str:
    """Return agents and whether they are connected, in one line."""
    return ", ".join(f"{row.name} ({row.state})" for row in rows)
