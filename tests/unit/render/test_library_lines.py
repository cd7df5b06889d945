"""Lines of the library's preview and of statistics: their scales, and what narrow ones say."""

import pytest

from tests.unit.render.inks import DARK
from workbench.render.glyphs import UNICODE_GLYPHS as UNICODE
from workbench.render.library import preview_lines
from workbench.render.statistics import StatisticsFrame, decision_time_lines, outcome_lines, token_lines
from workbench.views.statistics import SessionPreview, session_statistics

NONE = session_statistics((), (), (), ())


def frame(width):
    return StatisticsFrame(width=width, ink=DARK, glyphs=UNICODE)


def preview(asked, *outcomes):
    return SessionPreview(
        id="s", title="t", sign="ok", word="ready", facts=(), asked=asked, unasked=0, waiting=0,
        outcomes=outcomes, calls=0, failed_calls=0, changed=0, files=(),
    )  # fmt: skip


def bars(lines):
    return [line.plain.count("━") for line in lines if "━" in line.plain]


def test_bars_of_the_preview_are_shares_of_what_was_asked():
    room = 61 - 20 - 1
    assert bars(preview_lines(preview(4, ("rejected", 1)), 61, DARK, UNICODE)) == [room // 4]
    lines = preview_lines(preview(4, ("approved", 3), ("rejected", 1)), 61, DARK, UNICODE)
    assert bars(lines) == [room * 3 // 4, room // 4]


def test_tokens_by_day_have_a_scale_from_the_most_to_nothing():
    lines = [line.plain for _, line in token_lines([0, 100, 412_000], ("1 Nov", "3 Nov"), NONE, frame(60))]
    assert lines[1].strip().startswith("412k")
    assert lines[5].strip().startswith("0 ")
    assert lines[6].index("1 Nov") == lines[1].index("412k") + len("412k ")
    assert all(len(line) <= 60 for line in lines)


@pytest.mark.parametrize("width", [30, 46, 60, 80])
def test_labels_under_the_times_are_never_cut(width):
    fast = NONE.deciding
    deciding = type(fast)(**{**{name: getattr(fast, name) for name in fast.__struct_fields__}, "answers": 1})
    labels = decision_time_lines(deciding, frame(width))[-1][1].plain
    assert len(labels) <= max(width, 43)
    words = labels.split()
    assert words[-1] in ("more", ">")
    assert ("15 min" in labels) == (width == 80)
    assert width == 80 or words == ["1s", "2s", "5s", "10s", "20s", "1m", "2m", "5m", "15m", ">"]


def test_bars_of_who_decided_are_shares_of_all_decisions():
    counts = type(NONE)(
        **{**{name: getattr(NONE, name) for name in NONE.__struct_fields__},
           "outcomes": (("approved", 1), ("expired", 3))}
    )  # fmt: skip
    lines = [line for _, line in outcome_lines(counts, frame(80))]
    approved, expired = bars(lines)
    assert expired == pytest.approx(approved * 3, abs=2)
    assert expired < 80 - 30
