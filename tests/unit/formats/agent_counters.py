"""Counters of the agents' formats, each from the description of what its program writes and not from a reader."""

import json
import re
import sqlite3
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

SECOND = 1_000_000
TOKENS = ("input", "output", "read", "written", "cost")


class Count:
    def __init__(self):
        self.numbers = Counter()
        self.tokens = Counter()
        self.begun, self.ended = {}, {}

    def call(self, key, when=None):
        self.numbers["calls"] += 1
        self.begun[key] = micros(when)

    def end(self, key, when=None, state="succeeded"):
        self.numbers[state] += state != "succeeded"
        self.ended[key] = micros(when)

    def spend(self, sent=0, got=0, read=0, written=0, cost=0.0):
        self.tokens.update(dict(zip(TOKENS, (sent, got, read, written, round(cost * 1e6)), strict=True)))


def micros(when):
    if isinstance(when, int | float):
        return int(when * (1000 if when > 1e11 else 1_000_000))
    if not when:
        return None
    try:
        moment = datetime.fromisoformat(when.replace("Z", "+00:00"))
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * SECOND)


def rows_of(data):
    return [json.loads(line) for line in data.decode().splitlines() if line.strip()]


def qwen(data, beside):
    """One line a message; `parts` are Gemini's, thoughts are marked, a result stands with its status beside it."""
    count = Count()
    for row in rows_of(data):
        when, parts = row["timestamp"], row["message"]["parts"]
        if row["type"] == "user" and "subtype" not in row:
            count.numbers["prompts"] += 1
        elif row["type"] == "assistant":
            count.numbers["replies"] += 1
            used = row.get("usageMetadata") or {}
            sent = used.get("promptTokenCount", 0)
            got = used.get("totalTokenCount", sent) - sent
            count.spend(sent, got, used.get("cachedContentTokenCount", 0))
            for part in parts:
                if "functionCall" in part:
                    count.call(part["functionCall"]["id"], when)
        elif row["type"] == "tool_result":
            states = {"success": "succeeded", "cancelled": "rejected", "error": "failed"}
            state = states[row["toolCallResult"]["status"]]
            tool = parts[0]["functionResponse"]["name"]
            count.numbers["edits"] += tool in ("edit", "write_file") and state == "succeeded"
            count.end(row["toolCallResult"]["callId"], when, state)
    return count


def copilot(data, beside):
    """A line an event; agents below name the call they work for; tokens are totalled when the program ends."""
    count, asked, ended, said = Count(), set(), set(), 0
    for row in rows_of(data):
        kind, held, when = row["type"], row["data"], row["timestamp"]
        key = (held.get("parentToolCallId"), held.get("toolCallId"))
        if kind == "user.message":
            count.numbers["prompts"] += 1
        elif kind == "assistant.message":
            count.numbers["replies"] += 1
            count.spend(0, held.get("outputTokens", 0))
            said += held.get("outputTokens", 0)
            for call in held.get("toolRequests", ()):
                asked.add((key[0], call["toolCallId"]))
                count.call(call["toolCallId"], when)
        elif kind == "tool.execution_complete" and key in asked - ended:
            ended.add(key)
            how = (held.get("error") or {}).get("code")
            state = (
                "succeeded" if held["success"] else "rejected" if how in ("rejected", "denied") else "failed"
            )
            count.numbers["edits"] += "diff --git" in (
                (held.get("result") or {}).get("detailedContent") or ""
            )
            count.end(key[1], when, state)
        elif kind == "session.shutdown":
            total = {name: part["tokenCount"] for name, part in held["tokenDetails"].items()}
            read, written = total["cache_read"], total["cache_write"]
            count.spend(total["input"] + read + written, total["output"] - said, read, written)
            said = 0
    return count


EDIT_TOOLS = {
    "edit",
    "write",
    "multiedit",
    "strreplace",
    "create",
    "edit_file",
    "write_file",
    "search_replace",
}


