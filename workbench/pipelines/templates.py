"""Templates in prompts, commands and paths.

A small language read with regular expressions. A filled value is not looked into again, a shell command gets
values as variables, and no code is evaluated. Pure.
"""

# What the trusted manifest says of the project is its own text, and a command of it is several words: it is
# put into a command as it stands.
#
# Any other value in a command is a variable. Where a template stood, the shell expands a variable that holds
# the value, within whatever quotes are there: no quoting of ours can be broken out of, because nothing is
# quoted.

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

from msgspec import Struct

from workbench.domain.values import Json

_TEMPLATE: Final = re.compile(r"(?<!\$)\{\{\s*([A-Za-z0-9_][A-Za-z0-9_./\[\]-]{0,199})\s*\}\}")
_EXPRESSION: Final = re.compile(r"(?<!\$)\{\{([^{}\n]{1,200}?(?:==|!=|\|\|?|&&)[^{}\n]{1,200}?)\}\}")
ALWAYS_KNOWN: Final = frozenset(
    {
        "input", "pipeline_id", "pipeline_name", "step_id", "timestamp", "workspace",
        "pipeline_context.pipeline_id", "pipeline_context.pipeline_name", "pipeline_context.step_id",
        "pipeline_context.branch_name", "branch_name", "attempt", "run.id", "run.name",
    }
)  # fmt: skip
"""Names that every step of every run has."""
ITEM_NAMES: Final = ("item", "task")
"""Names of the item in a step with a matrix."""
VARIABLE_PREFIX: Final = "WORKBENCH_VALUE_"


class UnresolvedTemplate(ValueError):
    """A template names nothing that is there."""

    def __init__(self, name: str) -> None:
        super().__init__(f"nothing is called {{{{ {name} }}}} here")
        self.name = name


def template_names(text: str) -> Iterator[str]:
    """Yield the names of the templates in a text, in order."""
    for match in _TEMPLATE.finditer(text):
        yield match[1]


def canonical_name(name: str) -> str:
    """Return a name in its short form: `x.out.n`, `steps.x.artifacts.n`, `steps.x.results`: `x.output`."""
    if not name.startswith("steps."):
        step, is_output, rest = name.partition(".out.")
        return f"{step}.output.{rest}" if is_output else name
    short = name.removeprefix("steps.")
    step, is_artifact, rest = short.partition(".artifacts.")
    if is_artifact:
        return f"{step}.output.{rest}"
    step, is_results, rest = short.partition(".results")
    return f"{step}.output{rest}" if is_results else short


def fill_templates(text: str, value: Callable[[str], str]) -> str:
    """Return a text with its templates filled, values are not read again. Raises UnresolvedTemplate."""
    return _TEMPLATE.sub(lambda match: value(match[1]), text)


def fill_prose(text: str, value: Callable[[str], str | None]) -> str:
    """Fill the templates of a sentence; those whose value is None stay as they are written.

    Where a value is empty, the space before it goes with it.
    """
    pieces: list[str] = []
    position = 0
    for match in _TEMPLATE.finditer(text):
        before, found = text[position : match.start()], value(match[1])
        filled = match[0] if found is None else found
        pieces += [before if filled else before.removesuffix(" "), filled]
        position = match.end()
    return "".join([*pieces, text[position:]])


class CommandPiece(Struct, frozen=True, kw_only=True):
    """A part of a shell command: text of it, or what takes the place of a template."""

    text: str
    name: str = ""
    """Of the template; empty for text of the command itself."""
    variable: str = ""
    """Holds the template's value; empty where the value is a part of the command."""


def shell_command(
    text: str, value: Callable[[str], str], own_text: Callable[[str], str | None]
) -> tuple[str, dict[str, str]]:
    """Return a shell command with its templates filled, and the variables that hold their values.

    `own_text` returns what the trusted manifest itself says under a name, which becomes a part of the
    command; None for names whose value comes from elsewhere. Raises UnresolvedTemplate.
    """
    pieces = command_pieces(text, own_text)
    variables = {piece.variable: value(piece.name) for piece in pieces if piece.variable}
    return "".join(piece.text for piece in pieces), variables


def command_pieces(text: str, own_text: Callable[[str], str | None]) -> list[CommandPiece]:
    """Take a shell command apart at its templates."""
    pieces: list[CommandPiece] = []
    state, position, count = "", 0, 0
    for match in _TEMPLATE.finditer(text):
        before, position = text[position : match.start()], match.end()
        state = _shell_quoting(before, state)
        own = own_text(match[1])
        pieces.append(CommandPiece(text=before))
        if own is not None:
            state = _shell_quoting(own, state)
            pieces.append(CommandPiece(text=own, name=match[1]))
            continue
        count += 1
        name = f"{VARIABLE_PREFIX}{count}"
        written = _QUOTED_VARIABLES[state[-1:]].format(name)
        pieces.append(CommandPiece(text=written, name=match[1], variable=name))
    return [*pieces, CommandPiece(text=text[position:])]


_QUOTED_VARIABLES: Final = {
    "": '"${{{}}}"', "(": '"${{{}}}"', "+": "${{{}}}", '"': "${{{}}}", "'": "'\"${{{}}}\"'", "#": "",
}  # fmt: skip
"""What takes the place of a template, by the innermost construct around it."""


def _shell_quoting(text: str, state: str) -> str:
    """Return what is open behind a text, the innermost last.

    A quote, `#` for a comment, `(` for commands in brackets, also in `$( )`, and `+` for brackets of
    arithmetic.
    """
    position, is_word_start = 0, True
    while position < len(text):
        sign, inner = text[position], state[-1:]
        if inner == "#":
            state = state[:-1] if sign == "\n" else state
        elif sign == "\\" and inner != "'":
            position += 1
        elif inner in ("'", '"') and sign == inner:
            state = state[:-1]
        elif inner != "'" and text.startswith("$(", position):
            is_arithmetic = text.startswith("$((", position)
            state += "++" if is_arithmetic else "("
            position += 2 if is_arithmetic else 1
            sign = "("
        elif inner not in ("'", '"'):
            state = _unquoted_state(sign, state, is_word_start=is_word_start)
        is_word_start = sign in " \t\n;&|("
        position += 1
    return state


def _unquoted_state(sign: str, state: str, *, is_word_start: bool) -> str:
    if sign in "'\"" or (sign == "#" and is_word_start):
        return state + sign
    if sign == "(":
        return state + ("+" if state.endswith("+") else "(")
    return state[:-1] if sign == ")" and state[-1:] in ("(", "+") else state


def unfilled_expressions(text: str) -> Iterator[str]:
    """Yield what stands in double braces, looks like a question and is no name: it stays as it is."""
    for match in _EXPRESSION.finditer(text):
        yield match[1].strip()


def member_value(value: Json, path: str) -> Json:
    """Return a value below another by a dotted way; None if there is none."""
    for part in filter(None, path.split(".")):
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, Json]", value).get(part)
    return value


def value_text(value: Json) -> str:
    """Return a value as a template shows it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
