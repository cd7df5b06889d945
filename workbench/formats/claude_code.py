"""Claude Code: a session's JSON lines, its history, and the stream of its headless mode.

Pure. Owns what each type of line means. One message of the model is spread over several lines with one id.
Lines are read in the order of the file: what a rewind left behind stays in it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from workbench.domain.values import JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import content, count, first, moment, names, obj, objs, text, whole
from workbench.formats.foreign import (
    Asked,
    Change,
    Decision,
    Head,
    Item,
    Kept,
    Problem,
    Prompt,
    Reply,
    Result,
)
from workbench.formats.lines import Line

_BOOKKEEPING: Final = frozenset({
    "system", "summary", "file-history-snapshot", "queue-operation", "progress", "attachment", "result",
    "rate_limit_event", "last-prompt", "custom-title", "ai-title", "agent-name", "pr-link", "tag", "mode",
    "permission-mode", "stream_event", "agent-setting", "bridge-session", "worktree-state", "agent-color",
    "tool_use_summary", "file-history-delta", "content-replacement", "speculation-accept",
})  # fmt: skip
_REJECTED: Final = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Permission for this tool use was denied",
    "User rejected tool use",
    "User declined to answer",
)
_REFUSED: Final = ("User rejected tool use", "Error: User rejected tool use")
"""What `toolUseResult` says of a call that a human refused."""

_ASKING: Final = ("ExitPlanMode", "AskUserQuestion")
"""Tools that are a question to the human; their result is an answer."""
_SAID: Final = re.compile(r"the user said:\s*(.*)", re.DOTALL | re.IGNORECASE)
_INTERRUPTED: Final = "[Request interrupted by user"
_SYNTHETIC: Final = "<synthetic>"
"""What stands for the model where no model spoke."""

_COMMAND: Final = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_SHELL: Final = re.compile(r"<bash-input>\s*(.*?)\s*</bash-input>", re.DOTALL)
_TOLD: Final = (
    "<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<bash-stdout>",
    "<bash-stderr>", "<task-notification>", "<system-reminder>", "<user-prompt-submit-hook>",
)  # fmt: skip
"""How a user's message begins that no human typed."""

_EXIT: Final = re.compile(r"(?:Exit code|exit code:?)\s+(\d{1,3})")
_PATIENCE: Final = 50
"""Lines after which a session begins without its model being known."""

_EDITS: Final = ("Edit", "MultiEdit", "Write", "NotebookEdit")


def is_session(sample: list[JsonObject]) -> bool:
    """Tell whether lines are a session of Claude Code, or its stream-json."""
    if any("sessionId" in line and ("uuid" in line or "parentUuid" in line) for line in sample):
        return True
    if sample and sample[0].get("type") == "system" and sample[0].get("subtype") == "init":
        return True
    kinds = {text(line.get("type")) for line in sample}
    if kinds & {"file-history-snapshot", "queue-operation"}:
        return True
    return any(
        (line.get("type") == "summary" and "leafUuid" in line)
        or ("sessionId" in line and text(line.get("type")) in _BOOKKEEPING)
        for line in sample
    )


def is_history(sample: list[JsonObject]) -> bool:
    """Tell whether lines are the list of everything that was typed."""
    return any({"display", "project", "timestamp"} <= line.keys() for line in sample)


