"""`workbench connect`: list the agents of this machine, and have their edits and commands come here."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from msgspec import Struct

from workbench.bridge.agents import AGENTS, HookedAgent, Scope
from workbench.cli.arguments import add_json_option, add_yes_option, confirm
from workbench.cli.console import Console
from workbench.cli.context import user_actor
from workbench.cli.errors import EXIT_FAILED, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.session_diff import print_diff_lines
from workbench.config.windows import longest_window_minutes
from workbench.effects.files import workspace_path
from workbench.host.agent_connections import (
    ConnectionChoice,
    ConnectionPlan,
    apply_plan,
    connection_files,
    is_recorded,
    plan_connection,
    plan_removal,
)
from workbench.host.agent_settings_files import SettingsFile, settings_file
from workbench.host.connection_texts import (
    READING_SENTENCE,
    SCOPE_WORDS,
    next_steps,
    question_sentences,
    reading_rule_lines,
    scope_sentences,
)
from workbench.host.found_agents import FoundAgent, find_agent, find_agents, with_versions
from workbench.host.reading_rules import add_reading_rules, revoke_reading_rules
from workbench.host.workspace_config import load_workspace_config
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.cli.row_json import JsonFields

EXAMPLE = """workbench connect
workbench connect claude
workbench connect codex --without-workbench deny --yes
workbench connect --remove claude
workbench connect --remove"""
_NOTHING: Final = "nothing was connected"
_NONE_FOUND: Final = "No agent was found whose calls can come here"


def configure(parser: ArgumentParser) -> None:
    names = ", ".join(agent.id for agent in AGENTS)
    parser.add_argument("agent", metavar="AGENT", nargs="?", help=f"one of {names}; none lists them")
    parser.add_argument("--remove", action="store_true", help="disconnect the agent, or all of them")
    parser.add_argument(
        "--scope", choices=("all", "asked"),
        help="all its edits and commands, or only what it would ask about itself",
    )  # fmt: skip
    parser.add_argument(
        "--project", action="store_true", help="in the settings of this folder instead of your own"
    )
    parser.add_argument(
        "--without-workbench", choices=("ask", "deny"), default="ask",
        help="when workbench cannot be reached: leave it to the agent's own prompt (default), or deny",
    )  # fmt: skip
    parser.add_argument(
        "--ask-about-reads", action="store_true",
        help="add no rules that allow calls that only read: with --scope all, each of them asks",
    )  # fmt: skip
    add_yes_option(parser)
    add_json_option(parser)


def execute(options: Namespace, console: Console) -> int:
    """List, connect or remove; 1 where that is declined or not possible."""
    agent = None if options.agent is None else _named_agent(options.agent)
    acts = options.remove or agent is not None
    with open_journal(human_only="change the settings of an agent" if acts else "") as journal:
        workspace = workspace_path(options.directory)
        loaded = load_workspace_config(journal, workspace)
        place = _Place(
            home=journal.home, journal=journal, workspace=workspace,
            minutes=longest_window_minutes(loaded.config.approvals),
        )  # fmt: skip
        if options.remove:
            return _remove(place, agent, options, console)
        return _list(place, options, console) if agent is None else _connect(place, agent, options, console)


class _Place(Struct, frozen=True, kw_only=True):
    home: Home
    journal: Journal
    workspace: str
    minutes: float
    """The longest window of an answer."""


def _named_agent(name: str) -> HookedAgent:
    agent = next((agent for agent in AGENTS if agent.id == name), None)
    if agent is None:
        names = ", ".join(agent.id for agent in AGENTS)
        raise UsageError(
            _NOTHING, f"“{one_line(name, 40)}” is not the name of an agent", f"the agents are: {names}"
        )
    return agent


# --- list ---------------------------------------------------------------------------------------------


def _list(place: _Place, options: Namespace, console: Console) -> int:
    found = with_versions(find_agents(place.home, place.minutes, place.workspace))
    facts: JsonFields = {"agents": [_agent_json(one) for one in found]}
    return console.result(facts, _agent_lines(found), is_json=options.json)


def _agent_json(found: FoundAgent) -> "JsonFields":
    mode = found.mode
    return {
        "name": found.agent.id, "title": found.agent.name, "program": found.program,
        "version": found.version or None, "tried_version": found.agent.version or None,
        "mode": mode.name if mode else None, "settings": found.file,
        "connected": [
            {
                "file": one.path, "scope": one.scope, "without_workbench": one.otherwise,
                "timeout_seconds": one.seconds or None, "problems": list(one.problems),
            }
            for one in found.connections
        ],
        "obstacles": list(found.obstacles),
    }  # fmt: skip


def _agent_lines(agents: Sequence[FoundAgent]) -> Iterator[str]:
    if not agents:
        names = ", ".join(agent.name for agent in AGENTS)
        yield f"{_NONE_FOUND}: {names}."
    for found in agents:
        version = f" {found.version}" if found.version else ""
        gone = "" if found.program else "  its program is not on PATH"
        yield f"{found.agent.id}  {found.agent.name}{version}{gone}"
        for one in found.connections:
            yield f"  connected in {one.path}: {SCOPE_WORDS[one.scope]}"
            yield from (f"  {problem}" for problem in one.problems)
        if not found.connections:
            yield f"  not connected; workbench connect {found.agent.id} shows what that would change"
        yield from (f"  {sentence}" for sentence in (*found.obstacles, *question_sentences(found)))


# --- connect ------------------------------------------------------------------------------------------


def _connect(place: _Place, agent: HookedAgent, options: Namespace, console: Console) -> int:
    found = find_agent(place.home, agent, place.minutes, place.workspace)
    if options.scope is not None and options.scope not in agent.scopes:
        why = f"{agent.name} has no hook that comes only with its own questions"
        raise UsageError(_NOTHING, why, "leave --scope out: every edit and command comes here")
    if not found.program and not options.yes:
        console.note(f"The program {agent.command} is not on PATH; its settings can be changed all the same.")
    console.note_lines(found.obstacles if found.connections or _is_readable(found) else ())
    choice = ConnectionChoice(
        scope=options.scope or _asked_scope(found, options, console), otherwise=options.without_workbench,
        window_minutes=place.minutes, project=place.workspace if options.project else None,
    )  # fmt: skip
    plan = plan_connection(place.home, agent, choice)
    if plan.shown_only:
        _refuse_toml(plan, console)
    if not plan.is_change:
        facts = _plan_json(plan, choice, is_written=False)
        line = f"{agent.name} is connected in {plan.path} already."
        return console.result(facts, [line], is_json=options.json)
    adds_rules = choice.scope == "all" and not options.ask_about_reads
    if adds_rules and not options.yes and not options.json:
        console.say(READING_SENTENCE)
    if not _agreed(plan, "connect", options, console):
        console.say("Nothing was connected.")
        return EXIT_FAILED
    apply_plan(place.home, plan)
    rules = add_reading_rules(place.journal, user_actor()) if adds_rules else ()
    lines = [f"Connected {agent.name} in {plan.path}.", *reading_rule_lines(rules), *next_steps(agent)]
    facts = {**_plan_json(plan, choice, is_written=True), "rules": [rule.id for rule in rules]}
    return console.result(facts, lines, is_json=options.json)


def _is_readable(found: FoundAgent) -> bool:
    """Return whether an obstacle is more than a refusal, which is raised anyway."""
    return not any(obstacle.startswith(found.file) for obstacle in found.obstacles)


def _asked_scope(found: FoundAgent, options: Namespace, console: Console) -> Scope:
    """Ask which calls come here where an agent has both scopes and a person can answer."""
    if len(found.agent.scopes) == 1 or options.yes or not console.can_ask:
        return found.agent.scopes[0]
    console.say("Which calls of it come here?")
    console.say_lines(f"  {scope:<5}  {text}" for scope, text in scope_sentences(found).items())
    console.write("Type all or asked, or enter for all: ")
    answer = sys.stdin.readline()
    match answer.strip():
        case "asked":
            return "asked"
        case "all" | "" if answer:
            return "all"
        case _:
            raise Refusal(_NOTHING, "neither was chosen", "do it again with --scope all or --scope asked")


def _agreed(plan: ConnectionPlan, word: str, options: Namespace, console: Console) -> bool:
    """Show a change and ask about it, unless that is not wanted."""
    if options.yes:
        return True
    if not options.json:
        print_diff_lines(plan.diff_lines(), console)
    is_deleted = plan.after is None
    question = f"Delete {plan.path}?" if is_deleted else f"Write this to {plan.path}?"
    return confirm(console, question, word, what=_nothing(word), remedy="use --yes")


def _nothing(word: str) -> str:
    return _NOTHING if word == "connect" else "nothing was removed"


def _refuse_toml(plan: ConnectionPlan, console: Console) -> NoReturn:
    console.say_lines(plan.shown_only)
    why = "its config.toml has hooks of its own, and TOML is not written here"
    raise Refusal(_NOTHING, why, "add the lines above to config.toml")


def _plan_json(plan: ConnectionPlan, choice: ConnectionChoice, *, is_written: bool) -> "JsonFields":
    return {
        "agent": plan.agent.id, "file": plan.path, "written": is_written, "scope": choice.scope,
        "without_workbench": choice.otherwise, "diff": "\n".join(plan.diff_lines()),
        "next": list(next_steps(plan.agent)) if is_written else [],
    }  # fmt: skip


# --- remove -------------------------------------------------------------------------------------------


def _removal_files(place: _Place, agent: HookedAgent, options: Namespace) -> tuple[SettingsFile, ...]:
    """Return all files in which an agent may be connected, or with `--project` only that of the folder."""
    if options.project:
        return (settings_file(agent, os.environ, place.workspace),)
    return connection_files(place.home, agent, None)


def _remove(place: _Place, agent: HookedAgent | None, options: Namespace, console: Console) -> int:
    agents = AGENTS if agent is None else (agent,)
    plans = [
        plan
        for one in agents
        for file in _removal_files(place, one, options)
        if (plan := plan_removal(place.home, one, file)).is_change or is_recorded(place.home, file)
    ]
    if not plans:
        names = "No agent is" if agent is None else f"{agent.name} is not"
        return console.result({"removed": []}, [f"{names} connected."], is_json=options.json)
    removed: list[str] = []
    for plan in plans:
        if plan.is_change and not _agreed(plan, "remove", options, console):
            console.say(f"{plan.agent.name} stays connected.")
            return EXIT_FAILED
        apply_plan(place.home, plan)
        removed.append(plan.path)
    lines = [f"Removed workbench from {path}." for path in removed]
    is_left = any(one.connections for one in find_agents(place.home, place.minutes, place.workspace))
    if not is_left and (count := revoke_reading_rules(place.journal, user_actor())):
        lines.append(f"Revoked the {count} rules that allowed connected agents to read.")
    return console.result({"removed": removed}, lines, is_json=options.json)
