"""A session in a git worktree of its own, from the first page: its host killed, the screen left and opened again."""

import os
import signal
from pathlib import Path

import pytest

from tests.support import eight_tasks as tasks
from tests.support.hostile_git import plain
from tests.support.terminal import leave
from tests.support.waits import until
from workbench.journal.home import Home
from workbench.journal.journal import Journal

NEW_SESSION = "\x0e"


def drivers(home, workspace):
    """Return the pids of the hosts of a workspace that live."""
    with Journal.open(Home.open(home)) as journal:
        return [host.pid for host in journal.hosts() if host.workspace == workspace]


@pytest.mark.parametrize("size", [(160, 48)], ids=str)
def test_its_row_is_answered_in_the_screen_of_its_folder_after_a_crash_and_writes_there(shop, size):
    plain(shop.project, "init", "-q", "-b", "main")
    with tasks.desktop(shop, size) as place:
        plain(shop.project, "add", "-A")
        plain(shop.project, "commit", "-qm", "first")
        hands = place.open()
        hands.press(NEW_SESSION)
        hands.sees("its own worktree")
        assert not Path(f"{shop.project}-worktrees").exists()
        place.model.calls(tasks.create("a.txt"))
        hands.write("fix the login")
        hands.press(tasks.ENTER)
        hands.sees("2 waiting", "workbench/fix-the-login")
        folder = Path(f"{shop.project}-worktrees/fix-the-login")
        (pid,) = drivers(shop.home, str(folder))
        os.kill(pid, signal.SIGKILL)
        leave(hands.terminal)
        again = place.kind(shop.argv(), cwd=shop.project, env=shop.env(), columns=size[0], rows=size[1])
        place.opened.append(again)
        hands = tasks.Hands(again)
        hands.sees("2 waiting", "worktree workbench/fix-the-login", "The background process stopped here.")
        hands.press(tasks.QUEUE)
        hands.terminal.until("a.txt 0")
        hands.approve("1 waiting")
        until((folder / "a.txt").exists, lambda: hands.terminal.text())
        # The crash paused it: a human continues it, in its folder.
        hands.press("i")
        hands.write("/continue")
        hands.press(tasks.ENTER)
        hands.sees("Fine.")
    assert not (shop.project / "a.txt").exists()
    (session,) = shop.json("sessions", "list")
    said = shop.call("sessions", "end", session["id"]).stdout
    assert f"Its worktree {folder} stays: 1 path in it would be lost" in " ".join(said.split())
    (folder / "a.txt").unlink()
    assert (
        f"Its worktree {folder} is removed." in shop.call("sessions", "delete", "--yes", session["id"]).stdout
    )
    assert plain(shop.project, "branch", "--format=%(refname:short)") == "main\n"
