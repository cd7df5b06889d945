"""The shapes that one format has over its versions: what older and newer files say comes to the same."""

import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from foreign_files import PATCH, T, codex, document, lines

from workbench.domain import events as e
from workbench.domain.fold import Tables
from workbench.formats import taking


def made(data, name="some/file"):
    opened = taking.open_file(
        io.BytesIO(data), name, 1_700_000_000_000_000, None, store=lambda _: None, current_id=lambda key: key
    )
    return opened, list(opened.events)


def bodies(events, kind):
    return [event.body for event in events if isinstance(event.body, kind)]


def calls(events):
    return [(call.tool, call.state) for call in Tables().fold(events).calls.values()]


def prompts(events):
    return [body.text for body in bodies(events, e.PromptSubmitted)]


def replies(events):
    return [body.text for body in bodies(events, e.ReplyCompleted) if body.text]


META = codex("session_meta", id="c1", timestamp=T.format(0), cwd="/shop")


def item(kind, number=1, **more):
    return codex("response_item", number, type=kind, **more)


def said(role, text, number=1):
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", number, role=role, content=[{"type": kind, "text": text}])


def told(kind, number=1, **more):
    return codex("event_msg", number, type=kind, **more)


def shell(key, **arguments):
    return item("function_call", name="exec_command", call_id=key, arguments=json.dumps(arguments))


def output(key, text):
    return item("function_call_output", call_id=key, output=text)


@pytest.mark.parametrize(
    "told_and_said",
    [
        [told("user_message", message="hello"), said("user", "hello")],
        [said("user", "hello"), told("user_message", message="hello")],
        [told("user_message", message="hello")],
    ],
    ids=["event first", "item first", "event only"],
)
def test_what_codex_tells_twice_is_taken_once_and_what_it_tells_once_is_taken(told_and_said):
    _, events = made(
        lines(META, *told_and_said, told("agent_message", message="hi"), said("assistant", "hi"))
    )
    assert (prompts(events), replies(events)) == (["hello"], ["hi"])


def test_a_reply_that_only_an_event_tells_is_kept():
    _, events = made(lines(META, said("user", "hello"), told("agent_message", message="hi")))
    assert replies(events) == ["hi"]


@pytest.mark.parametrize(
    ("text", "state", "code"),
    [
        ("Chunk ID: a1\nWall time: 0.5 seconds\nProcess exited with code 1\nOutput:\nbad", "failed", 1),
        ("Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n", "succeeded", None),
        ("Exit code: -9\nWall time: 2 seconds\nOutput:\n", "failed", -9),
        ("exec command rejected by user", "rejected", None),
        ("patch rejected: outside of the project; rejected by user approval settings", "failed", None),
        ("aborted by user after 3.2s", "cancelled", None),
    ],
)
def test_how_a_command_of_codex_ended(text, state, code):
    _, events = made(lines(META, said("user", "go"), shell("k", cmd="ls"), output("k", text)))
    (call,) = Tables().fold(events).calls.values()
    assert (call.state, call.exit_code if code is not None else None, call.target) == (state, code, "ls")


@pytest.mark.parametrize(("policy", "answers"), [("on-request", ["approved"]), ("never", [])])
def test_what_asked_for_more_rights_and_ran_was_approved_where_somebody_could_be_asked(policy, answers):
    call = shell("k", cmd="make", sandbox_permissions="require_escalated", justification="network")
    _, events = made(
        lines(META, codex("turn_context", approval_policy=policy, model="m"), call, output("k", "ok"))
    )
    assert [action.state for action in Tables().fold(events).actions.values()] == answers


def test_a_patch_that_was_applied_shows_its_true_lines():
    diff = "@@ -7 +7 @@\n-a = 1\n+a = 2"
    applied = told("patch_apply_end", call_id="p", success=True,
                   changes={"/shop/a.py": {"type": "update", "unified_diff": diff, "move_path": None}})  # fmt: skip
    call = item("custom_tool_call", name="apply_patch", call_id="p", input=PATCH)
    _, events = made(lines(META, call, applied, output("p", "Success")))
    (changed,) = bodies(events, e.FileChanged)
    assert (changed.path, changed.hunks[0].old_start) == ("/shop/a.py", 7)


