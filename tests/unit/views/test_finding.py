"""What of an event is found, in which block, and which hit is the next one."""

import pytest

from tests.support.tables import each_row
from tests.unit.views.making import event
from workbench.domain.events import (
    ActionRejected,
    CallFinished,
    CallProposed,
    ConversationCompacted,
    ErrorRaised,
    MarkAdded,
    PromptSubmitted,
    ReplyCompleted,
    TurnStarted,
)
from workbench.domain.values import GateVerdict, ReplyCall
from workbench.views.conversation import Transcript
from workbench.views.conversation_search import BlockHit, ConversationSearch, block_hits

READ = ReplyCall(call_id="c1", provider_call_id="p1", tool="read_file", arguments={"path": "src/Ärger.py"})
REPLY = ReplyCompleted(text="I rename it.", thinking="Which one?", calls=(READ,))
ASKED = CallProposed(
    tool="read_file", verdict=GateVerdict(outcome="ask", step="ask", by="default"), target="src/x.py"
)


@each_row(
    ("body", "wanted", "blocks"),
    [
        (PromptSubmitted(text="Rename it"), "rename", ["prompt:E"]),
        (PromptSubmitted(text="Rename it"), "renamed", []),
        (REPLY, "i", ["thought:t1:1", "text:t1:1", "call:c1"]),
        (REPLY, "RENAME", ["text:t1:1"]),
        (REPLY, "ärger", ["call:c1"]),
        (ASKED, "x.py", ["call:c1"]),
        (CallFinished(state="failed", preview="2 failed"), "failed", ["output:c1"]),
        (ActionRejected(reason="keep the order"), "order", ["call:c1"]),
        (ActionRejected(), "order", []),
        (ErrorRaised(code="x", message="No.", details="The disk is full."), "disk", ["error:E"]),
        (MarkAdded(label="here"), "HERE", ["notice:E"]),
        (ConversationCompacted(summary="They renamed it."), "renamed", ["summary:E"]),
        (TurnStarted(provider="recorded", model="m"), "m", []),
    ],
)
def test_blocks_that_hold_the_words(body, wanted, blocks):
    made = event(body, turn_id="t1", call_id="c1")
    found = block_hits(made, wanted)
    assert [hit.block_id for hit in found] == [block.replace(":E", f":{made.id}") for block in blocks]
    assert {(hit.number, hit.at) for hit in found} <= {(made.sequence_number, made.at)}


def test_what_is_found_is_in_the_transcript():
    events = [
        event(PromptSubmitted(text="Rename it")),
        event(REPLY, turn_id="t1"),
        event(MarkAdded(label="I")),
        event(ConversationCompacted(summary="It is renamed."), turn_id="t1"),
    ]
    transcript = Transcript("s1")
    transcript.apply_all(events)
    found = [hit.block_id for one in events for hit in block_hits(one, "i")]
    assert len(found) == 6
    assert all(transcript.block(key) is not None for key in found)


def hit(number, key=None, at=None):
    return BlockHit(number=number, at=number if at is None else at, block_id=key or f"b{number}")


def test_a_search_begins_at_the_last_hit_above_the_reader():
    finding = ConversationSearch("x", place=5)
    finding.add([hit(7), hit(9)])
    assert finding.first() is None, "what is above was not read yet"
    finding.add([hit(3), hit(4)])
    assert finding.first() == hit(4)


def test_with_nothing_above_it_begins_at_the_first_below():
    finding = ConversationSearch("x", place=5)
    finding.add([hit(7), hit(9)])
    finding.add([], is_whole=True)
    assert finding.first() == hit(7)


def test_next_and_previous_end_at_the_ends():
    finding = ConversationSearch("x", place=9)
    finding.add([hit(3), hit(4), hit(7)], is_whole=True)
    assert (finding.words, finding.next(1)) == ("3", hit(7))
    seen = []
    finding.current = finding.first()
    while (found := finding.next(-1)) is not None:
        finding.current = found
        seen.append(finding.words)
    assert seen == ["2 of 3", "1 of 3"]
    assert finding.next(1) == hit(4)


def test_a_block_counts_once_and_keeps_its_place_when_it_is_found_earlier():
    finding = ConversationSearch("x", place=9)
    finding.add([hit(5, "call:c"), hit(8)])
    finding.current = finding.next(-1)
    finding.add([hit(2, "call:c"), hit(1)])
    assert len(finding) == 3
    finding.current = hit(5, "call:c")
    assert (finding.number, finding.next(-1), finding.next(1)) == (2, hit(1), hit(8))


def test_hits_of_one_event_are_told_apart():
    finding = ConversationSearch("x", place=9)
    finding.add([hit(4, "thought"), hit(4, "text")], is_whole=True)
    finding.current = finding.first()
    assert finding.current.block_id == "text"
    assert finding.next(-1).block_id == "thought"


@pytest.mark.parametrize(
    ("hits", "is_whole", "words"),
    [([], False, "looking"), ([], True, "nothing"), ([1, 2], False, "2+"), (range(1200), True, "1,200")],
)
def test_words(hits, is_whole, words):
    finding = ConversationSearch("x")
    finding.add([hit(number) for number in hits], is_whole=is_whole)
    assert finding.words == words
