"""The column of each trunk in a gap, and the gap as it can be drawn.

Owns the order from left to right: what must stand left does, what nests is drawn without crossing.
Rows are whole numbers here; what a row or a column measures on a screen is not known yet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from workbench.graph.channel import LEFT, RIGHT, Channel, Key


class Trunk(NamedTuple):
    """A vertical line."""

    column: int
    """0 is the leftmost of its gap."""
    top: int
    bottom: int
    rows: frozenset[int]
    """The rows at which pieces end in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What lies between two layers."""

    trunks: tuple[Trunk, ...]
    pieces: tuple[tuple[int, int, int], ...]
    """Row, from, to: trunk numbers, or LEFT and RIGHT."""
    columns: int
    leaving: Mapping[int, int]
    """The trunk that each vertex on the left leads to; absent for a straight line."""
    entering: Mapping[int, int]
    """The trunk that leads to each vertex on the right."""
    private: Mapping[tuple[int, int], int]
    """The row of the piece between two trunks."""
    jogs: Mapping[int, tuple[int, int]]
    """Of a vertex on the right that is reached over one more trunk: that trunk, and the row to it."""
    bus_trunk: Mapping[int, int]

    def way(self, u: int, v: int, bus: int | None) -> list[tuple[int, int | None]]:
        """List the trunks from vertex u to vertex v, each with the row on which it is left.

        The last row is None: it is that of v.
        """
        a, b = self.leaving.get(u), self.entering.get(v)
        trunks = [t for t in (a, None if bus is None else self.bus_trunk[bus], b) if t is not None]
        trunks = list(dict.fromkeys(trunks))
        if not trunks:
            return []
        rows: list[int | None] = [self.private[pair] for pair in pairwise(trunks)]
        if v in self.jogs:
            jog, row = self.jogs[v]
            trunks.append(jog)
            rows.append(row)
        return list(zip(trunks, [*rows, None], strict=True))


def place(channel: Channel, rank: Mapping[Key, int], *, apart: bool) -> Gap:
    """Give every trunk its column.

    Args:
        channel: The routed gap.
        rank: Row keys to whole rows.
        apart: Two trunks share a column only with a free row between them (for ASCII).
    """
    pieces: list[tuple[int, int, int]] = []
    ends: list[list[int]] = [[] for _ in channel.home]
    for key, across in channel.on_row.items():
        row = rank[key]
        for a, b in across:
            pieces.append((row, a, b))
            if a != LEFT:
                ends[a].append(row)
            if b != RIGHT:
                ends[b].append(row)
    spans = [(min(rows), max(rows)) for rows in ends]
    columns = _columns(channel, spans, rank, 1 if apart else 0)
    return Gap(
        trunks=tuple(
            Trunk(column=column, top=span[0], bottom=span[1], rows=frozenset(rows))
            for column, span, rows in zip(columns, spans, ends, strict=True)
        ),
        pieces=tuple(sorted(pieces)),
        columns=max(columns, default=-1) + 1,
        leaving=channel.leaving,
        entering=channel.entering,
        private={pair: rank[key] for pair, key in channel.private.items()},
        jogs={v: (trunk, rank[key]) for v, (trunk, key) in channel.jogs.items()},
        bus_trunk=channel.bus_trunk,
    )


def _columns(
    channel: Channel, spans: Sequence[tuple[int, int]], rank: Mapping[Key, int], free: int
) -> list[int]:
    after = channel.order.after
    waiting = [0] * len(spans)
    for row in after:
        for t in row:
            waiting[t] += 1
    urge = [_urge(channel.kind[t], rank[channel.home[t]], spans[t]) for t in range(len(spans))]
    ready = [(urge[t], t) for t in range(len(spans)) if not waiting[t]]
    heapify(ready)
    first = [0] * len(spans)
    columns = [0] * len(spans)
    skyline = [-1] * (max((high for _, high in spans), default=0) + 2 + free)
    while ready:
        _, t = heappop(ready)
        low, high = spans[t]
        column = max(first[t], max(skyline[max(0, low - free) : high + 1 + free]) + 1)
        columns[t] = column
        skyline[low : high + 1] = [column] * (high + 1 - low)
        for other in after[t]:
            first[other] = max(first[other], column + 1)
            waiting[other] -= 1
            if not waiting[other]:
                heappush(ready, (urge[other], other))
    return columns


def _urge(kind: str, home: int, span: tuple[int, int]) -> tuple[int, int]:
    """Rank a trunk: fans in that spread both ways, lines down from below, lines up from above, fans out."""
    low, high = span
    if low < home < high:
        return (0 if kind == "in" else 3, home)
    is_down = home == high if kind == "in" else home == low
    return (1, -low) if is_down else (2, high)


def crossings(gap: Gap) -> int:
    """Count the cells at which a piece passes under a trunk."""
    count = 0
    for row, a, b in gap.pieces:
        low = -1 if a == LEFT else gap.trunks[a].column
        high = gap.columns if b == RIGHT else gap.trunks[b].column
        if high - low > 1:
            count += sum(t.top < row < t.bottom and low < t.column < high for t in gap.trunks)
    return count
