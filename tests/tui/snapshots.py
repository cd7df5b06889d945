"""Snapshots of the screen as text: rows, and under each the runs of its styles by the names of the theme's colours.

A row `|Sessions  3|` is followed by `  bold muted 8, faint on cursor_row 4`: cells in a row that have one style.
Text, place, colour and attribute of every cell are in it. `--snapshot-update` writes the files.
"""

import asyncio
import difflib
from itertools import groupby
from typing import get_args

from rich.color import ColorType
from textual.color import Color

from workbench.render.theme import ColorName, theme_colors

ATTRIBUTES = (
    "bold",
    "dim",
    "italic",
    "underline",
    "underline2",
    "blink",
    "reverse",
    "strike",
    "overline",
    "conceal",
)
LINE_LENGTH = 160


def color_names(app):
    """Return the names of the theme's colours by their triplets; the first name of a colour is its name."""
    colors, found = theme_colors(app.current_theme), {}
    for name in get_args(ColorName):
        color = Color.parse(getattr(colors, name))
        if color.ansi is None and not color.is_transparent:
            found.setdefault(color.rgb, name)
    return found


def style_words(style, names):
    """Return a style as words: `bold waiting on panel`."""
    if style is None:
        return "none"
    words = [name for name in ATTRIBUTES if getattr(style, name)]
    words.append(color_word(style.color, names) if style.color else "plain")
    if style.bgcolor and color_word(style.bgcolor, names) != "background":
        words += ["on", color_word(style.bgcolor, names)]
    if style.link:
        words += ["link", style.link]
    return " ".join(words)


def color_word(color, names):
    if color.type != ColorType.TRUECOLOR:
        return color.name
    return names.get(tuple(color.triplet), color.triplet.hex)


def screen_text(app):
    """Return what the screen shows, text and styles."""
    names, lines = color_names(app), []
    for strip in app.screen._compositor.render_strips():
        cells = [(style_words(part.style, names), part.cell_length) for part in strip if not part.control]
        runs = [
            (words, sum(length for _, length in same))
            for words, same in groupby(cells, key=lambda cell: cell[0])
        ]
        lines.append(f"|{strip.text}|")
        line = " "
        for run in (f" {words} {length}," for words, length in runs):
            if len(line) + len(run) > LINE_LENGTH:
                lines.append(line)
                line = " "
            line += run
        lines.append(line.rstrip(","))
    size = app.screen.size
    return f"{size.width} columns, {size.height} rows, {app.current_theme.name}\n" + "\n".join(lines) + "\n"


def shown(app, run_before, size):
    """Return what an app shows after keys."""

    async def run():
        async with app.run_test(size=size) as pilot:
            await run_before(pilot)
            await pilot.pause()
            return screen_text(app)

    return asyncio.run(run())


def difference(path, text):
    """Return how a text differs from the kept one, in words; "" when it does not."""
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    if text == kept:
        return ""
    return "\n".join(
        difflib.unified_diff(kept.split("\n"), text.split("\n"), str(path), "shown now", lineterm="", n=2)
    )


def compare(request, app, run_before, terminal_size):
    """Return True, or fail with the difference, when an app shows something else than what was kept."""
    return is_kept(request, request.node.name, shown(app, run_before, terminal_size))


def is_kept(request, name, text):
    """Return True, or fail with the difference, when a text is another than the kept one of this name."""
    node = request.node
    path = node.path.parent / "__screens__" / node.path.stem / f"{name}.txt"
    if request.config.getoption("update_snapshots", default=False):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    changes = difference(path, text)
    assert not changes, f"another screen than the kept one:\n{changes}"
    return True
