"""What the readers of agents do beyond one file: files beside it, agents below, and what is none of theirs."""

import io
import json
import sys
from pathlib import Path

import apsw
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from agent_files import (
    AGENT_FILES,
    CLINE,
    CLINE_SCREEN,
    CLINE_SCREEN_ROWS,
    CLINE_TASK,
    GROK,
    KIMI,
    MS,
    VIBE,
    copilot,
    lines,
    shown,
)
from counted_sessions import CLAUDE, PI

from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.formats import detect
from workbench.formats.detect import UnknownFormat

SECOND = 1_000_000


def opened(data, name="x", **beside):
    files = {path.replace("__", "/"): json.dumps(value).encode() for path, value in beside.items()}
    found = detect.open_file(
        io.BytesIO(data), name, 0, None, store=lambda _: None, current_id=lambda key: key,
        beside=lambda path: files.get(path.replace(".json", "").replace("../", ""), b""),
    )  # fmt: skip
    events = list(found.events)
    return found, events, MemoryTables().fold(events)


def heads(rows):
    return [(one.title, one.workspace, one.model, one.usage.input_tokens) for one in rows.sessions.values()]


def test_what_lies_beside_a_session_gives_it_title_folder_model_and_tokens():
    stats = {"session_prompt_tokens": 90, "session_completion_tokens": 9}
    about = {
        "session_id": "v",
        "title": "T",
        "environment": {"working_directory": "/w"},
        "model": "m",
        "stats": stats,
    }
    assert heads(opened(VIBE, "v/messages.jsonl", meta=about)[2]) == [("T", "/w", "m", 90)]
    about = {"info": {"id": "g", "cwd": "/w"}, "generated_title": "T", "current_model_id": "other"}
    assert heads(opened(GROK, "g/chat_history.jsonl", summary=about)[2]) == [("T", "/w", "grok", 0)]
    about = {"title": "T", "workDir": "/w"}
    assert heads(opened(KIMI, "session_1/agents/main/wire.jsonl", state=about)[2])[0][:2] == ("T", "/w")
    settings = {"model": "m", "tokenUsage": {"inputTokens": 5, "cacheReadTokens": 7}}
    data = (
        AGENT_FILES["droid"][0]
        .replace(b'"input_tokens": 7', b'"input_tokens": 0')
        .replace(b'"cache_read_input_tokens": 900', b'"x": 0')
    )
    found = opened(
        data.replace(b'"cache_creation_input_tokens": 40', b'"y": 0'), "d.jsonl", **{"d.settings": settings}
    )[2]
    assert heads(found) == [("Change it", "/shop", "m", 12)]


def test_damaged_and_missing_neighbours_change_nothing():
    for data in (b"", b"{broken", b"[1, 2]", b"null", b"\xff\xfe\x00"):
        found = detect.open_file(
            io.BytesIO(VIBE),
            "v/messages.jsonl",
            0,
            None,
            store=lambda _: None,
            current_id=lambda key: key,
            beside=lambda _, data=data: data,
        )
        rows = MemoryTables().fold(list(found.events))
        assert [one.title for one in rows.sessions.values()] == ["change it"]


def test_a_wait_for_approval_lasts_as_long_as_it_did():
    _, events, rows = opened(KIMI)
    call = next(call for call in rows.calls.values() if call.provider_call_id == "b")
    asked = next(
        event.at for event in events if event.call_id == call.id and isinstance(event.body, e.ActionOpened)
    )
    answered = next(
        event.at for event in events if event.call_id == call.id and isinstance(event.body, e.ActionApproved)
    )
    assert [(moment - MS * 1000) / SECOND for moment in (asked, answered, call.finished_at)] == [5, 40, 50]


