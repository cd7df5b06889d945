"""What a git command needs that a sandbox does not give, which has no network and a read-only `.git`."""

# Tried with git 2.39 in a sandbox: a command that only takes the lock of the index fails too, such as
# `git add --dry-run`; `git status` and `git diff` work without the lock. A repository that a command makes is
# moved out of the workspace when the command has ended.

import re
from collections.abc import Iterator
from typing import Final, Literal

from workbench.policy.shell.option_reading import CommandReading

GitNeed = Literal["network", "daemon", "git", "outside"]

_WRITING: Final = frozenset({
    "add", "am", "bisect", "cherry-pick", "checkout", "citool", "clone", "commit", "commit-graph",
    "commit-tree", "fast-import", "fetch", "fetch-pack", "filter-branch", "filter-repo", "flow", "gc",
    "gui", "init", "maintenance", "merge", "merge-tree", "multi-pack-index", "mv", "notes", "pack-refs",
    "prune", "prune-packed", "pull", "read-tree", "rebase", "remote", "repack", "replace", "reset",
    "restore", "revert", "rm", "sparse-checkout", "stash", "submodule", "subtree", "switch",
    "unpack-objects", "update-index", "update-ref", "update-server-info", "worktree", "write-tree",
})  # fmt: skip
"""Sub-commands that write `.git`, or lock it."""
_READING: Final[dict[str, frozenset[str]]] = {
    "bisect": frozenset({"", "help", "log", "terms", "view", "visualize"}),
    "commit-graph": frozenset({"verify"}), "flow": frozenset({"version"}),
    "multi-pack-index": frozenset({"verify"}), "notes": frozenset({"", "get-ref", "list", "show"}),
    "remote": frozenset({"", "get-url", "show"}), "replace": frozenset({""}),
    "sparse-checkout": frozenset({"", "check-rules", "list"}), "stash": frozenset({"list", "show"}),
    "submodule": frozenset({"", "foreach", "status", "summary"}), "worktree": frozenset({"list"}),
}  # fmt: skip
"""The first words behind a sub-command, empty for none, with which it only reads."""
_REFLOG_WRITES: Final = frozenset({"delete", "drop", "expire"})
_REACHING: Final = frozenset({"clone", "fetch", "ls-remote", "pull", "push"})
_LISTING_OPTIONS: Final = frozenset({
    "--list", "--all", "--remotes", "--verbose", "--contains", "--no-contains", "--merged", "--no-merged",
    "--points-at", "--show-current", "--sort", "--format", "--column", "--verify", "-n",
})  # fmt: skip
_BRANCH_CHANGES: Final = frozenset({
    "--copy", "--delete", "--edit-description", "--move", "--set-upstream-to", "--unset-upstream",
})  # fmt: skip
_CONFIG_READS: Final = frozenset({
    "--get", "--get-all", "--get-color", "--get-colorbool", "--get-regexp", "--get-urlmatch", "--list",
})  # fmt: skip
_CONFIG_CHANGES: Final = frozenset({
    "--add", "--append", "--edit", "--remove-section", "--rename-section", "--replace-all", "--unset",
    "--unset-all",
})  # fmt: skip
_WRITES_WITH: Final[dict[str, frozenset[str]]] = {
    "apply": frozenset({"--index", "--cached", "-3", "--3way", "--intent-to-add", "-N"}),
    "checkout-index": frozenset({"-u", "--index"}), "fsck": frozenset({"--lost-found"}),
    "hash-object": frozenset({"-w"}), "rerere": frozenset({"clear", "forget", "gc"}),
}  # fmt: skip
"""Sub-commands that write `.git` with one of these words only."""
_SIGNING: Final = frozenset({"--gpg-sign", "--sign", "--local-user", "--signed"})
_LOCAL_ADDRESS: Final = re.compile(r"file://|[./~]|[A-Za-z]:\\")


def git_needs(reading: CommandReading) -> Iterator[GitNeed]:
    """Yield what a git command needs, by its words as `option_reading` reads them."""
    command, *below = reading.key.split(" ")[1:] or [""]
    operands = [names[0] for names in reading.operands]
    options = {name for option in reading.options for name in (option.name, *option.names)}
    first = (below or operands or [""])[0]
    if command == "config" and not _only_reads_config(operands, options):
        yield "outside" if options & {"--global", "--system"} else "git"
        return
    if _reaches_network(command, first, operands, options):
        yield "network"
    if options & _SIGNING:
        yield "daemon"
    if _writes_git(command, first, operands, options):
        yield "git"


def _reaches_network(command: str, first: str, operands: list[str], options: set[str]) -> bool:
    if command in _REACHING:
        return not any(map(_LOCAL_ADDRESS.match, operands[:1]))
    if command == "remote":
        return (first == "show" and "-n" not in options and bool(operands)) or first in ("prune", "update")
    if command == "submodule":
        return first in ("add", "update")
    if command == "subtree":
        return first in ("add", "pull", "push")
    return command == "archive" and "--remote" in options


def _writes_git(command: str, first: str, operands: list[str], options: set[str]) -> bool:
    match command:
        case "branch" | "tag":
            return bool(options & _BRANCH_CHANGES) or bool(operands and not options & _LISTING_OPTIONS)
        case "reflog":
            return first in _REFLOG_WRITES
        case "symbolic-ref":
            return len(operands) > 1 or "--delete" in options
        case _:
            if command in _WRITES_WITH:
                return not _WRITES_WITH[command].isdisjoint({*options, *operands})
            return command in _WRITING and first not in _READING.get(command, ())


def _only_reads_config(operands: list[str], options: set[str]) -> bool:
    if options & _CONFIG_CHANGES:
        return False
    return bool(options & _CONFIG_READS) or operands[:1] in (["get"], ["list"]) or len(operands) < 2
