"""The events of one foreign call: what the gate said, the question, the answer, the run, what came of it.

Each stands at the moment that the file gives for it. Legal moves of `domain/machines.py` are kept here; times
and places are handed in, and nothing is stored.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain import events
from workbench.domain.events import Event
from workbench.domain.values import Actor, BlobRef, Choice, GateVerdict, Hunk, Json, JsonObject
from workbench.formats import json_fields as j
from workbench.formats import patches, sanitize
from workbench.formats import records as r
from workbench.formats.held_events import HeldPlace

StoreBlob = Callable[[bytes], BlobRef | None]
MOST_INLINE: Final = 32_000
"""Characters of an output that stay in the event; a longer one is stored whole beside it."""
_SHOWN_OF_LARGE: Final = 8_000
_MOST_CHOICES: Final = 20
_AGENT: Final = Actor(kind="agent")
_TOOL: Final = Actor(kind="tool")
_USER: Final = Actor(kind="user", via="import")
_SYSTEM: Final = Actor(kind="system", via="import")


class OpenCall(Struct, eq=False):
    """A call whose end was not read yet, with the places that are held open for its events."""

    id: str
    asked: r.ToolCall
    arguments: JsonObject
    """As they are recorded."""
    at: int
    turn: str | None = None
    question: r.CallQuestion | None = None
    decision: r.CallDecision | None = None
    places: dict[str, HeldPlace] = field(default_factory=dict[str, HeldPlace])
    """By what stands there: `proposed`, `opened`, `decided`, `executing`."""
    told: set[str] = field(default_factory=set[str])
    """What was said of it already, in the same words."""
    ran_at: int | None = None
    progress: Counter[str] = field(default_factory=Counter[str])
    shown_output: int = 0
    is_lost: bool = False
    """Its end is none of the file: what is told now goes when the file grows."""

    @property
    def action(self) -> str:
        """The id of the question about it."""
        return f"{self.id}.asked"


class CallEvents:
    """Makes the events of calls of one format."""

    def __init__(self, origin: str, store: StoreBlob, recorded_at: int | None) -> None:
        """Take the name of the format, what keeps the bytes of a large output, and when it is recorded."""
        self._origin, self._store, self._recorded_at = origin, store, recorded_at

    def ended(self, call: OpenCall, item: r.CallResult, time_us: int, child: str = "") -> list[Event]:
        """Fill the open places of a call and return what stands at its end; `child` is its session's id."""
        if not item.changes and item.state in ("succeeded", "rejected"):
            item = replace(item, changes=patches.edits_of_call(call.asked))
        hunks = sanitize.sanitize_hunks(patches.edits_to_hunks(item.changes))
        end: HeldPlace = HeldPlace(owner=call.id, at=time_us)
        self._begin(call, hunks, end, is_asked=_was_asked(call, item))
        if not self._denied(call, item, end):
            if item.state != "cancelled" or "executing" in call.places or call.decision is not None:
                self._run(call, end)
            self._finish(call, item, hunks, end, child)
        _close(call)
        return end.items

    def released(self, call: OpenCall) -> None:
        """Close the places of a call of which no more can be waited for: it waits, or it runs."""
        is_asked = call.question is not None or call.decision is not None
        here: HeldPlace = HeldPlace(owner=call.id, at=call.at)
        self._begin(call, (), here, is_asked=is_asked)
        if not is_asked or (call.decision is not None and call.decision.is_approved):
            self._run(call, here)
        _close(call)

    def lost(self, call: OpenCall, time_us: int) -> list[Event]:
        """Return what ends a call whose result the file does not hold."""
        call.is_lost = True
        if "opened" in call.told and "decided" not in call.told:
            lost = r.CallResult(call="", state="cancelled", error="the file holds no answer to this question")
        else:
            lost = r.CallResult(call="", state="interrupted", error="the file holds no result of this call")
        return self.ended(call, lost, time_us)

    def _begin(self, call: OpenCall, hunks: tuple[Hunk, ...], end: HeldPlace, *, is_asked: bool) -> None:
        if "proposed" in call.told:
            return
        place = _open_place(call, "proposed") or end
        self._tell(call, place, "proposed", self._proposed(call, is_asked=is_asked), _AGENT, time_us=call.at)
        if is_asked:
            where = _open_place(call, "opened") or place
            self._tell(call, where, "opened", self._opened(call, hunks, where.at), _AGENT, action=call.action)

    def _run(self, call: OpenCall, end: HeldPlace) -> None:
        if "executing" in call.told:
            return
        started = _open_place(call, "executing")
        if "opened" not in call.told:
            place = started or _open_place(call, "proposed") or end
        else:
            decided = _open_place(call, "decided")
            if started is not None and (decided is None or started.at < decided.at):
                # What runs was allowed before.
                decided = started
            place = decided or end
            self._approve(call, place)
            place = started or place
        call.ran_at = call.at if place is call.places.get("proposed") else place.at
        self._tell(call, place, "executing", events.CallExecuting(), _AGENT, time_us=call.ran_at)

    def _approve(self, call: OpenCall, place: HeldPlace) -> None:
        text = call.decision or r.CallDecision(call=call.asked.id, is_approved=True)
        body = events.ActionApproved(
            digest="", approved_until=place.at, result_digest="",
            reason=sanitize.sanitize_text(text.reason) or None,
            choice=sanitize.sanitize_line(text.choice, 200) or None,
            text=sanitize.sanitize_text(text.text) or None,
        )  # fmt: skip
        self._tell(call, place, "decided", body, _USER, action=call.action)

    def _denied(self, call: OpenCall, item: r.CallResult, end: HeldPlace) -> bool:
        """Tell how a question ended that was not answered with yes; return whether that ends the call."""
        if "opened" not in call.told or call.told & {"decided", "executing"}:
            return False
        place = _open_place(call, "decided") or end
        decision = call.decision
        if item.state == "expired":
            self._tell(call, place, "decided", events.ActionExpired(), _SYSTEM, action=call.action)
            return True
        if item.state == "rejected" or (decision is not None and not decision.is_approved):
            text = decision or r.CallDecision(call=call.asked.id, is_approved=False)
            body = events.ActionRejected(
                reason=sanitize.sanitize_text(text.reason or item.reason) or None,
                choice=sanitize.sanitize_line(text.choice, 200) or None,
            )
            self._tell(call, place, "decided", body, _USER, action=call.action)
            return True
        if item.state == "cancelled" and decision is None:
            why = events.ActionCancelled(why=sanitize.sanitize_line(item.error))
            self._tell(call, place, "decided", why, _SYSTEM, action=call.action)
        return False

    def _proposed(self, call: OpenCall, *, is_asked: bool) -> events.EventBody:
        outcome = "ask" if is_asked else "allowed"
        return events.CallProposed(
            tool=sanitize.sanitize_line(call.asked.tool, 120),
            verdict=GateVerdict(
                outcome=outcome, step="ask" if is_asked else "grants", by=self._origin,
                rule=None if is_asked else sanitize.sanitize_line(call.asked.rule, 200) or None,
            ),
            parameters=call.arguments,
            provider_call_id=sanitize.sanitize_line(call.asked.id, 200), target=_target_of(call),
        )  # fmt: skip

    def _opened(self, call: OpenCall, hunks: tuple[Hunk, ...], time_us: int) -> events.EventBody:
        added, removed = patches.added_and_removed(hunks)
        text = call.question.prompt if call.question else ""
        choices = call.question.choices if call.question else ()
        return events.ActionOpened(
            action_kind="question" if text else "tool", tool=sanitize.sanitize_line(call.asked.tool, 120),
            target=_target_of(call), digest="", created_at=time_us, expires_at=None,
            verb="ask" if text else "edit" if hunks else "run", hunks=hunks,
            prompt=sanitize.sanitize_text(text) or None,
            choices=tuple(
                Choice(key=sanitize.sanitize_line(key, 200), label=sanitize.sanitize_line(label, 400))
                for key, label in choices[:_MOST_CHOICES]
            ),
            parameters={} if text else call.arguments, added=added, removed=removed,
        )  # fmt: skip

    def _finish(
        self, call: OpenCall, item: r.CallResult, hunks: tuple[Hunk, ...], end: HeldPlace, child: str
    ) -> None:
        if item.state == "succeeded":
            # Several edits of one file by one call are one change with several hunks.
            for number, change in enumerate({edit.path: edit for edit in item.changes}.values()):
                self._tell(call, end, f"file{number}", _file_changed(change, hunks), _TOOL)
        self._tell(call, end, "finished", self._finished(call, item, end.at, child), _TOOL)

    def _finished(self, call: OpenCall, item: r.CallResult, time_us: int, child: str) -> events.EventBody:
        took = item.duration_ms
        if took is None:
            took = (time_us - (call.at if call.ran_at is None else call.ran_at)) // 1_000
        text = sanitize.sanitize_text(item.text, sanitize.MOST_OUTPUT)
        ref = None
        if len(text) > MOST_INLINE:
            ref = self._store(text.encode("utf-8", "replace"))
            middle = f"\n[… {len(text)} characters in all, the middle is left out …]\n"
            text = sanitize.sanitize_text(f"{text[:_SHOWN_OF_LARGE]}{middle}{text[-2_000:]}")
        # What was released as running before its rejection was read cannot be rejected any more.
        state = "cancelled" if item.state in ("rejected", "expired") else item.state
        error = sanitize.sanitize_text(item.error) or (item.state if state != "succeeded" else "")
        about: dict[str, Json] = {**sanitize.sanitize_object(item.metadata)}
        if child:
            about["child_session"] = child
        if call.progress:
            about["progress"] = dict(call.progress)
        return events.CallFinished(
            state=state, preview=text, output_ref=ref, output_bytes=len(item.text),
            error="" if state == "succeeded" else error, exit_code=item.exit_code,
            duration_ms=max(0, took),
            files_affected=tuple(sanitize.sanitize_line(change.path, 1_000) for change in item.changes),
            detail="" if state != "cancelled" else "stopped", metadata=about,
        )  # fmt: skip

    def _tell(
        self, call: OpenCall, place: HeldPlace, name: str, body: events.EventBody, actor: Actor, *,
        action: str | None = None, time_us: int | None = None,
    ) -> None:  # fmt: skip
        call.told.add(name)
        session, _, number = call.id.rpartition(".")
        place.items.append(Event(
            # What the file holds is numbered in its order.
            id=f"{session}.end.{number}.{name}" if call.is_lost else "",
            session_id=session, at=place.at if time_us is None else time_us, actor=actor, body=body,
            turn_id=call.turn,
            call_id=call.id, action_id=action, recorded_at=self._recorded_at,
        ))  # fmt: skip


