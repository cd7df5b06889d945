"""The variables that mark the processes of agents; who only asks for a mark needs to know no more.

Owns their names. It reads and sets nothing.
"""

from typing import Final

CALL: Final = "WORKBENCH_CALL"
"""Marks every process of a call, so that those which escape their group are found."""

AGENT_VARIABLE: Final = "WORKBENCH_AGENT"
"""Set in every process that a host starts for an agent; deciding commands refuse where they see it."""
