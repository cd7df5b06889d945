"""One attempt at one step: workspace and prompt made ready, what it left collected and checked.

The coordinator commits the beginning and the end.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ArtifactStored, ContractChecked, Event, StepChanged
from workbench.domain.messages import StepId, StepOutcome, StepSpec
from workbench.domain.rows import run_title
from workbench.domain.values import Json, RunLink
from workbench.effects.runtime import fault_point
from workbench.pipelines import artifacts, contracts, model, step_order, template_values, templates
from workbench.pipelines.agent_words import words_besides_prompt
from workbench.pipelines.artifact_placement import placed_files
from workbench.pipelines.documents import OutsideRoot
from workbench.pipelines.executor import (
    AttemptNotReady,
    CheckedContract,
    OnStepEvent,
    Requirement,
    RunJournal,
    WorkspacePlan,
)
from workbench.pipelines.mount_subset import SubsetReader
from workbench.pipelines.reviews import ReviewedAttempt, check_review
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.state import StepRun
from workbench.pipelines.step_files import named_source
from workbench.pipelines.step_order import step_timeout_seconds
from workbench.pipelines.template_values import TemplateValues
from workbench.pipelines.workspaces import (
    WorkspaceFailed,
    filled_workspace,
    mounted_project,
    workspace_path,
)
from workbench.text.safe import one_line

MOST_CHECK_SECONDS = 1800.0
"""How long a test suite of a contract may take."""


_Made = TypeVar("_Made")


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
        self.workspace = ""
        self.plan: WorkspacePlan | None = None
        self._mount_notes: tuple[str, ...] = ()

    # --- before it runs -----------------------------------------------------------------------------

    async def ready(self, spent_ms: int = 0, *, is_resumed: bool = False) -> StepSpec:
        """Make workspace, artifacts and words ready. Raises AttemptNotReady."""
        if self.step.unrunnable:
            raise AttemptNotReady(f"{self.step.unrunnable}, which is not run here")
        try:
            plan = self.plan = await self._filled_in(lambda: self._planned(is_resumed))
            if self.step.kind in _PREPARED_KINDS and not is_resumed:
                self._mount_notes = await self.context.executor.prepare(plan)
            return await self._filled_in(lambda: self._specified(plan, spent_ms))
        except (templates.UnresolvedTemplate, template_values.AggregateError) as error:
            raise AttemptNotReady(f"{error}") from None
        except (WorkspaceFailed, artifacts.ArtifactMissing, OutsideRoot) as error:
            raise AttemptNotReady(str(error)) from None

    async def _filled_in(self, make: Callable[[], _Made]) -> _Made:
        """Return what is made in a thread where it may read artifacts."""
        return make() if self._is_plain else await asyncio.to_thread(make)

    @property
    def _is_plain(self) -> bool:
        """Return whether nothing is read to fill it in, so that a thread would cost more than it."""
        step = self.step
        is_short = not (step.injections or step.validation or step.source_path)
        return step.kind == "command" and is_short and not any(templates.template_names(step.source))

    def _planned(self, is_resumed: bool) -> WorkspacePlan:
        """Return what is put into the workspace and looked for in it, with nothing left to fill in."""
        context, step = self.context, self.step
        # An item of a matrix gets a folder of its own even where the step names one folder for all.
        self.workspace = workspace_path(
            context.definition.root, context.workspace_base, step, context.pipeline, self.step_run.id,
            self._values("").fill,
        )  # fmt: skip
        values = self._values(self.workspace)
        fill, folder = values.fill, self.workspace
        spec = filled_workspace(step.workspace, fill)
        # A command that goes on is asked for its files once more: by them it is known where it began.
        has_files = step.kind in _PREPARED_KINDS and (step.kind == "command" or not is_resumed)
        placed = placed_files(context, step, values) if has_files else ()
        if step.kind == "command" and not placed:
            folder = mounted_project(spec, self.workspace)
        return WorkspacePlan(
            id=self.id, kind=step.kind, path=self.workspace, folder=folder, spec=spec, placed=placed,
            subsets=tuple(map(self._subsets(values).of, spec.mounts)) if has_files else (),
            project_files=self._project_files(), requirements=tuple(self._requirements(values)),
            outputs=tuple(replace(output, path=fill(output.path)) for output in step.outputs),
            outcomes=tuple(_filled_outcome(outcome, fill) for outcome in step.outcomes),
            is_checked=bool(step.contracts),
        )  # fmt: skip

    def _subsets(self, values: TemplateValues) -> SubsetReader:
        return SubsetReader(
            journal=self.context.journal, step=self.step, step_ids=self.context.state.steps,
            find=values.artifact, given=self.context.definition.mounted,
        )  # fmt: skip

    def _requirements(self, values: TemplateValues) -> Iterator[Requirement]:
        for rule in self.step.validation:
            if rule.type == "command":
                source, variables = templates.shell_command(rule.target, values.of, values.own_text)
                yield Requirement(rule=rule, source=source, variables=dict(variables))
            else:
                yield Requirement(rule=replace(rule, target=values.fill(rule.target)))

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

    @property
    def _title(self) -> str:
        return f"{run_title(self.context.row)} · {self.step_run.id}"

    def _specified(self, plan: WorkspacePlan, spent_ms: int) -> StepSpec:
        step, title, values = self.step, self._title, self.values
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
                return replace(spec, source=source, environment=facts, workspace=plan.folder)
            case "pipeline":
                written = step.source if step.branch is None else self._case(step.branch, values)
                if written == model.SKIP_CASE and step.branch is not None:
                    return replace(spec, kind="route")
                text = values.fill(step.pipeline_input)
                facts = {"input": text, "is_computed": "{{" in written, **self._subsets(values).handed_on()}
                if step.child_values:
                    facts["values"] = {name: values.fill(text) for name, text in step.child_values.items()}
                return replace(spec, source=values.fill(written), environment=facts)
            case "route":
                return spec
            case "aggregate":
                into = step.aggregate.into if step.aggregate else ""
                text = template_values.aggregate_text(step.aggregate, values)
                return replace(spec, source=text, environment={"into": into})
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
            for name in (steps if around else ())
            if name in around and name != self.step_run.id and steps[name].last_failure
        ]

    def _prompt(self, values: TemplateValues) -> str:
        before, after = words_besides_prompt(
            self.context, self.step_run, values, lambda one: self._told_source(values, one)
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

    def _told_source(self, values: TemplateValues, contract: model.Contract) -> str:
        """Return the file that a contract checks, as its agent is told; empty where it is what that says."""
        named = named_source(self.step.outputs, replace(contract, source=values.fill(contract.source)))
        if isinstance(named, model.ArtifactSpec):
            return values.fill(named.path) if named.kind == "file" else ""
        said = (output.name for output in self.step.outputs if output.kind == "stdout")
        if named in map(artifacts.injected_path, said):
            return ""
        is_needed = contract.type not in model.REVIEW_TYPES
        return named or (contracts.USUAL_SOURCES[0] if is_needed else "")

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
        is_first = review is not None or self.step.failing.is_tier_kept
        retries = 0 if is_first else max(0, self.number - 1)
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
        assert self.plan is not None
        executor = self.context.executor
        results = await executor.collect(self.plan, outcome)
        if results.missing:
            return AttemptResult(outcome=outcome, failure="; ".join(results.missing))
        stored = list(results.stored)
        checks: list[ContractChecked] = []
        for contract in self.step.contracts:
            checked = await self._checked(self.plan, contract, on_event, stored)
            check = checked.event
            checks.append(check)
            outcome = replace(outcome, usage=outcome.usage.plus(check.usage))
            if checked.repaired is not None:
                artifacts.seal_repaired(self.context.journal, stored, check, checked.repaired)
            if check.outcome == "failed" or (check.outcome == "warned" and self._is_tried_again(contract)):
                text = f"contract {contract.written_type}: {'; '.join(check.problems)}"
                return AttemptResult(
                    outcome=outcome, contracts=tuple(checks), failure=text, failed_contract=contract,
                    artifacts=tuple(stored),
                )  # fmt: skip
        is_empty = any(not output.is_implied for output in self.step.outputs) and not stored
        return AttemptResult(
            outcome=outcome, contracts=tuple(checks), artifacts=tuple(stored), is_empty=is_empty,
            details=(*results.left_out, *self._mount_notes), links=(*results.links, *outcome.links),
        )  # fmt: skip

    def _is_tried_again(self, contract: model.Contract) -> bool:
        return self.step.failing.attempts > self.tried and contract.then not in ("warn", "continue")

    @property
    def tried(self) -> int:
        """Return how many attempts of this round there are with this one."""
        return self.step_run.failures + 1

    async def _checked(
        self,
        plan: WorkspacePlan,
        contract: model.Contract,
        on_event: OnStepEvent,
        stored: Sequence[ArtifactStored],
    ) -> CheckedContract:
        values = self.values
        if contract.type == "test_suite":
            return CheckedContract(event=await self._suite(contract, values, on_event))
        contract = replace(contract, source=values.fill(contract.source))
        if contract.type not in model.REVIEW_TYPES:
            return await self.context.executor.check(plan, contract)
        reviewed = ReviewedAttempt(
            context=self.context, plan=plan, title=self._title, collected=stored, reviewer=self._reviewer
        )
        return await check_review(reviewed, contract, on_event)

    async def _suite(
        self, contract: model.Contract, values: TemplateValues, on_event: OnStepEvent
    ) -> ContractChecked:
        source, variables = templates.shell_command(contract.command, values.of, values.own_text)
        folder = self.context.definition.root if contract.dir == "project_root" else self.workspace
        spec = StepSpec(
            id=self.id, kind="command", title=f"{self.step_run.id} contract", source=source, workspace=folder,
            environment=dict(variables), timeout_seconds=MOST_CHECK_SECONDS,
        )  # fmt: skip
        outcome = await self.context.executor.run(spec, on_event)
        code = outcome.exit_code if outcome.exit_code is not None or outcome.state != "completed" else 0
        return contracts.test_suite_event(contract, code, outcome.output or outcome.reason, self.number)


_PREPARED_KINDS: Final = ("prompt", "command", "aggregate")
"""Steps that work in a workspace."""


def _filled_outcome(outcome: model.OutcomeSpec, fill: Callable[[str], str]) -> model.OutcomeSpec:
    with contextlib.suppress(templates.UnresolvedTemplate, artifacts.ArtifactMissing):
        return replace(outcome, source=fill(outcome.source))
    return outcome  # as it is written it is found nowhere, which the run says


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
