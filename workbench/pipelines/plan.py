"""From a pipeline to the plan of its run: what `run.started` says of each step.

Pure.
"""

from workbench.domain.runs import StepPlan
from workbench.pipelines.expanding import targets
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.order import Needs, ancestors


def plans(pipeline: Pipeline, manifest: Manifest | None) -> tuple[StepPlan, ...]:
    """Return the plan of every step in file order."""
    needs = {step.id: step.needs for step in pipeline.steps}
    return tuple(_plan(step, manifest, needs) for step in pipeline.steps)


def _plan(step: Step, manifest: Manifest | None, needs: Needs) -> StepPlan:
    contract = step.contracts[0].written_type if step.contracts else ""
    rework, back = step.failing.rework_step, [one for one in targets(step) if one in needs]
    before: frozenset[str] = ancestors(step.id, needs) if back else frozenset()
    returns = [rework] if rework else []
    returns += [one for one in back if one in before or one == step.id]
    return StepPlan(
        id=step.id, kind=step.kind, needs=step.needs, name=step.name, persona=step.persona,
        attempts=step.failing.attempts, contract=contract, is_matrix=step.matrix is not None,
        item_count=len(step.matrix.items or ()) if step.matrix else 0,
        returns=tuple(dict.fromkeys(returns)), timeout_ms=timeout_seconds(step, manifest) * 1000,
    )  # fmt: skip


def timeout_seconds(step: Step, manifest: Manifest | None) -> int:
    """Return the working time that one attempt may take, in seconds."""
    minutes = step.timeout_minutes or (manifest.runtime.default_timeout_minutes if manifest else 30)
    return minutes * 60
