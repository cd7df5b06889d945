"""The tool file_search, and what searches pass over: `.git`, ignored files, what no agent may read."""

# Searches hide what reading would be denied. A deny pattern for `Read` counts for every file that a search
# would open.

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from workbench.domain.tools import BuiltInTool
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.folder_walk import WalkedFolder, walk_folder
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

_IGNORE_FILES: Final = (".gitignore", ".ignore")
_GIT_EXCLUDE_FILE: Final = ".git/info/exclude"
_MAX_IGNORE_BYTES: Final = 262_144
"""Bytes of one such file that are read."""
_NEVER_SEARCHED: Final = frozenset({".git", ".hg", ".svn", ".jj"})
IgnoreSpec = tuple[str, Any]
"""The folder that patterns hold from, with a slash at its end unless it is the root, and the patterns."""


class IgnoreFilter:
    """Walks folders without ignored files and files that no agent may read."""

    def __init__(self, root: Root, is_closed: Callable[[str], bool], *, with_ignored: bool) -> None:
        self._root = root
        self._is_closed = is_closed
        self._with_ignored = with_ignored
        self._specs: dict[str, tuple[IgnoreSpec, ...]] = {}
        self.is_cut = False
        """Whether something was too deep or too much to be looked at."""

    def folders(self, rel: str) -> Iterator[WalkedFolder]:
        """Walk a folder; each one holds only what is to be seen. Raises FileRefused."""
        above = self._above(rel)
        for folder in walk_folder(self._root, rel):
            self.is_cut |= folder.is_cut
            parent = folder.path.rpartition("/")[0]
            specs = self._with_own(folder, self._specs.get(parent, above))
            self._specs[folder.path] = specs
            folder.folders[:] = [
                name
                for name in folder.folders
                if name not in _NEVER_SEARCHED and self._is_visible(folder.below(name), specs, "/")
            ]
            folder.files[:] = [
                name for name in folder.files if self._is_visible(folder.below(name), specs, "")
            ]
            yield folder

    def _above(self, rel: str) -> tuple[IgnoreSpec, ...]:
        """Return the patterns of `.git/info/exclude` and of the folders above the first one."""
        if self._with_ignored:
            return ()
        specs = _ignore_spec("", self._read(_GIT_EXCLUDE_FILE))
        parts = [part for part in rel.split("/") if part not in ("", ".")]
        for depth in range(len(parts)):
            base = "".join(f"{part}/" for part in parts[:depth])
            for name in _IGNORE_FILES:
                specs += _ignore_spec(base, self._read(base + name))
        return specs

    def _with_own(self, folder: WalkedFolder, specs: tuple[IgnoreSpec, ...]) -> tuple[IgnoreSpec, ...]:
        if self._with_ignored:
            return ()
        for name in _IGNORE_FILES:
            if name in folder.files:
                specs += _ignore_spec(folder.below(""), self._read(folder.below(name)))
        return specs

    def _read(self, path: str) -> bytes:
        with contextlib.suppress(FileRefused, OSError), self._root.open_read(path) as file:
            return file.read(_MAX_IGNORE_BYTES)
        return b""

    def _is_visible(self, path: str, specs: tuple[IgnoreSpec, ...], end: str) -> bool:
        if self._is_closed(path):
            return False
        for base, spec in reversed(specs):
            is_ignored = spec.check_file(path.removeprefix(base) + end).include
            if is_ignored is not None:
                return not is_ignored
        return True


def _ignore_spec(base: str, data: bytes) -> tuple[IgnoreSpec, ...]:
    lines = data.decode("utf-8", "replace").splitlines()
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return ()
    import pathspec

    specs: list[Any] = []
    try:
        specs.append(pathspec.GitIgnoreSpec.from_lines(lines, backend="re2"))
    except Exception:  # noqa: BLE001 -- one bad line must not hide the others, whatever the library raises
        specs += filter(None, map(_ignore_line, lines))
    return tuple((base, spec) for spec in specs)


def _ignore_line(line: str) -> Any:
    import pathspec

    try:
        return pathspec.GitIgnoreSpec.from_lines([line], backend="re2")
    except Exception:  # noqa: BLE001 -- git passes over a line that it cannot read
        return None


MAX_FILES: Final = 1000
MAX_SEARCH_SECONDS: Final = 30.0
_MAX_GLOB_LENGTH: Final = 500
_MAX_BRACE_CHOICES: Final = 64


