"""Rules for the screen: reading them, adding and revoking them as the command line does, and the past.

Owns the refusal inside agents and the second judgement of what is saved. Imports what it needs when called.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.domain.events import RuleAdded
from workbench.domain.rows import Rule
from workbench.domain.values import Actor, ToolDescriptor
from workbench.journal import library
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.services import AskedCall, NotDone

if TYPE_CHECKING:
    from workbench.config.values import Pattern
    from workbench.policy.operands import Boundary

MOST_CALLS = 2_000
"""Recorded calls that a rule is tried on, the newest ones."""


class Ruling:
    """The rules of one journal."""

    def __init__(
        self, home: Home, journal: Journal, denials: "Callable[[], Sequence[Pattern]]" = tuple
    ) -> None:
        self._home, self._journal, self._denials = home, journal, denials
        self._tools: Mapping[str, ToolDescriptor] = {}

    def known_tools(self) -> Mapping[str, ToolDescriptor]:
        """Return every tool by id."""
        if not self._tools:
            from workbench.cli.tools.listing import all_tools

            self._tools = {tool.id: tool for tool in all_tools()}
        return self._tools

    def rules(self) -> Sequence[Rule]:
        """Return every rule, revoked and expired ones too."""
        return self._journal.rules(active=False)

    def boundary(self, workspace: str) -> "Boundary":
        """Return what commands may touch in a workspace without a question."""
        from workbench.policy.gate import GateContext, boundary
        from workbench.policy.globs import Glob

        context = GateContext(
            descriptors=self.known_tools(), provider="", workspace=workspace, session_id="",
            now=self._journal.now(), protected=(str(self._home.path),),
            rules=tuple(self._journal.rules()),
            deny=tuple(Glob(text=pattern.text) for pattern in self._denials()),
        )  # fmt: skip
        return boundary(context)

    def asked_calls(self, tool: str) -> Sequence[AskedCall]:
        """Return the newest calls of a tool that opened an action."""
        with self._journal.reader.snapshot() as database:
            found = library.asked_calls(database, tool, MOST_CALLS)
        return [
            AskedCall(call=call, workspace=workspace, session_title=title) for call, workspace, title in found
        ]

    def add_rule(self, rule: RuleAdded) -> Rule:
        """Add a rule, unless this is inside an agent or the rule may not be saved.

        Raises:
            NotDone: It may not be saved; says why.
        """
        from workbench.host.ancestry import refuse_inside_agents
        from workbench.journal.rules import add_rule
        from workbench.policy.rules import problems

        refuse_inside_agents(self._journal, self._home, "add a rule")
        found = problems(
            tool=rule.tool, pattern_kind=rule.pattern_kind, pattern=rule.pattern,
            description=rule.description, known_tools=self.known_tools(), effect=rule.effect,
            scope=rule.scope,
        )  # fmt: skip
        if found:
            raise NotDone(f"Not saved: {'; '.join(found)}.")
        return add_rule(self._journal, rule, _person())

    def revoke_rule(self, number: str) -> Rule:
        """Take a rule back, unless this is inside an agent."""
        from workbench.host.ancestry import refuse_inside_agents
        from workbench.journal.rules import revoke_rule

        refuse_inside_agents(self._journal, self._home, "take a rule back")
        return revoke_rule(self._journal, number, _person())


def _person() -> Actor:
    return Actor(kind="user", pid=os.getpid(), via="screen")
