"""Find the values in a command that another interpreter than the outer shell would read as code.

The outer shell gets a value as a variable and never parses it. What it hands to `sh -c`, `awk`, `eval` and
the like is parsed again there. Pure; reads the command with the grammar of bash.
"""

# The person who wrote the pipeline is trusted, the values are not: this reads honest commands, and follows a
# value through variables, functions, pipes, here-documents and files of the same command. What the grammar
# cannot read counts as uncertain for every value in it.
#
# bash evaluates the index of an array wherever it takes a name or does arithmetic (`a[$(cmd)]`), so those
# places count as code. /bin/sh is bash on some systems, also where it is not on this one.

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct, field

from workbench.pipelines.command_words import (
    NO_MARKS,
    UNKNOWN,
    CommandWord,
    Input,
    Marks,
    all_marks,
    descendants,
    is_split,
    node_bytes,
    node_text,
    union,
)
from workbench.pipelines.inner_readers import judge_command, obeys_variable
from workbench.pipelines.templates import VARIABLE_PREFIX, CommandPiece
from workbench.policy.shell.grammar import syntax_root

_MOST_LEVELS: Final = 6
_MOST_PASSES: Final = 12
_MOST_CHARACTERS: Final = 200_000
_NAMES: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VALUE_NAMES: Final = re.compile(rf"{VARIABLE_PREFIX}\d+")
_ARGUMENT: Final = re.compile(r"[0-9@*]")
_EVALUATING_TEST: Final = re.compile(r"(?<!\S)-(?:eq|ne|lt|le|gt|ge|v|R)\s")
_NAMING_TEST: Final = re.compile(r"(?<!\S)-[vR]\s")
_EVALUATING_EXPANSION: Final = re.compile(r"\$\{!|@P\}|\$\{[A-Za-z0-9_@*]+:[^-=+?]")
_ARGUMENT_KINDS: Final = frozenset({
    "word", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "number",
    "simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion",
    "brace_expression", "regex", "extglob_pattern", "variable_name", "array",
})  # fmt: skip
FAILURE_VARIABLE: Final = "WORKBENCH_LAST_FAILURE"
"""Holds why earlier steps failed, in words of a program or an agent."""
FAILURE_NAME: Final = "$WORKBENCH_LAST_FAILURE"


class InnerPlace(Struct, frozen=True, kw_only=True):
    """A value that an inner interpreter reads as code, or may."""

    name: str
    """Of the template."""
    reader: str
    is_certain: bool


def inner_places(pieces: Sequence[CommandPiece]) -> tuple[InnerPlace, ...]:
    """Return the values of a command that something besides the outer shell reads, once for each name."""
    return _inner_places(tuple(pieces))


@lru_cache(maxsize=256)
def _inner_places(pieces: tuple[CommandPiece, ...]) -> tuple[InnerPlace, ...]:
    variables = {piece.variable: frozenset({piece.name}) for piece in pieces if piece.variable}
    own = frozenset(piece.name for piece in pieces if piece.name and not piece.variable)
    found = _Found()
    variables[FAILURE_VARIABLE] = frozenset({FAILURE_NAME})
    text = "".join(piece.text for piece in pieces)
    script = _ShellScript(text, variables, found, own=own, spans=tuple(_own_spans(pieces)))
    script.read()
    return tuple(found.places.values())


def _own_spans(pieces: Sequence[CommandPiece]) -> Iterator[tuple[int, int, str]]:
    """Yield the bytes that the manifest's own texts take, with their names."""
    position = 0
    for piece in pieces:
        end = position + len(piece.text.encode("utf-8", "surrogatepass"))
        if piece.name and not piece.variable:
            yield position, end, piece.name
        position = end


class _Found(Struct):
    places: dict[str, InnerPlace] = field(default_factory=dict[str, InnerPlace])

    def add(self, name: str, reader: str, *, is_certain: bool) -> None:
        known = self.places.get(name)
        if known is None or (is_certain and not known.is_certain):
            self.places[name] = InnerPlace(name=name, reader=reader, is_certain=is_certain)


