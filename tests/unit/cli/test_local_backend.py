"""The backend on this machine does everything that the screen asks; none of it says that it only shows."""

import pytest

from workbench.cli.local_backend import LocalBackend
from workbench.cli.local_backend_parts import LocalModels, LocalRules, LocalRuns
from workbench.cli.local_backend_sessions import LocalLibrary

NOT_ON_EVERY_SYSTEM = {"copy_to_clipboard", "opening", "is_wide"}


@pytest.mark.parametrize("local", [LocalBackend, LocalLibrary, LocalModels, LocalRules, LocalRuns])
def test_every_method_of_the_backend_is_done_on_this_machine(local):
    asked = {name for name in vars(local.__base__) if not name.startswith("_")} - NOT_ON_EVERY_SYSTEM
    assert asked <= set(vars(local))
