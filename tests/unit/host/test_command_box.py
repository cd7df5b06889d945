"""The box of a workspace: what is closed, hidden and shown in it, and what a command may not leave."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import boxes
from tests.support.stage import USER, recording
from workbench.domain.events import SessionStatusChanged
from workbench.effects import folder_index
from workbench.effects.file_primitives import FileRefused
from workbench.effects.folder_index import TooManyNames
from workbench.host import command_box as module
from workbench.host.box_folders import (
    folders_of_moved,
    hooks_owner,
    moved_list,
    quarantine_folder,
    remove_old_box_folders,
    session_storage,
    workspace_caches,
)
from workbench.host.closed_names import NO_DENIALS, PathDenials
from workbench.host.command_box import BoxUnavailable, command_box, quarantine_new_closed
from workbench.journal.maintenance import delete_session


@pytest.fixture
def base(tmp_path):
    return tmp_path.resolve()


@pytest.fixture
def workspace(base):
    folder = base / "project"
    folder.mkdir()
    return folder


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text("as it was\n")


def closed(base, **more):
    """Return the closed paths, relative to the workspace."""
    planned = boxes.plan(base, **more)
    return [os.path.relpath(path, planned.box.workspace) for path in planned.box.closed]


# --- what is closed

CLOSED = (
    ".git/", ".git", "sub/.git/", "deep/er/.git", ".GIT/", ".Git", ".envrc", "sub/.envrc", "a/b/c/.ENVRC", ".vscode/tasks.json",
    "sub/.vscode/settings.json", ".github/workflows/", ".claude/", "sub/.claude/", ".cursor/", "AGENTS.md", "docs/claude.md",
    ".mcp.json", ".husky/", ".pre-commit-config.yaml", ".gitattributes", ".gitmodules", ".npmrc", ".yarn/",
    ".cargo/config.toml", "lib/site-packages/x.pth", "sitecustomize.py", ".workbench.json", ".workbench/", "wave.yaml", ".wave/",
    ".agents/", "sub/.workbench.json", "node_modules/pkg/.npmrc", "node_modules/pkg/.travis.yml", ".bashrc", ".profile", ".hg/",
    ".idea/", "x.code-workspace", "jenkinsfile.old", ".mise/", "mise.toml", "mise/config.toml", ".config/mise/", ".jj/",
    "sub/.jj/", ".sl/", ".tool-versions", "rust-toolchain", ".pylintrc", ".helix/", ".zed/", "sitecustomize/", "lib/usercustomize/",
    ".envrc.local", ".bsp/", "latexmkrc", "jupyter_server_config.json", ".amp/", "hie.yaml", "uv.toml",
    "sitecustomize.cpython-311-x86_64-linux-gnu.so", "__pycache__/usercustomize.cpython-311.pyc",
)  # fmt: skip
OPEN = (
    "src/main.py", "README.md", ".gitignore", ".env", ".vscode/other.json", ".github/FUNDING.yml", ".gitx/file", "git/", "envrc",
    "sub/.bashrc", "package.json", "mise/tasks/build", ".config/other.toml", "pth", "x.pth.txt", ".cargo/bin/", "claude.md.txt", ".config/",
)  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_a_path_that_controls_the_workspace_is_closed(base, workspace, name):
    make(workspace, name)
    assert closed(base) == [name.rstrip("/")]


@pytest.mark.parametrize("name", OPEN)
def test_other_paths_stay_open(base, workspace, name):
    make(workspace, name)
    assert closed(base) == []


def test_a_folder_of_hooks_that_git_is_told_of_is_closed(base, workspace):
    make(workspace, ".git/", "tools/hooks/pre-commit", "tools/other")
    (workspace / ".git/config").write_text("[core]\n\thooksPath = tools/hooks\n")
    assert closed(base) == [".git", "tools/hooks"]
    (workspace / ".git/config").write_text("[core]\n\thooksPath = elsewhere\n")
    assert closed(base) == [".git"], "git's settings are read again"


def test_what_links_in_the_repository_lead_to_is_closed(base, workspace):
    make(workspace, ".git/hooks/", "scripts/real", "scripts/other", "sub/.git/hooks/", "sub/tool")
    (workspace / "scripts/check").symlink_to("real")
    (workspace / ".git/hooks/pre-commit").symlink_to("../../scripts/check")
    (workspace / "sub/.git/hooks/pre-push").symlink_to("../../tool")
    assert closed(base) == [".git", "scripts/real", "sub/.git", "sub/tool"]
    assert f"{workspace}/scripts/check" in boxes.plan(base).before, "a link that is replaced is put back"


GIT_SETTINGS = (
    ("[include]\n path = ../shared.inc\n", ["shared.inc"]),
    ('[includeIf "onbranch:x"]\n path = ../shared.inc\n', ["shared.inc"]),
    ("[include]\n path = ../outer.inc\n", ["outer.inc", "tools/fs"]),
    ("[core]\n fsmonitor = tools/fs\n", ["tools/fs"]),
    ("[core]\n sshCommand = \"sh tools/fs -v\"\n", ["tools/fs"]),
    ('[diff "x"]\n textconv = python3 conv.py\n', ["conv.py"]),
    ("[alias]\n x = !f() { ./tools/fs; }; f\n y = log -- conv.py\n", ["tools/fs"]),
    ("[gpg]\n program = ~/gpg\n[user]\n name = conv.py\n[core]\n pager = less src\n", []),
)  # fmt: skip


@pytest.mark.parametrize(("settings", "paths"), GIT_SETTINGS)
def test_what_settings_of_git_name_is_closed(base, workspace, settings, paths):
    make(workspace, ".git/", "tools/fs", "shared.inc", "conv.py", "src/", "less/")
    (workspace / "outer.inc").write_text("[core]\n\tfsmonitor = tools/fs\n")
    (workspace / ".git/config").write_text(settings)
    assert closed(base) == [".git", *paths]


@pytest.mark.parametrize(
    ("prefix", "paths"),
    [
        (".venv", [".venv"]),
        ("linked", ["linked", "tools/env"]),
        ("", ["bin", "lib", "pyvenv.cfg"]),
        ("../elsewhere", ["made"]),
    ],
)
def test_the_environment_that_workbench_runs_from_is_closed(base, workspace, monkeypatch, prefix, paths):
    folder = workspace / prefix
    if prefix == "linked":
        (workspace / "tools/env").mkdir(parents=True)
        folder.symlink_to("tools/env")
    for name in ("bin", "lib"):
        (folder / name).mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    (workspace / "made").touch()
    (folder / "bin/python").symlink_to(workspace / "made" if ".." in prefix else "/usr/bin/python3")
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", f"{folder}/bin/python")
    found = boxes.plan(base)
    top = {path for path in found.before if not any(f"{path}".startswith(f"{up}/") for up in found.before)}
    assert sorted(os.path.relpath(path, workspace) for path in top) == paths


@pytest.mark.parametrize("repository", ["sub/.git", "deep/er/.git", "bare"])
def test_what_settings_of_a_repository_below_name_anywhere_is_closed_when_they_change(
    base, workspace, repository, monkeypatch
):
    monkeypatch.setattr(folder_index, "is_settled", lambda changed: True)
    make(
        workspace,
        f"{repository}/HEAD",
        f"{repository}/objects/",
        f"{repository}/refs/",
        "above/hooks/x",
        "a.inc",
        "a/tool",
    )
    shown = os.path.dirname(repository) if repository.endswith(".git") else repository  # noqa: PTH120
    up = os.path.relpath(workspace, workspace / shown)
    own = ["bare"] if repository == "bare" else [repository]
    assert closed(base) == own
    config = workspace / repository / "config"
    config.write_text(
        f'[core]\n hooksPath = {up}/above/hooks\n[filter "x"]\n clean = {up}/a/tool\n'
        f"[include]\n path = {workspace}/a.inc\n[init]\n templateDir = {up}/..\n"
    )
    assert sorted(closed(base)) == sorted(["a.inc", "a/tool", "above/hooks", *own])
    config.write_text(f"[core]\n hooksPath = {up}/above/later\n")
    planned = boxes.plan(base)
    make(workspace, "evil/x")
    (workspace / "above/later").symlink_to("../evil")
    assert (left(planned), (workspace / "evil/x").exists()) == (["above/later"], True)
    config.write_text(f"[core]\n hooksPath = {up}\n")
    with pytest.raises(BoxUnavailable, match="takes hooks from the workspace itself"):
        boxes.plan(base)


def test_a_link_on_a_way_that_was_not_there_is_moved_out(base, workspace):
    make(workspace, ".git/", "evil/hooks/pre-commit")
    (workspace / ".git/config").write_text("[core]\n\thooksPath = tools/hooks\n\tpager = sh up/../page\n")
    make(workspace, "page", "up/x", "evil/page")
    planned = boxes.plan(base)
    assert f"{workspace}/page" in planned.before
    (workspace / "tools").symlink_to("evil")
    (workspace / "up").rename(workspace / "before")
    (workspace / "up").symlink_to("evil/hooks")
    assert sorted(left(planned)) == ["tools", "up"]
    assert (workspace / "evil/hooks/pre-commit").exists()


def test_what_links_of_the_home_folder_lead_to_is_closed(base, workspace, monkeypatch):
    make(workspace, "sh/rc", "git/gitconfig", "config/git/config", "config/other", "xdg/git/config", "src/x")
    make(base, "home/")
    for name, target in (
        (".bashrc", "sh/rc"),
        (".gitconfig", "git/gitconfig"),
        (".config", "config"),
        ("x", "src"),
    ):
        (base / "home" / name).symlink_to(workspace / target)
    monkeypatch.setenv("XDG_CONFIG_HOME", f"{workspace}/xdg")
    assert closed(base) == ["config/git", "git/gitconfig", "sh/rc", "xdg/git/config"]


def test_what_links_in_folders_of_the_home_folder_lead_to_is_closed(base, workspace):
    make(workspace, "fish/config.fish", "ssh/config", "units/a.service", "tool", "far/x")
    for name, target in (
        (".config/fish/conf.d/x.fish", "fish/config.fish"), (".ssh/config", "ssh/config"), (".local/bin/tool", "tool"),
        (".config/systemd/user/new.service", "units/new.service"), (".config/other/x", "far/x"), (".vim/here", "."),
    ):  # fmt: skip
        make(base / "home", f"{name.rpartition('/')[0]}/")
        (base / "home" / name).symlink_to(workspace / target)
    assert closed(base) == ["fish/config.fish", "ssh/config"]
    planned = boxes.plan(base)
    make(workspace, "units/new.service")
    assert left(planned) == ["units/new.service"]


LINKS = (
    (".claude/settings.json", "../agent/settings.json"), (".claude/skills/a", "../../skills/a"), (".husky/pre-commit", "../later.sh"),
    (".git/hooks/pre-commit.d/x", "../../../lint"), (".github/workflows/x.yml", "../../ci/x.yml"),
)  # fmt: skip


@pytest.mark.parametrize(
    "denials", [NO_DENIALS, PathDenials(key=7, reads=lambda path: path.endswith("/secret"))]
)
def test_what_links_in_closed_folders_lead_to_is_closed(base, workspace, denials):
    make(
        workspace,
        "agent/settings.json",
        "skills/a/SKILL.md",
        "lint",
        "ci/x.yml",
        "src/a",
        ".idea/b",
        ".git/HEAD",
    )
    around = (
        (".claude/all", ".."), (".claude/b", "../.idea/b"), (".idea/node_modules/a", "../../src/a"), (".idea/own/.git/", ""),
        (".idea/own/a", "../../src/a"), (".claude/loop", "loop"), (".claude/far", "/nowhere/at-all"),
    )  # fmt: skip
    for name, target in (*LINKS, *around):
        make(workspace, name if name.endswith("/") else f"{name.rpartition('/')[0]}/")
        if target:
            (workspace / name).symlink_to(target)
    found = closed(base, denials=denials)
    assert found == sorted(
        {
            ".claude",
            ".git",
            ".github/workflows",
            ".husky",
            ".idea",
            "agent/settings.json",
            "ci/x.yml",
            "lint",
            "skills/a",
        }
    )
    planned = boxes.plan(base, denials=denials)
    make(workspace, "later.sh")
    assert left(planned) == ["later.sh"]


def test_bytecode_of_a_closed_module_is_closed_and_new_bytecode_is_moved_out_without_a_word(base, workspace):
    denials = PathDenials(key=4, writes=lambda path: path.endswith("/fixed.py"))
    make(workspace, "a/fixed.py", "a/__pycache__/fixed.cpython-311.pyc", "a/__pycache__/fixedly.cpython-311.pyc",
         "a/open.py", "a/__pycache__/open.cpython-311.pyc")  # fmt: skip
    planned = boxes.plan(base, denials=denials)
    assert [os.path.relpath(path, workspace) for path in planned.box.closed] == [
        "a/__pycache__/fixed.cpython-311.pyc",
        "a/fixed.py",
    ]
    make(workspace, "a/__pycache__/fixed.cpython-312.pyc")
    found = quarantine_new_closed(planned)
    assert (found.moved, found.bytecode) == ((), (f"{workspace}/a/__pycache__/fixed.cpython-312.pyc",))
    assert kept(planned) == ["fixed.cpython-312.pyc"]
    planned = boxes.plan(base, denials=denials)
    shutil.rmtree(workspace / "a/__pycache__")
    make(workspace, "evil/fixed.cpython-312.pyc")
    (workspace / "a/__pycache__").symlink_to("../evil")
    assert left(planned) == ["a/__pycache__"]


def test_further_names_of_what_is_in_a_closed_folder_are_closed(base, workspace):
    make(workspace, ".git/HEAD", ".git/hooks/pre-commit", ".git/objects/x", "scripts/check", "ours/push", "src/one",
         ".claude/logs/b", ".claude/worktrees/w/.git", ".claude/worktrees/w/src/x", ".claude/node_modules/y")  # fmt: skip
    (workspace / ".git/config").write_text("[core]\n\thooksPath = ours\n")
    assert closed(base) == [".claude", ".git", "ours"]
    (workspace / ".git/hooks/pre-push").hardlink_to(workspace / "scripts/check")
    (workspace / "src/two").hardlink_to(workspace / "ours/push")
    (workspace / "src/three").hardlink_to(workspace / ".claude/logs/b")
    for number, name in enumerate((".git/objects/x", ".claude/worktrees/w/src/x", ".claude/node_modules/y")):
        (workspace / f"src/other{number}").hardlink_to(workspace / name)
    (workspace / "src/four").hardlink_to(workspace / "src/one")
    assert closed(base) == [".claude", ".git", "ours", "scripts/check", "src/three", "src/two"]
    (workspace / "scripts").rename(workspace / "moved")
    assert "moved/check" in closed(base)


def test_a_file_that_git_would_include_is_moved_out_if_a_command_makes_it(base, workspace):
    make(workspace, ".git/")
    (workspace / ".git/config").write_text("[include]\n\tpath = ../later.inc\n")
    planned = boxes.plan(base)
    make(workspace, "later.inc")
    assert quarantine_new_closed(planned).moved == (f"{workspace}/later.inc",)


def test_further_names_of_a_closed_file_are_closed(base, workspace):
    make(workspace, ".envrc", "deep/other", "single")
    assert closed(base) == [".envrc"]
    (workspace / "deep/twin").hardlink_to(workspace / ".envrc")
    assert closed(base) == [".envrc", "deep/twin"]
    (workspace / "third").hardlink_to(workspace / ".envrc")
    assert closed(base) == [".envrc", "deep/twin", "third"]


def test_only_step_workspaces_of_the_data_folder_are_boxed(base):
    with pytest.raises(BoxUnavailable, match="data folder"):
        boxes.plan(base, workspace=base / "data/artifacts")
    assert boxes.plan(base, workspace=base / "data/workspaces/run/step").box


def test_a_repository_without_a_work_tree_is_closed(base, workspace):
    make(workspace, "bare/HEAD", "bare/objects/", "bare/refs/", "bare/hooks/x", "half/HEAD", "half/objects/", "linked/HEAD",
         "linked/commondir")  # fmt: skip
    assert closed(base) == ["bare", "linked"]


def test_of_a_workspace_that_is_a_repository_its_parts_are_closed(base, workspace):
    make(workspace, "HEAD", "objects/", "refs/", "hooks/x", "config", "main.py")
    assert closed(base) == ["HEAD", "config", "hooks", "objects", "refs"]


def test_new_parts_of_a_workspace_that_is_a_repository_are_moved_out(base, workspace):
    make(workspace, "HEAD", "objects/", "refs/", "config")
    planned = boxes.plan(base)
    make(workspace, "hooks/post-receive", "info/attributes", "config.worktree", "main.py")
    assert sorted(left(planned)) == ["config.worktree", "hooks", "info"]


def test_a_workspace_that_becomes_a_repository_loses_only_its_head(base, workspace):
    make(workspace, "objects/x", "config", "hooks/x")
    planned = boxes.plan(base)
    make(workspace, "HEAD", "refs/")
    quarantine_new_closed(planned)
    assert sorted(os.listdir(workspace)) == ["config", "hooks", "objects", "refs"]  # noqa: PTH208


def test_a_link_is_closed_by_what_it_leads_to(base, workspace):
    make(workspace, "notes.txt")
    (workspace / "CLAUDE.md").symlink_to("notes.txt")
    (workspace / ".envrc").symlink_to("/etc/hostname")
    (workspace / ".claude").symlink_to(".")
    (workspace / "AGENTS.md").symlink_to("nowhere")
    assert closed(base) == ["notes.txt"]
    assert set(boxes.plan(base).before) == {
        f"{workspace}/{name}" for name in ("CLAUDE.md", ".envrc", ".claude", "AGENTS.md", "notes.txt")
    }


def test_further_paths_are_closed_if_they_are_in_the_workspace(base, workspace):
    make(workspace, "hook.sh")
    make(base, "elsewhere.sh")
    found = closed(base, closed=(f"{workspace}/hook.sh", f"{workspace}/gone.sh", f"{base}/elsewhere.sh"))
    assert found == ["hook.sh"]


def test_a_folder_that_cannot_be_listed_is_closed(base, workspace, monkeypatch):
    make(workspace, "locked/")
    scandir = os.scandir

    def refusing(folder):
        if folder == f"{workspace}/locked":
            raise PermissionError
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    assert closed(base) == ["locked"]


def test_many_closed_paths_close_the_folder_that_holds_most_of_them(base, workspace, monkeypatch):
    monkeypatch.setattr(module, "MOST_CLOSED", 9)
    make(workspace, ".git/", *(f"node_modules/{number}/.npmrc" for number in range(5)), "src/.envrc")
    planned = boxes.plan(base)
    assert [os.path.relpath(path, workspace) for path in planned.box.closed] == [
        ".git",
        "node_modules",
        "src/.envrc",
    ]
    assert planned.notes == (
        f"{workspace}/node_modules is read-only as a whole: 5 paths in it may not be changed",
    )


def test_too_many_closed_paths_at_the_top_give_no_box(base, workspace, monkeypatch):
    monkeypatch.setattr(module, "MOST_CLOSED", 2)
    make(workspace, ".envrc", ".npmrc", ".mcp.json")
    with pytest.raises(BoxUnavailable, match="3 files at its top"):
        boxes.plan(base)


# --- what is hidden


def hidden(planned):
    return [path for path in planned.box.hidden if path.startswith(planned.box.workspace)]


def test_pipes_and_sockets_of_the_workspace_are_hidden(base, workspace):
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(workspace / "agent.sock"))
        assert hidden(boxes.plan(base)) == [f"{workspace}/agent.sock", f"{workspace}/pipe"]


def test_the_data_folder_and_sockets_elsewhere_are_hidden(base, workspace):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(base / "outside.sock"))
        planned = boxes.plan(base)
    assert {f"{base}/data", f"{base}/outside.sock"} <= set(planned.box.hidden)


def test_what_not_everybody_can_read_of_the_system_is_hidden(base):
    found = boxes.plan(base).box.hidden
    if os.geteuid() == 0:
        assert {"/etc/shadow", "/etc/gshadow"} <= set(found)
    assert all(os.access(path, os.R_OK) for path in found if path.startswith("/etc/"))
    assert "/etc/passwd" not in found


def test_denials_of_reading_hide_and_those_of_writing_close(base, workspace):
    make(workspace, "secret/key", "open.txt", "fixed.txt", ".git/secret/key")
    denials = PathDenials(
        key=1, reads=lambda path: path.endswith("/secret"), writes=lambda path: path.endswith("/fixed.txt")
    )
    planned = boxes.plan(base, denials=denials)
    assert hidden(planned) == [f"{workspace}/.git/secret", f"{workspace}/secret"]
    assert [os.path.relpath(path, workspace) for path in planned.box.closed] == [".git", "fixed.txt"]
    assert hidden(boxes.plan(base)) == [], "without denials nothing of it stays"


def test_denials_hold_in_what_is_shown_outside_the_workspace(base, workspace):
    make(base, "shown/secret", "shown/open", "denied/x")
    denials = PathDenials(key=2, reads=lambda path: path.endswith(("/secret", "/denied")))
    planned = boxes.plan(base, denials=denials, visible=(f"{base}/shown", f"{base}/denied"))
    assert {f"{base}/shown/secret", f"{base}/denied"} <= set(planned.box.hidden)
    assert f"{base}/shown/open" not in planned.box.hidden


def test_private_files_of_tools_are_hidden_unless_they_are_asked_for(base, workspace):
    make(base, "home/.dotnet/corefx/key.pfx", "home/.dotnet/dotnet")
    planned = boxes.plan(base)
    assert f"{base}/home/.dotnet/corefx/key.pfx" in planned.box.hidden
    assert planned.notes == (f"{base}/home/.dotnet/corefx/key.pfx is hidden: it looks private",)
    asked = boxes.plan(base, visible=("~/.dotnet/corefx",))
    assert not [path for path in asked.box.hidden if path.startswith(f"{base}/home")]


# --- what is shown


def test_paths_of_the_user_are_shown_by_their_real_names(base, workspace):
    make(base, "home/notes/x", "data-set/y")
    (base / "link").symlink_to(base / "data-set")
    planned = boxes.plan(
        base, visible=("~/notes", f"{base}/link", f"{base}/gone", "/", "/proc/1", "/dev/shm")
    )
    assert [path for path in planned.box.visible if path.startswith(str(base))] == [
        f"{base}/home/notes",
        f"{base}/data-set",
    ]


def shown(planned, base):
    return [path for path in planned.box.visible if path.startswith(str(base))]


def git(folder, *words):
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_COUNT": "1",
                   "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}  # fmt: skip
    words = ("-c", "user.name=a", "-c", "user.email=a@b.example", *words)
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(base):
    folder = base / "repository"
    make(folder, "inner/file")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    return folder


def test_the_repository_above_is_shown(base, repository):
    assert shown(boxes.plan(base, workspace=repository / "inner"), base) == [str(repository)]
    assert shown(boxes.plan(base, workspace=repository), base) == []


def test_a_repository_of_the_home_folder_is_not_shown(base, repository):
    planned = boxes.plan(base, workspace=repository / "inner", home=str(repository))
    assert str(repository) not in planned.box.visible


def test_the_repository_of_a_git_worktree_is_shown(base, repository):
    git(repository, "worktree", "add", "-q", str(base / "tree"))
    planned = boxes.plan(base, workspace=base / "tree")
    assert shown(planned, base) == [f"{repository}/.git/worktrees/tree", f"{repository}/.git"]
    assert closed(base, workspace=base / "tree") == [".git"]
    make(base / "tree", "below/")
    within = boxes.plan(base, workspace=base / "tree/below")
    assert shown(within, base) == [f"{repository}/.git/worktrees/tree", f"{repository}/.git", f"{base}/tree"]


def test_the_repository_of_a_submodule_is_shown_with_the_one_around_it(base, repository):
    outer = base / "outer"
    make(outer, "x")
    git(outer, "init", "-q")
    git(outer, "submodule", "add", "-q", str(repository), "module")
    assert shown(boxes.plan(base, workspace=outer / "module"), base) == [str(outer)]


def test_a_file_that_names_any_folder_as_its_repository_shows_nothing(base, workspace):
    make(base, "home/.ssh/HEAD", "home/.ssh/commondir", "home/.ssh/id")
    (workspace / ".git").write_text(f"gitdir: {base}/home/.ssh\n")
    assert shown(boxes.plan(base), base) == []


def test_withheld_settings_are_told(base, workspace):
    make(base, "home/.gitconfig")
    (base / "home/.gitconfig").write_text("password = AKIA" + "Q7RZ2KXW4MNB5TPL\n")
    assert boxes.plan(base).notes == (
        f"{base}/home/.gitconfig is not shown: something in it looks like a secret",
    )


# --- where there is no box


@pytest.mark.parametrize("name", ["home", ".", "data"])
def test_a_workspace_that_cannot_be_boxed(base, name):
    with pytest.raises(BoxUnavailable, match=r"home folder|data folder"):
        boxes.plan(base, workspace=base / name)


@pytest.mark.parametrize("folder", ["/", "/usr", "/etc", "/var", "/home"])
def test_a_workspace_of_the_system(base, folder):
    with pytest.raises(BoxUnavailable, match=r"system|home"):
        boxes.plan(base, workspace=Path(folder))


def test_a_workspace_that_git_takes_hooks_from(base, workspace):
    make(workspace, ".git/")
    (workspace / ".git/config").write_text("[core]\n\thooksPath = .\n")
    with pytest.raises(BoxUnavailable, match="takes hooks from the workspace itself"):
        boxes.plan(base)


def test_a_workspace_with_too_many_names(base, monkeypatch):
    def refuse(*_):
        raise TooManyNames("/w holds more than 3 names", {})

    monkeypatch.setattr(module, "workspace_index", refuse)
    with pytest.raises(BoxUnavailable, match="more than 3 names") as caught:
        boxes.plan(base)
    assert caught.value.remedy == "Open a smaller folder as the workspace."


# --- what is left behind


def left(planned):
    return [os.path.relpath(path, planned.box.workspace) for path in quarantine_new_closed(planned).moved]


def kept(planned):
    """Return what was moved out of the workspace, by its path there."""
    folder = quarantine_folder(planned.places.storage)
    found = []
    for path, _, names in os.walk(folder):
        names = [name for name in names if f"{path}/{name}" != moved_list(planned.places.storage)]
        found += [os.path.relpath(f"{path}/{name}", folder).partition("/")[2] for name in names]
    return sorted(found)


def test_new_closed_paths_are_moved_out(base, workspace):
    make(workspace, ".git/HEAD", "sub/file")
    planned = boxes.plan(base)
    make(workspace, "sub/.git/hooks/pre-commit", ".envrc", "new/folder/.vscode/tasks.json", "new/file")
    assert sorted(left(planned)) == [".envrc", "new/folder/.vscode/tasks.json", "sub/.git"]
    assert kept(planned) == [".envrc", ".git/hooks/pre-commit", "tasks.json"]
    assert sorted(os.listdir(workspace)) == [".git", "new", "sub"]  # noqa: PTH208
    assert (workspace / "new/file").exists() and (workspace / ".git/HEAD").exists()
    listed = Path(moved_list(planned.places.storage)).read_text().splitlines()
    folders = {path: number for number, path in (line.split("\t") for line in listed)}
    assert sorted(folders) == [".envrc", "new/folder/.vscode/tasks.json", "sub/.git"]
    folder = quarantine_folder(planned.places.storage)
    assert all(os.path.lexists(f"{folder}/{folders[path]}/{path.rpartition('/')[2]}") for path in folders)
    assert left(planned) == []


@pytest.mark.parametrize("comes_back", ["", "folder", "link"])
def test_a_workspace_that_was_moved_while_a_command_ran_is_named(base, workspace, comes_back):
    planned = boxes.plan(base)
    workspace.rename(base / "moved")
    (base / "other").mkdir()
    make(base, "other/.envrc", "moved/.envrc")
    if comes_back == "link":
        workspace.symlink_to(base / "other")
    elif comes_back:
        make(workspace, ".envrc")
    changes = quarantine_new_closed(planned)
    assert (changes.moved, changes.unseen) == ((), "it was moved or replaced while the command ran")
    assert (base / "other/.envrc").exists()


def test_the_same_name_can_be_moved_out_again(base, workspace):
    planned = boxes.plan(base)
    for _ in range(3):
        make(workspace, ".envrc")
        assert left(planned) == [".envrc"]
    assert kept(planned) == [".envrc"] * 3


def test_a_folder_that_becomes_a_repository_loses_its_head(base, workspace):
    make(workspace, "old/objects/", "old/refs/")
    planned = boxes.plan(base)
    make(workspace, "old/HEAD", "new/HEAD", "new/objects/", "new/refs/", "new/config")
    assert sorted(left(planned)) == ["new/HEAD", "old/HEAD"]
    assert (workspace / "new/config").exists() and (workspace / "old/objects").exists()


def test_links_are_moved_and_not_what_they_lead_to(base, workspace):
    make(base, "precious/file")
    planned = boxes.plan(base)
    (workspace / ".git").symlink_to(base / "precious")
    assert left(planned) == [".git"]
    assert (base / "precious/file").exists()
    assert (base / "data/sandbox/sessions/s/quarantine/1/.git").is_symlink()


@pytest.mark.parametrize(
    ("links", "line", "kept"),
    [
        ({"CLAUDE.md": "rules.md", "rules.md": "docs/rules.md"}, "rm rules.md; echo evil > rules.md", "CLAUDE.md"),
        ({"CLAUDE.md": "docs/now/rules.md", "docs/now": "old"}, "mkdir docs/new; echo evil > docs/new/rules.md; ln -sfn new docs/now",
         "CLAUDE.md"),
        ({".git/hooks/pre-commit": "../../scripts/check", "scripts": "tools"}, "mkdir evil; echo evil > evil/check; ln -sfn evil scripts",
         ".git/hooks/pre-commit"),
    ],
)  # fmt: skip
def test_links_on_the_way_to_what_controls_the_workspace_are_put_back(base, workspace, links, line, kept):
    make(workspace, "docs/rules.md", "docs/old/rules.md", "tools/check", ".git/hooks/")
    for name, target in links.items():
        (workspace / name).symlink_to(target)
    planned = boxes.plan(base)
    boxes.run(planned, "sh", "-c", line)
    quarantine_new_closed(planned)
    assert (workspace / kept).read_text() == "as it was\n"


def test_the_missing_end_of_a_link_that_controls_the_workspace_is_moved_out_when_it_is_made(base, workspace):
    (workspace / ".envrc").symlink_to("local.sh")
    planned = boxes.plan(base)
    boxes.run(planned, "sh", "-c", "echo evil > local.sh")
    assert quarantine_new_closed(planned).moved == (f"{workspace}/local.sh",)
    assert not (workspace / "local.sh").exists()


def test_replaced_links_are_put_back(base, workspace):
    make(workspace, "notes")
    for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md"):
        (workspace / name).symlink_to("notes")
    planned = boxes.plan(base)
    (workspace / "CLAUDE.md").unlink()
    (workspace / "AGENTS.md").unlink()
    make(workspace, "AGENTS.md")
    (workspace / "GEMINI.md").unlink()
    (workspace / "GEMINI.md").symlink_to("other")
    assert sorted(left(planned)) == ["AGENTS.md", "CLAUDE.md", "GEMINI.md"]
    assert {os.readlink(workspace / name) for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md")} == {"notes"}  # noqa: PTH115
    assert kept(planned) == ["AGENTS.md", "GEMINI.md"]


def test_a_denial_of_writing_covers_new_files(base, workspace):
    denials = PathDenials(key=3, writes=lambda path: path.endswith(".lock"))
    planned = boxes.plan(base, denials=denials)
    make(workspace, "a.lock", "b.txt")
    assert left(planned) == ["a.lock"]


def test_new_settings_of_git_close_nothing_more(base, workspace):
    """Else a command, or its user meanwhile, could have the whole workspace moved out."""
    make(workspace, ".git/config", "src/file")
    planned = boxes.plan(base)
    (workspace / ".git/config").write_text("[core]\n\thooksPath = src\n")
    (workspace / "src/other").write_text("x")
    assert left(planned) == []
    assert (workspace / "src/file").exists()


def test_nothing_can_be_left_where_nothing_can_be_written(base, workspace):
    planned = boxes.plan(base, level="read-only")
    make(workspace, ".envrc")
    assert left(planned) == []


def test_another_file_system_takes_what_is_moved_as_a_copy(base, workspace, monkeypatch):
    planned = boxes.plan(base)
    make(workspace, "sub/.git/hooks/x", ".envrc")
    (workspace / "sub/.git/link").symlink_to("/etc/passwd")
    rename = os.rename

    def other_device(source, target, **more):
        if "src_dir_fd" in more and "dst_dir_fd" not in more:
            raise OSError(18, "Invalid cross-device link")
        rename(source, target, **more)

    monkeypatch.setattr(os, "rename", other_device)
    assert sorted(left(planned)) == [".envrc", "sub/.git"]
    assert kept(planned) == [".envrc", ".git/hooks/x", ".git/link"]
    assert not (workspace / "sub/.git").exists() and not (workspace / ".envrc").exists()


def test_what_cannot_be_moved_is_named_and_all_else_is_moved(base, workspace, monkeypatch):
    planned = boxes.plan(base)
    make(workspace, "a/.envrc", "b/.envrc")
    move = module.move_aside

    def refusing(root, path, target):
        if path == "a/.envrc":
            raise FileRefused(path, "it is in the way", "look at it")
        return move(root, path, target)

    monkeypatch.setattr(module, "move_aside", refusing)
    found = quarantine_new_closed(planned)
    assert (found.left, found.moved) == ((f"{workspace}/a/.envrc",), (f"{workspace}/b/.envrc",))
    assert kept(planned) == [".envrc"]


def test_a_workspace_that_grew_too_large_still_loses_what_is_found(base, workspace):
    planned = boxes.plan(base)
    planned.index._folders._most = 3
    make(workspace, ".envrc", "sub/.envrc", "sub/one", "sub/two")
    found = quarantine_new_closed(planned)
    assert f"{workspace}/.envrc" in found.moved
    assert "holds more than 3 names" in found.unseen
    assert not (workspace / ".envrc").exists()


def test_a_closed_path_that_changed_stays_and_is_named(base, workspace):
    make(workspace, "AGENTS.md", ".envrc", ".git/config", "new.md")
    planned = boxes.plan(base)
    (workspace / "new.md").rename(workspace / "AGENTS.md")
    make(workspace, ".git/index")
    found = quarantine_new_closed(planned)
    assert (found.changed, found.moved) == ((f"{workspace}/AGENTS.md",), ())
    assert (workspace / "AGENTS.md").exists()


def test_what_another_running_box_made_does_not_count_as_before(base, workspace):
    """When it is moved out the mount in the other box is gone, and its command can write the file again."""
    make(workspace, "AGENTS.md")
    first = boxes.plan(base)
    make(workspace, ".envrc")
    second = boxes.plan(base)
    assert f"{workspace}/.envrc" in second.box.closed
    assert left(first) == [".envrc"]
    make(workspace, ".envrc")
    assert left(second) == [".envrc"]
    assert (workspace / "AGENTS.md").exists()
    make(workspace, ".envrc")
    assert left(boxes.plan(base)) == [], "no other box runs: it is of the human"


@pytest.mark.parametrize("settings", ["", "[core]\n\tfsmonitor = tools/fs\n"])
def test_a_folder_in_the_place_of_a_hidden_pipe_is_looked_through(base, workspace, settings):
    """Another box can remove a pipe that its own command made; the mount that hides it here is gone then."""
    make(workspace, ".git/", "tools/fs")
    first = boxes.plan(base)
    os.mkfifo(workspace / "x")
    (workspace / ".git/config").write_text(settings)  # other rules close paths in the second box
    second = boxes.plan(base)
    assert f"{workspace}/x" in second.box.hidden
    (workspace / "x").unlink()
    assert left(first) == []
    make(workspace, "x/.git/config", "x/sub/.envrc")
    third = boxes.plan(base)
    assert sorted(left(second)) == ["x/.git", "x/sub/.envrc"]
    make(workspace, "x/.git/config")
    assert left(third) == ["x/.git"], "what the second box left new is new in the third"


def test_what_a_box_that_never_ended_left_is_moved_out_by_the_next(base, workspace):
    boxes.plan(base)  # and dropped, as by a crash
    make(workspace, ".envrc")
    assert left(boxes.plan(base)) == [".envrc"]
    make(workspace, ".envrc")
    assert left(boxes.plan(base)) == []


# --- environments of Python

SITE = "lib/python3.11/site-packages"


def test_a_new_environment_keeps_its_files(base, workspace):
    make(workspace, "src/app.py")
    planned = boxes.plan(base)
    make(
        workspace, ".venv/pyvenv.cfg", f".venv/{SITE}/app.pth", f"sub/env/{SITE}/x.pth", "sub/env/pyvenv.cfg"
    )
    assert left(planned) == []
    assert {f".venv/{SITE}/app.pth", f"sub/env/{SITE}/x.pth"} == set(closed(base))


ENVIRONMENT = (".venv/pyvenv.cfg", f".venv/{SITE}/old.py")
PLANTED = (
    f".venv/{SITE}/x.pth", f".venv/{SITE}/X.PTH", f"none/{SITE}/x.pth", f"new/{SITE}/sitecustomize.py", "new/x.pth",
    f"new/{SITE}/deep/x.pth", "new/lib/python3.11/x.pth", ".venv/lib/python3.12/site-packages/x.pth", f"new/{SITE}/.envrc",
)  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_what_python_would_run_elsewhere_is_moved(base, workspace, name):
    make(workspace, *ENVIRONMENT)
    planned = boxes.plan(base)
    make(workspace, "new/pyvenv.cfg", ".venv/lib/python3.12/pyvenv.cfg", name)
    assert left(planned) == [name]


def test_a_link_is_no_new_environment(base, workspace):
    make(workspace, *ENVIRONMENT)
    planned = boxes.plan(base)
    make(workspace, f".venv/{SITE}/x.pth")
    (workspace / "new").symlink_to(".venv")
    assert left(planned) == [f".venv/{SITE}/x.pth"]
    again = boxes.plan(base)
    make(workspace, f"other/{SITE}/x.pth")
    (workspace / "other/pyvenv.cfg").symlink_to("../.venv/pyvenv.cfg")
    assert left(again) == [f"other/{SITE}/x.pth"]


def test_an_environment_that_is_made_again_counts_as_old(base, workspace):
    make(workspace, *ENVIRONMENT)
    planned = boxes.plan(base)
    shutil.rmtree(workspace / ".venv")
    make(workspace, ".venv/pyvenv.cfg", f".venv/{SITE}/x.pth")
    assert left(planned) == [f".venv/{SITE}/x.pth"]


# --- of a session


def test_the_box_of_a_session(staged):
    context = staged(recording()).context()
    planned = command_box(context, "session-1", "workspace", context.workspace, denials=NO_DENIALS)
    data = str(context.home.path)
    assert planned.box.temporary == f"{session_storage(data, 'session-1')}/tmp"
    assert planned.box.caches == workspace_caches(data, context.workspace)
    assert os.stat(planned.box.temporary).st_mode & 0o777 == 0o700  # noqa: PTH116
    assert data in planned.box.hidden
    assert workspace_caches(data, "/a") != workspace_caches(data, "/b")
    assert hooks_owner("/a") != hooks_owner("/b")


def age(path, days):
    old = os.stat(path).st_mtime - days * 86_400  # noqa: PTH116
    os.utime(path, (old, old))


def test_what_boxes_keep_goes_with_what_it_is_of(staged):
    stage = staged(recording())
    home, journal = stage.home, stage.journal
    stage.begin()
    data = str(home.path)
    alive, unknown = session_storage(data, stage.session_id), session_storage(data, "unknown")
    used, unused = workspace_caches(data, "/used"), workspace_caches(data, "/unused")
    for folder in (alive, unknown):
        make(Path(folder), "tmp/x", "quarantine/1/x")
    for folder in (used, unused):
        make(Path(folder), "cache/x")
    empty = session_storage(data, "empty")
    make(Path(empty), "tmp/x", "quarantine/1/")
    for folder in (unknown, empty):
        age(folder, 2)
    age(unused, 31)
    remove_old_box_folders(home, journal, 30)
    exists = [os.path.exists(path) for path in (f"{alive}/tmp/x", empty, used, unused)]  # noqa: PTH110
    assert exists == [True, False, True, False]
    assert os.listdir(unknown) == ["quarantine"], "of a run: no deletion answers for what was moved"  # noqa: PTH208
    assert folders_of_moved(data) == sorted(map(quarantine_folder, (alive, unknown)))
    ended = SessionStatusChanged(status="terminated")
    journal.append([journal.event(ended, stage.session_id, USER)])
    remove_old_box_folders(home, journal, 30)
    assert os.listdir(alive) == ["quarantine"]  # noqa: PTH208
    delete_session(journal, stage.session_id, USER)
    age(alive, 2)
    remove_old_box_folders(home, journal, 30)
    assert folders_of_moved(data) == [quarantine_folder(unknown)]
