"""How often a test repeats itself: a sample at each commit, the whole campaign with WORKBENCH_CAMPAIGN=1."""

import os

import pytest

VARIABLE = "WORKBENCH_CAMPAIGN"
IS_CAMPAIGN = os.environ.get(VARIABLE, "") not in ("", "0")


def size(variable, sample, whole):
    """Return the number that a variable asks for, else that of a sample or of the whole campaign."""
    return int(os.environ.get(variable) or (whole if IS_CAMPAIGN else sample))


def sampled(values, every, *, also=()):
    """Return rows of `parametrize`: one of so many at each commit, and those that are named; the rest in the campaign."""
    return [
        value if number % every == 0 or value in also else rarely(value, name=str(value))
        for number, value in enumerate(values)
    ]


def rarely(*values, name=None):
    """Return a row of `parametrize` that only the whole campaign runs."""
    return pytest.param(*values, id=name, marks=pytest.mark.campaign)
