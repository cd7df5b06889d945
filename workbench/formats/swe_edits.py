"""What the edit commands of SWE-agent and mini-swe-agent changed: their own small shell, and here-documents.

Pure. Owns the words of these commands in all their versions, and what of the open file has been seen, which
the oldest of them name by line numbers only. A command whose effect cannot be told from its words is no edit.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Final

from workbench.domain.values import Json, JsonObject
from workbench.formats import editing
from workbench.formats.fields import first, text, whole
from workbench.formats.foreign import Asked, Change

_FILE: Final = re.compile(r"^\[File: (.+) \(\d+ lines total\)\]\r?$", re.MULTILINE)
_OPEN: Final = re.compile(r"^\(Open file: (.+)\)\r?$", re.MULTILINE)
_LINE: Final = re.compile(r"^(\d{1,7}):(.*?)\r?$", re.MULTILINE)
_RANGE: Final = re.compile(r"edit (\d{1,7}):(\d{1,7})[ \t]*\n(.*?)\n?end_of_edit\s*\Z", re.DOTALL)
_FAILED: Final = (
    "your proposed edit has introduced", "your changes have not been applied", "no replacement was performed",
    "no file open", "text not found", "your edit was not applied", "error:", "usage:", "invalid `path`",
    "the file already exists", "file already exists", "no edit found",
)  # fmt: skip
_PATH: Final = r"""(?P<{0}>"[^"\n]+"|'[^'\n]+'|[^\s;&|<>"'$`]+)"""
_HERE: Final = re.compile(
    r"^[ \t]*(?:cd [^\s;&|]+ && )?cat[ \t]*(?:"
    rf"(?P<add1>>>?)[ \t]*{_PATH.format('path1')}[ \t]*<<-?[ \t]*(?P<q1>['\"]?)(?P<end1>\w+)(?P=q1)"
    rf"|<<-?[ \t]*(?P<q2>['\"]?)(?P<end2>\w+)(?P=q2)[ \t]*(?P<add2>>>?)[ \t]*{_PATH.format('path2')}"
    r")[ \t]*\n",
    re.MULTILINE,
)
_EDITOR: Final = "str_replace_editor"
_MOST_WORDS: Final = 200_000
"""Characters of a command that are taken apart as words of a shell."""


class Desk:
    """The file that is open, and the lines of it that were shown."""

    def __init__(self) -> None:
        self._open = ""
        self._lines: dict[int, str] = {}

    def edited(self, asked: Asked, said: str) -> tuple[tuple[Change, ...], bool]:
        """Return what a command changed, and whether it was an edit that failed.

        Args:
            asked: The command.
            said: What it answered.
        """
        found = tuple(self._changes(asked))
        has_failed = bool(found) and any(word in said[:600].casefold() for word in _FAILED)
        self._see(said)
        return (() if has_failed else found), has_failed

    def _see(self, said: str) -> None:
        """Note which file is shown, and its lines."""
        if shown := _FILE.search(said):
            self._open = shown[1]
            self._lines = {int(one[1]): one[2] for one in _LINE.finditer(said, shown.end())}
        if (opened := _OPEN.search(said)) and opened[1] != "n/a":
            self._open = opened[1]

    def _changes(self, asked: Asked) -> Iterator[Change]:
        command = text(asked.arguments.get("command"))
        if asked.tool != "bash":
            yield from self._named(asked.tool, asked.arguments)
        elif found := _RANGE.match(command.strip()):
            yield self._between(int(found[1]), int(found[2]), found[3])
        else:
            tool, given = _taken_apart(command)
            yield from self._named(tool, given) if tool else here_documents(command)

    def _named(self, tool: str, given: JsonObject) -> Iterator[Change]:
        begin, end = whole(given.get("start_line")), whole(given.get("end_line"))
        if tool == "create" and (name := first(given, "filename", "path")):
            yield Change(path=name, change="create", new="")
        elif tool == "edit" and "search" in given and self._open:
            yield Change(path=self._open, old=text(given.get("search")), new=text(given.get("replace")))
        elif tool == "edit" and begin and self._open:
            yield self._between(begin, end or begin, text(given.get("replacement_text")))
        elif tool == "insert" and "text" in given and self._open:
            yield self._added(
                whole(given.get("line")) or max(self._lines, default=0), text(given.get("text"))
            )
        elif tool == _EDITOR and "insert_line" in given:
            line = whole(given.get("insert_line")) or 0
            yield self._added(line, text(given.get("new_str")), text(given.get("path")))
        elif tool == _EDITOR:
            yield from editing.changes(Asked(id="", tool=tool, arguments=given))

    def _between(self, begin: int, end: int, new: str) -> Change:
        """Return the change of some lines, which are shown where they have been seen."""
        old = [self._lines.get(number) for number in range(begin, min(end, begin + 5_000) + 1)]
        gone = [f"-{line}" for line in old if line is not None]
        added = [f"+{line}" for line in new.split("\n")] if new else []
        head = f"@@ -{begin},{len(gone)} +{begin},{len(added)} @@"
        return Change(path=self._open or "?", patch="\n".join([head, *gone, *added]))

    def _added(self, line: int, new: str, path: str = "") -> Change:
        added = [f"+{one}" for one in new.removesuffix("\n").split("\n")]
        head = f"@@ -{line},0 +{line + 1},{len(added)} @@"
        return Change(path=path or self._open, patch="\n".join([head, *added]))


