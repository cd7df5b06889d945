"""Sessions of this program as files: JSON lines that are written and read back.

On the way in, secrets are taken out and questions that would wait here are withdrawn.
"""

# The version in a session's file is that of the events, not of the database's tables.

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Final, cast

from msgspec.structs import replace

from workbench.domain import events as e
from workbench.domain.codec import (
    EVENT_FORMAT_VERSION,
    MalformedEventError,
    blob_refs,
    event_from_object,
    event_to_line,
    event_to_object,
)
from workbench.domain.values import SYSTEM_SESSION, Actor, BlobRef, Json, JsonObject
from workbench.formats.assemble import CurrentSessionId, ImportSummary, StoreBlob
from workbench.formats.input import JsonLines
from workbench.formats.json_fields import as_integer, as_object, as_objects, as_text
from workbench.formats.records import file_problem
from workbench.formats.sanitize import sanitize_text
from workbench.secrets.scrubber import scrub, scrub_value
from workbench.text.problems import Problem
from workbench.text.safe import escape_json

FORMAT_NAME: Final = "workbench"
IsElsewhere = Callable[[str, str], bool]
"""Tells whether an event of an id is stored, and belongs to another session than the one named."""
_ACTION_ENDS: Final = (
    e.ActionApproved,
    e.ActionRejected,
    e.ActionExpired,
    e.ActionSuperseded,
    e.ActionCancelled,
)


def is_workbench_session(sample: list[JsonObject]) -> bool:
    """Tell whether lines are a session of this program, with the first line or without it."""
    first = as_object(sample[0] if sample else None)
    if "workbench_session" in first:
        return True
    return {"session_id", "sequence_number", "kind", "body", "actor"} <= first.keys()


