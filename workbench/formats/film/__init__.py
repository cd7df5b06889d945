"""Recordings of the screen: frames of styled text, written as asciicast or a self-playing HTML page.

Pure. A frame is scrubbed before it leaves. The page allows only its own script and style sheet (`player.js`,
`player.css` beside this file), by their digests.
"""

# A film is written as it is made. Writers take one frame after the other and keep what they have written, a
# digest of each row they have seen, and the last frame; a film of 2,000 frames took 170 MB for them before.

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import takewhile
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.domain.values import Json
from workbench.formats.film.cell_shapes import ARMS, BLOCKS, ROUND_CORNERS
from workbench.secrets.scrubber import scrub
from workbench.text.human import SECOND_MICROS, iso_time
from workbench.text.safe import one_line, safe_text
from workbench.text.width import cell_width, cut_to_width


class TextStyle(Struct, frozen=True, kw_only=True):
    """How text is drawn. Colours are `#rrggbb`; both are always there."""

    ink: str
    paper: str
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False


StyledText = tuple[str, TextStyle]
ScreenRow = tuple[StyledText, ...]


class FramePart(Struct, frozen=True, kw_only=True):
    """A rectangle of cells."""

    left: int
    top: int
    width: int
    height: int


class FilmFrame(Struct, frozen=True, kw_only=True):
    """The screen at a moment."""

    at: int
    """When it is shown: microseconds from the beginning of the film."""
    recorded: int
    """When it was: microseconds since the epoch."""
    rows: tuple[ScreenRow, ...]
    part: FramePart | None = None
    """What a page shows that is too narrow for all columns; None for all."""


class FilmMark(Struct, frozen=True, kw_only=True):
    """An event worth going to."""

    at: int
    """Microseconds from the beginning of the film."""
    kind: str
    sign: str
    glyph: str = "•"
    """What stands for it: one cell."""


class FilmGap(Struct, frozen=True, kw_only=True):
    """A time without events that the film makes short."""

    at: int
    """Where it begins: microseconds from the beginning of the film."""
    saved: int
    """Microseconds that are left out."""


class Film(Struct, frozen=True, kw_only=True):
    """Frames in the order of their times, and what is said of them."""

    title: str
    width: int
    height: int
    """Cells."""
    ink: str
    paper: str
    colors: Mapping[str, str] = {}
    """What the page around it is drawn in, each `#rrggbb`: `info`, `waiting`, `ok`, `failed`, `rule`."""
    length: int
    """Microseconds; the last frame stands until then."""
    frames: tuple[FilmFrame, ...] = ()
    """Those of a short film; a long one is written as it is made."""
    marks: tuple[FilmMark, ...] = ()
    gaps: tuple[FilmGap, ...] = ()


def screen_row(runs: Sequence[StyledText], width: int) -> ScreenRow:
    """Return runs as a row of exactly `width` cells that is fit to leave: safe, scrubbed, joined."""
    joined = _join_runs(runs)
    text = "".join(part for part, _ in joined)
    clean = _clean_text(text)
    if clean != text:
        joined = _restyled(joined, text, clean)
    if sum(cell_width(part) for part, _ in joined) > width:
        joined = _cut_runs(joined, width)
    left = width - sum(cell_width(part) for part, _ in joined)
    blank = joined[-1][1] if joined else TextStyle(ink="#808080", paper="#000000")
    return _join_runs([*joined, (" " * left, blank)])


def _join_runs(runs: Sequence[StyledText]) -> ScreenRow:
    joined: list[StyledText] = []
    for text, look in runs:
        if not text:
            continue
        if joined and joined[-1][1] == look:
            joined[-1] = (joined[-1][0] + text, look)
        else:
            joined.append((text, look))
    return tuple(joined)


@lru_cache(maxsize=8192)
def _clean_text(text: str) -> str:
    # Panes stand side by side: what is left of a rule has nothing to do with what is right of it.
    return "".join(
        part if index % 2 else scrub(safe_text(part, keep_newlines=False)).text
        for index, part in enumerate(_BETWEEN_PANES.split(text))
    )


