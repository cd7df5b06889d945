"""The lists of incidents of a workspace as last read, and the rows of the one on show."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from textual.content import Content
from textual.strip import Strip

from workbench.domain.events import IncidentsListed, PromptSubmitted
from workbench.domain.incidents import Incident
from workbench.domain.rows import Session
from workbench.journal.journal import Journal
from workbench.render.incidents import (
    IncidentDetail,
    IncidentWidths,
    group_strip,
    incident_lines,
    incident_strip,
)
from workbench.tui.backend import IncidentBackend
from workbench.tui.list_page.page import MarkedRows
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import RowIndex, RowPlacement
from workbench.tui.widgets.text_view import TextView
from workbench.views.incidents import (
    CodeExcerpt,
    IncidentGroup,
    IncidentList,
    IncidentRow,
    IncidentSnapshot,
    SearchedText,
    decode_incidents,
)
from workbench.views.lost_drivers import IsDriverGone, listed_session

if TYPE_CHECKING:
    from workbench.domain.events import Event

MOST_LISTS: Final = 200
_MAX_CHILD_EVENTS: Final = 2_000
"""Of an agent's session that are looked through for what it was asked."""


class IncidentModel:
    """The lists of a workspace. `read` and `detail` are called in a thread, one at a time."""

    def __init__(
        self,
        journal: Journal,
        backend: Callable[[], IncidentBackend],
        workspace: str,
        is_driver_gone: IsDriverGone,
    ) -> None:
        self._is_driver_gone = is_driver_gone
        self._journal, self._backend, self._workspace = journal, backend, workspace
        self.lists: tuple[Session, ...] = ()
        """The newest first."""
        self._fold: IncidentList | None = None
        self._cursor = 0
        self.texts = SearchedText()
        self.problem = ""
        """Why the list on show cannot be shown."""

    def read(self, wanted: str) -> IncidentSnapshot | None:
        """Read what happened since; `wanted` is the list to show, empty the newest one."""
        sessions = self._journal.sessions(self._workspace, kinds=["incidents"], limit=MOST_LISTS)
        sessions = [listed_session(session, self._is_driver_gone) for session in sessions]
        self.lists = tuple(sorted(sessions, key=lambda session: session.created_at, reverse=True))
        shown = next((session for session in self.lists if session.id == wanted), None)
        if shown is None:
            shown = next(iter(self.lists), None)
        if shown is None:
            self._fold = None
            return None
        if self._fold is None or self._fold.session_id != shown.id:
            self._fold, self._cursor, self.problem = None, 0, ""
        self._take(self._journal.events(shown.id, after=self._cursor), shown.id)
        return self._snapshot(shown)

    def _take(self, events: "Sequence[Event]", list_id: str) -> None:
        for event in events:
            self._cursor = max(self._cursor, event.position)
            if isinstance(event.body, IncidentsListed):
                self._fold = IncidentList(list_id, self._incidents(event.body), self._backend().dismissed())
            if self._fold is not None:
                self._fold.apply(event)
        if self._fold is not None:
            self._fold.ask(self._journal.actions(states=["pending"]))

    def _incidents(self, listed: IncidentsListed) -> tuple[Incident, ...]:
        data = self._journal.blobs.read(listed.incidents_ref)
        try:
            return decode_incidents(data or b"")
        except msgspec.MsgspecError:
            self.problem = "What was found is not kept here any more: read the file again."
            return ()

    def _snapshot(self, session: Session) -> IncidentSnapshot | None:
        fold = self._fold
        if fold is None or fold.listed is None:
            return None
        return IncidentSnapshot(
            session=session, listed=fold.listed, rows=fold.rows, options=fold.options,
            is_cancelled=fold.is_cancelled, new=tuple(fold.new.values()),
        )  # fmt: skip

    def detail(self, row: IncidentRow) -> IncidentDetail:
        """Return an incident in full; reads its file and what its agent was asked."""
        incident, backend = row.incident, self._backend()
        if incident.problem:
            code = CodeExcerpt(problem=f"{incident.problem[:1].upper()}{incident.problem[1:]}.")
        else:
            code = backend.code(incident.path, row.line)
        sent = self._prompts(row) if row.child_id else ()
        child = self._journal.session(row.child_id) if row.child_id else None
        return IncidentDetail(
            row=row, code=code, is_sent=bool(sent), prompts=sent or (backend.prompt(incident, row.line),),
            session_title="" if child is None else child.title,
        )  # fmt: skip

    def _prompts(self, row: IncidentRow) -> tuple[str, ...]:
        events = self._journal.lasting(row.child_id, limit=_MAX_CHILD_EVENTS)
        return tuple(
            event.body.text
            for event in events
            if isinstance(event.body, PromptSubmitted) and event.body.incident == row.incident.id
        )


def row_id(row: IncidentRow) -> str:
    """Return the id of a row; ids of files may begin as those of captions do."""
    return f"i:{row.incident.id}"


class IncidentRows(MarkedRows):
    """The incidents of a list, in groups; a row is drawn when it is on the screen."""

    def __init__(self) -> None:
        super().__init__(key="incidents-list")
        self.rows: Mapping[str, IncidentRow] = {}
        self._groups: dict[str, IncidentGroup] = {}
        self._widths = IncidentWidths(4, 4)
        self._widths_of: tuple[int, int] = (0, 0)

    def take(self, groups: Sequence[IncidentGroup]) -> None:
        """Show groups of rows; the cursor stays on its incident."""
        before = self.rows
        self._groups, ids = {}, list[str]()
        shown: dict[str, IncidentRow] = {}
        for number, group in enumerate(groups):
            if group.name:
                key = f"-group-{number}"
                self._groups[key] = group
                ids.append(key)
            for row in group.rows:
                key = row_id(row)
                shown[key] = row
                ids.append(key)
        self.rows = shown
        changed = {key for key, row in shown.items() if before.get(key) is not row}
        self.set_ids(RowIndex.of(ids), None if self._groups else changed)

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        colours, signs = ink(self), glyphs(self)
        group = self._groups.get(placed.row_id)
        if group is not None:
            return group_strip(group, width, colours, signs)
        row = self.rows[placed.row_id]
        return incident_strip(
            row, width, self._column_widths(width), colours, signs, is_marked=placed.row_id in self.marks,
            is_cursor=placed.is_cursor, has_focus=placed.is_focused,
        )  # fmt: skip

    def _column_widths(self, width: int) -> IncidentWidths:
        if self._widths_of != (id(self.rows), width):
            self._widths_of = (id(self.rows), width)
            self._widths = IncidentWidths.of(self.rows.values(), width)
        return self._widths


class IncidentDetailView(TextView):
    """An incident in full, beside the list or over it."""

    def __init__(self, *, key: str, can_focus: bool) -> None:
        super().__init__(key=key)
        self.can_focus = can_focus
        self._detail: IncidentDetail | None = None

    @property
    def detail(self) -> IncidentDetail | None:
        """Return what is shown."""
        return self._detail

    def show(self, detail: IncidentDetail | None) -> None:
        """Show an incident; of the same one the lines keep their place."""
        before, self._detail = self._detail, detail
        self.on_width(self.width)
        if before is None or detail is None or before.row.incident.id != detail.row.incident.id:
            self.scroll_to_line(0)

    def lines_for(self, width: int) -> list[Content]:
        detail = self._detail
        return [] if detail is None else incident_lines(detail, width, ink(self), glyphs(self))
