"""How the queue stays still under the hand: what is new never pushes the row under the cursor away.

Pure. The order itself is `views.queue`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from textual.content import Content

from workbench.domain.rows import Action
from workbench.draw.cells import content
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.draw.words import clock
from workbench.views.detail import way, who
from workbench.views.queue import QueueRow

_ANSWERED: Final = ("approved", "rejected", "expired")


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


_FIRST: Final = (
    "When an agent wants to change a file or",
    "run a command, it appears here with what",
    "exactly would happen. You answer with",
    "",
    "   a  approve",
    "   r  reject",
    "   space  take or leave a part",
    "",
    "Unanswered for 15 minutes it expires.",
    "An expired action is never done.",
)


def idle_lines(
    actions: Iterable[Action], colours: Ink, signs: Glyphs, *, is_filtered: str = "", is_past: bool = False
) -> list[Content]:
    """Return what an empty queue says: what the filter hides, what was decided last, or what comes here.

    In a replay (`is_past`) it does not say what would come: nothing is answered there.
    """
    if is_filtered:
        words = f"Nothing matches “{is_filtered}”. esc clears the filter; / changes it."
        return [Content(""), content(signs.line(f"   {words}"), colours.of("muted"))]
    ok = Content.assemble("   ", (signs.of("ok"), colours.sign("ok")), " Nothing waits.")
    decided = [action for action in actions if action.decided_at and action.state in _ANSWERED]
    if not decided:
        coming = (Content.styled(f"   {line}", colours.of("muted")) for line in _FIRST)
        return [Content(""), ok] if is_past else [Content(""), ok, Content(""), *coming]
    last = max(decided, key=lambda action: action.decided_at or 0)
    by = f"{who(last.decided_by)} " if last.state != "expired" else ""
    how = way(last.decided_by)
    words = f"     Last: {clock(last.decided_at)}, {by}{last.state} {last.target}{how}."
    return [Content(""), ok, content(words, colours.of("muted"))]


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
