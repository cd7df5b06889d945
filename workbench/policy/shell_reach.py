"""Every text that a deny pattern has to be tried on: the simple commands of a line, however they are dressed.

Owns the spellings of a command: without what stands in front of it, without its folder, without options, and
behind its links. It errs on finding too much; where it stops looking it says so, and never skips in silence.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from workbench.policy.shell_ansi import decode_words
from workbench.policy.shell_judging import judge, only_looks
from workbench.policy.shell_lists import CODE_TAKERS, OPENERS, QUIET, RESERVED, VALUED, WRAPPERS, program
from workbench.policy.shell_scan import Scan, Segment, scan

MOST_TEXT: Final = 120_000
"""Characters of spellings; of a line with more only a loose search can tell what may be in it."""

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=.*", re.DOTALL)
_REDIRECT: Final = re.compile(r"[0-9]*(?:&?>{1,2}|<{1,3})[&|-]?(.*)", re.DOTALL)
_EDGES: Final = re.compile(r"[;&|(){}<>`'\"\n\r\[\]!]+")
_INNER_EDGES: Final = re.compile(r"[;&|(){}<>`\n\r\[\]!]+")
_SED_RUN: Final = re.compile(r"[0-9,$~+]*e[ ]+")
_QUOTES: Final = re.compile(r"\$?[\"']|\\")
_CASE: Final = re.compile(r"\bcase\s")
_CODE_SIGNS: Final = re.compile(r"[\s\"'\\$`]")
_CODE_OPTION: Final = re.compile(r"-[A-Za-z]*[ce]|--(?:command|eval)")
_SAID: Final = re.compile(r"\$\(\s*(?:echo|printf)\s([^()`]*)\)|`\s*(?:echo|printf)\s([^`]*)`")
_DEFAULT: Final = re.compile(r"\$\{[A-Za-z0-9_@*#?!-]+:?[-=+]((?:[^{}]|\{[^{}]{0,80}\}){0,300}+)\}")
_IFS: Final = re.compile(r"\$\{IFS\}|\$IFS(?![A-Za-z0-9_])")
_JOINTS: Final = re.compile(r"[\"',\\\s]+")
_BRACES: Final = re.compile(r"[{},]")
_GRAMMAR: Final = RESERVED - WRAPPERS
_PEELED: Final = WRAPPERS | {"eval", "trap", "source", ".", "alias"}
_EXPANSION: Final = "$()"
"""What a scan has in place of a substitution: as a first word it is a command that something else says."""
_SPEAKERS: Final = frozenset({"echo", "printf"})
_MOST_SPOKEN: Final = 8
_DEEPEST: Final = 3
_LONGEST_CODE: Final = 4096
_MOST_LINKS: Final = 20


def reach(command: str, found: Scan) -> tuple[tuple[str, ...], bool]:
    """Return the texts, the raw one first, and whether they are all there are."""
    texts: dict[str, None] = {}
    length = 0
    for text in _texts(command, found):
        if text not in texts:
            texts[text] = None
            length += len(text) if len(texts) > 2 else 0
            if length > MOST_TEXT:
                return tuple(texts), False
    return tuple(texts), True


def takes_code(found: Scan) -> bool:
    """Say whether one of the commands runs text, or other programs by their names."""
    return any(_takes_code(words) for segment in found.segments for words in _forms(segment))


def _texts(command: str, found: Scan) -> Iterator[str]:
    yield command
    yield command.strip()
    # The bracket behind a pattern of `case` closes no substitution, though the scan takes it for that.
    has_code = not found.is_certain or _CASE.search(command) is not None
    segments = dict.fromkeys(found.segments)
    looked_into: set[tuple[str, ...]] = set()
    for segment in segments:
        for words in _forms(segment):
            has_code = has_code or _takes_code(words)
            looked_into.add(words)
            yield from variants(words, _DEEPEST)
    yield from _code(command, _DEEPEST, is_written=False)
    if has_code:
        yield from _spoken(segments)
        joined = command.replace("\\\n", "")
        for line in dict.fromkeys((command, decode_words(command), joined, _QUOTES.sub("", joined))):
            for words in dict.fromkeys(_crude(line)):
                if words not in looked_into:
                    yield from variants(words)


def _spoken(segments: Iterable[Segment]) -> Iterator[str]:
    """Yield what is said to a shell that listens: `echo git push | sh`."""
    for words in (words for segment in segments for words in _forms(segment)):
        if words[0] in _SPEAKERS:
            said = " ".join(words[1:]).split()
            for start in range(min(len(said), _MOST_SPOKEN)):
                yield from variants(said[start:])


def _code(text: str, deep: int, *, is_written: bool = True) -> Iterator[str]:
    """Yield the commands of a text that a shell runs, as it stands and as it is when it has expanded it."""
    for line in dict.fromkeys((text, _expanded(text))):
        if is_written or line != text:
            for segment in scan(line).segments:
                for words in _forms(segment):
                    yield from variants(words, deep)


def _expanded(text: str) -> str:
    """Return a text with what `echo` says in place of it, and values in place of unset variables."""
    for _ in range(_DEEPEST if "$" in text or "`" in text else 0):
        text = _DEFAULT.sub(r"\1", _SAID.sub(r"\1\2", text))
    return text


def _takes_code(words: Sequence[str]) -> bool:
    words = _command_words(words)
    if not words or not words[0]:
        return False
    if _EXPANSION in words[0] or judge(words).reasons:
        return True
    name = program(words[0])
    return name in CODE_TAKERS and name not in QUIET


def _forms(segment: Segment) -> Iterator[tuple[str, ...]]:
    """Yield the words as they stand, without expansions, without braces, and without redirects."""
    seen: dict[tuple[str, ...], None] = {segment.words: None, segment.bare: None}
    if any("{" in word for word in segment.bare):
        seen.setdefault(tuple(_BRACES.sub(" ", " ".join(segment.bare)).split()))
    seen.setdefault(tuple(_without_redirects(segment.bare)))
    seen.setdefault(tuple(_without_signs(segment.bare)))
    if any("$" in word for word in segment.words):
        seen.setdefault(tuple(_IFS.sub(" ", " ".join(segment.words)).split()))
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


def _without_signs(words: Iterable[str]) -> Iterator[str]:
    """Yield the words with what is read through `<` as if it were an argument."""
    for word in words:
        found = _REDIRECT.fullmatch(word)
        if found is None or found.group(1):
            yield found.group(1) if found else word


def variants(given: Sequence[str], deep: int = 0) -> Iterator[str]:
    """Yield a simple command in every way in which a deny pattern may have been written."""
    words = _command_words(given)
    if len(words) < len(given):
        yield " ".join(given)
    if not words:
        return
    yield from _spellings(words)
    for start in _inner_starts(words):
        yield from _spellings(_command_words(words[start:]))
    codes = [word for before, word in pairwise(words) if _is_code(before, word)] if deep else []
    if codes and words[0] == "eval":
        codes.append(" ".join(words[1:])[:_LONGEST_CODE])
    if codes and _takes_code(words):
        for word in codes:
            yield from _code(word, deep - 1)


def _is_code(before: str, word: str) -> bool:
    """Say whether a word may be a text that is run: by its signs, or by the option in front of it."""
    looks_so = _CODE_SIGNS.search(word) is not None or _CODE_OPTION.fullmatch(before) is not None
    return looks_so and len(word) <= _LONGEST_CODE


def _inner_starts(words: Sequence[str]) -> Iterable[int]:
    """Return where among its words another command may begin."""
    name = program(words[0])
    if name in _PEELED:
        return range(1 if not only_looks(words) else len(words), len(words))
    openers = OPENERS.get(name)
    if openers is None:
        return ()
    first = next((at for at, word in enumerate(words) if word in openers), len(words))
    return range(first + 1 if openers else 1, len(words))


def _command_words(words: Sequence[str]) -> Sequence[str]:
    """Drop what may stand in front of a command: grammar, assignments, the name of a function."""
    start = 0
    while start < len(words) and (words[start] in _GRAMMAR or _ASSIGNMENT.fullmatch(words[start])):
        start += 2 if words[start] == "function" else 1
    return words[start:]


def _spellings(words: Sequence[str]) -> Iterator[str]:
    if not words:
        return
    rest = words[1:]
    base = words[0].rsplit("/", 1)[-1]
    heads = [words[0], base, program(words[0])]
    if sys.platform == "darwin":
        heads += [base.lower(), program(words[0].lower())]  # its file systems do not tell them apart
    for head in dict.fromkeys(heads):
        yield " ".join((head, *rest))
        yield from (" ".join((head, *left)) for left in _without_options(program(head), rest))


def _without_options(head: str, rest: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield what is left without the options in front, with and without their values."""
    valued = VALUED.get(head)
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        has_value = "=" not in rest[at] and (valued is None or rest[at] in valued)
        at += 1
        if valued is None or not has_value:
            yield rest[at:]
        if has_value and at < len(rest) and not rest[at].startswith("-"):
            at += 1
            yield rest[at:]


