"""What leaves in the words of the assistant (S4) keeps its rules and comes back; what is imported is checked."""

import io
import json

import pytest
from msgspec.structs import replace

from tests.support import golden
from tests.support.tables import each_row
from workbench.backend.session_export import foreign_descriptors
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION, Actor, Usage
from workbench.formats import assistant, detect
from workbench.policy import schemas
from workbench.tools.registry import tool_registry

T = "2026-11-21T12:00:{:02}.000000Z"
TOOLS = tool_registry().visible("ollama")
DECIDED = {"approved": "succeeded", "rejected": "failed", "expired": "aborted"}


def lines_of(session, events, tables):
    calls = [call for call in tables.calls.values() if call.session_id == session.id]
    actions = [action for action in tables.actions.values() if action.session_id == session.id]
    tools = foreign_descriptors(call.tool for call in calls) if session.is_supervised else TOOLS
    document = assistant.assistant_session(session, events, actions, tools, "ollama")
    return [document, *assistant.invocation_records(session, events, calls, actions)]


def sessions_of(name):
    """Yield what each session of a golden file comes to: its row, its lines in S4's form, and its tables."""
    events = list(golden.events(name))
    tables = MemoryTables().fold(events)
    for session in tables.sessions.values():
        if session.id != SYSTEM_SESSION:
            own = [event for event in events if event.session_id == session.id]
            yield session, lines_of(session, own, tables), tables, own


def imported(lines):
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    opened = detect.open_file(
        io.BytesIO(data),
        "x.jsonl",
        1_700_000_000_000_000,
        None,
        store=lambda _: None,
        current_id=lambda key: key,
    )
    events = [replace(event, sequence_number=number) for number, event in enumerate(opened.events, 1)]
    tables = MemoryTables().fold(events)
    (session,) = tables.sessions.values()
    problems = [problem.message for problem in opened.summaries[0].problems]
    return (
        session,
        lines_of(session, events, tables),
        [why for why in problems if not why.startswith("its time")],
    )


def spoken(document):
    """Return the turns without what an import has no place for: how a reply was streamed, and by whom."""
    return [
        (
            turn["role"], turn["content"], turn["timestamp"],
            turn.get("metadata", {}).get("inputTokens"), turn.get("metadata", {}).get("outputTokens"),
        )
        for turn in document["messages"]
    ]  # fmt: skip


def calls_of(records):
    return [
        (
            record["id"], record["toolId"], record["status"], record["parameters"], record["startedAt"],
            record.get("resultSummary", "the file holds no result of this call"),
        )
        for record in records
        if record["toolId"] != assistant.APPROVAL_TOOL
    ]  # fmt: skip


def decisions_of(records):
    """Return the decisions about calls; the id of an imported action is a new one."""
    return [
        (record["status"], {**record["parameters"], "actionId": ""})
        for record in records
        if record["toolId"] == assistant.APPROVAL_TOOL
    ]


@pytest.mark.spec(187, 189, 190, 191, 192, 199, 200, 201, 205, 231)
@pytest.mark.parametrize("name", golden.names())
def test_every_golden_session_leaves_by_the_rules_of_s4(name):
    for session, (document, *records), _, _ in sessions_of(name):
        roles = [turn["role"] for turn in document["messages"]]
        has_system = bool(session.system_prompt)
        problems = [why for _, why in assistant.turn_order_violations(roles)]
        assert problems == ([] if has_system else ["the first turn is not a system turn"]), session.id
        assert list(assistant.session_violations(document)) == []
        offered = ["Edit", "Write", "Bash"] if session.is_supervised else [tool.id for tool in TOOLS]
        assert [tool["id"] for tool in document["activeTools"]] == offered
        assert all(
            turn["metadata"]["streaming"]["chunks"] >= 0
            for turn in document["messages"]
            if turn["role"] == "assistant"
        )
        for record in records:
            assert record["sessionId"] == document["id"]
            assert ("resultSummary" in record) == (record["status"] != "pending")
            assert record.get("finishedAt", record["startedAt"]) >= record["startedAt"]


@pytest.mark.spec(187, 210, 213)
@pytest.mark.parametrize("name", golden.names())
def test_every_golden_session_comes_back_equal(name):
    for _, lines, _, _ in sessions_of(name):
        _, again, problems = imported(lines)
        assert [why for why in problems if "system turn" not in why] == []
        assert spoken(again[0]) == spoken(lines[0])
        same = ("id", "systemPrompt", "activeTools", "pendingApprovals", "telemetryId")
        assert {key: again[0][key] for key in same} == {key: lines[0][key] for key in same}
        # Nobody answers or runs what was imported: a call that waits there ends without an outcome.
        assert calls_of(again[1:]) == [
            tuple("failed" if part == "pending" else part for part in call) for call in calls_of(lines[1:])
        ]
        assert decisions_of(again[1:]) == decisions_of(lines[1:])
        # Out and in once more changes nothing but when it was touched last.
        once_more = imported(again)[1]
        assert once_more[1:] == again[1:]
        assert {**once_more[0], "updatedAt": ""} == {**again[0], "updatedAt": ""}


