"""A git worktree of its own for a session: what is made, what runs, and what becomes of it at the end."""

import hashlib
import json
import os
import subprocess

import pytest

from tests.support.hostile_git import Hostile, plain
from tests.support.stage import USER, Stage, call, exchange, recording, text
from workbench.backend.library import LocalLibrary
from workbench.backend.session_fork import ForkOptions, make_fork
from workbench.cli.main import main
from workbench.domain.events import FileChanged
from workbench.domain.rows import WORKTREE_SETTING
from workbench.effects.git import run_git
from workbench.host import session_requests, session_worktree, workspace_trust
from workbench.host.session_requests import SessionRefused
from workbench.host.session_worktree import own_worktree, release_worktree, session_place
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.journal.proposals import proposal_of
from workbench.tui.journal_source import JournalSource
from workbench.views.action_detail import action_detail
from workbench.views.approvals import NO_FOLDER, action_words
from workbench.views.notices import notice_of

SCRIPT = recording(
    exchange(text("I write it."), call("c1", "create_file", path="new.py", content="one\n")),
    exchange(text("Written.")),
    exchange(text("Again.")),
)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path / "stage", SCRIPT, files={"a.txt": "as it is\n", "sub/b.txt": "below\n"})
    plain(made.workspace, "init", "-q", "-b", "main")
    plain(made.workspace, "add", "-A")
    plain(made.workspace, "commit", "-qm", "first")
    yield made
    made.close()


def begun(stage, prompt="fix the login", folder=None):
    """Begin the session of a stage in a worktree, as screen and command do, and go there."""
    origin = str(folder or stage.workspace)
    with session_place(stage.journal, origin, prompt, is_worktree=True) as place:
        stage.workspace = type(stage.workspace)(place.workspace)
        facts = {"path": str(stage.recording), "sha256": _digest(stage.recording)}
        stage.session_id = session_requests.create_session(
            stage.journal, workspace=place.workspace, provider="recorded", model="recorded-test", actor=USER,
            title=prompt, configuration={"recording": facts, **place.configuration},
        )  # fmt: skip
    stage.say(prompt)
    return stage.session().worktree


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ended(stage, session_id=None):
    """End a session and return what is said of its worktree."""
    session = stage.journal.session(session_id or stage.session_id)
    session_requests.end_session(stage.journal, session, USER)
    return release_worktree(stage.journal, session.id, own_worktree(stage.journal, session))


def branches(folder):
    return plain(folder, "branch", "--format=%(refname:short)").split()


# --- what is made ---------------------------------------------------------------------------------


def test_it_lies_next_to_the_repository_on_a_branch_that_the_prompt_names(stage, tmp_path):
    origin = stage.workspace
    worktree = begun(stage)
    assert worktree.folder == str(tmp_path / "stage/project-worktrees/fix-the-login")
    assert (worktree.branch, worktree.origin) == ("workbench/fix-the-login", str(origin))
    assert stage.session().workspace == worktree.folder
    assert plain(worktree.folder, "branch", "--show-current") == "workbench/fix-the-login\n"
    assert (stage.workspace / "a.txt").read_text() == "as it is\n"
    assert plain(origin, "status", "--porcelain") == ""


def test_a_folder_below_the_repository_stays_below_and_blanks_in_a_path_are_kept(tmp_path):
    made = Stage(tmp_path / "a stage", SCRIPT, files={"my sub/b.txt": "below\n"})
    plain(made.workspace, "init", "-q")
    plain(made.workspace, "add", "-A")
    plain(made.workspace, "commit", "-qm", "first")
    worktree = begun(made, folder=made.workspace / "my sub")
    assert made.session().workspace == str(tmp_path / "a stage/project-worktrees/fix-the-login/my sub")
    assert (made.workspace / "b.txt").read_text() == "below\n"
    assert worktree.origin == str(tmp_path / "a stage/project/my sub")
    assert ended(made).endswith("is removed.")
    made.close()


def test_a_name_that_is_taken_by_a_branch_or_by_a_folder_gets_a_number(stage):
    plain(stage.workspace, "branch", "workbench/fix-the-login")
    (stage.workspace.parent / "project-worktrees/fix-the-login-2").mkdir(parents=True)
    origin = stage.workspace
    assert begun(stage).branch == "workbench/fix-the-login-3"
    assert "workbench/fix-the-login" in branches(origin)


def test_a_branch_in_the_way_of_the_name_refuses_in_the_words_of_git_and_leaves_nothing(stage):
    plain(stage.workspace, "branch", "workbench")
    with pytest.raises(SessionRefused, match="workbench") as refused:
        begun(stage)
    assert refused.value.why.startswith("Git said: ")
    assert branches(stage.workspace) == ["main", "workbench"]
    assert not (stage.workspace.parent / "project-worktrees").exists()
    assert stage.journal.sessions() == []


