"""A film as one HTML file that plays itself: no network, no other file, nothing but its own script.

Pure. Owns the page and its policy: a content security policy forbids everything but this one script and this
one style sheet, by their digests. Text of a session is data in a block that no browser runs, and reaches the
page as text only. What plays it is `player.js`.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from workbench.domain.values import Json
from workbench.formats.film.model import Film, Frame, Look, Row, pieces
from workbench.text.human import iso
from workbench.text.safe import one_line

_HERE: Final = Path(__file__).resolve().parent
_FLAGS: Final = ("bold", "italic", "underline", "strike")


class Page:
    """A page, made frame by frame: of a row that was seen its encoding and a digest are kept."""

    def __init__(self, film: Film, start: int = 0) -> None:
        """Begin a page.

        Args:
            film: What is said of all of it; its frames are not looked at.
            start: Where the player stands when it is opened, microseconds of the film.
        """
        self._film, self._start = film, start
        self._looks = dict[Look, int]()
        self._rows = dict[bytes, int]()
        self._numbers: list[int] = []
        self._shown: Frame | None = None
        self._frames: list[str] = []
        self._lines: list[str] = []

    def add(self, frame: Frame) -> None:
        """Add a frame: which of its rows are others than before."""
        before, numbers = self._numbers, [self._number(row) for row in frame.rows]
        changed: list[Json] = []
        for at, number in enumerate(numbers):
            if not before or before[at] != number:
                changed += [at, number]
        self._frames.append(_json([frame.at, frame.recorded, changed]))
        self._numbers = numbers
        if self._shown is None or frame.at <= self._start:
            self._shown = frame

    def _number(self, row: Row) -> int:
        line = _json(_line(row, self._looks))
        key = hashlib.blake2b(line.encode(), digest_size=16).digest()
        number = self._rows.setdefault(key, len(self._rows))
        if number == len(self._lines):
            self._lines.append(line)
        return number

    def end(self) -> list[str]:
        """Return the document, in parts.

        Raises:
            ValueError: No frame was added.
        """
        if self._shown is None:
            raise ValueError("a film has at least one frame")
        film, shown, (script, style) = self._film, self._shown, (_asset("player.js"), _asset("player.css"))
        style += f":root{{--ink:{film.ink};--paper:{film.paper}}}\n"
        policy = (
            f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        text = "\n".join("".join(part for part, _ in row).rstrip() for row in shown.rows)
        head, _, rest = _PAGE.partition("{data}")
        title = escape(one_line(film.title, 200))
        return [
            head.format(policy=escape(policy), title=title, style=style, text=escape(text, quote=False),
                        when=iso(shown.recorded)),
            *self._data(),
            rest.format(script=script),
        ]  # fmt: skip

    def _data(self) -> Iterator[str]:
        film = self._film
        rest = _json({
            "width": film.width, "height": film.height, "length": film.length, "start": self._start,
            "looks": [_look(look) for look in self._looks],
            "marks": [[mark.at, mark.kind, mark.sign] for mark in film.marks],
            "gaps": [[gap.at, gap.saved] for gap in film.gaps],
        })  # fmt: skip
        yield '{"frames":['
        yield from _commas(self._frames)
        yield '],"rows":['
        yield from _commas(self._lines)
        yield f"],{rest[1:]}"


def _commas(parts: Sequence[str]) -> Iterator[str]:
    for at, part in enumerate(parts):
        yield f",{part}" if at else part


def write(film: Film, start: int = 0) -> str:
    """Return a film as a complete HTML document; `start` as in `Page`."""
    page = Page(film, start)
    for frame in film.frames:
        page.add(frame)
    return "".join(page.end())


_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1><p id="when">{when}</p></header>
<main><pre id="screen" tabindex="0" aria-label="The recorded screen">{text}</pre></main>
<div id="bar" hidden>
<button id="play" type="button">play</button>
<div id="track"><div id="marks"></div>
<input id="seek" type="range" min="0" max="1000" step="any" value="0" aria-label="Time"></div>
<output id="clock"></output>
<label>speed <select id="speed"></select></label>
<label>mark <select id="kind"></select></label>
<button id="back" type="button" aria-label="Previous mark">[</button>
<button id="forth" type="button" aria-label="Next mark">]</button>
</div>
<p id="note"></p>
<p id="keys">space play, ← → 5 s, , . frame, [ ] mark, - + speed, 0 to 9 tenths, home end</p>
<noscript><p>One moment is shown. Playing needs the script of this file; it loads nothing.</p></noscript>
<script type="application/json" id="film">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    found = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(found).decode('ascii')}"


# --- the film as data -------------------------------------------------------------------------------


def _json(value: Json) -> str:
    return _inert(json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False))


def _inert(text: str) -> str:
    """Return JSON that means the same and can end no element and begin no comment."""
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _line(row: Row, looks: dict[Look, int]) -> Json:
    """Return a row as column, look and text of each piece; plain blanks are left out."""
    found: list[Json] = []
    column = 0
    for text, look in row:
        number = looks.setdefault(look, len(looks))
        for piece, wide in pieces(text):
            found += [column, wide, number, piece]
            column += wide
    return found


def _look(look: Look) -> Json:
    return [look.ink, look.paper, sum(1 << at for at, name in enumerate(_FLAGS) if getattr(look, name))]