_BETWEEN_PANES: Final = re.compile("([│┃|]+)")


def _restyled(runs: ScreenRow, text: str, clean: str) -> ScreenRow:
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, clean, strict=False)))
    kept: list[StyledText] = []
    begins = 0
    for part, look in runs:
        if begins + len(part) > same:
            kept.append((part[: same - begins], look))
            return _join_runs([*kept, (clean[same:], look)])
        kept.append((part, look))
        begins += len(part)
    return _join_runs([*kept, (clean[same:], runs[-1][1])])


def _cut_runs(runs: ScreenRow, width: int) -> ScreenRow:
    kept: list[StyledText] = []
    left = width
    for text, look in runs:
        if left <= 0:
            break
        shown = cut_to_width(text, left)
        kept.append((shown, look))
        left -= cell_width(shown)
    return _join_runs(kept)


_PLAIN_CHARACTERS: Final = re.compile("[\u0020-\u007e\u00a1-\u024f\u2500\u2501\u2504-\u257f]+")
"""Characters that every fixed-width font has, one cell wide; `│` and `┃` a picture draws as lines."""


def text_pieces(text: str) -> Iterator[tuple[str, int]]:
    """Yield text in pieces with their cells: plain ones long, every other character (with marks) alone.

    What a font lacks is drawn in another one, of another width: placed alone it moves nothing behind it.
    """
    start = 0
    while start < len(text):
        match = _PLAIN_CHARACTERS.match(text, start)
        end = match.end() if match else start + 1
        while end < len(text) and not _PLAIN_CHARACTERS.match(text, end) and _adds_nothing(text, start, end):
            end += 1
        yield text[start:end], cell_width(text[start:end])
        start = end


def _adds_nothing(text: str, begins: int, end: int) -> bool:
    return cell_width(text[begins : end + 1]) == cell_width(text[begins:end])


_CAST_BEGIN: Final = "\x1b[?25l\x1b[?7l\x1b[2J"
_CAST_END: Final = "\x1b[0m\x1b[?7h\x1b[?25h"
"""Cursor and wrapping off, all cleared; and back."""


class CastWriter:
    """The lines of a cast, made frame by frame: of the frames themselves only the last is kept."""

    def __init__(self, film: Film) -> None:
        self._film = film
        self._marks = sorted(film.marks, key=lambda mark: mark.at)
        self._told = 0
        self._last: FilmFrame | None = None
        self.lines: list[str] = []

    def add(self, frame: FilmFrame) -> None:
        """Paint what a frame shows that the one before did not; the first clears the terminal."""
        before, self._last = self._last, frame
        if before is None:
            self.lines.append(json.dumps(self._head(frame)))
            text = _CAST_BEGIN + "".join(_cast_row(row, number) for number, row in enumerate(frame.rows))
        else:
            pairs = enumerate(zip(before.rows, frame.rows, strict=True))
            text = "".join(_cast_row(row, number) for number, (old, row) in pairs if old != row)
        self._mark(frame.at - 1)
        self._put(frame.at, "o", text)

    def end(self) -> list[str]:
        """Return all lines, the last of which gives the terminal back."""
        self._mark(self._film.length)
        self._put(max(self._film.length, self._last.at if self._last else 0), "o", _CAST_END)
        return self.lines

    def _head(self, first: FilmFrame) -> dict[str, Json]:
        film = self._film
        return {
            "version": 2, "width": film.width, "height": film.height,
            "timestamp": first.recorded // SECOND_MICROS, "duration": film.length / SECOND_MICROS,
            "title": one_line(film.title, 200), "env": {"TERM": "xterm-256color"},
        }  # fmt: skip

    def _mark(self, until: int) -> None:
        while self._told < len(self._marks) and self._marks[self._told].at <= until:
            mark = self._marks[self._told]
            self._told += 1
            self._put(mark.at, "m", f"{mark.kind}: {mark.sign}")

    def _put(self, time_us: int, code: str, text: str) -> None:
        self.lines.append(json.dumps([time_us / SECOND_MICROS, code, text]))


