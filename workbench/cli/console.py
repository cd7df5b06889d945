"""The console: both output streams, the status icons they can show, and what the terminal is capable of.

Everything the program prints passes `Console`, which escapes hidden characters and control sequences.
"""

# The locale that its user named decides on characters, not the encoding that Python takes: that is UTF-8
# for `LC_ALL=C` as well. Where no locale is named at all (containers) the terminal is believed to be of
# today.

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

from msgspec import Struct

from workbench.domain.values import Json
from workbench.text.safe import ASCII_LINE_END_SYMBOL, LINE_END_SYMBOL, escape_json, safe_text
from workbench.text.width import cell_width, cut_to_width
from workbench.views.status_icons import ICONS, StatusName

if TYPE_CHECKING:
    from workbench.render.theme import ColorDepth


class Console:
    """Print to a person or to a program."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.signs: StatusIcons = status_icons_for(self.out.encoding)
        self._status_line: str = ""
        self._status_cells = 0
        """Cells of the status that is on the terminal; 0 is none."""
        self._is_in_line = False
        """Whether the last text on stdout has no line end yet."""

    @property
    def is_terminal(self) -> bool:
        """Whether what is said is read by a person at a terminal."""
        return self.out.isatty()

    @property
    def can_ask(self) -> bool:
        """Whether a person at a terminal reads a question and can type an answer."""
        return sys.stdin.isatty() and self.is_terminal

    def say(self, text: str = "") -> None:
        """Print lines on stdout."""
        self.write(text + "\n")

    def say_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.say(line)

    def write(self, text: str) -> None:
        """Print a piece of text on stdout, at once."""
        self._print(self._shown(text))

    def say_colored(self, line: str, color: str) -> None:
        """Print one line on a terminal in a colour, as the digits of its SGR sequence; empty for none."""
        shown = self._shown(line)
        self._print(f"\x1b[{color}m{shown}\x1b[0m\n" if color else f"{shown}\n")

    def exact(self, data: bytes) -> None:
        """Print bytes as they are: for what reads them, and never for a terminal."""
        self.clear_status()
        self.out.flush()
        stream = getattr(self.out, "buffer", None)
        if stream is None:
            self.out.write(data.decode("utf-8", "replace"))
        else:
            stream.write(data)
            stream.flush()

    def note(self, text: str) -> None:
        """Print lines on stderr."""
        self.clear_status()
        self.err.write(self._shown(text) + "\n")
        self.err.flush()

    def note_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.note(line)

    def _print(self, text: str) -> None:
        self.clear_status()
        self.out.write(text)
        self.out.flush()
        self._is_in_line = not text.endswith("\n") if text else self._is_in_line

    @property
    def has_status(self) -> bool:
        """Return whether stderr is a terminal on which a line can be written over."""
        return self.err.isatty() and not _is_dumb_term()

    def status(self, text: str, *, breaks_line: bool = False) -> None:
        """Show one line at the end of the terminal behind stderr, in place of the one before.

        It is erased before anything else is printed. Behind text that is not at its line end it is not shown,
        or below it with `breaks_line`.
        """
        if not self.has_status:
            return
        if self._is_in_line and self.is_terminal:
            if not breaks_line:
                return
            self._print("\n")
        line = cut_to_width(self._shown(safe_text(text, keep_newlines=False)), max(1, _columns(self.err) - 1))
        line = line if self.signs.has_unicode else line.replace("…", "~")
        if self._status_cells and line == self._status_line:
            return
        cells = cell_width(line)
        self.err.write(f"\r{line}{' ' * (self._status_cells - cells)}")
        self.err.flush()
        self._status_line, self._status_cells = line, max(1, cells)

    def clear_status(self) -> None:
        """Erase the status; nothing where none is shown."""
        if self._status_cells:
            cells = min(self._status_cells + _ECHO_CELLS, _columns(self.err) - 1)
            self.err.write(f"\r{' ' * cells}\r")
            self.err.flush()
            self._status_cells = 0

    def _shown(self, text: str) -> str:
        return (
            safe_text(text)
            if self.signs.has_unicode
            else safe_text(text).replace(LINE_END_SYMBOL, ASCII_LINE_END_SYMBOL)
        )

    def json(self, value: Json) -> None:
        """Print one JSON document on stdout."""
        self.json_line(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))

    def result(self, value: Json, lines: Iterable[str], *, is_json: bool) -> int:
        """Print what a command found, as JSON or as lines, and return the exit code of success."""
        if is_json:
            self.json(value)
        else:
            self.say_lines(lines)
        return 0

    def json_line(self, text: str) -> None:
        """Print JSON text on stdout with hidden characters as escapes."""
        self._print(escape_json(text) + "\n")


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS


_ECHO_CELLS: Final = 2
"""Cells of `^C`, which a terminal writes behind the status."""
_USUAL_COLUMNS: Final = 80
"""Of a terminal that does not say its size."""


class StatusIcons(Struct, frozen=True, kw_only=True):
    """The icons that a stream can show."""

    has_unicode: bool = True

    @property
    def minus(self) -> str:
        """The sign before the number of removed lines."""
        return "−" if self.has_unicode else "-"

    def of(self, name: StatusName) -> str:
        """Return an icon, one cell wide."""
        icon = ICONS[name]
        return icon.unicode if self.has_unicode else icon.ascii


def status_icons_for(encoding: str | None) -> StatusIcons:
    """Return the icons for a stream by its encoding: ASCII for all but UTF."""
    return StatusIcons(has_unicode=(encoding or "").lower().replace("-", "").startswith("utf"))


_COLOR_DEPTHS: Final[Mapping[str, "ColorDepth"]] = {
    "standard": "16",
    "windows": "16",
    "256": "256",
    "truecolor": "full",
}
"""What Rich calls them."""
_COERCED_LOCALES: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
"""What Python sets `LC_CTYPE` to where the locale is C (PEP 538)."""


def can_draw_screen() -> bool:
    """Return whether standard input and output are a terminal that takes more than lines."""
    return not why_no_screen()


def why_no_screen() -> str:
    """Return what keeps the screen from being drawn here; empty where nothing does."""
    if not sys.stdin.isatty():
        return "standard input is not a terminal, and keys come from there"
    if not sys.stdout.isatty():
        return "standard output is not a terminal that can be drawn on"
    return "this terminal takes lines only (TERM is dumb)" if _is_dumb_term() else ""


def is_dumb_terminal() -> bool:
    """Return whether somebody sits at a terminal that takes lines and nothing else."""
    return _is_terminal() and _is_dumb_term()


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _is_dumb_term() -> bool:
    return os.environ.get("TERM", "dumb") == "dumb"


def color_depth() -> "ColorDepth":
    """Return how many colours the terminal shows, as what draws on it finds out."""
    from rich.console import Console
    from textual.constants import COLOR_SYSTEM

    system = Console(color_system=cast("Any", COLOR_SYSTEM), force_terminal=True).color_system
    return _COLOR_DEPTHS.get(system or "", "full")


def terminal_encoding(
    env: Mapping[str, str] = os.environ, *, is_utf8_mode: bool = bool(sys.flags.utf8_mode)
) -> str:
    """Return which characters the terminal has, by the locale that its user named (LC_ALL, LC_CTYPE, LANG).

    Python takes UTF-8 where the locale is C, named or not. Where somebody named it, their terminal may not.
    """
    ctype = env.get("LC_CTYPE", "")
    is_coerced = is_utf8_mode and ctype in _COERCED_LOCALES
    name = env.get("LC_ALL") or ("" if is_coerced else ctype) or env.get("LANG") or ""
    if name in ("C", "POSIX"):
        return "ascii"
    named = name.partition(".")[2].partition("@")[0]
    return named or getattr(sys.__stdout__, "encoding", None) or "ascii"
