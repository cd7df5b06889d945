"""`workbench sessions resume, fork, rename, tag, archive, stop, end, delete`."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.cli.arguments import add_json_option, add_session_argument, add_yes_option, confirm
from workbench.cli.console import Console
from workbench.cli.context import (
    SESSION_ID_HELP,
    find_session,
    is_driven,
    open_journal,
    session_label,
    short_id,
    user_actor,
    workspace_path,
)
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal, UsageError
from workbench.cli.rows import JsonFields
from workbench.cli.session_resume import resume_in_agent
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.formats.agent_folders import RESUMABLE_ORIGINS
from workbench.host import session_requests
from workbench.host.fork import (
    ForkPlan,
    RestoredWorkspace,
    WorkspaceCopyKind,
    default_fork_plan,
    fork_session,
    require_conversation,
    restore_workspace,
)
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.import_choice import sessions_of_origin
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.maintenance import compact_database, finish_deletions
from workbench.journal.replay import ReplayReader
from workbench.text.safe import one_line

FORK_EXAMPLE = """workbench sessions fork 3f2a
workbench sessions fork 3f2a --at 12:01:31 --copy ~/src/shop-again
workbench sessions fork 3f2a --at '#412' --worktree ~/src/shop-412
workbench sessions fork 91bc --provider ollama --model qwen3-coder"""
_NOT_FORKED = "the session was not forked"
_MOST_PATHS_SHOWN = 5


class ForkOptions(Struct, frozen=True, kw_only=True):
    """What a fork is to be."""

    position: int | None = None
    """The moment, as a position of the journal; None: the session's end."""
    folder: str = ""
    """A new folder for the files of that moment; empty leaves files alone."""
    kind: WorkspaceCopyKind = "copy"
    directory: str | None = None
    """Where it works instead of where its source did."""
    title: str | None = None
    provider: str | None = None
    model: str | None = None


class ForkResult(Struct, frozen=True, kw_only=True):
    """A fork that was made."""

    session_id: str
    workspace: str
    restored: RestoredWorkspace | None


