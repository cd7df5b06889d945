"""Line mode on a real journal: what is said, and that a number answers exactly what was said under it."""

import pytest
from conftest import Stream
from msgspec.structs import force_setattr

from workbench.cli.approval_line_mode import LineMode, change_line
from workbench.cli.console import Console
from workbench.domain.events import ActionBecameStale
from workbench.domain.values import DEFAULT_APPROVAL_MINUTES, Actor, Decision
from workbench.effects.clock import SystemClock
from workbench.journal.decisions import decide_action, extend_action
from workbench.journal.home import Home
from workbench.journal.journal import Journal

BEFORE = "".join(f"line {n}\n" for n in range(40))
AFTER = BEFORE.replace("line 2\n", "two\n").replace("line 20\n", "twenty\n").replace("line 35\n", "last\n")
EDIT = {
    "id": "e",
    "name": "replace_string_in_file",
    "arguments": {"path": "a.py", "old_string": BEFORE, "new_string": AFTER},
}
NEW = {"id": "n", "name": "create_file", "arguments": {"path": "n.py", "content": "x\n"}}


class Later(SystemClock):
    passed = 0

    def now(self):
        return super().now() + self.passed * 1_000_000


@pytest.fixture
def talk(shell):
    (shell.workspace / "a.py").write_text(BEFORE)
    recording = shell.recording({"reply": [{"tool_call": EDIT}, {"tool_call": NEW}]})
    assert shell("run", "-p", "rename handler.", "--recording", recording, "--on-approval", "park") == 3
    clock = Later()
    with Journal.open(Home.open(), clock) as journal:
        yield Talk(journal, clock, str(shell.workspace))


class Talk:
    def __init__(self, journal, clock, workspace):
        self.journal, self.clock = journal, clock
        self.console = Console(Stream(), Stream())
        self.answered = []
        self.workspace = workspace
        self.mode = LineMode(journal, self.console, self.answered.append, workspace, require_seen=False)
        (self.trust,) = [a for a in journal.actions() if a.kind == "trust"]
        decide_action(
            journal,
            Decision(action_id=self.trust.id, verdict="reject"),
            self.trust.digest,
            Actor(kind="user"),
        )
        self.edit, self.new = (a for a in journal.actions() if a.kind == "tool")

    def said(self):
        text = self.console.out.getvalue()
        self.console.out.truncate(self.console.out.seek(0))
        return text

    def type(self, line):
        goes_on = self.mode.answer(line)
        assert goes_on is not None
        return self.said()

    def state(self, action):
        return self.journal.action(action.id).state


WINDOW = f"{DEFAULT_APPROVAL_MINUTES} minutes left"


def test_the_queue_in_words(talk):
    assert talk.mode.look()
    first, prompt, _ = talk.said().split("\n")
    assert first == (
        f"2 waiting. 1 edit a.py, 3 hunks, plus 3 minus 3, session rename handler, {WINDOW}."
        f" 2 write n.py, 1 hunk, plus 1 minus 0, session rename handler, {WINDOW}."
    )
    assert prompt == "approve, reject, show, hunks, skip, help?"
    assert not talk.mode.look() and talk.said() == ""


def test_answers_by_number(talk):
    talk.mode.look()
    talk.said()
    assert talk.type("r 2 too wide") == "2 rejected, write n.py.\n"
    assert talk.type("a 1 1,3") == "1 approved, hunk 1 and hunk 3 of edit a.py.\n"
    edit, new = talk.journal.action(talk.edit.id), talk.journal.action(talk.new.id)
    assert ([taken.hunk for taken in edit.selection], new.reason) == ([1, 3], "too wide")
    assert [action.id for action in talk.answered] == [talk.new.id, talk.edit.id]
    assert talk.type("a 1").startswith("1 not approved. It was approved by user (cli, pid")
    assert not talk.mode.look()


def test_show_and_hunks(talk):
    talk.mode.look()
    talk.said()
    assert "hunk 2 of 3" in talk.type("s 1")
    assert talk.type("h 1").splitlines() == [
        "hunk 1, a.py line 1: - line 2", "hunk 2, a.py line 18: - line 20", "hunk 3, a.py line 33: - line 35",
    ]  # fmt: skip


def test_a_number_never_moves_to_another_action(talk):
    talk.mode.look()
    talk.said()
    successor = extend_action(talk.journal, talk.edit.id, Actor(kind="user")).successor
    assert talk.mode.look()
    assert talk.said().splitlines()[:2] == [
        "1 replaced, edit a.py.",
        f"2 waiting. 3 edit a.py, 3 hunks, plus 3 minus 3, session rename handler, {WINDOW}.",
    ]
    assert successor in talk.type("a 1")
    assert talk.journal.action(successor).state == "pending"
    assert talk.type("a 3") == "3 approved, edit a.py.\n"
    assert talk.journal.action(successor).state == "approved"


