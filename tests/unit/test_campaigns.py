"""Campaigns: a sample at each commit, the whole only where it is asked for, and never left out unseen."""

from types import SimpleNamespace

import pytest

from tests import conftest
from tests.support import sizes


class Item:
    def __init__(self, *names):
        self.names = names

    def get_closest_marker(self, name):
        return name if name in self.names else None


def configuration(**more):
    deselected = []
    hook = SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items))
    return SimpleNamespace(hook=hook, deselected=deselected, **more)


def summary(config):
    lines = []
    conftest.pytest_terminal_summary(SimpleNamespace(write_line=lines.append, stats={}), config)
    return lines


SAID = "1 tests of campaigns were left out: they run with WORKBENCH_CAMPAIGN=1"


def test_a_campaign_is_left_out_and_counted_in_the_summary_unless_it_is_asked_for(monkeypatch):
    campaign, other = Item("campaign"), Item("faults")
    monkeypatch.setattr(conftest, "IS_CAMPAIGN", False)
    items, config = [campaign, other], configuration()
    conftest.pytest_collection_modifyitems(config, items)
    assert (items, config.deselected, summary(config)) == ([other], [campaign], [SAID])
    monkeypatch.setattr(conftest, "IS_CAMPAIGN", True)
    items, config = [campaign, other], configuration()
    conftest.pytest_collection_modifyitems(config, items)
    assert (items, config.deselected, summary(config)) == ([campaign, other], [], [])


def test_what_workers_leave_out_is_in_the_summary_of_the_run(monkeypatch):
    monkeypatch.setattr(conftest, "IS_CAMPAIGN", False)
    worker, run = configuration(workeroutput={}), configuration()
    conftest.pytest_collection_modifyitems(worker, [Item("campaign"), Item()])
    conftest.pytest_testnodedown(SimpleNamespace(workeroutput=worker.workeroutput, config=run))
    assert summary(run) == [SAID]


@pytest.mark.parametrize(("asked", "is_campaign", "size"), [("", False, 5), ("", True, 50), ("7", True, 7)])
def test_a_campaign_runs_whole_and_a_variable_beats_both(monkeypatch, asked, is_campaign, size):
    monkeypatch.setattr(sizes, "IS_CAMPAIGN", is_campaign)
    monkeypatch.setenv("WORKBENCH_OF_A_TEST", asked)
    assert sizes.size("WORKBENCH_OF_A_TEST", 5, 50) == size
