"""How often a test repeats itself: a sample at each commit, the whole campaign with WORKBENCH_CAMPAIGN=1."""

import os

import pytest

VARIABLE = "WORKBENCH_CAMPAIGN"
IS_CAMPAIGN = os.environ.get(VARIABLE, "") not in ("", "0")


def size(variable, sample, whole):
    """Return the number that a variable asks for, else that of a sample or of the whole campaign."""
    return int(os.environ.get(variable) or (whole if IS_CAMPAIGN else sample))


def rarely(*values, name=None):
    """Return a row of `parametrize` that only the whole campaign runs."""
    return pytest.param(*values, id=name, marks=pytest.mark.campaign)
