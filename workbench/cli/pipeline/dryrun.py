"""What a run would do, ask and be granted: `pipeline run --dry-run`. Starts nothing and writes nothing.

Owns the words. The order is that of `pipelines.order`.
"""

from argparse import Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED
from workbench.cli.render.facts import Facts
from workbench.pipelines.load import LoadedPipeline
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.order import waves
from workbench.pipelines.plan import timeout_seconds


def grants_of(loaded: LoadedPipeline) -> tuple[str, ...]:
    """Return the patterns that the personas of the pipeline's steps may use, each once."""
    found: list[str] = []
    for step in loaded.pipeline.steps if loaded.pipeline else ():
        found += _allowed(step, loaded.manifest)
    return tuple(dict.fromkeys(found))


def _allowed(step: Step, manifest: Manifest | None) -> list[str]:
    persona = manifest.personas.get(step.persona) if manifest and step.kind == "prompt" else None
    if manifest is None or persona is None:
        return []
    adapter = manifest.adapters.get(persona.adapter)
    permissions = persona.permissions or (adapter.permissions if adapter else None)
    return [pattern.text for pattern in permissions.allowed] if permissions else []


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
    if step.gate and step.gate.type == "timer":
        return f"{step.id:<24} timer  {step.gate.wait_seconds:g} s"
    facts = [f"{step.id:<24} {who}"]
    if step.matrix:
        facts.append(f"×{len(step.matrix.items)}" if step.matrix.items is not None else "× items")
    if step.contracts:
        facts.append("contract " + ", ".join(one.written_type for one in step.contracts))
    if step.failing.attempts > 1:
        facts.append(f"{step.failing.attempts} attempts")
    if step.failing.then != "fail":
        facts.append(f"then {step.failing.then}")
    facts.append(f"{timeout_seconds(step, manifest) // 60} min")
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
