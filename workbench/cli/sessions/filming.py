"""A session filmed: the moments chosen, each looked at once, frames that show nothing new left out.

Owns the bounds of a film and what is said about them on the way. What is on a frame is the screen's.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, Protocol, TypeVar

from workbench.cli.sessions.camera import Camera, filming
from workbench.domain.rows import Session
from workbench.formats.film.model import Film, Frame, Gap, Mark, Row
from workbench.journal.journal import Journal
from workbench.records import dataclass
from workbench.text.human import duration
from workbench.tui.replay_source import ReplaySource
from workbench.views.reel import Reel
from workbench.views.shots import FINEST, MOST, Plan, plan, ticks

_TOLD_EVERY: Final = 100
"""Frames between two words on how far it is."""
_SECOND: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shoot:
    """What is filmed, and how."""

    journal: Journal
    source: ReplaySource
    session: Session
    theme: str
    size: tuple[int, int]
    most: int = MOST
    """Frames, at most."""
    keeps_idle: bool = False
    """Whether idle times last as long as they did."""


class Sink(Protocol):
    """What takes the frames of a film as they are made."""

    def add(self, frame: Frame) -> None:
        """Take the next one."""
        ...


S = TypeVar("S", bound=Sink)


async def still(shoot: Shoot, index: int) -> tuple[Film, Frame]:
    """Return the picture of one moment, and what is said of it."""
    async with _camera(shoot) as camera:
        await camera.go(index)
        return _film(shoot, camera, index), camera.frame(0)


async def film(shoot: Shoot, first: int, make: Callable[[Film], S], tell: Callable[[str], None]) -> S:
    """Film a session; a frame is given on as soon as it is made, and not kept.

    Args:
        shoot: What and how.
        first: The moment it begins with.
        make: Makes what takes the frames, from what is said of all of the film.
        tell: Is told how far it is, and what was left out.
    """
    reel = shoot.source.reel
    chosen = plan(reel, first, shoot.most)
    if chosen.is_thinned:
        tell(_thinned(chosen, reel, shoot.most))
    async with _camera(shoot) as camera:
        sink = make(_film(shoot, camera, first))
        await _frames(shoot, camera, chosen, _New(sink).add, tell)
        return sink


def _camera(shoot: Shoot) -> AbstractAsyncContextManager[Camera]:
    return filming(
        shoot.journal, shoot.source, shoot.session, theme=shoot.theme, size=shoot.size, home=str(Path.home())
    )


async def _frames(
    shoot: Shoot, camera: Camera, chosen: Plan, add: Callable[[Frame], None], tell: Callable[[str], None]
) -> None:
    reel, at = shoot.source.reel, _timeline(shoot, chosen.indices[0])
    spare, before = shoot.most - len(chosen.indices), chosen.indices[0]
    for number, index in enumerate(chosen.indices, 1):
        for played in ticks(reel.played(before), reel.played(index)):
            if spare <= 0 or not camera.is_moving:
                break
            spare -= 1
            await camera.wait(played)
            add(camera.frame(at(reel.recorded_at(played), played)))
        await camera.go(index)
        add(camera.frame(at(reel.time(index), reel.played(index))))
        before = index
        if number % _TOLD_EVERY == 0:
            tell(f"{number} of {len(chosen.indices)} moments.")


def _timeline(shoot: Shoot, first: int) -> Callable[[int, int], int]:
    """Return what makes a recorded and a played time one of the film, in microseconds."""
    begins, played_before = shoot.source.reel.time(first), shoot.source.reel.played(first)
    if shoot.keeps_idle:
        return lambda recorded, _: max(0, recorded - begins)
    return lambda _, played: max(0, played - played_before)


def time_of(shoot: Shoot, index: int) -> int:
    """Return when a moment comes in a film that begins with the first one, microseconds."""
    reel = shoot.source.reel
    return _timeline(shoot, 1)(reel.time(index), reel.played(index))


class _New:
    """Lets through the frames that show something new."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._last: tuple[Row, ...] | None = None

    def add(self, frame: Frame) -> None:
        """Give a frame on unless it shows what the last one does."""
        if self._last != frame.rows:
            self._last = frame.rows
            self._sink.add(frame)


def _film(shoot: Shoot, camera: Camera, first: int) -> Film:
    reel, at = shoot.source.reel, _timeline(shoot, first)
    paper, ink = camera.colours
    marks = tuple(
        Mark(at=at(reel.time(mark.index), reel.played(mark.index)), kind=mark.jump, sign=mark.sign)
        for mark in reel.marks
        if mark.index >= first
    )
    gaps = () if shoot.keeps_idle else _gaps(reel, first, at)
    return Film(
        title=shoot.session.title or shoot.session.id[:8], width=shoot.size[0], height=shoot.size[1], ink=ink,
        paper=paper, marks=marks, gaps=gaps,
        length=at(reel.time(len(reel)), reel.length),
    )  # fmt: skip


def _gaps(reel: Reel, first: int, at: Callable[[int, int], int]) -> tuple[Gap, ...]:
    return tuple(Gap(at=at(0, gap.begins), saved=gap.saved) for gap in reel.gaps if gap.index >= first)


def _thinned(chosen: Plan, reel: Reel, most: int) -> str:
    apart = duration(chosen.apart / _SECOND)
    words = f"{len(reel)} events make more than {most} frames: at most one in {apart}"
    words += f" is shown instead of one in {duration(FINEST / _SECOND)}"
    words += "" if chosen.has_marks else ", and not every mark has its own"
    return f"{words}. --frames takes more."
