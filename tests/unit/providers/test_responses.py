"""OpenAI's Responses: the official client and ours read the same bytes alike, and what is sent is what it allows."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.chat_server import Answer, ChatServer, error, whole
from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from tests.unit.providers.wires import (
    ASKED,
    CALLS,
    LETTERS,
    OBJECT,
    ask,
    both,
    call_item,
    client_module,
    cut,
    item_events,
    parts_of,
    provider,
    reasoning_item,
    response_end,
    response_event,
    response_start,
    summary,
    text_item,
)
from workbench.domain.messages import Message, OpaquePart, StopPart, UsagePart
from workbench.domain.values import Usage
from workbench.providers.openai_responses import input_items

pydantic = pytest.importorskip("pydantic")


def answered(*items, **end):
    """A whole stream of items, each in one piece."""
    body = response_start()
    for index, item in enumerate(items):
        pieces = {
            "message": lambda item: [part["text"] for part in item["content"]],
            "function_call": lambda item: [item["arguments"]],
            "reasoning": lambda item: [part["text"] for part in item["summary"]],
        }[item["type"]](item)
        body += item_events(index, item, pieces)
    return Answer([(body + response_end(*items, **end)).encode()])


@st.composite
def response_streams(draw):
    body, items = response_start(), []

    def add(item, pieces):
        nonlocal body
        body += item_events(len(items), item, pieces)
        items.append(item)

    if thoughts := draw(st.lists(LETTERS.filter(bool), max_size=3)):
        add(reasoning_item(*thoughts), thoughts)
    texts = [*draw(st.lists(LETTERS, max_size=3)), "."]
    add(text_item("".join(texts), len(items)), texts)
    for number in range(draw(st.integers(0, 2))):
        arguments = json.dumps({"path": draw(LETTERS)}, ensure_ascii=draw(st.booleans()))
        cuts = sorted(draw(st.lists(st.integers(0, len(arguments)), max_size=3)))
        pieces = [arguments[a:b] for a, b in zip([0, *cuts], [*cuts, len(arguments)], strict=True)]
        add(call_item(f"tool_{number}", arguments, len(items)), pieces)
    counts = {"sent": draw(st.integers(0, 9)), "received": draw(st.integers(0, 9))}
    return cut(draw, body + response_end(*items, **counts))


async def official(base_url):
    """Return what the client's own helper makes of a stream."""
    client = client_module("openai").AsyncOpenAI(
        base_url=f"{base_url}/v1", api_key="none", max_retries=0, timeout=PATIENCE
    )
    async with client, client.responses.stream(model="m", input="hi") as read:
        found = await read.get_final_response()
    thoughts = [part.text for item in found.output if item.type == "reasoning" for part in item.summary]
    calls = [item for item in found.output if item.type == "function_call"]
    return (
        found.output_text,
        "\n\n".join(thoughts),
        [(item.call_id, item.name, json.loads(item.arguments)) for item in calls],
        (found.usage.input_tokens, found.usage.output_tokens),
    )


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(response_streams())
def test_a_response_reads_as_openais_client_reads_it(pieces):
    mine, theirs = both("responses", [Answer(pieces), Answer(pieces)], official)
    assert mine == theirs


def test_what_is_sent_is_what_the_official_types_allow():
    more = {"key": lambda: "made-up-key", "thinking_tokens": 1024}
    parts, (asked,) = ask("responses", answered(text_item("ok")), request=ASKED, **more)
    assert summary(parts) == ("ok", "", [], (3, 7))
    assert (asked.path, asked.headers["authorization"]) == ("/v1/responses", "Bearer made-up-key")
    body = asked.json
    types = client_module("openai").types.responses.response_create_params.ResponseCreateParamsStreaming
    pydantic.TypeAdapter(types).validate_python(body)
    assert (body["stream"], body["store"], body["instructions"]) == (True, False, "You are careful.")
    assert body["include"] == ["reasoning.encrypted_content"]
    assert [item.get("role") or item["type"] for item in body["input"]] == [
        "user", "function_call", "function_call", "function_call_output", "function_call_output",
        "user", "assistant", "function_call", "function_call_output",
    ]  # fmt: skip
    asked_ids = [item["call_id"] for item in body["input"] if item["type"] == "function_call"]
    answered_ids = [item["call_id"] for item in body["input"] if item["type"] == "function_call_output"]
    assert asked_ids == answered_ids and len(set(asked_ids)) == 3
    assert {tool["strict"] for tool in body["tools"]} == {False}


