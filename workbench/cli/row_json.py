"""Rows of actions, calls and sessions as JSON objects."""

from collections.abc import Mapping

from msgspec import Struct

from workbench.domain.codec import to_json_value
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Json
from workbench.text import human

JsonFields = dict[str, Json]


def iso_time(micros: int | None) -> str | None:
    return None if micros is None else human.iso_time(micros)


def row_fields(row: Struct, names: str) -> JsonFields:
    """Return members of a row by their names; times as ISO 8601, everything else as JSON."""
    values = ((name, getattr(row, name)) for name in names.split())
    return {name: iso_time(value) if name.endswith("_at") else to_json_value(value) for name, value in values}


def action_json(action: Action) -> JsonFields:
    """Return an action as lists show it; how much was seen and where it runs only where noted."""
    names = (
        "session_id call_id kind tool target added removed digest created_at expires_at state supersedes"
        " warnings"
    )
    seen: JsonFields = {} if action.seen is None else {"seen": action.seen}
    place = {} if action.place is None else row_fields(action, "place level")
    return {"id": action.id, **row_fields(action, names), **seen, **place}


def decision_json(action: Action) -> JsonFields | None:
    """Return how an action was decided, None while it waits."""
    if action.state == "pending":
        return None
    return {
        "state": action.state,
        "by": action.decided_by,
        "at": iso_time(action.decided_at),
        **row_fields(action, "reason selection"),
        "edited": sorted(action.edited or ()) or None,
        **row_fields(action, "choice text"),
        "approved_until": iso_time(action.approved_until),
        **row_fields(action, "successor seen"),
    }


def call_json(call: Call, models_by_call: Mapping[str, tuple[str, str]] | None = None) -> JsonFields:
    """Return a call as telemetry: when, who allowed it, tool, parameters, outcome (S4).

    With `models_by_call` (`domain.messages.asked_models`) it tells which provider and model asked for it.
    """
    fields = row_fields(
        call,
        "id tool target state approval_method verdict_by rule action_id parameters requested_at started_at"
        " finished_at duration_ms exit_code detail summary error output_bytes",
    )
    fields |= {} if call.place is None else row_fields(call, "place refusals")
    provider, model = (models_by_call or {}).get(call.id, ("", ""))
    return {**fields, "provider": provider, "model": model} if models_by_call is not None else fields


def session_json(session: Session, waiting: int = 0) -> JsonFields:
    """Return a session as lists show it."""
    return {
        **row_fields(session, "id kind title status reason workspace provider model created_at updated_at"),
        "usage": usage_json(session),
        "waiting": waiting,
        **row_fields(session, "tags archived origin origin_status parent_id"),
    }


def usage_json(session: Session) -> JsonFields:
    """Return the tokens that a session used."""
    return row_fields(session.usage, "input_tokens output_tokens total_tokens")
