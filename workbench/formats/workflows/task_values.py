"""Variables of a Taskfile, and the Go templates that name them. Pure."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from workbench.text.json_nodes import LocatedNode
from workbench.text.safe import one_line

_TEMPLATE: Final = re.compile(r"\{\{-?(.*?)-?\}\}", re.DOTALL)
_NAME: Final = re.compile(r"\.([A-Za-z_]\w*)")
_WITH_DEFAULT: Final = (
    re.compile(r"\.(?P<name>[A-Za-z_]\w*)\s*\|\s*default\s+(?P<quote>[\"'`])(?P<text>[^\"'`]*)(?P=quote)"),
    re.compile(r"default\s+(?P<quote>[\"'`])(?P<text>[^\"'`]*)(?P=quote)\s+\.(?P<name>[A-Za-z_]\w*)"),
)
_MOST_NESTED: Final = 10
_MOST_FILLS: Final = 50_000
_MOST_TEXT: Final = 100_000
INPUT: Final = "{{ input }}"
"""The template of the input of a run."""
ARGUMENTS: Final = "CLI_ARGS"
"""What stands behind `--` on Task's command line: here the input of the run."""


class Value(Struct, frozen=True, kw_only=True):
    """What a variable is set to."""

    text: str
    line: int
    is_command: bool = False
    """Whether the value is what a command prints."""
    problem: str = ""
    """Why it cannot be used."""


def scalar(node: LocatedNode | None) -> str:
    """Return a scalar as a text; empty for anything else."""
    if node is None or node.value is None or node.members is not None or node.items is not None:
        return ""
    return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)


def read_values(node: LocatedNode | None) -> dict[str, Value]:
    """Return the variables of `vars` or `env`."""
    return {name: _value(member) for name, member in ((node and node.members) or {}).items()}


def _value(node: LocatedNode) -> Value:
    members = node.members
    if members is not None and set(members) == {"sh"}:
        return Value(text=scalar(members["sh"]), line=node.line, is_command=True)
    if members is not None or node.items is not None:
        return Value(text="", line=node.line, problem="is a list, a map or a reference")
    return Value(text=scalar(node), line=node.line)


def subshell(command: str) -> str:
    """Return a command in a shell of its own, as Task runs each one."""
    command = _without_open_escape(command).strip("\n")
    if "\n" in command or "#" in command:
        return f"(\n{command}\n)"
    return f"( {command} )" if command.startswith("(") else f"({command})"


def _without_open_escape(command: str) -> str:
    """Return a command whose last backslash does not reach behind it.

    One before the end of the last line joins it with nothing; at the very end a shell reads it as itself.
    """
    text = command.rstrip("\n")
    if (len(text) - len(text.rstrip("\\"))) % 2 == 0:
        return command
    return text + "\\" if text == command else text[:-1]


class TaskValues:
    """Fills templates; what cannot be filled is reported."""

    def __init__(self, report: Callable[[int, str], None]) -> None:
        self._report = report
        self.has_input = False
        """Whether a template named the arguments of the command line."""
        self._fills = 0

    def fill(self, text: str, scope: Mapping[str, Value], line: int, nested: int = 0) -> str:
        """Return a text with its templates filled from the variables of a scope."""
        self._fills += 1
        if nested > _MOST_NESTED or self._fills > _MOST_FILLS:
            self._report(line, "its variables name one another too often")
            return ""
        pieces: list[str] = []
        position = length = quotes = 0
        for match in _TEMPLATE.finditer(text):
            before, position = text[position : match.start()], match.end()
            quotes += before.count("'")
            filled = self._filled(match[1].strip(), scope, line, nested, is_quoted=quotes % 2 == 1)
            pieces += [before, filled]
            length += len(filled)
            if length > _MOST_TEXT:
                self._report(line, f"it comes to more than {_MOST_TEXT:,} characters")
                return ""
        return "".join([*pieces, text[position:]])

    def _filled(
        self, template: str, scope: Mapping[str, Value], line: int, nested: int, *, is_quoted: bool
    ) -> str:
        default = next((match for form in _WITH_DEFAULT if (match := form.fullmatch(template))), None)
        plain = _NAME.fullmatch(template)
        name = default["name"] if default else plain[1] if plain else ""
        if name == ARGUMENTS or (template == "input" and self.has_input):
            self.has_input = True
            return INPUT
        value = scope.get(name)
        if value is None and default:
            return default["text"]
        if value is None or value.problem:
            why = f"{value.problem}" if value else "is not a variable of this file"
            self._report(line, f"{{{{{one_line(template, 80)}}}}} {why}")
            return ""
        filled = self.fill(value.text, scope, value.line, nested + 1)
        if value.is_command and is_quoted:
            self._report(
                line, f"{{{{{one_line(template, 80)}}}}} is what a command prints, inside single quotes"
            )
        return f"${subshell(filled)}" if value.is_command else filled
