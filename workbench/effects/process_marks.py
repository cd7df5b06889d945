"""Variables that mark the processes of agents and of their calls."""

from typing import Final

CALL_VARIABLE: Final = "WORKBENCH_CALL"
"""Marks every process of a call, so that those which escape their group are found."""
AGENT_VARIABLE: Final = "WORKBENCH_AGENT"
"""Set in every process that a host starts for an agent; deciding commands refuse where they see it."""
