"""`workbench sessions diff`: one unified diff of everything that a session changed."""

import os
import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from workbench.backend.session_diff import relative_path, session_diff
from workbench.cli.arguments import add_json_option, add_session_argument
from workbench.cli.console import Console
from workbench.cli.context import find_session
from workbench.cli.errors import EXIT_OK, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields
from workbench.domain.rows import Session
from workbench.formats.git_diff import diff_stat_lines, git_diff_lines
from workbench.formats.session_diff import (
    FileDiff,
    SessionDiff,
)
from workbench.host.host_locks import refuse_inside_agents
from workbench.text.human import counted
from workbench.text.safe import one_line

DIFF_EXAMPLE = """workbench sessions diff 3f2a
workbench sessions diff 3f2a --stat
workbench sessions diff 3f2a -- src/app.py
workbench sessions diff 3f2a > changes.patch"""
_PIPE_WIDTH: Final = 100
_COLORS: Final = {"+": "32", "-": "31", "@": "36", "#": "33"}
_HEADER_COLOR: Final = "1"
_HEADERS: Final = (
    "diff --git ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode", "rename ",
    "similarity ", "index ", "Binary ", "GIT ",
)  # fmt: skip


def configure_diff(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("paths", metavar="PATH", nargs="*", help="only these files and folders, behind --")
    parser.add_argument("--stat", action="store_true", help="a line a file instead of the diff")
    add_json_option(parser)
    parser.add_argument("--alone", action="store_true", help="without what its sub-agents and steps changed")
    parser.add_argument("--outside", action="store_true", help="also files outside its folder")
    parser.add_argument("--binary", action="store_true", help="with the bytes of binary files, to be applied")
    exact = "as the files have it, secrets too; else they are replaced, and what holds one does not apply"
    parser.add_argument("--exact", action="store_true", help=exact)


def execute_diff(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        if options.exact:
            # Sealed bytes are no agent's to read.
            refuse_inside_agents(journal, journal.home, "read exact bytes")
        session = find_session(journal, options.id)
        changed = session_diff(journal, session, is_exact=options.exact, is_alone=options.alone)
    files = [*changed.files, *(changed.outside if options.outside else ())]
    if options.paths:
        files, changed = _select_paths(files, options.paths, changed)
    if options.json:
        console.json(_diff_json(session, changed, files))
        return EXIT_OK
    if options.stat:
        for line in diff_stat_lines(
            files, shutil.get_terminal_size().columns if console.is_terminal else _PIPE_WIDTH
        ):
            console.say(line)
    else:
        _print_diff(files, console, has_binary=options.binary)
    console.note_lines(_remarks(changed, files, has_outside=options.outside, has_paths=bool(options.paths)))
    return EXIT_OK


def _select_paths(
    files: Sequence[FileDiff], paths: Sequence[str], changed: SessionDiff
) -> tuple[list[FileDiff], SessionDiff]:
    """Return the files that some paths name, by themselves or by a folder above them, and the changes."""
    folder = changed.folder
    wanted_paths = [relative_path(path, folder, folder).rstrip("/") for path in paths]
    matching: list[FileDiff] = []
    reverted = [own for own in changed.reverted if any(_is_below(own, path, folder) for path in wanted_paths)]
    for name, path in zip(paths, wanted_paths, strict=True):
        below = [
            file for file in files if any(_is_below(own, path, folder) for own in (file.path, file.old_path))
        ]
        if not below and not any(_is_below(own, path, folder) for own in reverted):
            why = f"the session changed nothing that is named {one_line(name, 120)}"
            raise UsageError("nothing is shown", why, "workbench sessions diff ID --stat names all files")
        matching += (file for file in below if file not in matching)
    return matching, replace(changed, reverted=tuple(reverted))


def _is_below(path: str, wanted_path: str, folder: str) -> bool:
    return wanted_path in (path, folder, ".") or path.startswith(f"{wanted_path}/")


def _print_diff(files: Sequence[FileDiff], console: Console, *, has_binary: bool) -> None:
    for diff in files:
        lines = git_diff_lines(diff, has_binary=has_binary)
        if console.is_terminal:
            print_diff_lines(lines, console)
            continue
        for line in lines:
            # What reads it needs every character as it is in the file.
            console.exact(f"{line}\n".encode(diff.encoding, "replace"))


def print_diff_lines(lines: Iterable[str], console: Console) -> None:
    """Print the lines of a unified diff, in colours on a terminal that has them."""
    is_colored = console.is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    for line in lines:
        if is_colored:
            console.say_colored(line, _diff_line_color(line))
        else:
            console.say(line)


def _diff_line_color(line: str) -> str:
    """Return the colour of a line of a unified diff, as the digits of its SGR sequence; empty for none."""
    return _HEADER_COLOR if line.startswith(_HEADERS) else _COLORS.get(line[:1], "")


def _remarks(
    changed: SessionDiff, files: Sequence[FileDiff], *, has_outside: bool, has_paths: bool
) -> Iterator[str]:
    """Yield what a reader has to know besides, on stderr."""
    if why := changed.why_empty():
        yield why
    elif changed.reverted:
        yield f"not shown, because all changes were undone: {_first_paths(changed.reverted)}"
    if changed.outside and not has_outside and not has_paths:
        yield f"{counted(len(changed.outside), 'file')} outside its folder not shown: add --outside"
    unappliable = [file for file in files if not file.can_apply]
    if unappliable:
        names = _first_paths([file.path for file in unappliable])
        reasons = "; ".join(dict.fromkeys(note for file in unappliable for note in file.notes))
        yield f"git cannot apply {counted(len(unappliable), 'file')} ({names}): {reasons}"


def _first_paths(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(one_line(path, 60) for path in paths[:3]) + more


def _diff_json(session: Session, changed: SessionDiff, files: Sequence[FileDiff]) -> JsonFields:
    return {
        "session": session.id, "folder": changed.folder, "sessions": changed.sessions,
        "files": [
            {
                "path": diff.path, "old_path": diff.old_path, "change": diff.change, "added": diff.added,
                "removed": diff.removed, "applies": diff.can_apply, "notes": list(diff.notes),
                "diff": "\n".join(git_diff_lines(diff)),
            }
            for diff in files
        ],
        "outside": [diff.path for diff in changed.outside], "reverted": list(changed.reverted),
    }  # fmt: skip
