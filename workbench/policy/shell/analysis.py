"""Analysis of a shell line: whether it is plain enough for a grant, and every text that a deny has to see."""

# Two readers of a shell line. Grammars for editors accept more than a shell does. A line is plain only
# where tree-sitter and a strict lexer of ours find the same words and let commands begin at the same
# places; what the lexer does not know for certain asks. Shell options are judged by lists, and the lists
# are tested by running what passes in a real shell whose programs are shims. A second oracle lets a real
# shell split generated lines and compares every word of what the analysis is sure of.
#
# File name patterns, braces and `~` ask, because a deny pattern cannot see what they become. `>/dev/null`,
# `2>&1`, here-documents without expansions and `<` from a named file do not ask; what is read through `<`
# is part of the text that a pattern has to cover.
#
# `git -C` asks, and `git` behind a `cd` into another repository does (`command_paths`): git obeys the
# configuration of the repository that it is in.

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.policy.shell import grammar
from workbench.policy.shell.command_risk import assess_command
from workbench.policy.shell.deny_texts import (
    MAX_DENY_TEXT,
    CommandForm,
    DenyForms,
    command_forms,
    commands_by_real_name,
    deny_forms_of,
    runs_text,
    texts_by_real_name,
)
from workbench.policy.shell.inlined_text import with_inlined_messages
from workbench.policy.shell.loops import ROUND_WORD, ShellLoop, read_loop
from workbench.policy.shell.parser import (
    QUOTED_TEXT,
    ShellToken,
    UnclearCommand,
    plain_command_rows,
    tokenize,
    with_closed_blanks,
    without_heredoc_bodies,
)
from workbench.policy.shell.risk_lists import (
    CODE_TAKERS,
    COMMAND_STARTERS,
    DATA_TAKERS,
    INPUT_DEVICES,
    NETWORK_PROGRAMS,
    OPENERS,
    OUTPUT_SINKS,
    REMOVING_PROGRAMS,
    program_and_subcommand,
    program_name,
)
from workbench.policy.shell.scanner import ScannedCommand, ShellScan, scan_commands
from workbench.policy.shell.variable_risk import (
    assigned_name,
    assignment_risk,
    is_harmless_assignment,
    variable_risk,
)
from workbench.text.safe import has_hidden_characters

MAX_COMMAND_LENGTH: Final = 131_072
"""Characters that a shell takes as one argument; a longer command is never taken apart."""
_MAX_SCAN_LENGTH: Final = 16_384
_MAX_BRACKETS: Final = 300
_KEYWORDS: Final = frozenset({
    "!", "{", "}", "if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "until", "case",
    "esac",
})  # fmt: skip
_NOT_EXPANDED_IN_ASSIGNMENTS: Final = frozenset({"file name patterns", "braces"})
_FOLDER_CHANGERS: Final = frozenset({"cd", "chdir"})
_IDLE_BUILTINS: Final = frozenset({":", "true", "false", "test", "[", "break", "continue"})
_LOOP_VARIABLE: Final = re.compile(r"[a-z][a-z0-9]*")
_LOOPS: Final = frozenset({"for", "while", "until", "select"})


