"""One attempt at one step: workspace and prompt made ready, what it left collected and checked.

The coordinator commits the beginning and the end.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ArtifactStored, ContractChecked, Event, StepChanged
from workbench.domain.rows import run_title
from workbench.domain.step_messages import StepId, StepOutcome, StepSpec
from workbench.domain.values import Json, RunLink
from workbench.effects.fault_points import fault_point
from workbench.pipelines import artifacts, contracts, model, step_order, template_values, templates
from workbench.pipelines.documents import OutsideRoot
from workbench.pipelines.executor import AttemptNotReady, CheckedContract, OnStepEvent, WorkspacePlan
from workbench.pipelines.reviews import REVIEW_PARTS, ReviewedAttempt, check_review
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.run_journal import RunJournal
from workbench.pipelines.state import StepRun
from workbench.pipelines.step_agent import agent_facts, compaction_plan, step_prompt
from workbench.pipelines.template_values import TemplateValues
from workbench.pipelines.value_origins import (
    InnerCodeRefused,
    expanded_command,
    handed_names,
    known_before_run,
    require_outer_values,
)
from workbench.pipelines.workspace_plan import PREPARED_KINDS, inherited_subset, plan_workspace
from workbench.pipelines.workspaces import WorkspaceFailed
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line

MOST_CHECK_SECONDS = 1800.0
"""How long a test suite of a contract may take."""


_ResultT = TypeVar("_ResultT")


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

    def __init__(
        self,
        context: RunContext,
        step: model.Step,
        step_run: StepRun,
        number: int,
        *,
        is_last: bool = False,
    ) -> None:
        """`is_last`: a person said that it is done, so no other attempt follows, whatever a check says."""
        self.context, self.step, self.step_run, self.number = context, step, step_run, number
        self.is_last = is_last
        self.id = StepId(run=context.journal.run_id, step=step_run.id, attempt=number)
        self.workspace = ""
        self.plan: WorkspacePlan | None = None
        self._mount_notes: tuple[str, ...] = ()

    # --- before it runs -----------------------------------------------------------------------------

    async def ready(self, spent_ms: int = 0, *, is_resumed: bool = False) -> StepSpec:
        """Prepare workspace, artifacts and prompt. Raises AttemptNotReady."""
        if self.step.unrunnable:
            raise AttemptNotReady(f"{self.step.unrunnable}, which is not run here")
        try:
            require_outer_values(
                self.step, self.context.definition.files(), self.values.own_text,
                self.context.definition.handed, self._is_accepted,
            )  # fmt: skip
            plan = self.plan = await self._filled(lambda: plan_workspace(self.values, is_resumed=is_resumed))
            self.workspace = plan.path
            if self.step.kind in PREPARED_KINDS and not is_resumed:
                self._mount_notes = await self.context.workspaces.prepare(plan)
            return await self._filled(lambda: self._spec(plan, spent_ms))
        except (
            templates.UnresolvedTemplate, template_values.AggregateError, WorkspaceFailed,
            artifacts.ArtifactMissing, OutsideRoot, InnerCodeRefused,
        ) as error:  # fmt: skip
            raise AttemptNotReady(str(error)) from None

    def _is_accepted(self, command: str) -> bool:
        """Return whether a person accepted a command with its values as they are."""
        definition = self.context.definition
        known = known_before_run(
            self.context.manifest, definition.input, definition.values, definition.handed
        )
        expanded = expanded_command(command, self.values.own_text, known)
        return self.context.journal.keyed(expanded.encode("utf-8", "surrogatepass")) in definition.accepted

    async def _filled(self, make: Callable[[], _ResultT]) -> _ResultT:
        """Call a function that fills templates, in a thread where it may read artifacts or files."""
        step = self.step
        reads = step.kind != "command" or step.injections or step.validation or step.source_path
        if not reads and not any(templates.template_names(step.source)):
            return make()  # a thread would cost more than it
        return await asyncio.to_thread(make)

    @property
    def values(self) -> TemplateValues:
        return TemplateValues(
            run=self.context, step=self.step, step_run=self.step_run, attempt=self.number,
            workspace=self.workspace,
        )  # fmt: skip

    @property
    def _title(self) -> str:
        return f"{run_title(self.context.row)} · {self.step_run.id}"

    def _spec(self, plan: WorkspacePlan, spent_ms: int) -> StepSpec:
        step, values = self.step, self.values
        seconds = max(1.0, step.timeout_seconds(self.context.manifest) - spent_ms / 1000)
        spec = StepSpec(
            id=self.id, kind=step.kind, title=self._title, workspace=self.workspace, timeout_seconds=seconds,
            grants=self.context.definition.grants,
            keeps_output=any(output.kind == "stdout" for output in step.outputs), thread=step.thread,
            sandbox=step.sandbox, in_project=plan.in_project,
        )  # fmt: skip
        match step.kind:
            case "command":
                source, variables = templates.shell_command(values.source_text(), values.of, values.own_text)
                failure = self._failure_before()
                facts: dict[str, Json] = {
                    **variables, **({"WORKBENCH_LAST_FAILURE": failure} if failure else {}),
                }  # fmt: skip
                return replace(spec, source=source, environment=facts, workspace=plan.folder)
            case "pipeline":
                return self._pipeline_spec(spec, values)
            case "route":
                return spec
            case "aggregate":
                into = step.aggregate.into if step.aggregate else ""
                text = template_values.aggregate_text(step.aggregate, values)
                return replace(spec, source=text, environment={"into": into})
            case "prompt":
                agent = agent_facts(values, values.persona_name(step.persona))
                compaction = compaction_plan(step, self.context.manifest)
                return replace(
                    spec, source=step_prompt(values, self._mount_notes), relay_percent=compaction.percent,
                    context_window=compaction.window, stall_seconds=self._stall_seconds(), **agent,
                )  # fmt: skip
            case "gate":
                prompt = step.gate.prompt if step.gate else ""
                return replace(spec, source=values.fill(prompt) or f"{self.step_run.id}?")

    def _stall_seconds(self) -> float:
        manifest = self.context.manifest
        return manifest.runtime.stall_seconds if manifest else 0.0

    def _pipeline_spec(self, spec: StepSpec, values: TemplateValues) -> StepSpec:
        step = self.step
        name = step.source if step.branch is None else _branch_case(step.branch, values)
        if name == model.SKIP_CASE and step.branch is not None:
            return replace(spec, kind="route")
        text = values.fill(step.pipeline_input)
        facts = {"input": text, "is_computed": "{{" in name, **inherited_subset(values)}
        if handed := handed_names(step, self.context.definition.handed):
            facts["handed"] = list(handed)
        if step.child_values:
            facts["values"] = {name: values.fill(text) for name, text in step.child_values.items()}
        return replace(spec, source=values.fill(name), environment=facts)

    def _failure_before(self) -> str:
        failures = (f"{name}: {why}" for name, why in self.context.earlier_failures(self.step, self.step_run))
        return self.step_run.detail or "\n".join(failures)

    # --- after it ran -------------------------------------------------------------------------------

    async def collect_outcome(self, outcome: StepOutcome, on_event: OnStepEvent) -> AttemptResult:
        """Collect and check what a completed attempt left."""
        fault_point("step.ended")
        assert self.plan is not None
        results = await self.context.workspaces.collect(self.plan, outcome)
        if results.missing:
            # A file that its agent asked to write is missing where that question expired.
            outcome = replace(outcome, is_unanswered=bool(outcome.unanswered))
            return AttemptResult(outcome=outcome, failure="; ".join(results.missing))
        stored = list(results.stored)
        checks: list[ContractChecked] = []
        for number, contract in enumerate(self.step.contracts, 1):
            checked = await self._checked(self.plan, contract, number, on_event, stored)
            check = _scrubbed_check(checked.event)
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
            details=(*results.left_out, *self._mount_notes),
            links=tuple(_scrubbed_link(link) for link in (*results.links, *outcome.links)),
        )  # fmt: skip

    def _is_tried_again(self, contract: model.Contract) -> bool:
        is_tried = self.step.failing.attempts > self.tried and not self.is_last
        return is_tried and contract.then not in ("warn", "continue")

    @property
    def tried(self) -> int:
        """Return how many attempts of this round there are with this one."""
        return self.step_run.failures + 1

    async def _checked(
        self,
        plan: WorkspacePlan,
        contract: model.Contract,
        number: int,
        on_event: OnStepEvent,
        stored: Sequence[ArtifactStored],
    ) -> CheckedContract:
        values, part = self.values, self._contract_part(number)
        if contract.type == "test_suite":
            return CheckedContract(event=await self._suite(contract, values, part, on_event))
        contract = replace(contract, source=values.fill(contract.source))
        if contract.type not in model.REVIEW_TYPES:
            return await self.context.workspaces.check(plan, contract)
        reviewed = ReviewedAttempt(values=values, plan=plan, title=self._title, stored=stored, part=part)
        return await check_review(reviewed, contract, on_event)

    def _contract_part(self, number: int) -> str:
        """Return the part of the attempt that checks a contract; no two contracts have the same."""
        before, contract = self.step.contracts[: number - 1], self.step.contracts[number - 1]
        if contract.type not in REVIEW_PARTS:
            return f"contract-{number}"
        same = sum(other.type == contract.type for other in before)
        return f"{REVIEW_PARTS[contract.type]}-{same + 1}" if same else REVIEW_PARTS[contract.type]

    async def _suite(
        self, contract: model.Contract, values: TemplateValues, part: str, on_event: OnStepEvent
    ) -> ContractChecked:
        source, variables = templates.shell_command(contract.command, values.of, values.own_text)
        assert self.plan is not None
        in_root = contract.dir == "project_root"
        folder = self.context.definition.root if in_root else self.workspace
        spec = StepSpec(
            id=self.id.with_part(part), kind="command", title=f"{self.step_run.id} contract", source=source,
            workspace=folder, environment=dict(variables), timeout_seconds=MOST_CHECK_SECONDS,
            sandbox=self.values.level(), in_project=in_root or self.plan.in_project,
        )  # fmt: skip
        outcome = await self.context.executor.run(spec, on_event)
        if outcome.state == "lost":  # a check runs again, as after the death of a driver; its step does not
            spec = replace(spec, id=self.id.with_part(f"{part}-again"))
            outcome = await self.context.executor.run(spec, on_event)
        code = outcome.exit_code if outcome.exit_code is not None or outcome.state != "completed" else 0
        return contracts.test_suite_event(contract, code, outcome.output or outcome.reason, self.number)


def _branch_case(branch: model.Branch, values: TemplateValues) -> str:
    """Return the pipeline that a branch names for its value, else its default. Raises AttemptNotReady."""
    value = values.fill(branch.on).strip()
    for name in (value, "_default", "default"):
        if name in branch.cases:
            return branch.cases[name]
    cases = ", ".join(branch.cases)
    raise AttemptNotReady(
        f"the branch has no case for {one_line(value, 80) or 'nothing'}, only {cases}, and no default"
    )


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
        usage=outcome.usage, output=journal.scrubbed(outcome.output), output_ref=outcome.output_ref,
        output_bytes=outcome.output_bytes,
    )  # fmt: skip
    if not result.failure:
        plain = replace(
            plain, links=result.links, said_ref=outcome.transcript_ref if attempt.step.thread else None
        )
        is_warned = any(check.outcome == "warned" for check in result.contracts)
        warned = (c for c in result.contracts if c.outcome == "warned")
        warnings = [f"contract {c.contract}: {'; '.join(c.problems)}" for c in itertools.islice(warned, 1)]
        detail = "; ".join((*warnings, *result.details))
        state = "completed_empty" if result.is_empty else "completed"
        return replace(plain, state=state, is_warned=is_warned, detail=journal.scrubbed(detail))
    policy = attempt.step.policy_for(result.failed_contract)
    why_text = journal.scrubbed(result.failure)
    if result.is_retryable and attempt.tried < policy.attempts and not attempt.is_last:
        return replace(plain, state="retrying", detail=why_text)
    can_be_reworked = (
        policy.then == "rework" and policy.rework_step and not (attempt.step_run.matrix or attempt.is_last)
    )
    if can_be_reworked and attempt.tried == policy.attempts:
        return replace(plain, state="retrying", detail=why_text, rework_step=policy.rework_step)
    return _final_failure(
        plain, result, policy, why_text, is_taken=is_failure_routed(attempt.step, attempt.context.pipeline)
    )


def _scrubbed_check(check: ContractChecked) -> ContractChecked:
    """Return a check without secrets, whatever machine made it."""
    source, summary = (scrub(text).text for text in (check.source, check.summary))
    return replace(
        check, source=source, summary=summary, problems=tuple(scrub(text).text for text in check.problems),
        repairs=tuple(scrub(text).text for text in check.repairs),
    )  # fmt: skip


def _scrubbed_link(link: RunLink) -> RunLink:
    return replace(link, label=scrub(link.label).text, target=scrub(link.target).text)


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
    return replace(
        plain, state="failed", is_warned=policy.then == "skip", detail=why,
        is_unanswered=result.outcome.is_unanswered,
    )  # fmt: skip
