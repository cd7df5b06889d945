"""Routes of edges through the gap between two layers: vertical trunks and horizontal pieces.

Decides which line runs on which row and in which column each trunk stands. Trunks are kept in an incremental
topological order (Pearce and Kelly), so "left of" never becomes a cycle.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise
from typing import NamedTuple

from msgspec import Struct

RowKey = float | Fraction
"""A row while rows are still being inserted; ranked to whole numbers at the end."""
LEFT, RIGHT = -1, -2
"""In place of a trunk: the edge of the gap."""


class BusJunction(Struct, frozen=True, kw_only=True):
    """A bus where it crosses its gap."""

    bus: int
    entries: tuple[int, ...]
    exits: tuple[int, ...]


class RowKeys:
    """All rows in use, from above to below; new ones fit between any two."""

    def __init__(self, keys: Sequence[RowKey]) -> None:
        self.keys: list[RowKey] = sorted(set(keys))

    def between(self, low: RowKey, high: RowKey) -> list[RowKey]:
        """List the rows strictly between two."""
        return self.keys[bisect_right(self.keys, low) : bisect_left(self.keys, high)]

    def next(self, at: RowKey, toward: RowKey) -> RowKey | None:
        """Return the row next to one, on the side of another; None beyond the last."""
        index = bisect_right(self.keys, at) if toward >= at else bisect_left(self.keys, at) - 1
        return self.keys[index] if 0 <= index < len(self.keys) else None

    def beside(self, at: RowKey, toward: RowKey) -> RowKey:
        """Insert a row next to one, on the side of another."""
        keys = self.keys
        if toward >= at:
            index = bisect_right(keys, at)
            low, high = at, keys[index] if index < len(keys) else at + 2
        else:
            index = bisect_left(keys, at)
            low, high = keys[index - 1] if index else at - 2, at
        key: RowKey = (low + high) / 2
        if not low < key < high:
            key = (Fraction(low) + Fraction(high)) / 2
        insort(keys, key)
        return key


class Channel:
    """One gap while it is being routed, and what came out."""

    def __init__(self, key: list[RowKey], rows: RowKeys, lanes_from: int) -> None:
        self._key = key
        self._rows = rows
        self._lanes_from = lanes_from
        self._taken: set[RowKey] = set()
        """The rows of the vertices on the right."""
        self.order = IncrementalOrder()
        self.on_row: dict[RowKey, list[tuple[int, int]]] = {}
        """The pieces of each row from left to right, each from trunk to trunk."""
        self.home: list[RowKey] = []
        """Of each trunk: the row of the vertex that it belongs to."""
        self.kind: list[str] = []
        """Of each trunk: out, in, lone, bus or jog."""
        self.leaving: dict[int, int] = {}
        """The trunk that each vertex on the left leads to."""
        self.entering: dict[int, int] = {}
        """The trunk that leads to each vertex on the right."""
        self.bus_trunk: dict[int, int] = {}
        self.private: dict[tuple[int, int], RowKey] = {}
        """The row of the piece between two trunks."""
        self.jogs: dict[int, tuple[int, RowKey]] = {}
        """Of a vertex on the right that is reached over one more trunk: that trunk, and the row to it."""

    def route(
        self, hops: Sequence[tuple[int, int]], junctions: Sequence[BusJunction], right: Sequence[int]
    ) -> None:
        self._taken = {self._key[v] for v in right}
        privates = self._trunks(hops, junctions)
        for a, b in privates:
            self.order.put(a, b)
        self._ports(hops)
        for a, b in sorted(privates, key=lambda ab: abs(self.home[ab[0]] - self.home[ab[1]])):
            self._private(a, b)

    def _trunk(self, kind: str, home: RowKey) -> int:
        self.kind.append(kind)
        self.home.append(home)
        return self.order.add()

    def _trunks(
        self, hops: Sequence[tuple[int, int]], junctions: Sequence[BusJunction]
    ) -> list[tuple[int, int]]:
        out, into = _endpoint_counts(hops, junctions)
        key = self._key
        for u, count in out.items():
            if count > 1:
                self.leaving[u] = self._trunk("out", key[u])
        for u, v in hops:
            if out[u] == 1 and into[v] == 1 and key[u] != key[v]:
                self.leaving[u] = self.entering[v] = self._trunk("lone", key[u])
        pairs: list[tuple[int, int]] = []
        for junction in junctions:
            self._bus(junction, out)
        for v, count in into.items():
            if count > 1:
                self.entering[v] = self._trunk("in", key[v])
        for junction in junctions:
            pairs += self._bus_exits(junction, out, into)
        for u, v in hops:
            self._join(u, v, out, into, pairs)
        return pairs

    def _join(
        self, u: int, v: int, out: dict[int, int], into: dict[int, int], pairs: list[tuple[int, int]]
    ) -> None:
        if out[u] > 1 and into[v] > 1:
            pairs.append((self.leaving[u], self.entering[v]))
        elif out[u] > 1:
            self.entering[v] = self.leaving[u]
        elif into[v] > 1:
            self.leaving[u] = self.entering[v]

    def _bus(self, junction: BusJunction, out: dict[int, int]) -> None:
        keys = sorted(self._key[v] for v in (*junction.entries, *junction.exits))
        trunk = self._trunk("bus", keys[len(keys) // 2])
        self.bus_trunk[junction.bus] = trunk
        for u in junction.entries:
            if out[u] == 1:
                self.leaving[u] = trunk

    def _bus_exits(
        self, junction: BusJunction, out: dict[int, int], into: dict[int, int]
    ) -> list[tuple[int, int]]:
        trunk = self.bus_trunk[junction.bus]
        for v in junction.exits:
            if into[v] == 1:
                self.entering[v] = trunk
        before = [(self.leaving[u], trunk) for u in junction.entries if out[u] > 1]
        return before + [(trunk, self.entering[v]) for v in junction.exits if into[v] > 1]

    def _ports(self, hops: Sequence[tuple[int, int]]) -> None:
        """Lead every vertex to its trunk; where the order of two trunks cannot be had, step aside."""
        key = self._key
        for u, v in hops:
            if u not in self.leaving and v not in self.entering:
                self.on_row[key[u]] = [(LEFT, RIGHT)]
        for u, trunk in self.leaving.items():
            self.on_row[key[u]] = [(LEFT, trunk)]
        for v, trunk in self.entering.items():
            pieces = self.on_row.setdefault(key[v], [])
            if not pieces or pieces[0][1] == trunk or self.order.put(pieces[0][1], trunk):
                pieces.append((trunk, RIGHT))
            elif v >= self._lanes_from:
                key[v] = self._spare(key[v], self._pull(trunk, v))
                self._taken.add(key[v])
                self.on_row[key[v]] = [(trunk, RIGHT)]
                if self.kind[trunk] == "in":
                    self.home[trunk] = key[v]
            else:
                self._jog(v, trunk)

    def _spare(self, row_key: RowKey, toward: RowKey) -> RowKey:
        row = self._rows.next(row_key, toward)
        is_free = row is not None and row not in self.on_row and row not in self._taken
        return row if row is not None and is_free else self._rows.beside(row_key, toward)

    def _pull(self, trunk: int, v: int) -> RowKey:
        others = [self._key[u] for u, t in self.leaving.items() if t == trunk]
        return min(others, default=self.home[trunk], key=lambda row_key: abs(row_key - self._key[v]))

    def _jog(self, v: int, trunk: int) -> None:
        row_key = self._key[v]
        row = self._spare(row_key, self._pull(trunk, v))
        jog = self._trunk("jog", row_key)
        self.order.put(trunk, jog)
        self.order.put(self.on_row[row_key][-1][1], jog)
        self.on_row[row_key].append((jog, RIGHT))
        self.on_row[row] = [(trunk, jog)]
        self.jogs[v] = (jog, row)

    def _private(self, a: int, b: int) -> None:
        candidates = [self.home[a]] if self.kind[a] == "out" else []
        candidates += [self.home[b]] if self.kind[b] == "in" else []
        for row in chain(candidates, self._between(a, b)):
            if self._fits(row, a, b):
                break
        else:
            row = self._rows.beside(self.home[a], self.home[b])
            self.on_row[row] = [(a, b)]
        self.private[a, b] = row

    def _between(self, a: int, b: int) -> Iterator[RowKey]:
        low, high = self.home[a], self.home[b]
        yield from self._rows.between(low, high) if low <= high else reversed(self._rows.between(high, low))

    def _fits(self, row: RowKey, a: int, b: int) -> bool:
        """Put the piece from a to b on the row if it touches nothing foreign there."""
        pieces = self.on_row.get(row, [])
        for index in range(len(pieces) + 1):
            before = pieces[index - 1][1] if index else LEFT
            after = pieces[index][0] if index < len(pieces) else RIGHT
            if before == RIGHT or after == LEFT:
                continue
            pairs = [(before, a)] if before not in (LEFT, a) else []
            pairs += [(b, after)] if after not in (RIGHT, b) else []
            if self.order.put_all(pairs):
                self.on_row[row] = [*pieces[:index], (a, b), *pieces[index:]]
                return True
        return False


def _endpoint_counts(
    hops: Sequence[tuple[int, int]], junctions: Sequence[BusJunction]
) -> tuple[dict[int, int], dict[int, int]]:
    out: dict[int, int] = {}
    into: dict[int, int] = {}
    for u, v in hops:
        out[u] = out.get(u, 0) + 1
        into[v] = into.get(v, 0) + 1
    for junction in junctions:
        for u in junction.entries:
            out[u] = out.get(u, 0) + 1
        for v in junction.exits:
            into[v] = into.get(v, 0) + 1
    return out, into


class Trunk(NamedTuple):
    """A vertical line."""

    column: int
    """0 is the leftmost of its gap."""
    top: int
    bottom: int
    rows: frozenset[int]
    """The rows at which pieces end in it."""


class Gap(Struct, frozen=True, kw_only=True):
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
        """List the trunks from vertex u to v, each with the row on which it is left; the last row is None."""
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


def place_trunks(channel: Channel, rank: Mapping[RowKey, int], *, apart: bool) -> Gap:
    """Give every trunk its column."""
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
    columns = _assign_columns(channel, spans, rank, 1 if apart else 0)
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


def _assign_columns(
    channel: Channel, spans: Sequence[tuple[int, int]], rank: Mapping[RowKey, int], free: int
) -> list[int]:
    after = channel.order.after
    waiting = [0] * len(spans)
    for row in after:
        for t in row:
            waiting[t] += 1
    urge = [_column_priority(channel.kind[t], rank[channel.home[t]], spans[t]) for t in range(len(spans))]
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


def _column_priority(kind: str, home: int, span: tuple[int, int]) -> tuple[int, int]:
    """Rank a trunk: fans in that spread both ways, lines down from below, lines up from above, fans out."""
    low, high = span
    if low < home < high:
        return (0 if kind == "in" else 3, home)
    is_down = home == high if kind == "in" else home == low
    return (1, -low) if is_down else (2, high)


def gap_crossings(gap: Gap) -> int:
    """Count the cells at which a piece passes under a trunk."""
    count = 0
    for row, a, b in gap.pieces:
        low = -1 if a == LEFT else gap.trunks[a].column
        high = gap.columns if b == RIGHT else gap.trunks[b].column
        if high - low > 1:
            count += sum(t.top < row < t.bottom and low < t.column < high for t in gap.trunks)
    return count


class IncrementalOrder:
    """Numbers 0, 1, 2 … with a partial order between them."""

    def __init__(self) -> None:
        self.after: list[list[int]] = []
        self._before: list[list[int]] = []
        self._at: list[int] = []

    def add(self) -> int:
        self.after.append([])
        self._before.append([])
        self._at.append(len(self._at))
        return len(self._at) - 1

    def put(self, a: int, b: int) -> bool:
        """Put a before b; False, and nothing changed, when b must stand before a."""
        if a == b:
            return False
        if self._at[a] > self._at[b] and not self._reorder(a, b):
            return False
        self.after[a].append(b)
        self._before[b].append(a)
        return True

    def put_all(self, pairs: list[tuple[int, int]]) -> bool:
        """Put all pairs in order, or none."""
        for done, (a, b) in enumerate(pairs):
            if not self.put(a, b):
                for c, d in pairs[:done]:
                    self.after[c].remove(d)
                    self._before[d].remove(c)
                return False
        return True

    def _reorder(self, a: int, b: int) -> bool:
        position = self._at
        low, high = position[b], position[a]
        ahead = _reachable(self.after, position, b, low, high)
        if a in ahead:
            return False
        behind = _reachable(self._before, position, a, low, high)
        moved = sorted(behind, key=position.__getitem__) + sorted(ahead, key=position.__getitem__)
        for v, place in zip(moved, sorted([position[v] for v in moved]), strict=True):
            position[v] = place
        return True


def _reachable(
    edges: list[list[int]], position: list[int], start: int, low: int, high: int
) -> dict[int, None]:
    reached = {start: None}
    stack = [start]
    while stack:
        for w in edges[stack.pop()]:
            if w not in reached and low <= position[w] <= high:
                reached[w] = None
                stack.append(w)
    return reached
