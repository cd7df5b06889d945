"""The files that a hook's command names: where they lie, whether they are there, which are closed to agents.

A relative program or script belongs to the folder of the file that names the hook, never to the folder that
the hook runs in. What a program takes as plain arguments stays relative to where it runs. It reads commands
and looks at the file system; it never runs anything.
"""

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_DEEPEST: Final = 4
_TOKEN: Final = re.compile(
    r"""(?P<blank>[^\S\n]+)|(?P<operator>[;&|()\n<>`]+)"""
    r"""|(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|()<>`'"\\]|['"\\])+)""",
    re.DOTALL,
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORDS: Final = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time"})
_WRAPPERS: Final = frozenset({
    "env", "exec", "command", "nice", "nohup", "timeout", "setsid", "stdbuf", "ionice", "sudo", "doas",
    "xargs", "builtin", "caffeinate", "chronic",
})  # fmt: skip
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish"})
_INTERPRETER: Final = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|php|deno|bun|lua|tclsh|Rscript|pwsh|osascript|tsx|ts-node|awk|gawk|sed)"
    r"[0-9.]*(?:w|\.exe)?"
)
_FILE_OPTIONS: Final = frozenset({
    "-r", "--require", "--import", "--loader", "-I", "--rcfile", "--init-file", "-f", "--file",
    "--config", "-S",
})  # fmt: skip
_VALUE_OPTIONS: Final = frozenset({"-W", "-X", "-O", "+O", "-o", "+o", "--check-hash-based-pycs"})
_CODE_OPTIONS: Final = frozenset({"-c", "-e", "-E", "-m", "-p", "--eval", "--print", "-pe", "-ne", "-n"})
_SUBCOMMANDS: Final = frozenset({"run", "eval", "task", "exec", "x", "test"})
_EXPANDED: Final = frozenset("$`*?[~")
_NESTED: Final = re.compile(
    r"(?:\$\(|`|[;&|]\s*)\s*(?:\.{0,2}/)?(?![/$])[\w.-]+/[^\s]*|(?:\$\(|`)\s*\.{1,2}/"
)


class Unresolved(Exception):
    """A path of a hook cannot be found out, or names nothing; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    raw: str
    text: str | None
    """Quotes taken off; None where the shell would expand it."""


@dataclass(frozen=True, slots=True)
class _Use:
    """A word that is run: a program, a script of an interpreter, or a whole command for a shell."""

    word: _Word
    is_code: bool = False
    is_program: bool = False


def resolved(command: str, folder: str) -> str:
    """Return a command whose relative programs and scripts are those of a folder.

    Args:
        command: As configured.
        folder: Of the file that names the hook; empty leaves the command as it is.

    Raises:
        Unresolved: A file that it names is not there, or it stands within text that only a shell takes apart.
    """
    return _resolved(command, folder, _DEEPEST) if folder else command


def _resolved(command: str, folder: str, depth: int) -> str:
    pieces, done = list[str](), 0
    for use in _uses(command):
        made = _replaced(use, folder, depth)
        if made is not None:
            pieces += [command[done : use.word.start], made]
            done = use.word.end
    return "".join((*pieces, command[done:]))


def _replaced(use: _Use, folder: str, depth: int) -> str | None:
    """Return what stands for a word, None where it stays."""
    text = use.word.text
    if text is None:
        if _is_relative(use):
            raise Unresolved(f"the hook names a relative path in {use.word.raw}; write it from / on")
        return None
    if use.is_code:
        if depth == 0:
            raise Unresolved("the hook calls shells within shells; write it as a script")
        inner = _resolved(text, folder, depth - 1)
        return None if inner == text else shlex.quote(inner)
    if use.is_program and "/" not in text:
        return None
    path = os.path.normpath(os.path.join(folder, text))  # noqa: PTH118 -- text may be absolute
    if not os.path.exists(path):  # noqa: PTH110 -- text
        raise Unresolved(f"the hook names {path}, which is not there")
    return None if path == text or text.startswith("/") else shlex.quote(path)


def _is_relative(use: _Use) -> bool:
    """Say whether a word that a shell expands could name a file where the hook runs."""
    raw = use.word.raw
    if use.is_code or raw.lstrip('"').startswith(("/", "$", "~")):
        return bool(_NESTED.search(raw))
    return not use.is_program or "/" in raw


def protected(command: str, folder: str, cwd: str, path: str) -> Iterator[str]:
    """Yield the real paths that a hook names with any of its words, to close them to agents.

    Args:
        command: As configured.
        folder: Of the file that names the hook.
        cwd: Where it runs.
        path: The `PATH` that it runs with.
    """
    yield from _protected(command, folder, cwd, path, _DEEPEST)


def _protected(command: str, folder: str, cwd: str, path: str, depth: int) -> Iterator[str]:
    for use in _uses(command):
        text = use.word.text or use.word.raw.strip("\"'")
        if use.is_code and depth:
            yield from _protected(text, folder, cwd, path, depth - 1)
        elif use.is_program and "/" not in text:
            yield from _program(text, path)
        else:
            yield os.path.realpath(os.path.join(folder or cwd, text))  # noqa: PTH118 -- text may be absolute
    for word in _words(command):
        for text in _named(word):
            for base in dict.fromkeys((folder or cwd, cwd)):
                name = os.path.join(base, os.path.expanduser(text))  # noqa: PTH111, PTH118 -- as above
                if os.path.isfile(name):  # noqa: PTH113 -- as above
                    yield os.path.realpath(name)


def _named(word: _Word) -> Iterator[str]:
    text = word.text or word.raw.strip("\"'")
    yield from (part for part in (text, text.partition("=")[2]) if part and "\0" not in part)


def _program(name: str, path: str) -> Iterator[str]:
    found = shutil.which(name, path=path) if path else None
    if found is not None:
        yield os.path.abspath(found)  # noqa: PTH100 -- the link itself counts, and what it leads to
        yield os.path.realpath(found)


def absolute_path(path: str) -> str:
    """Return a `PATH` without its relative entries: those would be looked for where a hook runs."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry.startswith("/"))


