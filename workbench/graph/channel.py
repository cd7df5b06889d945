"""The routing of one gap between two layers: trunks (vertical) and pieces (horizontal).

Owns which line runs over which row and which trunk must stand left of which. Two pieces on one row
touch only in a trunk that both belong to; that is what makes a drawing readable by a program.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from workbench.graph.ordering import Ordering

Key = float | Fraction
"""A row while rows are still being inserted; ranked to whole numbers at the end."""

LEFT, RIGHT = -1, -2
"""In place of a trunk: the edge of the gap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Junction:
    """A bus where it crosses its gap."""

    bus: int
    entries: tuple[int, ...]
    exits: tuple[int, ...]


class RowKeys:
    """All rows in use, from above to below; new ones fit between any two."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self.keys: list[Key] = sorted(set(keys))

    def between(self, low: Key, high: Key) -> list[Key]:
        """List the rows strictly between two."""
        return self.keys[bisect_right(self.keys, low) : bisect_left(self.keys, high)]

    def next(self, at: Key, toward: Key) -> Key | None:
        """Return the row next to one, on the side of another; None beyond the last."""
        index = bisect_right(self.keys, at) if toward >= at else bisect_left(self.keys, at) - 1
        return self.keys[index] if 0 <= index < len(self.keys) else None

    def beside(self, at: Key, toward: Key) -> Key:
        """Insert a row next to one, on the side of another."""
        keys = self.keys
        if toward >= at:
            index = bisect_right(keys, at)
            low, high = at, keys[index] if index < len(keys) else at + 2
        else:
            index = bisect_left(keys, at)
            low, high = keys[index - 1] if index else at - 2, at
        key: Key = (low + high) / 2
        if not low < key < high:
            key = (Fraction(low) + Fraction(high)) / 2
        insort(keys, key)
        return key


class Channel:
    """One gap while it is being routed, and what came out."""

    def __init__(self, key: list[Key], rows: RowKeys, lanes_from: int) -> None:
        self._key = key
        self._rows = rows
        self._lanes_from = lanes_from
        self._taken: set[Key] = set()
        """The rows of the vertices on the right."""
        self.order = Ordering()
        self.on_row: dict[Key, list[tuple[int, int]]] = {}
        """The pieces of each row from left to right, each from trunk to trunk."""
        self.home: list[Key] = []
        """Of each trunk: the row of the vertex that it belongs to."""
        self.kind: list[str] = []
        """Of each trunk: out, in, lone, bus or jog."""
        self.leaving: dict[int, int] = {}
        """The trunk that each vertex on the left leads to."""
        self.entering: dict[int, int] = {}
        """The trunk that leads to each vertex on the right."""
        self.bus_trunk: dict[int, int] = {}
        self.private: dict[tuple[int, int], Key] = {}
        """The row of the piece between two trunks."""
        self.jogs: dict[int, tuple[int, Key]] = {}
        """Of a vertex on the right that is reached over one more trunk: that trunk, and the row to it."""

    def route(
        self, hops: Sequence[tuple[int, int]], junctions: Sequence[Junction], right: Sequence[int]
    ) -> None:
        """Route everything that crosses the gap.

        Args:
            hops: Pairs of vertices on its left and right.
            junctions: Buses that lie in it.
            right: All vertices on its right.
        """
        self._taken = {self._key[v] for v in right}
        privates = self._trunks(hops, junctions)
        for a, b in privates:
            self.order.put(a, b)
        self._ports(hops)
        for a, b in sorted(privates, key=lambda ab: abs(self.home[ab[0]] - self.home[ab[1]])):
            self._private(a, b)

    def _trunk(self, kind: str, home: Key) -> int:
        self.kind.append(kind)
        self.home.append(home)
        return self.order.add()

    def _trunks(
        self, hops: Sequence[tuple[int, int]], junctions: Sequence[Junction]
    ) -> list[tuple[int, int]]:
        """Give every fan, bus and slanted line its trunk; return the pairs that need a piece."""
        out, into = _counts(hops, junctions)
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

    def _bus(self, junction: Junction, out: dict[int, int]) -> None:
        keys = sorted(self._key[v] for v in (*junction.entries, *junction.exits))
        trunk = self._trunk("bus", keys[len(keys) // 2])
        self.bus_trunk[junction.bus] = trunk
        for u in junction.entries:
            if out[u] == 1:
                self.leaving[u] = trunk

    def _bus_exits(
        self, junction: Junction, out: dict[int, int], into: dict[int, int]
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

    def _spare(self, at: Key, toward: Key) -> Key:
        """Find the next row if nothing is on it, else insert one."""
        row = self._rows.next(at, toward)
        is_free = row is not None and row not in self.on_row and row not in self._taken
        return row if row is not None and is_free else self._rows.beside(at, toward)

    def _pull(self, trunk: int, v: int) -> Key:
        """Return a row that the trunk comes from."""
        others = [self._key[u] for u, t in self.leaving.items() if t == trunk]
        return min(others, default=self.home[trunk], key=lambda at: abs(at - self._key[v]))

    def _jog(self, v: int, trunk: int) -> None:
        at = self._key[v]
        row = self._spare(at, self._pull(trunk, v))
        jog = self._trunk("jog", at)
        self.order.put(trunk, jog)
        self.order.put(self.on_row[at][-1][1], jog)
        self.on_row[at].append((jog, RIGHT))
        self.on_row[row] = [(trunk, jog)]
        self.jogs[v] = (jog, row)

    def _private(self, a: int, b: int) -> None:
        wished = [self.home[a]] if self.kind[a] == "out" else []
        wished += [self.home[b]] if self.kind[b] == "in" else []
        for row in chain(wished, self._between(a, b)):
            if self._fits(row, a, b):
                break
        else:
            row = self._rows.beside(self.home[a], self.home[b])
            self.on_row[row] = [(a, b)]
        self.private[a, b] = row

    def _between(self, a: int, b: int) -> Iterator[Key]:
        """Yield the rows between the homes of two trunks, those near the first one first."""
        low, high = self.home[a], self.home[b]
        yield from self._rows.between(low, high) if low <= high else reversed(self._rows.between(high, low))

    def _fits(self, row: Key, a: int, b: int) -> bool:
        """Put the piece from a to b on the row if it touches nothing foreign there."""
        pieces = self.on_row.get(row, [])
        for at in range(len(pieces) + 1):
            before = pieces[at - 1][1] if at else LEFT
            after = pieces[at][0] if at < len(pieces) else RIGHT
            if before == RIGHT or after == LEFT:
                continue
            pairs = [(before, a)] if before not in (LEFT, a) else []
            pairs += [(b, after)] if after not in (RIGHT, b) else []
            if self.order.put_all(pairs):
                self.on_row[row] = [*pieces[:at], (a, b), *pieces[at:]]
                return True
        return False


def _counts(
    hops: Sequence[tuple[int, int]], junctions: Sequence[Junction]
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
