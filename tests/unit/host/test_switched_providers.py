"""One session asks Ollama, then Anthropic, then Azure: its calls go along, its driver dies between, no key stays."""

import json

import pytest

from tests.support.chat_server import Answer, ChatServer, called, said
from tests.support.stage import USER, Stage, exchange, recording, text
from workbench.domain import events
from workbench.domain.messages import asked_models
from workbench.host import session_requests
from workbench.host.model_selection import change_model
from workbench.journal.leases import take_lease

KEYS = {name: f"sk-made-up-{name}-Kq7Zp2Wm4Xc9" for name in ("SWITCH_ANTHROPIC", "SWITCH_AZURE")}
LINES = {"Content-Type": "application/x-ndjson"}


def ollama_call():
    function = {"name": "read_file", "arguments": {"path": "a.txt"}}
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    reply = {"message": message, "done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 2}
    return Answer([json.dumps(reply).encode() + b"\n"], headers=LINES)


def anthropic_call():
    """A signed thought, then a call."""
    blocks = [
        ({"type": "thinking", "thinking": "", "signature": ""},
         [{"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "c2ln"}]),
        ({"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}},
         [{"type": "input_json_delta", "partial_json": '{"path": "a.txt"}'}]),
    ]  # fmt: skip
    values = [{"type": "message_start", "message": {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 30, "output_tokens": 1},
    }}]  # fmt: skip
    for index, (start, deltas) in enumerate(blocks):
        values.append({"type": "content_block_start", "index": index, "content_block": start})
        values += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        values.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    values += [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return Answer([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in values])


def begun(tmp_path, ollama, anthropic, azure):
    root = ollama.base_url.removesuffix("/v1")
    azure_root = azure.base_url.removesuffix("/v1")
    config = {"default_provider": "o", "providers": {
        "o": {"kind": "ollama", "base_url": root, "model": "qwen", "num_ctx": 4096},
        "a": {"kind": "anthropic", "base_url": anthropic.base_url, "model": "m", "key_env": "SWITCH_ANTHROPIC"},
        "z": {"kind": "azure-openai", "base_url": azure_root, "model": "d", "key_env": "SWITCH_AZURE",
              "api_version": "2024-10-21"},
    }}  # fmt: skip
    stage = Stage(tmp_path, recording(exchange(text("unused"))), files={"a.txt": "forty-two"}, config=config)
    stage.trust().begin("what does a.txt say?")
    body = events.SessionChanged(provider="o", model="qwen")
    stage.journal.append([stage.journal.event(body, stage.session_id, USER)])
    return stage


def drive_until_a_call_is_done_and_die(stage, calls):
    """Drive until so many calls are done, then be gone without a word, and let another driver die at once."""

    def until(progress):
        return sum(call.state == "succeeded" for call in progress.calls) >= calls

    stage.drive(until)
    take_lease(stage.journal, stage.session_id, stage.driver())
    stage.lock.close()


def switch(stage, words):
    config = stage.context().read_settings().config
    listing = lambda provider, seconds: ("m", "d", "qwen")  # noqa: E731
    change_model(stage.journal, config, stage.session(), words, USER, listing)
    session_requests.continue_session(stage.journal, stage.session_id, USER)


@pytest.mark.spec(187)
def test_a_session_goes_from_kind_to_kind_with_its_calls_and_survives_its_drivers(tmp_path, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with (
        ChatServer(ollama_call(), otherwise=Answer([])) as ollama,
        ChatServer(anthropic_call(), otherwise=Answer([])) as anthropic,
        ChatServer(called("read_file", '{"path": "a.txt"}'), said("It says forty-two.")) as azure,
    ):
        stage = begun(tmp_path, ollama, anthropic, azure)
        drive_until_a_call_is_done_and_die(stage, 1)
        switch(stage, "a/m")
        drive_until_a_call_is_done_and_die(stage, 2)
        switch(stage, "z/d")
        assert stage.drive().last_outcome == "done"
        of_anthropic, of_azure = anthropic.asked[0], azure.asked[-1]
        # Anthropic got the call of Ollama with a legal id, and its result in one message.
        _, call, result = of_anthropic.json["messages"][:3]
        (use,) = [block for block in call["content"] if block["type"] == "tool_use"]
        (given,) = [block for block in result["content"] if block["type"] == "tool_result"]
        assert use["id"] == given["tool_use_id"] and "forty-two" in given["content"]
        # Azure got both, and no signed thinking.
        messages = of_azure.json["messages"]
        ids = [one["id"] for message in messages for one in message.get("tool_calls", ())]
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert len(ids) == 3 == len(set(ids)) and ids == answered
        assert "c2ln" not in of_azure.body.decode() and "signature" not in of_azure.body.decode()
        # Each key went to its own server, and each call tells who was asked then.
        assert anthropic.asked[0].headers["x-api-key"] == KEYS["SWITCH_ANTHROPIC"]
        assert of_azure.headers["api-key"] == KEYS["SWITCH_AZURE"]
        assert not any(value in str(one.headers) for one in ollama.asked for value in KEYS.values())
        asked = asked_models(stage.journal.events(stage.session_id))
        assert [asked[call.id][0] for call in stage.journal.calls(stage.session_id)] == ["o", "a", "z"]
        stage.close()
    kept = [path for path in stage.home.path.rglob("*") if path.is_file()]
    assert not [path for path in kept for value in KEYS.values() if value.encode() in path.read_bytes()]
