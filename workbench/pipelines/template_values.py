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
from workbench.domain.values import Json, SandboxLevel
from workbench.pipelines import artifacts, templates
from workbench.pipelines.code_hosts import CODE_HOST_MEMBERS, persona_name
from workbench.pipelines.executor import AttemptNotReady
from workbench.pipelines.manifest_values import MANIFEST_NAMES, own_text_of
from workbench.pipelines.model import Aggregate, ArtifactInjection, Step
from workbench.pipelines.prompt_words import is_text_of_prompt
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.state import StepRun
from workbench.text.human import iso_time
from workbench.text.safe import one_line

COLLECTED_NAME: Final = "collected-output"
"""What files call all that a step left: the list of an iteration, else its last artifact."""


class TemplateValues(Struct, frozen=True, kw_only=True):
    """Templates of one step."""

    run: RunContext
    step: Step
    step_run: StepRun
    attempt: int = 1
    workspace: str = ""
    longest: int = artifacts.MOST_SHOWN
    """Characters of an artifact that a template puts in its place."""

    def of(self, name: str) -> str:
        """Return the value of a template. Raises UnresolvedTemplate or ArtifactMissing."""
        name = templates.canonical_name(name)
        fact = self._fact(name)
        if fact is not None:
            return fact
        artifact = self.artifact(name)
        if artifact is not None:
            return artifacts.artifact_text(self.run.journal, artifact, self.longest)
        if self._is_of_later_step(name):
            return ""
        raise templates.UnresolvedTemplate(name)

    def level(self) -> SandboxLevel | None:
        """Return what programs of the step may touch, those of its contracts and requirements too."""
        named = replace(self.step, persona=self.persona_name(self.step.persona))
        return named.level(self.run.manifest)

    def in_prompt(self, name: str) -> str | None:
        """Return the value of a template in a prompt; None for a word of its text. Raises as `of` does."""
        try:
            return self.of(name)
        except templates.UnresolvedTemplate:
            if is_text_of_prompt(name, self.step, self.run.state.steps):
                return None
            raise

    def condition_operand(self, name: str) -> str:
        """Return the value that a condition compares; a missing field is empty. Raises UnresolvedTemplate."""
        name = templates.canonical_name(name)
        try:
            return self.of(name)
        except templates.UnresolvedTemplate:
            step = name.partition(".output")[0]
            if step in self.run.state.steps:
                return ""
            raise

    def _is_of_later_step(self, name: str) -> bool:
        """Return whether a name is of a step that a way back repeats with this one, and has not run yet."""
        step = name.partition(".output")[0].partition("/")[0].removesuffix(".outcome")
        return any(step in step_set and self.step.id in step_set for step_set in self.run.repeated_sets)

    def own_text(self, name: str) -> str | None:
        """Return the value that the manifest gives a `project` name; None for every other name."""
        return own_text_of(self.run.manifest)(name)

    def source_text(self) -> str:
        """Return the step's prompt or command with its templates. Raises AttemptNotReady without its file."""
        if not self.step.source_path or self.step.source:
            return self.step.source
        text = self.run.definition.files().text(self.step.source_path)
        if text is None:
            raise AttemptNotReady(f"{self.step.source_path} is not there")
        return text

    @property
    def fill(self) -> Callable[[str], str]:
        return lambda text: templates.fill_templates(text, self.of)

    def persona_name(self, text: str) -> str:
        """Return the persona that a text names, with its templates filled. Raises UnresolvedTemplate."""
        manifest, kind = self.run.manifest, self.run.definition.forge.get("type", "")
        return persona_name(text, kind, self.fill, manifest.personas if manifest else ())

    def artifact(self, name: str) -> ArtifactStored | None:
        """Return the artifact that `step/artifact`, or the name it is injected under, stands for."""
        step_id, slash, artifact = name.partition("/")
        if not slash:
            name = name.removeprefix("artifacts.")
            injection = next(
                (injection for injection in self.step.injections if injection.name == name), None
            )
            if injection is None:
                return None
            if injection.pipeline:
                return self.injected(injection)
            step_id, artifact = injection.step, injection.artifact
        return self.produced(step_id, artifact)

    def injected(self, injection: ArtifactInjection) -> ArtifactStored | None:
        """Return an injected artifact; of another pipeline the one that its last run left.

        Raises ArtifactMissing where that run's are no longer kept.
        """
        if not injection.pipeline:
            return self.produced(injection.step, injection.artifact)
        other = self.run.journal.artifact_of_pipeline(injection.pipeline, injection.step, injection.artifact)
        if other is None:
            return None
        title, artifact = other
        if artifact.content_ref is None or self.run.journal.unseal(artifact.content_ref) is None:
            why = f"{title} was cleaned up, and its artifact {artifact.name} is no longer kept"
            raise artifacts.ArtifactMissing(f"{why}; run {injection.pipeline} again")
        return artifact

    def produced(self, step_id: str, name: str) -> ArtifactStored | None:
        """Return an artifact of a step by its name, its path or its file's name."""
        step_run = self.run.state.steps.get(step_id)
        if step_run is None:
            return None
        if name == COLLECTED_NAME and name not in step_run.artifacts:
            return next(reversed(step_run.artifacts.values()), None)
        try:
            declared = self.run.pipeline.step(step_id).declared_output(name)
        except KeyError:  # an item of a matrix
            declared = None
        return step_run.artifacts.get(declared.name if declared else name)

    def _fact(self, name: str) -> str | None:
        first, _, rest = name.partition(".")
        if first in templates.ITEM_NAMES and self.step.matrix is not None:
            value = templates.member_value(self.step_run.item, rest)
            return templates.value_text(value)
        if first == "input" and rest:
            return templates.value_text(
                templates.member_value(artifacts.parse_content(self.run.definition.input.encode()), rest)
            )
        if first == "env":  # no variable of the environment is given, only what the step above names
            return self.run.definition.values.get(rest, "")
        if first in MANIFEST_NAMES and self.run.manifest is not None:
            return MANIFEST_NAMES[first](self.run.manifest, rest)
        if first == "artifacts":
            return self._injected_path(rest)
        if first == "forge":
            return self.run.definition.forge.get(rest, "") if rest in CODE_HOST_MEMBERS else None
        if first == "gate" and "." in rest:
            return self._answer(*rest.rsplit(".", 1))
        step_id, is_output, path = name.partition(".output")
        if is_output and step_id in self.run.state.steps:
            return self._output(self.run.state.steps[step_id], path.removeprefix("."))
        if name.endswith(".outcome") and name.removesuffix(".outcome") in self.run.state.steps:
            return self.run.state.steps[name.removesuffix(".outcome")].outcome
        return self._run_facts().get(name.removeprefix("pipeline_context."))

    def _injected_path(self, name: str) -> str | None:
        injected = name.removesuffix(".path")
        names = {injection.name for injection in self.step.injections}
        return artifacts.injected_path(injected) if name not in names and injected in names else None

    def _answer(self, step_id: str, member: str) -> str | None:
        """Return a member of the last answer to a gate; None where nobody answered."""
        step_run = self.run.state.steps.get(step_id)
        question_id = step_run.last_question_id if step_run else None
        action = self.run.latest_action(question_id) if question_id else None
        # What the pipeline answered itself has no question, or one that expired; nobody gave a reason.
        own = step_run.printed if step_run and (action is None or action.state == "expired") else ""
        if action is None and not own:
            return None
        if member == "timestamp":
            return iso_time(action.decided_at) if action and action.decided_at else ""
        if member not in ("choice", "label", "key"):
            return (action.text or action.reason or "") if action and not own else ""
        gate = self.run.pipeline.step(step_id).gate if member != "key" else None
        labels = {choice.key: choice.label for choice in gate.choices} if gate else {}
        choice = own or ((action.choice or action.state) if action else "")
        return labels.get(choice, choice)

    def _output(self, step_run: StepRun, path: str) -> str | None:
        """Return an artifact of a step, a member of one, or what a step without artifacts printed."""
        stored = step_run.artifacts
        if path == COLLECTED_NAME and path not in stored:
            path = ""
        first, _, rest = path.partition(".")
        if first in stored:
            return self._artifact_text(stored[first], rest)
        for artifact in reversed(stored.values()):
            text = self._artifact_text(artifact, path)
            if text is not None:
                return text
        if path or stored or not (step_run.printed or step_run.printed_ref):
            return None
        data = self.run.journal.unseal(step_run.printed_ref) if step_run.printed_ref else None
        return data.decode("utf-8", "replace") if data is not None else step_run.printed

    def _artifact_text(self, artifact: ArtifactStored, path: str) -> str | None:
        if not path:
            return artifacts.artifact_text(self.run.journal, artifact, self.longest)
        value = templates.member_value(artifacts.artifact_content(self.run.journal, artifact), path)
        return None if value is None else templates.value_text(value)

    def _run_facts(self) -> dict[str, str]:
        run_id, name, definition = self.run.journal.run_id, self.run.pipeline.name, self.run.definition
        return {
            "input": definition.input, "pipeline_id": run_id, "run.id": run_id, "run.name": name,
            "pipeline_name": name, "step_id": self.step.id, "timestamp": definition.started_at,
            "workspace": self.workspace, "branch_name": definition.branch or name,
            "attempt": str(self.attempt),
        }  # fmt: skip


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
