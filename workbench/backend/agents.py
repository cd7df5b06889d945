"""Connections of other agents for the screen's backend, loaded on first use."""

import os
from itertools import count
from typing import TYPE_CHECKING

from msgspec.structs import replace

from workbench.backend.workspace import LocalWorkspace
from workbench.bridge.agents import HookedAgent, Scope, hooked_agent
from workbench.config.windows import longest_window_minutes
from workbench.host.agent_connections import (
    ConnectionChoice,
    ConnectionPlan,
    apply_plan,
    connection_files,
    is_recorded,
    plan_connection,
    plan_removal,
)
from workbench.host.agent_settings_files import settings_file
from workbench.host.connection_texts import (
    READING_SENTENCE,
    SCOPE_WORDS,
    next_steps,
    question_sentences,
    reading_rule_lines,
    scope_sentences,
)
from workbench.host.found_agents import FoundAgent, find_agents
from workbench.host.reading_rules import add_reading_rules, revoke_reading_rules
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.backend import AgentBackend, BackendError
from workbench.views.agent_connections import AgentRow, ConnectionAnswers, ConnectionChange

if TYPE_CHECKING:
    from collections.abc import Sequence


class LocalAgents(LocalWorkspace, AgentBackend):
    """The agents of this machine, as one workspace sees them."""

    def __init__(self, home: Home, journal: Journal, workspace: str) -> None:
        super().__init__(home, journal, workspace)
        self._numbers = count(1)
        self._plans: dict[int, ConnectionPlan] = {}

    def agent_rows(self) -> "Sequence[AgentRow]":
        found = find_agents(self._home, self._minutes(), self._workspace)
        return tuple(_row(one, self._workspace) for one in found)

    def connection_change(
        self, agent_id: str, answers: ConnectionAnswers, *, is_removal: bool
    ) -> ConnectionChange:
        agent = hooked_agent(agent_id)
        if agent is None:
            raise BackendError("This agent is not known.")
        if is_removal:
            return self._shown(self._removal(agent), answers, is_removal=True)
        scope: Scope = "asked" if answers.scope == "asked" and "asked" in agent.scopes else agent.scopes[0]
        choice = ConnectionChoice(
            scope=scope, otherwise=answers.otherwise, window_minutes=self._minutes(),
            project=self._workspace if answers.is_project else None,
        )  # fmt: skip
        plan = plan_connection(self._home, agent, choice)
        return self._shown(plan, replace(answers, scope=scope), is_removal=False)

    def write_connection(self, change: ConnectionChange) -> str:
        self._require_person(f"change the settings of {change.agent}")
        plan = self._plans.pop(change.number)
        apply_plan(self._home, plan)
        if change.is_removal:
            return self._removed(plan)
        rules = add_reading_rules(self._journal, self._actor) if change.answers.scope == "all" else ()
        done = f"Connected {plan.agent.name} in {plan.path}."
        return " ".join((done, *reading_rule_lines(rules), *next_steps(plan.agent)))

    def _removed(self, plan: ConnectionPlan) -> str:
        if not any(one.connections for one in find_agents(self._home, self._minutes(), self._workspace)):
            revoke_reading_rules(self._journal, self._actor)
        return f"Removed workbench from {plan.path}."

    def _minutes(self) -> float:
        return longest_window_minutes(self._config().approvals)

    def _removal(self, agent: HookedAgent) -> ConnectionPlan:
        for file in connection_files(self._home, agent, self._workspace):
            plan = plan_removal(self._home, agent, file)
            if plan.is_change or is_recorded(self._home, file):
                return plan
        raise BackendError(f"{agent.name} is not connected.")

    def _shown(
        self, plan: ConnectionPlan, answers: ConnectionAnswers, *, is_removal: bool
    ) -> ConnectionChange:
        number = next(self._numbers)
        self._plans[number] = plan
        why = "" if plan.is_change or is_removal else f"{plan.agent.name} is connected there already."
        if plan.shown_only:
            why = "Its config.toml has hooks. Add these lines there: TOML is not written here."
        return ConnectionChange(
            number=number, agent=plan.agent.id, title=plan.agent.name, path=plan.path,
            lines=plan.shown_only or tuple(plan.diff_lines()), answers=answers, is_removal=is_removal,
            why_not=why, also=READING_SENTENCE if answers.scope == "all" and not is_removal else "",
        )  # fmt: skip


def _row(found: FoundAgent, workspace: str) -> AgentRow:
    problems = [problem for one in found.connections for problem in one.problems]
    is_connected, is_wrong = bool(found.connections), bool(problems or found.obstacles)
    words = "connected" if is_connected else "not connected"
    places = [f"Connected in {one.path}: {SCOPE_WORDS[one.scope]}." for one in found.connections]
    return AgentRow(
        id=found.agent.id, name=found.agent.name, is_connected=is_connected,
        sign="failed" if is_wrong else "ok" if is_connected else "todo",
        state=f"{words}, see below" if is_wrong else words,
        details=(*places, *problems, *found.obstacles, *question_sentences(found)),
        scopes={**scope_sentences(found)}, answers=_present_answers(found, workspace),
    )  # fmt: skip


def _present_answers(found: FoundAgent, workspace: str) -> ConnectionAnswers:
    """Return the answers of the first connection of an agent, else the defaults."""
    if not found.connections:
        return ConnectionAnswers(scope=found.agent.scopes[0])
    first = found.connections[0]
    return ConnectionAnswers(
        scope=first.scope, otherwise="deny" if first.otherwise == "deny" else "ask",
        is_project=first.path == settings_file(found.agent, os.environ, workspace).path,
    )  # fmt: skip
