"""Render the replay of a session without a terminal, as frames of a film or one picture. Loads Textual."""

# A film is the replay, read off. Frames come from the screen of `workbench replay` run headless, so that no
# second drawing of a session exists; what leaves is cleaned and scrubbed once more, for a record may be
# older than a pattern.

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence, Sized
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, cast

from msgspec import Struct
from rich.color import Color
from rich.style import Style
from textual.filter import LineFilter
from textual.pilot import Pilot
from textual.strip import Strip

from workbench.config.sections import NotifySettings
from workbench.config.types import UiSettings
from workbench.domain.rows import Session
from workbench.formats.film import (
    Film,
    FilmFrame,
    FilmGap,
    FilmMark,
    FramePart,
    ScreenRow,
    TextStyle,
    screen_row,
)
from workbench.journal.journal import Journal
from workbench.render.glyphs import UNICODE_GLYPHS
from workbench.text.human import SECOND_MICROS, duration_text
from workbench.tui.backend import Backend
from workbench.tui.journal_source import JournalFeed
from workbench.tui.main.redraw_timer import seconds_until_change
from workbench.tui.main.screen import MainScreen
from workbench.tui.replay.replay_screen import ReplayScreen
from workbench.tui.replay.replay_source import ReplaySource
from workbench.tui.replay_app import ReplayApp
from workbench.views.status_icons import ICONS
from workbench.views.timeline import (
    MAX_FRAMES,
    MIN_FRAME_MICROS,
    FramePlan,
    Timeline,
    countdown_times,
    plan_frames,
)

_FRAMES_PER_REPORT: Final = 100
"""Frames between two words on how far it is."""


class FilmOptions(Struct, frozen=True, kw_only=True):
    """What is filmed, and how."""

    journal: Journal
    source: ReplaySource
    session: Session
    theme: str
    size: tuple[int, int]
    most: int = MAX_FRAMES
    """Frames, at most."""
    keeps_idle: bool = False
    """Whether idle times last as long as they did."""
    on_frame: Callable[[str], None] | None = None
    """Told how far it is after each moment: `12 of 80 moments`."""


class FrameSink(Protocol):
    """What takes the frames of a film as they are made."""

    def add(self, frame: FilmFrame) -> None:
        """Take the next one."""
        ...


S = TypeVar("S", bound=FrameSink)


async def render_still(options: FilmOptions, index: int) -> tuple[Film, FilmFrame]:
    """Return the picture of one moment, and what is said of it."""
    async with _open_replay(options) as replay:
        await replay.go(index)
        return _film_header(options, replay, index), replay.frame(0)


async def render_film(
    options: FilmOptions, first: int, make: Callable[[Film], S], on_progress: Callable[[str], None]
) -> S:
    """Film a session from a moment on; a frame is given on as soon as it is made, and not kept."""
    timeline = options.source.timeline
    plan = plan_frames(timeline, first, options.most)
    if plan.is_thinned:
        on_progress(_thinning_note(plan, timeline, options.most))
    async with _open_replay(options) as replay:
        sink = make(_film_header(options, replay, first))
        await _render_frames(options, replay, plan, _ChangedFrames(sink).add, on_progress)
        return sink


class _UndrawnReplay(ReplayScreen, inherit_bindings=False):
    """A replay whose frames are read: after the first one nothing is written for a terminal."""

    def _compositor_refresh(self) -> None:
        if not self.has_frame:
            super()._compositor_refresh()
        self._dirty_widgets.clear()


