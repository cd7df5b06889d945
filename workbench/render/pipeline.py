"""Pipelines: the title of a run, rows of two runs compared, rows of the launch form."""

from collections.abc import Iterable

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled
from workbench.render.list_rows import cursor_column
from workbench.render.theme import Glyphs, Ink
from workbench.text.human import countdown_text, duration_text, token_text
from workbench.views.detail_pages import ComparedStep, ComparisonRow, RunComparison
from workbench.views.pipeline import (
    GrantOffer,
    LaunchProblem,
    PipelineChoice,
    PipelineRun,
    PlannedStep,
)
from workbench.views.status_icons import STEP_STATUSES, StatusName

_TIME_CELLS, _MIN_OUTCOME_CELLS, _MAX_OUTCOME_CELLS = 9, 11, 27
_OTHER_CELLS = 80
_LONGEST_RUN_BAR = 30
_LEAST_RUN_BAR = 6
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
        bar = min(_LONGEST_RUN_BAR, room - _title_words([*head, done, *tail]).cell_length - 1)
        if bar >= _LEAST_RUN_BAR:
            return _title_words([*head, progress_bar(run, bar, ink, glyphs) + Content(" ") + done, *tail])
    return _title_words([*head, done])


def _title_tails(run: PipelineRun, to_go: float | None) -> list[list[str]]:
    """Return what may stand behind the bar, the most first."""
    ended = run.status if run.status in ("queued", "failed", "cancelled", "completed") else ""
    goes_on = STEP_STATUSES["warned"][1] if run.warned else ""
    spent = countdown_text(run.seconds)
    time = f"{spent}, about {countdown_text(to_go)} to go" if to_go else spent
    tokens = f"{token_text(run.tokens)} tok" if run.tokens else ""
    choices = ((goes_on, ended, time, tokens), (ended, time, tokens), (ended, time), (ended, spent), ())
    return [[word for word in words if word] for words in choices]


def _title_words(parts: Iterable[Content]) -> Content:
    return Content("  ").join(parts)


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
    columns = _comparison_columns(
        width, Content(" "), styled("step", faint), _run_heads("before", comparison.earlier.title, bold, ink),
        _run_heads("now", comparison.later.title, bold, ink), styled("change", faint), Content(""),
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
    name = safe_content(row.name, ink.of("foreground", bold=row.kind in ("outcome", "added", "gone")), ink)
    word = _outcome_cells(width)
    columns = _comparison_columns(
        width, bar, name, _step_contents(row.earlier, word, ink, glyphs),
        _step_contents(row.later, word, ink, glyphs),
        _time_change(row, ink),
        _token_change(row.tokens, ink) if row.earlier and row.later else Content(""),
    )  # fmt: skip
    return cells.row_strip(
        columns, width, ink.cursor(has_focus=has_focus) if is_cursor else None, glyphs=glyphs
    )


def comparison_total_strip(comparison: RunComparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    bold = ink.of("foreground", bold=True)
    sides = [
        (
            styled(run.status, bold),
            styled(duration_text(run.seconds), bold),
            styled(token_text(run.tokens), bold),
        )
        for run in (comparison.earlier, comparison.later)
    ]
    change = styled(_signed_duration(comparison.later.seconds - comparison.earlier.seconds), bold)
    columns = _comparison_columns(
        width, Content(" "), styled("all of it", bold), sides[0], sides[1], change,
        _token_change(comparison.later.tokens - comparison.earlier.tokens, ink),
    )  # fmt: skip
    return cells.row_strip(columns, width, ink.on("panel"), glyphs=glyphs)


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


_MIN_FACTS_CELLS, _MAX_FACTS_CELLS, _CELLS_BEFORE_FACTS = 28, 44, 82
"""Cells of contract, tries and time: as many as they need where what is asked has its room before them."""


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

    def choice(self, choice: PipelineChoice, *, is_chosen: bool) -> Strip:
        ink, glyphs = self._ink, self._glyphs
        sign = glyphs.of("failed") if choice.is_broken else glyphs.of("running" if is_chosen else "todo")
        meaning = "failed" if choice.is_broken else "running" if is_chosen else "todo"
        says = "cannot be used as it is" if choice.is_broken else choice.description
        steps = f"{choice.steps} step{'' if choice.steps == 1 else 's'}"
        return self._row(
            Column(content=styled(sign, ink.sign(meaning)), gap=0),
            Column(content=safe_content(choice.name, ink.of("foreground", bold=is_chosen), ink), width=24),
            Column(content=styled(steps, ink.of("muted")), width=9, align="right"),
            Column(content=safe_content(says, ink.of("muted"), ink), grows=True, gap=2),
        )

    def caption(self, title: str, right: str) -> Strip:
        ink = self._ink
        return self._row(
            Column(content=styled(title, ink.of("foreground", bold=True)), gap=0),
            Column(content=styled(right, ink.of("muted")), grows=True, gap=2),
        )

    def step(self, step: PlannedStep) -> Strip:
        """Draw a step: wave, id, who does it, what a human is asked, what it does."""
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if step.cannot else "waiting" if step.is_asking else "todo"
        words = f"cannot run here: {step.cannot}" if step.cannot else step.asks
        says = ink.of("failed" if step.cannot else "waiting" if step.kind == "gate" else "muted")
        facts = safe_content(step.facts, ink.of("faint"), ink)
        room = max(
            _MIN_FACTS_CELLS, min(_MAX_FACTS_CELLS, self._width - _CELLS_BEFORE_FACTS, facts.cell_length)
        )
        return self._row(
            Column(content=styled(f"{step.wave:>3}", ink.of("faint")), gap=0),
            Column(content=styled(glyphs.of(meaning), ink.sign(meaning))),
            Column(content=safe_content(step.id, None, ink), width=20),
            Column(content=safe_content(step.who, ink.of("muted"), ink), width=11),
            Column(content=safe_content(words, says, ink), grows=True, least=24),
            Column(
                content=safe_content(step.does, ink.of("faint", italic=True), ink), width=32, drop=2, gap=2
            ),
            Column(content=facts, width=room, align="right", drop=1),
        )

    def grant(self, grant: GrantOffer) -> Strip:
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
        return self._row(
            Column(content=styled(f"    {sign}", shade), gap=0),
            Column(
                content=safe_content(grant.pattern, ink.of("faint") if grant.refused else None, ink), width=30
            ),
            Column(content=safe_content(words, shade, ink), grows=True, least=20),
            Column(content=safe_content(grant.whose, ink.of("muted"), ink), width=24, drop=2),
            Column(
                content=safe_content(grant.origin, ink.of("faint"), ink),
                width=20,
                align="right",
                cut="path",
                drop=1,
            ),
        )

    def finding(self, problem: LaunchProblem) -> Strip:
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if problem.stops else "risk"
        return self._row(
            Column(content=styled(f"    {glyphs.of(meaning)}", ink.sign(meaning)), gap=0),
            Column(content=safe_content(problem.place, ink.of("foreground"), ink), cut="path"),
            Column(content=safe_content(problem.message, ink.of("muted"), ink), grows=True, least=20),
        )
