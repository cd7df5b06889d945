"""An empty place: its words in the middle of a hatch that fills what is left, in every size."""

from random import Random

from workbench.render.empty_place import empty_place_lines
from workbench.render.glyphs import ASCII_GLYPHS, UNICODE_GLYPHS
from workbench.render.theme import own_theme_ink

GHOST = ("✓ read_file   src/a.py   4 ms", "◆ edit        src/a.py   0:14")


def drawn(width, height, *, ghost=GHOST, glyphs=UNICODE_GLYPHS):
    keys = [("ctrl+n", "start a session")]
    sentence = "Each call of an agent is listed here: what it did and how long it ran."
    ink = own_theme_ink("workbench-dark")
    lines = empty_place_lines(ghost, "No call yet", sentence, keys, width, height, ink, glyphs)
    return [line.plain for line in lines]


def test_every_size_has_all_words_and_no_row_is_wider_than_the_place():
    random = Random(8)
    sizes = [(random.randint(40, 220), random.randint(1, 70)) for _ in range(150)]
    for width, height in [*sizes, (46, 10), (60, 18), (200, 60)]:
        rows = drawn(width, height)
        words = " ".join(" ".join(rows).replace("╱", " ").split())
        assert "No call yet" in words and "how long it ran." in words and "ctrl+n start a session" in words
        is_hatched = rows[0].startswith("╱")
        assert all(len(row) == width if is_hatched else len(row) <= width for row in rows)
        assert len(rows) == height or not is_hatched


def test_the_words_are_in_the_middle():
    rows = drawn(100, 40)
    at = next(n for n, row in enumerate(rows) if "No call yet" in row)
    assert abs((at + 1) - len(rows) / 2) <= 4
    clear = rows[at]
    left, right = len(clear) - len(clear.lstrip("╱")), len(clear) - len(clear.rstrip("╱"))
    assert abs(left - right) <= 1


def test_without_a_ghost_there_is_no_hatch_and_ascii_has_signs_of_its_own():
    assert not any("╱" in row for row in drawn(100, 40, ghost=()))
    assert all(row.isascii() for row in drawn(100, 40, glyphs=ASCII_GLYPHS))