def test_an_agent_below_is_a_session_of_its_own_and_its_call_names_it():
    data = lines(
        copilot(0, "session.start", sessionId="s", selectedModel="m"),
        copilot(1, "user.message", content="go"),
        copilot(
            2,
            "assistant.message",
            content="",
            toolRequests=[{"toolCallId": "t", "name": "task", "arguments": {}}],
        ),
        copilot(
            3,
            "assistant.message",
            content="I look.",
            parentToolCallId="t",
            toolRequests=[{"toolCallId": "u", "name": "bash", "arguments": {}}],
        ),
        copilot(
            4,
            "tool.execution_complete",
            toolCallId="u",
            success=True,
            parentToolCallId="t",
            result={"content": "a"},
        ),
        copilot(9, "tool.execution_complete", toolCallId="t", success=True, result={"content": "looked"}),
    )
    _, events, rows = opened(data)
    main, below = rows.sessions.values()
    assert below.parent_id == main.id
    ends = [event.body.metadata for event in events if isinstance(event.body, e.CallFinished)]
    assert {"child_session": below.id} in ends
    assert [event.body.text for event in events if isinstance(event.body, e.PromptSubmitted)] == ["go"]


def test_a_task_takes_times_costs_and_questions_from_its_screen():
    rows_of_task = [
        {key: value for key, value in row.items() if key not in ("ts", "metrics")} for row in CLINE_TASK
    ]
    screen = [
        shown(0, "say", "text", "change it"),
        *(shown(10 * n, "say", "api_req_started", json.dumps({"tokensIn": 1, "tokensOut": 2, "cacheReads": 30, "cost": 0.5})) for n in range(1, 6)),
        shown(35, "ask", "command", "rm x"), shown(55, "say", "user_feedback", "not that"),
    ]  # fmt: skip
    screen.sort(key=lambda row: row["ts"])
    _, events, rows = opened(
        json.dumps(rows_of_task).encode(),
        f"tasks/{MS}/api_conversation_history.json",
        ui_messages=screen,
        task_metadata={"model_usage": [{"model_id": "other"}]},
    )
    (session,) = rows.sessions.values()
    assert (session.usage.input_tokens, session.usage.cache_read_tokens, session.usage.cost_microdollars) == (
        155,
        150,
        2_500_000,
    )
    assert (session.model, session.created_at) == ("big", MS * 1000)
    asked = [(event.at // 1000 - MS) // 1000 for event in events if isinstance(event.body, e.ActionOpened)]
    assert 35 in asked


def test_the_screen_of_a_task_is_left_to_its_conversation():
    found, events, _ = opened(
        CLINE_SCREEN,
        "tasks/1/ui_messages.json",
        ui_messages=CLINE_SCREEN_ROWS,
        api_conversation_history=CLINE_TASK,
    )
    assert events == []
    assert ["read instead" in one.message for one in found.strays] == [True]
    assert opened(CLINE_SCREEN, "tasks/1/ui_messages.json")[0].format == "cline"
    same = [opened(data, "tasks/1/" + name)[0].summaries[0].session_id for data, name in (
        (CLINE, "api_conversation_history.json"), (CLINE_SCREEN, "ui_messages.json"))]  # fmt: skip
    assert same[0] == same[1]


@each_row("fence", ["```", "~~~", "   ```json"])
def test_a_document_with_examples_is_no_session(fence):
    for example in (PI, CLAUDE):
        text = f"# The format\n\nSome words.\n\n{fence}\n".encode() + example + b"```\n\nAnd more.\n"
        with pytest.raises(UnknownFormat, match="blocks of code hold are examples"):
            opened(text)


def test_words_before_a_session_and_blocks_that_ended_change_nothing():
    assert opened(b"npm warn\n" + PI)[0].format == "pi"
    assert opened(b"```\nnpm warn\n```\n" + PI)[0].format == "pi"


def test_a_database_of_another_program_names_those_that_are_known():
    database = apsw.Connection(":memory:")
    database.execute("CREATE TABLE sessions (id, title); CREATE TABLE messages (id, content)")
    with pytest.raises(UnknownFormat, match="none of OpenCode or Goose or Crush or Cursor"):
        opened(database.serialize("main"))


DATABASES = [name for name in AGENT_FILES if AGENT_FILES[name][0].startswith(b"SQLite")]


@each_row("name", DATABASES)
def test_a_damaged_database_is_told_and_nothing_is_raised(name):
    data = AGENT_FILES[name][0]
    for place in range(0, len(data), 509):
        damaged = data[:place] + b"\xa5" * 64 + data[place + 64 :]
        try:
            opened(damaged)
        except UnknownFormat:
            continue


@each_row("name", DATABASES)
def test_values_of_other_types_in_a_database_stop_nothing(name):
    for odd in (
        None,
        1.5,
        b"\xff\x00",
        "[]",
        "{}",
        '[{"type": 7, "data": []}]',
        '[["text"]]',
        "null",
        "x" * 9,
    ):
        database = apsw.Connection(":memory:")
        database.deserialize("main", AGENT_FILES[name][0])
        for table in ("sessions", "messages", "meta", "blobs"):
            for column in [
                row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))
            ]:
                if column != "id":
                    database.execute("SAVEPOINT one")
                    database.execute(f"UPDATE {table} SET {column} = ?", (odd,))
                    opened(database.serialize("main"))
                    database.execute("ROLLBACK TO one")


