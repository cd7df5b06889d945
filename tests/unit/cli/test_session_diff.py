"""`sessions diff`: what git applies, without secrets unless they are asked for, with what sub-agents changed."""

import json
import os
import subprocess

import pytest

from tests.support.stage import Stage, call, exchange, recording, text
from workbench.cli import session_diff
from workbench.cli.errors import Refusal

SECRET = "AKIA" + "Q3EGPXWTV6RYNB2Z"
EDIT = call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\r\n")
CREATE = call("c2", "create_file", path="sub/n.txt", content="new\n")
AGAIN = call("c3", "replace_string_in_file", path="a.txt", old_string="a\n", new_string="first\n")
KEY = call("c4", "create_file", path="key.py", content=f'KEY = "{SECRET}"\n')


@pytest.fixture
def stage(tmp_path, monkeypatch):
    script = recording(
        exchange(EDIT, CREATE), exchange(AGAIN, KEY), exchange(text("ok")), exchange(text("ok"))
    )
    found = Stage(tmp_path / "stage", script, files={"a.txt": "a\nb\nc\n"})
    found.begin("change it").drive()
    while waiting := found.waiting():
        for action in waiting:
            found.approve(action)
        found.drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(found.home.path))
    yield found
    found.close()


def git_apply(folder, patch, *words):
    hidden = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_DIR": os.devnull,
    }
    return subprocess.run(
        ["git", "apply", *words], cwd=folder, input=patch, env=hidden, capture_output=True, check=False
    )


def test_git_takes_all_of_it_back_and_makes_it_again(shell, stage):
    assert shell("sessions", "diff", stage.session_id, "--exact") == 0
    patch = shell.out.encode()
    for words in (["--check", "--reverse"], ["--reverse"], ["--check"], []):
        done = git_apply(stage.workspace, patch, *words)
        assert done.returncode == 0, done.stderr
        if words == ["--reverse"]:
            assert stage.read("a.txt") == b"a\nb\nc\n" and not (stage.workspace / "sub/n.txt").exists()
    assert stage.read("a.txt") == b"first\nB\r\nc\n"


def test_a_secret_is_replaced_and_that_is_said(shell, stage):
    assert shell("sessions", "diff", stage.session_id) == 0
    assert SECRET not in shell.out and "key.py" in shell.out
    assert "git cannot apply 1 file (key.py): secrets are replaced" in shell.err
    assert shell("sessions", "diff", stage.session_id, "--exact") == 0
    assert SECRET in shell.out and "cannot apply" not in shell.err


def test_no_agent_reads_exact_bytes(shell, stage, monkeypatch):
    def refused(journal, home, what):
        raise Refusal("nothing was done", f"an agent may not {what}", "")

    monkeypatch.setattr(session_diff, "refuse_inside_agents", refused)
    assert shell("sessions", "diff", stage.session_id, "--exact") == 1
    assert shell.out == "" and "read exact bytes" in shell.err
    assert shell("sessions", "diff", stage.session_id) == 0


def test_one_file_a_folder_and_a_wrong_name(shell, stage):
    assert shell("sessions", "diff", stage.session_id, "--", "sub") == 0
    assert shell.out.splitlines()[:3] == [
        "diff --git a/sub/n.txt b/sub/n.txt",
        "new file mode 100644",
        "--- /dev/null",
    ]
    assert "a.txt" not in shell.out
    assert shell("sessions", "diff", stage.session_id, "--", "nothing.txt") == 2
    assert "nothing.txt" in shell.err


def test_stat_and_json_count_the_same(shell, stage):
    assert shell("sessions", "diff", stage.session_id, "--stat") == 0
    assert shell.out.splitlines()[-1] == " 3 files changed, 4 lines added, 2 removed"
    facts = shell.json("sessions", "diff", stage.session_id, "--json")
    assert {row["path"]: (row["change"], row["added"], row["removed"]) for row in facts["files"]} == {
        "a.txt": ("modify", 2, 2), "sub/n.txt": ("create", 1, 0), "key.py": ("create", 1, 0),
    }  # fmt: skip


