"""Read a patch: unified diffs as git, GNU diff and others write them, with whatever text stands around them.

Cuts the text into files and reads their headers; unidiff reads the hunks. Applies nothing and opens nothing.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.changes.diff import split_lines
from workbench.changes.unified_diff import PatchFile, PatchHunk, PatchKind
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from unidiff.patch import Hunk

MAX_DIFF_BYTES: Final = 1_000_000
MAX_DIFF_FILES: Final = 500
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_NO_FILE: Final = "/dev/null"
_BYTES: Final = "latin-1"
"""Gives every byte a character of its own, so that text comes back as the same bytes."""
_NO_LINE_END: Final = "\\ No newline at end of file\n"
_HUNK_HEAD: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NOT_UNIFIED: Final = re.compile(r"diff --(?:cc|combined) |@@@ |\*\*\* (?:Begin Patch|\d+(?:,\d+)? \*\*\*\*)")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", '"': '"', "\\": "\\",
}  # fmt: skip
_TIME: Final = re.compile(r"\t(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.0+)? ([-+]\d{4})$")
_MODE: Final = re.compile(r"[0-7]{6}")
_GIT_FIELDS: Final = (
    "--- ", "+++ ", "old mode ", "new mode ", "deleted file mode ", "new file mode ", "rename from ",
    "rename to ", "copy from ", "copy to ", "similarity index ", "dissimilarity index ", "index ",
    "Binary files ", "GIT binary patch",
)  # fmt: skip
_KIND_OF_FIELD: Final[dict[str, PatchKind]] = {
    "new file mode ": "create", "deleted file mode ": "delete", "rename to ": "rename", "copy to ": "copy",
}  # fmt: skip
_BEGINNING: Final = re.compile(
    rb"diff --git |--- [^\n]*\n\+\+\+ [^\n]*\n@@ -|From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\n"
)


class PatchBroken(ValueError):
    """A text cannot be read as a patch: why, and at which line if that is known."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {why}" if line else why)
        self.why, self.line = why, line


def looks_like_patch(head: bytes) -> bool:
    """Return whether a file begins as git and diff write patches."""
    return _BEGINNING.match(head.removeprefix(_BYTE_ORDER_MARK)) is not None


def read_unified_diff(data: bytes) -> tuple[PatchFile, ...]:
    """Return what a patch says of each file, in its order; raises PatchBroken."""
    if len(data) > MAX_DIFF_BYTES:
        raise PatchBroken(f"it is longer than {MAX_DIFF_BYTES:,} bytes; split it into several patches")
    lines = [line.decode(_BYTES) for line in split_lines(data.removeprefix(_BYTE_ORDER_MARK))]
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"  # what was pasted often lacks it
    files = tuple(_Reader(lines).files())
    if not files:
        raise PatchBroken("no change of a file was found in it; it is not a unified diff")
    return files


class _Head(Struct):
    """The header of a file as far as it was read."""

    line: int
    old: str | None = None
    new: str | None = None
    kind: PatchKind = "modify"
    is_git: bool = True
    old_mode: int | None = None
    new_mode: int | None = None
    is_binary: bool = False


