"""One attempt at one step: made ready, run, and what it left collected and checked.

Owns the course from P2 to P4 of JOURNAL section 3 but for the commits of its beginning and end, which are
the coordinator's. What a failure means is said by `failing`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from workbench.domain.rows import PipelineState
from workbench.domain.runs import ArtifactStored, ContractChecked, StepId, StepOutcome, StepSpec
from workbench.domain.values import Json
from workbench.effects.faults import point
from workbench.effects.files import FileRefused
from workbench.effects.hook import run_hook
from workbench.effects.spawn import NotStarted
from workbench.pipelines import aggregating, artifacts, contracts, relay, templates
from workbench.pipelines.definition import Definition
from workbench.pipelines.executor import Ledger, OnStepEvent, StepExecutor
from workbench.pipelines.files import OutsideRoot
from workbench.pipelines.model import (
    SKIP,
    Adapter,
    ArtifactSpec,
    Branch,
    Contract,
    Manifest,
    Persona,
    Pipeline,
    Step,
    ValidationRule,
)
from workbench.pipelines.plan import timeout_seconds
from workbench.pipelines.state import RunState, StepRun
from workbench.pipelines.values import Values
from workbench.pipelines.workspaces import WorkspaceFailed, Workspaces
from workbench.text.safe import one_line
from workbench.views.pipeline import run_title

CHECK_SECONDS = 1800.0
"""How long a test suite of a contract may take."""


REQUIRE_SECONDS = 60.0
"""How long a command may take that has to succeed before a step runs."""


class NotReady(Exception):
    """An attempt cannot begin; says why. It is not tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    """What every attempt of a run shares."""

    ledger: Ledger
    definition: Definition
    pipeline: Pipeline
    manifest: Manifest | None
    executor: StepExecutor
    workspaces: Workspaces
    state: RunState
    row: PipelineState
    rounds: tuple[frozenset[str], ...] = ()
    """Steps that a way back does again, one set for each (`expanding.rounds`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of an attempt that ran to its end."""

    outcome: StepOutcome
    contracts: tuple[ContractChecked, ...] = ()
    artifacts: tuple[ArtifactStored, ...] = ()
    failure: str = ""
    is_retryable: bool = True
    is_empty: bool = False
    failed_contract: Contract | None = None
    details: tuple[str, ...] = ()
    """What is worth knowing although nothing failed."""


