"""The table of token use: live, folded again, and counted once for a home of an older version."""

import contextlib

import pytest
from msgspec.structs import replace

from tests.unit.journal.scenes import USER, open_journal, start
from workbench.domain.events import ReplyCompleted, SessionChanged, SessionCreated
from workbench.domain.rows import TokenUse
from workbench.domain.values import Actor, Usage
from workbench.journal import database as journal_database
from workbench.journal import storage
from workbench.journal.index_tables import index_table_differences, rebuild_index_tables
from workbench.journal.maintenance import delete_session
from workbench.journal.usage_queries import (
    UsageScope,
    session_family,
    session_usage,
    top_sessions,
    usage_facts,
)

AGENT = Actor(kind="agent")
HOUR = 3_600_000_000
QUARTER = HOUR // 4
BEGIN = 500_000 * HOUR
TOLD = Usage(input_tokens=7, output_tokens=3, cost_microdollars=1_500)
CACHED = Usage(
    input_tokens=300_000, output_tokens=50, cache_read_tokens=200_000, cache_write_tokens=60_000,
    cache_write_1h_tokens=10_000,
)  # fmt: skip


def reply(journal, session_id, at, usage, model=""):
    event = journal.event(ReplyCompleted(usage=usage, model=model), session_id, AGENT)
    journal.append([replace(event, at=at)], strict=False)


def create(journal, session_id, at=BEGIN, **facts):
    event = journal.event(SessionCreated(**facts), session_id, USER)
    journal.append([replace(event, at=at)], strict=False)


@pytest.fixture
def filled(journal):
    """Sessions of two models and providers, a fork with copies, a child, one that tells no tokens."""
    create(journal, "s", provider="p", model="m", workspace="/w/shop")
    reply(journal, "s", BEGIN + 1, Usage(input_tokens=10, output_tokens=2))
    reply(journal, "s", BEGIN + QUARTER - 1, Usage(input_tokens=20, output_tokens=4))
    reply(journal, "s", BEGIN + QUARTER, CACHED, "other-model")
    reply(journal, "s", BEGIN + QUARTER + 5, TOLD)
    journal.append([journal.event(SessionChanged(provider="q", model="n"), "s", USER)], strict=False)
    reply(journal, "s", BEGIN + 30 * HOUR, Usage(input_tokens=1, output_tokens=1))
    create(journal, "fork", BEGIN + 40 * HOUR, provider="p", model="m", configuration={"forked_from": "s"})
    reply(journal, "fork", BEGIN + 1, Usage(input_tokens=10, output_tokens=2))
    reply(journal, "fork", BEGIN + 41 * HOUR, Usage(input_tokens=5, output_tokens=5))
    create(journal, "child", provider="p", model="m", parent_id="s", origin="claude-code", workspace="/w")
    reply(journal, "child", BEGIN + 2, Usage(input_tokens=100))
    create(journal, "grandchild", provider="p", model="m", parent_id="child", origin="claude-code")
    reply(journal, "grandchild", BEGIN + 3, Usage())
    return journal


def rows(journal):
    with journal.snapshot() as database:
        asked = f"{storage.select_statement(TokenUse)} ORDER BY key"
        return [storage.row_from_values(TokenUse, values) for values in database.execute(asked)]


def facts(journal, group="time", **scope):
    with journal.snapshot() as database:
        return usage_facts(database, group, UsageScope(**scope))


def test_replies_are_summed_by_quarter_model_provider_and_how_they_are_priced(filled):
    found = [row for row in rows(filled) if row.session_id == "s"]
    assert len(found) == 4
    first = next(row for row in found if row.at == BEGIN)
    assert (first.provider, first.model, first.replies, first.first_at, first.last_at) == (
        "p", "m", 2, BEGIN + 1, BEGIN + QUARTER - 1,
    )  # fmt: skip
    assert first.usage == Usage(input_tokens=30, output_tokens=6)
    long = next(row for row in found if row.context)
    assert (long.context, long.model, long.usage) == (272_000, "other-model", CACHED)
    assert next(row for row in found if row.is_told).usage == TOLD
    assert {(row.provider, row.model) for row in found if row.at > BEGIN + HOUR} == {("q", "n")}


def test_a_fork_counts_only_what_it_asked_itself(filled):
    assert [row.usage for row in rows(filled) if row.session_id == "fork"] == [
        Usage(input_tokens=5, output_tokens=5)
    ]


