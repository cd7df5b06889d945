"""However the screen ends, the terminal is given back, nothing secret is on it, and agents go on."""

import json
import os
import re
import shlex
import shutil
import signal
import sys

import pytest

from tests.support.terminal import Terminal
from tests.support.tmux import Tmux
from tests.support.waits import PATIENCE

BREAKS = """
import sys
from workbench.tui.main.screen import MainScreen
def broken(self, key_id):
    token = "ghp_" + "a1B2" * 9
    raise RuntimeError("it broke with " + token)
MainScreen.action_do = broken
from workbench.cli.main import main
sys.exit(main([]))
"""
FIRST_PAGE = "Agents ask."
"""What a screen says where there is no session yet."""
GIVEN_BACK = ("\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l", "\x1b[?1000l")


class Heard(Terminal):
    """A terminal that keeps what was written to it."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.written = ""
        feed = self._stream.feed

        def keep(data):
            self.written += data.decode("utf-8", "replace")
            feed(data)

        self._stream.feed = keep


@pytest.fixture
def opened(shop):
    made = []

    def open_(argv):
        made.append(Heard(argv, cwd=shop.project, env=shop.env()))
        made[-1].until(FIRST_PAGE)
        return made[-1]

    yield open_
    for terminal in made:
        terminal.close()


def test_a_crash_leaves_a_clean_terminal_and_a_scrubbed_log(shop, opened):
    terminal = opened([sys.executable, "-c", BREAKS])
    terminal.press("\x07")
    assert terminal.wait() == 1
    terminal.read_to_end()
    for sequence in GIVEN_BACK:
        assert sequence in terminal.written
    after = terminal.written.rpartition("\x1b[?1049l")[2]
    assert "Something failed that should not: RuntimeError" in after
    assert "Traceback" not in after
    assert "ghp_" not in after
    log = (shop.home / "logs" / "cli.log").read_text()
    assert "it broke with" in log
    assert "ghp_" not in log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_screen_in_order(shop, opened, number):
    terminal = opened(shop.argv())
    os.kill(terminal.process.pid, number)
    assert terminal.wait() == 0, repr(terminal.written[-900:])
    terminal.read_to_end()
    for sequence in GIVEN_BACK:
        assert sequence in terminal.written
    assert not re.search("Traceback|Error", terminal.written)
    assert not list((shop.home / "run").glob("*.screen-*"))


def test_a_screen_whose_terminal_is_gone_ends_though_no_signal_comes(shop, opened):
    terminal = opened(shop.argv())
    os.close(terminal._master)
    terminal._master = os.open(os.devnull, os.O_RDWR)
    assert terminal.process.wait(PATIENCE) is not None
    assert not list((shop.home / "run").glob("*.screen-*"))


def test_it_draws_on_the_terminal_wherever_errors_go_in_the_characters_that_the_locale_names(shop, tmp_path):
    log, env = tmp_path / "errors.log", {**shop.env(), "LC_ALL": "C"}
    argv = ["sh", "-c", f'exec "$0" "$@" 2>"{log}"', *shop.argv()]
    terminal = Heard(argv, cwd=shop.project, env=env)
    try:
        assert terminal.until(FIRST_PAGE).isascii()
        terminal.press("\x11")
        assert terminal.wait() == 0
    finally:
        terminal.close()
    assert log.read_bytes() == b""
    assert all(sequence in terminal.written for sequence in GIVEN_BACK)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="without tmux")
def test_ctrl_z_gives_the_terminal_to_its_shell_and_fg_draws_all_of_it_again(shop):
    window = Tmux(["sh", "-i"], cwd=shop.project, env=shop.env())
    try:
        window.press("PS1='at the ''shell> '\n")
        window.until("at the shell>")
        window.press(shlex.join(shop.argv()) + "\n")
        window.until(FIRST_PAGE, "not trusted yet")
        window.press("\x1a")
        window.until("at the shell>", gone=[FIRST_PAGE])
        window.press("fg\n")
        window.until(FIRST_PAGE, "not trusted yet", "all keys", gone=["at the shell>"])
    finally:
        window.close()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="without tmux")
def test_an_editor_that_is_not_there_leaves_the_screen_whole(shop):
    # A model that is never asked: without one there is nobody to write to, and no composer.
    model = {"kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "model": "none"}
    shop.home.mkdir(mode=0o700)
    (shop.home / "config.json").write_text(json.dumps({"config_version": 1, "providers": {"local": model}}))
    window = Tmux(shop.argv(), cwd=shop.project, env={**shop.env(), "VISUAL": "", "EDITOR": "no-such-editor"})
    try:
        window.until(FIRST_PAGE, "not trusted yet", "enter to what waits")
        window.press("\x0f")
        window.until(
            "no editor “no-such-editor”", FIRST_PAGE, "1 waiting", "not trusted yet", "ctrl+p commands"
        )
    finally:
        window.close()


def test_without_a_shell_above_it_ctrl_z_stops_nothing(shop, opened):
    terminal = opened(shop.argv())
    terminal.press("\x1a")
    terminal.until("this terminal runs workbench alone")
