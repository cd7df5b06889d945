"""The tool `pipeline.run`: one blocking run in a thread, under its session and within the limits of runs.

What runs is sealed when the call is proposed, and these bytes run, whatever a file says later: a pipeline of
the project that trust covers, or one that the agent wrote, which a human has seen.
"""

# The limits of meta_pipeline hold for what an agent wrote: it thinks up how much there is to do. Depth holds
# for every run, since a pipeline may start itself.

import asyncio
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

from msgspec.structs import replace

from workbench.domain.events import ArtifactStored, RunRequested
from workbench.domain.values import Actor, BlobRef, Json
from workbench.effects.files import Root
from workbench.host import redaction
from workbench.host.driver_context import DriverContext, SessionWriter, StepConstraints
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.host.steps.run_requests import (
    RunRefused,
    RunRequest,
    cancel_run,
    commands_of_request,
    digests_of_commands,
    load_requested_pipeline,
    request_run,
    require_runnable_pipeline,
)
from workbench.host.workspace_trust import is_governed_file
from workbench.journal.leases import DriverIdentity
from workbench.pipelines.accepted_commands import AcceptedCommand
from workbench.pipelines.coordinator import Coordinator
from workbench.pipelines.documents import find_manifest
from workbench.pipelines.load import LoadedPipeline, load_pipeline_text
from workbench.pipelines.model import Manifest, MetaLimits, Pipeline, Step
from workbench.pipelines.run_context import RunDefinition, define_run
from workbench.pipelines.step_order import parallel_waves
from workbench.text import canonical
from workbench.text.safe import one_line
from workbench.tools.base import SealedPipeline, ToolOutput, ToolRefused
from workbench.tools.execution import MOST_RUN_FACTS

_MOST_SHOWN_STEPS = 200
_HANDED = frozenset({"input"})
"""Names of templates whose values come from the agent that starts a pipeline."""


