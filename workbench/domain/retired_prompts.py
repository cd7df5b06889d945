"""Find the prompts that were taken back or edited before a model read them."""

from collections.abc import Iterable

from workbench.domain.events import Event, PromptSubmitted, PromptWithdrawn


def retired_prompt_ids(events: Iterable[Event]) -> frozenset[str]:
    """Return the event ids of prompts that were withdrawn or replaced; no model reads them."""
    bodies = (event.body for event in events)
    ids = (
        body.prompt_id if isinstance(body, PromptWithdrawn) else body.replaces_id
        for body in bodies
        if isinstance(body, PromptWithdrawn | PromptSubmitted)
    )  # fmt: skip
    return frozenset(filter(None, ids))


def without_retired_prompts(events: Iterable[Event]) -> list[Event]:
    """Return events without the prompts that no model reads, for documents that know no such thing."""
    kept = list(events)
    retired = retired_prompt_ids(kept)
    return [event for event in kept if event.id not in retired] if retired else kept