class SimpleCommand(Struct, frozen=True, kw_only=True):
    """One simple command of plain words."""

    words: tuple[str, ...]
    """Quotes taken off; assignments and redirects are not among them."""
    written: tuple[str, ...]
    assignments: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    """Files that it is given through `<`."""
    spelled: int = 0
    """How many of its words a pattern has to spell out."""
    literal: frozenset[int] = frozenset()
    """Places of further words that a pattern has to spell out."""
    text: frozenset[int] = frozenset()
    """Places of words that are known to name no file."""
    sources: tuple[str, ...] = ()
    """`inputs` with their quotes taken off."""
    values: tuple[str, ...] = ()
    """What it sets its variables to, quotes taken off."""
    behind: str = ""
    """The operator between it and the command before, such as `&&`."""
    is_repeated: bool = False
    stays: bool = False
    """It changes to the folder in which the line runs anyway, and does nothing else."""

    def spellings(self) -> Iterator[tuple[str, tuple[tuple[int, int], ...]]]:
        """Yield how a pattern that allows it may be written, each with the parts to spell out.

        Variables that are not known to be harmless have to be spelled out as well.
        """
        places = {*range(self.spelled), *self.literal}
        closed = tuple(map(with_closed_blanks, self.words))
        is_free = all(map(is_harmless_assignment, self.assignments))
        front = range(-len(self.assignments), 0)
        for words in dict.fromkeys((closed, self.written)):
            if is_free:
                yield self._spelling(words, places)
            if self.assignments:
                spelled = {*places} if is_free else {*places, *front}
                begin = len(front)
                yield self._spelling((*self.assignments, *words), {begin + place for place in spelled})

    def _spelling(
        self, words: tuple[str, ...], places: Collection[int]
    ) -> tuple[str, tuple[tuple[int, int], ...]]:
        text = " ".join(words) + "".join(f" < {name}" for name in self.inputs)
        if not places:
            return text, ()
        ends = list(accumulate(len(word) + 1 for word in words))
        return text, tuple((ends[place] - 1 - len(words[place]), ends[place] - 1) for place in sorted(places))

    @property
    def source(self) -> str:
        """Return the command as it is written, without redirects."""
        return " ".join((*self.assignments, *self.written))

    @property
    def is_idle(self) -> bool:
        """Say whether it is a builtin that only compares, or does nothing at all."""
        return self.words[0] in _IDLE_BUILTINS and not (self.literal or self.assignments or self.inputs)

    @property
    def moves(self) -> bool:
        """Say whether it changes the folder for the commands behind it."""
        return self.words[0] in _FOLDER_CHANGERS


class ShellView(Struct, frozen=True, kw_only=True):
    """A command as permission patterns see it."""

    plain: bool
    """Simple commands of plain words, each of which runs what its first word says, and nothing else."""
    reasons: tuple[str, ...]
    segments: tuple[str, ...]
    """Its simple commands, words joined by one space."""
    raw: str
    commands: tuple[SimpleCommand, ...] = ()
    """The simple commands that a grant has to cover; none if the line is not plain."""
    is_certain: bool = True
    deny_texts: tuple[str, ...] = ()
    """Every text that a deny pattern has to be tried on, the raw one first."""
    deny_commands: tuple[tuple[str, ...], ...] = ()
    """The simple commands of those texts, word by word."""
    doubtful_commands: tuple[tuple[str, ...], ...] = ()
    """Words that may be a command, or data that only looks like one: a denial of one asks."""
    has_all_deny_texts: bool = True
    """Whether those are all; if not, a deny has to search loosely."""
    marks: tuple[str, ...] = field(default=())
    """What a human should know at a glance: `network`, `removes`, `runs net` (it runs what it downloads)."""

    @property
    def commands_to_cover(self) -> tuple[SimpleCommand, ...]:
        """Return the commands that a grant has to cover: all but those that change nothing.

        These are a `cd` to where the line runs anyway, and conditions such as `true` and `test -f x`.
        """
        return tuple(each for each in self.commands if not (each.stays or each.is_idle)) or self.commands

    @property
    def without_redundant_cd(self) -> "ShellView":
        """Return the view without a `cd` to where the line runs anyway."""
        if len(self.commands_to_cover) == len(self.commands):
            return self
        segments = tuple(" ".join(simple.words) for simple in self.commands_to_cover)
        return replace(self, commands=self.commands_to_cover, segments=segments)


def view_command(command: str, folder: str | None = None, path: str | None = None) -> ShellView:
    """Look at a command; without a folder to run in, programs are not followed through links."""
    view = _read_view(command, folder)
    if folder is None:
        return view
    more = dict.fromkeys((*view.deny_texts, *texts_by_real_name(view.deny_texts, folder, path)))
    commands = dict.fromkeys((*view.deny_commands, *commands_by_real_name(view.deny_commands, folder, path)))
    return replace(view, deny_texts=tuple(more), deny_commands=tuple(commands))


def _read_view(command: str, folder: str | None) -> ShellView:
    """Look at a line in which messages stand in quotes and the loop is unrolled, where that is possible."""
    line = with_inlined_messages(command)
    loop = read_loop(line, folder)
    view = (_unrolled_view(loop, folder) if loop is not None else None) or _view_without_links(line, folder)
    if view.raw == command:
        return view
    return replace(view, raw=command, deny_texts=tuple(dict.fromkeys((command, *view.deny_texts))))


