"""Limits of tokens and cost: before a model is asked, or a program started, beyond one, a row asks a human.

`limits.tokens` and `limits.cost` hold for a session, the agents of a pipeline run, and all sessions of a day.
`runtime.cost.budget_ceiling` of a manifest holds for a run as well; the smaller limit is reached first.
A yes allows as much again; a no stops the turn. What was allowed is read from the answered rows, so that it
holds for every process and after a crash.
"""

# Where many sessions reach the limit of a day each asks. The rows name what was allowed when they asked, and
# what is allowed is the most that one of them was answered with: two answers to one limit do not add up.
#
# Costs are those that the service told, else computed from the prices; a model without a price counts none,
# which `workbench doctor` says. A reply under way is never cut: its tokens are counted once it is there.

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from workbench.changes.digest import action_digest
from workbench.config.types import Config
from workbench.domain.events import ActionCancelled, ActionOpened, Event, SessionStatusChanged, TurnEnded
from workbench.domain.rows import OWN_AGENT, Action, Session, UsageFact
from workbench.domain.step_messages import StepOutcome
from workbench.domain.values import SPEND_LIMIT, JsonObject
from workbench.host.driver_context import SessionWriter
from workbench.journal.database import Database
from workbench.journal.journal import Journal
from workbench.journal.usage_queries import UsageScope, session_family, usage_facts
from workbench.text.human import token_text

if TYPE_CHECKING:
    from workbench.config.model_prices import PriceList

LimitScope = Literal["session", "run", "day"]
LimitMeasure = Literal["tokens", "cost"]
_MICRODOLLARS: Final = 1_000_000
BUDGET_SETTING: Final = "runtime.cost.budget_ceiling"
"""The member of a manifest that limits the cost of its runs."""
_SCOPE_WORDS: Final[dict[LimitScope, str]] = {
    "session": "in this session", "run": "in this run", "day": "today in all sessions",
}  # fmt: skip


class SpendLimit(Struct, frozen=True, kw_only=True):
    """A limit, and what of it is used. Amounts are tokens, or millionths of a US dollar."""

    measure: LimitMeasure
    scope: LimitScope
    scope_id: str
    """The session, the run, or the date."""
    limit: int
    """The amount of the setting, and what a yes allows again."""
    allowed: int
    """The limit and what was allowed beyond it so far."""
    used: int
    setting: str
    """Its name: `limits.cost.run`, or `runtime.cost.budget_ceiling` of a manifest."""

    @property
    def is_reached(self) -> bool:
        """Return whether it is used up."""
        return self.used >= self.allowed

    def amounts(self) -> str:
        """Return `$5.02 of $5.00`."""
        used = token_text(self.used) if self.measure == "tokens" else amount_text("cost", self.used)
        return f"{used} of {amount_text(self.measure, self.allowed)}"

    def words(self) -> str:
        """Return `$5.02 of $5.00 used in this session`."""
        return f"{self.amounts()} used {_SCOPE_WORDS[self.scope]}"


def amount_text(measure: LimitMeasure, amount: int) -> str:
    """Return `12.3k tokens` or `$0.42`."""
    return f"{token_text(amount)} tokens" if measure == "tokens" else f"${amount / _MICRODOLLARS:,.2f}"


async def ask_beyond_limit(writer: SessionWriter, turn_id: str | None) -> bool:
    """Pause a session whose next model call would go beyond a limit, with a row that asks; say whether it is.

    Where nobody can answer, the turn ends instead. A row that asks about a limit which holds no more is
    withdrawn.
    """
    session = writer.session()
    reached, questions = await _reached_limit(writer, session)
    if reached is None:
        return False
    events: list[Event] = []
    if not writer.context.can_ask:
        events.append(writer.event(TurnEnded(outcome="limit", detail=reached.words()), turn_id=turn_id))
    elif not questions:
        events.append(writer.event(_question(writer, reached), turn_id=turn_id, action_id=writer.new_id()))
    if (session.status, session.reason) != ("paused", "limit reached"):
        events.append(writer.event(SessionStatusChanged(status="paused", reason="limit reached")))
    if events:
        await writer.append(*events)
    return True


async def held_back_step(writer: SessionWriter) -> StepOutcome | None:
    """Return why the program of a step is not started: a limit is reached, and a row asks or was refused.

    None where it may. What a program uses is known when it tells, so it is asked about only before it starts.
    """
    reached, questions = await _reached_limit(writer, writer.session())
    if reached is None:
        return None
    rejected = writer.journal.actions(writer.session_id, states=("rejected",))
    if not writer.context.can_ask or any(SPEND_LIMIT in action.subject for action in rejected):
        why = f"{reached.words()} ({reached.setting}), and no more was allowed"
        return StepOutcome(state="failed", reason=why, is_retryable=False)
    action_ids = tuple(action.id for action in questions) or (writer.new_id(),)
    question = _question(writer, reached)
    if not questions:
        await writer.append(writer.event(question, action_id=action_ids[0]))
    reason = f"asks: {question.verb} {question.target}"
    return StepOutcome(state="parked", reason=reason, action_ids=action_ids)


async def _reached_limit(writer: SessionWriter, session: Session) -> tuple[SpendLimit | None, list[Action]]:
    """Return the first limit that is reached, and the rows that ask; where none is, those are withdrawn."""
    pending = writer.journal.actions(session.id, states=("pending",))
    questions = [action for action in pending if SPEND_LIMIT in action.subject]
    config, constraints = writer.context.recall_settings().config, writer.context.constraints
    for limit in spend_limits(writer.journal, session, config, constraints.run_id, constraints.run_budget):
        if limit.is_reached:
            return limit, questions
    if questions:
        why = ActionCancelled(why="the limit is not reached any more")
        await writer.append(*(writer.event(why, action_id=action.id) for action in questions))
    return None, questions


