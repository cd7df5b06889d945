"""Connections of other agents for the screen's backend, loaded on first use."""

from itertools import count
from typing import TYPE_CHECKING

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
from workbench.host.connection_texts import (
    READING_SENTENCE,
    SCOPE_WORDS,
    next_steps,
    reading_rule_lines,
    scope_sentences,
)
from workbench.host.found_agents import FoundAgent, find_agents
from workbench.host.reading_rules import add_reading_rules, revoke_reading_rules
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.backend import AgentBackend, BackendError
from workbench.views.agent_connections import AgentRow, ConnectionChange

if TYPE_CHECKING:
    from collections.abc import Sequence


class LocalAgents(LocalWorkspace, AgentBackend):
    """The agents of this machine, as one workspace sees them."""

    def __init__(self, home: Home, journal: Journal, workspace: str) -> None:
        super().__init__(home, journal, workspace)
        self._numbers = count(1)
        self._plans: dict[int, ConnectionPlan] = {}

    def agent_rows(self) -> "Sequence[AgentRow]":
        return tuple(_row(found) for found in find_agents(self._home, self._minutes(), self._workspace))

    def connection_change(self, agent_id: str, scope: str, *, is_removal: bool) -> ConnectionChange:
        agent = hooked_agent(agent_id)
        if agent is None:
            raise BackendError("This agent is not known.")
        if is_removal:
            return self._shown(self._removal(agent), "")
        chosen: Scope = "asked" if scope == "asked" and "asked" in agent.scopes else agent.scopes[0]
        choice = ConnectionChoice(scope=chosen, window_minutes=self._minutes())
        return self._shown(plan_connection(self._home, agent, choice), chosen)

    def write_connection(self, change: ConnectionChange) -> str:
        self._require_person(f"change the settings of {change.agent}")
        plan = self._plans.pop(change.number)
        apply_plan(self._home, plan)
        if change.is_removal:
            return self._removed(plan)
        rules = add_reading_rules(self._journal, self._actor) if change.scope == "all" else ()
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

    def _shown(self, plan: ConnectionPlan, scope: str) -> ConnectionChange:
        number = next(self._numbers)
        self._plans[number] = plan
        why = "" if plan.is_change or not scope else f"{plan.agent.name} is connected there already."
        if plan.shown_only:
            why = "Its config.toml has hooks. Add these lines there: TOML is not written here."
        return ConnectionChange(
            number=number, agent=plan.agent.id, title=plan.agent.name, path=plan.path,
            lines=plan.shown_only or tuple(plan.diff_lines()), scope=scope, is_removal=not scope, why_not=why,
            also=READING_SENTENCE if scope == "all" else "",
        )  # fmt: skip


def _row(found: FoundAgent) -> AgentRow:
    problems = [problem for one in found.connections for problem in one.problems]
    is_connected, is_wrong = bool(found.connections), bool(problems or found.obstacles)
    words = "connected" if is_connected else "not connected"
    places = [f"Connected in {one.path}: {SCOPE_WORDS[one.scope]}." for one in found.connections]
    return AgentRow(
        id=found.agent.id, name=found.agent.name, is_connected=is_connected,
        sign="failed" if is_wrong else "ok" if is_connected else "todo",
        state=f"{words}, see below" if is_wrong else words,
        details=(*places, *problems, *found.obstacles), scopes={**scope_sentences(found)},
    )  # fmt: skip
