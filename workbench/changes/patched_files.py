"""The application of a `*** Begin Patch` to the bytes of its files, by Codex's own rules.

It computes images and writes nothing. Sections are applied in order, each to what the ones before it left.
"""

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from workbench.changes.begin_patch import SPACES, PatchChunk, PatchRefused, PatchSection, PatchUnclear
from workbench.text.safe import one_line

LineEnds = Literal["normalized", "preserved"]
"""Codex's two ways to put a file together again.

`normalized` writes context lines as the patch has them, ends every line that it writes in a line feed, and
drops one of several empty lines at the end of the file. `preserved`, found in 0.171, leaves context lines and
line ends as they are in the file.
"""
MAX_FILE_BYTES: Final = 16_000_000
MAX_SEARCH_STEPS: Final = 20_000_000
"""Lines that the search for the chunks of one section may compare."""
_STEPS_OF_SCAN: Final = 16
"""Lines that a scan passes while a comparison of one chunk's lines is started."""
_FOLDED_SIGNS: Final = str.maketrans({
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys(
        "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
    ),
})  # fmt: skip


class PatchedFile(Struct, frozen=True, kw_only=True):
    """Exact bytes of one file before and after a whole patch."""

    path: str
    before: bytes | None
    after: bytes | None
    moved_from: str | None = None
    """The path from which the patch moved it."""
    is_exact: bool = True
    """The file has every anchor and context line exactly as the patch writes it."""


class _FileState(Struct):
    before: bytes | None
    now: bytes | None
    moved_from: str | None = None
    is_exact: bool = True


def patched_files(
    sections: Sequence[PatchSection],
    read: Callable[[str], bytes | None],
    *,
    line_ends: LineEnds = "normalized",
    resolve: Callable[[str], str] = posixpath.normpath,
) -> tuple[PatchedFile, ...]:
    """Return the images of the files that a patch names, in its order; `read` gives the bytes of a path.

    `resolve` gives each path its one name, so that two spellings of a file are one file. Raises PatchRefused.
    """
    states: dict[str, _FileState] = {}

    def state(path: str) -> _FileState:
        name = resolve(path)
        if name not in states:
            before = read(name)
            states[name] = _FileState(before=before, now=before)
        return states[name]

    for section in sections:
        _apply_section(section, state, resolve, line_ends)
        for path in section.paths:
            _refuse_file_in_file(resolve(path), states)
    return tuple(
        PatchedFile(
            path=path, before=each.before, after=each.now, moved_from=each.moved_from, is_exact=each.is_exact
        )
        for path, each in states.items()
    )


def _refuse_file_in_file(path: str, states: Mapping[str, _FileState]) -> None:
    """Refuse a file below a path that is a file too: the program would stop halfway."""
    above = next((folder for folder in _folders(path) if _is_file(folder, states)), None)
    below = next((each for each in states if each.startswith(f"{path}/") and _is_file(each, states)), None)
    if _is_file(path, states) and (above or below):
        inner, outer = (path, above) if above else (below or "", path)
        raise PatchRefused(f"{one_line(inner, 80)} is in {one_line(outer, 80)}, which is a file")


def _is_file(path: str, states: Mapping[str, _FileState]) -> bool:
    return path in states and states[path].now is not None


def _folders(path: str) -> Iterator[str]:
    while (folder := posixpath.dirname(path)) not in ("", path):
        yield folder
        path = folder


def _apply_section(
    section: PatchSection,
    state: Callable[[str], _FileState],
    resolve: Callable[[str], str],
    line_ends: LineEnds,
) -> None:
    own = state(section.path)
    if section.kind == "add":
        own.now, own.moved_from, own.is_exact = section.text.encode("utf-8"), None, True
        return
    text = _file_text(section.path, own.now)
    if section.kind == "delete":
        own.now = None
        return
    new, is_exact = _updated_text(section, text, line_ends)
    if section.move_to is None:
        own.now, own.is_exact = new.encode("utf-8"), own.is_exact and is_exact
        return
    source, moved = resolve(section.path), state(section.move_to)
    if moved is own:
        raise PatchUnclear(f"{one_line(section.path, 80)} is moved to itself")
    moved.now, moved.moved_from, moved.is_exact = new.encode("utf-8"), source, own.is_exact and is_exact
    own.now = None


