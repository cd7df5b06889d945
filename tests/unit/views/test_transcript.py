import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies_domain import bodies, events

from tests.support.tables import each_row
from tests.unit.views.making import NOW, SECOND, event, hunk
from workbench.domain import events as e
from workbench.domain.values import GateVerdict, ReplyCall, SelectedHunk
from workbench.views.conversation import Transcript
from workbench.views.conversation_blocks import (
    CallBlock,
    ErrorBlock,
    NoticeBlock,
    OutputBlock,
    PromptBlock,
    TextBlock,
    ThoughtBlock,
)

ASK = GateVerdict(outcome="ask", step="ask", by="default")
RULED = GateVerdict(outcome="allowed", step="grants", by="R3", rule="R3")


def turn(body, **more):
    return event(body, turn_id="t1", **more)


def started(round_number=1, turn_id="t1"):
    return event(e.TurnStarted(provider="p", model="m", round=round_number), turn_id=turn_id)


def reply(*calls, text="", thinking="", round_number=1, **more):
    named = tuple(
        ReplyCall(call_id=key, provider_call_id=key, tool=tool, arguments=arguments)
        for key, tool, arguments in calls
    )
    return turn(e.ReplyCompleted(text=text, thinking=thinking, calls=named, round=round_number), **more)


def proposed(key, verdict=ASK, target="src/app.py", tool="replace_string_in_file", **more):
    return turn(e.CallProposed(tool=tool, verdict=verdict, target=target, **more), call_id=key)


def opened(key="a1", call_id="c1", hunks=3):
    body = e.ActionOpened(
        action_kind="tool", tool="replace_string_in_file", target="src/app.py", digest="d", created_at=NOW,
        expires_at=NOW + SECOND, hunks=tuple(hunk(n) for n in range(1, hunks + 1)),
    )  # fmt: skip
    return turn(body, call_id=call_id, action_id=key)


def approved(key="a1", selection=None, reason=None):
    body = e.ActionApproved(
        digest="d", approved_until=NOW + SECOND, result_digest="d", selection=selection, reason=reason
    )
    return event(body, action_id=key, by="user")


def finished(key="c1", state="succeeded", **more):
    return turn(e.CallFinished(state=state, **more), call_id=key)


def executing(key="c1"):
    return turn(e.CallExecuting(), call_id=key)


def text(offset, piece, block=1, **more):
    return turn(e.TextStreamed(block=block, offset=offset, text=piece), **more)


def thinking(offset, piece, block=0, **more):
    return turn(e.ThinkingStreamed(block=block, offset=offset, text=piece), **more)


def transcript(*events_):
    found = Transcript("s1")
    found.apply_all(events_)
    return found


@pytest.mark.spec(211)
def test_what_was_said_called_asked_written_and_run_is_in_one_order():
    def step(state):
        return event(e.StepChanged(state=state, duration_ms=2000), step="tests")

    found = transcript(
        event(e.RunRequested(pipeline="nightly")),
        event(e.PromptSubmitted(text="go"), by="user"), started(),
        reply(("c1", "read_file", {}), text="I look."), proposed("c1", RULED, tool="read_file"), executing(),
        finished(), step("running"),
        started(2), reply(("c2", "replace_string_in_file", {}), text="I change it.", round_number=2),
        proposed("c2"), opened(call_id="c2"), approved(), executing("c2"),
        turn(e.FileChanged(path="src/app.py", change="modify", before="x", after="y"), call_id="c2"), finished("c2"),
        turn(e.ErrorRaised(code="C", message="broke")), step("completed"),
        turn(e.TurnEnded(outcome="done")), event(e.RunChanged(status="completed", duration_ms=2000)),
    )  # fmt: skip
    shown = [
        (
            type(block).__name__,
            getattr(block, "call_id", "") or getattr(block, "name", "") or getattr(block, "text", ""),
        )
        for block in found.blocks
    ]
    assert shown == [
        ("PromptBlock", "Run nightly"), ("PromptBlock", "go"), ("TextBlock", "I look."), ("CallBlock", "c1"),
        ("StepBlock", "tests"), ("TextBlock", "I change it."), ("CallBlock", "c2"), ("ErrorBlock", ""),
        ("StepBlock", "the run"),
    ]  # fmt: skip
    changed = next(block for block in found.blocks if isinstance(block, CallBlock) and block.call_id == "c2")
    assert (changed.action_id, changed.sign, changed.target) == ("a1", "ok", "src/app.py")


