"""`workbench approvals approve`: yes to exactly what is shown, to some of its hunks, or to other bytes.

Owns the options that say what is taken. The bytes of a selection or an edit are sealed before the decision
names them; nothing is written to the workspace here.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.changes.answer import action_hunks, decision
from workbench.cli.approvals.deciding import NotAnswered, answer_all, ready
from workbench.cli.approvals.present import moved_now
from workbench.cli.approvals.selecting import of_file, taken_of
from workbench.cli.console import Console
from workbench.cli.errors import FAILED, Misuse, Refusal
from workbench.cli.lookup import ID_HELP, proposal_of
from workbench.cli.place import opened
from workbench.cli.render.rows import target_of
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action
from workbench.domain.values import Decision, Taken
from workbench.effects.files import FileRefused, read_bounded
from workbench.journal.journal import Journal

EXAMPLE = """workbench approvals approve 3f2a
workbench approvals approve 3f2a --hunks 1,3 --reason "2 breaks plugins"
workbench approvals approve 3f2a --hunks 1:2-4"""


def configure(parser: ArgumentParser) -> None:
    """Add the ids and what is taken of them."""
    parser.add_argument("ids", nargs="+", metavar="ID", help=ID_HELP)
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--hunks", metavar="1,3", help="these hunks only; 1:2-4 is lines 2 to 4 of 1")
    part.add_argument("--file", metavar="PATH", help="take the hunks of this file only")
    part.add_argument("--edited", metavar="FILE", help="write what FILE holds instead of what was proposed")
    parser.add_argument("--reason", metavar="T", help="what the agent is told with it")


def execute(options: Namespace, console: Console) -> int:
    """Approve the named actions."""
    if len(options.ids) > 1 and (options.hunks or options.file or options.edited):
        raise Misuse("nothing was approved", "a part belongs to one action", "name one ID")
    selection = taken_of(options.hunks) if options.hunks is not None else None
    with opened() as (home, journal):
        ready(home, journal, "approve")

        def make(action: Action) -> Decision:
            require_unmoved(journal, action)
            return approval(journal, action, selection, options.file, options.edited, options.reason)

        return answer_all(home, journal, console, options.ids, make, "approved")


def require_unmoved(journal: Journal, action: Action) -> None:
    """Refuse to approve what could not be carried out: nobody may have been there to notice that it is stale.

    Raises:
        NotAnswered: Names the files that changed.
    """
    paths = () if action.stale_paths else moved_now(journal, action)
    if paths:
        why = f"changed since it was proposed: {', '.join(paths)}"
        remedy = f"workbench approvals refresh {action.id} makes the new diff"
        raise NotAnswered(f"not approved: {action.verb} {target_of(action)}", why, remedy, FAILED)


def approval(
    journal: Journal,
    action: Action,
    selection: Sequence[Taken] | None = None,
    path: str | None = None,
    edited: str | None = None,
    reason: str | None = None,
) -> Decision:
    """Return the decision that approves an action or a part of it.

    Raises:
        Refusal: The part names something that the action does not have.
    """
    proposal = proposal_of(journal, action)
    if path is not None:
        selection = of_file(action_hunks(proposal, journal.blobs), path)
    edits = _edits(proposal, edited) if edited is not None else None
    try:
        return decision(
            proposal,
            action.id,
            "approve",
            blobs=journal.blobs,
            selection=selection,
            edited=edits,
            reason=reason,
        )
    except ValueError as error:
        remedy = f"workbench approvals show {action.id} numbers the hunks"
        raise Refusal("nothing was approved", str(error), remedy) from None


def _edits(proposal: ActionOpened, source: str) -> Mapping[str, bytes]:
    if len(proposal.files) != 1:
        raise Misuse(
            "nothing was approved",
            f"--edited is for an action that changes one file, this one changes {len(proposal.files)}",
            "approve or reject it as it is",
        )
    return {proposal.files[0].path: _bytes_of(source)}


def _bytes_of(source: str) -> bytes:
    try:
        data = read_bounded(Path(source))
    except FileRefused as error:
        raise Refusal(f"“{source}” was not read", error.why, error.remedy) from None
    if data is None:
        raise Refusal(f"“{source}” was not read", "there is no such file", "check the path")
    return data
