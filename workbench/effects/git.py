"""Run git without a repository's hooks, filters or other programs, with its own index if needed."""

# Own processes start with `-P` in the data folder, own calls of git through one door. What a folder holds
# must not act because somebody looks at it. The user's variables of Python are given back below, so
# commands are as they were.

import contextlib
import os
import tempfile
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.child_processes import HookExit, ProcessNotStarted, run_hook
from workbench.effects.process_environment import scrubbed_environment
from workbench.effects.search_path import search_path_outside

MOST_SECONDS: Final = 60.0
LARGEST_OUTPUT: Final = 64 * 1024 * 1024
WORKTREE_SECONDS: Final = 120.0
_SETTINGS: Final = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.quotePath=false", "gc.auto=0",
    "maintenance.auto=false", "protocol.allow=never", "credential.helper=", "i18n.commitEncoding=UTF-8",
    "safe.bareRepository=explicit", "core.pager=cat", "submodule.recurse=false", "core.alternateRefsCommand=",
)  # fmt: skip
_ENVIRONMENT: Final = {
    "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_PAGER": "cat", "GIT_ALLOW_PROTOCOL": "",
}  # fmt: skip
_READING_COMMANDS: Final = frozenset({
    "cat-file", "check-attr", "check-ignore", "check-ref-format", "ls-tree", "merge-file",
    "rev-parse",
})  # fmt: skip
"""Commands that neither convert a file nor run a hook: what the repository names for these is not asked."""
_DIFF_COMMANDS: Final = frozenset(
    {"diff", "diff-files", "diff-index", "diff-tree", "log", "show", "format-patch"}
)
_MOST_DRIVERS: Final = 200


