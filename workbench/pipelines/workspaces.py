"""Workspaces of steps: a folder of their own, a folder of the project, or a git worktree, with its mounts."""

# Mounts are copies. A readonly one has no write permission; what was written in a readwrite one is put into
# the project when the step is done, only onto files that are still what they were. Nothing here may mount
# without being root.
#
# What a step changed is what differs from the digests of its copy, taken before the copy has its name: the
# project may change while it is copied. Traces and workspaces are never walked: both grow with every run, and
# real manifests keep both in the project.
#
# A mount without a mode is readonly, as the program whose files these are documents it; the narrower
# reading.

import contextlib
import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.folders import files_below, make_folder, put_file
from workbench.effects.git import GitFailed, add_worktree, run_git
from workbench.effects.path_files import private_folder, read_bounded, write_atomic
from workbench.effects.tree_copies import copy_named_files, copy_tree
from workbench.pipelines.documents import OutsideRoot, matching_paths, path_inside_root
from workbench.pipelines.executor import MountSubset
from workbench.pipelines.model import Mount, Pipeline, Step, WorkspaceSpec
from workbench.text.safe import one_line

BRANCH_NOTES: Final = ".branches"
"""Folder beside the workspaces of a run that names the branches which it made."""
_SLUG: Final = re.compile(r"[^A-Za-z0-9._-]+")


class WorkspaceFailed(Exception):
    """A workspace cannot be made, or what a step wrote cannot be given back; says what to do."""


def folder_slug(text: str) -> str:
    return _SLUG.sub("-", text).strip("-.")[:80] or "step"


