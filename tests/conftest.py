"""Isolation for every test: its own home and data folder, no key of any provider, no tty surprises."""

import gc
import os
import signal
import sys
from functools import cache
from itertools import chain, count
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.branches import COUNTER
from tests.support.sizes import IS_CAMPAIGN, VARIABLE
from workbench.effects.process_table import CHILD_REGISTRY
from workbench.journal import database
from workbench.journal.home import Home

MAKES_TABLES = tuple(Path(__file__).parent / name for name in ("unit/journal", "faults"))
"""Tests of how the tables of a new home are made, and of what a kill leaves of that."""

sys.dont_write_bytecode = False
"""Tests are compiled once and not by each worker and run, also where images of containers say otherwise."""

settings.register_profile("workbench", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("workbench")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Begun in the background of a shell, the run ignores ctrl+c, and so would every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

KEPT = {"PATH", "LANG", "LC_ALL", "TMPDIR", "TERM", "PYTHONPATH", "VIRTUAL_ENV", "NEED_LLAMA", "NEED_SHELLS"}


def pytest_xdist_auto_num_workers(config):
    """Return the workers of `-n auto`: half as many again as there are cores, as tests wait for terminals."""
    del config
    return len(os.sched_getaffinity(0)) * 3 // 2 or 1


def pytest_make_parametrize_id(val, argname):
    """Name a case with packed bytes by its place: every worker must collect the same names at any moment."""
    return argname if isinstance(val, bytes) and len(val) > 40 else None


LEFT_OUT = "tests_left_out"
"""The number of campaign tests that are left out: of a configuration, and of what a worker reports at its end."""


NO_SANDBOX = "no sandbox here"
"""How the reason begins for which a test of the sandbox is skipped."""
IS_CLAUDE_CODE = os.environ.get("WORKBENCH_CLAUDE_CODE", "") not in ("", "0")


def pytest_collection_modifyitems(config, items):
    """Leave out the campaigns unless they are asked for; the summary says how many."""
    if not IS_CLAUDE_CODE:
        apart = [item for item in items if item.get_closest_marker("claude_code") is not None]
        config.hook.pytest_deselected(items=apart)
        items[:] = [item for item in items if item not in apart]
    if IS_CAMPAIGN:
        return
    left_out = [item for item in items if item.get_closest_marker("campaign") is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker("campaign") is None]
    setattr(config, LEFT_OUT, len(left_out))
    if hasattr(config, "workeroutput"):
        config.workeroutput[LEFT_OUT] = len(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Keep the number that a worker reports: all workers collect the same."""
    setattr(node.config, LEFT_OUT, getattr(node, "workeroutput", {}).get(LEFT_OUT, 0))


def pytest_terminal_summary(terminalreporter, config):
    """Say how many tests were left out, and what became of mutations."""
    if count := getattr(config, LEFT_OUT, 0):
        terminalreporter.write_line(f"{count} tests of campaigns were left out: they run with {VARIABLE}=1")
    reasons = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", ())]
    if without_box := [reason for reason in reasons if NO_SANDBOX in reason]:
        terminalreporter.write_line(
            f"{len(without_box)} tests of the sandbox were left out: {without_box[0].removeprefix('Skipped: ')}"
        )
    if IS_CAMPAIGN:
        from tests.support.mutate_rows import summary

        for line in summary(chain.from_iterable(terminalreporter.stats.values())):
            terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Count the branches of what decides while its own tests run, where that is asked for."""
    if COUNTER is None:
        return (yield)
    with COUNTER.counting(item):
        return (yield)


def pytest_sessionfinish():
    """Keep what was counted."""
    if COUNTER is not None:
        COUNTER.save()


def pytest_collectstart():
    """Look for no garbage while tests are collected: none of what is made then goes away."""
    gc.disable()


def pytest_collection_finish():
    """Take what was collected out of every later garbage collection."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def homes(tmp_path_factory):
    """Yield folders that are new; numbered without looking at all that came before, as thousands are made."""
    base = tmp_path_factory.mktemp("homes")
    return (base / str(number) for number in count())


@cache
def empty_database(folder):
    """Return the bytes of a journal's database without an event, made once in a folder."""
    home = Home.open(folder)
    database.prepare_database(home)
    return home.database.read_bytes()


@pytest.fixture(autouse=True)
def tables_made_once(request, tmp_path_factory, monkeypatch):
    """Give each new home a copy of an empty database: the tables take five times as long, and wait for the disk."""
    if any(request.node.path.is_relative_to(folder) for folder in MAKES_TABLES):
        return
    prepare_database = database.prepare_database
    folder = tmp_path_factory.getbasetemp() / "empty-home"

    def copied(home, on_progress=None):
        if not home.database.stat().st_size:
            home.database.write_bytes(empty_database(folder))
        prepare_database(home, on_progress=on_progress)

    monkeypatch.setattr("workbench.journal.journal.prepare_database", copied)


@pytest.fixture(autouse=True)
def isolated(homes, monkeypatch):
    home = next(homes)
    home.mkdir()
    for name in set(os.environ) - KEPT:
        if not name.startswith(("PYTEST", "COV", "HYPOTHESIS")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("WORKBENCH_HOME", str(home / "workbench"))
    # What a machine can do must not decide what a test sees; tests of the sandbox take this away.
    monkeypatch.setenv("WORKBENCH_SANDBOX_BACKEND", "none")
    # A megabyte that is written and synchronized for each of thousands of homes is time that proves nothing.
    monkeypatch.setattr("workbench.journal.home.RESERVE_BYTES", 1000)
    # A command that ran in this process would count the children of later tests as its own, and end them.
    monkeypatch.setattr(CHILD_REGISTRY, "is_subreaper", False)
    # Commands ask it before they freeze; it counts one by one all that was collected.
    monkeypatch.setattr(gc, "get_freeze_count", lambda: 1)
