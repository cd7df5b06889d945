"""What presenter, tasks, panes and dialogs of a main screen share, so that none of them knows the screen."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from textual.message import Message

from workbench.domain.rows import Session, run_title
from workbench.domain.values import SYSTEM_SESSION
from workbench.tui.places import place_number
from workbench.views.sessions import listed_id

if TYPE_CHECKING:
    from workbench.domain.rows import Session
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.approvals.approvals_pane import ApprovalsPane
    from workbench.tui.approvals.decision_writer import DecisionHandler
    from workbench.tui.backend import Backend
    from workbench.tui.conversation.composer import Composer
    from workbench.tui.conversation.conversation_pane import ConversationPane
    from workbench.tui.main.first_page import FirstPage
    from workbench.tui.main.folders import FolderController
    from workbench.tui.main.header import Header
    from workbench.tui.main.layout import LayoutController
    from workbench.tui.main.moment import MomentController
    from workbench.tui.main.place_stack import PlaceStack
    from workbench.tui.main.presenter import Presenter
    from workbench.tui.main.question_page import QuestionPage
    from workbench.tui.main.screen import MainScreen
    from workbench.tui.main.session_strip import SessionStrip
    from workbench.tui.main.sidebar import Sidebar
    from workbench.tui.main.tabs import Tabs
    from workbench.tui.main.tasks import MainTasks
    from workbench.tui.pipeline.pipeline_pane import PipelinePane
    from workbench.tui.providers.agent_keys import AgentActions
    from workbench.tui.providers.provider_keys import ProviderActions
    from workbench.tui.state import ScreenState
    from workbench.tui.tools.tools_pane import ToolsPane
    from workbench.tui.widgets.footer import Footer
    from workbench.tui.widgets.pane_frame import PaneRule
    from workbench.views.action_detail import QuestionCounts
    from workbench.views.conversation_blocks import Block
    from workbench.views.sandbox import SandboxPast, SandboxStanding
    from workbench.views.welcome import ModelSearch


class WorkspaceStatus(Struct, kw_only=True):
    """What is known of a workspace beside its journal; tasks read it again from time to time."""

    workspace: str = ""
    home: str = ""
    """The user's home folder, shown as `~`."""
    branch: str = ""
    has_read_branch: bool = False
    worktrees: str = ""
    """The folder in which the next session gets a git worktree of its own; empty while it gets none."""
    spending: str = ""
    """What the session on show cost, and of what limit."""
    spending_of: tuple[str, int] = ("", 0)
    """The session that `spending` is about, and its tokens then."""
    trouble: str = ""
    """What keeps the host from its work, in a few words."""
    has_model: bool = True
    asks: tuple[str, int] = ("every call", 0)
    """What is asked about, and how many rules let something pass."""
    pipelines_found: int | None = None
    """How many pipelines there are; None while nobody has looked."""
    questions: "QuestionCounts | None" = None
    """How often each answer to the trust question would have asked; None without a history."""
    sandbox: "SandboxStanding | None" = None
    """The sandbox of commands here; None while nobody has looked."""
    sandbox_past: "SandboxPast | None" = None
    """What it would have done with earlier questions; None without a history, and where it is not offered."""
    elsewhere: int = 0
    """How many sessions other folders have."""
    agents: tuple[str, ...] = ()
    """Names of other agents that have sessions on this machine."""
    connectable: tuple[str, ...] = ()
    """Names of the agents whose calls could come here, while none is connected."""
    search: "ModelSearch | None" = None
    """What a look around this machine has found; None where nobody looks: there is a model."""
    added: str = ""
    """The provider that this screen added, and how that is undone."""

    def spending_on(self, session: Session | None) -> str:
        """Return what a session cost, if that was read of it; empty otherwise."""
        return self.spending if session is not None and self.spending_of[0] == session.id else ""


