"""Work judged without a limit in seconds: what eight times the input takes more, and an end to what never ends."""

import contextlib
import signal
from time import process_time

from tests.support.waits import PATIENCE

TIMES = 8
"""How many times as long the long input is: work that follows its length grows so, by its square 64 times."""
MOST = 32
"""Halfway between both."""
_ROUNDS = 3
_LEAST_SECONDS = 0.02
"""Less is taken as this much: this clock goes in steps of a hundredth on some machines."""


def assert_grows_with_length(work, short, long):
    """Fail where work takes far more than `TIMES` the processor time for an input `TIMES` as long."""
    with bounded_work():
        least = max(_LEAST_SECONDS, least_seconds(work, short))
        grown = []
        for _ in range(_ROUNDS):
            grown.append(_seconds(work, long) / least)
            if grown[-1] <= MOST:
                return
    raise AssertionError(f"{TIMES} times the input takes {min(grown):.0f} times as long")


def least_seconds(work, data):
    """Return the processor time of work, the least of some rounds: what else the machine does only adds to it."""
    return min(_seconds(work, data) for _ in range(_ROUNDS))


@contextlib.contextmanager
def bounded_work(seconds=PATIENCE):
    """Fail what would take for ever: a bound of processor time that no machine comes near by being slow."""

    def stopped(*_):
        raise AssertionError(f"it takes more than {seconds:g} s of a processor")

    before = signal.signal(signal.SIGPROF, stopped)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _seconds(work, data):
    begun = process_time()
    work(data)
    return process_time() - begun
