"""SWE-agent trajectories, and those of mini-swe-agent in their three shapes.

Pure. Owns which of the two records of a run is read (the history where it is there) and how a command without
a call's id is told from its answer: by order. Neither has times.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import content, count, first, moment, names, obj, objs, text, whole
from workbench.formats.foreign import Asked, Closed, Head, Item, Kept, Prompt, Reply, Result
from workbench.formats.patches import git_files
from workbench.formats.swe_edits import Desk, here_documents

_BLOCK: Final = re.compile(r"```(?:mswea_bash_command|bash|sh)\s*\n(.*?)\n?```", re.DOTALL)
_ANSWER: Final = re.compile(
    r"<returncode>(-?\d{1,9})</returncode>\s*(?:<output>\n?)?(.*?)(?:</output>)?\s*\Z", re.DOTALL
)


def is_swe_agent(value: Json) -> bool:
    """Tell whether a document is a trajectory of SWE-agent."""
    found = obj(value)
    if "trajectory_format" in found or "mini_version" in obj(found.get("info")):
        return False
    steps, history = objs(found.get("trajectory")), objs(found.get("history"))
    is_step = bool(steps) and "action" in steps[0] and "observation" in steps[0]
    return is_step or (bool(history) and "role" in history[0])


def is_mini(value: Json) -> bool:
    """Tell whether a document is a trajectory of mini-swe-agent; the oldest are bare lists of messages."""
    found = obj(value)
    if text(found.get("trajectory_format")).startswith("mini-swe-agent") or (
        "messages" in found and "mini_version" in obj(found.get("info"))
    ):
        return True
    rows = objs(value)
    is_bare = len(rows) > 1 and all({"role", "content"} <= row.keys() for row in rows[:5])
    return is_bare and text(rows[0].get("role")) in ("system", "user")


def read(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from a trajectory of SWE-agent."""
    found = obj(value)
    info = obj(found.get("info"))
    history = [row for row in objs(found.get("history")) if row.get("is_demo") is not True]
    prompt = next((content(row.get("content")) for row in history if row.get("role") == "system"), "")
    facts = {key: found[key] for key in ("environment",) if isinstance(found.get(key), str)}
    yield Head(
        key=_key(found, name), system_prompt=prompt, facts=facts,
        status=text(info.get("exit_status")) or None,
        model=text(obj(found.get("replay_config")).get("model")),
    )  # fmt: skip
    if history:
        yield from _history(history)
    else:
        yield from _steps(objs(found.get("trajectory")))
    yield from _ending(info)


