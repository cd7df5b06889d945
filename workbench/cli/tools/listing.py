"""`workbench tools list`: the catalogue, one line a tool."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.render.facts import Facts
from workbench.domain.codec import plain
from workbench.domain.values import ToolDescriptor
from workbench.tools.registry import every_tool

EXAMPLE = "workbench tools list --json"


def configure(parser: ArgumentParser) -> None:
    """Add how it prints."""
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """List the tools."""
    found = all_tools()
    if options.json:
        console.json([tool_facts(tool) for tool in found])
        return DONE
    width = max(len(tool.id) for tool in found)
    for tool in found:
        asks = "asks" if tool.requires_approval else "does not ask"
        risk = tool.risk_level.replace("_", " ")
        console.say(f"{tool.id.ljust(width)}  {risk:<10}  {asks}  {tool.description}")
    return DONE


def all_tools() -> tuple[ToolDescriptor, ...]:
    """Return every tool once, by name."""
    return tuple(sorted((tool.descriptor for tool in every_tool()), key=lambda tool: tool.id))


def tool_facts(tool: ToolDescriptor) -> Facts:
    """Return a tool as JSON, without its schemas."""
    return {
        "id": tool.id,
        "wire_name": tool.wire_name,
        "description": tool.description,
        "capability": tool.capability,
        "risk_level": tool.risk_level,
        "requires_approval": tool.requires_approval,
        "allowed_providers": list(tool.allowed_providers),
        "examples": plain(tool.examples),
    }
