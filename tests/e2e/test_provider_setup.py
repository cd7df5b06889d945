"""A fresh home: a model is found on loopback, one key adds it, a prompt goes to it, its answer is on the screen."""

import asyncio
import json
import os
import re
import stat

import pytest
from textual import events

from tests.support import frames, idle
from tests.support.chat_server import Answer, ChatServer, said, whole
from tests.support.waits import until_true
from tests.tui.screens import Hand, Shown
from workbench.backend.local_backend import LocalBackend
from workbench.backend.providers import LocalProviders
from workbench.config.known_providers import LocalServer
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp

HTML = Answer([b"<!doctype html><title>Hello</title>"], headers={"Content-Type": "text/html"})


class Model:
    """A scripted server: it lists one model, and answers every chat with a sentence."""

    def __init__(self, name="qwen3-8b", text="Hello from the scripted model."):
        self.models = whole({"object": "list", "data": [{"id": name, "object": "model"}]})
        self.text = text
        self.server = ChatServer(otherwise=self.models)
        self.server._say = self._say_with(self.server._say)

    def _say_with(self, say):
        def choose(connection, answer):
            asked = self.server.asked[-1]
            say(connection, said(self.text) if asked.path.endswith("/chat/completions") else answer)

        return choose


@pytest.fixture
def model():
    made = Model()
    with made.server:
        yield made


@pytest.fixture
def screen(shop, monkeypatch):
    """Return what plays a screen of a fresh home on the real backend, with the servers that are looked for."""
    monkeypatch.setenv("WORKBENCH_HOME", str(shop.home))
    idle.install(monkeypatch)
    frames.leave_undrawn(monkeypatch)

    def play(body, *servers, size=(120, 36), env=None):
        home = Home.open(shop.home)
        with Journal.open(home) as journal:
            backend = LocalBackend(home, journal, str(shop.project))
            backend.providers = LocalProviders(home, journal, str(shop.project), servers, env or {})
            hand = Hand()
            app = WorkbenchApp(journal, backend, str(shop.project), home=str(shop.root), monotonic=hand)

            async def run():
                async with app.run_test(size=size) as pilot:
                    shown = Shown(None, app, hand, pilot)
                    await shown.settle()
                    await body(shown)

            asyncio.run(run())

    play.home, play.config = shop.home, shop.home / "config.json"
    return play


def llama(model):
    return LocalServer(name="llama-cpp", label="llama.cpp", port=model.server.port)


async def type_in(shown, words):
    for letter in words:
        await shown.pilot.press("space" if letter == " " else letter)
    await shown.settle()


async def paste(shown, words):
    """Put words where the cursor is, in one go: an app handles each key of a test for itself."""
    shown.app.post_message(events.Paste(words))
    await shown.settle()


async def until(shown, *words):
    async def look():
        shown.main.look()
        await shown.pilot.pause()
        return all(word in shown.text for word in words)

    await until_true(look, said=lambda: f"{words} did not come:\n{shown.text}")


def test_one_key_from_a_fresh_home_to_the_first_answer(screen, model):
    async def body(shown):
        await until(shown, "llama.cpp", f"127.0.0.1:{model.server.port}", "qwen3-8b")
        await shown.press("m")
        written = json.loads(screen.config.read_text())
        assert written["providers"]["llama-cpp"]["model"] == "qwen3-8b"
        assert stat.S_IMODE(screen.config.stat().st_mode) == 0o600
        assert str(screen.config) in shown.said and "/provider undo" in shown.said
        await type_in(shown, "say hello")
        await shown.press("enter")
        await until(shown, "Hello from the scripted model.")

    screen(body, llama(model))
    chats = [asked for asked in model.server.asked if asked.path.endswith("/chat/completions")]
    assert chats[0].json["model"] == "qwen3-8b" and "authorization" not in chats[0].headers


def test_the_undo_of_a_found_model_leaves_the_file_as_if_it_had_never_been(screen, model):
    before = '{\n  "api_timeout_seconds": 7\n}\n'

    async def body(shown):
        await shown.press("m")
        assert "llama-cpp" in screen.config.read_text()
        await type_in(shown, "/provider undo")
        await shown.press("enter")
        assert "llama-cpp" not in screen.config.read_text() and "no model yet" in shown.text
        assert json.loads(screen.config.read_text())["api_timeout_seconds"] == 7

    Home.open(screen.home)
    screen.config.write_text(before)
    screen(body, llama(model))


