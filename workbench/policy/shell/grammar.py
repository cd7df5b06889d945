"""The tree of a shell command by its grammar, as far as each node is understood.

A node kind that is in no table here makes a line unplain. tree-sitter is loaded when the first command is
parsed.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, cast

from msgspec import Struct, field

_TRANSPARENT_NODES: Final = frozenset({
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
_NODE_REASONS: Final = {
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
    "ERROR": "a syntax error",
}  # fmt: skip


class GrammarCommand(Struct, frozen=True, kw_only=True):
    """A simple command or an assignment that stands alone, by the places of its bytes."""

    start: int
    end: int
    words: tuple[tuple[int, int], ...]
    assignments: tuple[tuple[int, int], ...] = ()
    is_whole: bool = False
    """Every word between `start` and `end` is its own, whatever the grammar makes of them."""


class GrammarTree(Struct):
    """A line as the grammar reads it."""

    commands: list[GrammarCommand] = field(default_factory=list[GrammarCommand])
    reasons: dict[str, None] = field(default_factory=dict[str, None])
    spans: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    variables: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


@cache
def _tree_sitter_parser() -> Any:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def syntax_root(data: bytes) -> Any:
    """Return the root of the syntax tree of shell text in UTF-8."""
    return _tree_sitter_parser().parse(data).root_node


def parse_grammar(command: str) -> GrammarTree:
    """Read a line by the grammar; the caller has limited its length."""
    data = command.encode("utf-8", "surrogatepass")
    root = syntax_root(data)
    tree = GrammarTree()
    if root.has_error:
        tree.reasons[_NODE_REASONS["ERROR"]] = None
    stack = [root]
    while stack:
        node = stack.pop()
        tree.spans.add((node.start_byte, node.end_byte))
        kind = cast("str", node.type)
        _note_node(tree, node, kind, data)
        if kind in ("command", "declaration_command", "test_command"):
            tree.commands.append(_grammar_command(node))
        elif kind == "variable_assignment" and node.parent.type not in ("command", "declaration_command"):
            place = (node.start_byte, node.end_byte)
            tree.commands.append(GrammarCommand(start=place[0], end=place[1], words=(), assignments=(place,)))
        stack.extend(node.children)
    tree.commands.sort(key=lambda simple: simple.start)
    return tree


def _note_node(tree: GrammarTree, node: Any, kind: str, data: bytes) -> None:
    if node.is_missing:
        tree.reasons[_NODE_REASONS["ERROR"]] = None
    if node.is_named and kind not in _TRANSPARENT_NODES:
        tree.reasons[_NODE_REASONS.get(kind, f"unsupported shell syntax ({kind})")] = None
    elif kind in ("compound_statement", "test_command") and data[node.start_byte : node.end_byte][:2] in (
        b"((", b"[[",
    ):  # fmt: skip
        tree.reasons["a test that evaluates" if kind == "test_command" else "arithmetic"] = None
    elif kind == "for_statement":
        if data.startswith(b"select", node.start_byte):
            tree.reasons["select asks at the terminal"] = None
        tree.variables.extend(
            (child.start_byte, child.end_byte) for child in node.children if child.type == "variable_name"
        )


def _grammar_command(node: Any) -> GrammarCommand:
    start, end = node.start_byte, node.end_byte
    if node.type != "command":
        return GrammarCommand(start=start, end=end, words=((start, end),), is_whole=True)
    words = list(_node_words(node.children))
    return GrammarCommand(
        start=start, end=end,
        words=tuple(place for kind, place in words if kind != "variable_assignment"),
        assignments=tuple(place for kind, place in words if kind == "variable_assignment"),
    )  # fmt: skip


_NON_WORD_NODES: Final = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect", "comment"})


def _node_words(children: Sequence[Any]) -> Iterator[tuple[str, tuple[int, int]]]:
    for child in children:
        if child.type not in _NON_WORD_NODES and child.end_byte > child.start_byte:
            yield child.type, (child.start_byte, child.end_byte)
