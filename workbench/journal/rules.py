"""Rules and grants as they are numbered: R1, R2 and so on, one number once in the life of a journal.

Owns the number and nothing else; what a rule matches is the gate's business.
"""

from collections.abc import Sequence

from workbench.domain.events import Event, RuleAdded, RuleRevoked
from workbench.domain.rows import Rule
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.journal.errors import GuardFailed
from workbench.journal.journal import Journal
from workbench.journal.live import LiveTables
from workbench.records import replace


def add_rule(journal: Journal, rule: RuleAdded, actor: Actor) -> Rule:
    """Add a rule under the next number, whatever number it names.

    Raises:
        JournalError: It was not added; says why.
    """

    def work(live: LiveTables, now: int) -> Sequence[Event]:
        return (journal.event(replace(rule, rule=live.next_rule()), SYSTEM_SESSION, actor, at=now),)

    (event,) = journal.transact(work)
    assert isinstance(event.body, RuleAdded)
    return _required(journal, event.body.rule)


def revoke_rule(journal: Journal, number: str, actor: Actor) -> Rule:
    """Take a rule back; one that was taken back before stays as it is.

    Raises:
        GuardFailed: There is no such rule.
    """

    def work(live: LiveTables, now: int) -> Sequence[Event]:
        rule = live.rule(number)
        if rule is not None and rule.revoked_at is not None:
            return ()
        return (journal.event(RuleRevoked(rule=number), SYSTEM_SESSION, actor, at=now),)

    journal.transact(work)
    return _required(journal, number)


def _required(journal: Journal, number: str) -> Rule:
    rule = journal.reader.rule(number)
    if rule is None:
        raise GuardFailed(f"rule {number} was not read", "there is none", "look at workbench rules list")
    return rule
