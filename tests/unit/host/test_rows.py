"""Rows of the specification that are about a whole session."""

import pytest

from tests.support.stage import USER, call, exchange, recording, text
from tests.support.waits import until_true
from workbench.domain import events
from workbench.journal.decisions import revoke_rule
from workbench.tools.registry import tool_registry

EDIT = call("c1", "replace_string_in_file", path="a.txt", old_string="b", new_string="B")
RULE = {"id": "r1", "tool_name": "read_file", "param_pattern": '^{"path":"a.*"}$', "description": "reads"}


@pytest.mark.spec(6, 134)
def test_the_first_message_brings_a_session_from_created_to_work(staged):
    stage = staged(recording(exchange(text("hi")))).begin()
    assert stage.session().status == "created"
    stage.drive()
    moves = [(body.status, body.reason) for body in stage.bodies(events.SessionStatusChanged)]
    assert moves == [("initializing", None), ("ready", None), ("processing", None), ("ready", None)]
    assert [body.round for body in stage.bodies(events.ReplyCompleted)] == [1]


@pytest.mark.spec(24, 56)
def test_a_rule_is_named_by_exactly_the_calls_it_let_pass_also_after_it_is_gone(staged):
    from workbench.host import driver_context

    script = recording(
        exchange(
            call("c1", "read_file", path="a.txt"), EDIT | {"tool_call": {**EDIT["tool_call"], "id": "c2"}}
        )
    )
    stage = staged(script, files={"a.txt": "b"}, config={"auto_approval_rules": [RULE]})
    context = stage.context()
    driver_context.sync_config_rules(
        stage.journal, context.read_settings().loaded, context.tools.descriptors(), str(stage.workspace)
    )
    stage.begin().drive()
    assert {key: (row.rule, row.approval_method) for key, row in stage.calls().items()} == {
        "c1": ("R1", "config_rule"),
        "c2": (None, None),
    }
    revoke_rule(stage.journal, "R1", USER)
    assert stage.calls()["c1"].rule == "R1"
    assert [rule.id for rule in stage.journal.rules(active=False)] == ["R1"]


@pytest.mark.spec(36)
def test_a_long_result_is_kept_whole_in_a_file_of_its_own(staged):
    stage = staged(
        recording(exchange(call("c1", "run_in_terminal", command="seq 1 5000")), exchange(text("ok")))
    ).begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    (finished,) = stage.bodies(events.CallFinished)
    whole = "".join(f"{n}\n" for n in range(1, 5001)).encode()
    path = stage.home.blobs / "recorded" / finished.output_ref.partition(":")[2]
    assert path.read_bytes() == whole
    assert finished.output_bytes == len(whole)


@pytest.mark.spec(137)
def test_a_turn_that_reaches_its_limit_stops_and_says_so(staged):
    reads = [exchange(call(f"c{n}", "read_file", path="a.txt")) for n in range(5)]
    stage = (
        staged(recording(*reads), files={"a.txt": "b"}, config={"limits": {"max_turns": 2}}).trust().begin()
    )
    assert stage.drive().last_outcome == "limit"
    assert (stage.session().status, stage.session().reason) == ("paused", "limit reached")
    assert len(stage.bodies(events.ReplyCompleted)) == 2
    assert "2 model calls" in stage.bodies(events.TurnEnded)[0].detail


@pytest.mark.spec(60, 155)
@pytest.mark.parametrize(
    "part",
    [EDIT, call("c1", "create_file", path="n.txt", content="x"), call("c1", "run_in_terminal", command="ls")],
)
def test_whatever_changes_something_asks_by_default(staged, part):
    stage = staged(recording(exchange(part)), files={"a.txt": "b"}).trust(read=True).begin()
    stage.drive()
    assert [(row.state, row.approval_method) for row in stage.calls().values()] == [("pending", None)]
    assert len(stage.waiting()) == 1


@pytest.mark.spec(150)
def test_what_is_said_is_in_the_journal_before_the_reply_is_over(staged):
    seen = []
    stage = staged(recording(exchange(text("one "), {"text": "two", "after_ms": 50})))

    async def pause(seconds):
        await until_true(lambda: stage.bodies(events.TextStreamed))
        seen.append([body.text for body in stage.bodies(events.TextStreamed)])

    from tests.support.stage import provider_maker_with_sleep
    from workbench.host.driver_context import open_driver_context
    from workbench.host.steps.pipeline_tool import SessionPipelineStarter

    stage.context = lambda: open_driver_context(
        stage.home,
        stage.journal,
        str(stage.workspace),
        provider=provider_maker_with_sleep(pause),
        pipelines=SessionPipelineStarter,
    )
    stage.begin().drive()
    assert seen == [["one "]]
    numbers = [event.sequence_number for event in stage.journal.events(stage.session_id)]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.spec(57, 192)
def test_every_tool_describes_itself_in_the_words_of_both_seeds():
    for descriptor in tool_registry().descriptors().values():
        assert descriptor.id and descriptor.description
        assert descriptor.input_schema["type"] == "object"
        assert descriptor.capability in ("read", "write", "execute", "git", "network")
        assert descriptor.risk_level in ("read_only", "safe_write", "dangerous")
        assert descriptor.requires_approval is True
        assert descriptor.allowed_providers
        assert descriptor.examples
