"""The place of providers: those that are set up, how their servers answer, what was found, and the form.

Each server is asked in a thread of its own, only while this is open, and never waited for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from workbench.render import cells
from workbench.render.cells import Column, key_hint, key_hint_row, wrap_plain_text
from workbench.render.list_rows import icon_column
from workbench.render.theme import ColorName
from workbench.text.human import counted, duration_text, token_text
from workbench.text.safe import one_line
from workbench.text.width import cell_width
from workbench.tui.backend import Trial, error_text
from workbench.tui.keyboard import keymap
from workbench.tui.list_page.reader import ListReader, run_in_thread
from workbench.tui.list_page.screen import ListScreen
from workbench.tui.places import place_number
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.tui.widgets.pager import PagerScreen
from workbench.views.agent_connections import agents_text
from workbench.views.provider_form import SETUP_TEXT
from workbench.views.providers import FoundModel, ProviderReport, ProviderRow, ProviderStatus, ProviderUsage
from workbench.views.status_icons import StatusName
from workbench.views.welcome import NOTHING_FOUND, READING_CALLS, found_text

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_OF_A_PROVIDER: Final = ("providers.test", "providers.model", "providers.change", "providers.remove")
"""Keys that are named only while the cursor is on a provider."""
_ADD: Final = "add a provider…"
_AGENTS: Final = "connect other agents"
_NO_SERVER: Final = "plays recordings"
_MAX_CELLS: Final = 200
_MAX_NAME_CELLS: Final = 20
_STATUS_CELLS: Final = 16
_MODELS_FROM: Final = 90
"""Cells from which the models of a server have a column of their own."""
_FEW_DETAIL_LINES: Final = 3
_MANY_DETAIL_LINES: Final = 12
_DETAIL_FROM: Final = 14
"""Rows of the screen from which the row under the cursor is said in full."""
_MANY_FROM: Final = 30
"""Rows of the screen from which there is room for all that is known of it."""
_MAX_MODELS_SAID: Final = 12


def open_place(context: "MainContext") -> "ProviderScreen":
    """Return the providers of a main screen."""
    return ProviderScreen(context)


def open_settings_file(context: "MainContext") -> None:
    """Show how config.json is written by hand."""
    text = SETUP_TEXT.format(file=f"    {context.backend.config_file()}")
    context.app.push_screen(PagerScreen("Settings", text.splitlines()))


class ProviderList(RowList):
    """Providers, what was found, and the row that opens the form; each part under a caption."""

    def __init__(self) -> None:
        super().__init__(key="providers-list")
        self.rows: dict[str, ProviderRow] = {}
        self.found: dict[str, FoundModel] = {}
        self.statuses: dict[str, ProviderStatus] = {}
        self.usage: Mapping[str, ProviderUsage] = {}
        self.captions: dict[str, str] = {}
        self.agents = ""
        """Other agents of this machine and whether they are connected; empty where there is none."""

    def show_rows(
        self, rows: tuple[ProviderRow, ...] | None, found: tuple[FoundModel, ...], looked: str
    ) -> None:
        """Show providers (None: they are being read), what was found, and how the look went."""
        self.rows = {f"provider:{row.name}": row for row in rows or ()}
        self.found = {f"found:{number}": model for number, model in enumerate(found)}
        none = "Reading config.json …" if rows is None else "No provider is set up yet."
        self.captions = {
            "-providers": "Set up" if self.rows else none,
            "-found": looked, "-blank-1": "", "-blank-2": "",
        }  # fmt: skip
        last = ["add", "agents"] if self.agents else ["add"]
        self.set_ids(["-providers", *self.rows, "-blank-1", "-found", *self.found, "-blank-2", *last])
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        colours, row_id = ink(self), placed.row_id
        if row_id in self.captions:
            words = cells.safe_content(f" {self.captions[row_id]}", colours.of("muted", bold=True))
            return cells.line_strip(words, width, colours.on("background"))
        bar = glyphs(self).of("cursor") if placed.is_cursor else " "
        bold, muted = colours.of("foreground", bold=placed.is_cursor), colours.of("muted")
        columns = [Column(content=Content.styled(bar, colours.of("info")), gap=0)]
        if (row := self.rows.get(row_id)) is not None:
            columns += self._provider_columns(row, bold)
        else:
            found = self.found.get(row_id)
            last = f"{_AGENTS}: {self.agents}" if row_id == "agents" else _ADD
            text = found_text(found) if found is not None else last
            state = "" if found is None else "add" if found.model else "choose a model"
            columns.append(Column(content=cells.safe_content(text, bold, colours), grows=True))
            columns.append(Column(content=Content.styled(state, muted), drop=1))
        columns.append(Column(content=Content(" "), gap=0))
        style = colours.cursor(has_focus=True) if placed.is_cursor else colours.on("background")
        return cells.row_strip(columns, width, style, glyphs=glyphs(self))

    def _provider_columns(self, row: ProviderRow, bold: Style) -> Iterator[Column]:
        colours, signs = ink(self), glyphs(self)
        muted = colours.of("muted")
        icon, words = self.status_words(row)
        used = self.usage.get(row.name)
        tokens = f"{token_text(used.input_tokens + used.output_tokens)} tokens" if used else ""
        cost = f"${used.cost:.2f}" if used and used.cost is not None else ""
        status, has_models = self.statuses.get(row.name), self._has_models
        models = one_line(", ".join(model.id for model in status.models) if status else "", _MAX_CELLS)
        facts = one_line(row.facts.removeprefix(f"{row.model}, ") if has_models else row.facts, _MAX_CELLS)
        yield Column(content=cells.safe_content(row.name, bold, colours), width=self._name_cells)
        yield icon_column(icon, colours, signs, gap=2)
        yield Column(content=Content.styled(words, muted), width=_STATUS_CELLS)
        yield Column(content=Content.styled(row.kind, muted), width=self._kind_cells, drop=4)
        yield Column(
            content=cells.safe_content(facts, muted, colours), grows=not has_models, least=20,
            width=self._facts_cells if has_models else None,
        )  # fmt: skip
        if has_models:
            yield Column(content=cells.safe_content(models, bold, colours), grows=True, least=12, gap=2)
        yield Column(content=Content.styled(tokens, muted), drop=3)
        yield Column(content=Content.styled(cost, muted), drop=2)
        yield Column(content=Content.styled("default" if row.is_default else "", colours.of("info")), drop=1)

    def status_words(self, row: ProviderRow) -> tuple[StatusName, str]:
        """Return the sign and the few words of how a provider's server answers."""
        if not row.has_server:
            return "ok", _NO_SERVER
        status = self.statuses.get(row.name)
        if status is None:
            return "running", "is asked …"
        if status.why_not:
            return "failed", "does not answer"
        count = len(status.models)
        return ("ok", counted(count, "model")) if count else ("partly", "has no model")

    @property
    def _name_cells(self) -> int:
        return min(_MAX_NAME_CELLS, max((len(row.name) for row in self.rows.values()), default=1))

    @property
    def _has_models(self) -> bool:
        return self.width >= _MODELS_FROM and any(one.models for one in self.statuses.values())

    @property
    def _facts_cells(self) -> int:
        longest = max((cell_width(row.facts) for row in self.rows.values()), default=1)
        return min(longest, max(20, self.width // 3))

    @property
    def _kind_cells(self) -> int:
        return max((len(row.kind) for row in self.rows.values()), default=1)


class ProviderScreen(ListScreen, inherit_bindings=False):
    """A box over the main screen: the list, the row under the cursor in full, keys."""

    PLACE = place_number("providers")
    BINDINGS = keymap.bindings("providers")

    def __init__(self, context: "MainContext") -> None:
        rows = ProviderList()
        super().__init__("providers", context, rows)
        self._providers = rows
        self._reader = ListReader(
            self, self._read_rows, self._take_rows, lambda error: self._take_rows((), error_text(error))
        )
        self._detail, self._keys = Static(id="providers-detail"), Static(id="providers-keys")
        self._rows: tuple[ProviderRow, ...] | None = None
        self._said, self._is_error = "", False
        self._said_before = context.providers.said
        """The last change that was said here."""
        self._has_moved = False
        self._asked: dict[str, Trial] = {}
        """Servers that are being asked for their models."""
        self._trial: Trial | None = None
        self._trial_of, self._trial_step, self._trial_began = "", "", 0.0
        self._ticker: Timer | None = None
        self._removal_of = ""
        """The provider that was asked about; the same key again removes it."""
        self._reports: dict[str, ProviderReport | str] = {}
        """What the last test of a provider came to, or why there was none."""

    def compose_box(self) -> Iterable[Widget]:
        yield self._list
        yield self._detail
        yield self._keys

    def opened(self) -> None:
        self.set_titles("Models and providers", "")
        super().opened()
        self._show()
        self._reader.read()
        self._main.providers.look(self._looked)
        self._read_agents()

    def on_unmount(self) -> None:
        """Wait for no server when this is left."""
        for trial in (*self._asked.values(), *([self._trial] if self._trial is not None else [])):
            trial.cancel()

    def fill(self) -> None:
        self._say()

    def on_screen_resume(self) -> None:
        """Read again what the form may have changed, and say what it did."""
        if self._rows is None:
            return
        self._read_agents()
        if self._main.providers.said != self._said_before:
            self._done("")

    # --- what is shown --------------------------------------------------------------------------

    def _read_rows(self) -> tuple[ProviderRow, ...]:
        return tuple(self._main.backend.providers.rows())

    def _take_rows(self, rows: tuple[ProviderRow, ...], why_not: str = "") -> None:
        self._forget_changed(rows)
        self._rows = rows
        if why_not:
            self._said, self._is_error = why_not, True
        self._show()
        self._ask_servers()
        self._read_usage()

    def _forget_changed(self, rows: tuple[ProviderRow, ...]) -> None:
        """Forget what was said of providers that are others now, so that they are asked again."""
        before = {row.name: row.server for row in self._rows or ()}
        for row in rows:
            if before.get(row.name, row.server) != row.server:
                if (trial := self._asked.pop(row.name, None)) is not None:
                    trial.cancel()
                self._providers.statuses.pop(row.name, None)
                self._reports.pop(row.name, None)

    def _ask_servers(self) -> None:
        """Ask every server that was not asked yet, each in a thread."""
        for row in self._rows or ():
            if row.has_server and row.name not in self._asked:
                self._ask_server(row.name)

    def _ask_server(self, name: str) -> None:
        main, trial = self._main, Trial(lambda _: None)
        self._asked[name] = trial

        def work() -> None:
            try:
                status = main.backend.providers.status(name, trial)
            except Exception as error:  # noqa: BLE001 whatever a backend says is told, nothing is hidden
                status = ProviderStatus(provider=name, why_not=error_text(error))
            if not trial.is_cancelled:
                main.call_from_thread(self._take_status, trial, status)

        run_in_thread(self, work, f"ask {name}")

    def _take_status(self, trial: Trial, status: ProviderStatus) -> None:
        if self.is_attached and self._asked.get(status.provider) is trial:
            self._providers.statuses[status.provider] = status
            self._list.invalidate()
            self._say()

    def _read_agents(self) -> None:
        """Read in a thread which other agents are here."""
        main = self._main

        def work() -> None:
            main.call_from_thread(self._take_agents, agents_text(main.backend.agents.agent_rows()))

        run_in_thread(self, work, "look for agents")

    def _take_agents(self, text: str) -> None:
        if self.is_attached and text != self._providers.agents:
            self._providers.agents = text
            self._show()

    def _read_usage(self) -> None:
        """Read in a thread what the sessions of this home took."""
        main = self._main

        def work() -> None:
            usage = main.backend.providers.usage()
            main.call_from_thread(self._take_usage, usage)

        run_in_thread(self, work, "read the usage")

    def _take_usage(self, usage: Mapping[str, ProviderUsage]) -> None:
        if self.is_attached:
            self._providers.usage = usage
            self._list.invalidate()
            self._say()

    def _looked(self) -> None:
        if self.is_attached:
            self._show()

    def _show(self) -> None:
        search = self._main.status.search
        found = self._main.providers.found
        if search is None or not search.is_over:
            looked = READING_CALLS
        elif search.why_not:
            looked = search.why_not
        else:
            looked = "Found, not set up yet" if found else self._nothing_found()
        self._providers.show_rows(self._rows, found, looked)
        if not self._has_moved:
            self._list.move_to_end(is_last=False)
        self._say()

    def _nothing_found(self) -> str:
        return "Nothing else was found on this machine." if self._rows else NOTHING_FOUND

    def _say(self) -> None:
        """Say what was refused, or the row under the cursor in full; then the keys."""
        self.box.set_class(self.size.height >= _MANY_FROM, "-roomy")
        self._detail.display = self.size.height >= _DETAIL_FROM or bool(self._said)
        width, most = max(8, self.box.size.width - 2), self._detail_line_count
        lines = self._detail_lines(width)[:most]
        self._detail.styles.max_height = most + 1
        self._detail.update(Content("\n").join(lines))
        self._keys.update(self._key_line())
        below = len(lines) + 1 if self._detail.display else 0
        room = self.size.height - self.box.gutter.height - below - 1
        self._list.styles.height = max(1, min(len(self._list.ids), room))

    @property
    def _detail_line_count(self) -> int:
        if self.size.height >= _MANY_FROM:
            return _MANY_DETAIL_LINES
        return _FEW_DETAIL_LINES + max(0, (self.size.height - _DETAIL_FROM) // 3)

    def _detail_lines(self, width: int) -> list[Content]:
        colours, line = ink(self), glyphs(self).line
        if self._said:
            texts: list[tuple[str, ColorName]] = [(self._said, "failed" if self._is_error else "muted")]
        else:
            texts = list(self._row_in_full())
        return [
            (Content(" ") + part).stylize(colours.of(shade))  # type: ignore[arg-type]
            for text, shade in texts for part in wrap_plain_text(line(text), width)
        ]  # fmt: skip

    def _row_in_full(self) -> Iterator[tuple[str, ColorName]]:
        cursor = self._list.cursor or ""
        if (row := self._providers.rows.get(cursor)) is not None:
            yield from self._provider_in_full(row)
        elif (found := self._providers.found.get(cursor)) is not None:
            does = "adds it to config.json and uses it" if found.model else "opens the form to choose a model"
            yield f"{found_text(found)}. enter {does}.", "muted"
        elif cursor == "agents":
            yield "enter shows the agents of this machine; their edits and commands can come here.", "muted"
        else:
            text = "A form asks for address, model and key variable, tries them and saves config.json."
            yield text, "muted"

    def _provider_in_full(self, row: ProviderRow) -> Iterator[tuple[str, ColorName]]:
        where = "" if row.is_own else f" It is set in {row.file}."
        note = "New sessions use it." if row.is_default else "enter lets new sessions use it."
        facts = one_line(f"{row.name}, {row.kind}, {row.facts}", _MAX_CELLS)
        if self._trial is not None and self._trial_of == row.name:
            seconds = int(self._main.app.monotonic() - self._trial_began)
            yield f"{seconds} s  {self._trial_step} esc stops it.", "info"
        elif (report := self._reports.get(row.name)) is not None:
            yield from _report_text(report)
        if (status := self._providers.statuses.get(row.name)) is not None:
            yield _status_text(row, status)
        yield f"{facts}. {note}{where}", "muted"
        if (used := self._providers.usage.get(row.name)) is not None:
            yield f"Used: {used.words}.", "muted"

    def _key_line(self) -> Content:
        cursor = self._list.cursor or ""
        enter = (
            "add it"
            if cursor.startswith("found:")
            else "use it"
            if cursor.startswith("provider:")
            else "show them"
            if cursor == "agents"
            else "open the form"
        )
        rows = sorted(keymap.keys_of_scopes(["providers"]), key=lambda key: key.footer)
        users, can_undo = keymap.user_keymap(self), self._main.backend.providers.can_undo()
        hints = [
            key_hint(
                glyphs(self).line(keymap.printed_keys(key, users)),
                enter if key.id == "providers.take" else key.label, ink(self),
            )
            for key in rows
            if key.footer and (key.id != "providers.undo" or can_undo)
            and (key.id not in _OF_A_PROVIDER or self._row is not None)
        ]  # fmt: skip
        return key_hint_row(hints, max(8, self._keys.size.width), keeps=0)

    def row_moved(self, message: RowList.Moved) -> None:
        del message
        self._say()

    # --- what keys ask for ----------------------------------------------------------------------

    def move(self, rows: int) -> None:
        """Go to another row."""
        self._has_moved, self._said, self._is_error, self._removal_of = True, "", False, ""
        super().move(rows)
        self._say()

    def add(self) -> None:
        """Open the form."""
        self._main.providers.open_form()

    def change_provider(self) -> None:
        """Open the form with the provider under the cursor."""
        row = self._row
        if row is None:
            self._tell("There is no provider here that could be changed.")
            return
        self._main.providers.open_change(row.name, self._tell)

    def remove_provider(self) -> None:
        """Ask whether the provider under the cursor goes, then take it out of config.json."""
        row = self._row
        if row is None:
            self._tell("There is no provider here that could be removed.")
        elif not row.is_own:
            self._tell(f"{row.name} is set in {row.file}. Remove it there.")
        elif self._removal_of == row.name and self._said:
            self._removal_of = ""
            self._main.providers.remove(row.name, self._done)
        else:
            self._removal_of = row.name
            self._main.providers.ask_to_remove(row.name, self._ask_about_removal)

    def _ask_about_removal(self, question: str) -> None:
        if self.is_attached and self._removal_of:
            self._said, self._is_error = question, False
            self._say()

    def take(self) -> None:
        """Use the provider under the cursor, add what was found, or open the form."""
        kind, _, rest = (self._list.cursor or "").partition(":")
        if kind == "provider":
            self._main.providers.make_default(rest, self._done)
        elif kind == "found" and self._providers.found[f"found:{rest}"].model:
            self._main.providers.take(int(rest), self._done)
        elif kind == "found":
            self._main.providers.take(int(rest))
        elif kind == "agents":
            self._main.agents.open_list()
        else:
            self.add()

    def _done(self, why_not: str) -> None:
        """Show what a change came to."""
        if not self.is_attached:
            return
        self._said_before = self._main.providers.said
        self._said, self._is_error = why_not or self._said_before, bool(why_not)
        self._reader.read()
        self._main.providers.look(self._looked)

    def undo(self) -> None:
        """Undo the last change."""
        self._main.providers.undo(self._done)

    def look(self) -> None:
        """Look for models again, and ask every server once more."""
        for trial in self._asked.values():
            trial.cancel()
        self._asked.clear()
        self._providers.statuses.clear()
        self._reports.clear()
        self._main.providers.look(self._looked)
        self._show()
        self._reader.read()

    # --- a model of one provider ------------------------------------------------------------------

    @property
    def _row(self) -> ProviderRow | None:
        return self._providers.rows.get(self._list.cursor or "")

    def _tell(self, why_not: str) -> None:
        if self.is_attached:
            self._said, self._is_error = why_not, True
            self._say()

    def choose_model(self) -> None:
        """Leave for the composer, where the model of this session is chosen among those of the provider."""
        row = self._row
        if row is None or not row.has_server:
            self._tell("There is no provider here that a session could ask.")
            return
        status = self._providers.statuses.get(row.name)
        offered = status.models[0].id if status is not None and len(status.models) == 1 else ""
        self.dismiss()
        self._main.widgets.composer.begin(f"/model {row.name}/{row.model or offered}")

    def test(self) -> None:
        """Ask the provider's model for two short replies, one with a call of a tool; seconds are counted."""
        row = self._row
        if row is None or not row.has_server:
            self._tell("There is no provider here that could be tested.")
            return
        if self._trial is not None:
            return
        self._said, name = "", row.name
        main, trial = self._main, Trial(lambda text: main.call_from_thread(self._test_says, trial, text))
        self._trial, self._trial_of, self._trial_step = trial, name, "Asking."
        self._trial_began = main.app.monotonic()
        self._ticker = self.set_interval(1.0, self._say)

        def work() -> None:
            try:
                report: ProviderReport | str = main.backend.providers.test(name, trial)
            except Exception as error:  # noqa: BLE001 whatever a backend says is told, nothing is hidden
                report = error_text(error)
            if not trial.is_cancelled:
                main.call_from_thread(self._tested, trial, report)

        run_in_thread(self, work, f"test {name}")
        self._say()

    def _test_says(self, trial: Trial, text: str) -> None:
        if self.is_attached and trial is self._trial:
            self._trial_step = one_line(text, _MAX_CELLS)
            self._say()

    def _tested(self, trial: Trial, report: ProviderReport | str) -> None:
        if self.is_attached and trial is self._trial:
            self._reports[self._trial_of] = report
            self._end_test()

    def _end_test(self) -> None:
        self._trial = None
        if self._ticker is not None:
            self._ticker.stop()
        self._say()

    @property
    def has_row(self) -> bool:
        return self._row is not None

    def levels(self) -> Iterable[Callable[[], bool]]:
        return (self._stop_test,)

    def _stop_test(self) -> bool:
        if self._trial is None:
            return False
        self._trial.cancel()
        self._reports[self._trial_of] = "The test was stopped."
        self._end_test()
        return True

    def show_file(self) -> None:
        """Show how the file is written by hand."""
        open_settings_file(self._main)


def _status_text(row: ProviderRow, status: ProviderStatus) -> tuple[str, ColorName]:
    if status.why_not:
        return status.why_not, "failed"
    if not status.models:
        return "It answers, and has no model. Load one there.", "waiting"
    own = sorted(status.models, key=lambda model: model.id != row.model)
    names = ", ".join(model.words for model in own[:_MAX_MODELS_SAID])
    more = len(own) - _MAX_MODELS_SAID
    return f"It answers. Models: {names}{f' and {more:,} more' if more > 0 else ''}.", "foreground"


def _report_text(report: "ProviderReport | str") -> Iterator[tuple[str, ColorName]]:
    if isinstance(report, str):
        yield report, "failed"
        return
    for problem in report.problems:
        yield problem, "failed"
    if report.is_well:
        yield (
            f"Tested in {duration_text(report.seconds)}: {report.model} {report.ability_words}.",
            "foreground",
        )
