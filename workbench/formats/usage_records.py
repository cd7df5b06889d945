"""Join what a reply spent to the reply, in a stream of records that has it elsewhere."""

from collections.abc import Callable, Iterable, Iterator
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
        if record is r.NOTHING_YET:
            yield record
            continue
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
        if record is r.NOTHING_YET:
            yield record
        elif isinstance(record, r.UsageRecord) and held:
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


IsPaid = Callable[[str, str], bool]
"""Tells of a session and a request whether another session has paid it; else it is this one's from now on."""


class CountedUsage:
    """The tokens of the replies of one session; a message that comes in pieces or twice counts once."""

    def __init__(self) -> None:
        self._counted: dict[str, Usage] = {}

    def add(self, item: r.Reply, session_id: str, is_paid: IsPaid) -> Usage | None:
        """Return what a reply spends beyond its earlier pieces; None where it has nothing new to say."""
        usage = item.usage
        if item.request and usage != Usage() and is_paid(session_id, item.request):
            usage = Usage()
        if not item.key:
            return usage
        before = self._counted.get(item.key, Usage())
        usage = usage.beyond(before)
        self._counted[item.key] = before.plus(usage)
        is_silent = item.may_be_empty and not (item.text or item.thinking or item.calls)
        return None if is_silent and usage == Usage() else usage

    def pass_over(self, item: r.Reply) -> None:
        """Note what a reply spends whose events are there: a later piece may say it again."""
        if item.key:
            before = self._counted.get(item.key, Usage())
            self._counted[item.key] = before.plus(item.usage.beyond(before))
