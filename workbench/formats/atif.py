"""ATIF, the trajectory format of Harbor: reader and writer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Call, Session
from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import patches
from workbench.formats import records as r
from workbench.formats.usage_records import join_usage_before
from workbench.text.human import iso_time

VERSION = "ATIF-v1.4"


def is_trajectory(value: Json) -> bool:
    return j.text_of(j.as_object(value), "schema_version").startswith("ATIF-v") and "steps" in j.as_object(
        value
    )


def read(value: Json, name: str) -> Iterator[r.Record]:
    yield from join_usage_before(_read(value, name))


def _read(value: Json, name: str) -> Iterator[r.Record]:
    document = j.as_object(value)
    agent, steps = j.object_of(document, "agent"), j.objects_of(document, "steps")
    system = next((j.content_of(step, "message") for step in steps if step.get("source") == "system"), "")
    facts = {key: agent[key] for key in ("name", "version") if key in agent}
    start = next((j.time_of(step, "timestamp") for step in steps if step.get("timestamp")), None)
    yield r.SessionHead(
        key=j.text_of(document, "session_id") or name, model=j.text_of(agent, "model_name"),
        system_prompt=system,
        at=start, facts=facts, title=j.text_of(document, "extra", "title"),
        workspace=j.text_of(document, "extra", "workspace"),
    )  # fmt: skip
    if not j.text_of(document, "schema_version").startswith("ATIF-v1."):
        yield r.file_problem(1, f"{j.text_of(document, 'schema_version')[:40]} is not known; read as ATIF-v1")
    expected = 1
    for number, step in enumerate(steps, 1):
        key = step.get("step_id")
        if isinstance(key, int) and key != expected:
            yield r.file_problem(number, f"step {key} stands where {expected} follows")
            expected = key
        expected += 1
        yield from _read_step(step, number)
    usages = [_usage(j.object_of(step, "metrics")) for step in steps]
    if (rest := _total_usage(j.object_of(document, "final_metrics")).beyond(_sum(usages))) != Usage():
        yield r.UsageRecord(usage=rest)


def _usage(metrics: JsonObject) -> Usage:
    """Return the tokens of a step; what was cached is part of the prompt."""
    sent, extra = j.count_of(metrics, "prompt_tokens"), j.object_of(metrics, "extra")
    written = j.count_of(extra, "cache_write_tokens") or j.count_of(extra, "cache_creation_input_tokens")
    return Usage(
        input_tokens=sent, output_tokens=j.count_of(metrics, "completion_tokens"),
        cache_read_tokens=min(sent, j.count_of(metrics, "cached_tokens")),
        cache_write_tokens=min(sent, written), cost_microdollars=j.as_cost(metrics.get("cost_usd")),
    )  # fmt: skip


def _total_usage(metrics: JsonObject) -> Usage:
    return _usage({name.removeprefix("total_"): value for name, value in metrics.items()})


def _sum(usages: Iterable[Usage]) -> Usage:
    total = Usage()
    for usage in usages:
        total = total.plus(usage)
    return total


def _read_step(step: JsonObject, number: int) -> Iterator[r.Record]:
    text, time_us = j.content_of(step, "message"), j.time_of(step, "timestamp")
    match j.text_of(step, "source"):
        case "user":
            yield r.Prompt(text, time_us, number)
        case "agent":
            yield from _read_agent_step(step, text, time_us, number)
        case "system":
            if number > 1:
                yield r.UnmappedRecord("system", text, time_us, number)
        case source:
            yield r.UnmappedRecord(f"step.{source}", step, time_us, number, is_understood=False)


def _read_agent_step(step: JsonObject, text: str, time_us: int | None, number: int) -> Iterator[r.Record]:
    calls = tuple(
        r.ToolCall(
            j.text_of(call, "tool_call_id"), j.text_of(call, "function_name"), j.object_of(call, "arguments")
        )
        for call in j.objects_of(step, "tool_calls")
    )
    yield r.Reply(
        text=text, thinking=j.text_of(step, "reasoning_content"), calls=calls, at=time_us, line=number,
        model=j.text_of(step, "model_name"), usage=_usage(j.object_of(step, "metrics")),
    )  # fmt: skip
    answers = j.object_of(step, "extra", "asked")
    for call in calls:
        if answer := j.text_of(answers, call.id):
            yield r.CallQuestion(call=call.id, at=time_us)
            if answer == "approved":
                yield r.CallDecision(call=call.id, is_approved=True, at=time_us)
    open_calls = [call.id for call in calls]
    states = j.object_of(step, "extra", "states")
    for result in j.objects_of(step, "observation", "results"):
        key = j.text_of(result, "source_call_id") or (open_calls[0] if len(open_calls) == 1 else "")
        words = j.content_of(result, "content")
        if key in open_calls:
            open_calls.remove(key)
            failed = states.get(key) or j.object_of(result, "extra").get("state")
            state = (
                failed
                if failed in ("failed", "rejected", "cancelled", "interrupted", "expired")
                else "succeeded"
            )
            changes = _changes_of_step(step, key, next(call for call in calls if call.id == key))
            yield r.CallResult(call=key, text=words, state=state, at=time_us, line=number, changes=changes)
        else:
            yield r.UnmappedRecord("observation", words, time_us, number)


_CHANGES: Final = ("create", "modify", "delete")


def _changes_of_step(step: JsonObject, key: str, call: r.ToolCall) -> tuple[r.FileEdit, ...]:
    """Return the files that a step of ours says a call changed, in the call's words where it has some."""
    files = j.objects_of(step, "extra", "changed", key)
    changes = tuple(
        r.FileEdit(path=j.text_of(file, "path"), change=kind)
        for file in files
        for kind in _CHANGES
        if kind == file.get("change")
    )
    call_edits = patches.edits_of_call(call) if changes else ()
    return call_edits if {edit.path for edit in call_edits} == {edit.path for edit in changes} else changes


