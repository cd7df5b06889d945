"""What stood in the composer when a screen was left, until one is opened on that workspace again.

Owns one private file a workspace. It holds exactly what was typed and was not sent: it is never recorded,
searched or exported, and goes as soon as the words are sent or cleared.
"""

from contextlib import suppress
from typing import Final

from workbench.effects.private import private_folder, read_bounded, write_atomic
from workbench.effects.refusal import FileRefused
from workbench.host.places import workspace_hash
from workbench.journal.home import Home
from workbench.text.safe import safe

FOLDER: Final = "drafts"
LARGEST: Final = 10_000_000
"""Bytes; a longer draft is not kept."""


class Draft:
    """The draft of one screen. A screen that never read another one's removes nothing."""

    def __init__(self, home: Home, workspace: str) -> None:
        self._path = home.path / FOLDER / f"{workspace_hash(workspace)}.txt"
        self._is_taken = False

    def read(self) -> str:
        """Return what was left; empty if nothing was, or if it cannot be read."""
        try:
            data = read_bounded(self._path, LARGEST)
        except FileRefused:
            return ""
        self._is_taken = bool(data)
        return safe((data or b"").decode("utf-8", "replace"))

    def keep(self, text: str) -> None:
        """Keep a text, or remove what was kept; a disk that cannot take it keeps no screen from ending."""
        data = text.encode("utf-8", "replace")
        with suppress(FileRefused, OSError):
            if text.strip() and len(data) <= LARGEST:
                private_folder(self._path.parent)
                write_atomic(self._path, data)
            elif self._is_taken:
                self._path.unlink(missing_ok=True)