# --- reading ---------------------------------------------------------------------------------------


def _tokens(command: str) -> Iterator[_Word | str]:
    for match in _TOKEN.finditer(command):
        if match["operator"]:
            yield match["operator"]
        elif raw := match["word"]:
            yield _Word(match.start(), match.end(), raw, _text(raw))


def _text(raw: str) -> str | None:
    """Return a word without its quotes; None where a shell would put something else there."""
    loose = re.sub(r"'[^']*'", "", raw)
    if _EXPANDED & set(loose) and not re.fullmatch(r'"[^"$`\\]*"', raw):
        return None
    try:
        words = shlex.split(raw)
    except ValueError:  # an open quote
        return None
    return words[0] if len(words) == 1 else None


def _words(command: str) -> Iterator[_Word]:
    return (token for token in _tokens(command) if isinstance(token, _Word))


def _uses(command: str) -> Iterator[_Use]:
    simple, is_target = list[_Word](), False
    for token in (*_tokens(command), ";"):
        if isinstance(token, _Word):
            if not is_target:
                simple.append(token)
            is_target = False
        elif set(token) <= set("<>&") and set(token) & set("<>"):
            is_target = not token.endswith("&")
            if simple and simple[-1].raw.isdigit():
                simple.pop()
        else:
            yield from _of_simple(simple)
            simple = []


def _of_simple(words: list[_Word]) -> Iterator[_Use]:
    """Yield what one simple command runs."""
    rest = iter(words)
    wrapped = False
    for word in rest:
        text = word.text
        if _ASSIGNMENT.match(word.raw) or text in _KEYWORDS:
            continue
        if wrapped and text is not None and (text.startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", text)):
            continue
        yield _Use(word, is_program=True)
        name = os.path.basename(text or "")  # noqa: PTH119 -- text
        if name not in _WRAPPERS:
            yield from _of_program(name, rest)
            return
        wrapped = True


def _of_program(name: str, rest: Iterable[_Word]) -> Iterator[_Use]:
    """Yield the scripts of an interpreter and the code of a shell."""
    is_shell = name in _SHELLS
    if not is_shell and name not in (".", "source", "eval") and not _INTERPRETER.fullmatch(name):
        return
    before = ""
    for word in rest:
        text = word.text or ""
        if before in _VALUE_OPTIONS:
            before = ""
        elif before in _FILE_OPTIONS:
            yield _Use(word, is_program="/" not in text)
            before = ""
        elif (is_shell and before.startswith("-") and "c" in before and not before.startswith("--")) or (
            name == "eval"
        ):
            yield _Use(word, is_code=True)
            return
        elif text.startswith(("-", "+")) and text != "-":
            if not is_shell and text in _CODE_OPTIONS:
                return
            before = text
        elif name in ("deno", "bun") and text in _SUBCOMMANDS:
            continue
        elif name in ("awk", "gawk", "sed") or text == "-" or (is_shell and before == "-s"):
            return
        else:
            yield _Use(word)
            return
