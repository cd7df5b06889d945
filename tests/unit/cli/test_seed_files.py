"""Session files of the seeds (S0, S2): imported and exported in their own format, they come back as they were."""

import copy
import json

import pytest

from workbench.domain.events import Event, PromptSubmitted
from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.formats.kept_rows import MOST_ROWS
from workbench.formats.wink_export import wink_session

WINK = {
    "id": "uuid",
    "working_dir": "/absolute/path",
    "model": "qwen3:8b",
    "created_at": "2025-11-10T10:00:00Z",
    "updated_at": "2025-11-10T10:05:00Z",
    "status": "active",
    "messages": [
        {
            "role": "user",
            "content": "create a hello world script",
            "timestamp": "2025-11-10T10:00:00Z",
        },
        {
            "role": "assistant",
            "content": "I'll create that for you.",
            "timestamp": "2025-11-10T10:00:01Z",
            "tool_calls": [
                {
                    "id": "call_123",
                    "tool_name": "create_file",
                    "parameters": {"path": "hello.py", "content": "print('Hello')"},
                }
            ],
        },
        {
            "role": "tool",
            "content": "File created successfully",
            "timestamp": "2025-11-10T10:00:02Z",
            "tool_call_id": "call_123",
        },
    ],
    "tool_results": [
        {
            "tool_call_id": "call_123",
            "success": True,
            "output": "Created file: hello.py (20 bytes)",
            "execution_time_ms": 5,
            "files_affected": ["hello.py"],
        }
    ],
}
"""As seed S0 has it."""


def rich_file():
    """Return the sample with everything that S0 names, with what waits, and with members of nobody."""
    file = copy.deepcopy(WINK)
    file["theme"] = {"dark": True}
    file["status"] = "paused"
    user, assistant, _ = file["messages"]
    user["metadata"] = {"source": "editor", "tags": ["a", 1, None, 2.5]}
    assistant["metadata"] = {"finish_reason": "tool_calls", "latency_ms": 412, "token_count": 7, "model": "q"}
    (call,) = assistant["tool_calls"]
    call |= {
        "status": "executed", "approval_method": "config_rule", "approval_rule_id": "rule-1",
        "requested_at": "2025-11-10T12:00:01+02:00", "executed_at": "2025-11-10T10:00:02Z", "attempt": 3,
    }  # fmt: skip
    waiting = {"id": "call_124", "tool_name": "run_in_terminal", "parameters": {}, "status": "pending"}
    assistant["tool_calls"].append(waiting)
    file["tool_results"][0] |= {"metadata": {"bytes_written": 20, "lines_changed": 1}, "host": "h"}
    file["messages"] += [
        {"role": "system", "content": "Be brief.", "timestamp": "2025-11-10T10:00:03Z"},
        {"role": "robot", "content": "beep", "timestamp": "2025-11-10T10:00:04Z"},
    ]
    return file


KAIAK = [
    {"session": {
        "id": "ks-1", "incident_ids": ["i1"], "workspace_path": "/shop", "status": "Processing",
        "configuration": {"provider": "openai", "model": "gpt-4", "timeout": 300, "max_turns": 9,
                          "enable_tool_interception": True},
        "created_at": "2025-12-23T10:00:00Z", "updated_at": "2025-12-23T10:00:09Z", "goose_session_id": "g1",
        "token_usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}, "stream_connection": None,
    }},
    {"tool_call": {
        "id": "tc-1", "session_id": "ks-1", "tool_name": "edit", "parameters": {"path": "a"}, "status": "Pending",
        "created_at": "2025-12-23T10:00:02Z", "completed_at": None, "result": None, "approval_required": True,
        "approval_status": "Pending", "intercepted": True,
    }},
    *({"id": f"m-{number}", "session_id": "ks-1", "timestamp": f"2025-12-23T10:00:0{number}Z",
       "sequence_number": number, "content": content, "source": source}
      for number, (source, content) in enumerate((
          ("GooseAgent", {"Thinking": {"text": "hm", "depth": 2}}),
          ("GooseAgent", {"AiResponse": {"text": "I look", "partial": True, "confidence": 0.25}}),
          ("GooseAgent", {"AiResponse": {"text": "I look.", "partial": False, "confidence": 0.75}}),
          ("SystemMonitoring", {"Progress": {"percentage": 5, "phase": "p", "description": "d"}}),
          ("ToolExecution", {"ToolCall": {"tool_call_id": "tc-1", "tool_name": "edit", "operation": "Start",
                                          "parameters": {"path": "a"}, "result": None}}),
          ("SystemMonitoring", {"Error": {"error_code": "X", "message": "broke", "details": None,
                                          "recoverable": True, "stack_trace": "at main()\nat run()"}}),
      ), 1)),
]  # fmt: skip
"""A session of S2 with members that no event here has a place for."""


def imported(shell, text, name="file.json"):
    path = shell.folder / name
    path.write_text(text, encoding="utf-8")
    return shell.json("sessions", "import", str(path), "--json")["sessions"][0]["id"]