class FileSearch:
    """The tool file_search."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.FILE_SEARCH.id, wire_name=BuiltInTool.FILE_SEARCH.wire_name,
        description="Find files of the workspace by a glob: * is any text in a name, ** crosses folders, "
        "{a,b} is one of several. A pattern without / is looked for in every folder. What .gitignore names "
        "is left out unless include_ignored is true. At most 1000 paths are given.",
        capability="read", risk_level="read_only", verb=BuiltInTool.FILE_SEARCH.verb,
        target_parameter="pattern",
        input_schema=parameters_schema(
            "pattern",
            pattern={"type": "string", "minLength": 1, "maxLength": _MAX_GLOB_LENGTH},
            include_ignored=FLAG_SCHEMA,
        ),
        output_schema=result_schema(files=COUNT_SCHEMA, truncated=FLAG_SCHEMA),
        examples=(
            ToolExample(description="Every Python file", parameters={"pattern": "*.py"}),
            ToolExample(description="Tests in one folder and below",
                        parameters={"pattern": "tests/**/test_*.py"}),
            ToolExample(description="Two endings", parameters={"pattern": "src/**/*.{ts,tsx}"}),
        ),
    )  # fmt: skip

    def read(self, parameters: JsonObject, context: CallContext) -> ToolOutput:
        matcher = compile_glob(str(parameters["pattern"]))
        ignore_filter = IgnoreFilter(
            context.root, context.is_closed, with_ignored=bool(parameters.get("include_ignored"))
        )
        lines, file_count, stop_reason = OutputLines(context.limits.tool_output_bytes), 0, ""
        deadline = time.monotonic() + MAX_SEARCH_SECONDS
        for path in _visible_paths(ignore_filter, context, deadline):
            if path is not None and not matcher.is_in(path):
                continue
            if path is None or file_count == MAX_FILES:
                stop_reason = search_stop_reason(context, deadline) or f"more than {MAX_FILES} files match"
                break
            file_count += 1
            lines.add(path.encode("utf-8", "replace").decode())
        missing = f"{lines.missing} more files match; make the pattern narrower" if lines.missing else ""
        deep = "some folders are too deep or too large to be searched whole" if ignore_filter.is_cut else ""
        none = "" if file_count else "no file matches"
        return ToolOutput(
            text=lines.text(missing, stop_reason and f"the search ended early: {stop_reason}", deep, none),
            metadata={"files": file_count, "truncated": bool(missing or stop_reason or deep)},
            summary=f"{file_count} {'file' if file_count == 1 else 'files'}",
        )


def _visible_paths(
    ignore_filter: IgnoreFilter, context: CallContext, deadline: float
) -> Iterator[str | None]:
    """Yield every visible path; None when the search has to end."""
    for folder in ignore_filter.folders("."):
        if search_stop_reason(context, deadline):
            yield None
        yield from map(folder.below, folder.files)


def search_stop_reason(context: CallContext, deadline: float) -> str:
    """Return why a search has to end now, or nothing."""
    if context.is_stopped():
        return "it was stopped"
    return f"it took longer than {MAX_SEARCH_SECONDS:g} s" if time.monotonic() > deadline else ""


def compile_glob(pattern: str) -> regex.Regex:
    """Return what matches a path from the workspace. Raises ToolRefused: it leads out, or cannot be read."""
    text = pattern.removeprefix("./")
    if text.startswith("/") or ".." in text.split("/"):
        raise ToolRefused(f"Not searched: {pattern} leads out of the workspace; start below it.")
    if "/" not in text.rstrip("/"):
        text = f"**/{text}"
    if text.endswith("/"):
        text += "**"
    try:
        return regex.compile_regex(f"^(?:{_glob_expression(text)})$")
    except regex.InvalidRegex as error:
        raise ToolRefused(f"Not searched: the pattern {pattern} cannot be read: {error}.") from None


_GLOB_PIECES: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]/]*\]|\{[^{}]*\}|.", re.DOTALL)


def _glob_expression(glob: str) -> str:
    return "".join(_glob_piece_expression(piece[0]) for piece in _GLOB_PIECES.finditer(glob))


def _glob_piece_expression(text: str) -> str:
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
        return "(?:" + "|".join(map(_glob_expression, text[1:-1].split(",")[:_MAX_BRACE_CHOICES])) + ")"
    return re.escape(text)
