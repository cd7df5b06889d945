"""Layers of a graph and the order of vertices within them (layered layout, phases one and two).

Assigns layers by longest path, breaks long edges into lanes, bundles complete bipartite groups into buses,
and sweeps until few edges cross. Deterministic: sorts are stable and no set is iterated. Names, widths and
states play no part.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import permutations
from operator import add

from msgspec import Struct, field

Adjacency = Sequence[Sequence[int]]


class Bus(Struct, kw_only=True):
    """Several steps that all feed the same several steps, drawn as one line with brackets."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    gap: int = 0
    entries: list[int] = field(default_factory=list[int])
    """Vertices on the left side of its gap."""
    exits: list[int] = field(default_factory=list[int])
    """Vertices on the right side of its gap."""


class LayeredGraph(Struct, kw_only=True):
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


def extract_buses(targets_of: list[list[int]], sources_of: list[list[int]]) -> list[Bus]:
    """Take complete bipartite groups (2 × 2 and more) out of the edges and return them."""
    buses: list[Bus] = []
    for turned in (False, True):
        near, far = (sources_of, targets_of) if not turned else (targets_of, sources_of)
        groups: dict[tuple[int, ...], list[int]] = {}
        for v, row in enumerate(near):
            if len(row) > 1:
                groups.setdefault(tuple(sorted(row)), []).append(v)
        for row, members in groups.items():
            if len(members) > 1:
                _remove_bundled_edges(near, far, row, members)
                sources, targets = (tuple(members), row) if turned else (row, tuple(members))
                buses.append(Bus(sources=sources, targets=targets))
    return buses


def _remove_bundled_edges(
    near: list[list[int]], far: list[list[int]], row: tuple[int, ...], members: list[int]
) -> None:
    bundled = set(members)
    for v in members:
        near[v] = []
    for u in row:
        far[u] = [v for v in far[u] if v not in bundled]


def assign_layers(
    needs: Adjacency,
    feeds: Adjacency,
    order: Sequence[int],
    floor: Sequence[int] | None = None,
    *,
    is_eager: bool = False,
) -> list[int]:
    """Give each step its layer: longest path, then pulled right towards its successors.

    `floor` has the layers of an earlier layout, -1 for new steps: then no step is pulled, and old ones move
    only where a new predecessor pushes them. `is_eager` pulls steps with as many in-edges as out-edges, too.
    """
    layer = [0] * len(needs) if floor is None else [max(0, old_layer) for old_layer in floor]
    for v in order:
        for p in needs[v]:
            if layer[p] >= layer[v]:
                layer[v] = layer[p] + 1
    if floor is None:
        for _ in range(3):
            if not _pull_right(needs, feeds, order, layer, 0 if is_eager else 1):
                break
    return layer


def _pull_right(
    needs: Adjacency, feeds: Adjacency, order: Sequence[int], layer: list[int], more: int
) -> bool:
    moved = False
    for v in reversed(order):
        if feeds[v] and len(feeds[v]) >= len(needs[v]) + more:
            first = min(layer[w] for w in feeds[v]) - 1
            moved |= first > layer[v]
            layer[v] = max(layer[v], first)
    return moved


def estimate_lanes(layer: Sequence[int], feeds: Adjacency) -> int:
    """Estimate how many lanes the layers lead to: those that each step needs for its farthest successor."""
    return sum(max(layer[v] for v in row) - layer[u] - 1 for u, row in enumerate(feeds) if row)


def build_layered_graph(layer: list[int], targets_of: Adjacency, buses: list[Bus]) -> LayeredGraph:
    """Break long edges into lanes and give every bus its gap."""
    deep = max(layer, default=0)
    net = LayeredGraph(
        steps=len(layer),
        layer=list(layer),
        key=[("step", v, index) for v, index in enumerate(layer)],
        hops=[[] for _ in range(deep)],
        buses=buses,
        lanes={},
        carrier={},
    )
    _add_edges(net, targets_of)
    for index, bus in enumerate(buses):
        _place_bus(net, index, bus)
    return net


def _add_edges(net: LayeredGraph, targets_of: Adjacency) -> None:
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