def _cast_row(row: ScreenRow, number: int) -> str:
    parts = [f"\x1b[{number + 1};1H"]
    column = 1
    for text, look in row:
        parts.append(_sgr_style(look))
        for piece, wide in text_pieces(text):
            parts.append(piece)
            column += wide
            # Terminals differ on the width of such a character: what follows is placed.
            parts.append("" if len(piece) > 1 and wide == len(piece) else f"\x1b[{column}G")
    return "".join([*parts, "\x1b[0m"])


def _sgr_style(look: TextStyle) -> str:
    flags = (look.bold, "1"), (look.italic, "3"), (look.underline, "4"), (look.strike, "9")
    codes = ["0", *(code for is_on, code in flags if is_on)]
    return f"\x1b[{';'.join(codes)};38;2;{_color_channels(look.ink)};48;2;{_color_channels(look.paper)}m"


def _color_channels(colour: str) -> str:
    return ";".join(str(int(colour[offset : offset + 2], 16)) for offset in (1, 3, 5))


_ASSET_FOLDER: Final = Path(__file__).resolve().parent
_PAGE_COLORS: Final = {
    "info": "#3e8ede", "waiting": "#d99a1c", "ok": "#46a758", "failed": "#e5484d", "rule": "#808080",
}  # fmt: skip
_DRAWN_ARMS: Final = {sign: arms for sign, arms in ARMS.items() if "3" not in arms}
"""Lines that a page draws; double ones stay letters."""
_STYLE_FLAGS: Final = ("bold", "italic", "underline", "strike")


