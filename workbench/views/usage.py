"""Tokens and cost: sums, rows by time, model, project, agent, session and pipeline, and five-hour blocks.

A cost that a file or a service told counts as it was told; of all other replies it is computed. What has no
known price adds nothing to a sum and is said beside it, so that no sum looks whole that is not.
"""

# Blocks follow the rule of ccusage (https://ccusage.com/guide/blocks-reports): one begins with the hour (UTC)
# of its first reply and lasts five hours; a reply after that, or more than five hours after the one before,
# begins another. Sums of quarters of an hour are enough for that: both borders are borders of hours.

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.rows import OWN_AGENT, UsageFact, UsageGroup
from workbench.domain.values import Usage
from workbench.text.human import HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS, duration_text, token_text
from workbench.text.safe import one_line

UsageBy = Literal["day", "week", "month", "model", "project", "agent", "session", "block", "pipeline"]
USAGE_ROWS: Final[tuple[UsageBy, ...]] = (
    "day", "week", "month", "model", "project", "agent", "session", "block", "pipeline",
)  # fmt: skip
"""What the rows of a table of usage may be."""
IN_TIME: Final[frozenset[UsageBy]] = frozenset({"day", "week", "month", "block"})
BLOCK_MICROS: Final = 5 * HOUR_MICROS
_MOST_NAMED: Final = 3
UsagePrice = Callable[[str, str, Usage, int], int | None]
"""Return what tokens of a provider and model cost in millionths of a dollar; the last is the context."""


class UsageSum(Struct, frozen=True, kw_only=True):
    """Tokens of some replies, and what is known of their cost, in millionths of a dollar."""

    usage: Usage = Usage()
    replies: int = 0
    """Those of which tokens are known."""
    uncounted: int = 0
    """Replies of models of which no reply tells its tokens; only said of the sum of everything."""
    told: int = 0
    """What the file or the service said."""
    computed: int = 0
    """What the prices make of the tokens whose cost nobody told."""
    unpriced_tokens: int = 0
    """Tokens whose cost is not known: nobody told it, and their model has no price."""
    unpriced_models: tuple[str, ...] = ()

    @property
    def cost(self) -> int | None:
        """Return the cost as far as it is known; None where nothing of it is."""
        if self.unpriced_tokens and not self.told and not self.computed:
            return None
        return self.told + self.computed if self.usage.total_tokens or self.told else None

    @property
    def is_whole(self) -> bool:
        """Return whether the cost of every counted token is known."""
        return not self.unpriced_tokens

    @property
    def cache_share(self) -> float | None:
        """Return the share of the input that a cache gave; None without input."""
        sent = self.usage.input_tokens
        return min(1.0, self.usage.cache_read_tokens / sent) if sent else None

    def plus(self, other: "UsageSum") -> "UsageSum":
        """Return both together."""
        return UsageSum(
            usage=self.usage.plus(other.usage), replies=self.replies + other.replies,
            uncounted=self.uncounted + other.uncounted, told=self.told + other.told,
            computed=self.computed + other.computed,
            unpriced_tokens=self.unpriced_tokens + other.unpriced_tokens,
            unpriced_models=tuple(dict.fromkeys((*self.unpriced_models, *other.unpriced_models))),
        )  # fmt: skip


NOTHING_USED: Final = UsageSum()


def price_fact(fact: UsageFact, price: UsagePrice) -> UsageSum:
    """Return the sum that a fact is, priced."""
    plain = UsageSum(usage=fact.usage, replies=fact.replies - fact.uncounted)
    if fact.usage.cost_microdollars:
        return replace(plain, told=fact.usage.cost_microdollars)
    if not fact.usage.total_tokens:
        return plain
    cost = price(fact.provider, fact.model, fact.usage, fact.context)
    if cost is None:
        model = one_line(fact.model, 60) or "a model without a name"
        return replace(plain, unpriced_tokens=fact.usage.total_tokens, unpriced_models=(model,))
    return replace(plain, computed=cost)


def sum_usage(facts: Iterable[UsageFact], price: UsagePrice) -> UsageSum:
    """Return the sum of all facts."""
    listed = list(facts)
    total = UsageSum(uncounted=_uncounted(listed))
    for fact in listed:
        total = total.plus(price_fact(fact, price))
    return total


def _uncounted(facts: Iterable[UsageFact]) -> int:
    """Return the replies of models that tell no tokens at all: of others some lines are parts of a reply."""
    replies: Counter[tuple[str, str]] = Counter()
    tokens: Counter[tuple[str, str]] = Counter()
    for fact in facts:
        replies[fact.provider, fact.model] += fact.replies
        tokens[fact.provider, fact.model] += fact.usage.total_tokens
    return sum(count for key, count in replies.items() if not tokens[key])


