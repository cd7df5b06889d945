"""The changes of a patch: its hunks applied to the bytes of files as `git apply` does, all of them or none.

Reads through the function it is given and writes nothing. A hunk fits where each line that it keeps or
removes is exactly the same, at its place or elsewhere; nothing is guessed from similar lines.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, Literal

from msgspec import Struct, field

from workbench.changes.diff import FileChange, is_binary_content, split_lines
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage
from workbench.secrets.scrubber import scrub
from workbench.text.human import counted
from workbench.text.safe import one_line

ReadImage = Callable[[str], FileImage | None]
"""Returns the file at a path, None where there is none; may raise FileRefused."""
PatchKind = Literal["create", "modify", "delete", "rename", "copy"]
MOST_PROBLEMS: Final = 20
"""Problems of a patch that are named."""
_SEARCH_STEPS: Final = 20_000_000
"""Lines that are compared at most to find where one hunk fits."""
_MODES: Final = {0o100644: 0o644, 0o100755: 0o755}
_SPECIAL_MODES: Final = {0o120000: "a symbolic link", 0o160000: "a submodule"}
_NEW_MODE: Final = 0o644
_SHOWN_LINE: Final = 60


class PatchHunk(Struct, frozen=True, kw_only=True):
    """One hunk; `number` counts those of its file, `line` is its place in the patch."""

    number: int
    line: int
    old_start: int
    new_start: int
    lines: tuple[tuple[str, bytes], ...]
    """Sign and bytes; the line end is missing where the patch says so."""

    def side(self, signs: str) -> list[bytes]:
        """Return the lines of one side."""
        return [data for sign, data in self.lines if sign in signs]

    @property
    def ends_with_change(self) -> bool:
        return bool(self.lines) and self.lines[-1][0] != " "


class PatchFile(Struct, frozen=True, kw_only=True):
    """What a patch says of one file; names as written, with the folders that `strip` takes away."""

    line: int
    """In the patch, of its first header line."""
    old: str | None
    """None for `/dev/null`, if git's first line does not have the name all the same."""
    new: str | None
    kind: PatchKind
    is_git: bool
    """Whether it has a header of git, so that its kind is not a guess."""
    hunks: tuple[PatchHunk, ...] = ()
    old_mode: int | None = None
    new_mode: int | None = None
    is_binary: bool = False


class PatchPaths(Struct, frozen=True, kw_only=True):
    """The paths of one file of a patch, relative to the workspace."""

    source: str
    """The file that is read; for a creation the one that is made."""
    target: str

    @property
    def both(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.source, self.target)))


class PatchUnusable(Exception):
    """A patch cannot be made a change of these files; every problem that was found."""

    def __init__(self, problems: Sequence[str]) -> None:
        more = len(problems) - MOST_PROBLEMS
        self.problems = (*problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else []))
        super().__init__("; ".join(self.problems))


# --- names -----------------------------------------------------------------------------------------


def patch_paths(file: PatchFile, strip: int) -> PatchPaths:
    """Return the paths of a file of a patch without their first `strip` folders; raises PatchUnusable."""
    if file.kind in ("rename", "copy"):
        # Git writes these two names without a prefix.
        source, target = (_stripped(file, name, max(strip - 1, 0)) for name in (file.old, file.new))
    elif file.old is None or file.new is None:
        source = target = _stripped(file, file.new if file.old is None else file.old, strip)
    else:
        source, target = (_stripped(file, name, strip) for name in (file.old, file.new))
        if file.is_git and source != target:
            raise _refused(file, f"“{_shown(source)}” and “{_shown(target)}” are two files, without a rename")
        # As git does: `x.orig` beside `x` is a copy that somebody kept.
        source = target = source if target.startswith(source) else target
    return PatchPaths(source=source, target=target)


def all_paths(files: Iterable[PatchFile], strip: int) -> tuple[str, ...]:
    """Return every path that a patch reads or writes, each once; raises PatchUnusable."""
    return tuple(dict.fromkeys(path for file in files for path in patch_paths(file, strip).both))


def _stripped(file: PatchFile, name: str | None, strip: int) -> str:
    parts = (name or "").split("/")
    if name is None or name.startswith("/"):
        raise _refused(file, f"“{_shown(name or '')}” is not a path inside the workspace")
    parts = [part for part in parts if part] if strip else parts
    if len(parts) <= strip:
        folders = counted(strip, "leading folder")
        raise _refused(file, f"“{_shown(name)}” does not have {folders} to leave out")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise _refused(file, f"“{_shown(name)}” is not a plain path inside the workspace")
    return "/".join(parts[strip:])


def _refused(file: PatchFile, why: str) -> PatchUnusable:
    return PatchUnusable((f"line {file.line} of the patch: {why}",))


def _shown(text: str) -> str:
    return one_line(text, 160)


# --- the strip level -------------------------------------------------------------------------------


