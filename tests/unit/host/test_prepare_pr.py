"""git.preparePr with a real git: exactly the session's changes, on a branch, and nothing else touched."""

import subprocess

import pytest

from tests.support.stage import call, exchange, recording, text
from workbench.domain.events import CallFinished, CallProposed

ALLOWED = {"approvals": {"allow": ["Edit(*)", "Edit(**)", "Write(**)", "Write(*)", "Bash(*)"]}}


def git(stage, *arguments, **more):
    done = subprocess.run(
        ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *arguments],
        cwd=stage.workspace, capture_output=True, text=True, check=True, **more,
    )  # fmt: skip
    return done.stdout


def edit(call_id, path, old, new):
    return exchange(call(call_id, "replace_string_in_file", path=path, old_string=old, new_string=new))


def create(call_id, path, content):
    return exchange(call(call_id, "create_file", path=path, content=content))


def prepare(**arguments):
    return exchange(call("pr", "git_preparePr", **arguments))


LINES = "".join(f"line {n}\n" for n in range(1, 31))


@pytest.fixture
def repo(staged, monkeypatch, tmp_path):
    for name, value in (("NAME", "Test"), ("EMAIL", "test@example.org")):
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
    home = tmp_path / "githome"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Test\n\temail = test@example.org\n")
    monkeypatch.setenv("HOME", str(home))

    def make(*exchanges, files=None, init=True, **more):
        script = recording(*exchanges, exchange(text("done")))
        stage = staged(script, files={"a.txt": LINES, **(files or {})}, config={**ALLOWED, **more})
        if init:
            git(stage, "init", "-q", "-b", "main")
            git(stage, "add", "-A")
            git(stage, "commit", "-qm", "first")
        return stage

    return make


def state(stage):
    index = stage.workspace / ".git/index"
    return (
        git(stage, "status", "--porcelain"), git(stage, "rev-parse", "HEAD"), git(stage, "branch", "--show-current"),
        index.read_bytes(),
    )  # fmt: skip


def finished(stage):
    row = stage.calls()["pr"]
    return [e.body for e in stage.journal.call_events(row.id) if isinstance(e.body, CallFinished)][-1]


def refusal(stage):
    stage.begin("fix it")
    stage.drive()
    assert stage.waiting() == []
    return [body for body in stage.bodies(CallProposed) if body.tool.startswith("git")][-1].verdict.reason


@pytest.mark.spec(198, 208)
def test_the_sessions_own_changes_are_committed_to_a_branch_and_nothing_else_is_touched(repo):
    stage = repo(
        edit("c1", "a.txt", "line 5\n", "line five\n"), create("c2", "new/b.txt", "b\n"), prepare(),
        files={"mine.txt": "mine\n"},
    )  # fmt: skip
    (stage.workspace / "mine.txt").write_text("changed by the user\n")
    git(stage, "add", "mine.txt")
    (stage.workspace / "a.txt").write_text(LINES.replace("line 25", "my line 25"))
    stage.begin("make five a word")
    stage.drive()
    (action,) = stage.waiting()
    opened = stage.opened(action)
    assert (action.tool, action.target) == ("git.preparePr", "workbench/test-" + stage.session_id[:8])
    assert [(file.path, file.base is None) for file in opened.files] == [
        ("a.txt", False),
        ("new/b.txt", True),
    ]
    assert [line for hunk in opened.hunks for line in hunk.lines if line[0] in "+-"] == [
        ("-", "line 5"), ("+", "line five"), ("+", "b"),
    ]  # fmt: skip
    assert "Nothing is pushed" in opened.prompt and "make five a word" in opened.prompt
    branches, before = git(stage, "branch", "--list"), state(stage)
    stage.drive(until=lambda progress: True)
    assert (git(stage, "branch", "--list"), stage.waiting()[0].warnings) == (branches, ())

    stage.approve(action)
    stage.drive()
    found = finished(stage)
    assert (found.state, found.error) == ("succeeded", "")
    assert state(stage) == before
    branch = found.metadata["branch"]
    assert git(stage, "rev-parse", branch).strip() == found.metadata["commit"]
    assert git(stage, "rev-parse", f"{branch}^") == git(stage, "rev-parse", "HEAD")
    assert git(stage, "diff", "--name-only", "HEAD", branch).split() == ["a.txt", "new/b.txt"]
    assert git(stage, "show", f"{branch}:a.txt") == LINES.replace("line 5\n", "line five\n")
    assert git(stage, "log", "-1", "--format=%an%n%s%n%b", branch).startswith(
        "Test\ntest\nAsked:\n- make five a word"
    )
    assert "my line 25" in stage.read("a.txt").decode()


def test_only_the_hunks_that_were_taken_are_committed(repo):
    stage = repo(
        edit("c1", "a.txt", "line 5\n", "line five\n"), edit("c2", "a.txt", "line 25\n", "line x\n"),
        prepare(title="Words for numbers", branch="words"),
    ).begin()  # fmt: skip
    stage.drive()
    stage.approve(stage.waiting()[0], hunks=[2])
    stage.drive()
    assert git(stage, "show", "words:a.txt") == LINES.replace("line 25\n", "line x\n")
    assert git(stage, "log", "-1", "--format=%s", "words") == "Words for numbers\n"
    assert (finished(stage).hunks_taken, finished(stage).hunks_left) == ((2,), (1,))


def test_nothing_is_made_when_it_is_rejected(repo):
    stage = repo(edit("c1", "a.txt", "line 5\n", "five\n"), prepare(branch="words")).begin()
    stage.drive()
    objects = git(stage, "count-objects")
    stage.reject(stage.waiting()[0], "no")
    stage.drive()
    assert (git(stage, "branch", "--list", "words"), git(stage, "count-objects")) == ("", objects)


