"""One attempt at one step: workspace and prompt made ready, what it left collected and checked.

The coordinator commits the beginning and the end.
"""

import asyncio
import itertools
import os
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ArtifactStored, ContractChecked, Event, StepChanged
from workbench.domain.messages import StepId, StepOutcome, StepSpec
from workbench.domain.rows import run_title
from workbench.domain.values import Json, RunLink
from workbench.effects.child_processes import ProcessNotStarted, run_hook
from workbench.effects.file_primitives import FileRefused
from workbench.effects.runtime import fault_point
from workbench.pipelines import artifacts, contracts, model, step_order, template_values, templates
from workbench.pipelines.agent_words import words_besides_prompt
from workbench.pipelines.artifact_placement import inject_artifacts
from workbench.pipelines.documents import OutsideRoot
from workbench.pipelines.executor import AttemptNotReady, OnStepEvent, RunJournal
from workbench.pipelines.mount_subset import SubsetReader
from workbench.pipelines.outcomes import find_links
from workbench.pipelines.reviews import ReviewedAttempt, check_review
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.state import StepRun
from workbench.pipelines.step_order import step_timeout_seconds
from workbench.pipelines.template_values import TemplateValues
from workbench.pipelines.workspaces import WorkspaceFailed
from workbench.text.safe import one_line

MOST_CHECK_SECONDS = 1800.0
"""How long a test suite of a contract may take."""
MOST_REQUIREMENT_SECONDS = 60.0
"""How long a command may take that has to succeed before a step runs."""


class AttemptResult(Struct, frozen=True, kw_only=True):
    """What came of an attempt that ran to its end."""

    outcome: StepOutcome
    contracts: tuple[ContractChecked, ...] = ()
    artifacts: tuple[ArtifactStored, ...] = ()
    failure: str = ""
    is_retryable: bool = True
    is_empty: bool = False
    failed_contract: model.Contract | None = None
    links: tuple[RunLink, ...] = ()
    details: tuple[str, ...] = ()
    """What is worth knowing although nothing failed."""


