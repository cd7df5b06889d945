"""The tool grep_search: lines that hold a text or match a regular expression; files are read as a stream."""

import time
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import Struct, field

from workbench.domain.tools import BuiltInTool
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.effects.file_primitives import FileRefused
from workbench.effects.folder_walk import WalkedFolder
from workbench.policy import regex
from workbench.tools.base import (
    COUNT_SCHEMA,
    FLAG_SCHEMA,
    CallContext,
    OutputLines,
    ToolOutput,
    ToolRefused,
    parameters_schema,
    result_schema,
)
from workbench.tools.file_search import MAX_SEARCH_SECONDS, IgnoreFilter, compile_glob, search_stop_reason

BLOCK_BYTES: Final = 262_144
"""Bytes searched at once."""
_MAX_SHOWN_LINE: Final = 240
"""Characters of a line that are shown."""
_SNIFFED_BYTES: Final = 8192
_PIECE_OVERLAP: Final = 1024
"""Bytes of a line longer than a block that are searched again with the next one."""


class MatchLine(Struct, frozen=True):
    """A line to show."""

    number: int
    text: str
    is_match: bool
    is_first: bool = False
    """Whether lines are left out between the one before and this one."""


class _Block(Struct, frozen=True):
    data: bytes
    number: int
    """Of its first line."""


def is_binary_file(file: BinaryIO) -> bool:
    """Say whether a file holds something else than text, by its beginning, and go back there."""
    beginning = file.read(_SNIFFED_BYTES)
    file.seek(0)
    return b"\0" in beginning


def matching_lines(
    file: BinaryIO, finder: regex.LineFinder, context_lines: int
) -> Iterator[MatchLine | None]:
    """Yield the lines that match and those around them; None after each block, to ask whether to continue."""
    search = _MatchState(finder, context_lines)
    for block in _blocks(file, finder.block(BLOCK_BYTES)):
        yield from search.block(block)
        yield None


class _MatchState:
    """The lines that may still have to be shown before or after a match, from block to block."""

    def __init__(self, finder: regex.LineFinder, context_lines: int) -> None:
        self._finder, self._context_lines = finder, context_lines
        self._before: deque[tuple[int, str]] = (
            deque(maxlen=context_lines or None) if context_lines else deque(maxlen=0)
        )
        self._after = 0
        self._last_number = 0
        """Number of the last line that was shown."""

    def block(self, block: _Block) -> Iterator[MatchLine]:
        position, number = 0, block.number
        for start, end, column in _line_matches(block.data, self._finder):
            hit = number + block.data.count(b"\n", position, start)
            yield from self._between(block.data, position, start, number)
            if hit > self._last_number:
                yield from self._leading(hit)
                yield self._line(hit, _shown_line(block.data[start:end], column), is_match=True)
            self._after = self._context_lines
            position, number = min(end + 1, len(block.data)), hit + 1
        yield from self._between(block.data, position, len(block.data), number)

    def _leading(self, hit: int) -> Iterator[MatchLine]:
        for number, text in self._before:
            if self._last_number < number < hit:
                yield self._line(number, text, is_match=False)
        self._before.clear()

    def _between(self, data: bytes, position: int, end: int, number: int) -> Iterator[MatchLine]:
        """Yield the lines after a match, and keep those that may come before the next."""
        if not self._context_lines:
            return
        while self._after and position < end:
            cut = _line_end(data, position, end)
            if number > self._last_number:
                yield self._line(number, _shown_line(data[position:cut]), is_match=False)
            position, number, self._after = cut + 1, number + 1, self._after - 1
        self._before.extend(_last_lines(data, position, end, number, self._context_lines))

    def _line(self, number: int, text: str, *, is_match: bool) -> MatchLine:
        is_first = number != self._last_number + 1 and self._last_number > 0
        self._last_number = number
        return MatchLine(number, text, is_match, is_first)


