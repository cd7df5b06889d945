"""The recording format: what is read, and what is refused with file, line and key."""

import asyncio
import hashlib
import json

import pytest

from workbench.domain.messages import (
    ExchangePart,
    FailurePart,
    Message,
    ModelRequest,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import Usage
from workbench.providers.recording import (
    Exchange,
    ExchangeCondition,
    RecordedProvider,
    RecordingBroken,
    ReplyRecorder,
    TimedPart,
    load_recording,
)

DESIGN_EXAMPLE = """{"recording": 1, "model": "recorded-demo", "exchanges": [
  {"reply": [{"thinking": "…"}, {"text": "I'll look ", "after_ms": 30}, {"text": "first."},
             {"tool_call": {"id": "c1", "name": "read_file", "arguments": {"path": "app.py"}}},
             {"usage": {"input_tokens": 812, "output_tokens": 41}}]},
  {"when": {"tool_result": {"id": "c1", "outcome": "rejected"}}, "reply": [{"text": "Then I leave it."}]},
  {"expect": {"tool_result": {"id": "c1", "outcome": "succeeded"}}, "reply": [{"text": "Done."}]},
  {"reply": [{"error": {"status": 429, "retry_after_s": 1, "message": "slow down"}}]}]}
"""


def written(tmp_path, text):
    path = tmp_path / "recording.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def broken(tmp_path, text):
    path = written(tmp_path, text)
    with pytest.raises(RecordingBroken) as caught:
        load_recording(path)
    error = caught.value
    assert str(path) in str(error)
    assert error.why in str(error)
    return error


@pytest.mark.spec(165)
def test_the_example_of_the_design_is_read_whole(tmp_path):
    recording = load_recording(written(tmp_path, DESIGN_EXAMPLE))
    assert recording.model == "recorded-demo"
    assert recording.sha256 == hashlib.sha256(DESIGN_EXAMPLE.encode()).hexdigest()
    assert recording.exchanges == (
        Exchange(
            index=0,
            line=2,
            reply=(
                TimedPart(part=ThinkingPart(text="…")),
                TimedPart(part=TextPart(text="I'll look "), after_ms=30),
                TimedPart(part=TextPart(text="first.")),
                TimedPart(part=ToolCallPart(id="c1", name="read_file", arguments='{"path": "app.py"}')),
                TimedPart(part=UsagePart(usage=Usage(input_tokens=812, output_tokens=41))),
            ),
        ),
        Exchange(
            index=1,
            line=5,
            reply=(TimedPart(part=TextPart(text="Then I leave it.")),),
            when=ExchangeCondition(has_tool_result=True, tool_result_id="c1", outcome="rejected"),
        ),
        Exchange(
            index=2,
            line=6,
            reply=(TimedPart(part=TextPart(text="Done.")),),
            expect=ExchangeCondition(has_tool_result=True, tool_result_id="c1", outcome="succeeded"),
        ),
        Exchange(
            index=3,
            line=7,
            reply=(
                TimedPart(
                    part=FailurePart(
                        code="http_429", message="slow down", status=429, retry_after_s=1, recoverable=True
                    )
                ),
            ),
        ),
    )


def test_arguments_as_a_text_are_kept_malformed(tmp_path):
    call = '{"tool_call": {"id": "c", "name": "t", "arguments": "{\\"path\\": "}}'
    recording = load_recording(written(tmp_path, f'{{"recording": 1, "exchanges": [{{"reply": [{call}]}}]}}'))
    assert recording.exchanges[0].reply[0].part == ToolCallPart(id="c", name="t", arguments='{"path": ')


def exchange(text):
    return f'{{"recording": 1,\n"exchanges": [\n{text}\n]}}'


def part(text):
    return exchange(f'{{"reply": [\n{text}\n]}}')


ONE_CALL = '{"tool_call": {"id": "c", "name": "t"}}'

BROKEN = [
    ("not json", "{\n  nope}", 2, "", "a key in double quotes"),
    ("no object", "[]", 1, "", "an object is needed"),
    ("twice", '{"recording": 1,\n"recording": 1}', 2, "", "twice"),
    ("no version", '{"exchanges": []}', 1, "", '"recording" is missing'),
    ("other version", '{"exchanges": [],\n"recording": 2}', 2, "recording", "version 1"),
    ("true is no version", '{"exchanges": [],\n"recording": true}', 2, "recording", "whole number"),
    ("no exchanges", '{"recording": 1}', 1, "", '"exchanges" is missing'),
    ("exchanges object", '{"recording": 1,\n"exchanges": {}}', 2, "exchanges", "an array"),
    ("unknown top", '{"recording": 1, "exchanges": [],\n"note": ""}', 2, "note", "unknown key"),
    ("unknown in exchange", exchange('{"reply": [],\n"then": 1}'), 4, "exchanges[0].then", "unknown key"),
    ("no reply", exchange("{}"), 3, "exchanges[0]", '"reply" is missing'),
    ("empty condition", exchange('{"reply": [],\n"when": {}}'), 4, "exchanges[0].when", "a condition"),
    (
        "unknown outcome",
        exchange('{"reply": [], "when": {"tool_result": {\n"outcome": "good"}}}'),
        4,
        "exchanges[0].when.tool_result.outcome",
        "succeeded",
    ),
    (
        "unknown in condition",
        exchange('{"reply": [], "expect": {"tool_result": {\n"state": "x"}}}'),
        4,
        "exchanges[0].expect.tool_result.state",
        "unknown key",
    ),
    ("no kind", part("{}"), 4, "exchanges[0].reply[0]", "exactly one"),
    ("only a wait", part('{"after_ms": 3}'), 4, "exchanges[0].reply[0]", "exactly one"),
    ("two kinds", part('{"text": "", "thinking": ""}'), 4, "exchanges[0].reply[0]", "exactly one"),
    ("unknown part", part('{"txt": ""}'), 4, "exchanges[0].reply[0].txt", "unknown key"),
    ("text is no text", part('{"text":\n 1}'), 4, "exchanges[0].reply[0].text", "a text"),
    ("wait below 0", part('{"text": "", "after_ms": -1}'), 4, "exchanges[0].reply[0].after_ms", "from 0"),
    ("wait too long", part('{"text": "", "after_ms": 1e9}'), 4, "exchanges[0].reply[0].after_ms", "largest"),
    ("wait is no number", part('{"text": "", "after_ms": "1"}'), 4, "exchanges[0].reply[0].after_ms", "number"),
    ("call without id", part('{"tool_call": {"name": "t"}}'), 4, "exchanges[0].reply[0].tool_call", '"id"'),
    (
        "arguments an array",
        part('{"tool_call": {"id": "c", "name": "t",\n"arguments": []}}'),
        5,
        "exchanges[0].reply[0].tool_call.arguments",
        "an object or a text",
    ),
    ("same id", part(f"{ONE_CALL},\n{ONE_CALL}"), 5, "exchanges[0].reply[1]", "twice in one reply"),
    ("after an error", part('{"error": {"message": ""}},\n{"text": ""}'), 4, "exchanges[0].reply[0].error", "follow"),
    ("usage below 0", part('{"usage": {"input_tokens": -1}}'), 4, "exchanges[0].reply[0].usage.input_tokens", "from 0"),
    ("usage of half", part('{"usage": {"output_tokens": 0.5}}'), 4, "exchanges[0].reply[0].usage.output_tokens", "whole"),
    ("not utf-8", b'{"recording":\n "\xff"}', 2, "", "UTF-8"),
    ("nan", exchange('{"reply": [{"text": "", "after_ms": NaN}]}'), 3, "", "NaN"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "key", "why"), [row[1:] for row in BROKEN], ids=[r[0] for r in BROKEN]
)
def test_a_broken_recording_is_refused_with_line_and_key(tmp_path, text, line, key, why):
    error = broken(tmp_path, text)
    assert (error.line, error.key) == (line, key)
    assert why in error.why
    assert f"line {line}" in str(error)


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path):
    for path, why in ((tmp_path / "none.json", "no such file"), (tmp_path, "no file")):
        with pytest.raises(RecordingBroken, match=why) as caught:
            load_recording(path)
        assert caught.value.line == 0


