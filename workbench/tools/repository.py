"""A git repository as preparing a commit needs it: where HEAD is, what it holds, and one new branch.

Owns the plumbing commands and the words for a repository in which this cannot be done. It changes nothing but
objects and the one branch that `commit` makes.
"""

import contextlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.changes.model import FileChange
from workbench.effects.git import Git, GitFailed, git_in
from workbench.tools.base import ToolRefused

_CONVERTED: Final = ("filter", "ident", "working-tree-encoding")
_MOST_NAMES: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where the repository stands."""

    branch: str
    commit: str
    prefix: str
    """Path of the workspace in the repository; empty, or ends in a slash."""


class Repository:
    """One repository, read and written by plumbing."""

    def __init__(self, git: Git, head: Head) -> None:
        self.head = head
        self._git = git

    def blob(self, path: str) -> tuple[bytes, int] | None:
        """Return what HEAD holds at a path of the workspace, and its permission bits; None where nothing is.

        Raises:
            ToolRefused: It is no regular file there.
        """
        row = self._git.run("ls-tree", "-z", "--full-tree", self.head.commit, "--", self.head.prefix + path)
        if not row:
            return None
        mode, kind, rest = row.decode("utf-8", "surrogateescape").split(" ", 2)
        if kind != "blob" or mode == "120000":
            raise ToolRefused(f"{path} is a link, a folder or another repository in git")
        return self._git.run("cat-file", "blob", rest.split("\t")[0]), 0o755 if mode == "100755" else 0o644

    def stored(self, path: str, data: bytes) -> bytes:
        """Return bytes of the working tree as git would store them (line ends).

        Raises:
            ToolRefused: A program of the user's configuration would have to run for that.
        """
        if b"\r" not in data:
            return data
        name = self._git.run("hash-object", "-w", "--stdin", f"--path={path}", stdin=data)
        return self._git.run("cat-file", "blob", name.decode().strip())

    def require_plain(self, paths: Sequence[str]) -> None:
        """Refuse paths that git keeps in another form than the files have.

        Raises:
            ToolRefused: Names the path and the attribute.
        """
        stdin = "\0".join(paths).encode()
        found = self._git.run("check-attr", "-z", "--stdin", *_CONVERTED, stdin=stdin)
        parts = found.decode("utf-8", "surrogateescape").split("\0")
        for path, attribute, value in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
            if value not in ("unspecified", "unset", "false"):
                raise ToolRefused(
                    f"{path} is kept by git in another form ({attribute}={value}); commit it yourself"
                )

    def ignored(self, paths: Sequence[str]) -> frozenset[str]:
        """Return those paths that git ignores."""
        stdin = "\0".join(paths).encode()
        found = self._git.run("check-ignore", "-z", "--stdin", stdin=stdin, no=(1,))
        return frozenset(filter(None, found.decode("utf-8", "surrogateescape").split("\0")))

    def free_name(self, wanted: str, *, is_given: bool) -> str:
        """Return the name of a branch that is not there yet.

        Raises:
            ToolRefused: The name is none, or a given one is taken.
        """
        if wanted.startswith("-") or not self._git.run("check-ref-format", "--branch", wanted, no=(1, 128)):
            raise ToolRefused(f"{wanted} cannot be the name of a branch")
        for number in range(1, _MOST_NAMES):
            name = wanted if number == 1 else f"{wanted}-{number}"
            if not self._git.run("rev-parse", "-q", "--verify", f"refs/heads/{name}", no=(1,)):
                return name
            if is_given:
                raise ToolRefused(f"there is a branch {name} already; name another or leave it out")
        raise ToolRefused(f"all names like {wanted} are taken; name a branch")

    def merge(self, ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
        """Return our bytes with the change from base to theirs in them; None for a conflict."""
        return self._git.merge(ours, base, theirs)

    def commit(self, changes: Sequence[FileChange], message: str, branch: str) -> str:
        """Commit HEAD with changes on a new branch and return the commit's name.

        Raises:
            GitFailed: Nothing but loose objects was made.
        """
        self._git.run("read-tree", self.head.commit)
        rows = b"".join(map(self._row, changes))
        self._git.run("update-index", "-z", "--index-info", stdin=rows)
        tree = self._git.run("write-tree").decode().strip()
        made = self._git.run(
            "commit-tree", tree, "-p", self.head.commit, "-F", "-", stdin=message.encode("utf-8", "replace")
        )
        commit = made.decode().strip()
        zeros = "0" * len(commit)
        self._git.run("update-ref", "-m", "workbench: prepared", f"refs/heads/{branch}", commit, zeros)
        return commit

    def _row(self, change: FileChange) -> bytes:
        path = f"{self.head.prefix}{change.path}".encode("utf-8", "surrogateescape")
        if change.after is None:
            zeros = "0" * len(self.head.commit)
            return f"0 {zeros}\t".encode() + path + b"\0"
        name = (
            self._git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=change.after).decode().strip()
        )
        mode = "100755" if change.mode & 0o111 else "100644"
        return f"{mode} {name}\t".encode() + path + b"\0"


@contextlib.contextmanager
def repository(folder: str, environment: Mapping[str, str], *, is_draft: bool) -> Generator[Repository]:
    """Open the repository of a workspace.

    Args:
        folder: Real path of the workspace.
        environment: Already scrubbed.
        is_draft: Objects that are made are thrown away.

    Raises:
        ToolRefused: It is none, or no branch with a commit is checked out.
        GitFailed: Of the block.
    """
    with git_in(folder, environment) as git:
        head, objects = _head(git), _objects(git)
    with git_in(folder, environment, objects if is_draft else None) as git:
        yield Repository(git, head)


def _objects(git: Git) -> str:
    # `--git-path` is relative to where it runs; both objects and this folder are named by their real paths.
    found = git.run("rev-parse", "--path-format=absolute", "--git-path", "objects")
    return found.decode("utf-8", "surrogateescape").rstrip("\n")


def _head(git: Git) -> Head:
    try:
        inside = git.run("rev-parse", "--is-inside-work-tree").strip()
    except GitFailed as error:
        why = "it is not in a git repository" if "not a git repository" in str(error) else str(error)
        raise ToolRefused(f"{git.folder}: {why}") from None
    if inside != b"true":
        raise ToolRefused(f"{git.folder} is in a git repository without a working tree")
    branch = git.run("symbolic-ref", "-q", "--short", "HEAD", no=(1,)).decode().strip()
    if not branch:
        raise ToolRefused("HEAD is detached; check out a branch first")
    commit = git.run("rev-parse", "-q", "--verify", "HEAD^{commit}", no=(1,)).decode().strip()
    if not commit:
        raise ToolRefused(f"the branch {branch} has no commit yet; make the first one yourself")
    prefix = git.run("rev-parse", "--show-prefix").decode("utf-8", "surrogateescape").rstrip("\n")
    return Head(branch=branch, commit=commit, prefix=prefix)
