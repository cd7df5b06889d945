"""One run: everything that it was started with, and what the coordinator and its attempts share.

A `RunDefinition` is stored as bytes, so that a run under way never reads its files again.
"""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from workbench.domain.events import Event
from workbench.domain.rows import Action, PipelineState
from workbench.domain.step_messages import StepOutcome, StepSpec
from workbench.domain.values import Body
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import read_bounded
from workbench.pipelines.documents import (
    FrozenFiles,
)
from workbench.pipelines.executor import OnStepEvent, StepExecutor, StepWorkspaces
from workbench.pipelines.load import LoadedPipeline, load_from_texts
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.run_journal import EVENT_PAGE_SIZE, RunJournal
from workbench.pipelines.schedule import OpenSteps, StepTimers, due_rework
from workbench.pipelines.state import RunState, StepRun
from workbench.text.yaml_nodes import MOST_YAML_BYTES


class RunDefinition(Struct, frozen=True, kw_only=True):
    """Everything that a run is made of."""

    pipeline_text: str
    manifest_text: str | None
    pipeline_file: str
    manifest_file: str
    root: str
    """Real path of the project."""
    input: str = ""
    branch: str = ""
    """Of the project's repository when the run was started; empty without one."""
    started_at: str = ""
    grants: tuple[str, ...] = ()
    recordings: str = ""
    depth: int = 0
    is_generated: bool = False
    """Whether an agent wrote it."""
    forge: dict[str, str] = field(default_factory=dict[str, str])
    """What is known of the project's code host by the address of its repository (`forges`)."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, str] = field(default_factory=dict[str, str])
    """What `{{ env.NAME }}` stands for, as the step above gave it."""
    mounted: tuple[str, ...] | None = None
    """The only files that its mounts hold, as the run above says; None for all."""
    handed: tuple[str, ...] = ()
    """Names (`input`, `env.NAME`) whose values come from an agent, an artifact or a list."""
    accepted: tuple[str, ...] = ()
    """Keyed digests of the commands that a person accepted although another program reads values in them."""

    def to_bytes(self) -> bytes:
        later: dict[str, object] = {
            "is_generated": False, "mounted": None, "values": {}, "handed": (), "accepted": (),
        }  # fmt: skip
        members = {name: value for name, value in asdict(self).items() if later.get(name, self) != value}
        return json.dumps(members, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")

    @classmethod
    def from_bytes(cls, data: bytes) -> "RunDefinition":
        members = cast("dict[str, object]", json.loads(data))
        members["grants"] = tuple(cast("list[str]", members["grants"]))
        for name in {"mounted", "handed", "accepted"} & members.keys():
            members[name] = tuple(cast("list[str]", members[name]))
        return cls(**members)  # type: ignore[arg-type]

    def files(self) -> FrozenFiles:
        return FrozenFiles(self.texts)

    def changed_files(self) -> tuple[str, ...]:
        """Return the files, relative to the project, whose text is another one now, or that are gone."""
        before = {
            **{f"{self.root}/{path}": text for path, text in self.texts.items()},
            **({} if self.is_generated else {self.pipeline_file: self.pipeline_text}),
            **({self.manifest_file: self.manifest_text} if self.manifest_text is not None else {}),
        }
        return tuple(
            os.path.relpath(path, self.root) for path, text in before.items() if _text_now(path) != text
        )

    def read(self) -> tuple[Pipeline, Manifest | None]:
        """Return pipeline and manifest. Raises ValueError."""
        names = (self.pipeline_file, self.manifest_file)
        pipeline, manifest, report = load_from_texts(
            self.pipeline_text, self.manifest_text, self.files(), names
        )
        if pipeline is None:
            raise ValueError("; ".join(str(problem) for problem in report.errors))
        return pipeline, manifest


def _text_now(path: str) -> str | None:
    try:
        data = read_bounded(Path(path), MOST_YAML_BYTES)
        return None if data is None else data.decode("utf-8-sig")
    except (FileRefused, UnicodeDecodeError):
        return None


def define_run(loaded: LoadedPipeline, **facts: object) -> RunDefinition:
    return RunDefinition(
        pipeline_text=loaded.sources.get(loaded.file, ""),
        manifest_text=loaded.sources.get(loaded.manifest_file or ""),
        pipeline_file=loaded.file, manifest_file=loaded.manifest_file or "", root=loaded.root,
        texts=loaded.texts, **facts,  # type: ignore[arg-type]
    )  # fmt: skip


class RunContext(Struct, frozen=True, kw_only=True):
    """A run: what it was started with, its state, and what drives and records it."""

    journal: RunJournal
    definition: RunDefinition
    pipeline: Pipeline
    manifest: Manifest | None
    executor: StepExecutor
    workspaces: StepWorkspaces
    workspace_base: str
    """Names the folder of the run's workspaces."""
    state: RunState
    open_steps: OpenSteps
    row: PipelineState
    timers: StepTimers
    wake: asyncio.Event
    """Set when the coordinator has to look again."""
    repeated_sets: tuple[frozenset[str], ...] = ()
    """Steps that a way back does again, one set for each."""
    window_minutes: float
    """How long a gate waits for an answer where it names no time."""
    on_events: Callable[[Sequence[Event]], None] | None = None
    can_ask: bool = True

    def catch_up(self) -> int:
        """Read back and fold what is in the journal by now; return how many events that were."""
        count = 0
        while events := self.journal.events(self.state.cursor):
            for event in events:
                self.state.take(event)
                self.open_steps.take(event)
            if self.on_events:
                self.on_events(events)
            count += len(events)
            if len(events) < EVENT_PAGE_SIZE:
                break
        return count

    def latest_action(self, action_id: str) -> Action | None:
        """Return the action that stands for a question now: an extension supersedes the one before it."""
        action = self.journal.action(action_id)
        while action is not None and action.successor:
            action = self.journal.action(action.successor)
        return action

    def earlier_failures(self, step: Step, step_run: StepRun) -> list[tuple[str, str]]:
        """Return the steps of the same round whose failure led to a step, with why they failed."""
        runs = self.state.steps
        if step.is_rework_only:
            return [
                (other.id, runs[other.id].detail)
                for other in self.pipeline.steps
                if due_rework(runs[other.id], other) == step.id
            ]
        sources = set(step.tolerates)
        for step_set in self.repeated_sets:
            sources |= step_set if step.id in step_set else frozenset()
        return [
            (name, run.last_failure)
            for name, run in (runs.items() if sources else ())
            if name in sources and name != step_run.id and run.last_failure
        ]

    def step_events(self, step_id: str, *bodies: Body) -> list[Event]:
        return [self.journal.event(body, step=step_id) for body in bodies]

    async def record(self, step_id: str, *bodies: Body) -> None:
        """Append events of a step."""
        await self.journal.append(*self.step_events(step_id, *bodies))

    def step_of(self, step_run: StepRun) -> Step:
        """Return the step of the pipeline that a step of the run, or an item of a matrix, carries out."""
        return self.pipeline.step(step_run.matrix or step_run.id)

    async def execute(self, spec: StepSpec, on_event: OnStepEvent) -> StepOutcome:
        """Run an attempt, or a part of it, within its working time."""
        step_run = self.state.steps.get(spec.id.step)
        if step_run and step_run.session_id:
            spec = replace(spec, session_id=step_run.session_id)
        seconds = None if spec.kind in ("command", "pipeline") else spec.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self.executor.run(spec, on_event)
        except TimeoutError:
            await self.executor.cancel(spec.id)
            minutes = (spec.timeout_seconds or 0) / 60
            why = f"it worked longer than it may ({minutes:g} min left at its start) and was ended"
            return StepOutcome(state="failed", reason=why)
