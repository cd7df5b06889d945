"""`workbench approvals watch`: the queue in words with answers by line, or as JSON lines for a program.

Owns the two loops. On a terminal it is line mode; otherwise it reads nothing. Both end with 130.
"""

import json
import os
import queue as queues
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from workbench.cli import queue
from workbench.cli.approvals.deciding import ready, wake
from workbench.cli.approvals.linemode import LineMode
from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import action_facts, moment
from workbench.cli.typed import read_lines
from workbench.config.layers import load
from workbench.domain.events import Event
from workbench.domain.rows import Action
from workbench.domain.values import Json
from workbench.journal.decide import expire_due
from workbench.journal.home import Home
from workbench.journal.journal import Journal

EXAMPLE = """workbench approvals watch
workbench approvals watch --json | jq -r .action.target"""

TICK_SECONDS = 1.0

CHANGES = {
    "action.opened": "opened",
    "action.became_stale": "stale",
    "action.superseded": "superseded",
    "action.approved": "approved",
    "action.rejected": "rejected",
    "action.expired": "expired",
    "action.cancelled": "cancelled",
}
"""Kinds of events and what a line calls them."""

_Message = tuple[str, str | None]


def configure(parser: ArgumentParser) -> None:
    """Add what narrows it and how it prints."""
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    parser.add_argument("--json", action="store_true", help="print a JSON object a line and read nothing")


def execute(options: Namespace, console: Console) -> int:
    """Follow the queue until interrupted."""
    workspace = workspace_of(options.directory) if options.here or options.directory else None
    with opened() as (home, journal):
        if options.json or not (console.is_terminal and sys.stdin.isatty()):
            _print_changes(journal, console, workspace)
        ready(home, journal, "watch and answer")
        _converse(home, journal, console, workspace)
    return DONE


# --- for programs ---------------------------------------------------------------------------------


def _print_changes(journal: Journal, console: Console, workspace: str | None) -> None:
    cursor = journal.last_position()
    for action in queue.waiting(journal, workspace):
        console.json_line(change_line("opened", action.created_at, action))
    while True:
        expire_due(journal)
        for event in journal.events(after=cursor, limit=1_000):
            cursor = event.position
            action = _changed(journal, event, workspace)
            if action is not None:
                console.json_line(change_line(CHANGES[event.kind], event.at, action))
        journal.wait(cursor, TICK_SECONDS)


def _changed(journal: Journal, event: Event, workspace: str | None) -> Action | None:
    if event.kind not in CHANGES or event.action_id is None:
        return None
    action = journal.action(event.action_id)
    if action is None or (workspace is not None and queue.workspace_of_action(journal, action) != workspace):
        return None
    return action


def change_line(change: str, at: int, action: Action) -> str:
    """Return one change as a line of JSON."""
    line: dict[str, Json] = {"change": change, "at": moment(at), "action": action_facts(action)}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


# --- for people -----------------------------------------------------------------------------------


def _converse(home: Home, journal: Journal, console: Console, workspace: str | None) -> None:
    config = load(home.path, None, trusted=False, env=os.environ, options={}).config
    mode = LineMode(
        journal,
        console,
        lambda action: wake(home, journal, console, [action.session_id]),
        workspace,
        require_seen=config.approvals.require_seen,
    )
    if not mode.look():
        console.say("Nothing waits. What comes is said here; ? for help, ctrl+c to leave.")
    with _messages(journal) as messages:
        for kind, line in messages:
            if kind == "line" and (line is None or not mode.answer(line)):
                return
            mode.look()


@contextmanager
def _messages(journal: Journal) -> Generator[Iterator[_Message], None, None]:
    """Yield what happens: a line typed, a ring of the journal, or a second that passed."""
    inbox: queues.SimpleQueue[_Message] = queues.SimpleQueue()
    silence = journal.on_ring(lambda: inbox.put(("ring", None)))
    read_lines(sys.stdin.fileno(), lambda line: inbox.put(("line", line)))
    try:
        yield _drained(inbox)
    finally:
        silence()


def _drained(inbox: "queues.SimpleQueue[_Message]") -> Iterator[_Message]:
    while True:
        try:
            yield inbox.get(timeout=TICK_SECONDS)
        except queues.Empty:
            yield "tick", None
