"""`workbench rules add`: let calls pass, have them asked, or deny them, by a rule of one's own.

Owns the words around that. An agent cannot add one: the line of parents and the environment are looked at.
"""

import math
from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse
from workbench.cli.place import opened, person, workspace_of
from workbench.cli.rules.facts import rule_facts
from workbench.cli.rules.pattern import SCOPES, add_pattern, draft
from workbench.cli.tools.listing import all_tools
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.rules import add_rule
from workbench.policy.rule_notes import notes

EXAMPLE = r"""workbench rules add Bash 'Bash(git diff *)' --glob -d 'look at changes'
workbench rules add read_file '"path":"docs/[^"]*\.md"' -d 'read the documentation' --scope workspace
workbench rules add Bash 'Bash(git push *)' --glob --effect deny -d 'pushing is my business'"""

_MICROS_PER_HOUR = 3_600_000_000
_MOST_HOURS = 87_600.0


def configure(parser: ArgumentParser) -> None:
    """Add the rule."""
    add_pattern(parser)
    parser.add_argument("-d", "--description", required=True, metavar="TEXT", help="what the rule is for")
    parser.add_argument("--scope", choices=SCOPES, default="always", help="where it holds (default: always)")
    parser.add_argument("--hours", type=float, metavar="N", help="it expires after so many hours")
    parser.add_argument("--json", action="store_true", help="print the rule as a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Add the rule."""
    hours = options.hours
    if hours is not None and not (math.isfinite(hours) and 0 < hours <= _MOST_HOURS):
        raise Misuse(
            "no rule was added",
            f"--hours {hours} is no time to come",
            "name hours above 0, at most ten years",
        )
    scope_id = workspace_of(options.directory) if options.scope == "workspace" else None
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "add a rule")
        expires_at = None if hours is None else journal.now() + round(hours * _MICROS_PER_HOUR)
        body = draft(options, options.description, scope_id, expires_at)
        said = notes(
            tool=body.tool, pattern_kind=body.pattern_kind, pattern=body.pattern, effect=body.effect,
            known_tools={tool.id: tool for tool in all_tools()},
        )  # fmt: skip
        for note in said:
            console.note(note)
        rule = add_rule(journal, body, person())
    if options.json:
        console.json(rule_facts(rule, said))
    else:
        console.say(f"Added: {rule.id} {rule.effect}s {rule.tool} {rule.pattern}")
    return DONE
