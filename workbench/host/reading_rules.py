"""The rules that allow connected agents to read without a question.

They are made with a connection whose every call comes here, are listed with all rules, and can be revoked
there. They hold for every agent and folder, and cover only what is inside the folder of a session.
"""

from collections.abc import Sequence
from typing import Final

from workbench.domain.events import RuleAdded
from workbench.domain.rows import Rule
from workbench.domain.tools import BuiltInTool
from workbench.domain.values import Actor
from workbench.journal.decisions import add_rule, revoke_rule
from workbench.journal.journal import Journal

_MARK: Final = "connect"
"""External id of these rules."""
_COMMAND: Final = BuiltInTool.RUN_IN_TERMINAL.id
READING_CALLS: Final = (
    (BuiltInTool.READ_FILE.id, "Read"), (BuiltInTool.GREP_SEARCH.id, "Grep"),
    (BuiltInTool.FILE_SEARCH.id, "Glob"), (BuiltInTool.LIST_DIR.id, "LS"), (_COMMAND, "Bash(pwd)"),
    (_COMMAND, "Bash(ls *)"), (_COMMAND, "Bash(git status *)"), (_COMMAND, "Bash(git diff *)"),
    (_COMMAND, "Bash(git log *)"),
)  # fmt: skip
"""Tools and patterns of calls that only read."""
READING_PATTERNS: Final = ", ".join(pattern for _, pattern in READING_CALLS)


def add_reading_rules(journal: Journal, actor: Actor) -> Sequence[Rule]:
    """Add the rules and return them; none while one of them is in force, also if others were revoked."""
    if any(rule.external_id == _MARK for rule in journal.rules(active=True)):
        return ()
    return [add_rule(journal, _reading_rule(tool, pattern), actor) for tool, pattern in READING_CALLS]


def _reading_rule(tool: str, pattern: str) -> RuleAdded:
    return RuleAdded(
        rule="", effect="allow", origin="user", scope="always", tool=tool, pattern_kind="glob",
        pattern=pattern, description="connected agents may read", external_id=_MARK,
    )  # fmt: skip


def revoke_reading_rules(journal: Journal, actor: Actor) -> int:
    """Revoke the rules that are in force and return how many were."""
    rules = [rule for rule in journal.rules(active=True) if rule.external_id == _MARK]
    for rule in rules:
        revoke_rule(journal, rule.id, actor)
    return len(rules)
