"""A growing set of "a stands left of b" that never holds a cycle.

Owns the incremental topological order of the vertical lines of one gap (after Pearce and Kelly). A wish
that would close a cycle is refused, so whoever asks must have another way.
"""


class Ordering:
    """Numbers 0, 1, 2 … with a partial order between them."""

    def __init__(self) -> None:
        self.after: list[list[int]] = []
        self._before: list[list[int]] = []
        self._at: list[int] = []

    def add(self) -> int:
        """Add a number without any order and return it."""
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
        at = self._at
        low, high = at[b], at[a]
        ahead = _reach(self.after, at, b, low, high)
        if a in ahead:
            return False
        behind = _reach(self._before, at, a, low, high)
        moved = sorted(behind, key=at.__getitem__) + sorted(ahead, key=at.__getitem__)
        for v, place in zip(moved, sorted([at[v] for v in moved]), strict=True):
            at[v] = place
        return True


def _reach(edges: list[list[int]], at: list[int], start: int, low: int, high: int) -> dict[int, None]:
    found = {start: None}
    stack = [start]
    while stack:
        for w in edges[stack.pop()]:
            if w not in found and low <= at[w] <= high:
                found[w] = None
                stack.append(w)
    return found
