"""Words of a shell command as the programs get them, with the templates whose values are in each."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.policy.shell.scanner import decode_ansi_text

Marks = frozenset[str]
"""Names of the templates whose values are in a text."""
NO_MARKS: Final[Marks] = frozenset()
UNKNOWN: Final = "\x00"
"""Stands in a text for each part that only the shell knows, such as an expansion."""


class CommandWord(Struct, frozen=True, kw_only=True):
    """A word of a command."""

    text: str
    """Without its quotes, with `UNKNOWN` for what is not known."""
    marks: Marks = NO_MARKS
    is_split: bool = False
    """Whether a value in it may become several words: it stands outside of quotes."""

    @property
    def is_open(self) -> bool:
        """Return whether a value may begin the word, and so may be an option or a name."""
        return bool(self.marks) and self.text.startswith(UNKNOWN)

    @property
    def is_known(self) -> bool:
        return UNKNOWN not in self.text

    def rest(self, start: int) -> "CommandWord":
        """Return the word without its first characters."""
        return replace(self, text=self.text[start:])

    def without(self, marks: Marks) -> "CommandWord":
        return replace(self, marks=self.marks - marks) if self.marks & marks else self


class Input(Struct, frozen=True, kw_only=True):
    """Standard input of a command."""

    marks: Marks = NO_MARKS
    text: str = ""
    """The here-document or here-string that it is, with `UNKNOWN` for what is not known; else empty."""


def union(sets: Iterable[Marks]) -> Marks:
    """Return the marks of all sets."""
    return frozenset(itertools.chain.from_iterable(sets))


def all_marks(words: Iterable[CommandWord]) -> Marks:
    return union(word.marks for word in words)


def node_bytes(node: Any, data: bytes) -> str:
    """Return the text of a node of the grammar as it is written."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")


_KNOWN_KINDS: Final = frozenset(
    {"word", "number", "variable_name", "test_operator", "regex", "file_descriptor"}
)
_IN_QUOTES: Final = re.compile(r'\\([$`"\\\n])', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def node_text(node: Any, data: bytes, constants: dict[str, str]) -> str:
    """Return a word of the grammar without its quotes; variables that have one known value have it."""
    kind, raw = node.type, node_bytes(node, data)
    match kind:
        case "raw_string":
            return raw[1:-1]
        case "ansi_c_string":
            return decode_ansi_text(raw[2:-1])
        case "string":
            return _joined_text(node, data, constants, _IN_QUOTES, edge=1)
        case "heredoc_body":
            return _joined_text(node, data, constants, _IN_QUOTES)
        case "concatenation" | "command_name" | "translated_string":
            return _joined_text(node, data, constants, _ESCAPED)
        case "simple_expansion" | "expansion":
            return constants.get(raw.strip('${}"'), UNKNOWN)
        case _:
            return _ESCAPED.sub(_unescape, raw) if kind in _KNOWN_KINDS else UNKNOWN


def _joined_text(
    node: Any, data: bytes, constants: dict[str, str], escape: re.Pattern[str], edge: int = 0
) -> str:
    """Return the text of a node with parts: what lies between its expansions is text of its own."""
    pieces: list[str] = []
    position = node.start_byte + edge
    for child in _text_parts(node):
        gap = data[position : child.start_byte].decode("utf-8", "surrogatepass")
        pieces += [escape.sub(_unescape, gap), node_text(child, data, constants)]
        position = child.end_byte
    gap = data[position : node.end_byte - edge].decode("utf-8", "surrogatepass")
    return "".join([*pieces, escape.sub(_unescape, gap)])


def _text_parts(node: Any) -> Iterator[Any]:
    """Yield the parts of a node that are not plain text of it."""
    for child in node.children:
        if child.is_named and child.type not in ("string_content", "heredoc_content"):
            yield child


def _unescape(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


_SPLIT_KINDS: Final = frozenset({"simple_expansion", "expansion", "command_substitution"})
_SEVERAL_WORDS: Final = re.compile(r"\$@|\$\{@|\[@\]")


def is_split(node: Any, data: bytes) -> bool:
    """Return whether the shell may make several words of a node."""
    if node.type in ("concatenation", "command_name"):
        return any(is_split(child, data) for child in node.children)
    return node.type in _SPLIT_KINDS or (
        node.type == "string" and _SEVERAL_WORDS.search(node_bytes(node, data)) is not None
    )


def descendants(node: Any) -> Iterator[Any]:
    """Yield a node and all nodes in it."""
    nodes = [node]
    while nodes:
        current = nodes.pop()
        yield current
        nodes.extend(current.children)


def joined(words: Sequence[CommandWord]) -> CommandWord:
    """Return words as the one text that a program makes of them."""
    return CommandWord(text=" ".join(word.text for word in words), marks=all_marks(words))
