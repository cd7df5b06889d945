"""The settings of one workspace, as its trust allows: what an untrusted workspace says only narrows.

Owns when the files are read. It must know no tool and no provider: a screen follows its settings by it.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config.layers import USER_FILE, WORKSPACE_FILE, load
from workbench.config.values import Loaded
from workbench.journal.home import Home

if TYPE_CHECKING:
    from workbench.config.live import Merged


class Settings:
    """The configuration of one workspace, read once for each answer to the trust question."""

    def __init__(self, home: Home, workspace: str, options: Mapping[str, object]) -> None:
        self._home, self._workspace, self._options = home, workspace, options
        self._loaded: dict[bool, Loaded] = {}

    def loaded(self, *, trusted: bool) -> Loaded:
        """Return the settings with all that was found wrong in their files."""
        if trusted not in self._loaded:
            self._loaded[trusted] = self._read(trusted=trusted)
        return self._loaded[trusted]

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that are read."""
        return self._home.path / USER_FILE, Path(self._workspace) / WORKSPACE_FILE

    def read_again(self, *, trusted: bool) -> "Merged":
        """Take over from the files what may change while things run, and say what that is.

        Args:
            trusted: For which answer to the trust question it is told; both are read.
        """
        from workbench.config.live import Merged, merged

        told = Merged(loaded=self.loaded(trusted=trusted))
        for known, present in list(self._loaded.items()):
            found = merged(present, self._read(trusted=known))
            self._loaded[known] = found.loaded
            told = found if known == trusted else told
        return told

    def _read(self, *, trusted: bool) -> Loaded:
        return load(
            Path(self._home.path), Path(self._workspace), trusted=trusted, env=os.environ,
            options=self._options,
        )  # fmt: skip
