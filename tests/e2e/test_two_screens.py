"""Two screens on one journal stay in step, and a closed screen leaves its agent at work."""

import os
import signal

import pytest

from tests.support.keys import CHANGED, EARLY, decide
from tests.support.terminal import Terminal, leave
from tests.support.waits import PATIENCE, until


@pytest.fixture
def screens(shop):
    made = []

    def open_():
        made.append(Terminal(shop.argv(), cwd=shop.project, env=shop.env(), columns=120, rows=36))
        return made[-1]

    yield open_
    for terminal in made:
        terminal.close()


def find(terminal, *wanted, key="n"):
    """Go from row to row that waits until all texts are shown."""
    terminal.rest()
    terminal.press("\x1b")  # from the composer to what waits
    for _ in range(6):
        terminal.rest()
        if all(text in terminal.text() for text in wanted):
            return
        terminal.press(key)
    terminal.until(*wanted)


def refused(terminal, words):
    """Press `r` on what is decided until the words say that it is: a first key may have been read before."""
    answers = (words, EARLY, CHANGED, "r again: ")
    for _ in range(6):
        terminal.until_true(lambda: EARLY not in terminal.text() and CHANGED not in terminal.text())
        terminal.press("r")
        terminal.until_true(lambda: any(answer in terminal.text() for answer in answers))
        if words in terminal.text():
            return
    terminal.until(words)


def test_an_answer_on_one_screen_is_seen_on_the_other_and_a_second_one_is_refused_in_words(shop, screens):
    agent = shop.run("--on-approval", "wait", "--max-turns", "5")
    shop.waiting(2)
    first, second = screens(), screens()
    for terminal in (first, second):
        terminal.until("hello.py", "python3 hello.py")
        find(terminal, "─ hello.py +1", "a approve")
    os.kill(second.process.pid, signal.SIGSTOP)
    try:
        decide(first, "a")
        first.until("✓ write hello.py")
        second.press("r")
    finally:
        os.kill(second.process.pid, signal.SIGCONT)
    second.until("✓ write hello.py")
    refused(second, "It is approved; n goes to the next that waits.")
    second.until("✓ create_file")
    assert shop.written("hello.py") == "print('hello')\n"
    find(second, "run_in_terminal", "a run outside")
    second.rest()
    decide(second, "a")
    for terminal in (first, second):
        terminal.until("Done: it says hello.", gone=("python3 hello.py  asks you",))
    assert agent.wait(PATIENCE) == 0


def test_a_closed_screen_leaves_the_agent_at_work_and_another_one_shows_what_it_did(shop, screens):
    assert shop.run("--on-approval", "park").wait(PATIENCE) == 3
    first = screens()
    first.until("hello.py", "python3 hello.py")
    find(first, "─ hello.py +1", "a approve")
    first.rest()
    decide(first, "a")
    first.until("✓ write hello.py")
    leave(first)
    assert "pid" in shop.call("host", "status").stdout
    (left,) = shop.waiting(1)
    shop.call("approvals", "approve", left["id"])
    until(lambda: shop.json("sessions", "list").pop()["status"] != "processing")
    screens().until("Done: it says hello.")
