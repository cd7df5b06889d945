"""How long a turn has worked: time in which agent, tool or program moves, not time it waits for a human.

Pure. Owns when the clock of a turn runs. It must never count the time in which nobody drove the session.
"""

from workbench.agents.state import Turn, TurnState
from workbench.domain.events import Event, LeaseTaken
from workbench.records import replace


def clocked(before: TurnState, after: TurnState, event: Event) -> TurnState:
    """Return the state after an event with the clock of its turn started, stopped or left alone."""
    turn = after.turn
    if turn is None:
        return after
    since = turn.working_since
    runs = is_working(after)
    if runs == (since is not None) and not isinstance(event.body, LeaseTaken):
        return after
    # A driver that took over says nothing of when the one before it died, so that time does not count.
    counted = since is not None and before.turn is not None and not isinstance(event.body, LeaseTaken)
    worked = turn.worked + max(0, event.at - since) if counted and since is not None else turn.worked
    return replace(after, turn=replace(turn, worked=worked, working_since=event.at if runs else None))


def is_working(state: TurnState) -> bool:
    """Return whether anything moves: false while all that is left waits for a human, or in a pause."""
    turn = state.turn
    if turn is None or state.is_held or state.pause is not None:
        return False
    if turn.phase == "calling":
        return True
    open_calls = [call for call in state.calls if not call.is_settled]
    if any(call.state == "executing" or call.verdict is None for call in open_calls):
        return True
    return not open_calls or open_calls[0].state == "approved"


def worked(turn: Turn, now: int) -> int:
    """Return the microseconds that a turn has worked by a moment."""
    running = max(0, now - turn.working_since) if turn.working_since is not None else 0
    return turn.worked + running
