"""The command log of S3: words, the commands that were made of them, and what a human made of those.

Read from files of its program, and written from the events of a session: made here, or imported.
"""

# What the records of a session have no place for (prompts of each try, raw responses, context) is kept beside
# them as it came, so that a log that was imported is written as it was.

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.rows import Session
from workbench.domain.values import Json, JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.text.human import iso_time

ORIGIN: Final = "cmd"
"""The name of the format, and the origin of sessions that were read from it."""
_LOG_ID: Final = re.compile(r"[A-Za-z0-9][\w.:+ -]{0,199}", re.ASCII)
"""No path: what a file says of its log leads to no other file."""
_ITERATION, _CONTEXT, _METADATA = "iteration", "context_sources", "metadata"
CONTEXT_KEYS: Final = ("claude_md_content", "terminal_context", "documentation_context")


def is_command_log(value: Json) -> bool:
    document = j.as_object(value)
    return "user_query" in document and isinstance(document.get("iterations"), list)


def read_command_log(value: Json, name: str) -> Iterator[r.Record]:
    """Yield a session from a log of S3: a query, what was offered for it, and what the human said of each."""
    document = j.as_object(value)
    meta, rounds = j.object_of(document, "metadata"), j.objects_of(document, "iterations")
    start = j.time_of(meta, "timestamp") or next(
        (j.time_of(iteration, "timestamp") for iteration in rounds), None
    )
    query, model = (
        j.text_of(document, "user_query"),
        j.object_of(j.as_object(rounds[0] if rounds else None), "model_input"),
    )
    key = j.text_of(document, "id") or name.rpartition("/")[2].removesuffix(".json")
    facts = {key: meta[key] for key in ("tmux_info", "tmux_session", "final_feedback") if key in meta}
    yield r.SessionHead(
        key=key, title=query, provider="claude", model=j.text_of(meta, "model"), at=start, facts=facts,
        status=j.text_of(meta, "final_status") or "quit", system_prompt=j.text_of(model, "system_prompt"),
    )  # fmt: skip
    counted = j.integer_of(meta, "iteration_count")
    if counted is not None and counted != len(rounds):
        yield r.file_problem(1, f"iteration_count is {counted}, there are {len(rounds)} iterations")
    context = j.object_of(document, "context_sources")
    yield r.UnmappedRecord(_CONTEXT, dict(context), start)
    yield r.Prompt(query, start, 1)
    for number, iteration in enumerate(rounds, 1):
        following = j.as_text(rounds[number].get("feedback")) if number < len(rounds) else None
        yield from _read_command_round(iteration, number, following, meta)
    yield r.UnmappedRecord(_METADATA, dict(meta))


def _read_command_round(
    iteration: JsonObject, number: int, following: str | None, meta: JsonObject
) -> Iterator[r.Record]:
    time_us, output = j.time_of(iteration, "timestamp"), j.object_of(iteration, "model_output")
    if number > 1 and j.text_of(iteration, "feedback"):
        yield r.Prompt(j.text_of(iteration, "feedback"), time_us, number)
    key = f"command-{number}"
    call = r.ToolCall(key, "command", {"command": j.text_of(output, "command")})
    yield r.Reply(text=j.text_of(output, "explanation"), calls=(call,), at=time_us, line=number)
    yield r.UnmappedRecord(_ITERATION, dict(iteration), time_us, number)
    status = j.text_of(meta, "final_status")
    if following is not None:
        yield r.CallResult(call=key, state="rejected", reason=following, at=time_us, line=number)
    elif status == "accepted":
        yield r.CallDecision(call=key, is_approved=True, at=time_us)
        yield r.CallResult(call=key, text="accepted; nothing was run by it", at=time_us, line=number)
    elif status == "rejected":
        yield r.CallResult(
            call=key, state="rejected", reason=j.text_of(meta, "final_feedback"), at=time_us, line=number
        )
    else:
        yield r.CallResult(call=key, state="cancelled", error="quit", at=time_us, line=number)


