"""The table of golden sessions: a name, the recordings it is played from, and what the human does.

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
    play: Callable
    exchanges: list = field(default_factory=list)
    """What the agent of a session says."""
    stage: type | None = None
    """What it is played on, if that is no session and no run."""
    steps: dict | None = None
    """Of a run of a pipeline instead: what the agent of each step says."""
    files: dict = field(default_factory=dict)
    config: dict | None = None


def golden(name, exchanges, *, files=None, config=None, stage=None):
    """Register a function as what the human of a golden session does."""
    return _registered(name, files, exchanges=exchanges, config=config, stage=stage)


def golden_run(name, steps, *, files=None, config=None):
    """Register a function as what the human of a golden run of a pipeline does."""
    return _registered(name, files, steps=steps, config=config)


def _registered(name, files, **more):
    def register(play):
        SCENARIOS[name] = Scenario(name=name, play=play, files={**FILES, **(files or {})}, **more)
        return play

    return register
