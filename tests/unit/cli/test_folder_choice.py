"""Whether the queue is that of all folders is remembered, and can be said when the screen is opened."""

from tests.support.tables import each_row
from workbench.backend.local_backend import LocalBackend
from workbench.backend.screen_files import FOLDERS_FILE, ShownChoice, shown_at_start
from workbench.cli.screen import simple
from workbench.host.host_start import folder_problem
from workbench.journal.home import Home


def test_the_choice_is_there_on_the_next_screen(tmp_path):
    home = Home.open(tmp_path / "home")
    backend = LocalBackend(home, None, str(tmp_path))
    assert not shown_at_start(home).is_wide
    backend.keep_folders(is_wide=True)
    assert shown_at_start(home).is_wide
    backend.of(str(tmp_path / "other")).keep_folders(is_wide=False)
    assert not shown_at_start(home).is_wide
    backend.keep_all_sessions(["tools"])
    backend.keep_folders(is_wide=True)
    assert shown_at_start(home) == ShownChoice(is_wide=True, all_sessions=("tools",))
    assert (home.path / FOLDERS_FILE).stat().st_mode & 0o077 == 0


@each_row("data", [b"", b"{", b"[]", b'{"is_wide": 3}', b"\xff", b" " * 5_000])
def test_a_damaged_choice_is_none(tmp_path_factory, data):
    home = Home.open(tmp_path_factory.mktemp("one") / "home")
    (home.path / FOLDERS_FILE).write_bytes(data)
    assert not shown_at_start(home).is_wide


def test_a_backend_of_another_folder_is_made_once(tmp_path):
    backend = LocalBackend(Home.open(tmp_path / "home"), None, str(tmp_path))
    assert backend.of("") is backend.of(str(tmp_path)) is backend
    assert backend.of("/other") is backend.of("/other") is not backend


def test_the_option_goes_to_the_screen(shell, monkeypatch):
    begun = []
    monkeypatch.setattr("workbench.cli.screen.require_terminal", lambda: None)
    monkeypatch.setattr("workbench.cli.screen.is_dumb_terminal", lambda: False)
    monkeypatch.setattr("workbench.cli.screen.show_screen", lambda *given: begun.append(given[2].is_wide))
    for words in (
        ["--all"],
        ["--all", str(shell.workspace)],
        [str(shell.workspace)],
    ):
        assert shell(*words) == 0, shell.err
    assert begun == [True, True, False]


def test_the_parser_that_is_left_out_says_the_same(shell):
    assert simple([])["all"] is False


def test_why_nothing_can_be_done_in_a_folder(tmp_path):
    there, file, link = tmp_path / "there", tmp_path / "file", tmp_path / "link"
    there.mkdir()
    file.touch()
    link.symlink_to(there)
    assert folder_problem(str(there)) == ""
    assert folder_problem(str(tmp_path / "not")) == f"{tmp_path}/not is gone."
    assert folder_problem(str(file)) == f"{file} is not a folder any more: a file is there."
    assert folder_problem(str(link)) == f"{link} is not the same folder any more: a link is there."
    assert folder_problem(str(file / "below")).endswith(("is gone.", "cannot be read: Not a directory."))
    backend = LocalBackend(Home.open(tmp_path / "home"), None, str(there))
    assert backend.folder_problem(str(file)).endswith("a file is there. Put it back, or reject what waits.")
    assert backend.ensure_host(str(file)).endswith("Put it back, or reject what waits.")