def _lane_vertex(net: LayeredGraph, key: tuple[str, int], layer: int) -> tuple[int, bool]:
    lane = net.lanes.setdefault(key, {})
    if layer in lane:
        return lane[layer], False
    lane[layer] = len(net.layer)
    net.layer.append(layer)
    net.key.append((*key, layer))
    return lane[layer], True


def _fan_out(net: LayeredGraph, key: tuple[str, int], first: int, target: int, source: int | None) -> None:
    """Carry a lane that starts in layer `first` up to the target; parts that exist are shared."""
    before, layer = target, net.layer[target] - 1
    while layer >= first:
        vertex, fresh = _lane_vertex(net, key, layer)
        net.hops[layer].append((vertex, before))
        if not fresh:
            return
        before, layer = vertex, layer - 1
    if source is not None:
        net.hops[layer].append((source, before))


def _fan_in(net: LayeredGraph, key: tuple[str, int], last: int, source: int, target: int | None) -> None:
    """Carry a lane from the source to its end in layer `last`; parts that exist are shared."""
    before, layer = source, net.layer[source] + 1
    while layer <= last:
        vertex, fresh = _lane_vertex(net, key, layer)
        net.hops[layer - 1].append((before, vertex))
        if not fresh:
            return
        before, layer = vertex, layer + 1
    if target is not None:
        net.hops[layer - 1].append((before, target))


def _place_bus(net: LayeredGraph, owner: int, bus: Bus) -> None:
    layer = net.layer
    bus.gap = max(layer[u] for u in bus.sources)
    for u in bus.sources:
        if layer[u] == bus.gap:
            bus.entries.append(u)
        else:
            _fan_in(net, ("in", owner), bus.gap, u, None)
    for v in bus.targets:
        if layer[v] == bus.gap + 1:
            bus.exits.append(v)
        else:
            _fan_out(net, ("out", owner), bus.gap + 1, v, None)
    if ("in", owner) in net.lanes:
        bus.entries.append(net.lanes["in", owner][bus.gap])
    if ("out", owner) in net.lanes:
        bus.exits.append(net.lanes["out", owner][bus.gap + 1])
    for u in bus.sources:
        for v in bus.targets:
            net.carrier[u, v] = ("bus", owner)


def edge_path(net: LayeredGraph, edge: tuple[int, int]) -> tuple[list[int], int | None]:
    """List the vertices that an edge runs through, ends included, and the bus that joins them."""
    u, v = edge
    kind, owner = net.carrier.get(edge, ("", 0))
    if not kind:
        return [u, v], None
    first, last = net.layer[u] + 1, net.layer[v]
    if kind != "bus":
        lane = net.lanes[kind, owner]
        return [u, *(lane[layer] for layer in range(first, last)), v], None
    gap = net.buses[owner].gap
    into, out = net.lanes.get(("in", owner), {}), net.lanes.get(("out", owner), {})
    before = [into[layer] for layer in range(first, gap + 1)]
    after = [out[layer] for layer in range(gap + 1, last)]
    return [u, *before, *after, v], owner


_MOST_BUS_PAIRS = 256
"""A bus of more pairs than this is thinned out for the sweeps."""
_MOST_SWITCHED = 400
"""Vertices up to which neighbours are switched to a fixed point."""
_UNCOUNTED_FROM, _FEWER_SWEEPS_FROM = 500, 2000
"""Vertices from which the first sweeps are not counted, and from which there are fewer of them."""
_LONG_SWEEPS, _SHORT_SWEEPS = "221122211222", "112222"
"""The sweeps, each with 2 or with 1 side of a vertex. Those with one find a way out where those with both
have settled; those with both make something of it."""
_CROSSING_SLACK = 1
"""How many more hops may cross after a move: routing may need fewer detours in return."""
ComponentOrders = list[list[list[int]]]
"""Components, each with the vertices of its layers from above to below."""


class LayerNeighbors(Struct, kw_only=True):
    """Neighbours of each vertex in the layer before (`ups`) and after (`downs`)."""

    ups: list[list[int]]
    downs: list[list[int]]


