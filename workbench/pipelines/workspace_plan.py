"""The plan of an attempt's workspace: folder, mounts, artifacts of earlier steps, and what is looked for.

A plan has nothing left to fill in. Making one reads artifacts from the journal and touches no workspace.
"""

# An injected artifact lies below `artifacts/`. Real prompts name other places, too: those of the program
# whose files these are (`.wave/artifacts/`, `.agents/artifacts/`, also with the step's id in between) and the
# path that the earlier step declared. Copies go there, within the workspace, and never onto what is there.
#
# `subset_from` of a mount is written `STEP.ARTIFACT` or `STEP.ARTIFACT.MEMBER`, or with the name that an
# artifact is injected under. It comes to a list of paths, relative to what is mounted. A step that starts a
# pipeline hands the list on: every mount of that run holds no other file. What is not there, or leads out, is
# left out and named.

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ArtifactStored
from workbench.domain.step_messages import StepId
from workbench.domain.values import Json
from workbench.pipelines import artifacts, templates
from workbench.pipelines.documents import OutsideRoot, path_inside_root
from workbench.pipelines.executor import MountSubset, PlacedFile, Requirement, WorkspacePlan
from workbench.pipelines.model import ArtifactInjection, Mount, OutcomeSpec, Step
from workbench.pipelines.state import RunState
from workbench.pipelines.step_order import ancestors
from workbench.pipelines.template_values import TemplateValues
from workbench.pipelines.workspaces import filled_workspace, mounted_project, works_in_project, workspace_path

PREPARED_KINDS: Final = ("prompt", "command", "aggregate")
"""Steps that work in a workspace."""


def plan_workspace(values: TemplateValues, *, is_resumed: bool) -> WorkspacePlan:
    """Return the workspace of an attempt.

    Raises UnresolvedTemplate, ArtifactMissing, WorkspaceFailed or OutsideRoot.
    """
    run, step, step_run = values.run, values.step, values.step_run
    # An item of a matrix gets a folder of its own even where the step names one folder for all.
    path = workspace_path(
        run.definition.root, run.workspace_base, step, run.pipeline, step_run.id, values.fill
    )
    values = replace(values, workspace=path)
    fill = values.fill
    spec = filled_workspace(step.workspace, fill)
    # A resumed command is asked for its files again: they show in which folder it started.
    has_files = step.kind in PREPARED_KINDS and (step.kind == "command" or not is_resumed)
    placed = placed_files(values) if has_files else ()
    starts_in_project = step.kind == "command" and not placed
    return WorkspacePlan(
        id=StepId(run=run.journal.run_id, step=step_run.id, attempt=values.attempt), kind=step.kind,
        path=path, in_project=works_in_project(step, run.pipeline),
        folder=mounted_project(spec, path) if starts_in_project else path, spec=spec,
        placed=placed,
        subsets=tuple(mount_subset(values, mount) for mount in spec.mounts) if has_files else (),
        project_files=_project_files(values), requirements=tuple(_requirements(values)),
        outputs=tuple(replace(output, path=fill(output.path)) for output in step.outputs),
        outcomes=tuple(_filled_outcome(outcome, fill) for outcome in step.outcomes),
        is_checked=bool(step.contracts),
    )  # fmt: skip


def _project_files(values: TemplateValues) -> tuple[str, ...]:
    manifest, step = values.run.manifest, values.step
    persona = manifest.personas.get(values.persona_name(step.persona)) if manifest else None
    adapter = manifest.adapters.get(step.adapter or persona.adapter) if manifest and persona else None
    return adapter.project_files if adapter else ()


def _requirements(values: TemplateValues) -> Iterator[Requirement]:
    for number, rule in enumerate(values.step.validation, 1):
        if rule.type == "command":
            source, variables = templates.shell_command(rule.target, values.of, values.own_text)
            yield Requirement(
                rule=rule, part=f"requirement-{number}", source=source, variables=dict(variables),
                sandbox=values.level(),
            )  # fmt: skip
        else:
            yield Requirement(rule=replace(rule, target=values.fill(rule.target)))


