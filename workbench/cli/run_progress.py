"""The progress of `workbench run` on one line of a terminal: who is asked, what runs, for how long.

Everything in it is counted from events; between events `tick` counts on.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Final

from workbench.cli.console import Console
from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Action
from workbench.text.human import countdown_text, duration_text, token_text
from workbench.text.safe import one_line
from workbench.views.conversation_blocks import ProgressBlock
from workbench.views.conversation_progress import ModelProgress

TICK_SECONDS: Final = 0.5
"""Twice a second: at once a second a busy machine leaves seconds out."""
_MICROS: Final = 1_000_000
_MAX_TARGET_CELLS: Final = 60
_ANSWERS: Final = (
    e.ActionApproved, e.ActionRejected, e.ActionExpired, e.ActionCancelled, e.ActionSuperseded,
)  # fmt: skip
_STOP_HINT: Final = "ctrl+c stops"


class RunProgress:
    """What the session of a run does now, as one line."""

    def __init__(self, console: Console, now: Callable[[], int], waiting: Iterable[Action] = ()) -> None:
        """Show progress on the terminal behind stderr.

        `now` gives microseconds, `waiting` is what waits for an answer already.
        """
        self._console, self._now = console, now
        self._model = ModelProgress()
        self._names: dict[str, tuple[str, str]] = {}
        """By call: tool and target."""
        self._running: dict[str, tuple[int, float | None]] = {}
        """By call: since when it runs, and for how many seconds it may."""
        self._waiting = {action.id: action.created_at for action in waiting}
        """By action: since when it waits for an answer."""
        self._turn_since: int | None = None

    def see(self, events: Iterable[Event]) -> None:
        """Take in events and show what they changed."""
        for event in events:
            self._model.apply(event)
            self._note(event)
        self.tick()

    def tick(self) -> None:
        """Show how it stands now; nothing where nothing goes on."""
        now = self._now()
        text, block = self.text(now), self._model.block(now)
        if text:
            # A reply that stands still in the middle of a line is worth a line end.
            self._console.status(text, breaks_line=block is not None and block.silent > 0)
        else:
            self._console.clear_status()

    def close(self) -> None:
        """Leave no trace on the terminal."""
        self._console.clear_status()

    def text(self, now: int) -> str:
        """Return the line of a moment; empty while no turn is open."""
        signs = self._console.signs
        if self._running:
            return f"{signs.of('running')} {self._running_words(now)}  {_STOP_HINT}"
        if (block := self._model.block(now)) is not None:
            return f"{signs.of('running')} {'  '.join([*_model_parts(block), _STOP_HINT])}"
        if self._waiting:
            since = min(self._waiting.values())
            count = len(self._waiting)
            waits = "1 question waits" if count == 1 else f"{count} questions wait"
            return (
                f"{signs.of('waiting')} {waits} for your answer  {countdown_text((now - since) // _MICROS)}"
            )
        if self._turn_since is not None:
            clock = countdown_text((now - self._turn_since) // _MICROS)
            return f"{signs.of('running')} working  {clock}  {_STOP_HINT}"
        return ""

    def _running_words(self, now: int) -> str:
        """Return `run pytest -q  0:27 of 1:00` for the call that began last."""
        key, (since, limit) = next(reversed(self._running.items()))
        name = " ".join(word for word in self._names.get(key, ("a call", "")) if word)
        more = f" (and {len(self._running) - 1} more)" if len(self._running) > 1 else ""
        of = f" of {countdown_text(limit)}" if limit is not None else ""
        return f"{name}{more}  {countdown_text((now - since) // _MICROS)}{of}"

    def _note(self, event: Event) -> None:
        body, action = event.body, event.action_id or ""
        if isinstance(body, e.TurnStarted):
            self._turn_since = self._turn_since or event.at
        elif isinstance(body, e.TurnEnded):
            self._turn_since = None
            self._running.clear()
            self._waiting.clear()
        elif isinstance(body, e.ActionOpened):
            self._waiting[action] = event.at
        elif isinstance(body, _ANSWERS):
            self._waiting.pop(action, None)
        else:
            self._note_call(event, event.call_id or "")

    def _note_call(self, event: Event, call: str) -> None:
        body = event.body
        if isinstance(body, e.CallProposed):
            self._names[call] = body.tool, one_line(body.target, _MAX_TARGET_CELLS)
        elif isinstance(body, e.CallExecuting):
            self._running[call] = event.at, None
        elif isinstance(body, e.ProcessStarted):
            self._names[call] = "run", self._names.get(call, ("", ""))[1]
            self._running[call] = event.at, body.limit_seconds
        elif isinstance(body, e.CallFinished):
            self._running.pop(call, None)
            self._names.pop(call, None)


def _model_parts(block: ProgressBlock) -> list[str]:
    """Return `qwen3 reads`, seconds and tokens; then `qwen3 writes`, its rate, tokens and seconds."""
    parts = [f"loading {block.model}" if block.phase == "loads" else f"{block.model} {block.phase}"]
    if block.seconds is not None:
        parts.append(countdown_text(block.seconds))
    if block.phase in ("loads", "reads"):
        parts += [f"about {token_text(block.tokens)} tok"] if block.tokens else []
        usual = None if block.usual is None else duration_text(block.usual)
        return [*parts, f"usually {usual}"] if usual else parts
    if block.silent:
        parts.append(f"silent {duration_text(block.silent, counts_on=True)}")
    elif block.rate:
        parts.append(f"about {token_text(block.rate)} tok/s")
    return [*parts, f"about {token_text(block.tokens)} tok"]


@asynccontextmanager
async def ticking(tick: Callable[[], None], *, is_on: bool = True) -> AsyncGenerator[None]:
    """Call `tick` every `TICK_SECONDS` while something is awaited."""

    async def count() -> None:
        while True:
            tick()
            await asyncio.sleep(TICK_SECONDS)

    counter = asyncio.create_task(count(), name="progress") if is_on else None
    try:
        yield
    finally:
        if counter is not None:
            counter.cancel()
            with suppress(asyncio.CancelledError):
                await counter
