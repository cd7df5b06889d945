"""Finding words in the conversation on show: the part of the main screen's routing that reads for it.

Owns the thread that reads a session from its newest event back, and that a search which nobody waits for any
more reads no further.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from textual import on
from textual.message import Message

from workbench.domain.events import Event
from workbench.tui import history, messages
from workbench.tui.panes.conversation import ConversationPane
from workbench.tui.screens.run_routes import RunRoutedScreen
from workbench.tui.screens.showing import Showing
from workbench.tui.state import State
from workbench.views.finding import hits_of
from workbench.views.source import Source

_ALL = 1_000_000


class FindRoutedScreen(RunRoutedScreen, inherit_bindings=False):
    """A screen that finds."""

    state: State
    showing: Showing
    conversation: ConversationPane

    @on(messages.FindAsked)
    def _find_asked(self, message: messages.FindAsked) -> None:
        current, text, source = self.state.current, message.text, self.state.source
        if current is None or not text:
            return

        def work() -> None:
            look_for(source, current.id, text, self.conversation, self.post_message)

        self.run_worker(
            work, group="find", description="find in the conversation", thread=True, exclusive=True,
            exit_on_error=False,
        )  # fmt: skip

    @on(messages.HitsFound)
    def _hits_found(self, message: messages.HitsFound) -> None:
        current = self.state.current
        if current is not None and current.id == message.session_id:
            self.conversation.take_hits(message)

    def note_found(self, events: Iterable[Event]) -> None:
        """Look for the same words in what has just happened."""
        current = self.state.current
        if current is not None:
            self.conversation.take_events(event for event in events if event.session_id == current.id)

    @on(messages.HitWanted)
    def _hit_wanted(self, message: messages.HitWanted) -> None:
        if not self.conversation.view.has_block(message.hit.block_id) and self.state.look_at(
            message.hit.number
        ):
            self.showing.another_part()
        self.conversation.show_hit(message.hit)


def look_for(
    source: Source, session_id: str, text: str, pane: ConversationPane, tell: Callable[[Message], object]
) -> None:
    """Tell of hits in a session, the newest first, as long as its pane looks for the text; in a thread."""
    for events in _pieces(source, session_id):
        if pane.finding.text != text:
            return
        hits = [hit for event in events for hit in hits_of(event, text)]
        tell(messages.HitsFound(session_id, text, hits, is_whole=False))
    tell(messages.HitsFound(session_id, text, (), is_whole=True))


def _pieces(source: Source, session_id: str) -> Iterator[Sequence[Event]]:
    if isinstance(source, history.Archive):
        yield from history.pieces(source, session_id)
    else:
        yield source.events(session_id, 0, _ALL)
