"""A real session of ours in the words of S0, S2 and S4, and S0's files with what is wrong in them."""

import copy
import json
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from tests.support.stage import USER, Stage, call, exchange, recording, text
from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.machines import CALL_MOVES, SESSION_MOVES
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import DEFAULT_APPROVAL_MINUTES, Actor
from workbench.formats import assistant, kaiak_export, seed_files, wink_export
from workbench.host import session_requests
from workbench.text.human import parse_iso_time
from workbench.tools.registry import tool_registry

USAGE = {"usage": {"input_tokens": 10, "output_tokens": 4}}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """One session: an approved edit, a rejected command, a failed one, then another prompt."""
    script = recording(
        exchange(
            text("I change two things."),
            call("c1", "create_file", path="n.txt", content="new\n"),
            call("c2", "run_in_terminal", command="true"),
            call("c3", "run_in_terminal", command="echo oops >&2; exit 2"),
            USAGE,
        ),
        exchange(text("Done."), USAGE),
        exchange(text("Bye."), USAGE),
    )
    stage = Stage(tmp_path_factory.mktemp("played"), script)
    stage.begin("first", system_prompt="Be brief.", active_tools=("create_file", "run_in_terminal"))
    stage.drive()
    one, two, three = stage.waiting()
    tools = tool_registry().visible("recorded", stage.session().active_tools)
    waiting = assistant.assistant_session(stage.session(), events(stage), stage.journal.actions(), tools)
    stage.approve(one)
    stage.reject(two, "no need")
    stage.approve(three)
    stage.drive()
    stage.say("second")
    stage.drive()
    stage.at_asking = waiting
    yield stage
    stage.close()


def events(stage):
    return stage.journal.events(stage.session_id)


def rows(stage):
    return stage.journal.calls(stage.session_id)


# --- S0 --------------------------------------------------------------------------------------------


def wink_problems(document):
    return [violation.where for violation in seed_files.wink_violations(document)]


@pytest.fixture
def file(played):
    return wink_export.wink_session(played.session(), events(played), rows(played))


