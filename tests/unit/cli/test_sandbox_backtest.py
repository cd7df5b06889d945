"""`workbench sandbox backtest`, as somebody types it."""

import json

import pytest

from tests.support.asked_commands import ask, session
from workbench.cli.dispatch import dispatch
from workbench.cli.journal_access import open_journal


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WORKBENCH_AGENT", raising=False)
    monkeypatch.chdir(tmp_path)


def run(capsys, *words):
    code = dispatch(["sandbox", "backtest", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_without_questions_it_says_where_the_numbers_come_from(capsys):
    assert run(capsys) == (
        0,
        "No commands were asked about yet: the numbers come from questions of agents that run here.\n",
        "",
    )


@pytest.fixture
def history(tmp_path):
    with open_journal() as journal:
        own, other = session(journal, str(tmp_path)), session(journal, "/v")
        for command in ("pytest -q", "ls", "make", "cat x"):
            ask(journal, own, command)
        ask(journal, own, "npm install")
        ask(journal, own, "npm ci")
        ask(journal, own, "git commit -m 'x\ny'")
        ask(journal, other, "ls")
        ask(journal, session(journal, origin="codex"), "git push", tool="shell")


def test_it_says_how_many_questions_would_not_have_been_asked_and_what_stays(capsys, history):
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Of 8 questions about commands 5 would not have been asked with approvals.sandboxed = auto (62%).",
        "What is still asked about:",
        "  network                          2  npm ci",
        "                                      npm install",
        "  .git                             1  git commit -m 'x⏎y'",
        "Of 1 question of other agents, in imported sessions, 0 would not have been asked with approvals.sandboxed = auto"
        " (0%).",
        "What is still asked about:",
        "  network                          1  git push",
    ]


def test_it_counts_one_folder_and_some_days_and_prints_json(capsys, history):
    code, out, _ = run(capsys, "--here", "--days", "1", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["own"] == {
        "questions": 7, "not_asked": 4, "share": 0.5714,
        "stays": [
            {"reason": "network", "count": 2, "examples": ["npm ci", "npm install"]},
            {"reason": "git", "count": 1, "examples": ["git commit -m 'x⏎y'"]},
        ],
    }  # fmt: skip
    assert found["imported"]["questions"] == 0
    assert (found["only_newest"], found["since"][-1]) == (False, "Z")


def test_a_folder_in_which_nothing_runs_inside_is_named(capsys, history, tmp_path):
    (tmp_path / "home/config.json").write_text('{"config_version": 1, "sandbox": {"level": "outside"}}')
    code, out, err = run(capsys)
    assert code == 0 and out.startswith("Of 8 questions")
    assert err == "sandbox.level is outside here, so nothing runs inside; counted as if it were workspace.\n"
    (tmp_path / "home/config.json").write_text('{"config_version": 1, "sandbox": {"level": "read-only"}}')
    assert run(capsys)[1].startswith("Of 8 questions about commands 5 would")


def test_a_number_that_is_no_number_of_days_is_refused(capsys):
    code, out, err = run(capsys, "--days", "0")
    assert (code, out) == (2, "")
    assert "--days 0" in err


def test_many_questions_are_cut(capsys, history, monkeypatch):
    monkeypatch.setattr("workbench.host.sandbox_backtest.MOST_COMMANDS", 2)
    monkeypatch.setattr("workbench.cli.sandbox_backtest.MOST_COMMANDS", 2)
    assert run(capsys)[1].splitlines()[-1] == "These are the newest 2 questions."
