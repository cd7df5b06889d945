"""Which files of a workspace changed while an agent worked on a list of findings, by their digests.

Files that are ignored, and those beyond a number, are not compared; very large ones only by size and time.
"""

from collections.abc import Callable
from typing import Final

from workbench.effects.file_primitives import FileRefused, FileStamp
from workbench.effects.files import Root
from workbench.effects.folder_walk import WalkedFolder
from workbench.tools.file_search import IgnoreFilter

_MOST_FILES: Final = 100_000
_MOST_HASHED: Final = 32 * 1024 * 1024
"""Bytes of a file whose content is hashed; a larger one is known by size and time."""
_MOST_READ: Final = 1024 * 1024 * 1024
"""Bytes that one look reads; the files behind them are known by size and time."""


class WorkspaceDigests:
    """The digests of a workspace's files; a file that looks untouched is not read again."""

    def __init__(self, root: Root, keyed: Callable[[bytes], str]) -> None:
        """`keyed`: the home's digest, which says nothing to who has no key."""
        self._root, self._keyed = root, keyed
        self._known: dict[str, tuple[FileStamp, str]] = {}
        self._bytes_read = 0
        self._is_incomplete = self._is_reported = False
        """Whether there are more files than are looked at."""

    def take(self) -> dict[str, str]:
        """Return the digest of each file that is not ignored, by its path."""
        known, self._known, self._is_incomplete = self._known, {}, False
        self._bytes_read = 0
        for folder in IgnoreFilter(self._root, lambda _: False, with_ignored=False).folders("."):
            for name in folder.files:
                if len(self._known) >= _MOST_FILES:
                    self._is_incomplete = True
                    return self._digests()
                self._look(folder, name, known)
        return self._digests()

    def cut_words(self) -> str:
        """Return what is to be said of a folder with more files than are looked at; said once."""
        if not self._is_incomplete or self._is_reported:
            return ""
        self._is_reported = True
        return f"The folder has more than {_MOST_FILES:,} files: files_modified may be incomplete."

    def _look(self, folder: WalkedFolder, name: str, known: dict[str, tuple[FileStamp, str]]) -> None:
        path, stamp = folder.below(name), folder.stamp(name)
        if stamp is None:
            return
        before = known.get(path)
        if before is not None and before[0] == stamp:
            self._known[path] = before
            return
        try:
            self._known[path] = (stamp, self._digest(folder, name, stamp))
        except (FileRefused, OSError):
            return

    def _digest(self, folder: WalkedFolder, name: str, stamp: FileStamp) -> str:
        if stamp.size > _MOST_HASHED or self._bytes_read + stamp.size > _MOST_READ:
            return f"{stamp.size}-{stamp.changed}"
        self._bytes_read += stamp.size
        with folder.open(name) as file:
            return self._keyed(file.read())[:24]

    def _digests(self) -> dict[str, str]:
        return {path: digest for path, (_, digest) in self._known.items()}
