"""Everything the journal knows of one call, gathered from its own events.

Execution and recovery look here and nowhere else, so that both act on what is written. Pure but for one
read of the journal.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.domain.events import (
    ActionApproved,
    ActionOpened,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    FileChanged,
    HookRan,
    ProcessStarted,
)
from workbench.domain.rows import Call
from workbench.domain.values import FilePlan
from workbench.journal.journal import Journal


@dataclass(slots=True)
class Dossier:
    """One call from its proposal to its end; later events replace earlier ones of their kind."""

    row: Call
    proposed: CallProposed | None = None
    opened: ActionOpened | None = None
    action_id: str | None = None
    approved: ActionApproved | None = None
    executing: CallExecuting | None = None
    process: ProcessStarted | None = None
    finished: CallFinished | None = None
    changed: list[FileChanged] = field(default_factory=list[FileChanged])
    hooks: list[HookRan] = field(default_factory=list[HookRan])

    @property
    def files(self) -> tuple[FilePlan, ...]:
        """Return the plan that was shown, or that the gate let pass without asking."""
        if self.opened is not None:
            return self.opened.files
        return self.proposed.files if self.proposed else ()

    @property
    def digest(self) -> str:
        """Return the digest of what is executed."""
        if self.approved is not None:
            return self.approved.result_digest
        return self.opened.digest if self.opened else ""

    @property
    def is_whole(self) -> bool:
        """Return whether everything that was shown was approved, unchanged."""
        approved = self.approved
        return approved is None or (approved.selection is None and not approved.edited)


def dossier(journal: Journal, call_id: str) -> Dossier:
    """Gather what is written of a call.

    Raises:
        LookupError: there is no such call.
    """
    row = journal.call(call_id)
    if row is None:
        raise LookupError(f"there is no call {call_id}")
    return gathered(Dossier(row=row), journal.call_events(call_id))


def gathered(file: Dossier, events: Iterable[Event]) -> Dossier:
    """Put the events of one call into its dossier."""
    for event in events:
        _file(file, event)
    return file


def _file(file: Dossier, event: Event) -> None:
    match event.body:
        case CallProposed() as body:
            file.proposed = body
        case ActionOpened() as body:
            file.opened, file.action_id = body, event.action_id
        case ActionApproved() as body:
            file.approved = body
        case CallExecuting() as body:
            file.executing = body
        case ProcessStarted() as body:
            file.process = body
        case FileChanged() as body:
            file.changed.append(body)
        case HookRan() as body:
            file.hooks.append(body)
        case CallFinished() as body:
            file.finished = body
        case _:
            pass
