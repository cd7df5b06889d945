"""Names the commands that only read the files on their line.

Every other command may write any path that it names, so no grant covers one that names a protected file.
"""

from collections.abc import Sequence
from typing import Final

from workbench.policy.shell.analysis import SimpleCommand
from workbench.policy.shell.risk_lists import program_name

_READING_PROGRAMS: Final = frozenset({
    ":", "[", "ack", "actionlint", "ag", "arch", "awk", "base32", "base64", "basename", "bat", "cat", "cd",
    "chdir", "cksum", "cmp", "column", "comm", "cut", "date", "df", "diff", "dirname", "du", "echo", "exa",
    "exit", "expand", "expr", "eza", "false", "fd", "file", "find", "fmt", "fold", "free", "glow", "grep",
    "groups", "hadolint", "head", "hexdump", "hostname", "iconv", "id", "join", "jq", "less", "ls", "lsof",
    "markdownlint", "md5sum", "mdcat", "mdl", "more", "nl", "nproc", "od", "paste", "pgrep", "printenv",
    "printf", "ps", "pwd", "readlink", "realpath", "rev", "rg", "sed", "seq", "sha1sum", "sha256sum",
    "sha512sum", "shellcheck", "sleep", "sort", "stat", "strings", "tac", "tail", "test", "tr", "tree",
    "true", "tty", "type", "uname", "unexpand", "uptime", "vale", "wait", "wc", "whereis", "which",
    "whoami", "yamllint", "yes", "yq", "zcat", "zgrep",
})  # fmt: skip
"""Programs that only read files, as long as each option is known to be harmless."""
_READING_GIT_COMMANDS: Final = frozenset({
    "add", "annotate", "blame", "branch", "cat-file", "check-attr", "check-ignore", "cherry", "commit",
    "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "fsck",
    "grep", "hash-object", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "range-diff",
    "reflog", "rev-list", "rev-parse", "shortlog", "show", "show-branch", "show-ref", "status", "tag", "var",
    "version", "whatchanged",
})  # fmt: skip
"""Subcommands of git that write no file of the working tree."""

_PRETTIER_CHECKS: Final = frozenset({"-c", "--check", "-l", "--list-different"})
_PRETTIER_WRITES: Final = frozenset({"-w", "--write"})
_STAGED: Final = frozenset({"-S", "--staged"})
_WORKING_TREE: Final = frozenset({"-W", "--worktree"})


def only_reads(simple: SimpleCommand) -> bool:
    """Return whether a command is known to only read the files that it names.

    A command with an option that its table does not list, or that is run by its path, is not.
    """
    if simple.literal or "/" in simple.words[0]:
        return False
    name = program_name(simple.words[0])
    if name == "git":
        return _git_only_reads(simple.words)
    if name == "prettier":
        return not _PRETTIER_CHECKS.isdisjoint(simple.words) and _PRETTIER_WRITES.isdisjoint(simple.words)
    return name in _READING_PROGRAMS


def _git_only_reads(words: Sequence[str]) -> bool:
    """Return whether a git command changes the index at most."""
    command = git_command(words)
    if command == "restore":
        return not _STAGED.isdisjoint(words) and _WORKING_TREE.isdisjoint(words)
    if command == "rm":
        return "--cached" in words
    return command in _READING_GIT_COMMANDS


def git_command(words: Sequence[str]) -> str:
    """Return the subcommand of a git command, empty without one."""
    return next((word for word in words[1:] if not word.startswith("-")), "")
