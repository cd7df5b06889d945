"""SVG pictures of the screen: one frame, or a short film that plays wherever an image is shown."""

# Lines and blocks are drawn as shapes: as text they have gaps between rows and borrow widths from other
# fonts. A film needs no script, which an image may not run: every row that was ever shown is a group, and a
# style sheet says when it is seen. A reader who wants no motion gets the poster.

from collections.abc import Iterator
from html import escape
from typing import Final

from workbench.formats.film import Film, FilmFrame, ScreenRow, TextStyle, text_pieces
from workbench.formats.film.cell_shapes import ARMS, BLOCKS, ROUND_CORNERS
from workbench.text.human import SECOND_MICROS, iso_time
from workbench.text.safe import one_line

_CELL_WIDTH: Final = 8.4
_LINE_HEIGHT: Final = 18
_BASELINE: Final = 13.4
"""Pixels: the width of a cell, the height of a line, the base line in it."""
_MARGIN: Final = 12
_FONT_FAMILY: Final = (
    "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
)
_NARROWEST_MICROS: Final = 80_000
"""Frames that stand for a shorter time are not told apart."""
_LAST_FRAME_MICROS: Final = 2_500_000
"""How long the last frame stands before a film begins again."""


def frame_svg(film: Film, frame: FilmFrame) -> str:
    """Return a frame of a film as a complete SVG document."""
    rows = [part for number, row in enumerate(frame.rows) for part in _row_shapes(row, number, film.paper)]
    return "\n".join([*_document_head(film, frame.recorded), *rows, "</g>", "</svg>", ""])


class SvgWriter:
    """A moving picture, made frame by frame: rows are kept until its end."""

    def __init__(self, film: Film, seconds: float, poster: int | None = None) -> None:
        """Begin a film.

        Args:
            film: What is said of it.
            seconds: It lasts so long at the most, and is shown faster if it was longer.
            poster: What stands still where nothing moves, in microseconds of the film; None for the end.
        """
        self._film, self._poster = film, poster
        self._pace = min(1.0, seconds * SECOND_MICROS / max(1, film.length))
        self._frames: list[FilmFrame] = []
        self._still: FilmFrame | None = None

    def add(self, frame: FilmFrame) -> None:
        """Add a frame; of those that are too short to be seen the last one counts."""
        if self._still is None or self._poster is None or frame.at <= self._poster:
            self._still = frame
        if len(self._frames) > 1 and (frame.at - self._frames[-1].at) * self._pace < _NARROWEST_MICROS:
            self._frames.pop()
        self._frames.append(frame)

    def end(self) -> list[str]:
        """Return the document. Raises ValueError if no frame was added."""
        if self._still is None:
            raise ValueError("a film has at least one frame")
        total = self._film.length * self._pace + _LAST_FRAME_MICROS
        times = [frame.at * self._pace / total * 100 for frame in self._frames]
        names: dict[tuple[tuple[float, float], ...], str] = {}
        groups: list[str] = []
        for (number, row), spans in self._row_spans(times).items():
            shapes = "".join(_row_shapes(row, number, self._film.paper))
            if spans == ((0.0, 100.0),):
                groups.append(shapes)
            elif shapes:
                name = names.setdefault(spans, f"k{len(names)}")
                hidden = "" if self._still.rows[number] == row else ' visibility="hidden"'
                groups.append(f'<g style="animation-name:{name}"{hidden}>{shapes}</g>')
        head = _document_head(self._film, self._still.recorded)
        return ["\n".join([*head, _animation_style(names, total), *groups, "</g>", "</svg>", ""])]

    def _row_spans(self, times: list[float]) -> dict[tuple[int, ScreenRow], tuple[tuple[float, float], ...]]:
        """Return when each row is seen that ever stood on the screen, in percent of the film."""
        spans: dict[tuple[int, ScreenRow], list[tuple[float, float]]] = {}
        for number in range(self._film.height):
            begin, shown = 0.0, self._frames[0].rows[number]
            for time, frame in zip(times[1:], self._frames[1:], strict=True):
                if frame.rows[number] != shown:
                    spans.setdefault((number, shown), []).append((begin, time))
                    begin, shown = time, frame.rows[number]
            spans.setdefault((number, shown), []).append((begin, 100.0))
        return {key: tuple(value) for key, value in spans.items()}


