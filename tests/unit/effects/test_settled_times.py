"""When a change shows in the times of a file."""

import pytest

from workbench.effects import settled_times
from workbench.effects.settled_times import SECOND, is_settled

NOW = 1_800_000_000 * SECOND + SECOND // 2


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (NOW - 1, False),
        (NOW - SECOND // 10, True),
        (NOW - SECOND // 2, False),
        (NOW - SECOND // 2 - SECOND, False),
        (NOW - SECOND // 2 - 2 * SECOND, True),
        (NOW + SECOND // 3, False),
    ],
)
def test_a_time_of_whole_seconds_is_settled_later(monkeypatch, changed, expected):
    monkeypatch.setattr(settled_times.time, "time_ns", lambda: NOW)
    assert is_settled(changed) is expected