def _unrolled_view(loop: ShellLoop, folder: str | None) -> ShellView | None:
    """Return a line with the commands of every round; None where they are not certain."""
    view = _view_without_links(loop.command, folder)
    if not view.plain or not _begins_loop(loop) or any(map(_steers_by_round, view.commands)):
        return None
    if len(loop.values) * sum(map(len, view.deny_texts)) > MAX_DENY_TEXT:
        return None
    commands = [each for simple in view.commands for each in _rounds_of_command(simple, loop.values)]
    verdicts = [assess_command(simple.words) for simple in commands]
    reasons = dict.fromkeys(reason for verdict in verdicts for reason in verdict.reasons)
    judged = tuple(
        replace(simple, spelled=verdict.spelled, literal=verdict.literal, text=verdict.text)
        for simple, verdict in zip(commands, verdicts, strict=True)
    )
    return replace(
        view,
        plain=not reasons,
        reasons=tuple(reasons),
        segments=tuple(" ".join(simple.words) for simple in judged),
        commands=() if reasons else judged,
        deny_texts=tuple(
            dict.fromkeys(each for text in view.deny_texts for each in _rounds(text, loop.values))
        ),
        deny_commands=tuple(
            dict.fromkeys(each for words in view.deny_commands for each in _word_rounds(words, loop.values))
        ),
    )


def _begins_loop(loop: ShellLoop) -> bool:
    """Return whether the grammar has the loop where it was found, and not a text that looks like one."""
    line = loop.command.encode("utf-8", "surrogatepass")
    return any(
        line[loop.start : start].strip() == b"for"
        for start, _ in grammar.parse_grammar(loop.command).variables
    )


def _steers_by_round(simple: SimpleCommand) -> bool:
    """Return whether the variable of a loop names a program or is a part of an assignment."""
    return any(ROUND_WORD in word for word in (simple.words[0], *simple.assignments))


def _rounds(text: str, values: Sequence[str]) -> Iterator[str]:
    yield from (text.replace(ROUND_WORD, value) for value in values) if ROUND_WORD in text else (text,)


def _word_rounds(words: tuple[str, ...], values: Sequence[str]) -> Iterator[tuple[str, ...]]:
    if not any(ROUND_WORD in word for word in words):
        yield words
        return
    for value in values:
        yield tuple(word.replace(ROUND_WORD, value) for word in words)


def _rounds_of_command(simple: SimpleCommand, values: Sequence[str]) -> Iterator[SimpleCommand]:
    if not any(ROUND_WORD in word for word in (*simple.words, *simple.sources)):
        yield simple
        return
    for value in values:
        words, written, inputs, sources = (
            tuple(word.replace(ROUND_WORD, value) for word in group)
            for group in (simple.words, simple.written, simple.inputs, simple.sources)
        )
        yield replace(simple, words=words, written=written, inputs=inputs, sources=sources)


@lru_cache(maxsize=256)
def _view_without_links(command: str, folder: str | None) -> ShellView:
    reasons, commands = _analyze(command, folder)
    is_short = len(command) <= _MAX_SCAN_LENGTH
    scan = (
        _scan_line(command, agreed=bool(commands))
        if is_short
        else ShellScan(segments=tuple(map(_as_scanned, commands)), is_certain=not reasons)
    )
    scan = _with_agreed_commands(scan, commands)
    forms = deny_forms_of(command, scan) if is_short or commands else DenyForms((command,), is_whole=False)
    segments = tuple(" ".join(segment.words) for segment in scan.segments)
    if commands:
        segments = tuple(" ".join(simple.words) for simple in commands)
    return ShellView(
        plain=not reasons,
        reasons=tuple(reasons),
        segments=segments,
        raw=command,
        commands=() if reasons else tuple(commands),
        is_certain=not reasons or (is_short and scan.is_certain),
        deny_texts=forms.texts,
        deny_commands=forms.commands,
        doubtful_commands=forms.doubtful,
        has_all_deny_texts=forms.is_whole and (is_short or not reasons),
        marks=tuple(dict.fromkeys(_command_marks(scan))),
    )


def _scan_line(command: str, *, agreed: bool) -> ShellScan:
    """Skip the text of a here-document, unless a command reads it that would run it."""
    if agreed and "<<" in command:
        outer = scan_commands(without_heredoc_bodies(command))
        if not runs_text(outer):
            return outer
    return scan_commands(command)