def _blocks(file: BinaryIO, size: int) -> Iterator[_Block]:
    """Yield whole lines, as many as fit; a line that does not fit comes in pieces that overlap."""
    rest, number = b"", 1
    while chunk := file.read(size):
        data = rest + chunk
        cut = data.rfind(b"\n") + 1
        if cut:
            yield _Block(data[:cut].replace(b"\r\n", b"\n"), number)
            number, rest = number + data.count(b"\n", 0, cut), data[cut:]
        elif len(data) >= size:
            yield _Block(data, number)
            rest = data[-_PIECE_OVERLAP:]
        else:
            rest = data
    if rest:
        yield _Block(rest.removesuffix(b"\r"), number)


def _line_matches(data: bytes, finder: regex.LineFinder) -> Iterator[tuple[int, int, int]]:
    """Yield start and end of every line that matches, and where in it."""
    position = 0
    while position < len(data) and (match_start := finder.find(data, position)) is not None:
        start = data.rfind(b"\n", position, match_start) + 1 or position
        end = _line_end(data, start, len(data))
        # What the search found may go over the end of the line; a line matches by itself or not at all.
        column = finder.find(data[start:end], 0)
        if column is not None:
            yield start, end, column
        position = end + 1


def _line_end(data: bytes, begin: int, end: int) -> int:
    cut = data.find(b"\n", begin, end)
    return end if cut < 0 else cut


def _last_lines(data: bytes, begin: int, end: int, number: int, most: int) -> list[tuple[int, str]]:
    if begin >= end:
        return []
    stop = end - 1 if data[end - 1 : end] == b"\n" else end
    last = number + data.count(b"\n", begin, stop)
    lines: list[tuple[int, str]] = []
    while stop >= begin and len(lines) < most:
        start = data.rfind(b"\n", begin, stop) + 1 or begin
        lines.append((last - len(lines), _shown_line(data[start:stop])))
        stop = start - 1
    return lines[::-1]


