"""The tool git.preparePr: a new branch with one commit of exactly what the session changed.

Git plumbing makes it on a copy of the index; the user's index and working tree stay as they are.
"""

# `git.preparePr` commits what the file tools wrote, laid onto HEAD, not what the working tree holds:
# neither your own edits nor what a command changed is in it, and where both meet in one place it is
# refused. Its words are the action's `prompt`, so the answer's digest covers them; a draft keeps no object
# in the repository. After a crash its outcome is unknown, as a command's: the branch says.

import contextlib
import re
import unicodedata
from collections.abc import Generator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.changes.diff import FileChange, changed_line_totals, make_hunks
from workbench.domain.tools import BuiltInTool
from workbench.domain.values import Json, JsonObject, ToolDescriptor, ToolExample
from workbench.effects.git import Git, GitFailed, git_with_own_index
from workbench.text.safe import one_line
from workbench.tools.base import (
    TEXT_SCHEMA,
    CallContext,
    CommitDraft,
    SessionFacts,
    ToolOutput,
    ToolRefused,
    parameters_schema,
    result_schema,
)

_CONVERTING_ATTRIBUTES: Final = ("filter", "ident", "working-tree-encoding")
_MAX_BRANCH_NAMES: Final = 50


class RepositoryHead(Struct, frozen=True, kw_only=True):
    """Where the repository stands."""

    branch: str
    commit: str
    prefix: str
    """Path of the workspace in the repository; empty, or ends in a slash."""


class Repository:
    """One repository, read and written by plumbing."""

    def __init__(self, git: Git, head: RepositoryHead) -> None:
        self.head = head
        self.git = git

    def blob(self, path: str) -> tuple[bytes, int] | None:
        """Return what HEAD holds at a path, and its permission bits; None for nothing. Raises ToolRefused."""
        row = self.git.run("ls-tree", "-z", "--full-tree", self.head.commit, "--", self.head.prefix + path)
        if not row:
            return None
        mode, kind, rest = row.decode("utf-8", "surrogateescape").split(" ", 2)
        if kind != "blob" or mode == "120000":
            raise ToolRefused(f"{path} is a link, a folder or another repository in git")
        return self.git.run("cat-file", "blob", rest.split("\t")[0]), 0o755 if mode == "100755" else 0o644

    def stored(self, path: str, data: bytes) -> bytes:
        """Return bytes as git would store them. Raises ToolRefused: a filter would have to run."""
        if b"\r" not in data:
            return data
        name = self.git.run("hash-object", "-w", "--stdin", f"--path={path}", stdin=data)
        return self.git.run("cat-file", "blob", name.decode().strip())

    def require_plain(self, paths: Sequence[str]) -> None:
        """Refuse paths that git keeps in another form than the files have.

        Raises:
            ToolRefused: Names the path and the attribute.
        """
        stdin = "\0".join(paths).encode()
        output = self.git.run("check-attr", "-z", "--stdin", *_CONVERTING_ATTRIBUTES, stdin=stdin)
        parts = output.decode("utf-8", "surrogateescape").split("\0")
        for path, attribute, value in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
            if value not in ("unspecified", "unset", "false"):
                raise ToolRefused(
                    f"{path} is kept by git in another form ({attribute}={value}); commit it yourself"
                )

    def ignored(self, paths: Sequence[str]) -> frozenset[str]:
        """Return those paths that git ignores."""
        stdin = "\0".join(paths).encode()
        output = self.git.run("check-ignore", "-z", "--stdin", stdin=stdin, no=(1,))
        return frozenset(filter(None, output.decode("utf-8", "surrogateescape").split("\0")))

    def free_name(self, branch: str, *, is_given: bool) -> str:
        """Return the name of a branch that is not there yet.

        Raises:
            ToolRefused: The name is none, or a given one is taken.
        """
        if branch.startswith("-") or not self.git.run("check-ref-format", "--branch", branch, no=(1, 128)):
            raise ToolRefused(f"{branch} cannot be the name of a branch")
        for number in range(1, _MAX_BRANCH_NAMES):
            name = branch if number == 1 else f"{branch}-{number}"
            if not self.git.run("rev-parse", "-q", "--verify", f"refs/heads/{name}", no=(1,)):
                return name
            if is_given:
                raise ToolRefused(f"there is a branch {name} already; name another or leave it out")
        raise ToolRefused(f"all names like {branch} are taken; name a branch")

    def commit(self, changes: Sequence[FileChange], message: str, branch: str) -> str:
        """Commit HEAD with changes on a new branch and return the commit's name.

        Raises:
            GitFailed: Nothing but loose objects was made.
        """
        self.git.run("read-tree", self.head.commit)
        rows = b"".join(map(self._row, changes))
        self.git.run("update-index", "-z", "--index-info", stdin=rows)
        tree = self.git.run("write-tree").decode().strip()
        output = self.git.run(
            "commit-tree", tree, "-p", self.head.commit, "-F", "-", stdin=message.encode("utf-8", "replace")
        )
        commit = output.decode().strip()
        zeros = "0" * len(commit)
        self.git.run("update-ref", "-m", "workbench: prepared", f"refs/heads/{branch}", commit, zeros)
        return commit

    def _row(self, change: FileChange) -> bytes:
        path = f"{self.head.prefix}{change.path}".encode("utf-8", "surrogateescape")
        if change.after is None:
            zeros = "0" * len(self.head.commit)
            return f"0 {zeros}\t".encode() + path + b"\0"
        name = (
            self.git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=change.after).decode().strip()
        )
        mode = "100755" if change.mode & 0o111 else "100644"
        return f"{mode} {name}\t".encode() + path + b"\0"


