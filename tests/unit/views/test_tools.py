import pytest

from tests.unit.views.making import NOW, SECOND, action, call, event
from workbench.domain import events
from workbench.domain.values import GateVerdict
from workbench.views import detail_pages, tools
from workbench.views.tools import TimeAxis, TimeSpan, ToolRow

START = NOW - 33 * SECOND
READ = call("c1", rule="R3", requested_at=START, started_at=START, finished_at=START + 12_000, duration_ms=12)
FAILED = call(
    "c2", tool="run_in_terminal", target="pytest -q", state="failed", exit_code=1, action_id="a2", requested_at=START + 19 * SECOND,
    started_at=START + 21 * SECOND, finished_at=START + 25_100_000, duration_ms=4100, turn_id="t2",
)  # fmt: skip
RUNNING = call(
    "c3", state="executing", requested_at=NOW - 6_900_000, started_at=NOW - 6_900_000, turn_id="t2"
)
WAITING = call("c4", state="pending", action_id="a4", requested_at=NOW - 10 * SECOND, turn_id="t2")
ACTIONS = {
    "a2": action("a2", state="approved", created_at=START + 19 * SECOND, decided_at=START + 21 * SECOND),
    "a4": action("a4", created_at=NOW - 10 * SECOND),
}
ALL = [READ, FAILED, RUNNING, WAITING]


def rows(**more):
    return tools.tool_rows(ALL, ACTIONS, NOW, **more)


def test_a_row_says_everything():
    row = rows()[1]
    assert row == ToolRow(
        call=FAILED, sign="failed", word="failed", run_ms=4100, wait_ms=2000, waited_from=START + 19 * SECOND,
        waited_to=START + 21 * SECOND,
    )  # fmt: skip
    assert (row.id, row.turn_id, row.tool, row.target) == ("c2", "t2", "run_in_terminal", "pytest -q")
    assert (row.by, row.right, row.is_failed) == ("you", "4.1 s", True)
    assert (row.requested, row.started) == (START + 19 * SECOND, START + 21 * SECOND)
    assert row.finished == START + 25_100_000


def test_words_at_the_right():
    assert [(row.id, row.by, row.right) for row in rows()] == [
        ("c1", "§ R3", "12 ms"), ("c2", "you", "4.1 s"), ("c3", "auto", "6 s"), ("c4", "asks", "10 s"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "by"),
    [
        (call(state="rejected"), "the gate"),
        (call(state="rejected", action_id="a"), "you"),
        (call(state="expired", action_id="a"), "nobody"),
        (call(state="pending"), ""),
        (call(state="cancelled"), ""),
    ],
)
def test_who_let_it_pass(row, by):
    assert tools.decided_by_text(row) == by


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"only_failed": True}, ["c2"]),
        ({"text_filter": "PYTEST run"}, ["c2"]),
        ({"text_filter": "running"}, ["c3"]),
        ({"turn_id": "t2"}, ["c2", "c3", "c4"]),
        ({}, ["c1", "c2", "c3", "c4"]),
    ],
)
def test_what_is_left_out(more, expected):
    assert [row.id for row in rows(**more)] == expected


def test_one_axis_for_all():
    axis = tools.time_axis(rows(), NOW)
    assert (axis, axis.seconds) == (TimeAxis(start=START, end=NOW), 33.0)
    ran, waited = tools.time_spans(rows(), axis, NOW)[1:4:2]
    assert ran == TimeSpan(waited=(19 / 33, 21 / 33), ran=(21 / 33, 25.1 / 33), sign="failed")
    assert waited == TimeSpan(waited=(23 / 33, 1.0), ran=None, sign="waiting")


def test_the_axis_ends_with_the_last_call_once_all_are_over():
    over = tools.tool_rows([READ, FAILED], ACTIONS, NOW + 99 * SECOND)
    assert tools.time_axis(over, NOW + 99 * SECOND).end == FAILED.finished_at
    assert tools.time_axis((), NOW) == TimeAxis()


def test_a_clock_that_was_set_back_draws_nothing_outside():
    odd = tools.tool_rows([call(requested_at=NOW, started_at=NOW - 9, finished_at=NOW - 5)], {}, NOW)
    axis = tools.time_axis(odd, NOW)
    assert axis.end >= axis.start
    assert tools.time_spans(odd, axis, NOW) == (TimeSpan(waited=None, ran=None, sign="ok"),)


