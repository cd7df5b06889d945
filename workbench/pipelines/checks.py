"""Checks that need more than one place of a document: order, names, artifacts, templates, routes, paths.

Reports every problem and never stops at the first.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from msgspec import Struct

from workbench.pipelines import code_hosts, conditions, templates
from workbench.pipelines.contracts import check_contract_definitions
from workbench.pipelines.documents import OutsideRoot, ProjectFiles, check_path_inside, reporting_outside
from workbench.pipelines.inner_code import FAILURE_NAME
from workbench.pipelines.manifest_values import own_text_of
from workbench.pipelines.model import Adapter, Manifest, Pipeline, Review, Step
from workbench.pipelines.prompt_words import is_text_of_prompt, known_template_names
from workbench.pipelines.skills import check_skills
from workbench.pipelines.step_notes import no_network_text
from workbench.pipelines.step_order import (
    END_TARGETS,
    StepNeeds,
    ancestors,
    find_cycles,
    repeated_step_sets,
    unordered_thread_steps,
)
from workbench.pipelines.value_origins import inner_values
from workbench.text.located import DocumentPlace, text_at
from workbench.text.safe import one_line

_ADAPTERS_ELSEWHERE: Final = ("browser",)
"""Adapters that Wave has without a manifest naming them, and that nothing here stands for."""


class CheckContext(Struct, frozen=True, kw_only=True):
    """One pipeline with what its checks need."""

    pipeline: Pipeline
    place: DocumentPlace
    manifest: Manifest | None
    files: ProjectFiles
    needs: StepNeeds
    steps: Mapping[str, Step]
    places: Mapping[str, DocumentPlace]
    """Of each step, by its path: two may have one id."""
    rounds: tuple[frozenset[str], ...] = ()
    """Steps that a way back does again, one set for each."""
    handed: frozenset[str] = frozenset()
    """Names whose values a run above took from an agent, an artifact or a list."""

    def at(self, step: Step) -> DocumentPlace:
        return self.places.get(step.path, self.place)

    def before(self, step: Step) -> frozenset[str]:
        """Return what ends before a step starts."""
        return ancestors(step.id, self.needs)

    def within(self, step: Step, *path: str | int) -> DocumentPlace:
        """Return the place of a member of a step, or the nearest above it; numbers count mappings only."""
        place = self.at(step)
        for name in path:
            if isinstance(name, str):
                below = place.member(name)
            else:
                below = next(iter(mapping_items(place)[name : name + 1]), None)
            if below is None:
                return place
            place = below
        return place


def mapping_items(place: DocumentPlace) -> list[DocumentPlace]:
    """Return the items of a list that are mappings: what is read of it, and nothing else."""
    return [item for item in place.items() if item.node.members is not None]


def check_pipeline(
    pipeline: Pipeline,
    place: DocumentPlace,
    manifest: Manifest | None,
    files: ProjectFiles,
    handed: frozenset[str] = frozenset(),
) -> None:
    """Report everything that is wrong between the parts of a pipeline."""
    # Of two steps with one id the first counts, so that a circle through it is found beside the duplicate.
    needs: dict[str, tuple[str, ...]] = {}
    for step in pipeline.steps:
        needs.setdefault(step.id, step.needs)
    steps: dict[str, Step] = {}
    check = CheckContext(
        pipeline=pipeline, place=place, manifest=manifest, files=files, needs=needs, steps=steps,
        places={step_place.path: step_place for step_place in step_places(place)},
        rounds=repeated_step_sets(pipeline.steps), handed=handed,
    )  # fmt: skip
    for step in pipeline.steps:
        if step.id in steps:
            _member_or_place(check.at(step), "id").error(
                "duplicate_step",
                f"two steps are called {one_line(step.id, 60)}, the first in line {steps[step.id].line}",
            )
        steps.setdefault(step.id, step)
    _check_outputs(check)
    check_skills(pipeline, place, manifest, files)
    _check_threads(check)
    _check_unique_reworks(check)
    for step in pipeline.steps:
        _check_order(check, step)
        _check_persona(check, step)
        _check_artifacts(check, step)
        _check_templates(check, step)
        _check_inner_code(check, step)
        _check_paths(check, step)
        _check_targets(check, step)
        check_composition(check, step)
        many = check.within(step, "handover", "contracts")
        places = list(many.items()) if many.path.endswith("contracts") else []
        check_contract_definitions(files, step, places, check.within(step, "handover", "contract"))
    for circle in find_cycles(needs):
        first = steps[circle[0]]
        check.within(first, "dependencies").error(
            "cycle", f"the steps wait for one another: {' → '.join(circle)}"
        )


def step_places(place: DocumentPlace) -> Iterator[DocumentPlace]:
    """Yield the place of every step, also of those within loops."""
    steps = place.member("steps")
    for step in steps.items() if steps else ():
        yield step
        loop = step.member("loop")
        if loop is not None:
            yield from step_places(loop)


def _check_outputs(check: CheckContext) -> None:
    place = check.place.member("pipeline_outputs")
    for output in check.pipeline.outputs:
        output_place = (place.member(output.name) if place else None) or check.place
        step = check.steps.get(output.step)
        if step is None:
            output_place.warn("unknown_step", f"there is no step {one_line(output.step, 60)}")
        elif not _has_unknown_outputs(step) and step.declared_output(output.artifact) is None:
            output_place.warn(
                "unknown_artifact", f"{output.step} declares no artifact {one_line(output.artifact, 60)}"
            )


def _has_unknown_outputs(step: Step) -> bool:
    is_iteration = step.matrix is not None and step.matrix.is_iteration
    return step.kind == "pipeline" or is_iteration or bool(step.unrunnable)


def _member_or_place(place: DocumentPlace, name: str) -> DocumentPlace:
    return place.member(name) or place


def _check_order(check: CheckContext, step: Step) -> None:
    place = check.within(step, "dependencies")
    items = list(place.items()) or [place]
    for number, need in enumerate(step.needs):
        if need not in check.steps:
            need_place = items[number] if number < len(items) else place
            step_ids = ", ".join(list(check.steps)[:8])
            need_place.error("unknown_step", f"there is no step {one_line(need, 60)}; there are {step_ids}")


def _check_threads(check: CheckContext) -> None:
    """Report steps of one thread that might run at the same time: neither would know what the other said."""
    for second, first in unordered_thread_steps(check.pipeline.steps, check.needs):
        message = (
            f"{one_line(second.id, 60)} and {one_line(first.id, 60)} share the thread "
            f"{one_line(second.thread, 60)}, so one has to depend on the other"
        )
        _member_or_place(check.at(second), "thread").error("unordered_thread", message)


def _check_persona(check: CheckContext, step: Step) -> None:
    manifest = check.manifest
    if manifest is None:
        return
    named: list[tuple[str, tuple[str | int, ...]]] = [(step.persona, ("persona",))] if step.persona else []
    if step.compaction and step.compaction.persona:
        named.append((step.compaction.persona, ("handover", "compaction", "persona")))
    adapters: list[tuple[str, tuple[str | int, ...]]] = [(step.adapter, ("adapter",))] if step.adapter else []
    for number, contract in enumerate(step.contracts):
        review = contract.review or Review()
        contract_path = ("handover", "contracts", number)
        named += [(review.persona, (*contract_path, "persona"))] if review.persona else []
        adapters += [(review.adapter, (*contract_path, "adapter"))] if review.adapter else []
    for name, path in named:
        _check_persona_name(check, step, name, path, manifest)
    _check_adapter_inside(check, step, manifest)
    for name, path in adapters:
        if name not in manifest.adapters:
            adapter_names = ", ".join(manifest.adapters)
            place = _text_place(check, step, path)
            if name in _ADAPTERS_ELSEWHERE:
                message = f"the adapter {name} is not run here; the manifest may name one: {adapter_names}"
                place.warn("not_run", message, stops_run=True)
                continue
            message = f"there is no adapter {one_line(name, 60)}; known: {adapter_names}"
            place.error("unknown_adapter", message)


def _check_adapter_inside(check: CheckContext, step: Step, manifest: Manifest) -> None:
    """Warn of other agents' programs that a step puts inside the sandbox, where no model can be reached."""
    if step.sandbox in (None, "outside"):
        return
    adapters = [step.agent_adapter(manifest), *_review_adapters(step, manifest)]
    texts = (no_network_text(adapter) for adapter in adapters if adapter and not adapter.is_built_in)
    for text in dict.fromkeys(texts):
        check.within(step, "sandbox").warn("no_network", text)


