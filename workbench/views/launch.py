"""What a run of a pipeline would do before there is one: steps, what asks, what may be granted, what is odd.

Plain records for the launch form; whoever knows pipelines fills them. All texts are one safe line each.
"""

from dataclasses import replace

from workbench.domain.runs import StepKind
from workbench.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineChoice:
    """A pipeline that can be chosen."""

    name: str
    file: str
    """What it is asked for by: its whole path."""
    place: str = ""
    """Where it is, as seen from the workspace."""
    description: str = ""
    steps: int = 0
    is_broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """A step as it would run."""

    id: str
    wave: int
    """Steps of one wave need nothing of each other; from 1."""
    kind: StepKind
    who: str
    """`planner`, `command`, `gate`, `pipeline`."""
    does: str
    """The prompt, the command, the question: its first line."""
    asks: str
    """What a human is asked in it, or why nobody is."""
    is_asking: bool
    facts: str = ""
    """Items, attempts, contract, limits."""
    cannot: str = ""
    """Why it cannot run here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantable:
    """A pattern of calls that may be let pass in the run without asking."""

    pattern: str
    whose: str
    """The personas that may make such calls."""
    origin: str
    """Where it was written: `wave.yaml:41`."""
    is_taken: bool = False
    refused: str = ""
    """Why it can never be granted; empty if it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong with the pipeline or its manifest."""

    place: str
    """`nightly.yaml:12:5`."""
    message: str
    stops: bool
    """A run cannot begin with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """The dry run of one pipeline."""

    name: str
    file: str
    steps: tuple[PlannedStep, ...] = ()
    grants: tuple[Grantable, ...] = ()
    findings: tuple[Finding, ...] = ()
    input_hint: str = ""
    """What the pipeline says of its input."""
    why_not: str = ""
    """Why a run cannot begin; empty if it can."""

    @property
    def asking(self) -> int:
        """Return how many steps may ask a human."""
        return sum(step.is_asking for step in self.steps)

    @property
    def taken(self) -> tuple[str, ...]:
        """Return the patterns that are granted."""
        return tuple(one.pattern for one in self.grants if one.is_taken)

    def toggled(self, pattern: str) -> "LaunchPlan":
        """Return the plan with one grant taken or left; one that is refused stays left."""
        return replace(
            self,
            grants=tuple(
                replace(one, is_taken=not one.is_taken and not one.refused) if one.pattern == pattern else one
                for one in self.grants
            ),
        )

    def with_all(self) -> "LaunchPlan":
        """Return the plan with every grant taken that may be; with none if they were."""
        open_ones = [one for one in self.grants if not one.refused]
        is_taken = not all(one.is_taken for one in open_ones)
        return replace(
            self,
            grants=tuple(replace(one, is_taken=is_taken and not one.refused) for one in self.grants),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchWish:
    """What the user wants to have run."""

    file: str
    input: str = ""
    """`@FILE` reads it from a file of the workspace."""
    grants: tuple[str, ...] = ()
