"""What templates stand for in one attempt of one step, and steps that merge what others left."""

# `{{ artifacts.NAME }}` is what an injected artifact holds, `{{ artifacts.NAME.path }}` is where it lies.
# Prompts want the one, commands mostly the other; some programs with such files mean the path by the bare
# name.

import json
from collections.abc import Callable
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ArtifactStored
from workbench.domain.values import Json
from workbench.pipelines import artifacts, templates
from workbench.pipelines.checks import declared_output
from workbench.pipelines.executor import RunJournal
from workbench.pipelines.load import RunDefinition
from workbench.pipelines.model import Aggregate, ArtifactInjection, Manifest, Pipeline, Step
from workbench.pipelines.state import RunState, StepRun
from workbench.text.human import iso_time
from workbench.text.safe import one_line

COLLECTED_NAME: Final = "collected-output"
"""What files call all that a step left: the list of an iteration, else its last artifact."""


class TemplateValues(Struct, frozen=True, kw_only=True):
    """Templates of one step."""

    journal: RunJournal
    definition: RunDefinition
    pipeline: Pipeline
    manifest: Manifest | None
    state: RunState
    step: Step
    item: Json = None
    attempt: int = 1
    workspace: str = ""
    longest: int = artifacts.MOST_SHOWN
    """Characters of an artifact that a template puts in its place."""
    repeated_sets: tuple[frozenset[str], ...] = ()
    """Steps that a way back does again, one set for each."""

    def of(self, name: str) -> str:
        """Return the value of a template. Raises UnresolvedTemplate or ArtifactMissing."""
        name = templates.canonical_name(name)
        plain = self._plain(name)
        if plain is not None:
            return plain
        artifact = self.artifact(name)
        if artifact is not None:
            return artifacts.artifact_text(self.journal, artifact, self.longest)
        if self._is_to_come(name):
            return ""
        raise templates.UnresolvedTemplate(name)

    def asked(self, name: str) -> str:
        """Return what a condition compares; a field that is not there is empty. Raises UnresolvedTemplate."""
        name = templates.canonical_name(name)
        try:
            return self.of(name)
        except templates.UnresolvedTemplate:
            step = name.partition(".output")[0]
            if step in self.state.steps:
                return ""
            raise

    def _is_to_come(self, name: str) -> bool:
        """Return whether a name is of a step that is done again with this one, and was not done yet."""
        step = name.partition(".output")[0].partition("/")[0].removesuffix(".outcome")
        return any(step in step_set and self.step.id in step_set for step_set in self.repeated_sets)

    def own_text(self, name: str) -> str | None:
        """Return what the manifest itself says of the project under a name; None for every other name."""
        first, _, rest = name.partition(".")
        return project_value(self.manifest, rest) if first == "project" and self.manifest else None

    @property
    def fill(self) -> Callable[[str], str]:
        return lambda text: templates.fill_templates(text, self.of)

    def artifact(self, name: str) -> ArtifactStored | None:
        """Return the artifact that `step/artifact`, or the name it is injected under, stands for."""
        other, slash, wanted = name.partition("/")
        if not slash:
            name = name.removeprefix("artifacts.")
            injection = next(
                (injection for injection in self.step.injections if injection.name == name), None
            )
            if injection is None:
                return None
            if injection.pipeline:
                return self.injected(injection)
            other, wanted = injection.step, injection.artifact
        return self.produced(other, wanted)

    def injected(self, wanted: ArtifactInjection) -> ArtifactStored | None:
        """Return an artifact that the step is given; of another pipeline the one that its last run left.

        Raises ArtifactMissing where that run's are no longer kept.
        """
        if not wanted.pipeline:
            return self.produced(wanted.step, wanted.artifact)
        left = self.journal.artifact_of_pipeline(wanted.pipeline, wanted.step, wanted.artifact)
        if left is None:
            return None
        run, artifact = left
        if artifact.content_ref is None or self.journal.unseal(artifact.content_ref) is None:
            why = f"{run} was cleaned up, and its artifact {artifact.name} is no longer kept"
            raise artifacts.ArtifactMissing(f"{why}; run {wanted.pipeline} again")
        return artifact

    def produced(self, step_id: str, name: str) -> ArtifactStored | None:
        """Return an artifact of a step by its name, its path or its file's name."""
        run = self.state.steps.get(step_id)
        try:
            declared = declared_output(self.pipeline.step(step_id), name)
        except KeyError:
            declared = None
        if run and name == COLLECTED_NAME and name not in run.artifacts:
            return next(reversed(run.artifacts.values()), None)
        return run.artifacts.get(declared.name if declared else name) if run else None

    def _plain(self, name: str) -> str | None:
        first, _, rest = name.partition(".")
        if first in templates.ITEM_NAMES and self.step.matrix is not None:
            value = templates.member_value(self.item, rest)
            return templates.value_text(value)
        if first == "input" and rest:
            return templates.value_text(
                templates.member_value(artifacts.parse_content(self.definition.input.encode()), rest)
            )
        if first == "env":  # no variable of the environment is given, only what the step above names
            return self.definition.values.get(rest, "")
        if first in _MANIFEST_NAMES and self.manifest is not None:
            return _MANIFEST_NAMES[first](self.manifest, rest)
        if first == "artifacts":
            return self._path(rest)
        if first == "forge":
            return self.definition.forge.get(rest)
        if first == "gate" and "." in rest:
            return self._answer(*rest.rsplit(".", 1))
        step, is_output, path = name.partition(".output")
        if is_output and step in self.state.steps:
            return self._output(self.state.steps[step], path.removeprefix("."))
        if name.endswith(".outcome") and name.removesuffix(".outcome") in self.state.steps:
            return step_outcome(self.state.steps[name.removesuffix(".outcome")])
        return self._facts().get(name.removeprefix("pipeline_context."))

    def _path(self, name: str) -> str | None:
        injected = name.removesuffix(".path")
        names = {injection.name for injection in self.step.injections}
        return artifacts.injected_path(injected) if name not in names and injected in names else None

    def _answer(self, step: str, what: str) -> str | None:
        step_run = self.state.steps.get(step)
        action = (
            self.journal.action(step_run.last_question_id) if step_run and step_run.last_question_id else None
        )
        while action is not None and action.successor:
            action = self.journal.action(action.successor)
        # What the pipeline answered itself has no question, or one that expired; nobody gave a reason.
        own = step_run.printed if step_run and (action is None or action.state == "expired") else ""
        if action is None and not own:
            return None
        if what == "timestamp":
            return iso_time(action.decided_at) if action and action.decided_at else ""
        if what not in ("choice", "label", "key"):
            return (action.text or action.reason or "") if action and not own else ""
        gate = self.pipeline.step(step).gate if what != "key" else None
        labels = {choice.key: choice.label for choice in gate.choices} if gate else {}
        chosen = own or ((action.choice or action.state) if action else "")
        return labels.get(chosen, chosen)

    def _output(self, run: StepRun, path: str) -> str | None:
        if path == COLLECTED_NAME and path not in run.artifacts:
            path = ""
        first, _, rest = path.partition(".")
        if first in run.artifacts:
            artifact = run.artifacts[first]
            return self._field(artifact, rest) if rest else self._text(artifact)
        for artifact in reversed(run.artifacts.values()):
            text = self._field(artifact, path) if path else self._text(artifact)
            if text is not None:
                return text
        if path or run.artifacts or not (run.printed or run.printed_ref):
            return None
        data = self.journal.unseal(run.printed_ref) if run.printed_ref else None
        return data.decode("utf-8", "replace") if data is not None else run.printed

    def _text(self, artifact: ArtifactStored) -> str:
        return artifacts.artifact_text(self.journal, artifact, self.longest)

    def _field(self, artifact: ArtifactStored, path: str) -> str | None:
        value = templates.member_value(
            artifacts.parse_content(artifacts.read_artifact(self.journal, artifact)), path
        )
        return None if value is None else templates.value_text(value)

    def _facts(self) -> dict[str, str]:
        return {
            "input": self.definition.input, "pipeline_id": self.journal.run_id,
            "run.id": self.journal.run_id, "run.name": self.pipeline.name,
            "pipeline_name": self.pipeline.name, "step_id": self.step.id,
            "timestamp": self.definition.started_at, "workspace": self.workspace,
            "branch_name": self.definition.branch or self.pipeline.name, "attempt": str(self.attempt),
        }  # fmt: skip


