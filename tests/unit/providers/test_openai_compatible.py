"""The openai-compatible provider against a server that says exactly what a test wants."""

import asyncio
import gzip
import json
import socket
import threading

import pytest

from tests.support.chat_server import (
    Answer,
    Reset,
    Stall,
    chunk,
    error,
    event,
    said,
    whole,
)
from tests.support.waits import PATIENCE
from workbench.domain.messages import (
    FailurePart,
    Message,
    MessageCall,
    ModelRequest,
    StopPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import Usage
from workbench.effects.http import HttpReply
from workbench.providers import server_provider
from workbench.providers.base import Endpoint, KeyMissing, Sampling
from workbench.providers.openai_compatible import OpenAICompatible
from workbench.tools.registry import tool_registry


def text_of(parts):
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def thought(parts):
    return "".join(part.text for part in parts if isinstance(part, ThinkingPart))


def calls_of(parts):
    return [
        (part.id, part.name, json.loads(part.arguments)) for part in parts if isinstance(part, ToolCallPart)
    ]


def failed(parts):
    assert isinstance(parts[-1], FailurePart), parts
    assert not any(isinstance(part, FailurePart) for part in parts[:-1])
    return parts[-1]


def deltas(*several, finish="stop"):
    return Answer([*(event(chunk(one)) for one in several), event(chunk(finish=finish)), event("[DONE]")])


def tool(index, call_id=None, name=None, arguments=None):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    found = {"index": index, "id": call_id, "function": function}
    return {key: value for key, value in found.items() if value is not None}


# --- what is asked ----------------------------------------------------------------------------------


def test_a_request_says_everything_in_the_words_of_the_protocol(serving, ask):
    server = serving(said("ok"))
    create = tool_registry().get("create_file").descriptor
    request = ModelRequest(
        session_id="s", model="tiny", tools=(create,),
        messages=(
            Message(role="system", content="be short"),
            Message(role="user", content="write ünder 🙂"),
            Message(role="assistant", calls=(MessageCall(id="c1", tool="create_file", arguments={"path": "a"}),)),
            Message(role="tool", tool_call_id="c1", content="Done.", outcome="succeeded"),
        ),
    )  # fmt: skip
    sampling = Sampling(max_tokens=9, temperature=0.5, seed=3, stop=("x",), tool_choice="required")
    ask(server.base_url, request, sampling=sampling, headers={"X-Team": "tools"})
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.headers["x-team"]) == ("POST", "/v1/chat/completions", "tools")
    assert "authorization" not in asked.headers
    body = asked.json
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "create_file", "arguments": '{"path": "a"}'},
    }
    assert body["messages"] == [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": "write ünder 🙂"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Done."},
    ]
    assert body["tools"][0]["function"]["parameters"] == create.input_schema
    kept = {name: value for name, value in body.items() if name not in ("messages", "tools")}
    assert kept == {
        "model": "tiny", "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 9,
        "temperature": 0.5, "seed": 3, "stop": ["x"], "tool_choice": "required",
    }  # fmt: skip


def test_the_key_goes_into_one_header_and_into_no_words(serving, ask):
    server = serving(error("401 Unauthorized", "no", code="invalid_api_key"))
    failure = failed(ask(server.base_url, key=lambda: "fabricated-key-123", key_place="$FAKE"))
    assert server.asked[0].headers["authorization"] == "Bearer fabricated-key-123"
    assert (failure.code, "$FAKE" in failure.message) == ("key_refused", True)
    assert "fabricated" not in repr(failure) + repr(
        Endpoint(name="a", base_url="b", key=lambda: "fabricated")
    )


def test_a_key_that_is_not_there_is_not_sent_for(serving, ask):
    def missing():
        raise KeyMissing("the variable FAKE is not set", "export it")

    server = serving(said("never"))
    failure = failed(ask(server.base_url, key=missing, key_place="$FAKE"))
    assert (failure.code, failure.message, failure.remedy, server.asked) == (
        "key_missing", "the variable FAKE is not set", "export it", [],
    )  # fmt: skip


# --- what is answered -------------------------------------------------------------------------------


def test_text_usage_and_a_chunk_without_choices(serving, ask):
    parts = ask(serving(said("Hel", "lo ", "🙂", counts=(7, 3))).base_url)
    assert text_of(parts) == "Hello 🙂"
    assert parts[-1] == UsagePart(usage=Usage(input_tokens=7, output_tokens=3))


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_comes_apart_from_text(serving, ask, name):
    server = serving(deltas({name: "hm "}, {name: "so", "content": None}, {"content": "yes", name: None}))
    parts = ask(server.base_url)
    assert (thought(parts), text_of(parts)) == ("hm so", "yes")


