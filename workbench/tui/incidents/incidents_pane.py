"""The pane of findings: a list of incidents, filtered and grouped, and the one under the cursor in full."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec
from textual.content import Content

from workbench.domain.machines import LOST
from workbench.render import cells
from workbench.render.cells import measured_bar
from workbench.render.incidents import IncidentDetail
from workbench.text.human import clock_time, counted
from workbench.tui.incidents.incident_list import (
    IncidentDetailView,
    IncidentModel,
    IncidentRows,
    row_id,
)
from workbench.tui.keyboard import keymap
from workbench.tui.list_page.page import PreviewPage
from workbench.tui.list_page.place import EmptyWords, count_text, no_match
from workbench.tui.list_page.reader import run_in_thread
from workbench.tui.pane import KeysChanged, SessionChosen, StatusMessage
from workbench.tui.places import place_key_id, place_number
from workbench.tui.render_context import context_of, glyphs, ink
from workbench.tui.state import is_driver_gone
from workbench.tui.widgets.screen_sizes import MEDIUM, TALL
from workbench.views.incidents import (
    GROUP_NAMES,
    IncidentRow,
    IncidentSnapshot,
    count_incidents,
    filter_incidents,
    group_incidents,
)

if TYPE_CHECKING:
    from workbench.tui.incidents.incident_actions import IncidentActions
    from workbench.tui.main.context import MainContext

_BAR_CELLS: Final = 12
_LEAST_LIST_ROWS: Final = 6
"""Rows of a list above its finding: an empty one has to say why."""
_LIST_SHARE: Final = 3
"""A list of at most this part of the body is shown above its finding instead of next to it."""
_PROBLEM_STATES: Final = ("waiting", "failed", "unchanged")
_PAUSES: Final = {
    "parked": "continues after your answers", "unattended": "nobody answered; c continues it",
    "host lost": "its process ended; c continues it", "limit reached": "a limit; c continues it",
}  # fmt: skip
"""Why the work rests, and what lets it continue; whole at 80 columns."""
_EMPTY_KEYS: Final = (
    ("incidents.take", "open a file of findings, or run a checker"),
    (place_key_id("library"), "the library: earlier sessions"),
)


class IncidentsPane(PreviewPage[IncidentRows, IncidentDetailView, IncidentSnapshot | None]):
    """Place `findings`."""

    PLACE = place_number("findings")
    NAME = "Findings"
    SCOPES: ClassVar[tuple[str, ...]] = ("incidents", "list")
    MOVING = frozenset({"list.row-down", "list.row-up", "incidents.detail-down", "incidents.detail-up"})
    BINDINGS = keymap.bindings(*SCOPES)
    TWO_COLUMNS_FROM = 140
    FILTER_TITLE = "Filter findings"
    FILTER_HINT = "words, severity: rule: file: outcome: category:, - leaves out"
    NO_ROW = "there is no finding under the cursor"
    NO_PROBLEM = "No finding waits, failed or is unchanged."
    NOT_READ = "The findings were not read."
    READING = "The findings are being read.", "", ()
    GHOST = (
        "! F401   src/shop/cart.py:3      os is imported, but not used",
        "! E711   src/shop/router.py:41   comparison to None",
    )

    actions: "IncidentActions"
    """Does what is asked about incidents; set by who makes the pane."""

    def __init__(self, model: IncidentModel) -> None:
        detail = IncidentDetailView(key="incidents-detail", can_focus=False)
        super().__init__(IncidentRows(), detail, key="incidents")
        self.model = model
        self.detail = detail
        self.snapshot: IncidentSnapshot | None = None
        self.wanted = ""
        """The list to show; empty is the newest."""
        self._group = 0

    @property
    def has_second(self) -> bool:
        return self.snapshot is not None

    @property
    def is_stacked(self) -> bool:
        """Return whether the list is above the finding: all of its rows take a third of the body at most."""
        rows = len(self.snapshot.rows) if self.snapshot is not None else 0
        has_room = self.size.width >= MEDIUM and self.size.height >= TALL
        return has_room and 0 < rows <= self.size.height // _LIST_SHARE

    def arrange_columns(self) -> None:
        super().arrange_columns()
        is_stacked = self.is_stacked and not self.is_bare
        self.set_class(is_stacked, "-stacked")
        if is_stacked:
            self.second.display, self._divider.display = True, False
        self._fit_list()

    def _fit_list(self) -> None:
        """Give a list above its finding the rows of all findings: a filter moves nothing below it."""
        is_stacked = self.has_class("-stacked")
        every = len(self.snapshot.rows) if self.snapshot is not None else 0
        rows = max(_LEAST_LIST_ROWS, every, self.list.line_count)
        self.list.styles.height = min(rows, self.size.height // 2) if is_stacked else "1fr"

    def resized(self) -> None:
        self.preview_soon()

    def row_moved(self) -> None:
        self.preview_soon()

    # --- reading, in a thread -----------------------------------------------------------------------

    def read_list(self) -> IncidentSnapshot | None:
        return self.model.read(self.wanted)

    def reading_failed(self, error: Exception) -> None:
        super().reading_failed(error)
        self.show_result(None)

    def show_result(self, result: IncidentSnapshot | None) -> None:
        before, was_working = self.snapshot, self.is_working
        self.snapshot = result
        is_same = before is not None and result is not None and before.session.id == result.session.id
        if not is_same:
            self.list.marks.clear()
        if before is None or result is None or before.rows is not result.rows:
            self.lay_out()
        if result is not None:
            rows = result.rows
            run_in_thread(self, lambda: self.model.texts.prepare(rows), "prepare the filter")
            if is_same and was_working and not self.is_working:
                words = count_incidents(rows).words
                self.post_message(StatusMessage(f"The work on these findings has ended: {words}."))
        self.say()
        self.post_message(KeysChanged())

    def lay_out(self) -> None:
        self.arrange_columns()
        rows = self.snapshot.rows if self.snapshot is not None else ()
        kept = filter_incidents(rows, self.text_filter, self.model.texts)
        self.list.take(group_incidents(kept, GROUP_NAMES[self._group]))
        self._fit_list()
        if not kept:
            self.list.invalidate()  # it says why
        self.preview_soon()

    def show_list(self, step: int) -> None:
        """Show another list: the newer one (-1) or the older one (1)."""
        ids = [session.id for session in self.model.lists]
        here = ids.index(self.snapshot.session.id) if self.snapshot is not None else 0
        self.open_list(ids[(here + step) % len(ids)])

    def open_list(self, list_id: str) -> None:
        """Show a list by its session's id."""
        self.wanted = list_id
        self.read()

    # --- the finding under the cursor -----------------------------------------------------------------

    @property
    def row(self) -> IncidentRow | None:
        """Return the row under the cursor."""
        return self.list.rows.get(self.list.cursor or "")

    @property
    def chosen(self) -> list[IncidentRow]:
        """Return the marked rows, else the one under the cursor."""
        marked = self.marked
        return marked or ([self.row] if self.row is not None else [])

    @property
    def marked(self) -> list[IncidentRow]:
        """Return the marked rows in the order of the list, those that a filter hides too."""
        rows = self.snapshot.rows if self.snapshot is not None else ()
        return [row for row in rows if row_id(row) in self.list.marks] if self.list.marks else []

    @property
    def listed(self) -> list[IncidentRow]:
        """Return the rows that pass the filter, as they stand on the screen."""
        return [row for key in self.list.ids if (row := self.list.rows.get(key)) is not None]

    def show_preview(self) -> None:
        if not self.second.display:
            return
        if self.row is None:
            self._show_detail(None)
        else:
            self.read_detail(self.row, self._show_detail)

    def read_detail(self, row: IncidentRow, tell: Callable[[IncidentDetail], None]) -> None:
        """Read an incident in full in a thread; `tell` is given it on the screen's own."""

        def work() -> None:
            try:
                detail = self.model.detail(row)
            except Exception as error:  # noqa: BLE001 as above
                self.post_message(StatusMessage(f"The finding was not read. {error}", is_error=True))
                return
            context_of(self).call_from_thread(tell, detail)

        run_in_thread(self, work, "read a finding")

    def _show_detail(self, detail: IncidentDetail | None) -> None:
        if not self.is_attached or (detail is not None and detail.row is not self.row):
            return
        self.detail.show(detail)
        title = "Nothing is chosen" if detail is None else cells.safe_content(detail.row.place).plain
        self.preview_title.show(Content(" "), Content(" "), title)

    # --- what is said ---------------------------------------------------------------------------------

    @property
    def is_working(self) -> bool:
        """Return whether something is asked for that has not ended."""
        return self.snapshot is not None and any(row.is_requested for row in self.snapshot.rows)

    def say_title(self) -> None:
        muted, line = ink(self).of("muted"), glyphs(self).line
        group = GROUP_NAMES[self._group]
        order = "as found" if group == "list" else f"by {group}"
        if self.snapshot is None:
            self.set_title(Content(" "), Content(" "))
            return
        counts = count_incidents(self.snapshot.rows)
        shown, marks = len(self.list.rows), len(self.list.marks)
        waiting = counts.states.get("waiting", 0)
        parts = [Content.styled(count_text(shown, counts.total), muted)]
        if waiting:
            sign = glyphs(self).of("waiting")
            parts.append(Content.styled(f"{sign} {waiting} waiting", ink(self).of("waiting")))
        states = {name: count for name, count in counts.states.items() if name != "waiting"}
        parts.append(Content.styled(msgspec.structs.replace(counts, states=states).words, muted))
        parts += [Content.styled(f"{marks:,} marked", ink(self).of("info"))] if marks else []
        self.set_title(Content("  ").join(parts), Content.styled(line(order), muted))

    def hint_parts(self) -> tuple[Content, str]:
        colours, snapshot = ink(self), self.snapshot
        if self.progress:
            return cells.safe_content(f" {self.progress}", colours.of("info"), colours), "esc cancels it"
        if self.text_filter:
            words = f" filter: {self.text_filter}"
            return cells.safe_content(words, colours.of("info"), colours), "esc clears it"
        if snapshot is None:
            return Content(" "), ""
        if self.model.problem:
            return cells.safe_content(f" {self.model.problem}", colours.of("failed"), colours), ""
        if self.is_working:
            return self._progress_line(snapshot), "X ends it"
        return self._source_line(snapshot), "/ filters"

    def _progress_line(self, snapshot: IncidentSnapshot) -> Content:
        colours = ink(self)
        asked = [row for row in snapshot.rows if row.rounds or row.is_requested]
        ended = sum(not row.is_requested for row in asked)
        bar = measured_bar(ended / max(1, len(asked)), _BAR_CELLS, colours, glyphs(self))
        at_work = [row.place for row in snapshot.rows if row.state == "working"]
        words = f"  {ended:,} of {len(asked):,} ended"
        if snapshot.session.status == LOST:
            words += f"   {_PAUSES['host lost']}"
        elif snapshot.session.status == "paused":
            words += f"   {_PAUSES.get(snapshot.session.reason or '', 'paused; c continues it')}"
        elif snapshot.is_cancelled:
            words += "   being ended"
        elif at_work:
            words += f"   on {at_work[0]}" + (f" and {len(at_work) - 1} more" if len(at_work) > 1 else "")
        return Content(" ") + bar + cells.safe_content(words, colours.of("foreground"), colours)

    def _source_line(self, snapshot: IncidentSnapshot) -> Content:
        colours, listed = ink(self), snapshot.listed
        lists = len(self.model.lists)
        here = [session.id for session in self.model.lists].index(snapshot.session.id) + 1
        parts = [
            f"{snapshot.name}, {listed.format}" if listed.format else snapshot.name,
            clock_time(snapshot.session.created_at),
            f"list {here} of {lists}" if lists > 1 else "",
            f"{counted(listed.skipped, 'record')} not read" if listed.skipped else "",
            listed.problems[0] if listed.problems else "",
            f"{listed.known:,} known ones left out" if listed.known else "",
            f"paths are below {listed.root}" if listed.root else "",
            "" if listed.checker else "no checker",
        ]  # fmt: skip
        words = "   ".join(part for part in parts if part)
        return cells.safe_content(f" {words}", colours.of("muted"), colours)

    def empty_words(self) -> EmptyWords:
        if self.snapshot is not None and self.text_filter:
            return no_match(self.text_filter, ("list.filter", "change the filter"))
        if self.snapshot is not None:
            return "Nothing was found", f"{self.snapshot.name} names no finding.", _EMPTY_KEYS
        sentence = (
            "What a linter or an analyzer found is listed here: agents fix it, every edit is a row of the"
            " queue, and the checker runs again. SARIF, Konveyor, ruff, pyright and S2 files are read."
        )
        return "No findings yet", sentence, _EMPTY_KEYS

    # --- keys -----------------------------------------------------------------------------------------

    def line_answered(self, purpose: str, text: str) -> None:
        self.actions.heard(purpose, text.strip())

    def next_order(self) -> None:
        """Group the rows by something else."""
        self._group = (self._group + 1) % len(GROUP_NAMES)
        self.lay_out()
        self.say()

    def toggle_all_marks(self) -> None:
        """Mark all that are listed; where they are marked already, none."""
        listed = {key for key in self.list.ids if key in self.list.rows}
        self.list.marks = self.list.marks - listed if listed <= self.list.marks else self.list.marks | listed
        self.marks_changed()

    def is_problem(self, row_id: str) -> bool:
        row = self.list.rows.get(row_id)
        return row is not None and row.state in _PROBLEM_STATES

    def open_row(self) -> None:
        from workbench.tui.incidents.incident_dialogs import IncidentScreen

        if self.row is not None:
            self.main.app.push_screen(IncidentScreen(self))

    def open_session(self) -> None:
        """Show the conversation of the agent that was asked last about the finding under the cursor."""
        if self.row is not None and self.row.child_id:
            self.post_message(SessionChosen(self.row.child_id))
            self.main.go_to(place_number("conversation"))

    def show_question(self) -> None:
        """Go to the row of the queue that asks about the finding under the cursor."""
        if self.row is not None and self.row.action_id:
            self.main.show_action(self.row.action_id)

    def copy_text(self) -> str:
        return self.row.place if self.row is not None else ""

    def cancel_work(self) -> None:
        super().cancel_work()
        self.show_progress("Being cancelled.")

    # --- what keys need -----------------------------------------------------------------------------------

    @property
    def has_row(self) -> bool:
        return self.row is not None

    def label_of(self, key_id: str) -> str:
        if key_id == "incidents.start" and self.list.marks:
            return f"fix {len(self.list.marks)}…"
        if key_id == "incidents.dismiss" and self.row is not None and self.row.is_dismissed:
            return "take back"
        return super().label_of(key_id)


def open_place(context: "MainContext") -> IncidentsPane:
    """Return the findings of a main screen."""
    from workbench.tui.incidents.incident_actions import IncidentActions

    journal, backend = context.app.journal, context.backend
    is_gone = partial(is_driver_gone, context.state)
    model = IncidentModel(journal, lambda: backend.incidents, context.status.workspace, is_gone)
    pane = IncidentsPane(model)
    pane.actions = IncidentActions(context, pane)
    return pane
