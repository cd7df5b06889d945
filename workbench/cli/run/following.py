"""Follow a session that a host drives: the same output and the same ends, without driving.

Owns when a followed run is over, by the same fold that the host acts on. What it wants it asks for by events.
"""

from workbench.agents.state import TurnState
from workbench.agents.turn import apply
from workbench.cli.approvals.deciding import is_driven
from workbench.cli.errors import Refusal
from workbench.cli.place import person
from workbench.cli.run.driving import Interruption, OnApproval
from workbench.cli.run.result import Ending
from workbench.cli.run.witness import Witness
from workbench.domain.rows import Action
from workbench.domain.values import Decision
from workbench.journal.decide import decide, expire_due
from workbench.journal.home import Home
from workbench.journal.journal import Journal

TICK_SECONDS = 0.5
PATIENCE = 6
"""Ticks that a session may stay undriven before its driver counts as gone."""

NOBODY = "nobody could be asked (--on-approval deny)"


class Follower:
    """One followed session."""

    def __init__(self, home: Home, journal: Journal, witness: Witness, on_approval: OnApproval) -> None:
        self._home, self._journal, self._witness, self._on_approval = home, journal, witness, on_approval
        self._interruption = Interruption(journal, witness.session_id)
        self._state, self._cursor, self._undriven = TurnState(), 0, 0

    def follow(self) -> Ending:
        """Follow until it is over and say how.

        Raises:
            Refusal: Its driver went away.
        """
        while True:
            try:
                ending = self._look()
                if ending is not None:
                    return ending
                self._witness.wait(TICK_SECONDS)
            except KeyboardInterrupt:
                if not self._interruption.hear():
                    return "interrupted"

    def _look(self) -> Ending | None:
        expire_due(self._journal)
        self._catch_up()
        self._witness.require_listener()
        if self._is_idle():
            return "interrupted" if self._interruption.is_wanted else "finished"
        if self._interruption.is_wanted:
            self._interruption.pass_on(self._state.turn.id if self._state.turn else None)
            return None
        waiting = self._journal.actions(self._witness.session_id, states=("pending",))
        if waiting and self._on_approval == "deny":
            self._deny(waiting)
        if waiting and self._on_approval == "park" and self._is_resting():
            return "parked"
        self._require_driver()
        return None

    def _catch_up(self) -> None:
        events = self._journal.events(self._witness.session_id, after=self._cursor)
        for event in events:
            self._state = apply(self._state, event)
            self._cursor = event.position
        self._witness.see(events)

    def _is_idle(self) -> bool:
        state = self._state
        return state.turn is None and not state.waiting and not state.wants_turn

    def _is_resting(self) -> bool:
        calls = self._journal.calls(self._witness.session_id, states=("pending", "approved", "executing"))
        return all(call.state == "pending" and call.proposed for call in calls)

    def _deny(self, waiting: list[Action]) -> None:
        for action in waiting:
            no = Decision(action_id=action.id, verdict="reject", reason=NOBODY)
            self._witness.tally.refused += decide(self._journal, no, action.digest, person()).ok

    def _require_driver(self) -> None:
        """Raise when nobody drives the session for a while although it has something to do."""
        is_waiting = bool(self._journal.actions(self._witness.session_id, states=("pending",)))
        if is_waiting or is_driven(self._home, self._journal, self._witness.session_id):
            self._undriven = 0
            return
        self._undriven += 1
        if self._undriven > PATIENCE:
            key = self._witness.session_id
            raise Refusal(
                f"session {key[:8]} was not followed to its end",
                "the process that drove it is gone",
                f"workbench run --session {key} lets it go on",
            )


def follow(home: Home, journal: Journal, witness: Witness, on_approval: OnApproval) -> Ending:
    """Follow the session that a witness looks at, and say how that ended."""
    return Follower(home, journal, witness, on_approval).follow()
