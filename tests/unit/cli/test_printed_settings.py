"""Settings as they are printed, in the set-up page and in the first seed, begin sessions: nothing in them is changed.

Connections to the hosts that they name end at a server on loopback, without TLS; all else is as it is.
"""

import json
import re

import httpcore
import pytest

from tests.support.chat_server import Answer, ChatServer
from tests.unit.providers.wires import ollama_line, says_of_kind
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.views.provider_form import SETUP_TEXT

SNIPPETS = re.findall(
    r"^    (\{ .*?\} \} \})$", SETUP_TEXT.format(file="config.json"), re.MULTILINE | re.DOTALL
)
# "Config File Format" of the seed, byte for byte.
WINK = """\
{
  "config_version": "1.0",
  "default_model": "qwen3:8b",
  "ollama_base_url": "http://localhost:11434",
  "api_timeout_seconds": 30,
  "max_session_messages": 100,
  "output_format": "human",
  "auto_approval_rules": [
    {
      "id": "rule-1",
      "tool_name": "read_file",
      "param_pattern": ".*\\\\.txt$",
      "description": "Auto-approve reading .txt files",
      "created_at": "2025-11-10T09:00:00Z",
      "last_used_at": "2025-11-10T10:00:00Z",
      "use_count": 5
    }
  ]
}
"""
KEY = "made-up-key-Kq7Zp2"


KEY_HEADERS = {"anthropic": ("x-api-key", KEY), "azure-openai": ("api-key", KEY)}


class WithoutTls(httpcore.AsyncNetworkStream):
    """A connection that is taken for a safe one."""

    def __init__(self, stream):
        self.read, self.write, self.aclose = stream.read, stream.write, stream.aclose
        self.get_extra_info = stream.get_extra_info

    async def start_tls(self, *_, **__):
        return self


@pytest.fixture
def connected(monkeypatch):
    """Lead every connection to a server, and remember where it wanted to go."""
    connect, wanted = httpcore.AnyIOBackend.connect_tcp, []

    def lead_to(server):
        async def connect_tcp(backend, host, port, **more):
            wanted.append((host, port))
            return WithoutTls(await connect(backend, "127.0.0.1", server.port, **more))

        monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect_tcp)
        return wanted

    return lead_to


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A data folder, and the commands and variables that give keys."""
    folder, programs = tmp_path / "wb-home", tmp_path / "programs"
    folder.mkdir(mode=0o700)
    programs.mkdir()
    for name in ("az", "secret-tool"):
        (programs / name).write_text(f"#!/bin/sh\nprintf '%s\\n' {KEY}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("WORKBENCH_HOME", str(folder))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    for name in ("MODELS_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    return folder


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[json.loads(one)["default_provider"] for one in SNIPPETS])
def test_each_snippet_of_the_set_up_page_begins_a_session_as_printed(shell, home, connected, snippet):
    (home / "config.json").write_text(snippet)
    ((name, provider),) = json.loads(snippet)["providers"].items()
    with ChatServer(says_of_kind(provider["kind"], "Hello.")) as server:
        wanted = connected(server)
        assert shell("run", "-p", "hi") == 0, shell.err
        assert shell.out == "Hello.\n"
        (asked,) = server.asked
    host = re.match(r"https?://([^:/]+)", provider["base_url"])[1].lower()
    assert {one for one, _ in wanted} == {host}
    deployment = f"/openai/deployments/{provider['model']}/"
    assert asked.path.startswith(deployment) or asked.json["model"] == provider["model"]
    if {"key_env", "key_command"} & set(provider):
        header, value = KEY_HEADERS.get(provider["kind"], ("authorization", f"Bearer {KEY}"))
        assert asked.headers[header] == value
    if provider["kind"] == "ollama":
        assert asked.json["options"]["num_ctx"] == provider["num_ctx"]
    with Journal.open(Home.open(home)) as journal:
        (session,) = journal.sessions()
        assert (session.provider, session.model) == (name, provider["model"])


@pytest.mark.spec(37)
@pytest.mark.spec(38)
def test_the_first_seeds_sample_begins_a_session_as_printed(shell, home, connected, monkeypatch):
    monkeypatch.setenv("WORKBENCH_APPROVALS_READ_ONLY", "auto")
    (home / "config.json").write_text(WINK)
    (shell.workspace / "notes.txt").write_text("forty-two")
    calls = [("read_file", {"path": "notes.txt"})]
    with ChatServer(
        Answer([], "404 Not Found"), ollama_line(calls=calls), Answer([], "404 Not Found"), ollama_line("42.")
    ) as server:
        wanted = connected(server)
        assert shell("run", "-p", "what do the notes say?", "--on-approval", "deny") == 0, shell.err
        assert "Rule rule-1 is not used as it stands" in shell.err, (
            "it can match nothing: parameters are JSON"
        )
        first, second = [asked for asked in server.asked if asked.path == "/api/chat"]
    assert shell.out.endswith("42.\n") and "read_file" in shell.out
    assert set(wanted) == {("localhost", 11434)}
    assert (first.json["model"], first.json["truncate"]) == ("qwen3:8b", False)
    assert [(one["tool_name"], "forty-two" in one["content"]) for one in second.json["messages"][3:]] == [
        ("read_file", True)
    ]
    assert (home / "config.json").read_text() == WINK, "a file of an older version is read and not written"
    with Journal.open(Home.open(home)) as journal:
        (session,) = journal.sessions()
        assert (session.provider, session.model) == ("ollama", "qwen3:8b")
