"""AGENTS.md and CLAUDE.md of a trusted folder: which, in what order, how much, and never of an untrusted one."""

import json

import pytest

from tests.support.chat_server import ChatServer, said
from tests.support.runs import Runs
from workbench.domain.events import SessionCreated
from workbench.domain.values import Actor
from workbench.host.instruction_files import (
    MAX_ALL_BYTES,
    MAX_FILE_BYTES,
    session_instructions,
    step_instructions,
)
from workbench.host.workspace_trust import grant_trust
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.policy.autorun_files import autorun_reason

NAMES = ("AGENTS.md", "CLAUDE.md")
TOKEN = "ghp_" + "aB3dE5fG7hI9" * 3


@pytest.fixture
def journal(tmp_path):
    opened = Journal.open(Home.open(tmp_path / "home"))
    yield opened
    opened.close()


def trusted_workspace(journal, folder):
    grant_trust(journal, str(folder), read=True, actor=Actor(kind="user", pid=1))


@pytest.fixture
def repository(tmp_path):
    """A folder within a git repository, with instructions in it, above it, and above the repository."""
    work = tmp_path / "repository" / "app"
    work.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "AGENTS.md").write_text("of somebody else")
    (tmp_path / "repository" / "CLAUDE.md").write_text("all of us: small commits")
    (work / "AGENTS.md").write_text("the app: run sh test.sh")
    (work / "CLAUDE.md").write_text("the app: plain English")
    return work


def begun(journal, folder, names=NAMES):
    return session_instructions(journal, str(folder), names)


def test_files_of_a_trusted_folder_and_up_to_its_git_root_join_the_system_prompt_the_nearest_last(
    journal, repository
):
    trusted_workspace(journal, repository)
    said = begun(journal, repository)
    assert said.files == ("../CLAUDE.md", "AGENTS.md", "CLAUDE.md")
    order = [
        said.system_prompt.index(words) for words in ("small commits", "run sh test.sh", "plain English")
    ]
    assert order == sorted(order) and "somebody else" not in said.system_prompt
    assert (
        said.system_prompt.startswith("You are a coding agent") and "in ../CLAUDE.md:" in said.system_prompt
    )
    assert said.configuration == {"instructions": ["../CLAUDE.md", "AGENTS.md", "CLAUDE.md"]}


def test_an_untrusted_folder_and_an_empty_setting_give_none(journal, repository):
    said = begun(journal, repository)
    assert said.files == () and "sh test.sh" not in said.system_prompt and said.configuration == {}
    trusted_workspace(journal, repository)
    assert begun(journal, repository, ()).files == ()


def test_without_a_git_root_nothing_above_the_folder_is_read(journal, repository):
    (repository.parent / ".git").rmdir()
    trusted_workspace(journal, repository)
    assert begun(journal, repository).files == ("AGENTS.md", "CLAUDE.md")


def test_what_is_read_is_bounded_scrubbed_visible_and_no_link(journal, repository):
    (repository / "AGENTS.md").write_text(f"use {TOKEN} and\u200b{'y' * 2 * MAX_FILE_BYTES}")
    (repository / "CLAUDE.md").unlink()
    (repository / "CLAUDE.md").symlink_to("/etc/passwd")
    trusted_workspace(journal, repository)
    said = begun(journal, repository)
    assert said.files == ("../CLAUDE.md", "AGENTS.md") and TOKEN not in said.system_prompt
    assert "[The rest of AGENTS.md is left out.]" in said.system_prompt and "root:" not in said.system_prompt
    assert "\u200b" not in said.system_prompt and len(said.system_prompt) < MAX_FILE_BYTES + 4_000


def test_all_together_are_bounded_and_the_same_text_stands_once(journal, repository):
    for folder in (repository, repository.parent):
        for number, name in enumerate(NAMES):
            (folder / name).write_text(f"{folder.name}{number}" + "z" * MAX_FILE_BYTES)
    trusted_workspace(journal, repository)
    said = begun(journal, repository)
    assert said.files == NAMES and len(said.system_prompt) < MAX_ALL_BYTES + 4_000
    for name in NAMES:
        (repository / name).write_text("the same")
    assert (
        begun(journal, repository).files[-1] == "CLAUDE.md"
        and "AGENTS.md" not in begun(journal, repository).files
    )


def test_a_folder_or_a_file_without_words_is_passed_over(journal, tmp_path):
    (tmp_path / "AGENTS.md").mkdir()
    (tmp_path / "CLAUDE.md").write_text("  \n")
    trusted_workspace(journal, tmp_path)
    assert begun(journal, tmp_path).files == ()


def test_no_grant_covers_a_change_to_them(repository):
    for path in ("AGENTS.md", "docs/CLAUDE.md", "claude.local.md"):
        assert autorun_reason(path, str(repository)), path


STEP = """
  - id: a
    persona: builder
    workspace: {root: %s}
    exec: {type: prompt, source: "do it"}
"""


@pytest.mark.parametrize(
    ("place", "setting", "named"),
    [
        ("./", {}, ["AGENTS.md"]),
        ("./app", {}, ["AGENTS.md"]),
        ("./", {"instruction_files": []}, []),
    ],
    ids=["project", "folder of it", "none asked for"],
)
def test_a_step_starts_with_them_behind_the_prompt_of_its_persona(tmp_path, place, setting, named):
    with ChatServer(otherwise=said("done")) as server:
        (tmp_path / "r").mkdir()
        files = {"AGENTS.md": "all of us: small commits", "app/AGENTS.md": "not trusted by itself"}
        runs = Runs(tmp_path / "r", files=files)
        local = {"kind": "openai-compatible", "base_url": server.base_url, "model": "m"}
        (runs.home.path / "config.json").write_text(json.dumps({"providers": {"local": local}, **setting}))
        run = runs.request(runs.pipeline(STEP % place))
        runs.drive(run)
        child = runs.step(run, "a").session_id
        (created,) = [one.body for one in runs.journal.events(child) if isinstance(one.body, SessionCreated)]
        assert created.configuration.get("instructions", []) == named
        (chat, *_) = [asked for asked in server.asked if asked.body]
        system = chat.json["messages"][0]["content"]
        assert system.startswith("You build.") and ("small commits" in system) is bool(named)
        assert "not trusted by itself" not in system
        runs.close()


def test_a_step_in_a_folder_that_is_trusted_by_itself_starts_with_its_files(journal, repository):
    folders = (str(repository), str(repository.parent))
    assert step_instructions(journal, "You build.", folders, NAMES).system_prompt == "You build."
    trusted_workspace(journal, repository.parent)
    assert step_instructions(journal, "You build.", folders, NAMES).files == ("CLAUDE.md",)
    trusted_workspace(journal, repository)
    assert step_instructions(journal, "", folders, NAMES).files == ("../CLAUDE.md", "AGENTS.md", "CLAUDE.md")
