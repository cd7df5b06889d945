"""`workbench hold` and `workbench release`: have every call of every agent ask, and end that."""

from argparse import ArgumentParser, Namespace

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.context import user_actor
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, iso_time
from workbench.cli.rows import clock_time
from workbench.journal.agent_hold import hold_agents, release_agents
from workbench.journal.journal import Journal
from workbench.text.safe import one_line

HOLD_EXAMPLE = """workbench hold
workbench hold --json"""
RELEASE_EXAMPLE = """workbench release
workbench release --json"""
_HELD_LINES = (
    "Every call of every agent asks until workbench release, whatever rules, modes and trust allow.",
    "What runs keeps running: workbench sessions stop ID stops an agent.",
)


def configure_hold(parser: ArgumentParser) -> None:
    add_json_option(parser)


def configure_release(parser: ArgumentParser) -> None:
    add_json_option(parser)


def execute_hold(options: Namespace, console: Console) -> int:
    with open_journal(human_only="hold all agents") as journal:
        is_new = hold_agents(journal, user_actor())
        facts = hold_json(journal) | {"changed": is_new}
        first = "Held." if is_new else hold_line(journal)
    return console.result(facts, [first, *_HELD_LINES], is_json=options.json)


def execute_release(options: Namespace, console: Console) -> int:
    with open_journal(human_only="release all agents") as journal:
        is_changed = release_agents(journal, user_actor())
        facts = hold_json(journal) | {"changed": is_changed}
    line = "Released: rules, modes and trust count again." if is_changed else "Agents are not held."
    return console.result(facts, [line], is_json=options.json)


def hold_json(journal: Journal) -> JsonFields:
    """Return whether all agents are held, since when and by whom, as JSON."""
    row = journal.agent_hold()
    is_held = row is not None and row.is_in_force
    return {
        "held": is_held,
        "held_at": iso_time(row.held_at) if row is not None and is_held else None,
        "by": one_line(row.held_by, 80) if row is not None and is_held else None,
    }


def hold_line(journal: Journal) -> str:
    """Return in words that all agents are held; empty where they are not."""
    row = journal.agent_hold()
    if row is None or not row.is_in_force:
        return ""
    since = clock_time(row.held_at, journal.now())
    return f"All agents are held since {since} by {one_line(row.held_by, 80)}; workbench release ends that."