def _review_adapters(step: Step, manifest: Manifest) -> Iterator[Adapter | None]:
    for review in (contract.review for contract in step.contracts if contract.review):
        persona = manifest.personas.get(review.persona or step.persona)
        yield manifest.adapters.get(review.adapter or (persona.adapter if persona else ""))


def _check_persona_name(
    check: CheckContext, step: Step, name: str, path: tuple[str | int, ...], manifest: Manifest
) -> None:
    forms = code_hosts.code_host_forms(name)
    if not forms:
        message = "a persona can name nothing but {{ forge.type }} and the like"
        _text_place(check, step, path).error("wrong_value", message)
    elif not any(form in manifest.personas for form in forms):
        persona_names = ", ".join(manifest.personas) or "none"
        _text_place(check, step, path).error(
            "unknown_persona",
            f"there is no persona {one_line(' or '.join(forms), 120)}; known: {one_line(persona_names, 300)}",
        )


def _check_artifacts(check: CheckContext, step: Step) -> None:
    if not step.injections and step.matrix is None and not step.outputs:
        return
    before = check.before(step)
    place = check.within(step, "memory", "inject_artifacts")
    items = mapping_items(place)
    for number, injection in enumerate(step.injections):
        injection_place = items[number] if number < len(items) else place
        if injection.pipeline:
            _check_artifact_name(injection_place, injection.name)
            continue
        _check_wanted_artifact(
            check,
            injection_place,
            injection.step,
            injection.artifact,
            before,
            is_optional=injection.is_optional,
        )
        _check_artifact_name(injection_place, injection.name)
    matrix = step.matrix
    if matrix and matrix.step:
        _check_wanted_artifact(
            check, check.within(step, "strategy", "items_source"), matrix.step, matrix.artifact, before
        )
    names = [output.name for output in step.outputs]
    for name in names:
        _check_artifact_name(check.within(step, "output_artifacts"), name)
    for name in {name for name in names if names.count(name) > 1}:
        check.within(step, "output_artifacts").error(
            "wrong_value", f"two artifacts are called {one_line(name, 60)}"
        )


