"""Files that other programs run by themselves: who runs them, and that no grant covers a change to one."""

import asyncio
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import context, rule
from workbench.domain.values import PermissionPattern
from workbench.policy import autorun_files
from workbench.policy.gate import GateCall, judge_call

NAMED = [
    ".envrc", "packages/web/.envrc", ".ENVRC", ".vscode/tasks.json", "sub/.VSCode/Tasks.json",
    ".vscode/settings.json", ".vscode/launch.json", ".idea/runConfigurations/all.xml", ".mcp.json",
    ".cursor/mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/a.sh",
    ".github/workflows/deep/x.yml", ".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml",
    "Jenkinsfile", ".husky/pre-commit", ".githooks/pre-push", "lefthook.yml", ".pre-commit-config.yaml",
    ".gitattributes", "src/.gitattributes", ".gitmodules", ".npmrc",
    ".yarnrc.yml", ".pnpmfile.cjs", "all.code-workspace", "sub/all.code-workspace", ".nvim.lua",
    ".zed/tasks.json", "lib/site-packages/evil.pth", "sitecustomize.py", "usercustomize.py",
    # mise, as its documentation lists the places of its settings
    "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", "mise.production.toml",
    "mise.production.local.toml", ".mise.production.toml", "mise/config.toml", "mise/config.local.toml",
    ".mise/config.toml", ".config/mise.toml", ".config/mise.local.toml", ".config/mise/config.toml",
    ".config/mise/conf.d/a.toml", "mise/conf.d/a.toml", ".miserc.toml",
    # version control next to git: settings with hooks, aliases and programs
    ".jj/repo/config.toml", ".hg/hgrc", ".sl/config", "_darcs/prefs/defaults",
    # programs that take the place of others
    ".tool-versions", "rust-toolchain", "rust-toolchain.toml", ".python-version", ".bazelversion",
    ".bazeliskrc",
    # what editors, debuggers, consoles and linters run
    ".pylintrc", "pylintrc", "pylintrc.toml", ".vimrc", ".exrc", ".lazy.lua", ".vim/coc-settings.json",
    ".gdbinit", ".lldbinit", ".pdbrc", ".Renviron", ".RData", ".iex.exs", ".octaverc", ".idea/misc.xml",
    ".zed/settings.json", ".helix/languages.toml", ".dir-locals.el", "rust-analyzer.toml",
    ".devcontainer/devcontainer.json", ".devcontainer/post-create.sh", ".devcontainer.json",
    # what package managers obey
    ".cargo/config", ".cargo/config.toml", ".bazelrc", "bunfig.toml",
]  # fmt: skip
PLAIN = [
    "src/a.py", "conftest.py", "Makefile", "package.json", "docs/.envrc.md", "envrc", ".github/README.md",
    ".vscode/readme.md", "tests/Jenkinsfile/x.py", "settings.json", "notes/claude.txt", "workflows/x.yml",
    "setup.py", "build.rs", "pyproject.toml", "tox.ini", ".flake8", "mypy.ini", ".editorconfig", ".nvmrc",
    ".node-version", ".env", "flake.nix", "gradlew", "tools/bazel", "mise/tasks/build", "mise-tasks/build",
    ".config/other.toml", "rust-toolchain.md", "pylintrc.md", "docs/mise.md", ".jjx/config",
]  # fmt: skip


@each_row("path", NAMED)
def test_a_file_that_runs_by_itself_says_who_runs_it(tmp_path, path):
    assert re.search(
        r"runs|obeys|obey|starts", autorun_files.autorun_reason(f"{tmp_path}/{path}", str(tmp_path))
    )


@each_row("path", PLAIN)
def test_a_file_that_somebody_has_to_start_is_not_among_them(tmp_path, path):
    assert autorun_files.autorun_reason(f"{tmp_path}/{path}", str(tmp_path)) == ""


def test_every_entry_of_the_table_is_written_in_small_letters_once_and_with_a_reason():
    patterns = [pattern for pattern, _ in autorun_files.AUTORUN_PATTERNS]
    assert patterns == [pattern.lower() for pattern in patterns]
    assert len(patterns) == len(set(patterns))
    assert all(len(why) > 20 for _, why in autorun_files.AUTORUN_PATTERNS)


@each_row("pattern", [pattern for pattern, _ in autorun_files.AUTORUN_PATTERNS])
def test_every_entry_matches_a_file_that_it_names(tmp_path, pattern):
    name = pattern.replace("**", "a/b").replace("*", "x")
    for path in (name, f"deep/er/{name}"):
        assert autorun_files.autorun_reason(f"{tmp_path}/{path}", str(tmp_path))


@each_row("pattern", [pattern for pattern, _ in autorun_files.AUTORUN_PATTERNS if "/" in pattern])
def test_each_folder_above_an_entry_is_closed_as_a_destination_and_open_as_a_file(tmp_path, pattern):
    names = autorun_files.AutorunNames(str(tmp_path))
    parts = pattern.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        folder = "/".join(parts[:count])
        for path in (folder, f"deep/er/{folder.upper()}"):
            assert names.destination_reason(f"{tmp_path}/{path}")
    assert names.destination_reason(f"{tmp_path}/{parts[0]}x") == ""
    assert names.destination_reason(f"{tmp_path}/x{parts[0]}/y") == ""


