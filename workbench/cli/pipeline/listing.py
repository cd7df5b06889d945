"""`workbench pipeline list`: the pipelines of this workspace, and its runs with `--runs`."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.pipeline.facts import run_facts, run_row
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import Facts
from workbench.pipelines.load import Found, find_manifest, pipelines_of, project_of

EXAMPLE = """workbench pipeline list
workbench pipeline list --runs --json"""


def configure(parser: ArgumentParser) -> None:
    """Add what is listed and how."""
    parser.add_argument("--runs", action="store_true", help="list runs instead, the newest first")
    parser.add_argument("--all", action="store_true", help="runs of every workspace")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most N runs (else: 50)")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """List pipelines or runs."""
    workspace = workspace_of(options.directory)
    return _runs(workspace, options, console) if options.runs else _files(workspace, options, console)


def _files(workspace: str, options: Namespace, console: Console) -> int:
    manifest = find_manifest(workspace)
    root = project_of(manifest) if manifest else workspace
    found = pipelines_of(root)
    if options.json:
        console.json([_facts(one) for one in found])
    elif not found:
        console.say("No pipeline yet. One is a file in .wave/pipelines or .workbench/pipelines.")
    else:
        width = max(len(one.name) for one in found)
        for one in found:
            what = "cannot be used; see workbench pipeline validate" if one.is_broken else one.description
            console.say(f"{one.name.ljust(width)}  {one.steps:>3} steps  {what or one.file}")
    return DONE


def _facts(one: Found) -> Facts:
    return {
        "name": one.name, "file": one.file, "description": one.description, "steps": one.steps,
        "ok": not one.is_broken,
    }  # fmt: skip


def _runs(workspace: str, options: Namespace, console: Console) -> int:
    with opened() as (_, journal):
        found = journal.pipeline_states(None if options.all else workspace, max(0, options.limit))
        now = journal.now()
    if options.json:
        console.json([run_facts(run) for run in found])
    elif not found:
        console.say("No run yet. workbench pipeline run NAME begins one.")
    else:
        for run in found:
            console.say(run_row(run, console.signs, now))
    return DONE
