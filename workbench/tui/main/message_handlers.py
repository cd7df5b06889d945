"""Handlers of the messages that panes send: one handler a message.

Panes do not know each other; only this file knows them all.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.app import SuspendNotSupported
from textual.message import Message
from textual.screen import Screen

from workbench.domain.events import Event
from workbench.domain.rows import run_title
from workbench.text import human
from workbench.tui import journal_source, keymap
from workbench.tui import pane as tui_pane
from workbench.tui.approvals.approvals_pane import ApprovalsPane
from workbench.tui.backend import Backend
from workbench.tui.conversation.conversation_pane import ConversationPane
from workbench.tui.main.bars import Footer, Tabs
from workbench.tui.main.places import PANE_PLACES
from workbench.tui.main.presenter import Presenter
from workbench.tui.main.tasks import BackgroundTasks
from workbench.tui.pane import Pane
from workbench.tui.pipeline.pipeline_pane import PipelinePane
from workbench.tui.state import ScreenState
from workbench.tui.tools.tools_pane import ToolsPane
from workbench.tui.widgets.pane_frame import PaneTitle
from workbench.views.conversation import block_hits
from workbench.views.data_source import DataSource
from workbench.views.sessions import session_title

if TYPE_CHECKING:
    from workbench.tui.conversation.composer import Composer
    from workbench.tui.main.overlays import PromptBar


class PipelineMessageScreen(Screen[None], inherit_bindings=False):
    """A screen that hears its pipeline pane."""

    state: ScreenState
    backend: Backend
    showing: Presenter
    pipeline: PipelinePane
    approvals: ApprovalsPane
    requests: BackgroundTasks
    is_zoomed: bool

    def go_to(self, place: int) -> None:
        """Go to a place."""
        raise NotImplementedError

    def say(self, text: str, *, is_error: bool = False, is_kept: bool = True) -> None:
        """Say a sentence."""
        raise NotImplementedError

    def look(self) -> None:
        """Show what the journal has new."""
        raise NotImplementedError

    def show_run(self, run_id: str) -> None:
        """Show a run that has just begun, and go to it."""
        self.state.runs.shown = run_id
        self.look()
        self.showing.pipeline()
        self.go_to(4)
        run = self.state.runs.rows.get(run_id)
        self.say(f"{run_title(run)} has begun." if run is not None else "The run has begun.")

    @on(tui_pane.StepWanted)
    def _step_wanted(self, message: tui_pane.StepWanted) -> None:
        if message.is_opened:
            if not self.is_zoomed:
                self.is_zoomed = True
                self.go_to(4)
            self.pipeline.call_after_refresh(self.pipeline.open_step)
        if message.step == self.pipeline.graph.cursor:
            self.pipeline.show_step(self.showing.step_in_full(message.step or ""))

    @on(tui_pane.GateWanted)
    def _gate_wanted(self, message: tui_pane.GateWanted) -> None:
        self.go_to(2)
        self.approvals.queue.put_cursor(message.action_id)

    @on(tui_pane.LaunchWanted)
    def _launch_wanted(self) -> None:
        from workbench.tui.pipeline.launch_form import open_launch

        open_launch(cast("Any", self))

    @on(tui_pane.CompareWanted)
    def _compare_wanted(self) -> None:
        from workbench.tui.pipeline.run_results import open_compare

        open_compare(cast("Any", self))

    @on(tui_pane.ArtifactWanted)
    def _artifact_wanted(self, message: tui_pane.ArtifactWanted) -> None:
        from workbench.tui.pipeline.run_results import open_artifact

        open_artifact(cast("Any", self), message.name)

    @on(tui_pane.OtherRunWanted)
    def _run_beside(self, message: tui_pane.OtherRunWanted) -> None:
        runs = self.state.runs
        before = runs.current
        runs.beside(message.step)
        if runs.current == before:
            self.say(
                "That is the newest run." if message.step > 0 else "That is the oldest run that is listed."
            )
        self.showing.pipeline()

    @on(tui_pane.RunRequest)
    def _run_asked(self, message: tui_pane.RunRequest) -> None:
        backend, run, step = self.backend, message.run, message.step
        match message.what:
            case "cancel":
                self.requests.ask(backend.runs.cancel_run, run, "The run ends.")
            case "retry":
                self.requests.ask(
                    lambda key: backend.runs.retry_step(key, step), run, f"{step} is done again."
                )
            case "from":
                self.requests.begin_run(lambda: backend.runs.run_from(run, step), self._run_begun)

    def _run_begun(self, run_id: str, why_not: str) -> None:
        if why_not:
            self.say(why_not, is_error=True)
        else:
            self.show_run(run_id)


_WHOLE_SESSION = 1_000_000


class SearchMessageScreen(PipelineMessageScreen, inherit_bindings=False):
    """A screen that finds."""

    state: ScreenState
    showing: Presenter
    conversation: ConversationPane

    @on(tui_pane.SearchWanted)
    def _find_asked(self, message: tui_pane.SearchWanted) -> None:
        current, text, source = self.state.current, message.text, self.state.source
        if current is None or not text:
            return

        def work() -> None:
            search_conversation(source, current.id, text, self.conversation, self.post_message)

        self.run_worker(
            work, group="find", description="find in the conversation", thread=True, exclusive=True,
            exit_on_error=False,
        )  # fmt: skip

    @on(tui_pane.SearchHitsFound)
    def _hits_found(self, message: tui_pane.SearchHitsFound) -> None:
        current = self.state.current
        if current is not None and current.id == message.session_id:
            self.conversation.take_hits(message)

    def note_found(self, events: Iterable[Event]) -> None:
        """Look for the same words in what has just happened."""
        current = self.state.current
        if current is not None:
            self.conversation.take_events(event for event in events if event.session_id == current.id)

    @on(tui_pane.SearchHitWanted)
    def _hit_wanted(self, message: tui_pane.SearchHitWanted) -> None:
        if not self.conversation.view.has_block(message.hit.block_id) and self.state.look_at(
            message.hit.number
        ):
            self.showing.another_part()
        self.conversation.show_hit(message.hit)


def search_conversation(
    source: DataSource, session_id: str, text: str, pane: ConversationPane, tell: Callable[[Message], object]
) -> None:
    """Tell of hits in a session, the newest first, as long as its pane looks for the text; in a thread."""
    for events in _search_batches(source, session_id):
        if pane.finding.text != text:
            return
        hits = [hit for event in events for hit in block_hits(event, text)]
        tell(tui_pane.SearchHitsFound(session_id, text, hits, is_whole=False))
    tell(tui_pane.SearchHitsFound(session_id, text, (), is_whole=True))


def _search_batches(source: DataSource, session_id: str) -> Iterator[Sequence[Event]]:
    if isinstance(source, journal_source.EventArchive):
        yield from journal_source.event_batches(source, session_id)
    else:
        yield source.events(session_id, 0, _WHOLE_SESSION)


class MessageScreen(SearchMessageScreen, inherit_bindings=False):
    """A screen that hears its panes; `MainScreen` composes and arranges them."""

    state: ScreenState
    backend: Backend
    showing: Presenter
    requests: BackgroundTasks
    workspace: str
    place: int
    is_zoomed: bool
    approvals: ApprovalsPane
    conversation: ConversationPane
    tools: ToolsPane
    composer: "Composer"
    footer: Footer
    has_frame: bool = False
    """Whether the first frame is on the screen, which was made with what waits in full."""
    _piped: str = ""
    _says_keys: bool = False

    def look(self) -> None:
        """Take in what the journal has."""
        raise NotImplementedError

    def go_to(self, place: int) -> None:
        """Go to a place."""
        raise NotImplementedError

    def write_next(self) -> None:
        """Let the next words be written, once nothing waits for an answer any more."""
        if self.approvals.has_pane_focus and self.showing.has_model and not self.approvals.is_full:
            self.composer.focus_input()

    def show_bottom(self, *, is_shown: bool) -> None:
        """Show the last rows, or give their place to a line that is asked for."""
        self.footer.display = is_shown
        self.composer.display = is_shown and self.place in PANE_PLACES and self.showing.has_model

    def rearrange(self) -> None:
        """Put panes where size, place and zoom want them."""
        raise NotImplementedError

    def say(self, text: str, *, is_error: bool = False, is_kept: bool = True) -> None:
        """Say a sentence."""
        raise NotImplementedError

    @property
    def textual(self) -> Any:
        """Return the app; Textual leaves the type of its result open."""
        return cast("Any", self).app

    @property
    def drawing(self) -> Any:
        """Return the app as the clock and the colours know it."""
        return self.textual

    # --- what panes say -------------------------------------------------------------------------

    @on(tui_pane.StatusMessage)
    def _said(self, message: tui_pane.StatusMessage) -> None:
        self.say(message.text, is_error=message.is_error, is_kept=message.is_kept)

    @on(tui_pane.KeysChanged)
    def _keys_changed(self) -> None:
        """Say what the keys do now, once the frame is out that shows what the last one did."""
        if not self._says_keys:
            self._says_keys = True
            self.call_after_refresh(self._say_keys)

    def _say_keys(self) -> None:
        self._says_keys = False
        self.showing.footer()
        self.showing.composer()

    @on(tui_pane.DetailWanted)
    def _detail_wanted(self, message: tui_pane.DetailWanted) -> None:
        if message.action_id == self.approvals.queue.cursor and self.has_frame:
            self.showing.detail(message.action_id)

    @on(tui_pane.ToolWanted)
    def _tool_wanted(self, message: tui_pane.ToolWanted) -> None:
        call = next((one for one in self.state.calls if one.id == message.call_id), None)
        shown = self.showing.call_in_full(call.id) if call is not None else None
        if shown is not None:
            self.tools.show_detail(shown)

    @on(tui_pane.SessionChosen)
    def _session_chosen(self, message: tui_pane.SessionChosen) -> None:
        self.state.choose(message.session_id)
        self.showing.everything()
        self.requests.read_said(message.session_id)

    @on(tui_pane.ReplayWanted)
    def _replay_wanted(self, message: tui_pane.ReplayWanted) -> None:
        self.textual.open_replay(message.session_id)

    @on(tui_pane.ForkWanted)
    def _fork_asked(self, message: tui_pane.ForkWanted) -> None:
        from workbench.tui.library.session_actions import ForkPrompt, fork_position

        current = self.state.current
        session = self.state.sessions.get(message.session_id) if message.session_id else current
        if session is None:
            self.say("There is no session here to fork.")
            return
        block, source = message.block, self.state.source
        if block is None:
            ForkPrompt(cast("Any", self), session.id, source.position).ask(
                f"Fork “{session_title(session)}” as it is now"
            )
            return
        asked = ForkPrompt(cast("Any", self), session.id, lambda: fork_position(source, session.id, block))
        asked.ask(f"Fork “{session_title(session)}” as it was at {human.clock_time(block.at)}")

    @on(tui_pane.SideBySideWanted)
    def _beside_wanted(self, message: tui_pane.SideBySideWanted) -> None:
        current = self.state.current
        if current is None or current.id == message.session_id:
            self.say("Put the cursor on another session: it is shown beside the one on show.")
        else:
            self.textual.open_beside(current.id, message.session_id)

    @on(tui_pane.TranscriptPartWanted)
    def _part_wanted(self, message: tui_pane.TranscriptPartWanted) -> None:
        self.showing.part(message)

    @on(tui_pane.PlaceWanted)
    def _go_to(self, message: tui_pane.PlaceWanted) -> None:
        self.go_to(message.place)

    @on(Tabs.Clicked)
    def _tab_clicked(self, message: Tabs.Clicked) -> None:
        self.go_to(message.place)

    @on(PaneTitle.Pressed)
    def _title_pressed(self, message: PaneTitle.Pressed) -> None:
        for ancestor in message.title.ancestors:
            if isinstance(ancestor, Pane):
                self.go_to(ancestor.PLACE)
                return

    @on(tui_pane.BackToPane)
    def _back_to_pane(self) -> None:
        self.go_to(self.place)

    @on(tui_pane.NextPane)
    def _next_pane(self) -> None:
        keymap.run_action("app.pane-next", self)

    @on(tui_pane.FirstWaiting)
    def _first_waiting(self) -> None:
        first = self.showing.summary().first_id
        if first is None:
            self.say("Nothing waits.")
            return
        self.go_to(2)
        self.approvals.queue.put_cursor(first)

    @on(tui_pane.OpenDetail)
    def _open_detail(self, message: tui_pane.OpenDetail) -> None:
        call = next((one for one in self.state.calls if one.id == message.row_id), None)
        action = self.state.actions.get(call.action_id or "") if call else None
        if action is not None and action.state == "pending":
            self.go_to(2)
            self.approvals.queue.put_cursor(action.id)
        elif call is not None:
            self.is_zoomed = True
            self.go_to(3)
            self.tools.list.put_cursor(call.id)

    @on(tui_pane.StepOpened)
    def _open_step(self, message: tui_pane.StepOpened) -> None:
        self.go_to(4)
        if message.step:
            self.pipeline.graph.put_cursor(message.step)

    @on(ApprovalsPane.FullChanged)
    def _full_changed(self) -> None:
        self.rearrange()
        self.showing.footer()

    # --- the line at the bottom -----------------------------------------------------------------

    @on(tui_pane.LineWanted)
    def _line_asked(self, message: tui_pane.LineWanted) -> None:
        self.show_bottom(is_shown=False)
        self.line_bar.ask(message)

    @property
    def line_bar(self) -> "PromptBar":
        """Return where a line is typed for a pane."""
        raise NotImplementedError

    def on_prompt_bar_heard(self, message: "PromptBar.Heard") -> None:
        """Hand the words to the pane that asked; named so that the class need not be loaded for it."""
        if message.is_final:
            self._close_line(message.asked)
        message.asked.pane.line_heard(message.asked.purpose, message.text, is_final=message.is_final)

    def on_prompt_bar_dropped(self, message: "PromptBar.Dropped") -> None:
        """Tell the pane that asked that nothing is done."""
        self._close_line(message.asked)
        message.asked.pane.line_dropped(message.asked.purpose)

    def _close_line(self, asked: tui_pane.LineWanted) -> None:
        self.line_bar.close()
        self.show_bottom(is_shown=True)
        pane = asked.pane
        if isinstance(pane, Pane):
            pane.focus_view.focus()
        else:
            self.go_to(self.place)

    # --- what the user asks for -----------------------------------------------------------------

    @on(tui_pane.DecisionReported)
    def _decided(self, message: tui_pane.DecisionReported) -> None:
        is_last = all(one.id == message.action_id for one in self.state.pending)
        self.look()
        self.approvals.decided(message)
        if message.result is not None and message.result.ok:
            if message.verdict in ("approve", "reject") and is_last:
                self.write_next()
            self.requests.ensure_host(self.workspace)
            self.requests.read_asks()

    @on(tui_pane.DecisionMade)
    def _decide(self, message: tui_pane.DecisionMade) -> None:
        self.requests.decide(message)

    @on(tui_pane.ExtendExpiry)
    def _extend(self, message: tui_pane.ExtendExpiry) -> None:
        self.requests.extend(message.action_id)

    @on(tui_pane.RefreshAction)
    def _refresh(self, message: tui_pane.RefreshAction) -> None:
        self.requests.ask(self.backend.refresh_action, message.action_id, "The new diff is being made.")

    @on(tui_pane.UndoChange)
    def _undo(self, message: tui_pane.UndoChange) -> None:
        self.requests.ask(self.backend.undo_change, message.action_id, "Asked to take it back.")

    @on(tui_pane.EditAction)
    def _edit(self, message: tui_pane.EditAction) -> None:
        self.requests.edit(message.action_id)

    @on(tui_pane.PromptSent)
    def _prompt_sent(self, message: tui_pane.PromptSent) -> None:
        self.requests.prompt(message.text)

    @on(tui_pane.StopAgent)
    def _interrupt(self) -> None:
        self.about_session(self.backend.interrupt_session, "Asked to stop.")

    @on(tui_pane.ContinueSession)
    def _continue(self) -> None:
        self.about_session(self.backend.continue_session, "Goes on.")

    @on(tui_pane.RetryModelCall)
    def _retry(self) -> None:
        self.about_session(self.backend.continue_session, "Asks again.")

    def about_session(self, ask: Callable[[str], None], done: str) -> None:
        """Ask something of the agent of the session on show."""
        if self.state.current is None:
            self.say("There is no session here.")
        else:
            self.requests.ask(ask, self.state.current.id, done)

    @on(tui_pane.CopyText)
    def _copy(self, message: tui_pane.CopyText) -> None:
        if not self.backend.copy_to_clipboard(message.text):
            self.textual.copy_to_clipboard(message.text)
        self.say("Copied." if not message.what else f"Copied: {message.what}.")

    @on(tui_pane.PipeWanted)
    def _pipe_asked(self, message: tui_pane.PipeWanted) -> None:
        self._piped = message.text
        self.post_message(
            tui_pane.LineWanted(self, "pipe", "Give it to a command", "it runs in this terminal", "run it")
        )

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Run the command that was typed for what is piped."""
        if is_final and purpose == "pipe" and text:
            with contextlib.suppress(SuspendNotSupported), self.textual.suspend():
                self.say(self.backend.pipe_to(text, self._piped))

    def line_dropped(self, purpose: str) -> None:
        """Pipe nothing."""
        del purpose
        self._piped = ""

    @on(tui_pane.CommandTyped)
    def _command_typed(self, message: tui_pane.CommandTyped) -> None:
        from workbench.tui.main.palette import run_slash_command

        run_slash_command(self, message.name.lstrip("/"), message.rest)

    @on(tui_pane.LogWanted)
    def _log_wanted(self, message: tui_pane.LogWanted) -> None:
        from workbench.tui.widgets.dialog import PagerScreen

        error = message.error
        facts = (
            ("code", error.code),
            ("what", error.message),
            ("why", error.details),
            ("to do", error.remedy),
        )
        lines = [f"{name:<6} {text}" for name, text in facts if text]
        found = self.backend.host_log() or ("No host has written a log.",)
        self.textual.push_screen(PagerScreen("The log", [*lines, "", *found]))

    @on(tui_pane.BatchWanted)
    def _batch_asked(self, message: tui_pane.BatchWanted) -> None:
        from workbench.tui.approvals.batch_dialog import open_batch

        open_batch(cast("Any", self), message.verdict)

    @on(tui_pane.RuleWanted)
    def _always_asked(self, message: tui_pane.RuleWanted) -> None:
        from workbench.tui.rules.rule_dialog import open_rule_dialog

        open_rule_dialog(cast("Any", self), message.detail)
