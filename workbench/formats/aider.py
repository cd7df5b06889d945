"""aider: the Markdown history of its chats, where every start is a session, and its two other histories.

Pure. Owns telling apart who speaks: `#### ` is the human, `> ` the program, the rest the model with its
edits. Messages have no times there but the start.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain.values import Usage
from workbench.formats import foreign
from workbench.formats.fields import moment
from workbench.formats.foreign import Asked, Change, Decision, Head, Item, Kept, Prompt, Reply, Result
from workbench.formats.patches import git_files

START: Final = "# aider chat started at "
_APPLIED: Final = re.compile(r"Applied edit to (.+)")
_BLOCK: Final = re.compile(
    r"^<{5,9} SEARCH\n(?P<old>.*?)^={5,9}\n(?P<new>.*?)^>{5,9} REPLACE",
    re.DOTALL | re.MULTILINE,
)
_WHOLE: Final = re.compile(
    r"^(?P<path>[^\n`<>#]{1,300})\n(?P<fence>```|~~~|<source>)[^\n]*\n(?P<new>.*?)^(?:```|~~~|</source>)",
    re.DOTALL | re.MULTILINE,
)
_DIFF: Final = re.compile(r"^```diff\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SHELL: Final = re.compile(r"^```(?:bash|sh|shell|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MODEL: Final = re.compile(r"^(?:Main )?[Mm]odel: (\S+)", re.MULTILINE)
_TOKENS: Final = re.compile(r"^Tokens: ([\d.,]+k?) sent,.*? ([\d.,]+k?) received", re.MULTILINE)
_ASKED: Final = re.compile(r"(?P<what>.+\?) \(Y\)es/\(N\)o.*?: ?(?P<answer>[A-Za-z]*)$")
_QUESTIONS: Final = (
    ("run shell command", "shell"),
    ("create new file", "create_file"),
    ("allow edits", "edit_file"),
    ("allow creation", "create_file"),
    ("add file to the chat", "add_file"),
    ("add url to the chat", "add_url"),
)
_ADDED: Final = re.compile(r"Add (?!file |url )(\S+) to the chat\?", re.IGNORECASE)
_TYPED: Final = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\s*$")
_LLM: Final = re.compile(r"(TO LLM|LLM RESPONSE) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*)\s*$")


def is_history(beginning: str) -> bool:
    """Tell whether a text is a history of aider."""
    return any(line.startswith(START) for line in beginning.split("\n"))


def is_input(beginning: str) -> bool:
    """Tell whether a text is the list of what was typed."""
    lines = [line for line in beginning.split("\n")[:60] if line.strip()]
    return len(lines) > 1 and bool(_TYPED.match(lines[0])) and lines[1].startswith("+")


def is_llm(beginning: str) -> bool:
    """Tell whether a text is the log of what went to the model and came back."""
    return any(_LLM.match(line) for line in beginning.split("\n")[:60])


def read_input(lines: Iterable[str], name: str) -> Iterator[Item]:
    """Yield one session with everything that was typed in a folder."""
    del name
    at: int | None = None
    number, begun, typed = 0, False, list[str]()
    for here, line in enumerate(lines, 1):
        if found := _TYPED.match(line):
            yield from _typed(typed, at, number)
            typed, number, at = [], here, moment(found[1].replace(" ", "T", 1))
            if not begun:
                begun = True
                yield Head(key=f"input:{found[1]}", title="typed into aider", at=at)
        elif line.startswith("+"):
            typed.append(line[1:])
    yield from _typed(typed, at, number)


def _typed(typed: list[str], at: int | None, number: int) -> Iterator[Item]:
    if typed:
        yield Prompt(text="\n".join(typed), at=at, line=number)


def read_llm(lines: Iterable[str], name: str) -> Iterator[Item]:
    """Yield one session: of every request the last thing said by the human, and the answer."""
    del name
    begun, at, number = False, None, 0
    said: list[tuple[str, str]] = []
    way = ""
    for here, line in enumerate(lines, 1):
        if found := _LLM.match(line):
            yield from _exchanged(way, said, at, number)
            way, said, number = found[1], [], here
            at = moment(found[2])
            if not begun:
                begun = True
                yield Head(key=f"llm:{found[2]}", title="aider and its model", at=at)
        else:
            role, _, rest = line.partition(" ")
            said.append((role, rest) if role in ("USER", "ASSISTANT", "SYSTEM") else ("", line))
    yield from _exchanged(way, said, at, number)


def _exchanged(way: str, said: list[tuple[str, str]], at: int | None, number: int) -> Iterator[Item]:
    if way == "LLM RESPONSE":
        yield Reply(text="\n".join(rest for _, rest in said).strip(), at=at, line=number)
    elif way:
        last: list[str] = []
        for role, rest in reversed(said):
            if role == "USER":
                last.insert(0, rest)
            elif last and (role or rest.strip()):
                break
        yield from _typed(last, at, number)


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
        self._calls = 0
        self._has_begun = False
        self._model = ""
        self._said = ""

    def line(self, line: str, number: int) -> Iterator[Item]:
        if line.startswith(START):
            yield from self.flush(number)
            self._model, self._said = "", ""
            yield self._head(line.removeprefix(START).strip())
            return
        who, said = self._speaker(line)
        if who != self._who and (said.strip() or who != "agent"):
            yield from self.flush(number)
            self._who = who
        self._lines.append(said)

    def _speaker(self, line: str) -> tuple[str, str]:
        if line.startswith("#### ") or line == "####":
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
            self._said = said
            yield Reply(text=said, model=self._model, line=number)
        else:
            yield from self._program(said, number)

    def _program(self, said: str, number: int) -> Iterator[Item]:
        """Yield what the program told: questions, edits that it made, tokens, and the rest as it is."""
        if found := _MODEL.search(said):
            self._model = found[1]
        yield from self._questions(said, number)
        for path in dict.fromkeys(one[1].strip() for one in _APPLIED.finditer(said)):
            key = self._key()
            yield Reply(calls=(Asked(id=key, tool="edit", arguments={"path": path}),), line=number)
            yield Result(
                call=key, text=f"Applied edit to {path}", changes=edits(self._said, path), line=number
            )
        for found in _TOKENS.finditer(said):
            yield foreign.Spent(usage=Usage(input_tokens=_count(found[1]), output_tokens=_count(found[2])))
        yield Kept(kind="output", content=said, line=number)

    def _questions(self, said: str, number: int) -> Iterator[Item]:
        """Yield what the program asked its human, with the answer; a shell command with what it printed."""
        lines = said.split("\n")
        for at, line in enumerate(lines):
            found = _ASKED.match(line)
            if found is None:
                continue
            what, answer = found["what"], found["answer"].casefold() or "y"
            tool = next((tool for begin, tool in _QUESTIONS if begin in what.casefold()), "confirm")
            key, given = self._key(), self._given(tool, what, lines[:at])
            if added := _ADDED.match(what):
                tool, given = "add_file", {"path": added[1]}
            yield Reply(calls=(Asked(id=key, tool=tool, arguments=given),), line=number)
            if answer[:1] in ("y", "a"):
                yield Decision(call=key, is_approved=True)
                told = "\n".join(lines[at + 1 :]) if tool == "shell" else line
                yield Result(call=key, text=told, line=number)
            else:
                yield Result(call=key, state="rejected", line=number)

    def _given(self, tool: str, what: str, before: list[str]) -> dict[str, str]:
        """Return what a question was about: it stands in the line above, or in the reply."""
        if tool == "shell" and (blocks := _SHELL.findall(self._said)):
            return {"command": "\n".join(block.strip() for block in blocks)}
        subject = before[-1].strip() if before and not _ASKED.match(before[-1]) else ""
        if subject:
            return {"command" if tool == "shell" else "path": subject, "question": what}
        return {"question": what}

    def _key(self) -> str:
        self._calls += 1
        return f"call-{self._calls}"


def _count(found: str) -> int:
    digits = found.rstrip("k").replace(",", "")
    try:
        return int(float(digits) * (1000 if found.endswith("k") else 1))
    except ValueError:
        return 0


def edits(said: str, path: str) -> tuple[Change, ...]:
    """Return the changes of one file in a reply: SEARCH/REPLACE blocks, a diff, or the whole file.

    Args:
        said: The reply.
        path: The file, as the program names it.
    """
    blocks = tuple(
        Change(path=path, change="modify" if old else "create", old=old or None, new=new)
        for name, old, new in _blocks(said)
        if name == path
    )
    if blocks:
        return blocks
    for patch in _DIFF.findall(said):
        if found := tuple(change for change in git_files(patch) if change.path == path):
            return found
    for found in _WHOLE.finditer(said):
        if found["path"].strip(" *`:") == path:
            return (Change(path=path, new=found["new"]),)
    return (Change(path=path),)


def _blocks(said: str) -> Iterator[tuple[str, str, str]]:
    """Yield the path, the old and the new text of every block; the path stands above the fence."""
    path = ""
    end = 0
    for found in _BLOCK.finditer(said):
        above = [line.strip(" *`:#") for line in said[end : found.start()].split("\n")]
        named = [line for line in above if line and not line.startswith(("`", "~", "<source", "</source"))]
        fences = [line for line in said[end : found.start()].split("\n") if line.strip().startswith("```")]
        languages = {line.strip("` ") for line in fences}
        named = [line for line in named if line not in languages]
        path = named[-1] if named else path
        end = found.end()
        yield path, found["old"], found["new"]
