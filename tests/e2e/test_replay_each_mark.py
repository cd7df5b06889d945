"""What the installed program records is on its screens again: at each mark, and in a fork from the middle.

A session with approvals and a run with a gate go on in front of a live screen. Wherever they stand still, a replay
that follows them has to come to the same cells, and a later one, that is told to go there.
"""

import json
import re
import time
from itertools import zip_longest

import pytest

from tests.e2e.conftest import SCRIPT, opened
from tests.e2e.test_replay_journey import BODY, CONVERSATION, MORE_ROWS
from tests.support.stage import call, exchange, recording, result, text
from tests.support.terminal import Terminal
from tests.support.waits import PATIENCE, until
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.replay.replay_source import ReplaySource

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
SIZE = 120, 48
WAITS, RESTS = "2 Approvals  ◆ 1", "2 Approvals  ✓ nothing waits"
ONLY_LIVE = ("No pipeline", "None was found", "go on    i say")
"""Words on how things are begun, which a replay leaves out."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("recorded")) as made:
        yield made


@pytest.fixture(scope="module")
def terminals(shop):
    made = []

    def open_(*words, **size):
        made.append(Terminal(shop.argv(*words), cwd=shop.project, env=shop.env(), **size))
        return made[-1]

    yield open_
    for terminal in made:
        terminal.close()


@pytest.fixture(scope="module")
def recorded(shop, terminals):
    """Record both before a live screen; return their ids, and what it showed at which event."""
    shop.recording.write_text(json.dumps(GOES_ON))
    folder = shop.project / ".workbench" / "pipelines"
    folder.mkdir(parents=True)
    (folder / "ship.yaml").write_text(PIPELINE)
    shop.call("trust", "--yes", str(shop.project))
    found = {"pipeline": run_recorded(shop, terminals), "chat": talk_recorded(shop, terminals)}
    shop.call("host", "stop")
    return found


def run_recorded(shop, terminals):
    """Record a run that fails in one step and stops at a gate."""
    ship = shop.start("pipeline", "run", "ship", "--on-approval", "wait")
    gate = waiting(shop, "gate")
    (session,) = [one["id"] for one in shop.json("sessions", "list", "--all") if one["kind"] == "pipeline"]
    with Witness(shop, session, terminals) as consumer:
        consumer.look(WAITS, "Ship it?")
        shop.call("approvals", "answer", gate["id"], "--choice", "y")
        ship.communicate(timeout=PATIENCE)
        consumer.look(RESTS, "3 of 4 done  completed")
    return session, consumer.seen


def talk_recorded(shop, terminals):
    """Record a session in which one is approved, one rejected, and that goes on after its run has ended."""
    talk = shop.run("--on-approval", "wait")
    (write, run) = shop.waiting(2)
    with Witness(shop, write["session_id"], terminals) as consumer:
        consumer.look("2 Approvals  ◆ 2")
        shop.call("approvals", "approve", write["id"])
        consumer.look(WAITS, "✓ create_file")
        shop.call("approvals", "reject", run["id"], "--reason", "not here")
        talk.communicate(timeout=PATIENCE)
        consumer.look(RESTS, "you said no", "So be it.")
        more = shop.start("run", "-p", "go on", "--session", write["session_id"], "--on-approval", "wait")
        (other,) = shop.waiting(1)
        consumer.look(WAITS, "I go another way.", "◆ create_file")
        shop.call("approvals", "approve", other["id"])
        more.communicate(timeout=PATIENCE)
        consumer.look(RESTS, "The other way is written.")
    return write["session_id"], consumer.seen


def waiting(shop, kind, *where):
    """Wait until something of a kind is in the queue, and return it."""
    return until(
        lambda: next((one for one in shop.json(*where, "approvals", "list") if one["kind"] == kind), None)
    )


class Witness:
    """A live screen, and a replay that follows: what both show wherever the session stands still."""

    def __init__(self, shop, session_id, terminals):
        self._shop, self._session_id, self.seen = shop, session_id, []
        self._live = terminals(str(shop.project), columns=SIZE[0], rows=SIZE[1] - MORE_ROWS)
        self._replay = terminals("replay", session_id, "--at", "#1", columns=SIZE[0], rows=SIZE[1])

    def __enter__(self):
        self._live.until("1 Conversation", "2 Approvals")
        self._replay.until("REPLAY", "event 1 of")
        self._replay.press("f")
        return self

    def look(self, *wanted):
        """Wait for words on the live screen and until the replay shows the same cells; remember them."""
        self._live.until(*wanted)
        before, now = None, self._look_once(wanted)
        while before != now:
            # Colours and parts of commands come after the words; a process takes as long as they do, or longer.
            self._shop.call("sessions", "list")
            before, now = now, self._look_once(wanted)
        self.seen.append((now[0], wanted, now[1]))

    def _look_once(self, wanted):
        moment = last_moment(self._shop.home, self._session_id)
        self._replay.until(f"event {moment} of {moment}", "live", *wanted)
        for terminal in (self._live, self._replay):
            to_first(terminal)
            terminal.rest(0.2, 0.5)
        return moment, same(self._replay, lambda: shown(self._live), self._live)

    def __exit__(self, *_):
        for terminal in (self._live, self._replay):
            terminal.process.kill()


def to_first(terminal):
    """Put the cursor on what waits first, or on what was decided last: it is where its user left it."""
    terminal.press("2g" if RESTS in terminal.text() else "\x07")
    terminal.until_true(lambda: has_cursor(terminal))


def has_cursor(terminal):
    """Return whether the cursor is where `to_first` puts it."""
    if RESTS in terminal.text():
        return terminal.screen.display[BODY.start + 1][CONVERSATION.stop + 1] == "▌"
    return "│▌◆" in terminal.text()


def last_moment(home, session_id):
    """Return the number of a session's last event."""
    with Journal.open(Home.open(home)) as journal:
        return len(ReplaySource(journal, journal.session(session_id)).timeline)