def _was_asked(call: OpenCall, item: r.CallResult) -> bool:
    if call.decision is not None or item.state in ("rejected", "expired"):
        return True
    # A call that failed before its question was shown was not asked about.
    return call.question is not None and (item.state != "failed" or "opened" in call.told)


def _open_place(call: OpenCall, name: str) -> HeldPlace | None:
    place = call.places.get(name)
    return place if place is not None and place.is_open else None


def _close(call: OpenCall) -> None:
    for place in call.places.values():
        place.is_open = False


def _file_changed(change: r.FileEdit, hunks: tuple[Hunk, ...]) -> events.EventBody:
    mine = tuple(hunk for hunk in hunks if hunk.path == sanitize.sanitize_text(change.path or "?"))
    added, removed = patches.added_and_removed(mine)
    return events.FileChanged(
        path=sanitize.sanitize_line(change.path, 1_000), change=change.change,
        before=None if change.change == "create" else "", hunks=mine, added=added,
        after=None if change.change == "delete" else "", removed=removed,
        moved_from=change.moved_from and sanitize.sanitize_line(change.moved_from, 1_000),
    )  # fmt: skip


_TARGET_ARGUMENTS: Final = (
    "command", "cmd", "file_path", "filePath", "path", "absolute_path", "filename", "notebook_path", "url",
    "pattern", "query", "description", "prompt", "title", "name",
)  # fmt: skip


