"""Statistics against a count by hand: the lines of golden sessions, read as JSON and added up without any table."""

import json
from collections import Counter, defaultdict
from datetime import datetime

import pytest

from tests.support import golden
from workbench.cli.session_statistics import statistics_json
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.statistics_queries import StatisticsScope, statistics_facts
from workbench.views.statistics import session_statistics
from workbench.views.usage import sum_usage

ENDS = {"action.approved": "approved", "action.rejected": "rejected", "action.expired": "expired",
        "action.cancelled": "withdrawn", "action.superseded": "replaced"}  # fmt: skip


def milliseconds(begin, end):
    """Return the whole milliseconds between two times as they are written."""
    microseconds = (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds() * 1e6
    return int(round(microseconds) // 1000)


WORDS = {"Bash": "shell", "Edit": "edit", "Write": "write"}
"""Of tools that several agents have under other names."""


def unasked(verdict):
    """Return who decided a call that asked nobody; None where somebody was asked."""
    if verdict["outcome"] == "allowed":
        if verdict["by"] == "its own mode":
            return "own mode"
        return "by rule" if verdict.get("rule") else "by grant"
    return None if verdict["outcome"] == "ask" else "not allowed"


class Count:
    """What somebody with a pencil would find."""

    def __init__(self, name):
        self.tools, self.calls, self.state, self.run, self.began = {}, [], {}, {}, set()
        self.replaced, self.opened, self.ends = set(), {}, {}
        self.verdicts = {}
        self.waited, self.tokens, self.files = defaultdict(int), Counter(), Counter()
        for line in golden.lines(name):
            found = json.loads(line)
            if "blob" not in found and found["session_id"] != SYSTEM_SESSION:
                self.add(found, found["kind"], found.get("body", {}))

    def add(self, line, kind, body):
        call, action = line.get("call_id"), line.get("action_id")
        if kind == "reply.completed":
            self.tokens.update(body.get("usage", {}))
            for one in body.get("calls", ()):
                self.calls.append(one["call_id"])
                self.tools[one["call_id"]] = WORDS.get(one["tool"], one["tool"])
        elif kind == "call.proposed":
            self.replaced.add(body.get("replaces"))
            self.calls.append(call)  # an undo is proposed and was in no reply
            self.tools[call] = WORDS.get(body["tool"], body["tool"])
            self.verdicts[call] = body["verdict"]
        elif kind == "call.executing":
            self.began.add(call)
        elif kind == "call.finished":
            self.finish(call, body)
        elif kind == "action.opened":
            self.opened[action] = (body["created_at"], call)
        elif kind in ENDS:
            self.end(line, action, kind, body)
        elif kind == "file.changed":
            self.files[body["path"]] += 1

    def finish(self, call, body):
        self.state[call] = body["state"]
        is_measured = "grade" not in body.get("metadata", {})
        if (
            call in self.began
            and is_measured
            and body["state"] != "interrupted"
            and body.get("detail") != "recovered"
        ):
            self.run[call] = body.get("duration_ms", 0)

    def end(self, line, action, kind, body):
        begin, call = self.opened[action]
        is_partly = kind == "action.approved" and body.get("selection") is not None
        self.ends[action] = "partly" if is_partly else ENDS[kind]
        if call:
            self.waited[call] += milliseconds(begin, line["at"])


@pytest.mark.spec(210)
@pytest.mark.parametrize("name", golden.names())
def test_statistics_are_what_a_count_by_hand_finds(name, tmp_path):
    with golden.load(name, tmp_path / "home") as journal, journal.snapshot() as database:
        found = statistics_facts(database, StatisticsScope())
    used = sum_usage(found.usage, lambda *_: None)
    told = statistics_json(
        session_statistics(found.calls, found.answers, found.sessions, found.files, used), 0
    )
    count = Count(name)
    kept = [call for call in dict.fromkeys(count.calls) if call not in count.replaced]
    calls = Counter(count.tools[call] for call in kept)
    assert {one["tool"]: one["calls"] for one in told["tools"]} == dict(calls)
    ok = Counter(count.tools[call] for call in kept if count.state.get(call) == "succeeded")
    assert {one["tool"]: one["ok"] for one in told["tools"] if one["ok"]} == dict(ok)
    run = defaultdict(list)
    for call in kept:
        if count.run.get(call) is not None:
            run[count.tools[call]].append(count.run[call])
    assert {one["tool"]: one["run_ms"] for one in told["tools"] if one["p50_ms"] is not None} == {
        tool: sum(times) for tool, times in run.items()
    }
    for one in told["tools"]:
        if times := sorted(run[one["tool"]]):
            assert one["p50_ms"] == times[(len(times) + 1) // 2 - 1]
            assert sum(time <= one["p95_ms"] for time in times) >= 0.95 * len(times)
    outcomes = Counter(end for end in count.ends.values() if end)
    asking = {call for _, call in count.opened.values()}
    outcomes.update(
        ended
        for call in kept
        if call not in asking and call in count.verdicts and count.tools[call] != "undo"
        if (ended := unasked(count.verdicts[call]))
    )
    assert {word: number for word, number in told["actions"].items() if number} == dict(outcomes)
    assert told["usage"]["input_tokens"] == count.tokens["input_tokens"]
    assert told["usage"]["output_tokens"] == count.tokens["output_tokens"]
    assert {one["path"]: one["times"] for one in told["files"]} == dict(count.files)
    waited = Counter()
    for call in kept:
        waited[count.tools[call]] += count.waited[call]
    assert {one["tool"]: one["waited_ms"] for one in told["tools"]} == {tool: waited[tool] for tool in calls}
