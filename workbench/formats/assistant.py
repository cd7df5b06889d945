"""Sessions of the assistant (S4): turns, active tools, approvals that wait, and a record for each invocation.

Written and read. A file that breaks a rule of S4 is read all the same; the rule is reported. Each decision is
a record of its own, as its program has them: `assistant.approval`, approved = succeeded, rejected = failed,
expired = aborted.
"""

# No turn of S4 is empty, so a session without a system prompt has no system turn. What one side said without
# an answer in between is one turn, with the tokens and the pieces of all of it.

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.messages import asked_models
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Json, JsonObject, ToolDescriptor, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import usage_within
from workbench.formats.input import JsonLine, JsonLines
from workbench.text.human import DAY_MICROS, iso_time
from workbench.text.problems import Problem
from workbench.text.safe import one_line

APPROVAL_TOOL: Final = "assistant.approval"
PROVIDERS: Final = ("azure-openai", "ollama")
"""Those that S4 has; they are kinds here."""
INVOCATION_STATUS: Final = {
    "pending": "pending",
    "approved": "pending",
    "executing": "pending",
    "succeeded": "succeeded",
    "failed": "failed",
    "interrupted": "failed",
    "rejected": "aborted",
    "expired": "aborted",
    "cancelled": "aborted",
}
"""S4 ToolInvocationRecord.status; pending covers what was approved and runs."""
_DECISION_STATUS: Final = {"approved": "succeeded", "rejected": "failed", "expired": "aborted"}
_LATER_MEMBERS: Final = ("capabilityProfile", "tasks")
"""What sessions of its program gained since; kept and given back as they came."""
_LONGEST_SUMMARY: Final = 200
_LONGEST_WINDOW: Final = DAY_MICROS
"""No setting lets an approval wait longer, in microseconds."""


# --- out -----------------------------------------------------------------------------------------------


def assistant_session(
    row: Session,
    events: Sequence[e.Event],
    actions: Sequence[Action],
    tools: Sequence[ToolDescriptor] = (),
    provider_kind: str = "",
) -> JsonObject:
    """Return a session as S4 has it.

    `tools` are those that it may call; what was imported keeps the descriptors, approvals and id that it came
    with. `provider_kind` stands for the provider's name where S4 knows the kind.
    """
    facts = _held_facts(row)
    provider = provider_kind if provider_kind in PROVIDERS else row.provider
    waiting: list[Json] = [pending_action(action) for action in actions if _is_waiting_call(action)]
    return {
        "id": _original_id(row),
        "provider": provider,
        "systemPrompt": row.system_prompt,
        "messages": list(assistant_turns(row, events)),
        "activeTools": facts.get("activeTools", [tool_descriptor(tool, provider) for tool in tools]),
        "pendingApprovals": facts.get("pendingApprovals", waiting),
        "telemetryId": facts.get("telemetryId", row.telemetry_id),
        "createdAt": iso_time(row.created_at),
        "updatedAt": iso_time(row.updated_at),
        **{name: facts[name] for name in _LATER_MEMBERS if name in facts},
    }


def _held_facts(row: Session) -> JsonObject:
    """Return what a session of S4 brought along when it was imported."""
    return j.object_of(row.configuration, "import") if row.origin == "assistant" else {}


def _original_id(row: Session) -> str:
    """Return the id that a session has in its own file: imported again, it is the same session."""
    return j.text_of(_held_facts(row), "id") or row.id


def _is_waiting_call(action: Action) -> bool:
    return action.state == "pending" and bool(action.tool)


def tool_descriptor(tool: ToolDescriptor, provider: str = "") -> JsonObject:
    """Return a tool as S4 ToolDescriptor; what fetches reads there, and `*` is every provider that S4 has.

    `provider` is that of a session that may call the tool, as the session names it: by S4 it sees the tool.
    """
    allowed = PROVIDERS if "*" in tool.allowed_providers else tool.allowed_providers
    return {
        "id": tool.id,
        "capability": "read" if tool.capability == "network" else tool.capability,
        "requiresApproval": tool.requires_approval,
        "allowedProviders": list(dict.fromkeys((*allowed, *filter(None, (provider,))))),
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
    }


class _Turn(Struct):
    """What one side said until the other one spoke."""

    role: Literal["user", "assistant"]
    at: int
    texts: list[str]
    usage: Usage = Usage()
    provider: str = ""
    round: int = 0
    chunks: int = 0
    first_chunk: int | None = None
    last_chunk: int | None = None

    def as_json(self) -> JsonObject:
        turn: dict[str, Json] = {
            "role": self.role, "content": "\n\n".join(self.texts), "timestamp": iso_time(self.at),
        }  # fmt: skip
        if self.role == "assistant":
            turn["metadata"] = self._metadata()
        return turn

    def _metadata(self) -> JsonObject:
        streaming: dict[str, Json] = {"chunks": self.chunks}
        if self.first_chunk is not None and self.last_chunk is not None:
            streaming |= {"firstAt": iso_time(self.first_chunk), "lastAt": iso_time(self.last_chunk)}
        return {
            "inputTokens": self.usage.input_tokens, "outputTokens": self.usage.output_tokens,
            "provider": self.provider, "round": self.round, "streaming": streaming,
        }  # fmt: skip


