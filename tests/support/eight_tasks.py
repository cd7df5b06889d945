"""Eight tasks of every day, done by hands that count their keys: the installed program, a terminal, a scripted model.

Text that is typed counts nothing; each key does. `parts` are the presses that only showed what nobody had seen
yet. Each task returns what it took; the tests compare keys, the benchmark prints times.
"""

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.chat_server import Answer, ChatServer, Stall, chunk, event, said
from tests.support.keys import PRESS_SECONDS, press_again, times_asked
from tests.support.terminal import Terminal
from tests.support.waits import PATIENCE

SIZES = ((160, 48), (120, 36), (80, 24))
READING_CALLS = "Look, then"
"""What the screen says after a key that only showed the next part."""
EARLY = "Too quick"
"""What it says of a key that came before its row had stood long enough."""
REPEATED_SECONDS = 3.0
MOST_PARTS = 30
LINES = [f"line {n}\n" for n in range(1, 61)]
OLD = "".join(LINES)
NEW = (
    OLD.replace("line 3\n", "line three\n")
    .replace("line 15\n", "line fifteen\n")
    .replace("line 27\n", "line twenty-seven\n")
)
ESCAPE, ENTER, STOP, QUEUE = "\x1b", "\r", "\x03", "\x07"
PIPELINE = """\
apiVersion: v1
kind: WavePipeline
metadata:
  name: checks
steps:
  - id: fetch
    type: command
    script: "true"
  - id: check
    type: command
    script: "echo no route to /items/new; exit 3"
    dependencies: [fetch]
"""


@dataclass
class Effort:
    """What a task took."""

    keys: int = 0
    parts: int = 0
    early: int = 0
    """Presses that came before their row had stood long enough, and decided nothing."""
    seconds: float = 0.0
    """From what the model sent last, or from the first key, to the screen that shows the outcome."""
    begun: float | None = None
    """When its first key was pressed."""
    row_seconds: float | None = None
    """From what the model sent last to its row on the screen."""


@dataclass
class Hands:
    """One user at one screen."""

    terminal: Terminal
    effort: Effort = field(default_factory=Effort)

    def press(self, key, *, is_quick=False):
        """Press a key once the screen rests; a quick one does not wait."""
        if not is_quick:
            self.terminal.rest()
        if self.effort.begun is None:
            self.effort.begun = time.monotonic()
        self.terminal.press(key)
        self.effort.keys += 1

    def twice(self, key):
        """Press a deciding key twice, the second time when the screen asks for it.

        Fails at once where the key became text, or counted nowhere.
        """
        self.terminal.rest()
        before = self._said()
        self.press(key, is_quick=True)
        self.terminal.until_true(lambda: times_asked(self.terminal.text(), key) or self._is_lost(key, before))
        assert times_asked(self.terminal.text(), key) == 1, self.terminal.text()
        self.terminal.pump(PRESS_SECONDS)
        self.terminal.press(key)
        self.effort.keys += 1

    def _is_lost(self, key, before):
        """Return whether a key was refused, in other words than those `before` it, or went to the composer."""
        lines = self.terminal.text().splitlines()
        return self._said() not in ("", before) or any(line.startswith(f" › {key}") for line in lines)

    def decide(self, key):
        """Press a key that decides, as often as the screen asks for it."""
        self.press(key)
        self.terminal.until_true(lambda: times_asked(self.terminal.text(), key))
        self.effort.keys += press_again(self.terminal, key)

    def write(self, text):
        """Type words into a text field."""
        self.terminal.rest()
        self.terminal.press(text)

    def sees(self, *wanted, gone=()):
        shown = self.terminal.until(*wanted, gone=gone)
        self._passed()
        return shown

    def _passed(self):
        if self.effort.begun is not None:
            self.effort.seconds = time.monotonic() - self.effort.begun

    def approve(self, *wanted, gone=()):
        """Press `a` until the outcome is on the screen; each press before it only showed another part."""
        for _ in range(MOST_PARTS):
            before = self._said()
            self.press("a")
            if self._comes(wanted, gone, before):
                self._passed()
                return
            self.effort.keys -= 1
            if READING_CALLS in self._said():
                self.effort.parts += 1
            else:
                assert EARLY in self._said(), self.terminal.text()
                self.effort.early += 1
        raise AssertionError(self.terminal.text())

    def _said(self):
        """Return what the screen says of a key that decided nothing."""
        lines = self.terminal.text().splitlines()
        return "".join(line for line in lines if READING_CALLS in line or EARLY in line)

    def _comes(self, wanted, gone, before, seconds=PATIENCE):
        """Return whether the outcome came; False once the screen says something else of the key."""
        begun = time.monotonic()
        while (passed := time.monotonic() - begun) < seconds:
            self.effort.keys += press_again(self.terminal, "a")
            text, words = self.terminal.text(), self._said()
            if all(one in text for one in wanted) and not any(one in text for one in gone):
                return True
            # The same words once more are only known by time.
            if words and (words != before or passed > REPEATED_SECONDS):
                return False
            self.terminal.pump(0.02)
        return False

    def reset(self):
        """Begin to count."""
        self.terminal.rest()
        self.effort = Effort()


