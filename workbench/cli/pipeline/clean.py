"""`workbench pipeline clean`: remove the workspaces of runs that are over; they stay until then.

Owns which are removed. The journal of a run and its artifacts stay.
"""

import contextlib
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.pipeline.lookup import run_named
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import Facts
from workbench.domain.machines import ENDED_RUNS
from workbench.domain.rows import PipelineState
from workbench.effects.git import GitFailed, run_git
from workbench.effects.trees import files_below, remove_tree
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.lease import is_live
from workbench.pipelines.state import fold
from workbench.text.human import size
from workbench.views.pipeline import run_title

EXAMPLE = """workbench pipeline clean --dry-run
workbench pipeline clean nightly#41"""


def configure(parser: ArgumentParser) -> None:
    """Add what is cleaned."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="one run (else: all of this workspace that are completed)"
    )
    parser.add_argument("--failed", action="store_true", help="also runs that failed or were cancelled")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """Clean workspaces."""
    with opened() as (home, journal):
        workspace = workspace_of(options.directory)
        runs = (
            [run_named(journal, workspace, options.run)]
            if options.run
            else journal.pipeline_states(workspace)
        )
        found = [_cleaned(home, journal, run, options) for run in runs]
    cleaned = [one for one in found if one is not None]
    if options.json:
        console.json(cleaned)
        return DONE
    for one in cleaned:
        word = "would remove" if options.dry_run else "removed"
        console.say(f"{word} {one['folder']}  {one['files']} files, {size(int(one['bytes']))}  {one['run']}")
    if not cleaned:
        console.say("Nothing to clean.")
    return DONE


def _cleaned(home: Home, journal: Journal, run: PipelineState, options: Namespace) -> Facts | None:
    is_wanted = run.status == "completed" or ((options.failed or options.run) and run.status in ENDED_RUNS)
    if not is_wanted or is_live(home, journal.lease(run.pipeline_id)):
        return None
    started = fold(journal.events(run.pipeline_id)).started
    folder = Path(started.workspace_root) if started and started.workspace_root else None
    if folder is None or folder.name != run.pipeline_id or not folder.is_dir():
        return None
    names = files_below(str(folder))
    total = sum((folder / name).lstat().st_size for name in names)
    if not options.dry_run:
        session = journal.session(run.pipeline_id)
        remove_tree(str(folder))
        if session is not None:
            # Worktrees lay in there; git forgets those that are gone.
            with contextlib.suppress(GitFailed):
                run_git(session.workspace, "worktree", "prune", environment=os.environ, seconds=30.0)
    return {
        "run": run_title(run), "run_id": run.pipeline_id, "folder": str(folder), "files": len(names),
        "bytes": total, "removed": not options.dry_run,
    }  # fmt: skip
