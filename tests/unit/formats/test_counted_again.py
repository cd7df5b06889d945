"""Sessions of others, counted a second time from the description of each format and compared with the import.

A counter knows plain JSON and nothing of the readers: prompts, replies, calls, failures, rejections, edits, the
four kinds of tokens and the cost, and when each call began and ended, within a second.
"""

import io
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from agent_counters import AGENT_COUNTERS, SECOND, TOKENS, Count, moments, opencode_run, rows_of
from agent_files import AGENT_FILES
from counted_sessions import COUNTED
from foreign_files import FILES

from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.formats import detect

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "sessions"
REAL_FILES = {path.name: path for path in sorted(REAL.glob("*"))} if REAL.is_dir() else {}
AGENTS = REAL.parent / "agents"
AGENT_PATHS = {
    name: path
    for path in sorted(AGENTS.rglob("*"))
    if (path.suffix in (".jsonl", ".db") or path.parent.name == "hermes")
    and (name := str(path.relative_to(AGENTS))).partition("/")[0] in AGENT_COUNTERS
}
"""Real files of agents, by their paths, which begin with the name of the format."""


def claude(data):
    count, seen, used, tools = Count(), set(), {}, {}
    for row in rows_of(data):
        if row.get("isSidechain") or (row.get("uuid") in seen and row.get("uuid")):
            continue
        seen.add(row.get("uuid"))
        message, when = row.get("message") or {}, row.get("timestamp")
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        if row.get("type") == "assistant":
            used[message.get("id")] = message.get("usage") or {}
            count.numbers["replies"] += any(block["type"] != "tool_result" for block in blocks)
            for block in blocks:
                if block["type"] == "tool_use":
                    count.call(block["id"], when)
                    tools[block["id"]] = block["name"]
        if row.get("type") == "user":
            text = "".join(block.get("text", "") for block in blocks)
            is_typed = text and not row.get("isMeta") and not row.get("isCompactSummary")
            is_own = text.startswith(("[Request interrupted", "<local-command", "<bash-std", "<task-notif"))
            count.numbers["prompts"] += bool(is_typed and not is_own)
            for block in blocks:
                if block["type"] == "tool_result":
                    claude_result(count, block, when, tools)
    for usage in used.values():
        read, made = usage.get("cache_read_input_tokens", 0), usage.get("cache_creation_input_tokens", 0)
        count.spend(usage.get("input_tokens", 0) + read + made, usage.get("output_tokens", 0), read, made)
    return count


def claude_result(count, block, when, tools):
    key, said, state = block["tool_use_id"], block.get("content"), "succeeded"
    said = said if isinstance(said, str) else "".join(part.get("text", "") for part in said or ())
    if block.get("is_error"):
        refused = said.startswith("The user doesn't want to proceed with this tool use")
        state = "rejected" if refused else "failed"
    is_edit = tools.get(key) in ("Edit", "Write", "MultiEdit", "NotebookEdit")
    count.numbers["edits"] += is_edit and state == "succeeded"
    count.end(key, when, state)


def codex(data):
    count, patches, last = Count(), {}, None
    for row in rows_of(data):
        when, kind, item = row.get("timestamp"), row.get("type"), row.get("payload") or {}
        if kind == "event_msg" and item.get("type") == "token_count" and item.get("info"):
            total, used = item["info"]["total_token_usage"], item["info"]["last_token_usage"]
            if total != last:
                cached = used.get("cached_input_tokens", 0)
                count.spend(used["input_tokens"], used["output_tokens"], cached)
            last = total
        if kind != "response_item":
            continue
        if item["type"] == "message":
            text = "".join(part.get("text", "") for part in item["content"])
            is_own = text.startswith(("<environment_context>", "<user_instructions>", "# AGENTS.md"))
            count.numbers["prompts"] += item["role"] == "user" and not is_own
            count.numbers["replies"] += item["role"] == "assistant"
        elif item["type"] in ("function_call", "custom_tool_call"):
            count.numbers["replies"] += 1
            count.call(item["call_id"], when)
            written = item.get("arguments") or item.get("input")
            named = re.findall(r"\*\*\* (?:Add|Update|Delete) File: (.+?)(?:\\n|\n|$)", written)
            patches[item["call_id"]] = len(set(named))
        elif item["type"].endswith("_output"):
            said = item["output"]
            held = json.loads(said) if said.startswith("{") else {"output": said}
            bad = (held.get("metadata") or {}).get("exit_code", 0) != 0
            state = (
                "rejected" if "rejected by user" in held["output"][:300] else "failed" if bad else "succeeded"
            )
            count.numbers["edits"] += patches[item["call_id"]] if state == "succeeded" else 0
            count.end(item["call_id"], when, state)
    return count


