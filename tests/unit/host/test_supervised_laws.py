"""What holds whatever an agent, its human and the death of its driver bring."""

import asyncio
from collections import Counter
from contextlib import closing, contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies_domain import bodies

from tests.support.agent_life import OTHER_BYTES, POINTS, Life
from tests.support.sizes import size
from tests.support.stage import Stage, recording
from workbench.domain.events import ActionApproved, CallExecuting, CallFinished, FileChanged
from workbench.domain.values import UNDO_TOOL
from workbench.effects.clock import ManualClock
from workbench.host import crash_recovery, executor, supervised_requests

LINES = "".join(f"line {number}\n" for number in range(1, 13))
NAMES, TEXTS = ("a.txt", "b.txt", "new/c.txt"), ("1\n", "2\n")
KEYS = st.sampled_from(["", "call_0"])
NUMBERS = st.integers(0, 3)
WRITES = st.builds(lambda path, text: ("Write", {"file_path": path, "content": text}),
                   st.sampled_from(NAMES), st.sampled_from(TEXTS))  # fmt: skip
EDITS = st.builds(lambda old, new: ("Edit", {"file_path": "a.txt", "old_string": f"line {old}\n", "new_string": new}),
                  st.sampled_from([1, 2, 12]), st.sampled_from(["one\n", "1\n", ""]))  # fmt: skip
COMMANDS = st.sampled_from([("Bash", {"command": "make"}), ("Bash", {"command": "ls"})])
CALLS = st.one_of(WRITES, EDITS, COMMANDS)
ASKS = st.builds(lambda call, key: ("ask", *call, key), CALLS, KEYS)
DECISIONS = st.tuples(st.sampled_from(["approve", "approve", "approve_first_hunk", "reject"]), NUMBERS)
ACTS = st.tuples(st.sampled_from(["run", "run", "run_in_silence", "write_other", "not_wait"]), NUMBERS)
DEATHS = st.tuples(st.just("die"), st.integers(0, len(POINTS) - 1))
OTHERS = st.one_of(
    ASKS, DECISIONS, ACTS, DEATHS, DEATHS,
    st.builds(lambda call, key: ("not_ask", *call, key), CALLS, KEYS),
    st.tuples(st.sampled_from(["again", "again", "undo"]), NUMBERS),
    st.tuples(st.sampled_from(["leave", "come_back", "end_turn"])),
    st.tuples(st.just("wait"), st.sampled_from([3.0, 30.0, 2_000.0])),
    st.tuples(st.just("edit"), st.just("b.txt"), st.sampled_from(["human\n", "2\n"])),
)  # fmt: skip
PAUSES = st.lists(OTHERS, max_size=2)
SCENES = st.builds(
    lambda *parts: [step for part in parts for step in (part if isinstance(part, list) else [part])],
    PAUSES, ASKS, PAUSES, DECISIONS, PAUSES, ACTS,
)  # fmt: skip
STEPS = st.lists(SCENES, min_size=1, max_size=4).map(
    lambda scenes: [step for scene in scenes for step in scene]
)


@pytest.fixture
def only_undo_runs(monkeypatch):
    """Note what is executed or settled here though no human had it undone."""
    ran: list[str] = []

    def guarded(module, name, tool_of):
        real = getattr(module, name)

        def call(*args, **more):
            if tool_of(*args) != UNDO_TOOL:
                ran.append(name)
            return real(*args, **more)

        monkeypatch.setattr(module, name, call)

    def row_tool(writer, call_id, *_):
        return writer.journal.call(call_id).tool

    guarded(supervised_requests, "execute_call", row_tool)
    guarded(supervised_requests, "recover_call", row_tool)
    guarded(crash_recovery, "_settle_files", lambda writer, record: record.row.tool)
    guarded(executor, "_run_call", lambda writer, settings, record, *_: record.row.tool)
    return ran


@contextmanager
def lived(folder, steps):
    """Play steps on a stage of their own and give the life that was led."""
    clock, files = ManualClock(), {"a.txt": LINES, "b.txt": "b\n"}
    place = folder / f"life{len([*folder.iterdir()])}"
    with closing(Stage(place, recording(), files=files, clock=clock)) as stage:
        life = Life(stage, clock)
        asyncio.run(life.play(steps))
        yield life


