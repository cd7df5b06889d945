"""Claude Code: what its lines become, on lines written after their description and on real ones."""

import io
import json
from pathlib import Path

import pytest

from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.formats import detect

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "sessions"


def made(lines, name="x"):
    data = "".join(json.dumps(line) + "\n" for line in lines).encode() if isinstance(lines, list) else lines
    opened = detect.open_file(
        io.BytesIO(data), name, 1_700_000_000_000_000, None, store=lambda _: None, current_id=lambda key: key
    )
    return opened, list(opened.events)


def line(number, kind, content, **more):
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {
        "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s1", "cwd": "/home/me/shop", "timestamp": f"2026-11-21T12:00:{number:02}Z",
        "message": message, **more,
    }  # fmt: skip


def asks(number, key, tool, **arguments):
    block = {"type": "tool_use", "id": key, "name": tool, "input": arguments}
    usage = {"input_tokens": 10, "output_tokens": number, "cache_read_input_tokens": 5}
    return line(number, "assistant", [block], message={"id": "m1", "model": "big", "usage": usage})


def answers(number, key, said, *, is_error=False, **result):
    block = {"type": "tool_result", "tool_use_id": key, "content": said, "is_error": is_error}
    return line(number, "user", [block], toolUseResult=result)


def bodies(events, kind):
    return [event.body for event in events if isinstance(event.body, kind)]


