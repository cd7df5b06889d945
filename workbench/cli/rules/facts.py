"""A rule as lists show it: the JSON of its row, and its line.

Pure. Owns the fields and words of rules; reads and prints nothing.
"""

from collections.abc import Sequence

from workbench.cli.render.facts import Facts, moment
from workbench.domain.rows import Rule
from workbench.text.human import spoken
from workbench.text.safe import one_line

_PATTERN_CELLS = 60


def rule_facts(rule: Rule, warnings: Sequence[str] = ()) -> Facts:
    """Return a rule as JSON; the fields of S0 ApprovalRule are among them."""
    return {
        "id": rule.id,
        "effect": rule.effect,
        "origin": rule.origin,
        "scope": rule.scope,
        "scope_id": rule.scope_id,
        "tool_name": rule.tool,
        "pattern_kind": rule.pattern_kind,
        "param_pattern": rule.pattern,
        "description": rule.description,
        "created_at": moment(rule.created_at),
        "created_from": rule.created_from,
        "expires_at": moment(rule.expires_at),
        "revoked_at": moment(rule.revoked_at),
        "last_used_at": moment(rule.last_used_at),
        "use_count": rule.use_count,
        "warnings": list(warnings),
    }


def rule_line(rule: Rule, now: int, warnings: Sequence[str] = ()) -> str:
    """Return the lines of a rule: number, what it does, for which tool, on whose word, what is wrong."""
    state = "revoked" if rule.revoked_at is not None else rule.effect
    if rule.revoked_at is None and rule.expires_at is not None and rule.expires_at <= now:
        state = "expired"
    used = f"used {rule.use_count} times"
    if rule.last_used_at is not None:
        used += f", last {spoken((now - rule.last_used_at) / 1_000_000)} ago"
    what = f"{one_line(rule.tool, 24)}  {one_line(rule.pattern, _PATTERN_CELLS)}"
    about = f"{rule.origin}, {rule.scope}, {used}: {one_line(rule.description, 60)}"
    wrong = "".join(f"\n     ! {one_line(text, 240)}" for text in warnings)
    return f"{rule.id:<4} {state:<8} {what}\n     {about}{wrong}"