@settings(
    max_examples=size("WORKBENCH_AGENT_LIVES", 25, 1_000), deadline=None, report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(steps=STEPS)
def test_each_execution_has_its_own_approval_and_no_answer_is_given_twice(tmp_path, only_undo_runs, steps):
    with lived(tmp_path, steps) as life:
        journal, session_id = life.stage.journal, life.stage.session_id
        rows = {row.id: row for row in journal.calls(session_id)}
        handed = [event.call_id for event in life.executing()]
        events = journal.events(session_id)
        approved = {event.call_id for event in events if isinstance(event.body, ActionApproved)}
    allowed = [what_was_asked(asked) for asked in life.asked for _ in asked.allows]
    assert max(Counter(handed).values(), default=0) <= 1 and set(handed) <= approved
    assert Counter(allowed) <= Counter(what_was_asked(rows[key]) for key in handed)
    assert len(life.agent.log) <= len(allowed) + life.unasked
    open_calls = Counter(what_was_asked(row) for row in rows.values() if row.state in ("pending", "approved"))
    assert only_undo_runs == []
    assert not life.is_here or {what_was_asked(asked) for asked in life.asked if asked.is_open} <= set(
        open_calls
    )


@settings(
    max_examples=size("WORKBENCH_AGENT_LIVES", 20, 1_000), deadline=None, report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(steps=STEPS)
def test_every_byte_on_the_disk_was_approved_or_is_shown_and_other_bytes_are_a_row(tmp_path, steps):
    """Of agents whose driver lives: what they said to a dead one is not known."""
    with lived(tmp_path, [step for step in steps if step[0] != "die"]) as life:
        stage = life.stage
        keyed, written = stage.journal.blobs.keyed, {body.after for body in stage.bodies(FileChanged)}
        approved = {plan.after for body in stage.bodies(CallExecuting) for plan in body.plan}
        shown = {path for body in stage.bodies(CallFinished) for path in body.files_affected}
        own = {keyed(text.encode()) for text in (LINES, "b\n", "human\n", "2\n")}
        is_interrupted = any(row.state == "interrupted" for row in stage.journal.calls(stage.session_id))
        rows = [action for action in stage.journal.actions(stage.session_id) if action.kind == "files"]
        asked = {(plan.path, plan.after) for action in rows for plan in action.files}
        for path in (path for path in stage.workspace.rglob("*") if path.is_file()):
            name, found = str(path.relative_to(stage.workspace)), keyed(path.read_bytes())
            assert found in own | written | approved or name in shown, name
            # Where calls have no ids, an unasked or late end cannot be told from that of an equal call.
            is_other = path.read_bytes() == OTHER_BYTES and not life.unasked and not is_interrupted
            assert not is_other or (name, found) in asked, name


def what_was_asked(call):
    """Return tool and input of a question or of a recorded call."""
    return call.tool, str(sorted((call.given if hasattr(call, "given") else call.parameters).items()))


@settings(
    max_examples=size("WORKBENCH_AGENT_LIVES", 25, 1_000), deadline=None, report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(scene=SCENES, events=st.lists(st.tuples(st.just("say"), bodies, NUMBERS), min_size=1, max_size=6))
def test_no_event_has_a_call_of_the_agent_executed_or_rolled_back_here(
    tmp_path, only_undo_runs, scene, events
):
    """Whatever is recorded in its session, by whom ever: the agent's own calls stay its own."""
    with lived(tmp_path, [*scene, *events, ("approve", 0)]):
        assert only_undo_runs == []


@settings(max_examples=size("WORKBENCH_AGENT_LIVES", 12, 200), deadline=None)
@given(waits=st.integers(2, 4_000), pauses=st.lists(st.integers(0, 900), max_size=5))
def test_a_question_ends_before_its_agent_stops_waiting_however_often_it_is_extended(
    tmp_path_factory, waits, pauses
):
    asked = ("ask", "Bash", {"command": "make"}, "", float(waits))
    steps = [asked, *(step for pause in pauses for step in (("wait", pause), ("extend", 0)))]
    late = ("wait", waits - min(60, waits / 10))
    with lived(tmp_path_factory.mktemp("life"), [*steps, late, ("approve", 0), ("run", 0)]) as life:
        begun = min(action.created_at for action in life.stage.journal.actions(life.stage.session_id))
        last = begun + round((waits - min(60, waits / 10)) * 1_000_000)
        assert all(action.expires_at <= last for action in life.stage.journal.actions(life.stage.session_id))
        assert life.stage.waiting() == [] and life.agent.log == []
    assert life.asked[0].is_denied