def _question(writer: SessionWriter, reached: SpendLimit) -> ActionOpened:
    journal, more = writer.journal, amount_text(reached.measure, reached.limit)
    subject: JsonObject = {
        SPEND_LIMIT: reached.setting, "scope": reached.scope, "scope_id": reached.scope_id,
        "limit": reached.limit, "allowed": reached.allowed, "used": reached.used,
    }  # fmt: skip
    prompt = f"{reached.words()} ({reached.setting}). Approve to allow {more} more; reject to stop the turn."
    return ActionOpened(
        action_kind="gate", tool=None, target=f"{reached.words()}; allow {more} more?",
        digest=action_digest(
            journal.blobs.keyed, kind="gate", parameters={}, cwd=writer.context.workspace, prompt=prompt
        ),
        created_at=journal.now(), expires_at=None, verb="limit", cwd=writer.context.workspace, prompt=prompt,
        subject=subject,
    )  # fmt: skip


def spend_limits(
    journal: Journal, session: Session, config: Config, run_id: str = "", run_budget: float = 0.0
) -> Iterator[SpendLimit]:
    """Yield the limits that hold for a session, with the used amounts; the narrowest scope first.

    `run_id`: the run of which the session is a step. The limits of a run hold then in place of those of a
    session, for the run that it is a part of with all of its parts: a run below it gets no more.
    `run_budget`: US dollars that the manifest allows the run; 0 sets no limit.
    """
    limits = list(_set_limits(config, is_step=bool(run_id)))
    if run_id and run_budget:
        limits.insert(0, ("cost", "run", round(run_budget * _MICRODOLLARS), BUDGET_SETTING))
    if not limits:
        return
    top = _outermost_run(journal, run_id) if run_id else session.id
    from workbench.config.model_prices import PriceList

    prices = PriceList.of(config)
    with journal.snapshot() as database:
        for measure, scope, limit, setting in limits:
            facts, scope_id = _facts_of(database, journal.now(), top, scope)
            used = sum(fact.usage.total_tokens for fact in facts)
            if measure == "cost":
                used = _cost(facts, prices)
            allowed = _allowed(database, setting, scope_id, limit)
            yield SpendLimit(
                measure=measure, scope=scope, scope_id=scope_id, limit=limit, allowed=allowed, used=used,
                setting=setting,
            )  # fmt: skip


def _outermost_run(journal: Journal, run_id: str) -> str:
    """Return the topmost run above a run, also where an agent of that started this one; itself if none is."""
    top, above = run_id, journal.session(run_id)
    while above is not None and above.parent_id:
        above = journal.session(above.parent_id)
        if above is not None and above.kind == "pipeline":
            top = above.id
    return top


def spending_text(journal: Journal, session: Session, config: Config) -> str:
    """Return what a session cost, and its narrowest limit: `$0.42 of $5.00`; empty where neither is known."""
    limit = next(spend_limits(journal, session, config), None)
    if limit is not None:
        return f"{limit.amounts()}{_HEADER_WORDS[limit.scope]}"
    from workbench.config.model_prices import PriceList

    with journal.snapshot() as database:
        ids = session_family(database, session.id)
        facts = usage_facts(database, "model", UsageScope(session_ids=ids))
    cost = _cost(facts, PriceList.of(config))
    return amount_text("cost", cost) if cost else ""


_HEADER_WORDS: Final[dict[LimitScope, str]] = {"session": "", "run": "", "day": " today"}


def _set_limits(config: Config, *, is_step: bool) -> Iterator[tuple[LimitMeasure, LimitScope, int, str]]:
    """Yield the limits of the configuration, as tokens or millionths of a dollar, with their settings."""
    tokens, cost = config.limits.tokens, config.limits.cost
    scopes: tuple[LimitScope, ...] = ("run" if is_step else "session", "day")
    for scope in scopes:
        if limit := getattr(tokens, scope):
            yield "tokens", scope, limit, f"limits.tokens.{scope}"
        if dollars := getattr(cost, scope):
            yield "cost", scope, round(dollars * _MICRODOLLARS), f"limits.cost.{scope}"


def _facts_of(database: Database, now: int, top: str, scope: LimitScope) -> tuple[list[UsageFact], str]:
    if scope == "day":
        midnight = datetime.fromtimestamp(now / 1_000_000).replace(hour=0, minute=0, second=0, microsecond=0)
        since = int(midnight.timestamp() * 1_000_000)
        usage_scope = UsageScope(since=since, origin=OWN_AGENT)
        return usage_facts(database, "model", usage_scope), midnight.date().isoformat()
    usage_scope = UsageScope(session_ids=session_family(database, top))
    return usage_facts(database, "model", usage_scope), top


_ALLOWED: Final = (
    "SELECT max(json_extract(subject, '$.allowed')) FROM action WHERE kind = 'gate' AND state = 'approved'"  # noqa: S608 words of our own
    f" AND json_extract(subject, '$.{SPEND_LIMIT}') = ? AND json_extract(subject, '$.scope_id') = ?"
)


def _allowed(database: Database, setting: str, scope_id: str, limit: int) -> int:
    before = database.execute(_ALLOWED, (setting, scope_id)).get
    return limit if before is None else max(limit, before + limit)


def _cost(facts: Iterable[UsageFact], prices: "PriceList") -> int:
    return sum(prices.cost(fact.provider, fact.model, fact.usage, fact.context) or 0 for fact in facts)