class Scripted:
    """A model that says what the test wants, and knows when it had said it."""

    def __init__(self):
        self.sent_at = 0.0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.server = ChatServer(otherwise=said("Fine."))

    def calls(self, *calls):
        """Let the next reply ask for tools: (name, arguments) each."""
        deltas = [{"role": "assistant", "content": ""}]
        for index, (name, arguments) in enumerate(calls):
            called = {"name": name, "arguments": json.dumps(arguments)}
            head = {"index": index, "id": f"call_{index}_{time.monotonic_ns()}", "type": "function"}
            deltas.append({"tool_calls": [{**head, "function": called}]})
        chunks = [*map(chunk, deltas), chunk(finish="tool_calls"), "[DONE]"]
        self.server.answers.append(Answer([self._wait, *map(event, chunks), self._sent]))

    def says(self, words):
        """Let the next reply be words."""
        self.server.answers.append(said(words))

    def hangs(self):
        """Let the next reply begin and never end."""
        begun = chunk({"role": "assistant", "content": "Thinking"})
        self.server.answers.append(Answer([event(begun), Stall()]))

    def _wait(self):
        self.may_answer.wait(PATIENCE)

    def _sent(self):
        self.sent_at = time.monotonic()


def create(name, lines=1):
    return ("create_file", {"path": name, "content": "".join(f"{name} {n}\n" for n in range(lines))})


EDIT = ("replace_string_in_file", {"path": "router.py", "old_string": OLD, "new_string": NEW})


class Desktop:
    """A trusted project with a scripted model, at which screens are opened."""

    def __init__(self, shop, size, kind=Terminal, **config):
        self.shop, self.size, self.kind, self.model = shop, size, kind, Scripted()
        provider = {"kind": "openai-compatible", "base_url": self.model.server.base_url, "model": "script"}
        settings = {
            "config_version": 1,
            "default_provider": "script",
            "providers": {"script": provider},
            **config,
        }
        shop.home.mkdir(exist_ok=True)
        (shop.home / "config.json").write_text(json.dumps(settings))
        (shop.project / "router.py").write_text(OLD)
        shop.call("trust", "--yes", str(shop.project))
        self.opened = []

    def open(self):
        """Return hands at a fresh screen, with the focus in the composer."""
        columns, rows = self.size
        shop = self.shop
        made = self.kind(shop.argv(), cwd=shop.project, env=shop.env(), columns=columns, rows=rows)
        self.opened.append(made)
        made.until("enter send")
        return Hands(made)

    def ask(self, hands, *calls):
        """Send a prompt to which the model answers with calls; return once the first row is there."""
        self.model.calls(*calls)
        hands.write("do it")
        hands.terminal.press(ENTER)
        hands.sees(f"{len(calls)} waiting")
        hands.effort.row_seconds = time.monotonic() - self.model.sent_at

    def close(self):
        for made in self.opened:
            made.close()
        self.model.server.close()


