"""What an agent's program prints while it works: records while it comes, and its answer at the end.

A program tells its format by what it prints; one whose format is not known here tells only its answer.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from workbench.domain.values import JsonObject, Usage
from workbench.formats import claude_code, codex, droid, gemini_stream
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.call_events import call_target
from workbench.formats.detect import LINE_FORMATS, LineFormat
from workbench.formats.input import JsonLine, json_values
from workbench.formats.live_lines import LiveLines
from workbench.text.safe import one_line

STREAMED_FORMATS: Final = ("claude-code", "codex-exec", gemini_stream.NAME, "opencode", "droid-stream")
"""Formats that programs print while they work, by their names in `LINE_FORMATS`."""
_LIVE_READERS: Final = {"droid-stream": droid.read_live}
"""Of formats whose reader holds a line back until the next one says what it cost."""
_CLAUDE_TYPES: Final = frozenset({"assistant", "user", "result", "stream_event"})
"""Lines that only Claude Code prints; other programs begin with the same line as it."""
_SAMPLE_SIZE: Final = 5
"""Objects after which a program's format is not looked for any more."""
_MOST_LINE: Final = 4 << 20
"""Bytes of a line; of a longer one nothing is read."""
_SHOW_NOW: Final = r.file_problem(0, "nothing yet")
"""Unlike `NOTHING_YET` it lets replies go that wait for what they spent: they are shown at once."""


class AgentOutput:
    """Reads what a program prints, in pieces as they come."""

    def __init__(self) -> None:
        self.form = ""
        """The name of its format, once it is known."""
        self._rest = b""
        self._is_cut = self._is_unknown = False
        self._number = 0
        self._sample: list[tuple[bytes, JsonLine]] = []
        """Lines that came before the format was known, as they were printed and what they hold."""
        self._reader: LiveLines | None = None

    def feed(self, data: bytes) -> list[r.Record | bytes]:
        """Return what the lines that are whole by now say; lines of another form come back as they are."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _MOST_LINE:
            self._rest, self._is_cut = b"", True
        return [item for line in lines for item in self._line(line)]

    def finish(self) -> list[r.Record | bytes]:
        """Return what the last line says, also where it has no end, and what was waiting for more."""
        items = [*self._line(self._rest)] if self._rest else []
        self._rest = b""
        if self._reader is None:
            return [*items, *self._recognised(is_last=True)]
        return [*items, *self._reader.read(())]

    def _line(self, line: bytes) -> Iterator[r.Record | bytes]:
        self._number += 1
        is_cut, self._is_cut = self._is_cut, False
        if is_cut:
            yield b"\xe2\x80\xa6 a line of more than 4 MB was left out \xe2\x80\xa6"
            return
        value = next(iter(json_values([line])), None) if line.lstrip()[:1] == b"{" else None
        if self._is_unknown or not isinstance(value, JsonLine):
            yield line
            return
        numbered = JsonLine(self._number, value.value)
        if self._reader is not None:
            yield from self._reader.read([numbered])
        else:
            self._sample.append((line, numbered))
            yield from self._recognised(is_last=len(self._sample) >= _SAMPLE_SIZE)

    def _recognised(self, *, is_last: bool) -> Iterable[r.Record | bytes]:
        """Return what the lines so far say, if their format is known; with the last one they are given up."""
        values = [j.as_object(value.value) for _, value in self._sample]
        line_format = _streamed_format(values)
        is_claude = any(j.text_of(line, "type") in _CLAUDE_TYPES for line in values)
        if line_format is None or (line_format.name == "claude-code" and not is_claude and not is_last):
            return self._given_up() if is_last else ()
        self.form = line_format.name
        read = _LIVE_READERS.get(line_format.name, line_format.read)
        self._reader = LiveLines(read, "", _SHOW_NOW)
        return self._reader.read(value for _, value in self._sample)

    def _given_up(self) -> list[bytes]:
        self._is_unknown, sample = True, self._sample
        self._sample = []
        return [line for line, _ in sample]


def _streamed_format(sample: list[JsonObject]) -> LineFormat | None:
    formats = (line_format for line_format in LINE_FORMATS if line_format.name in STREAMED_FORMATS)
    return next((line_format for line_format in formats if line_format.is_it(sample)), None)


def log_lines(record: r.Record) -> str:
    """Return what a log shows of a record: words of the agent, its calls, what failed; empty for all else."""
    match record:
        case r.Reply(text=text, calls=calls):
            called = [f"→ {one_line(f'{call.tool} {call_target(call)}', 300).rstrip()}" for call in calls]
            lines = [*([text.strip()] if text.strip() else []), *called]
        case r.CallResult(state=state, error=error, text=text) if state not in ("succeeded", "cancelled"):
            lines = [f"  {state}: {one_line(error or text, 300)}".rstrip(": ")]
        case r.ErrorRecord(message=message):
            lines = [f"error: {one_line(message, 300)}"]
        case _:
            lines = []
    return "".join(f"{line}\n" for line in lines)


class AgentAnswer(Struct, frozen=True, kw_only=True):
    """What a program said at its end."""

    reply: str = ""
    usage: Usage = Usage()
    """Tokens, and the cost where it names one."""
    error: str = ""


_REPLY_KEYS: Final = ("result", "response", "finalText", "text", "content", "message", "output")


def agent_answer(values: Iterable[JsonObject]) -> AgentAnswer:
    """Return the reply, the usage and the error in the objects that a program printed; later ones count."""
    reply, usage, error = "", Usage(), ""
    for value in values:
        text = next((value[name] for name in _REPLY_KEYS if isinstance(value.get(name), str)), None)
        text = text or j.text_of(j.object_of(value, "item") or j.object_of(value, "part"), "text")
        if text:
            reply = text
        usage = _usage_told(value) or usage
        is_bad_end = value.get("type") == "completion" and value.get("isError") is True
        if value.get("is_error") is True or value.get("type") == "error" or is_bad_end:
            error = str(value.get("error") or text or "it reported an error")
    return AgentAnswer(reply=reply, usage=usage, error=error)


def _usage_told(value: JsonObject) -> Usage | None:
    counts = j.object_of(value, "usage") or j.object_of(value, "stats")
    if not counts:
        return None
    cost = j.as_cost(value.get("total_cost_usd"))
    if "cached_input_tokens" in counts:
        return codex.usage_of_counts(counts)
    if "models" in counts or "cached" in counts:
        return gemini_stream.usage_of_stats(counts)
    usage = claude_code.usage_of_message(counts)
    return Usage(
        input_tokens=usage.input_tokens or _first_count(counts, "prompt_tokens", "tokens_in"),
        output_tokens=usage.output_tokens or _first_count(counts, "completion_tokens", "tokens_out"),
        cache_read_tokens=usage.cache_read_tokens, cache_write_tokens=usage.cache_write_tokens,
        cost_microdollars=cost,
    )  # fmt: skip


def _first_count(counts: JsonObject, *names: str) -> int:
    return next((count for name in names if (count := j.count_of(counts, name))), 0)
