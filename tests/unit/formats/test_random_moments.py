"""Random moments of sessions of others, ours and real ones: what was said, which calls ran and what waited then, by the file itself.

The readings below know plain JSON and the description of a format, and nothing of the importer. A moment is a time
of the file, or one between two of them; the imported session is folded up to that time.
"""

import io
import json
import random
import sys
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import Struct, field

sys.path.insert(0, str(Path(__file__).parent))
from counted_sessions import CLAUDE, at, codex, gemini_call, lines

from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.formats import detect

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "sessions"
NAMES = ("claude-code-1.jsonl", "claude-code-rejection.jsonl", "codex-1.jsonl", "gemini-1.json")
CODEX = lines(
    codex(at(0), "session_meta", id="moments", timestamp=at(0), cwd="/shop"),
    codex(at(1), "response_item", type="message", role="user", content=[{"type": "input_text", "text": "go"}]),
    codex(at(2), "response_item", type="function_call", name="shell", call_id="k1", arguments='{"command": ["make"]}'),
    codex(at(2), "response_item", type="function_call", name="shell", call_id="k2", arguments='{"command": ["ls"]}'),
    codex(at(20), "response_item", type="function_call_output", call_id="k2", output='{"output": "a", "metadata": {"exit_code": 0}}'),
    codex(at(50), "response_item", type="function_call_output", call_id="k1", output='{"output": "no", "metadata": {"exit_code": 2}}'),
    codex(at(52), "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "ok"}]),
)  # fmt: skip
GEMINI = json.dumps({
    "sessionId": "moments", "projectHash": "h", "startTime": at(0), "lastUpdated": at(50),
    "messages": [
        {"id": "1", "type": "user", "timestamp": at(0), "content": "make it faster"},
        {"id": "2", "type": "gemini", "timestamp": at(3), "content": "I begin.", "model": "flash", "toolCalls": [
            gemini_call("w", "write_file", "success", at(9), "written", file_path="/shop/a.py", content="a = 1\n"),
            gemini_call("b", "run_shell_command", "error", at(12), "no such command", command="mak"),
        ]},
        {"id": "3", "type": "user", "timestamp": at(40), "content": "again"},
        {"id": "4", "type": "gemini", "timestamp": at(50), "content": "It is faster."},
    ],
}).encode()  # fmt: skip
SESSIONS = {
    "claude-own.jsonl": CLAUDE, "codex-own.jsonl": CODEX, "gemini-own.json": GEMINI,
    **({name: (REAL / name).read_bytes() for name in NAMES} if REAL.is_dir() else {}),
}  # fmt: skip
"""Invented sessions, which a fresh clone has, and real ones where they exist next to the repository."""
MOMENTS = 5
SECOND = 1_000_000
REFUSED = ("The user doesn't want to proceed with this tool use", "The user doesn't want to take this action")


class Told(Struct):
    """What a file says happened, each with its time."""

    texts: list = field(default_factory=list)
    """(time, words) of prompts and replies."""
    asked: dict = field(default_factory=dict)
    """When each call was asked for, by its id."""
    ended: dict = field(default_factory=dict)
    refused: set = field(default_factory=set)
    """Calls that a human was asked about and refused."""
    times: set = field(default_factory=set)


def micros(when):
    return int(datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp() * SECOND)


def claude(text):
    told = Told()
    for row in map(json.loads, filter(None, text.splitlines())):
        message, when = row.get("message"), row.get("timestamp")
        if not message or not when or row.get("isSidechain"):
            continue
        at, content = micros(when), message["content"]
        told.times.add(at)
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        words = "\n".join(block["text"] for block in blocks if block["type"] == "text")
        is_own = row.get("isMeta") or words.startswith(
            ("[Request interrupted", "<local-command", "<command-")
        )
        if words and not is_own:
            told.texts.append((at, words))
        for block in blocks:
            if block["type"] == "tool_use":
                told.asked[block["id"]] = at
            elif block["type"] == "tool_result":
                told.ended[block["tool_use_id"]] = at
                if block.get("is_error") and str(block["content"]).startswith(REFUSED):
                    told.refused.add(block["tool_use_id"])
    return told


def codex(text):
    told = Told()
    for row in map(json.loads, filter(None, text.splitlines())):
        item, at = row.get("payload") or {}, micros(row["timestamp"])
        if row["type"] != "response_item":
            continue
        told.times.add(at)
        if item["type"] == "message":
            words = "".join(part.get("text", "") for part in item["content"])
            if item["role"] in ("user", "assistant") and not words.startswith("<"):
                told.texts.append((at, words))
        elif item["type"] in ("function_call", "custom_tool_call"):
            told.asked[item["call_id"]] = at
        elif item["type"].endswith("_output"):
            told.ended[item["call_id"]] = at
            if "rejected by user" in str(item["output"])[:300]:
                told.refused.add(item["call_id"])
    return told


def gemini(text):
    told = Told()
    for message in json.loads(text)["messages"]:
        at = micros(message["timestamp"])
        told.times.add(at)
        if message["content"].strip():
            told.texts.append((at, message["content"]))
        for call in message.get("toolCalls", ()):
            told.asked[call["id"]] = at
            told.ended[call["id"]] = micros(call.get("timestamp") or message["timestamp"])
            told.times.add(told.ended[call["id"]])
            if call["status"] == "cancelled":
                told.refused.add(call["id"])
    return told


READERS = {"claude": claude, "codex": codex, "gemini": gemini}


def imported(name):
    data = io.BytesIO(SESSIONS[name])
    opened = detect.open_file(data, name, 1, None, store=lambda _: "recorded:x", current_id=str)
    events = list(opened.events)
    return [event for event in events if event.session_id == events[0].session_id]


def at_moment(events, moment):
    """Return the last words, the calls that run and the calls that wait for an answer, by the imported session."""
    until = [event for event in events if event.at <= moment]
    rows = MemoryTables()
    rows.fold(until)
    said = [
        body.text
        for event in until
        if isinstance(body := event.body, e.PromptSubmitted | e.ReplyCompleted) and body.text.strip()
    ]
    waits = {
        rows.calls[action.call_id].provider_call_id
        for action in rows.actions.values()
        if action.state == "pending"
    }
    runs = {call.provider_call_id for call in rows.calls.values() if call.state in ("executing", "approved")}
    asks = {call.provider_call_id for call in rows.calls.values() if call.state == "pending"} - waits
    return said[-1].strip() if said else "", runs | asks, waits


def all_moments(told):
    """Return the times of a file but its last, at which what has no end in it is closed, and those between two."""
    times = sorted(told.times)
    between = [(first + second) // 2 for first, second in pairwise(times) if second - first > SECOND // 100]
    return sorted([*times[:-1], *between])


def differences(name, chosen):
    told = READERS[name.partition("-")[0]](SESSIONS[name].decode())
    events, seen = imported(name), [0, 0]
    for moment in chosen(all_moments(told)):
        words = [text.strip() for at, text in told.texts if at <= moment]
        open_calls = {key for key, at in told.asked.items() if at <= moment < told.ended.get(key, moment + 1)}
        wanted = words[-1] if words else "", open_calls - told.refused, open_calls & told.refused
        seen = [count + bool(calls) for count, calls in zip(seen, wanted[1:], strict=True)]
        got = at_moment(events, moment)
        if got != wanted:
            yield moment, [(is_, should) for is_, should in zip(got, wanted, strict=True) if is_ != should]
    least = {
        "claude-code-1.jsonl": (60, 0), "claude-code-rejection.jsonl": (4, 4), "claude-own.jsonl": (6, 2),
        "codex-own.jsonl": (3, 0), "gemini-own.json": (3, 0),
    }.get(name, (0, 0))  # fmt: skip
    if len(chosen(all_moments(told))) > MOMENTS and tuple(seen) < least:
        yield "too few calls were open to say anything", seen


@pytest.mark.parametrize("name", SESSIONS)
def test_five_random_moments_are_what_the_file_says_of_that_time(name):
    chance = random.Random(f"19 {name}")
    assert list(differences(name, lambda moments: sorted(chance.sample(moments, MOMENTS)))) == []


@pytest.mark.parametrize("name", SESSIONS)
def test_so_is_every_other_moment(name):
    assert list(differences(name, list)) == []


@pytest.mark.parametrize("name", SESSIONS)
def test_every_diff_of_a_moment_is_one_of_its_own_call(name):
    events = imported(name)
    calls = {event.call_id for event in events if isinstance(event.body, e.CallProposed)}
    changed = [event for event in events if isinstance(event.body, e.FileChanged)]
    assert {event.call_id for event in changed} <= calls
    finished = {event.call_id: event.at for event in events if isinstance(event.body, e.CallFinished)}
    assert all(event.at == finished[event.call_id] for event in changed)
