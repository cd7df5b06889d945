"""Files that programs run or obey by themselves: no grant covers a change to one of them.

A name belongs into the table if some program acts on the file although nobody asked it to run that file:
a shell on entering the folder, an editor on opening it, git on a commit, checkout or merge, an installer
before it installs, a code host after a push, an agent when it starts. What runs only when somebody starts
that very thing (a test, a Makefile, a source file) does not belong here. Owns the table and the reading of
`core.hooksPath`; it never runs git.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.policy.paths import folded, git_folders, is_below, short_text

MARK: Final = "runs by itself"

_SHELL: Final = "a shell hook such as direnv runs it when somebody enters the folder"
_EDITOR: Final = "an editor runs or obeys it when somebody opens the folder"
_AGENT: Final = "an agent starts the programs that it names, or obeys its hooks"
_CODE_HOST: Final = "a code host runs it after a push"
_HOOK: Final = "git runs it at a commit, a checkout or a merge"
_GIT: Final = "git obeys it at every checkout, diff or update"
_INSTALLER: Final = "a package manager obeys it before it installs anything"
_PYTHON: Final = "Python runs it at every start in this folder or environment"

TABLE: Final[tuple[tuple[str, str], ...]] = (
    (".envrc", _SHELL), (".direnv/**", _SHELL), (".mise.toml", _SHELL),
    ("mise.toml", _SHELL), (".mise.local.toml", _SHELL), ("mise.local.toml", _SHELL), (".mise/**", _SHELL),
    (".rtx.toml", _SHELL), (".autoenv.zsh", _SHELL),
    (".vscode/tasks.json", _EDITOR), (".vscode/settings.json", _EDITOR), (".vscode/launch.json", _EDITOR),
    (".vscode/extensions.json", _EDITOR), ("*.code-workspace", _EDITOR),
    (".idea/runconfigurations/**", _EDITOR), (".run/*.run.xml", _EDITOR), (".idea/workspace.xml", _EDITOR),
    (".idea/watchertasks.xml", _EDITOR), (".idea/externaldependencies.xml", _EDITOR),
    (".zed/tasks.json", _EDITOR), (".zed/settings.json", _EDITOR), (".zed/debug.json", _EDITOR),
    (".fleet/run.json", _EDITOR), (".fleet/settings.json", _EDITOR), (".sublime-project", _EDITOR),
    ("*.sublime-project", _EDITOR), (".helix/config.toml", _EDITOR), (".helix/languages.toml", _EDITOR),
    (".dir-locals.el", _EDITOR), (".dir-locals-2.el", _EDITOR), (".exrc", _EDITOR), (".nvimrc", _EDITOR),
    (".nvim.lua", _EDITOR), (".vimrc", _EDITOR), (".lvimrc", _EDITOR), (".kakrc", _EDITOR),
    (".devcontainer.json", _EDITOR), (".devcontainer/**", _EDITOR), (".gitpod.yml", _EDITOR),
    (".mcp.json", _AGENT), (".vscode/mcp.json", _AGENT), (".cursor/**", _AGENT), (".cursorrules", _AGENT),
    (".claude/settings*.json", _AGENT), (".claude/hooks/**", _AGENT), (".claude/commands/**", _AGENT),
    (".claude/agents/**", _AGENT), (".claude/skills/**", _AGENT), (".claude.json", _AGENT),
    (".gemini/**", _AGENT), (".codex/**", _AGENT), (".windsurf/**", _AGENT), (".roo/mcp.json", _AGENT),
    (".kiro/**", _AGENT), (".amazonq/**", _AGENT), (".continue/**", _AGENT), ("opencode.json", _AGENT),
    ("opencode.jsonc", _AGENT), (".opencode/**", _AGENT), (".aider.conf.yml", _AGENT),
    (".goosehints", _AGENT),
    (".github/workflows/**", _CODE_HOST), (".github/actions/**", _CODE_HOST),
    (".github/dependabot.yml", _CODE_HOST), (".github/copilot-setup-steps.yml", _CODE_HOST),
    (".gitea/workflows/**", _CODE_HOST), (".forgejo/workflows/**", _CODE_HOST),
    (".gitlab-ci.yml", _CODE_HOST), (".gitlab-ci.yaml", _CODE_HOST), (".gitlab/ci/**", _CODE_HOST),
    (".circleci/**", _CODE_HOST), ("azure-pipelines*.yml", _CODE_HOST), (".azure-pipelines/**", _CODE_HOST),
    ("azure-pipelines*.yaml", _CODE_HOST), ("jenkinsfile", _CODE_HOST), ("jenkinsfile.*", _CODE_HOST),
    (".travis.yml", _CODE_HOST), ("bitbucket-pipelines.yml", _CODE_HOST), (".drone.yml", _CODE_HOST),
    (".woodpecker.yml", _CODE_HOST), (".woodpecker/**", _CODE_HOST), (".buildkite/**", _CODE_HOST),
    ("appveyor.yml", _CODE_HOST), (".appveyor.yml", _CODE_HOST), (".cirrus.yml", _CODE_HOST),
    (".semaphore/**", _CODE_HOST), (".teamcity/**", _CODE_HOST), ("cloudbuild.yaml", _CODE_HOST),
    ("buildspec.yml", _CODE_HOST), ("netlify.toml", _CODE_HOST), ("vercel.json", _CODE_HOST),
    (".readthedocs.yml", _CODE_HOST), (".readthedocs.yaml", _CODE_HOST), ("renovate.json", _CODE_HOST),
    (".husky/**", _HOOK), (".huskyrc*", _HOOK), (".githooks/**", _HOOK), (".git-hooks/**", _HOOK),
    (".hooks/**", _HOOK), ("lefthook*.yml", _HOOK), ("lefthook*.yaml", _HOOK), ("lefthook*.toml", _HOOK),
    (".lefthook*.yml", _HOOK), (".lefthook*.yaml", _HOOK), (".lefthook*.toml", _HOOK),
    (".lefthook/**", _HOOK),
    (".pre-commit-config.yaml", _HOOK), (".pre-commit-config.yml", _HOOK), (".overcommit.yml", _HOOK),
    (".pre-commit-hooks.yaml", _HOOK), (".simple-git-hooks.*", _HOOK), ("simple-git-hooks.*", _HOOK),
    (".lintstagedrc*", _HOOK), ("lint-staged.config.*", _HOOK), (".yorkierc*", _HOOK),
    (".gitattributes", _GIT), (".gitmodules", _GIT), (".lfsconfig", _GIT), (".gitconfig", _GIT),
    (".npmrc", _INSTALLER), (".yarnrc", _INSTALLER), (".yarnrc.yml", _INSTALLER), (".yarn/**", _INSTALLER),
    (".pnpmfile.cjs", _INSTALLER), (".pnpmfile.mjs", _INSTALLER), ("pnpmfile.js", _INSTALLER),
    ("bunfig.toml", _INSTALLER), (".cargo/config", _INSTALLER), (".cargo/config.toml", _INSTALLER),
    ("pip.conf", _INSTALLER), (".bundle/config", _INSTALLER), (".mvn/**", _INSTALLER),
    ("nuget.config", _INSTALLER), (".bazelrc", _INSTALLER), (".pypirc", _INSTALLER),
    ("sitecustomize.py", _PYTHON), ("usercustomize.py", _PYTHON), ("*.pth", _PYTHON),
)  # fmt: skip
"""Name patterns in small letters, tried from every folder of a path on, and who acts on the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksPath:
    """A folder of git hooks that a git configuration names."""

    folder: str
    """Real path."""
    file: str
    """The configuration."""