def test_tokens_of_a_supervised_agent_are_its_own_and_not_of_this_program(filled):
    create(filled, "theirs", BEGIN, session_kind="supervised", provider="codex", model="x")
    reply(filled, "theirs", BEGIN + 1, TOLD)
    by_agent = {fact.group: fact.usage for fact in facts(filled, "agent") if fact.usage == TOLD}
    assert by_agent["codex"] == TOLD
    assert {fact.group for fact in facts(filled, "agent")} == {row.agent for row in filled.sessions()}
    assert "theirs" not in {fact.group for fact in facts(filled, "session", origin="workbench")}


def test_the_table_is_what_the_events_say_and_can_be_made_anew(filled):
    before = rows(filled)
    assert index_table_differences(filled) == []
    filled.change(lambda live: live.database.execute("UPDATE token_use SET output_tokens = 9 WHERE replies"))
    assert any("token_use" in line for line in index_table_differences(filled))
    filled.change(lambda live: live.database.execute("DELETE FROM token_use"))
    rebuild_index_tables(filled)
    assert rows(filled) == before


def test_a_home_of_an_older_version_is_counted_once(filled):
    before, home = rows(filled), filled.home
    filled.close()
    with contextlib.closing(journal_database.connect(home.database)) as database:
        database.execute(
            "DROP TABLE token_use; DROP TABLE imported_file; DROP TABLE paid_request; DROP TABLE agent_hold;"
            "ALTER TABLE call DROP COLUMN cwd; ALTER TABLE call DROP COLUMN paths;"
            "ALTER TABLE session DROP COLUMN is_agent_gone; ALTER TABLE call DROP COLUMN grade;"
            "ALTER TABLE call DROP COLUMN asks_itself; ALTER TABLE call DROP COLUMN place;"
            "ALTER TABLE call DROP COLUMN refusals; ALTER TABLE action DROP COLUMN place;"
            "ALTER TABLE action DROP COLUMN level; ALTER TABLE rule DROP COLUMN place;"
            "ALTER TABLE trust DROP COLUMN sandbox_grant;"
            "PRAGMA user_version = 8"
        )
    told = []
    journal_database.prepare_database(home, on_progress=told.append)
    with open_journal(home.path) as journal:
        assert rows(journal) == before and before
        assert index_table_differences(journal) == []
    assert told[-1] == 1.0


def test_what_a_deleted_session_used_goes_with_it(filled):
    delete_session(filled, "s", USER)
    assert {row.session_id for row in rows(filled)} == {"fork", "child", "grandchild"}


def test_sums_are_narrowed_by_time_folder_agent_and_model(filled):
    total = sum(fact.usage.total_tokens for fact in facts(filled))
    assert total == 12 + 24 + 300_050 + 10 + 2 + 10 + 100
    late = facts(filled, since=BEGIN + 30 * HOUR, until=BEGIN + 31 * HOUR)
    assert [fact.usage.total_tokens for fact in late] == [2]
    assert {fact.group for fact in facts(filled, "agent")} == {"claude-code", "workbench"}
    assert sum(fact.usage.total_tokens for fact in facts(filled, origin="claude-code")) == 100
    assert [fact.model for fact in facts(filled, "model", model="OTHER")] == ["other-model"]
    assert sum(fact.usage.total_tokens for fact in facts(filled, "project", project="SHOP")) == 300_098
    assert sum(fact.usage.total_tokens for fact in facts(filled, workspace="/w")) == 100


def test_children_are_counted_with_who_started_them(filled):
    with filled.snapshot() as database:
        assert set(session_family(database, "s")) == {"s", "child", "grandchild"}
        assert top_sessions(database) == {"child": "s", "grandchild": "s"}
        whole, own = (
            sum(fact.usage.total_tokens for fact in session_usage(database, "s", with_children=deep))
            for deep in (True, False)
        )
    assert whole - own == 100


def test_a_circle_of_parents_ends(journal):
    create(journal, "a", parent_id="b")
    create(journal, "b", parent_id="a")
    with journal.snapshot() as database:
        assert set(session_family(database, "a")) == {"a", "b"}
        assert set(top_sessions(database)) == {"a", "b"}


def test_a_reply_of_a_live_session_is_counted_as_it_comes(journal):
    start(journal)
    journal.append([journal.event(ReplyCompleted(usage=Usage(input_tokens=3)), "s", AGENT)])
    assert sum(row.input_tokens for row in rows(journal)) == 3
