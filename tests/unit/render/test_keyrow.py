"""The row of keys at the foot of a dialog: whole keys, and the way back in any width."""

from tests.support.tables import each_row
from workbench.render.cells import key_hint, key_hint_row
from workbench.render.theme import DARK_COLORS, Ink

PARTS = [("enter", "start"), ("tab", "field"), ("j k", "row"), ("T", "all"), ("esc", "back, nothing is run")]


@each_row("width", range(23, 80))
def test_whole_keys_go_and_the_way_back_stays(width):
    ink = Ink(tokens=DARK_COLORS)
    line = key_hint_row([key_hint(*part, ink) for part in PARTS], width).plain
    assert len(line) <= max(width, len(" esc back, nothing is run"))
    assert line.endswith("esc back, nothing is run")
    shown = line.split("  ")
    assert [one.strip() for one in shown[:-1]] == [f"{k} {w}" for k, w in PARTS[: len(shown) - 1]]
    if width >= len(" enter start  tab field  j k row  T all  esc back, nothing is run"):
        assert len(shown) == len(PARTS)
