"""Invented sessions that hold what counts: four kinds of tokens, costs, calls that overlap, late answers."""

import json


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def at(second, minute=0):
    return f"2026-11-21T12:{minute:02}:{second:02}.500Z"


def claude(number, kind, content, when, **message):
    return {
        "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "counted", "cwd": "/shop", "timestamp": when,
        "message": {"role": kind, "content": content, **message},
    }  # fmt: skip


def tool(key, name, **arguments):
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def result(key, said, *, is_error=False):
    return {"type": "tool_result", "tool_use_id": key, "content": said, "is_error": is_error}


USAGE = {
    "input_tokens": 7, "output_tokens": 30, "cache_creation_input_tokens": 400,
    "cache_read_input_tokens": 9_000,
}  # fmt: skip
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
CLAUDE = lines(
    claude(0, "user", "make it faster", at(0)),
    claude(1, "assistant", [tool("a", "Task", prompt="look around")], at(2), id="m1", usage={**USAGE, "output_tokens": 1}),
    claude(2, "assistant", [tool("b", "Bash", command="make")], at(3), id="m1", usage=USAGE),
    claude(3, "user", [result("b", "made")], at(9)),
    claude(4, "user", [result("a", "looked")], at(40, 9)),
    claude(5, "assistant", [tool("c", "Write", file_path="/shop/a.py", content="a = 1\n")], at(0, 10), id="m2", usage=USAGE),
    claude(6, "user", [result("c", REFUSED, is_error=True)], at(53, 11)),
    claude(7, "assistant", [{"type": "text", "text": "Then not."}], at(55, 11), id="m3", usage=USAGE),
)  # fmt: skip


def codex(when, kind, **payload):
    return {"timestamp": when, "type": kind, "payload": payload}


def counts(sent, got, cached):
    used = {"input_tokens": sent, "output_tokens": got, "cached_input_tokens": cached}
    return {"total_token_usage": {**used, "total_tokens": sent + got}, "last_token_usage": used}