@contextmanager
def desktop(shop, size, kind=Terminal, **config):
    """Yield a desktop, and leave nothing of it open."""
    made = Desktop(shop, size, kind, **config)
    try:
        yield made
    finally:
        made.close()


def from_list(place):
    """Approve what came, one key each, in a row of asks; the effort is that of the second."""
    hands = place.open()
    place.ask(hands, create("a.txt"), create("b.txt"), create("c.txt"))
    hands.press(ENTER)
    hands.approve("2 waiting")
    hands.reset()
    hands.approve("1 waiting")
    return hands.effort


def from_composer(place):
    """Approve what just came, from the empty composer."""
    hands = place.open()
    place.ask(hands, EDIT)
    row = hands.effort.row_seconds
    hands.effort = Effort(row_seconds=row)
    hands.press(ENTER)
    hands.approve(gone=("1 waiting",))
    hands.effort.seconds = time.monotonic() - place.model.sent_at
    return hands.effort


def while_typing(place):
    """Approve what just came while a message is being written, which stays."""
    hands = place.open()
    place.ask(hands, create("a.txt"))
    hands.write("and then")
    hands.reset()
    hands.press(QUEUE)
    hands.approve(gone=("1 waiting",))
    hands.sees("and then")
    return hands.effort


def leave_hunk(place):
    """Leave hunk 2 of 3 and approve the rest."""
    hands = place.open()
    place.ask(hands, EDIT)
    hands.press(ENTER)
    hands.reset()
    hands.press("l")
    hands.press(" ")
    hands.sees("2 of 3")
    hands.approve(gone=("1 waiting",))
    return hands.effort


CHAIN = 5
"""Asks that come one after another, each after the answer to the one before."""


def chain_of_asks(place):
    """Answer asks that come one after another: nothing but `a a` each, from where the last answer left the focus."""
    hands = place.open()
    place.model.calls(create("c0.txt"))
    for number in range(1, CHAIN):
        place.model.calls(create(f"c{number}.txt"))
    hands.write("do it")
    hands.terminal.press(ENTER)
    hands.sees("1 waiting")
    hands.press(ENTER)
    hands.reset()
    for number in range(CHAIN):
        hands.sees(f"c{number}.txt 0")
        hands.twice("a")
        hands.terminal.until_true((place.shop.project / f"c{number}.txt").exists)
    hands.sees("nothing waits", gone=("1 running",))
    return hands.effort


def reject_with_reason(place):
    """Reject with a reason that the agent reads."""
    hands = place.open()
    place.ask(hands, create("a.txt"))
    hands.press(ENTER)
    hands.reset()
    hands.decide("R")
    hands.sees("Reject a.txt")
    hands.write("use another name")
    hands.press(ENTER)
    hands.sees(gone=("1 waiting",))
    return hands.effort


def never_again(place):
    """Never be asked for exactly this again."""
    hands = place.open()
    place.ask(hands, ("run_in_terminal", {"command": "git status"}))
    hands.press(ENTER)
    hands.reset()
    hands.decide("A")
    hands.sees("exactly this")
    hands.press(ENTER)
    hands.sees(gone=("1 waiting",))
    return hands.effort


def approve_six(hands):
    """Look at six rows, mark all and approve them in the table; the keys that look are not counted."""
    for _ in range(6):
        hands.press("j")
    hands.reset()
    hands.press("M")
    hands.sees("6 marked")
    hands.decide("a")
    hands.sees("a approve 6   r reject 6")
    hands.decide("a")


def six_that_were_seen(place):
    """Approve six that were all looked at."""
    hands = place.open()
    place.ask(hands, *(create(f"f{n}.txt") for n in range(6)))
    hands.press(ENTER)
    approve_six(hands)
    hands.sees(gone=("6 waiting", "1 waiting"))
    return hands.effort


def stop_and_say(place):
    """Stop the agent and say what it shall do instead."""
    hands = place.open()
    place.model.hangs()
    hands.write("do it")
    hands.terminal.press(ENTER)
    hands.sees("1 running")
    hands.reset()
    hands.press(STOP)
    hands.sees(gone=("1 running",))
    hands.write("do something else")
    hands.press(ENTER)
    hands.sees("Fine.")
    return hands.effort