def _branch_note(base: str, branch: str) -> Path:
    name = hashlib.sha256(branch.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return Path(f"{base}/{BRANCH_NOTES}/{name}")


def noted_branches(base: str) -> list[str]:
    """Return the branches that a run made for its worktrees, by the notes in its folder of workspaces."""
    folder = Path(base) / BRANCH_NOTES
    notes = sorted(folder.iterdir()) if folder.is_dir() else []
    return [data.decode("utf-8", "surrogateescape") for note in notes if (data := read_bounded(note))]


def _subset_note(subset: MountSubset, mount: Mount, target: str) -> str:
    """Say of a mount that was made which files it holds, and which of the named ones it does not."""
    missing = [name for name in subset.names if not os.path.lexists(f"{target}/{name}")]
    count = len(subset.names) - len(missing)
    whose = f"that {mount.subset_from} names" if mount.subset_from else "that the run above was given"
    note = f"{mount.target.strip('/') or '.'} holds only the {count} files {whose}"
    left_out = (("not there", missing), ("outside", subset.outside))
    more = [f"{why}: {_first_names(names)}" for why, names in left_out if names]
    return f"{note} ({'; '.join(more)})" if more else note


def _first_names(names: Sequence[str]) -> str:
    text = ", ".join(one_line(name, 80) for name in names[:5])
    return f"{text} and {len(names) - 5} more" if len(names) > 5 else text


def workspace_path(
    project: str, base: str, step: Step, pipeline: Pipeline, name: str, fill: Callable[[str], str]
) -> str:
    """Return the folder that a step or item works in; no disk is asked. Raises WorkspaceFailed outside."""
    spec = step.workspace
    if spec.ref:
        other = pipeline.step(spec.ref)
        return workspace_path(project, base, other, pipeline, other.id, fill)
    if spec.is_worktree:
        return f"{base}/worktree-{folder_slug(fill(spec.branch) or name)}"
    if not spec.root:
        return f"{base}/{folder_slug(name)}"
    try:
        return os.path.normpath(f"{project}/{path_inside_root(fill(spec.root))}")
    except OutsideRoot:
        raise WorkspaceFailed(f"the workspace {spec.root} leads out of the project") from None


def works_in_project(step: Step, pipeline: Pipeline) -> bool:
    """Return whether a step works in a folder of the project itself, not in one that is made for it."""
    spec = step.workspace
    if spec.ref:
        return works_in_project(pipeline.step(spec.ref), pipeline)
    return bool(spec.root) and not spec.is_worktree


def filled_workspace(spec: WorkspaceSpec, fill: Callable[[str], str]) -> WorkspaceSpec:
    """Return a workspace with nothing left to fill in."""
    mounts = (replace(mount, source=fill(mount.source), target=fill(mount.target)) for mount in spec.mounts)
    return replace(spec, branch=fill(spec.branch), base=fill(spec.base), mounts=tuple(mounts))


def mounted_project(spec: WorkspaceSpec, path: str) -> str:
    """Return where a step has the whole project mounted, or its workspace: there its commands start."""
    targets = (mount.target.lstrip("/") for mount in spec.mounts if os.path.normpath(mount.source) == ".")
    return next((os.path.normpath(f"{path}/{target}") for target in targets), path)


class Workspaces(Struct, frozen=True, kw_only=True):
    """The workspaces of one run."""

    project: str
    """Real path."""
    base: str
    """Private folder of this run."""
    environment: Mapping[str, str]
    trace_folder: str = ""
    """Where traces of runs are written; empty where none are."""
    is_over: Callable[[str], bool] = field(default=lambda _run_id: False)
    """Whether a run, named by its id, has ended."""

    @property
    def root(self) -> str:
        """Return the folder that holds the workspaces of all runs."""
        return os.path.dirname(self.base)  # noqa: PTH120 -- text

    @property
    def _skipped(self) -> frozenset[str]:
        """Return the real paths of the folders that no copy holds."""
        folders = (self.root, *((self.trace_folder,) if self.trace_folder else ()))
        return frozenset(map(os.path.realpath, folders))

    def prepare(
        self,
        spec: WorkspaceSpec,
        path: str,
        project_files: tuple[str, ...] = (),
        subsets: Sequence[MountSubset | None] = (),
    ) -> tuple[str, ...]:
        """Make a workspace ready; what is there already stays. Return what is to be said of its mounts.

        `subsets` narrows the mounts, in their order. Raises WorkspaceFailed or FileRefused.
        """
        if spec.is_worktree:
            self._worktree(path, spec.branch, spec.base)
        elif path != self.project and all(self._ends(path, mount)[1] != path for mount in spec.mounts):
            make_folder(path)
        notes: list[str] = []
        for number, (mount, subset) in enumerate(itertools.zip_longest(spec.mounts, subsets)):
            self._mount(path, number, mount, subset)
            if subset is not None:
                notes.append(_subset_note(subset, mount, self._ends(path, mount)[1]))
        if os.path.realpath(path) != self.project and not spec.is_worktree:
            self._project_files(path, project_files)
        return tuple(notes)

    def _worktree(self, path: str, branch: str, base: str) -> None:
        if Path(path).is_dir():
            return
        make_folder(str(Path(path).parent))
        branch = branch or folder_slug(path.rpartition("/")[2])
        if branch.startswith("-") or base.startswith("-"):
            raise WorkspaceFailed("a branch cannot start with a dash")
        is_known = self._is_known(f"refs/heads/{branch}")
        is_ours = self._release_branch(branch) if is_known else True
        words = ["{}", branch] if is_known else ["-b", branch, "{}", *([base] if base else [])]
        try:
            add_worktree(self.project, path, *words, environment=self.environment)
        except GitFailed as error:
            raise WorkspaceFailed(f"git made no worktree for {branch}: {str(error)[-300:]}") from None
        if is_ours:
            note = _branch_note(self.base, branch)
            private_folder(note.parent)
            write_atomic(note, branch.encode("utf-8", "surrogatepass"))

    def _release_branch(self, branch: str) -> bool:
        """Take a branch from the worktree of a run that is over; return whether a run had made it.

        That worktree stays as it is, with its commit checked out instead of the branch.
        """
        for folder in self._worktrees_of(branch):
            run_id, _, rest = os.path.relpath(
                os.path.realpath(folder), os.path.realpath(self.root)
            ).partition("/")
            if run_id.startswith("..") or not rest or not self.is_over(run_id):
                continue
            with contextlib.suppress(GitFailed):
                if Path(folder).is_dir():
                    run_git(folder, "checkout", "--quiet", "--detach", environment=self.environment)
                else:
                    run_git(self.project, "worktree", "prune", environment=self.environment)
            return _branch_note(f"{self.root}/{run_id}", branch).is_file()
        return False

    def _worktrees_of(self, branch: str) -> list[str]:
        try:
            listed = run_git(
                self.project, "worktree", "list", "--porcelain", "-z", environment=self.environment
            )
        except GitFailed:
            return []
        folder, folders = "", list[str]()
        for line in listed.decode("utf-8", "surrogateescape").split("\0"):
            name, _, value = line.partition(" ")
            folder = value if name == "worktree" else folder
            if name == "branch" and value == f"refs/heads/{branch}":
                folders.append(folder)
        return folders

    def _is_known(self, name: str) -> bool:
        with contextlib.suppress(GitFailed):
            run_git(self.project, "rev-parse", "--verify", "--quiet", name, environment=self.environment)
            return True
        return False

    def _mount(self, path: str, number: int, mount: Mount, subset: MountSubset | None) -> None:
        source, target = self._ends(path, mount)
        if Path(target).exists():
            return
        if not Path(source).exists():
            raise WorkspaceFailed(f"{mount.source} is not there to be mounted")
        is_readonly = mount.is_readonly and target != path

        def note_base(copy: str) -> None:
            if not mount.is_readonly:
                self._note_base(path, number, copy)

        if subset is not None and Path(source).is_dir():
            copy_named_files(source, target, subset.names, is_readonly=is_readonly, on_copied=note_base)
            return
        skip = self._skipped | {os.path.realpath(path)}
        copy_tree(source, target, is_readonly=is_readonly, skip=skip, on_copied=note_base)

    def _ends(self, path: str, mount: Mount) -> tuple[str, str]:
        try:
            source = os.path.realpath(f"{self.project}/{path_inside_root(mount.source)}")
            target = os.path.normpath(f"{path}/{path_inside_root(mount.target.lstrip('/'))}")
        except OutsideRoot:
            raise WorkspaceFailed(f"the mount {mount.source} leads out of the project") from None
        if source != self.project and not source.startswith(self.project + "/"):
            raise WorkspaceFailed(f"the mount {mount.source} leads out of the project")
        return source, target

    def _project_files(self, path: str, names: tuple[str, ...]) -> None:
        for pattern in names:
            try:
                for name in matching_paths(self.project, pattern):
                    self._project_file(path, name)
            except OutsideRoot:
                raise WorkspaceFailed(f"the project file {pattern} leads out of the project") from None

    def _project_file(self, path: str, name: str) -> None:
        source = os.path.realpath(f"{self.project}/{name}")
        if Path(source).is_dir():
            target = f"{path}/{name}"
            if not Path(target).exists():
                copy_tree(source, target, is_readonly=False, skip=self._skipped | {os.path.realpath(path)})
        elif (data := read_bounded(Path(source))) is not None:
            put_file(path, name, data)

    # --- what was written in a readwrite mount ------------------------------------------------------

    def _note(self, path: str, number: int) -> Path:
        return Path(f"{self.base}/.mounts/{folder_slug(path.rpartition('/')[2])}-{number}.json")

    def _note_base(self, path: str, number: int, copy: str) -> None:
        note = self._note(path, number)
        private_folder(note.parent)
        digests = {name: _file_digest(f"{copy}/{name}") for name in files_below(copy)}
        write_atomic(note, json.dumps(digests).encode())

    def give_back(self, spec: WorkspaceSpec, path: str) -> list[str]:
        """Write what a step changed in its readwrite mounts into the project; return the paths.

        Raises WorkspaceFailed if a file was changed in the project meanwhile, before anything of that
        mount is written; or FileRefused.
        """
        written: list[str] = []
        for number, mount in enumerate(spec.mounts):
            if not mount.is_readonly:
                source, target = self._ends(path, mount)
                written += self._given_back(path, number, source, target)
        return written

    def _given_back(self, path: str, number: int, source: str, target: str) -> list[str]:
        noted = read_bounded(self._note(path, number))
        if noted is None or not Path(source).is_dir():
            return []
        before = cast("dict[str, str]", json.loads(noted))
        ours = tuple(f"{os.path.relpath(folder, source)}/" for folder in self._skipped)
        names = (name for name in files_below(target) if not name.startswith(ours))
        after = {name: _file_digest(f"{target}/{name}") for name in names}
        changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
        now = {name: _file_digest(f"{source}/{name}") for name in changed}
        open_ = sorted(name for name in changed if now[name] != after.get(name))
        moved = [name for name in open_ if now[name] != before.get(name)]
        if moved:
            raise WorkspaceFailed(
                f"changed in the project meanwhile: {', '.join(moved[:5])}; the step's own are in {target}"
            )
        with Root(source) as root:
            for name in open_:
                _replace_if_unchanged(root, name, target if name in after else None, before.get(name))
        return open_


def _file_digest(path: str) -> str | None:
    data = read_bounded(Path(path))
    return None if data is None else hashlib.sha256(data).hexdigest()


def _replace_if_unchanged(root: Root, name: str, source: str | None, before: str | None) -> None:
    def is_same(data: bytes | None) -> bool:
        return (None if data is None else hashlib.sha256(data).hexdigest()) == before

    if source is None:
        root.remove(name, is_same)
        return
    place = Path(f"{source}/{name}")
    data = read_bounded(place)
    if data is None:
        raise FileRefused(name, "it vanished from the workspace", "run the step again")
    root.commit(root.stage(name, data, place.stat().st_mode & 0o777), is_same)
