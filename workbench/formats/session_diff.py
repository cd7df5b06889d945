"""What a session changed, file by file, as one unified diff that git applies.

Pure. Where the bytes before and after are kept, they are compared. Where a program recorded hunks alone, each
is laid upon what the hunks before it say of the file; what does not fit is kept apart, and said.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.changes.diff import (
    FileChange,
    changed_blocks,
    changed_line_totals,
    is_binary_content,
    is_shown_as_latin1,
    make_hunks,
)
from workbench.domain.values import Hunk, JsonObject
from workbench.formats.patches import edits_of_call, edits_to_hunks
from workbench.formats.records import ToolCall

NOT_PLACED: Final = "line numbers are not recorded: each change stands for itself"
CONTENT_LOST: Final = "what it held before is not recorded"
HUNKS_LOST: Final = "what changed in it is not recorded"
HUNKS_CUT: Final = "a change of it is recorded in part"
MOVED_BETWEEN: Final = "somebody else changed it in between: their changes are in here"
BINARY: Final = "binary"
SCRUBBED: Final = "secrets are replaced"
_CONTEXT: Final = 3
_PLAIN_MODE: Final = 0o644

FileChangeKind = Literal["create", "modify", "delete", "rename"]


class RecordedWrite(Struct, frozen=True, kw_only=True):
    """One change of a file as the journal has it."""

    path: str
    change: Literal["create", "modify", "delete"]
    call_id: str = ""
    has_before: bool = False
    """Whether `before` is what was there; None is no file."""
    before: bytes | None = None
    has_after: bool = False
    after: bytes | None = None
    is_continued: bool = True
    """Whether it found what the write before it had left."""
    mode: int = _PLAIN_MODE
    hunks: tuple[Hunk, ...] = ()
    is_placed: bool = True
    """Whether the line numbers of the hunks are those of the file."""


class FileDiff(Struct, frozen=True, kw_only=True):
    """What a session did to one file in all."""

    path: str
    change: FileChangeKind
    old_path: str
    """Another one than `path` for what was renamed."""
    hunks: tuple[Hunk, ...] = ()
    old_mode: int = _PLAIN_MODE
    new_mode: int = _PLAIN_MODE
    notes: tuple[str, ...] = ()
    can_apply: bool = True
    """Whether git applies it to the file as it was before the session."""
    encoding: str = "utf-8"
    images: tuple[bytes | None, bytes | None] | None = None
    """Of a binary file: its bytes before and after."""

    @property
    def added(self) -> int:
        return changed_line_totals(self.hunks)[0]

    @property
    def removed(self) -> int:
        return changed_line_totals(self.hunks)[1]


class SessionDiff(Struct, frozen=True, kw_only=True):
    """Everything that a session changed."""

    folder: str
    """Paths are relative to it."""
    files: tuple[FileDiff, ...]
    outside: tuple[FileDiff, ...]
    """Files in other folders, by their whole paths."""
    sessions: int
    """How many sessions it is of: the session and those that it started."""
    reverted: tuple[str, ...] = ()
    """Paths that were changed and are as they were before the session, because the changes were undone."""

    def why_empty(self) -> str:
        """Return why there is no file to show, as a sentence; empty where there is one."""
        if self.files or self.outside:
            return ""
        if not self.reverted:
            return "It changed no file that is recorded."
        files, are = ("file", "is") if len(self.reverted) == 1 else ("files", "are")
        count = "the" if len(self.reverted) == 1 else f"the {len(self.reverted):,}"
        return f"All its changes were undone: {count} {files} that it changed {are} as before."


def is_quoted_edit(tool: str, arguments: JsonObject, hunks: Sequence[Hunk]) -> bool:
    """Return whether hunks were made of what a call quotes, so that their line numbers say nothing."""
    path = hunks[0].path if hunks else ""
    edits = [edit for edit in edits_of_call(ToolCall("", tool, arguments)) if edit.old or edit.patch]
    quoted = [hunk.lines for hunk in edits_to_hunks(tuple(edits)) if hunk.path == path or len(edits) == 1]
    return bool(quoted) and quoted == [hunk.lines for hunk in hunks] and hunks[0].old_start <= 1


# --- what several writes come to ---------------------------------------------------------------------


def session_file_diffs(writes: Iterable[RecordedWrite]) -> list[FileDiff]:
    """Return what some writes come to, in the order of their paths; a file that is as it was is left out."""
    files: dict[str, _FileHistory] = {}
    for write in writes:
        history = files.get(write.path)
        moved = _moved_from(files, write) if write.change == "create" else None
        if moved is not None:
            del files[moved.path]
            moved.path = write.path
            files[write.path] = history = moved
        elif history is None:
            files[write.path] = history = _FileHistory(path=write.path, old_path=write.path)
        history.take(write, is_move=moved is not None)
    diffs = [diff for history in files.values() if (diff := history.diff()) is not None]
    return sorted(_with_renames(diffs), key=lambda diff: diff.path)


def _moved_from(files: "dict[str, _FileHistory]", write: RecordedWrite) -> "_FileHistory | None":
    """Return the file that the same call deleted, where what it wrote is a change of that one."""
    if write.has_after or (
        write.hunks and all(sign == "+" for hunk in write.hunks for sign, _ in hunk.lines)
    ):
        return None
    deleted = (file for file in files.values() if file.deleted_by == write.call_id and write.call_id)
    return next(deleted, None)


def _with_renames(diffs: Sequence[FileDiff]) -> Iterator[FileDiff]:
    """Yield the changes; a file that went and one of the same bytes that came are one that was renamed."""
    gone = {
        diff.images[0]: diff for diff in diffs if diff.change == "delete" and diff.images and diff.images[0]
    }
    taken: set[str] = set()
    for diff in diffs:
        old = gone.get(diff.images[1] or b"") if diff.change == "create" and diff.images else None
        if old is not None and old.path not in taken:
            taken.add(old.path)
            yield replace(
                diff, change="rename", old_path=old.path, hunks=(), old_mode=old.old_mode, images=None
            )
        elif diff.change != "delete":
            yield diff
    yield from (diff for diff in diffs if diff.change == "delete" and diff.path not in taken)


class _FileHistory(Struct):
    path: str
    old_path: str
    writes: list[RecordedWrite] = field(default_factory=list[RecordedWrite])
    moves: set[int] = field(default_factory=set[int])
    """Which of the writes moved the file to its path."""
    deleted_by: str = ""

    @property
    def is_deleted(self) -> bool:
        return self.writes[-1].change == "delete"

    def take(self, write: RecordedWrite, *, is_move: bool) -> None:
        if is_move:
            self.moves.add(len(self.writes))
        self.writes.append(write)
        self.deleted_by = write.call_id if self.is_deleted else ""

    def diff(self) -> FileDiff | None:
        notes = [MOVED_BETWEEN] if not all(write.is_continued for write in self.writes[1:]) else []
        first, last = self.writes[0], self.writes[-1]
        if first.has_before and last.has_after:
            return self._compared(first, last, notes)
        is_new, was_moved = first.change == "create", self.old_path != self.path
        if is_new and self.is_deleted:
            return None
        lines = _ChainedLines(is_new=is_new)
        for number, write in enumerate(self.writes):
            notes += _chained_notes(lines, write, is_move=number in self.moves)
        hunks, is_whole = lines.hunks(self.path)
        notes += [] if is_whole else [NOT_PLACED]
        if not (hunks or self.is_deleted or was_moved or is_new or notes):
            return None
        kind: FileChangeKind = "create" if is_new else "rename" if was_moved else "modify"
        return FileDiff(
            path=self.path, old_path=self.old_path, change="delete" if self.is_deleted else kind, hunks=hunks,
            old_mode=first.mode, new_mode=last.mode, notes=tuple(dict.fromkeys(notes)), can_apply=not notes,
        )  # fmt: skip

    def _compared(self, first: RecordedWrite, last: RecordedWrite, notes: Sequence[str]) -> FileDiff | None:
        before, after = first.before, last.after
        if before == after and first.mode == last.mode:
            return None
        change = FileChange(path=self.path, before=before, after=after, mode=last.mode)
        is_binary = is_binary_content(before) or is_binary_content(after)
        return FileDiff(
            path=self.path, old_path=self.path,
            change="create" if before is None else "delete" if after is None else "modify",
            hunks=make_hunks([change]), old_mode=first.mode, new_mode=last.mode,
            notes=(*notes, *([BINARY] if is_binary else [])),
            encoding="latin-1" if is_shown_as_latin1(change) else "utf-8", images=(before, after),
        )  # fmt: skip


def _chained_notes(lines: "_ChainedLines", write: RecordedWrite, *, is_move: bool) -> Iterator[str]:
    """Lay a write upon what is known of a file, and yield what is to be said of it."""
    hunks = write.hunks
    if not hunks and write.has_before and write.has_after:
        change = FileChange(path=write.path, before=write.before, after=write.after, mode=write.mode)
        hunks = make_hunks([change])
    if any(_is_cut(hunk) for hunk in hunks):
        yield HUNKS_CUT
    is_whole = write.change == "create" and not is_move
    if (is_whole or (write.change == "delete" and not hunks)) and not lines.is_new:
        yield CONTENT_LOST
    if is_whole:
        lines.replace_all(hunks)
    elif hunks:
        lines.apply(hunks, is_placed=write.is_placed)
    elif write.change == "modify":
        yield HUNKS_LOST


def _is_cut(hunk: Hunk) -> bool:
    signs = [sign for sign, _ in hunk.lines]
    return sum(sign in " -" for sign in signs) != hunk.old_count or signs[:1] == ["\\"]


# --- hunks upon hunks ----------------------------------------------------------------------------------


class _Mismatch(Exception):
    """A hunk says something else of a line than what is known of it."""


class _Kept(Struct):
    """Lines of the file as it was before: `count` from line `start` on, or all of them."""

    start: int
    count: int | None


_Line = int | str
"""A line of a file: the number that it had before the session, or the text that was put there."""


class _ChainedLines:
    """A file of which only what hunks said is known: which lines are left, which came, and their texts."""

    def __init__(self, *, is_new: bool) -> None:
        self.is_new = is_new
        self._parts: list[_Kept | list[str]] = [] if is_new else [_Kept(1, None)]
        self._known: dict[int, str] = {}
        self._loose: list[tuple[list[str], list[str]]] = []
        """Changes whose place is not known: the lines before and after."""

    def replace_all(self, hunks: Sequence[Hunk]) -> None:
        """Take what a write of the whole file says."""
        if not self.is_new:
            # What was there is not known, so nothing of it is said.
            self.is_new, self._known = True, {}
        self._loose = []
        self._parts = [[text for hunk in hunks for sign, text in _whole_lines(hunk) if sign == "+"]]

    def apply(self, hunks: Sequence[Hunk], *, is_placed: bool) -> None:
        """Lay the hunks of one change upon what is known."""
        has_moved = any(len(old) != len(new) for old, new in self._loose)
        if is_placed and not has_moved:
            parts, known = [*self._parts], {**self._known}
            try:
                # From the last one, because their numbers are those before the change.
                for hunk in reversed(hunks):
                    self._apply_at(hunk.old_start if hunk.old_count else hunk.old_start + 1, hunk)
            except _Mismatch:
                self._parts, self._known = parts, known
            else:
                return
        for hunk in hunks:
            self._apply_anywhere(hunk)

    def _apply_anywhere(self, hunk: Hunk) -> None:
        lines = _whole_lines(hunk)
        old = [text for sign, text in lines if sign in " -"]
        new = [text for sign, text in lines if sign in " +"]
        position = self._position_of(old)
        if position is not None:
            self._apply_at(position, hunk)
            return
        for _, there in self._loose:
            if (time_us := _index_of(old, there)) is not None:
                there[time_us : time_us + len(old)] = new
                return
        self._loose.append((old, new))

    def _position_of(self, wanted: Sequence[str]) -> int | None:
        """Return the line at which some known lines begin now; None if they are not known to be there."""
        run, begins = list[str](), 1
        for position, text in self._known_lines():
            if position != begins + len(run):
                if (time_us := _index_of(wanted, run)) is not None:
                    return begins + time_us
                run, begins = [], position
            run.append(text)
        time_us = _index_of(wanted, run)
        return None if time_us is None else begins + time_us

    def _known_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the known lines of the file as it is now, with their numbers."""
        position, numbers = 1, sorted(self._known)
        for part in self._parts:
            if isinstance(part, list):
                yield from enumerate(part, position)
                position += len(part)
                continue
            for number in _numbers_of(part, numbers):
                yield position + number - part.start, self._known[number]
            position += part.count or 0

    def _apply_at(self, position: int, hunk: Hunk) -> None:
        lines = _whole_lines(hunk)
        before, taken, after = self._cut(position - 1, sum(sign in " -" for sign, _ in lines))
        fresh: list[_Line] = []
        learned: dict[int, str] = {}
        rest = iter(taken)
        for sign, text in lines:
            if sign == "+":
                fresh.append(text)
                continue
            line = next(rest, None)
            if line is None:
                raise _Mismatch
            said = text if isinstance(line, int) and line not in self._known else self._text(line)
            if said.rstrip("\n") != text.rstrip("\n"):
                raise _Mismatch
            if isinstance(line, int):
                learned[line] = said
            if sign == " ":
                fresh.append(line)
        self._known |= learned
        self._parts = _joined([*before, *_parts_of(fresh), *after])

    def _text(self, line: _Line) -> str:
        return line if isinstance(line, str) else self._known[line]

    def _cut(
        self, skipped: int, count: int
    ) -> tuple[list[_Kept | list[str]], list[_Line], list[_Kept | list[str]]]:
        """Return the parts before some lines, these lines, and the parts behind them."""
        before, behind = _split(self._parts, skipped)
        taken, after = _split(behind, count)
        lines: list[_Line] = []
        for part in taken:
            lines += part if isinstance(part, list) else range(part.start, part.start + (part.count or 0))
        return before, lines, after

    def hunks(self, path: str) -> tuple[tuple[Hunk, ...], bool]:
        """Return what all of it comes to, and whether every change has its place."""
        hunks = [*_grouped_hunks(path, list(self._rows()))]
        for old, new in self._loose:
            loose = _block_rows(old, new)
            if any(sign != " " for sign, _ in loose):
                hunks.append(_hunk(path, 1, 1, loose))
        numbered = tuple(replace(hunk, index=index) for index, hunk in enumerate(hunks, 1))
        return numbered, not self._loose

    def _rows(self) -> "Iterator[_Row | None]":
        """Yield what is known of the file, line by line; None where lines are left out."""
        cursor, added, numbers = 1, list[str](), sorted(self._known)
        for part in self._parts:
            if isinstance(part, list):
                added += part
                continue
            yield from self._changed_rows(cursor, part.start, added)
            added, cursor = [], part.start
            for number in _numbers_of(part, numbers):
                if number != cursor:
                    yield None
                yield _Row(" ", self._known[number], number)
                cursor = number + 1
            if part.count is None:
                return
            if cursor != part.start + part.count:
                yield None
            cursor = part.start + part.count
        yield from self._changed_rows(cursor, cursor, added)

    def _changed_rows(self, first: int, end: int, added: Sequence[str]) -> "Iterator[_Row]":
        number = first
        for sign, text in _block_rows([self._known[number] for number in range(first, end)], added):
            yield _Row(sign, text, number)
            number += sign != "+"