def exported(shell, key, form):
    assert shell("sessions", "export", key, "--format", form) == 0, shell.err
    return shell.out


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.mark.spec(1, 13, 19, 23, 24, 35, 70, 213)
@pytest.mark.parametrize("file", [WINK, rich_file()], ids=["sample", "rich"])
def test_a_wink_file_comes_back_byte_for_byte(shell, tmp_path, monkeypatch, file):
    text = lines([file])
    key = imported(shell, text)
    assert exported(shell, key, "wink") == text
    events = exported(shell, key, "events")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "other"))
    assert imported(shell, events, "events.jsonl") == key
    assert exported(shell, key, "wink") == text


@pytest.mark.spec(23, 24, 35)
def test_the_rule_and_the_metadata_of_a_wink_file_are_those_of_its_calls(shell):
    key = imported(shell, lines([rich_file()]))
    rows = [json.loads(line) for line in exported(shell, key, "events").splitlines()[1:]]
    (proposed, *_) = (row["body"] for row in rows if row["kind"] == "call.proposed")
    assert (proposed["verdict"]["rule"], proposed["verdict"]["outcome"]) == ("rule-1", "allowed")
    (finished, *_) = (row["body"] for row in rows if row["kind"] == "call.finished")
    assert finished["metadata"] == {"bytes_written": 20, "lines_changed": 1}


@pytest.mark.spec(13)
def test_only_what_happens_here_moves_the_time_of_a_wink_file(shell):
    key = imported(shell, lines([WINK]))
    assert shell("sessions", "tag", key, "seen") == 0, shell.err
    found = json.loads(exported(shell, key, "wink"))
    assert found["updated_at"] > "2026" and found["created_at"] == WINK["created_at"]
    assert {**found, "updated_at": WINK["updated_at"]} == WINK


def test_a_wink_file_that_grew_comes_back_as_it_is_now(shell):
    file = copy.deepcopy(WINK)
    file["messages"] = file["messages"][:1]
    file["tool_results"] = []
    key = imported(shell, lines([file]))
    assert exported(shell, key, "wink") == lines([file])
    assert imported(shell, lines([rich_file()])) == key
    assert exported(shell, key, "wink") == lines([rich_file()])


@pytest.mark.spec(140, 144, 148, 213)
def test_messages_of_s2_come_back_byte_for_byte(shell):
    key = imported(shell, lines(KAIAK), "session.jsonl")
    assert exported(shell, key, "kaiak") == lines(KAIAK)
    longer = [*KAIAK, {**KAIAK[-1], "id": "m-7", "sequence_number": 7}]
    assert imported(shell, lines(longer), "session.jsonl") == key
    assert exported(shell, key, "kaiak") == lines(longer)


@pytest.mark.spec(141)
def test_what_happens_here_is_told_behind_the_messages_of_a_file(shell):
    key = imported(shell, lines(KAIAK), "session.jsonl")
    assert shell("sessions", "tag", key, "seen") == 0, shell.err
    rows = [json.loads(line) for line in exported(shell, key, "kaiak").splitlines()]
    assert rows[:-1] == KAIAK
    assert (rows[-1]["session_id"], rows[-1]["sequence_number"]) == ("ks-1", 7)
    assert rows[-1]["content"]["System"]["event"] == "session.changed"


def test_more_rows_than_one_batch_holds_come_back(shell):
    partial = {"AiResponse": {"text": "t", "partial": True, "confidence": 0.5}}
    more = [{**KAIAK[2], "id": f"m-{n}", "sequence_number": n, "content": partial}
            for n in range(7, 2 * MOST_ROWS + 20)]  # fmt: skip
    key = imported(shell, lines([*KAIAK, *more]), "session.jsonl")
    assert exported(shell, key, "kaiak") == lines([*KAIAK, *more])
    file = copy.deepcopy(WINK)
    file["messages"] += [{"role": "user", "content": f"{n}", "timestamp": "2025-11-10T10:00:02Z"}
                         for n in range(MOST_ROWS + 5)]  # fmt: skip
    key = imported(shell, lines([file]))
    assert exported(shell, key, "wink") == lines([file])


def test_rows_that_are_kept_hold_no_secret(shell):
    token = "ghp_" + "a1B2" * 9
    file = rich_file()
    file["theme"] = file["messages"][0]["metadata"]["source"] = f"token {token}"
    rows = copy.deepcopy(KAIAK)
    rows[-1]["content"]["Error"]["stack_trace"] = f"at {token}"
    for form, text in (("wink", lines([file])), ("kaiak", lines(rows))):
        key = imported(shell, text, f"{form}.jsonl")
        for kind in (form, "events"):
            assert token not in exported(shell, key, kind), (form, kind)


def test_a_wink_session_that_an_earlier_version_imported_is_written_from_its_events():
    row = Session(
        id="s", kind="import", status="completed", created_at=1, updated_at=2, origin="wink", model="m"
    )
    said = Event(id="e", session_id="s", at=1, actor=Actor(kind="user"), body=PromptSubmitted(text="hi"))
    found = wink_session(row, [said], ())
    assert (found["id"], found["status"]) == ("s", "completed")
    assert [message["content"] for message in found["messages"]] == ["hi"]
