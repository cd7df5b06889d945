"""Rules as rows of their place, and the model of the dialog that makes a rule."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from workbench.domain.rows import Rule
from workbench.text.human import spoken_duration
from workbench.text.safe import one_line
from workbench.views.status_icons import StatusName

RuleState = Literal["in force", "elsewhere", "expired", "revoked"]
_MICROS = 1_000_000


class RuleRow(Struct, frozen=True, kw_only=True):
    """One rule."""

    id: str
    effect: str
    tool: str
    pattern: str
    where: str
    origin: str
    uses: int
    last_used: str
    until: str
    state: RuleState
    description: str
    facts: tuple[tuple[str, str], ...]
    has_warning: bool = False


def rule_rows(
    rules: Iterable[Rule],
    now: int,
    *,
    workspace: str,
    session_id: str | None,
    titles: Mapping[str, str],
    wanted: str = "",
    has_past: bool = False,
    warnings: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[RuleRow, ...]:
    """Return the rules that hold every wanted word: those in force first, in each group the newest first.

    `titles` are those of sessions by id; `has_past` adds revoked and expired ones; `warnings` go by number.
    """
    rows = [_rule_row(rule, now, workspace, session_id, titles, warnings.get(rule.id, ())) for rule in rules]
    kept = [
        row
        for row in rows
        if (has_past or row.state not in ("expired", "revoked")) and _matches_words(row, wanted)
    ]
    order = ("in force", "elsewhere", "expired", "revoked")
    kept.reverse()
    return tuple(sorted(kept, key=lambda row: order.index(row.state)))


def _matches_words(row: RuleRow, wanted: str) -> bool:
    text = " ".join((row.id, row.effect, row.tool, row.pattern, row.where, row.origin, row.description))
    return all(word in text.casefold() for word in wanted.casefold().split())


def _rule_row(
    rule: Rule,
    now: int,
    workspace: str,
    session_id: str | None,
    titles: Mapping[str, str],
    warnings: Sequence[str],
) -> RuleRow:
    state = _rule_state(rule, now, workspace, session_id)
    last = "" if rule.last_used_at is None else f"{spoken_duration((now - rule.last_used_at) / _MICROS)} ago"
    created = f"{spoken_duration((now - rule.created_at) / _MICROS)} ago"
    facts = [
        ("for", rule.description),
        ("tool", rule.tool),
        ("pattern", f"{rule.pattern}  ({'regular expression' if rule.pattern_kind == 'regex' else 'glob'})"),
        ("where", f"{rule.scope} {rule.scope_id or ''}".strip()),
        (
            "made",
            f"{created}, by {rule.origin}" + (f", from {rule.created_from}" if rule.created_from else ""),
        ),
        (
            "used",
            f"{rule.use_count} time{'' if rule.use_count == 1 else 's'}" + (f", last {last}" if last else ""),
        ),
        ("until", _until_text(rule, now)),
        *(("warning", text) for text in warnings),
    ]
    return RuleRow(
        id=rule.id, effect=rule.effect, tool=one_line(rule.tool, 40), pattern=one_line(rule.pattern, 400),
        where=_scope_text(rule, workspace, session_id, titles), origin=rule.origin, uses=rule.use_count,
        last_used=last, until=_until_text(rule, now), state=state,
        description=one_line(rule.description, 200),
        facts=tuple(facts), has_warning=bool(warnings),
    )  # fmt: skip


def _rule_state(rule: Rule, now: int, workspace: str, session_id: str | None) -> RuleState:
    if rule.revoked_at is not None:
        return "revoked"
    if rule.expires_at is not None and rule.expires_at <= now:
        return "expired"
    here = {"always": True, "workspace": rule.scope_id == workspace, "session": rule.scope_id == session_id}
    return "in force" if here.get(rule.scope, False) else "elsewhere"


def _until_text(rule: Rule, now: int) -> str:
    if rule.revoked_at is not None:
        return f"revoked {spoken_duration((now - rule.revoked_at) / _MICROS)} ago"
    if rule.expires_at is None:
        return "the session ends" if rule.scope == "session" else "no end"
    return "expired" if rule.expires_at <= now else f"in {spoken_duration((rule.expires_at - now) / _MICROS)}"


def _scope_text(rule: Rule, workspace: str, session_id: str | None, titles: Mapping[str, str]) -> str:
    match rule.scope:
        case "always":
            return "everywhere"
        case "workspace":
            folder = (rule.scope_id or "").rpartition("/")[2]
            return "this workspace" if rule.scope_id == workspace else f"workspace {one_line(folder, 40)}"
        case "session":
            title = titles.get(rule.scope_id or "", "")
            return "this session" if rule.scope_id == session_id else f"session {one_line(title, 40)}".strip()
        case "run":
            return "one pipeline run"


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
