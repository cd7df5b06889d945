"""A real model behind a real server: llama.cpp on loopback. Nothing here asserts how fast or how clever it is."""

import asyncio
import json

import jsonschema
import pytest
from msgspec.structs import replace

from tests.support.llama import FUNCTIONARY, AzureFront, Llama
from tests.support.terminal import Terminal
from tests.support.waits import PATIENCE, until
from workbench.ask.answer import ANSWER_SCHEMA
from workbench.domain.messages import FailurePart, Message, ModelRequest, TextPart, ToolCallPart, UsagePart
from workbench.providers.base import Endpoint, Sampling
from workbench.providers.openai_compatible import OpenAICompatible
from workbench.providers.server_models import server_context_tokens
from workbench.tools.registry import tool_registry

SHORT_ANSWER = {
    **ANSWER_SCHEMA,
    "properties": {name: {"type": "string", "maxLength": 40} for name in ("command", "explanation")},
}
"""The schema that `workbench ask` sends, with texts that a small model ends in time."""
SETTLED = Sampling(max_tokens=60, temperature=0, seed=1)


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    """A server whose model calls tools."""
    server = Llama(tmp_path_factory.mktemp("llama") / "log", template=FUNCTIONARY, context=2048)
    yield server
    server.close()


@pytest.fixture(scope="module")
def talker(tmp_path_factory):
    """A server that chats, with a small context."""
    server = Llama(tmp_path_factory.mktemp("llama") / "log", context=512)
    yield server
    server.close()


def endpoint(server, sampling=SETTLED):
    return Endpoint(name="local", base_url=server.base_url, sampling=sampling)


def request(prompt, *tools):
    found = tuple(tool_registry().get(name).descriptor for name in tools)
    return ModelRequest(
        session_id="s", model="tiny", messages=(Message(role="user", content=prompt),), tools=found
    )


def ask(server, asked, sampling=SETTLED):
    async def collect():
        provider = OpenAICompatible(endpoint(server, sampling))
        return [part async for part in provider.reply(asked)]

    return asyncio.run(collect())


def test_plain_chat(talker):
    parts = ask(talker, request("Say hello."))
    assert sum(isinstance(part, TextPart) for part in parts) > 1
    (usage,) = (part.usage for part in parts if isinstance(part, UsagePart))
    assert usage.input_tokens > 0 and usage.output_tokens > 0
    assert not any(isinstance(part, FailurePart | ToolCallPart) for part in parts)


def test_a_required_call_comes_in_pieces_and_whole(caller):
    sampling = Sampling(max_tokens=60, temperature=0, seed=1, tool_choice="required")
    parts = ask(caller, request("write greeting.txt", "create_file", "read_file"), sampling)
    (call,) = (part for part in parts if isinstance(part, ToolCallPart))
    assert (call.name, json.loads(call.arguments)["path"]) == ("create_file", "greeting.txt")


@pytest.mark.campaign
def test_a_conversation_longer_than_the_context(talker):
    (failure,) = ask(talker, request("word " * 2_000))
    assert (failure.code, failure.status, failure.recoverable) == ("context_overflow", 400, False)
    assert "512" in failure.message


@pytest.mark.campaign
def test_hanging_up_frees_the_slot(talker):
    asked = request("Tell a long story.")

    async def hang_up():
        provider = OpenAICompatible(endpoint(talker, Sampling(temperature=0, seed=1)))
        parts = provider.reply(asked)
        async for part in parts:
            if isinstance(part, TextPart):
                break
        await parts.aclose()

    asyncio.run(hang_up())
    until(lambda: not talker.is_busy())
    assert any(isinstance(part, TextPart) for part in ask(talker, request("Say hello.")))


def test_the_models_and_their_context(talker):
    (model,) = asyncio.run(OpenAICompatible(endpoint(talker)).list_models(30))
    assert (model.id, model.context) == ("tiny", 512)
    assert asyncio.run(server_context_tokens(endpoint(talker), 30)) == 512


