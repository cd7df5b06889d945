"""The replay of a session: the main screen over a recording, at any moment of it.

Owns the moment and the timer that moves it. Decisions are refused; the backend does nothing.
"""

import gc
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast

from textual import on
from textual.timer import Timer
from textual.widget import Widget

from workbench.changes.diff import FileChange
from workbench.domain.events import ActionOpened, Event
from workbench.domain.rows import Session
from workbench.domain.values import Hunk
from workbench.journal.journal import Journal
from workbench.text import human
from workbench.text.human import SECOND_MICROS, countdown_text
from workbench.tui.approvals.approvals_pane import ApprovalsPane
from workbench.tui.backend import Backend, ReplayBackend
from workbench.tui.conversation.conversation_pane import ConversationPane
from workbench.tui.journal_source import MAX_FRAMES_PER_SECOND, JournalFeed
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.footer_keys import FooterKey
from workbench.tui.library.export_prompt import ExportPrompt
from workbench.tui.library.fork_prompt import ForkPrompt
from workbench.tui.main.context import MainContext, MainWidgets, WorkspaceStatus
from workbench.tui.main.layout import Layout, LayoutController
from workbench.tui.main.place_stack import PLACES_UNAVAILABLE
from workbench.tui.main.presenter import Presenter
from workbench.tui.main.screen import MainScreen
from workbench.tui.main.sidebar import Sidebar
from workbench.tui.main.tabs import Tabs
from workbench.tui.pane import (
    DecisionMade,
    DecisionReported,
    LineListener,
    LineWanted,
    SourceChanged,
    StatusMessage,
)
from workbench.tui.pipeline.pipeline_pane import PipelinePane
from workbench.tui.places import PLACES
from workbench.tui.replay.replay_bar import ReplayBar, ReplayHeader, ReplayNotice
from workbench.tui.replay.replay_source import MAX_FORWARD_EVENTS, ReplaySource
from workbench.tui.state import ScreenState
from workbench.tui.tools.tools_pane import ToolsPane
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.pane_frame import PaneRule
from workbench.views import replay
from workbench.views.replay import Player, parse_replay_moment
from workbench.views.timeline import MarkKind

if TYPE_CHECKING:
    from workbench.tui.conversation.composer import Composer
    from workbench.tui.pane import ComposerModel


class ReplayCursors:
    """Moves the cursors of the queue and of the calls as those did who answered then."""

    def __init__(self, screen: "ReplayScreen") -> None:
        """Point nowhere yet."""
        self._screen = screen
        self._put: str | None = None

    def take_over(self) -> None:
        """Be told that a moment was chosen: the row that its user chose before counts no more."""
        self._put = self._screen.approvals.queue.cursor

    def at_waiting(self) -> None:
        """Go on to the first that waits when the row under the cursor does not, unless its user chose it."""
        queue = self._screen.approvals.queue
        if self._put is not None and queue.cursor != self._put:
            return
        if queue.current is not None and not queue.current.is_pending:
            first = next((row.id for row in queue.shown if row.is_pending), None)
            if first is not None:
                queue.put_cursor(first)
        self._put = queue.cursor

    def at_event(self, event: Event | None) -> None:
        """Go to the question and to the call that an event is about, where they are shown."""
        if event is None:
            return
        screen, call = self._screen, event.call_id
        asked = screen.state.actions.values()
        action = event.action_id or next(
            (candidate.id for candidate in asked if call and candidate.call_id == call), None
        )
        if action in {row.id for row in screen.approvals.queue.shown}:
            screen.approvals.queue.put_cursor(action)
            self._put = action
        if call is not None:
            screen.tools.point_at(call)


TAIL_EVENTS: Final = 200
"""Events of which the conversation at a moment is folded; earlier ones when they are scrolled to."""
NO_SUCH_MOMENT: Final = "No moment of this recording. Type 0:30, 12:01:31, 35 %, #412 or words of a mark."
_KEYS_OFF: Final = frozenset({
    "approvals.mark", "approvals.mark-all", "approvals.lines", "approvals.hunks-toggle", "approvals.place",
    "list.pipe", "app.compose", "app.session-new", "app.agent-stop",
})  # fmt: skip
"""Keys that are not named as deciding, and do nothing here either."""
_PLACE_KEYS_OFF: Final = frozenset(place.key_id for place in PLACES if place.module)
_KEYS_IN_PLACES: Final = frozenset({
    "replay.play", "replay.slower", "replay.faster", "replay.fork", "replay.film", "replay.leave",
    "replay.time",
})  # fmt: skip
"""Keys of the replay that need no more of the recording than what is shown."""
_KEYS_THAT_LOOK: Final = frozenset({"answer.choose-previous", "answer.choose-next", "conversation.log"})


