"""run_in_terminal: a shell command in the workspace.

Owns the argument list and the time that a command gets. It never starts anything itself.
"""

import shutil
from typing import Final

from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.tools.base import CommandSpec, Limits, ToolRefused
from workbench.tools.results import result_schema

LONGEST_SECONDS: Final = 300

DESCRIPTOR: Final = ToolDescriptor(
    id="run_in_terminal",
    wire_name="run_in_terminal",
    description=(
        "Run a shell command in the workspace without a terminal or input. Returns its output and exit code; "
        "a command that ends with another code than 0 has failed. Each command starts in a new shell."
    ),
    capability="execute",
    risk_level="dangerous",
    verb="run",
    command_parameter="command",
    target_parameter="command",
    input_schema={
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1},
            "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": LONGEST_SECONDS},
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    output_schema=result_schema(exit_code={"type": ["integer", "null"]}),
    examples=(
        Example(description="Run the tests", parameters={"command": "pytest -q"}),
        Example(description="Build, with more time", parameters={"command": "make", "timeout_seconds": 300}),
    ),
)


class RunInTerminal:
    """The tool."""

    descriptor = DESCRIPTOR

    def command(self, parameters: JsonObject, limits: Limits) -> CommandSpec:
        """Return the shell and its arguments; see the descriptor."""
        command = str(parameters["command"])
        if not command.strip() or "\0" in command:
            raise ToolRefused("Not run: the command is empty or holds a NUL character; send shell text.")
        shell = shutil.which("bash") or "/bin/sh"
        given = parameters.get("timeout_seconds")
        seconds = min(float(given if given is not None else limits.command_seconds), LONGEST_SECONDS)
        # Behind `--` a command that begins with a dash is no option of the shell.
        return CommandSpec(argv=(shell, "-c", "--", command), command=command, timeout_seconds=seconds)