EDIT = {"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 1, "lines": ["-a = 1", "+a = 2"]}
SESSION = [
    line(0, "user", "rename it"),
    line(1, "assistant", [{"type": "thinking", "thinking": "hm"}], message={"id": "m1", "usage": {"input_tokens": 10, "output_tokens": 1}}),
    asks(2, "t1", "Edit", file_path="/home/me/shop/a.py", old_string="a = 1", new_string="a = 2"),
    answers(3, "t1", "done", structuredPatch=[EDIT]),
    asks(4, "t2", "Bash", command="rm -rf build"),
    answers(5, "t2", "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nkeep it", is_error=True),
    asks(6, "t3", "Bash", command="false"),
    answers(7, "t3", "Exit code 2\nbad", is_error=True),
    {"type": "summary", "summary": "Renamed a", "leafUuid": "u7"},
    {"type": "brand-new", "uuid": "n1", "sessionId": "s1"},
]  # fmt: skip


@pytest.mark.spec(218)
def test_lines_become_turns_calls_changes_and_decisions():
    opened, events = made(SESSION)
    rows = MemoryTables().fold(events)
    (session,) = rows.sessions.values()
    assert session.model == "big"
    assert (session.kind, session.origin, session.title, session.workspace, session.status) == (
        "import", "claude-code", "Renamed a", "/home/me/shop", "completed",
    )  # fmt: skip
    assert [(call.tool, call.state, call.exit_code) for call in rows.calls.values()] == [
        ("Edit", "succeeded", None), ("Bash", "rejected", None), ("Bash", "failed", 2),
    ]  # fmt: skip
    (action,) = rows.actions.values()
    assert (action.state, action.reason, action.target) == ("rejected", "keep it", "rm -rf build")
    (changed,) = bodies(events, e.FileChanged)
    assert (changed.path, changed.added, changed.removed) == ("/home/me/shop/a.py", 1, 1)
    assert changed.hunks[0].lines == (("-", "a = 1"), ("+", "a = 2"))
    (summary,) = opened.summaries
    assert (summary.kept, [(p.line, "brand-new" in p.message) for p in summary.problems]) == (1, [(10, True)])
    assert [body.original_kind for body in bodies(events, e.Unknown)][-1] == "claude-code.unknown.brand-new"


def test_usage_counts_once_a_message():
    _, events = made(SESSION)
    total = MemoryTables().fold(events).sessions.popitem()[1].usage
    assert (total.input_tokens, total.output_tokens) == (15, 6)


def test_the_same_file_makes_the_same_events_and_a_longer_one_begins_with_them():
    _, once = made(SESSION)
    _, again = made(SESSION, "other name")
    assert once == again
    _, part = made(SESSION[:4])
    known = {event.id: event for event in once}
    regular = [event for event in part if ".end." not in event.id]
    assert all(known[event.id].body == event.body for event in regular)


def test_a_resumed_file_repeats_nothing():
    _, once = made(SESSION)
    _, twice = made([*SESSION, *SESSION])
    assert len(bodies(twice, e.PromptSubmitted)) == len(bodies(once, e.PromptSubmitted))


def test_secrets_are_scrubbed_everywhere():
    token = "ghp_" + "a1B2" * 9
    lines = [
        line(0, "user", f"use {token}"),
        asks(1, "t1", "Write", file_path=f"/x/{token}", content=f"key = '{token}'"),
        answers(2, "t1", f"wrote {token}", type="create"),
        {"type": "strange", "sessionId": "s1", "uuid": "q", "deep": {"token": token, "list": [token]}},
        {"type": "summary", "summary": token, "leafUuid": "u"},
    ]
    _, events = made(lines)
    assert token not in "\n".join(map(repr, events))


def test_a_call_without_a_result_is_of_unknown_outcome():
    _, events = made(SESSION[:3])
    (call,) = MemoryTables().fold(events).calls.values()
    assert (call.state, call.error) == ("interrupted", "the file holds no result of this call")


REAL_NAMES = ("claude-code-1.jsonl", "claude-code-rejection.jsonl") if REAL.is_dir() else ()
"""Real files, read in addition where they exist next to the repository."""


@pytest.mark.parametrize("name", ["own-rejection", *REAL_NAMES])
def test_every_line_of_a_whole_session_is_understood(name):
    known = [row for row in SESSION if row["type"] != "brand-new"]
    opened, events = made((REAL / name).read_bytes() if name in REAL_NAMES else known)
    rows = MemoryTables().fold(events)
    assert [summary.kept for summary in opened.summaries] == [0]
    assert all(call.state not in ("pending", "approved", "executing") for call in rows.calls.values())
    if "rejection" in name:
        assert "rejected" in {action.state for action in rows.actions.values()}


def aside(number, kind, content, parent, **more):
    return line(number, kind, content, isSidechain=True, **more) | {"parentUuid": parent}


@pytest.mark.parametrize("agents", [("", ""), ("a1", "a2")], ids=["by chain", "by id"])
def test_agents_between_the_lines_become_sessions_of_their_own(agents):
    named = [{"agentId": agent} if agent else {} for agent in agents]
    lines = [
        line(0, "user", "look into it"),
        asks(1, "t1", "Task", prompt="count the files"),
        aside(2, "user", "count the files", None, **named[0]),
        aside(3, "user", "name the tests", None, **named[1]),
        aside(4, "assistant", [{"type": "text", "text": "seven"}], "u2", **named[0]),
        aside(5, "assistant", [{"type": "text", "text": "none"}], "u3", **named[1]),
        answers(6, "t1", "seven"),
        line(7, "assistant", [{"type": "text", "text": "there are seven"}]),
    ]
    opened, events = made(lines)
    main, *below = MemoryTables().fold(events).sessions.values()
    assert [one.title for one in (main, *below)] == ["look into it", "count the files", "name the tests"]
    assert [one.parent_id for one in below] == [main.id, main.id]
    said = [
        (e_.session_id == main.id, e_.body.text) for e_ in events if isinstance(e_.body, e.ReplyCompleted)
    ]
    assert [text for is_main, text in said if is_main and text] == ["there are seven"]
    assert [text for is_main, text in said if not is_main] == ["seven", "none"]
    assert len({summary.session_id for summary in opened.summaries}) == 3


def test_the_file_of_an_agent_is_one_session_below_the_one_that_started_it():
    lines = [aside(0, "user", "count", None, agentId="a1"),
             aside(1, "assistant", [{"type": "text", "text": "seven"}], "u0", agentId="a1")]  # fmt: skip
    _, events = made(lines)
    (session,) = MemoryTables().fold(events).sessions.values()
    _, whole = made([line(0, "user", "go on")])
    assert session.parent_id == whole[0].session_id
    assert session.title == "count"


@each_row(
    ("content", "prompt"),
    [
        ("<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>a.py</command-args>", "/review a.py"),
        ("<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>", "/clear"),
        ("<bash-input>git status</bash-input>", "! git status"),
        ("<local-command-stdout>Set model</local-command-stdout>", None),
        ("<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>", None),
        ("<task-notification><task-id>b</task-id></task-notification>", None),
        ("[Request interrupted by user for tool use]", None),
        ([{"type": "text", "text": "look"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}], "look\n[image/png, 3 bytes, not kept]"),
    ],
)  # fmt: skip
def test_what_a_human_typed_is_told_from_what_the_program_put_there(content, prompt):
    _, events = made([line(0, "user", content)])
    assert [body.text for body in bodies(events, e.PromptSubmitted)] == [prompt] * (prompt is not None)
    assert events


def test_what_was_typed_while_the_agent_worked_is_a_prompt():
    queued = {"type": "attachment", "uuid": "q", "sessionId": "s1", "timestamp": "2026-11-21T12:00:02Z",
              "attachment": {"type": "queued_command", "prompt": "and the tests", "commandMode": "prompt"}}  # fmt: skip
    _, events = made([line(0, "user", "rename it"), queued])
    assert [body.text for body in bodies(events, e.PromptSubmitted)] == ["rename it", "and the tests"]


@pytest.mark.parametrize(
    ("said", "is_error", "full", "state"),
    [
        ("The user doesn't want to take this action right now. STOP", True, None, "rejected"),
        ("no", False, "User rejected tool use", "rejected"),
        ("[Request interrupted by user for tool use]", True, None, "cancelled"),
        ("Permission to use Bash has been denied.", True, None, "failed"),
        ([{"type": "text", "text": "a"}, {"type": "tool_reference", "tool_name": "Grep"}], False, None, "succeeded"),
    ],
)  # fmt: skip
def test_how_a_call_ended(said, is_error, full, state):
    answer = answers(2, "t1", said, is_error=is_error)
    answer["toolUseResult"] = full
    _, events = made([line(0, "user", "x"), asks(1, "t1", "Bash", command="ls"), answer])
    (call,) = MemoryTables().fold(events).calls.values()
    assert call.state == state
    if isinstance(said, list):
        assert bodies(events, e.CallFinished)[0].preview == "a\n[tool_reference Grep]"


def test_an_answered_question_and_an_edited_change_were_decided_by_a_human():
    lines = [
        line(0, "user", "x"),
        asks(1, "t1", "ExitPlanMode", plan="first a"),
        answers(2, "t1", "User has approved your plan"),
        asks(3, "t2", "Edit", file_path="a.py", old_string="1", new_string="2"),
        answers(4, "t2", "done", structuredPatch=[EDIT], userModified=True),
        asks(5, "t3", "Bash", command="ls"),
        answers(6, "t3", "a.py"),
    ]
    _, events = made(lines)
    rows = MemoryTables().fold(events)
    assert [(action.tool, action.state) for action in rows.actions.values()] == [
        ("ExitPlanMode", "approved"), ("Edit", "approved"),
    ]  # fmt: skip


def test_an_error_of_the_service_is_no_reply_and_names_no_model():
    failed = line(1, "assistant", [{"type": "text", "text": "API Error: 529"}], isApiErrorMessage=True,
                  message={"model": "<synthetic>"})  # fmt: skip
    _, events = made([line(0, "user", "x"), failed, asks(2, "t1", "Bash", command="ls")])
    assert [body.message for body in bodies(events, e.ErrorRaised)] == ["API Error: 529"]
    assert MemoryTables().fold(events).sessions.popitem()[1].model == "big"


REFUSED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@each_row(
    ("row", "why"),
    [
        ({"error": {"status": 529, "error": REFUSED}}, "Overloaded, status 529"),
        ({"error": {"status": 529, "error": REFUSED["error"]}}, "Overloaded, status 529"),
        (
            {"error": {"message": "Connection error.", "cause": {"code": "ECONNRESET"}}},
            "Connection error., ECONNRESET",
        ),
        ({"error": {"cause": {"code": "ConnectionRefused", "path": "/v1"}}}, "ConnectionRefused"),
        ({"cause": {"code": "FailedToOpenSocket"}, "error": {"cause": {}}}, "FailedToOpenSocket"),
        ({"error": {"cause": {"message": "no route"}}}, "no route"),
        ({"content": "Overloaded", "error": {"message": "Overloaded"}}, "Overloaded"),
        ({"error": {}}, "error"),
    ],
)
def test_why_a_request_failed_is_told(row, why):
    failed = {**line(1, "system", ""), "subtype": "api_error", "level": "error", **row}
    _, events = made([line(0, "user", "x"), failed])
    assert [body.message for body in bodies(events, e.ErrorRaised)] == [why]


def test_tools_of_the_service_answer_within_the_reply():
    blocks = [{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
              {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "title": "A page", "url": "https://x.example"}]}]  # fmt: skip
    _, events = made([line(0, "user", "x"), line(1, "assistant", blocks)])
    (call,) = MemoryTables().fold(events).calls.values()
    assert (call.tool, call.state) == ("web_search", "succeeded")


