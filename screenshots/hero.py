"""Make the moving picture of README anew: `python -m screenshots.hero` plays the demo and films the terminal.

The program runs in a terminal in memory with a folder of its own; the keys of `STORY` are pressed, and what
it shows then is written as a picture that moves, `demo-dark.svg` and `demo-light.svg` beside this file. How
long each moment stands is chosen here: nobody waits for a recorded agent.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pyte.screens import Char

from tests.support.keys import decide
from tests.support.terminal import REST, Terminal, leave
from workbench.cli.demo import copy_example
from workbench.formats.film import Film, FilmFrame, ScreenRow, TextStyle, screen_row
from workbench.formats.film.svg import SvgWriter
from workbench.render.theme import OWN_THEMES

HERE: Final = Path(__file__).resolve().parent
SIZE: Final = (100, 30)
FOLDER: Final = Path("/tmp/you")
THEMES: Final = {"dark": "workbench-dark", "light": "workbench-light"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A key, what the caption says of it, what the screen shows then, and how long that stands."""

    keys: str = ""
    name: str = ""
    caption: str
    shows: str
    seconds: float = 1.1


TRUST: Final = (("l", "agents may read"), ("\x14", "trusted"), ("", "3 waiting"))
"""Keys before the film begins, and what each brings: the answer to the question of trust."""
STORY: Final = (
    Moment(caption="An agent asks for three things. Nothing is written yet.", shows="3 waiting", seconds=1.8),
    Moment(keys="l", name="l", caption="to the next hunk of the first", shows="hunk 2 of 3", seconds=1.0),
    Moment(keys=" ", name="space", caption="leave this one out", shows="2 taken, 1 left", seconds=1.5),
    Moment(keys="l", name="l", caption="to the last hunk", shows="hunk 3 of 3", seconds=0.9),
    Moment(
        keys="a", name="a a", caption="approve two of three: they are written", shows="2 waiting", seconds=1.6
    ),
    Moment(keys="a", name="a a", caption="approve the new file", shows="1 waiting", seconds=1.2),
    Moment(
        keys="a",
        name="a a",
        caption="approve the run of the tests: green",
        shows="tests are green",
        seconds=1.6,
    ),
)


def main() -> None:
    """Write both pictures."""
    for name, theme in THEMES.items():
        picture = film_demo(theme)
        (HERE / f"demo-{name}.svg").write_text(picture, encoding="utf-8")
        print(f"demo-{name}: {len(picture):,} characters")


def film_demo(theme: str) -> str:
    """Return the demo as a moving picture in a theme."""
    tokens = OWN_THEMES[theme]
    plain = TextStyle(ink=tokens.foreground, paper=tokens.background)
    film = Film(
        title="workbench: an agent asks, you answer from the keyboard", width=SIZE[0], height=SIZE[1] + 2,
        ink=plain.ink, paper=plain.paper, length=round(sum(moment.seconds for moment in STORY) * 1_000_000),
    )  # fmt: skip
    writer = SvgWriter(film, seconds=60, poster=film.length // 2)
    shown_at = 0
    with neutral_folder() as folder:
        terminal = open_demo(folder, theme)
        try:
            terminal.until("ctrl+t trust")
            terminal.pump(REST)
            for keys, shows in TRUST:
                press(terminal, keys, shows)
            for moment in STORY:
                press(terminal, moment.keys, moment.shows)
                rows = (*screen_rows(terminal, plain), *caption_rows(moment, plain, tokens.info))
                writer.add(FilmFrame(at=shown_at, recorded=0, rows=rows))
                shown_at += round(moment.seconds * 1_000_000)
        finally:
            leave(terminal)
            terminal.close()
    return "".join(writer.end())


@contextmanager
def neutral_folder() -> Iterator[Path]:
    """Give a folder whose path may be seen in a picture; it must not be there yet."""
    FOLDER.mkdir(mode=0o700)
    try:
        yield FOLDER
    finally:
        shutil.rmtree(FOLDER)


def open_demo(folder: Path, theme: str) -> Terminal:
    """Start the demo in a folder as its user has it: home, settings, nothing of who makes the picture."""
    place = copy_example(folder / "shop")
    place.home.mkdir(mode=0o700, exist_ok=True)
    (place.home / "config.json").write_text(json.dumps({"config_version": 1, "ui": {"theme": theme}}))
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
    env = {**kept, "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"}
    argv = [sys.executable, "-m", "workbench", "demo", "--at", str(place.folder)]
    return Terminal(argv, cwd=folder, env=env, columns=SIZE[0], rows=SIZE[1])


def press(terminal: Terminal, keys: str, shows: str) -> None:
    """Press keys until the screen shows words: a first `a` may only bring what was not seen yet."""
    for _ in range(3):
        is_answer = keys == "a" and "a see " not in terminal.text()
        (partial(decide, terminal) if is_answer else terminal.press)(keys)
        for _ in range(20):
            terminal.pump(REST / 4)
            if shows in terminal.text():
                terminal.pump(REST)
                return
    terminal.until(shows)
    terminal.pump(REST)


def screen_rows(terminal: Terminal, plain: TextStyle) -> tuple[ScreenRow, ...]:
    """Return what a terminal shows."""
    screen = terminal.screen
    return tuple(
        screen_row(
            [(cell.data, style_of(cell, plain)) for cell in (screen.buffer[y][x] for x in range(SIZE[0]))],
            SIZE[0],
        )
        for y in range(SIZE[1])
    )


def style_of(cell: Char, plain: TextStyle) -> TextStyle:
    """Return how a cell is drawn."""
    ink = plain.ink if cell.fg == "default" else f"#{cell.fg}"
    paper = plain.paper if cell.bg == "default" else f"#{cell.bg}"
    if cell.reverse:
        ink, paper = paper, ink
    return TextStyle(
        ink=ink, paper=paper, bold=cell.bold, italic=cell.italics, underline=cell.underscore,
        strike=cell.strikethrough,
    )  # fmt: skip


def caption_rows(moment: Moment, plain: TextStyle, accent: str) -> tuple[ScreenRow, ...]:
    """Return a blank row and one that says which key was pressed."""
    key = TextStyle(ink=plain.paper, paper=accent, bold=True)
    words = [(f" {moment.name} ", key), (f"  {moment.caption}", plain)] if moment.name else [
        (moment.caption, plain)
    ]  # fmt: skip
    return screen_row([(" ", plain)], SIZE[0]), screen_row([(" ", plain), *words], SIZE[0])


if __name__ == "__main__":
    main()
