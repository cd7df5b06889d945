"""Workspaces: what is copied and given back while a project moves, and branches that are used again."""

import argparse
import json
import shutil

import pytest

from tests.unit.pipelines.projects import MANIFEST
from tests.unit.pipelines.test_places_and_limits import git, needs_git, repository
from workbench.cli.pipeline_clean import _clean_run
from workbench.effects import folders, tree_copies

assert repository  # the fixture

MOUNTED = """
  - id: a
    workspace: {mount: [{source: ./, target: /project, mode: readwrite}]}
    exec: {type: command, source: "%s"}
"""
TRACED = """  audit: {log_dir: .wave/traces/, log_all_tool_calls: true}
  workspace_root: .wave/workspaces
"""


def test_what_changes_in_the_project_while_it_is_copied_is_not_the_steps_change(runs, monkeypatch):
    here = runs(files={"a.txt": "old\n", "server.log": "1\n"})
    copy_file = tree_copies._TreeCopy.file

    def copy_beside_a_server(copy, *more, **options):
        with (here.root / "server.log").open("a") as log:
            log.write("more\n")
        copy_file(copy, *more, **options)
        with (here.root / "server.log").open("a") as log:
            log.write("and more\n")

    monkeypatch.setattr(tree_copies._TreeCopy, "file", copy_beside_a_server)
    row = here.run(MOUNTED % "find . -name a.txt -exec sh -c 'echo new > {}' ';'")
    assert (row.status, row.error_message) == ("completed", "")
    assert here.read("a.txt") == "new\n"


def test_traces_and_workspaces_in_the_project_are_neither_copied_nor_counted(runs, monkeypatch):
    here = runs(manifest=MANIFEST + TRACED, files={"a.txt": "old\n"})
    for number in range(3):
        row = here.run(
            MOUNTED
            % f"cd $(dirname $(find . -name a.txt)); echo {number} > a.txt; mkdir -p .wave/traces; touch .wave/traces/mine; find . -type f > all"
        )
        assert (row.status, row.error_message) == ("completed", "")
        assert here.read("a.txt") == f"{number}\n"
        assert "RUN" not in here.read("all") and ".jsonl" not in here.read("all")
        assert "workspaces" not in here.read("all")
        # Old workspaces hold more files than may be copied; they are never walked.
        monkeypatch.setattr(folders, "MOST_FILES", 12)
        monkeypatch.setattr(tree_copies, "MOST_FILES", 12)
    assert (here.root / f".wave/traces/{row.pipeline_id}.jsonl").is_file()
    assert not (here.root / ".wave/traces/mine").exists()


def test_a_copy_that_a_death_left_half_way_is_made_again_and_given_back(runs):
    here = runs(files={"src/a.txt": "old\n"})
    steps = (MOUNTED % "echo new > project/a.txt || echo new > a.txt").replace("./", "./src")
    from workbench.effects import fault_points

    with fault_points.arm_fault("tree.copied", OSError(28, "full")):
        row = here.run(steps)
    assert row.status == "failed"
    assert here.resume(row.pipeline_id).status == "completed"
    assert here.read("src/a.txt") == "new\n"


@pytest.mark.parametrize("mode", ["readonly", "readwrite"])
def test_a_mount_may_be_the_workspace_itself(runs, mode):
    here = runs(files={"src/a.txt": "old\n"})
    row = here.run(f"""
  - id: a
    workspace: {{mount: [{{source: src, target: /, mode: {mode}}}]}}
    exec: {{type: command, source: "cat a.txt; echo new > b.txt"}}
    output_artifacts: [{{name: b, path: b.txt}}, {{name: said, source: stdout}}]
""")
    assert (row.status, row.error_message) == ("completed", "")
    assert (here.root / "src/b.txt").exists() is (mode == "readwrite")