def _numbers_of(part: _Kept, known: Sequence[int]) -> Sequence[int]:
    """Return which of some sorted line numbers are in a part."""
    end = len(known) if part.count is None else bisect_left(known, part.start + part.count)
    return known[bisect_left(known, part.start) : end]


class _Row(Struct, frozen=True):
    sign: str
    text: str
    number: int
    """Of the line before the session; of an added one, of the line that follows."""


def _split(
    parts: Sequence[_Kept | list[str]], count: int
) -> tuple[list[_Kept | list[str]], list[_Kept | list[str]]]:
    before: list[_Kept | list[str]] = []
    for index, part in enumerate(parts):
        size = len(part) if isinstance(part, list) else part.count
        if size is not None and size <= count:
            before.append(part)
            count -= size
            continue
        rest: list[_Kept | list[str]] = list(parts[index + 1 :])
        if not count:
            return before, [part, *rest]
        if isinstance(part, list):
            return [*before, part[:count]], [part[count:], *rest]
        tail = None if part.count is None else part.count - count
        return [*before, _Kept(part.start, count)], [_Kept(part.start + count, tail), *rest]
    if count:
        raise _Mismatch
    return before, []


def _parts_of(lines: Iterable[_Line]) -> Iterator[_Kept | list[str]]:
    for line in lines:
        yield [line] if isinstance(line, str) else _Kept(line, 1)