class UsageRow(Struct, frozen=True, kw_only=True):
    """A row of a table of usage."""

    key: str
    """What it is a row of: a date, a model, a folder, an agent, the id of a session, a pipeline's name."""
    sum: UsageSum


class UsageBlock(Struct, frozen=True, kw_only=True):
    """Five hours that begin with the hour of a first reply."""

    start: int
    first_at: int
    last_at: int
    sum: UsageSum

    @property
    def end(self) -> int:
        """Return when it is over, in microseconds."""
        return self.start + BLOCK_MICROS

    def is_active(self, now: int) -> bool:
        """Return whether it is not over, and the last reply less than five hours ago."""
        return now < self.end and now - self.last_at < BLOCK_MICROS

    def tokens_per_minute(self) -> float | None:
        """Return how fast tokens were used between its first and last reply; None of a single moment."""
        minutes = (self.last_at - self.first_at) / MINUTE_MICROS
        return self.sum.usage.total_tokens / minutes if minutes > 0 else None

    def cost_per_hour(self) -> float | None:
        """Return millionths of a dollar an hour between its first and last reply; None where not known."""
        hours = (self.last_at - self.first_at) / HOUR_MICROS
        return self.sum.cost / hours if self.sum.cost is not None and hours > 0 else None

    def projected_cost(self, now: int) -> float | None:
        """Return the cost at its end if it goes on as it went; None where not known."""
        rate, cost = self.cost_per_hour(), self.sum.cost
        return None if rate is None or cost is None else cost + rate * max(0, self.end - now) / HOUR_MICROS


class UsageTable(Struct, frozen=True, kw_only=True):
    """Rows of usage with their sum."""

    by: UsageBy
    rows: tuple[UsageRow, ...] = ()
    total: UsageSum = UsageSum()
    blocks: tuple[UsageBlock, ...] = ()
    """The newest first; only of a table by block."""


def group_of(by: UsageBy) -> UsageGroup:
    """Return what the journal has to tell apart for a table."""
    match by:
        case "model" | "project" | "agent" | "session":
            return by
        case "pipeline":
            return "session"
        case "block":
            return "time"
        case "day" | "week" | "month":
            return "day"


def usage_table(
    by: UsageBy, facts: Sequence[UsageFact], price: UsagePrice, *,
    tops: Mapping[str, str] | None = None,
) -> UsageTable:  # fmt: skip
    """Return the rows of a table and their sum; dates are local, weeks begin on Monday.

    `tops`: for a table by session or by pipeline, whose row a session is counted in; by pipeline, only those
    that are named there are counted.
    """
    if by == "pipeline":
        facts = [fact for fact in facts if fact.group in (tops or {})]
    if by == "block":
        counted = [fact for fact in facts if fact.usage.total_tokens]
        blocks = tuple(reversed(usage_blocks(counted, price)))
        return UsageTable(by=by, total=sum_usage(facts, price), blocks=blocks)
    sums: dict[str, UsageSum] = {}
    for fact in facts:
        key = _row_key(by, fact)
        key = (tops or {}).get(key, key)
        sums[key] = sums.get(key, UsageSum()).plus(price_fact(fact, price))
    rows = [
        UsageRow(key=key, sum=counted)
        for key, counted in sums.items()
        if counted.usage.total_tokens or by not in IN_TIME
    ]
    rows.sort(key=lambda row: row.key if by in IN_TIME else _weight(row), reverse=True)
    return UsageTable(by=by, rows=tuple(rows), total=sum_usage(facts, price))


def _weight(row: UsageRow) -> tuple[int, int, int, str]:
    return row.sum.cost or 0, row.sum.usage.total_tokens, row.sum.replies, row.key


def _row_key(by: UsageBy, fact: UsageFact) -> str:
    if by not in IN_TIME:
        return fact.group
    day = _local_day(fact.at)
    if by == "month":
        return day.strftime("%Y-%m")
    return (day - timedelta(days=day.weekday()) if by == "week" else day).isoformat()


def _local_day(micros: int) -> date:
    return datetime.fromtimestamp(micros / SECOND_MICROS).date()


class _OpenBlock(Struct):
    start: int
    first_at: int
    last_at: int
    sum: UsageSum = field(default_factory=UsageSum)

    def closed(self) -> UsageBlock:
        return UsageBlock(start=self.start, first_at=self.first_at, last_at=self.last_at, sum=self.sum)


