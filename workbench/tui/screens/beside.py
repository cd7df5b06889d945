"""Two replays side by side, in step: the conversation and the calls of each, one bar below.

Owns the second recording. It reads, like every replay; nothing here answers, asks or runs.
"""

from collections.abc import Iterable
from typing import Any, Final, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer

from workbench.domain.rows import Session
from workbench.journal.journal import Journal
from workbench.tui import keymap
from workbench.tui.live import FRAMES
from workbench.tui.messages import Said
from workbench.tui.panes.base import Pane
from workbench.tui.panes.conversation import ConversationPane
from workbench.tui.panes.footer import Footer, FooterKey
from workbench.tui.panes.shown import ConversationShown, ToolsShown
from workbench.tui.panes.tools import ToolsPane
from workbench.tui.panes.transport import ReplayHeader, TransportBar
from workbench.tui.replay_source import FORWARD, ReplaySource
from workbench.tui.screens.replay import TAIL, is_off, refusal
from workbench.tui.state import State
from workbench.tui.widgets.divider import Divider
from workbench.views import transport
from workbench.views.instep import InStep
from workbench.views.marks import Jump
from workbench.views.player import Player

_KEYS: Final = (
    "replay.play", "replay.event-previous", "replay.time-back", "replay.slower", "replay.mark-next",
    "replay.prompt-next", "replay.leave",
)  # fmt: skip


class Side:
    """One of the two: its recording, and the panes that show it."""

    def __init__(self, journal: Journal, session: Session, key: str) -> None:
        self.session, self.source = session, ReplaySource(journal, session)
        self.state = State(self.source)
        self.conversation = ConversationPane(key=f"{key}-conversation")
        self.tools = ToolsPane(key=f"{key}-tools")

    @property
    def panes(self) -> tuple[Pane, ...]:
        """Return its panes."""
        return self.conversation, self.tools

    def load(self, index: int) -> None:
        """Read a moment as a whole."""
        self.source.seek(index)
        self.state.load(self.session.id, TAIL)
        self.show(None)

    def go(self, index: int) -> None:
        """Show a moment: what came until a near later one is folded, any other is read."""
        source = self.source
        if index == source.index:
            return
        if source.index < index <= source.index + FORWARD:
            self.show(frozenset(self.state.apply(source.go_on(index)).blocks))
        else:
            self.load(index)

    def show(self, changed: frozenset[str] | None) -> None:
        """Show conversation and calls."""
        state, now = self.state, self.source.now()
        self.conversation.show(
            ConversationShown(session=state.current, transcript=state.shown, changed=changed, now=now)
        )
        self.tools.show(
            ToolsShown(
                session=state.current, calls=state.calls, actions=state.actions, now=now,
                earlier=state.earlier_calls,
            )
        )  # fmt: skip


class BesideScreen(Screen[None], inherit_bindings=False):
    """Two recordings and one bar."""

    BINDINGS = keymap.bindings("replay", is_first=True)
    DEFAULT_CSS = """
    BesideScreen #beside-body { height: 1fr; }
    BesideScreen .beside-side { width: 1fr; }
    BesideScreen ConversationPane { height: 1fr; }
    BesideScreen ToolsPane { height: 8; }
    """

    def __init__(self, journal: Journal, one: Session, other: Session) -> None:
        super().__init__(id="beside")
        self.one, self.other = Side(journal, one, "one"), Side(journal, other, "other")
        # The longer one leads: at its end both have been seen whole.
        is_first = self.one.source.reel.length >= self.other.source.reel.length
        self.leads, self.follows = (self.one, self.other) if is_first else (self.other, self.one)
        self.player = Player(self.leads.source.reel)
        self.step = InStep(self.player, self.follows.source.reel)
        title = f"{one.title or one.id[:8]}  |  {other.title or other.id[:8]}"
        self.header = ReplayHeader(title, "two sessions in step")
        self.bar, self.footer = TransportBar(self.leads.source.reel), Footer()
        self._why = refusal(self.one.source.reel.time(0))
        self._timer: Timer | None = None
        self._ticked = 0.0
        for pane in (*self.one.panes, *self.other.panes):
            pane.forbids, pane.is_past = self._forbids, True

    def _forbids(self, key_id: str) -> str:
        return self._why if is_off(key_id) else ""

    def compose(self) -> ComposeResult:
        """Yield both columns and the bar."""
        yield self.header
        with Horizontal(id="beside-body"):
            with Vertical(classes="beside-side"):
                yield from self.one.panes
            yield Divider(id="beside-divider")
            with Vertical(classes="beside-side"):
                yield from self.other.panes
        yield self.bar
        yield self.footer

    def on_mount(self) -> None:
        """Show both beginnings."""
        self.leads.load(self.player.index)
        self.follows.load(self.step.index)
        self.one.conversation.focus_view.focus()
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
        self.leads.source.set_clock(self.player.now)
        place = "right" if self.follows is self.other else "left"
        self.header.show_moment(f"{self.step.index:,} of {len(self.step.other):,} on the {place}")
        self.bar.show(transport.transport(self.player, self._next_words()))

    def _next_words(self) -> str:
        mark = self.player.reel.jump(self.player.index, None, 1)
        return "" if mark is None else self.leads.source.words_at(mark.index)

    def _moved(self) -> None:
        self._ticked = self._monotonic()
        if self._timer is not None:
            self._timer.resume() if self.player.is_playing else self._timer.pause()
        self.footer.show(list(self._footer_keys()), None)

    def _footer_keys(self) -> Iterable[FooterKey]:
        for key_id in _KEYS:
            key = keymap.table()[key_id]
            label = "pause" if key_id == "replay.play" and self.player.is_playing else key.label
            yield FooterKey(keys=keymap.shown(key, keymap.users_of(self)), label=label)

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
        """Go to a mark of the longer one; a prompt is set beside the same prompt of the other."""
        found = self.step.to_prompt(step) if kind == "prompt" else self.player.jump(kind, step) is not None
        if not found:
            self.say(f"No {'later' if step > 0 else 'earlier'} {kind or 'mark'}.")
            return
        self.went(self.player.index)

    def ask_time(self) -> None:
        """Say where a moment can be named."""
        self.say("A moment is named in a replay of one session: esc goes there.")

    def ask_fork(self) -> None:
        """Say where a fork can be made."""
        self.say("A fork is made in a replay of one session: esc goes there.")

    def follow(self) -> None:
        """Go to the end of both."""
        self.went(self.player.seek(len(self.player.reel)))

    def leave(self) -> None:
        """Go back to the replay of the first."""
        self.dismiss()

    def say(self, text: str) -> None:
        """Say a sentence where it does not cover anything."""
        self.footer.show([FooterKey(keys="", label=text)], None)

    @on(Said)
    def _said(self, message: Said) -> None:
        self.say(message.text)

    @on(TransportBar.Clicked)
    def _bar_clicked(self, message: TransportBar.Clicked) -> None:
        reel = self.player.reel
        self.went(self.player.seek(reel.index_played(reel.length * message.share)))

    def action_do(self, key_id: str) -> None:
        """Do what the table says; nothing that begins or answers something."""
        if is_off(key_id):
            self.say(self._why)
            return
        keymap.run(key_id, self)
