"""What the library asks the journal: rows without weight, counts beside them, what goes with a session."""

import pytest
from msgspec.structs import replace

from tests.support import golden
from workbench.domain.events import FileChanged, ReplyCompleted, SessionCreated, TurnEnded
from workbench.domain.rows import SessionCounts
from workbench.domain.values import SYSTEM_SESSION, Actor, Usage
from workbench.journal import session_queries
from workbench.journal.statistics_queries import StatisticsScope, statistics_facts


@pytest.fixture
def journal(tmp_path):
    made = golden.load("busy-queue", tmp_path / "home")
    yield made
    made.close()


def asked(journal, question, *about):
    with journal.snapshot() as database:
        return question(database, *about)


def test_rows_are_the_sessions_without_prompts_and_settings(journal):
    rows = asked(journal, session_queries.listed_sessions)
    whole = {one.id: one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.kind != "step"}
    assert {one.id for one in rows} == set(whole)
    assert [one.updated_at for one in rows] == sorted((one.updated_at for one in rows), reverse=True)
    for one in rows:
        same = (
            "kind",
            "status",
            "title",
            "workspace",
            "provider",
            "model",
            "usage",
            "tags",
            "archived",
            "origin",
        )
        assert all(getattr(one, name) == getattr(whole[one.id], name) for name in same)
        assert (one.system_prompt, one.configuration) == ("", {})


def test_some_rows_are_read_again_and_unknown_ones_are_not_there(journal):
    key = asked(journal, session_queries.listed_sessions)[0].id
    assert [one.id for one in asked(journal, session_queries.listed_sessions, [key, "gone"])] == [key]


def test_what_waits_is_what_the_actions_say(journal):
    found = asked(journal, session_queries.pending_action_counts)
    pending = [action.session_id for action in journal.actions(states=("pending",))]
    assert found == {key: pending.count(key) for key in pending}


def test_glances_agree_with_the_events(journal):
    for one in asked(journal, session_queries.listed_sessions):
        events = journal.events(one.id)
        changed = [event.body for event in events if isinstance(event.body, FileChanged)]
        states = [action.state for action in journal.actions(one.id)]
        expected = SessionCounts(
            rejected=states.count("rejected"), expired=states.count("expired"),
            failed=len(journal.calls(one.id, ("failed",))),
            turns=sum(isinstance(event.body, TurnEnded) for event in events), files=len(changed),
            added=sum(body.added for body in changed), removed=sum(body.removed for body in changed),
            approved=states.count("approved"),
        )  # fmt: skip
        assert asked(journal, session_queries.session_counts, [one.id]) == {one.id: expected}


def test_the_counted_events_are_found_by_their_index(journal):
    statement = session_queries._COUNT_STATEMENTS[-1].format("?")
    with journal.snapshot() as database:
        plan = database.execute(f"EXPLAIN QUERY PLAN {statement}", ("s",)).fetchall()
    assert "event_counted" in str(plan)


def test_the_weight_of_a_session_is_everything_that_goes(journal):
    key = asked(journal, session_queries.listed_sessions)[0].id
    found = asked(journal, session_queries.deletion_extent, key)
    assert (found.events, found.calls) == (len(journal.events(key)), len(journal.calls(key)))
    assert (found.actions, found.steps) == (len(journal.actions(key)), 0)


def test_turns_that_are_open_last_until_the_session_moved(journal):
    for one in asked(journal, session_queries.listed_sessions):
        spans = asked(journal, session_queries.activity_spans, one.id)
        assert all(begin <= end for begin, end in (*spans.turns, *spans.waits))


@pytest.mark.parametrize(
    ("tools", "answers"),
    [
        ({"replace_string": ()}, ()), ({"edit": ("replace_string_in_file",)}, ()), ({}, ("approved",)),
        ({"x": ()}, ("y",)),
    ],
)  # fmt: skip
def test_tools_and_answers_narrow_to_sessions_that_have_them(journal, tools, answers):
    found = asked(journal, session_queries.sessions_with_facets, tools, answers)
    expected = {
        one.id
        for one in asked(journal, session_queries.listed_sessions)
        if all(
            any(call.tool.startswith(name) or call.tool in more for call in journal.calls(one.id))
            for name, more in tools.items()
        )
        and all(any(act.state.startswith(name) for act in journal.actions(one.id)) for name in answers)
    }
    assert found == expected
    assert bool(found) == ("x" not in tools)


def test_tokens_of_a_session_of_several_days_have_the_time_of_their_replies(journal):
    day, agent = 86_400_000_000, Actor(kind="agent")
    begin = 20_000 * day + day // 2
    bodies = [
        (0, SessionCreated(title="long")),
        *((n * day + 1, ReplyCompleted(usage=Usage(input_tokens=10 + n))) for n in range(3)),
    ]
    for at, body in bodies:
        journal.append([replace(journal.event(body, "long", agent), at=begin + at)], strict=False)
    facts = asked(journal, statistics_facts, StatisticsScope(session_id="long")).usage
    assert [fact.usage.input_tokens for fact in facts] == [10, 11, 12]
    assert [fact.at // day for fact in facts] == [20_000, 20_001, 20_002]


def test_calls_of_a_tool_that_asked_are_found_newest_first_with_their_sessions(journal):
    sessions = {one.id: one for one in journal.sessions()}
    every = [call for key in sessions for call in journal.calls(key) if call.action_id]
    for tool in {call.tool for call in every}:
        wanted = sorted(
            (call for call in every if call.tool == tool), key=lambda call: (-call.requested_at, call.id)
        )
        found = asked(journal, session_queries.calls_that_asked, tool, 2)
        assert [call for call, _, _ in found] == wanted[:2]
        for call, workspace, title in found:
            assert (workspace, title) == (
                sessions[call.session_id].workspace,
                sessions[call.session_id].title,
            )
