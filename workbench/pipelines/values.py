"""What templates stand for in one attempt of one step.

Owns the names and their values. It reads artifacts by digest and nothing of the project.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from workbench.domain.runs import ArtifactStored
from workbench.domain.values import Json
from workbench.pipelines import artifacts, templates
from workbench.pipelines.checks import output_named
from workbench.pipelines.definition import Definition
from workbench.pipelines.executor import Ledger
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.state import RunState, StepRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Templates of one step."""

    ledger: Ledger
    definition: Definition
    pipeline: Pipeline
    manifest: Manifest | None
    state: RunState
    step: Step
    item: Json = None
    attempt: int = 1
    workspace: str = ""
    longest: int = artifacts.SHOWN
    """Characters of an artifact that a template puts in its place."""
    rounds: tuple[frozenset[str], ...] = ()
    """Steps that a way back does again, one set for each."""

    def of(self, name: str) -> str:
        """Return the value of a template.

        Raises:
            Unresolved: It names nothing.
            ArtifactGone: It names an artifact whose bytes are gone.
        """
        name = templates.canonical(name)
        plain = self._plain(name)
        if plain is not None:
            return plain
        artifact = self.artifact(name)
        if artifact is not None:
            return artifacts.text(self.ledger, artifact, self.longest)
        if self._is_to_come(name):
            return ""
        raise templates.Unresolved(name)

    def asked(self, name: str) -> str:
        """Return what a condition compares: as `of`, but a field that is not there is empty.

        Raises:
            Unresolved: it names no step.
        """
        name = templates.canonical(name)
        try:
            return self.of(name)
        except templates.Unresolved:
            step = name.partition(".output")[0]
            if step in self.state.steps:
                return ""
            raise

    def _is_to_come(self, name: str) -> bool:
        """Return whether a name is of a step that is done again with this one, and was not done yet."""
        step = name.partition(".output")[0].partition("/")[0].removesuffix(".outcome")
        return any(step in one and self.step.id in one for one in self.rounds)

    @property
    def fill(self) -> Callable[[str], str]:
        """Return what fills the templates of a text."""
        return lambda text: templates.filled(text, self.of)

    def artifact(self, name: str) -> ArtifactStored | None:
        """Return the artifact that `step/artifact`, or the name it is injected under, stands for."""
        other, slash, wanted = name.partition("/")
        if not slash:
            name = name.removeprefix("artifacts.")
            found = next((one for one in self.step.injections if one.name == name), None)
            if found is None:
                return None
            other, wanted = found.step, found.artifact
        return self.produced(other, wanted)

    def produced(self, step_id: str, name: str) -> ArtifactStored | None:
        """Return an artifact of a step by its name, its path or its file's name."""
        run = self.state.steps.get(step_id)
        try:
            declared = output_named(self.pipeline.step(step_id), name)
        except KeyError:
            declared = None
        return run.artifacts.get(declared.name if declared else name) if run else None

    def _plain(self, name: str) -> str | None:
        first, _, rest = name.partition(".")
        if first in templates.ITEM and self.step.matrix is not None:
            found = templates.member(self.item, rest)
            return templates.as_text(found)
        if first == "input" and rest:
            return templates.as_text(templates.member(artifacts.parsed(self.definition.input.encode()), rest))
        if first == "project" and self.manifest is not None:
            found = templates.member(self.manifest.project, rest)
            return None if found is None else templates.as_text(found)
        if first == "ontology" and self.manifest is not None:
            return _term(self.manifest.ontology, rest)
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
            return outcome(self.state.steps[name.removesuffix(".outcome")])
        return self._facts().get(name.removeprefix("pipeline_context."))

    def _path(self, name: str) -> str | None:
        """Return where an injected artifact lies for `NAME.path`; None for `NAME`, which is what it holds."""
        injected = name.removesuffix(".path")
        names = {one.name for one in self.step.injections}
        return artifacts.place(injected) if name not in names and injected in names else None

    def _answer(self, step: str, what: str) -> str | None:
        """Return what a human said at a gate: its choice, or the words beside it."""
        found = self.state.steps.get(step)
        action = self.ledger.action(found.asked_id) if found and found.asked_id else None
        while action is not None and action.successor:
            action = self.ledger.action(action.successor)
        if action is None:
            return None
        return (
            (action.choice or action.state)
            if what in ("choice", "key")
            else action.text or action.reason or ""
        )

    def _output(self, run: StepRun, path: str) -> str | None:
        """Return an artifact of a step by its name, a field of it, or a field of the last that has it."""
        first, _, rest = path.partition(".")
        if first in run.artifacts:
            artifact = run.artifacts[first]
            return self._field(artifact, rest) if rest else self._text(artifact)
        for artifact in reversed(run.artifacts.values()):
            found = self._field(artifact, path) if path else self._text(artifact)
            if found is not None:
                return found
        if path or run.artifacts or not (run.printed or run.printed_ref):
            return None
        data = self.ledger.unseal(run.printed_ref) if run.printed_ref else None
        return data.decode("utf-8", "replace") if data is not None else run.printed

    def _text(self, artifact: ArtifactStored) -> str:
        return artifacts.text(self.ledger, artifact, self.longest)

    def _field(self, artifact: ArtifactStored, path: str) -> str | None:
        found = templates.member(artifacts.parsed(artifacts.read(self.ledger, artifact)), path)
        return None if found is None else templates.as_text(found)

    def _facts(self) -> dict[str, str]:
        return {
            "input": self.definition.input, "pipeline_id": self.ledger.run_id,
            "pipeline_name": self.pipeline.name, "step_id": self.step.id,
            "timestamp": self.definition.started_at, "workspace": self.workspace,
            "branch_name": self.definition.branch or self.pipeline.name, "attempt": str(self.attempt),
        }  # fmt: skip


def outcome(step: StepRun) -> str:
    """Return how a step ended, as conditions ask for it; empty before it has."""
    if step.has_failed or step.state == "failed":
        return "failure"
    return "success" if step.is_done else step.state if step.has_ended else ""


def _term(ontology: Json, name: str) -> str | None:
    """Return a text of an ontology: `telos`, `context.NAME`, `convention.NAME`; None if it has none."""
    kind, _, rest = name.partition(".")
    found = templates.member(ontology, name)
    if kind == "convention":
        found = templates.member(templates.member(ontology, "conventions"), rest)
    if kind == "context":
        listed = templates.member(ontology, "contexts")
        many = cast("list[Json]", listed) if isinstance(listed, list) else []
        mine = [one for one in many if templates.member(one, "name") == rest]
        found = templates.member(mine[0], "description") if mine else None
    return found if isinstance(found, str) else None
