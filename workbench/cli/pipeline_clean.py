"""`workbench pipeline clean`: remove the folders and branches of runs that have ended."""

import contextlib
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.journal_access import open_journal
from workbench.cli.pipeline_output import find_run
from workbench.cli.row_json import JsonFields
from workbench.domain.machines import ENDED_RUN_STATES
from workbench.domain.rows import PipelineState, run_title
from workbench.effects.files import workspace_path
from workbench.effects.folders import files_below, remove_tree
from workbench.effects.git import GitFailed, run_git
from workbench.journal.journal import Journal
from workbench.journal.leases import is_lease_live
from workbench.pipelines.state import fold_run
from workbench.pipelines.workspaces import noted_branches
from workbench.text.human import size_text
from workbench.text.safe import one_line

CLEAN_EXAMPLE = """workbench pipeline clean --dry-run
workbench pipeline clean nightly#41"""


def configure_clean(parser: ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="one run (default: all of this workspace that are completed)"
    )
    parser.add_argument("--failed", action="store_true", help="also runs that failed or were cancelled")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    add_json_option(parser, "print a JSON array")


def execute_clean(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        workspace = workspace_path(options.directory)
        runs = (
            [find_run(journal, workspace, options.run)] if options.run else journal.pipeline_states(workspace)
        )
        cleaned = [row for run in runs if (row := _clean_run(journal, run, options)) is not None]
    word = "would remove" if options.dry_run else "removed"
    lines = [
        f"{word} {row['folder']}  {row['files']} files, {size_text(int(row['bytes']))}  {row['run']}"
        for row in cleaned
    ]
    for row in cleaned:
        lines += [f"{word} the branch {one_line(name, 80)}" for name in row["branches"]]
        lines += [
            f"kept the branch {one_line(name, 80)}: its commits are nowhere else, or it is in use"
            for name in row["branches_kept"]
        ]
    return console.result(list(cleaned), lines or ["Nothing to clean."], is_json=options.json)


def _clean_run(journal: Journal, run: PipelineState, options: Namespace) -> JsonFields | None:
    is_wanted = run.status == "completed" or (
        (options.failed or options.run) and run.status in ENDED_RUN_STATES
    )
    if not is_wanted or is_lease_live(journal.home, journal.lease(run.pipeline_id)):
        return None
    started = fold_run(journal.events(run.pipeline_id)).started
    folder = Path(started.workspace_root) if started and started.workspace_root else None
    if folder is None or folder.name != run.pipeline_id or not folder.is_dir():
        return None
    names = files_below(str(folder))
    total = sum((folder / name).lstat().st_size for name in names)
    branches, session = noted_branches(str(folder)), journal.session(run.pipeline_id)
    kept: list[str] = []
    if not options.dry_run:
        remove_tree(str(folder))
        kept = _remove_branches(session.workspace, branches) if session is not None else branches
    return {
        "run": run_title(run), "run_id": run.pipeline_id, "folder": str(folder), "files": len(names),
        "bytes": total, "removed": not options.dry_run,
        "branches": [branch for branch in branches if branch not in kept], "branches_kept": kept,
    }  # fmt: skip


def _remove_branches(workspace: str, branches: list[str]) -> list[str]:
    """Remove branches whose worktrees are gone; return those that are kept for their own commits."""
    # Worktrees lay in there; git forgets those that are gone.
    with contextlib.suppress(GitFailed):
        run_git(workspace, "worktree", "prune", environment=os.environ, seconds=30.0)
    kept: list[str] = []
    for branch in branches:
        try:
            if not _has_own_commits(workspace, branch):
                words = ("branch", "--delete", "--force", "--", branch)
                run_git(workspace, *words, environment=os.environ, seconds=30.0)
                continue
        except GitFailed:
            pass  # it is checked out somewhere, or gone already
        kept.append(branch)
    return kept


def _has_own_commits(workspace: str, branch: str) -> bool:
    """Return whether a branch has a commit that no other branch, tag or HEAD has. Raises GitFailed."""
    own = (f"refs/heads/{branch}", "--not", "HEAD", f"--exclude=refs/heads/{branch}", "--all")
    words = ("rev-list", "--max-count=1", *own)
    return bool(run_git(workspace, *words, environment=os.environ, seconds=30.0).strip())
