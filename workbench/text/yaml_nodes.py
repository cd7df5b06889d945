"""YAML as nodes that know their line, bounded in size, depth and number of values, and outlines of documents.

The only reader of PyYAML's events. Nodes are built from them, never composed: no tag makes an object, aliases
are counted before they are followed. Scalars are those of the YAML 1.2 core schema: `on` and `no` are texts.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, TypeAlias, cast

from msgspec import Struct, field

from workbench.text.json_nodes import LocatedError, LocatedNode
from workbench.text.safe import one_line

MOST_YAML_BYTES: Final = 4 * 1_048_576
MOST_DEPTH: Final = 64
MOST_VALUES: Final = 250_000
"""Values of a document, with every alias counted as often as it is used."""
_INT: Final = re.compile(r"[-+]?[0-9]{1,18}|0o[0-7]{1,20}|0x[0-9a-fA-F]{1,16}")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")
_WORD_VALUES: Final[dict[str, object]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_STANDARD_PREFIX: Final = "tag:yaml.org,2002:"
_PLAIN_TAGS: Final = frozenset({"str", "int", "float", "bool", "null", "seq", "map"})


class YamlError(LocatedError):
    """Text that is not acceptable YAML.

    `code`: `yaml_syntax`, `yaml_alias`, `yaml_tag`, `yaml_depth`, `yaml_size`, `duplicate_key`.
    """


def parse_yaml(
    text: str, *, most_bytes: int = MOST_YAML_BYTES, most_values: int = MOST_VALUES
) -> LocatedNode:
    """Read one YAML document. Raises YamlError: it is none, or larger than it may be; says where."""
    import yaml

    if len(text.encode("utf-8", "surrogatepass")) > most_bytes:
        raise YamlError("yaml_size", f"the file is larger than {most_bytes:,} bytes", 1, 1)
    loader = getattr(yaml, "CSafeLoader", None) or yaml.SafeLoader
    builder = _NodeBuilder(most_values)
    try:
        for event in cast("Iterator[Any]", cast("Any", yaml).parse(text, Loader=loader)):
            builder.take(event)
    except yaml.YAMLError as error:
        raise _syntax_error(error) from None
    except RecursionError:
        raise YamlError("yaml_depth", f"it is nested deeper than {MOST_DEPTH} levels", 1, 1) from None
    return builder.root or LocatedNode(value=None, line=1, column=1)


OutlineValue: TypeAlias = "str | tuple[()] | dict[str, OutlineValue]"
Outline: TypeAlias = dict[str, OutlineValue]
"""Members by name: a scalar as it is written, a list without its items, or the members of a mapping."""
_OUTLINE_DEPTH: Final = 3
_OUTLINE_EVENTS: Final = 100_000


def outline_yaml(text: str) -> Outline:
    """Return the members of the first document of a text, three levels deep, as far as they can be read.

    Tags are passed over and aliases are not followed; what cannot be read ends the outline.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", None) or yaml.SafeLoader
    builder = _OutlineBuilder()
    with suppress(yaml.YAMLError, RecursionError):
        for event in islice(cast("Any", yaml).parse(text, Loader=loader), _OUTLINE_EVENTS):
            if not builder.accept(event):
                break
    return builder.root


class _OutlineLevel(Struct):
    members: Outline | None
    """Where values of a mapping are noted; None for a list, and below the outline."""
    is_mapping: bool
    key: str | None = None


class _OutlineBuilder:
    def __init__(self) -> None:
        self.root: Outline = {}
        self._levels: list[_OutlineLevel] = []

    def accept(self, event: Any) -> bool:
        """Note an event; return whether more are wanted."""
        match type(event).__name__:
            case "ScalarEvent":
                self._note(cast("str", event.value))
            case "AliasEvent":
                self._note("")
            case "MappingStartEvent" | "SequenceStartEvent" as kind:
                self._open(is_mapping=kind == "MappingStartEvent")
            case "MappingEndEvent" | "SequenceEndEvent":
                self._levels.pop()
            case "DocumentEndEvent":
                return not self.root
            case _:
                pass
        return len(self._levels) <= MOST_DEPTH

    def _open(self, *, is_mapping: bool) -> None:
        depth = len(self._levels)
        value: OutlineValue = {} if is_mapping else ()
        is_noted = self._note(value) if depth else is_mapping
        members = self.root if not depth else value if isinstance(value, dict) else None
        is_kept = is_noted and is_mapping and depth < _OUTLINE_DEPTH
        self._levels.append(_OutlineLevel(members if is_kept else None, is_mapping))

    def _note(self, value: OutlineValue) -> bool:
        """Note a value below the key before it, or the key itself; return whether it was noted as a value."""
        level = self._levels[-1] if self._levels else None
        if level is None or not level.is_mapping:
            return False
        if level.key is None:
            level.key = value if isinstance(value, str) else ""
            return False
        key, level.key = level.key, None
        if level.members is None:
            return False
        level.members.setdefault(key, value)
        return True


def _syntax_error(error: Any) -> YamlError:
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or str(error).splitlines()[0]
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return YamlError("yaml_syntax", one_line(str(reason), 200), line, column)


class _OpenCollection(Struct):
    line: int
    column: int
    anchor: str | None
    is_mapping: bool
    items: list[LocatedNode] = field(default_factory=list[LocatedNode])
    members: dict[str, LocatedNode] = field(default_factory=dict[str, LocatedNode])
    merged: list[LocatedNode] = field(default_factory=list[LocatedNode])
    key: LocatedNode | None = None
    size: int = 1


