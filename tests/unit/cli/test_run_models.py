"""`workbench run` against a model server: what goes well, and everything that does not."""

import json

import pytest

from tests.support.chat_server import (
    Answer,
    ChatServer,
    Reset,
    Stall,
    called,
    chunk,
    error,
    event,
    said,
    whole,
)
from tests.support.waits import PATIENCE
from workbench.host.driver_context import open_driver_context
from workbench.host.session_provider import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tools.registry import tool_descriptors

KEY = "fabricated-key-0123456789"


@pytest.fixture
def serving():
    servers = []

    def start(*answers, **more):
        servers.append(ChatServer(*answers, **more))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def configured(shell, tmp_path, monkeypatch):
    """Set a provider up in the user's own configuration."""

    def write(base_url, *, more=None, **provider):
        home = tmp_path / "wb-home"
        home.mkdir(mode=0o700, exist_ok=True)
        monkeypatch.setenv("WORKBENCH_HOME", str(home))
        local = {"kind": "openai-compatible", "base_url": base_url, "model": "m", **provider}
        (home / "config.json").write_text(json.dumps({"providers": {"local": local}, **(more or {})}))
        return home

    return write


def test_a_reply_comes_to_the_terminal(shell, serving):
    server = serving(said("Hel", "lo."))
    assert shell("run", "-p", "hi", "--base-url", server.base_url, "--model", "m") == 0
    assert shell.out == "Hello.\n"
    (asked,) = server.asked
    system, prompt = asked.json["messages"]
    assert str(shell.workspace) in system["content"]
    assert prompt == {"role": "user", "content": "hi"}
    assert {"create_file", "read_file"} <= {tool["function"]["name"] for tool in asked.json["tools"]}


def test_a_model_of_a_provider_is_named_in_one_word_and_looked_up(shell, serving, configured):
    models = whole({"data": [{"id": "qwen3-coder"}, {"id": "gpt-oss"}]})
    server = serving(models, said("Hello."), models, error("503 Unavailable", "busy"), said("Hello."))
    configured(server.base_url)
    assert shell("run", "-p", "hi", "--model", "local/gpt-oss") == 0, shell.err
    assert [asked.path for asked in server.asked] == ["/v1/models", "/v1/chat/completions"]
    assert server.asked[1].json["model"] == "gpt-oss"
    assert "checked" not in shell.err
    assert shell("run", "-p", "hi", "--model", "local/qwen3-codre") == 2
    assert "local has no model “qwen3-codre”" in shell.err
    assert "It has qwen3-coder, gpt-oss." in shell.err
    assert len(server.asked) == 3, "nothing was sent to a model"
    assert shell("run", "-p", "hi", "--model", "any") == 0, shell.err
    assert "“any” was not checked: local does not list its models" in shell.err


@pytest.mark.spec(187, 193)
def test_a_model_sees_the_tools_that_were_named_as_far_as_the_settings_offer_them(shell, serving, configured):
    server = serving(said("ok"), said("ok"), said("ok"))
    tools = {
        "read_file": {"providers": ["ollama"]},
        "list_dir": {"providers": ["local"]},
        "git_preparePr": {"providers": []},
    }
    configured(server.base_url, more={"tools": tools})
    assert shell("run", "-p", "hi", "--tools", "read_file,list_dir,grep_search") == 0
    assert shell("run", "-p", "hi") == 0
    assert shell("run", "--continue", "-p", "go on") == 0
    names = [{tool["function"]["name"] for tool in asked.json["tools"]} for asked in server.asked]
    assert names[0] == {"list_dir", "grep_search"}
    assert (
        names[1]
        == names[2]
        == {tool.wire_name for tool in tool_descriptors()} - {"read_file", "git_preparePr"}
    )


def test_the_only_model_of_a_server_is_taken(shell, serving):
    server = serving(whole({"data": [{"id": "tiny"}]}), said("ok"))
    assert shell("run", "-p", "hi", "--base-url", server.base_url) == 0
    assert [asked.path for asked in server.asked] == ["/v1/models", "/v1/chat/completions"]
    assert server.asked[1].json["model"] == "tiny"


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (whole({"data": [{"id": "a"}, {"id": "b"}]}), 2, "Name one with --model: a, b."),
        (whole({"data": []}), 1, "offers no model"),
        (whole({"models": "x"}), 1, "a list of models without data"),
        (whole(b"<html>"), 1, "not a reply of a model"),
        (error("401 Unauthorized", "no"), 1, "needs a key"),
    ],
)
def test_without_a_model_nothing_begins(shell, serving, answer, code, words):
    assert shell("run", "-p", "hi", "--base-url", serving(answer).base_url) == code
    assert words in shell.err
    assert shell.json("sessions", "list", "--json") == []


