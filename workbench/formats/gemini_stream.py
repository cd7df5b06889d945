"""Reader of what `gemini --output-format stream-json` prints, and of its counts of tokens.

Source: geminicli.com/docs/cli/headless, which lists the events: init, message, tool_use, tool_result, error
and result.
"""

from collections.abc import Iterator
from typing import Final

from workbench.domain.values import JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import usage_within
from workbench.formats.input import JsonLines
from workbench.text.problems import Problem

NAME: Final = "gemini-stream"


def is_stream(sample: list[JsonObject]) -> bool:
    return any(line.get("type") == "init" and "session_id" in line for line in sample)


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield one session; pieces of an answer are joined up to the next event of another kind."""
    reader = _StreamReader(name)
    for line in lines:
        if isinstance(line, Problem):
            yield line
        else:
            yield from reader.line(j.as_object(line.value), line.number)
    yield from reader.said()


class _StreamReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._pieces: list[str] = []
        self._line = 0
        self._at: int | None = None

    def line(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        time_us, kind = j.time_of(row, "timestamp"), j.text_of(row, "type")
        if kind == "message" and row.get("role") != "user":
            self._pieces.append(j.content_of(row, "content"))
            self._line, self._at = number, time_us
            return
        yield from self.said()
        match kind:
            case "init":
                yield r.SessionHead(
                    key=j.text_of(row, "session_id") or self._name, provider="google",
                    model=j.text_of(row, "model"), at=time_us,
                )  # fmt: skip
            case "message":
                yield r.Prompt(j.content_of(row, "content"), time_us, number)
            case "tool_use":
                call = r.ToolCall(
                    j.text_of(row, "tool_id"), j.text_of(row, "tool_name"), j.object_of(row, "parameters")
                )
                yield r.Reply(calls=(call,), at=time_us, line=number)
            case "tool_result":
                yield _result(row, time_us, number)
            case "error":
                yield r.ErrorRecord(j.text_of(row, "severity") or "error", j.text_of(row, "message"), time_us)
            case "result":
                yield r.UsageRecord(usage=usage_of_stats(j.object_of(row, "stats")))
            case _:
                yield r.UnmappedRecord(kind or "record", row, time_us, number, is_understood=False)

    def said(self) -> Iterator[r.Record]:
        """Yield the answer whose pieces came so far."""
        text, self._pieces = "".join(self._pieces), []
        if text.strip():
            yield r.Reply(text=text, at=self._at, line=self._line)


def _result(row: JsonObject, time_us: int | None, number: int) -> r.CallResult:
    is_failed = row.get("status") == "error"
    error = j.text_of(row, "error", "message")
    return r.CallResult(
        call=j.text_of(row, "tool_id"), text=j.content_of(row, "output") or error,
        state="failed" if is_failed else "succeeded", error=error if is_failed else "", at=time_us,
        line=number,
    )  # fmt: skip


def usage_of_stats(stats: JsonObject) -> Usage:
    """Return tokens of all models; cached ones are among the input, thoughts among the output."""
    models = [j.object_of(j.as_object(model), "tokens") for model in j.object_of(stats, "models").values()]
    if not models:
        return usage_within(stats, "input_tokens", "output_tokens", "cached")
    sent = sum(j.count_of(tokens, "prompt") + j.count_of(tokens, "tool") for tokens in models)
    return Usage(
        input_tokens=sent,
        output_tokens=sum(j.count_of(t, "candidates") + j.count_of(t, "thoughts") for t in models),
        cache_read_tokens=min(sent, sum(j.count_of(tokens, "cached") for tokens in models)),
    )
