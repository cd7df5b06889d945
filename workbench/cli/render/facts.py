"""The JSON of rows: snake_case, ISO 8601 UTC, the shapes that scripts rely on (DESIGN section 8).

Pure. Owns which fields a list shows; never prints.
"""

from workbench.domain.codec import plain
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Json
from workbench.text.human import iso

Facts = dict[str, Json]


def moment(micros: int | None) -> str | None:
    """Return a time as ISO 8601, None for none."""
    return None if micros is None else iso(micros)


def action_facts(action: Action) -> Facts:
    """Return an action as lists show it; how much of it was seen only where that was noted."""
    seen: Facts = {} if action.seen is None else {"seen": action.seen}
    return {
        "id": action.id,
        "session_id": action.session_id,
        "call_id": action.call_id,
        "kind": action.kind,
        "tool": action.tool,
        "target": action.target,
        "added": action.added,
        "removed": action.removed,
        "digest": action.digest,
        "created_at": moment(action.created_at),
        "expires_at": moment(action.expires_at),
        "state": action.state,
        "supersedes": action.supersedes,
        "warnings": list(action.warnings),
        **seen,
    }


def decision_facts(action: Action) -> Facts | None:
    """Return how an action was decided, None while it waits."""
    if action.state == "pending":
        return None
    return {
        "state": action.state,
        "by": action.decided_by,
        "at": moment(action.decided_at),
        "reason": action.reason,
        "selection": plain(action.selection),
        "edited": sorted(action.edited or ()) or None,
        "choice": action.choice,
        "text": action.text,
        "approved_until": moment(action.approved_until),
        "successor": action.successor,
        "seen": action.seen,
    }


def call_facts(call: Call) -> Facts:
    """Return a call as telemetry: when, who allowed it, tool, parameters, outcome (S4)."""
    return {
        "id": call.id,
        "tool": call.tool,
        "target": call.target,
        "state": call.state,
        "approval_method": call.approval_method,
        "verdict_by": call.verdict_by,
        "rule": call.rule,
        "action_id": call.action_id,
        "parameters": plain(call.parameters),
        "requested_at": moment(call.requested_at),
        "started_at": moment(call.started_at),
        "finished_at": moment(call.finished_at),
        "duration_ms": call.duration_ms,
        "exit_code": call.exit_code,
        "detail": call.detail,
        "summary": call.summary,
        "error": call.error,
        "output_bytes": call.output_bytes,
    }


def session_facts(session: Session, waiting: int = 0) -> Facts:
    """Return a session as lists show it.

    Args:
        session: The row.
        waiting: How many of its actions wait for an answer.
    """
    return {
        "id": session.id,
        "kind": session.kind,
        "title": session.title,
        "status": session.status,
        "reason": session.reason,
        "workspace": session.workspace,
        "provider": session.provider,
        "model": session.model,
        "created_at": moment(session.created_at),
        "updated_at": moment(session.updated_at),
        "usage": usage_facts(session),
        "waiting": waiting,
        "tags": list(session.tags),
        "archived": session.archived,
        "origin": session.origin,
        "origin_status": session.origin_status,
        "parent_id": session.parent_id,
    }


def usage_facts(session: Session) -> Facts:
    """Return the tokens that a session used."""
    usage = session.usage
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }
