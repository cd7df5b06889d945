"""The embedded step executor: agents, commands, adapters and pipelines, in this process's event loop.

An adapter step is another program's command line with JSON back; its own tool calls do not pass the gate.
"""

# An adapter's own tool calls do not pass the gate. Its persona's lists are handed to it in its own words;
# only the built-in agent is held by them here.

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.config.model_prices import PriceList
from workbench.domain.events import Event, ProcessStarted
from workbench.domain.step_messages import StepEvent, StepId, StepOutcome, StepSpec
from workbench.domain.values import Json, Usage
from workbench.effects.child_processes import ProcessNotStarted, terminate_leftovers
from workbench.effects.command_execution import Command, CommandExit, prepare_command
from workbench.effects.fault_points import fault_point
from workbench.effects.file_primitives import FileRefused
from workbench.effects.process_table import ProcessIdentity
from workbench.formats.agent_output import AgentAnswer, agent_answer
from workbench.host.boxed_command import (
    BoxedCommand,
    box_program,
    refusals_of_command,
    require_full_sandbox,
)
from workbench.host.call_context import files_named_by_hooks
from workbench.host.command_box import BoxUnavailable, forget_box
from workbench.host.command_output import CommandOutput, abandoned_on_error
from workbench.host.driver_context import DriverContext, OnEvents
from workbench.host.spend_limits import held_back_step
from workbench.host.steps import agent_step, step_session
from workbench.host.steps.adapter_session import AdapterSession, adapter_session_events
from workbench.host.steps.audit_trace import AuditTrace
from workbench.journal.leases import DriverIdentity
from workbench.journal.usage_queries import session_usage
from workbench.pipelines.artifacts import MOST_STDOUT
from workbench.pipelines.executor import AttemptNotReady, OnStepEvent, StepExecutor
from workbench.pipelines.step_files import StepFiles
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line
from workbench.views.event_text import refusals_text
from workbench.views.usage import sum_usage


class NestedRunner(Protocol):
    """Begins and drives the runs that pipeline steps start; the driver of the run above is one."""

    def opening(self, spec: StepSpec) -> list[Event]:
        """Return the events that begin a run, or raise AttemptNotReady."""
        ...

    async def run(self, spec: StepSpec) -> StepOutcome: ...

    def cancel(self, run_id: str) -> None: ...