def read_history(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield one session a project, with what was typed in it."""
    del name
    typed: dict[str, list[Prompt]] = {}
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        found = obj(line.value)
        said = Prompt(text=text(found.get("display")), at=moment(found.get("timestamp")), line=line.number)
        typed.setdefault(text(found.get("project")), []).append(said)
    for project, prompts in typed.items():
        yield Head(key=f"history:{project}", title=f"typed in {project}", workspace=project, at=prompts[0].at)
        yield from prompts


def read(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session from its lines."""
    reader = _Reader(name)
    for line in lines:
        if isinstance(line, Problem):
            yield line
        else:
            yield from reader.line(line)
    yield from reader.ended()


class _Reader:
    """What has to be remembered between lines."""

    def __init__(self, name: str, side: str = "") -> None:
        self._name, self._side = name, side
        self._head: Head | None = None
        self._has_begun = False
        self._lines = 0
        self._seen: set[str] = set()
        self._calls: dict[str, tuple[str, JsonObject]] = {}
        self._title, self._is_named = "", False
        self._chains: dict[str, str] = {}
        self._sides: dict[str, list[Line]] = {}

    def line(self, line: Line) -> Iterator[Item]:
        found = obj(line.value)
        if not found:
            yield Problem(line=line.number, why="it is no object")
            return
        key = text(found.get("uuid"))
        if key and key in self._seen:
            return
        self._seen.add(key)
        if self._is_aside(found):
            self._sides.setdefault(self._chain(found, key), []).append(line)
            return
        yield from self._start(found)
        match text(found.get("type")):
            case "user":
                yield from self._user(found, line.number)
            case "assistant":
                yield from self._assistant(found, line.number)
            case kind:
                yield from self._other(kind, found, line.number)

    def _is_aside(self, found: JsonObject) -> bool:
        """Tell whether a line belongs to an agent below the one whose file this is."""
        if self._side or found.get("isSidechain") is not True:
            return False
        # A file of its own begins with the agent's id; elsewhere the agent's lines stand between the others.
        return (self._head is not None and "agent" not in self._head.facts) or not text(found.get("agentId"))

    def _chain(self, found: JsonObject, key: str) -> str:
        """Return what names the agent below: its id, or the line that it began with."""
        above = text(found.get("parentUuid"))
        chain = text(found.get("agentId")) or self._chains.get(above) or key or above or "aside"
        self._chains[key] = chain
        return chain

    def _start(self, found: JsonObject) -> Iterator[Item]:
        if self._has_begun:
            return
        self._head = self._head or self._first(found)
        self._lines += 1
        model = _model(obj(found.get("message"))) or _model(found)
        if model or self._lines > _PATIENCE:
            yield from self.begun(model)

    def begun(self, model: str) -> Iterator[Item]:
        """Yield the head, once the model is known or nothing more comes; earlier items wait for it."""
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            yield replace(self._head, model=model, title=self._title)

    def ended(self) -> Iterator[Item]:
        """Yield what waited for the end: the head of a file without a model, and the agents below."""
        yield from self.begun("")
        for chain, lines in self._sides.items():
            below = _Reader(self._name, chain)
            yield from below.beginning([obj(line.value) for line in lines])
            for line in lines:
                yield from below.line(line)

    def beginning(self, lines: list[JsonObject]) -> Iterator[Item]:
        """Yield the head from lines that are all there: what came before it would be the last session's."""
        heads = (head for found in lines if (head := self._first(found)))
        self._head = next(heads, Head(key=self._side, provider="anthropic"))
        yield from self.begun(next(filter(None, (_model(obj(found.get("message"))) for found in lines)), ""))

    def _first(self, found: JsonObject) -> Head | None:
        """Return the head, from the first line that names the session."""
        key = first(found, "sessionId", "session_id")
        if not key or ("uuid" not in found and found.get("subtype") != "init" and "message" not in found):
            return None
        is_side = found.get("isSidechain") is True
        agent = self._side or (text(found.get("agentId")) if is_side else "")
        known = ("version", "gitBranch", "entrypoint", "slug")
        facts = {name: found[name] for name in known if text(found.get(name))}
        if agent:
            facts = {**facts, "agent": agent, "parent": key}
        return Head(
            key=f"{key}/{agent}" if agent else key, workspace=text(found.get("cwd")), provider="anthropic",
            at=moment(found.get("timestamp")), facts=facts, parent=key if agent else "",
        )  # fmt: skip

    def _other(self, kind: str, found: JsonObject, number: int) -> Iterator[Item]:
        at = moment(found.get("timestamp"))
        title = first(found, "summary", "customTitle", "aiTitle", "agentName") if kind != "system" else ""
        self._is_named = self._is_named or bool(text(found.get("customTitle")))
        if title and (not self._is_named or "customTitle" in found):
            # What its human called it stays; the program goes on making up titles.
            self._title = title
            yield foreign.Titled(title=title, at=at)
        queued = obj(found.get("attachment"))
        if queued.get("type") == "queued_command" and queued.get("commandMode") != "task-notification":
            yield from self._said(content(queued.get("prompt")), at, number)
            return
        if text(found.get("subtype")) == "api_error" or text(found.get("level")) == "error":
            yield foreign.Failure(code="api_error", message=content(found.get("content")) or "error", at=at)
        yield Kept(kind=kind, content=found, at=at, line=number, is_understood=kind in _BOOKKEEPING)

    def _user(self, found: JsonObject, number: int) -> Iterator[Item]:
        message, at = obj(found.get("message")), moment(found.get("timestamp"))
        said = message.get("content")
        blocks = objs(said)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            yield from self._answered(block, found, number)
        words = content([block for block in blocks if block.get("type") != "tool_result"]) or text(said)
        if found.get("isMeta") is True or found.get("isCompactSummary") is True:
            kind = "compaction" if found.get("isCompactSummary") else "meta"
            yield Kept(kind=kind, content=words, at=at, line=number)
        else:
            yield from self._said(words, at, number)

    def _said(self, words: str, at: int | None, number: int) -> Iterator[Item]:
        """Yield what stands in a user's message: typed, a command of the program, or put there by it."""
        if words.startswith(_INTERRUPTED):
            yield foreign.Stopped(outcome="interrupted", detail=words.strip("[]"), at=at)
        elif words.startswith(_TOLD):
            yield Kept(kind="output", content=words, at=at, line=number)
        elif words:
            yield Prompt(text=_typed(words), at=at, line=number)

    def _assistant(self, found: JsonObject, number: int) -> Iterator[Item]:
        message = obj(found.get("message"))
        blocks = objs(message.get("content"))
        calls: list[Asked] = []
        for block in blocks:
            if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                asked = Asked(
                    id=text(block.get("id")), tool=text(block.get("name")), arguments=obj(block.get("input"))
                )
                self._calls[asked.id] = (asked.tool, asked.arguments)
                calls.append(asked)
        words = "\n".join(text(block.get("text")) for block in blocks if block.get("type") == "text")
        thoughts = "\n".join(
            text(block.get("thinking")) for block in blocks if block.get("type") == "thinking"
        )
        at, words = moment(found.get("timestamp")), words or text(message.get("content"))
        if found.get("isApiErrorMessage") is True:
            yield foreign.Failure(code="api_error", message=words or "error", at=at)
            return
        yield Reply(
            text=words, thinking=thoughts, calls=tuple(calls), usage=usage(obj(message.get("usage"))),
            key=text(message.get("id")), line=number, model=_model(message), at=at,
        )  # fmt: skip
        for block in blocks:
            if text(block.get("type")).endswith("tool_result"):
                yield from self._answered(block, found, number)

    def _answered(self, block: JsonObject, found: JsonObject, number: int) -> Iterator[Item]:
        """Yield a result, and before it the human's yes where the result shows that there was one."""
        result = self._result(block, found, number)
        tool = self._calls.get(result.call, ("", {}))[0]
        is_edited = obj(found.get("toolUseResult")).get("userModified") is True
        if result.state == "succeeded" and (tool in _ASKING or is_edited):
            reason = "with changes by the user" if is_edited else ""
            yield Decision(call=result.call, is_approved=True, reason=reason, at=result.at)
        yield result

    def _result(self, block: JsonObject, found: JsonObject, number: int) -> Result:
        call, said = text(block.get("tool_use_id")), _said(block)
        tool, arguments = self._calls.get(call, ("", {}))
        full = found.get("toolUseResult")
        outcome = obj(full)
        is_error = block.get("is_error") is True
        is_refused = isinstance(full, str) and full.startswith(_REFUSED)
        state, reason = _state(said, is_error=is_error, is_refused=is_refused)
        if outcome.get("interrupted") is True and state == "succeeded":
            state = "cancelled"
        exits = _EXIT.search(said) if is_error else None
        return Result(
            call=call, text=said, state=state, error=said[:2_000] if state == "failed" else "", reason=reason,
            exit_code=int(exits[1]) if exits else whole(outcome.get("exitCode")),
            duration_ms=whole(outcome.get("durationMs")) or whole(outcome.get("totalDurationMs")),
            changes=_changes(tool, arguments, outcome), at=moment(found.get("timestamp")), line=number,
        )  # fmt: skip


def usage(found: JsonObject) -> Usage:
    """Return the tokens of a message; what was read from and written to the cache counts as input."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        input_tokens=sum(count(found.get(name)) for name in names),
        output_tokens=count(found.get("output_tokens")),
    )


def _said(block: JsonObject) -> str:
    inner = block.get("content")
    if isinstance(inner, str):
        return inner
    return content(inner)


def _model(holder: JsonObject) -> str:
    found = text(holder.get("model"))
    return "" if found == _SYNTHETIC else found


def _typed(words: str) -> str:
    """Return what a human typed: a slash command and a command for the shell stand in tags."""
    if words.startswith("<command-") and (command := _COMMAND.search(words)):
        arguments = _ARGUMENTS.search(words)
        return f"{command[1]} {arguments[1] if arguments else ''}".strip()
    shell = _SHELL.match(words)
    return f"! {shell[1]}" if shell else words


def _state(said: str, *, is_error: bool, is_refused: bool) -> tuple[foreign.ResultState, str]:
    if not is_error and not is_refused:
        return "succeeded", ""
    if is_refused or said.startswith(_REJECTED):
        found = _SAID.search(said)
        return "rejected", found[1].strip() if found else ""
    if said.startswith(_INTERRUPTED):
        return "cancelled", ""
    return "failed", ""


def _changes(tool: str, arguments: JsonObject, outcome: JsonObject) -> tuple[Change, ...]:
    if tool not in _EDITS:
        return ()
    path = first(arguments, "file_path", "notebook_path", "path")
    if tool == "Write":
        before = outcome.get("originalFile")
        is_new = not isinstance(before, str) and outcome.get("type") != "update"
        after = text(arguments.get("content"))
        if patch := _patch(outcome):
            return (Change(path=path, patch=patch),)
        return (Change(path=path, change="create" if is_new else "modify", old=before if not is_new else None,
                       new=after),)  # fmt: skip
    if patch := _patch(outcome):
        return (Change(path=path, patch=patch),)
    edits = objs(arguments.get("edits")) or [arguments]
    old = "\n".join(text(edit.get("old_string")) for edit in edits)
    new = "\n".join(first(edit, "new_string", "new_source") for edit in edits)
    return (Change(path=path, old=old, new=new),)


def _patch(outcome: JsonObject) -> str:
    """Return `structuredPatch` as a unified diff."""
    lines: list[str] = []
    for hunk in objs(outcome.get("structuredPatch")):
        old, new = count(hunk.get("oldStart")), count(hunk.get("newStart"))
        lines.append(f"@@ -{old},{count(hunk.get('oldLines'))} +{new},{count(hunk.get('newLines'))} @@")
        lines += names(hunk.get("lines"))
    return "\n".join(lines)
