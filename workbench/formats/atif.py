"""ATIF, the trajectory format of Harbor: in both directions.

Pure. Owns the mapping of steps. A result without a call's id belongs to the step as a whole.
"""

from collections.abc import Iterator, Sequence

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Call, Session
from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats.fields import content, count, moment, obj, objs, text
from workbench.formats.foreign import Asked, Head, Item, Kept, Problem, Prompt, Reply, Result
from workbench.text.human import iso

VERSION = "ATIF-v1.4"


def is_trajectory(value: Json) -> bool:
    """Tell whether a document is ATIF."""
    return text(obj(value).get("schema_version")).startswith("ATIF-v") and "steps" in obj(value)


def read(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from a trajectory."""
    found = obj(value)
    agent, steps = obj(found.get("agent")), objs(found.get("steps"))
    system = next((content(one.get("message")) for one in steps if one.get("source") == "system"), "")
    facts = {key: agent[key] for key in ("name", "version") if key in agent}
    at = next((moment(one.get("timestamp")) for one in steps if one.get("timestamp")), None)
    yield Head(
        key=text(found.get("session_id")) or name, model=text(agent.get("model_name")), system_prompt=system,
        at=at, facts=facts, title=text(obj(found.get("extra")).get("title")),
        workspace=text(obj(found.get("extra")).get("workspace")),
    )  # fmt: skip
    if not text(found.get("schema_version")).startswith("ATIF-v1."):
        yield Problem(line=1, why=f"{text(found.get('schema_version'))[:40]} is not known; read as ATIF-v1")
    expected = 1
    for number, step in enumerate(steps, 1):
        key = step.get("step_id")
        if isinstance(key, int) and key != expected:
            yield Problem(line=number, why=f"step {key} stands where {expected} follows")
            expected = key
        expected += 1
        yield from _step(step, number)


def _step(step: JsonObject, number: int) -> Iterator[Item]:
    said, at = content(step.get("message")), moment(step.get("timestamp"))
    match text(step.get("source")):
        case "user":
            yield Prompt(text=said, at=at, line=number)
        case "agent":
            yield from _agent(step, said, at, number)
        case "system":
            if number > 1:
                yield Kept(kind="system", content=said, at=at, line=number)
        case source:
            yield Kept(kind=f"step.{source}", content=step, at=at, line=number, is_understood=False)


def _agent(step: JsonObject, said: str, at: int | None, number: int) -> Iterator[Item]:
    metrics = obj(step.get("metrics"))
    calls = tuple(
        Asked(id=text(one.get("tool_call_id")), tool=text(one.get("function_name")),
              arguments=obj(one.get("arguments")))
        for one in objs(step.get("tool_calls"))
    )  # fmt: skip
    yield Reply(
        text=said, thinking=text(step.get("reasoning_content")), calls=calls, at=at, line=number,
        model=text(step.get("model_name")), usage=Usage(
            input_tokens=count(metrics.get("prompt_tokens")),
            output_tokens=count(metrics.get("completion_tokens")),
        ),
    )  # fmt: skip
    open_calls = [call.id for call in calls]
    states = obj(obj(step.get("extra")).get("states"))
    for result in objs(obj(step.get("observation")).get("results")):
        key = text(result.get("source_call_id")) or (open_calls[0] if len(open_calls) == 1 else "")
        words = content(result.get("content"))
        if key in open_calls:
            open_calls.remove(key)
            failed = states.get(key) or obj(result.get("extra")).get("state")
            state = (
                failed
                if failed in ("failed", "rejected", "cancelled", "interrupted", "expired")
                else "succeeded"
            )
            yield Result(call=key, text=words, state=state, at=at, line=number)
        else:
            yield Kept(kind="observation", content=words, at=at, line=number)


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
        steps.append(_line("system", session.system_prompt, session.created_at))
    for event in events:
        match event.body:
            case e.PromptSubmitted(text=words):
                steps.append(_line("user", words, event.at))
            case e.ReplyCompleted() as body if body.text or body.thinking or body.calls:
                steps.append(_written(body, event.at, rows, results))
            case _:
                pass
    if not steps:
        # A trajectory has one step at least.
        steps.append(_line("system", "Nothing was said.", session.created_at))
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


def _line(source: str, said: str, at: int) -> dict[str, Json]:
    return {"timestamp": iso(at), "source": source, "message": said}


def _written(
    body: e.ReplyCompleted, at: int, rows: dict[str, Call], results: dict[str, e.CallFinished]
) -> dict[str, Json]:
    step = _line("agent", body.text, at)
    if body.model:
        step["model_name"] = body.model
    if body.thinking:
        step["reasoning_content"] = body.thinking
    step["metrics"] = {
        "prompt_tokens": body.usage.input_tokens, "completion_tokens": body.usage.output_tokens,
    }  # fmt: skip
    if body.calls:
        step["tool_calls"] = [
            {"tool_call_id": _named(one), "function_name": one.tool,
             "arguments": dict(one.arguments)}
            for one in body.calls
        ]  # fmt: skip
        step["observation"] = {"results": [_observed(one, rows, results) for one in body.calls]}
        # A result has no room for more before v1.7, a step always had.
        step["extra"] = {"states": {_named(one): _state(_last(one, rows)) for one in body.calls}}
    return step


def _named(one: "e.ReplyCall") -> str:
    return one.provider_call_id or one.call_id


def _last(one: "e.ReplyCall", rows: dict[str, Call]) -> Call | None:
    """Return a call, or the one that stands for it in the end."""
    call = rows.get(one.call_id)
    while call is not None and call.replaced_by is not None and call.replaced_by in rows:
        call = rows[call.replaced_by]
    return call


def _state(call: Call | None) -> str:
    return call.state if call else "pending"


def _observed(one: "e.ReplyCall", rows: dict[str, Call], results: dict[str, e.CallFinished]) -> JsonObject:
    call = _last(one, rows)
    finished = results.get(call.id) if call else None
    said = (finished.preview or finished.error or finished.summary) if finished else ""
    why = call.error or call.detail if call else ""
    return {"source_call_id": _named(one), "content": said or why or _state(call)}
