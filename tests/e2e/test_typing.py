"""A sentence typed over a row that waits, at the speed of a hand, in a pseudo-terminal: nothing is written."""

import pytest

from tests.support.keys import decide
from tests.support.terminal import Terminal, leave


@pytest.fixture
def terminal(shop):
    shop.call("trust", "--yes", str(shop.project))
    agent = shop.run("--on-approval", "wait", "--max-turns", "5")
    shop.waiting(2)
    made = Terminal(shop.argv(), cwd=shop.project, env=shop.env(), columns=120, rows=36)
    yield made
    made.close()
    agent.kill()


def test_a_typed_sentence_writes_no_file_and_a_key_pressed_twice_does(shop, terminal):
    terminal.until("hello.py", "python3 hello.py", "enter to what waits")
    terminal.rest()
    terminal.press("\r")
    terminal.until("a approve")
    terminal.rest()
    for letter in "and add a test":
        terminal.press(letter)
        terminal.pump(0.12)
    terminal.press("\r")
    # Its own enter sends it, as nothing else was written there.
    shown = terminal.until("and add a test", "queued")
    terminal.rest()
    assert "2 waiting" in shown
    assert len(shop.waiting(2)) == 2
    assert not (shop.project / "hello.py").exists()
    terminal.press("\x1b")
    terminal.until("a approve")
    terminal.rest()
    decide(terminal, "a")
    terminal.until("✓ write hello.py")
    assert shop.written("hello.py") == "print('hello')\n"
    leave(terminal)
