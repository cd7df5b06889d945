"""`sessions resume` of an imported session: the agent that wrote it, with the id as one argument, or why not."""

import os
import stat

import pytest

from tests.support.stage import USER
from workbench.backend import agent_commands
from workbench.cli import session_resume
from workbench.domain.events import SessionCreated, SessionStatusChanged
from workbench.formats.agent_folders import RESUMABLE_ORIGINS, NotResumable, agent_command
from workbench.journal.home import Home
from workbench.journal.journal import Journal


@pytest.fixture
def journal(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    found = Journal.open(Home.open())
    yield found
    found.close()


def add(journal, key, *, origin="claude-code", foreign_id="abc-1.x_Y", workspace="/w", parent=None):
    made = SessionCreated(
        session_kind="import", title=key, workspace=str(workspace), origin=origin, parent_id=parent,
        configuration={"import": {"id": foreign_id, "format": origin}},
    )  # fmt: skip
    bodies = (made, SessionStatusChanged(status="initializing"), SessionStatusChanged(status="ready"))
    events = [journal.event(body, key, USER) for body in bodies]
    journal.append([type(one)(**{**{name: getattr(one, name) for name in one.__struct_fields__}, "recorded_at": one.at}) for one in events], strict=False)  # fmt: skip
    return journal.session(key)


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ("claude-code", "claude --resume abc-1"), ("codex", "codex resume abc-1"), ("gemini", "gemini --resume abc-1"),
        ("opencode", "opencode --session abc-1"), ("pi", "pi --session abc-1"), ("qwen", "qwen --resume abc-1"),
    ],
)  # fmt: skip
def test_each_agent_has_its_words(journal, origin, words):
    assert agent_command(add(journal, "s", origin=origin, foreign_id="abc-1")).words == words


@pytest.mark.parametrize(
    "foreign_id",
    [
        "",
        "-x",
        "--dangerously-skip-permissions",
        "a b",
        "a;b",
        "$(id)",
        "a\nb",
        "../x",
        "x" * 201,
        ".x",
        "ä",
        "a/b",
        "`id`",
        "a'b",
        "a\x00b",
    ],
)
def test_an_id_that_is_more_than_a_name_is_given_to_nobody(journal, foreign_id):
    with pytest.raises(NotResumable):
        agent_command(add(journal, "s", foreign_id=foreign_id))


def test_sub_agents_and_unknown_programs_are_not_continued(journal):
    for more in ({"parent": "p"}, {"origin": "swe-agent"}, {"workspace": "relative"}, {"workspace": ""}):
        with pytest.raises(NotResumable):
            agent_command(add(journal, f"s{len(str(more))}", **more))
    assert "swe-agent" not in RESUMABLE_ORIGINS


@pytest.fixture
def claude(tmp_path, monkeypatch):
    """Put a program on PATH that notes its arguments and its folder."""
    folder, said = tmp_path / "bin", tmp_path / "said"
    folder.mkdir()
    program = folder / "claude"
    program.write_text(
        f'#!/bin/sh\npwd > {said}\nfor word in "$@"; do echo "[$word]" >> {said}; done\nexit 3\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return said


def test_the_command_is_printed_and_nothing_runs(journal, shell, claude):
    add(journal, "s", workspace="/w x")
    assert shell("sessions", "resume", "s", "--print") == 0
    assert shell.out == "cd '/w x' && claude --resume abc-1.x_Y\n"
    assert not claude.exists()


def test_it_runs_in_its_folder_only_when_that_is_confirmed(journal, shell, claude, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    add(journal, "s", workspace=work)
    assert shell("sessions", "resume", "s") == 2
    assert "--yes" in shell.err and not claude.exists()
    assert shell("sessions", "resume", "s", "--yes") == 3
    assert claude.read_text().splitlines() == [str(work), "[--resume]", "[abc-1.x_Y]"]
    assert f"claude --resume abc-1.x_Y   in {work}" in shell.out


def test_what_stands_in_the_way_is_said_with_the_command(journal, shell, tmp_path, monkeypatch):
    add(journal, "gone", workspace="/not/there")
    assert shell("sessions", "resume", "gone", "--yes") == 1
    assert "folder /not/there is not there" in shell.err and "claude --resume abc-1.x_Y" in shell.err
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    add(journal, "here", workspace=tmp_path)
    assert shell("sessions", "resume", "here", "--yes") == 1
    assert "program claude is not on PATH" in shell.err


def test_a_relative_folder_of_path_holds_no_program(journal, claude, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"bin{os.pathsep}.")
    command = agent_command(add(journal, "s", workspace=tmp_path))
    assert agent_commands.program_path(command) is None


def test_an_agent_starts_no_other_one(journal, shell, claude, tmp_path, monkeypatch):
    def refused(*about):
        raise session_resume.Refusal("nothing was done", "an agent asks", "")

    add(journal, "s", workspace=tmp_path)
    monkeypatch.setattr("workbench.cli.session_resume.refuse_inside_agents", refused)
    assert shell("sessions", "resume", "s", "--yes") == 1
    assert not claude.exists()


def test_a_fork_goes_on_as_the_session_that_its_agent_knows(journal):
    fork = add(journal, "f", foreign_id="abc-1/fork2", parent="s")
    assert agent_command(fork).words == "claude --resume abc-1"
    with pytest.raises(NotResumable, match="sub-agent"):
        agent_command(add(journal, "g", foreign_id="abc-1/agent-7", parent="s"))
