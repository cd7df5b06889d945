"""What a shell command may be taken for: plain enough for a grant, and everything that a deny has to see.

Owns the view of a command that patterns are tried on. Two readers have to agree before a line is plain, the
grammar and a strict one; a grant sees less than there is, a deny more.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from workbench.policy import shell_tree
from workbench.policy.shell_judging import judge
from workbench.policy.shell_lists import CODE_TAKERS, DESTROYERS, NETWORK, SINKS, SOURCES, program
from workbench.policy.shell_reach import linked, reach, takes_code
from workbench.policy.shell_reading import QUOTED, Token, Unclear, plain_rows, read, without_bodies
from workbench.policy.shell_scan import Scan, Segment, scan
from workbench.policy.variables import is_harmless, unspelled_reason, variable_reason
from workbench.text.safe import has_hidden

LONGEST: Final = 131_072
"""Characters of a command that a shell takes as one argument; a longer one is never taken apart."""

_LONGEST_SCAN: Final = 16_384
_MOST_BRACKETS: Final = 300
_KEYWORDS: Final = frozenset({
    "!", "{", "}", "if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "until", "case",
    "esac",
})  # fmt: skip
_FIRST: Final = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{"})
_NOT_ASSIGNED: Final = frozenset({"file name patterns", "braces"})
"""What a shell does not expand in an assignment."""

_MOVERS: Final = frozenset({"cd", "chdir"})
_LOOPS: Final = frozenset({"for", "while", "until", "select"})

GAP: Final = "\x1f"
"""Stands for a blank within a word, so that a blank of a pattern is always one between words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """One simple command of plain words."""

    words: tuple[str, ...]
    """Quotes taken off; assignments and redirects are not among them."""
    written: tuple[str, ...]
    """The words as they are written."""
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
    """What stands between it and the command before, such as `&&`; empty at the beginning of a line."""
    is_repeated: bool = False
    """Whether it may stand in a loop."""
    stays: bool = False
    """It changes to the folder in which the line runs anyway, and does nothing else."""

    def ways(self) -> Iterator[tuple[str, tuple[tuple[int, int], ...]]]:
        """Yield the ways in which a pattern that allows it may be written, each with the parts to spell out.

        Variables that are not known to be harmless have to be spelled out as well.
        """
        places = {*range(self.spelled), *self.literal}
        closed = tuple(map(_closed, self.words))
        is_free = all(map(is_harmless, self.assignments))
        front = range(-len(self.assignments), 0)
        for words in dict.fromkeys((closed, self.written)):
            if is_free:
                yield self._way(words, places)
            if self.assignments:
                spelled = {*places} if is_free else {*places, *front}
                begin = len(front)
                yield self._way((*self.assignments, *words), {begin + place for place in spelled})

    def _way(
        self, words: tuple[str, ...], places: Collection[int]
    ) -> tuple[str, tuple[tuple[int, int], ...]]:
        text = " ".join(words) + "".join(f" < {name}" for name in self.inputs)
        if not places:
            return text, ()
        ends = list(accumulate(len(word) + 1 for word in words))
        return text, tuple((ends[at] - 1 - len(words[at]), ends[at] - 1) for at in sorted(places))

    @property
    def source(self) -> str:
        """Return the command as it is written, without redirects."""
        return " ".join((*self.assignments, *self.written))

    @property
    def moves(self) -> bool:
        """Say whether it changes the folder for the commands behind it."""
        return self.words[0] in _MOVERS


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellView:
    """A command as permission patterns see it."""

    plain: bool
    """Simple commands of plain words, each of which runs what its first word says, and nothing else."""
    reasons: tuple[str, ...]
    """Why it is not plain, in words."""
    segments: tuple[str, ...]
    """Its simple commands, words joined by one space."""
    raw: str
    commands: tuple[Simple, ...] = ()
    """The simple commands that a grant has to cover; none if the line is not plain."""
    is_certain: bool = True
    """Whether `segments` are known to be all of them."""
    reach: tuple[str, ...] = ()
    """Every text that a deny pattern has to be tried on, the raw one first."""
    is_reach_whole: bool = True
    """Whether those are all; if not, a deny has to search loosely."""
    marks: tuple[str, ...] = field(default=())
    """What a human should know at a glance: `network`, `removes`, `runs net` (it runs what it downloads)."""

    @property
    def to_cover(self) -> tuple[Simple, ...]:
        """Return the commands that a grant has to cover: all but a `cd` to where the line runs anyway."""
        return tuple(simple for simple in self.commands if not simple.stays) or self.commands

    @property
    def without_stays(self) -> "ShellView":
        """Return the view without a `cd` to where the line runs anyway."""
        if len(self.to_cover) == len(self.commands):
            return self
        segments = tuple(" ".join(simple.words) for simple in self.to_cover)
        return replace(self, commands=self.to_cover, segments=segments)