def gemini_messages(data):
    """Return the messages of a chat; of lines the last that each id had, without those that were taken back."""
    if data.count(b"\n{") == 0 or data[:2] == b"{\n":
        return json.loads(data)["messages"]
    held = {}
    for row in rows_of(data):
        if "$rewindTo" in row:
            keys = list(held)
            for key in keys[keys.index(row["$rewindTo"]) :]:
                del held[key]
        elif "messages" in row.get("$set", ()):
            held = {message["id"]: message for message in row["$set"]["messages"]}
        elif "type" in row:
            held[row["id"]] = row
    return list(held.values())


def gemini(data):
    count = Count()
    for message in gemini_messages(data):
        count.numbers["prompts"] += message["type"] == "user"
        count.numbers["replies"] += message["type"] == "gemini"
        used = message.get("tokens") or {}
        got = used.get("output", 0) + used.get("thoughts", 0)
        count.spend(used.get("input", 0) + used.get("tool", 0), got, used.get("cached", 0))
        for call in message.get("toolCalls", ()):
            count.call(call["id"], message["timestamp"])
            state = {"success": "succeeded", "cancelled": "rejected", "error": "failed"}[call["status"]]
            is_edit = call["name"] in ("replace", "write_file")
            count.numbers["edits"] += is_edit and state == "succeeded"
            count.end(call["id"], call["timestamp"], state)
    return count


def pi(data):
    count, tools = Count(), {}
    for row in rows_of(data):
        message, when = row.get("message") or {}, row.get("timestamp")
        when = (message.get("timestamp") or 0) or when
        if message.get("role") == "user":
            count.numbers["prompts"] += 1
        elif message.get("role") == "assistant":
            count.numbers["replies"] += 1
            used = message.get("usage") or {}
            read, made = used.get("cacheRead", 0), used.get("cacheWrite", 0)
            cost = (used.get("cost") or {}).get("total", 0)
            count.spend(used.get("input", 0) + read + made, used.get("output", 0), read, made, cost)
            for block in message["content"]:
                if block["type"] == "toolCall":
                    count.call(block["id"], when)
                    tools[block["id"]] = block["name"]
        elif message.get("role") == "toolResult":
            key, state = message["toolCallId"], "failed" if message["isError"] else "succeeded"
            count.numbers["edits"] += tools[key] in ("edit", "write") and state == "succeeded"
            count.end(key, when, state)
        elif message.get("role") == "bashExecution":
            count.numbers["replies"] += 1
            count.call(row["timestamp"], when)
            count.end(row["timestamp"], when, "failed" if message["exitCode"] else "succeeded")
    return count


def opencode(data):
    if not data.startswith(b'{"info"') and b'"sessionID"' in data[:200]:
        return opencode_run(data)
    count = Count()
    for message in json.loads(data)["messages"]:
        info, made = message["info"], message["info"]["time"].get("created")
        count.numbers["prompts"] += info["role"] == "user"
        count.numbers["replies"] += info["role"] == "assistant"
        used = info.get("tokens") or {}
        cache = used.get("cache") or {}
        read, written = cache.get("read", 0), cache.get("write", 0)
        got = used.get("output", 0) + used.get("reasoning", 0)
        count.spend(used.get("input", 0) + read + written, got, read, written, info.get("cost") or 0)
        for part in message["parts"]:
            if part["type"] != "tool":
                continue
            state, times = part["state"], part["state"].get("time") or {}
            count.call(part["callID"], times.get("start") or made)
            how = "succeeded" if state["status"] == "completed" else "failed"
            how = "rejected" if "rejected permission" in state.get("error", "") else how
            is_edit = part["tool"] in ("edit", "write") and how == "succeeded"
            count.numbers["edits"] += is_edit
            count.end(part["callID"], times.get("end"), how)
    return count


