"""Campaigns: a sample at each commit, the whole only where it is asked for, and never left out unseen."""

import pytest

from tests import conftest
from tests.support import sizes


class Item:
    def __init__(self, *names):
        self.names, self.added = names, []

    def get_closest_marker(self, name):
        return name if name in self.names else None

    def add_marker(self, mark):
        self.added.append(mark)


def skipped(monkeypatch, is_campaign, *names):
    monkeypatch.setattr(conftest, "IS_CAMPAIGN", is_campaign)
    item = Item(*names)
    conftest.pytest_collection_modifyitems([item])
    return [mark.args[0] for mark in item.added], [mark.kwargs["reason"] for mark in item.added]


def test_a_campaign_is_skipped_with_its_reason_unless_it_is_asked_for(monkeypatch):
    assert skipped(monkeypatch, False, "campaign") == (
        [True],
        ["a campaign: runs with WORKBENCH_CAMPAIGN=1"],
    )
    assert skipped(monkeypatch, True, "campaign")[0] == [False]
    assert skipped(monkeypatch, False, "faults") == ([], [])


@pytest.mark.parametrize(("asked", "is_campaign", "size"), [("", False, 5), ("", True, 50), ("7", True, 7)])
def test_a_campaign_runs_whole_and_a_variable_beats_both(monkeypatch, asked, is_campaign, size):
    monkeypatch.setattr(sizes, "IS_CAMPAIGN", is_campaign)
    monkeypatch.setenv("WORKBENCH_OF_A_TEST", asked)
    assert sizes.size("WORKBENCH_OF_A_TEST", 5, 50) == size
