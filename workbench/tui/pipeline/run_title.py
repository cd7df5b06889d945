"""The title of a run: what waits and failed, a bar of its steps, its time, and the time to go."""

from collections.abc import Iterable
from typing import Final

from textual.content import Content

from workbench.render.theme import Glyphs, Ink
from workbench.text.human import countdown_text, token_text
from workbench.views.pipeline import PipelineRun
from workbench.views.status_icons import STEP_STATUSES, StatusName

_LONGEST_BAR: Final = 30
_LEAST_BAR: Final = 6
_AROUND: Final = 16
"""Cells of a title that the pane's name and the rule take."""


def run_title_facts(run: PipelineRun, to_go: float | None, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return what the title of a run says in a pane of a width; what matters least is left out first."""
    counts: tuple[tuple[StatusName, int], ...] = (("waiting", run.waiting), ("failed", run.failed))
    head = [Content.styled(run.title, ink.of("foreground"))]
    head += [Content.styled(f"{glyphs.of(sign)} {count}", ink.sign(sign)) for sign, count in counts if count]
    done = Content.styled(f"{run.done} of {run.total}", ink.of("foreground"))
    room = width - _AROUND
    for words in _tails(run, to_go):
        tail = [
            Content.styled(word, ink.of("failed" if word.startswith(_FAILED) else "muted")) for word in words
        ]
        bar = min(_LONGEST_BAR, room - _joined([*head, done, *tail]).cell_length - 1)
        if bar >= _LEAST_BAR:
            return _joined([*head, progress_bar(run, bar, ink, glyphs) + Content(" ") + done, *tail])
    return _joined([*head, done])


_FAILED: Final = "failed"


def _tails(run: PipelineRun, to_go: float | None) -> list[list[str]]:
    """Return what may stand behind the bar, the most first."""
    ended = run.status if run.status in ("queued", "failed", "cancelled", "completed") else ""
    goes_on = STEP_STATUSES["warned"][1] if run.warned else ""
    spent = countdown_text(run.seconds)
    time = f"{spent}, about {countdown_text(to_go)} to go" if to_go else spent
    tokens = f"{token_text(run.tokens)} tok" if run.tokens else ""
    choices = ((goes_on, ended, time, tokens), (ended, time, tokens), (ended, time), (ended, spent), ())
    return [[word for word in words if word] for words in choices]


def _joined(parts: Iterable[Content]) -> Content:
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
