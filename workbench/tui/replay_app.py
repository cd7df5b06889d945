"""The app of `workbench replay`: the same screen over a recording.

No decisions and no backend are made for it.
"""

from typing import TYPE_CHECKING, cast

from workbench.config.types import UiSettings
from workbench.domain.rows import Session
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp
from workbench.tui.backend import Backend, ReplayBackend
from workbench.tui.main.screen import MainScreen
from workbench.tui.replay.replay_screen import ReplayScreen, replay_screen_for

if TYPE_CHECKING:
    from workbench.tui.replay.side_by_side import Recording


class ReplayApp(WorkbenchApp, inherit_bindings=False):
    """The screen of one recording; leaving it ends the program."""

    def __init__(
        self,
        journal: Journal,
        session: Session,
        *,
        ui: UiSettings | None = None,
        home: str = "",
        at: int | None = None,
        speed: float = 1.0,
        remark: str = "",
        beside: "Recording | None" = None,
        backend: Backend | None = None,
        **more: object,
    ) -> None:
        """Compose the replay of a session.

        Args:
            journal: An open journal; it is only read.
            session: Which.
            ui: The settings of the screen.
            home: The user's home folder, shown as `~`.
            at: The moment it begins at, and is paused; None plays from the beginning.
            speed: One of `views.player.SPEEDS`.
            remark: What is said when it begins; empty for nothing.
            beside: Another session, and where it is, that is shown in step with it at first.
            backend: What reaches outside; only its clipboard and its fork are used.
            more: The colours and characters of the terminal; what a test sets: signs, the clock.
        """
        self._live_backend, self._beside = backend, beside
        super().__init__(journal, ReplayBackend(backend), session.workspace, ui=ui, home=home, **more)  # type: ignore[arg-type]
        self._session, self._at, self._speed, self._remark = session, at, speed, remark

    @property
    def backend_of_replays(self) -> Backend | None:
        return self._live_backend

    def make_main(self) -> MainScreen:
        screen: ReplayScreen = replay_screen_for(self._journal, self._session, self._home, self._live_backend)
        screen.player.speed = self._speed
        if self._at is not None:
            screen.player.toggle()
            screen.source.complete()
            screen.player.seek(self._at)
        if self._remark:
            screen.call_after_refresh(screen.say, self._remark)
        if self._beside is not None:
            screen.call_after_refresh(self._open_beside, self._beside)
        return screen

    def _open_beside(self, other: "Recording") -> None:
        """Show two recordings in step over the replay of the first."""
        from workbench.tui.replay.side_by_side import SideBySideScreen

        timeline = cast("ReplayScreen", self.main).player.timeline
        share = (
            0.0 if self._at is None or not timeline.length else timeline.played(self._at) / timeline.length
        )
        self.push_screen(SideBySideScreen((self._journal, self._session), other, share, self._live_backend))