class EmbeddedExecutor(StepFiles, kw_only=True):
    """Runs the steps of one run here."""

    context: DriverContext
    driver: DriverIdentity
    run_id: str
    recordings: str
    nested: NestedRunner
    on_events: OnEvents
    trace: AuditTrace
    _stops: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    _sessions: dict[str, str] = field(default_factory=dict[str, str])

    def opening(self, spec: StepSpec) -> Sequence[Event]:
        if spec.kind == "pipeline":
            return self.nested.opening(spec)
        if spec.kind != "prompt":
            return ()
        if spec.adapter:
            return adapter_session_events(self.context, spec, self.run_id)
        try:
            return step_session.child_session_events(self.context, spec, self.run_id, self.recordings)
        except step_session.RecordingMissing as error:
            raise AttemptNotReady(str(error)) from None

    async def run(self, spec: StepSpec, on_event: OnStepEvent) -> StepOutcome:
        key = str(spec.id)
        stop = self._stops[key] = asyncio.Event()
        try:
            return await self._run(spec, on_event, stop)
        finally:
            if self._stops.get(key) is stop:
                del self._stops[key]

    async def reattach(self, step: StepId, process: ProcessStarted | None, session_id: str | None) -> bool:
        """End what an attempt left: a pipe and a model's reply are lost with the process that read them."""
        del step
        if process is not None:
            identity = ProcessIdentity(pid=process.pid, group=process.group, start_time=process.start_time)
            await asyncio.to_thread(terminate_leftovers, identity, process.mark)
        is_run = session_id is not None and self.context.journal.pipeline_state(session_id) is not None
        if session_id is not None and not is_run:
            await agent_step.close_child_session(self.context, self.driver, session_id, is_done=False)
        return False

    async def _run(self, spec: StepSpec, on_event: OnStepEvent, stop: asyncio.Event) -> StepOutcome:
        if spec.kind == "aggregate":
            return await self.write_aggregate(spec)
        if spec.kind == "command":
            async with self.trace.command_files(spec):
                argv = (*SHELL, spec.source)
                return (await run_command_step(self.context, spec, argv, on_event, stop)).outcome
        self._sessions[str(spec.id)] = spec.session_id or ""
        if spec.kind == "pipeline":
            return await self.nested.run(spec)
        if spec.adapter:
            async with self.trace.command_files(spec):
                outcome = await self._run_adapter(spec, on_event, stop)
        else:
            outcome = await self._run_agent(spec, stop)
        outcome = replace(outcome, usage=_with_cost(self.context, spec.session_id, outcome.usage))
        if (outcome.state != "parked" or outcome.is_full) and spec.session_id:
            is_done = outcome.state == "completed" or outcome.is_full
            await agent_step.close_child_session(self.context, self.driver, spec.session_id, is_done=is_done)
        return outcome

    async def _run_agent(self, spec: StepSpec, stop: asyncio.Event) -> StepOutcome:
        if spec.sandbox not in (None, "outside"):
            try:
                await asyncio.to_thread(require_full_sandbox, self.context, spec.sandbox)
            except BoxUnavailable as error:
                return StepOutcome(state="failed", reason=str(error), is_retryable=False)
        return await agent_step.run_agent_step(self.context, self.driver, spec, self.on_events, stop)

    async def _run_adapter(self, spec: StepSpec, on_event: OnStepEvent, stop: asyncio.Event) -> StepOutcome:
        if spec.session_id is None:
            return await run_adapter_step(self.context, spec, on_event, stop)
        session = AdapterSession(self.context, self.driver, spec, self.on_events)
        try:
            if (held_back := await held_back_step(session.writer)) is not None:
                return held_back
            return await run_adapter_step(self.context, spec, on_event, stop, session)
        finally:
            session.release()

    async def cancel(self, step: StepId) -> None:
        stop = self._stops.get(str(step))
        session_id = self._sessions.get(str(step))
        if stop is not None:
            stop.set()
            self.context.journal.notifier.wake()
            return
        row = self.context.journal.step_state(step.run, step.step)
        child_id = session_id or (row.session_id if row else None)
        if child_id is None:
            return
        if row is not None and row.kind == "pipeline":
            self.nested.cancel(child_id)
        else:
            await agent_step.close_child_session(self.context, self.driver, child_id, is_done=False)


ExecutorFactory = Callable[[EmbeddedExecutor], StepExecutor]
"""Returns what runs the steps of a run, given what runs them here: itself, or what runs some elsewhere."""


def _with_cost(context: DriverContext, session_id: str | None, usage: Usage) -> Usage:
    """Return usage with its cost: as the program told it, else by the prices of the models asked."""
    if session_id is None or usage.cost_microdollars or not usage.total_tokens:
        return usage
    with context.journal.snapshot() as database:
        facts = session_usage(database, session_id, with_children=False)
    cost = sum_usage(facts, PriceList.of(context.recall_settings().config).cost).cost
    return replace(usage, cost_microdollars=cost or 0)


UNBOUNDED_BYTES: Final = 1 << 50
"""Bytes a step may print: what is kept is bounded, what is printed is its own affair."""
SHELL: Final = ("/bin/sh", "-c")
_NEVER_STARTED: Final = (126, 127)
"""Exit codes of a shell that found no program, or none that it may run: trying again changes nothing."""
_MAX_EVENT_OUTPUT: Final = 2_000
"""Characters of the end of an output that stand in the event itself."""


class CommandRun(Struct, frozen=True, kw_only=True):
    """How a process of a step ended, and what was kept of what it printed."""

    outcome: StepOutcome
    text: str = ""


