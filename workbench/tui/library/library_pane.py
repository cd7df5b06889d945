"""The library pane: every session kept, filtered while typing, with a preview."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from msgspec.structs import replace
from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from workbench.domain.rows import Session
from workbench.journal.search import MOST_HITS
from workbench.render import cells
from workbench.render.library import shows_said, time_range
from workbench.tui.keyboard import keymap
from workbench.tui.library.library_list import (
    LibraryList,
    LibraryModel,
    LibraryQuery,
    LibraryResult,
    PreviewView,
)
from workbench.tui.list_page.page import PreviewPage
from workbench.tui.list_page.place import EmptyWords, count_text, no_match
from workbench.tui.list_page.reader import run_in_thread
from workbench.tui.pane import KeysChanged, SessionRequest, SessionVerb, StatusMessage
from workbench.tui.places import place_number
from workbench.tui.render_context import call_once_after, context_of, glyphs, ink
from workbench.tui.state import is_driver_gone
from workbench.tui.widgets.pane_frame import StableStatic
from workbench.views.library import (
    LIBRARY_ORDERS,
    SEPARATOR_ID,
    FilterCompletion,
    SearchHit,
    complete_filter,
)
from workbench.views.statistics import SessionPreview
from workbench.views.status_icons import told_status

if TYPE_CHECKING:
    from workbench.tui.library.session_actions import SessionActions
    from workbench.tui.main.context import MainContext

_ROW_DETAILS_AFTER: Final = 0.03
_PAGES_AHEAD: Final = 5
"""Pages around the screen that are asked about with it, so that moving on asks seldom."""
_FILTER_HINT: Final = "words, and status: model: provider: in: tag: since: until: origin: is: tool: asked:"


class FilterInput(Input, inherit_bindings=True):
    """The filter, typed on the list."""

    BINDINGS = keymap.bindings("find")

    def action_do(self, key_id: str) -> None:
        self.query_ancestor(LibraryPane).run_key(key_id)


class LibraryPane(PreviewPage[LibraryList, PreviewView, LibraryResult]):
    """Place `library`."""

    PLACE = place_number("library")
    NAME = "Library"
    SCOPES: ClassVar[tuple[str, ...]] = ("library", "list")
    MOVING = frozenset({"list.row-down", "list.row-up", "library.preview-down", "library.preview-up"})
    BINDINGS = keymap.bindings(*SCOPES)
    NO_ROW = "there is no session under the cursor"
    NOT_READ = "The library was not read."
    READING = "The sessions are being read.", "", ()
    GHOST = (
        "◆ Add a dark mode            shop      now    1 waits",
        "✓ Fix the flaky login test   shop    12:01     +2 −1",
        "✓ What is tested here        notes     Tue     3 files",
    )

    actions: "SessionActions"
    """Does what is asked about sessions; set by who makes the pane."""
    asked_about: Sequence[Session] = ()
    """The sessions that a line asks about: another row may be under the cursor when it is answered."""

    def __init__(self, shelf: LibraryModel, workspace: str, tools: Callable[[], Sequence[str]]) -> None:
        """Make the place.

        Args:
            shelf: What reads the sessions.
            workspace: That of the screen.
            tools: The names of all tools, asked for in a thread: nobody waits for them.
        """
        super().__init__(LibraryList(shelf), PreviewView(), key="library")
        self.shelf, self._workspace, self._name_tools = shelf, workspace, tools
        self._tools: Sequence[str] = ()
        self.input = FilterInput(id="library-input", select_on_focus=False, compact=True)
        self.input.cursor_blink = False
        self._sign, self._time = StableStatic(id="library-sign"), StableStatic(id="library-time")
        self._find = Horizontal(id="library-find")
        self._offer = FilterCompletion(begin=0)
        self._offered = 0
        self.wanted = LibraryQuery()
        self._changed: set[str] | None = None
        """Sessions that something happened to since they were read; None: all have to be read."""
        self._looks_soon = False
        self.is_watching = False
        """Whether what other agents write is imported by itself."""

    def scopes(self) -> tuple[str, ...]:
        return ("find",) if self.input.has_focus else self.SCOPES

    def compose_list(self) -> Iterable[Widget]:
        self._find.display = False
        with self._find:
            yield self._sign
            yield self.input
            yield self._time
        yield self.list

    def on_mount(self) -> None:
        """Look whether sessions are imported automatically."""
        self._sign.update(Content.styled(" / ", ink(self).of("info", bold=True)))
        self.actions.imports.read_watch()

    def resized(self) -> None:
        self._look_soon()

    def row_moved(self) -> None:
        self._look_soon()
        self.preview_soon()

    # --- reading ------------------------------------------------------------------------------------

    def show(self, view: Collection[str] | None) -> None:
        if self._changed is not None:
            self._changed = None if view is None else self._changed | set(view)
        super().show(view)

    @property
    def is_stale(self) -> bool:
        return bool(self._changed)

    def read_list(self) -> LibraryResult:
        changed, self._changed = self._changed, set()
        if changed is None or changed:
            self.shelf.read(changed)
        return self.shelf.find(self.wanted)

    def reading_failed(self, error: Exception) -> None:
        super().reading_failed(error)
        self._changed = None
        # An older list would pass for what was found.
        self.show_result(LibraryResult())

    def show_result(self, result: LibraryResult) -> None:
        self.list.marks &= set(self.shelf.sessions)
        self.list.take(result)
        if not result.count:
            self.list.invalidate()  # it says why
        self.say()
        self._look_soon()
        self.preview_soon()
        self.post_message(KeysChanged())

    def _look_soon(self) -> None:
        """Ask about the rows that are on the screen in a moment."""
        if not self._looks_soon:
            self._looks_soon = True
            call_once_after(self, _ROW_DETAILS_AFTER, self._look)

    def _look(self) -> None:
        """Ask about the rows that are on the screen."""
        self._looks_soon = False
        rows = self.list.visible_lines
        ids, glances, more = self.list.ids, self.shelf.glances, _PAGES_AHEAD * len(rows)
        seen = [key for key in ids[rows.start : rows.stop] if key != SEPARATOR_ID]
        talks = seen if shows_said(self.list.width) else []
        if all(key in glances for key in seen) and all(key in self.shelf.said for key in talks):
            return
        first, last = max(0, rows.start - more), min(len(ids), rows.stop + more)
        missing = [
            line
            for line in range(first, last)
            if (ids[line] not in glances or ids[line] in talks) and ids[line] != SEPARATOR_ID
        ]

        def work() -> None:
            self.shelf.look(ids[line] for line in missing)
            self.shelf.look_at_said(talks)
            context_of(self).call_from_thread(self._looked, ids, missing)

        run_in_thread(self, work, "look at rows")

    def _looked(self, ids: tuple[str, ...], lines: list[int]) -> None:
        if self.is_attached:
            self.list.invalidate(lines if self.list.ids == ids else None)

    def show_preview(self) -> None:
        key, asked, now = self.list.cursor, self.list.shown.query, self.shelf.now

        def work() -> None:
            preview = (
                self.shelf.preview(key, asked, lambda begin, end: time_range(begin, end, now))
                if key
                else None
            )
            context_of(self).call_from_thread(self._previewed, key, preview)

        run_in_thread(self, work, "preview")

    def _previewed(self, key: str | None, preview: SessionPreview | None) -> None:
        if not self.is_attached or key != self.list.cursor:
            return
        self.preview.show(preview)
        if preview is None:
            self.preview_title.show(Content(" "), Content(" "), "Nothing is chosen")
            return
        sign = Content.assemble(
            (glyphs(self).of(preview.sign), ink(self).sign(preview.sign)), f" {preview.word}"
        )
        self.preview_title.show(
            Content(" "), sign, cells.shorten_line(cells.safe_content(preview.title), 60).plain
        )

    # --- what is said -----------------------------------------------------------------------------

    def say_title(self) -> None:
        if not self.is_read:
            return
        shown, muted = self.list.shown, ink(self).of("muted")
        marks = f"  {len(self.list.marks)} marked" if self.list.marks else ""
        marks += f"  by the newest {MOST_HITS:,} places" if shown.is_capped else ""
        where = "" if self.wanted.workspace is None else "  this workspace"
        where += "  in step" if self.is_watching else ""
        right = glyphs(self).line(LIBRARY_ORDERS[self.wanted.order % len(LIBRARY_ORDERS)].words)
        facts = f"{count_text(shown.count, shown.total)}{where}{marks}"
        self.set_title(Content.styled(facts, muted), Content.styled(right, muted))
        spent = f"{shown.seconds * 1000:.0f} ms " if self.wanted.text else ""
        self._time.update(Content.styled(spent, muted))

    @property
    def is_filtered(self) -> bool:
        return bool(self.wanted.text)

    def empty_words(self) -> EmptyWords:
        bring = (
            ("app.session-new", "start a session"),
            ("library.take", "import sessions of other programs"),
        )
        if self.wanted.text:
            return no_match(self.wanted.text, ("list.filter", "change the filter"))
        if self.wanted.workspace is not None:
            sentence = "No session of this folder is kept."
            return "No sessions here", sentence, (("library.where", "show all folders"), *bring)
        if self.shelf.sessions:
            return "All sessions are archived", "The filter is:archived shows them.", (
                ("list.filter", "change the filter"),
            )  # fmt: skip
        sentence = "Sessions of all folders are kept here: to find, look at again, replay and continue."
        return "No sessions yet", sentence, bring

    def hint_parts(self) -> tuple[Content, str]:
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
        return cells.safe_content(f" {line(words)}", style, colours), right

    # --- the filter ---------------------------------------------------------------------------------

    def ask_filter(self) -> None:
        self._find.display = True
        self.input.focus()
        self.call_after_refresh(self.say_hint)
        if not self._tools:
            run_in_thread(self, self._load_tools, "name tools")

    def _load_tools(self) -> None:
        self._tools = self._name_tools()

    def filter_by(self, text: str) -> None:
        """Show what passes a filter, as if it had been typed."""
        self._find.display = bool(text)
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
        self.read()

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
        self._find.display = bool(self.input.value)
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
        elif not self.second.display:
            self.post_message(StatusMessage(said))

    def next_order(self) -> None:
        self._want(order=(self.wanted.order + 1) % len(LIBRARY_ORDERS))

    @property
    def has_agents(self) -> bool:
        """Return whether the session under the cursor began agents whose sessions are here."""
        return bool(self.shelf.tree.all_below(self.list.cursor or ""))

    def toggle_agents(self) -> None:
        """List the agents that the session under the cursor began below it, or fold them again."""
        key, opened = self.list.cursor or "", self.wanted.opened
        if key not in opened and not self.has_agents:
            return
        self.list.opened = opened ^ {key}
        self._want(opened=self.list.opened)

    def toggle_where(self) -> None:
        """Show this workspace only, or all."""
        self._want(workspace=None if self.wanted.workspace else self._workspace)

    def is_problem(self, row_id: str) -> bool:
        session = self.shelf.sessions.get(row_id)
        return session is not None and (told_status(session) == "failed" or row_id in self.shelf.waiting)

    def open_row(self) -> None:
        self.wish("open")

    def copy_text(self) -> str:
        return self.session.id if self.session else ""

    def wish(self, what: SessionVerb) -> None:
        """Ask for something to be done with the chosen sessions."""
        self.actions.do(SessionRequest(what, self.chosen))

    def wish_to_import(self) -> None:
        """Ask for files to be taken in; no session is needed for it."""
        self.actions.do(SessionRequest("take", ()))

    def levels(self) -> Iterable[Callable[[], bool]]:
        return self.leave_work, self.leave_marks, self.leave_filter

    def leave_filter(self) -> bool:
        if not self.wanted.text:
            return False
        self.clear_filter()
        return True

    @property
    def has_row(self) -> bool:
        return bool(self.chosen)

    def label_of(self, key_id: str) -> str:
        if key_id == "library.delete" and len(self.list.marks) > 1:
            return f"delete {len(self.list.marks)}…"
        if key_id == "library.archive" and self.session is not None and self.session.archived:
            return "put back"
        if key_id == "library.replay" and self.session is not None and self.place_in(self.session.id):
            return "replay at the place"
        return super().label_of(key_id)

    # --- the line at the bottom -----------------------------------------------------------------------

    def line_answered(self, purpose: str, text: str) -> None:
        self.actions.do(SessionRequest(cast("SessionVerb", purpose), self.asked_about, text))


def open_place(context: "MainContext") -> LibraryPane:
    """Return the library of a main screen."""
    from workbench.tui.library.session_actions import SessionActions

    backend, status = context.backend, context.status
    model = LibraryModel(
        context.app.journal, backend.price, status.home, context.app.monotonic,
        partial(is_driver_gone, context.state),
    )  # fmt: skip
    pane = LibraryPane(model, status.workspace, lambda: sorted(backend.rules.known_tools()))
    pane.actions = SessionActions(context, pane)
    return pane
