"""`workbench approvals show`: one action as it is to be judged, or as it was decided.

Owns the choice of source: what waits is shown from its exact sealed bytes, what was decided from the record,
where secrets are scrubbed.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.changes.answer import action_hunks, exact_parameters, images
from workbench.changes.model import FileChange
from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import ID_HELP, action_named, proposal_of, recorded_hunks
from workbench.cli.place import opened
from workbench.cli.queue import asked
from workbench.cli.render.details import detail_facts, detail_lines
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action
from workbench.domain.values import Hunk, Json
from workbench.journal.decide import expire_due
from workbench.journal.journal import Journal

EXAMPLE = "workbench approvals show 3f2a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is shown of an action's proposal."""

    opened: ActionOpened
    parameters: Mapping[str, Json]
    hunks: tuple[Hunk, ...]
    changes: tuple[FileChange, ...] = ()
    """Exact bytes; none of what was decided."""


def configure(parser: ArgumentParser) -> None:
    """Add the id."""
    parser.add_argument("id", metavar="ID", help=ID_HELP)
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Show an action."""
    with opened() as (_, journal):
        expire_due(journal)
        action = action_named(journal, options.id)
        found = shown(journal, action)
        if options.json:
            call = journal.call(action.call_id) if action.call_id else None
            console.json(detail_facts(action, found.opened, found.parameters, found.hunks, call))
            return DONE
        console.say("\n".join(lines(journal, action, console, found)))
    return DONE


def shown(journal: Journal, action: Action) -> Shown:
    """Return what there is to show of an action.

    Raises:
        ImagesGone: It waits, but its sealed bytes are missing.
    """
    opened_body = proposal_of(journal, action)
    if action.state != "pending":
        return Shown(
            opened=opened_body, parameters=opened_body.parameters, hunks=recorded_hunks(journal, opened_body)
        )
    blobs = journal.blobs
    return Shown(
        opened=opened_body,
        parameters=exact_parameters(opened_body.parameters, opened_body.parameters_ref, blobs),
        hunks=action_hunks(opened_body, blobs),
        changes=images(opened_body.files, blobs),
    )


def lines(
    journal: Journal, action: Action, console: Console, found: Shown, *, is_whole: bool = False
) -> list[str]:
    """Return the lines that show an action to a person; `is_whole` cuts no text of it."""
    row = asked(journal, action)
    return detail_lines(
        row, found.opened, found.parameters, found.hunks, found.changes, console.signs, journal.now(),
        is_whole=is_whole,
    )  # fmt: skip
