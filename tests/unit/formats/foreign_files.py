"""One small file of every format, written after its description; what each must come to stands beside it."""

import json

T = "2026-11-21T12:00:0{}Z"


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def document(value):
    return json.dumps(value, indent=1).encode()


def codex(kind, number=0, **payload):
    return {"timestamp": T.format(number), "type": kind, "payload": payload}


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-a = 1\n+a = 2\n*** End Patch"

CODEX = lines(
    codex(
        "session_meta",
        id="c1",
        timestamp=T.format(0),
        cwd="/shop",
        cli_version="0.40",
        git={"branch": "main"},
    ),
    codex(
        "response_item",
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "<environment_context>x"}],
    ),
    codex("turn_context", cwd="/shop", model="gpt-5-codex"),
    codex(
        "response_item", 1, type="message", role="user", content=[{"type": "input_text", "text": "rename it"}]
    ),
    codex("event_msg", 1, type="user_message", message="rename it"),
    codex("response_item", 2, type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
    codex(
        "response_item",
        2,
        type="function_call",
        name="shell",
        call_id="k1",
        arguments=json.dumps({"command": ["bash", "-lc", "false"]}),
    ),
    codex(
        "response_item",
        3,
        type="function_call_output",
        call_id="k1",
        output=json.dumps({"output": "bad", "metadata": {"exit_code": 1, "duration_seconds": 0.5}}),
    ),
    codex("response_item", 3, type="custom_tool_call", name="apply_patch", call_id="k2", input=PATCH),
    codex(
        "response_item",
        4,
        type="custom_tool_call_output",
        call_id="k2",
        output="Exit code: 0\nWall time: 0 seconds\nDone",
    ),
    codex(
        "response_item",
        4,
        type="function_call",
        name="shell",
        call_id="k3",
        arguments=json.dumps({"command": ["rm", "x"], "with_escalated_permissions": True}),
    ),
    codex(
        "response_item", 5, type="function_call_output", call_id="k3", output="exec command rejected by user"
    ),
    codex(
        "event_msg",
        5,
        type="token_count",
        info={
            "total_token_usage": {"input_tokens": 9, "output_tokens": 4},
            "last_token_usage": {"input_tokens": 9, "output_tokens": 4},
        },
    ),
    codex(
        "response_item",
        6,
        type="message",
        role="assistant",
        content=[{"type": "output_text", "text": "done"}],
    ),
    codex("response_item", 7, type="novelty"),
)
CODEX_OLD = lines(
    {"id": "c0", "timestamp": T.format(0), "instructions": None, "git": {}},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
    {"type": "function_call", "name": "shell", "call_id": "k", "arguments": '{"command": ["ls"]}'},
    {
        "type": "function_call_output",
        "call_id": "k",
        "output": '{"output": "a", "metadata": {"exit_code": 0}}',
    },
)
CODEX_EXEC = lines(
    {"type": "thread.started", "thread_id": "e1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "hm"}},
    {
        "type": "item.completed",
        "item": {
            "id": "i1",
            "type": "command_execution",
            "command": "false",
            "aggregated_output": "",
            "exit_code": 1,
            "status": "failed",
        },
    },
    {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "done"}},
    {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
)
GEMINI = document(
    {
        "sessionId": "g1",
        "projectHash": "h",
        "startTime": T.format(0),
        "lastUpdated": T.format(5),
        "messages": [
            {"id": "1", "timestamp": T.format(0), "type": "user", "content": "change it"},
            {
                "id": "2",
                "timestamp": T.format(1),
                "type": "gemini",
                "content": "ok",
                "model": "gemini-2.5-pro",
                "thoughts": [{"subject": "Look", "description": "first", "timestamp": T.format(1)}],
                "tokens": {"input": 10, "output": 2, "thoughts": 1},
                "toolCalls": [
                    {
                        "id": "t1",
                        "name": "replace",
                        "status": "success",
                        "timestamp": T.format(2),
                        "args": {"file_path": "a.py", "old_string": "a = 1", "new_string": "a = 2"},
                        "result": [{"functionResponse": {"response": {"output": "ok"}}}],
                        "resultDisplay": {
                            "fileDiff": "@@ -1 +1 @@\n-a = 1\n+a = 2\n",
                            "fileName": "a.py",
                            "originalContent": "a = 1\n",
                        },
                    },
                    {
                        "id": "t2",
                        "name": "run_shell_command",
                        "status": "cancelled",
                        "timestamp": T.format(3),
                        "args": {"command": "rm x"},
                        "result": [
                            {
                                "functionResponse": {
                                    "response": {
                                        "error": "[Operation Cancelled] Reason: User did not allow tool call"
                                    }
                                }
                            }
                        ],
                    },
                ],
            },
            {"id": "3", "timestamp": T.format(4), "type": "info", "content": "note"},
        ],
    }
)
GEMINI_LINES = lines(
    {"sessionId": "g2", "projectHash": "h", "startTime": T.format(0)},
    {"id": "1", "timestamp": T.format(1), "type": "user", "content": [{"text": "hello"}]},
    {"id": "2", "timestamp": T.format(2), "type": "gemini", "content": "hi"},
)
GEMINI_STREAM = lines(
    {"type": "init", "timestamp": T.format(0), "session_id": "g2", "model": "flash"},
    {"type": "message", "role": "user", "timestamp": T.format(0), "content": "hello"},
    {"type": "message", "role": "assistant", "content": "do", "delta": True},
    {"type": "message", "role": "assistant", "content": "ne", "delta": True},
    {"type": "tool_use", "tool_name": "read_file", "tool_id": "r1", "parameters": {"path": "a.py"}},
    {"type": "tool_result", "tool_id": "r1", "status": "success", "output": "a = 2"},
    {"type": "result", "status": "success", "stats": {"input_tokens": 4, "output_tokens": 2}},
)
GEMINI_CHECKPOINT = document(
    {
        "history": [
            {"role": "user", "parts": [{"text": "change it"}]},
            {
                "role": "model",
                "parts": [{"text": "ok"}, {"functionCall": {"name": "read_file", "args": {"path": "a.py"}}}],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "a = 1"}}}],
            },
            {"role": "model", "parts": [{"text": "done"}]},
        ],
        "authType": "none",
    }
)
GEMINI_LOG = document(
    [{"sessionId": "g3", "messageId": 0, "type": "user", "message": "hello", "timestamp": T.format(0)}]
)
PI = lines(
    {
        "type": "session",
        "version": 3,
        "id": "p1",
        "timestamp": T.format(0),
        "cwd": "/shop",
        "provider": "anthropic",
        "modelId": "m",
    },
    {
        "type": "message",
        "timestamp": T.format(1),
        "message": {"role": "user", "content": "edit", "timestamp": 1795262401000},
    },
    {
        "type": "message",
        "timestamp": T.format(2),
        "message": {
            "role": "assistant",
            "model": "m",
            "usage": {"input": 7, "output": 3},
            "content": [
                {"type": "text", "text": "ok"},
                {
                    "type": "toolCall",
                    "id": "t1",
                    "name": "edit",
                    "arguments": {"path": "a.py", "oldText": "a = 1", "newText": "a = 2"},
                },
            ],
        },
    },
    {
        "type": "message",
        "timestamp": T.format(3),
        "message": {
            "role": "toolResult",
            "toolCallId": "t1",
            "toolName": "edit",
            "content": [{"type": "text", "text": "done"}],
            "isError": False,
        },
    },
    {
        "type": "message",
        "timestamp": T.format(4),
        "message": {
            "role": "bashExecution",
            "command": "false",
            "output": "",
            "exitCode": 1,
            "cancelled": False,
        },
    },
    {"type": "model_change", "timestamp": T.format(5), "modelId": "n"},
)
ACP = lines(
    {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/shop"}},
    {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "a1"}},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "session/prompt",
        "params": {"sessionId": "a1", "prompt": [{"type": "text", "text": "edit"}]},
    },
    {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "a1",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "I wi"}},
        },
    },
    {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "a1",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "ll"}},
        },
    },
    {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "a1",
            "update": {
                "sessionUpdate": "tool_call",
                "toolCallId": "t1",
                "title": "Edit",
                "kind": "edit",
                "status": "pending",
                "rawInput": {"path": "a.py"},
            },
        },
    },
    {
        "jsonrpc": "2.0",
        "id": 9,
        "method": "session/request_permission",
        "params": {
            "sessionId": "a1",
            "toolCall": {"toolCallId": "t1"},
            "options": [{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}],
        },
    },
    {"jsonrpc": "2.0", "id": 9, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}},
    {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "a1",
            "update": {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "t1",
                "status": "completed",
                "content": [{"type": "diff", "path": "a.py", "oldText": "a = 1\n", "newText": "a = 2\n"}],
            },
        },
    },
    {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "a1",
            "update": {
                "sessionUpdate": "tool_call",
                "toolCallId": "t2",
                "title": "rm",
                "kind": "execute",
                "status": "pending",
                "rawInput": {"command": "rm x"},
            },
        },
    },
    {
        "jsonrpc": "2.0",
        "id": 10,
        "method": "session/request_permission",
        "params": {
            "sessionId": "a1",
            "toolCall": {"toolCallId": "t2"},
            "options": [{"optionId": "n", "kind": "reject_once"}],
        },
    },
    {"jsonrpc": "2.0", "id": 10, "result": {"outcome": {"outcome": "selected", "optionId": "n"}}},
    {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}},
)
SWE = document(
    {
        "environment": "swe",
        "history": [
            {"role": "system", "content": "be good", "agent": "main"},
            {"role": "user", "content": "demo", "is_demo": True, "agent": "main"},
            {"role": "user", "content": "fix it", "agent": "main"},
            {"role": "assistant", "content": "I look", "thought": "I look", "action": "ls", "agent": "main"},
            {"role": "user", "content": "a.py", "agent": "main"},
        ],
        "trajectory": [],
        "info": {
            "exit_status": "submitted",
            "model_stats": {"tokens_sent": 8, "tokens_received": 3},
            "submission": "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n",
        },
    }
)
SWE_STEPS = document(
    {
        "trajectory": [
            {
                "action": "ls",
                "observation": "a.py",
                "response": "r",
                "thought": "look",
                "execution_time": 0.25,
                "messages": [{"role": "user", "content": "fix it"}],
            }
        ],
        "info": {"exit_status": "exit_cost"},
    }
)
MINI = document(
    {
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "m1",
        "info": {
            "exit_status": "Submitted",
            "mini_version": "1.1",
            "config": {"model": {"model_name": "big"}},
        },
        "messages": [
            {"role": "system", "content": "be good"},
            {"role": "user", "content": "fix it"},
            {
                "role": "assistant",
                "content": "look",
                "tool_calls": [
                    {"id": "t", "function": {"name": "bash", "arguments": '{"command": "false"}'}}
                ],
            },
            {
                "role": "tool",
                "tool_call_id": "t",
                "content": "x",
                "extra": {"returncode": 1, "raw_output": "bad", "timestamp": 1795262401.5},
            },
            {"role": "exit", "content": "Submitted"},
        ],
    }
)
MINI_BARE = document(
    [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "fix it"},
        {"role": "assistant", "content": "look\n\n```bash\nls -la\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
    ]
)
OPENHANDS = document(
    [
        {
            "id": 0,
            "timestamp": "2026-11-21T12:00:00.123456",
            "source": "user",
            "message": "fix",
            "action": "message",
            "args": {"content": "fix it"},
        },
        {
            "id": 1,
            "timestamp": "2026-11-21T12:00:01.123456",
            "source": "agent",
            "action": "run",
            "args": {
                "command": "false",
                "thought": "try",
                "confirmation_state": "confirmed",
                "security_risk": 0,
            },
        },
        {
            "id": 2,
            "timestamp": "2026-11-21T12:00:02.123456",
            "source": "agent",
            "cause": 1,
            "observation": "run",
            "content": "bad",
            "extras": {"command": "false", "metadata": {"exit_code": 1}},
        },
        {
            "id": 3,
            "timestamp": "2026-11-21T12:00:03.123456",
            "source": "agent",
            "action": "edit",
            "args": {"path": "a.py", "command": "str_replace", "old_str": "a = 1", "new_str": "a = 2"},
        },
        {
            "id": 4,
            "timestamp": "2026-11-21T12:00:04.123456",
            "source": "agent",
            "cause": 3,
            "observation": "edit",
            "content": "ok",
            "extras": {"path": "a.py"},
        },
        {
            "id": 5,
            "timestamp": "2026-11-21T12:00:05.123456",
            "source": "agent",
            "action": "run",
            "args": {"command": "rm x", "confirmation_state": "rejected"},
        },
        {
            "id": 6,
            "timestamp": "2026-11-21T12:00:06.123456",
            "source": "environment",
            "observation": "agent_state_changed",
            "content": "",
            "extras": {"agent_state": "finished"},
        },
    ]
)
OPENHANDS_ROWS = lines({"instance_id": "o1", "history": json.loads(OPENHANDS)[:3]})
OPENCODE = document(
    {
        "info": {
            "id": "ses_1",
            "title": "Edit it",
            "directory": "/shop",
            "version": "1.0",
            "time": {"created": 1795262400000, "updated": 1795262409000},
        },
        "messages": [
            {
                "info": {"id": "m1", "role": "user", "time": {"created": 1795262400000}},
                "parts": [{"type": "text", "text": "edit it"}],
            },
            {
                "info": {
                    "id": "m2",
                    "role": "assistant",
                    "modelID": "big",
                    "providerID": "anthropic",
                    "time": {"created": 1795262401000},
                    "tokens": {"input": 5, "output": 2, "reasoning": 0, "cache": {"read": 1, "write": 0}},
                },
                "parts": [
                    {"type": "step-start"},
                    {"type": "reasoning", "text": "hm"},
                    {"type": "text", "text": "ok"},
                    {
                        "type": "tool",
                        "callID": "t1",
                        "tool": "edit",
                        "state": {
                            "status": "completed",
                            "input": {"filePath": "a.py", "oldString": "a = 1", "newString": "a = 2"},
                            "output": "ok",
                            "metadata": {"diff": "@@ -1 +1 @@\n-a = 1\n+a = 2\n"},
                            "time": {"start": 1795262402000, "end": 1795262402500},
                        },
                    },
                    {
                        "type": "tool",
                        "callID": "t2",
                        "tool": "bash",
                        "state": {
                            "status": "error",
                            "input": {"command": "rm x"},
                            "error": "The user rejected permission to use this specific tool call.",
                            "time": {"start": 1795262403000, "end": 1795262404000},
                        },
                    },
                    {"type": "wonder", "x": 1},
                ],
            },
        ],
    }
)
ATIF = document(
    {
        "schema_version": "ATIF-v1.2",
        "session_id": "at1",
        "agent": {"name": "a", "version": "1", "model_name": "big"},
        "steps": [
            {"step_id": 1, "source": "system", "message": "be good"},
            {"step_id": 2, "source": "user", "message": "fix it", "timestamp": T.format(0)},
            {
                "step_id": 3,
                "source": "agent",
                "message": "look",
                "reasoning_content": "hm",
                "timestamp": T.format(1),
                "tool_calls": [
                    {"tool_call_id": "t1", "function_name": "bash", "arguments": {"command": "ls"}}
                ],
                "observation": {"results": [{"source_call_id": "t1", "content": "a.py"}]},
                "metrics": {"prompt_tokens": 4, "completion_tokens": 2},
            },
            {"step_id": 5, "source": "agent", "message": "done"},
        ],
    }
)
INSPECT_LOG = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "model": "openai/gpt", "created": T.format(0), "eval_id": "ev"},
    "samples": [
        {
            "id": 7,
            "epoch": 1,
            "attachments": {"h1": "fix it"},
            "model_usage": {"openai/gpt": {"input_tokens": 6, "output_tokens": 3}},
            "messages": [
                {"role": "system", "content": "be good"},
                {"role": "user", "content": "attachment://h1"},
                {
                    "role": "assistant",
                    "content": "look",
                    "tool_calls": [
                        {"id": "t1", "function": "bash", "arguments": {"cmd": "ls"}},
                        {"id": "t2", "function": "bash", "arguments": {"cmd": "rm x"}},
                    ],
                },
                {"role": "tool", "tool_call_id": "t1", "content": "a.py"},
            ],
            "events": [
                {
                    "event": "approval",
                    "decision": "reject",
                    "explanation": "no",
                    "approver": "human",
                    "call": {"id": "t2", "function": "bash"},
                }
            ],
        }
    ],
}
INSPECT = document(INSPECT_LOG)
AIDER = b"""
# aider chat started at 2026-11-21 12:00:00

> Aider v0.86
> Model: big

#### change a to 2

I change it.

a.py
```python
<<<<<<< SEARCH
a = 1
=======
a = 2
>>>>>>> REPLACE
```

> Applied edit to a.py
> Commit abc1234 Change a

# aider chat started at 2026-11-21 13:00:00

#### hello
"""
WINK = document(
    {
        "id": "w1",
        "working_dir": "/shop",
        "model": "qwen",
        "created_at": T.format(0),
        "updated_at": T.format(9),
        "status": "paused",
        "messages": [
            {"role": "user", "content": "make it", "timestamp": T.format(0)},
            {
                "role": "assistant",
                "content": "",
                "timestamp": T.format(1),
                "metadata": {"token_count": 5},
                "tool_calls": [
                    {
                        "id": "call_1",
                        "tool_name": "create_file",
                        "parameters": {"path": "a.txt", "content": "x"},
                        "status": "executed",
                        "approval_method": "manual",
                        "requested_at": T.format(1),
                        "executed_at": T.format(2),
                    },
                    {
                        "id": "call_2",
                        "tool_name": "run_in_terminal",
                        "parameters": {"command": "rm x"},
                        "status": "rejected",
                    },
                ],
            },
            {"role": "tool", "content": "created", "tool_call_id": "call_1", "timestamp": T.format(3)},
            {"role": "tool", "content": "not that", "tool_call_id": "call_2", "timestamp": T.format(3)},
        ],
        "tool_results": [
            {
                "tool_call_id": "call_1",
                "success": True,
                "output": "created",
                "error": "",
                "execution_time_ms": 3,
                "files_affected": ["a.txt"],
            }
        ],
    }
)


