"""Codex CLI: rollouts (with and without the wrapper of newer versions), `exec --json`, its history.

Pure. Owns what each record means. What `event_msg` repeats of `response_item` is taken once.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, Literal

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import arr, content, count, first, moment, obj, objs, text, whole
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
from workbench.formats.patches import begin_patch, moved

_WRAPPED: Final = frozenset({
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
    "inter_agent_communication", "inter_agent_communication_metadata", "token_usage_record",
    "retained_context", "security_risk_score", "realtime_item",
})  # fmt: skip
_HIDDEN: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "# AGENTS.md",
)
_PATIENCE: Final = 50
"""Lines after which a session begins without its model being known."""

_REQUEST: Final = "## My request for Codex:"
"""Where an editor's extension ends its own context and the human begins."""

_SETTINGS: Final = "rejected by user approval settings"
"""What is said where no human was asked: the settings said no."""

_CALLS: Final = (
    "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
)  # fmt: skip
_ASIDE: Final = ("ghost_snapshot", "compaction", "compaction_summary", "image_generation_call", "other")
_FOLDER: Final = re.compile(r"<cwd>(.*?)</cwd>|Current working directory: (.+)")
"""How a first message names the folder, where the head does not."""


def is_rollout(sample: list[JsonObject]) -> bool:
    """Tell whether lines are a rollout of any version."""
    if any(text(line.get("type")) in _WRAPPED and isinstance(line.get("payload"), dict) for line in sample):
        return True
    start = obj(sample[0] if sample else None)
    is_old = {"id", "timestamp"} <= start.keys() and ("instructions" in start or "git" in start)
    return is_old and "type" not in start


def is_exec(sample: list[JsonObject]) -> bool:
    """Tell whether lines are the events of `codex exec --json`."""
    kinds = {text(line.get("type")) for line in sample}
    return "thread.started" in kinds or bool(kinds & {"item.completed", "item.started"})


def is_history(sample: list[JsonObject]) -> bool:
    """Tell whether lines are the list of what was typed."""
    return any({"session_id", "ts", "text"} <= line.keys() for line in sample)


