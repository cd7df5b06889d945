"""Claude Code: what its lines become, on lines written after their description and on real ones."""

import io
import json
from pathlib import Path

import pytest

from workbench.domain import events as e
from workbench.domain.fold import Tables
from workbench.formats import taking

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "sessions"


def made(lines, name="x"):
    data = "".join(json.dumps(line) + "\n" for line in lines).encode() if isinstance(lines, list) else lines
    opened = taking.open_file(
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
    rows = Tables().fold(events)
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
    assert (summary.kept, [(p.line, "brand-new" in p.why) for p in summary.problems]) == (1, [(10, True)])
    assert [body.original_kind for body in bodies(events, e.Unknown)][-1] == "claude-code.brand-new"


def test_usage_counts_once_a_message():
    _, events = made(SESSION)
    total = Tables().fold(events).sessions.popitem()[1].usage
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
    (call,) = Tables().fold(events).calls.values()
    assert (call.state, call.error) == ("interrupted", "the file holds no result of this call")


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not here")
@pytest.mark.parametrize("name", ["claude-code-1.jsonl", "claude-code-rejection.jsonl"])
def test_real_files(name):
    opened, events = made((REAL / name).read_bytes())
    rows = Tables().fold(events)
    assert [summary.kept for summary in opened.summaries] == [0]
    assert all(call.state not in ("pending", "approved", "executing") for call in rows.calls.values())
    if "rejection" in name:
        assert "rejected" in {action.state for action in rows.actions.values()}
