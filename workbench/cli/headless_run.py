"""What `run` and `pipeline run` share: output options, the printer of events as JSON, handling of signals."""

import asyncio
import signal
from argparse import ArgumentParser
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Final

from workbench.cli.console import Console
from workbench.domain.codec import event_to_line
from workbench.domain.events import Event

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What stops a run: ctrl+c, a request to end, and a terminal that went away."""


def add_output_options(parser: ArgumentParser) -> None:
    """Add the output format and what happens to a question."""
    parser.add_argument(
        "--output-format",
        choices=("human", "json", "stream-json"),
        help="human: text; json: one object at the end; stream-json: one event a line (default: human)",
    )
    parser.add_argument(
        "--json", dest="output_format", action="store_const", const="json",
        help="the same as --output-format json",
    )  # fmt: skip
    parser.add_argument(
        "--on-approval",
        choices=("wait", "park", "deny"),
        default="wait",
        help="wait for the answer to a question, end and keep it for later, or deny it (default: wait)",
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