async def run_command_step(
    context: DriverContext,
    spec: StepSpec,
    argv: Sequence[str],
    on_event: OnStepEvent,
    stop: asyncio.Event,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    session: AdapterSession | None = None,
) -> CommandRun:
    """Run a program to its end and return how it ended; `session` reads what it prints while it works."""
    own_variables = cast("Mapping[str, str]", spec.environment) if environment is None else environment
    mark = context.clock.new_id()
    variables: Mapping[str, str] = {**context.environment, **own_variables, "PWD": spec.workspace}
    boxed = None
    try:
        if spec.sandbox not in (None, "outside"):
            closed = files_named_by_hooks(context, context.recall_settings().config)
            boxed = await asyncio.to_thread(
                box_program, context, spec.id.run, spec.sandbox, spec.workspace, argv, variables, closed,
                can_nest=bool(spec.adapter),
            )  # fmt: skip
            argv, variables = boxed.argv, boxed.environment
        command = prepare_command(
            argv, spec.workspace, variables, mark, is_apart=_has_separate_stdout(spec), stdin=stdin,
            is_boxed=boxed is not None,
        )  # fmt: skip
    except (ProcessNotStarted, BoxUnavailable, FileRefused) as error:
        return _not_started(error, boxed)
    identity = command.identity
    started = StepEvent(
        kind="process", pid=identity.pid, group=identity.group, start_time=identity.start_time, mark=mark
    )
    with abandoned_on_error(command):
        await on_event(started)
    try:
        run = await _follow_command(context, spec, command, on_event, stop, session)
    except ProcessNotStarted as error:
        return _not_started(error, boxed)
    return run if boxed is None else await asyncio.to_thread(_with_refusals, run, boxed)


def _not_started(error: Exception, boxed: BoxedCommand | None) -> CommandRun:
    if boxed is not None:
        forget_box(boxed.planned)
    return CommandRun(outcome=StepOutcome(state="failed", reason=str(error), is_retryable=False))


def _with_refusals(run: CommandRun, boxed: BoxedCommand) -> CommandRun:
    """Return how a program in the sandbox ended: what was moved out of its workspace fails it."""
    outcome = run.outcome
    refusals = refusals_of_command(boxed, outcome.output, outcome.exit_code)
    is_moved = any(refusal.kind == "closed" for refusal in refusals)
    if not refusals or (outcome.state == "completed" and not is_moved) or outcome.state == "cancelled":
        return run
    why = f"the sandbox refused {refusals_text(refusals)}"
    reason = f"{outcome.reason}\n{why}" if outcome.reason else why
    return replace(run, outcome=replace(outcome, state="failed", reason=reason))


async def _follow_command(
    context: DriverContext,
    spec: StepSpec,
    command: Command,
    on_event: OnStepEvent,
    stop: asyncio.Event,
    session: AdapterSession | None,
) -> CommandRun:
    events, stdout_buffer = _OrderedEvents(on_event), _WholeStdout()
    output = CommandOutput(events.write, context.clock.monotonic)

    def on_stdout(data: bytes) -> None:
        stdout_buffer.feed(data)
        if session is None:
            output.feed(data)
        else:
            session.feed(data, output.feed)

    try:
        end = await command.go(output.feed, spec.timeout_seconds, stop, UNBOUNDED_BYTES, on_stdout=on_stdout)
        if session is not None:
            await session.written()
    finally:
        output.close()
    await events.written()
    fault_point("step.ended")
    exact, clean = await asyncio.to_thread(output.texts) if output.total else ("", "")
    outcome = _command_outcome(context, spec, end, output.total, exact, clean)
    if not _has_separate_stdout(spec):
        return CommandRun(outcome=outcome)
    data, ref = stdout_buffer.data, None
    if data is not None and spec.keeps_output:
        ref = context.journal.blobs.seal(bytes(data))
    outcome = replace(outcome, stdout_ref=ref, stdout_bytes=stdout_buffer.total)
    return CommandRun(outcome=outcome, text=exact if data is None else data.decode("utf-8", "replace"))


def _has_separate_stdout(spec: StepSpec) -> bool:
    """Return whether standard output is the result, which no warning may get into."""
    return spec.keeps_output or bool(spec.adapter)


