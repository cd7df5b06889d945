"""The title of a run of a pipeline, its progress and its earlier runs, as lines."""

import itertools
from typing import Final

from textual.content import Content
from textual.strip import Strip

from workbench.domain.machines import LOST
from workbench.render.cells import Column, row_strip, safe_content, styled
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import (
    END_COLUMN,
    cursor_column,
    icon_column,
    list_row_style,
)
from workbench.render.theme import Ink
from workbench.text.human import countdown_text, token_text
from workbench.text.safe import one_line
from workbench.views.pipeline import PipelineRun
from workbench.views.status_icons import RUN_STATUSES, STEP_STATUSES, GlyphName, StatusName
from workbench.views.usage import money_text

_LONGEST_RUN_BAR = 30
_LEAST_RUN_BAR = 6
_LONGEST_LINK = 60
_ROW_BAR = 12
_ROW_WORD = 9
_TITLE_GAP = Content("  ")
_AROUND_TITLE = 16
"""Cells of a title that the pane's name and the rule take."""


PIPELINE_GHOST: Final = (
    "╭──────╮   ╭───────╮   ╭───────╮   ╭─────╮",
    "│ plan ├─┬─┤ build ├─┬─┤ check ├───┤ ask │",
    "╰──────╯ │ ╰───────╯ │ ╰───────╯   ╰─────╯",
    "         │ ╭───────╮ │                    ",
    "         └─┤ notes ├─┘                    ",
    "           ╰───────╯                      ",
)
"""A pipeline that does not exist, where there is none to draw."""


def run_title_facts(
    run: PipelineRun, to_go: float | None, width: int, ink: Ink, glyphs: Glyphs, *, whose: str = ""
) -> Content:
    """Return what the title of a run says in a pane of a width; what matters least is left out first.

    `whose` says that it is not the run of the session on show.
    """
    title = f"{run.title}, {whose}" if whose else run.title
    named = Content.styled(title, ink.of("muted" if whose else "foreground"))
    heads = [[named, *_counts(run, ink, glyphs, has_words=has_words)] for has_words in (True, False)]
    done = Content.styled(f"{run.done} of {run.total} done", ink.of("muted" if whose else "foreground"))
    room = width - _AROUND_TITLE
    for words, head in itertools.product(_title_tails(run, to_go), heads):
        is_said = head is heads[0] and run.failed
        tail = [
            Content.styled(word, ink.of("failed" if word.startswith("failed") else "muted"))
            for word in words
            if not (is_said and word == "failed")
        ]
        bar = min(_LONGEST_RUN_BAR, room - _TITLE_GAP.join([*head, done, *tail]).cell_length - 1)
        if bar >= _LEAST_RUN_BAR:
            return _TITLE_GAP.join([*head, progress_bar(run, bar, ink, glyphs) + Content(" ") + done, *tail])
    return _TITLE_GAP.join([*heads[1], done])


def run_strip(
    run: PipelineRun, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Return a run as a row: its state, name, progress, what waits or has failed in it, and its time."""
    sign, word = RUN_STATUSES[run.status]
    sign = "waiting" if run.waiting else sign
    columns = [
        cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        icon_column(sign, ink, glyphs),
        Column(content=safe_content(run.title, ink.of("foreground", bold=is_cursor)), grows=True, least=8),
        Column(content=_TITLE_GAP.join(_counts(run, ink, glyphs)), align="right", drop=3),
        Column(content=progress_bar(run, _ROW_BAR, ink, glyphs), width=_ROW_BAR, drop=2),
        Column(content=styled(f"{run.done} of {run.total} done", ink.of("muted")), align="right", drop=4),
        Column(content=styled(word, ink.sign(sign)), width=_ROW_WORD, drop=1),
        Column(content=styled(countdown_text(run.seconds), ink.of("muted")), width=6, align="right"),
    ]
    style = list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return row_strip([*columns, END_COLUMN], width, style, glyphs=glyphs)


def _counts(run: PipelineRun, ink: Ink, glyphs: Glyphs, *, has_words: bool = False) -> list[Content]:
    """Return how many steps need a look or were left out: `× 1 failed`, or the sign and number alone."""
    left_out = (("skipped", run.skipped), ("cancelled", run.cancelled))
    if not has_words:  # both have one sign
        left_out = (("", run.skipped + run.cancelled),)
    counts: tuple[tuple[StatusName, int, str], ...] = (
        ("waiting", run.waiting, "waiting"), ("failed", run.failed, "failed"),
        ("risk", run.refused, "with calls refused"),
        *(("cancelled", count, word) for word, count in left_out),
    )  # fmt: skip
    return [
        styled(f"{glyphs.of(sign)} {count}{f' {word}' if has_words else ''}", ink.sign(sign))
        for sign, count, word in counts
        if count
    ]


def _title_tails(run: PipelineRun, to_go: float | None) -> list[list[str]]:
    """Return what may stand behind the bar, the most first."""
    ended = run.status if run.status in ("queued", "failed", "cancelled", "completed") else ""
    ended = "lost: its process is gone, R continues" if run.status == LOST else ended
    goes_on = STEP_STATUSES["warned"][1] if run.warned else ""
    spent = countdown_text(run.seconds)
    time = f"{spent}, about {countdown_text(to_go)} to go" if to_go else spent
    tokens = f"{token_text(run.tokens)} tok" if run.tokens else ""
    link = _links_text(run)
    plain = (run.place, goes_on, ended, time, tokens)
    most = (*plain, money_text(run.cost) if run.cost else "")
    choices = ((*most, link), most, plain, (run.place, ended, time, tokens))
    choices += ((run.place, ended, time), (ended, time), (ended, spent), (ended.partition(":")[0], spent))
    choices += ((ended.partition(":")[0],), ())
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
    """Return a bar of a run's steps: heavy for done and failed ones, light for all others."""
    parts: tuple[tuple[StatusName, int, GlyphName], ...] = (
        ("ok", run.done, "ran"), ("failed", run.failed, "ran"),
        ("running", run.running, "waited"), ("waiting", run.waiting, "waited"),
    )  # fmt: skip
    total, counted, drawn = max(1, run.total), 0, 0
    bar = Content("")
    for sign, count, glyph in parts:
        counted += count
        cells = min(max(int(count > 0), round(room * counted / total) - drawn), room - drawn)
        drawn += cells
        bar += Content.styled(glyphs.of(glyph) * cells, ink.sign(sign))
    return bar + Content.styled(glyphs.of("waited") * (room - drawn), ink.of("rule"))