class FoundStrip(Struct, frozen=True, kw_only=True):
    """Which strip levels fit a workspace, and what is wrong where none does."""

    fitting: tuple[int, ...]
    problems: tuple[str, ...] = ()


def find_strip(files: Sequence[PatchFile], read: ReadImage) -> FoundStrip:
    """Return which of the levels 0 and 1 fit; the problems are those of the one that names more files."""
    problems: dict[int, tuple[str, ...]] = {}
    for strip in (1, 0):
        try:
            patched_changes(files, strip, read)
        except PatchUnusable as error:
            problems[strip] = error.problems
    fitting = tuple(strip for strip in (0, 1) if strip not in problems)
    if fitting:
        return FoundStrip(fitting=fitting)
    strip = max((1, 0), key=lambda level: _count_existing(files, level, read))
    return FoundStrip(fitting=(), problems=problems[strip])


def _count_existing(files: Sequence[PatchFile], strip: int, read: ReadImage) -> int:
    count = 0
    for file in files:
        with suppress(PatchUnusable, FileRefused):
            count += read(patch_paths(file, strip).source) is not None
    return count


# --- the changes -----------------------------------------------------------------------------------


class _File(Struct):
    """A file of the workspace, and what the patch has made of it so far."""

    before: bytes | None
    after: bytes | None
    mode: int
    is_touched: bool = False


class _Files(Struct):
    read: ReadImage
    known: dict[str, _File] = field(default_factory=dict[str, _File])
    moves: list[PatchPaths] = field(default_factory=list[PatchPaths])

    def at(self, path: str) -> _File:
        if path not in self.known:
            image = self.read(path)
            data = image.data if image else None
            self.known[path] = _File(before=data, after=data, mode=image.mode if image else _NEW_MODE)
        return self.known[path]


def patched_changes(files: Sequence[PatchFile], strip: int, read: ReadImage) -> tuple[FileChange, ...]:
    """Return what a patch changes, files that go last; raises PatchUnusable with everything that is wrong."""
    some = _Files(read=read)
    problems: list[str] = []
    for file in files:
        try:
            _patch_file(file, patch_paths(file, strip), some)
        except PatchUnusable as error:
            problems += error.problems
        except FileRefused as error:
            problems.append(f"{_shown(error.path)}: {error.why}")
    if problems:
        raise PatchUnusable(problems)
    changes = sorted(_net_changes(some), key=lambda change: change.after is None)
    if not changes:
        raise PatchUnusable(("it changes nothing",))
    return tuple(changes)


def _net_changes(some: _Files) -> Iterator[FileChange]:
    moved = {move.target: move.source for move in some.moves if _is_plain_move(some, move)}
    for path, file in some.known.items():
        if file.after != file.before:
            yield FileChange(
                path=path, before=file.before, after=file.after, mode=file.mode, moved_from=moved.get(path)
            )


def _is_plain_move(some: _Files, move: PatchPaths) -> bool:
    source, target = some.known[move.source], some.known[move.target]
    return target.before is None and source.after is None and target.after == source.before


def _patch_file(file: PatchFile, paths: PatchPaths, some: _Files) -> None:
    _refuse_unsupported(file, paths)
    source, target = some.at(paths.source), some.at(paths.target)
    kind = _kind(file, source)
    if kind == "create":
        _require_free(paths, target)
        if any(hunk.side(" -") for hunk in file.hunks):
            raise PatchUnusable(
                (f"{_shown(paths.target)}: it is new in the patch, which removes lines of it",)
            )
        target.mode = _MODES.get(file.new_mode or 0, _NEW_MODE)
    else:
        _require_source(file, paths, source)
    content = _patched_bytes(paths, source.after or b"", file.hunks)
    if kind in ("rename", "copy"):
        _require_free(paths, target)
        target.mode = source.mode
    if kind == "rename":
        some.moves.append(paths)
        source.after, source.is_touched = None, True
    if kind == "delete" and content:
        raise PatchUnusable(
            (f"{_shown(paths.source)}: the patch deletes it, and it holds more than the patch",)
        )
    target.after, target.is_touched = None if kind == "delete" else content, True


def _kind(file: PatchFile, source: _File) -> PatchKind:
    is_creation = len(file.hunks) == 1 and not file.hunks[0].old_start and not file.hunks[0].side(" -")
    if file.kind == "modify" and not file.is_git and is_creation and source.after is None:
        return "create"
    return file.kind


def _refuse_unsupported(file: PatchFile, paths: PatchPaths) -> None:
    if why := _unsupported_reason(file):
        raise PatchUnusable((f"{_shown(paths.target)}: {why}",))


