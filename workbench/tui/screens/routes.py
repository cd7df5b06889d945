"""What panes say becomes answers, requests and views: the routing of the main screen.

Owns one handler a message. Panes do not know each other; this is the only place that knows them all.
"""

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.app import SuspendNotSupported

from workbench.draw import words
from workbench.tui import keymap, messages
from workbench.tui.arrangement import PLACES
from workbench.tui.panes.approvals import ApprovalsPane
from workbench.tui.panes.base import Pane
from workbench.tui.panes.conversation import ConversationPane
from workbench.tui.panes.footer import Footer
from workbench.tui.panes.header import Tabs
from workbench.tui.panes.tools import ToolsPane
from workbench.tui.screens.find_routes import FindRoutedScreen
from workbench.tui.screens.requests import Requests
from workbench.tui.screens.showing import Showing
from workbench.tui.services import Services
from workbench.tui.state import State
from workbench.tui.widgets.title import PaneTitle
from workbench.views.sessions import title_of

if TYPE_CHECKING:
    from workbench.tui.panes.composer import Composer
    from workbench.tui.panes.linebar import LineBar


class RoutedScreen(FindRoutedScreen, inherit_bindings=False):
    """A screen that hears its panes; `MainScreen` composes and arranges them."""

    state: State
    services: Services
    showing: Showing
    requests: Requests
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
        self.composer.display = is_shown and self.place in PLACES and self.showing.has_model

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

    @on(messages.Said)
    def _said(self, message: messages.Said) -> None:
        self.say(message.text, is_error=message.is_error, is_kept=message.is_kept)

    @on(messages.KeysChanged)
    def _keys_changed(self) -> None:
        """Say what the keys do now, once the frame is out that shows what the last one did."""
        if not self._says_keys:
            self._says_keys = True
            self.call_after_refresh(self._say_keys)

    def _say_keys(self) -> None:
        self._says_keys = False
        self.showing.footer()
        self.showing.composer()

    @on(messages.DetailWanted)
    def _detail_wanted(self, message: messages.DetailWanted) -> None:
        if message.action_id == self.approvals.queue.cursor and self.has_frame:
            self.showing.detail(message.action_id)

    @on(messages.ToolWanted)
    def _tool_wanted(self, message: messages.ToolWanted) -> None:
        call = next((one for one in self.state.calls if one.id == message.call_id), None)
        shown = self.showing.call_in_full(call.id) if call is not None else None
        if shown is not None:
            self.tools.show_detail(shown)

    @on(messages.SessionChosen)
    def _session_chosen(self, message: messages.SessionChosen) -> None:
        self.state.choose(message.session_id)
        self.showing.everything()
        self.requests.read_said(message.session_id)

    @on(messages.ReplayWanted)
    def _replay_wanted(self, message: messages.ReplayWanted) -> None:
        self.textual.open_replay(message.session_id)

    @on(messages.ForkAsked)
    def _fork_asked(self, message: messages.ForkAsked) -> None:
        from workbench.tui.screens.forking import Forking, position_of

        current = self.state.current
        session = self.state.sessions.get(message.session_id) if message.session_id else current
        if session is None:
            self.say("There is no session here to fork.")
            return
        block, source = message.block, self.state.source
        if block is None:
            Forking(cast("Any", self), session.id, source.position).ask(
                f"Fork “{title_of(session)}” as it is now"
            )
            return
        asked = Forking(cast("Any", self), session.id, lambda: position_of(source, session.id, block))
        asked.ask(f"Fork “{title_of(session)}” as it was at {words.clock(block.at)}")

    @on(messages.BesideWanted)
    def _beside_wanted(self, message: messages.BesideWanted) -> None:
        current = self.state.current
        if current is None or current.id == message.session_id:
            self.say("Put the cursor on another session: it is shown beside the one on show.")
        else:
            self.textual.open_beside(current.id, message.session_id)

    @on(messages.PartWanted)
    def _part_wanted(self, message: messages.PartWanted) -> None:
        self.showing.part(message)

    @on(messages.GoTo)
    def _go_to(self, message: messages.GoTo) -> None:
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

    @on(messages.BackToPane)
    def _back_to_pane(self) -> None:
        self.go_to(self.place)

    @on(messages.NextPane)
    def _next_pane(self) -> None:
        keymap.run("app.pane-next", self)

    @on(messages.FirstWaiting)
    def _first_waiting(self) -> None:
        first = self.showing.summary().first_id
        if first is None:
            self.say("Nothing waits.")
            return
        self.go_to(2)
        self.approvals.queue.put_cursor(first)

    @on(messages.OpenDetail)
    def _open_detail(self, message: messages.OpenDetail) -> None:
        call = next((one for one in self.state.calls if one.id == message.row_id), None)
        action = self.state.actions.get(call.action_id or "") if call else None
        if action is not None and action.state == "pending":
            self.go_to(2)
            self.approvals.queue.put_cursor(action.id)
        elif call is not None:
            self.is_zoomed = True
            self.go_to(3)
            self.tools.list.put_cursor(call.id)

    @on(messages.OpenStep)
    def _open_step(self, message: messages.OpenStep) -> None:
        self.go_to(4)
        if message.step:
            self.pipeline.graph.put_cursor(message.step)

    @on(ApprovalsPane.FullChanged)
    def _full_changed(self) -> None:
        self.rearrange()
        self.showing.footer()

    # --- the line at the bottom -----------------------------------------------------------------

    @on(messages.LineAsked)
    def _line_asked(self, message: messages.LineAsked) -> None:
        self.show_bottom(is_shown=False)
        self.line_bar.ask(message)

    @property
    def line_bar(self) -> "LineBar":
        """Return where a line is typed for a pane."""
        raise NotImplementedError

    def on_line_bar_heard(self, message: "LineBar.Heard") -> None:
        """Hand the words to the pane that asked; named so that the class need not be loaded for it."""
        if message.is_final:
            self._close_line(message.asked)
        message.asked.pane.line_heard(message.asked.purpose, message.text, is_final=message.is_final)

    def on_line_bar_dropped(self, message: "LineBar.Dropped") -> None:
        """Tell the pane that asked that nothing is done."""
        self._close_line(message.asked)
        message.asked.pane.line_dropped(message.asked.purpose)

    def _close_line(self, asked: messages.LineAsked) -> None:
        self.line_bar.close()
        self.show_bottom(is_shown=True)
        pane = asked.pane
        if isinstance(pane, Pane):
            pane.focus_view.focus()
        else:
            self.go_to(self.place)

    # --- what the user asks for -----------------------------------------------------------------

    @on(messages.Decided)
    def _decided(self, message: messages.Decided) -> None:
        is_last = all(one.id == message.action_id for one in self.state.pending)
        self.look()
        self.approvals.decided(message)
        if message.result is not None and message.result.ok:
            if message.verdict in ("approve", "reject") and is_last:
                self.write_next()
            self.requests.ensure_host(self.workspace)
            self.requests.read_asks()

    @on(messages.Decide)
    def _decide(self, message: messages.Decide) -> None:
        self.requests.decide(message)

    @on(messages.Extend)
    def _extend(self, message: messages.Extend) -> None:
        self.requests.extend(message.action_id)

    @on(messages.Refresh)
    def _refresh(self, message: messages.Refresh) -> None:
        self.requests.ask(self.services.refresh, message.action_id, "The new diff is being made.")

    @on(messages.Undo)
    def _undo(self, message: messages.Undo) -> None:
        self.requests.ask(self.services.undo, message.action_id, "Asked to take it back.")

    @on(messages.EditAction)
    def _edit(self, message: messages.EditAction) -> None:
        self.requests.edit(message.action_id)

    @on(messages.PromptSent)
    def _prompt_sent(self, message: messages.PromptSent) -> None:
        self.requests.prompt(message.text)

    @on(messages.Interrupt)
    def _interrupt(self) -> None:
        self.about_session(self.services.interrupt, "Asked to stop.")

    @on(messages.Continue)
    def _continue(self) -> None:
        self.about_session(self.services.go_on, "Goes on.")

    @on(messages.Retry)
    def _retry(self) -> None:
        self.about_session(self.services.go_on, "Asks again.")

    def about_session(self, ask: Callable[[str], None], done: str) -> None:
        """Ask something of the agent of the session on show."""
        if self.state.current is None:
            self.say("There is no session here.")
        else:
            self.requests.ask(ask, self.state.current.id, done)

    @on(messages.Copy)
    def _copy(self, message: messages.Copy) -> None:
        if not self.services.clipboard(message.text):
            self.textual.copy_to_clipboard(message.text)
        self.say("Copied." if not message.what else f"Copied: {message.what}.")

    @on(messages.PipeAsked)
    def _pipe_asked(self, message: messages.PipeAsked) -> None:
        self._piped = message.text
        self.post_message(
            messages.LineAsked(self, "pipe", "Give it to a command", "it runs in this terminal", "run it")
        )

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Run the command that was typed for what is piped."""
        if is_final and purpose == "pipe" and text:
            with contextlib.suppress(SuspendNotSupported), self.textual.suspend():
                self.say(self.services.pipe_to(text, self._piped))

    def line_dropped(self, purpose: str) -> None:
        """Pipe nothing."""
        del purpose
        self._piped = ""

    @on(messages.CommandTyped)
    def _command_typed(self, message: messages.CommandTyped) -> None:
        from workbench.tui.screens.commands import carry_out

        carry_out(self, message.name.lstrip("/"), message.rest)

    @on(messages.LogWanted)
    def _log_wanted(self, message: messages.LogWanted) -> None:
        from workbench.tui.screens.reading import ReadingScreen

        error = message.error
        facts = (
            ("code", error.code),
            ("what", error.message),
            ("why", error.details),
            ("to do", error.remedy),
        )
        lines = [f"{name:<6} {text}" for name, text in facts if text]
        found = self.services.host_log() or ("No host has written a log.",)
        self.textual.push_screen(ReadingScreen("The log", [*lines, "", *found]))

    @on(messages.BatchAsked)
    def _batch_asked(self, message: messages.BatchAsked) -> None:
        from workbench.tui.screens.batch import open_batch

        open_batch(cast("Any", self), message.verdict)

    @on(messages.AlwaysAsked)
    def _always_asked(self, message: messages.AlwaysAsked) -> None:
        from workbench.tui.screens.always import open_always

        open_always(cast("Any", self), message.detail)