def _animation_style(names: dict[tuple[tuple[float, float], ...], str], total: float) -> str:
    rules = [f"g g{{animation:{total / SECOND_MICROS:.2f}s step-end infinite}}"]
    for spans, name in names.items():
        steps = {0.0: "hidden"}
        for begin, end in spans:
            steps |= {begin: "visible", end: "hidden"}
        steps.pop(100.0, None)
        frames = "".join(f"{time:.2f}%{{visibility:{seen}}}" for time, seen in sorted(steps.items()))
        rules.append(f"@keyframes {name}{{{frames}}}")
    rules.append("@media(prefers-reduced-motion:reduce){g g{animation:none}}")
    return f"<style>{''.join(rules)}</style>"


def _document_head(film: Film, recorded: int) -> list[str]:
    width, height = film.width * _CELL_WIDTH + 2 * _MARGIN, film.height * _LINE_HEIGHT + 2 * _MARGIN
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" role="img" aria-labelledby="name when">',
        f'<title id="name">{escape(one_line(film.title, 200))}</title>',
        f'<desc id="when">{iso_time(recorded)}</desc>',
        f'<rect width="100%" height="100%" rx="8" fill="{film.paper}"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})" font-family="{_FONT_FAMILY}" font-size="14"'
        ' style="font-variant-ligatures:none">',
    ]


def _row_shapes(row: ScreenRow, number: int, paper: str) -> Iterator[str]:
    begin = 0
    for text, look in row:
        cells = sum(wide for _, wide in text_pieces(text))
        if look.paper != paper:
            yield (
                f'<rect x="{begin * _CELL_WIDTH:g}" y="{number * _LINE_HEIGHT}"'
                f' width="{cells * _CELL_WIDTH:g}" height="{_LINE_HEIGHT}"'
                f' fill="{look.paper}" shape-rendering="crispEdges"/>'
            )
        begin += cells
    begin = 0
    for text, look in row:
        for piece, cells in text_pieces(text):
            yield from _piece_shapes(piece, begin, cells, number, look)
            begin += cells


def _piece_shapes(piece: str, begin: int, cells: int, number: int, look: TextStyle) -> Iterator[str]:
    """Yield words as text, and what lines and blocks are made of as one path."""
    words = ""
    drawn = "".join(_cell_path(character, begin + at, number) for at, character in enumerate(piece))
    if drawn:
        words = "".join(" " if character in _DRAWN else character for character in piece)
        yield f'<path d="{drawn}" fill="{look.ink}"/>'
    else:
        words = piece
    shown = words.strip(" ")
    if not shown and not (look.underline or look.strike):
        return
    before = len(words) - len(words.lstrip(" ")) if shown else 0
    shown = shown or words
    yield _text_shape(shown, begin + before, cells - len(words) + len(shown), number, look)


def _text_shape(text: str, begin: int, cells: int, number: int, look: TextStyle) -> str:
    how = f' fill="{look.ink}"'
    how += ' font-weight="bold"' if look.bold else ""
    how += ' font-style="italic"' if look.italic else ""
    lines = [name for name, is_on in (("underline", look.underline), ("line-through", look.strike)) if is_on]
    how += f' text-decoration="{" ".join(lines)}"' if lines else ""
    # On the text itself: browsers give each text a rule of their own, so that it inherits none.
    how += ' xml:space="preserve"' if "  " in text else ""
    # Every text is as wide as its cells, whichever font the reader has.
    wide_as = f' textLength="{cells * _CELL_WIDTH:g}" lengthAdjust="spacingAndGlyphs"'
    position = f'x="{begin * _CELL_WIDTH:g}" y="{number * _LINE_HEIGHT + _BASELINE:g}"'
    return f"<text {position}{wide_as}{how}>{escape(text, quote=False)}</text>"


# --- lines and blocks -------------------------------------------------------------------------------

_THIN, _THICK, _GAP = 1.2, 2.4, 3.2
"""Pixels: a line, a heavy line, and how far the two lines of a double one are apart."""
_RADIUS: Final = 4.2
_DASHES: Final = {"╌": _THIN, "╍": _THICK}
_DRAWN: Final = frozenset({*ARMS, *ROUND_CORNERS, *_DASHES, *BLOCKS})


