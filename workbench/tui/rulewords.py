"""A rule as one types it in place 6, and back: `deny Bash(git push *) everywhere`.

Pure. Owns the few words of it; whether a rule may be saved is judged where it is saved.
"""

import re
from typing import Final, cast

from workbench.domain.events import RuleAdded
from workbench.domain.rows import Rule
from workbench.domain.values import RuleEffect, RuleScope

_RULE: Final = re.compile(
    r"(?:(?P<effect>allow|ask|deny)\s+)?(?P<pattern>(?P<tool>[A-Za-z_][\w.]*)(?:\(.*\))?)(?P<all>\s+everywhere)?",
    re.DOTALL,
)
HOW: Final = "Write it as Bash(git diff *), deny Bash(git push *), or allow Read(docs/**) everywhere."


def read(words: str, workspace: str, old: Rule | None = None) -> RuleAdded | str:
    """Return the rule that was typed, or how one is typed.

    Args:
        words: What was typed.
        workspace: Where it holds, unless it says everywhere.
        old: The rule that it is to stand for: its place, its end and its words are kept.
    """
    found = _RULE.fullmatch(words.strip())
    if found is None:
        return HOW
    scope: RuleScope = "always" if found["all"] else "workspace"
    scope_id = None if found["all"] else workspace
    if old is not None and old.scope not in ("always", "workspace") and not found["all"]:
        scope, scope_id = old.scope, old.scope_id
    return RuleAdded(
        rule="", effect=cast("RuleEffect", found["effect"] or "allow"), origin="user", scope=scope,
        scope_id=scope_id, tool=found["tool"], pattern_kind="glob", pattern=found["pattern"],
        description=old.description if old else f"written by hand: {found['pattern']}"[:200],
        expires_at=old.expires_at if old else None,
    )  # fmt: skip


def written(rule: Rule) -> str:
    """Return a rule as one would type it."""
    everywhere = " everywhere" if rule.scope == "always" else ""
    return f"{rule.effect} {rule.pattern}{everywhere}"


def again(rule: Rule) -> RuleAdded:
    """Return a rule that was taken back as one that can be added anew; it gets another number."""
    return RuleAdded(
        rule="", effect=rule.effect, origin="user", scope=rule.scope, scope_id=rule.scope_id, tool=rule.tool,
        pattern_kind=rule.pattern_kind, pattern=rule.pattern, description=rule.description,
        expires_at=rule.expires_at, created_from=rule.created_from,
    )  # fmt: skip
