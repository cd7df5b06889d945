"""Writer of kaiak's messages, sessions and calls (seed S2), of a whole session or as its events come.

Texts are the recorded, scrubbed ones: sealed bytes never leave the machine.
"""

# S2's messages are projections of events. What a message repeats of an earlier event (the tool of a call, the
# text that was proposed) is kept while the events of its session go by: a stream and an export are alike.

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

import msgspec

from workbench.domain import codec
from workbench.domain import events as e
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import BlobRef, FilePlan, Hunk, Json, JsonObject
from workbench.formats import json_fields as j
from workbench.formats.kaiak import ORIGIN, ROWS
from workbench.formats.kept_rows import kept_rows, local_events
from workbench.formats.wink_export import call_error
from workbench.text.human import SECOND_MICROS, iso_time

MessageContent = tuple[str, JsonObject]
"""The kind of a message and its payload."""
BlobReader = Callable[[BlobRef], bytes | None]
_SOURCES: Final = {
    "AiResponse": "GooseAgent", "Thinking": "GooseAgent", "ToolCall": "ToolExecution",
    "FileModification": "ToolExecution", "UserInteraction": "UserInteraction",
    "Progress": "SystemMonitoring", "Error": "SystemMonitoring", "System": "SystemMonitoring",
}  # fmt: skip
_CHANGE_TYPES: Final = {"create": "Create", "modify": "Modify", "delete": "Delete"}
_MAX_CONTENT: Final = 1_000_000
"""Characters of a file's text in one message."""
_MESSAGE_IDS: Final = uuid.UUID("3b0f5a58-3a55-5f0e-9f3f-9c1d6c0a7b42")
_ENDED_STEPS: Final = frozenset({"completed", "completed_empty", "failed", "skipped", "cancelled"})


def _nothing_kept(_: BlobRef) -> bytes | None:
    return None


