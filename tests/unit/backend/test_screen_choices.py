"""What was chosen on a screen is there on the next one, until the configuration says something else."""

from msgspec.structs import replace

from tests.support.tables import each_row
from workbench.backend.screen_files import CHOICES_FILE, choices_in_force, keep_choice, settings_with_choices
from workbench.cli.config import theme_problems
from workbench.config.types import Config, LoadedConfig, UiSettings
from workbench.journal.home import Home
from workbench.render.theme import theme_problem

UI = UiSettings()


def test_a_choice_holds_until_the_configuration_says_something_else(tmp_path):
    home = Home.open(tmp_path / "home")
    assert settings_with_choices(home, UI) == UI
    keep_choice(home, "ui.theme", "nord", UI)
    keep_choice(home, "ui.notify.bell", False, UI)
    chosen = settings_with_choices(home, UI)
    assert (chosen.theme, chosen.notify.bell, chosen.density) == ("nord", False, "normal")
    assert choices_in_force(home, UI) == {"ui.theme": "nord", "ui.notify.bell": False}
    assert settings_with_choices(home, replace(UI, theme="workbench-light")).theme == "workbench-light"
    assert (home.path / CHOICES_FILE).stat().st_mode & 0o077 == 0


@each_row(
    "data",
    [
        b"", b"{", b"[]", b'{"ui.theme": 3}', b"\xff", b" " * 50_000,
        b'{"ui.density": {"value": "wide", "configured": "normal"}}',
        b'{"ui.keymap": {"value": "x", "configured": "y"}}',
        b'{"ui.theme": {"value": true, "configured": "workbench-dark"}}',
        b'{"approvals.read_only": {"value": "auto", "configured": "ask"}}',
    ],
)  # fmt: skip
def test_a_damaged_choice_is_none(tmp_path_factory, data):
    home = Home.open(tmp_path_factory.mktemp("one") / "home")
    (home.path / CHOICES_FILE).write_bytes(data)
    assert settings_with_choices(home, UI) == UI


def test_a_theme_that_is_none_is_named_with_the_nearest_one():
    assert theme_problem("workbench-dark") is None and theme_problem("dracula") is None
    assert theme_problem("dracul") == (
        'ui.theme: there is no theme "dracul"; workbench-dark is used instead.', "Did you mean dracula?"
    )  # fmt: skip
    loaded = LoadedConfig(
        config=Config(ui=UiSettings(theme="x")), origins={}, problems=(), ignored=(), notes=()
    )
    (problem,) = theme_problems(loaded)
    assert (problem.key, problem.fatal) == ("ui.theme", False)
    assert "Use one of " in problem.remedy