def _filled_outcome(outcome: OutcomeSpec, fill: Callable[[str], str]) -> OutcomeSpec:
    with contextlib.suppress(templates.UnresolvedTemplate, artifacts.ArtifactMissing):
        return replace(outcome, source=fill(outcome.source))
    return outcome  # nothing is found under its unfilled source, which the run reports


# --- artifacts of earlier steps ------------------------------------------------------------------------


FOLDERS: Final = (".wave/artifacts", ".agents/artifacts")
"""Folders in which programs with such files keep artifacts."""
_HOMES: Final = (".agents/", ".wave/", ".workbench/")
_RESULTS: Final = tuple(
    f"{home}{name}" for home in _HOMES for name in ("output/", "artifacts/", "artifact.json")
)
"""Where only results lie. Beside them are pipelines and settings, which no artifact may replace."""
MOST_COPIED: Final = 1024 * 1024
"""Bytes of an artifact that is copied to places which the step does not name."""


class _EarlierArtifact(Struct, frozen=True, kw_only=True):
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


class _Placement(Struct, frozen=True, kw_only=True):
    """Decides which places of a workspace get a copy of an artifact."""

    text: str
    """What the step says: an artifact lies where that names it."""
    own_paths: Sequence[str] = ()
    """What the step itself declares: nothing else may be taken for that."""
    is_private: bool = False
    """Whether the workspace holds only what was put there for this step."""
    is_everywhere: bool = False
    """Whether copies go to all places; else only to those that `text` names."""

    def takes(self, item: _EarlierArtifact, path: str) -> bool:
        try:
            path = path_inside_root(path)
        except OutsideRoot:
            return False
        is_named = path in self.text or f"{path.rpartition('/')[0] or '/'}/" in self.text
        is_small = item.artifact.size_bytes <= MOST_COPIED and path.startswith(_RESULTS)
        is_allowed = path.startswith((*_RESULTS, "artifacts/")) or (self.is_private and path[0] != ".")
        return is_allowed and (is_named or (self.is_everywhere and is_small)) and not self._is_own(path)

    def _is_own(self, path: str) -> bool:
        return any(
            own == path or own.startswith(f"{path}/") or path.startswith(f"{own}/")
            for own in (name.strip("/").removeprefix("./") for name in self.own_paths)
        )


def placed_files(values: TemplateValues) -> tuple[PlacedFile, ...]:
    """Return the artifacts of earlier steps that go into the workspace of a step.

    Raises ArtifactMissing where one that the step needs is not there.
    """
    step = values.step
    injected: list[PlacedFile] = []
    earlier: list[_EarlierArtifact] = []
    for injection in step.injections:
        artifact = values.injected(injection)
        if artifact is not None:
            injected.append(PlacedFile(path=artifacts.injected_path(injection.name), artifact=artifact))
            step_id = injection.step if not injection.pipeline else ""
            earlier.append(_EarlierArtifact(step=step_id, artifact=artifact, injected_as=injection.name))
        elif not injection.is_optional:
            raise artifacts.ArtifactMissing(_missing_reason(injection))
    text = _own_words(values)
    is_private = not step.workspace.is_worktree and not step.workspace.root
    placement = _Placement(
        text=text, is_private=is_private,
        own_paths=[values.fill(output.path) for output in step.outputs if output.path],
        is_everywhere=is_private and step.kind == "prompt",
    )  # fmt: skip
    earlier += _earlier_artifacts(step, values.run.state, values.run.pipeline.steps, text)
    copies = (
        PlacedFile(path=path, artifact=item.artifact, is_optional=True)
        for item in earlier
        for path in item.paths()
        if placement.takes(item, path)
    )
    return (*injected, *copies)


def _earlier_artifacts(
    step: Step, state: RunState, steps: Sequence[Step], text: str
) -> list[_EarlierArtifact]:
    """Return the artifacts of the steps before one: of those it depends on, of all where it names a place."""
    names: Iterable[str] = step.needs
    if any(folder in text for folder in (*_HOMES, "artifacts/")):
        before = ancestors(step.id, {other.id: other.needs for other in steps})
        names = dict.fromkeys((*step.needs, *sorted(before)))
    runs = (state.steps[name] for name in names if name in state.steps)
    return [
        _EarlierArtifact(step=run.id, artifact=artifact)
        for run in runs
        for artifact in run.artifacts.values()
    ]