@pytest.mark.spec(210)
def test_each_decision_is_a_record_of_its_own():
    decided = 0
    for name in golden.names():
        for _, (_, *records), tables, _ in sessions_of(name):
            found = {
                record["id"]: record for record in records if record["toolId"] == assistant.APPROVAL_TOOL
            }
            for action in tables.actions.values():
                if action.id in found:
                    record = found.pop(action.id)
                    assert record["status"] == DECIDED[action.state]
                    assert record["resultSummary"].startswith(action.state)
                    assert (action.decided_by or "") in record["resultSummary"]
                    assert record["parameters"].get("reason") == (action.reason or None)
                    decided += 1
            assert found == {}
    assert decided > 20


@pytest.mark.spec(191, 231)
def test_a_turn_counts_tokens_and_pieces_of_all_its_replies():
    for _, (document, *_), _, events in sessions_of("fix-flaky-login"):
        replies = [event.body for event in events if isinstance(event.body, e.ReplyCompleted)]
        turns = [turn["metadata"] for turn in document["messages"] if turn["role"] == "assistant"]
        assert len(turns) < len(replies), "some replies only call tools"
        assert sum(turn["inputTokens"] for turn in turns) == sum(
            reply.usage.input_tokens for reply in replies
        )
        assert sum(turn["outputTokens"] for turn in turns) == sum(
            reply.usage.output_tokens for reply in replies
        )
        chunks = sum(isinstance(event.body, e.TextStreamed) for event in events)
        assert sum(turn["streaming"]["chunks"] for turn in turns) == chunks > 0
        assert {turn["provider"] for turn in turns} == {"recorded"}
        assert all(turn["streaming"]["firstAt"] <= turn["streaming"]["lastAt"] for turn in turns)


def turn_event(number, body):
    actor = Actor(kind="host", pid=1)
    return e.Event(id=f"e{number}", session_id="s", at=number * 1_000_000, actor=actor, body=body,
                   position=number, sequence_number=number, turn_id="t")  # fmt: skip


@pytest.mark.spec(231)
def test_the_metadata_of_a_turn_are_those_of_all_that_was_said_in_it():
    row = Session(id="s", kind="chat", status="ready", created_at=1, updated_at=2, provider="of the row")
    bodies = [
        e.PromptSubmitted(text="go"),
        e.TurnStarted(provider="first", model="m"),
        e.ReplyCompleted(usage=Usage(input_tokens=5, output_tokens=1)),
        e.TextStreamed(block=0, offset=0, text="I "), e.TextStreamed(block=0, offset=2, text="look"),
        e.ReplyCompleted(text="I look", usage=Usage(input_tokens=30, output_tokens=4), round=2),
        e.TurnStarted(provider="second", model="m"),
        e.TextStreamed(block=0, offset=0, text="Done"),
        e.ReplyCompleted(text="Done", usage=Usage(input_tokens=100, output_tokens=20), round=3),
        e.ReplyCompleted(text="Not streamed", usage=Usage(input_tokens=1000), round=4),
    ]  # fmt: skip
    events = [turn_event(number, body) for number, body in enumerate(bodies, 1)]
    user, agent = assistant.assistant_turns(row, events)
    assert user == {"role": "user", "content": "go", "timestamp": "1970-01-01T00:00:01.000000Z"}
    assert agent == {
        "role": "assistant", "content": "I look\n\nDone\n\nNot streamed",
        "timestamp": "1970-01-01T00:00:10.000000Z",
        "metadata": {
            "inputTokens": 1135, "outputTokens": 25, "provider": "second", "round": 4,
            "streaming": {
                "chunks": 3, "firstAt": "1970-01-01T00:00:04.000000Z", "lastAt": "1970-01-01T00:00:08.000000Z",
            },
        },
    }  # fmt: skip


@pytest.mark.spec(192, 193)
def test_tools_leave_as_descriptors_of_s4():
    for tool in TOOLS:
        found = assistant.tool_descriptor(tool)
        assert set(found) == {
            "id",
            "capability",
            "requiresApproval",
            "allowedProviders",
            "inputSchema",
            "outputSchema",
        }
        assert found["capability"] in ("read", "write", "execute", "git")
        assert found["allowedProviders"] == ["azure-openai", "ollama"]
        assert (
            schemas.schema_problems(found["inputSchema"])
            == schemas.schema_problems(found["outputSchema"])
            == ()
        )
    for requires_approval in (True, False):
        found = assistant.tool_descriptor(replace(TOOLS[0], requires_approval=requires_approval))
        assert found["requiresApproval"] is requires_approval
    narrow = replace(TOOLS[0], allowed_providers=("ollama",))
    assert assistant.tool_descriptor(narrow)["allowedProviders"] == ["ollama"]


