"""Where manifest, prompts and schemas are read from: the disk, or what a run sealed when it was started.

Owns that a path stays below its root and that what was read is remembered, so that a run can keep it. It
writes nothing.
"""

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from workbench.effects.files import FileRefused, read_bounded
from workbench.pipelines.source import LARGEST
from workbench.policy.trust import LEFT_BY_RUNS

MOST_MATCHES: Final = 200
"""Files and folders that one pattern may name."""


class OutsideRoot(ValueError):
    """A path leads out of the project."""


class Files(Protocol):
    """The files of a project as far as its pipelines name them."""

    def text(self, path: str) -> str | None:
        """Return a file's text; None if there is none that can be read.

        Raises:
            OutsideRoot: The path leads out of the root.
        """
        ...

    def is_folder(self, path: str) -> bool:
        """Return whether there is such a folder.

        Raises:
            OutsideRoot: The path leads out of the root.
        """
        ...

    def named(self, pattern: str) -> bool:
        """Return whether a path, or a pattern of paths, names anything.

        Raises:
            OutsideRoot: It leads out of the root.
        """
        ...

    def seen(self) -> dict[str, str]:
        """Return every text that was read, by its path."""
        ...


def inside(path: str) -> str:
    """Return a path below the root in its shortest form.

    Raises:
        OutsideRoot: It is absolute or leads out.
    """
    found = os.path.normpath(path)
    if os.path.isabs(found) or found == ".." or found.startswith("../") or "\0" in path:  # noqa: PTH117 text
        raise OutsideRoot(path)
    return found


def matching(root: str, pattern: str) -> Iterator[str]:
    """Yield what a path or a file name pattern names below a root, sorted, at most `MOST_MATCHES`.

    Args:
        root: real path of a folder.
        pattern: `docs/*.md`, or a plain path.

    Raises:
        OutsideRoot: it leads out of the root; what it matches through a link that does is left out.
    """
    base, pattern = Path(root), inside(pattern)
    is_plain = not any(sign in pattern for sign in "*?[")
    paths = [base / pattern] if is_plain else sorted(itertools.islice(base.glob(pattern), MOST_MATCHES))
    for path in paths:
        real = os.path.realpath(path)
        if not real.startswith(root.rstrip("/") + "/") and real != root:
            if is_plain:
                raise OutsideRoot(pattern)
            continue
        if path.exists():
            yield path.relative_to(base).as_posix()


@dataclass(frozen=True, slots=True)
class DiskFiles:
    """The files below a folder; a link may lead out of it as little as a path."""

    root: str
    """Real path."""
    _seen: dict[str, str] = field(default_factory=dict[str, str])

    def text(self, path: str) -> str | None:
        """Return a file's text; what lies where runs leave their results is none (see `policy.trust`)."""
        if any(inside(path).startswith(f"{folder}/") for folder in LEFT_BY_RUNS):
            return None
        real = self._real(path)
        try:
            data = read_bounded(Path(real), LARGEST)
        except (FileRefused, OSError):
            return None
        if data is None:
            return None
        self._seen[inside(path)] = data.decode("utf-8", "replace")
        return self._seen[inside(path)]

    def is_folder(self, path: str) -> bool:
        """Return whether there is such a folder."""
        return Path(self._real(path)).is_dir()

    def named(self, pattern: str) -> bool:
        """Return whether a path, or a pattern of paths, names anything."""
        return next(matching(self.root, pattern), None) is not None

    def seen(self) -> dict[str, str]:
        """Return every text that was read."""
        return dict(self._seen)

    def _real(self, path: str) -> str:
        real = os.path.realpath(f"{self.root}/{inside(path)}")
        if real != self.root and not real.startswith(self.root.rstrip("/") + "/"):
            raise OutsideRoot(path)
        return real


@dataclass(frozen=True, slots=True)
class FrozenFiles:
    """The texts that a run was started with."""

    texts: dict[str, str]

    def text(self, path: str) -> str | None:
        """Return a text."""
        return self.texts.get(inside(path))

    def is_folder(self, path: str) -> bool:
        """Return True: folders were looked at when the run was started."""
        inside(path)
        return True

    def named(self, pattern: str) -> bool:
        """Return True, as `is_folder` does."""
        inside(pattern)
        return True

    def seen(self) -> dict[str, str]:
        """Return all of it."""
        return dict(self.texts)
