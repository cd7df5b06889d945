"""Diffs as lines: hunks numbered as `--hunks` names them, changed lines as `--hunks 1:2-4` names them.

Pure. The sign column is always ASCII, so a copied line is a patch line. Never decides where hunks come
from: exact bytes for what waits, the record for what was decided.
"""

from collections.abc import Iterable, Sequence

from workbench.changes.hunks import is_binary
from workbench.changes.model import FileChange
from workbench.domain.values import Hunk
from workbench.text.human import size
from workbench.text.safe import one_line, safe

PATH_CELLS = 200


def diff_lines(hunks: Sequence[Hunk]) -> list[str]:
    """Return hunks as lines, each file under its path."""
    lines: list[str] = []
    path = None
    for hunk in hunks:
        if hunk.path != path:
            path = hunk.path
            lines.append(one_line(path, PATH_CELLS))
        lines += hunk_lines(hunk, len(hunks))
    return lines


def hunk_lines(hunk: Hunk, total: int) -> list[str]:
    """Return one hunk: its number and place, then its lines with the changed ones counted."""
    old, new = f"-{hunk.old_start},{hunk.old_count}", f"+{hunk.new_start},{hunk.new_count}"
    is_crlf = all(text.endswith("\r") for sign, text in hunk.lines if sign != "\\")
    ends = "  lines end in CR LF" if is_crlf else ""
    return [f"  hunk {hunk.index} of {total}  @@ {old} {new} @@{ends}", *_counted(hunk, is_crlf)]


def hunk_heads(hunks: Sequence[Hunk]) -> list[str]:
    """Return one line a hunk: number, path, place, and its first changed line."""
    return [
        f"hunk {hunk.index}, {one_line(hunk.path, PATH_CELLS)} line {hunk.new_start}: {_first_change(hunk)}"
        for hunk in hunks
    ]


def file_lines(changes: Iterable[FileChange]) -> list[str]:
    """Return a line for every file that is new, deleted, binary or changes no line."""
    lines: list[str] = []
    for change in changes:
        fact = _fact(change)
        if fact:
            lines.append(f"{one_line(change.path, PATH_CELLS)}: {fact}")
    return lines


def _counted(hunk: Hunk, is_crlf: bool) -> list[str]:
    lines: list[str] = []
    number = 0
    for sign, text in hunk.lines:
        if sign == "\\":
            lines.append("       \\ no newline at the end of the file")
            continue
        number += sign in "+-"
        gutter = f"{number:>5}" if sign in "+-" else " " * 5
        lines.append(f"{gutter}  {sign}{safe(text.removesuffix(chr(13)) if is_crlf else text)}")
    return lines


def _first_change(hunk: Hunk) -> str:
    return next((f"{sign} {one_line(text.strip(), 60)}" for sign, text in hunk.lines if sign in "+-"), "")


def _fact(change: FileChange) -> str:
    before, after = change.before, change.after
    if is_binary(before) or is_binary(after):
        return f"binary, {_size(before)} before, {_size(after)} after"
    if before is None:
        return f"new file, {_size(after)}"
    if after is None:
        return f"deleted, it had {_size(before)}"
    return "no line changes" if before == after else ""


def _size(data: bytes | None) -> str:
    return "nothing" if data is None else size(len(data))
