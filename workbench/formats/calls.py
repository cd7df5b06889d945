"""The life of a foreign call in events of ours: the verdict, the answer of a human, what came of it.

Pure but for the store, which keeps large outputs. Owns the moves that a call makes; everything in it is
scrubbed here. Nothing is run.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, cast

from workbench.domain import events as e
from workbench.domain.events import Body
from workbench.domain.values import Actor, BlobRef, Hunk, Json, JsonObject, Verdict
from workbench.formats import cleaning, editing, patches
from workbench.formats.foreign import Asked, Decision, Result

INLINE: Final = 32_000
"""Characters of an output that stay in the event; a longer one is stored whole beside it."""

_SHOWN: Final = 8_000
_AGENT: Final = Actor(kind="agent")
_USER: Final = Actor(kind="user", via="import")
_SYSTEM: Final = Actor(kind="system", via="import")
_TOOL: Final = Actor(kind="tool")

Store = Callable[[bytes], BlobRef | None]


@dataclass(slots=True)
class OpenCall:
    """A call without its result."""

    id: str
    asked: Asked
    arguments: JsonObject
    """As they are recorded."""
    at: int
    decision: Decision | None = None


class CallLife:
    """Makes the events of calls of one format."""

    def __init__(self, origin: str, store: Store) -> None:
        """Take the name of the format, and what keeps the bytes of a large output."""
        self._origin, self._store = origin, store

    def of(self, call: OpenCall, item: Result) -> Iterator[tuple[Body, Actor, str | None]]:
        """Yield the life of a call: the verdict, the answer of a human if there was one, what came of it."""
        if not item.changes and item.state in ("succeeded", "rejected"):
            item = replace(item, changes=editing.changes(call.asked))
        shown = cleaning.hunks(patches.hunks(item.changes))
        decision = call.decision
        if item.state == "rejected" and decision is None:
            decision = Decision(call=call.asked.id, is_approved=False, reason=item.reason)
        is_asked = decision is not None or item.state == "expired"
        action = f"{call.id}.asked" if is_asked else None
        yield self._proposed(call, is_asked=is_asked), _AGENT, None
        if is_asked:
            yield self._opened(call, shown), _AGENT, action
        if item.state == "expired":
            yield e.ActionExpired(), _SYSTEM, action
        elif decision is not None and not decision.is_approved:
            reason = cleaning.clean(decision.reason or item.reason, 8_000) or None
            yield e.ActionRejected(reason=reason), _USER, action
        else:
            if decision is not None:
                yield e.ActionApproved(digest="", approved_until=call.at, result_digest=""), _USER, action
            yield from self._executed(call, item, shown)

    def _proposed(self, call: OpenCall, *, is_asked: bool) -> Body:
        outcome = "ask" if is_asked else "allowed"
        return e.CallProposed(
            tool=cleaning.line(call.asked.tool, 120),
            verdict=Verdict(outcome=outcome, step="ask" if is_asked else "grants", by=self._origin),
            parameters=call.arguments,
            provider_call_id=cleaning.line(call.asked.id, 200), target=target(call.asked),
        )  # fmt: skip

    def _opened(self, call: OpenCall, shown: tuple[Hunk, ...]) -> Body:
        added, removed = patches.counts(shown)
        return e.ActionOpened(
            action_kind="tool", tool=cleaning.line(call.asked.tool, 120), target=target(call.asked),
            digest="", created_at=call.at, expires_at=None, verb="edit" if shown else "run", hunks=shown,
            parameters=call.arguments, added=added, removed=removed,
        )  # fmt: skip

    def _executed(
        self, call: OpenCall, item: Result, shown: tuple[Hunk, ...]
    ) -> Iterator[tuple[Body, Actor, str | None]]:
        if item.state == "cancelled":
            yield self._finished(call, item), _TOOL, None
            return
        yield e.CallExecuting(), _AGENT, None
        if item.state == "succeeded":
            # Several edits of one file by one call are one change with several hunks.
            for change in {one.path: one for one in item.changes}.values():
                mine = tuple(hunk for hunk in shown if hunk.path == cleaning.clean(change.path or "?"))
                added, removed = patches.counts(mine)
                yield (
                    e.FileChanged(
                        path=cleaning.line(change.path, 1_000), change=change.change,
                        before=None if change.change == "create" else "", hunks=mine, added=added,
                        after=None if change.change == "delete" else "", removed=removed,
                    ),
                    _TOOL,
                    None,
                )  # fmt: skip
        yield self._finished(call, item), _TOOL, None

    def _finished(self, call: OpenCall, item: Result) -> Body:
        took = item.duration_ms
        if took is None and item.at is not None:
            took = (item.at - call.at) // 1_000
        text = cleaning.clean(item.text)
        ref = None
        if len(text) > INLINE:
            ref = self._store(text.encode("utf-8", "replace"))
            middle = f"\n[… {len(text)} characters in all, the middle is left out …]\n"
            text = f"{text[:_SHOWN]}{middle}{text[-2_000:]}"
        state = "succeeded" if item.state in ("rejected", "expired") else item.state
        error = cleaning.clean(item.error, 8_000) or (item.state if state != "succeeded" else "")
        return e.CallFinished(
            state=state, preview=text, output_ref=ref, output_bytes=len(item.text),
            error="" if state == "succeeded" else error, exit_code=item.exit_code,
            duration_ms=max(0, took or 0),
            files_affected=tuple(cleaning.line(change.path, 1_000) for change in item.changes),
            detail="" if state != "cancelled" else "stopped",
        )  # fmt: skip


_TARGETS: Final = (
    "command", "cmd", "file_path", "filePath", "path", "absolute_path", "filename", "notebook_path", "url",
    "pattern", "query", "description", "prompt", "title", "name",
)  # fmt: skip


def target(asked: Asked) -> str:
    """Return what a call is about, as one line: its command, its file, or what comes nearest."""
    for name in _TARGETS:
        found = asked.arguments.get(name)
        if isinstance(found, list):
            words = [word for word in cast("list[Json]", found) if isinstance(word, str)]
            found = (
                words[-1] if words[:2] in (["bash", "-lc"], ["sh", "-c"], ["bash", "-c"]) else " ".join(words)
            )
        if isinstance(found, str) and found.strip():
            return cleaning.line(found)
    return next((cleaning.line(v) for v in asked.arguments.values() if isinstance(v, str)), "")
