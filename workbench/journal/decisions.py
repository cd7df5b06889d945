"""Decisions of people: actions answered, expired and extended, and rules added and revoked.

Each is one transaction that decides who was first. An answer counts if the action is pending, its window
open, and the digest that was shown is its digest; anything else is recorded as refused.
"""

# A rule that is put back gets another number. Numbers are never used again, so the record of what R3 let
# pass stays true.

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import (
    ActionApproved,
    ActionBecameStale,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    ActionSuperseded,
    AnswerRefused,
    ContinueRequested,
    Event,
    InterruptRequested,
    RuleAdded,
    RulePlaced,
    RuleRevoked,
    WorkspaceTrusted,
)
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Action, Rule
from workbench.domain.values import (
    DEFAULT_APPROVAL_MINUTES,
    MAX_EXTENSIONS,
    PLACED_RULES,
    SPEND_LIMIT,
    SYSTEM_SESSION,
    Actor,
    BlobRef,
    Body,
    Decision,
    Guards,
    Json,
    Place,
)
from workbench.effects import fault_points
from workbench.journal.errors import GuardFailed
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables
from workbench.text.human import MINUTE_MICROS

RefusalReason = Literal[
    "unknown", "decided", "expired", "superseded", "cancelled", "stale", "digest", "limit", "choice"
]
DEFAULT_WINDOW_MICROS: Final = DEFAULT_APPROVAL_MINUTES * MINUTE_MICROS
"""Microseconds."""
TRUSTING_CHOICES: Final = frozenset({"trust", "trust_and_read", "trust_and_sandbox"})


class DecisionResult(Struct, frozen=True, kw_only=True):
    """What became of an answer."""

    ok: bool
    why: RefusalReason | None = None
    by: str = ""
    """Who was first."""
    at: int | None = None
    """When that was, or when the window closed."""
    successor: str | None = None
    """The action that stands in for this one now."""
    paths: tuple[str, ...] = ()
    """What moved under a stale action."""
    event: Event | None = None
    """What was recorded: the decision, the refusal, or the action that an extension opened."""


def decision_of(action: Action) -> Decision:
    """Return the decision about an action that is no longer pending; what nobody answered is rejected."""
    if action.state != "approved":
        why = action.reason if action.state == "rejected" else "nobody answered in time"
        return Decision(action_id=action.id, verdict="reject", reason=why, choice=action.choice)
    return Decision(
        action_id=action.id, verdict="approve", reason=action.reason, selection=action.selection,
        edited=cast("dict[str, BlobRef] | None", action.edited), choice=action.choice, text=action.text,
        result_digest=action.result_digest, seen=action.seen,
    )  # fmt: skip


def decide_action(journal: Journal, decision: Decision, shown_digest: str, actor: Actor) -> DecisionResult:
    """Answer an action; of all processes that try, exactly one succeeds.

    `shown_digest`: the digest of what the human saw. `actor`: who answers; only a user can approve. Raises
    GuardFailed: something other than a user approves; JournalError: nothing was decided; says why.
    """
    if decision.verdict == "approve" and actor.kind != "user":
        why = f"a decision by {actor.kind} cannot approve"
        raise GuardFailed(f"action {decision.action_id} was not approved", why, "let a human answer")

    def answer(action: Action, live: TransactionTables, now: int) -> "RefusalReason | tuple[Body, ...]":
        if action.digest != shown_digest and action.state == "pending":
            return _closed_reason(action, live, now) or "digest"
        return _refusal_reason(action, decision, live, now) or _decision_bodies(action, decision, now)

    result = _decide_in_transaction(journal, decision.action_id, decision.verdict, actor, answer)
    fault_points.fault_point("decide.after_commit")
    return result


def extend_action(journal: Journal, action_id: str, actor: Actor) -> DecisionResult:
    """Give a pending action a new id and a new window of the same length, at most four times.

    Raises GuardFailed: something other than a user extends; JournalError: nothing was changed; says why.
    """
    if actor.kind != "user":
        why = f"{actor.kind} cannot extend"
        raise GuardFailed(f"action {action_id} was not extended", why, "let a human do it")
    successor = journal.clock.new_id()

    def answer(action: Action, live: TransactionTables, now: int) -> "RefusalReason | tuple[Body, ...]":
        if closed := _closed_reason(action, live, now):
            return closed
        opened = live.event_at(action.opened_at)
        if action.expires_at is None or action.extensions >= MAX_EXTENSIONS or opened is None:
            return "limit"
        if _is_at_end_of_wait(action, opened.body):
            return "limit"
        return _extension_bodies(action, opened.body, successor, now)

    return _decide_in_transaction(journal, action_id, "extend", actor, answer, successor)


def expire_due_actions(journal: Journal) -> list[str]:
    """Expire every pending action whose window has closed, and return their ids.

    Any process may call it at any time; it writes nothing when nothing is due.
    """
    if not journal.due(journal.now()):
        return []

    def work(live: TransactionTables, now: int) -> list[Event]:
        return [
            journal.event(
                ActionExpired(), action.session_id, Actor(kind="system"), call_id=action.call_id,
                action_id=action.id, turn_id=action.turn_id, at=now,
            )
            for action in live.due()
        ]  # fmt: skip

    return [event.action_id or "" for event in journal.transact(work)]


