"""What hooks say and are answered, for each agent, tool and decision; from recorded inputs where there are any."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.hook_inputs import (
    RECORDED_FOLDER,
    first,
    recorded_inputs,
    recorded_plugin_calls,
)
from workbench.bridge import hook_client
from workbench.bridge.agents import AGENTS, HookEvent, hooked_agent
from workbench.bridge.hook_command import CLIENT, HookSetup, hook_arguments
from workbench.bridge.hook_input import (
    MAX_HOOK_BYTES,
    MAX_OUTPUT_CHARACTERS,
    HookHeader,
    HookRefused,
    decode_header,
    read_hook,
)
from workbench.bridge.hook_output import LEAVE, blocked, decision_output, note_output
from workbench.bridge.own_rules import MOST_RULES, claude_rules, opencode_rules
from workbench.supervised.messages import AgentEnded, Ask, CallAnswer, Done, Hello, TurnDone

NOTE = f"{RECORDED_FOLDER}/note.txt"
PATCH = (
    "*** Begin Patch\n*** Update File: /home/dev/shop/note.txt\n@@\n line 2\n-line 3\n+line three\n line 4\n"
    "@@\n line 26\n-line 27\n+line twenty-seven\n line 28\n*** End Patch\n"
)
ONE_HUNK = PATCH.replace(" line 26\n-line 27\n+line twenty-seven\n line 28\n", "").replace("@@\n***", "***")
CHANGED = "".join(
    f"line {'three' if number == 3 else 'twenty-seven' if number == 27 else number}\n"
    for number in range(1, 31)
)


def said(agent_id, event_name, document, **header):
    """Return the translation of a hook's input."""
    agent = hooked_agent(agent_id)
    facts = {"agent": agent_id, "event": event_name, "nonce": "n", "size": 0, **header}
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_hook(agent, agent.event(event_name), HookHeader(**facts), data, "/home/dev/shop")


def recorded(name, event, tool):
    return first(recorded_inputs(name), event, tool)


def opencode(tool, event="tool.execute.before"):
    return next(
        doc for kind, doc in recorded_plugin_calls() if kind == event and doc["input"]["tool"] == tool
    )


