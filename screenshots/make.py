"""Make the pictures of the screen anew: `python -m screenshots.make [NAME…]` writes them beside this file.

Owns which golden sessions are shown, in which size and colours, and after which keys. The sessions are read
into a home that is thrown away, every clock stands still at the last event, and times are in UTC: what is
written is the same on every machine. It never touches the user's own journal.
"""

import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from textual.widgets import TextArea

from screenshots import bridge
from screenshots.screen import DARK, LIGHT, OnMain, settings
from tests.support import golden
from tests.support.keys import second_press
from workbench.cli.session_film import frame_row
from workbench.domain.events import ActionApproved, Event
from workbench.domain.rows import Action
from workbench.domain.values import Hunk, JsonObject
from workbench.effects.clock import ManualClock
from workbench.formats.film import Film, FilmFrame
from workbench.formats.film.svg import frame_svg
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.render.glyphs import UNICODE_GLYPHS
from workbench.tui.app import WorkbenchApp
from workbench.tui.journal_source import JournalSource

HERE: Final = Path(__file__).resolve().parent
WORKSPACE: Final = "/workspace/shop"
RENAME: Final = ("0", "g", "j", "enter", "2", "l", "space")
"""Show the session that renames, and leave the second hunk of its first question; in `SHOP`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A golden session, whole or as it stood at a moment."""

    name: str
    decisions: int | None = None
    """How many approvals it has got; it ends before the next. None shows all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What one picture shows."""

    sessions: tuple[Session, ...]
    size: tuple[int, int] = (160, 48)
    theme: str = DARK
    keys: tuple[str, ...] = ()
    """Pressed one after another, each after the screen has stood for a while."""


SHOP: Final = (
    Session(name="commands"),
    Session(name="fix-flaky-login", decisions=1),
    Session(name="rename-handler", decisions=0),
)
MAIN: Final = (Session(name="stacked-edits"), *SHOP, Session(name="release-run", decisions=1))
"""A busy morning: two sessions and a run that ask, two that are done."""
RENAME_OF_MAIN: Final = ("0", "g", "j", "j", "enter", "2", "g", "l", "space")
QUEUE: Final = (
    Session(name="commands"),
    Session(name="rename-handler"),
    Session(name="fix-flaky-login"),
    Session(name="busy-queue"),
)
PICTURES: Final = {
    "main-160x48-dark": Picture(sessions=MAIN, keys=RENAME_OF_MAIN),
    "main-120x36-dark": Picture(sessions=MAIN, keys=RENAME_OF_MAIN, size=(120, 36)),
    "main-160x48-light": Picture(sessions=MAIN, keys=RENAME_OF_MAIN, theme=LIGHT),
    "main-80x24-dark": Picture(sessions=MAIN, keys=RENAME_OF_MAIN, size=(80, 24)),
    "approvals": Picture(sessions=QUEUE, keys=("j", "j", "j", "z"), size=(150, 36)),
    "findings": Picture(sessions=(Session(name="lint-fixes"),), keys=("escape", "8", "j"), size=(140, 36)),
    "tools": Picture(sessions=(Session(name="commands"),), keys=("escape", "3", "z"), size=(140, 30)),
    "pipeline": Picture(
        sessions=(Session(name="release-run", decisions=0),), keys=("escape", "4", "z"), size=(140, 40)
    ),
    "help": Picture(sessions=QUEUE, keys=("j", "?")),
}


class Recorded(JournalSource):
    """A journal whose sealed bytes were never kept: proposals are shown as they were recorded."""

    def is_driver_gone(self, session_id: str) -> bool:
        """Return False: what is shown is the moment at which its driver worked."""
        del session_id
        return False

    def exact_hunks(self, action: Action) -> tuple[Hunk, ...]:
        """Return the recorded hunks."""
        opened = self.opened(action)
        return opened.hunks if opened else ()

    def exact_parameters(self, action: Action) -> JsonObject:
        """Return the recorded parameters."""
        opened = self.opened(action)
        return opened.parameters if opened else {}


