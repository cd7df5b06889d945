"""The tools pane: a row a call with its times, as a waterfall where there is room."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec.structs import replace
from rich.style import Style as RichStyle
from textual import events
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.domain.rows import Action, Call
from workbench.render import cells, list_rows
from workbench.text.human import SECOND_MICROS, countdown_text, duration_text
from workbench.tui import render_context
from workbench.tui.keyboard import keymap
from workbench.tui.list_page.place import empty_page
from workbench.tui.pane import (
    CallDetailModel,
    KeysChanged,
    LineWanted,
    OpenDetail,
    Pane,
    StatusMessage,
    ToolsModel,
    ToolWanted,
)
from workbench.tui.places import place_number
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.list_height import list_height
from workbench.tui.widgets.pane_frame import ColumnHeader
from workbench.views import tools
from workbench.views.approvals import CALM_COUNTDOWN_STEP
from workbench.views.conversation_blocks import TurnSummary
from workbench.views.conversation_progress import CommandProgress
from workbench.views.sandbox import refusals_sentence
from workbench.views.sessions import NO_AGENTS
from workbench.views.sub_agents import SubAgent
from workbench.views.tools import TimeAxis, TimeSpan, ToolRow

if TYPE_CHECKING:
    from workbench.tui.tools.call_detail import CallView

WATERFALL_FROM: Final = 58
"""Cells from which rows have their bars, and a row of heads stands over them."""
_DETAIL_FROM: Final = 18
"""Rows of the pane from which one call is shown in full below the list."""
_ROWS_KEPT: Final = 8
"""Rows of the list above a long output."""
_GHOST: Final = (
    "✓ read_file         src/shop/router.py      4 ms  ━",
    "✓ run_in_terminal   pytest -q              1.2 s   ━━━━━━━",
    "◆ edit              src/shop/router.py      0:14          ╌╌╌╌╌",
)
_EMPTY_SENTENCE: Final = (
    "Each call of an agent is listed here: what it did, how long it ran, and how long it waited."
)
_REVERSED: Final = RichStyle(reverse=True)
_TURN_CAPTION: Final = "-turn:"
_OUTPUT_CAPTION: Final = "-output:"
_NO_COMMANDS: Final[Mapping[str, CommandProgress]] = {}


def _limit_words(command: CommandProgress, row: ToolRow | None) -> str:
    """Return `0:27 of 1:00`; empty where there is no limit."""
    if row is None or command.limit_seconds is None or row.run_ms is None:
        return ""
    return f"{countdown_text(row.run_ms // 1000)} of {countdown_text(command.limit_seconds)}"


class ToolList(RowList):
    """The rows, with their bars where there is room."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.rows: dict[str, ToolRow] = {}
        self._spans: dict[str, TimeSpan] = {}
        self._axis = TimeAxis()
        self._turn: str | None = None
        self._empty = ""
        self._clocks: dict[str, str] = {}
        self._names: Mapping[str, str] = {}
        self._turns: Mapping[str, TurnSummary] = {}
        self._commands: dict[str, str] = {}
        """What commands that run wrote last, what agents have done and what the sandbox refused, by id."""
        self._has_places = False
        self.follows = True
        """Whether the cursor stays on the call of the moment; whoever moves it away reads where they are."""
        self._moment: str | None = None
        self._pointed: str | None = None
        """The call that a jump went to, until another one is the call of the moment."""

    def show_rows(
        self, shown: Sequence[ToolRow], now: int, empty: str, *, turns: Iterable[TurnSummary] = (),
        commands: Mapping[str, CommandProgress] = _NO_COMMANDS, moment: str | None = None,
        agents: Mapping[str, SubAgent] = NO_AGENTS, names: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Show rows in this order.

        Args:
            shown: The rows.
            now: The moment up to which open ones are measured.
            empty: What is said without any.
            turns: Those that stand over their rows as captions.
            commands: Those that run, by the id of their row.
            agents: What the agents have done that calls began, by the id of the row.
            names: The titles of sessions by id, where each row has that of its own.
            moment: The call that something happened to last; None is the newest row.
        """
        shown_before = self.moment_row
        if moment != self._moment:
            self._moment, self._pointed = moment, None
        before, was, wrote, clocks = self.rows, self._spans, self._commands, self._clocks
        self.rows = {row.id: row for row in shown}
        if moment is not None and self.cursor in before and self.cursor not in self.rows:
            # Before the call that somebody read was asked for, there is nothing to stay at.
            self.follows = True
        self._turns = {f"{_TURN_CAPTION}{turn.id}": turn for turn in turns}
        self._commands = {
            f"{_OUTPUT_CAPTION}{key}": command.last_line
            for key, command in commands.items()
            if command.last_line and key in self.rows
        } | {f"{_OUTPUT_CAPTION}{key}": agent.words for key, agent in agents.items() if key in self.rows}
        self._commands |= {
            f"{_OUTPUT_CAPTION}{key}": refusals_sentence(row.call)
            for key, row in self.rows.items()
            if row.call.refusals
        }
        has_places = any(row.call.place is not None for row in shown)
        if has_places != self._has_places:
            self._has_places = has_places
            self.invalidate()
        self._clocks = {key: _limit_words(command, self.rows.get(key)) for key, command in commands.items()}
        self._empty, self._names = empty, names or {}
        self._measure(now)
        changed = {
            key
            for key, row in self.rows.items()
            if (before.get(key) is not row and before.get(key) != row)
            or was.get(key) != self._spans[key]
            or clocks.get(key) != self._clocks.get(key)
        }
        changed_captions = {key for key, words in self._commands.items() if wrote.get(key) != words}
        self.set_ids(list(self._ids_with_captions()), changed | changed_captions | self._turns.keys())
        self.flash(key for key in changed if key in before and before[key].sign != self.rows[key].sign)
        if shown_before != self.moment_row:
            self._redraw((shown_before, self.moment_row))
        self._follow()

    def _ids_with_captions(self) -> Iterator[str]:
        turn: str | None = None
        for key, row in self.rows.items():
            if self._turns and row.turn_id != turn:
                turn = row.turn_id
                yield f"{_TURN_CAPTION}{turn}"
            yield key
            if f"{_OUTPUT_CAPTION}{key}" in self._commands:
                yield f"{_OUTPUT_CAPTION}{key}"

    @property
    def moment_row(self) -> str | None:
        """Return the row of the call of the moment; the last one where that is not among them."""
        if self._pointed in self.rows:
            return self._pointed
        return self._moment if self._moment in self.rows else next(reversed(self.rows), None)

    def _follow(self) -> None:
        row = self.moment_row
        if not self.follows or row is None:
            return
        if self.cursor != row:
            super().put_cursor(row)
        line = self.line_of(row)
        if line is not None:
            # What a command writes stands below its row.
            self.reveal(line, min(line + 1, len(self.ids) - 1))

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._follow()

    def point_at(self, row_id: str) -> None:
        """Go to a call that a jump is about, and follow from there: no user chose the row."""
        self._pointed, self.follows = row_id, True
        self._follow()

    def put_cursor(self, row_id: str | None) -> None:
        """Go where the user wants to be; on the call of the moment, or at the end, it is followed again."""
        super().put_cursor(row_id)
        self.follows = bool(self.rows) and self.cursor in (self.moment_row, next(reversed(self.rows)))

    def look_at_turn(self, now: int) -> bool:
        """Take the axis of the turn that the cursor came to; False if it is the one that is shown."""
        was, row = self._spans, self.rows.get(self.cursor or "")
        if row is not None and row.turn_id == self._turn:
            return False
        self._measure(now)
        # Only rows of the two turns have bars; the others look as they did.
        self._redraw(key for key, span in self._spans.items() if was.get(key) != span)
        return True

    def _measure(self, now: int) -> None:
        """Take the axis of the turn under the cursor, or of the last one; other turns have no bars."""
        shown = list(self.rows.values())
        current = self.rows.get(self.cursor or "") or (shown[-1] if shown else None)
        turn = current.turn_id if current is not None else None
        self._turn = turn
        mine = [row for row in shown if row.turn_id == turn]
        self._axis = tools.time_axis(mine, now)
        self._spans = dict.fromkeys(self.rows, TimeSpan())
        self._spans.update(
            zip((row.id for row in mine), tools.time_spans(mine, self._axis, now), strict=True)
        )

    def fixed_line(self, y: int, width: int) -> Strip | None:
        if not self.rows and self.empty_page is not None and self.size.height >= _DETAIL_FROM:
            return super().fixed_line(y, width)
        if self.rows or y != 1:
            return None
        line = Content.styled(f"   {self._empty}", render_context.ink(self).of("muted"))
        return cells.line_strip(line, width, render_context.ink(self).on("background"))

    def draw_heads(self, width: int) -> Strip:
        """Draw the heads that stand over the rows."""
        return list_rows.tool_head_strip(
            width, render_context.ink(self), render_context.glyphs(self), self._axis,
            has_sessions=bool(self._names), has_places=self._has_places,
        )  # fmt: skip

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        if placed.row_id.startswith(_TURN_CAPTION):
            turn = self._turns.get(placed.row_id)
            count = sum(row.turn_id == turn.id for row in self.rows.values()) if turn else 0
            return list_rows.turn_caption_strip(turn, count, width, ink, glyphs)
        if placed.row_id.startswith(_OUTPUT_CAPTION):
            row = self.rows.get(placed.row_id.removeprefix(_OUTPUT_CAPTION))
            if row is not None and row.call.refusals:
                return list_rows.refusal_caption_strip(self._commands[placed.row_id], width, ink, glyphs)
            return list_rows.output_caption_strip(self._commands[placed.row_id], width, ink, glyphs)
        strip = list_rows.tool_strip(
            self.rows[placed.row_id], width, ink, glyphs, clock=self._clocks.get(placed.row_id, ""),
            span=self._spans.get(placed.row_id) if width >= WATERFALL_FROM else None,
            is_cursor=placed.is_cursor, has_focus=placed.is_focused,
            is_moment=self._moment is not None and placed.row_id == self.moment_row,
            session=self._names.get(self.rows[placed.row_id].call.session_id, ""),
            has_places=self._has_places,
        )  # fmt: skip
        return strip.apply_style(_REVERSED) if placed.is_flashing else strip


class ToolsPane(Pane):
    """Place `tools`."""

    PLACE: ClassVar[int] = place_number("tools")
    NAME: ClassVar[str] = "Tool invocations"
    TAB: ClassVar[str] = "Tools"
    SCOPES: ClassVar[tuple[str, ...]] = ("tools", "list")
    BINDINGS: ClassVar = [*keymap.bindings("tools", "list")]
    FILTER_TITLE = "Filter calls"
    ONE_ORDER = "Calls are always in the order in which they were asked for."

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.list = ToolList(key="tools-list")
        self.list.empty_page = self._empty_page
        self.heads = ColumnHeader(self.list.draw_heads, key="tools-heads")
        self._call: CallView | None = None
        self._shown: ToolsModel | None = None
        self._all: Sequence[ToolRow] = ()
        self._counted: tuple[Sequence[ToolRow], int, tools.ToolFacts] | None = None
        """What the title says of all rows at a moment: moving among them changes nothing of it."""
        self._only_failed = False
        self._wanted: str | None = None
        self._turn: TurnSummary | None = None
        """The turn that a small pane shows; None shows all calls."""
        self._goal: str | None = None
        """A call to go to as soon as its row is there."""
        self._kept: dict[str, tuple[Call, Action | None, ToolRow]] = {}

    def compose_body(self) -> Iterable[Widget]:
        yield self.heads
        yield self.list
        if self._call is not None:
            yield self._call

    @property
    def call(self) -> "CallView":
        """Return the call in full, made when there is first room for it."""
        if self._call is None:
            from workbench.tui.tools.call_detail import CallView

            self._call = CallView(key="tools-call")
            self._call.display = False
            if self.list.is_attached:
                self.mount(self._call, after=self.list)
        return self._call

    @property
    def list_view(self) -> LineView | None:
        return self.list

    @property
    def focus_view(self) -> Widget:
        return self.list

    # --- what is shown --------------------------------------------------------------------------

    def show(self, view: ToolsModel) -> None:
        before, self._shown = self._shown, view
        if before is not None and _session_id_of(before) != _session_id_of(view):
            self.text_filter, self._only_failed, self._goal, self.list.follows = "", False, None, True
            if self._call is not None:
                self._call.show(None)
        self._choose_turn(view)
        self._lay_out(view)
        self._want(is_anew=True)

    def _choose_turn(self, view: ToolsModel) -> None:
        """Show the turn that is in view of the conversation, but leave the calls that somebody reads here."""
        is_other = (self._turn.id if self._turn else None) != (view.turn.id if view.turn else None)
        is_read = self.has_pane_focus and not self.list.follows
        if not (is_other and is_read and not self.is_large):
            self._turn = view.turn
            self.list.follows = self.list.follows or (is_other and not self.is_large)

    def put_cursor(self, call_id: str) -> None:
        """Go to a call, now or as soon as the pane is large enough to show those of its turn."""
        self._goal = None if call_id in self.list.rows else call_id
        self.list.put_cursor(call_id)

    def point_at(self, call_id: str) -> None:
        """Go to the call that a jump of a replay is about, and on from there with the moment."""
        self.list.point_at(call_id)

    def show_detail(self, view: CallDetailModel) -> None:
        """Show one call in full, as it was asked for."""
        if view.call.id == self.list.cursor:
            from workbench.views.detail_pages import call_detail

            self.call.show(call_detail(view.call, view.action, view.events, output=view.output))
            self._show_running()
            self._fit()

    def _show_running(self) -> None:
        """Show how far the call under the cursor is, where it is shown in full."""
        row = self.list.rows.get(self.list.cursor or "")
        if self._call is not None and self._shown is not None and row is not None:
            command = self._shown.commands.get(row.id) if row.sign == "running" else None
            self._call.show_running(command, (row.run_ms or 0) // 1000)

    def tick(self, now: int) -> None:
        if self._shown is not None and _is_redraw_due(self._all, now):
            self._shown = replace(self._shown, now=now)
            self._lay_out(self._shown)

    def _lay_out(self, view: ToolsModel) -> None:
        self._all = shown = self._rows(view)
        if self.text_filter or self._only_failed:
            shown = tools.tool_rows(
                view.calls,
                view.actions,
                view.now,
                only_failed=self._only_failed,
                text_filter=self.text_filter,
            )
        elif self._is_of_turn and self._turn is not None:
            shown = [row for row in shown if row.turn_id == self._turn.id]
        is_grouped = self.is_large and not (self.text_filter or self._only_failed)
        self.list.show_rows(
            shown, view.now, self._empty(), turns=view.turns if is_grouped else (), commands=view.commands,
            moment=view.moment, agents=view.agents, names=view.names,
        )  # fmt: skip
        if self._goal in self.list.rows:
            self.put_cursor(self._goal)
        self._fit()
        self._show_running()
        self._show_title(view.now)

    @property
    def is_large(self) -> bool:
        """Return whether there is room for a call in full below the list."""
        return self.size.height - 2 >= _DETAIL_FROM

    @property
    def is_of_all_sessions(self) -> bool:
        """Return whether the calls of every session are listed."""
        return self._shown is not None and self._shown.names is not None

    @property
    def _is_of_turn(self) -> bool:
        is_narrowed = self.text_filter or self._only_failed
        return self._turn is not None and not (is_narrowed or self.is_large)

    def _rows(self, view: ToolsModel) -> list[ToolRow]:
        """Return a row for every call; those of calls that are over stay as they are."""
        kept, self._kept = self._kept, {}
        for call in view.calls:
            action = view.actions.get(call.action_id or "")
            known = kept.get(call.id)
            if known is None or not _is_row_final(known, call, action):
                (row,) = tools.tool_rows((call,), view.actions, view.now)
                known = (call, action, row)
            self._kept[call.id] = known
        return [row for _, _, row in self._kept.values()]

    def _empty(self) -> str:
        if self.text_filter:
            return f"Nothing matches “{self.text_filter}”. esc clears the filter; / changes it."
        if self._only_failed:
            return "Nothing has failed. f shows all."
        if self.is_of_all_sessions:
            return "No session has called a tool yet."
        return "No tool was called in this turn." if self._all else "No tool was called yet."

    def _empty_page(self, width: int, height: int) -> Sequence[Content]:
        is_bare = not (self.text_filter or self._only_failed)
        sentence = _EMPTY_SENTENCE if is_bare else ""
        return empty_page(self, (self._empty(), sentence, ()), width, height, _GHOST if is_bare else ())

    def _show_title(self, now: int) -> None:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        rows = list(self.list.rows.values()) if self._is_of_turn else self._all
        if self._counted is None or (self._counted[0] is not self._all or self._counted[1] != now):
            self._counted = self._all, now, tools.tool_facts(rows, now)
        facts = self._counted[2]
        parts = [
            (f"{glyphs.of('failed')} {facts.failed}", ink.sign("failed"), facts.failed),
            (f"{glyphs.of('waiting')} {facts.waiting}", ink.sign("waiting"), facts.waiting),
        ]
        earlier = self._shown.earlier if self._shown is not None else 0
        shown = [Content.styled(text, style) for text, style, count in parts if count]
        if self.is_of_all_sessions:
            shown.append(Content.styled(f"all sessions  {facts.total} calls", ink.of("muted")))
        elif self._is_of_turn and self._turn is not None:
            calls = f"{facts.total} call{'' if facts.total == 1 else 's'}"
            shown.append(Content.styled(f"turn {self._turn.number}  {calls}", ink.of("muted")))
        elif facts.total:
            total = f"{facts.total + earlier}"
            shown.append(Content.styled(f"of {total}" if shown else total, ink.of("muted")))
        elif self.is_folded:
            shown.append(Content.styled("none was called yet", ink.of("muted")))
        left = Content("  ").join(shown)
        self.set_title(left, Content.styled(self._right(now), ink.of("muted")))

    def _right(self, now: int) -> str:
        words = ["failed only"] if self._only_failed else []
        words += [f"/ {self.text_filter}"] if self.text_filter else []
        if self.size.width < WATERFALL_FROM + 40:
            return "   ".join(words)
        rows = list(self.list.rows.values()) or self._all
        current = self.list.rows.get(self.list.cursor or "") or (rows[-1] if rows else None)
        if current is None:
            return "   ".join(words)
        facts = tools.tool_facts([row for row in self._all if row.turn_id == current.turn_id], now)
        words += [duration_text(facts.seconds), f"run {duration_text(facts.run_seconds)}"]
        words += [f"waited for you {duration_text(facts.wait_seconds)}"] if facts.wait_seconds >= 1 else []
        return "   ".join(words)

    # --- room -----------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """Show one call in full where there is room for it."""
        del event
        if self._shown is not None:
            self._lay_out(self._shown)
            self._want(is_anew=False)

    @property
    def has_detail(self) -> bool:
        """Return whether one call is shown in full."""
        return self._call is not None and bool(self._call.display)

    def _fit(self) -> None:
        self.heads.display = bool(self.list.rows) and self.size.width >= WATERFALL_FROM
        self.heads.refresh()
        height = self.size.height - 1 - self.heads.display
        has_room = height >= _DETAIL_FROM and bool(self.list.rows)
        if has_room or self._call is not None:
            self.call.display = has_room
        self.list.styles.height = self._list_rows(height) if has_room else "1fr"

    def _list_rows(self, height: int) -> int:
        """Return the rows of the list above a call; those that it has hold the call that goes on."""
        line = self.list.line_of(self.list.cursor or "")
        up_to_cursor = 0 if line is None else line - self.list.first_line + 1
        return list_height(
            len(self.list.ids), height, self.call.line_count, keeps=_ROWS_KEPT, up_to_cursor=up_to_cursor
        )

    def _want(self, *, is_anew: bool) -> None:
        wanted = self.list.cursor if self.has_detail else None
        if wanted is not None and (is_anew or wanted != self._wanted):
            self.post_message(ToolWanted(wanted))
        self._wanted = wanted

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Show the call under the cursor."""
        message.stop()
        if self._shown is not None:
            if self.list.look_at_turn(self._shown.now):
                self.heads.refresh()
            self._show_title(self._shown.now)
        self._want(is_anew=False)
        self.post_message(KeysChanged())

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Open what was clicked twice."""
        message.stop()
        self.open_row()

    # --- list keys ------------------------------------------------------------------------------

    def scroll_half(self, direction: int) -> None:
        if self.has_detail:
            self.call.scroll_to_line(self.call.first_line + direction * max(1, self.call.size.height // 2))
        else:
            super().scroll_half(direction)

    def move_to_problem(self, step: int) -> None:
        ids = list(self.list.rows)
        # Whoever only follows has not been anywhere yet: their next one is the first.
        is_anywhere = self.list.cursor in ids and not (self.list.follows and step > 0)
        index = ids.index(self.list.cursor or "") if is_anywhere else (-1 if step > 0 else len(ids))
        rest = ids[index + 1 :] if step > 0 else list(reversed(ids[:index]))
        row_id = next((key for key in rest if _is_problem_row(self.list.rows[key])), None)
        if row_id is None:
            self.post_message(StatusMessage("Nothing more waits or has failed here."))
        else:
            self.list.put_cursor(row_id)

    def open_row(self) -> None:
        if self.list.cursor is not None:
            self.post_message(OpenDetail("tools", self.list.cursor))

    @property
    def agent_id(self) -> str:
        """Return the session of the agent that the call under the cursor began; empty where it began none."""
        agent = self._shown.agents.get(self.list.cursor or "") if self._shown is not None else None
        return "" if agent is None else agent.session_id

    def copy_text(self) -> str:
        if self.has_detail:
            return self.call.text()
        row = self.list.rows.get(self.list.cursor or "")
        return "" if row is None else row.target or row.tool

    def ask_filter(self) -> None:
        section = self.call.section if self.has_detail else None
        if section is None:
            super().ask_filter()
        else:
            self.post_message(
                LineWanted(self, "find", f"Find in {section.name}", does="find", text=self.call.find)
            )

    def line_answered(self, purpose: str, text: str) -> None:
        if purpose == "find" and text and not self.call.find_next(text):
            self.post_message(StatusMessage(f"“{text}” is not in this part."))

    def lay_out(self) -> None:
        if self._shown is not None:
            self._lay_out(self._shown)

    # --- its own keys ---------------------------------------------------------------------------

    def toggle_failed(self) -> None:
        """Show only what failed, or all."""
        self._only_failed = not self._only_failed
        self.lay_out()

    def label_of(self, key_id: str) -> str:
        if key_id == "tools.failed-only" and self._only_failed:
            return "all"
        if key_id == "list.filter" and self.has_detail:
            return "find"
        if key_id == "tools.all-sessions" and self.is_of_all_sessions:
            return "this session"
        return super().label_of(key_id)


def _is_row_final(known: tuple[Call, Action | None, ToolRow], call: Call, action: Action | None) -> bool:
    """Return whether a row of a call that is over still says the truth; each look reads the calls anew."""
    before, asked, row = known
    if row.finished is None or (asked is None) != (action is None):
        return False
    same = (before.state, before.finished_at, before.replaced_by, before.repeats)
    return same == (call.state, call.finished_at, call.replaced_by, call.repeats)


def _is_problem_row(row: ToolRow) -> bool:
    return row.is_failed or row.sign in ("waiting", "stale", "unknown")


def _is_redraw_due(rows: Sequence[ToolRow], now: int) -> bool:
    """Return whether the times of open calls move this second: of old questions only every ten."""
    is_open = [row for row in rows if row.finished is None]
    if all(
        row.started is None and now - row.requested > tools.FRESH_WAIT_SECONDS * SECOND_MICROS
        for row in is_open
    ):
        return bool(is_open) and now // SECOND_MICROS % CALM_COUNTDOWN_STEP == 0
    return True


def _session_id_of(view: ToolsModel) -> str | None:
    return view.session.id if view.session is not None else None
