"""`workbench tools schema`: what a tool takes, with examples; JSON in any case."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.render.facts import Facts
from workbench.cli.tools.listing import all_tools, tool_facts
from workbench.domain.codec import plain
from workbench.domain.values import ToolDescriptor
from workbench.text.safe import one_line

EXAMPLE = "workbench tools schema read_file"


def configure(parser: ArgumentParser) -> None:
    """Add the tool; `--json` is taken as well, as everywhere."""
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="the tool; else all of them")
    parser.add_argument("--json", action="store_true", help="print JSON; it always does")


def execute(options: Namespace, console: Console) -> int:
    """Print schemas."""
    found = all_tools()
    if options.tool is None:
        console.json([schema_facts(tool) for tool in found])
        return DONE
    named = next((tool for tool in found if options.tool in (tool.id, tool.wire_name)), None)
    if named is None:
        names = ", ".join(tool.id for tool in found)
        raise Refusal(
            f"there is no tool “{one_line(options.tool, 60)}”", f"there is {names}", "name one of these"
        )
    console.json(schema_facts(named))
    return DONE


def schema_facts(tool: ToolDescriptor) -> Facts:
    """Return a tool with its schemas as JSON."""
    return {
        **tool_facts(tool),
        "input_schema": plain(tool.input_schema),
        "output_schema": plain(tool.output_schema),
    }
