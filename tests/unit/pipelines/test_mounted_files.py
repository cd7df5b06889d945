"""Mounts: reflinks and copies, never a hard link, and mounts of only the files that an artifact names."""

import errno
import fcntl
import json
import os

import pytest

from workbench.effects import fault_points, tree_copies
from workbench.effects.file_primitives import FileRefused
from workbench.pipelines import workspace_plan
from workbench.pipelines.model import ArtifactInjection, Mount, Step

LIST = """
  - id: fetch-pr
    workspace: {root: ./}
    exec: {type: command, source: "true"}
    output_artifacts: [{name: pr-context, path: list.json, type: json}]
"""
READ = """
  - id: audit
    dependencies: [fetch-pr]
    workspace: {mount: [{source: %s, target: /project, mode: %s, subset_from: %s}]}
    exec: {type: command, source: "find . -type f | grep -v artifacts | sort; %s"}
    output_artifacts: [{name: said, source: stdout}]
"""
FILES = {"src/a.py": "a\n", "src/b.py": "b\n", "src/deep/c.py": "c\n", "docs/x.md": "x\n"}


def said(here, row, step="audit"):
    (stored,) = [b for s, b in here.bodies(row.pipeline_id, "artifact.stored") if s == step]
    return here.journal.blobs.read(stored.content_ref).decode().split()


def files(said_lines):
    return sorted(line.removeprefix("./").removeprefix("project/") for line in said_lines)


def audited(
    here, listed, source="./", mode="readonly", subset="fetch-pr.pr-context.changed_files", more="true"
):
    (here.root / "list.json").write_text(json.dumps(listed))
    return here.run(LIST + READ % (source, mode, subset, more))


def test_only_the_files_that_an_artifact_names_are_mounted(runs):
    here = runs(files=FILES)
    row = audited(here, {"changed_files": ["src/a.py", "src/deep/c.py", "gone.py"]})
    assert (row.status, row.error_message) == ("completed", "")
    assert files(said(here, row)) == ["src/a.py", "src/deep/c.py"]
    detail = here.bodies(row.pipeline_id, "step.changed")[-1][1].detail
    assert detail == (
        "project holds only the 2 files that fetch-pr.pr-context.changed_files names (not there: gone.py)"
    )


def test_lists_of_every_kind_name_the_files(runs):
    here = runs(files=FILES)

    def mounted(listed, subset="fetch-pr.pr-context.changed_files", source="./"):
        row = audited(here, listed, source, subset=subset)
        assert row.status == "completed", row.error_message
        return files(said(here, row))

    every = [
        "src/a.py", "src/a.py", {"filename": "src/b.py"}, {"path": "./src/deep/c.py", "lines": 3}, 7, "", {}
    ]  # fmt: skip
    assert mounted({"changed_files": every}) == ["src/a.py", "src/b.py", "src/deep/c.py"]
    assert mounted({"changed_files": []}) == []
    assert mounted(["src/a.py"], "fetch-pr.pr-context") == ["src/a.py"]
    assert mounted({"a": {"b": ["src/a.py"]}}, "fetch-pr.pr-context.a.b") == ["src/a.py"]
    assert mounted({"changed_files": ["src/a.py", "deep/c.py"]}, source="src") == ["a.py", "deep/c.py"]


def test_what_leads_out_of_the_project_is_never_mounted_and_is_named(runs):
    here = runs(files=FILES)
    (here.root.parent / "secret.txt").write_text("secret\n")
    (here.root / "link.py").symlink_to(here.root.parent / "secret.txt")
    (here.root / "out").symlink_to(here.root.parent)
    (here.root / ".git").mkdir()
    (here.root / ".git/config").write_text("[core]\n")
    listed = [
        ".git/config",
        "../secret.txt",
        "/etc/passwd",
        "link.py",
        "out/secret.txt",
        "src/../../secret.txt",
        "src/a.py",
    ]
    row = audited(here, {"changed_files": listed})
    assert files(said(here, row)) == ["src/a.py"]
    detail = here.bodies(row.pipeline_id, "step.changed")[-1][1].detail
    assert "outside: ../secret.txt, /etc/passwd, src/../../secret.txt" in detail
    assert "not there: .git/config, link.py, out/secret.txt" in detail


def test_a_list_that_is_none_or_too_long_fails_the_step_with_its_reason(runs, monkeypatch):
    here = runs(files=FILES)
    monkeypatch.setattr(workspace_plan, "MOST_NAMES", 2)
    for listed, why in (
        ({"changed_files": {"a": 1}}, "is not a list of paths"),
        ({"other": []}, "is not a list of paths"),
        ({"changed_files": ["a", "b", "c"]}, "names 3 files; 2 are the most"),
    ):
        row = audited(here, listed)
        assert (row.status, why in row.error_message) == ("failed", True), row.error_message


def test_what_is_changed_in_a_readwrite_subset_goes_back_and_nothing_else(runs):
    here = runs(files=FILES)
    row = audited(
        here, {"changed_files": ["src/a.py"]}, mode="readwrite",
        more="cd $(dirname $(find . -name a.py))/..; echo new > src/a.py; echo more > src/new.py",
    )  # fmt: skip
    assert (row.status, row.error_message) == ("completed", "")
    assert (here.read("src/a.py"), here.read("src/new.py"), here.read("src/b.py")) == (
        "new\n",
        "more\n",
        "b\n",
    )