def test_facts():
    facts = tools.tool_facts(rows(), NOW)
    assert (facts.total, facts.failed, facts.waiting, facts.running) == (4, 1, 1, 1)
    assert (facts.seconds, facts.run_seconds, facts.wait_seconds) == (33.0, 12 / 1000 + 4.1 + 6.9, 12.0)


def test_a_tab_counts_what_the_title_counts():
    denied = call("denied", state="rejected", action_id=None)
    calls = [row.call for row in rows()] + [denied]
    assert tools.failed_calls(calls) == tools.tool_facts(tools.tool_rows(calls, {}, NOW), NOW).failed >= 2


def test_waiting_at_the_same_time_is_counted_once():
    twice = tools.tool_rows(
        [WAITING, call("c5", state="pending", action_id="a4", requested_at=NOW - 10 * SECOND)], ACTIONS, NOW
    )
    assert tools.tool_facts(twice, NOW).wait_seconds == 10.0


EVENTS = [
    event(events.CallProposed(tool="run_in_terminal", verdict=GateVerdict(outcome="ask", step="ask", by="default")), call_id="c2"),
    event(events.HookRan(event="PreToolUse", command="check", matcher="*", exit_code=0, output="fine\n"), call_id="c2"),
    event(
        events.ActionOpened(action_kind="tool", tool="run_in_terminal", target="pytest", digest="d", created_at=START, expires_at=None),
        action_id="a2", at=START + 19 * SECOND,
    ),
    event(events.ActionApproved(digest="d", approved_until=NOW, result_digest="d"), action_id="a2", by="user", at=START + 20_900_000),
    event(events.CallExecuting(), call_id="c2", at=START + 21 * SECOND),
    event(events.OutputStreamed(offset=0, text="F..\n1 failed"), call_id="c2"),
    event(events.FileChanged(path="x", change="create", before=None, after="h", added=2), call_id="c2"),
    event(events.CallExecuting(), call_id="c9"),
]  # fmt: skip
END = event(
    events.CallFinished(state="failed", exit_code=1, preview="F..\n1 failed\n", output_bytes=13),
    call_id="c2",
    at=START + 25 * SECOND,
)


def detail(*events, **more):
    return detail_pages.call_detail(FAILED, ACTIONS["a2"], events, **more)


def section(found, name):
    return next(part.lines for part in found.sections if part.name == name)


def test_one_call_in_full():
    found = detail(*EVENTS, END)
    assert [part.name for part in found.sections] == ["Output", "Parameters", "Gate", "Changes", "Raw"]
    assert found.title == "run_in_terminal exit 1"
    assert section(found, "Output") == ("F..", "1 failed")
    assert section(found, "Gate") == (
        "it asks you: no rule or setting allows it",
        "PreToolUse check: exit 0",
        "  fine",
    )
    assert section(found, "Changes") == ("create x  +2 −0",)
    assert len(section(found, "Raw")) == 8
    assert found.moments == (
        (START + 19 * SECOND, "waiting", "asked"),
        (START + 20_900_000, "ok", "approved by you after 1.9 s"),
        (START + 21 * SECOND, None, "started"),
        (START + 25 * SECOND, "failed", "exit 1"),
    )
    assert found.told == "The agent was told: exit code 1, all of the output."


def test_a_call_that_runs_shows_what_came():
    found = detail(*EVENTS)
    assert (section(found, "Output"), found.told) == (("F..", "1 failed"), "")


def test_the_whole_output_where_it_was_read():
    assert section(detail(*EVENTS, END, output="a\nb\nc"), "Output") == ("a", "b", "c")


def test_a_cut_output_says_so():
    cut = event(events.CallFinished(state="succeeded", preview="a\nb", output_bytes=9000), call_id="c2")
    assert detail(cut).told == "The agent was told: succeeded, 2 lines with the middle left out."


def test_parameters_of_many_lines():
    found = detail_pages.call_detail(
        call(parameters={"path": "a", "content": "x\ny", "n": [1], "e": ""}), None, []
    )
    assert section(found, "Parameters") == ("path: a", "content:", "  x", "  y", "n: [1]", "e: ")
    assert [part.is_empty for part in found.sections] == [True, False, True, True, True]


def test_a_call_counts_seconds_while_its_change_is_computed():
    def right(seconds, **more):
        prepared = call(state="pending", action_id=None, requested_at=NOW - seconds * SECOND, **more)
        return tools.tool_rows((prepared,), {}, NOW)[0].right

    assert [right(seconds) for seconds in (0, 1, 20, 300)] == ["", "1 s", "20 s", "5:00"]
    assert right(301) == ""  # nobody computes it any more