def day(place):
    """Do the tasks one after another at one screen, each from where the answer before left the focus.

    Yields the name of each and what it took; what is between them is not counted.
    """
    hands, project = place.open(), place.shop.project
    script = (
        [create("first.txt")], [create("next.txt")], [EDIT], [create("a.txt")],
        [("run_in_terminal", {"command": "git status"})], [create(f"f{n}.txt") for n in range(6)],
    )  # fmt: skip
    for calls in script:
        place.model.calls(*calls)
    place.model.hangs()
    hands.write("do it")
    hands.terminal.press(ENTER)
    hands.sees("1 waiting", "first.txt")
    hands.reset()
    hands.press(ENTER)
    hands.sees("first.txt 0")
    hands.twice("a")
    hands.terminal.until_true((project / "first.txt").exists)
    yield "approve, from the composer", hands.effort
    hands.sees("next.txt 0")
    hands.reset()
    hands.twice("a")
    hands.terminal.until_true((project / "next.txt").exists)
    yield "approve, from the queue", hands.effort
    hands.sees("hunk 1 of 3")
    hands.reset()
    hands.press("l")
    hands.press(" ")
    hands.sees("2 of 3")
    hands.approve("a.txt 0")
    yield "leave hunk 2 of 3", hands.effort
    hands.reset()
    hands.twice("R")
    hands.sees("Reject a.txt")
    hands.write("use another name")
    hands.press(ENTER)
    hands.sees("git status", "1 waiting")
    yield "reject with a reason", hands.effort
    hands.reset()
    hands.twice("A")
    hands.sees("exactly this")
    hands.press(ENTER)
    hands.sees("6 waiting")
    yield "never ask again", hands.effort
    approve_six(hands)
    hands.sees("1 running", gone=("6 waiting",))
    yield "six that were all seen", hands.effort
    hands.reset()
    hands.press(STOP)
    hands.sees(gone=("1 running",))
    hands.write("do something else")
    hands.press(ENTER)
    hands.sees("Message “do it”")
    yield "stop and say", hands.effort


def why_a_step_failed(place):
    """Find out why a step failed, and see its whole log."""
    folder = place.shop.project / ".workbench" / "pipelines"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "checks.yaml").write_text(PIPELINE)
    place.shop.call("trust", "--yes", str(place.shop.project))
    place.shop.call("pipeline", "run", "checks", code=1)
    hands = place.open()
    hands.reset()
    hands.press(ESCAPE)
    hands.sees(gone=("enter send",))
    hands.press("4")
    hands.press("n")
    hands.sees("exit code 3")
    why = hands.effort.keys
    hands.press(ENTER)
    hands.sees("Log", "Contract", "no route to /items/new")
    return Effort(keys=why), hands.effort


def recorded_by_another(folder):
    """Return the lines of a session of another agent: a command fails three minutes after its beginning."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make check"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "Exit code 2"}
    said = (
        ("user", "10:00", "try it"),
        ("assistant", "10:02", [call]),
        ("user", "10:03", [result]),
        ("assistant", "10:20", [{"type": "text", "text": "It failed."}]),
    )
    lines = []
    for number, (role, minute, content) in enumerate(said):
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"m{number}", "model": "m"}
        lines.append(
            {"type": role, "sessionId": "5e55", "uuid": f"u{number}", "cwd": str(folder), "version": "2.0.1",
             "parentUuid": f"u{number - 1}" if number else None, "timestamp": f"2026-01-05T{minute}:00.000Z",
             "message": message}
        )  # fmt: skip
    return lines


def replay_from_first_error(place):
    """Replay a session from its first error."""
    shop = place.shop
    file = shop.root / "5e55.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in recorded_by_another(shop.project)))
    shop.call("sessions", "import", str(file))
    hands = place.open()
    hands.reset()
    hands.press(ESCAPE)
    hands.sees(gone=("enter send",))
    hands.press("5")
    hands.sees("5 Library", "p replay")
    hands.press("p")
    hands.sees("REPLAY")
    hands.press("x")
    hands.sees(":03:", "event 11 of")
    return hands.effort
