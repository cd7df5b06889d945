"""Anthropic's, Ollama's and Azure's own protocols: official clients and ours read the same bytes alike."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.chat_server import Answer, ChatServer, Stall, chunk, error, event, said, whole
from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from tests.unit.providers.wires import (
    ASKED,
    CALLS,
    HELLO,
    KINDS,
    LETTERS,
    LINES,
    START,
    TALK,
    anthropic_error,
    ask,
    block,
    both,
    call_block,
    client_module,
    cut,
    line,
    message_end,
    message_event,
    message_start,
    parts_of,
    provider,
    summary,
    text_block,
    thinking_block,
)
from workbench.config.keys import OLLAMA
from workbench.domain.messages import (
    FailurePart,
    Message,
    ModelRequest,
    OpaquePart,
    ProgressPart,
    StopPart,
    TextPart,
    UsagePart,
)
from workbench.domain.values import Usage
from workbench.providers.anthropic_messages import conversation
from workbench.providers.base import Endpoint, KeyMissing
from workbench.providers.call_ids import unique_call_ids
from workbench.providers.ollama_chat import keep_alive_value
from workbench.providers.openai_compatible import OpenAICompatible

# --- replies of any shape, cut anywhere --------------------------------------------------------------


@st.composite
def message_streams(draw):
    body, index = (
        message_start(cache_read_input_tokens=draw(st.integers(0, 5)), cache_creation_input_tokens=2),
        0,
    )
    if draw(st.booleans()):
        body, index = body + thinking_block(0, draw(LETTERS), "c2ln"), 1
    body += text_block(index, *draw(st.lists(LETTERS, max_size=3)), ".")
    body += message_event("ping")
    for number in range(draw(st.integers(0, 2))):
        arguments = json.dumps({"path": draw(LETTERS)}, ensure_ascii=draw(st.booleans()))
        cuts = sorted(draw(st.lists(st.integers(0, len(arguments)), max_size=3)))
        body += call_block(index + 1 + number, f"tool_{number}", arguments, cuts)
    return cut(draw, body + message_end(output=draw(st.integers(0, 9))))


@st.composite
def line_streams(draw):
    # The official client takes U+2028 and U+0085 for line ends, which JSON does not; so they are escaped.
    lines = [
        {"message": {"role": "assistant", "content": draw(LETTERS), "thinking": draw(LETTERS)}, "done": False}
    ]
    lines += [
        {"message": {"role": "assistant", "content": text}, "done": False} for text in draw(st.lists(LETTERS))
    ]
    calls = [
        {"function": {"name": f"tool_{n}", "arguments": {"path": draw(LETTERS)}}}
        for n in range(draw(st.integers(0, 2)))
    ]
    if calls:
        lines.append({"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": False})
    lines.append({
        "message": {"role": "assistant", "content": "."}, "done": True, "done_reason": "stop",
        "prompt_eval_count": draw(st.integers(1, 9)), "eval_count": draw(st.integers(1, 9)),
    })  # fmt: skip
    whole_lines = [{"model": "m", "created_at": "2026-11-21T12:00:00Z", **line} for line in lines]
    return cut(draw, "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in whole_lines))


async def official_message(base_url):
    async with (
        client_module("anthropic").AsyncAnthropic(
            base_url=base_url, api_key="none", max_retries=0, timeout=PATIENCE
        ) as client,
        client.messages.stream(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        ) as stream,
    ):
        found = await stream.get_final_message()
    used = found.usage
    sent = used.input_tokens + (used.cache_read_input_tokens or 0) + (used.cache_creation_input_tokens or 0)
    return (
        "".join(part.text for part in found.content if part.type == "text"),
        "".join(part.thinking for part in found.content if part.type == "thinking"),
        [(part.id, part.name, part.input) for part in found.content if part.type == "tool_use"],
        (sent, used.output_tokens),
    )


async def official_lines(base_url):
    client = client_module("ollama").AsyncClient(host=base_url, timeout=PATIENCE)
    text, thinking, calls, counts = "", "", [], None
    async for found in await client.chat(
        model="m", messages=[{"role": "user", "content": "hi"}], stream=True
    ):
        text += found.message.content or ""
        thinking += found.message.thinking or ""
        calls += [
            (call.function.name, dict(call.function.arguments)) for call in found.message.tool_calls or ()
        ]
        counts = (found.prompt_eval_count, found.eval_count) if found.done else counts
    return text, thinking, [(f"call_{n}", *call) for n, call in enumerate(calls, 1)], counts


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(message_streams())
def test_a_message_reads_as_anthropics_client_reads_it(pieces):
    mine, official = both("anthropic", [Answer(pieces), Answer(pieces)], official_message)
    assert mine == official


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(line_streams())
def test_lines_read_as_ollamas_client_reads_them(pieces):
    mine, official = both(
        "ollama", [Answer(pieces, headers=LINES), Answer(pieces, headers=LINES)], official_lines
    )
    assert mine == official


# --- what is sent ------------------------------------------------------------------------------------


def test_what_anthropic_is_sent_is_what_its_types_allow():
    pydantic = pytest.importorskip("pydantic")
    parts, (asked,) = ask("anthropic", Answer([(message_start() + text_block(0, "ok") + message_end()).encode()]), request=ASKED, key=lambda: "sk-ant-made-up")  # fmt: skip
    assert summary(parts)[0] == "ok"
    assert asked.path == "/v1/messages"
    assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == (
        "sk-ant-made-up",
        "2023-06-01",
    )
    assert "authorization" not in {name.lower() for name in asked.headers}
    body = asked.json
    pydantic.TypeAdapter(
        client_module("anthropic").types.message_create_params.MessageCreateParamsStreaming
    ).validate_python(body)
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    results = body["messages"][2]["content"]
    assert [one["type"] for one in results] == ["tool_result", "tool_result", "text"], (
        "one message has all results"
    )
    assert (results[0].get("is_error"), results[1]["is_error"]) == (None, True)
    ids = [
        one["id"] for message in body["messages"] for one in message["content"] if one["type"] == "tool_use"
    ]
    answered = [
        one["tool_use_id"]
        for message in body["messages"]
        for one in message["content"]
        if one["type"] == "tool_result"
    ]
    assert ids == answered and len(set(ids)) == 3
    assert all(
        set(one) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") for one in ids
    )
    cached = [one for message in body["messages"] for one in message["content"] if "cache_control" in one]
    assert len(cached) == 2 and "cache_control" in body["system"][0]


def test_a_conversation_whose_beginning_is_left_out_begins_with_the_user():
    sent = conversation((Message(role="assistant", content="yes"), Message(role="user", content="go")))
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]


def test_what_ollama_is_sent_is_what_its_types_allow():
    line = {
        "model": "m",
        "message": {"role": "assistant", "content": "ok"},
        "done": True,
        "done_reason": "stop",
    }
    parts, (asked,) = ask(
        "ollama", Answer([json.dumps(line).encode()], headers=LINES), request=ASKED, thinking_tokens=0
    )
    assert summary(parts)[0] == "ok"
    assert asked.path == "/api/chat"
    body = asked.json
    assert (body["options"]["num_ctx"], body["truncate"], body["think"]) == (4096, False, False)
    client_module("ollama")._types.ChatRequest(
        **{name: value for name, value in body.items() if name != "truncate"}
    )
    assert [message.get("tool_name") for message in body["messages"] if message["role"] == "tool"] == [
        "read_file"
    ] * 3
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == {"path": "a.py"}


def test_ollama_is_asked_for_the_models_own_context_up_to_a_bound():
    show = whole({"model_info": {"llama.context_length": 131_072, "llama.block_count": 3}})
    line = {"message": {"role": "assistant", "content": "ok"}, "done": True, "done_reason": "stop"}
    _, asked = ask("ollama", show, Answer([json.dumps(line).encode()], headers=LINES), context_tokens=None)
    assert [one.path for one in asked] == ["/api/show", "/api/chat"]
    assert asked[1].json["options"]["num_ctx"] == 32_768


@each_row("said", [whole({"error": "no"}, 500), whole({"model_info": {}})], ids=["refused", "nothing"])
def test_ollama_is_asked_for_a_context_even_where_it_does_not_tell_the_models_own(said):
    reply = line({"message": {"role": "assistant", "content": "ok"}, "done": True, "done_reason": "stop"})
    _, asked = ask("ollama", said, reply, context_tokens=None)
    assert [one.json["options"]["num_ctx"] for one in asked if one.path == "/api/chat"] == [32_768]


@each_row("case", ["deployment", "v1", "token"], ids=str)
def test_azure_is_asked_where_and_with_what_it_wants(case):
    token = "eyJhbGciOiJub25lIn0.eyJleHAiOjF9.made-up"
    more = {
        "deployment": {"api_version": "2024-10-21", "key": lambda: "made-up-key", "path": ""},
        "v1": {"key": lambda: "made-up-key", "path": "/openai/v1"},
        "token": {"key": lambda: token, "path": "/openai/v1"},
    }[case]
    filtered = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": []}
    answer = said("ok")
    answer.pieces.insert(0, event(filtered))
    parts, (asked,) = ask("azure", answer, **more)
    assert summary(parts)[0] == "ok"
    path = "/openai/deployments/m/chat/completions?api-version=2024-10-21"
    assert asked.path == (path if case == "deployment" else "/openai/v1/chat/completions")
    headers = {name.lower(): value for name, value in asked.headers.items()}
    sent = (headers.get("api-key"), headers.get("authorization"))
    assert sent == ((None, f"Bearer {token}") if case == "token" else ("made-up-key", None))


def test_azures_client_asks_the_same_addresses():
    async def official(**named):
        async with client_module("openai").AsyncAzureOpenAI(api_key="k", max_retries=0, **named) as client:
            async for _ in await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}], stream=True
            ):
                pass

    with ChatServer(said("a"), said("a")) as server:
        root = server.base_url.removesuffix("/v1")
        asyncio.run(official(azure_endpoint=root, api_version="2024-10-21"))
        asyncio.run(parts_of(provider("azure", server, path="", api_version="2024-10-21", key=lambda: "k")))
        theirs, ours = server.asked
    assert ours.path == theirs.path
    assert ours.headers["api-key"] == theirs.headers["api-key"]


# --- ids of calls ------------------------------------------------------------------------------------


def test_ids_of_calls_are_unique_stable_and_answered():
    again = (*TALK, Message(role="assistant", calls=CALLS[:1]), Message(role="tool", tool_call_id="call_1"))
    before, after = unique_call_ids(TALK), unique_call_ids(again)
    assert after[: len(before)] == before, "a conversation that grows keeps its ids"
    asked = [call.id for message in after for call in message.calls]
    assert asked == [message.tool_call_id for message in after if message.tool_call_id]
    assert len(set(asked)) == len(asked)


def test_a_server_that_refuses_ids_gets_short_ones():
    refusal = error(
        "400 Bad Request", "Tool call id was weird id/1 but must be a-z, A-Z, 0-9, with a length of 9."
    )
    with ChatServer(refusal, said("ok")) as server:
        local = OpenAICompatible(Endpoint(name="local", base_url=server.base_url))
        parts = asyncio.run(parts_of(local, ASKED))
        second = server.asked[1].json["messages"]
    assert summary(parts)[0] == "ok"
    ids = [call["id"] for message in second for call in message.get("tool_calls", ())]
    assert ids == [message["tool_call_id"] for message in second if message["role"] == "tool"]
    assert all(len(one) == 9 and one.isalnum() for one in ids) and len(set(ids)) == 3


# --- signed thinking ---------------------------------------------------------------------------------


def test_signed_thinking_comes_back_unchanged_and_only_to_its_kind():
    body = message_start() + thinking_block(0, "hm ü", "c2ln") + call_block(1, "read_file", '{"path": "a"}')
    body += block(2, {"type": "redacted_thinking", "data": "b3BhcXVl"}) + message_end("tool_use")
    parts, _ = ask("anthropic", Answer([body.encode()]))
    (opaque,) = (part.content for part in parts if isinstance(part, OpaquePart))
    message = Message(role="assistant", calls=CALLS[:1], opaque=opaque, opaque_kind="anthropic")
    blocks = conversation((Message(role="user", content="hi"), message))[1]["content"]
    assert blocks[0] == {"type": "thinking", "thinking": "hm ü", "signature": "c2ln"}
    assert blocks[1] == {"type": "redacted_thinking", "data": "b3BhcXVl"}
    other = conversation(
        (Message(role="user", content="hi"), replace(message, opaque_kind="openai-compatible"))
    )[1]["content"]
    assert [one["type"] for one in other] == ["tool_use"]


# --- faults ------------------------------------------------------------------------------------------

FAULTS = {
    "anthropic, no key": ("anthropic", anthropic_error("401 No", "authentication_error", "invalid x-api-key"), "key_needed", False),
    "anthropic, no model": ("anthropic", anthropic_error("404 No", "not_found_error", "model: m"), "no_such_model", False),
    "anthropic, too long": ("anthropic", anthropic_error("400 No", "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), "context_overflow", True),
    "anthropic, no money": ("anthropic", anthropic_error("400 No", "invalid_request_error", "Your credit balance is too low to access the Anthropic API."), "quota_spent", True),
    "anthropic, overloaded": ("anthropic", anthropic_error("529 Overloaded", "overloaded_error", "Overloaded"), "http_529", False),
    "anthropic, overloaded in the stream": ("anthropic", Answer([START, message_event("error", error={"type": "overloaded_error", "message": "Overloaded"}).encode()]), "http_529", False),
    "anthropic, broken off": ("anthropic", Answer([START + text_block(0, "a").encode()]), "reply_broken_off", False),
    "anthropic, nothing said": ("anthropic", Answer([START + message_end().encode()]), "empty_reply", False),
    "anthropic, HTML": ("anthropic", Answer([b"<html>"], headers={"Content-Type": "text/html"}), "not_openai", False),
    "ollama, error in a 200": ("ollama", line({"error": "model runner has unexpectedly stopped"}), "provider_error", False),
    "ollama, no model": ("ollama", whole({"error": 'model "m" not found, try pulling it first'}, "404 Not Found"), "no_such_model", False),
    "ollama, end without done": ("ollama", line({"message": {"role": "assistant", "content": "a"}, "done": False}), "reply_broken_off", False),
    "ollama, garbage": ("ollama", Answer([b"{no\n"], headers=LINES), "not_openai", False),
    "azure, prompt refused": ("azure", error("400 Bad Request", "The response was filtered due to the prompt triggering the policy.", code="content_filter"), "prompt_filtered", True),
    "azure, no deployment": ("azure", error("404 Not Found", "The API deployment for this resource does not exist.", code="DeploymentNotFound"), "no_such_model", False),
    "azure, busy": ("azure", error("429 Too Many", "slow", headers={"retry-after-ms": "1500"}), "rate_limited", False),
}  # fmt: skip


@each_row("case", FAULTS, ids=str)
def test_faults_are_named_and_say_what_to_do(case):
    wire, answer, code, is_final = FAULTS[case]
    parts, _ = ask(wire, answer)
    failure = summary(parts)
    assert isinstance(failure, FailurePart), parts
    assert (failure.code, not failure.recoverable) == (code, is_final)
    assert failure.remedy
    if code == "not_openai":
        assert KINDS[wire].address_hint in failure.remedy
    if case == "azure, busy":
        assert failure.retry_after_s == 1.5


def test_an_ollama_server_that_was_named_with_v1_is_asked_all_the_same():
    assert OLLAMA.server_url("http://localhost:11434/v1/") == "http://localhost:11434"


@pytest.mark.parametrize(
    ("loaded", "loads"), [((), True), (("m:latest",), False), (("m",), False), (("x",), True), (None, False)]
)
def test_ollama_says_when_it_has_to_load_the_model_first(loaded, loads):
    end = {"message": {"role": "assistant", "content": "ok"}, "done": True, "done_reason": "stop"}
    with ChatServer(line(end), loaded=loaded) as server:
        asked = provider("ollama", server, keep_alive="30m")
        parts = asyncio.run(parts_of(asked))
        assert [part.is_loading for part in parts if isinstance(part, ProgressPart)] == [loads]
        (sent,) = server.asked
        assert sent.json["keep_alive"] == "30m" and sent.json["truncate"] is False


def test_how_long_a_model_is_kept_is_sent_as_ollama_takes_it():
    assert [keep_alive_value(text) for text in ("30m", "600", "-1", "1h30m")] == ["30m", 600, -1, "1h30m"]


def test_models_are_described_with_what_they_can_and_whether_they_are_loaded():
    tags = whole({"models": [{"name": "qwen:latest"}, {"name": "embed"}]})
    show = {
        "capabilities": ["completion", "tools", "thinking"],
        "model_info": {"qwen.context_length": 40_960},
    }
    with ChatServer(tags, otherwise=whole(show), loaded=("qwen:latest",)) as server:
        models = asyncio.run(provider("ollama", server).describe_models(5))
    assert [(one.id, one.context, one.abilities, one.is_loaded) for one in models] == [
        ("qwen:latest", 40_960, ("tools", "thinking"), True), ("embed", 40_960, ("tools", "thinking"), False),
    ]  # fmt: skip


def test_a_server_that_read_only_a_part_is_told():
    long = ModelRequest(session_id="s", model="m", messages=(Message(role="user", content="word " * 10_000),))
    last = {
        "message": {"role": "assistant", "content": "ok"},
        "done": True,
        "done_reason": "stop",
        "eval_count": 1,
    }
    for counted, warns in ((2_048, True), (11_000, False)):
        parts, _ = ask("ollama", line({**last, "prompt_eval_count": counted}), request=long)
        assert (StopPart(reason="input") in parts) is warns


@each_row(
    ("lines", "counted", "warns"),
    [(350, 2_048, True), (350, 3_900, False), (300, 2_048, False), (100, 1_100, False), (20, 230, False)],
)
def test_code_of_which_a_server_kept_half_a_context_is_told(lines, counted, warns):
    """At 3.5 bytes a token 350 lines need more than the 4,096 that are asked for; half of them look like 7."""
    code = "    return self.found[key] + other[k]\n" * lines
    asked = ModelRequest(session_id="s", model="m", messages=(Message(role="user", content=code),))
    last = {"message": {"role": "assistant", "content": "ok"}, "done": True, "done_reason": "stop"}
    parts, _ = ask("ollama", line({**last, "prompt_eval_count": counted, "eval_count": 1}), request=asked)
    assert (StopPart(reason="input") in parts) is warns


def test_cached_tokens_are_counted_apart():
    start = message_start(cache_read_input_tokens=100, cache_creation_input_tokens=20)
    parts, _ = ask("anthropic", Answer([(start + text_block(0, "a") + message_end()).encode()]))
    (usage,) = (part.usage for part in parts if isinstance(part, UsagePart))
    assert usage == Usage(input_tokens=123, output_tokens=7, cache_read_tokens=100, cache_write_tokens=20)


@each_row("wire", ["anthropic", "ollama", "azure"], ids=str)
def test_a_missing_key_is_said_before_anything_is_sent(wire):
    def missing():
        raise KeyMissing(
            "the variable K is not set here, and it should hold the key", "Set it, then continue."
        )

    with ChatServer() as server:
        (failure,) = asyncio.run(parts_of(provider(wire, server, key=missing)))
        assert server.asked == []
    assert failure.code == "key_missing"


@each_row("wire", ["anthropic", "ollama", "azure"], ids=str)
def test_closing_a_reply_hangs_up(wire):
    begun = {
        "anthropic": Answer([(message_start() + text_block(0, "a")).encode(), Stall()]),
        "ollama": Answer(
            [json.dumps({"message": {"content": "a"}, "done": False}).encode() + b"\n", Stall()],
            headers=LINES,
        ),
        "azure": Answer([event(chunk({"content": "a"})), Stall()]),
    }[wire]

    async def first_text(server):
        parts = provider(wire, server).reply(HELLO)
        async for part in parts:
            if isinstance(part, TextPart):
                break
        await parts.aclose()

    with ChatServer(begun) as server:
        asyncio.run(asyncio.wait_for(first_text(server), PATIENCE))
        assert server.gone.acquire(timeout=PATIENCE)


def test_a_key_that_was_refused_is_asked_for_once_more():
    keys = iter(["made-up-old", "made-up-new", "made-up-never"])
    current = []

    def key():
        if not current:
            current.append(next(keys))
        return current[0]

    refused = anthropic_error("401 No", "authentication_error", "token expired")
    well = Answer([(message_start() + text_block(0, "ok") + message_end()).encode()])
    more = {"key": key, "key_place": "key_command", "forget_key": lambda: bool(current.clear() or True)}
    parts, asked = ask("anthropic", refused, well, **more)
    assert summary(parts)[0] == "ok"
    assert [one.headers["x-api-key"] for one in asked] == ["made-up-old", "made-up-new"]
    current[:] = ["made-up-old"]
    parts, asked = ask("anthropic", refused, refused, **{**more, "forget_key": lambda: True})
    assert (summary(parts).code, len(asked)) == ("key_refused", 2), "twice refused is refused"
    listed = whole({"data": [{"id": "m", "display_name": "M"}]})
    with ChatServer(refused, listed) as server:
        models = asyncio.run(provider("anthropic", server, **more).list_models(5))
    assert [model.id for model in models] == ["m"]


SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"], "additionalProperties": False}  # fmt: skip
OKAY = {
    "azure": lambda: said("ok"),
    "ollama": lambda: Answer([json.dumps({"message": {"role": "assistant", "content": "ok"}, "done": True}).encode()], headers=LINES),
    "anthropic": lambda: Answer([(message_start() + text_block(0, "ok") + message_end()).encode()]),
    "responses": lambda: whole({"object": "response", "status": "completed", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}]}),
}  # fmt: skip
WANTS_JSON = replace(HELLO, answer_schema=SCHEMA)


@pytest.mark.parametrize(
    ("wire", "member", "value"),
    [
        ("azure", "response_format", {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}),
        ("ollama", "format", SCHEMA),
        ("responses", "text", {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": SCHEMA}}),
        ("anthropic", "output_config", {"format": {"type": "json_schema", "schema": SCHEMA}}),
    ],
)  # fmt: skip
def test_an_answer_that_satisfies_a_schema_is_asked_for_on_every_wire_and_left_out_where_it_is_refused(
    wire, member, value
):
    status, refusal = "400 Bad Request", whole({"error": f"{member}: unknown"}, "400 Bad Request")
    if wire != "ollama":
        refusal = whole({"type": "error", "error": {"type": "invalid_request_error", "message": f"'{member}' is unknown"}}, status)  # fmt: skip
    parts, (first, second) = ask(wire, refusal, OKAY[wire](), request=WANTS_JSON)
    assert first.json[member] == value and member not in second.json
    assert not isinstance(parts[0], FailurePart)
    _, (plain,) = ask(wire, OKAY[wire]())
    assert member not in plain.json
