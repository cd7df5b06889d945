"""Reader of Claude Code: session files, the prompt history, and stream-json output."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from workbench.domain.values import JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import call_result, texts_of
from workbench.formats.claude_progress import ProgressReader
from workbench.formats.claude_questions import answer_to, question_of
from workbench.formats.claude_tree import QUESTION_TOOLS, MessageTree, fork_key, rewind_records
from workbench.formats.input import JsonLines
from workbench.formats.record_streams import read_sessions, typed_prompts

_BOOKKEEPING_TYPES: Final = frozenset({
    "system", "summary", "file-history-snapshot", "queue-operation", "progress", "attachment", "result",
    "rate_limit_event", "last-prompt", "custom-title", "ai-title", "agent-name", "pr-link", "tag", "mode",
    "permission-mode", "stream_event", "agent-setting", "bridge-session", "worktree-state", "agent-color",
    "tool_use_summary", "file-history-delta", "content-replacement", "speculation-accept",
})  # fmt: skip
_REJECTION_TEXTS: Final = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Permission for this tool use was denied",
    "User rejected tool use",
    "User declined to answer",
)
_REFUSAL_TEXTS: Final = ("User rejected tool use", "Error: User rejected tool use")
"""What `toolUseResult` says of a call that a human refused."""
_REJECTION_REASON: Final = re.compile(r"the user said:\s*(.*)", re.DOTALL | re.IGNORECASE)
_INTERRUPTED: Final = "[Request interrupted by user"
_SYNTHETIC: Final = "<synthetic>"
"""What stands for the model where no model spoke."""
_COMMAND: Final = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_SHELL: Final = re.compile(r"<bash-input>\s*(.*?)\s*</bash-input>", re.DOTALL)
_INJECTED_PREFIXES: Final = (
    "<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<bash-stdout>",
    "<bash-stderr>", "<task-notification>", "<system-reminder>", "<user-prompt-submit-hook>",
)  # fmt: skip
"""How a user's message begins that no human typed."""
_EXIT_CODE: Final = re.compile(r"(?:Exit code|exit code:?)\s+(\d{1,3})")
_MOST_LINES_WITHOUT_MODEL: Final = 50
"""Lines after which a session begins without its model being known."""
_EDIT_TOOLS: Final = ("Edit", "MultiEdit", "Write", "NotebookEdit")


def is_session(sample: list[JsonObject]) -> bool:
    if any("sessionId" in line and ("uuid" in line or "parentUuid" in line) for line in sample):
        return True
    if sample and sample[0].get("type") == "system" and sample[0].get("subtype") == "init":
        return True
    kinds = {j.text_of(line, "type") for line in sample}
    if kinds & {"file-history-snapshot", "queue-operation"}:
        return True
    return any(
        (line.get("type") == "summary" and "leafUuid" in line)
        or ("sessionId" in line and j.text_of(line, "type") in _BOOKKEEPING_TYPES)
        for line in sample
    )


def is_history(sample: list[JsonObject]) -> bool:
    """Tell whether lines are the list of everything that was typed."""
    return any({"display", "project", "timestamp"} <= line.keys() for line in sample)


