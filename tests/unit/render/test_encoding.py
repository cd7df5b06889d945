"""What a terminal without some characters is sent: as wide as before, and only what it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from workbench.render.encoding_filter import EncodingFilter
from workbench.text.width import cell_width

BLACK = Color(0, 0, 0)


@pytest.mark.parametrize(
    ("encoding", "text", "shown"),
    [
        ("ascii", "plain", "plain"),
        ("ascii", "─┼╮ ◆ … ■", "-++ * . #"),
        ("ascii", "Ärger 日本", "?rger ????"),
        ("iso-8859-1", "Ärger 日本 ◆", "Ärger ???? *"),
        ("nonsense", "é", "?"),
        ("ascii", "echo⏎touch", "echo^touch"),
    ],
)
def test_what_is_shown(encoding, text, shown):
    assert EncodingFilter(encoding).text(text) == shown


@given(st.text(max_size=40))
def test_nothing_is_displaced_and_everything_can_be_encoded(text):
    shown = EncodingFilter("ascii").text(text)
    assert shown.isascii()
    assert cell_width(shown) == sum(cell_width(character) for character in text)


def test_styles_stay():
    bold = Style(bold=True)
    found = EncodingFilter("ascii").apply([Segment("│", bold), Segment("x")], BLACK)
    assert found == [Segment("|", bold), Segment("x")]
