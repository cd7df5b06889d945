"""Ask whether a workspace may act, and read what was answered.

Owns the one trust row of the queue per workspace and content hash (DESIGN section 5). Nothing in a
workspace acts before a human said so here.
"""

import os

from workbench.changes.digest import action_digest
from workbench.domain.events import (
    ActionCancelled,
    ActionOpened,
    Event,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)
from workbench.domain.rows import Action, Trust
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.journal.journal import Journal
from workbench.policy import trust as policy


def governing_hash(workspace: str) -> str:
    """Return the content hash of the files that govern a workspace.

    Raises:
        policy.TrustRefused: they are too many or too large to be judged.
    """
    return policy.governing_hash(workspace)


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
    if is_trusted(journal, workspace):
        return None
    for action in _questions(journal, workspace):
        if action.subject.get("content_hash") == found:
            return action.id if action.state == "pending" else None
    action_id = journal.clock.new_id()
    actor = Actor(kind="system", pid=os.getpid())
    question = journal.event(_question(journal, workspace, found), SYSTEM_SESSION, actor, action_id=action_id)
    outdated = _withdrawn(journal, workspace, actor, "what governs the workspace has changed")
    journal.append([*outdated, question])
    return action_id


def grant(journal: Journal, workspace: str, read: bool, actor: Actor) -> None:
    """Record a human's trust in a workspace as it is now; a question that waits is answered by that."""
    body = WorkspaceTrusted(workspace=workspace, content_hash=governing_hash(workspace), read_grant=read)
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


def _question(journal: Journal, workspace: str, found: str) -> ActionOpened:
    subject = {
        "workspace": workspace,
        "content_hash": found,
        "files": list(policy.governing_files(workspace)),
    }
    words = policy.question(workspace, policy.governing_files(workspace))
    digest = action_digest(
        journal.blobs.keyed,
        kind="trust",
        parameters=subject,
        cwd=workspace,
        prompt=words,
        choices=policy.CHOICES,
    )
    return ActionOpened(
        action_kind="trust", tool=None, target=workspace, digest=digest, created_at=journal.now(),
        expires_at=None, verb="ask", cwd=workspace, prompt=words, choices=policy.CHOICES,
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
