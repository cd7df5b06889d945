"""`approvals watch` for programs: one line a change, nothing read, ended by ctrl+c."""

import json

from conftest import Stream

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
    monkeypatch.setattr("workbench.host.lifecycle.ensure_host", lambda *_: None)
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