def swe_agent(data):
    count, waits = Count(), None
    held = json.loads(data)
    info = held.get("info") or {}
    stats = info.get("model_stats") or {}
    count.spend(
        stats.get("tokens_sent", 0), stats.get("tokens_received", 0), cost=stats.get("instance_cost", 0)
    )
    for row in held["history"]:
        if row.get("is_demo") or row["role"] == "system":
            continue
        if row["role"] == "assistant":
            count.numbers["replies"] += 1
            waits = bool(row.get("action", "").strip() or row.get("tool_calls"))
            count.numbers["calls"] += waits
        elif waits:
            waits = None
        else:
            count.numbers["prompts"] += 1
    if info.get("submission"):
        count.numbers.update(calls=1, replies=1)
    return count


def mini(data):
    count, waits = Count(), None
    held = json.loads(data)
    held = held if isinstance(held, dict) else {"messages": held, "info": {}}
    count.spend(cost=(held["info"].get("model_stats") or {}).get("instance_cost", 0))
    for row in held["messages"]:
        when = (row.get("extra") or {}).get("timestamp")
        if row["role"] == "assistant":
            count.numbers["replies"] += 1
            waits = f"{count.numbers['replies']}"
            count.call(waits, when)
        elif row["role"] in ("user", "tool") and waits:
            code = re.search(r"<returncode>(-?\d+)", row["content"])
            code = (row.get("extra") or {}).get("returncode", int(code[1]) if code else 0)
            count.end(waits, when, "failed" if code else "succeeded")
            waits = None
        elif row["role"] == "user":
            count.numbers["prompts"] += 1
    if held["info"].get("submission"):
        count.numbers.update(calls=1, replies=1)
    return count


def atif(data):
    count = Count()
    for step in json.loads(data)["steps"]:
        count.numbers["prompts"] += step["source"] == "user"
        count.numbers["replies"] += step["source"] == "agent"
        used = step.get("metrics") or {}
        sent, cached = used.get("prompt_tokens", 0), used.get("cached_tokens", 0)
        count.spend(sent, used.get("completion_tokens", 0), cached, cost=used.get("cost_usd", 0))
        for call in step.get("tool_calls") or ():
            count.call(call["tool_call_id"], step.get("timestamp"))
        for result in (step.get("observation") or {}).get("results", ()):
            if "source_call_id" in result:
                count.end(result["source_call_id"], step.get("timestamp"))
    return count


def inspect(data):
    count = Count()
    for sample in json.loads(data)["samples"]:
        said = {
            one["output"]["choices"][0]["message"]["id"]: one
            for one in sample["events"]
            if one["event"] == "model"
        }
        ran = {one["id"]: one for one in sample["events"] if one["event"] == "tool"}
        for used in sample["model_usage"].values():
            read, made = used.get("input_tokens_cache_read", 0), used.get("input_tokens_cache_write", 0)
            is_apart = used["total_tokens"] != used["input_tokens"] + used["output_tokens"]
            sent = used["input_tokens"] + (read + made if is_apart else 0)
            count.spend(sent, used["output_tokens"], read, made)
        for row in sample["messages"]:
            count.numbers["prompts"] += row["role"] == "user"
            count.numbers["replies"] += row["role"] == "assistant"
            assert row["role"] != "assistant" or row["id"] in said
            for call in row.get("tool_calls") or ():
                count.call(call["id"], ran[call["id"]]["timestamp"])
            if row["role"] == "tool" and row["tool_call_id"] in ran:
                state = "failed" if row.get("error") else "succeeded"
                count.end(row["tool_call_id"], ran[row["tool_call_id"]]["completed"], state)
    return count


def aider(data):
    count, speaks = Count(), None
    for line in data.decode().split("\n"):
        who = "human" if line.startswith("####") else "program" if line.startswith("> ") else "agent"
        if line.startswith("# aider chat") or (not line.strip() and who == "agent"):
            continue
        count.numbers["prompts"] += who == "human" and speaks != "human"
        count.numbers["replies"] += who == "agent" and speaks != "agent"
        speaks = who
        if line.startswith("> Applied edit to"):
            count.numbers.update(calls=1, edits=1, replies=1)
        if found := re.match(
            r"> Tokens: ([\d.]+)k sent(?:, ([\d.]+)k cache write)?(?:, ([\d.]+)k cache hit)?, (\d+) received\. "
            r"Cost: \$([\d.]+) message", line,
        ):  # fmt: skip
            sent, made, read = (round(float(part or 0) * 1000) for part in found.groups()[:3])
            count.spend(sent, int(found[4]), read, made, float(found[5]))
    return count


