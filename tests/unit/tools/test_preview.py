"""Previews: whole up to the limit, otherwise both ends and the size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.tools.output_preview import PREVIEW_BYTES, preview_output, without_cut_character


@pytest.mark.spec(32)
def test_exactly_the_limit_is_not_cut_and_one_more_byte_is():
    whole = preview_output("a" * 10_240)
    assert (PREVIEW_BYTES, whole.truncated, whole.text, whole.total_bytes) == (
        10_240,
        False,
        "a" * 10_240,
        10_240,
    )
    cut = preview_output("a" * 10_241)
    assert cut.truncated
    assert "10241 bytes in all" in cut.text
    assert len(cut.text.encode()) <= 10_240


@pytest.mark.spec(32)
def test_bytes_that_grow_when_they_are_read_are_cut_to_the_limit_as_well():
    grown = preview_output(b"\xff" * 5_000)
    assert grown.truncated and "5000 bytes in all" in grown.text
    assert len(grown.text.encode()) <= 10_240
    part = preview_output("a" * 100, total_bytes=20_000)
    assert part.truncated and "20000 bytes in all" in part.text


@pytest.mark.spec(33)
@each_row("character", ["\u00c0", "\u00e9", "\u0800", "\u6f22", "\U00010000", "\U0001f600"])
def test_a_character_that_is_cut_is_left_out_and_a_whole_one_is_kept(character):
    data = character.encode()
    for length in range(1, len(data)):
        assert without_cut_character(b"ab" + data[:length]) == b"ab"
    assert without_cut_character(b"ab" + data) == b"ab" + data


@pytest.mark.spec(32)
def test_both_ends_are_kept():
    cut = preview_output(b"first line\n" + b"x" * 200_000 + b"\nlast line")
    assert cut.text.startswith("first line\n")
    assert cut.text.endswith("\nlast line")
    assert cut.total_bytes == 200_021


@pytest.mark.spec(33)
@each_row("character", ["\u00e9", "\u6f22", "\U0001f600"])
@each_row("shift", range(4))
def test_no_character_is_cut_in_half(character, shift):
    for data in ("a" * shift + character * 5000, ("a" * shift + character * 5000).encode()):
        cut = preview_output(data, 1000)
        head, _, tail = cut.text.partition("\n[")
        assert set(head) | set(tail.partition("]\n")[2]) <= {"a", character}
        assert len(cut.text.encode()) <= 1000


@given(st.binary(max_size=3000), st.integers(200, 1000))
def test_any_bytes_become_text_within_the_limit(data, limit):
    cut = preview_output(data, limit)
    assert cut.total_bytes == len(data)
    assert len(cut.text.encode()) <= limit
    assert cut.truncated or cut.text == data.decode("utf-8", "replace")


@given(st.text(max_size=400), st.integers(120, 300))
def test_text_that_fits_is_returned_as_it_is(text, limit):
    cut = preview_output(text, limit)
    if len(text.encode()) <= limit:
        assert cut.text == text
        assert not cut.truncated


def test_half_a_surrogate_pair_does_no_harm():
    assert preview_output("a\ud800b").text == "a?b"
