"""Bytes of a file as numbered JSON values: lines, documents, and repair of damaged ones."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, cast

import orjson
from msgspec import Struct

from workbench.domain.values import Json
from workbench.formats.records import file_problem
from workbench.text.problems import Problem

MOST_LINE: Final = 16 << 20
"""Bytes of one line; the largest real ones hold images of some hundred KB."""
MOST_DOCUMENT: Final = 256 << 20
"""Bytes of a document that has to be read whole."""
_READ_BLOCK: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_MOST_OPEN_BRACKETS: Final = 64
_HALF_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_BLANK_BYTES: Final = b" \t\r\n\v\f\x1e\0"
"""Around a value: white space, record separators of RFC 7464, and what a crash leaves of a block."""
_NUL_MESSAGE: Final = "{} NUL bytes stand where a crash left nothing; they were left out"
_MOST_DIGITS: Final = 400
"""Digits of a whole number; one that is longer is kept as text, for Python converts it in quadratic time."""


class JsonLine(Struct, frozen=True):
    """One JSON value and the line it began in, from 1."""

    number: int
    value: Json


JsonLines = Iterable[JsonLine | Problem]


def raw_lines(stream: BinaryIO, most: int = MOST_LINE) -> Iterator[bytes | int]:
    """Yield lines without their ends; for one that is too long its size instead, read in pieces."""
    while line := stream.readline(most + 1):
        if len(line) <= most or line.endswith(b"\n"):
            yield line.rstrip(b"\r\n")
            continue
        size = len(line)
        while piece := stream.readline(_READ_BLOCK):
            size += len(piece)
            if piece.endswith(b"\n"):
                break
        yield size


def json_values(lines: Iterable[bytes | int], first: int = 1) -> Iterator[JsonLine | Problem]:
    """Yield the value of every line; blank lines are none, damaged ones are problems.

    `first`: the number of the first line.
    """
    loads = orjson.loads
    for number, line in enumerate(lines, first):
        if isinstance(line, int):
            yield file_problem(number, f"the line has {line} bytes, over {MOST_LINE}: it was left out")
            continue
        try:
            yield JsonLine(number, loads(line))
        except ValueError:
            if line.strip(_BLANK_BYTES).removeprefix(_BOM):
                yield from _repaired_line(number, line)
            elif b"\0" in line:
                yield file_problem(number, _NUL_MESSAGE.format(line.count(b"\0")))


def _repaired_line(number: int, line: bytes) -> Iterator[JsonLine | Problem]:
    source, is_utf8 = _decode_json(line.strip(_BLANK_BYTES))
    source = source.strip().removeprefix("\ufeff")
    values, rest = _value_sequence(source)
    if line.startswith(b"\0") or line.endswith(b"\0"):
        yield file_problem(number, _NUL_MESSAGE.format(line.count(b"\0")))
    if not is_utf8:
        yield file_problem(number, "it is not UTF-8: what was no character reads as U+FFFD")
    if len(values) > 1:
        yield file_problem(number, f"{len(values)} values stand in one line; all of them are read")
    yield from (JsonLine(number, value) for value in values)
    if rest:
        yield file_problem(number, "it is cut off or not JSON" + (" behind what was read" if values else ""))


def _decode_json(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), False


def _value_sequence(source: str) -> tuple[list[Json], str]:
    decoder = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_int=_bounded_integer)
    values: list[Json] = []
    position, has_halves = 0, bool(_HALF_SURROGATE.search(source))
    while position < len(source):
        try:
            value, end = decoder.raw_decode(source, position)
            values.append(_without_half_surrogates(value) if has_halves else value)
        except (ValueError, RecursionError):
            break
        position = end
        while position < len(source) and source[position] in " \t\r\n,\x1e":
            position += 1
    return values, source[position:]


def _without_half_surrogates(value: Json) -> Json:
    """Return a value whose texts hold no half of a character, which no encoding can write (RFC 8259, 8.2)."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_half_surrogates(item) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        return {
            str(_without_half_surrogates(key)): _without_half_surrogates(item)
            for key, item in members.items()
        }
    return value


def _bounded_integer(digits: str) -> Json:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def json_rows(data: bytes) -> list[JsonLine | Problem]:
    """Return objects in an array or one behind another as lines, numbered by their line or place."""
    source = _decode_json(data.removeprefix(_BOM))[0].lstrip()
    values, rest = _value_sequence(source)
    if len(values) == 1 and isinstance(values[0], list):
        return [JsonLine(number, value) for number, value in enumerate(cast("list[Json]", values[0]), 1)]
    lines: list[JsonLine | Problem] = [
        JsonLine(number, value) for number, value in _with_line_numbers(source, values)
    ]
    if rest:
        number = source.count("\n", 0, len(source) - len(rest)) + 1
        lines.append(file_problem(number, "it is cut off or not JSON behind what was read"))
    return lines


def _with_line_numbers(source: str, values: list[Json]) -> Iterator[tuple[int, Json]]:
    decoder, position, line = json.JSONDecoder(strict=False, parse_int=_bounded_integer), 0, 1
    for number, value in enumerate(values, 1):
        yield line, value
        if number == len(values):
            return
        end = decoder.raw_decode(source, position)[1]
        while end < len(source) and source[end] in " \t\r\n,\x1e":
            end += 1
        line += source.count("\n", position, end)
        position = end


def json_documents(data: bytes) -> tuple[list[JsonLine], list[Problem]]:
    """Return the JSON documents of a file, or what can be read of a damaged one, numbered by their lines."""
    try:
        return [JsonLine(1, orjson.loads(data))], []
    except ValueError:
        pass
    source, is_utf8 = _decode_json(data.removeprefix(_BOM))
    problems = [] if is_utf8 else [file_problem(1, "it is not UTF-8 everywhere")]
    before = len(source) - len(source.lstrip())
    values, rest = _value_sequence(source[before:])
    if not values:
        value, broken = _salvage_document(source)
        return [JsonLine(1, value)] if value is not None else [], [*problems, broken]
    if rest.strip():
        line = source.count("\n", 0, len(source) - len(rest)) + 1
        problems.append(file_problem(line, "something follows the end of the document"))
    if len(values) > 1:
        problems.append(file_problem(1, f"{len(values)} documents stand in one file; all of them are read"))
    above = source.count("\n", 0, before)
    return [
        JsonLine(above + line, value) for line, value in _with_line_numbers(source[before:], values)
    ], problems


def _salvage_document(source: str) -> tuple[Json, Problem]:
    for end, closing in reversed(_last_value_ends(source)):
        try:
            value = _without_half_surrogates(
                json.loads(source[:end] + closing, strict=False, parse_int=_bounded_integer)
            )
        except (ValueError, RecursionError):
            continue
        line = source.count("\n", 0, end) + 1
        return value, file_problem(line, "the document breaks off here; the rest is read")
    return None, file_problem(1, "it is not JSON")


def _last_value_ends(source: str) -> list[tuple[int, str]]:
    stack: list[str] = []
    cuts: list[tuple[int, str]] = []
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', source, re.DOTALL):
        sign = match.group()
        if sign in "{[":
            stack.append("}" if sign == "{" else "]")
        elif sign in "}]" and stack:
            stack.pop()
        elif sign == "," and len(stack) < _MOST_OPEN_BRACKETS:
            cuts.append((match.start(), "".join(reversed(stack))))
            del cuts[:-200]
    return cuts