def test_a_file_that_begins_with_bookkeeping_is_recognised():
    lines = [{"type": "permission-mode", "permissionMode": "default", "sessionId": "s1"}] * 6
    opened, events = made([*lines, line(0, "user", "hello")])
    assert (opened.format, bodies(events, e.PromptSubmitted)[0].text) == ("claude-code", "hello")


def prompts_of(lines):
    return [body.text for body in bodies(made(lines)[1], e.PromptSubmitted)]


def test_a_history_that_is_written_again_under_new_ids_counts_once():
    asked, answered = asks(1, "t1", "Bash", command="ls"), answers(2, "t1", "a.py")
    story = [line(0, "user", "look"), asked, answered]
    again = [
        {**json.loads(json.dumps(row)), "uuid": f"again{n}", "parentUuid": f"again{n - 1}" if n else None}
        for n, row in enumerate(story)
    ]
    longer = [*story, *again, {**line(3, "user", "go on"), "parentUuid": "again2"}]
    _, events = made(longer)
    assert prompts_of(longer) == ["look", "go on"]
    assert [call.state for call in MemoryTables().fold(events).calls.values()] == ["succeeded"]
    assert not [body for body in bodies(events, e.TurnEnded) if body.outcome == "interrupted"]
    replies = bodies(events, e.ReplyCompleted)
    assert [reply.usage.output_tokens for reply in replies] == [1]
    again[1]["message"]["usage"] = {"output_tokens": 9}
    assert sum(reply.usage.output_tokens for reply in bodies(made(longer)[1], e.ReplyCompleted)) == 9
    twice = asks(4, "t1", "Bash", command="pwd") | {"parentUuid": "u3"}
    twice["message"] = {**twice["message"], "id": "m9"}
    _, events = made([*longer, twice, {**answers(5, "t1", "/"), "parentUuid": "u4"}])
    assert [call.state for call in MemoryTables().fold(events).calls.values()] == ["succeeded"] * 2