class _HeadlessApp(ReplayApp, inherit_bindings=False):
    """The app around a replay that stands still."""

    def __init__(
        self, journal: Journal, source: ReplaySource, session: Session, theme: str, home: str
    ) -> None:
        still = NotifySettings(bell=False, title=False, desktop="off")
        ui = UiSettings(
            theme=theme, density="normal", glyphs="unicode", motion="none", keymap={}, notify=still
        )
        super().__init__(journal, session, ui=ui, home=home, glyphs=UNICODE_GLYPHS)
        self.no_color = False
        feed = _SilentFeed(journal, lambda: None)
        self.replay = _UndrawnReplay(source, session, feed, Backend(), home)

    def make_main(self) -> MainScreen:
        return self.replay

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return none: a file has its own colours and characters, whatever this terminal has."""
        return ()


class HeadlessReplay:
    """A running replay that is moved by hand."""

    def __init__(self, app: _HeadlessApp, pilot: Pilot[int]) -> None:
        self._stage, self._screen, self._pilot = app, app.replay, pilot
        self._strips: Sequence[Strip] = ()
        self._rows: tuple[ScreenRow, ...] = ()

    @property
    def is_moving(self) -> bool:
        """Return whether something counts down or runs."""
        state = self._screen.state
        return seconds_until_change(state, state.source.now()) is not None

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
        await self._settle()

    async def _settle(self) -> None:
        """Wait until messages, workers, layouts and what they cause are done."""
        workers = self._stage.workers
        for _ in range(_SETTLE_ROUNDS):
            await workers.wait_for_complete()  # pyright: ignore[reportUnknownMemberType]
            await _until_handled()
            self._screen._on_timer_update()  # pyright: ignore[reportPrivateUsage]
            # What is shown of a row comes after its frame, which no clock of the film waits for.
            has_detail = not self._screen.before_input("")
            if has_detail and not _is_work_due() and all(worker.is_finished for worker in workers):
                return

    def frame(self, at: int) -> FilmFrame:
        """Return what the screen shows, as a frame at microseconds of the film."""
        strips = self._stage.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        paper, ink = self.colours
        before = dict(enumerate(zip(self._strips, self._rows, strict=True)))
        rows: list[ScreenRow] = []
        for number, strip in enumerate(strips):
            old, row = before.get(number, (None, ()))
            rows.append(row if strip == old else frame_row(strip, self._stage.size.width, ink, paper))
        self._strips, self._rows = strips, tuple(rows)
        return FilmFrame(at=at, recorded=self._screen.player.now, rows=self._rows, part=self._part_to_read())

    def _part_to_read(self) -> FramePart | None:
        """Return what asks, else the conversation; None where neither is on the screen."""
        screen = self._screen
        for pane in (
            (screen.approvals, screen.conversation) if screen.state.pending else (screen.conversation,)
        ):
            place = pane.region
            if pane.is_on_screen and place:
                return FramePart(left=place.x, top=place.y, width=place.width, height=place.height)
        return None

    @property
    def colours(self) -> tuple[str, str]:
        """Return the colours of paper and ink."""
        tokens = self._stage.ink.tokens
        return tokens.background, tokens.foreground

    @property
    def page_colors(self) -> dict[str, str]:
        """Return the colours of what a page draws around the screen."""
        tokens = self._stage.ink.tokens
        return {
            "info": tokens.info, "waiting": tokens.waiting, "ok": tokens.added, "failed": tokens.failed,
            "rule": tokens.rule,
        }  # fmt: skip


def _open_replay(options: FilmOptions) -> AbstractAsyncContextManager[HeadlessReplay]:
    return open_headless_replay(
        options.journal,
        options.source,
        options.session,
        theme=options.theme,
        size=options.size,
        home=str(Path.home()),
    )


async def _render_frames(
    options: FilmOptions,
    replay: HeadlessReplay,
    plan: FramePlan,
    add: Callable[[FilmFrame], None],
    on_progress: Callable[[str], None],
) -> None:
    timeline, film_clock = options.source.timeline, _film_clock(options, plan.indices[0])
    spare_frames, before = options.most - len(plan.indices), plan.indices[0]
    for number, index in enumerate(plan.indices, 1):
        for played in countdown_times(timeline.played(before), timeline.played(index)):
            if spare_frames <= 0 or not replay.is_moving:
                break
            spare_frames -= 1
            await replay.wait(played)
            add(replay.frame(film_clock(timeline.recorded_at(played), played)))
        await replay.go(index)
        add(replay.frame(film_clock(timeline.time(index), timeline.played(index))))
        before = index
        if options.on_frame is not None:
            options.on_frame(f"{number:,} of {len(plan.indices):,} moments drawn")
        if number % _FRAMES_PER_REPORT == 0:
            on_progress(f"{number} of {len(plan.indices)} moments.")


def _film_clock(options: FilmOptions, first: int) -> Callable[[int, int], int]:
    begins, played_before = options.source.timeline.time(first), options.source.timeline.played(first)
    if options.keeps_idle:
        return lambda recorded, _: max(0, recorded - begins)
    return lambda _, played: max(0, played - played_before)


def film_time(options: FilmOptions, index: int) -> int:
    """Return when a moment comes in a film that begins with the first one, microseconds."""
    timeline = options.source.timeline
    return _film_clock(options, 1)(timeline.time(index), timeline.played(index))


class _ChangedFrames:
    """Lets through the frames that show something new."""

    def __init__(self, sink: FrameSink) -> None:
        self._sink = sink
        self._last: tuple[ScreenRow, ...] | None = None

    def add(self, frame: FilmFrame) -> None:
        if self._last != frame.rows:
            self._last = frame.rows
            self._sink.add(frame)


def _film_header(options: FilmOptions, replay: HeadlessReplay, first: int) -> Film:
    timeline, film_clock = options.source.timeline, _film_clock(options, first)
    paper, ink = replay.colours
    marks = tuple(
        FilmMark(
            at=film_clock(timeline.time(mark.index), timeline.played(mark.index)),
            kind=mark.jump,
            sign=mark.sign,
            glyph=ICONS[mark.sign].unicode,
        )
        for mark in timeline.marks
        if mark.index >= first
    )
    gaps = () if options.keeps_idle else _film_gaps(timeline, first, film_clock)
    return Film(
        title=options.session.title or options.session.id[:8], width=options.size[0], height=options.size[1],
        ink=ink, paper=paper, colors=replay.page_colors, marks=marks, gaps=gaps,
        length=film_clock(timeline.time(len(timeline)), timeline.length),
    )  # fmt: skip


def _film_gaps(timeline: Timeline, first: int, film_clock: Callable[[int, int], int]) -> tuple[FilmGap, ...]:
    return tuple(
        FilmGap(at=film_clock(0, gap.begins), saved=gap.saved) for gap in timeline.gaps if gap.index >= first
    )


def _thinning_note(plan: FramePlan, timeline: Timeline, most: int) -> str:
    apart = duration_text(plan.apart / SECOND_MICROS)
    words = f"{len(timeline)} events make more than {most} frames: at most one in {apart}"
    words += f" is shown instead of one in {duration_text(MIN_FRAME_MICROS / SECOND_MICROS)}"
    words += "" if plan.has_marks else ", and not every mark has its own"
    return f"{words}. --frames takes more."


_SETTLE_ROUNDS: Final = 20
"""Layouts that one step may cause, at most: the second or third is the last one."""
T = TypeVar("T")


async def _until_handled() -> None:
    """Return when every message is handled: the loop has only timers and threads to wait for."""
    while True:
        await asyncio.sleep(0)
        if not _is_work_due():
            return


def _is_work_due() -> bool:
    # The pilot of the framework asks every widget with a message of its own: half of the time of a film.
    return bool(cast("_LoopWithQueue", asyncio.get_running_loop())._ready)  # pyright: ignore[reportPrivateUsage]


class _LoopWithQueue(Protocol):
    _ready: Sized
    """Callbacks to run at once."""


class _SilentFeed(JournalFeed):
    """Hears nothing of a journal that grows."""

    def start(self) -> None:
        """Listen to nothing."""


@asynccontextmanager
async def open_headless_replay(
    journal: Journal, source: ReplaySource, session: Session, *, theme: str, size: tuple[int, int], home: str
) -> AsyncGenerator[HeadlessReplay, None]:
    """Run the replay of a session, at its first moment."""
    app = _HeadlessApp(journal, source, session, theme, home)
    async with app.run_test(size=size) as pilot:
        replay = HeadlessReplay(app, pilot)
        await replay.ready()
        yield replay


def run_coroutine(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end."""
    return asyncio.run(work())


