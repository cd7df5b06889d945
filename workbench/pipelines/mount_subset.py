"""Mounts that hold only the files which an artifact of an earlier step names (`subset_from`).

Written `STEP.ARTIFACT` or `STEP.ARTIFACT.MEMBER`, or with the name that an artifact is injected under. It
comes to a list of paths, relative to what is mounted. A step that starts a pipeline hands the list on: every
mount of that run holds no other file. What is not there, or leads out, is left out and named.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, cast

from msgspec import Struct

from workbench.domain.events import ArtifactStored
from workbench.domain.values import Json
from workbench.pipelines import artifacts, templates
from workbench.pipelines.documents import OutsideRoot, path_inside_root
from workbench.pipelines.executor import RunJournal
from workbench.pipelines.model import Mount, Step
from workbench.pipelines.workspaces import MountSubset

MOST_NAMES: Final = 10_000
"""Files that an artifact may name for a mount."""
_PATH_MEMBERS: Final = ("path", "filename", "file", "name")
"""Where lists of changed files have the path of each, where they say more than that."""


def subset_source(text: str, step: Step, step_ids: Collection[str]) -> tuple[str, str, str]:
    """Return step, artifact and member that a `subset_from` names; no step for an injected artifact.

    Names may hold points: the longest that is known counts. Both are empty where nothing of it is known.
    """
    parts = text.strip().split(".")
    injected = {wanted.name for wanted in step.injections}
    for cut in range(len(parts), 0, -1):
        head, rest = ".".join(parts[:cut]), parts[cut:]
        if head in step_ids and rest:
            return head, rest[0], ".".join(rest[1:])
        if head in injected:
            return "", head, ".".join(rest)
    return "", "", ""


class SubsetReader(Struct, frozen=True, kw_only=True):
    """Reads the lists of a step's mounts."""

    journal: RunJournal
    step: Step
    step_ids: Collection[str]
    find: Callable[[str], ArtifactStored | None]
    """The artifact that `STEP/NAME`, or the name it is injected under, stands for."""
    given: tuple[str, ...] | None = None
    """What the run above was narrowed to; None where it was not."""

    def of(self, mount: Mount) -> MountSubset | None:
        """Return what a mount is narrowed to; None for the whole. Raises ArtifactMissing."""
        if not mount.subset_from:
            return None if self.given is None else _subset_of(mount, self.given)
        step_id, name, member = subset_source(mount.subset_from, self.step, self.step_ids)
        if not name:
            return None if self.given is None else _subset_of(mount, self.given)
        artifact = self.find(f"{step_id}/{name}" if step_id else name)
        where = f"{mount.subset_from}, which names the files of the mount {mount.source}"
        if artifact is None:
            raise artifacts.ArtifactMissing(f"{where}, is not there: {step_id or 'nothing'} left no {name}")
        content = artifacts.parse_content(artifacts.read_artifact(self.journal, artifact))
        listed: Json = content.splitlines() if isinstance(content, str) else content
        listed = templates.member_value(listed, member) if member else listed
        if not isinstance(listed, list):
            raise artifacts.ArtifactMissing(f"{where}, is not a list of paths")
        names = tuple(dict.fromkeys(_paths_in(cast("list[Json]", listed))))
        if len(names) > MOST_NAMES:
            raise artifacts.ArtifactMissing(
                f"{where}, names {len(names):,} files; {MOST_NAMES:,} are the most"
            )
        return _subset_of(mount, names)

    def handed_on(self) -> dict[str, Json]:
        """Return what the mounts of a run below are narrowed to, as that run's request names it."""
        subsets = [subset for mount in self.step.workspace.mounts if (subset := self.of(mount)) is not None]
        if not subsets:
            return {} if self.given is None else {"mounted": list(self.given)}
        return {"mounted": list(dict.fromkeys(name for subset in subsets for name in subset.names))}


def _paths_in(listed: Sequence[Json]) -> Iterator[str]:
    for item in listed:
        values = (item, *(templates.member_value(item, member) for member in _PATH_MEMBERS))
        path = next((value for value in values if isinstance(value, str)), "").strip()
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
