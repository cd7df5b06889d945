"""`workbench sandbox status` and `try`: what holds commands here, and a command that is held."""

import errno
import os
import signal
import subprocess
import sys
import tempfile

import pytest
from conftest import Screen
from msgspec.structs import replace

from tests.support import boxes
from workbench.cli import sandbox as module
from workbench.effects.sandbox import Sandbox
from workbench.journal.home import default_home_path


@pytest.fixture
def here(shell, monkeypatch):
    """A shell on a machine with a full sandbox."""
    boxes.sandbox()
    monkeypatch.delenv("WORKBENCH_SANDBOX_BACKEND")
    monkeypatch.chdir(shell.workspace)
    return shell


def test_the_status_of_a_machine_with_a_full_sandbox(here):
    (here.workspace / ".envrc").write_text("x")
    assert here("sandbox", "status") == 0
    lines = here.out.splitlines()
    assert lines[0].startswith("Sandbox: bubblewrap ") and "and the network" in lines[1]
    assert lines[2:4] == [
        "Level: workspace", "  Commands can write only in the workspace, and have no network.",
    ]  # fmt: skip
    assert lines[4:6] == ["They can write:", f"  {here.workspace}"]
    assert [line for line in lines if len(line) > 80 and not line.startswith("  /")] == []
    assert f"  {here.workspace}/.envrc" in lines
    facts = here.json("sandbox", "status", "--json")
    assert (facts["backend"], facts["strength"], facts["level"]) == ("bubblewrap", "full", "workspace")
    assert facts["closed"] == [f"{here.workspace}/.envrc"] and facts["writable"] == [str(here.workspace)]
    assert facts["problem"] == facts["remedy"] == facts["unavailable"] == "" and facts["version"]


def test_asking_for_the_status_leaves_no_box_that_never_ended(here):
    default_home_path(os.environ).mkdir(parents=True, exist_ok=True)
    here("sandbox", "status")
    (here.workspace / ".envrc").write_text("x")
    assert here("sandbox", "try", "--", "true") == 0
    assert (here.workspace / ".envrc").exists()


def test_the_status_of_a_machine_without_one_says_what_to_do(shell, monkeypatch):
    found = Sandbox(backend="landlock", problem="bubblewrap is not installed", remedy="install it")
    monkeypatch.setattr(module, "prove_sandbox_once", lambda choice: found)
    monkeypatch.chdir(shell.workspace)
    shell("sandbox", "status")
    assert "Why not full: bubblewrap is not installed." in shell.out
    assert "What helps: install it." in shell.out
    assert "ask as without a sandbox" in shell.out
    (shell.workspace / ".envrc").write_text("x")
    shell("sandbox", "status")
    assert "can read all that you can" in shell.out and "cannot change" not in shell.out
    assert shell.json("sandbox", "status", "--json")["closed"] == []
    monkeypatch.setattr(module, "prove_sandbox_once", lambda choice: replace(found, backend="none"))
    shell("sandbox", "status")
    assert "Commands run as you" in shell.out and "can write" not in shell.out


@pytest.mark.parametrize(
    ("level", "words"), [("read-only", "They can write:\n  a /tmp"), ("outside", "commands run as you.")]
)
def test_the_status_lists_what_a_level_lets_commands_do(here, monkeypatch, level, words):
    monkeypatch.setenv("WORKBENCH_SANDBOX_LEVEL", level)
    (here.workspace / ".envrc").write_text("x")
    here("sandbox", "status")
    assert words in here.out and str(here.workspace) not in here.out
    assert ("They can also read" in here.out) == (level == "read-only")


def test_the_status_follows_the_settings_and_names_a_workspace_without_a_box(here, monkeypatch):
    monkeypatch.setenv("WORKBENCH_SANDBOX_BACKEND", "none")
    monkeypatch.setenv("HOME", str(here.workspace))
    facts = here.json("sandbox", "status", "--json")
    assert facts["backend"] == "none" and "switched off" in facts["problem"]
    assert facts["unavailable"].startswith("The workspace is your home folder")
    assert here("sandbox", "status") == 0
    assert "Not in this workspace: The workspace is your home folder" in here.out