def view(command: str, folder: str | None = None, path: str | None = None) -> ShellView:
    """Look at a command.

    Args:
        command: The text that a shell would be given.
        folder: Where it would run; without one, programs are not followed through links.
        path: The `PATH` that it would run with; None for that of this process.
    """
    seen = _view(command, folder)
    if folder is None:
        return seen
    more = dict.fromkeys((*seen.reach, *linked(seen.reach, folder, path)))
    return replace(seen, reach=tuple(more))


@lru_cache(maxsize=256)
def _view(command: str, folder: str | None) -> ShellView:
    reasons, commands = _analysed(command, folder)
    is_short = len(command) <= _LONGEST_SCAN
    found = (
        _scanned(command, agreed=bool(commands))
        if is_short
        else Scan(segments=tuple(map(_segment, commands)), is_certain=not reasons)
    )
    found = _with_agreed(found, commands)
    texts, is_whole = reach(command, found) if is_short or commands else ((command,), False)
    segments = tuple(" ".join(segment.words) for segment in found.segments)
    if commands:
        segments = tuple(" ".join(simple.words) for simple in commands)
    return ShellView(
        plain=not reasons,
        reasons=tuple(reasons),
        segments=segments,
        raw=command,
        commands=() if reasons else tuple(commands),
        is_certain=not reasons or (is_short and found.is_certain),
        reach=texts,
        is_reach_whole=is_whole and (is_short or not reasons),
        marks=tuple(dict.fromkeys(_marks(found))),
    )


def _scanned(command: str, *, agreed: bool) -> Scan:
    """Find its commands; the text of a here-document is none, unless something listens that would run it."""
    if agreed and "<<" in command:
        outer = scan(without_bodies(command))
        if not takes_code(outer):
            return outer
    return scan(command)


def _with_agreed(found: Scan, commands: Sequence[Simple]) -> Scan:
    """Add the commands that the stricter readers agree on, where the scan has other words for them."""
    known = {words for segment in found.segments for words in (segment.words, segment.bare)}
    more = tuple(_segment(simple) for simple in commands if simple.words not in known)
    return replace(found, segments=(*found.segments, *more)) if more else found


def _segment(simple: Simple) -> Segment:
    return Segment(words=simple.words, bare=simple.words)


# --- plain -------------------------------------------------------------------------------------------


def _analysed(command: str, folder: str | None) -> tuple[dict[str, None], list[Simple]]:
    """Return why a line is not plain, and its simple commands as far as both readers agree."""
    reasons: dict[str, None] = {}
    if len(command) > LONGEST or "\0" in command:
        return {f"longer than {LONGEST} characters, or with a NUL": None}, []
    if has_hidden(command) or "\r" in command:
        reasons["characters that cannot be seen"] = None
    if rows := plain_rows(command):
        return _rowed(rows, folder, reasons)
    try:
        tokens = read(command)
    except Unclear as error:
        reasons[str(error)] = None
        return _explained(command, reasons), []
    if not any(token.kind == "word" for token in tokens):
        return {"no command": None}, []
    if sum(map(_brackets, tokens)) > _MOST_BRACKETS:
        return {"more brackets and redirects than are looked into": None}, []
    tree = shell_tree.parse(_for_grammar(command, tokens))
    reasons.update(tree.reasons)
    if any(token.text in (";;", ";&", ";;&") for token in tokens) and "case" not in command:
        reasons["the end of a case without one"] = None
    if not tree.reasons and not _agree(tokens, tree):
        reasons["it can be read in two ways"] = None
    if tree.reasons or reasons.keys() & {"it can be read in two ways"}:
        return reasons, []
    reasons, commands = _judged(tokens, tree, reasons)
    _after_cd(commands, folder, reasons)
    return reasons, [_stayed(simple, folder) for simple in commands]


