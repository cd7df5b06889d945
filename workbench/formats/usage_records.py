"""Usage that a file counts apart from replies, joined to the reply that it belongs to."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from workbench.domain.values import Usage
from workbench.formats import records as r


def join_usage(records: Iterable[r.Record]) -> Iterator[r.Record]:
    """Yield records with usage in the reply right before it, or in the next one of its turn.

    Only what has neither stays a record of its own, for a reply that says nothing is made of that.
    """
    reply: r.Reply | None = None
    waiting = Usage()
    for record in records:
        if isinstance(record, r.UsageRecord):
            if reply is None:
                waiting = waiting.plus(record.usage)
            else:
                reply = replace(reply, usage=reply.usage.plus(record.usage))
            continue
        if reply is not None:
            yield reply
            reply = None
        if isinstance(record, r.Reply):
            reply, waiting = replace(record, usage=record.usage.plus(waiting)), Usage()
            continue
        if waiting != Usage() and isinstance(record, r.Prompt | r.TurnStop | r.SessionEnd | r.SessionHead):
            yield r.UsageRecord(usage=waiting)
            waiting = Usage()
        yield record
    if reply is not None:
        yield reply
    if waiting != Usage():
        yield r.UsageRecord(usage=waiting)
