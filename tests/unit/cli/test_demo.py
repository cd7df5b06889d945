"""The demo in this process: lines from a pipe answer the three things, each at its turn."""

import os
from types import SimpleNamespace

import pytest

from tests.support.stage import USER
from workbench.cli.demo import DemoFolder, own_session, summary_lines
from workbench.host import session_requests
from workbench.journal.home import Home
from workbench.journal.journal import Journal


@pytest.fixture
def demo(shell, monkeypatch):
    def run(lines, *words):
        reading, writing = os.pipe()
        os.write(writing, lines.encode())
        os.close(writing)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: reading, isatty=lambda: False))
        try:
            return shell("demo", "--at", str(shell.folder / "demo"), *words)
        finally:
            os.close(reading)

    return run


def test_three_answers_make_the_tests_green(demo, shell):
    assert demo("a 1\na 2\na 3\n") == 0
    assert "May agents read files here without asking?" in shell.out
    assert "Written: shop/router.py (plus 6 minus 2), shop/errors.py (plus 9 minus 0)." in shell.out
    assert "Tests: green." in shell.out and "All three tests are green" in shell.out
    assert demo("") == 0
    assert "This demo has come to its end." in shell.out


def test_the_last_words_are_of_the_session_of_the_demo_whatever_ran_after_it(demo, shell):
    assert demo("a 1\na 2\na 3\n") == 0
    folder = shell.folder / "demo"
    workspace = str((folder / "project").resolve())
    with Journal.open(Home.open(folder / "home")) as journal:
        done = own_session(journal, workspace)
        session_requests.create_session(
            journal, workspace=workspace, provider="recorded", model="later", actor=USER
        )
        words = list(summary_lines(DemoFolder(folder=folder), journal, workspace))
        assert next(iter(journal.sessions(workspace))).id != done.id
    assert words[0].startswith("Written: shop/router.py") and words[1] == "Tests: green."


def test_two_of_the_three_places_are_enough(demo, shell):
    assert demo("yes\na 1 1,3\na 2\na 3\n") == 0
    assert "Written: shop/router.py (plus 5 minus 1), shop/errors.py (plus 9 minus 0)." in shell.out
    assert "Tests: green." in shell.out and "All three tests are green" in shell.out


def test_a_part_without_its_file_leaves_the_tests_red_and_the_end_of_input_parks(demo, shell):
    assert demo("yes\na 1 1,3\n") == 3
    assert "Parked: 2 wait for an answer." in shell.out
    assert f"workbench demo --at {shell.folder / 'demo'} continues it." in shell.out
    assert demo("r 1\na 2\n") == 0
    assert "You took a part of the edit" in shell.out and "Tests: red (exit 1)." in shell.out
    assert not (shell.folder / "demo" / "project" / "shop" / "errors.py").exists()


def test_without_the_grant_reads_are_asked_and_numbered_too(demo, shell):
    assert demo("no\na 1\na 2\nr 3\nr 4\nr 5\n") == 0
    assert "2 waiting. 1 read shop/router.py" in shell.out and "3 edit shop/router.py" in shell.out
    assert "Written: nothing." in shell.out and "Tests: not run." in shell.out
