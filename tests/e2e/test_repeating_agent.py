"""An agent that repeats itself, one that thinks aloud in tags, and reads that a later trust releases.

Real processes, and a model server that says what the test wants.
"""

import json

import pytest

from tests.support.chat_server import ChatServer, called, said
from tests.support.waits import PATIENCE

LOOK = called("read_file", '{"path":"a.txt"}')
NOTE = "this exact call has now given this exact result"


@pytest.fixture
def asked(shop):
    """Give the shop with a file, and what runs an agent of a model server that gives these answers."""
    (shop.project / "a.txt").write_text("b\n")
    with ChatServer() as server:

        def words(*answers, prompt="go on"):
            server.answers = list(answers)
            return (
                "run",
                "-p",
                prompt,
                "--base-url",
                server.base_url,
                "--model",
                "m",
                "--output-format",
                "json",
            )

        shop.server = server
        yield shop, words


@pytest.mark.spec(137)
def test_a_loop_pauses_the_run_says_why_and_is_continued(asked):
    shop, words = asked
    shop.call("trust", "--yes", "--read")
    done = shop.call(*words(*[LOOK] * 6, said("I stop.")), code=1)
    found = json.loads(done.stdout)
    assert (found["status"], found["reason"], found["exit"]) == ("paused", "loop", 1)
    assert "Paused: the agent repeats the same call and gets the same result." in done.stderr
    told = [
        [NOTE in message["content"] for message in request.json["messages"] if message["role"] == "tool"]
        for request in shop.server.asked
    ]
    assert told == [[], [False], [False] * 2, [False, False, True], [False, False, True, True]]
    again = json.loads(shop.call("run", "--session", found["session_id"], "--output-format", "json").stdout)
    assert (again["reply"], again["status"], again["exit"]) == ("I stop.", "paused", 0)


def test_a_read_that_waits_is_released_by_trust_from_another_process(asked):
    shop, words = asked
    run = shop.start(*words(LOOK, said("Read.")))
    (action,) = shop.waiting(1)
    shop.call("trust", "--yes", "--read")
    out, err = run.communicate(timeout=PATIENCE)
    assert (run.returncode, json.loads(out)["reply"]) == (0, "Read."), err
    row = shop.json("approvals", "show", action["id"])
    assert row["state"] == "cancelled"
    assert "b" in shop.server.asked[1].json["messages"][-1]["content"]


def test_thoughts_in_tags_are_no_part_of_the_reply(asked):
    shop, words = asked
    found = json.loads(shop.call(*words(said("<thi", "nk>why", " not</th", "ink>\n\nIt ", "is so."))).stdout)
    assert found["reply"] == "It is so."
    exported = shop.call("sessions", "export", found["session_id"]).stdout.splitlines()
    (whole,) = [event for event in map(json.loads, exported) if event.get("kind") == "reply.completed"]
    assert "why not" in json.dumps(whole)
