"""Past questions about commands: which ones the sandbox would have answered, and why the others stay."""

import pytest

from tests.support.asked_commands import ask, decide, session
from tests.support.stage import USER, call, exchange, recording, text
from workbench.effects.clock import ManualClock
from workbench.host import sandbox_backtest
from workbench.host.fork import default_fork_plan, fork_session
from workbench.host.sandbox_backtest import backtest
from workbench.journal.home import Home
from workbench.journal.journal import Journal

START = 1_700_000_000_000_000


@pytest.fixture
def journal(tmp_path):
    with Journal.open(Home.open(tmp_path / "home"), ManualClock(START)) as found:
        yield found


def stays(counts):
    return {stay.reason: (stay.count, stay.examples) for stay in counts.stays}


def test_nothing_was_asked(journal):
    found = backtest(journal, None)
    assert (found.own.asked, found.imported.asked, found.own.share, found.is_cut) == (0, 0, 0.0, False)


def test_a_question_is_spared_where_nothing_but_the_default_asked_and_the_line_needs_nothing(journal):
    key = session(journal)
    for command in ("pytest -q", "ls", "pytest -q", "git status"):
        ask(journal, key, command)
    decide(journal, key, "npm install", "allowed", "R1")
    decide(journal, key, "rm -rf /", "denied", "R2")
    ask(journal, key, "x.py", tool="read_file")
    found = backtest(journal, None)
    assert (found.own.asked, found.own.spared, found.own.share, found.own.stays) == (4, 4, 1.0, ())


def test_what_stays_is_counted_once_by_the_first_thing_that_it_needs(journal):
    key = session(journal)
    for command in (
        "npm install", "git pull", "git commit -m x", "git add .", "echo > /etc/x", "sudo ls", "docker ps", "ls", "ls\u202e",
    ):  # fmt: skip
        ask(journal, key, command)
    ask(journal, key, "ls -a", by="R3", rule="R3")
    ask(journal, key, "ls -b", by="hold")
    ask(journal, key, "ls -c", outside=True, reason="it needs my keys")
    own = backtest(journal, None).own
    assert (own.asked, own.spared) == (12, 1)
    assert stays(own) == {
        "git": (2, ("git add .", "git commit -m x")), "network": (2, ("git pull", "npm install")),
        "rule": (2, ("ls -b", "ls -a")), "daemon": (1, ("docker ps",)), "outside": (1, ("echo > /etc/x",)),
        "privilege": (1, ("sudo ls",)), "request": (1, ("ls -c",)), "text": (1, ("ls⟨U+202E⟩",)),
    }  # fmt: skip
    assert [stay.count for stay in own.stays] == sorted((stay.count for stay in own.stays), reverse=True)


def test_examples_are_different_and_at_most_five_the_newest_first(journal):
    key = session(journal)
    for number in range(8):
        ask(journal, key, f"git tag v{number}")
        ask(journal, key, "git tag v7")
    (stay,) = backtest(journal, None).own.stays
    assert (stay.count, stay.examples) == (16, tuple(f"git tag v{number}" for number in range(7, 2, -1)))


def test_the_level_and_the_folder_count(journal):
    key = session(journal)
    ask(journal, key, "touch x")
    ask(journal, key, "touch ../x", cwd="/w/sub")
    ask(journal, key, "touch ../x")
    assert backtest(journal, None).own.spared == 2
    assert backtest(journal, None, level="read-only").own.spared == 0


def test_imported_sessions_are_counted_apart_and_connected_agents_not_at_all(journal):
    for tool, command in (("Bash", "ls"), ("shell", ["bash", "-lc", "npm ci"]), ("Read", "x")):
        ask(journal, session(journal, origin="claude-code"), command, tool=tool, by="claude-code")
    ask(journal, session(journal, kind="supervised"), "ls")
    found = backtest(journal, None)
    assert found.own.asked == 0
    assert (found.imported.asked, found.imported.spared) == (2, 1)
    assert stays(found.imported) == {"network": (1, ("npm ci",))}


def test_a_fork_adds_nothing(staged):
    stage = staged(recording(exchange(call("c1", "run_in_terminal", command="true")), exchange(text("done"))))
    stage.begin().drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert backtest(stage.journal, None).own.asked == 1
    source = stage.session()
    fork_session(stage.journal, source, default_fork_plan(source), USER)
    assert backtest(stage.journal, None).own.asked == 1


def test_a_question_that_was_asked_again_counts_once(journal):
    key = session(journal)
    first = ask(journal, key, "ls")
    ask(journal, key, "ls", replaces=first)
    assert backtest(journal, None).own.asked == 1


def test_only_a_workspace_and_only_newer_ones(journal):
    ask(journal, session(journal, "/w"), "ls")
    ask(journal, session(journal, "/v"), "ls")
    assert backtest(journal, "/w").own.asked == 1
    assert backtest(journal, None, since=START + 1).own.asked == 0
    assert backtest(journal, None, since=START).own.asked == 2


def test_the_newest_are_looked_at_own_ones_first(journal, monkeypatch):
    monkeypatch.setattr(sandbox_backtest, "MOST_COMMANDS", 3)
    own, imported = session(journal), session(journal, origin="codex")
    for number in range(2):
        ask(journal, own, f"git tag v{number}")
        ask(journal, imported, f"git tag v{number}", tool="shell")
    found = backtest(journal, None)
    assert (found.own.asked, stays(found.imported), found.is_cut) == (2, {"git": (1, ("git tag v1",))}, True)
    ask(journal, own, "git tag v2")
    ask(journal, own, "git tag v3")
    found = backtest(journal, None)
    assert stays(found.own) == {"git": (3, ("git tag v3", "git tag v2", "git tag v1"))}
    assert (found.imported.asked, found.is_cut) == (0, True)


def test_progress_is_told_over_both(journal, monkeypatch):
    monkeypatch.setattr("workbench.policy.sandbox_backtest._PROGRESS_STEP", 2)
    own, imported = session(journal), session(journal, origin="codex")
    for _ in range(3):
        ask(journal, own, "ls")
        ask(journal, imported, "ls", tool="shell")
    told = []
    backtest(journal, None, on_progress=lambda *counts: told.append(counts))
    assert told == [(2, 6), (5, 6)]
