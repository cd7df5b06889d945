"""The embedded executor: steps run in this process's event loop, on this machine, out of the journal.

Owns which of the ways to run an attempt is taken, and the stop of each that runs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from workbench.domain.events import Event
from workbench.domain.runs import StepId, StepOutcome, StepSpec
from workbench.domain.values import Decision
from workbench.host.kit import Kit
from workbench.host.steps import agent
from workbench.host.steps.adapter import run_adapter
from workbench.host.steps.command import SHELL, run_command
from workbench.journal.lease import DriverIdentity
from workbench.pipelines.attempt import NotReady
from workbench.pipelines.executor import OnStepEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """How a step that is a pipeline is begun and driven; a run's driver fills it."""

    opening: Callable[[StepSpec], list[Event]]
    run: Callable[[StepSpec], Awaitable[StepOutcome]]
    cancel: Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class EmbeddedExecutor:
    """Runs the steps of one run."""

    kit: Kit
    driver: DriverIdentity
    run_id: str
    recordings: str
    nested: Nested
    see: agent.SeeEvents
    _stops: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    _sessions: dict[str, str] = field(default_factory=dict[str, str])

    def opening(self, spec: StepSpec) -> Sequence[Event]:
        """Return the events that begin the child session or the child run of an attempt.

        Raises:
            NotReady: it cannot be begun.
        """
        if spec.kind == "pipeline":
            return self.nested.opening(spec)
        if spec.kind != "prompt" or spec.adapter:
            return ()
        try:
            return agent.opening(self.kit, spec, self.run_id, self.recordings)
        except agent.NoRecording as error:
            raise NotReady(str(error)) from None

    async def run(self, spec: StepSpec, on_event: OnStepEvent) -> StepOutcome:
        """Start an attempt, or go on with it if it was started before."""
        key = str(spec.id)
        stop = self._stops[key] = asyncio.Event()
        try:
            return await self._run(spec, on_event, stop)
        finally:
            if self._stops.get(key) is stop:
                del self._stops[key]

    async def _run(self, spec: StepSpec, on_event: OnStepEvent, stop: asyncio.Event) -> StepOutcome:
        if spec.kind == "command":
            return (await run_command(self.kit, spec, (*SHELL, spec.source), on_event, stop)).outcome
        if spec.kind == "pipeline":
            self._sessions[str(spec.id)] = spec.session_id or ""
            return await self.nested.run(spec)
        if spec.adapter:
            return await run_adapter(self.kit, spec, on_event, stop)
        self._sessions[str(spec.id)] = spec.session_id or ""
        outcome = await agent.run_agent(self.kit, self.driver, spec, self.see, stop)
        if (outcome.state != "parked" or outcome.is_full) and spec.session_id:
            is_done = outcome.state == "completed" or outcome.is_full
            await agent.close_child(self.kit, self.driver, spec.session_id, is_done=is_done)
        return outcome

    async def answer(self, step: StepId, action_id: str, decision: Decision) -> None:
        """Do nothing: a decision is in the journal, which is where this executor looks."""
        del step, action_id, decision

    async def cancel(self, step: StepId) -> None:
        """End what runs of an attempt, or the session that it is parked in."""
        stop = self._stops.get(str(step))
        session_id = self._sessions.get(str(step))
        if stop is not None:
            stop.set()
            self.kit.journal.doorbell.announce()
            return
        row = self.kit.journal.reader.step_state(step.run, step.step)
        found = session_id or (row.session_id if row else None)
        if found is None:
            return
        if row is not None and row.kind == "pipeline":
            self.nested.cancel(found)
        else:
            await agent.close_child(self.kit, self.driver, found, is_done=False)
