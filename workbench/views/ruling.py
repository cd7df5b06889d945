"""What the dialog that makes a rule shows, and the table of a command's parts: rows without their judgement.

Plain data, filled by the screen. It decides nothing and knows no pattern.
"""

from typing import Literal

from workbench.records import dataclass
from workbench.views.signs import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """One simple command of a line."""

    text: str
    """Raw."""
    does: str
    sign: Meaning
    says: str
    """What rules say of it: `R7 allows it`, `asks, no rule`, `never by rule`."""
    is_risky: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandParts:
    """A command taken apart."""

    rows: tuple[PartRow, ...]
    notes: tuple[str, ...] = ()
    """What holds for the whole line, sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """A rule that is offered."""

    pattern: str
    covers: str
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosable:
    """A field of the dialog: its name, what can be chosen, what is."""

    name: str
    options: tuple[str, ...]
    chosen: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRow:
    """A recorded call that deserves a look."""

    sign: Meaning
    text: str
    when: int
    session_title: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a rule would have done with the calls that were asked about."""

    asks: int
    sessions: int
    since: int | None
    matched: int = 0
    approved: int = 0
    rejected: int = 0
    expired: int = 0
    look_at: tuple[PastRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDialog:
    """The whole dialog."""

    now: int
    about: str
    """The call, raw."""
    part_words: str
    """Which part of a line the rule is about; empty for a whole call."""
    candidates: tuple[CandidateRow, ...]
    cursor: int
    fields: tuple[Choosable, ...]
    field: int
    effect: Literal["allow", "ask", "deny"]
    past: Past | None
    """None while it is counted."""
    on_save: str
    """What enter does: `save, and approve this call`; empty when it does nothing."""
    why_off: str = ""
    notes: tuple[str, ...] = ()
