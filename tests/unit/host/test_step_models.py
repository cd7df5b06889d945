"""Whom a step of a pipeline asks, how much it may hold, and who was asked for what a session did."""

import json

import pytest

from workbench.config.layers import load_config
from workbench.domain.events import CallProposed, Event, ReplyCompleted, TurnStarted
from workbench.domain.messages import asked_models
from workbench.domain.values import Actor, GateVerdict, ReplyCall
from workbench.host.model_selection import ModelPreference, fallback_of, model_of_step, select_model
from workbench.host.session_provider import known_context_tokens

LOCAL = {"kind": "openai-compatible", "base_url": "http://127.0.0.1:1/v1", "model": "small", "num_ctx": 8192}
OLLAMA = {"kind": "ollama", "model": "qwen"}


def settings(tmp_path, **document):
    (tmp_path / "config.json").write_text(json.dumps(document))
    return load_config(tmp_path, None, trusted=False, env={}, options={}).config


@pytest.mark.parametrize(
    ("document", "persona", "asked"),
    [
        ({"providers": {"only": LOCAL}}, ("", ""), ("only", "small")),
        ({"providers": {"a": LOCAL, "b": OLLAMA}, "default_provider": "b"}, ("", ""), ("b", "qwen")),
        ({"providers": {"a": LOCAL, "b": OLLAMA}, "default_provider": "b"}, ("a", ""), ("a", "small")),
        ({"providers": {"a": LOCAL, "b": OLLAMA}, "default_provider": "b"}, ("a", "large"), ("a", "large")),
        ({"providers": {"a": LOCAL}, "default_model": "m"}, ("", ""), ("a", "m")),
        ({"providers": {"a": LOCAL, "b": OLLAMA}}, ("", ""), ("", "")),
        ({}, ("", "m"), ("", "m")),
        ({"providers": {"a": LOCAL, "b": OLLAMA}}, ("", "b/m"), ("b", "m")),
        ({"providers": {"a": LOCAL, "b": OLLAMA}}, ("a", "b/m"), ("a", "b/m")),
        ({"providers": {"a": LOCAL, "b": OLLAMA}, "default_model": "b/m"}, ("", ""), ("b", "m")),
        ({"providers": {"a": LOCAL, "b": OLLAMA}, "default_model": "b/m"}, ("a", ""), ("a", "small")),
    ],
)
def test_a_step_asks_whom_a_session_would_ask(tmp_path, document, persona, asked):
    config = settings(tmp_path, **document)
    assert model_of_step(config, *persona) == asked
    if asked[0] and not persona[1]:
        chosen = select_model(config, ModelPreference(provider=persona[0] or None))
        assert (chosen.provider, chosen.model) == asked


def test_the_context_of_a_step_is_that_of_the_provider_it_asks(tmp_path):
    config = settings(
        tmp_path,
        providers={"only": LOCAL, "o": OLLAMA, "plain": {**LOCAL, "num_ctx": None} | {"num_ctx": 256}},
    )
    assert known_context_tokens(config, "only") == 8192
    assert known_context_tokens(config, "o") == 32_768, "what an Ollama server is asked for"
    assert known_context_tokens(config, "openai-compatible") is None


@pytest.mark.parametrize(
    ("provider", "told", "holds"),
    [
        ("o", 8_192, 8_192), ("o", None, 32_768), ("o", 131_072, 32_768), ("only", 4_096, 8_192),
        ("openai-compatible", 4_096, 4_096), ("anthropic", None, 200_000),
    ],
)  # fmt: skip
def test_what_a_server_told_of_its_model_goes_before_what_its_kind_is_known_for(
    tmp_path, provider, told, holds
):
    config = settings(tmp_path, providers={"only": LOCAL, "o": OLLAMA})
    assert known_context_tokens(config, provider, told) == holds


def test_calls_and_replies_tell_who_was_asked_then():
    def event(number, body, **more):
        return Event(
            id=f"e{number}", session_id="s", at=number, actor=Actor(kind="host", pid=1), body=body, **more
        )

    replaced = CallProposed(
        tool="x", replaces="c1", verdict=GateVerdict(outcome="ask", step="schema", by="x")
    )
    events = [
        event(1, TurnStarted(provider="ollama", model="qwen")),
        event(
            2, ReplyCompleted(calls=(ReplyCall(call_id="c1", provider_call_id="p", tool="x", arguments={}),))
        ),
        event(3, TurnStarted(provider="azure", model="deployment")),
        event(4, ReplyCompleted(model="other")),
        event(5, replaced, call_id="c2"),
    ]
    assert asked_models(events) == {
        "e2": ("ollama", "qwen"), "c1": ("ollama", "qwen"), "e4": ("azure", "other"), "c2": ("ollama", "qwen"),
    }  # fmt: skip


def test_a_fallback_is_only_what_the_settings_name_and_what_can_be_asked(tmp_path):
    config = settings(tmp_path, providers={
        "a": {**LOCAL, "fallback": "b"}, "b": {**OLLAMA, "fallback": "nobody"},
        "c": {**LOCAL, "fallback": "d"}, "d": {"kind": "anthropic"}, "e": LOCAL,
    })  # fmt: skip
    chosen = fallback_of(config, "a")
    assert chosen is not None and (chosen.provider, chosen.model) == ("b", "qwen")
    assert [fallback_of(config, name) for name in ("b", "c", "e", "x")] == [None] * 4
