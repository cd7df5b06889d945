"""What the tests stand on: tables that name every row, and waiting until nothing is left to do."""

import asyncio
import threading
import time

import pytest

from tests.support import idle
from tests.support.tables import each_row
from tests.support.waits import PATIENCE


def test_a_table_names_every_row_that_does_not_hold():
    @each_row(("left", "right"), [(1, 1), (1, 2), (3, 3), (4, 5)])
    def rows(left, right):
        assert left == right, "unlike"

    with pytest.raises(pytest.fail.Exception) as failed:
        rows()
    assert str(failed.value).startswith("2 of 4 rows do not hold:\n1, 2\n")
    assert "4, 5\n    AssertionError: unlike" in str(failed.value)


def test_a_table_keeps_the_other_parameters_of_a_test():
    seen = []

    @each_row("word", ["a", "b"], ids=str.upper)
    def rows(tmp_path, word):
        seen.append((tmp_path, word))

    assert list(rows.__signature__.parameters) == ["tmp_path"]
    rows(tmp_path="folder")
    assert seen == [("folder", "a"), ("folder", "b")]


def test_a_table_without_rows_is_a_mistake():
    with pytest.raises(AssertionError):
        each_row("word", [])


def waited(monkeypatch, begin):
    """Return what had happened when a loop was idle, and after how many seconds."""
    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", idle._run_and_note)
    happened = []

    async def run():
        ended = begin(happened)
        begun = time.monotonic()
        await idle.until_idle(max_sleep=10 * PATIENCE)
        found = tuple(happened), time.monotonic() - begun
        if ended is not None:
            ended()
        return found

    return asyncio.run(run())


def test_what_follows_from_work_is_waited_for(monkeypatch):
    def begin(happened):
        loop = asyncio.get_running_loop()

        def after_the_thread(_):
            happened.append("thread")
            loop.call_later(0.01, happened.append, "timer")

        work = loop.run_in_executor(None, sum, range(3_000_000))
        work.add_done_callback(after_the_thread)

    assert waited(monkeypatch, begin)[0] == ("thread", "timer")


def test_a_thread_that_a_test_holds_back_is_not_waited_for(monkeypatch):
    def begin(happened):
        held = threading.Event()
        asyncio.get_running_loop().run_in_executor(None, held.wait, 10 * PATIENCE)
        return held.set

    assert waited(monkeypatch, begin)[1] < PATIENCE


def test_neither_what_is_due_later_nor_what_ticks_for_ever_is_waited_for(monkeypatch):
    async def ticks():
        while True:
            await asyncio.sleep(0.005)

    def begin(happened):
        asyncio.get_running_loop().call_later(10 * PATIENCE, happened.append, "later")
        clock = asyncio.create_task(ticks(), name="set_interval#1")
        return clock.cancel

    assert waited(monkeypatch, begin)[0] == ()
