"""What a pipeline says of itself and of its manifest: order, names, artifacts, templates, paths, schemas.

Owns every check that needs more than one place of a document. It reports and never stops at the first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.pipelines import forges, templates
from workbench.pipelines.checks_composition import check_composition
from workbench.pipelines.checks_contract import check_contracts
from workbench.pipelines.expanding import ENDS, rounds
from workbench.pipelines.files import Files, OutsideRoot
from workbench.pipelines.model import ArtifactSpec, Manifest, Pipeline, Step
from workbench.pipelines.order import Needs, ancestors, cycles, joined
from workbench.pipelines.problems import Place
from workbench.text.safe import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One pipeline with what its checks need."""

    pipeline: Pipeline
    place: Place
    manifest: Manifest | None
    files: Files
    needs: Needs
    steps: Mapping[str, Step]
    places: Mapping[str, Place]
    """Of each step, by its path: two may have one id."""
    rounds: tuple[frozenset[str], ...] = ()
    """Steps that a way back does again, one set for each."""

    def at(self, step: Step) -> Place:
        """Return the place of a step in its file."""
        return self.places.get(step.path, self.place)

    def before(self, step: Step) -> frozenset[str]:
        """Return what ends before a step begins."""
        return ancestors(step.id, self.needs)

    def within(self, step: Step, *path: str | int) -> Place:
        """Return the place of a member of a step, or of the nearest thing above it that is there.

        Args:
            step: the step.
            path: names of members, and numbers of items that are mappings.
        """
        place = self.at(step)
        for name in path:
            if isinstance(name, str):
                below = place.member(name)
            else:
                below = next(iter(mappings(place)[name : name + 1]), None)
            if below is None:
                return place
            place = below
        return place


def mappings(place: Place) -> list[Place]:
    """Return the items of a list that are mappings: what is read of it, and nothing else."""
    return [one for one in place.items() if one.node.members is not None]


def check_pipeline(pipeline: Pipeline, place: Place, manifest: Manifest | None, files: Files) -> None:
    """Report everything that is wrong between the parts of a pipeline."""
    # Of two steps with one id the first counts, so that a circle through it is found beside the duplicate.
    needs: dict[str, tuple[str, ...]] = {}
    for step in pipeline.steps:
        needs.setdefault(step.id, step.needs)
    steps: dict[str, Step] = {}
    check = Check(
        pipeline=pipeline, place=place, manifest=manifest, files=files, needs=needs, steps=steps,
        places={one.path: one for one in places_of(place)}, rounds=rounds(pipeline.steps),
    )  # fmt: skip
    for step in pipeline.steps:
        if step.id in steps:
            _member(check.at(step), "id").error(
                "duplicate_step",
                f"two steps are called {one_line(step.id, 60)}, the first in line {steps[step.id].line}",
            )
        steps.setdefault(step.id, step)
    _outputs(check)
    for step in pipeline.steps:
        _order(check, step)
        _persona(check, step)
        _artifacts(check, step)
        _templates(check, step)
        _paths(check, step)
        _routes(check, step)
        check_composition(check, step)
        check_contracts(check, step)
    for circle in cycles(needs):
        first = steps[circle[0]]
        check.within(first, "dependencies").error(
            "cycle", f"the steps wait for one another: {joined(circle)}"
        )


def places_of(place: Place) -> Iterator[Place]:
    """Yield the place of every step, also of those within loops."""
    steps = place.member("steps")
    for one in steps.items() if steps else ():
        yield one
        loop = one.member("loop")
        if loop is not None:
            yield from places_of(loop)


def _outputs(check: Check) -> None:
    """Report outputs of the pipeline that nothing leaves; a run is not stopped by them."""
    place = check.place.member("pipeline_outputs")
    for output in check.pipeline.outputs:
        here = (place.member(output.name) if place else None) or check.place
        step = check.steps.get(output.step)
        if step is None:
            here.warn("unknown_step", f"there is no step {one_line(output.step, 60)}")
        elif not _may_leave_more(step) and output_named(step, output.artifact) is None:
            here.warn(
                "unknown_artifact", f"{output.step} declares no artifact {one_line(output.artifact, 60)}"
            )


