"""The order of vertices within their layers: few crossings, decided in integers and halves.

Owns sweeps, the crossing count and the greedy switch. The result depends on nothing but its
arguments: sorts are stable, no set is iterated.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from operator import add

from workbench.graph.levels import Net

_LINKS = 256
"""A bus of more pairs than this is thinned out for the sweeps."""
_SWITCHED = 400
"""Vertices up to which neighbours are switched to a fixed point."""


_MANY, _LARGE = 500, 2000
"""Vertices from which the first sweeps are not counted, and from which there are fewer of them."""
_LONG, _SHORT = "221122211222", "112222"
"""The sweeps, each with 2 or with 1 side of a vertex. Those with one find a way out where those with both
have settled; those with both make something of it."""


_SLACK = 1
"""How many more hops may cross after a move: routing may need fewer detours in return."""

Parts = list[list[list[int]]]
"""Components, each with the vertices of its layers from above to below."""


@dataclass(slots=True, kw_only=True)
class Links:
    """Neighbours of each vertex in the layer before (`ups`) and after (`downs`)."""

    ups: list[list[int]]
    downs: list[list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One way to sweep."""

    forward: bool = True
    depth_first: bool = True
    mirrored: bool = False
    """Start with the last step of the file."""


PLANS = tuple(
    Plan(forward=forward, depth_first=depth_first, mirrored=mirrored)
    for forward in (True, False)
    for mirrored in (False, True)
    for depth_first in (True, False)
)
"""In the order of their worth: the first half finds most of what all find."""


def links(net: Net) -> Links:
    """Collect who is joined to whom across each gap, buses as pairs."""
    found = Links(ups=[[] for _ in net.layer], downs=[[] for _ in net.layer])
    for hops in net.hops:
        for u, v in hops:
            found.downs[u].append(v)
            found.ups[v].append(u)
    for bus in net.buses:
        for u, v in _pairs(bus.entries, bus.exits):
            found.downs[u].append(v)
            found.ups[v].append(u)
    return found