@pytest.mark.spec(14, 18)
def test_our_session_as_a_wink_file_keeps_the_rules_of_the_seed(file):
    assert wink_problems(json.loads(json.dumps(file))) == []
    assert [m["role"] for m in file["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert set(file) == {
        "id",
        "working_dir",
        "model",
        "created_at",
        "updated_at",
        "status",
        "messages",
        "tool_results",
    }


@pytest.mark.spec(19)
def test_a_reply_in_a_wink_file_has_its_tokens_and_its_model(played, file):
    replies = [body for body in played.bodies(e.ReplyCompleted) if body.text or body.calls]
    assert [m["metadata"] for m in file["messages"] if m["role"] == "assistant"] == [
        {"token_count": body.usage.output_tokens, "model": "recorded-test"} for body in replies
    ]
    assert len(replies) == 3


@pytest.mark.spec(30)
def test_an_undo_in_a_wink_file_is_a_word_of_the_user(tmp_path):
    stage = Stage(tmp_path, recording(exchange(call("c1", "create_file", path="n.txt", content="new\n"))))
    stage.begin("first")
    stage.drive()
    (asked,) = stage.waiting()
    stage.approve(asked)
    stage.drive()
    session_requests.request_undo(stage.journal, asked.id, USER)
    stage.drive()
    document = wink_export.wink_session(stage.session(), events(stage), rows(stage))
    assert wink_problems(json.loads(json.dumps(document))) == []
    assert document["messages"][-1]["role"] == "user"
    assert document["messages"][-1]["content"].startswith("undo: ")
    stage.close()


@pytest.mark.spec(1)
def test_the_members_of_a_wink_file_are_those_of_the_session(played, file):
    session = played.session()
    assert {key: file[key] for key in ("id", "working_dir", "model", "status")} == {
        "id": session.id, "working_dir": str(played.workspace), "model": "recorded-test", "status": "active",
    }  # fmt: skip
    assert (parse_iso_time(file["created_at"]), parse_iso_time(file["updated_at"])) == (
        session.created_at, session.updated_at,
    )  # fmt: skip
    assert session.created_at < session.updated_at


@pytest.mark.spec(10)
def test_messages_of_one_moment_are_in_order():
    assert wink_problems(changed([M, 1, "timestamp"], GOOD[M][0]["timestamp"])) == []


@pytest.mark.spec(20, 21, 23, 29)
def test_calls_in_a_wink_file_have_its_words_and_times(file):
    (spoken,) = [m for m in file["messages"] if m.get("tool_calls")]
    by_id = {c["id"]: c for c in spoken["tool_calls"]}
    assert {k: c["status"] for k, c in by_id.items()} == {"c1": "executed", "c2": "rejected", "c3": "failed"}
    assert by_id["c1"]["approval_method"] == "manual"
    assert "executed_at" not in by_id["c2"]
    assert by_id["c1"]["requested_at"] <= by_id["c1"]["executed_at"]


@pytest.mark.spec(30, 31, 35)
def test_every_call_that_ran_has_one_result(file):
    by_id = {r["tool_call_id"]: r for r in file["tool_results"]}
    answered = [m["tool_call_id"] for m in file["messages"] if m["role"] == "tool"]
    assert sorted(answered) == ["c1", "c3"] and set(by_id) <= set(answered)
    assert len(file["tool_results"]) == len(by_id) == 2
    assert (by_id["c1"]["success"], by_id["c1"]["error"], by_id["c1"]["files_affected"]) == (
        True,
        "",
        ["n.txt"],
    )
    assert by_id["c1"]["metadata"] == {"bytes_written": 4, "lines_changed": 1}
    assert by_id["c3"]["metadata"].keys().isdisjoint({"bytes_written", "lines_changed"})
    assert (by_id["c3"]["success"], "exit code 2" in by_id["c3"]["error"]) == (False, True)
    assert all(isinstance(r["execution_time_ms"], int) for r in by_id.values())
    said = {m["tool_call_id"]: m["content"] for m in file["messages"] if m["role"] == "tool"}
    assert said == {call: result["output"] for call, result in by_id.items()} and all(said.values())


def test_every_status_of_ours_has_a_word_in_every_seed():
    assert set(wink_export.WINK_STATUS) == set(kaiak_export.STATUSES) == set(SESSION_MOVES)
    assert (
        set(wink_export.WINK_CALL)
        == set(kaiak_export.CALL_STATUSES)
        == set(assistant.INVOCATION_STATUS)
        == set(CALL_MOVES)
    )
    assert set(wink_export.WINK_STATUS.values()) == set(seed_files.WINK_STATUSES)
    assert set(wink_export.WINK_CALL.values()) == set(seed_files.WINK_CALL_STATUSES)


@pytest.mark.spec(7)
def test_a_pause_an_end_and_an_error_have_their_words_in_s0():
    words = wink_export.WINK_STATUS
    assert {ours: words[ours] for ours in ("paused", "completed", "terminated", "failed")} == {
        "paused": "paused", "completed": "completed", "terminated": "completed", "failed": "errored",
    }  # fmt: skip
    assert {ours for ours, word in words.items() if word == "active"} == {
        "created", "initializing", "ready", "processing",
    }  # fmt: skip


@pytest.mark.spec(21, 200)
def test_every_state_of_a_call_has_its_word_in_s0_and_s4():
    assert wink_export.WINK_CALL == {
        "pending": "pending", "approved": "approved", "executing": "approved", "succeeded": "executed",
        "failed": "failed", "interrupted": "failed", "rejected": "rejected", "expired": "rejected", "cancelled": "rejected",
    }  # fmt: skip
    assert assistant.INVOCATION_STATUS == {
        "pending": "pending", "approved": "pending", "executing": "pending", "succeeded": "succeeded",
        "failed": "failed", "interrupted": "failed", "rejected": "aborted", "expired": "aborted", "cancelled": "aborted",
    }  # fmt: skip


@pytest.mark.spec(134)
def test_every_state_of_a_session_has_its_word_in_s2():
    assert kaiak_export.STATUSES == {
        "created": "Created", "initializing": "Initializing", "ready": "Ready", "processing": "Processing",
        "paused": "Ready", "completed": "Completed", "failed": "Failed", "terminated": "Terminated",
    }  # fmt: skip


@pytest.mark.spec(24, 29)
@pytest.mark.parametrize(
    ("state", "finished_at", "rule", "members"),
    [
        ("pending", None, None, {}),
        ("approved", None, "R1", {"approval_rule_id"}),
        ("rejected", 5, None, {}),
        ("expired", 5, None, {}),
        ("succeeded", 5, "R1", {"approval_rule_id", "executed_at"}),
        ("failed", 5, None, {"executed_at"}),
        ("interrupted", 5, None, {"executed_at"}),
    ],
)
def test_a_rule_and_a_time_of_execution_are_given_only_where_there_are_some(
    state, finished_at, rule, members
):
    row = replace(CALLED, state=state, finished_at=finished_at, rule=rule)
    call = e.ReplyCall(call_id="c", provider_call_id="p", tool="create_file")
    reply = e.Event(
        id="e", session_id="s", at=2, actor=Actor(kind="agent"), body=e.ReplyCompleted(calls=(call,)),
        position=1, sequence_number=1,
    )  # fmt: skip
    session = Session(id="s", kind="chat", status="ready", workspace="/w", created_at=1, updated_at=9)
    (message,) = wink_export.wink_session(session, [reply], [row])["messages"]
    (written,) = message["tool_calls"]
    assert set(written) & {"approval_rule_id", "executed_at"} == set(members)


@pytest.mark.spec(22)
def test_the_legal_moves_of_a_call_are_those_of_the_seed():
    ours = {
        (wink_export.WINK_CALL[a], wink_export.WINK_CALL[b]) for a, after in CALL_MOVES.items() for b in after
    }
    kept = {(a, b) for a, b in ours if a != b}
    assert kept - {("approved", "rejected")} == {
        ("pending", "approved"), ("pending", "rejected"), ("approved", "executed"), ("approved", "failed"),
    }  # fmt: skip


GOOD = {
    "id": "s", "working_dir": "/w", "model": "m", "created_at": "2025-11-10T10:00:00Z", "updated_at": "2025-11-10T10:05:00Z",
    "status": "active", "theme": "kept",
    "messages": [
        {"role": "user", "content": "hi", "timestamp": "2025-11-10T10:00:00Z"},
        {"role": "assistant", "content": "", "timestamp": "2025-11-10T10:00:01Z", "tool_calls": [{"id": "c", "tool_name": "t", "parameters": {}}]},
        {"role": "tool", "content": "ok", "timestamp": "2025-11-10T10:00:02Z", "tool_call_id": "c"},
    ],
    "tool_results": [{"tool_call_id": "c", "success": True, "output": "ok", "files_affected": ["a/b.py"]}],
}  # fmt: skip


def changed(path, value):
    document = copy.deepcopy(GOOD)
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return document


def test_a_good_file_has_no_problem_and_may_have_unknown_fields():
    assert wink_problems(GOOD) == []


M, R = "messages", "tool_results"


@pytest.mark.spec(70)
def test_only_a_system_message_at_the_head_of_a_wink_file_is_the_prompt_of_the_session():
    spoken = GOOD[M][0]
    system = {**spoken, "role": "system", "content": "be brief"}
    found = [
        next(iter(seed_files.read_wink({**GOOD, M: messages}, "file"))).system_prompt
        for messages in ([system, spoken], [spoken, system], [spoken])
    ]
    assert found == ["be brief", "", ""]


@pytest.mark.spec(5, 14, 21)
def test_every_word_of_s0_is_accepted():
    roles = [changed([M, 0, "role"], role) for role in ("user", "assistant", "system")]
    states = [changed(["status"], word) for word in ("active", "paused", "completed", "errored")]
    words = ("pending", "approved", "rejected", "executed", "failed")
    calls = [changed([M, 1, "tool_calls", 0, "status"], word) for word in words]
    assert [wink_problems(document) for document in (*roles, *states, *calls)] == [[]] * 12


@pytest.mark.spec(2, 4, 5, 10, 14, 15, 16, 17, 21, 30, 31, 32, 34, 65)
@pytest.mark.parametrize(
    ("document", "where"),
    [
        (changed(["status"], "sleeping"), "status"),
        (changed(["working_dir"], "w"), "working_dir"),
        (changed(["model"], " "), "model"),
        (changed([M, 0, "role"], "robot"), "messages[0].role"),
        (changed([M, 0, "content"], ""), "messages[0].content"),
        pytest.param(
            changed([M, 0, "tool_calls"], [{"id": "x"}]), "messages[0].tool_calls", marks=pytest.mark.spec(16)
        ),
        pytest.param(
            changed([M, 2, "tool_call_id"], None), "messages[2].tool_call_id", marks=pytest.mark.spec(17)
        ),
        pytest.param(
            changed([M, 2, "tool_call_id"], "q"), "messages[2].tool_call_id", marks=pytest.mark.spec(17)
        ),
        pytest.param(
            changed([M, 1, "timestamp"], "2025-11-10T09:00:00Z"),
            "messages[1].timestamp",
            marks=pytest.mark.spec(10),
        ),
        pytest.param(
            changed([M, 1, "tool_calls", 0, "status"], "flying"),
            "messages[1].tool_calls[0].status",
            marks=pytest.mark.spec(21),
        ),
        pytest.param(
            changed([R, 0, "tool_call_id"], "q"), "tool_results[0].tool_call_id", marks=pytest.mark.spec(30)
        ),
        pytest.param(
            changed([R], [GOOD[R][0]] * 2), "tool_results[1].tool_call_id", marks=pytest.mark.spec(30)
        ),
        (changed([R, 0, "error"], "bad"), "tool_results[0].error"),
        (changed([R, 0, "success"], False), "tool_results[0].error"),
        pytest.param(
            changed([R, 0, "output"], "x" * 10_241), "tool_results[0].output", marks=pytest.mark.spec(32)
        ),
        pytest.param(
            changed([R, 0, "files_affected"], ["../w2/x"]),
            "tool_results[0].files_affected",
            marks=pytest.mark.spec(34),
        ),
        pytest.param(
            changed([R, 0, "files_affected"], ["/w2/x"]),
            "tool_results[0].files_affected",
            marks=pytest.mark.spec(34, 65),
        ),
    ],
)
def test_what_breaks_a_rule_is_named_and_the_rest_is_read(document, where):
    assert wink_problems(document) == [where]
    head = next(iter(seed_files.read_wink(document, "file")))
    assert head.key == "s"


@pytest.mark.spec(32)
def test_exactly_the_limit_of_output_is_no_problem():
    assert wink_problems(changed([R, 0, "output"], "x" * 10_240)) == []
    assert wink_problems(changed([R, 0, "output"], "é" * 5_120)) == []
    assert wink_problems(changed([R, 0, "output"], "é" * 5_121)) == ["tool_results[0].output"]


@pytest.mark.spec(17)
def test_a_tool_message_without_the_key_of_its_call_is_flagged():
    without, empty = copy.deepcopy(GOOD), changed([M, 2, "tool_call_id"], "")
    del without[M][2]["tool_call_id"]
    for document in (without, empty, changed([M, 2, "tool_call_id"], None)):
        (violation,) = seed_files.wink_violations(document)
        assert (violation.where, violation.why) == ("messages[2].tool_call_id", "it is missing")


@pytest.mark.spec(70)
@pytest.mark.parametrize("missing", ["id", "working_dir", "model", "messages"])
def test_what_is_no_session_file_is_none(missing):
    document = {"id": "a", "working_dir": "/w", "model": "m", "messages": []}
    assert seed_files.is_wink(document)
    assert not seed_files.is_wink({key: value for key, value in document.items() if key != missing})
    assert not seed_files.is_wink([])


# --- S2 --------------------------------------------------------------------------------------------

PAYLOADS = {
    "Progress": {"percentage", "phase", "description"},
    "AiResponse": {"text", "partial"},
    "ToolCall": {"tool_call_id", "operation", "result"},
    "Thinking": {"text"},
    "UserInteraction": {"interaction_id", "interaction_type", "prompt", "timeout"},
    "FileModification": {"proposal_id", "file_path", "change_type"},
    "Error": {"error_code", "message", "details", "recoverable"},
    "System": {"event", "request_id", "status"},
}


@pytest.mark.spec(140, 141, 142, 149)
def test_every_event_is_a_message_of_one_kind_with_its_fields(played):
    found = list(kaiak_export.kaiak_messages(events(played)))
    numbers = [m["sequence_number"] for m in found]
    assert numbers == list(range(1, len(found) + 1))
    assert len({m["id"] for m in found}) == len(found) > len(events(played)), "a question about a file is two"
    for message in found:
        assert set(message) == {"id", "session_id", "timestamp", "sequence_number", "content", "source"}
        ((kind, payload),) = message["content"].items()
        assert PAYLOADS[kind] <= set(payload)
        assert message["source"] in {"GooseAgent", "ToolExecution", "SystemMonitoring", "UserInteraction"}


@pytest.mark.spec(149)
def test_each_kind_of_message_has_one_source_and_what_a_user_does_is_the_users(played):
    ours = {event.id: event for event in events(played)}
    own = ours[next(iter(ours))]
    reported = replace(
        own, body=e.ProgressReported(message="half", percentage=50), actor=Actor(kind="agent"), call_id=None
    )
    failed = replace(reported, body=e.ErrorRaised(code="x", message="no"))
    thought = replace(reported, body=e.ThinkingStreamed(block=0, offset=0, text="so"))
    found = {}
    for event in (*ours.values(), reported, failed, thought):
        for message in kaiak_export.kaiak_messages([event]):
            by = "user" if event.actor.kind == "user" else next(iter(message["content"]))
            found.setdefault(by, set()).add(message["source"])
    assert found == {
        "user": {"UserInteraction"}, "AiResponse": {"GooseAgent"}, "Thinking": {"GooseAgent"},
        "ToolCall": {"ToolExecution"}, "FileModification": {"ToolExecution"}, "UserInteraction": {"UserInteraction"},
        "Progress": {"SystemMonitoring"}, "Error": {"SystemMonitoring"}, "System": {"SystemMonitoring"},
    }  # fmt: skip


@pytest.mark.spec(145, 157)
@pytest.mark.parametrize(
    ("state", "members", "operation", "error"),
    [
        ("succeeded", {"preview": "made"}, "Complete", None),
        ("failed", {"error": "no such file", "detail": "more"}, "Error", "no such file"),
        ("failed", {"detail": "it was stopped"}, "Error", "it was stopped"),
    ],
)
def test_the_end_of_a_call_as_a_message_has_its_operation_error_and_data(state, members, operation, error):
    finished = e.Event(
        id="e", session_id="s", at=2, actor=Actor(kind="agent"), position=1, sequence_number=1, call_id="c",
        body=e.CallFinished(state=state, duration_ms=7, output_bytes=3, **members),
    )  # fmt: skip
    (message,) = kaiak_export.kaiak_messages([finished])
    call = message["content"]["ToolCall"]
    assert (call["tool_call_id"], call["operation"]) == ("c", operation)
    assert call["result"] == {
        "success": error is None, "data": members.get("preview"), "error": error, "execution_time_ms": 7,
        "output_size_bytes": 3,
    }  # fmt: skip


@pytest.mark.spec(229)
def test_a_system_message_names_the_question_or_call_that_it_is_about(played):
    found = {}
    for event in events(played):
        for message in kaiak_export.kaiak_messages([event]):
            if (system := message["content"].get("System")) is not None:
                assert (system["event"], system["request_id"]) == (
                    event.kind,
                    event.action_id or event.call_id,
                )
                found[event.kind] = system
    actions = {action.id for action in played.journal.actions()}
    assert found["action.approved"]["request_id"] in actions
    assert found["action.approved"]["metadata"]["tool_call_id"] in {row.id for row in rows(played)}
    assert found["call.proposed"]["request_id"] in {row.id for row in rows(played)}
    assert (found["turn.started"]["request_id"], found["turn.started"]["status"]) == (None, "started")


@pytest.mark.spec(144)
def test_partial_answers_joined_are_the_final_one(played):
    said = [
        p
        for m in kaiak_export.kaiak_messages(events(played))
        for k, p in m["content"].items()
        if k == "AiResponse"
    ]
    joined, finals = "", []
    for part in said:
        if part["partial"]:
            joined += part["text"]
        else:
            finals.append((joined, part["text"]))
            joined = ""
    assert finals == [(final, final) for _, final in finals]
    assert len(finals) == 3


@pytest.mark.spec(145, 146, 147, 157)
def test_calls_questions_and_changes_as_messages(played):
    found = [(k, p) for m in kaiak_export.kaiak_messages(events(played)) for k, p in m["content"].items()]
    ids = {row.id for row in rows(played)}
    operations = [p["operation"] for k, p in found if k == "ToolCall"]
    assert set(operations) <= {"Start", "Progress", "Complete", "Error"}
    assert {p["tool_call_id"] for k, p in found if k == "ToolCall"} <= ids
    ends = [p["result"] for k, p in found if k == "ToolCall" and p["operation"] in ("Complete", "Error")]
    assert all(
        ("success" in r, "execution_time_ms" in r, bool(r["error"]) != r["success"]) == (True, True, True)
        for r in ends
    )
    asked = [p for k, p in found if k == "UserInteraction"]
    assert {(p["interaction_type"], p["timeout"]) for p in asked} == {
        ("Approval", DEFAULT_APPROVAL_MINUTES * 60)
    }
    assert ("n.txt", "Create") in {
        (p["file_path"], p["change_type"]) for k, p in found if k == "FileModification"
    }


@pytest.mark.spec(151, 152, 153, 154)
def test_calls_in_the_words_of_kaiak(played):
    by_id = {
        row.provider_call_id: kaiak_export.kaiak_tool_call(row, played.journal.action(row.action_id))
        for row in rows(played)
    }
    assert {k: (c["status"], c["approval_status"]) for k, c in by_id.items()} == {
        "c1": ("Completed", "Approved"), "c2": ("Rejected", "Rejected"), "c3": ("Failed", "Approved"),
    }  # fmt: skip
    assert by_id["c3"]["result"]["error"]
    assert {key: call["approval_required"] for key, call in by_id.items()} == dict.fromkeys(by_id, True)


ASKED = Action(
    id="a", session_id="s", kind="tool", state="pending", target="n", digest="d", created_at=1, opened_at=1
)
CALLED = Call(
    id="c", session_id="s", turn_id="t", ordinal=0, provider_call_id="p", tool="create_file", state="pending", requested_at=1
)  # fmt: skip


@pytest.mark.spec(151, 152, 153, 156)
@each_row(
    "call_state,action_state,method,words",
    [
        ("pending", "pending", None, ("Pending", True, "Pending")),
        ("approved", "approved", "manual", ("Approved", True, "Approved")),
        ("executing", "approved", "manual", ("Executing", True, "Approved")),
        ("succeeded", "approved", "manual", ("Completed", True, "Approved")),
        ("failed", "approved", "manual", ("Failed", True, "Approved")),
        ("interrupted", "approved", "manual", ("Failed", True, "Approved")),
        ("rejected", "rejected", "manual", ("Rejected", True, "Rejected")),
        ("expired", "expired", None, ("Cancelled", True, "Timeout")),
        ("cancelled", "cancelled", None, ("Cancelled", True, "Rejected")),
        ("succeeded", None, "auto", ("Completed", False, "NotRequired")),
        ("succeeded", None, "config_rule", ("Completed", False, "NotRequired")),
        ("rejected", None, None, ("Rejected", False, "Rejected")),
    ],
)
def test_every_state_of_a_call_and_its_question_in_the_words_of_kaiak(
    call_state, action_state, method, words
):
    action = replace(ASKED, state=action_state) if action_state else None
    found = kaiak_export.kaiak_tool_call(replace(CALLED, state=call_state, approval_method=method), action)
    assert (found["status"], found["approval_required"], found["approval_status"]) == words
    assert found.get("interaction_id") == (action.id if action else None)


@pytest.mark.spec(151, 157)
@pytest.mark.parametrize(
    ("state", "error", "result"),
    [
        ("succeeded", "", {"success": True, "error": None}),
        ("failed", "no such file", {"success": False, "error": "no such file"}),
        ("interrupted", "", {"success": False, "error": "outcome unknown"}),
        ("failed", "", {"success": False, "error": "it was failed"}),
    ],
)
def test_the_result_of_a_call_of_kaiak_has_its_time_size_and_error(state, error, result):
    ended = replace(CALLED, state=state, error=error, finished_at=5, duration_ms=7, output_bytes=3)
    call = kaiak_export.kaiak_tool_call(ended, None)
    assert call["result"] == {**result, "execution_time_ms": 7, "output_size_bytes": 3}
    assert (call["created_at"], call["completed_at"]) == (
        "1970-01-01T00:00:00.000001Z", "1970-01-01T00:00:00.000005Z",
    )  # fmt: skip
    assert "result" not in kaiak_export.kaiak_tool_call(CALLED, None)


@pytest.mark.spec(132, 136, 138, 228)
def test_the_session_in_the_words_of_kaiak(played):
    stream = {"connection_id": "x", "established_at": "2026-01-01T00:00:00Z", "last_message_at": None}
    found = kaiak_export.kaiak_session(played.session(), stream)
    assert found["token_usage"] == {"input_tokens": 30, "output_tokens": 12, "total_tokens": 42}
    assert set(found["configuration"]) == {
        "provider",
        "model",
        "timeout",
        "max_turns",
        "enable_tool_interception",
    }
    assert (found["status"], found["stream_connection"]) == ("Ready", stream)


# --- S4 --------------------------------------------------------------------------------------------


@pytest.mark.spec(187, 189, 191, 231)
def test_turns_alternate_from_the_system_prompt(played):
    found = assistant.assistant_session(played.session(), events(played), played.journal.actions())
    roles = [turn["role"] for turn in found["messages"]]
    assert list(assistant.turn_order_violations(roles)) == []
    assert [turn["content"] for turn in found["messages"]] == [
        "Be brief.",
        "first",
        "I change two things.\n\nDone.",
        "second",
        "Bye.",
    ]
    assert all(turn["content"] for turn in found["messages"])
    assert found["messages"][-1]["metadata"] == {
        "inputTokens": 10,
        "outputTokens": 4,
        "provider": "recorded",
        "round": 1,
        "streaming": found["messages"][-1]["metadata"]["streaming"],
    }
    assert found["messages"][-1]["metadata"]["streaming"]["chunks"] == 1
    assert found["messages"][2]["metadata"]["inputTokens"] == 20, "of both replies"


@pytest.mark.spec(189)
@pytest.mark.parametrize(
    ("roles", "problems"),
    [
        (["system", "user", "assistant", "user"], []),
        (["user", "assistant"], [(1, "the first turn is not a system turn")]),
        ([], [(1, "the first turn is not a system turn")]),
        (["system", "user", "user"], [(3, "turns 2 and 3 are both by user")]),
        (["system", "tool", ""], [(2, "turn 2 is by tool"), (3, "turn 3 is by nobody")]),
        (["system", "system"], [(2, "turn 2 is by system")]),
    ],
)
def test_an_order_that_does_not_alternate_is_named(roles, problems):
    assert list(assistant.turn_order_violations(roles)) == problems


@pytest.mark.spec(190, 205, 208)
def test_what_waits_names_tools_of_the_session_and_previews_the_change(played):
    waiting = played.at_asking["pendingApprovals"]
    assert {action["toolId"] for action in waiting} <= {
        tool["id"] for tool in played.at_asking["activeTools"]
    }
    assert [tool["id"] for tool in played.at_asking["activeTools"]] == ["create_file", "run_in_terminal"]
    assert [action["diffPreview"] for action in waiting] == ["n.txt +1 -0", None, None]
    for action in waiting:
        lasts = datetime.fromisoformat(action["expiresAt"]) - datetime.fromisoformat(action["createdAt"])
        assert lasts == timedelta(minutes=15)


@pytest.mark.spec(190)
def test_a_gate_and_a_question_to_the_user_are_no_pending_approvals_of_tools(played):
    call_of_a_tool = replace(ASKED, id="call", tool="create_file")
    gate = replace(ASKED, id="gate", kind="gate", tool=None)
    question = replace(ASKED, id="question", kind="question", tool=None)
    decided = replace(call_of_a_tool, id="decided", state="approved")
    found = assistant.assistant_session(played.session(), [], [gate, call_of_a_tool, question, decided])
    assert [action["id"] for action in found["pendingApprovals"]] == ["call"]


@pytest.mark.spec(199, 200, 201, 210, 231)
def test_records_of_invocations(played):
    found = {
        row.provider_call_id: assistant.tool_invocation_record(played.session(), row) for row in rows(played)
    }
    assert {k: r["status"] for k, r in found.items()} == {"c1": "succeeded", "c2": "aborted", "c3": "failed"}
    assert all(r["resultSummary"] and r["finishedAt"] >= r["startedAt"] for r in found.values())
    assert set(found["c1"]) == {
        "id",
        "sessionId",
        "toolId",
        "status",
        "parameters",
        "resultSummary",
        "startedAt",
        "finishedAt",
    }


@pytest.mark.spec(199, 201, 231)
@pytest.mark.parametrize(
    ("members", "preview", "summary"),
    [
        ({"summary": "wrote a.py", "error": "e", "detail": "d"}, "out", "wrote a.py"),
        ({"error": "no such file", "detail": "d"}, "out", "no such file"),
        ({"detail": "d"}, "first\nsecond", "first⏎second"),
        ({"detail": "by you"}, "", "by you"),
        ({}, "", "failed"),
    ],
)
def test_a_record_says_in_few_words_how_it_went_and_ends_no_earlier_than_it_began(
    played, members, preview, summary
):
    row = replace(CALLED, state="failed", requested_at=9, finished_at=5, **members)
    finished = e.CallFinished(state="failed", preview=preview) if preview else None
    record = assistant.tool_invocation_record(played.session(), row, finished)
    assert record["resultSummary"] == summary
    assert (record["startedAt"], record["finishedAt"]) == ("1970-01-01T00:00:00.000009Z",) * 2
    waiting = assistant.tool_invocation_record(played.session(), CALLED)
    assert not {"resultSummary", "finishedAt"} & set(waiting)
