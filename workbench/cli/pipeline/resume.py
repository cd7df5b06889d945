"""`workbench pipeline resume`: go on with what is not completed; what was cut off is named first."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.pipeline.driving import carried_out
from workbench.cli.pipeline.lookup import run_named
from workbench.cli.pipeline.run import add_output
from workbench.cli.place import opened, person, workspace_of
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.steps.begin import interrupted_commands
from workbench.host.steps.requests import resume
from workbench.journal.decide import expire_due
from workbench.journal.lease import is_live
from workbench.pipelines.state import fold

EXAMPLE = """workbench pipeline resume nightly#41
workbench pipeline resume 3f2a9c1d --from-step tests"""


def configure(parser: ArgumentParser) -> None:
    """Add the run and the step."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="id, its beginning, or NAME#NUMBER (else: the newest)"
    )
    parser.add_argument(
        "--from-step", default="", metavar="STEP", help="also this step and what depends on it again"
    )
    add_output(parser)


def execute(options: Namespace, console: Console) -> int:
    """Resume a run and return the exit code."""
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "nothing was resumed")
        expire_due(journal)
        run = run_named(journal, workspace_of(options.directory), options.run)
        session = journal.session(run.pipeline_id)
        workspace = session.workspace if session else workspace_of(options.directory)
        if not is_live(home, journal.lease(run.pipeline_id)):
            for step in interrupted_commands(fold(journal.events(run.pipeline_id))):
                console.note(f"{step} was running when its driver ended; it is run again from its start.")
        resume(journal, run.pipeline_id, person(), options.from_step)
        return carried_out(home, journal, workspace, run.pipeline_id, options, console)
