"""A session recorded by hand in a terminal, replayed in another: at each moment what was on the live screen then."""

import json
import re

import pytest

from tests.e2e.test_screen import answer, trust_and_wait
from tests.support.terminal import Terminal, leave
from tests.support.waits import PATIENCE
from workbench.cli.demo import copy_example

CONVERSATION = slice(0, 48)
BODY = slice(2, 33)
MORE_ROWS = 2
"""The bar of a replay has three rows, the composer of a live screen one."""


@pytest.fixture
def terminals(shop):
    opened = []

    def open_(*words, **size):
        opened.append(Terminal(shop.argv(*words), cwd=shop.project, env=shop.env(), **size))
        return opened[-1]

    yield open_
    for terminal in opened:
        terminal.close()


def panes(terminal):
    """Return the conversation and the queue as texts; times and countdowns left out."""
    rows = terminal.screen.display[BODY]
    said = [row[CONVERSATION].rstrip() for row in rows]
    end = next(n for n, row in enumerate(said) if "3 Tool invocations" in row)
    divider = next(n for n, row in enumerate(rows) if n and row[48] == "├")
    queue = [row[49:92].rstrip().lstrip("▌ ") for row in rows[1:divider]]
    return [row.lstrip("▌") for row in said[1:end]], sorted(row for row in queue if row)


def answered(demo, terminals):
    """Answer the demo by key; return its screens when three rows wait, when two do, and at its end."""
    terminal = terminals("demo", "--at", str(demo), columns=120, rows=36)
    trust_and_wait(terminal)
    terminal.rest()
    screens = [panes(terminal)]
    answer(terminal, "2 waiting")
    terminal.rest()
    screens.append(panes(terminal))
    answer(terminal, "1 waiting")
    answer(terminal)
    terminal.until("All three tests are green", gone=("1 waiting",))
    terminal.rest()
    screens.append(panes(terminal))
    leave(terminal)
    return screens


def go_to(replay, moment):
    """Go to an event by its number, and wait until it is shown."""
    replay.press("t")
    replay.until("Go to")
    replay.press(f"#{moment}\r")
    replay.until(f"event {moment} of")
    replay.rest()


def test_each_moment_of_a_replay_is_the_screen_of_then(shop, tmp_path, terminals):
    demo = shop.root / "demo"
    screens = answered(demo, terminals)
    shop.home = demo / "home"
    (session,) = shop.json("sessions", "list", "--all")
    out = shop.call("replay", session["id"], "--headless", "--json").stdout
    events = [json.loads(line) for line in out.splitlines()]
    kinds = [one["kind"] for one in events]
    opened = [index for index, kind in enumerate(kinds, 1) if kind == "action.opened"]
    approved = [index for index, kind in enumerate(kinds, 1) if kind == "action.approved"]
    written = [
        index for index, kind in enumerate(kinds, 1) if kind == "call.finished" and index > approved[0]
    ]
    moments = [opened[2], written[0], len(events)]
    replay = terminals("replay", session["id"], "--at", "#1", columns=120, rows=36 + MORE_ROWS)
    replay.until("REPLAY", "event 1 of")
    there = list(zip(moments, screens, strict=True))
    for moment, wanted in [*there, *reversed(there)]:
        go_to(replay, moment)
        assert panes(replay) == wanted, moment
    replay.press("q")
    assert replay.wait() == 0


def graph(terminal):
    """Return the pane of the pipeline as text, without what counts down."""
    rows = terminal.screen.display
    first = next(n for n, row in enumerate(rows) if "4 Pipeline" in row)
    left = rows[first].index("4 Pipeline") - 1
    # The rule below the panes may say a sentence.
    last = next(n for n, row in enumerate(rows) if n > first and row.startswith("─"))
    return [re.sub(r"\d+(?::\d\d)+", "m:ss", row[left:].rstrip()) for row in rows[first + 1 : last]]


def test_the_graph_of_a_run_at_its_gate_is_the_one_that_was_live(shop, terminals):
    place = copy_example(shop.root / "demo")
    shop.home, project = place.home, place.project
    shop.call("trust", "--yes", str(project))
    words = ("pipeline", "run", "release", "--input", "1.2", "--grant-personas")
    run = shop.start(*words, cwd=project)
    live = terminals(str(project), columns=160, rows=48)
    live.until("4 Pipeline", "◆ release?", "1 waiting")
    live.rest()
    at_gate = graph(live)
    (gate,) = [one for one in shop.json("approvals", "list") if one["kind"] == "gate"]
    shop.call("approvals", "answer", gate["id"], "--choice", "y")
    assert run.wait(PATIENCE) == 0
    live.until("5 of 6 done  completed")
    live.rest()
    at_end = graph(live)
    leave(live)
    (session,) = [one for one in shop.json("sessions", "list", "--all") if one["kind"] == "pipeline"]
    out = shop.call("replay", session["id"], "--headless", "--json").stdout
    said = [json.loads(line)["words"] for line in out.splitlines()]
    # The step and its question come in one transaction, one after the other.
    waits, end = max(said.index(words) for words in ("release waiting", "gate Release 1.2?")) + 1, len(said)
    replay = terminals("replay", session["id"], "--at", "#1", columns=160, rows=48 + MORE_ROWS)
    replay.until("REPLAY", "event 1 of")
    for moment, wanted in ((end, at_end), (waits, at_gate), (end, at_end)):
        go_to(replay, moment)
        assert graph(replay) == wanted, moment
    replay.press("q")
    assert replay.wait() == 0
