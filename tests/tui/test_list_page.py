"""The page that places with a list are built on, with a plain list over it."""

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from tests.support.pane_host import Host
from tests.support.sample_place import SamplePage
from tests.support.waits import until_true
from workbench.tui.pane import LineWanted, StatusMessage
from workbench.tui.places import PLACES


def play(body, read=lambda: ("apple", "pear", "plum"), size=(120, 20)):
    """Run a coroutine function of a page, its host and what lets both work."""
    page, left = SamplePage(read), []
    page.main = SimpleNamespace(go_back=lambda: left.append("the place"))
    page.left = left
    host = Host(page)

    async def run():
        async with host.run(size) as pilot:
            await body(page, host, pilot.pause)

    asyncio.run(run())


async def shows(page, pause, *ids):
    await until_true(lambda: page.is_read and page.list.ids == ids, pause, lambda: page.list.ids)


def said(host):
    return [message.text for message in host.said(StatusMessage)]


def test_rows_are_read_in_a_thread_and_until_then_it_says_so():
    gate, threads = threading.Event(), []

    def read():
        threads.append(threading.current_thread())
        gate.wait()
        return ("apple",)

    async def body(page, host, pause):
        await until_true(lambda: threads, pause)
        assert not page.is_read and "Samples are being read." in "\n".join(host.lines())
        gate.set()
        await shows(page, pause, "apple")
        assert threads[0] is not threading.main_thread() and "apple" in "\n".join(host.lines())

    try:
        play(body, read)
    finally:
        gate.set()


def test_a_list_without_rows_says_why():
    async def body(page, host, pause):
        await shows(page, pause)
        await pause()
        assert "No samples" in "\n".join(host.lines())
        assert page.why_no_row() == "no sample is selected"

    play(body, lambda: ())


def test_a_reading_that_fails_says_why_and_the_next_one_is_shown():
    broken = [ValueError("the disk is gone")]

    def read():
        if broken:
            raise broken[0]
        return ("plum",)

    async def body(page, host, pause):
        await until_true(lambda: said(host), pause)
        assert said(host)[0] == "The samples were not read. the disk is gone"
        assert "No samples" in "\n".join(host.lines())
        broken.clear()
        page.read()
        await shows(page, pause, "plum")

    play(body, read)


def test_what_changes_while_it_is_read_is_read_once_more_and_never_twice_at_once():
    gates = [threading.Event() for _ in range(3)]
    begun, at_once = [], []

    def read():
        number = len(begun)
        begun.append(number)
        at_once.append(number)
        gates[number].wait()
        at_once.remove(number)
        return (f"reading {number}", f"{len(at_once)} others")

    async def body(page, host, pause):
        await until_true(lambda: begun == [0], pause)
        for _ in range(3):
            page.read()
        assert begun == [0]
        gates[0].set()
        await until_true(lambda: begun == [0, 1], pause)
        gates[1].set()
        await shows(page, pause, "reading 1", "0 others")
        page.show({"a session"})
        await until_true(lambda: begun == [0, 1, 2], pause)
        gates[2].set()
        await shows(page, pause, "reading 2", "0 others")

    try:
        play(body, read)
    finally:
        for gate in gates:
            gate.set()


def test_a_page_that_is_hidden_reads_when_it_is_shown_again():
    readings = []

    async def body(page, host, pause):
        await until_true(lambda: page.is_read, pause)
        page.display = False
        await pause()
        count = len(readings)
        page.reader.read_soon(0.01)
        await until_true(lambda: page.reader._timer is None, pause)
        assert len(readings) == count
        page.display = True
        # As a frame does that is due before the layout; then somebody asks where the page is.
        host.screen._compositor.update_widgets({page})
        assert page.region
        await until_true(lambda: len(readings) > count, pause)

    play(body, lambda: readings.append(1) or ())


