"""S2 messages: their members, kinds of questions, texts of changes, progress; a stream and what comes back of it."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from test_kaiak_back import imported

from tests.support import golden
from tests.support.stage import Stage, call, exchange, recording, text
from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.codec import to_json_value
from workbench.domain.incidents import IncidentOptions
from workbench.domain.rows import Call, Session
from workbench.domain.values import Actor, Choice, FilePlan, GateVerdict, Hunk, ReplyCall, StepPlan
from workbench.formats.input import JsonLine
from workbench.formats.kaiak import payload_problem, read_lines, tagged_union
from workbench.formats.kaiak_export import KaiakMessages, kaiak_messages, kaiak_session, kaiak_tool_call

VERDICT = GateVerdict(outcome="allowed", step="grants", by="default")
HOST = Actor(kind="host", pid=1)
HUNK = Hunk(
    index=1, path="a.py", old_start=1, old_count=2, new_start=1, new_count=2,
    lines=((" ", "one"), ("-", "two"), ("+", "three"), ("\\", "No newline at end of file")),
)  # fmt: skip


def event(body, number=1, **about):
    return e.Event(id=f"e{number}", session_id="s", at=1_000_000 * number, actor=HOST, body=body,
                   sequence_number=number, position=number, **about)  # fmt: skip


def contents(*events, read_blob=lambda _: None):
    return [message["content"] for message in kaiak_messages(events, read_blob)]


def opened(**more):
    values = {
        "action_kind": "tool", "tool": "replace_string_in_file", "target": "a.py", "digest": "d", "verb": "edit",
        "created_at": 0, "expires_at": 90_000_000,
    }  # fmt: skip
    return e.ActionOpened(**{**values, **more})


CHOICES = (Choice(key="again", label="Ask again"), Choice(key="keep", label="Keep it"))


@pytest.mark.spec(146)
@each_row(
    "more, kind, options",
    [
        ({}, "Approval", None),
        ({"action_kind": "gate", "choices": CHOICES, "prompt": "go on?"}, "Choice", ["again", "keep"]),
        (
            {"action_kind": "finding", "choices": CHOICES, "prompt": "still there"},
            "Choice",
            ["again", "keep"],
        ),
        ({"action_kind": "question", "choices": CHOICES, "prompt": "which?"}, "Choice", ["again", "keep"]),
        ({"action_kind": "question", "prompt": "what is its name?"}, "Input", None),
    ],
)
def test_a_question_is_an_approval_a_choice_with_its_options_or_an_input(more, kind, options):
    ((asked,),) = (message.values() for message in contents(event(opened(**more), action_id="a1")))
    assert asked["interaction_type"] == kind
    assert asked.get("options") == options
    assert (asked["interaction_id"], asked["timeout"]) == ("a1", 90)
    assert asked["prompt"] == more.get("prompt", "edit a.py")


@pytest.mark.spec(146)
def test_a_question_about_a_call_names_it():
    asked = [contents(event(opened(), action_id="a1", call_id=call))[0] for call in ("c1", None)]
    assert [one["UserInteraction"].get("tool_call_id") for one in asked] == ["c1", None]


def test_a_question_without_an_end_has_no_timeout():
    (message,) = contents(event(opened(expires_at=None), action_id="a1"))
    assert message["UserInteraction"]["timeout"] is None


@pytest.mark.spec(145)
def test_every_message_of_a_call_names_its_tool_and_parameters():
    asked = ReplyCall(
        call_id="c1", provider_call_id="c1", tool="run_in_terminal", arguments={"command": "true"}
    )
    reply = e.ReplyCompleted(calls=(asked,))
    found = contents(
        event(reply), event(e.CallExecuting(), 2, call_id="c1"),
        event(e.OutputStreamed(offset=0, text="out"), 3, call_id="c1"),
        event(e.CallFinished(state="failed", detail="exit 1", duration_ms=3), 4, call_id="c1"),
    )  # fmt: skip
    calls = [message["ToolCall"] for message in found if "ToolCall" in message]
    assert [one["operation"] for one in calls] == ["Start", "Progress", "Error"]
    assert {(one["tool_call_id"], one["tool_name"]) for one in calls} == {("c1", "run_in_terminal")}
    assert all(one["parameters"] == {"command": "true"} for one in calls)
    assert calls[2]["result"]["error"] == "exit 1"


def test_what_the_gate_made_of_parameters_is_what_later_messages_name():
    found = contents(
        event(e.CallProposed(tool="read_file", parameters={"path": "/w/a.py"}, verdict=VERDICT), call_id="c1"),
        event(e.CallExecuting(), 2, call_id="c1"),
    )  # fmt: skip
    assert found[1]["ToolCall"]["parameters"] == {"path": "/w/a.py"}
    assert found[0]["System"]["metadata"]["tool"] == "read_file"


def plan(path="a.py", base="b", after="f", **more):
    return FilePlan(path=path, base=base, after=after, mode=0o644, **more)


@pytest.mark.spec(147)
@each_row(
    "files, hunks, told",
    [
        ((plan(),), (HUNK,), ("Modify", "one\ntwo\n", "one\nthree", True)),
        ((plan(base=None),), (HUNK,), ("Create", None, "one\nthree", None)),
        ((plan(after=None),), (HUNK,), ("Delete", "one\ntwo\n", None, None)),
        ((plan(path="b.py"),), (HUNK,), ("Modify", None, None, None)),
    ],
)
def test_a_change_tells_its_texts_as_far_as_they_are_recorded(files, hunks, told):
    found = contents(event(opened(files=files, hunks=hunks), action_id="a1", call_id="c1"))
    change = found[1]["FileModification"]
    assert change["proposal_id"] == "a1" and change["file_path"] == files[0].path
    assert (
        change["change_type"], change["original_content"], change["proposed_content"], change.get("is_excerpt")
    ) == told  # fmt: skip


@pytest.mark.spec(147)
def test_a_change_that_was_made_names_its_proposal_and_has_its_texts_unless_it_was_taken_in_part():
    asked = event(opened(files=(plan(),), hunks=(HUNK,)), 1, action_id="a1", call_id="c1")
    made = event(e.FileChanged(path="a.py", change="modify", before="b", after="f"), 3, call_id="c1")
    approved = {"digest": "d", "result_digest": "d", "approved_until": 9}
    whole = event(e.ActionApproved(**approved), 2, action_id="a1", call_id="c1")
    part = event(e.ActionApproved(**approved, selection=()), 2, action_id="a1", call_id="c1")
    done = contents(asked, whole, made)[-1]["FileModification"]
    assert (done["proposal_id"], done["original_content"]) == ("a1", "one\ntwo\n")
    done = contents(asked, part, made)[-1]["FileModification"]
    assert (done["proposal_id"], done["original_content"], done["proposed_content"]) == ("a1", None, None)


def test_the_hunks_of_a_large_change_are_read_from_their_blob_and_a_broken_one_tells_none():
    asked = event(opened(files=(plan(),), hunks_ref="recorded:1"), action_id="a1")
    data = json.dumps(to_json_value((HUNK,))).encode()
    assert contents(asked, read_blob={"recorded:1": data}.get)[1]["FileModification"]["original_content"]
    for broken in (b"[", None):
        told = contents(asked, read_blob={"recorded:1": broken}.get)[1]["FileModification"]
        assert (told["original_content"], told["proposed_content"]) == (None, None)


def test_a_text_over_the_bound_is_left_out():
    long = Hunk(index=1, path="a.py", old_start=1, old_count=1, new_start=1, new_count=0,
                lines=(("-", "x" * 1_000_001),))  # fmt: skip
    told = contents(event(opened(files=(plan(),), hunks=(long,)), action_id="a1"))[1]["FileModification"]
    assert told["original_content"] is None


@pytest.mark.spec(143)
def test_steps_of_a_run_and_incidents_of_a_list_are_progress_from_0_to_100():
    steps = tuple(StepPlan(id=name) for name in "abcd")
    found = contents(
        event(e.RunStarted(pipeline="p", steps=steps)),
        event(e.StepChanged(state="running"), 2, step="a"), event(e.StepChanged(state="completed"), 3, step="a"),
        event(e.StepChanged(state="failed"), 4, step="b"), event(e.StepChanged(state="skipped"), 5, step="c"),
        event(e.StepChanged(state="completed"), 6, step="d"),
        event(e.ProgressReported(message="compacts", percentage=None), 7),
    )  # fmt: skip
    told = [message["Progress"] for message in found if "Progress" in message]
    assert [one["percentage"] for one in told] == [0, 25, 50, 75, 100, 0]
    assert told[1]["phase"] == "a" and told[1]["description"] == "a completed"
    assert all(set(one) == {"percentage", "phase", "description"} for one in told)
    found = contents(
        event(e.IncidentsRequested(ids=("i1", "i2"))), event(e.IncidentStarted(incident="i1", child_id="c"), 2),
        event(e.IncidentEnded(incident="i1", outcome="fixed"), 3),
        event(e.IncidentEnded(incident="i2", outcome="rejected"), 4),
        event(e.IncidentsRequested(ids=("i2",)), 5),
        event(e.IncidentStarted(incident="i2", child_id="c", round=2), 6),
    )  # fmt: skip
    told = [message["Progress"] for message in found if "Progress" in message]
    assert [one["percentage"] for one in told] == [0, 50, 100, 50]
    assert [one["phase"] for one in told] == ["working", "fixed", "rejected", "working"]


@pytest.mark.spec(142, 229)
def test_what_has_no_kind_of_its_own_is_a_system_message_with_all_it_says_but_references():
    listed = e.IncidentsListed(source="r.sarif", format="sarif", incidents_ref="recorded:1", count=3)
    (message,) = contents(event(listed))
    assert message["System"] == {
        "event": "incidents.listed", "request_id": None, "status": "listed",
        "metadata": {"source": "r.sarif", "format": "sarif", "count": 3},
    }  # fmt: skip
    (message,) = contents(event(e.Unknown(original_kind="new.thing", content=["x"])))
    assert message["System"]["metadata"] == {"content": ["x"]}


@pytest.mark.spec(142, 143, 144, 145)
@each_row(
    "body, kind, payload",
    [
        (e.TextStreamed(block=0, offset=0, text="I "), "AiResponse", {"text": "I ", "partial": True}),
        (e.ReplyCompleted(text="I look"), "AiResponse", {"text": "I look", "partial": False}),
        (e.ThinkingStreamed(block=0, offset=0, text="hm"), "Thinking", {"text": "hm"}),
        (e.ProgressReported(message="m"), "Progress", {"percentage": 0, "phase": "", "description": "m"}),
        (e.ProgressReported(message="m", percentage=41.6, sent=3), "Progress",
         {"percentage": 42, "phase": "model", "description": "m"}),
        (e.ProgressReported(message="", received=3), "Progress",
         {"percentage": 0, "phase": "model", "description": ""}),
        (e.CallExecuting(), "ToolCall",
         {"tool_call_id": "c1", "tool_name": "", "operation": "Start", "parameters": {}, "result": None}),
    ],
)  # fmt: skip
def test_each_event_is_a_message_of_its_kind(body, kind, payload):
    assert contents(event(body, call_id="c1")) == [{kind: payload}]


@pytest.mark.spec(142, 143)
def test_the_progress_of_a_step_names_the_step():
    (message,) = contents(event(e.ProgressReported(message="m", sent=1), step="plan"))
    assert message["Progress"]["phase"] == "plan"
    (message,) = contents(event(e.IncidentStarted(incident="i1", child_id="c", round=2)))
    assert message["Progress"] == {"percentage": 0, "phase": "working", "description": "i1, prompt 2"}


@pytest.mark.spec(148)
def test_an_error_says_whether_the_session_can_go_on():
    (message,) = contents(event(e.ErrorRaised(code="C", message="m", details="d", recoverable=False)))
    assert message["Error"] == {"error_code": "C", "message": "m", "details": "d", "recoverable": False}
    (message,) = contents(event(e.ErrorRaised(code="C", message="m")))
    assert message["Error"] == {"error_code": "C", "message": "m", "details": None, "recoverable": True}


@pytest.mark.spec(148)
@each_row("recoverable, is_failed", [(True, False), (False, True), (None, False)])
def test_an_error_that_can_be_recovered_from_does_not_end_the_session(recoverable, is_failed):
    reader_rows = [
        {"session": {"id": "ks", "workspace_path": "/shop", "status": "Processing"}},
        *kaiak_messages([event(e.ErrorRaised(code="C", message="m"))], lambda _: None),
    ]
    error = reader_rows[1]["content"]["Error"]
    error["recoverable"] = recoverable
    _, _, tables = imported("".join(json.dumps(row) + "\n" for row in reader_rows).encode())
    (row,) = tables.sessions.values()
    assert (row.status == "failed") is is_failed


@pytest.mark.spec(137)
def test_a_limit_of_time_is_the_error_that_s2_has_for_it_and_a_stop_by_a_human_is_none():
    told = contents(event(e.InterruptRequested(why="It worked for 30 s, its time limit.")))
    assert [next(iter(one)) for one in told] == ["System", "Error"]
    assert told[1]["Error"]["error_code"] == "TimeoutExpired" and told[1]["Error"]["recoverable"]
    assert [next(iter(one)) for one in contents(event(e.InterruptRequested()))] == ["System"]


def session(**more):
    return Session(id="s", kind="chat", status="ready", created_at=1, updated_at=2, **more)


@pytest.mark.spec(132, 136)
def test_a_session_names_its_incidents_options_and_the_session_of_its_agent():
    asked = e.IncidentsRequested(ids=("i1",), options=IncidentOptions(max_turns=4, timeout_s=60, model="m"))
    found = kaiak_session(session(), requested=asked)
    assert (found["incident_ids"], found["goose_session_id"]) == (["i1"], None)
    assert (found["configuration"]["timeout"], found["configuration"]["max_turns"]) == (60, 4)
    assert found["configuration"]["model"] == "m"
    foreign = session(origin="codex", configuration={"import": {"id": "own-id", "format": "codex"}})
    assert kaiak_session(foreign)["goose_session_id"] == "own-id"
    again = session(origin="kaiak", configuration={"import": {
        "id": "s", "goose_session_id": "g1", "incident_ids": ["i9"], "timeout": 7, "max_turns": 2}})  # fmt: skip
    found = kaiak_session(again)
    assert (found["goose_session_id"], found["incident_ids"]) == ("g1", ["i9"])
    assert (found["configuration"]["timeout"], found["configuration"]["max_turns"]) == (7, 2)


@pytest.mark.spec(136)
def test_limits_of_settings_are_those_of_sessions_that_were_started_here():
    limits = [
        (found["timeout"], found["max_turns"])
        for row in (session(), session(configuration={"timeout": 9, "max_turns": 4}), session(origin="codex"))
        for found in (kaiak_session(row, max_turns=50)["configuration"],)
    ]
    assert limits == [(4_294_967_295, 50), (9, 4), (4_294_967_295, 50)]


@pytest.mark.spec(136)
def test_an_imported_session_without_limits_has_numbers_for_them_too():
    facts = (
        {},
        {"import": {}},
        {"import": {"timeout": None, "max_turns": None}},
        {"import": {"max_turns": 3}},
    )
    found = [kaiak_session(session(origin="codex", configuration=one))["configuration"] for one in facts]
    assert [one["timeout"] for one in found] == [4_294_967_295] * 4
    assert [one["max_turns"] for one in found] == [4_294_967_295] * 3 + [3]


@pytest.mark.spec(134, 135)
@each_row(
    "outcome, status",
    [
        ("", "Ready"), ("InProgress", "Processing"), ("Completed", "Completed"), ("Failed", "Failed"),
        ("Cancelled", "Terminated"),
    ],
)  # fmt: skip
def test_a_list_of_incidents_is_where_its_result_is(outcome, status):
    assert kaiak_session(session(), outcome=outcome)["status"] == status


@each_row(
    "row, status",
    [
        (session(), "Ready"),
        (Session(id="s", kind="chat", status="paused", reason="limit reached", created_at=1, updated_at=2),
         "Failed"),
        (Session(id="s", kind="chat", status="paused", reason="user", created_at=1, updated_at=2), "Ready"),
    ],
)  # fmt: skip
def test_a_session_that_a_limit_stopped_is_failed_in_s2(row, status):
    assert kaiak_session(row)["status"] == status


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    script = recording(
        exchange(
            text("I change two files."), call("c1", "create_file", path="n.txt", content="new\n"),
            call("c2", "replace_string_in_file", path="a.txt", old_string="old", new_string="young"),
            call("c3", "run_in_terminal", command="echo out; exit 2"),
        ),
        exchange(text("Done.")),
    )  # fmt: skip
    stage = Stage(tmp_path_factory.mktemp("played"), script, files={"a.txt": "the old text\nend\n"})
    stage.begin("first")
    stage.drive()
    one, two, three = stage.waiting()
    stage.approve(one)
    stage.approve(two)
    stage.reject(three, "not now")
    stage.drive()
    yield stage
    stage.close()


@pytest.mark.spec(140, 147, 149)
def test_a_stream_alone_comes_back_with_calls_questions_answers_and_changed_texts(played):
    events = played.journal.events(played.session_id)
    rows = [{"session": kaiak_session(played.session())}, *kaiak_messages(events, played.journal.blobs.read)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    opened_file, again, tables = imported(data)
    assert opened_file.format == "kaiak" and opened_file.summaries[0].problems == []
    calls = {row.tool: row for row in tables.calls.values()}
    assert {tool: row.state for tool, row in calls.items()} == {
        "create_file": "succeeded", "replace_string_in_file": "succeeded", "run_in_terminal": "rejected",
    }  # fmt: skip
    assert calls["create_file"].parameters == {"path": "n.txt", "content": "new\n"}
    states = sorted((row.state, row.reason) for row in tables.actions.values())
    assert states == [("approved", None), ("approved", None), ("rejected", "not now")]
    changed = [one.body for one in again if isinstance(one.body, e.FileChanged)]
    assert [(body.path, body.change, body.added, body.removed) for body in changed] == [
        ("n.txt", "create", 1, 0), ("a.txt", "modify", 1, 1),
    ]  # fmt: skip
    assert [one.body.text for one in again if isinstance(one.body, e.PromptSubmitted)] == ["first"]


def test_messages_of_a_stream_are_those_of_an_export(played):
    events = played.journal.events(played.session_id)
    live = KaiakMessages(played.journal.blobs.read)
    streamed = [message for one in events for message in live.of(one)]
    assert streamed == list(kaiak_messages(events, played.journal.blobs.read))


def test_what_s2_says_of_a_session_and_its_choices_stays_over_an_import():
    row = {
        "id": "ks", "workspace_path": "/shop", "goose_session_id": "g7", "incident_ids": ["i1", "i2"],
        "configuration": {"provider": "p", "model": "m", "timeout": 30, "max_turns": 9},
    }  # fmt: skip
    message = {
        "id": "m1", "session_id": "ks", "timestamp": "2026-01-01T00:00:00Z", "sequence_number": 1,
        "content": {"AiResponse": {"text": "Hello.", "partial": False}}, "source": "GooseAgent",
    }  # fmt: skip
    data = "".join(json.dumps(one) + "\n" for one in ({"session": row}, message)).encode()
    _, _, tables = imported(data)
    (again,) = tables.sessions.values()
    found = kaiak_session(again)
    assert (found["goose_session_id"], found["incident_ids"]) == ("g7", ["i1", "i2"])
    assert (found["configuration"]["timeout"], found["configuration"]["max_turns"]) == (30, 9)


def test_a_stream_of_several_sessions_comes_back_as_several(played):
    events = played.journal.events(played.session_id)
    one = [{"session": kaiak_session(played.session())}, *kaiak_messages(events, played.journal.blobs.read)]
    text = "\n".join(json.dumps(row) for row in one)
    other = [json.loads(line) for line in text.replace(played.session_id, "another").splitlines()]
    mixed = [row for pair in zip(one, other, strict=True) for row in pair]
    opened_file, _, tables = imported("".join(json.dumps(row) + "\n" for row in mixed).encode())
    assert [summary.problems for summary in opened_file.summaries] == [[], []]
    assert len(tables.calls) == 3


@pytest.mark.parametrize("shared", [True, False])
def test_a_line_without_a_session_belongs_to_the_first(shared):
    rows = [
        {"session_id": "a", "sequence_number": 1, "content": {"AiResponse": {"text": "A"}}},
        {"content": {"AiResponse": {"text": "no session"}}, "sequence_number": 2},
        {"session_id": "a" if shared else "b", "sequence_number": 1, "content": {"AiResponse": {"text": "B"}}},
    ]  # fmt: skip
    heads = [one for one in read_lines([JsonLine(n, row) for n, row in enumerate(rows, 1)], "f")
             if type(one).__name__ == "SessionHead"]  # fmt: skip
    assert [head.key for head in heads] == (["a"] if shared else ["a", "b"])


def message_line(content, number=1):
    return {
        "id": f"m{number}", "session_id": "ks", "timestamp": "2026-01-01T00:00:00Z",
        "sequence_number": number, "content": content, "source": "GooseAgent",
    }  # fmt: skip


@pytest.mark.spec(142, 143, 144, 145, 146, 147, 157)
@each_row(
    "content, why",
    [
        ({"Progress": {"percentage": 100, "phase": "p", "description": "d"}}, ""),
        ({"Progress": {"percentage": 101}}, "not 0 to 100"),
        ({"Progress": {"percentage": -1}}, "not 0 to 100"),
        ({"Progress": {"percentage": True}}, "not 0 to 100"),
        ({"Progress": {"phase": "p"}}, "without percentage"),
        ({"ToolCall": {"tool_call_id": "c", "operation": "Start"}}, ""),
        ({"ToolCall": {"tool_call_id": "c", "operation": "Begin"}}, "Complete, Error, Progress, Start"),
        ({"ToolCall": {"operation": "Start"}}, "without tool_call_id"),
        ({"Thinking": {"percentage": 3}}, "Thinking without text"),
        (
            {"UserInteraction": {"interaction_id": "i", "interaction_type": "Choice"}},
            "Choice without options",
        ),
        ({"UserInteraction": {"interaction_id": "i", "interaction_type": "Choice", "options": ["a"]}}, ""),
        ({"UserInteraction": {"interaction_id": "i", "interaction_type": "Ask"}}, "Approval, Choice, Input"),
        ({"FileModification": {"file_path": "a", "change_type": "Rename"}}, ""),
        ({"FileModification": {"file_path": "a", "change_type": "Touch"}}, "Create, Delete, Modify, Rename"),
        ({"FileModification": {"change_type": "Create"}}, "without file_path"),
        ({"Error": {"error_code": "X"}}, "without message"),
        ({"AiResponse": {"text": "t", "partial": False, "confidence": 0}}, ""),
        ({"AiResponse": {"text": "t", "partial": False, "confidence": 1.0}}, ""),
        ({"AiResponse": {"text": "t", "partial": False, "confidence": None}}, ""),
        ({"AiResponse": {"text": "t", "partial": False, "confidence": 1.1}}, "confidence that is not 0 to 1"),
        (
            {"AiResponse": {"text": "t", "partial": False, "confidence": -0.1}},
            "confidence that is not 0 to 1",
        ),
        (
            {"AiResponse": {"text": "t", "partial": False, "confidence": True}},
            "confidence that is not 0 to 1",
        ),
        ({"FileModification": {"file_path": " ", "change_type": "Create"}}, "empty file_path"),
        (
            {"ToolCall": {"tool_call_id": "c", "operation": "Error", "result": {"success": False}}},
            "a failed result without an error",
        ),
        ({"ToolCall": {"tool_call_id": "c", "operation": "Error"}}, "a failed result without an error"),
        (
            {
                "ToolCall": {
                    "tool_call_id": "c",
                    "operation": "Complete",
                    "result": {"success": False, "error": " "},
                }
            },
            "a failed result without an error",
        ),
        (
            {
                "ToolCall": {
                    "tool_call_id": "c",
                    "operation": "Error",
                    "result": {"success": False, "error": "e"},
                }
            },
            "",
        ),
        ({"System": {"status": "s"}}, "without event"),
    ],
)
def test_a_message_whose_members_do_not_match_its_kind_is_named_and_the_rest_is_read(content, why):
    rows = [message_line(content), message_line({"AiResponse": {"text": "Hello.", "partial": False}}, 2)]
    opened_file, again, _ = imported("".join(json.dumps(row) + "\n" for row in rows).encode())
    told = [problem.message for problem in opened_file.summaries[0].problems]
    assert len(told) == bool(why) and why in "".join(told)
    assert [one.body.text for one in again if isinstance(one.body, e.ReplyCompleted)][-1] == "Hello."


def test_each_end_of_a_rename_is_a_deleted_and_a_created_file():
    ends = [
        {"proposal_id": "p", "file_path": path, "change_type": "Rename", **texts}
        for path, texts in (("old.py", {"original_content": "x\n"}), ("new.py", {"proposed_content": "x\n"}))
    ]
    done = {"tool_call_id": "c1", "operation": "Complete", "result": {"data": "ok"}}
    told = (
        {"ToolCall": {**done, "operation": "Start"}},
        *({"FileModification": end} for end in ends),
        {"ToolCall": done},
    )
    rows = [message_line(content, number) for number, content in enumerate(told, 1)]
    _, again, _ = imported("".join(json.dumps(row) + "\n" for row in rows).encode())
    changed = [one.body for one in again if isinstance(one.body, e.FileChanged)]
    assert [(body.path, body.change) for body in changed] == [("old.py", "delete"), ("new.py", "create")]


@pytest.mark.spec(147)
def test_a_rename_that_names_its_old_path_is_both_ends():
    rename = {"proposal_id": "p", "file_path": "new.py", "change_type": "Rename", "original_path": "old.py"}
    done = {"tool_call_id": "c1", "operation": "Complete", "result": {"data": "ok"}}
    told = ({"ToolCall": {**done, "operation": "Start"}}, {"FileModification": rename}, {"ToolCall": done})
    rows = [message_line(content, number) for number, content in enumerate(told, 1)]
    _, again, _ = imported("".join(json.dumps(row) + "\n" for row in rows).encode())
    changed = [one.body for one in again if isinstance(one.body, e.FileChanged)]
    assert [(body.path, body.change) for body in changed] == [("old.py", "delete"), ("new.py", "create")]


def test_our_own_messages_match_their_kinds(played):
    events = played.journal.events(played.session_id)
    for message in kaiak_messages(events, played.journal.blobs.read):
        kind, payload = tagged_union(message["content"])
        assert payload_problem(kind, payload) == "", message


@pytest.mark.spec(140, 142, 149)
@each_row("name", [name for name in golden.names() if name not in ("long-session", "busy-queue")])
def test_every_recorded_session_is_told_in_messages_that_match_their_kinds(name):
    blobs = golden.blobs(name)
    writers, told, ids = {}, {}, []
    for one in golden.events(name):
        writer = writers.setdefault(one.session_id, KaiakMessages(blobs.get))
        for message in writer.of(one):
            kind, payload = tagged_union(message["content"])
            assert payload_problem(kind, payload) == "", message
            assert message["sequence_number"] == told.get(one.session_id, 0) + 1
            told[one.session_id] = message["sequence_number"]
            ids.append(message["id"])
            json.dumps(message)
    assert told and len(set(ids)) == len(ids)


@pytest.mark.spec(140, 141)
@each_row(
    "numbers, ids, why",
    [
        ((1, 2, 3), "abc", []),
        ((4, 5), "ab", ["the first sequence number is 4, not 1"]),
        ((0, 1), "ab", ["the first sequence number is 0, not 1"]),
        ((1, 2, 2), "abc", ["sequence number 2 comes again after 2"]),
        ((1, 2, 1), "abc", ["sequence number 1 comes again after 2"]),
        ((1, 3), "ab", ["sequence number 3 follows a gap after 1"]),
        (
            (4, 4, 9, 8),
            "abcd",
            [
                "the first sequence number is 4, not 1",
                "sequence number 4 comes again after 4",
                "sequence number 9 follows a gap after 4",
                "sequence number 8 comes again after 9",
            ],
        ),
        ((1, 2), "aa", ["the id a comes again"]),
    ],
)
def test_a_repeat_a_gap_and_another_first_number_are_named(numbers, ids, why):
    rows = [
        {**message_line({"Thinking": {"text": "t"}}, number), "id": key}
        for number, key in zip(numbers, ids, strict=True)
    ]
    opened_file, _, _ = imported("".join(json.dumps(row) + "\n" for row in rows).encode())
    assert [problem.message for problem in opened_file.summaries[0].problems] == why


@pytest.mark.spec(149)
@each_row(
    "source, is_told", [("GooseAgent", False), ("UserInteraction", False), ("Nobody", True), ("", True)]
)
def test_a_source_that_s2_does_not_have_is_named(source, is_told):
    row = {**message_line({"Thinking": {"text": "t"}}), "source": source}
    opened_file, _, _ = imported(json.dumps(row).encode())
    told = [problem.message for problem in opened_file.summaries[0].problems]
    assert (
        told
        == [f"source “{source}”; there is GooseAgent, ToolExecution, SystemMonitoring, UserInteraction"]
        * is_told
    )


SOURCES = {
    "AiResponse": "GooseAgent", "Thinking": "GooseAgent", "ToolCall": "ToolExecution",
    "FileModification": "ToolExecution", "UserInteraction": "UserInteraction", "Progress": "SystemMonitoring",
    "Error": "SystemMonitoring", "System": "SystemMonitoring",
}  # fmt: skip


@pytest.mark.spec(149)
def test_a_message_names_the_source_of_its_kind_and_what_a_human_did_is_theirs():
    bodies = (
        e.TextStreamed(block=0, offset=0, text="t"), e.ThinkingStreamed(block=0, offset=0, text="t"), e.CallExecuting(),
        e.FileChanged(path="a", change="create", before=None, after="x"), opened(), e.TurnStarted(provider="p", model="m"),
        e.ProgressReported(message="m"), e.ErrorRaised(code="c", message="m"),
    )  # fmt: skip
    found = list(kaiak_messages(event(body, number) for number, body in enumerate(bodies, 1)))
    assert {next(iter(one["content"])): one["source"] for one in found} == SOURCES
    human = e.Event(id="h", session_id="s", at=1, actor=Actor(kind="user"), body=e.PromptSubmitted(text="t"),
                    sequence_number=1, position=1)  # fmt: skip
    assert [one["source"] for one in kaiak_messages([human])] == ["UserInteraction"]


def moved(path, old, number):
    changed = e.FileChanged(path=path, change="create", before=None, after="f", moved_from=old)
    return event(changed, number, call_id="c1")


def deleted(path, number, call_id="c1"):
    return event(e.FileChanged(path=path, change="delete", before="f", after=None), number, call_id=call_id)


@pytest.mark.spec(157)
def test_the_error_of_a_call_that_expired_says_what_happened_and_what_to_do():
    row = Call(id="c", session_id="s", turn_id=None, ordinal=1, provider_call_id="c", tool="t", state="expired",
               requested_at=1, finished_at=2, detail="expired")  # fmt: skip
    result = kaiak_tool_call(row, None)["result"]
    assert result["error"].startswith("nobody answered the question in time, so nothing was done; ask")
    assert (result["success"], result["execution_time_ms"]) == (False, 0)


@pytest.mark.spec(157)
def test_a_call_whose_failed_result_has_no_error_is_named():
    call = {"id": "c", "session_id": "ks", "tool_name": "t", "parameters": {}, "result": {"success": False}}
    rows = [{"tool_call": call}, message_line({"Thinking": {"text": "t"}})]
    opened_file, _, _ = imported("".join(json.dumps(row) + "\n" for row in rows).encode())
    problems = [(problem.line, problem.message) for problem in opened_file.summaries[0].problems]
    assert problems == [(1, "a failed result without an error")]


@pytest.mark.spec(147)
def test_a_file_that_was_moved_is_one_rename_with_both_paths():
    files = (plan(path="old.py", after=None), plan(path="new.py", base=None, moved_from="old.py"))
    asked = event(opened(files=files), action_id="a1", call_id="c1")
    for done in (
        (deleted("old.py", 2), moved("new.py", "old.py", 3)),
        (moved("new.py", "old.py", 2), deleted("old.py", 3)),
    ):
        told = [one["FileModification"] for one in contents(asked, *done) if "FileModification" in one]
        assert told == [{
            "proposal_id": "a1", "file_path": "new.py", "change_type": "Rename", "original_path": "old.py",
            "original_content": None, "proposed_content": None,
        }] * 2  # fmt: skip


@pytest.mark.spec(147)
@each_row(
    "events, told",
    [
        ((deleted("old.py", 1),), [("old.py", "Delete")]),
        ((deleted("old.py", 1), event(e.CallExecuting(), 2)), [("old.py", "Delete")]),
        ((deleted("a", 1), deleted("b", 2)), [("a", "Delete"), ("b", "Delete")]),
        ((deleted("old.py", 1), moved("n", "other.py", 2)), [("old.py", "Delete"), ("n", "Rename")]),
        ((deleted("old.py", 1, "c2"), moved("n", "old.py", 2)), [("old.py", "Delete"), ("n", "Rename")]),
    ],
)
def test_a_file_that_was_deleted_and_not_moved_is_told_as_deleted(events, told):
    found = [one["FileModification"] for one in contents(*events) if "FileModification" in one]
    assert [(one["file_path"], one["change_type"]) for one in found] == told


PATCH = """*** Begin Patch
*** Update File: src/old.py
*** Move to: src/new.py
@@
-one
+two
*** End Patch
"""


@pytest.mark.spec(147)
def test_a_patch_that_renames_is_a_rename_and_comes_back_as_both_ends():
    rows = [
        message_line({"ToolCall": {"tool_call_id": "c1", "tool_name": "apply_patch", "operation": "Start",
                                   "parameters": {"input": PATCH}}}),
        message_line({"ToolCall": {"tool_call_id": "c1", "operation": "Complete",
                                   "result": {"success": True, "data": "ok", "execution_time_ms": 1}}}, 2),
    ]  # fmt: skip
    _, events, _ = imported("".join(json.dumps(row) + "\n" for row in rows).encode())
    written = list(kaiak_messages([one for one in events if not isinstance(one.body, e.Unknown)]))
    (told,) = (one["content"]["FileModification"] for one in written if "FileModification" in one["content"])
    assert (told["change_type"], told["original_path"], told["file_path"], told["is_excerpt"]) == (
        "Rename", "src/old.py", "src/new.py", True,
    )  # fmt: skip
    assert (told["original_content"], told["proposed_content"]) == ("one\n", "two\n")
    data = "".join(json.dumps(row) + "\n" for row in written).encode()
    _, again, _ = imported(data)
    ends = [(one.body.path, one.body.change) for one in again if isinstance(one.body, e.FileChanged)]
    assert ends == [("src/old.py", "delete"), ("src/new.py", "create")]
