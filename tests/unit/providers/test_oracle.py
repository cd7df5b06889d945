"""The official client and ours read the same bytes of the same server, and understand the same."""

import asyncio
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.chat_server import Answer, ChatServer, chunk, error, event, usage, whole
from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from tests.unit.providers.wires import client_module
from workbench.domain.messages import (
    FailurePart,
    Message,
    ModelRequest,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.providers.base import Endpoint
from workbench.providers.openai_compatible import OpenAICompatible

LETTERS = st.text(alphabet='aZ {}"\\:\n\r\t,ü🙂\u2028\u0085', max_size=8)


@st.composite
def replies(draw):
    """Chunks of a whole reply: text, thinking, calls in pieces, one after another or several at once."""
    deltas = [{"role": "assistant", "content": None}]
    deltas += draw(
        st.lists(
            st.one_of(
                st.builds(lambda text: {"content": text}, LETTERS),
                st.builds(lambda text: {"reasoning_content": text}, LETTERS),
            ),
            max_size=4,
        )
    )
    deltas.append({"content": "."})
    pieces = []
    for index in range(draw(st.integers(0, 3))):
        arguments = json.dumps({"path": draw(LETTERS)})
        cuts = sorted(draw(st.lists(st.integers(0, len(arguments)), max_size=3)))
        named = {
            "index": index,
            "id": f"call-{index}",
            "type": "function",
            "function": {"name": f"tool_{index}", "arguments": ""},
        }
        deltas.append({"tool_calls": [named]})
        pieces.append(
            [
                {"tool_calls": [{"index": index, "function": {"arguments": arguments[a:b]}}]}
                for a, b in zip([0, *cuts], [*cuts, len(arguments)], strict=True)
            ]
        )
    has_calls = bool(pieces)
    while pieces:  # several calls at once: which one goes on is anybody's guess
        group = pieces[draw(st.integers(0, len(pieces) - 1))]
        deltas.append(group.pop(0))
        pieces = [left for left in pieces if left]
    chunks = [*map(chunk, deltas), chunk(finish="tool_calls" if has_calls else "stop")]
    return [*chunks, usage(draw(st.integers(0, 9)), draw(st.integers(0, 9)))]


@st.composite
def streams(draw):
    """The bytes of a reply: line ends of any kind, comments between events, and pieces cut anywhere."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    body = ""
    for one in [*draw(replies()), "[DONE]"]:
        body += draw(st.sampled_from(["", f": still here{end}{end}"]))
        data = one if isinstance(one, str) else json.dumps(one, ensure_ascii=draw(st.booleans()))
        body += f"data: {data}{end}{end}"
    raw = body.encode()
    cuts = sorted(draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    return [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]


async def ours(base_url):
    provider = OpenAICompatible(Endpoint(name="local", base_url=base_url, silence_seconds=PATIENCE))
    request = ModelRequest(session_id="s", model="m", messages=(Message(role="user", content="hi"),))
    parts = [part async for part in provider.reply(request)]
    if isinstance(parts[-1], FailurePart):
        return parts[-1]
    counts = [part.usage for part in parts if isinstance(part, UsagePart)]
    return (
        "".join(part.text for part in parts if isinstance(part, TextPart)),
        "".join(part.text for part in parts if isinstance(part, ThinkingPart)),
        [(part.id, part.name, part.arguments) for part in parts if isinstance(part, ToolCallPart)],
        (counts[-1].input_tokens, counts[-1].output_tokens) if counts else None,
    )


async def theirs(base_url):
    """Return the same of the official client, which leaves the adding up of deltas to its caller."""
    async with client_module("openai").AsyncOpenAI(
        base_url=base_url, api_key="none", max_retries=0, timeout=PATIENCE
    ) as client:
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        text, thinking, calls, counts = "", "", {}, None
        async for found in stream:
            if found.usage is not None:
                counts = (found.usage.prompt_tokens, found.usage.completion_tokens)
            for choice in found.choices:
                text += choice.delta.content or ""
                thinking += (choice.delta.model_extra or {}).get("reasoning_content") or ""
                for call in choice.delta.tool_calls or ():
                    made = calls.setdefault(call.index, ["", "", ""])
                    function = call.function
                    for place, piece in enumerate((call.id, function.name, function.arguments)):
                        made[place] += piece or ""
        return text, thinking, [tuple(call) for call in calls.values()], counts


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(streams())
def test_both_understand_the_same_whatever_the_borders(pieces):
    with ChatServer(Answer(pieces), Answer(pieces)) as server:

        async def both():
            return await ours(server.base_url), await theirs(server.base_url)

        mine, official = asyncio.run(both())
    assert mine == official


FAULTS = {
    "no key": (error("401 Unauthorized", "no key"), "AuthenticationError", "key_needed"),
    "not allowed": (error("403 Forbidden", "no"), "PermissionDeniedError", "key_needed"),
    "no such model": (error("404 Not Found", "no model m"), "NotFoundError", "no_such_model"),
    "too many": (error("429 Too Many Requests", "slow"), "RateLimitError", "rate_limited"),
    "too long": (
        error("400 Bad Request", "too long", code="context_length_exceeded"),
        "BadRequestError", "context_overflow",
    ),
    "broken": (error("500 Oh", "broken"), "InternalServerError", "http_500"),
    "in the stream": (
        Answer([event(chunk({"content": "a"})), event({"error": {"message": "broken", "code": 500}})]),
        "APIError", "http_500",
    ),
    "garbage": (Answer([b"data: {no\n\n"]), "JSONDecodeError", "not_openai"),
    "hangs up": (Answer(raw=b""), "APIConnectionError", "reply_broken_off"),
}  # fmt: skip


@each_row("case", FAULTS, ids=str)
def test_what_fails_there_fails_here(case):
    answer, official, code = FAULTS[case]
    with ChatServer(answer, answer) as server:

        async def both():
            try:
                await theirs(server.base_url)
            except Exception as raised:  # whatever it is, its name is compared
                return await ours(server.base_url), type(raised).__name__
            raise AssertionError("the official client saw no fault")

        mine, raised = asyncio.run(both())
    assert (mine.code, raised) == (code, official)


def test_a_reply_in_one_piece_is_read_by_both():
    message = {"role": "assistant", "content": "yes"}
    value = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }  # fmt: skip

    async def both():
        async with client_module("openai").AsyncOpenAI(
            base_url=server.base_url, api_key="none", max_retries=0
        ) as client:
            found = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}]
            )
        return await ours(server.base_url), found

    with ChatServer(whole(value), whole(value)) as server:
        mine, found = asyncio.run(both())
    assert mine == (found.choices[0].message.content, "", [], (1, 2))
