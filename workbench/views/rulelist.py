"""Rules as place 6 lists them: what each does, where, on whose word, how often it was used, until when.

Pure. It knows no pattern; whether a rule holds here is said by its scope alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from workbench.domain.rows import Rule
from workbench.records import dataclass
from workbench.text.human import spoken
from workbench.text.safe import one_line

RuleState = Literal["in force", "elsewhere", "expired", "revoked"]
_MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """One rule."""

    id: str
    effect: str
    tool: str
    pattern: str
    where: str
    """`this session`, `session fix flaky login`, `this workspace`, `everywhere`."""
    origin: str
    uses: int
    last_used: str
    """`2 minutes ago`; empty when it never was."""
    until: str
    """`no end`, `in 3 hours`, `expired`, `revoked`."""
    state: RuleState
    description: str
    facts: tuple[tuple[str, str], ...]
    """Name and text of everything else that is known; raw."""
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
    """Return the rules, those in force first, each group by number, the newest first.

    Args:
        rules: all there ever were.
        now: the moment, in microseconds.
        workspace: of the screen.
        session_id: the session on show.
        titles: of sessions, by id.
        wanted: words that a row has to hold.
        has_past: revoked and expired ones too.
        warnings: what is wrong with rules, by number.
    """
    found = [_row(rule, now, workspace, session_id, titles, warnings.get(rule.id, ())) for rule in rules]
    kept = [
        row
        for row in found
        if (has_past or row.state not in ("expired", "revoked")) and _matches(row, wanted)
    ]
    order = ("in force", "elsewhere", "expired", "revoked")
    kept.reverse()
    return tuple(sorted(kept, key=lambda row: order.index(row.state)))


def _matches(row: RuleRow, wanted: str) -> bool:
    text = " ".join((row.id, row.effect, row.tool, row.pattern, row.where, row.origin, row.description))
    return all(word in text.casefold() for word in wanted.casefold().split())


def _row(
    rule: Rule,
    now: int,
    workspace: str,
    session_id: str | None,
    titles: Mapping[str, str],
    warnings: Sequence[str],
) -> RuleRow:
    state = _state(rule, now, workspace, session_id)
    last = "" if rule.last_used_at is None else f"{spoken((now - rule.last_used_at) / _MICROS)} ago"
    made = f"{spoken((now - rule.created_at) / _MICROS)} ago"
    facts = [
        ("for", rule.description),
        ("tool", rule.tool),
        ("pattern", f"{rule.pattern}  ({'regular expression' if rule.pattern_kind == 'regex' else 'glob'})"),
        ("where", f"{rule.scope} {rule.scope_id or ''}".strip()),
        ("made", f"{made}, by {rule.origin}" + (f", from {rule.created_from}" if rule.created_from else "")),
        (
            "used",
            f"{rule.use_count} time{'' if rule.use_count == 1 else 's'}" + (f", last {last}" if last else ""),
        ),
        ("until", _until(rule, now)),
        *(("warning", text) for text in warnings),
    ]
    return RuleRow(
        id=rule.id, effect=rule.effect, tool=one_line(rule.tool, 40), pattern=one_line(rule.pattern, 400),
        where=_where(rule, workspace, session_id, titles), origin=rule.origin, uses=rule.use_count,
        last_used=last, until=_until(rule, now), state=state, description=one_line(rule.description, 200),
        facts=tuple(facts), has_warning=bool(warnings),
    )  # fmt: skip


def _state(rule: Rule, now: int, workspace: str, session_id: str | None) -> RuleState:
    if rule.revoked_at is not None:
        return "revoked"
    if rule.expires_at is not None and rule.expires_at <= now:
        return "expired"
    here = {"always": True, "workspace": rule.scope_id == workspace, "session": rule.scope_id == session_id}
    return "in force" if here.get(rule.scope, False) else "elsewhere"


def _until(rule: Rule, now: int) -> str:
    if rule.revoked_at is not None:
        return f"revoked {spoken((now - rule.revoked_at) / _MICROS)} ago"
    if rule.expires_at is None:
        return "the session ends" if rule.scope == "session" else "no end"
    return "expired" if rule.expires_at <= now else f"in {spoken((rule.expires_at - now) / _MICROS)}"


def _where(rule: Rule, workspace: str, session_id: str | None, titles: Mapping[str, str]) -> str:
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
