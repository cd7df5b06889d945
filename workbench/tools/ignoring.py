"""What searches pass over: `.git`, what `.gitignore` and `.ignore` name, and what no agent may read.

Owns reading those files on the way down. The patterns are matched by pathspec over RE2, so that a hostile
one costs no more time than any other. It never reads outside the folder that is walked.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from workbench.effects.files import FileRefused, Root
from workbench.effects.walk import Folder, walk

_NAMES: Final = (".gitignore", ".ignore")
_EXCLUDES: Final = ".git/info/exclude"
_LARGEST: Final = 262_144
"""Bytes of one such file that are read."""

_NEVER: Final = frozenset({".git", ".hg", ".svn", ".jj"})

Spec = tuple[str, Any]
"""The folder that patterns hold from, with a slash at its end unless it is the root, and the patterns."""


class Sieve:
    """Decides on the way down what is seen."""

    def __init__(self, root: Root, is_closed: Callable[[str], bool], *, with_ignored: bool) -> None:
        self._root = root
        self._is_closed = is_closed
        self._with_ignored = with_ignored
        self._specs: dict[str, tuple[Spec, ...]] = {}
        self.is_cut = False
        """Whether something was too deep or too much to be looked at."""

    def folders(self, rel: str) -> Iterator[Folder]:
        """Walk a folder; each one holds only the files and folders that are to be seen.

        Raises:
            FileRefused: There is no such folder, or it cannot be entered.
        """
        above = self._above(rel)
        for folder in walk(self._root, rel):
            self.is_cut |= folder.is_cut
            parent = folder.path.rpartition("/")[0]
            specs = self._with_own(folder, self._specs.get(parent, above))
            self._specs[folder.path] = specs
            folder.folders[:] = [
                name
                for name in folder.folders
                if name not in _NEVER and self._is_seen(folder.below(name), specs, "/")
            ]
            folder.files[:] = [name for name in folder.files if self._is_seen(folder.below(name), specs, "")]
            yield folder

    def _above(self, rel: str) -> tuple[Spec, ...]:
        """Return what the repository's own list and the folders above the first one say."""
        if self._with_ignored:
            return ()
        specs = _spec("", self._read(_EXCLUDES))
        parts = [part for part in rel.split("/") if part not in ("", ".")]
        for depth in range(len(parts)):
            base = "".join(f"{part}/" for part in parts[:depth])
            for name in _NAMES:
                specs += _spec(base, self._read(base + name))
        return specs

    def _with_own(self, folder: Folder, specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
        if self._with_ignored:
            return ()
        for name in _NAMES:
            if name in folder.files:
                specs += _spec(folder.below(""), self._read(folder.below(name)))
        return specs

    def _read(self, path: str) -> bytes:
        with contextlib.suppress(FileRefused, OSError), self._root.open_read(path) as file:
            return file.read(_LARGEST)
        return b""

    def _is_seen(self, path: str, specs: tuple[Spec, ...], end: str) -> bool:
        if self._is_closed(path):
            return False
        for base, spec in reversed(specs):
            said = spec.check_file(path.removeprefix(base) + end).include
            if said is not None:
                return not said
        return True


def _spec(base: str, data: bytes) -> tuple[Spec, ...]:
    lines = data.decode("utf-8", "replace").splitlines()
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return ()
    import pathspec

    made: list[Any] = []
    try:
        made.append(pathspec.GitIgnoreSpec.from_lines(lines, backend="re2"))
    except Exception:  # noqa: BLE001 -- one bad line must not hide the others, whatever the library raises
        made += filter(None, map(_line, lines))
    return tuple((base, spec) for spec in made)


def _line(line: str) -> Any:
    import pathspec

    try:
        return pathspec.GitIgnoreSpec.from_lines([line], backend="re2")
    except Exception:  # noqa: BLE001 -- git passes over a line that it cannot read
        return None
