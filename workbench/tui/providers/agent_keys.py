"""Keys of the list of agents and of the page that shows a change of their settings, and what they do."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from workbench.tui.backend import error_text
from workbench.tui.keyboard.keymap import Key
from workbench.tui.list_page.reader import run_in_thread

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.providers.agent_list import AgentScreen
    from workbench.tui.providers.connection_dialog import ConnectionDialog
    from workbench.views.agent_connections import ConnectionAnswers, ConnectionChange

CONNECTIONS: Final[tuple[Key["AgentScreen"], ...]] = (
    Key(id="connections.open", keys=("enter",), label="connect…", tooltip="show what connecting it changes",
        group="Decide", footer=1, in_palette=False,
        action=lambda screen: screen.open_change()),
    Key(id="connections.row-down", keys=("j", "down"), label="row", tooltip="next, previous row", shown="j k",
        group="Move", footer=4, in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="connections.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="connections.remove", keys=("D",), label="disconnect…",
        tooltip="show what disconnecting it changes", group="Decide", footer=3, in_palette=False,
        aliases="delete remove",
        action=lambda screen: screen.open_change(is_removal=True)),
    Key(id="connections.leave", keys=("escape", "q"), label="back", tooltip="back", shown="esc",
        group="Decide", footer=2, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
CONNECTION: Final[tuple[Key["ConnectionDialog"], ...]] = (
    Key(id="connection.write", keys=("enter",), label="write it", tooltip="write what is shown",
        group="Decide", footer=1, in_palette=False, decides=True,
        action=lambda dialog: dialog.write()),
    Key(id="connection.other", keys=("right", "left"), label="answer", shown="← →",
        tooltip="the other answer to the question under the cursor", group="Decide", footer=2,
        in_palette=False,
        action=lambda dialog: dialog.change_answer()),
    Key(id="connection.question", keys=("tab",), label="question",
        tooltip="next question: which calls, whose settings, and what without workbench", group="Move",
        footer=3, in_palette=False, shown="tab",
        action=lambda dialog: dialog.move_question(1)),
    Key(id="connection.question-back", keys=("shift+tab",), label="", tooltip="question before", shown="-",
        group="Move", in_palette=False,
        action=lambda dialog: dialog.move_question(-1)),
    Key(id="connection.line-down", keys=("j", "down"), label="scroll", tooltip="line down, up", shown="j k",
        group="Move", footer=4, in_palette=False,
        action=lambda dialog: dialog.scroll_lines(1)),
    Key(id="connection.line-up", keys=("k", "up"), label="", tooltip="line up", shown="-", group="Move",
        in_palette=False,
        action=lambda dialog: dialog.scroll_lines(-1)),
    Key(id="connection.page-down", keys=("ctrl+d", "pagedown"), label="", tooltip="half a page down, up",
        shown="ctrl+d ctrl+u", group="Move", in_palette=False,
        action=lambda dialog: dialog.scroll_pages(1)),
    Key(id="connection.page-up", keys=("ctrl+u", "pageup"), label="", tooltip="half a page up", shown="-",
        group="Move", in_palette=False,
        action=lambda dialog: dialog.scroll_pages(-1)),
    Key(id="connection.leave", keys=("escape", "q"), label="back, nothing is done", shown="esc",
        tooltip="back, nothing is done", group="Decide", footer=5, in_palette=False,
        action=lambda dialog: dialog.leave()),
)  # fmt: skip


class AgentActions:
    """Agents of one main screen. Everything slow is done in threads."""

    def __init__(self, context: "MainContext") -> None:
        self._context, self._backend = context, context.backend.agents
        self.is_busy = False
        """Whether a change is being written."""

    def open_list(self) -> None:
        """Show the agents of this machine."""
        from workbench.tui.providers.agent_list import AgentScreen

        self._context.app.push_screen(AgentScreen(self._context))

    def read_change(
        self, agent: str, answers: "ConnectionAnswers", show: "Callable[[ConnectionChange], None]",
        refuse: Callable[[str], None], *, is_removal: bool,
    ) -> None:  # fmt: skip
        """Work out what would be changed; `show` or `refuse` is called on the screen's own thread."""

        def work() -> None:
            try:
                change = self._backend.connection_change(agent, answers, is_removal=is_removal)
            except Exception as error:  # noqa: BLE001 whatever a backend says is told, nothing is hidden
                self._context.call_from_thread(refuse, error_text(error))
                return
            self._context.call_from_thread(show, change)

        run_in_thread(self._context.app.main, work, "read settings of an agent")

    def write(self, change: "ConnectionChange", then: Callable[[str, bool], None]) -> None:
        """Write what was shown; `then` gets what to say, and whether it was refused."""
        if self.is_busy:
            return
        if why_not := self._context.backend.may_answer():
            then(why_not, True)
            return
        self.is_busy = True

        def work() -> None:
            try:
                text, is_error = self._backend.write_connection(change), False
            except Exception as error:  # noqa: BLE001 as above
                text, is_error = error_text(error), True
            self._context.call_from_thread(self._written, text, is_error, then)

        run_in_thread(self._context.app.main, work, "change settings of an agent")

    def _written(self, text: str, is_error: bool, then: Callable[[str, bool], None]) -> None:
        self.is_busy = False
        self._context.say(text, is_error=is_error)
        then(text, is_error)
        self._context.tasks.read_elsewhere()