def _command_outcome(
    context: DriverContext, spec: StepSpec, end: CommandExit, total: int, exact: str, clean: str
) -> StepOutcome:
    blobs = context.journal.blobs
    is_short = len(clean) <= _MAX_EVENT_OUTPUT and total == len(exact.encode("utf-8", "replace"))
    reason = _command_failure_reason(end, spec, clean)
    return StepOutcome(
        state="cancelled" if end.stopped else "failed" if reason else "completed", reason=reason,
        exit_code=end.code, output=clean[-_MAX_EVENT_OUTPUT:],
        is_retryable=end.code not in _NEVER_STARTED,
        output_ref=None if is_short else blobs.record(clean.encode("utf-8", "surrogatepass")),
        output_bytes=total,
    )  # fmt: skip


def _command_failure_reason(end: CommandExit, spec: StepSpec, clean: str) -> str:
    if end.stopped:
        return "it was stopped while it ran; what it did until then stays"
    if end.timed_out:
        return f"it worked longer than {(spec.timeout_seconds or 0) / 60:g} min and was ended"
    if end.signal is not None:
        return f"it was ended by signal {end.signal}{_last_lines(clean)}"
    return "" if end.code == 0 else f"it ended with exit code {end.code}{_last_lines(clean)}"


def _last_lines(clean: str) -> str:
    lines = [line for line in clean.strip().splitlines()[-8:] if line.strip()]
    return ":\n" + "\n".join(lines) if lines else ""


class _WholeStdout:
    """All of a standard output, up to a size."""

    def __init__(self) -> None:
        self.total = 0
        self.data: bytearray | None = bytearray()
        """None when it was more."""

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        if self.data is not None and self.total <= MOST_STDOUT:
            self.data += data
        else:
            self.data = None


class _OrderedEvents:
    """Passes on the streamed output of a step, one event after the other."""

    def __init__(self, on_event: OnStepEvent) -> None:
        self._on_event = on_event
        self._waiting: list[StepEvent] = []
        self._writing: asyncio.Task[None] | None = None

    async def written(self) -> None:
        if self._writing is not None:
            await self._writing

    def write(self, offset: int, text: str) -> None:
        self._waiting.append(StepEvent(kind="output", offset=offset, text=text))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_all(), name="output")

    async def _write_all(self) -> None:
        while self._waiting:
            await self._on_event(self._waiting.pop(0))


KNOWN_COMMAND_LINES: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": (
        "-p", "--output-format", "stream-json", "--verbose", "--append-system-prompt", "{system_prompt}",
        "{?model}--model", "{model}", "{?allowed}--allowedTools", "{allowed}", "{?deny}--disallowedTools",
        "{deny}",
    ),
    "gemini": ("--output-format", "stream-json", "{?model}-m", "{model}"),
    "codex": ("exec", "--json", "{?model}-m", "{model}", "-"),
    "droid": ("exec", "--output-format", "stream-json", "{?model}-m", "{model}"),
    "opencode": ("run", "--format", "json", "{?model}-m", "{model}", "{system_prompt}\n\n{prompt}"),
}  # fmt: skip
"""Words of a command line by the name of its program; a word after `{?x}` and the next are left out
where x is empty. All of them print what they do while they work. A prompt that no word names goes to
standard input: one word holds 128 KiB at the most."""
_STDIN: Final[Mapping[str, str]] = dict.fromkeys(("gemini", "codex", "droid"), "{system_prompt}\n\n{prompt}")
"""What a program reads that gets its prompt there and has no word for the system's."""
DEFAULT_COMMAND_LINE: Final = (
    "-p",
    "{prompt}",
    "--output-format",
    "{output_format}",
    "{?model}--model",
    "{model}",
)
"""Of any other program."""
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")


async def run_adapter_step(
    context: DriverContext,
    spec: StepSpec,
    on_event: OnStepEvent,
    stop: asyncio.Event,
    session: AdapterSession | None = None,
) -> StepOutcome:
    """Run an adapter's program and return what it said."""
    argv = adapter_command_line(spec)
    stdin = adapter_stdin(spec)
    run = await run_command_step(
        context, spec, argv, on_event, stop, environment={}, stdin=stdin, session=session
    )
    values = list(_json_objects(run.text))
    answer = agent_answer(values) if values else AgentAnswer(reply=run.text)
    if session is not None:
        await session.finish(answer)
        answer = answer if answer.usage.total_tokens else replace(answer, usage=session.counted)
    if run.outcome.state != "completed":
        return replace(run.outcome, usage=answer.usage)
    return _adapter_outcome(context, spec, run, answer if values else None)


