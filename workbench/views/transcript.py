"""A conversation as blocks: an incremental fold of ONE session's events.

`reply.completed` replaces what was streamed of its turn and round, `call.finished` what was streamed of its
output, so a transcript of live events comes to the same blocks as one of what lasts. Total: any event in any
state is folded or ignored. Knows nothing of widths and heights.
"""

from collections.abc import Callable, Iterable, Mapping

from workbench.domain import events as e
from workbench.domain.events import Body, Event
from workbench.domain.fold import Tables, apply
from workbench.domain.rows import Action, Call
from workbench.domain.runs import RunChanged, RunRequested, RunStarted, StepChanged
from workbench.records import replace
from workbench.text.safe import one_line
from workbench.views.blocks import (
    Block,
    CallLine,
    ErrorBlock,
    Notice,
    NoticeKind,
    Output,
    Prompt,
    StepLine,
    Text,
    Thought,
    TranscriptFacts,
)
from workbench.views.callwords import call_words
from workbench.views.notices import ERROR_KEYS, PAUSE_KEYS, notice_of
from workbench.views.order import BlockOrder
from workbench.views.selection import hunk_sizes
from workbench.views.signs import call_sign
from workbench.views.steplines import RunLines
from workbench.views.streams import Reply, Stream
from workbench.views.tools import target_of

__all__ = [
    "Block", "CallLine", "ErrorBlock", "Notice", "NoticeKind", "Output", "Prompt", "StepLine", "Text",
    "Thought", "Transcript", "TranscriptFacts",
]  # fmt: skip

_Round = tuple[str | None, int]