class Attempt:
    """An attempt at a step or at an item of a matrix."""

    def __init__(self, context: RunContext, step: model.Step, step_run: StepRun, number: int) -> None:
        self.context, self.step, self.step_run, self.number = context, step, step_run, number
        self.id = StepId(run=context.journal.run_id, step=step_run.id, attempt=number)
        self.workspace = self.folder = ""
        """Its workspace, and the folder in it that a command begins in."""
        self._mount_notes: tuple[str, ...] = ()

    # --- before it runs -----------------------------------------------------------------------------

    async def ready(self, spent_ms: int = 0, *, is_resumed: bool = False) -> StepSpec:
        """Make workspace, artifacts and words ready. Raises AttemptNotReady."""
        if self.step.unrunnable:
            raise AttemptNotReady(f"{self.step.unrunnable}, which is not run here")
        try:
            if self._is_plain:
                return self._ready(spent_ms, is_resumed)
            return await asyncio.to_thread(self._ready, spent_ms, is_resumed)
        except (templates.UnresolvedTemplate, template_values.AggregateError) as error:
            raise AttemptNotReady(f"{error}") from None
        except (
            WorkspaceFailed,
            artifacts.ArtifactMissing,
            FileRefused,
            ProcessNotStarted,
            OutsideRoot,
        ) as error:
            raise AttemptNotReady(str(error)) from None

    @property
    def _is_plain(self) -> bool:
        """Return whether getting ready reads and copies nothing, so that a thread would cost more than it."""
        step = self.step
        is_still = not (step.workspace.mounts or step.workspace.is_worktree or step.injections)
        is_short = not (step.validation or step.source_path or any(templates.template_names(step.source)))
        return step.kind == "command" and is_still and is_short

    def _ready(self, spent_ms: int, is_resumed: bool) -> StepSpec:
        context, step = self.context, self.step
        values = self._values("")
        # An item of a matrix gets a folder of its own even where the step names one folder for all.
        self.workspace = context.workspaces.path_of(step, context.pipeline, self.step_run.id, values.fill)
        self.folder = self.workspace
        values = self._values(self.workspace)
        if step.kind in ("prompt", "command", "aggregate") and not is_resumed:
            self._mount_notes = context.workspaces.prepare(
                step, self.workspace, values.fill, self._project_files(), self._subsets(values).of
            )
            if not inject_artifacts(context, step, values) and step.kind == "command":
                self.folder = context.workspaces.mounted_project(step, self.workspace, values.fill)
            self._require(values)
        return self._specified(values, spent_ms)

    @property
    def values(self) -> TemplateValues:
        return self._values(self.workspace)

    def _values(self, workspace: str) -> TemplateValues:
        context = self.context
        return TemplateValues(
            journal=context.journal, definition=context.definition, pipeline=context.pipeline,
            manifest=context.manifest, state=context.state, step=self.step, item=self.step_run.item,
            attempt=self.number, workspace=workspace, repeated_sets=context.repeated_sets,
        )  # fmt: skip

    def _subsets(self, values: TemplateValues) -> SubsetReader:
        return SubsetReader(
            journal=self.context.journal, step=self.step, step_ids=self.context.state.steps,
            find=values.artifact, given=self.context.definition.mounted,
        )  # fmt: skip

    def _require(self, values: TemplateValues) -> None:
        for rule in self.step.validation:
            why = self._unmet(rule, values)
            if why:
                raise AttemptNotReady(f"validation: {rule.message}{': ' if rule.message else ''}{why}")

    def _unmet(self, rule: model.ValidationRule, values: TemplateValues) -> str:
        if rule.type == "command":
            return self._unmet_command(rule.target, values)
        target = values.fill(rule.target)
        if rule.type in ("json_schema", "non_empty_file"):
            kind_of = "json_schema" if rule.type == "json_schema" else "non_empty_file"
            contract = model.Contract(
                type=kind_of, written_type=rule.type, schema=rule.schema, source=target, is_repairable=False
            )
            files = self.context.definition.files()
            check = contracts.check_contract(contract, self.workspace, target, files, self.number, {}).event
            return "; ".join(check.problems) if check.outcome == "failed" else ""
        kind = artifacts.path_kind(self.workspace, target)
        is_met = kind == "folder" if rule.type == "folder_exists" else kind is not None
        return "" if is_met else f"{target} is not there"

    def _unmet_command(self, line: str, values: TemplateValues) -> str:
        source, variables = templates.shell_command(line, values.of, values.own_text)
        environment = {**self.context.workspaces.environment, **variables}
        done = run_hook(source, b"", self.workspace, environment, MOST_REQUIREMENT_SECONDS)
        if done.code == 0:
            return ""
        how = "took too long" if done.timed_out else f"ended with {done.code}"
        return f"{line} {how}. {done.output.decode('utf-8', 'replace').strip()[-300:]}"

    @property
    def _title(self) -> str:
        return f"{run_title(self.context.row)} · {self.step_run.id}"

    def _specified(self, values: TemplateValues, spent_ms: int) -> StepSpec:
        step, title = self.step, self._title
        left = max(1.0, step_timeout_seconds(step, self.context.manifest) - spent_ms / 1000)
        spec = StepSpec(
            id=self.id, kind=step.kind, title=title, workspace=self.workspace, timeout_seconds=left,
            grants=self.context.definition.grants,
            keeps_output=any(output.kind == "stdout" for output in step.outputs), thread=step.thread,
        )  # fmt: skip
        match step.kind:
            case "command":
                source, variables = templates.shell_command(self._source(), values.of, values.own_text)
                facts: dict[str, Json] = {**variables, **self._feedback()}
                return replace(spec, source=source, environment=facts, workspace=self.folder)
            case "pipeline":
                written = step.source if step.branch is None else self._case(step.branch, values)
                if written == model.SKIP_CASE and step.branch is not None:
                    return replace(spec, kind="route")
                text = values.fill(step.pipeline_input)
                facts = {"input": text, "is_computed": "{{" in written, **self._subsets(values).handed_on()}
                return replace(spec, source=values.fill(written), environment=facts)
            case "route":
                return spec
            case "aggregate":
                return replace(spec, source=template_values.aggregate_text(step.aggregate, values))
            case "prompt":
                return replace(spec, source=self._prompt(values), **self.agent(self.persona_name()))
            case "gate":
                prompt = step.gate.prompt if step.gate else ""
                return replace(spec, source=values.fill(prompt) or f"{self.step_run.id}?")

    def _case(self, branch: model.Branch, values: TemplateValues) -> str:
        value = values.fill(branch.on).strip()
        for name in (value, "_default", "default"):
            if name in branch.cases:
                return branch.cases[name]
        known = ", ".join(branch.cases)
        raise AttemptNotReady(
            f"the branch has no case for {one_line(value, 80) or 'nothing'}, only {known}, and no default"
        )

    def _source(self) -> str:
        if not self.step.source_path or self.step.source:
            return self.step.source
        text = self.context.definition.files().text(self.step.source_path)
        if text is None:
            raise AttemptNotReady(f"{self.step.source_path} is not there")
        return text

    def _feedback(self) -> dict[str, Json]:
        said = self.step_run.detail or "\n".join(f"{name}: {why}" for name, why in self._failures_before())
        return {"WORKBENCH_LAST_FAILURE": said} if said else {}

    def _failures_before(self) -> list[tuple[str, str]]:
        """Return the steps of the same round whose failure led here, with why they failed."""
        steps, around = self.context.state.steps, set(self.step.tolerates)
        if self.step.is_rework_only:
            users = (one for one in self.context.pipeline.steps if one.failing.rework_step == self.step.id)
            return [(one.id, steps[one.id].detail) for one in users if steps[one.id].detail]
        for step_set in self.context.repeated_sets:
            around |= step_set if self.step.id in step_set else frozenset()
        return [
            (name, steps[name].last_failure)
            for name in steps
            if name in around and name != self.step_run.id and steps[name].last_failure
        ]

    def _prompt(self, values: TemplateValues) -> str:
        before, after = words_besides_prompt(
            self.context, self.step_run, values, lambda one: self._checked_source(values, one)
        )
        parts = [*before, templates.fill_prose(self._source(), values.of)]
        paths = [artifacts.injected_path(injection.name) for injection in self.step.injections]
        if paths:
            parts.append(f"In your folder, from earlier steps: {', '.join(paths)}.")
        parts += [f"{note}." for note in self._mount_notes]
        wanted = [output.path for output in self.step.outputs if output.kind != "stdout"]
        if wanted:
            parts.append(f"When you are done these have to be there: {', '.join(wanted)}.")
        parts += after
        if self.step_run.detail and self.number > 1:
            parts.append(f"Attempt {self.number}. The attempt before failed:\n{self.step_run.detail}")
        parts += [f"The step {name} failed:\n{why}" for name, why in self._failures_before()]
        return "\n\n".join(part.rstrip() for part in parts)

    def _checked_source(self, values: TemplateValues, contract: model.Contract) -> str:
        """Return the file that a contract checks; empty where it is what the agent says."""
        source = self._named_source(values, values.fill(contract.source), contract.type)
        said = (output.name for output in self.step.outputs if output.kind == "stdout")
        return "" if source in map(artifacts.injected_path, said) else source

    def agent(self, name: str, review: model.Review | None = None) -> dict[str, Json]:
        """Return persona and adapter as an executor is given them; AttemptNotReady if either is missing.

        A reviewer has the adapter and the model of its contract, and not those of the step.
        """
        persona, adapter = self._persona(name, review.adapter if review else self.step.adapter)
        prompt = self.context.definition.files().text(persona.prompt_file) if persona.prompt_file else ""
        if prompt is None:
            raise AttemptNotReady(
                f"the prompt of persona {persona.name}, {persona.prompt_file}, is not there"
            )
        permissions = persona.permissions or adapter.permissions
        facts: dict[str, Json] = {
            "name": persona.name, "prompt": prompt, "provider": persona.provider,
            "model": self._model(persona, adapter, review), "temperature": persona.temperature,
            "allowed": [[pattern.text, pattern.origin] for pattern in permissions.allowed],
            # S1: deny takes precedence; what the adapter denies stays denied whatever a persona allows.
            "deny": [
                [pattern.text, pattern.origin]
                for pattern in (*permissions.deny, *adapter.permissions.deny)
            ],
            "hooks": [[hook.event, hook.matcher, hook.command, hook.origin] for hook in persona.hooks],
        }  # fmt: skip
        if adapter.is_built_in or self.context.definition.recordings:
            return {"persona": facts}
        how: dict[str, Json] = {
            "binary": adapter.binary, "args": list(adapter.args), "output_format": adapter.output_format,
            "name": adapter.name,
        }  # fmt: skip
        return {"persona": facts, "adapter": how}

    def _model(self, persona: model.Persona, adapter: model.Adapter, review: model.Review | None) -> str:
        name = (review.model if review else self.step.model) or persona.model or adapter.model
        runtime = self.context.manifest.runtime if self.context.manifest else model.Runtime()
        retries = 0 if review else max(0, self.number - 1)
        return model.model_of_tier(name, adapter, runtime, retries)

    def _reviewer(self, review: model.Review) -> dict[str, Json]:
        """Return who reviews: the persona that is named, for a judge the step's own or any of its adapter."""
        manifest = self.context.manifest
        known = manifest.personas.values() if manifest else ()
        any_of_them = (one.name for one in known if review.adapter in ("", one.adapter))
        return self.agent(review.persona or self.persona_name() or next(any_of_them, ""), review)

    def _persona(self, name: str, adapter_name: str) -> tuple[model.Persona, model.Adapter]:
        manifest = self.context.manifest
        persona = manifest.personas.get(name) if manifest else None
        if manifest is None or persona is None:
            raise AttemptNotReady(f"there is no persona {name}; a manifest has to name it")
        adapter = manifest.adapters.get(adapter_name or persona.adapter)
        if adapter is None:
            raise AttemptNotReady(f"there is no adapter {adapter_name or persona.adapter}")
        return persona, adapter

    def persona_name(self) -> str:
        return self.values.fill(self.step.persona)

    def _project_files(self) -> tuple[str, ...]:
        manifest = self.context.manifest
        persona = manifest.personas.get(self.persona_name()) if manifest else None
        adapter = (
            manifest.adapters.get(self.step.adapter or persona.adapter) if manifest and persona else None
        )
        return adapter.project_files if adapter else ()

    # --- after it ran -------------------------------------------------------------------------------

    async def collect_outcome(self, outcome: StepOutcome, on_event: OnStepEvent) -> AttemptResult:
        """Collect and check what a completed attempt left."""
        fault_point("step.ended")
        step, context = self.step, self.context
        values = self._values(self.workspace)
        try:
            paths = (self._left_at(values.fill(output.path)) for output in step.outputs)
            outputs = tuple(
                replace(output, path=path) for output, path in zip(step.outputs, paths, strict=True)
            )
            if step.workspace.mounts:
                await asyncio.to_thread(context.workspaces.give_back, step, self.workspace, values.fill)
            collected = await self._collected(outputs, outcome)
            if step.contracts:
                await asyncio.to_thread(self._lay_out, collected.stored)
        except (
            FileRefused, WorkspaceFailed, OSError, templates.UnresolvedTemplate, artifacts.ArtifactMissing
        ) as error:  # fmt: skip
            return AttemptResult(outcome=outcome, failure=str(error))
        if collected.missing:
            return AttemptResult(outcome=outcome, failure="; ".join(collected.missing))
        checks: list[ContractChecked] = []
        for contract in step.contracts:
            checked = await self._checked(contract, values, on_event, collected)
            check = checked.event
            checks.append(check)
            outcome = replace(outcome, usage=outcome.usage.plus(check.usage))
            if checked.repaired is not None:
                collected.hand_on_repaired(context.journal, check, checked.repaired)
            is_tried_again = step.failing.attempts > self.tried and contract.then not in ("warn", "continue")
            if check.outcome == "failed" or (check.outcome == "warned" and is_tried_again):
                text = f"contract {contract.written_type}: {'; '.join(check.problems)}"
                return AttemptResult(
                    outcome=outcome, contracts=tuple(checks), failure=text, failed_contract=contract,
                    artifacts=tuple(collected.stored),
                )  # fmt: skip
        links, missing = await asyncio.to_thread(
            find_links, context.journal, step.outcomes, self.workspace, collected.stored, values.fill
        )
        is_empty = any(not output.is_implied for output in step.outputs) and not collected.stored
        return AttemptResult(
            outcome=outcome, contracts=tuple(checks), artifacts=tuple(collected.stored), is_empty=is_empty,
            details=(*collected.left_out, *missing, *self._mount_notes), links=(*links, *outcome.links),
        )  # fmt: skip

    def _left_at(self, path: str) -> str:
        """Return where a step left what it declares: in its workspace, or below the folder it began in."""
        below = os.path.relpath(self.folder, self.workspace)
        if below != "." and path and not artifacts.path_kind(self.workspace, path):
            return f"{below}/{path.strip('/')}"
        return path

    async def _collected(
        self, outputs: Sequence[model.ArtifactSpec], outcome: StepOutcome
    ) -> artifacts.CollectedArtifacts:
        if self.step.kind == "pipeline":
            return artifacts.CollectedArtifacts(
                stored=[replace(artifact, attempt=self.number) for artifact in outcome.artifacts]
            )
        if not outputs:
            return artifacts.CollectedArtifacts()
        return await asyncio.to_thread(
            artifacts.collect_artifacts, self.context.journal, self.workspace, outputs, outcome, self.number
        )

    def _lay_out(self, stored: Sequence[ArtifactStored]) -> None:
        if self.step.kind == "pipeline":
            self.context.workspaces.prepare(self.step, self.workspace, self.values.fill, ())
        for artifact in stored:
            if self.step.kind == "pipeline":
                artifacts.write_artifact(
                    self.context.journal, artifact, self.workspace, artifact.path.strip("/") or artifact.name
                )
            elif artifact.artifact_kind == "stdout":
                artifacts.write_artifact(
                    self.context.journal, artifact, self.workspace, f"artifacts/{artifact.name}"
                )

    def _named_source(self, values: TemplateValues, source: str, contract: str = "") -> str:
        """Return the file that a contract checks: an artifact's, a path, else the step's first artifact."""
        outputs = [output for output in self.step.outputs if output.kind != "folder"]
        if not source and contract == "json_schema":  # of several the first that is meant to be JSON
            outputs.sort(key=lambda output: output.type != "json" and not output.path.endswith(".json"))
        for output in outputs:
            if source in ("", output.name):
                path = self._left_at(values.fill(output.path))
                return path if output.kind == "file" else f"artifacts/{output.name}"
        if not source:
            is_needed = contract not in model.REVIEW_TYPES
            there = (name for name in contracts.USUAL_SOURCES if artifacts.path_kind(self.workspace, name))
            # Of a review everything is shown that the step left, where it names nothing.
            source = next(there, contracts.USUAL_SOURCES[0] if is_needed else "")
        return self._left_at(source)

    @property
    def tried(self) -> int:
        """Return how many attempts of this round there are with this one."""
        return self.step_run.failures + 1

    async def _checked(
        self,
        contract: model.Contract,
        values: TemplateValues,
        on_event: OnStepEvent,
        collected: artifacts.CollectedArtifacts,
    ) -> contracts.CheckedContract:
        if contract.type == "test_suite":
            return contracts.CheckedContract(event=await self._suite(contract, values, on_event))
        source = self._named_source(values, values.fill(contract.source), contract.type)
        if contract.type in model.REVIEW_TYPES:
            reviewed = ReviewedAttempt(
                context=self.context, id=self.id, title=self._title, workspace=self.workspace,
                collected=collected.stored, reviewer=self._reviewer,
            )  # fmt: skip
            return await check_review(reviewed, contract, source, on_event)
        environment = dict(self.context.workspaces.environment)
        return await asyncio.to_thread(
            contracts.check_contract, contract, self.workspace, source, self.context.definition.files(),
            self.number,
            environment,
        )  # fmt: skip

    async def _suite(
        self, contract: model.Contract, values: TemplateValues, on_event: OnStepEvent
    ) -> ContractChecked:
        source, variables = templates.shell_command(contract.command, values.of, values.own_text)
        folder = self.context.workspaces.project if contract.dir == "project_root" else self.workspace
        spec = StepSpec(
            id=self.id, kind="command", title=f"{self.step_run.id} contract", source=source, workspace=folder,
            environment=dict(variables), timeout_seconds=MOST_CHECK_SECONDS,
        )  # fmt: skip
        outcome = await self.context.executor.run(spec, on_event)
        code = outcome.exit_code if outcome.exit_code is not None or outcome.state != "completed" else 0
        return contracts.test_suite_event(contract, code, outcome.output or outcome.reason, self.number)