ASKED = {
    # agent, event, recorded input: tool and input as they are judged, id of the call
    "claude edit": ("claude", "PreToolUse", lambda: recorded("claude", "PreToolUse", "Edit"),
        "Edit", {"file_path": NOTE, "old_string": "line 3\n", "new_string": "line three\n", "replace_all": False}, "toolu_1"),
    "claude shell": ("claude", "PreToolUse", lambda: recorded("claude", "PreToolUse", "Bash"),
        "Bash", {"command": "touch ran.txt; sleep 0", "description": "run"}, "toolu_2"),
    "claude read": ("claude", "PreToolUse", lambda: recorded("claude", "PreToolUse", "Read"),
        "Read", {"file_path": NOTE}, "toolu_0"),
    "claude permission": ("claude", "PermissionRequest", lambda: recorded("claude-permission", "PermissionRequest", "Edit"),
        "Edit", {"file_path": NOTE, "old_string": "line 3\n", "new_string": "line three\n", "replace_all": False}, ""),
    "codex patch": ("codex", "PreToolUse", lambda: recorded("codex", "PreToolUse", "Bash"),
        "apply_patch", {"patch": PATCH}, "call_0"),
    "codex shell": ("codex", "PreToolUse", lambda: recorded_inputs("codex")[1],
        "Bash", {"command": "touch ran.txt; sleep 0"}, "call_1"),
    "qwen write": ("qwen", "PreToolUse", lambda: recorded("qwen", "PreToolUse", "write_file"),
        "Write", {"file_path": NOTE, "content": CHANGED}, "call_1"),
    "qwen read": ("qwen", "PreToolUse", lambda: recorded("qwen", "PreToolUse", "read_file"),
        "Read", {"file_path": NOTE, "absolute_path": NOTE}, "call_0"),
    "qwen shell": ("qwen", "PreToolUse", lambda: recorded("qwen", "PreToolUse", "run_shell_command"),
        "Bash", {"command": "touch ran.txt; sleep 0", "is_background": False, "description": "run"}, "call_2"),
    "opencode read": ("opencode", "tool.execute.before", lambda: opencode("read"), "Read", {"file_path": NOTE}, "call_0"),
    "opencode write": ("opencode", "tool.execute.before", lambda: opencode("write"),
        "Write", {"file_path": NOTE, "content": CHANGED}, "call_1"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_a_recorded_call_is_judged_as_one_of_our_tools(name):
    agent, event, document, tool, given, key = ASKED[name]
    found = said(agent, event, document(), pid=7, waits=60)
    session = document().get("session_id") or document()["input"]["sessionID"]
    origin = hooked_agent(agent).origin
    takes = agent != "qwen"  # it ignores another input
    assert found.said == Ask(
        nonce="n",
        tool=tool,
        input=given,
        call=key,
        cwd=RECORDED_FOLDER,
        waits=60,
        takes_input=takes,
        is_asked_there=event == "PermissionRequest",
    )
    model = document().get("model", "")
    file = document().get("transcript_path", "")
    assert found.hello == Hello(
        agent=origin, session=session, cwd="/home/dev/shop", pid=7, model=model,
        format=origin if file else "", transcript=file,
    )  # fmt: skip


def command_input(tool, given, **more):
    return {
        "session_id": "s",
        "cwd": "/w",
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": "c",
        **more,
    }


def plugin_input(tool, given):
    return {
        "directory": "/w",
        "input": {"tool": tool, "sessionID": "s", "callID": "c"},
        "output": {"args": given},
    }


UNRECORDED = {
    # agent, its tool and input: tool, input and folder by which it is judged; None is left to the agent
    "claude multi": ("claude", "MultiEdit", {"file_path": "a", "edits": []}, ("MultiEdit", {"file_path": "a", "edits": []}, "/w")),
    "claude notebook": ("claude", "NotebookEdit", {"notebook_path": "a"}, ("NotebookEdit", {"notebook_path": "a"}, "/w")),
    "claude notebook read": ("claude", "NotebookRead", {"notebook_path": "a", "file_path": "b"}, ("Read", {"file_path": "a"}, "/w")),
    "claude fetch": ("claude", "WebFetch", {"url": "u"}, ("WebFetch", {"url": "u"}, "/w")),
    "claude mcp": ("claude", "mcp__x__y", {"a": 1}, ("mcp__x__y", {"a": 1}, "/w")),
    "claude sub-agent": ("claude", "Task", {"prompt": "p"}, None),
    "claude plan": ("claude", "ExitPlanMode", {"plan": "p"}, None),
    "claude built-in name": ("claude", "read_file", {"path": "a"}, ("claude.read_file", {"path": "a"}, "/w")),
    "claude patch name": ("claude", "apply_patch", {"patch": "a"}, ("claude.apply_patch", {"patch": "a"}, "/w")),
    "claude patch line": ("claude", "Bash", {"command": f"apply_patch <<'EOF'\n{PATCH}EOF"}, ("Bash", {"command": f"apply_patch <<'EOF'\n{PATCH}EOF"}, "/w")),
    "codex patch tool": ("codex", "apply_patch", {"command": PATCH}, ("apply_patch", {"patch": PATCH}, "/w")),
    "codex patch elsewhere": ("codex", "Bash", {"command": f"cd sub && apply_patch <<'EOF'\n{PATCH}EOF"}, ("apply_patch", {"patch": PATCH}, "/w/sub")),
    "codex odd command": ("codex", "Bash", {"command": ["ls"]}, ("Bash", {"command": ["ls"]}, "/w")),
    "codex plan": ("codex", "update_plan", {}, None),
    "gemini write": ("gemini", "write_file", {"file_path": "a", "content": "c"}, ("Write", {"file_path": "a", "content": "c"}, "/w")),
    "gemini replace": ("gemini", "replace", {"file_path": "a", "old_string": "o", "new_string": "n", "allow_multiple": True},
        ("Edit", {"file_path": "a", "old_string": "o", "new_string": "n", "replace_all": True}, "/w")),
    "gemini shell": ("gemini", "run_shell_command", {"command": "ls", "dir_path": "sub"}, ("Bash", {"command": "ls", "dir_path": "sub"}, "/w/sub")),
    "gemini fetch": ("gemini", "web_fetch", {"prompt": "p"}, ("web_fetch", {"prompt": "p"}, "/w")),
    "qwen edit": ("qwen", "edit", {"file_path": "a", "old_string": "o", "new_string": "n"}, ("Edit", {"file_path": "a", "old_string": "o", "new_string": "n"}, "/w")),
    "qwen shell elsewhere": ("qwen", "run_shell_command", {"command": "ls", "directory": "/x"}, ("Bash", {"command": "ls", "directory": "/x"}, "/x")),
    "opencode edit": ("opencode", "edit", {"filePath": "a", "oldString": "o", "newString": "n", "replaceAll": True},
        ("Edit", {"file_path": "a", "old_string": "o", "new_string": "n", "replace_all": True}, "/w")),
    "opencode shell": ("opencode", "bash", {"command": "ls", "workdir": "/x"}, ("Bash", {"command": "ls", "workdir": "/x"}, "/x")),
    "opencode patch": ("opencode", "apply_patch", {"patchText": PATCH}, ("apply_patch", {"patch": PATCH}, "/w")),
    "opencode todo": ("opencode", "todowrite", {}, None),
}  # fmt: skip
BEFORE = {"gemini": "BeforeTool", "opencode": "tool.execute.before"}


@pytest.mark.parametrize("name", UNRECORDED)
def test_a_call_is_judged_by_the_table_of_its_agent(name):
    agent, tool, given, expected = UNRECORDED[name]
    document = plugin_input(tool, given) if agent == "opencode" else command_input(tool, given)
    found = said(agent, BEFORE.get(agent, "PreToolUse"), document)
    assert found.is_left == (expected is None)
    if expected is not None:
        assert (found.said.tool, found.said.input, found.said.cwd) == expected
        assert found.said.waits is None
        assert found.agent_input(found.said.input) == {
            k: v for k, v in given.items() if (name, k) != ("claude notebook read", "file_path")
        }


def test_the_rest_of_a_session_is_said_too():
    stop, start = recorded_inputs("claude")[6], recorded_inputs("claude")[0]
    assert said("claude", "Stop", stop).said == TurnDone()
    assert said("claude", "SessionStart", start).said is None
    assert said("claude", "SessionEnd", start).said == AgentEnded()
    events = dict(recorded_plugin_calls())
    assert said("opencode", "session.created", events["session.created"]).hello.session.startswith("ses_")
    assert said("opencode", "session.idle", events["session.idle"]).said == TurnDone()


@pytest.mark.parametrize(
    ("error", "expected"),
    [("MessageAbortedError", TurnDone(is_interrupted=True)), ("APIError", None), ("", None)],
)
def test_an_interrupt_in_the_agents_screen_is_said(error, expected):
    about = {"sessionID": "ses_1", "error": {"name": error}}
    assert said("opencode", "session.error", {"event": {"properties": about}}).said == expected
    assert said("codex", "Interrupt", {"session_id": "s"}).said == TurnDone(is_interrupted=True)


ENDED = {
    "claude shell": ("claude", "PostToolUse", {"stdout": "out", "stderr": "err"}, "out\nerr", False),
    "claude interrupted": ("claude", "PostToolUse", {"stdout": "", "interrupted": True}, "", True),
    "claude failed": ("claude", "PostToolUseFailure", None, "no", True),
    "codex text": ("codex", "PostToolUse", "printed", "printed", False),
    "qwen": ("qwen", "PostToolUse", {"llmContent": "done", "returnDisplay": ""}, "done", False),
    "gemini": ("gemini", "AfterTool", {"llmContent": "x", "error": "no such file"}, "x\nno such file", True),
    "odd": ("claude", "PostToolUse", [1], "", False),
}


@pytest.mark.parametrize("name", ENDED)
def test_the_end_of_a_call_has_its_output(name):
    agent, event, response, output, is_error = ENDED[name]
    tool = "run_shell_command" if agent in ("gemini", "qwen") else "Bash"
    document = command_input(tool, {"command": "ls"})
    document |= {"tool_response": response} if response is not None else {"error": "no"}
    expected = Done(
        tool="Bash",
        input={"command": "ls"},
        call="c",
        cwd="/w",
        output=output,
        is_error=is_error,
        nonce="n",
    )
    assert said(agent, event, document).said == expected


def test_opencode_says_what_a_call_printed():
    ended = opencode_after()
    assert said("opencode", "tool.execute.after", ended).said.output == "out"


def test_opencode_says_by_which_rules_it_asks_itself():
    given = {
        **opencode("write"),
        "permission": {"edit": {"*.md": "ask"}, "bash": "allow", "skill": "ask", "x": 1},
    }
    rules = said("opencode", "tool.execute.before", given).said.own_rules
    assert [(rule.pattern, rule.asks) for rule in rules] == [
        ("Edit(*.md)", True), ("Write(*.md)", True), ("Bash", False),
    ]  # fmt: skip
    for permission in ("ask", {"*": "ask"}):
        found = said("opencode", "tool.execute.before", {**given, "permission": permission}).said.own_rules
        assert ("Bash", True) in [(rule.pattern, rule.asks) for rule in found]
    for permission in (None, [], 7, {"bash": [1]}, {"bash": {"x" * 600: "ask"}}):
        assert not said("opencode", "tool.execute.before", {**given, "permission": permission}).said.own_rules


def test_a_call_is_compared_with_a_limited_number_of_rules_those_that_count():
    many = [f"Bash(x{number})" for number in range(MOST_RULES + 1)]
    found = claude_rules(({"permissions": {"ask": many}},))
    assert [rule.pattern for rule in found] == many[:-1]
    found = opencode_rules({"bash": {f"x{number}": "ask" for number in range(MOST_RULES + 1)}})
    assert [rule.pattern for rule in found] == many[1:]


def opencode_after():
    call = {"tool": "bash", "sessionID": "s", "callID": "c", "args": {"command": "ls"}}
    return {"directory": "/w", "input": call, "output": {"title": "t", "output": "out", "metadata": {}}}


# --- answers ----------------------------------------------------------------------------------------

ALLOW, DENY = CallAnswer(nonce="n", outcome="allow"), CallAnswer(nonce="n", outcome="deny", reason="keep it")
EDITED = {"file_path": "a", "content": "c"}
DECISIONS = {
    # agent, event: allow, allow with another input, deny
    ("claude", "PreToolUse"): (
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": EDITED}},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "keep it"}},
    ),
    ("claude", "PermissionRequest"): (
        {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}},
        {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow", "updatedInput": EDITED}}},
        {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "keep it"}}},
    ),
    ("codex", "PreToolUse"): (
        None,
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": EDITED}},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "keep it"}},
    ),
    ("gemini", "BeforeTool"): (
        {"decision": "allow"},
        {"decision": "allow", "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": EDITED}},
        {"decision": "deny", "reason": "keep it"},
    ),
    ("opencode", "tool.execute.before"): (
        {"decision": "allow"}, {"decision": "allow", "args": EDITED}, {"decision": "deny", "reason": "keep it"},
    ),
}  # fmt: skip
DECISIONS["qwen", "PreToolUse"] = DECISIONS["claude", "PreToolUse"]


