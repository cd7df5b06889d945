"""Conditions of edges and branches: read, and evaluated for an outcome."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from workbench.text.safe import one_line

OUTCOMES: Final = ("success", "failure")
TRUE_WORDS: Final = frozenset({"true", "yes", "done"})
"""What a template by itself has to come to."""
_PLAIN_CONDITION: Final = re.compile(
    r"(?:(outcome|context\.[A-Za-z0-9_.-]{1,100})|\{\{\s*([A-Za-z0-9_][A-Za-z0-9_./\[\]-]{0,199})\s*\}\})"
    r"\s*(==?|!=)(?!=)\s*(.{1,200})",
    re.DOTALL,
)
"""`outcome=success`, `context.KEY=VALUE`, or a template in place of the name."""
_CONDITION_TOKEN: Final = re.compile(
    r"\s*(?:(?P<op>==|!=|&&|\|\||!)|'(?P<single>[^']{0,200})'|\"(?P<double>[^\"]{0,200})\""
    r"|(?P<name>[A-Za-z0-9_][A-Za-z0-9_./\[\]-]{0,199}))"
)
_CONDITION_HELP: Final = (
    "known are outcome=success, outcome=failure, context.KEY=VALUE and {{ STEP.output.FIELD == 'text' }}"
)


class BadCondition(ValueError):
    """A condition that nobody can ask; says what is wrong."""


class ConditionOperand(Struct, frozen=True, kw_only=True):
    """A name that stands for a value, or a text."""

    text: str
    is_name: bool = False


class ConditionTerm(Struct, frozen=True, kw_only=True):
    """One comparison."""

    left: ConditionOperand
    right: ConditionOperand | None = None
    """None: the left has to be true."""
    is_negated: bool = False


class Condition(Struct, frozen=True, kw_only=True):
    """Any of these, each of which is all of its terms; none at all always holds."""

    any_of: tuple[tuple[ConditionTerm, ...], ...] = ()

    def names(self) -> Iterator[str]:
        for term in (term for terms in self.any_of for term in terms):
            yield from (
                operand.text for operand in (term.left, term.right) if operand is not None and operand.is_name
            )

    def holds(self, value: Callable[[str], str]) -> bool:
        """Return whether it holds, given what its names stand for."""
        return not self.any_of or any(
            all(_term_holds(term, value) for term in terms) for terms in self.any_of
        )


def _term_holds(term: ConditionTerm, value: Callable[[str], str]) -> bool:
    def of(operand: ConditionOperand) -> str:
        return value(operand.text).strip() if operand.is_name else operand.text

    holds = of(term.left) == of(term.right) if term.right else of(term.left).lower() in TRUE_WORDS
    return holds != term.is_negated


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises BadCondition."""
    inner = text.strip()
    if not inner:
        return Condition()
    if inner.startswith("{{") and inner.endswith("}}"):
        return _parse_expression(inner[2:-2])
    match = _PLAIN_CONDITION.fullmatch(inner)
    if match is None:
        raise BadCondition(f"{one_line(inner, 80)} is not a condition; {_CONDITION_HELP}")
    name, sign, expected = match[1] or match[2], match[3], match[4].strip().strip("'\"")
    if match[1] == "outcome" and expected not in OUTCOMES:
        raise BadCondition(f"outcome is success or failure, not {one_line(expected, 60)}")
    term = ConditionTerm(
        left=ConditionOperand(text=name, is_name=True),
        right=ConditionOperand(text=expected),
        is_negated=sign == "!=",
    )
    return Condition(any_of=((term,),))


def _parse_expression(text: str) -> Condition:
    tokens = list(_condition_tokens(text))
    parts = _split_tokens(tokens, "||")
    return Condition(
        any_of=tuple(tuple(_parse_term(term, text) for term in _split_tokens(part, "&&")) for part in parts)
    )


def _condition_tokens(text: str) -> Iterator[str | ConditionOperand]:
    position = 0
    while text[position:].strip():
        match = _CONDITION_TOKEN.match(text, position)
        if match is None:
            raise BadCondition(
                f"{one_line(text.strip(), 80)} cannot be read as a condition; {_CONDITION_HELP}"
            )
        position = match.end()
        if match["op"]:
            yield match["op"]
        elif match["name"] and match["name"].lower() not in ("true", "false") and not match["name"].isdigit():
            yield ConditionOperand(text=match["name"], is_name=True)
        else:
            yield ConditionOperand(text=match["name"] or match["single"] or match["double"] or "")


def _split_tokens(
    tokens: "list[str | ConditionOperand]", sign: str
) -> "Iterator[list[str | ConditionOperand]]":
    part: list[str | ConditionOperand] = []
    for token in tokens:
        if token == sign:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _parse_term(tokens: "list[str | ConditionOperand]", text: str) -> ConditionTerm:
    match tokens:
        case [ConditionOperand() as left]:
            return ConditionTerm(left=left)
        case ["!", ConditionOperand() as left]:
            return ConditionTerm(left=left, is_negated=True)
        case [ConditionOperand() as left, "==" | "!=" as sign, ConditionOperand() as right]:
            return ConditionTerm(left=left, right=right, is_negated=sign == "!=")
        case _:
            raise BadCondition(
                f"{one_line(text.strip(), 80)} cannot be read as a condition; {_CONDITION_HELP}"
            )