def _may_leave_more(step: Step) -> bool:
    """Return whether a step hands on what another pipeline says, or what only another program knows."""
    is_iteration = step.matrix is not None and step.matrix.is_iteration
    return step.kind == "pipeline" or is_iteration or bool(step.unrunnable)


def _member(place: Place, name: str) -> Place:
    return place.member(name) or place


def _order(check: Check, step: Step) -> None:
    place = check.within(step, "dependencies")
    items = list(place.items()) or [place]
    for number, need in enumerate(step.needs):
        if need not in check.steps:
            here = items[number] if number < len(items) else place
            known = ", ".join(list(check.steps)[:8])
            here.error("unknown_step", f"there is no step {one_line(need, 60)}; there are {known}")


def _persona(check: Check, step: Step) -> None:
    manifest = check.manifest
    if manifest is None:
        return
    names: list[tuple[str, tuple[str, ...]]] = [(step.persona, ("persona",))] if step.persona else []
    if step.compaction and step.compaction.persona:
        names.append((step.compaction.persona, ("handover", "compaction", "persona")))
    for name, path in names:
        forms = _forms(name)
        if not forms:
            message = "a persona can name nothing but {{ forge.type }} and the like"
            check.within(step, *path).error("wrong_value", message)
        elif not any(form in manifest.personas for form in forms):
            known = ", ".join(manifest.personas) or "none"
            check.within(step, *path).error(
                "unknown_persona",
                f"there is no persona {one_line(' or '.join(forms), 120)}; known: {one_line(known, 300)}",
            )
    if step.adapter and step.adapter not in manifest.adapters:
        known = ", ".join(manifest.adapters)
        check.within(step, "adapter").error(
            "unknown_adapter", f"there is no adapter {one_line(step.adapter, 60)}; known: {known}"
        )


def _forms(name: str) -> list[str]:
    """Return what the name of a persona may come to: one for each kind of code host where it names that."""
    if "{{" not in name:
        return [name]
    known = [{f"forge.{key}": fact for key, fact in forges.of_kind(kind).items()} for kind in forges.KINDS]
    if not all(wanted in known[0] for wanted in templates.names(name)) or "{{" in templates.filled(
        name, lambda wanted: known[0].get(wanted, "")
    ):
        return []
    return [templates.filled(name, facts.__getitem__) for facts in known]


def output_named(step: Step, name: str) -> ArtifactSpec | None:
    """Return the artifact that a step declares by its name, its path or its file's name."""
    for output in step.outputs:
        if name in (output.name, output.path, output.path.rstrip("/").rpartition("/")[2]):
            return output
    return None


def _artifacts(check: Check, step: Step) -> None:
    if not step.injections and step.matrix is None and not step.outputs:
        return
    before = check.before(step)
    place = check.within(step, "memory", "inject_artifacts")
    # An artifact of another pipeline is named where it is read, and is no injection of this one.
    items = [one for one in mappings(place) if one.member("pipeline") is None]
    for number, wanted in enumerate(step.injections):
        here = items[number] if number < len(items) else place
        _wanted(check, here, wanted.step, wanted.artifact, before)
        _artifact_name(here, wanted.name)
    matrix = step.matrix
    if matrix and matrix.step:
        _wanted(check, check.within(step, "strategy", "items_source"), matrix.step, matrix.artifact, before)
    names = [output.name for output in step.outputs]
    for name in names:
        _artifact_name(check.within(step, "output_artifacts"), name)
    for name in {name for name in names if names.count(name) > 1}:
        check.within(step, "output_artifacts").error(
            "wrong_value", f"two artifacts are called {one_line(name, 60)}"
        )


