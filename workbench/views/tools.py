"""Tool calls as rows with times, as spans on a time axis; what one is about now.

Lines of their pages have parts with a tone; what the gate says of a command is a sentence.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, cast

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.rows import Action, Call
from workbench.domain.values import OWN_MODE, SANDBOX_SPEAKER, GateVerdict, Hunk, Json
from workbench.text.human import SECOND_MICROS, duration_text, sentence
from workbench.text.safe import one_line
from workbench.views.action_detail import json_text
from workbench.views.approvals import MAX_TARGET_CELLS
from workbench.views.conversation_blocks import Block, ThoughtBlock
from workbench.views.file_changes import FileDetail, change_details
from workbench.views.sandbox import is_allowed_by_sandbox
from workbench.views.status_icons import ICONS, StatusName, answer_in_verdict, call_status
from workbench.views.stream_buffers import OutputBuffer
from workbench.views.supervised import call_judgement

FRESH_WAIT_SECONDS: Final = 300
"""Up to this age a waiting time is counted by the second, then in steps of ten."""
_FAILED_ICONS: Final[tuple[StatusName, ...]] = ("failed", "unknown")


class ToolRow(Struct, frozen=True, kw_only=True):
    """One call: times in microseconds, durations in milliseconds. Words are made when they are drawn."""

    call: Call
    sign: StatusName
    word: str
    run_ms: int | None = None
    wait_ms: int | None = None
    waited_from: int | None = None
    waited_to: int | None = None
    """When its question was decided; None while it waits."""
    prepared_seconds: int | None = None
    """For how long its change has been computed, before there is a question."""

    @property
    def id(self) -> str:
        return self.call.id

    @property
    def requested(self) -> int:
        return self.call.requested_at

    @property
    def started(self) -> int | None:
        return self.call.started_at

    @property
    def finished(self) -> int | None:
        return self.call.finished_at

    @property
    def turn_id(self) -> str | None:
        return self.call.turn_id

    @property
    def is_failed(self) -> bool:
        return self.sign in _FAILED_ICONS

    @property
    def tool(self) -> str:
        """Return the name of the tool, one safe line."""
        return one_line(shown_tool(self.call.tool), 64)

    @property
    def target(self) -> str:
        """Return what it is about, one safe line, with how often it repeated itself."""
        times = f"{self.call.repeats}× " if self.call.repeats else ""
        return times + call_target(self.call)

    @property
    def by(self) -> str:
        """Return who let it pass: `§ R3`, `you`, `auto`, `asks`, `denied`."""
        return decided_by_text(self.call)

    @property
    def judged(self) -> str:
        """Return how far a call that its agent executed was judged: `bound`; empty for other calls."""
        return call_judgement(self.call)

    @property
    def right(self) -> str:
        """Return the one time a narrow pane shows: `12 ms`; of an open one how long until now."""
        if self.prepared_seconds is not None:
            return duration_text(self.prepared_seconds, counts_on=True)
        return _shown_time(self.call, self.run_ms, self.wait_ms)


class TimeSpan(Struct, frozen=True, kw_only=True):
    """The bar of one row on an axis, from 0 to 1; None where it did not wait or run."""

    waited: tuple[float, float] | None = None
    ran: tuple[float, float] | None = None
    sign: StatusName = "ok"


class TimeAxis(Struct, frozen=True, kw_only=True):
    """The time that a waterfall shows."""

    start: int = 0
    end: int = 0

    @property
    def seconds(self) -> float:
        return max(0, self.end - self.start) / SECOND_MICROS


class ToolFacts(Struct, frozen=True, kw_only=True):
    """What the pane's title says."""

    total: int = 0
    failed: int = 0
    waiting: int = 0
    running: int = 0
    seconds: float = 0
    run_seconds: float = 0
    wait_seconds: float = 0


