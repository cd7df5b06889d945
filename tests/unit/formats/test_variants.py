"""The shapes that one format has over its versions: what older and newer files say comes to the same."""

import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from foreign_files import PATCH, T, codex, document, lines

from tests.support.tables import each_row
from tests.unit.formats.agent_files import qwen
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.formats import detect


def made(data, name="some/file"):
    opened = detect.open_file(
        io.BytesIO(data), name, 1_700_000_000_000_000, None, store=lambda _: None, current_id=lambda key: key
    )
    return opened, list(opened.events)


def bodies(events, kind):
    return [event.body for event in events if isinstance(event.body, kind)]


def calls(events):
    return [(call.tool, call.state) for call in MemoryTables().fold(events).calls.values()]


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
    (call,) = MemoryTables().fold(events).calls.values()
    assert (call.state, call.exit_code if code is not None else None, call.target) == (state, code, "ls")


@pytest.mark.parametrize(("policy", "answers"), [("on-request", ["approved"]), ("never", [])])
def test_what_asked_for_more_rights_and_ran_was_approved_where_somebody_could_be_asked(policy, answers):
    call = shell("k", cmd="make", sandbox_permissions="require_escalated", justification="network")
    _, events = made(
        lines(META, codex("turn_context", approval_policy=policy, model="m"), call, output("k", "ok"))
    )
    assert [action.state for action in MemoryTables().fold(events).actions.values()] == answers


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
    assert MemoryTables().fold(events).sessions.popitem()[1].workspace == "/old/shop"
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "c1", "depth": 1}}}
    below = codex("session_meta", id="c2", cwd="/shop", source=source, base_instructions={"text": "be brief"})
    (child,) = MemoryTables().fold(made(lines(below, said("user", "go")))[1]).sessions.values()
    (parent,) = MemoryTables().fold(made(lines(META, said("user", "go")))[1]).sessions.values()
    assert (child.parent_id, child.system_prompt) == (parent.id, "be brief")


GEMINI_HEAD = {"sessionId": "g1", "projectHash": "h", "startTime": T.format(0), "directories": ["/shop"]}


def gemini(key, kind, content, **more):
    return {"id": key, "timestamp": T.format(1), "type": kind, "content": content, **more}


def test_two_sessions_of_gemini_behind_one_another_are_two():
    _, events = made(lines(
        GEMINI_HEAD, gemini("u1", "user", "hello"), {**GEMINI_HEAD, "lastUpdated": T.format(2)},
        gemini("m1", "gemini", "yes"), {**GEMINI_HEAD, "sessionId": "g2"}, gemini("u1", "user", "again"),
    ))  # fmt: skip
    first, second = MemoryTables().fold(events).sessions
    told = [(event.session_id, event.body.text) for event in events if hasattr(event.body, "text")]
    assert told == [(first, "hello"), (first, "yes"), (second, "again")]


def test_two_sessions_of_qwen_behind_one_another_are_two():
    def said(number, session, above, text, kind="user"):
        row = qwen(number, kind, [{"text": text}])
        return {**row, "sessionId": session, "parentUuid": above}

    _, events = made(lines(
        said(0, "a", None, "one"), said(1, "a", "q0", "yes", "assistant"), said(2, "goes-on", "q1", "more"),
        said(3, "b", None, "two"), said(4, "b", "q3", "no", "assistant"),
    ))  # fmt: skip
    first, second = MemoryTables().fold(events).sessions
    told = [(event.session_id, event.body.text) for event in events if hasattr(event.body, "text")]
    assert told == [
        (first, "one"), (first, "yes"), (first, "more"), (second, "two"), (second, "no"),
    ]  # fmt: skip
    nameless = {**qwen(0, "user", [{"text": "one"}]), "sessionId": ""}
    _, events = made(lines(nameless, said(1, "b", None, "two")))
    assert len(MemoryTables().fold(events).sessions) == 1


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
    (session,) = MemoryTables().fold(events).sessions.values()
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
    (call,) = MemoryTables().fold(made(document(data))[1]).calls.values()
    assert (call.state, call.error) == ("failed", "0 occurrences")


