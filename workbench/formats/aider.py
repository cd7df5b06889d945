"""Reader of aider's files: the Markdown chat history, the input history, and the LLM log."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from workbench.domain.values import Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.patches import DiffRefused, parse_git_diff
from workbench.formats.usage_records import join_usage

HISTORY_START: Final = "# aider chat started at "
_APPLIED: Final = re.compile(r"Applied edit to (.+)")
_SEARCH_REPLACE: Final = re.compile(
    r"^<{5,9} SEARCH\n(?P<old>.*?)^={5,9}\n(?P<new>.*?)^>{5,9} REPLACE",
    re.DOTALL | re.MULTILINE,
)
_WHOLE_FILE: Final = re.compile(
    r"^(?P<path>[^\n`<>#]{1,300})\n(?P<fence>```|~~~|<source>)[^\n]*\n(?P<new>.*?)^(?:```|~~~|</source>)",
    re.DOTALL | re.MULTILINE,
)
_DIFF: Final = re.compile(r"^```diff\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SHELL: Final = re.compile(r"^```(?:bash|sh|shell|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MODEL: Final = re.compile(r"^(?:Main )?[Mm]odels?: (\S+)", re.MULTILINE)
_TOKENS: Final = re.compile(
    r"^Tokens: (?P<sent>[\d.,]+[kM]?) sent(?:, (?P<write>[\d.,]+[kM]?) cache write)?"
    r"(?:, (?P<hit>[\d.,]+[kM]?) cache hit)?, (?P<got>[\d.,]+[kM]?) received\."
    r"(?:\s+Cost: \$(?P<cost>[\d.,]+) (?:message|request))?",
    re.MULTILINE,
)
_QUESTION: Final = re.compile(r"(?P<what>.+\?) \(Y\)es/\(N\)o.*?: ?(?P<answer>[A-Za-z]*)$")
_QUESTION_TOOLS: Final = (
    ("run shell command", "shell"),
    ("create new file", "create_file"),
    ("allow edits", "edit_file"),
    ("allow creation", "create_file"),
    ("add file to the chat", "add_file"),
    ("add url to the chat", "add_url"),
)
_FILE_TO_ADD: Final = re.compile(r"Add (?!file |url )(\S+) to the chat\?", re.IGNORECASE)
_INPUT_HEADING: Final = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\s*$")
_LLM_HEADING: Final = re.compile(r"(TO LLM|LLM RESPONSE) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*)\s*$")


def is_history(beginning: str) -> bool:
    return any(line.startswith(HISTORY_START) for line in beginning.split("\n"))


def is_input_history(beginning: str) -> bool:
    lines = [line for line in beginning.split("\n")[:60] if line.strip()]
    return len(lines) > 1 and bool(_INPUT_HEADING.match(lines[0])) and lines[1].startswith("+")


def is_llm_log(beginning: str) -> bool:
    return any(_LLM_HEADING.match(line) for line in beginning.split("\n")[:60])


def read_input_history(lines: Iterable[str], name: str) -> Iterator[r.Record]:
    """Yield one session with everything that was typed in a folder."""
    del name
    time_us: int | None = None
    heading_line, has_begun, typed = 0, False, list[str]()
    for number, line in enumerate(lines, 1):
        if match := _INPUT_HEADING.match(line):
            yield from _input_prompt(typed, time_us, heading_line)
            typed, heading_line, time_us = [], number, j.as_time(match[1].replace(" ", "T", 1))
            if not has_begun:
                has_begun = True
                yield r.SessionHead(key=f"input:{match[1]}", title="typed into aider", at=time_us)
        elif line.startswith("+"):
            typed.append(line[1:])
    yield from _input_prompt(typed, time_us, heading_line)


def _input_prompt(typed: list[str], time_us: int | None, number: int) -> Iterator[r.Record]:
    if typed:
        yield r.Prompt("\n".join(typed), time_us, number)


def read_llm_log(lines: Iterable[str], name: str) -> Iterator[r.Record]:
    """Yield one session: of every request the last thing said by the human, and the answer."""
    del name
    has_begun, time_us, heading_line = False, None, 0
    text: list[tuple[str, str]] = []
    direction = ""
    for number, line in enumerate(lines, 1):
        if match := _LLM_HEADING.match(line):
            yield from _llm_exchange(direction, text, time_us, heading_line)
            direction, text, heading_line = match[1], [], number
            time_us = j.as_time(match[2])
            if not has_begun:
                has_begun = True
                yield r.SessionHead(key=f"llm:{match[2]}", title="aider and its model", at=time_us)
        else:
            role, _, rest = line.partition(" ")
            text.append((role, rest) if role in ("USER", "ASSISTANT", "SYSTEM") else ("", line))
    yield from _llm_exchange(direction, text, time_us, heading_line)


def _llm_exchange(
    direction: str, text: list[tuple[str, str]], time_us: int | None, number: int
) -> Iterator[r.Record]:
    if direction == "LLM RESPONSE":
        yield r.Reply(text="\n".join(rest for _, rest in text).strip(), at=time_us, line=number)
    elif direction:
        last: list[str] = []
        for role, rest in reversed(text):
            if role == "USER":
                last.insert(0, rest)
            elif last and (role or rest.strip()):
                break
        yield from _input_prompt(last, time_us, number)


def read(lines: Iterable[str], name: str) -> Iterator[r.Record]:
    yield from join_usage(_read_chats(lines, name))


def _read_chats(lines: Iterable[str], name: str) -> Iterator[r.Record]:
    reader = _ChatReader(name)
    for number, line in enumerate(lines, 1):
        yield from reader.line(line, number)
    yield from reader.flush(0)


class _ChatReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._who = ""
        self._lines: list[str] = []
        self._calls = 0
        self._has_begun = False
        self._model = ""
        self._said = ""
        self._begun_at: int | None = None

    def line(self, line: str, number: int) -> Iterator[r.Record]:
        if line.startswith(HISTORY_START):
            yield from self.flush(number)
            self._model, self._said = "", ""
            yield self._head(line.removeprefix(HISTORY_START).strip())
            return
        speaker, text = self._speaker(line)
        if speaker != self._who and (text.strip() or speaker != "agent"):
            yield from self.flush(number)
            self._who = speaker
        self._lines.append(text)

    def _speaker(self, line: str) -> tuple[str, str]:
        if line.startswith("#### ") or line == "####":
            return "human", line[5:].removesuffix("  ")
        if line.startswith("> ") or line == ">":
            return "program", line[2:].removesuffix("  ")
        return "agent", line.removesuffix("  ")

    def _head(self, when: str) -> r.SessionHead:
        self._has_begun = True
        self._begun_at = time_us = j.as_time(when.replace(" ", "T", 1))
        return r.SessionHead(key=f"{self._name.rpartition('/')[2]}:{when}", title="", at=time_us)

    def flush(self, number: int) -> Iterator[r.Record]:
        text = "\n".join(self._lines).strip("\n")
        speaker, self._who, self._lines = self._who, "", []
        if not text.strip():
            return
        if not self._has_begun:
            yield r.SessionHead(key=f"{self._name.rpartition('/')[2]}:before")
            self._has_begun = True
        if speaker == "human":
            yield r.Prompt(text, self._begun_at, number)
        elif speaker == "agent":
            self._said = text
            yield r.Reply(text=text, model=self._model, at=self._begun_at, line=number)
        else:
            yield from self._program(text, number)

    def _program(self, text: str, number: int) -> Iterator[r.Record]:
        if match := _MODEL.search(text):
            self._model = match[1].rstrip(",")
        for match in _TOKENS.finditer(text):
            yield r.UsageRecord(usage=_usage_of(match))
        yield from self._questions(text, number)
        for path in dict.fromkeys(match[1].strip() for match in _APPLIED.finditer(text)):
            key = self._key()
            yield r.Reply(calls=(r.ToolCall(key, "edit", {"path": path}),), line=number)
            yield r.CallResult(
                call=key,
                text=f"Applied edit to {path}",
                changes=edits_of_reply(self._said, path),
                line=number,
            )
        yield r.UnmappedRecord("output", text, line=number)

    def _questions(self, text: str, number: int) -> Iterator[r.Record]:
        lines = text.split("\n")
        for index, line in enumerate(lines):
            match = _QUESTION.match(line)
            if match is None:
                continue
            question, answer = match["what"], match["answer"].casefold() or "y"
            tool = next((tool for begin, tool in _QUESTION_TOOLS if begin in question.casefold()), "confirm")
            key, arguments = self._key(), self._question_arguments(tool, question, lines[:index])
            if added := _FILE_TO_ADD.match(question):
                tool, arguments = "add_file", {"path": added[1]}
            yield r.Reply(calls=(r.ToolCall(key, tool, arguments),), line=number)
            if answer[:1] in ("y", "a"):
                yield r.CallDecision(call=key, is_approved=True)
                output = "\n".join(lines[index + 1 :]) if tool == "shell" else line
                yield r.CallResult(call=key, text=output, line=number)
            else:
                yield r.CallResult(call=key, state="rejected", line=number)

    def _question_arguments(self, tool: str, question: str, before: list[str]) -> dict[str, str]:
        if tool == "shell" and (blocks := _SHELL.findall(self._said)):
            return {"command": "\n".join(block.strip() for block in blocks)}
        subject = before[-1].strip() if before and not _QUESTION.match(before[-1]) else ""
        if subject:
            return {"command" if tool == "shell" else "path": subject, "question": question}
        return {"question": question}

    def _key(self) -> str:
        self._calls += 1
        return f"call-{self._calls}"


def _usage_of(match: re.Match[str]) -> Usage:
    sent = _token_count(match["sent"])
    return Usage(
        input_tokens=sent, output_tokens=_token_count(match["got"]),
        cache_read_tokens=min(sent, _token_count(match["hit"] or "")),
        cache_write_tokens=min(sent, _token_count(match["write"] or "")),
        cost_microdollars=round(_number(match["cost"] or "") * 1_000_000),
    )  # fmt: skip


def _token_count(written: str) -> int:
    factor = {"k": 1_000, "M": 1_000_000}.get(written[-1:], 1)
    return round(_number(written.rstrip("kM")) * factor)


def _number(digits: str) -> float:
    try:
        return float(digits.replace(",", "").rstrip("."))
    except ValueError:
        return 0.0


def edits_of_reply(text: str, path: str) -> tuple[r.FileEdit, ...]:
    """Return the changes of one file in a reply: SEARCH/REPLACE blocks, a diff, or the whole file."""
    blocks = tuple(
        r.FileEdit(path=path, change="modify" if old else "create", old=old or None, new=new)
        for name, old, new in _search_replace_blocks(text)
        if name == path
    )
    if blocks:
        return blocks
    for patch in _DIFF.findall(text):
        with suppress(DiffRefused):  # the reply that holds it is shown as text in any case
            if edits := tuple(change for change in parse_git_diff(patch) if change.path == path):
                return edits
    for match in _WHOLE_FILE.finditer(text):
        if match["path"].strip(" *`:") == path:
            return (r.FileEdit(path=path, new=match["new"]),)
    return (r.FileEdit(path=path),)


def _search_replace_blocks(text: str) -> Iterator[tuple[str, str, str]]:
    path = ""
    end = 0
    for match in _SEARCH_REPLACE.finditer(text):
        above = [line.strip(" *`:#") for line in text[end : match.start()].split("\n")]
        named = [line for line in above if line and not line.startswith(("`", "~", "<source", "</source"))]
        fences = [line for line in text[end : match.start()].split("\n") if line.strip().startswith("```")]
        languages = {line.strip("` ") for line in fences}
        named = [line for line in named if line not in languages]
        path = named[-1] if named else path
        end = match.end()
        yield path, match["old"], match["new"]