def reason(path: str, root: str) -> str:
    """Return who runs or obeys a file by itself, empty if nobody is known to.

    Args:
        path: Real path of the file.
        root: Real path of the workspace.
    """
    names = folded(os.path.relpath(path, root)).split("/")
    for start in range(len(names)):
        rest = "/".join(names[start:])
        if _ANY.match(rest):
            return next(why for pattern, why in _PATTERNS if pattern.match(rest))
    for named in hooks_paths(path):
        if is_below(folded(path), folded(named.folder)):
            return f"{_HOOK}: {named.file} names its folder as core.hooksPath"
    return ""


def hooks_paths(path: str) -> Iterator[HooksPath]:
    """Yield the hook folders of the repositories that a path lies in, as their own and the user's files say.

    Included configuration files are not followed.
    """
    user = [str(Path.home() / name) for name in (".gitconfig", ".config/git/config")]
    for folder in _folders(path):
        own = [f"{place}/{name}" for place in git_folders(folder) for name in ("config", "config.worktree")]
        for file in (*own, *user):
            for value in _named_in(file):
                yield HooksPath(folder=_resolved(value, folder), file=file)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders around a path that have a `.git`: a workspace may lie within a repository."""
    for parent in Path(path).parents:
        if os.path.lexists(parent / ".git"):
            yield str(parent)


_SECTION: Final = re.compile(r'(?i)^\s*\[\s*([a-z0-9.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*(.*)$')
_HOOKS_PATH: Final = re.compile(r"(?i)^\s*hookspath\s*=\s*(.*)$")


def _named_in(file: str) -> Iterator[str]:
    section = ""
    for line in (short_text(file, _LONGEST_CONFIG) or "").splitlines():
        if match := _SECTION.match(line):
            section, line = match[1].lower(), match[2]
        if section == "core" and (match := _HOOKS_PATH.match(line)):
            value = re.split(r"\s[#;]", match[1])[0].replace('"', "").strip()
            if value and "\0" not in value:
                yield value


_LONGEST_CONFIG: Final = 262_144


def _resolved(value: str, folder: str) -> str:
    return os.path.realpath(os.path.join(folder, os.path.expanduser(value)))  # noqa: PTH111, PTH118 -- text


def _expression(pattern: str) -> re.Pattern[str]:
    """Return a pattern of the table: `**` is all that lies below, `*` is any text within a name."""
    parts = re.split(r"(\*\*|\*)", pattern)
    made = "".join({"**": ".+", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)
    return re.compile(f"(?s){made}\\Z")


_PATTERNS: Final = tuple((_expression(pattern), why) for pattern, why in TABLE)
_ANY: Final = re.compile(
    "|".join(pattern.pattern.removeprefix("(?s)") for pattern, _ in _PATTERNS), re.DOTALL
)
