"""A background process that runs already uses a provider that is added, changed and removed meanwhile."""

import os

import pytest

from tests.support.chat_server import ChatServer, said
from tests.support.waits import until
from workbench.domain.events import ErrorRaised, ReplyCompleted, TurnEnded
from workbench.domain.values import Actor
from workbench.host.session_requests import continue_session, create_session, submit_prompt
from workbench.journal.home import Home
from workbench.journal.journal import Journal

USER = Actor(kind="user", via="cli")
KEY = "fabricated-key-0123456789"


@pytest.fixture
def serving():
    servers = []

    def start(*answers):
        servers.append(ChatServer(*answers))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def add(shop, name, server, *more):
    words = ("providers", "add", name, "--base-url", server.base_url, "--model", "m", "--no-test", *more)
    return shop.call(*words)


class Talk:
    """One session that the background process drives."""

    def __init__(self, shop, provider):
        self.home = Home.open(shop.home)
        with Journal.open(self.home) as journal:
            self.id = create_session(
                journal, workspace=os.path.realpath(shop.project), provider=provider, model="m", actor=USER,
                title="talk",
            )  # fmt: skip

    def say(self, prompt):
        """Say something, and return the reply, or the error of the turn."""
        with Journal.open(self.home) as journal:
            before = journal.last_position()
            submit_prompt(journal, self.id, prompt, USER)
            return self._answer(journal, before)

    def go_on(self):
        with Journal.open(self.home) as journal:
            before = journal.last_position()
            continue_session(journal, self.id, USER)
            return self._answer(journal, before)

    def _answer(self, journal, after):
        def bodies():
            return [event.body for event in journal.events(self.id, after=after)]

        until(lambda: any(isinstance(body, TurnEnded) for body in bodies()), bodies)
        return [body for body in bodies() if isinstance(body, (ReplyCompleted, ErrorRaised))][-1]


def started(shop, **more):
    """Start a background process, and return its pid."""
    shop.call("host", "restart", env=shop.env(**more))
    return shop.json("host", "status")["pid"]


def test_a_provider_is_asked_without_a_restart(shop, serving):
    first, second = serving(said("Hello."), said("Never.")), serving(said("Hello again."))
    pid = started(shop)
    add(shop, "local", first)
    talk = Talk(shop, "local")
    assert talk.say("hi").text == "Hello."
    add(shop, "local", second, "--replace")
    assert talk.say("hi").text == "Hello again."
    assert (len(first.asked), len(second.asked)) == (1, 1)
    shop.call("providers", "remove", "local", "--yes")
    failed = talk.say("hi")
    assert failed.message.startswith("There is no provider “local” in the configuration")
    assert "workbench providers add" in failed.remedy and "/model" in failed.remedy
    assert shop.json("host", "status")["pid"] == pid


def test_a_key_that_only_the_shell_has_is_said_and_a_restart_hands_it_over(shop, serving):
    server = serving(said("Hello."))
    started(shop)
    env = shop.env(PLAIN_NAME=KEY)
    words = ("--base-url", server.base_url, "--model", "m", "--no-test", "--key-env", "PLAIN_NAME")
    told = shop.call("providers", "add", "hosted", *words, env=env)
    lacks = "The background process of this folder does not have PLAIN_NAME."
    assert f"{lacks} workbench host restart starts one that has it." in told.stderr
    listed = shop.call("providers", "list", "--offline", env=env)
    assert "PLAIN_NAME, not in the background process" in listed.stdout
    tested = shop.call("providers", "test", "hosted", code=1, env=env)
    assert lacks in tested.stderr, "it is said before agents meet it"
    server.answers[:], server.asked[:] = [said("Hello.")], []
    talk = Talk(shop, "hosted")
    failed = talk.say("hi")
    assert (failed.code, lacks[:-1].lower() in failed.message.lower()) == ("key_missing", True)
    assert "workbench host restart" in failed.remedy and "/restart" in failed.remedy
    assert server.asked == []
    started(shop, PLAIN_NAME=KEY)
    assert talk.go_on().text == "Hello."
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert "PLAIN_NAME, set" in shop.call("providers", "list", "--offline", env=env).stdout


def test_a_background_process_says_that_it_has_a_variable_once_it_is_named(shop, serving):
    """Its row of variables is what a screen compares with its own."""
    started(shop, PLAIN_NAME=KEY)
    assert "PLAIN_NAME" not in shop.json("host", "status")["variables"]
    words = ("--base-url", serving().base_url, "--model", "m", "--no-test", "--key-env", "PLAIN_NAME")
    told = shop.call("providers", "add", "hosted", *words, env=shop.env(PLAIN_NAME=KEY))
    assert "does not have" not in told.stderr
    assert Talk(shop, "hosted").say("hi").code != "key_missing"
    until(lambda: "PLAIN_NAME" in shop.json("host", "status")["variables"])
