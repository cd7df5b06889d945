"""What is recorded by the installed program is on its screens again: at each mark, and in a fork from the middle.

A session with approvals and a run with a gate are recorded. A live screen is handed a second journal that grows
mark by mark, and the replay in another terminal goes from mark to mark: they have to come to the same.
"""

import json
import re
import shutil
import time
from itertools import chain

import pytest

from tests.e2e.conftest import SCRIPT, opened
from tests.e2e.test_replay_journey import BODY, CONVERSATION, MORE_ROWS, graph, panes
from tests.support.stage import call, exchange, recording, result, text
from tests.support.terminal import Terminal
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.replay_source import ReplaySource

PIPELINE = """kind: WavePipeline
metadata: {name: ship}
steps:
  - {id: build, exec: {type: command, source: "echo built"}}
  - {id: check, dependencies: [build], exec: {type: command, source: "exit 3"}, retry: {on_failure: warn}}
  - {id: go, dependencies: [check], gate: {prompt: "Ship it?", choices: [{key: "y", label: ship}]}}
  - {id: last, dependencies: [go], exec: {type: command, source: "echo shipped"}}
"""
GOES_ON = recording(
    exchange(
        text("I go another way. "), call("d1", "create_file", path="other.py", content="print('other')\n"),
        when={"prompt_contains": "go on"},
    ),
    exchange(text("The other way is written."), when=result("d1", "succeeded")),
    *SCRIPT["exchanges"],
)  # fmt: skip
"""What the agent says, and what it says once it goes on in a fork: a session keeps its recording."""
_TIMES = re.compile(r"\d+(?:\.\d+)? ?(?:ms|s|min|h)\b|\d+:\d\d(?::\d\d)?")
"""What something took, what is left of it, and when it was: they go on in a live screen."""
_LINES = re.compile(r"[\u2500-\u257f\s]+")
"""Lines of a graph: which of them is the longest way is a matter of time as well."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("recorded")) as made:
        yield made


@pytest.fixture
def terminals(shop):
    made = []

    def open_(*words, home=None, **size):
        env = shop.env(**({"WORKBENCH_HOME": str(home)} if home else {}))
        made.append(Terminal(shop.argv(*words), cwd=shop.project, env=env, **size))
        return made[-1]

    yield open_
    for terminal in made:
        terminal.close()


@pytest.fixture(scope="module")
def recorded(shop):
    """Record both, and return what has to be known of them."""
    shop.recording.write_text(json.dumps(GOES_ON))
    folder = shop.project / ".workbench" / "pipelines"
    folder.mkdir(parents=True)
    (folder / "ship.yaml").write_text(PIPELINE)
    shop.call("trust", str(shop.project))
    talk = shop.run("--on-approval", "wait")
    (write, run) = shop.waiting(2)
    shop.call("approvals", "approve", write["id"])
    shop.call("approvals", "reject", run["id"], "--reason", "not here")
    talk.communicate(timeout=60)
    ship = shop.start("pipeline", "run", "ship", "--on-approval", "wait")
    gate = waiting(shop, "gate")
    shop.call("approvals", "answer", gate["id"], "--choice", "y")
    ship.communicate(timeout=60)
    shop.call("host", "stop")
    return {one["kind"]: one["id"] for one in shop.json("sessions", "list", "--all")}


def waiting(shop, kind, *where):
    """Wait until something of a kind is in the queue, and return it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = [one for one in shop.json(*where, "approvals", "list") if one["kind"] == kind]
        if found:
            return found[0]
    raise AssertionError(f"no {kind} came to wait")


def told(home, session_id):
    """Return all events of a journal, and the moments of the marks of a session with their positions."""
    with Journal.open(Home.open(home)) as journal:
        source = ReplaySource(journal, journal.session(session_id))
        moments = sorted({mark.index for mark in source.reel.marks})
        return journal.events(), [(index, source.reel.position(index)) for index in moments]


def shown(terminal, kind):
    """Return what has to be the same, without the times; None while it is being drawn."""
    try:
        if kind == "pipeline":
            return [_LINES.sub(" ", _TIMES.sub("t", row)).rstrip() for row in graph(terminal)]
        # An empty queue says in a live screen what one may do, in a replay only that nothing waited.
        rows = talk(terminal) if "Nothing waits." in terminal.text() else [*chain(*panes(terminal))]
    except (StopIteration, ValueError):
        return None
    return [_TIMES.sub("t", row).rstrip() for row in rows]


