"""`workbench providers`: what is added, listed, tested and removed, and what is never printed."""

import json

import pytest

from tests.support.chat_server import ChatServer, called, error, said, whole
from workbench.cli.context import user_actor
from workbench.config.known_providers import KEY_VARIABLES
from workbench.host import model_discovery
from workbench.host.session_requests import create_session
from workbench.journal.home import Home
from workbench.journal.journal import Journal

KEY = "fabricated-key-0123456789"
MODELS = whole({"data": [{"id": "tiny"}]})


@pytest.fixture(autouse=True)
def nothing_found(monkeypatch):
    """Nobody's servers and keys: what is found here is a test of its own."""
    monkeypatch.setattr(model_discovery, "find_local_models", lambda _servers: ())
    for row in KEY_VARIABLES:
        monkeypatch.delenv(row.variable, raising=False)


@pytest.fixture
def serving():
    servers = []

    def start(*answers):
        servers.append(ChatServer(*answers))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def config(tmp_path, monkeypatch):
    home = tmp_path / "wb-home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    return home / "config.json"


def well():
    props = whole({"default_generation_settings": {"n_ctx": 4096}})
    return MODELS, said("Hel", "lo."), called("report_ready", '{"ready": true}'), props


def test_a_provider_is_tested_and_then_written(shell, serving, config):
    server = serving(*well())
    assert shell("providers", "add", "local", "--base-url", server.base_url, "--default") == 0
    assert json.loads(config.read_text()) == {
        "config_version": 1, "default_provider": "local",
        "providers": {"local": {"kind": "openai-compatible", "base_url": server.base_url}},
    }  # fmt: skip
    assert shell.out.startswith(
        f"Added local in {config}. New sessions ask local.\nlocal works: tiny streams, calls tools"
    )
    assert shell.err == (
        f"Asking {server.base_url} for its models.\n"
        "Asking tiny for two short replies; it may have to be loaded first.\n"
    )


FAILING = {
    "nothing answers": ((), "Nothing answers at"),
    "no models": ((whole({"data": []}),), "It offers no model."),
    "several models": ((whole({"data": [{"id": "a"}, {"id": "b"}]}),), "No model is named"),
    "html": ((whole(b"<html>"),), ""),
    "no tools": ((MODELS, said("Hi"), said("no")), "tiny called no tool when asked to"),
}


@pytest.mark.parametrize(("answers", "words"), FAILING.values(), ids=FAILING)
def test_what_does_not_work_is_not_written(shell, serving, config, answers, words):
    url = serving(*answers).base_url if answers else "http://127.0.0.1:9/v1"
    assert shell("providers", "add", "local", "--base-url", url) == 1
    assert "The provider local was not added." in shell.err and words in shell.err
    assert "--no-test" in shell.err and not config.exists()
    assert shell("providers", "add", "local", "--base-url", url, "--no-test") == 0
    assert "local" in json.loads(config.read_text())["providers"]


def test_a_model_that_the_server_does_not_have(shell, serving, config):
    url = serving(MODELS).base_url
    assert shell("providers", "add", "local", "--base-url", url, "--model", "big") == 1
    assert "lists no model “big”. It has 1 model: tiny." in shell.err


def test_a_service_that_lists_nothing_is_judged_by_its_model(shell, serving, config):
    server = serving(error("404 Not Found", "no"), *well()[1:])
    assert shell("providers", "add", "s", "--base-url", server.base_url, "--model", "m") == 0
    assert shell.json("providers", "list", "--offline", "--json")["providers"][0]["model"] == "m"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("a b", "--base-url", "http://h/v1"), "is not a name"),
        (("a", "--base-url", "h"), "base_url must be"),
        (("a",), "has no base_url"),
        (
            ("a", "--base-url", "http://h/v1", "--key-env", KEY.replace("-", "_")),
            "Give the NAME of a variable",
        ),
        (("a", "--base-url", "http://h/v1", "--key-env", "A", "--key-command", "b"), "not allowed with"),
        (("a", "--kind", "smoke"), "invalid choice"),
    ],
)
def test_what_makes_no_sense_is_a_misuse(shell, config, words, why):
    assert shell("providers", "add", *words) == 2
    assert why in shell.err and KEY.replace("-", "_") not in shell.err
    assert not config.exists()


def test_a_name_that_is_taken_asks_nobody(shell, serving, config):
    shell("providers", "add", "local", "--base-url", "http://127.0.0.1:9/v1", "--no-test")
    server = serving(*well())
    assert shell("providers", "add", "local", "--base-url", server.base_url) == 1
    assert "with other settings" in shell.err and server.asked == []
    assert shell("providers", "add", "local", "--base-url", server.base_url, "--replace") == 0
    assert shell.out.startswith(f"Changed local in {config}.")