def _taken_apart(command: str) -> tuple[str, JsonObject]:
    """Return the tool that a command is the words of, with its arguments; no tool for any other command."""
    name = command.split(maxsplit=1)[0] if command.strip() else ""
    if name not in ("create", "edit", "insert", _EDITOR) or len(command) > _MOST_WORDS:
        return "", {}
    try:
        words = shlex.split(command)[1:]
    except ValueError:
        return "", {}
    given: dict[str, Json] = {}
    if name == "create" and len(words) == 1:
        given = {"filename": words[0]}
    elif name == "edit" and len(words) in (2, 3):
        given = {"search": words[0], "replace": words[1]}
    elif name == "insert" and words:
        given = {"text": words[0], "line": int(words[1]) if words[1:] and words[1].isdecimal() else None}
    elif name == _EDITOR:
        given = _options(words)
    return (name, given) if given else ("", {})


def _options(words: list[str]) -> dict[str, Json]:
    """Return `command path --option value …` as arguments."""
    given: dict[str, Json] = dict(zip(("command", "path"), words[:2], strict=False))
    rest = words[2:]
    for option, value in zip(rest[::2], rest[1::2], strict=False):
        if option.startswith("--"):
            number = option == "--insert_line" and value.isdecimal()
            given[option[2:]] = int(value) if number else value
    return given


def here_documents(command: str) -> Iterator[Change]:
    """Yield the files that a command writes with `cat` and a here-document whose text nothing expands."""
    at = 0
    while found := _HERE.search(command, at):
        which = "1" if found["end1"] else "2"
        end = re.compile(rf"^\t*{re.escape(found['end' + which])}[ \t]*$", re.MULTILINE)
        last = end.search(command, found.end())
        if last is None:
            return
        body = command[found.end() : last.start()]
        if found["q" + which] or not any(sign in body for sign in "$`\\"):
            path = found["path" + which].strip("'\"")
            yield _written(path, body, is_added=found["add" + which] == ">>")
        at = last.end()


def _written(path: str, body: str, *, is_added: bool) -> Change:
    if not is_added:
        return Change(path=path, change="create", new=body)
    added = [f"+{line}" for line in body.removesuffix("\n").split("\n")]
    return Change(path=path, patch="\n".join([f"@@ -0,0 +1,{len(added)} @@", *added]))
