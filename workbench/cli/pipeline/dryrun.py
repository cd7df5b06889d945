"""What a run would do, ask and be granted: `pipeline run --dry-run`. Starts nothing and writes nothing.

Owns the words, also those of the screen's launch form. The order is that of `pipelines.order`.
"""

from argparse import Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED
from workbench.cli.render.facts import Facts
from workbench.pipelines.load import LoadedPipeline
from workbench.pipelines.model import Manifest, Pattern, Pipeline, Route, Step
from workbench.pipelines.order import waves
from workbench.pipelines.plan import timeout_seconds


def grants_of(loaded: LoadedPipeline) -> tuple[str, ...]:
    """Return the patterns that the personas of the pipeline's steps may use, each once."""
    found: list[str] = []
    for step in loaded.pipeline.steps if loaded.pipeline else ():
        found += [pattern.text for pattern in allowed(step, loaded.manifest)]
    return tuple(dict.fromkeys(found))


def allowed(step: Step, manifest: Manifest | None) -> tuple[Pattern, ...]:
    """Return the patterns that the persona of a step may use, its own or else its adapter's."""
    persona = manifest.personas.get(step.persona) if manifest and step.kind == "prompt" else None
    if manifest is None or persona is None:
        return ()
    adapter = manifest.adapters.get(persona.adapter)
    permissions = persona.permissions or (adapter.permissions if adapter else None)
    return permissions.allowed if permissions else ()


def wait_words(step: Step) -> str:
    """Return how long a timer waits, in words; empty for every other step."""
    return f"waits {step.gate.wait_seconds:g} s" if step.gate and step.gate.type == "timer" else ""


def step_words(step: Step, manifest: Manifest | None) -> list[str]:
    """Return what is special about a step, in words: items, contracts, attempts, failing, its time."""
    if step.route is not None:
        return [_route_words(step.route)]
    if step.gate and step.gate.type == "timer":
        return []
    found: list[str] = []
    if step.aggregate is not None:
        return [f"{step.aggregate.strategy} into {step.aggregate.into}"]
    if step.branch is not None:
        found.append(" / ".join(f"{case}: {name}" for case, name in step.branch.cases.items()))
    if step.matrix is not None:
        found.append(f"×{len(step.matrix.items)}" if step.matrix.items is not None else "×?")
    if step.contracts:
        found.append("contract " + ", ".join(one.written_type for one in step.contracts))
    if step.failing.attempts > 1:
        found.append(f"{step.failing.attempts} attempts")
    if step.failing.then != "fail":
        found.append(f"then {step.failing.then}")
    return [*found, f"{timeout_seconds(step, manifest) // 60} min"]


def _route_words(route: Route) -> str:
    """Return where a route leads, in words: `finish if outcome=success, else implement`."""
    ways = [f"{edge.target} if {edge.condition}" if edge.condition else edge.target for edge in route.edges]
    most = f", at most {route.most} rounds" if route.most else ""
    return f"→ {', else '.join(ways)}{most}"


def tell_plan(loaded: LoadedPipeline, options: Namespace, console: Console) -> int:
    """Tell the plan; 1 if a run could not begin."""
    report = loaded.report.for_running()
    pipeline = loaded.pipeline
    is_able = report.is_ok and pipeline is not None and not any(s.unrunnable for s in pipeline.steps)
    if options.json or options.output_format == "json":
        console.json(_facts(loaded, is_able))
        return DONE if is_able else FAILED
    for problem in report.ordered():
        console.note(str(problem))
    if pipeline is None:
        return FAILED
    console.say(f"{pipeline.name}: {len(pipeline.steps)} steps, nothing is run")
    for number, names in enumerate(waves({s.id: s.needs for s in pipeline.steps}), 1):
        for name in names:
            console.say(f"  {number}  {_line(pipeline.step(name), loaded.manifest)}")
    granted = grants_of(loaded)
    if granted:
        console.say("Would ask for every call, or be granted for this run with --grant-personas:")
        for pattern in granted:
            console.say(f"  {pattern}")
    if not is_able:
        console.say("A run could not begin as it is.")
    return DONE if is_able else FAILED


def _line(step: Step, manifest: Manifest | None) -> str:
    who = f"agent {step.persona}" if step.kind == "prompt" and step.persona else step.kind
    facts = [f"{step.id:<24} {wait_words(step) or who}", *step_words(step, manifest)]
    if step.unrunnable:
        facts.append(f"cannot run: {step.unrunnable}")
    return "  ".join(facts)


def _facts(loaded: LoadedPipeline, is_able: bool) -> Facts:
    pipeline, report = loaded.pipeline, loaded.report.for_running()
    return {
        "pipeline": pipeline.name if pipeline else None, "file": loaded.file, "ok": is_able,
        "steps": [_step(step, loaded.manifest) for step in _ordered(pipeline)],
        "grants": list(grants_of(loaded)), "errors": [one.facts() for one in report.errors],
        "warnings": [one.facts() for one in report.warnings],
    }  # fmt: skip


def _ordered(pipeline: Pipeline | None) -> list[Step]:
    if pipeline is None:
        return []
    order = waves({step.id: step.needs for step in pipeline.steps})
    return [pipeline.step(name) for names in order for name in names]


def _step(step: Step, manifest: Manifest | None) -> Facts:
    return {
        "step_id": step.id, "kind": step.kind, "persona": step.persona, "dependencies": list(step.needs),
        "contracts": [one.written_type for one in step.contracts], "attempts": step.failing.attempts,
        "on_failure": step.failing.then, "timeout_seconds": timeout_seconds(step, manifest),
        "matrix": step.matrix is not None, "cannot_run": step.unrunnable or None,
    }  # fmt: skip
