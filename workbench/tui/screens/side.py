"""One of two recordings that stand side by side: its moment, and the panes that show it.

Owns what one column shows. It is what `Showing` asks a main screen for, with services that do nothing: a
pane here is filled by the same code as live, and answers, asks and runs nothing.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from textual import on
from textual.containers import Vertical

from workbench.domain.rows import Action, Session
from workbench.journal.journal import Journal
from workbench.tui.messages import FindAsked, HitsFound, HitWanted, PartWanted
from workbench.tui.panes.approvals import ApprovalsPane
from workbench.tui.panes.base import Pane
from workbench.tui.panes.conversation import ConversationPane
from workbench.tui.panes.pipeline import PipelinePane
from workbench.tui.panes.tools import ToolsPane
from workbench.tui.replay_source import FORWARD, ReplaySource
from workbench.tui.screens.find_routes import look_for
from workbench.tui.screens.replay import TAIL, NoAnswers, is_off, refusal
from workbench.tui.screens.showing import Showing
from workbench.tui.services import Services
from workbench.tui.state import Changed, State

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

View = Literal["conversation", "approvals", "tools", "pipeline"]
"""What is compared: conversation over calls, the queue with its detail, the calls, the graph."""

_SHOWN: Final[dict[View, frozenset[int]]] = {
    "conversation": frozenset({1, 3}),
    "approvals": frozenset({2}),
    "tools": frozenset({3}),
    "pipeline": frozenset({4}),
}
ALONE: Final = "Two sessions stand beside each other: that is for one alone. esc leads there."
"""Said of keys that lead deeper, or elsewhere."""


class _NoRequests:
    """Requests of a column: none."""

    def parts_of(self, *_: object) -> None:
        """Return None: nothing waits here that would be run."""


class OwnSource(ReplaySource):
    """A recording whose queue holds what it, and what it began, asked: what others asked is not compared."""

    def is_here(self, action: Action) -> bool:
        """Return whether an action was asked by the recorded session, or below it."""
        key, seen = action.session_id, set[str]()
        while key != self.session_id:
            session = self.session(key)
            if session is None or session.parent_id is None or key in seen:
                return False
            seen.add(key)
            key = session.parent_id
        return True


class Side(Vertical):
    """A column: four panes of one recording, of which those that are compared are on the screen."""

    def __init__(
        self, journal: Journal, session: Session, say: Callable[[str], None], live: Services | None = None
    ) -> None:
        super().__init__(classes="beside-side")
        self.session, self.source = session, OwnSource(journal, session)
        self.state = State(self.source)
        self.conversation, self.tools = ConversationPane(key="conversation"), ToolsPane(key="tools")
        self.approvals, self.pipeline = ApprovalsPane(key="approvals"), PipelinePane(key="pipeline")
        why = refusal(self.source.reel.time(0))
        self.live = live or Services()
        """What forks and films: of a file that is only lent, nothing does."""
        self.services, self.answering, self.requests = Services(), NoAnswers(why), _NoRequests()
        self.has_model, self.pipelines_found, self.elsewhere, self._tell = True, 0, 0, say
        self.showing = Showing(cast("MainScreen", self))
        self.view: View = "conversation"
        self._why = why
        for pane in self.panes:
            pane.forbids, pane.is_past = self._forbids, True

    def _forbids(self, key_id: str) -> str:
        return ALONE if key_id == "list.open" else self._why if is_off(key_id) else ""

    def say(self, text: str, **_: object) -> None:
        """Say a sentence where the screen says them."""
        self._tell(text)

    @property
    def panes(self) -> Sequence[Pane]:
        """Return its panes."""
        return self.conversation, self.approvals, self.tools, self.pipeline

    def compose(self) -> Any:
        """Yield the panes."""
        yield from self.panes

    @property
    def focus_view(self) -> Any:
        """Return what has the keys of what is compared."""
        return next(pane for pane in self.panes if pane.PLACE in _SHOWN[self.view]).focus_view

    # --- the moment -----------------------------------------------------------------------------

    def load(self, index: int) -> None:
        """Read a moment as a whole."""
        self.source.seek(index)
        self.state.load(self.session.id, TAIL)
        self.everything()

    def go(self, index: int) -> None:
        """Show a moment: what came until a near later one is folded, any other is read."""
        source = self.source
        if index == source.index:
            return
        if source.index < index <= source.index + FORWARD:
            self._show(self.state.apply(source.go_on(index)))
        else:
            self.load(index)

    def look(self, view: View) -> None:
        """Compare something else."""
        self.view = view
        for pane in self.panes:
            pane.display = pane.PLACE in _SHOWN[view]
        self.tools.styles.height = 8 if view == "conversation" else "1fr"
        self.everything()

    def everything(self) -> None:
        """Show what is compared, as after going to another moment."""
        self._show(None)

    def _show(self, changed: Changed | None) -> None:
        shown, showing = _SHOWN[self.view], self.showing
        if 1 in shown:
            showing.conversation(None if changed is None else frozenset(changed.blocks))
        if 2 in shown:
            showing.queue(changed or Changed())
            showing.detail(self.approvals.queue.cursor)
        if 3 in shown:
            showing.tools()
        if 4 in shown:
            showing.pipeline()

    @on(PartWanted)
    def _part_wanted(self, message: PartWanted) -> None:
        message.stop()
        self.showing.part(message)

    # --- finding words ----------------------------------------------------------------------------

    @on(FindAsked)
    def _find_asked(self, message: FindAsked) -> None:
        message.stop()
        text = message.text
        if text:
            self.run_worker(
                lambda: look_for(self.source, self.session.id, text, self.conversation, self.post_message),
                group="find", description="find in the conversation", thread=True, exclusive=True,
                exit_on_error=False,
            )  # fmt: skip

    @on(HitsFound)
    def _hits_found(self, message: HitsFound) -> None:
        message.stop()
        self.conversation.take_hits(message)

    @on(HitWanted)
    def _hit_wanted(self, message: HitWanted) -> None:
        message.stop()
        hit = message.hit
        if not self.conversation.view.has_block(hit.block_id) and self.state.look_at(hit.number):
            self.showing.another_part()
        self.conversation.show_hit(hit)

    def show_call(self, call_id: str | None) -> None:
        """Show a call in full, if it is the one under the cursor here."""
        shown = self.showing.call_in_full(call_id) if call_id == self.tools.list.cursor else None
        if shown is not None:
            self.tools.show_detail(shown)

    def show_step(self, drawn: str) -> None:
        """Show a step in full, if it is the one under the cursor here."""
        if self.pipeline.run is not None and drawn == self.pipeline.graph.cursor:
            self.pipeline.show_step(self.showing.step_in_full(drawn))

    def tick(self, now: int) -> None:
        """Show what counts down or runs at a time between two events."""
        self.source.set_clock(now)
        for pane in self.panes:
            if pane.display:
                pane.tick(now)
        if self.pipeline.display and self.state.runs.looks_otherwise(now):
            self.showing.pipeline()