class _Reader:
    """Goes through the lines of a patch once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines, self._at = lines, 0

    def files(self) -> Iterator[PatchFile]:
        """Yield the files; raises PatchBroken."""
        count = 0
        while self._at < len(self._lines):
            self._refuse_foreign()
            if (head := self._head()) is None:
                self._at += 1
                continue
            count += 1
            if count > MAX_DIFF_FILES:
                raise self._broken(f"it has more than {MAX_DIFF_FILES} files; split it into several patches")
            yield self._file(head)

    def _line(self, ahead: int = 0) -> str:
        return self._lines[self._at + ahead] if self._at + ahead < len(self._lines) else ""

    def _broken(self, why: str) -> PatchBroken:
        return PatchBroken(why, min(self._at + 1, len(self._lines)))

    def _refuse_foreign(self) -> None:
        line = self._line()
        if _NOT_UNIFIED.match(line):
            raise self._broken(
                "this form of patch is not read; make a unified diff, for example with git diff"
            )
        if line.startswith("@@ -"):
            raise self._broken("a hunk without the names of its file above it")
        if line.startswith("Binary files ") and line.rstrip().endswith(" differ"):
            raise self._broken("a binary change, whose bytes are not in the patch; copy the file itself")

    def _head(self) -> _Head | None:
        line = self._line()
        if line.startswith("diff --git "):
            return self._git_head()
        is_plain = line.startswith("--- ") and self._line(1).startswith("+++ ")
        return self._plain_head() if is_plain and self._line(2).startswith("@@ -") else None

    # --- headers -------------------------------------------------------------------------------

    def _plain_head(self) -> _Head:
        head = _Head(line=self._at + 1, is_git=False)
        old, new = self._value("--- "), self._value("+++ ")
        head.old, head.new = self._name(old), self._name(new)
        if head.old is None or _is_epoch(old):
            head.old, head.kind = None, "create"
        elif head.new is None or _is_epoch(new):
            head.new, head.kind = None, "delete"
        return head

    def _git_head(self) -> _Head:
        head = _Head(line=self._at + 1)
        head.old, head.new = self._both_names(self._value("diff --git "))
        while name := next((name for name in _GIT_FIELDS if self._line().startswith(name)), None):
            if name == "--- " and not self._is_of(head):
                break
            self._add_field(head, name, self._value(name))
        if head.old is None and head.new is None:
            raise PatchBroken("the names of its file cannot be told apart", head.line)
        return head

    def _is_of(self, head: _Head) -> bool:
        """Return whether a line of `---` names the file of a header of git, and not another one."""
        name = self._name(self._line().removeprefix("--- ").rstrip("\r\n"))
        if name is None or head.old is None:
            return True
        return head.old in (name, name.partition("/")[2]) or _is_same_file(head.old, name)

    def _add_field(self, head: _Head, name: str, text: str) -> None:
        match name:
            case "--- " | "+++ " if head.kind in ("rename", "copy"):
                pass  # the names of the move have no prefix
            case "--- " | "rename from " | "copy from ":
                head.old = self._name(text) or head.old
            case "+++ " | "rename to " | "copy to ":
                head.new = self._name(text) or head.new
            case "old mode " | "deleted file mode ":
                head.old_mode = self._mode(text)
            case "new mode " | "new file mode ":
                head.new_mode = self._mode(text)
            case _:
                head.is_binary = head.is_binary or "inary" in name
        head.kind = _KIND_OF_FIELD.get(name, head.kind)

    def _mode(self, text: str) -> int:
        if not _MODE.fullmatch(text):
            raise PatchBroken("this mode cannot be read", self._at)
        return int(text, 8)

    def _value(self, field: str) -> str:
        """Return what stands behind a field of the header, and go on to the next line."""
        line = self._line()
        if line.endswith("\r\n"):
            raise self._broken(
                "its own lines end in CR LF, which hides those of its files; convert it with dos2unix"
            )
        self._at += 1
        return line.removeprefix(field).removesuffix("\n")

    def _name(self, text: str) -> str | None:
        """Return the name behind `---` or `rename to`; None for /dev/null."""
        quoted = _QUOTED.match(text)
        name = _unquoted(quoted[1]) if quoted else text.partition("\t")[0]
        return None if name == _NO_FILE else self._decoded(name)

    def _decoded(self, name: str) -> str:
        try:
            return name.encode(_BYTES).decode()
        except UnicodeDecodeError:
            shown = one_line(name, 80)
            raise PatchBroken(f"the name “{shown}” is not UTF-8", self._at) from None

    def _both_names(self, text: str) -> tuple[str | None, str | None]:
        """Return the two names of `diff --git`; None twice where the text can be read in two ways."""
        first = _QUOTED.match(text)
        if first:
            return self._name(text), self._name(text[first.end() :].removeprefix(" "))
        old, gap, new = text.partition(' "')
        if gap and new.endswith('"'):
            return self._decoded(old), self._name(f'"{new}')
        middle = len(text) // 2
        if len(text) % 2 == 0 or text[middle] != " ":
            return None, None
        old, new = self._decoded(text[:middle]), self._decoded(text[middle + 1 :])
        return (old, new) if _is_same_file(old, new) else (None, None)

    # --- hunks ---------------------------------------------------------------------------------

    def _file(self, head: _Head) -> PatchFile:
        start = self._at
        while self._line().startswith("@@ -"):
            self._skip_hunk()
        hunks = self._hunks(start)
        if not hunks and not head.is_git:
            raise self._broken("it has no hunks")
        return PatchFile(
            line=head.line, old=head.old, new=head.new, kind=head.kind, is_git=head.is_git, hunks=hunks,
            old_mode=head.old_mode, new_mode=head.new_mode, is_binary=head.is_binary,
        )  # fmt: skip

    def _skip_hunk(self) -> None:
        """Go behind the lines that belong to a hunk by its numbers; unidiff says whether they are right."""
        numbers = _HUNK_HEAD.match(self._line())
        if numbers is None:
            raise self._broken("the numbers of this hunk cannot be read")
        old, new = int(numbers[2] or 1), int(numbers[4] or 1)
        self._at += 1
        while (old > 0 or new > 0) and (sign := self._line()[:1]) in (" ", "-", "+", "\\", "\n"):
            old -= sign in (" ", "-", "\n")
            new -= sign in (" ", "+", "\n")
            self._at += 1
        if self._line().startswith("\\"):
            self._at += 1
        elif self._line()[:1] in (" ", "-", "+") and not self._is_end_of_hunks():
            raise self._broken("the hunk continues, and its numbers say that it ends above")

    def _is_end_of_hunks(self) -> bool:
        """Return whether a line that looks like one of a hunk is another header, or ends a letter."""
        line = self._line()
        return line.rstrip() == "--" or (line.startswith("--- ") and self._line(1).startswith("+++ "))

    def _hunks(self, start: int) -> tuple[PatchHunk, ...]:
        if start == self._at:
            return ()
        from unidiff.errors import UnidiffParseError
        from unidiff.patch import PatchSet

        read = start

        def lines() -> Iterator[str]:
            nonlocal read
            yield from ("--- a\n", "+++ b\n")
            for line in self._lines[start : self._at]:
                read += 1
                yield _NO_LINE_END if line.startswith("\\") else line

        try:
            (patched,) = PatchSet(lines())
        except UnidiffParseError as error:
            raise PatchBroken(_error_sentence(str(error)), read) from None
        heads = (at + 1 for at in range(start, self._at) if self._lines[at].startswith("@@ -"))
        numbered = enumerate(zip(patched, heads, strict=True), 1)
        return tuple(_patch_hunk(hunk, number, line) for number, (hunk, line) in numbered)


def _is_same_file(old: str, new: str) -> bool:
    """Return whether two names differ in nothing but their first folder."""
    return old == new or old.partition("/")[2] == new.partition("/")[2] != ""


def _patch_hunk(hunk: "Hunk", number: int, line: int) -> PatchHunk:
    rows: list[tuple[str, bytes]] = []
    for row in hunk:
        if row.line_type == "\\" and rows:
            sign, data = rows[-1]
            rows[-1] = sign, data.removesuffix(b"\n")
        elif row.line_type in (" ", "-", "+"):
            rows.append((row.line_type, row.value.encode(_BYTES)))
    return PatchHunk(
        number=number, line=line, old_start=hunk.source_start, new_start=hunk.target_start, lines=tuple(rows)
    )


def _error_sentence(text: str) -> str:
    what = text.partition(":")[0]
    if what == "Hunk is shorter than expected":
        return "the hunk ends here, and its numbers say that it continues"
    if what == "Hunk is longer than expected":
        return "the hunk continues, and its numbers say that it ends above"
    return f"this line belongs to no hunk ({one_line(what, 80)})"


def _unquoted(text: str) -> str:
    """Decode a C-quoted name to bytes."""

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 8) & 0xFF) if len(code) == 3 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(plain, text)


def _is_epoch(text: str) -> bool:
    """Return whether the time after a name is the epoch, by which GNU diff marks a missing file."""
    time = _TIME.search(text)
    if time is None:
        return False
    try:
        return datetime.fromisoformat(f"{time[1]}T{time[2]}{time[3]}").timestamp() == 0
    except ValueError:
        return False
