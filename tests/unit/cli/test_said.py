"""What line mode says in one line and what it shows first: several lines are never said."""

import json

import pytest
from conftest import Stream
from msgspec.structs import replace

from workbench.cli import approval_display
from workbench.cli.approval_line_mode import LineMode, change_line
from workbench.cli.console import Console
from workbench.domain.values import Actor, Decision
from workbench.journal.decisions import decide_action
from workbench.journal.home import Home
from workbench.journal.journal import Journal

TWO = "echo would run this\ntouch /elsewhere/made"
LONG = "".join(f"echo line {n} of many\n" for n in range(1, 401)) + "rm -rf build"


class Ascii(Stream):
    encoding = "ascii"


def commands(*texts):
    return [
        {"tool_call": {"id": f"c{n}", "name": "run_in_terminal", "arguments": {"command": text}}}
        for n, text in enumerate(texts)
    ]


@pytest.fixture
def talk(shell):
    def begin(*calls, stream=Stream, **more):
        recording = shell.recording({"reply": list(calls)})
        assert shell("run", "-p", "go", "--recording", recording, "--on-approval", "park") == 3
        journal = opened.append(Journal.open(Home.open())) or opened[-1]
        (trust,) = [action for action in journal.actions() if action.kind == "trust"]
        decide_action(
            journal, Decision(action_id=trust.id, verdict="reject"), trust.digest, Actor(kind="user")
        )
        return Talk(journal, str(shell.workspace), stream, **more)

    opened: list[Journal] = []
    yield begin
    for journal in opened:
        journal.close()


class Talk:
    def __init__(self, journal, workspace, stream, **more):
        self.journal, self.workspace = journal, workspace
        self.console = Console(stream(), stream())
        self.mode = LineMode(journal, self.console, workspace=workspace, **more)
        self.mode.look()

    def said(self):
        text = self.console.out.getvalue()
        self.console.out.truncate(self.console.out.seek(0))
        return text

    def type(self, line):
        self.said()
        self.mode.answer(line)
        return self.said()

    @property
    def action(self):
        return next(action for action in self.journal.actions() if action.kind == "tool")


def test_a_command_of_two_lines_is_shown_before_it_can_be_approved(talk):
    talk = talk(*commands(TWO))
    assert "1 run echo would run this⏎touch /elsewhere/made, outside the sandbox, 2 lines," in talk.said()
    shown = talk.type("a 1")
    assert "    1  echo would run this\n    2  touch /elsewhere/made\n" in shown
    assert "1 was not shown before, so it still waits. a 1 approves it." in shown
    assert talk.action.state == "pending"
    assert talk.type("a 1") == "1 approved, run echo would run this⏎touch /elsewhere/made.\n"
    assert (talk.action.state, talk.action.seen) == ("approved", "all")


def test_a_command_of_one_short_line_is_approved_as_it_was_said(talk):
    talk = talk(*commands("true"))
    assert talk.type("a 1") == "1 approved, run true.\n"
    assert talk.action.seen == "all"


def test_a_command_of_hundreds_of_lines_is_shown_to_its_end(talk):
    talk = talk(*commands(LONG))
    shown = talk.type("a 1")
    assert "  400  echo line 400 of many" in shown and "  401  rm -rf build" in shown
    assert talk.action.state == "pending"


def test_a_terminal_without_the_sign_gets_one_of_ascii(talk):
    talk = talk(*commands(TWO), stream=Ascii)
    assert "run echo would run this^Jtouch /elsewhere/made" in talk.said()


def test_lists_and_their_json_show_where_lines_end(talk, shell):
    talk = talk(*commands(TWO))
    shell("approvals", "list")
    assert "echo would run this⏎touch /elsewhere/made" in shell.out
    (listed,) = shell.json("approvals", "list", "--json")
    assert listed["target"] == "echo would run this⏎touch /elsewhere/made"
    assert "seen" not in listed
    line = json.loads(change_line("opened", 0, talk.action))
    assert line["action"]["target"] == listed["target"]


def test_a_row_of_an_older_journal_shows_where_lines_end(talk):
    talk = talk(*commands(TWO))
    older = replace(talk.action, target=TWO.replace("\n", " "))
    assert approval_display.with_line_ends(talk.journal, older).target == TWO.replace("\n", "⏎")
    for other in (replace(older, verb="read"), replace(older, state="approved")):
        assert approval_display.with_line_ends(talk.journal, other) is other


TEXTS = {
    "grep_search": {"pattern": "a", "include": "src"},
    "run_in_terminal": {"command": "deploy --token=" + "ghp_" + "x9K2mQ7vL4pR8sT1wY6zB3nC5dF0gH2jKlMq"},
}


@pytest.mark.parametrize("tool", TEXTS)
def test_what_its_line_leaves_out_is_shown_first(talk, tool):
    talk = talk({"tool_call": {"id": "c", "name": tool, "arguments": TEXTS[tool]}})
    assert "was not shown before" in talk.type("a 1")
    assert talk.action.state == "pending"


def test_who_asked_for_no_look_approves_at_once_and_the_record_says_so(talk, shell):
    talk = talk(*commands(TWO), require_seen=False)
    assert talk.type("a 1").startswith("1 approved")
    assert talk.action.seen == "part"
    shell("approvals", "show", talk.action.id)
    assert "not all of it was on the screen" in shell.out
    assert shell.json("approvals", "show", talk.action.id, "--json")["decision"]["seen"] == "part"
    (listed,) = [
        one for one in shell.json("approvals", "list", "--decided", "--json") if one["kind"] == "tool"
    ]
    assert listed["seen"] == "part"


def test_an_answer_by_id_is_recorded_as_one(talk, shell):
    talk = talk(*commands(TWO))
    assert shell("approvals", "approve", talk.action.id) == 0
    assert talk.action.seen == "by_id"
    shell("approvals", "show", talk.action.id)
    assert "named by its id" in shell.out
