"""A long conversation becomes a summary: asked for, by itself, failing, stopped, killed, forked, replayed."""

import json

import pytest
from msgspec.structs import replace

from tests.support.chat_server import Answer, ChatServer, whole
from tests.support.stage import USER, call, exchange, recording, text
from workbench.domain import events
from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.host import session_requests
from workbench.host.fork import default_fork_plan, fork_session
from workbench.host.session_provider import background_provider_of
from workbench.host.session_requests import SessionRefused
from workbench.journal.leases import lease_guard, take_lease

SMALL = {
    "providers": {"recorded": {"kind": "recorded", "num_ctx": 1000}}, "limits": {"compact_percent": 80},
}  # fmt: skip
SUMMARY = "The tests of a.txt were asked for; nothing is done yet."


def user_says(words):
    return {"prompt_contains": words}


def used(tokens):
    return {"usage": {"input_tokens": tokens, "output_tokens": 10}}


def dies_while_it_asks(stage):
    """Take the lease as a driver, tell that the model is asked, and be gone."""
    lease = take_lease(stage.journal, stage.session_id, stage.driver())
    body = events.ProgressReported(message="asks", sent=10)
    host = Actor(kind="host", pid=1)
    stage.journal.append([stage.journal.event(body, stage.session_id, host)], guard=lease_guard(lease))
    stage.lock.close()


def compact(stage, words=""):
    session_requests.compact_session(stage.journal, stage.session(), words, USER)


def test_a_human_asks_and_the_next_prompt_is_answered_from_the_summary(staged):
    stage = staged(recording(
        exchange(text("Hello.")),
        exchange(text(SUMMARY), used(400), expect=user_says("keep the names")),
        exchange(text("I know."), expect=user_says(SUMMARY)),
    )).begin("say hello")  # fmt: skip
    stage.drive()
    compact(stage, "keep the names")
    assert stage.drive().is_idle
    (made,) = stage.bodies(events.ConversationCompacted)
    assert (made.summary, made.is_asked, made.usage.input_tokens) == (SUMMARY, True, 400)
    assert stage.session().usage.input_tokens == 400, "the summary is counted"
    stage.say("what do you know?")
    assert stage.drive().last_outcome == "done"
    assert stage.bodies(events.ErrorRaised) == []


def test_by_itself_between_two_calls_of_a_turn_and_no_call_is_cut(staged):
    stage = staged(recording(
        exchange(call("c1", "read_file", path="a.txt"), used(900)),
        exchange(text(SUMMARY), expect=user_says("TOOL read_file a.txt: succeeded")),
        exchange(text("Done."), expect=user_says(SUMMARY)),
    ), files={"a.txt": "b"}, config=SMALL).trust().begin()  # fmt: skip
    assert stage.drive().last_outcome == "done"
    assert stage.bodies(events.ErrorRaised) == []
    kinds = stage.kinds()
    assert kinds.index("call.finished") < kinds.index("conversation.compacted") < kinds.index("turn.ended")
    (made,) = stage.bodies(events.ConversationCompacted)
    assert (made.is_asked, made.tokens) == (False, 910)
    rounds = [body.round for body in stage.bodies(events.TurnStarted)]
    assert rounds == [1, 2] and len({e.turn_id for e in stage.journal.events(stage.session_id)} - {None}) == 1


def ollama_says(words, tokens, *calls):
    """Return a reply of Ollama to so many tokens."""
    message = {"role": "assistant", "content": words, "tool_calls": [
        {"function": {"name": name, "arguments": arguments}} for name, arguments in calls
    ]}  # fmt: skip
    reply = {"message": message, "done": True, "done_reason": "stop"}
    said = json.dumps({**reply, "prompt_eval_count": tokens, "eval_count": 10}).encode()
    return Answer([said + b"\n"], headers={"Content-Type": "application/x-ndjson"})