def _check_wanted_artifact(
    check: CheckContext,
    place: DocumentPlace,
    step_id: str,
    artifact: str,
    before: frozenset[str],
    *,
    is_optional: bool = False,
) -> None:
    step = check.steps.get(step_id)
    if step is None:
        place.error("unknown_step", f"there is no step {one_line(step_id, 60)}")
        return
    if step_id not in before:
        place.error(
            "not_an_ancestor",
            f"{one_line(step_id, 60)} does not end before this step starts; add it to dependencies",
        )
    declared = step.declared_output(artifact)
    if declared is not None and declared.is_implied:
        place.warn(
            "undeclared_artifact", f"{step_id} declares no artifacts, so what it prints is taken for one"
        )
    elif declared is None and not _has_unknown_outputs(step):
        declared_names = ", ".join(output.name for output in step.outputs) or "nothing"
        declares = one_line(declared_names, 200)
        message = f"{step_id} declares no artifact {one_line(artifact, 60)}; it declares {declares}"
        if is_optional:
            place.warn("unknown_artifact", f"{message}; it is optional, so the step runs without it")
        else:
            place.error("unknown_artifact", message)


def template_texts(step: Step) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text of a step that may hold templates, with its place."""
    if step.kind in ("prompt", "command"):
        yield ("exec", "source"), step.source
    if step.kind == "pipeline":
        yield ("pipeline",), step.source
        yield ("input",), step.pipeline_input
        yield from ((("config", "env", name), text) for name, text in step.child_values.items())
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
    for number, outcome in enumerate(step.outcomes):
        yield ("outcomes", number, "extract_from"), outcome.source
    for number, rule in enumerate(step.validation):
        yield ("validation", number, "target"), rule.target


def steps_using_input(pipeline: Pipeline) -> tuple[str, ...]:
    """Return the ids of the steps in whose texts the input of a run is filled in."""
    return tuple(step.id for step in pipeline.steps if any(map(_uses_input, _texts_of(step))))


def _texts_of(step: Step) -> Iterator[str]:
    yield from (text for _, text in template_texts(step))
    if step.matrix is not None:
        yield step.matrix.over


def _uses_input(text: str) -> bool:
    names = map(templates.canonical_name, templates.template_names(text))
    return any(name.removeprefix("pipeline_context.").partition(".")[0] == "input" for name in names)


def _check_templates(check: CheckContext, step: Step) -> None:
    if step.unrunnable:
        return  # named as a whole; what its templates mean is known elsewhere
    for path, text in (*template_texts(step), *_prompt_file_texts(check, step)):
        place, names = _text_place(check, step, path), templates.template_names(text)
        if step.kind == "prompt" and path[0] == "exec":
            names = _names_in_prompt(check, step, place, names)
        _check_template_names(check, step, place, names)
        for text_of_it in templates.unfilled_expressions(text):
            message = f"{{{{ {one_line(text_of_it, 80)} }}}} is not a name, so it stays as it is"
            place.warn("not_run", message)


def _prompt_file_texts(check: CheckContext, step: Step) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the prompt of a step that is a file, with the place that names the file."""
    if step.kind == "prompt" and step.source_path and not step.source:
        with suppress(OutsideRoot):
            yield ("exec", "source_path"), check.files.text(step.source_path) or ""


