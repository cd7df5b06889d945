"""The clocks: units, order, and identifiers."""

import time
import uuid

import pytest

from workbench.effects.clock import ManualClock, SystemClock


def test_system_clock_counts_microseconds() -> None:
    before = time.time()
    now = SystemClock().now()
    assert before - 1 < now / 1_000_000 < time.time() + 1


def test_system_ids_are_version_4_and_differ() -> None:
    clock = SystemClock()
    first, second = uuid.UUID(clock.new_id()), uuid.UUID(clock.new_id())
    assert first.version == second.version == 4
    assert first != second


def test_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(1_000)
    assert (clock.now(), clock.monotonic()) == (1_000, 0.0)
    clock.advance(1.5)
    clock.advance(0.000001)
    assert (clock.now(), clock.monotonic()) == (1_501_001, 1.500001)


def test_manual_clock_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="does not go back"):
        ManualClock(0).advance(-1)


def test_manual_ids_count_up() -> None:
    clock = ManualClock(0)
    ids = [clock.new_id() for _ in range(12)]
    assert ids[0] == "00000000-0000-4000-8000-000000000001"
    assert ids[-1] == "00000000-0000-4000-8000-000000000012"
    assert all(uuid.UUID(text).version == 4 for text in ids)