_Judgement = Callable[[Action, TransactionTables, int], "RefusalReason | tuple[Body, ...]"]


def _decide_in_transaction(
    journal: Journal,
    action_id: str,
    verdict: str,
    actor: Actor,
    answer: _Judgement,
    successor: str | None = None,
) -> DecisionResult:
    results: list[DecisionResult] = []

    def work(live: TransactionTables, now: int) -> list[Event]:
        results.clear()
        action = live.action(action_id)
        if action is None:
            results.append(DecisionResult(ok=False, why="unknown"))
            return []
        outcome = answer(action, live, now)
        if isinstance(outcome, str):
            results.append(_refusal_result(action, outcome, now))
            bodies: tuple[Body, ...] = (_refusal_body(results[0], verdict),)
        else:
            results.append(DecisionResult(ok=True, successor=successor))
            bodies = outcome
        fault_points.fault_point("decide.before_commit")
        return [_decision_event(journal, body, action, actor, now, successor) for body in bodies]

    events = journal.transact(work)
    opened = next((event for event in events if isinstance(event.body, ActionOpened)), None)
    return replace(results[0], event=opened or (events[0] if events else None))


def _decision_event(
    journal: Journal, body: Body, action: Action, actor: Actor, now: int, successor: str | None
) -> Event:
    if isinstance(body, WorkspaceTrusted | RulePlaced):
        return journal.event(body, action.session_id, actor, action_id=action.id, at=now)
    is_next = isinstance(body, ActionOpened | ActionBecameStale)
    return journal.event(
        body, action.session_id, actor, turn_id=action.turn_id, call_id=action.call_id,
        action_id=successor if is_next else action.id, at=now,
    )  # fmt: skip


_REASON_BY_STATE: Final[dict[str, RefusalReason]] = {
    "approved": "decided",
    "rejected": "decided",
    "expired": "expired",
    "superseded": "superseded",
    "cancelled": "cancelled",
}


def _closed_reason(action: Action, live: TransactionTables, now: int) -> RefusalReason | None:
    if action.state != "pending":
        return _REASON_BY_STATE[action.state]
    if action.expires_at is not None and now >= action.expires_at:
        return "expired"
    session, call = live.session(action.session_id), live.call(action.call_id or "")
    is_over = session is not None and session.status in TERMINAL_SESSION_STATES
    return "cancelled" if is_over or (call is not None and call.state != "pending") else None


def _refusal_reason(
    action: Action, decision: Decision, live: TransactionTables, now: int
) -> RefusalReason | None:
    if closed := _closed_reason(action, live, now):
        return closed
    if decision.verdict == "approve" and "stale" in action.warnings:
        return "stale"
    if action.kind == "files" and (decision.selection is not None or decision.edited):
        return "choice"
    is_offered = _is_offered(action, decision) and _is_place_offered(action, decision)
    return None if is_offered else "choice"


def _is_place_offered(action: Action, decision: Decision) -> bool:
    """Return whether a command may run where the decision says: elsewhere than shown only if it can."""
    return decision.place in (None, action.place) or (action.level is not None and action.place is not None)


def _is_offered(action: Action, decision: Decision) -> bool:
    choice, is_approval = decision.choice, decision.verdict == "approve"
    if not action.choices:
        # A gate without choices of its own offers the two verdicts, as do found files; all else offers none.
        return choice is None or (action.kind in ("gate", "files") and choice == decision.verdict)
    if choice is None:
        return not is_approval or (action.kind == "question" and bool(decision.text))
    if choice in TRUSTING_CHOICES and action.kind == "trust" and not is_approval:
        return False
    return choice in action.choices


def _decision_bodies(action: Action, decision: Decision, now: int) -> tuple[Body, ...]:
    reason = _scrubbed_words(decision.reason)
    is_limit = SPEND_LIMIT in action.subject
    if decision.verdict == "reject":
        rejected = ActionRejected(reason=reason, choice=decision.choice)
        return (rejected, InterruptRequested()) if is_limit else (rejected,)
    approved = ActionApproved(
        digest=action.digest, approved_until=now + _window_micros(action),
        result_digest=decision.result_digest or action.digest, selection=decision.selection,
        edited=None if decision.edited is None else dict(decision.edited), reason=reason,
        choice=decision.choice, text=_scrubbed_words(decision.text), seen=decision.seen,
        place=decision.place or action.place,
    )  # fmt: skip
    if action.kind == "trust" and decision.choice in TRUSTING_CHOICES:
        return approved, _trust_body(action, decision.choice)
    if PLACED_RULES in action.subject:
        return approved, *_placed_rules(action, decision.choice)
    return (approved, ContinueRequested()) if is_limit else (approved,)


_RULE_PLACES: Final[Mapping[str, Place | None]] = {
    "as_proposed": None, "all_inside": "inside", "all_outside": "outside",
}  # fmt: skip


