"""The table of golden sessions: a name, the recording it is played from, and what the human does.

Owns nothing but the registry; importing a module of scenarios fills it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.golden.shop import FILES

SCENARIOS = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One golden session to be made."""

    name: str
    exchanges: list
    play: Callable
    files: dict = field(default_factory=dict)
    config: dict | None = None


def golden(name, exchanges, *, files=None, config=None):
    """Register a function as what the human of a golden session does."""

    def register(play):
        SCENARIOS[name] = Scenario(
            name=name, exchanges=exchanges, play=play, files={**FILES, **(files or {})}, config=config
        )
        return play

    return register
