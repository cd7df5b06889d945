"""The backend on this machine does everything that the screen asks; none of it says that it only shows."""

import json

import pytest

from workbench.cli.local_backend import LocalBackend
from workbench.cli.local_backend_parts import LocalModels, LocalRules, LocalRuns
from workbench.cli.local_backend_providers import LocalProviders
from workbench.cli.local_backend_sessions import LocalLibrary
from workbench.domain.values import Usage
from workbench.journal.home import Home
from workbench.journal.journal import Journal

NOT_ON_EVERY_SYSTEM = {"copy_to_clipboard", "opening", "is_wide"}


@pytest.mark.parametrize(
    "local", [LocalBackend, LocalLibrary, LocalModels, LocalProviders, LocalRules, LocalRuns]
)
def test_every_method_of_the_backend_is_done_on_this_machine(local):
    asked = {name for name in vars(local.__base__) if not name.startswith("_")} - NOT_ON_EVERY_SYSTEM
    assert asked <= set(vars(local))


def test_prices_of_a_provider_that_is_set_up_meanwhile_count_once_the_change_is_told(tmp_path):
    home = Home.open(tmp_path / "home")
    with Journal.open(home) as journal:
        backend = LocalBackend(home, journal, str(tmp_path))
        beside = backend.of(str(tmp_path / "beside"))
        used = Usage(input_tokens=1_000_000, output_tokens=0)
        assert (backend.price("mine", "m", used), beside.price("mine", "m", used)) == (None, None)
        mine = {"kind": "ollama", "prices": {"input_per_million": 3, "output_per_million": 4}}
        (home.path / "config.json").write_text(json.dumps({"providers": {"mine": mine}}))
        backend.configuration_changed()
        assert (backend.price("mine", "m", used), beside.price("mine", "m", used)) == (3_000_000, 3_000_000)
