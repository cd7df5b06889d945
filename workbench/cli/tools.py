"""`workbench tools list, schema`: the catalogue of tools. Runs none of them."""

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_OK, Refusal
from workbench.cli.row_json import JsonFields, row_fields
from workbench.config.layers import load_config
from workbench.domain.values import ToolDescriptor
from workbench.effects.files import workspace_path
from workbench.effects.process_marks import AGENT_VARIABLE
from workbench.journal.home import default_home_path
from workbench.text.safe import one_line
from workbench.tools.registry import narrowed_tool, tool_descriptors

LIST_EXAMPLE = "workbench tools list --json"


def configure_list(parser: ArgumentParser) -> None:
    add_json_option(parser, "print a JSON array")


def execute_list(options: Namespace, console: Console) -> int:
    descriptors = _offered_tools(options)
    width = max(len(tool.id) for tool in descriptors)
    lines = (_tool_line(tool, width) for tool in descriptors)
    return console.result([tool_json(tool) for tool in descriptors], lines, is_json=options.json)


def _offered_tools(options: Namespace) -> tuple[ToolDescriptor, ...]:
    """Return all tools as the settings here offer them; an agent is told nothing of its human's."""
    if AGENT_VARIABLE in os.environ and "WORKBENCH_HOME" not in os.environ:
        return tool_descriptors()
    home, workspace = default_home_path(os.environ), Path(workspace_path(options.directory))
    loaded = load_config(home, workspace, trusted=False, env=os.environ, options={})
    return tuple(narrowed_tool(tool, loaded.config.tools) for tool in tool_descriptors())


def _tool_line(tool: ToolDescriptor, width: int) -> str:
    asks = "asks" if tool.requires_approval else "does not ask"
    providers = ", ".join(one_line(provider, 60) for provider in tool.allowed_providers) or "no provider"
    restriction = "" if "*" in tool.allowed_providers else f"only for {providers}: "
    risk = tool.risk_level.replace("_", " ")
    return f"{tool.id.ljust(width)}  {risk:<10}  {asks}  {restriction}{tool.description}"


def tool_json(tool: ToolDescriptor) -> JsonFields:
    """Return a tool as JSON, without its schemas."""
    return row_fields(
        tool,
        "id wire_name description capability risk_level requires_approval allowed_providers examples",
    )


SCHEMA_EXAMPLE = "workbench tools schema read_file"


def configure_schema(parser: ArgumentParser) -> None:
    """Add the tool; `--json` is taken as well, as everywhere."""
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="the tool; else all of them")
    add_json_option(parser, "accepted; the output is JSON in any case")


def execute_schema(options: Namespace, console: Console) -> int:
    descriptors = _offered_tools(options)
    if options.tool is None:
        console.json([schema_json(tool) for tool in descriptors])
        return EXIT_OK
    tool = next((tool for tool in descriptors if options.tool in (tool.id, tool.wire_name)), None)
    if tool is None:
        names = ", ".join(tool.id for tool in descriptors)
        raise Refusal(
            f"there is no tool “{one_line(options.tool, 60)}”", f"there is {names}", "name one of these"
        )
    console.json(schema_json(tool))
    return EXIT_OK


def schema_json(tool: ToolDescriptor) -> JsonFields:
    return {**tool_json(tool), **row_fields(tool, "input_schema output_schema")}
