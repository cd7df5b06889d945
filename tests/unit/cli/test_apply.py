"""`workbench apply` and `workbench FILE.patch`: what is read, asked, said and refused."""

import io
import json
import sys

import pytest

from tests.support.stage import Stage, recording
from tests.unit.cli.conftest import Screen
from workbench.cli import apply, approvals, open_file
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch, parse_invocation
from workbench.domain.events import PatchRequested

EDIT = "--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-x\n+y\n"
TWO_WAYS = "--- src/a\n+++ src/a\n@@ -1 +1 @@\n-x\n+y\n"


class Input(io.TextIOWrapper):
    """Standard input with these bytes; a terminal if told so."""

    def __init__(self, data=b"", *, is_terminal=False):
        super().__init__(io.BytesIO(data))
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


@pytest.fixture
def stage(tmp_path, monkeypatch):
    found = Stage(tmp_path / "stage", recording(), files={"src/a": "x\n", "a": "x\n", "other": "x\n"})

    def drive(_journal, _console, session_ids):
        (found.session_id,) = session_ids
        found.drive()

    monkeypatch.setenv("WORKBENCH_HOME", str(found.home.path))
    for module in (apply, approvals):
        monkeypatch.setattr(module, "start_hosts", drive)
    yield found
    found.close()


@pytest.fixture
def run(shell, stage, monkeypatch):
    """Run a command on the stage's workspace, with a patch in a file or on standard input."""

    def run_command(*words, patch=EDIT, given=None):
        (stage.root / "fix.patch").write_text(patch)
        monkeypatch.chdir(stage.workspace)
        monkeypatch.setattr(sys, "stdin", Input((given or "").encode()))
        return shell("apply", *words)

    return run_command


def test_a_patch_waits_and_the_command_says_how_to_answer(run, shell, stage):
    assert run(str(stage.root / "fix.patch")) == 3
    (row,) = stage.waiting()
    assert shell.out.splitlines() == [
        "  modify src/a  +1 -1",
        "It waits for an answer; nothing was written.",
        f"  workbench approvals show {row.id[:8]}",
        f"  workbench approvals approve {row.id[:8]}",
    ]
    assert (stage.session().title, stage.read("src/a")) == ("patch fix.patch", b"x\n")
    assert shell("approvals", "approve", row.id) == 0
    assert stage.read("src/a") == b"y\n"


def test_a_patch_is_read_from_standard_input(run, shell, stage):
    assert run("-", "--json", given=EDIT) == 3
    (row,) = stage.waiting()
    assert json.loads(shell.out) == {
        "patch": "", "strip": 1, "action": row.id, "session": stage.session_id,
        "files": [{"path": "src/a", "change": "modify", "moved_from": None, "added": 1, "removed": 1}],
    }  # fmt: skip
    (request,) = stage.bodies(PatchRequested)
    assert request.parameters == {"patch": EDIT, "strip": 1}


def test_a_dry_run_asks_for_nothing(run, shell, stage):
    move = "diff --git a/a b/d\nrename from a\nrename to d\n"
    assert run("-", "--dry-run", given=move + EDIT) == 0
    assert shell.out.splitlines() == ["  move d (from a)  +0 -0", "  modify src/a  +1 -1"]
    assert stage.journal.sessions() == []


def test_what_does_not_fit_is_said_line_by_line(run, shell, stage):
    wrong = EDIT.replace("-x", "-was") + "--- a/gone\n+++ b/gone\n@@ -1 +1 @@\n-x\n+y\n"
    assert run("-", given=wrong) == 1
    assert shell.err.splitlines() == [
        "Nothing was proposed. The patch does not fit:",
        "  src/a: hunk 1 (line 3 of the patch) does not fit: line 1 is “x” now, the patch has “was”",
        "  gone: it does not exist (line 6 of the patch)",
    ]
    assert run(str(stage.root / "fix.patch"), patch=EDIT + "@@ -x +1 @@\n") == 1
    assert shell.err.splitlines() == [
        "Nothing was proposed. The patch fix.patch does not fit:",
        "  it cannot be read: line 6: the numbers of this hunk cannot be read",
    ]
    assert stage.journal.sessions() == []


