"""Files that other programs run or obey automatically, such as git hooks: no grant covers a change to one."""

import fnmatch
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.policy.git_settings import read_git_settings, repository_git_files, user_git_files
from workbench.policy.paths import (
    GOVERNING_FILES,
    GOVERNING_FOLDERS,
    folded_path,
    is_below,
)

AUTORUN_MARK: Final = "runs by itself"
_RUN_BY_SHELL: Final = "a shell hook such as direnv runs it when somebody enters the folder"
_RUN_BY_EDITOR: Final = "an editor runs or obeys it when somebody opens the folder"
_RUN_BY_CONSOLE: Final = "a debugger or an interactive console runs it when somebody starts it in the folder"
_RUN_BY_AGENT: Final = "an agent starts the programs that it names, or obeys its hooks"
_OBEYED_BY_AGENT: Final = "agents obey its text from their first message on"
_RUN_BY_CODE_HOST: Final = "a code host runs it after a push"
_RUN_BY_GIT: Final = "git runs it at a commit, a checkout or a merge"
_OBEYED_BY_GIT: Final = "git obeys it at every checkout, diff or update"
_OBEYED_BY_VERSION_CONTROL: Final = "a version control program runs the hooks and programs that it names"
_RUN_BY_LINTER: Final = "a linter or a builder, also one that an editor starts, runs the code in it"
_CHOOSES_PROGRAM: Final = "a version manager runs the program that it names in the place of another one"
_OBEYED_BY_INSTALLER: Final = "a package manager obeys it before it installs anything"
_RUN_BY_PYTHON: Final = "Python runs it at every start in this folder or environment"
_CONTROLS_AGENTS: Final = "it controls agents where its folder is opened as a workspace"
_MAY_HOLD: Final = "files of such a folder run automatically: "
# A name is here if a program runs or obeys the file when a person enters, opens or commits, or starts a
# program that does not name it. Left out, since a person starts what runs them and they are reviewed as code:
#
# - ordinary source that a tool imports: conftest.py, setup.py, build.rs, Makefile, package.json,
#   pyproject.toml, tox.ini, flake.nix, and scripts that a build runs, such as gradlew and tools/bazel;
# - settings that name code in such source but hold none: .flake8, mypy.ini, .rubocop.yml, .eslintrc.json;
# - settings that only format or select a release: .editorconfig, .prettierrc, .nvmrc, .node-version,
#   .ruby-version. A path in .python-version or .tool-versions is a program that runs, so these are here;
# - .env: most programs only read variables from it, and autoenv asks for each new content.
_PATTERNS_BY_REASON: Final = {
    _RUN_BY_SHELL: (
        ".envrc", ".envrc.local", ".envrc.private", ".envrc.user", ".direnv/**", ".autoenv.zsh",
        ".autoenv_leave.zsh", ".rvmrc", ".shadowenv.d/**", ".rtx.toml", ".rtx.*.toml",
        "mise.toml", ".mise.toml", "mise.*.toml", ".mise.*.toml", ".mise/**", "mise/config.toml",
        "mise/config.*.toml", "mise/conf.d/**", ".config/mise.toml", ".config/mise.*.toml",
        ".config/mise/**", ".miserc.toml", ".config/miserc.toml",
    ),
    _RUN_BY_EDITOR: (
        ".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".vscode/extensions.json",
        "*.code-workspace", ".idea/**", ".run/*.run.xml", ".zed/**", ".fleet/run.json",
        ".fleet/settings.json", ".sublime-project", "*.sublime-project", ".helix/**", ".dir-locals.el",
        ".dir-locals-2.el", ".exrc", ".nvimrc", ".nvim.lua", ".lazy.lua", ".vimrc", ".lvimrc",
        ".vim/coc-settings.json", ".kakrc", ".devcontainer.json", ".devcontainer/**", ".gitpod.yml",
        ".vs/tasks.vs.json", "rust-analyzer.toml", ".rust-analyzer.toml", ".vscode/c_cpp_properties.json",
        ".vscode/cmake-kits.json", ".theia/**", ".nova/**", ".externaltoolbuilders/**", ".emacs.desktop",
        ".bsp/**", "buildserver.json", "hie.yaml", ".hie-bios", ".lsp/config.edn", ".merlin",
        "omnisharp.json",
    ),
    _RUN_BY_CONSOLE: (
        ".rprofile", ".renviron", ".rdata", ".ghci", ".gdbinit", ".lldbinit", ".irbrc", ".pryrc",
        ".ocamlinit", ".pdbrc", ".iex.exs", ".octaverc", ".rdbgrc", ".byebugrc", ".jdbrc", "startup.m",
        "jupyter_*config.py", "jupyter_*config.json", "ipython*_config.py",
    ),
    _RUN_BY_LINTER: (
        ".pylintrc", "pylintrc", ".pylintrc.toml", "pylintrc.toml", ".latexmkrc", "latexmkrc",
    ),
    _CHOOSES_PROGRAM: (
        ".tool-versions", "rust-toolchain", "rust-toolchain.toml", ".python-version", ".python-versions",
        ".bazelversion", ".bazeliskrc", "lean-toolchain", ".prototools",
    ),
    _RUN_BY_AGENT: (
        ".mcp.json", ".vscode/mcp.json", ".cursor/**", ".cursorrules", ".claude/**", ".claude.json",
        ".gemini/**", ".codex/**", ".windsurf/**", ".roo/**", ".kiro/**", ".amazonq/**", ".continue/**",
        ".kilocode/**", ".trae/**", ".augment/**", ".junie/**", ".qwen/**", ".factory/**", ".agent/**",
        ".warp/**", "crush.json", ".crush.json", "opencode.json", "opencode.jsonc", ".opencode/**",
        ".aider.conf.yml", ".goosehints", ".amp/**", ".pi/**", ".copilot/**", ".vibe/**", ".kimi/**",
        ".openhands/**", "gptme.toml", ".cline/**", ".llxprt/**", ".iflow/**", ".tabnine/**",
        ".github/copilot/**",
    ),
    _OBEYED_BY_AGENT: (
        "agents.md", "claude.md", "claude.local.md", "agents.override.md", "gemini.md", "agent.md", "qwen.md",
        "crush.md", "warp.md", ".rules", ".clinerules", ".clinerules/**", ".windsurfrules", ".roomodes",
        ".github/copilot-instructions.md", ".github/instructions/**", ".github/prompts/**",
        ".github/agents/**", ".github/chatmodes/**", ".github/hooks/**",
    ),
    _RUN_BY_CODE_HOST: (
        ".github/workflows/**", ".github/actions/**", ".github/dependabot.yml",
        ".github/copilot-setup-steps.yml", ".gitea/workflows/**", ".forgejo/workflows/**", ".gitlab-ci.yml",
        ".gitlab-ci.yaml", ".gitlab/ci/**", ".circleci/**", "azure-pipelines*.yml", ".azure-pipelines/**",
        "azure-pipelines*.yaml", "jenkinsfile", "jenkinsfile.*", ".travis.yml", "bitbucket-pipelines.yml",
        ".drone.yml", ".woodpecker.yml", ".woodpecker/**", ".buildkite/**", "appveyor.yml", ".appveyor.yml",
        ".cirrus.yml", ".semaphore/**", ".teamcity/**", "cloudbuild.yaml", "buildspec.yml", "netlify.toml",
        "vercel.json", ".readthedocs.yml", ".readthedocs.yaml", "renovate.json",
    ),
    _RUN_BY_GIT: (
        ".husky/**", ".huskyrc*", ".githooks/**", ".git-hooks/**", ".hooks/**", "lefthook*.yml",
        "lefthook*.yaml", "lefthook*.toml", ".lefthook*.yml", ".lefthook*.yaml", ".lefthook*.toml",
        ".lefthook/**", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml",
        ".pre-commit-hooks.yaml", ".simple-git-hooks.*", "simple-git-hooks.*", ".lintstagedrc*",
        "lint-staged.config.*", ".yorkierc*",
    ),
    _OBEYED_BY_GIT: (
        ".gitattributes", ".gitmodules", ".lfsconfig", ".gitconfig",
    ),
    _OBEYED_BY_VERSION_CONTROL: (
        ".jj/**", ".hg/**", ".sl/**", "_darcs/**", ".pijul/**", ".bzr/**", ".fossil-settings/**",
    ),
    _OBEYED_BY_INSTALLER: (
        ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/**", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js",
        "bunfig.toml", ".cargo/config", ".cargo/config.toml", "pip.conf", ".bundle/config", ".mvn/**",
        "nuget.config", ".bazelrc", ".pypirc", "uv.toml", "poetry.toml",
    ),
    _RUN_BY_PYTHON: (
        "sitecustomize.py", "sitecustomize.*", "sitecustomize/**", "usercustomize.py", "usercustomize.*",
        "usercustomize/**", "*.pth",
    ),
    _CONTROLS_AGENTS: (*GOVERNING_FILES, *(f"{folder}/**" for folder in GOVERNING_FOLDERS)),
}  # fmt: skip
AUTORUN_PATTERNS: Final = tuple(
    (pattern, reason) for reason, patterns in _PATTERNS_BY_REASON.items() for pattern in patterns
)
"""Name patterns in lower case, tried at every depth of a path, and who acts on the file."""


class ConfiguredHooksFolder(Struct, frozen=True, kw_only=True):
    """A folder of git hooks that a git configuration names."""

    folder: str
    """Real path."""
    file: str


def autorun_reason(path: str, root: str) -> str:
    """Return who runs or obeys a file automatically, empty if no program is known to; both paths are real."""
    return AutorunNames(root).file_reason(path)


class AutorunNames:
    """Answers for one workspace which of its files run automatically; reads each git configuration once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._hooks_by_folder: dict[str, tuple[ConfiguredHooksFolder, ...]] = {}

    def file_reason(self, path: str) -> str:
        """Return who runs or obeys a file automatically, empty if no program is known to."""
        return self.name_reason(path) or self._hook_reason(path)

    def name_reason(self, path: str) -> str:
        """Return who runs or obeys a file because of its name, whatever settings name it too."""
        names = folded_path(os.path.relpath(path, self._root)).split("/")
        for start in range(len(names)):
            rest = "/".join(names[start:])
            if _ANY_PATTERN.match(rest):
                return next(why for pattern, why in _COMPILED_PATTERNS if pattern.match(rest))
        return ""

    def destination_reason(self, path: str) -> str:
        """Return why no grant covers writing to a path, a file or a folder that receives files."""
        return self.file_reason(path) or self._folder_reason(path)

    def holding_reason(self, path: str) -> str:
        """Return why a folder may not be moved or replaced: git takes hooks from a folder in it."""
        hooks_folders = self._hooks(f"{path}/x")
        is_above = any(is_below(folded_path(hooks.folder), folded_path(path)) for hooks in hooks_folders)
        return f"{_MAY_HOLD}{_RUN_BY_GIT}" if is_above else ""

    def folder_name_reason(self, path: str) -> str:
        """Return who runs or obeys files in a folder because of its name."""
        names = folded_path(os.path.relpath(path, self._root)).split("/")[-_DEEPEST_FOLDER:]
        reasons = (_REASON_BY_FOLDER.get("/".join(names[start:]), "") for start in range(len(names)))
        return next((f"{_MAY_HOLD}{why}" for why in reasons if why), "")

    def _folder_reason(self, path: str) -> str:
        reason = self.folder_name_reason(path)
        return self.holding_reason(path) if not reason and not os.path.lexists(path) else reason

    def _hook_reason(self, path: str) -> str:
        for hooks in self._hooks(path):
            if is_below(folded_path(path), folded_path(hooks.folder)):
                return f"{_RUN_BY_GIT}: {hooks.file} names its folder as core.hooksPath"
        return ""

    def _hooks(self, path: str) -> tuple[ConfiguredHooksFolder, ...]:
        """Return the hook folders that the repositories around a path name, the nearest first."""
        folder = path.rpartition("/")[0] or "/"
        known = self._hooks_by_folder.get(folder)
        if known is None:
            outer = self._hooks(folder) if folder != "/" else ()
            known = self._hooks_by_folder[folder] = (*_hooks_of_repository(folder), *outer)
        return known


def _hooks_of_repository(folder: str) -> Iterator[ConfiguredHooksFolder]:
    """Yield the hook folders that the git configurations of a repository name, without included files."""
    if not os.path.lexists(f"{folder}/.git"):
        return
    for file in (*repository_git_files(folder), *user_git_files(str(Path.home()))):
        for setting in read_git_settings(file):
            if setting.name == "core.hookspath":
                yield ConfiguredHooksFolder(folder=_resolved_folder(setting.value, folder), file=file)


def _resolved_folder(value: str, folder: str) -> str:
    return os.path.realpath(os.path.join(folder, os.path.expanduser(value)))  # noqa: PTH111, PTH118 -- text


def _pattern_expression(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*|\*)", pattern)
    expression = "".join({"**": ".+", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)
    return re.compile(f"(?s){expression}\\Z")


_COMPILED_PATTERNS: Final = tuple((_pattern_expression(pattern), why) for pattern, why in AUTORUN_PATTERNS)
_ANY_PATTERN: Final = re.compile(
    "|".join(pattern.pattern.removeprefix("(?s)") for pattern, _ in _COMPILED_PATTERNS), re.DOTALL
)


def _folders_of_patterns() -> Iterator[tuple[str, str]]:
    for pattern, why in reversed(AUTORUN_PATTERNS):
        parts = pattern.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            yield "/".join(parts[:count]), why


_REASON_BY_FOLDER: Final = dict(_folders_of_patterns())
"""Folders that may hold a file that runs automatically, by their last names: `.github/workflows`."""
_DEEPEST_FOLDER: Final = max(folder.count("/") + 1 for folder in _REASON_BY_FOLDER)
_CLOSED_NAMES: Final = frozenset(
    part.replace("*", "x")
    for pattern in (".git", *dict(AUTORUN_PATTERNS))
    for part in pattern.split("/")
    if part.strip("*")
)
"""Names of which a path to such a file may consist."""
_PATTERN_SIGN: Final = re.compile(r"[*?\[]")


def may_match_closed(word: str) -> bool:
    """Return whether a pattern may match the name of a file that runs automatically, or of such a folder.

    A part that consists of stars alone does not count: it names every file.
    """
    if _PATTERN_SIGN.search(word) is None:
        return False
    parts = [part for part in folded_path(word).split("/") if part.strip("*") and _PATTERN_SIGN.search(part)]
    return any(fnmatch.fnmatchcase(name, part) for part in parts for name in _CLOSED_NAMES)