class _Progress:
    """How far a run, or the work on a list of incidents, is."""

    def __init__(self) -> None:
        self._total, self._ended = set[str](), set[str]()

    def expect(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.mark(key, is_ended=False)

    def mark(self, key: str, *, is_ended: bool) -> None:
        self._total.add(key)
        self._ended = self._ended | {key} if is_ended else self._ended - {key}

    def message(self, phase: str, description: str) -> MessageContent:
        share = 100 * len(self._ended) // len(self._total) if self._total else 0
        return "Progress", {"percentage": share, "phase": phase, "description": description}


class KaiakMessages:
    """Turns the events of one session, in their order, into S2 AgentMessages."""

    def __init__(self, read_blob: BlobReader = _nothing_kept, last_number: int = 0) -> None:
        """Begin a session, or continue it behind the message with the number `last_number`.

        `read_blob` reads recorded blobs, for changes too large for their event.
        """
        self._read_blob = read_blob
        self._calls: dict[str, tuple[str, JsonObject]] = {}
        """Tool and parameters, by call."""
        self._proposed: dict[tuple[str, str], tuple[str | None, str | None]] = {}
        """The texts of a file before and after, by call and path, as far as they were recorded."""
        self._actions: dict[str, str] = {}
        """The action that asks about a call."""
        self._is_thought_told = False
        self._progress = _Progress()
        self._deleted: e.Event | None = None
        """The file that was deleted last, until it is known whether it was moved."""
        self._left: set[tuple[str, str]] = set()
        """Paths from which files were moved, by call: the message of the new path says so."""
        self._last_number = last_number

    def of(self, event: e.Event) -> Iterator[JsonObject]:
        """Yield the messages of an event, one or more; that of a deleted file comes with the next event."""
        if self._deleted is not None and not _is_move(self._deleted, event):
            yield from self._messages(self._deleted)
        self._deleted = event if self._may_be_moved(event) else None
        if self._deleted is None:
            yield from self._messages(event)

    def _may_be_moved(self, event: e.Event) -> bool:
        match event.body:
            case e.FileChanged(change="delete", path=path):
                return (event.call_id or "", path) not in self._left
            case _:
                return False

    def rest(self) -> Iterator[JsonObject]:
        """Yield the message of a deleted file that no event followed."""
        deleted, self._deleted = self._deleted, None
        if deleted is not None:
            yield from self._messages(deleted)

    def _messages(self, event: e.Event) -> Iterator[JsonObject]:
        for index, (kind, payload) in enumerate(self._contents(event)):
            self._last_number += 1
            source = "UserInteraction" if event.actor.kind == "user" else _SOURCES[kind]
            yield {
                "id": _message_id(event, index), "session_id": event.session_id,
                "timestamp": iso_time(event.at), "sequence_number": self._last_number,
                "content": {kind: payload}, "source": source,
            }  # fmt: skip

    def _contents(self, event: e.Event) -> Iterator[MessageContent]:
        match event.body:
            case e.TextStreamed(text=text):
                yield "AiResponse", {"text": text, "partial": True}
            case e.ThinkingStreamed(text=text):
                self._is_thought_told = True
                yield "Thinking", {"text": text}
            case e.ReplyCompleted() as body:
                yield from self._reply(body)
            case e.CallExecuting() | e.OutputStreamed() | e.CallFinished() as body:
                yield "ToolCall", self._call(event.call_id or "", body)
            case e.ActionOpened() as body:
                yield from self._question(event, body)
            case e.FileChanged() as body:
                yield self._changed(event, body)
            case e.ErrorRaised() as body:
                yield "Error", {
                    "error_code": body.code, "message": body.message, "details": body.details or None,
                    "recoverable": body.recoverable,
                }  # fmt: skip
            case e.ProgressReported() as body:
                yield "Progress", {
                    "percentage": round(body.percentage or 0),
                    "phase": event.step or ("model" if body.sent or body.received else ""),
                    "description": body.message,
                }  # fmt: skip
            case _:
                yield self._moved_on(event) or self._system(event)
                if isinstance(event.body, e.InterruptRequested) and event.body.why:
                    yield _timeout(event.body.why)

    def _reply(self, body: e.ReplyCompleted) -> Iterator[MessageContent]:
        if body.thinking and not self._is_thought_told:
            yield "Thinking", {"text": body.thinking}
        self._is_thought_told = False
        for call in body.calls:
            self._calls[call.call_id] = (call.tool, call.arguments)
        yield "AiResponse", {"text": body.text, "partial": False}

    # --- calls ----------------------------------------------------------------------------------------

    def _call(self, call_id: str, body: e.CallExecuting | e.OutputStreamed | e.CallFinished) -> JsonObject:
        tool, parameters = self._calls.get(call_id, ("", {}))
        operation, result = "Start", None
        if isinstance(body, e.OutputStreamed):
            operation, result = "Progress", {"data": body.text}
        elif isinstance(body, e.CallFinished):
            is_success = body.state == "succeeded"
            operation = "Complete" if is_success else "Error"
            result = {
                "success": is_success, "data": body.preview or None,
                "error": None if is_success else body.error or body.detail or body.state,
                "execution_time_ms": body.duration_ms, "output_size_bytes": body.output_bytes,
            }  # fmt: skip
        return {
            "tool_call_id": call_id, "tool_name": tool, "operation": operation,
            "parameters": dict(parameters), "result": result,
        }  # fmt: skip

    def _question(self, event: e.Event, body: e.ActionOpened) -> Iterator[MessageContent]:
        seconds = (
            None if body.expires_at is None else max(0, body.expires_at - body.created_at) // SECOND_MICROS
        )
        kind = "Choice" if body.choices else "Input" if body.action_kind == "question" else "Approval"
        call: dict[str, Json] = {
            "interaction_id": event.action_id, "interaction_type": kind, "timeout": seconds,
            "prompt": body.prompt or f"{body.verb} {body.target}",
        }  # fmt: skip
        if body.choices:
            call["options"] = [choice.key for choice in body.choices]
        if event.call_id:
            call["tool_call_id"] = event.call_id
            self._actions[event.call_id] = event.action_id or ""
        yield "UserInteraction", call
        if body.action_kind == "files":
            return  # what was found there is no proposal; the call that wrote it says what it changed
        hunks = self._hunks(body) if body.files else ()
        moved = {plan.moved_from for plan in body.files}
        for plan in body.files:
            change = _change_type(plan)
            texts = _texts(plan.path, change, hunks)
            self._proposed[(event.call_id or "", plan.path)] = texts
            if plan.path not in moved:
                proposal = event.action_id or ""
                yield "FileModification", _modification(proposal, plan.path, change, texts, plan.moved_from)

    def _hunks(self, body: e.ActionOpened) -> Sequence[Hunk]:
        if body.hunks_ref is None:
            return body.hunks
        data = self._read_blob(body.hunks_ref)
        try:
            return msgspec.json.decode(data, type=tuple[Hunk, ...]) if data is not None else ()
        except msgspec.MsgspecError:
            return ()

    def _changed(self, event: e.Event, body: e.FileChanged) -> MessageContent:
        change = "Rename" if body.moved_from else _CHANGE_TYPES[body.change]
        call = event.call_id or ""
        if body.change == "delete" and (call, body.path) in self._left:
            return self._system(event)
        if body.moved_from is not None:
            self._left.add((call, body.moved_from))
        texts = _texts(body.path, change, body.hunks) if body.hunks else self._proposed.get((call, body.path))
        proposal = self._actions.get(call) or event.id
        texts = texts or (None, None)
        return "FileModification", _modification(proposal, body.path, change, texts, body.moved_from)

    # --- all else ---------------------------------------------------------------------------------------

    def _moved_on(self, event: e.Event) -> MessageContent | None:
        """Return how far a run or a list of incidents is, where an event says so."""
        match event.body:
            case e.RunStarted() as body if body.round == 1:
                self._progress.expect(plan.id for plan in body.steps)
                for step in body.kept:
                    self._progress.mark(step, is_ended=True)
            case e.RunStarted() as body:
                self._progress.expect(body.reset)
            case e.StepChanged() as body if event.step and body.state in _ENDED_STEPS:
                self._progress.mark(event.step, is_ended=True)
                return self._progress.message(event.step, f"{event.step} {body.state}")
            case e.StepChanged() as body if event.step:
                return self._progress.message(event.step, f"{event.step} {body.state}")
            case e.IncidentsRequested() as body:
                self._progress.expect(body.ids)
            case e.IncidentStarted() as body:
                again = f", prompt {body.round}" if body.round > 1 else ""
                return self._progress.message("working", f"{body.incident}{again}")
            case e.IncidentEnded() as body:
                self._progress.mark(body.incident, is_ended=True)
                return self._progress.message(body.outcome, f"{body.incident} {body.outcome}")
            case _:
                pass
        return None

    def _system(self, event: e.Event) -> MessageContent:
        body = event.body
        if isinstance(body, e.CallProposed):
            self._calls[event.call_id or ""] = (body.tool, body.parameters)
        elif isinstance(body, e.ActionApproved) and (body.selection is not None or body.edited):
            self._forget_proposal(event.call_id or "")
        return "System", {
            "event": event.kind, "request_id": event.action_id or event.call_id,
            "status": event.kind.rpartition(".")[2], "metadata": _metadata(event),
        }  # fmt: skip

    def _forget_proposal(self, call_id: str) -> None:
        """Forget what was proposed where something else was approved: its text is not recorded."""
        for key in [key for key in self._proposed if key[0] == call_id]:
            self._proposed[key] = (None, None)


def _timeout(why: str) -> MessageContent:
    """Return the error that S2 has for a limit of time; here the session pauses and can go on."""
    return "Error", {"error_code": "TimeoutExpired", "message": why, "details": None, "recoverable": True}


def _metadata(event: e.Event) -> JsonObject:
    """Return what an event says, as S2 has no member for it: so a session comes back whole."""
    told = codec.event_to_object(event)["body"]
    body = cast("dict[str, Json]", told) if isinstance(told, dict) else {"content": told}
    members = {name: value for name, value in body.items() if not name.endswith("_ref")}
    return {"tool_call_id": event.call_id, **members} if event.call_id else members


def _change_type(plan: FilePlan) -> str:
    if plan.moved_from is not None:
        return "Rename"
    return "Create" if plan.base is None else "Delete" if plan.after is None else "Modify"


def _texts(path: str, change: str, hunks: Sequence[Hunk]) -> tuple[str | None, str | None]:
    """Return a file's text before and after as far as the hunks show it: of a new file all of it."""
    mine = [hunk for hunk in hunks if hunk.path == path]
    if not mine or sum(len(text) for hunk in mine for _, text in hunk.lines) > _MAX_CONTENT:
        return None, None
    before, after = _side(mine, " -"), _side(mine, " +")
    return None if change == "Create" else before, None if change == "Delete" else after


def _side(hunks: Sequence[Hunk], signs: str) -> str:
    parts: list[str] = []
    last = ""
    for hunk in hunks:
        for sign, text in hunk.lines:
            if sign == "\\" and parts and last in signs:
                parts[-1] = parts[-1].removesuffix("\n")
            elif sign in signs:
                parts.append(f"{text}\n")
            last = sign
    return "".join(parts)


def _message_id(event: e.Event, index: int) -> str:
    """Return the id of a message: that of its event, and one made of it for each further message."""
    return str(uuid.uuid5(_MESSAGE_IDS, f"{event.id} {index}")) if index else event.id


def _is_move(deleted: e.Event, event: e.Event) -> bool:
    """Tell whether an event says where the file of a deletion went."""
    match deleted.body, event.body:
        case e.FileChanged(path=path), e.FileChanged(moved_from=moved_from):
            return path == moved_from and deleted.call_id == event.call_id
        case _:
            return False


def _modification(
    proposal_id: str, path: str, change: str, texts: tuple[str | None, str | None], moved_from: str | None
) -> JsonObject:
    document: dict[str, Json] = {
        "proposal_id": proposal_id, "file_path": path, "change_type": change,
        "original_content": texts[0], "proposed_content": texts[1],
    }  # fmt: skip
    if moved_from:
        document["original_path"] = moved_from
    if change in ("Modify", "Rename") and texts != (None, None):
        document["is_excerpt"] = True  # the changed places with the lines around them
    return document


def kaiak_messages(events: Iterable[e.Event], read_blob: BlobReader = _nothing_kept) -> Iterator[JsonObject]:
    """Yield the events of a session as S2 AgentMessages, in order."""
    messages = KaiakMessages(read_blob)
    for event in events:
        yield from messages.of(event)
    yield from messages.rest()


def imported_rows(session: Session, events: Sequence[e.Event]) -> list[Json]:
    """Return the rows of the file that a session was read from, and what happened here as messages."""
    rows = kept_rows(session, events, ORIGIN, ROWS)
    if not rows:
        return []
    numbers = [j.count_of(row, "sequence_number") for row in j.as_objects(rows)]
    messages = KaiakMessages(last_number=max(numbers, default=0))
    session_id = j.text_of(_imported(session), "id") or session.id
    for event in local_events(events):
        rows += [{**message, "session_id": session_id} for message in messages.of(event)]
    return rows


def kaiak_tool_call(call: Call, action: Action | None) -> JsonObject:
    """Return a call as S2 ToolCall."""
    document: dict[str, Json] = {
        "id": call.id, "session_id": call.session_id, "tool_name": call.tool,
        "parameters": dict(call.parameters), "status": CALL_STATUSES[call.state],
        "created_at": iso_time(call.requested_at),
        "completed_at": None if call.finished_at is None else iso_time(call.finished_at),
        "approval_required": action is not None, "approval_status": approval_status(call, action),
        "intercepted": True,
    }  # fmt: skip
    if action is not None:
        document["interaction_id"] = action.id
    if call.finished_at is not None:
        is_success = call.state == "succeeded"
        document["result"] = {
            "success": is_success, "error": None if is_success else call_error(call),
            "execution_time_ms": call.duration_ms or 0, "output_size_bytes": call.output_bytes,
        }  # fmt: skip
    return document


def kaiak_session(
    row: Session,
    stream: Mapping[str, Json] | None = None,
    requested: e.IncidentsRequested | None = None,
    *,
    outcome: str = "",
    max_turns: int | None = None,
) -> JsonObject:
    """Return a session as S2 AgentSession.

    Of a list of incidents, `requested` is what was last asked for and `outcome` the status of its result.
    `max_turns` is the limit of the settings, for a session that was started here. An imported one whose file
    names no limits has none.
    """
    usage, settings = row.usage, {**_imported(row), **row.configuration}
    options = requested.options if requested is not None else None
    return {
        "id": row.id,
        "incident_ids": list(requested.ids if requested is not None else settings.get("incident_ids") or ()),
        "workspace_path": row.workspace,
        "status": BATCH_STATUSES.get(outcome) or session_status(row), "created_at": iso_time(row.created_at),
        "updated_at": iso_time(row.updated_at),
        "configuration": {
            "provider": row.provider or (options.provider if options else "") or None,
            "model": row.model or (options.model if options else "") or None,
            "timeout": options.timeout_s if options else _limit(settings, "timeout"),
            "max_turns": options.max_turns if options else _limit(settings, "max_turns", max_turns),
            "enable_tool_interception": True,
        },
        "goose_session_id": settings.get("goose_session_id"),
        "token_usage": {
            "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
        },
        "stream_connection": None if stream is None else dict(stream),
    }  # fmt: skip


def _limit(settings: Mapping[str, Json], name: str, default: int | None = None) -> Json:
    value = settings.get(name)
    return next((each for each in (value, default) if each is not None), NO_LIMIT)


def _imported(row: Session) -> JsonObject:
    """Return what is known of an imported session; its id in its file is the agent's own."""
    facts = row.configuration.get("import")
    if not isinstance(facts, Mapping):
        return {}
    told = cast("dict[str, Json]", dict(facts))  # type: ignore[arg-type]
    if row.origin != "kaiak" and told.get("id"):
        told.setdefault("goose_session_id", told["id"])
    return told


def session_status(row: Session) -> str:
    """Return S2 AgentSession.status; a session that a limit of time or turns stopped is Failed there."""
    return "Failed" if row.status == "paused" and row.reason == "limit reached" else STATUSES[row.status]


NO_LIMIT: Final = (1 << 32) - 1
"""S2's `timeout` and `max_turns` are each a `u32` without a word for none: the largest one."""
BATCH_STATUSES: Final = {
    "InProgress": "Processing", "Completed": "Completed", "Failed": "Failed", "Cancelled": "Terminated",
}  # fmt: skip
"""S2 AgentSession.status of a list of incidents, by the status of its ProcessingResult."""
STATUSES: Final = {
    "created": "Created",
    "initializing": "Initializing",
    "ready": "Ready",
    "processing": "Processing",
    "paused": "Ready",
    "completed": "Completed",
    "failed": "Failed",
    "terminated": "Terminated",
}
"""S2 AgentSession.status; S2 has no pause, a session that can go on is Ready."""
CALL_STATUSES: Final = {
    "pending": "Pending",
    "approved": "Approved",
    "executing": "Executing",
    "succeeded": "Completed",
    "failed": "Failed",
    "interrupted": "Failed",
    "rejected": "Rejected",
    "expired": "Cancelled",
    "cancelled": "Cancelled",
}
"""S2 ToolCall.status."""
_APPROVAL_STATUSES: Final = {
    "pending": "Pending",
    "approved": "Approved",
    "rejected": "Rejected",
    "expired": "Timeout",
    "cancelled": "Rejected",
    "superseded": "Pending",
}


def approval_status(call: Call, action: Action | None) -> str:
    """Return S2 ToolCall.approval_status, which is an entity of its own here."""
    if action is None:
        return "NotRequired" if call.approval_method in ("auto", "config_rule") else "Rejected"
    return _APPROVAL_STATUSES[action.state]
