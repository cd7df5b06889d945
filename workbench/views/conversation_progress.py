"""What a turn is doing now: how long a model reads, how fast it writes, how far a command is.

Everything is a fold of events and a moment, so a replay shows the same.
"""

from collections import deque
from typing import Final

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.messages import LOADING
from workbench.text.human import SECOND_MICROS
from workbench.text.safe import one_line
from workbench.views.conversation_blocks import ModelPhase, ProgressBlock

RATE_SECONDS: Final = 8
"""Seconds that the rate of a reply is measured over, one bar each."""
SILENT_SECONDS: Final = RATE_SECONDS
"""Seconds without a word from which on a model that has begun is called silent."""
BYTES_PER_TOKEN: Final = 4
"""For an estimate, where no server has counted yet."""
_MAX_WAITS: Final = 32
"""First words of a model that are remembered."""
_MAX_LAST_LINE_CELLS: Final = 200
_LAST_LINE_CHARS: Final = 4_096


class ModelProgress:
    """The call of a model that is under way, and how long the models of the session took before."""

    def __init__(self) -> None:
        self._model = ""
        self._phase: ModelPhase | None = None
        self._asked_at: int | None = None
        self._began_at: int | None = None
        self._last_at = 0
        self._sent = 0
        self._received = 0
        self._ends: dict[tuple[ModelPhase, int], int] = {}
        self._seconds: dict[int, int] = {}
        """Bytes that came, by the second in which they did."""
        self._waits: dict[str, deque[int]] = {}
        self._bytes_per_token: float = BYTES_PER_TOKEN
        """Of requests; what a server counted last decides."""

    @property
    def phase(self) -> ModelPhase | None:
        """Return what the model does; None while none is asked."""
        return self._phase

    def apply(self, event: Event) -> None:
        """Take in an event of a turn."""
        body, at = event.body, event.at
        if isinstance(body, e.TurnStarted):
            self._ask(body.model, at)
        elif isinstance(body, e.ProgressReported) and body.sent:
            self._ask(self._model, at)
            self._sent = body.sent
            self._phase = "loads" if body.message == LOADING else "reads"
        elif isinstance(body, e.ProgressReported) and body.received:
            self._take("writes", -1, 0, body.received, body.received, at)
        elif isinstance(body, e.TextStreamed | e.ThinkingStreamed):
            phase = "writes" if isinstance(body, e.TextStreamed) else "thinks"
            self._take(phase, body.block, body.offset, len(body.text), _byte_count(body.text), at)
        elif isinstance(body, e.ReplyCompleted):
            if self._sent and body.usage.input_tokens:
                self._bytes_per_token = self._sent / body.usage.input_tokens
            self.end()
        elif isinstance(body, e.TurnEnded | e.ErrorRaised | e.ConversationCompacted):
            self.end()

    def end(self) -> None:
        """Show nothing any more: the reply is there, or there will be none."""
        self._phase = self._asked_at = None

    def block(self, now: int) -> ProgressBlock | None:
        """Return how it stands at a moment, in whole seconds; None while no model is asked."""
        phase, began = self._phase, self._began_at
        if phase is None:
            return None
        if phase in ("loads", "reads"):
            return ProgressBlock(
                at=self._asked_at or now, phase=phase, model=one_line(self._model, 40),
                seconds=_whole_seconds(self._asked_at, now), tokens=round(self._sent / self._bytes_per_token),
                usual=self._usual_seconds() if phase == "reads" else None,
            )  # fmt: skip
        bars = self._bars(now, began)
        counted = [count for count in bars if count is not None]
        silent = _whole_seconds(self._last_at, now)
        return ProgressBlock(
            at=began or now, phase=phase, model=one_line(self._model, 40),
            seconds=None if began is None else _whole_seconds(began, now),
            tokens=round(self._received / BYTES_PER_TOKEN), bars=bars,
            rate=round(sum(counted) / len(counted) / BYTES_PER_TOKEN) if counted else None,
            silent=silent if silent >= SILENT_SECONDS else 0,
        )  # fmt: skip

    def _usual_seconds(self) -> float | None:
        if not (waits := self._waits.get(self._model)):
            return None
        from statistics import median  # no start waits for it

        return median(waits) / SECOND_MICROS

    def _ask(self, model: str, at: int) -> None:
        self._model, self._phase, self._asked_at = model, "reads", at
        self._began_at, self._sent, self._received = None, 0, 0
        self._ends.clear()
        self._seconds.clear()

    def _take(self, phase: ModelPhase, block: int, offset: int, chars: int, size: int, at: int) -> None:
        """Count a piece: characters say what is new of it, bytes how much that is."""
        known = self._ends.get((phase, block), 0)
        if self._phase is None and self._asked_at is None:
            # The events that were read begin in the middle of a reply: when it began is not known.
            self._received, self._began_at = 0, None
            self._ends.clear()
            self._seconds.clear()
        elif self._phase in ("loads", "reads") and self._asked_at is not None:
            if self._phase == "reads":
                waits = self._waits.setdefault(self._model, deque(maxlen=_MAX_WAITS))
                waits.append(max(0, at - self._asked_at))
            self._began_at = at
        self._phase, self._last_at = phase, at
        end = offset + chars
        if end <= known:
            return
        self._ends[phase, block] = end
        new = size - known if block < 0 else size
        self._received += new + (0 if block < 0 else max(0, offset - known))
        second = at // SECOND_MICROS
        self._seconds[second] = self._seconds.get(second, 0) + new
        if len(self._seconds) > 2 * RATE_SECONDS:
            self._seconds = {
                key: count for key, count in self._seconds.items() if second - key <= RATE_SECONDS
            }

    def _bars(self, now: int, began: int | None) -> tuple[int | None, ...]:
        """Return the bytes of each of the last whole seconds; None before the first word."""
        this = now // SECOND_MICROS
        first = min(self._seconds, default=this) if began is None else began // SECOND_MICROS
        return tuple(
            None if second < first else self._seconds.get(second, 0)
            for second in range(this - RATE_SECONDS, this)
        )


class CommandProgress(Struct):
    """A command that runs: its limit, and what it wrote last."""

    limit_seconds: float | None = None
    last_line: str = ""
    output: str = ""
    """What it wrote so far, as far as that is kept."""

    def take_output(self, text: str) -> None:
        """Keep the last line with something in it; a line that was written over counts as its last state."""
        self.output = text
        lines = text[-_LAST_LINE_CHARS:].replace("\r", "\n").rstrip().rpartition("\n")
        self.last_line = one_line(lines[2].strip(), _MAX_LAST_LINE_CELLS)


def _byte_count(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _whole_seconds(start: int | None, now: int) -> int:
    return 0 if start is None else max(0, now - start) // SECOND_MICROS
