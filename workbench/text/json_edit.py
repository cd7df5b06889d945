"""Set or remove one member, add or remove one item, in the text of a JSON document.

Everything outside that member or item stays as it is written: order, indentation, line ends, numbers.
Members are those of our own settings, which are strict JSON. Items are added to settings of other programs,
which may have comments, trailing commas and a byte order mark.
"""

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final, cast

from msgspec import Struct

from workbench.text.json_nodes import (
    JsonError,
    LocatedNode,
    parse_commented_json,
    parse_json_nodes,
    skip_space_and_comments,
)

_DEFAULT_INDENT: Final = "  "
_BLANKS: Final = " \t\r\n"
_LINE_INDENT: Final = re.compile(r"[ \t]*")
_COMMENT: Final = re.compile(r"//[^\n\r]*|/\*(?s:.*?)\*/")
_LINE_END: Final = re.compile(r"[ \t]*\r?(\n|\Z)")


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """Set the member at a path of names; objects on the way that are missing are made.

    The same value again returns the text unchanged. Raises JsonError: the text is not JSON, or something on
    the way is not an object.
    """
    document = _Document(text, parse_json_nodes(text))
    parent, depth = document.nearest_parent(path)
    name = path[depth]
    member = (parent.members or {}).get(name)
    if member is None:
        return _spliced(text, document.new_entry(parent, _nested(path[depth + 1 :], value), name))
    if json.dumps(member.value) == json.dumps(value):
        return text
    return document.with_value(member, value)


def remove_member(text: str, path: Sequence[str]) -> str:
    """Remove the member at a path of names with its comma. Raises JsonError; KeyError: it is not there."""
    document = _Document(text, parse_json_nodes(text))
    parent, depth = document.nearest_parent(path)
    if depth < len(path) - 1 or path[depth] not in (parent.members or {}):
        raise KeyError(path[-1])
    return document.without_entry(parent, list(parent.members or {}).index(path[depth]))


class AddedItem(Struct, frozen=True, kw_only=True):
    """A document with a new item, and what removes it again byte for byte."""

    text: str
    inserted: str
    """What was put in, in one piece; empty where comma and item were put in at two places."""
    made: int
    """How many names at the end of the path were added with the item."""


def add_item(text: str, path: Sequence[str], value: object) -> AddedItem:
    """Add an item to the end of the array at a path of names; what is missing on the way is made.

    Raises JsonError: the text is not JSON, even with comments and trailing commas, or what is on the way is
    not an object, at its end not an array.
    """
    document = _Document(text, parse_commented_json(text))
    parent, depth = document.nearest_parent(path)
    array = (parent.members or {}).get(path[depth])
    if array is None:
        splices = document.new_entry(parent, _nested(path[depth + 1 :], [value]), path[depth])
    elif array.items is None:
        raise JsonError(f'"{path[-1][:80]}" is not an array', array.line, array.column)
    else:
        splices = document.new_entry(array, value)
    return AddedItem(
        text=_spliced(text, splices),
        inserted=splices[0].text if len(splices) == 1 else "",
        made=len(path) - depth if array is None else 0,
    )


def remove_item(text: str, path: Sequence[str | int], *, inserted: str = "", made: int = 0) -> str:
    """Remove the item that a path of names and numbers leads to, and those containers that were made for it.

    Args:
        text: The document.
        path: Leads to the item; its last part is a number.
        inserted: What was put in with the item: cut as it is where that removes nothing else.
        made: How many names in front of the item were added with it; those that have become empty go too.

    Raises JsonError: the text is not JSON; KeyError or IndexError: it is not there.
    """
    document = _Document(text, parse_commented_json(text))
    target = document.outermost_only(path, made)
    parent, item = document.node_at(target[:-1]), document.node_at(path)
    expected = deepcopy(document.root.value)
    del _at(expected, target[:-1])[target[-1]]
    start = (
        text.find(inserted, max(0, item.end - len(inserted)), item.end + len(inserted)) if inserted else -1
    )
    if start >= 0:
        cut = text[:start] + text[start + len(inserted) :]
        if _is_document_of(cut, expected):
            return cut
    name = target[-1]
    return document.without_entry(
        parent, list(parent.members or {}).index(name) if isinstance(name, str) else name
    )


class _Splice(Struct, frozen=True):
    offset: int
    text: str


def _spliced(text: str, splices: Sequence[_Splice]) -> str:
    for splice in reversed(splices):
        text = text[: splice.offset] + splice.text + text[splice.offset :]
    return text


def _nested(names: Sequence[str], value: object) -> object:
    for name in reversed(names):
        value = {name: value}
    return value


def _at(value: object, path: Sequence[str | int]) -> Any:
    for part in path:
        value = cast("Any", value)[part]
    return value


def _is_document_of(text: str, value: object) -> bool:
    try:
        return json.dumps(parse_commented_json(text).value) == json.dumps(value)
    except JsonError:
        return False