class SweepPlan(Struct, frozen=True, kw_only=True):
    """One way to sweep."""

    forward: bool = True
    depth_first: bool = True
    mirrored: bool = False
    """Start with the last step of the file."""


SWEEP_PLANS = tuple(
    SweepPlan(forward=forward, depth_first=depth_first, mirrored=mirrored)
    for forward in (True, False)
    for mirrored in (False, True)
    for depth_first in (True, False)
)
"""In the order of their worth: the first half finds most of what all find."""


def layer_neighbors(net: LayeredGraph) -> LayerNeighbors:
    """Collect who is joined to whom across each gap, buses as pairs."""
    neighbors = LayerNeighbors(ups=[[] for _ in net.layer], downs=[[] for _ in net.layer])
    for hops in net.hops:
        for u, v in hops:
            neighbors.downs[u].append(v)
            neighbors.ups[v].append(u)
    for bus in net.buses:
        for u, v in _bus_pairs(bus.entries, bus.exits):
            neighbors.downs[u].append(v)
            neighbors.ups[v].append(u)
    return neighbors


def _bus_pairs(entries: list[int], exits: list[int]) -> list[tuple[int, int]]:
    if len(entries) * len(exits) <= _MOST_BUS_PAIRS:
        return [(u, v) for u in entries for v in exits]
    count = max(len(entries), len(exits))
    return [(entries[i * len(entries) // count], exits[i * len(exits) // count]) for i in range(count)]


def connected_components(net: LayeredGraph, joined: LayerNeighbors) -> list[list[int]]:
    """Split the vertices into what hangs together, by the first step of each."""
    seen = [False] * len(net.layer)
    components: list[list[int]] = []
    for start in range(net.steps):
        if not seen[start]:
            seen[start] = True
            group = [start]
            for v in group:
                for w in (*joined.ups[v], *joined.downs[v]):
                    if not seen[w]:
                        seen[w] = True
                        group.append(w)
            components.append(group)
    return components


def order_component(
    net: LayeredGraph, joined: LayerNeighbors, group: Sequence[int], plan: SweepPlan
) -> list[list[int]]:
    """Order one component: start, two-sided sweeps with one-sided ones among them, best of all kept."""
    start = (
        _depth_first(net, joined, group, plan) if plan.depth_first else sorted(group, reverse=plan.mirrored)
    )
    rows: list[list[int]] = [[] for _ in range(len(net.hops) + 1)]
    for v in start:
        rows[net.layer[v]].append(v)
    best = _best_sweep(rows, joined, plan, len(net.layer))
    if len(net.layer) <= _MOST_SWITCHED:
        _switch_neighbors(best, joined, len(net.layer))
    return best


def _depth_first(
    net: LayeredGraph, joined: LayerNeighbors, group: Sequence[int], plan: SweepPlan
) -> list[int]:
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


def _best_sweep(rows: list[list[int]], joined: LayerNeighbors, plan: SweepPlan, size: int) -> list[list[int]]:
    place = [0.0] * size
    value = [0.0] * size
    for row in rows:
        _number_vertices(row, place)
    index = [0] * size
    turns, counted = (
        (_LONG_SWEEPS, 0)
        if size < _UNCOUNTED_FROM
        else (_LONG_SWEEPS, 5)
        if size < _FEWER_SWEEPS_FROM
        else (_SHORT_SWEEPS, 5)
    )
    best, fewest = rows, None if counted else count_crossings(rows, joined, index)
    both = [up + down for up, down in zip(joined.ups, joined.downs, strict=True)]
    for turn, sides in enumerate(turns):
        if fewest == 0:
            break
        rows = [list(row) for row in rows]
        forward = (turn % 2 == 0) == plan.forward
        near = both if sides == "2" else joined.ups if forward else joined.downs
        _sweep(rows, near, (place, value), forward=forward)
        if turn >= counted:
            count = count_crossings(rows, joined, index, fewest)
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
                value[v] = _sum_in_order([place[w] for w in around]) / count if count else place[v]
        row.sort(key=value.__getitem__)
        _number_vertices(row, place)


def _sum_in_order(places: list[float]) -> float:
    """Add from left to right: `sum` rounds otherwise from Python 3.12 on, and another order came of it."""
    return reduce(add, places)


def _number_vertices(row: list[int], place: list[float]) -> None:
    size, position = len(row), 0.5
    for v in row:
        place[v] = position / size
        position += 1.0


def count_crossings(
    rows: Sequence[Sequence[int]], joined: LayerNeighbors, index: list[int], most: int | None = None
) -> int:
    """Count the pairs of hops that cross."""
    for row in rows:
        for position, v in enumerate(row):
            index[v] = position
    count = 0
    for row in rows[:-1]:
        count += _count_crossings_below(row, joined.downs, index)
        if most is not None and count >= most:
            break
    return count


def _count_crossings_below(row: Sequence[int], downs: list[list[int]], index: list[int]) -> int:
    count = 0
    ends: list[int] = []
    last = -1
    for v in row:
        targets = downs[v]
        for position in (
            sorted([index[w] for w in targets]) if len(targets) > 1 else [index[w] for w in targets]
        ):
            if position >= last:
                ends.append(position)
                last = position
            else:
                before = bisect_right(ends, position)
                count += len(ends) - before
                ends.insert(before, position)
    return count


def _switch_neighbors(rows: list[list[int]], joined: LayerNeighbors, size: int) -> None:
    index = [0] * size
    for row in rows:
        for position, v in enumerate(row):
            index[v] = position
    for _ in range(8):
        if sum(_switch_row(row, joined, index) for row in rows) == 0:
            return


def _switch_row(row: list[int], joined: LayerNeighbors, index: list[int]) -> bool:
    changed = False
    for position in range(len(row) - 1):
        a, b = row[position], row[position + 1]
        gain = 0
        for side in (joined.ups, joined.downs):
            first, second = [index[w] for w in side[a]], [index[w] for w in side[b]]
            gain += _count_crossed_pairs(first, second) - _count_crossed_pairs(second, first)
        if gain > 0:
            row[position], row[position + 1] = b, a
            index[a], index[b] = position + 1, position
            changed = True
    return changed


def _count_crossed_pairs(first: list[int], second: list[int]) -> int:
    if not first or not second:
        return 0
    second = sorted(second)
    return sum([_ends_below(second, end) for end in first])


def _ends_below(ends: list[int], position: int) -> int:
    count = 0
    for end in ends:
        if end >= position:
            break
        count += 1
    return count


def vertex_moves(parts: ComponentOrders, joined: LayerNeighbors) -> Iterator[ComponentOrders]:
    """Yield orders in which one vertex stands elsewhere in its layer and hardly more hops cross."""
    index = [0] * len(joined.ups)
    most = sum(count_crossings(rows, joined, index) for rows in parts) + _CROSSING_SLACK
    for part, rows in enumerate(parts):
        for layer, row in enumerate(rows):
            for source, target in permutations(range(len(row)), 2):
                if source == target + 1:
                    continue  # neighbours change places in either direction
                moved = [[list(vertices) for vertices in other] for other in parts]
                moved[part][layer].insert(target, moved[part][layer].pop(source))
                if sum(count_crossings(component, joined, index) for component in moved) <= most:
                    yield moved


def order_from_previous(
    net: LayeredGraph, joined: LayerNeighbors, rows: dict[tuple[str, int, int], float]
) -> list[list[int]]:
    """Order the layers as before; new vertices go to the mean row of their neighbours."""
    row = [rows.get(key) for key in net.key]
    order = sorted(range(len(net.layer)), key=net.layer.__getitem__)
    for side in (joined.ups, joined.downs):
        for v in order if side is joined.ups else reversed(order):
            neighbor_rows = [neighbor_row for w in side[v] if (neighbor_row := row[w]) is not None]
            if row[v] is None and neighbor_rows:
                row[v] = _sum_in_order(neighbor_rows) / len(neighbor_rows)
    layers: list[list[int]] = [[] for _ in range(len(net.hops) + 1)]
    for v in range(len(net.layer)):
        layers[net.layer[v]].append(v)
    far = max((known_row for known_row in row if known_row is not None), default=0.0) + 1
    for layer in layers:
        layer.sort(key=lambda v: (far if row[v] is None else row[v] or 0.0, v))
    return layers
