"""Which calls a compact conversation takes together, and that what is different is said."""

from tests.support import golden
from tests.support.tables import each_row
from workbench.views.conversation import Transcript
from workbench.views.conversation_blocks import (
    CallBlock,
    CallGroupBlock,
    CompactView,
    OutputBlock,
    PromptBlock,
    TextBlock,
)


def call(number, sign="ok", **more):
    return CallBlock(
        id=f"call:{number}", at=number, call_id=str(number), action_id=None, sign=sign, tool="read_file",
        target="a.py", ran_ms=100, **more,
    )  # fmt: skip


def output(number):
    return OutputBlock(id=f"output:{number}", at=number, call_id=str(number), text="x")


TEXT = TextBlock(id="text:t:1", at=0, text="Done.")
PROMPT = PromptBlock(id="prompt:1", at=0, text="Go.")


def run(*numbers, is_folded=True):
    keys = tuple(str(number) for number in numbers)
    return CallGroupBlock(
        id=f"run:{numbers[0]}", at=numbers[-1], call_ids=keys, seconds=len(keys) / 10, is_folded=is_folded
    )


@each_row(
    ("blocks", "shown"),
    [
        ([], ()),
        ([PROMPT, call(1), TEXT], (PROMPT, call(1), TEXT)),
        ([PROMPT, call(1), output(1), call(2), TEXT], (PROMPT, run(1, 2), TEXT)),
        ([call(1), TEXT, call(2), output(2), TEXT], (run(1, 2), TEXT, TEXT)),
        ([call(1), call(2), PROMPT, call(3), call(4)], (run(1, 2), PROMPT, run(3, 4))),
        ([call(1), call(2), call(3, "waiting")], (run(1, 2), call(3, "waiting"))),
        ([call(1), call(2, "failed"), output(2), call(3)], (run(1, 3), call(2, "failed"), output(2))),
        ([call(1), call(2, "running")], (call(1), call(2, "running"))),
        ([call(1), call(2, note="you said: gently")], (call(1), call(2, note="you said: gently"))),
        ([call(1), call(2, "partly"), call(3)], (run(1, 3), call(2, "partly"))),
    ],
)
def test_what_is_taken_together(blocks, shown):
    assert CompactView().fold(blocks, None) == (shown, None)


@each_row(
    ("places", "place"),
    [
        ((None, None), None),
        (("inside", "inside"), "inside"),
        ((None, "outside", None), "outside"),
        (("inside", None, "outside"), "mixed"),
    ],
)
def test_a_run_says_where_its_commands_ran_if_they_agree(places, place):
    calls = [call(number, place=each) for number, each in enumerate(places)]
    (group,), _ = CompactView().fold(calls, None)
    assert group.place == place


def test_a_run_opens_and_folds_again():
    blocks, folding = [call(1), output(1), call(2)], CompactView()
    folding.fold(blocks, None)
    folding.toggle("call:1")
    assert folding.fold(blocks, ()) == ((run(1, 2),), set())
    folding.toggle("run:1")
    shown, different = folding.fold(blocks, ())
    assert shown == (run(1, 2, is_folded=False), *blocks)
    assert different >= {"run:1", "call:1", "output:1", "call:2"}
    folding.toggle("run:1")
    assert folding.fold(blocks, ())[0] == (run(1, 2),)


def test_calls_of_an_open_run_stand_where_they_stood():
    blocks, folding = [call(1), TEXT, call(2)], CompactView()
    folding.fold(blocks, None)
    folding.toggle("run:1")
    assert folding.fold(blocks, ())[0] == (run(1, 2, is_folded=False), *blocks)


def test_a_run_opens_for_what_is_in_it():
    folding = CompactView()
    blocks = [call(1), output(1), call(2), call(3, "failed")]
    folding.fold(blocks, None)
    assert not folding.open_for("call:3")
    assert folding.open_for("output:1")
    folding.fold(blocks, ())
    assert not folding.open_for("output:1"), "it is open already"


def test_another_conversation_begins_folded():
    folding = CompactView()
    blocks = [call(1), call(2)]
    folding.fold(blocks, None)
    folding.toggle("run:1")
    assert folding.fold(blocks, None)[0] == (run(1, 2),)


@each_row("name", golden.names())
def test_everything_that_is_another_object_is_said(name):
    events = list(golden.events(name))
    for session in dict.fromkeys(event.session_id for event in events):
        transcript, folding = Transcript(session), CompactView()
        shown, _ = folding.fold((), None)
        for event in events:
            changed = transcript.apply(event)
            if not changed:
                continue
            before = {block.id: block for block in shown}
            shown, different = folding.fold(transcript.blocks, changed)
            after = {block.id: block for block in shown}
            other = {key for key in before.keys() | after.keys() if before.get(key) is not after.get(key)}
            assert other <= different
