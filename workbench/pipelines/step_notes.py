"""What is special about a step, in words."""

from workbench.pipelines.model import Manifest, Route, Step


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
    if step.sandbox is not None:
        notes.append(f"sandbox {step.sandbox}")
    return notes if step.kind == "gate" else [*notes, f"{step.timeout_seconds(manifest) // 60} min"]


def _route_text(route: Route) -> str:
    """Return where a route leads, in words: `finish if outcome=success, else implement`."""
    ways = [f"{edge.target} if {edge.condition}" if edge.condition else edge.target for edge in route.edges]
    most = f", at most {route.most} rounds" if route.most else ""
    return f"→ {', else '.join(ways)}{most}"
