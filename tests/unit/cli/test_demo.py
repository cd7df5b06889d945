"""The demo in this process: lines from a pipe answer the three things, each at its turn."""

import os
from types import SimpleNamespace

import pytest

from tests.support import boxes
from tests.support.stage import USER
from workbench.cli.demo import DemoFolder, copy_example, own_session, show_demo_screen, summary_lines
from workbench.domain.values import SYSTEM_SESSION
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


def test_a_full_sandbox_is_an_answer_of_the_demo_and_runs_its_tests_without_asking(demo, shell, monkeypatch):
    monkeypatch.delenv("WORKBENCH_SANDBOX_BACKEND")
    boxes.sandbox()
    assert demo("sandbox\na 1\na 2\n") == 0
    assert "yes, no, or sandbox: also run commands inside the sandbox" in shell.out
    assert "Tests: green." in shell.out and "All three tests are green" in shell.out
    with Journal.open(Home.open(shell.folder / "demo" / "home")) as journal:
        session = own_session(journal, str((shell.folder / "demo" / "project").resolve()))
        (run,) = (call for call in journal.calls(session.id) if call.tool == "run_in_terminal")
        assert (run.place, run.action_id) == ("inside", None)


@pytest.mark.parametrize("is_full", [True, False])
def test_the_screen_of_the_demo_offers_a_full_sandbox(tmp_path, monkeypatch, is_full):
    monkeypatch.setattr("workbench.host.workspace_trust.may_have_full_sandbox", lambda config: is_full)
    monkeypatch.setattr("workbench.cli.attached_screen.show_screen", lambda *words, **more: 0)
    place = copy_example(tmp_path / "demo")
    with Journal.open(Home.open(place.home)) as journal:
        show_demo_screen(journal, str(place.project.resolve()), lambda: None)
        (question,) = journal.actions(SYSTEM_SESSION, states=("pending",))
    assert ("trust_and_sandbox" in question.choices) == is_full


def test_without_a_full_sandbox_it_is_no_answer(demo, shell):
    assert demo("sandbox\na 1\na 2\na 3\n") == 0
    assert "or sandbox" not in shell.out