@pytest.mark.parametrize("place", DECISIONS, ids=" ".join)
def test_each_decision_is_said_by_the_words_of_the_agent(place):
    agent = hooked_agent(place[0])
    event = agent.event(place[1])
    outputs = [
        decision_output(agent, event, *each) for each in ((ALLOW, None), (ALLOW, EDITED), (DENY, None))
    ]
    assert [json.loads(each.stdout) if each.stdout else None for each in outputs] == list(DECISIONS[place])
    assert all((each.code, each.stderr) == (0, b"") for each in outputs)
    unsaid = decision_output(agent, event, CallAnswer(nonce="n", outcome="deny"), None)
    assert b"not allowed" in unsaid.stdout  # agents refuse a denial without a reason


def test_every_event_that_asks_has_its_decisions():
    asking = {(agent.id, event.name) for agent in AGENTS for event in agent.events if event.waits}
    assert asking == set(DECISIONS)


def test_a_patch_in_a_line_is_cut_in_its_line():
    found = said("codex", "PreToolUse", recorded("codex", "PreToolUse", "Bash"))
    cut = found.agent_input({"patch": ONE_HUNK})
    assert cut == {"command": f"apply_patch <<'EOF'\n{ONE_HUNK}EOF"}
    given = recorded("codex", "PreToolUse", "Bash")
    line = given["tool_input"]["command"].replace("\n", "\r\n")
    returned = said("codex", "PreToolUse", {**given, "tool_input": {"command": line}})
    assert returned.said.tool == "apply_patch" and returned.agent_input({"patch": ONE_HUNK}) == cut
    with pytest.raises(ValueError, match="here-document"):
        found.agent_input({"patch": PATCH.replace("+line three", "+line three\nEOF")})