def shown(terminal):
    """Return the four panes as styled cells, row by row, without the times."""
    screen = terminal.screen
    rows = [
        runs([screen.buffer[y][x] for x in range(columns_compared(screen, y))])
        for y in range(BODY.start, SIZE[1] - 5)
    ]
    return [row for row in rows if not any(words in text for text, _ in row for words in ONLY_LIVE)]


def columns_compared(screen, y):
    """Return how many columns of a row both show: the last row of the queue has the answers of a live screen."""
    is_last_of_queue = "4 Pipeline" in screen.display[y + 1][CONVERSATION.stop :]
    return CONVERSATION.stop + 1 if is_last_of_queue else screen.columns


def runs(cells):
    """Return a row as texts with their styles; times, and the room that they take, are the same."""
    found, style = [], None
    for cell in cells:
        # Nobody sees in which ink a space is written.
        is_seen = cell.data != " " or style is None or cell.reverse or cell.bg != style[1]
        if is_seen and cell[1:] != style:
            style = cell[1:]
            found.append(["", style])
        found[-1][0] += cell.data
    texts = ((re.sub(r"\s+", " ", _TIMES.sub("t", text)).strip(), style) for text, style in found)
    return [one for one in texts if one[0]]


def same(terminal, wanted, other=None):
    """Wait until a screen shows what is wanted, and return it."""

    def differing():
        return [pair for pair in zip_longest(shown(terminal), wanted()) if pair[0] != pair[1]]

    end = time.monotonic() + PATIENCE
    while differ := differing():
        if time.monotonic() > end:
            rows = "\n".join(f"is     {found}\nwanted {then}" for found, then in differ)
            pytest.fail(f"{rows}\n{terminal.text()}\n{other.text() if other else ''}")
        for one in filter(None, (terminal, other)):
            one.pump(0.05)
    return shown(terminal)


@pytest.mark.spec(140, 150, 218)
@pytest.mark.parametrize("kind", ["chat", "pipeline"])
def test_each_mark_shows_what_the_live_screen_showed_then(recorded, terminals, kind):
    session_id, seen = recorded[kind]
    assert len({repr(cells) for *_, cells in seen}) == len(seen)
    replay = terminals("replay", session_id, "--at", "#1", columns=SIZE[0], rows=SIZE[1])
    replay.until("REPLAY", "event 1 of")
    for moment, wanted, cells in [*seen, *reversed(seen[:-1])]:
        replay.press("t")
        replay.until("Go to")
        replay.press(f"#{moment}\r")
        replay.until(f"event {moment} of", *wanted)
        to_first(replay)
        same(replay, lambda cells=cells: cells)


def test_a_fork_from_the_middle_goes_on_with_a_recorded_agent(shop, recorded, terminals):
    target = shop.root / "fork"
    before = (shop.project / "hello.py").read_text()
    (shop.project / "other.py").unlink()
    replay = terminals("replay", recorded["chat"][0], "--at", "#1", columns=120, rows=36)
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
    shop.call("trust", "--yes", str(target))
    goes_on = shop.start("run", "-p", "go on", "--session", fork, "--on-approval", "wait", cwd=target)
    shop.call("approvals", "approve", waiting(shop, "tool", "-C", str(target))["id"])
    out, err = goes_on.communicate(timeout=PATIENCE)
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