@pytest.mark.parametrize(
    ("status", "recoverable"), [(None, True), (400, False), (401, False), (429, True), (503, True)]
)
def test_which_recorded_errors_may_be_tried_again(tmp_path, status, recoverable):
    error = {"message": "m"} | ({} if status is None else {"status": status})
    text = json.dumps({"recording": 1, "exchanges": [{"reply": [{"error": error}]}]})
    failure = load_recording(written(tmp_path, text)).exchanges[0].reply[0].part
    assert failure.recoverable is recoverable
    assert failure.code == ("provider_error" if status is None else f"http_{status}")


class Talking:
    """A provider that answers with a call of the same id, then with the session's name."""

    name = "talking"
    endpoint = None

    async def reply(self, request):
        if any(message.role == "tool" for message in request.fresh):
            yield TextPart(text=f"done in {request.session_id}")
        else:
            yield ToolCallPart(id="call_1", name="list_dir", arguments="{}")


def spoken(provider, session, prompt):
    """Let a session ask twice: by a prompt, then with the result of the call; return call and text."""

    async def asked(*fresh, used=()):
        request = ModelRequest(
            session_id=session, model="m", messages=fresh, fresh=fresh, used_exchanges=frozenset(used)
        )
        return [part async for part in provider.reply(request)]

    first = asyncio.run(asked(Message(role="user", content=prompt)))
    used = [part.exchange for part in first if isinstance(part, ExchangePart)]
    (call,) = [part for part in first if isinstance(part, ToolCallPart)]
    result = Message(role="tool", tool_call_id=call.id, outcome="succeeded")
    second = asyncio.run(asked(result, used=used))
    return [part.text for part in second if isinstance(part, TextPart)]


@pytest.mark.spec(165)
def test_a_recording_of_several_sessions_answers_each_of_them_in_any_order(tmp_path):
    written_bytes = []
    provider = ReplyRecorder(written_bytes.append, has_sessions=True).recorded_provider(Talking())
    secret = "ghp_" + "a1B2" * 9
    prompts = {
        "s-00000001": "fix\nthe first", "s-00000002": "fix\nthe second",
        "s-00000003": f"look at the third\nkey {secret}",
    }  # fmt: skip
    live = {session: spoken(provider, session, prompt) for session, prompt in prompts.items()}
    assert live == {session: [f"done in {session}"] for session in prompts}
    path = tmp_path / "kept.json"
    path.write_bytes(written_bytes[-1])
    assert secret not in path.read_text()
    player = RecordedProvider(load_recording(path))
    for session in reversed(prompts):
        assert spoken(player, f"another {session}", prompts[session]) == live[session]


def test_an_exchange_that_answers_nothing_new_never_comes_before_one_that_does():
    written_bytes = []
    provider = ReplyRecorder(written_bytes.append, has_sessions=True).recorded_provider(Talking())

    async def ask(*fresh):
        request = ModelRequest(session_id="s", model="m", messages=fresh, fresh=fresh)
        async for _ in provider.reply(request):
            pass

    asyncio.run(ask())
    asyncio.run(ask(Message(role="user", content="hi")))
    exchanges = json.loads(written_bytes[-1])["exchanges"]
    assert [exchange.get("when") for exchange in exchanges] == [{"prompt_contains": "hi"}, None]
