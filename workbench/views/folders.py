"""Folders beside rows: short names that stay distinct, and what is said of what waits in other folders."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct

from workbench.text.human import home_as_tilde
from workbench.text.safe import one_line

MAX_PATH_CELLS: Final = 400


class Folder(Struct, frozen=True, kw_only=True):
    """The workspace of a row, as the screen names it; all texts are one safe line."""

    name: str = ""
    """Its last part, with more before it where another folder ends alike; empty where none is named."""
    path: str = ""
    """With the home folder as `~`."""
    is_other: bool = False
    """Whether it is not the folder of the screen."""
    is_gone: bool = False
    """Whether nothing can be done there now: it is missing, or something else stands in its place."""


NO_FOLDER: Final = Folder()


def short_folder_names(paths: Iterable[str]) -> dict[str, str]:
    """Return the last part of each path, with as many more before it as keep all of them distinct."""
    parts = {path: path.strip("/").split("/") for path in paths}
    lengths = dict.fromkeys(parts, 1)
    while True:
        names = {path: "/".join(words[-lengths[path] :]) for path, words in parts.items()}
        counts = Counter(names.values())
        clashing = [path for path, name in names.items() if counts[name] > 1]
        longer = [path for path in clashing if lengths[path] < len(parts[path])]
        if not longer:
            return {path: one_line(name, MAX_PATH_CELLS) or "/" for path, name in names.items()}
        for path in longer:
            lengths[path] += 1


class FolderNames:
    """Names folders as the screen does; a name may grow when a folder that ends alike becomes known."""

    def __init__(self, here: str, home: str) -> None:
        """Begin with the folder of the screen, and the user's home folder."""
        self.here, self._home = here, home
        self._names = short_folder_names([here])
        self.gone: Collection[str] = frozenset[str]()
        """Workspaces in which nothing can be done now."""
        self._made: dict[str, Folder] = {}

    def learn(self, paths: Iterable[str]) -> None:
        """Keep the names of these folders distinct, beside those that are known."""
        if fresh := set(paths) - self._names.keys() - {""}:
            self._names = short_folder_names([*self._names, *fresh])
            self._made.clear()

    def mark_gone(self, paths: Collection[str]) -> bool:
        """Note in which workspaces nothing can be done now; False when that was known."""
        was, self.gone = self.gone, frozenset(paths)
        self._made.clear()
        return was != self.gone

    def of(self, path: str) -> Folder:
        """Return a folder; without a path one that is not named."""
        if not path:
            return NO_FOLDER
        self.learn([path])
        if path not in self._made:
            shown = one_line(home_as_tilde(path, self._home), MAX_PATH_CELLS)
            self._made[path] = Folder(
                name=self._names[path], path=shown, is_other=path != self.here, is_gone=path in self.gone
            )
        return self._made[path]


def waiting_elsewhere_text(count: int) -> str:
    """Return how many wait in folders that are not shown, and the key that shows them; empty for none."""
    if count == 1:
        return "1 waits in another folder, w shows it"
    return f"{count} wait in other folders, w shows them" if count else ""
