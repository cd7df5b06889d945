"""The replay of a session without a terminal: moved from moment to moment, and read off as rows of text.

Owns the one headless screen. It is the screen of `workbench replay`, which answers, asks and starts nothing
and reads no sealed bytes; here it does not even listen whether the journal grows.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, Final, TypeVar

from rich.color import Color
from rich.style import Style
from textual.pilot import Pilot
from textual.strip import Strip

from workbench.config.values import Notify, Ui
from workbench.domain.rows import Session
from workbench.draw.glyphs import UNICODE
from workbench.draw.tokens import HOUSE
from workbench.formats.film.model import Frame, Look, Row, row_of
from workbench.journal.journal import Journal
from workbench.tui.live import Feed
from workbench.tui.pace import until_change
from workbench.tui.replay_app import ReplayApp
from workbench.tui.replay_source import ReplaySource
from workbench.tui.screens.main import MainScreen
from workbench.tui.screens.replay import ReplayScreen
from workbench.tui.services import Services

THEMES: Final = tuple(HOUSE)
_TURNS: Final = 3
"""How often every widget is let finish what it was told: messages, what they cause, and its layout."""
T = TypeVar("T")


class _Deaf(Feed):
    """Hears nothing of a journal that grows."""

    def start(self) -> None:
        """Listen to nothing."""


class _Stage(ReplayApp, inherit_bindings=False):
    """The app around a replay that stands still."""

    def __init__(
        self, journal: Journal, source: ReplaySource, session: Session, theme: str, home: str
    ) -> None:
        still = Notify(bell=False, title=False, desktop="off")
        ui = Ui(theme=theme, density="normal", glyphs="unicode", motion="none", keymap={}, notify=still)
        super().__init__(journal, session, ui=ui, home=home, glyphs=UNICODE)
        feed = _Deaf(journal, lambda: None)
        self.replay = ReplayScreen(source, session, feed, Services(), home)

    def make_main(self) -> MainScreen:
        """Return the replay, paused where it stands."""
        return self.replay


class Camera:
    """A running replay that is moved by hand."""

    def __init__(self, stage: _Stage, pilot: Pilot[int]) -> None:
        self._stage, self._screen, self._pilot = stage, stage.replay, pilot

    @property
    def is_moving(self) -> bool:
        """Return whether something counts down or runs."""
        state = self._screen.state
        return until_change(state, state.source.now()) is not None

    async def go(self, index: int) -> None:
        """Go to a moment."""
        self._screen.went(self._screen.player.seek(index))
        await self._settle()

    async def wait(self, played: int) -> None:
        """Let time pass without an event, until microseconds of played time."""
        self._screen.player.played = float(played)
        self._screen.show_moment()
        await self._settle()

    async def ready(self) -> None:
        """Wait for the first frame and for what colours code, and take off what belongs to the keys."""
        await self._pilot.pause()
        await self._settle()
        self._screen.pose()
        await self._pilot.pause()
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(_TURNS):
            await self._stage.workers.wait_for_complete()  # pyright: ignore[reportUnknownMemberType]
            await self._pilot.pause(0)

    def frame(self, at: int) -> Frame:
        """Return what the screen shows, as a frame at microseconds of the film."""
        strips = self._stage.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        paper, ink = self.colours
        rows = tuple(_row(strip, self._stage.size.width, ink, paper) for strip in strips)
        return Frame(at=at, recorded=self._screen.player.now, rows=rows)

    @property
    def colours(self) -> tuple[str, str]:
        """Return the colours of paper and ink."""
        tokens = self._stage.ink.tokens
        return tokens.background, tokens.foreground


@asynccontextmanager
async def filming(
    journal: Journal, source: ReplaySource, session: Session, *, theme: str, size: tuple[int, int], home: str
) -> AsyncGenerator[Camera, None]:
    """Run the replay of a session, at its first moment.

    Args:
        journal: Where the recording is; it is read and not written.
        source: The recording.
        session: Whose it is.
        theme: One of `THEMES`.
        size: Cells across and down.
        home: The user's home folder, shown as `~`.
    """
    stage = _Stage(journal, source, session, theme, home)
    async with stage.run_test(size=size) as pilot:
        camera = Camera(stage, pilot)
        await camera.ready()
        yield camera


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end."""
    return asyncio.run(work())


# --- what a strip shows -----------------------------------------------------------------------------


def _row(strip: Strip, width: int, ink: str, paper: str) -> Row:
    runs = ((text, _look(style or Style.null(), ink, paper)) for text, style, control in strip if not control)
    return row_of(tuple(runs), width)


@lru_cache(maxsize=2048)
def _look(style: Style, ink: str, paper: str) -> Look:
    front, back = _colour(style.color, ink), _colour(style.bgcolor, paper)
    if style.reverse:
        front, back = back, front
    if style.dim:
        front = _between(front, back)
    return Look(
        ink=front, paper=back, bold=bool(style.bold), italic=bool(style.italic),
        underline=bool(style.underline), strike=bool(style.strike),
    )  # fmt: skip


def _colour(colour: Color | None, otherwise: str) -> str:
    if colour is None or colour.is_default:
        return otherwise
    return colour.get_truecolor().hex


def _between(front: str, back: str) -> str:
    pairs = ((int(front[at : at + 2], 16), int(back[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{(a + b) // 2:02x}" for a, b in pairs)