def _shown_line(line: bytes, column: int = 0) -> str:
    """Return a line, of a long one the part around the match."""
    start = max(0, column - _MAX_SHOWN_LINE // 2) if len(line) > _MAX_SHOWN_LINE else 0
    part = line[start : start + 4 * _MAX_SHOWN_LINE].decode("utf-8", "replace").rstrip("\r\n")
    is_cut = len(part) > _MAX_SHOWN_LINE or start + 4 * _MAX_SHOWN_LINE < len(line)
    return f"{'…' if start else ''}{part[:_MAX_SHOWN_LINE]}{'…' if is_cut else ''}"


MAX_RESULTS: Final = 1000
DEFAULT_RESULTS: Final = 200
MAX_CONTEXT_LINES: Final = 10


class GrepSearch:
    """The tool grep_search."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.GREP_SEARCH.id, wire_name=BuiltInTool.GREP_SEARCH.wire_name,
        description="Search the text of the workspace's files line by line. The pattern is taken literally "
        "unless is_regex is true (RE2 syntax: no look-around, no back-references). include narrows to files "
        "by a glob such as src/**/*.py. Results are path:line:text, the lines around them path-line-text. "
        "Binary files, links and what .gitignore names are left out.",
        capability="read", risk_level="read_only", verb=BuiltInTool.GREP_SEARCH.verb,
        target_parameter="pattern",
        input_schema=parameters_schema(
            "pattern",
            pattern={"type": "string", "minLength": 1, "maxLength": regex.MAX_REGEX_LENGTH},
            is_regex=FLAG_SCHEMA,
            include={"type": "string", "minLength": 1, "maxLength": 500, "description": "A glob of paths."},
            ignore_case=FLAG_SCHEMA,
            context_lines={"type": "integer", "minimum": 0, "maximum": MAX_CONTEXT_LINES},
            max_results={"type": "integer", "minimum": 1, "maximum": MAX_RESULTS},
            include_ignored=FLAG_SCHEMA,
        ),
        output_schema=result_schema(matches=COUNT_SCHEMA, files=COUNT_SCHEMA, truncated=FLAG_SCHEMA),
        examples=(
            ToolExample(description="A text as it is", parameters={"pattern": "TODO(", "include": "src/**"}),
            ToolExample(
                description="Definitions, with two lines around each",
                parameters={"pattern": r"^def \w+_handler\(", "is_regex": True, "context_lines": 2},
            ),
        ),
    )  # fmt: skip

    def read(self, parameters: JsonObject, context: CallContext) -> ToolOutput:
        search = _FolderSearch(
            context=context,
            finder=_line_finder(parameters),
            include=compile_glob(str(parameters["include"])) if "include" in parameters else None,
            context_lines=int(parameters.get("context_lines", 0)),
            most=int(parameters.get("max_results", DEFAULT_RESULTS)),
            lines=OutputLines(context.limits.tool_output_bytes),
            deadline=time.monotonic() + MAX_SEARCH_SECONDS,
        )
        ignore_filter = IgnoreFilter(
            context.root, context.is_closed, with_ignored=bool(parameters.get("include_ignored"))
        )
        for folder in ignore_filter.folders("."):
            search.folder(folder)
            if search.stop_reason:
                break
        return search.output(is_cut=ignore_filter.is_cut)


def _line_finder(parameters: JsonObject) -> regex.LineFinder:
    pattern, is_regex = str(parameters["pattern"]), bool(parameters.get("is_regex"))
    try:
        return regex.LineFinder(
            pattern, is_literal=not is_regex, ignore_case=bool(parameters.get("ignore_case"))
        )
    except regex.InvalidRegex as error:
        raise ToolRefused(
            f"Not searched: {pattern[:200]} cannot be used as a regular expression: {error}. "
            "Correct it (RE2 syntax), or leave is_regex out to look for the text as it is."
        ) from None


class _FolderSearch(Struct, kw_only=True):
    context: CallContext
    finder: regex.LineFinder
    include: regex.Regex | None
    context_lines: int
    most: int
    lines: OutputLines
    deadline: float
    matches: int = 0
    files: int = 0
    binary: int = 0
    unread: list[str] = field(default_factory=list[str])
    stop_reason: str = ""

    def folder(self, folder: WalkedFolder) -> None:
        self.stop_reason = self.stop_reason or search_stop_reason(self.context, self.deadline)
        for name in folder.files:
            if self.stop_reason:
                return
            if self.include is None or self.include.is_in(folder.below(name)):
                self._file(folder, name)

    def _file(self, folder: WalkedFolder, name: str) -> None:
        before, path = self.matches, folder.below(name).encode("utf-8", "replace").decode()
        try:
            with folder.open(name) as file:
                if is_binary_file(file):
                    self.binary += 1
                    return
                for line in matching_lines(file, self.finder, self.context_lines):
                    self._take(path, line, is_first=self.matches == before)
                    if self.stop_reason:
                        break
        except (FileRefused, OSError):
            self.unread.append(path)
        self.files += self.matches > before

    def _take(self, path: str, line: MatchLine | None, *, is_first: bool) -> None:
        if line is None:
            self.stop_reason = search_stop_reason(self.context, self.deadline)
            return
        if line.is_match and self.matches == self.most:
            self.stop_reason = f"there are more than {self.most} matches; narrow the pattern or name include"
            return
        self.matches += line.is_match
        if self.context_lines and (line.is_first or (is_first and self.files)) and line.is_first != is_first:
            self.lines.add("--")
        sign = ":" if line.is_match else "-"
        self.lines.add(f"{path}{sign}{line.number}{sign}{line.text}")

    def output(self, *, is_cut: bool) -> ToolOutput:
        missing = self.lines.missing
        words = (
            "" if self.matches else "no line matches",
            f"{missing} more lines are not shown; narrow the pattern or name include" if missing else "",
            f"the search ended early: {self.stop_reason}" if self.stop_reason else "",
            "some folders are too deep or too large to be searched whole" if is_cut else "",
            f"{self.binary} binary files were passed over" if self.binary else "",
            f"not readable: {', '.join(self.unread[:5])}" if self.unread else "",
        )
        is_short = bool(missing or self.stop_reason or is_cut)
        return ToolOutput(
            text=self.lines.text(*words),
            metadata={"matches": self.matches, "files": self.files, "truncated": is_short},
            summary=f"{self.matches} {'match' if self.matches == 1 else 'matches'} in {self.files} "
            f"{'file' if self.files == 1 else 'files'}",
        )
