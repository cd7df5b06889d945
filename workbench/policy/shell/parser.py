"""The tokens of a shell line: the strict reader that refuses what it does not know.

It has to agree with the tree of `grammar`, the second reader.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from workbench.policy.shell.risk_lists import RESERVED_WORDS
from workbench.policy.shell.scanner import decode_ansi_bytes

MAX_TOKENS: Final = 1500
"""Words and operators; no line that a person would allow unseen has more."""
_MAX_QUOTES: Final = 6000
_PLAIN_DOLLAR: Final = r"\$(?![A-Za-z0-9_({*@\#?!$'\"\[-])"
_PLAIN_DOLLAR_IN_QUOTES: Final = r"\$(?![A-Za-z0-9_({*@\#?!$\[-])"
_SINGLE_QUOTED: Final = r"'[^']*+'"
_ANSI_QUOTED: Final = r"\$'(?>(?:[^'\\]|\\.)*)'"
_DOUBLE_QUOTED: Final = rf'"(?>(?:[^"\\$`]++|\\.|{_PLAIN_DOLLAR_IN_QUOTES})*)"'
_WORD_PIECE: Final = (
    rf"[^ \t\n;&|()<>'\"`$\\]++|\\[^\n]|{_SINGLE_QUOTED}|{_ANSI_QUOTED}|{_DOUBLE_QUOTED}|{_PLAIN_DOLLAR}"
)
_TOKEN_PATTERN: Final = re.compile(
    rf"(?P<space>(?>(?:\\\n)*)[ \t](?>(?:[ \t]|\\\n)*))|(?P<comment>\#[^\n]*+)"
    rf"|(?P<redirect>[0-9]*(?:<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>)(?!\())"
    rf"|(?P<op>\n|;;&|;;|;&|;|&&|&|\|\||\|&|\||\(|\))"
    rf"|(?P<word>(?>(?:{_WORD_PIECE})+))",
    re.DOTALL,
)
_JOINED_LINE: Final = re.compile(r"\\\n[A-Za-z0-9_./\"' \t-]")
"""A joined line after an operator; elsewhere it would join the words on both sides."""
_WORD_PIECES: Final = re.compile(_WORD_PIECE, re.DOTALL)
_QUOTE_SIGNS: Final = frozenset("'\"\\$")
_EXPANSION_SIGNS: Final = frozenset("*?[{~")
_PATTERN_SIGNS: Final = re.compile(r"[*?]|\[[^\]]*\]")
_BRACE_EXPANSION: Final = re.compile(r"\{[^{}]*(?:,|\.\.)|\{[^}]*\{")
_TILDE_EXPANSION: Final = re.compile(r"(?:\A|\A[A-Za-z_][A-Za-z0-9_]*\+?=(?:.*:)?)~")
QUOTED_TEXT: Final = re.compile(rf"{_SINGLE_QUOTED}|{_ANSI_QUOTED}|{_DOUBLE_QUOTED}|\\\\.", re.DOTALL)
_MAX_WORDS: Final = 4000
"""Words of the different commands of such a line."""
_LONG_LINE: Final = 2000
"""Characters from which a line is first read as rows of plain words."""
_PLAIN_LINE: Final = re.compile(r"[A-Za-z0-9_./:,@%+= \t\n;|&-]+")
_COMMAND_JOINTS: Final = re.compile(r"(?:&&|\|\|?|;|\n)[ \t\n]*")


class UnclearCommand(Exception):
    """The text holds something that this reader does not take apart; the message says what."""


class ShellToken(NamedTuple):
    """A piece of a line. Places are bytes of its UTF-8."""

    kind: Literal["word", "op", "redirect"]
    start: int
    end: int
    text: str
    """A word without its quotes, or the operator."""
    expands: str = ""
    """What the shell would expand in the word, if anything: `braces`."""
    raw: str = ""


def tokenize(command: str) -> list[ShellToken]:
    """Take a line apart, or raise `UnclearCommand`."""
    if sum(map(command.count, "'\"\\")) > _MAX_QUOTES:
        raise UnclearCommand("too many quotes to check")
    return list(_Tokenizer(command.encode("utf-8", "surrogatepass").decode("latin-1")).tokens())


def without_heredoc_bodies(command: str) -> str:
    """Return a line without the texts of its here-documents; raises `UnclearCommand` as `tokenize` does."""
    data, result, position = command.encode("utf-8", "surrogatepass"), b"", 0
    expects = False
    tokens = tokenize(command)
    for number, token in enumerate(tokens):
        expects = expects or (token.kind == "redirect" and token.text.lstrip("0123456789") in ("<<", "<<-"))
        if expects and token.kind == "op" and token.text == "\n":
            result += data[position : token.end]
            position = tokens[number + 1].start if number + 1 < len(tokens) else len(data)
            expects = False
    return (result + data[position:]).decode("utf-8", "surrogatepass")


def plain_command_rows(command: str) -> list[tuple[str, ...]]:
    """Return the words of each command of a long line of plain words, which has one reading; else nothing."""
    if len(command) < _LONG_LINE or not _PLAIN_LINE.fullmatch(command):
        return []
    pieces = _COMMAND_JOINTS.split(command.strip(" \t\n").removesuffix(";"))
    different = {piece: tuple(piece.split()) for piece in dict.fromkeys(pieces)}
    if sum(map(len, different.values())) > _MAX_WORDS or not all(map(_is_plain_command, different.values())):
        return []
    return [] if any("&" in piece for piece in different) else [different[piece] for piece in pieces]


def _is_plain_command(words: tuple[str, ...]) -> bool:
    return bool(words) and words[0] not in RESERVED_WORDS and "=" not in words[0]


class _Tokenizer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._bodies: list[tuple[str, bool, bool]] = []
        self._expects: str | None = None

    def tokens(self) -> Iterator[ShellToken]:
        position = count = 0
        ends_in_op = False
        while position < len(self._text):
            match = _TOKEN_PATTERN.match(self._text, position)
            if match is None and ends_in_op and _JOINED_LINE.match(self._text, position):
                position += 2
                continue
            if match is None:
                raise UnclearCommand(_obstacle_reason(self._text[position : position + 2]))
            position = match.end()
            kind = match.lastgroup
            if kind in ("space", "comment"):
                ends_in_op = ends_in_op and kind == "space"
                continue
            ends_in_op = kind == "op"
            count += 1
            if count > MAX_TOKENS:
                raise UnclearCommand("too many words to check")
            token = _token(match)
            self._heredoc(token, match.group())
            yield token
            if token.text == "\n" and token.kind == "op":
                position = self._skip_bodies(position)
        if self._bodies or self._expects:
            raise UnclearCommand("a here-document that does not end")

    def _heredoc(self, token: ShellToken, raw: str) -> None:
        """Remember the word after `<<`: it ends a text that begins in the next line."""
        if self._expects is not None:
            if token.kind != "word":
                raise UnclearCommand("a here-document without a word for its end")
            is_quoted = any(sign in raw for sign in "'\"\\")
            self._bodies.append((token.text, is_quoted, self._expects == "<<-"))
            self._expects = None
        elif token.kind == "redirect" and token.text.lstrip("0123456789") in ("<<", "<<-"):
            self._expects = token.text.lstrip("0123456789")

    def _skip_bodies(self, position: int) -> int:
        for word, is_quoted, strips in self._bodies:
            end_word = word.encode("utf-8", "surrogatepass").decode("latin-1")
            while True:
                if position >= len(self._text):
                    raise UnclearCommand("a here-document that does not end")
                line_end = self._text.find("\n", position)
                line_end = len(self._text) if line_end < 0 else line_end
                line = self._text[position:line_end]
                position = min(line_end + 1, len(self._text))
                if (line.lstrip("\t") if strips else line) == end_word:
                    break
                if not is_quoted and any(sign in line for sign in "$`\\"):
                    raise UnclearCommand("a here-document that expands")
        self._bodies.clear()
        return position


def _token(match: re.Match[str]) -> ShellToken:
    kind, raw = match.lastgroup, match.group()
    if kind == "word":
        text, open_text = _unquoted(raw)
        return ShellToken(
            kind="word", start=match.start(), end=match.end(), text=text,
            expands=_expansion_reason(open_text),
            raw=_latin_as_utf8(raw),
        )  # fmt: skip
    return ShellToken(
        kind="op" if kind == "op" else "redirect", start=match.start(), end=match.end(), text=raw, raw=raw
    )


def _latin_as_utf8(latin: str) -> str:
    return latin if latin.isascii() else latin.encode("latin-1").decode("utf-8", "replace")


def _unquoted(raw: str) -> tuple[str, str]:
    """Return a word without its quotes, and its unquoted parts with NUL for each quoted one."""
    if _QUOTE_SIGNS.isdisjoint(raw):
        return _latin_as_utf8(raw), raw
    text = open_text = ""
    for piece in _WORD_PIECES.findall(raw):
        if piece[0] == "'":
            text, open_text = text + piece[1:-1], open_text + "\x00"
        elif piece.startswith("$'"):
            text, open_text = text + _ansi_piece(piece[2:-1]), open_text + "\x00"
        elif piece[0] == '"':
            text, open_text = text + re.sub(r'\\([$`"\\\n])', _keep_piece, piece[1:-1]), open_text + "\x00"
        elif piece[0] == "\\":
            text, open_text = text + piece[1:], open_text + "\x00"
        else:
            text, open_text = text + piece, open_text + piece
    return _latin_as_utf8(text), open_text


def _keep_piece(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _ansi_piece(inner: str) -> str:
    if "'" in inner or "\\c/" in inner:
        # To a shell without `$'…'`, such as dash, the word ends at the first quote and the slash stays one.
        raise UnclearCommand("an escape in $'…' that shells read in different ways")
    text, doubt = decode_ansi_bytes(inner)
    if doubt:
        raise UnclearCommand(doubt)
    return text


def _expansion_reason(open_text: str) -> str:
    if _EXPANSION_SIGNS.isdisjoint(open_text):
        return ""
    if _PATTERN_SIGNS.search(open_text):
        return "file name patterns"
    if "{" in open_text and _BRACE_EXPANSION.search(open_text):
        return "braces"
    if _TILDE_EXPANSION.search(open_text):
        return "the home folder"
    return ""


def _obstacle_reason(sign: str) -> str:
    if sign[0] in "<>":
        return "process substitution"
    reasons = {"'": "a quote that does not close", '"': "an expansion, or a quote that does not close"}
    reasons |= {"$": "an expansion", "`": "a substitution", "\\": "a backslash at the end"}
    return reasons.get(sign[0], "a character that is not expected there")


WORD_GAP: Final = "\x1f"
"""Stands for a blank within a word, so that a blank of a pattern is always one between words."""


def with_closed_blanks(word: str) -> str:
    """Return a word in which a blank cannot be taken for one between words."""
    if not word:
        return "''"
    return (
        "".join(WORD_GAP if sign.isspace() else sign for sign in word)
        if " " in word or not word.isprintable()
        else word
    )


def dequoted_pattern(pattern: str) -> str | None:
    """Return a pattern without its quotes, read as in a command; None where that changes nothing."""
    if not any(sign in pattern for sign in "'\"\\"):
        return None
    try:
        tokens = tokenize(pattern)
    except UnclearCommand:
        return None
    if any(token.kind != "word" for token in tokens):
        return None
    return " ".join(with_closed_blanks(token.text) for token in tokens)
