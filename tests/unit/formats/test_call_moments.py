"""When a foreign call is asked for, waits, is answered, runs and ends, at each moment of a replay."""

import io
import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parent))
from counted_sessions import CLAUDE, CODEX, COUNTED, at, claude, lines, result, tool
from foreign_files import FILES

from tests.support.tables import each_row
from tests.unit.journal.scenes import SettableClock, assert_sound, open_journal
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.domain.machines import SETTLED_CALL_STATES
from workbench.formats import assemble, detect, held_events
from workbench.journal.imports import SessionImport


def made(data, **more):
    opened = detect.open_file(
        io.BytesIO(data), "x", 1_700_000_000_000_000, None, store=lambda _: None,
        current_id=lambda key: key, **more,
    )  # fmt: skip
    return list(opened.events)


def moments(events, kind):
    return [event.at for event in events if isinstance(event.body, kind)]


def bodies(events, kind):
    return [event.body for event in events if isinstance(event.body, kind)]


def seconds(events, kind):
    return [round((when - events[0].at) / 1_000_000) for when in moments(events, kind)]


def waiting_at(events, second):
    rows = MemoryTables().fold(event for event in events if event.at <= events[0].at + second * 1_000_000)
    return [action.target for action in rows.actions.values() if action.state == "pending"]


ASKED = {"questions": [{
    "question": "Which database?", "header": "Store", "multiSelect": False,
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
}]}  # fmt: skip
QUESTIONS = lines(
    claude(0, "user", "/clear", at(0)),
    claude(1, "user", "store it", at(0)),
    claude(2, "assistant", [tool("q", "AskUserQuestion", **ASKED)], at(2), id="m1"),
    {**claude(3, "user", [result("q", 'answered: "Which database?"="Postgres"')], at(15)),
     "toolUseResult": {"answers": {"Which database?": "Postgres"}}},
    claude(4, "assistant", [tool("p", "ExitPlanMode", plan="# Plan\n1. store")], at(20), id="m2"),
    claude(5, "user", [result("p", "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nshorter", is_error=True)], at(50)),
    claude(6, "assistant", [tool("b", "Bash", command="make")], at(51), id="m3"),
    {"type": "progress", "sessionId": "counted", "uuid": "p1", "timestamp": at(52), "parentToolUseID": "b",
     "data": {"type": "hook_progress", "hookName": "PreToolUse:Bash"}},
    {"type": "progress", "sessionId": "counted", "uuid": "p2", "timestamp": at(53), "parentToolUseID": "b",
     "data": {"type": "bash_progress", "fullOutput": "one\n"}},
    {"type": "progress", "sessionId": "counted", "uuid": "p3", "timestamp": at(54), "parentToolUseID": "b",
     "data": {"type": "bash_progress", "fullOutput": "one\ntwo\n"}},
    claude(7, "user", [result("b", "one\ntwo\n")], at(55)),
)  # fmt: skip


@pytest.mark.spec(19, 212)
def test_the_queue_waits_as_it_did():
    events = made(CLAUDE)
    assert waiting_at(events, 10 * 60 + 60) == ["/shop/a.py"]
    assert waiting_at(events, 9 * 60) == waiting_at(events, 12 * 60) == []
    assert [(one.added, one.verb) for one in bodies(events, e.ActionOpened)] == [(1, "edit")]
    assert seconds(events, e.ActionOpened) == [600]
    assert seconds(events, e.ActionRejected) == [11 * 60 + 53]
    assert seconds(events, e.CallExecuting) == [2, 3]


@pytest.mark.spec(19)
def test_a_question_shows_its_words_its_choices_and_which_was_taken():
    events = made(QUESTIONS)
    first, plan = bodies(events, e.ActionOpened)
    assert (first.action_kind, first.verb, first.target) == ("question", "ask", "Which database?")
    assert [choice.label for choice in first.choices] == ["SQLite — one file", "Postgres — a server"]
    assert plan.prompt == "# Plan\n1. store" and plan.parameters == {}
    assert [(one.choice, one.text) for one in bodies(events, e.ActionApproved)] == [("Postgres", "Postgres")]
    assert [one.reason for one in bodies(events, e.ActionRejected)] == ["shorter"]
    assert waiting_at(events, 10) == ["Which database?"] and waiting_at(events, 30) == ["# Plan"]
    answered = next(iter(MemoryTables().fold(events).actions.values()))
    assert (answered.decided_at - answered.created_at) // 1_000_000 == 13
    assert bodies(events, e.CallFinished)[0].duration_ms == 0


def test_progress_stands_under_its_call():
    events = made(QUESTIONS)
    assert [(one.offset, one.text) for one in bodies(events, e.OutputStreamed)] == [
        (0, "one\n"),
        (4, "two\n"),
    ]
    assert bodies(events, e.CallFinished)[-1].metadata == {"progress": {"hook": 1, "output": 2}}
    assert not bodies(events, e.Unknown)


