"""A theme that was chosen on a screen is there on the next one."""

from tests.support.tables import each_row
from workbench.cli.local_backend import THEME_FILE, ThemeChoice, theme_to_begin_with
from workbench.journal.home import Home


def test_a_choice_holds_until_the_configuration_names_another_theme(tmp_path):
    home = Home.open(tmp_path / "home")
    assert theme_to_begin_with(home, "workbench-dark") == "workbench-dark"
    ThemeChoice(theme="nord", configured="workbench-dark").keep(home)
    assert theme_to_begin_with(home, "workbench-dark") == "nord"
    assert theme_to_begin_with(home, "workbench-light") == "workbench-light"
    assert (home.path / THEME_FILE).stat().st_mode & 0o077 == 0


@each_row("data", [b"", b"{", b"[]", b'{"theme": 3, "configured": "x"}', b"\xff", b" " * 5_000])
def test_a_damaged_choice_is_none(tmp_path_factory, data):
    home = Home.open(tmp_path_factory.mktemp("one") / "home")
    (home.path / THEME_FILE).write_bytes(data)
    assert theme_to_begin_with(home, "workbench-light") == "workbench-light"
