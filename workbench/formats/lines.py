"""Bytes of a foreign file as numbered JSON values, whatever is wrong with them.

Pure: over iterables of bytes. Owns the bounds (a line, a document), what is done with damaged lines, and how
much of a document that breaks off is still read. It never raises for what a file holds: problems are values.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import orjson

from workbench.domain.values import Json
from workbench.formats.foreign import Problem

MOST_LINE: Final = 16 << 20
"""Bytes of one line; the largest real ones hold images of some hundred KB."""

MOST_DOCUMENT: Final = 256 << 20
"""Bytes of a document that has to be read whole."""

_BLOCK: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_CLOSERS: Final = 64


@dataclass(frozen=True, slots=True)
class Line:
    """One JSON value and the line it began in, from 1."""

    number: int
    value: Json


def raw_lines(stream: BinaryIO, most: int = MOST_LINE) -> Iterator[bytes | int]:
    """Yield lines without their ends; for one that is too long its size instead, read in pieces."""
    while line := stream.readline(most + 1):
        if len(line) <= most or line.endswith(b"\n"):
            yield line.rstrip(b"\r\n")
            continue
        size = len(line)
        while piece := stream.readline(_BLOCK):
            size += len(piece)
            if piece.endswith(b"\n"):
                break
        yield size


def values(lines: Iterable[bytes | int]) -> Iterator[Line | Problem]:
    """Yield the value of every line; blank lines are none, damaged ones are problems."""
    loads = orjson.loads
    for number, line in enumerate(lines, 1):
        if isinstance(line, int):
            yield Problem(line=number, why=f"the line has {line} bytes, over {MOST_LINE}: it was left out")
            continue
        try:
            yield Line(number, loads(line))
        except ValueError:
            if line.strip().removeprefix(_BOM):
                yield from _damaged(number, line)


def _damaged(number: int, line: bytes) -> Iterator[Line | Problem]:
    """Yield what can be read of a line that is not one good JSON value."""
    source, is_utf8 = _decoded(line)
    source = source.strip().removeprefix("\ufeff")
    found, rest = _sequence(source)
    if not is_utf8:
        yield Problem(line=number, why="it is not UTF-8: what was no character reads as U+FFFD")
    if len(found) > 1:
        yield Problem(line=number, why=f"{len(found)} values stand in one line; all of them are read")
    yield from (Line(number, value) for value in found)
    if rest:
        yield Problem(
            line=number, why="it is cut off or no JSON" + (" behind what was read" if found else "")
        )


def _decoded(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), False


def _sequence(source: str) -> tuple[list[Json], str]:
    """Return the values that stand one behind the other, and what is left."""
    decoder = json.JSONDecoder(strict=False, parse_constant=lambda _: None)
    found: list[Json] = []
    at = 0
    while at < len(source):
        try:
            value, end = decoder.raw_decode(source, at)
        except (ValueError, RecursionError):
            break
        found.append(value)
        at = end
        while at < len(source) and source[at] in " \t\r\n,":
            at += 1
    return found, source[at:]


def document(data: bytes) -> tuple[Json, list[Problem]]:
    """Return a whole JSON document, or what can be read of one that is damaged; None if nothing can."""
    try:
        return orjson.loads(data), []
    except ValueError:
        pass
    source, is_utf8 = _decoded(data.removeprefix(_BOM))
    problems = [] if is_utf8 else [Problem(line=1, why="it is not UTF-8 everywhere")]
    found, rest = _sequence(source.lstrip())
    if found:
        if rest.strip():
            line = source.count("\n", 0, len(source) - len(rest)) + 1
            problems.append(Problem(line=line, why="something follows the end of the document"))
        return found[0], problems
    return _salvaged(source, problems)


def _salvaged(source: str, problems: list[Problem]) -> tuple[Json, list[Problem]]:
    """Read a document up to the last whole value before it breaks off."""
    for at, closing in reversed(_cuts(source)):
        try:
            value = json.loads(source[:at] + closing, strict=False)
        except (ValueError, RecursionError):
            continue
        line = source.count("\n", 0, at) + 1
        return value, [*problems, Problem(line=line, why="the document breaks off here; the rest is read")]
    return None, [*problems, Problem(line=1, why="it is no JSON")]


def _cuts(source: str) -> list[tuple[int, str]]:
    """Return the last places where a value ended, with the brackets that were open."""
    stack: list[str] = []
    cuts: list[tuple[int, str]] = []
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', source, re.DOTALL):
        sign = found.group()
        if sign in "{[":
            stack.append("}" if sign == "{" else "]")
        elif sign in "}]" and stack:
            stack.pop()
        elif sign == "," and len(stack) < _CLOSERS:
            cuts.append((found.start(), "".join(reversed(stack))))
            del cuts[:-200]
    return cuts
