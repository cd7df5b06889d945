"""Two replays side by side, in step: the same part of each, one bar below."""

# Beside another session, a queue holds its own questions. The queue of a workspace would show the questions
# of both in both columns; two files stand side by side from two data folders of their own.

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer

from workbench.domain.rows import Action, Session
from workbench.journal.journal import Journal
from workbench.text import human
from workbench.text.human import SECOND_MICROS
from workbench.tui import pane
from workbench.tui.approvals.approvals_pane import ApprovalsPane
from workbench.tui.backend import Backend, ReplayBackend
from workbench.tui.compositor import LayoutCompositor
from workbench.tui.conversation.conversation_pane import ConversationPane
from workbench.tui.journal_source import MAX_FRAMES_PER_SECOND
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.footer_keys import FooterKey
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.library.export_prompt import ExportPrompt
from workbench.tui.library.fork_prompt import ForkPrompt
from workbench.tui.main.context import SessionPanes, WorkspaceStatus
from workbench.tui.main.presenter import SessionPresenter
from workbench.tui.main.prompt_bar import PromptBar
from workbench.tui.main.tasks import BackgroundTasks
from workbench.tui.pane import Pane
from workbench.tui.pipeline.pipeline_pane import PipelinePane
from workbench.tui.render_context import are_agents_held
from workbench.tui.replay.replay_bar import ReplayBar, ReplayHeader
from workbench.tui.replay.replay_screen import (
    NO_SUCH_MOMENT,
    TAIL_EVENTS,
    RefusedDecisions,
    is_off_in_replay,
    moment_prompt,
    refusal_sentence,
)
from workbench.tui.replay.replay_source import MAX_FORWARD_EVENTS, ReplaySource
from workbench.tui.state import ScreenState, StateChange
from workbench.tui.tools.tools_pane import ToolsPane
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.hold_view import HoldView
from workbench.tui.widgets.pane_frame import Divider
from workbench.views import replay
from workbench.views.replay import Player, SyncedReplay, parse_replay_moment
from workbench.views.sessions import session_title
from workbench.views.timeline import MarkKind

ComparedPart = Literal["conversation", "approvals", "tools", "pipeline"]
"""What is compared: conversation over calls, the queue with its detail, the calls, the graph."""
_PANES_OF_PART: Final[dict[ComparedPart, frozenset[int]]] = {
    "conversation": frozenset({ConversationPane.PLACE, ToolsPane.PLACE}),
    "approvals": frozenset({ApprovalsPane.PLACE}),
    "tools": frozenset({ToolsPane.PLACE}),
    "pipeline": frozenset({PipelinePane.PLACE}),
}
NOT_SIDE_BY_SIDE: Final = "Two sessions stand beside each other: that is for one alone. esc leads there."
"""Said of keys that lead deeper, or elsewhere."""


_KEYS_OF_ONE_SESSION: Final = frozenset({
    "list.open", "conversation.fork", "pipeline.artifact", "pipeline.launch", "pipeline.compare",
    "pipeline.run-older", "pipeline.run-newer", "pipeline.answer", "pipeline.all-sessions",
    "tools.all-sessions",
})  # fmt: skip


class OwnQueueSource(ReplaySource):
    """A recording whose queue holds what it, and what it began, asked: what others asked is not compared."""

    def is_listed(self, action: Action) -> bool:
        key, seen = action.session_id, set[str]()
        while key != self.session_id:
            session = self.session(key)
            if session is None or session.parent_id is None or key in seen:
                return False
            seen.add(key)
            key = session.parent_id
        return True


