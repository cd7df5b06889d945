"""The way out: everything this program prints passes here, and nothing hidden gets through.

Owns both streams, the choice of signs, and the shape of JSON on stdout. Text is made safe at this door,
whoever wrote it; JSON carries hidden characters as escapes only.
"""

import json
import sys
from typing import TextIO

from workbench.cli.signs import Signs, signs_for
from workbench.domain.values import Json
from workbench.text.safe import LINE_END, LINE_END_IN_ASCII, escaped_json, safe


class Console:
    """Print to a person or to a program."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.signs: Signs = signs_for(self.out.encoding)

    @property
    def is_terminal(self) -> bool:
        """Whether what is said is read by a person at a terminal."""
        return self.out.isatty()

    def say(self, text: str = "") -> None:
        """Print lines on stdout."""
        self.write(text + "\n")

    def write(self, text: str) -> None:
        """Print a piece of text on stdout, at once."""
        self.out.write(self._shown(text))
        self.out.flush()

    def note(self, text: str) -> None:
        """Print lines on stderr."""
        self.err.write(self._shown(text) + "\n")
        self.err.flush()

    def _shown(self, text: str) -> str:
        return safe(text) if self.signs.has_unicode else safe(text).replace(LINE_END, LINE_END_IN_ASCII)

    def json(self, value: Json) -> None:
        """Print one JSON document on stdout."""
        self.json_line(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))

    def json_line(self, text: str) -> None:
        """Print JSON text on stdout with hidden characters as escapes."""
        self.out.write(escaped_json(text) + "\n")
        self.out.flush()
