"""Numbers of line mode: each belongs to one action id and the digest that was said, until the command ends.

Pure. A number is never given twice: an action that replaces another gets a number of its own.
"""

from dataclasses import dataclass

from workbench.domain.rows import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a number stands for."""

    number: int
    action_id: str
    digest: str


class Numbers:
    """Gives numbers from 1 and remembers what each stands for."""

    def __init__(self) -> None:
        self._by_number: dict[int, Bound] = {}
        self._by_id: dict[str, Bound] = {}

    def bind(self, action: Action) -> Bound:
        """Return the number of an action, a new one if it has none."""
        if action.id not in self._by_id:
            bound = Bound(number=len(self._by_number) + 1, action_id=action.id, digest=action.digest)
            self._by_number[bound.number] = self._by_id[action.id] = bound
        return self._by_id[action.id]

    def knows(self, action_id: str) -> bool:
        """Return whether an action has a number."""
        return action_id in self._by_id

    def at(self, number: int) -> Bound | None:
        """Return what a number stands for; None for a number that was not given."""
        return self._by_number.get(number)

    def all(self) -> tuple[Bound, ...]:
        """Return everything that has a number, by number."""
        return tuple(self._by_number.values())