def test_tokens_counted_at_the_end_stand_in_the_last_reply():
    _, events, _ = opened(AGENT_FILES["copilot"][0])
    replies = [event.body for event in events if isinstance(event.body, e.ReplyCompleted)]
    assert [(reply.text, reply.usage.input_tokens) for reply in replies] == [("I do.", 0), ("Done.", 950)]


def test_a_session_that_grows_agrees_with_what_was_there():
    for name in ("qwen", "droid", "vibe", "grok", "cursor", "kimi"):
        data = AGENT_FILES[name][0]
        rows = data.splitlines(keepends=True)
        before = opened(b"".join(rows[: len(rows) - 2]))[1]
        after = opened(data)[1]
        same = [one for one in before if ".end." not in one.id]
        assert [one.id for one in same] == [one.id for one in after[: len(same)]], name


EMPTY = {
    "qwen": lambda rows: {**rows[0], "uuid": "e", "systemPayload": {}, "message": {"role": "user", "parts": []}},
    "copilot": lambda rows: copilot(50, "user.message", content="", attachments=[]),
    "droid": lambda rows: {"type": "message", "id": "e", "message": {"role": "assistant", "content": []}},
    "droid-stream": lambda rows: {"type": "message", "session_id": "droid-2", "role": "user", "text": ""},
    "cursor": lambda rows: {"role": "assistant", "message": {"content": []}},
    "kimi": lambda rows: {"type": "turn.prompt", "input": [], "time": MS},
    "vibe": lambda rows: {"role": "assistant", "content": "", "message_id": "e"},
    "grok": lambda rows: {"type": "assistant", "content": "", "tool_calls": []},
    "openai": lambda rows: {"type": "response", "choices": [{"message": {"role": "assistant", "content": ""}}]},
}  # fmt: skip


@each_row("name", EMPTY)
def test_a_message_without_words_calls_and_results_is_not_understood_and_told(name):
    data = AGENT_FILES[name][0]
    rows = [json.loads(line) for line in data.splitlines()]
    before = opened(data)[0].summaries[0].kept
    found = opened(data + lines(EMPTY[name](rows)))[0].summaries[0]
    assert found.kept == before + 1
    assert "without words" in found.problems[-1].message


@each_row("name", [name for name in AGENT_FILES if name not in DATABASES])
def test_a_record_of_a_kind_that_is_new_is_kept_and_told(name):
    data = AGENT_FILES[name][0]
    if data[:1] != b"{" or b"\n" not in data:
        return
    row = {**json.loads(data.splitlines()[0]), "type": "novelty", "role": "novelty"}
    for gone in ("payload", "data", "message", "uuid", "time", "timestamp"):
        row.pop(gone, None)
    found = opened(data + lines(row))[0].summaries[0]
    assert found.kept >= 1
    assert any("not understood" in problem.message for problem in found.problems)