def assistant_turns(row: Session, events: Sequence[e.Event]) -> Iterator[JsonObject]:
    """Yield alternating turns, system first where there is a system prompt."""
    if row.system_prompt.strip():
        yield {"role": "system", "content": row.system_prompt, "timestamp": iso_time(row.created_at)}
    # A reply that only calls tools says nothing; its tokens are those of the turn that it belongs to.
    spoken = (turn for turn in _merged(_every_turn(row, events)) if turn.texts)
    yield from (turn.as_json() for turn in _merged(spoken))


def _merged(turns: Iterable[_Turn]) -> Iterator[_Turn]:
    """Yield turns whose sides alternate: what one side said in a row is one."""
    newest: _Turn | None = None
    for turn in turns:
        if newest is not None and newest.role == turn.role:
            _merge(newest, turn)
            continue
        if newest is not None:
            yield newest
        newest = turn
    if newest is not None:
        yield newest


def _merge(earlier: _Turn, later: _Turn) -> None:
    earlier.at = later.at if later.texts else earlier.at
    earlier.texts += later.texts
    earlier.usage = earlier.usage.plus(later.usage)
    earlier.provider, earlier.round = later.provider, later.round
    earlier.chunks += later.chunks
    earlier.first_chunk = later.first_chunk if earlier.first_chunk is None else earlier.first_chunk
    earlier.last_chunk = earlier.last_chunk if later.last_chunk is None else later.last_chunk


def _every_turn(row: Session, events: Sequence[e.Event]) -> Iterator[_Turn]:
    models = asked_models(events)
    streamed: list[int] = []
    for event in events:
        match event.body:
            case e.PromptSubmitted(text=text):
                yield _Turn(role="user", at=event.at, texts=[text] if text.strip() else [])
            case e.TextStreamed():
                streamed.append(event.at)
            case e.TurnStarted() | e.ConversationCompacted():
                streamed.clear()
            case e.ReplyCompleted() as body:
                yield _Turn(
                    role="assistant", at=event.at, texts=[body.text] if body.text.strip() else [],
                    usage=body.usage, provider=models[event.id][0] or row.provider, round=body.round,
                    chunks=len(streamed), first_chunk=min(streamed, default=None),
                    last_chunk=max(streamed, default=None),
                )  # fmt: skip
                streamed.clear()
            case _:
                pass


def invocation_records(
    row: Session, events: Sequence[e.Event], calls: Sequence[Call], actions: Sequence[Action]
) -> Iterator[JsonObject]:
    """Yield a record for each decision and each call, the decisions about a call before it."""
    decided = [action for action in actions if action.state in _DECISION_STATUS]
    by_call: dict[str | None, list[Action]] = {}
    call_ids = {call.id for call in calls}
    for action in sorted(decided, key=lambda action: action.opened_at):
        by_call.setdefault(action.call_id if action.call_id in call_ids else None, []).append(action)
    text = {event.call_id: event.body for event in events if isinstance(event.body, e.CallFinished)}
    yield from _kept_decisions(row, events)
    for action in by_call.get(None, ()):
        yield approval_record(row, action, None)
    for call in calls:
        for action in by_call.get(call.id, ()):
            yield approval_record(row, action, call)
        yield tool_invocation_record(row, call, text.get(call.id))


def _kept_decisions(row: Session, events: Sequence[e.Event]) -> Iterator[JsonObject]:
    """Yield the decisions about no call that an import kept as they were."""
    for event in events if row.origin == "assistant" else ():
        if isinstance(event.body, e.Unknown) and event.body.original_kind == f"assistant.{APPROVAL_TOOL}":
            yield j.as_object(event.body.content)


def tool_invocation_record(row: Session, call: Call, finished: e.CallFinished | None = None) -> JsonObject:
    """Return a call as S4 has it; of one that was imported its output says in a few words how it went."""
    status = INVOCATION_STATUS[call.state]
    document: dict[str, Json] = {
        "id": _record_id(row, call), "sessionId": _original_id(row), "toolId": call.tool, "status": status,
        "parameters": dict(call.parameters), "startedAt": iso_time(call.requested_at),
    }  # fmt: skip
    if status != "pending":
        output = one_line(finished.preview, _LONGEST_SUMMARY) if finished else ""
        document["resultSummary"] = call.summary or call.error or output or call.detail or call.state
        document["finishedAt"] = iso_time(max(call.requested_at, call.finished_at or call.requested_at))
    return document


