"""A run whose session another process drives: it asks by events, and shows what comes of it."""

import signal
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from types import FrameType
from typing import Literal

from workbench.agents.reducer import apply_event
from workbench.agents.state import TurnState
from workbench.cli.context import is_driven, user_actor
from workbench.cli.headless_run import STOP_SIGNALS
from workbench.cli.run_output import EventConsumer, RunEnding
from workbench.domain.rows import Action
from workbench.domain.values import NOBODY_ASKED, Decision
from workbench.host import session_requests
from workbench.journal.decisions import decide_action, expire_due_actions
from workbench.journal.journal import Journal

ApprovalMode = Literal["wait", "park", "deny"]
FollowEnding = RunEnding | Literal["undriven"]
"""How the following of a session ended: `undriven` where no process drives it any more."""


class Interruption:
    """What ctrl+c asked for, and of which turn it was asked already."""

    def __init__(self, journal: Journal, session_id: str) -> None:
        self._journal, self._session_id = journal, session_id
        self._asked: str | None = None
        self.is_wanted = False

    def hear(self) -> bool:
        """Take a signal; False when it is not the first."""
        if self.is_wanted:
            return False
        self.is_wanted = True
        # Also without a turn: reading the event back is what makes the driver look again.
        session_requests.interrupt_session(self._journal, self._session_id, user_actor())
        return True

    def pass_on(self, open_turn: str | None) -> bool:
        """Ask the open turn to stop, once; True when there is none and all is over."""
        if open_turn is None:
            return True
        if open_turn != self._asked:
            self._asked = open_turn
            session_requests.interrupt_session(self._journal, self._session_id, user_actor())
        return False


FOLLOW_TICK_SECONDS = 0.5
MOST_UNDRIVEN_TICKS = 6
"""Ticks that a session may stay undriven before its driver counts as gone."""


def deny_questions(consumer: EventConsumer) -> None:
    """Reject what waits in the session of a run: nobody can be asked."""
    waiting = consumer.journal.actions(consumer.session_id, states=("pending",))
    consumer.tally.refused += deny_actions(consumer.journal, waiting)


def deny_actions(journal: Journal, actions: Iterable[Action]) -> int:
    """Reject questions in a run without anyone to ask; return how many were open."""
    rejections = (
        (action, Decision(action_id=action.id, verdict="reject", reason=NOBODY_ASKED)) for action in actions
    )
    return sum(decide_action(journal, said, action.digest, user_actor()).ok for action, said in rejections)


class SessionFollower:
    """One followed session."""

    def __init__(self, journal: Journal, consumer: EventConsumer, on_approval: ApprovalMode) -> None:
        self._journal, self._consumer, self._on_approval = journal, consumer, on_approval
        self._interruption = Interruption(journal, consumer.session_id)
        self._state, self._cursor, self._undriven = TurnState(), 0, 0

    def follow(self) -> FollowEnding:
        """Follow until it is over or not driven, and say how; ctrl+c and its like stop the agent first."""
        with stop_signals_as_ctrl_c():
            return self._follow()

    def _follow(self) -> FollowEnding:
        while True:
            try:
                ending = self._look()
                if ending is not None:
                    return ending
                self._consumer.wait(FOLLOW_TICK_SECONDS)
            except KeyboardInterrupt:
                if not self._interruption.hear():
                    return "interrupted"

    def _look(self) -> FollowEnding | None:
        expire_due_actions(self._journal)
        self._catch_up()
        self._consumer.require_listener()
        if self._is_idle() or self._is_looping():
            return "interrupted" if self._interruption.is_wanted else "finished"
        if self._interruption.is_wanted:
            self._interruption.pass_on(self._state.turn.id if self._state.turn else None)
            return None
        waiting = self._journal.actions(self._consumer.session_id, states=("pending",))
        if waiting and self._on_approval == "deny":
            deny_questions(self._consumer)
        if waiting and self._on_approval == "park" and self._is_resting():
            return "parked"
        return "undriven" if self._is_undriven() else None

    def _catch_up(self) -> None:
        events = self._journal.events(self._consumer.session_id, after=self._cursor)
        for event in events:
            self._state = apply_event(self._state, event)
            self._cursor = event.position
        self._consumer.see(events)

    def _is_idle(self) -> bool:
        state = self._state
        return state.turn is None and not state.queued_prompts and not state.wants_turn

    def _is_looping(self) -> bool:
        return self._state.is_held and self._state.pause == "loop" and not self._interruption.is_wanted

    def _is_resting(self) -> bool:
        calls = self._journal.calls(self._consumer.session_id, states=("pending", "approved", "executing"))
        return all(call.state == "pending" and call.proposed for call in calls)

    def _is_undriven(self) -> bool:
        is_waiting = bool(self._journal.actions(self._consumer.session_id, states=("pending",)))
        if is_waiting or is_driven(self._journal, self._consumer.session_id):
            self._undriven = 0
            return False
        self._undriven += 1
        return self._undriven > MOST_UNDRIVEN_TICKS


@contextmanager
def stop_signals_as_ctrl_c() -> Generator[None, None, None]:
    """Let every signal that stops a run arrive as KeyboardInterrupt; ignored ones stay ignored."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, interrupt)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