CODEX = lines(
    codex(at(0), "session_meta", id="counted", timestamp=at(0), cwd="/shop"),
    codex(at(0), "turn_context", model="gpt-5", approval_policy="on-request"),
    codex(at(1), "response_item", type="message", role="user", content=[{"type": "input_text", "text": "go"}]),
    codex(at(2), "response_item", type="function_call", name="shell", call_id="k1", arguments='{"command": ["make"]}'),
    codex(at(2), "response_item", type="function_call", name="shell", call_id="k2",
          arguments='{"command": ["rm"], "with_escalated_permissions": true}'),
    codex(at(3), "event_msg", type="token_count", info=counts(500, 20, 384)),
    codex(at(20), "response_item", type="function_call_output", call_id="k2",
          output='{"output": "gone", "metadata": {"exit_code": 0, "duration_seconds": 2.0}}'),
    codex(at(50), "response_item", type="function_call_output", call_id="k1",
          output='{"output": "made", "metadata": {"exit_code": 2, "duration_seconds": 48.0}}'),
    codex(at(51), "event_msg", type="token_count", info=counts(900, 25, 512)),
    codex(at(52), "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "ok"}]),
)  # fmt: skip
PI = lines(
    {"type": "session", "version": 3, "id": "counted", "timestamp": at(0), "cwd": "/shop"},
    {"type": "message", "timestamp": at(1), "message": {"role": "user", "content": "go"}},
    {"type": "message", "timestamp": at(4), "message": {
        "role": "assistant", "content": [{"type": "toolCall", "id": "t", "name": "bash", "arguments": {"command": "make"}}],
        "usage": {"input": 5, "output": 6, "cacheRead": 70, "cacheWrite": 80, "cost": {"total": 0.0125}}}},
    {"type": "message", "timestamp": at(44), "message": {
        "role": "toolResult", "toolCallId": "t", "toolName": "bash", "content": "no", "isError": True}},
)  # fmt: skip
MS = 1_795_262_400_000
OPENCODE = json.dumps({
    "info": {"id": "ses_counted", "title": "counted", "directory": "/shop", "time": {"created": MS}},
    "messages": [
        {"info": {"id": "m0", "role": "user", "time": {"created": MS}}, "parts": [{"type": "text", "text": "go"}]},
        {"info": {"id": "m1", "role": "assistant", "time": {"created": MS + 1_000}, "cost": 0.25, "modelID": "big",
                  "tokens": {"input": 3, "output": 4, "reasoning": 5, "cache": {"read": 600, "write": 70}}},
         "parts": [
            {"type": "tool", "callID": "t1", "tool": "bash", "state": {
                "status": "completed", "input": {"command": "make"}, "output": "made",
                "time": {"start": MS + 5_000, "end": MS + 90_000}}},
            {"type": "tool", "callID": "t2", "tool": "read", "state": {
                "status": "error", "input": {"filePath": "a.py"}, "error": "not there",
                "time": {"start": MS + 6_000, "end": MS + 7_000}}}]},
    ],
}).encode()  # fmt: skip
ATIF = json.dumps({
    "schema_version": "ATIF-v1.4", "session_id": "counted", "agent": {"name": "x", "version": "1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "go", "timestamp": at(0)},
        {"step_id": 2, "source": "agent", "message": "ok", "timestamp": at(5),
         "tool_calls": [{"tool_call_id": "t", "function_name": "bash", "arguments": {"command": "ls"}}],
         "observation": {"results": [{"source_call_id": "t", "content": "a"}]},
         "metrics": {"prompt_tokens": 900, "completion_tokens": 10, "cached_tokens": 800, "cost_usd": 0.002}},
    ],
}).encode()  # fmt: skip
SWE_AGENT = json.dumps({
    "environment": "x", "trajectory": [], "info": {
        "exit_status": "submitted",
        "model_stats": {"instance_cost": 1.75, "tokens_sent": 5_000, "tokens_received": 60}},
    "history": [
        {"role": "system", "content": "You work."}, {"role": "user", "content": "go"},
        {"role": "assistant", "content": "look", "action": "ls"}, {"role": "user", "content": "a.py"},
        {"role": "assistant", "content": "done"},
    ],
}).encode()  # fmt: skip
INSPECT = json.dumps({
    "version": 2, "status": "success", "eval": {"task": "t", "model": "anthropic/big", "created": at(0)},
    "samples": [{
        "id": 1, "epoch": 1, "input": "go", "target": "x",
        "model_usage": {"anthropic/big": {
            "input_tokens": 8, "output_tokens": 30, "total_tokens": 538, "input_tokens_cache_read": 400,
            "input_tokens_cache_write": 100}},
        "messages": [
            {"id": "m0", "role": "user", "content": "go"},
            {"id": "m1", "role": "assistant", "content": "I look", "source": "generate",
             "tool_calls": [{"id": "t", "function": "bash", "arguments": {"cmd": "ls"}}]},
            {"id": "m2", "role": "tool", "tool_call_id": "t", "content": "a"},
            {"id": "m3", "role": "assistant", "content": "done", "source": "generate"}],
        "events": [
            {"event": "sample_init", "timestamp": at(0)},
            {"event": "model", "timestamp": at(1), "completed": at(4), "output": {
                "choices": [{"message": {"id": "m1"}}], "usage": {"input_tokens": 5, "output_tokens": 10, "total_tokens": 15}}},
            {"event": "tool", "id": "t", "timestamp": at(5), "completed": at(35)},
            {"event": "model", "timestamp": at(36), "completed": at(40), "output": {
                "choices": [{"message": {"id": "m3"}}], "usage": {"input_tokens": 3, "output_tokens": 20, "total_tokens": 523,
                "input_tokens_cache_read": 400, "input_tokens_cache_write": 100}}}],
    }],
}).encode()  # fmt: skip
AIDER = b"""
# aider chat started at 2026-11-21 12:00:00

> Aider v0.86.2
> Models: big-model with diff edit format, weak model small

#### change it

a.py
```python
<<<<<<< SEARCH
a = 1
=======
a = 2
>>>>>>> REPLACE
```

> Tokens: 12k sent, 8.5k cache write, 3.2k cache hit, 250 received. Cost: $0.0125 message, $0.02 session.
> Applied edit to a.py
"""


def gemini(number, kind, when, content="", **more):
    return {"id": f"g{number}", "timestamp": when, "type": kind, "content": content, **more}


def gemini_call(key, name, status, when, said, **arguments):
    response = [{"functionResponse": {"response": {"error" if status == "error" else "output": said}}}]
    return {
        "id": key,
        "name": name,
        "status": status,
        "timestamp": when,
        "args": arguments,
        "result": response,
    }


GEMINI_TOKENS = {"input": 900, "output": 30, "cached": 400, "thoughts": 20, "tool": 5, "total": 955}
GEMINI_CALLS = [
    gemini_call("w", "write_file", "success", at(9), "written", file_path="/shop/a.py", content="a = 1\n"),
    gemini_call("b", "run_shell_command", "error", at(12), "no such command", command="mak"),
]
GEMINI = lines(
    {"sessionId": "counted", "projectHash": "h", "startTime": at(0), "lastUpdated": at(0)},
    gemini(1, "user", at(0), [{"text": "make it faster"}]),
    gemini(2, "gemini", at(3), "I begin."),
    {"$set": {"lastUpdated": at(3)}},
    gemini(2, "gemini", at(3), "I begin.", model="flash", tokens=GEMINI_TOKENS, toolCalls=GEMINI_CALLS),
    gemini(3, "user", at(20), "no, slower"),
    gemini(4, "gemini", at(22), "As you like.", tokens=GEMINI_TOKENS),
    {"$rewindTo": "g3"},
    gemini(5, "user", at(30), "go on"),
    gemini(6, "gemini", at(33), "It is faster.", tokens={"input": 1_000, "output": 8}),
)

COUNTED = {
    "claude": CLAUDE, "codex": CODEX, "pi": PI, "opencode": OPENCODE, "atif": ATIF, "swe-agent": SWE_AGENT,
    "inspect": INSPECT, "aider": AIDER, "gemini-lines": GEMINI,
}  # fmt: skip