def test_what_follows_where_a_human_went_back_is_a_fork_below_its_source():
    first = [
        line(0, "user", "one"),
        line(1, "assistant", [{"type": "text", "text": "1"}], message={"id": "a", "model": "big"}),
    ]
    left = [
        line(2, "user", "two"),
        line(3, "assistant", [{"type": "text", "text": "2"}], message={"id": "b"}),
    ]
    other = {**line(4, "user", "another"), "parentUuid": "u1"}
    more = [line(5, "assistant", [{"type": "text", "text": "3"}], message={"id": "c"})]
    back = {**line(6, "user", "once more"), "parentUuid": "u1"}
    opened, events = made([*first, *left, other, *more, back])
    assert [(one.key, one.title) for one in opened.summaries] == [
        ("s1", "one"), ("s1/fork1", "another"), ("s1/fork2", "once more"),
    ]  # fmt: skip
    created = {event.session_id: event.body for event in events if isinstance(event.body, e.SessionCreated)}
    whole, fork, _ = created
    assert [body.parent_id for body in created.values()] == [None, whole, whole]
    assert created[fork].model == "big" and created[fork].configuration["import"]["fork"] == 1
    said = [
        (event.session_id, event.body.text) for event in events if isinstance(event.body, e.PromptSubmitted)
    ]
    assert said[:3] == [(whole, "one"), (whole, "two"), (fork, "another")]
    stops = [body.detail for body in bodies(events, e.TurnEnded) if body.outcome == "interrupted"]
    assert stops == ["the user went back over 1 prompt", "the user went back over 1 prompt"]
    _, again = made([*first, *left, other, *more, back, line(7, "user", "and on")])
    assert again[: len(events) - 1] == events[: len(events) - 1]
    _, events = made([*first, *left, {**other, "parentUuid": "u3"}])
    assert len(bodies(events, e.SessionCreated)) == 1 and not bodies(events, e.Unknown)


def test_who_went_back_over_the_first_prompt_began_a_fork_below_the_session():
    reply = line(2, "assistant", [{"type": "text", "text": "2"}], message={"id": "b"})
    left = [line(0, "user", "one"), line(1, "user", "two"), reply]
    back = {**line(3, "user", "other"), "parentUuid": None}
    opened, events = made([*left, back, line(4, "user", "and on")])
    assert [(one.key, one.title) for one in opened.summaries] == [("s1", "one"), ("s1/fork1", "other")]
    created = [event for event in events if isinstance(event.body, e.SessionCreated)]
    assert [event.body.parent_id for event in created] == [None, created[0].session_id]
    said = [event.session_id for event in events if isinstance(event.body, e.PromptSubmitted)]
    assert said == [created[0].session_id] * 2 + [created[1].session_id] * 2
    stops = [body.detail for body in bodies(events, e.TurnEnded) if body.outcome == "interrupted"]
    assert stops == ["the user went back over 2 prompts"]
    for more in ({"isCompactSummary": True}, {"logicalParentUuid": "u2"}, {"isMeta": True}):
        opened, _ = made([*left, {**back, **more}, line(4, "user", "and on")])
        assert [one.key for one in opened.summaries] == ["s1"], more
    opened, _ = made([*left, {**left[0], "uuid": "again"}, {**line(4, "user", "and on"), "parentUuid": "u2"}])
    assert [one.key for one in opened.summaries] == ["s1"], "it was told a second time"


def test_an_agent_of_a_fork_stands_below_the_fork():
    lines = [
        line(0, "user", "one"), line(1, "user", "two"), {**line(2, "user", "other"), "parentUuid": "u0"},
        {**line(3, "user", "look around"), "parentUuid": None, "isSidechain": True},
    ]  # fmt: skip
    opened, events = made(lines)
    assert [one.key for one in opened.summaries] == ["s1", "s1/fork1", "s1/u3"]
    created = [event for event in events if isinstance(event.body, e.SessionCreated)]
    assert created[2].body.parent_id == created[1].session_id
