"""What models cost: a table with its date, prices of the configuration, and the one function that computes.

Prices are US dollars per million tokens, of `PRICES_DATE`, from the providers' lists as LiteLLM 1.109.1
gathers them (https://github.com/BerriAI/litellm, model_prices_and_context_window.json, MIT) and, for models
that are no longer sold, from the providers' last lists. Batch, flex, priority and regional prices are not
in it.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from workbench.config.types import Config, TokenPrices
from workbench.domain.values import Usage

PRICES_DATE: Final = "2026-11-24"
_TABLE: Final = """
# Anthropic
claude-3-5-haiku 0.8 4 0.08 1 1.6
claude-3-5-sonnet 3 15 0.3 3.75 6
claude-3-7-sonnet 3 15 0.3 3.75 6
claude-3-haiku 0.25 1.25 0.03 0.3 0.5
claude-3-opus 15 75 1.5 18.75 30
claude-fable-5 10 50 1 12.5 20
claude-fable-5-1 10 50 0.25 12.5 20
claude-haiku-4-5 1 5 0.1 1.25 2
claude-haiku-5-5 0.1 0.5 0.01 0.125 0.2 | 100000 0.5 2.5 0.05 0.625 1
claude-mythos-5 10 50 1 12.5 20
claude-mythos-5-1 10 50 0.25 12.5 20
claude-opus-4 15 75 1.5 18.75 30
claude-opus-4-1 15 75 1.5 18.75 30
claude-opus-4-5 5 25 0.5 6.25 10
claude-opus-4-6 5 25 0.5 6.25 10
claude-opus-4-7 5 25 0.5 6.25 10
claude-opus-4-8 5 25 0.5 6.25 10
claude-opus-5 5 25 0.5 6.25 10
claude-opus-5-5 4 20 0.2 5 8
claude-sonnet-4 3 15 0.3 3.75 6 | 200000 6 22.5 0.6 7.5 12
claude-sonnet-4-5 3 15 0.3 3.75 6
claude-sonnet-4-6 3 15 0.3 3.75 6
claude-sonnet-5 2 10 0.2 2.5 4
claude-sonnet-5-5 2 10 0.1 2.5 4
# OpenAI
codex-mini-latest 1.5 6 0.375 - -
gpt-4 30 60 - - -
gpt-4-turbo 10 30 - - -
gpt-4.1 2 8 0.5 - -
gpt-4.1-mini 0.4 1.6 0.1 - -
gpt-4.1-nano 0.1 0.4 0.025 - -
gpt-4o 2.5 10 1.25 - -
gpt-4o-mini 0.15 0.6 0.075 - -
gpt-5 1.25 10 0.125 - -
gpt-5-chat 1.25 10 0.125 - -
gpt-5-chat-latest 1.25 10 0.125 - -
gpt-5-codex 1.25 10 0.125 - -
gpt-5-mini 0.25 2 0.025 - -
gpt-5-nano 0.05 0.4 0.005 - -
gpt-5-pro 15 120 - - -
gpt-5.1 1.25 10 0.125 - -
gpt-5.1-chat-latest 1.25 10 0.125 - -
gpt-5.1-codex 1.25 10 0.125 - -
gpt-5.1-codex-max 1.25 10 0.125 - -
gpt-5.1-codex-mini 0.25 2 0.025 - -
gpt-5.2 1.75 14 0.175 - -
gpt-5.2-chat-latest 1.75 14 0.175 - -
gpt-5.2-codex 1.75 14 0.175 - -
gpt-5.2-pro 21 168 - - -
gpt-5.3-chat-latest 1.75 14 0.175 - -
gpt-5.3-codex 1.75 14 0.175 - -
gpt-5.4 2.5 15 0.25 - - | 272000 5 22.5 0.5 - -
gpt-5.4-mini 0.75 4.5 0.075 - -
gpt-5.4-nano 0.2 1.25 0.02 - -
gpt-5.4-pro 30 180 - - - | 272000 60 270 - - -
gpt-5.5 5 30 0.5 - - | 272000 10 45 1 - -
gpt-5.5-pro 30 180 - - - | 272000 60 270 - - -
gpt-5.6 4 20 0.4 5 - | 272000 8 30 0.8 10 -
gpt-5.6-luna 0.2 1.2 0.02 0.25 - | 272000 0.4 1.8 0.04 0.5 -
gpt-5.6-sol 4 20 0.4 5 - | 272000 8 30 0.8 10 -
gpt-5.6-terra 2 12 0.2 2.5 - | 272000 4 18 0.4 5 -
gpt-6-astra 10 50 1 12.5 - | 272000 20 75 2 25 -
gpt-6-luna 0.1 0.5 0.01 0.125 - | 272000 0.2 0.75 0.02 0.25 -
gpt-6-sol 2 10 0.2 2.5 - | 272000 4 15 0.4 5 -
gpt-6.1-sol 2 10 0.1 2.5 - | 272000 4 15 0.2 5 -
gpt-6.1-terra 1 5 0.05 1.25 - | 272000 2 7.5 0.1 2.5 -
o1 15 60 7.5 - -
o1-pro 150 600 - - -
o3 2 8 0.5 - -
o3-mini 1.1 4.4 0.55 - -
o3-pro 20 80 - - -
o4-mini 1.1 4.4 0.275 - -
# Google
gemini-2.0-flash 0.1 0.4 0.025 - -
gemini-2.5-flash 0.3 2.5 0.03 - -
gemini-2.5-flash-lite 0.1 0.4 0.01 - -
gemini-2.5-pro 1.25 10 0.125 - - | 200000 2.5 15 0.25 - -
gemini-3-flash-preview 0.5 3 0.05 - -
gemini-3-pro-preview 2 12 0.2 - - | 200000 4 18 0.4 - -
gemini-3.1-flash-lite 0.25 1.5 0.025 - -
gemini-3.1-flash-lite-preview 0.25 1.5 0.025 - -
gemini-3.1-pro-preview 2 12 0.2 - - | 200000 4 18 0.4 - -
gemini-3.5-flash 1.5 9 0.15 - -
gemini-3.5-flash-lite 0.3 2.5 0.03 - -
gemini-3.6-flash 0.75 3.75 0.075 - -
gemini-3.7-flash 0.75 3.75 0.075 - -
gemini-3.8-flash 0.75 3.75 0.075 - -
gemini-4-argon 2 10 0.1 - -
gemini-flash-latest 0.75 3.75 0.075 - -
gemini-flash-lite-latest 0.3 2.5 0.03 - -
gemini-pro-latest 2 12 0.2 - - | 200000 4 18 0.4 - -
# xAI
grok-3 3 15 0.75 - -
grok-4 3 15 0.75 - -
grok-4.20 1.25 2.5 0.2 - - | 200000 2.5 5 0.4 - -
grok-4.20-non-reasoning 1.25 2.5 0.2 - - | 200000 2.5 5 0.4 - -
grok-4.20-reasoning 1.25 2.5 0.2 - - | 200000 2.5 5 0.4 - -
grok-4.3 1.25 2.5 0.2 - - | 200000 2.5 5 0.4 - -
grok-4.3-latest 1.25 2.5 0.2 - - | 200000 2.5 5 0.4 - -
grok-4.5 2 6 0.3 - - | 200000 4 12 0.6 - -
grok-4.5-latest 2 6 0.3 - - | 200000 4 12 0.6 - -
grok-4.6 2 6 0.5 - - | 200000 4 12 1 - -
grok-4.7 2 6 0.5 - - | 200000 4 12 1 - -
grok-build-0.1 1 2 0.2 - - | 200000 2 4 0.4 - -
grok-build-latest 2 6 0.3 - - | 200000 4 12 0.6 - -
grok-code-fast 1 2 0.2 - - | 200000 2 4 0.4 - -
grok-code-fast-1 1 2 0.2 - - | 200000 2 4 0.4 - -
# DeepSeek
deepseek-chat 0.28 0.42 0.028 - -
deepseek-coder 0.14 0.28 0.014 - -
deepseek-flash 0.3 1.2 0.006 0 -
deepseek-r1 0.55 2.19 0.14 - -
deepseek-reasoner 0.28 0.42 0.028 - -
deepseek-v3 0.27 1.1 0.07 0 -
deepseek-v3.2 0.28 0.4 0.028 - -
deepseek-v4-flash 0.3 1.2 0.006 0 -
deepseek-v4-pro 1.32 3.96 0.044 0 -
# Moonshot
kimi-k2-0905-preview 0.6 2.5 0.15 - -
kimi-k2.5 0.6 3 0.1 - -
kimi-k2.6 0.95 4 0.16 - -
kimi-k2.7-code 0.95 4 0.19 - -
kimi-k3 3 15 0.3 3 6
kimi-k3.1-pro 2 10 0.2 2 4
# Z.ai
glm-4.5 0.6 2.2 - - -
glm-4.5-air 0.2 1.1 - - -
glm-4.6 0.6 2.2 0.11 0 -
glm-4.7 0.6 2.2 0.11 0 -
glm-5 1 3.2 0.2 0 -
glm-5-code 1.2 5 0.3 0 -
glm-5.1 1.4 4.4 0.26 0 -
glm-5.2 1.4 4.4 0.26 0 -
glm-5.3 1.4 4.4 0.26 0 -
glm-5.3-flash 0.15 0.5 0.03 0 -
# Alibaba
qwen-coder 0.3 1.5 - - -
qwen-max 1.6 6.4 - - -
qwen-plus 0.4 1.2 - - -
qwen-turbo 0.05 0.2 - - -
qwen-turbo-latest 0.05 0.2 - - -
qwen3.7-max 2.5 7.5 0.5 3.125 -
qwen3.8-flash 0.15 0.47 0.016 0.2 -
qwen3.8-max 2 6 0.25 - -
qwq-plus 0.8 2.4 - - -
# MiniMax
minimax-m2 0.3 1.2 0.03 0.375 -
minimax-m2.1 0.3 1.2 0.03 0.375 -
minimax-m2.1-lightning 0.3 2.4 0.03 0.375 -
minimax-m2.5 0.3 1.2 0.03 0.375 -
minimax-m2.5-lightning 0.3 2.4 0.03 0.375 -
minimax-m3 0.3 1.2 0.06 - -
# Mistral
codestral-2508 0.3 0.9 0.03 - -
codestral-latest 0.3 0.9 0.03 - -
devstral-latest 0.4 2 0.04 - -
devstral-medium-latest 0.4 2 0.04 - -
devstral-small-latest 0.1 0.3 0.01 - -
magistral-medium-latest 1.5 7.5 0.15 - -
magistral-small-latest 0.15 0.6 0.015 - -
mistral-code-agent-latest 0.4 2 0.04 - -
mistral-code-latest 0.3 0.9 0.03 - -
mistral-large-2512 0.5 1.5 0.05 - -
mistral-large-3 0.5 1.5 0.05 - -
mistral-large-4 1.36 4.18 0.14 - -
mistral-large-latest 0.5 1.5 0.05 - -
mistral-medium 1.5 7.5 0.15 - -
mistral-medium-2604 1.5 7.5 0.15 - -
mistral-medium-3 1.5 7.5 0.15 - -
mistral-medium-3-5 1.5 7.5 0.15 - -
mistral-medium-3.5 1.5 7.5 0.15 - -
mistral-medium-latest 1.5 7.5 0.15 - -
mistral-small 0.1 0.3 0.01 - -
mistral-small-2603 0.15 0.6 0.015 - -
mistral-small-latest 0.15 0.6 0.015 - -
mistral-vibe-cli-fast 0.15 0.6 0.015 - -
mistral-vibe-cli-latest 1.5 7.5 0.15 - -
mistral-vibe-cli-with-tools 1.5 7.5 0.15 - -
"""
"""Model, then input, output, cache read, cache written for five minutes and an hour; `-`: it has none.