class Transcript:
    """The blocks of one session. Feed it events in order; it says which blocks changed."""

    def __init__(self, session_id: str, turns_before: int = 0) -> None:
        """Begin a fold.

        Args:
            session_id: Whose events are folded.
            turns_before: How many turns came before the first event that will be folded.
        """
        self.session_id = session_id
        self._turns_before = turns_before
        self._blocks = BlockOrder()
        self._rows = Tables()
        self._turn: str | None = None
        self._turns: set[str | None] = set()
        self._rounds: dict[str | None, int] = {}
        self._replies: dict[_Round, Reply] = {}
        self._whole: set[_Round] = set()
        self._outputs: dict[str, Stream] = {}
        self._hunks: dict[str, tuple[int, ...]] = {}
        self._run = RunLines()
        self._open: set[str] = set()
        self._model = ""
        self._position = 0
        self._handlers: Mapping[type[Body], Callable[[Event], None]] = {
            e.PromptSubmitted: self._prompt,
            e.TurnStarted: self._turn_started,
            e.TurnEnded: self._turn_ended,
            e.TextStreamed: self._text_streamed,
            e.ThinkingStreamed: self._thinking_streamed,
            e.ReplyCompleted: self._reply_completed,
            e.ActionOpened: self._action_opened,
            e.OutputStreamed: self._output_streamed,
            e.CallExecuting: self._went_on,
            e.CallFinished: self._call_finished,
            e.ErrorRaised: self._error,
            e.SessionStatusChanged: self._said,
            e.ContinueRequested: self._said,
            e.MarkAdded: self._said,
            e.SessionChanged: self._said,
            e.WorkspaceTrusted: self._said,
            e.Unknown: self._said,
            RunRequested: self._of_run,
            RunStarted: self._of_run,
            RunChanged: self._of_run,
            StepChanged: self._of_run,
        }

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks in reading order."""
        return self._blocks.all()

    @property
    def facts(self) -> TranscriptFacts:
        """Return what the title says."""
        calls = self._rows.calls.values()
        return TranscriptFacts(
            turns=self._turns_before + len(self._turns), is_working=self._turn is not None,
            waiting=sum(call.state == "pending" and call.action_id is not None for call in calls),
            queued=self._blocks.queued, model=self._model, position=self._position,
        )  # fmt: skip

    @property
    def is_streaming(self) -> bool:
        """Return whether a reply or an output is still being written."""
        return bool(self._outputs) or bool(self._blocks.open_texts())

    def block(self, block_id: str) -> Block | None:
        """Return one block as it stands."""
        return self._blocks.get(block_id)

    def apply(self, event: Event) -> set[str]:
        """Fold one event; return the ids of blocks that came, changed or went (`block` is None then)."""
        if event.session_id != self.session_id:
            return set()
        self._position = max(self._position, event.position)
        self._blocks.begin()
        rows = apply(event, self._rows)
        for row in rows:
            self._rows.put(row)
        handler = self._handlers.get(type(event.body))
        if handler is not None:
            handler(event)
        for row in rows:
            if isinstance(row, Call):
                self._show_call(row, event)
            elif isinstance(row, Action) and row.call_id in self._rows.calls:
                self._show_call(self._rows.calls[row.call_id], event)
        return self._blocks.changed()

    def apply_all(self, events: Iterable[Event]) -> set[str]:
        """Fold events in order; return the ids of all blocks that changed."""
        return set[str]().union(*(self.apply(event) for event in events))

    def close(self) -> None:
        """Take this part of a session for over: nothing in it streams any more or waits for a key."""
        self._close_open()
        self._blocks.retire_keys()

    def toggle(self, block_id: str) -> set[str]:
        """Fold or open a thought, or the output of a call line; return the ids that changed."""
        block = self._blocks.get(block_id)
        if isinstance(block, CallLine | Output):
            keys = (_call_key(block.call_id), _output_key(block.call_id))
        elif isinstance(block, Thought):
            keys = (block_id,)
        else:
            return set()
        self._open ^= set(keys)
        self._blocks.begin()
        for key in keys:
            found = self._blocks.get(key)
            if isinstance(found, Thought | CallLine | Output):
                self._blocks.put(replace(found, is_folded=key not in self._open))
        return self._blocks.changed()

    # --- prompts and turns --------------------------------------------------------------------------

    def _prompt(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, e.PromptSubmitted)
        self._blocks.retire_keys()
        prompt = Prompt(
            id=f"prompt:{event.id}", at=event.at, text=body.text, is_queued=self._turn is not None
        )
        self._blocks.append(prompt)

    def _turn_started(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, e.TurnStarted)
        self._drop_streamed((event.turn_id, body.round))
        self._close_open()
        self._blocks.retire_keys()
        if event.turn_id != self._turn:
            self._blocks.take_queued()
        self._turn = event.turn_id
        self._turns.add(event.turn_id)
        self._rounds[event.turn_id] = body.round
        self._model = body.model

    def _turn_ended(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, e.TurnEnded)
        self._close_open()
        self._turn = None
        if body.outcome == "interrupted":
            self._notice(event, "stopped", "You stopped the agent.", PAUSE_KEYS)
        elif body.outcome == "limit":
            self._notice(event, "limit", body.detail or "The turn reached its limit.", PAUSE_KEYS)

    def _close_open(self) -> None:
        """Keep what came of a reply that will not be finished."""
        for block in self._blocks.open_texts():
            if isinstance(block, Text):
                self._blocks.put(replace(block, is_open=False, was_cut=True))
            else:
                self._blocks.put(replace(block, is_open=False))

    # --- replies ------------------------------------------------------------------------------------

    def _text_streamed(self, event: Event) -> None:
        body, key = event.body, self._round(event)
        assert isinstance(body, e.TextStreamed)
        if key in self._whole:
            return
        reply = self._replies.setdefault(key, Reply())
        reply.end_thought(event.at)
        text = reply.add_text(body.block, body.offset, body.text)
        self._end_thought(key, reply)
        before = self._blocks.get(_key("text", key))
        at = before.at if before else event.at
        self._blocks.put(Text(id=_key("text", key), at=at, text=text, is_open=True))

    def _thinking_streamed(self, event: Event) -> None:
        body, key = event.body, self._round(event)
        assert isinstance(body, e.ThinkingStreamed)
        if key in self._whole:
            return
        reply = self._replies.setdefault(key, Reply())
        text = reply.add_thinking(body.block, body.offset, body.text, event.at)
        before = self._blocks.get(_key("thought", key))
        thought = self._thought(key, before.at if before else event.at, text, reply.thought_seconds)
        self._blocks.put(replace(thought, is_open=True), before=_key("text", key))

    def _end_thought(self, key: _Round, reply: Reply) -> None:
        thought = self._blocks.get(_key("thought", key))
        if isinstance(thought, Thought) and thought.is_open:
            self._blocks.put(replace(thought, is_open=False, seconds=reply.thought_seconds))

    def _reply_completed(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, e.ReplyCompleted)
        key = (event.turn_id, body.round)
        reply = self._replies.get(key, Reply())
        reply.end_thought(event.at)
        self._drop_streamed(key)
        self._whole.add(key)
        if body.thinking:
            self._blocks.put(self._thought(key, event.at, body.thinking, reply.thought_seconds))
        if body.text:
            self._blocks.put(Text(id=_key("text", key), at=event.at, text=body.text))

    def _thought(self, key: _Round, at: int, text: str, seconds: float | None) -> Thought:
        name = _key("thought", key)
        return Thought(id=name, at=at, text=text, seconds=seconds, is_folded=name not in self._open)

    def _drop_streamed(self, key: _Round) -> None:
        if key in self._whole:
            return
        self._replies.pop(key, None)
        self._blocks.remove(_key("text", key))
        self._blocks.remove(_key("thought", key))

    def _round(self, event: Event) -> _Round:
        return event.turn_id, self._rounds.get(event.turn_id, 1)

    # --- calls --------------------------------------------------------------------------------------

    def _action_opened(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, e.ActionOpened)
        self._hunks[event.action_id or ""] = hunk_sizes(body.hunks)

    def _output_streamed(self, event: Event) -> None:
        body, call_id = event.body, event.call_id or ""
        assert isinstance(body, e.OutputStreamed)
        call = self._rows.calls.get(call_id)
        if call is None or call.state != "executing":
            return
        text = self._outputs.setdefault(call_id, Stream()).add(body.offset, body.text)
        self._put_output(call, event.at, text, len(text), is_open=True)
        self._show_call(call, event)

    def _call_finished(self, event: Event) -> None:
        body, call_id = event.body, event.call_id or ""
        assert isinstance(body, e.CallFinished)
        call = self._rows.calls.get(call_id)
        self._outputs.pop(call_id, None)
        if call is None or call.finished_at != event.at:
            return
        self._blocks.remove(_output_key(call_id))
        if body.preview and body.output_bytes:
            self._put_output(call, event.at, body.preview, body.output_bytes, is_open=False)

    def _put_output(self, call: Call, at: int, text: str, total: int, *, is_open: bool) -> None:
        key = _output_key(call.id)
        output = Output(
            id=key, at=at, call_id=call.id, text=text, total_bytes=total, is_open=is_open,
            is_folded=key not in self._open,
        )  # fmt: skip
        self._blocks.put(output, behind=_call_key(call.id))

    def _show_call(self, call: Call, event: Event) -> None:
        action = self._rows.actions.get(call.action_id or "")
        words = call_words(call, action, self._hunks.get(call.action_id or "", ()))
        key = _call_key(call.id)
        line = CallLine(
            id=key, at=call.requested_at, call_id=call.id, action_id=call.action_id,
            sign=call_sign(call, action)[0], tool=one_line(call.tool, 64), target=target_of(call),
            right=words.right, right_meaning=words.meaning, is_by_rule=call.rule is not None, note=words.note,
            note_quote=words.quote, has_output=self._blocks.get(_output_key(call.id)) is not None,
            is_folded=key not in self._open, ran_ms=call.duration_ms or 0,
        )  # fmt: skip
        body = event.body
        replaced = body.replaces if isinstance(body, e.CallProposed) else None
        self._blocks.put(line, behind=_call_key(replaced) if replaced else None)

    # --- pipeline runs ------------------------------------------------------------------------------

    def _of_run(self, event: Event) -> None:
        for block in self._run.blocks(event):
            self._blocks.put(block)

    # --- errors and notices ---------------------------------------------------------------------------

    def _error(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, e.ErrorRaised)
        if event.turn_id == self._turn:
            self._drop_streamed(self._round(event))
        keys = ERROR_KEYS if event.turn_id is not None else ()
        self._blocks.retire_keys()
        block = ErrorBlock(
            id=f"error:{event.id}", at=event.at, code=body.code, message=body.message, details=body.details,
            remedy=body.remedy, keys=keys,
        )  # fmt: skip
        self._blocks.put(block)

    def _went_on(self, event: Event) -> None:
        del event
        self._blocks.retire_keys()

    def _said(self, event: Event) -> None:
        last = self._blocks.last()
        found = notice_of(
            event.body, was_stopped=isinstance(last, Notice) and last.kind == "stopped",
            window_seconds=self._expired_window(),
        )  # fmt: skip
        if found is not None:
            self._notice(event, *found)

    def _expired_window(self) -> float | None:
        """Return how long the newest question that expired had been open, in seconds."""
        expired = [one for one in self._rows.actions.values() if one.state == "expired" and one.expires_at]
        newest = max(expired, key=lambda action: action.expires_at or 0, default=None)
        return None if newest is None else ((newest.expires_at or 0) - newest.created_at) / 1_000_000

    def _notice(self, event: Event, kind: NoticeKind, text: str, keys: tuple[tuple[str, str], ...]) -> None:
        if kind not in ("changed", "mark"):
            self._blocks.retire_keys()
        self._blocks.put(Notice(id=f"notice:{event.id}", at=event.at, kind=kind, text=text, keys=keys))


def _key(kind: str, key: _Round) -> str:
    return f"{kind}:{key[0]}:{key[1]}"


def _call_key(call_id: str) -> str:
    return f"call:{call_id}"


def _output_key(call_id: str) -> str:
    return f"output:{call_id}"
