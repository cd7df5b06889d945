"""The branch in the header: in worktrees, submodules and sub-folders, and of a detached commit."""

import subprocess

import pytest

from workbench.backend.checked_out_branch import checked_out_branch


def git(folder, *words):
    who = ("-c", "user.name=n", "-c", "user.email=e@example.test", "-c", "protocol.file.allow=always")
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "shop"
    (folder / "src" / "deep").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "src" / "deep" / "a.txt").write_text("a")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def test_the_branch_is_found_wherever_the_folder_is(repository, tmp_path):
    assert checked_out_branch(str(repository)) == "main"
    assert checked_out_branch(str(repository / "src" / "deep")) == "main"
    git(repository, "worktree", "add", "-q", "-b", "feature/cart", str(tmp_path / "cart"))
    assert checked_out_branch(str(tmp_path / "cart")) == "feature/cart"
    assert checked_out_branch(str(tmp_path / "cart" / "src")) == "feature/cart"
    git(tmp_path, "init", "-q", "-b", "trunk", "outer")
    git(tmp_path / "outer", "submodule", "--quiet", "add", str(repository), "inner")
    git(tmp_path / "outer" / "inner", "checkout", "-q", "-b", "inside")
    assert checked_out_branch(str(tmp_path / "outer" / "inner" / "src")) == "inside"
    assert checked_out_branch(str(tmp_path / "outer")) == "trunk"


def test_a_detached_commit_is_its_short_hash(repository):
    git(repository, "checkout", "-q", "--detach")
    assert checked_out_branch(str(repository / "src")) == git(repository, "rev-parse", "HEAD")[:7]


@pytest.mark.parametrize("content", ["", "gitdir: nowhere", "gitdir:", "nonsense\x1b[31m"])
def test_what_names_no_branch_shows_none(tmp_path, content):
    (tmp_path / ".git").write_text(content)
    assert checked_out_branch(str(tmp_path)) == ""


def test_a_head_that_is_no_branch_and_no_commit_is_not_shown(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("secret text of another file")
    assert checked_out_branch(str(tmp_path)) == ""