def _key(found: JsonObject, name: str) -> str:
    """Return the id of a run: trajectories have none, so what is in them names them."""
    import hashlib

    given = first(found, "instance_id") or first(obj(found.get("info")), "instance_id", "run_id")
    if given:
        return given
    del name
    data = orjson.dumps(found, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    return hashlib.sha256(data).hexdigest()


def _history(history: Sequence[JsonObject]) -> Iterator[Item]:
    waiting: dict[str, Asked] = {}
    desk = Desk()
    for number, row in enumerate(history, 1):
        said = content(row.get("content"))
        match text(row.get("role")):
            case "system":
                continue
            case "assistant":
                calls = _calls(row, number)
                waiting = {call.id: call for call in calls}
                thought = text(row.get("thought")) or content(row.get("thinking_blocks"))
                thinking = "" if thought == said else thought
                yield Reply(text=said, thinking=thinking, calls=calls, line=number)
            case "tool" | "user" if waiting:
                named = next(names(row.get("tool_call_ids")), "")
                asked = waiting.pop(named if named in waiting else next(iter(waiting)))
                yield _ended(desk, asked, Result(call=asked.id, text=said, line=number))
            case "user" | "tool":
                yield Prompt(text=said, line=number)
            case role:
                yield Kept(kind=f"history.{role}", content=row, line=number, is_understood=False)


def _ended(desk: Desk, asked: Asked, result: Result) -> Result:
    """Return a result with what its command changed, or as failed where an edit was refused."""
    changes, has_failed = desk.edited(asked, result.text)
    if has_failed:
        return replace(result, state="failed", error=result.text[:2_000])
    return replace(result, changes=changes if result.state == "succeeded" else ())


def _calls(row: JsonObject, number: int) -> tuple[Asked, ...]:
    given = objs(row.get("tool_calls"))
    if given:
        return tuple(call_of(one, f"call-{number}.{at}") for at, one in enumerate(given))
    action = text(row.get("action")).strip()
    return (Asked(id=f"call-{number}", tool="bash", arguments={"command": action}),) if action else ()


def call_of(one: JsonObject, default: str) -> Asked:
    """Return a tool call as OpenAI's interface writes it."""
    function = obj(one.get("function")) or one
    given = function.get("arguments")
    if isinstance(given, str):
        try:
            parsed: Json = orjson.loads(given)
        except ValueError:
            parsed = {"input": given}
        given = dict(obj(parsed)) or {"input": given}
    tool = text(function.get("name")) or text(one.get("function"))
    return Asked(id=text(one.get("id")) or default, tool=tool, arguments=obj(given))


def _steps(steps: Sequence[JsonObject]) -> Iterator[Item]:
    desk = Desk()
    for number, step in enumerate(steps, 1):
        for message in objs(step.get("query") or step.get("messages")) if number == 1 else ():
            if message.get("role") == "user" and message.get("is_demo") is not True:
                yield Prompt(text=content(message.get("content")), line=number)
        action, thought = text(step.get("action")).strip(), text(step.get("thought"))
        said = thought or text(step.get("response"))
        key = f"step-{number}"
        asked = Asked(id=key, tool="bash", arguments={"command": action})
        yield Reply(text=said, calls=(asked,) if action else (), line=number)
        if action:
            seconds = step.get("execution_time")
            took = int(seconds * 1000) if isinstance(seconds, int | float) else None
            result = Result(call=key, text=text(step.get("observation")), duration_ms=took, line=number)
            yield _ended(desk, asked, result)


def _ending(info: JsonObject) -> Iterator[Item]:
    stats = obj(info.get("model_stats"))
    used = Usage(
        input_tokens=count(stats.get("tokens_sent")), output_tokens=count(stats.get("tokens_received"))
    )
    if used.total_tokens:
        yield foreign.Spent(usage=used)
    if patch := text(info.get("submission")):
        changes = git_files(patch)
        yield Reply(calls=(Asked(id="submission", tool="submit", arguments={"path": "submission"}),))
        yield Result(call="submission", text=patch, changes=changes)
    status = text(info.get("exit_status"))
    if status and status.lower() not in ("submitted", "submit"):
        yield foreign.Stopped(
            outcome="limit" if "cost" in status or "Limit" in status else "error", detail=status
        )
    yield Closed(is_failed=status in ("exit_error", "exit_forfeit"))


def read_mini(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from a trajectory of mini-swe-agent."""
    found = obj(value)
    info = obj(found.get("info"))
    messages = objs(found.get("messages")) or objs(value)
    prompt = next((content(row.get("content")) for row in messages if row.get("role") == "system"), "")
    model = obj(obj(info.get("config")).get("model"))
    yield Head(
        key=_key(found or {"messages": list(messages)}, name), system_prompt=prompt,
        model=first(model, "model_name", "model"), status=text(info.get("exit_status")) or None,
        at=_at(messages[0]) if messages else None,
    )  # fmt: skip
    waiting: dict[str, Asked] = {}
    for number, row in enumerate(messages, 1):
        yield from _mini_row(row, number, waiting)
    yield from _ending(info)


def _at(row: JsonObject) -> int | None:
    return moment(obj(row.get("extra")).get("timestamp") or row.get("timestamp"))


def _mini_row(row: JsonObject, number: int, waiting: dict[str, Asked]) -> Iterator[Item]:
    said, at, role = content(row.get("content")), _at(row), text(row.get("role"))
    if role == "assistant":
        calls = tuple(call_of(one, f"call-{number}.{n}") for n, one in enumerate(objs(row.get("tool_calls"))))
        if not calls and (block := _BLOCK.search(said)):
            calls = (Asked(id=f"call-{number}", tool="bash", arguments={"command": block[1]}),)
        waiting.clear()
        waiting.update({call.id: call for call in calls})
        yield Reply(text=said, calls=calls, at=at, line=number)
    elif role in ("user", "tool") and waiting:
        key = text(row.get("tool_call_id"))
        asked = waiting.pop(key if key in waiting else next(iter(waiting)))
        yield _mini_result(row, asked, said, at, number)
    elif role == "user":
        yield Prompt(text=said, at=at, line=number)
    elif role != "system":
        yield Kept(kind=f"message.{role}", content=row, at=at, line=number, is_understood=role == "exit")


def _mini_result(row: JsonObject, asked: Asked, said: str, at: int | None, number: int) -> Result:
    extra = obj(row.get("extra"))
    found = _ANSWER.search(said)
    code = whole(extra.get("returncode"))
    if code is None and found:
        code = int(found[1])
    output = text(extra.get("raw_output")) or (found[2] if found else said)
    changes = () if code else tuple(here_documents(text(asked.arguments.get("command"))))
    return Result(
        call=asked.id, text=output, state="failed" if code else "succeeded", exit_code=code, at=at,
        line=number, changes=changes,
    )  # fmt: skip
