"""Invented sessions of the agents that came later, one small file each, written after what their programs write."""

import hashlib
import json

import apsw

MS = 1_795_262_400_000
"""2026-11-21 12:00:00 UTC."""


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def at(second, minute=0):
    return f"2026-11-21T12:{minute:02}:{second:02}.500Z"


def qwen(number, kind, parts, **more):
    role = {"assistant": "model", "system": "system"}.get(kind, "user")
    return {
        "uuid": f"q{number}", "parentUuid": f"q{number - 1}" if number else None, "sessionId": "qwen-1", "type": kind,
        "timestamp": at(number), "cwd": "/shop", "version": "0.21", "message": {"role": role, "parts": parts}, **more,
    }  # fmt: skip


def qwen_result(number, call, tool, status, response, shown=None):
    part = {"functionResponse": {"id": call, "name": tool, "response": response}}
    outcome = {"callId": call, "status": status, "resultDisplay": shown}
    return qwen(number, "tool_result", [part], toolCallResult=outcome)


QWEN = lines(
    qwen(0, "user", [{"text": "change it"}, {"text": "<qwen:user-prompt-submit-context>\nx\n"}], systemPayload={"displayText": "change it"}),
    qwen(1, "assistant", [
        {"text": "hm", "thought": True}, {"text": "I do."},
        {"functionCall": {"id": "a", "name": "edit", "args": {"file_path": "a.py", "old_string": "a = 1", "new_string": "a = 2"}}},
        {"functionCall": {"id": "b", "name": "run_shell_command", "args": {"command": "false"}}},
        {"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "rm x"}}}],
        model="coder", usageMetadata={"promptTokenCount": 900, "candidatesTokenCount": 20, "thoughtsTokenCount": 5,
                                      "totalTokenCount": 925, "cachedContentTokenCount": 800}),
    qwen_result(2, "a", "edit", "success", {"output": "ok"}, {"fileDiff": "@@ -1 +1 @@\n-a = 1\n+a = 2\n", "fileName": "a.py", "originalContent": "a = 1\n"}),
    qwen_result(3, "b", "run_shell_command", "error", {"error": "exit 1"}),
    qwen_result(4, "c", "run_shell_command", "cancelled", {"error": "[Operation Cancelled] Reason: User did not allow tool call"}),
    qwen(5, "assistant", [{"text": "Done."}], model="coder", usageMetadata={"promptTokenCount": 950, "candidatesTokenCount": 3, "totalTokenCount": 953}),
    qwen(6, "system", [], subtype="ui_telemetry"),
    qwen(7, "user", [{"text": "a notice"}], subtype="notification"),
)  # fmt: skip


def copilot(number, kind, /, **data):
    return {
        "type": kind,
        "data": data,
        "id": f"e{number}",
        "timestamp": at(number),
        "parentId": f"e{number - 1}" if number else None,
    }


COPILOT_CALLS = [
    {
        "toolCallId": "a",
        "name": "edit",
        "arguments": {"path": "a.py", "old_str": "a = 1", "new_str": "a = 2"},
        "type": "function",
    },
    {"toolCallId": "b", "name": "bash", "arguments": '{"command": "false"}', "type": "function"},
    {"toolCallId": "c", "name": "bash", "arguments": {"command": "rm x"}, "type": "function"},
]
COPILOT = lines(
    copilot(0, "session.start", sessionId="copilot-1", copilotVersion="1.0", startTime=at(0), selectedModel="gpt-5", context={"cwd": "/shop", "branch": "main"}),
    copilot(1, "user.message", content="change it", attachments=[]),
    copilot(2, "assistant.turn_start", turnId="0"),
    copilot(3, "assistant.message", messageId="m1", content="I do.", reasoningText="hm", toolRequests=COPILOT_CALLS, outputTokens=12),
    copilot(4, "tool.execution_start", toolCallId="a", toolName="edit", arguments={}),
    copilot(6, "tool.execution_complete", toolCallId="a", success=True, result={
        "content": "ok", "detailedContent": "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"}),
    copilot(7, "tool.execution_start", toolCallId="b", toolName="bash"),
    copilot(20, "tool.execution_complete", toolCallId="b", success=False, error={"message": "exit 1", "code": "failure"}),
    copilot(21, "permission.requested", requestId="p", permissionRequest={"kind": "shell", "toolCallId": "c"}),
    copilot(40, "permission.completed", requestId="p", result={"kind": "denied-interactively-by-user"}),
    copilot(41, "tool.execution_complete", toolCallId="c", success=False, error={"message": "The user said no", "code": "rejected"}),
    copilot(42, "assistant.message", messageId="m2", content="Done.", toolRequests=[], outputTokens=3),
    copilot(43, "assistant.turn_end", turnId="0"),
    copilot(44, "session.shutdown", tokenDetails={"input": {"tokenCount": 100}, "output": {"tokenCount": 16}, "cache_read": {"tokenCount": 800}, "cache_write": {"tokenCount": 50}}),
)  # fmt: skip


def use(key, name, **arguments):
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def outcome(key, said, **more):
    return {"type": "tool_result", "tool_use_id": key, "content": said, **more}


def droid(number, role, *content, **more):
    return {
        "type": "message",
        "id": f"d{number}",
        "timestamp": at(number),
        "message": {"role": role, "content": list(content), **more},
    }


DROID = lines(
    {"type": "session_start", "id": "droid-1", "title": "Change it", "cwd": "/shop", "owner": "o", "version": 2},
    droid(0, "user", {"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "change it"}),
    droid(1, "assistant", {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "I do."},
          use("a", "Edit", file_path="a.py", old_str="a = 1", new_str="a = 2"), use("b", "Execute", command="false"), use("c", "Execute", command="rm x"),
          usage={"input_tokens": 7, "output_tokens": 30, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 40}),
    droid(3, "user", outcome("a", "ok")),
    droid(4, "user", outcome("b", "Error: Command failed (exit code: 1)\nno")),
    droid(5, "user", outcome("c", "Error: the call was rejected by the user", is_error=True)),
    droid(6, "assistant", {"type": "text", "text": "Done."}),
    {"type": "todo_state", "id": "t", "timestamp": at(7)},
)  # fmt: skip


def streamed(number, kind, **more):
    return {"type": kind, "session_id": "droid-2", "timestamp": at(number), **more}


DROID_STREAM = lines(
    streamed(0, "system", subtype="init", cwd="/shop", model="big", tools=[]),
    streamed(1, "message", role="user", id="u", text="change it"),
    streamed(2, "message", role="assistant", id="m", text="I do."),
    streamed(3, "tool_call", toolCallId="a", toolName="Edit", parameters={"file_path": "a.py", "old_str": "a = 1", "new_str": "a = 2"}),
    streamed(5, "tool_result", toolCallId="a", isError=False, value="ok"),
    streamed(6, "tool_call", toolCallId="b", toolName="Execute", parameters={"command": "false"}),
    streamed(19, "tool_result", toolCallId="b", value={"stdout": "no", "exitCode": 1}),
    streamed(20, "message", role="assistant", id="n", text="Done."),
    streamed(20, "completion", finalText="Done.", numTurns=2, usage={"input_tokens": 9, "output_tokens": 4, "cache_read_input_tokens": 80}),
)  # fmt: skip


def cursor(role, *content):
    return {"role": role, "message": {"content": list(content)}}


CURSOR = lines(
    cursor("user", {"type": "text", "text": "<user_info>\nOS\n</user_info>"}),
    cursor("user", {"type": "text", "text": "<user_query>\nchange it\n</user_query>"}),
    cursor("assistant", {"type": "text", "text": "I do."}, {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}),
    cursor("assistant", {"type": "text", "text": "Done."}),
    {"type": "turn_ended", "status": "success"},
)  # fmt: skip


def database(script, *rows):
    """Return the bytes of a database that a script makes, with rows as pairs of an insertion and its values."""
    made = apsw.Connection(":memory:")
    made.execute(script)
    for insertion, values in rows:
        made.execute(insertion, values)
    return made.serialize("main")


def cursor_store():
    said = [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": [{"type": "text", "text": "<user_query>change it</user_query>"}]},
        {"role": "assistant", "content": [
            {"type": "reasoning", "text": "hm"}, {"type": "text", "text": "I do."},
            {"type": "tool-call", "toolCallId": "a", "toolName": "StrReplace", "args": {"path": "a.py", "old_string": "a = 1", "new_string": "a = 2"}},
            {"type": "tool-call", "toolCallId": "b", "toolName": "Shell", "args": {"command": "rm x"}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "a", "toolName": "StrReplace", "result": "ok"}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "b", "toolName": "Shell", "result": "Rejected by the user: no"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]  # fmt: skip
    blobs = {hashlib.sha256(json.dumps(one).encode()).digest(): json.dumps(one).encode() for one in said}
    root = b"".join(b"\n\x20" + key for key in blobs) + b"\x12\x01x"
    meta = {
        "agentId": "cursor-2",
        "name": "Change it",
        "createdAt": MS,
        "lastUsedModel": "big",
        "latestRootBlobId": "00",
    }
    kept = [(key.hex(), data) for key, data in blobs.items()][::-1]
    return database(
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)",
        ("INSERT INTO meta VALUES ('0', ?)", (json.dumps(meta).encode().hex(),)),
        *(("INSERT INTO blobs VALUES (?, ?)", row) for row in [*kept, ("00", root)]),
    )


CURSOR_STORE = cursor_store()


def cursor_state():
    """The editor's database: chats and messages under keys of their own, beside keys that are nobody's business."""

    def bubble(kind, second, **more):
        return {"_v": 3, "type": kind, "createdAt": f"2026-11-21T12:00:{second:02}.000Z", **more}

    def tool(name, arguments, result, **more):
        return {"toolFormerData": {"toolCallId": f"t-{name}", "name": name, "status": "completed",
                                   "rawArgs": json.dumps(arguments), "result": json.dumps(result), **more}}  # fmt: skip

    change = {
        "diff": {
            "chunks": [
                {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "diffString": "-a = 1\n+a = 2"}
            ]
        }
    }
    said = [
        bubble(1, 0, text="change it", workspaceUris=["file:///home/me/my%20shop"]),
        bubble(2, 1, text="", thinking={"text": "hm"}, tokenCount={"inputTokens": 100, "outputTokens": 7}, modelInfo={"modelName": "big"}),
        bubble(2, 2, text="I do.", **tool("edit_file", {"target_file": "a.py", "code_edit": "a = 2"}, change, userDecision="accepted")),
        bubble(2, 4, text="", **tool("run_terminal_cmd", {"command": "false"}, {"output": "no", "exitCodeV2": 1}, status="error")),
        bubble(2, 5, text="", **tool("delete_file", {"target_file": "x"}, {}, userDecision="rejected", status="cancelled")),
        bubble(2, 6, text=""),
        bubble(2, 7, text="Done.", tokenCount={"inputTokens": 20, "outputTokens": 3}),
    ]  # fmt: skip
    headers = [{"bubbleId": f"b{n}", "type": one["type"]} for n, one in enumerate(said)]
    chat = {"_v": 10, "composerId": "cursor-3", "name": "Change it", "createdAt": MS, "status": "completed",
            "modelConfig": {"modelName": "default"}, "fullConversationHeadersOnly": headers}  # fmt: skip
    kept = {
        "composerData:cursor-3": chat,
        "composerData:empty": {"composerId": "empty", "fullConversationHeadersOnly": []},
        "codeBlockDiff:cursor-3": {"x": 1},
        **{f"bubbleId:cursor-3:b{n}": one for n, one in enumerate(said)},
    }
    return database(
        "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
        "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
        ("INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', ?)", ("not-for-anyone",)),
        *(
            ("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(one).encode()))
            for key, one in kept.items()
        ),
    )


CURSOR_STATE = cursor_state()


def kimi(second, kind, /, **more):
    return {"type": kind, "time": MS + int(second * 1000), **more}


def looped(second, kind, /, **more):
    return kimi(second, "context.append_loop_event", event={"type": kind, "uuid": f"u{second}", **more})


def approval(second, call, decision):
    return kimi(
        second,
        "permission.record_approval_result",
        toolCallId=call,
        toolName="Bash",
        result={"decision": decision},
    )


def spent(sent, got, read, made=0):
    return {"inputOther": sent, "output": got, "inputCacheRead": read, "inputCacheCreation": made}


def typed(words):
    return [{"type": "text", "text": words}]


KIMI = lines(
    {"type": "metadata", "protocol_version": "1.4", "created_at": MS},
    kimi(0, "config.update", modelAlias="moonshot/kimi-k2", systemPrompt="be good"),
    kimi(1, "turn.prompt", input=typed("change it"), origin={"kind": "user"}),
    kimi(1, "context.append_message", message={"role": "user", "content": typed("change it"), "origin": {"kind": "user"}}),
    looped(1, "step.begin"),
    looped(4, "content.part", part={"type": "think", "think": "hm"}),
    looped(4, "content.part", part={"type": "text", "text": "I do."}),
    looped(4, "tool.call", toolCallId="a", name="Edit", args={"path": "a.py", "old_string": "a = 1", "new_string": "a = 2"}),
    looped(5, "tool.result", toolCallId="a", result={"output": "ok"}),
    approval(40, "b", "approved"),
    looped(40, "tool.call", toolCallId="b", name="Bash", args={"command": "false"}),
    looped(50, "tool.result", toolCallId="b", result={"output": "exit 1", "isError": True}),
    looped(50, "step.end", usage=spent(100, 20, 800, 50)),
    kimi(50, "usage.record", usage=spent(100, 20, 800, 50), usageScope="turn"),
    looped(51, "step.begin"),
    looped(52, "content.part", part={"type": "text", "text": "And this."}),
    approval(90, "c", "rejected"),
    looped(90, "tool.call", toolCallId="c", name="Bash", args={"command": "rm x"}),
    looped(90, "tool.result", toolCallId="c", result={"output": "no", "isError": True}),
    looped(91, "step.end", usage=spent(5, 6, 900)),
    kimi(91, "usage.record", usage=spent(1, 2, 3), usageScope="session"),
)  # fmt: skip


def wired(second, kind, /, **payload):
    return {"timestamp": MS / 1000 + second, "message": {"type": kind, "payload": payload}}


KIMI_LEGACY = lines(
    {"type": "metadata", "protocol_version": "1.1"},
    wired(1, "TurnBegin", user_input="change it"),
    wired(2, "StepBegin", n=1),
    wired(3, "ContentPart", type="think", think="hm"),
    wired(3, "ToolCall", type="function", id="a", function={"name": "Shell", "arguments": '{"command": "ls"}'}),
    wired(4, "ApprovalRequest", id="q", tool_call_id="a", action="run"),
    wired(30, "ApprovalRequestResolved", request_id="q", response="approve"),
    wired(33, "ToolResult", tool_call_id="a", return_value={"is_error": False, "output": "x"}),
    wired(34, "StatusUpdate", token_usage={"input_other": 10, "output": 5, "input_cache_read": 70, "input_cache_creation": 0}),
    wired(35, "TurnEnd"),
)  # fmt: skip


def vibe(number, role, content, **more):
    return {"role": role, "content": content, "message_id": f"m{number}", **more}


def asked(key, name, **arguments):
    return {"id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


VIBE = lines(
    vibe(0, "user", "change it"),
    vibe(1, "assistant", "I do.", reasoning_content="hm", tool_calls=[
        asked("a", "write_file", path="a.py", content="a = 2"), asked("b", "bash", command="false"), asked("c", "bash", command="rm x")]),
    vibe(2, "tool", "ok", name="write_file", tool_call_id="a"),
    vibe(3, "tool", "<tool_error>exit 1</tool_error>", name="bash", tool_call_id="b"),
    vibe(4, "tool", "<tool_error>cancelled by user</tool_error>", name="bash", tool_call_id="c"),
    vibe(5, "assistant", "Done."),
)  # fmt: skip
GROK = lines(
    {"type": "system", "content": "be good"},
    {"type": "user", "content": typed("<user_info>"), "synthetic_reason": "environment_context"},
    {"type": "user", "content": typed("change it"), "prompt_index": 0},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}], "status": "completed"},
    {"type": "assistant", "content": "I do.", "model_id": "grok", "tool_calls": [
        {"id": "a", "name": "search_replace", "arguments": '{"path": "a.py", "old_string": "a = 1", "new_string": "a = 2"}'},
        {"id": "b", "name": "run_terminal_cmd", "arguments": '{"command": "false"}'}]},
    {"type": "tool_result", "tool_call_id": "a", "content": "ok"},
    {"type": "tool_result", "tool_call_id": "b", "content": "Error: exit 1"},
    {"type": "backend_tool_call", "kind": {"tool_type": "web_search"}},
    {"type": "assistant", "content": "Done.", "model_id": "grok"},
)  # fmt: skip
HERMES = json.dumps({
    "session_id": "hermes-1", "model": "big", "platform": "cli", "session_start": at(0), "cwd": "/shop",
    "messages": [
        {"role": "user", "content": "change it"},
        {"role": "assistant", "content": "", "tool_calls": [asked("a", "terminal", command="ls")]},
        {"role": "tool", "tool_call_id": "a", "content": "a.py"}, {"role": "assistant", "content": "Done."}],
}).encode()  # fmt: skip
TOLD = [
    {"role": "system", "content": "be good"}, {"role": "user", "content": "change it"},
    {"role": "assistant", "content": None, "tool_calls": [asked("a", "bash", command="ls")]},
    {"role": "tool", "tool_call_id": "a", "content": "a.py"},
]  # fmt: skip
OPENAI = lines(
    {"type": "request", "timestamp": at(0), "model": "gpt-5", "messages": TOLD[:2]},
    {"type": "response", "timestamp": at(3), "model": "gpt-5", "choices": [{"message": TOLD[2]}],
     "usage": {"prompt_tokens": 90, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 80}}},
    {"type": "request", "timestamp": at(9), "model": "gpt-5", "messages": TOLD},
    {"type": "response", "timestamp": at(12), "model": "gpt-5", "messages": [{"role": "assistant", "content": "Done."}],
     "usage": {"prompt_tokens": 120, "completion_tokens": 3}},
)  # fmt: skip


def task(role, *texts, **more):
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts], **more}


ENVIRONMENT = "<environment_details>\n# Current Working Directory (/shop) Files\na.py\n# Current Mode\n{}\n</environment_details>"
DIFF = "<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE"
CLINE_TASK = [
    task("user", "<task>\nchange it\n</task>", ENVIRONMENT.format("ACT MODE"), ts=MS + 1_000),
    task("assistant", f"<thinking>hm</thinking>\nI do.\n<replace_in_file>\n<path>a.py</path>\n<diff>\n{DIFF}\n</diff>\n</replace_in_file>",
         ts=MS + 5_000, modelInfo={"modelId": "big", "providerId": "p"}, metrics={"tokens": {"prompt": 100, "completion": 20, "cached": 80}, "cost": 0.25}),
    task("user", "[replace_in_file for 'a.py'] Result:", "The content was saved.", ENVIRONMENT.format("ACT MODE"), ts=MS + 9_000),
    task("assistant", "<execute_command>\n<command>false</command>\n</execute_command>", ts=MS + 12_000),
    task("user", "[execute_command for 'false'] Result:", "The tool execution failed with the following error:\n<error>\nno\n</error>", ts=MS + 15_000),
    task("assistant", "<execute_command>\n<command>rm x</command>\n</execute_command>", ts=MS + 16_000),
    task("user", "[execute_command for 'rm x'] Result:",
         "The user denied this operation and provided the following feedback:\n<feedback>\nnot that\n</feedback>", ts=MS + 60_000),
    task("assistant", "<ask_followup_question>\n<question>Which?</question>\n<options>[\"this\", \"that\"]</options>\n</ask_followup_question>", ts=MS + 61_000),
    task("user", "[ask_followup_question for 'Which?'] Result:", "<answer>\nthat\n</answer>", ts=MS + 70_000),
    task("assistant", "<attempt_completion>\n<result>Done.</result>\n</attempt_completion>", ts=MS + 75_000),
]  # fmt: skip
CLINE = json.dumps(CLINE_TASK).encode()
ROO = json.dumps([
    task("user", "<task>\nchange it\n</task>", ENVIRONMENT.format("<slug>code</slug>"), ts=MS),
    {"role": "assistant", "ts": MS + 4_000, "content": [
        {"type": "text", "text": "I do."}, use("a", "apply_diff", path="a.py", diff=DIFF.replace("SEARCH\n", "SEARCH\n:start_line:1\n-------\n"))]},
    {"role": "user", "ts": MS + 6_000, "content": [outcome("a", "saved"), {"type": "text", "text": ENVIRONMENT.format("<slug>code</slug>")}]},
    {"role": "assistant", "ts": MS + 7_000, "content": [use("c", "execute_command", command="rm x")]},
    {"role": "user", "ts": MS + 9_000, "content": [outcome("c", '{"status":"denied","message":"The user denied this operation.","feedback":"not that"}')]},
    {"role": "assistant", "ts": MS + 10_000, "content": [use("d", "execute_command", command="false")]},
    {"role": "user", "ts": MS + 11_000, "content": [outcome("d", '{"status":"error","message":"The tool execution failed","error":"no"}')]},
    {"role": "assistant", "ts": MS + 12_000, "content": [use("b", "attempt_completion", result="Done.")]},
]).encode()  # fmt: skip


def shown(number, kind, name, text="", **more):
    return {"ts": MS + number * 1000, "type": kind, kind: name, "text": text, **more}


CLINE_SCREEN_ROWS = [
    shown(0, "say", "text", "change it"),
    shown(1, "say", "api_req_started", json.dumps({"tokensIn": 10, "tokensOut": 5, "cacheWrites": 20, "cacheReads": 70, "cost": 0.5})),
    shown(3, "say", "text", "I do."),
    shown(4, "ask", "command", "ls"),
    shown(30, "say", "command_output", "a.py"),
    shown(31, "ask", "completion_result", ""),
]  # fmt: skip
CLINE_SCREEN = json.dumps(CLINE_SCREEN_ROWS).encode()
CLINE_SESSION = json.dumps({
    "version": 1, "sessionId": "cline-9", "agent": "x", "messages": [
        {"id": "1", "role": "user", "ts": MS, "content": [{"type": "text", "text": "<user_input mode=\"act\">change it</user_input>"}]},
        {"id": "2", "role": "assistant", "ts": MS + 2_000, "modelInfo": {"id": "big", "provider": "p"},
         "metrics": {"inputTokens": 5, "outputTokens": 6, "cacheReadTokens": 70, "cacheWriteTokens": 8},
         "content": [{"type": "thinking", "thinking": "hm"}, use("a", "bash", command="ls")]},
        {"id": "3", "role": "user", "ts": MS + 9_000, "content": [outcome("a", "no", is_error=True)]}],
}).encode()  # fmt: skip


def amp_run(key, status, result=None, **more):
    return {"type": "tool_result", "toolUseID": key, "run": {"status": status, "result": result, **more}}


AMP = json.dumps({
    "v": 3, "id": "T-1", "created": MS, "title": "Change it", "env": {"initial": {"trees": [{"displayName": "shop", "uri": "file:///shop"}]}},
    "messages": [
        {"role": "user", "content": typed("change it"), "meta": {"sentAt": MS + 1_000}},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I do."}, use("a", "edit_file", path="a.py", old_str="a = 1", new_str="a = 2"),
            use("b", "Bash", cmd="false"), use("c", "Bash", cmd="rm x"), use("d", "Bash", cmd="sleep 9")],
         "usage": {"model": "claude-x", "inputTokens": 5, "outputTokens": 30, "cacheCreationInputTokens": 400, "cacheReadInputTokens": 9000, "timestamp": at(5)}},
        {"role": "user", "content": [
            amp_run("a", "done", {"diff": "x"}), amp_run("b", "done", {"output": "no", "exitCode": 1}),
            amp_run("c", "rejected-by-user", reason="not that"), amp_run("d", "cancelled")]},
        {"role": "assistant", "content": typed("Done."), "usage": {"model": "gpt-5", "inputTokens": 0, "outputTokens": 2, "cacheCreationInputTokens": 70, "cacheReadInputTokens": 30}},
    ],
}).encode()  # fmt: skip
GOOSE_ROWS = [
    ("user", 1, typed("change it")),
    ("assistant", 2, [
        {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "I do."},
        {"type": "toolRequest", "id": "a", "toolCall": {"status": "success", "value": {
            "name": "developer__text_editor", "arguments": {"command": "str_replace", "path": "a.py", "old_str": "a = 1", "new_str": "a = 2"}}}},
        {"type": "toolRequest", "id": "b", "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "rm x"}}}}]),
    ("assistant", 3, [{"type": "toolConfirmationRequest", "id": "b", "toolName": "developer__shell", "arguments": {}}]),
    ("user", 9, [{"type": "toolResponse", "id": "a", "toolResult": {"status": "success", "value": {"content": typed("ok"), "isError": False}}}]),
    ("user", 30, [{"type": "toolResponse", "id": "b", "toolResult": {"status": "success", "value": typed("The user has declined to run this tool.")}}]),
    ("assistant", 31, [{"type": "toolRequest", "id": "c", "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "false"}}}}]),
    ("user", 33, [{"type": "toolResponse", "id": "c", "toolResult": {"status": "error", "error": "exit 1"}}]),
    ("assistant", 34, typed("Done.")),
]  # fmt: skip
GOOSE = database(
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT, session_type TEXT, created_at TIMESTAMP,"
    " input_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, provider_name TEXT, model_config_json TEXT);"
    "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT)",
    ("INSERT INTO sessions VALUES ('20261121_1', 'Change it', '', '/shop', 'user', '2026-11-21 12:00:00', 7, 900, 40, 'openai', ?)", ('{"model_name": "big"}',)),
    *(("INSERT INTO messages VALUES (NULL, '20261121_1', ?, ?, ?, NULL)", (role, json.dumps(parts), MS // 1000 + when)) for role, when, parts in GOOSE_ROWS),
)  # fmt: skip


def part(kind, **held):
    return {"type": kind, "data": held}


CRUSH_ROWS = [
    ("user", 1, [part("text", text="change it"), part("finish", reason="stop")]),
    ("assistant", 3, [
        part("reasoning", thinking="hm"), part("text", text="I do."), part("tool_call", id="a", name="edit", input='{"file_path": "a.py"}', finished=True),
        part("tool_call", id="b", name="bash", input='{"command": "rm x"}', finished=True), part("finish", reason="tool_use", time=MS // 1000 + 4)]),
    ("tool", 5, [part("tool_result", tool_call_id="a", name="edit", content="ok", metadata='{"old_content": "a = 1\\n", "new_content": "a = 2\\n"}', is_error=False)]),
    ("tool", 40, [part("tool_result", tool_call_id="b", name="bash", content="user denied permission", is_error=True)]),
    ("user", 45, [part("shell_command", command="false", output="", exit_code=1)]),
    ("assistant", 50, [part("text", text="Done."), part("finish", reason="end_turn")]),
]  # fmt: skip
CRUSH = database(
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, created_at INTEGER);"
    "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts BLOB, model TEXT, provider TEXT, created_at INTEGER)",
    ("INSERT INTO sessions VALUES ('crush-1', NULL, 'Change it', 900, 40, 0.25, ?)", (MS // 1000,)),
    *(("INSERT INTO messages VALUES (?, 'crush-1', ?, ?, ?, 'openai', ?)", (f"m{when}", role, json.dumps(parts).encode(), "big" if role == "assistant" else "", MS // 1000 + when))
      for role, when, parts in CRUSH_ROWS),
)  # fmt: skip


def ran(second, kind, part_kind, /, message="m1", **more):
    return {
        "type": kind,
        "timestamp": MS + second * 1000,
        "sessionID": "ses_run",
        "part": {"type": part_kind, "messageID": message, **more},
    }


def ended(status, begin, end, **more):
    return {"status": status, "time": {"start": MS + begin * 1000, "end": MS + end * 1000}, **more}


OPENCODE_RUN = lines(
    ran(0, "step_start", "step-start"),
    ran(2, "text", "text", text="I do."),
    ran(9, "tool_use", "tool", callID="a", tool="edit", state=ended("completed", 3, 9, input={"filePath": "a.py", "oldString": "1", "newString": "2"}, output="ok")),
    ran(20, "tool_use", "tool", callID="b", tool="bash", state=ended("error", 10, 20, input={"command": "false"}, error="exit 1")),
    ran(21, "step_finish", "step-finish", reason="tool-calls", cost=0.25, tokens={"input": 5, "output": 6, "reasoning": 7, "cache": {"read": 80, "write": 9}}),
    ran(22, "text", "text", text="Done."),
    ran(23, "step_finish", "step-finish", reason="stop", cost=0, tokens={"input": 1, "output": 1}),
    {"type": "error", "timestamp": MS + 24_000, "sessionID": "ses_run", "error": {"name": "APIError", "data": {"message": "overloaded"}}},
)  # fmt: skip


def step(number, source, kind, **more):
    return {
        "step_index": number,
        "source": source,
        "type": kind,
        "status": "DONE",
        "created_at": at(number),
        **more,
    }


ANTIGRAVITY = lines(
    step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>\nchange it\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nx"),
    step(1, "SYSTEM", "CONVERSATION_HISTORY"),
    step(2, "MODEL", "PLANNER_RESPONSE", thinking="hm", tool_calls=[{"name": "list_dir", "args": {"DirectoryPath": '"/shop"'}}, {"name": "run_command", "args": {"Command": '"false"'}}]),
    step(3, "MODEL", "LIST_DIRECTORY", content="a.py"),
    step(9, "MODEL", "RUN_COMMAND", content="The command failed with exit code: 1"),
    step(10, "MODEL", "VIEW_FILE", content="a = 1"),
    step(11, "MODEL", "PLANNER_RESPONSE", content="Done."),
)  # fmt: skip

AGENT_FILES = {
    "qwen": (QWEN, "qwen", "change it", [("edit", "succeeded"), ("run_shell_command", "failed"), ("run_shell_command", "rejected")], ["rejected"], ["a.py"]),
    "copilot": (COPILOT, "copilot", "change it", [("edit", "succeeded"), ("bash", "failed"), ("bash", "rejected")], ["rejected"], ["a.py"]),
    "droid": (DROID, "droid", "change it", [("Edit", "succeeded"), ("Execute", "failed"), ("Execute", "rejected")], ["rejected"], ["a.py"]),
    "droid-stream": (DROID_STREAM, "droid-stream", "change it", [("Edit", "succeeded"), ("Execute", "failed")], [], ["a.py"]),
    "cursor": (CURSOR, "cursor", "change it", [("Shell", "interrupted")], [], []),
    "cursor-store": (CURSOR_STORE, "cursor", "change it", [("StrReplace", "succeeded"), ("Shell", "rejected")], ["rejected"], ["a.py"]),
    "cursor-state": (CURSOR_STATE, "cursor", "change it", [
        ("edit_file", "succeeded"), ("run_terminal_cmd", "failed"), ("delete_file", "rejected")], ["approved", "rejected"], ["a.py"]),
    "kimi": (KIMI, "kimi", "change it", [("Edit", "succeeded"), ("Bash", "failed"), ("Bash", "rejected")], ["approved", "rejected"], ["a.py"]),
    "kimi-legacy": (KIMI_LEGACY, "kimi", "change it", [("Shell", "succeeded")], ["approved"], []),
    "vibe": (VIBE, "vibe", "change it", [("write_file", "succeeded"), ("bash", "failed"), ("bash", "rejected")], ["rejected"], ["a.py"]),
    "grok": (GROK, "grok", "change it", [("search_replace", "succeeded"), ("run_terminal_cmd", "failed")], [], ["a.py"]),
    "hermes": (HERMES, "hermes", "change it", [("terminal", "succeeded")], [], []),
    "openai": (OPENAI, "openai", "change it", [("bash", "succeeded")], [], []),
    "cline": (CLINE, "cline", "change it", [
        ("replace_in_file", "succeeded"), ("execute_command", "failed"), ("execute_command", "rejected"), ("ask_followup_question", "succeeded"),
    ], ["rejected", "approved"], ["a.py"]),
    "cline-screen": (CLINE_SCREEN, "cline", "change it", [("command", "succeeded")], ["approved"], []),
    "cline-session": (CLINE_SESSION, "cline", "change it", [("bash", "failed")], [], []),
    "roo": (ROO, "roo", "change it", [("apply_diff", "succeeded"), ("execute_command", "rejected"), ("execute_command", "failed")], ["rejected"], ["a.py"]),
    "roo-screen": (CLINE_SCREEN.replace(b"tokensIn", b"apiProtocol\\\": \\\"openai\\\", \\\"tokensIn"), "roo", "change it", [("command", "succeeded")], ["approved"], []),
    "antigravity": (ANTIGRAVITY, "antigravity", "change it", [("list_dir", "succeeded"), ("run_command", "failed"), ("view_file", "succeeded")], [], []),
    "amp": (AMP, "amp", "change it", [("edit_file", "succeeded"), ("Bash", "failed"), ("Bash", "rejected"), ("Bash", "cancelled")], ["rejected"], ["a.py"]),
    "goose": (GOOSE, "goose", "change it", [
        ("developer__text_editor", "succeeded"), ("developer__shell", "rejected"), ("developer__shell", "failed")], ["rejected"], ["a.py"]),
    "crush": (CRUSH, "crush", "change it", [("edit", "succeeded"), ("bash", "rejected"), ("bash", "failed")], ["rejected"], ["a.py"]),
    "opencode-run": (OPENCODE_RUN, "opencode", None, [("edit", "succeeded"), ("bash", "failed")], [], ["a.py"]),
}  # fmt: skip
"""As `FILES` of `foreign_files`: bytes, format, first prompt, calls, decisions, files changed."""
