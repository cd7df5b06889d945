"""The command line of a hook."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from workbench.bridge.agents import HookedAgent, HookEvent

Otherwise = Literal["ask", "deny"]
"""Without a background process: leave the question to the agent's own prompt, or deny."""
CLIENT: Final = Path(__file__).with_name("hook_client.py")
"""The program that a hook runs."""


class HookSetup(Struct, frozen=True, kw_only=True):
    """What the hooks of one agent have in common."""

    python: str
    """Absolute path of the interpreter."""
    data: str
    """Absolute path of the data folder."""
    start: Sequence[str]
    """Command line that starts the background process of the folder that comes after it; absolute."""
    otherwise: Otherwise = "ask"
    seconds: int = 0
    """The timeout of a hook that waits for a human; 0 if it waits for ever."""


SHORT_SECONDS: Final = 30
"""The timeout of a hook that does not wait for a human."""
LAST_SECONDS: Final = 3
"""The timeout of a hook after which an agent ends: the most that Codex 0.171 gives it."""


def hook_seconds(event: HookEvent, setup: HookSetup) -> int:
    """Return the timeout of an event's hook in seconds."""
    if event.waits:
        return setup.seconds
    return LAST_SECONDS if event.means in ("ended", "interrupted") else SHORT_SECONDS


def hook_arguments(agent: HookedAgent, event: HookEvent, setup: HookSetup) -> list[str]:
    """Return the words of the command line of an event's hook."""
    otherwise = setup.otherwise if event.waits else "leave"
    is_starting = event.means in ("ask", "started", "done", "failed")
    seconds = str(hook_seconds(event, setup))
    words = [setup.python, "-I", "-S", str(CLIENT), agent.id, event.name, setup.data, otherwise, seconds]
    return [*words, *setup.start] if is_starting else words
