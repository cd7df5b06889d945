"""Join what a reply spent to the reply, in a stream of records that has it elsewhere."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from workbench.domain.values import Usage
from workbench.formats import records as r

_MOST_HELD: Final = 1_000
"""Records that wait behind a reply for what it spent."""


def join_usage(records: Iterable[r.Record]) -> Iterator[r.Record]:
    """Yield records with usage in the reply right before it, or in the next one of its turn.

    Only what has neither stays a record of its own, for a reply that says nothing is made of that.
    """
    held: list[r.Record] = []
    waiting = Usage()
    for record in records:
        if isinstance(record, r.UsageRecord):
            waiting = waiting.plus(record.usage)
            held, waiting = (_with_usage(held, waiting), Usage()) if held else (held, waiting)
            continue
        if held and isinstance(record, r.CallQuestion | r.CallStart):
            held.append(record)
            continue
        yield from held
        held = []
        if isinstance(record, r.Reply):
            held, waiting = _with_usage([record], waiting), Usage()
            continue
        if waiting != Usage() and isinstance(record, r.Prompt | r.TurnStop | r.SessionEnd | r.SessionHead):
            yield r.UsageRecord(usage=waiting)
            waiting = Usage()
        yield record
    yield from held
    if waiting != Usage():
        yield r.UsageRecord(usage=waiting, is_last=True)


def _with_usage(records: list[r.Record], usage: Usage) -> list[r.Record]:
    return [
        replace(record, usage=record.usage.plus(usage)) if isinstance(record, r.Reply) else record
        for record in records
    ]


def join_usage_before(records: Iterable[r.Record]) -> Iterator[r.Record]:
    """Yield records; usage that follows a reply, at any distance, is moved into that reply."""
    held: list[r.Record] = []
    for record in records:
        if isinstance(record, r.UsageRecord) and held:
            held[:1] = _with_usage(held[:1], record.usage)
        elif isinstance(record, r.Reply | r.SessionHead):
            yield from held
            held = [record] if isinstance(record, r.Reply) else []
            yield from () if held else (record,)
        elif held:
            held.append(record)
            if len(held) > _MOST_HELD:
                yield from held
                held = []
        else:
            yield record
    yield from held
