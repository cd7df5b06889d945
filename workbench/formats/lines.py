"""Bytes of a foreign file as numbered JSON values, whatever is wrong with them.

Pure: over iterables of bytes. Owns the bounds (a line, a document), what is done with damaged lines, and how
much of a document that breaks off is still read. It never raises for what a file holds: problems are values.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

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
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_BLANK: Final = b" \t\r\n\v\f\x1e\0"
"""Around a value: white space, record separators of RFC 7464, and what a crash leaves of a block."""

_NULS: Final = "{} NUL bytes stand where a crash left nothing; they were left out"
_MOST_DIGITS: Final = 400
"""Digits of a whole number; one that is longer is kept as text, for Python converts it in quadratic time."""


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
            if line.strip(_BLANK).removeprefix(_BOM):
                yield from _damaged(number, line)
            elif b"\0" in line:
                yield Problem(line=number, why=_NULS.format(line.count(b"\0")))


def _damaged(number: int, line: bytes) -> Iterator[Line | Problem]:
    """Yield what can be read of a line that is not one good JSON value."""
    source, is_utf8 = _decoded(line.strip(_BLANK))
    source = source.strip().removeprefix("\ufeff")
    found, rest = _sequence(source)
    if line.startswith(b"\0") or line.endswith(b"\0"):
        yield Problem(line=number, why=_NULS.format(line.count(b"\0")))
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
    decoder = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_int=_whole)
    found: list[Json] = []
    at, has_halves = 0, bool(_HALF.search(source))
    while at < len(source):
        try:
            value, end = decoder.raw_decode(source, at)
            found.append(_whole_characters(value) if has_halves else value)
        except (ValueError, RecursionError):
            break
        at = end
        while at < len(source) and source[at] in " \t\r\n,\x1e":
            at += 1
    return found, source[at:]


def _whole_characters(value: Json) -> Json:
    """Return a value whose texts hold no half of a character, which no encoding can write (RFC 8259, 8.2)."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(one) for one in cast("list[Json]", value)]
    if isinstance(value, dict):
        found = cast("dict[str, Json]", value)
        return {str(_whole_characters(key)): _whole_characters(one) for key, one in found.items()}
    return value


def _whole(digits: str) -> Json:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def rows(data: bytes) -> list[Line | Problem]:
    """Return objects that stand one behind the other, or in an array, as if each had a line of its own.

    The number of one is that of the line in which it begins; in an array, its place.
    """
    source = _decoded(data.removeprefix(_BOM))[0].lstrip()
    found, rest = _sequence(source)
    if len(found) == 1 and isinstance(found[0], list):
        return [Line(number, value) for number, value in enumerate(cast("list[Json]", found[0]), 1)]
    lines: list[Line | Problem] = [Line(number, value) for number, value in _places(source, found)]
    if rest:
        number = source.count("\n", 0, len(source) - len(rest)) + 1
        lines.append(Problem(line=number, why="it is cut off or no JSON behind what was read"))
    return lines


def _places(source: str, found: list[Json]) -> Iterator[tuple[int, Json]]:
    decoder, at, line = json.JSONDecoder(strict=False, parse_int=_whole), 0, 1
    for number, value in enumerate(found, 1):
        yield line, value
        if number == len(found):
            return
        end = decoder.raw_decode(source, at)[1]
        while end < len(source) and source[end] in " \t\r\n,\x1e":
            end += 1
        line += source.count("\n", at, end)
        at = end


def documents(data: bytes) -> tuple[list[Line], list[Problem]]:
    """Return the JSON documents of a file, or what can be read of one that is damaged; none if nothing can.

    The number of one is that of the line in which it begins.
    """
    try:
        return [Line(1, orjson.loads(data))], []
    except ValueError:
        pass
    source, is_utf8 = _decoded(data.removeprefix(_BOM))
    problems = [] if is_utf8 else [Problem(line=1, why="it is not UTF-8 everywhere")]
    before = len(source) - len(source.lstrip())
    found, rest = _sequence(source[before:])
    if not found:
        value, broken = _salvaged(source)
        return [Line(1, value)] if value is not None else [], [*problems, broken]
    if rest.strip():
        line = source.count("\n", 0, len(source) - len(rest)) + 1
        problems.append(Problem(line=line, why="something follows the end of the document"))
    if len(found) > 1:
        problems.append(
            Problem(line=1, why=f"{len(found)} documents stand in one file; all of them are read")
        )
    above = source.count("\n", 0, before)
    return [Line(above + line, value) for line, value in _places(source[before:], found)], problems


def _salvaged(source: str) -> tuple[Json, Problem]:
    """Read a document up to the last whole value before it breaks off; None if there is none."""
    for at, closing in reversed(_cuts(source)):
        try:
            value = _whole_characters(json.loads(source[:at] + closing, strict=False, parse_int=_whole))
        except (ValueError, RecursionError):
            continue
        line = source.count("\n", 0, at) + 1
        return value, Problem(line=line, why="the document breaks off here; the rest is read")
    return None, Problem(line=1, why="it is no JSON")


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
