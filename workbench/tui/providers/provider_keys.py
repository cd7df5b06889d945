"""Keys of the list of providers and of the form that adds one, and what they do."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from workbench.tui.backend import error_text
from workbench.tui.keyboard.keymap import Key
from workbench.tui.list_page.reader import run_in_thread
from workbench.views.welcome import ModelSearch

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.providers.provider_dialog import ProviderDialog
    from workbench.tui.providers.provider_list import ProviderScreen
    from workbench.views.provider_form import ProviderFields
    from workbench.views.providers import FoundModel


PROVIDERS: Final[tuple[Key["ProviderScreen"], ...]] = (
    Key(id="providers.take", keys=("enter",), label="use it", tooltip="add it, use it, or open the form",
        group="Decide", footer=1, in_palette=False, decides=True,
        action=lambda screen: screen.take()),
    Key(id="providers.row-down", keys=("j", "down"), label="row", tooltip="next, previous row", shown="j k",
        group="Move", footer=9, in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="providers.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="providers.test", keys=("t",), label="test", tooltip="ask its model for two short replies",
        group="Decide", footer=4, in_palette=False, decides=True,
        action=lambda screen: screen.test()),
    Key(id="providers.model", keys=("m",), label="its models",
        tooltip="choose one of its models for this session", group="Decide", footer=5, in_palette=False,
        opens_field=True,
        action=lambda screen: screen.choose_model()),
    Key(id="providers.add", keys=("A",), label="add one", tooltip="add a provider by a form", group="Decide",
        footer=6, in_palette=False, opens_field=True,
        action=lambda screen: screen.add()),
    Key(id="providers.change", keys=("e",), label="edit", tooltip="change it in the form", group="Decide",
        footer=7, in_palette=False, opens_field=True,
        action=lambda screen: screen.change_provider()),
    Key(id="providers.remove", keys=("D",), label="remove…", tooltip="take it out of config.json",
        group="Decide", footer=8, in_palette=False, decides=True, aliases="delete remove",
        action=lambda screen: screen.remove_provider()),
    Key(id="providers.undo", keys=("u",), label="undo", tooltip="undo what was changed here last",
        group="Decide", footer=3, in_palette=False, decides=True,
        action=lambda screen: screen.undo()),
    Key(id="providers.look", keys=("r",), label="ask again",
        tooltip="ask every server and look for models on this machine again",
        group="Many", footer=10, in_palette=False,
        action=lambda screen: screen.look()),
    Key(id="providers.file", keys=("f",), label="set-up page", tooltip="how config.json is written by hand",
        group="Read", footer=11, in_palette=False,
        action=lambda screen: screen.show_file()),
    Key(id="providers.leave", keys=("escape", "q"), label="back", tooltip="back", shown="esc",
        group="Decide", footer=2, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
# In the form what acts is no letter, so it need not come alone: it is pressed right behind what was typed.
PROVIDER: Final[tuple[Key["ProviderDialog"], ...]] = (
    Key(id="provider.next", keys=("tab",), label="field", tooltip="field after, before", shown="tab",
        group="Move", footer=4, in_palette=False,
        action=lambda dialog: dialog.to_field(1)),
    Key(id="provider.previous", keys=("shift+tab",), label="", tooltip="field before", shown="-",
        group="Move", in_palette=False,
        action=lambda dialog: dialog.to_field(-1)),
    Key(id="provider.choice-next", keys=("down",), label="choose", tooltip="choice after, before; else field",
        shown="↑ ↓", group="Move", footer=5, in_palette=False,
        action=lambda dialog: dialog.choose(1)),
    Key(id="provider.choice-previous", keys=("up",), label="", tooltip="choice before", shown="-",
        group="Move", in_palette=False,
        action=lambda dialog: dialog.choose(-1)),
    Key(id="provider.try", keys=("ctrl+r",), label="try it", is_override=True,
        tooltip="ask for its models, and make one small request with a tool", group="Decide", footer=2,
        in_palette=False,
        action=lambda dialog: dialog.try_it()),
    Key(id="provider.save", keys=("f2",), label="save", tooltip="write it into config.json",
        group="Decide", footer=1, in_palette=False,
        action=lambda dialog: dialog.save()),
    Key(id="provider.leave", keys=("escape",), label="back", tooltip="back; what is written is kept",
        group="Decide", footer=3, in_palette=False,
        action=lambda dialog: dialog.leave()),
)  # fmt: skip


_OWN_CHANGE_SECONDS: Final = 5.0
"""How long a change of the file that is noticed is taken for the one that was written here."""
HOW_TO_UNDO: Final = "/provider undo removes it again."
_HOW_TO_RESTORE: Final = "/provider undo takes it back."


class ProviderActions:
    """Providers of one main screen. Everything slow is done in threads."""

    def __init__(self, context: "MainContext") -> None:
        self._context, self._backend = context, context.backend.providers
        self.fields: ProviderFields | None = None
        """What stands in a form that was left and not saved."""
        self.is_busy = False
        """Whether a change is being written."""
        self.said = ""
        """What the last change was, as it was said."""
        self._changed_at = float("-inf")

    @property
    def has_just_changed(self) -> bool:
        """Return whether this screen changed the configuration a moment ago, and said so."""
        return self._context.app.monotonic() - self._changed_at < _OWN_CHANGE_SECONDS

    # --- what was found -------------------------------------------------------------------------

    def look(self, then: Callable[[], None] | None = None) -> None:
        """Look for models on this machine, and show on the first page what was found.

        Args:
            then: is called on the screen's own thread when the look is over.
        """
        self._context.status.search = ModelSearch()
        self._context.first_page.show()

        def work() -> None:
            try:
                search = ModelSearch(is_over=True, found=tuple(self._backend.search()))
            except Exception as error:  # noqa: BLE001 whatever a backend says is told, nothing is hidden
                search = ModelSearch(is_over=True, why_not=error_text(error))
            self._context.call_from_thread(self._show_found, search, then)

        self._run(work, "look for models")

    def _show_found(self, search: ModelSearch, then: Callable[[], None] | None) -> None:
        self._context.status.search = search
        self._context.first_page.show()
        self._context.presenter.footer()
        if then is not None:
            then()

    @property
    def found(self) -> "tuple[FoundModel, ...]":
        """Return what the last look found."""
        search = self._context.status.search
        return search.found if search is not None else ()

    def take(self, index: int, then: Callable[[str], None] | None = None) -> None:
        """Add what was found and use it; where a model has to be chosen, open the form with the rest."""
        if index >= len(self.found):
            return
        from workbench.views.provider_form import fields_of

        found = self.found[index]
        if not found.model:
            self.open_form(fields_of(found))
            return
        self.save(fields_of(found), then)

    # --- changes of the configuration -----------------------------------------------------------

    def save(self, fields: "ProviderFields", then: Callable[[str], None] | None = None) -> None:
        """Add a provider; `then` is told on the screen's own thread why not, nothing when it is there."""

        def done(text: str) -> None:
            self.fields = None
            can_undo = self._backend.can_undo()
            self._context.status.added = f"{fields.name} added; /provider undo" if can_undo else ""
            self._say(f"{text} {HOW_TO_UNDO}" if can_undo else text)

        self._change(lambda: self._backend.save(fields), done, then)

    def change(self, fields: "ProviderFields", then: Callable[[str], None] | None = None) -> None:
        """Change a provider that is set up; `then` as for `save`."""
        self._change(lambda: self._backend.change(fields), self._say_undoable, then)

    def remove(self, name: str, then: Callable[[str], None] | None = None) -> None:
        """Take a provider out of the configuration; `then` as for `save`."""
        self._change(lambda: self._backend.remove(name), self._say_undoable, then)

    def _say_undoable(self, text: str) -> None:
        self._context.status.added = ""
        self._say(f"{text} {_HOW_TO_RESTORE}" if self._backend.can_undo() else text)

    def make_default(self, name: str, then: Callable[[str], None]) -> None:
        """Let new sessions use a provider."""
        self._change(lambda: self._backend.make_default(name), self._say, then)

    def undo(self, then: Callable[[str], None] | None = None) -> None:
        """Undo the last change of this screen."""

        def done(text: str) -> None:
            self._context.status.added = ""
            self._say(text)

        self._change(self._backend.undo, done, then)

    def _say(self, text: str) -> None:
        self.said = text
        self._context.say(text)

    def _change(
        self, work: Callable[[], str], done: Callable[[str], None], then: Callable[[str], None] | None
    ) -> None:
        """Change the configuration in a thread; say what was written, or why not."""
        if self.is_busy:
            return
        if why_not := self._context.backend.may_answer():
            self._refused(why_not, then)
            return
        self.is_busy = True

        def worked() -> None:
            try:
                text = work()
            except Exception as error:  # noqa: BLE001 as above
                self._context.call_from_thread(self._refused, error_text(error), then)
                return
            self._context.backend.configuration_changed()
            has_model = self._context.backend.has_model()
            self._context.call_from_thread(self._changed, has_model, lambda: done(text), then)

        self._run(worked, "change a provider")

    def _refused(self, why_not: str, then: Callable[[str], None] | None) -> None:
        self.is_busy = False
        self._context.say(why_not, is_error=True)
        if then is not None:
            then(why_not)

    def _changed(self, has_model: bool, done: Callable[[], None], then: Callable[[str], None] | None) -> None:
        context = self._context
        self.is_busy, had_model = False, context.status.has_model
        context.status.has_model, self._changed_at = has_model, context.app.monotonic()
        done()
        if then is not None:
            then("")
        context.presenter.everything()
        context.layout.rearrange()
        if has_model and not had_model:
            context.widgets.composer.focus_input()
        elif had_model and not has_model:
            context.go_to(context.widgets.conversation.PLACE)
            self.look()
        context.presenter.footer()
        context.tasks.read_trouble()

    def _run(self, work: Callable[[], None], description: str) -> None:
        run_in_thread(self._context.app.main, work, description)

    # --- list and form --------------------------------------------------------------------------

    def open_list(self) -> None:
        """Show what is set up and what was found."""
        from workbench.tui.providers.provider_list import ProviderScreen

        self._context.app.push_screen(ProviderScreen(self._context))

    def open_form(self, fields: "ProviderFields | None" = None) -> None:
        """Show the form: with what was found, with what was left in it, or empty."""
        from workbench.tui.providers.provider_dialog import ProviderDialog

        self._context.app.push_screen(ProviderDialog(self._context, fields or self.fields))

    def open_change(self, name: str, then: Callable[[str], None]) -> None:
        """Show the form with a provider that is set up; `then` is told why it cannot be changed there."""

        def work() -> None:
            try:
                fields = self._backend.form_of(name)
            except Exception as error:  # noqa: BLE001 as above
                self._context.call_from_thread(then, error_text(error))
                return
            self._context.call_from_thread(self._show_change, fields)

        self._run(work, "read a provider")

    def _show_change(self, fields: "ProviderFields") -> None:
        from workbench.tui.providers.provider_dialog import ProviderDialog
        from workbench.tui.providers.provider_list import ProviderScreen

        if not isinstance(self._context.app.screen, ProviderScreen):
            return  # the list was left meanwhile
        self._context.app.push_screen(ProviderDialog(self._context, fields, is_change=True))

    def ask_to_remove(self, name: str, then: Callable[[str], None]) -> None:
        """Tell on the screen's own thread what would become of sessions without a provider."""

        def work() -> None:
            count = self._backend.asking_sessions(name)
            self._context.call_from_thread(then, _removal_question(name, count))

        self._run(work, "count sessions of a provider")

    def command(self, words: str) -> None:
        """Do what `/provider` says: open the list, with `add` the form; `undo` takes the last change back."""
        match words.strip():
            case "":
                self.open_list()
            case "add":
                self.open_form()
            case "undo":
                self.undo()
            case _:
                self._context.say("There is /provider, /provider add and /provider undo.", is_error=True)


def _removal_question(name: str, count: int) -> str:
    asked = f"Remove {name} from config.json? The same key again removes it; u puts it back."
    if not count:
        return asked
    many = "1 session asks it" if count == 1 else f"{count:,} sessions ask it"
    return f"{asked} {many} and cannot continue until /model names another one."
