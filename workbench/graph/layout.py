"""The layout of a graph: layer and row of every step, routed lines of every gap.

Runs the phases, assigns rows, compares several layouts by cost and keeps the cheapest. The same structure
always gives the same layout, so states are never imported here.
"""

# Small graphs with crossings are improved by weighing finished layouts (up to 24 steps, 40 layouts): a
# line's cost is only known once it is routed. One-sided sweeps come early, because two-sided ones settle in
# what they started with.

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import ceil, floor
from statistics import median

from msgspec import Struct

from workbench.graph import edge_routes
from workbench.graph import layers as graph_layers
from workbench.graph.edge_routes import BusJunction, Channel, Gap, RowKey, RowKeys
from workbench.graph.layers import LayeredGraph, LayerNeighbors
from workbench.graph.model import Graph, implied_edges, topological_order

_COMPARED_UP_TO = 120
"""Steps up to which several layouts are compared."""
_ALL_PLANS_UP_TO = 40
"""Steps up to which all plans are carried through; above, only the two with the fewest crossings."""
_IMPROVED_UP_TO, _MOST_LAYOUTS = 24, 40
"""Steps up to which a layout with crossings is improved, and how many other ones are made for it."""
_MOST_MOVES = 400
"""Moves from one order that are thought of at most."""
_LANES_PER_STEP = 3
"""Lanes a step from which it is better to have fewer lanes than early steps on the left."""


class GraphLayout(Struct, frozen=True, kw_only=True):
    """Where everything is, in layers and rows; widths do not matter yet."""

    graph: Graph
    drawn: tuple[tuple[int, int], ...]
    """The edges that have a line."""
    hidden: tuple[tuple[int, int], ...]
    """The edges that are implied by others and have none."""
    net: LayeredGraph
    row: tuple[int, ...]
    """Of each vertex."""
    gaps: tuple[Gap, ...]
    height: int
    """Rows in use."""

    @property
    def layers(self) -> int:
        return len(self.gaps) + 1

    def seed(self) -> dict[tuple[str, str, int], int]:
        """Return the row of every vertex by a name that outlives a change of the structure."""
        return {_vertex_name(self.graph, self.net, key): self.row[v] for v, key in enumerate(self.net.key)}

    def crossed(self) -> int:
        """Count the cells at which two lines cross."""
        return sum(edge_routes.gap_crossings(gap) for gap in self.gaps)

    def cost(self) -> int:
        """Weigh crossings, detours, rows and columns; lower is better."""
        private = sum(len(gap.private) for gap in self.gaps)
        return 4 * self.crossed() + 3 * private + 2 * self.height + sum(gap.columns for gap in self.gaps)


def compute_layout(
    graph: Graph, *, show_implied: bool = False, apart: bool = False, before: GraphLayout | None = None
) -> GraphLayout:
    """Lay out a graph.

    `apart` keeps a free row between two trunks of a column, which ASCII needs to be unambiguous. Steps keep
    layer and order of the layout `before`.
    """
    hidden = () if show_implied else tuple(sorted(implied_edges(graph)))
    if before is not None:
        return _layout_from_previous(graph, hidden, before, apart=apart)
    net = _layered_graph(graph, hidden, None)
    joined = graph_layers.layer_neighbors(net)
    groups = graph_layers.connected_components(net, joined)
    tried: list[graph_layers.ComponentOrders] = []
    for plan in _sweep_plans(len(graph.steps)):
        parts = [graph_layers.order_component(net, joined, group, plan) for group in groups]
        if parts not in tried:
            tried.append(parts)
    if len(graph.steps) > _ALL_PLANS_UP_TO:
        index = [0] * len(net.layer)
        tried.sort(key=lambda parts: sum(graph_layers.count_crossings(rows, joined, index) for rows in parts))
        tried = tried[:2]

    def finish(parts: graph_layers.ComponentOrders) -> GraphLayout:
        return _route_layout(graph, hidden, net, _stack_components(parts, joined, net.steps), apart=apart)

    finished = [finish(parts) for parts in tried]
    costs = [layout.cost() for layout in finished] if len(finished) > 1 else [0]
    cheapest = costs.index(min(costs))
    is_small = len(graph.steps) <= _IMPROVED_UP_TO
    return _improve(tried[cheapest], finished[cheapest], finish, joined) if is_small else finished[cheapest]


