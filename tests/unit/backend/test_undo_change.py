"""The undo of one change from the screen waits for it, and says whether the files are as before."""

import pytest

from tests.support.stage import Stage, call, exchange, recording, text
from workbench.backend.library import LocalLibrary
from workbench.domain.values import Refused
from workbench.tui.backend import error_text

CREATE = call("c1", "create_file", path="n.txt", content="new\n")


@pytest.fixture
def stage(tmp_path, monkeypatch):
    found = Stage(
        tmp_path / "stage", recording(exchange(CREATE), exchange(text("ok"))), files={"a.txt": "a\n"}
    )
    found.begin("write it").drive()
    found.approve(found.waiting()[0])
    found.drive()
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *about: found.drive())
    yield found
    found.close()


@pytest.fixture
def undo(stage):
    library = LocalLibrary(stage.home, stage.journal, str(stage.workspace))
    action = next(action for action in stage.journal.actions() if action.target == "n.txt")
    return lambda: library.undo_change(action.id)


def test_it_is_said_once_the_files_are_as_before(stage, undo):
    assert undo() == "Undone: write n.txt."
    assert not (stage.workspace / "n.txt").exists()


def test_an_undo_that_the_driver_refuses_names_the_reason(stage, undo):
    (stage.workspace / "n.txt").write_text("mine\n")
    with pytest.raises(Refused) as refused:
        undo()
    words = error_text(refused.value)
    assert words.startswith("Not undone: write n.txt. ") and "n.txt" in words.removeprefix(
        "Not undone: write n.txt."
    )
    assert (stage.workspace / "n.txt").read_text() == "mine\n"