@contextlib.contextmanager
def open_repository(folder: str, environment: Mapping[str, str], *, is_draft: bool) -> Generator[Repository]:
    """Open the repository of a workspace.

    Args:
        folder: Real path of the workspace.
        environment: Already scrubbed.
        is_draft: Objects that are made are thrown away.

    Raises:
        ToolRefused: It is none, or no branch with a commit is checked out.
        GitFailed: Of the block.
    """
    with git_with_own_index(folder, environment) as git:
        head, objects = _read_head(git), _object_folder(git)
    with git_with_own_index(folder, environment, objects if is_draft else None) as git:
        yield Repository(git, head)


def _object_folder(git: Git) -> str:
    # `--git-path` is relative to where it runs; both objects and this folder are named by their real paths.
    folder = git.run("rev-parse", "--path-format=absolute", "--git-path", "objects")
    return folder.decode("utf-8", "surrogateescape").rstrip("\n")


def _read_head(git: Git) -> RepositoryHead:
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
    return RepositoryHead(branch=branch, commit=commit, prefix=prefix)


_MAX_TITLE: Final = 72
_MAX_PROMPTS: Final = 10


class PreparePr:
    """The tool git.preparePr."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.PREPARE_PR.id, wire_name=BuiltInTool.PREPARE_PR.wire_name,
        description="Prepare a pull request: commit exactly what this session's file tools changed to a new "
        "branch, and return its title and body. Nothing is pushed or opened, and the user's index and files "
        "stay as they are. What commands changed is not in it.",
        capability="git", risk_level="dangerous", verb=BuiltInTool.PREPARE_PR.verb,
        input_schema=parameters_schema(
            title={"type": "string", "minLength": 1, "maxLength": 200},
            branch={"type": "string", "minLength": 1, "maxLength": 100},
        ),
        output_schema=result_schema(
            branch=TEXT_SCHEMA, commit=TEXT_SCHEMA, title=TEXT_SCHEMA, body=TEXT_SCHEMA
        ),
        examples=(
            ToolExample(description="With words made from the session", parameters={}),
            ToolExample(
                description="With a title and a branch",
                parameters={"title": "Fix the flaky login test", "branch": "fix/flaky-login"},
            ),
        ),
    )  # fmt: skip

    def draft(self, parameters: JsonObject, context: CallContext) -> CommitDraft:
        session = context.session()
        try:
            with open_repository(context.root.path, context.environment, is_draft=True) as repository:
                changes, subject = _commit_draft(repository, session, parameters)
        except (GitFailed, ToolRefused) as error:
            raise ToolRefused(f"Not prepared: {error}.") from None
        target = str(subject["branch"])
        return CommitDraft(changes=changes, subject=subject, words=self.words(subject), target=target)

    def words(self, subject: JsonObject) -> str:
        base = str(subject["base"])[:12]
        return (
            f"Commit on the new branch {subject['branch']}, from {subject['from']} at {base}. "
            f"Nothing is pushed.\n\n{subject['title']}\n\n{subject['body']}"
        )

    def commit(self, changes: Sequence[FileChange], subject: JsonObject, context: CallContext) -> ToolOutput:
        """Make the commit that was approved, if HEAD is still where it was."""
        if not changes:
            return _commit_output(subject, "", "no change was taken, so nothing was committed")
        try:
            with open_repository(context.root.path, context.environment, is_draft=False) as repository:
                if repository.head.commit != subject["base"]:
                    raise ToolRefused(f"{repository.head.branch} moved on meanwhile; prepare it again")
                message = f"{subject['title']}\n\n{subject['body']}\n"
                commit = repository.commit(changes, message, str(subject["branch"]))
        except (GitFailed, ToolRefused) as error:
            raise ToolRefused(f"Not prepared: {error}.") from None
        return _commit_output(
            subject, commit, f"{subject['branch']} is at {commit[:12]}, {_file_count_text(len(changes))}"
        )


def _commit_draft(
    repository: Repository, session: SessionFacts, parameters: JsonObject
) -> tuple[tuple[FileChange, ...], dict[str, Json]]:
    changes, ignored = _changes_on_head(repository, session)
    title = one_line(str(parameters.get("title") or session.title or "Changes of a session"), _MAX_TITLE)
    branch = repository.free_name(
        str(parameters.get("branch") or f"workbench/{_branch_slug(title)}-{session.id[:8]}"),
        is_given="branch" in parameters,
    )
    subject: dict[str, Json] = {
        "branch": branch,
        "from": repository.head.branch,
        "base": repository.head.commit,
        "title": title,
        "body": _pull_request_body(session, changes, ignored),
    }
    return changes, subject


def _changes_on_head(
    repository: Repository, session: SessionFacts
) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
    """Return what the session changed, laid onto HEAD, and the paths that git ignores."""
    by_path: dict[str, list[FileChange]] = {}
    for change in session.changes:
        by_path.setdefault(change.path, []).append(change)
    if not by_path:
        raise ToolRefused("this session has changed no file")
    ignored = repository.ignored(tuple(by_path))
    paths = [path for path in sorted(by_path) if path not in ignored]
    if paths:
        repository.require_plain(paths)
    laid = (_change_on_head(repository, path, by_path[path]) for path in paths)
    changes = tuple(change for change in laid if change is not None)
    if not changes:
        raise ToolRefused("HEAD holds everything that this session changed, so there is nothing to commit")
    return changes, tuple(sorted(ignored))


def _change_on_head(
    repository: Repository, path: str, session_changes: Sequence[FileChange]
) -> FileChange | None:
    """Return the change of one file from HEAD; None where HEAD has it already."""
    head_blob = repository.blob(path)
    before = head_blob[0] if head_blob else None
    images = [
        (_stored_by_git(repository, path, step.before), _stored_by_git(repository, path, step.after))
        for step in session_changes
    ]
    after = before
    if before != images[-1][1]:
        for base, image in images:
            after = _next_image(repository, path, after, base, image)
    if after == before:
        return None
    mode = head_blob[1] if head_blob else 0o755 if session_changes[-1].mode & 0o111 else 0o644
    return FileChange(path=path, before=before, after=after, mode=mode)


def _stored_by_git(repository: Repository, path: str, data: bytes | None) -> bytes | None:
    return None if data is None else repository.stored(path, data)


def _next_image(
    repository: Repository, path: str, current: bytes | None, base: bytes | None, after: bytes | None
) -> bytes | None:
    if current in (base, after):
        return after
    if current is None:
        raise ToolRefused(f"{path} is not in HEAD: it was there before the session; add and commit it first")
    if base is None or after is None:
        raise ToolRefused(
            f"{path} in HEAD is another file than this session made or deleted; commit it yourself"
        )
    merged = repository.git.merge(current, base, after)
    if merged is None:
        raise ToolRefused(
            f"{path}: what this session changed touches lines of yours that are not committed; "
            "commit or take back your own change first"
        )
    return merged


def _branch_slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-") or "changes"


def _pull_request_body(session: SessionFacts, changes: Sequence[FileChange], left: Sequence[str]) -> str:
    parts: list[str] = []
    if session.prompts:
        asked = [f"- {one_line(prompt.strip(), 300)}" for prompt in session.prompts[:_MAX_PROMPTS]]
        more = len(session.prompts) - len(asked)
        parts.append("\n".join(["Asked:", *asked, *([f"- and {more} more"] if more else [])]))
    rows = [f"- {change.path} {_changed_lines_text(change)}" for change in changes]
    parts.append("\n".join(["Changed:", *rows]))
    if left:
        parts.append("\n".join(["Left out, because git ignores it:", *(f"- {path}" for path in left)]))
    parts.append(f"Session {session.id}; every change was approved by its user or by a rule of theirs.")
    return "\n\n".join(parts)


def _changed_lines_text(change: FileChange) -> str:
    added, removed = changed_line_totals(make_hunks([change]))
    kind = " new" if change.before is None else " deleted" if change.after is None else ""
    return f"(+{added} −{removed}{kind})"


def _file_count_text(count: int) -> str:
    return f"{count} {'file' if count == 1 else 'files'}"


def _commit_output(subject: JsonObject, commit: str, done: str) -> ToolOutput:
    hint = f"Push it with: git push -u origin {subject['branch']}" if commit else ""
    text = "\n".join(
        filter(
            None, (f"{done}; nothing was pushed.", hint, "", str(subject["title"]), "", str(subject["body"]))
        )
    )
    facts = {name: str(subject[name]) for name in ("branch", "title", "body")}
    return ToolOutput(text=text, summary=done, metadata={**facts, "commit": commit})
