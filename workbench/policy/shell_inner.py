"""Commands that may stand behind a program that nobody listed: each later word, with what follows it.

Owns the list of programs whose words are data. A deny that matches only here asks: the word may be data too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from workbench.policy.shell import ShellView
from workbench.policy.shell_lists import OPENERS, program
from workbench.policy.shell_reach import MOST_TEXT, linked, variants
from workbench.policy.shell_scan import scan

DATA_TAKERS: Final = frozenset({
    ":", "[", "apt-cache", "awk", "base32", "base64", "basename", "break", "bzip2", "cal", "cat", "cd",
    "chgrp", "chmod", "chown", "cksum", "clear", "cmp", "column", "comm", "continue", "cp", "curl", "cut",
    "date", "dd", "df", "diff", "dig", "dirname", "du", "echo", "exit", "expand", "export", "expr", "factor",
    "false", "file", "find", "fmt", "fold", "free", "grep", "groups", "gunzip", "gzip", "head", "hexdump",
    "host", "hostname", "iconv", "id", "jobs", "join", "jq", "kill", "killall", "less", "ln", "locale", "ls",
    "lsof", "make", "md5sum", "mkdir", "mkfifo", "mktemp", "more", "mv", "nl", "nproc", "nslookup", "numfmt",
    "od", "paste", "pgrep", "ping", "pip", "pkill", "printenv", "printf", "ps", "pwd", "readlink", "realpath",
    "return", "rev", "rg", "rm", "rmdir", "sed", "seq", "set", "sha1sum", "sha256sum", "sha512sum", "shift",
    "shuf", "sleep", "sort", "split", "ss", "stat", "strings", "sum", "sync", "tac", "tail", "tar", "tee",
    "test", "touch", "tr", "tree", "true", "truncate", "tsort", "tty", "type", "uname", "unexpand", "uniq",
    "unlink", "unzip", "uptime", "wait", "wc", "wget", "whereis", "which", "who", "whoami", "xxd", "xz",
    "yes", "yq", "zip", "zstd",
})  # fmt: skip
"""Programs that run no program which a plain line of theirs names."""

_LOOKED_INTO: Final = OPENERS.keys() - {"bun", "pnpm", "yarn"}
"""Programs behind whose words a deny looks anyway; the others run any program of a package as well."""


def inner_view(seen: ShellView, folder: str | None = None) -> ShellView | None:
    """Return a plain line as a deny would see it if words of unknown programs were commands; None if none.

    Args:
        seen: The line.
        folder: Where it would run; without one, programs are not followed through links.
    """
    texts: dict[str, None] = {}
    length = 0
    for simple in seen.commands:
        for text in _texts(simple.words, simple.text):
            length += 0 if text in texts else len(text)
            texts[text] = None
            if length > MOST_TEXT:
                return replace(seen, reach=tuple(texts), is_reach_whole=False)
    if folder is not None:
        texts.update(dict.fromkeys(tuple(linked(texts, folder, None))))
    return replace(seen, reach=tuple(texts), is_reach_whole=True) if texts else None


def takes_data(head: str) -> bool:
    """Say whether a program is known to run nothing that its words name, or is looked into otherwise."""
    name = program(head)
    return "/" not in head and (name in DATA_TAKERS or name in _LOOKED_INTO)


@lru_cache(maxsize=512)
def _texts(words: tuple[str, ...], text: frozenset[int]) -> tuple[str, ...]:
    return () if takes_data(words[0]) else tuple(_bounded(_inner(words, text)))


def _bounded(texts: Iterable[str]) -> Iterator[str]:
    length = 0
    for text in texts:
        yield text
        length += len(text)
        if length > MOST_TEXT:
            return


def _inner(words: tuple[str, ...], text: frozenset[int]) -> Iterator[str]:
    """Yield every later word and value as the head of what follows it, and a word of several as a line."""
    for at, word in enumerate(words[1:], 1):
        if at in text:
            continue
        for head in dict.fromkeys((word, word.partition("=")[2])):
            if head and not head.startswith("-"):
                yield from variants((head, *words[at + 1 :]))
            if " " in head or "\n" in head:
                for segment in scan(head).segments:
                    yield from variants(segment.bare)
