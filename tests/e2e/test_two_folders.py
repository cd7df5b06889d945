"""One screen, two folders, a background process in each: what is answered here is written there."""

import shutil

import pytest

from tests.support.keys import decide
from tests.support.terminal import Terminal, leave
from tests.support.waits import PATIENCE, until


@pytest.fixture
def opened(shop):
    made = []

    def open_(*words):
        made.append(Terminal(shop.argv(*words), cwd=shop.project, env=shop.env(), columns=160, rows=40))
        return made[-1]

    yield open_
    for terminal in made:
        terminal.close()


def park(shop, folder, prompt):
    """Let an agent ask in a folder; it waits there and nobody drives it."""
    folder.mkdir(exist_ok=True)
    words = ("run", "-p", prompt, "--provider", "recorded", "--recording", str(shop.recording))
    assert shop.start(*words, "--on-approval", "park", cwd=folder).wait(PATIENCE) == 3


def go_to(terminal, *wanted):
    """Go from row to row that waits until all texts are shown."""
    for _ in range(8):
        terminal.rest()
        if all(text in terminal.text() for text in wanted):
            return
        terminal.press("n")
    terminal.until(*wanted)


def written(path):
    until(path.exists)
    return path.read_text()


def hosts(shop):
    return {host["workspace"] for host in shop.json("host", "status", "--all") if host["state"] == "running"}


def test_an_answer_for_another_folder_is_carried_out_by_a_process_of_that_folder(shop, opened):
    there = shop.root / "pipes"
    park(shop, shop.project, "work here")
    park(shop, there, "work there")
    terminal = opened()
    terminal.until("3 wait in other folders", gone=("all folders",))
    terminal.press("\x1b")
    terminal.rest()
    terminal.press("w")
    terminal.until("all folders", "pipes", "project")
    go_to(terminal, "│ folder  /", "hello.py +1", "a approve")
    terminal.press("1")
    terminal.until("pipes: work there", "in pipes, @file")
    terminal.press("2")
    terminal.rest()
    decide(terminal, "a")
    assert written(there / "hello.py") == "print('hello')\n"
    assert not (shop.project / "hello.py").exists()
    terminal.until("✓ pipes")
    assert hosts(shop) == {str(shop.project), str(there)}
    leave(terminal)
    again = opened()
    again.until("all folders")
    leave(again)


def test_rows_of_a_folder_that_was_deleted_are_still_there_and_can_only_be_rejected(shop, opened):
    there = shop.root / "pipes"
    park(shop, there, "work there")
    shutil.rmtree(there)
    there.write_text("a file now")
    terminal = opened("--all")
    terminal.until("all folders", "folder is gone")
    terminal.press("\x1b")
    go_to(terminal, "folder is gone  ", "hello.py +1")
    decide(terminal, "a")
    terminal.until("Not approved.", "a file is there")
    terminal.rest()
    decide(terminal, "r")
    terminal.until("∅ pipes")
    assert there.read_text() == "a file now"
    leave(terminal)