_PROJECT_FALLBACKS: Final = {"contract_test_command": "test_command"}
"""What counts instead of a member of the manifest's project that is not set."""


def project_value(manifest: Manifest, name: str) -> str:
    """Return what the manifest says of the project; one that is not set is empty, or its fallback's."""
    value = templates.member_value(manifest.project, name)
    if value is None:
        value = templates.member_value(manifest.project, _PROJECT_FALLBACKS.get(name, ""))
    return "" if value is None or isinstance(value, dict) else templates.value_text(value)


def step_outcome(step: StepRun) -> str:
    """Return how a step ended, as conditions ask for it; empty before it has."""
    if step.has_failed or step.state == "failed":
        return "failure"
    return "success" if step.is_done else step.state if step.has_ended else ""


def _ontology_text(manifest: Manifest, name: str) -> str | None:
    ontology = manifest.ontology
    kind, _, rest = name.partition(".")
    value = templates.member_value(ontology, name)
    if kind == "convention":
        value = templates.member_value(templates.member_value(ontology, "conventions"), rest)
    if kind == "context":
        listed = templates.member_value(ontology, "contexts")
        many = cast("list[Json]", listed) if isinstance(listed, list) else []
        mine = [context for context in many if templates.member_value(context, "name") == rest]
        value = templates.member_value(mine[0], "description") if mine else None
    return value if isinstance(value, str) else None