def _wanted(check: Check, place: Place, step_id: str, artifact: str, before: frozenset[str]) -> None:
    step = check.steps.get(step_id)
    if step is None:
        place.error("unknown_step", f"there is no step {one_line(step_id, 60)}")
        return
    if step_id not in before:
        place.error(
            "not_an_ancestor",
            f"{one_line(step_id, 60)} does not end before this step begins; add it to dependencies",
        )
    if output_named(step, artifact) is None and not _may_leave_more(step):
        known = ", ".join(output.name for output in step.outputs) or "nothing"
        place.error(
            "unknown_artifact",
            f"{step_id} declares no artifact {one_line(artifact, 60)}; it declares {one_line(known, 200)}",
        )


def template_texts(step: Step) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text of a step that may hold templates, with its place."""
    if step.kind in ("prompt", "command"):
        yield ("exec", "source"), step.source
    if step.kind == "pipeline":
        yield ("pipeline",), step.source
        yield ("input",), step.pipeline_input
    if step.branch:
        yield ("branch", "on"), step.branch.on
    if step.aggregate:
        yield ("aggregate", "from"), step.aggregate.source
    if step.gate:
        yield ("gate", "prompt"), step.gate.prompt
    yield ("workspace", "root"), step.workspace.root
    yield ("workspace", "branch"), step.workspace.branch
    for number, output in enumerate(step.outputs):
        yield ("output_artifacts", number, "path"), output.path
    for number, contract in enumerate(step.contracts):
        yield ("handover", "contracts", number, "source"), contract.source
        yield ("handover", "contracts", number, "command"), contract.command
    for number, rule in enumerate(step.validation):
        yield ("validation", number, "target"), rule.target


def _templates(check: Check, step: Step) -> None:
    if step.unrunnable:
        return  # named as a whole; what its templates mean is known elsewhere
    known = known_names(step)
    for path, text in template_texts(step):
        for name in dict.fromkeys(templates.names(text)):
            why = unresolved(check, step, name, known)
            if why:
                _at_text(check, step, path).error("unresolved_template", f"{{{{ {name} }}}}: {why}")
        for text_of_it in templates.expressions(text):
            message = f"{{{{ {one_line(text_of_it, 80)} }}}} is no name, so it stays as it is"
            _at_text(check, step, path).warn("not_run", message)


def _at_text(check: Check, step: Step, path: tuple[str | int, ...]) -> Place:
    """Return where a text stands that has two names: `script`, and the one contract of `contract`."""
    if path == ("exec", "source") and check.at(step).member("script") is not None:
        return check.within(step, "script")
    handover = check.at(step).member("handover")
    if "contracts" in path and handover is not None and handover.member("contracts") is None:
        return check.within(step, "handover", "contract", path[-1])
    return check.within(step, *path)


def known_names(step: Step) -> frozenset[str]:
    """Return the template names that a step has besides `step/artifact`."""
    injected = {wanted.name for wanted in step.injections}
    named = {f"artifacts.{name}" for name in injected}
    return templates.ALWAYS | injected | named | {f"{name}.path" for name in named}


def unresolved(check: Check, step: Step, name: str, known: frozenset[str]) -> str:
    """Return why a template names nothing that the step has; empty if it does."""
    name = templates.canonical(name)
    if name in known or name.startswith("input."):
        return ""
    first, _, rest = name.partition(".")
    if first in templates.ITEM:
        return "" if step.matrix else "only a step with a matrix has an item"
    if first == "project":
        manifest = check.manifest
        is_there = manifest is None or templates.member(manifest.project, rest) is not None
        return "" if is_there else f"the manifest's project has no {rest}"
    if first in ("forge", "ontology", "gate"):
        return _unresolved_fact(check, step, first, rest)
    other, is_output, _ = name.partition(".output")
    if not is_output:
        other, is_output = name.removesuffix(".outcome"), name.endswith(".outcome")
    if is_output and other in check.steps:
        return "" if _is_before(check, other, step) else f"{other} does not end before this step begins"
    other, slash, artifact = name.partition("/")
    if not slash:
        return "no artifact is injected under this name, and no step has it"
    if other not in check.steps:
        return f"there is no step {other}"
    if output_named(check.steps[other], artifact) is None and not _may_leave_more(check.steps[other]):
        return f"{other} declares no artifact {artifact}"
    return "" if _is_before(check, other, step) else f"{other} does not end before this step begins"


def _is_before(check: Check, other: str, step: Step) -> bool:
    """Return whether a step ends before another begins, or does so in a round before."""
    return other in check.before(step) or any(other in one and step.id in one for one in check.rounds)


def _unresolved_fact(check: Check, step: Step, kind: str, rest: str) -> str:
    """Return what is wrong with a template that names the code host, the ontology or an answer."""
    if kind == "forge":
        return "" if rest in forges.NAMES else f"known are forge.{', forge.'.join(sorted(forges.NAMES))}"
    if kind == "ontology":
        return "" if check.manifest is None or check.manifest.ontology else "the manifest has no ontology"
    gate, _, what = rest.rpartition(".")
    if gate not in check.steps or check.steps[gate].kind != "gate":
        return f"there is no gate {gate}"
    if gate not in check.before(step):
        return f"{gate} does not end before this step begins"
    return "" if what in ("text", "choice", "key", "reason") else "a gate has text and choice"


def _paths(check: Check, step: Step) -> None:
    for number, output in enumerate(step.outputs):
        places = mappings(check.within(step, "output_artifacts"))
        if output.path and number < len(places):
            _inside(_member(places[number], "path"), output.path, "the path of an artifact")
    for number, mount in enumerate(step.workspace.mounts):
        places = mappings(check.within(step, "workspace", "mount"))
        place = places[number] if number < len(places) else check.at(step)
        _source(check, _member(place, "source"), mount.source)
        _inside(_member(place, "target"), mount.target.lstrip("/"), "the target of a mount")
    if step.workspace.ref and step.workspace.ref not in check.steps:
        check.within(step, "workspace", "ref").error(
            "unknown_step", f"there is no step {one_line(step.workspace.ref, 60)}"
        )
    if step.source_path:
        _prompt_file(check, check.within(step, "exec", "source_path"), step.source_path)
    if step.workspace.root and "{{" not in step.workspace.root:
        _inside(check.within(step, "workspace", "root"), step.workspace.root, "workspace.root")


def _source(check: Check, place: Place, path: str) -> None:
    try:
        if "{{" not in path and not check.files.is_folder(path) and check.files.text(path) is None:
            place.warn("missing_file", f"{one_line(path, 120)} is not there to be mounted", stops_run=True)
    except OutsideRoot:
        place.error(
            "path_outside", f"{one_line(path, 120)} leads out of the project; only what is in it is mounted"
        )


def _prompt_file(check: Check, place: Place, path: str) -> None:
    try:
        text = check.files.text(path)
    except OutsideRoot:
        place.error("path_outside", f"{one_line(path, 120)} leads out of the project; keep it inside")
        return
    if text is None:
        place.warn("missing_file", f"the prompt {one_line(path, 120)} is not there", stops_run=True)


def _artifact_name(place: Place, name: str) -> None:
    """Report a name that no file below `artifacts/` can have, or that would not stay in its line."""
    if not name.isprintable() or name in (".", ".."):
        place.error("wrong_value", f"{one_line(name, 60)} cannot be the name of an artifact")
    else:
        _inside(place, f"artifacts/{name}", "the name of an artifact")


def _inside(place: Place, path: str, what: str) -> None:
    from workbench.pipelines.files import inside

    try:
        inside(path)
    except OutsideRoot:
        place.error("path_outside", f"{what} leads out: {one_line(path, 120)}")


def _routes(check: Check, step: Step) -> None:
    rework = step.failing.rework_step
    place = check.within(step, "retry", "rework_step")
    if step.failing.then == "rework" and not rework:
        check.within(step, "handover", "contract").error(
            "missing_field", "on_failure: rework needs rework_step, the step that mends it"
        )
    elif rework and rework not in check.steps:
        place.error("unknown_step", f"there is no step {one_line(rework, 60)} to rework with")
    for key, target in (step.gate.targets if step.gate else {}).items():
        if target not in ENDS and target not in check.steps:
            check.within(step, "gate", "choices").error(
                "unknown_step", f"the choice {key} leads to {one_line(target, 60)}, which is no step"
            )
