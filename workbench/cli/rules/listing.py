"""`workbench rules list`: the rules there are, with where they come from and how often they were used."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import opened
from workbench.cli.render.rows import table
from workbench.cli.rules.facts import rule_facts, rule_line
from workbench.cli.tools.listing import all_tools
from workbench.policy.rule_notes import listed

EXAMPLE = """workbench rules list
workbench rules list --all --json"""


def configure(parser: ArgumentParser) -> None:
    """Add what is listed."""
    parser.add_argument("--all", action="store_true", help="those that were revoked or expired, too")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """List rules."""
    with opened() as (_, journal):
        found, now = journal.rules(active=not options.all), journal.now()
    wrong = listed(found, {tool.id: tool for tool in all_tools()})
    if options.json:
        console.json([rule_facts(rule, wrong.get(rule.id, ())) for rule in found])
    else:
        lines = [rule_line(rule, now, wrong.get(rule.id, ())) for rule in found]
        console.say(table(lines, "No rule: every call is asked about."))
    return DONE
