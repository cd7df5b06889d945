"""A strict JSON parser whose nodes know their line and column.

Settings of other programs may have comments and trailing commas: `parse_commented_json` reads them as well.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NoReturn, cast

from msgspec import Struct

MOST_DEPTH = 64
MOST_DIGITS = 400
_BYTE_ORDER_MARK = "\ufeff"
_SPACE = re.compile(r"[ \t\n\r]*")
# Programs disagree on where a line comment ends at a lone \r or U+2028: such a comment is not read.
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\n\r]++|//[^\n\r\u2028\u2029]*+(?=\r?\n|\Z)|/\*(?s:.*?)\*/)*+")
_SCALAR_STARTS = frozenset('"-0123456789tfnNI')


class LocatedError(ValueError):
    """Text that a reader of nodes does not accept.

    `code`: a stable name of the cause. `reason`: what is wrong, without the position. `line`: from 1.
    `column`: from 1, in characters.
    """

    def __init__(self, code: str, reason: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")
        self.code, self.reason, self.line, self.column = code, reason, line, column


class JsonError(LocatedError):
    """Text that is not acceptable JSON."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__("json_syntax", reason, line, column)


class LocatedNode(Struct, frozen=True, kw_only=True):
    """A JSON value and the place where it stands."""

    value: object
    """The plain value, containers included."""
    line: int
    """Line of the value's first character, from 1; 0 where the value came from no text."""
    column: int
    """Column of the value's first character, from 1."""
    key_line: int = 0
    """Line of the key in front of the value; 0 for what is no member of an object."""
    key_column: int = 0
    members: Mapping[str, "LocatedNode"] | None = None
    """Members of an object in written order; None for anything else."""
    items: tuple["LocatedNode", ...] | None = None
    """Items of an array; None for anything else."""
    end: int = 0
    """Offset behind the value's last character in the text; 0 where the value came from no text."""


def parse_json_nodes(text: str) -> LocatedNode:
    """Read one JSON document. Raises JsonError: with line, column and reason."""
    return _Reader(text).document(0)


def parse_commented_json(text: str) -> LocatedNode:
    """Read one JSON document that may have comments, trailing commas and a byte order mark.

    Raises JsonError: with line, column and reason.
    """
    return _Reader(text, has_comments=True).document(
        len(_BYTE_ORDER_MARK) * text.startswith(_BYTE_ORDER_MARK)
    )


def skip_space_and_comments(text: str, offset: int) -> int:
    """Return the offset of the first character that belongs to no space and no comment."""
    return cast("re.Match[str]", _SPACE_AND_COMMENTS.match(text, offset)).end()


def node_of_value(value: object) -> LocatedNode:
    """Wrap a plain value that came from no text; its places are 0."""
    if isinstance(value, Mapping):
        members = {str(k): node_of_value(part) for k, part in cast("Mapping[object, object]", value).items()}
        return LocatedNode(value={k: m.value for k, m in members.items()}, line=0, column=0, members=members)
    if isinstance(value, list | tuple):
        items = tuple(node_of_value(item) for item in cast("list[object]", value))
        return LocatedNode(value=[item.value for item in items], line=0, column=0, items=items)
    return LocatedNode(value=value, line=0, column=0)