def droid(data, beside):
    """A line a message of blocks; results are blocks of the user, which say that they failed in words."""
    count, tools = Count(), {}
    for row in rows_of(data):
        message, when = row.get("message") or {}, row.get("timestamp")
        blocks = message.get("content", [])
        count.numbers["replies"] += message.get("role") == "assistant"
        words = [
            block["text"]
            for block in blocks
            if block["type"] == "text" and "system-reminder" not in block["text"]
        ]
        count.numbers["prompts"] += message.get("role") == "user" and bool(words)
        used = message.get("usage") or {}
        read, made = used.get("cache_read_input_tokens", 0), used.get("cache_creation_input_tokens", 0)
        count.spend(used.get("input_tokens", 0) + read + made, used.get("output_tokens", 0), read, made)
        for block in blocks:
            if block["type"] == "tool_use":
                count.call(block["id"], when)
                tools[block["id"]] = block["name"].lower()
            elif block["type"] == "tool_result":
                bad = block.get("is_error") or block["content"].startswith("Error:")
                state = (
                    "rejected"
                    if bad and "by the user" in block["content"]
                    else "failed"
                    if bad
                    else "succeeded"
                )
                count.numbers["edits"] += tools[block["tool_use_id"]] in EDIT_TOOLS and state == "succeeded"
                count.end(block["tool_use_id"], when, state)
    return count


def droid_stream(data, beside):
    """A line a message, a call, a result; the last words stand in the completion."""
    count, tools, last = Count(), {}, None
    for row in rows_of(data):
        kind, when = row["type"], row["timestamp"]
        count.numbers["prompts"] += kind == "message" and row["role"] == "user"
        if kind == "message" and row["role"] == "assistant":
            count.numbers["replies"] += 1
            last = row["text"]
        elif kind == "tool_call":
            count.numbers["replies"] += 1
            count.call(row["toolCallId"], when)
            tools[row["toolCallId"]] = row["toolName"].lower()
        elif kind == "tool_result":
            value = row.get("value")
            bad = row.get("isError") or (isinstance(value, dict) and value.get("exitCode"))
            count.numbers["edits"] += tools[row["toolCallId"]] in EDIT_TOOLS and not bad
            count.end(row["toolCallId"], when, "failed" if bad else "succeeded")
        elif kind == "completion":
            count.numbers["replies"] += row["finalText"] != last
            used = row.get("usage") or {}
            read = used.get("cache_read_input_tokens", 0)
            count.spend(used.get("input_tokens", 0) + read, used.get("output_tokens", 0), read)
    return count


def cursor(data, beside):
    """A line a message without times and results; or a database of blobs, of which the JSON ones are messages."""
    count, tools = Count(), {}
    if data.startswith(b"SQLite"):
        store = sqlite3.connect(":memory:")
        store.deserialize(data)
        if store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'cursorDiskKV'").fetchone():
            return cursor_editor(store)
        messages = [
            json.loads(blob) for (blob,) in store.execute("SELECT data FROM blobs") if blob[:1] == b"{"
        ]
    else:
        messages = [{"role": row["role"], **row["message"]} for row in rows_of(data) if "role" in row]
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        count.numbers["replies"] += message["role"] == "assistant"
        typed = "".join(block["text"] for block in blocks if block["type"] == "text")
        count.numbers["prompts"] += message["role"] == "user" and not typed.startswith("<user_info>")
        for place, block in enumerate(blocks):
            if block["type"] in ("tool_use", "tool-call"):
                count.numbers["calls"] += 1
                tools[block.get("toolCallId", place)] = block.get("toolName", "").lower()
    for message in messages:
        for block in message["content"] if message["role"] == "tool" else ():
            state = "rejected" if block["result"].startswith("Rejected") else "succeeded"
            count.numbers["edits"] += tools[block["toolCallId"]] in EDIT_TOOLS and state == "succeeded"
            count.numbers[state] += state == "rejected"
    return count


def cursor_editor(store):
    """A message a key; type 1 is a human's, a call stands in the message that asked for it, with its end."""
    count = Count()
    for (text,) in store.execute("SELECT value FROM cursorDiskKV WHERE key LIKE 'bubbleId:%' ORDER BY key"):
        row = json.loads(text)
        tool, tokens, when = row.get("toolFormerData"), row.get("tokenCount", {}), row["createdAt"]
        count.numbers["prompts"] += row["type"] == 1
        is_reply = row["text"] or row.get("thinking") or tool or tokens
        count.numbers["replies"] += row["type"] == 2 and bool(is_reply)
        count.spend(tokens.get("inputTokens", 0), tokens.get("outputTokens", 0))
        if tool:
            count.call(tool["toolCallId"], when)
            refused = tool.get("userDecision") == "rejected"
            state = "rejected" if refused else {"completed": "succeeded", "error": "failed"}[tool["status"]]
            count.numbers["edits"] += "diff" in json.loads(tool["result"]) and state == "succeeded"
            count.end(tool["toolCallId"], when, state)
    return count


