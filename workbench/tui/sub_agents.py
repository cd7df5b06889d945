"""The agent that a call under the cursor has started, in whichever pane the call is."""

from typing import Final, Protocol

NO_AGENT: Final = "The call under the cursor has started no agent whose session is here."
NOT_SIDE_BY_SIDE: Final = "Agents are opened from a replay of one session: esc leaves this one."


class CallPane(Protocol):
    """A pane whose cursor is on calls."""

    is_compared: bool

    @property
    def agent_id(self) -> str:
        """Return the session that the call under the cursor has started; empty for none."""
        ...


def why_no_agent(pane: CallPane) -> str:
    """Return why no agent can be opened from the call under the cursor; empty where one can."""
    if pane.is_compared:
        return NOT_SIDE_BY_SIDE
    return "" if pane.agent_id else NO_AGENT
