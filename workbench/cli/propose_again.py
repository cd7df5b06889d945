"""`workbench approvals propose-again`: ask agents, by a prompt, for what expired before anybody answered."""

from argparse import ArgumentParser, Namespace
from typing import Final

from workbench.cli.approvals import start_hosts
from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.context import (
    ACTION_ID_HELP,
    SESSION_ID_HELP,
    find_action,
    find_session,
    short_id,
    user_actor,
)
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal, UsageError, report_explained_error
from workbench.cli.journal_access import open_journal
from workbench.domain.rows import Action
from workbench.host.session_requests import propose_again
from workbench.journal.journal import Journal
from workbench.journal.session_queries import asked_again_ids
from workbench.views.approvals import asked_words
from workbench.views.propose_again import propose_again_of, why_not_propose_again

EXAMPLE: Final = """workbench approvals propose-again 3f2a
workbench approvals propose-again --session 7c01"""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help=ACTION_ID_HELP)
    parser.add_argument("--session", metavar="SESSION", help=f"all that expired in {SESSION_ID_HELP}")
    add_json_option(parser)


def execute(options: Namespace, console: Console) -> int:
    """Ask once for each session; what cannot be asked for is said, and does not stop the rest."""
    if bool(options.ids) == bool(options.session):
        what = "nothing was asked for"
        raise UsageError(what, "name either actions or a session", "give ids, or --session SESSION")
    code, asked = EXIT_OK, list[Action]()
    with open_journal(human_only="propose-again", expires_due=True) as journal:
        for actions in _wanted(journal, options):
            try:
                found = propose_again(journal, [action.id for action in actions], user_actor())
            except Exception as error:  # noqa: BLE001 -- only what explains itself is reported
                code = max(code, report_explained_error(error, console))
                continue
            asked += found
            if not options.json:
                console.say(asked_words(found))
        if options.json:
            rows = [{"id": action.id, "session_id": action.session_id} for action in asked]
            console.json({"asked": rows})
        start_hosts(journal, console, [action.session_id for action in asked])
    return code if asked or code else EXIT_FAILED


def _wanted(journal: Journal, options: Namespace) -> list[list[Action]]:
    if options.session:
        return [_expired_of_session(journal, options.session)]
    by_session: dict[str, list[Action]] = {}
    for word in dict.fromkeys(options.ids):
        action = find_action(journal, word)
        by_session.setdefault(action.session_id, []).append(action)
    return list(by_session.values())


def _expired_of_session(journal: Journal, word: str) -> list[Action]:
    session = find_session(journal, word)
    expired = journal.actions(session.id, ("expired",))
    with journal.snapshot() as database:
        asked = asked_again_ids(database, session.id)
    first = next((action for action in expired if action.id not in asked), None)
    if first is None:
        why = "nothing of it expired" if not expired else "the agent was asked for all that expired already"
        remedy = "workbench approvals list shows what waits"
        raise Refusal(f"nothing was asked for in session {short_id(journal, session.id)}", why, remedy)
    by_id = {action.id: action for action in expired}
    ids = propose_again_of(session, first, expired, asked).ids
    return [by_id[key] for key in ids] if not why_not_propose_again(session, first) else [first]
