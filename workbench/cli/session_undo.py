"""`workbench sessions undo`: undo the file changes of a turn, or of a whole session, in one step."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Final

from workbench.cli.approvals import start_hosts
from workbench.cli.arguments import add_json_option, add_session_argument, add_yes_option, confirm
from workbench.cli.console import Console
from workbench.cli.context import find_session, session_label, user_actor
from workbench.cli.errors import EXIT_FAILED, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields
from workbench.domain.rows import Session
from workbench.host.undo import plan_undo, request_undo_of_files, wait_until_undone
from workbench.journal.journal import Journal
from workbench.journal.replay import session_turns
from workbench.text.safe import safe_text
from workbench.views.undo_plan import UndoPlan, UndoRow, nothing_to_undo, undo_sentences, undone_sentence

UNDO_EXAMPLE = """workbench sessions undo 3f2a --dry-run
workbench sessions undo 3f2a --turn 2
workbench sessions undo 3f2a --leave README.md --yes
workbench sessions undo 3f2a --redo"""
_NOTHING: Final = "nothing was undone"


def configure_undo(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--turn", type=int, metavar="N", help="only its turn N; -1 is the last one")
    parser.add_argument("--redo", action="store_true", help="restore the changes that were undone")
    parser.add_argument("--leave", action="append", default=[], metavar="FILE", help="do not touch this file")
    take = "write this file although somebody else changed it since"
    parser.add_argument("--take", action="append", default=[], metavar="FILE", help=take)
    parser.add_argument("--diff", action="store_true", help="show what would change in each file")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")
    add_yes_option(parser)
    add_json_option(parser)


def execute_undo(options: Namespace, console: Console) -> int:
    """Show the table, ask, and wait until the files are as it says."""
    with open_journal(human_only="undo") as journal:
        session = find_session(journal, options.id)
        plan = plan_undo(journal, session, _turn_id(journal, session, options.turn), is_redo=options.redo)
        paths = _taken_paths(plan, options.leave, options.take)
        if options.dry_run or not paths:
            return _show(plan, paths, options, console)
        if not options.yes:
            _show(plan, paths, Namespace(**{**vars(options), "json": False}), console)
            files = "this file" if len(paths) == 1 else f"these {len(paths)} files"
            remedy = "use --yes, or --dry-run to look first"
            if not confirm(console, f"Write {files}?", "yes", what=_NOTHING, remedy=remedy):
                console.say("Nothing was changed.")
                return EXIT_FAILED
        start = journal.last_position()
        request = request_undo_of_files(journal, plan, paths, user_actor())
        start_hosts(journal, console, [session.id])
        what = f"{_NOTHING} in {session_label(journal, session)}"
        wait_until_undone(journal, session.id, request, start, what)
    lines = [undone_sentence(plan, paths), *undo_sentences(plan, paths)]
    return console.result(_facts(plan, paths, is_done=True), lines, is_json=options.json)


def _turn_id(journal: Journal, session: Session, number: int | None) -> str | None:
    if number is None:
        return None
    turns = session_turns(journal, session.id)
    index = number - 1 if number > 0 else len(turns) + number
    if number == 0 or not 0 <= index < len(turns):
        count = "1 turn" if len(turns) == 1 else f"{len(turns)} turns"
        why, remedy = f"there is no turn {number}", f"it has {count}, counted from 1"
        raise UsageError(_NOTHING, why, remedy)
    return turns[index]


def _taken_paths(plan: UndoPlan, leave: Sequence[str], take: Sequence[str]) -> list[str]:
    """Return the paths to write, in the order of the table."""
    rows = {row.path: row for row in plan.rows}
    if named_twice := sorted({*leave} & {*take}):
        why = f"“{named_twice[0]}” is named by --leave and by --take"
        raise UsageError(_NOTHING, why, "name each file once")
    for path in (*leave, *take):
        if path not in rows:
            names = ", ".join(rows) or "none"
            raise UsageError(
                _NOTHING, f"“{path}” is not among the files: {names}", "name one as it is listed"
            )
    for path in take:
        if not rows[path].can_be_taken:
            raise Refusal(_NOTHING, f"{path}: {rows[path].why}", "leave it out")
    return [path for path in rows if path not in leave and (path in plan.ready or path in take)]


def _show(plan: UndoPlan, paths: Sequence[str], options: Namespace, console: Console) -> int:
    lines = [f"{plan.title}: {len(paths)} of {len(plan.rows)} taken"] if plan.rows else []
    for row in plan.rows:
        lines.append(_row_line(row, is_taken=row.path in paths))
        lines += _diff_lines(row) if options.diff else []
    lines += undo_sentences(plan, paths) if plan.rows else [nothing_to_undo(plan)]
    return console.result(_facts(plan, paths, is_done=False), lines, is_json=options.json)


def _row_line(row: UndoRow, *, is_taken: bool) -> str:
    mark, path = "*" if is_taken else "-", safe_text(row.path)
    why = f"  {row.why}" if row.why else ""
    counts = f"+{row.added} -{row.removed}" if row.hunks else row.note
    return f"  {mark} {path}  {row.word if is_taken else 'left as it is'}  {counts}{why}".rstrip()


def _diff_lines(row: UndoRow) -> list[str]:
    lines: list[str] = []
    for hunk in row.hunks:
        lines.append(f"    @@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@")
        lines += [f"    {sign}{safe_text(text)}" for sign, text in hunk.lines]
    return lines


def _facts(plan: UndoPlan, paths: Sequence[str], *, is_done: bool) -> JsonFields:
    return {
        "session": plan.session_id, "turn": plan.turn_id, "redo": plan.is_redo, "done": is_done,
        "files": [
            {"path": row.path, "does": row.outcome, "state": row.state, "taken": row.path in paths,
             "added": row.added, "removed": row.removed}
            for row in plan.rows
        ],
        "commands_not_undone": plan.commands, "working": plan.is_working,
    }  # fmt: skip
