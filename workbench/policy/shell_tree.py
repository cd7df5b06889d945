"""What the shell grammar says of a line: its simple commands, and everything that makes it more than those.

Owns the one use of tree-sitter, which is loaded when the first command is looked at. A kind of node that is
not in the tables here makes a line unplain; an error anywhere in the tree does, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, cast

_PASSED: Final = frozenset({
    "program", "list", "pipeline", "command", "command_name", "redirected_statement", "file_redirect",
    "file_descriptor", "herestring_redirect", "heredoc_redirect", "heredoc_start", "heredoc_body",
    "heredoc_content", "heredoc_end", "negated_command", "subshell", "compound_statement", "if_statement",
    "elif_clause", "else_clause", "while_statement", "for_statement", "do_group", "case_statement",
    "case_item",
    "test_command", "unary_expression", "binary_expression", "test_operator", "comment", "word", "number",
    "string", "string_content", "raw_string", "ansi_c_string", "concatenation", "variable_assignment",
    "variable_name", "declaration_command",
})  # fmt: skip
"""Kinds of nodes that say nothing more than their parts do."""

_SAYS: Final = {
    "simple_expansion": "an expansion",
    "expansion": "an expansion",
    "command_substitution": "a substitution",
    "process_substitution": "process substitution",
    "arithmetic_expansion": "arithmetic",
    "brace_expression": "braces",
    "function_definition": "a function definition",
    "translated_string": "a translated text",
    "c_style_for_statement": "arithmetic",
    "extglob_pattern": "file name patterns",
    "regex": "a test that evaluates",
    "array": "an array",
    "subscript": "an array",
    "unset_command": "it changes the shell",
    "ERROR": "the grammar does not understand it",
}  # fmt: skip
"""What other kinds are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A simple command or an assignment that stands alone, by the places of its bytes."""

    start: int
    end: int
    words: tuple[tuple[int, int], ...]
    """Of each word: where it begins and ends."""
    assignments: tuple[tuple[int, int], ...] = ()
    is_whole: bool = False
    """Every word between `start` and `end` is its own, whatever the grammar makes of them."""
    is_nested: bool = False
    """It stands within a substitution or a function."""


@dataclass(slots=True)
class Tree:
    """A line as the grammar reads it."""

    commands: list[Node] = field(default_factory=list[Node])
    reasons: dict[str, None] = field(default_factory=dict[str, None])
    spans: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """The places of all nodes, keywords too."""
    variables: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Names that a loop sets."""


@cache
def _parser() -> Any:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(command: str) -> Tree:
    """Read a line by the grammar; the caller has made sure that it is not too much."""
    data = command.encode("utf-8", "surrogatepass")
    root = _parser().parse(data).root_node
    tree = Tree()
    if root.has_error:
        tree.reasons[_SAYS["ERROR"]] = None
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, is_nested = stack.pop()
        tree.spans.add((node.start_byte, node.end_byte))
        kind = cast("str", node.type)
        _note(tree, node, kind, data)
        if kind in ("command", "declaration_command", "test_command"):
            tree.commands.append(_simple(node, is_nested))
        elif kind == "variable_assignment" and node.parent.type not in ("command", "declaration_command"):
            place = (node.start_byte, node.end_byte)
            tree.commands.append(Node(start=place[0], end=place[1], words=(), assignments=(place,)))
        inner = is_nested or kind in ("command_substitution", "process_substitution", "function_definition")
        stack.extend((child, inner) for child in node.children)
    tree.commands.sort(key=lambda found: found.start)
    return tree


def _note(tree: Tree, node: Any, kind: str, data: bytes) -> None:
    """Remember what a node makes of the line."""
    if node.is_missing:
        tree.reasons[_SAYS["ERROR"]] = None
    if node.is_named and kind not in _PASSED:
        tree.reasons[_SAYS.get(kind, f"the grammar's {kind}")] = None
    elif kind in ("compound_statement", "test_command") and data[node.start_byte : node.end_byte][:2] in (
        b"((", b"[[",
    ):  # fmt: skip
        tree.reasons["a test that evaluates" if kind == "test_command" else "arithmetic"] = None
    elif kind == "for_statement":
        if data.startswith(b"select", node.start_byte):
            tree.reasons["a question to the terminal"] = None
        tree.variables.extend(
            (child.start_byte, child.end_byte) for child in node.children if child.type == "variable_name"
        )


def _simple(node: Any, is_nested: bool) -> Node:
    start, end = node.start_byte, node.end_byte
    if node.type != "command":
        return Node(start=start, end=end, words=((start, end),), is_whole=True, is_nested=is_nested)
    words = list(_words(node.children))
    return Node(
        start=start, end=end, is_nested=is_nested,
        words=tuple(place for kind, place in words if kind != "variable_assignment"),
        assignments=tuple(place for kind, place in words if kind == "variable_assignment"),
    )  # fmt: skip


_APART: Final = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect", "comment"})


def _words(children: Sequence[Any]) -> Iterator[tuple[str, tuple[int, int]]]:
    for child in children:
        if child.type not in _APART and child.end_byte > child.start_byte:
            yield child.type, (child.start_byte, child.end_byte)
