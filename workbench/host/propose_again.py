"""Asks a session's agent, by a prompt of the user, to propose again what expired; each action once."""

from collections.abc import Sequence
from typing import Final

from workbench.domain.events import Event, PromptSubmitted
from workbench.domain.rows import Action
from workbench.domain.values import Actor
from workbench.host import redaction
from workbench.host.session_requests import SessionRefused
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.session_queries import asked_again_ids
from workbench.journal.transaction import TransactionTables
from workbench.text.human import sentence
from workbench.views.propose_again import propose_again_prompt, why_not_propose_again

_WHAT: Final = "Nothing was asked for."
_ASKED: Final = "The agent was asked for it already."
_ASKED_REMEDY: Final = "Its answer is in the conversation; say it there once more if you want."


def propose_again(journal: Journal, action_ids: Sequence[str], actor: Actor) -> list[Action]:
    """Ask for expired actions of one session by one prompt, and return those that it names.

    What was asked for before is left out. One transaction looks and writes, so that of two who ask at the
    same time one prompts and the other is refused.

    Raises:
        SessionRefused: Nobody can be asked, or all of it was asked for already.
    """
    actions = _named_actions(journal, action_ids)
    session_id = actions[0].session_id
    with journal.snapshot() as database:
        before = asked_again_ids(database, session_id)
    wanted = [action for action in actions if action.id not in before]
    if not wanted:
        raise SessionRefused(_WHAT, _ASKED, _ASKED_REMEDY)
    text, ref = redaction.redact_and_seal_text(propose_again_prompt(wanted), journal.blobs)
    ids = tuple(action.id for action in wanted)
    body = PromptSubmitted(text=text, text_ref=ref, asks_again=ids)

    def work(live: TransactionTables, now: int) -> list[Event]:
        if asked_again_ids(live.database, session_id) & set(ids):
            return []
        return [journal.event(body, session_id, actor, at=now)]

    if not journal.transact(work):
        raise SessionRefused(_WHAT, _ASKED, _ASKED_REMEDY)
    return wanted


def _named_actions(journal: Journal, action_ids: Sequence[str]) -> list[Action]:
    """Return the actions with these ids; all are of one session and can be asked for."""
    actions: list[Action] = []
    for action_id in action_ids:
        action = journal.action(action_id)
        if action is None:
            raise SessionRefused(_WHAT, f"There is no action {action_id}.", "List them first.")
        if is_imported_session(journal, action.session_id):
            why = "Its session came from a file and nobody works in it."
            raise SessionRefused(_WHAT, why, "workbench sessions fork starts one from its end.")
        if why := why_not_propose_again(journal.session(action.session_id), action):
            reason, _, remedy = why.partition("; ")
            raise SessionRefused(_WHAT, sentence(reason), sentence(remedy))
        actions.append(action)
    if len({action.session_id for action in actions}) != 1:
        why = "They are of several sessions, or none is named."
        raise SessionRefused(_WHAT, why, "Ask for one session at a time.")
    return actions