def test_calls_that_only_their_end_tells_of_are_calls():
    script = item("custom_tool_call", name="exec", call_id="s", input="run()")
    ends = [
        told("exec_command_end", call_id="in-1", command=["bash", "-lc", "false"], exit_code=1, stdout="no"),
        told("patch_apply_end", call_id="in-2", success=True, changes={"b.py": {"type": "add", "content": "b\n"}}),
        told("mcp_tool_call_end", call_id="in-3", invocation={"server": "m", "tool": "find", "arguments": {}},
             result={"Ok": {"content": [{"type": "text", "text": "found"}]}}),
    ]  # fmt: skip
    _, events = made(lines(META, said("user", "go"), script, *ends, output("s", "done")))
    assert sorted(calls(events)) == [
        ("apply_patch", "succeeded"), ("exec", "succeeded"), ("m.find", "succeeded"), ("shell", "failed"),
    ]  # fmt: skip
    assert [(one.path, one.change) for one in bodies(events, e.FileChanged)] == [("b.py", "create")]


def test_codex_knows_its_folder_its_instructions_and_who_began_it():
    context = said("user", "<environment_context>\n  <cwd>/old/shop</cwd>\n</environment_context>")
    head = {"id": "c0", "timestamp": T.format(0), "instructions": None}
    _, events = made(lines(head, {"record_type": "state"}, context["payload"], said("user", "hi")["payload"]))
    assert Tables().fold(events).sessions.popitem()[1].workspace == "/old/shop"
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "c1", "depth": 1}}}
    below = codex("session_meta", id="c2", cwd="/shop", source=source, base_instructions={"text": "be brief"})
    (child,) = Tables().fold(made(lines(below, said("user", "go")))[1]).sessions.values()
    (parent,) = Tables().fold(made(lines(META, said("user", "go")))[1]).sessions.values()
    assert (child.parent_id, child.system_prompt) == (parent.id, "be brief")


GEMINI_HEAD = {"sessionId": "g1", "projectHash": "h", "startTime": T.format(0), "directories": ["/shop"]}


def gemini(key, kind, content, **more):
    return {"id": key, "timestamp": T.format(1), "type": kind, "content": content, **more}


def test_lines_of_gemini_are_played():
    tool = {"id": "t1", "name": "read_file", "args": {"file_path": "a.py"}, "status": "success",
            "result": [{"functionResponse": {"response": {"output": "a = 1"}}}]}  # fmt: skip
    opened, events = made(lines(
        GEMINI_HEAD,
        gemini("u1", "user", [{"text": "hello"}]),
        gemini("m1", "gemini", "let me look"),
        gemini("m1", "gemini", "let me look", toolCalls=[tool]),
        gemini("u2", "user", "wrong"),
        gemini("m2", "gemini", "never mind"),
        {"$rewindTo": "u2"},
        gemini("u3", "user", "right"),
        {"$set": {"summary": "Read a file"}},
    ))  # fmt: skip
    (session,) = Tables().fold(events).sessions.values()
    assert (session.title, session.workspace, session.provider) == ("Read a file", "/shop", "google")
    assert (prompts(events), replies(events)) == (["hello", "right"], ["let me look"])
    assert calls(events) == [("read_file", "succeeded")]
    kept = [body for body in bodies(events, e.Unknown) if body.original_kind == "gemini.rewind"]
    assert [one["content"] for one in kept[0].content["messages"]] == ["wrong", "never mind"]
    assert opened.summaries[0].problems == []


def test_a_checkpoint_within_the_lines_of_gemini_stands_for_all_before_it():
    again = [{"id": "u1", "type": "user", "content": "hello again", "timestamp": T.format(1)}]
    _, events = made(lines(GEMINI_HEAD, gemini("u1", "user", "hello"), {"$set": {"messages": again}}))
    assert prompts(events) == ["hello again"]


@pytest.mark.parametrize(
    "wrap",
    [lambda rows: rows, lambda rows: {"history": rows}, lambda rows: {"clientHistory": rows, "toolCall": {}}],
)
def test_a_saved_conversation_of_gemini_in_its_three_wrappings(wrap):
    rows = [
        {"role": "user", "parts": [{"text": "look"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"functionCall": {"id": "x", "name": "ls", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "x", "name": "ls", "response": {"error": "no"}}}]},
    ]  # fmt: skip
    opened, events = made(document(wrap(rows)))
    assert (opened.format, prompts(events), calls(events)) == (
        "gemini-checkpoint",
        ["look"],
        [("ls", "failed")],
    )
    assert bodies(events, e.ReplyCompleted)[0].thinking == "hm"


def test_an_error_of_a_tool_of_gemini_stands_beside_its_result():
    tool = {
        "id": "t",
        "name": "replace",
        "args": {"file_path": "a"},
        "status": "error",
        "error": "0 occurrences",
    }
    data = {**GEMINI_HEAD, "messages": [gemini("m", "gemini", "", toolCalls=[tool])]}
    (call,) = Tables().fold(made(document(data))[1]).calls.values()
    assert (call.state, call.error) == ("failed", "0 occurrences")