def _cell_path(character: str, column: int, number: int) -> str:
    """Return a line or block in its cell as a path to be filled; empty for other characters."""
    x, y = column * _CELL_WIDTH, number * _LINE_HEIGHT
    if character in ARMS:
        return "".join(_box_path(*box) for box in _arm_boxes(ARMS[character], x, y))
    if character in ROUND_CORNERS:
        return _round_corner(*ROUND_CORNERS[character], x, y)
    if character in _DASHES:
        thick, middle = _DASHES[character], y + _LINE_HEIGHT / 2
        third = _CELL_WIDTH / 4
        return "".join(_box_path(x + at * third, middle - thick / 2, third * 1.2, thick) for at in (0.4, 2.4))
    if character in BLOCKS:
        left, right, top, bottom = BLOCKS[character]
        across, down = _CELL_WIDTH / 8, _LINE_HEIGHT / 8
        return _box_path(x + left * across, y + top * down, (right - left) * across, (bottom - top) * down)
    return ""


def _arm_boxes(arms: str, x: float, y: float) -> Iterator[tuple[float, float, float, float]]:
    """Yield the strokes of a line that crosses a cell, each as left, top, width and height."""
    middle_x, middle_y = x + _CELL_WIDTH / 2, y + _LINE_HEIGHT / 2
    up, down, left, right = arms
    for offset, thick in _strokes(up):
        yield middle_x + offset - thick / 2, y, thick, _LINE_HEIGHT / 2 + _reach(offset, left, right)
    for offset, thick in _strokes(down):
        reach = _reach(offset, left, right)
        yield middle_x + offset - thick / 2, middle_y - reach, thick, _LINE_HEIGHT / 2 + reach
    for offset, thick in _strokes(left):
        yield x, middle_y + offset - thick / 2, _CELL_WIDTH / 2 + _reach(offset, up, down), thick
    for offset, thick in _strokes(right):
        reach = _reach(offset, up, down)
        yield middle_x - reach, middle_y + offset - thick / 2, _CELL_WIDTH / 2 + reach, thick


def _strokes(arm: str) -> tuple[tuple[float, float], ...]:
    """Return how far each stroke of an arm is from the middle, and how thick it is."""
    return {
        "0": (),
        "1": ((0.0, _THIN),),
        "2": ((0.0, _THICK),),
        "3": ((-_GAP / 2, _THIN), (_GAP / 2, _THIN)),
    }[arm]


def _reach(offset: float, before: str, after: str) -> float:
    """Return how far a stroke goes over the middle to meet the arms across; in a corner one goes less."""
    across = [stroke for arm in (before, after) for stroke in _strokes(arm)]
    is_corner = (before == "0") != (after == "0")
    if is_corner and offset * (1 if before == "0" else -1) > 0:
        return -min(abs(other) - thick / 2 for other, thick in across)
    return max((abs(other) + thick / 2 for other, thick in across), default=0.0)


def _round_corner(right: int, down: int, x: float, y: float) -> str:
    """Return a line around a corner; 1 to the right and down, -1 to the left and up."""
    middle_x, middle_y, half = x + _CELL_WIDTH / 2, y + _LINE_HEIGHT / 2, _THIN / 2
    across, along = middle_x + right * _RADIUS, middle_y + down * _RADIUS
    outer, inner, sweep = _RADIUS + half, _RADIUS - half, int(right != down)
    edge_x, edge_y = x + _CELL_WIDTH * (right > 0), y + _LINE_HEIGHT * (down > 0)
    return (
        f"M{edge_x:.6g} {middle_y - down * half:.6g}H{across:.6g}"
        f"A{outer} {outer} 0 0 {sweep} {middle_x - right * half:.6g} {along:.6g}V{edge_y:g}h{right * _THIN}"
        f"V{along:.6g}A{inner} {inner} 0 0 {1 - sweep} {across:.6g} {middle_y + down * half:.6g}"
        f"H{edge_x:.6g}z"
    )


def _box_path(left: float, top: float, width: float, height: float) -> str:
    return f"M{left:.6g} {top:.6g}h{width:.4g}v{height:.4g}h{-width:.4g}z"
