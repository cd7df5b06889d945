"""`workbench sessions rename, tag, archive, stop, end, delete`."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Final

from workbench.cli.arguments import add_json_option, add_session_argument, add_yes_option, confirm
from workbench.cli.console import Console
from workbench.cli.context import (
    SESSION_ID_HELP,
    find_session,
    is_driven,
    session_label,
    short_id,
    user_actor,
)
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields
from workbench.domain.rows import Session
from workbench.host import session_requests
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.import_choice import sessions_of_origin
from workbench.host.session_worktree import own_worktree, release_worktree
from workbench.journal.journal import Journal
from workbench.journal.maintenance import compact_database, finish_deletions
from workbench.text.safe import one_line
from workbench.views.supervised import why_not_asked

RENAME_EXAMPLE = "workbench sessions rename 3f2a 'rename handler to router'"


def configure_rename(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("title", metavar="TITLE", help="what to call it")
    add_json_option(parser)


def execute_rename(options: Namespace, console: Console) -> int:
    with open_journal(human_only="rename a session") as journal:
        session = find_session(journal, options.id)
        title = session_requests.rename_session(journal, session.id, options.title, user_actor())
        key = short_id(journal, session.id)
    facts = {"id": session.id, "title": title}
    return console.result(facts, [f"Renamed {key}: {title}"], is_json=options.json)


TAG_EXAMPLE = """workbench sessions tag 3f2a release refactor
workbench sessions tag 3f2a --remove draft"""


def configure_tag(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("add", nargs="*", metavar="TAG", help="tags to add")
    parser.add_argument("--remove", action="append", default=[], metavar="TAG", help="a tag to take away")
    add_json_option(parser)


def execute_tag(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        session = find_session(journal, options.id)
        tags, name = session.tags, session_label(journal, session)
        if options.add or options.remove:
            refuse_inside_agents(journal, journal.home, "tag a session")
            tags = session_requests.change_tags(journal, session, options.add, options.remove, user_actor())
    line = f"{name}: {', '.join(tags) or 'no tags'}"
    return console.result({"id": session.id, "tags": list(tags)}, [line], is_json=options.json)


ARCHIVE_EXAMPLE = """workbench sessions archive 3f2a 91bc
workbench sessions archive --undo 3f2a"""


def configure_archive(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help=SESSION_ID_HELP)
    parser.add_argument("--undo", action="store_true", help="show them in the list again")
    add_json_option(parser, "print a JSON array")


def execute_archive(options: Namespace, console: Console) -> int:
    """Archive them, or bring them back; all ids are looked up before anything is changed."""
    is_archived = not options.undo
    with open_journal(human_only="archive a session") as journal:
        sessions = [find_session(journal, key) for key in options.ids]
        for session in sessions:
            session_requests.archive_session(journal, session, is_archived, user_actor())
        names = [session_label(journal, session) for session in sessions]
    word = "Archived" if is_archived else "In the list again"
    facts = [{"id": session.id, "archived": is_archived} for session in sessions]
    return console.result(facts, [f"{word}: {name}" for name in names], is_json=options.json)


STOP_EXAMPLE = """workbench sessions stop 3f2a
workbench run --session 3f2a"""


def configure_stop(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    add_json_option(parser)


def execute_stop(options: Namespace, console: Console) -> int:
    """Ask its open turn to stop; whoever drives it does that, or a background process started for it."""
    from workbench.host.host_start import ensure_host

    with open_journal(human_only="stop an agent") as journal:
        session = find_session(journal, options.id)
        key, name = short_id(journal, session.id), session_label(journal, session)
        if not session.takes_prompts or session.open_turn is None:
            of_kind = why_not_asked(session, "turn").rstrip(".") or f"it is of kind {session.kind}"
            why = "no turn of it is running" if session.takes_prompts else of_kind
            raise Refusal(f"{name} was not stopped", why, f"workbench sessions show {key} shows it")
        session_requests.interrupt_session(journal, session.id, user_actor())
        if not is_driven(journal, session.id):
            ensure_host(journal.home, journal, session.workspace)
    line = f"Asked to stop: {name}. workbench run --session {key} continues it."
    return console.result({"id": session.id, "turn": session.open_turn}, [line], is_json=options.json)


END_EXAMPLE = "workbench sessions end 3f2a"


def configure_end(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    add_json_option(parser)


def execute_end(options: Namespace, console: Console) -> int:
    """End it; an agent that works is asked to stop first."""
    with open_journal(human_only="end a session") as journal:
        session = find_session(journal, options.id)
        status, name = (
            session_requests.end_session(journal, session, user_actor()),
            session_label(journal, session),
        )
        released = release_worktree(journal, session.id, own_worktree(journal, session))
    facts: JsonFields = {"id": session.id, "status": status, **({"worktree": released} if released else {})}
    lines = [f"Ended: {name} is {status}.", *([released] if released else [])]
    return console.result(facts, lines, is_json=options.json)


DELETE_EXAMPLE = """workbench sessions delete 3f2a
workbench sessions delete --yes 3f2a 91bc
workbench sessions delete --origin codex"""


def configure_delete(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help=SESSION_ID_HELP)
    origin = "everything that was imported of one agent or format, such as codex"
    parser.add_argument("--origin", metavar="NAME", help=origin)
    add_yes_option(parser)
    add_json_option(parser)


def execute_delete(options: Namespace, console: Console) -> int:
    """Delete them, after asking; all ids are looked up before anything is deleted."""
    if bool(options.ids) == bool(options.origin):
        raise UsageError("nothing was deleted", "it takes ids, or --origin and a name", "name one of them")
    with open_journal(human_only="delete a session") as journal:
        sessions = _sessions_to_delete(journal, options)
        names = [session_label(journal, session) for session in sessions] if options.ids else []
        if not options.yes and not _is_confirmed(names, console, len(sessions), options.origin):
            console.say("Nothing was deleted.")
            return EXIT_FAILED
        count, released = _delete_each(journal, sessions)
        finish_deletions(journal)
        is_compact = compact_database(journal)
    if options.json:
        console.json(
            {"deleted": [session.id for session in sessions], "sessions": count, "compacted": is_compact,
             **({"worktrees": released} if released else {})}
        )  # fmt: skip
        return EXIT_OK
    for line in (*(f"Deleted: {name}" for name in names), *released):
        console.say(line)
    if options.origin:
        console.say(f"Deleted: {count:,} sessions of {one_line(options.origin, 40)}. {_STAYS_DELETED}")
    if not is_compact:
        console.note(
            "Remnants may stay in unused pages of the journal until workbench doctor --rebuild runs."
        )
    return EXIT_OK


def _delete_each(journal: Journal, sessions: Sequence[Session]) -> tuple[int, list[str]]:
    """Delete sessions; return how many with their steps, and what became of their worktrees."""
    count, released = 0, list[str]()
    for session in sessions:
        worktree = own_worktree(journal, session)
        count += session_requests.delete_with_steps(journal, session, user_actor())
        released.append(release_worktree(journal, session.id, worktree))
    return count, [line for line in released if line]


_STAYS_DELETED: Final = (
    "Importing everything does not bring them back; new ones are imported unless sessions.leave_out names it."
)


def _sessions_to_delete(journal: Journal, options: Namespace) -> list[Session]:
    if not options.origin:
        by_id = {session.id: session for session in (find_session(journal, key) for key in options.ids)}
        return list(by_id.values())
    sessions = sessions_of_origin(journal, options.origin)
    if not sessions:
        origins = sorted({session.origin for session in journal.sessions() if session.origin})
        why = f"no session was imported of “{one_line(options.origin, 40)}”"
        raise Refusal("nothing was deleted", why, f"there are some of: {', '.join(origins) or 'none'}")
    return sessions


def _is_confirmed(names: Sequence[str], console: Console, count: int, origin: str | None) -> bool:
    things = "this session" if count == 1 else f"these {count} sessions"
    things = f"all {count:,} imported sessions of {one_line(origin, 40)}" if origin else things
    return confirm(
        console, f"Delete {things} with everything in them?", "delete", what="nothing was deleted",
        remedy="say so with --yes", lines=(f"  {name}" for name in names),
    )  # fmt: skip