def test_a_broken_file_asks_nobody(shell, serving, config):
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('{ "providers": {')
    server = serving(*well())
    assert shell("providers", "add", "local", "--base-url", server.base_url) == 1
    assert "config.json was not changed." in shell.err and server.asked == []


def test_a_name_that_is_not_there_is_said_before_anybody_is_asked(shell, config):
    shell("providers", "add", "local", "--base-url", "http://127.0.0.1:9/v1", "--no-test")
    assert shell("providers", "remove", "other") == 1
    assert "It has no provider “other”." in shell.err and "terminal" not in shell.err


def test_keys_are_named_and_never_printed(shell, serving, config, monkeypatch):
    monkeypatch.setenv("LLM_PASS", KEY)
    server = serving(*well(), MODELS)
    told = shell.json(
        "providers", "add", "h", "--base-url", server.base_url, "--key-env", "LLM_PASS", "--json"
    )
    outputs = [shell.out, shell.err, config.read_text()]
    assert (told["key_env"], told["test"]["ok"], told["test"]["probe"]["calls_tools"]) == (
        "LLM_PASS",
        True,
        True,
    )
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    assert shell("providers", "list") == 0
    outputs += [shell.out, shell.err]
    assert "  key     LLM_PASS, set\n" in shell.out and "  models  tiny\n" in shell.out
    monkeypatch.delenv("LLM_PASS")
    assert shell("providers", "list", "--offline") == 0
    assert "  key     LLM_PASS, not set\n" in shell.out
    assert not [output for output in outputs if KEY in output]
    assert (
        shell("providers", "add", "k", "--base-url", "http://h/v1", "--key-env", "LLM_PASS", "--no-test") == 0
    )
    assert "LLM_PASS is not set in this shell." in shell.err


def test_the_list_says_what_was_found_and_how_to_add_it(shell, config, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    assert shell("providers", "list") == 0
    assert shell.out.startswith("No provider is set up.\n\nFound here and not in the configuration:\n")
    command = (
        "workbench providers add gemini --base-url https://generativelanguage.googleapis.com/v1beta/openai "
        "--model gemini-flash-latest --key-env GEMINI_API_KEY"
    )
    assert f"  Google Gemini, GEMINI_API_KEY is set\n    {command}\n" in shell.out
    assert shell(*command.split()[1:], "--no-test") == 0
    told = shell.json("providers", "list", "--offline", "--json")
    assert (told["found"], [row["name"] for row in told["providers"]]) == ([], ["gemini"])
    assert (told["providers"][0]["is_default"], told["providers"][0]["is_key_here"]) == (True, True)


def test_a_provider_is_tested(shell, serving, config):
    server = serving(*well(), MODELS, said("hi"), said("no"), error("404 Not Found", "no"))
    shell("providers", "add", "local", "--base-url", server.base_url, "--no-test")
    assert shell("providers", "test", "local") == 0
    assert shell.out.startswith("local works: tiny streams, calls tools, counts tokens")
    told = shell.json("providers", "test", "local", "--json")
    assert (told["ok"], told["probe"]["calls_tools"], len(told["problems"])) == (False, False, 1)
    assert shell("providers", "test", "smoke") == 2
    assert "The providers are: local" in shell.err


def test_removing_names_the_sessions_that_still_ask_it(shell, config):
    shell("providers", "add", "local", "--base-url", "http://h/v1", "--no-test", "--default")
    with Journal.open(Home.open()) as journal:
        create_session(
            journal,
            workspace=str(shell.workspace),
            provider="local",
            model="m",
            actor=user_actor(),
            title="a task",
        )
    assert shell("providers", "remove", "local") == 2
    assert "Use --yes" in shell.err and "local" in config.read_text()
    assert (
        "1 session asks local, and cannot continue until /model names another one:\n  “a task” (" in shell.err
    )
    assert shell("providers", "remove", "local", "--yes") == 0
    assert shell.out == f"Removed local from {config}. It was the default; there is none now.\n"
    assert json.loads(config.read_text()) == {"config_version": 1, "providers": {}}
    assert shell("providers", "remove", "local", "--yes") == 1
    assert "It has no provider “local”." in shell.err


def test_a_provider_of_a_workspace_is_not_removed_from_the_users_file(shell, config):
    (shell.workspace / ".workbench.json").write_text(json.dumps({"providers": {"w": {"kind": "ollama"}}}))
    assert shell("trust", "--yes") == 0
    assert shell("providers", "remove", "w", "--yes") == 1
    assert f"It is set in {shell.workspace}/.workbench.json" in shell.err.replace("W is", "It is")


def test_an_agent_changes_nothing(shell, config, monkeypatch):
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    assert shell("providers", "add", "a", "--base-url", "http://h/v1", "--no-test") == 1
    assert "agents cannot answer for a human" in shell.err and not config.exists()
