"""ATIF, the trajectory format of Harbor: reader and writer."""

from collections.abc import Iterator, Sequence

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Call, Session
from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats.records import (
    CallResult,
    FileProblem,
    Prompt,
    Record,
    Reply,
    SessionHead,
    ToolCall,
    UnmappedRecord,
    as_count,
    as_object,
    as_objects,
    as_text,
    as_time,
    content_text,
)
from workbench.text.human import iso_time

VERSION = "ATIF-v1.4"


def is_trajectory(value: Json) -> bool:
    return as_text(as_object(value).get("schema_version")).startswith("ATIF-v") and "steps" in as_object(
        value
    )


def read(value: Json, name: str) -> Iterator[Record]:
    document = as_object(value)
    agent, steps = as_object(document.get("agent")), as_objects(document.get("steps"))
    system = next((content_text(one.get("message")) for one in steps if one.get("source") == "system"), "")
    facts = {key: agent[key] for key in ("name", "version") if key in agent}
    at = next((as_time(one.get("timestamp")) for one in steps if one.get("timestamp")), None)
    yield SessionHead(
        key=as_text(document.get("session_id")) or name, model=as_text(agent.get("model_name")),
        system_prompt=system,
        at=at, facts=facts, title=as_text(as_object(document.get("extra")).get("title")),
        workspace=as_text(as_object(document.get("extra")).get("workspace")),
    )  # fmt: skip
    if not as_text(document.get("schema_version")).startswith("ATIF-v1."):
        yield FileProblem(
            line=1, why=f"{as_text(document.get('schema_version'))[:40]} is not known; read as ATIF-v1"
        )
    expected = 1
    for number, step in enumerate(steps, 1):
        key = step.get("step_id")
        if isinstance(key, int) and key != expected:
            yield FileProblem(line=number, why=f"step {key} stands where {expected} follows")
            expected = key
        expected += 1
        yield from _read_step(step, number)


def _read_step(step: JsonObject, number: int) -> Iterator[Record]:
    said, at = content_text(step.get("message")), as_time(step.get("timestamp"))
    match as_text(step.get("source")):
        case "user":
            yield Prompt(text=said, at=at, line=number)
        case "agent":
            yield from _read_agent_step(step, said, at, number)
        case "system":
            if number > 1:
                yield UnmappedRecord(kind="system", content=said, at=at, line=number)
        case source:
            yield UnmappedRecord(kind=f"step.{source}", content=step, at=at, line=number, is_understood=False)


def _read_agent_step(step: JsonObject, said: str, at: int | None, number: int) -> Iterator[Record]:
    metrics = as_object(step.get("metrics"))
    calls = tuple(
        ToolCall(id=as_text(one.get("tool_call_id")), tool=as_text(one.get("function_name")),
              arguments=as_object(one.get("arguments")))
        for one in as_objects(step.get("tool_calls"))
    )  # fmt: skip
    yield Reply(
        text=said, thinking=as_text(step.get("reasoning_content")), calls=calls, at=at, line=number,
        model=as_text(step.get("model_name")), usage=Usage(
            input_tokens=as_count(metrics.get("prompt_tokens")),
            output_tokens=as_count(metrics.get("completion_tokens")),
        ),
    )  # fmt: skip
    open_calls = [call.id for call in calls]
    states = as_object(as_object(step.get("extra")).get("states"))
    for result in as_objects(as_object(step.get("observation")).get("results")):
        key = as_text(result.get("source_call_id")) or (open_calls[0] if len(open_calls) == 1 else "")
        words = content_text(result.get("content"))
        if key in open_calls:
            open_calls.remove(key)
            failed = states.get(key) or as_object(result.get("extra")).get("state")
            state = (
                failed
                if failed in ("failed", "rejected", "cancelled", "interrupted", "expired")
                else "succeeded"
            )
            yield CallResult(call=key, text=words, state=state, at=at, line=number)
        else:
            yield UnmappedRecord(kind="observation", content=words, at=at, line=number)


def write(session: Session, events: Sequence[Event], calls: Sequence[Call]) -> JsonObject:
    """Return a session of ours as a trajectory; texts are the recorded, scrubbed ones."""
    rows = {call.id: call for call in calls}
    results = {
        event.call_id: event.body
        for event in events
        if isinstance(event.body, e.CallFinished) and event.call_id
    }
    steps: list[dict[str, Json]] = []
    if session.system_prompt:
        steps.append(_written_step("system", session.system_prompt, session.created_at))
    for event in events:
        match event.body:
            case e.PromptSubmitted(text=words):
                steps.append(_written_step("user", words, event.at))
            case e.ReplyCompleted() as body if body.text or body.thinking or body.calls:
                steps.append(_written_event(body, event.at, rows, results))
            case _:
                pass
    if not steps:
        # A trajectory has one step at least.
        steps.append(_written_step("system", "Nothing was said.", session.created_at))
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    return {
        "schema_version": VERSION, "session_id": session.id,
        "agent": {"name": session.origin or "workbench", "version": "1", "model_name": session.model or None},
        "steps": numbered,
        "final_metrics": {
            "total_prompt_tokens": session.usage.input_tokens,
            "total_completion_tokens": session.usage.output_tokens, "total_steps": len(numbered),
        },
        "extra": {"title": session.title, "workspace": session.workspace, "status": session.status},
    }  # fmt: skip


def _written_step(source: str, said: str, at: int) -> dict[str, Json]:
    return {"timestamp": iso_time(at), "source": source, "message": said}


def _written_event(
    body: e.ReplyCompleted, at: int, rows: dict[str, Call], results: dict[str, e.CallFinished]
) -> dict[str, Json]:
    step = _written_step("agent", body.text, at)
    if body.model:
        step["model_name"] = body.model
    if body.thinking:
        step["reasoning_content"] = body.thinking
    step["metrics"] = {
        "prompt_tokens": body.usage.input_tokens, "completion_tokens": body.usage.output_tokens,
    }  # fmt: skip
    if body.calls:
        step["tool_calls"] = [
            {"tool_call_id": _written_call(call), "function_name": call.tool,
             "arguments": dict(call.arguments)}
            for call in body.calls
        ]  # fmt: skip
        step["observation"] = {"results": [_written_observation(call, rows, results) for call in body.calls]}
        # A result has no room for more before v1.7, a step always had.
        step["extra"] = {
            "states": {_written_call(call): _call_state(_replacing_call(call, rows)) for call in body.calls}
        }
    return step


def _written_call(one: "e.ReplyCall") -> str:
    return one.provider_call_id or one.call_id


def _replacing_call(one: "e.ReplyCall", rows: dict[str, Call]) -> Call | None:
    """Return a call, or the one that stands for it in the end."""
    call = rows.get(one.call_id)
    while call is not None and call.replaced_by is not None and call.replaced_by in rows:
        call = rows[call.replaced_by]
    return call


def _call_state(call: Call | None) -> str:
    return call.state if call else "pending"


def _written_observation(
    one: "e.ReplyCall", rows: dict[str, Call], results: dict[str, e.CallFinished]
) -> JsonObject:
    call = _replacing_call(one, rows)
    finished = results.get(call.id) if call else None
    said = (finished.preview or finished.error or finished.summary) if finished else ""
    why = call.error or call.detail if call else ""
    return {"source_call_id": _written_call(one), "content": said or why or _call_state(call)}