def _rowed(
    rows: Sequence[tuple[str, ...]], folder: str | None, reasons: dict[str, None]
) -> tuple[dict[str, None], list[Simple]]:
    """Judge the commands of a long line of nothing but plain words, each different one once.

    How they are joined is not looked at; where one changes the folder, all of them are kept in their order.
    """
    simples: dict[tuple[str, ...], Simple] = {}
    for words in dict.fromkeys(rows):
        verdict = judge(words)
        reasons.update(dict.fromkeys(verdict.reasons))
        simples[words] = Simple(
            words=words,
            written=words,
            spelled=verdict.spelled,
            literal=verdict.literal,
            text=verdict.text,
            behind=";",
        )
    ordered = [simples[words] for words in rows]
    _after_cd(ordered, folder, reasons)
    kept = ordered if any(simple.moves for simple in simples.values()) else simples.values()
    return reasons, [_stayed(simple, folder) for simple in kept]


def _brackets(token: Token) -> int:
    """Count what opens something outside of quotes and of the texts of here-documents."""
    if token.kind != "word":
        return token.text in _OPENING
    if not any(sign in token.raw for sign in "(<>[{`"):
        return 0
    return sum(map(QUOTED.sub("", token.raw).count, "(<>[{`"))


_OPENING: Final = frozenset({"(", "<", ">", "<<", ">>", "<<<", "<<-", "<>", ">|", "&>", "&>>", "<&", ">&"})


def _explained(command: str, reasons: dict[str, None]) -> dict[str, None]:
    """Add what the grammar says of a line that the strict reader refuses, where it is short enough."""
    if len(command) <= 2000 and sum(map(command.count, "(<>[{`")) <= _MOST_BRACKETS:
        reasons.update(shell_tree.parse(command).reasons)
    return reasons


def _for_grammar(command: str, tokens: Sequence[Token]) -> str:
    """Return a line with a letter for each `-` before a redirect: the grammar drops that word.

    Every place stays what it is, and the word itself is taken from the other reader.
    """
    lone = [
        token.start
        for at, token in enumerate(tokens[:-1])
        if token.kind == "word" and token.raw == "-" and tokens[at + 1].kind == "redirect"
        and not (at and _closes(tokens[at - 1], token))
    ]  # fmt: skip
    if not lone:
        return command
    data = bytearray(command.encode("utf-8", "surrogatepass"))
    for start in lone:
        data[start] = ord("x")
    return data.decode("utf-8", "surrogatepass")


def _agree(tokens: Sequence[Token], tree: shell_tree.Tree) -> bool:
    """Say whether the grammar has the same words, and lets a command begin where the other reader does."""
    words = {(token.start, token.end): token.text for token in tokens if token.kind == "word"}
    closing = {(token.start, token.end) for before, token in pairwise(tokens) if _closes(before, token)}
    if not words.keys() - closing <= tree.spans:
        return False
    starts: set[int] = set()
    for found in tree.commands:
        starts.add(found.start)
        inner = found.words if not found.is_whole else ()
        if any(place not in words for place in (*inner, *found.assignments)):
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
        begins = begins and token.raw in _FIRST
    return True


def _closes(before: Token, token: Token) -> bool:
    """Say whether two tokens are the `>&` and `-` that close a descriptor, for the grammar one sign."""
    return before.kind == "redirect" and before.text.endswith("&") and token.raw == "-"


