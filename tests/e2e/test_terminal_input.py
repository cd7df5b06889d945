"""What a terminal sends to the installed program: pastes of every kind, and sequences that make no sense."""

import json
import sys

import pytest

from tests.support.chat_server import ChatServer, said
from tests.support.terminal import Terminal
from workbench.text.safe import safe_text

START, END = "\x1b[200~", "\x1b[201~"
FIRST_PAGE = "Agents ask."
ODD = (
    "\x1b[1;1:3A",
    "\x1b[97;1:3u",
    "\x1b[97:65;2u",
    "\x1b[48;36;120;0;0t",
    "\x1b[<35;5;5M",
    "\x1b[999999999999u",
)
FAILS_TO_READ = """
import sys
from workbench.tui.terminal_input import TerminalInput
def broken(self, data, at, **more):
    raise RuntimeError("it broke")
TerminalInput.feed = broken
from workbench.cli.main import main
sys.exit(main([]))
"""
ENDS_UNASKED = """
import sys
from workbench.tui.main.screen import MainScreen
MainScreen.action_do = lambda self, key_id: self.app.panic("it ended")
from workbench.cli.main import main
sys.exit(main([]))
"""


@pytest.fixture
def server():
    with ChatServer(otherwise=said("Fine.")) as made:
        yield made


@pytest.fixture
def opened(shop, server):
    made = []

    def open_(argv=None, **env):
        model = {"kind": "openai-compatible", "base_url": server.base_url, "model": "m"}
        shop.home.mkdir(mode=0o700)
        (shop.home / "config.json").write_text(
            json.dumps({"config_version": 1, "providers": {"local": model}})
        )
        made.append(Terminal(argv or shop.argv(), cwd=shop.project, env=shop.env(**env)))
        made[-1].until(FIRST_PAGE, "enter to what waits")
        return made[-1]

    yield open_
    for terminal in made:
        terminal.close()


def prompts(server):
    """Return what humans wrote, as the server was asked for it last."""
    chats = [asked.json for asked in server.asked if asked.path.endswith("/chat/completions")]
    return (
        [message["content"] for message in chats[-1]["messages"] if message["role"] == "user"]
        if chats
        else []
    )


def test_a_paste_with_escapes_and_line_ends_sends_nothing_and_keeps_its_order(opened, server):
    terminal = opened()
    content = " fix this: \x1b[31mERROR \x1b[0m in a.py\r\nsecond line of the log \x1b[201 and \x1b!"
    first, _, rest = content.partition("[201")
    terminal.press(START + first)
    terminal.pump(0.3)  # longer than the key esc waits
    terminal.press(f"[201{rest}{END}")
    terminal.until("fix this:", "ERROR", "in a.py", "second line of the log", "[201", "!")
    assert prompts(server) == []
    terminal.press("\r")
    terminal.until("Fine.")
    assert prompts(server) == [safe_text(content.replace("\r\n", "\n")).strip()]


def test_thirty_lines_without_brackets_are_one_prompt_once_enter_is_pressed(opened, server):
    terminal = opened()
    lines = "".join(f"line {number} of thirty\r" for number in range(30))
    terminal.press(lines)
    terminal.until("line 29 of thirty")
    terminal.rest()
    assert prompts(server) == []
    terminal.press("\r")
    terminal.until("Fine.")
    assert [prompt.strip() for prompt in prompts(server)] == [lines.replace("\r", "\n").strip()]


def test_a_lost_end_mark_and_odd_sequences_leave_a_keyboard_that_works(opened, server):
    terminal = opened()
    for sequence in ODD:
        terminal.press(sequence)
    terminal.press("ok: ")
    terminal.until("ok:")
    terminal.press(f"{START}alpha\r\nbeta hello\r")
    terminal.until("A paste has no end mark yet")
    assert "alpha" not in terminal.text()
    for _ in range(20):
        terminal.press("\x03")
        if terminal.shows("ok: alpha", "beta hello", seconds=0.5):
            break
    terminal.press("gamma")
    terminal.until("ok: alpha", "beta hello", "gamma")
    assert prompts(server) == []
    terminal.rest()
    terminal.press("\r")
    terminal.until("Fine.")
    assert prompts(server) == ["ok: alpha\nbeta hello\ngamma"]


@pytest.mark.parametrize("script", [FAILS_TO_READ, ENDS_UNASKED], ids=["reading fails", "ends unasked"])
def test_an_end_that_nobody_asked_for_exits_1_and_names_the_log(shop, opened, script):
    terminal = opened([sys.executable, "-c", script])
    terminal.press("\x07")
    assert terminal.wait() == 1
    terminal.until("Something failed that should not: RuntimeError", "The log is", gone=("Traceback",))
    assert "RuntimeError: " in (shop.home / "logs" / "cli.log").read_text()


def test_variables_of_the_framework_in_the_environment_change_nothing(shop, opened):
    log = shop.root / "textual.log"
    terminal = opened(TEXTUAL_DRIVER="x:y", TEXTUAL_LOG=str(log), TEXTUAL="debug", TEXTUAL_PRESS="q,q")
    terminal.press("hello")
    terminal.until("hello")
    assert not log.exists()
