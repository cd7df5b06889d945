"""Pipelines: the title of a run, its times as bars, rows of two runs compared, rows of the launch form."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled
from workbench.render.list_rows import cursor_column
from workbench.render.theme import Glyphs, Ink
from workbench.text.human import SECOND_MICROS, countdown_text, duration_text, token_text
from workbench.text.safe import one_line
from workbench.text.width import cell_width
from workbench.views.pipeline import GrantOffer, LaunchProblem, PipelineChoice, PipelineRun, PlannedStep
from workbench.views.run_history import (
    ComparedStep,
    ComparisonRow,
    EarlierStep,
    RunComparison,
    RunTimes,
    SpanKind,
    StepTimes,
    usual_seconds,
)
from workbench.views.status_icons import STEP_STATUSES, StatusName
from workbench.views.usage import money_text

_TIME_CELLS, _MIN_OUTCOME_CELLS, _MAX_OUTCOME_CELLS = 9, 11, 27
_OTHER_CELLS = 80
_LONGEST_RUN_BAR = 30
_LEAST_RUN_BAR = 6
_LONGEST_LINK = 60
_TITLE_GAP = Content("  ")
_AROUND_TITLE = 16
"""Cells of a title that the pane's name and the rule take."""


def run_title_facts(run: PipelineRun, to_go: float | None, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return what the title of a run says in a pane of a width; what matters least is left out first."""
    counts: tuple[tuple[StatusName, int], ...] = (("waiting", run.waiting), ("failed", run.failed))
    head = [Content.styled(run.title, ink.of("foreground"))]
    head += [Content.styled(f"{glyphs.of(sign)} {count}", ink.sign(sign)) for sign, count in counts if count]
    done = Content.styled(f"{run.done} of {run.total}", ink.of("foreground"))
    room = width - _AROUND_TITLE
    for words in _title_tails(run, to_go):
        tail = [
            Content.styled(word, ink.of("failed" if word.startswith("failed") else "muted")) for word in words
        ]
        bar = min(_LONGEST_RUN_BAR, room - _TITLE_GAP.join([*head, done, *tail]).cell_length - 1)
        if bar >= _LEAST_RUN_BAR:
            return _TITLE_GAP.join([*head, progress_bar(run, bar, ink, glyphs) + Content(" ") + done, *tail])
    return _TITLE_GAP.join([*head, done])


def _title_tails(run: PipelineRun, to_go: float | None) -> list[list[str]]:
    """Return what may stand behind the bar, the most first."""
    ended = run.status if run.status in ("queued", "failed", "cancelled", "completed") else ""
    goes_on = STEP_STATUSES["warned"][1] if run.warned else ""
    spent = countdown_text(run.seconds)
    time = f"{spent}, about {countdown_text(to_go)} to go" if to_go else spent
    tokens = f"{token_text(run.tokens)} tok" if run.tokens else ""
    link = _links_text(run)
    plain = (run.place, goes_on, ended, time, tokens)
    most = (*plain, money_text(run.cost) if run.cost else "")
    choices = ((*most, link), most, plain, (run.place, ended, time, tokens))
    choices += ((run.place, ended, time), (ended, time), (ended, spent), ())
    return [[word for word in words if word] for words in choices]


def _links_text(run: PipelineRun) -> str:
    """Return the newest link as a title shows it, and how many more there are."""
    # An address before a file: it is what one goes to.
    newest = max(reversed(run.links), key=lambda link: link.kind == "address", default=None)
    if newest is None:
        return ""
    more = f" +{len(run.links) - 1}" if len(run.links) > 1 else ""
    return f"{one_line(newest.target.removeprefix('https://'), _LONGEST_LINK)}{more}"


def progress_bar(run: PipelineRun, room: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return a bar of a run's steps: done, failed, running, waiting, and what is to come."""
    parts: tuple[tuple[StatusName, int], ...] = (
        ("ok", run.done - run.warned), ("failed", run.failed),
        ("running", run.running), ("waiting", run.waiting),
    )  # fmt: skip
    total, counted, drawn = max(1, run.total), 0, 0
    bar = Content("")
    for sign, count in parts:
        counted += count
        cells = min(max(int(count > 0), round(room * counted / total) - drawn), room - drawn)
        drawn += cells
        bar += Content.styled(glyphs.of("ran") * cells, ink.sign(sign))
    return bar + Content.styled(glyphs.of("waited") * (room - drawn), ink.of("rule"))


def comparison_head_strip(comparison: RunComparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    faint, bold = ink.of("faint"), ink.of("foreground", bold=True)
    earlier, later = comparison.earlier.title, comparison.later.title
    columns = _comparison_columns(
        width, Content(" "), styled("step", faint), _run_heads("before", earlier, bold, ink),
        _run_heads("now", later, bold, ink), styled("change", faint), styled("tokens", faint),
    )  # fmt: skip
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def _run_heads(word: str, title: str, style: Style, ink: Ink) -> tuple[Content, Content, Content]:
    number = title.rpartition(" #")[2] if " #" in title else ""
    faint = ink.of("faint")
    return (
        safe_content(f"{word} #{number}" if number else word, style, ink), styled("time", faint),
        styled("tokens", faint),
    )  # fmt: skip


def comparison_strip(
    row: ComparisonRow, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    bar = cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=True).content
    is_bold = row.kind in ("outcome", "added", "gone")
    columns = _difference_columns(row, bar, width, ink, glyphs, is_bold=is_bold)
    return cells.row_strip(
        columns, width, ink.cursor(has_focus=has_focus) if is_cursor else None, glyphs=glyphs
    )


def comparison_total_strip(comparison: RunComparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    columns = _difference_columns(comparison.total, Content(" "), width, ink, glyphs, is_bold=True)
    return cells.row_strip(columns, width, ink.on("panel"), glyphs=glyphs)


def _difference_columns(
    row: ComparisonRow, bar: Content, width: int, ink: Ink, glyphs: Glyphs, *, is_bold: bool
) -> list[Column]:
    word = _outcome_cells(width)
    return _comparison_columns(
        width, bar, safe_content(row.name, ink.of("foreground", bold=is_bold), ink),
        _step_contents(row.earlier, word, ink, glyphs), _step_contents(row.later, word, ink, glyphs),
        _time_change(row, ink), _token_change(row.tokens, ink) if row.earlier and row.later else Content(""),
    )  # fmt: skip


def _outcome_cells(width: int) -> int:
    return max(_MIN_OUTCOME_CELLS, min(_MAX_OUTCOME_CELLS, (width - _OTHER_CELLS) // 2))


def _comparison_columns(
    width: int,
    bar: Content,
    name: Content,
    earlier: tuple[Content, Content, Content],
    later: tuple[Content, Content, Content],
    change: Content,
    more: Content,
) -> list[Column]:
    columns = [Column(content=bar, gap=0), Column(content=name, grows=True, least=12, gap=0)]
    for side in (earlier, later):
        columns += [
            Column(content=side[0], width=_outcome_cells(width), gap=2),
            Column(content=side[1], width=_TIME_CELLS, align="right", drop=1),
            Column(content=side[2], width=6, align="right", drop=3),
        ]
    columns += [
        Column(content=change, width=_MIN_OUTCOME_CELLS, align="right", gap=2),
        Column(content=more, width=8, align="right", drop=2),
        Column(content=Content(" "), gap=0),
    ]
    return columns


def _step_contents(
    side: ComparedStep | None, word_cells: int, ink: Ink, glyphs: Glyphs
) -> tuple[Content, Content, Content]:
    if side is None:
        return styled("not in it", ink.of("faint")), Content(""), Content("")
    tried = f" {glyphs.of('retries')}{side.attempt}" if side.attempt > 1 else ""
    word = styled(f"{glyphs.of(side.sign)} {side.word}{tried}", ink.sign(side.sign))
    muted = ink.of("muted")
    has_time = side.seconds >= 0.05
    return (
        cells.shorten_line(word, word_cells, glyphs),
        styled(duration_text(side.seconds) if has_time else "", muted),
        styled(token_text(side.tokens) if side.tokens else "", muted),
    )


def _time_change(row: ComparisonRow, ink: Ink) -> Content:
    if row.kind in ("added", "gone"):
        return styled("new" if row.kind == "added" else "gone", ink.of("info"))
    if row.kind == "outcome":
        words = "failed now" if row.is_worse else "differs"
        return styled(words, ink.of("failed" if row.is_worse else "waiting", bold=True))
    if row.kind in ("same", "open"):
        return styled("same" if row.kind == "same" else "not yet", ink.of("faint"))
    return styled(_signed_duration(row.seconds), ink.of("waiting" if row.kind == "slower" else "added"))


def _signed_duration(seconds: float) -> str:
    if abs(seconds) < 0.05:
        return "same"
    return f"{'+' if seconds > 0 else '-'}{duration_text(abs(seconds))}"


def _token_change(count: int, ink: Ink) -> Content:
    if not count:
        return Content("")
    return styled(f"{'+' if count > 0 else '-'}{token_text(abs(count))}", ink.of("muted"))


def comparison_text(row: ComparisonRow) -> str:
    """Say what is known of a step beyond its row: attempts, contracts, errors."""
    parts: list[str] = []
    for name, side in (("before", row.earlier), ("now", row.later)):
        if side is None:
            continue
        words = [f"{name}: {side.word}"]
        words += [f"attempt {side.attempt} of {side.attempts}"] if side.attempts > 1 and side.attempt else []
        words += [f"contract {side.contract}"] if side.contract else []
        words += [side.error] if side.error else []
        parts.append(", ".join(words))
    return "   ".join([row.id, *parts])


_MAX_ID_CELLS, _MAX_WHO_CELLS, _MAX_PATTERN_CELLS = 28, 16, 40
_MIN_ASKS_CELLS, _MIN_DOES_CELLS = 40, 12
"""Cells that a column keeps where the row is too narrow for all, as far as its content needs them."""
_GAP = 2


class PlanColumns(Struct, frozen=True, kw_only=True):
    """Cells of the columns of a plan's steps: as many as the longest content needs, where there is room."""

    step: int
    who: int
    asks: int
    does: int
    """0 leaves the column out, as with facts."""
    facts: int


def plan_columns(steps: Sequence[PlannedStep], width: int) -> PlanColumns:
    step = min(_MAX_ID_CELLS, _longest(one.id for one in steps))
    who = min(_MAX_WHO_CELLS, _longest(one.who for one in steps))
    asks, does = _longest(map(_asked_words, steps)), _longest(one.does for one in steps)
    facts = _longest(one.facts for one in steps)
    room = width - len("▌999 ◯ ") - step - _GAP - who - 1
    asks = max(0, min(asks, room - _GAP, max(_MIN_ASKS_CELLS, room - facts - 2 * _GAP)))
    room -= asks + _GAP
    facts = facts if facts + _GAP <= room else 0
    room -= facts + _GAP
    does = min(does, room - _GAP) if room - _GAP >= min(does, _MIN_DOES_CELLS) else 0
    return PlanColumns(step=step, who=who, asks=asks, does=does, facts=facts)


def _longest(texts: Iterable[str]) -> int:
    return max(map(cell_width, texts), default=0)


def _asked_words(step: PlannedStep) -> str:
    return f"cannot run here: {step.cannot}" if step.cannot else step.asks


class LaunchRows:
    """Draws one row each, in the colours in force."""

    def __init__(self, ink: Ink, glyphs: Glyphs, width: int, *, is_cursor: bool, has_focus: bool) -> None:
        self._ink, self._glyphs, self._width = ink, glyphs, width
        self._is_cursor = is_cursor
        self._style = ink.cursor(has_focus=has_focus) if is_cursor else None

    def _row(self, *columns: Column) -> Strip:
        first = cursor_column(self._glyphs, self._ink, is_cursor=self._is_cursor, has_focus=True)
        last = Column(content=Content(" "), gap=0)
        return cells.row_strip((first, *columns, last), self._width, self._style, glyphs=self._glyphs)

    def choice(self, choice: PipelineChoice, choices: Sequence[PipelineChoice]) -> Strip:
        """Draw one of the pipelines; a sign stands only before one that cannot be used."""
        ink = self._ink
        says = "cannot be used as it is" if choice.is_broken else choice.description
        steps, steps_cells = _steps_text(choice), _longest(map(_steps_text, choices))
        sign = styled(self._glyphs.of("failed") if choice.is_broken else " ", ink.sign("failed"))
        name = safe_content(choice.name, ink.of("foreground", bold=self._is_cursor), ink)
        return self._row(
            Column(content=sign, gap=0),
            Column(content=name, width=min(_MAX_PATTERN_CELLS, _longest(one.name for one in choices))),
            Column(content=styled(steps, ink.of("muted")), width=steps_cells, align="right", gap=_GAP),
            Column(content=safe_content(says, ink.of("muted"), ink), grows=True, gap=_GAP),
        )  # fmt: skip

    def blank(self) -> Strip:
        return Strip.blank(self._width)

    def caption(self, title: str, right: str) -> Strip:
        ink = self._ink
        return self._row(
            Column(content=styled(title, ink.of("foreground", bold=True)), gap=0),
            Column(content=styled(right, ink.of("muted")), grows=True, gap=2),
        )

    def step(self, step: PlannedStep, columns: PlanColumns) -> Strip:
        """Draw a step: wave, id, who does it, what a human is asked, what it does, tries and time."""
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if step.cannot else "waiting" if step.is_asking else "todo"
        says = ink.of("failed" if step.cannot else "waiting" if step.kind == "gate" else "muted")
        does = step.does if columns.does else ""
        facts = step.facts if columns.facts else ""
        return self._row(
            Column(content=styled(f"{step.wave:>3}", ink.of("faint")), gap=0),
            Column(content=styled(glyphs.of(meaning), ink.sign(meaning))),
            Column(content=safe_content(step.id, None, ink), width=columns.step),
            Column(content=safe_content(step.who, ink.of("muted"), ink), width=columns.who, gap=_GAP),
            Column(content=safe_content(_asked_words(step), says, ink), width=columns.asks, gap=_GAP),
            Column(content=safe_content(does, ink.of("faint", italic=True), ink), grows=True, gap=_GAP),
            Column(
                content=safe_content(facts, ink.of("faint"), ink),
                width=columns.facts,
                align="right",
                gap=_GAP,
            ),
        )

    def grant(self, grant: GrantOffer, grants: Sequence[GrantOffer]) -> Strip:
        """Draw what may be granted: taken or left, pattern, whose, where it was written."""
        ink, glyphs = self._ink, self._glyphs
        sign = glyphs.of("taken" if grant.is_taken else "left")
        words = (
            f"never: {grant.refused}"
            if grant.refused
            else "granted for this run"
            if grant.is_taken
            else "asks"
        )
        shade = ink.of("added" if grant.is_taken else "faint" if grant.refused else "muted")
        pattern = safe_content(grant.pattern, ink.of("faint") if grant.refused else None, ink)
        return self._row(
            Column(content=styled(f"    {sign}", shade), gap=0),
            Column(content=pattern, width=min(_MAX_PATTERN_CELLS, _longest(one.pattern for one in grants))),
            Column(content=safe_content(words, shade, ink), grows=True, least=20, gap=_GAP),
            Column(
                content=safe_content(grant.whose, ink.of("muted"), ink),
                width=_longest(one.whose for one in grants), drop=2, gap=_GAP,
            ),
            Column(
                content=safe_content(grant.origin, ink.of("faint"), ink),
                width=_longest(one.origin for one in grants), align="right", cut="path", drop=1, gap=_GAP,
            ),
        )  # fmt: skip

    def finding(self, problem: LaunchProblem) -> Strip:
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if problem.stops else "risk"
        return self._row(
            Column(content=styled(f"    {glyphs.of(meaning)}", ink.sign(meaning)), gap=0),
            Column(content=safe_content(problem.place, ink.of("foreground"), ink), cut="path"),
            Column(content=safe_content(problem.message, ink.of("muted"), ink), grows=True, least=20),
        )


def _steps_text(choice: PipelineChoice) -> str:
    return f"{choice.steps} step{'' if choice.steps == 1 else 's'}"


_MOST_NAME, _LEAST_BAR, _STEP_TIME_CELLS = 28, 12, 9
_SPAN_STATUSES: Final[dict[SpanKind, StatusName]] = {
    "worked": "ok", "failed": "failed", "waited": "waiting", "works": "running",
}  # fmt: skip
_TICK_EVERY: Final = 16
"""Cells from one time of the scale to the next."""


def name_cells(times: RunTimes, width: int) -> int:
    """Return the cells of the column with the names."""
    longest = max((len(row.name) for row in times.rows), default=4)
    return max(4, min(longest, _MOST_NAME, width // 3))


def _bar_cells(times: RunTimes, width: int) -> int:
    return max(_LEAST_BAR, width - name_cells(times, width) - _STEP_TIME_CELLS - 8)


def times_head_strip(times: RunTimes, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the scale above the bars: the time since the first step began."""
    room = _bar_cells(times, width)
    whole = (times.last - times.first) / SECOND_MICROS
    scale = ""
    for cell in range(0, max(1, room - 6), _TICK_EVERY):
        scale = f"{scale:<{cell}}{glyphs.line('│')}{countdown_text(whole * cell / room)}"
    faint = ink.of("faint")
    columns = _columns(
        times, width, Content(" "), Content(""), styled("step", faint), styled(scale[:room], faint),
        styled("time", faint),
    )  # fmt: skip
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def times_strip(
    row: StepTimes, times: RunTimes, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Return the row of a step."""
    bar = cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=True).content
    tried = f"{glyphs.of('retries')}{row.attempt} " if row.attempt > 1 else ""
    time = duration_text(row.seconds) if row.seconds >= 0.05 else ""
    columns = _columns(
        times, width, bar, styled(glyphs.of(row.sign), ink.sign(row.sign)),
        safe_content(row.name, ink.of("foreground"), ink), span_bar(row, times, width, ink, glyphs),
        styled(f"{tried}{time}", ink.of("muted")),
    )  # fmt: skip
    style = ink.cursor(has_focus=has_focus) if is_cursor else None
    return cells.row_strip(columns, width, style, glyphs=glyphs)


def _columns(
    times: RunTimes, width: int, bar: Content, sign: Content, name: Content, line: Content, time: Content
) -> list[Column]:
    return [
        Column(content=bar, gap=0), Column(content=sign, width=1, gap=0),
        Column(content=name, width=name_cells(times, width), gap=1),
        Column(content=line, grows=True, least=_LEAST_BAR, gap=1),
        Column(content=time, width=_STEP_TIME_CELLS, align="right", gap=1),
        Column(content=Content(" "), gap=0),
    ]  # fmt: skip


def span_bar(row: StepTimes, times: RunTimes, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return the bar of a step; each of its spans has at least one cell."""
    room = _bar_cells(times, width)
    scale = room / (times.last - times.first)
    drawn: list[SpanKind | None] = [None] * room
    for span in row.spans:
        first = min(room - 1, int((span.first - times.first) * scale))
        last = min(room, max(first + 1, round((span.last - times.first) * scale)))
        for cell in range(first, last):
            drawn[cell] = span.kind
    bar = Content("")
    for kind, stretch in groupby(drawn):
        length = len(list(stretch))
        if kind is None:
            bar += Content(" " * length)
        else:
            glyph = glyphs.of("waited" if kind == "waited" else "ran")
            bar += styled(glyph * length, ink.sign(_SPAN_STATUSES[kind]))
    return bar


def earlier_text(earlier: Sequence[EarlierStep], ink: Ink, glyphs: Glyphs) -> Content:
    """Return how a step went in earlier runs, the newest first."""
    if not earlier:
        return styled("No earlier run of this pipeline had this step.", ink.of("faint"))
    usual = usual_seconds(earlier)
    head = f"usual {duration_text(usual)}   " if usual is not None else ""
    parts = [styled(head, ink.of("foreground"))]
    for step in earlier:
        parts.append(styled(f"{step.run} ", ink.of("faint")))
        parts.append(styled(f"{glyphs.of(step.sign)} ", ink.sign(step.sign)))
        parts.append(styled(f"{duration_text(step.seconds)}   ", ink.of("muted")))
    return Content("").join(parts)