def _file_text(path: str, data: bytes | None) -> str:
    if data is None:
        raise PatchRefused(f"{one_line(path, 80)} does not exist")
    if len(data) > MAX_FILE_BYTES:
        raise PatchUnclear(f"{one_line(path, 80)} has more than {MAX_FILE_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise PatchRefused(f"{one_line(path, 80)} is not UTF-8") from None


class _Replacement(NamedTuple):
    start: int
    size: int
    lines: list[str]


def _updated_text(section: PatchSection, text: str, line_ends: LineEnds) -> tuple[str, bool]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    texts = [_without_return(line) for line in lines] if line_ends == "preserved" else lines
    if line_ends == "preserved" and lines and not text.endswith("\n"):
        texts[-1] = lines[-1]
    search = _LineSearch(texts, section.path)
    found = [each for chunk in section.chunks for each in search.replacements(chunk, line_ends)]
    end = 0
    for each in found:
        if each.start < end:
            raise PatchUnclear(f"chunks of {one_line(section.path, 80)} overlap or are not in order")
        end = each.start + each.size
    if line_ends == "preserved":
        return _with_preserved_ends(lines, text, found), search.is_exact
    new = [line for piece in _pieces(lines, found, "") for line in piece]
    if not new or new[-1] != "":
        new.append("")
    return "\n".join(new), search.is_exact


def _without_return(line: str) -> str:
    return line.removesuffix("\r")


def _pieces(lines: Sequence[str], found: Sequence[_Replacement], end: str) -> Iterator[Sequence[str]]:
    """Yield the lines of a file with replacements made; `end` is put behind each new line."""
    position = 0
    for start, size, new in found:
        yield lines[position:start]
        yield [f"{line}{end}" for line in new]
        position = start + size
    yield lines[position:]


def _with_preserved_ends(lines: Sequence[str], text: str, found: Sequence[_Replacement]) -> str:
    is_open = bool(lines) and not text.endswith("\n")
    ended = lines[:-1] if is_open else lines
    end = "\r" if ended and ended[0].endswith("\r") else ""
    # A last line without an end gets the one that new lines have.
    whole = [*ended, f"{lines[-1]}{end}"] if is_open else lines
    return "".join(f"{line}\n" for piece in _pieces(whole, found, end) for line in piece)


class _LineSearch:
    """Looks for the chunks of one section, each behind the one before."""

    def __init__(self, lines: Sequence[str], path: str) -> None:
        self._lines = list(lines)
        self._path = one_line(path, 80)
        self._forms: list[list[str]] = [self._lines]
        self._behind = 0
        self._steps = 0
        self.is_exact = True

    def replacements(self, chunk: PatchChunk, line_ends: LineEnds) -> list[_Replacement]:
        for anchor in chunk.anchors:
            self._behind = self._require(self._find([anchor], at_end=False), anchor) + 1
        old = [text for sign, text in chunk.lines if sign != "+"]
        new = [text for sign, text in chunk.lines if sign != "-"]
        if not old:
            return [_Replacement(self._end(line_ends), 0, new)]
        start = self._find(old, at_end=chunk.at_end)
        rows = list(chunk.lines)
        if start is None and old[-1] == "":
            # Codex takes an empty last line for the end of the line before it.
            rows = _without_last_empty(chunk.lines)
            old = old[:-1]
            start = self._find(old, at_end=chunk.at_end)
        start = self._require(start, old[0] if old else "")
        self._behind = start + len(old)
        if line_ends == "preserved":
            return list(_changed_runs(rows, start))
        return [_Replacement(start, len(old), [text for sign, text in rows if sign != "-"])]

    def _end(self, line_ends: LineEnds) -> int:
        count = len(self._lines)
        is_empty_last = line_ends == "normalized" and count > 0 and self._lines[-1] == ""
        return count - is_empty_last

    def _require(self, start: int | None, line: str) -> int:
        if start is None:
            raise PatchRefused(f"{self._path} does not have the expected line {one_line(line, 80)!r}")
        return start

    def _find(self, lines: Sequence[str], *, at_end: bool) -> int | None:
        if not lines:
            return self._behind
        last = len(self._lines) - len(lines)
        begin = last if at_end else self._behind
        if last < 0:
            return None
        for number, form in enumerate(_FORMS):
            if number == len(self._forms):
                self._forms.append([form(line) for line in self._lines])
            place = self._scan(self._forms[number], [form(line) for line in lines], begin, last)
            if place is not None:
                self.is_exact = self.is_exact and number == 0
                return place
        return None

    def _scan(self, lines: list[str], wanted: list[str], begin: int, last: int) -> int | None:
        while begin <= last:
            try:
                place = lines.index(wanted[0], begin, last + 1)
            except ValueError:
                place = last + 1
            self._steps += len(wanted) + (place - begin) // _STEPS_OF_SCAN
            if self._steps > MAX_SEARCH_STEPS:
                raise PatchUnclear(f"the search in {self._path} takes too long")
            if place <= last and lines[place : place + len(wanted)] == wanted:
                return place
            begin = place + 1
        return None


def _as_written(line: str) -> str:
    return line


def _right_trimmed(line: str) -> str:
    return line.rstrip(SPACES)


def _trimmed(line: str) -> str:
    return line.strip(SPACES)


def _folded(line: str) -> str:
    return line.strip(SPACES).translate(_FOLDED_SIGNS)


_FORMS: Final = (_as_written, _right_trimmed, _trimmed, _folded)
"""The order in which Codex compares lines, strictest first."""


def _without_last_empty(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Drop the last old line, and the last new line if that is empty."""
    old = [index for index, (sign, _) in enumerate(rows) if sign != "+"][:-1]
    new = [index for index, (sign, _) in enumerate(rows) if sign != "-"]
    if new and rows[new[-1]][1] == "":
        new.pop()
    signs = {**dict.fromkeys(new, "+"), **dict.fromkeys(old, "-"), **dict.fromkeys({*old} & {*new}, " ")}
    return [(signs[index], text) for index, (_, text) in enumerate(rows) if index in signs]


def _changed_runs(rows: Sequence[tuple[str, str]], start: int) -> Iterator[_Replacement]:
    """Yield the runs between context lines, which stay as they are in the file."""
    count, new = 0, list[str]()
    for sign, text in (*rows, (" ", "")):
        if sign != " ":
            count += sign == "-"
            new += [text] if sign == "+" else []
            continue
        if count or new:
            yield _Replacement(start, count, new)
        start, count, new = start + count + 1, 0, []