def kaiak(number, content):
    return {
        "id": f"k{number}",
        "session_id": "ks",
        "timestamp": T.format(number),
        "sequence_number": number,
        "content": content,
        "source": "GooseAgent",
    }


KAIAK = lines(
    {
        "session": {
            "id": "ks",
            "workspace_path": "/shop",
            "status": "Completed",
            "configuration": {"provider": "openai", "model": "gpt"},
        }
    },
    {
        "tool_call": {
            "id": "t1",
            "tool_name": "replace",
            "parameters": {"path": "a.py"},
            "approval_status": "Approved",
        }
    },
    kaiak(1, {"System": {"event": "session.created", "status": "created"}}),
    kaiak(2, {"AiResponse": {"text": "I ", "partial": True}}),
    kaiak(3, {"AiResponse": {"text": "I look", "partial": False}}),
    kaiak(4, {"ToolCall": {"tool_call_id": "t1", "operation": "Start"}}),
    kaiak(
        5,
        {
            "type": "FileModification",
            "proposal_id": "t1",
            "file_path": "a.py",
            "change_type": "Modify",
            "original_content": "a = 1\n",
            "proposed_content": "a = 2\n",
        },
    ),
    kaiak(
        6,
        {
            "ToolCall": {
                "tool_call_id": "t1",
                "operation": "Complete",
                "result": {"success": True, "data": "ok", "execution_time_ms": 4},
            }
        },
    ),
    kaiak(8, {"Error": {"error_code": "X", "message": "broke", "recoverable": False}}),
)
COMMAND = document(
    {
        "id": "2026-02-01T10-30-00-abc123",
        "user_query": "list files",
        "context_sources": {"claude_md_content": "", "terminal_context": "", "documentation_context": ""},
        "iterations": [
            {
                "feedback": "",
                "model_input": {"system_prompt": "be good", "user_prompt": "list files"},
                "model_output": {"raw_response": "", "command": "ls", "explanation": "lists"},
                "timestamp": "2026-02-01T10:30:00.123456789+01:00",
            },
            {
                "feedback": "hidden too",
                "model_input": {"system_prompt": "be good", "user_prompt": "x"},
                "model_output": {"raw_response": "", "command": "ls -a", "explanation": "lists all"},
                "timestamp": "2026-02-01T10:30:09Z",
            },
        ],
        "metadata": {
            "timestamp": "2026-02-01T09:30:00Z",
            "model": "opus",
            "final_status": "accepted",
            "iteration_count": 3,
        },
    }
)
ASSISTANT = document(
    {
        "id": "as1",
        "provider": "ollama",
        "systemPrompt": "be good",
        "activeTools": ["context.read"],
        "pendingApprovals": [],
        "telemetryId": "t",
        "messages": [
            {"role": "system", "content": "be good", "timestamp": T.format(0)},
            {"role": "user", "content": "read it", "timestamp": T.format(1)},
            {
                "role": "assistant",
                "content": "done",
                "timestamp": T.format(2),
                "metadata": {"inputTokens": 4, "outputTokens": 1},
            },
        ],
        "records": [
            {
                "id": "r1",
                "toolId": "context.read",
                "status": "aborted",
                "parameters": {"path": "a"},
                "startedAt": T.format(1),
                "finishedAt": T.format(2),
            }
        ],
    }
)
CLAUDE_HISTORY = lines({"display": "hello", "project": "/shop", "timestamp": 1795262400000})
CODEX_HISTORY = lines({"session_id": "h1", "ts": 1795262400, "text": "hello"})