def _with_agreed_commands(scan: ShellScan, commands: Sequence[SimpleCommand]) -> ShellScan:
    scanned = {words for segment in scan.segments for words in (segment.words, segment.bare)}
    more = tuple(_as_scanned(simple) for simple in commands if simple.words not in scanned)
    return replace(scan, segments=(*scan.segments, *more)) if more else scan


def _as_scanned(simple: SimpleCommand) -> ScannedCommand:
    return ScannedCommand(words=simple.words, bare=simple.words)


_PATCH_PROGRAM: Final = re.compile(r"(?i)\bapply_?patch\b")
_PATCH_REASON: Final = "apply_patch writes the files that its patch names"


def names_patch_program(command: str) -> bool:
    """Return whether a line names the program that applies the patches of agents, wherever it stands."""
    return _PATCH_PROGRAM.search(command) is not None


# --- plain -------------------------------------------------------------------------------------------


def _analyze(command: str, folder: str | None) -> tuple[dict[str, None], list[SimpleCommand]]:
    """Return why a line is not plain, and its simple commands as far as both readers agree."""
    if len(command) > MAX_COMMAND_LENGTH or "\0" in command:
        return {f"longer than {MAX_COMMAND_LENGTH} characters, or with a NUL": None}, []
    reasons = dict.fromkeys(_reasons_of_text(command))
    if rows := plain_command_rows(command):
        return _judge_plain_rows(rows, folder, reasons)
    try:
        tokens = tokenize(command)
    except UnclearCommand as error:
        reasons[str(error)] = None
        return _add_grammar_reasons(command, reasons), []
    if not any(token.kind == "word" for token in tokens):
        return {"no command": None}, []
    if sum(map(_count_brackets, tokens)) > _MAX_BRACKETS:
        return {"too many brackets and redirects to check": None}, []
    tree = grammar.parse_grammar(_for_grammar(command, tokens))
    reasons.update(tree.reasons)
    if any(token.text in (";;", ";&", ";;&") for token in tokens) and "case" not in command:
        reasons[";; outside of a case"] = None
    if not tree.reasons and not _readers_agree(tokens, tree):
        reasons["it can be read in two ways"] = None
    if tree.reasons or reasons.keys() & {"it can be read in two ways"}:
        return reasons, []
    reasons, commands = _judge_tokens(tokens, tree, reasons)
    _reasons_after_cd(commands, folder, reasons)
    return reasons, [_mark_redundant_cd(simple, folder) for simple in commands]


def _reasons_of_text(command: str) -> Iterator[str]:
    if has_hidden_characters(command) or "\r" in command:
        yield "characters that cannot be seen"
    if names_patch_program(command):
        yield _PATCH_REASON


def _judge_plain_rows(
    rows: Sequence[tuple[str, ...]], folder: str | None, reasons: dict[str, None]
) -> tuple[dict[str, None], list[SimpleCommand]]:
    """Judge the commands of a long line of nothing but plain words, each different one once.

    How they are joined is not looked at; where one changes the folder, all of them are kept in their order.
    """
    simples: dict[tuple[str, ...], SimpleCommand] = {}
    for words in dict.fromkeys(rows):
        verdict = assess_command(words)
        reasons.update(dict.fromkeys(verdict.reasons))
        simples[words] = SimpleCommand(
            words=words,
            written=words,
            spelled=verdict.spelled,
            literal=verdict.literal,
            text=verdict.text,
            behind=";",
        )
    ordered = [simples[words] for words in rows]
    _reasons_after_cd(ordered, folder, reasons)
    judged = ordered if any(simple.moves for simple in simples.values()) else simples.values()
    return reasons, [_mark_redundant_cd(simple, folder) for simple in judged]


def _count_brackets(token: ShellToken) -> int:
    if token.kind != "word":
        return token.text in _OPENING_SIGNS
    if not any(sign in token.raw for sign in "(<>[{`"):
        return 0
    return sum(map(QUOTED_TEXT.sub("", token.raw).count, "(<>[{`"))


_OPENING_SIGNS: Final = frozenset(
    {"(", "<", ">", "<<", ">>", "<<<", "<<-", "<>", ">|", "&>", "&>>", "<&", ">&"}
)


