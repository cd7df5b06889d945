"""Where artifacts of earlier steps lie in the workspace of a later one, so that its prompt finds them.

An injected artifact lies below `artifacts/`. Real prompts name other places, too: those of the program whose
files these are (`.wave/artifacts/`, `.agents/artifacts/`, also with the step's id in between) and the path
that the earlier step declared. Copies go there, within the workspace, and never onto what is there.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from workbench.domain.events import ArtifactStored
from workbench.effects.file_primitives import FileRefused
from workbench.pipelines import artifacts
from workbench.pipelines.documents import OutsideRoot, path_inside_root
from workbench.pipelines.executor import PlacedFile, RunJournal
from workbench.pipelines.model import ArtifactInjection, Step
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.state import RunState
from workbench.pipelines.step_order import ancestors
from workbench.pipelines.template_values import TemplateValues

FOLDERS: Final = (".wave/artifacts", ".agents/artifacts")
"""Folders in which programs with such files keep artifacts."""
_HOMES: Final = (".agents/", ".wave/", ".workbench/")
_RESULTS: Final = tuple(
    f"{home}{name}" for home in _HOMES for name in ("output/", "artifacts/", "artifact.json")
)
"""Where nothing but results lies. Beside them are pipelines and settings, which no artifact may replace."""
MOST_COPIED: Final = 1024 * 1024
"""Bytes of an artifact that is copied to places which nobody names."""


class PlacedArtifact(Struct, frozen=True, kw_only=True):
    """An artifact of an earlier step that a step may look for."""

    step: str
    """The earlier step; empty for one of another pipeline."""
    artifact: ArtifactStored
    injected_as: str = ""
    """The name that it is injected under; empty where it is not."""

    def paths(self) -> Iterator[str]:
        """Yield where it may be looked for besides `artifacts/NAME`, relative to the workspace."""
        for folder in FOLDERS:
            if self.injected_as:
                yield f"{folder}/{self.injected_as}"
            if self.step:
                yield f"{folder}/{self.step}/{self.artifact.name}"
        if self.artifact.path:
            yield self.artifact.path.strip("/")


def earlier_artifacts(step: Step, state: RunState, steps: Sequence[Step], text: str) -> list[PlacedArtifact]:
    """Return the artifacts of the steps before one: of those it depends on, of all where it names a place."""
    names: Iterable[str] = step.needs
    if any(folder in text for folder in (*_HOMES, "artifacts/")):
        before = ancestors(step.id, {other.id: other.needs for other in steps})
        names = dict.fromkeys((*step.needs, *sorted(before)))
    runs = (state.steps[name] for name in names if name in state.steps)
    return [PlacedArtifact(step=run.id, artifact=one) for run in runs for one in run.artifacts.values()]


class Placement(Struct, frozen=True, kw_only=True):
    """The workspace of one step."""

    text: str
    """What the step says: an artifact lies where that names it."""
    own_paths: Sequence[str] = ()
    """What the step itself declares: nothing else may be taken for that."""
    is_private: bool = False
    """Whether it holds nothing but what was put there for this step."""
    is_everywhere: bool = False
    """Whether copies go to all places; else only to those that `text` names."""

    def files(self, wanted: Iterable[PlacedArtifact]) -> Iterator[PlacedFile]:
        """Yield copies of artifacts where they may be looked for."""
        for one in wanted:
            for path in one.paths():
                if self._is_wanted(one, path):
                    yield PlacedFile(path=path, artifact=one.artifact, is_optional=True)

    def _is_wanted(self, one: PlacedArtifact, path: str) -> bool:
        try:
            path = path_inside_root(path)
        except OutsideRoot:
            return False
        is_named = path in self.text or f"{path.rpartition('/')[0] or '/'}/" in self.text
        is_small = one.artifact.size_bytes <= MOST_COPIED and path.startswith(_RESULTS)
        is_allowed = path.startswith((*_RESULTS, "artifacts/")) or (self.is_private and path[0] != ".")
        return is_allowed and (is_named or (self.is_everywhere and is_small)) and not self._is_own(path)

    def _is_own(self, path: str) -> bool:
        return any(
            own == path or own.startswith(f"{path}/") or path.startswith(f"{own}/")
            for own in (name.strip("/").removeprefix("./") for name in self.own_paths)
        )


def placed_files(context: RunContext, step: Step, values: TemplateValues) -> tuple[PlacedFile, ...]:
    """Return the artifacts of earlier steps that go into the workspace of a step.

    Raises ArtifactMissing where one that the step needs is not there.
    """
    injected: list[PlacedFile] = []
    known: list[PlacedArtifact] = []
    for wanted in step.injections:
        artifact = values.injected(wanted)
        if artifact is not None:
            injected.append(PlacedFile(path=artifacts.injected_path(wanted.name), artifact=artifact))
            step_id = wanted.step if not wanted.pipeline else ""
            known.append(PlacedArtifact(step=step_id, artifact=artifact, injected_as=wanted.name))
        elif not wanted.is_optional:
            raise artifacts.ArtifactMissing(_missing_words(wanted))
    text = _said_text(context, step, values)
    is_private = not step.workspace.is_worktree and not step.workspace.root
    placement = Placement(
        text=text, is_private=is_private,
        own_paths=[values.fill(output.path) for output in step.outputs if output.path],
        is_everywhere=is_private and step.kind == "prompt",
    )  # fmt: skip
    known += earlier_artifacts(step, context.state, context.pipeline.steps, text)
    return (*injected, *placement.files(known))


def place_files(journal: RunJournal, workspace: str, placed: Sequence[PlacedFile]) -> None:
    """Put copies of artifacts into a workspace; blocking. Raises ArtifactMissing or FileRefused."""
    for one in placed:
        if not one.is_optional:
            artifacts.write_artifact(journal, one.artifact, workspace, one.path)
        elif artifacts.path_kind(workspace, one.path) is None:
            with contextlib.suppress(FileRefused, artifacts.ArtifactMissing):
                artifacts.write_artifact(journal, one.artifact, workspace, one.path)


def _missing_words(wanted: ArtifactInjection) -> str:
    if not wanted.pipeline:
        return f"{wanted.step} left no artifact {wanted.artifact}"
    why = f"no completed run of {wanted.pipeline} left an artifact {wanted.artifact}"
    return f"{why}; run {wanted.pipeline} first"


def _said_text(context: RunContext, step: Step, values: TemplateValues) -> str:
    """Return everything that a step says itself, in which it may name places of artifacts."""
    files, manifest = context.definition.files(), context.manifest
    texts = [step.source, files.text(step.source_path) or "" if step.source_path else ""]
    texts += [f"{contract.source}\n{contract.command}" for contract in step.contracts]
    texts += [rule.target for rule in step.validation]
    persona = manifest.personas.get(values.fill(step.persona)) if manifest and step.persona else None
    return "\n".join([*texts, files.text(persona.prompt_file) or "" if persona else ""])