class Hand:
    """The clock that arms keys: it moves only when told to."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.at


def events(session: Session) -> list[Event]:
    """Return the events of a golden session up to the moment that is shown."""
    every = list(golden.events(session.name))
    if session.decisions is None:
        return every
    approvals = [at for at, event in enumerate(every) if isinstance(event.body, ActionApproved)]
    return every[: approvals[session.decisions]]


def load(sessions: tuple[Session, ...], home: Path) -> Journal:
    """Return an open journal in a new home that holds golden sessions, at the time of the last event."""
    home.mkdir(mode=0o700)
    (home / "key").write_bytes(golden.KEY)
    (home / "key").chmod(0o600)
    shown = [events(session) for session in sessions]
    clock = ManualClock(max(event.at for part in shown for event in part))
    journal = Journal.open(Home.open(home), clock)
    for session, part in zip(sessions, shown, strict=True):
        for data in golden.blobs(session.name).values():
            journal.blobs.record(data)
        journal.append(part, strict=False)
    return journal


async def draw(app: WorkbenchApp, picture: Picture, hand: Hand) -> str:
    """Run the screen without a terminal, press the keys, and return what it shows as SVG."""
    async with app.run_test(size=picture.size) as pilot:
        for key in ("", "escape", *picture.keys):
            # A screen begins in the composer; what is pictured is what waits.
            if key and (key != "escape" or app.main.state.pending or isinstance(app.focused, TextArea)):
                await pilot.press(key)
                await second_press(app)
            for _ in range(3):
                await app.workers.wait_for_complete()
                await pilot.pause()
                hand.at += 0.5
                app.guarded.commit_due()
        # What the last key said, and keys that are not armed yet, would be in the picture by chance.
        app.main.rule.say("")
        app.main.presenter.footer()
        await pilot.pause()
        tokens = app.ink.tokens
        rows = tuple(
            frame_row(strip, picture.size[0], tokens.foreground, tokens.background)
            for strip in app.screen._compositor.render_strips()
        )
    width, height = picture.size
    film = Film(
        title="workbench",
        width=width,
        height=height,
        ink=tokens.foreground,
        paper=tokens.background,
        length=0,
    )
    return frame_svg(film, FilmFrame(at=0, recorded=app.main.state.source.now(), rows=rows))


def make(picture: Picture) -> str:
    """Return a picture as SVG."""
    hand = Hand()
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        journal = load(picture.sessions, Path(folder).resolve() / "home")
        try:
            app = WorkbenchApp(
                journal,
                OnMain(),
                WORKSPACE,
                home=str(Path(WORKSPACE).parent),
                source=Recorded(journal, WORKSPACE),
                ui=settings(picture.theme),
                glyphs=UNICODE_GLYPHS,
                monotonic=hand,
            )
            return asyncio.run(draw(app, picture, hand))
        finally:
            journal.close()


MAKERS: Final = {
    **{name: partial(make, picture) for name, picture in PICTURES.items()},
    "bridge": bridge.make,
}


def neutral_environment() -> None:
    """Let nothing of the machine into a picture: its time zone, its language, its colours."""
    os.environ.update(TZ="UTC", LANG="C.UTF-8")
    for name in ("NO_COLOR", "TEXTUAL_THEME"):
        os.environ.pop(name, None)
    time.tzset()


def main(names: list[str]) -> None:
    """Write the named pictures, or all."""
    unknown = [name for name in names if name not in MAKERS]
    if unknown:
        sys.exit(f"No picture is called {', '.join(unknown)}; there are {', '.join(MAKERS)}.")
    neutral_environment()
    for name in names or MAKERS:
        data = MAKERS[name]()
        (HERE / f"{name}.svg").write_text(data, encoding="utf-8")
        print(f"{name}: {len(data):,} characters")


if __name__ == "__main__":
    main(sys.argv[1:])