def test_a_run_below_is_narrowed_to_what_its_step_mounts(runs):
    below = """kind: WavePipeline
metadata: {name: below}
steps:
  - id: scan
    workspace: {mount: [{source: ./, target: /project, mode: readonly, subset_from: pr-context.changed_files}]}
    exec: {type: command, source: "find . -type f | grep -v '^./artifacts' | sort"}
    output_artifacts: [{name: said, source: stdout}]
"""
    here = runs(files={**FILES, ".wave/pipelines/below.yaml": below})
    (here.root / "list.json").write_text(json.dumps({"changed_files": ["src/b.py"]}))
    row = here.run(
        LIST
        + """
  - id: audit
    dependencies: [fetch-pr]
    pipeline: below
    workspace: {mount: [{source: ./, target: /project, subset_from: fetch-pr.pr-context.changed_files}]}
"""
    )
    assert (row.status, row.error_message) == ("completed", "")
    assert files(said(here, row)) == ["src/b.py"]
    assert here.run("  - {id: audit, pipeline: below}\n").status == "completed"


def test_names_with_points_and_injected_names_are_found():
    step = Step(
        id="s", path="", line=1, kind="command",
        injections=(ArtifactInjection(step="a.b", artifact="x", name="pr.list"),),
    )  # fmt: skip
    table = {
        "a.b.art.files.0": ("a.b", "art", "files.0"), "a.art": ("a", "art", ""), "a": ("", "", ""),
        "pr.list.files": ("", "pr.list", "files"), "pr.list": ("", "pr.list", ""), "other.x": ("", "", ""),
    }  # fmt: skip
    found = {text: step.subset_source(text, {"a", "a.b"}) for text in table}
    assert found == table


# --- copies -----------------------------------------------------------------------------------------


def tree(root, count=30):
    for number in range(count):
        folder = root / f"d{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}").write_bytes(b"x" * number)
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / "link").symlink_to("tool")
    os.mkfifo(root / "pipe")
    return root


def contents(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_copy_is_whole_has_its_modes_and_shares_no_file(tmp_path):
    source = tree(tmp_path / "source")
    tree_copies.copy_tree(str(source), str(tmp_path / "copy"), is_readonly=True)
    copy = contents(tmp_path / "copy")
    (source / "link").unlink()
    assert copy == contents(source)
    every = [path for path in (tmp_path / "copy").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in every if path.is_file()} == {0o444, 0o555}
    assert {path.stat().st_mode & 0o777 for path in every if path.is_dir()} == {0o500}
    assert all(path.stat().st_nlink == 1 for path in every if path.is_file())
    inodes = {path.stat().st_ino for path in source.rglob("*")}
    assert not inodes & {path.stat().st_ino for path in every}


def test_where_the_file_system_makes_reflinks_they_are_made_and_else_asked_for_once(tmp_path, monkeypatch):
    source, asked = tree(tmp_path / "source"), []

    def clone(target, request, origin):
        asked.append(request)
        if not clone.works:
            raise OSError(errno.EOPNOTSUPP, "no reflinks here")
        os.write(target, os.pread(origin, 1 << 20, 0))
        return 0

    monkeypatch.setattr(fcntl, "ioctl", clone)
    for clone.works in (True, False):
        asked.clear()
        copy = tmp_path / f"copy-{clone.works}"
        tree_copies.copy_tree(str(source), str(copy), is_readonly=False)
        assert contents(copy) == {name: data for name, data in contents(source).items() if name != "link"}
        # One file is empty; two threads may ask beside one another before they know.
        assert len(asked) == 30 if clone.works else len(asked) <= 2
    assert set(asked) == {0x40049409}


def test_a_full_disk_leaves_nothing_of_a_copy(tmp_path):
    source = tree(tmp_path / "source")
    with fault_points.arm_fault("tree.copied", OSError(errno.ENOSPC, "full")), pytest.raises(FileRefused):
        tree_copies.copy_tree(str(source), str(tmp_path / "copy"), is_readonly=True)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_clone_that_fails_for_room_is_not_taken_for_a_file_system_without_clones(tmp_path, monkeypatch):
    source = tree(tmp_path / "source")
    monkeypatch.setattr(fcntl, "ioctl", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(FileRefused, match=r"full|space"):
        tree_copies.copy_tree(str(source), str(tmp_path / "copy"), is_readonly=True)
    assert not (tmp_path / "copy").exists()


def test_a_step_that_writes_into_its_readonly_mount_changes_it_for_nobody_else(runs):
    here = runs(files={"src/a.py": "a\n"})
    mounted = "workspace: {mount: [{source: src, target: /src, mode: readonly}]}"
    row = here.run(f"""
  - id: one
    {mounted}
    exec: {{type: command, source: "chmod -R u+w src && echo spoiled > src/a.py"}}
  - id: two
    dependencies: [one]
    {mounted}
    exec: {{type: command, source: "cat src/a.py"}}
    output_artifacts: [{{name: said, source: stdout}}]
""")
    assert row.status == "completed", row.error_message
    assert said(here, row, "two") == ["a"]
    assert here.read("src/a.py") == "a\n"


def test_a_mount_is_narrowed_below_its_own_source():
    mount = Mount(source="src", target="/project", subset_from="a.b")
    subset = workspace_plan._subset_of(mount, ["src/a.py", "b.py", "srcs/c.py"])
    assert subset.names == ("a.py", "b.py", "srcs/c.py")
