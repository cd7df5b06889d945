"""The tree of Claude Code's messages: which count, and where its human went back.

A resumed session may hold its history again under new ids; each message counts once. What follows a place
where its human went back is a fork, numbered from 1. It keeps ids and digests, never texts, so that a long
file stays small. Nothing here decides how a call ended.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.values import JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r


class Rewind(Struct, frozen=True):
    """A place where a human went back and said something else."""

    prompts: int
    """How many of them were left behind."""
    fork: int
    """The number of what follows."""
    source: int
    """The number of the fork that holds the message above; 0 is the session itself."""


class MessageTree:
    """The messages of one session so far."""

    def __init__(self) -> None:
        self._prompts: dict[str, tuple[int, int]] = {}
        """Of each message how many prompts its chain holds, and in which fork it stands."""
        self.fork = 0
        """The number of the fork that is read; 0 is the session itself."""
        self._leaf = ""
        self._read: set[str] = set()
        self._told: set[int] = set()
        self._open: set[str] = set()
        self._answered: set[str] = set()

    def was_read(self, key: str) -> bool:
        """Return whether a line of this id was read before; a resumed session repeats some."""
        was_read = bool(key) and key in self._read
        self._read.add(key)
        return was_read

    def add(self, row: JsonObject) -> tuple[bool, Rewind | None]:
        """Take a line; return whether it says what another one said, and whether it goes back."""
        key, above = j.text_of(row, "uuid"), j.text_of(row, "parentUuid")
        if not key:
            return False, None
        is_repeated, is_prompt = self._is_repeated(row), _is_prompt(row)
        before, source = self._prompts.get(above, (0, self.fork))
        if is_root := _is_root(row):
            source = 0
        is_back = is_prompt and not is_repeated and (is_root or above in self._prompts)
        dropped_prompts = self._prompts.get(self._leaf, (0, 0))[0] - before if is_back else 0
        self.fork += dropped_prompts > 0
        self._prompts[key], self._leaf = (before + is_prompt, self.fork), key
        return is_repeated, Rewind(dropped_prompts, self.fork, source) if dropped_prompts > 0 else None

    def _is_repeated(self, row: JsonObject) -> bool:
        message = j.object_of(row, "message")
        blocks = j.objects_of(message, "content")
        match j.text_of(row, "type"):
            case "assistant":
                return self._is_repeated_reply(j.text_of(message, "id"), blocks)
            case "user" if blocks and all(block.get("type") == "tool_result" for block in blocks):
                return self._is_repeated_result({j.text_of(block, "tool_use_id") for block in blocks})
            case "user" if row.get("timestamp"):
                return self._is_repetition(("user", j.text_of(row, "timestamp"), str(message.get("content"))))
            case _:
                return False

    def _is_repeated_reply(self, message: str, blocks: list[JsonObject]) -> bool:
        text = [str(b.get("id") or b.get("text") or b.get("thinking") or b.get("data")) for b in blocks]
        if message and text and self._is_repetition((message, *text)):
            return True
        self._open.update(key for key, b in zip(text, blocks, strict=True) if b.get("type") == "tool_use")
        return False

    def _is_repeated_result(self, calls: set[str]) -> bool:
        is_repeated = calls <= self._answered and not calls & self._open
        self._answered |= calls
        self._open -= calls
        return is_repeated

    def _is_repetition(self, parts: tuple[object, ...]) -> bool:
        digest = hash(parts)
        is_there = digest in self._told
        self._told.add(digest)
        return is_there


def _is_root(row: JsonObject) -> bool:
    """Return whether a line says that no message is above it, and is no summary of some that are."""
    is_top = row.get("parentUuid", "") is None and not j.text_of(row, "logicalParentUuid")
    is_whole = row.get("isCompactSummary") is not True and row.get("isSidechain") is not True
    return is_top and is_whole and bool(j.text_of(row, "sessionId"))


def _is_prompt(row: JsonObject) -> bool:
    if row.get("type") != "user" or row.get("isMeta") is True:
        return False
    content = j.object_of(row, "message").get("content")
    return isinstance(content, str) or any(block.get("type") == "text" for block in j.as_objects(content))


def rewind_records(row: JsonObject, rewind: Rewind, head: r.SessionHead, number: int) -> Iterator[r.Record]:
    """End a session where its human went back, and begin the fork that follows below its source.

    `head`: that of the session itself. What was left behind stays where it stands.
    """
    time_us = j.time_of(row, "timestamp")
    prompts = f"{rewind.prompts} prompt{'s' if rewind.prompts > 1 else ''}"
    yield r.TurnStop(outcome="interrupted", detail=f"the user went back over {prompts}", at=time_us)
    source = fork_key(head.key, rewind.source)
    yield replace(
        head, key=fork_key(head.key, rewind.fork), parent=source, at=time_us, title="",
        facts={**head.facts, "fork": rewind.fork, "parent": source},
    )  # fmt: skip
    content: JsonObject = {"to": j.text_of(row, "parentUuid"), "prompts_left_behind": rewind.prompts}
    yield r.UnmappedRecord("rewind", content, time_us, number)


def fork_key(key: str, number: int) -> str:
    """Return the id of a fork of a session; of the session itself with 0."""
    return f"{key}/fork{number}" if number else key


QUESTION_TOOLS: Final = ("ExitPlanMode", "exit_plan_mode", "AskUserQuestion")
