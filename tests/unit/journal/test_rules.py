"""Rule numbers: the next one, made in the transaction, never used again."""

import threading

import pytest
from msgspec.structs import replace

from tests.unit.journal.scenes import MINUTE, USER, SettableClock, assert_sound
from workbench.domain.events import RuleAdded, RuleUsed
from workbench.journal.decisions import add_rule, place_rule, revoke_rule
from workbench.journal.errors import GuardFailed
from workbench.journal.journal import Journal

RULE = RuleAdded(
    rule="", effect="allow", origin="user", scope="always", tool="run_in_terminal", pattern_kind="glob",
    pattern="ls *", description="list",
)  # fmt: skip


def test_numbers_rise_also_over_revoked_rules_and_foreign_names(journal: Journal) -> None:
    foreign = journal.event(RuleAdded(**{**_fields(), "rule": "rule-77"}), "system", USER)
    journal.append([foreign], strict=False)
    assert [add_rule(journal, RULE, USER).id for _ in range(10)] == [f"R{n}" for n in range(1, 11)]
    revoked = revoke_rule(journal, "R10", USER)
    assert revoked.revoked_at is not None
    assert add_rule(journal, RULE, USER).id == "R11"
    journal.append([journal.event(RuleAdded(**{**_fields(), "rule": "R50"}), "system", USER)], strict=False)
    assert add_rule(journal, RULE, USER).id == "R51"
    assert_sound(journal)


def _fields() -> dict[str, object]:
    return {name: getattr(RULE, name) for name in RULE.__struct_fields__ if name not in ("KIND", "DURABLE")}


def test_threads_never_share_a_number(journal: Journal) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(add_rule(journal, RULE, USER).id)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(f"R{number}" for number in range(1, 9))


def test_a_rule_is_revoked_once(journal: Journal, clock: SettableClock) -> None:
    add_rule(journal, RULE, USER)
    first = revoke_rule(journal, "R1", USER)
    clock.advance(60)
    last = journal.last_position()
    assert revoke_rule(journal, "R1", USER) == first
    assert journal.last_position() == last
    with pytest.raises(GuardFailed, match="R2"):
        revoke_rule(journal, "R2", USER)


def test_a_rule_that_cannot_be_read_back_is_not_called_added(journal: Journal, monkeypatch) -> None:
    monkeypatch.setattr(type(journal), "rule", lambda reader, number: None)
    with pytest.raises(GuardFailed, match="R1 was not read"):
        add_rule(journal, RULE, USER)


def test_only_rules_in_force_are_active(journal: Journal, clock: SettableClock) -> None:
    from msgspec.structs import replace

    for rule in (RULE, RULE, replace(RULE, expires_at=clock.now() + MINUTE)):
        add_rule(journal, rule, USER)
    revoke_rule(journal, "R1", USER)
    assert [rule.id for rule in journal.rules()] == ["R2", "R3"]
    clock.advance(60)
    assert [rule.id for rule in journal.rules()] == ["R2"]
    assert [rule.id for rule in journal.rules(active=False)] == ["R1", "R2", "R3"]


def test_uses_are_counted(journal: Journal, clock: SettableClock) -> None:
    add_rule(journal, RULE, USER)
    for _ in range(3):
        journal.append([journal.event(RuleUsed(rule="R1"), "system", USER)])
    (rule,) = journal.rules()
    assert (rule.use_count, rule.last_used_at) == (3, clock.now())


def test_a_number_given_twice_is_refused(journal: Journal) -> None:
    add_rule(journal, RULE, USER)
    from msgspec.structs import replace

    with pytest.raises(GuardFailed, match="never used again"):
        journal.append([journal.event(replace(RULE, rule="R1"), "system", USER)])


def test_a_rule_that_allows_is_placed_and_no_other(journal: Journal) -> None:
    assert add_rule(journal, RULE, USER).place == "inside"
    assert place_rule(journal, "R1", "outside", USER).place == "outside"
    assert add_rule(journal, replace(RULE, effect="deny"), USER).place is None
    with pytest.raises(GuardFailed, match="R2 was not placed: its effect is deny"):
        place_rule(journal, "R2", "outside", USER)
    revoke_rule(journal, "R1", USER)
    with pytest.raises(GuardFailed, match="R1 was not placed: it is revoked"):
        place_rule(journal, "R1", "inside", USER)
    assert_sound(journal)