def test_a_folder_that_would_hold_the_hooks_is_closed_while_it_does_not_exist(tmp_path):
    repository(tmp_path, "[core]\nhooksPath = tools/git/hooks\n")
    names = autorun_files.AutorunNames(str(tmp_path))
    assert "files of such a folder" in names.destination_reason(f"{tmp_path}/tools/git")
    assert names.destination_reason(f"{tmp_path}/tools/other") == ""
    (tmp_path / "tools/git").mkdir(parents=True)
    assert names.destination_reason(f"{tmp_path}/tools/git") == ""
    assert "core.hooksPath" in names.destination_reason(f"{tmp_path}/tools/git/hooks")


# --- hooks of git ----------------------------------------------------------------------------------


def repository(folder, config):
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/config").write_text(config)


@pytest.mark.parametrize(
    "config",
    [
        "[core]\n\thooksPath = tools/hooks\n",
        "[CORE]\nHOOKSPATH=tools/hooks",
        '[core] hookspath = "tools/hooks" # ours\n',
        '[user]\nname = x\n[remote "a\\"b"]\nurl = y\n[core]\nbare = false\nhooksPath = ./tools/hooks ; ours',
        "[include]\npath = ../more\n[core]\nhooksPath = elsewhere\nhooksPath = tools/hooks\n",
    ],
)
def test_the_folder_that_git_is_told_to_take_hooks_from_runs_by_itself(tmp_path, config):
    repository(tmp_path, config)
    assert "core.hooksPath" in autorun_files.autorun_reason(
        f"{tmp_path}/tools/hooks/pre-commit", str(tmp_path)
    )
    assert autorun_files.autorun_reason(f"{tmp_path}/tools/other", str(tmp_path)) == ""


@pytest.mark.parametrize(
    "config", ["[core]\nbare = false\n", "[cores]\nhooksPath = tools\n", "hooksPath = tools", "[core]\nhooksPath ="]
)  # fmt: skip
def test_a_repository_that_names_no_folder_has_none(tmp_path, config):
    repository(tmp_path, config)
    assert autorun_files.autorun_reason(f"{tmp_path}/tools/pre-commit", str(tmp_path)) == ""


def test_a_repository_above_or_within_the_workspace_counts(tmp_path):
    repository(tmp_path, "[core]\nhooksPath = work/hooks\n")
    repository(tmp_path / "work/vendor/lib", "[core]\nhooksPath = mine\n")
    work = str(tmp_path / "work")
    assert autorun_files.autorun_reason(f"{work}/hooks/pre-push", work)
    assert autorun_files.autorun_reason(f"{work}/vendor/lib/mine/x", work)
    assert not autorun_files.autorun_reason(f"{work}/mine/x", work)


def test_a_worktree_is_asked_for_the_settings_of_its_repository(tmp_path):
    repository(tmp_path / "main", "[core]\nhooksPath = hooks\n")
    place = tmp_path / "main/.git/worktrees/w"
    place.mkdir(parents=True)
    (place / "commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text(f"gitdir: {place}\n")
    assert autorun_files.autorun_reason(f"{tmp_path}/w/hooks/pre-commit", str(tmp_path / "w"))


def test_the_users_own_git_configuration_counts_too(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[core]\nhooksPath = .myhooks\n")
    monkeypatch.setattr(Path, "home", lambda: home)
    repository(tmp_path / "w", "")
    assert autorun_files.autorun_reason(f"{tmp_path}/w/.myhooks/pre-commit", str(tmp_path / "w"))


# --- the gate --------------------------------------------------------------------------------------


async def no_hooks(_passed):
    return None


def judged(path, where, tool="create_file"):
    made = GateCall(tool=tool, parameters={"path": path})
    return asyncio.run(judge_call(made, where, no_hooks))


@pytest.mark.parametrize("path", [".envrc", "a/.vscode/tasks.json", ".github/workflows/x.yml"])
@pytest.mark.parametrize(
    "granted",
    [
        {"allow": (PermissionPattern(text="Write(**)"),)},
        {"allow": (PermissionPattern(text="*"),)},
        {"rules": (rule(tool="create_file", pattern="Write(**)"),)},
        {"rules": (rule(tool="create_file", pattern="create_file", scope="run", scope_id="r1"),), "run_id": "r1"},
        {"rules": (rule(tool="create_file", pattern='"path":"', pattern_kind="regex"),)},
    ],
)  # fmt: skip
def test_no_grant_covers_a_file_that_runs_by_itself(tmp_path, path, granted):
    judgement = judged(path, context(tmp_path, **granted))
    assert (judgement.verdict.outcome, judgement.passed.marks) == ("ask", (autorun_files.AUTORUN_MARK,))
    assert path in judgement.verdict.reason
    assert judged("src/a.py", context(tmp_path, **granted)).verdict.outcome == "allowed"


def test_reading_such_a_file_is_granted_as_before_and_a_denial_stays_one(tmp_path):
    everything = context(tmp_path, allow=(PermissionPattern(text="*"),))
    assert judged(".envrc", everything, "read_file").verdict.outcome == "allowed"
    denied = replace(everything, deny=(PermissionPattern(text="Write(.envrc)"),))
    assert judged(".envrc", denied).verdict.outcome == "denied"
    nobody = judged(".envrc", replace(everything, can_ask=False)).verdict
    assert nobody.outcome == "denied"
    assert "nobody can answer" in nobody.reason