def _names_in_prompt(
    check: CheckContext, step: Step, place: DocumentPlace, names: Iterable[str]
) -> Iterator[str]:
    """Yield the names of a prompt that refer to something; warn of those that stay as text."""
    for name in dict.fromkeys(names):
        if is_text_of_prompt(name, step, check.steps):
            place.warn(
                "not_run", f"{{{{ {name} }}}} names nothing here, so it stays in the prompt as it is written"
            )
        else:
            yield name


def _check_inner_code(check: CheckContext, step: Step) -> None:
    """Report values in commands that another interpreter than the shell would read as code."""
    if step.unrunnable:
        return
    known = known_template_names(step)
    for value in inner_values(step, check.files, own_text_of(check.manifest), check.handed):
        if value.place.name != FAILURE_NAME and unresolved_reason(check, step, value.place.name, known):
            continue  # reported as such
        place = _text_place(check, step, value.path)
        if value.origin == "foreign":
            place.error("inner_code", value.message)
        else:
            place.warn("inner_code", f"{value.message}; a run asks you before it starts")


def _text_place(check: CheckContext, step: Step, path: tuple[str | int, ...]) -> DocumentPlace:
    if path == ("exec", "source") and check.at(step).member("script") is not None:
        return check.within(step, "script")
    handover = check.at(step).member("handover")
    if "contracts" in path and handover is not None and handover.member("contracts") is None:
        return check.within(step, "handover", "contract", path[-1])
    place = check.within(step, *path)
    return place.with_warnings_only() if path[0] == "outcomes" else place


def unresolved_reason(check: CheckContext, step: Step, name: str, known: frozenset[str]) -> str:
    """Return why a template names nothing that the step has; empty if it does."""
    name = templates.canonical_name(name)
    if name in known or name.startswith("input."):
        return ""
    first, _, rest = name.partition(".")
    if first in templates.ITEM_NAMES:
        return "" if step.matrix else "only a step with a matrix has an item"
    if first in ("project", "env"):
        return ""  # what is not set there is empty
    if first in ("forge", "ontology", "gate"):
        return _unresolved_fact_reason(check, step, first, rest)
    other, is_output, _ = name.partition(".output")
    if not is_output:
        other, is_output = name.removesuffix(".outcome"), name.endswith(".outcome")
    if is_output and other in check.steps:
        return "" if _is_before(check, other, step) else f"{other} does not end before this step starts"
    other, slash, artifact = name.partition("/")
    if not slash:
        return "no artifact is injected under this name, and no step has it"
    if other not in check.steps:
        return f"there is no step {other}"
    if check.steps[other].declared_output(artifact) is None and not _has_unknown_outputs(check.steps[other]):
        return f"{other} declares no artifact {artifact}"
    return "" if _is_before(check, other, step) else f"{other} does not end before this step starts"


def _is_before(check: CheckContext, other: str, step: Step) -> bool:
    return other in check.before(step) or any(
        other in step_set and step.id in step_set for step_set in check.rounds
    )


def _unresolved_fact_reason(check: CheckContext, step: Step, kind: str, rest: str) -> str:
    """Return what is wrong with a template that names the code host, the ontology or an answer."""
    if kind == "forge":
        return (
            ""
            if rest in code_hosts.CODE_HOST_MEMBERS
            else f"known are forge.{', forge.'.join(sorted(code_hosts.CODE_HOST_MEMBERS))}"
        )
    if kind == "ontology":
        return "" if check.manifest is None or check.manifest.ontology else "the manifest has no ontology"
    gate, _, member = rest.rpartition(".")
    if gate not in check.steps or check.steps[gate].kind != "gate":
        return f"there is no gate {gate}"
    if gate not in check.before(step):
        return f"{gate} does not end before this step starts"
    gate_members = ("text", "choice", "label", "key", "reason", "timestamp")
    return "" if member in gate_members else f"a gate has {', '.join(gate_members)}"