NEWER = [
    {"id": "e0", "timestamp": "2026-11-21T12:00:00.1", "source": "agent", "kind": "SystemPromptEvent", "system_prompt": {"type": "text", "text": "be brief"}},
    {"id": "e1", "timestamp": "2026-11-21T12:00:01.1", "source": "user", "kind": "MessageEvent", "llm_message": {"role": "user", "content": [{"type": "text", "text": "edit it"}]}},
    {"id": "e2", "source": "agent", "kind": "ActionEvent", "thought": [{"type": "text", "text": "I edit"}], "reasoning_content": "hm", "tool_name": "file_editor", "tool_call_id": "k1",
     "action": {"kind": "FileEditorAction", "command": "str_replace", "path": "/w/a.py", "old_str": "1", "new_str": "2"}},
    {"id": "e3", "source": "environment", "kind": "ConversationStateUpdateEvent", "key": "execution_status", "value": "waiting_for_confirmation"},
    {"id": "e4", "source": "environment", "kind": "ObservationEvent", "tool_call_id": "k1", "tool_name": "file_editor",
     "observation": {"kind": "FileEditorObservation", "content": [{"type": "text", "text": "edited"}], "path": "/w/a.py", "prev_exist": True, "old_content": "a = 1\n", "new_content": "a = 2\n"}},
    {"id": "e5", "source": "agent", "kind": "ActionEvent", "tool_name": "terminal", "tool_call_id": "k2", "action": None, "tool_call": {"id": "k2", "function": {"name": "terminal", "arguments": "{\"command\": \"rm -rf /\"}"}}},
    {"id": "e6", "source": "environment", "kind": "UserRejectObservation", "tool_call_id": "k2", "rejection_reason": "no"},
    {"id": "e7", "source": "agent", "kind": "ActionEvent", "tool_name": "terminal", "tool_call_id": "k3", "action": {"kind": "TerminalAction", "command": "false"}},
    {"id": "e8", "source": "environment", "kind": "ObservationEvent", "tool_call_id": "k3", "observation": {"content": [{"type": "text", "text": ""}], "exit_code": 1}},
]  # fmt: skip


@pytest.mark.parametrize("pack", [lambda rows: lines(*rows), document], ids=["lines", "array"])
def test_events_of_the_newer_openhands(pack):
    opened, events = made(pack(NEWER))
    rows = MemoryTables().fold(events)
    assert (opened.format, rows.sessions.popitem()[1].system_prompt, prompts(events)) == (
        "openhands", "be brief", ["edit it"],
    )  # fmt: skip
    assert calls(events) == [("file_editor", "succeeded"), ("terminal", "rejected"), ("terminal", "failed")]
    assert [(one.state, one.reason) for one in rows.actions.values()] == [
        ("approved", None),
        ("rejected", "no"),
    ]
    assert [call.target for call in rows.calls.values()][1] == "rm -rf /"
    (changed,) = bodies(events, e.FileChanged)
    assert changed.hunks[0].lines == (("-", "a = 1"), ("+", "a = 2"))


AIDER = """
# aider chat started at 2026-11-21 12:00:00

> Aider v0.86.1
> Main model: m/large with diff edit format, infinite output

#### change both

Sure.

a.py
```python
<<<<<<< SEARCH
a = 1
=======
a = 2
>>>>>>> REPLACE
```

```python
<<<<<<< SEARCH
b = 1
=======
b = 2
>>>>>>> REPLACE
```

new.py
```
c = 3
```

```bash
python a.py
```

> Tokens: 1.5k sent, 300 received. Cost: $0.01 message, $0.02 session.
> new.py
> Create new file? (Y)es/(N)o [Yes]: y
> other.py
> Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: n
> Applied edit to a.py
> Applied edit to new.py
> python a.py
> Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: y
> Running python a.py
> 2
"""


def test_a_chat_of_aider_has_its_questions_edits_and_tokens():
    _, events = made(AIDER.replace("\n> ", "\n> ").encode())
    rows = MemoryTables().fold(events)
    assert [(call.tool, call.state, call.target) for call in rows.calls.values()] == [
        ("create_file", "succeeded", "new.py"), ("add_file", "rejected", "other.py"),
        ("shell", "succeeded", "python a.py"), ("edit", "succeeded", "a.py"), ("edit", "succeeded", "new.py"),
    ]  # fmt: skip
    assert [action.state for action in rows.actions.values()] == ["approved", "rejected", "approved"]
    changed = bodies(events, e.FileChanged)
    assert [(one.path, one.added, one.removed) for one in changed] == [("a.py", 2, 2), ("new.py", 1, 0)]
    usage = rows.sessions.popitem()[1].usage
    assert (usage.input_tokens, usage.output_tokens) == (1500, 300)


def test_a_diff_in_a_reply_of_aider_is_the_change():
    text = "# aider chat started at 2026-11-21 12:00:00\n\n#### x\n\n```diff\n--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n```\n\n> Applied edit to a.py\n"
    (changed,) = bodies(made(text.encode())[1], e.FileChanged)
    assert (changed.path, changed.added, changed.removed) == ("a.py", 1, 1)


