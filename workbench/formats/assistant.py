"""S4's view of a session: an immutable system prompt, alternating turns, records, pending approvals.

Owns the projection to Assistant Session, ConversationTurn, ToolInvocationRecord and PendingAction.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.domain.events import Event, PromptSubmitted, ReplyCompleted
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Json, JsonObject
from workbench.formats.words import RECORD_STATUS
from workbench.text.human import iso


def session(row: Session, events: Sequence[Event], actions: Sequence[Action]) -> JsonObject:
    """Return a session as S4 Assistant Session."""
    return {
        "id": row.id,
        "provider": row.provider,
        "systemPrompt": row.system_prompt,
        "messages": list(turns(row, events)),
        "activeTools": list(row.active_tools),
        "pendingApprovals": [pending_action(a) for a in actions if a.state == "pending" and a.tool],
        "telemetryId": row.telemetry_id,
    }


def turns(row: Session, events: Sequence[Event]) -> Iterator[JsonObject]:
    """Yield the conversation as alternating turns: system first, then user and assistant in turn.

    What one side said without the other answering in between is one turn. Tool results are no turns.
    """
    yield {"role": "system", "content": row.system_prompt, "timestamp": iso(row.created_at)}
    said: dict[str, Json] | None = None
    for made in _said(row, events):
        if said is not None and said["role"] == made["role"]:
            said = {**made, "content": f"{said['content']}\n\n{made['content']}"}
            continue
        if said is not None:
            yield said
        said = made
    if said is not None:
        yield said


def _said(row: Session, events: Sequence[Event]) -> Iterator[dict[str, Json]]:
    for event in events:
        match event.body:
            case PromptSubmitted(text=text):
                yield {"role": "user", "content": text, "timestamp": iso(event.at)}
            case ReplyCompleted() as body if body.text:
                usage = {"inputTokens": body.usage.input_tokens, "outputTokens": body.usage.output_tokens}
                meta = {**usage, "provider": row.provider, "round": body.round}
                yield {
                    "role": "assistant",
                    "content": body.text,
                    "timestamp": iso(event.at),
                    "metadata": meta,
                }
            case _:
                pass


def order_problems(roles: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each turn, from 1 on, that breaks the order of roles that S4 asks for, with what is wrong."""
    if not roles or roles[0] != "system":
        yield 1, "the first turn is no system turn"
    for number, (earlier, later) in enumerate(pairwise(roles), 2):
        if later not in ("user", "assistant"):
            yield number, f"turn {number} is by {later[:40] or 'nobody'}"
        elif later == earlier:
            yield number, f"turns {number - 1} and {number} are both by {later}"


def record(call: Call) -> JsonObject:
    """Return a call as S4 ToolInvocationRecord; parameters are the recorded, scrubbed ones."""
    status = RECORD_STATUS[call.state]
    made: dict[str, Json] = {
        "id": call.id, "sessionId": call.session_id, "toolId": call.tool, "status": status,
        "parameters": dict(call.parameters), "startedAt": iso(call.requested_at),
    }  # fmt: skip
    if status != "pending":
        made["resultSummary"] = call.summary or call.error or call.detail or call.state
        made["finishedAt"] = iso(max(call.requested_at, call.finished_at or call.requested_at))
    return made


def pending_action(action: Action) -> JsonObject:
    """Return an action as S4 PendingAction."""
    return {
        "id": action.id, "sessionId": action.session_id, "toolId": action.tool,
        "diffPreview": f"{action.target} +{action.added} -{action.removed}" if action.files else None,
        "createdAt": iso(action.created_at),
        "expiresAt": None if action.expires_at is None else iso(action.expires_at),
    }  # fmt: skip
