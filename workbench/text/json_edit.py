"""Set or remove one member in the text of a JSON document.

Everything outside that member stays as it is written: order, indentation, line ends, numbers.
"""

import json
import re
from collections.abc import Sequence
from typing import Final

from workbench.text.json_nodes import JsonError, LocatedNode, parse_json_nodes

_DEFAULT_INDENT: Final = "  "
_DECODER: Final = json.JSONDecoder()


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """Set the member at a path of names; objects on the way that are missing are made.

    The same value again returns the text unchanged. Raises JsonError: the text is not JSON, or something on
    the way is not an object.
    """
    document = _Document(text)
    parent, depth = document.nearest_parent(path)
    name = path[depth]
    for below in reversed(path[depth + 1 :]):
        value = {below: value}
    member = (parent.members or {}).get(name)
    if member is None:
        return document.with_new_member(parent, name, value)
    if json.dumps(member.value) == json.dumps(value):
        return text
    return document.with_value(member, value)


def remove_member(text: str, path: Sequence[str]) -> str:
    """Remove the member at a path of names with its comma. Raises JsonError; KeyError: it is not there."""
    document = _Document(text)
    parent, depth = document.nearest_parent(path)
    if depth < len(path) - 1 or path[depth] not in (parent.members or {}):
        raise KeyError(path[-1])
    return document.without_member(parent, path[depth])


class _Document:
    def __init__(self, text: str) -> None:
        self.text = text
        self.root = parse_json_nodes(text)
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

    def with_new_member(self, parent: LocatedNode, name: str, value: object) -> str:
        start, end = self._span(parent)
        members = list((parent.members or {}).values())
        if members:
            between = self._separator(start, members)
            last = self._span(members[-1])[1]
            return self.text[:last] + between + self._entry(name, value, between) + self.text[last:]
        if parent is not self.root and "\n" not in self.text.strip():
            return self.text[: start + 1] + self._entry(name, value, "") + self.text[end - 1 :]
        outer = self._newline + self._line_indent(start)
        entry = self._entry(name, value, outer + self._indent)
        return f"{self.text[: start + 1]}{outer}{self._indent}{entry}{outer}{self.text[end - 1 :]}"

    def with_value(self, member: LocatedNode, value: object) -> str:
        start, end = self._span(member)
        is_wide = "\n" in self.text[start:end] or (member.members is None and "\n" in self.text.strip())
        before = self._newline + self._line_indent(start) if is_wide else ""
        return self.text[:start] + self._rendered(value, before) + self.text[end:]

    def without_member(self, parent: LocatedNode, name: str) -> str:
        start, end = self._span(parent)
        names, nodes = list(parent.members or {}), list((parent.members or {}).values())
        number = names.index(name)
        if len(names) == 1:
            return self.text[: start + 1] + self.text[end - 1 :]
        if number == 0:
            return self.text[: self._key_start(nodes[0])] + self.text[self._key_start(nodes[1]) :]
        return self.text[: self._span(nodes[number - 1])[1]] + self.text[self._span(nodes[number])[1] :]

    def _span(self, node: LocatedNode) -> tuple[int, int]:
        start = self._offset(node.line, node.column)
        return start, _DECODER.raw_decode(self.text, start)[1]

    def _key_start(self, node: LocatedNode) -> int:
        return self._offset(node.key_line, node.key_column)

    def _offset(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column - 1

    def _separator(self, start: int, members: Sequence[LocatedNode]) -> str:
        """Return the comma and the blanks that stand before the last member, to put them before a new one."""
        key = self._key_start(members[-1])
        if len(members) > 1:
            return self.text[self._span(members[-2])[1] : key]
        blanks = self.text[start + 1 : key]
        return "," + (blanks or " " * ('": ' in self.text))

    def _entry(self, name: str, value: object, before: str) -> str:
        return f"{json.dumps(name, ensure_ascii=False)}: {self._rendered(value, before)}"

    def _rendered(self, value: object, before: str) -> str:
        """Write a value; over several lines where the blanks before it have a line break."""
        if "\n" not in before:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._indent).split("\n")
        behind_break = before.rpartition("\n")[2]
        outer = behind_break[: len(behind_break) - len(behind_break.lstrip(" \t"))]
        return (self._newline + outer).join(lines)

    def _line_indent(self, offset: int) -> str:
        start = self.text.rfind("\n", 0, offset) + 1
        return self.text[start : len(self.text) - len(self.text[start:].lstrip(" \t"))]

    def _usual_indent(self) -> str:
        members = list((self.root.members or {}).values())
        if not members or members[0].key_line == self.root.line:
            return _DEFAULT_INDENT
        return (
            self.text[self._lines[members[0].key_line - 1] : self._key_start(members[0])] or _DEFAULT_INDENT
        )


def _require_object(node: LocatedNode, label: str) -> LocatedNode:
    if node.members is None:
        raise JsonError(f"{label} is not an object", node.line, node.column)
    return node