def _missing_reason(injection: ArtifactInjection) -> str:
    if not injection.pipeline:
        return f"{injection.step} left no artifact {injection.artifact}"
    why = f"no completed run of {injection.pipeline} left an artifact {injection.artifact}"
    return f"{why}; run {injection.pipeline} first"


def _own_words(values: TemplateValues) -> str:
    """Return everything that a step says itself, in which it may name places of artifacts."""
    step, files, manifest = values.step, values.run.definition.files(), values.run.manifest
    texts = [step.source, files.text(step.source_path) or "" if step.source_path else ""]
    texts += [f"{contract.source}\n{contract.command}" for contract in step.contracts]
    texts += [rule.target for rule in step.validation]
    persona = manifest.personas.get(values.persona_name(step.persona)) if manifest and step.persona else None
    return "\n".join([*texts, files.text(persona.prompt_file) or "" if persona else ""])


# --- mounts that hold only some files ------------------------------------------------------------------


MOST_NAMES: Final = 10_000
"""Files that an artifact may name for a mount."""
_PATH_MEMBERS: Final = ("path", "filename", "file", "name")
"""Where lists of changed files have the path of each, where their items are objects."""


def mount_subset(values: TemplateValues, mount: Mount) -> MountSubset | None:
    """Return the files that a mount is narrowed to; None for all. Raises ArtifactMissing."""
    step_id, name, member = values.step.subset_source(mount.subset_from, values.run.state.steps)
    if not name:
        inherited = values.run.definition.mounted
        return None if inherited is None else _subset_of(mount, inherited)
    artifact = values.artifact(f"{step_id}/{name}" if step_id else name)
    where = f"{mount.subset_from}, which names the files of the mount {mount.source}"
    if artifact is None:
        raise artifacts.ArtifactMissing(f"{where}, is not there: {step_id or 'nothing'} left no {name}")
    content = artifacts.artifact_content(values.run.journal, artifact)
    paths: Json = content.splitlines() if isinstance(content, str) else content
    paths = templates.member_value(paths, member) if member else paths
    if not isinstance(paths, list):
        raise artifacts.ArtifactMissing(f"{where}, is not a list of paths")
    names = tuple(dict.fromkeys(_paths_in(cast("list[Json]", paths))))
    if len(names) > MOST_NAMES:
        raise artifacts.ArtifactMissing(f"{where}, names {len(names):,} files; {MOST_NAMES:,} are the most")
    return _subset_of(mount, names)


def inherited_subset(values: TemplateValues) -> dict[str, Json]:
    """Return the files that the mounts of a run below are narrowed to, as its request names them."""
    subsets = [mount_subset(values, mount) for mount in values.step.workspace.mounts]
    narrowed = [subset.names for subset in subsets if subset is not None]
    if narrowed:
        return {"mounted": list(dict.fromkeys(name for names in narrowed for name in names))}
    inherited = values.run.definition.mounted
    return {} if inherited is None else {"mounted": list(inherited)}


def _paths_in(items: Sequence[Json]) -> Iterator[str]:
    for item in items:
        candidates = (item, *(templates.member_value(item, member) for member in _PATH_MEMBERS))
        path = next((value for value in candidates if isinstance(value, str)), "").strip()
        if path:
            yield path


def _subset_of(mount: Mount, names: Sequence[str]) -> MountSubset:
    inside, outside = list[str](), list[str]()
    source = os.path.normpath(mount.source)
    for name in names:
        try:
            path = path_inside_root(name)
        except OutsideRoot:
            outside.append(name)
            continue
        # A list of changed files is relative to the repository, whatever part of it is mounted.
        below = Path(path)
        is_below = source != "." and below.is_relative_to(source)
        inside.append(str(below.relative_to(source)) if is_below else path)
    return MountSubset(names=tuple(dict.fromkeys(inside)), outside=tuple(outside))
