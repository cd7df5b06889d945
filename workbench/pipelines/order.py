"""The order of steps: who comes before whom, and the circles that make no order.

Pure. Steps are named by their ids; unknown names are somebody else's complaint.
"""

from collections.abc import Iterable, Mapping

Needs = Mapping[str, tuple[str, ...]]


def cycles(needs: Needs) -> list[tuple[str, ...]]:
    """Return each circle once, as the steps along it with the first again at the end."""
    found: list[tuple[str, ...]] = []
    done: set[str] = set()
    for start in needs:
        if start not in done:
            _walk(start, needs, done, found)
    return found


def _walk(start: str, needs: Needs, done: set[str], found: list[tuple[str, ...]]) -> None:
    """Go depth first with a stack of its own, so that a long chain cannot exhaust Python's."""
    path: list[str] = [start]
    on_path = {start}
    waiting = [iter(_known(start, needs))]
    while path:
        step = next(waiting[-1], None)
        if step is None:
            waiting.pop()
            done.add(path[-1])
            on_path.discard(path.pop())
        elif step in on_path:
            circle = [*path[path.index(step) :], step]
            found.append(tuple(reversed(circle)))
        elif step not in done:
            path.append(step)
            on_path.add(step)
            waiting.append(iter(_known(step, needs)))


def _known(step: str, needs: Needs) -> tuple[str, ...]:
    return tuple(need for need in needs[step] if need in needs)


def ancestors(step: str, needs: Needs) -> frozenset[str]:
    """Return every step that ends before this one begins."""
    return _reached(step, needs)


def descendants(step: str, needs: Needs) -> frozenset[str]:
    """Return every step that begins after this one has ended."""
    return _reached(step, fed_by(needs))


def fed_by(needs: Needs) -> dict[str, tuple[str, ...]]:
    """Return, for each step, those that need it."""
    found: dict[str, list[str]] = {name: [] for name in needs}
    for name, before in needs.items():
        for need in before:
            if need in found:
                found[need].append(name)
    return {name: tuple(names) for name, names in found.items()}


def _reached(start: str, edges: Needs) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        step = waiting.pop()
        if step not in found and step in edges:
            found.add(step)
            waiting += edges[step]
    return frozenset(found)


def topological(needs: Needs) -> list[str]:
    """Return the steps so that each stands after all it needs, else in their order; circles are left out."""
    left = {step: len(set(_known(step, needs))) for step in needs}
    feeds: dict[str, list[str]] = {step: [] for step in needs}
    for step in needs:
        for need in set(_known(step, needs)):
            feeds[need].append(step)
    order = [step for step in needs if not left[step]]
    for step in order:
        for later in feeds[step]:
            left[later] -= 1
            if not left[later]:
                order.append(later)
    return order


def waves(needs: Needs) -> list[list[str]]:
    """Return the steps in groups that could run together, in order."""
    level: dict[str, int] = {}
    for step in topological(needs):
        level[step] = 1 + max((level.get(need, 0) for need in _known(step, needs)), default=0)
    return [[s for s in level if level[s] == n] for n in range(1, 1 + max(level.values(), default=0))]


def joined(circle: Iterable[str]) -> str:
    """Write a circle: `a → b → a`."""
    return " → ".join(circle)
