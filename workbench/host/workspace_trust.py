"""The trust question of a workspace: ask it, record the answer, and say what the answer allows now.

One question per workspace and content hash of its governing files (DESIGN section 5), with a scrubbed and
bounded summary of what these files would do. Nothing here runs anything.
"""

# Trust that ends closes. An agent that is allowed to change a governing file would otherwise take the
# checks away and keep the grants. Until a human answered for the new content, everything asks.

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.changes.digest import action_digest
from workbench.config.layers import load_config
from workbench.config.types import Config
from workbench.domain.events import (
    ActionCancelled,
    ActionOpened,
    Event,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)
from workbench.domain.rows import Action, Trust
from workbench.domain.values import SYSTEM_SESSION, Actor, Choice, JsonObject
from workbench.host.trust_facts import TrustSummary, summarize_workspace
from workbench.journal.journal import Journal
from workbench.policy import trust
from workbench.policy.git_worktrees import worktree_origin

_ATTEMPTS: Final = 3


class TrustState(Struct, frozen=True, kw_only=True):
    """What a human's last word about a workspace means for its files as they are now."""

    is_trusted: bool = False
    read_grant: bool = False
    sandbox_grant: bool = False
    """Whether commands inside the sandbox run here without a question."""
    ended: str = ""
    """Why no grant counts: the trust ended while it stood in the way of calls, and no human has looked."""


def trust_state(journal: Journal, workspace: str) -> TrustState:
    """Return what holds for a workspace; its governing files are hashed once."""
    row = journal.trust(workspace)
    if row is None or row.revoked_at is not None:
        return TrustState()
    try:
        content_hash = trust.governing_hash(workspace)
    except trust.TrustRefused:
        return TrustState(ended=_ended_trust_reason(journal, row, None))
    if trust.is_trusted(row, content_hash):
        return TrustState(is_trusted=True, read_grant=row.read_grant, sandbox_grant=row.sandbox_grant)
    return TrustState(ended=_ended_trust_reason(journal, row, content_hash))


def _ended_trust_reason(journal: Journal, row: Trust, content_hash: str | None) -> str:
    """Say why no grant counts after trust ended; empty once a human has looked."""
    event = journal.trusted(row.workspace)
    guards = event.body.guards if event and isinstance(event.body, WorkspaceTrusted) else None
    has_looked = content_hash is not None and any(
        action.state in ("approved", "rejected")
        and action.subject.get("content_hash") == content_hash
        and (action.decided_at or 0) >= row.decided_at
        for action in _trust_questions(journal, row.workspace)
    )
    return "" if has_looked else trust.trust_ended_reason(guards, row.content_hash)


def is_trusted(journal: Journal, workspace: str) -> bool:
    """Return whether a human trusted the workspace with its governing files as they are now."""
    return trust_state(journal, workspace).is_trusted


def has_read_grant(journal: Journal, workspace: str) -> bool:
    """Return whether agents may read here without asking."""
    return trust_state(journal, workspace).read_grant


def asked_tools(journal: Journal, workspace: str, config: Config) -> str:
    """Return what agents ask about before they act here, in words."""
    reads = config.approvals.read_only == "auto" or has_read_grant(journal, workspace)
    return "all except reads" if reads else "every call"


def may_have_full_sandbox(config: Config) -> bool:
    """Return whether a full sandbox is likely, without proving it: a first frame does not wait for that."""
    is_wanted = config.sandbox.level != "outside" and config.sandbox.backend == "auto"
    return is_wanted and sys.platform == "linux" and os.path.lexists("/usr/bin/bwrap")


def open_trust_question(
    journal: Journal, workspace: str, *, offers_sandbox: Callable[[], bool] = lambda: False
) -> str | None:
    """Open the trust question unless it was asked for this hash; return the id of the row that waits.

    `offers_sandbox`: whether one answer also lets commands run inside the sandbox without asking; called
    where the question is opened.
    """
    content_hash = trust.governing_hash(workspace)
    row = journal.trust(workspace)
    if row is not None and trust.is_trusted(row, content_hash):
        return None
    for action in _trust_questions(journal, workspace):
        if action.subject.get("content_hash") == content_hash:
            return action.id if action.state == "pending" else None
    action_id = journal.clock.new_id()
    actor = Actor(kind="system", pid=os.getpid())
    content = read_governing_content(journal, workspace)
    body = _question_body(journal, content, trust.trust_choices(offers_sandbox=offers_sandbox()))
    question = journal.event(body, SYSTEM_SESSION, actor, action_id=action_id)
    withdrawn = _withdrawn_questions(journal, workspace, actor, "the settings of the workspace have changed")
    journal.append([*withdrawn, question])
    return action_id


