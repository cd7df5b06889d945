"""Refuse to begin a turn while its driver has not read the newest change of the queued prompts."""

from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.domain.events import PromptsReordered, PromptSubmitted, PromptWithdrawn
from workbench.journal.errors import GuardFailed
from workbench.journal.leases import LeaseGuard

if TYPE_CHECKING:
    from workbench.journal.transaction import TransactionTables


class PromptQueueGuard(Struct, frozen=True, kw_only=True):
    """Holds while a lease is held and no queued prompt was edited, taken back or moved since a position."""

    lease: LeaseGuard
    cursor: int
    """The position up to which the driver has read the session."""

    @property
    def is_validating(self) -> bool:
        return self.lease.is_validating

    def check(self, live: "TransactionTables") -> None:
        """Raise `LeaseLost` or `GuardFailed` unless both hold."""
        self.lease.check(live)
        for event in live.events_after(self.lease.session_id, self.cursor):
            body = event.body
            is_edit = isinstance(body, PromptSubmitted) and bool(body.replaces_id)
            if is_edit or isinstance(body, PromptWithdrawn | PromptsReordered):
                raise GuardFailed("the turn did not start", "its prompts have changed", "read them again")
