"""From what a person typed to the row it names: whole ids, or a beginning that only one id has.

Owns the rule for short ids. Never guesses: a beginning that several ids share is refused with all of them.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar, cast

from workbench.cli.errors import Refusal
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action, Session
from workbench.domain.values import Hunk
from workbench.journal.journal import Journal
from workbench.text.safe import one_line

SHORTEST: Final = 4
ID_HELP: Final = f"the action, or at least the first {SHORTEST} characters of its id"
_SHOWN: Final = 5


def unique(given: str, ids: Iterable[str], thing: str, where: str) -> str:
    """Return the one id that is `given` or begins with it.

    Args:
        given: What was typed, at least 4 characters unless it is a whole id.
        ids: The ids there are.
        thing: What they are ids of, for the error.
        where: The command that lists them, for the error.

    Raises:
        Refusal: None or several ids fit.
    """
    named = one_line(given, 80)
    found = [key for key in ids if key.startswith(given)] if given else []
    if given in found:
        return given
    if len(given) < SHORTEST:
        raise Refusal(
            f"there is no {thing} “{named}”",
            f"a short id has at least {SHORTEST} characters",
            f"{where} shows them",
        )
    if not found:
        raise Refusal(f"there is no {thing} “{named}”", "no id begins with that", f"{where} shows them")
    if len(found) > 1:
        shown = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        why = f"{len(found)} begin so: {shown}"
        raise Refusal(f"“{named}” names no single {thing}", why, "type more of it")
    return found[0]


_Row = TypeVar("_Row", Action, Session)


def _row_of(
    given: str, one: Callable[[str], _Row | None], ids: Callable[[], Iterable[str]], thing: str, where: str
) -> _Row:
    row = one(given) or one(unique(given, ids(), thing, where))
    if row is None:
        raise Refusal(f"there is no {thing} “{one_line(given, 80)}”", "it was deleted", f"{where} shows them")
    return row


def action_named(journal: Journal, given: str) -> Action:
    """Return the action that an id or the beginning of one names."""
    return _row_of(
        given, journal.action, lambda: (action.id for action in journal.actions()),
        "action", "workbench approvals list --decided",
    )  # fmt: skip


def session_named(journal: Journal, given: str) -> Session:
    """Return the session that an id or the beginning of one names."""
    return _row_of(
        given, journal.session, lambda: (session.id for session in journal.sessions()),
        "session", "workbench sessions list --all",
    )  # fmt: skip


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
