"""What `run` and `pipeline run` share: output options, the printer of events as JSON, handling of signals."""

import asyncio
import json
import signal
from argparse import ArgumentParser
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

from msgspec import Struct

from workbench.backend.session_export import kaiak_session_row
from workbench.cli.console import Console
from workbench.domain.codec import event_to_line
from workbench.domain.events import Event
from workbench.domain.values import Json, JsonObject
from workbench.formats.kaiak_export import KaiakMessages
from workbench.journal.journal import Journal
from workbench.text.human import iso_time

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What stops a run: ctrl+c, a request to end, and a terminal that went away."""


def add_output_options(parser: ArgumentParser) -> None:
    """Add the output format and what happens to a question."""
    parser.add_argument(
        "--output-format",
        choices=("human", "json", "stream-json", "s2"),
        metavar="FORMAT",
        help="human, json, stream-json or s2 (default: human)\n"
        "human: text; json: one object at the end; stream-json: one event a line;"
        " s2: one AgentMessage a line between two of the session",
    )
    parser.add_argument(
        "--json", dest="output_format", action="store_const", const="json",
        help="the same as --output-format json",
    )  # fmt: skip
    parser.add_argument(
        "--on-approval",
        choices=("wait", "park", "deny"),
        default="wait",
        metavar="MODE",
        help="wait, park or deny a question (default: wait)\n"
        "wait: for the answer; park: end, and keep the question for later; deny: deny it at once",
    )


class StreamPrinter:
    """Prints one event a line; events that were printed before are left out."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._printed: dict[str, int] = {}
        """The newest position of each session."""

    def see(self, events: Iterable[Event]) -> None:
        """Print events as lines of JSON."""
        for event in events:
            if event.position > self._printed.get(event.session_id, 0):
                self._printed[event.session_id] = event.position
                self._console.json_line(event_to_line(event))

    def end(self, *_: object) -> None:
        """Print nothing: the events have said it."""


class MessagePrinter:
    """Prints S2 AgentMessages, one a line; the first and the last line of a session are the session itself.

    The session names the stream (S2 StreamConnection): when it began, and when its last message was printed.
    """

    def __init__(self, journal: Journal, console: Console) -> None:
        self._journal, self._console = journal, console
        self._streams: dict[str, _MessageStream] = {}

    def see(self, events: Iterable[Event]) -> None:
        """Print what events say; those that were printed before are left out."""
        for event in events:
            stream = self._stream(event)
            if event.position <= stream.cursor:
                continue
            stream.cursor = event.position
            self._print_messages(stream, stream.messages.of(event))

    def end(self, *_: object) -> None:
        """Print the sessions as they are now."""
        for session_id, stream in reversed(self._streams.items()):
            self._print_messages(stream, stream.messages.rest())
            self._print_session(session_id)

    def _stream(self, event: Event) -> "_MessageStream":
        session_id = event.session_id
        stream = self._streams.get(session_id)
        if stream is None:
            journal = self._journal
            stream = self._streams[session_id] = _MessageStream(
                connection_id=journal.clock.new_id(), established_at=journal.now(),
                messages=KaiakMessages(journal.blobs.read),
            )  # fmt: skip
            # The numbers of a session that is continued follow those of its earlier messages.
            for earlier in journal.events(session_id):
                if earlier.position >= event.position:
                    break
                deque(stream.messages.of(earlier), maxlen=0)
            self._print_session(session_id)
        return stream

    def _print_messages(self, stream: "_MessageStream", messages: Iterable[JsonObject]) -> None:
        for message in messages:
            self._print(message)
            stream.last_message_at = self._journal.now()

    def _print_session(self, session_id: str) -> None:
        session = self._journal.session(session_id)
        stream = self._streams[session_id]
        if session is not None:
            self._print({"session": kaiak_session_row(self._journal, session, stream.connection())})

    def _print(self, value: Json) -> None:
        self._console.json_line(json.dumps(value, ensure_ascii=False))


class _MessageStream(Struct, kw_only=True):
    connection_id: str
    established_at: int
    messages: KaiakMessages
    last_message_at: int | None = None
    cursor: int = 0

    def connection(self) -> JsonObject:
        """Return it as S2 StreamConnection."""
        last = self.last_message_at
        return {
            "connection_id": self.connection_id, "established_at": iso_time(self.established_at),
            "last_message_at": None if last is None else iso_time(last),
        }  # fmt: skip


def event_printer(
    output: str | None, journal: Journal, console: Console
) -> StreamPrinter | MessagePrinter | None:
    """Return what prints every event as it comes, for the output formats that do that."""
    if output == "stream-json":
        return StreamPrinter(console)
    return MessagePrinter(journal, console) if output == "s2" else None


class StopRequest:
    """Whether a signal asked a driver to stop; the journal wakes it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.is_wanted = False

    def hear(self) -> bool:
        """Take a signal; False when it is not the first."""
        is_first, self.is_wanted = not self.is_wanted, True
        self._journal.notifier.wake()
        return is_first

    @contextmanager
    def hearing(self) -> Generator[None, None, None]:
        """Take the signals that stop a run, also outside of an event loop; ignored ones stay ignored."""
        before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        try:
            for number, handler in before.items():
                if handler is not signal.SIG_IGN:
                    signal.signal(number, self._note)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.is_wanted = True


@contextmanager
def signal_handlers(numbers: Sequence[int], interrupt: Callable[[], bool]) -> Generator[None, None, None]:
    """Call `interrupt` at a signal; where that returns False, as at a second one, cancel the current task.

    A signal that the process was started to ignore (`nohup`) stays ignored.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    numbers = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]

    def handle() -> None:
        if not interrupt() and task is not None:
            task.cancel()

    for number in numbers:
        loop.add_signal_handler(number, handle)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
