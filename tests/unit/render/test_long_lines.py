"""Of a very long line its changed parts are shown; what is left out between them is equal on both sides."""

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.unit.render.inks import ASCII, DARK, HOSTILE, UNICODE, ansi_ink, changed, is_safe, styles_at
from workbench.cli.approval_display import diff_lines
from workbench.render.diff import Diff, DiffDisplay
from workbench.text.long_lines import PART_CONTEXT, changed_ranges
from workbench.views.hunk_selection import HunkSelection
from workbench.views.long_lines import short_lines

WORDS = ("this.", "a=", "function(){", "return", "0,", "}", "const", "x", "é", "漢", ";")
END = st.sampled_from(["", "\n"])
EDIT = st.tuples(
    st.floats(0, 1), st.sampled_from((0, 1, 5, 70, 900)), st.sampled_from(("", "Q", "0,0,0,", "Z" * 300))
)


@st.composite
def versions(draw):
    """Return a line of some thousand characters before and after edits anywhere in it."""
    random = Random(draw(st.integers(0, 1_000)))
    is_periodic = draw(st.booleans())
    words = draw(st.integers(700, 2_000))
    old = "0," * (2 * words) if is_periodic else "".join(random.choice(WORDS) for _ in range(words))
    new = old
    for place, removed, text in draw(st.lists(EDIT, min_size=1, max_size=5)):
        at = round(place * len(new))
        new = new[:at] + text + new[at + removed :]
    return old, new


def rebuilt(shown, other, this):
    """Return a line from what is shown of it, and for what is not, from its other version."""
    (own_text, other_text), text, at = shown, "", 0
    for (start, end), (other_start, other_end) in zip(this.shown, other.shown, strict=True):
        text += other_text[at:other_start] + own_text[start:end]
        at = other_end
    return text + other_text[at:]


@settings(max_examples=60)
@given(versions())
@example(("0," * 3_000, "0," * 2_999))
def test_what_is_left_out_is_equal_on_both_sides_and_what_differs_is_shown(pair):
    old, new = pair
    text, at = "", 0
    for old_from, old_to, new_from, new_to in changed_ranges(old, new):
        text, at = text + old[at:old_from] + new[new_from:new_to], old_to
    assert text + old[at:] == new, "what is called equal is equal"
    found = short_lines((("-", old), ("+", new)))
    if old == new or not found:
        return
    assert rebuilt((new, old), found[0], found[1]) == new, "every character that is new is shown"
    assert rebuilt((old, new), found[1], found[0]) == old, "every character that goes is shown"
    for line, text in zip((found[0], found[1]), (old, new), strict=True):
        shown = sum(end - start for start, end in line.shown)
        assert shown + sum(line.left_out) == len(text)
        for (start, end), changes in zip(line.shown, line.changes, strict=True):
            assert all(start <= low <= high <= end for low, high in changes)
            assert changes[0][0] - start >= min(PART_CONTEXT, start)
            assert end - changes[-1][1] >= min(PART_CONTEXT, len(text) - end)


def drawn(diff, glyphs=UNICODE):
    look = DiffDisplay(taken=HunkSelection.of(diff.files[0].hunks))
    return [diff.strip(y, DARK, glyphs, look).text for y in range(len(diff))]


def count_of(row):
    return int(row.split("…")[1].split()[0].replace(",", ""))


def read(rows, cells, wanted, other):
    """Return the line of a sign as a person reads it from rows; what is not shown comes from the other one."""
    text, at, sign = "", 0, ""
    for row in rows:
        head, said = row[:cells], row[cells + 1 :].strip()
        sign = row[cells] if row[cells] in "+-…" else sign
        if row[cells] == "…":
            count = count_of(row)
            text, at = text + other[at : at + count], at + count
        elif sign == wanted:
            text += said
        elif sign in "+-":
            at += len(said)
        assert not head.strip(" ▌■□") or head.strip(" ▌■□").isdigit()
    return text


@settings(max_examples=15)
@given(versions(), st.sampled_from(["unified", "split"]), END)
def test_both_versions_can_be_read_from_the_rows(pair, layout, end):
    old, new = (text.replace("漢", "k") for text in pair)
    file = changed(old + end, new + end)
    if old == new or not short_lines(file.hunks[0].lines):
        return
    diff = Diff([file], 110, layout=layout)
    rows = [row for row in drawn(diff)[1:] if "no newline" not in row]
    cells = 11 if layout == "unified" else 6
    if layout == "unified":
        assert read(rows, cells, "+", old) == new
        assert read(rows, cells, "-", new) == old
    else:
        for sign, text, side in (("-", old, 0), ("+", new, 1)):
            half = [row.split("│")[side] for row in rows]
            counts = sum(count_of(row) for row in half if row[cells] == "…")
            assert len(read(half, cells, sign, "")) + counts == len(text)
    assert diff.rows_to_see(1) >= set(range(1, len(rows) + 1)), "all of it has to be seen"


def test_changed_characters_of_a_part_stand_out():
    for ink in (DARK, ansi_ink()):
        diff = Diff([changed(f"{LONG}\n", f"{EDITED}\n")], 110)
        look = DiffDisplay(taken=HunkSelection.of(diff.files[0].hunks))
        strips = [diff.strip(y, ink, UNICODE, look) for y in range(len(diff))]
        (strip,) = [strip for strip in strips if "item50=VALUE" in strip.text]
        assert styles_at(strip, "VALUE") != styles_at(strip, "item50")
        assert styles_at(strip, "item50") == styles_at(strip, ";item51")