Behind a bar, for some: the tokens of input above which a request costs more, and the same five prices.
"""
_PREFIXES: Final = (
    "anthropic", "openai", "google", "gemini", "vertex_ai", "vertex", "xai", "x-ai", "deepseek", "moonshot",
    "moonshotai", "zai", "z-ai", "zhipu", "alibaba", "dashscope", "qwen", "minimax", "mistral", "mistralai",
    "openrouter", "models", "azure", "azure_ai", "github_copilot",
)  # fmt: skip
"""Providers that are written before a model's name, with a slash. Others may ask for other prices."""
_DATE: Final = re.compile(r"(?:-20\d{6}|-20\d\d-\d\d-\d\d|@20\d{6})(?:-v\d+(?::\d+)?)?$|-latest$")
_NOTE: Final = re.compile(r"\[\w+\]$")
"""What Claude Code adds to a model's name: `claude-sonnet-4-5[1m]`."""


class ModelPrice(Struct, frozen=True):
    """US dollars per million tokens of a model."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    """For five minutes, or as long as the provider keeps it without being asked."""
    cache_write_1h: float

    def microdollars(self, usage: Usage) -> float:
        """Return what tokens cost; input that a cache gave or took is priced as such and not as input."""
        written = min(usage.cache_write_1h_tokens, usage.cache_write_tokens)
        return (
            usage.new_input_tokens * self.input + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + (usage.cache_write_tokens - written) * self.cache_write + written * self.cache_write_1h
        )  # fmt: skip


class ListedPrice(Struct, frozen=True):
    """The prices of a model, with those of long requests where they differ."""

    usual: ModelPrice
    long_from: int = 0
    """A request with more tokens of input than this is priced by `long`; 0: none is."""
    long: ModelPrice | None = None

    def at(self, context: int) -> ModelPrice:
        """Return the prices of requests whose input exceeds `context` tokens and no larger border."""
        return self.long if self.long is not None and self.long_from <= context else self.usual


def listed_price(model: str) -> ListedPrice | None:
    """Return the price of a model by its exact name, else without provider and date; None if there is none.

    A dot in the number of a Claude model is read as a hyphen, as other services write it. Nothing is guessed
    from a family: `claude-opus-9` and `gpt-5-turbo-large` have no price until they are listed.
    """
    table = _listed_prices()
    return next((table[name] for name in _spellings(model) if name in table), None)


def _spellings(model: str) -> list[str]:
    name = model.strip().lower()
    names = [name]
    while "/" in name and name.partition("/")[0] in _PREFIXES:
        name = name.partition("/")[2]
        names.append(name)
    name = _NOTE.sub("", name).removeprefix("global.anthropic.").removeprefix("anthropic.")
    names += [name, _DATE.sub("", name)]
    if name.startswith("claude-"):
        names += [spelled.replace(".", "-") for spelled in names[-2:]]
    return names


@cache
def _listed_prices() -> dict[str, ListedPrice]:
    lines = (line for line in _TABLE.splitlines() if line and not line.startswith("#"))
    return dict(map(_read_line, lines))


def _read_line(line: str) -> tuple[str, ListedPrice]:
    usual, _, long = line.partition(" | ")
    name, *prices = usual.split()
    border, *others = long.split() or ["0"]
    return name, ListedPrice(_model_price(prices), int(border), _model_price(others) if others else None)


def _model_price(words: list[str]) -> ModelPrice:
    sent, received, read, written, hour = (None if word == "-" else float(word) for word in words)
    return _with_defaults(sent or 0, received or 0, read, written, hour)


def _with_defaults(
    sent: float, received: float, read: float | None, written: float | None, hour: float | None
) -> ModelPrice:
    """Fill in what has no price: the cache costs what input costs, an hour what five minutes do."""
    written = sent if written is None else written
    return ModelPrice(
        sent, received, sent if read is None else read, written, written if hour is None else hour
    )


class PriceList(Struct, frozen=True):
    """The prices that hold: `prices` of the configuration, then the provider's, then the table."""

    models: Mapping[str, TokenPrices]
    providers: Mapping[str, TokenPrices]

    @classmethod
    def of(cls, config: Config) -> "PriceList":
        """Return the prices that hold under a configuration."""
        provider_prices = {
            name: settings.prices for name, settings in config.providers.items() if settings.prices
        }
        return cls({name.lower(): prices for name, prices in config.prices.items()}, provider_prices)

    def price(self, provider: str, model: str, context: int = 0) -> ModelPrice | None:
        """Return the prices of a model at a provider; `context` is a border that the input exceeds.

        None: they are not known.
        """
        own = next((self.models[name] for name in _spellings(model) if name in self.models), None)
        own = own or self.providers.get(provider)
        if own is not None:
            return _with_defaults(
                own.input_per_million, own.output_per_million, own.cache_read_per_million,
                own.cache_write_per_million, own.cache_write_1h_per_million,
            )  # fmt: skip
        listed = listed_price(model)
        return listed.at(context) if listed else None

    def cost(self, provider: str, model: str, usage: Usage, context: int = 0) -> int | None:
        """Return what tokens cost in millionths of a dollar, as told or else computed; None: not known."""
        if usage.cost_microdollars:
            return usage.cost_microdollars
        price = self.price(provider, model, context)
        return None if price is None else round(price.microdollars(usage))