def _unsupported_reason(file: PatchFile) -> str:
    if file.is_binary:
        return "its change is binary, so there is nothing to read and approve; copy the file itself"
    special = _SPECIAL_MODES.get((file.new_mode or file.old_mode or 0) & 0o170000)
    if special:
        return f"it is {special}; only plain files are changed"
    if file.new_mode is not None and file.new_mode not in _MODES:
        return f"its mode {file.new_mode:o} is not one of 100644 and 100755"
    if file.kind not in ("create", "delete") and file.new_mode not in (None, file.old_mode):
        return (
            f"its mode changes from {file.old_mode or 0:o} to {file.new_mode:o}, and only contents are"
            " changed; take these lines out and use chmod"
        )
    return ""


def _require_free(paths: PatchPaths, target: _File) -> None:
    if target.after is not None:
        raise PatchUnusable((f"{_shown(paths.target)}: it is new in the patch and already exists",))


def _require_source(file: PatchFile, paths: PatchPaths, source: _File) -> None:
    if source.after is None:
        raise PatchUnusable((f"{_shown(paths.source)}: it does not exist (line {file.line} of the patch)",))
    if file.kind in ("rename", "copy") and source.is_touched:
        why = "the patch changes it twice and then moves it; apply the patches one after another"
        raise PatchUnusable((f"{_shown(paths.source)}: {why}",))


def _patched_bytes(paths: PatchPaths, before: bytes, hunks: Sequence[PatchHunk]) -> bytes:
    if not hunks:
        return before
    after, problems = apply_hunks(before, hunks)
    if problems:
        raise PatchUnusable([f"{_shown(paths.source)}: {problem}" for problem in problems])
    if is_binary_content(before) or is_binary_content(after):
        why = "it is binary, so its lines cannot be shown; copy the file itself"
        raise PatchUnusable((f"{_shown(paths.source)}: {why}",))
    return after


# --- hunks -----------------------------------------------------------------------------------------


class _Lines(Struct):
    """The lines of a file while hunks are applied; those of an earlier hunk fit no other."""

    data: list[bytes]
    is_patched: list[bool]

    def fits(self, position: int, old: Sequence[bytes]) -> bool:
        end = position + len(old)
        if not 0 <= position <= end <= len(self.data):
            return False
        return self.data[position:end] == old and not any(self.is_patched[position:end])

    def put(self, position: int, removed: int, new: Sequence[bytes]) -> None:
        self.data[position : position + removed] = new
        self.is_patched[position : position + removed] = [True] * len(new)


def apply_hunks(before: bytes, hunks: Sequence[PatchHunk]) -> tuple[bytes, tuple[str, ...]]:
    """Return the bytes after all hunks that fit, and a sentence for each that does not."""
    data = split_lines(before)
    lines = _Lines(data=data, is_patched=[False] * len(data))
    problems: list[str] = []
    for hunk in hunks:
        old = hunk.side(" -")
        position = _place(lines, hunk, old)
        if position is None:
            problems.append(_stale_sentence(lines, hunk, old))
        else:
            lines.put(position, len(old), hunk.side(" +"))
    return b"".join(lines.data), tuple(problems)


def _place(lines: _Lines, hunk: PatchHunk, old: Sequence[bytes]) -> int | None:
    # A hunk at the top of a file, and one without lines below its change, must be at that line.
    is_first, is_last = hunk.old_start <= 1, hunk.ends_with_change
    size, last = len(lines.data), len(lines.data) - len(old)
    expected = 0 if is_first else last if is_last else max(0, hunk.new_start - 1)
    for position in _nearest_first(min(max(expected, 0), size), size, _SEARCH_STEPS // (len(old) + 1)):
        if (is_first and position) or (is_last and position != last):
            continue
        if lines.fits(position, old):
            return position
    return None


def _nearest_first(expected: int, size: int, most: int) -> Iterator[int]:
    yield expected
    for distance in range(1, min(size, most) + 1):
        if expected + distance <= size:
            yield expected + distance
        if expected >= distance:
            yield expected - distance


def _stale_sentence(lines: _Lines, hunk: PatchHunk, old: Sequence[bytes]) -> str:
    start = max(0, hunk.new_start - 1)
    name = f"hunk {hunk.number} (line {hunk.line} of the patch) does not fit"
    for offset, expected in enumerate(old):
        number = max(1, hunk.old_start) + offset
        if start + offset >= len(lines.data):
            return f"{name}: the patch has {_quoted(expected)} at line {number}, where the file has ended"
        now = lines.data[start + offset]
        if now != expected:
            return f"{name}: line {number} is {_quoted(now)} now, the patch has {_quoted(expected)}"
    if lines.fits(start, old):
        beyond = start + len(old)
        if hunk.ends_with_change and beyond < len(lines.data):
            following = _quoted(lines.data[beyond])
            return f"{name}: the file has to end after its lines, and continues with {following}"
        return f"{name}: it has to be the beginning of the file"
    return f"{name}: an earlier hunk changed its lines"


def _quoted(data: bytes) -> str:
    text = scrub(data.removesuffix(b"\n").decode("utf-8", "replace")).text
    end = "" if data.endswith(b"\n") else " without a line end"
    return f"“{one_line(text, _SHOWN_LINE)}”{end}"