def _target_of(call: OpenCall) -> str:
    text = call.question.prompt.strip() if call.question else ""
    return sanitize.sanitize_line(text.partition("\n")[0]) if text else call_target(call.asked)


def call_target(call: r.ToolCall) -> str:
    """Return what a call is about, as one line: its command, its file, or what comes nearest."""
    if files := _patched_files(call):
        return sanitize.sanitize_line(" ".join(files))
    for name in _TARGET_ARGUMENTS:
        argument = call.arguments.get(name)
        if isinstance(argument, list):
            text = [word for word in cast("list[Json]", argument) if isinstance(word, str)]
            argument = (
                text[-1] if text[:2] in (["bash", "-lc"], ["sh", "-c"], ["bash", "-c"]) else " ".join(text)
            )
        if isinstance(argument, str) and argument.strip():
            return sanitize.sanitize_line(argument)
    return next((sanitize.sanitize_line(v) for v in call.arguments.values() if isinstance(v, str)), "")


def _patched_files(call: r.ToolCall) -> list[str]:
    """Return the files that a patch in Codex's notation names, also one within a command."""
    texts = _texts_of(call.arguments)
    patch = next((text for text in texts if "*** Begin Patch" in text), "")
    return list(dict.fromkeys(patches.files_of_begin_patch(patch))) if patch else []


def _texts_of(arguments: JsonObject) -> Iterator[str]:
    for value in arguments.values():
        if isinstance(value, str):
            yield value
        else:
            yield from j.as_texts(value)
