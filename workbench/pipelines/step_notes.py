"""What is special about a step, in words."""

from collections.abc import Iterator

from workbench.domain.values import SandboxLevel
from workbench.pipelines.model import Adapter, Manifest, Pipeline, Route, Step
from workbench.text.safe import one_line


def wait_text(step: Step) -> str:
    """Return how long a timer waits, in words; empty for every other step."""
    return f"waits {step.gate.wait_seconds:g} s" if step.gate and step.gate.type == "timer" else ""


def step_notes(step: Step, manifest: Manifest | None) -> list[str]:
    """Return what is special about a step, in words: items, contracts, attempts, failing, sandbox, time."""
    if step.route is not None:
        return [_route_text(step.route)]
    if step.gate and step.gate.type == "timer":
        return []
    notes: list[str] = []
    if step.aggregate is not None:
        return [f"{step.aggregate.strategy} into {step.aggregate.into}"]
    if step.branch is not None:
        notes.append(" / ".join(f"{case}: {name}" for case, name in step.branch.cases.items()))
    if step.matrix is not None:
        notes.append(f"x{len(step.matrix.items)}" if step.matrix.items is not None else "x?")
    if step.contracts:
        notes.append("contract " + ", ".join(contract.written_type for contract in step.contracts))
    if step.failing.attempts > 1:
        notes.append(f"{step.failing.attempts} attempts")
    if step.failing.then != "fail":
        notes.append(f"then {step.failing.then}")
    notes += _level_notes(step, manifest)
    return notes if step.kind == "gate" else [*notes, f"{step.timeout_seconds(manifest) // 60} min"]


def levels_of_steps(pipeline: Pipeline, manifest: Manifest | None) -> dict[str, SandboxLevel]:
    """Return the levels of the sandbox that steps have, by step; the others run as the user."""
    return {step.id: level for step in pipeline.steps if (level := step.level(manifest))}


def levels_of_manifest(manifest: Manifest) -> dict[str, SandboxLevel]:
    """Return the levels of the sandbox that adapters and hooks name, by their places."""
    levels: dict[str, SandboxLevel] = {}
    for adapter in manifest.adapters.values():
        if adapter.sandbox:
            levels[f"adapter {adapter.name}"] = adapter.sandbox
    for persona in manifest.personas.values():
        for hook in persona.hooks:
            if hook.sandbox:
                levels[f"hook {hook.event} {hook.matcher} of {persona.name}"] = hook.sandbox
    return levels


def _level_notes(step: Step, manifest: Manifest | None) -> Iterator[str]:
    """Yield the level of a step, and those that hooks of its persona name, each once."""
    if level := step.level(manifest):
        yield f"sandbox {level}"
    persona = manifest.personas.get(step.persona) if manifest else None
    hooks = dict.fromkeys(hook.sandbox for hook in persona.hooks if hook.sandbox) if persona else ()
    if hooks:
        yield f"hooks sandbox {', '.join(hooks)}"


def no_network_text(adapter: Adapter) -> str:
    """Return what is missing to another agent's program inside the sandbox."""
    return f"{one_line(adapter.binary, 60)} runs inside the sandbox, which has no network"


def _route_text(route: Route) -> str:
    """Return where a route leads, in words: `finish if outcome=success, else implement`."""
    ways = [f"{edge.target} if {edge.condition}" if edge.condition else edge.target for edge in route.edges]
    most = f", at most {route.most} rounds" if route.most else ""
    return f"→ {', else '.join(ways)}{most}"
