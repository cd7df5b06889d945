"""The body of a chat completions request: our messages and tools in the words of the OpenAI protocol.

Owns that mapping, and the few changes to a body that servers of other makes ask for. Pure.
"""

import json
from collections.abc import Iterator, Mapping

from workbench.domain.messages import Message, MessageCall, ModelRequest
from workbench.domain.values import ToolDescriptor
from workbench.providers.endpoint import Sampling

Body = dict[str, object]


def body_of(request: ModelRequest, sampling: Sampling) -> Body:
    """Return the body of a streamed request."""
    body: Body = {
        "model": request.model,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if sampling.tool_choice is not None:
            body["tool_choice"] = sampling.tool_choice
    body.update(_sampling(sampling))
    return body


def adapted(body: Body, said: str) -> Body | None:
    """Return a body without what a server refused by name; None where nothing can be left out.

    Args:
        body: What was sent.
        said: What the server said about it.
    """
    if "stream_options" in said and "stream_options" in body:
        return {name: value for name, value in body.items() if name != "stream_options"}
    if "max_completion_tokens" in said and "max_tokens" in body:
        renamed = {name: value for name, value in body.items() if name != "max_tokens"}
        return {**renamed, "max_completion_tokens": body["max_tokens"]}
    return None


def encoded(body: Mapping[str, object]) -> bytes:
    """Return a body as bytes; what no server could read (half a character) is replaced."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _sampling(sampling: Sampling) -> Iterator[tuple[str, object]]:
    for name in ("max_tokens", "temperature", "seed"):
        value = getattr(sampling, name)
        if value is not None:
            yield name, value
    if sampling.stop:
        yield "stop", list(sampling.stop)


def _message(message: Message) -> Body:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": message.content}
    if not message.calls:
        return {"role": message.role, "content": message.content}
    calls = [_call(call) for call in message.calls]
    return {"role": message.role, "content": message.content or None, "tool_calls": calls}


def _call(call: MessageCall) -> Body:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def _tool(tool: ToolDescriptor) -> Body:
    function = {"name": tool.wire_name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}
