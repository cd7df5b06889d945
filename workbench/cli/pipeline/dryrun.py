"""What a run would do, ask and be granted: `pipeline run --dry-run`. Starts nothing and writes nothing.

Owns the words, also those of the screen's launch form. The order is that of `pipelines.order`.
"""

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED
from workbench.cli.render.facts import Facts
from workbench.host.steps.requests import Wish, kept_steps
from workbench.pipelines.inputs import InputRefused, check_input
from workbench.pipelines.load import LoadedPipeline
from workbench.pipelines.model import Manifest, Pattern, Pipeline, Route, Step
from workbench.pipelines.order import waves
from workbench.pipelines.plan import timeout_seconds
from workbench.text.safe import one_line


def grants_of(loaded: LoadedPipeline) -> tuple[str, ...]:
    """Return the patterns that the personas of the pipeline's steps may use, each once."""
    return _granted(loaded.pipeline.steps if loaded.pipeline else (), loaded.manifest)


def _granted(steps: Iterable[Step], manifest: Manifest | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.text for step in steps for one in allowed(step, manifest)))


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
    return found if step.kind == "gate" else [*found, f"{timeout_seconds(step, manifest) // 60} min"]


def _route_words(route: Route) -> str:
    """Return where a route leads, in words: `finish if outcome=success, else implement`."""
    ways = [f"{edge.target} if {edge.condition}" if edge.condition else edge.target for edge in route.edges]
    most = f", at most {route.most} rounds" if route.most else ""
    return f"→ {', else '.join(ways)}{most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What a run with these words would come to."""

    is_able: bool
    wrong_input: str = ""
    kept: frozenset[str] = frozenset()
    """Steps that are taken from an earlier run."""


def _tried(loaded: LoadedPipeline, wish: Wish) -> Tried:
    """Return what a wish comes to.

    Raises:
        RunRefused: it begins with a step that is not there.
    """
    pipeline = loaded.pipeline
    if pipeline is None:
        return Tried(is_able=False)
    wrong = ""
    try:
        check_input(pipeline.input, wish.input)
    except InputRefused as error:
        wrong = str(error)
    is_able = loaded.report.for_running().is_ok and not any(s.unrunnable for s in pipeline.steps)
    kept = kept_steps(pipeline, wish.from_step) if wish.from_step else ()
    return Tried(is_able=is_able and not wrong, wrong_input=wrong, kept=frozenset(kept))


def tell_plan(loaded: LoadedPipeline, wish: Wish, options: Namespace, console: Console) -> int:
    """Tell the plan; 1 if a run could not begin.

    Raises:
        RunRefused: it begins with a step that is not there.
    """
    tried, pipeline = _tried(loaded, wish), loaded.pipeline
    if options.json or options.output_format in ("json", "stream-json"):
        console.json(_facts(loaded, tried))
        return DONE if tried.is_able else FAILED
    for problem in loaded.report.for_running().ordered():
        console.note(str(problem))
    if tried.wrong_input:
        console.note(one_line(tried.wrong_input, 600))
    if pipeline is None:
        return FAILED
    _tell_steps(pipeline, loaded.manifest, tried, console)
    if not tried.is_able:
        console.say("A run could not begin as it is.")
    return DONE if tried.is_able else FAILED


def _tell_steps(pipeline: Pipeline, manifest: Manifest | None, tried: Tried, console: Console) -> None:
    count = f"{len(pipeline.steps)} step{'' if len(pipeline.steps) == 1 else 's'}"
    console.say(f"{pipeline.name}: {count}, nothing is run")
    for number, names in enumerate(waves({s.id: s.needs for s in pipeline.steps}), 1):
        for name in names:
            kept = "  taken from an earlier run" if name in tried.kept else ""
            console.say(f"  {number}  {_line(pipeline.step(name), manifest)}{kept}")
    granted = _granted((step for step in pipeline.steps if step.id not in tried.kept), manifest)
    if granted:
        console.say("Would ask for every call, or be granted for this run with --grant-personas:")
        for pattern in granted:
            console.say(f"  {pattern}")


def _line(step: Step, manifest: Manifest | None) -> str:
    who = f"agent {step.persona}" if step.kind == "prompt" and step.persona else step.kind
    who += f" {step.source}" if step.kind == "pipeline" and step.source else ""
    facts = [f"{step.id:<24} {wait_words(step) or who}", *step_words(step, manifest)]
    if step.unrunnable:
        facts.append(f"cannot run: {step.unrunnable}")
    return "  ".join(facts)


def _facts(loaded: LoadedPipeline, tried: Tried) -> Facts:
    pipeline, report = loaded.pipeline, loaded.report.for_running()
    return {
        "pipeline": pipeline.name if pipeline else None, "file": loaded.file, "ok": tried.is_able,
        "input_problem": tried.wrong_input or None,
        "steps": [
            {**_step(step, loaded.manifest), "taken_from_earlier_run": step.id in tried.kept}
            for step in _ordered(pipeline)
        ],
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
