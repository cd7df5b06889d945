"""`workbench rules`: what agents may do without a question, and what they may never do."""

import math
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence, Set
from typing import get_args

from msgspec.structs import replace

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.context import find_session, user_actor
from workbench.cli.errors import EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, row_fields
from workbench.domain.events import RuleAdded
from workbench.domain.rows import Call, Rule
from workbench.domain.values import Place, RuleScope
from workbench.effects.files import workspace_path
from workbench.journal.decisions import add_rule, place_rule, revoke_rule
from workbench.journal.journal import Journal
from workbench.journal.session_queries import open_turns
from workbench.policy import rule_validation, rules
from workbench.policy.denial_senses import DenialSense, denial_sense, rule_sense
from workbench.policy.rule_suggestions import as_own_call, is_copied_by_fork, rule_concerns_tool
from workbench.policy.rule_validation import rule_notes, warnings_by_rule
from workbench.policy.rules import call_subject
from workbench.text.human import EFFECT_VERBS, HOUR_MICROS, SECOND_MICROS, spoken_duration
from workbench.text.safe import one_line
from workbench.tools.registry import tool_descriptors
from workbench.views.rules import rule_calls_text, rule_extent_text

LIST_EXAMPLE = """workbench rules list
workbench rules list --all --json"""


def configure_list(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="revoked and expired rules too")
    add_json_option(parser, "print a JSON array")


