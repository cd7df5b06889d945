"""Playing a recording: which exchange answers, and what is said when none can."""

import asyncio
import json

import pytest

from tests.support.tables import each_row
from workbench.config.keys import OLLAMA, OPENAI_COMPATIBLE, PROVIDER_KINDS
from workbench.domain.messages import ExchangePart, FailurePart, Message, ModelRequest, TextPart, ToolCallPart
from workbench.providers.base import Endpoint, create_client
from workbench.providers.recording import (
    ExchangeCondition,
    RecordedProvider,
    is_condition_met,
    load_recording,
)
from workbench.providers.server_provider import ServerProvider


def provider(tmp_path, *exchanges, sleep=asyncio.sleep):
    path = tmp_path / "recording.json"
    path.write_text(json.dumps({"recording": 1, "exchanges": list(exchanges)}))
    return RecordedProvider(load_recording(path), sleep)


def says(text, **more):
    return {"reply": [{"text": text}], **more}


def result(call="c1", outcome="succeeded", content="ok"):
    return Message(role="tool", tool_call_id=call, outcome=outcome, content=content)


def prompt(text):
    return Message(role="user", content=text)


def request(*fresh, used=()):
    return ModelRequest(
        session_id="s", model="m", messages=fresh, fresh=fresh, used_exchanges=frozenset(used)
    )


def play(playing, asked):
    async def collect():
        return [found async for found in playing.reply(asked)]

    return asyncio.run(collect())


@pytest.mark.spec(165)
def test_a_session_is_played_without_a_model(tmp_path):
    call = {"tool_call": {"id": "c1", "name": "read_file", "arguments": {"path": "a"}}}
    playing = provider(tmp_path, {"reply": [{"text": "Look."}, call]}, says("Done."))
    assert play(playing, request(prompt("go"))) == [
        ExchangePart(exchange=0),
        TextPart(text="Look."),
        ToolCallPart(id="c1", name="read_file", arguments='{"path": "a"}'),
    ]
    assert play(playing, request(result(), used={0})) == [ExchangePart(exchange=1), TextPart(text="Done.")]


@pytest.mark.parametrize(
    ("fresh", "used", "expected"),
    [
        (result(outcome="rejected"), (), 0),
        (result(outcome="expired"), (), 1),
        (result("c2", "rejected"), (), 4),
        (prompt("tidy up"), (), 2),
        (prompt("say more now"), (0, 1), 3),
        (result(outcome="rejected"), (0,), 4),
        (result(outcome="rejected"), (0, 4, 3), 5),
    ],
)
def test_the_next_unused_exchange_whose_condition_holds_answers(tmp_path, fresh, used, expected):
    playing = provider(
        tmp_path,
        says("a", when={"tool_result": {"id": "c1", "outcome": "rejected"}}),
        says("b", when={"tool_result": {"outcome": "expired"}}),
        says("c", when={"prompt_contains": "tidy"}),
        says("d", when={"prompt_contains": "more"}),
        says("e"),
        says("f"),
    )
    assert play(playing, request(fresh, used=used))[0] == ExchangePart(exchange=expected)


FRESH = (
    result("c1", "partial", "hunks 1 and 3 applied, 2 refused: too wide"),
    result("c2", "failed"),
    prompt("and be quick"),
)

MATCHES = [
    (ExchangeCondition(has_tool_result=True), True),
    (ExchangeCondition(has_tool_result=True, tool_result_id="c1", outcome="partial"), True),
    (ExchangeCondition(has_tool_result=True, tool_result_id="c2", outcome="partial"), False),
    (ExchangeCondition(has_tool_result=True, tool_result_id="c3"), False),
    (ExchangeCondition(has_tool_result=True, outcome="failed"), True),
    (ExchangeCondition(has_tool_result=True, contains="2 refused"), True),
    (ExchangeCondition(has_tool_result=True, tool_result_id="c2", contains="2 refused"), False),
    (ExchangeCondition(has_tool_result=True, contains="quick"), False),
    (ExchangeCondition(prompt_contains="quick"), True),
    (ExchangeCondition(prompt_contains="refused"), False),
    (ExchangeCondition(has_tool_result=True, outcome="failed", prompt_contains="slow"), False),
    (ExchangeCondition(has_tool_result=True, outcome="rejected", prompt_contains="quick"), False),
]


@each_row(("match", "expected"), MATCHES)
def test_conditions_look_at_what_was_sent_since_the_last_reply(match, expected):
    assert is_condition_met(match, FRESH) is expected


