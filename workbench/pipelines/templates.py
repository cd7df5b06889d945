"""Templates in prompts, commands and paths: what they name, and putting values in their place.

Owns the form `{{ name }}` and the names that every step has. A value never becomes shell text: in a command
it is passed as a variable and the place where it stood expands that variable, whatever quotes are around it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

from workbench.domain.values import Json

_TEMPLATE: Final = re.compile(r"(?<!\$)\{\{\s*([A-Za-z0-9_][A-Za-z0-9_./\[\]-]{0,199})\s*\}\}")

_EXPRESSION: Final = re.compile(r"(?<!\$)\{\{([^{}\n]{1,200}?(?:==|!=|\|\|?|&&)[^{}\n]{1,200}?)\}\}")

ALWAYS: Final = frozenset(
    {
        "input", "pipeline_id", "pipeline_name", "step_id", "timestamp", "workspace",
        "pipeline_context.pipeline_id", "pipeline_context.pipeline_name", "pipeline_context.step_id",
        "pipeline_context.branch_name", "branch_name", "attempt",
    }
)  # fmt: skip
"""Names that every step of every run has."""

ITEM: Final = ("item", "task")
"""Names of the item in a step with a matrix."""

VARIABLE: Final = "WORKBENCH_VALUE_"


class Unresolved(ValueError):
    """A template names nothing that is there."""

    def __init__(self, name: str) -> None:
        super().__init__(f"nothing is called {{{{ {name} }}}} here")
        self.name = name


def names(text: str) -> Iterator[str]:
    """Yield the names of the templates in a text, in order."""
    for match in _TEMPLATE.finditer(text):
        yield match[1]


def canonical(name: str) -> str:
    """Return a name in its short form: `steps.x.artifacts.n` and `steps.x.results` are outputs of x."""
    if not name.startswith("steps."):
        return name
    short = name.removeprefix("steps.")
    step, is_artifact, rest = short.partition(".artifacts.")
    if is_artifact:
        return f"{step}.output.{rest}"
    step, is_results, rest = short.partition(".results")
    return f"{step}.output{rest}" if is_results else short


def filled(text: str, value: Callable[[str], str]) -> str:
    """Return a text with the value of each template in its place; values are not looked into again.

    Raises:
        Unresolved: From `value`.
    """
    return _TEMPLATE.sub(lambda match: value(match[1]), text)


def shell(text: str, value: Callable[[str], str]) -> tuple[str, dict[str, str]]:
    """Return a shell command that expands variables where templates stood, and those variables.

    Raises:
        Unresolved: From `value`.
    """
    variables: dict[str, str] = {}
    pieces: list[str] = []
    state, at = "", 0
    for match in _TEMPLATE.finditer(text):
        before = text[at : match.start()]
        state = _quoting(before, state)
        name = f"{VARIABLE}{len(variables) + 1}"
        variables[name] = value(match[1])
        pieces += [before, _FORMS[state].format(name)]
        at = match.end()
    return "".join([*pieces, text[at:]]), variables


_FORMS: Final = {"": '"${{{}}}"', '"': "${{{}}}", "'": "'\"${{{}}}\"'", "#": ""}


def _quoting(text: str, state: str) -> str:
    """Return within which quotes a shell is after a text: none, single, double, or a comment."""
    at, is_word_start = 0, True
    while at < len(text):
        sign = text[at]
        if state == "#":
            state = "" if sign == "\n" else "#"
        elif sign == "\\" and state != "'":
            at += 1
        elif state:
            state = "" if sign == state else state
        elif sign in "'\"" or (sign == "#" and is_word_start):
            state = sign
        is_word_start = sign in " \t\n;&|("
        at += 1
    return state


def expressions(text: str) -> Iterator[str]:
    """Yield what stands in double braces, looks like a question and is no name: it stays as it is."""
    for match in _EXPRESSION.finditer(text):
        yield match[1].strip()


def member(value: Json, path: str) -> Json:
    """Return a value below another by a dotted way; None if there is none."""
    for part in filter(None, path.split(".")):
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, Json]", value).get(part)
    return value


def as_text(value: Json) -> str:
    """Return a value as a template shows it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
