"""Reader of Claude Code: session files, the prompt history, and stream-json output."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from workbench.domain.values import JsonObject, Usage
from workbench.formats import records
from workbench.formats.input import JsonLine
from workbench.formats.records import (
    CallDecision,
    CallResult,
    FileEdit,
    FileProblem,
    Prompt,
    Record,
    Reply,
    SessionHead,
    ToolCall,
    UnmappedRecord,
    as_count,
    as_integer,
    as_object,
    as_objects,
    as_text,
    as_texts,
    as_time,
    content_text,
    first_text,
)

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
_QUESTION_TOOLS: Final = ("ExitPlanMode", "AskUserQuestion")
"""Tools that are a question to the human; their result is an answer."""
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
    kinds = {as_text(line.get("type")) for line in sample}
    if kinds & {"file-history-snapshot", "queue-operation"}:
        return True
    return any(
        (line.get("type") == "summary" and "leafUuid" in line)
        or ("sessionId" in line and as_text(line.get("type")) in _BOOKKEEPING_TYPES)
        for line in sample
    )


def is_history(sample: list[JsonObject]) -> bool:
    """Tell whether lines are the list of everything that was typed."""
    return any({"display", "project", "timestamp"} <= line.keys() for line in sample)


def read_history(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    """Yield one session a project, with what was typed in it."""
    del name
    rows = list(lines)
    yield from (row for row in rows if isinstance(row, FileProblem))
    yield from records.typed_prompts(
        ((row.number, as_object(row.value)) for row in rows if isinstance(row, JsonLine)),
        "project", "display", "timestamp",
        lambda project, at: SessionHead(
            key=f"history:{project}", title=f"typed in {project}", workspace=project, at=at
        ),
    )  # fmt: skip


def read(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    reader = _SessionReader(name)
    for line in lines:
        if isinstance(line, FileProblem):
            yield line
        else:
            yield from reader.line(line)
    yield from reader.ended()


class _SessionReader:
    def __init__(self, name: str, side: str = "") -> None:
        self._name, self._side = name, side
        self._head: SessionHead | None = None
        self._has_begun = False
        self._lines = 0
        self._seen: set[str] = set()
        self._calls: dict[str, tuple[str, JsonObject]] = {}
        self._title, self._is_named = "", False
        self._chains: dict[str, str] = {}
        self._sides: dict[str, list[JsonLine]] = {}

    def line(self, line: JsonLine) -> Iterator[Record]:
        row = as_object(line.value)
        if not row:
            yield FileProblem(line=line.number, why="it is no object")
            return
        key = as_text(row.get("uuid"))
        if key and key in self._seen:
            return
        self._seen.add(key)
        if self._is_aside(row):
            self._sides.setdefault(self._chain(row, key), []).append(line)
            return
        yield from self._start(row)
        match as_text(row.get("type")):
            case "user":
                yield from self._user(row, line.number)
            case "assistant":
                yield from self._assistant(row, line.number)
            case kind:
                yield from self._other(kind, row, line.number)

    def _is_aside(self, found: JsonObject) -> bool:
        if self._side or found.get("isSidechain") is not True:
            return False
        # A file of its own begins with the agent's id; elsewhere the agent's lines stand between the others.
        return (self._head is not None and "agent" not in self._head.facts) or not as_text(
            found.get("agentId")
        )

    def _chain(self, found: JsonObject, key: str) -> str:
        above = as_text(found.get("parentUuid"))
        chain = as_text(found.get("agentId")) or self._chains.get(above) or key or above or "aside"
        self._chains[key] = chain
        return chain

    def _start(self, found: JsonObject) -> Iterator[Record]:
        if self._has_begun:
            return
        self._head = self._head or self._first(found)
        self._lines += 1
        model = _model_name(as_object(found.get("message"))) or _model_name(found)
        if model or self._lines > _MOST_LINES_WITHOUT_MODEL:
            yield from self.begun(model)

    def begun(self, model: str) -> Iterator[Record]:
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            yield replace(self._head, model=model, title=self._title)

    def ended(self) -> Iterator[Record]:
        yield from self.begun("")
        for chain, lines in self._sides.items():
            below = _SessionReader(self._name, chain)
            yield from below.beginning([as_object(line.value) for line in lines])
            for line in lines:
                yield from below.line(line)

    def beginning(self, lines: list[JsonObject]) -> Iterator[Record]:
        heads = (head for line in lines if (head := self._first(line)))
        self._head = next(heads, SessionHead(key=self._side, provider="anthropic"))
        yield from self.begun(
            next(filter(None, (_model_name(as_object(line.get("message"))) for line in lines)), "")
        )

    def _first(self, found: JsonObject) -> SessionHead | None:
        key = first_text(found, "sessionId", "session_id")
        if not key or ("uuid" not in found and found.get("subtype") != "init" and "message" not in found):
            return None
        is_side = found.get("isSidechain") is True
        agent = self._side or (as_text(found.get("agentId")) if is_side else "")
        known = ("version", "gitBranch", "entrypoint", "slug")
        facts = {name: found[name] for name in known if as_text(found.get(name))}
        if agent:
            facts = {**facts, "agent": agent, "parent": key}
        return SessionHead(
            key=f"{key}/{agent}" if agent else key, workspace=as_text(found.get("cwd")), provider="anthropic",
            at=as_time(found.get("timestamp")), facts=facts, parent=key if agent else "",
        )  # fmt: skip

    def _other(self, kind: str, found: JsonObject, number: int) -> Iterator[Record]:
        at = as_time(found.get("timestamp"))
        title = (
            first_text(found, "summary", "customTitle", "aiTitle", "agentName") if kind != "system" else ""
        )
        self._is_named = self._is_named or bool(as_text(found.get("customTitle")))
        if title and (not self._is_named or "customTitle" in found):
            # What its human called it stays; the program goes on making up titles.
            self._title = title
            yield records.TitleChange(title=title, at=at)
        queued = as_object(found.get("attachment"))
        if queued.get("type") == "queued_command" and queued.get("commandMode") != "task-notification":
            yield from self._said(content_text(queued.get("prompt")), at, number)
            return
        if as_text(found.get("subtype")) == "api_error" or as_text(found.get("level")) == "error":
            yield records.ErrorRecord(
                code="api_error", message=content_text(found.get("content")) or "error", at=at
            )
        yield UnmappedRecord(
            kind=kind, content=found, at=at, line=number, is_understood=kind in _BOOKKEEPING_TYPES
        )

    def _user(self, found: JsonObject, number: int) -> Iterator[Record]:
        message, at = as_object(found.get("message")), as_time(found.get("timestamp"))
        said = message.get("content")
        blocks = as_objects(said)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            yield from self._answered(block, found, number)
        words = content_text([block for block in blocks if block.get("type") != "tool_result"]) or as_text(
            said
        )
        if found.get("isMeta") is True or found.get("isCompactSummary") is True:
            kind = "compaction" if found.get("isCompactSummary") else "meta"
            yield UnmappedRecord(kind=kind, content=words, at=at, line=number)
        else:
            yield from self._said(words, at, number)

    def _said(self, words: str, at: int | None, number: int) -> Iterator[Record]:
        if words.startswith(_INTERRUPTED):
            yield records.TurnStop(outcome="interrupted", detail=words.strip("[]"), at=at)
        elif words.startswith(_INJECTED_PREFIXES):
            yield UnmappedRecord(kind="output", content=words, at=at, line=number)
        elif words:
            yield Prompt(text=_typed_text(words), at=at, line=number)

    def _assistant(self, found: JsonObject, number: int) -> Iterator[Record]:
        message = as_object(found.get("message"))
        blocks = as_objects(message.get("content"))
        calls: list[ToolCall] = []
        for block in blocks:
            if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                asked = ToolCall(
                    id=as_text(block.get("id")),
                    tool=as_text(block.get("name")),
                    arguments=as_object(block.get("input")),
                )
                self._calls[asked.id] = (asked.tool, asked.arguments)
                calls.append(asked)
        words = "\n".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")
        thoughts = "\n".join(
            as_text(block.get("thinking")) for block in blocks if block.get("type") == "thinking"
        )
        at, words = as_time(found.get("timestamp")), words or as_text(message.get("content"))
        if found.get("isApiErrorMessage") is True:
            yield records.ErrorRecord(code="api_error", message=words or "error", at=at)
            return
        yield Reply(
            text=words, thinking=thoughts, calls=tuple(calls),
            usage=usage_of_message(as_object(message.get("usage"))),
            key=as_text(message.get("id")), line=number, model=_model_name(message), at=at,
        )  # fmt: skip
        for block in blocks:
            if as_text(block.get("type")).endswith("tool_result"):
                yield from self._answered(block, found, number)

    def _answered(self, block: JsonObject, found: JsonObject, number: int) -> Iterator[Record]:
        result = self._result(block, found, number)
        tool = self._calls.get(result.call, ("", {}))[0]
        is_edited = as_object(found.get("toolUseResult")).get("userModified") is True
        if result.state == "succeeded" and (tool in _QUESTION_TOOLS or is_edited):
            reason = "with changes by the user" if is_edited else ""
            yield CallDecision(call=result.call, is_approved=True, reason=reason, at=result.at)
        yield result

    def _result(self, block: JsonObject, found: JsonObject, number: int) -> CallResult:
        call, said = as_text(block.get("tool_use_id")), _block_content(block)
        tool, arguments = self._calls.get(call, ("", {}))
        full = found.get("toolUseResult")
        outcome = as_object(full)
        is_error = block.get("is_error") is True
        is_refused = isinstance(full, str) and full.startswith(_REFUSAL_TEXTS)
        state, reason = _result_state(said, is_error=is_error, is_refused=is_refused)
        if outcome.get("interrupted") is True and state == "succeeded":
            state = "cancelled"
        exits = _EXIT_CODE.search(said) if is_error else None
        return CallResult(
            call=call, text=said, state=state, error=said[:2_000] if state == "failed" else "", reason=reason,
            exit_code=int(exits[1]) if exits else as_integer(outcome.get("exitCode")),
            duration_ms=as_integer(outcome.get("durationMs")) or as_integer(outcome.get("totalDurationMs")),
            changes=_edits_of_result(tool, arguments, outcome), at=as_time(found.get("timestamp")),
            line=number,
        )  # fmt: skip


def usage_of_message(found: JsonObject) -> Usage:
    """Return the tokens of a message; what was read from and written to the cache counts as input."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        input_tokens=sum(as_count(found.get(name)) for name in names),
        output_tokens=as_count(found.get("output_tokens")),
    )


