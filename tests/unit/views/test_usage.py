"""Tokens and cost: what is told, computed and not known; rows in time; blocks of five hours."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.rows import UsageFact
from workbench.domain.values import Usage
from workbench.views.usage import (
    BLOCK_MICROS,
    NOT_KNOWN,
    UsageSum,
    active_block_text,
    block_name,
    cost_text,
    money_text,
    row_name,
    row_query,
    source_text,
    sum_usage,
    usage_blocks,
    usage_table,
)

HOUR = 3_600_000_000
BEGIN = 490_000 * HOUR


def fact(at=BEGIN, group="", model="m", told=0, sent=10, replies=1, uncounted=0, last=None, **usage):
    return UsageFact(
        group=group, at=at // (HOUR // 4) * (HOUR // 4), provider="p", model=model, context=0, first_at=at,
        last_at=at if last is None else last, replies=replies, uncounted=uncounted,
        usage=Usage(input_tokens=sent, cost_microdollars=told, **usage),
    )  # fmt: skip


def price(_provider, model, usage, _context):
    """Return a microdollar a token; models whose name begins with `x` have no price."""
    return None if model.startswith("x") else usage.total_tokens


def moment(text):
    return int(datetime.fromisoformat(text).timestamp() * 1_000_000)


def test_told_computed_and_unknown_stay_apart():
    total = sum_usage(
        [fact(told=500), fact(sent=7), fact(model="x1", sent=30), fact(model="x2", sent=1)], price
    )
    assert (total.told, total.computed, total.unpriced_tokens, total.cost) == (500, 7, 31, 507)
    assert total.unpriced_models == ("x1", "x2") and not total.is_whole
    assert cost_text(total) == "$0.0005 +"
    words = source_text(total)
    assert "$0.0005 told by files and services" in words
    assert f"{NOT_KNOWN} for 31 tokens (x1, x2)" in words


def test_what_has_no_price_never_costs_nothing():
    total = sum_usage([fact(model="x")], price)
    assert total.cost is None and cost_text(total) == NOT_KNOWN
    assert sum_usage([], price).cost is None and cost_text(UsageSum()) == ""


def test_models_that_tell_no_tokens_are_said_and_parts_of_a_reply_are_not():
    silent = fact(model="quiet", sent=0, replies=4, uncounted=4)
    part = fact(sent=0, replies=2, uncounted=2)
    total = sum_usage([silent, part, fact(sent=3)], price)
    assert (total.uncounted, total.replies) == (4, 1)
    assert "4 replies tell no tokens" in source_text(total)


def test_the_share_of_the_cache_is_of_all_input():
    total = sum_usage([fact(sent=100, cache_read_tokens=60, cache_write_tokens=30)], price)
    assert total.cache_share == 0.6 and total.usage.new_input_tokens == 10
    assert UsageSum().cache_share is None


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("day", ["2026-03-02", "2026-03-01", "2026-02-28"]),
        ("week", ["2026-03-02", "2026-02-23"]),
        ("month", ["2026-03", "2026-02"]),
    ],
)
def test_days_weeks_and_months_are_local_and_the_newest_is_first(by, keys):
    times = ("2026-02-28T23:59:00", "2026-03-01T00:00:00", "2026-03-01T23:59:59", "2026-03-02T00:00:00")
    table = usage_table(by, [fact(moment(text)) for text in times], price)
    assert [row.key for row in table.rows] == keys
    assert table.total.usage.input_tokens == 40


def test_other_rows_are_sorted_by_what_they_cost():
    facts = [fact(group="a", sent=1), fact(group="b", sent=9), fact(group="c", model="x", sent=500)]
    assert [row.key for row in usage_table("model", facts, price).rows] == ["b", "a", "c"]


def test_sessions_are_counted_with_who_started_them():
    facts = [fact(group="child", sent=5), fact(group="top", sent=2), fact(group="else", sent=1)]
    table = usage_table("session", facts, price, tops={"child": "top"})
    assert [(row.key, row.sum.usage.input_tokens) for row in table.rows] == [("top", 7), ("else", 1)]


def test_a_block_begins_with_the_hour_and_lasts_five():
    times = [BEGIN + 10 * HOUR // 60, BEGIN + 4 * HOUR + 59 * HOUR // 60, BEGIN + 5 * HOUR + 1]
    first, second = usage_blocks([fact(at) for at in times], price)
    assert (first.start, first.end, first.last_at) == (BEGIN, BEGIN + BLOCK_MICROS, times[1])
    assert second.start == BEGIN + 5 * HOUR and second.first_at == times[2]


def reference_blocks(times):
    """Return starts and counts by ccusage's rule, of every single reply."""
    blocks = []
    last = None
    for at in sorted(times):
        if last is None or at - blocks[-1][0] > BLOCK_MICROS or at - last > BLOCK_MICROS:
            blocks.append([at // HOUR * HOUR, 0])
        blocks[-1][1] += 1
        last = at
    return [tuple(block) for block in blocks]


@given(st.lists(st.integers(1, 100 * HOUR), min_size=1, max_size=60))
def test_blocks_of_quarters_are_those_of_single_replies(offsets):
    # A reply in the very microsecond in which a block ends is the one thing that quarters cannot tell.
    times = [BEGIN + offset + (offset % HOUR == 0) for offset in offsets]
    quarters = {}
    for at in times:
        quarters.setdefault(at // (HOUR // 4), []).append(at)
    facts = [fact(min(of), sent=len(of), replies=len(of), last=max(of)) for of in quarters.values()]
    blocks = usage_blocks(facts, price)
    assert [(block.start, block.sum.replies) for block in blocks] == reference_blocks(times)
    assert all(before.last_at < after.first_at for before, after in pairwise(blocks))


def test_the_block_that_is_not_over_says_how_fast_it_is_used_and_how_long_it_goes_on():
    (block,) = usage_blocks([fact(BEGIN, sent=600), fact(BEGIN + HOUR, sent=600)], price)
    now = BEGIN + 2 * HOUR
    assert block.is_active(now) and not block.is_active(BEGIN + BLOCK_MICROS)
    assert block.tokens_per_minute() == 20 and block.cost_per_hour() == 1200
    assert block.projected_cost(now) == 1200 + 3 * 1200
    words = active_block_text([block], now)
    assert words.startswith("3:00:00 to go, 20 tokens a minute") or "to go, 20 tokens a minute" in words
    assert active_block_text([block], now + 10 * HOUR) == ""
    assert block_name(block, now).endswith(" now")


def test_a_block_of_one_moment_has_no_rate():
    (block,) = usage_blocks([fact(BEGIN)], price)
    assert block.tokens_per_minute() is None and block.projected_cost(BEGIN) is None
    assert "to go" in active_block_text([block], BEGIN + 1)


@pytest.mark.parametrize(
    ("microdollars", "words"),
    [(0, "$0.00"), (12_340_000, "$12.34"), (4_000, "$0.0040"), (20, "<$0.0001"), (5_000, "$0.01"),
     (1_234_567_890_000, "$1,234,567.89")],
)  # fmt: skip
def test_little_money_is_not_nothing(microdollars, words):
    assert money_text(microdollars) == words


@pytest.mark.parametrize(
    ("by", "key", "query"),
    [
        ("day", "2026-03-01", "since:2026-03-01 until:2026-03-01"),
        ("week", "2026-02-23", "since:2026-02-23 until:2026-03-01"),
        ("month", "2026-02", "since:2026-02-01 until:2026-02-28"),
        ("month", "2026-12", "since:2026-12-01 until:2026-12-31"),
        ("model", "gpt-5", 'model:"gpt-5"'), ("project", "/w/a b", 'in:"/w/a b"'),
        ("agent", "codex", 'origin:"codex"'), ("agent", "workbench", ""), ("model", 'a"b', ""),
        ("model", "", ""), ("session", "s", ""), ("block", "1", ""),
        ("pipeline", "p", ""),
    ],
)  # fmt: skip
def test_a_row_leads_to_its_sessions(by, key, query):
    assert row_query(by, key) == query


def test_of_a_table_by_pipeline_only_what_runs_used_is_counted():
    facts = [fact(group="s1", told=5), fact(group="s2", told=7), fact(group="elsewhere", told=100)]
    table = usage_table("pipeline", facts, price, tops={"s1": "ship", "s2": "ship"})
    assert [(row.key, row.sum.cost) for row in table.rows] == [("ship", 12)]
    assert table.total.cost == 12


def test_rows_say_what_they_are():
    assert row_name("day", "2026-03-01") == "2026-03-01 Sun"
    assert row_name("week", "2026-02-23") == "week of 2026-02-23"
    assert row_name("model", "") == "(none)"
    assert timedelta(hours=5) == timedelta(microseconds=BLOCK_MICROS)