AIDER_INPUT = b"\n# 2026-11-21 12:00:00.123456\n+change a to 2\n+and b\n\n# 2026-11-21 12:01:00.5\n+/exit\n"
AIDER_LLM = (
    b"TO LLM 2026-11-21T12:00:00\n-------\nSYSTEM be brief\nUSER old\nASSISTANT ok\n-------\n"
    b"USER change a to 2\n\nLLM RESPONSE 2026-11-21T12:00:05\nASSISTANT done\nASSISTANT indeed\n"
)

FILES = {
    # name: (bytes, format, first prompt, (tool, state) of every call, decisions, files changed)
    "codex": (CODEX, "codex", "rename it", [("shell", "failed"), ("apply_patch", "succeeded"), ("shell", "rejected")], ["rejected"], ["a.py"]),
    "codex-old": (CODEX_OLD, "codex", "hello", [("shell", "succeeded")], [], []),
    "codex-exec": (CODEX_EXEC, "codex-exec", None, [("shell", "failed")], [], []),
    "gemini": (GEMINI, "gemini", "change it", [("replace", "succeeded"), ("run_shell_command", "rejected")], ["rejected"], ["a.py"]),
    "gemini-lines": (GEMINI_LINES, "gemini", "hello", [], [], []),
    "gemini-stream": (GEMINI_STREAM, "gemini-stream", "hello", [("read_file", "succeeded")], [], []),
    "gemini-checkpoint": (GEMINI_CHECKPOINT, "gemini-checkpoint", "change it", [("read_file", "succeeded")], [], []),
    "gemini-log": (GEMINI_LOG, "gemini-log", "hello", [], [], []),
    "pi": (PI, "pi", "edit", [("edit", "succeeded"), ("bash", "failed")], [], ["a.py"]),
    "acp": (ACP, "acp", "edit", [("edit", "succeeded"), ("execute", "rejected")], ["approved", "rejected"], ["a.py"]),
    "swe": (SWE, "swe-agent", "fix it", [("bash", "succeeded"), ("submit", "succeeded")], [], ["a.py"]),
    "swe-steps": (SWE_STEPS, "swe-agent", "fix it", [("bash", "succeeded")], [], []),
    "mini": (MINI, "mini-swe-agent", "fix it", [("bash", "failed")], [], []),
    "mini-bare": (MINI_BARE, "mini-swe-agent", "fix it", [("bash", "succeeded")], [], []),
    "openhands": (OPENHANDS, "openhands", "fix it", [("run", "failed"), ("edit", "succeeded"), ("run", "rejected")], ["approved", "rejected"], ["a.py"]),
    "openhands-rows": (OPENHANDS_ROWS, "openhands", "fix it", [("run", "failed")], ["approved"], []),
    "opencode": (OPENCODE, "opencode", "edit it", [("edit", "succeeded"), ("bash", "rejected")], ["rejected"], ["a.py"]),
    "atif": (ATIF, "atif", "fix it", [("bash", "succeeded")], [], []),
    "inspect": (INSPECT, "inspect", "fix it", [("bash", "succeeded"), ("bash", "rejected")], ["rejected"], []),
    "aider": (AIDER, "aider", "change a to 2", [("edit", "succeeded")], [], ["a.py"]),
    "aider-input": (AIDER_INPUT, "aider-input", "change a to 2\nand b", [], [], []),
    "aider-llm": (AIDER_LLM, "aider-llm", "change a to 2", [], [], []),
    "wink": (WINK, "wink", "make it", [("create_file", "succeeded"), ("run_in_terminal", "rejected")], ["approved", "rejected"], ["a.txt"]),
    "kaiak": (KAIAK, "kaiak", None, [("replace", "succeeded")], ["approved"], ["a.py"]),
    "cmd": (COMMAND, "cmd", "list files", [("command", "rejected"), ("command", "succeeded")], ["rejected", "approved"], []),
    "assistant": (ASSISTANT, "assistant", "read it", [("context.read", "cancelled")], [], []),
    "claude-history": (CLAUDE_HISTORY, "claude-code-history", "hello", [], [], []),
    "codex-history": (CODEX_HISTORY, "codex-history", "hello", [], [], []),
}  # fmt: skip