class SessionPipelineStarter:
    """Starts pipelines for one session."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer

    def seal(self, name: str, definition: str, input_text: str) -> SealedPipeline:
        governing = self._writer.context.governing_workspace
        try:
            loaded = (
                load_pipeline_text(definition, governing, find_manifest(governing), _HANDED)
                if definition
                else load_requested_pipeline(governing, RunRequest(name=name, handed=tuple(_HANDED)))
            )
            require_runnable_pipeline(loaded)
        except RunRefused as error:
            raise ToolRefused(f"{error.why}; {error.remedy}") from None
        assert loaded.pipeline is not None
        if not definition and not is_governed_file(loaded.file, governing):
            raise ToolRefused(
                f"{name} does not lie where trust covers it, so an agent cannot start it; "
                "pipelines in .workbench/pipelines or .wave/pipelines can be started"
            )
        self._require_within_limits(loaded.pipeline, loaded.manifest, is_generated=bool(definition))
        return self._sealed(loaded, loaded.pipeline, input_text, is_generated=bool(definition))

    def _sealed(
        self, loaded: LoadedPipeline, pipeline: Pipeline, input_text: str, *, is_generated: bool
    ) -> SealedPipeline:
        blobs = self._writer.journal.blobs
        request = RunRequest(name=pipeline.name, input=input_text, handed=tuple(_HANDED))
        commands = commands_of_request(loaded, request)
        data = define_run(
            loaded, input=input_text, is_generated=is_generated, handed=request.handed,
            accepted=digests_of_commands(self._writer.journal, commands),
        ).to_bytes()  # fmt: skip
        shown = itertools.chain(map(_command_line, commands), _step_lines(pipeline))
        lines = itertools.islice(shown, _MOST_SHOWN_STEPS)
        return SealedPipeline(
            name=redaction.redact_line(one_line(pipeline.name, 80), 120), digest=blobs.keyed(data),
            ref=blobs.seal(data), steps=tuple(redaction.redact_line(line, 300) for line in lines),
            is_generated=is_generated,
        )  # fmt: skip

    def _require_within_limits(
        self, pipeline: Pipeline, manifest: Manifest | None, *, is_generated: bool
    ) -> None:
        limits = manifest.runtime.meta if manifest else MetaLimits()
        if self._depth() > limits.max_depth:
            raise ToolRefused(
                f"pipelines may start pipelines {limits.max_depth} deep (meta_pipeline.max_depth)"
            )
        total = len(pipeline.steps) + sum(self._generated_steps())
        if is_generated and total > limits.max_total_steps:
            raise ToolRefused(
                f"it would come to {total} steps; meta_pipeline.max_total_steps is {limits.max_total_steps}"
            )

    def _depth(self) -> int:
        """Return how many runs are above one that this session starts."""
        return len(list(self._runs_above()))

    def _recordings(self) -> str:
        """Return where the run above plays its agents from, if it does."""
        above = next(self._runs_above(), None)
        bodies = (event.body for event in self._writer.journal.events(above, limit=10)) if above else ()
        return next((body.recordings for body in bodies if isinstance(body, RunRequested)), "")

    def _runs_above(self) -> Iterator[str]:
        """Yield the runs that this session is a part of, the nearest first."""
        journal = self._writer.journal
        session_id: str | None = self._writer.session_id
        while session_id and (session := journal.session(session_id)) is not None:
            if session.kind == "pipeline":
                yield session.id
            session_id = session.parent_id

    def _generated_steps(self) -> Iterator[int]:
        """Yield the steps of each run below the topmost one that an agent wrote."""
        journal, unvisited = self._writer.journal, [*self._runs_above()][-1:]
        while unvisited:
            for child in journal.sessions(parent_id=unvisited.pop()):
                unvisited.append(child.id)
                bodies = (event.body for event in journal.events(child.id, limit=10))
                if any(isinstance(body, RunRequested) and body.is_generated for body in bodies):
                    yield sum(not row.matrix for row in journal.step_states(child.id))

    def run(self, digest: str, ref: BlobRef, is_stopped: Callable[[], bool]) -> ToolOutput:
        writer, context = self._writer, self._writer.context
        data = writer.journal.blobs.read(ref)
        if data is None or writer.journal.blobs.keyed(data) != digest:
            raise ToolRefused("What was approved is no longer kept, so nothing runs.")
        definition = RunDefinition.from_bytes(data)
        pipeline, manifest = definition.read()
        self._require_within_limits(pipeline, manifest, is_generated=definition.is_generated)
        actor = Actor(kind="agent", pid=os.getpid())
        request = RunRequest(
            name=pipeline.name, input=definition.input, parent_id=writer.session_id, depth=self._depth(),
            sealed=ref, recordings=self._recordings(),
        )  # fmt: skip
        driver = DriverIdentity(
            host_id=writer.guard.host_id, pid=os.getpid(), workspace=context.governing_workspace
        )
        try:
            run_id = request_run(context.journal, context.governing_workspace, request, actor, driver=driver)
        except RunRefused as error:
            raise ToolRefused(f"{error.why}; {error.remedy}") from None
        limits = manifest.runtime.meta if manifest and definition.is_generated else None
        self._drive(run_id, driver, _RunWatch(writer, run_id, actor, is_stopped, limits))
        return self._run_output(run_id)

    def _drive(self, run_id: str, driver: DriverIdentity, watch: "_RunWatch") -> None:
        context = self._writer.context
        governing = context.governing_workspace
        with ExitStack() as opened:
            # A step works in a folder of its own; the run that it starts is one of the project.
            run_context = _project_context(context, governing, opened)
            options = RunDriverOptions(context=run_context, driver=driver, until=watch.ends)
            asyncio.run(drive_run(options, run_id))

    def _run_output(self, run_id: str) -> ToolOutput:
        journal = self._writer.journal
        row = journal.pipeline_state(run_id)
        if row is None:
            raise ToolRefused(f"The run {run_id} is not kept any more.")
        steps: list[Json] = [
            {"step": step.step_id, "state": step.state, "error": one_line(step.error_message, 300)}
            for step in journal.step_states(run_id)
        ]
        artifacts: list[Json] = [
            f"{event.step}/{event.body.name}"
            for event in journal.events(run_id)
            if isinstance(event.body, ArtifactStored)
        ]
        facts: dict[str, Json] = {
            "run_id": run_id, "status": row.status, "steps": steps[:MOST_RUN_FACTS],
            "artifacts": artifacts[:MOST_RUN_FACTS],
            "left_out": sum(max(0, len(listed) - MOST_RUN_FACTS) for listed in (steps, artifacts)),
            "log": f"workbench pipeline logs {run_id}",
        }  # fmt: skip
        error = "" if row.status == "completed" else f"the run is {row.status}: {row.error_message}"
        return ToolOutput(
            text=canonical.dumps(facts), metadata=facts, error=error,
            summary=f"{row.status}, {len(steps)} steps",
        )  # fmt: skip


def _command_line(command: AcceptedCommand) -> str:
    """Return what a human who is asked about the call reads of a command with values read as code."""
    return f"!  {command.step}: {one_line(command.command, 200)}  {command.message}"


def _project_context(context: DriverContext, governing: str, opened: ExitStack) -> DriverContext:
    root = Root(governing)
    opened.callback(root.close)
    return replace(
        context, workspace=governing, root=root, environment={**context.environment, "PWD": governing},
        constraints=StepConstraints(
            deny=context.constraints.deny, run_budget=context.constraints.run_budget
        ),
    )  # fmt: skip


class _RunWatch:
    """Ends a run whose call was stopped, or that an agent wrote and that goes beyond its limits."""

    def __init__(
        self,
        writer: SessionWriter,
        run_id: str,
        actor: Actor,
        is_stopped: Callable[[], bool],
        limits: MetaLimits | None,
    ) -> None:
        self._writer, self._run_id, self._actor = writer, run_id, actor
        self._is_stopped, self._limits = is_stopped, limits
        self._begun = writer.context.clock.monotonic()

    def ends(self, coordinator: Coordinator) -> bool:
        """Ask for the run to be cancelled where it has to end; it then ends by itself."""
        if why := self._end_reason(coordinator):
            with suppress(RunRefused):  # it is over already
                cancel_run(self._writer.journal, self._run_id, self._actor, why)
        return False

    def _end_reason(self, coordinator: Coordinator) -> str:
        if self._is_stopped():
            return "the call was stopped"
        if self._limits is None:
            return ""
        if coordinator.state.usage.total_tokens > self._limits.max_total_tokens:
            return f"it used more than meta_pipeline.max_total_tokens, {self._limits.max_total_tokens}"
        minutes = (self._writer.context.clock.monotonic() - self._begun) / 60
        if minutes > self._limits.timeout_minutes:
            return f"it took longer than meta_pipeline.timeout_minutes, {self._limits.timeout_minutes} min"
        return ""


def _step_lines(pipeline: Pipeline) -> Iterator[str]:
    """Yield the graph: steps with the same number may run together."""
    for number, names in enumerate(parallel_waves({step.id: step.needs for step in pipeline.steps}), 1):
        for name in names:
            step = pipeline.step(name)
            after = f" after {', '.join(step.needs)}" if step.needs else ""
            yield f"{number}  {step.id}{after}: {_step_text(step)}"


def _step_text(step: Step) -> str:
    who = f"agent {step.persona}" if step.kind == "prompt" else step.kind
    text = step.source or step.source_path or (step.gate.prompt if step.gate else "")
    place = f" in {step.workspace.root}" if step.workspace.root else ""
    return f"{who}{place}  {one_line(text, 200)}".rstrip()