_MANIFEST_NAMES: Final[dict[str, Callable[[Manifest, str], str | None]]] = {
    "project": project_value, "ontology": _ontology_text,
}  # fmt: skip
"""What the manifest says under a name."""
MOST_AGGREGATE_CHARACTERS: Final = 64 * 1024 * 1024
"""Bytes of what is put together."""


class AggregateError(ValueError):
    """What was left cannot be put together; says why."""


def aggregate_text(aggregate: Aggregate | None, values: TemplateValues) -> str:
    """Return what an aggregate comes to. Raises AggregateError, UnresolvedTemplate or ArtifactMissing."""
    assert aggregate is not None
    text = replace(values, longest=artifacts.NO_LIMIT).fill(aggregate.source)
    if len(text) > MOST_AGGREGATE_CHARACTERS:
        raise AggregateError(
            f"it comes to {len(text):,} characters; {MOST_AGGREGATE_CHARACTERS:,} are the most"
        )
    match aggregate.strategy:
        case "merge_arrays":
            return json.dumps(
                _joined_lists(_parse_list(text, aggregate), aggregate.key), ensure_ascii=False, indent=2
            )
        case "concat":
            return _concatenated_texts(text)
        case "reduce":
            return text


def _parse_list(text: str, aggregate: Aggregate) -> list[Json]:
    listed: Json = artifacts.parse_content(text.encode("utf-8", "surrogatepass"))
    if not isinstance(listed, list):
        raise AggregateError(
            f"{one_line(aggregate.source, 80)} comes to no JSON list, so nothing can be merged"
        )
    return cast("list[Json]", listed)


def _joined_lists(parts: list[Json], key: str) -> list[Json]:
    joined: list[Json] = []
    for part in parts:
        items = _list_in_part(part, key)
        if isinstance(items, list):
            joined += items
        elif items is not None:
            joined.append(items)
    return joined


def _list_in_part(part: Json, key: str) -> Json:
    return templates.member_value(part, key) if key and isinstance(part, dict) else part


def _concatenated_texts(text: str) -> str:
    content = artifacts.parse_content(text.encode("utf-8", "surrogatepass"))
    if not isinstance(content, list):
        return text
    return "\n".join(
        templates.value_text(item).rstrip("\n") for item in cast("list[Json]", content) if item is not None
    )