@pytest.mark.parametrize("kind", ["basic", "directory", "folder", "mount"])
def test_a_workspace_that_is_no_worktree_is_a_folder(runs, kind):
    here = runs()
    row = here.run(f"\n  - {{id: a, workspace: {{type: {kind}}}, exec: {{type: command, source: 'true'}}}}\n")
    assert row.status == "completed"


FIXED = """
  - id: a
    workspace: {type: worktree, branch: fixed, base: main}
    exec: {type: command, source: "git branch --show-current; ls; echo {{ input }} > {{ input }}.txt"}
    output_artifacts: [{name: said, source: stdout}]
"""


def said(here, row):
    (stored,) = [b for _, b in here.bodies(row.pipeline_id, "artifact.stored")]
    return here.journal.blobs.read(stored.content_ref).decode()


@needs_git
@pytest.mark.spec(125)
def test_a_worktree_with_a_fixed_branch_is_made_again_and_again(repository):
    here = repository
    rows = [here.run(FIXED, input=f"n{number}") for number in range(3)]
    assert [row.error_message for row in rows] == ["", "", ""]
    assert [said(here, row).splitlines()[0] for row in rows] == ["fixed"] * 3
    folder = here.step(rows[0].pipeline_id, "a").workspace_path
    assert (
        here.root / folder / "n0.txt"
    ).read_text() == "n0\n"  # what the first left stays until it is cleaned
    assert git(here.root, "worktree", "list").count("[fixed]") == 1


@needs_git
def test_a_branch_of_a_run_that_goes_on_and_of_the_project_is_never_taken(repository):
    here = repository
    gate = FIXED + "  - {id: g, dependencies: [a], gate: {prompt: go on?}}\n"
    first = here.run(gate, input="x")
    assert first.status == "waiting"
    second = here.run(FIXED, input="y")
    assert "git made no worktree for fixed" in second.error_message
    here.answer(first.pipeline_id)
    assert here.drive(first.pipeline_id).status == "completed"
    git(here.root, "checkout", "-q", "-b", "mine")
    taken = here.run(FIXED.replace("fixed", "mine"), input="z")
    assert "git made no worktree for mine" in taken.error_message
    assert git(here.root, "branch", "--show-current") == "mine"


def clean(here, row):
    run = here.journal.pipeline_state(row.pipeline_id)
    return _clean_run(here.journal, run, argparse.Namespace(failed=False, run="", dry_run=False))


@needs_git
def test_clean_removes_a_branch_without_commits_of_its_own_whatever_the_project_has_checked_out(repository):
    """Its base is ahead of the project's own branch."""
    here = repository
    git(here.root, "checkout", "-q", "-b", "ahead")
    git(
        here.root,
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "y",
    )
    git(here.root, "checkout", "-q", "main")
    row = here.run(FIXED.replace("base: main", "base: ahead"), input="x")
    assert (clean(here, row)["branches"], clean(here, row)) == (["fixed"], None)
    assert git(here.root, "branch", "--list", "fixed") == ""


@needs_git
@pytest.mark.spec(125)
def test_clean_removes_the_branches_that_runs_made_unless_commits_would_be_lost(repository):
    here = repository
    first, second = here.run(FIXED, input="x"), here.run(FIXED, input="y")
    assert clean(here, first)["branches_kept"] == ["fixed"]  # the second has it
    assert clean(here, second)["branches"] == ["fixed"]
    assert git(here.root, "branch", "--list", "fixed") == ""
    config = "git -c user.name=a -c user.email=a@example.org"
    commits = FIXED.replace("ls;", f"{config} commit -q --allow-empty -m kept;")
    assert clean(here, here.run(commits, input="z"))["branches_kept"] == ["fixed"]
    assert git(here.root, "log", "-1", "--format=%s", "fixed") == "kept"
    git(here.root, "branch", "theirs")
    row = here.run(FIXED.replace("fixed", "theirs"), input="w")
    assert json.dumps(clean(here, row)["branches"]) == "[]"
    assert git(here.root, "branch", "--list", "theirs") != ""
    assert shutil.which("git")