def test_no_thoughts_are_asked_for_where_the_setting_says_none():
    _, (asked,) = ask("responses", answered(text_item("ok")), thinking_tokens=0)
    assert not {"reasoning", "include"} & set(asked.json)


def test_sealed_reasoning_comes_back_unchanged_and_only_to_its_kind():
    item = reasoning_item("hm ü", sealed="c2VhbGVk")
    parts, _ = ask("responses", answered(item, call_item("read_file", '{"path": "a"}', 1)))
    (opaque,) = (part.content for part in parts if isinstance(part, OpaquePart))
    said = Message(role="assistant", calls=CALLS[:1], opaque=opaque, opaque_kind="openai-responses")
    sent = list(input_items((Message(role="user", content="hi"), said)))
    assert [one["type"] for one in sent] == ["message", "reasoning", "function_call"]
    assert sent[1] == item
    other = list(input_items((replace(said, opaque_kind="anthropic"),)))
    assert [one["type"] for one in other] == ["function_call"]
    parts, _ = ask("responses", answered(item, text_item("done", 1)))
    assert not [part for part in parts if isinstance(part, OpaquePart)], "only calls go on with it"


REFUSED = {
    "temperature": "Unsupported parameter: 'temperature' is not supported with this model.",
    "reasoning": "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
    "include": "Encrypted content is not supported with this model.",
}


def test_what_a_model_does_not_know_is_left_out_one_by_one():
    refusals = [error("400 Bad Request", said) for said in REFUSED.values()]
    sampling = {"sampling": provider("responses", OPEN).endpoint.with_sampling(temperature=0.2).sampling}
    opaque = json.dumps([reasoning_item("hm")])
    said = Message(role="assistant", calls=CALLS[:1], opaque=opaque, opaque_kind="openai-responses")
    request = replace(ASKED, messages=(Message(role="user", content="hi"), said))
    parts, asked = ask("responses", *refusals, answered(text_item("ok")), request=request, **sampling)
    assert summary(parts)[0] == "ok"
    left = [{"temperature", "reasoning", "include"} & set(one.json) for one in asked]
    assert left == [{"temperature", "reasoning", "include"}, {"reasoning", "include"}, {"include"}, set()]
    kinds = [[item["type"] for item in one.json["input"]] for one in asked]
    assert kinds[2] == ["message", "reasoning", "function_call"]
    assert kinds[3] == ["message", "function_call"], "sealed reasoning is not sent to who cannot read it"


class OPEN:
    base_url = "http://127.0.0.1:1/v1"