def execute_list(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        listed_rules, now = journal.rules(active=not options.all), journal.now()
        turns = (
            open_turns(journal) if any(rule.scope == "turn" for rule in listed_rules) else frozenset[str]()
        )
    if not options.all:
        listed_rules = [rule for rule in listed_rules if not _is_turn_over(rule, turns)]
    warnings = warnings_by_rule(listed_rules, {tool.id: tool for tool in tool_descriptors()})
    facts = [rule_json(rule, warnings.get(rule.id, ())) for rule in listed_rules]
    lines = [
        rule_line(rule, now, warnings.get(rule.id, ()), is_over=_is_turn_over(rule, turns))
        for rule in listed_rules
    ]
    lines = lines or ["No rule: every call is asked about."]
    configured = [] if options.json else _configured_denials(workspace_path(options.directory))
    return console.result(facts, [*lines, *configured], is_json=options.json)


def _is_turn_over(rule: Rule, open_turn_ids: Set[str]) -> bool:
    return rule.scope == "turn" and rule.scope_id not in open_turn_ids


def _configured_denials(workspace: str) -> list[str]:
    """Return the lines of the denials in configuration files, and how each is understood."""
    from workbench.cli.config import read_configuration

    return [
        f"{'':<4} {'deny':<8} {one_line(pattern.text, _PATTERN_CELLS)}"
        f"\n     {pattern.origin.where()}{_sense_lines(denial_sense(pattern.text))}"
        for pattern in read_configuration(workspace).config.approvals.deny
    ]


ADD_EXAMPLE = r"""workbench rules add Bash 'Bash(git diff *)' --glob -d 'look at changes'
workbench rules add read_file '"path":"docs/[^"]*\.md"' -d 'read the documentation' --until 7d
workbench rules add Bash 'Bash(git status)' --glob -d 'the state of any folder' --scope always --until revoked
workbench rules add Bash 'Bash(git push *)' --glob --effect deny -d 'pushing is my business'"""
_MOST_HOURS = 87_600.0
_DEFAULT_END_HOURS = 24
"""Hours that a rule which allows calls holds where no end is named."""
_END_PATTERN = re.compile(r"([0-9]+(?:\.[0-9]+)?)(m|h|d)")
_HOURS_BY_UNIT = {"m": 1 / 60, "h": 1.0, "d": 24.0}


def configure_add(parser: ArgumentParser) -> None:
    add_pattern_options(parser)
    parser.add_argument("-d", "--description", required=True, metavar="TEXT", help="what the rule is for")
    parser.add_argument(
        "--scope",
        choices=RULE_SCOPES,
        help="where the rule applies: this workspace (default of allow) or every folder (of ask and deny)",
    )
    end = parser.add_mutually_exclusive_group()
    end.add_argument(
        "--until",
        metavar="END",
        help=f"when the rule ends: turn, 10m, 2h, 7d or revoked (default of allow: {_DEFAULT_END_HOURS}h,"
        " of ask and deny: revoked)",
    )
    parser.add_argument(
        "--session",
        metavar="ID",
        help="with --until turn: the session whose turn it is (default: the one here)",
    )
    end.add_argument("--hours", type=float, metavar="N", help="the same as --until Nh")
    parser.add_argument(
        "--where",
        choices=get_args(Place),
        help="where the commands run that it allows: inside the sandbox (default) or outside, as you",
    )
    add_json_option(parser, "print the rule as a JSON object")


def execute_add(options: Namespace, console: Console) -> int:
    hours = None if options.until == "turn" else _hours_until_end(options)
    if options.until == "turn" and options.scope is not None:
        raise UsageError(_NOT_ADDED, "a turn is narrower than --scope", "leave --scope or --until turn out")
    with open_journal(human_only="add a rule") as journal:
        scope, scope_id = _rule_scope(journal, options)
        expires_at = None if hours is None else journal.now() + round(hours * HOUR_MICROS)
        body = replace(
            rule_draft(options, options.description, scope, scope_id, expires_at),
            place=_asked_place(options),
        )
        notes = rule_notes(
            tool=body.tool, pattern_kind=body.pattern_kind, pattern=body.pattern, effect=body.effect,
            known_tools={tool.id: tool for tool in tool_descriptors()},
        )  # fmt: skip
        console.note_lines(notes)
        rule = add_rule(journal, body, user_actor())
        extent = rule_extent_text(rule, journal.now())
    line = f"Added: {rule.id} {EFFECT_VERBS[rule.effect]} {rule_calls_text(rule)} {extent}."
    return console.result(rule_json(rule, notes), [line], is_json=options.json)


def _asked_place(options: Namespace) -> Place | None:
    """Return where the commands of a new rule run; None where that is not said."""
    if options.where is None:
        return None
    rule = Rule(
        id="new", effect=options.effect, origin="user", scope="always", tool=options.tool,
        pattern=options.pattern, pattern_kind="glob" if options.glob else "regex", description="",
        created_at=0,
    )  # fmt: skip
    if not rules.allows_commands(rule, tool_descriptors()):
        why = "--where is about commands, and this rule allows none"
        raise UsageError(_NOT_ADDED, why, "leave --where out")
    return options.where


def _rule_scope(journal: Journal, options: Namespace) -> tuple[RuleScope, str | None]:
    """Return where the rule holds: a scope, and what of that kind it is."""
    if options.until == "turn":
        return "turn", _asked_turn(journal, options)
    if (options.scope or ("workspace" if options.effect == "allow" else "always")) == "workspace":
        return "workspace", workspace_path(options.directory)
    return "always", None


def _asked_turn(journal: Journal, options: Namespace) -> str:
    """Return the open turn of the named session, else the only open one of this folder."""
    if options.session is not None:
        session = find_session(journal, options.session)
        if session.open_turn is None:
            raise Refusal(_NOT_ADDED, "no turn of this session is open", "name another end: --until 10m")
        return session.open_turn
    here = journal.sessions(workspace=workspace_path(options.directory))
    turns = [session.open_turn for session in here if session.open_turn is not None]
    if len(turns) != 1:
        count = (
            "no turn is open in this folder" if not turns else f"{len(turns)} turns are open in this folder"
        )
        raise Refusal(_NOT_ADDED, count, "name the session with --session ID, or another end: --until 10m")
    return turns[0]


def _hours_until_end(options: Namespace) -> float | None:
    """Return how many hours the rule holds; None until it is revoked."""
    if options.hours is not None:
        return _checked_hours(options.hours, f"--hours {options.hours}")
    if options.until is None:
        return _DEFAULT_END_HOURS if options.effect == "allow" else None
    if options.until == "revoked":
        return None
    match = _END_PATTERN.fullmatch(options.until)
    hours = float(match[1]) * _HOURS_BY_UNIT[match[2]] if match else math.nan
    return _checked_hours(hours, f"--until {one_line(options.until, 40)}")


def _checked_hours(hours: float, option: str) -> float:
    if math.isfinite(hours) and 0 < hours <= _MOST_HOURS:
        return hours
    raise UsageError(
        _NOT_ADDED,
        f"{option} is not a time ahead",
        "name 10m, 2h, 7d or another time up to ten years, --until turn or --until revoked",
    )


REMOVE_EXAMPLE = "workbench rules remove R3 R4"


def configure_remove(parser: ArgumentParser) -> None:
    parser.add_argument("rules", nargs="+", metavar="RULE", help="its number, such as R3")


def execute_remove(options: Namespace, console: Console) -> int:
    with open_journal(human_only="take a rule back") as journal:
        rules_by_id = {rule.id: rule for rule in journal.rules(active=False)}
        for number in dict.fromkeys(options.rules):
            before = rules_by_id.get(number)
            rule = revoke_rule(journal, number, user_actor())
            was_revoked = before is not None and before.revoked_at is not None
            console.say(
                f"{'Revoked before' if was_revoked else 'Revoked'}: {rule.id} {rule_calls_text(rule)}"
            )
            if rule.origin == "config" and not was_revoked:
                console.note("It comes from a configuration file: take it out there, or it is added again.")
    return EXIT_OK


PLACE_EXAMPLE = """workbench rules place R3 --where outside
workbench rules place R4 R5 --where inside"""


def configure_place(parser: ArgumentParser) -> None:
    parser.add_argument("rules", nargs="+", metavar="RULE", help="its number, such as R3")
    parser.add_argument(
        "--where", required=True, choices=get_args(Place), help="inside the sandbox, or outside, as you"
    )


def execute_place(options: Namespace, console: Console) -> int:
    with open_journal(human_only="say where the commands of a rule run") as journal:
        rules_by_id = {rule.id: rule for rule in journal.rules(active=False)}
        for number in dict.fromkeys(options.rules):
            found = rules_by_id.get(number)
            if found is not None and not rules.allows_commands(found, tool_descriptors()):
                raise Refusal("no rule was placed", f"{number} allows no commands", "name one that does")
            rule = place_rule(journal, number, options.where, user_actor())
            console.say(f"{rule.id} {rule_calls_text(rule)} {options.where} the sandbox.")
            if rule.origin == "config":
                console.note(
                    "It comes from a configuration file: say it there too, or the next start undoes this."
                )
    return EXIT_OK


BACKTEST_EXAMPLE = "workbench rules backtest Bash 'Bash(git diff *)' --glob"
_MOST_CALLS_SHOWN = 40


def configure_backtest(parser: ArgumentParser) -> None:
    add_pattern_options(parser)
    add_json_option(parser)


def execute_backtest(options: Namespace, console: Console) -> int:
    body = rule_draft(options, "tried on the past", "always", None, None)
    rule = Rule(
        id="new", effect=body.effect, origin="user", scope="always", tool=body.tool, pattern=body.pattern,
        pattern_kind=body.pattern_kind, description=body.description, created_at=0,
    )  # fmt: skip
    with open_journal() as journal:
        call_count, matched = 0, list[Call]()
        for call, is_matched in backtest_calls(journal, rule):
            call_count += 1
            matched += [call] if is_matched else []
    if options.json:
        console.json({"calls": call_count, "matched": [row_fields(call, _MATCHED_CALL) for call in matched]})
        return EXIT_OK
    verb = {"allow": "allowed", "ask": "asked about", "deny": "denied"}[body.effect]
    console.say(f"It would have {verb} {len(matched)} of {call_count} calls of {one_line(body.tool, 40)}.")
    rows = [
        f"{call.state:<12} {one_line(call.target or call.tool, 80)}" for call in matched[-_MOST_CALLS_SHOWN:]
    ]
    if rows:
        console.say("\n".join(rows))
    if len(matched) > _MOST_CALLS_SHOWN:
        console.say(f"These are the last {_MOST_CALLS_SHOWN}; --json has all.")
    return EXIT_OK


def backtest_calls(journal: Journal, rule: Rule) -> Iterator[tuple[Call, bool]]:
    """Yield every call of a tool that a rule is about, once, and whether the rule covers it."""
    tools_by_id = {tool.id: tool for tool in tool_descriptors()}
    for session in journal.sessions():
        for call in journal.calls(session.id):
            if call.replaced_by is not None or is_copied_by_fork(session, call):
                continue
            tool, parameters = as_own_call(call.tool, call.parameters)
            descriptor = tools_by_id.get(tool)
            if descriptor is not None and rule_concerns_tool(rule, descriptor):
                yield call, rules.rule_covers(rule, call_subject(descriptor, parameters, session.workspace))


_MATCHED_CALL = "id session_id tool target state requested_at"
RULE_SCOPES = ("always", "workspace")
RULE_EFFECTS = ("allow", "ask", "deny")


def add_pattern_options(parser: ArgumentParser) -> None:
    """Add tool, pattern and effect."""
    parser.add_argument("tool", metavar="TOOL", help="id of the tool; with --glob also a name such as Bash")
    parser.add_argument("pattern", metavar="PATTERN", help="regular expression over the parameters as JSON")
    parser.add_argument(
        "--glob", action="store_true", help="PATTERN is a permission pattern such as Bash(git diff *)"
    )
    parser.add_argument(
        "--effect", choices=RULE_EFFECTS, default="allow", help="what the rule does (default: allow)"
    )


def rule_draft(
    options: Namespace, description: str, scope: RuleScope, scope_id: str | None, expires_at: int | None
) -> RuleAdded:
    kind = "glob" if options.glob else "regex"
    problems = rule_validation.rule_problems(
        tool=options.tool, pattern_kind=kind, pattern=options.pattern, description=description,
        known_tools={tool.id: tool for tool in tool_descriptors()}, effect=options.effect, scope=scope,
    )  # fmt: skip
    if problems:
        raise Refusal(_NOT_ADDED, "; ".join(problems), "say more exactly what it is about")
    return RuleAdded(
        rule="", effect=options.effect, origin="user", scope=scope, scope_id=scope_id, tool=options.tool,
        pattern_kind=kind, pattern=options.pattern, description=description, expires_at=expires_at,
    )  # fmt: skip


_PATTERN_CELLS = 60
_NOT_ADDED = "no rule was added"


def rule_json(rule: Rule, warnings: Sequence[str] = ()) -> JsonFields:
    """Return a rule as JSON; the fields of S0 ApprovalRule are among them."""
    return {
        **row_fields(rule, "id effect origin scope scope_id"),
        "tool_name": rule.tool,
        "pattern_kind": rule.pattern_kind,
        "param_pattern": rule.pattern,
        "where": (rule.place or "inside") if rules.allows_commands(rule, tool_descriptors()) else None,
        **row_fields(
            rule, "description created_at created_from expires_at revoked_at last_used_at use_count"
        ),
        "warnings": list(warnings),
        **_sense_json(rule),
    }


def _sense_json(rule: Rule) -> JsonFields:
    """Return how a rule that denies or asks about commands is understood."""
    sense = rule_sense(rule)
    return {} if sense is None else {"means": sense.text, "stops": list(sense.examples)}


def rule_line(rule: Rule, now: int, warnings: Sequence[str] = (), *, is_over: bool = False) -> str:
    """Return the lines of a rule: number, effect, calls, place and end, origin, uses, warnings."""
    state = "revoked" if rule.revoked_at is not None else rule.effect
    if rule.revoked_at is None and rule.expires_at is not None and rule.expires_at <= now:
        state = "expired"
    state = "ended" if is_over and rule.revoked_at is None else state
    used = f"used {rule.use_count} times"
    if rule.last_used_at is not None:
        used += f", last {spoken_duration((now - rule.last_used_at) / SECOND_MICROS)} ago"
    what = one_line(rule_calls_text(rule), _PATTERN_CELLS + 24)
    extent = rule_extent_text(rule, now, is_over=is_over)
    outside = (
        " outside the sandbox"
        if rule.place == "outside" and rules.allows_commands(rule, tool_descriptors())
        else ""
    )
    about = f"{extent}{outside}; by {rule.origin}, {used}: {one_line(rule.description, 60)}"
    wrong = "".join(f"\n     ! {one_line(text, 240)}" for text in warnings)
    return f"{rule.id:<4} {state:<8} {what}\n     {about}{_sense_lines(rule_sense(rule))}{wrong}"


def _sense_lines(sense: DenialSense | None) -> str:
    if sense is None:
        return ""
    stops = f"\n     such as {one_line('  |  '.join(sense.examples), 240)}" if sense.examples else ""
    return f"\n     means {one_line(sense.text, 320)}{stops}"
