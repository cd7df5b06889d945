"""What leaves in the words of kaiak (S2) comes back with what was said, asked, decided and changed."""

import io
import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parent))
from foreign_files import FILES

from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.formats import detect, kaiak_export


def imported(data, wanted=None):
    opened = detect.open_file(
        io.BytesIO(data),
        "x.kaiak.jsonl",
        1_700_000_000_000_000,
        wanted,
        store=lambda _: None,
        current_id=lambda key: key,
    )
    events = list(opened.events)
    one = events[0].session_id
    found = [
        replace(event, sequence_number=number)
        for number, event in enumerate(events, 1)
        if event.session_id == one
    ]
    return opened, found, MemoryTables().fold(found)


def exported(events, rows):
    (session,) = rows.sessions.values()
    actions = {action.id: action for action in rows.actions.values()}
    lines = [
        {"session": kaiak_export.kaiak_session(session)},
        *(
            {"tool_call": kaiak_export.kaiak_tool_call(call, actions.get(call.action_id))}
            for call in rows.calls.values()
        ),
        *kaiak_export.kaiak_messages(events),
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def told(events, rows):
    bodies = [event.body for event in events]
    replies = [body for body in bodies if isinstance(body, e.ReplyCompleted)]
    spent = (
        sum((reply.usage.input_tokens for reply in replies), 0),
        sum(reply.usage.output_tokens for reply in replies),
    )
    return {
        "prompts": [
            (event.at, event.body.text) for event in events if isinstance(event.body, e.PromptSubmitted)
        ],
        "said": [body.text for body in replies if body.text],
        "thought": [body.thinking for body in replies if body.thinking],
        # S2 has no word for a call whose outcome is unknown.
        "calls": [
            (call.tool, call.state.replace("interrupted", "failed"), call.parameters)
            for call in rows.calls.values()
        ],
        "answers": Counter((action.state, action.reason) for action in rows.actions.values()),
        "changed": Counter(body.path for body in bodies if isinstance(body, e.FileChanged)),
        "spent": spent,
    }


@pytest.mark.spec(140, 149)
@each_row("name", [name for name in FILES if name != "kaiak"])
def test_an_export_comes_back_as_it_was(name):
    _, events, rows = imported(FILES[name][0])
    opened, again, rows_again = imported(exported(events, rows))
    assert opened.format == "kaiak"
    assert [
        one.message for one in opened.summaries[0].problems if not one.message.startswith("its time")
    ] == []
    assert told(again, rows_again) == told(events, rows)


def test_the_tokens_of_an_export_are_those_of_its_session():
    _, events, rows = imported(FILES["kimi"][0])
    rows_again = imported(exported(events, rows))[2]
    ((before,), (after,)) = (found.sessions.values() for found in (rows, rows_again))
    assert after.usage.total_tokens == before.usage.total_tokens > 0


def messages(*contents, calls=()):
    """Return a file of S2: a session, its calls and messages with these contents."""
    rows = [
        {"session": {"id": "ks", "workspace_path": "/shop", "status": "Completed"}},
        *({"tool_call": call} for call in calls),
        *(
            {"id": f"m{number}", "session_id": "ks", "timestamp": f"2026-01-01T00:00:0{number}Z",
             "sequence_number": number, "content": content, "source": "GooseAgent"}
            for number, content in enumerate(contents, 1)
        ),
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.spec(144)
@each_row(
    ("pieces", "said"),
    [
        ([("I ", True), ("look", True)], "I look"),
        ([("I ", True), ("I look", False)], "I look"),
        ([("I ", True), ("look", False)], "I look"),
        ([("I look", False)], "I look"),
    ],
)
def test_pieces_are_joined_with_the_last_one_or_alone_where_none_came(pieces, said):
    contents = [{"AiResponse": {"text": text, "partial": partial}} for text, partial in pieces]
    _, events, rows = imported(messages(*contents))
    assert told(events, rows)["said"] == [said]


@pytest.mark.spec(145, 153)
@each_row(("status", "method"), [("Approved", "manual"), ("NotRequired", None), ("", None)])
def test_a_call_that_its_file_says_was_approved_comes_back_as_approved_by_hand(status, method):
    call = {"id": "t", "tool_name": "bash", "parameters": {"command": "ls"}, "approval_status": status}
    result = {"success": True, "data": "a.txt", "execution_time_ms": 3}
    steps = [
        {"tool_call_id": "t", "operation": "Start"},
        {"tool_call_id": "t", "operation": "Complete", "result": result},
    ]
    _, _, rows = imported(messages(*({"ToolCall": step} for step in steps), calls=[call]))
    (found,) = rows.calls.values()
    assert (found.tool, found.state, found.parameters) == ("bash", "succeeded", {"command": "ls"})
    assert (found.approval_method == "manual") is (method == "manual")
