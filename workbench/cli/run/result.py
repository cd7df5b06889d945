"""What came of a run: folded from the events it saw and the rows as they stand, with the exit code.

Pure. Owns the JSON object of `run --output-format json` and the exit codes of DESIGN section 8.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from workbench.cli.errors import DONE, FAILED, INTERRUPTED, PARKED, UNANSWERED
from workbench.cli.render.facts import Facts, action_facts, moment, usage_facts
from workbench.cli.render.rows import call_target
from workbench.domain.events import CallProposed, ErrorRaised, Event, FileChanged, ReplyCompleted, TurnEnded
from workbench.domain.rows import Action, Call, Session

Ending = Literal["finished", "parked", "interrupted"]


@dataclass(slots=True)
class Tally:
    """What a run has seen so far."""

    reply: str = ""
    outcome: str | None = None
    """Of the newest turn that ended."""
    detail: str = ""
    error: Facts | None = None
    """What went wrong last in the turn that ended with an error."""
    denied: list[str] = field(default_factory=list[str])
    """Calls that were denied because nobody could be asked."""
    refused: int = 0
    """Questions that this run answered with no."""
    files: list[Facts] = field(default_factory=list[Facts])

    def see(self, events: Iterable[Event]) -> None:
        """Take events in."""
        for event in events:
            match event.body:
                case ReplyCompleted() as body:
                    self.reply = body.text
                case ErrorRaised() as body:
                    self.error = {"code": body.code, "message": body.message, "remedy": body.remedy}
                case TurnEnded() as body:
                    self.outcome, self.detail = body.outcome, body.detail
                    self.error = self.error if body.outcome == "error" else None
                case CallProposed() as body if (
                    body.verdict.outcome == "denied" and body.verdict.step == "ask"
                ):
                    self.denied.append(event.call_id or "")
                case FileChanged() as body:
                    self.files.append(_file_facts(body))
                case _:
                    pass


def exit_code(tally: Tally, ending: Ending) -> int:
    """Return the exit code of a run."""
    if ending == "interrupted":
        return INTERRUPTED
    if ending == "parked":
        return PARKED
    if tally.denied or tally.refused or tally.outcome == "unattended":
        return UNANSWERED
    return DONE if tally.outcome in (None, "done") else FAILED


def result_facts(
    session: Session, tally: Tally, actions: Sequence[Action], denied: Sequence[Call], code: int
) -> Facts:
    """Return what came of a run as JSON.

    Args:
        session: As it stands at the end.
        tally: What was seen.
        actions: Those of this run.
        denied: Calls that were denied because nobody could be asked; they are listed without an action id.
        code: The exit code.
    """
    return {
        "session_id": session.id,
        "status": session.status,
        "reason": session.reason,
        "reply": tally.reply,
        "usage": usage_facts(session),
        "actions": [*map(action_facts, actions), *map(_denied_facts, denied)],
        "files": tally.files,
        "error": tally.error,
        "exit": code,
    }


def of_this_run(actions: Iterable[Action], calls: Iterable[Call], start: int, since: int) -> list[Action]:
    """Return the actions that were opened, decided or carried out in a run, or that still wait.

    Args:
        actions: Of the session.
        calls: Of the session.
        start: Position at which the run began.
        since: Time at which it began.
    """
    ended = {call.action_id for call in calls if (call.finished_at or 0) >= since}
    return [
        action
        for action in actions
        if action.opened_at > start
        or action.state == "pending"
        or (action.decided_at or 0) >= since
        or action.id in ended
    ]


def _denied_facts(call: Call) -> Facts:
    return {
        "id": None,
        "session_id": call.session_id,
        "call_id": call.id,
        "kind": "tool",
        "tool": call.tool,
        "target": call_target(call),
        "added": 0,
        "removed": 0,
        "digest": None,
        "created_at": moment(call.requested_at),
        "expires_at": None,
        "state": "denied",
        "supersedes": None,
        "warnings": [],
    }


def _file_facts(body: FileChanged) -> Facts:
    return {"path": body.path, "change": body.change, "added": body.added, "removed": body.removed}