def _add_grammar_reasons(command: str, reasons: dict[str, None]) -> dict[str, None]:
    if len(command) <= 2000 and sum(map(command.count, "(<>[{`")) <= _MAX_BRACKETS:
        reasons.update(grammar.parse_grammar(command).reasons)
    return reasons


def _for_grammar(command: str, tokens: Sequence[ShellToken]) -> str:
    """Put a letter in place of each `-` before a redirect, which the grammar would drop; all offsets stay."""
    lone = [
        token.start
        for index, token in enumerate(tokens[:-1])
        if token.kind == "word" and token.raw == "-" and tokens[index + 1].kind == "redirect"
        and not (index and _closes_descriptor(tokens[index - 1], token))
    ]  # fmt: skip
    if not lone:
        return command
    data = bytearray(command.encode("utf-8", "surrogatepass"))
    for start in lone:
        data[start] = ord("x")
    return data.decode("utf-8", "surrogatepass")


def _readers_agree(tokens: Sequence[ShellToken], tree: grammar.GrammarTree) -> bool:
    """Say whether the grammar has the same words, and begins commands where the tokenizer does."""
    words = {(token.start, token.end): token.text for token in tokens if token.kind == "word"}
    closing = {
        (token.start, token.end) for before, token in pairwise(tokens) if _closes_descriptor(before, token)
    }
    if not words.keys() - closing <= tree.spans:
        return False
    starts: set[int] = set()
    for node in tree.commands:
        starts.add(node.start)
        inner = node.words if not node.is_whole else ()
        if any(place not in words for place in (*inner, *node.assignments)):
            return False
    begins = True
    in_list = False
    for token in tokens:
        if token.kind == "redirect":
            continue
        if token.kind == "op":
            begins, in_list = token.text != ")" or begins, False
            continue
        if begins and not in_list and token.start not in starts and token.text not in _KEYWORDS:
            return False
        in_list = begins and token.raw in ("for", "case")
        begins = begins and token.raw in COMMAND_STARTERS
    return True


def _closes_descriptor(before: ShellToken, token: ShellToken) -> bool:
    """Say whether two tokens are the `>&` and `-` that the grammar takes for one sign."""
    return before.kind == "redirect" and before.text.endswith("&") and token.raw == "-"


def _judge_tokens(
    tokens: Sequence[ShellToken], tree: grammar.GrammarTree, reasons: dict[str, None]
) -> tuple[dict[str, None], list[SimpleCommand]]:
    by_start = {token.start: token for token in tokens if token.kind == "word"}
    assigned = {start for node in tree.commands for start, _ in node.assignments}
    for token in tokens:
        if token.expands and not (token.start in assigned and token.expands in _NOT_EXPANDED_IN_ASSIGNMENTS):
            reasons[token.expands] = None
    for start, end in tree.variables:
        _add_reason(reasons, _loop_variable_risk(_token_text(by_start, start, end)))
    commands: list[tuple[int, int, SimpleCommand]] = []
    owned = _words_by_command(tokens, tree.commands)
    if owned is None or not all(map(_has_all_words, tree.commands, (own.words for own in owned))):
        reasons["it can be read in two ways"] = None
        return reasons, []
    for node, own in zip(tree.commands, owned, strict=True):
        simple = _simple_command(node, own, by_start)
        for assignment in simple.assignments:
            why = variable_risk(assigned_name(assignment)) if simple.words else assignment_risk(assignment)
            _add_reason(reasons, why)
        if simple.words:
            verdict = assess_command(simple.words)
            reasons.update(dict.fromkeys(verdict.reasons))
            if any(map(names_patch_program, simple.words)):
                reasons[_PATCH_REASON] = None
            assessed = replace(simple, spelled=verdict.spelled, literal=verdict.literal, text=verdict.text)
            commands.append((node.start, node.end, assessed))
    _judge_redirects(tokens, commands, reasons)
    simples = [simple for _, _, simple in commands]
    if not simples:
        reasons["no command"] = None
    return reasons, simples


class _OwnedWords(NamedTuple):
    words: list[ShellToken]
    behind: str
    is_repeated: bool


