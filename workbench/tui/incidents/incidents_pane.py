"""The pane of findings: a list of incidents, filtered and grouped, and the one under the cursor in full."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import msgspec
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.render import cells
from workbench.render.cells import measured_bar
from workbench.render.incidents import IncidentDetail
from workbench.render.list_rows import empty_page_lines
from workbench.text.human import clock_time, counted
from workbench.tui.incidents.incident_list import (
    IncidentDetailView,
    IncidentModel,
    IncidentRows,
    row_id,
)
from workbench.tui.keyboard import keymap
from workbench.tui.pane import KeysChanged, LineWanted, Pane, SessionChosen, StatusMessage
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import LineView, RowList
from workbench.tui.widgets.pane_frame import Divider, PaneTitle, StableStatic
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

_TWO_COLUMNS_FROM: Final = 140
"""Columns from which the finding under the cursor stands beside the list in full."""
_REREAD_SECONDS: Final = 0.25
"""Seconds between two readings while agents work."""
_DETAIL_SECONDS: Final = 0.08
"""Seconds that the cursor rests before the detail follows it."""
_BAR_CELLS: Final = 12
_PROBLEM_STATES: Final = ("waiting", "failed", "unchanged")
_PAUSES: Final = {
    "parked": "continues after your answers", "unattended": "nobody answered; c continues it",
    "host lost": "its process ended; c continues it", "limit reached": "a limit; c continues it",
}  # fmt: skip
"""Why the work rests, and what lets it continue; whole at 80 columns."""
_FILTER_HINT: Final = "words, severity: rule: file: outcome: category:, - leaves out"
_EMPTY_KEYS: Final = (
    ("incidents.take", "open a file of findings, or run a checker"),
    ("app.place-5", "the library: earlier sessions"),
)


class IncidentsPane(Pane):
    """Place 8."""

    PLACE = 8
    NAME = "Findings"
    SCOPES: ClassVar[tuple[str, ...]] = ("incidents", "list")
    MOVING = frozenset({"list.row-down", "list.row-up", "incidents.detail-down", "incidents.detail-up"})
    BINDINGS = keymap.bindings(*SCOPES)

    actions: "IncidentActions"
    """Does what is asked about incidents; set by who makes the pane."""

    def __init__(self, model: IncidentModel) -> None:
        super().__init__(key="incidents")
        self.add_class("-late")
        self.model = model
        self.list = IncidentRows()
        self.list.empty_page = self._empty_page
        self.detail = IncidentDetailView(key="incidents-detail", can_focus=False)
        self.detail_title = PaneTitle("", key="incidents-detail-title")
        self.hint = StableStatic(id="incidents-hint", classes="-place-hint")
        self.snapshot: IncidentSnapshot | None = None
        self.wanted = ""
        """The list to show; empty is the newest."""
        self.progress = ""
        """What is said of a file that is read, or of a checker that runs; empty while none is."""
        self._group = 0
        self._is_read, self._is_reading, self._reads_again = False, False, False
        self._rereader: Timer | None = None
        self._detailer: Timer | None = None

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(id="incidents-body"):
            with Vertical(id="incidents-left"):
                yield self.list
            yield Divider(key="incidents-divider")
            with Vertical(id="incidents-right"):
                yield self.detail_title
                yield self.detail

    def compose(self) -> ComposeResult:
        yield from self.compose_body()

    def on_mount(self) -> None:
        self.query_one("#incidents-left").mount(self.title_row, before=0)
        self.follow_list()
        self.detail_title.follow(self.detail)
        self.say()
        self.read()
        self.list.focus()

    def on_resize(self, event: events.Resize) -> None:
        """Show the detail where there is room for it."""
        del event
        self._arrange()
        self.detail_soon()
        self.call_after_refresh(self.say)

    def _arrange(self) -> None:
        has_two = self.size.width >= _TWO_COLUMNS_FROM and self.snapshot is not None
        self.query_one("#incidents-right").display = self.query_one("#incidents-divider").display = has_two

    @property
    def list_view(self) -> LineView | None:
        return self.list

    @property
    def focus_view(self) -> Widget:
        return self.list

    # --- reading, in a thread -----------------------------------------------------------------------

    def show(self, view: Collection[str] | None) -> None:
        del view  # a child of the list may be new
        if self._rereader is None:
            self._rereader = self.set_timer(_REREAD_SECONDS, self._read_again)

    def _read_again(self) -> None:
        self._rereader = None
        if self.display:
            self.read()

    def on_show(self) -> None:
        """Read what happened while another place was on the screen."""
        self.read()

    def read(self) -> None:
        """Read what happened since; while it is done once more is noted."""
        if self._is_reading:
            self._reads_again = True
            return
        self._is_reading, self._reads_again = True, False
        self._work(self._read_there, "read findings")

    def _work(self, work: "Any", description: str) -> None:
        self.run_worker(
            work, group="incidents", description=description, thread=True, exit_on_error=False,
            exclusive=False,
        )  # fmt: skip

    def _read_there(self) -> None:
        snapshot: IncidentSnapshot | None = None
        try:
            snapshot = self.model.read(self.wanted)
        except Exception as error:  # noqa: BLE001 whatever the journal says is told
            self.post_message(StatusMessage(f"The findings were not read. {error}", is_error=True))
        self.from_thread(self._was_read, snapshot)
        if snapshot is not None:
            self.model.texts.prepare(snapshot.rows)

    def from_thread(self, tell: "Any", *about: object) -> None:
        """Call something of the screen's own thread, and wait for it."""
        # Textual leaves the type of an app's result open; nothing here depends on it.
        cast("Any", self).app.call_from_thread(tell, *about)

    def _was_read(self, snapshot: IncidentSnapshot | None) -> None:
        self._is_reading = False
        if self.is_attached:
            before, was_working = self.snapshot, self.is_working
            self.snapshot, self._is_read = snapshot, True
            is_same = before is not None and snapshot is not None and before.session.id == snapshot.session.id
            if not is_same:
                self.list.marks.clear()
            if before is None or snapshot is None or before.rows is not snapshot.rows:
                self.lay_out()
            if is_same and snapshot is not None and was_working and not self.is_working:
                words = count_incidents(snapshot.rows).words
                self.post_message(StatusMessage(f"The work on these findings has ended: {words}."))
            self.say()
            self.post_message(KeysChanged())
        if self._reads_again:
            self.read()

    def lay_out(self) -> None:
        """Filter and group the rows anew."""
        self._arrange()
        rows = self.snapshot.rows if self.snapshot is not None else ()
        kept = filter_incidents(rows, self.text_filter, self.model.texts)
        self.list.take(group_incidents(kept, GROUP_NAMES[self._group]))
        if not kept:
            self.list.invalidate()  # it says why
        self.detail_soon()

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

    @on(RowList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        message.stop()
        self.detail_soon()

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_row()

    def detail_soon(self) -> None:
        """Let the detail follow the cursor once it rests."""
        if self._detailer is not None:
            self._detailer.stop()
        self._detailer = self.set_timer(_DETAIL_SECONDS, self._detail_now)

    def _detail_now(self) -> None:
        self._detailer = None
        if not self.query_one("#incidents-right").display:
            return
        row = self.row
        if row is None:
            self._show_detail(None)
        else:
            self.read_detail(row, self._show_detail)

    def read_detail(self, row: IncidentRow, tell: "Any") -> None:
        """Read an incident in full in a thread; `tell` is given it on the screen's own."""

        def work() -> None:
            try:
                detail = self.model.detail(row)
            except Exception as error:  # noqa: BLE001 as above
                self.post_message(StatusMessage(f"The finding was not read. {error}", is_error=True))
                return
            self.from_thread(tell, detail)

        self._work(work, "read a finding")

    def _show_detail(self, detail: IncidentDetail | None) -> None:
        if not self.is_attached or (detail is not None and detail.row is not self.row):
            return
        self.detail.show(detail)
        title = "Nothing is chosen" if detail is None else cells.safe_content(detail.row.place).plain
        self.detail_title.show(Content(" "), Content(" "), title)

    def scroll_detail(self, lines: int) -> None:
        self.detail.scroll_to_line(self.detail.first_line + lines)

    # --- what is said ---------------------------------------------------------------------------------

    @property
    def is_working(self) -> bool:
        """Return whether something is asked for that has not ended."""
        return self.snapshot is not None and any(row.is_requested for row in self.snapshot.rows)

    def say(self) -> None:
        """Say in the title which list this is and how it stands, and below what it comes from."""
        muted, line = ink(self).of("muted"), glyphs(self).line
        group = GROUP_NAMES[self._group]
        order = "as found" if group == "list" else f"by {group}"
        if self.snapshot is None:
            self.set_title(Content(" "), Content(" "))
            self._say_hint()
            return
        counts = count_incidents(self.snapshot.rows)
        shown, marks = len(self.list.rows), len(self.list.marks)
        count = f"{shown:,} of {counts.total:,}" if shown != counts.total else f"{counts.total:,}"
        waiting = counts.states.get("waiting", 0)
        parts = [Content.styled(count, muted)]
        if waiting:
            sign = glyphs(self).of("waiting")
            parts.append(Content.styled(f"{sign} {waiting} waiting", ink(self).of("waiting")))
        states = {name: count for name, count in counts.states.items() if name != "waiting"}
        parts.append(Content.styled(msgspec.structs.replace(counts, states=states).words, muted))
        parts += [Content.styled(f"{marks:,} marked", ink(self).of("info"))] if marks else []
        self.set_title(Content("  ").join(parts), Content.styled(line(order), muted))
        self._say_hint()

    def _say_hint(self) -> None:
        colours, line = ink(self), glyphs(self).line
        left, right = self._hint_parts()
        room = max(0, self.size.width - len(right) - 2)
        left = cells.shorten_line(left, room, glyphs(self))
        gap = " " * max(1, self.size.width - left.cell_length - len(right) - 1)
        self.hint.update(Content.assemble(left, gap, (line(right), colours.of("muted"))))

    def _hint_parts(self) -> tuple[Content, str]:
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
        if snapshot.session.status == "paused":
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

    def _empty_page(self, width: int) -> list[Content]:
        heading, sentence, key_ids = self._empty_words()
        keys = keymap.own_keys(self, key_ids)
        return empty_page_lines(heading, sentence, keys, width, ink(self), glyphs(self))

    def _empty_words(self) -> tuple[str, str, Sequence[tuple[str, str]]]:
        """Return why no finding is shown: heading, sentence, keys that help."""
        if not self._is_read:
            return "The findings are being read.", "", ()
        if self.snapshot is not None and self.text_filter:
            return (
                f"Nothing matches “{self.text_filter}”.",
                "esc clears the filter.",
                (("list.filter", "change the filter"),),
            )
        if self.snapshot is not None:
            return "Nothing was found", f"{self.snapshot.name} names no finding.", _EMPTY_KEYS
        sentence = (
            "What a linter or an analyzer found is listed here: agents fix it, every edit is a row of the"
            " queue, and the checker runs again. SARIF, Konveyor, ruff, pyright and S2 files are read."
        )
        return "No findings yet", sentence, _EMPTY_KEYS

    # --- keys -----------------------------------------------------------------------------------------

    def ask_filter(self) -> None:
        self.post_message(
            LineWanted(self, "filter", "Filter findings", _FILTER_HINT, "filter", text=self.text_filter)
        )

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        if purpose == "filter":
            self._filter_by(text.strip())
        elif is_final:
            self.actions.heard(purpose, text.strip())

    def line_dropped(self, purpose: str) -> None:
        if purpose == "filter":
            self._filter_by("")

    def _filter_by(self, text: str) -> None:
        if text != self.text_filter:
            self.text_filter = text
            self.lay_out()
        self.say()

    def next_order(self) -> None:
        """Group the rows by something else."""
        self._group = (self._group + 1) % len(GROUP_NAMES)
        self.lay_out()
        self.say()

    def toggle_mark(self) -> None:
        """Mark the finding under the cursor, or take the mark off, and go on."""
        key = self.list.cursor
        if key is not None:
            self.list.marks ^= {key}
            self.list.move(1)
            self._marked()

    def toggle_all_marks(self) -> None:
        """Mark all that are listed; where they are marked already, none."""
        listed = {key for key in self.list.ids if key in self.list.rows}
        self.list.marks = self.list.marks - listed if listed <= self.list.marks else self.list.marks | listed
        self._marked()

    def _marked(self) -> None:
        self.list.invalidate()
        self.say()
        self.post_message(KeysChanged())

    def move_to_problem(self, step: int) -> None:
        ids, here = self.list.ids, self.list.line_of(self.list.cursor or "") or 0
        order = (
            (*range(here + 1, len(ids)), *range(here))
            if step > 0
            else (*range(here - 1, -1, -1), *range(len(ids) - 1, here, -1))
        )
        for line in order:
            row = self.list.rows.get(ids[line])
            if row is not None and row.state in _PROBLEM_STATES:
                self.list.put_cursor(ids[line])
                return
        self.post_message(StatusMessage("No finding waits, failed or is unchanged."))

    def open_row(self) -> None:
        from workbench.tui.incidents.incident_dialogs import IncidentScreen

        if self.row is not None:
            self.main.app.push_screen(IncidentScreen(self))

    def open_session(self) -> None:
        """Show the conversation of the agent that was asked last about the finding under the cursor."""
        if self.row is not None and self.row.child_id:
            self.post_message(SessionChosen(self.row.child_id))
            self.main.go_to(1)

    def show_question(self) -> None:
        """Go to the row of the queue that asks about the finding under the cursor."""
        if self.row is not None and self.row.action_id:
            self.main.show_action(self.row.action_id)

    def copy_text(self) -> str:
        return self.row.place if self.row is not None else ""

    def step_back(self) -> None:
        """Cancel what is read, else clear filter and marks, else go back to where the user came from."""
        if self.progress:
            self.actions.stop_reading()
        elif self.text_filter:
            self._filter_by("")
        elif self.list.marks:
            self.list.marks.clear()
            self._marked()
        else:
            self.main.go_back()

    # --- why keys do nothing ----------------------------------------------------------------------------

    def why_no_row(self) -> str:
        return "" if self.row is not None else "there is no finding under the cursor"

    def why_no_question(self) -> str:
        """Return why there is no question to go to; empty when there is."""
        has_one = self.row is not None and bool(self.row.action_id)
        return "" if has_one else "nothing about this finding waits for you; n goes to what does"

    def why_no_list(self) -> str:
        """Return why there is nothing to read again; empty when there is."""
        return "" if self.snapshot is not None else "there are no findings; I opens some"

    def why_no_session(self) -> str:
        if self.row is None:
            return self.why_no_row()
        return "" if self.row.child_id else "no agent was asked about this finding yet"

    def why_not_start(self) -> str:
        """Return why no work can be started; empty when it can."""
        if self.snapshot is None:
            return "there are no findings; I opens some"
        if self.snapshot.session.status in TERMINAL_SESSION_STATES:
            return "this list has ended; I reads its findings again"
        rows = self.marked or self.listed
        return "" if any(row.is_askable for row in rows) else "none of these can be asked about now"

    def why_not_continue(self) -> str:
        """Return why nothing can be continued; empty when something is paused."""
        is_paused = self.snapshot is not None and self.snapshot.session.status == "paused"
        return "" if is_paused and self.is_working else "nothing of this list is paused"

    def why_not_cancel(self) -> str:
        return "" if self.is_working else "nothing of this list is being worked on"

    def why_no_other(self) -> str:
        return "" if len(self.model.lists) > 1 else "there is no other list of findings in this folder"

    def label_of(self, key_id: str) -> str:
        if key_id == "incidents.start" and self.list.marks:
            return f"fix {len(self.list.marks)}…"
        if key_id == "incidents.dismiss" and self.row is not None and self.row.is_dismissed:
            return "take back"
        return super().label_of(key_id)
