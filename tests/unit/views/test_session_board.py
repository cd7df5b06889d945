"""The board of sessions: the cells of its axis, what a session does, and the order."""

from itertools import pairwise
from random import Random

from tests.unit.views.test_library_rows import session
from workbench.domain.events import (
    ActionApproved,
    ActionOpened,
    ActionSuperseded,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    PromptSubmitted,
    ReplyCompleted,
)
from workbench.domain.rows import Action, PipelineState, SessionCounts
from workbench.domain.values import Actor, GateVerdict
from workbench.views.session_board import (
    HOUR,
    BoardAxis,
    activity,
    axis_cells,
    board_axis,
    board_order,
    board_row,
    run_progress,
)
from workbench.views.sessions import SessionRow

MINUTE = 60_000_000
NOW = 10 * HOUR
USER, AGENT = Actor(kind="user"), Actor(kind="agent")
VERDICT = GateVerdict(outcome="ask", step="grants", by="default")


def event(minutes_ago, body, position=0, **about):
    return Event(
        id=f"e{minutes_ago}-{body.KIND}", session_id="s", sequence_number=max(1, 100 - minutes_ago),
        position=1_000 - minutes_ago + position, at=NOW - minutes_ago * MINUTE, actor=USER, body=body, **about,
    )  # fmt: skip


def opened(minutes_ago, key, minutes_left=10):
    body = ActionOpened(
        action_kind="tool", tool="run", target="true", digest="d", created_at=NOW - minutes_ago * MINUTE,
        expires_at=NOW + minutes_left * MINUTE,
    )  # fmt: skip
    return event(minutes_ago, body, action_id=key)


def approved(minutes_ago, key):
    return event(
        minutes_ago, ActionApproved(digest="d", result_digest="d", approved_until=NOW), action_id=key
    )


def drawn(events, width=12):
    signs = {"rests": "-", "ran": "=", "waited": "~", "prompt": ">", "waiting": "?", "ok": "v", "failed": "x"}
    cells = axis_cells(activity(events), BoardAxis(begin=NOW - HOUR, end=NOW), NOW, width)
    return "".join(str(cell.count) if cell.count > 1 else signs[cell.sign] for cell in cells)


def test_several_marks_on_a_cell_are_their_count_unless_one_of_them_waits_or_failed():
    prompts = [event(3, PromptSubmitted(text="go")), event(2, PromptSubmitted(text="go"))]
    assert drawn(prompts) == "-----------2"
    assert drawn([*prompts, opened(1, "a1")]) == "-----------?"


def test_before_a_session_began_its_cells_are_blank():
    axis = BoardAxis(begin=NOW - HOUR, end=NOW)
    cells = axis_cells(activity([]), axis, NOW, 12, NOW - 30 * MINUTE)
    assert [cell is None for cell in cells] == [True] * 6 + [False] * 6