class SessionPanes(Struct, kw_only=True, eq=False):
    """The panes that show one session."""

    conversation: "ConversationPane"
    approvals: "ApprovalsPane"
    tools: "ToolsPane"
    pipeline: "PipelinePane"


class MainWidgets(SessionPanes, kw_only=True, eq=False):
    """The widgets of a main screen that are always there."""

    rail: "Sidebar"
    header: "Header"
    strip: "SessionStrip"
    tabs: "Tabs"
    footer: "Footer"
    rule: "PaneRule"
    composer: "Composer"


class MainContext:
    """The parts of one main screen by their names."""

    presenter: "Presenter"
    layout: "LayoutController"
    places: "PlaceStack"
    first_page: "FirstPage"

    def __init__(
        self,
        screen: "MainScreen",
        state: "ScreenState",
        backend: "Backend",
        decisions: "Callable[[], DecisionHandler]",
        widgets: MainWidgets,
        status: WorkspaceStatus,
    ) -> None:
        self._screen = screen
        self.state, self.backend, self.make_decisions = state, backend, decisions
        self.widgets, self.status = widgets, status
        self.is_leaving = False
        """Whether it is asked just now whether to leave."""

    @cached_property
    def decisions(self) -> "DecisionHandler":
        """Return what writes answers, made for the first one."""
        return self.make_decisions()

    @cached_property
    def tasks(self) -> "MainTasks":
        """Return what the screen has done in threads, loaded behind the first frame."""
        from workbench.tui.main.tasks import MainTasks

        return MainTasks(self._screen, self)

    @cached_property
    def folders(self) -> "FolderController":
        """Return what knows whose folder an action or a session is of."""
        from workbench.tui.main.folders import FolderController

        return FolderController(self)

    @cached_property
    def providers(self) -> "ProviderActions":
        """Return what is done with providers."""
        from workbench.tui.providers.provider_keys import ProviderActions

        return ProviderActions(self)

    @cached_property
    def agents(self) -> "AgentActions":
        """Return what is done with other agents."""
        from workbench.tui.providers.agent_keys import AgentActions

        return AgentActions(self)

    @cached_property
    def moment(self) -> "MomentController":
        """Return what shows the moment where nothing waits."""
        from workbench.tui.main.moment import MomentController

        return MomentController(self)

    @cached_property
    def question_page(self) -> "QuestionPage":
        """Return what shows the question of a demo in the middle of the screen."""
        from workbench.tui.main.question_page import QuestionPage

        return QuestionPage(self)

    @property
    def app(self) -> "WorkbenchApp":
        """Return the app; Textual leaves the type of its result open."""
        return cast("WorkbenchApp", cast("Any", self._screen).app)

    @property
    def is_on_screen(self) -> bool:
        """Return whether nothing stands over the screen."""
        return self.widgets.rule.screen.is_current

    def say(self, text: str, *, is_error: bool = False, is_kept: bool = True) -> None:
        """Say a sentence on the rule; from threads say it by a `StatusMessage`."""
        self._screen.say(text, is_error=is_error, is_kept=is_kept)

    def post(self, message: Message) -> None:
        """Send a message to the screen, from any thread."""
        self._screen.post_message(message)

    def do_key(self, key_id: str) -> None:
        """Do what a key of the screen does."""
        self._screen.action_do(key_id)

    def go_to(self, place: int) -> None:
        """Go to a place."""
        self._screen.go_to(place)

    def go_by_key(self, place: int) -> None:
        """Go to a place; the pane that the user leaves may prepare it."""
        for pane in self.places.panes:
            if pane.has_pane_focus:
                pane.left_for(place)
        self.go_to(place)

    def call_from_thread(self, call: Callable[..., object], *about: object) -> None:
        """Call something of a widget from a thread, and wait for it."""
        self.app.call_from_thread(call, *about)

    def go_back(self) -> None:
        """Go back to where the user was before they went to a place with the whole body."""
        self.go_to(self.places.before)

    def show_session(self, session_id: str) -> None:
        """Show a session or a run in all panes."""
        self._screen.show_session(session_id)

    def follow_session(self, session_id: str) -> bool:
        """Show a session or a run in all panes; False, and nothing moves, while a message is being typed."""
        if self.widgets.composer.is_empty:
            self.show_session(session_id)
            return True
        return False

    def toggle_all_sessions(self, place: str) -> None:
        """Have a pane show every session, or the one on show only, and remember it for the next screens."""
        state, presenter = self.state, self.presenter
        state.show_all_sessions(state.all_sessions ^ {place})
        is_on = place in state.all_sessions
        (presenter.tools if place == "tools" else presenter.pipeline)()
        self.layout.refit()
        presenter.footer()
        self.say("All sessions." if is_on else "The session on show only.")
        if state.source.is_live:
            self.tasks.file(self._keep_all_sessions)

    def _keep_all_sessions(self) -> str:
        self.backend.keep_all_sessions(sorted(self.state.all_sessions))
        return ""

    def show_first_waiting(self) -> bool:
        """Go to what waits first, and show its session in all panes; False where nothing waits."""
        first = self.state.first_waiting()
        if first is None:
            return False
        if first.session_id != SYSTEM_SESSION and not self.state.is_own(first.session_id):
            session = self.state.sessions.get(first.session_id)
            self.follow_session(listed_id(session) or first.session_id)
        self.show_action(first.id)
        return True

    def show_action(self, action_id: str) -> None:
        """Go to an action in the queue."""
        self.go_to(place_number("approvals"))
        self.widgets.approvals.queue.put_cursor(action_id)

    def show_run(self, run_id: str) -> None:
        """Show a run that has just started, in all panes unless a message is being typed, and go to it."""
        self.state.runs.shown = run_id
        self._screen.look()
        if not self.follow_session(run_id):
            self.presenter.pipeline()
        self.go_to(place_number("pipeline"))
        run = self.state.runs.rows.get(run_id)
        self.say(f"{run_title(run)} has started." if run is not None else "The run has started.")

    def open_library(self, text: str) -> None:
        """Go to the library, narrowed by a filter."""
        from workbench.tui.library.library_pane import LibraryPane

        self.go_to(place_number("library"))
        for pane in self.places.opened:  # a replay has none, and has said so
            if isinstance(pane, LibraryPane):
                self._screen.call_after_refresh(pane.filter_by, text)

    def open_findings(self, file: str) -> None:
        """Go to the findings and read a file of them."""
        from workbench.tui.incidents.incidents_pane import IncidentsPane

        self.go_to(place_number("findings"))
        for pane in self.places.opened:
            if isinstance(pane, IncidentsPane):
                pane.call_after_refresh(pane.actions.open_file, file)

    def ask_fork(self, session_id: str | None, block: "Block | None" = None) -> None:
        """Ask for a fork of a session (None: the one on show), from its end or from a block of it."""
        from workbench.tui.library.fork_prompt import ask_fork

        ask_fork(self, session_id, block)

    def ask_undo(self, session_id: str, turn_id: str | None = None) -> None:
        """Show what undoing all file changes of a session, or of one turn of it, would do."""
        from workbench.tui.conversation.undo_dialog import open_undo

        open_undo(self, session_id, turn_id)

    def show_session_diff(self, session: "Session") -> None:
        """Show everything that a session changed."""
        from workbench.tui.library.session_diff_dialog import open_session_diff

        open_session_diff(self, session)

    def open_sub_agent(self, session_id: str) -> None:
        """Show what an agent did that the one on show began, at the moment that is shown."""
        self.app.open_sub_agent(session_id, self.state.source.now())

    def open_beside(self, session_id: str) -> None:
        """Show a session beside the one on show."""
        current = self.state.current
        if current is None or current.id == session_id:
            self.say("Put the cursor on another session: it is shown beside the one on show.")
        else:
            self.app.open_beside(current.id, session_id)