@each_row(
    ("tool", "arguments", "changed"),
    [
        ("str_replace_editor", {"command": "str_replace", "path": "a", "old_str": "1", "new_str": "2"}, [("a", "modify")]),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": "1"}, [("a", "create")]),
        ("str_replace_editor", {"command": "insert", "path": "a", "insert_line": 1, "new_str": "2"}, [("a", "modify")]),
        ("str_replace_editor", {"command": "view", "path": "a"}, []),
        ("mcp__fs__write_file", {"path": "a", "content": "x"}, [("a", "create")]),
        ("apply_patch", {"input": PATCH}, [("a.py", "modify")]),
        ("multi_edit", {"file_path": "a", "edits": [{"old_string": "1", "new_string": "2"}, {"old_string": "3", "new_string": "4"}]}, [("a", "modify")]),
        ("delete_file", {"target_file": "a"}, [("a", "delete")]),
        ("read_file", {"path": "a", "content": "x"}, []),
        ("bash", {"command": "echo 1 > a"}, []),
    ],
)  # fmt: skip
def test_an_edit_is_seen_in_the_arguments_where_the_result_does_not_say(tool, arguments, changed):
    step = {"step_id": 2, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "k", "function_name": tool, "arguments": arguments}],
            "observation": {"results": [{"source_call_id": "k", "content": "ok"}]}}  # fmt: skip
    data = {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "x", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "go"}, step]}  # fmt: skip
    _, events = made(document(data))
    assert [(one.path, one.change) for one in bodies(events, e.FileChanged)] == changed


@pytest.mark.parametrize(
    ("output", "said", "state"),
    [
        ('{"name": "shop", "version": 2}', '{"name": "shop", "version": 2}', "succeeded"),
        ('{"output": "ok", "metadata": {"exit_code": 0}}', "ok", "succeeded"),
        ('{"output": "no", "metadata": {"exit_code": 2}}', "no", "failed"),
        (
            [{"type": "input_text", "text": "Exit code: 3\nWall time: 0.1 seconds\nOutput:\nno"}],
            "Output:",
            "failed",
        ),
        ("{ not json", "{ not json", "succeeded"),
    ],
)
def test_what_a_call_of_codex_gave_back(output, said, state):
    found = made(lines(META, shell("k", cmd="x"), item("function_call_output", call_id="k", output=output)))[
        1
    ]
    (ended,) = bodies(found, e.CallFinished)
    assert said in ended.preview and ended.state == state


def test_a_message_may_be_one_part_and_a_thought_a_block_of_its_own():
    chat = {
        "sessionId": "g",
        "projectHash": "h",
        "messages": [{"id": "1", "type": "user", "content": {"text": "one part"}}],
    }
    assert prompts(made(document(chat))[1]) == ["one part"]
    blocks = [{"type": "reasoning", "reasoning": "I weigh it"}, {"type": "text", "text": "Yes."}]
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"},
           "samples": [{"id": 1, "messages": [{"role": "assistant", "content": blocks}]}]}  # fmt: skip
    (reply,) = bodies(made(document(log))[1], e.ReplyCompleted)
    assert (reply.text, reply.thinking) == ("Yes.", "I weigh it")


def test_a_prompt_with_an_image_is_taken_once():
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    asked = item("message", role="user", content=[{"type": "input_text", "text": "fix it"}, image])
    found = made(lines(META, asked, told("user_message", message="fix it"), said("assistant", "Done.")))[1]
    assert len(prompts(found)) == 1 and prompts(found)[0].startswith("fix it")


def test_the_title_that_a_human_gave_stays():
    base = {
        "sessionId": "s",
        "uuid": "u1",
        "timestamp": T.format(1),
        "type": "user",
        "message": {"role": "user", "content": "go"},
    }
    titles = [{"type": "summary", "summary": "made up", "leafUuid": "u1"}, {"type": "custom-title", "customTitle": "mine", "sessionId": "s"},
              {"type": "ai-title", "aiTitle": "made up again", "sessionId": "s"}]  # fmt: skip
    assert made(lines(base, *titles))[0].summaries[0].title == "mine"


def test_a_file_that_aider_asks_for_is_named():
    chat = "# aider chat started at 2026-01-01 10:00:00\n\n#### go  \n\nHere.\n\n> Commit abc1234 feat  \n> Add README.md to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: n  \n"
    asked = [one.calls[0] for one in bodies(made(chat.encode())[1], e.ReplyCompleted) if one.calls]
    assert [(one.tool, one.arguments) for one in asked] == [("add_file", {"path": "README.md"})]


def test_updates_of_a_session_in_a_trace_are_understood():
    def update(kind, **more):
        return {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "z", "update": {"sessionUpdate": kind, **more}},
        }

    chunk = {"content": {"type": "text", "text": "hi"}}
    opened, _ = made(
        lines(
            update("agent_message_chunk", **chunk),
            update("usage_update", used=1),
            update("session_info_update", title="named"),
        )
    )
    assert (opened.summaries[0].title, opened.summaries[0].kept) == ("named", 0)