class _NodeBuilder:
    """Makes nodes of parser events, with a stack of its own: no nesting can exhaust Python's."""

    def __init__(self, most_values: int = MOST_VALUES) -> None:
        self.root: LocatedNode | None = None
        self._most_values = most_values
        self._stack: list[_OpenCollection] = []
        self._anchors: dict[str, tuple[LocatedNode, int]] = {}
        self._open_anchors: set[str] = set()
        self._documents = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        match kind:
            case "DocumentStartEvent":
                self._documents += 1
                if self._documents > 1:
                    raise YamlError("yaml_syntax", "a second document starts; keep one a file", line, column)
            case "ScalarEvent":
                self._tag(event.tag, line, column)
                node = LocatedNode(value=_scalar_value(event), line=line, column=column)
                self._keep(event.anchor, node, 1)
                self._put(node, 1)
            case "SequenceStartEvent" | "MappingStartEvent":
                self._begin(event, kind == "MappingStartEvent", line, column)
            case "SequenceEndEvent" | "MappingEndEvent":
                self._end()
            case "AliasEvent":
                self._alias(event.anchor, line, column)
            case _:
                return

    def _tag(self, tag: str | None, line: int, column: int) -> None:
        if tag is None or tag == "!" or tag.removeprefix(_STANDARD_PREFIX) in _PLAIN_TAGS:
            return
        raise YamlError("yaml_tag", f"the tag {one_line(tag, 60)} is not read here", line, column)

    def _begin(self, event: Any, is_mapping: bool, line: int, column: int) -> None:
        self._tag(event.tag, line, column)
        if len(self._stack) >= MOST_DEPTH:
            raise YamlError("yaml_depth", f"it is nested deeper than {MOST_DEPTH} levels", line, column)
        if event.anchor:
            self._open_anchors.add(event.anchor)
        self._stack.append(_OpenCollection(line, column, event.anchor, is_mapping))

    def _end(self) -> None:
        collection = self._stack.pop()
        if collection.is_mapping:
            members = _members_with_merged(collection)
            plain = {name: node.value for name, node in members.items()}
            node = LocatedNode(value=plain, line=collection.line, column=collection.column, members=members)
        else:
            values = [item.value for item in collection.items]
            node = LocatedNode(
                value=values, line=collection.line, column=collection.column, items=tuple(collection.items)
            )
        self._open_anchors.discard(collection.anchor or "")
        self._keep(collection.anchor, node, collection.size)
        self._put(node, collection.size)

    def _alias(self, anchor: str, line: int, column: int) -> None:
        if anchor in self._open_anchors:
            raise YamlError("yaml_alias", f"*{one_line(anchor, 40)} holds itself", line, column)
        if anchor not in self._anchors:
            raise YamlError("yaml_alias", f"nothing is anchored as &{one_line(anchor, 40)}", line, column)
        node, size = self._anchors[anchor]
        self._put(node, size)

    def _keep(self, anchor: str | None, node: LocatedNode, size: int) -> None:
        if anchor:
            self._anchors[anchor] = (node, size)

    def _put(self, node: LocatedNode, size: int) -> None:
        if not self._stack:
            self.root = node
            return
        collection = self._stack[-1]
        collection.size += size
        if collection.size > self._most_values:
            why = f"it comes to more than {self._most_values:,} values when its aliases are followed"
            raise YamlError("yaml_size", why, node.line, node.column)
        if not collection.is_mapping:
            collection.items.append(node)
        elif collection.key is None:
            collection.key = node
        else:
            _add_member(collection, collection.key, node)
            collection.key = None


def _add_member(collection: _OpenCollection, key: LocatedNode, node: LocatedNode) -> None:
    if isinstance(key.value, list | dict):
        raise YamlError("yaml_syntax", "a key has to be a text", key.line, key.column)
    name = "null" if key.value is None else str(key.value)
    if name == "<<":
        collection.merged += _merge_nodes(node, key)
        return
    if name in collection.members:
        first = collection.members[name].key_line
        why = f"{one_line(name, 60)} is there twice, first in line {first}"
        raise YamlError("duplicate_key", why, key.line, key.column)
    collection.members[name] = LocatedNode(
        value=node.value, line=node.line, column=node.column, key_line=key.line, key_column=key.column,
        members=node.members, items=node.items,
    )  # fmt: skip


def _merge_nodes(node: LocatedNode, key: LocatedNode) -> list[LocatedNode]:
    many = list(node.items) if node.items is not None else [node]
    if any(value.members is None for value in many):
        raise YamlError("yaml_syntax", "<< takes a mapping or a list of them", key.line, key.column)
    return many


def _members_with_merged(collection: _OpenCollection) -> dict[str, LocatedNode]:
    members = dict(collection.members)
    for node in collection.merged:
        for name, item in (node.members or {}).items():
            members.setdefault(name, item)
    return members


def _scalar_value(event: Any) -> object:
    text = cast("str", event.value)
    is_plain = event.style in (None, "") and (event.tag is None or event.tag == "!")
    explicit = (event.tag or "").removeprefix(_STANDARD_PREFIX)
    if not is_plain and explicit not in ("int", "float", "bool", "null"):
        return text
    if text in _WORD_VALUES:
        return _WORD_VALUES[text]
    if _INT.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
