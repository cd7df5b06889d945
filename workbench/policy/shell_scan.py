r"""A reading of shell text that finds every simple command in it, nested ones included.

Owns quotes, escapes, substitutions and separators, as far as a reader in one pass can know them. It must
never lose text: where it cannot be certain it says so, and whoever asks has to assume the worst.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from workbench.policy.shell_ansi import decode_text

_DEEPEST: Final = 64
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED: Final = re.compile(r"\{[A-Za-z0-9_@*#?$!-]+\}")
_ORDINARY: Final = re.compile(r"[^\s;&|()`\"'\\$<>]+")
_IN_QUOTES: Final = re.compile(r'[^"\\$`]+')
_ANSI_C: Final = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One simple command: its words as they stand, and as they would be if every expansion were empty."""

    words: tuple[str, ...]
    bare: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Every simple command of a text."""

    segments: tuple[Segment, ...]
    is_certain: bool
    """False where quotes do not close, or a construct is not understood: `segments` may then lack some."""


@dataclass(slots=True)
class _Frame:
    """A command being read: the whole text, or the inside of a substitution or a subshell."""

    closer: str
    words: list[str] = field(default_factory=list[str])
    bare: list[str] = field(default_factory=list[str])
    text: str = ""
    plain: str = ""
    is_open: bool = False
    is_quoted: bool = False


def scan(command: str) -> Scan:
    """Read shell text."""
    return _Scanner(command).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._frames = [_Frame(closer="")]
        self._found: list[Segment] = []
        self._is_certain = True
        self._outside: dict[str, Callable[[], None]] = {
            "'": self._single,
            '"': self._toggle,
            "\\": self._escape,
            "$": self._dollar,
            "`": self._backtick,
            "(": self._open_group,
            ")": self._close_group,
            "&": self._ampersand,
            "<": self._redirect,
            ">": self._redirect,
            ";": self._boundary,
            "|": self._boundary,
            "\n": self._boundary,
        }
        self._inside: dict[str, Callable[[], None]] = {
            '"': self._toggle,
            "\\": self._escape,
            "$": self._dollar,
            "`": self._backtick,
        }

    def run(self) -> Scan:
        while self._at < len(self._text):
            self._step()
        if len(self._frames) > 1 or self._frames[0].is_quoted:
            self._is_certain = False
        while self._frames:
            self._end_command()
            self._frames.pop()
        return Scan(segments=tuple(self._found), is_certain=self._is_certain)

    def _step(self) -> None:
        frame = self._frames[-1]
        handlers, run = (self._inside, _IN_QUOTES) if frame.is_quoted else (self._outside, _ORDINARY)
        handle = handlers.get(self._text[self._at])
        if handle is not None:
            handle()
        elif found := run.match(self._text, self._at):
            self._add(found.group(), found.group())
            self._at = found.end()
        else:
            self._end_word()
            self._at += 1

    def _add(self, text: str, plain: str) -> None:
        frame = self._frames[-1]
        frame.text += text
        frame.plain += plain
        frame.is_open = True

    def _end_word(self) -> None:
        frame = self._frames[-1]
        if frame.is_open:
            frame.words.append(frame.text)
            if frame.plain:
                frame.bare.append(frame.plain)
        frame.text = frame.plain = ""
        frame.is_open = False

    def _end_command(self) -> None:
        self._end_word()
        frame = self._frames[-1]
        if frame.words:
            self._found.append(Segment(words=tuple(frame.words), bare=tuple(frame.bare)))
        frame.words, frame.bare = [], []

    def _boundary(self) -> None:
        self._end_command()
        self._at += 1

    def _single(self) -> None:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            self._is_certain = False
            end = len(self._text)
        inner = self._text[self._at + 1 : end]
        self._add(inner, inner)
        self._at = end + 1

    def _toggle(self) -> None:
        frame = self._frames[-1]
        frame.is_quoted = not frame.is_quoted
        frame.is_open = True
        self._at += 1

    def _escape(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if any(frame.closer == "`" for frame in self._frames):
            self._is_certain = False  # the shell reads backslashes between backticks twice
        if following != "\n":
            kept = "\\" if self._frames[-1].is_quoted and following not in '$`"\\' else ""
            self._add(kept + following, kept + following)
        self._at += 2

    def _dollar(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        is_quoted = self._frames[-1].is_quoted
        if following == "(":
            self._push(")", 2)
        elif found := (_BRACED.match(self._text, self._at + 1) or _NAME.match(self._text, self._at + 1)):
            self._add("$" + found.group(), "")
            self._at = found.end()
        elif following == "'" and not is_quoted:
            self._ansi_c()
        elif following == '"' and not is_quoted:
            self._at += 1
        else:
            self._is_certain = self._is_certain and following != "{"
            self._add("$", "$" if following != "{" else "")
            self._at += 1

    def _ansi_c(self) -> None:
        """Read $'…'; who hides text so may have hidden more, so what it says is not certain."""
        self._is_certain = False
        found = _ANSI_C.match(self._text, self._at + 1)
        inner = found.group(1) if found else self._text[self._at + 2 :]
        text = decode_text(inner)
        self._add(text, text)
        self._at = found.end() if found else len(self._text)

    def _backtick(self) -> None:
        if any(frame.closer == "`" for frame in self._frames):
            while self._frames[-1].closer != "`":
                self._is_certain = False
                self._pop()
            self._is_certain = self._is_certain and not self._frames[-1].is_quoted
            self._pop()
            self._at += 1
        else:
            self._push("`", 1)

    def _open_group(self) -> None:
        self._end_command()
        self._push(")", 1)

    def _close_group(self) -> None:
        if self._frames[-1].closer == ")":
            self._pop()
            self._at += 1
        else:
            self._is_certain = self._is_certain and self._frames[-1].closer == ""
            self._boundary()

    def _push(self, closer: str, length: int) -> None:
        self._at += length
        if len(self._frames) >= _DEEPEST:
            self._is_certain = False
            self._end_command()
            return
        frame = self._frames[-1]
        frame.text += "$()"
        frame.is_open = True
        self._frames.append(_Frame(closer=closer))

    def _pop(self) -> None:
        self._end_command()
        self._frames.pop()

    def _ampersand(self) -> None:
        before, after = self._text[self._at - 1 : self._at], self._text[self._at + 1 : self._at + 2]
        if before in ("<", ">") or after == ">":
            self._add("&", "&")
            self._at += 1
        else:
            self._boundary()

    def _redirect(self) -> None:
        """Read < or >: with ( behind it a command, otherwise a word of its own."""
        sign = self._text[self._at]
        self._at += 1
        if self._text[self._at : self._at + 1] == "(":
            self._push(")", 1)
        else:
            self._add(sign, sign)