def test_a_hook_before_the_question_does_not_answer_it():
    hook = {"type": "hook_progress", "hookEvent": "PreToolUse"}
    refused = "The user doesn't want to proceed with this tool use."
    data = lines(
        claude(0, "user", "go", at(0)),
        claude(1, "assistant", [tool("b", "Bash", command="make")], at(1), id="m"),
        {"type": "progress", "uuid": "p", "sessionId": "counted", "timestamp": at(2), "parentToolUseID": "b", "data": hook},
        claude(2, "user", [result("b", refused, is_error=True)], at(30)),
    )  # fmt: skip
    assert waiting_at(made(data), 20) == ["make"]
    assert [call.state for call in MemoryTables().fold(made(data)).calls.values()] == ["rejected"]


def test_a_command_of_the_program_is_no_title():
    opened = detect.open_file(io.BytesIO(QUESTIONS), "x", 1, None, store=lambda _: None, current_id=str)
    list(opened.events)
    assert opened.summaries[0].title == "store it"
    only = lines(claude(0, "user", "/review", at(0)))
    opened = detect.open_file(io.BytesIO(only), "x", 1, None, store=lambda _: None, current_id=str)
    list(opened.events)
    assert opened.summaries[0].title == "/review"


@each_row(
    ("said", "is_title"),
    [
        ("New session - 2026-11-21T12:00:00.000Z", False),
        ("New Session", False),
        ("new chat", False),
        ("New Chat Session", False),
        ("New session (2)", False),
        ("Untitled", False),
        ("Untitled conversation", False),
        ("", False),
        ("New sessions are kept", True),
        ("New session handling", True),
        ("New chat 2 answers twice", True),
        ("A new session of work", True),
        ("New session handling in the shop: what a customer sees after a second login", True),
        ("Untitled drafts of the shop lose their order", True),
    ],
)
def test_what_stands_for_a_title_that_is_not_there_is_none(said, is_title):
    document = {"info": {"id": "o1", "title": said, "directory": "/shop", "time": {"created": 1_700_000_000_000}},
                "messages": [{"info": {"id": "m1", "role": "user", "time": {"created": 1_700_000_000_000}},
                              "parts": [{"type": "text", "text": "store it"}]}]}  # fmt: skip
    found = detect.open_file(
        io.BytesIO(json.dumps(document).encode()), "x", 1, None, store=lambda _: None, current_id=str
    )
    events = list(found.events)
    title = said if is_title else "store it"
    assert found.summaries[0].title == title
    assert next(iter(MemoryTables().fold(events).sessions.values())).title == title


def test_what_codex_asked_for_is_answered_when_its_command_started():
    events = made(CODEX)
    assert seconds(events, e.ActionOpened) == [2]
    assert seconds(events, e.ActionApproved) == [18]
    assert seconds(events, e.CallExecuting) == [2, 18]
    by_call = {one.call_id: one.body.duration_ms for one in events if isinstance(one.body, e.CallFinished)}
    assert sorted(by_call.values()) == [2_000, 48_000]


def test_a_task_names_the_session_of_its_agent():
    data = lines(
        claude(0, "user", "go", at(0)),
        claude(1, "assistant", [tool("t", "Task", prompt="look")], at(1), id="m"),
        {**claude(2, "user", [result("t", "found")], at(9)), "toolUseResult": {"agentId": "a7", "status": "completed"}},
    )  # fmt: skip
    child = lines({**claude(0, "user", "look", at(2)), "isSidechain": True, "agentId": "a7"})
    named = bodies(made(data), e.CallFinished)[0].metadata["child_session"]
    begun = made(child)[0]
    assert begun.session_id == named
    assert begun.body.parent_id == made(data)[0].session_id


def test_a_task_of_opencode_names_its_session():
    whole = json.loads(COUNTED["opencode"])
    state = whole["messages"][1]["parts"][0]["state"]
    whole["messages"][1]["parts"][0]["tool"] = "task"
    state["metadata"] = {"sessionId": "ses_child"}
    child = {"info": {"id": "ses_child", "parentID": "ses_counted", "time": {}}, "messages": []}
    named = [body.metadata for body in bodies(made(json.dumps(whole).encode()), e.CallFinished)]
    assert {"child_session": made(json.dumps(child).encode())[0].session_id} in named


@each_row("name", [*FILES, *COUNTED])
def test_times_never_go_back_and_every_call_ends_legally(name):
    data = COUNTED[name] if name in COUNTED else FILES[name][0]
    events = made(data)
    for session in {event.session_id for event in events}:
        times = [event.at for event in events if event.session_id == session]
        # That file holds its calls behind its messages, in a list of their own.
        assert times == sorted(times) or name == "assistant"
    rows, seen = MemoryTables(), set()
    for event in events:
        before = dict(rows.calls), dict(rows.actions)
        rows.fold([event])
        moves = (
            e.CallProposed,
            e.CallExecuting,
            e.CallFinished,
            e.ActionOpened,
            e.ActionApproved,
            e.ActionRejected,
        )
        assert not isinstance(event.body, moves) or (rows.calls, rows.actions) != before, event.body
        assert event.id not in seen
        seen.add(event.id)
    assert {call.state for call in rows.calls.values()} <= SETTLED_CALL_STATES


