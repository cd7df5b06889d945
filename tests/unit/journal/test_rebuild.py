"""Rebuilt tables equal live ones, and every kind of difference is found and named."""

from collections.abc import Iterator

import pytest

from tests.unit.journal.scenes import (
    USER,
    ask,
    assert_sound,
    history,
    question,
    run_call,
    start,
)
from workbench.domain.events import PromptSubmitted, RuleAdded
from workbench.domain.values import Decision
from workbench.journal.decisions import add_rule, decide_action, extend_action, revoke_rule
from workbench.journal.index_tables import database_problems, index_table_differences, rebuild_index_tables
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock, release_lease, take_lease
from workbench.journal.maintenance import delete_session

DRIVER = DriverIdentity(host_id="h", pid=1)
RULE = RuleAdded(
    rule="", effect="allow", origin="user", scope="always", tool="*", pattern_kind="glob", pattern="*",
    description="all",
)  # fmt: skip


@pytest.fixture
def full(journal: Journal) -> Iterator[Journal]:
    """A journal with a row of every kind."""
    for events in history(journal):
        journal.append(events)
    start(journal, "b")
    start(journal, "gone")
    ask(journal, "b", "c2", "a2")
    decide_action(journal, Decision(action_id="a2", verdict="approve"), "d", USER)
    run_call(journal, "b", "c2")
    ask(journal, "b", "c3", "a3")
    extend_action(journal, "a3", USER)
    choices = {"action_kind": "trust", "subject": {"workspace": "/w", "content_hash": "h"}}
    from tests.unit.journal.scenes import TRUST_CHOICES

    question(journal, "t", choices=TRUST_CHOICES, expires_at=None, **choices)
    decide_action(journal, Decision(action_id="t", verdict="approve", choice="trust"), "d", USER)
    revoke_rule(journal, add_rule(journal, RULE, USER).id, USER)
    add_rule(journal, RULE, USER)
    with DriverLock(journal, DRIVER):
        release_lease(journal, take_lease(journal, "b", DRIVER))
        take_lease(journal, "s", DRIVER)
        delete_session(journal, "gone", USER)
        yield journal


def _dump(journal: Journal) -> dict[str, list[tuple[object, ...]]]:
    names = ("session", "call", "action", "rule", "trust", "lease", "blob_ref")
    with journal.snapshot() as database:
        return {
            name: sorted(database.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names
        }


def test_rebuilt_tables_equal_the_live_ones(full: Journal) -> None:
    before = _dump(full)
    assert all(before.values())
    assert index_table_differences(full) == []
    assert database_problems(full) == []
    rebuild_index_tables(full)
    assert _dump(full) == before
    assert_sound(full)
    assert [host.id for host in full.hosts()] == ["h"]


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        ("UPDATE session SET title = 'lie' WHERE id = 'b'", "session b: title is 'lie'"),
        ("DELETE FROM call WHERE id = 'c2'", "call c2: only in events"),
        ("UPDATE action SET state = 'pending' WHERE id = 'a2'", "action a2: state is 'pending'"),
        ("UPDATE rule SET revoked_at = NULL", "rule R1: revoked_at"),
        ("DELETE FROM trust", "trust /w: only in events"),
        ("UPDATE lease SET epoch = 9", "lease b: epoch is 9"),
        ("DELETE FROM blob_ref", "blob_ref sealed:"),
        ("INSERT INTO blob_ref VALUES ('sealed:x', 's')", "blob_ref sealed:x of session s: only in table"),
        ("INSERT INTO session (id, kind, status, created_at, updated_at, usage, configuration, active_tools,"
         " tags) VALUES ('ghost', 'chat', 'ready', 1, 1, '{}', '{}', '[]', '[]')", "session ghost: only in"),
        ("DELETE FROM event WHERE position = 3", "has number 4 where 3 follows"),
    ],
)  # fmt: skip
def test_a_difference_is_named_and_a_rebuild_mends_it(full: Journal, damage: str, named: str) -> None:
    full.change(lambda live: live.database.execute(damage))
    found = index_table_differences(full)
    assert any(named in line for line in found), found
    rebuild_index_tables(full)
    assert index_table_differences(full) == [line for line in found if "where 3 follows" in line]


def test_an_empty_journal_is_sound(journal: Journal) -> None:
    assert (index_table_differences(journal), database_problems(journal)) == ([], [])
    rebuild_index_tables(journal)
    assert journal.append([]) == []
    start(journal)
    journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
    assert_sound(journal)
