"""What a model and a command do now, from events and a moment."""

import pytest

from tests.unit.views.making import NOW, SECOND, event
from workbench.domain import events as e
from workbench.domain.values import GateVerdict, Usage
from workbench.render.conversation import block_lines
from workbench.render.glyphs import ASCII_GLYPHS, UNICODE_GLYPHS
from workbench.render.theme import own_theme_ink
from workbench.views.conversation import Transcript
from workbench.views.conversation_blocks import CallBlock, ProgressBlock

INK = own_theme_ink("workbench-dark")
RULED = GateVerdict(outcome="allowed", step="grants", by="R3", rule="R3")


class Session:
    """A conversation whose events come at the seconds that a test says."""

    def __init__(self):
        self.transcript = Transcript("s1")

    def add(self, second, body, **more):
        at = NOW + int(second * SECOND)
        told = event(body, turn_id="t1", at=at, **more)
        return self.transcript.apply(told)

    def ask(self, second, round_number=1, sent=4_000):
        self.add(second, e.TurnStarted(provider="p", model="qwen3-coder", round=round_number))
        self.add(second, e.ProgressReported(message="asks", sent=sent))

    def say(self, second, text, offset=0):
        self.add(second, e.TextStreamed(block=0, offset=offset, text=text))

    def block(self, second):
        self.transcript.tick(NOW + int(second * SECOND))
        last = self.transcript.blocks[-1] if self.transcript.blocks else None
        return last if isinstance(last, ProgressBlock) else None

    def line(self, second, width=90, glyphs=UNICODE_GLYPHS):
        block = self.block(second)
        return [line.plain.strip() for line in block_lines(block, width, INK, glyphs)] if block else []


def test_from_the_first_second_it_says_who_is_asked_how_long_and_with_how_much():
    session = Session()
    session.ask(0)
    assert session.line(0.2) == ["● qwen3-coder reads   0 s   about 1k tok"]
    assert session.line(12.9) == ["● qwen3-coder reads   12 s   about 1k tok"]
    assert session.line(75) == ["● qwen3-coder reads   1:15   about 1k tok"]


def test_what_is_usual_is_the_median_of_the_same_model():
    session = Session()
    for number, waited in enumerate((3, 9, 100)):
        session.ask(number * 1000, number + 1)
        session.say(number * 1000 + waited, "word")
        session.add(number * 1000 + waited, e.ReplyCompleted(text="word", round=number + 1))
    session.ask(5000, 4)
    assert session.line(5001) == ["● qwen3-coder reads   1 s   about 1k tok, usually 9 s"]
    session.add(5001, e.TurnStarted(provider="p", model="another", round=5))
    assert session.line(5002) == ["● another reads   1 s"]


def test_what_a_server_counted_decides_how_many_tokens_a_byte_is():
    session = Session()
    session.ask(0, sent=4_000)
    session.add(1, e.ReplyCompleted(text="word", usage=Usage(input_tokens=2_000)))
    session.ask(2, 2, sent=6_000)
    assert session.block(3).tokens == 3_000


def test_while_it_writes_the_last_eight_seconds_are_eight_bars():
    session = Session()
    session.ask(0)
    for second in range(10):
        session.say(20 + second, "x" * 40, offset=40 * second)
    block = session.block(30)
    assert block.phase == "writes" and block.seconds == 10 and block.tokens == 100
    assert block.bars == (40,) * 8 and block.rate == 10
    assert session.line(30) == ["● writes   ▇▇▇▇▇▇▇▇ about 10 tok/s   100 tok   0:10"]
    assert session.line(30, glyphs=ASCII_GLYPHS) == ["@ writes   about 10 tok/s   100 tok   0:10"]
    assert session.line(45) == ["● writes   ▁▁▁▁▁▁▁▁ silent 16 s   about 100 tok   0:25"]


def test_thoughts_and_the_arguments_of_calls_count_as_well():
    session = Session()
    session.ask(0)
    session.add(5, e.ThinkingStreamed(block=0, offset=0, text="x" * 40))
    assert session.block(7).phase == "thinks"
    session.add(8, e.ProgressReported(message="writes a call", received=100))
    session.add(9, e.ProgressReported(message="writes a call", received=240))
    assert (session.block(9).phase, session.block(9).tokens) == ("writes", 70)