@pytest.mark.parametrize(
    "outcome",
    [
        "succeeded",
        "failed",
        "rejected",
        "partial",
        "expired",
        "denied",
        "refused",
        "cancelled",
        "interrupted",
    ],
)
def test_every_outcome_can_be_matched(tmp_path, outcome):
    playing = provider(tmp_path, says("hit", when={"tool_result": {"outcome": outcome}}), says("miss"))
    assert play(playing, request(result(outcome=outcome)))[1] == TextPart(text="hit")


def test_a_failed_expectation_names_both_sides(tmp_path):
    expect = {"tool_result": {"id": "c1", "outcome": "succeeded", "contains": "3 lines"}}
    first, failure = play(
        provider(tmp_path, says("Done.", expect=expect)), request(result(outcome="rejected"))
    )
    assert first == ExchangePart(exchange=0)
    assert isinstance(failure, FailurePart)
    assert failure.code == "recording_mismatch"
    assert 'expected a result of call c1 that is succeeded containing "3 lines"' in failure.message
    assert 'was sent the result of call c1 that is rejected: "ok"' in failure.message
    assert "line 1" in failure.remedy


@pytest.mark.parametrize(
    ("used", "fresh", "words"),
    [
        ((0, 1), prompt("x"), "recording exhausted (2 of 2)"),
        ((0,), prompt("x"), 'recording exhausted (1 of 2); no other exchange is for the prompt "x"'),
        ((0, 7), prompt("x"), 'recording exhausted (1 of 2); no other exchange is for the prompt "x"'),
    ],
)
def test_an_exhausted_recording_says_how_much_was_used(tmp_path, used, fresh, words):
    playing = provider(tmp_path, says("a"), says("b", when={"prompt_contains": "never"}))
    [failure] = play(playing, request(fresh, used=used))
    assert (failure.code, failure.message) == ("recording_exhausted", words)


def test_a_recorded_error_is_a_failure_after_what_came_before(tmp_path):
    error = {"error": {"status": 429, "retry_after_s": 1, "message": "slow down"}}
    parts = play(provider(tmp_path, {"reply": [{"text": "I "}, error]}), request(prompt("x")))
    assert parts == [
        ExchangePart(exchange=0),
        TextPart(text="I "),
        FailurePart(code="http_429", message="slow down", status=429, retry_after_s=1),
    ]


def test_waiting_goes_through_the_sleep_that_was_given(tmp_path):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    reply = {"reply": [{"text": "a", "after_ms": 30}, {"text": "b"}, {"text": "c", "after_ms": 1500}]}
    assert len(play(provider(tmp_path, reply, sleep=sleep), request(prompt("x")))) == 4
    assert waited == [0.03, 1.5]


def test_closing_the_reply_while_it_waits_ends_the_wait(tmp_path):
    ended = []

    async def sleep(seconds):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(seconds)

    async def cancel():
        reply = provider(tmp_path, {"reply": [{"text": "a", "after_ms": 1}]}, sleep=sleep).reply(request())
        assert await anext(reply) == ExchangePart(exchange=0)
        waiting = asyncio.ensure_future(anext(reply))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await reply.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(reply)

    asyncio.run(cancel())
    assert ended == [0.001]


@each_row("kind", [kind for kind in PROVIDER_KINDS.values() if kind.has_server])
def test_every_kind_with_a_server_names_its_client(kind):
    client = create_client(Endpoint(name="x", base_url="http://x.example", kind=kind))
    assert isinstance(client, ServerProvider)
    assert f"{type(client).__module__}:{type(client).__name__}" == f"workbench.providers.{kind.client}"


def test_a_recording_lists_its_own_model_and_is_no_model_to_probe(tmp_path):
    recorded = provider(tmp_path, says("a"))
    assert recorded.endpoint is None
    assert [model.id for model in asyncio.run(recorded.list_models(1))] == [recorded.recording.model]
    probed = asyncio.run(recorded.probe("m", 1))
    assert "plays a recording" in probed.failure.message


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("http://localhost:11434", "http://localhost:11434"),
        ("http://localhost:11434/", "http://localhost:11434"),
        ("http://gateway/ollama/v1/", "http://gateway/ollama"),
    ],
)
def test_ollama_is_asked_without_the_path_of_the_openai_interface(address, asked):
    assert OLLAMA.server_url(address) == asked
    assert OPENAI_COMPATIBLE.server_url(address) == address.rstrip("/")