@each_row("name", ["claude", "codex", "pi"])
def test_a_file_that_grows_line_by_line_ends_as_the_whole_one(name, tmp_path_factory):
    whole = COUNTED[name].splitlines(keepends=True)
    events = made(COUNTED[name])
    with open_journal(tmp_path_factory.mktemp("home"), SettableClock()) as journal:
        for size in range(2, len(whole) + 1):
            intake = SessionImport(journal)
            for event in made(b"".join(whole[:size])):
                intake.add(event)
            intake.end_file()
            intake.finish()
        stored = journal.events(events[0].session_id)
        assert [(one.id, one.body, one.at) for one in stored] == [
            (one.id, one.body, one.at) for one in events
        ]
        assert_sound(journal)


def test_what_an_older_version_read_gets_the_times_of_the_newer_one(tmp_path, monkeypatch):
    def take(events):
        intake = SessionImport(journal)
        for event in events:
            intake.add(event)
        intake.end_file()
        intake.finish()

    newer = made(CLAUDE)
    with open_journal(tmp_path / "home", SettableClock()) as journal:
        monkeypatch.setattr(assemble, "READ_AS", 1)
        older = [replace(event, at=event.at - 1_000_000) for event in made(CLAUDE)]
        take(older)
        take(newer)
        stored = journal.events(newer[0].session_id)
        assert [(one.id, one.body, one.at) for one in stored] == [(one.id, one.body, one.at) for one in newer]
        assert_sound(journal)


def test_what_waits_too_long_for_its_end_runs(monkeypatch):
    monkeypatch.setattr(held_events, "MOST_HELD", 3)
    opened = detect.open_file(io.BytesIO(CLAUDE), "x", 1, None, store=lambda _: None, current_id=str)
    rows = MemoryTables().fold(opened.events)
    assert [call.state for call in rows.calls.values()] == ["succeeded", "succeeded", "rejected"]
    assert seconds(made(CLAUDE), e.CallExecuting) == [2, 3]


def test_a_message_in_which_nothing_was_found_is_not_understood():
    empty = claude(1, "assistant", [{"type": "novelty", "data": 1}], at(1))
    opened = detect.open_file(
        io.BytesIO(lines(claude(0, "user", "go", at(0)), empty)),
        "x",
        1,
        None,
        store=lambda _: None,
        current_id=str,
    )
    assert not bodies(list(opened.events), e.ReplyCompleted)
    assert opened.summaries[0].kept == 1


def acp(**more):
    return {"jsonrpc": "2.0", **more}


def update(when, **fields):
    return acp(method="session/update", timestamp=at(when), params={"sessionId": "a", "update": fields})


@each_row(
    "after, state, decided",
    [
        ([("completed", 20)], "succeeded", ["approved"]),
        ([("in_progress", 12), ("failed", 20)], "failed", ["approved"]),
        ([("failed", 20)], "cancelled", ["cancelled"]),
        ([], "cancelled", ["cancelled"]),
    ],
)
def test_a_trace_of_one_direction_asks(after, state, decided):
    call = {"toolCallId": "t", "kind": "execute", "rawInput": {"command": "make"}}
    ask = acp(id=4, method="session/request_permission", timestamp=at(2), params={
        "sessionId": "a", "toolCall": {"toolCallId": "t"},
        "options": [{"optionId": "y", "kind": "allow_once"}],
    })  # fmt: skip
    data = lines(
        update(0, sessionUpdate="user_message_chunk", content={"type": "text", "text": "go"}),
        update(1, sessionUpdate="tool_call", status="pending", **call), ask,
        *(update(when, sessionUpdate="tool_call_update", toolCallId="t", status=status) for status, when in after),
    )  # fmt: skip
    events = made(data)
    rows = MemoryTables().fold(events)
    assert [call.state for call in rows.calls.values()] == [state]
    assert [action.state for action in rows.actions.values()] == decided
    # A file that ends with its question is closed in that moment.
    assert waiting_at(events, 5) == (["make"] if after else [])


def test_arguments_are_kept_whole():
    long = "".join(f"line {number}\n" for number in range(3_000))
    call = tool("w", "Write", file_path="a", content=long)
    data = lines(claude(0, "user", "go", at(0)), claude(1, "assistant", [call], at(1)))
    events = made(data)
    assert bodies(events, e.ReplyCompleted)[0].calls[0].arguments["content"] == long
    assert "cut:" in bodies(events, e.CallProposed)[0].parameters["content"]
    assert json.dumps(long) in data.decode()