class Attempt:
    """An attempt at a step or at an item of a matrix."""

    def __init__(self, parts: RunParts, step: Step, found: StepRun, number: int) -> None:
        self.parts, self.step, self.found, self.number = parts, step, found, number
        self.id = StepId(run=parts.ledger.run_id, step=found.id, attempt=number)
        self.workspace = ""
        self.spec: StepSpec | None = None

    # --- before it runs -----------------------------------------------------------------------------

    async def ready(self, spent_ms: int = 0, *, is_resumed: bool = False) -> StepSpec:
        """Make workspace, artifacts and words ready.

        Args:
            spent_ms: working time that this attempt has behind it.
            is_resumed: it goes on where it was; its workspace is as it left it.

        Raises:
            NotReady: something is missing, with what to do about it.
        """
        if self.step.unrunnable:
            raise NotReady(f"{self.step.unrunnable}, which is not run here")
        try:
            if self._is_plain:
                self.spec = self._ready(spent_ms, is_resumed)
            else:
                self.spec = await asyncio.to_thread(self._ready, spent_ms, is_resumed)
        except (templates.Unresolved, aggregating.NotMerged) as error:
            raise NotReady(f"{error}") from None
        except (WorkspaceFailed, artifacts.ArtifactGone, FileRefused, NotStarted, OutsideRoot) as error:
            raise NotReady(str(error)) from None
        return self.spec

    @property
    def _is_plain(self) -> bool:
        """Return whether getting ready reads and copies nothing, so that a thread would cost more than it."""
        step = self.step
        is_still = not (step.workspace.mounts or step.workspace.is_worktree or step.injections)
        is_short = not (step.validation or step.source_path or any(templates.names(step.source)))
        return step.kind == "command" and is_still and is_short

    def _ready(self, spent_ms: int, is_resumed: bool) -> StepSpec:
        parts, step = self.parts, self.step
        values = self._values("")
        # An item of a matrix gets a folder of its own even where the step names one folder for all.
        self.workspace = parts.workspaces.path_of(step, parts.pipeline, self.found.id, values.fill)
        values = self._values(self.workspace)
        if step.kind in ("prompt", "command", "aggregate") and not is_resumed:
            parts.workspaces.prepare(step, self.workspace, values.fill, self._project_files())
            self._inject(values)
            self._require(values)
        return self._specified(values, spent_ms)

    @property
    def values(self) -> Values:
        """Return the templates of this attempt."""
        return self._values(self.workspace)

    def _values(self, workspace: str) -> Values:
        parts = self.parts
        return Values(
            ledger=parts.ledger, definition=parts.definition, pipeline=parts.pipeline,
            manifest=parts.manifest, state=parts.state, step=self.step, item=self.found.item,
            attempt=self.number, workspace=workspace, rounds=parts.rounds,
        )  # fmt: skip

    def _inject(self, values: Values) -> None:
        for wanted in self.step.injections:
            artifact = values.produced(wanted.step, wanted.artifact)
            if artifact is not None:
                artifacts.put(self.parts.ledger, artifact, self.workspace, artifacts.place(wanted.name))
            elif not wanted.is_optional:
                raise NotReady(f"{wanted.step} left no artifact {wanted.artifact}")

    def _require(self, values: Values) -> None:
        """Check the validation rules of the step: what has to hold before it runs."""
        for rule in self.step.validation:
            why = self._unmet(rule, values)
            if why:
                raise NotReady(f"validation: {rule.message}{': ' if rule.message else ''}{why}")

    def _unmet(self, rule: ValidationRule, values: Values) -> str:
        """Return why a rule does not hold; empty if it does."""
        if rule.type == "command":
            return self._unmet_command(rule.target, values)
        target = values.fill(rule.target)
        if rule.type in ("json_schema", "non_empty_file"):
            kind_of = "json_schema" if rule.type == "json_schema" else "non_empty_file"
            contract = Contract(type=kind_of, written_type=rule.type, schema=rule.schema, source=target)
            files = self.parts.definition.files()
            found = contracts.check(contract, self.workspace, target, files, self.number, {})
            return "; ".join(found.problems) if found.outcome == "failed" else ""
        kind = artifacts.exists(self.workspace, target)
        is_met = kind == "folder" if rule.type == "folder_exists" else kind is not None
        return "" if is_met else f"{target} is not there"

    def _unmet_command(self, line: str, values: Values) -> str:
        source, variables = templates.shell(line, values.of)
        environment = {**self.parts.workspaces.environment, **variables}
        done = run_hook(source, b"", self.workspace, environment, REQUIRE_SECONDS)
        if done.code == 0:
            return ""
        how = "took too long" if done.timed_out else f"ended with {done.code}"
        return f"{line} {how}. {done.output.decode('utf-8', 'replace').strip()[-300:]}"

    def _specified(self, values: Values, spent_ms: int) -> StepSpec:
        step, title = self.step, f"{run_title(self.parts.row)} · {self.found.id}"
        left = max(1.0, timeout_seconds(step, self.parts.manifest) - spent_ms / 1000)
        spec = StepSpec(
            id=self.id, kind=step.kind, title=title, workspace=self.workspace, timeout_seconds=left,
            grants=self.parts.definition.grants,
            keeps_output=any(one.kind == "stdout" for one in step.outputs),
        )  # fmt: skip
        match step.kind:
            case "command":
                source, variables = templates.shell(self._source(), values.of)
                return replace(spec, source=source, environment={**variables, **self._feedback()})
            case "pipeline":
                written = step.source if step.branch is None else self._case(step.branch, values)
                if written == SKIP and step.branch is not None:
                    return replace(spec, kind="route")
                given = values.fill(step.pipeline_input)
                facts: dict[str, Json] = {"input": given, "is_computed": "{{" in written}
                return replace(spec, source=values.fill(written), environment=facts)
            case "route":
                return spec
            case "aggregate":
                return replace(spec, source=aggregating.merged(step.aggregate, values))
            case "prompt":
                full = relay.of_step(step, self.parts.manifest)
                return replace(
                    spec, source=self._prompt(values), relay_percent=full.percent,
                    context_window=full.window, **self._agent(self._persona_name()),
                )  # fmt: skip
            case "gate":
                prompt = step.gate.prompt if step.gate else ""
                return replace(spec, source=values.fill(prompt) or f"{self.found.id}?")

    def _case(self, branch: Branch, values: Values) -> str:
        """Return the pipeline that stands for what the branch comes to."""
        found = values.fill(branch.on).strip()
        for name in (found, "_default", "default"):
            if name in branch.cases:
                return branch.cases[name]
        known = ", ".join(branch.cases)
        raise NotReady(
            f"the branch has no case for {one_line(found, 80) or 'nothing'}, only {known}, and no default"
        )

    def _source(self) -> str:
        if not self.step.source_path or self.step.source:
            return self.step.source
        text = self.parts.definition.files().text(self.step.source_path)
        if text is None:
            raise NotReady(f"{self.step.source_path} is not there")
        return text

    def _feedback(self) -> dict[str, Json]:
        said = self.found.detail or "\n".join(f"{name}: {why}" for name, why in self._failures_before())
        return {"WORKBENCH_LAST_FAILURE": said} if said else {}

    def _failures_before(self) -> list[tuple[str, str]]:
        """Return the steps of the same round whose failure led here, with why they failed."""
        steps, around = self.parts.state.steps, set(self.step.tolerates)
        for one in self.parts.rounds:
            around |= one if self.step.id in one else frozenset()
        return [
            (name, steps[name].last_failure)
            for name in steps
            if name in around and name != self.found.id and steps[name].last_failure
        ]

    def _prompt(self, values: Values) -> str:
        parts = [templates.filled(self._source(), values.of)]
        given = [artifacts.place(one.name) for one in self.step.injections]
        if given:
            parts.append(f"In your folder, from earlier steps: {', '.join(given)}.")
        wanted = [one.path for one in self.step.outputs if one.kind != "stdout"]
        if wanted:
            parts.append(f"When you are done these have to be there: {', '.join(wanted)}.")
        if self.found.detail and self.number > 1:
            parts.append(f"Attempt {self.number}. The attempt before failed:\n{self.found.detail}")
        parts += [f"The step {name} failed:\n{why}" for name, why in self._failures_before()]
        return "\n\n".join(part.rstrip() for part in parts)

    def relayed(self, spec: StepSpec, transcript: str) -> StepSpec:
        """Return what the summariser of a full conversation is given; it may use no tool.

        Raises:
            NotReady: there is no such persona.
        """
        name = relay.of_step(self.step, self.parts.manifest).persona or self._persona_name()
        facts = cast("dict[str, Json]", self._agent(name)["persona"])
        return replace(
            spec, source=relay.asked(transcript), part=relay.PART, session_id=None, keeps_output=True,
            title=f"{spec.title} · {relay.PART}", relay_percent=0,
            persona={**facts, "deny": [["*", "a checkpoint needs no tools"]], "hooks": []},
        )  # fmt: skip

    def _agent(self, name: str) -> dict[str, Json]:
        persona, adapter = self._persona(name)
        prompt = self.parts.definition.files().text(persona.prompt_file) if persona.prompt_file else ""
        if prompt is None:
            raise NotReady(f"the prompt of persona {persona.name}, {persona.prompt_file}, is not there")
        permissions = persona.permissions or adapter.permissions
        facts: dict[str, Json] = {
            "name": persona.name, "prompt": prompt, "provider": persona.provider,
            "model": self.step.model or persona.model or adapter.model, "temperature": persona.temperature,
            "allowed": [[one.text, one.origin] for one in permissions.allowed],
            # S1: deny takes precedence; what the adapter denies stays denied whatever a persona allows.
            "deny": [[one.text, one.origin] for one in (*permissions.deny, *adapter.permissions.deny)],
            "hooks": [[one.event, one.matcher, one.command, one.origin] for one in persona.hooks],
        }  # fmt: skip
        if adapter.is_built_in or self.parts.definition.recordings:
            return {"persona": facts}
        how: dict[str, Json] = {
            "binary": adapter.binary, "args": list(adapter.args), "output_format": adapter.output_format,
            "name": adapter.name,
        }  # fmt: skip
        return {"persona": facts, "adapter": how}

    def _persona(self, name: str) -> tuple[Persona, Adapter]:
        manifest = self.parts.manifest
        persona = manifest.personas.get(name) if manifest else None
        if manifest is None or persona is None:
            raise NotReady(f"there is no persona {name}; a manifest has to name it")
        adapter = manifest.adapters.get(self.step.adapter or persona.adapter)
        if adapter is None:
            raise NotReady(f"there is no adapter {self.step.adapter or persona.adapter}")
        return persona, adapter

    def _persona_name(self) -> str:
        return self.values.fill(self.step.persona)

    def _project_files(self) -> tuple[str, ...]:
        manifest = self.parts.manifest
        persona = manifest.personas.get(self._persona_name()) if manifest else None
        adapter = (
            manifest.adapters.get(self.step.adapter or persona.adapter) if manifest and persona else None
        )
        return adapter.project_files if adapter else ()

    # --- after it ran -------------------------------------------------------------------------------

    async def concluded(self, outcome: StepOutcome, on_event: OnStepEvent) -> Result:
        """Collect and check what a completed attempt left."""
        point("step.ended")
        step, parts = self.step, self.parts
        values = self._values(self.workspace)
        try:
            outputs = tuple(replace(one, path=values.fill(one.path)) for one in step.outputs)
            if step.workspace.mounts:
                await asyncio.to_thread(parts.workspaces.give_back, step, self.workspace, values.fill)
            collected = await self._collected(outputs, outcome)
            if step.contracts:
                await asyncio.to_thread(self._lay_out, collected.stored)
        except (
            FileRefused, WorkspaceFailed, OSError, templates.Unresolved, artifacts.ArtifactGone
        ) as error:  # fmt: skip
            return Result(outcome=outcome, failure=str(error))
        if collected.missing:
            return Result(outcome=outcome, failure="; ".join(collected.missing))
        checks: list[ContractChecked] = []
        for contract in step.contracts:
            found = await self._checked(contract, values, on_event)
            checks.append(found)
            is_tried_again = step.failing.attempts > self.tried and contract.then not in ("warn", "continue")
            if found.outcome == "failed" or (found.outcome == "warned" and is_tried_again):
                text = f"contract {contract.written_type}: {'; '.join(found.problems)}"
                return Result(
                    outcome=outcome, contracts=tuple(checks), failure=text, failed_contract=contract,
                    artifacts=tuple(collected.stored),
                )  # fmt: skip
        is_empty = bool(step.outputs) and not collected.stored
        return Result(
            outcome=outcome, contracts=tuple(checks), artifacts=tuple(collected.stored), is_empty=is_empty,
            details=tuple(collected.left_out),
        )  # fmt: skip

    async def _collected(self, outputs: Sequence[ArtifactSpec], outcome: StepOutcome) -> artifacts.Collected:
        if self.step.kind == "pipeline":
            return artifacts.Collected(
                stored=[replace(one, attempt=self.number) for one in outcome.artifacts]
            )
        if not outputs:
            return artifacts.Collected()
        return await asyncio.to_thread(
            artifacts.collect, self.parts.ledger, self.workspace, outputs, outcome, self.number
        )

    def _lay_out(self, stored: Sequence[ArtifactStored]) -> None:
        """Lay what is in no file of the workspace where contracts look for it."""
        if self.step.kind == "pipeline":
            self.parts.workspaces.prepare(self.step, self.workspace, self.values.fill, ())
        for one in stored:
            if self.step.kind == "pipeline":
                artifacts.put(self.parts.ledger, one, self.workspace, one.path.strip("/") or one.name)
            elif one.artifact_kind == "stdout":
                artifacts.put(self.parts.ledger, one, self.workspace, f"artifacts/{one.name}")

    def _named_source(self, values: Values, source: str) -> str:
        """Return the file that a contract checks: an artifact's by its name, else by the path that it names.

        Where it names nothing it is the first artifact of the step.
        """
        for one in self.step.outputs:
            if one.kind != "folder" and source in ("", one.name):
                return values.fill(one.path) if one.kind == "file" else f"artifacts/{one.name}"
        return source

    @property
    def tried(self) -> int:
        """Return how many attempts of this round there are with this one."""
        return self.found.failures + 1

    async def _checked(self, contract: Contract, values: Values, on_event: OnStepEvent) -> ContractChecked:
        if contract.type == "test_suite":
            return await self._suite(contract, values, on_event)
        source = self._named_source(values, values.fill(contract.source))
        environment = dict(self.parts.workspaces.environment)
        return await asyncio.to_thread(
            contracts.check, contract, self.workspace, source, self.parts.definition.files(), self.number,
            environment,
        )  # fmt: skip

    async def _suite(self, contract: Contract, values: Values, on_event: OnStepEvent) -> ContractChecked:
        source, variables = templates.shell(contract.command, values.of)
        folder = self.parts.workspaces.project if contract.dir == "project_root" else self.workspace
        spec = StepSpec(
            id=self.id, kind="command", title=f"{self.found.id} contract", source=source, workspace=folder,
            environment=dict(variables), timeout_seconds=CHECK_SECONDS,
        )  # fmt: skip
        outcome = await self.parts.executor.run(spec, on_event)
        code = outcome.exit_code if outcome.exit_code is not None or outcome.state != "completed" else 0
        return contracts.suite(contract, code, outcome.output or outcome.reason, self.number)


def combined(results: Sequence[StepRun], found: dict[str, Json]) -> list[Json]:
    """Return what the items of a matrix left, one object an item."""
    return [
        {"item": one.item, "step": one.id, "state": one.state, "value": found.get(one.id)} for one in results
    ]