@pytest.mark.parametrize(
    ("words", "given", "why"),
    [
        (("-",), "", "The patch is empty."),
        (("-",), " \n", "The patch is empty."),
        (("-",), "#" * 1_000_001, "The patch is longer than 1,000,000 bytes."),
        (("nothing.patch",), "", "There is no file nothing.patch."),
        (("src",), "", "src:"),
        (("-", "-p", "21"), EDIT, "'21' is not a whole number from 0 to 20"),
        (("-", "-p", "x"), EDIT, "'x' is not a whole number from 0 to 20"),
    ],
)
def test_bad_input_is_refused(run, shell, stage, words, given, why):
    assert run(*words, given=given) in (1, 2)
    assert why in shell.err
    assert stage.journal.sessions() == []


def test_where_both_strip_levels_fit_one_has_to_be_named(run, shell, stage):
    assert run("-", given=TWO_WAYS) == 2
    assert "its paths can be meant in two ways: -p 0 changes src/a; -p 1 changes a" in " ".join(
        shell.err.split()
    ).replace("Its", "its")
    assert "-p 0 or -p 1" in shell.err and stage.journal.sessions() == []
    assert run("-", "-p", "0", given=TWO_WAYS) == 3
    assert stage.waiting()[0].target == "src/a"
    assert run("-", "-p", "1", given=TWO_WAYS) == 3
    assert stage.waiting()[0].target == "a"


@pytest.mark.parametrize(("answer", "target"), [("0", "src/a"), ("1", "a"), ("2", None), ("", None)])
def test_a_person_at_a_terminal_is_asked_for_the_strip_level(stage, monkeypatch, answer, target):
    file = stage.root / "fix.patch"
    file.write_text(TWO_WAYS)
    monkeypatch.setattr(sys, "stdin", Input(f"{answer}\n".encode(), is_terminal=True))
    console = Console(Screen(), Screen())
    code = dispatch(["-C", str(stage.workspace), "apply", str(file)], console)
    assert "How many leading folders are left out? Type 0 or 1: " in console.out.getvalue()
    assert code == (1 if target is None else 3)
    assert [row.target for row in stage.waiting()] == ([] if target is None else [target])


def test_an_agent_may_not_apply_patches(run, shell, stage, monkeypatch):
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    from workbench.effects.process_marks import AGENT_VARIABLE

    monkeypatch.setenv(AGENT_VARIABLE, "x")
    assert run("-", given=EDIT) == 1
    assert stage.journal.sessions() == []


def test_a_file_that_is_named_opens_on_the_screen_with_its_row(stage, monkeypatch):
    opened = []
    monkeypatch.setattr(open_file, "why_no_screen", lambda: "")
    monkeypatch.setattr(
        "workbench.cli.screen.open_screen",
        lambda _console, workspace, session: opened.append((workspace, session)),
    )
    for name in ("fix.patch", "fix.diff", "no-ending"):
        (stage.root / name).write_text(EDIT)
        assert parse_invocation([str(stage.root / name)]).path == ("open",)
        dispatch(["-C", str(stage.workspace), str(stage.root / name)], Console(Screen(), Screen()))
        workspace, stage.session_id = opened.pop()
        assert workspace == str(stage.workspace) and stage.session().title == f"patch {name}"
        stage.drive()
        assert [row.target for row in stage.waiting()] == ["src/a"]
    (stage.root / "fix.patch").write_text("Only words.\n")
    console = Console(Screen(), Screen())
    assert dispatch(["-C", str(stage.workspace), str(stage.root / "fix.patch")], console) == 1
    assert "it is not a unified diff" in console.err.getvalue() and opened == []


def test_without_a_screen_the_other_command_is_named(shell, stage):
    (stage.root / "fix.patch").write_text(EDIT)
    assert shell(str(stage.root / "fix.patch")) == 1
    assert "workbench apply FILE" in shell.err and stage.journal.sessions() == []
