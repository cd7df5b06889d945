"""`workbench apply`: propose a patch as a change of the workspace, which is then approved like any edit."""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from workbench.changes.diff import changed_line_totals, make_hunks
from workbench.changes.unified_diff import PatchUnusable
from workbench.cli.approvals import start_hosts
from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.context import short_id, user_actor
from workbench.cli.errors import EXIT_FAILED, EXIT_PARKED, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.named_file import read_named_file
from workbench.cli.row_json import JsonFields
from workbench.domain.rows import Action
from workbench.effects.files import workspace_path
from workbench.formats.unified_diff_reader import MAX_DIFF_BYTES
from workbench.host.patch_proposal import CheckedPatch, check_patch, request_patch, wait_until_proposed
from workbench.host.workspace_config import load_workspace_config
from workbench.journal.journal import Journal
from workbench.text.safe import one_line
from workbench.tools.patch_apply import MAX_STRIP

# A pipe has a command of its own and not `workbench -`: the screen reads keys from standard input, so a patch
# that comes from there can only be proposed without it, and that is something else than opening a file.

EXAMPLE: Final = """git diff | workbench apply -
workbench apply fix.patch
workbench apply fix.patch --dry-run
workbench fix.patch"""
_NOTHING: Final = "nothing was proposed"
_STANDARD_INPUT: Final = "-"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a unified diff; - reads standard input")
    parser.add_argument(
        "-p", "--strip", type=_strip_level, metavar="N",
        help="leading folders of the patch's paths to leave out; if not given, 0 or 1 is found",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="only show what would be proposed")
    add_json_option(parser)


def _strip_level(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > MAX_STRIP:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 to {MAX_STRIP}")
    return int(text)


def execute(options: Namespace, console: Console) -> int:
    """Propose a patch and return 3: it waits for an answer."""
    workspace = workspace_path(options.directory)
    name, data = _read_input(options.file, console)
    with open_journal(human_only="apply", expires_due=True) as journal:
        patch = _checked(console, workspace, name, data, options.strip)
        if patch is None:
            return EXIT_FAILED
        if options.dry_run:
            return console.result(_facts(patch), _lines(patch), is_json=options.json)
        session_id, request = _request(journal, workspace, patch)
        start_hosts(journal, console, [session_id])
        action = wait_until_proposed(journal, request)
        lines = (*_lines(patch), *_waiting_lines(journal, action))
        facts = {**_facts(patch), "action": action.id, "session": session_id}
        console.result(facts, lines, is_json=options.json)
    return EXIT_PARKED


def patch_session(console: Console, path: Path, workspace: str) -> str | None:
    """Ask for the patch in a file and return the session that shows it; None where that was refused."""
    name, data = _read_input(str(path), console)
    with open_journal(human_only="apply", expires_due=True) as journal:
        patch = _checked(console, workspace, name, data, None)
        return None if patch is None else _request(journal, workspace, patch)[0]


def _request(journal: Journal, workspace: str, patch: CheckedPatch) -> tuple[str, str]:
    config = load_workspace_config(journal, workspace).config
    return request_patch(
        journal, workspace, patch, (config.default_provider or "", config.default_model or ""), user_actor()
    )


# --- the patch ---------------------------------------------------------------------------------------


def _read_input(file: str, console: Console) -> tuple[str, bytes]:
    """Return the name and the bytes of a patch; raises Refusal."""
    if file == _STANDARD_INPUT:
        if sys.stdin.isatty():
            console.note("Paste the patch; ctrl+d on a line of its own ends it.")
        return "", _bounded(sys.stdin.buffer.read(MAX_DIFF_BYTES + 1))
    path = Path(file).expanduser()
    remedy = "name a patch, or - for standard input"
    return path.name, _bounded(read_named_file(path, MAX_DIFF_BYTES, nothing=_NOTHING, remedy=remedy))


def _bounded(data: bytes) -> bytes:
    if len(data) > MAX_DIFF_BYTES:
        raise Refusal(_NOTHING, f"the patch is longer than {MAX_DIFF_BYTES:,} bytes", "split it into several")
    if not data.strip():
        raise Refusal(_NOTHING, "the patch is empty", "pipe in a unified diff, for example of git diff")
    return data


def _checked(
    console: Console, workspace: str, name: str, data: bytes, strip: int | None
) -> CheckedPatch | None:
    """Return a patch that fits; where it does not, say everything that is wrong."""
    try:
        return check_patch(workspace, name, data, strip, lambda levels: _chosen_strip(console, levels))
    except PatchUnusable as error:
        console.note(f"Nothing was proposed. The patch {name}".rstrip() + " does not fit:")
        console.note_lines(f"  {problem}" for problem in error.problems)
        return None


def _chosen_strip(console: Console, levels: Sequence[tuple[int, tuple[str, ...]]]) -> int:
    names = [f"-p {strip} changes {_listed(paths)}" for strip, paths in levels]
    if not console.can_ask:
        remedy = "say which one is meant: -p 0 or -p 1"
        raise UsageError(_NOTHING, f"its paths can be meant in two ways: {'; '.join(names)}", remedy)
    console.say("The paths of this patch can be meant in two ways:")
    console.say_lines(f"  {name}" for name in names)
    console.write("How many leading folders are left out? Type 0 or 1: ")
    answer = sys.stdin.readline().strip()
    if answer not in {str(strip) for strip, _ in levels}:
        raise Refusal(_NOTHING, "neither was chosen", "do it again with -p 0 or -p 1")
    return int(answer)


_MOST_NAMED: Final = 3


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(one_line(path, 80) for path in paths[:_MOST_NAMED]) + more


# --- what is said --------------------------------------------------------------------------------------


def _lines(patch: CheckedPatch) -> Iterator[str]:
    left = {change.moved_from for change in patch.changes}
    for row in _file_rows(patch):
        if row["path"] not in left:
            origin = f" (from {row['moved_from']})" if row["moved_from"] else ""
            yield f"  {row['change']} {row['path']}{origin}  +{row['added']} -{row['removed']}"


def _file_rows(patch: CheckedPatch) -> Iterator[JsonFields]:
    hunks = make_hunks(patch.changes)
    for change in patch.changes:
        added, removed = changed_line_totals([hunk for hunk in hunks if hunk.path == change.path])
        kind = "create" if change.before is None else "delete" if change.after is None else "modify"
        yield {
            "path": change.path, "change": "move" if change.moved_from else kind,
            "moved_from": change.moved_from, "added": added, "removed": removed,
        }  # fmt: skip


def _facts(patch: CheckedPatch) -> JsonFields:
    return {"patch": patch.name, "strip": patch.strip, "files": list(_file_rows(patch))}


def _waiting_lines(journal: Journal, action: Action) -> Iterator[str]:
    key = short_id(journal, action.id, "action")
    yield "It waits for an answer; nothing was written."
    yield f"  workbench approvals show {key}"
    yield f"  workbench approvals approve {key}"