def write(session: Session, events: Sequence[Event], calls: Sequence[Call]) -> JsonObject:
    """Return a session of ours as a trajectory; texts are the recorded, scrubbed ones."""
    told_calls = _CallFacts(rows={call.id: call for call in calls})
    for event in events:
        told_calls.note(event)
    steps: list[dict[str, Json]] = []
    if session.system_prompt:
        steps.append(_written_step("system", session.system_prompt, session.created_at))
    for event in events:
        match event.body:
            case e.PromptSubmitted(text=text):
                steps.append(_written_step("user", text, event.at))
            case e.ReplyCompleted() as body if body.text or body.thinking or body.calls:
                steps.append(_written_event(body, event.at, told_calls))
            case e.ReplyCompleted(usage=usage) if usage != Usage():
                # What is only counted belongs to what was said before, or is a step that says nothing.
                if not steps or steps[-1]["source"] != "agent":
                    steps.append(_written_step("agent", "", event.at))
                steps[-1]["metrics"] = _metrics(_usage(j.object_of(steps[-1], "metrics")).plus(usage))
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
            **{f"total_{name}": count for name, count in _metrics(session.usage).items() if name != "extra"},
            "total_steps": len(numbered),
        },
        "extra": {"title": session.title, "workspace": session.workspace, "status": session.status},
    }  # fmt: skip


def _written_step(source: str, text: str, time_us: int) -> dict[str, Json]:
    return {"timestamp": iso_time(time_us), "source": source, "message": text}


def _metrics(usage: Usage) -> dict[str, Json]:
    metrics: dict[str, Json] = {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens}
    if usage.cache_read_tokens:
        metrics["cached_tokens"] = usage.cache_read_tokens
    if usage.cost_microdollars:
        metrics["cost_usd"] = usage.cost_microdollars / 1_000_000
    if usage.cache_write_tokens:
        metrics["extra"] = {"cache_write_tokens": usage.cache_write_tokens}
    return metrics


class _CallFacts(Struct):
    """What the events tell of calls, by their ids."""

    rows: dict[str, Call]
    results: dict[str, e.CallFinished] = field(default_factory=dict[str, e.CallFinished])
    changed: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    asked: dict[str, str] = field(default_factory=dict[str, str])

    def note(self, event: Event) -> None:
        if not (call := event.call_id):
            return
        body = event.body
        if isinstance(body, e.CallFinished):
            self.results[call] = body
        elif isinstance(body, e.FileChanged):
            self.changed.setdefault(call, []).append({"path": body.path, "change": body.change})
        elif isinstance(body, e.ActionOpened):
            self.asked[call] = "asked"
        elif isinstance(body, e.ActionApproved | e.ActionRejected):
            self.asked[call] = "approved" if isinstance(body, e.ActionApproved) else "rejected"


def _written_event(body: e.ReplyCompleted, time_us: int, told_calls: _CallFacts) -> dict[str, Json]:
    step = _written_step("agent", body.text, time_us)
    if body.model:
        step["model_name"] = body.model
    if body.thinking:
        step["reasoning_content"] = body.thinking
    step["metrics"] = _metrics(body.usage)
    if body.calls:
        step["tool_calls"] = [
            {"tool_call_id": _written_call(call), "function_name": call.tool,
             "arguments": dict(call.arguments)}
            for call in body.calls
        ]  # fmt: skip
        step["observation"] = {"results": [_written_observation(call, told_calls) for call in body.calls]}
        step["extra"] = _written_extra(body, told_calls)
    return step


def _written_extra(body: e.ReplyCompleted, told_calls: _CallFacts) -> JsonObject:
    """Return how calls ended, who was asked about them, and the files that they changed."""
    # A result has no room for more before v1.7, a step always had.
    extra: dict[str, Json] = {}
    for name, values in (("states", None), ("asked", told_calls.asked), ("changed", told_calls.changed)):
        about: dict[str, Json] = {}
        for reply_call in body.calls:
            call = _replacing_call(reply_call, told_calls.rows)
            value: Json = _call_state(call) if values is None else values.get(call.id) if call else None
            if value:
                about[_written_call(reply_call)] = value
        if about:
            extra[name] = about
    return extra


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


def _written_observation(reply_call: "e.ReplyCall", told_calls: _CallFacts) -> JsonObject:
    call = _replacing_call(reply_call, told_calls.rows)
    finished = told_calls.results.get(call.id) if call else None
    text = (finished.preview or finished.error or finished.summary) if finished else ""
    why = call.error or call.detail if call else ""
    return {"source_call_id": _written_call(reply_call), "content": text or why or _call_state(call)}
