"""`workbench rules remove`: take rules back; what they let pass before stays as it was recorded."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import opened, person
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.rules import revoke_rule

EXAMPLE = "workbench rules remove R3 R4"


def configure(parser: ArgumentParser) -> None:
    """Add the numbers."""
    parser.add_argument("rules", nargs="+", metavar="RULE", help="its number, such as R3")


def execute(options: Namespace, console: Console) -> int:
    """Revoke the named rules."""
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "take a rule back")
        known = {rule.id: rule for rule in journal.rules(active=False)}
        for number in dict.fromkeys(options.rules):
            before = known.get(number)
            rule = revoke_rule(journal, number, person())
            was = before is not None and before.revoked_at is not None
            console.say(f"{'Revoked before' if was else 'Revoked'}: {rule.id} {rule.tool} {rule.pattern}")
            if rule.origin == "config" and not was:
                console.note("It comes from a configuration file: take it out there, or it is added again.")
    return DONE
