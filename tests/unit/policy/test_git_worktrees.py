"""Which folders are those of a linked git worktree: what git made, and what only says so."""

import pytest

from tests.support.hostile_git import plain
from workbench.policy.git_worktrees import worktree_origin
from workbench.policy.trust import trust_question


@pytest.fixture
def repository(tmp_path):
    """Return a repository with a linked worktree next to it."""
    main = tmp_path / "main"
    main.mkdir()
    plain(main, "init", "--quiet")
    plain(main, "commit", "--quiet", "--allow-empty", "-m", "first")
    plain(main, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    return main


def test_a_worktree_is_one_that_its_repository_knows(repository, tmp_path):
    linked = tmp_path / "linked"
    (linked / "sub").mkdir()
    assert worktree_origin(str(linked)) == str(repository)
    assert worktree_origin(str(linked / "sub")) == str(repository / "sub")
    (tmp_path / "link").symlink_to(linked)
    assert worktree_origin(str(tmp_path / "link")) == str(repository)
    assert [worktree_origin(str(folder)) for folder in (repository, tmp_path)] == [None, None]


def test_a_moved_worktree_and_a_copied_git_file_are_of_no_repository(repository, tmp_path):
    copied = tmp_path / "copied"
    copied.mkdir()
    (copied / ".git").write_bytes((tmp_path / "linked/.git").read_bytes())
    assert worktree_origin(str(copied)) is None
    (tmp_path / "linked").rename(tmp_path / "moved")
    assert worktree_origin(str(tmp_path / "moved")) is None


@pytest.mark.parametrize(
    ("said", "back", "common"),
    [
        ("gitdir: nowhere\n", None, None),
        ("a text\n", None, None),
        ("gitdir: own\0\n", "../.git\n", "..\n"),
        ("gitdir: own\n", "../.git\0\n", "..\n"),
        ("gitdir: own\n", "../.git\n", "\0\n"),
        ("gitdir: own\n", "../.git\n", None),
        ("gitdir: own\n", "../.git\n", "../../main/.git\n"),
        ("gitdir: own\n", "../.git\n", "..\n"),
    ],
)
def test_a_folder_that_writes_its_own_git_files_is_of_no_repository(repository, tmp_path, said, back, common):
    forged = tmp_path / "forged"
    (forged / "own").mkdir(parents=True)
    (forged / ".git").write_text(said)
    for name, text in (("gitdir", back), ("commondir", common)):
        if text is not None:
            (forged / "own" / name).write_text(text)
    assert worktree_origin(str(forged)) is None


def test_the_trust_question_names_the_trusted_folder():
    assert "It is a git worktree of /w/main, which you trust." in trust_question(
        "/w/x", (), worktree_of="/w/main"
    )