def read_history(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield one session a project, with what was typed in it."""
    del name

    def head(project: str, time_us: int | None) -> r.SessionHead:
        title = f"typed in {project}"
        return r.SessionHead(key=f"history:{project}", title=title, workspace=project, at=time_us)

    yield from typed_prompts(lines, "project", "display", "timestamp", head)


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield the sessions of a stream: one, or several behind one another."""
    yield from read_sessions(lines, lambda: _SessionReader(name))


class _SessionReader:
    def __init__(self, name: str, side: str = "", fork: int = 0) -> None:
        self._name, self._side, self._fork = name, side, fork
        self._head: r.SessionHead | None = None
        self._has_begun = False
        self._model = ""
        self._lines = 0
        self._tree = MessageTree()
        self._calls: dict[str, r.ToolCall] = {}
        self._progress = ProgressReader()
        self._title, self._is_named = "", False
        self._chains: dict[str, str] = {}
        self._sides: dict[str, list[tuple[JsonObject, int]]] = {}
        self._side_forks: dict[str, int] = {}

    def is_another(self, row: JsonObject) -> bool:
        """Return whether a line begins another session: of another id, and below no message of this one.

        One that goes on under a new id hangs below the old one's messages, a sub-agent names its parent.
        """
        if self._head is None or j.text_of(row, "type") not in ("user", "assistant"):
            return False
        key = j.text_of(row, "sessionId")
        is_root = row.get("parentUuid", "") is None and not j.text_of(row, "logicalParentUuid")
        is_side = row.get("isSidechain") is True or "agent" in self._head.facts
        return bool(key) and is_root and not is_side and key != self._head.key

    def row(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        key = j.text_of(row, "uuid")
        if self._tree.was_read(key):
            return
        if self._is_aside(row):
            self._sides.setdefault(self._chain(row, key), []).append((row, number))
            return
        is_repeated, rewind = self._tree.add(row)
        if is_repeated:
            yield from _usage_of_repeated(row)
            return
        yield from self._start(row)
        if rewind and self._head is not None:
            yield from self.head("")
            yield from rewind_records(row, rewind, replace(self._head, model=self._model), number)
        match j.text_of(row, "type"):
            case "user":
                yield from self._user(row, number)
            case "assistant":
                yield from self._assistant(row, number)
            case kind:
                yield from self._other(kind, row, number)

    def _is_aside(self, row: JsonObject) -> bool:
        if self._side or row.get("isSidechain") is not True:
            return False
        # A file of its own begins with the agent's id; elsewhere the agent's lines stand between the others.
        return (self._head is not None and "agent" not in self._head.facts) or not j.text_of(row, "agentId")

    def _chain(self, row: JsonObject, key: str) -> str:
        above = j.text_of(row, "parentUuid")
        chain = j.text_of(row, "agentId") or self._chains.get(above) or key or above or "aside"
        if chain not in self._sides:
            self._side_forks[chain] = self._tree.fork
            self._give_to_task(j.content_of(row, "message", "content"), chain)
        self._chains[key] = chain
        return chain

    def _give_to_task(self, prompt: str, chain: str) -> None:
        """Note which call began an agent: the one that holds the agent's first words."""
        agents = self._progress.agents
        for call in reversed(self._calls.values()):
            if prompt and call.id not in agents and j.text_of(call.arguments, "prompt") == prompt:
                agents[call.id] = chain
                return

    def _start(self, row: JsonObject) -> Iterator[r.Record]:
        if self._has_begun:
            return
        self._head = self._head or self._first(row)
        self._lines += 1
        model = _model_name(j.object_of(row, "message")) or _model_name(row)
        if model or self._lines > _MOST_LINES_WITHOUT_MODEL:
            self._model = model
            yield from self.head(model)

    def head(self, model: str) -> Iterator[r.Record]:
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            yield replace(self._head, model=model, title=self._title)

    def ended(self) -> Iterator[r.Record]:
        yield from self.head("")
        for chain, rows in self._sides.items():
            below = _SessionReader(self._name, chain, self._side_forks[chain])
            yield from below.start_side([row for row, _ in rows])
            for row, number in rows:
                yield from below.row(row, number)

    def start_side(self, lines: list[JsonObject]) -> Iterator[r.Record]:
        heads = (head for line in lines if (head := self._first(line)))
        self._head = next(heads, r.SessionHead(key=self._side, provider="anthropic"))
        yield from self.head(
            next(filter(None, (_model_name(j.object_of(line, "message")) for line in lines)), "")
        )

    def _first(self, row: JsonObject) -> r.SessionHead | None:
        key = j.first_text(row, "sessionId", "session_id")
        if not key or ("uuid" not in row and row.get("subtype") != "init" and "message" not in row):
            return None
        is_side = row.get("isSidechain") is True
        agent = self._side or (j.text_of(row, "agentId") if is_side else "")
        fact_names = ("version", "gitBranch", "entrypoint", "slug")
        facts = {name: row[name] for name in fact_names if j.as_text(row.get(name))}
        parent = fork_key(key, self._fork)
        if agent:
            facts = {**facts, "agent": agent, "parent": parent}
        return r.SessionHead(
            key=f"{key}/{agent}" if agent else key, workspace=j.text_of(row, "cwd"), provider="anthropic",
            at=j.time_of(row, "timestamp"), facts=facts, parent=parent if agent else "",
        )  # fmt: skip

    def _other(self, kind: str, row: JsonObject, number: int) -> Iterator[r.Record]:
        time_us = j.time_of(row, "timestamp")
        title = (
            j.first_text(row, "summary", "customTitle", "aiTitle", "agentName") if kind != "system" else ""
        )
        self._is_named = self._is_named or bool(j.text_of(row, "customTitle"))
        if title and (not self._is_named or "customTitle" in row):
            # What its human called it stays; the program goes on making up titles.
            self._title = title
            yield r.TitleChange(title, time_us)
        queued = j.object_of(row, "attachment")
        if queued.get("type") == "queued_command" and queued.get("commandMode") != "task-notification":
            yield from self._prompt_records(j.content_of(queued, "prompt"), time_us, number)
            return
        if kind == "progress" and (progress := self._progress.read(row, number)):
            yield progress
            return
        if j.text_of(row, "subtype") == "api_error" or j.text_of(row, "level") == "error":
            yield r.ErrorRecord("api_error", _error_text(row), time_us)
        yield r.UnmappedRecord(kind, row, time_us, number, kind in _BOOKKEEPING_TYPES)

    def _user(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        message, time_us = j.object_of(row, "message"), j.time_of(row, "timestamp")
        text = message.get("content")
        blocks = j.as_objects(text)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            yield from self._result_records(block, row, number)
        words = j.content_text(
            [block for block in blocks if block.get("type") != "tool_result"]
        ) or j.as_text(text)
        if not words and not results:
            record = r.UnmappedRecord("user", row, time_us, number, is_understood=False)
            yield record
        elif row.get("isMeta") is True or row.get("isCompactSummary") is True:
            kind = "compaction" if row.get("isCompactSummary") else "meta"
            yield r.UnmappedRecord(kind, words, time_us, number)
        else:
            yield from self._prompt_records(words, time_us, number)

    def _prompt_records(self, text: str, time_us: int | None, number: int) -> Iterator[r.Record]:
        if text.startswith(_INTERRUPTED):
            yield r.TurnStop(outcome="interrupted", detail=text.strip("[]"), at=time_us)
        elif text.startswith(_INJECTED_PREFIXES):
            yield r.UnmappedRecord("output", text, time_us, number)
        elif text:
            yield r.Prompt(_typed_text(text), time_us, number)

    def _assistant(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        message = j.object_of(row, "message")
        blocks = j.objects_of(message, "content")
        calls: list[r.ToolCall] = []
        for block in blocks:
            if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                tool_call = r.ToolCall(
                    j.text_of(block, "id"), j.text_of(block, "name"), j.object_of(block, "input")
                )
                self._calls[tool_call.id] = tool_call
                calls.append(tool_call)
        text, thoughts = texts_of(blocks, "text"), texts_of(blocks, "thinking", "thinking")
        time_us, text = j.time_of(row, "timestamp"), text or j.text_of(message, "content")
        if row.get("isApiErrorMessage") is True:
            yield r.ErrorRecord("api_error", text or "error", time_us)
            return
        yield r.Reply(
            text=text, thinking=thoughts, calls=tuple(calls),
            usage=usage_of_message(j.object_of(message, "usage"), j.as_cost(row.get("costUSD"))),
            key=j.text_of(message, "id"), request=_request(row, message), line=number,
            model=_model_name(message), at=time_us,
        )  # fmt: skip
        for call in calls:
            if call.tool in QUESTION_TOOLS:
                yield question_of(call, time_us)
        for block in blocks:
            if j.text_of(block, "type").endswith("tool_result"):
                yield from self._result_records(block, row, number)

    def _result_records(self, block: JsonObject, row: JsonObject, number: int) -> Iterator[r.Record]:
        result = self._result(block, row, number)
        call, outcome = self._calls.get(result.call), j.object_of(row, "toolUseResult")
        if result.state == "succeeded" and call is not None and call.tool in QUESTION_TOOLS:
            yield answer_to(call, outcome, result.text, result.at)
        elif result.state == "succeeded" and outcome.get("userModified") is True:
            reason = "with changes by the user"
            yield r.CallDecision(call=result.call, is_approved=True, reason=reason, at=result.at)
        yield result

    def _child(self, call: str, outcome: JsonObject) -> str:
        agent = j.text_of(outcome, "agentId") or self._progress.agents.get(call, "")
        return f"{self._head.key}/{agent}" if agent and self._head is not None else ""

    def _result(self, block: JsonObject, row: JsonObject, number: int) -> r.CallResult:
        call, text = j.text_of(block, "tool_use_id"), j.content_of(block, "content")
        tool_call = self._calls.get(call, r.ToolCall(call, ""))
        full = row.get("toolUseResult")
        outcome = j.as_object(full)
        is_error = block.get("is_error") is True
        is_refused = isinstance(full, str) and full.startswith(_REFUSAL_TEXTS)
        state, reason = _result_state(text, is_error=is_error, is_refused=is_refused)
        if outcome.get("interrupted") is True and state == "succeeded":
            state = "cancelled"
        exits = _EXIT_CODE.search(text) if is_error else None
        return call_result(
            call, text, state, at=j.time_of(row, "timestamp"), line=number, reason=reason,
            exit_code=int(exits[1]) if exits else j.integer_of(outcome, "exitCode"),
            duration_ms=j.integer_of(outcome, "durationMs") or j.integer_of(outcome, "totalDurationMs"),
            changes=_edits_of_result(tool_call.tool, tool_call.arguments, outcome),
            child=self._child(call, outcome),
        )  # fmt: skip


def _usage_of_repeated(row: JsonObject) -> Iterator[r.Record]:
    """Yield what a line counts that says nothing new: of a message the last line's usage is right."""
    message = j.object_of(row, "message")
    if usage := j.object_of(message, "usage"):
        key = j.text_of(message, "id")
        spent = usage_of_message(usage, j.as_cost(row.get("costUSD")))
        yield r.Reply(
            usage=spent,
            key=key,
            request=_request(row, message),
            model=_model_name(message),
            may_be_empty=True,
        )


def _request(row: JsonObject, message: JsonObject) -> str:
    key, request = j.text_of(message, "id"), j.text_of(row, "requestId")
    return f"{key}\0{request}" if key and request else ""


def _error_text(row: JsonObject) -> str:
    """Return why a request failed: what the service said, or why it could not be reached."""
    error = j.object_of(row, "error")
    text = j.object_of(error, "error", "error") or j.object_of(error, "error")
    cause = j.object_of(row, "cause") or j.object_of(error, "cause")
    why = (
        j.content_of(row, "content"), j.text_of(text, "message") or j.text_of(error, "message"),
        j.first_text(cause, "code", "message"), f"status {code}" if (code := error.get("status")) else "",
    )  # fmt: skip
    return ", ".join(dict.fromkeys(filter(None, why))) or "error"


def usage_of_message(usage: JsonObject, cost: int = 0) -> Usage:
    """Return the tokens of a message; what was read from and written to the cache is part of the input.

    `cost`: what the file says that it cost, in millionths of a dollar.
    """
    read, written = j.count_of(usage, "cache_read_input_tokens"), _cache_writes(usage)
    hour = j.count_of(usage, "cache_creation", "ephemeral_1h_input_tokens")
    return Usage(
        input_tokens=j.count_of(usage, "input_tokens") + read + written,
        output_tokens=j.count_of(usage, "output_tokens"),
        cache_read_tokens=read, cache_write_tokens=written,
        cache_write_1h_tokens=min(hour, written), cost_microdollars=cost,
    )  # fmt: skip


def _cache_writes(usage: JsonObject) -> int:
    """Return what was written to the cache; some messages only say how long each part is kept."""
    by_lifetime = j.object_of(usage, "cache_creation")
    return j.count_of(usage, "cache_creation_input_tokens") or sum(map(j.as_count, by_lifetime.values()))


def _model_name(holder: JsonObject) -> str:
    model = j.text_of(holder, "model")
    return "" if model == _SYNTHETIC else model


def _typed_text(text: str) -> str:
    if text.startswith("<command-") and (command := _COMMAND.search(text)):
        arguments = _ARGUMENTS.search(text)
        return f"{command[1]} {arguments[1] if arguments else ''}".strip()
    shell = _SHELL.match(text)
    return f"! {shell[1]}" if shell else text


def _result_state(text: str, *, is_error: bool, is_refused: bool) -> tuple[r.ResultState, str]:
    if not is_error and not is_refused:
        return "succeeded", ""
    if is_refused or text.startswith(_REJECTION_TEXTS):
        match = _REJECTION_REASON.search(text)
        return "rejected", match[1].strip() if match else ""
    if text.startswith(_INTERRUPTED):
        return "cancelled", ""
    return "failed", ""


def _edits_of_result(tool: str, arguments: JsonObject, outcome: JsonObject) -> tuple[r.FileEdit, ...]:
    if tool not in _EDIT_TOOLS:
        return ()
    path = j.first_text(arguments, "file_path", "notebook_path", "path")
    if tool == "Write":
        before = outcome.get("originalFile")
        is_new = not isinstance(before, str) and outcome.get("type") != "update"
        after = j.text_of(arguments, "content")
        if patch := _unified_patch(outcome):
            return (r.FileEdit(path=path, patch=patch),)
        return (
            r.FileEdit(
                path=path,
                change="create" if is_new else "modify",
                old=before if not is_new else None,
                new=after,
            ),
        )
    if patch := _unified_patch(outcome):
        return (r.FileEdit(path=path, patch=patch),)
    edits = j.objects_of(arguments, "edits") or [arguments]
    old = "\n".join(j.text_of(edit, "old_string") for edit in edits)
    new = "\n".join(j.first_text(edit, "new_string", "new_source") for edit in edits)
    return (r.FileEdit(path=path, old=old, new=new),)


def _unified_patch(outcome: JsonObject) -> str:
    lines: list[str] = []
    for hunk in j.objects_of(outcome, "structuredPatch"):
        old, new = j.count_of(hunk, "oldStart"), j.count_of(hunk, "newStart")
        lines.append(f"@@ -{old},{j.count_of(hunk, 'oldLines')} +{new},{j.count_of(hunk, 'newLines')} @@")
        lines += j.as_texts(hunk.get("lines"))
    return "\n".join(lines)