# --- out -------------------------------------------------------------------------------------------


class _Log(Struct):
    """What the events of a session say for its log."""

    context: JsonObject = field(default_factory=dict[str, Json])
    metadata: JsonObject = field(default_factory=dict[str, Json])
    tmux: JsonObject = field(default_factory=dict[str, Json])
    iterations: list[JsonObject] = field(default_factory=list[JsonObject])
    is_imported: bool = False
    prefix: str = ""
    """What goes out before the next prompt."""
    feedback: str = ""
    prompt: str = ""
    raw: str = ""
    query: str = ""


def is_command_session(session: Session) -> bool:
    """Return whether a session is words that commands were made of."""
    return session.kind == "ask" or session.origin == ORIGIN


def command_log(session: Session, events: Sequence[e.Event]) -> JsonObject:
    """Return a session as S3 writes it; an imported one as it was, as far as it was recorded."""
    log = _Log()
    for event in events:
        _add_event(log, event, session)
    empty: dict[str, Json] = dict.fromkeys(CONTEXT_KEYS, "")
    metadata: JsonObject = log.metadata or {
        "timestamp": iso_time(session.created_at),
        "model": session.model,
        "final_status": session.log_status,
        "iteration_count": len(log.iterations),
        "tmux_info": dict(log.tmux) or {"in_tmux": False},
    }
    return {
        "id": log_id(session),
        "user_query": log.query,
        "context_sources": dict(log.context) or empty,
        "iterations": log.iterations,
        "metadata": dict(metadata),
    }


def log_id(session: Session) -> str:
    """Return the id of a session's log, which can be the name of a file."""
    own, origin = (j.object_of(session.configuration, name) for name in ("ask", "import"))
    named = j.text_of(own, "log") or j.text_of(origin, "id")
    return named if _LOG_ID.fullmatch(named) else session.id


def _add_event(log: _Log, event: e.Event, session: Session) -> None:
    match event.body:
        case e.ContextCollected() as body:
            texts = (body.preferences, body.terminal, body.documentation)
            log.context = dict(zip(CONTEXT_KEYS, texts, strict=True))
            log.tmux, log.prefix = body.tmux, body.text
        case e.PromptSubmitted(text=text):
            log.feedback = text if log.query else ""
            log.query = log.query or text
            log.prompt = "\n\n".join(filter(None, (log.prefix, text)))
            log.prefix = ""
        case e.ReplyCompleted() as body:
            log.raw = body.text
            commands = [call.arguments for call in body.calls if call.tool == "command"]
            if commands and session.origin == ORIGIN and not log.is_imported:
                _add_iteration(log, event, session, j.text_of(commands[0], "command"), body.text)
        case e.CommandSuggested() as body:
            _add_iteration(log, event, session, body.command, body.explanation)
        case e.Unknown(original_kind=kind, content=content) if kind.startswith(f"{ORIGIN}."):
            _add_kept(log, kind.removeprefix(f"{ORIGIN}."), j.as_object(content))
        case _:
            pass


def _add_iteration(log: _Log, event: e.Event, session: Session, command: str, explanation: str) -> None:
    log.iterations.append({
        "feedback": log.feedback,
        "model_input": {"system_prompt": session.system_prompt, "user_prompt": log.prompt},
        "model_output": {"raw_response": log.raw, "command": command, "explanation": explanation},
        "timestamp": iso_time(event.at),
    })  # fmt: skip
    # A command that is recorded again, because an earlier one was accepted, was not asked for.
    log.feedback = log.prompt = log.raw = ""


def _add_kept(log: _Log, kind: str, content: JsonObject) -> None:
    if kind == _ITERATION:
        if not log.is_imported:
            log.iterations.clear()
        log.is_imported = True
        log.iterations.append(content)
    elif kind == _CONTEXT:
        log.context = content
    elif kind == _METADATA:
        log.metadata = content