def read_history(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield one session for each id, with what was typed."""
    del name
    typed: dict[str, list[Prompt]] = {}
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        found = obj(line.value)
        said = Prompt(text=text(found.get("text")), at=moment(found.get("ts")), line=line.number)
        typed.setdefault(text(found.get("session_id")), []).append(said)
    for key, prompts in typed.items():
        yield Head(key=f"history:{key}", at=prompts[0].at)
        yield from prompts


def read(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session from a rollout."""
    reader = _Rollout(name)
    for line in lines:
        if isinstance(line, Problem):
            yield line
        elif found := obj(line.value):
            yield from reader.record(found, line.number)
        else:
            yield Problem(line=line.number, why="it is no object")
    yield from reader.ended()


class _Rollout:
    """What has to be remembered between lines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._head: Head | None = None
        self._has_title = False
        self._has_begun = False
        self._model = ""
        self._thinking: list[str] = []
        self._patches: dict[str, tuple[Change, ...]] = {}
        self._last_usage = ""
        self._policy = ""
        self._asks: set[str] = set()
        self._called: set[str] = set()
        self._told: dict[str, list[Item]] = {"user": [], "agent": []}
        self._spoken: set[int] = set()

    def record(self, found: JsonObject, number: int) -> Iterator[Item]:
        kind, payload = text(found.get("type")), obj(found.get("payload"))
        at = moment(found.get("timestamp"))
        if kind not in _WRAPPED:
            kind, payload = ("session_meta", found) if self._is_old_head(found) else ("response_item", found)
        if self._head is None:
            self._head = self._first(payload if kind == "session_meta" else {}, at)
        if self._model or number > _PATIENCE:
            yield from self.begun()
        match kind:
            case "session_meta":
                return
            case "turn_context":
                self._model = text(payload.get("model")) or self._model
                self._policy = text(payload.get("approval_policy")) or self._policy
            case "response_item":
                yield from self._item(payload, at, number)
            case "event_msg":
                yield from self._event(payload, at, number)
            case _:
                yield Kept(kind=kind, content=payload, at=at, line=number)

    def begun(self) -> Iterator[Item]:
        """Yield the head, once the model is known or the model speaks; what was read before waits for it."""
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            yield replace(self._head, model=self._head.model or self._model)

    def _is_old_head(self, found: JsonObject) -> bool:
        return self._head is None and "id" in found and "type" not in found

    def _first(self, meta: JsonObject, at: int | None) -> Head:
        git = obj(meta.get("git"))
        facts = {key: value for key in ("cli_version", "originator", "source") if (value := meta.get(key))}
        if git:
            facts = {**facts, "git": git}
        spawn = obj(obj(obj(meta.get("source")).get("subagent")).get("thread_spawn"))
        prompt = content(meta.get("instructions")) or text(obj(meta.get("base_instructions")).get("text"))
        return Head(
            key=text(meta.get("id")) or self._name, workspace=text(meta.get("cwd")), provider="openai",
            model=text(meta.get("model")), at=moment(meta.get("timestamp")) or at, facts=facts,
            system_prompt=prompt, parent=text(spawn.get("parent_thread_id")),
        )  # fmt: skip

    def ended(self) -> Iterator[Item]:
        """Yield what waited for the end of the file."""
        yield from self.begun()
        yield from self._untold("user")
        yield from self._untold("agent")

    def _untold(self, who: str) -> Iterator[Item]:
        """Yield what events told and no item repeated; most files hold everything in both."""
        told, self._told[who] = self._told[who], []
        for one in told:
            said = one.text if isinstance(one, Prompt | Reply) else ""
            if hash((who, said)) not in self._spoken:
                yield one

    def _item(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        kind = text(payload.get("type")) or ("message" if "role" in payload else "")
        if kind == "message":
            yield from self._message(payload, at, number)
        elif kind == "reasoning":
            said = content(payload.get("summary")) or content(payload.get("content"))
            if said:
                self._thinking.append(said)
        elif kind in _CALLS:
            yield from self._untold("user")
            yield self._call(kind, payload, at, number)
        elif kind.endswith("_output"):
            yield from self._output(payload, at, number)
        elif payload.get("record_type") == "state" or kind in _ASIDE:
            yield Kept(kind=kind or "state", content=payload, at=at, line=number)
        else:
            yield Kept(kind=kind or "record", content=payload, at=at, line=number, is_understood=False)

    def _message(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        said, role = content(payload.get("content")), text(payload.get("role"))
        if role == "assistant":
            yield from self._untold("user")
            self._spoken.add(hash(("agent", said)))
            yield self._reply(said, (), at, number)
        elif role == "user" and not said.startswith(_HIDDEN):
            yield from self._untold("agent")
            # The event beside it names images elsewhere: its text is what was typed, and nothing more.
            typed = "\n".join(text(one.get("text")) for one in objs(payload.get("content")) if "text" in one)
            self._spoken |= {hash(("user", said)), hash(("user", typed))}
            request = said.partition(_REQUEST)[2].strip()
            if request and not self._has_title:
                yield foreign.Titled(title=request, at=at)
            self._has_title = True
            yield Prompt(text=said, at=at, line=number)
        else:
            self._place(said)
            yield Kept(kind=f"context.{role}", content=said, at=at, line=number)

    def _place(self, said: str) -> None:
        if self._head is not None and not self._head.workspace and (found := _FOLDER.search(said)):
            self._head = replace(self._head, workspace=(found[1] or found[2]).strip())

    def _reply(self, said: str, calls: tuple[Asked, ...], at: int | None, number: int) -> Reply:
        thinking, self._thinking = "\n\n".join(self._thinking), []
        return Reply(text=said, thinking=thinking, calls=calls, model=self._model, at=at, line=number)

    def _call(self, kind: str, payload: JsonObject, at: int | None, number: int) -> Item:
        if kind == "web_search_call":
            kept = obj(payload.get("action"))
            return Kept(kind="web_search", content=kept, at=at, line=number)
        tool = text(payload.get("name")) or ("tool_search" if kind == "tool_search_call" else "shell")
        given = payload.get("arguments", payload.get("action", payload.get("input")))
        arguments = _arguments(given)
        key = first(payload, "call_id", "id")
        self._called.add(key)
        self._patches[key] = begin_patch(_patch_text(given, arguments))
        if arguments.get("with_escalated_permissions") is True or arguments.get("sandbox_permissions") == (
            "require_escalated"
        ):
            self._asks.add(key)
        return self._reply("", (Asked(id=key, tool=tool, arguments=arguments),), at, number)

    def _output(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        key = first(payload, "call_id", "id")
        said, code, seconds = _outcome(payload.get("output"))
        is_bad = code not in (None, 0) or obj(payload.get("output")).get("success") is False
        lower = said[:400].casefold()
        state: foreign.ResultState = "failed" if is_bad else "succeeded"
        if _SETTINGS in lower:
            state = "failed"
        elif "rejected by user" in lower or "declined" in lower:
            state = "rejected"
        elif "aborted by user" in lower or said.startswith("aborted"):
            state = "cancelled"
        elif key in self._asks and self._policy not in ("", "never"):
            yield Decision(call=key, is_approved=True, at=at)
        yield Result(
            call=key, text=said, state=state, error=said[:2_000] if state == "failed" else "", exit_code=code,
            duration_ms=None if seconds is None else int(seconds * 1000), at=at, line=number,
            changes=self._patches.pop(key, ()),
        )  # fmt: skip

    def _event(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        match text(payload.get("type")):
            case "token_count":
                yield from self._tokens(obj(payload.get("info")))
            case "turn_aborted":
                yield from self._untold("user")
                yield foreign.Stopped(outcome="interrupted", detail=text(payload.get("reason")), at=at)
            case "error" | "stream_error":
                yield foreign.Failure(code="error", message=text(payload.get("message")), at=at)
            case "user_message":
                said = text(payload.get("message"))
                self._told["user"].append(Prompt(text=said, at=at, line=number))
            case "agent_message":
                self._told["agent"].append(self._reply(text(payload.get("message")), (), at, number))
            case "agent_reasoning" | "agent_reasoning_raw_content":
                return
            case "patch_apply_end" | "exec_command_end" | "mcp_tool_call_end":
                yield from self._ended_call(payload, at, number)
            case kind:
                yield Kept(kind=f"event.{kind}", content=payload, at=at, line=number)

    def _ended_call(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        """Yield a call that only its end tells of, as those made within a script; the others are items."""
        key = text(payload.get("call_id"))
        changes = _applied(obj(payload.get("changes")))
        if key in self._called:
            if changes and key in self._patches:
                self._patches[key] = changes
            return
        self._called.add(key)
        yield self._reply("", (_ended_ask(key, payload),), at, number)
        said = first(payload, "aggregated_output", "formatted_output", "stdout", "stderr")
        code = whole(payload.get("exit_code"))
        is_bad = bool(code) or payload.get("success") is False or "Err" in obj(payload.get("result"))
        yield Result(
            call=key, text=said or content(obj(obj(payload.get("result")).get("Ok")).get("content")),
            state="failed" if is_bad else "succeeded", exit_code=code, changes=changes, at=at, line=number,
        )  # fmt: skip

    def _tokens(self, info: JsonObject) -> Iterator[Item]:
        """Count the tokens of the last request; the same count is often told twice."""
        total, last = obj(info.get("total_token_usage")), obj(info.get("last_token_usage"))
        told = str(sorted(total.items()))
        if last and told != self._last_usage:
            self._last_usage = told
            yield foreign.Spent(usage=usage(last))


def _ended_ask(key: str, payload: JsonObject) -> Asked:
    made = obj(payload.get("invocation"))
    if made:
        tool, given = f"{text(made.get('server'))}.{text(made.get('tool'))}", obj(made.get("arguments"))
    elif "changes" in payload:
        tool, given = "apply_patch", {"path": " ".join(obj(payload.get("changes")))}
    else:
        tool, given = "shell", {"command": payload.get("command")}
    return Asked(id=key, tool=tool, arguments=given)


def _applied(changes: JsonObject) -> tuple[Change, ...]:
    """Return the changes of a patch that was applied, by path."""
    found: list[Change] = []
    for path, value in changes.items():
        change = obj(value)
        kind = _KINDS.get(text(change.get("type")), "modify")
        whole_text = change.get("content")
        known = whole_text if isinstance(whole_text, str) else None
        if target := text(change.get("move_path")):
            found += moved(path, target, text(change.get("unified_diff")))
            continue
        found.append(
            Change(
                path=path, change=kind,
                patch=text(change.get("unified_diff")), old=known if kind == "delete" else None,
                new=known if kind == "create" else None,
            )
        )  # fmt: skip
    return tuple(found)


def usage(found: JsonObject) -> Usage:
    """Return tokens as Codex counts them; cached ones are among the input."""
    return Usage(
        input_tokens=count(found.get("input_tokens")), output_tokens=count(found.get("output_tokens"))
    )


def _arguments(given: Json) -> JsonObject:
    if isinstance(given, str):
        try:
            found = orjson.loads(given)
        except ValueError:
            return {"input": given}
        return obj(found) or {"input": given}
    return obj(given)


def _patch_text(given: Json, arguments: JsonObject) -> str:
    """Return the text in which a patch may stand: the input itself, or a shell command."""
    parts = [text(item) for item in arr(arguments.get("command"))] or [
        first(arguments, "input", "patch", "command")
    ]
    return "\n".join([*parts, given if isinstance(given, str) and not arguments else ""])


def _outcome(given: Json) -> tuple[str, int | None, float | None]:
    """Return what a call said, its exit code and its seconds, in the three spellings there are."""
    if isinstance(given, str) and given.startswith("{"):
        try:
            parsed: Json = orjson.loads(given)
        except ValueError:
            return given, None, None
        if not obj(parsed).keys() & {"output", "content", "metadata"}:
            return given, None, None  # what a program printed, or a tool of somebody else's gave back
        given = parsed
    if isinstance(given, list):
        given = content(given)
    if isinstance(given, str):
        code = _number_behind(given, "Exit code:")
        code = _number_behind(given, "Process exited with code") if code is None else code
        return given, code, _seconds_behind(given, "Wall time:")
    found = obj(given)
    meta = obj(found.get("metadata"))
    seconds = meta.get("duration_seconds")
    said = text(found.get("output")) or content(found.get("content")) or content(given)
    return said, whole(meta.get("exit_code")), float(seconds) if isinstance(seconds, int | float) else None


def _number_behind(said: str, words: str) -> int | None:
    found = re.match(r"\s*(-?\d{1,9})\b", said[:400].partition(words)[2])
    return int(found[1]) if found else None


def _seconds_behind(said: str, words: str) -> float | None:
    digits = said[:400].partition(words)[2].split()
    try:
        return float(digits[0]) if digits else None
    except ValueError:
        return None


def read_exec(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session from the events of `codex exec --json`; they have no times."""
    has_begun = False
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        found = obj(line.value)
        kind = text(found.get("type"))
        if not has_begun:
            has_begun = True
            yield Head(key=text(found.get("thread_id")) or name, provider="openai")
        if kind == "item.completed":
            yield from _exec_item(obj(found.get("item")), line.number)
        elif kind == "turn.completed":
            yield foreign.Spent(usage=usage(obj(found.get("usage"))))
        elif kind in ("turn.failed", "error"):
            why = text(obj(found.get("error")).get("message")) or text(found.get("message"))
            yield foreign.Failure(code="turn_failed", message=why)
        elif kind not in ("thread.started", "turn.started", "item.started", "item.updated"):
            yield Kept(kind=kind or "record", content=found, line=line.number, is_understood=False)


def _exec_item(item: JsonObject, number: int) -> Iterator[Item]:
    key, kind = text(item.get("id")), text(item.get("type")) or text(item.get("item_type"))
    match kind:
        case "agent_message" | "assistant_message":
            yield Reply(text=text(item.get("text")), line=number)
        case "reasoning":
            yield Reply(thinking=text(item.get("text")), line=number)
        case "command_execution":
            asked = Asked(id=key, tool="shell", arguments={"command": text(item.get("command"))})
            yield Reply(calls=(asked,), line=number)
            code = whole(item.get("exit_code"))
            state = _STATES.get(text(item.get("status")), "succeeded" if not code else "failed")
            yield Result(
                call=key, text=text(item.get("aggregated_output")), state=state, exit_code=code, line=number
            )
        case "file_change":
            changes = tuple(
                Change(path=text(one.get("path")), change=_KINDS.get(text(one.get("kind")), "modify"))
                for one in objs(item.get("changes"))
            )  # fmt: skip
            paths = [change.path for change in changes]
            yield Reply(
                calls=(Asked(id=key, tool="apply_patch", arguments={"path": " ".join(paths)}),), line=number
            )
            yield Result(call=key, changes=changes, state=_STATES.get(text(item.get("status")), "succeeded"))
        case "error":
            yield foreign.Failure(code="error", message=text(item.get("message")))
        case "todo_list" | "web_search":
            yield Kept(kind=kind, content=item, line=number)
        case "mcp_tool_call":
            tool = f"{text(item.get('server'))}.{text(item.get('tool'))}"
            yield Reply(calls=(Asked(id=key, tool=tool, arguments=obj(item.get("arguments"))),), line=number)
            said = content(obj(item.get("result")).get("content"))
            yield Result(call=key, text=said, state=_STATES.get(text(item.get("status")), "succeeded"))
        case _:
            yield Kept(kind=f"item.{kind}", content=item, line=number, is_understood=False)


_STATES: Final[dict[str, foreign.ResultState]] = {
    "completed": "succeeded", "failed": "failed", "declined": "rejected", "in_progress": "interrupted",
}  # fmt: skip
_KINDS: Final[dict[str, Literal["create", "modify", "delete"]]] = {
    "add": "create", "update": "modify", "delete": "delete",
}  # fmt: skip