def tool_rows(
    calls: Iterable[Call],
    actions: Mapping[str, Action],
    now: int,
    *,
    only_failed: bool = False,
    text_filter: str = "",
    turn_id: str | None = None,
) -> tuple[ToolRow, ...]:
    """Return the calls as rows, in their order; what is open is measured up to `now`, in whole seconds."""
    words = text_filter.casefold().split()
    rows: list[ToolRow] = []
    for call in calls:
        row = _tool_row(call, actions.get(call.action_id or ""), now)
        is_wanted = turn_id is None or call.turn_id == turn_id
        if is_wanted and (row.is_failed or not only_failed) and _matches_words(row, words):
            rows.append(row)
    return tuple(rows)


def call_of_moment(calls: Sequence[Call]) -> Call | None:
    """Return the call whose question waits, else the one that something happened to last.

    Of several at the same time it is the one that was asked for last.
    """
    return max(reversed(calls), key=moment_key, default=None)


def moment_key(call: Call) -> tuple[bool, int]:
    """Return whether a call waits for its answer, and when it was last asked for, begun or ended."""
    waits = call.state == "pending" and call.action_id is not None
    return waits, max(call.requested_at, call.started_at or 0, call.finished_at or 0)


def failed_calls(calls: Iterable[Call]) -> int:
    """Return how many calls failed, as the pane's title counts them."""
    return sum(call_status(call)[0] in _FAILED_ICONS for call in calls)