def kimi(data, beside):
    """Steps of parts, calls and results; an approved call waits since the last thing before it in its step."""
    count, tools, open_words, last, decided, counted = Count(), {}, False, None, {}, None
    for row in rows_of(data):
        event, when = row.get("event") or {}, row.get("time")
        kind = event.get("type") or row.get("type")
        if "message" in row and "timestamp" in row:
            return kimi_legacy(data)
        count.numbers["prompts"] += kind in ("turn.prompt", "turn.steer")
        if kind in ("step.begin", "step.end", "turn.prompt", "turn.steer", "turn.cancel"):
            count.numbers["replies"] += open_words
            open_words = False
        if kind == "step.begin":
            last, counted = when, None
        elif kind == "content.part":
            open_words, last = True, when
        elif kind == "permission.record_approval_result":
            decided[row["toolCallId"]] = row["result"]["decision"]
        elif kind == "tool.call":
            count.numbers["replies"] += 1
            open_words = False
            count.call(event["toolCallId"], last if event["toolCallId"] in decided else when)
            tools[event["toolCallId"]], last = event["name"].lower(), when
        elif kind == "tool.result":
            last = when
            kimi_result(count, event, when, tools, decided)
        used = event.get("usage") or row.get("usage")
        if used and used != counted:
            counted, read, made = used, used["inputCacheRead"], used["inputCacheCreation"]
            count.spend(used["inputOther"] + read + made, used["output"], read, made)
    return count


def kimi_result(count, event, when, tools, decided):
    key = event["toolCallId"]
    state = "failed" if event["result"].get("isError") else "succeeded"
    state = "rejected" if decided.get(key) == "rejected" else state
    count.numbers["edits"] += tools[key] in EDIT_TOOLS and state == "succeeded"
    if state != "rejected":
        count.end(key, when, state)
    count.numbers["rejected"] += state == "rejected"


def kimi_legacy(data):
    count, words = Count(), False
    for row in rows_of(data)[1:]:
        kind, held, when = row["message"]["type"], row["message"]["payload"], row["timestamp"]
        count.numbers["prompts"] += kind == "TurnBegin"
        words = words or kind == "ContentPart"
        if kind == "ToolCall":
            count.numbers["replies"] += 1
            words = False
            count.call(held["id"], when)
        elif kind == "ToolResult":
            count.end(
                held["tool_call_id"], when, "failed" if held["return_value"]["is_error"] else "succeeded"
            )
        elif kind == "TurnEnd":
            count.numbers["replies"] += words
        elif kind == "StatusUpdate":
            used = held["token_usage"]
            read, made = used["input_cache_read"], used["input_cache_creation"]
            count.spend(used["input_other"] + read + made, used["output"], read, made)
    return count


def completions(count, messages, when=None):
    """Messages of chat completions: calls in the assistant's, results as messages of the role `tool`."""
    tools = {}
    for message in messages:
        count.numbers["prompts"] += message["role"] == "user"
        count.numbers["replies"] += message["role"] == "assistant"
        for call in message.get("tool_calls") or ():
            count.call(call["id"], when)
            tools[call["id"]] = (call.get("function") or call)["name"].lower()
        if message["role"] == "tool":
            said = message["content"]
            state = (
                "rejected"
                if "by user" in said
                else "failed"
                if said.startswith(("<tool_error>", "Error"))
                else "succeeded"
            )
            count.numbers["edits"] += (
                tools.get(message["tool_call_id"]) in EDIT_TOOLS and state == "succeeded"
            )
            count.numbers[state] += state != "succeeded"
    return count


def vibe(data, beside):
    """Messages of chat completions; the whole session's tokens stand in `meta.json` beside it."""
    count = completions(Count(), rows_of(data))
    stats = json.loads(beside("meta.json") or "{}").get("stats", {})
    count.spend(stats.get("session_prompt_tokens", 0), stats.get("session_completion_tokens", 0))
    return count


