"""What tests of protocols share: our clients by protocol, what a reply came to, events as servers send them."""

import asyncio
import json

import pytest
from hypothesis import strategies as st

from tests.support.chat_server import Answer, ChatServer, called, said, whole
from tests.support.waits import PATIENCE
from workbench.config.keys import ANTHROPIC, AZURE_OPENAI, OLLAMA, OPENAI_COMPATIBLE, OPENAI_RESPONSES
from workbench.domain.messages import (
    FailurePart,
    Message,
    MessageCall,
    ModelRequest,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.providers.anthropic_messages import AnthropicMessages
from workbench.providers.base import Endpoint
from workbench.providers.ollama_chat import OllamaChat
from workbench.providers.openai_compatible import AzureOpenAI, OpenAICompatible
from workbench.providers.openai_responses import OpenAIResponses
from workbench.tools.registry import tool_registry

LETTERS = st.text(alphabet='aZ {}"\\:\n\r\t,ü🙂\u2028\u0085', max_size=8)
HELLO = ModelRequest(session_id="s", model="m", messages=(Message(role="user", content="hi"),))
LINES = {"Content-Type": "application/x-ndjson"}
CLIENTS = {
    "anthropic": AnthropicMessages, "ollama": OllamaChat, "azure": AzureOpenAI, "chat": OpenAICompatible,
    "responses": OpenAIResponses,
}  # fmt: skip
KINDS = {
    "anthropic": ANTHROPIC, "ollama": OLLAMA, "azure": AZURE_OPENAI, "chat": OPENAI_COMPATIBLE,
    "responses": OPENAI_RESPONSES,
}  # fmt: skip


READ = tool_registry().get("read_file").descriptor
CALLS = (
    MessageCall(id="call_1", tool="read_file", arguments={"path": "a.py"}),
    MessageCall(id="weird id/1", tool="read_file", arguments={"path": "b.py"}),
)
TALK = (
    Message(role="system", content="You are careful."),
    Message(role="user", content="look"),
    Message(role="assistant", content="", calls=CALLS),
    Message(role="tool", content="one", tool_call_id="call_1", outcome="succeeded"),
    Message(role="tool", content="", tool_call_id="weird id/1", outcome="failed"),
    Message(role="user", content="and?"),
    Message(role="assistant", content="again", calls=CALLS[:1]),
    Message(role="tool", content="two", tool_call_id="call_1", outcome="succeeded"),
)
ASKED = ModelRequest(session_id="s", model="m", messages=TALK, tools=(READ,))


def client_module(name):
    """Return the module of an official client; imported by the tests that use it, as it takes a second to load."""
    return pytest.importorskip(name)


def provider(wire, server, path="/v1", **more):
    base_url = server.base_url.removesuffix("/v1") + ("" if wire == "ollama" else path)
    endpoint = Endpoint(
        name="local", base_url=base_url, kind=KINDS[wire],
        **{"silence_seconds": PATIENCE, "context_tokens": 4096, **more},
    )  # fmt: skip
    return CLIENTS[wire](endpoint)


async def parts_of(asked, request=HELLO):
    return [part async for part in asked.reply(request)]


def ask(wire, *answers, request=HELLO, **more):
    with ChatServer(*answers) as server:
        parts = asyncio.run(asyncio.wait_for(parts_of(provider(wire, server, **more), request), PATIENCE))
        return parts, server.asked


def summary(parts):
    if isinstance(parts[-1], FailurePart):
        return parts[-1]
    counts = [part.usage for part in parts if isinstance(part, UsagePart)]
    return (
        "".join(part.text for part in parts if isinstance(part, TextPart)),
        "".join(part.text for part in parts if isinstance(part, ThinkingPart)),
        [
            (part.id, part.name, json.loads(part.arguments or "{}"))
            for part in parts
            if isinstance(part, ToolCallPart)
        ],
        (counts[-1].input_tokens, counts[-1].output_tokens) if counts else None,
    )


def message_event(kind, **members):
    value = {"type": kind, **members}
    return f"event: {kind}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n"


def message_start(**usage):
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 1, **usage},
    }  # fmt: skip
    return message_event("message_start", message=message)


def message_end(reason="end_turn", output=7):
    delta = {"stop_reason": reason, "stop_sequence": None}
    return message_event("message_delta", delta=delta, usage={"output_tokens": output}) + message_event(
        "message_stop"
    )


def block(index, start, *deltas):
    body = message_event("content_block_start", index=index, content_block=start)
    body += "".join(message_event("content_block_delta", index=index, delta=delta) for delta in deltas)
    return body + message_event("content_block_stop", index=index)


def text_block(index, *texts):
    return block(
        index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in texts)
    )


def thinking_block(index, text, signature):
    start = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = (
        {"type": "thinking_delta", "thinking": text},
        {"type": "signature_delta", "signature": signature},
    )
    return block(index, start, *deltas)