def _pairs(entries: list[int], exits: list[int]) -> list[tuple[int, int]]:
    if len(entries) * len(exits) <= _LINKS:
        return [(u, v) for u in entries for v in exits]
    count = max(len(entries), len(exits))
    return [(entries[i * len(entries) // count], exits[i * len(exits) // count]) for i in range(count)]


def components(net: Net, joined: Links) -> list[list[int]]:
    """Split the vertices into what hangs together, by the first step of each."""
    seen = [False] * len(net.layer)
    found: list[list[int]] = []
    for start in range(net.steps):
        if not seen[start]:
            seen[start] = True
            group = [start]
            for v in group:
                for w in (*joined.ups[v], *joined.downs[v]):
                    if not seen[w]:
                        seen[w] = True
                        group.append(w)
            found.append(group)
    return found


def arrange(net: Net, joined: Links, group: Sequence[int], plan: Plan) -> list[list[int]]:
    """Order one component: start, two-sided sweeps with one-sided ones among them, best of all kept."""
    start = (
        _depth_first(net, joined, group, plan) if plan.depth_first else sorted(group, reverse=plan.mirrored)
    )
    rows: list[list[int]] = [[] for _ in range(len(net.hops) + 1)]
    for v in start:
        rows[net.layer[v]].append(v)
    best = _swept(rows, joined, plan, len(net.layer))
    if len(net.layer) <= _SWITCHED:
        _switch(best, joined, len(net.layer))
    return best


def _depth_first(net: Net, joined: Links, group: Sequence[int], plan: Plan) -> list[int]:
    seen = [False] * len(net.layer)
    order: list[int] = []
    stack = sorted((v for v in group if not joined.ups[v]), reverse=not plan.mirrored)
    while stack:
        v = stack.pop()
        if not seen[v]:
            seen[v] = True
            order.append(v)
            stack.extend(sorted(joined.downs[v], reverse=not plan.mirrored))
    return order


def _swept(rows: list[list[int]], joined: Links, plan: Plan, size: int) -> list[list[int]]:
    place = [0.0] * size
    value = [0.0] * size
    for row in rows:
        _number(row, place)
    index = [0] * size
    turns, counted = (_LONG, 0) if size < _MANY else (_LONG, 5) if size < _LARGE else (_SHORT, 5)
    best, fewest = rows, None if counted else crossings(rows, joined, index)
    both = [up + down for up, down in zip(joined.ups, joined.downs, strict=True)]
    for turn, sides in enumerate(turns):
        if fewest == 0:
            break
        rows = [list(row) for row in rows]
        forward = (turn % 2 == 0) == plan.forward
        near = both if sides == "2" else joined.ups if forward else joined.downs
        _sweep(rows, near, (place, value), forward=forward)
        if turn >= counted:
            count = crossings(rows, joined, index, fewest)
            if fewest is None or count < fewest:
                best, fewest = rows, count
    return best


def _sweep(
    rows: list[list[int]], near: list[list[int]], scratch: tuple[list[float], list[float]], *, forward: bool
) -> None:
    place, value = scratch
    for row in rows if forward else reversed(rows):
        if len(row) < 2:
            continue
        for v in row:
            around = near[v]
            count = len(around)
            if count == 2:  # a lane between two: most vertices of a large graph
                value[v] = (place[around[0]] + place[around[1]]) / 2
            elif count == 1:
                value[v] = place[around[0]]
            else:
                value[v] = _total([place[w] for w in around]) / count if count else place[v]
        row.sort(key=value.__getitem__)
        _number(row, place)


def _total(places: list[float]) -> float:
    """Add from left to right: `sum` rounds otherwise from Python 3.12 on, and another order came of it."""
    return reduce(add, places)


def _number(row: list[int], place: list[float]) -> None:
    size, at = len(row), 0.5
    for v in row:
        place[v] = at / size
        at += 1.0


def crossings(rows: Sequence[Sequence[int]], joined: Links, index: list[int], most: int | None = None) -> int:
    """Count the pairs of hops that cross.

    Args:
        rows: The vertices of each layer from above to below.
        joined: Who is joined to whom.
        index: Room for one number a vertex; overwritten.
        most: Counting ends once there are as many: the order is no better then.
    """
    for row in rows:
        for at, v in enumerate(row):
            index[v] = at
    count = 0
    for row in rows[:-1]:
        count += _crossings_below(row, joined.downs, index)
        if most is not None and count >= most:
            break
    return count


def _crossings_below(row: Sequence[int], downs: list[list[int]], index: list[int]) -> int:
    count = 0
    ends: list[int] = []
    last = -1
    for v in row:
        targets = downs[v]
        for at in sorted([index[w] for w in targets]) if len(targets) > 1 else [index[w] for w in targets]:
            if at >= last:
                ends.append(at)
                last = at
            else:
                before = bisect_right(ends, at)
                count += len(ends) - before
                ends.insert(before, at)
    return count


def _switch(rows: list[list[int]], joined: Links, size: int) -> None:
    """Switch neighbours as long as that takes crossings away."""
    index = [0] * size
    for row in rows:
        for at, v in enumerate(row):
            index[v] = at
    for _ in range(8):
        if sum(_switch_row(row, joined, index) for row in rows) == 0:
            return


def _switch_row(row: list[int], joined: Links, index: list[int]) -> bool:
    changed = False
    for at in range(len(row) - 1):
        a, b = row[at], row[at + 1]
        gain = 0
        for side in (joined.ups, joined.downs):
            first, second = [index[w] for w in side[a]], [index[w] for w in side[b]]
            gain += _crossed(first, second) - _crossed(second, first)
        if gain > 0:
            row[at], row[at + 1] = b, a
            index[a], index[b] = at + 1, at
            changed = True
    return changed


def _crossed(first: list[int], second: list[int]) -> int:
    """Count pairs of ends that cross when the vertex of `first` stands above that of `second`."""
    if not first or not second:
        return 0
    second = sorted(second)
    return sum([_below(second, end) for end in first])


def _below(ends: list[int], at: int) -> int:
    count = 0
    for end in ends:
        if end >= at:
            break
        count += 1
    return count


def moves(parts: Parts, joined: Links) -> Iterator[Parts]:
    """Yield orders in which one vertex stands elsewhere in its layer and hardly more hops cross."""
    index = [0] * len(joined.ups)
    most = sum(crossings(rows, joined, index) for rows in parts) + _SLACK
    for part, rows in enumerate(parts):
        for layer, row in enumerate(rows):
            for here, there in permutations(range(len(row)), 2):
                if here == there + 1:
                    continue  # neighbours change places in either direction
                moved = [[list(one) for one in other] for other in parts]
                moved[part][layer].insert(there, moved[part][layer].pop(here))
                if sum(crossings(one, joined, index) for one in moved) <= most:
                    yield moved


def seeded(net: Net, joined: Links, rows: dict[tuple[str, int, int], float]) -> list[list[int]]:
    """Order the layers as before; new vertices go to the mean row of their neighbours.

    Args:
        net: The new net; keys of vertices in the terms of the old one where they are the same.
        joined: Who is joined to whom.
        rows: Key of a vertex of the old layout to its row there.
    """
    row = [rows.get(key) for key in net.key]
    order = sorted(range(len(net.layer)), key=net.layer.__getitem__)
    for side in (joined.ups, joined.downs):
        for v in order if side is joined.ups else reversed(order):
            known = [at for w in side[v] if (at := row[w]) is not None]
            if row[v] is None and known:
                row[v] = _total(known) / len(known)
    layers: list[list[int]] = [[] for _ in range(len(net.hops) + 1)]
    for v in range(len(net.layer)):
        layers[net.layer[v]].append(v)
    far = max((at for at in row if at is not None), default=0.0) + 1
    for layer in layers:
        layer.sort(key=lambda v: (far if row[v] is None else row[v] or 0.0, v))
    return layers
