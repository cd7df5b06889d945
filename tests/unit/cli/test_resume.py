"""`sessions resume` and `--continue`: which session the screen opens on, and what is said where there is none."""

import os

import pytest

from tests.support.stage import USER
from workbench.cli import resumable_session
from workbench.cli.errors import Refusal
from workbench.domain.events import SessionCreated, SessionStatusChanged
from workbench.journal.home import Home
from workbench.journal.journal import Journal


@pytest.fixture
def journal(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    found = Journal.open(Home.open())
    yield found
    found.close()


def add(journal, key, workspace, *moves, **more):
    created = SessionCreated(
        **{"workspace": str(workspace), "provider": "p", "model": "m", "title": key, **more}
    )
    moved = [SessionStatusChanged(status=status) for status in moves]
    made = [journal.event(one, key, USER) for one in (created, *moved)]
    # What comes from outside is appended as it was recorded.
    journal.append(made, strict="origin" not in more)


@pytest.mark.spec(9)
def test_the_newest_that_can_go_on(journal, shell, tmp_path):
    add(journal, "older", shell.workspace)
    add(journal, "newer", shell.workspace)
    add(journal, "ended", shell.workspace, "initializing", "ready", "completed")
    add(journal, "imported", shell.workspace, session_kind="import", origin="codex")
    add(journal, "elsewhere", tmp_path)
    assert resumable_session.session_to_resume(journal, None, None).id == "newer"
    assert resumable_session.session_to_resume(journal, None, str(tmp_path)).id == "elsewhere"
    assert resumable_session.session_to_resume(journal, "ol", None).id == "older"


@pytest.mark.parametrize(
    "given, why, remedy",
    [
        (None, "can continue", "sessions list --all shows all 3"),
        ("end", "it is completed", "workbench sessions fork ended"),
        ("imp", "it was imported", "workbench sessions fork imported"),
        ("run", "the run of a pipeline", "workbench pipeline resume run"),
        ("none", "no id starts", "sessions list --all"),
    ],
)
def test_what_cannot_go_on(journal, shell, given, why, remedy):
    add(journal, "ended", shell.workspace, "initializing", "ready", "completed")
    add(journal, "imported", shell.workspace, "initializing", session_kind="import", origin="codex")
    add(journal, "run", shell.workspace, session_kind="pipeline")
    with pytest.raises(Refusal) as caught:
        resumable_session.session_to_resume(journal, given, None)
    assert why in caught.value.why and remedy in caught.value.remedy


def test_the_words_of_the_command_line(journal, shell, monkeypatch):
    add(journal, "old", shell.workspace)
    add(journal, "new", shell.workspace)
    shown = []
    monkeypatch.setattr("workbench.cli.screen.require_terminal", lambda: None)
    monkeypatch.setattr("workbench.cli.screen.is_dumb_terminal", lambda: False)
    monkeypatch.setattr("workbench.cli.screen.show_screen", lambda *args: shown.append(args[1::3]))
    here = os.path.realpath(shell.workspace)
    for words in (["--continue"], ["--continue", here], [here, "--continue"], ["-C", here, "--continue"],
                  ["sessions", "resume"], ["sessions", "resume", "old"], [here]):  # fmt: skip
        assert shell(*words) == 0, shell.err
    assert shown == [(here, key) for key in ("new", "new", "new", "new", "new", "old", None)]
    assert shell("--continue", "--plain") == 2 and "no session is on show" in shell.err.casefold()
    assert shell("sessions", "resume", "old", "-C", here) == 2
