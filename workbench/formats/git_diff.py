"""Changes of files in the form that `git diff` writes and `git apply` reads, and as its `--stat`."""

import base64
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from workbench.formats.session_diff import BINARY, FileDiff
from workbench.text.human import counted
from workbench.text.width import cell_width

_NO_FILE: Final = "/dev/null"
_REGULAR: Final = 0o100000
_EXECUTABLE: Final = 0o111
_LINE_BYTES: Final = 52
_NO_NEWLINE: Final = "\\ No newline at end of file"
_NO_BLOB: Final = "0" * 40
_ESCAPES: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def git_diff_lines(diff: FileDiff, *, has_binary: bool = False) -> Iterator[str]:
    """Yield the lines of one file, without line ends; `has_binary`: with the bytes of binary files.

    What cannot be applied is said in lines of its own before it, which git reads over.
    """
    old, new = quoted_path(f"a/{diff.old_path}"), quoted_path(f"b/{diff.path}")
    yield from (f"# {diff.path}: {note}" for note in diff.notes if note != BINARY)
    yield f"diff --git {old} {new}"
    yield from _extended_header(diff)
    if BINARY in diff.notes:
        yield from _binary_lines(diff, old, new, has_binary=has_binary)
        return
    if not diff.hunks:
        return
    yield f"--- {_NO_FILE if diff.change == 'create' else _with_tab(old)}"
    yield f"+++ {_NO_FILE if diff.change == 'delete' else _with_tab(new)}"
    for hunk in diff.hunks:
        yield f"@@ -{_range(hunk.old_start, hunk.old_count)} +{_range(hunk.new_start, hunk.new_count)} @@"
        yield from (_NO_NEWLINE if sign == "\\" else f"{sign}{text}" for sign, text in hunk.lines)


def _extended_header(diff: FileDiff) -> Iterator[str]:
    if diff.change == "create":
        yield f"new file mode {_git_mode(diff.new_mode)}"
    elif diff.change == "delete":
        yield f"deleted file mode {_git_mode(diff.old_mode)}"
    elif _git_mode(diff.old_mode) != _git_mode(diff.new_mode):
        yield f"old mode {_git_mode(diff.old_mode)}"
        yield f"new mode {_git_mode(diff.new_mode)}"
    if diff.change == "rename":
        yield f"similarity index {90 if diff.hunks else 100}%"
        yield f"rename from {quoted_path(diff.old_path)}"
        yield f"rename to {quoted_path(diff.path)}"


def _git_mode(mode: int) -> str:
    """Return a mode as git has it: executable or not."""
    return f"{_REGULAR | (0o755 if mode & _EXECUTABLE else 0o644):o}"


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _with_tab(name: str) -> str:
    """Return a name behind `---`; where it has a blank, a tab says where it ends."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def quoted_path(path: str) -> str:
    """Return a path as git writes it: in quotes with escapes if it holds what would end or hide it."""
    if not any(character in _ESCAPES or not character.isprintable() for character in path):
        return path
    return f'"{"".join(map(_quoted_character, path))}"'


def _quoted_character(character: str) -> str:
    if character in _ESCAPES or character.isprintable():
        return _ESCAPES.get(character, character)
    return "".join(f"\\{byte:03o}" for byte in _bytes_of(character))


def _bytes_of(character: str) -> bytes:
    return character.encode("utf-8", "surrogateescape" if "\udc80" <= character <= "\udcff" else "replace")


def _binary_lines(diff: FileDiff, old: str, new: str, *, has_binary: bool) -> Iterator[str]:
    if not has_binary or diff.images is None:
        names = (_NO_FILE if diff.change == "create" else old, _NO_FILE if diff.change == "delete" else new)
        yield f"Binary files {names[0]} and {names[1]} differ"
        return
    before, after = diff.images
    yield f"index {_blob_name(before)}..{_blob_name(after)}"
    yield "GIT binary patch"
    yield from _literal_lines(after or b"")
    yield from _literal_lines(before or b"")


def _blob_name(data: bytes | None) -> str:
    """Return the name that git gives to bytes."""
    if data is None:
        return _NO_BLOB
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


def _literal_lines(data: bytes) -> Iterator[str]:
    yield f"literal {len(data)}"
    packed = zlib.compress(data)
    for start in range(0, len(packed), _LINE_BYTES):
        piece = packed[start : start + _LINE_BYTES]
        size = chr(len(piece) + (64 if len(piece) <= 26 else 70))
        yield size + base64.b85encode(piece, pad=True).decode("ascii")
    yield ""


def diff_stat_lines(diffs: Sequence[FileDiff], width: int) -> Iterator[str]:
    """Yield a line a file with a bar of what was added and removed, and their sum, within `width` cells."""
    if not diffs:
        return
    names = [_stat_name(diff) for diff in diffs]
    column = min(max(map(cell_width, names)), max(20, width - 30))
    most = max(diff.added + diff.removed for diff in diffs)
    digits, room = len(str(most)), max(5, min(40, width - column - 12))
    for name, diff in zip(names, diffs, strict=True):
        shortened = name if cell_width(name) <= column else f"…{name[-column + 1 :]}"
        if BINARY in diff.notes:
            yield f" {_padded(shortened, column)} | {'Bin':>{digits}}"
            continue
        total = diff.added + diff.removed
        scale = min(1.0, room / most) if most else 1.0
        plus = max(1, round(diff.added * scale)) if diff.added else 0
        minus = max(1, round(diff.removed * scale)) if diff.removed else 0
        yield f" {_padded(shortened, column)} | {total:>{digits}} {'+' * plus}{'-' * minus}".rstrip()
    yield f" {_sum_text(diffs)}"


def _padded(text: str, cells: int) -> str:
    return text + " " * (cells - cell_width(text))


def _stat_name(diff: FileDiff) -> str:
    return f"{diff.old_path} => {diff.path}" if diff.change == "rename" else diff.path


def _sum_text(diffs: Iterable[FileDiff]) -> str:
    some = list(diffs)
    added, removed = sum(diff.added for diff in some), sum(diff.removed for diff in some)
    return f"{counted(len(some), 'file')} changed, {counted(added, 'line')} added, {removed:,} removed"