def test_by_itself_at_the_context_that_an_ollama_server_tells_of_its_model(staged):
    """8,192 tokens, and not the 32,768 that such a server is asked for at most."""
    shown = {"/api/show": whole({"model_info": {"qwen.context_length": 8_192}})}
    answers = (
        ollama_says("", 7_000, ("read_file", {"path": "a.txt"})),
        ollama_says(SUMMARY, 7_100),
        ollama_says("Done.", 300),
    )
    with ChatServer(*answers, routes=shown | {"/api/ps": whole({})}) as server:
        provider = {"kind": "ollama", "base_url": server.base_url.removesuffix("/v1"), "model": "qwen"}
        config = {"default_provider": "o", "providers": {"o": provider}}
        stage = staged(recording(exchange(text("unused"))), files={"a.txt": "b"}, config=config)
        stage.trust().begin()
        chosen = events.SessionChanged(provider="o", model="qwen")
        stage.journal.append([stage.journal.event(chosen, stage.session_id, USER)])
        assert stage.drive().last_outcome == "done"
        asked = [one.json["options"]["num_ctx"] for one in server.asked if one.path == "/api/chat"]
    assert asked == [8_192] * 3
    (made,) = stage.bodies(events.ConversationCompacted)
    assert (made.is_asked, made.tokens) == (False, 7_010)
    assert stage.bodies(events.ErrorRaised) == []


@pytest.mark.parametrize(
    ("limits", "tokens"), [({"compact_percent": 0}, 900), ({"compact_percent": 80}, 700)], ids=["off", "room"]
)
def test_not_by_itself_while_there_is_room_or_where_it_is_off(staged, limits, tokens):
    stage = staged(
        recording(exchange(call("c1", "read_file", path="a.txt"), used(tokens)), exchange(text("Done."))),
        files={"a.txt": "b"}, config={**SMALL, "limits": limits},
    ).trust().begin()  # fmt: skip
    assert stage.drive().last_outcome == "done" and stage.bodies(events.ConversationCompacted) == []


@pytest.mark.parametrize(
    "reply",
    [
        exchange({"stop": "length"}),
        exchange(text("half"), {"stop": "length"}),
        exchange({"error": {"message": "no"}}),
    ],
    ids=["empty", "cut", "error"],
)
def test_one_that_fails_leaves_the_conversation_as_it_was_and_says_so(staged, reply):
    stage = staged(recording(
        exchange(call("c1", "read_file", path="a.txt"), used(900)),
        reply,
        exchange(text("Done."), expect={"tool_result": {"id": "c1", "outcome": "succeeded"}}),
    ), files={"a.txt": "b"}, config=SMALL).trust().begin()  # fmt: skip
    assert stage.drive().last_outcome == "done"
    assert stage.bodies(events.ConversationCompacted) == []
    (error,) = [e for e in stage.bodies(events.ErrorRaised) if e.code == "compaction_failed"]
    assert error.message.startswith("the conversation was not compacted: ") and "/compact" in error.remedy


def test_nothing_to_compact_is_refused(staged):
    stage = staged(recording(exchange(text("Hello.")))).begin()
    with pytest.raises(SessionRefused, match="Nothing was said"):
        compact(stage)


def test_a_driver_that_died_in_it_asks_no_model_when_it_comes_back(staged):
    stage = staged(recording(exchange(text("Hello.")), exchange(text(SUMMARY)))).begin()
    stage.drive()
    compact(stage)
    dies_while_it_asks(stage)
    assert stage.drive().is_idle
    assert stage.bodies(events.ConversationCompacted) == []


def test_a_fork_takes_the_summary_over(staged):
    stage = staged(recording(
        exchange(text("Hello.")), exchange(text(SUMMARY)), exchange(text("I know."), expect=user_says(SUMMARY)),
    )).begin("say hello")  # fmt: skip
    stage.drive()
    compact(stage)
    stage.drive()
    source = stage.session()
    assert isinstance(source, Session)
    stage.session_id = fork_session(stage.journal, source, default_fork_plan(source), USER)
    stage.say("go on")
    assert stage.drive().last_outcome == "done" and stage.bodies(events.ErrorRaised) == []


def test_a_stop_ends_it_and_the_conversation_is_as_it_was(staged):
    """Whoever presses ctrl+c while a summary is written waits for nothing and loses nothing."""
    stage = staged(recording(
        exchange(text("Hello.")), exchange({"after_ms": 60_000, "text": SUMMARY}), exchange(text("I know.")),
    )).begin()  # fmt: skip
    stage.drive()
    compact(stage)
    session_id, asked = stage.session_id, []

    def until(progress):
        if "progress.reported" in stage.kinds()[-2:] and not asked:
            asked.append(session_requests.interrupt_session(stage.journal, session_id, USER))
        return progress.is_resting

    context = stage.context
    stage.context = lambda: replace(context(), provider=background_provider_of)  # it waits for real
    assert stage.drive(until).is_idle and asked
    assert stage.bodies(events.ConversationCompacted) == []
    (error,) = stage.bodies(events.ErrorRaised)
    assert error.message == "the conversation was not compacted: it was stopped"
    stage.say("go on")
    assert stage.drive().last_outcome == "done"