def _words_by_command(
    tokens: Sequence[ShellToken], nodes: Sequence[grammar.GrammarCommand]
) -> list[_OwnedWords] | None:
    """Return the words of each command up to the next operator; None where words and commands do not match.

    The grammar takes a word after a redirect for one more target of it; to a shell it is one of the command.
    """
    owned: list[_OwnedWords] = []
    between: list[str] = []
    is_repeated = is_list = is_inside = False
    assigned = {start for node in nodes for start, _ in node.assignments}
    for index, token in enumerate(tokens):
        is_target = index > 0 and tokens[index - 1].kind == "redirect" and token.kind == "word"
        if token.kind == "redirect" or is_target:
            continue
        if token.kind == "op":
            is_inside = is_list = False
            if token.text != "\n" or between[-1:] not in (["&&"], ["||"], ["|"], ["|&"]):
                between.append(token.text)
            continue
        if len(owned) < len(nodes) and token.start == nodes[len(owned)].start:
            is_inside = True
            owned.append(_OwnedWords([], " ".join(between), is_repeated))
            between = []
        if is_inside and token.start not in assigned:
            owned[-1].words.append(token)
        elif not is_inside and not is_list:
            if token.raw not in _KEYWORDS:
                return None
            is_repeated = is_repeated or token.raw in _LOOPS
            is_list = token.raw in ("for", "case")
            between.append(token.raw)
    return owned if len(owned) == len(nodes) else None


def _has_all_words(node: grammar.GrammarCommand, words: Sequence[ShellToken]) -> bool:
    if node.is_whole:
        return bool(words) and words[-1].end >= node.end
    return {start for start, _ in node.words} <= {token.start for token in words} and (
        bool(node.words) or not words
    )


def _token_text(by_start: dict[int, ShellToken], start: int, end: int) -> str:
    token = by_start.get(start)
    return token.text if token is not None and token.end == end else "?"


def _loop_variable_risk(name: str) -> str | None:
    """Return why a loop may not set a variable: a program that runs in it may obey the variable."""
    if _LOOP_VARIABLE.fullmatch(name):
        return variable_risk(name) or variable_risk(name.upper())
    return assignment_risk(name)


def _add_reason(reasons: dict[str, None], why: str | None) -> None:
    if why is not None:
        reasons[why] = None


def _simple_command(
    node: grammar.GrammarCommand, own: _OwnedWords, by_start: dict[int, ShellToken]
) -> SimpleCommand:
    assigned = [by_start[start] for start, _ in node.assignments]
    return SimpleCommand(
        words=tuple(token.text for token in own.words),
        written=tuple(token.raw for token in own.words),
        assignments=tuple(token.raw for token in assigned),
        values=tuple(token.text.partition("=")[2] for token in assigned),
        behind=own.behind,
        is_repeated=own.is_repeated,
    )


def _judge_redirects(
    tokens: Sequence[ShellToken], commands: list[tuple[int, int, SimpleCommand]], reasons: dict[str, None]
) -> None:
    begin = 0
    for index, token in enumerate(tokens):
        if token.kind == "op":
            begin = token.end
        if token.kind != "redirect":
            continue
        sign = token.text.lstrip("0123456789")
        target = tokens[index + 1] if index + 1 < len(tokens) else None
        if target is None or target.kind != "word":
            reasons["a redirect to nothing"] = None
        elif sign == "<" and target.text not in INPUT_DEVICES:
            _add_input(commands, begin, target, reasons)
        else:
            _add_reason(reasons, _output_reason(sign, target))


def _output_reason(sign: str, target: ShellToken) -> str | None:
    if sign in ("<", "<<", "<<-", "<<<"):
        return None
    if sign in (">&", "<&") and (target.raw == "-" or target.raw.rstrip("-").isdigit()):
        return None
    if sign in (">", ">>", "&>", "&>>", ">|", ">&") and target.text in OUTPUT_SINKS:
        return None
    return "a redirect to a file"


def _add_input(
    commands: list[tuple[int, int, SimpleCommand]], begin: int, target: ShellToken, reasons: dict[str, None]
) -> None:
    if target.text.startswith("/dev/"):
        reasons["a redirect from a device"] = None
        return
    for index, (start, end, simple) in enumerate(commands):
        if (
            start >= begin
            and target.start >= start
            and (index + 1 == len(commands) or commands[index + 1][0] > target.start)
        ):
            inputs, sources = (*simple.inputs, target.raw), (*simple.sources, target.text)
            commands[index] = (start, end, replace(simple, inputs=inputs, sources=sources))
            return
    reasons["a redirect of several commands"] = None