def usage_blocks(facts: Iterable[UsageFact], price: UsagePrice) -> list[UsageBlock]:
    """Return the five-hour blocks of facts that are told apart by time, the oldest first."""
    blocks: list[UsageBlock] = []
    block: _OpenBlock | None = None
    for fact in sorted(facts, key=lambda fact: (fact.at, fact.first_at)):
        if (
            block is not None
            and max(fact.first_at - block.start, fact.first_at - block.last_at) > BLOCK_MICROS
        ):
            blocks.append(block.closed())
            block = None
        if block is None:
            start = fact.first_at // HOUR_MICROS * HOUR_MICROS
            block = _OpenBlock(start=start, first_at=fact.first_at, last_at=fact.last_at)
        block.first_at = min(block.first_at, fact.first_at)
        block.last_at = max(block.last_at, fact.last_at)
        block.sum = block.sum.plus(price_fact(fact, price))
    return [*blocks, block.closed()] if block is not None else blocks


# --- words ------------------------------------------------------------------------------------------


def money_text(microdollars: float) -> str:
    """Return `$12.34`; four digits behind the point where two would show nothing of it."""
    dollars = microdollars / 1_000_000
    if 0 < dollars < 0.005:
        return f"${dollars:.4f}" if dollars >= 0.00005 else "<$0.0001"
    return f"${dollars:,.2f}"


def row_name(by: UsageBy, key: str) -> str:
    """Return what a row is called: `2026-11-21 Sat`, `week of 2026-11-16`, a model, a folder."""
    if by == "day":
        return f"{key} {date.fromisoformat(key):%a}"
    return f"week of {key}" if by == "week" else key or "(none)"


def row_query(by: UsageBy, key: str) -> str:
    """Return what narrows the library to the sessions of a row; empty where nothing does."""
    match by:
        case "day":
            return f"since:{key} until:{key}"
        case "week":
            return f"since:{key} until:{date.fromisoformat(key) + timedelta(days=6)}"
        case "month":
            first = date.fromisoformat(f"{key}-01")
            last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
            return f"since:{first} until:{last}"
        case "model" | "project" | "agent":
            if not key or (by == "agent" and key == OWN_AGENT) or '"' in key:
                return ""
            return f'{_QUERY_KEYS[by]}:"{key}"'
        case "session" | "block" | "pipeline":
            return ""


_QUERY_KEYS: Final = {"model": "model", "project": "in", "agent": "origin"}


def block_name(block: UsageBlock, now: int) -> str:
    """Return `2026-11-21 14:00–19:00`, with what is said of one that is not over."""
    first, end = (datetime.fromtimestamp(moment / SECOND_MICROS) for moment in (block.start, block.end))
    mark = " now" if block.is_active(now) else ""
    return f"{first:%Y-%m-%d %H:%M}–{end:%H:%M}{mark}"


def active_block_text(blocks: Sequence[UsageBlock], now: int) -> str:
    """Return how fast the block that is not over is used, and how long it goes on; empty without one."""
    block = next((block for block in blocks if block.is_active(now)), None)
    if block is None:
        return ""
    parts = [f"{duration_text((block.end - now) / SECOND_MICROS)} to go"]
    if (rate := block.tokens_per_minute()) is not None:
        parts.append(f"{token_text(round(rate))} tokens a minute")
    if (rate := block.cost_per_hour()) is not None:
        parts.append(f"{money_text(rate)} an hour")
    if (cost := block.projected_cost(now)) is not None:
        parts.append(f"{money_text(cost)} at its end at this rate")
    return ", ".join(parts)


NOT_KNOWN: Final = "price not known"


def cost_text(counted: UsageSum) -> str:
    """Return the cost with `+` behind it where more is not known; empty where nothing was counted."""
    if not counted.usage.total_tokens and not counted.told:
        return ""
    cost = counted.cost
    if cost is None:
        return NOT_KNOWN
    return money_text(cost) + ("" if counted.is_whole else " +")


def source_text(counted: UsageSum) -> str:
    """Return where a cost comes from: told by the files, computed, not known; empty without tokens."""
    parts: list[str] = []
    if counted.told:
        parts.append(f"{money_text(counted.told)} told by files and services")
    if counted.computed:
        parts.append(f"{money_text(counted.computed)} computed from prices")
    if counted.unpriced_tokens:
        models = ", ".join(counted.unpriced_models[:_MOST_NAMED])
        more = len(counted.unpriced_models) - _MOST_NAMED
        models += f" and {more} more" if more > 0 else ""
        parts.append(f"{NOT_KNOWN} for {token_text(counted.unpriced_tokens)} tokens ({models})")
    if counted.uncounted:
        words = "reply tells" if counted.uncounted == 1 else "replies tell"
        parts.append(f"{counted.uncounted:,} {words} no tokens")
    return "; ".join(parts)
