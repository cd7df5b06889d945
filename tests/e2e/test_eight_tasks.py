"""The eight tasks of every day by key, at three sizes: how many keys each takes. Times are for the benchmark."""

import pytest

from tests.support import eight_tasks as tasks

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.parametrize("size", tasks.SIZES, ids=lambda size: f"{size[0]}x{size[1]}"),
]
BUDGETS = [
    (tasks.from_list, 2),
    (tasks.from_composer, 3),
    (tasks.while_typing, 3),
    (tasks.leave_hunk, 5),
    (tasks.reject_with_reason, 3),
    (tasks.never_again, 3),
    (tasks.six_that_were_seen, 6),
    (tasks.stop_and_say, 2),
]


@pytest.mark.parametrize(("task", "keys"), BUDGETS, ids=lambda value: getattr(value, "__name__", None))
def test_a_task_takes_its_keys_and_one_more_for_each_part_that_nobody_saw(shop, size, task, keys):
    with tasks.desktop(shop, size) as place:
        effort = task(place)
    # At the least size the edit of three hunks is shown in parts; nothing else has more than one. Behind the
    # press that showed the last part, one press decides.
    assert (effort.keys + bool(effort.parts), effort.parts <= 3) == (keys, True), effort


def test_why_a_step_failed_is_two_keys_from_a_pane_and_one_more_from_the_composer(shop, size):
    with tasks.desktop(shop, size) as place:
        why, log = tasks.why_a_step_failed(place)
    assert (why.keys, log.keys) == (3, 4)


def test_the_first_error_of_a_session_is_three_keys_from_a_pane_and_one_more_from_the_composer(shop, size):
    with tasks.desktop(shop, size) as place:
        assert tasks.replay_from_first_error(place).keys == 4


# A letter behind another one is pressed three times: behind `l` and behind `M` that is one press more.
DAY = {
    "approve, from the composer": 3,
    "approve, from the queue": 2,
    "leave hunk 2 of 3": 5,
    "reject with a reason": 3,
    "never ask again": 3,
    "six that were all seen": 6,
    "stop and say": 2,
}


def test_each_task_takes_its_keys_from_where_the_answer_before_left_the_focus(shop, size):
    with tasks.desktop(shop, size) as place:
        found = {name: (effort.keys, effort.parts) for name, effort in tasks.day(place)}
    over = {name: found[name] for name, keys in DAY.items() if found[name][0] > keys}
    # A part that nobody saw is one press more; only the edit of three hunks has some, at the least size.
    assert (over, sorted(found)) == ({}, sorted(DAY))
    assert all(parts <= 3 for _, parts in found.values()), found


def test_a_chain_of_asks_is_a_double_press_each_and_nothing_else(shop, size):
    with tasks.desktop(shop, size) as place:
        assert tasks.chain_of_asks(place).keys == 2 * tasks.CHAIN
