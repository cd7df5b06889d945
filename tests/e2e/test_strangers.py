"""Terminals and moments that nobody planned for: tiny, colourless, without UTF-8, dumb, a folder that vanishes."""

import re
import shutil

import pytest

from tests.support.keys import decide
from tests.support.sizes import rarely
from tests.support.terminal import Terminal, leave, trust

TRUST = "1 waiting"


@pytest.fixture
def opened(shop):
    made = []

    def open_(*words, columns=120, rows=36, kind="xterm-256color", **env):
        argv = shop.argv(*(words or ("demo", "--at", str(shop.root / "demo"))))
        made.append(
            Terminal(argv, cwd=shop.project, env=shop.env(**env), columns=columns, rows=rows, kind=kind)
        )
        made[-1].project = shop.root / "demo" / "project"
        return made[-1]

    yield open_
    for terminal in made:
        terminal.close()


def test_a_terminal_of_20_by_5_says_so_decides_nothing_and_grows_back(opened):
    terminal = opened(columns=20, rows=5)
    terminal.until("◆ 1 waiting", "20×5 is too small", "make it 60×10", "q leave")
    terminal.press("tTa")
    trust(terminal)
    terminal.until("◆ 1 waiting")
    terminal.resize(3, 1)
    terminal.until("◆…")
    terminal.resize(80, 24)
    terminal.until(TRUST, "ctrl+t trust", gone=("too small",))
    trust(terminal)
    terminal.until("3 waiting")
    terminal.resize(20, 5)
    terminal.until("3 waiting", "too small")
    terminal.press("q")
    terminal.rest()
    terminal.press("q")
    assert terminal.wait() == 0


def test_without_colours_signs_and_words_say_it_all(opened):
    terminal = opened(NO_COLOR="1")
    terminal.until(TRUST)
    trust(terminal)
    terminal.until("3 waiting", "◆ edit", "1 Conversation")
    cells = [cell for row in terminal.screen.buffer.values() for cell in row.values()]
    named = {"default", "black", "white", "brightblack", "brightwhite"}
    colours = {cell.fg for cell in cells} | {cell.bg for cell in cells}
    grey = {colour for colour in colours if colour[:2] == colour[2:4] == colour[4:6]}
    assert colours <= named | grey
    leave(terminal)


@pytest.mark.parametrize("locale", ["C", rarely("en_US.ISO-8859-1")])
def test_without_utf_8_everything_is_ascii_by_itself(opened, locale):
    terminal = opened(LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii")

    def plain():
        shown = terminal.text()
        assert shown.isascii()
        assert not re.search(r"\\u[0-9a-f]{4}", shown), shown

    terminal.until("* 1 waiting", "may agents work in this folder?")
    plain()
    trust(terminal)
    terminal.until("* 3 waiting", "* edit")
    plain()
    for key, wanted in (
        ("\x1b", "3 waiting"),
        ("?", "Keys here"),
        ("\x1b", "3 waiting"),
        (":", "enter do it"),
        ("\x1b", "3 waiting"),
    ):
        terminal.rest()
        terminal.press(key)
        terminal.until(wanted)
        plain()
    leave(terminal)


def test_a_dumb_terminal_gets_lines(opened, shop):
    terminal = opened("--plain", kind="xterm-256color")
    terminal.until("Nothing waits.")
    assert "\x1b" not in terminal.text()
    dumb = opened("screen", kind="dumb")
    dumb.until("Nothing waits.")
    assert "1 Conversation" not in dumb.text()


def test_a_folder_that_vanishes_under_the_screen_is_named_and_nothing_is_written(opened):
    terminal = opened()
    terminal.until(TRUST)
    trust(terminal)
    terminal.until("3 waiting")
    shutil.rmtree(terminal.project)
    # The host may still find the edit stale before it ends, which arms the row under the cursor anew.
    terminal.until("the folder is gone", "3 waiting", "The background process has ended")
    terminal.rest()
    decide(terminal, "r")
    terminal.until("the folder is gone", "2 waiting")
    assert not terminal.project.exists()
    leave(terminal)


def test_words_and_enter_that_arrive_together_are_sent_and_pasted_keys_decide_nothing(opened):
    terminal = opened()
    terminal.until(TRUST)
    trust(terminal)
    terminal.until("3 waiting")
    for key in ("\x1b", "i"):
        terminal.rest()
        terminal.press(key)
    terminal.rest()
    terminal.press("and the docs\r")
    terminal.until("1 queued", "Queued. The agent reads it")
    assert "3 waiting" in terminal.text()
    terminal.press("\x1b")
    terminal.rest()
    terminal.press("\x1b[200~aaaa\rrrrr\r\x1b[201~")
    terminal.rest()
    assert "3 waiting" in terminal.text()
    assert not (terminal.project / "shop" / "errors.py").exists()
    leave(terminal)