@pytest.mark.parametrize(
    "ends",
    [
        e.ReplyCompleted(text="done"),
        e.TurnEnded(outcome="interrupted"),
        e.ErrorRaised(code="x", message="m"),
    ],
)
def test_it_is_gone_with_the_event_that_ends_it(ends):
    session = Session()
    session.ask(0)
    assert session.block(3) is not None
    assert "progress" in session.add(4, ends)
    assert not any(isinstance(block, ProgressBlock) for block in session.transcript.blocks)


def test_between_two_seconds_nothing_changes_and_a_clock_set_back_counts_from_nothing():
    session = Session()
    session.ask(0)
    session.block(5.1)
    assert session.transcript.tick(NOW + int(5.9 * SECOND)) == set()
    assert session.block(-100).seconds == 0


def test_nothing_counts_where_nobody_drives_it():
    session = Session()
    session.ask(0)
    assert session.block(3) is not None and session.transcript.facts.turn_seconds == 3
    assert session.transcript.tick(None) == {"progress"}
    assert session.transcript.facts.turn_seconds is None


def test_a_reply_whose_beginning_was_not_read_has_no_time():
    session = Session()
    session.say(0, "x" * 40, offset=3_960)
    assert (session.block(2).seconds, session.block(2).tokens) == (None, 1_000)


def test_a_command_has_its_seconds_its_limit_and_what_it_wrote_last():
    session = Session()
    about = {"call_id": "c1"}
    session.ask(0)
    session.add(1, e.ReplyCompleted(text=""))
    session.add(1, e.CallProposed(tool="run_in_terminal", verdict=RULED, target="pytest -q"), **about)
    session.add(2, e.CallExecuting(), **about)
    started = e.ProcessStarted(pid=1, group=1, start_time="x", limit_seconds=60.0)
    session.add(2, started, **about)
    session.add(3, e.OutputStreamed(offset=0, text="one\n 10 %\r 90 %\x1b[0m\n\n"), **about)
    session.block(29)
    call = next(block for block in session.transcript.blocks if isinstance(block, CallBlock))
    lines = [line.plain.rstrip() for line in block_lines(call, 70, INK, UNICODE_GLYPHS)]
    assert lines[0].split("━")[0].split() == ["●", "run", "pytest", "-q"]
    assert lines[0].endswith("━━━━━━━━╌╌╌╌╌╌╌╌╌  0:27 of 1:00")
    assert lines[1] == "     90 %⟨ESC[0m⟩"
    assert session.transcript.facts.turn_seconds == 29
    session.add(30, e.CallFinished(state="succeeded", duration_ms=28_000), **about)
    call = next(block for block in session.transcript.blocks if isinstance(block, CallBlock))
    assert (call.right, call.elapsed, call.last_line) == ("28 s", None, "")
    assert session.transcript.commands == {}


def test_turns_are_counted_and_listed_from_the_middle_of_one():
    transcript = Transcript("s1", turns_before=6)
    transcript.apply(event(e.ReplyCompleted(text="late"), turn_id="t7"))
    for turn_id, outcome in (("t8", "done"), ("t9", "error")):
        transcript.apply(event(e.PromptSubmitted(text=f"Question {turn_id}\nmore"), by="user"))
        transcript.apply(event(e.TurnStarted(provider="p", model="m"), turn_id=turn_id))
        transcript.apply(event(e.TurnEnded(outcome=outcome), turn_id=turn_id))
    assert [(turn.number, turn.sign, turn.title) for turn in transcript.turns] == [
        (7, "running", ""), (8, "ok", "Question t8⏎more"), (9, "failed", "Question t9⏎more")
    ]  # fmt: skip
    blocks = transcript.blocks
    turn_ids = [transcript.turn_of(blocks, index).id for index in range(len(blocks) + 1)]
    assert turn_ids == ["t7", "t8", "t9", "t9"]
