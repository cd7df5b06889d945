"""The conversation as a model gets it."""

import json

import pytest

from tests.support.tables import each_row
from tests.unit.agents.turn_script import (
    CALLING,
    LIMITS,
    READY,
    SESSION,
    approved,
    asked,
    done,
    ended,
    event,
    executing,
    expired,
    failed_model,
    finished,
    flat,
    go_on,
    interrupt,
    lease,
    paused,
    prompt,
    proposed,
    rejected,
    reply,
    started,
    state_of,
    status,
    undo,
    verdict,
)
from workbench.agents.planner import due_effects
from workbench.agents.prompt import model_messages
from workbench.agents.reducer import fold_turn
from workbench.domain import events
from workbench.domain.messages import Message, MessageCall
from workbench.domain.values import FilePlan, ReplyCall

SYSTEM = Message(role="system", content="You help.")


def sent(*parts, unseal=lambda ref: None, limit=100, wire=str):
    return model_messages(state_of(*parts), unseal, limit, wire)


def user(text):
    return Message(role="user", content=text)


def says(text="", *calls):
    made = tuple(MessageCall(id=f"p-{call}", tool="create_file", arguments={"path": call}) for call in calls)
    return Message(role="assistant", content=text, calls=made)


def told(call, text, outcome):
    return Message(role="tool", content=text, tool_call_id=f"p-{call}", outcome=outcome)


EXPIRED = "Expired: nobody answered in time; nothing was done."
REJECTED = "Rejected by the human, without a reason. Nothing was done."
OK = "Done; there was no output."
DENIED = [reply("c1"), proposed("c1", "denied")]
NO = told("c1", "Denied by default. Nothing was done.", "denied")
UNATTENDED = [*CALLING, reply("c1"), *asked("c1"), expired("c1"), ended("unattended"), paused("unattended")]
LOST = [*CALLING, *DENIED, lease(2), paused("host lost")]

OK_C1 = told("c1", OK, "succeeded")
WROTE = [
    *CALLING,
    reply("c1"),
    *asked("c1"),
    approved("c1"),
    *done("c1"),
    started(2),
    reply(round_=2, text="hi"),
    ended(),
]
HEAD = "Note of the workbench: the user took back what you had changed."
TAIL = "Read a file again before you build on it."
LINE_C1 = "- x.py: the change of your call p-c1 (create_file) was undone; the file is as it was before."
NOTE_C1 = f"{HEAD}\n{LINE_C1}\n{TAIL}"
NOTE_UNKNOWN = f"{HEAD}\n{LINE_C1.replace('your call p-c1 (create_file)', 'an earlier call')}\n{TAIL}"


def undone(call, changed, state="succeeded", after="before", path="x.py"):
    """Return an undo of what a call changed, from the user's wish to its end."""
    plan = FilePlan(path=path, base="now", after=after, mode=0o644)
    body = events.CallProposed(
        tool="undo", verdict=verdict("allowed", by=f"u-{call}"), parameters={"action": f"a-{changed}"},
        files=(plan,),
    )  # fmt: skip
    return [
        undo(f"a-{changed}", f"u-{call}"),
        event(body, call_id=call),
        executing(call),
        finished(call, state),
    ]


