"""Call a model once: stream what it says, record the whole reply, or say why there is none.

`RetryPolicy` says which failures are tried again. Calls in the reply become rows for the gate.
"""

# A reply names its exchange, `turn.started` does not. A driver that dies while a recording streams has used
# nothing up: the exchange is played again when a human continues, as a real model would be asked again.
#
# A reply that failed is no answer. What had come of it stays as streamed text and is not recorded as a
# reply, so that to continue asks again. An interrupted one is kept: its human has read it.

import asyncio
import functools
import random
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Final, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.agents.prompt import model_messages
from workbench.agents.state import TurnState
from workbench.ask.answer import ANSWER_SCHEMA
from workbench.config.types import Config
from workbench.domain.events import (
    CallProposed,
    ErrorRaised,
    Event,
    ProgressReported,
    ReplyCompleted,
    SessionChanged,
    SessionStatusChanged,
    TextStreamed,
    ThinkingStreamed,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.messages import (
    LOADING,
    ExchangePart,
    FailurePart,
    ModelRequest,
    OpaquePart,
    ProgressPart,
    ReplyPart,
    StopPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import Actor, BlobRef, Body, GateVerdict, Json, JsonObject, ReplyCall, Usage
from workbench.effects.fault_points import fault_point
from workbench.host import redaction
from workbench.host.driver_context import SessionWriter, apply_pending_config_changes
from workbench.host.governed_settings import GovernedSettings
from workbench.host.model_selection import fallback_of
from workbench.host.session_provider import ProviderUnavailable, provider_kind
from workbench.host.session_sandbox import prove_in_thread, sandbox_state
from workbench.host.stream_scrubber import DeltaWriter
from workbench.providers.base import (
    DEFAULT_REPLY_SECONDS,
    MAX_ARGUMENT_CHARACTERS,
    MAX_REPLY_CALLS,
    MAX_REPLY_CHARACTERS,
)
from workbench.providers.errors import MODEL_LOADING
from workbench.secrets import scrubber
from workbench.text import canonical
from workbench.tools.execution import without_sandbox

RECORDING_EXHAUSTED = "recording_exhausted"
"""What a recording says that has no answer to a second try; the first failure is then the reason."""
CUT_REASONS = {
    "length": "the reply was cut at the limit of tokens",
    "filtered": "the provider left out the rest of the reply (content filter)",
    "calls": f"the reply asked for more than {MAX_REPLY_CALLS} calls; the others were left out",
    "size": f"the reply was cut at {MAX_REPLY_CHARACTERS // 1_000_000} million characters",
    "time": "the reply was cut: it took longer than a whole reply may",
    "input": "the server read only a part of the conversation before it answered",
}
CUT_REPLY_CODES: Final = frozenset(f"reply_{reason}" for reason in CUT_REASONS)
"""The codes of the errors that say that a reply is not whole."""
CUT_REMEDIES = {
    "calls": "Its first calls are taken like any others; it may ask for the rest in its next reply.",
    "size": "What came is kept. Say continue, in smaller steps.",
    "time": "What came is kept. Say continue; reply_seconds of the provider makes the time longer.",
    "length": "Say continue, or raise max_tokens of the provider or the server's context size.",
    "filtered": "Say it in other words, or take another model.",
    "input": "Set num_ctx of the provider to a context that holds it, or start a new session.",
}
AGENT_ACTOR = Actor(kind="agent")
_PROGRESS_INTERVAL_SECONDS: Final = 0.5
"""Seconds between two events that say how much of a call came."""


class PartialReply(Struct):
    """What came of a reply so far."""

    text: str = ""
    thinking: str = ""
    calls: list[ToolCallPart] = field(default_factory=list[ToolCallPart])
    usage: Usage = Usage()
    opaque: str = ""
    """What the provider gets back unchanged, as JSON text."""
    exchange: int | None = None
    stop: str | None = None
    """Why the reply was cut short; None where it is whole."""
    failure: FailurePart | None = None
    size: int = 0
    """Characters of text, thinking and arguments."""

    @property
    def is_full(self) -> bool:
        return self.stop == "size"

    def take_fitting(self, text: str) -> str:
        """Count a text and return as much of it as one reply may have."""
        fitting = text[: MAX_REPLY_CHARACTERS - self.size]
        self.size += len(fitting)
        if len(fitting) < len(text):
            self.stop = "size"
        return fitting

    def take_call(self, part: ToolCallPart) -> None:
        """Keep a call if one more is allowed and all of it fits."""
        if len(self.calls) >= MAX_REPLY_CALLS:
            self.stop = "calls"
        elif self.take_fitting(part.arguments) == part.arguments:
            self.calls.append(part)


class RetryPolicy:
    """What one model call has waited so far."""

    def __init__(self, seed: str) -> None:
        """Start with a seed that differs from call to call, so that callers do not come back together."""
        self.tries = 0
        self.loading = 0.0
        self._draw = random.Random(seed)

    def wait(self, failure: FailurePart) -> float | None:
        """Return the seconds until the next try; None when there is none."""
        asked_seconds = failure.retry_after_s
        if not is_momentary_failure(failure) or (
            asked_seconds is not None and asked_seconds > MAX_WAIT_SECONDS
        ):
            return None
        if failure.code == MODEL_LOADING:
            step = asked_seconds or _LOADING_STEP_SECONDS
            self.loading += step
            return step if self.loading <= MAX_LOADING_SECONDS else None
        if self.tries == MAX_RETRIES:
            return None
        self.tries += 1
        return asked_seconds or min(2.0 ** (self.tries - 1), _MAX_BACKOFF_SECONDS) * self._draw.uniform(
            0.75, 1.0
        )

    def words(self, failure: FailurePart, wait: float) -> str:
        if failure.code == MODEL_LOADING:
            return f"Waiting up to {MAX_LOADING_SECONDS / 60:.0f} minutes for it."
        return f"Trying again in {_wait_in_words(wait)} (try {self.tries} of {MAX_RETRIES})."

    def last_words(self, failure: FailurePart) -> str:
        """Say why it is not tried again, where that is not obvious."""
        asked_seconds = failure.retry_after_s
        if is_momentary_failure(failure) and asked_seconds is not None and asked_seconds > MAX_WAIT_SECONDS:
            return f"It asks to come back in {_wait_in_words(asked_seconds)}."
        return f"{self.tries} more tries did not help." if self.tries > 1 else ""


class ModelCall:
    """One model call of one turn and round, with its retries and its fallback."""

    def __init__(
        self, writer: SessionWriter, state: Callable[[], TurnState], turn_id: str | None, number: int,
        cursor: int = 0,
    ) -> None:  # fmt: skip
        """Prepare a call; `cursor` is the position up to which the session was read when it became due."""
        self._writer, self._state, self._round, self._cursor = writer, state, number, cursor
        self._is_new = turn_id is None
        self.turn_id = turn_id or writer.new_id()
        self.reply = PartialReply()
        self._block = -1
        self._deltas: DeltaWriter | None = None
        self._kind: type[TextStreamed] | type[ThinkingStreamed] | None = None
        self._received, self._reported_at = 0, 0.0
        self._overloaded: set[str] = set()
        """Providers that this call found overloaded, so that none is asked twice."""

    async def run(self) -> None:
        """Call the model and record the reply or the error.

        Raises:
            GuardFailed: A queued prompt was changed since; nothing was written.
        """
        session = self._writer.session()
        started = self._event(TurnStarted(provider=session.provider, model=session.model, round=self._round))
        moved = (
            [] if session.status == "processing" else [self._event(SessionStatusChanged(status="processing"))]
        )
        await self._writer.append_at(self._cursor, started, *moved)
        await self._ask_with_retries(RetryPolicy(self.turn_id))

    async def _ask_with_retries(self, retries: RetryPolicy) -> None:
        used_exchanges: set[int] = set()
        first_failure: FailurePart | None = None
        while True:
            await self._ask(frozenset(used_exchanges))
            failure = self.reply.failure
            if failure is None:
                await self._record_reply()
                return
            if first_failure is not None and failure.code == RECORDING_EXHAUSTED:
                await self._record_failure(first_failure)
                return
            if self.reply.exchange is not None:
                used_exchanges.add(self.reply.exchange)
            wait = retries.wait(failure)
            if wait is None and await self._switch_to_fallback(failure):
                retries, first_failure, self.reply = RetryPolicy(self._writer.new_id()), None, PartialReply()
                continue
            if wait is None:
                await self._record_failure(failure, retries.last_words(failure))
                return
            if first_failure is None or failure.code != MODEL_LOADING or first_failure.code != MODEL_LOADING:
                # Nobody has to do anything yet, so there is no remedy.
                await self._writer.append(
                    self._error_event(replace(failure, remedy=""), retries.words(failure, wait))
                )
            first_failure = failure
            await self._writer.context.sleep(wait)
            self.reply = PartialReply()

    async def _switch_to_fallback(self, failure: FailurePart) -> bool:
        """Let the session ask the provider that the configuration names for an overload, and say so."""
        session, config = self._writer.session(), self._writer.context.refresh_settings().config
        self._overloaded.add(session.provider)
        fallback = fallback_of(config, session.provider)
        if fallback is None or fallback.provider in self._overloaded or not is_momentary_failure(failure):
            return False
        whom = f"{fallback.model} ({fallback.provider})"
        words = f"{whom} is asked instead, as the settings say; /model changes it."
        changed = SessionChanged(
            provider=fallback.provider, model=fallback.model, configuration={"endpoint": None}
        )
        restarted = TurnStarted(provider=fallback.provider, model=fallback.model, round=self._round)
        await self._writer.append(
            self._error_event(replace(failure, remedy=""), words),
            self._event(changed),
            *self._restart_events(restarted),
        )
        return True

    def _restart_events(self, body: TurnStarted) -> list[Event]:
        return [self._event(body)]

    async def stopped_reply_events(self) -> list[Event]:
        """Return the events for the part of a reply that came before an interrupt."""
        self._close_block()
        if not self.reply.text:
            return []
        return [self._event(self._reply_body(()), actor=AGENT_ACTOR)]

    async def _ask(self, used_exchanges: frozenset[int]) -> None:
        context = self._writer.context
        apply_pending_config_changes(context)
        settings = context.refresh_settings()
        config = settings.config
        seconds = self._reply_seconds(config)
        await prove_in_thread(self._writer.session(), settings, context.prove_sandbox)
        request = self._model_request(self._state(), settings)
        request = replace(request, used_exchanges=request.used_exchanges | used_exchanges)
        try:
            provider = context.provider(self._writer.session(), config)
            fault_point("turn.model_called")
            async with asyncio.timeout(seconds), aclosing(provider.reply(request)) as parts:
                async for part in parts:
                    self._take_part(part)
                    if self.reply.is_full:
                        break
        except TimeoutError:
            self._note_timeout(seconds)
        except ProviderUnavailable as error:
            self._take_part(FailurePart(code="provider_unavailable", message=error.why, remedy=error.remedy))
        finally:
            self._close_block()

    def _model_request(self, state: TurnState, settings: GovernedSettings) -> ModelRequest:
        context, session, config = self._writer.context, self._writer.session(), settings.config
        kind, limit = provider_kind(session.provider, config), config.max_session_messages
        messages, fresh = model_messages(state, self._writer.unseal, limit, self._wire_name)
        tools = context.tools.visible(session.provider, session.active_tools, kind, config.tools)
        sandbox = sandbox_state(session, settings, context.prove_sandbox)
        has_sandbox = sandbox is not None and sandbox.strength != "none"
        return ModelRequest(
            session_id=session.id, model=session.model, messages=messages, fresh=fresh,
            tools=tools if has_sandbox else tuple(map(without_sandbox, tools)),
            used_exchanges=state.used_exchanges,
            answer_schema=ANSWER_SCHEMA if session.kind == "ask" else None,
        )  # fmt: skip

    def _reply_seconds(self, config: Config) -> float:
        provider = config.providers.get(self._writer.session().provider)
        return (provider.reply_seconds if provider else None) or DEFAULT_REPLY_SECONDS

    def _note_timeout(self, seconds: float) -> None:
        if self.reply.text or self.reply.calls:
            self.reply.stop = "time"
            return
        why = f"no reply came within {seconds:g} s"
        remedy = "Look whether the server is busy; reply_seconds of the provider makes the wait longer."
        self.reply.failure = FailurePart(code="no_answer", message=why, remedy=remedy)

    def _wire_name(self, tool: str) -> str:
        known = self._writer.context.tools.get(tool)
        return known.descriptor.wire_name if known else tool

    def _take_part(self, part: ReplyPart) -> None:
        match part:
            case TextPart(text=text):
                text = self.reply.take_fitting(text)
                self.reply.text += text
                self._stream(TextStreamed, text)
            case ThinkingPart(text=text):
                text = self.reply.take_fitting(text)
                self.reply.thinking += text
                self._stream(ThinkingStreamed, text)
            case ToolCallPart():
                self.reply.take_call(part)
            case OpaquePart(content=content):
                self.reply.opaque = self.reply.take_fitting(content)
            case ProgressPart():
                self._report_progress(part)
            case UsagePart(usage=usage):
                self.reply.usage = usage
            case StopPart(reason=reason):
                self.reply.stop = reason
            case ExchangePart(exchange=exchange):
                self.reply.exchange = exchange
            case FailurePart():
                self.reply.failure = part

    # --- streaming ------------------------------------------------------------------------------

    def _report_progress(self, part: ProgressPart) -> None:
        """Record that the request goes out, or, now and then, how much of calls came."""
        now = self._writer.context.clock.monotonic()
        self._received = 0 if part.sent else self._received + part.received
        if part.sent or now - self._reported_at >= _PROGRESS_INTERVAL_SECONDS:
            self._reported_at = now
            message = LOADING if part.is_loading else "asks" if part.sent else "writes a call"
            body = ProgressReported(message=message, sent=part.sent, received=self._received)
            self._writer.stream(self._event(body, actor=AGENT_ACTOR))

    def _stream(self, kind: type[TextStreamed] | type[ThinkingStreamed], text: str) -> None:
        if kind is not self._kind or self._deltas is None:
            self._close_block()
            self._block += 1
            self._kind = kind
            self._deltas = DeltaWriter(functools.partial(self._write_delta, kind, self._block))
        self._deltas.feed(text)

    def _write_delta(
        self, kind: type[TextStreamed] | type[ThinkingStreamed], block: int, offset: int, text: str
    ) -> None:
        body = kind(block=block, offset=offset, text=text)
        self._writer.stream(self._event(body, actor=AGENT_ACTOR))

    def _close_block(self) -> None:
        if self._deltas is not None:
            self._deltas.close()
        self._deltas = self._kind = None

    # --- recording ------------------------------------------------------------------------------

    async def _record_reply(self) -> None:
        calls = [self._read_call(part) for part in self.reply.calls]
        refusals = [self._refusal_event(call) for call in calls if call.malformed]
        cut_events = [self._cut_event(self.reply.stop)] if self.reply.stop else []
        await self._writer.append(
            self._event(self._reply_body(tuple(calls)), actor=AGENT_ACTOR), *refusals, *cut_events
        )

    def _cut_event(self, reason: str) -> Event:
        failure = FailurePart(
            code=f"reply_{reason}", message=CUT_REASONS[reason], remedy=CUT_REMEDIES[reason]
        )
        return self._error_event(failure, has_used_exchange=False)

    def _reply_body(self, calls: tuple[ReplyCall, ...]) -> ReplyCompleted:
        blobs = self._writer.journal.blobs
        # A key that a server says back is not even sealed.
        text, ref = redaction.redact_and_seal_text(
            scrubber.replace_registered_secrets(self.reply.text), blobs
        )
        # Nobody reads exact thinking again, so none is sealed but what its provider signed and wants back.
        thinking = redaction.redact_and_cut_text(scrubber.replace_registered_secrets(self.reply.thinking))
        opaque_ref, opaque_kind = self._sealed_opaque()
        return ReplyCompleted(
            text=text, text_ref=ref, thinking=thinking, calls=calls, usage=self.reply.usage,
            opaque_ref=opaque_ref, opaque_kind=opaque_kind,
            model=self._writer.session().model, exchange=self.reply.exchange, round=self._round,
        )  # fmt: skip

    def _sealed_opaque(self) -> tuple[BlobRef | None, str]:
        content = self.reply.opaque
        if not content or self.reply.is_full or scrubber.replace_registered_secrets(content) != content:
            return None, ""
        context, session = self._writer.context, self._writer.session()
        kind = provider_kind(session.provider, context.recall_settings().config)
        return self._writer.journal.blobs.seal(content.encode("utf-8", "surrogatepass")), kind

    def _read_call(self, part: ToolCallPart) -> ReplyCall:
        known = self._writer.context.tools.get(part.name)
        exact, malformed = _parse_arguments(scrubber.replace_registered_secrets(part.arguments))
        if malformed and self.reply.stop == "length":
            malformed = f"{CUT_REASONS['length']} ({malformed})"
        arguments, ref = redaction.redact_parameters(exact, self._writer.journal.blobs)
        return ReplyCall(
            call_id=self._writer.new_id(), provider_call_id=scrubber.replace_registered_secrets(part.id),
            tool=known.descriptor.id if known else redaction.redact_line(part.name, 64),
            arguments=arguments, arguments_ref=ref, malformed=malformed,
        )  # fmt: skip

    def _refusal_event(self, call: ReplyCall) -> Event:
        reason = f"the arguments are not a JSON object: {call.malformed}; send the call again, whole"
        verdict = GateVerdict(outcome="refused", step="schema", by=call.tool, reason=reason)
        body = CallProposed(tool=call.tool, verdict=verdict, provider_call_id=call.provider_call_id)
        return self._writer.event(body, turn_id=self.turn_id, call_id=call.call_id)

    async def _record_failure(self, failure: FailurePart, details: str = "") -> None:
        ended = self._event(TurnEnded(outcome="error", detail=failure.code))
        status: list[Event] = []
        if "incident_ids" not in self._writer.session().configuration:
            # Of one that works on incidents the driver of the list says how it goes on.
            status.append(self._event(SessionStatusChanged(status="ready", reason="failed")))
        # What came of the reply is no answer: to go on means to ask again.
        await self._writer.append(self._error_event(failure, details), ended, *status)

    def _error_event(
        self, failure: FailurePart, details: str = "", *, has_used_exchange: bool = True
    ) -> Event:
        body = ErrorRaised(
            code=failure.code, message=redaction.redact_line(failure.message, 2_000), details=details,
            remedy=redaction.redact_line(failure.remedy, 1_000), recoverable=failure.recoverable,
            exchange=self.reply.exchange if has_used_exchange else None,
        )  # fmt: skip
        return self._event(body)

    def _event(self, body: Body, actor: Actor | None = None) -> Event:
        return self._writer.event(body, turn_id=self.turn_id, actor=actor)


def _parse_arguments(text: str) -> tuple[JsonObject, str | None]:
    if len(text) > MAX_ARGUMENT_CHARACTERS:
        return {}, f"they are longer than {MAX_ARGUMENT_CHARACTERS:,} characters"
    try:
        value = canonical.loads(text or "{}")
    except ValueError as error:
        return {}, str(error)
    if not isinstance(value, Mapping):
        return {}, "it is not an object"
    return cast("Mapping[str, Json]", value), None


MAX_RETRIES: Final = 3
"""How often a call is repeated that a provider refused for the moment (408, 409, 425, 429, 5xx)."""
MAX_WAIT_SECONDS: Final = 120.0
"""Seconds that are waited because a provider asks for it; for more a human is told instead."""
MAX_LOADING_SECONDS: Final = 900.0
"""Seconds that are waited for a server that says it is loading its model."""
_MAX_BACKOFF_SECONDS: Final = 30.0
_LOADING_STEP_SECONDS: Final = 3.0
_MOMENTARY_STATUSES: Final = (408, 409, 425, 429)


def is_momentary_failure(failure: FailurePart) -> bool:
    """Return whether a failure may pass by itself."""
    status = failure.status
    return failure.recoverable and status is not None and (status in _MOMENTARY_STATUSES or status >= 500)


def _wait_in_words(wait: float) -> str:
    if wait < 90:
        return f"{wait:.0f} s" if wait >= 10 else f"{wait:.1f} s"
    return f"{wait / 60:.0f} minutes"