PARALLEL = [
    tool(0, "a", "create_file", '{"path": '),
    tool(1, "b", "read_file", ""),
    tool(0, arguments='"x"}'),
    tool(1, arguments='{"path":"y"}'),
]
CALLS = {
    "in pieces, several at once": (PARALLEL, [("a", "create_file", {"path": "x"}), ("b", "read_file", {"path": "y"})]),
    "id late": ([tool(0, None, "f", "{"), tool(0, "late", None, "}")], [("late", "f", {})]),
    "no id at all": ([tool(0, None, "f", "{}")], [("call_1", "f", {})]),
    "no index": ([tool(None, "a", "f", "{}"), tool(None, "b", "g", "{}")], [("a", "f", {}), ("b", "g", {})]),
    "all index 0": ([tool(0, "a", "f", "{}"), tool(0, "b", "g", "{}")], [("a", "f", {}), ("b", "g", {})]),
    "one id twice": ([tool(0, "a", "f", "{}"), tool(1, "a", "g", "{}")], [("a", "f", {}), ("a_2", "g", {})]),
    "name each time": ([tool(0, "a", "f", "{"), tool(0, "a", "f", "}")], [("a", "f", {})]),
    "an object": ([{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"p": 1}}}], [("a", "f", {"p": 1})]),
    "order of coming": ([tool(1, "b", "g", "{}"), tool(0, "a", "f", "{}")], [("b", "g", {}), ("a", "f", {})]),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS, ids=str)
@pytest.mark.parametrize("is_split", [True, False])
def test_calls_are_put_together(serving, ask, case, is_split):
    several, wanted = CALLS[case]
    given = [{"tool_calls": [one]} for one in several] if is_split else [{"tool_calls": several}]
    server = serving(deltas(*given, finish="tool_calls"))
    assert calls_of(ask(server.base_url)) == wanted


def test_characters_that_were_cut_in_two_are_put_together(serving, ask):
    pieces = [b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n']
    pieces += [b'data: {"choices":[{"delta":{"content":"\\ude42 \\ude42"},"finish_reason":"stop"}]}\n\n']
    parts = ask(serving(Answer([*pieces, event("[DONE]")])).base_url)
    assert text_of(parts) == "a🙂 \ufffd"


@pytest.mark.parametrize("is_typed", [True, False])
def test_a_reply_in_one_piece(serving, ask, is_typed):
    message = {
        "role": "assistant",
        "content": "yes",
        "reasoning_content": "hm",
        "tool_calls": [tool(None, "a", "f", "{}")],
    }
    value = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 2},
    }
    answer = whole(value)
    if not is_typed:
        answer.headers = {}
    parts = ask(serving(answer).base_url)
    assert (text_of(parts), thought(parts), calls_of(parts)) == ("yes", "hm", [("a", "f", {})])
    assert parts[-1] == UsagePart(usage=Usage(input_tokens=4, output_tokens=2))


def test_a_stream_under_another_name_is_read_as_one(serving, ask):
    answer = said("hello")
    answer.headers = {"Content-Type": "text/plain"}
    assert text_of(ask(serving(answer).base_url)) == "hello"


def test_content_in_typed_parts(serving, ask):
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
    ]
    found = ask(serving(deltas({"content": parts})).base_url)
    assert (thought(found), text_of(found)) == ("hm", "yes")


@pytest.mark.parametrize(("reason", "wanted"), [("length", "length"), ("content_filter", "filtered")])
def test_a_reply_that_was_cut_says_so(serving, ask, reason, wanted):
    parts = ask(serving(said("half", finish=reason)).base_url)
    assert StopPart(reason=wanted) in parts
    assert not any(isinstance(part, FailurePart) for part in parts)


