"""Files of a project: where its manifests and pipelines lie, and the files that they name.

Paths never leave the project.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct, field

from workbench.domain.values import PIPELINE_FOLDERS
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import read_bounded
from workbench.policy.trust import RUN_OUTPUT_FOLDERS
from workbench.text.json_nodes import LocatedNode
from workbench.text.located import DocumentPlace, text_at
from workbench.text.safe import one_line
from workbench.text.yaml_nodes import MOST_YAML_BYTES

MOST_MATCHES: Final = 200
"""Files and folders that one pattern may name."""


class OutsideRoot(ValueError):
    """A path leads out of the project."""


class ProjectFiles(Protocol):
    """The files of a project as far as its pipelines name them."""

    def text(self, path: str) -> str | None:
        """Return a file's text; None if there is none that can be read. Raises OutsideRoot."""
        ...

    def is_folder(self, path: str) -> bool:
        """Return whether there is such a folder. Raises OutsideRoot."""
        ...

    def named(self, pattern: str) -> bool:
        """Return whether a path, or a pattern of paths, names anything. Raises OutsideRoot."""
        ...

    def seen(self) -> dict[str, str]: ...


def path_inside_root(path: str) -> str:
    """Return a path below the root in its shortest form. Raises OutsideRoot."""
    normal = os.path.normpath(path)
    if os.path.isabs(normal) or normal == ".." or normal.startswith("../") or "\0" in path:  # noqa: PTH117 text
        raise OutsideRoot(path)
    return normal


@contextmanager
def reporting_outside(place: DocumentPlace, hint: str = "") -> Generator[None]:
    """Report a path that leads out of the project, with what to do about it."""
    try:
        yield
    except OutsideRoot as error:
        place.error("path_outside", f"{one_line(str(error), 120)} leads out of the project{hint}")


def check_path_inside(place: DocumentPlace, path: str, subject: str, base: str = "") -> None:
    """Report a path that leads out of the project, or of what else it has to be in."""
    try:
        path_inside_root(path)
    except OutsideRoot:
        where = f" of {base}" if base else ""
        place.error("path_outside", f"{subject} leads out{where}: {one_line(path, 120)}")


def require_folder(place: DocumentPlace, files: ProjectFiles, owner: str) -> None:
    """Report a folder that is not there or leads out of the project."""
    path = text_at(place)
    with reporting_outside(place):
        if not files.is_folder(path):
            place.warn("missing_file", f"the folder {one_line(path, 120)} of {owner} is not there")


def require_file(place: DocumentPlace, files: ProjectFiles, subject: str, *, is_error: bool = False) -> None:
    """Report a file that is not there or leads out of the project."""
    path = text_at(place)
    with reporting_outside(place, "; keep it inside"):
        if files.text(path) is None:
            message = f"{subject} is not there: {one_line(path, 160)}; make the file or name another"
            if is_error:
                place.error("missing_file", message)
            else:
                place.warn("missing_file", message, stops_run=True)


def check_script_exists(command: DocumentPlace, files: ProjectFiles, *, is_error: bool = False) -> None:
    """Report a script that a command line names and that is not there (SPEC part B, 32)."""
    node, words = command.node, text_at(command).split()
    first = words[0] if words else ""
    if not first:
        command.error("missing_field", "the command is empty")
    elif first.startswith("/"):
        return
    elif "/" in first or first.endswith((".sh", ".py")):
        require_file(
            command.at(LocatedNode(value=first, line=node.line, column=node.column), command.path),
            files,
            "the script",
            is_error=is_error,
        )


def matching_paths(root: str, pattern: str) -> Iterator[str]:
    """Yield what a path or a pattern such as `docs/*.md` names below a root, sorted, at most `MOST_MATCHES`.

    Raises OutsideRoot; what a pattern matches through a link that leads out is left out.
    """
    base, pattern = Path(root), path_inside_root(pattern)
    is_plain = not any(sign in pattern for sign in "*?[")
    paths = [base / pattern] if is_plain else sorted(islice(base.glob(pattern), MOST_MATCHES))
    for path in paths:
        real = os.path.realpath(path)
        if not real.startswith(root.rstrip("/") + "/") and real != root:
            if is_plain:
                raise OutsideRoot(pattern)
            continue
        if path.exists():
            yield path.relative_to(base).as_posix()


class DiskFiles(Struct, frozen=True):
    """The files below a folder; a link may lead out of it as little as a path."""

    root: str
    """Real path."""
    _seen: dict[str, str] = field(default_factory=dict[str, str])

    def text(self, path: str) -> str | None:
        """Return a file's text; what lies where runs leave their results is none (see `policy.trust`)."""
        if any(path_inside_root(path).startswith(f"{folder}/") for folder in RUN_OUTPUT_FOLDERS):
            return None
        real = self._real(path)
        try:
            data = read_bounded(Path(real), MOST_YAML_BYTES)
        except (FileRefused, OSError):
            return None
        if data is None:
            return None
        self._seen[path_inside_root(path)] = data.decode("utf-8", "replace")
        return self._seen[path_inside_root(path)]

    def is_folder(self, path: str) -> bool:
        return Path(self._real(path)).is_dir()

    def named(self, pattern: str) -> bool:
        return next(matching_paths(self.root, pattern), None) is not None

    def seen(self) -> dict[str, str]:
        return dict(self._seen)

    def _real(self, path: str) -> str:
        real = os.path.realpath(f"{self.root}/{path_inside_root(path)}")
        if real != self.root and not real.startswith(self.root.rstrip("/") + "/"):
            raise OutsideRoot(path)
        return real


class FrozenFiles(Struct, frozen=True):
    """The texts that a run was started with."""

    texts: dict[str, str]

    def text(self, path: str) -> str | None:
        return self.texts.get(path_inside_root(path))

    def is_folder(self, path: str) -> bool:
        """Return True: folders were looked at when the run was started."""
        path_inside_root(path)
        return True

    def named(self, pattern: str) -> bool:
        path_inside_root(pattern)
        return True

    def seen(self) -> dict[str, str]:
        return dict(self.texts)


MANIFEST_NAMES: Final = ("workbench.yaml", "wave.yaml", ".wave/wave.yaml")
PIPELINE_SUFFIXES: Final = (".yaml", ".yml")
MOST_PIPELINES: Final = 500
"""Pipelines of a project that are looked at."""


def find_manifest(file: str) -> str | None:
    """Return the nearest manifest of a file or folder, looking upwards; None if there is none."""
    start = Path(os.path.realpath(file))
    if not start.is_dir():
        start = start.parent
    for folder in (start, *start.parents):
        for name in MANIFEST_NAMES:
            if (folder / name).is_file():
                return str(folder / name)
    return None


def project_folder(manifest_file: str) -> str:
    """Return the folder that a manifest's paths are relative to."""
    folder = Path(manifest_file).parent
    return str(folder.parent if folder.name == ".wave" else folder)


def pipeline_files(root: str) -> Iterator[str]:
    """Yield the files of a project's folders of pipelines, relative to the project."""
    for folder in PIPELINE_FOLDERS:
        try:
            names = sorted(
                path.name for path in (Path(root) / folder).iterdir() if path.suffix in PIPELINE_SUFFIXES
            )
        except OSError:
            continue
        yield from (f"{folder}/{name}" for name in names)


def watched_paths(root: str) -> Iterator[str]:
    """Yield the paths of manifests and pipelines of a project, of manifests also where there is none."""
    yield from (f"{root}/{name}" for name in MANIFEST_NAMES)
    yield from (f"{root}/{file}" for file in islice(pipeline_files(root), MOST_PIPELINES))