def combine_item_results(results: Sequence[StepRun], values: dict[str, Json]) -> list[Json]:
    """Return what the items of a matrix left, one object an item."""
    return [
        {
            "item": step_run.item,
            "step": step_run.id,
            "state": step_run.state,
            "value": values.get(step_run.id),
        }
        for step_run in results
    ]


def attempt_step_id(run: str, step_run: StepRun) -> StepId:
    return StepId(run=run, step=step_run.id, attempt=max(1, step_run.attempt))


def retry_delay(step: model.Step, step_run: StepRun) -> float:
    """Return the seconds to wait before the next attempt."""
    policy = step.failing
    if policy.delay_seconds <= 0 or not step_run.failures:
        return 0.0
    before = step_run.failures - 1
    growth = before + 1 if policy.is_linear else policy.delay_factor**before
    return min(policy.most_delay_seconds, policy.delay_seconds * growth)


def attempt_end_events(
    journal: RunJournal, attempt: Attempt, result: AttemptResult, spent: int
) -> list[Event]:
    """Return P4: contracts, artifacts and the step's move, for one transaction."""
    body = _end_change(attempt, result, spent, journal)
    events = [journal.event(check, step=attempt.step_run.id) for check in result.contracts]
    if body.state in ("completed", "completed_empty"):
        events += [journal.event(stored, step=attempt.step_run.id) for stored in result.artifacts]
    return [*events, journal.event(body, step=attempt.step_run.id)]