@pytest.mark.parametrize("words", [("status",), ("try", "--", "true")])
def test_settings_that_cannot_be_used_are_named_and_nothing_runs(shell, monkeypatch, words):
    monkeypatch.setenv("WORKBENCH_SANDBOX_LEVEL", "everything")
    shell("sandbox", *words)
    assert '"sandbox.level" must be' in shell.err
    home = default_home_path(os.environ)
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.json").write_text("{")
    assert shell("sandbox", *words) == 1
    assert "cannot be used as it is" in shell.err and shell.out == ""


def test_long_lists_are_cut(here):
    for number in range(30):
        (here.workspace / f"{number}.code-workspace").write_text("{}")
    here("sandbox", "status")
    assert "  and 10 more (all: workbench sandbox status --json)" in here.out
    assert len(here.json("sandbox", "status", "--json")["closed"]) == 30


def test_a_command_is_tried(here):
    assert here("sandbox", "try", "--", "sh", "-c", "echo out; echo err >&2; echo x > made; exit 3") == 3
    assert (here.out, here.err) == ("out\n", "err\n")
    assert (here.workspace / "made").read_text() == "x\n"


def test_the_level_and_the_folder_are_chosen(here):
    (here.workspace / "sub").mkdir()
    assert here("sandbox", "try", "--folder", "sub", "--", "pwd") == 0
    assert here.out == f"{here.workspace}/sub\n"
    assert here("sandbox", "try", "--level", "read-only", "--", "sh", "-c", "echo x > made") != 0
    assert "Read-only file system" in here.err and not (here.workspace / "made").exists()


def test_what_it_leaves_under_a_closed_name_is_moved_and_told(here):
    assert here("sandbox", "try", "--", "sh", "-c", "echo x > .envrc") == 0
    assert not (here.workspace / ".envrc").exists()
    assert "The sandbox refused to create .envrc, which controls the workspace." in here.err
    kept = here.err.rpartition(" is in ")[2].removesuffix(".\n")
    assert (module.Path(kept) / "1" / ".envrc").read_text() == "x\n"


def test_how_it_ended_is_printed_as_an_object(here):
    line = "echo out; echo err >&2; echo x > .envrc; echo x > /etc/new; exit 3"
    found = here.json("sandbox", "try", "--json", "--", "sh", "-c", line)
    assert (found["exit_code"], found["level"], found["backend"]) == (3, "workspace", "bubblewrap")
    assert found["stdout"] == "out\n" and found["stderr"].startswith("err\n") and here.err == ""
    assert [(one["kind"], one["target"]) for one in found["refusals"]] == [
        ("write", "/etc/new"), ("closed", ".envrc"),
    ]  # fmt: skip
    assert (module.Path(found["moved_to"]) / "1" / ".envrc").read_text() == "x\n"
    assert len(found["notes"]) == 3
    quiet = here.json("sandbox", "try", "--json", "--", "true")
    assert (quiet["moved_to"], quiet["notes"], quiet["exit_code"]) == ("", [], 0)
    late = here.json("sandbox", "try", "--json", "--timeout", "0.1", "--", "sleep", "600")
    assert late["exit_code"] == 124 and "It ran longer than 0.1 s" in late["notes"][0]


def test_what_was_refused_is_told(here):
    assert here("sandbox", "try", "--", "sh", "-c", "echo x > /etc/new; curl -sS http://example.com") != 0
    assert "The sandbox refused to write /etc/new, to reach example.com" in here.err
    assert here("sandbox", "try", "--", "true") == 0
    assert here.err == ""


def test_a_signal_is_an_exit_code(here):
    assert here("sandbox", "try", "--", "sh", "-c", "kill -9 $$") == 137


def test_a_program_that_is_not_there_is_named_with_the_path_inside(here, monkeypatch):
    assert here("sandbox", "try", "--", "no-such-program") == 127
    assert here.err.startswith("no-such-program was not found inside. PATH is ") and "/bin" in here.err
    assert here("sandbox", "try", "--", "./no-such-file") == 127
    assert (
        here.err == "./no-such-file was not found inside. workbench sandbox status lists what is visible.\n"
    )
    assert here("sandbox", "try", "--", "/usr") == 126
    assert "/usr cannot be run inside" in here.err


def test_a_program_that_is_only_outside_is_named_with_what_shows_it(here, monkeypatch):
    hidden, shown = here.folder / "elsewhere", here.folder / "in-path"
    hidden.mkdir()
    shown.mkdir()
    (hidden / "my-program").write_text("#!/bin/sh\n")
    (hidden / "my-program").chmod(0o755)
    (shown / "my-program").symlink_to(hidden / "my-program")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{shown}")
    assert here("sandbox", "try", "--", "my-program") == 127
    assert f"Outside it is {hidden}/my-program: add its folder to sandbox.visible" in here.err


@pytest.mark.parametrize("line", ["echo workbench-gate: a >&2", "echo workbench >&2; exit 127", "no-such-program",
                                  "printf 'workbench-gate: a\\nb\\n' >&2; exit 127"])  # fmt: skip
def test_what_a_command_says_itself_is_printed(here, line):
    code = here("sandbox", "try", "--", "sh", "-c", line)
    assert code == (0 if line.startswith("echo workbench-gate") else 127)
    assert here.err and "inside" not in here.err


def test_a_command_that_takes_too_long_is_ended(here):
    assert here("sandbox", "try", "--timeout", "0.1", "--", "sleep", "600") == 124
    assert "It ran longer than 0.1 s and was ended." in here.err
    for seconds in ("0", "-1", "nan", "inf", "soon"):
        assert here("sandbox", "try", "--timeout", seconds, "--", "true") == 2


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGQUIT, 131), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_a_signal_ends_a_command_and_what_it_left_is_moved_out(here, number, code):
    """In a program of its own, which a signal reaches as it does from a terminal."""
    line = "trap '' INT QUIT HUP; echo x > .envrc; echo ready; sleep 600"
    words = (sys.executable, "-m", "workbench", "sandbox", "try", "--", "sh", "-c", line)
    with subprocess.Popen(
        words, cwd=here.workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout.readline() == b"ready\n"
        program.send_signal(number)
        _, told = program.communicate(timeout=60)
    assert program.returncode == code
    assert b"refused to create .envrc" in told and not (here.workspace / ".envrc").exists()


def test_what_a_command_left_is_moved_out_although_nobody_reads_what_it_prints(here):
    words = (sys.executable, "-m", "workbench", "sandbox", "try", "--", "sh", "-c", "echo x > .envrc; yes")
    with subprocess.Popen(
        words, cwd=here.workspace, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as program:
        assert program.stdout.readline() == b"y\n"
        program.stdout.close()
        assert program.wait(60) != 0
    assert not (here.workspace / ".envrc").exists()


def test_denials_of_files_hold_in_what_is_tried(here):
    (here.workspace / ".workbench.json").write_text('{"approvals": {"deny": ["Read(secret.txt)"]}}')
    (here.workspace / "secret.txt").write_text("fabricated")
    assert here("sandbox", "try", "--", "cat", "secret.txt") != 0
    assert "fabricated" not in here.out
    (here.workspace / ".workbench.json").unlink()
    assert here("rules", "add", "Read", "Read(secret.txt)", "--glob", "--effect", "deny", "-d", "no") == 0
    assert here("sandbox", "try", "--", "cat", "secret.txt") != 0


def test_what_a_box_keeps_is_not_in_it_where_the_workspace_holds_the_temporary_folder(here, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(here.workspace))
    assert (
        here("sandbox", "try", "--", "sh", "-c", "ls workbench-sandbox-*/* 2>&1; touch workbench-sandbox-*/x")
        != 0
    )
    assert "caches" not in here.out and os.listdir(here.workspace) == []  # noqa: PTH208


def test_a_limit_of_the_machine_is_said_with_what_helps(here, monkeypatch):
    def full(*_):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(module, "plan_box", full)
    assert here("sandbox", "try", "--", "true") == 1
    assert here.err.splitlines()[-2:] == [
        "Too many open files.",
        "Raise the limit on open files (ulimit -n).",
    ]


def test_a_command_is_not_tried_without_a_sandbox(shell, monkeypatch):
    monkeypatch.chdir(shell.workspace)
    assert shell("sandbox", "try", "--", "true") == 1
    assert "switched off" in shell.err and "The command was not run." in shell.err
    monkeypatch.setenv("WORKBENCH_SANDBOX_LEVEL", "outside")
    assert shell("sandbox", "try", "--", "true") == 2
    assert "choose a level" in shell.err.lower()


def test_by_landlock_it_says_what_is_missing(shell, monkeypatch):
    boxes.sandbox("landlock")
    monkeypatch.chdir(shell.workspace)
    monkeypatch.setenv("WORKBENCH_SANDBOX_BACKEND", "landlock")
    assert shell("sandbox", "try", "--", "sh", "-c", "echo x > made; echo $TMPDIR") == 0
    assert "Commands write nowhere else, have no network" in shell.err
    assert (shell.workspace / "made").exists() and "workbench-sandbox-" in shell.out


def test_an_agent_may_try_and_is_told_nothing_of_its_human(here, monkeypatch):
    (here.folder / "config").mkdir()
    monkeypatch.setenv("WORKBENCH_SANDBOX_LEVEL", "read-only")
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    monkeypatch.delenv("WORKBENCH_HOME")
    assert here.json("sandbox", "status", "--json")["level"] == "workspace"
    assert here("sandbox", "try", "--", "sh", "-c", "echo $WORKBENCH_AGENT") == 0
    assert here.out == "1\n"


def test_nothing_stays_in_the_temporary_folder(here, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(module.temporary_folder.__globals__["tempfile"], "tempdir", None)
    here("sandbox", "try", "--", "true")
    here("sandbox", "status")
    assert not list(tmp_path.glob("workbench-sandbox-*"))


def test_its_output_is_made_safe_on_a_terminal(monkeypatch, capsys):
    screen = Screen()
    printer = module._Printer(screen)
    printer.feed("ä\x1b]0;title\x07".encode()[:1])
    printer.feed("ä\x1b]0;title\x07".encode()[1:])
    printer.close()
    assert "ä" in screen.getvalue() and "\x1b" not in screen.getvalue()
