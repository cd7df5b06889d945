"""Sessions of this program as files: what an export writes, read back event by event.

Pure but for `store`. Owns the first line, the lines of bytes, and what is taken out of an event that comes
from outside: secrets that were added, questions that would wait here.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, cast

from workbench.domain.codec import (
    EVENTS_VERSION,
    MalformedEventError,
    blob_refs,
    parse,
    to_line,
)
from workbench.domain.events import (
    ActionApproved,
    ActionCancelled,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    ActionSuperseded,
    Event,
    SessionCreated,
    SessionStatusChanged,
)
from workbench.domain.values import SYSTEM_SESSION, Actor, BlobRef, Json, JsonObject
from workbench.formats.assembling import Generation, Summary
from workbench.formats.calls import Store
from workbench.formats.cleaning import clean
from workbench.formats.fields import obj, objs, text, whole
from workbench.formats.foreign import Problem
from workbench.formats.lines import Line
from workbench.text.safe import escaped_json
from workbench.text.scrub import scrub, scrub_value

NAME: Final = "workbench"
Elsewhere = Callable[[str, str], bool]
"""Tells whether an event of an id is stored, and belongs to another session than the one named."""

_ENDS: Final = (ActionApproved, ActionRejected, ActionExpired, ActionSuperseded, ActionCancelled)


def is_session(sample: list[JsonObject]) -> bool:
    """Tell whether lines are a session of this program, with the first line or without it."""
    first = obj(sample[0] if sample else None)
    if "workbench_session" in first:
        return True
    return {"session_id", "sequence_number", "kind", "body", "actor"} <= first.keys()


def lines(events: Iterable[Event], read: Callable[[BlobRef], bytes | None]) -> Iterator[str]:
    """Yield a session as lines: the head, recorded bytes before the event that names them, events.

    Args:
        events: All of one session, in order.
        read: Returns recorded bytes; sealed ones are never asked for.
    """
    yield json.dumps({"workbench_session": 1, "schema": EVENTS_VERSION})
    known: set[BlobRef] = set()
    for event in events:
        for ref in blob_refs(event.body):
            if ref.startswith("recorded:") and ref not in known:
                known.add(ref)
                data = read(ref)
                if data is not None:
                    line = {"blob": ref, "text": data.decode("utf-8", "replace")}
                    yield escaped_json(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
        yield to_line(event)


def _is_too_large(value: Json) -> bool:
    """Tell whether a number is in a value that no table holds."""
    if isinstance(value, dict):
        return any(map(_is_too_large, cast("dict[str, Json]", value).values()))
    if isinstance(value, list):
        return any(map(_is_too_large, cast("list[Json]", value)))
    return isinstance(value, int) and not -(1 << 63) <= value < 1 << 63


def no_other(event_id: str, session_id: str) -> bool:
    """Return False: there is no other session that could have an event."""
    del event_id, session_id
    return False


def _scrubbed(body: JsonObject) -> tuple[JsonObject, bool]:
    """Return a body without secrets, and whether there were any.

    The key of a choice is what its human types (`y`), and its name alone makes it no secret.
    """
    clean, found = scrub_value(body)
    made = obj(cast("Json", clean))
    choices = objs(body.get("choices"))
    if not found or not choices:
        return made, bool(found)
    kept = [
        {**one, "key": scrub(text(was.get("key"))).text}
        for one, was in zip(objs(made.get("choices")), choices, strict=True)
    ]
    return {**made, "choices": cast("Json", kept)}, True


class Reading:
    """One file of ours on its way in."""

    def __init__(
        self, store: Store, current_id: Generation, summaries: list[Summary], is_elsewhere: Elsewhere
    ) -> None:
        self._store, self._current, self._is_elsewhere = store, current_id, is_elsewhere
        self._summaries = summaries
        self._ids: dict[str, str] = {}
        self._refs: dict[BlobRef, BlobRef] = {}
        self._open: dict[str, Event] = {}
        self._seen: set[str] = set()
        self._has_begun: set[str] = set()
        self.strays: list[Problem] = []

    def events(self, found: Iterable[Line | Problem]) -> Iterator[Event]:
        """Yield the events of a file."""
        for line in found:
            if isinstance(line, Problem):
                self._note(line)
                continue
            value = obj(line.value)
            if "workbench_session" in value:
                self._head(value, line.number)
            elif "blob" in value:
                self._blob(value)
            elif event := self._event(value, line.number):
                yield from self._begun(event, line.number)
                yield event
        yield from self._closing()

    def _head(self, value: JsonObject, number: int) -> None:
        version = whole(value.get("schema")) or 0
        if version > EVENTS_VERSION:
            why = f"it was written by a newer version (events {version}); what is not known is kept as it is"
            self._note(Problem(line=number, why=why))

    def _note(self, problem: Problem) -> None:
        (self._summaries[-1].problems if self._summaries else self.strays).append(problem)

    def _blob(self, value: JsonObject) -> None:
        ref = text(value.get("blob"))
        if ref.startswith("recorded:"):
            stored = self._store(clean(text(value.get("text")), 1 << 28).encode("utf-8", "replace"))
            if stored is not None:
                self._refs[ref] = stored

    def _event(self, value: JsonObject, number: int) -> Event | None:
        try:
            event = self._clean(value)
        except (MalformedEventError, ValueError, TypeError) as error:
            self._note(Problem(line=number, why=f"it is no event: {str(error)[:200]}"))
            return None
        if event.session_id == SYSTEM_SESSION:
            self._note(Problem(line=number, why="it belongs to the session of a journal itself; left out"))
            return None
        if event.id in self._seen:
            self._note(Problem(line=number, why=f"an event above has the id {event.id[:80]}; left out"))
            return None
        self._seen.add(event.id)
        if self._is_elsewhere(event.id, self._ids.get(event.session_id) or self._current(event.session_id)):
            why = f"another session here has an event with the id {event.id[:80]}; left out"
            self._note(Problem(line=number, why=why))
            return None
        return self._placed(event, number)

    def _clean(self, value: JsonObject) -> Event:
        if _is_too_large(value):
            raise ValueError("a number in it has over 64 bits")
        body, found = _scrubbed(obj(value.get("body")))
        given: dict[str, Json] = {**value, "body": body} if found else dict(value)
        if self._refs:
            given["body"] = self._renamed(given["body"])
        return replace(parse(given), position=0, recorded_at=None)

    def _renamed(self, value: Json) -> Json:
        """Return a value with the names that recorded bytes have here."""
        if isinstance(value, str):
            return self._refs.get(value, value)
        if isinstance(value, dict):
            return {key: self._renamed(item) for key, item in cast("dict[str, Json]", value).items()}
        if isinstance(value, list):
            return [self._renamed(item) for item in cast("list[Json]", value)]
        return value

    def _placed(self, event: Event, number: int) -> Event:
        key = event.session_id
        if key not in self._ids:
            self._ids[key] = self._current(key)
            body = event.body
            title = body.title if isinstance(body, SessionCreated) else ""
            self._summaries.append(Summary(session_id=self._ids[key], key=key, title=title))
        summary = next(one for one in self._summaries if one.key == key)
        summary.events += 1
        if event.sequence_number and event.sequence_number != summary.events:
            found = f"number {event.sequence_number} stands where {summary.events} follows"
            if not any(problem.why.startswith("number ") for problem in summary.problems):
                summary.problems.append(Problem(line=number, why=found))
        if event.action_id and isinstance(event.body, ActionOpened):
            self._open[event.action_id] = event
        elif event.action_id and isinstance(event.body, _ENDS):
            self._open.pop(event.action_id, None)
        return replace(event, session_id=self._ids[key], sequence_number=0)

    def _begun(self, event: Event, number: int) -> Iterator[Event]:
        """Begin a session whose own beginning is not in the file, or nobody could ever see it."""
        if event.session_id in self._has_begun:
            return
        self._has_begun.add(event.session_id)
        if isinstance(event.body, SessionCreated):
            return
        self._note(Problem(line=number, why="the session's beginning is not there; it begins here"))
        bodies = (
            SessionCreated(session_kind="import"),
            SessionStatusChanged(status="initializing"),
            SessionStatusChanged(status="ready"),
        )
        for at, body in enumerate(bodies):
            yield Event(
                id=f"{event.session_id}.begin.{at}", session_id=event.session_id, at=event.at,
                actor=Actor(kind="system", via="import"), body=body,
            )  # fmt: skip

    def _closing(self) -> Iterator[Event]:
        """Withdraw what would wait here: nobody asks for it any more."""
        for action_id, event in self._open.items():
            yield Event(
                id=f"{event.id}.import", session_id=self._ids[event.session_id], at=event.at,
                actor=Actor(kind="system", via="import"), body=ActionCancelled(why="imported"),
                call_id=event.call_id, action_id=action_id, turn_id=event.turn_id,
            )  # fmt: skip