def _crude(command: str) -> Iterator[tuple[str, ...]]:
    """Cut at everything that can begin a command in any language, quotes or not."""
    for edges in (_EDGES, _INNER_EDGES):
        for piece in dict.fromkeys(edges.split(command)):
            text = _JOINTS.sub(" ", piece).strip()
            for form in dict.fromkeys((text, _SED_RUN.sub("", text, count=1))):
                if words := _command_words(form.split()):
                    yield tuple(words)


# --- behind links ------------------------------------------------------------------------------------


def linked(texts: Iterable[str], folder: str, path: str | None) -> Iterator[str]:
    """Yield the texts again under the names of the programs that their first words lead to.

    Args:
        texts: Simple commands, words joined by a space.
        folder: Where they would run.
        path: The `PATH` by which programs are found; None for this process's.
    """
    known: dict[str, tuple[str, ...]] = {}
    for text in texts:
        head, space, rest = text.partition(" ")
        if head not in known:
            known[head] = tuple(_real_names(head, folder, path or os.environ.get("PATH", "")))
        yield from (f"{name}{space}{rest}" for name in known[head])


def _real_names(head: str, folder: str, path: str) -> Iterator[str]:
    """Yield the names of every link on the way to a program, and of the program."""
    if not head or "\0" in head or len(head) > 4096:
        return
    found = os.path.join(folder, head) if "/" in head else _found(head, path)  # noqa: PTH118 -- text
    for _ in range(_MOST_LINKS):
        if not found:
            return
        yield os.path.basename(os.path.realpath(found))  # noqa: PTH119 -- text
        target = _target(found)
        found = os.path.join(os.path.dirname(found), target) if target else None  # noqa: PTH118, PTH120
        if found:
            yield os.path.basename(found)  # noqa: PTH119