def _record_id(row: Session, call: Call) -> str:
    return call.provider_call_id if row.origin == "assistant" and call.provider_call_id else call.id


def approval_record(row: Session, action: Action, call: Call | None) -> JsonObject:
    """Return a decision as the record that S4's program makes of it."""
    parameters: dict[str, Json] = {"actionId": action.id, "toolId": action.tool or action.kind}
    if call is not None:
        parameters["invocationId"] = _record_id(row, call)
    text = {"reason": action.reason, "choice": action.choice, "text": action.text}
    parameters |= {name: words for name, words in text.items() if words}
    by = f" by {action.decided_by}" if action.decided_by else ""
    end = action.decided_at or action.expires_at or action.created_at
    return {
        "id": action.id, "sessionId": _original_id(row), "toolId": APPROVAL_TOOL,
        "status": _DECISION_STATUS[action.state], "parameters": parameters,
        "resultSummary": f"{action.state}{by}", "startedAt": iso_time(action.created_at),
        "finishedAt": iso_time(max(action.created_at, end)),
    }  # fmt: skip


def pending_action(action: Action) -> JsonObject:
    return {
        "id": action.id, "sessionId": action.session_id, "toolId": action.tool,
        "diffPreview": f"{action.target} +{action.added} -{action.removed}" if action.files else None,
        "createdAt": iso_time(action.created_at),
        "expiresAt": None if action.expires_at is None else iso_time(action.expires_at),
    }  # fmt: skip


# --- in ------------------------------------------------------------------------------------------------


def is_assistant(value: Json) -> bool:
    return {"systemPrompt", "messages"} <= j.as_object(value).keys()


def is_assistant_lines(sample: list[JsonObject]) -> bool:
    return bool(sample) and is_assistant(sample[0])


def read_assistant(value: Json, name: str) -> Iterator[r.Record]:
    yield from read_assistant_lines([JsonLine(1, value)], name)


