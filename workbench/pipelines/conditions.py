"""Conditions of routes and loops: read from their text, and asked whether they hold.

Owns their small language: `outcome=success`, `context.KEY=VALUE`, and comparisons of templates with texts
inside double braces. It looks nothing up and evaluates no code.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from workbench.text.safe import one_line

OUTCOMES: Final = ("success", "failure")
TRUE: Final = frozenset({"true", "yes", "done"})
"""What a template by itself has to come to."""

_PLAIN: Final = re.compile(r"(outcome|context\.[A-Za-z0-9_.-]{1,100})\s*(==?|!=)\s*(.{1,200})", re.DOTALL)
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<op>==|!=|&&|\|\||!)|'(?P<single>[^']{0,200})'|\"(?P<double>[^\"]{0,200})\""
    r"|(?P<name>[A-Za-z0-9_][A-Za-z0-9_./\[\]-]{0,199}))"
)
_HELP: Final = (
    "known are outcome=success, outcome=failure, context.KEY=VALUE and {{ STEP.output.FIELD == 'text' }}"
)


class BadCondition(ValueError):
    """A condition that nobody can ask; says what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """A name that stands for a value, or a text."""

    text: str
    is_name: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One comparison."""

    left: Operand
    right: Operand | None = None
    """None: the left has to be true."""
    is_negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Any of these, each of which is all of its terms; none at all always holds."""

    any_of: tuple[tuple[Term, ...], ...] = ()

    def names(self) -> Iterator[str]:
        """Yield what it looks up."""
        for term in (term for terms in self.any_of for term in terms):
            yield from (one.text for one in (term.left, term.right) if one is not None and one.is_name)

    def holds(self, value: Callable[[str], str]) -> bool:
        """Return whether it holds, given what its names stand for."""
        return not self.any_of or any(all(_holds(term, value) for term in terms) for terms in self.any_of)


def _holds(term: Term, value: Callable[[str], str]) -> bool:
    def of(one: Operand) -> str:
        return value(one.text).strip() if one.is_name else one.text

    found = of(term.left) == of(term.right) if term.right else of(term.left).lower() in TRUE
    return found != term.is_negated


def parse(text: str) -> Condition:
    """Read a condition.

    Raises:
        BadCondition: It is none.
    """
    inner = text.strip()
    if not inner:
        return Condition()
    if inner.startswith("{{") and inner.endswith("}}"):
        return _expression(inner[2:-2])
    match = _PLAIN.fullmatch(inner)
    if match is None:
        raise BadCondition(f"{one_line(inner, 80)} is no condition; {_HELP}")
    name, sign, wanted = match[1], match[2], match[3].strip().strip("'\"")
    if name == "outcome" and wanted not in OUTCOMES:
        raise BadCondition(f"outcome is success or failure, not {one_line(wanted, 60)}")
    term = Term(left=Operand(text=name, is_name=True), right=Operand(text=wanted), is_negated=sign == "!=")
    return Condition(any_of=((term,),))


def _expression(text: str) -> Condition:
    tokens = list(_tokens(text))
    parts = _split(tokens, "||")
    return Condition(any_of=tuple(tuple(_term(one, text) for one in _split(part, "&&")) for part in parts))


def _tokens(text: str) -> Iterator[str | Operand]:
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise BadCondition(f"{one_line(text.strip(), 80)} cannot be read as a condition; {_HELP}")
        at = match.end()
        if match["op"]:
            yield match["op"]
        elif match["name"] and match["name"].lower() not in ("true", "false") and not match["name"].isdigit():
            yield Operand(text=match["name"], is_name=True)
        else:
            yield Operand(text=match["name"] or match["single"] or match["double"] or "")


def _split(tokens: "list[str | Operand]", sign: str) -> "Iterator[list[str | Operand]]":
    part: list[str | Operand] = []
    for token in tokens:
        if token == sign:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _term(tokens: "list[str | Operand]", text: str) -> Term:
    match tokens:
        case [Operand() as left]:
            return Term(left=left)
        case ["!", Operand() as left]:
            return Term(left=left, is_negated=True)
        case [Operand() as left, "==" | "!=" as sign, Operand() as right]:
            return Term(left=left, right=right, is_negated=sign == "!=")
        case _:
            raise BadCondition(f"{one_line(text.strip(), 80)} cannot be read as a condition; {_HELP}")
