"""git.preparePr: a branch with one commit of exactly what the session changed, and its words.

Owns laying the session's changes onto HEAD, and the words. It never pushes, never opens anything anywhere,
and leaves the user's index, working tree and branch as they are.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from workbench.changes.hunks import counts, hunks
from workbench.changes.model import FileChange
from workbench.domain.values import Example, Json, JsonObject, ToolDescriptor
from workbench.effects.git import GitFailed
from workbench.text.safe import one_line
from workbench.tools.base import Draft, Output, Place, Session, ToolRefused
from workbench.tools.repository import Repository, repository
from workbench.tools.results import TEXT, result_schema

_TITLE: Final = 72
_MOST_PROMPTS: Final = 10

DESCRIPTOR: Final = ToolDescriptor(
    id="git.preparePr",
    wire_name="git_preparePr",
    description=(
        "Prepare a pull request: commit exactly what this session's file tools changed to a new branch, and "
        "return its title and body. Nothing is pushed or opened, and the user's index and files stay as they "
        "are. What commands changed is not in it."
    ),
    capability="git",
    risk_level="dangerous",
    verb="write",
    input_schema={
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 200},
            "branch": {"type": "string", "minLength": 1, "maxLength": 100},
        },
        "additionalProperties": False,
    },
    output_schema=result_schema(branch=TEXT, commit=TEXT, title=TEXT, body=TEXT),
    examples=(
        Example(description="With words made from the session", parameters={}),
        Example(
            description="With a title and a branch",
            parameters={"title": "Fix the flaky login test", "branch": "fix/flaky-login"},
        ),
    ),
)


class PreparePr:
    """The tool."""

    descriptor = DESCRIPTOR

    def draft(self, parameters: JsonObject, place: Place) -> Draft:
        """Return the commit as it would be; see the descriptor."""
        session = place.session()
        try:
            with repository(place.root.path, place.environment, is_draft=True) as found:
                changes, subject = _draft(found, session, parameters)
        except (GitFailed, ToolRefused) as error:
            raise ToolRefused(f"Not prepared: {error}.") from None
        target = str(subject["branch"])
        return Draft(changes=changes, subject=subject, words=self.words(subject), target=target)

    def words(self, subject: JsonObject) -> str:
        """Return what a human is shown of a commit beside its diff."""
        base = str(subject["base"])[:12]
        return (
            f"Commit on the new branch {subject['branch']}, from {subject['from']} at {base}. "
            f"Nothing is pushed.\n\n{subject['title']}\n\n{subject['body']}"
        )

    def commit(self, changes: Sequence[FileChange], subject: JsonObject, place: Place) -> Output:
        """Make the commit that was approved, if HEAD is still where it was."""
        if not changes:
            return _output(subject, "", "no change was taken, so nothing was committed")
        try:
            with repository(place.root.path, place.environment, is_draft=False) as found:
                if found.head.commit != subject["base"]:
                    raise ToolRefused(f"{found.head.branch} moved on meanwhile; prepare it again")
                message = f"{subject['title']}\n\n{subject['body']}\n"
                commit = found.commit(changes, message, str(subject["branch"]))
        except (GitFailed, ToolRefused) as error:
            raise ToolRefused(f"Not prepared: {error}.") from None
        return _output(subject, commit, f"{subject['branch']} is at {commit[:12]}, {_files(len(changes))}")


def _draft(
    found: Repository, session: Session, parameters: JsonObject
) -> tuple[tuple[FileChange, ...], dict[str, Json]]:
    changes, left = _changes(found, session)
    title = one_line(str(parameters.get("title") or session.title or "Changes of a session"), _TITLE)
    branch = found.free_name(
        str(parameters.get("branch") or f"workbench/{_slug(title)}-{session.id[:8]}"),
        is_given="branch" in parameters,
    )
    subject: dict[str, Json] = {
        "branch": branch,
        "from": found.head.branch,
        "base": found.head.commit,
        "title": title,
        "body": _body(session, changes, left),
    }
    return changes, subject


def _changes(found: Repository, session: Session) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
    """Return what the session changed, laid onto HEAD, and the paths that git ignores."""
    by_path: dict[str, list[FileChange]] = {}
    for change in session.changes:
        by_path.setdefault(change.path, []).append(change)
    if not by_path:
        raise ToolRefused("this session has changed no file")
    ignored = found.ignored(tuple(by_path))
    paths = [path for path in sorted(by_path) if path not in ignored]
    if paths:
        found.require_plain(paths)
    laid = (_laid(found, path, by_path[path]) for path in paths)
    changes = tuple(change for change in laid if change is not None)
    if not changes:
        raise ToolRefused("HEAD holds everything that this session changed, so there is nothing to commit")
    return changes, tuple(sorted(ignored))


def _laid(found: Repository, path: str, steps: Sequence[FileChange]) -> FileChange | None:
    """Return the change of one file from HEAD; None where HEAD has it already."""
    held = found.blob(path)
    before = held[0] if held else None
    images = [(_stored(found, path, step.before), _stored(found, path, step.after)) for step in steps]
    after = before
    if before != images[-1][1]:
        for base, image in images:
            after = _step(found, path, after, base, image)
    if after == before:
        return None
    mode = held[1] if held else 0o755 if steps[-1].mode & 0o111 else 0o644
    return FileChange(path=path, before=before, after=after, mode=mode)


def _stored(found: Repository, path: str, data: bytes | None) -> bytes | None:
    return None if data is None else found.stored(path, data)


def _step(
    found: Repository, path: str, here: bytes | None, base: bytes | None, after: bytes | None
) -> bytes | None:
    if here in (base, after):
        return after
    if here is None:
        raise ToolRefused(f"{path} is not in HEAD: it was there before the session; add and commit it first")
    if base is None or after is None:
        raise ToolRefused(
            f"{path} in HEAD is another file than this session made or deleted; commit it yourself"
        )
    merged = found.merge(here, base, after)
    if merged is None:
        raise ToolRefused(
            f"{path}: what this session changed touches lines of yours that are not committed; "
            "commit or take back your own change first"
        )
    return merged


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-") or "changes"


def _body(session: Session, changes: Sequence[FileChange], left: Sequence[str]) -> str:
    parts: list[str] = []
    if session.prompts:
        asked = [f"- {one_line(prompt.strip(), 300)}" for prompt in session.prompts[:_MOST_PROMPTS]]
        more = len(session.prompts) - len(asked)
        parts.append("\n".join(["Asked:", *asked, *([f"- and {more} more"] if more else [])]))
    rows = [f"- {change.path} {_count(change)}" for change in changes]
    parts.append("\n".join(["Changed:", *rows]))
    if left:
        parts.append("\n".join(["Left out, because git ignores it:", *(f"- {path}" for path in left)]))
    parts.append(f"Session {session.id}; every change was let pass by its user or by a rule of theirs.")
    return "\n\n".join(parts)


def _count(change: FileChange) -> str:
    added, removed = counts(hunks([change]))
    kind = " new" if change.before is None else " deleted" if change.after is None else ""
    return f"(+{added} −{removed}{kind})"


def _files(count: int) -> str:
    return f"{count} {'file' if count == 1 else 'files'}"


def _output(subject: JsonObject, commit: str, done: str) -> Output:
    told = f"Push it with: git push -u origin {subject['branch']}" if commit else ""
    text = "\n".join(
        filter(
            None, (f"{done}; nothing was pushed.", told, "", str(subject["title"]), "", str(subject["body"]))
        )
    )
    facts = {name: str(subject[name]) for name in ("branch", "title", "body")}
    return Output(text=text, summary=done, metadata={**facts, "commit": commit})
