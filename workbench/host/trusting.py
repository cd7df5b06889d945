"""Ask whether a workspace may act, and read what was answered.

Owns the one trust row of the queue per workspace and content hash (DESIGN section 5). Nothing in a
workspace acts before a human said so here.
"""

import os
from pathlib import Path
from typing import Final

from workbench.changes.digest import action_digest
from workbench.config.layers import load
from workbench.domain.events import (
    ActionCancelled,
    ActionOpened,
    Event,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)
from workbench.domain.rows import Action, Trust
from workbench.domain.values import SYSTEM_SESSION, Actor, JsonObject
from workbench.host.trust_summary import TrustSummary, summarize
from workbench.journal.journal import Journal
from workbench.policy import trust as policy
from workbench.records import dataclass

_ATTEMPTS: Final = 3


def governing_hash(workspace: str) -> str:
    """Return the content hash of the files that govern a workspace.

    Raises:
        policy.TrustRefused: they are too many or too large to be judged.
    """
    return policy.governing_hash(workspace)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustState:
    """What a human's last word about a workspace means for its files as they are now."""

    is_trusted: bool = False
    read_grant: bool = False
    ended: str = ""
    """Why no grant counts: the trust ended while it stood in the way of calls, and no human has looked."""


def state(journal: Journal, workspace: str) -> TrustState:
    """Return what holds for a workspace; its governing files are read once."""
    row = journal.trust(workspace)
    if row is None or row.revoked_at is not None:
        return TrustState()
    try:
        found = governing_hash(workspace)
    except policy.TrustRefused:
        return TrustState(ended=_ended(journal, row, None))
    if policy.is_trusted(row, found):
        return TrustState(is_trusted=True, read_grant=row.read_grant)
    return TrustState(ended=_ended(journal, row, found))


def _ended(journal: Journal, row: Trust, content_hash: str | None) -> str:
    """Say why no grant counts in a workspace whose trust has ended; empty once a human has looked at it."""
    event = journal.reader.trusted(row.workspace)
    guards = event.body.guards if event and isinstance(event.body, WorkspaceTrusted) else None
    has_looked = content_hash is not None and any(
        action.state in ("approved", "rejected")
        and action.subject.get("content_hash") == content_hash
        and (action.decided_at or 0) >= row.decided_at
        for action in _questions(journal, row.workspace)
    )
    return "" if has_looked else policy.ending(guards, row.content_hash)


def is_trusted(journal: Journal, workspace: str) -> bool:
    """Return whether a human trusted the workspace with its governing files as they are now."""
    row = journal.trust(workspace)
    return row is not None and _is_current(row, workspace)


def read_grant(journal: Journal, workspace: str) -> bool:
    """Return whether agents may read here without asking."""
    row = journal.trust(workspace)
    return row is not None and row.read_grant and _is_current(row, workspace)


def ask(journal: Journal, workspace: str) -> str | None:
    """Open the trust question unless it was asked for this hash; return the id of the row that waits."""
    found = governing_hash(workspace)
    row = journal.trust(workspace)
    if row is not None and policy.is_trusted(row, found):
        return None
    for action in _questions(journal, workspace):
        if action.subject.get("content_hash") == found:
            return action.id if action.state == "pending" else None
    action_id = journal.clock.new_id()
    actor = Actor(kind="system", pid=os.getpid())
    content = described(journal, workspace)
    question = journal.event(_question(journal, content), SYSTEM_SESSION, actor, action_id=action_id)
    outdated = _withdrawn(journal, workspace, actor, "what governs the workspace has changed")
    journal.append([*outdated, question])
    return action_id


def grant(journal: Journal, workspace: str, read: bool, actor: Actor) -> None:
    """Record a human's trust in a workspace as it is now; a question that waits is answered by that."""
    content = described(journal, workspace)
    body = WorkspaceTrusted(
        workspace=workspace, content_hash=content.content_hash, read_grant=read, guards=content.summary.guards
    )
    answered = _withdrawn(journal, workspace, actor, "the workspace was trusted by command")
    journal.append([*answered, journal.event(body, SYSTEM_SESSION, actor)])


def _withdrawn(journal: Journal, workspace: str, actor: Actor, why: str) -> list[Event]:
    waiting = (action for action in _questions(journal, workspace) if action.state == "pending")
    return [
        journal.event(ActionCancelled(why=why), SYSTEM_SESSION, actor, action_id=action.id)
        for action in waiting
    ]


def revoke(journal: Journal, workspace: str, actor: Actor) -> bool:
    """Take the trust back; False when there was none."""
    row = journal.trust(workspace)
    if row is None or row.revoked_at is not None:
        return False
    body = WorkspaceTrustRevoked(workspace=workspace)
    journal.append([journal.event(body, SYSTEM_SESSION, actor)])
    return True


def _is_current(row: Trust, workspace: str) -> bool:
    try:
        return policy.is_trusted(row, governing_hash(workspace))
    except policy.TrustRefused:
        return False


def _questions(journal: Journal, workspace: str) -> list[Action]:
    asked = journal.actions(session_id=SYSTEM_SESSION)
    return [a for a in asked if a.kind == "trust" and a.subject.get("workspace") == workspace]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What governs a workspace, read as one state of its files."""

    workspace: str
    content_hash: str
    files: tuple[str, ...]
    summary: TrustSummary


def described(journal: Journal, workspace: str) -> Content:
    """Read what governs a workspace and what it would do.

    Raises:
        policy.TrustRefused: it cannot be judged, or it changes while it is read.
    """
    for _ in range(_ATTEMPTS):
        before = governing_hash(workspace)
        loaded = load(journal.home.path, Path(workspace), trusted=True, env=os.environ, options={})
        content = Content(
            workspace=workspace, content_hash=before, files=policy.governing_files(workspace),
            summary=summarize(workspace, loaded),
        )  # fmt: skip
        if governing_hash(workspace) == before:
            return content
    raise policy.TrustRefused("the files that govern the workspace change while they are read; try again")


def _question(journal: Journal, content: Content) -> ActionOpened:
    subject: JsonObject = {
        "workspace": content.workspace,
        "content_hash": content.content_hash,
        "files": list(content.files),
        "guards": content.summary.guards,
        **content.summary.facts(),
    }
    words = policy.question(content.workspace, content.files, content.summary.sentences())
    digest = action_digest(
        journal.blobs.keyed,
        kind="trust",
        parameters=subject,
        cwd=content.workspace,
        prompt=words,
        choices=policy.CHOICES,
    )
    return ActionOpened(
        action_kind="trust", tool=None, target=content.workspace, digest=digest, created_at=journal.now(),
        expires_at=None, verb="ask", cwd=content.workspace, prompt=words, choices=policy.CHOICES,
        subject=subject,
    )  # fmt: skip


def is_governed(file: str, workspace: str) -> bool:
    """Say whether trust covers a file: commands in what an agent wrote elsewhere would run without asking."""
    root = os.path.realpath(workspace)
    try:
        known = policy.governing_files(root)
    except policy.TrustRefused:
        return False
    # A link counts by its own name, as trust counts it, and by what it leads to.
    ways = (os.path.normpath(f"{root}/{os.path.relpath(file, workspace)}"), os.path.realpath(file))
    return any(os.path.relpath(way, root) in known for way in ways)