def _check_paths(check: CheckContext, step: Step) -> None:
    for number, output in enumerate(step.outputs):
        places = mapping_items(check.within(step, "output_artifacts"))
        if output.path and number < len(places):
            check_path_inside(
                _member_or_place(places[number], "path"), output.path, "the path of an artifact"
            )
    for number, mount in enumerate(step.workspace.mounts):
        places = mapping_items(check.within(step, "workspace", "mount"))
        place = places[number] if number < len(places) else check.at(step)
        _check_mount_source(check, _member_or_place(place, "source"), mount.source)
        check_path_inside(
            _member_or_place(place, "target"), mount.target.lstrip("/"), "the target of a mount"
        )
        if mount.subset_from:
            _check_subset(check, _member_or_place(place, "subset_from"), step, mount.subset_from)
    if step.workspace.ref and step.workspace.ref not in check.steps:
        check.within(step, "workspace", "ref").error(
            "unknown_step", f"there is no step {one_line(step.workspace.ref, 60)}"
        )
    if step.source_path:
        _check_prompt_file(check, check.within(step, "exec", "source_path"), step.source_path)
    if step.workspace.root and "{{" not in step.workspace.root:
        check_path_inside(check.within(step, "workspace", "root"), step.workspace.root, "workspace.root")


def _check_mount_source(check: CheckContext, place: DocumentPlace, path: str) -> None:
    with reporting_outside(place, "; only what is in it is mounted"):
        if "{{" not in path and not check.files.is_folder(path) and check.files.text(path) is None:
            place.warn("missing_file", f"{one_line(path, 120)} is not there to be mounted", stops_run=True)


def _check_subset(check: CheckContext, place: DocumentPlace, step: Step, text: str) -> None:
    step_id, name, _ = step.subset_source(text, check.steps)
    if step_id:
        _check_wanted_artifact(check, place, step_id, name, check.before(step))
    elif not name:
        place.warn(
            "unknown_artifact",
            f"{one_line(text, 80)} names no step here and nothing that is injected: all files are mounted, "
            "or those that a run above hands on",
        )


def _check_prompt_file(check: CheckContext, place: DocumentPlace, path: str) -> None:
    with reporting_outside(place, "; keep it inside"):
        if check.files.text(path) is None:
            place.warn("missing_file", f"the prompt {one_line(path, 120)} is not there", stops_run=True)


def _check_artifact_name(place: DocumentPlace, name: str) -> None:
    if not name.isprintable() or name in (".", ".."):
        place.error("wrong_value", f"{one_line(name, 60)} cannot be the name of an artifact")
    else:
        check_path_inside(place, f"artifacts/{name}", "the name of an artifact")


def _check_targets(check: CheckContext, step: Step) -> None:
    if step.failing.then == "rework" and not step.failing.rework_step:
        check.within(step, "retry").error(
            "missing_field", "on_failure: rework needs rework_step, the step that fixes it"
        )
    retry = _retry_rework_place(check, step)
    if retry is not None and step.failing.then != "rework":
        retry.error("wrong_rework", "rework_step counts with on_failure: rework only")
    for place in _rework_places(check, step):
        rework = text_at(place)
        if rework not in check.steps:
            place.error("unknown_step", f"rework_step names the unknown step {one_line(rework, 60)}")
        else:
            _check_rework(check, step, check.steps[rework], place)
    for need in step.needs:
        if need in check.steps and check.steps[need].is_rework_only and not step.is_rework_only:
            message = f"{one_line(need, 60)} is rework_only, so nothing can wait for it"
            check.within(step, "dependencies").error("wrong_rework", message)
    for key, target in (step.gate.targets if step.gate else {}).items():
        if target not in END_TARGETS and target not in check.steps:
            check.within(step, "gate", "choices").error(
                "unknown_step", f"the choice {key} leads to {one_line(target, 60)}, which is not a step"
            )


def _rework_places(check: CheckContext, step: Step) -> Iterator[DocumentPlace]:
    """Yield the places at which a step names rework steps: in `retry`, and in contracts that use them."""
    retry = _retry_rework_place(check, step)
    if retry is not None:
        yield retry
    handover = check.at(step).present("handover")
    listed, single = (handover.present(name) if handover else None for name in ("contracts", "contract"))
    for contract in [*(listed.items() if listed else ()), *((single,) if single and not listed else ())]:
        named = contract.present("rework_step")
        if named is not None and text_at(named).strip() and contract.value("on_failure") == "rework":
            yield named


