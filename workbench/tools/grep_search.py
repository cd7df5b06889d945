"""grep_search: lines of the workspace's files that hold a text or match a regular expression.

Owns the order of the search and its limits; the expressions are RE2's, so none runs away. It never follows a
link and never looks into binary files or into `.git`.
"""

import time
from dataclasses import dataclass, field
from typing import Final

from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.effects.files import FileRefused
from workbench.effects.walk import Folder
from workbench.policy import regex
from workbench.tools.base import Output, Place, ToolRefused
from workbench.tools.file_search import MOST_SECONDS, compiled_glob, stopped
from workbench.tools.ignoring import Sieve
from workbench.tools.matching import Line, is_binary, lines
from workbench.tools.results import COUNT, FLAG, Lines, result_schema

MOST_RESULTS: Final = 1000
USUAL_RESULTS: Final = 200
MOST_AROUND: Final = 10

DESCRIPTOR: Final = ToolDescriptor(
    id="grep_search",
    wire_name="grep_search",
    description=(
        "Search the text of the workspace's files line by line. The pattern is taken literally unless "
        "is_regex is true (RE2 syntax: no look-around, no back-references). include narrows to files by a "
        "glob such as src/**/*.py. Results are path:line:text, the lines around them path-line-text. Binary "
        "files, links and what .gitignore names are left out."
    ),
    capability="read",
    risk_level="read_only",
    verb="read",
    target_parameter="pattern",
    input_schema={
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "minLength": 1, "maxLength": regex.LONGEST},
            "is_regex": {"type": "boolean"},
            "include": {
                "type": "string",
                "minLength": 1,
                "maxLength": 500,
                "description": "A glob of paths.",
            },
            "ignore_case": {"type": "boolean"},
            "context_lines": {"type": "integer", "minimum": 0, "maximum": MOST_AROUND},
            "max_results": {"type": "integer", "minimum": 1, "maximum": MOST_RESULTS},
            "include_ignored": {"type": "boolean"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    },
    output_schema=result_schema(matches=COUNT, files=COUNT, truncated=FLAG),
    examples=(
        Example(description="A text as it is", parameters={"pattern": "TODO(", "include": "src/**"}),
        Example(
            description="Definitions, with two lines around each",
            parameters={"pattern": r"^def \w+_handler\(", "is_regex": True, "context_lines": 2},
        ),
    ),
)


class GrepSearch:
    """The tool."""

    descriptor = DESCRIPTOR

    def read(self, parameters: JsonObject, place: Place) -> Output:
        """Search files; see the descriptor."""
        search = _Search(
            place=place,
            wanted=_finder(parameters),
            include=compiled_glob(str(parameters["include"])) if "include" in parameters else None,
            around=int(parameters.get("context_lines", 0)),
            most=int(parameters.get("max_results", USUAL_RESULTS)),
            lines=Lines(place.limits.tool_output_bytes),
            deadline=time.monotonic() + MOST_SECONDS,
        )
        sieve = Sieve(place.root, place.is_closed, with_ignored=bool(parameters.get("include_ignored")))
        for folder in sieve.folders("."):
            search.folder(folder)
            if search.ended:
                break
        return search.output(is_cut=sieve.is_cut)


def _finder(parameters: JsonObject) -> regex.Finder:
    pattern, is_regex = str(parameters["pattern"]), bool(parameters.get("is_regex"))
    try:
        return regex.Finder(pattern, is_literal=not is_regex, ignore_case=bool(parameters.get("ignore_case")))
    except regex.BadPattern as error:
        raise ToolRefused(
            f"Not searched: {pattern[:200]} cannot be used as a regular expression: {error}. "
            "Correct it (RE2 syntax), or leave is_regex out to look for the text as it is."
        ) from None


@dataclass(slots=True, kw_only=True)
class _Search:
    place: Place
    wanted: regex.Finder
    include: regex.Regex | None
    around: int
    most: int
    lines: Lines
    deadline: float
    matches: int = 0
    files: int = 0
    binary: int = 0
    unread: list[str] = field(default_factory=list[str])
    ended: str = ""

    def folder(self, folder: Folder) -> None:
        self.ended = self.ended or stopped(self.place, self.deadline)
        for name in folder.files:
            if self.ended:
                return
            if self.include is None or self.include.is_in(folder.below(name)):
                self._file(folder, name)

    def _file(self, folder: Folder, name: str) -> None:
        before, path = self.matches, folder.below(name).encode("utf-8", "replace").decode()
        try:
            with folder.open(name) as file:
                if is_binary(file):
                    self.binary += 1
                    return
                for line in lines(file, self.wanted, self.around):
                    self._take(path, line, is_first=self.matches == before)
                    if self.ended:
                        break
        except (FileRefused, OSError):
            self.unread.append(path)
        self.files += self.matches > before

    def _take(self, path: str, line: Line | None, *, is_first: bool) -> None:
        if line is None:
            self.ended = stopped(self.place, self.deadline)
            return
        if line.is_match and self.matches == self.most:
            self.ended = f"there are more than {self.most} matches; narrow the pattern or name include"
            return
        self.matches += line.is_match
        if self.around and (line.is_first or (is_first and self.files)) and line.is_first != is_first:
            self.lines.add("--")
        sign = ":" if line.is_match else "-"
        self.lines.add(f"{path}{sign}{line.number}{sign}{line.text}")

    def output(self, *, is_cut: bool) -> Output:
        missing = self.lines.missing
        words = (
            "" if self.matches else "no line matches",
            f"{missing} more lines are not shown; narrow the pattern or name include" if missing else "",
            f"the search ended early: {self.ended}" if self.ended else "",
            "some folders are too deep or too large to be searched whole" if is_cut else "",
            f"{self.binary} binary files were passed over" if self.binary else "",
            f"not readable: {', '.join(self.unread[:5])}" if self.unread else "",
        )
        is_short = bool(missing or self.ended or is_cut)
        return Output(
            text=self.lines.text(*words),
            metadata={"matches": self.matches, "files": self.files, "truncated": is_short},
            summary=f"{self.matches} {'match' if self.matches == 1 else 'matches'} in {self.files} "
            f"{'file' if self.files == 1 else 'files'}",
        )
