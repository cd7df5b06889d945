"""`workbench sessions fork`: a new session with the conversation of another, and its files if wanted."""

from argparse import ArgumentParser, Namespace

from workbench.backend.session_fork import NOT_FORKED, ForkOptions, make_fork
from workbench.cli.arguments import add_json_option, add_session_argument
from workbench.cli.console import Console
from workbench.cli.context import find_session, session_label, short_id, user_actor
from workbench.cli.errors import UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields
from workbench.domain.rows import Session
from workbench.host.workspace_copy import RestoredWorkspace
from workbench.journal.journal import Journal
from workbench.journal.replay import ReplayReader
from workbench.text.safe import one_line

FORK_EXAMPLE = """workbench sessions fork 3f2a
workbench sessions fork 3f2a --at 12:01:31 --copy ~/src/shop-again
workbench sessions fork 3f2a --at '#412' --worktree ~/src/shop-412
workbench sessions fork 91bc --provider ollama --model qwen3-coder"""
_MOST_PATHS_SHOWN = 5


def configure_fork(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    moment_help = (
        "the moment: 0:30 from its start, 12:01:31, 35%% or #412, as in replay; the end if not given"
    )
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
        raise UsageError(NOT_FORKED, "-C and a folder for the files name two places", "leave one of them out")
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


def _fork_position(journal: Journal, session: Session, moment: str | None) -> int | None:
    if moment is None:
        return None
    from workbench.views.replay import parse_replay_moment, replay_moment_forms
    from workbench.views.timeline import FIELD_OF_EVENT_KIND, Timeline

    timeline = Timeline(columns=ReplayReader(journal, session.id).columns(FIELD_OF_EVENT_KIND))
    index = parse_replay_moment(moment, timeline)
    if index is None:
        why = f"“{one_line(moment, 40)}” is not a moment of it"
        raise UsageError(NOT_FORKED, why, f"name one of {replay_moment_forms(timeline)}")
    return timeline.position(index)