@lru_cache(maxsize=1024)
def _found(head: str, path: str) -> str | None:
    return shutil.which(head, path=path)


def _target(path: str) -> str | None:
    try:
        return os.readlink(path)  # noqa: PTH115
    except OSError:
        return None


# --- too much to look into ---------------------------------------------------------------------------


_IN_WORD: Final = re.compile(r"[\w.-]").match
_LOOSE: Final = re.compile(r"[\"'\\]|\$(?:\{[^}]{0,40}\}|\([^)]{0,40}\)|[A-Za-z_@*#?]\w{0,40})|\{|\}")


def could_hold(pattern: str, command: str) -> bool:
    """Say whether a command that is too long to take apart may hold what a deny pattern names.

    It is enough that the words of the pattern stand in it, in their order, whatever is between them.
    """
    return any(_holds(pattern, text) for text in _loosened(command))


@lru_cache(maxsize=4)
def _loosened(command: str) -> tuple[str, ...]:
    lines = dict.fromkeys((command, decode_words(command)))
    return tuple(
        dict.fromkeys(text for line in lines for text in (line, _LOOSE.sub("", line), _LOOSE.sub(" ", line)))
    )


def _holds(pattern: str, text: str) -> bool:
    at = 0
    for word in pattern.replace(":*", " *").replace("*", " ").split():
        found = text.find(word, at)
        while at == 0 and found > 0 and _IN_WORD(text[found - 1]):
            found = text.find(word, found + 1)
        if found < 0:
            return False
        at = found + len(word)
    return True