def _block_content(block: JsonObject) -> str:
    inner = block.get("content")
    if isinstance(inner, str):
        return inner
    return content_text(inner)


def _model_name(holder: JsonObject) -> str:
    found = as_text(holder.get("model"))
    return "" if found == _SYNTHETIC else found


def _typed_text(words: str) -> str:
    if words.startswith("<command-") and (command := _COMMAND.search(words)):
        arguments = _ARGUMENTS.search(words)
        return f"{command[1]} {arguments[1] if arguments else ''}".strip()
    shell = _SHELL.match(words)
    return f"! {shell[1]}" if shell else words


def _result_state(said: str, *, is_error: bool, is_refused: bool) -> tuple[records.ResultState, str]:
    if not is_error and not is_refused:
        return "succeeded", ""
    if is_refused or said.startswith(_REJECTION_TEXTS):
        match = _REJECTION_REASON.search(said)
        return "rejected", match[1].strip() if match else ""
    if said.startswith(_INTERRUPTED):
        return "cancelled", ""
    return "failed", ""


def _edits_of_result(tool: str, arguments: JsonObject, outcome: JsonObject) -> tuple[FileEdit, ...]:
    if tool not in _EDIT_TOOLS:
        return ()
    path = first_text(arguments, "file_path", "notebook_path", "path")
    if tool == "Write":
        before = outcome.get("originalFile")
        is_new = not isinstance(before, str) and outcome.get("type") != "update"
        after = as_text(arguments.get("content"))
        if patch := _unified_patch(outcome):
            return (FileEdit(path=path, patch=patch),)
        return (FileEdit(path=path, change="create" if is_new else "modify",
                       old=before if not is_new else None, new=after),)  # fmt: skip
    if patch := _unified_patch(outcome):
        return (FileEdit(path=path, patch=patch),)
    edits = as_objects(arguments.get("edits")) or [arguments]
    old = "\n".join(as_text(edit.get("old_string")) for edit in edits)
    new = "\n".join(first_text(edit, "new_string", "new_source") for edit in edits)
    return (FileEdit(path=path, old=old, new=new),)


def _unified_patch(outcome: JsonObject) -> str:
    lines: list[str] = []
    for hunk in as_objects(outcome.get("structuredPatch")):
        old, new = as_count(hunk.get("oldStart")), as_count(hunk.get("newStart"))
        lines.append(f"@@ -{old},{as_count(hunk.get('oldLines'))} +{new},{as_count(hunk.get('newLines'))} @@")
        lines += as_texts(hunk.get("lines"))
    return "\n".join(lines)
