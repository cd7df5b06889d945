"""`workbench config validate`: everything that is wrong in the configuration, all at once."""

from argparse import ArgumentParser, Namespace

from workbench.cli.config.reading import read
from workbench.cli.config.show import problem_facts, tell_ignored
from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED
from workbench.cli.place import workspace_of
from workbench.host import config_rules
from workbench.tools.registry import catalogue

EXAMPLE = "workbench config validate"


def configure(parser: ArgumentParser) -> None:
    """Add how it prints."""
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Validate; 1 when something is wrong."""
    loaded = read(workspace_of(options.directory))
    tools = catalogue().descriptors()
    found = (*loaded.problems, *config_rules.problems(loaded, tools))
    wide = config_rules.notes(loaded, tools)
    code = FAILED if found else DONE
    if options.json:
        problems = [problem_facts(problem) for problem in found]
        console.json({"ok": not problems, "problems": problems, "notes": [*loaded.notes, *wide]})
        return code
    for problem in found:
        console.note(str(problem))
    tell_ignored(loaded, console)
    for note in wide:
        console.note(note)
    console.say(f"{len(found)} wrong." if found else "Nothing is wrong.")
    return code