BROKEN = [event(chunk({"content": "I be"}))]
BAD = {
    "refuses": (error("403 Forbidden", "not you"), "key_needed", "needs a key"),
    "needs a key": (error("401 Unauthorized", "no key"), "key_needed", "key_env"),
    "no such model": (error("404 Not Found", "no model m"), "no_such_model", 'has no model "m"'),
    "stalls": (Answer([*BROKEN, Stall()]), "server_stalled", "silence_seconds"),
    "does not begin": (Answer([Stall()]), "no_answer", "first_token_seconds"),
    "garbage": (Answer([event("{no")]), "not_openai", "not a reply of a model"),
    "a page": (Answer([b"<html>"], headers={"Content-Type": "text/html"}), "not_openai", "/v1"),
    "ends in the middle": (Answer(BROKEN), "reply_broken_off", "broke before the reply"),
    "breaks": (Answer([*BROKEN, Reset()]), "reply_broken_off", "continue to ask again"),
    "too long": (
        error("400 Bad Request", "maximum context length is 512 tokens"), "context_overflow", "new session",
    ),
}  # fmt: skip


LIMITS = {"stalls": {"silence_seconds": 1}, "does not begin": {"first_token_seconds": 1}}
"""Of the cases that are about a time; for all others it is as long as ever needed."""


@pytest.mark.parametrize("case", BAD, ids=str)
def test_what_goes_wrong_is_said_and_the_session_goes_on(shell, serving, configured, case):
    answer, code, words = BAD[case]
    server = serving(answer, said("Now it works."))
    long = {"silence_seconds": int(PATIENCE), "first_token_seconds": int(PATIENCE)}
    configured(server.base_url, **(long | LIMITS.get(case, {})))
    assert shell("run", "-p", "hi", "--output-format", "json") == 1
    found = json.loads(shell.out)
    assert (found["status"], found["error"]["code"], found["exit"]) == ("paused", code, 1)
    assert words in shell.err
    assert found["error"]["remedy"]
    configured(server.base_url)
    assert shell("run", "--continue") == 0
    assert shell.out == "Now it works.\n"


def test_a_server_that_is_down_and_comes_up(shell, serving, configured):
    with ChatServer() as gone:
        base_url = gone.base_url
    configured(base_url)
    assert shell("run", "-p", "hi") == 1
    assert "Nothing answers at" in shell.err and "Start the server" in shell.err
    configured(serving(said("Back.")).base_url)
    assert shell("run", "--continue") == 0
    assert shell.out == "Back.\n"


def test_what_passes_is_waited_for_and_said(shell, serving, configured):
    soon = {"retry-after-ms": "10"}
    server = serving(
        error("429 Too Many Requests", "slow down", soon), error("503 Service Unavailable", "busy", soon),
        error("503 Service Unavailable", "Loading model", soon), error("503 Loading", "Loading model", soon),
        said("ok"),
    )  # fmt: skip
    configured(server.base_url)
    assert shell("run", "-p", "hi") == 0
    assert shell.out == "ok\n"
    assert (shell.err.count("Trying again"), shell.err.count("still loading")) == (2, 1)


def test_what_does_not_pass_is_given_up(shell, serving, configured):
    server = serving(otherwise=error("500 Oh", "broken", {"retry-after-ms": "1"}))
    configured(server.base_url)
    assert shell("run", "-p", "hi") == 1
    assert len(server.asked) == 4
    assert "3 more tries did not help." in shell.err


def test_a_wait_that_is_too_long_is_left_to_a_human(shell, serving, configured):
    server = serving(otherwise=error("429 Too Many Requests", "slow", {"Retry-After": "7200"}))
    configured(server.base_url)
    assert shell("run", "-p", "hi") == 1
    assert (len(server.asked), "come back in 120 minutes" in shell.err) == (1, True)