def test_the_axis_reaches_from_the_first_session_that_moved_lately_until_now_in_round_lengths():
    def axis(*minutes):
        return board_axis(
            [
                session(created_at=NOW - begun * MINUTE, updated_at=NOW - ended * MINUTE)
                for begun, ended in minutes
            ],
            NOW,
        )

    assert axis((1, 0)).length == 2 * MINUTE
    assert axis((1, 0), (4, 3)).length == 5 * MINUTE
    assert axis((1, 0), (4_000, 300)).length == 2 * MINUTE, "quiet for hours"
    assert axis((55, 0)).length == 60 * MINUTE
    assert axis((150, 0)).length == 240 * MINUTE
    assert axis().length == 60 * MINUTE
    random = Random(6)
    for _ in range(300):
        begun, now = random.randint(0, 480 * 39 // 40), NOW + random.randint(0, HOUR)
        found = board_axis([session(created_at=now - begun * MINUTE, updated_at=now)], now)
        assert found.begin <= now - begun * MINUTE <= now <= found.end
        assert now - found.begin > found.length * 38 // 40, "it ends now, within a step"
        ticks = found.ticks(46, 5)
        assert all(found.cell_of(two, 46) - found.cell_of(one, 46) > 5 for one, two in pairwise(ticks))


def test_an_hour_has_marks_where_things_happened_and_lines_where_something_ran_or_waits():
    events = [
        event(59, PromptSubmitted(text="go")),
        opened(50, "a1"),
        approved(40, "a1"),
        event(38, CallProposed(tool="run_in_terminal", verdict=VERDICT, target="pytest"), call_id="c1"),
        event(37, CallExecuting(), call_id="c1"),
        event(17, CallFinished(state="failed", preview="", output_bytes=0, duration_ms=1), call_id="c1"),
        opened(12, "a2"),
    ]
    assert drawn(events) == ">-~~v===x?~~"


def test_a_question_has_its_mark_only_as_long_as_it_waits():
    assert drawn([opened(20, "a1")]) == "--------?~~~"
    assert "?" not in drawn([opened(20, "a1"), approved(2, "a1")])


def test_a_question_that_another_one_replaced_waits_no_more():
    extended = event(10, ActionSuperseded(successor="a2", why="extended"), action_id="a1")
    assert drawn([opened(20, "a1"), extended]) == "--------~~--"
    assert drawn([opened(20, "a1"), extended, opened(10, "a2"), approved(5, "a2")]).count("?") == 0


def test_what_happened_before_the_hour_is_not_on_it():
    assert drawn([event(61, PromptSubmitted(text="go"))]) == "-" * 12
    assert drawn([]) == "-" * 12


def test_the_last_paragraph_of_the_last_reply_is_what_it_said():
    reply = ReplyCompleted(text="First.\n\nThe order\nstays.\n\n")
    assert activity([event(3, reply), event(2, ReplyCompleted(text=""))]).said == "The order stays."


def listed(key, sign="ok", waiting=0, when=NOW):
    return SessionRow(id=key, sign=sign, word="ready", title=key, waiting=waiting, when=when)


def asked(key, minutes_left):
    expires = None if minutes_left is None else NOW + minutes_left * MINUTE
    return Action(
        id=key, session_id="s", kind="tool", state="pending", target="src/a.py", verb="edit", digest="d",
        created_at=0, opened_at=1, expires_at=expires,
    )  # fmt: skip


def test_a_row_says_what_waits_first_and_how_long_it_has():
    waiting = [asked("late", None), asked("soon", 4), asked("later", 9)]
    made = board_row(listed("s", "waiting", 3), session(), activity([]), SessionCounts(turns=2), waiting, NOW)
    assert (made.does, made.what, made.left, made.urgency) == ("waits", "edit src/a.py", 240.0, "soon")


def test_a_row_of_a_session_at_work_says_what_runs_and_since_when():
    events = [
        event(3, PromptSubmitted(text="go")),
        event(2, CallProposed(tool="run_in_terminal", verdict=VERDICT, target="pytest -q"), call_id="c1"),
        event(1, CallExecuting(), call_id="c1"),
    ]
    works = session(status="processing")
    row, counts = listed("s", "running"), SessionCounts()
    made = board_row(row, works, activity(events), counts, (), NOW)
    assert (made.does, made.what, made.elapsed) == ("runs", "run_in_terminal pytest -q", 60.0)
    made = board_row(row, works, activity(events[:1]), counts, (), NOW)
    assert (made.does, made.what, made.elapsed) == ("works", "", 180.0)


def test_what_needs_you_first_is_what_expires_first_then_what_runs_then_what_failed():
    rows = [
        listed("done"), listed("failed", "failed"), listed("runs", "running"), listed("w2", "waiting", 1),
        listed("w1", "waiting", 1),
    ]  # fmt: skip
    waits = {"w1": [asked("a1", 2)], "w2": [asked("a2", 5)]}
    assert [row.id for row in board_order(rows, waits, "needs")] == ["w1", "w2", "runs", "failed", "done"]
    assert [row.id for row in board_order(rows, waits, "name")] == ["done", "failed", "runs", "w1", "w2"]


def run_row(key, status="completed", seconds=100):
    return PipelineState(
        pipeline_id=key, pipeline_name="nightly", status=status, created_at=0, updated_at=0,
        duration_ms=seconds * 1000,
    )  # fmt: skip


class Run:
    id, name, status, done, total, tokens, seconds, place = "r3", "nightly", "running", 6, 17, 5, 30.0, ""


def test_the_time_to_go_of_a_run_is_that_of_the_run_before_and_absent_without_one():
    rows = [run_row("r3", "running", 30), run_row("r2"), run_row("r1", seconds=900)]
    assert run_progress(Run, rows).to_go == 70.0
    assert run_progress(Run, rows[:1]).to_go is None
    assert run_progress(Run, [run_row("r2", seconds=20)]).to_go is None