class _Document:
    def __init__(self, text: str, root: LocatedNode) -> None:
        self.text = text
        self.root = root
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        first_break = text.find("\n")
        self._newline = "\r\n" if text[max(first_break - 1, 0) : first_break] == "\r" else "\n"
        self._indent = self._usual_indent()

    def nearest_parent(self, path: Sequence[str]) -> tuple[LocatedNode, int]:
        """Return the innermost object on the way to a member, and how many names lead to it."""
        parent = _require_object(self.root, "the document")
        for depth, name in enumerate(path[:-1]):
            below = (parent.members or {}).get(name)
            if below is None:
                return parent, depth
            parent = _require_object(below, f'"{name[:80]}"')
        return parent, len(path) - 1

    def node_at(self, path: Sequence[str | int]) -> LocatedNode:
        node = self.root
        for part in path:
            node = (node.items or ())[part] if isinstance(part, int) else (node.members or {})[part]
        return node

    def outermost_only(self, path: Sequence[str | int], made: int) -> Sequence[str | int]:
        """Return the path of the outermost of some containers that hold nothing but what a path leads to."""
        for _ in range(min(made, len(path) - 1)):
            container = self.node_at(path[:-1])
            entries = self._entries(container)
            (start, end), (outer_start, outer_end) = entries[0], self._span(container)
            around = self.text[outer_start + 1 : start] + self.text[end : outer_end - 1]
            if len(entries) > 1 or around.strip(_BLANKS + ","):
                break
            path = path[:-1]
        return path

    def new_entry(self, parent: LocatedNode, value: object, name: str | None = None) -> tuple[_Splice, ...]:
        """Return what adds an item, or a member of a name, behind the last entry of a container."""
        start, end = self._span(parent)
        entries = self._entries(parent)
        if not entries:
            return (self._first_entry(parent, value, name),)
        last_start, last_end = entries[-1]
        comma = skip_space_and_comments(self.text, last_end)
        has_comma = self.text[comma] == ","
        behind = comma + 1 if has_comma else last_end
        place, is_line_comment = self._last_comment(behind, end - 1)
        before = self._blanks_before(last_start)
        if is_line_comment:
            before = self._newline + self._line_indent(last_start)
        if last_start == start + 1 and not before:
            before = " " * ('": ' in self.text)
        entry = before + self._entry(value, name, before)
        if has_comma:
            return (_Splice(place, entry + ","),)
        if place == behind:
            return (_Splice(place, "," + entry),)
        return _Splice(last_end, ","), _Splice(place, entry)

    def _first_entry(self, parent: LocatedNode, value: object, name: str | None) -> _Splice:
        start, end = self._span(parent)
        place, _ = self._last_comment(start + 1, end - 1)
        is_line = "\n" not in self.text.strip()
        if parent is not self.root and is_line and place == start + 1:
            return _Splice(place, self._entry(value, name, ""))
        outer = self._newline + self._line_indent(start)
        last = "" if "\n" in self.text[place : end - 1] else outer
        before = outer + self._indent
        return _Splice(place, before + self._entry(value, name, before) + last)

    def _last_comment(self, start: int, end: int) -> tuple[int, bool]:
        """Return where the last comment between two offsets ends, and whether it is a line comment.

        Only spaces and comments may come between them. Returns the first offset after them.
        """
        comments = list(_COMMENT.finditer(self.text, start, end))
        return (comments[-1].end(), comments[-1][0].startswith("//")) if comments else (start, False)

    def with_value(self, member: LocatedNode, value: object) -> str:
        start, end = self._span(member)
        is_wide = "\n" in self.text[start:end] or (member.members is None and "\n" in self.text.strip())
        before = self._newline + self._line_indent(start) if is_wide else ""
        return self.text[:start] + self._rendered(value, before) + self.text[end:]

    def without_entry(self, parent: LocatedNode, number: int) -> str:
        """Return the text without one entry, the blanks before it and one comma; comments stay."""
        entries = self._entries(parent)
        start, end = entries[number]
        before = skip_space_and_comments(self.text, entries[number - 1][1]) + 1 if number else None
        comment_end, is_line_comment = self._last_comment(before or self._span(parent)[0] + 1, start)
        cut_start = max(comment_end, start - len(self._blanks_before(start)))
        head, rest = self.text[:cut_start], self.text[end:]
        behind = skip_space_and_comments(self.text, end)
        if self.text[behind] == ",":
            rest = self.text[end:behind] + self.text[behind + 1 :]
        elif before is not None:
            head = head[: before - 1] + head[before:]
        # A line comment in front of the entry must not swallow what follows it.
        is_open = is_line_comment and not _LINE_END.match(rest)
        return head + self.text[cut_start:start] * is_open + rest

    def _entries(self, parent: LocatedNode) -> list[tuple[int, int]]:
        """Return where each member or item of a container begins and ends."""
        if parent.members is not None:
            return [(self._key_start(node), node.end) for node in parent.members.values()]
        return [self._span(node) for node in parent.items or ()]

    def _span(self, node: LocatedNode) -> tuple[int, int]:
        return self._offset(node.line, node.column), node.end

    def _key_start(self, node: LocatedNode) -> int:
        return self._offset(node.key_line, node.key_column)

    def _offset(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column - 1

    def _blanks_before(self, offset: int) -> str:
        head = self.text[:offset]
        return head[len(head.rstrip(_BLANKS)) :]

    def _entry(self, value: object, name: str | None, before: str) -> str:
        key = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
        return key + self._rendered(value, before)

    def _rendered(self, value: object, before: str) -> str:
        """Write a value; over several lines where the blanks before it have a line break."""
        if "\n" not in before:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._indent).split("\n")
        return (self._newline + before.rpartition("\n")[2]).join(lines)

    def _line_indent(self, offset: int) -> str:
        start = self.text.rfind("\n", 0, offset) + 1
        return cast("re.Match[str]", _LINE_INDENT.match(self.text, start))[0]

    def _usual_indent(self) -> str:
        members = list((self.root.members or {}).values())
        if not members or members[0].key_line == self.root.line:
            return _DEFAULT_INDENT
        return self._line_indent(self._key_start(members[0])) or _DEFAULT_INDENT


def _require_object(node: LocatedNode, label: str) -> LocatedNode:
    if node.members is None:
        raise JsonError(f"{label} is not an object", node.line, node.column)
    return node
