"""Ask a session's model for a summary that stands for its conversation from then on.

The conversation changes only by the event that holds the whole summary; whatever fails leaves it as it was.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from workbench.agents.compaction import MAX_TRANSCRIPT, session_transcript, summary_prompt
from workbench.agents.planner import Compact
from workbench.agents.prompt import exact_system_prompt
from workbench.agents.reducer import COMPACTION_FAILED
from workbench.agents.state import TurnState
from workbench.domain.events import (
    ConversationCompacted,
    ErrorRaised,
    Event,
    ProgressReported,
    TextStreamed,
    ThinkingStreamed,
    TurnStarted,
)
from workbench.domain.messages import FailurePart, Message, ModelRequest
from workbench.domain.retired_prompts import without_retired_prompts
from workbench.domain.values import Actor, Body
from workbench.host import redaction
from workbench.host.driver_context import SessionWriter
from workbench.host.governed_settings import GovernedSettings
from workbench.host.model_call import AGENT_ACTOR, CUT_REASONS, ModelCall, RetryPolicy
from workbench.secrets import scrubber

_CHARACTERS_PER_TOKEN: Final = 2
"""Fewer than any text has: a transcript that is cut by it fits into the context."""


class CompactionCall(ModelCall):
    """One model call for a summary."""

    def __init__(
        self, writer: SessionWriter, state: Callable[[], TurnState], effect: Compact, context_tokens: int
    ) -> None:
        """Begin; `context_tokens` bounds what is sent, 0 where the size of the context is not known."""
        turn = state().turn
        super().__init__(writer, state, turn.id if turn else None, turn.round if turn else 1)
        self._effect, self._context_tokens = effect, context_tokens
        self._open_turn = turn.id if turn else None
        self._is_over = False
        """Whether its end is being appended: nothing can stop it any more."""

    async def run(self) -> None:
        """Ask, and append the summary or why there is none."""
        progress = ProgressReported(message="compacts the conversation")
        self._writer.stream(self._event(progress, actor=AGENT_ACTOR))
        try:
            await self._ask_with_retries(RetryPolicy(self.turn_id))
        except asyncio.CancelledError:
            if self._is_over:
                return
            await self._record_failure(FailurePart(code="", message="it was stopped", recoverable=False))
            raise

    def _model_request(self, state: TurnState, settings: GovernedSettings) -> ModelRequest:
        del settings
        session = self._writer.session()
        limit = min(MAX_TRANSCRIPT, self._context_tokens * _CHARACTERS_PER_TOKEN or MAX_TRANSCRIPT)
        transcript = session_transcript(_said_events(self._writer.journal.events(session.id), state), limit)
        question = Message(role="user", content=summary_prompt(transcript, self._effect.words))
        system = exact_system_prompt(state, self._writer.unseal)
        return ModelRequest(
            session_id=session.id, model=session.model, messages=(*system, question), fresh=(question,),
            used_exchanges=state.used_exchanges,
        )  # fmt: skip

    def _stream(self, kind: type[TextStreamed] | type[ThinkingStreamed], text: str) -> None:
        """Show nothing of a summary before it is whole: it is no reply."""

    def _restart_events(self, body: TurnStarted) -> list[Event]:
        """Start no turn: a summary is none."""
        del body
        return []

    async def _record_reply(self) -> None:
        reply, session = self.reply, self._writer.session()
        if reply.stop or not reply.text.strip():
            why = CUT_REASONS.get(reply.stop or "", "the model wrote no summary")
            await self._record_failure(FailurePart(code="", message=why))
            return
        summary, ref = redaction.redact_and_seal_text(
            scrubber.replace_registered_secrets(reply.text), self._writer.journal.blobs
        )
        last_reply = self._state().reply
        body = ConversationCompacted(
            summary=summary, summary_ref=ref, usage=reply.usage, provider=session.provider,
            model=session.model, tokens=last_reply.body.usage.total_tokens if last_reply else 0,
            exchange=reply.exchange, is_asked=self._effect.is_asked,
        )  # fmt: skip
        self._is_over = True
        await self._writer.append(self._event(body))

    async def _record_failure(self, failure: FailurePart, details: str = "") -> None:
        self._is_over = True
        body = ErrorRaised(
            code=COMPACTION_FAILED, details=details,
            message=redaction.redact_line(f"the conversation was not compacted: {failure.message}", 2_000),
            remedy=redaction.redact_line(failure.remedy or "It is as it was; /compact tries again.", 1_000),
            exchange=self.reply.exchange,
        )  # fmt: skip
        await self._writer.append(self._event(body))

    def _event(self, body: Body, actor: Actor | None = None) -> Event:
        return self._writer.event(body, turn_id=self._open_turn, actor=actor)


def _said_events(events: Sequence[Event], state: TurnState) -> list[Event]:
    """Leave out the prompts that are queued, which a human can still take back, and those taken back."""
    queued = {prompt.id for prompt in state.queued_prompts}
    return [event for event in without_retired_prompts(events) if event.id not in queued]
