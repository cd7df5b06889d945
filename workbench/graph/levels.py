"""Layers, bundles and lanes: which column a step stands in and how long edges are carried there.

Owns the passage from a graph to a proper layered one, where every edge joins neighbouring layers.
It must never look at names, widths or states.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

Rows = Sequence[Sequence[int]]


@dataclass(slots=True, kw_only=True)
class Bus:
    """Several steps that all feed the same several steps, drawn as one line with brackets."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    gap: int = 0
    entries: list[int] = field(default_factory=list[int])
    """Vertices on the left side of its gap."""
    exits: list[int] = field(default_factory=list[int])
    """Vertices on the right side of its gap."""


@dataclass(slots=True, kw_only=True)
class Net:
    """A proper layered graph: steps first, then lanes, hops between neighbouring layers, buses."""

    steps: int
    layer: list[int]
    key: list[tuple[str, int, int]]
    """Of each vertex: kind, owner, layer; the same lane has the same key in the next layout."""
    hops: list[list[tuple[int, int]]]
    """For each gap (left of layer gap + 1) the pairs of vertices that a line joins."""
    buses: list[Bus]
    lanes: dict[tuple[str, int], dict[int, int]]
    """Of each shared lane (kind, owner): layer to vertex."""
    carrier: dict[tuple[int, int], tuple[str, int]]
    """Of each edge that is not a plain hop: the lane or bus (kind, owner) that carries it."""


def bundles(targets_of: list[list[int]], sources_of: list[list[int]]) -> list[Bus]:
    """Take complete bipartite groups (2 × 2 and more) out of the edges and return them.

    Args:
        targets_of: Successors of each step; bundled edges are removed.
        sources_of: Predecessors of each step; bundled edges are removed.
    """
    found: list[Bus] = []
    for turned in (False, True):
        near, far = (sources_of, targets_of) if not turned else (targets_of, sources_of)
        groups: dict[tuple[int, ...], list[int]] = {}
        for v, row in enumerate(near):
            if len(row) > 1:
                groups.setdefault(tuple(sorted(row)), []).append(v)
        for row, members in groups.items():
            if len(members) > 1:
                _take_out(near, far, row, members)
                sources, targets = (tuple(members), row) if turned else (row, tuple(members))
                found.append(Bus(sources=sources, targets=targets))
    return found


def _take_out(near: list[list[int]], far: list[list[int]], row: tuple[int, ...], members: list[int]) -> None:
    gone = set(members)
    for v in members:
        near[v] = []
    for u in row:
        far[u] = [v for v in far[u] if v not in gone]


def layers(
    needs: Rows,
    feeds: Rows,
    order: Sequence[int],
    floor: Sequence[int] | None = None,
    *,
    is_eager: bool = False,
) -> list[int]:
    """Give each step its layer: longest path, then pulled right towards its successors.

    Args:
        needs: Predecessors.
        feeds: Successors.
        order: A topological order.
        floor: Layers of an earlier layout, -1 for new steps: then no step is pulled, and old ones move
            only where a new predecessor pushes them.
        is_eager: Pull steps with as many in-edges as out-edges, too, which saves lanes.
    """
    layer = [0] * len(needs) if floor is None else [max(0, at) for at in floor]
    for v in order:
        for p in needs[v]:
            if layer[p] >= layer[v]:
                layer[v] = layer[p] + 1
    if floor is None:
        for _ in range(3):
            if not _pull(needs, feeds, order, layer, 0 if is_eager else 1):
                break
    return layer


def _pull(needs: Rows, feeds: Rows, order: Sequence[int], layer: list[int], more: int) -> bool:
    moved = False
    for v in reversed(order):
        if feeds[v] and len(feeds[v]) >= len(needs[v]) + more:
            first = min(layer[w] for w in feeds[v]) - 1
            moved |= first > layer[v]
            layer[v] = max(layer[v], first)
    return moved


def lanes_needed(layer: Sequence[int], feeds: Rows) -> int:
    """Estimate how many lanes the layers lead to: those that each step needs for its farthest successor."""
    return sum(max(layer[v] for v in row) - layer[u] - 1 for u, row in enumerate(feeds) if row)


