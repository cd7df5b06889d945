"""`workbench sessions list`: sessions of exactly this workspace, the last changed first."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from dataclasses import replace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import short
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import session_facts
from workbench.cli.render.rows import session_row, table
from workbench.cli.sessions.filters import add_filters, filters_of, found, require_status
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.decide import expire_due
from workbench.journal.journal import Journal

EXAMPLE = "workbench sessions list --status paused --json"


def configure(parser: ArgumentParser) -> None:
    """Add the filters."""
    parser.add_argument("--all", action="store_true", help="of every workspace")
    parser.add_argument("--json", action="store_true", help="print a JSON array")
    add_filters(parser)


def execute(options: Namespace, console: Console) -> int:
    """List sessions."""
    filters = filters_of(options)
    workspace = None if options.all else workspace_of(options.directory)
    with opened() as (_, journal):
        expire_due(journal)
        page = found(journal, replace(filters, limit=filters.limit + 1), workspace)
        has_more, page = len(page) > filters.limit, page[: filters.limit]
        asks = Counter(action.session_id for action in journal.actions(states=("pending",)))
        if not page:
            require_status(journal, filters)
        nothing, now = _nothing(journal, workspace) if not page else "", journal.now()
        keys = {session.id: short(journal, session.id) for session in page}
    if options.json:
        console.json([session_facts(session, asks[session.id]) for session in page])
        return DONE
    rows = [session_row(session, keys[session.id], asks[session.id], console.signs, now) for session in page]
    console.say(table(rows, nothing))
    if has_more and page:
        console.note("More match: --offset and --limit show them, --search and the filters narrow it.")
    return DONE


def _nothing(journal: Journal, workspace: str | None) -> str:
    """Return what stands where no row does."""
    if any(one.id != SYSTEM_SESSION for one in journal.sessions(workspace=workspace, limit=2)):
        return "Nothing matches."
    count = sum(one.id != SYSTEM_SESSION for one in journal.sessions())
    if not count:
        return "No session yet."
    others = "1 is elsewhere" if count == 1 else f"{count:,} are elsewhere"
    return f"No session of this workspace yet; {others}, --all shows them."
