"""Cards of the statistics: values in eighths, and no line wider than its column."""

from random import Random

import pytest

from workbench.render.glyphs import ASCII_GLYPHS, UNICODE_GLYPHS
from workbench.render.statistics import StatisticsFrame
from workbench.render.statistics_cards import StatisticsCard, card_lines, sparkline
from workbench.render.theme import own_theme_ink


def test_a_sparkline_has_its_highest_value_full_and_each_day_with_something_above_the_baseline():
    random = Random(16)
    for _ in range(300):
        values = [random.choice((0, random.randint(1, 10_000))) for _ in range(random.randint(1, 400))]
        line = sparkline(values, random.randint(1, 60))
        assert ("█" in line) == any(values)
        assert (set(line) == {"▁"}) == (not any(values))
    assert sparkline([0, 1, 1_000], 3) == "▁▂█"
    assert sparkline([1, 1, 2, 2], 2) == "▅█"


@pytest.mark.parametrize("glyphs", [UNICODE_GLYPHS, ASCII_GLYPHS])
@pytest.mark.parametrize("width", [30, 62, 97])
def test_cards_keep_to_their_column(glyphs, width):
    frame = StatisticsFrame(width=width, ink=own_theme_ink("workbench-dark"), glyphs=glyphs)
    cards = [
        StatisticsCard(value="1,234", label="asked, by day", days=[1] * 365),
        StatisticsCard(value="2 h 26 min", label="waited for you", note="the calls ran 19 s " * 9),
        StatisticsCard(value="–", label="median to decide"),
    ]
    lines = card_lines("x", cards, frame)
    assert len({key for key, _ in lines}) == len(lines) == 6
    assert all(line.cell_length <= width for _, line in lines)
    assert all(line.plain.isascii() for _, line in lines) or not glyphs.is_ascii
