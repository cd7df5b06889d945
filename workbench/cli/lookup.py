"""From what a person typed to the row it names: whole ids, or a beginning that only one id has.

Owns the rule for short ids. Never guesses: a beginning that several ids share is refused with all of them.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from workbench.cli.errors import Refusal
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action, Session
from workbench.domain.values import SYSTEM_SESSION, Hunk
from workbench.journal.journal import Journal
from workbench.journal.short_ids import Named, beginning_with, shortened
from workbench.text.safe import one_line

SHORTEST: Final = 4
"""Characters of the id of an action: an answer is not given by a number that was meant for a list."""
ID_HELP: Final = f"the action, or at least the first {SHORTEST} characters of its id"
_SHOWN: Final = 8
_LISTS: Final[dict[Named, str]] = {
    "action": "workbench approvals list --decided",
    "session": "workbench sessions list --all",
}

_Row = TypeVar("_Row", Action, Session)


def short(journal: Journal, key: str, table: Named = "session") -> str:
    """Return as much of an id as names it alone, at least 8 characters."""
    with journal.reader.snapshot() as database:
        return shortened(database, table, key)


def _row_of(
    journal: Journal, given: str, thing: Named, one: Callable[[str], _Row | None],
    told: Callable[[_Row], str], least: int,
) -> _Row:  # fmt: skip
    """Return the row that an id or the beginning of one names.

    Raises:
        Refusal: None or several ids fit; several are listed.
    """
    given = given.encode("utf-8", "replace").decode()
    if given and (row := one(given)) is not None:
        return row
    named, where = one_line(given, 80), f"{_LISTS[thing]} shows them"
    nothing = f"there is no {thing} “{named}”"
    if len(given) < least:
        count = "a character" if least == 1 else f"{least} characters"
        raise Refusal(nothing, f"a short id has at least {count}", where)
    with journal.reader.snapshot() as database:
        ids = [key for key in beginning_with(database, thing, given, _SHOWN + 2) if key != SYSTEM_SESSION]
        shown = [(shortened(database, thing, key), one(key)) for key in ids[:_SHOWN]]
    if not ids:
        raise Refusal(nothing, "no id begins with that", where)
    if len(ids) > 1:
        several = "; ".join(f"{key} {told(row)}".strip() for key, row in shown if row is not None)
        many, more = (f"over {_SHOWN}", "; …") if len(ids) > _SHOWN else (str(len(ids)), "")
        raise Refusal(
            f"“{named}” names no single {thing}", f"{many} begin so: {several}{more}", "type more of it"
        )
    row = one(ids[0])
    if row is None:
        raise Refusal(nothing, "it was deleted", where)
    return row


def action_named(journal: Journal, given: str) -> Action:
    """Return the action that an id or the beginning of one names."""
    return _row_of(
        journal, given, "action", journal.action,
        lambda action: f"{action.verb} {one_line(action.target, 40)}", SHORTEST,
    )  # fmt: skip


def session_named(journal: Journal, given: str) -> Session:
    """Return the session that an id or any beginning names that only one id has."""
    return _row_of(
        journal, given, "session", journal.session, lambda session: f"“{one_line(session.title, 40)}”", 1
    )


def proposal_of(journal: Journal, action: Action) -> ActionOpened:
    """Return what was shown when an action was opened."""
    for event in journal.events(after=action.opened_at - 1, limit=1):
        if isinstance(event.body, ActionOpened) and event.action_id == action.id:
            return event.body
    raise Refusal(
        f"action {action.id} cannot be shown",
        "its proposal is not in the journal any more",
        "run workbench doctor",
    )


def recorded_hunks(journal: Journal, opened: ActionOpened) -> tuple[Hunk, ...]:
    """Return the hunks as they were recorded, secrets scrubbed; for what was decided and for counts."""
    if opened.hunks_ref is None:
        return opened.hunks
    data = journal.blobs.read(opened.hunks_ref)
    return _hunks_of(data) if data is not None else ()


def _hunks_of(data: bytes) -> tuple[Hunk, ...]:
    from workbench.text import canonical

    rows = cast("list[dict[str, Any]]", canonical.loads(data))
    return tuple(_hunk(row) for row in rows)


def _hunk(row: dict[str, Any]) -> Hunk:
    lines = tuple((str(sign), str(text)) for sign, text in row.pop("lines"))
    return Hunk(**row, lines=lines)
