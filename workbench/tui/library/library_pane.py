"""The library pane: every session kept, filtered while typing, with a preview."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, cast

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from workbench.domain.rows import Session
from workbench.journal.search import MOST_HITS
from workbench.render import cells
from workbench.render.list_rows import empty_page_lines
from workbench.tui.keyboard import keymap
from workbench.tui.library.library_list import LibraryLoaderPane, LibraryModel
from workbench.tui.pane import KeysChanged, SessionRequest, SessionVerb, StatusMessage
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import LineView, RowList
from workbench.tui.widgets.pane_frame import Divider, StableStatic
from workbench.views.library import LIBRARY_ORDERS, FilterCompletion, SearchHit, complete_filter
from workbench.views.status_icons import told_status

if TYPE_CHECKING:
    from workbench.tui.library.session_actions import SessionActions

    pass

_TWO_COLUMNS_FROM: Final = 100
"""Columns from which the preview stands beside the list."""
_FILTER_HINT: Final = "words, and status: model: provider: in: tag: since: until: origin: is: tool: asked:"


class FilterInput(Input, inherit_bindings=True):
    """The filter, typed on the list."""

    BINDINGS = keymap.bindings("find")

    def action_do(self, key_id: str) -> None:
        self.query_ancestor(LibraryPane).run_key(key_id)


class LibraryPane(LibraryLoaderPane):
    """Place 5."""

    PLACE = 5
    NAME = "Library"
    SCOPES: ClassVar[tuple[str, ...]] = ("library", "list")
    MOVING = frozenset({"list.row-down", "list.row-up", "library.preview-down", "library.preview-up"})
    BINDINGS = keymap.bindings(*SCOPES)

    def __init__(self, shelf: LibraryModel, workspace: str, tools: Callable[[], Sequence[str]]) -> None:
        """Make the place.

        Args:
            shelf: What reads the sessions.
            workspace: That of the screen.
            tools: The names of all tools, asked for in a thread: nobody waits for them.
        """
        super().__init__(shelf, key="library")
        self.add_class("-late")
        self._workspace, self._name_tools = workspace, tools
        self._tools: Sequence[str] = ()
        self.input = FilterInput(id="library-input", select_on_focus=False, compact=True)
        self.input.cursor_blink = False
        self._sign, self._time = StableStatic(id="library-sign"), StableStatic(id="library-time")
        self.list.empty_page = self._empty_page
        self.hint = StableStatic(id="library-hint", classes="-place-hint")
        self._offer = FilterCompletion(begin=0)
        self._offered = 0
        self.progress = ""
        """What an import says of itself; empty while none runs."""
        self.is_watching = False
        """Whether what other agents write is imported by itself."""

    def scopes(self) -> tuple[str, ...]:
        return ("find",) if self.input.has_focus else self.SCOPES

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(id="library-body"):
            with Vertical(id="library-left"):
                with Horizontal(id="library-find"):
                    yield self._sign
                    yield self.input
                    yield self._time
                yield self.list
            yield Divider(key="library-divider")
            with Vertical(id="library-right"):
                yield self.preview_title
                yield self.preview

    def compose(self) -> ComposeResult:
        yield from self.compose_body()

    def on_mount(self) -> None:
        self.query_one("#library-left").mount(self.title_row, before=0)
        self.follow_list()
        self.preview_title.follow(self.preview)
        self.query_one("#library-find").display = False
        self._sign.update(Content.styled(" / ", ink(self).of("info", bold=True)))
        self.say_hint()
        self.find()
        self.list.focus()
        self.actions.look_at_watch()

    def on_resize(self, event: events.Resize) -> None:
        """Show the preview where there is room for it."""
        has_two = event.size.width >= _TWO_COLUMNS_FROM
        self.query_one("#library-right").display = self.query_one("#library-divider").display = has_two
        self.look_soon()
        self.call_after_refresh(self.say_hint)

    @property
    def list_view(self) -> LineView | None:
        return self.list

    @property
    def focus_view(self) -> Widget:
        return self.list

    def found(self) -> None:
        self.title()
        if not self.list.shown.count:
            self.list.invalidate()  # it says why
        self.say_hint()
        self.post_message(KeysChanged())

    @on(RowList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        message.stop()
        self.look_soon()
        self.preview_soon()

    # --- what is said -----------------------------------------------------------------------------

    def title(self) -> None:
        """Say how many there are, where, and in which order."""
        shown, muted = self.list.shown, ink(self).of("muted")
        count = f"{shown.count:,} of {shown.total:,}" if shown.count != shown.total else f"{shown.total:,}"
        marks = f"  {len(self.list.marks)} marked" if self.list.marks else ""
        marks += f"  by the newest {MOST_HITS:,} places" if shown.is_capped else ""
        where = "" if self.wanted.workspace is None else "  this workspace"
        where += "  in step" if self.is_watching else ""
        right = glyphs(self).line(LIBRARY_ORDERS[self.wanted.order % len(LIBRARY_ORDERS)].words)
        self.set_title(Content.styled(f"{count}{where}{marks}", muted), Content.styled(right, muted))
        spent = f"{shown.seconds * 1000:.0f} ms " if self.wanted.text else ""
        self._time.update(Content.styled(spent, muted))

    def _empty_page(self, width: int) -> list[Content]:
        heading, sentence, key_ids = self._empty_words()
        keys = keymap.own_keys(self, key_ids)
        return empty_page_lines(heading, sentence, keys, width, ink(self), glyphs(self))

    def _empty_words(self) -> tuple[str, str, Sequence[tuple[str, str]]]:
        """Return why no session is shown: heading, sentence, keys that help."""
        bring = (
            ("app.session-new", "start a session"),
            ("library.take", "import sessions of other programs"),
        )
        filters = ("list.filter", "change the filter")
        if self.wanted.text:
            return f"Nothing matches “{self.wanted.text}”.", "esc clears the filter.", (filters,)
        if self.wanted.workspace is not None:
            sentence = "No session of this folder is kept."
            return "No sessions here", sentence, (("library.where", "show all folders"), *bring)
        if self.shelf.sessions:
            return "All sessions are archived", "The filter is:archived shows them.", (filters,)
        sentence = "Sessions of all folders are kept here: to find, look at again, replay and continue."
        return "No sessions yet", sentence, bring

    def say_hint(self) -> None:
        """Say on the row over the footer what can be typed, what is wrong in it, or how far an import is."""
        colours, line = ink(self), glyphs(self).line
        problems = self.list.shown.query.problems
        right = "tab completes" if self.input.has_focus else "/ filters"
        if self.progress:
            words, style, right = self.progress, colours.of("info"), "esc cancels it"
        elif problems:
            words, style = f"{'; '.join(problems)}. Write 2026-11-21, 7d, oct or fri.", colours.of("waiting")
        elif self._offer.words and self.input.has_focus:
            words, style = "   ".join(self._offer.words), colours.of("foreground")
        else:
            words, style = _FILTER_HINT, colours.of("muted")
        left = cells.safe_content(f" {line(words)}", style, colours)
        room = max(0, self.size.width - len(right) - 2)
        left = cells.shorten_line(left, room, glyphs(self))
        gap = " " * max(1, self.size.width - left.cell_length - len(right) - 1)
        self.hint.update(Content.assemble(left, gap, (right, colours.of("muted"))))

    # --- the filter ---------------------------------------------------------------------------------

    def ask_filter(self) -> None:
        self.query_one("#library-find").display = True
        self.input.focus()
        self.call_after_refresh(self.say_hint)
        if not self._tools:
            self.run_worker(self._load_tools, group="tools", description="name tools", thread=True)

    def _load_tools(self) -> None:
        self._tools = self._name_tools()

    def filter_by(self, text: str) -> None:
        """Show what passes a filter, as if it had been typed."""
        self.query_one("#library-find").display = bool(text)
        with self.input.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)
        self._want(text=text)

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        self._offered = 0
        self._offer = complete_filter(
            message.value, self.input.cursor_position, self.shelf.sessions.values(), self._tools
        )
        self._want(text=message.value)
        self.say_hint()

    def _want(self, **changes: object) -> None:
        self.wanted = replace(self.wanted, **changes)
        self.find()

    def complete(self) -> None:
        """Write the next of the offered words."""
        if not self._offer.words:
            return
        kept, text = self._offer, self.input.value
        cursor = self.input.cursor_position
        completed, position = kept.taken(text, cursor, self._offered)
        again = self._offered + 1
        with self.input.prevent(Input.Changed):
            self.input.value = completed
        self.input.cursor_position = position
        self._want(text=completed)
        fresh = complete_filter(completed, position, self.shelf.sessions.values(), self._tools)
        is_key = completed[:position].endswith(":")
        self._offer, self._offered = (fresh, 0) if is_key else (kept, again)
        self.say_hint()

    def keep_filter(self) -> None:
        """Go back to the list; the filter stays."""
        self.query_one("#library-find").display = bool(self.input.value)
        self.list.focus()
        self.say_hint()

    def clear_filter(self) -> None:
        """Show everything again."""
        self.filter_by("")
        self.list.focus()
        self.say_hint()

    def on_descendant_focus(self) -> None:
        self.say_hint()

    # --- keys of lists ------------------------------------------------------------------------------

    @property
    def session(self) -> Session | None:
        """Return the session under the cursor."""
        return self.shelf.sessions.get(self.list.cursor or "")

    @property
    def chosen(self) -> list[Session]:
        """Return the marked sessions, else the one under the cursor."""
        # The footer asks again for every key: without marks it must not look through twenty thousand rows.
        lines = self.list.shown.rows.lines
        listed = sorted((key for key in self.list.marks if key in lines), key=lines.__getitem__)
        marked = [session for key in listed if (session := self.shelf.sessions.get(key))]
        return marked or ([self.session] if self.session else [])

    def place_in(self, session_id: str) -> SearchHit | None:
        """Return the chosen place of a session that holds what was typed, if that is on the screen."""
        view = self.preview.view
        is_shown = view is not None and view.id == session_id and self.wanted.text
        return self.preview.place if is_shown else None

    def choose_match(self, step: int) -> None:
        """Choose another place that holds what was typed; where no preview is, say which."""
        said = self.preview.choose(step) if self.wanted.text else ""
        if not said:
            self.post_message(StatusMessage("Nothing is filtered by words: / finds the places of some."))
        elif not self.query_one("#library-right").display:
            self.post_message(StatusMessage(said))

    def next_order(self) -> None:
        self._want(order=(self.wanted.order + 1) % len(LIBRARY_ORDERS))

    def toggle_agents(self) -> None:
        """List the agents that the session under the cursor began below it, or fold them again."""
        key, opened = self.list.cursor or "", self.wanted.opened
        if key not in opened and not self.shelf.tree.all_below(key):
            return
        self.list.opened = opened ^ {key}
        self._want(opened=self.list.opened)

    def why_no_agents(self) -> str:
        """Return why there is nothing to unfold; empty where there is."""
        if self.wanted.text:
            return "What is found by words stands in one list; esc clears the filter."
        has_agents = bool(self.shelf.tree.all_below(self.list.cursor or ""))
        return "" if has_agents else "This session has started no agent whose session is here."

    def toggle_where(self) -> None:
        """Show this workspace only, or all."""
        self._want(workspace=None if self.wanted.workspace else self._workspace)

    def move_to_problem(self, step: int) -> None:
        ids, cursor_line = self.list.ids, self.list.line_of(self.list.cursor or "") or 0
        order = (
            (*range(cursor_line + 1, len(ids)), *range(cursor_line))
            if step > 0
            else (*range(cursor_line - 1, -1, -1), *range(len(ids) - 1, cursor_line, -1))
        )
        for line in order:
            session = self.shelf.sessions.get(ids[line])
            if session is not None and (told_status(session) == "failed" or session.id in self.shelf.waiting):
                self.list.put_cursor(session.id)
                return

    def open_row(self) -> None:
        self.wish("open")

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_row()

    def copy_text(self) -> str:
        return self.session.id if self.session else ""

    def wish(self, what: SessionVerb) -> None:
        """Ask for something to be done with the chosen sessions."""
        self.actions.do(SessionRequest(what, self.chosen))

    def wish_to_import(self) -> None:
        """Ask for files to be taken in; no session is needed for it."""
        self.actions.do(SessionRequest("take", ()))

    def wish_to_watch(self) -> None:
        """Turn the import of what other agents write on or off."""
        self.actions.do(SessionRequest("watch", ()))

    def step_back(self) -> None:
        """Cancel an import, else clear filter and marks, else go back to where the user came from."""
        if self.progress:
            self.actions.do(SessionRequest("cancel", ()))
        elif self.list.marks:
            self.list.marks.clear()
            self.list.invalidate()
            self.title()
        elif self.wanted.text:
            self.clear_filter()
        else:
            self.main.go_back()

    def toggle_mark(self) -> None:
        """Mark the session under the cursor, or take the mark off, and go on."""
        key = self.list.cursor
        if key is not None:
            self.list.marks ^= {key}
            self.list.move(1)
            self.list.invalidate()
            self.title()
            self.post_message(KeysChanged())

    def scroll_preview(self, lines: int) -> None:
        """Scroll the preview."""
        self.preview.scroll_to_line(self.preview.first_line + lines)

    def why_no_row(self) -> str:
        return "" if self.chosen else "there is no session under the cursor"

    def label_of(self, key_id: str) -> str:
        if key_id == "library.delete" and len(self.list.marks) > 1:
            return f"delete {len(self.list.marks)}…"
        if key_id == "library.archive" and self.session is not None and self.session.archived:
            return "put back"
        if key_id == "library.replay" and self.session is not None and self.place_in(self.session.id):
            return "replay at the place"
        return super().label_of(key_id)

    # --- the line at the bottom -----------------------------------------------------------------------

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        if is_final:
            self.actions.do(SessionRequest(cast("SessionVerb", purpose), self.asked_about, text))

    actions: "SessionActions"
    """Does what is asked about sessions; set by who makes the pane."""
    asked_about: Sequence[Session] = ()
    """The sessions that a line asks about: another row may be under the cursor when it is answered."""