def _end_change(attempt: Attempt, result: AttemptResult, spent: int, journal: RunJournal) -> StepChanged:
    outcome = result.outcome
    plain = StepChanged(
        state="completed", attempt=attempt.number, duration_ms=spent, exit_code=outcome.exit_code,
        usage=outcome.usage, output=outcome.output, output_ref=outcome.output_ref,
        output_bytes=outcome.output_bytes,
    )  # fmt: skip
    if not result.failure:
        plain = replace(
            plain, links=result.links, said_ref=outcome.transcript_ref if attempt.step.thread else None
        )
        is_warned = any(check.outcome == "warned" for check in result.contracts)
        warned = (c for c in result.contracts if c.outcome == "warned")
        said = [f"contract {c.contract}: {'; '.join(c.problems)}" for c in itertools.islice(warned, 1)]
        detail = "; ".join((*said, *result.details))
        state = "completed_empty" if result.is_empty else "completed"
        return replace(plain, state=state, is_warned=is_warned, detail=journal.scrubbed(detail))
    policy, why_text = attempt.step.failing, journal.scrubbed(result.failure)
    if result.failed_contract is not None and result.failed_contract.then:
        policy = replace(policy, then=result.failed_contract.then)
    if result.is_retryable and attempt.tried < policy.attempts:
        return replace(plain, state="retrying", detail=why_text)
    can_be_reworked = policy.then == "rework" and policy.rework_step and not attempt.step_run.matrix
    if can_be_reworked and attempt.tried == policy.attempts:
        return replace(plain, state="retrying", detail=why_text)
    return _final_failure(
        plain, result, policy, why_text, is_taken=is_failure_routed(attempt.step, attempt.context.pipeline)
    )


def is_failure_routed(step: model.Step, pipeline: model.Pipeline) -> bool:
    return step.id in step_order.steps_with_routed_failure(pipeline.steps)


def _final_failure(
    plain: StepChanged, result: AttemptResult, policy: model.FailurePolicy, why: str, *, is_taken: bool
) -> StepChanged:
    must_pass = result.failed_contract is None or result.failed_contract.must_pass
    if policy.then in ("warn", "continue") or not must_pass:
        return replace(plain, state="completed", is_warned=True, detail=why)
    if is_taken:
        return replace(plain, state="completed", is_warned=True, has_failed=True, detail=why)
    # `skip`: the run does not fail for it, and what needs it is skipped.
    return replace(plain, state="failed", is_warned=policy.then == "skip", detail=why)