def is_off_in_replay(key_id: str) -> bool:
    """Return whether a key would answer, ask or begin something."""
    key = keymap.key_of(key_id)
    return key_id in _KEYS_OFF or (key.group == "Decide" and key_id not in _KEYS_THAT_LOOK)


class RefusedDecisions:
    """Answers of a replay: every one is refused with the same sentence."""

    def __init__(self, why: str) -> None:
        self._why = why

    def decide(self, message: DecisionMade, opened: ActionOpened | None) -> DecisionReported:
        del opened
        return DecisionReported(message.decision.action_id, message.decision.verdict, None, self._why)

    def extend(self, action_id: str) -> DecisionReported:
        return DecisionReported(action_id, "extend", None, self._why)

    def expire(self) -> None:
        """Do nothing: what expired then is recorded."""

    def proposed(self, opened: ActionOpened) -> FileChange | None:
        """Return None: nothing is edited here."""
        del opened

    def edited_hunks(self, opened: ActionOpened, edited: Mapping[str, bytes]) -> tuple[Hunk, ...]:
        del edited
        return opened.hunks

    def awaits(self, workspace: str) -> bool:
        """Return False: nobody is started."""
        del workspace
        return False


class NullComposer:
    """Stands where the composer of a live screen is: it is never shown, and takes no words."""

    display = is_written_in = is_awaited = False
    is_empty = True

    def show(self, view: "ComposerModel") -> None:
        del view

    def remember(self, said: Sequence[str]) -> None:
        del said

    def focus_input(self) -> None:
        """Leave the focus where it is."""

    def begin(self, text: str) -> None:
        del text


class ReplayPresenter(Presenter):
    """Shows the moment, and the keys of the replay."""

    def __init__(self, screen: "ReplayScreen", context: MainContext) -> None:
        super().__init__(screen, context)
        self._replay = screen

    def composer(self) -> None:
        """Show none."""

    def footer(self) -> None:
        screen, users = self._replay, keymap.user_keymap(self._replay)
        keys = sorted(
            (key for key in keymap.keys_of_scopes(["replay"]) if key.footer), key=lambda key: key.footer
        )
        footer_keys = [
            FooterKey(keys=keymap.printed_keys(key, users), label=screen.footer_label(key.id, key.label))
            for key in keys
        ]
        label = "all keys" if screen.size.width >= 100 else "keys"
        self._widgets.footer.show(
            footer_keys, FooterKey(keys=keymap.printed_keys(keymap.key_of("app.help"), users), label=label)
        )


class ReplayLayoutController(LayoutController):
    """The sentence and no composer."""

    def has_strip(self, layout: Layout) -> bool:
        return layout.width in ("medium", "wide")

    def status(self) -> None:
        super().status()
        self._widgets.composer.display = False

    def show_bottom(self, *, is_shown: bool) -> None:
        for bar in self._screen.query(ReplayBar):
            bar.display = is_shown
        self._widgets.footer.display = is_shown


