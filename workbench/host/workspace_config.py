"""The settings of a workspace as its trust allows, read again when their files change.

Imports no tool and no provider, because a screen loads it too.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config.layers import USER_CONFIG_FILE, load_config
from workbench.config.types import LoadedConfig
from workbench.domain.values import WORKSPACE_CONFIG_FILE
from workbench.effects.folder_changes import changed_files
from workbench.host.workspace_trust import is_trusted
from workbench.journal.home import Home
from workbench.journal.journal import Journal

if TYPE_CHECKING:
    from workbench.config.reload import ReloadResult


_FileState = tuple[int, int, int, int] | None


class WorkspaceSettings:
    """The configuration of one workspace, read once for each answer to the trust question."""

    def __init__(self, home: Home, workspace: str, options: Mapping[str, object]) -> None:
        self._home, self._workspace, self._options = home, workspace, options
        self._loaded: dict[bool, LoadedConfig] = {}
        self._stamps: dict[bool, tuple[_FileState, ...]] = {}
        self.readings = 0
        """How often the files were read: another number may mean other settings."""

    def loaded(self, *, trusted: bool) -> LoadedConfig:
        """Return the settings with all that was found wrong in their files."""
        if trusted not in self._loaded:
            self._loaded[trusted] = self._read(trusted=trusted)
        return self._loaded[trusted]

    @property
    def files(self) -> tuple[Path, ...]:
        return self._home.path / USER_CONFIG_FILE, Path(self._workspace) / WORKSPACE_CONFIG_FILE

    def has_workspace_file(self) -> bool:
        """Return whether the workspace had a settings file of its own when the files were read last."""
        return any(stamp[-1] is not None for stamp in self._stamps.values())

    def has_changed(self) -> bool:
        """Return whether a file is not what it was when it was read last, by its status alone."""
        now = self._file_states()
        return any(stamp != now for stamp in self._stamps.values())

    def read_again(self, *, trusted: bool) -> "ReloadResult":
        """Take over what may change while things run, and say what that is."""
        from workbench.config.reload import ReloadResult, merge_reloaded

        result = ReloadResult(loaded=self.loaded(trusted=trusted))
        for known, present in list(self._loaded.items()):
            merged = merge_reloaded(present, self._read(trusted=known))
            self._loaded[known] = merged.loaded
            result = merged if known == trusted else result
        return result

    def _read(self, *, trusted: bool) -> LoadedConfig:
        self._stamps[trusted] = self._file_states()
        self.readings += 1
        return load_config(
            Path(self._home.path), Path(self._workspace), trusted=trusted, env=os.environ,
            options=self._options,
        )  # fmt: skip

    def _file_states(self) -> tuple[_FileState, ...]:
        return tuple(map(_file_state, self.files))


def _file_state(path: Path) -> _FileState:
    """Return what changes with a file; the time of its last change of status cannot be set back."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


class ConfigWatch:
    """A thread that calls back after one of some files was changed, made, replaced or removed."""

    def __init__(
        self,
        files: Sequence[Path],
        on_change: Callable[[], None],
        delay: float = 0.0,
        on_start: Callable[[], None] | None = None,
    ) -> None:
        """Watch full paths; `on_start` and `on_change` are called in the thread, after `delay` seconds."""
        self._files = [str(path) for path in files]
        self._folders = {str(path.parent) for path in files}
        self._on_change = on_change
        self._closed = threading.Event()
        self._delay, self._on_start = delay, on_start
        self._thread = threading.Thread(target=self._work, name="config watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Call back no more; nobody waits for the thread."""
        self._closed.set()

    def _work(self) -> None:
        if self._closed.wait(self._delay):
            return
        if self._on_start is not None:
            self._on_start()
        for _ in changed_files(lambda: self._files, self._folders, self._closed):
            self._on_change()


def load_workspace_config(journal: Journal, workspace: str) -> LoadedConfig:
    """Return the configuration of a workspace as far as the workspace is trusted."""
    return WorkspaceSettings(journal.home, workspace, {}).loaded(trusted=is_trusted(journal, workspace))
