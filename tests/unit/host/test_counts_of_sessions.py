"""Statistics of sessions that were driven: what was decided by whom, and that a fork adds nothing to it."""

from tests.support.stage import USER, call, exchange, recording, text
from workbench.cli.rules import backtest_calls
from workbench.domain.rows import Rule
from workbench.effects.clock import ManualClock
from workbench.host.fork import default_fork_plan, fork_session
from workbench.journal.decisions import extend_action
from workbench.journal.statistics_queries import StatisticsScope, statistics_facts
from workbench.views.statistics import session_statistics
from workbench.views.usage import sum_usage

SCRIPT = recording(
    exchange(call("c1", "read_file", path="a.txt"), call("c2", "create_file", path="n.txt", content="new")),
    exchange(text("Written.")),
    exchange(call("c3", "create_file", path="m.txt", content="more")),
    exchange(text("ok")),
)


def counts(stage, session_id=None):
    with stage.journal.snapshot() as database:
        found = statistics_facts(database, StatisticsScope(session_id=session_id))
    used = sum_usage(found.usage, lambda *_: None)
    return session_statistics(found.calls, found.answers, found.sessions, found.files, used)


def ended(stage, session_id=None):
    return {name: number for name, number in counts(stage, session_id).outcomes if number}


def driven(staged):
    clock = ManualClock()
    stage = staged(SCRIPT, files={"a.txt": "one"}, clock=clock).trust(read=True)
    stage.begin().drive()
    (action,) = stage.waiting()
    clock.advance(60)
    extend_action(stage.journal, action.id, USER)
    stage.approve(stage.waiting()[0])
    stage.drive()
    stage.say("more")
    stage.drive()
    clock.advance(60)
    return stage


def test_no_rule_is_counted_where_there_is_none(staged):
    stage = driven(staged)
    assert ended(stage) == {"approved": 1, "by grant": 1, "replaced": 1}


def test_a_fork_adds_no_call_no_token_and_nothing_decided(staged):
    stage = driven(staged)
    before = counts(stage)
    source = stage.session()
    forks = [fork_session(stage.journal, source, default_fork_plan(source), USER) for _ in range(3)]
    after = counts(stage)
    assert after.outcomes == before.outcomes
    assert [(one.tool, one.calls) for one in after.tools] == [(one.tool, one.calls) for one in before.tools]
    assert after.used == before.used and after.used.uncounted > 0
    assert counts(stage, forks[0]).tools == ()


def test_a_backtest_tries_calls_that_were_made_once(staged):
    stage = driven(staged)
    source = stage.session()
    for _ in range(3):
        fork_session(stage.journal, source, default_fork_plan(source), USER)
    rule = Rule(
        id="new", effect="allow", origin="user", scope="always", tool="read_file", pattern="Read",
        pattern_kind="glob", description="", created_at=0,
    )  # fmt: skip
    assert [call.provider_call_id for call, _ in backtest_calls(stage.journal, rule)] == ["c1"]
