"""Find out what a model at an endpoint can do by asking it: does it stream, count tokens, call tools?

Owns the two short questions and the reading of what came. It offers a tool that does nothing, and no call is
ever carried out.
"""

from contextlib import aclosing
from dataclasses import replace
from typing import Final

from workbench.domain.messages import (
    FailurePart,
    Message,
    ModelRequest,
    ReplyPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import ToolDescriptor
from workbench.providers.endpoint import Endpoint
from workbench.providers.openai_compatible import OpenAICompatible
from workbench.records import dataclass

_MOST_TOKENS: Final = 256
"""Of each of the two replies; some of it may go into thinking."""
_TOOL: Final = ToolDescriptor(
    id="report_ready", wire_name="report_ready", description="Report that you are ready.", capability="read",
    risk_level="read_only",
    input_schema={
        "type": "object", "properties": {"ready": {"type": "boolean"}}, "required": ["ready"],
        "additionalProperties": False,
    },
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What two replies have shown; a thing that was not seen may still be possible."""

    streams: bool = False
    thinks: bool = False
    counts_tokens: bool = False
    calls_tools: bool = False
    failure: FailurePart | None = None
    """Why nothing was said to the plain question."""
    tools_failure: FailurePart | None = None
    """Why there was no reply to the one with a tool."""


async def probe(endpoint: Endpoint, model: str) -> Probed:
    """Ask a model to say hello, then to call a tool; the server may have to load it first."""
    provider = OpenAICompatible(
        replace(endpoint, sampling=replace(endpoint.sampling, max_tokens=_MOST_TOKENS))
    )
    said = await _parts(provider, model, "Say hello.", ())
    pieces = [part for part in said if isinstance(part, TextPart | ThinkingPart)]
    found = Probed(
        streams=len(pieces) > 1,
        thinks=any(isinstance(part, ThinkingPart) for part in pieces),
        counts_tokens=any(isinstance(part, UsagePart) for part in said),
        failure=None if pieces else _failure(said),
    )
    if found.failure is not None:
        return found
    called = await _parts(provider, model, "Call the tool report_ready with ready true.", (_TOOL,))
    calls = any(isinstance(part, ToolCallPart) for part in called)
    return replace(found, calls_tools=calls, tools_failure=None if calls else _failure(called))


async def _parts(
    provider: OpenAICompatible, model: str, question: str, tools: tuple[ToolDescriptor, ...]
) -> list[ReplyPart]:
    messages = (Message(role="user", content=question),)
    request = ModelRequest(session_id="probe", model=model, messages=messages, tools=tools)
    async with aclosing(provider.reply(request)) as parts:
        return [part async for part in parts]


def _failure(parts: list[ReplyPart]) -> FailurePart | None:
    return next((part for part in parts if isinstance(part, FailurePart)), None)
