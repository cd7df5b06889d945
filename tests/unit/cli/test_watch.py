"""`approvals watch` for programs: one line a change, nothing read, ended by ctrl+c."""

import json
import sys

import pytest
from conftest import Stream

from workbench.cli.approval_line_mode import LINE_HELP
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch

CALL = {"id": "n", "name": "create_file", "arguments": {"path": "n.py", "content": "x\n"}}


class Reactive(Stream):
    """Calls back for every whole line."""

    def __init__(self, react):
        super().__init__()
        self.react = react

    def flush(self):
        lines = self.getvalue().splitlines()
        self.react([json.loads(line) for line in lines])


def test_changes_as_lines_of_json(shell, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    shell(
        "run",
        "-p",
        "x",
        "--recording",
        shell.recording({"reply": [{"tool_call": CALL}]}),
        "--on-approval",
        "park",
    )
    asked = set()

    def react(lines):
        changes = [(line["change"], line["action"]["kind"]) for line in lines]
        if changes[-1] == ("opened", "trust") and not asked:
            asked.add(1)
            row = next(line["action"] for line in lines if line["action"]["kind"] == "tool")
            assert shell("approvals", "reject", row["id"]) == 0
        if changes[-1] == ("rejected", "tool"):
            raise KeyboardInterrupt

    console = Console(Reactive(react), Stream())
    assert dispatch(["approvals", "watch", "--json"], console) == 130
    lines = [json.loads(line) for line in console.out.getvalue().splitlines()]
    assert [(line["change"], line["action"]["state"]) for line in lines] == [
        ("opened", "pending"), ("opened", "pending"), ("rejected", "rejected"),
    ]  # fmt: skip
    assert all(line["at"].endswith("Z") for line in lines) and console.err.getvalue() == ""


@pytest.fixture
def piped(monkeypatch, tmp_path):
    """Put lines behind standard input."""
    files = []

    def put(lines):
        path = tmp_path / "typed"
        path.write_text(lines)
        files.append(path.open())
        monkeypatch.setattr(sys, "stdin", files[-1])

    yield put
    for file in files:
        file.close()


@pytest.mark.parametrize("words", [("approvals", "watch"), ("--plain",), ("--plain", ".")])
def test_an_empty_queue_says_so_answers_and_ends_with_its_input(shell, piped, words):
    piped("l\n?\n")
    assert shell(*words) == 0
    assert shell.out == f"Nothing waits.\nNothing waits.\n{LINE_HELP}\n"


def test_lines_from_a_pipe_answer_what_was_shown(shell, monkeypatch, piped):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    recording = shell.recording({"reply": [{"tool_call": CALL}]})
    shell("run", "-p", "x", "--recording", recording, "--on-approval", "park")
    piped("a 1\nr 1 not now")
    assert shell("approvals", "watch") == 0
    assert "was not shown before, so it still waits" in shell.out and "1 rejected, write n.py." in shell.out


def test_a_closed_input_is_the_end(shell, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert shell("approvals", "watch") == 0
    assert shell.out == "Nothing waits.\n"