@pytest.mark.parametrize("arguments", ['{"path": "a"', "[1]", '{"path": 1, "path": 2}', "nonsense"])
def test_arguments_that_are_no_object_are_refused_and_the_model_is_told(
    shell, serving, configured, arguments
):
    server = serving(called("create_file", arguments), said("I see."))
    configured(server.base_url)
    assert shell("run", "-p", "hi") == 0
    (told,) = (message for message in server.asked[1].json["messages"] if message["role"] == "tool")
    assert told["tool_call_id"] == "call_1"
    assert (
        "the arguments are not a JSON object" in told["content"] and "send the call again" in told["content"]
    )
    assert list(shell.workspace.iterdir()) == []


def test_arguments_beyond_the_limit_are_refused(shell, serving, configured):
    long = json.dumps({"path": "a", "content": "x" * 1_100_000})
    server = serving(called("create_file", long), said("I see."))
    configured(server.base_url)
    assert shell("run", "-p", "hi") == 0
    (told,) = (message for message in server.asked[1].json["messages"] if message["role"] == "tool")
    assert "longer than 1,000,000 characters" in told["content"]


def test_a_reply_that_was_cut_is_said_to_be_cut(shell, serving, configured):
    configured(serving(said("half a sen", finish="length")).base_url)
    assert shell("run", "-p", "hi") == 1, "half an answer is none"
    assert "cut at the limit of tokens" in shell.err and "max_tokens" in shell.err


# --- keys ---------------------------------------------------------------------------------------------


def files_with(folder, secret):
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_a_key_is_sent_and_never_kept(shell, serving, configured, monkeypatch, tmp_path):
    monkeypatch.setenv("LLM_PASS", KEY)
    echo = json.dumps({"path": f"{KEY}.txt", "content": KEY})
    server = serving(
        error("500 Oh", f"you sent Bearer {KEY}", {"retry-after-ms": "1"}),
        called("create_file", echo, call_id=KEY, text=f"Your key is {KEY[:9]}"),
        Answer([*(event(chunk({"content": letter})) for letter in f"{KEY} "), *said(KEY).pieces]),
        error("401 Unauthorized", f"{KEY} is wrong"),
    )
    home = configured(server.base_url, key_env="LLM_PASS")
    kept = tmp_path / "kept.json"
    words = ("run", "--record", str(kept), "--on-approval", "deny")
    codes = [shell(*words, "-p", f"my key is {KEY}", "--output-format", "stream-json")]
    outputs = [shell.out, shell.err]
    codes.append(shell("run", "--continue", "-p", "again"))
    outputs += [shell.out, shell.err]
    (session,) = shell.json("sessions", "list", "--json")
    for more in (["sessions", "show", session["id"], "--json"], ["sessions", "export", session["id"]]):
        shell(*more)
        outputs += [shell.out, shell.err]
    assert codes == [4, 1]
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    leaks = [output[max(0, at - 200) : at + 60] for output in outputs if (at := output.find(KEY)) >= 0]
    assert leaks == []
    assert "⟨secret: provider-key⟩" in outputs[0]
    assert KEY not in kept.read_text()
    # The prompt is the user's own and kept exactly, sealed; nothing that a server said back is.
    places = {path.relative_to(home).parts[:2] for path in files_with(home, KEY)}
    assert places == {("blobs", "sealed")}


def test_a_key_is_not_in_the_environment_of_commands(shell, configured, monkeypatch):
    monkeypatch.setenv("LLM_PASS", KEY)
    monkeypatch.setenv("HARMLESS", "yes")
    configured("http://127.0.0.1:1/v1", key_env="LLM_PASS")
    with Journal.open(home := Home.open()) as journal:
        context = open_driver_context(
            home, journal, str(shell.workspace), provider=provider_of, pipelines=SessionPipelineStarter
        )
        context.root.close()
    assert (context.environment["HARMLESS"], "LLM_PASS" in context.environment) == ("yes", False)


def test_a_key_that_is_not_set(shell, serving, configured):
    server = serving(said("never"))
    configured(server.base_url, key_env="LLM_PASS")
    assert shell("run", "-p", "hi") == 1
    assert "The variable LLM_PASS is not set here" in shell.err and "(export LLM_PASS=" in shell.err
    assert server.asked == []