def told(*events_):
    """Return blocks as (class, the text that matters)."""
    return [plain(block) for block in transcript(*events_).blocks]


def plain(block):
    match block:
        case PromptBlock(text=words, is_queued=is_queued):
            return ("prompt, queued" if is_queued else "prompt", words)
        case TextBlock(text=words, is_open=is_open, was_cut=was_cut):
            return ("text" + ", open" * is_open + ", cut" * was_cut, words)
        case ThoughtBlock(text=words, seconds=seconds):
            return ("thought", words, seconds)
        case CallBlock(sign=sign, tool=tool, target=target, right=right):
            return ("call", sign, tool, target, right)
        case OutputBlock(text=words):
            return ("output", words)
        case ErrorBlock(message=words):
            return ("error", words)
        case NoticeBlock(kind=kind):
            return ("notice", kind)


PROMPT = event(e.PromptSubmitted(text="rename it"), by="user")
EDIT = ("c1", "replace_string_in_file", {"path": "src/app.py"})
ASKED = [PROMPT, started(), reply(EDIT, text="first"), proposed("c1"), opened()]


@each_row(
    ("events_", "expected"),
    [
        ([PROMPT], [("prompt", "rename it")]),
        ([PROMPT, started(), text(0, "I’ll "), text(5, "do")], [("prompt", "rename it"), ("text, open", "I’ll do")]),
        ([started(), text(0, "ab"), text(0, "ab"), text(1, "bc")], [("text, open", "abc")]),
        ([started(), text(0, "ab"), text(9, "z")], [("text, open", "ab…z")]),
        ([started(), text(0, "a", block=1), text(0, "b", block=3)], [("text, open", "ab")]),
        ([started(), text(0, "ab"), reply(text="whole")], [("text", "whole")]),
        ([started(), reply(text="whole"), text(0, "late")], [("text", "whole")]),
        ([started(), text(0, "ab"), turn(e.TurnEnded(outcome="error"))], [("text, cut", "ab")]),
        ([started(), text(0, "ab"), turn(e.TurnEnded(outcome="interrupted"))], [("text, cut", "ab"), ("notice", "stopped")]),
        ([started(), text(0, "ab"), started(), text(0, "again")], [("text, open", "again")]),
        ([started(), text(0, "ab"), turn(e.ErrorRaised(code="x", message="why"))], [("error", "why")]),
        ([started(), reply(text="1"), started(2), reply(text="2", round_number=2)], [("text", "1"), ("text", "2")]),
        (
            [started(), thinking(0, "hm", at=NOW), text(0, "so", at=NOW + 4 * SECOND)],
            [("thought", "hm", 4.0), ("text, open", "so")],
        ),
        (
            [started(), thinking(0, "hm", at=NOW), reply(thinking="hm", text="so", at=NOW + 2 * SECOND)],
            [("thought", "hm", 2.0), ("text", "so")],
        ),
        ([started(), reply(thinking="hm", text="so")], [("thought", "hm", None), ("text", "so")]),
        (
            [PROMPT, started(), text(0, "a"), event(e.PromptSubmitted(text="then"), by="user"), text(1, "b"), reply(text="ab", thinking="t")],
            [("prompt", "rename it"), ("thought", "t", None), ("text", "ab"), ("prompt, queued", "then")],
        ),
        (
            [started(), event(e.PromptSubmitted(text="then")), turn(e.TurnEnded(outcome="done")), started(1, "t2")],
            [("prompt", "then")],
        ),
        (ASKED, [("prompt", "rename it"), ("text", "first"), ("call", "waiting", "replace_string_in_file", "src/app.py", "asks you")]),
        ([*ASKED, turn(e.ActionBecameStale(paths=("x",)), action_id="a1")][3:], [("call", "stale", "replace_string_in_file", "src/app.py", "stale, asks you")]),
    ],
)  # fmt: skip
def test_events_become_blocks(events_, expected):
    assert told(*events_) == expected


