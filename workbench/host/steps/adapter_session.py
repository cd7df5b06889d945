"""The session of an adapter's step: what its program says and does, recorded while it works.

The program does these things by itself: its calls are told here, and no gate is asked about them.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Final

from msgspec.structs import replace

from workbench.config.model_prices import PriceList
from workbench.domain.events import (
    Event,
    ReplyCompleted,
    SessionChanged,
    SessionCreated,
    SessionStatusChanged,
)
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.step_messages import StepSpec
from workbench.domain.values import Usage
from workbench.formats import records as r
from workbench.formats.agent_output import AgentAnswer, AgentOutput, log_lines
from workbench.formats.assemble import Assembler
from workbench.host.driver_context import DriverContext, OnEvents, SessionWriter, StepConstraints
from workbench.host.steps.step_session import step_session_events
from workbench.journal.leases import DriverIdentity, lease_guard, release_lease, take_lease
from workbench.journal.usage_queries import session_usage
from workbench.views.usage import sum_usage

MOST_RECORDS: Final = 20_000
"""Records of one attempt that are told; a program that goes on has its log and its answer."""
_UNRECORDED: Final = (r.Prompt, r.CallQuestion, r.CallDecision, r.TitleChange, r.UsageRecord)
"""Its prompt is ours, nobody is there to be asked, and usage is counted from its answer."""
_ENDED_EARLY: Final = "its program ended before it told how this call ended"


def adapter_session_events(context: DriverContext, spec: StepSpec, run_id: str) -> list[Event]:
    """Return the events that begin the session of an attempt."""
    provider = str(spec.adapter.get("name") or spec.adapter.get("binary") or "")
    created = SessionCreated(
        session_kind="step", parent_id=run_id, provider=provider, model=str(spec.persona.get("model") or "")
    )
    return step_session_events(context, spec, created, str(spec.persona.get("prompt") or ""))


class AdapterSession:
    """Records what a program prints in the step's session, under a lease of its own."""

    def __init__(
        self,
        context: DriverContext,
        driver: DriverIdentity,
        spec: StepSpec,
        on_events: OnEvents,
        *,
        is_read_again: bool = False,
    ) -> None:
        """Take the lease; `spec` names the session. May raise JournalError.

        `is_read_again`: an earlier driver recorded some of what comes, and it is not known how much; only its
        last words and the tokens that are missing are recorded.
        """
        assert spec.session_id is not None
        self._context, self._spec, self._session_id = context, spec, spec.session_id
        self._lease = take_lease(context.journal, self._session_id, driver)
        constraints = StepConstraints(
            run_id=spec.id.run, step=spec.title, run_budget=context.constraints.run_budget
        )  # fmt: skip
        limited = replace(context, constraints=constraints)
        self.writer = SessionWriter(limited, self._session_id, lease_guard(self._lease))
        self._on_events, self._read_back = on_events, 0
        self._is_read_again = is_read_again
        self._output = AgentOutput()
        self._assembler: Assembler | None = None
        self._pieces: list[bytes] = []
        self._reading_task: asyncio.Task[None] | None = None
        self._show: Callable[[bytes], None] | None = None
        self._running: dict[str, None] = {}
        self._count = 0
        self._is_child_agent = False
        self._counted = Usage()
        self._last_words = ""

    # --- while it works ---------------------------------------------------------------------------

    def feed(self, data: bytes, show: Callable[[bytes], None]) -> None:
        """Take a piece of what was printed; `show` is given what the step's log shows of it."""
        self._pieces.append(data)
        self._show = show
        if self._reading_task is None or self._reading_task.done():
            self._reading_task = asyncio.get_running_loop().create_task(
                self._read_pieces(), name="agent output"
            )

    async def written(self) -> None:
        """Wait until all that was printed is read and shown, the last line too."""
        if self._reading_task is not None:
            await self._reading_task
        await self._record_items(await asyncio.to_thread(self._output.finish))

    async def _read_pieces(self) -> None:
        while self._pieces:
            data, self._pieces = b"".join(self._pieces), []
            await self._record_items(await asyncio.to_thread(self._output.feed, data))

    async def _record_items(self, items: list[r.Record | bytes]) -> None:
        if not items:
            return
        log_text, events = await asyncio.to_thread(self._read, items)
        if log_text and self._show is not None:
            self._show(log_text.encode("utf-8", "replace"))
        if events:
            self._append(events)

    def _read(self, items: list[r.Record | bytes]) -> tuple[str, list[Event]]:
        log_texts: list[str] = []
        events: list[Event] = []
        for item in items:
            if isinstance(item, bytes):
                log_texts.append(f"{item.decode('utf-8', 'replace')}\n")
            elif not self._is_unrecorded(item):
                log_texts.append(log_lines(item))
                read = self._events_of(item)
                events += [] if self._is_read_again else read
        return "".join(log_texts), events

    def _is_unrecorded(self, record: r.Record) -> bool:
        if isinstance(record, r.SessionHead):
            # What stands below the first one are agents of its own, whose calls it told already.
            self._is_child_agent = self._assembler is not None
        self._count += 1
        return self._is_child_agent or isinstance(record, _UNRECORDED) or self._count > MOST_RECORDS

    def _events_of(self, record: r.Record) -> list[Event]:
        now = self._context.journal.now()
        if self._assembler is None:
            self._assembler = Assembler(
                self._output.form or str(self._spec.adapter.get("name") or "agent"), now,
                self._context.journal.blobs.record, lambda _: self._session_id,
            )  # fmt: skip
        if isinstance(record, r.Reply):
            self._running.update((call.id, None) for call in record.calls)
        elif isinstance(record, r.CallResult):
            self._running.pop(record.call, None)
        if hasattr(record, "at"):
            record = replace(record, at=now)  # type: ignore[call-arg]
        events = [*self._assembler.take(record), *self._assembler.events_so_far()]
        return [own_event for event in events if (own_event := self._own_event(event, now))]

    def _own_event(self, event: Event, now: int) -> Event | None:
        """Return an event as one of this session, which began before its program told of one."""
        body = event.body
        if isinstance(body, SessionCreated):
            if body.model in ("", self._spec.persona.get("model")):
                return None
            body = SessionChanged(model=body.model)
        if isinstance(body, ReplyCompleted):
            self._counted = self._counted.plus(body.usage)
            self._last_words = body.text.strip() or self._last_words
        return replace(event, body=body, at=now, step=self._spec.title)

    def _append(self, events: Iterable[Event]) -> None:
        loop = asyncio.get_running_loop()
        future = self.writer.stream(*events)

        def written(done: Future[list[int]]) -> None:
            if not loop.is_closed() and done.exception() is None:
                loop.call_soon_threadsafe(self._hand_on_read_back)

        future.add_done_callback(written)

    def _hand_on_read_back(self) -> None:
        events = self._context.journal.events(self._session_id, after=self._read_back)
        if events:
            self._read_back = events[-1].position
            self._on_events(events)

    @property
    def counted(self) -> Usage:
        """Return the tokens, and the cost, that its records told of so far."""
        return self._counted

    # --- at its end -------------------------------------------------------------------------------

    async def finish(self, answer: AgentAnswer) -> None:
        """Record what the program's answer adds: its words where it told none, and tokens not counted yet."""
        events = await asyncio.to_thread(self._closing, answer)
        if events:
            await self.writer.append(*events)
        self._hand_on_read_back()

    def _closing(self, answer: AgentAnswer) -> list[Event]:
        records: list[r.Record] = []
        if self._is_read_again:
            self._counted, self._last_words = self._recorded_usage(), ""
            self._running.clear()
        if self._assembler is None:
            records.append(r.SessionHead(key=self._session_id))
        if answer.reply.strip() not in ("", self._last_words):
            records.append(r.Reply(text=answer.reply))
        if answer.error:
            records.append(r.ErrorRecord("agent_failed", answer.error))
        records += [
            r.CallResult(call=call, state="interrupted", error=_ENDED_EARLY) for call in self._running
        ]
        events = [event for record in records for event in self._events_of(record)]
        missing = answer.usage.beyond(self._counted)
        if missing != Usage():
            events += self._events_of(r.UsageRecord(usage=missing))
        assert self._assembler is not None
        now = self._context.journal.now()
        last_events = [
            own_event for event in self._assembler.finish() if (own_event := self._own_event(event, now))
        ]
        # Which of its last states it gets depends on how the step ends.
        return [*events, *(event for event in last_events if not _is_last_state(event))]

    def _recorded_usage(self) -> Usage:
        with self._context.journal.snapshot() as database:
            facts = session_usage(database, self._session_id, with_children=False)
        return sum_usage(facts, PriceList.of(self._context.recall_settings().config).cost).usage

    def release(self) -> None:
        """Give the lease back; what was not written yet is written before it, in order."""
        if self._reading_task is not None:
            self._reading_task.cancel()
        release_lease(self._context.journal, self._lease)


def _is_last_state(event: Event) -> bool:
    body = event.body
    return isinstance(body, SessionStatusChanged) and body.status in TERMINAL_SESSION_STATES