COUNTERS = {
    "claude-code": claude, "codex": codex, "gemini": gemini, "pi": pi, "opencode": opencode,
    "swe-agent": swe_agent, "mini-swe-agent": mini, "atif": atif, "inspect": inspect, "aider": aider,
}  # fmt: skip


UNKNOWN_TIME = 1_700_000_000_000_000


def nothing_beside(_path):
    return b""


def imported(data, name="x", beside=nothing_beside):
    opened = detect.open_file(
        io.BytesIO(data), name, UNKNOWN_TIME, None, store=lambda _: None, current_id=lambda key: key,
        beside=beside,
    )  # fmt: skip
    return opened.format, list(opened.events)


def compare(data, name="x", beside=nothing_beside):
    form, events = imported(data, name, beside)
    count = AGENT_COUNTERS[form](data, beside) if form in AGENT_COUNTERS else COUNTERS[form](data)
    rows = MemoryTables().fold(events)
    bodies = [event.body for event in events]
    states = Counter(call.state for call in rows.calls.values())
    replies = [body for body in bodies if isinstance(body, e.ReplyCompleted)]
    assert {
        "prompts": sum(isinstance(body, e.PromptSubmitted) for body in bodies), "calls": len(rows.calls),
        "replies": len(replies), "failed": states["failed"], "rejected": states["rejected"],
    } == {name: count.numbers[name] for name in ("prompts", "calls", "replies", "failed", "rejected")}  # fmt: skip
    if form not in ("swe-agent", "mini-swe-agent"):
        assert sum(isinstance(body, e.FileChanged) for body in bodies) == count.numbers["edits"]
    used = Counter()
    for reply in replies:
        usage = reply.usage
        counts = (
            usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens,
            usage.cost_microdollars,
        )  # fmt: skip
        used.update(dict(zip(TOKENS, counts, strict=True)))
    assert {name: used[name] for name in TOKENS} == {name: count.tokens[name] for name in TOKENS}
    compare_times(count, rows, events, form)
    if found := moments(data):
        timed = [event.at for event in events if event.at != UNKNOWN_TIME]
        assert (min(timed) - found[0]) // SECOND <= 1
        assert abs(max(timed) - found[1]) <= SECOND


def compare_times(count, rows, events, form):
    calls = {call.provider_call_id: call for call in rows.calls.values()}
    proposed = {event.call_id: event.at for event in events if isinstance(event.body, e.CallProposed)}
    for keys, of in (
        (count.begun, lambda call: proposed[call.id]),
        (count.ended, lambda call: call.finished_at),
    ):
        for key, when in keys.items():
            if when is not None and key in calls:
                assert abs(of(calls[key]) - when) <= SECOND, (key, calls[key].tool)
    # A command that a human typed into pi, and those of mini-swe-agent, have no ids.
    assert form in ("pi", "mini-swe-agent") or set(count.begun) <= set(calls)


@each_row(
    "name",
    [
        name
        for name in FILES
        if FILES[name][1] in {**COUNTERS, **AGENT_COUNTERS}
        and name not in AGENT_FILES
        and name not in ("codex-old", "swe-steps", "mini-bare", "inspect")
    ],
)
def test_an_invented_file_comes_to_what_its_description_says(name):
    compare(FILES[name][0])


@each_row("name", COUNTED)
def test_tokens_times_and_ends_are_those_of_the_file(name):
    compare(COUNTED[name])


@pytest.mark.skipif(not REAL_FILES, reason="the real files are not beside the project")
@each_row("name", sorted(REAL_FILES) or ["none"])
def test_a_real_file_comes_to_what_its_description_says(name):
    compare(REAL_FILES[name].read_bytes())


@each_row("name", AGENT_FILES)
def test_an_invented_file_of_an_agent_comes_to_what_its_description_says(name):
    compare(AGENT_FILES[name][0])


@pytest.mark.skipif(not AGENT_PATHS, reason="the real files are not beside the project")
@each_row("name", sorted(AGENT_PATHS) or ["none"])
def test_a_real_file_of_an_agent_comes_to_what_its_description_says(name):
    path = AGENT_PATHS[name]

    def beside(where):
        other = path.parent / where
        return other.read_bytes() if other.is_file() else b""

    compare(path.read_bytes(), str(path), beside)