def _judged(
    tokens: Sequence[Token], tree: shell_tree.Tree, reasons: dict[str, None]
) -> tuple[dict[str, None], list[Simple]]:
    by_start = {token.start: token for token in tokens if token.kind == "word"}
    assigned = {start for found in tree.commands for start, _ in found.assignments}
    for token in tokens:
        if token.expands and not (token.start in assigned and token.expands in _NOT_ASSIGNED):
            reasons[token.expands] = None
    for start, end in tree.variables:
        _add(reasons, unspelled_reason(_text(by_start, start, end)))
    commands: list[tuple[int, int, Simple]] = []
    owned = _owned(tokens, tree.commands)
    if owned is None or not all(map(_has_all, tree.commands, (own.words for own in owned))):
        reasons["it can be read in two ways"] = None
        return reasons, []
    for found, own in zip(tree.commands, owned, strict=True):
        simple = _simple(found, own, by_start)
        for assignment in simple.assignments:
            name = assignment.partition("=")[0].removesuffix("+")
            _add(reasons, variable_reason(name) if simple.words else unspelled_reason(assignment))
        if simple.words:
            verdict = judge(simple.words)
            reasons.update(dict.fromkeys(verdict.reasons))
            known = replace(simple, spelled=verdict.spelled, literal=verdict.literal, text=verdict.text)
            commands.append((found.start, found.end, known))
    _redirects(tokens, commands, reasons)
    simples = [simple for _, _, simple in commands]
    if not simples:
        reasons["no command"] = None
    return reasons, simples


class _Owned(NamedTuple):
    """What belongs to a command of the grammar, by the other reader."""

    words: list[Token]
    behind: str
    is_repeated: bool


def _owned(tokens: Sequence[Token], nodes: Sequence[shell_tree.Node]) -> list[_Owned] | None:
    """Return the words of each command up to the next operator, those behind a redirect too.

    The grammar takes a word behind a redirect for one more target of it; to a shell it is one of the command.
    None where a word belongs to nothing.
    """
    owned: list[_Owned] = []
    between: list[str] = []
    is_repeated = is_list = is_inside = False
    assigned = {start for node in nodes for start, _ in node.assignments}
    for at, token in enumerate(tokens):
        is_target = at > 0 and tokens[at - 1].kind == "redirect" and token.kind == "word"
        if token.kind == "redirect" or is_target:
            continue
        if token.kind == "op":
            is_inside = is_list = False
            if token.text != "\n" or between[-1:] not in (["&&"], ["||"], ["|"], ["|&"]):
                between.append(token.text)
            continue
        if len(owned) < len(nodes) and token.start == nodes[len(owned)].start:
            is_inside = True
            owned.append(_Owned([], " ".join(between), is_repeated))
            between = []
        if is_inside and token.start not in assigned:
            owned[-1].words.append(token)
        elif not is_inside and not is_list:
            if token.raw not in _KEYWORDS:
                return None
            is_repeated = is_repeated or token.raw in _LOOPS
            is_list = token.raw in ("for", "case")
            between.append(token.raw)
    return owned


def _has_all(node: shell_tree.Node, words: Sequence[Token]) -> bool:
    """Say whether both readers have the words of a command, and no assignment alone has any."""
    if node.is_whole:
        return bool(words) and words[-1].end >= node.end
    return {start for start, _ in node.words} <= {token.start for token in words} and (
        bool(node.words) or not words
    )


def _text(by_start: dict[int, Token], start: int, end: int) -> str:
    found = by_start.get(start)
    return found.text if found is not None and found.end == end else "?"


def _add(reasons: dict[str, None], why: str | None) -> None:
    if why is not None:
        reasons[why] = None


def _simple(found: shell_tree.Node, own: _Owned, by_start: dict[int, Token]) -> Simple:
    assigned = [by_start[start] for start, _ in found.assignments]
    return Simple(
        words=tuple(token.text for token in own.words),
        written=tuple(token.raw for token in own.words),
        assignments=tuple(token.raw for token in assigned),
        values=tuple(token.text.partition("=")[2] for token in assigned),
        behind=own.behind,
        is_repeated=own.is_repeated,
    )