def set_up(shop, server, **more):
    local = {
        "kind": "openai-compatible", "base_url": server.base_url, "max_tokens": 60, "temperature": 0, "seed": 1,
    }  # fmt: skip
    shop.home.mkdir(mode=0o700)
    config = {"config_version": 1, "providers": {"local": {**local, **more}}}
    (shop.home / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("kind", [
        "openai-compatible", pytest.param("anthropic", marks=pytest.mark.campaign),
        pytest.param("openai-responses", marks=pytest.mark.campaign),
    ],
)  # fmt: skip
def test_a_call_waits_and_is_written_by_a_run_that_is_recorded_and_played_again(shop, caller, kind):
    set_up(shop, caller, kind=kind)
    kept = shop.root / "kept.json"
    words = ("run", "-p", "write greeting.txt", "--output-format", "json")
    run = shop.start(*words, "--record", str(kept))
    (action,) = shop.waiting(1)
    assert (action["tool"], action["target"]) == ("create_file", "greeting.txt")
    assert not (shop.project / "greeting.txt").exists()
    shop.call("approvals", "approve", action["id"])
    out, err = run.communicate(timeout=PATIENCE)
    told = json.loads(out)
    assert (run.returncode, told["error"], told["reply"]) == (0, None, "Done."), err
    written = (shop.project / "greeting.txt").read_text()
    (shop.project / "greeting.txt").unlink()

    again = shop.start(*words, "--recording", str(kept))
    (action,) = shop.waiting(1)
    shop.call("approvals", "approve", action["id"])
    out, err = again.communicate(timeout=PATIENCE)
    played = json.loads(out)
    assert (played["reply"], played["usage"]) == (told["reply"], told["usage"])
    assert (shop.project / "greeting.txt").read_text() == written


@pytest.mark.campaign
def test_azure_is_asked_through_a_front_that_demands_path_version_and_key(shop, caller):
    front = AzureFront(caller)
    azure = {
        "kind": "azure-openai", "base_url": front.address, "model": "tiny", "api_version": "2024-10-21",
        "max_tokens": 60, "temperature": 0, "seed": 1,
    }  # fmt: skip
    shop.home.mkdir(mode=0o700)
    for changed, code in (
        ({"key_command": "echo made-up-azure-key"}, None),
        ({"key_command": "echo made-up-other-key"}, "key_refused"),
        ({"key_command": "echo made-up-azure-key", "model": "other"}, "no_such_model"),
        ({"key_command": "echo made-up-azure-key", "api_version": "2023-05-15"}, "no_such_model"),
    ):
        (shop.home / "config.json").write_text(json.dumps({"providers": {"azure": {**azure, **changed}}}))
        run = shop.start("run", "-p", "write greeting.txt", "--output-format", "json")
        if code is None:
            (action,) = shop.waiting(1)
            shop.call("approvals", "approve", action["id"])
        out, err = run.communicate(timeout=PATIENCE)
        told = json.loads(out)
        assert (told["error"] or {}).get("code") == code, err
        if code is None:
            assert (told["reply"], (shop.project / "greeting.txt").exists()) == ("Done.", True)
    front.close()


@pytest.mark.campaign
def test_a_conversation_that_is_too_long_says_so_and_the_session_goes_on(shop, talker):
    set_up(shop, talker)
    run = shop.start("run", "-p", "word " * 2_000, "--output-format", "json")
    out, err = run.communicate(timeout=PATIENCE)
    assert (run.returncode, json.loads(out)["error"]["code"]) == (1, "context_overflow")
    assert "Start a new session" in err
    assert shop.json("sessions", "list")[0]["status"] == "paused"


def settled(terminal):
    """Wait as long as a key is dead after something new came under the cursor, and a little more."""
    terminal.pump(0.6)


def leave(terminal):
    """Close the screen, although something waits."""
    terminal.press("\x1b")
    for _ in range(3):
        if terminal.process.poll() is not None:
            break
        settled(terminal)
        terminal.press("q")
        terminal.pump(0.5)
        terminal.press("q")
        terminal.pump(0.5)
    assert terminal.wait() == 0
    terminal.close()


@pytest.mark.campaign
def test_a_models_call_goes_through_the_queue_of_a_screen_into_a_file(shop, caller):
    set_up(shop, caller)
    first = Terminal(shop.argv(str(shop.project)), cwd=shop.project, env=shop.env())
    first.until("Trust ", "1 waiting")
    settled(first)
    first.press("write greeting.txt")
    first.until("write greeting.txt")
    first.press("\r")
    first.until("greeting.txt", "2 waiting")
    leave(first)
    (action,) = shop.waiting(1)
    assert not (shop.project / "greeting.txt").exists()

    second = Terminal(shop.argv(str(shop.project)), cwd=shop.project, env=shop.env())
    second.until("2 waiting", "greeting.txt")
    settled(second)
    second.press("\x1b")
    for _ in range(5):  # the question of trust, the file, and once more where it was not seen yet
        for key in ("\x14", "a", "a"):
            settled(second)
            second.press(key)
            second.pump(1.0)
        if "nothing waits" in second.text():
            break
    second.until("Done.", "nothing waits")
    leave(second)
    assert (shop.project / "greeting.txt").read_text()

    (session,) = shop.json("sessions", "list")
    shown = shop.json("sessions", "show", session["id"])
    said = [(message["role"], message["content"]) for message in shown["messages"]]
    assert (said[0], said[-1]) == (("user", "write greeting.txt"), ("assistant", "Done."))
    (call,) = shown["calls"]
    assert (call["tool"], call["state"]) == ("create_file", "succeeded")
    (decided,) = shown["actions"]
    assert (decided["id"], decided["state"]) == (action["id"], "approved")
    assert [(file["path"], file["change"]) for file in shown["files"]] == [("greeting.txt", "create")]
    told = shop.call("sessions", "show", session["id"]).stdout
    assert all(
        word in told
        for word in ("› write greeting.txt", "approved", "wrote greeting.txt (create) +1", "Done.")
    )


@pytest.mark.spec(181)
@pytest.mark.parametrize("seed", range(4))
def test_an_answer_satisfies_its_schema_each_time(talker, seed):
    sampling = Sampling(max_tokens=160, temperature=0.8, seed=seed)
    asked = replace(request("List the go files."), answer_schema=SHORT_ANSWER)
    text = "".join(part.text for part in ask(talker, asked, sampling) if isinstance(part, TextPart))
    answer = json.loads(text)
    jsonschema.validate(answer, ANSWER_SCHEMA)
    assert set(answer) == {"command", "explanation"}
