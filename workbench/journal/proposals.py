"""What was shown when an action was opened, as it was recorded."""

from typing import Any, cast

from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action
from workbench.domain.values import Hunk, Refused
from workbench.journal.journal import Journal


class ProposalMissing(Refused):
    """The journal does not hold the proposal of an action any more."""


def proposal_of(journal: Journal, action: Action) -> ActionOpened:
    """Return what was shown when an action was opened."""
    for event in journal.events(after=action.opened_at - 1, limit=1):
        if isinstance(event.body, ActionOpened) and event.action_id == action.id:
            return event.body
    raise ProposalMissing(
        f"action {action.id} cannot be shown",
        "its proposal is not in the journal any more",
        "run workbench doctor",
    )


def recorded_hunks(journal: Journal, opened: ActionOpened) -> tuple[Hunk, ...]:
    """Return the hunks as they were recorded, secrets scrubbed; for what was decided and for counts."""
    if opened.hunks_ref is None:
        return opened.hunks
    data = journal.blobs.read(opened.hunks_ref)
    return _hunks_from_json(data) if data is not None else ()


def _hunks_from_json(data: bytes) -> tuple[Hunk, ...]:
    from workbench.text import canonical

    rows = cast("list[dict[str, Any]]", canonical.loads(data))
    return tuple(_hunk_from_json(row) for row in rows)


def _hunk_from_json(row: dict[str, Any]) -> Hunk:
    lines = tuple((str(sign), str(text)) for sign, text in row.pop("lines"))
    return Hunk(**row, lines=lines)
