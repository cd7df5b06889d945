"""Fixtures of the journal's tests: a home of its own for each test, and a clock that stands still."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.journal.scenes import SettableClock, open_journal
from workbench.effects import fault_points
from workbench.journal.journal import Journal


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def journal(tmp_path: Path, clock: SettableClock) -> Iterator[Journal]:
    with open_journal(tmp_path / "home", clock) as found:
        yield found
    fault_points.disarm_all_faults()
