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

AGENT_FILES = {
    "qwen": (QWEN, "qwen", "change it", [("edit", "succeeded"), ("run_shell_command", "failed"), ("run_shell_command", "rejected")], ["rejected"], ["a.py"]),
}  # fmt: skip
"""As `FILES` of `foreign_files`: bytes, format, first prompt, calls, decisions, files changed."""