@pytest.mark.spec(187, 192)
@pytest.mark.parametrize(
    ("provider", "kind", "shown", "allowed"),
    [
        ("local", "openai-compatible", "local", ["azure-openai", "ollama", "local"]),
        ("here", "ollama", "ollama", ["azure-openai", "ollama"]),
    ],
)
def test_the_provider_of_a_session_sees_the_tools_of_the_session(provider, kind, shown, allowed):
    row = Session(id="s", kind="chat", status="ready", created_at=1, updated_at=1, provider=provider)
    found = assistant.assistant_session(row, (), (), TOOLS, kind)
    assert found["provider"] == shown
    assert [tool["allowedProviders"] for tool in found["activeTools"]] == [allowed] * len(TOOLS)


def session(**more):
    turns = [("system", "be good"), ("user", "read"), ("assistant", "done")]
    messages = [
        {"role": role, "content": said, "timestamp": T.format(n)} for n, (role, said) in enumerate(turns)
    ]
    return {
        "id": "s", "provider": "ollama", "systemPrompt": "be good", "messages": messages, "telemetryId": "t",
        "activeTools": ["context.read", {"id": "git.preparePr", "allowedProviders": ["ollama"]}],
        "pendingApprovals": [], **more,
    }  # fmt: skip


def waiting(**more):
    times = {"createdAt": T.format(0), "expiresAt": "2026-11-21T12:15:00.000000Z"}
    return {"id": "p", "sessionId": "s", "toolId": "context.read", **times, **more}


CHECKED = [
    ({"pendingApprovals": [waiting(), waiting(toolId="git.preparePr")]}, []),
    ({"pendingApprovals": [waiting(toolId="rm.rf")]}, ["pending approval 1: its tool rm.rf is not among the active tools"]),
    ({"pendingApprovals": [waiting(), {}]}, ["pending approval 2: its tool (none) is not among the active tools"]),
    ({"pendingApprovals": [waiting(sessionId="other")]}, ["pending approval 1: it is of session other"]),
    ({"pendingApprovals": [waiting(expiresAt="2026-11-21T11:59:59.000000Z")]}, ["pending approval 1: it expires before it was made"]),
    ({"pendingApprovals": [waiting(expiresAt="2026-11-23T12:00:00.000000Z")]}, ["pending approval 1: it expires more than a day after it was made"]),
    ({"pendingApprovals": "x", "activeTools": None}, []),
    ({"activeTools": [{"id": "a", "allowedProviders": []}]}, ["active tool 1 has no allowedProviders"]),
    ({"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": " "}]}, ["turn 2 is empty", "not understood, kept as it is: prompt without words"]),
]  # fmt: skip


@pytest.mark.spec(190, 191, 193, 205, 206)
@each_row("members, problems", CHECKED)
def test_what_breaks_a_rule_is_read_and_named(members, problems):
    document = session(**members, capabilityProfile={"id": "x"}, tasks=[{"id": 1, "state": "pending"}])
    found, (again, *_), told = imported([document])
    assert told == problems
    assert found.origin == "assistant"
    if "activeTools" not in members:
        assert found.active_tools == ("context.read", "git.preparePr")
    for name in ("activeTools", "pendingApprovals", "tasks"):
        if isinstance(document[name], list):
            assert again[name] == document[name]
    assert again["capabilityProfile"] == {"id": "x"}


def record(key, tool="context.read", status="succeeded", **more):
    times = {"startedAt": T.format(1), "finishedAt": T.format(2)}
    return {
        "id": key,
        "sessionId": "s",
        "toolId": tool,
        "status": status,
        "parameters": {"path": "a"},
        **times,
        **more,
    }


def approval(invocation, status, **said):
    return record(
        f"a-{invocation}", "assistant.approval", status, parameters={"invocationId": invocation, **said}
    )


@pytest.mark.spec(199, 200)
def test_decisions_come_back_to_the_calls_that_they_are_about():
    lines = [
        session(), approval("r1", "succeeded", reason="go"), record("r1"), approval("r2", "failed", reason="no"),
        record("r2", status="aborted"), approval("r3", "aborted"), record("r3", status="aborted"),
        record("r4", status="failed", resultSummary="broken"), record("r5", status="pending"),
        approval("gone", "succeeded"), {"odd": 1},
    ]  # fmt: skip
    _, (_, *records), problems = imported(lines)
    assert problems == ["not understood, kept as it is: record"]
    assert [(one["id"], one["status"]) for one in records if one["toolId"] == "context.read"] == [
        ("r1", "succeeded"), ("r2", "aborted"), ("r3", "aborted"), ("r4", "failed"), ("r5", "failed"),
    ]  # fmt: skip
    assert [
        (one["status"], one["parameters"]["invocationId"], one["parameters"].get("reason"))
        for one in records
        if one["toolId"] == "assistant.approval"
    ] == [
        ("succeeded", "gone", None), ("succeeded", "r1", "go"), ("failed", "r2", "no"), ("aborted", "r3", None),
    ]  # fmt: skip
