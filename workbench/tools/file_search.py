"""file_search: files of the workspace whose path matches a glob.

Owns the meaning of the glob (`*` within a name, `**` across folders, `?`, `[…]`, `{a,b}`) and the limits. It
opens no file, and never follows a link.
"""

import re
import time
from collections.abc import Iterator
from typing import Final

from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.policy import regex
from workbench.tools.base import Output, Place, ToolRefused
from workbench.tools.ignoring import Sieve
from workbench.tools.results import COUNT, FLAG, Lines, result_schema

MOST_FILES: Final = 1000
MOST_SECONDS: Final = 30.0
_LONGEST: Final = 500
_MOST_CHOICES: Final = 64

DESCRIPTOR: Final = ToolDescriptor(
    id="file_search",
    wire_name="file_search",
    description=(
        "Find files of the workspace by a glob: * is any text in a name, ** crosses folders, {a,b} is one "
        "of several. A pattern without / is looked for in every folder. What .gitignore names is left out "
        "unless include_ignored is true. At most 1000 paths are given."
    ),
    capability="read",
    risk_level="read_only",
    verb="read",
    target_parameter="pattern",
    input_schema={
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "minLength": 1, "maxLength": _LONGEST},
            "include_ignored": {"type": "boolean"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    },
    output_schema=result_schema(files=COUNT, truncated=FLAG),
    examples=(
        Example(description="Every Python file", parameters={"pattern": "*.py"}),
        Example(description="Tests in one folder and below", parameters={"pattern": "tests/**/test_*.py"}),
        Example(description="Two endings", parameters={"pattern": "src/**/*.{ts,tsx}"}),
    ),
)


class FileSearch:
    """The tool."""

    descriptor = DESCRIPTOR

    def read(self, parameters: JsonObject, place: Place) -> Output:
        """Search for files; see the descriptor."""
        wanted = compiled_glob(str(parameters["pattern"]))
        sieve = Sieve(place.root, place.is_closed, with_ignored=bool(parameters.get("include_ignored")))
        lines, found, ended = Lines(place.limits.tool_output_bytes), 0, ""
        deadline = time.monotonic() + MOST_SECONDS
        for path in _paths(sieve, place, deadline):
            if path is not None and not wanted.is_in(path):
                continue
            if path is None or found == MOST_FILES:
                ended = stopped(place, deadline) or f"more than {MOST_FILES} files match"
                break
            found += 1
            lines.add(path.encode("utf-8", "replace").decode())
        missing = f"{lines.missing} more files match; make the pattern narrower" if lines.missing else ""
        deep = "some folders are too deep or too large to be searched whole" if sieve.is_cut else ""
        none = "" if found else "no file matches"
        return Output(
            text=lines.text(missing, ended and f"the search ended early: {ended}", deep, none),
            metadata={"files": found, "truncated": bool(missing or ended or deep)},
            summary=f"{found} {'file' if found == 1 else 'files'}",
        )


def _paths(sieve: Sieve, place: Place, deadline: float) -> Iterator[str | None]:
    """Yield every path that is to be seen; None when the search has to end."""
    for folder in sieve.folders("."):
        if stopped(place, deadline):
            yield None
        yield from map(folder.below, folder.files)


def stopped(place: Place, deadline: float) -> str:
    """Return why a search has to end now, or nothing."""
    if place.is_stopped():
        return "it was stopped"
    return f"it took longer than {MOST_SECONDS:g} s" if time.monotonic() > deadline else ""


def compiled_glob(pattern: str) -> regex.Regex:
    """Return what matches a path from the workspace.

    Raises:
        ToolRefused: It cannot be read, or leads out of the workspace.
    """
    text = pattern.removeprefix("./")
    if text.startswith("/") or ".." in text.split("/"):
        raise ToolRefused(f"Not searched: {pattern} leads out of the workspace; begin below it.")
    if "/" not in text.rstrip("/"):
        text = f"**/{text}"
    if text.endswith("/"):
        text += "**"
    try:
        return regex.compiled(f"^(?:{_translated(text)})$")
    except regex.BadPattern as error:
        raise ToolRefused(f"Not searched: the pattern {pattern} cannot be read: {error}.") from None


_PIECES: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]/]*\]|\{[^{}]*\}|.", re.DOTALL)


def _translated(glob: str) -> str:
    return "".join(_piece(found[0]) for found in _PIECES.finditer(glob))


def _piece(text: str) -> str:
    fixed = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if text in fixed:
        return fixed[text]
    if len(text) > 2 and text[0] == "[":
        inner = text[1:-1]
        negated = inner.startswith("!")
        inner = (
            inner[negated:].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
        )
        return f"[{'^/' if negated else ''}{inner}]"
    if len(text) > 1 and text[0] == "{":
        return "(?:" + "|".join(map(_translated, text[1:-1].split(",")[:_MOST_CHOICES])) + ")"
    return re.escape(text)