def talk(terminal):
    """Return the conversation as text."""
    said = [row[CONVERSATION].rstrip() for row in terminal.screen.display[BODY]]
    end = next(n for n, row in enumerate(said) if "3 Tool invocations" in row)
    return [row.lstrip("▌") for row in said[1:end]]


def same(live, replay, kind, moment):
    """Wait until both screens show the same, and return it."""
    until = time.monotonic() + 40
    while (found := shown(live, kind)) is None or found != shown(replay, kind):
        assert time.monotonic() < until, f"event {moment}\nlive\n{live.text()}\nreplay\n{replay.text()}"
        live.pump(0.05)
        replay.pump(0.05)
    return found


@pytest.mark.spec(140, 218)
@pytest.mark.parametrize(("kind", "size"), [("chat", (120, 36)), ("pipeline", (160, 48))])
def test_each_mark_shows_what_a_live_screen_showed_then(shop, recorded, terminals, kind, size):
    session_id = recorded[kind]
    every, moments = told(shop.home, session_id)
    begins = next(event.position for event in every if event.session_id == session_id)
    second = shop.root / f"second-{kind}"
    second.mkdir(mode=0o700)
    shutil.copy(shop.home / "key", second / "key")
    shutil.copytree(shop.home / "blobs", second / "blobs")
    seen = []
    with Journal.open(Home.open(second)) as journal:
        journal.append([event for event in every if event.position <= begins], strict=False)
        live = terminals(str(shop.project), home=second, columns=size[0], rows=size[1])
        live.until("1 Conversation", "4 Pipeline")
        replay = terminals("replay", session_id, "--at", "#1", columns=size[0], rows=size[1] + MORE_ROWS)
        replay.until("REPLAY", "event 1 of")
        at = begins
        for moment, position in moments:
            journal.append([event for event in every if at < event.position <= position], strict=False)
            at = max(at, position)
            replay.press("n")
            replay.until(f"event {moment} of")
            seen.append(same(live, replay, kind, moment))
    assert len({tuple(one) for one in seen}) > len(moments) // 2
    for (moment, _), then in reversed(list(zip(moments, seen, strict=True))[:-1]):
        replay.press("N")
        replay.until(f"event {moment} of")
        until = time.monotonic() + 40
        while shown(replay, kind) != then:
            assert time.monotonic() < until, f"back at event {moment}\n{replay.text()}"
            replay.pump(0.05)
    assert {live.process.poll(), replay.process.poll()} == {None}


def test_a_fork_from_the_middle_goes_on_with_a_recorded_agent(shop, recorded, terminals):
    target = shop.root / "fork"
    before = (shop.project / "hello.py").read_text()
    replay = terminals("replay", recorded["chat"], "--at", "#1", columns=120, rows=36)
    replay.until("REPLAY", "event 1 of")
    replay.press("e")
    replay.until("next: ", gone=("event 1 of",))
    replay.press("F")
    replay.until("Fork from event")
    replay.press(f"{target}\r")
    said = replay.until("Forked: ")
    key = re.search(r"Forked: (\S+),", said)[1]
    fork = next(one["id"] for one in shop.json("sessions", "list", "--all") if one["id"].startswith(key))
    assert (target / "hello.py").read_text() == before
    shop.call("trust", str(target))
    goes_on = shop.start("run", "-p", "go on", "--session", fork, "--on-approval", "wait", cwd=target)
    shop.call("approvals", "approve", waiting(shop, "tool", "-C", str(target))["id"])
    out, err = goes_on.communicate(timeout=60)
    assert goes_on.returncode == 0, (out, err)
    assert (target / "other.py").read_text() == "print('other')\n"
    assert not (shop.project / "other.py").exists()
    lines = shop.call("replay", fork, "--headless", "--json").stdout.splitlines()
    said = [
        one["words"]
        for one in map(json.loads, lines)
        if one["kind"] in ("prompt.submitted", "reply.completed")
    ]
    assert said[0] == "say hello"
    assert said[-3:][0] == "go on"
    assert "The other way is written." in said[-1]
