"""The layout of a graph: every step its layer and row, every gap its routed lines.

Owns the order of the phases and the choice among several layouts. It must never import a state: the
same structure always gives the same layout.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from workbench.graph import columns, levels, order, rows
from workbench.graph.channel import Channel, Junction, Key, RowKeys
from workbench.graph.columns import Gap
from workbench.graph.levels import Net
from workbench.graph.model import Graph, implied, topological

_TRIED = 120
"""Steps up to which several layouts are compared."""
_FEW = 40
"""Steps up to which all plans are carried through; above, only the two with the fewest crossings."""
_SMALL, _MOVES = 24, 40
"""Steps up to which a layout with crossings is improved, and how many other ones are made for it."""
_LOOKED_AT = 400
"""Moves from one order that are thought of at most."""
_LANES = 3
"""Lanes a step from which it is better to have fewer lanes than early steps on the left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where everything is, in layers and rows; widths do not matter yet."""

    graph: Graph
    drawn: tuple[tuple[int, int], ...]
    """The edges that have a line."""
    hidden: tuple[tuple[int, int], ...]
    """The edges that are implied by others and have none."""
    net: Net
    row: tuple[int, ...]
    """Of each vertex."""
    gaps: tuple[Gap, ...]
    height: int
    """Rows in use."""

    @property
    def layers(self) -> int:
        """The number of layers."""
        return len(self.gaps) + 1

    def seed(self) -> dict[tuple[str, str, int], int]:
        """Return the row of every vertex by a name that outlives a change of the structure."""
        return {_named(self.graph, self.net, key): self.row[v] for v, key in enumerate(self.net.key)}

    def crossed(self) -> int:
        """Count the cells at which two lines cross."""
        return sum(columns.crossings(gap) for gap in self.gaps)

    def cost(self) -> int:
        """Weigh crossings, detours, rows and columns; lower is better."""
        private = sum(len(gap.private) for gap in self.gaps)
        return 4 * self.crossed() + 3 * private + 2 * self.height + sum(gap.columns for gap in self.gaps)


def arrange(
    graph: Graph, *, show_implied: bool = False, apart: bool = False, before: Layout | None = None
) -> Layout:
    """Lay out a graph.

    Args:
        graph: What to lay out.
        show_implied: Draw edges that others imply.
        apart: Keep a free row between two trunks of a column, which ASCII needs to be unambiguous.
        before: The layout of the structure before a change; steps with the same id keep their layer
            and order.
    """
    hidden = () if show_implied else tuple(sorted(implied(graph)))
    if before is not None:
        return _seeded(graph, hidden, before, apart=apart)
    net = _net(graph, hidden, None)
    joined = order.links(net)
    groups = order.components(net, joined)
    tried: list[order.Parts] = []
    for plan in _plans(len(graph.steps)):
        parts = [order.arrange(net, joined, group, plan) for group in groups]
        if parts not in tried:
            tried.append(parts)
    if len(graph.steps) > _FEW:
        index = [0] * len(net.layer)
        tried.sort(key=lambda parts: sum(order.crossings(rows, joined, index) for rows in parts))
        tried = tried[:2]

    def finish(parts: order.Parts) -> Layout:
        return _finish(graph, hidden, net, _stack(parts, joined, net.steps), apart=apart)

    found = [finish(parts) for parts in tried]
    costs = [layout.cost() for layout in found] if len(found) > 1 else [0]
    at = costs.index(min(costs))
    is_small = len(graph.steps) <= _SMALL
    return _improved(tried[at], found[at], finish, joined) if is_small else found[at]


def _improved(
    parts: order.Parts, best: Layout, finish: Callable[[order.Parts], Layout], joined: order.Links
) -> Layout:
    """Move single vertices within their layers as long as the whole gets cheaper.

    What a line costs is only known once it is routed, so finished layouts are weighed, and not too many.
    """
    cost, left, moves = best.cost(), _MOVES, islice(order.moves(parts, joined), _LOOKED_AT)
    while left and best.crossed():
        moved = next(moves, None)
        if moved is None:
            break
        left -= 1
        found = finish(moved)
        if found.cost() < cost:
            best, cost = found, found.cost()
            moves = islice(order.moves(moved, joined), _LOOKED_AT)
    return best


def _plans(steps: int) -> Sequence[order.Plan]:
    if steps > _TRIED:
        return order.PLANS[:1]
    return order.PLANS if steps <= _FEW else order.PLANS[: len(order.PLANS) // 2]


def _net(graph: Graph, hidden: Sequence[tuple[int, int]], floor: Sequence[int] | None) -> Net:
    gone = frozenset(hidden)
    needs = [[p for p in row if (p, v) not in gone] for v, row in enumerate(graph.needs)]
    feeds = [[v for v in row if (u, v) not in gone] for u, row in enumerate(graph.feeds)]
    found = topological(needs, feeds)
    layer = levels.layers(needs, feeds, found, floor)
    if floor is None and levels.lanes_needed(layer, feeds) > _LANES * len(needs) + _TRIED:
        layer = levels.layers(needs, feeds, found, is_eager=True)
    buses = levels.bundles(feeds, needs)
    return levels.layered(layer, feeds, buses)


def _stack(parts: Sequence[Sequence[Sequence[int]]], joined: order.Links, steps: int) -> list[int]:
    """Put the components below one another."""
    row = [0] * len(joined.ups)
    top = 0
    for layers in parts:
        placed = rows.assign(layers, joined, steps)
        for v, at in placed.items():
            row[v] = top + at
        top += 1 + max(placed.values(), default=-1)
    return row


def _finish(
    graph: Graph, hidden: tuple[tuple[int, int], ...], net: Net, row: list[int], *, apart: bool
) -> Layout:
    key: list[Key] = [float(at) for at in row]
    used = RowKeys(key)
    channels: list[Channel] = []
    layers: list[list[int]] = [[] for _ in range(len(net.hops) + 1)]
    for v, layer in enumerate(net.layer):
        layers[layer].append(v)
    junctions = _junctions(net)
    for at, hops in enumerate(net.hops):
        channel = Channel(key, used, net.steps)
        channel.route(hops, junctions.get(at, ()), layers[at + 1])
        channels.append(channel)
    used_rows = set(key)
    for channel in channels:
        used_rows.update(channel.on_row)
    keys = sorted(used_rows)
    rank = {key: at for at, key in enumerate(keys)}
    gaps = tuple(columns.place(channel, rank, apart=apart) for channel in channels)
    gone = frozenset(hidden)
    return Layout(
        graph=graph,
        drawn=tuple(edge for edge in graph.edges() if edge not in gone),
        hidden=hidden,
        net=net,
        row=tuple(rank[at] for at in key),
        gaps=gaps,
        height=len(keys),
    )


def _junctions(net: Net) -> dict[int, list[Junction]]:
    found: dict[int, list[Junction]] = {}
    for at, bus in enumerate(net.buses):
        junction = Junction(bus=at, entries=tuple(bus.entries), exits=tuple(bus.exits))
        found.setdefault(bus.gap, []).append(junction)
    return found


def _named(graph: Graph, net: Net, key: tuple[str, int, int]) -> tuple[str, str, int]:
    """Name a vertex by ids, which outlive a change of the structure."""
    kind, owner, layer = key
    if kind not in ("in", "out"):
        return kind, graph.steps[owner].id, layer
    bus = net.buses[owner]
    ends = [graph.steps[v].id for v in (*bus.sources[:1], *bus.targets[:1])]
    return kind, "\0".join(ends), layer


def _seeded(graph: Graph, hidden: tuple[tuple[int, int], ...], before: Layout, *, apart: bool) -> Layout:
    seed = before.seed()
    old = {name: layer for kind, name, layer in seed if kind == "step"}
    net = _net(graph, hidden, [old.get(step.id, -1) for step in graph.steps])
    joined = order.links(net)
    known: dict[tuple[str, int, int], float] = {}
    for key in net.key:
        at = _old_row(_named(graph, net, key), seed, old)
        if at is not None:
            known[key] = at
    layers = order.seeded(net, joined, known)
    placed = rows.assign(layers, joined, net.steps)
    row = [placed[v] for v in range(len(net.layer))]
    return _finish(graph, hidden, net, row, apart=apart)


def _old_row(
    key: tuple[str, str, int], seed: Mapping[tuple[str, str, int], float], old: Mapping[str, int]
) -> float | None:
    kind, name, _ = key
    return seed.get((kind, name, old[name])) if kind == "step" and name in old else seed.get(key)