def _retry_rework_place(check: CheckContext, step: Step) -> DocumentPlace | None:
    retry = check.at(step).present("retry")
    named = retry.present("rework_step") if retry else None
    return named if named is not None and text_at(named).strip() else None


def _check_unique_reworks(check: CheckContext) -> None:
    """Report rework steps that `retry` of two steps names; contracts may share one."""
    users: dict[str, str] = {}
    for step in check.pipeline.steps:
        place = _retry_rework_place(check, step)
        if place is None:
            continue
        first = users.setdefault(text_at(place), step.id)
        if first != step.id:
            name = one_line(text_at(place), 60)
            place.error("wrong_rework", f"{name} is the rework_step of {one_line(first, 60)} already")


def _check_rework(check: CheckContext, step: Step, rework: Step, place: DocumentPlace) -> None:
    """Report a rework that could never be done: a run would wait for it for ever."""
    name, rework_name = rework.id, one_line(rework.id, 60)
    if name == step.id:
        place.error("wrong_rework", "a step cannot be its own rework_step")
    elif name in check.before(step):
        place.error("wrong_rework", f"{rework_name} ends before this step starts, so it cannot rework it")
    elif step.id in check.before(rework):
        place.error("wrong_rework", f"{rework_name} waits for this step, which has failed by then")
    elif not rework.is_rework_only:
        place.error("wrong_rework", f"{rework_name} runs in any case; say rework_only: true there")


def check_composition(check: CheckContext, step: Step) -> None:
    """Report what is wrong with the way a step puts others together."""
    if step.route is not None:
        _check_edges(check, step)
    if step.matrix is not None and step.matrix.over:
        names = templates.template_names(step.matrix.over)
        _check_template_names(check, step, check.within(step, "iterate", "over"), names)
    if step.aggregate is not None and "{{" not in step.aggregate.into:
        place = check.within(step, "aggregate", "into")
        check_path_inside(place, step.aggregate.into, "into", "the workspace")
    if step.branch is not None and not step.branch.cases:
        check.within(step, "branch").error("missing_field", "the branch has no cases")


def _check_template_names(
    check: CheckContext, step: Step, place: DocumentPlace, names: Iterable[str]
) -> None:
    for name in dict.fromkeys(names):
        why = unresolved_reason(check, step, name, known_template_names(step))
        if why:
            place.error("unresolved_template", f"{{{{ {name} }}}}: {why}")


def _check_edges(check: CheckContext, step: Step) -> None:
    assert step.route is not None
    places = list(check.within(step, "edges").items())
    until = check.within(step, "loop", "until")
    for number, edge in enumerate(step.route.edges):
        place = places[number] if number < len(places) else until
        if edge.target and edge.target not in END_TARGETS and edge.target not in check.steps:
            step_ids = ", ".join([*check.steps][:8])
            message = (
                f"there is no step {one_line(edge.target, 60)};"
                f" there are {step_ids}, {' and '.join(END_TARGETS)}"
            )
            (place.member("target") or place).error("unknown_step", message)
        _check_condition(check, step, place.member("condition") or place, edge.condition)
    edges = step.route.edges
    if edges and all(edge.condition for edge in edges) and not step.route.most:
        where = check.within(step, "edges")
        where.warn("no_fallback", "every edge has a condition: if none holds the step fails; add one without")


def _check_condition(check: CheckContext, step: Step, place: DocumentPlace, text: str) -> None:
    try:
        condition = conditions.parse_condition(text)
    except conditions.BadCondition as error:
        place.error("bad_condition", str(error))
        return
    names = [name for name in condition.names() if name != "outcome" and not name.startswith("context.")]
    _check_template_names(check, step, place, names)
    for name in dict.fromkeys(names):
        _check_hidden_field(check, place, name)


def _check_hidden_field(check: CheckContext, place: DocumentPlace, name: str) -> None:
    """Warn of a condition about all of a JSON artifact, which may hide the field of that name."""
    other, _, field = templates.canonical_name(name).partition(".output.")
    outputs = check.steps[other].outputs if other in check.steps else ()
    output = next((output for output in outputs if output.name == field), None)
    if output is not None and (output.type == "json" or output.path.endswith(".json")):
        place.warn(
            "hidden_field",
            f"{{{{ {name} }}}} is all of the artifact {one_line(field, 60)}, which comes before a field of "
            f"that name; a field of an artifact is {other}.output.{one_line(field, 60)}.FIELD",
        )