class ReplayColumn(Vertical):
    """A column: four panes of one recording, of which those that are compared are on the screen."""

    def __init__(
        self, journal: Journal, session: Session, say: Callable[[str], None], live: Backend | None = None
    ) -> None:
        super().__init__(classes="beside-side")
        self.session, self.source = session, OwnQueueSource(journal, session)
        self.state = ScreenState(self.source)
        self.conversation, self.tools = ConversationPane(key="conversation"), ToolsPane(key="tools")
        self.approvals, self.pipeline = ApprovalsPane(key="approvals"), PipelinePane(key="pipeline")
        why = refusal_sentence(self.source.timeline.time(0))
        self.backend = ReplayBackend(live)
        """What forks and films: of a file that is only lent, nothing does."""
        panes = SessionPanes(
            conversation=self.conversation, approvals=self.approvals, tools=self.tools,
            pipeline=self.pipeline,
        )  # fmt: skip
        self.presenter = SessionPresenter(
            self.state, panes, WorkspaceStatus(pipelines_found=0), RefusedDecisions(why).edited_hunks, say
        )
        self.conversation.presenter = self.presenter
        self.view: ComparedPart = "conversation"
        self._why = why
        for widget in self.panes:
            widget.forbids, widget.is_past, widget.is_compared = self._forbids, True, True

    def _forbids(self, key_id: str) -> str:
        if key_id in _KEYS_OF_ONE_SESSION:
            return NOT_SIDE_BY_SIDE
        return self._why if is_off_in_replay(key_id) else ""

    @property
    def panes(self) -> Sequence[Pane]:
        """Return its panes."""
        return self.conversation, self.approvals, self.tools, self.pipeline

    def compose(self) -> Any:
        yield from self.panes

    @property
    def focus_view(self) -> Any:
        """Return what has the keys of what is compared."""
        return next(pane for pane in self.panes if pane.PLACE in _PANES_OF_PART[self.view]).focus_view

    # --- the moment -----------------------------------------------------------------------------

    def load(self, index: int) -> None:
        """Read a moment as a whole."""
        self.source.seek(index)
        self.state.load(self.session.id, TAIL_EVENTS)
        self.everything()

    def go(self, index: int) -> None:
        """Show a moment: what came until a near later one is folded, any other is read."""
        source = self.source
        if index == source.index:
            return
        if source.index < index <= source.index + MAX_FORWARD_EVENTS:
            self._show(self.state.apply(source.go_on(index)))
        else:
            self.load(index)

    def look(self, view: ComparedPart) -> None:
        """Compare something else."""
        self.view = view
        for widget in self.panes:
            widget.display = widget.PLACE in _PANES_OF_PART[view]
        self.tools.styles.height = 8 if view == "conversation" else "1fr"
        self.everything()

    def everything(self) -> None:
        """Show what is compared, as after going to another moment."""
        self._show(None)

    def _show(self, changed: StateChange | None) -> None:
        shown, presenter = _PANES_OF_PART[self.view], self.presenter
        if 1 in shown:
            presenter.conversation(None if changed is None else frozenset(changed.blocks))
        if 2 in shown:
            presenter.queue(changed or StateChange())
            presenter.detail(self.approvals.queue.cursor)
        if 3 in shown:
            presenter.tools()
        if 4 in shown:
            presenter.pipeline()

    def show_call(self, call_id: str | None) -> None:
        """Show a call in full, if it is the one under the cursor here."""
        shown = self.presenter.call_in_full(call_id) if call_id == self.tools.list.cursor else None
        if shown is not None:
            self.tools.show_detail(shown)

    def show_step(self, drawn: str) -> None:
        """Show a step in full, if it is the one under the cursor here."""
        if self.pipeline.run is not None and drawn == self.pipeline.graph.cursor:
            self.pipeline.show_step(self.presenter.step_in_full(drawn))

    def tick(self, now: int) -> None:
        """Show what counts down or runs at a time between two events."""
        self.source.set_clock(now)
        for widget in self.panes:
            if widget.display:
                widget.tick(now)
        if self.pipeline.display and self.state.runs.looks_otherwise(now):
            self.presenter.pipeline()


Recording = tuple[Journal, Session]
"""A session and the journal that it is in: a file that is replayed has one of its own."""
_FOOTER_KEYS: Final = (
    "replay.play", "replay.event-previous", "replay.time-back", "replay.slower", "replay.mark-next",
    "replay.prompt-next", "beside.conversation", "beside.approvals", "beside.tools", "beside.pipeline",
    "beside.other", "replay.leave",
)  # fmt: skip


