"""Two replays side by side, in step: the same part of each, one bar below.

Owns which part is compared, and the second recording. It reads, like every replay; nothing here answers or
runs. Forks and films are of the one that has the keys.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.timer import Timer

from workbench.domain.rows import Session
from workbench.journal.journal import Journal
from workbench.tui import keymap, messages
from workbench.tui.live import FRAMES
from workbench.tui.panes.footer import Footer, FooterKey
from workbench.tui.panes.linebar import LineBar
from workbench.tui.panes.transport import ReplayHeader, TransportBar
from workbench.tui.screens.filming import Filming
from workbench.tui.screens.forking import Forking
from workbench.tui.screens.replay import NO_MOMENT, is_off, refusal, time_asked
from workbench.tui.screens.requests import Requests
from workbench.tui.screens.side import ALONE, Side, View
from workbench.tui.services import Services
from workbench.tui.widgets.divider import Divider
from workbench.views import transport
from workbench.views.instep import InStep
from workbench.views.marks import Jump
from workbench.views.player import Player, moment
from workbench.views.sessions import title_of

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

Recording = tuple[Journal, Session]
"""A session and the journal that it is in: a file that is replayed has one of its own."""

_KEYS: Final = (
    "replay.play", "replay.event-previous", "replay.time-back", "replay.slower", "replay.mark-next",
    "replay.prompt-next", "beside.conversation", "beside.approvals", "beside.tools", "beside.pipeline",
    "beside.other", "replay.leave",
)  # fmt: skip


class BesideScreen(Screen[None], inherit_bindings=False):
    """Two recordings and one bar."""

    AUTO_FOCUS = ""
    BINDINGS = keymap.bindings("beside", "replay", is_first=True) + keymap.bindings("app")
    DEFAULT_CSS = """
    BesideScreen #beside-body { height: 1fr; }
    BesideScreen .beside-side { width: 1fr; }
    BesideScreen Pane { height: 1fr; }
    """

    def __init__(
        self, one: Recording, other: Recording, share: float = 0.0, live: Services | None = None
    ) -> None:
        """Show two recordings.

        Args:
            one: the left one.
            other: the right one.
            share: where both stand at first, 0 to 1 of the played time of the longer one.
            live: what reaches outside for sessions of the left one's journal; only fork and film are used.
        """
        super().__init__(id="beside")
        self.one, self.other = (
            Side(*side, self.say, live if side[0] is one[0] else None) for side in (one, other)
        )
        self.services, self.requests = Services(), Requests(cast("MainScreen", self))
        # The longer one leads: at its end both have been seen whole.
        is_first = self.one.source.reel.length >= self.other.source.reel.length
        self.leads, self.follows = (self.one, self.other) if is_first else (self.other, self.one)
        self.player = Player(self.leads.source.reel)
        if share:
            self.player.seek(self.player.reel.index_played(self.player.reel.length * share))
        self.step = InStep(self.player, self.follows.source.reel)
        names = [side.session.title or side.session.id[:8] for side in self.sides]
        self.header = ReplayHeader("  |  ".join(names), "two sessions in step")
        self.bar, self.footer = TransportBar(self.leads.source.reel), Footer()
        self.line_bar = LineBar()
        self.line_bar.display = False
        self._why = refusal(self.one.source.reel.time(0))
        self._had_keys = self.one
        self._timer: Timer | None = None
        self._ticked = 0.0
        self._second = -1

    @property
    def sides(self) -> tuple[Side, Side]:
        """Return both, as they stand from left to right."""
        return self.one, self.other

    def compose(self) -> ComposeResult:
        """Yield both columns and the bar."""
        yield self.header
        with Horizontal(id="beside-body"):
            yield self.one
            yield Divider(key="beside-divider")
            yield self.other
        yield self.bar
        yield self.line_bar
        yield self.footer

    def on_mount(self) -> None:
        """Show both beginnings: the graphs of two runs, else the conversations."""
        self.leads.load(self.player.index)
        self.follows.load(self.step.index)
        are_runs = all(side.session.kind == "pipeline" for side in self.sides)
        self.look("pipeline" if are_runs else "conversation")
        self.one.focus_view.focus()
        self._ticked = self._monotonic()
        self._timer = self.set_interval(1 / FRAMES, self._frame, pause=True)
        self.show_moment()
        self._moved()

    def _monotonic(self) -> float:
        return float(cast("Any", self).app.monotonic())

    # --- the moment -----------------------------------------------------------------------------

    def _frame(self) -> None:
        now = self._monotonic()
        passed, self._ticked = now - self._ticked, now
        self.go(self.player.tick(passed))
        if not self.player.is_playing:
            self._moved()

    def go(self, index: int) -> None:
        """Show a moment of the longer one, and of the other what belongs to it."""
        self.leads.go(index)
        self.follows.go(self.step.index)
        self.show_moment()

    def show_moment(self) -> None:
        """Show where both are."""
        self._tick()
        place = "right" if self.follows is self.other else "left"
        self.header.show_moment(f"{self.step.index:,} of {len(self.step.other):,} on the {place}")
        self.bar.show(transport.transport(self.player, self._next_words()))

    def _tick(self) -> None:
        then = self.step.other.recorded_at(self.step.played)
        second = int(self.player.played) // 1_000_000
        if second != self._second:
            self._second = second
            self.leads.tick(self.player.now)
            self.follows.tick(then)

    def _next_words(self) -> str:
        mark = self.player.reel.jump(self.player.index, None, 1)
        return "" if mark is None else self.leads.source.words_at(mark.index)

    def _moved(self) -> None:
        self._ticked = self._monotonic()
        if self._timer is not None:
            self._timer.resume() if self.player.is_playing else self._timer.pause()
        self._show_keys()

    def _show_keys(self) -> None:
        users = keymap.users_of(self)
        right = FooterKey(keys=keymap.shown(keymap.table()["beside.help"], users), label="keys")
        self.footer.show(list(self._footer_keys()), right)

    def _footer_keys(self) -> Iterable[FooterKey]:
        for key_id in _KEYS:
            key = keymap.table()[key_id]
            label = "pause" if key_id == "replay.play" and self.player.is_playing else key.label
            if key_id != f"beside.{self.one.view}":
                yield FooterKey(keys=keymap.shown(key, keymap.users_of(self)), label=label)

    # --- what is compared -------------------------------------------------------------------------

    def look(self, view: View) -> None:
        """Compare another part of the two."""
        at = self.focused_side
        for side in self.sides:
            side.look(view)
        if at is not None:
            at.focus_view.focus()
        self._show_keys()

    @property
    def focused_side(self) -> Side | None:
        """Return the one that has the keys."""
        return next((side for side in self.sides if side.has_focus_within), None)

    def to_other(self) -> None:
        """Give the keys to the other one."""
        other = self.one if self.focused_side is self.other else self.other
        other.focus_view.focus()

    def open_help(self) -> None:
        """Show the keys."""
        from workbench.tui.screens.help import HelpScreen

        side = self.focused_side or self.one
        pane = next((one for one in side.panes if one.has_pane_focus), None)
        scopes = pane.scopes() if pane is not None else ()
        keys = keymap.of_scopes(["beside", "replay", *scopes])
        cast("Any", self).app.push_screen(HelpScreen("Two sessions side by side", keys, pane))

    @on(messages.DetailWanted)
    def _detail_wanted(self, message: messages.DetailWanted) -> None:
        for side in self.sides:
            if message.action_id == side.approvals.queue.cursor:
                side.showing.detail(message.action_id)

    @on(messages.ToolWanted)
    def _tool_wanted(self, message: messages.ToolWanted) -> None:
        for side in self.sides:
            side.show_call(message.call_id)

    @on(messages.StepWanted)
    def _step_wanted(self, message: messages.StepWanted) -> None:
        for side in self.sides:
            side.show_step(message.step or "")

    # --- what the keys do -------------------------------------------------------------------------

    def toggle(self) -> None:
        """Play, or pause."""
        self.player.toggle()
        self.went(self.player.index)

    def went(self, index: int) -> None:
        """Show where the player went."""
        self.go(index)
        self._moved()

    def jump(self, kind: Jump | None, step: int) -> None:
        """Go to a mark of the longer one; a prompt is set beside the same prompt of the other.

        While words are looked for on the side that has the keys, the next mark is its next place.
        """
        side = self.focused_side
        if kind is None and side is not None and side.conversation.is_found_from_here:
            side.conversation.go_to_hit(step)
            return
        found = self.step.to_prompt(step) if kind == "prompt" else self.player.jump(kind, step) is not None
        if not found:
            self.say(f"No {'later' if step > 0 else 'earlier'} {kind or 'mark'}.")
            return
        self.went(self.player.index)

    def ask_time(self) -> None:
        """Ask for a moment of the longer one; the other goes along."""
        self.post_message(time_asked(self))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Go to the moment that was typed."""
        del purpose
        if not is_final or not text:
            return
        index = moment(text, self.player.reel)
        index = self.leads.source.noted(text) if index is None else index
        if index is None:
            self.say(NO_MOMENT)
            return
        self.went(self.player.seek(index))

    def line_dropped(self, purpose: str) -> None:
        """Stay."""
        del purpose

    def ask_fork(self) -> None:
        """Ask for a folder for the files of this moment of the one that has the keys."""
        side = self.focused_side or self.one
        position = side.source.position()
        asked = Forking(self, side.session.id, lambda: position, side.live)
        asked.ask(f"Fork “{title_of(side.session)}” from event {side.source.index:,}")

    def ask_film(self) -> None:
        """Ask for the file of a film, or of a picture of this moment, of the one that has the keys."""
        side = self.focused_side or self.one
        size, theme = (self.size.width, self.size.height), cast("Any", self).app.theme
        Filming(self, side.session, side.source.index, size, theme, side.live).ask()

    # --- the line at the bottom -------------------------------------------------------------------

    @on(messages.LineAsked)
    def _line_asked(self, message: messages.LineAsked) -> None:
        self.bar.display = self.footer.display = False
        self._had_keys = self.focused_side or self.one
        self.line_bar.ask(message)

    @on(LineBar.Heard)
    def _line_heard(self, message: LineBar.Heard) -> None:
        if message.is_final:
            self._close_line()
        message.asked.pane.line_heard(message.asked.purpose, message.text, is_final=message.is_final)

    @on(LineBar.Dropped)
    def _line_dropped(self, message: LineBar.Dropped) -> None:
        self._close_line()
        message.asked.pane.line_dropped(message.asked.purpose)

    def _close_line(self) -> None:
        self.line_bar.close()
        self.bar.display = self.footer.display = True
        self._show_keys()
        self._had_keys.focus_view.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave letters to a line that is being typed."""
        if action == "do" and self.line_bar.asked is not None:
            return not str(parameters[0]).startswith(("replay.", "beside."))
        return super().check_action(action, parameters)

    def follow(self) -> None:
        """Go to the end of both."""
        self.went(self.player.seek(len(self.player.reel)))

    def leave(self) -> None:
        """Look for no words any more, or go back to where it was opened."""
        finding = [side.conversation for side in self.sides if side.conversation.finding.text]
        for conversation in finding:
            conversation.end_finding()
        if not finding:
            self.dismiss()

    def say(self, text: str) -> None:
        """Say a sentence where it does not cover anything."""
        self.footer.show([FooterKey(keys="", label=text)], None)

    @on(messages.Said)
    def _said(self, message: messages.Said) -> None:
        self.say(message.text)

    @on(TransportBar.Clicked)
    def _bar_clicked(self, message: TransportBar.Clicked) -> None:
        reel = self.player.reel
        self.went(self.player.seek(reel.index_played(reel.length * message.share)))

    def action_do(self, key_id: str) -> None:
        """Do what the table says; nothing that begins or answers something."""
        if is_off(key_id):
            self.say(self._why)
        elif key_id == "app.redraw":
            self.refresh(layout=True)
        elif key_id.startswith("app."):
            self.say(ALONE)
        else:
            keymap.run(key_id, self)