CALLED = [started(), reply(EDIT), proposed("c1"), opened()]


@each_row(
    ("then", "sign", "right", "note", "quote"),
    [
        ([approved()], "todo", "approved", "", ""),
        ([approved(), executing()], "running", "running", "", ""),
        ([approved(), executing(), finished(duration_ms=12)], "ok", "12 ms", "", ""),
        (
            [approved(selection=(SelectedHunk(hunk=1), SelectedHunk(hunk=3)), reason="keep the order"), executing(), finished()],
            "partly", "2 of 3", "you left hunk 2", "keep the order",
        ),
        (
            [approved(selection=(SelectedHunk(hunk=1, lines=(1,)),)), executing(), finished()],
            "partly", "1 of 9 lines", "you left hunks 2, 3 and lines of hunk 1", "",
        ),
        ([approved(), executing(), finished(state="failed", exit_code=1)], "failed", "exit 1", "", ""),
        ([approved(), executing(), finished(state="failed", detail="timeout", error="60 s")], "failed", "timeout", "60 s", ""),
        ([approved(), executing(), finished(state="interrupted")], "unknown", "outcome unknown", "", ""),
        ([event(e.ActionRejected(reason="too\x1b wide"), action_id="a1", by="user")], "rejected", "rejected", "you said no", "too⟨ESC w⟩ide"),
        ([event(e.ActionRejected(), action_id="a1", by="user")], "rejected", "rejected", "", ""),
        ([event(e.ActionExpired(), action_id="a1")], "expired", "expired, not done", "", ""),
        ([finished(state="cancelled", detail="withdrawn")], "cancelled", "cancelled", "", ""),
    ],
)  # fmt: skip
def test_what_is_said_of_a_call(then, sign, right, note, quote):
    line = transcript(*CALLED, *then).block("call:c1")
    assert (line.sign, line.right, line.note, line.note_quote) == (sign, right, note, quote)


def test_a_rules_decision_is_a_rules():
    line = transcript(
        started(),
        reply(("c1", "read_file", {})),
        proposed("c1", RULED),
        executing(),
        finished(duration_ms=12),
    ).block("call:c1")
    assert (line.is_by_rule, line.right, line.right_meaning) == (True, "12 ms", None)


def test_what_the_gate_turned_down_was_not_you():
    denied = GateVerdict(outcome="denied", step="deny", by="config", reason="rm is denied")
    line = transcript(
        started(),
        reply(("c1", "run", {"command": "rm"})),
        proposed("c1", denied, target="", parameters={"command": "rm"}),
    ).block("call:c1")
    assert (line.right, line.note, line.note_quote, line.target) == ("not allowed", "rm is denied", "", "rm")


def test_a_call_that_replaces_a_stale_one_stands_behind_it():
    other = ("c2", "read_file", {})
    found = transcript(
        started(),
        reply(EDIT, other),
        proposed("c1"),
        proposed("c2"),
        finished(state="cancelled", detail="stale"),
        proposed("c3", replaces="c1"),
    )
    assert [block.call_id for block in found.blocks] == ["c1", "c3", "c2"]


OUT = [
    turn(e.OutputStreamed(offset=0, text="one\n"), call_id="c1"),
    turn(e.OutputStreamed(offset=4, text="two"), call_id="c1"),
]


def test_output_stands_under_its_call_and_is_replaced_by_what_lasts():
    running = [*CALLED, approved(), executing(), *OUT]
    found = transcript(*running)
    assert [plain(block)[0] for block in found.blocks] == ["call", "output"]
    assert found.block("output:c1").text == "one\ntwo"
    assert found.block("call:c1").has_output
    changed = found.apply(finished(preview="all", output_bytes=7))
    assert changed == {"call:c1", "output:c1"}
    assert found.block("output:c1") == replace(
        found.block("output:c1"), text="all", is_open=False, total_bytes=7
    )
    found.apply(OUT[0])
    assert found.block("output:c1").text == "all"


