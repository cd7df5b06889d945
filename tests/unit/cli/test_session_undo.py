"""`sessions undo`: a table first, then all files or none, and back again."""

import pytest

from tests.support.stage import Stage, call, exchange, recording, text
from workbench.cli import session_undo

EDIT = call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\n")
CREATE = call("c2", "create_file", path="n.txt", content="new\n")
RUN = call("c3", "run_in_terminal", command="true")


@pytest.fixture
def stage(tmp_path, monkeypatch):
    found = Stage(
        tmp_path / "stage",
        recording(exchange(EDIT, CREATE, RUN), exchange(text("ok")), exchange(text("ok"))),
        files={"a.txt": "a\nb\n"},
    )
    found.begin("change it").drive()
    while waiting := found.waiting():
        for action in waiting:
            found.approve(action)
        found.drive()
    found.say("and now")
    found.drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(found.home.path))
    monkeypatch.setattr(session_undo, "start_hosts", lambda *about: found.drive())
    yield found
    found.close()


def files(stage):
    return stage.read("a.txt"), (stage.workspace / "n.txt").exists()


def test_a_dry_run_shows_the_table_and_writes_nothing(shell, stage):
    assert shell("sessions", "undo", stage.session_id, "--dry-run", "--diff") == 0
    assert shell.out.splitlines() == [
        "Undo the changes of the session: 2 of 2 taken",
        "  * a.txt  restored  +1 -1",
        "    @@ -1,2 +1,2 @@",
        "     a",
        "    -B",
        "    +b",
        "  * n.txt  removed  +0 -1",
        "    @@ -1,1 +0,0 @@",
        "    -new",
        "1 command ran: what it did is not undone.",
    ]
    assert files(stage) == (b"a\nB\n", True)


def test_it_is_undone_and_restored(shell, stage):
    done = shell.json("sessions", "undo", stage.session_id, "--yes", "--json")
    assert (done["done"], done["turn"], done["commands_not_undone"]) == (True, None, 1)
    assert [(row["path"], row["does"], row["taken"]) for row in done["files"]] == [
        ("a.txt", "restore", True),
        ("n.txt", "remove", True),
    ]
    assert files(stage) == (b"a\nb\n", False)
    assert shell("sessions", "undo", stage.session_id, "--yes") == 0
    assert "are undone already" in shell.out
    assert shell("sessions", "undo", stage.session_id, "--redo", "--turn", "1", "--yes") == 0
    assert "Restored: 2 files of turn 1: a.txt, n.txt." in shell.out
    assert files(stage) == (b"a\nB\n", True)


@pytest.mark.parametrize(
    ("left", "names", "out", "said"),
    [
        ((), (), "", "All its changes were undone: the 2 files that it changed are as before."),
        ((), ("n.txt",), "", "All its changes were undone: the file that it changed is as before."),
        (("--leave", "a.txt"), (), "a.txt", "not shown, because all changes were undone: n.txt"),
        (("--leave", "a.txt"), ("n.txt",), "", "not shown, because all changes were undone: n.txt"),
    ],
)  # fmt: skip
def test_the_diff_of_an_undone_session_names_what_was_undone(shell, stage, left, names, out, said):
    assert shell("sessions", "undo", stage.session_id, *left, "--yes") == 0
    assert shell("sessions", "diff", stage.session_id, "--", *names) == 0
    assert (shell.err.strip(), out in shell.out, bool(shell.out)) == (said, True, bool(out))


def test_files_are_left_and_taken_by_name(shell, stage):
    (stage.workspace / "a.txt").write_text("mine\n")
    assert shell("sessions", "undo", stage.session_id, "--turn", "1", "--leave", "n.txt", "--yes") == 0
    assert "- a.txt  left as it is  +2 -1  changed since by somebody else" in shell.out
    assert files(stage) == (b"mine\n", True)
    assert shell("sessions", "undo", stage.session_id, "--leave", "n.txt", "--take", "a.txt", "--yes") == 0
    assert files(stage) == (b"a\nb\n", True)
    assert shell("sessions", "undo", stage.session_id, "--take", "other.txt", "--yes") == 2
    assert "“other.txt” is not among the files" in shell.err


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--turn", "3"], 2, "it has 2 turns, counted from 1"),
        (["--turn", "0"], 2, "There is no turn 0"),
        (["--leave", "a.txt", "--take", "a.txt"], 2, "“a.txt” is named by --leave and by --take"),
        ([], 2, "There is no terminal to ask at"),
        (["--redo", "--yes"], 0, "Nothing of the session was undone."),
        (["--turn", "-1", "--yes"], 0, "No file to undo in turn 2: it changed none."),
    ],
)
def test_what_cannot_be_undone_is_said(shell, stage, more, code, said):
    assert shell("sessions", "undo", stage.session_id, *more) == code
    assert said.casefold() in (shell.out + shell.err).casefold()
    assert files(stage) == (b"a\nB\n", True)


def test_an_undo_that_the_driver_refuses_is_told(shell, stage, monkeypatch):
    def meanwhile(*about):
        (stage.workspace / "a.txt").write_text("mine\n")
        stage.drive()

    monkeypatch.setattr(session_undo, "start_hosts", meanwhile)
    assert shell("sessions", "undo", stage.session_id, "--yes") == 1
    assert "changed since: a.txt" in shell.err
    assert (stage.workspace / "n.txt").exists()
