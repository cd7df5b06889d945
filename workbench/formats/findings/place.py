"""Where in a workspace a finding is: paths of other machines end at the longest part that exists here."""

import contextlib
import itertools
import os
import posixpath
import re
from collections import Counter, OrderedDict
from hashlib import blake2b
from typing import Final
from unicodedata import normalize

from msgspec import Struct

from workbench.effects.file_primitives import FileMissing, FileRefused
from workbench.effects.files import Root
from workbench.effects.folder_walk import MOST_NAMES
from workbench.text.safe import safe_text

MOST_FILE: Final = 4_000_000
"""Bytes of a file whose lines are looked at."""
_MOST_PARTS: Final = 64
_MOST_LOOKS: Final = 16
"""How many ends of one path are looked for in the workspace."""
_MOST_PATH: Final = 4_096
"""Characters of a path; no system opens a longer one."""
_MOST_REMEMBERED: Final = 100_000
_MOST_LINES: Final = 2_000_000
"""Lines of all files that are remembered at once."""
_MOST_LOOKED_AT: Final = 256 * 1024 * 1024
"""Bytes of all files whose lines are looked at, so that a list cannot have large files read for ever."""
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_OUTSIDE: Final = "it lies outside the workspace"
MISSING: Final = "there is no such file in the workspace"


class FoundPlace(Struct, frozen=True):
    """Where something is."""

    path: str
    """Relative to the workspace; as it was told where no such file is here."""
    problem: str = ""
    root: str = ""
    """What was taken off in front; empty for a path of this workspace."""


class Locator:
    """Finds the files of one list; remembers what it has looked for."""

    def __init__(self, root: Root, told_root: str = "") -> None:
        """Look below `root`; `told_root` is what a human says the told paths begin with."""
        self._root, self._told_root = root, _with_slashes(told_root).rstrip("/")
        self._places: dict[tuple[str, str], FoundPlace] = {}
        self._problems: dict[str, str] = {}
        self._lines: OrderedDict[str, tuple[bytes, ...]] = OrderedDict()
        self._line_count, self._looked_at = 0, 0
        self._names: frozenset[str] | None = None
        self._text = ("", "")
        """The file whose text was counted last, and that text."""
        self.roots: Counter[str] = Counter()

    def find(self, location: str, base: str = "") -> FoundPlace:
        """Return the place of a path as a file tells it."""
        key = (location, base)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = self._find(_joined(base, location))
        if place.root and not place.problem:
            self.roots[place.root] += 1
        return place

    def _find(self, told: str) -> FoundPlace:
        if not told or "\0" in told:
            return FoundPlace(told.replace("\0", ""), "it names no file")
        if len(told) > _MOST_PATH:
            return FoundPlace(told[:_MOST_PATH], "its path is too long")
        path = posixpath.normpath(_with_slashes(told))
        if self._told_root:
            inner = path.removeprefix(f"{self._told_root}/")
            if inner == path:
                return FoundPlace(path, f"it does not start with {self._told_root}")
            return FoundPlace(inner, self.problem(inner), self._told_root)
        own = f"{self._root.path}/"
        if path.startswith(own):
            return FoundPlace(path[len(own) :], self.problem(path[len(own) :]))
        if path.split("/", 1)[0] == "..":
            return FoundPlace(path, _OUTSIDE)
        if not path.startswith("/") and self.problem(path) != MISSING:
            return FoundPlace(path, self.problem(path))
        return self._longest_suffix(path)

    def _longest_suffix(self, path: str) -> FoundPlace:
        parts = [part for part in path.split("/") if part]
        first = 0 if path.startswith("/") else 1
        begins = (n for n in range(first, min(len(parts), _MOST_PARTS)) if self._is_name_here(parts[n]))
        for start in itertools.islice(begins, _MOST_LOOKS):
            inner = "/".join(parts[start:])
            if self.problem(inner) != MISSING:
                root = path[: len(path) - len(inner)].rstrip("/")
                return FoundPlace(inner, self.problem(inner), root or "/")
        return FoundPlace(path, MISSING)

    def _is_name_here(self, name: str) -> bool:
        """Whether something in the workspace may have this name, whatever its letters' case and form."""
        if self._names is None:
            self._names = frozenset(map(_plain_name, _names(self._root)))
        return _plain_name(name) in self._names

    def problem(self, path: str) -> str:
        """Return why no agent can be asked about a file; nothing where one can."""
        if path not in self._problems:
            if len(self._problems) >= _MOST_REMEMBERED:
                self._problems.clear()
            self._problems[path] = self._look(path)
        return self._problems[path]

    def _look(self, path: str) -> str:
        if safe_text(path, keep_newlines=False) != path:
            return "its name has characters that cannot be seen"
        try:
            kind = self._root.stat(path).kind
            if kind is None:
                return MISSING
            if kind != "file":
                return "it is a link" if kind == "link" else f"it is a {kind}, not a file"
            with self._root.open_read(path) as file:
                return "it is not a text file" if b"\0" in file.read(8_192) else ""
        except FileMissing:
            return MISSING
        except FileRefused as error:
            return error.why
        except (OSError, ValueError):
            return MISSING

    def lines(self, path: str) -> tuple[bytes, ...]:
        """Return the lines of a file, without their ends; none of one that cannot be read."""
        known = self._lines.get(path)
        if known is not None:
            return known
        if self._looked_at > _MOST_LOOKED_AT:
            return ()
        lines = self._lines[path] = read_lines(self._root, path)
        self._looked_at += sum(map(len, lines)) + len(lines)
        self._line_count += len(lines)
        while self._line_count > _MOST_LINES and len(self._lines) > 1:
            self._line_count -= len(self._lines.popitem(last=False)[1])
        return lines

    @property
    def is_spent(self) -> bool:
        """Whether more files were named than are looked at."""
        return self._looked_at > _MOST_LOOKED_AT

    def line_of_offset(self, path: str, offset: int) -> int:
        """Return the line in which a character of a file stands; 0 where the file does not have it."""
        lines = self.lines(path)
        if self._text[0] != path:
            self._text = (path, b"\n".join(lines).decode("utf-8", "replace"))
        text = self._text[1]
        return text.count("\n", 0, offset) + 1 if lines and offset <= len(text) else 0

    def inside(self, path: str) -> str:
        """Return a told path without the root that most others had, for one that is not here."""
        common = self.roots.most_common(1)
        return path.removeprefix(f"{common[0][0]}/") if common else path


def read_lines(root: Root, path: str) -> tuple[bytes, ...]:
    """Return the lines of a file of a workspace; none where it is missing, too large or refused."""
    try:
        image = root.image(path, limit=MOST_FILE)
    except (FileRefused, OSError, ValueError):
        return ()
    return tuple(image.data.splitlines()) if image is not None else ()


def line_digest(line: bytes) -> str:
    """Return a short digest of a line without its indentation, which an edit around it changes."""
    return blake2b(line.strip(), digest_size=6).hexdigest()


def _names(root: Root) -> list[str]:
    """Return the names right in a workspace, as many as are looked at."""
    with contextlib.suppress(OSError), os.scandir(root.path) as items:
        return [item.name for item in itertools.islice(items, MOST_NAMES)]
    return []


def _plain_name(name: str) -> str:
    return normalize("NFC", name).casefold()


def _joined(base: str, location: str) -> str:
    is_absolute = location.startswith("/") or bool(_DRIVE.match(location))
    return location if is_absolute or not base else f"{base.rstrip('/')}/{location}"


def _with_slashes(path: str) -> str:
    return path.replace("\\", "/") if _DRIVE.match(path) or ("\\" in path and "/" not in path) else path
