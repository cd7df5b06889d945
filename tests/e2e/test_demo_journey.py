"""The demo as a stranger has it: the wheel, a terminal, no word but what the screen says, to green tests."""

import json
import os
import re
import shutil
import subprocess

import pytest

from tests.support.installed import CHECKOUT, install
from tests.support.keys import decide
from tests.support.sizes import rarely
from tests.support.terminal import Terminal, trust
from tests.support.tmux import Tmux

EXAMPLE = CHECKOUT / "workbench" / "examples" / "demo"
MOST_KEYS = 12
"""From the shell line to green, with the pauses of somebody who looks before each key."""
TO_GREEN = (
    ("l", "h l choice", "ctrl+t trust, agents may read"),
    ("\x14", r"ctrl\+t trust, agents may read", "hunk 1 of 3"),
    ("l", "h l hunk", "hunk 2 of 3"),
    (" ", r"space (take/)?leave", "2 taken, 1 left"),
    ("l", "h l hunk", "hunk 3 of 3"),
    ("a", "a approve 2 of 3", "2 waiting"),
)
"""Keys, what the footer calls each of them at that moment, and what each brings."""


def first_words():
    """Return what README's first command line starts, behind the name of the program."""
    line, *_ = re.search(r"```sh\n(.*?)\n```", (CHECKOUT / "README.md").read_text(), re.S)[1].splitlines()
    install_, _, started = line.partition("#")[0].strip().partition(" && ")
    assert install_ == "pip install ."
    name, *words = started.split()
    assert name == "workbench"
    return words


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return install(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def opened(shop, program):
    """Open the installed demo in a terminal of either kind."""
    made = []

    def open_(kind=Terminal, **size):
        place = shop.root / "demo"
        env = {**shop.env(), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
        made.append(
            kind([str(program), *first_words(), "--at", str(place)], cwd=shop.project, env=env, **size)
        )
        made[-1].project = place / "project"
        made[-1].pressed = 0
        return made[-1]

    yield open_
    for terminal in made:
        terminal.close()


def clear(terminal):
    """Empty the composer of what was typed ahead, which enter would send: ctrl+u, and the line before it."""
    for key in "\x15\x7f":
        terminal.press(key)
        terminal.rest()


def press(terminal, key, name, *wanted):
    """Press a key that the last row of the screen names, one that decides twice; wait for what it brings."""
    terminal.rest()
    shown = terminal.text().rstrip().splitlines()
    assert re.search(rf"(^| ){name}", shown[-1]), (key, name, shown[-1])
    if key == "a":
        decide(terminal, key)
    else:
        terminal.press(key)
    terminal.pressed += 1
    return terminal.until(*wanted) if wanted else None


def approve(terminal, waiting, left):
    """Approve by one key, as all that waits here is seen."""
    press(terminal, "a", "a (approve|run outside)")
    terminal.until(left, gone=(waiting,))


def to_green(terminal, is_narrow):
    """Go on from the first waiting action behind the edit, until the tests are green."""
    approve(terminal, "2 waiting", "1 waiting")
    approve(terminal, "1 waiting", "nothing waits")
    if is_narrow:
        assert "1 Conversation" in terminal.text()
        for key in ("\x1b", "1"):
            terminal.rest()
            terminal.press(key)
            terminal.pressed += 1
    terminal.until("All three tests are green")


def leave(terminal):
    """Leave by the key that the help names; the program says what became of the demo."""
    terminal.rest()
    terminal.press("\x1b")
    terminal.rest()
    decide(terminal, "q")
    assert terminal.wait() == 0


def require_exactly_what_was_approved(project):
    """Compare every file: two of three hunks, the new file, and nothing else."""
    recording = json.loads((EXAMPLE / "recording.json").read_text())
    calls = {
        part["tool_call"]["id"]: part["tool_call"]["arguments"]
        for exchange in recording["exchanges"]
        for part in exchange["reply"]
        if "tool_call" in part
    }
    wanted = {
        str(path.relative_to(EXAMPLE / "project")): path.read_bytes()
        for path in (EXAMPLE / "project").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    edit = calls["edit"]
    after = edit["new_string"].replace("def patterns(", "def paths(")
    assert after != edit["new_string"]
    router = wanted["shop/router.py"]
    assert router.count(edit["old_string"].encode()) == 1
    wanted["shop/router.py"] = router.replace(edit["old_string"].encode(), after.encode())
    wanted["shop/errors.py"] = calls["file"]["content"].encode()
    found = {
        str(path.relative_to(project)): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found == wanted


@pytest.mark.parametrize("columns, rows", [pytest.param(120, 36, id="120x36"), rarely(80, 24, name="80x24")])
def test_two_of_three_hunks_make_the_tests_green_with_keys_that_the_screen_names(opened, columns, rows):
    terminal = opened(columns=columns, rows=rows)
    shown = terminal.until("trust this workspace", "1 waiting")
    assert "No model is set up" not in shown and "no model yet" not in shown
    for key, name, wanted in TO_GREEN:
        press(terminal, key, name, wanted)
    to_green(terminal, is_narrow=columns < 100)
    assert terminal.pressed <= MOST_KEYS
    leave(terminal)
    require_exactly_what_was_approved(terminal.project)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed here; .ci/run installs it")
def test_in_tmux_a_resize_and_a_killed_screen_change_nothing(opened):
    terminal = opened(Tmux, columns=120, rows=36)
    terminal.press("aaaa")  # typed before anything is drawn: it may decide nothing
    terminal.until("trust this workspace", "1 waiting")
    terminal.rest()
    assert "1 waiting" in terminal.text()
    clear(terminal)
    for key, name, wanted in TO_GREEN[:2]:
        press(terminal, key, name, wanted)
    terminal.resize(80, 24)
    terminal.until("3 Tools", "3 waiting")
    for key, name, wanted in TO_GREEN[2:]:
        press(terminal, key, name, wanted)
    terminal.kill()
    terminal.again()
    shown = terminal.until("2 waiting", "shop/errors.py")
    assert "2 of 3" in shown
    press(terminal, "\r", "enter to what waits", "a approve")
    to_green(terminal, is_narrow=True)
    leave(terminal)
    require_exactly_what_was_approved(terminal.project)


def test_keys_typed_ahead_of_every_row_approve_nothing(opened):
    terminal = opened()
    terminal.press("\raTaTaT\x14\x14")
    terminal.until("trust this workspace", "1 waiting")
    terminal.rest()
    assert "1 waiting" in terminal.text()
    clear(terminal)
    trust(terminal)
    terminal.press("aaaaaaaaaa")
    terminal.until("3 waiting")
    terminal.rest()
    terminal.press("i")
    for keys in ("\raaaaaaaaaa", "\raTaTaT\x14", "\rnaaaa"):
        clear(terminal)
        press(terminal, keys, "enter to what waits", "hunk 1 of 3")
        terminal.rest()
        assert "3 waiting" in terminal.text(), keys
        terminal.press("i")
    assert not (terminal.project / "shop" / "errors.py").exists()


def test_the_installed_program_has_its_documentation_and_its_manual_page(shop, program):
    done = subprocess.run(
        [program, "docs", "settings"], cwd=shop.project, env=shop.env(), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("# Settings\n")
    folder = program.parents[1]
    assert (folder / "share" / "man" / "man1" / "workbench.1").read_text().startswith('.\\"')
    assert not list(folder.rglob("workbench/docs/**/*.py"))
