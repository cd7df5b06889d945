"""What a provider can do: its models, and whether one of them answers and calls tools."""

from collections.abc import Callable

from workbench.config.types import Config
from workbench.views.providers import ProviderReport

OnProgress = Callable[[str], None]
"""Is told what is being done, a short sentence each."""


def probe_provider(
    config: Config, name: str, model: str | None = None, on_progress: OnProgress | None = None
) -> ProviderReport:
    """Ask a provider for its models, and a model for two short replies, one with a tool call.

    Waits up to minutes for a server that loads its model: call it in a thread. Raises nothing: what goes
    wrong is among `problems`.
    """
    raise NotImplementedError
