"""Writes the user's decisions to the journal: sealed, named by digest, in one transaction, in a thread.

It never chooses a decision and never retries one.
"""

import os
from collections.abc import Mapping
from typing import Protocol

from workbench.changes.decision import SealedBytesMissing, seal_decision, sealed_changes
from workbench.changes.diff import FileChange, make_hunks
from workbench.domain.events import ActionOpened
from workbench.domain.values import Actor, Hunk
from workbench.journal.errors import JournalError
from workbench.journal.journal import Journal
from workbench.text import human
from workbench.tui.pane import DecisionMade, DecisionReported


def deciding_user() -> Actor:
    """Return who answers here."""
    return Actor(kind="user", pid=os.getpid(), via="screen")


class DecisionHandler(Protocol):
    """What a screen does with decisions: `DecisionWriter` records them, a replay does nothing with them."""

    def decide(self, message: DecisionMade, opened: ActionOpened | None) -> DecisionReported:
        """Decide an action."""
        ...

    def extend(self, action_id: str) -> DecisionReported:
        """Give an action a new window."""
        ...

    def expire(self) -> None:
        """Expire what is due."""
        ...

    def proposed(self, opened: ActionOpened) -> FileChange | None:
        """Return the one file change of a proposal that can be edited."""
        ...

    def edited_hunks(self, opened: ActionOpened, edited: Mapping[str, bytes]) -> tuple[Hunk, ...]:
        """Return the hunks of what the user made of a proposal."""
        ...

    def awaits(self, workspace: str) -> bool:
        """Return whether a host has something to do in a workspace."""
        ...


class DecisionWriter:
    """Appends the user's answers; every method may wait for the disk."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    @staticmethod
    def prepare() -> None:
        """Load what answers take, so that the first one finds it; takes a while, in any thread."""
        from workbench.journal import decisions, write_queue
        from workbench.secrets import scrubber

        del decisions, write_queue, scrubber

    def decide(self, message: DecisionMade, opened: ActionOpened | None) -> DecisionReported:
        from workbench.journal.decisions import decide_action

        decision = message.decision
        if opened is None:
            return self._not(decision.action_id, decision.verdict, "Not decided. It no longer exists.")
        try:
            sealed = seal_decision(opened, decision, self._journal.blobs, message.edited)
            result = decide_action(self._journal, sealed, message.digest, deciding_user())
        except (JournalError, SealedBytesMissing, ValueError) as error:
            return self._not(decision.action_id, decision.verdict, f"Not decided. {error_sentence(error)}")
        return DecisionReported(decision.action_id, decision.verdict, result)

    def extend(self, action_id: str) -> DecisionReported:
        from workbench.journal.decisions import extend_action

        try:
            return DecisionReported(
                action_id, "extend", extend_action(self._journal, action_id, deciding_user())
            )
        except JournalError as error:
            return self._not(action_id, "extend", f"Not extended. {error_sentence(error)}")

    def expire(self) -> None:
        from workbench.journal.decisions import expire_due_actions

        expire_due_actions(self._journal)

    def _not(self, action_id: str, verdict: str, why: str) -> DecisionReported:
        return DecisionReported(action_id, verdict, None, why)

    def proposed(self, opened: ActionOpened) -> FileChange | None:
        """Return the one file change of a proposal that can be edited; None if it has none or several.

        Raises:
            ImagesGone: its bytes are not there any more.
        """
        changes = sealed_changes(opened.files, self._journal.blobs)
        return changes[0] if len(changes) == 1 and changes[0].after is not None else None

    def edited_hunks(self, opened: ActionOpened, edited: Mapping[str, bytes]) -> tuple[Hunk, ...]:
        changes = sealed_changes(opened.files, self._journal.blobs)
        return make_hunks(
            [
                FileChange(
                    path=change.path,
                    before=change.before,
                    after=edited.get(change.path, change.after),
                    mode=change.mode,
                )
                for change in changes
            ]
        )

    def awaits(self, workspace: str) -> bool:
        return bool(self._journal.awaiting(workspace))


def error_sentence(error: Exception) -> str:
    """Return an error as a sentence: why and what to do, where it says so."""
    parts = [getattr(error, name, "") for name in ("why", "remedy")]
    words = ". ".join(str(part).strip(". ") for part in parts if part)
    return human.sentence(words or str(error))