def test_the_model_is_told_after_a_call_where_its_agent_has_a_channel():
    for agent in AGENTS:
        for event in agent.events:
            output = note_output(agent, event, "left out")
            assert (output != LEAVE) == event.tells_model
            assert note_output(agent, event, "") == LEAVE
    claude, opencode_agent = hooked_agent("claude"), hooked_agent("opencode")
    note = note_output(claude, claude.event("PostToolUse"), "left out")
    assert json.loads(note.stdout) == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "left out"}
    }
    note = note_output(opencode_agent, opencode_agent.event("tool.execute.after"), "left out")
    assert json.loads(note.stdout) == {"note": "left out"}


def test_the_model_is_told_with_the_answer_where_no_event_follows_the_call():
    answer = CallAnswer(nonce="n", outcome="allow", note="left out")
    outputs = {
        name: decision_output(hooked_agent(name), hooked_agent(name).event("PreToolUse"), answer, EDITED)
        for name in ("codex", "claude")
    }
    said = {name: json.loads(each.stdout)["hookSpecificOutput"] for name, each in outputs.items()}
    assert said["codex"]["additionalContext"] == "left out"
    assert "additionalContext" not in said["claude"]


def test_a_call_that_cannot_be_read_is_denied_by_its_exit_code():
    assert (blocked("why").code, blocked("why").stderr, blocked("why").stdout) == (2, b"why", b"")


