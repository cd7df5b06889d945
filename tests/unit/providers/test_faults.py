"""The same bad input on every wire: one name and a remedy here, and an error of the official client there."""

import asyncio
import json

import pytest

from tests.support.chat_server import Answer, ChatServer, Stall, chunk, error, event, whole
from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from tests.unit.providers.wires import (
    CLIENTS,
    LINES,
    START,
    ask,
    client_module,
    item_events,
    message_end,
    parts_of,
    provider,
    response_end,
    response_start,
    summary,
    text_block,
    text_item,
)
from workbench.domain.messages import FailurePart, StopPart
from workbench.secrets import scrubber

SAID_KEY = "sk-made-up-" + "Kq7Zp2" * 5


def refused(wire, status, message, kind="invalid_request_error", headers=None):
    """An error in the words of a wire."""
    if wire == "ollama":
        return whole({"error": message}, status, **(headers or {}))
    if wire == "anthropic":
        body = {"type": "error", "error": {"type": kind, "message": message}}
        return whole(body, status, **(headers or {}))
    return error(status, message, headers=headers, code=kind)


def first_word(wire):
    """The beginning of a reply that says one word."""
    return {
        "ollama": json.dumps({"message": {"role": "assistant", "content": "a"}, "done": False}).encode()
        + b"\n",
        "anthropic": START + text_block(0, "a").encode(),
        "responses": (response_start() + item_events(0, text_item("a"), "a")).encode(),
    }.get(wire, event(chunk({"role": "assistant", "content": "a"})))


def stream(wire, *pieces):
    return Answer(list(pieces), headers=LINES if wire == "ollama" else {"Content-Type": "text/event-stream"})


def filtered(wire):
    """A reply that its provider cut short."""
    if wire == "anthropic":
        return stream(wire, START, text_block(0, "a").encode(), message_end("refusal").encode())
    if wire == "responses":
        end = response_end(text_item("a"), kind="incomplete", incomplete_details={"reason": "content_filter"})
        return stream(wire, first_word(wire), end.encode())
    return stream(
        wire, event(chunk({"content": "a"})), event(chunk(finish="content_filter")), event("[DONE]")
    )


def broken_in_the_stream(wire):
    """A word, then an error in the same reply."""
    said = {
        "ollama": json.dumps({"error": "an internal error"}).encode() + b"\n",
        "anthropic": b'event: error\ndata: {"type": "error", "error": {"type": "api_error", "message": "an internal error"}}\n\n',
        "responses": b'event: error\ndata: {"type": "error", "code": "server_error", "message": "an internal error", "param": null, "sequence_number": 9}\n\n',
    }.get(wire, event({"error": {"message": "an internal error", "code": 500}}))  # fmt: skip
    return stream(wire, first_word(wire), said)


def nothing_said(wire):
    """A reply that is whole and holds nothing."""
    end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    return stream(wire, {
        "ollama": json.dumps(end).encode() + b"\n",
        "anthropic": START + message_end().encode(),
        "responses": (response_start() + response_end()).encode(),
    }.get(wire, event(chunk(finish="stop")) + event("[DONE]")))  # fmt: skip


BAD_INPUT = {
    "stalled before a word": (lambda w: Answer([Stall()], head=False), "no_answer", {"first_token_seconds": 0.3}),
    "stalled in the reply": (lambda w: stream(w, first_word(w), Stall()), "server_stalled", {"silence_seconds": 0.3}),
    "broken off": (lambda w: stream(w, first_word(w)), "reply_broken_off", {}),
    "hangs up": (lambda w: Answer(raw=b""), "reply_broken_off", {}),
    "no HTTP": (lambda w: Answer(raw=b"220 mail.example ESMTP\r\n\r\n"), "not_http", {}),
    "garbage": (lambda w: stream(w, b"data: {no\n\n" if w != "ollama" else b"{no\n"), "not_openai", {}),
    "HTML": (lambda w: Answer([b"<html>hi"], headers={"Content-Type": "text/html"}), "not_openai", {}),
    "HTML with a status": (lambda w: Answer([b"<h1>Bad gateway"], "502 Bad Gateway", {"Content-Type": "text/html"}), "http_502", {}),
    "sent on": (lambda w: Answer([], "302 Found", {"Location": "http://127.0.0.1:1/elsewhere"}), "redirected", {}),
    "an error in the reply": (broken_in_the_stream, None, {}),
    "nothing said": (nothing_said, "empty_reply", {}),
    "wrong key": (lambda w: refused(w, "401 No", "bad key", "authentication_error"), "key_refused", {}),
    "key without rights": (lambda w: refused(w, "403 No", "forbidden", "permission_error"), "key_refused", {}),
    "no such model": (lambda w: refused(w, "404 Not Found", 'model "m" not found', "not_found_error"), "no_such_model", {}),
    "no tools": (lambda w: refused(w, "400 Bad Request", "m does not support tools"), "no_tools", {}),
    "context full": (lambda w: refused(w, "400 Bad Request", "input is too long: exceeds the available context size"), "context_overflow", {}),
    "429 for ten minutes": (lambda w: refused(w, "429 Too Many", "slow", "rate_limit_error", {"retry-after": "600"}), "rate_limited", {}),
    "overloaded": (lambda w: refused(w, "529 Overloaded", "Overloaded", "overloaded_error"), "http_529", {}),
    "a key said back": (lambda w: refused(w, "400 Bad Request", f"what is {SAID_KEY}?"), "http_400", {}),
}  # fmt: skip


