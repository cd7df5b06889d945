"""Take an applied change back, as a call of its own that the human's request allows.

The bytes come from the sealed before-images; files that were changed since refuse the undo by name.
"""

import asyncio

from workbench.changes.model import FileChange
from workbench.changes.undo import NotUndoable, undo_changes
from workbench.domain.events import CallProposed
from workbench.domain.values import UNDO_TOOL, PlanStep, Verdict
from workbench.host.desk import Desk
from workbench.host.dossier import Dossier, dossier
from workbench.host.proposal import sealed_plan


async def undo(desk: Desk, action_id: str, request_id: str) -> None:
    """Propose the undo of what an action wrote; the machine executes it like any allowed call."""
    action = desk.kit.journal.action(action_id)
    file = dossier(desk.kit.journal, action.call_id) if action and action.call_id else None
    verdict, changes = await asyncio.to_thread(_judged, desk, file, request_id)
    body = CallProposed(
        tool=UNDO_TOOL, verdict=verdict, parameters={"action": action_id},
        target=", ".join(change.path for change in changes), provider_call_id=f"undo-{action_id}",
        files=sealed_plan(desk, changes),
    )  # fmt: skip
    await desk.append(desk.event(body, call_id=desk.new_id()))


def _judged(desk: Desk, file: Dossier | None, request_id: str) -> tuple[Verdict, tuple[FileChange, ...]]:
    if file is None or not file.changed:
        return _verdict(request_id, "this action changed no file"), ()
    refs = {change.path: change.before_ref for change in file.changed}
    applied = [
        PlanStep(path=change.path, base=change.before, after=change.after, mode=change.mode)
        for change in file.changed
    ]

    def before(path: str) -> bytes | None:
        ref = refs[path]
        return desk.unseal(ref) if ref else None

    try:
        changes = undo_changes(desk.kit.root, applied, desk.kit.journal.blobs.keyed, before)
    except NotUndoable as error:
        return _verdict(request_id, str(error)), ()
    if not changes:
        return _verdict(request_id, "it is as it was before already"), ()
    return _verdict(request_id), changes


def _verdict(request_id: str, refusal: str = "") -> Verdict:
    outcome = "refused" if refusal else "allowed"
    return Verdict(outcome=outcome, step="request", by=request_id, reason=refusal)