# --- what a strip shows -----------------------------------------------------------------------------


def frame_row(strip: Strip, width: int, ink: str, paper: str) -> ScreenRow:
    """Return a row of the screen with the colours it has there; `ink` and `paper` where it names none."""
    runs = (
        (text, _frame_look(style or Style.null(), ink, paper))
        for text, style, control in strip
        if not control
    )
    return screen_row(tuple(runs), width)


@lru_cache(maxsize=2048)
def _frame_look(style: Style, ink: str, paper: str) -> TextStyle:
    front, back = _hex_color(style.color, ink), _hex_color(style.bgcolor, paper)
    if style.reverse:
        front, back = back, front
    if style.dim:
        front = _mixed_color(front, back)
    return TextStyle(
        ink=front, paper=back, bold=bool(style.bold), italic=bool(style.italic),
        underline=bool(style.underline), strike=bool(style.strike),
    )  # fmt: skip


def _hex_color(colour: Color | None, otherwise: str) -> str:
    if colour is None or colour.is_default:
        return otherwise
    return colour.get_truecolor().hex


def _mixed_color(front: str, back: str) -> str:
    pairs = (
        (int(front[offset : offset + 2], 16), int(back[offset : offset + 2], 16)) for offset in (1, 3, 5)
    )
    return "#" + "".join(f"{(a + b) // 2:02x}" for a, b in pairs)