def _mark_redundant_cd(simple: SimpleCommand, folder: str | None) -> SimpleCommand:
    if simple.assignments or simple.inputs or not _stays_in_folder(simple, folder):
        return simple
    return replace(simple, stays=True)


def _stays_in_folder(simple: SimpleCommand, folder: str | None) -> bool:
    if simple.words[0] != "cd" or folder is None or not folder.startswith("/"):
        return False
    target = simple.words[-1]
    return simple.words[1:-1] in ((), ("--",)) and (target.rstrip("/") or "/") == (folder.rstrip("/") or "/")


def _reasons_after_cd(simples: Sequence[SimpleCommand], folder: str | None, reasons: dict[str, None]) -> None:
    moved = False
    for simple in simples:
        head = simple.words[0]
        if moved and ("/" in head and not head.startswith("/")):
            reasons["a program with a relative path after cd"] = None
        is_here = simple.words[1:] in ((".",), ("--", ".")) or _stays_in_folder(simple, folder)
        moved = moved or (simple.moves and not is_here)


# --- marks -------------------------------------------------------------------------------------------


def _command_marks(scan: ShellScan) -> Iterator[str]:
    is_download = False
    for segment in scan.segments:
        words = segment.bare or segment.words
        names = program_and_subcommand(words)
        if is_download and program_name(words[0]) in CODE_TAKERS:
            yield "runs net"
        is_download = bool(names & NETWORK_PROGRAMS)
        if is_download:
            yield "network"
        if names & REMOVING_PROGRAMS:
            yield "removes"


_OPENING_PROGRAMS: Final = OPENERS.keys() - {"bun", "pnpm", "yarn"}
"""A deny looks at the words after these anyway; the others also run any program of a package."""


def inner_command_view(view: ShellView, folder: str | None = None) -> ShellView | None:
    """Return a plain line as a deny would see it if words of unknown programs were commands; None if none."""
    texts: dict[str, None] = {}
    commands: dict[tuple[str, ...], None] = {}
    length = 0
    for simple in view.commands:
        for form in _inner_forms(simple.words, simple.text):
            text = " ".join(form.words)
            length += 0 if text in texts else len(text)
            texts[text] = None
            if form.is_command:
                commands[tuple(form.words)] = None
            if length > MAX_DENY_TEXT:
                return _inner_view(view, texts, commands, is_whole=False)
    if folder is not None:
        texts.update(dict.fromkeys(tuple(texts_by_real_name(texts, folder, None))))
        commands.update(dict.fromkeys(tuple(commands_by_real_name(commands, folder, None))))
    return _inner_view(view, texts, commands, is_whole=True) if texts else None


def _inner_view(
    view: ShellView, texts: Iterable[str], commands: Iterable[tuple[str, ...]], *, is_whole: bool
) -> ShellView:
    return replace(
        view, deny_texts=tuple(texts), deny_commands=tuple(commands), doubtful_commands=(),
        has_all_deny_texts=is_whole,
    )  # fmt: skip


def takes_only_data(head: str) -> bool:
    """Say whether a program is known to run nothing that its words name, or is looked into elsewhere."""
    name = program_name(head)
    return "/" not in head and (name in DATA_TAKERS or name in _OPENING_PROGRAMS)


@lru_cache(maxsize=512)
def _inner_forms(words: tuple[str, ...], text: frozenset[int]) -> tuple[CommandForm, ...]:
    return () if takes_only_data(words[0]) else tuple(_bounded_forms(_inner_commands(words, text)))


def _bounded_forms(forms: Iterable[CommandForm]) -> Iterator[CommandForm]:
    length = 0
    for form in forms:
        yield form
        length += sum(map(len, form.words)) + len(form.words)
        if length > MAX_DENY_TEXT:
            return


def _inner_commands(words: tuple[str, ...], text: frozenset[int]) -> Iterator[CommandForm]:
    for index, word in enumerate(words[1:], 1):
        if index in text:
            continue
        for head in dict.fromkeys((word, word.partition("=")[2])):
            if head and not head.startswith("-"):
                yield from command_forms((head, *words[index + 1 :]))
            if " " in head or "\n" in head:
                for segment in scan_commands(head).segments:
                    yield from command_forms(segment.bare)
