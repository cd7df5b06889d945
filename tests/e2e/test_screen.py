"""The screen of the installed program in a pseudo-terminal: the demo answered by key, to green."""

import os
import signal
from functools import partial

import pytest

from tests.support.keys import decide
from tests.support.sizes import rarely
from tests.support.terminal import Terminal, leave, trust


@pytest.fixture
def demo(shop):
    opened = []

    def open_(**size):
        place = shop.root / "demo"
        opened.append(
            Terminal(shop.argv("demo", "--at", str(place)), cwd=shop.project, env=shop.env(), **size)
        )
        opened[-1].project = place / "project"
        return opened[-1]

    yield open_
    for terminal in opened:
        terminal.close()


def trust_and_wait(terminal):
    """Answer the trust question with its second choice; return when the three rows wait."""
    terminal.until("trust this workspace", "1 waiting")
    trust(terminal)
    terminal.until("shop/router.py", "shop/errors.py", "3 waiting")


def answer(terminal, *wanted):
    """Approve what is under the cursor: parts that were not seen yet are shown first."""
    has_shown = False
    for _ in range(4):
        terminal.rest()
        if "a see " not in terminal.text():
            break
        has_shown, before = True, terminal.text()
        terminal.press("a")
        terminal.until_true(lambda before=before: terminal.text() != before)
    # The press that showed the last part was the first of two.
    (terminal.press if has_shown else partial(decide, terminal))("a")
    terminal.until(*wanted)


@pytest.mark.parametrize(
    "size",
    [
        rarely({"columns": 120, "rows": 36}, name="120x36"),
        pytest.param({"columns": 80, "rows": 24}, id="80x24"),
    ],
)
def test_the_demo_turns_green_by_key(demo, size):
    terminal = demo(**size)
    trust_and_wait(terminal)
    answer(terminal, "2 waiting")
    answer(terminal, "1 waiting")
    answer(terminal)
    terminal.until(gone=("1 waiting",))
    if size["columns"] < 100:
        terminal.press("\x1b")
        terminal.rest()
        terminal.press("1")
    terminal.until("All three tests are green")
    leave(terminal)
    assert "NotFound" in (terminal.project / "shop" / "errors.py").read_text()
    assert "NotFound" in (terminal.project / "shop" / "router.py").read_text()


def test_keys_typed_ahead_decide_nothing(demo):
    terminal = demo()
    terminal.press("aaaa")
    shown = terminal.until("trust this workspace", "1 waiting")
    terminal.press("aaaaaaaa")
    terminal.pump(0.2)
    assert "1 waiting" in terminal.text() or "1 waiting" in shown
    terminal.rest()
    assert "1 waiting" in terminal.text()


def test_a_killed_screen_leaves_the_agent_and_another_one_shows_it(demo):
    first = demo()
    trust_and_wait(first)
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    second = demo()
    second.until("3 waiting", "shop/router.py")
    second.resize(80, 24)
    second.until("3 waiting", "2 Approvals")
    second.resize(40, 10)
    second.until("too small")
    for _ in range(2):
        second.press("q")
        second.pump(0.3)
    second.wait()