def layered(layer: list[int], targets_of: Rows, buses: list[Bus]) -> Net:
    """Break long edges into lanes and give every bus its gap."""
    deep = max(layer, default=0)
    net = Net(
        steps=len(layer),
        layer=list(layer),
        key=[("step", v, at) for v, at in enumerate(layer)],
        hops=[[] for _ in range(deep)],
        buses=buses,
        lanes={},
        carrier={},
    )
    _edges(net, targets_of)
    for at, bus in enumerate(buses):
        _place_bus(net, at, bus)
    return net


def _edges(net: Net, targets_of: Rows) -> None:
    layer = net.layer
    long = [(u, v) for u, row in enumerate(targets_of) for v in row if layer[v] - layer[u] > 1]
    out = [0] * net.steps
    into = [0] * net.steps
    for u, v in long:
        out[u] += 1
        into[v] += 1
    for u, row in enumerate(targets_of):
        for v in row:
            if layer[v] - layer[u] == 1:
                net.hops[layer[u]].append((u, v))
            elif out[u] >= into[v]:
                _fan_out(net, ("from", u), layer[u] + 1, v, u)
                net.carrier[u, v] = ("from", u)
            else:
                _fan_in(net, ("to", v), layer[v] - 1, u, v)
                net.carrier[u, v] = ("to", v)


def _lane(net: Net, key: tuple[str, int], at: int) -> tuple[int, bool]:
    """Return the vertex of a lane in a layer, and whether it is new."""
    lane = net.lanes.setdefault(key, {})
    if at in lane:
        return lane[at], False
    lane[at] = len(net.layer)
    net.layer.append(at)
    net.key.append((*key, at))
    return lane[at], True


def _fan_out(net: Net, key: tuple[str, int], first: int, target: int, source: int | None) -> None:
    """Carry a lane that starts in layer `first` up to the target; parts that exist are shared."""
    before, at = target, net.layer[target] - 1
    while at >= first:
        vertex, fresh = _lane(net, key, at)
        net.hops[at].append((vertex, before))
        if not fresh:
            return
        before, at = vertex, at - 1
    if source is not None:
        net.hops[at].append((source, before))


def _fan_in(net: Net, key: tuple[str, int], last: int, source: int, target: int | None) -> None:
    """Carry a lane from the source to its end in layer `last`; parts that exist are shared."""
    before, at = source, net.layer[source] + 1
    while at <= last:
        vertex, fresh = _lane(net, key, at)
        net.hops[at - 1].append((before, vertex))
        if not fresh:
            return
        before, at = vertex, at + 1
    if target is not None:
        net.hops[at - 1].append((before, target))


def _place_bus(net: Net, at: int, bus: Bus) -> None:
    layer = net.layer
    bus.gap = max(layer[u] for u in bus.sources)
    for u in bus.sources:
        if layer[u] == bus.gap:
            bus.entries.append(u)
        else:
            _fan_in(net, ("in", at), bus.gap, u, None)
    for v in bus.targets:
        if layer[v] == bus.gap + 1:
            bus.exits.append(v)
        else:
            _fan_out(net, ("out", at), bus.gap + 1, v, None)
    if ("in", at) in net.lanes:
        bus.entries.append(net.lanes["in", at][bus.gap])
    if ("out", at) in net.lanes:
        bus.exits.append(net.lanes["out", at][bus.gap + 1])
    for u in bus.sources:
        for v in bus.targets:
            net.carrier[u, v] = ("bus", at)


def chain(net: Net, edge: tuple[int, int]) -> tuple[list[int], int | None]:
    """List the vertices that an edge runs through, ends included, and the bus that joins them."""
    u, v = edge
    kind, owner = net.carrier.get(edge, ("", 0))
    if not kind:
        return [u, v], None
    first, last = net.layer[u] + 1, net.layer[v]
    if kind != "bus":
        lane = net.lanes[kind, owner]
        return [u, *(lane[at] for at in range(first, last)), v], None
    gap = net.buses[owner].gap
    into, out = net.lanes.get(("in", owner), {}), net.lanes.get(("out", owner), {})
    before = [into[at] for at in range(first, gap + 1)]
    after = [out[at] for at in range(gap + 1, last)]
    return [u, *before, *after, v], owner
