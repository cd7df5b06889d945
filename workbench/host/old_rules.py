"""The question where the commands run of rules that were saved before there was a sandbox.

Such rules run their commands inside. One that needs more than the sandbox gives would ask each time, so a
human is asked once about all of them; `not now` leaves them inside.
"""

import os
from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from workbench.changes.digest import action_digest
from workbench.config.types import Config
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Rule
from workbench.domain.values import PLACED_RULES, SYSTEM_SESSION, Actor, Choice, Json, JsonObject, Place
from workbench.host.session_sandbox import SandboxProof, has_full_sandbox
from workbench.journal.journal import Journal
from workbench.policy import rules
from workbench.policy.permissions import parse_permission
from workbench.policy.regex_commands import commands_of_regex
from workbench.policy.shell.sandbox_needs import line_needs, needs_text
from workbench.text.safe import one_line
from workbench.tools.execution import RunInTerminal
from workbench.tools.registry import tool_descriptors

RULE_CHOICES = (
    Choice(key="as_proposed", label="as proposed"),
    Choice(key="all_inside", label="all inside the sandbox"),
    Choice(key="all_outside", label="all outside, as you"),
    Choice(key="not_now", label="not now: all inside"),
)
_COMMAND_PARAMETER = RunInTerminal.descriptor.command_parameter or ""
_MOST_LISTED = 40
"""Rules that the words of the question list; its subject has all."""


class OldRule(Struct, frozen=True, kw_only=True):
    """A rule that says nothing about the sandbox, and what its commands need."""

    rule: Rule
    needs: str | None
    """None where the rule does not show it."""

    @property
    def proposed(self) -> Place:
        return "outside" if self.needs else "inside"

    @property
    def why(self) -> str:
        """Return what its commands need, in words; empty for nothing."""
        return "cannot tell what its commands need" if self.needs is None else self.needs


def old_rules(journal: Journal, workspace: str) -> tuple[OldRule, ...]:
    """Return the rules in force that allow commands and say nothing about where these run.

    Those of configuration files say it there.
    """
    tools = tool_descriptors()
    return tuple(
        OldRule(rule=rule, needs=_pattern_needs(rule, workspace))
        for rule in journal.rules()
        if rule.place is None and rule.origin != "config" and rules.allows_commands(rule, tools)
    )


def _pattern_needs(rule: Rule, workspace: str) -> str | None:
    """Return what the commands of a rule need; None where its pattern does not say which these are."""
    if rule.pattern_kind == "regex":
        lines = commands_of_regex(rule.pattern, _COMMAND_PARAMETER)
    else:
        line = (parse_permission(rule.pattern).argument or "").replace("*", " ").strip()
        lines = (line,) if line else None
    if lines is None:
        return None
    return needs_text(dict.fromkeys(need for line in lines for need in line_needs(line, workspace, "")))


def open_rules_question(journal: Journal, workspace: str, config: Config, prove: SandboxProof) -> str | None:
    """Ask where the commands of old rules run, once; return the id of the row that was opened, if any.

    It is asked only where a full sandbox works. Blocks: the sandbox is proven where there are such rules.
    """
    found = _unasked(journal, old_rules(journal, workspace))
    if not found or not has_full_sandbox(config, prove):
        return None
    action_id = journal.clock.new_id()
    actor = Actor(kind="system", pid=os.getpid())
    body = _question_body(journal, workspace, found)
    journal.append([journal.event(body, SYSTEM_SESSION, actor, action_id=action_id)])
    return action_id


def _unasked(journal: Journal, found: Sequence[OldRule]) -> tuple[OldRule, ...]:
    asked = {
        str(row["rule"])
        for action in (journal.actions(session_id=SYSTEM_SESSION) if found else ())
        for row in _placed_rows(action.subject)
    }
    return tuple(old for old in found if old.rule.id not in asked)


def _placed_rows(subject: JsonObject) -> list[JsonObject]:
    return cast("list[JsonObject]", subject.get(PLACED_RULES) or [])


def _question_body(journal: Journal, workspace: str, found: Sequence[OldRule]) -> ActionOpened:
    rows: list[Json] = [
        {"rule": old.rule.id, "pattern": old.rule.pattern, "needs": old.why, "proposed": old.proposed}
        for old in found
    ]
    subject: JsonObject = {PLACED_RULES: rows}
    words = _question_text(found)
    digest = action_digest(
        journal.blobs.keyed, kind="question", parameters=subject, cwd=workspace, prompt=words,
        choices=RULE_CHOICES,
    )  # fmt: skip
    return ActionOpened(
        action_kind="question", tool=None, target="rules and the sandbox", digest=digest,
        created_at=journal.now(), expires_at=None, verb="ask", cwd=workspace, prompt=words,
        choices=RULE_CHOICES, subject=subject,
    )  # fmt: skip


def _question_text(found: Sequence[OldRule]) -> str:
    lines = [_rule_line(old) for old in found[:_MOST_LISTED]]
    more = [f"  and {len(found) - _MOST_LISTED} more"] if len(found) > _MOST_LISTED else []
    head = (
        "Commands that rules allow now run inside the sandbox, without the network and with writes only in "
        "the workspace. These rules were saved before. Proposed is where each runs:"
    )
    tail = "A rule that stays inside asks where its command cannot work there."
    return "\n".join([head, *lines, *more, tail])


def _rule_line(old: OldRule) -> str:
    why = f" ({old.why})" if old.why else ""
    return f"  {old.rule.id} {one_line(old.rule.pattern, 80)}: {old.proposed}{why}"