ROWS = [
    ("first prompt", [*READY, prompt("go")], [user("go")], [user("go")]),
    ("no system prompt is sent twice", [*CALLING], [user("go")], [user("go")]),
    ("prompts are joined", [*READY, prompt("a"), prompt("b")], [user("a\n\nb")], [user("a\n\nb")]),
    ("one that came while calling waits", [*CALLING, prompt("b")], [user("go")], [user("go")]),
    ("... through every round", [*CALLING, prompt("b"), *DENIED], [user("go"), says("", "c1"), NO], [NO]),
    (
        "... and starts the next turn",
        [*CALLING, prompt("b"), prompt("c"), reply(text="hi"), ended()],
        [user("go"), says("hi"), user("b\n\nc")],
        [user("b\n\nc")],
    ),
    (
        "results in call order",
        [*CALLING, reply("c1", "c2", text="look"), *asked("c1"), *asked("c2"), rejected("c2"), approved("c1"), *done("c1")],
        [user("go"), says("look", "c1", "c2"), told("c1", OK, "succeeded"), told("c2", REJECTED, "rejected")],
        [told("c1", OK, "succeeded"), told("c2", REJECTED, "rejected")],
    ),
    (
        "a replaced call answers under the id the model gave",
        [*CALLING, reply("c1", "c2"), *asked("c1"), approved("c1"), finished("c1", "cancelled"), *asked("c9", replaces="c1"), approved("c9"), *done("c9"), proposed("c2", "denied")],
        [user("go"), says("", "c1", "c2"), told("c1", OK, "succeeded"), told("c2", NO.content, "denied")],
        [told("c1", OK, "succeeded"), told("c2", NO.content, "denied")],
    ),
    ("results that were sent are not fresh", [*CALLING, *DENIED, started(2), reply(round_=2, text="well"), ended(), prompt("b")], [user("go"), says("", "c1"), NO, says("well"), user("b")], [user("b")]),
    ("continue after an expiry sends the result", [*UNATTENDED, go_on()], [user("go"), says("", "c1"), told("c1", EXPIRED, "expired")], [told("c1", EXPIRED, "expired")]),
    ("a prompt comes after it", [*UNATTENDED, prompt("b")], [user("go"), says("", "c1"), told("c1", EXPIRED, "expired"), user("b")], [told("c1", EXPIRED, "expired"), user("b")]),
    ("a prompt that resumes a lost turn joins the results", [*LOST, prompt("b")], [user("go"), says("", "c1"), NO, user("b")], [NO, user("b")]),
    ("... with those that waited", [*CALLING, prompt("a"), *LOST[7:], prompt("b")], [user("go"), says("", "c1"), NO, user("a\n\nb")], [NO, user("a\n\nb")]),
    ("... and those that follow", [*LOST, prompt("b"), prompt("c")], [user("go"), says("", "c1"), NO, user("b\n\nc")], [NO, user("b\n\nc")]),
    ("... also when it is lost again", [*LOST, prompt("b"), lease(3), paused("host lost"), go_on()], [user("go"), says("", "c1"), NO, user("b")], [NO, user("b")]),
    ("continue lets them wait", [*CALLING, prompt("a"), *LOST[7:], go_on()], [user("go"), says("", "c1"), NO], [NO]),
    ("a lost model call says it again", [*CALLING, lease(2), paused("host lost"), prompt("b")], [user("go\n\nb")], [user("go\n\nb")]),
    ("what the provider failed to answer is said again", [*CALLING, failed_model(), ended("error"), prompt("b")], [user("go\n\nb")], [user("go\n\nb")]),
    ("an empty reply is no message", [*CALLING, reply(), ended(), prompt("b")], [user("go\n\nb")], [user("b")]),
    ("an empty prompt is no message", [*READY, prompt(""), prompt("b")], [user("b")], [user("b")]),
    ("a call that its turn left open is answered", [*CALLING, reply("c1"), ended("error"), prompt("b")], [user("go"), says("", "c1"), told("c1", "Cancelled: the turn ended before it began. Nothing was done.", "cancelled"), user("b")], [told("c1", "Cancelled: the turn ended before it began. Nothing was done.", "cancelled"), user("b")]),
    ("an undo is told before the next prompt", [*WROTE, *undone("k1", "c1"), prompt("b")], [user("go"), says("", "c1"), OK_C1, says("hi"), user(f"{NOTE_C1}\n\nb")], [user(f"{NOTE_C1}\n\nb")]),
    ("... of a call nobody knows any more", [*WROTE, *undone("k1", "c0"), prompt("b")], [user("go"), says("", "c1"), OK_C1, says("hi"), user(f"{NOTE_UNKNOWN}\n\nb")], [user(f"{NOTE_UNKNOWN}\n\nb")]),
    ("... once only", [*WROTE, *undone("k1", "c1"), prompt("b"), started(turn="t2"), reply(text="ok", turn="t2"), ended(turn="t2"), prompt("c")], [user("go"), says("", "c1"), OK_C1, says("hi"), user(f"{NOTE_C1}\n\nb"), says("ok"), user("c")], [user("c")]),
    ("... again where the model did not answer", [*WROTE, *undone("k1", "c1"), prompt("b"), started(turn="t2"), lease(2), paused("host lost"), go_on()], [user("go"), says("", "c1"), OK_C1, says("hi"), user(f"{NOTE_C1}\n\nb")], [user(f"{NOTE_C1}\n\nb")]),
    ("... with the results of the round that it happened in", [*CALLING, reply("c1", "c2"), *asked("c1"), *asked("c2"), approved("c1"), *done("c1"), *undone("k1", "c1"), rejected("c2")], [user("go"), says("", "c1", "c2"), OK_C1, told("c2", REJECTED, "rejected"), user(NOTE_C1)], [OK_C1, told("c2", REJECTED, "rejected"), user(NOTE_C1)]),
    ("... not while the model is being asked", [*WROTE, prompt("b"), started(turn="t2"), *undone("k1", "c1")], [user("go"), says("", "c1"), OK_C1, says("hi"), user("b")], [user("b")]),
    ("... but after that", [*WROTE, prompt("b"), started(turn="t2"), *undone("k1", "c1"), reply(text="ok", turn="t2"), ended(turn="t2"), prompt("c")], [user("go"), says("", "c1"), OK_C1, says("hi"), user("b"), says("ok"), user(f"{NOTE_C1}\n\nc")], [user(f"{NOTE_C1}\n\nc")]),
    ("an undo that failed is not told", [*WROTE, *undone("k1", "c1", "failed"), prompt("b")], [user("go"), says("", "c1"), OK_C1, says("hi"), user("b")], [user("b")]),
    ("an undo that was put back is not told", [*WROTE, *undone("k1", "c1", "interrupted"), prompt("b")], [user("go"), says("", "c1"), OK_C1, says("hi"), user("b")], [user("b")]),
    ("an undo that was refused is not told", [*WROTE, undo("a-c1", "u1"), proposed("k1", "refused", "undo", by="u1", turn=None), prompt("b")], [user("go"), says("", "c1"), OK_C1, says("hi"), user("b")], [user("b")]),
]  # fmt: skip