def prose(shown):
    """Return what is on the screen as running text, without frames."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", shown.text).split())


async def fill(shown, address):
    """Open the form and write an address, and a model; with another the server would be asked for one."""
    await shown.press("p", "A")
    await paste(shown, address)
    shown.app.screen.query_one("#provider-model").value = "qwen3-8b"
    await shown.settle()


def test_a_trial_really_asks_and_a_screen_saves_what_another_saved_already(screen, model):
    model.text = "Hello."
    address = f"http://127.0.0.1:{model.server.port}/v1"

    async def body(shown):
        await fill(shown, address)
        await shown.press("ctrl+r")
        # It answers and calls no tool, which agents need.
        assert "tool" in shown.text and screen.config.exists() is False
        screen.config.write_text(json.dumps({"providers": {"local": {
            "kind": "openai-compatible", "base_url": address, "model": "qwen3-8b"}}}))  # fmt: skip
        await shown.press("f2")
        assert "local in" in shown.said and "undo" not in shown.said, "it was not this screen that added it"
        assert list(json.loads(screen.config.read_text())["providers"]) == ["local"]

    screen(body)


def test_a_server_that_answers_with_a_web_page_is_said_so(screen):
    with ChatServer(otherwise=HTML) as server:

        async def body(shown):
            await fill(shown, f"http://127.0.0.1:{server.port}/v1")
            await shown.press("ctrl+r")
            assert "not a reply of a model: text/html" in prose(shown), prose(shown)
            field = shown.app.screen.query_one("#provider-base_url")
            assert field.value == f"http://127.0.0.1:{server.port}/v1"

        screen(body)


def broken(config):
    config.write_text('{\n  "providers": {,}\n}\n')


def read_only(config):
    config.write_text("{}\n")
    config.chmod(0o400)


def dead_link(config):
    config.symlink_to(config.parent / "nowhere" / "config.json")


def other_of_that_name(config):
    config.write_text('{"providers": {"local": {"kind": "ollama", "model": "x"}}}')


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (broken, "Line 2, column 17"),
        (read_only, "is read-only"),
        (dead_link, "the folder is gone"),
        (other_of_that_name, "local already"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_wrong_with_the_file_is_said_in_the_form_and_nothing_is_lost(screen, model, spoil, words):
    address = f"http://127.0.0.1:{model.server.port}/v1"

    async def body(shown):
        await fill(shown, address)
        spoil(screen.config)
        before = os.path.lexists(screen.config) and screen.config.exists() and screen.config.read_bytes()
        await shown.press("f2")
        assert words in prose(shown), shown.text
        assert shown.app.screen.query_one("#provider-base_url").value == address
        assert (screen.config.exists() and screen.config.read_bytes()) == before

    screen(body)


def test_a_file_that_is_broken_before_the_form_is_opened_is_said_and_the_form_works(screen, model):
    async def body(shown):
        broken(screen.config)
        await shown.press("r")
        await shown.press("p", "r", "A")
        await paste(shown, f"http://127.0.0.1:{model.server.port}/v1")
        shown.app.screen.query_one("#provider-model").value = "qwen3-8b"
        await shown.press("f2")
        assert "Line 2, column 17" in prose(shown), shown.text
        screen.config.unlink()
        await shown.press("f2")
        assert "local" in screen.config.read_text()

    screen(body)


def test_a_link_is_followed_and_stays_a_link(screen, model):
    async def body(shown):
        await shown.press("m")
        assert screen.config.is_symlink()
        assert "llama-cpp" in (screen.home.parent / "dotfiles.json").read_text()

    Home.open(screen.home)
    (screen.home.parent / "dotfiles.json").write_text("{}\n")
    screen.config.symlink_to(screen.home.parent / "dotfiles.json")
    screen(body, llama(model))


WRITTEN = """\
{
  "default_provider": "far",
  "providers": {
    "near": {"kind": "ollama", "model": "qwen"},
    "far": {
      "kind": "azure-openai",
      "base_url": "http://127.0.0.1:%d",
      "model": "old",   "api_version": "2024-10-21",
      "prices": {"input_per_million": 2, "output_per_million": 8}
    }
  }
}
"""


async def on_row(shown, name):
    """Open place 9 with the cursor on a provider."""
    await shown.press("escape", "9")
    await until(shown, name)
    await shown.press(*("j" for _ in range({"near": 0, "far": 1}[name])))


@pytest.fixture
def written(screen, model):
    Home.open(screen.home)
    text = (WRITTEN % model.server.port).replace("  // what the company gave us\n", "")
    screen.config.write_text(text)
    return text


def test_a_change_keeps_what_the_form_does_not_have_and_its_undo_each_byte(screen, model, written):
    async def body(shown):
        await on_row(shown, "far")
        await shown.press("e")
        await until(shown, "Change far")
        shown.app.screen.query_one("#provider-model").value = "new"
        await shown.press("f2")
        far = json.loads(screen.config.read_text())["providers"]["far"]
        assert (far["model"], far["api_version"], far["prices"]["output_per_million"]) == (
            "new",
            "2024-10-21",
            8,
        )
        # What is said of it may give way at once to what its server answers.
        await shown.press("u")
        await until_true(lambda: screen.config.read_text() == written, shown.pilot.pause)

    screen(body)


def test_a_trial_of_a_change_asks_with_what_the_form_does_not_have(screen, model, written):
    async def body(shown):
        await on_row(shown, "far")
        await shown.press("e")
        await until(shown, "Change far")
        shown.app.screen.query_one("#provider-model").value = "qwen3-8b"
        await shown.press("ctrl+r")
        paths = [asked.path for asked in model.server.asked]
        assert "/openai/deployments/qwen3-8b/chat/completions?api-version=2024-10-21" in paths, paths

    screen(body)


def test_new_sessions_ask_none_by_default_where_the_form_says_no(screen, model, written):
    async def body(shown):
        await on_row(shown, "far")
        await shown.press("e")
        await until(shown, "Change far")
        shown.app.screen.query_one("#provider-is_default").value = "no"
        await shown.press("f2")
        assert "default_provider" not in json.loads(screen.config.read_text())

    screen(body)


def test_a_removal_is_undone_byte_for_byte_but_not_over_what_came_since(screen, model, written):
    async def body(shown):
        await on_row(shown, "far")
        await shown.press("D", "D")
        document = json.loads(screen.config.read_text())
        assert list(document["providers"]) == ["near"] and "default_provider" not in document
        assert "It was the default; there is none now." in prose(shown)
        await shown.press("u")
        assert screen.config.read_text() == written
        await on_row(shown, "near")
        await shown.press("D", "D")
        since = screen.config.read_text().replace('"model": "old"', '"model": "other"')
        screen.config.write_text(since)
        await shown.press("u")
        assert "was changed since, and that would be lost" in prose(shown)
        assert screen.config.read_text() == since

    screen(body)
