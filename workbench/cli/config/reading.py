"""The configuration of a workspace as its trust allows; shared by the commands here."""

from workbench.cli.place import opened
from workbench.config.values import Loaded
from workbench.host.settings import Settings
from workbench.host.trusting import is_trusted


def read(workspace: str) -> Loaded:
    """Return the settings of a workspace, given by its real path."""
    with opened() as (home, journal):
        return Settings(home, workspace, {}).loaded(trusted=is_trusted(journal, workspace))