def test_a_key_goes_to_no_other_address(shell, serving, configured, monkeypatch):
    monkeypatch.setenv("LLM_PASS", KEY)
    other = serving(said("ok"), said("ok"))
    configured("http://127.0.0.1:1/v1", key_env="LLM_PASS", headers={"X-Team": "secret team"})
    words = ("run", "-p", "hi", "--provider", "local", "--base-url", other.base_url)
    assert shell(*words) == 0
    assert "authorization" not in other.asked[0].headers and "x-team" not in other.asked[0].headers
    assert shell(*words, "--key-env", "LLM_PASS") == 0
    assert other.asked[1].headers["authorization"] == f"Bearer {KEY}"


def test_a_workspace_cannot_send_the_conversation_elsewhere(shell, serving, configured, monkeypatch):
    configured("http://127.0.0.1:1/v1")
    local = {"kind": "openai-compatible", "base_url": "http://elsewhere.example/v1", "model": "m"}
    (shell.workspace / ".workbench.json").write_text(json.dumps({"providers": {"local": local}}))
    assert shell("trust", "--yes") == 0
    assert shell("run", "-p", "hi") == 2
    assert "Only the workspace names the server elsewhere.example" in shell.err


# --- recordings ---------------------------------------------------------------------------------------


def events_of(shell):
    """Return what a session says happened, without ids and times."""
    (session, *_) = shell.json("sessions", "list", "--json")
    shell("sessions", "export", session["id"])
    kept = []
    for line in shell.out.splitlines():
        found = json.loads(line)
        if found.get("kind") in ("reply.completed", "error.raised", "call.proposed", "turn.ended"):
            body = found["body"]
            kept.append(
                (found["kind"], body.get("text"), body.get("code"), body.get("message"), body.get("usage"))
            )
    return kept


def test_what_is_recorded_plays_again(shell, serving, configured, tmp_path):
    server = serving(
        error("429 Too Many Requests", "slow", {"retry-after-ms": "5"}),
        called("create_file", '{"path": "a.txt", "content": "ü\\n"}', text="I write. "),
        called("read_file", "{broken", call_id="c2"),
        said("Done", ".", finish="length"),
    )
    configured(server.base_url)
    kept = tmp_path / "kept.json"
    words = ("-p", "hi", "--on-approval", "deny")
    assert shell("run", *words, "--record", str(kept)) == 4
    out, told = shell.out, events_of(shell)
    assert shell("run", *words, "--recording", str(kept)) == 4
    assert (shell.out, events_of(shell)) == (out, told)
    assert shell("run", *words, "--record", str(kept)) == 1
    assert "is there already" in shell.err
    assert shell("run", *words, "--record", str(tmp_path / "no" / "folder")) == 1
    assert shell("run", *words, "--recording", str(kept), "--record", "x") == 2


def blocks_of(*blocks, stop="end_turn"):
    """A whole reply of the Messages API in one piece."""
    usage = {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 40}
    return whole(
        {"type": "message", "role": "assistant", "content": blocks, "stop_reason": stop, "usage": usage}
    )


def test_what_anthropic_signed_goes_back_in_the_same_turn_and_stands_in_no_file(shell, serving, configured):
    signed = {"type": "thinking", "thinking": "careful", "signature": "c2lnbmVkLWJ5LXRoZW0="}
    call = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "create_file",
        "input": {"path": "a.txt", "content": "a"},
    }
    server = serving(
        blocks_of(signed, call, stop="tool_use"), blocks_of({"type": "text", "text": "Then not."})
    )
    home = configured(server.base_url, kind="anthropic")
    assert shell("run", "-p", "write a.txt", "--on-approval", "deny") in (0, 1, 3, 4)
    first, second = (asked.json["messages"] for asked in server.asked)
    assert [message["role"] for message in first] == ["user"]
    assert second[1]["content"] == [signed, call]
    assert second[2]["content"][0]["tool_use_id"] == "toolu_1" and second[2]["content"][0]["is_error"] is True
    with Journal.open(Home.open(home)) as journal:
        (session,) = [one for one in journal.sessions() if one.provider == "local"]
        used = session.usage
        assert (used.input_tokens, used.cache_read_tokens, used.output_tokens) == (86, 80, 4)
        bodies = [event.body for event in journal.events(session.id)]
        assert all("c2lnbmVk" not in repr(body) for body in bodies)
