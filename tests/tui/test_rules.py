"""Small pure rules of the screen: where panes are, when the bell rings, what stays under the cursor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from workbench.config.types import NotifySettings
from workbench.domain.rows import Action
from workbench.tui.approvals.approvals_pane import queue_successors, with_new_rows_below_cursor
from workbench.tui.main.layout import layout_for_size
from workbench.tui.main.notifications import Notifications
from workbench.views.approvals import QueueRow, QueueSummary


@pytest.mark.parametrize(
    ("size", "place", "width", "shown", "left"),
    [
        ((160, 48), 2, "wide", {0, 1, 2, 3, 4}, 58),
        ((140, 48), 2, "wide", {0, 1, 2, 3, 4}, 48),
        ((120, 36), 2, "medium", {1, 2, 3, 4}, 48),
        ((120, 36), 0, "medium", {0}, 0),
        ((120, 24), 3, "medium", {3}, 0),
        ((120, 24), 2, "medium", {1, 2, 3, 4}, 48),
        ((80, 24), 2, "narrow", {2}, 0),
        ((59, 24), 2, "tiny", {2}, 0),
        ((80, 17), 1, "narrow", {1}, 0),
        ((160, 12), 2, "narrow", {2}, 0),
        ((80, 9), 1, "tiny", {1}, 0),
    ],
)
def test_arrangements(size, place, width, shown, left):
    found = layout_for_size(*size, place)
    assert (found.width, found.shown, found.left) == (width, shown, left)


@given(st.integers(1, 400), st.integers(1, 120), st.sampled_from([0, 1, 2, 3, 4]), st.booleans())
def test_the_place_where_the_user_is_is_always_shown_and_panes_fit(columns, rows, place, is_zoomed):
    found = layout_for_size(columns, rows, place, is_zoomed=is_zoomed)
    assert place in found.shown
    assert not is_zoomed or found.shown == {place}
    if found.width == "wide" and not found.is_alone:
        assert columns - 27 - found.left >= 60


def row(key):
    return QueueRow(id=key, sign="waiting", verb="run", target=key)


def test_what_is_new_stands_below_the_cursor_unless_the_list_scrolls():
    rows = [row(key) for key in ("new", "a", "b", "c")]
    held = with_new_rows_below_cursor(rows, {"a", "b", "c"}, "b", lambda count: False)
    assert [one.id for one in held] == ["a", "b", "new", "c"]
    assert with_new_rows_below_cursor(rows, {"a", "b", "c"}, "b", lambda count: True) == rows
    assert with_new_rows_below_cursor(rows, {"a", "b", "c"}, None, lambda count: False) == rows


@given(st.data())
def test_new_waiting_rows_never_follow_a_decided_one(data):
    keys = data.draw(st.lists(st.integers(0, 30).map(str), unique=True))
    waiting = data.draw(st.integers(0, len(keys)))
    rows = [replace(row(key), in_decided=place >= waiting) for place, key in enumerate(keys)]
    known = set(data.draw(st.lists(st.sampled_from(keys))) if keys else ())
    cursor = data.draw(st.sampled_from([None, *known]))
    shown = with_new_rows_below_cursor(rows, known, cursor, lambda count: False)
    assert sorted(one.id for one in shown) == sorted(keys)
    assert [one.in_decided for one in shown] == sorted(one.in_decided for one in shown)


def action(key, state="pending", supersedes=None):
    return Action(
        id=key, session_id="s", kind="tool", state=state, target="t", digest="d", created_at=0, opened_at=1,
        supersedes=supersedes,
    )  # fmt: skip


def test_what_stands_in_for_an_action_is_found_over_several_steps():
    actions = [
        action("a", "superseded"),
        action("b", "superseded", "a"),
        action("c", "pending", "b"),
        action("d"),
    ]
    assert queue_successors(actions, ["a", "d"]) == {"a": "c"}


def test_the_bell_rings_once_a_burst():
    notices = Notifications()
    rings = []
    for at, waiting, urgency in [
        (0, 0, "calm"),
        (1, 1, "calm"),
        (1.5, 0, "calm"),
        (2, 2, "calm"),
        (9, 2, "now"),
        (10, 2, "now"),
    ]:
        notices.look(QueueSummary(waiting=waiting, urgency=urgency), at)
        rings.append(notices.rings)
    assert rings == [False, True, False, False, True, False]


@pytest.mark.parametrize(
    ("desktop", "focus", "goes_out"),
    [("off", False, False), ("away", False, True), ("away", True, False), ("always", True, True)],
)
def test_notices_leave_the_terminal_only_as_wished(desktop, focus, goes_out):
    notices = Notifications(wishes=NotifySettings(bell=False, title=True, desktop=desktop))
    notices.look(QueueSummary(waiting=0), 0)
    notices.look(QueueSummary(waiting=1), 5)
    assert (notices.rings, notices.goes_out(has_terminal_focus=focus)) == (False, goes_out)
