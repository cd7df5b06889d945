"""`workbench pipeline cancel`: end a run; what runs is ended, what waits is withdrawn."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.pipeline.facts import run_facts
from workbench.cli.pipeline.lookup import run_named
from workbench.cli.place import opened, person, workspace_of
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.ensure import ensure_host
from workbench.host.steps.requests import cancel
from workbench.journal.lease import is_live
from workbench.views.pipeline import run_title

EXAMPLE = 'workbench pipeline cancel nightly#41 --reason "wrong branch"'
PATIENCE = 30.0
"""Seconds that the command waits for the run to end."""


def configure(parser: ArgumentParser) -> None:
    """Add the run and the reason."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="id, its beginning, or NAME#NUMBER (else: the newest)"
    )
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the record")
    parser.add_argument("--json", action="store_true", help="print an object")


def execute(options: Namespace, console: Console) -> int:
    """Cancel a run."""
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "nothing was cancelled")
        run = run_named(journal, workspace_of(options.directory), options.run)
        cancel(journal, run.pipeline_id, person(), options.reason)
        session = journal.session(run.pipeline_id)
        if session is not None and not is_live(home, journal.lease(run.pipeline_id)):
            ensure_host(home, journal, session.workspace)
        until, row = journal.clock.monotonic() + PATIENCE, run
        while row.status not in ("cancelled", "failed", "completed") and journal.clock.monotonic() < until:
            journal.wait(journal.last_position(), 0.5)
            row = journal.pipeline_state(run.pipeline_id) or row
    if options.json:
        console.json(run_facts(row))
    else:
        said = "cancelled" if row.status == "cancelled" else f"{row.status}; it was asked to end"
        console.say(f"{run_title(row)}: {said}")
    return DONE