def adapter_command_line(spec: StepSpec) -> list[str]:
    """Return program and words for a step."""
    return [str(spec.adapter.get("binary", "")), *_filled_words(_adapter_words(spec), _adapter_values(spec))]


def adapter_stdin(spec: StepSpec) -> bytes:
    """Return what a program reads on its standard input: the prompt, where no word of its names it."""
    if any("{prompt}" in word for word in _adapter_words(spec)):
        return b""
    text = _STDIN.get(_program_name(spec), "{prompt}")
    return "".join(_filled_words([text], _adapter_values(spec))).encode("utf-8", "surrogatepass")


def _program_name(spec: StepSpec) -> str:
    return str(spec.adapter.get("binary", "")).rpartition("/")[2]


def _adapter_words(spec: StepSpec) -> list[str]:
    words = [str(word) for word in cast("list[Json]", spec.adapter.get("args") or [])]
    return words or list(KNOWN_COMMAND_LINES.get(_program_name(spec), DEFAULT_COMMAND_LINE))


def _adapter_values(spec: StepSpec) -> dict[str, str]:
    adapter, persona = spec.adapter, spec.persona
    return {
        "prompt": spec.source, "system_prompt": str(persona.get("prompt") or ""),
        "model": str(persona.get("model") or ""),
        "output_format": str(adapter.get("output_format") or "json"),
        "allowed": _joined_patterns(persona.get("allowed")), "deny": _joined_patterns(persona.get("deny")),
        "workspace": spec.workspace, "title": spec.title,
    }  # fmt: skip


def _joined_patterns(value: Json) -> str:
    pairs = cast("list[list[str]]", value) if isinstance(value, list) else []
    return ",".join(pair[0] for pair in pairs)


def _filled_words(words: list[str], values: Mapping[str, str]) -> Iterator[str]:
    is_left_out = False
    for word in words:
        if is_left_out:
            is_left_out = False
            continue
        if word.startswith("{?"):
            name, _, word = word[2:].partition("}")
            if not values.get(name):
                is_left_out = True
                continue
        # In one pass: what a value holds is never looked into for further names.
        yield _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), word)


def _adapter_outcome(
    context: DriverContext, spec: StepSpec, run: CommandRun, answer: AgentAnswer | None
) -> StepOutcome:
    output_format = str(spec.adapter.get("output_format") or "json")
    if answer is None and output_format != "text":
        text = run.text if run.text.strip() else run.outcome.output
        excerpt = one_line(scrub(text[-400:]).text, 300) or "nothing"
        reason = f"{spec.adapter.get('binary')} answered no JSON; the end of its answer: {excerpt}"
        return replace(run.outcome, state="failed", reason=reason)
    answer = answer or AgentAnswer(reply=run.text)
    if answer.error:
        return replace(run.outcome, state="failed", reason=scrub(answer.error).text, usage=answer.usage)
    reply = answer.reply
    stdout = context.journal.blobs.seal(reply.encode("utf-8", "surrogatepass")) if spec.keeps_output else None
    clean_reply = scrub(reply).text
    thread = context.journal.blobs.seal(clean_reply.encode("utf-8", "surrogatepass")) if spec.thread else None
    return replace(
        run.outcome, usage=answer.usage, reply=clean_reply[:4_000], stdout_ref=stdout, transcript_ref=thread
    )


def _json_objects(text: str) -> Iterator[Mapping[str, Any]]:
    try:
        whole: Any = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    lines = cast("list[Any]", whole) if isinstance(whole, list) else [whole] if whole else _json_lines(text)
    for value in lines:
        if isinstance(value, dict):
            yield cast("Mapping[str, Any]", value)


def _json_lines(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        if line.lstrip().startswith("{"):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                continue
