"""What a shell command may be taken for: plain enough for a grant, and everything that a deny has to see.

Owns the view of a command that patterns are tried on. It is a seam: a grammar can take the place of the
scan behind it. Until then it errs on one side only: a grant sees less than there is, a deny more.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from workbench.policy.shell_scan import Scan, Segment, scan
from workbench.policy.shell_words import (
    CODE_TAKERS,
    GLOBAL_OPTIONS,
    PLAIN_ANYWAY,
    RESERVED,
    RISKY_OPTIONS,
    SHELL_CHANGERS,
    WRAPPERS,
    program,
)

LONGEST: Final = 16_384
"""Characters of a command that is looked into; a longer one is unplain and only its raw text is tried."""

_MOST_SUFFIXES: Final = 64
_MOST_PIECES: Final = 4000
_MOST_TEXT: Final = 8_000_000
_PLAIN: Final = re.compile(r"[A-Za-z0-9_@%+=:,./^\- ]+")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=.*", re.DOTALL)
_REDIRECT: Final = re.compile(r"[0-9]*(?:&?>{1,2}|<{1,3})[&|-]?(.*)", re.DOTALL)
_EDGES: Final = re.compile(r"[;&|(){}<>`'\"\n\r\[\]]+")
_INNER_EDGES: Final = re.compile(r"[;&|(){}<>`\n\r\[\]]+")
_JOINTS: Final = re.compile(r"[\"',\\\s]+")
_BRACES: Final = re.compile(r"[{},]")
_GRAMMAR: Final = RESERVED - WRAPPERS

_REASONS: Final = (
    ("'\"", "quotes"),
    ("$`", "an expansion or substitution"),
    (";&|\n\r", "more than one command"),
    ("<>", "a redirect"),
    ("*?[]", "file name patterns"),
    ("{}", "braces"),
    ("()", "a subshell"),
    ("~", "the home folder"),
    ("\\", "a backslash"),
    ("!#\t", "characters that a shell may take for more than text"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellView:
    """A command as permission patterns see it."""

    plain: bool
    """One simple command of plain words that runs what its first word says, and nothing else."""
    reasons: tuple[str, ...]
    """Why it is not plain, in words."""
    segments: tuple[str, ...]
    """Its simple commands, words joined by one space."""
    raw: str
    is_certain: bool = True
    """Whether `segments` are known to be all of them."""
    reach: tuple[str, ...] = ()
    """Every text that a deny pattern has to be tried on, the raw one first."""


@lru_cache(maxsize=256)
def view(command: str) -> ShellView:
    """Look at a command."""
    if len(command) > LONGEST:
        return _too_long(command)
    found = scan(command)
    reasons = tuple(_reasons(command, found))
    segments = tuple(" ".join(segment.words) for segment in found.segments)
    return ShellView(
        plain=not reasons,
        reasons=reasons,
        segments=segments,
        raw=command,
        is_certain=found.is_certain,
        reach=tuple(dict.fromkeys(_reach(command, found))),
    )


def _too_long(command: str) -> ShellView:
    reason = f"longer than {LONGEST} characters"
    texts = (command, *_crude(command[:LONGEST]))
    return ShellView(plain=False, reasons=(reason,), segments=(), raw=command, is_certain=False, reach=texts)


# --- plain ---------------------------------------------------------------------------------------


def _reasons(command: str, found: Scan) -> Iterator[str]:
    if not found.segments:
        yield "no command"
        return
    if _PLAIN.fullmatch(command) is None:
        named = [word for signs, word in _REASONS if any(sign in command for sign in signs)]
        yield from named or ["characters that are not plain ASCII"]
        return
    words = found.segments[0].words
    if why := _head_reason(words):
        yield why
    elif option := _risky(words):
        yield f"{words[0]} {option} can run programs or write files"


def _head_reason(words: Sequence[str]) -> str | None:
    head, name = words[0], program(words[0])
    if "=" in head:
        return "an assignment"
    if head.startswith(("-", "%", ".:")) or head in RESERVED:
        return f"{head} is no program"
    if name in PLAIN_ANYWAY:
        return None
    if name in WRAPPERS:
        return f"{name} runs other commands"
    if name in CODE_TAKERS:
        return f"{name} runs code"
    return f"{name} changes the shell" if name in SHELL_CHANGERS else None


def _risky(words: Sequence[str]) -> str | None:
    name = program(words[0])
    options = RISKY_OPTIONS.get("make" if name == "gmake" else name, ())
    for word in words[1:]:
        if name in ("make", "gmake") and "=" in word:
            return word
        if any(_is_option(word, option) for option in options):
            return word.partition("=")[0]
    return None


def _is_option(word: str, option: str) -> bool:
    """Say whether a word may be an option: short ones with a value or others, long ones cut short."""
    if option.startswith("--"):
        name = word.partition("=")[0]
        return len(name) > 2 and option.startswith(name)
    if len(option) == 2:
        return word.startswith("-") and not word.startswith("--") and option[1] in word
    return word.lstrip("-").partition("=")[0] == option.lstrip("-") and word.startswith("-")


# --- reach ---------------------------------------------------------------------------------------


def _reach(command: str, found: Scan) -> Iterator[str]:
    yield command
    yield command.strip()
    length = 0
    takes_code = not found.is_certain
    for segment in found.segments:
        for words in _forms(segment):
            takes_code = takes_code or _takes_code(words)
            for text in _variants(words):
                yield text
                length += len(text)
                if length > _MOST_TEXT:
                    return
    if takes_code:
        yield from _crude(command)


def _takes_code(words: Sequence[str]) -> bool:
    words = _command_words(words)
    heads = set(map(program, words if words and program(words[0]) in WRAPPERS else words[:1]))
    return bool(heads & CODE_TAKERS)


def _forms(segment: Segment) -> Iterator[tuple[str, ...]]:
    """Yield the words as they stand, without expansions, without braces, and without redirects."""
    seen: dict[tuple[str, ...], None] = {segment.words: None, segment.bare: None}
    if any("{" in word for word in segment.bare):
        seen.setdefault(tuple(_BRACES.sub(" ", " ".join(segment.bare)).split()))
    seen.setdefault(tuple(_without_redirects(segment.bare)))
    yield from filter(None, seen)


def _without_redirects(words: Iterable[str]) -> Iterator[str]:
    takes_next = False
    for word in words:
        found = _REDIRECT.fullmatch(word)
        if takes_next:
            takes_next = False
        elif found is not None:
            takes_next = not found.group(1)
        else:
            yield word.split(">", 1)[0].split("<", 1)[0]


def _variants(words: Sequence[str]) -> Iterator[str]:
    """Yield a simple command in every way in which a deny pattern may have been written."""
    yield " ".join(words)
    words = _command_words(words)
    if not words:
        return
    yield from _spellings(words)
    if program(words[0]) in WRAPPERS:
        for start in range(1, min(len(words), _MOST_SUFFIXES)):
            yield from _spellings(_command_words(words[start:]))


def _command_words(words: Sequence[str]) -> Sequence[str]:
    """Drop what may stand in front of a command: grammar and assignments."""
    start = 0
    while start < len(words) and (words[start] in _GRAMMAR or _ASSIGNMENT.fullmatch(words[start])):
        start += 1
    return words[start:]


def _spellings(words: Sequence[str]) -> Iterator[str]:
    if not words:
        return
    yield " ".join(words)
    rest = words[1:]
    for head in dict.fromkeys((words[0].rsplit("/", 1)[-1], program(words[0]))):
        yield " ".join((head, *rest))
        yield from (" ".join((head, *left)) for left in _without_options(program(head), rest))


def _without_options(head: str, rest: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield what is left without the options in front, with and without their values."""
    valued = GLOBAL_OPTIONS.get(head)
    at = 0
    while at < min(len(rest), _MOST_SUFFIXES) and rest[at].startswith("-"):
        has_value = "=" not in rest[at] and (valued is None or rest[at] in valued)
        at += 1
        if valued is None or not has_value:
            yield rest[at:]
        if has_value and at < len(rest) and not rest[at].startswith("-"):
            at += 1
            yield rest[at:]


def _crude(command: str) -> Iterator[str]:
    """Cut at everything that can begin a command in any language, quotes or not."""
    for edges in (_EDGES, _INNER_EDGES):
        for piece in edges.split(command)[:_MOST_PIECES]:
            words = _command_words(_JOINTS.sub(" ", piece).split()[:_MOST_SUFFIXES])
            if words:
                yield from _variants(words)
