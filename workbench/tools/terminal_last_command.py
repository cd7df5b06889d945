"""terminal_last_command: what the session ran last, how it ended and what it printed.

Owns the words. It runs nothing: it reads what is recorded of the session's own commands.
"""

from typing import Final

from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.text.human import duration
from workbench.tools.base import LastCommand, Output, Place
from workbench.tools.results import TEXT, result_schema

DESCRIPTOR: Final = ToolDescriptor(
    id="terminal_last_command",
    wire_name="terminal_last_command",
    description=(
        "Return the last command that this session ran with run_in_terminal, its exit code and its output. "
        "Runs nothing."
    ),
    capability="read",
    risk_level="read_only",
    verb="read",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    output_schema=result_schema(command=TEXT),
    examples=(Example(description="The last command", parameters={}),),
)


class TerminalLastCommand:
    """The tool."""

    descriptor = DESCRIPTOR

    def read(self, parameters: JsonObject, place: Place) -> Output:  # noqa: ARG002 -- it takes none
        """Return the last command; see the descriptor."""
        last = place.last_command()
        if last is None:
            words = "No command was run in this session yet."
            return Output(text=words, metadata={"command": ""}, summary="no command yet")
        text = f"$ {last.command}\n{_ending(last)}\n\n{last.output}".rstrip()
        return Output(text=text, metadata={"command": last.command}, summary=last.command.split("\n")[0])


def _ending(last: LastCommand) -> str:
    code = "" if last.exit_code is None else f"exit code {last.exit_code}"
    facts = ", ".join(dict.fromkeys(filter(None, (last.detail.replace("exit ", "exit code "), code))))
    return f"[{last.state}{f' ({facts})' if facts else ''} after {duration(last.duration_ms / 1000)}]"
