"""Names in place of lines: what a step of a narrow list feeds, where there is no room for its lane.

Owns which steps go without a lane and how their references are written. A reference stands at the step that
a line would start from and names every step that it would lead to, so that nothing of the graph is lost.
"""

from collections.abc import Sequence

from workbench.text.width import cells as width_of


def without_lane(order: Sequence[int], feeds: Sequence[Sequence[int]], most: int) -> frozenset[int]:
    """Choose the steps whose lanes are left out, so that at most so many run beside each other.

    A lane that leads to few steps is left out first, of those the one that is longest, and with a lane all
    that lead to the same steps: the others would only make the list wide.

    Args:
        order: The steps by line.
        feeds: The successors of each step.
        most: Lanes beside each other. One more may be there between two neighbouring lines.
    """
    line = {v: at for at, v in enumerate(order)}
    ends = [max((line[w] for w in row), default=-1) for row in feeds]
    active: list[int] = []
    gone: list[int] = []
    crowded: set[tuple[int, ...]] = set()
    for at, v in enumerate(order):
        active = [u for u in active if ends[u] > at]
        if ends[v] > at + 1:
            active.append(v)
            if tuple(feeds[v]) in crowded:
                active.pop()
                gone.append(v)
        while len(active) > most:
            worst = min((len(feeds[u]), -ends[u], -line[u], u) for u in active)[-1]
            same = [u for u in active if feeds[u] == feeds[worst]]
            active = [u for u in active if feeds[u] != feeds[worst]]
            gone += same
            crowded.add(tuple(feeds[worst]))
    return frozenset(gone)


def written(names: Sequence[str], room: int, *, is_ascii: bool) -> tuple[str, ...]:
    """Write a reference to some steps on as few lines as it takes.

    Args:
        names: Of the steps; each is at most `room` less 3 cells wide.
        room: Cells of a line.
        is_ascii: Write the arrow in ASCII.
    """
    lines: list[str] = []
    line = ">" if is_ascii else "→"
    for at, name in enumerate(names):
        part = name if at == len(names) - 1 else f"{name},"
        if line.strip() not in ("", ">", "→") and width_of(line) + 1 + width_of(part) > room:
            lines.append(line)
            line = " "
        line = f"{line} {part}"
    return (*lines, line)
