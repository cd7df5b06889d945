"""The turn machine: the one door to what a session's events mean and what is due after them.

Owns nothing but the pairing of `apply` and `todo`. Playing a session's events through it tells where
to go on, so a driver that takes over does what one that never stopped would do.
"""

from collections.abc import Iterable
from functools import reduce

from workbench.agents.applying import apply
from workbench.agents.due import TurnLimits, todo
from workbench.agents.effects import Effect
from workbench.agents.state import TurnState
from workbench.domain.events import Event

__all__ = ["TurnLimits", "TurnState", "apply", "fold", "step", "todo"]


def step(state: TurnState, event: Event, limits: TurnLimits) -> tuple[TurnState, tuple[Effect, ...]]:
    """Return the state after an event and everything that is due in it."""
    after = apply(state, event)
    return after, todo(after, limits)


def fold(events: Iterable[Event], state: TurnState | None = None) -> TurnState:
    """Return the state after events, starting from nothing or from an earlier state."""
    return reduce(apply, events, state or TurnState())
