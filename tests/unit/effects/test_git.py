"""Calls of git in a repository that somebody else configured: it answers, and none of their programs runs."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.hostile_git import Hostile, plain
from workbench.effects.git import GitFailed, add_worktree, git_with_own_index, run_git


@pytest.fixture
def hostile(tmp_path):
    return Hostile(tmp_path / "repo")


def ask(folder, *words, **more):
    return run_git(str(folder), *words, environment=more.pop("environment", os.environ), **more).decode()


def test_the_programs_do_run_where_git_is_called_plainly(hostile, tmp_path):
    for words in (["ls-files", "--modified"], ["worktree", "add", "--detach", str(tmp_path / "tree")]):
        subprocess.run(["git", *words], cwd=hostile.folder, check=False, capture_output=True)
    assert {"fsmonitor", "process", "hook-reference-transaction"} <= set(hostile.ran)


READS = [
    ("ls-files", "-z", "--cached", "--others", "--exclude-standard"), ("ls-files", "--modified"), ("status",),
    ("branch", "--show-current"), ("remote", "get-url", "origin"), ("worktree", "prune"), ("diff",),
    ("diff", "HEAD"), ("log", "-p", "-1", "--show-signature"), ("show",), ("diff-index", "-p", "HEAD"),
    ("rev-parse", "--show-prefix"), ("hash-object", "-w", "--path=a.txt", "a.txt"), ("add", "-A"),
]  # fmt: skip


@pytest.mark.parametrize("words", READS, ids=lambda words: "-".join(words))
def test_no_program_of_the_repository_runs(hostile, words):
    (hostile.folder / "a.txt").write_text("changed\n")
    ask(hostile.folder, *words)
    assert hostile.ran == []


def test_a_commit_by_plumbing_runs_no_program(hostile):
    with git_with_own_index(str(hostile.folder), os.environ) as git:
        git.run("read-tree", "HEAD")
        tree = git.run("write-tree").decode().strip()
        author = {
            f"GIT_{who}_{what}": "t@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        made = ask(hostile.folder, "commit-tree", tree, "-m", "x", own=author).strip()
        git.run("update-ref", "refs/heads/new", made)
        assert git.merge(b"a\nb\n", b"a\n", b"a\n") == b"a\nb\n"
        assert git.merge(b"b\n", b"a\n", b"c\n") is None
    assert hostile.ran == []


def test_a_worktree_holds_the_files_as_they_are_stored_and_runs_no_program(hostile, tmp_path):
    target = tmp_path / "made" / "tree"
    target.parent.mkdir()
    add_worktree(str(hostile.folder), str(target), "-b", "topic", "{}", environment=os.environ)
    assert hostile.ran == []
    for name in ("a.txt", "b.late", "sub/c.txt"):
        assert (target / name).read_text() == f"{name} as it is stored\n"
    assert ask(target, "status", "--porcelain") == ""
    assert ask(target, "branch", "--show-current") == "topic\n"


def test_a_worktree_is_written_where_it_was_asked_for_and_nowhere_else(hostile, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (hostile.folder / ".git/late").write_text(f"[core]\n\tworktree = {elsewhere}\n")
    add_worktree(
        str(hostile.folder), str(tmp_path / "tree"), "--detach", "{}", "HEAD", environment=os.environ
    )
    assert list(elsewhere.iterdir()) == []
    assert (tmp_path / "tree/a.txt").exists()


@pytest.mark.parametrize(
    "names", [["filter.a=b.smudge"], [f"filter.n{n}.smudge" for n in range(201)]], ids=["equals", "many"]
)
def test_filters_that_cannot_be_switched_off_are_refused_and_nothing_is_left(hostile, tmp_path, names):
    text = "".join(f'[filter "{name[7:-7]}"]\n\tsmudge = touch x\n' for name in names)
    (hostile.folder / ".git/late").write_text(text)
    with pytest.raises(GitFailed, match="cannot be switched off"):
        add_worktree(
            str(hostile.folder), str(tmp_path / "tree"), "--detach", "{}", "HEAD", environment=os.environ
        )
    assert hostile.ran == []


def test_missing_objects_are_not_fetched(hostile, tmp_path):
    name = ask(hostile.folder, "rev-parse", "HEAD:a.txt").strip()
    (hostile.folder / f".git/objects/{name[:2]}/{name[2:]}").unlink()
    for key, value in {"remote.origin.promisor": "true", "extensions.partialClone": "origin"}.items():
        plain(hostile.folder, "config", key, value)
    plain(hostile.folder, "config", "core.repositoryFormatVersion", "1")
    with pytest.raises(GitFailed):
        add_worktree(
            str(hostile.folder), str(tmp_path / "tree"), "--detach", "{}", "HEAD", environment=os.environ
        )
    assert hostile.ran == []
    assert not (tmp_path / "tree").exists()


def test_a_folder_that_looks_like_a_repository_is_none(hostile, tmp_path):
    bare = tmp_path / "bare"
    plain(tmp_path, "clone", "-q", "--bare", str(hostile.folder), str(bare))
    with pytest.raises(GitFailed, match=r"safe\.bareRepository"):
        ask(bare, "ls-files")


def test_what_the_environment_says_of_git_and_of_this_folder_counts_for_nothing(hostile, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    plain(other, "init", "-q")
    steered = {
        **os.environ, "GIT_DIR": str(other / ".git"), "GIT_EXTERNAL_DIFF": hostile.program("by-environment"),
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_PAGER": hostile.program("pager-too"),
        "GIT_CONFIG_VALUE_0": hostile.program("by-count"), "GIT_EXEC_PATH": str(tmp_path),
        "PATH": f".:{os.environ['PATH']}:",
    }  # fmt: skip
    listed = ask(hostile.folder, "ls-files", environment=steered).split()
    assert (listed[-1], hostile.ran) == ("sub/c.txt", [])


def test_what_git_says_beside_its_answer_is_no_answer_but_the_reason(hostile, tmp_path):
    (hostile.folder / ".git/info/exclude").unlink()
    with pytest.raises(GitFailed, match="unknown revision"):
        ask(hostile.folder, "rev-parse", "nothing^{commit}")
    with pytest.raises(GitFailed, match="not installed"):
        ask(hostile.folder, "ls-files", environment={"PATH": str(tmp_path)})
    with pytest.raises(GitFailed, match="not a git repository"):
        ask(tmp_path, "ls-files")
    with pytest.raises(GitFailed, match="nothing of that name"):
        ask(tmp_path / "gone", "ls-files")


def test_no_other_module_calls_git():
    root = Path(__file__).parents[3] / "workbench"
    calling = {
        str(path.relative_to(root)) for path in root.rglob("*.py")
        if "policy" not in path.parts and any(word in path.read_text() for word in ('("git",', '["git",', "exec git"))
    }  # fmt: skip
    assert calling == {"effects/git.py"}


def test_git_is_not_looked_for_in_the_work_tree(hostile, tmp_path, monkeypatch):
    tools = hostile.folder / ".venv/bin"
    tools.mkdir(parents=True)
    (tools / "git").write_text("#!/bin/sh\necho hijacked\n")
    (tools / "git").chmod(0o755)
    (hostile.folder / "inner").mkdir()
    add_worktree(str(hostile.folder), str(tmp_path / "tree"), "--detach", "{}", environment=os.environ)
    (tmp_path / "linked").symlink_to(tools)
    for first in (tools, tmp_path / "linked"):
        environment = {"PATH": f"{first}:{os.environ['PATH']}"}
        for folder in (hostile.folder, hostile.folder / "inner", tmp_path / "tree"):
            assert "hijacked" not in ask(folder, "rev-parse", "--show-prefix", environment=environment)