def _matches_words(row: ToolRow, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = f"{row.tool} {row.call.tool} {row.target} {row.word}".casefold()
    return all(word in text for word in words)


def tool_facts(rows: Sequence[ToolRow], now: int) -> ToolFacts:
    between = time_axis(rows, now)
    waited = [(row.waited_from, _waited_to(row, now)) for row in rows if row.waited_from is not None]
    return ToolFacts(
        total=len(rows), failed=sum(row.is_failed for row in rows),
        waiting=sum(row.sign in ("waiting", "stale") for row in rows),
        running=sum(row.sign == "running" for row in rows), seconds=between.seconds,
        run_seconds=sum(row.run_ms or 0 for row in rows) / 1000, wait_seconds=_covered_seconds(waited),
    )  # fmt: skip


def time_axis(rows: Sequence[ToolRow], now: int) -> TimeAxis:
    """Return the time from the first call's request to the last end, or to now while something is open."""
    if not rows:
        return TimeAxis()
    ends = [row.finished if row.finished is not None else now for row in rows]
    start = min(row.requested for row in rows)
    return TimeAxis(start=start, end=max(start, *ends))


def time_spans(rows: Sequence[ToolRow], axis: TimeAxis, now: int) -> tuple[TimeSpan, ...]:
    length = max(1, axis.end - axis.start)

    def share(start: int | None, end: int) -> tuple[float, float] | None:
        if start is None or end < axis.start or start > axis.end:
            return None
        low = min(1.0, max(0.0, (start - axis.start) / length))
        return low, min(1.0, max(low, (end - axis.start) / length))

    return tuple(
        TimeSpan(
            waited=share(row.waited_from, _waited_to(row, now)),
            ran=share(row.started, row.finished if row.finished is not None else now),
            sign=row.sign,
        )
        for row in rows
    )


def decided_by_text(call: Call) -> str:
    """Return who let a call pass or did not: `§ R3`, `you`, `sandbox`, `auto`, `asks`, `the gate`."""
    if call.rule is not None:
        return f"§ {call.rule}"
    if call.verdict_by == OWN_MODE:
        return ""  # its row says so at its end
    if is_allowed_by_sandbox(call):
        return "sandbox"
    if call.approval_method == "auto":
        return "auto"
    if call.action_id is not None:
        return {"pending": "asks", "expired": "nobody", "cancelled": ""}.get(call.state, "you")
    if call.state == "rejected":
        answer = answer_in_verdict(call)
        return {"rejected": "you", "expired": "nobody", None: "the gate"}[answer]
    return {"pending": "", "cancelled": ""}.get(call.state, "auto")


def _tool_row(call: Call, action: Action | None, now: int) -> ToolRow:
    sign, word = call_status(call, action)
    run_ms = None if call_judgement(call) else call.duration_ms
    if call.state == "executing":
        run_ms = max(0, now - (call.started_at or now)) // 1000
    waited_from = action.created_at if action is not None else None
    waited_to = None
    if action is not None and action.state != "pending":
        waited_to = action.decided_at
    wait_ms = None if waited_from is None else max(0, (waited_to or now) - waited_from) // 1000
    return ToolRow(
        call=call, sign=sign, word=word, run_ms=run_ms, wait_ms=wait_ms, waited_from=waited_from,
        waited_to=waited_to, prepared_seconds=_prepared_seconds(call, now),
    )  # fmt: skip


def _prepared_seconds(call: Call, now: int) -> int | None:
    """Return for how long a call has been prepared; None in its first second and after five minutes."""
    seconds = (now - call.requested_at) // SECOND_MICROS
    is_prepared = call.state == "pending" and call.action_id is None
    return seconds if is_prepared and 1 <= seconds <= FRESH_WAIT_SECONDS else None


def _shown_time(call: Call, run_ms: int | None, wait_ms: int | None) -> str:
    if judged := call_judgement(call):
        return judged
    if call.state == "pending" and wait_ms is not None:
        return duration_text(wait_ms // 1000, counts_on=True)
    if call.state == "executing":
        return duration_text((run_ms or 0) // 1000, counts_on=True)
    if call.state == "approved":
        return "approved"
    return duration_text(run_ms / 1000) if run_ms is not None else ""


def call_target(call: Call) -> str:
    """Return what a call is about as one safe line; the gate names it, but not for what it turned down."""
    texts = (value for value in call.parameters.values() if isinstance(value, str))
    return one_line(call.target or next(texts, ""), MAX_TARGET_CELLS)


def _waited_to(row: ToolRow, now: int) -> int:
    if row.waited_to is not None:
        return row.waited_to
    return row.finished if row.finished is not None else now


def _covered_seconds(pieces: Iterable[tuple[int, int]]) -> float:
    total = end = 0
    for low, high in sorted(pieces):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total / SECOND_MICROS


# --- a line of the conversation ---------------------------------------------------------------------


# --- names of tools ---------------------------------------------------------------------------------

_SAME_TOOLS: Final = {
    "shell": (
        "bash", "shell", "exec_command", "run_shell_command", "local_shell", "local_shell_call",
        "shell_command", "container.exec", "run_terminal_cmd", "execute_command", "powershell", "execute",
        "run_command",
    ),
    "read": ("read", "view", "view_file", "read_many_files", "notebookread"),
    "edit": (
        "edit", "multiedit", "replace", "apply_patch", "str_replace_editor", "notebookedit", "search_replace",
    ),
    "write": ("write", "write_file", "write_to_file"),
    "search": ("grep", "glob", "search_file_content", "search_files", "codebase_search", "find_file"),
    "fetch": ("fetch", "webfetch", "web_fetch"),
    "agent": ("task", "agent", "spawn_agent", "subagent"),
}  # fmt: skip
"""Names of agents' tools by the word that is shown for them; calls and permissions keep the agent's own."""
_ALSO_FOUND: Final = {
    "shell": ("run_in_terminal",),
    "read": ("read_file",),
    "edit": ("replace_string_in_file",),
    "write": ("create_file", "move_file", "delete_file"),
    "search": (
        "grep_search", "file_search", "list_dir", "search_web", "web_search", "websearch",
        "google_web_search",
    ),
    "fetch": ("fetch_webpage",),
}  # fmt: skip
"""Names that are shown as they are and found by the word for what they do as well."""
_TOOL_WORDS: Final = {name: kind for kind, names in _SAME_TOOLS.items() for name in names}


def shown_tool(name: str) -> str:
    """Return the word for what a tool does if agents have several names for it, else its own name."""
    return _TOOL_WORDS.get(name.casefold(), name)


def tools_called(beginning: str) -> tuple[str, ...]:
    """Return the names, in lower case, of the tools for which the word begins so."""
    groups = (*_SAME_TOOLS.items(), *_ALSO_FOUND.items())
    return tuple(name for word, names in groups if word.startswith(beginning.casefold()) for name in names)


# --- what a session is about at a moment ------------------------------------------------------------

MAX_MOMENT_LINES: Final = 2_000
"""Lines of an output or a thought that are shown beside what goes on: enough to fill any screen."""
_MAX_LINE_CHARS: Final = 2_000
_OLD_TEXT: Final = ("old_string", "old_str", "oldString", "old_text", "oldText")
_NEW_TEXT: Final = ("new_string", "new_str", "newString", "new_text", "newText")
_WHOLE_TEXT: Final = ("content", "file_text", "patch", "input")


class Moment(Struct, frozen=True, kw_only=True):
    """The newest call of a session, or its newest thought. Texts are raw."""

    id: str
    kind: Literal["change", "output", "thought"]
    name: str
    """The tool, or `thought`; one safe line."""
    target: str = ""
    """What the call is about, one safe line."""
    sign: StatusName | None = None
    files: tuple[FileDetail, ...] = ()
    lines: tuple[str, ...] = ()
    """Without files: the output, the parameters of a call that has written nothing, or the thought."""
    is_growing: bool = False
    """More lines may come: the last ones are those to show."""

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        return tuple(hunk for file in self.files for hunk in file.hunks)


def newest_thought(blocks: Sequence[Block]) -> ThoughtBlock | None:
    return next((block for block in reversed(blocks) if isinstance(block, ThoughtBlock)), None)


def thought_moment(thought: ThoughtBlock) -> Moment:
    return Moment(
        id=thought.id, kind="thought", name="thought", sign="running" if thought.is_open else None,
        lines=_bounded(thought.text.splitlines()), is_growing=thought.is_open,
    )  # fmt: skip


def call_moment(
    call: Call, events: Iterable[e.Event], opened: e.ActionOpened | None = None, *, output: str | None = None,
    written: str = "",
) -> Moment:  # fmt: skip
    """Return what a call is about: its change where it has one, else what it wrote.

    Args:
        call: as it stands.
        events: those of the call until the moment.
        opened: its question, which holds the change that was asked about.
        output: all that it wrote, where that is kept.
        written: what a command that runs has written by now.
    """
    bodies = [event.body for event in events if event.call_id == call.id]
    changed = [body for body in bodies if isinstance(body, e.FileChanged)]
    files = change_details(opened, changed)
    lines = ()
    if not files:
        lines = _edit_lines(call) or _output_lines(bodies, output, written) or _parameter_lines(call)
    return Moment(
        id=call.id, kind="change" if files or _is_edit(call) else "output",
        name=one_line(shown_tool(call.tool), 64), target=call_target(call), sign=call_status(call)[0],
        files=files, lines=_bounded(lines), is_growing=call.state == "executing",
    )  # fmt: skip


def _bounded(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line[:_MAX_LINE_CHARS] for line in lines[-MAX_MOMENT_LINES:])


def _is_edit(call: Call) -> bool:
    return shown_tool(call.tool) in ("edit", "write")


def _edit_lines(call: Call) -> tuple[str, ...]:
    """Return what an edit was asked to do, as long as nobody knows which lines of the file it came to."""
    if not _is_edit(call):
        return ()
    old, new, whole = (_text_of(call, names) for names in (_OLD_TEXT, _NEW_TEXT, _WHOLE_TEXT))
    if old or new:
        return (*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines()))
    is_patch = whole.startswith(("***", "---", "diff "))
    return tuple(whole.splitlines()) if is_patch else tuple(f"+{line}" for line in whole.splitlines())


def _text_of(call: Call, names: Iterable[str]) -> str:
    values: Iterable[Json] = (call.parameters.get(name) for name in names)
    return next((value for value in values if isinstance(value, str)), "")


def _output_lines(bodies: Sequence[e.Body], output: str | None, written: str) -> tuple[str, ...]:
    """Return what a call wrote, in whole, as far as it came, or as its agent was told."""
    if output is not None or written:
        return tuple((output if output is not None else written).splitlines())
    ends = [body.preview or body.error for body in bodies if isinstance(body, e.CallFinished)]
    return tuple(((ends[-1] if ends else "") or streamed_output(bodies)).splitlines())


def streamed_output(bodies: Iterable[e.Body]) -> str:
    """Return what a running command has printed, as far as it was streamed."""
    buffer = OutputBuffer()
    for body in bodies:
        if isinstance(body, e.OutputStreamed):
            buffer.add(body.offset, body.text)
    return buffer.text


def _parameter_lines(call: Call) -> tuple[str, ...]:
    """Return what a call was given, as long as it has written nothing."""
    lines: list[str] = []
    for name, value in call.parameters.items():
        first, *rest = (value if isinstance(value, str) else json_text(value)).splitlines() or [""]
        lines += [f"{name}: {first}", *(f"  {line}" for line in rest)]
    return tuple(lines)


# --- lines of pages ---------------------------------------------------------------------------------

LineTone = StatusName | Literal["muted", "faint", "strong"]
"""What a part of a line means: a status, or how much it weighs."""
ToneSpan = tuple[int, int, LineTone]


class PageLine(Struct, frozen=True):
    """A safe line, some parts of which have a tone."""

    text: str
    tones: tuple[ToneSpan, ...]


def page_line(*parts: str | tuple[str, LineTone | None]) -> PageLine:
    """Return a line of safe parts, some of them with a tone."""
    text, tones = "", list[ToneSpan]()
    for part in parts:
        words, tone = (part, None) if isinstance(part, str) else part
        if tone is not None and words:
            tones.append((len(text), len(text) + len(words), tone))
        text += words
    return PageLine(text, tuple(tones))


def icon_part(name: StatusName) -> tuple[str, LineTone]:
    return ICONS[name].unicode, name


_TEST_WORD: Final = re.compile(
    r"(?<![\w.])(?:(?P<ok>PASSED|PASS|XPASS)|(?P<failed>FAILED|FAIL|ERROR)|(?P<muted>SKIPPED|SKIP|XFAIL))(?![\w=])"
)
_TEST_COUNT: Final = re.compile(
    r"\b[1-9]\d* (?:(?P<ok>passed)|(?P<failed>failed|errors?)|(?P<muted>skipped|xfailed|deselected))\b"
)
_FAILED_ASSERTION: Final = re.compile(r"(?P<failed>E {2,}.*)")
_MAX_TONED_CELLS: Final = 2_000


def output_tones(line: str) -> tuple[ToneSpan, ...]:
    """Return what words of test runners in a line mean: outcomes, pytest's summary, a failed assertion."""
    line = line[:_MAX_TONED_CELLS]
    if match := _FAILED_ASSERTION.match(line):
        return ((0, match.end(), "failed"),)
    matches = (match for pattern in (_TEST_WORD, _TEST_COUNT) for match in pattern.finditer(line))
    return tuple((*match.span(), cast("LineTone", match.lastgroup)) for match in matches)


# --- the gate ---------------------------------------------------------------------------------------

_VERDICT_HEADS: Final = {
    "allowed": "allowed",
    "ask": "asks first",
    "denied": "denied",
    "refused": "denied",
}


def verdict_text(verdict: GateVerdict) -> str:
    """Return who allows, asks or denies, where that is written, and why, as one sentence."""
    is_named = verdict.by not in ("", "default", SANDBOX_SPEAKER) and verdict.by not in verdict.reason
    by = verdict.by if is_named else ""
    where = f"{by}: " if by else ""
    return sentence(f"{_VERDICT_HEADS[verdict.outcome]}: {where}{verdict.reason or 'nothing allows it'}")


def suggestion_markdown(body: e.CommandSuggested) -> str:
    """Return a suggested command as Markdown: in a fence that it cannot end, with what is said of it."""
    longest = max((len(run) for run in re.findall(r"`+", body.command)), default=0)
    fence = "`" * max(3, longest + 1)
    verdict = [f"The gate: {verdict_text(body.verdict)}"] if body.verdict else []
    return "\n\n".join([f"{fence}sh\n{body.command}\n{fence}", body.explanation, *verdict])
