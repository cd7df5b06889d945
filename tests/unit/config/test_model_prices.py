"""Prices: the table is well formed, names are found exactly or not at all, and who overrides whom."""

import json
from datetime import date

import pytest

from workbench.config.layers import load_config
from workbench.config.model_prices import PRICES_DATE, PriceList, _listed_prices, listed_price
from workbench.domain.values import Usage
from workbench.journal.token_use_table import CONTEXT_BORDERS, context_border

NONE = PriceList({}, {})
MILLION = 1_000_000


def configured(tmp_path, content):
    (tmp_path / "config.json").write_text(json.dumps({"config_version": 1, **content}))
    loaded = load_config(tmp_path, None, trusted=False, env={}, options={})
    assert loaded.problems == ()
    return PriceList.of(loaded.config)


def test_every_line_of_the_table_is_a_price():
    table = _listed_prices()
    assert date.fromisoformat(PRICES_DATE).year >= 2026
    assert len(table) > 140
    for name, price in table.items():
        assert name == name.lower() and price.usual.input > 0 and price.usual.output > 0, name
        assert price.usual.cache_read <= price.usual.input, name
        assert price.usual.cache_write_1h >= price.usual.cache_write, name
        assert price.long is None or (
            price.long_from in CONTEXT_BORDERS and price.long.input > price.usual.input
        )


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("claude-opus-4-1", "claude-opus-4-1"),
        ("claude-opus-4-1-20250805", "claude-opus-4-1"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("anthropic.claude-3-5-haiku-20241022-v1:0", "claude-3-5-haiku"),
        ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"),
        ("Claude-Sonnet-4.6", "claude-sonnet-4-6"),
        ("openai/gpt-5-codex", "gpt-5-codex"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
    ],
)
def test_a_name_is_found_without_its_provider_and_its_date(model, listed):
    assert listed_price(model) is _listed_prices()[listed]


@pytest.mark.parametrize(
    "model",
    ["", "claude", "claude-opus", "claude-opus-9", "gpt-5-turbo-large", "us.anthropic.claude-sonnet-4-5",
     "gpt-4.1-mini-high", "llama3", "x/gpt-5", "gpt-51", "claude-3-opus:free"],
)  # fmt: skip
def test_nothing_is_guessed(model):
    assert listed_price(model) is None
    assert NONE.cost("anthropic", model, Usage(input_tokens=5)) is None


def test_cache_and_hours_have_their_own_prices():
    usage = Usage(
        input_tokens=10 * MILLION, output_tokens=MILLION, cache_read_tokens=6 * MILLION,
        cache_write_tokens=3 * MILLION, cache_write_1h_tokens=MILLION,
    )  # fmt: skip
    # One million of new input, two kept for five minutes, one for an hour, six read, one written out.
    assert NONE.cost("", "claude-opus-4-5", usage) == round((5 + 2 * 6.25 + 10 + 6 * 0.5 + 25) * MILLION)


def test_what_was_told_is_not_computed():
    assert NONE.cost("", "claude-opus-4-5", Usage(input_tokens=MILLION, cost_microdollars=7)) == 7


@pytest.mark.parametrize(
    ("tokens", "border"), [(0, 0), (100_000, 0), (100_001, 100_000), (200_001, 200_000), (272_001, 272_000)]
)
def test_long_requests_are_told_apart(tokens, border):
    assert context_border(tokens) == border
    price = NONE.price("", "gemini-2.5-pro", border)
    assert price is not None and price.input == (2.5 if tokens > 200_000 else 1.25)


def test_the_configuration_comes_before_the_table(tmp_path):
    prices = {"input_per_million": 1, "output_per_million": 2, "cache_read_per_million": 0.5}
    provider = {"kind": "anthropic", "prices": {"input_per_million": 7, "output_per_million": 8}}
    listed = configured(tmp_path, {"prices": {"claude-opus-4-5": prices}, "providers": {"mine": provider}})
    usage = Usage(input_tokens=2 * MILLION, output_tokens=MILLION, cache_read_tokens=MILLION)
    assert listed.cost("mine", "claude-opus-4-5-20251101", usage) == round(3.5 * MILLION)
    assert listed.cost("mine", "claude-opus-4-1", usage) == 22 * MILLION
    assert listed.cost("other", "claude-haiku-4-5", usage) == round((1 + 0.1 + 5) * MILLION)
    assert listed.cost("other", "unheard-of", usage) is None
