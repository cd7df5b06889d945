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
from workbench.formats.fields import content, count, first, image, moment, names, obj, objs, text, whole
from workbench.formats.foreign import Asked, Change, Head, Item, Kept, Problem, Prompt, Reply, Result
from workbench.formats.lines import Line

_BOOKKEEPING: Final = frozenset({
    "system", "summary", "file-history-snapshot", "queue-operation", "progress", "attachment", "result",
    "rate_limit_event", "last-prompt", "custom-title", "ai-title", "agent-name", "pr-link", "tag", "mode",
    "permission-mode", "stream_event",
})  # fmt: skip
_REJECTED: Final = "The user doesn't want to proceed with this tool use"
_SAID: Final = re.compile(r"the user said:\s*(.*)", re.DOTALL | re.IGNORECASE)
_INTERRUPTED: Final = "[Request interrupted by user"
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
    return bool(kinds & {"file-history-snapshot", "queue-operation"}) or any(
        line.get("type") == "summary" and "leafUuid" in line for line in sample
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
    yield from reader.begun("")


class _Reader:
    """What has to be remembered between lines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._head: Head | None = None
        self._has_begun = False
        self._lines = 0
        self._seen: set[str] = set()
        self._calls: dict[str, tuple[str, JsonObject]] = {}
        self._title = ""

    def line(self, line: Line) -> Iterator[Item]:
        found = obj(line.value)
        if not found:
            yield Problem(line=line.number, why="it is no object")
            return
        key = text(found.get("uuid"))
        if key and key in self._seen:
            return
        self._seen.add(key)
        kind = text(found.get("type"))
        if not self._has_begun:
            self._head = self._head or self._first(found)
            self._lines += 1
            model = text(obj(found.get("message")).get("model")) or text(found.get("model"))
            if model or self._lines > _PATIENCE:
                yield from self.begun(model)
        match kind:
            case "user":
                yield from self._user(found, line.number)
            case "assistant":
                yield from self._assistant(found, line.number)
            case _:
                yield from self._other(kind, found, line.number)

    def begun(self, model: str) -> Iterator[Item]:
        """Yield the head, once the model is known or nothing more comes; earlier items wait for it."""
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            yield replace(self._head, model=model, title=self._title)

    def _first(self, found: JsonObject) -> Head | None:
        """Return the head, from the first line that names the session."""
        key = first(found, "sessionId", "session_id")
        if not key or ("uuid" not in found and found.get("subtype") != "init" and "message" not in found):
            return None
        is_side = found.get("isSidechain") is True
        agent = first(found, "agentId") or (self._name if is_side else "")
        known = ("version", "gitBranch", "entrypoint")
        facts = {name: found[name] for name in known if text(found.get(name))}
        if agent:
            facts = {**facts, "agent": agent, "parent": key}
        return Head(
            key=f"{key}/{agent}" if agent else key, workspace=text(found.get("cwd")), provider="anthropic",
            at=moment(found.get("timestamp")), facts=facts,
        )  # fmt: skip

    def _other(self, kind: str, found: JsonObject, number: int) -> Iterator[Item]:
        at = moment(found.get("timestamp"))
        title = first(found, "summary", "customTitle", "aiTitle") if kind != "system" else ""
        if title:
            self._title = title
            yield foreign.Titled(title=title, at=at)
        if text(found.get("subtype")) == "api_error" or text(found.get("level")) == "error":
            yield foreign.Failure(code="api_error", message=content(found.get("content")) or "error", at=at)
        yield Kept(kind=kind, content=found, at=at, line=number, is_understood=kind in _BOOKKEEPING)

    def _user(self, found: JsonObject, number: int) -> Iterator[Item]:
        message, at = obj(found.get("message")), moment(found.get("timestamp"))
        said = message.get("content")
        blocks = objs(said)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            yield self._result(block, found, number)
        words = content([block for block in blocks if block.get("type") != "tool_result"]) or text(said)
        if not words:
            return
        if words.startswith(_INTERRUPTED):
            yield foreign.Stopped(outcome="interrupted", detail=words.strip("[]"), at=at)
        elif found.get("isMeta") is True or found.get("isCompactSummary") is True:
            yield Kept(kind="compaction" if found.get("isCompactSummary") else "meta", content=words, at=at)
        else:
            yield Prompt(text=words, at=at, line=number)

    def _assistant(self, found: JsonObject, number: int) -> Iterator[Item]:
        message = obj(found.get("message"))
        blocks = objs(message.get("content"))
        calls: list[Asked] = []
        for block in blocks:
            if block.get("type") == "tool_use":
                asked = Asked(
                    id=text(block.get("id")), tool=text(block.get("name")), arguments=obj(block.get("input"))
                )
                self._calls[asked.id] = (asked.tool, asked.arguments)
                calls.append(asked)
        words = "\n".join(text(block.get("text")) for block in blocks if block.get("type") == "text")
        thoughts = "\n".join(
            text(block.get("thinking")) for block in blocks if block.get("type") == "thinking"
        )
        yield Reply(
            text=words or text(message.get("content")), thinking=thoughts, calls=tuple(calls),
            usage=usage(obj(message.get("usage"))), key=text(message.get("id")), line=number,
            model=text(message.get("model")), at=moment(found.get("timestamp")),
        )  # fmt: skip

    def _result(self, block: JsonObject, found: JsonObject, number: int) -> Result:
        call, said = text(block.get("tool_use_id")), _said(block)
        tool, arguments = self._calls.get(call, ("", {}))
        full = found.get("toolUseResult")
        outcome = obj(full)
        is_error = block.get("is_error") is True
        state, reason = _state(said, is_error=is_error)
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
    parts = [
        text(one.get("text")) or (image(one) if one.get("type") == "image" else "") for one in objs(inner)
    ]
    return "\n".join(part for part in parts if part)


def _state(said: str, *, is_error: bool) -> tuple[foreign.ResultState, str]:
    if not is_error:
        return "succeeded", ""
    if said.startswith(_REJECTED):
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