def read_assistant_lines(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session of S4, and the records that follow it in lines of their own."""
    records = _Records()
    has_begun = False
    for line in lines:
        if isinstance(line, Problem):
            yield line
        elif not has_begun:
            has_begun = True
            yield from _read_session(j.as_object(line.value), name, records)
        else:
            yield from records.read(j.as_object(line.value), line.number)
    yield from records.left_over()


def _read_session(document: JsonObject, name: str, records: "_Records") -> Iterator[r.Record]:
    turns = j.objects_of(document, "messages")
    start = j.time_of(document, "createdAt") or next((j.time_of(turn, "timestamp") for turn in turns), None)
    fact_names = ("activeTools", "pendingApprovals", "telemetryId", *_LATER_MEMBERS)
    yield r.SessionHead(
        key=j.text_of(document, "id") or name, provider=j.text_of(document, "provider"), at=start,
        telemetry_id=j.text_of(document, "telemetryId"),
        facts={key: document[key] for key in fact_names if key in document},
        system_prompt=j.text_of(document, "systemPrompt"), model=j.text_of(document, "model"),
        active_tools=tuple(filter(None, map(_tool_id, j.as_array(document.get("activeTools"))))),
    )  # fmt: skip
    for number, why in turn_order_violations([j.text_of(turn, "role") for turn in turns]):
        yield r.file_problem(number, why)
    for why in session_violations(document):
        yield r.file_problem(1, why)
    for number, turn in enumerate(turns, 1):
        yield from _read_turn(turn, number)
    invocations = j.objects_of(document, "records") or j.objects_of(document, "toolInvocations")
    for number, record in enumerate(invocations, 1):
        yield from records.read(record, number)


def _tool_id(tool: Json) -> str:
    """Return the id of an active tool, which is a descriptor or only named."""
    return tool if isinstance(tool, str) else j.text_of(j.as_object(tool), "id")


def _read_turn(turn: JsonObject, number: int) -> Iterator[r.Record]:
    text, time_us, role = j.content_of(turn, "content"), j.time_of(turn, "timestamp"), j.text_of(turn, "role")
    meta = j.object_of(turn, "metadata")
    if role == "user":
        yield r.Prompt(text, time_us, number)
    elif role == "assistant":
        used = usage_within(meta, "inputTokens", "outputTokens")
        yield r.Reply(text=text, usage=used, at=time_us, line=number)
    elif role != "system" or number > 1:
        yield r.UnmappedRecord(f"turn.{role}", turn, time_us, number)


class _Records:
    """Reads invocations; a decision waits for the record of the call that it is about."""

    def __init__(self) -> None:
        self._decisions: dict[str, tuple[JsonObject, int]] = {}

    def read(self, record: JsonObject, number: int) -> Iterator[r.Record]:
        tool = j.text_of(record, "toolId")
        if not tool:
            yield r.UnmappedRecord("record", record, line=number, is_understood=False)
        elif tool == APPROVAL_TOOL:
            invocation = j.text_of(record, "parameters", "invocationId")
            if earlier := self._decisions.pop(invocation, None):
                yield _kept_decision(*earlier)
            self._decisions[invocation] = (record, number)
        else:
            yield from self._invocation(record, tool, number)

    def left_over(self) -> Iterator[r.Record]:
        """Yield the decisions whose calls the file does not have."""
        for record, number in self._decisions.values():
            yield _kept_decision(record, number)
        self._decisions.clear()

    def _invocation(self, record: JsonObject, tool: str, number: int) -> Iterator[r.Record]:
        key = j.text_of(record, "id")
        call = r.ToolCall(key, tool, j.object_of(record, "parameters"))
        yield r.Reply(calls=(call,), at=j.time_of(record, "startedAt"), line=number)
        decision = self._decisions.pop(key, None) if key else None
        status, summary = j.text_of(record, "status"), j.text_of(record, "resultSummary")
        decided = j.text_of(decision[0], "status") if decision else ""
        if decision is not None and decided in ("succeeded", "failed"):
            yield _decision_of(key, decision[0], is_approved=decided == "succeeded")
        if status in _RESULTS:
            yield r.CallResult(
                call=key, text=summary, state=_state_of(status, decided), at=j.time_of(record, "finishedAt"),
                error="" if status == "succeeded" else summary, line=number,
            )  # fmt: skip


_RESULTS: Final[Mapping[str, r.ResultState]] = {
    "succeeded": "succeeded",
    "failed": "failed",
    "aborted": "cancelled",
}


def _state_of(status: str, decided: str) -> r.ResultState:
    """Return how a call ended; of one that was aborted its decision says why."""
    if status == "aborted" and decided in ("failed", "aborted"):
        return "rejected" if decided == "failed" else "expired"
    return _RESULTS[status]


def _decision_of(call: str, record: JsonObject, *, is_approved: bool) -> r.CallDecision:
    text = j.object_of(record, "parameters")
    return r.CallDecision(
        call=call, is_approved=is_approved, reason=j.text_of(text, "reason"), text=j.text_of(text, "text"),
        choice=j.text_of(text, "choice"), at=j.time_of(record, "finishedAt"),
    )  # fmt: skip


def _kept_decision(record: JsonObject, number: int) -> r.UnmappedRecord:
    return r.UnmappedRecord(APPROVAL_TOOL, record, j.time_of(record, "finishedAt"), number)


# --- the rules of S4 -----------------------------------------------------------------------------------


def turn_order_violations(roles: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each turn, from 1 on, that breaks the order of roles that S4 asks for, with what is wrong."""
    if not roles or roles[0] != "system":
        yield 1, "the first turn is not a system turn"
    for number, (earlier, later) in enumerate(pairwise(roles), 2):
        if later not in ("user", "assistant"):
            yield number, f"turn {number} is by {later[:40] or 'nobody'}"
        elif later == earlier:
            yield number, f"turns {number - 1} and {number} are both by {later}"


def session_violations(document: JsonObject) -> Iterator[str]:
    """Yield what is wrong with the turns' content, the active tools and the approvals that wait."""
    for number, turn in enumerate(j.objects_of(document, "messages"), 1):
        if not j.content_of(turn, "content").strip():
            yield f"turn {number} is empty"
    tools = j.as_array(document.get("activeTools"))
    for number, tool in enumerate(tools, 1):
        fields = j.as_object(tool)
        if fields and not j.as_array(fields.get("allowedProviders")):
            yield f"active tool {number} has no allowedProviders"
    tool_ids = set(map(_tool_id, tools))
    for number, waiting in enumerate(j.as_array(document.get("pendingApprovals")), 1):
        for why in _pending_violations(waiting, tool_ids, j.text_of(document, "id")):
            yield f"pending approval {number}: {why}"


def _pending_violations(waiting: Json, tool_ids: set[str], session: str) -> Iterator[str]:
    fields = j.as_object(waiting)
    tool, session_id = j.text_of(fields, "toolId"), j.text_of(fields, "sessionId")
    if not tool or tool not in tool_ids:
        yield f"its tool {tool[:80] or '(none)'} is not among the active tools"
    if session_id and session and session_id != session:
        yield f"it is of session {session_id[:80]}"
    made, end = j.time_of(fields, "createdAt"), j.time_of(fields, "expiresAt")
    if made is not None and end is not None and end < made:
        yield "it expires before it was made"
    elif made is not None and end is not None and end - made > _LONGEST_WINDOW:
        yield "it expires more than a day after it was made"