def test_output_without_a_preview_is_gone_at_the_end():
    found = transcript(*CALLED, approved(), executing(), *OUT, finished())
    assert found.block("output:c1") is None
    assert not found.block("call:c1").has_output


def test_folding():
    found = transcript(*CALLED, approved(), executing(), *OUT)
    assert found.block("output:c1").is_folded
    assert found.toggle("call:c1") == {"call:c1", "output:c1"}
    assert not found.block("output:c1").is_folded
    found.apply(finished(preview="all", output_bytes=7))
    assert not found.block("output:c1").is_folded
    assert found.toggle("output:c1") == {"call:c1", "output:c1"}
    assert found.block("call:c1").is_folded
    assert found.toggle("nothing") == set()


def test_an_open_thought_stays_open_when_it_is_whole():
    found = transcript(started(), thinking(0, "hm"))
    found.toggle("thought:t1:1")
    found.apply(reply(thinking="hm, yes"))
    assert found.block("thought:t1:1") == ThoughtBlock(
        id="thought:t1:1", at=NOW, text="hm, yes", seconds=0.0, is_folded=False
    )


def test_only_the_newest_notice_has_keys():
    pause = event(e.SessionStatusChanged(status="paused", reason="unattended"))
    made = event(e.SessionCreated(workspace="/w"))
    found = transcript(made, pause)
    assert found.blocks[0].keys == (("c", "continue"), ("i", "say something first"))
    found.apply(event(e.ContinueRequested(), by="user"))
    assert [block.keys for block in found.blocks] == [(), ()]


def test_a_paused_list_of_findings_offers_no_message():
    asked = event(e.IncidentsRequested(ids=("i1",)))
    found = transcript(asked, event(e.SessionStatusChanged(status="paused", reason="host lost")))
    assert found.blocks[-1].keys == (("c", "continue"), ("8", "findings"))


@pytest.mark.parametrize("reason", ["host lost", "user", "unattended", "limit reached"])
def test_a_pause_that_only_a_human_ends_keeps_its_keys_while_what_was_approved_is_carried_out(reason):
    pause = event(e.SessionStatusChanged(status="paused", reason=reason))
    found = transcript(*CALLED, pause, executing())
    notice = next(block for block in found.blocks if isinstance(block, NoticeBlock))
    assert notice.keys == (("c", "continue"), ("i", "say something first"))
    found.apply_all([event(e.ContinueRequested())])
    assert all(not block.keys for block in found.blocks if isinstance(block, NoticeBlock))


@pytest.mark.parametrize("goes_on", [started(2), executing()])
def test_what_goes_on_needs_no_keys(goes_on):
    pause = event(e.SessionStatusChanged(status="paused", reason="parked"))
    found = transcript(*CALLED, pause)
    assert found.blocks[-1].keys
    changed = found.apply(goes_on)
    assert found.blocks[-1].keys == ()
    assert found.blocks[-1].id in changed


def test_a_stop_is_said_once():
    stop = [
        started(),
        turn(e.TurnEnded(outcome="interrupted")),
        event(e.SessionStatusChanged(status="paused", reason="user")),
    ]
    assert told(*stop) == [("notice", "stopped")]
    assert told(*stop[2:]) == [("notice", "paused")]


def test_facts():
    facts = transcript(*ASKED, event(e.PromptSubmitted(text="then"))).facts
    assert (facts.turns, facts.is_working, facts.waiting, len(facts.queue), facts.model) == (
        1,
        True,
        1,
        1,
        "m",
    )
    ended = transcript(*ASKED, turn(e.TurnEnded(outcome="done")))
    assert not ended.facts.is_working
    assert ended.facts.position > 0


GONE = event(e.SessionStatusChanged(status="paused", reason="host lost"))
THEN = event(e.PromptSubmitted(text="then"), by="user")


@pytest.mark.parametrize(
    ("said", "queued"),
    [
        ((GONE, THEN), 0),
        ((GONE, THEN, event(e.PromptSubmitted(text="too"), by="user")), 0),
        ((GONE, event(e.ContinueRequested(), by="user"), THEN), 1),
        ((event(e.SessionStatusChanged(status="paused", reason="parked")), THEN), 1),
    ],
)
def test_what_is_said_to_a_turn_whose_driver_is_gone_joins_its_next_round(said, queued):
    assert len(transcript(*CALLED, *said, started(2)).facts.queue) == queued


