"""From a pipeline to the plan of its run: what `run.started` says of each step.

Pure.
"""

from workbench.domain.runs import StepPlan
from workbench.pipelines.model import Manifest, Pipeline, Step


def plans(pipeline: Pipeline, manifest: Manifest | None) -> tuple[StepPlan, ...]:
    """Return the plan of every step in file order."""
    return tuple(_plan(step, manifest) for step in pipeline.steps)


def _plan(step: Step, manifest: Manifest | None) -> StepPlan:
    contract = step.contracts[0].written_type if step.contracts else ""
    rework = step.failing.rework_step
    return StepPlan(
        id=step.id, kind=step.kind, needs=step.needs, name=step.name, persona=step.persona,
        attempts=step.failing.attempts, contract=contract, is_matrix=step.matrix is not None,
        returns=(rework,) if rework else (), timeout_ms=timeout_seconds(step, manifest) * 1000,
    )  # fmt: skip


def timeout_seconds(step: Step, manifest: Manifest | None) -> int:
    """Return the working time that one attempt may take, in seconds."""
    minutes = step.timeout_minutes or (manifest.runtime.default_timeout_minutes if manifest else 30)
    return minutes * 60