class ReplayScreen(MainScreen, inherit_bindings=False):
    """The panes as they were, a bar below them."""

    NAME = "replay"
    INNER = ("replay",)
    is_recording = True
    BINDINGS = keymap.bindings("replay", is_first=True) + keymap.bindings("app")

    def __init__(
        self, source: ReplaySource, session: Session, feed: JournalFeed, backend: Backend, home: str
    ) -> None:
        """Show a session from its beginning, paused.

        Args:
            source: its recording.
            session: as it stands now; names it.
            feed: says that the journal has grown.
            backend: refuses what a replay cannot do.
            home: the user's home folder, shown as `~`.
        """
        why = refusal_sentence(source.timeline.time(0))
        header = self._header = ReplayHeader(session.title or session.id[:8], recording_span(source))
        notice = self._sentence = ReplayNotice()
        widgets = MainWidgets(
            rail=Sidebar(key="rail"), conversation=ConversationPane(key="conversation"),
            approvals=ApprovalsPane(key="approvals"), tools=ToolsPane(key="tools"),
            pipeline=PipelinePane(key="pipeline"), header=header, strip=notice, tabs=Tabs(),
            footer=Footer(), rule=PaneRule(key="rule"), composer=cast("Composer", NullComposer()),
        )  # fmt: skip
        status = WorkspaceStatus(workspace=source.workspace, home=home, pipelines_found=0)
        state = ScreenState(source)
        # The replay of an agent stands over that of the one that began it, under another name.
        vars(self)["NAME"] = f"replay-{session.id}"
        super().__init__(state, backend, lambda: RefusedDecisions(why), feed, status, widgets=widgets)
        self.source, self.session_id, self._why = source, session.id, why
        self._session = session
        self.player = Player(source.timeline)
        self.bar = ReplayBar(source.timeline)
        self.pointing = ReplayCursors(self)
        self._timer: Timer | None = None
        self._ticked = 0.0
        self._second = -1
        self._next: tuple[int, str] = (-1, "")
        self._is_closed = threading.Event()
        for pane in self.panes:
            pane.forbids = self._forbids
            pane.is_past = True

    def _forbids(self, key_id: str) -> str:
        return self._why if is_off_in_replay(key_id) else ""

    def make_presenter(self) -> Presenter:
        return ReplayPresenter(self, self.context)

    def make_layout(self) -> LayoutController:
        return ReplayLayoutController(self, self.context)

    def below(self) -> Iterable[Widget]:
        yield self.widgets.rule
        yield self.bar
        yield self.widgets.footer

    # --- life -----------------------------------------------------------------------------------

    def load(self) -> None:
        self.source.seek(self.player.index)
        self.state.load(self.session_id, TAIL_EVENTS)
        self.show_moment()

    def start_focus(self) -> None:
        asks = any(self.source.timeline.marks.of(kind) for kind in ("approval", "expiry"))
        pane = self.approvals if asks or not len(self.source.timeline) else self.conversation
        self.places.current = pane.PLACE
        pane.focus_view.focus()

    def after_first_frame(self) -> None:
        self._timer = self.set_interval(1 / MAX_FRAMES_PER_SECOND, self._frame, pause=True)
        self._moved()
        self.run_worker(
            self._build, thread=True, group="checkpoints", description="make checkpoints", exit_on_error=False
        )

    def _build(self) -> None:
        self.source.read()
        if self._is_closed.is_set():
            return
        self.textual.call_from_thread(self.complete)
        self.source.store()
        while not self._is_closed.is_set() and self.source.rewind.build():
            pass
        if self.source.is_long and self is self.textual.main:
            # What stays until the program ends is no garbage to look for: that would hold up a key. Over a
            # live screen a replay goes again, and frozen it never would.
            gc.freeze()

    def complete(self) -> None:
        """Know all of the recording, whose beginning was shown before."""
        if self.source.complete():
            self.player.completed()
            self.source.grow()
            self._header.show_span(recording_span(self.source))
            self.show_moment()

    def on_unmount(self) -> None:
        self._is_closed.set()
        self.source.close()

    def keep_time(self) -> None:
        """Let the player keep the time."""

    def tell(self, troubles: Iterable[Event] = ()) -> None:
        """Ring for nothing and tell of nothing: it is past."""

    # --- the moment -----------------------------------------------------------------------------

    def show_hold(self) -> None:
        self._header.show_hold(is_held_now=self.textual.are_agents_held, was_held=self.state.are_agents_held)

    def look(self) -> None:
        self._looks_soon = False
        self._looked_at = self.textual.monotonic()
        self.textual.show_hold()
        rows = self.source.rewind
        if self._feed.fresh() and self.source.timeline.is_whole and self.source.grow():
            self._header.show_span(recording_span(self.source))
            self.go(self.player.grown(), is_rewritten=self.source.rewind is not rows)
        self.show_moment()

    def go(self, index: int, *, is_rewritten: bool = False) -> None:
        """Show a moment: events until a near later one are folded, any other is looked up.

        `is_rewritten`: what was shown before is not what is recorded now.
        """
        source, state = self.source, self.state
        current = state.current
        near = source.index < index <= source.index + MAX_FORWARD_EVENTS and not is_rewritten
        if index == source.index and not is_rewritten:
            pass
        elif near and current is not None and state.window is None:
            self.take_in(source.go_on(index))
        else:
            source.seek(index)
            is_there = current is not None and source.session(current.id) is not None
            state.load(current.id if current is not None and is_there else self.session_id, TAIL_EVENTS)
            self.presenter.everything()
            self.presenter.detail(self.approvals.queue.cursor)
        self.pointing.at_waiting()
        self.show_moment()

    def show_moment(self) -> None:
        """Show the time of the player on the bar, the header, and what counts down."""
        player = self.player
        is_live = player.is_following and player.is_at_end
        now = max(player.now, self.source.journal_now()) if is_live else player.now
        self.source.set_clock(now)
        clock = (
            countdown_text(player.elapsed // SECOND_MICROS)
            if player.timeline.is_steady
            else human.clock_time_seconds(now)
        )
        self._header.show_moment(clock)
        self.show_hold()
        self.bar.show(replay.replay_status(player, self._next_words()))
        if now // SECOND_MICROS != self._second and self.is_mounted:
            self._second = now // SECOND_MICROS
            self.presenter.tick(now)

    def _next_words(self) -> str:
        mark = self.player.timeline.jump(self.player.index, None, 1)
        if mark is None:
            return ""
        if self._next[0] != mark.index:
            self._next = mark.index, self.source.words_at(mark.index)
        return self._next[1]

    def _frame(self) -> None:
        now = self.textual.monotonic()
        passed, self._ticked = now - self._ticked, now
        if self.player.is_following:
            self.show_moment()
            return
        if self.player.passes_read_part(passed):
            self.complete()
        self.go(self.player.tick(passed))
        if not self.player.is_playing:
            self._moved()

    def _moved(self) -> None:
        """Run the timer as long as something moves, and say what the keys do now."""
        self._ticked = self.textual.monotonic()
        if self._timer is not None:
            moves = self.player.is_playing or self.player.is_following
            self._timer.resume() if moves else self._timer.pause()
        self.presenter.footer()

    # --- what the keys do -------------------------------------------------------------------------

    def toggle(self) -> None:
        """Play, or pause."""
        self.player.toggle()
        self.went(self.player.index)

    def went(self, index: int) -> None:
        """Show where the player went."""
        self.pointing.take_over()
        self.context.moment.is_pinned = False
        self.go(index)
        self._moved()

    def follow(self) -> None:
        """Go to the end, and stay there where the session goes on."""
        if self.source.may_grow:
            self.went(self.player.follow())
            return
        self.went(self.player.seek(len(self.player.timeline)))
        self.say("The session has ended: this is its end, and nothing comes after it.")

    def jump(self, kind: MarkKind | None, step: int) -> None:
        """Go to the next or previous mark of a kind, or to the next place of words that are looked for."""
        if kind is None and self.conversation.is_found_from_here:
            self.conversation.go_to_hit(step)
            return
        if self.player.jump(kind, step) is None:
            word = "mark of yours: /mark sets one while a session works" if kind == "note" else kind or "mark"
            self.say(f"No {'later' if step > 0 else 'earlier'} {word}.")
            return
        self.went(self.player.index)
        event = self.source.event_at(self.player.index)
        self.pointing.at_event(event)
        if kind == "edit" and event is not None:
            self._show_change(event)

    def _show_change(self, event: Event) -> None:
        """Show what was written: in the queue where it was asked about, else as the moment."""
        rows = (self.state.actions.get(row.id) for row in self.approvals.queue.shown)
        self.context.moment.is_pinned = all(row is None or row.call_id != event.call_id for row in rows)
        if self.layout_controller.is_alone and not self.places.is_zoomed and self.place in (1, 3, 4):
            self.go_to(self.approvals.PLACE)
        self.context.moment.show()

    def ask_time(self) -> None:
        """Ask for a moment to go to."""
        self.post_message(moment_prompt(self))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        if purpose != "time" or not is_final or not text:
            return
        self.complete()
        index = parse_replay_moment(text, self.player.timeline)
        index = self.source.noted(text) if index is None else index
        if index is None:
            self.say(NO_SUCH_MOMENT, is_error=True)
            return
        self.went(self.player.seek(index))

    def line_dropped(self, purpose: str) -> None:
        del purpose

    def ask_fork(self) -> None:
        """Ask for a folder for the files of this moment."""
        position = self.source.position()
        asked = ForkPrompt(self.context.tasks, self.session_id, lambda: position)
        asked.ask(f"Fork from event {self.source.index:,}")

    def ask_film(self) -> None:
        """Ask for the file of a film, or of a picture of this moment."""
        size = self.size.width, self.size.height
        ExportPrompt(self.context.tasks, self._session, self.source.index, size, self.textual.theme).ask()

    @on(ReplayBar.Clicked)
    def _bar_clicked(self, message: ReplayBar.Clicked) -> None:
        self.complete()
        timeline = self.player.timeline
        self.went(self.player.seek(timeline.index_played(timeline.length * message.share)))

    def leave(self) -> None:
        """Go back one level, at last to what was before."""
        if (pane := self.places.filtered) is not None:
            pane.line_dropped("filter")
        elif self.conversation.is_found_from_here:
            self.conversation.end_finding()
        elif self.approvals.is_full:
            self.approvals.set_full(is_full=False)
        elif self.places.is_zoomed:
            self.places.is_zoomed = False
            self.layout_controller.rearrange()
        else:
            self.close()

    def close(self) -> None:
        """Leave the replay: back to the live screen, or to the shell."""
        if self is self.textual.main:
            self.textual.exit()
        else:
            self.dismiss()

    def why_not(self, key_id: str) -> str:
        """Return why a key does nothing here: it would answer, or begin, or lead out of the past."""
        return PLACES_UNAVAILABLE if key_id in _PLACE_KEYS_OFF else self._forbids(key_id)

    def change_speed(self, step: int) -> None:
        """Play faster (1) or slower (-1)."""
        self.player.faster(step)
        self.show_moment()

    def footer_label(self, key_id: str, label: str) -> str:
        """Return what a key of the replay does now."""
        return "pause" if key_id == "replay.play" and self.player.is_playing else label

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "do" and str(parameters[0]).startswith("replay."):
            return not self.layout_controller.is_line_asked
        return super().check_action(action, parameters)

    def refuse(self, why: str) -> None:
        self.post_message(StatusMessage(human.sentence(why)))

    def run_key(self, key_id: str) -> None:
        if key_id.startswith("replay.") and key_id not in _KEYS_IN_PLACES:
            self.complete()
        super().run_key(key_id)

    @property
    def keeps_text(self) -> bool:
        return False

    def remember_text(self, before: str, text: str) -> None:
        """Keep nothing: no words are read here."""
        del before, text

    def pose(self) -> None:
        """Take off what belongs to the keys: a picture of it is looked at where there are none."""
        self.layout_controller.show_bottom(is_shown=False)
        self._header.has_keys = self._sentence.has_keys = False
        self._header.refresh()
        self._sentence.refresh()
        if not self.layout_controller.is_alone:
            # Nobody reads in the queue there what was decided: the moment has its room.
            self.go_to(self.conversation.PLACE)


def moment_prompt(screen: LineListener) -> LineWanted:
    """Return the question for a moment to go to."""
    return LineWanted(screen, "time", "Go to", "0:30, 12:01:31, 35 %, #412 or words of a mark", "go there")


def refusal_sentence(began: int) -> str:
    """Return what answering keys say; `began` in microseconds since the epoch."""
    when = datetime.fromtimestamp(began // SECOND_MICROS)
    day = f"{when.day} {when:%b %H:%M}"
    return f"This is a replay of {day}. Nothing can be answered here. F forks from this moment."


def recording_span(source: ReplaySource) -> str:
    """Return when a recording was, and where."""
    timeline = source.timeline
    if not len(timeline):
        return "nothing recorded"
    first, last = (
        datetime.fromtimestamp(moment // SECOND_MICROS) for moment in (timeline.time(0), timeline.ends)
    )
    end = human.clock_time(timeline.ends) if last.date() == first.date() else f"{last.day} {last:%b %H:%M}"
    # Steady steps have a beginning that nobody recorded.
    when = "no times recorded" if timeline.is_steady else f"{first.day} {first:%b %H:%M} to {end}"
    folder = source.workspace.rstrip("/").rpartition("/")[2]
    return f"{when}, {folder}" if folder else when


def replay_screen_for(
    journal: Journal, session: Session, home: str, live: Backend | None = None, number: int | None = None
) -> ReplayScreen:
    """Return the replay of a session, playing from its beginning or standing at one of its events.

    Args:
        journal: where it is; only read.
        session: which.
        home: the user's home folder.
        live: what reaches outside; a replay takes over clipboard, fork and film, and nothing else.
        number: the event of the session at which it stands; None plays.
    """
    there = journal.window(session.id, number, 1) if number is not None else ()
    source = ReplaySource(journal, session, is_whole=bool(there))
    screens: list[ReplayScreen] = []
    feed = JournalFeed(journal, lambda: screens[0].post_message(SourceChanged()))
    screens.append(ReplayScreen(source, session, feed, ReplayBackend(live), home))
    if there:
        screens[0].player.seek(source.timeline.index_of(there[0].position))
    else:
        screens[0].player.toggle()
    return screens[0]


def replay_screen_at(
    journal: Journal, session: Session, home: str, live: Backend | None, at: int
) -> ReplayScreen:
    """Return the replay of a session, standing at a time: microseconds since the epoch."""
    screen = replay_screen_for(journal, session, home, live)
    screen.player.toggle()
    screen.source.complete()
    screen.player.completed()
    screen.player.seek(max(1, screen.source.timeline.index_at(at)))
    return screen