def test_events_of_other_sessions_change_nothing():
    found = transcript(PROMPT)
    assert found.apply(event(e.PromptSubmitted(text="x"), session_id="s2")) == set()
    assert len(found.blocks) == 1


sessions_events = st.lists(events().map(lambda found: replace(found, session_id="s1")), max_size=30)


@given(sessions_events)
def test_any_events_fold_and_say_what_changed(found):
    known = {}
    seen = Transcript("s1")
    for one in found:
        before = {block.id: block for block in seen.blocks}
        changed = seen.apply(one)
        known = {block.id: block for block in seen.blocks}
        assert len(known) == len(seen.blocks)
        assert {key for key in before.keys() | known.keys() if before.get(key) != known.get(key)} <= changed
        queued = [isinstance(block, PromptBlock) and block.is_queued for block in seen.blocks]
        assert sorted(queued) == queued
    assert transcript(*found).blocks == seen.blocks


pieces = st.lists(st.text(min_size=1, max_size=5), max_size=6)
between = st.lists(
    bodies.filter(
        lambda body: (
            not isinstance(
                body,
                e.TurnStarted
                | e.TurnEnded
                | e.ReplyCompleted
                | e.ErrorRaised
                | e.TextStreamed
                | e.ThinkingStreamed,
            )
        )
    ),
    max_size=5,
)


@given(pieces, pieces, between, st.randoms())
def test_live_deltas_come_to_the_same_as_the_reply_alone(texts, thoughts, others, random):
    deltas = []
    for number, (make, parts) in enumerate(((thinking, thoughts), (text, texts))):
        offset = 0
        for part in parts:
            deltas.append(make(offset, part, block=number))
            offset += len(part)
    noise = [turn(body, call_id="c1", action_id="a1") for body in others]
    live = list(deltas)
    for one in noise:
        live.insert(random.randrange(len(live) + 1), one)
    order = [one for one in live if one in noise]
    whole = reply(EDIT, text="".join(texts), thinking="".join(thoughts))
    after = [proposed("c1"), opened()]
    assert settled(transcript(started(), *live, whole, *after)) == settled(
        transcript(started(), *order, whole, *after)
    )


def settled(found):
    """Return the blocks without how long the model thought: only deltas tell."""
    return [
        replace(block, seconds=None) if isinstance(block, ThoughtBlock) else block for block in found.blocks
    ]


def kept(kind="claude-code.progress"):
    return event(e.Unknown(original_kind=kind, content={}), recorded_at=NOW)


def test_what_an_agent_wrote_for_itself_is_one_line_for_all_that_stands_together():
    transcript = Transcript("s1")
    transcript.apply_all([event(e.PromptSubmitted(text="go"), by="user"), kept(), kept(), kept()])
    assert [block.text for block in transcript.blocks] == ["go", "3 records that the agent wrote for itself"]
    transcript.apply_all([started(), reply(text="Done."), kept()])
    assert [block.text for block in transcript.blocks] == [
        "go", "3 records that the agent wrote for itself", "Done.", "1 record that the agent wrote for itself",
    ]  # fmt: skip
    assert {block.kind for block in transcript.blocks if isinstance(block, NoticeBlock)} == {"kept"}


def test_a_record_that_was_not_understood_is_told_by_itself_between_those_of_the_agent():
    transcript = Transcript("s1")
    strange = kept(f"claude-code.{e.NOT_UNDERSTOOD}.shape")
    ours = event(e.Unknown(original_kind="from.tomorrow", content={}))
    transcript.apply_all([kept(), strange, kept(), kept(), ours])
    assert [block.kind for block in transcript.blocks] == ["kept", "unknown", "kept", "unknown"]
    assert transcript.blocks[2].text == "2 records that the agent wrote for itself"
    assert all("does not know" in block.text for block in transcript.blocks if block.kind == "unknown")