# --- bad input --------------------------------------------------------------------------------------

UNREADABLE = [
    b"", b"null", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"session_id": "s"', b'{"session_id": ""}', b'{"session_id": 3}',
    b'{"session_id": "s", "tool_name": "Edit", "tool_input": []}', b'{"session_id": "s"}',
    b'{"session_id": "s", "tool_name": "Edit", "tool_input": {"a": "\\ud800"}}',
    json.dumps({"session_id": "s" * 201, "tool_name": "Edit"}).encode(),
]  # fmt: skip


@pytest.mark.parametrize("data", UNREADABLE, ids=range(len(UNREADABLE)))
@pytest.mark.parametrize("agent", ["claude", "opencode"])
def test_an_input_that_is_not_a_call_is_refused(agent, data):
    with pytest.raises(HookRefused):
        said(agent, BEFORE.get(agent, "PreToolUse"), data)


@pytest.mark.parametrize(
    "event", [{}, {"properties": {}}, {"properties": {"info": 3}}, {"properties": {"sessionID": ""}}]
)
def test_an_event_of_opencode_without_a_session_is_refused(event):
    with pytest.raises(HookRefused):
        said("opencode", "session.idle", {"event": event})


def test_an_input_that_is_too_large_is_refused_and_what_a_call_printed_is_cut():
    large = command_input("Write", {"file_path": "a", "content": "x" * 16_000_000})
    with pytest.raises(HookRefused, match="too large"):
        said("claude", "PreToolUse", large)
    assert said("claude", "PostToolUse", large).said is None
    printed = command_input("Bash", {"command": "ls"}, tool_response={"stdout": "x" * 16_000_000})
    assert len(said("claude", "PostToolUse", printed).said.output) == MAX_OUTPUT_CHARACTERS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from((
    "session_id", "cwd", "tool_name", "tool_input", "tool_use_id", "tool_response", "directory", "input",
    "output", "event", "model", "transcript_path", "tool_call_id",
))  # fmt: skip
EVENTS = st.sampled_from([(agent.id, event.name) for agent in AGENTS for event in agent.events])