def test_what_was_shown_is_told_where_the_bytes_are_no_longer_kept(shell, stage, tmp_path):
    for path in (stage.home.path / "blobs" / "sealed").rglob("*"):
        if path.is_file():
            path.unlink()
    assert shell("sessions", "diff", stage.session_id, "--", "a.txt", "sub") == 0
    (tmp_path / "a.txt").write_bytes(b"a\nb\nc\n")
    done = git_apply(tmp_path, shell.out.encode())
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.txt").read_bytes() == b"first\nB\r\nc\n" and (
        tmp_path / "sub/n.txt"
    ).read_bytes() == b"new\n"


def claude_lines(session, calls, side=None):
    """Return lines of Claude Code that make some edits."""
    about = {"sessionId": session, "cwd": "/home/u/shop", "version": "2.0.1"}
    about |= {"isSidechain": True, "agentId": side} if side else {}
    lines = [{"type": "user", "message": {"role": "user", "content": "do it"}}]
    for number, (tool, asked, outcome) in enumerate(calls):
        key = f"t{side or ''}{number}"
        lines.append({"type": "assistant", "message": {"id": f"m{key}", "role": "assistant", "model": "claude-x", "content": [
            {"type": "tool_use", "id": key, "name": tool, "input": asked}]}})  # fmt: skip
        lines.append({"type": "user", "toolUseResult": outcome, "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": key, "content": "done"}]}})  # fmt: skip
    for number, line in enumerate(lines):
        line |= {**about, "uuid": f"{side or 'u'}{number}", "timestamp": f"2026-01-01T10:00:{number:02}Z"}
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def patch(start, *lines):
    old, new = (sum(line[0] in signs for line in lines) for signs in (" -", " +"))
    return {
        "structuredPatch": [
            {"oldStart": start, "oldLines": old, "newStart": start, "newLines": new, "lines": list(lines)}
        ]
    }


@pytest.fixture
def imported(tmp_path, monkeypatch, shell):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    folder = tmp_path / "logs"
    (folder / "main" / "subagents").mkdir(parents=True)
    edit = {"file_path": "/home/u/shop/app.py", "old_string": "two", "new_string": "TWO"}
    (folder / "main.jsonl").write_text(claude_lines("main", [
        ("Edit", edit, patch(2, " two", "-three", "+THREE", " four", " five")),
        ("Write", {"file_path": "/tmp/notes.md", "content": "x\n"}, {"type": "create", "originalFile": None}),
    ]))  # fmt: skip
    below = claude_lines("main", [("Edit", edit, patch(4, " four", "-five", "+FIVE"))], side="helper")
    (folder / "main" / "subagents" / "agent-helper.jsonl").write_text(below)
    assert shell("sessions", "import", str(folder)) == 0
    listed = shell.json("sessions", "list", "--all", "--json")
    rows = listed["sessions"] if isinstance(listed, dict) else listed
    return next(row["id"] for row in rows if not row.get("parent_id"))


def test_hunks_of_a_foreign_session_and_of_its_agent_are_one_diff(shell, imported, tmp_path):
    assert shell("sessions", "diff", imported) == 0
    assert "1 file outside its folder not shown: add --outside" in shell.err
    (tmp_path / "app.py").write_text("one\ntwo\nthree\nfour\nfive\n")
    done = git_apply(tmp_path, shell.out.encode())
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "app.py").read_text() == "one\ntwo\nTHREE\nfour\nFIVE\n"
    assert shell("sessions", "diff", imported, "--alone") == 0
    assert "FIVE" not in shell.out
    assert shell("sessions", "diff", imported, "--outside") == 0
    assert "diff --git a//tmp/notes.md b//tmp/notes.md" in shell.out
