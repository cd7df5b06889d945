"""The judge of work: what follows the length of an input passes, its square and what never ends do not."""

import signal

import pytest

from tests.support import growth
from tests.support.growth import TIMES, assert_grows_with_length, bounded_work

SHORT, LONG = "x" * 100, "x" * 100 * TIMES


@pytest.fixture
def spent(monkeypatch):
    """Replace the processor's clock; work adds to it what it takes."""
    seconds = [0.0]
    monkeypatch.setattr(growth, "process_time", lambda: seconds[0])
    return seconds


def test_work_that_follows_the_length_passes(spent):
    def work(text):
        spent[0] += len(text) / 1_000

    assert_grows_with_length(work, SHORT, LONG)


def test_work_that_follows_the_square_is_named_with_what_it_takes(spent):
    def work(text):
        spent[0] += len(text) ** 2 / 100_000

    with pytest.raises(AssertionError, match=r"^8 times the input takes 64 times as long$"):
        assert_grows_with_length(work, SHORT, LONG)


def test_one_slow_round_is_not_the_work(spent):
    slow = iter([0, 0, 0, 9, 0])

    def work(text):
        spent[0] += len(text) / 1_000 + next(slow)

    assert_grows_with_length(work, SHORT, LONG)


def test_what_never_ends_is_ended():
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(AssertionError, match=r"more than 0\.05 s of a processor"), bounded_work(0.05):
        while True:
            pass
    assert signal.getsignal(signal.SIGPROF) == before