def test_the_answer_carries_the_digest_that_was_said(talk, monkeypatch):
    talk.mode.look()
    bound = talk.mode._numbers.at(1)
    force_setattr(bound, "digest", "other bytes")
    assert "It is not what was shown." in talk.type("a 1")
    assert talk.state(talk.edit) == "pending"


def test_decisions_made_elsewhere_are_said_once(talk):
    talk.mode.look()
    talk.said()
    decide_action(
        talk.journal,
        Decision(action_id=talk.new.id, verdict="reject"),
        talk.new.digest,
        Actor(kind="user", via="screen", pid=7),
    )
    assert talk.mode.look()
    assert talk.said().startswith("2 rejected by user (screen, pid 7), write n.py.\n")
    assert not talk.mode.look()


@pytest.mark.spec(207)
def test_time_is_said_at_five_minutes_one_minute_and_the_end_only(talk):
    talk.mode.look()
    talk.said()
    heard = []
    for passed in range(0, DEFAULT_APPROVAL_MINUTES * 60 + 10, 20):
        talk.clock.passed = passed
        if talk.mode.look():
            heard.append(talk.said().splitlines())
    assert heard == [
        ["1 5 minutes left.", "2 5 minutes left.", "approve, reject, show, hunks, skip, help?"],
        ["1 1 minute left.", "2 1 minute left.", "approve, reject, show, hunks, skip, help?"],
        ["1 expired, edit a.py.", "2 expired, write n.py."],
    ]
    assert "Nobody answered in time" in talk.type("a 1")
    assert talk.state(talk.edit) == "expired"


NOTHING = {
    "a 9": "There is no 9.",
    "a 0": "There is no 0.",
    "a 1 9": "There is no hunk 9",
    "a 1 nonsense": "names no hunks",
    "k 1": "1 skipped, it keeps waiting.",
    "nonsense": "“nonsense” is not a command. a 1 approves number 1, r 1 rejects it, ? lists all commands.",
    "\x1b[31m": "⟨ESC[31m⟩",
    "?": "approve hunks 1 and 3",
    "": "",
}


def test_lines_that_decide_nothing(talk):
    talk.mode.look()
    talk.said()
    heard = {line: talk.type(line) for line in NOTHING}
    assert [line for line, said in NOTHING.items() if said not in heard[line] or "\x1b" in heard[line]] == []
    assert (talk.state(talk.edit), talk.state(talk.new)) == ("pending", "pending")


def test_approving_what_is_stale_asks_anew_and_approves_nothing(talk):
    talk.mode.look()
    stale = talk.journal.event(
        ActionBecameStale(paths=("a.py",)), talk.edit.session_id, Actor(kind="host"), action_id=talk.edit.id
    )
    talk.journal.append([stale])
    assert talk.mode.look()
    assert "1 stale, edit a.py." in talk.said()
    assert talk.type("a 1").startswith("1 was not approved, for its files have changed")
    assert talk.journal.events(talk.edit.session_id)[-1].kind == "refresh.requested"
    assert talk.state(talk.edit) == "pending" and talk.answered[0].id == talk.edit.id


def test_quit_leaves(talk):
    assert talk.mode.answer("q") is False


def test_a_change_as_a_line_of_json(talk):
    import json

    line = change_line("opened", talk.edit.created_at, talk.edit)
    assert "\n" not in line
    found = json.loads(line)
    assert (list(found), found["change"], found["action"]["id"]) == (
        ["change", "at", "action"],
        "opened",
        talk.edit.id,
    )


def strict(talk):
    talk.mode = LineMode(talk.journal, talk.console, talk.answered.append, talk.workspace)
    talk.mode.look()
    talk.said()
    return talk


def test_what_was_not_shown_is_shown_and_not_approved(talk):
    strict(talk)
    talk.mode.answer("a 1")
    said = talk.said()
    assert "twenty" in said and "1 was not shown before, so it still waits. a 1 approves it." in said
    assert (talk.journal.action(talk.edit.id).state, talk.answered) == ("pending", [])
    talk.mode.answer("a 1")
    assert talk.journal.action(talk.edit.id).state == "approved"


def test_what_was_shown_is_approved_at_once_and_a_no_needs_no_look(talk):
    strict(talk)
    talk.mode.answer("s 1")
    talk.said()
    talk.mode.answer("a 1 1")
    assert talk.journal.action(talk.edit.id).state == "approved"
    talk.mode.answer("r 2 too wide")
    assert talk.journal.action(talk.new.id).state == "rejected"


def test_another_action_in_its_place_is_shown_anew(talk):
    strict(talk)
    talk.mode.answer("s 1")
    extend_action(talk.journal, talk.edit.id, Actor(kind="user"))
    talk.mode.look()
    talk.said()
    number = max(bound.number for bound in talk.mode._numbers.all())
    talk.mode.answer(f"a {number}")
    assert f"{number} was not shown before" in talk.said()
