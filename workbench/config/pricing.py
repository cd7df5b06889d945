"""What tokens cost, where the configuration says so.

Pure. Owns the sum. No price known means no money shown (DESIGN section 8).
"""

from workbench.config.values import Config
from workbench.domain.values import Usage

_MILLION = 1_000_000


def cost(config: Config, provider: str, usage: Usage) -> float | None:
    """Return what some tokens cost at a provider, in the user's currency; None where no price is known."""
    found = config.providers.get(provider)
    if found is None or found.prices is None:
        return None
    prices = found.prices
    sent, received = usage.input_tokens, usage.output_tokens
    return (sent * prices.input_per_million + received * prices.output_per_million) / _MILLION
