"""`workbench check`: one case a line in, one verdict a line out, by the functions of the gate; nothing is done."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from workbench.cli import check
from workbench.cli.check import CHECKS_BY_KIND, check_line


def ask(what, **case):
    return check_line(CHECKS_BY_KIND[what], json.dumps(case).encode())


ALLOW = ["Bash(git log *)", "Bash(head *)", "Bash(npm test)", "Bash(ls*)", "Bash(python -m pytest *)"]


@each_row(
    ("command", "verdict", "commands"),
    [
        ("git log --oneline | head -5", "allow", ["git log --oneline", "head -5"]),
        ("npm test 2>&1 | head -20 && git log", "allow", ["npm test", "head -20", "git log"]),
        ("python -m pytest -q 'a b'", "allow", ["python -m pytest -q a b"]),
        ("lsof", "allow", ["lsof"]),
        ("git logs", "ask", ["git logs"]),
        ("npm test --x", "ask", ["npm test --x"]),
        ("git log | sh", "ask", ["git log", "sh"]),
        ("git log > x", "ask", None),
        ("git log; git push --force", "deny", None),
        ("sudo env A=1 git push", "deny", None),
        ("/usr/bin/git push", "deny", None),
        ("echo $(git push)", "deny", None),
        ("GIT LOG", "ask", ["GIT LOG"]),
    ],
)
def test_a_command(command, verdict, commands):
    found = ask("command", allow=ALLOW, deny=["Bash(git push *)"], command=command)
    assert found["verdict"] == verdict
    assert found["reason"]
    assert commands is None or found["commands"] == commands
    assert (found["rule"] is None) is (verdict == "ask")


def test_a_command_is_denied_behind_a_link(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harmless").symlink_to("/bin/rm")
    found = ask("command", allow=["Bash(./harmless *)"], deny=["Bash(rm *)"], command="./harmless x")
    assert found["verdict"] == "deny"


@pytest.mark.parametrize(
    ("op", "path", "verdict", "resolved"),
    [
        ("read_file", "a/../b", "allow", "b"),
        ("context.read", ".git/config", "allow", ".git/config"),
        ("create_file", ".git/config", "deny", ".git/config"),
        ("create_file", "../x", "deny", "../x"),
        ("read_file", "home/key", "deny", "home/key"),
        ("read_file", "a\0", "deny", None),
    ],
)
def test_a_path(tmp_path, monkeypatch, op, path, verdict, resolved):
    from workbench.cli import check

    check._protected_folders.cache_clear()
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    found = ask("path", workspace=str(tmp_path), op=op, path=path)
    check._protected_folders.cache_clear()
    wanted = None if resolved is None else os.path.normpath(tmp_path / resolved)
    assert (found["verdict"], found["resolved"]) == (verdict, wanted)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        ('"path":"src/', "accept"),
        (".*", "reject_blanket"),
        ("(a+)+$", "reject_redos"),
        ("(", "reject_invalid"),
        ("(?=a)", "reject_invalid"),
        ("a{99999999999999999999}", "reject_invalid"),
        ("(" * 5000 + ")" * 5000, "reject_invalid"),
    ],
)
def test_a_rule(pattern, verdict):
    assert ask("rule", tool="read_file", pattern=pattern)["verdict"] == verdict
    assert ask("rule", tool="no_such_tool", pattern=pattern)["verdict"] == "reject_invalid"


def test_secrets():
    token = "ghp_" + "a1B2" * 9
    assert ask("scrub", kind="output", text=f"x {token} y") == {"text": "x ⟨secret: github-token⟩ y"}
    params = ask("scrub", kind="params", tool="t", params={"api_key": "hunter2", "n": 1})["params"]
    assert params == {"api_key": "⟨secret: key⟩", "n": 1}


@pytest.mark.parametrize(
    "case", [{"tool": 3, "pattern": "x"}, {"tool": "read_file", "pattern": None}, {"tool": []}]
)
def test_a_rule_that_is_no_text_is_invalid(case):
    assert ask("rule", **case)["verdict"] == "reject_invalid"


def test_a_text():
    assert ask("text", text="ls\u202e\ud800", where="approval_command") == {
        "shown": "ls⟨U+202E⟩⟨U+D800⟩",
        "warn": True,
    }


@each_row(
    ("case", "verdict"),
    [
        ({"url": "https://a.example/", "dns": {"a.example": ["93.184.216.34"]}}, "allow"),
        ({"url": "https://A.example./", "dns": {"a.EXAMPLE": ["93.184.216.34"]}}, "allow"),
        ({"url": "https://a.example/"}, "deny"),
        ({"url": "https://a.example/", "dns": {"a.example": [["93.184.216.34"], ["127.0.0.1"]]}}, "deny"),
        ({"url": "http://127.0.0.1/", "config": {"allow_loopback": True}}, "allow"),
        ({"url": "http://127.0.0.1/"}, "deny"),
        (
            {
                "url": "https://a.example/",
                "dns": {"a.example": ["93.184.216.34"]},
                "redirects": ["http://[::1]/"],
                "config": {"allow_loopback": True},
            },
            "deny",
        ),
        (
            {
                "url": "https://a.example/",
                "dns": {"a.example": ["93.184.216.34"]},
                "config": {"allowed_hosts": ["b.example"]},
            },
            "deny",
        ),
    ],
)
def test_a_url(case, verdict):
    assert ask("url", **case)["verdict"] == verdict


@each_row(
    ("before", "old", "new", "expected"),
    [
        ("a b", "a", "c", {"result": "ok", "after": "c b"}),
        ("a\r\nb", "a\nb", "c\nd", {"result": "ok", "after": "c\r\nd"}),
        ("a a", "a", "c", {"result": "error", "code": "ambiguous"}),
        ("aaa", "aa", "c", {"result": "error", "code": "ambiguous"}),
        ("a", "x", "c", {"result": "error", "code": "not_found"}),
        ("a", "", "c", {"result": "error", "code": "empty_old"}),
        ("a", "a", "a", {"result": "error", "code": "no_change"}),
        ("a\0", "a", "b", {"result": "error", "code": "not_text"}),
        ("\ud800", "a", "b", {"result": "error", "code": "not_text"}),
    ],
)
def test_an_edit(before, old, new, expected):
    assert ask("edit", before=before, old_string=old, new_string=new) == expected


@each_row("kind", list(CHECKS_BY_KIND))
@each_row(
    "line",
    [
        b"{",
        b"[]",
        b"1",
        b"{}",
        b'{"a": 1, "a": 2}',
        b"\xff",
        b'{"command": 1, "x": NaN}',
        b'{"x": -1e999}',
        b"[" * 100_000,
    ],
)
def test_a_bad_line_costs_that_line_only(kind, line):
    assert list(check_line(CHECKS_BY_KIND[kind], line)) == ["error"]


def test_the_program_answers_every_line_and_leaves_nothing(tmp_path):
    lines = [
        '{"text": "a", "where": "log_line"}',
        "nonsense",
        "",
        '{"text": "\\ud800\\u001b[1m", "where": "log_line"}',
    ]
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "check", "text"],
        input="\n".join(lines), capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path,
        env={**os.environ, "WORKBENCH_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(line) for line in found] == [["shown", "warn"], ["error"], ["shown", "warn"]]
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])


def test_a_command_that_leads_out_of_the_folder_asks_and_says_why(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    for line, why in (
        ("cat ../x", "cat ../x: ../x leaves the workspace"),
        ("cd /elsewhere && make test", "after cd /elsewhere: outside the workspace"),
        ("cat .git/config", "cat .git/config: .git/config belongs to git"),
        ("cat .env", "cat .env: reading .env is denied here"),
    ):
        found = ask("command", allow=["Bash"], deny=["Read(.env*)"], command=line)
        assert (found["verdict"], found["reason"]) == ("ask", f"no rule can cover it: {why}")
    assert (
        ask("command", allow=["Bash(make)"], deny=[], command=f"cd {tmp_path} && make")["verdict"] == "allow"
    )


@each_row("value", [3, 2.5, None, True, [], ["a"], {}, {"a": 1}])
def test_a_rule_that_is_no_text_is_answered_as_invalid(value):
    for name in ("tool", "pattern"):
        case = {"tool": "read_file", "pattern": '"path":"docs/'} | {name: value}
        assert check.check_rule(case) == {"verdict": "reject_invalid", "reason": f"{name}: a text is needed"}
    with pytest.raises(check.InvalidCase, match="pattern is missing"):
        check.check_rule({"tool": "read_file"})