class SideBySideScreen(Screen[None], KeyOwner, HoldView, inherit_bindings=False):
    """Two recordings and one bar."""

    AUTO_FOCUS = ""
    is_recording = True
    BINDINGS = keymap.bindings("beside", "replay", is_first=True) + keymap.bindings("app")
    DEFAULT_CSS = """
    SideBySideScreen #beside-body { height: 1fr; }
    SideBySideScreen .beside-side { width: 1fr; }
    SideBySideScreen Pane { height: 1fr; }
    """

    def __init__(
        self, one: Recording, other: Recording, share: float = 0.0, live: Backend | None = None
    ) -> None:
        """Show two recordings.

        Args:
            one: the left one.
            other: the right one.
            share: where both stand at first, 0 to 1 of the played time of the longer one.
            live: what reaches outside for sessions of the left one's journal; only fork and film are used.
        """
        super().__init__(id="beside")
        self._compositor = LayoutCompositor()
        self.one, self.other = (
            ReplayColumn(*side, self.say, live if side[0] is one[0] else None) for side in (one, other)
        )
        # The longer one leads: at its end both have been seen whole.
        is_first = self.one.source.timeline.length >= self.other.source.timeline.length
        self.leads, self.follows = (self.one, self.other) if is_first else (self.other, self.one)
        self.player = Player(self.leads.source.timeline)
        if share:
            self.player.seek(self.player.timeline.index_played(self.player.timeline.length * share))
        self.step = SyncedReplay(self.player, self.follows.source.timeline)
        names = [side.session.title or side.session.id[:8] for side in self.sides]
        self.header = ReplayHeader("  |  ".join(names), "two sessions in step")
        self.bar, self.footer = ReplayBar(self.leads.source.timeline), Footer()
        self.line_bar = PromptBar(self._line_closed)
        self.line_bar.display = False
        self._why = refusal_sentence(self.one.source.timeline.time(0))
        self._had_keys = self.one
        self._timer: Timer | None = None
        self._ticked = 0.0
        self._second = -1

    @property
    def sides(self) -> tuple[ReplayColumn, ReplayColumn]:
        """Return both, as they stand from left to right."""
        return self.one, self.other

    def compose(self) -> ComposeResult:
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
        self._timer = self.set_interval(1 / MAX_FRAMES_PER_SECOND, self._frame, pause=True)
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
        self.show_hold()
        self.header.show_moment(f"{self.step.index:,} of {len(self.step.other):,} on the {place}")
        self.bar.show(replay.replay_status(self.player, self._next_words()))

    def show_hold(self) -> None:
        was_held = any(side.state.are_agents_held for side in self.sides)
        self.header.show_hold(is_held_now=are_agents_held(self), was_held=was_held)

    def _tick(self) -> None:
        then = self.step.other.recorded_at(self.step.played)
        second = int(self.player.played) // SECOND_MICROS
        if second != self._second:
            self._second = second
            self.leads.tick(self.player.now)
            self.follows.tick(then)

    def _next_words(self) -> str:
        mark = self.player.timeline.jump(self.player.index, None, 1)
        return "" if mark is None else self.leads.source.words_at(mark.index)

    def _moved(self) -> None:
        self._ticked = self._monotonic()
        if self._timer is not None:
            self._timer.resume() if self.player.is_playing else self._timer.pause()
        self._show_keys()

    def _show_keys(self) -> None:
        users = keymap.user_keymap(self)
        right = FooterKey(keys=keymap.printed_keys(keymap.key_of("beside.help"), users), label="keys")
        self.footer.show(list(self._footer_keys()), right)

    def _footer_keys(self) -> Iterable[FooterKey]:
        for key_id in _FOOTER_KEYS:
            key = keymap.key_of(key_id)
            label = "pause" if key_id == "replay.play" and self.player.is_playing else key.label
            if key_id != f"beside.{self.one.view}":
                yield FooterKey(keys=keymap.printed_keys(key, keymap.user_keymap(self)), label=label)

    # --- what is compared -------------------------------------------------------------------------

    def look(self, view: ComparedPart) -> None:
        """Compare another part of the two."""
        focused = self.focused_side
        for side in self.sides:
            side.look(view)
        if focused is not None:
            focused.focus_view.focus()
        self._show_keys()

    @property
    def focused_side(self) -> ReplayColumn | None:
        """Return the one that has the keys."""
        return next((side for side in self.sides if side.has_focus_within), None)

    def to_other(self) -> None:
        """Give the keys to the other one."""
        other = self.one if self.focused_side is self.other else self.other
        other.focus_view.focus()

    def open_help(self) -> None:
        """Show the keys."""
        from workbench.tui.main.info_pages import HelpScreen

        side = self.focused_side or self.one
        pane = next((candidate for candidate in side.panes if candidate.has_pane_focus), None)
        scopes = pane.scopes() if pane is not None else ()
        keys = keymap.keys_of_scopes(["beside", "replay", *scopes, "agents"])
        cast("Any", self).app.push_screen(HelpScreen("Two sessions side by side", keys, pane))

    @on(pane.DetailWanted)
    def _detail_wanted(self, message: pane.DetailWanted) -> None:
        for side in self.sides:
            if message.action_id == side.approvals.queue.cursor:
                side.presenter.detail(message.action_id)

    @on(pane.ToolWanted)
    def _tool_wanted(self, message: pane.ToolWanted) -> None:
        for side in self.sides:
            side.show_call(message.call_id)

    @on(pane.StepWanted)
    def _step_wanted(self, message: pane.StepWanted) -> None:
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

    def jump(self, kind: MarkKind | None, step: int) -> None:
        """Go to a mark of the longer one; a prompt is set beside the same prompt of the other.

        While words are looked for on the side that has the keys, the next mark is its next place.
        """
        side = self.focused_side
        if kind is None and side is not None and side.conversation.is_found_from_here:
            side.conversation.go_to_hit(step)
            return
        has_moved = (
            self.step.to_prompt(step) if kind == "prompt" else self.player.jump(kind, step) is not None
        )
        if not has_moved:
            self.say(f"No {'later' if step > 0 else 'earlier'} {kind or 'mark'}.")
            return
        self.went(self.player.index)

    def ask_time(self) -> None:
        """Ask for a moment of the longer one; the other goes along."""
        self.post_message(moment_prompt(self))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose
        if not is_final or not text:
            return
        index = parse_replay_moment(text, self.player.timeline)
        index = self.leads.source.noted(text) if index is None else index
        if index is None:
            self.say(NO_SUCH_MOMENT)
            return
        self.went(self.player.seek(index))

    def line_dropped(self, purpose: str) -> None:
        del purpose

    def ask_fork(self) -> None:
        """Ask for a folder for the files of this moment of the one that has the keys."""
        side = self.focused_side or self.one
        position = side.source.position()
        asked = ForkPrompt(BackgroundTasks(self, side.backend), side.session.id, lambda: position)
        asked.ask(f"Fork “{session_title(side.session)}” from event {side.source.index:,}")

    def ask_film(self) -> None:
        """Ask for the file of a film, or of a picture of this moment, of the one that has the keys."""
        side = self.focused_side or self.one
        size, theme = (self.size.width, self.size.height), cast("Any", self).app.theme
        tasks = BackgroundTasks(self, side.backend)
        ExportPrompt(tasks, side.session, side.source.index, size, theme).ask()

    # --- the line at the bottom -------------------------------------------------------------------

    @on(pane.LineWanted)
    def _line_asked(self, message: pane.LineWanted) -> None:
        self.bar.display = self.footer.display = False
        self._had_keys = self.focused_side or self.one
        self.line_bar.ask(message)

    def _line_closed(self, _: pane.LineWanted) -> None:
        self.bar.display = self.footer.display = True
        self._show_keys()
        self._had_keys.focus_view.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "do" and self.line_bar.asked is not None:
            return not str(parameters[0]).startswith(("replay.", "beside."))
        return super().check_action(action, parameters)

    def change_speed(self, step: int) -> None:
        """Play faster (1) or slower (-1)."""
        self.player.faster(step)
        self.show_moment()

    def follow(self) -> None:
        """Go to the end of both."""
        self.went(self.player.seek(len(self.player.timeline)))

    def leave(self) -> None:
        """Look for no words any more, or go back to where it was opened."""
        finding = [side.conversation for side in self.sides if side.conversation.finding.text]
        for conversation in finding:
            conversation.end_finding()
        if not finding:
            self.dismiss()

    def say(self, text: str) -> None:
        """Say a sentence where it does not cover anything."""
        self.footer.show([FooterKey(keys="", label=human.sentence(text))], None)

    @on(pane.StatusMessage)
    def _said(self, message: pane.StatusMessage) -> None:
        self.say(message.text)

    @on(ReplayBar.Clicked)
    def _bar_clicked(self, message: ReplayBar.Clicked) -> None:
        timeline = self.player.timeline
        self.went(self.player.seek(timeline.index_played(timeline.length * message.share)))

    def why_not(self, key_id: str) -> str:
        if is_off_in_replay(key_id):
            return self._why
        is_elsewhere = key_id.startswith("app.") and key_id != "app.redraw"
        return NOT_SIDE_BY_SIDE if is_elsewhere else ""

    def refuse(self, why: str) -> None:
        self.say(why)

    def redraw(self) -> None:
        """Draw the screen again."""
        self.refresh(layout=True)
