"""What is to be said about a host before anybody relies on it: it is suspended, or it is another program.

Owns no words: they are the host's standing. Reads the configuration for the names of variables that matter.
"""

from workbench.cli.console import Console
from workbench.host.endpoints import key_variables
from workbench.host.places import provider_variables
from workbench.host.settings import Settings
from workbench.host.standing import remarks
from workbench.host.trusting import is_trusted
from workbench.journal.home import Home
from workbench.journal.journal import Journal


def variables_here(home: Home, journal: Journal, workspace: str) -> tuple[str, ...]:
    """Return the names of the provider variables that a host started from here would have."""
    loaded = Settings(home, workspace, {}).loaded(trusted=is_trusted(journal, workspace))
    return provider_variables(key_variables(loaded.config))


def found_remarks(home: Home, journal: Journal, workspace: str) -> tuple[str, ...]:
    """Return what is to be said about the workspace's host as seen from this process."""
    return remarks(home, journal, workspace, variables_here(home, journal, workspace))


def tell_remarks(home: Home, journal: Journal, workspace: str, console: Console) -> None:
    """Say it on stderr."""
    for line in found_remarks(home, journal, workspace):
        console.note(line)
