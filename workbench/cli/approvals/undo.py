"""`workbench approvals undo`: have a host take an applied change back, and say what came of it.

Owns the wait for the host's answer; the checks are the host's.
"""

import time
from argparse import ArgumentParser, Namespace

from workbench.cli.approvals.deciding import NotAnswered, each, ready, wake
from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED
from workbench.cli.lookup import ID_HELP, action_named, short
from workbench.cli.place import opened, person
from workbench.cli.render.rows import target_of
from workbench.domain.events import CallProposed
from workbench.domain.machines import SETTLED_CALLS
from workbench.domain.rows import Action, Call
from workbench.host.sessions import undo
from workbench.journal.journal import Journal

EXAMPLE = "workbench approvals undo 3f2a"

PATIENCE = 20.0
"""Seconds that a host may take, its start included."""


def configure(parser: ArgumentParser) -> None:
    """Add the ids."""
    parser.add_argument("ids", nargs="+", metavar="ID", help=ID_HELP)


def execute(options: Namespace, console: Console) -> int:
    """Have the named changes taken back, one after another."""
    with opened() as (home, journal):
        ready(home, journal, "undo")

        def one(given: str) -> int:
            action = action_named(journal, given)
            require_applied(journal, action)
            start = journal.last_position()
            request = undo(journal, action.id, person())
            wake(home, journal, console, [action.session_id])
            require_undone(journal, action, request, start)
            key = short(journal, action.id, "action")
            console.say(f"Undone: {action.verb} {target_of(action)} ({key})")
            return DONE

        return each(options.ids, console, one)


def require_undone(journal: Journal, action: Action, request: str, start: int) -> None:
    """Wait for the host and refuse what it did not undo."""
    what = f"not undone: {action.verb} {target_of(action)}"
    until = time.monotonic() + PATIENCE
    while (left := until - time.monotonic()) > 0:
        cursor = journal.last_position()
        call = _undo_call(journal, action.session_id, request, start)
        if call is not None and call.state == "succeeded":
            return
        if call is not None and call.state in SETTLED_CALLS:
            why = call.error or call.detail or call.state
            raise NotAnswered(what, why, "mend the files by hand, or undo the later change first", FAILED)
        journal.wait(cursor, min(left, 1.0))
    why = f"no host has answered for {PATIENCE:.0f} s"
    raise NotAnswered(what, why, "it is asked for all the same; see workbench host status", FAILED)


def _undo_call(journal: Journal, session_id: str, request: str, start: int) -> Call | None:
    """Return the call that a host made of a request; its verdict names the request."""
    for event in journal.events(session_id, after=start):
        if isinstance(event.body, CallProposed) and event.body.verdict.by == request:
            return journal.call(event.call_id or "")
    return None


def require_applied(journal: Journal, action: Action) -> None:
    """Refuse what wrote nothing."""
    call = journal.call(action.call_id) if action.call_id else None
    what = f"not undone: {action.verb} {target_of(action)}"
    if not action.files:
        raise NotAnswered(what, "it changed no file", "undo is for edits and new files", FAILED)
    if call is None or call.state != "succeeded":
        state = call.state if call else action.state
        why, remedy = f"it was not applied, it is {state}", f"workbench approvals show {action.id} shows it"
        raise NotAnswered(what, why, remedy, FAILED)
