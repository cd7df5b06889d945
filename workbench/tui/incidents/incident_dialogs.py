"""An incident in full over the screen, and the page that says what agents would be asked and starts it."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from textual import events
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from workbench.domain.incidents import BatchSize, IncidentOptions
from workbench.render import cells
from workbench.render.incidents import IncidentDetail, plan_lines
from workbench.text.human import counted
from workbench.tui.incidents.incident_list import IncidentDetailView
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import LineView
from workbench.views.incidents import IncidentRow, IncidentSnapshot, plan_incidents

if TYPE_CHECKING:
    from workbench.tui.incidents.incidents_pane import IncidentsPane
    from workbench.tui.main.context import MainContext

_BATCHES: Final[tuple[BatchSize, ...]] = ("one", "file", "rule")
_MAX_TURNS: Final = 20
_TIMES: Final = (60, 120, 300, 600, 1200, 3600)
"""Seconds that can be chosen for the work on one."""


class IncidentScreen(Dialog, inherit_bindings=False):
    """A box over the main screen: one incident, with its neighbours by `[` and `]`."""

    BINDINGS = keymap.bindings("incident")
    BOX_CLASSES = "dialog-box pager-box"

    def __init__(self, pane: "IncidentsPane") -> None:
        super().__init__("incident")
        self._pane = pane
        self._view = IncidentDetailView(key="incident-lines", can_focus=True)

    def compose_box(self) -> Iterable[Widget]:
        yield self._view

    def opened(self) -> None:
        self.set_titles("Finding", "O its agent  [ ] finding  j k scroll  esc back")
        self.follow(self._view)
        self._view.focus()
        self._read()

    def _read(self) -> None:
        row = self._pane.row
        if row is not None:
            self._pane.read_detail(row, self._show)

    def _show(self, detail: IncidentDetail) -> None:
        if self.is_attached and detail.row is self._pane.row:
            self._view.show(detail)
            self.box.border_title = cells.safe_content(f"Finding  {detail.row.place}")  # type: ignore[assignment]

    def turn(self, step: int) -> None:
        """Show the finding after (1) or before (-1)."""
        self._pane.move(step)
        self._read()

    def scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._view.scroll_to_line(self._view.first_line + lines)

    def scroll_page(self, pages: int) -> None:
        """Scroll by what is on the screen."""
        self.scroll(pages * max(1, self._view.size.height - 1))

    def open_session(self) -> None:
        """Go to the conversation of its agent."""
        if why := self._pane.why_off("incidents.session"):
            self.say(f"{why[:1].upper()}{why[1:]}.")
            return
        self.dismiss()
        self._pane.open_session()


class _PlanLines(LineView):
    def __init__(self, lines: Callable[[int], list[Content]]) -> None:
        super().__init__(key="incident-start-lines")
        self._make, self._lines = lines, list[Content]()

    def on_width(self, width: int) -> None:
        self._lines = self._make(width)
        self.set_line_count(len(self._lines))
        self.invalidate()

    def draw_line(self, line: int, width: int) -> Strip:
        return cells.line_strip(self._lines[line], width, ink(self).on("background"))


class StartScreen(Dialog, inherit_bindings=False):
    """What would be asked, of how many agents; enter starts exactly what stood there."""

    BINDINGS = keymap.bindings("incident-start")
    LEAVES = "incident-start.leave"
    DECIDES = True

    def __init__(
        self, context: "MainContext", snapshot: IncidentSnapshot, rows: Sequence[IncidentRow], which: str,
        options: IncidentOptions, start: Callable[[str, tuple[str, ...], IncidentOptions], None],
    ) -> None:  # fmt: skip
        super().__init__("incident-start")
        self._main, self._snapshot, self._rows, self._which = context, snapshot, rows, which
        self._options, self._start = options, start
        self._view = _PlanLines(self._lines)
        self._keys = Static(id="incident-start-keys")
        self._make_plan()

    def _make_plan(self) -> None:
        self.plan = plan_incidents(self._rows, self._options, self._snapshot.listed.checker)

    def _lines(self, width: int) -> list[Content]:
        options = self.plan.options
        model = "/".join(part for part in (options.provider, options.model) if part)
        model = f"recording {options.recording}" if options.recording else model
        return plan_lines(self.plan, self._snapshot, self._which, model, width, ink(self))

    def compose_box(self) -> Iterable[Widget]:
        yield self._view
        yield self._keys

    def opened(self) -> None:
        self.set_titles("Have findings fixed", glyphs(self).line("nothing has been asked yet"))
        self.follow(self._view)
        self._view.focus()
        self.fill()

    @property
    def decided(self) -> Hashable:
        return self.plan

    def on_descendant_focus(self) -> None:
        """Count from when it stands there."""
        self.call_after_refresh(self.note_drawn)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Count from when it stands there."""
        del event
        self.call_after_refresh(self.note_drawn)

    def fill(self) -> None:
        width = max(20, self._view.width)
        self._view.on_width(width)
        self._view.styles.height = self._view.line_count + 1
        count = len(self.plan.ids)
        pairs = [("b", "batch"), ("+ -", "turns"), ("t", "time"), ("esc", "back, nothing is asked")]
        start = ("enter", f"start {count:,}" if count else "start")
        self._keys.update(self.hint_row([start, *pairs], self._keys.size.width or width))
        self.call_after_refresh(self.note_drawn)

    def _change(self, **changes: object) -> None:
        self._options = msgspec.structs.replace(self._options, **changes)
        self._make_plan()
        self._arming.disarm()
        self.fill()

    def next_batch(self) -> None:
        """Have an agent for each finding, each file, each rule."""
        here = _BATCHES.index(self._options.batch)
        self._change(batch=_BATCHES[(here + 1) % len(_BATCHES)])

    def change_turns(self, step: int) -> None:
        """Allow more or fewer prompts for each."""
        self._change(max_turns=max(1, min(_MAX_TURNS, self._options.max_turns + step)))

    def next_time(self) -> None:
        """Allow more time for each, after the most the least again."""
        longer = [seconds for seconds in _TIMES if seconds > self._options.timeout_s]
        self._change(timeout_s=longer[0] if longer else _TIMES[0])

    def scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._view.scroll_to_line(self._view.first_line + lines)

    def start(self) -> None:
        """Start what is shown, once it stood there long enough to be read."""
        if not self.plan.ids:
            self.say("None of these can be asked about.")
            return
        if not self.plan.options.model and not self.plan.options.recording:
            self.say("No model is set up: 9 adds one.")
            return
        if not self.end_arming():
            self.say(TOO_QUICK.format(key="enter"))
            return
        count = len(self.plan.ids)
        self.dismiss()
        self._start(self._snapshot.session.id, self.plan.ids, self.plan.options)
        self._main.say(f"{counted(count, 'finding')} asked for.")
