r"""A strict second reading of a shell line: words with their quotes taken off, operators and redirects.

Owns a reader that understands only what means the same to every POSIX shell, and refuses the rest. What the
grammar makes of a line counts only where this reading agrees; it must never guess.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from workbench.policy.shell_ansi import decode
from workbench.policy.shell_lists import RESERVED

MOST_TOKENS: Final = 1500
"""More words and operators than any line has that a person wants to pass unseen."""

_MOST_QUOTES: Final = 6000

_DOLLAR: Final = r"\$(?![A-Za-z0-9_({*@\#?!$'\"\[-])"
_DOLLAR_INSIDE: Final = r"\$(?![A-Za-z0-9_({*@\#?!$\[-])"
_SINGLE: Final = r"'[^']*+'"
_ANSI: Final = r"\$'(?>(?:[^'\\]|\\.)*)'"
_DOUBLE: Final = rf'"(?>(?:[^"\\$`]++|\\.|{_DOLLAR_INSIDE})*)"'
_PIECE: Final = rf"[^ \t\n;&|()<>'\"`$\\]++|\\[^\n]|{_SINGLE}|{_ANSI}|{_DOUBLE}|{_DOLLAR}"
_TOKEN: Final = re.compile(
    rf"(?P<space>(?>(?:\\\n)*)[ \t](?>(?:[ \t]|\\\n)*))|(?P<comment>\#[^\n]*+)"
    rf"|(?P<redirect>[0-9]*(?:<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>)(?!\())"
    rf"|(?P<op>\n|;;&|;;|;&|;|&&|&|\|\||\|&|\||\(|\))"
    rf"|(?P<word>(?>(?:{_PIECE})+))",
    re.DOTALL,
)
_JOINED: Final = re.compile(r"\\\n[A-Za-z0-9_./\"' \t-]")
"""The end of a line that goes on, behind an operator; elsewhere it would join the words on both sides."""

_PIECES: Final = re.compile(_PIECE, re.DOTALL)
_QUOTING: Final = frozenset("'\"\\$")
_EXPANDING: Final = frozenset("*?[{~")
_PATTERN_SIGNS: Final = re.compile(r"[*?]|\[[^\]]*\]")
_BRACES: Final = re.compile(r"\{[^{}]*(?:,|\.\.)|\{[^}]*\{")
_TILDE: Final = re.compile(r"(?:\A|\A[A-Za-z_][A-Za-z0-9_]*\+?=(?:.*:)?)~")


QUOTED: Final = re.compile(rf"{_SINGLE}|{_ANSI}|{_DOUBLE}|\\\\.", re.DOTALL)
"""A quoted part of a word."""

_MOST_WORDS: Final = 4000
"""Words of the different commands of such a line."""

_LONG_LINE: Final = 2000
"""Characters from which on a line is first looked at as rows of plain words."""

_PLAIN_LINE: Final = re.compile(r"[A-Za-z0-9_./:,@%+= \t\n;|&-]+")
_JOINTS: Final = re.compile(r"(?:&&|\|\|?|;|\n)[ \t\n]*")


class Unclear(Exception):
    """The text holds something that this reader does not take apart; the message says what."""


class Token(NamedTuple):
    """A piece of a line. Places are bytes of its UTF-8."""

    kind: Literal["word", "op", "redirect"]
    start: int
    end: int
    text: str
    """A word without its quotes, or the operator."""
    expands: str = ""
    """What a shell would make more of the word by, in words; empty if nothing."""
    raw: str = ""
    """As it is written."""


def read(command: str) -> list[Token]:
    """Take a line apart.

    Raises:
        Unclear: Something in it is no plain word, operator or redirect, or there is too much of it.
    """
    if sum(map(command.count, "'\"\\")) > _MOST_QUOTES:
        raise Unclear("more quotes than are looked into")
    return list(_Reader(command.encode("utf-8", "surrogatepass").decode("latin-1")).tokens())


def without_bodies(command: str) -> str:
    """Return a line without the texts of its here-documents.

    Raises:
        Unclear: As `read`.
    """
    data, kept, at = command.encode("utf-8", "surrogatepass"), b"", 0
    expects = False
    tokens = read(command)
    for number, token in enumerate(tokens):
        expects = expects or (token.kind == "redirect" and token.text.lstrip("0123456789") in ("<<", "<<-"))
        if expects and token.kind == "op" and token.text == "\n":
            kept += data[at : token.end]
            at = tokens[number + 1].start if number + 1 < len(tokens) else len(data)
            expects = False
    return (kept + data[at:]).decode("utf-8", "surrogatepass")


def plain_rows(command: str) -> list[tuple[str, ...]]:
    """Return the words of each simple command of a long line in which only words and joints stand.

    Neither quotes nor any other sign of the grammar is in such a line, so it has one reading only. A line
    with a word of the grammar, or with another sign, gives none and is read in the usual way.
    """
    if len(command) < _LONG_LINE or not _PLAIN_LINE.fullmatch(command):
        return []
    pieces = _JOINTS.split(command.strip(" \t\n").removesuffix(";"))
    different = {piece: tuple(piece.split()) for piece in dict.fromkeys(pieces)}
    if sum(map(len, different.values())) > _MOST_WORDS or not all(map(_is_plain_row, different.values())):
        return []
    return [] if any("&" in piece for piece in different) else [different[piece] for piece in pieces]


def _is_plain_row(words: tuple[str, ...]) -> bool:
    return bool(words) and words[0] not in RESERVED and "=" not in words[0]


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._bodies: list[tuple[str, bool, bool]] = []
        self._expects: str | None = None

    def tokens(self) -> Iterator[Token]:
        at = count = 0
        ends_in_op = False
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None and ends_in_op and _JOINED.match(self._text, at):
                at += 2
                continue
            if found is None:
                raise Unclear(_obstacle(self._text[at : at + 2]))
            at = found.end()
            kind = found.lastgroup
            if kind in ("space", "comment"):
                ends_in_op = ends_in_op and kind == "space"
                continue
            ends_in_op = kind == "op"
            count += 1
            if count > MOST_TOKENS:
                raise Unclear("more words than are looked into")
            token = _token(found)
            self._heredoc(token, found.group())
            yield token
            if token.text == "\n" and token.kind == "op":
                at = self._skip_bodies(at)
        if self._bodies or self._expects:
            raise Unclear("a here-document that does not end")

    def _heredoc(self, token: Token, raw: str) -> None:
        """Remember the word behind `<<`: it ends a text that begins in the next line."""
        if self._expects is not None:
            if token.kind != "word":
                raise Unclear("a here-document without a word for its end")
            is_quoted = any(sign in raw for sign in "'\"\\")
            self._bodies.append((token.text, is_quoted, self._expects == "<<-"))
            self._expects = None
        elif token.kind == "redirect" and token.text.lstrip("0123456789") in ("<<", "<<-"):
            self._expects = token.text.lstrip("0123456789")

    def _skip_bodies(self, at: int) -> int:
        for word, is_quoted, strips in self._bodies:
            end_word = word.encode("utf-8", "surrogatepass").decode("latin-1")
            while True:
                if at >= len(self._text):
                    raise Unclear("a here-document that does not end")
                line_end = self._text.find("\n", at)
                line_end = len(self._text) if line_end < 0 else line_end
                line = self._text[at:line_end]
                at = min(line_end + 1, len(self._text))
                if (line.lstrip("\t") if strips else line) == end_word:
                    break
                if not is_quoted and any(sign in line for sign in "$`\\"):
                    raise Unclear("a here-document that expands")
        self._bodies.clear()
        return at


def _token(found: re.Match[str]) -> Token:
    kind, raw = found.lastgroup, found.group()
    if kind == "word":
        text, open_text = _unquoted(raw)
        return Token(
            kind="word", start=found.start(), end=found.end(), text=text, expands=_expansion(open_text),
            raw=_utf8(raw),
        )  # fmt: skip
    return Token(
        kind="op" if kind == "op" else "redirect", start=found.start(), end=found.end(), text=raw, raw=raw
    )


def _utf8(latin: str) -> str:
    return latin if latin.isascii() else latin.encode("latin-1").decode("utf-8", "replace")


def _unquoted(raw: str) -> tuple[str, str]:
    """Return a word without its quotes, and its parts outside of quotes with a sign for each quoted one."""
    if _QUOTING.isdisjoint(raw):
        return _utf8(raw), raw
    text = open_text = ""
    for piece in _PIECES.findall(raw):
        if piece[0] == "'":
            text, open_text = text + piece[1:-1], open_text + "\x00"
        elif piece.startswith("$'"):
            text, open_text = text + _ansi(piece[2:-1]), open_text + "\x00"
        elif piece[0] == '"':
            text, open_text = text + re.sub(r'\\([$`"\\\n])', _kept, piece[1:-1]), open_text + "\x00"
        elif piece[0] == "\\":
            text, open_text = text + piece[1:], open_text + "\x00"
        else:
            text, open_text = text + piece, open_text + piece
    return _utf8(text), open_text


def _kept(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _ansi(inner: str) -> str:
    text, doubt = decode(inner)
    if doubt:
        raise Unclear(doubt)
    return text


def _expansion(open_text: str) -> str:
    if _EXPANDING.isdisjoint(open_text):
        return ""
    if _PATTERN_SIGNS.search(open_text):
        return "file name patterns"
    if "{" in open_text and _BRACES.search(open_text):
        return "braces"
    if _TILDE.search(open_text):
        return "the home folder"
    return ""


def _obstacle(sign: str) -> str:
    if sign[0] in "<>":
        return "process substitution"
    named = {"'": "a quote that does not close", '"': "an expansion, or a quote that does not close"}
    named |= {"$": "an expansion", "`": "a substitution", "\\": "a backslash at the end"}
    return named.get(sign[0], "something that no shell word holds")
