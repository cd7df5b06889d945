"""The fold of replies into rows of token use, beside `fold`: replays and screens do not need them."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from workbench.domain.events import Event, ReplyCompleted
from workbench.domain.rows import Session, TokenUse
from workbench.domain.values import Usage

QUARTER_MICROS: Final = 900_000_000
CONTEXT_BORDERS: Final = (272_000, 200_000, 100_000)
"""Tokens of input above which some models cost more; the largest first."""


def context_border(input_tokens: int) -> int:
    """Return the largest of `CONTEXT_BORDERS` that an input exceeds; 0 where it exceeds none."""
    return next((border for border in CONTEXT_BORDERS if input_tokens > border), 0)


def token_use_after(
    event: Event, session: Session | None, known: Callable[[str], TokenUse | None]
) -> TokenUse | None:
    """Return the row of token use that an event changes, as it stands after it; None where it changes none.

    `session`: its row after the event; its provider is who was asked. A fork holds copies of replies from
    before it began: they were paid once, in its source, and are not counted again.
    """
    body = event.body
    if not isinstance(body, ReplyCompleted) or session is None or _is_copied(event, session):
        return None
    usage, start = body.usage, event.at // QUARTER_MICROS * QUARTER_MICROS
    model = body.model or session.model
    border, is_told = context_border(usage.input_tokens), usage.cost_microdollars > 0
    key = f"{session.id}/{start}/{border}/{int(is_told)}/{session.provider}/{model}"
    row = known(key) or TokenUse(
        key=key, session_id=session.id, at=start, provider=session.provider, model=model, context=border,
        is_told=is_told, first_at=event.at, last_at=event.at,
    )  # fmt: skip
    sums = {name: getattr(row, name) + getattr(usage, name) for name in Usage.__struct_fields__}
    return replace(
        row, replies=row.replies + 1, uncounted=row.uncounted + (usage.total_tokens == 0),
        first_at=min(row.first_at, event.at), last_at=max(row.last_at, event.at), **sums,
    )  # fmt: skip


def _is_copied(event: Event, session: Session) -> bool:
    return session.configuration.get("forked_from") is not None and event.at < session.created_at