def session_lines(events: Iterable[e.Event], read: Callable[[BlobRef], bytes | None]) -> Iterator[str]:
    """Yield a session as lines: the head, recorded bytes before the event that names them, events."""
    yield json.dumps({"workbench_session": 1, "schema": EVENT_FORMAT_VERSION})
    known: set[BlobRef] = set()
    for event in events:
        for ref in blob_refs(event.body):
            if ref.startswith("recorded:") and ref not in known:
                known.add(ref)
                data = read(ref)
                if data is not None:
                    line = {"blob": ref, "text": data.decode("utf-8", "replace")}
                    yield escape_json(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
        yield event_to_line(event)


def _is_too_large(value: Json) -> bool:
    """Tell whether a number is in a value that no table holds."""
    if isinstance(value, dict):
        return any(map(_is_too_large, cast("dict[str, Json]", value).values()))
    if isinstance(value, list):
        return any(map(_is_too_large, cast("list[Json]", value)))
    return isinstance(value, int) and not -(1 << 63) <= value < 1 << 63


def never_elsewhere(event_id: str, session_id: str) -> bool:
    """Return False: there is no other session that could have an event."""
    del event_id, session_id
    return False


def _scrub_body(body: JsonObject) -> tuple[JsonObject, bool]:
    """Return a body without secrets, and whether there were any; the name of a choice alone is none."""
    clean, has_secrets = scrub_value(body)
    fields = as_object(cast("Json", clean))
    choices = as_objects(body.get("choices"))
    if not has_secrets or not choices:
        return fields, bool(has_secrets)
    kept = [
        {**choice, "key": scrub(as_text(was.get("key"))).text}
        for choice, was in zip(as_objects(fields.get("choices")), choices, strict=True)
    ]
    return {**fields, "choices": cast("Json", kept)}, True


_ID_MEMBERS: Final = (
    "call_id", "action_id", "turn_id", "supersedes", "successor", "prompt_id", "replaces_id"
)  # fmt: skip
"""Members of events that name something of the same session."""
_ID_LIST_MEMBERS: Final = ("prompt_ids",)
"""Members that are a list of such names."""
_FREE_MEMBERS: Final = ("arguments", "parameters", "content", "configuration")
"""Members of events that hold what others made; nothing in them is an id of ours."""


def _event_under(session_id: str, event: e.Event) -> e.Event:
    """Return an event whose own id, and whose names of calls, questions and turns, are those of a session."""
    value = as_object(_ids_under(session_id, event_to_object(event)))
    return replace(event_from_object(value), id=f"{session_id}.{event.id}")


def _ids_under(session_id: str, value: Json) -> Json:
    if isinstance(value, list):
        return [_ids_under(session_id, item) for item in cast("list[Json]", value)]
    if not isinstance(value, dict):
        return value
    members: dict[str, Json] = {}
    for name, item in cast("dict[str, Json]", value).items():
        if name in _ID_MEMBERS and isinstance(item, str) and item:
            members[name] = f"{session_id}.{item}"
        elif name in _ID_LIST_MEMBERS and isinstance(item, list):
            members[name] = [f"{session_id}.{one}" for one in cast("list[Json]", item)]
        else:
            members[name] = item if name in _FREE_MEMBERS else _ids_under(session_id, item)
    return members


class SessionReader:
    """Reads one file of ours: checks its lines and gives its events the ids that they get here."""

    def __init__(
        self,
        store: StoreBlob,
        current_id: CurrentSessionId,
        summaries: list[ImportSummary],
        is_elsewhere: IsElsewhere,
    ) -> None:
        self._store, self._current, self._is_elsewhere = store, current_id, is_elsewhere
        self._summaries = summaries
        self._ids: dict[str, str] = {}
        self._refs: dict[BlobRef, BlobRef] = {}
        self._second: dict[str, bool] = {}
        """Whether a session is second to one that has its id and its events' ids."""
        self._open: dict[str, e.Event] = {}
        self._seen: set[str] = set()
        self._has_begun: set[str] = set()
        self.strays: list[Problem] = []

    def events(self, lines: JsonLines) -> Iterator[e.Event]:
        """Yield the events of a file."""
        for line in lines:
            if isinstance(line, Problem):
                self._note(line)
                continue
            value = as_object(line.value)
            if "workbench_session" in value:
                self._head(value, line.number)
            elif "blob" in value:
                self._blob(value)
            elif event := self._event(value, line.number):
                yield from self._begun(event, line.number)
                yield event
        yield from self._closing()

    def _head(self, value: JsonObject, number: int) -> None:
        version = as_integer(value.get("schema")) or 0
        if version > EVENT_FORMAT_VERSION:
            why = f"it was written by a newer version (events {version}); what is not known is kept as it is"
            self._note(file_problem(number, why))

    def _note(self, problem: Problem) -> None:
        (self._summaries[-1].problems if self._summaries else self.strays).append(problem)

    def _blob(self, value: JsonObject) -> None:
        ref = as_text(value.get("blob"))
        if ref.startswith("recorded:"):
            stored = self._store(
                sanitize_text(as_text(value.get("text")), 1 << 28).encode("utf-8", "replace")
            )
            if stored is not None:
                self._refs[ref] = stored

    def _event(self, value: JsonObject, number: int) -> e.Event | None:
        try:
            event = self._clean(value)
        except (MalformedEventError, ValueError, TypeError) as error:
            self._note(file_problem(number, f"it is not an event: {str(error)[:200]}"))
            return None
        if event.session_id == SYSTEM_SESSION:
            self._note(file_problem(number, "it belongs to the session of a journal itself; left out"))
            return None
        if event.id in self._seen:
            self._note(file_problem(number, f"an event above has the id {event.id[:80]}; left out"))
            return None
        self._seen.add(event.id)
        event = self._as_second(event)
        if self._is_elsewhere(event.id, self._ids.get(event.session_id) or self._current(event.session_id)):
            why = f"another session here has an event with the id {event.id[:80]}; left out"
            self._note(file_problem(number, why))
            return None
        return self._placed(event, number)

    def _as_second(self, event: e.Event) -> e.Event:
        """Return an event under ids of its own where its session is second to another one of its id."""
        key = event.session_id
        own = self._ids.get(key) or self._current(key)
        if key not in self._second:
            self._second[key] = own != key and self._is_elsewhere(event.id, own)
        return _event_under(own, event) if self._second[key] else event

    def _clean(self, value: JsonObject) -> e.Event:
        if _is_too_large(value):
            raise ValueError("a number in it has over 64 bits")
        body, has_secrets = _scrub_body(as_object(value.get("body")))
        members: dict[str, Json] = {**value, "body": body} if has_secrets else dict(value)
        if self._refs:
            members["body"] = self._renamed(members["body"])
        return replace(event_from_object(members), position=0, recorded_at=None)

    def _renamed(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._refs.get(value, value)
        if isinstance(value, dict):
            return {key: self._renamed(item) for key, item in cast("dict[str, Json]", value).items()}
        if isinstance(value, list):
            return [self._renamed(item) for item in cast("list[Json]", value)]
        return value

    def _placed(self, event: e.Event, number: int) -> e.Event:
        key = event.session_id
        if key not in self._ids:
            self._ids[key] = self._current(key)
            body = event.body
            title = body.title if isinstance(body, e.SessionCreated) else ""
            self._summaries.append(ImportSummary(session_id=self._ids[key], key=key, title=title))
        summary = next(summary for summary in self._summaries if summary.key == key)
        summary.events += 1
        if event.sequence_number and event.sequence_number != summary.events:
            why = f"number {event.sequence_number} stands where {summary.events} follows"
            if not any(problem.message.startswith("number ") for problem in summary.problems):
                summary.problems.append(file_problem(number, why))
        if event.action_id and isinstance(event.body, e.ActionOpened):
            self._open[event.action_id] = event
        elif event.action_id and isinstance(event.body, _ACTION_ENDS):
            self._open.pop(event.action_id, None)
        return replace(event, session_id=self._ids[key], sequence_number=0)

    def _begun(self, event: e.Event, number: int) -> Iterator[e.Event]:
        if event.session_id in self._has_begun:
            return
        self._has_begun.add(event.session_id)
        if isinstance(event.body, e.SessionCreated):
            return
        self._note(file_problem(number, "the session's beginning is not there; it starts here"))
        bodies = (
            e.SessionCreated(session_kind="import"),
            e.SessionStatusChanged(status="initializing"),
            e.SessionStatusChanged(status="ready"),
        )
        for index, body in enumerate(bodies):
            yield e.Event(
                id=f"{event.session_id}.begin.{index}", session_id=event.session_id, at=event.at,
                actor=Actor(kind="system", via="import"), body=body,
            )  # fmt: skip

    def _closing(self) -> Iterator[e.Event]:
        for action_id, event in self._open.items():
            yield e.Event(
                id=f"{event.id}.import", session_id=self._ids[event.session_id], at=event.at,
                actor=Actor(kind="system", via="import"), body=e.ActionCancelled(why="imported"),
                call_id=event.call_id, action_id=action_id, turn_id=event.turn_id,
            )  # fmt: skip