def _joined(parts: Iterable[_Kept | list[str]]) -> list[_Kept | list[str]]:
    joined: list[_Kept | list[str]] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, list) and isinstance(last, list):
            joined[-1] = [*last, *part]
        elif (
            isinstance(part, _Kept)
            and isinstance(last, _Kept)
            and last.start + (last.count or 0) == part.start
        ):
            joined[-1] = _Kept(last.start, None if part.count is None else (last.count or 0) + part.count)
        else:
            joined.append(part)
    return joined


def _whole_lines(hunk: Hunk) -> list[tuple[str, str]]:
    """Return the lines of a hunk with their line ends; the last one may have none."""
    lines: list[tuple[str, str]] = []
    for sign, text in hunk.lines:
        if sign != "\\":
            lines.append((sign, f"{text}\n"))
        elif lines:
            lines[-1] = (lines[-1][0], lines[-1][1].removesuffix("\n"))
    return lines


def _index_of(wanted: Sequence[str], lines: Sequence[str]) -> int | None:
    if not wanted:
        return None
    first = wanted[0]
    for time_us in range(len(lines) - len(wanted) + 1):
        if lines[time_us] == first and lines[time_us : time_us + len(wanted)] == list(wanted):
            return time_us
    return None


def _block_rows(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """Return lines before and after as signed lines; what is the same on both sides is context."""
    rows: list[tuple[str, str]] = []
    position = 0
    for block in changed_blocks([line.encode() for line in old], [line.encode() for line in new]):
        rows += ((" ", line) for line in old[position : block.old_from])
        rows += (("-", line) for line in old[block.old_from : block.old_to])
        rows += (("+", line) for line in new[block.new_from : block.new_to])
        position = block.old_to
    return [*rows, *((" ", line) for line in old[position:])]


def _grouped_hunks(path: str, rows: Sequence[_Row | None]) -> Iterator[Hunk]:
    """Yield hunks with the context that is known, at most three lines on each side."""
    shift = 0
    run: list[_Row] = []
    for row in (*rows, None):
        if row is not None:
            run.append(row)
            continue
        for first, end in _changed_ranges(run):
            piece = run[first:end]
            hunk = _hunk(
                path, piece[0].number, piece[0].number + shift, [(row.sign, row.text) for row in piece]
            )
            shift += hunk.new_count - hunk.old_count
            yield hunk
        run = []


def _changed_ranges(run: Sequence[_Row]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for index, row in enumerate(run):
        if row.sign == " ":
            continue
        first, end = max(0, index - _CONTEXT), min(len(run), index + _CONTEXT + 1)
        if ranges and first <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((first, end))
    return ranges


def _hunk(path: str, old_start: int, new_start: int, rows: Sequence[tuple[str, str]]) -> Hunk:
    old, new = (sum(sign in signs for sign, _ in rows) for signs in (" -", " +"))
    lines: list[tuple[str, str]] = []
    for sign, text in rows:
        lines.append((sign, text.removesuffix("\n")))
        if not text.endswith("\n"):
            lines.append(("\\", ""))
    return Hunk(
        index=1, path=path, old_start=old_start if old else old_start - 1, old_count=old,
        new_start=new_start if new else new_start - 1, new_count=new, lines=tuple(lines),
    )  # fmt: skip
