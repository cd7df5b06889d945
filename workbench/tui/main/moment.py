"""Shows what the session on show is about, where the queue has nothing that waits and no pipeline ran."""

from typing import TYPE_CHECKING

from workbench.domain.rows import Call
from workbench.views.conversation_blocks import ThoughtBlock
from workbench.views.tools import (
    Moment,
    call_moment,
    call_of_moment,
    moment_key,
    newest_thought,
    thought_moment,
)

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.tools.moment_pane import MomentPane


class MomentController:
    """Decides whether there is room for the moment, and reads it only then."""

    def __init__(self, context: "MainContext") -> None:
        self._context = context
        self._pane: MomentPane | None = None
        self._read: tuple[object, ...] = ()
        """What the pane shows, as far as it can change."""
        self.is_pinned = False
        """Whether a key of the replay went to a change that no row of the queue shows."""

    @property
    def is_wanted(self) -> bool:
        """Return whether the moment has the room: nothing waits, and nobody reads what was decided."""
        state, approvals = self._context.state, self._context.widgets.approvals
        if state.pending or approvals.is_full or not (state.calls or self._thought):
            return False
        if self.is_pinned:
            return True
        is_read = self._context.places.current == approvals.PLACE
        return not state.runs.rows and not (approvals.queue.rows and is_read)

    @property
    def _thought(self) -> ThoughtBlock | None:
        return newest_thought(self._context.state.transcript.blocks)

    def show(self) -> None:
        """Show the moment if it has room, and make room for it or give that back."""
        if self.is_wanted:
            self._show()
        self._context.layout.refit()

    def put(self, *, is_shown: bool) -> None:
        """Put the pane under the queue's title, or take it away."""
        approvals = self._context.widgets.approvals
        if is_shown and self._pane is None:
            from workbench.tui.tools.moment_pane import MomentPane

            self._pane, self._read = MomentPane(key="moment"), ()
            approvals.screen.query_one("#right").mount(self._pane, after=approvals)
        if self._pane is not None:
            self._pane.display = is_shown
        approvals.set_class(is_shown, "-now")
        approvals.in_place = self._pane.view if self._pane is not None and is_shown else None
        if is_shown:
            self._show()

    def _show(self) -> None:
        if self._pane is None:
            return
        call, thought = call_of_moment(self._context.state.calls), self._thought
        if thought is not None and (call is None or thought.at > moment_key(call)[1]):
            subject: tuple[object, ...] = (thought.id, len(thought.text), thought.is_open)
        else:
            subject = self._subject_of(call)
        if subject != self._read:
            self._read = subject
            self._pane.show(self._moment(call, thought))

    def _subject_of(self, call: Call | None) -> tuple[object, ...]:
        if call is None:
            return ()
        command = self._context.state.transcript.commands.get(call.id)
        written = 0 if command is None else len(command.output)
        changes = sum(event.call_id == call.id for event in self._context.state.file_events)
        return call.id, call.state, call.proposed, moment_key(call), written, changes

    def _moment(self, call: Call | None, thought: ThoughtBlock | None) -> Moment | None:
        if thought is not None and (call is None or thought.at > moment_key(call)[1]):
            return thought_moment(thought)
        if call is None:
            return None
        state = self._context.state
        command = state.transcript.commands.get(call.id)
        whole = self._context.presenter.call_in_full(call.id)
        if whole is None:
            return None
        opened = state.source.opened(whole.action) if whole.action is not None else None
        written = "" if command is None else command.output
        return call_moment(call, whole.events, opened, output=whole.output, written=written)
