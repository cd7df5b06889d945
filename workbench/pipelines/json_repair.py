"""JSON as models write it: parsed strictly, else found among words and repaired, and every repair named.

Repaired is what changes no value: a byte order mark, a code fence, words around, comments, trailing commas.
Quotes, missing commas and unquoted names are not guessed, and `NaN` and `Infinity` are not JSON (RFC 8259).
"""

# Of several values the last one that the schema accepts counts, else the last: a model that corrects itself
# writes the better one later. A value within another is a part of it and none of its own.

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

from msgspec import Struct

from workbench.domain.values import Json

MOST_REPAIRED: Final = 2 * 1024 * 1024
"""Characters of a text that is looked through; a longer one has to be JSON as it is."""
_MOST_READ: Final = 4 * MOST_REPAIRED
"""Characters read in all: a text of nothing but brackets is not read again from each of them."""
BYTE_ORDER_MARK, FENCE, WORDS = "byte order mark", "code fence", "words around it"
COMMENT, TRAILING_COMMA = "comment", "trailing comma"
_FENCE_LINE: Final = re.compile(r"^[ \t]*```[\w.+-]*[ \t]*$", re.MULTILINE)
_OPENING: Final = re.compile(r"[{\[]")
_VALUE_BEGINS: Final = re.compile(r'\s*["{\[]')
_CLOSING: Final = {"{": "}", "[": "]"}
_PLAIN: Final = re.compile(r'[^"{}\[\]/,]+')
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class NotJson(ValueError):
    """A text is not JSON and was not repaired; says why."""


class ReadJson(Struct, frozen=True, kw_only=True):
    """A value with the text that it was read from."""

    value: Json
    text: str
    """The JSON alone: what is handed on where something was repaired."""
    repairs: tuple[str, ...] = ()
    """What was repaired; empty where the text was JSON as it was."""


class _Span(Struct, frozen=True, kw_only=True):
    start: int
    end: int
    value: Json
    text: str
    repairs: frozenset[str]


def parse_strict(text: str) -> Json:
    """Return the value of a text. Raises NotJson, also for `NaN` and `Infinity`."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise NotJson("it is nested too deep") from None
    except ValueError as error:
        raise NotJson(str(error)) from None


def _refuse_constant(word: str) -> NoReturn:
    raise NotJson(f"{word} is not JSON; write null, a number or a text")


def read_json(text: str, accepts: Callable[[Json], bool], *, repairs: bool = True) -> ReadJson:
    """Return the value of a text, repaired where it may be; NotJson says what was wrong as it stood."""
    try:
        return ReadJson(value=parse_strict(text), text=text)
    except NotJson as error:
        if not repairs or len(text) > MOST_REPAIRED:
            raise
        why = error
    has_mark = text.startswith("\ufeff")
    body = text.removeprefix("\ufeff")
    spans = list(_spans(body))
    if not spans and has_mark:
        return ReadJson(value=parse_strict(body), text=body, repairs=(BYTE_ORDER_MARK,))
    if not spans:
        raise why
    chosen = next((span for span in reversed(spans) if accepts(span.value)), spans[-1])
    named = [BYTE_ORDER_MARK] * has_mark + [*_around(body, spans), *sorted(chosen.repairs)]
    if len(spans) > 1:
        named.append(f"number {spans.index(chosen) + 1} of {len(spans)} values")
    return ReadJson(value=chosen.value, text=chosen.text, repairs=tuple(named))


def _around(text: str, spans: list[_Span]) -> Iterator[str]:
    """Yield the repairs that removed text outside the values: fences, words."""
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(text)]
    outside = "\n".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    rest, fences = _FENCE_LINE.subn("", outside)
    if fences:
        yield FENCE
    if rest.strip():
        yield WORDS


def _spans(text: str) -> Iterator[_Span]:
    """Yield the objects and lists of a text that stand in no other one."""
    position, remaining = 0, _MOST_READ
    while remaining > 0 and (match := _OPENING.search(text, position)) is not None:
        end, cleaned, repairs = _balanced(text, match.start(), remaining)
        remaining -= max(1, end - match.start())
        if cleaned is None and _VALUE_BEGINS.match(text, match.end()):
            return  # a value that was cut off: what stands in it is not what was meant
        position = match.end() if cleaned is None else end
        if cleaned is None:
            continue
        try:
            value = parse_strict(cleaned)
        except NotJson:
            continue  # nor are parts of one that is broken elsewhere
        yield _Span(start=match.start(), end=end, value=value, text=cleaned, repairs=frozenset(repairs))


def _balanced(text: str, start: int, longest: int) -> tuple[int, str | None, set[str]]:
    """Return where a value ends that starts here, its text without comments and trailing commas, and which.

    The text is None where it does not end, or ends with another bracket than it started with.
    """
    parts: list[str] = []
    repairs: set[str] = set()
    open_brackets: list[str] = []
    position, last = start, min(len(text), start + longest)
    while position < last:
        sign = text[position]
        end = _skipped(text, position, sign)
        if end < 0:
            return last, None, repairs
        if sign == "/":
            repairs.add(COMMENT)
        elif sign in _CLOSING:
            open_brackets.append(_CLOSING[sign])
            parts.append(sign)
        elif sign in "}]":
            if open_brackets.pop() != sign:
                return end, None, repairs
            if _drop_trailing_comma(parts):
                repairs.add(TRAILING_COMMA)
            parts.append(sign)
            if not open_brackets:
                return end, "".join(parts), repairs
        else:
            parts.append(text[position:end])
        position = end
    return last, None, repairs


def _skipped(text: str, position: int, sign: str) -> int:
    """Return the end of the string, comment or other text that starts here; -1 where it does not end."""
    if sign == '"':
        match = _STRING.match(text, position)
        return match.end() if match else -1
    if sign == "/":
        closing = {"/": "\n", "*": "*/"}.get(text[position + 1 : position + 2])
        if closing is None:
            return -1
        end = text.find(closing, position + 2)
        # The end of a line stays: it belongs to what follows.
        return -1 if end < 0 else end + (2 if closing == "*/" else 0)
    if sign in "{}[],":
        return position + 1
    match = _PLAIN.match(text, position)
    return match.end() if match else position + 1


def _drop_trailing_comma(parts: list[str]) -> bool:
    for index in range(len(parts) - 1, -1, -1):
        if parts[index] == ",":
            del parts[index]
            return True
        if parts[index].strip():
            return False
    return False