def test_a_secret_in_the_prompt_is_no_name_of_a_branch(stage):
    worktree = begun(stage, f"use {TOKEN} for it")
    assert TOKEN[4:16].casefold() not in f"{worktree.branch} {worktree.folder}".casefold()


@pytest.mark.parametrize("prompt", ["…", "../../etc", "--force", "  \n x"])
def test_any_prompt_names_a_folder_of_its_own(stage, prompt):
    parent = stage.workspace.parent / "project-worktrees"
    worktree = begun(stage, prompt)
    assert type(parent)(worktree.folder).parent == parent


def test_a_worktree_of_a_worktree_and_of_a_submodule_is_made_as_well(stage, tmp_path):
    first = begun(stage)
    second = begun(stage, "and again", folder=first.folder)
    assert plain(second.folder, "branch", "--show-current") == "workbench/and-again\n"
    outer = tmp_path / "outer"
    outer.mkdir()
    plain(outer, "init", "-q")
    plain(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", first.origin, "inner")
    assert (outer / "inner/.git").is_file()
    third = begun(stage, "in a submodule", folder=outer / "inner")
    assert third.folder == str(outer / "inner-worktrees/in-a-submodule")
    assert (stage.workspace / "a.txt").read_text() == "as it is\n"


def test_a_folder_without_git_or_without_a_commit_is_refused_with_the_reason(tmp_path):
    made = Stage(tmp_path / "stage", SCRIPT)
    with pytest.raises(SessionRefused, match="is not in a git repository"):
        begun(made)
    plain(made.workspace, "init", "-q")
    with pytest.raises(SessionRefused, match="has no commit yet"):
        begun(made)
    assert made.journal.sessions() == []
    assert sorted(path.name for path in made.root.iterdir()) == ["home", "project", "recording.json"]
    made.close()


def test_nothing_is_left_where_the_session_was_not_created(stage):
    place = session_place(stage.journal, str(stage.workspace), "fix it", is_worktree=True)
    with pytest.raises(SessionRefused, match="The model is empty"), place as made:
        session_requests.create_session(
            stage.journal, workspace=made.workspace, provider="x", model=" ", actor=USER
        )
    assert branches(stage.workspace) == ["main"]
    assert not (stage.workspace.parent / "project-worktrees").exists()
    assert plain(stage.workspace, "worktree", "list").count("\n") == 1


# --- what runs ------------------------------------------------------------------------------------


def test_no_program_of_the_repository_runs_from_the_first_prompt_to_the_end(stage, tmp_path):
    hostile = Hostile(tmp_path / "repo")
    url = f"ext::{hostile.program('submodule')}"
    (hostile.folder / ".gitmodules").write_text(f'[submodule "m"]\n\tpath = m\n\turl = {url}\n')
    author = {
        f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    for words in (
        ["update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},m"], ["add", ".gitmodules"],
        ["commit", "-q", "-m", "a module", "--no-gpg-sign"],
    ):  # fmt: skip
        run_git(str(hostile.folder), *words, environment=os.environ, own=author)
    worktree = begun(stage, folder=hostile.folder)
    assert (stage.workspace / "a.txt").read_text() == "a.txt as it is stored\n"
    assert hostile.ran == []
    (stage.workspace / "new.txt").write_text("mine\n")
    assert "1 path in it would be lost" in ended(stage)
    (stage.workspace / "new.txt").unlink()
    said = release_worktree(stage.journal, stage.session_id, worktree)
    assert (said.endswith("is removed."), hostile.ran) == (True, [])


def test_a_repository_that_an_agent_puts_in_the_place_of_the_worktree_keeps_it_and_runs_nothing(
    stage, tmp_path
):
    worktree = begun(stage)
    hostile = Hostile(tmp_path / "repo")
    (stage.workspace / ".git").unlink()
    (hostile.folder / ".git").rename(stage.workspace / ".git")
    assert "stays: " in ended(stage)
    assert (stage.workspace / "a.txt").exists()
    assert hostile.ran == []
    assert worktree.branch in branches(worktree.origin)


# --- its end --------------------------------------------------------------------------------------


def test_it_is_removed_with_its_branch_when_nothing_would_be_lost(stage):
    worktree = begun(stage)
    assert ended(stage) == f"Its worktree {worktree.folder} is removed."
    assert branches(worktree.origin) == ["main"]
    assert not stage.workspace.parent.exists()
    assert ended_again(stage) == ""


def ended_again(stage):
    return release_worktree(stage.journal, stage.session_id, stage.session().worktree)


@pytest.mark.parametrize("change", ["changed", "new", "ignored", "staged", "removed"])
def test_it_stays_with_anything_that_no_commit_holds(stage, change):
    worktree = begun(stage)
    match change:
        case "changed":
            (stage.workspace / "a.txt").write_text("changed\n")
        case "new":
            (stage.workspace / "new.txt").touch()
        case "ignored":
            exclude = stage.root / "project/.git/info/exclude"
            exclude.write_text("*.log\n")
            (stage.workspace / "x.log").touch()
        case "staged":
            (stage.workspace / "new.txt").touch()
            plain(stage.workspace, "add", "new.txt")
        case "removed":
            (stage.workspace / "a.txt").unlink()
    assert ended(stage) == (
        f"Its worktree {worktree.folder} stays: 1 path in it would be lost: changed, new or ignored by git."
    )
    assert worktree.branch in branches(worktree.origin)
    assert stage.workspace.is_dir()


def test_a_commit_of_the_branch_is_kept_by_it_and_one_without_a_branch_keeps_the_worktree(stage):
    worktree = begun(stage)
    plain(stage.workspace, "commit", "-q", "--allow-empty", "-m", "mine")
    said = ended(stage)
    assert said.endswith("is removed; its commits stay on the branch workbench/fix-the-login.")
    assert worktree.branch in branches(worktree.origin)
    begun(stage, "another", folder=worktree.origin)
    plain(stage.workspace, "checkout", "-q", "--detach")
    plain(stage.workspace, "commit", "-q", "--allow-empty", "-m", "nowhere else")
    assert ended(stage).endswith("stays: a commit without a branch is checked out in it.")


def test_it_stays_while_another_session_works_in_it(stage):
    worktree = begun(stage)
    stage.trust().drive()
    source = stage.session()
    fork = make_fork(stage.journal, source, ForkOptions(), USER)
    assert stage.journal.session(fork.session_id).worktree == worktree
    assert ended(stage).endswith("stays: another session works in it.")
    assert ended(stage, fork.session_id).endswith("is removed.")


def test_a_fork_into_another_folder_has_no_worktree_to_remove(stage, tmp_path):
    begun(stage)
    stage.trust().drive()
    for options in (ForkOptions(folder=str(tmp_path / "copy")), ForkOptions(directory=str(stage.root))):
        fork = make_fork(stage.journal, stage.session(), options, USER)
        assert stage.journal.session(fork.session_id).worktree is None


def test_what_an_imported_session_names_is_removed_by_nobody(stage, tmp_path, monkeypatch, capsys):
    """Its file may name any worktree of the user's."""
    begun(stage)
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    file = tmp_path / "session.jsonl"
    assert main(["sessions", "export", stage.session_id, "--format", "events", "--output", str(file)]) == 0
    folder = stage.workspace
    session_requests.delete_with_steps(stage.journal, stage.session(), USER)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    ids = json.dumps(lines).replace(stage.session_id, "00000000-0000-4000-8000-000000000001")
    file.write_text("".join(f"{json.dumps(line)}\n" for line in json.loads(ids)))
    capsys.readouterr()
    assert main(["sessions", "import", str(file)]) == 0, capsys.readouterr()
    (imported,) = [session for session in stage.journal.sessions() if session.workspace == str(folder)]
    assert imported.worktree is not None
    fork = make_fork(stage.journal, imported, ForkOptions(), USER)
    assert stage.journal.session(fork.session_id).worktree is None
    session_requests.end_session(stage.journal, stage.journal.session(fork.session_id), USER)
    assert LocalLibrary(stage.home, stage.journal, str(stage.root)).delete([imported.id]).endswith("deleted.")
    assert folder.is_dir()


def test_deleting_its_session_says_what_became_of_it(stage):
    worktree = begun(stage)
    library = LocalLibrary(stage.home, stage.journal, worktree.origin)
    (stage.workspace / "new.txt").touch()
    assert f"Its worktree {worktree.folder} stays: 1 path" in library.end(stage.session_id)
    (stage.workspace / "new.txt").unlink()
    said = library.delete([stage.session_id])
    assert f"The session is deleted. Its worktree {worktree.folder} is removed." in said


def test_an_origin_that_is_gone_keeps_it(stage):
    worktree = begun(stage)
    stage.workspace.parent.parent.joinpath("project").rename(stage.root / "moved")
    assert ended(stage).startswith(f"Its worktree {worktree.folder} stays: git said: ")


# --- working in it --------------------------------------------------------------------------------


def test_an_edit_is_written_there_and_undone_there(stage):
    worktree = begun(stage)
    origin = stage.root / "project"
    stage.trust().drive()
    (asked,) = stage.waiting()
    assert stage.approve(asked).ok
    stage.drive()
    assert stage.read("new.py") == b"one\n"
    assert not (origin / "new.py").exists()
    assert [body.path for body in stage.bodies(FileChanged)] == ["new.py"]
    plan = plan_undo(stage.journal, stage.session(), None, is_redo=False)
    request_undo_of_files(stage.journal, plan, ["new.py"], USER)
    stage.drive()
    assert not (stage.workspace / "new.py").exists()
    assert ended(stage) == f"Its worktree {worktree.folder} is removed."


def test_trust_in_the_folder_is_no_trust_in_its_worktree_as_of_a_fork(stage):
    stage.trust()
    worktree = begun(stage)
    fork = stage.root / "fork"
    session_worktree.add_worktree_of(worktree.origin, str(fork), "--detach")
    found = [
        workspace_trust.is_trusted(stage.journal, path)
        for path in (worktree.origin, worktree.folder, str(fork))
    ]
    assert found == [True, False, False]
    assert not workspace_trust.has_read_grant(stage.journal, worktree.folder)


def test_the_trust_question_of_a_worktree_names_the_trusted_folder_and_trusts_nothing(stage):
    origin = stage.workspace
    stage.trust()
    worktree = begun(stage)
    asked = workspace_trust.open_trust_question(stage.journal, worktree.folder)
    row = stage.journal.action(asked)
    opened = proposal_of(stage.journal, row)
    words = f"It is a git worktree of {origin}, which you trust."
    assert words in opened.prompt
    assert words in action_detail(row, opened, (), stage.journal.now()).prompt
    assert action_words(row, NO_FOLDER) == ("trust", f"this folder, a worktree of {origin}")
    assert not workspace_trust.is_trusted(stage.journal, worktree.folder)
    workspace_trust.revoke_trust(stage.journal, str(origin), USER)
    assert not workspace_trust.read_governing_content(stage.journal, worktree.folder).worktree_of


def test_the_screen_of_the_folder_lists_its_session_its_rows_and_its_trust_question(stage):
    worktree = begun(stage)
    source = JournalSource(stage.journal, worktree.origin)
    elsewhere = JournalSource(stage.journal, str(stage.root))
    assert [session.id for session in source.sessions(10)] == [stage.session_id]
    stage.drive()
    question = workspace_trust.open_trust_question(stage.journal, worktree.folder)
    listed = {action.id for action in source.actions(10)}
    assert listed == {question, *(action.id for action in stage.waiting())}
    assert (source.waiting_elsewhere(), elsewhere.actions(10), elsewhere.sessions(10)) == ([], [], [])
    assert len(elsewhere.waiting_elsewhere()) == 2


def test_its_conversation_begins_with_where_it_works(stage):
    worktree = begun(stage)
    body = stage.journal.events(stage.session_id)[0].body
    kind, words, _ = notice_of(body, was_stopped=False)
    assert kind == "changed"
    assert words == f"It works in a git worktree: {worktree.folder}, branch {worktree.branch}."
    assert WORKTREE_SETTING in body.configuration


# --- by command -----------------------------------------------------------------------------------


def test_run_works_in_a_worktree_and_lists_shows_and_ends_say_so(stage, monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    monkeypatch.chdir(stage.workspace)
    words = ["--recording", str(stage.recording), "--on-approval", "park"]
    assert main(["run", "-p", "fix the login", "--worktree", *words]) == 3
    folder = stage.root / "project-worktrees/fix-the-login"
    assert f"Works in a git worktree of its own: {folder}" in " ".join(capsys.readouterr().err.split())
    assert main(["sessions", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["workspace"] == str(folder)
    assert main(["sessions", "show", listed["id"]]) == 0
    assert f"worktree of {stage.workspace}, branch workbench/fix-the-login" in capsys.readouterr().out
    assert main(["sessions", "end", listed["id"]]) == 0
    assert f"Its worktree {folder} is removed." in capsys.readouterr().out
    assert not folder.exists()


def test_a_run_that_does_not_begin_makes_no_worktree(stage, monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    monkeypatch.chdir(stage.workspace)
    assert main(["run", "--continue", "--worktree"]) == 2
    assert "--worktree has no place here" in capsys.readouterr().err
    assert main(["run", "-p", "x", "--worktree", "--recording", "nothing.json"]) == 1
    assert not (stage.root / "project-worktrees").exists()
    listed = subprocess.run(
        ["git", "branch"], cwd=stage.workspace, capture_output=True, text=True, check=True
    ).stdout
    assert listed == "* main\n"
