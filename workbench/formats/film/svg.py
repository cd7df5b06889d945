"""One frame as an SVG picture.

Pure. Every text is escaped; the picture names no font file, loads nothing and runs nothing.
"""

from collections.abc import Iterator
from html import escape
from typing import Final

from workbench.formats.film.model import Film, Frame, Look, Row, pieces
from workbench.text.human import iso
from workbench.text.safe import one_line

_CELL: Final = 8.4
_LINE: Final = 18
_BASE: Final = 13.4
"""Pixels: the width of a cell, the height of a line, the base line in it."""
_MARGIN: Final = 12
_UPRIGHT: Final = {"│": 1.2, "┃": 2.4}
"""Lines between panes and their width: as text they would have gaps between rows."""
_FONT: Final = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"


def write(film: Film, frame: Frame) -> str:
    """Return a frame of a film as a complete SVG document."""
    width, height = film.width * _CELL + 2 * _MARGIN, film.height * _LINE + 2 * _MARGIN
    name = escape(one_line(film.title, 200))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" role="img" aria-labelledby="name when">',
        f'<title id="name">{name}</title>',
        f'<desc id="when">{iso(frame.recorded)}</desc>',
        f'<rect width="100%" height="100%" rx="8" fill="{film.paper}"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})" font-family="{_FONT}" font-size="14"'
        ' xml:space="preserve">',
    ]
    for number, row in enumerate(frame.rows):
        parts += _papers(row, number, film.paper)
    for number, row in enumerate(frame.rows):
        parts += _texts(row, number)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _papers(row: Row, number: int, paper: str) -> Iterator[str]:
    begins = 0
    for text, look in row:
        wide = sum(count for _, count in pieces(text))
        if look.paper != paper:
            yield (
                f'<rect x="{begins * _CELL:g}" y="{number * _LINE}" width="{wide * _CELL:g}" height="{_LINE}"'
                f' fill="{look.paper}" shape-rendering="crispEdges"/>'
            )
        begins += wide


def _texts(row: Row, number: int) -> Iterator[str]:
    begins = 0
    for text, look in row:
        for piece, wide in pieces(text):
            shown = piece.strip(" ")
            if piece in _UPRIGHT:
                yield _upright(begins, number, look, _UPRIGHT[piece])
            elif shown or look.underline or look.strike:
                before = len(piece) - len(piece.lstrip(" ")) if shown else 0
                shown = shown or piece
                yield _text(shown, begins + before, wide - len(piece) + len(shown), number, look)
            begins += wide


def _text(text: str, begins: int, wide: int, number: int, look: Look) -> str:
    how = f' fill="{look.ink}"'
    how += ' font-weight="bold"' if look.bold else ""
    how += ' font-style="italic"' if look.italic else ""
    lines = [name for name, is_on in (("underline", look.underline), ("line-through", look.strike)) if is_on]
    how += f' text-decoration="{" ".join(lines)}"' if lines else ""
    # Every text is as wide as its cells, whichever font the reader has.
    wide_as = f' textLength="{wide * _CELL:g}" lengthAdjust="spacingAndGlyphs"'
    at = f'x="{begins * _CELL:g}" y="{number * _LINE + _BASE:g}"'
    return f"<text {at}{wide_as}{how}>{escape(text, quote=False)}</text>"


def _upright(begins: int, number: int, look: Look, wide: float) -> str:
    x, y = (begins + 0.5) * _CELL - wide / 2, number * _LINE
    return f'<rect x="{x:g}" y="{y}" width="{wide}" height="{_LINE}" fill="{look.ink}"/>'