LONG = "".join(f"item{number}=value;" for number in range(400))
EDITED = LONG.replace("item50=value", "item50=VALUE").replace("item300=value;", "")


def test_h_and_l_have_a_stop_at_each_changed_part():
    diff = Diff([changed(f"one\n{LONG}\nend\n", f"ONE\n{EDITED}\nend\n")], 80)
    rows = drawn(diff)
    stops = [[rows[y] for y in stop] for stop in diff.stops(1)]
    assert [sum("VALUE" in row for row in stop) for stop in stops] == [0, 1, 0]
    assert "one" in stops[0][0] and "ONE" in stops[0][1]
    assert sum("item300" in row for row in stops[2]) == 1
    assert [row.strip() for row in rows if "…" in row] == [
        "… 567 unchanged characters not shown", "… 3,271 unchanged characters not shown",
        "… 1,313 unchanged characters not shown",
    ]  # fmt: skip
    assert Diff([changed("a\nb\n", "a\nc\n")], 80).stops(1) == [range(4)]


@pytest.mark.parametrize("layout", ["unified", "split"])
def test_a_line_of_which_one_version_is_taken_alone_is_shown_whole(layout):
    file = changed(f"{LONG}\n", f"{EDITED}\n")
    taken = HunkSelection.of(file.hunks)
    for state, is_whole in (
        (taken.toggle_line(1, 1), True),
        (taken.toggle_line(1, 2), True),
        (taken.toggle_hunk(1), False),
    ):
        diff = Diff([file], 110, layout=layout, taken=state)
        assert any("…" in row for row in drawn(diff)) is not is_whole
        assert (diff.whole_lines == {(1, 1), (1, 2)}) is is_whole and diff.has_long_pairs


def test_lines_without_a_counterpart_are_shown_whole_and_equal_ones_by_their_beginning():
    for before, after in (
        ("a\n", f"a\n{LONG}\n"),
        (f"a\n{LONG}\n", "a\n"),
        (f"{LONG}\n", "x" * 5_000 + "\n"),
    ):
        rows = drawn(Diff([changed(before, after)], 80))
        assert not any("…" in row for row in rows)
        assert sum(len(row[8:].strip()) for row in rows[1:]) >= len(LONG)
    rows = drawn(Diff([changed(f"{LONG}\na\n", f"{LONG}\nb\n")], 80))
    assert rows[1].strip().startswith("1   item0=value;item1=value;")
    assert "… 5,410 unchanged characters not shown" in rows[3]


def test_no_text_of_a_line_looks_like_a_count_of_what_is_not_shown():
    said = "… 1,000 unchanged characters not shown"
    for glyphs in (UNICODE, ASCII):
        rows = drawn(Diff([changed(f"{said}\n{LONG}\n", f"{said}\n{said}{EDITED}\n")], 80), glyphs)
        own = [row for row in rows if row.startswith(("      …", "      ..", "      ~"))]
        assert len(own) == 3
        assert all(row[:8].strip(" 12+-") == "" for row in rows[1:] if row not in own)


@each_row("text", HOSTILE)
@pytest.mark.parametrize(("width", "layout"), [(46, "unified"), (110, "split")])
def test_hostile_text_in_long_lines_is_safe_and_keeps_its_width(text, width, layout):
    text = text.replace("\n", "").replace("\r", "").encode("utf-8", "replace").decode()
    old = text * 10 + LONG
    new = text + "x" + old[:2_000] + "\u0301" + text + old[2_000:]
    diff = Diff([changed(old + "\n", new + "\n")], width, layout=layout)
    look = DiffDisplay(taken=HunkSelection.of(diff.files[0].hunks), hunk=1, stop=1)
    for y in range(len(diff)):
        strip = diff.strip(y, DARK, UNICODE, look)
        assert strip.cell_length == width
        assert is_safe(strip.text)


def test_a_mark_that_joins_the_character_before_it_begins_no_part():
    old = "e\u0301" * 3_000
    found = short_lines((("-", old), ("+", old[:3_001] + "Q" + old[3_001:])))
    for index, text in ((0, old), (1, old[:3_001] + "Q" + old[3_001:])):
        ((start, end),) = found[index].shown
        assert text[start] == "e" and text[end] == "e"


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_command_line_prints_the_same_parts(end):
    file = changed(LONG + end, EDITED + end)
    lines = diff_lines(file.hunks)
    assert [line.strip() for line in lines if "…" in line] == [
        "… 567 unchanged characters not shown", "… 3,271 unchanged characters not shown",
        "… 1,313 unchanged characters not shown",
    ]  # fmt: skip
    assert [line[:8] for line in lines[2:]][:6] == [
        "       …", "    1  -", "    2  +", "       …", "    1  -", "    2  +",
    ]  # fmt: skip
    assert max(map(len, lines)) < 300
    whole = diff_lines(file.hunks, has_whole_lines=True)
    assert f"    1  -{LONG}" in whole and f"    2  +{EDITED}" in whole