def grant_trust(journal: Journal, workspace: str, read: bool, actor: Actor, *, sandbox: bool = False) -> None:
    """Record a human's trust in a workspace as it is now; it answers a waiting question."""
    grant_shown_trust(journal, read_governing_content(journal, workspace), read, actor, sandbox=sandbox)


def grant_shown_trust(
    journal: Journal, content: "GoverningContent", read: bool, actor: Actor, *, sandbox: bool = False
) -> None:
    """Record a human's trust in the content that was shown; TrustRefused where the files changed since.

    `sandbox`: commands inside the sandbox run there without a question.
    """
    workspace = content.workspace
    if trust.governing_hash(workspace) != content.content_hash:
        raise trust.TrustRefused("the files that control agents changed after they were shown")
    body = WorkspaceTrusted(
        workspace=workspace, content_hash=content.content_hash, read_grant=read, sandbox_grant=sandbox,
        guards=content.summary.guards,
    )  # fmt: skip
    withdrawn = _withdrawn_questions(journal, workspace, actor, "the workspace was trusted by command")
    journal.append([*withdrawn, journal.event(body, SYSTEM_SESSION, actor)])


def _withdrawn_questions(journal: Journal, workspace: str, actor: Actor, why: str) -> list[Event]:
    waiting = (action for action in _trust_questions(journal, workspace) if action.state == "pending")
    return [
        journal.event(ActionCancelled(why=why), SYSTEM_SESSION, actor, action_id=action.id)
        for action in waiting
    ]


def revoke_trust(journal: Journal, workspace: str, actor: Actor) -> bool:
    """Take the trust back; False when there was none."""
    row = journal.trust(workspace)
    if row is None or row.revoked_at is not None:
        return False
    body = WorkspaceTrustRevoked(workspace=workspace)
    journal.append([journal.event(body, SYSTEM_SESSION, actor)])
    return True


def _trust_questions(journal: Journal, workspace: str) -> list[Action]:
    actions = journal.actions(session_id=SYSTEM_SESSION)
    return [a for a in actions if a.kind == "trust" and a.subject.get("workspace") == workspace]


class GoverningContent(Struct, frozen=True, kw_only=True):
    """What governs a workspace, read as one state of its files."""

    workspace: str
    content_hash: str
    files: tuple[str, ...]
    summary: TrustSummary
    worktree_of: str = ""
    """The trusted folder of which the workspace is a git worktree; that trust does not cover the worktree."""


def read_governing_content(journal: Journal, workspace: str) -> GoverningContent:
    """Read what governs a workspace; TrustRefused where it cannot be judged or changes meanwhile."""
    for _ in range(_ATTEMPTS):
        before = trust.governing_hash(workspace)
        loaded = load_config(journal.home.path, Path(workspace), trusted=True, env=os.environ, options={})
        content = GoverningContent(
            workspace=workspace, content_hash=before, files=trust.governing_files(workspace),
            summary=summarize_workspace(workspace, loaded), worktree_of=_trusted_origin(journal, workspace),
        )  # fmt: skip
        if trust.governing_hash(workspace) == before:
            return content
    raise trust.TrustRefused("the settings of the workspace change while they are read; try again")


def _trusted_origin(journal: Journal, workspace: str) -> str:
    origin = worktree_origin(workspace)
    return origin if origin is not None and is_trusted(journal, origin) else ""


def _question_body(journal: Journal, content: GoverningContent, choices: tuple[Choice, ...]) -> ActionOpened:
    subject: JsonObject = {
        "workspace": content.workspace,
        "content_hash": content.content_hash,
        "files": list(content.files),
        "guards": content.summary.guards,
        **content.summary.facts(),
        **({"worktree_of": content.worktree_of} if content.worktree_of else {}),
    }
    words = trust.trust_question(
        content.workspace, content.files, content.summary.sentences(), worktree_of=content.worktree_of
    )
    digest = action_digest(
        journal.blobs.keyed,
        kind="trust",
        parameters=subject,
        cwd=content.workspace,
        prompt=words,
        choices=choices,
    )
    return ActionOpened(
        action_kind="trust", tool=None, target=content.workspace, digest=digest, created_at=journal.now(),
        expires_at=None, verb="ask", cwd=content.workspace, prompt=words, choices=choices,
        subject=subject,
    )  # fmt: skip


def is_governed_file(file: str, workspace: str) -> bool:
    """Return whether trust covers a file: an agent's own commands elsewhere would run without asking."""
    root = os.path.realpath(workspace)
    try:
        governing = trust.governing_files(root)
    except trust.TrustRefused:
        return False
    # A link counts by its own name, as trust counts it, and by what it leads to.
    paths = (os.path.normpath(f"{root}/{os.path.relpath(file, workspace)}"), os.path.realpath(file))
    return any(os.path.relpath(path, root) in governing for path in paths)
