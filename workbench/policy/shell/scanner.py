"""A tolerant reader of shell text for denials: it finds every simple command, nested ones included."""

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

_ANSI_WORD: Final = re.compile(r"\$'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_ANSI_ESCAPE: Final = re.compile(
    r"\\(?:x\{(?P<braced>[0-9A-Fa-f]*)\}?|x(?P<byte>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8})|(?P<octal>[0-7]{1,3})|c(?P<control>\\\\|.)|(?P<other>.))",
    re.DOTALL,
)
_ANSI_LETTERS: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def decode_ansi_bytes(inner: str) -> tuple[str, str]:
    """Return the inside of `$'…'` as bash reads it, up to a NUL, and why that is uncertain, if it is."""
    doubts: list[str] = []

    def character(match: re.Match[str]) -> str:
        text = _ansi_character(match)
        if not text:
            doubts.append("an escape that is not a character")
        return text

    text, nul, _ = _ANSI_ESCAPE.sub(character, inner).partition("\0")
    return text, "a NUL in a quoted text" if nul else next(iter(doubts), "")


def _ansi_character(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if (digits := groups["braced"]) is not None or (digits := groups["byte"]):
        return chr(int(digits or "0", 16) & 0xFF)
    if digits := groups["short"] or groups["long"]:
        value = int(digits, 16)
        is_character = value < 0x110000 and not 0xD800 <= value < 0xE000
        return chr(value).encode().decode("latin-1") if is_character else ""
    if digits := groups["octal"]:
        return chr(int(digits, 8) & 0xFF)
    if control := groups["control"]:
        return "\x7f" if control == "?" else chr(ord(control[0]) & 0x1F)
    return _ANSI_LETTERS.get(groups["other"], "\\" + groups["other"])


def decode_ansi_text(inner: str) -> str:
    """Return the inside of `$'…'` as bash reads it, for a text of any characters."""
    data = inner.encode("utf-8", "surrogatepass").decode("latin-1")
    return decode_ansi_bytes(data)[0].encode("latin-1").decode("utf-8", "replace")


def decode_ansi_words(command: str) -> str:
    """Return a line in which every `$'…'` is replaced by its text."""
    return (
        _ANSI_WORD.sub(lambda match: decode_ansi_text(match.group(1)), command)
        if "$'" in command
        else command
    )


_MAX_DEPTH: Final = 64
_EXPANSION_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED_EXPANSION: Final = re.compile(r"\{[A-Za-z0-9_@*#?$!-]+\}")
_ORDINARY_TEXT: Final = re.compile(r"[^\s;&|()`\"'\\$<>]+")
_QUOTED_TEXT: Final = re.compile(r'[^"\\$`]+')
_ANSI_C: Final = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)


class ScannedCommand(Struct, frozen=True, kw_only=True):
    """One simple command: its words as they stand, and as they would be if every expansion were empty."""

    words: tuple[str, ...]
    bare: tuple[str, ...]


class ShellScan(Struct, frozen=True, kw_only=True):
    """Every simple command of a text."""

    segments: tuple[ScannedCommand, ...]
    is_certain: bool
    """False where quotes do not close, or a construct is not understood: `segments` may then lack some."""


class _Frame(Struct):
    """A command being read: the whole text, or the inside of a substitution or a subshell."""

    closer: str
    words: list[str] = field(default_factory=list[str])
    bare: list[str] = field(default_factory=list[str])
    text: str = ""
    plain: str = ""
    is_open: bool = False
    is_quoted: bool = False


def scan_commands(command: str) -> ShellScan:
    """Read shell text."""
    return _Scanner(command).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._frames = [_Frame(closer="")]
        self._found: list[ScannedCommand] = []
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

    def run(self) -> ShellScan:
        while self._at < len(self._text):
            self._step()
        if len(self._frames) > 1 or self._frames[0].is_quoted:
            self._is_certain = False
        while self._frames:
            self._end_command()
            self._frames.pop()
        return ShellScan(segments=tuple(self._found), is_certain=self._is_certain)

    def _step(self) -> None:
        frame = self._frames[-1]
        handlers, run = (self._inside, _QUOTED_TEXT) if frame.is_quoted else (self._outside, _ORDINARY_TEXT)
        handle = handlers.get(self._text[self._at])
        if handle is not None:
            handle()
        elif match := run.match(self._text, self._at):
            self._add(match.group(), match.group())
            self._at = match.end()
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
            self._found.append(ScannedCommand(words=tuple(frame.words), bare=tuple(frame.bare)))
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
            prefix = "\\" if self._frames[-1].is_quoted and following not in '$`"\\' else ""
            self._add(prefix + following, prefix + following)
        self._at += 2

    def _dollar(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        is_quoted = self._frames[-1].is_quoted
        if following == "(":
            self._push(")", 2)
        elif match := (
            _BRACED_EXPANSION.match(self._text, self._at + 1)
            or _EXPANSION_NAME.match(self._text, self._at + 1)
        ):
            self._add("$" + match.group(), "")
            self._at = match.end()
        elif following == "'" and not is_quoted:
            self._ansi_c()
        elif following == '"' and not is_quoted:
            self._at += 1
        else:
            self._is_certain = self._is_certain and following != "{"
            self._add("$", "$" if following != "{" else "")
            self._at += 1

    def _ansi_c(self) -> None:
        """Read `$'…'`; who hides text there may have hidden more, so the scan is not certain."""
        self._is_certain = False
        match = _ANSI_C.match(self._text, self._at + 1)
        inner = match.group(1) if match else self._text[self._at + 2 :]
        text = decode_ansi_text(inner)
        self._add(text, text)
        self._at = match.end() if match else len(self._text)

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
        if len(self._frames) >= _MAX_DEPTH:
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
        sign = self._text[self._at]
        self._at += 1
        if self._text[self._at : self._at + 1] == "(":
            self._push(")", 1)
        else:
            self._add(sign, sign)
