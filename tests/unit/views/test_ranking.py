"""A session that changed stands where sorting everything anew would put it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.rows import Session
from workbench.domain.values import Usage
from workbench.views.library import LIBRARY_ORDERS, SEPARATOR_ID, SessionOrder, resort_changed, sort_sessions

KEYS = [f"s{number}" for number in range(8)]
TITLES = ("Apple", "apple", "Birch", "")
STATUSES = ("ready", "processing", "paused", "failed", "initializing")


def made(key, number=0, title="", status="ready"):
    return Session(
        id=key, kind="chat", status=status, created_at=number % 3, updated_at=number, title=title,
        usage=Usage(input_tokens=number % 2),
    )  # fmt: skip


def sessions(keys=KEYS):
    one = st.tuples(
        st.sampled_from(keys), st.integers(0, 4), st.sampled_from(TITLES), st.sampled_from(STATUSES)
    )
    return st.lists(one.map(lambda parts: made(*parts)), max_size=8, unique_by=lambda one: one.id)


@given(
    sessions(),
    sessions(),
    st.sets(st.sampled_from(KEYS)),
    st.sets(st.sampled_from(KEYS)),
    st.sampled_from(LIBRARY_ORDERS),
)
def test_moving_what_changed_gives_what_sorting_all_would(before, after, waited, waits, order):
    was, now = ({one.id: one for one in some} for some in (before, after))
    changed = {key for key in KEYS if was.get(key) != now.get(key)} | (waited ^ waits)
    found = resort_changed(sort_sessions(before, waited, order), changed, now, waits, order)
    assert found == sort_sessions(after, waits, order)


@given(st.permutations([made(key, number // 2, TITLES[number % 4]) for number, key in enumerate(KEYS)]))
def test_the_order_in_which_they_are_read_does_not_matter(found):
    assert all(
        sort_sessions(found, (), order) == sort_sessions(reversed(found), (), order)
        for order in LIBRARY_ORDERS
    )


def test_the_newest_come_first_and_what_is_live_above_a_line():
    found = [made("a", 1), made("b", 3), made("c", 2, status="processing"), made("d", 0)]
    assert sort_sessions(found, {"d"}, LIBRARY_ORDERS[0]).ids == ("c", "d", SEPARATOR_ID, "b", "a")


@pytest.mark.parametrize(
    ("ranking", "ids"),
    [
        (SessionOrder(), ()),
        (SessionOrder(live=("a",)), ("a",)),
        (SessionOrder(rest=("a", "b")), ("a", "b")),
        (SessionOrder(live=("a",), rest=("b",)), ("a", SEPARATOR_ID, "b")),
    ],
)
def test_a_line_stands_between_both_parts_only(ranking, ids):
    assert ranking.ids == ids