def test_shapes_that_are_not_the_protocols_are_left_out(serving, ask):
    odd = [
        {"choices": [None, 3, {"delta": 5}, {"index": 1, "delta": {"content": "other"}}]},
        {"choices": [{"delta": {"content": 7, "tool_calls": [None, {"function": None}, "x"]}}]},
        {"choices": "x", "usage": {"prompt_tokens": -1, "completion_tokens": True}},
        {"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}], "usage": []},
    ]
    parts = ask(serving(Answer([*map(event, odd), event("[DONE]")])).base_url)
    assert text_of(parts) == "ok"


def test_a_server_that_does_not_know_a_part_of_the_request_is_asked_without_it(serving, ask):
    server = serving(
        error("400 Bad Request", "Unknown parameter: 'stream_options'."),
        error("400 Bad Request", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        said("ok"),
    )
    assert text_of(ask(server.base_url, sampling=Sampling(max_tokens=5))) == "ok"
    bodies = [asked.json for asked in server.asked]
    assert ["stream_options" in body for body in bodies] == [True, False, False]
    assert [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in bodies] == [
        (5, None), (5, None), (None, 5),
    ]  # fmt: skip


# --- what goes wrong --------------------------------------------------------------------------------

STREAM_ERROR = {"error": {"message": "out of memory", "type": "server_error", "code": 500}}
FAULTS = {
    "needs a key": (error("401 Unauthorized", "no key"), "key_needed", "needs a key", "key_env"),
    "forbidden": (error("403 Forbidden", "not you"), "key_needed", "not you", "key_env"),
    "no such model": (
        error("404 Not Found", "The model `m` does not exist", code="model_not_found"),
        "no_such_model", 'has no model "m"', "doctor --provider local",
    ),
    "no such model, 400": (error("400 Bad Request", "model m not found"), "no_such_model", "", "--model"),
    "no such path": (whole(b"<h1>404</h1>", "404 Not Found"), "not_found", "no chat endpoint", "/v1"),
    "overflow of llama.cpp": (
        error("400 Bad Request", "request (600 tokens) exceeds the available context size (512 tokens)",
              type="exceed_context_size_error"),
        "context_overflow", "longer than the model's context", "max_session_messages",
    ),
    "overflow of others": (
        error("400 Bad Request", "maximum context length is 8192", code="context_length_exceeded"),
        "context_overflow", "8192", "new session",
    ),
    "quota": (error("429 Too Many Requests", "pay", code="insufficient_quota"), "quota_spent", "pay", "account"),
    "too many": (error("429 Too Many Requests", "slow"), "rate_limited", "slow", "Wait"),
    "loading": (error("503 Service Unavailable", "Loading model"), "model_loading", "loading", "Wait"),
    "overloaded": (error("503 Service Unavailable", "busy"), "http_503", "busy", "log"),
    "bad request": (error("400 Bad Request", "bad tool"), "http_400", "bad tool", "providers.local"),
    "error as text": (whole({"error": "model is broken"}, "500 Oh"), "http_500", "model is broken", "log"),
    "error as detail": (whole({"detail": [{"msg": "bad"}]}, "422 Oh"), "http_422", "bad", "settings"),
    "redirect": (
        Answer([], "307 Temporary", {"Location": "https://other.example/v1"}),
        "redirected", "https://other.example/v1", "base_url",
    ),
    "a page": (Answer([b"<html>hello"], headers={"Content-Type": "text/html"}), "not_openai", "text/html", "/v1"),
    "garbage in the stream": (Answer([event("{no json")]), "not_openai", "{no json", "/v1"),
    "deep garbage": (Answer([event("[" * 100_000)]), "not_openai", "[[[", "/v1"),
    "another protocol": (whole({"models": []}), "not_openai", "without choices", "/v1"),
    "not HTTP": (Answer(raw=b"SSH-2.0-OpenSSH_9.9\r\n"), "reply_broken_off", "broke", "log"),
    "packed": (
        Answer([gzip.compress(b"data: [DONE]\n\n")],
               headers={"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}),
        "not_openai", "gzip", "/v1",
    ),
    "error in the stream": (Answer([event(chunk({"content": "a"})), event(STREAM_ERROR)]), "http_500", "memory", ""),
    "error event": (
        Answer([event(chunk({"content": "a"})), b'event: error\ndata: {"message": "gone"}\n\n']),
        "provider_error", "gone", "Continue",
    ),
    "error field": (Answer([b'error: {"code":503,"message":"Loading model"}\n\n']), "model_loading", "", ""),
    "ends in the middle": (Answer([event(chunk({"content": "a"}))]), "reply_broken_off", "broke", "continue"),
    "reset in the middle": (Answer([event(chunk({"content": "a"})), Reset()]), "reply_broken_off", "broke", ""),
    "shorter than it said": (
        Answer([b'{"choices":['], headers={"Content-Type": "application/json", "Content-Length": "999"}),
        "reply_broken_off", "broke", "",
    ),
    "hangs up at once": (Answer(raw=b""), "reply_broken_off", "broke", "log"),
    "says nothing": (said(), "empty_reply", "nothing", "Continue"),
    "says nothing, cut": (said(finish="length"), "empty_reply", "limit of tokens", "max_tokens"),
    "only done": (Answer([event("[DONE]")]), "not_openai", "without choices", "/v1"),
    "ends at once": (Answer([]), "not_openai", "without choices", "/v1"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_every_fault_has_its_words(serving, ask, case):
    answer, code, why, remedy = FAULTS[case]
    failure = failed(ask(serving(answer).base_url))
    assert (failure.code, why in failure.message, remedy in failure.remedy) == (code, True, True), failure
    assert "\n" not in failure.message
    assert len(failure.message) < 600


def test_nothing_answers(ask):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    failure = failed(ask(f"http://127.0.0.1:{port}/v1"))
    assert (failure.code, "connection refused" in failure.message) == ("server_down", True)
    assert "Start the server" in failure.remedy


def test_a_host_that_does_not_exist(ask):
    failure = failed(ask("http://no-such-host.invalid/v1"))
    assert (failure.code, "no-such-host.invalid" in failure.message) == ("unknown_host", True)


def test_a_server_without_the_safety_that_was_asked_for(serving, ask):
    server = serving(Answer(raw=b"HTTP/1.1 200 OK\r\n\r\n"), is_rude=True)
    assert failed(ask(server.base_url.replace("http:", "https:"))).code == "tls_failed"


def test_a_server_that_does_not_begin(serving, ask):
    failure = failed(ask(serving(Answer([Stall()])).base_url, first_token_seconds=0.2))
    assert (failure.code, "first_token_seconds" in failure.remedy) == ("no_answer", True)


def test_a_server_that_stalls(serving, ask):
    server = serving(Answer([event(chunk({"content": "a"})), Stall()]))
    failure = failed(ask(server.base_url, silence_seconds=0.2, first_token_seconds=PATIENCE))
    assert (failure.code, "silence_seconds" in failure.remedy) == ("server_stalled", True)
    assert server.gone.acquire(timeout=PATIENCE)


def test_a_cold_load_is_waited_for_as_for_the_first_word(serving, ask, monkeypatch):
    waited, is_waiting = [], threading.Event()
    piece = HttpReply.piece

    async def noted(reply, seconds):
        waited.append(seconds)
        if len(waited) == 2:
            is_waiting.set()
        return await piece(reply, seconds)

    monkeypatch.setattr(HttpReply, "piece", noted)
    warm = said("warm").pieces
    server = serving(Answer([b": loading\n\n", lambda: is_waiting.wait(PATIENCE), b"".join(warm)]))
    assert text_of(ask(server.base_url, silence_seconds=PATIENCE, first_token_seconds=2 * PATIENCE)) == "warm"
    assert waited[:2] == [2 * PATIENCE] * 2 and set(waited[2:]) <= {PATIENCE}


RETRY = [
    ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
    ({"Retry-After": "7"}, 7.0),
    ({"Retry-After": "-3"}, 0.0),
    ({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:07 GMT"}, 30.0),
    ({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "nan", "retry-after-ms": "inf"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "wanted"), RETRY)
def test_when_to_come_back(serving, ask, headers, wanted):
    failure = failed(ask(serving(error("429 Too Many Requests", "slow", headers)).base_url))
    assert (failure.retry_after_s, failure.status, failure.recoverable) == (wanted, 429, True)


def test_a_reply_without_end_is_closed(serving, ask, monkeypatch):
    # More than two pieces of a connection: of one that is too large by itself nothing is taken.
    monkeypatch.setattr(server_provider, "MAX_REPLY_BYTES", 150_000)
    server = serving(Answer([*(event(chunk({"content": "x" * 1_000})) for _ in range(400)), Stall()]))
    parts = ask(server.base_url)
    assert (text_of(parts)[:1_000], parts[-1]) == ("x" * 1_000, StopPart(reason="size"))
    assert failed(ask(serving(Answer([b"data: " + b"x" * 190_000])).base_url)).code == "reply_too_large"
    assert failed(ask(serving(whole(b"[" + b" " * 190_000)).base_url)).code == "reply_too_large"


def test_of_more_calls_than_one_reply_may_have_the_first_come(serving, ask):
    calls = [{"index": at, "id": f"c{at}", "function": {"name": "f", "arguments": "{}"}} for at in range(300)]
    parts = ask(serving(deltas({"tool_calls": calls})).base_url)
    kept = [part.id for part in parts if isinstance(part, ToolCallPart)]
    assert (kept, StopPart(reason="calls") in parts) == ([f"c{at}" for at in range(64)], True)


def test_cancelling_closes_the_connection(serving):
    server = serving(Answer([event(chunk({"content": "a"})), Stall()]))
    provider = OpenAICompatible(Endpoint(name="local", base_url=server.base_url))
    request = ModelRequest(session_id="s", model="m", messages=(Message(role="user", content="hi"),))

    async def run():
        came = asyncio.Event()

        async def listen():
            async for part in provider.reply(request):
                if isinstance(part, TextPart):
                    came.set()

        task = asyncio.create_task(listen())
        await asyncio.wait_for(came.wait(), PATIENCE)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
    assert server.gone.acquire(timeout=PATIENCE)


def test_words_of_a_server_are_one_short_line(serving, ask):
    failure = failed(ask(serving(error("500 Oh", "a\n\x1b[31m" + "b" * 5_000)).base_url))
    assert "\x1b" not in failure.message
    assert len(failure.message) < 500


def test_nothing_is_asked_twice(serving, ask):
    server = serving(error("500 Oh", "no"), said("yes"))
    failed(ask(server.base_url))
    assert len(server.asked) == 1
