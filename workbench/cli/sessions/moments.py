"""`workbench sessions export` of the screen: a picture of a moment, or a film that plays elsewhere.

Owns the options of it and where its bytes go. Nothing of it is printed on a terminal.
"""

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse
from workbench.domain.rows import Session
from workbench.effects.files import write_atomic
from workbench.journal.journal import Journal
from workbench.text.human import size as size_words
from workbench.views.player import moment
from workbench.views.shots import MOST

if TYPE_CHECKING:
    from workbench.cli.sessions.filming import Shoot

FORMATS: Final = ("cast", "html", "svg")
_THEMES: Final = ("workbench-dark", "workbench-light")
_NARROWEST, _WIDEST = (40, 12), (400, 150)
_FRAMES: Final = range(2, 20_001)


def configure(parser: ArgumentParser) -> None:
    """Add what belongs to pictures of the screen."""
    group = parser.add_argument_group("html, cast and svg", "the screen as it was")
    at = "12:01:31, 35%% or #412: svg shows that moment (the last if not given), html and cast begin there"
    group.add_argument("--at", metavar="T", help=at)
    group.add_argument("--size", type=_size, default=(120, 36), metavar="CxR", help="cells (120x36)")
    group.add_argument("--theme", choices=_THEMES, default=_THEMES[0], help="colours")
    group.add_argument(
        "--idle",
        choices=("short", "keep"),
        default="short",
        help="half a minute and more without an event as two seconds (short), or as long as it was",
    )
    frames = f"at most so many, {_FRAMES[0]} to {_FRAMES[-1]} ({MOST}); more moments are thinned"
    group.add_argument("--frames", type=_frames, default=MOST, metavar="N", help=frames)


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    if not (_NARROWEST[0] <= size[0] <= _WIDEST[0] and _NARROWEST[1] <= size[1] <= _WIDEST[1]):
        least, most = (f"{columns}x{rows}" for columns, rows in (_NARROWEST, _WIDEST))
        raise ArgumentTypeError(f"“{text}” is no size from {least} to {most}, as 120x36")
    return size


def _frames(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) not in _FRAMES:
        raise ArgumentTypeError(f"“{text}” is no number from {_FRAMES[0]} to {_FRAMES[-1]}")
    return int(text)


def execute(options: Namespace, journal: Journal, session: Session, console: Console) -> int:
    """Film a session and write the file."""
    if options.output is None and console.is_terminal:
        remedy = f"name a file: --output session.{options.format}"
        raise Misuse("nothing was exported", f"{options.format} is not to be read on a terminal", remedy)
    deliver(_made(options, journal, session, console), options.output, console)
    return DONE


def deliver(parts: Iterable[str], output: str | None, console: Console) -> None:
    """Write what was made into a file, or print it.

    Raises:
        FileRefused: The file was not written.
    """
    if output is None:
        for part in parts:
            console.write(part)
        return
    data = b"".join(part.encode("utf-8", "backslashreplace") for part in parts)
    write_atomic(Path(output).expanduser(), data)
    console.note(f"{output}: {size_words(len(data))}")


def _made(options: Namespace, journal: Journal, session: Session, console: Console) -> list[str]:
    from workbench.cli.sessions import camera, filming
    from workbench.formats.film import cast, html, svg
    from workbench.tui.replay_source import ReplaySource

    shoot = filming.Shoot(
        journal=journal, source=ReplaySource(journal, session), session=session, theme=options.theme,
        size=options.size, most=options.frames, keeps_idle=options.idle == "keep",
    )  # fmt: skip
    index = _index(shoot, options.at)
    if options.format == "svg":
        one = camera.run(lambda: filming.still(shoot, len(shoot.source.reel) if index is None else index))
        return [svg.write(*one)]
    # A page has all of the session and stands at the moment; a cast begins with it.
    first = 1 if options.format == "html" or index is None else index
    if options.format == "cast":
        tape = camera.run(lambda: filming.film(shoot, first, cast.Tape, console.note))
        return [f"{line}\n" for line in tape.end()]
    start = 0 if index is None else filming.time_of(shoot, index)
    page = camera.run(lambda: filming.film(shoot, first, lambda film: html.Page(film, start), console.note))
    return page.end()


def _index(shoot: "Shoot", given: str | None) -> int | None:
    reel = shoot.source.reel
    if not len(reel):
        raise Misuse("nothing was exported", "this session has no events", "name another one")
    if given is None:
        return None
    index = moment(given, reel)
    if index is None:
        why = f"“{given}” is no moment of this recording"
        raise Misuse("nothing was exported", why, f"name one as 12:01:31, 35% or #1 to #{len(reel)}")
    return max(1, index)
