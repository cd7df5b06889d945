"""What a terminal without some characters is sent: as wide as before, and only what it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from workbench.draw.encoding import Encodable
from workbench.text.width import cells

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
    assert Encodable(encoding).text(text) == shown


@given(st.text(max_size=40))
def test_nothing_is_displaced_and_everything_can_be_encoded(text):
    shown = Encodable("ascii").text(text)
    assert shown.isascii()
    assert cells(shown) == sum(cells(character) for character in text)


def test_styles_stay():
    bold = Style(bold=True)
    found = Encodable("ascii").apply([Segment("│", bold), Segment("x")], BLACK)
    assert found == [Segment("|", bold), Segment("x")]