def grok(data, beside):
    """Messages with types for roles, and thoughts before what they are about; no times, no tokens."""
    roles = {"tool_result": "tool", "user": "user", "assistant": "assistant"}
    rows = [row for row in rows_of(data) if not row.get("synthetic_reason")]
    count = completions(Count(), [{**row, "role": roles.get(row["type"], "other")} for row in rows])
    said = [row["type"] for row in rows if row["type"] in ("reasoning", "assistant", "user")]
    # A thought that no words of the model follow is a reply of its own.
    count.numbers["replies"] += sum(pair == ("reasoning", "user") for pair in pairwise(said))
    return count


def hermes(data, beside):
    return completions(Count(), json.loads(data)["messages"])


def openai(data, beside):
    """Requests repeat the conversation so far: the last one and the responses hold it once."""
    rows, count = rows_of(data), Count()
    last = [row for row in rows if row["type"] == "request"][-1]
    end = rows[-1]
    completions(count, [*last["messages"], *(end.get("messages") or [end["choices"][0]["message"]])])
    for row in rows:
        used = row.get("usage") or {}
        read = (used.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        count.spend(used.get("prompt_tokens", 0), used.get("completion_tokens", 0), read)
    return count


def cline(data, beside):
    """Messages whose text holds calls as tags, or blocks; results begin with the tool's name or are blocks."""
    held, count, waits = json.loads(data), Count(), []
    rows = held["messages"] if isinstance(held, dict) else held
    if "say" in rows[0]:
        return cline_screen(rows)
    for row in rows:
        words = "\n".join(block.get("text") or str(block.get("content", "")) for block in row["content"])
        if row["role"] == "assistant":
            count.numbers["replies"] += 1
            cline_spent(count, row.get("metrics") or {})
            calls = re.findall(r"<(replace_in_file|execute_command|ask_followup_question)>", words)
            calls += [block["name"] for block in row["content"] if block["type"] == "tool_use"]
            waits = [call for call in calls if call != "attempt_completion"]
            count.numbers["calls"] += len(waits)
        else:
            results = [block for block in row["content"] if block["type"] == "tool_result"]
            is_answer = bool(results) or bool(re.match(r"\[[a-z_]+ for .*\] Result:", words))
            count.numbers["prompts"] += not is_answer
            failed = "The tool execution failed" in words or any(block.get("is_error") for block in results)
            denied = "The user denied" in words
            count.numbers["failed"] += failed
            count.numbers["rejected"] += denied
            edits = {"replace_in_file", "apply_diff", "write_to_file"} & set(waits)
            count.numbers["edits"] += bool(edits) and is_answer and not failed and not denied
    return count


def cline_spent(count, metrics):
    tokens = metrics.get("tokens") or {}
    read, made = metrics.get("cacheReadTokens", 0), metrics.get("cacheWriteTokens", 0)
    count.spend(metrics.get("inputTokens", 0) + read + made, metrics.get("outputTokens", 0), read, made)
    count.spend(
        tokens.get("prompt", 0),
        tokens.get("completion", 0),
        tokens.get("cached", 0),
        cost=metrics.get("cost", 0),
    )


def cline_screen(rows):
    count = Count()
    count.numbers["prompts"] = 1
    for row in rows[1:]:
        kind = row.get("say") or row.get("ask")
        count.numbers["replies"] += kind in ("text", "command", "tool")
        count.numbers["calls"] += kind in ("command", "tool")
        if kind == "api_req_started":
            used = json.loads(row["text"])
            read, made = used["cacheReads"], used["cacheWrites"]
            count.spend(used["tokensIn"] + read + made, used["tokensOut"], read, made, used["cost"])
    return count


def amp(data, beside):
    """A document of messages of blocks; a result says how its call ran. OpenAI's models bill no cache writes."""
    count, tools = Count(), {}
    for row in json.loads(data)["messages"]:
        results = [block for block in row["content"] if block["type"] == "tool_result"]
        count.numbers["prompts"] += row["role"] == "user" and not results
        count.numbers["replies"] += row["role"] == "assistant"
        used = row.get("usage") or {}
        read, made = used.get("cacheReadInputTokens", 0), used.get("cacheCreationInputTokens", 0)
        sent = used.get("inputTokens", 0) + read + made
        count.spend(
            sent, used.get("outputTokens", 0), read, 0 if used.get("model", "").startswith("gpt-") else made
        )
        for block in row["content"]:
            if block["type"] == "tool_use":
                count.call(block["id"], used.get("timestamp"))
                tools[block["id"]] = block["name"].lower()
        for block in results:
            run = block["run"]
            bad = run["status"] == "error" or (run["result"] or {}).get("exitCode")
            state = {"rejected-by-user": "rejected", "cancelled": "cancelled"}.get(
                run["status"], "failed" if bad else "succeeded"
            )
            count.numbers["edits"] += tools[block["toolUseID"]] in EDIT_TOOLS and state == "succeeded"
            count.numbers[state] += state != "succeeded"
    return count


def stored(data, query):
    store = sqlite3.connect(":memory:")
    store.deserialize(data)
    return store.execute(query).fetchall()


def goose(data, beside):
    """Rows of messages with parts; a refusal is a result in fixed words; the session counts its tokens."""
    count, asked = Count(), {}
    for role, content, when in stored(data, "SELECT role, content_json, created_timestamp FROM messages"):
        parts = json.loads(content)
        count.numbers["replies"] += role == "assistant" and parts[0]["type"] != "toolConfirmationRequest"
        count.numbers["prompts"] += role == "user" and parts[0]["type"] == "text"
        for one in parts:
            if one["type"] == "toolRequest":
                count.call(one["id"], when)
                asked[one["id"]] = one["toolCall"]["value"]["arguments"]
            elif one["type"] == "toolResponse":
                result = json.dumps(one["toolResult"])
                state = (
                    "rejected"
                    if "declined to run" in result
                    else "failed"
                    if '"status": "error"' in result
                    else "succeeded"
                )
                count.numbers["edits"] += "old_str" in asked[one["id"]] and state == "succeeded"
                count.numbers[state] += state == "rejected"
                if state != "rejected":
                    count.end(one["id"], when, state)
    for sent, got in stored(data, "SELECT accumulated_input_tokens, accumulated_output_tokens FROM sessions"):
        count.spend(sent, got)
    return count


def crush(data, beside):
    """Rows of messages with parts; an edit's result holds the file before and after."""
    count = Count()
    for role, content, when in stored(
        data, "SELECT role, parts, created_at FROM messages ORDER BY created_at"
    ):
        for one in json.loads(content):
            held = one["data"]
            count.numbers["prompts"] += role == "user" and one["type"] == "text"
            if one["type"] == "tool_call":
                count.call(held["id"], when)
            elif one["type"] == "shell_command":
                count.numbers.update(calls=1, replies=1, failed=bool(held["exit_code"]))
            elif one["type"] == "tool_result":
                state = (
                    "rejected"
                    if "denied permission" in held["content"]
                    else "failed"
                    if held["is_error"]
                    else "succeeded"
                )
                count.numbers["edits"] += "new_content" in held.get("metadata", "") and state == "succeeded"
                count.numbers[state] += state != "succeeded"
        count.numbers["replies"] += role == "assistant"
    for sent, got, cost in stored(data, "SELECT prompt_tokens, completion_tokens, cost FROM sessions"):
        count.spend(sent, got, cost=cost)
    return count


def opencode_run(data):
    """Parts as they end: a tool's with its times, a step's end with its tokens; a step is a message."""
    count = Count()
    for row in rows_of(data):
        one = row.get("part") or {}
        if row["type"] == "step_finish":
            used = one["tokens"]
            cache = used.get("cache") or {}
            read, made = cache.get("read", 0), cache.get("write", 0)
            got = used["output"] + used.get("reasoning", 0)
            count.numbers["replies"] += 1
            count.spend(used["input"] + read + made, got, read, made, one["cost"])
        elif row["type"] == "tool_use":
            state, times = one["state"], one["state"]["time"]
            how = "succeeded" if state["status"] == "completed" else "failed"
            count.call(one["callID"], times["start"])
            count.numbers["edits"] += one["tool"] in EDIT_TOOLS and how == "succeeded"
            count.end(one["callID"], times["end"], how)
    return count


def acp(data, beside):
    """JSON-RPC in both directions: words in pieces, calls and what became of them, answers to permissions."""
    count, options, asked, refused, speaks = Count(), {}, {}, set(), ""
    for row in rows_of(data):
        held = row.get("params") or {}
        update = held.get("update") or {}
        kind = update.get("sessionUpdate") or row.get("method")
        count.numbers["prompts"] += kind == "session/prompt"
        count.numbers["replies"] += (kind == "agent_message_chunk" and speaks != kind) + (kind == "tool_call")
        speaks = kind
        if kind == "tool_call":
            count.call(update["toolCallId"])
        elif kind == "session/request_permission":
            asked[row["id"]] = held["toolCall"]["toolCallId"]
            options |= {option["optionId"]: option["kind"] for option in held["options"]}
        elif row.get("id") in asked and "result" in row:
            if options[row["result"]["outcome"]["optionId"]].startswith("reject"):
                refused.add(asked[row["id"]])
        elif kind == "tool_call_update" and update["toolCallId"] not in refused:
            done = update.get("status") == "completed"
            count.numbers["edits"] += done and any(one["type"] == "diff" for one in update.get("content", ()))
            count.numbers["failed"] += update.get("status") == "failed"
    count.numbers["rejected"] = len(refused)
    return count


def openhands(data, beside):
    """Actions and observations, each an event; an observation names its action; rejected ones have none."""
    rows, count, edits = (
        json.loads(data) if data.startswith(b"[") else json.loads(data)["history"],
        Count(),
        {},
    )
    for row in rows:
        action, held = row.get("action"), row.get("args") or {}
        count.numbers["prompts"] += row["source"] == "user" and action == "message"
        if row["source"] == "agent" and action in ("run", "edit"):
            count.numbers.update(calls=1, replies=1)
            edits[row["id"]] = action == "edit"
            count.numbers["rejected"] += held.get("confirmation_state") == "rejected"
        elif "observation" in row and "cause" in row:
            bad = (row["extras"].get("metadata") or {}).get("exit_code")
            count.numbers["failed"] += bool(bad)
            count.numbers["edits"] += edits[row["cause"]] and not bad
    return count


def codex_exec(data, beside):
    """Items as they end, without times; a turn's end counts its tokens."""
    count = Count()
    for row in rows_of(data):
        item = row.get("item") or {}
        count.numbers["replies"] += row["type"] == "item.completed"
        count.numbers["calls"] += item.get("type") == "command_execution"
        count.numbers["failed"] += item.get("status") == "failed"
        used = row.get("usage") or {}
        count.spend(
            used.get("input_tokens", 0), used.get("output_tokens", 0), used.get("cached_input_tokens", 0)
        )
    return count


def moments(data):
    """The first and the last time that the records of a file have, None where they have none."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    held = json.loads(data) if data[:1] == b"[" or data.lstrip().count(b"\n{") == 0 else rows_of(data)
    rows = held if isinstance(held, list) else held.get("messages") or held.get("steps") or []
    found = [
        moment
        for row in rows
        if isinstance(row, dict)
        for name in ("timestamp", "time", "ts", "created_at")
        if isinstance(row.get(name), str | int | float) and (moment := micros(row[name])) is not None
    ]
    return (min(found), max(found)) if found else None


def antigravity(data, beside):
    """A line a step; what a tool gave is a step of the model, of the oldest call that waits or of its own."""
    count, waits = Count(), []
    for row in rows_of(data):
        kind, when = row["type"], row["created_at"]
        count.numbers["prompts"] += kind == "USER_INPUT"
        count.numbers["replies"] += kind == "PLANNER_RESPONSE"
        if kind == "PLANNER_RESPONSE":
            count.numbers["calls"] += len(row.get("tool_calls", ()))
            waits += row.get("tool_calls", ())
        elif row["source"] == "MODEL" and kind != "USER_INPUT":
            if waits:
                waits.pop(0)
            else:
                count.numbers.update(calls=1, replies=1)
            count.numbers["failed"] += "failed with exit code" in row["content"]
            assert when
    return count


AGENT_COUNTERS = {
    "antigravity": antigravity,
    "acp": acp, "codex-exec": codex_exec, "openhands": openhands,
    "amp": amp, "crush": crush, "goose": goose,
    "cline": cline, "roo": cline,
    "copilot": copilot, "cursor": cursor, "droid": droid, "droid-stream": droid_stream, "grok": grok,
    "hermes": hermes, "kimi": kimi, "openai": openai, "qwen": qwen, "vibe": vibe,
}  # fmt: skip
"""By format; each takes the bytes of a file and what reads the files beside it."""