def _improve(
    parts: graph_layers.ComponentOrders,
    best: GraphLayout,
    finish: Callable[[graph_layers.ComponentOrders], GraphLayout],
    joined: graph_layers.LayerNeighbors,
) -> GraphLayout:
    """Move single vertices within their layers as long as the routed layout gets cheaper; few are tried."""
    cost, remaining, moves = (
        best.cost(),
        _MOST_LAYOUTS,
        islice(graph_layers.vertex_moves(parts, joined), _MOST_MOVES),
    )
    while remaining and best.crossed():
        moved = next(moves, None)
        if moved is None:
            break
        remaining -= 1
        improved = finish(moved)
        if improved.cost() < cost:
            best, cost = improved, improved.cost()
            moves = islice(graph_layers.vertex_moves(moved, joined), _MOST_MOVES)
    return best


def _sweep_plans(steps: int) -> Sequence[graph_layers.SweepPlan]:
    if steps > _COMPARED_UP_TO:
        return graph_layers.SWEEP_PLANS[:1]
    return (
        graph_layers.SWEEP_PLANS
        if steps <= _ALL_PLANS_UP_TO
        else graph_layers.SWEEP_PLANS[: len(graph_layers.SWEEP_PLANS) // 2]
    )


def _layered_graph(
    graph: Graph, hidden: Sequence[tuple[int, int]], floor: Sequence[int] | None
) -> LayeredGraph:
    hidden_edges = frozenset(hidden)
    needs = [[p for p in row if (p, v) not in hidden_edges] for v, row in enumerate(graph.needs)]
    feeds = [[v for v in row if (u, v) not in hidden_edges] for u, row in enumerate(graph.feeds)]
    order = topological_order(needs, feeds)
    layer = graph_layers.assign_layers(needs, feeds, order, floor)
    if (
        floor is None
        and graph_layers.estimate_lanes(layer, feeds) > _LANES_PER_STEP * len(needs) + _COMPARED_UP_TO
    ):
        layer = graph_layers.assign_layers(needs, feeds, order, is_eager=True)
    buses = graph_layers.extract_buses(feeds, needs)
    return graph_layers.build_layered_graph(layer, feeds, buses)


def _stack_components(
    parts: Sequence[Sequence[Sequence[int]]], joined: graph_layers.LayerNeighbors, steps: int
) -> list[int]:
    row = [0] * len(joined.ups)
    top = 0
    for layers in parts:
        placed = assign_rows(layers, joined, steps)
        for v, offset in placed.items():
            row[v] = top + offset
        top += 1 + max(placed.values(), default=-1)
    return row


def _route_layout(
    graph: Graph, hidden: tuple[tuple[int, int], ...], net: LayeredGraph, row: list[int], *, apart: bool
) -> GraphLayout:
    key: list[RowKey] = [float(place) for place in row]
    used = RowKeys(key)
    channels: list[Channel] = []
    layers: list[list[int]] = [[] for _ in range(len(net.hops) + 1)]
    for v, layer in enumerate(net.layer):
        layers[layer].append(v)
    junctions = _bus_junctions(net)
    for gap, hops in enumerate(net.hops):
        channel = Channel(key, used, net.steps)
        channel.route(hops, junctions.get(gap, ()), layers[gap + 1])
        channels.append(channel)
    used_rows = set(key)
    for channel in channels:
        used_rows.update(channel.on_row)
    keys = sorted(used_rows)
    rank = {key: number for number, key in enumerate(keys)}
    gaps = tuple(edge_routes.place_trunks(channel, rank, apart=apart) for channel in channels)
    hidden_edges = frozenset(hidden)
    return GraphLayout(
        graph=graph,
        drawn=tuple(edge for edge in graph.edges() if edge not in hidden_edges),
        hidden=hidden,
        net=net,
        row=tuple(rank[row_key] for row_key in key),
        gaps=gaps,
        height=len(keys),
    )


def _bus_junctions(net: LayeredGraph) -> dict[int, list[BusJunction]]:
    junctions: dict[int, list[BusJunction]] = {}
    for index, bus in enumerate(net.buses):
        junction = BusJunction(bus=index, entries=tuple(bus.entries), exits=tuple(bus.exits))
        junctions.setdefault(bus.gap, []).append(junction)
    return junctions


def _vertex_name(graph: Graph, net: LayeredGraph, key: tuple[str, int, int]) -> tuple[str, str, int]:
    """Name a vertex by ids, which outlive a change of the structure."""
    kind, owner, layer = key
    if kind not in ("in", "out"):
        return kind, graph.steps[owner].id, layer
    bus = net.buses[owner]
    ends = [graph.steps[v].id for v in (*bus.sources[:1], *bus.targets[:1])]
    return kind, "\0".join(ends), layer


def _layout_from_previous(
    graph: Graph, hidden: tuple[tuple[int, int], ...], before: GraphLayout, *, apart: bool
) -> GraphLayout:
    seed = before.seed()
    old = {name: layer for kind, name, layer in seed if kind == "step"}
    net = _layered_graph(graph, hidden, [old.get(step.id, -1) for step in graph.steps])
    joined = graph_layers.layer_neighbors(net)
    known_rows: dict[tuple[str, int, int], float] = {}
    for key in net.key:
        old_row = _previous_row(_vertex_name(graph, net, key), seed, old)
        if old_row is not None:
            known_rows[key] = old_row
    layers = graph_layers.order_from_previous(net, joined, known_rows)
    placed = assign_rows(layers, joined, net.steps)
    row = [placed[v] for v in range(len(net.layer))]
    return _route_layout(graph, hidden, net, row, apart=apart)


def _previous_row(
    key: tuple[str, str, int], seed: Mapping[tuple[str, str, int], float], old: Mapping[str, int]
) -> float | None:
    kind, name, _ = key
    return seed.get((kind, name, old[name])) if kind == "step" and name in old else seed.get(key)


_LANE_WEIGHT, _CHAIN_WEIGHT, _PLAIN_WEIGHT = 8.0, 3.5, 1.0
_FEWER_PASSES_FROM = 2000
"""Vertices from which the last pass alone has to do: more of them were tried and made no line shorter."""


def assign_rows(layers: Sequence[Sequence[int]], joined: LayerNeighbors, steps: int) -> dict[int, int]:
    """Give each vertex of a component a row, 0 the topmost in use."""
    row = [0] * len(joined.ups)
    for layer in layers:
        for position, v in enumerate(layer):
            row[v] = position
    back, forth = layers[::-1], layers
    for _ in range(3 if len(row) < _FEWER_PASSES_FROM else 0):
        moved = _alignment_pass(back, joined.downs, joined.ups, row, steps)
        if not _alignment_pass(forth, joined.ups, joined.downs, row, steps) and not moved:
            break
    _alignment_pass(back, joined.downs, joined.ups, row, steps)
    _straighten(forth, joined, row)
    top = min((row[v] for layer in layers for v in layer), default=0)
    return {v: row[v] - top for layer in layers for v in layer}


def _alignment_pass(
    layers: Sequence[Sequence[int]],
    near: list[list[int]],
    far: list[list[int]],
    row: list[int],
    steps: int,
) -> bool:
    moved = False
    for layer in layers:
        targets: list[float] = []
        weights: list[float] = []
        for v in layer:
            around = near[v]
            if len(around) == 1:
                u = around[0]
                targets.append(row[u])
                weights.append(
                    _LANE_WEIGHT
                    if v >= steps and u >= steps
                    else _CHAIN_WEIGHT
                    if len(far[u]) == 1
                    else _PLAIN_WEIGHT
                )
            else:
                targets.append(median(row[w] for w in around) if around else row[v])
                weights.append(_PLAIN_WEIGHT)
        for v, new_row in zip(layer, _uncontested_rows(targets) or fit_column(targets, weights), strict=True):
            moved |= row[v] != new_row
            row[v] = new_row
    return moved


def _uncontested_rows(targets: list[float]) -> list[int] | None:
    last = targets[0] - 1 if targets else 0
    for target in targets:
        if target <= last or target % 1:
            return None
        last = target
    return [int(target) for target in targets]


def fit_column(targets: Sequence[float], weights: Sequence[float]) -> list[int]:
    """Place a column of vertices in order, a row apart at least, as near to their weighted targets as can be.

    A vertex that gets its own way is rounded half down, a group half up.
    """
    means: list[float] = []
    heavy: list[float] = []
    counts: list[int] = []
    for index, target in enumerate(targets):
        mean, weight, count = target - index, weights[index], 1
        while means and means[-1] >= mean:
            more = heavy.pop()
            mean = (means.pop() * more + mean * weight) / (more + weight)
            weight += more
            count += counts.pop()
        means.append(mean)
        heavy.append(weight)
        counts.append(count)
    return _round_blocks(means, counts)


def _round_blocks(means: list[float], counts: list[int]) -> list[int]:
    rows: list[int] = []
    free = -(10**9)
    for mean, count in zip(means, counts, strict=True):
        first = (ceil(mean - 0.5) if count == 1 else floor(mean + 0.5)) + len(rows)
        first = max(first, free)
        free = first + count
        rows.extend(range(first, free))
    return rows


def _straighten(layers: Sequence[Sequence[int]], joined: LayerNeighbors, row: list[int]) -> None:
    """Move the steps of a straight chain to the row of the one before where nothing is in the way."""
    for layer in layers:
        for index, v in enumerate(layer):
            before = joined.ups[v]
            if len(before) != 1 or len(joined.downs[before[0]]) != 1:
                continue
            target_row = row[before[0]]
            above = row[layer[index - 1]] if index else target_row - 1
            below = row[layer[index + 1]] if index + 1 < len(layer) else target_row + 1
            if above < target_row < below:
                row[v] = target_row
