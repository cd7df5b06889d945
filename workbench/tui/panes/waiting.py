"""How the queue stays still under the hand: what is new never pushes the row under the cursor away.

Pure. The order itself is `views.queue`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from workbench.domain.rows import Action
from workbench.views.queue import QueueRow


def successors(actions: Iterable[Action], shown: Collection[str]) -> dict[str, str]:
    """Return which action stands in for one that is shown: it was extended, refreshed or stacked anew."""
    standing = {action.supersedes: action.id for action in actions if action.supersedes}
    ids = {action.id for action in actions if action.state != "superseded"}
    moved: dict[str, str] = {}
    for key in shown:
        heir = key
        while heir in standing and heir not in ids:
            heir = standing[heir]
        if heir != key:
            moved[key] = heir
    return moved


def below_cursor(
    rows: Sequence[QueueRow],
    before: Collection[str],
    cursor: str | None,
    can_hold_above: Callable[[int], bool],
) -> list[QueueRow]:
    """Return the rows with what is new below the row under the cursor, unless the list can scroll instead.

    Args:
        rows: in the order they would have.
        before: ids that were shown.
        cursor: the id under the cursor.
        can_hold_above: whether so many rows above the cursor leave it on its line.
    """
    at = next((n for n, row in enumerate(rows) if row.id == cursor), None)
    if at is None:
        return list(rows)
    fresh = [row for row in rows[:at] if row.id not in before]
    if not fresh or can_hold_above(len(fresh)):
        return list(rows)
    old = [row for row in rows[: at + 1] if row.id in before]
    return [*old, *fresh, *rows[at + 1 :]]
