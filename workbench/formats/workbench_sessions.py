"""Sessions of this program as files: JSON lines that are written and read back, and Markdown for people.

On the way in, secrets are taken out and questions that would wait here are withdrawn.
"""

# The version in a session's file is that of the events, not of the database's tables.

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import SYSTEM_SESSION, Actor, BlobRef, Hunk, Json, JsonObject
from workbench.formats.assemble import CurrentSessionId, ImportSummary, StoreBlob
from workbench.formats.input import JsonLines
from workbench.formats.records import FileProblem, as_integer, as_object, as_objects, as_text
from workbench.formats.safe_markdown import harmless_markdown
from workbench.formats.sanitize import sanitize_text
from workbench.secrets.scrubber import scrub, scrub_value
from workbench.text.human import duration_text, iso_time
from workbench.text.safe import escape_json, one_line, safe_text

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


_ID_MEMBERS: Final = ("call_id", "action_id", "turn_id", "supersedes", "successor")
"""Members of events that name something of the same session."""
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
        self.strays: list[FileProblem] = []

    def events(self, lines: JsonLines) -> Iterator[e.Event]:
        """Yield the events of a file."""
        for line in lines:
            if isinstance(line, FileProblem):
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
            self._note(FileProblem(number, why))

    def _note(self, problem: FileProblem) -> None:
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
            self._note(FileProblem(number, f"it is not an event: {str(error)[:200]}"))
            return None
        if event.session_id == SYSTEM_SESSION:
            self._note(FileProblem(number, "it belongs to the session of a journal itself; left out"))
            return None
        if event.id in self._seen:
            self._note(FileProblem(number, f"an event above has the id {event.id[:80]}; left out"))
            return None
        self._seen.add(event.id)
        event = self._as_second(event)
        if self._is_elsewhere(event.id, self._ids.get(event.session_id) or self._current(event.session_id)):
            why = f"another session here has an event with the id {event.id[:80]}; left out"
            self._note(FileProblem(number, why))
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
            if not any(problem.why.startswith("number ") for problem in summary.problems):
                summary.problems.append(FileProblem(number, why))
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
        self._note(FileProblem(number, "the session's beginning is not there; it starts here"))
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


def markdown_blocks(
    session: Session, events: Sequence[e.Event], calls: Sequence[Call], actions: Sequence[Action]
) -> Iterator[str]:
    """Yield a session as blocks of Markdown; texts are the recorded, scrubbed ones."""
    rows, asked = {call.id: call for call in calls}, {action.id: action for action in actions}
    yield f"# {_inline_code(session.title, 200) or session.id}"
    yield "\n".join(_facts_block(session))
    for event in events:
        block = _event_block(event, rows, asked)
        if block:
            yield block


def _facts_block(session: Session) -> Iterator[str]:
    facts = (
        ("Session", session.id), ("Workspace", session.workspace), ("Model", session.model),
        ("Provider", session.provider), ("From", session.origin or ""), ("Status", session.status),
        ("Started", iso_time(session.created_at)), ("Tags", ", ".join(session.tags)),
    )  # fmt: skip
    yield from (f"- {name}: {_inline_code(value, 400)}" for name, value in facts if value)
    used = session.usage
    yield f"- Tokens: {used.input_tokens} in, {used.output_tokens} out"


def _event_block(event: e.Event, calls: Mapping[str, Call], actions: Mapping[str, Action]) -> str:
    match event.body:
        case e.PromptSubmitted(text=text):
            return f"## You\n\n{_closed_prose(text)}"
        case e.ReplyCompleted() as body if body.text or body.thinking:
            thought = f"<details><summary>Thought</summary>\n\n{fenced_text(body.thinking)}\n\n</details>\n\n"
            return f"## Agent\n\n{thought if body.thinking else ''}{_closed_prose(body.text)}".rstrip()
        case e.ActionOpened(hunks=hunks) if hunks:
            return f"### Proposed: {_inline_code(event.body.target, 200)}\n\n{fenced_diff(hunks)}"
        case e.CallFinished() as body:
            return _call_block(calls.get(event.call_id or ""), body)
        case e.FileChanged() as body:
            head = f"Changed {_code_span(body.path)} ({body.change}, +{body.added} −{body.removed})"
            return f"{head}\n\n{fenced_diff(body.hunks)}" if body.hunks else head
        case e.ErrorRaised(message=message):
            return f"**Error:** {_inline_code(message, 2_000)}"
        case _:
            return _decision_block(event, actions)


def _decision_block(event: e.Event, actions: Mapping[str, Action]) -> str:
    action = actions.get(event.action_id or "")
    match event.body:
        case e.ActionApproved(reason=reason) | e.ActionRejected(reason=reason) if action is not None:
            word = "Approved" if isinstance(event.body, e.ActionApproved) else "Rejected"
            why = f": “{_inline_code(reason, 2_000)}”" if reason else ""
            return f"**{word}** {_code_span(action.target)}{why}"
        case e.ActionExpired() if action is not None:
            return f"**Expired** {_code_span(action.target)}"
        case _:
            return ""


def _call_block(call: Call | None, body: e.CallFinished) -> str:
    name = f"{_code_span(call.tool)} {_code_span(call.target)}" if call else "A call"
    took = f", {duration_text(body.duration_ms / 1000)}" if body.duration_ms else ""
    code = f", exit {body.exit_code}" if body.exit_code is not None else ""
    text = body.preview or body.error
    head = f"### {name}: {body.state}{code}{took}"
    return f"{head}\n\n{fenced_text(text)}" if text else head


def fenced_diff(hunks: Sequence[Hunk]) -> str:
    lines: list[str] = []
    for hunk in hunks:
        old, new = f"{hunk.old_start},{hunk.old_count}", f"{hunk.new_start},{hunk.new_count}"
        lines.append(f"@@ -{old} +{new} @@")
        lines += [f"{sign}{text}" for sign, text in hunk.lines]
    return fenced_text("\n".join(lines), "diff")


def fenced_text(text: str, language: str = "") -> str:
    """Return a text in a fence longer than any in it."""
    longest = max((len(fence) for fence in re.findall(r"`{3,}", text)), default=2)
    bar = "`" * max(3, longest + 1)
    return f"{bar}{language}\n{safe_text(text)}\n{bar}"


def _closed_prose(text: str) -> str:
    """Return a text that was written as Markdown, harmless, and whole: what follows it is read by itself."""
    return harmless_markdown(safe_text(text).strip("\n"), fenced_text)


def _inline_code(text: str | None, most: int) -> str:
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", one_line(text or "", most))


def _code_span(text: str) -> str:
    clean = one_line(text, 200).replace("`", "ˋ")
    return f"`{clean}`" if clean else ""