class GitFailed(Exception):
    """git did not do something; the message is what it said, `code` its exit code if it has one."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


def run_git(
    folder: str,
    *words: str,
    environment: Mapping[str, str],
    stdin: bytes = b"",
    seconds: float = MOST_SECONDS,
    own: Mapping[str, str] | None = None,
) -> bytes:
    """Run git in a folder and return what it printed: the one door of every call of ours.

    What of `environment` steers git is left out; variables in `own` are set. Raises GitFailed: with what git
    said; also where it is missing or takes too long.
    """
    passed = {**_git_environment(environment, folder), **_ENVIRONMENT, **(own or {})}
    settings = (
        _SETTINGS if words[0] in _READING_COMMANDS else (*_SETTINGS, *_disabled_drivers(folder, passed))
    )
    plain = ("--no-ext-diff", "--no-textconv") if words[0] in _DIFF_COMMANDS else ()
    end, message = _run_to_end(folder, settings, (words[0], *plain, *words[1:]), passed, stdin, seconds)
    if len(end.output) > LARGEST_OUTPUT:
        raise GitFailed(f"git {words[0]} printed more than {LARGEST_OUTPUT} bytes")
    if end.timed_out:
        raise GitFailed(f"git {words[0]} took longer than {seconds:g} s")
    if end.code != 0:
        raise GitFailed(message or f"git {words[0]} ended with {end.code}", end.code)
    return end.output


def add_worktree(folder: str, target: str, *words: str, environment: Mapping[str, str]) -> None:
    """Add a worktree with the files of its commit as git stores them: no filter changes them.

    `words` follow `git worktree add`; `{}` stands for the new folder. Raises GitFailed: nothing of it is
    left.
    """
    filled = [target if word == "{}" else word for word in words]
    run_git(folder, "worktree", "add", "--no-checkout", *filled, environment=environment,
            seconds=WORKTREE_SECONDS)  # fmt: skip
    try:
        # Settings may hold in this folder alone (includeIf, config.worktree), so drivers are looked up in it.
        run_git(target, "reset", "--hard", "--quiet", "--no-recurse-submodules", environment=environment,
                seconds=WORKTREE_SECONDS, own={"GIT_WORK_TREE": os.path.realpath(target)})  # fmt: skip
    except GitFailed:
        with contextlib.suppress(GitFailed):
            run_git(folder, "worktree", "remove", "--force", target, environment=environment)
        raise


def _git_environment(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    scrubbed = scrubbed_environment(environment)
    variables = {name: value for name, value in scrubbed.items() if not name.startswith("GIT_")}
    path = search_path_outside(variables.get("PATH", os.defpath), _work_trees(folder))
    return {**variables, "PATH": path}


def _work_trees(folder: str) -> Iterator[str]:
    """Yield a folder and the work tree that it is in, of a linked one also the main one; real paths."""
    real = os.path.realpath(folder)
    yield real
    top: str = real
    while not os.path.lexists(f"{top}/.git"):
        if top == "/":
            return
        top = os.path.dirname(top)  # noqa: PTH120 -- text
    with contextlib.suppress(OSError, ValueError):
        named = Path(top, ".git").read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
        main = os.path.realpath(os.path.join(top, named)).partition("/.git/")[0]  # noqa: PTH118 -- text
        if os.path.isdir(main) and not _holds_home(main):  # noqa: PTH112 -- text
            yield main
    if not _holds_home(top):
        yield top


def _holds_home(folder: str) -> bool:
    """Return whether a folder is above programs of the user, so that no workspace is as large."""
    return f"{os.path.realpath(Path.home())}/".startswith(folder.rstrip("/") + "/")


def _disabled_drivers(folder: str, passed: Mapping[str, str]) -> tuple[str, ...]:
    words = ("config", "--null", "--name-only", "--get-regexp", r"^(filter|hook)\.")
    end, message = _run_to_end(folder, _SETTINGS, words, passed, b"", MOST_SECONDS)
    if end.code not in (0, 1) or end.timed_out:
        raise GitFailed(message or f"git config ended with {end.code}", end.code)
    names = {
        name.rpartition(".")[0]
        for name in end.output.decode("utf-8", "surrogateescape").split("\0")
        if name.count(".") > 1
    }
    if len(names) > _MOST_DRIVERS or any("=" in name for name in names):
        raise GitFailed("the repository names filters or hooks that cannot be switched off")
    return tuple(_disabling_settings(sorted(names)))


def _disabling_settings(names: Iterable[str]) -> Generator[str]:
    for name in names:
        if name.startswith("hook."):
            yield f"{name}.enabled=false"
        else:
            yield from (f"{name}.{part}=" for part in ("clean", "smudge", "process"))
            yield f"{name}.required=false"


def _run_to_end(
    folder: str,
    settings: Sequence[str],
    words: Sequence[str],
    environment: Mapping[str, str],
    stdin: bytes,
    seconds: float,
) -> tuple[HookExit, str]:
    options = [part for setting in settings for part in ("-c", setting)]
    with tempfile.TemporaryFile() as errors:
        try:
            argv = ("git", "--no-pager", *options, *words)
            end = run_hook(
                argv, stdin, folder, environment, seconds, keep=LARGEST_OUTPUT + 1, errors=errors.fileno()
            )
        except ProcessNotStarted as error:
            raise GitFailed("git is not installed" if error.what == "git" else str(error)) from None
        errors.seek(0)
        return end, " ".join(errors.read(2000).decode("utf-8", "replace").split())


class Git(Struct, frozen=True, kw_only=True):
    """git in one folder, with a scratch folder for its index."""

    folder: str
    environment: Mapping[str, str]
    """Already scrubbed."""
    scratch: Path
    own: Mapping[str, str]
    """Where its index and its new objects are."""

    def run(self, *arguments: str, stdin: bytes = b"", no: Container[int] = ()) -> bytes:
        """Run git and return what it printed; nothing for an exit code in `no`. Raises GitFailed."""
        try:
            return run_git(
                self.folder, *arguments, environment=self.environment, stdin=stdin, own=self.own
            )  # fmt: skip
        except GitFailed as error:
            if error.code is not None and error.code in no:
                return b""
            raise

    def merge(self, ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
        """Return our bytes with the change from base to theirs; None where both changed the same lines."""
        paths = [self.scratch / name for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        try:
            return self.run("merge-file", "-p", "-q", *map(str, paths))
        except GitFailed as error:
            if error.code is None:
                raise
            return None


@contextlib.contextmanager
def git_with_own_index(
    folder: str, environment: Mapping[str, str], objects: str | None = None
) -> Generator[Git]:
    """Provide git in a folder with an index of its own, which is gone afterwards.

    `environment` is scrubbed already. With `objects`, the repository's folder of objects, new objects go to a
    scratch folder; otherwise they are kept.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-git-") as folder_path:
        scratch = Path(folder_path)
        own = {"GIT_INDEX_FILE": str(scratch / "index")}
        if objects is not None:
            (scratch / "objects").mkdir()
            own |= {
                "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects,
            }
        yield Git(folder=os.path.realpath(folder), environment=environment, scratch=scratch, own=own)
