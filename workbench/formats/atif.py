"""ATIF, the trajectory format of Harbor: reader and writer."""

from collections.abc import Iterator, Sequence

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Call, Session
from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records as r
from workbench.text.human import iso_time

VERSION = "ATIF-v1.4"


def is_trajectory(value: Json) -> bool:
    return r.text_of(r.as_object(value), "schema_version").startswith("ATIF-v") and "steps" in r.as_object(
        value
    )


def read(value: Json, name: str) -> Iterator[r.Record]:
    document = r.as_object(value)
    agent, steps = r.object_of(document, "agent"), r.objects_of(document, "steps")
    system = next((r.content_of(step, "message") for step in steps if step.get("source") == "system"), "")
    facts = {key: agent[key] for key in ("name", "version") if key in agent}
    start = next((r.time_of(step, "timestamp") for step in steps if step.get("timestamp")), None)
    yield r.SessionHead(
        key=r.text_of(document, "session_id") or name, model=r.text_of(agent, "model_name"),
        system_prompt=system,
        at=start, facts=facts, title=r.text_of(r.object_of(document, "extra"), "title"),
        workspace=r.text_of(r.object_of(document, "extra"), "workspace"),
    )  # fmt: skip
    if not r.text_of(document, "schema_version").startswith("ATIF-v1."):
        yield r.FileProblem(
            line=1, why=f"{r.text_of(document, 'schema_version')[:40]} is not known; read as ATIF-v1"
        )
    expected = 1
    for number, step in enumerate(steps, 1):
        key = step.get("step_id")
        if isinstance(key, int) and key != expected:
            yield r.FileProblem(line=number, why=f"step {key} stands where {expected} follows")
            expected = key
        expected += 1
        yield from _read_step(step, number)


def _read_step(step: JsonObject, number: int) -> Iterator[r.Record]:
    said, time_us = r.content_of(step, "message"), r.time_of(step, "timestamp")
    match r.text_of(step, "source"):
        case "user":
            yield r.Prompt(text=said, at=time_us, line=number)
        case "agent":
            yield from _read_agent_step(step, said, time_us, number)
        case "system":
            if number > 1:
                yield r.UnmappedRecord(kind="system", content=said, at=time_us, line=number)
        case source:
            yield r.UnmappedRecord(
                kind=f"step.{source}", content=step, at=time_us, line=number, is_understood=False
            )


def _read_agent_step(step: JsonObject, said: str, time_us: int | None, number: int) -> Iterator[r.Record]:
    metrics = r.object_of(step, "metrics")
    calls = tuple(
        r.ToolCall(id=r.text_of(fields, "tool_call_id"), tool=r.text_of(fields, "function_name"),
              arguments=r.object_of(fields, "arguments"))
        for fields in r.objects_of(step, "tool_calls")
    )  # fmt: skip
    yield r.Reply(
        text=said, thinking=r.text_of(step, "reasoning_content"), calls=calls, at=time_us, line=number,
        model=r.text_of(step, "model_name"), usage=Usage(
            input_tokens=r.count_of(metrics, "prompt_tokens"),
            output_tokens=r.count_of(metrics, "completion_tokens"),
            cache_read_tokens=min(
                r.count_of(metrics, "prompt_tokens"), r.count_of(metrics, "cached_tokens")
            ),
            cost_microdollars=r.as_cost(metrics.get("cost_usd")),
        ),
    )  # fmt: skip
    open_calls = [call.id for call in calls]
    states = r.object_of(r.object_of(step, "extra"), "states")
    for result in r.objects_of(r.object_of(step, "observation"), "results"):
        key = r.text_of(result, "source_call_id") or (open_calls[0] if len(open_calls) == 1 else "")
        words = r.content_of(result, "content")
        if key in open_calls:
            open_calls.remove(key)
            failed = states.get(key) or r.object_of(result, "extra").get("state")
            state = (
                failed
                if failed in ("failed", "rejected", "cancelled", "interrupted", "expired")
                else "succeeded"
            )
            yield r.CallResult(call=key, text=words, state=state, at=time_us, line=number)
        else:
            yield r.UnmappedRecord(kind="observation", content=words, at=time_us, line=number)


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
        "final_metrics": {**_written_metrics(session.usage, "total_"), "total_steps": len(numbered)},
        "extra": {"title": session.title, "workspace": session.workspace, "status": session.status},
    }  # fmt: skip


def _written_step(source: str, said: str, time_us: int) -> dict[str, Json]:
    return {"timestamp": iso_time(time_us), "source": source, "message": said}


def _written_event(
    body: e.ReplyCompleted, time_us: int, rows: dict[str, Call], results: dict[str, e.CallFinished]
) -> dict[str, Json]:
    step = _written_step("agent", body.text, time_us)
    if body.model:
        step["model_name"] = body.model
    if body.thinking:
        step["reasoning_content"] = body.thinking
    step["metrics"] = _written_metrics(body.usage, "")
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


def _written_metrics(usage: Usage, prefix: str) -> dict[str, Json]:
    metrics: dict[str, Json] = {
        f"{prefix}prompt_tokens": usage.input_tokens, f"{prefix}completion_tokens": usage.output_tokens,
    }  # fmt: skip
    if usage.cache_read_tokens:
        metrics[f"{prefix}cached_tokens"] = usage.cache_read_tokens
    if usage.cost_microdollars:
        metrics[f"{prefix}cost_usd"] = usage.cost_microdollars / 1_000_000
    return metrics


def _written_call(call: "e.ReplyCall") -> str:
    return call.provider_call_id or call.call_id


def _replacing_call(reply_call: "e.ReplyCall", rows: dict[str, Call]) -> Call | None:
    """Return a call, or the one that stands for it in the end."""
    call = rows.get(reply_call.call_id)
    while call is not None and call.replaced_by is not None and call.replaced_by in rows:
        call = rows[call.replaced_by]
    return call


def _call_state(call: Call | None) -> str:
    return call.state if call else "pending"


def _written_observation(
    reply_call: "e.ReplyCall", rows: dict[str, Call], results: dict[str, e.CallFinished]
) -> JsonObject:
    call = _replacing_call(reply_call, rows)
    finished = results.get(call.id) if call else None
    said = (finished.preview or finished.error or finished.summary) if finished else ""
    why = call.error or call.detail if call else ""
    return {"source_call_id": _written_call(reply_call), "content": said or why or _call_state(call)}
