"""A conversation as blocks: the fold of a session's events, its turns, the last event of a block.

`reply.completed` replaces what was streamed of its turn and round, `call.finished` the streamed output.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, assert_never

from msgspec.structs import replace

from workbench.domain import events as e
from workbench.domain.events import Event, is_of_file
from workbench.domain.fold import MemoryTables, apply_event
from workbench.domain.machines import HUMAN_ENDED_PAUSES, PauseReason
from workbench.domain.rows import Action, Call
from workbench.text.human import SECOND_MICROS, counted
from workbench.text.safe import one_line
from workbench.views.call_summary import call_summary
from workbench.views.conversation_blocks import (
    Block,
    BlockOrder,
    CallBlock,
    ErrorBlock,
    NoticeBlock,
    NoticeKind,
    OutputBlock,
    PromptBlock,
    TextBlock,
    ThoughtBlock,
    TranscriptFacts,
    TurnSummary,
)
from workbench.views.conversation_progress import CommandProgress, ModelProgress
from workbench.views.hunk_selection import hunk_sizes
from workbench.views.notices import ERROR_KEYS, PAUSE_KEYS, NoticeBody, is_bookkeeping, notice_of
from workbench.views.run_step_log import RunStepLog
from workbench.views.sandbox import refusals_sentence
from workbench.views.sessions import NO_AGENTS
from workbench.views.status_icons import StatusName, call_status
from workbench.views.stream_buffers import OutputBuffer, ReplyBuffer
from workbench.views.sub_agents import SubAgent
from workbench.views.tools import call_target, shown_tool, suggestion_markdown

"""Microseconds."""
_RoundKey = tuple[str | None, int]


class Transcript:
    """The blocks of one session. Feed it events in order; it says which blocks changed."""

    def __init__(self, session_id: str, turns_before: int = 0) -> None:
        """Begin a fold; `turns_before` is how many turns came before the first event."""
        self.session_id = session_id
        self._turns_before = turns_before
        self._blocks = BlockOrder()
        self._rows = MemoryTables()
        self._turn: str | None = None
        self._turns: dict[str | None, TurnSummary] = {}
        self._fresh_prompts: list[PromptBlock] = []
        """Those that no turn has begun with yet."""
        self._rounds: dict[str | None, int] = {}
        self._replies: dict[_RoundKey, ReplyBuffer] = {}
        self._whole: set[_RoundKey] = set()
        self._outputs: dict[str, OutputBuffer] = {}
        self._hunks: dict[str, tuple[int, ...]] = {}
        self._run = RunStepLog()
        self._open: set[str] = set()
        self._model = ""
        self._position = 0
        self._turn_began: int | None = None
        self._pause: PauseReason | None = None
        self._is_lost = False
        """Whether the turn's driver is gone and nobody spoke since: a prompt then joins the turn."""
        self._is_list = False
        """Whether the session is a list of findings."""
        self._kept_records = 0
        """In the line of records that stands last."""
        self._joins = False
        """Whether the turn takes up the prompts that wait at its next round."""
        self._progress = ModelProgress()
        self._commands: dict[str, CommandProgress] = {}
        self._executing: set[str] = set()
        self._agents: Mapping[str, SubAgent] = NO_AGENTS
        self.agent_calls: dict[str, Call] = {}
        """The calls that began an agent, by id."""
        self._now: int | None = None
        """The moment that running things are measured at; None while nobody looks."""
        self._counted: int | None = None
        """The second for which it was last said what the model does."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self._blocks.all()

    @property
    def facts(self) -> TranscriptFacts:
        calls = self._rows.calls.values()
        return TranscriptFacts(
            turns=self._turns_before + len(self._turns), is_working=self._turn is not None,
            waiting=sum(call.state == "pending" and call.action_id is not None for call in calls),
            queue=self._blocks.queued_prompts(),
            model=self._model, position=self._position,
            turn_seconds=self._turn_seconds(),
        )  # fmt: skip

    @property
    def is_streaming(self) -> bool:
        """Return whether a reply or an output is still being written."""
        return bool(self._outputs) or bool(self._blocks.open_texts())

    def block(self, block_id: str) -> Block | None:
        return self._blocks.get(block_id)

    def apply(self, event: Event) -> set[str]:
        """Fold one event; return the ids of blocks that were added, changed or removed."""
        if event.session_id != self.session_id:
            return self._add_of_step(event)
        self._position = max(self._position, event.position)
        self._blocks.begin()
        rows = apply_event(event, self._rows)
        for row in rows:
            self._rows.put(row)
        self._add(event)
        self._measure(event)
        for row in rows:
            if isinstance(row, Call):
                self._show_call(row, event)
            elif isinstance(row, Action) and row.call_id in self._rows.calls:
                self._show_call(self._rows.calls[row.call_id], event)
        return self._blocks.changed()

    @property
    def step_sessions(self) -> Mapping[str, str]:
        """Return the sessions that agents lead in the steps of a run, each with its step."""
        return self._run.sessions

    def _add_of_step(self, event: Event) -> set[str]:
        if event.session_id not in self._run.sessions:
            return set()
        self._blocks.begin()
        for block in self._run.agent_blocks(event):
            self._blocks.put(block)
        return self._blocks.changed()

    def _add(self, event: Event) -> None:
        if not self._turns and event.turn_id and isinstance(event.body, e.TurnEvent | e.CallEvent):
            # What was read may begin in the middle of a turn.
            self._begin_turn(event.turn_id)
        match event.body:
            case e.TurnEvent() as body:
                self._add_of_turn(event, body)
            case e.CallEvent() as body:
                self._add_of_call(event, body)
            case e.PromptSubmitted() | e.PromptWithdrawn() | e.PromptsReordered() as body:
                self._add_of_queue(event, body)
            case e.ActionOpened() as body:
                self._hunks[event.action_id or ""] = hunk_sizes(body.hunks)
            case e.RunRequested() | e.RunStarted() | e.RunChanged() | e.StepChanged():
                for block in self._run.blocks(event):
                    self._blocks.put(block)
            case (
                e.SessionCreated() | e.SessionStatusChanged() | e.SessionChanged() | e.ContinueRequested()
                | e.AgentConnected() | e.AgentGone()
                | e.CompactionRequested() | e.MarkAdded() | e.WorkspaceTrusted() | e.IncidentsListed()
                | e.IncidentsRequested() | e.IncidentsCancelRequested() | e.IncidentDismissed()
                | e.IncidentStarted() | e.IncidentChecked() | e.IncidentEnded() | e.Unknown()
            ) as body:  # fmt: skip
                self._add_notice(event, body)
            case (
                e.SessionDeleted() | e.LeaseTaken() | e.LeaseReleased() | e.InterruptRequested()
                | e.RefreshRequested() | e.UndoRequested()
                | e.PatchRequested() | e.ForkRequested() | e.ContextCollected()
                | e.ActionApproved() | e.ActionRejected() | e.ActionExpired() | e.ActionSuperseded()
                | e.ActionCancelled() | e.ActionBecameStale() | e.AnswerRefused() | e.RuleAdded()
                | e.RuleUsed() | e.RuleRevoked() | e.RulePlaced() | e.WorkspaceTrustRevoked() | e.AgentsHeld()
                | e.AgentsReleased() | e.SecurityNoted()
                | e.RunCancelRequested() | e.StepRetryRequested() | e.ContractChecked() | e.ArtifactStored()
            ):  # fmt: skip
                pass
            case _:
                assert_never(event.body)

    def _add_of_turn(self, event: Event, body: e.TurnBody) -> None:
        match body:
            case e.TextStreamed():
                self._text_streamed(event, body)
            case e.ThinkingStreamed():
                self._thinking_streamed(event, body)
            case e.TurnStarted():
                self._turn_started(event, body)
            case e.TurnEnded():
                self._turn_ended(event, body)
            case e.ReplyCompleted():
                self._reply_completed(event, body)
            case e.ConversationCompacted():
                self._add_notice(event, body)
                self._blocks.put(TextBlock(id=f"summary:{event.id}", at=event.at, text=body.summary))
            case e.CommandSuggested():
                self._command_suggested(event, body)
            case e.ErrorRaised():
                self._error(event, body)
            case e.ProgressReported() | e.HookRan():
                pass
            case _:
                assert_never(body)
        self._progress.apply(event)

    def _add_of_call(self, event: Event, body: e.CallBody) -> None:
        match body:
            case e.OutputStreamed():
                self._output_streamed(event, body)
            case e.CallExecuting():
                # What was approved in such a pause is carried out, and the agent still waits to be continued.
                if self._pause not in HUMAN_ENDED_PAUSES:
                    self._blocks.retire_keys()
            case e.ProcessStarted():
                self._commands[event.call_id or ""] = CommandProgress(limit_seconds=body.limit_seconds)
            case e.CallFinished():
                self._call_finished(event, body)
            case e.CallProposed() | e.FileChanged() | e.CallRepeated() | e.SandboxRefused():
                pass
            case _:
                assert_never(body)

    def apply_all(self, events: Iterable[Event]) -> set[str]:
        return set[str]().union(*map(self.apply, events))

    def close(self) -> None:
        """End this part of a session: nothing in it streams any more or waits for a key."""
        self._close_open()
        self._blocks.retire_keys()
        self._progress.end()

    # --- what goes on now ---------------------------------------------------------------------------

    @property
    def turns(self) -> tuple[TurnSummary, ...]:
        """Return the turns, oldest first, as they stand."""
        failed = Counter(call.turn_id for call in self._rows.calls.values() if call.state == "failed")
        is_asking = any(call.state == "pending" and call.action_id for call in self._rows.calls.values())
        turns = (replace(turn, failed=failed[key]) for key, turn in self._turns.items())
        return tuple(
            replace(turn, sign="waiting") if is_asking and turn.id == self._turn else turn for turn in turns
        )

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(self._rows.calls.values())

    def know_agents(self, agents: Mapping[str, SubAgent]) -> set[str]:
        """Say what the agents have done that calls began, by the id of the call; return what changed."""
        self._agents = agents
        self._blocks.begin()
        for call in self.agent_calls.values():
            self._show_call(call)
        return self._blocks.changed()

    def know_refused(self, refused: Mapping[str, int]) -> set[str]:
        """Say how many calls were refused by the session of a run's step; return what changed."""
        self._blocks.begin()
        for block in self._run.with_refused(refused):
            self._blocks.put(block)
        return self._blocks.changed()

    def turn_of(self, blocks: Sequence[Block], index: int) -> TurnSummary | None:
        """Return the turn that a block of some belongs to; the last turn for an index behind them."""
        if index >= len(blocks):
            return next(reversed(self._turns.values()), None)
        starts = {turn.block_id: turn for turn in self._turns.values()}
        above = (starts[block.id] for block in reversed(blocks[: index + 1]) if block.id in starts)
        return next(above, next(iter(self._turns.values()), None))

    @property
    def is_model_asked(self) -> bool:
        return self._progress.phase is not None

    @property
    def commands(self) -> Mapping[str, CommandProgress]:
        """Return the commands that run, by the id of their call."""
        return self._commands

    def tick(self, now: int | None) -> set[str]:
        """Measure what goes on at a moment, or at none where nothing drives it; return what changed."""
        self._now = now
        self._blocks.begin()
        if now is None or now // SECOND_MICROS != self._counted:
            self._put_progress()
        for call_id in self._executing:
            self._show_call(self._rows.calls[call_id])
        return self._blocks.changed()

    def _measure(self, event: Event) -> None:
        """Show at once that the model began something else; what only counts on waits for the next second."""
        if self._now is None:
            return
        self._now = max(self._now, event.at)
        shown = self._blocks.progress
        if (shown.phase if shown else None) != self._progress.phase or isinstance(event.body, e.TurnStarted):
            self._put_progress()

    def _put_progress(self) -> None:
        self._counted = None if self._now is None else self._now // SECOND_MICROS
        self._blocks.put_progress(None if self._now is None else self._progress.block(self._now))

    def _turn_seconds(self) -> int | None:
        is_working = self._turn is not None and (self.is_model_asked or bool(self._executing))
        if self._now is None or self._turn_began is None or not is_working:
            return None
        return max(0, self._now - self._turn_began) // SECOND_MICROS

    def toggle(self, block_id: str) -> set[str]:
        """Fold or open a thought, or the output of a call line; return the ids that changed."""
        block = self._blocks.get(block_id)
        if isinstance(block, CallBlock | OutputBlock):
            keys = (_call_key(block.call_id), _output_key(block.call_id))
        elif isinstance(block, ThoughtBlock):
            keys = (block_id,)
        else:
            return set()
        self._open ^= set(keys)
        self._blocks.begin()
        for key in keys:
            target = self._blocks.get(key)
            if isinstance(target, ThoughtBlock | CallBlock | OutputBlock):
                self._blocks.put(replace(target, is_folded=key not in self._open))
        return self._blocks.changed()

    # --- prompts and turns --------------------------------------------------------------------------

    def _prompt(self, event: Event, body: e.PromptSubmitted) -> None:
        self._blocks.retire_keys()
        is_taken = self._turn is not None and is_of_file(event)
        is_queued = self._turn is not None and not is_taken
        prompt = PromptBlock(id=f"prompt:{event.id}", at=event.at, text=body.text, is_queued=is_queued)
        if is_taken:
            self._blocks.put(prompt)
            self._name_turn(self._turn, prompt)
            return
        if body.replaces_id and self._retire_prompt(body.replaces_id, "edited", prompt):
            return
        self._blocks.append(prompt)
        self._fresh_prompts.append(prompt)
        self._joins, self._is_lost = self._joins or self._is_lost, False

    def _add_of_queue(
        self, event: Event, body: e.PromptSubmitted | e.PromptWithdrawn | e.PromptsReordered
    ) -> None:
        match body:
            case e.PromptSubmitted():
                self._prompt(event, body)
            case e.PromptWithdrawn():
                self._retire_prompt(body.prompt_id, "taken back")
            case e.PromptsReordered():
                self._blocks.reorder_queued([f"prompt:{prompt}" for prompt in body.prompt_ids])

    def _retire_prompt(
        self, prompt_id: str, why: Literal["taken back", "edited"], successor: PromptBlock | None = None
    ) -> bool:
        key = f"prompt:{prompt_id}"
        successors = [] if successor is None else [successor]
        self._fresh_prompts = [
            prompt for known in self._fresh_prompts for prompt in (successors if known.id == key else [known])
        ]
        return self._blocks.retire(key, why, successor)

    def _turn_started(self, event: Event, body: e.TurnStarted) -> None:
        self._drop_streamed((event.turn_id, body.round))
        self._close_open()
        self._blocks.retire_keys()
        if event.turn_id != self._turn or self._joins:
            self._blocks.take_queued()
        self._joins = False
        if event.turn_id != self._turn:
            self._turn_began = event.at if body.round == 1 else None
        self._turn = event.turn_id
        self._begin_turn(event.turn_id)
        self._rounds[event.turn_id] = body.round
        self._model = body.model

    def _begin_turn(self, turn_id: str | None) -> None:
        if turn_id in self._turns:
            return
        number = self._turns_before + len(self._turns) + 1
        self._turns[turn_id] = TurnSummary(id=turn_id or "", number=number, sign="running")
        for prompt in self._fresh_prompts[:1]:
            self._name_turn(turn_id, prompt)
        self._fresh_prompts = []

    def _name_turn(self, turn_id: str | None, prompt: PromptBlock) -> None:
        """Call a turn by its first prompt."""
        turn = self._turns.get(turn_id)
        if turn is not None and not turn.block_id:
            title = one_line(prompt.text.lstrip(), MAX_TURN_TITLE_CELLS)
            self._turns[turn_id] = replace(turn, block_id=prompt.id, title=title)

    def _turn_ended(self, event: Event, body: e.TurnEnded) -> None:
        self._close_open()
        self._turn = None
        if (turn := self._turns.get(event.turn_id)) is not None:
            self._turns[event.turn_id] = replace(turn, sign=_TURN_SIGNS[body.outcome])
        if body.outcome == "interrupted":
            self._notice(event, "stopped", "You stopped the agent.", PAUSE_KEYS)
        elif body.outcome == "limit":
            self._notice(event, "limit", body.detail or "The turn reached its limit.", PAUSE_KEYS)

    def _close_open(self) -> None:
        for block in self._blocks.open_texts():
            if isinstance(block, TextBlock):
                self._blocks.put(replace(block, is_open=False, was_cut=True))
            else:
                self._blocks.put(replace(block, is_open=False))

    # --- replies ------------------------------------------------------------------------------------

    def _text_streamed(self, event: Event, body: e.TextStreamed) -> None:
        key = self._round(event)
        if key in self._whole:
            return
        reply = self._replies.setdefault(key, ReplyBuffer())
        reply.end_thought(event.at)
        text = reply.add_text(body.block, body.offset, body.text)
        self._end_thought(key, reply)
        before = self._blocks.get(_block_key("text", key))
        began = before.at if before else event.at
        self._blocks.put(TextBlock(id=_block_key("text", key), at=began, text=text, is_open=True))

    def _thinking_streamed(self, event: Event, body: e.ThinkingStreamed) -> None:
        key = self._round(event)
        if key in self._whole:
            return
        reply = self._replies.setdefault(key, ReplyBuffer())
        text = reply.add_thinking(body.block, body.offset, body.text, event.at)
        before = self._blocks.get(_block_key("thought", key))
        thought = self._thought(key, before.at if before else event.at, text, reply.thought_seconds)
        self._blocks.put(replace(thought, is_open=True), before=_block_key("text", key))

    def _end_thought(self, key: _RoundKey, reply: ReplyBuffer) -> None:
        thought = self._blocks.get(_block_key("thought", key))
        if isinstance(thought, ThoughtBlock) and thought.is_open:
            self._blocks.put(replace(thought, is_open=False, seconds=reply.thought_seconds))

    def _reply_completed(self, event: Event, body: e.ReplyCompleted) -> None:
        key = (event.turn_id, body.round)
        reply = self._replies.get(key, ReplyBuffer())
        reply.end_thought(event.at)
        self._drop_streamed(key)
        self._whole.add(key)
        if body.thinking:
            self._blocks.put(self._thought(key, event.at, body.thinking, reply.thought_seconds))
        if body.text:
            self._blocks.put(TextBlock(id=_block_key("text", key), at=event.at, text=body.text))

    def _command_suggested(self, event: Event, body: e.CommandSuggested) -> None:
        """Show the command where the model's reply stood, which is JSON."""
        block = TextBlock(
            id=_block_key("text", self._round(event)), at=event.at, text=suggestion_markdown(body)
        )
        self._blocks.put(block)

    def _thought(self, key: _RoundKey, at: int, text: str, seconds: float | None) -> ThoughtBlock:
        name = _block_key("thought", key)
        return ThoughtBlock(id=name, at=at, text=text, seconds=seconds, is_folded=name not in self._open)

    def _drop_streamed(self, key: _RoundKey) -> None:
        if key in self._whole:
            return
        self._replies.pop(key, None)
        self._blocks.remove(_block_key("text", key))
        self._blocks.remove(_block_key("thought", key))

    def _round(self, event: Event) -> _RoundKey:
        return event.turn_id, self._rounds.get(event.turn_id, 1)

    # --- calls --------------------------------------------------------------------------------------

    def _output_streamed(self, event: Event, body: e.OutputStreamed) -> None:
        call_id = event.call_id or ""
        call = self._rows.calls.get(call_id)
        if call is None or call.state != "executing":
            return
        text = self._outputs.setdefault(call_id, OutputBuffer()).add(body.offset, body.text)
        self._commands.setdefault(call_id, CommandProgress()).take_output(text)
        self._put_output(call, event.at, text, len(text), is_open=True)
        self._show_call(call)

    def _call_finished(self, event: Event, body: e.CallFinished) -> None:
        call_id = event.call_id or ""
        call = self._rows.calls.get(call_id)
        self._outputs.pop(call_id, None)
        self._commands.pop(call_id, None)
        if call is None or call.finished_at != event.at:
            return
        self._blocks.remove(_output_key(call_id))
        if body.preview and body.output_bytes:
            self._put_output(call, event.at, body.preview, body.output_bytes, is_open=False)

    def _put_output(self, call: Call, at: int, text: str, total: int, *, is_open: bool) -> None:
        key = _output_key(call.id)
        output = OutputBlock(
            id=key, at=at, call_id=call.id, text=text, total_bytes=total, is_open=is_open,
            is_folded=key not in self._open,
        )  # fmt: skip
        self._blocks.put(output, behind=_call_key(call.id))

    def _show_call(self, call: Call, event: Event | None = None) -> None:
        command = self._commands.get(call.id)
        elapsed = None
        if call.state == "executing":
            self._executing.add(call.id)
            if self._now is not None:
                elapsed = max(0, self._now - (call.started_at or self._now)) // SECOND_MICROS
        else:
            self._executing.discard(call.id)
        action = self._rows.actions.get(call.action_id or "")
        words = call_summary(call, action, self._hunks.get(call.action_id or "", ()))
        key, agent, tool = _call_key(call.id), self._agents.get(call.id), shown_tool(call.tool)
        if tool == "agent":
            self.agent_calls[call.id] = call
        line = CallBlock(
            id=key, at=call.requested_at, call_id=call.id, action_id=call.action_id,
            sign=call_status(call, action)[0], tool=one_line(tool, 64),
            target=call_target(call),
            right=words.right, right_meaning=words.meaning, is_by_rule=call.rule is not None,
            note=words.note or (agent.words if agent else ""), agent_id=agent.session_id if agent else "",
            note_quote=words.quote, has_output=self._blocks.get(_output_key(call.id)) is not None,
            is_folded=key not in self._open, ran_ms=call.duration_ms or 0, elapsed=elapsed,
            limit_seconds=command.limit_seconds if command else None,
            last_line=command.last_line if command and elapsed is not None else "",
            place=call.place, refused=refusals_sentence(call),
        )  # fmt: skip
        body = event.body if event is not None else None
        replaced = body.replaces if isinstance(body, e.CallProposed) else None
        self._blocks.put(line, behind=_call_key(replaced) if replaced else None)

    # --- errors and notices ---------------------------------------------------------------------------

    def _error(self, event: Event, body: e.ErrorRaised) -> None:
        if event.turn_id == self._turn:
            self._drop_streamed(self._round(event))
        keys = ERROR_KEYS if event.turn_id is not None else ()
        self._blocks.retire_keys()
        self._blocks.put(ErrorBlock(
            id=f"error:{event.id}", at=event.at, code=body.code, message=body.message, details=body.details,
            remedy=body.remedy, keys=keys,
        ))  # fmt: skip

    def _add_notice(self, event: Event, body: NoticeBody) -> None:
        if isinstance(body, e.SessionStatusChanged):
            self._pause = body.reason if body.status == "paused" else None
            self._is_lost = self._pause == "host lost"
        elif isinstance(body, e.ContinueRequested):
            self._is_lost = False
        if is_bookkeeping(event):
            self._count_kept_record(event)
            return
        self._is_list = self._is_list or isinstance(body, e.IncidentEvent)
        last = self._blocks.last()
        notice = notice_of(
            body, was_stopped=isinstance(last, NoticeBlock) and last.kind == "stopped",
            window_seconds=self._expired_window(), is_list=self._is_list,
        )  # fmt: skip
        if notice is not None:
            self._notice(event, *notice)

    def _count_kept_record(self, event: Event) -> None:
        """Count what the agent wrote for itself, in one line for all of it that stands together."""
        last = self._blocks.last()
        is_next = isinstance(last, NoticeBlock) and last.kind == "kept"
        self._kept_records = self._kept_records + 1 if is_next else 1
        key = last.id if is_next and last else f"notice:{event.id}"
        text = f"{counted(self._kept_records, 'record')} that the agent wrote for itself"
        self._blocks.put(NoticeBlock(id=key, at=event.at, kind="kept", text=text))

    def _expired_window(self) -> float | None:
        expired = [
            question
            for question in self._rows.actions.values()
            if question.state == "expired" and question.expires_at
        ]
        newest = max(expired, key=lambda action: action.expires_at or 0, default=None)
        return None if newest is None else ((newest.expires_at or 0) - newest.created_at) / SECOND_MICROS

    def _notice(self, event: Event, kind: NoticeKind, text: str, keys: tuple[tuple[str, str], ...]) -> None:
        if kind not in ("changed", "mark"):
            self._blocks.retire_keys()
        self._blocks.put(NoticeBlock(id=f"notice:{event.id}", at=event.at, kind=kind, text=text, keys=keys))


def _block_key(kind: str, key: _RoundKey) -> str:
    return f"{kind}:{key[0]}:{key[1]}"


def _call_key(call_id: str) -> str:
    return f"call:{call_id}"


def _output_key(call_id: str) -> str:
    return f"output:{call_id}"


MAX_TURN_TITLE_CELLS: Final = 80
_TURN_SIGNS: Final[Mapping[str, StatusName]] = {
    "done": "ok", "error": "failed", "interrupted": "cancelled", "limit": "cancelled",
    "unattended": "expired",
}  # fmt: skip