def call_block(index, name, arguments, cuts=()):
    start = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
    pieces = [arguments[a:b] for a, b in zip([0, *cuts], [*cuts, len(arguments)], strict=True)]
    return block(index, start, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


START = message_start().encode()


def line(value):
    return Answer([json.dumps(value).encode() + b"\n"], headers=LINES)


def anthropic_error(status, kind, message):
    return whole({"type": "error", "error": {"type": kind, "message": message}}, status)


def cut(draw, body):
    raw = body.encode()
    cuts = sorted(draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    return [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]


def both(wire, answers, official):
    with ChatServer(*answers) as server:

        async def asked():
            mine = summary(await parts_of(provider(wire, server)))
            return mine, await official(server.base_url.removesuffix("/v1"))

        return asyncio.run(asked())


# --- events of OpenAI's Responses ------------------------------------------------------------------

OBJECT = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "in_progress", "output": [],
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
}  # fmt: skip


def response_event(kind, **members):
    value = {"type": f"response.{kind}", "sequence_number": 0, **members}
    return f"event: response.{kind}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n"


def text_item(text, index=0):
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message", "id": f"msg_{index}", "role": "assistant", "status": "completed", "content": [part],
    }  # fmt: skip


def call_item(name, arguments, index=0):
    return {
        "type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}", "name": name,
        "arguments": arguments, "status": "completed",
    }  # fmt: skip


def reasoning_item(*texts, index=0, sealed="c2VhbGVk"):
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return {"type": "reasoning", "id": f"rs_{index}", "summary": summary, "encrypted_content": sealed}


_NOTHING_YET = {"message": {"content": []}, "function_call": {"arguments": ""}, "reasoning": {"summary": []}}


def item_events(index, item, pieces):
    """An item as it is streamed: `pieces` are those of its text, its arguments, or each part of its thoughts."""
    where = {"output_index": index, "item_id": item["id"]}
    begun = {**item, **_NOTHING_YET[item["type"]], "status": "in_progress"}
    body = response_event("output_item.added", output_index=index, item=begun)
    if item["type"] == "message":
        part = {"type": "output_text", "text": "", "annotations": []}
        body += response_event("content_part.added", **where, content_index=0, part=part)
        for piece in pieces:
            body += response_event("output_text.delta", **where, content_index=0, delta=piece, logprobs=[])
    elif item["type"] == "function_call":
        for piece in pieces:
            body += response_event("function_call_arguments.delta", **where, delta=piece)
    else:
        for number, text in enumerate(pieces):
            part = {"type": "summary_text", "text": ""}
            body += response_event("reasoning_summary_part.added", **where, summary_index=number, part=part)
            body += response_event("reasoning_summary_text.delta", **where, summary_index=number, delta=text)
    return body + response_event("output_item.done", output_index=index, item=item)


def response_start():
    return response_event("created", response=OBJECT) + response_event("in_progress", response=OBJECT)


def response_end(*items, kind="completed", sent=3, received=7, cached=0, **more):
    counts = {
        "input_tokens": sent, "output_tokens": received, "total_tokens": sent + received,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    whole_response = {**OBJECT, "status": kind, "output": list(items), "usage": counts, **more}
    return response_event(kind, response=whole_response)


# --- one reply, in the words of each kind of provider ------------------------------------------------


def ollama_line(content="", calls=()):
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [{"function": {"name": name, "arguments": given}} for name, given in calls]
    return line(
        {"message": message, "done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 2}
    )


def says_of_kind(kind, text):
    """A reply that says something, in two pieces where its protocol has pieces."""
    half = len(text) // 2
    pieces = [text[:half], text[half:]]
    match kind:
        case "ollama":
            begun = {"message": {"role": "assistant", "content": pieces[0]}, "done": False}
            reply = ollama_line(pieces[1])
            reply.pieces.insert(0, json.dumps(begun).encode() + b"\n")
            return reply
        case "anthropic":
            return Answer([(message_start() + text_block(0, *pieces) + message_end()).encode()])
        case "openai-responses":
            item = text_item(text)
            body = response_start() + item_events(0, item, pieces) + response_end(item)
            return Answer([body.encode()])
        case _:
            return said(*pieces)


def calls_of_kind(kind, name, **arguments):
    """A reply that calls one tool."""
    given = json.dumps(arguments)
    match kind:
        case "ollama":
            return ollama_line(calls=[(name, arguments)])
        case "anthropic":
            body = message_start() + call_block(0, name, given, [3]) + message_end("tool_use")
            return Answer([body.encode()])
        case "openai-responses":
            item = call_item(name, given)
            body = response_start() + item_events(0, item, [given[:3], given[3:]]) + response_end(item)
            return Answer([body.encode()])
        case _:
            return called(name, given)