def _placed_rules(action: Action, choice: str | None) -> tuple[RulePlaced, ...]:
    """Return where a human lets the commands of older rules run; None is where each was proposed."""
    if choice not in _RULE_PLACES:
        return ()
    rows = cast("list[Mapping[str, str]]", action.subject[PLACED_RULES])
    place = _RULE_PLACES[choice]
    return tuple(RulePlaced(rule=row["rule"], place=place or cast("Place", row["proposed"])) for row in rows)


def _scrubbed_words(words: str | None) -> str | None:
    """Return a human's words as they are kept: people paste secrets too."""
    if words is None:
        return None
    from workbench.secrets.scrubber import scrub

    return scrub(words).text


def _trust_body(action: Action, choice: str | None) -> WorkspaceTrusted:
    return WorkspaceTrusted(
        workspace=str(action.subject["workspace"]), content_hash=str(action.subject["content_hash"]),
        read_grant=choice in ("trust_and_read", "trust_and_sandbox"),
        sandbox_grant=choice == "trust_and_sandbox", guards=_recorded_guards(action.subject.get("guards")),
    )  # fmt: skip


def _recorded_guards(value: Json) -> Guards | None:
    """Return what the question said of guards; None where it was asked by an older version."""
    return cast("Guards", value) if value in get_args(Guards) else None


def _window_micros(action: Action) -> int:
    return DEFAULT_WINDOW_MICROS if action.expires_at is None else action.expires_at - action.created_at


def _extension_bodies(action: Action, opened: Body, successor: str, now: int) -> tuple[Body, ...]:
    assert isinstance(opened, ActionOpened)
    until = now + _window_micros(action)
    again = replace(
        opened, created_at=now, expires_at=min(until, opened.ends_at or until), supersedes=action.id,
        extensions=action.extensions + 1,
    )  # fmt: skip
    bodies = (ActionSuperseded(successor=successor, why="extended"), again)
    if action.stale_paths or "stale" in action.warnings:
        return (*bodies, ActionBecameStale(paths=action.stale_paths))
    return bodies


def _is_at_end_of_wait(action: Action, opened: Body) -> bool:
    """Return whether the agent stops waiting when the window closes, so that no more time can be given."""
    ends_at = opened.ends_at if isinstance(opened, ActionOpened) else None
    return ends_at is not None and action.expires_at is not None and action.expires_at >= ends_at


def _refusal_result(action: Action, why: RefusalReason, now: int) -> DecisionResult:
    closed_at = action.decided_at
    if closed_at is None and action.expires_at is not None and now >= action.expires_at:
        closed_at = action.expires_at
    paths = action.stale_paths if why == "stale" else ()
    return DecisionResult(
        ok=False, why=why, by=action.decided_by, at=closed_at, successor=action.successor, paths=paths
    )


def _refusal_body(result: DecisionResult, verdict: str) -> AnswerRefused:
    return AnswerRefused(
        verdict=verdict, why=result.why or "unknown", by=result.by, at=result.at,
        successor=result.successor, paths=result.paths,
    )  # fmt: skip


def add_rule(journal: Journal, rule: RuleAdded, actor: Actor) -> Rule:
    """Add a rule under the next number, whatever number it names.

    Raises JournalError: it was not added; says why.
    """

    def work(live: TransactionTables, now: int) -> Sequence[Event]:
        placed = replace(rule, rule=live.next_rule(), place=rule.place or _default_place(rule))
        return (journal.event(placed, SYSTEM_SESSION, actor, at=now),)

    (event,) = journal.transact(work)
    assert isinstance(event.body, RuleAdded)
    return _required_rule(journal, event.body.rule)


def _default_place(rule: RuleAdded) -> Place | None:
    """Return where commands of a new rule run whose maker did not say it: what it allows stays inside."""
    return "inside" if rule.effect == "allow" else None


def place_rule(journal: Journal, number: str, place: Place, actor: Actor) -> Rule:
    """Record where the commands run that a rule allows.

    Raises GuardFailed: there is no such rule, or it allows nothing.
    """
    rule = _required_rule(journal, number)
    if rule.effect != "allow" or rule.revoked_at is not None:
        why = "it is revoked" if rule.revoked_at is not None else f"its effect is {rule.effect}"
        raise GuardFailed(f"rule {number} was not placed", why, "look at workbench rules list")
    journal.append([journal.event(RulePlaced(rule=number, place=place), SYSTEM_SESSION, actor)])
    return _required_rule(journal, number)


def revoke_rule(journal: Journal, number: str, actor: Actor) -> Rule:
    """Take a rule back; one that was taken back before stays as it is.

    Raises GuardFailed: there is no such rule.
    """

    def work(live: TransactionTables, now: int) -> Sequence[Event]:
        rule = live.rule(number)
        if rule is not None and rule.revoked_at is not None:
            return ()
        return (journal.event(RuleRevoked(rule=number), SYSTEM_SESSION, actor, at=now),)

    journal.transact(work)
    return _required_rule(journal, number)


def _required_rule(journal: Journal, number: str) -> Rule:
    rule = journal.rule(number)
    if rule is None:
        raise GuardFailed(f"rule {number} was not read", "there is none", "look at workbench rules list")
    return rule