class _ShellScript:
    """A text that one shell reads; reading it again and again finds what flows backwards, as in loops."""

    def __init__(
        self,
        text: str,
        variables: Mapping[str, Marks],
        found: _Found,
        *,
        own: Marks = NO_MARKS,
        spans: Sequence[tuple[int, int, str]] = (),
        arguments: Marks = NO_MARKS,
        given: Input | None = None,
        level: int = 0,
    ) -> None:
        self.own, self._spans, self._level, self._found = own, spans, level, found
        self._data = text.encode("utf-8", "surrogatepass")
        self._variables = dict(variables)
        self._arguments, self._given = arguments, given or Input()
        self._texts: dict[str, set[str]] = {}
        self._integers: set[str] = set()
        self._functions: set[str] = set()
        self._function_input = NO_MARKS
        self._files: dict[str, Marks] = {}
        self._handlers: dict[str, Callable[[Any, Input], None]] = {
            "command": self._command, "declaration_command": self._declaration, "pipeline": self._pipeline,
            "unset_command": self._unset, "test_command": self._test, "subscript": self._index,
            "arithmetic_expansion": self._arithmetic, "compound_statement": self._compound,
            "subshell": self._compound,
            "c_style_for_statement": self._counting_loop, "variable_assignment": self._assignment,
            "for_statement": self._for, "function_definition": self._function, "expansion": self._expansion,
            "redirected_statement": self._redirected, "heredoc_redirect": self._heredoc,
            "herestring_redirect": self._parts,
        }  # fmt: skip

    def read(self) -> None:
        if len(self._data) > _MOST_CHARACTERS or self._level > _MOST_LEVELS:
            self.report_all()
            return
        root = syntax_root(self._data)
        if root.has_error:
            self.report_all()
        for _ in range(_MOST_PASSES):
            before = self._state()
            self._walk(root, self._given)
            if self._state() == before:
                return
        self.report_all()

    def _state(self) -> tuple[object, ...]:
        flows = (dict(self._variables), self._arguments, self._function_input, dict(self._files))
        return (*flows, dict(self._constants), len(self._functions), len(self._integers))

    @property
    def _constants(self) -> dict[str, str]:
        """Return the variables that have one known text wherever they are set."""
        return {name: text for name, (text, *more) in self._texts.items() if not more and UNKNOWN not in text}

    # --- what judges of commands ask for ------------------------------------------------------------

    def report(self, marks: Marks, reader: str, *, is_certain: bool = True) -> None:
        for name in sorted(marks):
            self._found.add(name, reader, is_certain=is_certain)

    def report_all(self) -> None:
        text = self._data.decode("utf-8", "surrogatepass")
        marks = self.named_marks(text) | self._arguments | self._given.marks
        self.report(marks - self.own, "a part that cannot be read for certain", is_certain=False)

    def read_inner(self, code: CommandWord, args: Sequence[CommandWord], given: Input, reader: str) -> None:
        if code.marks:
            self.report(code.marks, reader)
        elif not code.is_known:
            self.report(all_marks(args) | given.marks, reader, is_certain=False)
        else:
            script = _ShellScript(
                code.text, self._variables, self._found, own=self.own, arguments=all_marks(args),
                given=given, level=self._level + 1,
            )  # fmt: skip
            script.read()

    def named_marks(self, text: str) -> Marks:
        names = set(_NAMES.findall(text))
        return union(self._variables.get(name, NO_MARKS) for name in names)

    def assign(self, name: str, marks: Marks) -> None:
        self._texts.setdefault(name, set()).add(UNKNOWN)
        self._add_marks(self._variables, name, marks)

    def evaluate(self, name: str) -> None:
        self._integers.add(name)

    def pass_arguments(self, marks: Marks, given: Input) -> None:
        self._arguments |= marks
        self._function_input |= given.marks

    @staticmethod
    def _add_marks(table: dict[str, Marks], name: str, marks: Marks) -> None:
        if marks:
            table[name] = table.get(name, NO_MARKS) | marks

    # --- words --------------------------------------------------------------------------------------

    def _marks(self, node: Any) -> Marks:
        """Return the values that are in a node, also those that the shell puts there by running something."""
        found = {name for start, end, name in self._spans if start < node.end_byte and node.start_byte < end}
        marks = frozenset(found)
        for part in descendants(node):
            if part.type in ("variable_name", "special_variable_name"):
                marks |= self._variable_marks(node_bytes(part, self._data))
            elif part.type == "word" and self._files:
                marks |= self._files.get(_plain_path(node_bytes(part, self._data)), NO_MARKS)
            elif part.type == "heredoc_body" and not part.children:
                marks |= self.named_marks(" ".join(_VALUE_NAMES.findall(node_bytes(part, self._data))))
        return marks

    def _variable_marks(self, name: str) -> Marks:
        return self._arguments if _ARGUMENT.match(name) else self._variables.get(name, NO_MARKS)

    def _evaluated_marks(self, node: Any) -> Marks:
        """Return the marks of a node in which a bare name stands for its value."""
        return self._marks(node) | self.named_marks(node_bytes(node, self._data))

    def _word(self, node: Any) -> CommandWord:
        return CommandWord(
            text=node_text(node, self._data, self._constants), marks=self._marks(node),
            is_split=is_split(node, self._data),
        )  # fmt: skip

    def _words(self, nodes: Sequence[Any]) -> Iterator[CommandWord]:
        """Yield words; a variable of several known words outside of quotes is as many."""
        for word in map(self._word, nodes):
            if word.is_split and word.is_known:
                yield from (CommandWord(text=text, marks=word.marks) for text in word.text.split())
            else:
                yield word

    # --- the tree -----------------------------------------------------------------------------------

    def _walk(self, node: Any, given: Input) -> None:
        handler = self._handlers.get(node.type)
        if handler is not None:
            handler(node, given)
        else:
            self._parts(node, given)

    def _parts(self, node: Any, given: Input) -> None:
        for child in node.children:
            self._walk(child, given)

    def _command(self, node: Any, given: Input, more: Sequence[Any] = ()) -> None:
        self._parts(node, given)
        for child in node.children:
            if child.type == "herestring_redirect":
                given = self._added_input(given, self._word(child.children[-1]))
        nodes = [child for child in node.children if child.type in (*_ARGUMENT_KINDS, "command_name")]
        words = list(self._words([*nodes, *more]))
        if words and words[0].text in self._functions:
            self.pass_arguments(all_marks(words[1:]), given)
        if words and words[0].text == "tee":
            for word in words[1:]:
                self._add_marks(self._files, _plain_path(word.text), given.marks)
        judge_command(words, given, self)

    @staticmethod
    def _added_input(given: Input, word: CommandWord) -> Input:
        return Input(
            marks=given.marks | word.marks, text=word.text if not given.text else given.text + UNKNOWN
        )

    def _pipeline(self, node: Any, given: Input) -> None:
        for child in node.children:
            if not child.is_named:
                continue
            self._walk(child, given)
            given = Input(marks=given.marks | self._marks(child))

    def _redirected(self, node: Any, given: Input) -> None:
        body, redirects = node.child_by_field_name("body"), node.children_by_field_name("redirect")
        marks, more = (self._marks(body) if body is not None else NO_MARKS) | given.marks, list[Any]()
        for redirect in redirects:
            given = self._redirect_input(redirect, given)
            more += self._further_words(redirect)
            self._note_written_file(redirect, marks | given.marks)
        for redirect in redirects:
            self._walk(redirect, Input(marks=marks | given.marks))
        if body is None:
            return
        if body.type == "command":
            self._command(body, given, more)
        else:
            self._walk(body, given)

    def _redirect_input(self, redirect: Any, given: Input) -> Input:
        if redirect.type == "heredoc_redirect":
            bodies = [child for child in redirect.children if child.type == "heredoc_body"]
            return self._added_input(given, self._heredoc_word(redirect, bodies[0])) if bodies else given
        if redirect.type == "herestring_redirect":
            return self._added_input(given, self._word(redirect.children[-1]))
        if any(child.type in ("<", "<&") for child in redirect.children):
            return Input(marks=given.marks | self._marks(redirect), text=given.text)
        return given

    def _heredoc_word(self, redirect: Any, body: Any) -> CommandWord:
        """Return a here-document as a word: without expansions where its end is quoted."""
        starts = [
            node_bytes(child, self._data) for child in redirect.children if child.type == "heredoc_start"
        ]
        if any(sign in starts[0] for sign in "'\"\\"):
            return CommandWord(text=node_bytes(body, self._data))
        return self._word(body)

    @staticmethod
    def _further_words(redirect: Any) -> list[Any]:
        """Return the words behind a redirect, which belong to its command."""
        if redirect.type == "heredoc_redirect":
            return list(redirect.children_by_field_name("argument"))
        return list(redirect.children_by_field_name("destination"))[1:]

    def _note_written_file(self, redirect: Any, marks: Marks) -> None:
        signs = {child.type for child in redirect.children}
        if redirect.type != "file_redirect" or not signs & {">", ">>", "&>", "&>>", ">|"}:
            return
        for target in redirect.children_by_field_name("destination")[:1]:
            self._add_marks(self._files, _plain_path(self._word(target).text), marks)

    def _heredoc(self, node: Any, given: Input) -> None:
        """Walk what stands behind `<<` in its line: redirects, and the rest of a pipeline."""
        marks = given.marks | self._marks(node)
        if self._is_misread_document(node):
            self.report_all()
        for child in node.children:
            if child.type == "file_redirect":
                self._note_written_file(child, marks)
            self._walk(child, Input(marks=marks))

    def _is_misread_document(self, node: Any) -> bool:
        """Return whether the grammar takes lines of a here-document for more words of its command."""
        starts = [child.end_byte for child in node.children if child.type == "heredoc_start"]
        line_end = self._data.find(b"\n", starts[0]) if starts else -1
        rest = [child for child in node.children if child.type not in ("heredoc_body", "heredoc_end")]
        return line_end < 0 or any(child.start_byte >= line_end for child in rest)

    def _assignment(self, node: Any, given: Input) -> None:
        self._parts(node, given)
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        marks = self._marks(value) if value is not None else NO_MARKS
        name = node_bytes(target, self._data).partition("[")[0]
        text = node_text(value, self._data, self._constants) if value is not None else ""
        self._texts.setdefault(name, set()).add(text if target.type == "variable_name" else UNKNOWN)
        self._add_marks(self._variables, name, marks)
        if name in self._integers:
            self.report(marks, "arithmetic")
        if obeys_variable(name):
            self.report(marks, f"programs that obey {name}")

    def _declaration(self, node: Any, given: Input) -> None:
        self._parts(node, given)
        words = [self._word(child) for child in node.children if child.type in _ARGUMENT_KINDS]
        options = "".join(word.text[1:] for word in words if word.text.startswith("-"))
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        names = [node_bytes(child.child_by_field_name("name"), self._data) for child in assigned]
        names += [word.text for word in words if word.is_known and not word.text.startswith("-")]
        self.report(
            all_marks([word for word in words if word.is_open]), node_bytes(node.children[0], self._data)
        )
        if "i" in options or "n" in options:
            self._integers.update(names)
            for child in assigned:
                self.report(self._marks(child), "arithmetic")

    def _unset(self, node: Any, given: Input) -> None:
        self._parts(node, given)
        words = [self._word(child) for child in node.children if child.type in _ARGUMENT_KINDS]
        self.report(all_marks([word for word in words if word.is_open]), "unset")

    def _test(self, node: Any, given: Input) -> None:
        self._parts(node, given)
        text = node_bytes(node, self._data)
        if text.startswith("(("):
            self._arithmetic(node, given)
        elif text.startswith("[["):
            if _EVALUATING_TEST.search(text):
                self.report(self._evaluated_marks(node), "arithmetic in [[ ]]")
        elif _NAMING_TEST.search(text):
            self.report(self._marks(node), "test -v")

    def _arithmetic(self, node: Any, given: Input) -> None:
        self._parts(node, given)
        self.report(self._evaluated_marks(node), "arithmetic")

    def _compound(self, node: Any, given: Input) -> None:
        if self._data.startswith(b"((", node.start_byte):
            self._arithmetic(node, given)
        else:
            self._parts(node, given)

    def _counting_loop(self, node: Any, given: Input) -> None:
        body = node.child_by_field_name("body")
        for child in node.children:
            if body is None or child.start_byte != body.start_byte:
                self.report(self._evaluated_marks(child), "arithmetic")
        self._parts(node, given)

    def _index(self, node: Any, given: Input) -> None:
        self._parts(node, given)
        index = node.child_by_field_name("index")
        if index is not None:
            self.report(self._evaluated_marks(index), "the index of an array")

    def _expansion(self, node: Any, given: Input) -> None:
        self._parts(node, given)
        if _EVALUATING_EXPANSION.search(node_bytes(node, self._data)):
            self.report(self._evaluated_marks(node), "an expansion that evaluates")

    def _for(self, node: Any, given: Input) -> None:
        variable = node.child_by_field_name("variable")
        values = node.children_by_field_name("value")
        marks = union(map(self._marks, values)) if values else self._arguments
        if variable is not None:
            self.assign(node_bytes(variable, self._data), marks)
        self._parts(node, given)

    def _function(self, node: Any, given: Input) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self._functions.add(node_bytes(name, self._data))
        self._parts(node, Input(marks=given.marks | self._function_input))


def _plain_path(text: str) -> str:
    return text.removeprefix("./")
