"""Rules for the screen's backend, loaded on first use: listed, added, revoked, tried on recorded calls."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.backend.workspace import LocalWorkspace
from workbench.domain.events import RuleAdded
from workbench.domain.rows import Rule
from workbench.domain.values import Place, ToolDescriptor
from workbench.journal import session_queries, statistics_queries
from workbench.journal.journal import Journal
from workbench.tui.backend import AskedCall, BackendError, RuleBackend
from workbench.views.action_detail import QuestionCounts

if TYPE_CHECKING:
    from workbench.policy.shell.command_paths import CommandBoundary


def read_question_counts(journal: Journal) -> QuestionCounts | None:
    """Count the newest own calls by what would have been asked about."""
    from workbench.tools.registry import tool_registry

    with journal.snapshot() as database:
        by_tool = statistics_queries.undecided_calls_by_tool(database)
    reads = {tool.id for tool in tool_registry().descriptors().values() if tool.capability == "read"}
    every = sum(by_tool.values())
    if not every:
        return None
    return QuestionCounts(
        every=every, all_but_reads=every - sum(n for tool, n in by_tool.items() if tool in reads)
    )


MOST_ASKED_CALLS = 2_000
"""Recorded calls that a rule is tried on, the newest ones."""


class LocalRules(LocalWorkspace, RuleBackend):
    """The rules of a journal, judged by the settings of a workspace."""

    @cached_property
    def _tools(self) -> Mapping[str, ToolDescriptor]:
        from workbench.tools.registry import tool_descriptors

        return {tool.id: tool for tool in tool_descriptors()}

    def known_tools(self) -> Mapping[str, ToolDescriptor]:
        return self._tools

    def all_rules(self) -> Sequence[Rule]:
        return self._journal.rules(active=False)

    def command_boundary(self, workspace: str) -> "CommandBoundary":
        from workbench.domain.values import PermissionPattern
        from workbench.policy.gate import GateContext, command_boundary

        context = GateContext(
            descriptors=self.known_tools(), provider="", workspace=workspace, session_id="",
            now=self._journal.now(), protected=(str(self._home.path),),
            rules=tuple(self._journal.rules()),
            deny=tuple(PermissionPattern(text=pattern.text) for pattern in self._config().approvals.deny),
        )  # fmt: skip
        return command_boundary(context)

    def asked_calls(self, tool: str) -> Sequence[AskedCall]:
        with self._journal.snapshot() as database:
            rows = session_queries.calls_that_asked(database, tool, MOST_ASKED_CALLS)
        return [
            AskedCall(call=call, workspace=workspace, session_title=title) for call, workspace, title in rows
        ]

    def add_rule(self, rule: RuleAdded) -> Rule:
        from workbench.journal.decisions import add_rule
        from workbench.policy.rule_validation import rule_problems

        self._require_person("add a rule")
        problems = rule_problems(
            tool=rule.tool, pattern_kind=rule.pattern_kind, pattern=rule.pattern,
            description=rule.description, known_tools=self.known_tools(), effect=rule.effect,
            scope=rule.scope,
        )  # fmt: skip
        if problems:
            raise BackendError(f"Not saved: {'; '.join(problems)}.")
        return add_rule(self._journal, rule, self._actor)

    def revoke_rule(self, number: str) -> Rule:
        from workbench.journal.decisions import revoke_rule

        self._require_person("take a rule back")
        return revoke_rule(self._journal, number, self._actor)

    def place_rule(self, number: str, place: Place) -> Rule:
        from workbench.journal.decisions import place_rule

        self._require_person("say where the commands of a rule run")
        return place_rule(self._journal, number, place, self._actor)