class HtmlWriter:
    """A page, made frame by frame: of a row that was seen its encoding and a digest are kept."""

    def __init__(self, film: Film, start: int = 0) -> None:
        self._film, self._start = film, start
        self._looks = dict[TextStyle, int]()
        self._rows = dict[bytes, int]()
        self._parts = dict[FramePart, int]()
        self._numbers: list[int] = []
        self._shown: FilmFrame | None = None
        self._frames: list[str] = []
        self._lines: list[str] = []

    def add(self, frame: FilmFrame) -> None:
        """Add a frame: which of its rows are others than before."""
        before, numbers = self._numbers, [self._number(row) for row in frame.rows]
        changed: list[Json] = []
        for index, number in enumerate(numbers):
            if not before or before[index] != number:
                changed += [index, number]
        part = -1 if frame.part is None else self._parts.setdefault(frame.part, len(self._parts))
        self._frames.append(_compact_json([frame.at, frame.recorded, changed, part]))
        self._numbers = numbers
        if self._shown is None or frame.at <= self._start:
            self._shown = frame

    def _number(self, row: ScreenRow) -> int:
        line = _compact_json(_row_pieces(row, self._looks))
        key = hashlib.blake2b(line.encode(), digest_size=16).digest()
        number = self._rows.setdefault(key, len(self._rows))
        if number == len(self._lines):
            self._lines.append(line)
        return number

    def end(self) -> list[str]:
        """Return the document, in parts. Raises ValueError if no frame was added."""
        if self._shown is None:
            raise ValueError("a film has at least one frame")
        film, shown, (script, style) = (
            self._film,
            self._shown,
            (_read_asset("player.js"), _read_asset("player.css")),
        )
        colors = {"ink": film.ink, "paper": film.paper, **_PAGE_COLORS, **film.colors}
        style += f":root{{{';'.join(f'--{name}:{color}' for name, color in colors.items())}}}\n"
        policy = (
            f"default-src 'none'; script-src '{_script_digest(script)}'; "
            f"style-src '{_script_digest(style)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        text = "\n".join("".join(part for part, _ in row).rstrip() for row in shown.rows)
        head, _, rest = _PAGE_TEMPLATE.partition("{data}")
        title = escape(one_line(film.title, 200))
        return [
            head.format(policy=escape(policy), title=title, style=style, text=escape(text, quote=False),
                        when=iso_time(shown.recorded)),
            *self._data(),
            rest.format(script=script),
        ]  # fmt: skip

    def _data(self) -> Iterator[str]:
        film = self._film
        rest = _compact_json({
            "width": film.width, "height": film.height, "length": film.length, "start": self._start,
            "looks": [_style_data(look) for look in self._looks],
            "parts": [[part.left, part.top, part.width, part.height] for part in self._parts],
            "arms": dict(_DRAWN_ARMS), "blocks": {sign: list(edges) for sign, edges in BLOCKS.items()},
            "rounds": {sign: list(sides) for sign, sides in ROUND_CORNERS.items()},
            "marks": [[mark.at, mark.kind, mark.sign, mark.glyph] for mark in film.marks],
            "gaps": [[gap.at, gap.saved] for gap in film.gaps],
        })  # fmt: skip
        yield '{"frames":['
        yield from _joined_by_commas(self._frames)
        yield '],"rows":['
        yield from _joined_by_commas(self._lines)
        yield f"],{rest[1:]}"


def _joined_by_commas(parts: Sequence[str]) -> Iterator[str]:
    for index, part in enumerate(parts):
        yield f",{part}" if index else part


_PAGE_TEMPLATE: Final = """<!doctype html>
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
<main><pre id="screen" tabindex="0" aria-label="The recorded screen">{text}</pre>
<button id="begin" type="button" hidden>▶ play</button></main>
<div id="bar" hidden>
<button id="play" type="button">play</button>
<div id="track"><div id="marks" aria-hidden="true"></div>
<input id="seek" type="range" min="0" max="1000" step="any" value="0" aria-label="Time">
<div id="card" role="tooltip" hidden></div></div>
<output id="clock"></output>
<label>speed <select id="speed"></select></label>
<label>mark <select id="kind"></select></label>
<button id="back" type="button" aria-label="Previous mark">[</button>
<button id="forth" type="button" aria-label="Next mark">]</button>
</div>
<p id="note" role="status"></p>
<p id="keys"><kbd>space</kbd> play <kbd>←</kbd> <kbd>→</kbd> 5 s <kbd>,</kbd> <kbd>.</kbd> frame \
<kbd>[</kbd> <kbd>]</kbd> mark <kbd>-</kbd> <kbd>+</kbd> speed <kbd>0</kbd> to <kbd>9</kbd> tenths \
<kbd>home</kbd> <kbd>end</kbd></p>
<p id="about">A recorded session of workbench, in which a person supervises agents: \
<b class="approval">◆</b> waits for an answer, <b class="edit">✓</b> went well, \
<b class="error">×</b> failed, <b class="prompt">›</b> a prompt. This page loads nothing.</p>
<noscript><p>One moment is shown. Playing needs the script of this file; it loads nothing.</p></noscript>
<script type="application/json" id="film">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _read_asset(name: str) -> str:
    return (_ASSET_FOLDER / name).read_text(encoding="utf-8")


def _script_digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


# --- the film as data -------------------------------------------------------------------------------


def _compact_json(value: Json) -> str:
    return _inert_json(json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False))


def _inert_json(text: str) -> str:
    """Return JSON that means the same and can end no element and begin no comment."""
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _row_pieces(row: ScreenRow, looks: dict[TextStyle, int]) -> Json:
    pieces: list[Json] = []
    column = 0
    for text, look in row:
        number = looks.setdefault(look, len(looks))
        for piece, wide in text_pieces(text):
            pieces += [column, wide, number, piece]
            column += wide
    return pieces


def _style_data(look: TextStyle) -> Json:
    return [
        look.ink,
        look.paper,
        sum(1 << bit for bit, name in enumerate(_STYLE_FLAGS) if getattr(look, name)),
    ]
