"""What templates stand for in one attempt of one step.

Owns the names and their values. It reads artifacts by digest and nothing of the project.
"""

from collections.abc import Callable
from dataclasses import dataclass

from workbench.domain.runs import ArtifactStored
from workbench.domain.values import Json
from workbench.pipelines import artifacts, templates
from workbench.pipelines.checks import output_named
from workbench.pipelines.definition import Definition
from workbench.pipelines.executor import Ledger
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.state import RunState


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

    def of(self, name: str) -> str:
        """Return the value of a template.

        Raises:
            Unresolved: It names nothing.
            ArtifactGone: It names an artifact whose bytes are gone.
        """
        plain = self._plain(name)
        if plain is not None:
            return plain
        artifact = self.artifact(name)
        if artifact is None:
            raise templates.Unresolved(name)
        return artifacts.text(self.ledger, artifact)

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
        return self._facts().get(name.removeprefix("pipeline_context."))

    def _facts(self) -> dict[str, str]:
        return {
            "input": self.definition.input, "pipeline_id": self.ledger.run_id,
            "pipeline_name": self.pipeline.name, "step_id": self.step.id,
            "timestamp": self.definition.started_at, "workspace": self.workspace,
            "branch_name": self.definition.branch or self.pipeline.name, "attempt": str(self.attempt),
        }  # fmt: skip
