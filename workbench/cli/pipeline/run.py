"""`workbench pipeline run`: begin a run and drive it here, until it is over, parked or interrupted.

Owns the options and the course; driving and printing are beside it.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.cli.console import Console
from workbench.cli.errors import Misuse, Refusal
from workbench.cli.pipeline.driving import carried_out
from workbench.cli.pipeline.dryrun import tell_plan
from workbench.cli.place import opened, person, workspace_of
from workbench.cli.run.command import require_usable
from workbench.effects.files import FileRefused, read_bounded
from workbench.host import config_rules, trusting
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.settings import Settings
from workbench.host.steps.requests import RunRefused, Wish, find, request
from workbench.journal.decide import expire_due
from workbench.tools.registry import catalogue

EXAMPLE = """workbench pipeline run nightly --input "the login page"
workbench pipeline run nightly --dry-run
workbench pipeline run nightly --from-step tests --on-approval park --output-format stream-json"""

LARGEST_INPUT = 1_048_576


def configure(parser: ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", metavar="NAME", help="a pipeline of this project, or a file")
    parser.add_argument(
        "--input", default="", metavar="TEXT", help="what it works on; @FILE reads it from a file"
    )
    parser.add_argument(
        "--from-step", default="", metavar="STEP", help="take what comes before from the last run"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what it would do, ask and be granted; run nothing"
    )
    parser.add_argument("--manifest", metavar="M", help="the manifest (else: the nearest one upwards)")
    parser.add_argument("--recording", metavar="DIR", help="play DIR/STEP.json instead of asking providers")
    parser.add_argument(
        "--grant", action="append", default=[], metavar="PATTERN", help="let calls like this pass in this run"
    )
    parser.add_argument(
        "--grant-personas", action="store_true", help="grant what the personas may use, as --dry-run lists it"
    )
    parser.add_argument(
        "--detach", action="store_true", help="let this workspace's host drive it; print its id"
    )
    add_output(parser)


def add_output(parser: ArgumentParser) -> None:
    """Add how it is told and what happens when it asks."""
    parser.add_argument("--json", action="store_true", help="the same as --output-format json")
    parser.add_argument(
        "--output-format",
        choices=("human", "json", "stream-json"),
        help="text, an object, or an event a line",
    )
    parser.add_argument(
        "--on-approval", choices=("wait", "park", "deny"), default="wait", help="when it asks (else: wait)"
    )


def execute(options: Namespace, console: Console) -> int:
    """Run a pipeline and return the exit code."""
    workspace = workspace_of(options.directory)
    try:
        wish = _wish(options, workspace)
        if options.dry_run:
            return tell_plan(find(workspace, wish), wish, options, console)
        with opened() as (home, journal):
            refuse_inside_agents(journal, home, "no run was begun")
            expire_due(journal)
            loaded = Settings(home, workspace, {}).loaded(trusted=trusting.is_trusted(journal, workspace))
            require_usable(loaded, console)
            config_rules.sync(journal, loaded, catalogue().descriptors())
            run_id = request(journal, workspace, wish, person())
            return carried_out(home, journal, workspace, run_id, options, console)
    except RunRefused as error:
        for problem in error.problems[1:]:
            console.note(str(problem))
        raise


def _wish(options: Namespace, workspace: str) -> Wish:
    recordings = ""
    if options.recording is not None:
        recordings = str(Path(options.recording).expanduser().resolve())
        if not Path(recordings).is_dir():
            raise Misuse(
                "no run was begun", f"{options.recording} is no folder", "name one with STEP.json files"
            )
    wish = Wish(
        name=options.name, input=_input(options.input), manifest=options.manifest,
        grants=tuple(options.grant), from_step=options.from_step, recordings=recordings,
    )  # fmt: skip
    if options.grant_personas:
        from workbench.cli.pipeline.dryrun import grants_of

        found = find(workspace, wish)
        granted = (*wish.grants, *grants_of(found))
        return Wish(
            name=wish.name, input=wish.input, manifest=wish.manifest, grants=tuple(dict.fromkeys(granted)),
            from_step=wish.from_step, recordings=wish.recordings,
        )  # fmt: skip
    return wish


def _input(given: str) -> str:
    if not given.startswith("@"):
        return given
    try:
        data = read_bounded(Path(given[1:]), LARGEST_INPUT)
    except FileRefused as error:
        raise Refusal("no run was begun", f"{given[1:]}: {error.why}", "name another file") from None
    if data is None:
        raise Refusal("no run was begun", f"{given[1:]} is not there", "name another file behind the @")
    return data.decode("utf-8", "replace")
