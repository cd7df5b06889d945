"""Reader of Antigravity's transcripts: steps as JSON lines; what a tool gave is a step of its own."""

# Calls have no ids. A step that tells what a tool gave belongs to the oldest call that waits, and one that no
# call was written for (a transcript may be cut) makes a call by its name.

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from workbench.domain.values import Json, JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import call_result, parse_arguments
from workbench.formats.input import JsonLines
from workbench.formats.record_streams import read_rows

_REQUEST: Final = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)
_FAILED: Final = re.compile(r"\s*(?:Error\b|The command failed)")
_EXIT_CODE: Final = re.compile(r"exit code:? (\d{1,3})\b")
_REFUSED: Final = ("CANCELED", "CANCELLED", "REJECTED")


def is_transcript(sample: list[JsonObject]) -> bool:
    return any(
        {"step_index", "source", "type", "status"} <= line.keys()
        and j.text_of(line, "source") in ("USER_EXPLICIT", "MODEL", "SYSTEM")
        for line in sample
    )


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    reader = _StepReader()
    yield from read_rows(
        lines, reader.step,
        lambda row: r.SessionHead(key=_session_key(name), provider="google", at=j.time_of(row, "created_at")),
    )  # fmt: skip


def _session_key(name: str) -> str:
    """Return the id of a session: below the folder of the agent all transcripts have the same name.

    `brain/<id>/.system_generated/logs/transcript.jsonl`
    """
    path = PurePath(name)
    is_placed = path.parent.parts[-2:] == (".system_generated", "logs")
    return (path.parent.parent.parent.name if is_placed else path.stem) or name


class _StepReader:
    def __init__(self) -> None:
        self._open: list[str] = []
        """Calls without a result, in their order."""

    def step(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        time_us, kind, source = j.time_of(row, "created_at"), j.text_of(row, "type"), j.text_of(row, "source")
        text = j.content_of(row, "content")
        if kind == "USER_INPUT":
            request = _REQUEST.search(text)
            yield r.Prompt(request[1] if request else text, time_us, number)
        elif kind == "PLANNER_RESPONSE":
            yield self._reply(row, text, time_us, number)
        elif source == "MODEL":
            yield from self._result(row, kind, text, time_us, number)
        else:
            # Its time is that of the record.
            members: JsonObject = {name: value for name, value in row.items() if name != "created_at"}
            yield r.UnmappedRecord(kind or "step", members, time_us, number, source == "SYSTEM")

    def _reply(self, row: JsonObject, text: str, time_us: int | None, number: int) -> r.Reply:
        calls = tuple(
            r.ToolCall(f"{number}.{place}", j.text_of(call, "name"), _arguments(call))
            for place, call in enumerate(j.objects_of(row, "tool_calls"), 1)
        )
        self._open += [call.id for call in calls]
        return r.Reply(text=text, thinking=j.text_of(row, "thinking"), calls=calls, at=time_us, line=number)

    def _result(
        self, row: JsonObject, kind: str, text: str, time_us: int | None, number: int
    ) -> Iterator[r.Record]:
        if not self._open:
            key = f"{number}.0"
            self._open.append(key)
            yield r.Reply(calls=(r.ToolCall(key, kind.casefold()),), at=time_us, line=number)
        status, exits = j.text_of(row, "status"), _EXIT_CODE.search(text[:400])
        code = int(exits[1]) if exits else None
        is_bad = status == "ERROR" or bool(code) or bool(_FAILED.match(text))
        state: r.ResultState = "cancelled" if status in _REFUSED else "failed" if is_bad else "succeeded"
        yield call_result(self._open.pop(0), text, state, at=time_us, line=number, exit_code=code)


def _arguments(call: JsonObject) -> JsonObject:
    """Return the arguments of a call, each of which is a JSON text."""
    arguments: dict[str, Json] = {}
    for name, value in parse_arguments(call.get("args")).items():
        is_quoted = isinstance(value, str) and value[:1] == value[-1:] == '"' and len(value) > 1
        arguments[name] = parse_arguments(f'{{"is": {value}}}').get("is", value) if is_quoted else value
    return arguments