CALL = call_item("read_file", '{"path": "a"}')
WHOLE = {**OBJECT, "status": "completed", "output": [text_item("a"), CALL]}
WITHOUT_PLACES = (
    response_start()
    + "".join(
        f"data: {json.dumps(one)}\n\n"
        for one in (
            {"type": "response.output_item.added", "item": {**CALL, "arguments": ""}},
            {"type": "response.function_call_arguments.delta", "item_id": "fc_0", "delta": '{"path"'},
            {"type": "response.function_call_arguments.delta", "item_id": "fc_0", "delta": ': "a"}'},
            {"type": "response.output_item.done", "item": CALL},
        )
    )
    + response_end(CALL)
)
ENDS_WITH_OTHER_ID = (
    response_start()
    + item_events(0, text_item("a"), "a")
    + response_end({**text_item("a"), "id": "msg_other"})
)
SHAPES = {
    "in one piece": (whole(WHOLE), ("a", [("call_0", "read_file", {"path": "a"})])),
    "items without places, as llama.cpp": (
        Answer([WITHOUT_PLACES.encode()]), ("", [("call_0", "read_file", {"path": "a"})]),
    ),
    "another id at the end": (Answer([ENDS_WITH_OTHER_ID.encode()]), ("a", [])),
    "only whole at the end": (
        Answer([(response_start() + response_end(text_item("a"), CALL)).encode()]),
        ("a", [("call_0", "read_file", {"path": "a"})]),
    ),
    "a refusal": (
        Answer([(response_event("refusal.delta", output_index=0, delta="no") + response_end()).encode()]),
        ("no", []),
    ),
    "what is not known": (
        Answer([(response_event("web_search_call.searching", output_index=0) + item_events(1, text_item("a"), "a")
                 + response_end()).encode()]),
        ("a", []),
    ),
}  # fmt: skip


@each_row("shape", SHAPES, ids=str)
def test_shapes_of_a_response(shape):
    answer, (text, calls) = SHAPES[shape]
    found = summary(ask("responses", answer)[0])
    assert (found[0], found[2]) == (text, calls)


FAULTS = {
    "failed": ({"error": {"code": "server_error", "message": "an internal error"}}, "http_500", True),
    "limited": ({"error": {"code": "rate_limit_exceeded", "message": "slow"}}, "rate_limited", True),
    "too long": (
        {"error": {"code": "context_length_exceeded", "message": "long"}},
        "context_overflow",
        False,
    ),
    "no money": ({"error": {"code": "insufficient_quota", "message": "no"}}, "quota_spent", False),
}


@each_row("fault", FAULTS, ids=str)
def test_a_response_that_failed_says_why(fault):
    more, code, is_recoverable = FAULTS[fault]
    failed = response_event("failed", response={**OBJECT, "status": "failed", **more})
    for answer in (
        Answer([(response_start() + failed).encode()]),
        whole({**OBJECT, "status": "failed", **more}),
    ):
        found = summary(ask("responses", answer)[0])
        assert (found.code, found.recoverable) == (code, is_recoverable)


def test_a_response_that_was_cut_says_by_what_and_counts_what_was_cached():
    details = {"incomplete_details": {"reason": "max_output_tokens"}}
    parts, _ = ask("responses", answered(text_item("a"), kind="incomplete", cached=2, **details))
    assert StopPart(reason="length") in parts
    (usage,) = (part.usage for part in parts if isinstance(part, UsagePart))
    assert usage == Usage(input_tokens=3, output_tokens=7, cache_read_tokens=2)


def test_models_and_their_context_are_asked_as_of_any_server_of_openai():
    props = whole({"default_generation_settings": {"n_ctx": 4096}})
    with ChatServer(whole({"data": [{"id": "m"}]}), props) as server:
        asked = provider("responses", server)
        (model,) = asyncio.run(asked.list_models(5))
        assert (model.id, asyncio.run(asked.context_tokens("m", 5))) == ("m", 4096)
        assert [one.path for one in server.asked] == ["/v1/models", "/props"]


def test_more_calls_than_a_reply_may_have_are_said():
    items = [call_item("read_file", "{}", index) for index in range(70)]
    parts, _ = ask("responses", answered(*items))
    assert StopPart(reason="calls") in parts and len(summary(parts)[2]) == 64


def test_half_a_character_at_the_end_is_replaced():
    body = response_event("output_text.delta", output_index=0, delta="a") + (
        'data: {"type": "response.output_text.delta", "output_index": 0, "delta": "\\ud83d"}\n\n'
    )
    parts = asyncio.run(parts_with(body + response_end()))
    assert summary(parts)[0] == "a\ufffd"


async def parts_with(body):
    with ChatServer(Answer([body.encode()])) as server:
        return await parts_of(provider("responses", server))