def test_the_filter_line_narrows_the_rows_and_asks_with_what_was_typed():
    async def body(page, host, pause):
        await shows(page, pause, "apple", "pear", "plum")
        page.ask_filter()
        await pause()
        page.line_heard("filter", " pl ", is_final=False)
        assert page.list.ids == ("apple", "plum")
        await pause()
        assert "2 of 3" in "\n".join(host.lines())
        page.line_heard("filter", "plu", is_final=True)
        assert page.list.ids == ("plum",)
        page.ask_filter()
        await pause()
        assert [line.text for line in host.said(LineWanted)] == ["", "plu"]
        page.line_dropped("another line")
        assert page.text_filter == "plu"
        page.line_dropped("filter")
        assert page.list.ids == ("apple", "pear", "plum") and not page.text_filter

    play(body)


def test_a_mark_goes_to_the_next_row_and_a_second_one_takes_it_off():
    async def body(page, host, pause):
        await shows(page, pause, "apple", "pear", "plum")
        page.list.put_cursor("apple")
        page.toggle_mark()
        assert (page.list.marks, page.list.cursor) == ({"apple"}, "pear")
        await pause()
        assert "* apple" in "\n".join(host.lines())
        page.list.put_cursor("apple")
        page.toggle_mark()
        assert not page.list.marks

    play(body)


def test_escape_leaves_work_then_filter_then_marks_then_the_place():
    async def body(page, host, pause):
        await shows(page, pause, "apple", "pear", "plum")
        page.list.put_cursor("apple")
        page.toggle_mark()
        page.filter_by("p")
        page.begin_work("Being read.")

        def state():
            return page.progress, page.text_filter, len(page.list.marks), page.left

        page.step_back()
        assert state() == ("Being read.", "p", 1, [])
        page.show_progress("")
        page.step_back()
        assert state() == ("", "", 1, [])
        page.step_back()
        assert state() == ("", "", 0, [])
        page.step_back()
        assert page.left == ["the place"]

    play(body)


def test_work_says_how_far_it_is_and_ends_when_it_asks_after_escape():
    said_of_it, asked, gate = [], [], threading.Event()

    async def body(page, host, pause):
        await until_true(lambda: page.is_read, pause)

        def work():
            asked.append(page.goes_on("Half."))
            said_of_it.append(page.progress)
            gate.wait()
            asked.append(page.goes_on("All."))

        page.begin_work("Begun.")
        assert page.progress == "Begun."
        thread = threading.Thread(target=work)
        thread.start()
        await until_true(lambda: said_of_it, pause)
        page.step_back()
        gate.set()
        await until_true(lambda: len(asked) == 2, pause)
        assert (asked, said_of_it, page.progress, page.left) == ([True, False], ["Half."], "Half.", [])
        page.begin_work("Again.")
        assert page.goes_on("")

    try:
        play(body)
    finally:
        gate.set()


def test_the_next_problem_is_looked_for_on_both_sides_of_the_cursor():
    async def body(page, host, pause):
        await shows(page, pause, "bad a", "fine", "bad b", "last")
        moves = []
        for start, step in (("fine", 1), ("fine", -1), ("last", 1), ("bad a", -1)):
            page.list.put_cursor(start)
            page.move_to_problem(step)
            moves.append(page.list.cursor)
        assert moves == ["bad b", "bad a", "bad a", "bad b"]
        page.list.set_ids(["fine"])
        page.move_to_problem(1)
        await pause()
        assert said(host) == ["No sample is wrong."]

    play(body, lambda: ("bad a", "fine", "bad b", "last"))


def test_the_preview_follows_a_cursor_that_rests_where_there_is_room_for_it():
    async def body(page, host, pause):
        await shows(page, pause, "apple", "pear", "plum")
        page.list.put_cursor("pear")
        await until_true(lambda: "pear in full" in "\n".join(host.lines()), pause)

    play(body)

    async def narrow(page, host, pause):
        await shows(page, pause, "apple", "pear", "plum")
        assert not page.second.display and "samples are fruit" not in "\n".join(host.lines())

    play(narrow, size=(99, 20))


def test_a_new_place_is_one_file_and_one_row(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.tui.new_place", str(tmp_path / "home")],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    number = len(PLACES)
    assert (seen["start"], seen["number"], seen["back"], seen["by palette"]) == (1, number, 1, number)
    assert (
        f"{number} Samples" in seen["place"]
        and "samples are fruit" in seen["place"]
        and "plum" in seen["place"]
    )
    assert "0 … f9" in seen["help"] and "samples" in seen["palette"]
