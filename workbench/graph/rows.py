"""The row of each vertex: lines as straight as the order allows.

Owns the weighted isotonic regression (pool adjacent violators) and its rounding to whole rows, which
never lets two vertices of a layer meet.
"""

from collections.abc import Sequence
from math import ceil, floor

from workbench.graph.order import Links

_LANE, _CHAIN, _PLAIN = 8.0, 3.5, 1.0
_MANY = 2000
"""Vertices from which the last pass alone has to do: more of them were tried and made no line shorter."""


def assign(layers: Sequence[Sequence[int]], joined: Links, steps: int) -> dict[int, int]:
    """Give each vertex of a component a row, 0 the topmost in use.

    Args:
        layers: The vertices of each layer from above to below.
        joined: Who is joined to whom.
        steps: Vertices from this number on are lanes.
    """
    row = [0] * len(joined.ups)
    for layer in layers:
        for at, v in enumerate(layer):
            row[v] = at
    back, forth = layers[::-1], layers
    for _ in range(3 if len(row) < _MANY else 0):
        moved = _pass(back, joined.downs, joined.ups, row, steps)
        if not _pass(forth, joined.ups, joined.downs, row, steps) and not moved:
            break
    _pass(back, joined.downs, joined.ups, row, steps)
    _straighten(forth, joined, row)
    top = min((row[v] for layer in layers for v in layer), default=0)
    return {v: row[v] - top for layer in layers for v in layer}


def _pass(
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
                weights.append(_LANE if v >= steps and u >= steps else _CHAIN if len(far[u]) == 1 else _PLAIN)
            else:
                targets.append(_median([row[w] for w in around]) if around else row[v])
                weights.append(_PLAIN)
        for v, at in zip(layer, _settled(targets) or fit(targets, weights), strict=True):
            moved |= row[v] != at
            row[v] = at
    return moved


def _settled(targets: list[float]) -> list[int] | None:
    """Return the targets if they are rows that nobody else wants."""
    last = targets[0] - 1 if targets else 0
    for at in targets:
        if at <= last or at % 1:
            return None
        last = at
    return [int(at) for at in targets]


def _median(rows: list[int]) -> float:
    rows.sort()
    half = len(rows) // 2
    return rows[half] if len(rows) % 2 else (rows[half - 1] + rows[half]) / 2


def fit(targets: Sequence[float], weights: Sequence[float]) -> list[int]:
    """Place a column of vertices in order, at least one row apart, as near to their targets as can be.

    Args:
        targets: The wished row of each.
        weights: How much each insists.

    Returns:
        Strictly increasing rows. A vertex that gets its own way is rounded half down, a group half up.
    """
    means: list[float] = []
    heavy: list[float] = []
    counts: list[int] = []
    for at, target in enumerate(targets):
        mean, weight, count = target - at, weights[at], 1
        while means and means[-1] >= mean:
            more = heavy.pop()
            mean = (means.pop() * more + mean * weight) / (more + weight)
            weight += more
            count += counts.pop()
        means.append(mean)
        heavy.append(weight)
        counts.append(count)
    return _rounded(means, counts)


def _rounded(means: list[float], counts: list[int]) -> list[int]:
    rows: list[int] = []
    free = -(10**9)
    for mean, count in zip(means, counts, strict=True):
        first = (ceil(mean - 0.5) if count == 1 else floor(mean + 0.5)) + len(rows)
        first = max(first, free)
        free = first + count
        rows.extend(range(first, free))
    return rows


def _straighten(layers: Sequence[Sequence[int]], joined: Links, row: list[int]) -> None:
    """Move the steps of a straight chain to the row of the one before where nothing is in the way."""
    for layer in layers:
        for at, v in enumerate(layer):
            before = joined.ups[v]
            if len(before) != 1 or len(joined.downs[before[0]]) != 1:
                continue
            wished = row[before[0]]
            above = row[layer[at - 1]] if at else wished - 1
            below = row[layer[at + 1]] if at + 1 < len(layer) else wished + 1
            if above < wished < below:
                row[v] = wished
