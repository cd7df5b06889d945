"""The line of progress of a run: who is asked, what runs, for how long; on terminals only, and gone at the end."""

import asyncio

import pytest
from conftest import Screen, Stream
from rows_cli import NOW

from workbench.cli.console import Console
from workbench.cli.run_output import RunProgressLine, ticking
from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.values import Actor, GateVerdict, Usage

SECOND = 1_000_000


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


def event(body, seconds=0.0, **more):
    at = NOW + int(seconds * SECOND)
    return Event(id="e", session_id="s", at=at, actor=Actor(kind="host"), body=body, **more)


STARTED = e.TurnStarted(provider="local", model="qwen3")


@pytest.fixture
def progress():
    return RunProgressLine(Console(Stream(), Screen()), lambda: NOW)


def line(progress, seconds):
    return progress.text(NOW + seconds * SECOND)


def test_a_model_that_never_sends_a_byte_is_counted(progress):
    progress.see([event(STARTED)])
    assert line(progress, 0) == "● qwen3 reads  0:00  ctrl+c stops"
    assert line(progress, 61) == "● qwen3 reads  1:01  ctrl+c stops"


def test_a_model_that_writes_says_how_fast_and_then_that_it_is_silent(progress):
    pieces = [event(e.TextStreamed(block=0, offset=40 * n, text="x" * 40), 5 + n) for n in range(4)]
    progress.see([event(STARTED), *pieces])
    assert line(progress, 9) == "● qwen3 writes  0:04  about 10 tok/s  about 40 tok  ctrl+c stops"
    assert "silent 30 s" in line(progress, 38)


def test_a_command_shows_its_seconds_against_its_limit(progress):
    verdict = GateVerdict(outcome="allowed", step="grants", by="rule")
    progress.see([
        event(STARTED), event(e.ReplyCompleted(usage=Usage()), 1),
        event(e.CallProposed(tool="run_in_terminal", target="pytest\n-q", verdict=verdict), 1, call_id="c"),
        event(e.CallExecuting(), 2, call_id="c"),
    ])  # fmt: skip
    assert line(progress, 3) == "● run_in_terminal pytest⏎-q  0:01  ctrl+c stops"
    progress.see(
        [
            event(
                e.ProcessStarted(pid=1, group=1, start_time="", limit_seconds=60),
                2,
                call_id="c",
            )
        ]
    )
    assert line(progress, 29) == "● run pytest⏎-q  0:27 of 1:00  ctrl+c stops"
    progress.see([event(e.CallFinished(state="succeeded"), 30, call_id="c")])
    assert line(progress, 31) == "● working  0:31  ctrl+c stops"
    progress.see([event(e.TurnEnded(outcome="done"), 32)])
    assert line(progress, 33) == ""


def test_what_waits_is_counted_until_it_is_answered(progress):
    opened = e.ActionOpened(
        action_kind="tool",
        tool="create_file",
        target="new.txt",
        digest="d" * 64,
        created_at=NOW,
        expires_at=None,
    )
    progress.see([event(STARTED), event(e.ReplyCompleted()), event(opened, 1, action_id="a")])
    assert line(progress, 46) == "◆ 1 question waits for your answer  0:45"
    progress.see(
        [
            event(
                e.ActionApproved(digest="d" * 64, approved_until=NOW, result_digest="d" * 64),
                50,
                action_id="a",
            )
        ]
    )
    assert "question" not in line(progress, 50)


# --- where it stands -------------------------------------------------------------------------------


def test_it_stands_on_one_line_and_leaves_nothing():
    screen = Screen()
    console = Console(Stream(), screen)
    console.status("● a long line of progress")
    console.status("● short")
    assert screen.shown == "● short"
    written = screen.getvalue()
    console.status("● short")
    assert screen.getvalue() == written, "what stands there already is not written again"
    console.note("An error.")
    assert screen.getvalue().endswith("\rAn error.\n"), "the line is erased before anything is printed"
    console.status("● again")
    console.clear_status()
    assert screen.shown == "" and "\n" not in screen.getvalue().rpartition("An error.\n")[2]


def test_a_line_without_its_end_is_left_as_it_is():
    both = Screen()
    console = Console(both, both)
    console.status("● reads")
    console.write("Half a sen")
    console.status("● writes")
    assert both.shown == "Half a sen"
    console.write("tence.\n")
    console.status("● reads")
    assert both.getvalue().endswith("Half a sentence.\n\r● reads")


def test_a_reply_that_stands_still_in_the_middle_of_a_line_gets_a_line_end():
    both, now = Screen(), [NOW]
    console = Console(both, both)
    progress = RunProgressLine(console, lambda: now[0])
    console.write("Half a sen")
    progress.see([event(STARTED), event(e.TextStreamed(block=0, offset=0, text="Half a sen"))])
    for seconds, shown in (
        (7, "Half a sen"),
        (9, "● qwen3 writes  0:09  silent 9 s  about 2 tok  ctrl+c stops"),
    ):
        now[0] = NOW + seconds * SECOND
        progress.tick()
        assert both.shown == shown
    assert both.getvalue().startswith("Half a sen\n")


def test_a_hostile_text_stays_one_line_that_fits():
    screen = Screen()
    Console(Stream(), screen).status("a\r\nb\x1b[2Jc " * 40)
    assert "\x1b" not in screen.getvalue() and "\n" not in screen.getvalue()
    assert screen.getvalue().count("\r") == 1 and len(screen.shown) <= 79


def test_nothing_is_drawn_where_no_terminal_is():
    console = Console(Stream(), Stream())
    progress = RunProgressLine(console, lambda: NOW)
    progress.see([event(STARTED)])
    progress.tick()
    assert console.err.getvalue() == ""


def test_nothing_is_drawn_over_on_a_terminal_of_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    screen = Screen()
    Console(Stream(), screen).status("● reads")
    assert screen.getvalue() == ""


def test_a_clock_that_ticks_ends_with_what_it_was_for():
    ticks = []

    async def work():
        async with ticking(lambda: ticks.append(1)):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(work()) == set()
    assert ticks == [1]


@pytest.mark.parametrize("words, is_shown", [((), True), (("--quiet",), False)])
def test_a_run_shows_it_unless_it_is_quiet(shell, monkeypatch, words, is_shown):
    from workbench.cli.dispatch import dispatch

    screen = Screen()
    recording = shell.recording({"reply": [{"text": "Hello.", "after_ms": 1}]})
    console = Console(Stream(), screen)
    assert dispatch(["run", "-p", "x", "--recording", recording, *words], console) == 0
    assert ("m reads" in screen.getvalue()) == is_shown
    assert screen.shown == ""
