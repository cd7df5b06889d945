"""The settings that the trust in a workspace allows, read at named points and passed on as a value.

A reading never grants anything by itself, and nothing here asks a human or changes a file.
"""

# Reading hashes the content of every governing file, so it happens once a decision, not once a look:
#
# | point | method | may lag behind |
# |---|---|---|
# | gate, execution, hooks after a call, start of a driver | `read` | nothing |
# | model call, which sends the conversation to their server | `refresh` | content under an old status |
# | limits of turns, steps and spending; prices | `recall` | changed governing files |
#
# Trust that is given or taken back, and settings that were read again, end every lag, and so does the next
# `read`, or `refresh` where a file has another time, size or inode. What is recalled decides how long an
# agent works, never what it may do.

from msgspec import Struct

from workbench.config.types import Config, LoadedConfig
from workbench.domain.rows import Trust
from workbench.host.workspace_config import WorkspaceSettings
from workbench.host.workspace_trust import TrustState, trust_state
from workbench.journal.journal import Journal
from workbench.policy.trust import TrustRefused, governing_status


class GovernedSettings(Struct, frozen=True, kw_only=True):
    """The settings of a workspace as its trust allowed them when they were read, and that trust."""

    loaded: LoadedConfig
    trust: TrustState
    row: Trust | None
    """The answer to the trust question that was in force."""
    status: tuple[object, ...] | None
    """The status of the governing files before they were read; None where they cannot be listed."""
    file_readings: int
    """How often the settings files had been read."""

    @property
    def config(self) -> Config:
        return self.loaded.config


class SettingsReader:
    """Reads the governed settings of one workspace and keeps the newest reading."""

    def __init__(self, journal: Journal, files: WorkspaceSettings, workspace: str) -> None:
        """Read for a workspace given by its real path; `files` are its settings files."""
        self._journal, self._files, self._workspace = journal, files, workspace
        self._newest: GovernedSettings | None = None

    def read(self) -> GovernedSettings:
        """Hash the governing files once and return the settings that trust in them allows."""
        row = self._journal.trust(self._workspace)
        status = self._read_status(row)
        trust = trust_state(self._journal, self._workspace)
        loaded = self._files.loaded(trusted=trust.is_trusted)
        self._newest = GovernedSettings(
            loaded=loaded, trust=trust, row=row, status=status, file_readings=self._files.readings
        )
        return self._newest

    def recall(self) -> GovernedSettings:
        """Return the newest reading, or a new one after trust was answered or settings files were read."""
        newest = self._newest
        if newest is None or newest.file_readings != self._files.readings:
            return self.read()
        return newest if newest.row == self._journal.trust(self._workspace) else self.read()

    def refresh(self) -> GovernedSettings:
        """Return the newest reading, or a new one also after the status of a governing file changed.

        Its settings count, not its trust: where the workspace has no settings file, no file is looked at.
        """
        newest = self.recall()
        if not self._files.has_workspace_file():
            return newest  # with trust and without it, the settings are the user's alone
        return newest if newest.status == self._read_status(newest.row) else self.read()

    def _read_status(self, row: Trust | None) -> tuple[object, ...] | None:
        if row is None or row.revoked_at is not None:
            return ()  # nothing is trusted, so no content counts
        try:
            return governing_status(self._workspace)
        except TrustRefused:
            return None