def _redirects(
    tokens: Sequence[Token], commands: list[tuple[int, int, Simple]], reasons: dict[str, None]
) -> None:
    """Judge every redirect; what a command reads through one becomes part of it."""
    begin = 0
    for at, token in enumerate(tokens):
        if token.kind == "op":
            begin = token.end
        if token.kind != "redirect":
            continue
        sign = token.text.lstrip("0123456789")
        target = tokens[at + 1] if at + 1 < len(tokens) else None
        if target is None or target.kind != "word":
            reasons["a redirect to nothing"] = None
        elif sign == "<" and target.text not in SOURCES:
            _input(commands, begin, target, reasons)
        else:
            _add(reasons, _output_reason(sign, target))


def _output_reason(sign: str, target: Token) -> str | None:
    if sign in ("<", "<<", "<<-", "<<<"):
        return None
    if sign in (">&", "<&") and target.raw.rstrip("-").isdigit():
        return None
    if sign in (">&", "<&") and target.raw == "-":
        return None
    if sign in (">", ">>", "&>", "&>>", ">|", ">&") and target.text in SINKS:
        return None
    return "a redirect to a file"


def _input(
    commands: list[tuple[int, int, Simple]], begin: int, target: Token, reasons: dict[str, None]
) -> None:
    if target.text.startswith("/dev/"):
        reasons["a redirect from a device"] = None
        return
    for at, (start, end, simple) in enumerate(commands):
        if (
            start >= begin
            and target.start >= start
            and (at + 1 == len(commands) or commands[at + 1][0] > target.start)
        ):
            inputs, sources = (*simple.inputs, target.raw), (*simple.sources, target.text)
            commands[at] = (start, end, replace(simple, inputs=inputs, sources=sources))
            return
    reasons["a redirect of several commands"] = None


def _stayed(simple: Simple, folder: str | None) -> Simple:
    """Note that a command only changes to the folder in which the line runs anyway."""
    if simple.assignments or simple.inputs or not _is_home(simple, folder):
        return simple
    return replace(simple, stays=True)


def _is_home(simple: Simple, folder: str | None) -> bool:
    """Say whether a `cd` leads to the folder in which the line runs, wherever it stands."""
    if simple.words[0] != "cd" or folder is None or not folder.startswith("/"):
        return False
    target = simple.words[-1]
    return simple.words[1:-1] in ((), ("--",)) and (target.rstrip("/") or "/") == (folder.rstrip("/") or "/")


def _after_cd(simples: Sequence[Simple], folder: str | None, reasons: dict[str, None]) -> None:
    """In another folder a relative program is another one, and git obeys what it finds there."""
    moved = False
    for simple in simples:
        head = simple.words[0]
        if moved and ("/" in head and not head.startswith("/")):
            reasons["a relative program behind cd"] = None
        if moved and program(head) == "git":
            reasons["git behind cd obeys the configuration it finds there"] = None
        is_here = simple.words[1:] in ((".",), ("--", ".")) or _is_home(simple, folder)
        moved = moved or (simple.moves and not is_here)


def _closed(word: str) -> str:
    """Return a word in which a blank cannot be taken for one between words."""
    if not word:
        return "''"
    return (
        "".join(GAP if sign.isspace() else sign for sign in word)
        if " " in word or not word.isprintable()
        else word
    )


def dequoted(pattern: str) -> str | None:
    """Return a pattern with its quotes taken off as in a command; None where that changes nothing."""
    if not any(sign in pattern for sign in "'\"\\"):
        return None
    try:
        tokens = read(pattern)
    except Unclear:
        return None
    if any(token.kind != "word" for token in tokens):
        return None
    return " ".join(_closed(token.text) for token in tokens)


# --- marks -------------------------------------------------------------------------------------------


def _marks(found: Scan) -> Iterator[str]:
    """Yield what a human should know at a glance."""
    is_download = False
    for segment in found.segments:
        words = segment.bare or segment.words
        name = program(words[0])
        names = {name, f"{name} {words[1]}" if len(words) > 1 else name}
        if is_download and name in CODE_TAKERS:
            yield "runs net"
        is_download = bool(names & NETWORK)
        if is_download:
            yield "network"
        if names & DESTROYERS:
            yield "removes"