@each_row(
    "name",
    [name for name in AGENT_FILES if b'"hm"' in AGENT_FILES[name][0] or b"hm<" in AGENT_FILES[name][0]],
)
def test_thoughts_are_no_words(name):
    replies = [
        event.body for event in opened(AGENT_FILES[name][0])[1] if isinstance(event.body, e.ReplyCompleted)
    ]
    if name == "cline":
        assert "<thinking>" not in replies[0].text
        return
    assert [reply.thinking for reply in replies if reply.thinking] == ["hm"]
    assert not [reply for reply in replies if "hm" in reply.text]


@each_row("name", ["cline", "roo"])
def test_blocks_of_search_and_replacement_are_a_diff(name):
    changed = [
        event.body for event in opened(AGENT_FILES[name][0])[1] if isinstance(event.body, e.FileChanged)
    ]
    assert [hunk.lines for body in changed for hunk in body.hunks] == [(("-", "a = 1"), ("+", "a = 2"))]


BESIDE = {
    "vibe": {"session_id": "v", "title": "T", "environment": {"working_directory": "/w"}, "model": "m", "start_time": "x",
             "stats": {"session_prompt_tokens": 9, "session_completion_tokens": 1}},
    "grok": {"info": {"id": "g", "cwd": "/w"}, "generated_title": "T", "created_at": "x", "head_branch": "main"},
    "kimi": {"title": "T", "workDir": "/w"},
    "droid": {"model": "m", "tokenUsage": {"inputTokens": 5, "cacheReadTokens": 7}},
    "cline": [{"ts": MS, "type": "ask", "ask": "command", "text": "rm x", "partial": False},
              {"ts": MS, "type": "say", "say": "api_req_started", "text": '{"tokensIn": 5}', "model_usage": [{"model_id": "m"}]}],
    "roo": {"model_usage": [{"model_id": "m"}], "rows": [{"say": "api_req_started"}]},
}  # fmt: skip
ODD = (
    None,
    True,
    -1,
    1e308,
    2**63,
    "",
    "\x00\x1b[31m\u202e",
    [],
    {},
    [[]],
    [None],
    ["a", 1],
    [{"say": 7}],
    {"rows": 1},
)


def oddly(value, odd):
    """Yield copies of a value in which one part after the other is something odd."""
    yield odd
    if isinstance(value, dict):
        for key, held in value.items():
            yield from ({**value, key: other} for other in oddly(held, odd))
    elif isinstance(value, list):
        for place, held in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in oddly(held, odd))


@each_row("name", BESIDE)
def test_odd_values_beside_a_session_stop_nothing(name):
    for odd in ODD:
        for value in oddly(BESIDE[name], odd):
            data = json.dumps(value).encode()
            found = detect.open_file(
                io.BytesIO(AGENT_FILES[name][0]), "a/b/c/x.json", 0, None, store=lambda _: None, current_id=lambda key: key,
                beside=lambda _, data=data: data,
            )  # fmt: skip
            rows = MemoryTables().fold(list(found.events))
            assert len(rows.sessions) <= 1


def test_arguments_that_are_json_texts_are_read_as_what_they_say():
    rows = opened(AGENT_FILES["antigravity"][0])[2]
    assert [call.parameters for call in rows.calls.values()] == [
        {"DirectoryPath": "/shop"},
        {"Command": "false"},
        {},
    ]


@each_row(
    ("name", "key"),
    [
        ("/home/x/.gemini/antigravity/brain/a1/.system_generated/logs/transcript.jsonl", "a1"),
        ("kept/a2.jsonl", "a2"),
    ],
)
def test_a_transcript_of_antigravity_has_the_id_of_its_folder(name, key):
    found = detect.open_file(
        io.BytesIO(AGENT_FILES["antigravity"][0]), name, 0, None, store=lambda _: None, current_id=str
    )
    list(found.events)
    assert [one.key for one in found.summaries] == [key]


def test_two_sessions_that_no_file_names_are_two():
    def read(begun):
        rows = [
            copilot(begun, "user.message", content="hi"),
            copilot(begun + 1, "assistant.message", content="Yes."),
        ]
        found, events, _ = opened(lines(*rows), "events.jsonl")
        assert [event.body.text for event in events if isinstance(event.body, e.PromptSubmitted)] == ["hi"]
        return found.summaries[0].session_id

    assert read(0) == read(0) != read(60)