class _Reader:
    def __init__(self, text: str, *, has_comments: bool = False) -> None:
        self.text = text
        self.has_comments = has_comments
        """Whether comments and trailing commas are accepted."""
        self.end = 0
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def document(self, offset: int) -> LocatedNode:
        node, end = self.value(self.skip(offset), 0)
        end = self.skip(end)
        if end != len(self.text):
            self.fail("something follows the end of the value", end)
        return node

    def fail(self, reason: str, offset: int) -> NoReturn:
        if self.has_comments and self.text.startswith("/*", offset):
            reason = "a comment has no end"
        raise JsonError(reason, *self.place(offset))

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.lines, offset)
        return line, offset - self.lines[line - 1] + 1

    def skip(self, offset: int) -> int:
        if self.has_comments:
            return skip_space_and_comments(self.text, offset)
        return cast("re.Match[str]", _SPACE.match(self.text, offset)).end()

    def value(self, offset: int, depth: int, key: tuple[int, int] = (0, 0)) -> tuple[LocatedNode, int]:
        opening = self.text[offset : offset + 1]
        if opening not in ("{", "["):
            plain, end = self.scalar(offset)
            line, column = self.place(offset)
            node = LocatedNode(
                value=plain, line=line, column=column, key_line=key[0], key_column=key[1], end=end
            )
            return node, end
        if depth >= MOST_DEPTH:
            self.fail(f"nested deeper than {MOST_DEPTH} levels", offset)
        return self.object(offset, depth, key) if opening == "{" else self.array(offset, depth, key)

    def scalar(self, offset: int) -> tuple[object, int]:
        if self.text[offset : offset + 1] not in _SCALAR_STARTS:
            self.fail("a value is missing here", offset)
        try:
            plain, end = _decoder().raw_decode(self.text, offset)
        except json.JSONDecodeError as error:
            self.fail(_lower_case_message(error.msg), error.pos)
        except ValueError as error:
            self.fail(str(error), offset)
        if isinstance(plain, str) and not _is_encodable(plain):
            self.fail("half a surrogate pair is not a character", offset)
        return plain, end

    def object(self, offset: int, depth: int, key: tuple[int, int]) -> tuple[LocatedNode, int]:
        members: dict[str, LocatedNode] = {}
        for begin in self.entries(offset, "}"):
            name, colon = self.name(begin)
            if name in members:
                first = members[name].key_line
                self.fail(f'the key "{name[:80]}" is there twice, first in line {first}', begin)
            members[name], self.end = self.value(self.skip(colon + 1), depth + 1, self.place(begin))
        line, column = self.place(offset)
        plain = {name: node.value for name, node in members.items()}
        node = LocatedNode(
            value=plain, line=line, column=column, key_line=key[0], key_column=key[1], members=members,
            end=self.end,
        )  # fmt: skip
        return node, self.end

    def name(self, offset: int) -> tuple[str, int]:
        if self.text[offset : offset + 1] != '"':
            self.fail("a key in double quotes is missing here", offset)
        name, end = self.scalar(offset)
        colon = self.skip(end)
        if self.text[colon : colon + 1] != ":":
            self.fail("a colon is missing here", colon)
        return str(name), colon

    def array(self, offset: int, depth: int, key: tuple[int, int]) -> tuple[LocatedNode, int]:
        items: list[LocatedNode] = []
        for begin in self.entries(offset, "]"):
            node, self.end = self.value(begin, depth + 1)
            items.append(node)
        line, column = self.place(offset)
        plain = [item.value for item in items]
        node = LocatedNode(
            value=plain, line=line, column=column, key_line=key[0], key_column=key[1], items=tuple(items),
            end=self.end,
        )  # fmt: skip
        return node, self.end

    def entries(self, offset: int, closing: str) -> Iterator[int]:
        """Yield where each entry begins.

        The caller leaves the end of the entry in `self.end`; at last the end of the container is there.
        """
        begin = self.skip(offset + 1)
        if self.text[begin : begin + 1] == closing:
            self.end = begin + 1
            return
        while True:
            yield begin
            after = self.skip(self.end)
            following = self.text[after : after + 1]
            if following == closing:
                self.end = after + 1
                return
            if following != ",":
                self.fail(f'a comma or "{closing}" is missing here', after)
            begin = self.skip(after + 1)
            if self.text[begin : begin + 1] == closing:
                if not self.has_comments:
                    self.fail("there is a comma before the end", after)
                self.end = begin + 1
                return


@cache
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_int=parse_whole_number, parse_float=parse_fraction, parse_constant=refuse_constant
    )


def parse_whole_number(digits: str) -> int:
    """Read a whole number that is not too long; raise ValueError otherwise."""
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits is too long, {MOST_DIGITS} are read")
    return int(digits)


def parse_fraction(digits: str) -> float:
    """Read a number with a point or exponent; raise ValueError where it is too large."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which JSON does not have."""
    raise ValueError(f"{name} is not a JSON number")


def _is_encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _lower_case_message(message: str) -> str:
    return message[:1].lower() + message[1:].removesuffix(" at")
