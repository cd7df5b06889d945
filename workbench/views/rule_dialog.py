"""The model of the dialog that makes a rule: candidates, fields, and the past decisions that it covers."""

from typing import Literal

from msgspec import Struct

from workbench.views.status_icons import StatusName


class RuleCandidateRow(Struct, frozen=True, kw_only=True):
    """A rule that is offered."""

    pattern: str
    covers: str
    refused: str = ""


class DialogField(Struct, frozen=True, kw_only=True):
    """A field of the dialog: its name, what can be chosen, what is."""

    name: str
    options: tuple[str, ...]
    chosen: int = 0


class BacktestRow(Struct, frozen=True, kw_only=True):
    """A recorded call that deserves a look."""

    sign: StatusName
    text: str
    when: int
    session_title: str
    why: str = ""


class Backtest(Struct, frozen=True, kw_only=True):
    """What a rule would have done with the calls that were asked about."""

    asks: int
    sessions: int
    since: int | None
    matched: int = 0
    approved: int = 0
    rejected: int = 0
    expired: int = 0
    look_at: tuple[BacktestRow, ...] = ()


class RuleDialogModel(Struct, frozen=True, kw_only=True):
    """The whole dialog."""

    now: int
    about: str
    part_words: str
    """Which part of a line the rule is about; empty for a whole call."""
    candidates: tuple[RuleCandidateRow, ...]
    cursor: int
    fields: tuple[DialogField, ...]
    field: int
    effect: Literal["allow", "ask", "deny"]
    past: Backtest | None
    on_save: str
    """What enter does: `save, and approve this call`; empty when it does nothing."""
    why_off: str = ""
    notes: tuple[str, ...] = ()
