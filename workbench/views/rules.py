"""Rules as rows of their place."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, get_args

from msgspec import Struct

from workbench.domain.rows import Rule
from workbench.domain.tools import permission_name
from workbench.domain.values import Place, RuleEffect
from workbench.text.human import DAY_MICROS, SECOND_MICROS, counted, spoken_duration, spoken_time_left
from workbench.text.safe import one_line

RuleState = Literal["in force", "elsewhere", "ended", "expired", "revoked"]
PAST_STATES: Final = frozenset({"ended", "expired", "revoked"})
"""Of rules that allow and deny nothing any more; one whose session or run has ended is among them."""


class RuleRow(Struct, frozen=True, kw_only=True):
    """One rule."""

    id: str
    effect: RuleEffect
    tool: str
    pattern: str
    where: str
    holds: str
    """Where it holds and until when, and who made it if that was not the user: `this workspace, 2 h left`."""
    origin: str
    uses: int
    last_used: str
    until: str
    state: RuleState
    description: str
    facts: tuple[tuple[str, str], ...]
    has_warning: bool = False
    place: Place | None = None
    """Where the commands run that it allows; None of a rule that allows none."""


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
    senses: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({}),
    ended: Collection[str] = frozenset(),
    open_turn: str | None = None,
    commands: Collection[str] = frozenset(),
) -> tuple[RuleRow, ...]:
    """Return the rules that hold every wanted word: those in force first, in each group the newest first.

    `titles` are those of sessions by id; `has_past` adds those that hold no more; `warnings` go by number, as
    do `senses`: how denials are understood. `ended` are ids of sessions, turns and runs that have ended;
    `open_turn` is the turn of the session. `commands` are the numbers of rules that allow commands.
    """
    rows = [
        _rule_row(
            rule, _rule_state(rule, now, ended, _scope_ids(workspace, session_id, open_turn)), now,
            _scope_text(rule, workspace, session_id, titles), warnings.get(rule.id, ()),
            senses.get(rule.id, ()), (rule.place or "inside") if rule.id in commands else None,
        )
        for rule in rules
    ]  # fmt: skip
    visible = [
        row for row in rows if (has_past or row.state not in PAST_STATES) and _matches_words(row, wanted)
    ]
    order = get_args(RuleState)
    visible.reverse()
    return tuple(sorted(visible, key=lambda row: order.index(row.state)))


def _matches_words(row: RuleRow, wanted: str) -> bool:
    parts = (row.id, row.effect, row.tool, row.pattern, row.where, row.place or "", row.origin)
    text = " ".join((*parts, row.description))
    return all(word in text.casefold() for word in wanted.casefold().split())


def _rule_row(
    rule: Rule,
    state: RuleState,
    now: int,
    where: str,
    warnings: Sequence[str],
    senses: Sequence[tuple[str, str]],
    place: Place | None,
) -> RuleRow:
    tool = permission_name(rule.tool)
    last = "" if rule.last_used_at is None else _ago(rule.last_used_at, now)
    until = _until_text(rule, state, now)
    kind = "regular expression" if rule.pattern_kind == "regex" else "glob"
    from_call = f", from {rule.created_from}" if rule.created_from else ""
    facts = [
        ("for", rule.description),
        ("pattern", f"{rule.pattern}  ({kind})"),
        ("where", f"{rule.scope} {rule.scope_id or ''}".strip()),
        ("until", until),
        *([("runs", f"{place} the sandbox{_default_note(rule)}")] if place else []),
        ("used", f"{counted(rule.use_count, 'time')}, last {last}" if last else "never"),
        ("made", f"{_ago(rule.created_at, now)}, by {rule.origin}{from_call}"),
        *([] if _named_tool(rule) else [("tool", tool)]),
        *senses,
        *(("warning", text) for text in warnings),
    ]
    return RuleRow(
        id=rule.id, effect=rule.effect, tool="" if _named_tool(rule) else one_line(tool, 40),
        pattern=one_line(rule.pattern, 400),
        where=where, holds=_holds_text(rule, where, until, state), origin=rule.origin, uses=rule.use_count,
        last_used=last, until=until, state=state,
        description=one_line(rule.description, 200), facts=tuple(facts), has_warning=bool(warnings),
        place=place,
    )  # fmt: skip


def _holds_text(rule: Rule, where: str, until: str, state: RuleState) -> str:
    by = "" if rule.origin == "user" else f", from {rule.origin}"
    if state in PAST_STATES:
        return f"{where}, {until}{by}"
    if rule.expires_at is not None:
        return f"{where}, ends {until}{by}"
    # A session, turn or run says itself when it ends.
    return f"{where}{by}" if rule.scope in _SCOPES_THAT_END else f"{where}, until revoked{by}"


def _default_note(rule: Rule) -> str:
    return "" if rule.place else ", as no human said otherwise"


def _ago(moment: int, now: int) -> str:
    return f"{spoken_duration((now - moment) / SECOND_MICROS)} ago"


def _scope_ids(workspace: str, session_id: str | None, open_turn: str | None) -> dict[str, str | None]:
    return {"workspace": workspace, "session": session_id, "turn": open_turn}


def _rule_state(
    rule: Rule, now: int, ended: Collection[str], scope_ids: Mapping[str, str | None]
) -> RuleState:
    if rule.revoked_at is not None:
        return "revoked"
    if rule.expires_at is not None and rule.expires_at <= now:
        return "expired"
    if rule.scope in _SCOPES_THAT_END and rule.scope_id in ended:
        return "ended"
    if rule.scope == "always":
        return "in force"
    here = scope_ids.get(rule.scope)
    return "in force" if here is not None and here == rule.scope_id else "elsewhere"


_SCOPES_THAT_END: Final[Mapping[str, str]] = {"turn": "turn", "session": "session", "run": "run"}
"""Scopes of which nothing is left when their turn, session or run has ended, and how it is called."""


def rule_calls_text(rule: Rule) -> str:
    """Return the calls that a rule is about; a permission pattern names its tool itself."""
    tool = permission_name(rule.tool)
    if rule.pattern in (rule.tool, tool):
        return tool
    return rule.pattern if _named_tool(rule) else f"{tool} {rule.pattern}"


def _named_tool(rule: Rule) -> str:
    """Return the name before the bracket of a permission pattern; empty where there is none."""
    return rule.pattern.partition("(")[0] if rule.pattern_kind == "glob" and "(" in rule.pattern else ""


def rule_extent_text(rule: Rule, now: int, *, is_over: bool = False) -> str:
    """Return where a rule holds and when it ends, in words: `in every folder, until it is revoked`.

    `is_over`: the turn, session or run that it holds for has ended.
    """
    places = {"turn": "turn", "session": "session", "run": "pipeline run", "workspace": "folder"}
    place = f"in the {places[rule.scope]} {rule.scope_id}" if rule.scope in places else "in every folder"
    return f"{one_line(place, 200)}, {_end_words(rule, now, is_over=is_over)}"


def _end_words(rule: Rule, now: int, *, is_over: bool) -> str:
    thing = _SCOPES_THAT_END.get(rule.scope)
    if rule.revoked_at is not None:
        return f"revoked {_ago(rule.revoked_at, now)}"
    if is_over and thing:
        return f"over: the {thing} has ended"
    if rule.expires_at is None:
        return f"until the {thing} ends" if thing else "until it is revoked"
    if rule.expires_at <= now:
        return f"expired {_ago(rule.expires_at, now)}"
    left = rule.expires_at - now
    if left >= 2 * DAY_MICROS:
        return f"for {round(left / DAY_MICROS)} days"
    return f"for {spoken_time_left(left / SECOND_MICROS)}"


def _until_text(rule: Rule, state: RuleState, now: int) -> str:
    thing = _SCOPES_THAT_END.get(rule.scope, "")
    if rule.revoked_at is not None:
        return f"revoked {_ago(rule.revoked_at, now)}"
    if state == "ended":
        return f"its {thing} ended"
    if rule.expires_at is None:
        return f"the {thing} ends" if thing else "no end"
    return (
        "expired" if state == "expired" else f"in {spoken_duration((rule.expires_at - now) / SECOND_MICROS)}"
    )


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
        case "turn":
            return "one turn"
        case "run":
            return "one pipeline run"