@given(
    place=EVENTS,
    data=st.binary(max_size=40) | st.dictionaries(MEMBERS, JSON, max_size=8).map(msgspec.json.encode),
    tool=st.sampled_from(["", "Edit", "Bash", "apply_patch", "Task"]),
)
def test_no_bytes_are_anything_but_a_message_or_refused(place, data, tool):
    if tool and data.startswith(b"{"):
        data = msgspec.json.encode({**msgspec.json.decode(data), "session_id": "s", "tool_name": tool})
    try:
        found = said(*place, data)
    except HookRefused:
        return
    assert isinstance(found.said, Ask | Done | TurnDone | AgentEnded | None)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b'{"type":"hook","agent":"a"}',
        b'{"type":"hook","agent":"a","event":"e","nonce":"n","size":-1}',
    ],
)
def test_a_header_that_is_malformed_is_refused(line):
    with pytest.raises(HookRefused):
        decode_header(line)


# --- the client's part ------------------------------------------------------------------------------


def test_the_client_knows_the_modes_without_prompts_and_the_limit():
    modes = {mode.encode() for agent in AGENTS for mode in agent.unasking_modes}
    assert (modes, MAX_HOOK_BYTES) == (set(hook_client.UNASKING_MODES), hook_client.MAX_INPUT_BYTES)


def test_a_hook_that_asks_may_deny_and_start_and_others_only_leave():
    setup = HookSetup(python="/p", data="/d", start=("/w", "serve"), otherwise="deny", seconds=900)
    claude = hooked_agent("claude")
    words = {event.means: hook_arguments(claude, event, setup) for event in claude.events_of("all")}
    asks = ["/p", "-I", "-S", str(CLIENT), "claude", "PreToolUse", "/d", "deny", "900", "/w", "serve"]
    assert words["ask"] == asks
    assert words["started"][7:] == ["leave", "30", "/w", "serve"]
    assert words["done"][7:] == words["failed"][7:] == ["leave", "30", "/w", "serve"]
    assert (words["turn_done"][7:], words["ended"][7:]) == (["leave", "30"], ["leave", "3"])


def test_a_scope_hooks_one_event_that_asks():
    claude = hooked_agent("claude")
    asking = {scope: [e.name for e in claude.events_of(scope) if e.waits] for scope in claude.scopes}
    assert asking == {"all": ["PreToolUse"], "asked": ["PermissionRequest"]}
    assert hooked_agent("none") is None and claude.event("none") is None
    assert HookEvent(name="x", means="ask").waits
