"""The command line of a hook, and the plugin that stands for it where an agent has no hooks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

Otherwise = Literal["ask", "deny"]
"""Without the background process: leave the question to the agent's own prompt, or deny."""
CLIENT: Final = Path(__file__).with_name("hook_client.py")
"""The program that a hook runs."""


def hook_arguments(
    agent: str, event: str, *, python: str, data: str, otherwise: Otherwise, seconds: int,
    start: Sequence[str],
) -> list[str]:  # fmt: skip
    """Return the words of a hook's command line.

    Args:
        agent: Id of the agent.
        event: Name of its event.
        python: Absolute path of the interpreter.
        data: Absolute path of the data folder.
        otherwise: What it does without the background process.
        seconds: The hook's own timeout; 0 if it waits for ever.
        start: The command line that starts the background process of the folder that comes after it.
    """
    return [python, "-I", "-S", str(CLIENT), agent, event, data, otherwise, str(seconds), *start]