def configure_fork(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    moment_help = "the moment: 12:01:31, 35%% or #412, as in replay; the end if not given"
    parser.add_argument("--at", metavar="T", help=moment_help)
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--copy", metavar="DIR", help="work in a new copy of the files as they were then")
    worktree = "the same in a git worktree of the commit that is checked out"
    files.add_argument("--worktree", metavar="DIR", help=worktree)
    parser.add_argument("--title", metavar="TITLE", help="its title")
    parser.add_argument("--provider", metavar="NAME", help="its provider, when it is not the source's")
    parser.add_argument("--model", metavar="NAME", help="its model, when it is not the source's")
    add_json_option(parser)


def execute_fork(options: Namespace, console: Console) -> int:
    folder = options.copy or options.worktree or ""
    if folder and options.directory is not None:
        raise UsageError(
            _NOT_FORKED, "-C and a folder for the files name two places", "leave one of them out"
        )
    with open_journal(human_only="fork a session") as journal:
        session = find_session(journal, options.id)
        fork_options = ForkOptions(
            position=_fork_position(journal, session, options.at), folder=folder,
            kind="worktree" if options.worktree else "copy", directory=options.directory,
            title=options.title, provider=options.provider, model=options.model,
        )  # fmt: skip
        result = make_fork(journal, session, fork_options, user_actor())
        source, key = session_label(journal, session), short_id(journal, result.session_id)
    place = f" -C {result.workspace}" if result.restored else ""
    lines = [
        f"Forked {source}: {result.session_id}",
        *(f"  {line}" for line in restored_lines(result.restored)),
        f"  workbench run{place} --session {key} -p TEXT continues",
    ]
    facts: JsonFields = {
        "id": result.session_id, "forked_from": session.id, "workspace": result.workspace,
        "restored": list(result.restored.files) if result.restored else [],
        "not_restored": list(result.restored.lost) if result.restored else [],
    }  # fmt: skip
    return console.result(facts, lines, is_json=options.json)


def restored_lines(restored: RestoredWorkspace | None) -> list[str]:
    """Return what is to be said of the files of a fork."""
    if restored is None:
        return []
    count = len(restored.files)
    files_text = "1 file" if count == 1 else f"{count} files"
    lines = [f"{restored.workspace}: {files_text} as then; what commands and you changed is as it is now"]
    if restored.lost:
        names = ", ".join(one_line(path, 60) for path in restored.lost[:_MOST_PATHS_SHOWN])
        more = (
            f" and {len(restored.lost) - _MOST_PATHS_SHOWN} more"
            if len(restored.lost) > _MOST_PATHS_SHOWN
            else ""
        )
        lines.append(f"not restored, their bytes of then are not kept: {names}{more}")
    return lines


def make_fork(journal: Journal, session: Session, options: ForkOptions, actor: Actor) -> ForkResult:
    until = None
    if options.position is not None:
        until = ReplayReader(journal, session.id).number_at(session.id, options.position)
    require_conversation(journal, session, until)
    plan = plan_fork(journal, session, options)
    restored = None
    if options.folder:
        if is_imported_session(journal, session.id):
            why = "it was imported, and no file of it is kept here"
            raise Refusal(_NOT_FORKED, why, "fork it without a folder for files")
        position = journal.last_position() if options.position is None else options.position
        restored = restore_workspace(journal, session.workspace, position, options.folder, options.kind)
        plan = replace(plan, workspace=restored.workspace)
    new = fork_session(journal, session, plan, actor, until)
    return ForkResult(session_id=new, workspace=plan.workspace, restored=restored)


def _fork_position(journal: Journal, session: Session, moment: str | None) -> int | None:
    if moment is None:
        return None
    from workbench.views.replay import parse_replay_moment
    from workbench.views.timeline import FIELD_OF_EVENT_KIND, Timeline

    timeline = Timeline(columns=ReplayReader(journal, session.id).columns(FIELD_OF_EVENT_KIND))
    index = parse_replay_moment(moment, timeline)
    if index is None:
        why = f"“{one_line(moment, 40)}” is not a moment of it"
        raise UsageError(_NOT_FORKED, why, f"name one as 12:01:31, 35% or #1 to #{len(timeline)}")
    return timeline.position(index)


def plan_fork(journal: Journal, session: Session, options: ForkOptions) -> ForkPlan:
    """Return what a fork is made of."""
    plan = _with_model(journal, session, default_fork_plan(session), options)
    workspace = plan.workspace
    if not options.folder and (options.directory is not None or not (workspace and Path(workspace).is_dir())):
        workspace = workspace_path(options.directory)
    return replace(plan, workspace=workspace, title=plan.title if options.title is None else options.title)


def _with_model(journal: Journal, session: Session, plan: ForkPlan, options: ForkOptions) -> ForkPlan:
    if session.origin is not None and options.provider is None:
        newest = _newest_chat(journal)
        if newest is None:
            why = f"it comes from {session.origin}, and no session here says which model to continue with"
            raise Refusal(_NOT_FORKED, why, "name one with --provider and --model")
        plan = replace(plan, provider=newest.provider, model=newest.model, configuration=newest.configuration)
    return replace(plan, provider=options.provider or plan.provider, model=options.model or plan.model)


def _newest_chat(journal: Journal) -> Session | None:
    own = (session for session in journal.sessions(kinds=("chat",)) if session.origin is None)
    return next(own, None)


RESUME_EXAMPLE = """workbench sessions resume
workbench sessions resume 3f2a
workbench sessions resume 3f2a --print
workbench --continue ~/src/shop"""


def configure_resume(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id", nargs="?", metavar="ID", help=f"{SESSION_ID_HELP}; if not given the newest of this workspace"
    )
    printed = "of an imported session: print the command that continues it, and run nothing"
    parser.add_argument("--print", action="store_true", dest="is_printed", help=printed)
    confirmed = "of an imported session: do not ask before the agent that wrote it is started"
    parser.add_argument("--yes", action="store_true", help=confirmed)


def execute_resume(options: Namespace, console: Console) -> int:
    from workbench.cli.screen import open_screen

    if options.id is not None and options.directory is not None:
        raise UsageError(
            "nothing was resumed", "a session works where it was started", "leave -C out, or the id"
        )
    with open_journal() as journal:
        foreign = _foreign_session(journal, options.id)
        session = foreign or session_to_resume(journal, options.id, options.directory)
        if foreign is not None:
            refuse_inside_agents(journal, journal.home, "resume a session")
    if foreign is not None:
        return resume_in_agent(foreign, console, is_printed=options.is_printed, is_confirmed=options.yes)
    if options.is_printed:
        why = "it is a session of this program"
        raise UsageError("nothing was printed", why, f"workbench sessions resume {session.id}")
    return open_screen(console, workspace_path(session.workspace), session.id)


def _foreign_session(journal: Journal, word: str | None) -> Session | None:
    """Return the session that is named if another program continues it."""
    if word is None:
        return None
    session = find_session(journal, word)
    is_foreign = session.origin in RESUMABLE_ORIGINS and is_imported_session(journal, session.id)
    return session if is_foreign else None


def session_to_resume(journal: Journal, word: str | None, directory: str | None) -> Session:
    """Return the session that a screen is to open on."""
    if word is not None:
        session = find_session(journal, word)
        _require_resumable(journal, session)
        return session
    workspace = workspace_path(directory)
    newest = session_requests.newest_open_session(journal, workspace)
    if newest is None:
        others = sum(session.id != SYSTEM_SESSION for session in journal.sessions())
        where = f"; workbench sessions list --all shows all {others:,}" if others else ""
        why = f"no session of {workspace} can continue"
        raise Refusal("nothing was resumed", why, f"workbench {workspace} starts one{where}")
    return newest


def _require_resumable(journal: Journal, session: Session) -> None:
    what, key = f"{session_label(journal, session)} was not resumed", short_id(journal, session.id)
    fork = f"workbench sessions fork {key} starts one from its end"
    if session.kind == "pipeline":
        raise Refusal(what, "it is the run of a pipeline", f"workbench pipeline resume {key} continues it")
    if session.kind == "step":
        raise Refusal(what, "it is a step of a run", f"workbench sessions show {key} shows it")
    if is_imported_session(journal, session.id):
        raise Refusal(what, "it was imported, so no agent works on it", fork)
    if session.status in TERMINAL_SESSION_STATES:
        raise Refusal(what, f"it is {session.status}", fork)


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
    from workbench.host.lifecycle import ensure_host

    with open_journal(human_only="stop an agent") as journal:
        session = find_session(journal, options.id)
        key, name = short_id(journal, session.id), session_label(journal, session)
        if session.kind != "chat" or session.open_turn is None:
            why = "no turn of it is running" if session.kind == "chat" else f"it is of kind {session.kind}"
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
    facts = {"id": session.id, "status": status}
    return console.result(facts, [f"Ended: {name} is {status}."], is_json=options.json)


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
        count = sum(
            session_requests.delete_with_steps(journal, session, user_actor()) for session in sessions
        )
        finish_deletions(journal)
        is_compact = compact_database(journal)
    if options.json:
        console.json(
            {"deleted": [session.id for session in sessions], "sessions": count, "compacted": is_compact}
        )
        return EXIT_OK
    for name in names:
        console.say(f"Deleted: {name}")
    if options.origin:
        console.say(f"Deleted: {count:,} sessions of {one_line(options.origin, 40)}. {_STAYS_DELETED}")
    if not is_compact:
        console.note(
            "Remnants may stay in unused pages of the journal until workbench doctor --rebuild runs."
        )
    return EXIT_OK


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
