"""`workbench doctor` on model servers: a real connection to a server that says what a test wants."""

import json

import pytest
from conftest import Screen, Stream

from tests.support.chat_server import ChatServer, called, error, said, whole
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch

MODELS = whole({"data": [{"id": "m", "meta": {"n_ctx_train": 4096}}]})
TWO = whole({"data": [{"id": "m"}, {"id": "other"}]})
PROPS = whole({"default_generation_settings": {"n_ctx": 2048}})
CALL = called("report_ready", '{"ready": true}')


@pytest.fixture
def serving():
    servers = []

    def start(*answers):
        servers.append(ChatServer(*answers))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def provider_check(shell, *words):
    """Run `doctor --json` and return its exit code and what it says of the one provider."""
    code = shell("doctor", "--json", *words)
    (found,) = [one for one in json.loads(shell.out)["checks"] if one["name"].startswith("provider")]
    return code, found


def test_without_a_provider_it_says_where_to_read_how(shell):
    code, found = provider_check(shell)
    assert (code, found["fact"]) == (0, "none is set up; workbench providers list shows what can be added")


def test_models_are_listed_with_their_context_and_nothing_is_asked_of_them(shell, serving):
    server = serving(MODELS)
    code, found = provider_check(shell, "--base-url", server.base_url)
    assert (code, found["models"]) == (0, [{"id": "m", "context": 4096}])
    assert "1 model: m (4,096 tokens)" in found["fact"]
    assert [(one.method, one.path) for one in server.asked] == [("GET", "/v1/models")]


def test_a_slow_probe_is_counted_on_a_terminal_and_leaves_nothing(shell, serving, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    server = serving(MODELS, said("hel", "lo"), CALL, PROPS)
    screen = Screen()
    console = Console(Stream(), screen)
    assert dispatch(["doctor", "--base-url", server.base_url, "--probe"], console) == 0
    shown = screen.getvalue()
    assert "asking for its models  0:00  ctrl+c stops" in shown
    assert "asking m two short prompts  0:00  ctrl+c stops" in shown
    assert screen.shown == "" and "\n" not in shown


def test_a_probe_says_what_a_model_can_do(shell, serving):
    server = serving(MODELS, said("hel", "lo"), CALL, PROPS)
    code, found = provider_check(shell, "--base-url", server.base_url, "--probe")
    assert (code, found["probe"]) == (0, {
        "model": "m", "answers": True, "streams": True, "calls_tools": True, "counts_tokens": True,
        "thinks": False, "context": 2048,
    })  # fmt: skip
    assert [one.path for one in server.asked] == [
        "/v1/models", "/v1/chat/completions", "/v1/chat/completions", "/props",
    ]  # fmt: skip
    assert server.asked[2].json["tools"][0]["function"]["name"] == "report_ready"


def test_a_model_that_calls_no_tool_is_of_no_use_and_that_is_said(shell, serving):
    server = serving(MODELS, said("hel", "lo"), said("I am", " ready."), PROPS)
    code, found = provider_check(shell, "--base-url", server.base_url, "--probe")
    assert (code, found["probe"]["calls_tools"]) == (1, False)
    assert "m called no tool when asked to" in found["problems"][0]


def test_a_probe_needs_to_know_which_model(shell, serving):
    server = serving(TWO)
    code, found = provider_check(shell, "--base-url", server.base_url, "--probe")
    assert code == 1
    assert found["problems"] == ["No model is named, and there is not exactly one. Name one with --model."]
    assert len(server.asked) == 1


def test_a_model_that_is_not_there_is_named_beside_those_that_are(shell, serving):
    server = serving(TWO)
    code, found = provider_check(shell, "--base-url", server.base_url, "--model", "absent", "--probe")
    assert code == 1
    assert "lists no model “absent”. It has 2 models: m, other." in found["problems"][0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (error("401 Unauthorized", "no key"), "key"),
        (whole(b"<html>a page</html>"), "must be an OpenAI-compatible endpoint"),
        (whole({"data": []}), "It offers no model. Load one there."),
        (error("500 Internal Server Error", "it broke"), "it broke"),
    ],
    ids=["key", "page", "empty", "broken"],
)
def test_a_server_that_does_not_answer_as_wanted_is_a_problem_in_words(shell, serving, answer, words):
    code, found = provider_check(shell, "--base-url", serving(answer).base_url)
    assert code == 1
    assert words in " ".join(found["problems"])


def test_a_server_that_is_down_is_a_problem_in_words(shell, serving):
    server = serving()
    address = server.base_url
    server.close()
    code, found = provider_check(shell, "--base-url", address)
    assert code == 1
    assert address in found["problems"][0]


def configured(tmp_path, monkeypatch, base_url, **provider):
    home = tmp_path / "wb-home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    local = {"kind": "openai-compatible", "base_url": base_url, "model": "m", **provider}
    (home / "config.json").write_text(json.dumps({"providers": {"local": local}}))


def test_the_key_comes_from_the_users_own_command_and_is_never_shown(shell, serving, tmp_path, monkeypatch):
    key = "fabricated-key-from-a-command"
    refusal = error("401 Unauthorized", f"the key {key} is not known")
    server = serving(refusal, refusal)  # a key that was refused is asked for once more
    configured(tmp_path, monkeypatch, server.base_url, key_command=f"printf '%s' {key}")
    code, found = provider_check(shell, "--provider", "local")
    assert [asked.headers["authorization"] for asked in server.asked] == [f"Bearer {key}"] * 2
    assert code == 1
    assert key not in shell.out + shell.err
    assert "⟨secret: provider-key⟩" in found["problems"][0]


def test_a_command_that_gives_no_key_is_said_and_nothing_is_asked(shell, serving, tmp_path, monkeypatch):
    server = serving(MODELS)
    configured(tmp_path, monkeypatch, server.base_url, key_command="exit 3")
    code, found = provider_check(shell, "--provider", "local")
    assert (code, server.asked) == (1, [])
    assert "key_command gave no key" in found["problems"][0]


def test_a_provider_that_is_not_set_up_is_refused_with_those_that_are(shell, serving, tmp_path, monkeypatch):
    configured(tmp_path, monkeypatch, serving().base_url)
    code, found = provider_check(shell, "--provider", "absent")
    assert code == 1
    assert "What can be asked: local." in found["problems"][0]
