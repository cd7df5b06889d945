"""The bytes before an edit, computed back from those after it, against every content that there is."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from workbench.supervised.earlier_bytes import bytes_before_edit

SHORT = st.text("ab", max_size=3).map(str.encode)


def edited(before, old, new, *, is_everywhere):
    """Return what an agent's edit makes of some bytes; None where it fails."""
    count = before.count(old) if old else 0
    return None if count == 0 or (count > 1 and not is_everywhere) else before.replace(old, new)


def sources(after, old, new, *, is_everywhere):
    """Return all contents of two letters from which an edit leads to some bytes."""
    longest = len(after) * 3 + 3
    return [
        before
        for size in range(min(longest, 9) + 1)
        for letters in product(b"ab", repeat=size)
        if edited(before := bytes(letters), old, new, is_everywhere=is_everywhere) == after
    ]


@st.composite
def edits(draw):
    """Draw some bytes with a part of them that is replaced; each letter of either."""
    before = draw(st.text("ab", min_size=1, max_size=6)).encode()
    start = draw(st.integers(0, len(before) - 1))
    old = before[start : draw(st.integers(start + 1, len(before)))]
    return before, old, draw(SHORT)


@given(edit=edits(), is_everywhere=st.booleans())
def test_the_bytes_before_are_those_that_were_there_or_unknown(edit, is_everywhere):
    before, old, new = edit
    after = edited(before, old, new, is_everywhere=is_everywhere)
    if after is not None:
        found = bytes_before_edit(after, old, new, is_everywhere=is_everywhere)
        assert found in (None, before)
        if found is not None:
            assert sources(after, old, new, is_everywhere=is_everywhere) == [before]


def test_one_edit_of_a_text_is_computed_back():
    assert bytes_before_edit(b"x = 2\ny = 1\n", b"x = 1", b"x = 2", is_everywhere=False) == b"x = 1\ny = 1\n"
    assert bytes_before_edit(b"aa", b"b", b"a", is_everywhere=False) is None
    assert bytes_before_edit(b"aa" * 400, b"b", b"a", is_everywhere=False) is None
