"""What in the words of a command a program may take for a path, and what copying and unpacking write.

Owns the reading of words. It looks at no file, and it errs on finding too much.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from workbench.policy.shell import Simple
from workbench.policy.shell_lists import GROUP_ENDS, WHOLE_OPTIONS, program

LONGEST_PATH: Final = 4096
_MOST_CUTS: Final = 8
_MOST_PARTS: Final = 500
_SHORT: Final = 200
_CUTS: Final = re.compile(r"[=:,;]")
_ADDRESS: Final = re.compile(
    r"(?:https?|ftps?|ssh|git|wss?|git\+ssh|git\+https?|rediss?|postgres(?:ql)?|mysql|mongodb|amqps?|ldaps?|s3|gs)"
    r"://[^/\s,][^\s,]*",
    re.IGNORECASE,
)
_GROUP: Final = re.compile(r"-[A-Za-z0-9]+")
_EVERY: Final = "*"
_PREFIXES: Final = "@<"
_LABELLERS: Final = frozenset({"bazel", "buck", "buck2"})
"""Programs to which `//x` is a target within the workspace."""


def words_of(simple: Simple) -> Iterator[str]:
    """Yield the words of a command that may name a path."""
    yield from simple.values
    has_labels = program(simple.words[0]) in _LABELLERS
    for at, word in enumerate(simple.words[1:], 1):
        if at not in simple.text and not (has_labels and word.startswith("//")):
            yield word


def operands_of(simple: Simple) -> list[str]:
    """Return the words of a command that are no options and may name a path."""
    return [
        word
        for at, word in enumerate(simple.words)
        if at and at not in simple.text and (not word.startswith("-") or "--" in simple.words[:at])
    ]


def pieces(word: str, ends: str = "") -> tuple[str, ...] | None:
    """Return everything in a word that a program may take for a path; None if that is too much to look at.

    These are the word itself, what stands behind `=`, `:`, `,` or `;` as far as the next of them or the end,
    what stands behind the letters of an option or the magic of git's `:(top)`, each also without `@` or `<`.

    Args:
        word: The word.
        ends: Letters of options that are known to take the rest of their word; all where every one does.
    """
    if len(word) <= _SHORT:
        return _pieces_once(word, ends)
    return None if len(_CUTS.findall(word)) > _MOST_PARTS else _pieces(word, ends)


@lru_cache(maxsize=4096)
def _pieces_once(word: str, ends: str) -> tuple[str, ...]:
    return _pieces(word, ends)


def _pieces(word: str, ends: str) -> tuple[str, ...]:
    parts = dict.fromkeys((word, *_cut(word)))
    if "file:" in word.lower() and "%" in word:
        parts.update(dict.fromkeys(map(unquote, tuple(parts))))
    for part in tuple(parts):
        parts.update(dict.fromkeys(_behind_letters(part, ends)))
    if word.startswith(":("):
        parts[word.partition(")")[2]] = None
    parts.update(dict.fromkeys(part.lstrip(_PREFIXES) for part in tuple(parts)))
    return tuple(parts)


def _behind_letters(word: str, ends: str) -> Iterator[str]:
    """Yield what may be the value of a short option, which stands at the end of a group of letters."""
    group = _GROUP.match(word)
    for at in range(2, min(group.end() + 1, len(word)) if group else 0):
        yield word[at:]
        if ends == _EVERY or word[at - 1] in ends:
            return


def value_letters(words: Sequence[str]) -> str:
    """Return the letters of options of a program that are known to take the rest of their word."""
    name = program(words[0])
    listed = GROUP_ENDS.get(name) or GROUP_ENDS.get(" ".join((name, *words[1:2])))
    return listed or (_EVERY if name in WHOLE_OPTIONS else "")


def _cut(word: str) -> Iterator[str]:
    """Yield the parts of a word between signs that may separate paths."""
    cuts = [found.end() for found in _CUTS.finditer(word)]
    if not cuts:
        return
    for address in _ADDRESS.finditer(word) if "://" in word else ():
        first, last = address.span()
        colon = word.index(":", first) + 1
        cuts = [cut for cut in cuts if cut != colon and not (first < cut < last and word[cut - 1] in "=;")]
    starts, ends = [0, *cuts], [*(cut - 1 for cut in cuts), len(word)]
    if len(cuts) > _MOST_CUTS:
        yield from (word[start:end] for start, end in zip(starts, ends, strict=True))
        yield from (word[start : start + LONGEST_PATH + 1] for start in starts)
        yield from (word[:end] for end in ends if end <= LONGEST_PATH)
        return
    yield from (word[start:end] for start in starts for end in ends if end > start)


def copied(words: Sequence[str], operands: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield what a copy writes, moves or copies, and whether that may be a whole folder."""
    folders = list(operands[-1:])
    for at, word in enumerate(words):
        if word.startswith("--target-directory="):
            folders.append(word.partition("=")[2])
        elif re.fullmatch(r"-[A-Za-z]*t", word) or word == "--target-directory":
            folders.extend(words[at + 1 : at + 2])
        elif word.startswith("-t"):
            folders.append(word[2:])
    is_merged = any(re.fullmatch(r"-[A-Za-z]*T[A-Za-z]*|--no-target-directory", word) for word in words)
    for source in operands:
        yield source, source not in folders
        name = source.rstrip("/").rpartition("/")[2]
        for folder in folders:
            if folder == source and len(operands) > 1:
                continue
            yield f"{folder}/{name}", True
            if is_merged or source.endswith("/") or name in ("", ".", ".."):
                yield folder, True


def extracts(name: str, words: Sequence[str]) -> bool:
    """Say whether it writes whatever an archive or a patch names into a folder."""
    match name:
        case "tar" | "bsdtar":
            modes = [word for at, word in enumerate(words[1:]) if not at or re.match(r"-[^-]", word)]
            return any("x" in word for word in modes) or not {"--extract", "--get"}.isdisjoint(words)
        case "unzip":
            return {"-l", "-t", "-p", "-v", "-Z"}.isdisjoint(words)
        case "cpio":
            return any(re.match(r"-[a-z]*[ip]|--extract|--pass", word) for word in words[1:])
        case "7z" | "7za" | "7zz" | "unrar":
            return not {"x", "e"}.isdisjoint(words[1:2])
        case "patch":
            return "--dry-run" not in words
        case _:
            return False
