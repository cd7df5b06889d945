"""`workbench pipeline status`: one run with its steps as they stand."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.pipeline.facts import run_row, step_row
from workbench.cli.pipeline.lookup import run_named
from workbench.cli.pipeline.printing import run_object
from workbench.cli.place import opened, workspace_of
from workbench.host.steps.ledger import pending_below
from workbench.journal.decide import expire_due
from workbench.journal.lease import is_live

EXAMPLE = "workbench pipeline status nightly#41 --json"


def configure(parser: ArgumentParser) -> None:
    """Add the run."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="id, its beginning, or NAME#NUMBER (else: the newest)"
    )
    parser.add_argument("--json", action="store_true", help="print an object")


def execute(options: Namespace, console: Console) -> int:
    """Show a run."""
    with opened() as (home, journal):
        expire_due(journal)
        run = run_named(journal, workspace_of(options.directory), options.run)
        run = journal.pipeline_state(run.pipeline_id) or run
        waiting = pending_below(journal, run.pipeline_id)
        if options.json:
            console.json(run_object(journal, run, waiting))
            return DONE
        console.say(run_row(run, console.signs, journal.now()))
        for step in journal.step_states(run.pipeline_id):
            console.say(step_row(step, console.signs))
        if run.status == "running" and not is_live(home, journal.lease(run.pipeline_id)):
            console.say(f"  Its driver is gone: workbench pipeline resume {run.pipeline_id[:8]}")
        for action in waiting:
            console.say(f"  waits: workbench approvals show {action}")
    return DONE
