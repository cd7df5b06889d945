"""The statistics pane: numbers of a session, a workspace or all, over a period, counted in a thread."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import Struct
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.journal import usage_queries
from workbench.journal.journal import Journal
from workbench.journal.statistics_queries import StatisticsFacts, StatisticsScope, statistics_facts
from workbench.render import cells, statistics
from workbench.render.statistics import StatisticsFrame, StatisticsLine, usage_lines
from workbench.render.statistics_cards import StatisticsCard, card_lines
from workbench.text.human import DAY_MICROS, SECOND_MICROS, duration_text, home_as_tilde, token_text
from workbench.tui.keyboard import keymap
from workbench.tui.list_page.page import ListPage
from workbench.tui.list_page.place import EmptyWords
from workbench.tui.pane import KeysChanged, StatusMessage
from workbench.tui.places import place_key_id, place_number
from workbench.tui.render_context import glyphs, ink
from workbench.tui.state import ScreenState
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.pane_frame import overflow_text
from workbench.views.sessions import session_title
from workbench.views.statistics import Statistics, insights, session_statistics, tokens_by_day
from workbench.views.usage import (
    USAGE_ROWS,
    UsageBy,
    UsagePrice,
    UsageTable,
    cost_text,
    group_of,
    row_name,
    sum_usage,
    usage_table,
)

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

PERIOD_DAYS: Final = (7, 30, 90, 0)
"""Days; 0 is all of them."""
_USAGE_BY: Final[tuple[UsageBy | None, ...]] = (None, *USAGE_ROWS)
"""What the pane shows: the numbers of tools and questions, or a table of tokens and cost."""
_SCOPES: Final = ("all workspaces", "this workspace", "this session")
_RECOUNT_SECONDS: Final = 2.0
"""Seconds between two countings while agents run."""
_MAX_DAYS: Final = 366
_CARDS_FROM: Final = (140, 30)
"""Columns and rows from which the numbers that matter most are shown on cards."""
_MORE_CHART_ROWS: Final = 12
"""Rows by which a chart may grow into what is left of the page."""
_TIMES_HINT: Final = "time run and time waited for you are counted apart"
_EMPTY: Final = (
    "No sessions in this period",
    "What was asked, run, changed and used is counted here.",
    (("statistics.period-longer", "a longer period"), ("app.session-new", "start a session")),
)
_EMPTY_USAGE: Final = (
    "No tokens in this period",
    "What replies used is counted here: input, output, what caches gave and took, and what it cost.",
    (
        ("statistics.period-longer", "a longer period"),
        ("statistics.view", "another table"),
        (place_key_id("library"), "the library: I imports sessions"),
    ),
)
_HINTS: Final = (f"{_TIMES_HINT}; expired is never counted as rejected", _TIMES_HINT)


_USAGE_HINTS: Final = ("days are from midnight to midnight here, weeks from Monday", "")


class StatisticsList(RowList):
    """Lines of which some can be opened."""

    def __init__(self, key: str) -> None:
        super().__init__(key=key)
        self._lines_by_id: dict[str, Content] = {}

    def rows_before(self, line: int) -> int:
        return line  # what cannot be opened is read too

    def take(self, lines: Sequence[StatisticsLine]) -> None:
        """Show lines; the cursor stays on its line."""
        self._lines_by_id = dict(lines)
        self.set_ids(list(self._lines_by_id))

    def text_of(self, row_id: str) -> str:
        """Return a line as text."""
        return " ".join(self._lines_by_id[row_id].plain.split())

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        colours, line = ink(self), self._lines_by_id[placed.row_id]
        if not placed.is_cursor or not placed.is_focused:
            return cells.line_strip(line, width, colours.on("background"))
        bar = Content.styled(glyphs(self).of("cursor"), colours.of("info"))
        return cells.line_strip(bar + line[1:], width, colours.cursor(has_focus=True))


class StatisticsPane(ListPage[StatisticsList, "_Counted"]):
    """The statistics: two lists of lines, of tools and questions, or one of tokens and cost."""

    PLACE = place_number("statistics")
    NAME = "Statistics"
    SCOPES: ClassVar[tuple[str, ...]] = ("statistics", "list")
    BINDINGS = keymap.bindings(*SCOPES)
    ONE_ORDER = NO_FILTER = NO_PROBLEMS = "Statistics have one order and no filter."
    NOT_READ = "Nothing was counted."
    READING = "", "", ()
    GHOST = (
        "✓ approved    14  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━",
        "∅ rejected     2  ━━━━",
        "§ by rule      6  ━━━━━━━━━━━━",
    )

    def __init__(self, journal: Journal, price: UsagePrice, state: ScreenState, workspace: str) -> None:
        super().__init__(StatisticsList("statistics-left"), key="statistics", joint="┬")
        self._journal, self._price, self._state, self._workspace = journal, price, state, workspace
        self.left, self.right = self.list, StatisticsList("statistics-right")
        self._period, self._where, self._view = 1, 0, 0
        self._counted: _Counted | None = None
        self._drawn_for = (0, 0)

    def compose_second(self) -> Iterable[Widget]:
        yield self.right
        self.right.watch_extent(self.say_hint)

    def hint_parts(self) -> tuple[Content, str]:
        more = overflow_text(self.right, glyphs(self)) if self.second.display else ""
        more = f"the right column: {more}" if more else ""
        room = self.size.width - len(more) - (2 if more else 1)
        hints = _HINTS if self.usage_by is None else _USAGE_HINTS
        words = next((words for words in hints if len(words) < room), "")
        return Content.styled(glyphs(self).line(f" {words}"), ink(self).of("muted")), more

    def arrange_columns(self) -> None:
        super().arrange_columns()
        if not self.second.display and self.right.has_focus:
            self.left.focus()

    def resized(self) -> None:
        self.call_after_refresh(self._draw)

    @property
    def has_second(self) -> bool:
        return self.usage_by is None

    def show(self, view: Collection[str] | None) -> None:
        del view
        self.reader.read_soon(_RECOUNT_SECONDS)

    # --- counting, in a thread ------------------------------------------------------------------------

    @property
    def scope(self) -> StatisticsScope:
        """Return what is counted."""
        days, current = PERIOD_DAYS[self._period], self._state.current
        since = max(0, self._journal.now() - days * DAY_MICROS) if days else 0
        if self._where == 2 and current is not None:
            return StatisticsScope(since=0, session_id=current.id)
        return StatisticsScope(since=since, workspace=self._workspace if self._where == 1 else None)

    @property
    def usage_by(self) -> UsageBy | None:
        """Return what the rows of the table of tokens are; None while tools and questions are shown."""
        return _USAGE_BY[self._view]

    def next_view(self, step: int = 1) -> None:
        """Show the next table, or the numbers again after the last one."""
        self._view = (self._view + step) % len(_USAGE_BY)
        self._counted = None
        self.left.take([])
        self.arrange_columns()
        self.say()
        self.read()

    def read_list(self) -> "_Counted":
        by = self.usage_by
        if by is not None:
            return _count_usage(self._journal, by, self.scope, self._price)
        return _count_calls(self._journal, self.scope, self._price)

    def show_result(self, result: "_Counted") -> None:
        if result.by == self.usage_by:
            self._counted = result
            self._draw()

    # --- what is shown --------------------------------------------------------------------------------

    def say_title(self) -> None:
        days, muted = PERIOD_DAYS[self._period], ink(self).of("muted")
        words = f"last {days} days" if days else "all days"
        where = _SCOPES[self._where]
        if self._where == 2:
            current = self._state.current
            words, where = "this session", f"“{session_title(current)}”" if current else "there is none"
        line = glyphs(self).line
        facts = Content.assemble(
            (words, ink(self).of("foreground")), " ", cells.safe_content(line(where), muted)
        )
        key = ink(self).of("info", bold=True)
        following = _USAGE_BY[(self._view + 1) % len(_USAGE_BY)]
        told = f" by {following}" if following else " tools"
        self.set_title(
            facts,
            Content.assemble(
                ("b", key), (f"{told}  ", muted), ("h l", key), (" period  ", muted), ("w", key),
                (" where", muted),
            ),
        )  # fmt: skip

    def _widths(self) -> tuple[int, int]:
        return self.left.width, self.right.width if self.second.display else 0

    def _draw_where_it_moved(self) -> None:
        # A column has its new width only after the layout that hid or showed the other one.
        if self._widths() != self._drawn_for:
            self._draw()

    def _frame(self, view: LineView) -> StatisticsFrame:
        return StatisticsFrame(width=max(30, view.width), ink=ink(self), glyphs=glyphs(self))

    def _draw(self) -> None:
        counted = self._counted
        if counted is None or not self.is_attached:
            return
        self._drawn_for = self._widths()
        self.call_after_refresh(self._draw_where_it_moved)
        if counted.is_empty:
            first, second = [], []
        elif isinstance(counted, _CountedUsage):
            now, frame = self._journal.now(), self._frame(self.left)
            first = usage_lines(counted.table, frame, counted.name_of, now, counted.prices_date)
            second = []
        else:
            first, second = self._call_lines(counted)
        self.left.take(first)
        self.left.invalidate()
        self.right.take(second)

    def _call_lines(self, counted: "_CountedCalls") -> tuple[list[StatisticsLine], list[StatisticsLine]]:
        has_two, left = self.second.display, self._frame(self.left)
        if not has_two:
            first, second = self._first(counted, left), self._second(counted, left)
            return [*first, left.blank("between"), *second], []
        right = self._frame(self.right)
        first, second = self._first(counted, left), self._second(counted, right)
        # What the tables leave makes the charts higher.
        first = self._first(counted, left, self._rows_left(self.left, first))
        return first, self._second(counted, right, self._rows_left(self.right, second))

    def _rows_left(self, view: LineView, lines: Sequence[StatisticsLine]) -> int:
        return max(0, min(_MORE_CHART_ROWS, view.size.height - len(lines)))

    def _first(
        self, counted: "_CountedCalls", frame: StatisticsFrame, more_rows: int = 0
    ) -> list[StatisticsLine]:
        counts = counted.counts
        cards = self._first_cards(counted) if self._has_cards else []
        return [
            *card_lines("first", cards, frame), *statistics.tool_count_lines(counts.tools, frame),
            *statistics.outcome_lines(counts, frame),
            *statistics.decision_time_lines(counts.deciding, frame, more_rows),
        ]  # fmt: skip

    @property
    def _has_cards(self) -> bool:
        return self.size.width >= _CARDS_FROM[0] and self.size.height >= _CARDS_FROM[1]

    def _first_cards(self, counted: "_CountedCalls") -> list[StatisticsCard]:
        facts, counts = counted.facts, counted.counts
        ran, failed = sum(tool.calls for tool in counts.tools), sum(tool.failed for tool in counts.tools)
        run, waited = sum(tool.run_ms for tool in counts.tools), sum(tool.waited_ms for tool in counts.tools)
        deciding = counts.deciding
        return [
            StatisticsCard(
                value=f"{len(facts.answers):,}", label="asked, by day",
                days=self._by_day(facts, (answer.asked_at for answer in facts.answers)),
            ),
            StatisticsCard(
                value=_duration(deciding.p50_ms), label="median to decide",
                note=f"95 % in {_duration(deciding.p95_ms)}" if deciding.answers else "nothing was answered",
            ),
            StatisticsCard(
                value=f"{ran:,}", label="calls", note=f"{failed:,} failed" if failed else "none failed"
            ),
            StatisticsCard(
                value=_duration(waited), label="waited for you", note=f"the calls ran {_duration(run)}"
            ),
        ]  # fmt: skip

    def _second_cards(self, counted: "_CountedCalls") -> list[StatisticsCard]:
        facts, counts = counted.facts, counted.counts
        added, removed = sum(file.added for file in counts.files), sum(file.removed for file in counts.files)
        by_rule = dict(counts.outcomes).get("by rule", 0)
        return [
            StatisticsCard(
                value=token_text(counts.used.usage.total_tokens), label="tokens", note=cost_text(counts.used)
            ),
            StatisticsCard(
                value=f"{len(counts.files):,}", label="files changed", note=f"+{added:,} −{removed:,} lines"
            ),
            StatisticsCard(
                value=f"{counts.sessions:,}", label="sessions, by day",
                days=self._by_day(facts, (session.updated_at for session in facts.sessions)),
            ),
            StatisticsCard(value=f"{by_rule:,}", label="decided by rule", note="without a question"),
        ]  # fmt: skip

    def _by_day(self, facts: StatisticsFacts, moments: Iterable[int]) -> list[int]:
        first, count = self._first_day(facts)
        days = [0] * count
        for moment in moments:
            day = _day_of(moment) - first
            if 0 <= day < count:
                days[day] += 1
        return days

    def empty_words(self) -> EmptyWords:
        if self._counted is None:
            return self.READING
        return _EMPTY if self.usage_by is None else _EMPTY_USAGE

    def _second(
        self, counted: "_CountedCalls", frame: StatisticsFrame, more_rows: int = 0
    ) -> list[StatisticsLine]:
        facts, counts = counted.facts, counted.counts
        days, labels = self._days(facts)
        cards = self._second_cards(counted) if self._has_cards else []
        head, between = ([frame.caption("cards", "Totals")], [frame.blank("cards")]) if cards else ([], [])
        return [
            *head, *card_lines("second", cards, frame), *between,
            *statistics.token_lines(days, labels, counts, frame, more_rows),
            *statistics.session_status_lines(counts, frame), *statistics.changed_file_lines(counts, frame),
            *statistics.insight_lines(insights(facts.answers, counts.tools, _hour_of), frame),
        ]  # fmt: skip

    def _days(self, facts: StatisticsFacts) -> tuple[list[int], tuple[str, str]]:
        first, count = self._first_day(facts)
        last = first + count - 1
        return tokens_by_day(facts.usage, first, count, _day_of), (_date_text(first), _date_text(last))

    def _first_day(self, facts: StatisticsFacts) -> tuple[int, int]:
        """Return the first day that is shown, and how many there are up to today."""
        today, count = _day_of(self._journal.now()), PERIOD_DAYS[self._period]
        if not count or self._where == 2:
            oldest = min((_day_of(fact.at) for fact in facts.usage), default=today)
            count = max(7, min(_MAX_DAYS, today - oldest + 1))
        return today - count + 1, count

    # --- keys -----------------------------------------------------------------------------------------

    def choose_period(self, step: int) -> None:
        """Count another period."""
        if self._where == 2:
            self.post_message(StatusMessage("A session is counted whole. w counts workspaces."))
            return
        self._period = max(0, min(self._period + step, len(PERIOD_DAYS) - 1))
        self.say_title()
        self.read()

    def next_where(self) -> None:
        """Count somewhere else."""
        self._where = (self._where + 1) % len(_SCOPES)
        self.say_title()
        self.read()

    @property
    def _list(self) -> StatisticsList:
        return self.right if self.right.has_focus else self.left

    def move(self, rows: int) -> None:
        view, before = self._list, self._list.cursor
        view.move(rows)
        other = self.left if view is self.right else self.right
        goes_over = self.second.display and (view is self.left) == (rows > 0)
        if view.cursor == before and goes_over and other.line_count:
            other.focus()
            other.move_to_end(is_last=rows < 0)

    def move_to_end(self, *, is_last: bool) -> None:
        self._list.move_to_end(is_last=is_last)

    def scroll_half(self, direction: int) -> None:
        view = self._list
        view.scroll_to_line(view.first_line + direction * max(1, view.size.height // 2))

    def open_row(self) -> None:
        key, days = (self._list.cursor or "").strip(), PERIOD_DAYS[self._period]
        if not key or key.startswith("-"):
            self.post_message(StatusMessage("There are no sessions behind this line."))
            return
        is_dated = self._where == 2 or key.startswith("since:")
        since = f" since:{days}d" if days and not is_dated else ""
        self.main.open_library(key + since)

    def row_moved(self) -> None:
        self.post_message(KeysChanged())

    def copy_text(self) -> str:
        line = self._list.cursor
        return "" if line is None else self._list.text_of(line)

    def label_of(self, key_id: str) -> str:
        return "its sessions" if key_id == "list.open" else super().label_of(key_id)


class _CountedCalls(Struct, frozen=True):
    facts: StatisticsFacts
    counts: Statistics
    by: None = None

    @property
    def is_empty(self) -> bool:
        return not self.counts.sessions


class _CountedUsage(Struct, frozen=True):
    table: UsageTable
    titles: Mapping[str, str]
    prices_date: str

    @property
    def by(self) -> UsageBy:
        return self.table.by

    @property
    def is_empty(self) -> bool:
        return not self.table.total.replies and not self.table.total.told

    def name_of(self, key: str) -> str:
        """Return what the row of a key is called."""
        if self.table.by == "session":
            return self.titles.get(key) or key[:8]
        if self.table.by == "project" and key:
            return home_as_tilde(key, str(Path.home()))
        return row_name(self.table.by, key)


_Counted = _CountedCalls | _CountedUsage


def _count_calls(journal: Journal, scope: StatisticsScope, price: UsagePrice) -> _CountedCalls:
    with journal.snapshot() as database:
        facts = statistics_facts(database, scope)
    used = sum_usage(facts.usage, price)
    return _CountedCalls(
        facts, session_statistics(facts.calls, facts.answers, facts.sessions, facts.files, used)
    )


def _count_usage(journal: Journal, by: UsageBy, scope: StatisticsScope, price: UsagePrice) -> _CountedUsage:
    from workbench.config.model_prices import PRICES_DATE

    with journal.snapshot() as database:
        ids = usage_queries.session_family(database, scope.session_id) if scope.session_id else None
        asked = usage_queries.UsageScope(since=scope.since, workspace=scope.workspace, session_ids=ids)
        facts = usage_queries.usage_facts(database, group_of(by), asked)
        tops = usage_queries.row_tops(database, by)
        table = usage_table(by, facts, price, tops=tops)
        keys = [row.key for row in table.rows] if by == "session" else []
        return _CountedUsage(table, usage_queries.session_names(database, keys), PRICES_DATE)


def _duration(ms: int | None) -> str:
    return "–" if ms is None else duration_text(ms / 1000)


def _day_of(micros: int) -> int:
    return datetime.fromtimestamp(micros / SECOND_MICROS).toordinal()


def _hour_of(micros: int) -> int:
    return datetime.fromtimestamp(micros / SECOND_MICROS).hour


def _date_text(day: int) -> str:
    calendar_date = date.fromordinal(day)
    return f"{calendar_date.day} {calendar_date.strftime('%b')}"


def open_place(context: "MainContext") -> StatisticsPane:
    """Return the statistics of a main screen."""
    return StatisticsPane(context.app.journal, context.backend.price, context.state, context.status.workspace)