@pytest.mark.spec(189)
@each_row(("script", "expected", "fresh"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_is_sent(script, expected, fresh):
    assert sent(script) == ((SYSTEM, *expected), tuple(fresh))


def test_several_undone_changes_are_one_note():
    script = [*WROTE, *undone("k1", "c1"), *undone("k2", "c1", after=None, path="new.py"), prompt("b")]
    second = "- new.py: the change of your call p-c1 (create_file) was undone; the file is removed again: it was not there before."
    assert sent(script)[1] == (user(f"{HEAD}\n{LINE_C1}\n{second}\n{TAIL}\n\nb"),)


def test_an_undo_alone_asks_no_model():
    state = state_of([*WROTE, *undone("k1", "c1"), go_on()])
    assert due_effects(state, LIMITS) == ()


@pytest.mark.parametrize(
    "script",
    [
        [*WROTE, *undone("k1", "c1"), prompt("b")],
        [*READY, prompt("a"), prompt("b")],
        [*LOST, prompt("b")],
        [*UNATTENDED, go_on()],
        [*CALLING, interrupt(), ended("interrupted"), paused("user"), go_on()],
    ],
)
def test_the_same_is_sent_before_and_after_the_turn_started(script):
    state = state_of(script)
    turn = state.turn.id if state.turn else "new"
    after = fold_turn([started(2, turn), prompt("too late")], state)
    assert model_messages(after, lambda ref: None, 100, str) == model_messages(
        state, lambda ref: None, 100, str
    )


def exchange(number, *calls):
    """One turn: a prompt, a reply with denied calls, a last word."""
    turn = f"turn{number}"
    denied = [proposed(call, "denied", turn=turn) for call in calls]
    return [prompt(f"p{number}"), started(1, turn), reply(*calls, turn=turn), *denied, started(2, turn), reply(round_=2, turn=turn, text=f"r{number}"), ended(turn=turn)]  # fmt: skip


LONG = [*READY, *exchange(1, "a", "b"), *exchange(2, "c"), prompt("now")]


@pytest.mark.spec(11, 12)
@each_row(
    ("limit", "kept"),
    [
        (100, ["p1", "a", "b", "r1", "p2", "c", "r2", "now"]),
        (10, ["p1", "a", "b", "r1", "p2", "c", "r2", "now"]),
        (9, ["a", "b", "r1", "p2", "c", "r2", "now"]),
        (8, ["r1", "p2", "c", "r2", "now"]),
        (7, ["r1", "p2", "c", "r2", "now"]),
        (6, ["r1", "p2", "c", "r2", "now"]),
        (5, ["p2", "c", "r2", "now"]),
        (4, ["c", "r2", "now"]),
        (3, ["r2", "now"]),
        (1, ["now"]),
        (0, ["now"]),
    ],
)
def test_the_window_drops_the_oldest_and_never_parts_a_call_from_its_result(limit, kept):
    (system, *conversation), fresh = sent(LONG, limit=limit)
    assert system == SYSTEM
    assert fresh == (user("now"),)
    shown = [
        message.content or " ".join(call.id for call in message.calls)
        for message in conversation
        if message.role != "tool"
    ]
    assert shown == [{"a": "p-a p-b", "c": "p-c"}.get(name, name) for name in kept if name != "b"]
    results = [message.tool_call_id for message in conversation if message.role == "tool"]
    assert results == [f"p-{name}" for name in kept if name in "abc"]


@pytest.mark.spec(11)
def test_of_more_than_100_messages_the_oldest_fall_out_and_stay_in_the_events():
    script = flat(READY, *([prompt(f"p{n}"), started(1, f"t{n}"), reply(turn=f"t{n}", text=f"r{n}"), ended(turn=f"t{n}")] for n in range(60)), prompt("now"))  # fmt: skip
    state = fold_turn(script)
    conversation, _ = model_messages(state, lambda ref: None, 100, str)
    assert len(conversation) == 101
    assert [m.content for m in conversation[1:3]] == ["r10", "p11"]
    assert [item.prompts[0].text for item in list(reversed(list(state.history)))[:3:2]] == ["p0", "p1"]


def test_the_newest_exchange_is_sent_whole_even_where_it_is_longer_than_the_window():
    script = [*LONG[:-1], prompt("x"), started(1, "t9"), reply("d", "e", turn="t9")]
    script += [proposed("d", "denied", turn="t9"), proposed("e", "denied", turn="t9")]
    conversation, fresh = sent(script, limit=2)
    assert [m.role for m in conversation] == ["system", "assistant", "tool", "tool"]
    assert fresh == conversation[2:]


# --- exact bytes -------------------------------------------------------------------------------------

SEALED = {
    "sealed:prompt": b"the key is hunter2",
    "sealed:reply": "I see héllo".encode(),
    "sealed:arguments": json.dumps({"content": "hunter2"}).encode(),
    "sealed:result": b"hunter2 was read",
    "sealed:broken": b"\xff\xfe",
    "sealed:list": b"[1]",
}


def with_secrets(arguments="sealed:arguments", result="sealed:result"):
    call = ReplyCall(call_id="c1", provider_call_id="p-c1", tool="create_file", arguments={"content": "⟨secret⟩"}, arguments_ref=arguments)  # fmt: skip
    return [
        *READY,
        prompt("the key is ⟨secret⟩", ref="sealed:prompt"),
        started(),
        reply(call, text="I see", ref="sealed:reply"),
        proposed("c1", "allowed"),
        executing("c1"),
        finished("c1", preview="⟨secret⟩ was read", result_ref=result),
    ]


def parts_of(conversation):
    _, asked_for, said, result = conversation
    return [asked_for.content, said.content, dict(said.calls[0].arguments), result.content]


EXACT = ["the key is hunter2", "I see héllo", {"content": "hunter2"}, "hunter2 was read"]
RECORDED = ["the key is ⟨secret⟩", "I see", {"content": "⟨secret⟩"}, "⟨secret⟩ was read"]


@pytest.mark.parametrize(
    ("script", "unseal", "expected"),
    [
        (with_secrets(), SEALED.get, EXACT),
        (with_secrets(), lambda ref: None, RECORDED),
        (with_secrets(), lambda ref: b"\xff", RECORDED),
        (with_secrets(arguments="sealed:list"), SEALED.get, [*EXACT[:2], RECORDED[2], EXACT[3]]),
        (with_secrets(arguments="sealed:result"), SEALED.get, [*EXACT[:2], RECORDED[2], EXACT[3]]),
        (with_secrets(result="sealed:broken"), SEALED.get, [*EXACT[:3], RECORDED[3]]),
        (with_secrets(result=None), SEALED.get, [*EXACT[:3], RECORDED[3]]),
    ],
)
def test_exact_bytes_are_used_where_they_can_be_read(script, unseal, expected):
    conversation, fresh = sent(script, unseal=unseal)
    assert parts_of(conversation) == expected
    assert [m.content for m in fresh] == expected[3:]


def test_what_fell_out_of_the_window_is_not_unsealed():
    read = []

    def unseal(ref):
        read.append(ref)

    script = [
        *with_secrets(),
        started(2),
        reply(round_=2, text="done"),
        ended(),
        prompt("now", ref="sealed:now"),
    ]
    sent(script, unseal=unseal, limit=2)
    assert set(read) == {"sealed:now", "sealed:reply", "sealed:arguments", "sealed:result"}
    read.clear()
    sent(script, unseal=unseal, limit=1)
    assert "sealed:prompt" not in read


def test_the_system_prompt_is_exact_too():
    body = events.SessionCreated(system_prompt="⟨secret⟩", system_prompt_ref="sealed:prompt")
    conversation, _ = sent(
        event(body), status("initializing"), status("ready"), prompt("go"), unseal=SEALED.get
    )
    assert conversation[0] == Message(role="system", content="the key is hunter2")


def test_a_session_without_a_system_prompt_has_no_empty_message():
    conversation, _ = sent(event(events.SessionCreated()), prompt("go"))
    assert conversation == (user("go"),)
    assert state_of(event(events.SessionCreated())).session_id == SESSION


def test_tools_are_named_as_on_the_wire():
    conversation, _ = sent(CALLING, DENIED, wire={"create_file": "createFile"}.__getitem__)
    assert conversation[2].calls[0].tool == "createFile"


def test_a_call_without_an_id_of_the_provider_has_its_own():
    call = ReplyCall(call_id="c1", provider_call_id="", tool="t", malformed="no JSON")
    conversation, _ = sent(CALLING, reply(call), proposed("c1", "refused", reason="no JSON"))
    assert conversation[2].calls == (MessageCall(id="c1", tool="t", arguments={}),)
    assert conversation[3].tool_call_id == "c1"