@each_row("wire", CLIENTS, ids=str)
@pytest.mark.parametrize("fault", BAD_INPUT)
def test_bad_input_has_the_same_name_on_every_wire_and_a_remedy(wire, fault):
    answer, code, more = BAD_INPUT[fault]
    scrubber.register_secret(SAID_KEY)
    parts, _ = ask(wire, answer(wire), key=lambda: SAID_KEY, key_place="$MADE_UP", **more)
    failure = summary(parts)
    assert isinstance(failure, FailurePart), parts
    code = code or ("provider_error" if wire == "ollama" else "http_500")
    assert (failure.code, bool(failure.remedy)) == (code, True)
    assert SAID_KEY not in failure.message + failure.remedy
    if fault == "429 for ten minutes":
        assert failure.retry_after_s == 600.0
    if fault == "wrong key":
        assert "$MADE_UP" in failure.remedy


@each_row("wire", CLIENTS, ids=str)
def test_a_server_that_is_down_is_named(wire):
    with ChatServer() as server:
        asked = provider(wire, server)
    failure = summary(asyncio.run(parts_of(asked)))
    assert (failure.code, failure.remedy[:16]) == ("server_down", "Start the server")


@each_row("wire", ["anthropic", "azure", "chat", "responses"])
def test_a_reply_that_was_filtered_keeps_what_came(wire):
    parts, _ = ask(wire, filtered(wire))
    assert StopPart(reason="filtered") in parts and summary(parts)[0] == "a"


# --- the official clients -----------------------------------------------------------------------------

ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


async def official_text(wire, base_url, wait):
    """Return what the official client of a protocol reads; raises what it raises."""
    more = {"max_retries": 0, "timeout": wait}
    root = base_url.removesuffix("/v1")
    if wire == "ollama":
        client = client_module("ollama").AsyncClient(host=root, timeout=wait)
        return "".join([part.message.content or "" async for part in await client.chat(**ASK, stream=True)])
    if wire == "anthropic":
        client = client_module("anthropic").AsyncAnthropic(base_url=root, api_key="k", **more)
        async with client, client.messages.stream(**ASK, max_tokens=9) as read:
            return "".join([text async for text in read.text_stream])
    if wire == "azure":
        client = client_module("openai").AsyncAzureOpenAI(
            azure_endpoint=root, api_version="2024-10-21", api_key="k", **more
        )
    else:
        client = client_module("openai").AsyncOpenAI(base_url=base_url, api_key="k", **more)
    async with client:
        if wire == "responses":
            read = await client.responses.create(model="m", input="hi", stream=True)
            return "".join([one.delta async for one in read if one.type == "response.output_text.delta"])
        read = await client.chat.completions.create(**ASK, stream=True)
        return "".join([choice.delta.content or "" async for one in read for choice in one.choices])


def official_outcome(wire, answer, wait):
    """Return the name of the error that the official client raises, or the text that it takes for a whole reply."""
    with ChatServer(answer) as server:
        try:
            return repr(asyncio.run(official_text(wire, server.base_url, wait)))
        except Exception as raised:  # whatever it is, its name is compared
            return type(raised).__name__


OFFICIAL = {
    "stalled before a word": ("APITimeoutError", "APITimeoutError", "ReadTimeout"),
    "stalled in the reply": ("APITimeoutError", "ReadTimeout", "ReadTimeout"),
    "broken off": ("'a'", "'a'", "'a'"),
    "hangs up": ("APIConnectionError", "APIConnectionError", "RemoteProtocolError"),
    "no HTTP": ("APIConnectionError", "APIConnectionError", "RemoteProtocolError"),
    "garbage": ("JSONDecodeError", "''", "JSONDecodeError"),
    "HTML": ("''", "''", "JSONDecodeError"),
    "HTML with a status": ("InternalServerError", "InternalServerError", "ResponseError"),
    "sent on": ("APIConnectionError", "APIConnectionError", "ConnectError"),
    "an error in the reply": ("APIError", "APIStatusError", "ResponseError"),
    "nothing said": ("''", "''", "''"),
    "wrong key": ("AuthenticationError", "AuthenticationError", "ResponseError"),
    "key without rights": ("PermissionDeniedError", "PermissionDeniedError", "ResponseError"),
    "no such model": ("NotFoundError", "NotFoundError", "ResponseError"),
    "no tools": ("BadRequestError", "BadRequestError", "ResponseError"),
    "context full": ("BadRequestError", "BadRequestError", "ResponseError"),
    "429 for ten minutes": ("RateLimitError", "RateLimitError", "ResponseError"),
    "overloaded": ("InternalServerError", "OverloadedError", "ResponseError"),
    "a key said back": ("BadRequestError", "BadRequestError", "ResponseError"),
}
"""What the clients of OpenAI, Anthropic and Ollama make of the same bytes: an error, or a text as a whole reply.

They take a reply that broke off, a page and silence for replies, which is a fault here.
"""


@each_row("wire", CLIENTS, ids=str)
@pytest.mark.parametrize("fault", BAD_INPUT)
def test_what_is_a_fault_for_the_official_client_is_one_here(wire, fault):
    answer, _, more = BAD_INPUT[fault]
    of_openai, of_anthropic, of_ollama = OFFICIAL[fault]
    expected = {"anthropic": of_anthropic, "ollama": of_ollama}.get(wire, of_openai)
    if (wire, fault) == ("responses", "an error in the reply"):
        expected = "'a'"  # its client gives the error as one more event and raises nothing
    # A head that a busy machine sends late is another fault than a stall behind it: then the wait was too short.
    waits = (0.3, 3, 30) if more else (PATIENCE,)
    assert expected in (official_outcome(wire, answer(wire), seconds) for seconds in waits)


@each_row("wire", ["anthropic", "azure", "chat", "responses"])
def test_the_official_client_keeps_what_came_of_a_filtered_reply(wire):
    assert official_outcome(wire, filtered(wire), PATIENCE) == "'a'"
