"""aider: the Markdown history of its chats; every start is a session.

Pure. Owns telling apart who speaks: `#### ` is the human, `> ` the program, the rest the model with its
edits. Messages have no times there but the start.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from workbench.formats.fields import moment
from workbench.formats.foreign import Asked, Change, Head, Item, Kept, Prompt, Reply, Result

START: Final = "# aider chat started at "
_APPLIED: Final = re.compile(r"Applied edit to (.+)")
_BLOCK: Final = re.compile(
    r"^(?P<path>[^\n`]+)\n```[^\n]*\n<<<<<<< SEARCH\n(?P<old>.*?)^=======\n(?P<new>.*?)^>>>>>>> REPLACE",
    re.DOTALL | re.MULTILINE,
)


def is_history(beginning: str) -> bool:
    """Tell whether a text is a history of aider."""
    return any(line.startswith(START) for line in beginning.split("\n"))


def read(lines: Iterable[str], name: str) -> Iterator[Item]:
    """Yield a session for each start."""
    reader = _Chat(name)
    for number, line in enumerate(lines, 1):
        yield from reader.line(line, number)
    yield from reader.flush(0)


class _Chat:
    """The lines of one speaker, until another one speaks."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._who = ""
        self._lines: list[str] = []
        self._edits = 0
        self._has_begun = False
        self._changes: dict[str, Change] = {}

    def line(self, line: str, number: int) -> Iterator[Item]:
        if line.startswith(START):
            yield from self.flush(number)
            yield self._head(line.removeprefix(START).strip())
            return
        who, said = self._speaker(line)
        if who != self._who and (said.strip() or who != "agent"):
            yield from self.flush(number)
            self._who = who
        self._lines.append(said)

    def _speaker(self, line: str) -> tuple[str, str]:
        if line.startswith("#### "):
            return "human", line[5:].removesuffix("  ")
        if line.startswith("> ") or line == ">":
            return "program", line[2:].removesuffix("  ")
        return "agent", line.removesuffix("  ")

    def _head(self, when: str) -> Head:
        self._has_begun = True
        at = moment(when.replace(" ", "T", 1))
        return Head(key=f"{self._name.rpartition('/')[2]}:{when}", title="", at=at)

    def flush(self, number: int) -> Iterator[Item]:
        """Yield what the last speaker said."""
        said = "\n".join(self._lines).strip("\n")
        who, self._who, self._lines = self._who, "", []
        if not said.strip():
            return
        if not self._has_begun:
            yield Head(key=f"{self._name.rpartition('/')[2]}:before")
            self._has_begun = True
        if who == "human":
            yield Prompt(text=said, line=number)
        elif who == "agent":
            self._changes.update((change.path, change) for change in edits(said))
            yield Reply(text=said, line=number)
        else:
            yield from self._program(said, number)

    def _program(self, said: str, number: int) -> Iterator[Item]:
        """Yield what the program told: edits that it made, and the rest as it is."""
        for found in _APPLIED.finditer(said):
            path = found[1].strip()
            self._edits += 1
            key = f"edit-{self._edits}"
            yield Reply(calls=(Asked(id=key, tool="edit", arguments={"path": path}),), line=number)
            change = self._changes.pop(path, Change(path=path))
            yield Result(call=key, text=said, changes=(change,), line=number)
        yield Kept(kind="output", content=said, line=number)


def edits(said: str) -> Iterator[Change]:
    """Yield the SEARCH/REPLACE blocks of a reply."""
    for found in _BLOCK.finditer(said):
        old, new = found["old"], found["new"]
        yield Change(
            path=found["path"].strip(), change="modify" if old else "create", old=old or None, new=new
        )
