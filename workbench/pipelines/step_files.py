"""The workspaces of a run on the machine that has them: prepared, collected and checked on its disk."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ArtifactStored
from workbench.domain.step_messages import StepOutcome, StepSpec
from workbench.effects.child_processes import HookExit, ProcessNotStarted, run_hook
from workbench.effects.file_primitives import FileRefused
from workbench.effects.folders import put_file
from workbench.effects.git import GitFailed
from workbench.effects.search_path import own_environment
from workbench.pipelines import artifacts, contracts, model
from workbench.pipelines.documents import OutsideRoot, ProjectFiles
from workbench.pipelines.executor import (
    AttemptNotReady,
    CheckedContract,
    PlacedFile,
    Requirement,
    ReviewedFiles,
    StepResults,
    WorkspacePlan,
)
from workbench.pipelines.outcomes import find_links
from workbench.pipelines.run_journal import ExactBlobs
from workbench.pipelines.workspaces import WorkspaceFailed, Workspaces
from workbench.text.safe import one_line

MOST_REQUIREMENT_SECONDS: Final = 60.0
"""How long a command may take that has to succeed before a step runs."""
MOST_REVIEWED: Final = 50_000
"""Characters of the file that is reviewed."""


RequirementRunner = Callable[[Requirement, str, Mapping[str, str]], HookExit]
"""Runs the command of a requirement in a folder. Raises AttemptNotReady and ProcessNotStarted."""


def run_requirement_outside(
    requirement: Requirement, folder: str, environment: Mapping[str, str]
) -> HookExit:
    """Run such a command as the user, with no program of a workspace that only PATH finds."""
    return run_hook(requirement.source, b"", folder, own_environment(environment), MOST_REQUIREMENT_SECONDS)


class StepFiles(Struct, kw_only=True):
    """The workspaces of one run on one machine."""

    blobs: ExactBlobs
    workspaces: Workspaces
    files: ProjectFiles
    """What the run was started with: schemas and criteria, never the project as it is now."""
    run_own: contracts.OwnProgramRunner = contracts.run_own_program
    run_requirement: RequirementRunner = run_requirement_outside

    async def prepare(self, plan: WorkspacePlan) -> tuple[str, ...]:
        has_files = plan.spec.mounts or plan.spec.is_worktree or plan.project_files or plan.placed
        try:
            if has_files or plan.requirements:
                return await asyncio.to_thread(self._prepare, plan)
            return self._prepare(plan)  # a folder alone: a thread would cost more than it
        except (
            WorkspaceFailed, artifacts.ArtifactMissing, FileRefused, ProcessNotStarted, OutsideRoot,
        ) as error:  # fmt: skip
            raise AttemptNotReady(str(error)) from None

    def _prepare(self, plan: WorkspacePlan) -> tuple[str, ...]:
        notes = self.workspaces.prepare(plan.spec, plan.path, plan.project_files, plan.subsets)
        for file in plan.placed:
            self._place(plan.path, file)
        for requirement in plan.requirements:
            why = self._unmet(plan, requirement)
            if why:
                message = requirement.rule.message
                raise AttemptNotReady(f"validation: {message}{': ' if message else ''}{why}")
        return notes

    def _place(self, workspace: str, file: PlacedFile) -> None:
        if not file.is_optional:
            artifacts.write_artifact(self.blobs, file.artifact, workspace, file.path)
        elif artifacts.path_kind(workspace, file.path) is None:
            with contextlib.suppress(FileRefused, artifacts.ArtifactMissing):
                artifacts.write_artifact(self.blobs, file.artifact, workspace, file.path)

    def _unmet(self, plan: WorkspacePlan, requirement: Requirement) -> str:
        rule = requirement.rule
        if rule.type == "command":
            return self._unmet_command(plan, requirement)
        if rule.type in ("json_schema", "non_empty_file"):
            kind_of = "json_schema" if rule.type == "json_schema" else "non_empty_file"
            contract = model.Contract(
                type=kind_of, written_type=rule.type, schema=rule.schema, is_repairable=False
            )
            attempt = plan.id.attempt
            check = contracts.check_contract(
                contract, plan.path, rule.target, self.files, attempt, {}, self.run_own
            ).event
            return "; ".join(check.problems) if check.outcome == "failed" else ""
        kind = artifacts.path_kind(plan.path, rule.target)
        is_met = kind == "folder" if rule.type == "folder_exists" else kind is not None
        return "" if is_met else f"{rule.target} is not there"

    def _unmet_command(self, plan: WorkspacePlan, requirement: Requirement) -> str:
        variables = cast("dict[str, str]", requirement.variables)
        done = self.run_requirement(requirement, plan.path, {**self.workspaces.environment, **variables})
        if done.code == 0:
            return ""
        how = "took too long" if done.timed_out else f"ended with {done.code}"
        return f"{requirement.rule.target} {how}. {done.output.decode('utf-8', 'replace').strip()[-300:]}"

    def local_folder(self, spec: StepSpec) -> str | None:
        return spec.workspace

    async def write_aggregate(self, spec: StepSpec) -> StepOutcome:
        """Write what several steps left, put together, into the workspace of an aggregate."""
        into, data = str(spec.environment.get("into", "")), spec.source.encode("utf-8", "surrogatepass")
        try:
            await asyncio.to_thread(put_file, spec.workspace, into, data)
        except (FileRefused, OSError) as error:
            return StepOutcome(state="failed", reason=f"{into} cannot be written: {error}")
        return StepOutcome(state="completed", output_bytes=len(data))

    # --- after it ran ------------------------------------------------------------------------------------

    async def collect(self, plan: WorkspacePlan, outcome: StepOutcome) -> StepResults:
        if not (plan.outputs or plan.outcomes or plan.spec.mounts or plan.kind == "pipeline"):
            return StepResults()
        try:
            return await asyncio.to_thread(self._collect, plan, outcome)
        except (FileRefused, WorkspaceFailed, OSError, artifacts.ArtifactMissing) as error:
            return StepResults(missing=(str(error),))

    def _collect(self, plan: WorkspacePlan, outcome: StepOutcome) -> StepResults:
        if plan.kind == "pipeline":
            stored = (replace(artifact, attempt=plan.id.attempt) for artifact in outcome.artifacts)
            results = StepResults(stored=tuple(stored))
        else:
            self.workspaces.give_back(plan.spec, plan.path)
            outputs = [replace(output, path=_left_at(plan, output.path)) for output in plan.outputs]
            results = artifacts.collect_artifacts(self.blobs, plan.path, outputs, outcome, plan.id.attempt)
        if plan.is_checked:
            self._lay_out(plan, results.stored)
        if results.missing or not plan.outcomes:
            return results
        links, missing = find_links(self.blobs, plan.outcomes, plan.path, results.stored)
        return replace(results, links=links, left_out=(*results.left_out, *missing))

    def _lay_out(self, plan: WorkspacePlan, stored: Sequence[ArtifactStored]) -> None:
        """Write artifacts that are in no file yet where contracts look for them."""
        if plan.kind == "pipeline":
            self.workspaces.prepare(plan.spec, plan.path)
        for artifact in stored:
            injected = artifacts.injected_path(artifact.name)
            own = artifact.path.strip("/") or artifact.name
            if plan.kind == "pipeline" or artifact.artifact_kind == "stdout":
                path = own if plan.kind == "pipeline" else injected
                artifacts.write_artifact(self.blobs, artifact, plan.path, path)

    async def check(self, plan: WorkspacePlan, contract: model.Contract) -> CheckedContract:
        return await asyncio.to_thread(
            contracts.check_contract, contract, plan.path, _checked_source(plan, contract), self.files,
            plan.id.attempt, dict(self.workspaces.environment), self.run_own,
        )  # fmt: skip

    async def read_reviewed(self, plan: WorkspacePlan, contract: model.Contract) -> ReviewedFiles:
        return await asyncio.to_thread(self._read_reviewed, plan, contract)

    def _read_reviewed(self, plan: WorkspacePlan, contract: model.Contract) -> ReviewedFiles:
        context = contract.review.context if contract.review else ()
        changes = [self._changes(plan, item.most_bytes) for item in context if item.source == "git_diff"]
        reviewed = ReviewedFiles(source=_checked_source(plan, contract), changes=tuple(changes))
        if not reviewed.source:
            return reviewed
        try:
            data = artifacts.workspace_file(plan.path, reviewed.source)
        except artifacts.ArtifactMissing as error:
            return replace(reviewed, problem=str(error))
        return replace(reviewed, text=_cut(data.decode("utf-8", "replace"), MOST_REVIEWED))

    def _changes(self, plan: WorkspacePlan, longest: int) -> str:
        try:
            text = contracts.changes_text(plan.path, self.workspaces.environment)
        except GitFailed as error:
            text = f"(there is no diff: {one_line(str(error), 200)})"
        return _cut(text or "(nothing changed since the last commit)", longest)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n… {len(text) - longest:,} more characters are not shown"


def _checked_source(plan: WorkspacePlan, contract: model.Contract) -> str:
    """Return the file that a contract checks, relative to the workspace."""
    named = contracts.named_source(plan.outputs, contract)
    if isinstance(named, model.ArtifactSpec):
        return _left_at(plan, named.path) if named.kind == "file" else artifacts.injected_path(named.name)
    if not named:
        is_needed = contract.type not in model.REVIEW_TYPES
        existing = (name for name in contracts.USUAL_SOURCES if artifacts.path_kind(plan.path, name))
        # Of a review everything is shown that the step left, where it names nothing.
        named = next(existing, contracts.USUAL_SOURCES[0] if is_needed else "")
    return _left_at(plan, named)


def _left_at(plan: WorkspacePlan, path: str) -> str:
    """Return where a declared path is: in the workspace, or below the folder that the command started in."""
    below = os.path.relpath(plan.folder, plan.path)
    if below != "." and path and not artifacts.path_kind(plan.path, path):
        return f"{below}/{path.strip('/')}"
    return path