def test_what_a_user_committed_meanwhile_is_kept_and_what_overlaps_is_refused(repo):
    stage = repo(edit("c1", "a.txt", "line 5\n", "five\n"), prepare(branch="words"))
    (stage.workspace / "a.txt").write_text(LINES.replace("line 5\n", "my line 5\n"))
    reason = refusal(stage) if "line 5\n" in LINES else ""
    assert "touches lines of yours that are not committed" in reason


@pytest.mark.parametrize(
    ("prepared", "words"),
    [
        (lambda stage: git(stage, "checkout", "-q", "--detach"), "HEAD is detached"),
        (lambda stage: git(stage, "branch", "words"), "there is a branch words already"),
    ],
)
def test_a_repository_in_which_it_cannot_be_done_is_said(repo, prepared, words):
    stage = repo(edit("c1", "a.txt", "line 5\n", "five\n"), prepare(branch="words"))
    prepared(stage)
    assert words in refusal(stage)


@pytest.mark.parametrize("branch", ["-x", "a..b", "a b", "a\nb", "HEAD", "x.lock"])
def test_a_name_that_is_no_branch_is_refused(repo, branch):
    stage = repo(edit("c1", "a.txt", "line 5\n", "five\n"), prepare(branch=branch))
    assert "cannot be the name of a branch" in refusal(stage)


def test_without_a_repository_or_a_commit_or_a_change_it_is_refused(repo):
    one = edit("c1", "a.txt", "line 5\n", "five\n")
    assert "not in a git repository" in refusal(repo(one, prepare(), init=False))
    empty = repo(one, prepare(), init=False)
    git(empty, "init", "-q", "-b", "main")
    assert "has no commit yet" in refusal(empty)
    assert "has changed no file" in refusal(repo(prepare()))
    same = repo(one, edit("c2", "a.txt", "five\n", "line 5\n"), prepare())
    assert "nothing to commit" in refusal(same)


def test_a_file_that_git_does_not_know_is_refused_and_an_ignored_one_left_out(repo):
    stage = repo(edit("c1", "u.txt", "x", "y"), prepare())
    (stage.workspace / "u.txt").write_text("x\n")
    assert "u.txt is not in HEAD" in refusal(stage)
    stage = repo(
        create("c1", "build/o", "x"),
        create("c2", "n", "y\n"),
        prepare(branch="words"),
        files={".gitignore": "build/\n"},
    )
    stage.begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert git(stage, "diff", "--name-only", "HEAD", "words").split() == ["n"]
    assert "Left out, because git ignores it:\n- build/o" in git(stage, "log", "-1", "--format=%b", "words")


def test_head_that_moved_after_the_answer_is_refused(repo):
    stage = repo(edit("c1", "a.txt", "line 5\n", "five\n"), prepare(branch="words")).begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    git(stage, "commit", "-q", "--allow-empty", "-m", "another")
    stage.drive()
    assert "moved on meanwhile" in finished(stage).error
    assert git(stage, "branch", "--list", "words") == ""


def test_no_hook_and_no_filter_of_the_repository_runs(repo):
    stage = repo(edit("c1", "a.txt", "line 5\n", "five\n"), prepare(branch="words"))
    trap = stage.root / "ran"
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        hook = stage.workspace / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> {trap}\n")
        hook.chmod(0o755)
    git(stage, "config", "core.fsmonitor", f"sh -c 'echo monitor >> {trap}'")
    stage.begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert finished(stage).state == "succeeded"
    assert not trap.exists()

    filtered = repo(
        edit("c1", "a.txt", "line 5\n", "five\n"), prepare(), files={".gitattributes": "*.txt filter=x\n"}
    )
    git(filtered, "config", "filter.x.clean", f"sh -c 'echo filter >> {trap}; cat'")
    assert "filter=x" in refusal(filtered)
    assert not trap.exists()


def test_line_ends_are_stored_as_git_stores_them(repo):
    stage = repo(
        edit("c1", "w.txt", "two", "2"),
        prepare(branch="words"),
        files={".gitattributes": "w.txt text eol=crlf\n"},
    )
    (stage.workspace / "w.txt").write_bytes(b"one\r\ntwo\r\n")
    git(stage, "add", "-A")
    git(stage, "commit", "-qm", "second")
    stage.begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert git(stage, "show", "words:w.txt") == "one\n2\n"


def test_a_workspace_below_the_top_of_its_repository(repo):
    stage = repo(edit("c1", "a.txt", "line 5\n", "five\n"), prepare(branch="words"), init=False)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=stage.root, check=True)
    (stage.root / ".gitignore").write_text("home/\nrecording.json\n")
    git(stage, "add", "-A", str(stage.workspace))
    git(stage, "commit", "-qm", "first")
    stage.begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert git(stage, "diff", "--name-only", "HEAD", "words").split() == ["project/a.txt"]


def test_modes_are_kept_and_deleted_files_are_deleted(repo):
    stage = repo(
        edit("c1", "run.sh", "echo", "printf"),
        prepare(branch="words"),
        init=False,
        files={"run.sh": "echo\n"},
    )
    (stage.workspace / "run.sh").chmod(0o755)
    git(stage, "init", "-q", "-b", "main")
    git(stage, "add", "-A")
    git(stage, "commit", "-qm", "first")
    stage.begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert git(stage, "ls-tree", "words", "run.sh").startswith("100755 blob")
