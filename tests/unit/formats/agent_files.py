"""Invented sessions of the agents that came later, one small file each, written after what their programs write."""

import json

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

AGENT_FILES = {
    "qwen": (QWEN, "qwen", "change it", [("edit", "succeeded"), ("run_shell_command", "failed"), ("run_shell_command", "rejected")], ["rejected"], ["a.py"]),
    "copilot": (COPILOT, "copilot", "change it", [("edit", "succeeded"), ("bash", "failed"), ("bash", "rejected")], ["rejected"], ["a.py"]),
}  # fmt: skip
"""As `FILES` of `foreign_files`: bytes, format, first prompt, calls, decisions, files changed."""
