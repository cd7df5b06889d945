"""Drive a run in this process, or follow it where a host was faster; and say how it ended.

Owns when a driven run is over for the command, what ctrl+c does, and the exit code.
"""

import asyncio
import signal
import sys
from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED, INTERRUPTED, PARKED, UNANSWERED
from workbench.cli.pipeline.printing import RunPrinter, printer_for
from workbench.domain.rows import PipelineState
from workbench.host.ensure import ensure_host
from workbench.host.kit import open_kit
from workbench.host.models import provider_of
from workbench.host.places import identity
from workbench.host.steps.drive import Driving, drive_run
from workbench.host.steps.ledger import pending_below
from workbench.journal.errors import Driven
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.lease import DriverLock
from workbench.pipelines.coordinator import Coordinator


def carried_out(
    home: Home, journal: Journal, workspace: str, run_id: str, options: Namespace, console: Console
) -> int:
    """Drive a run as the options say, tell it, and return the exit code."""
    printer = printer_for(journal, run_id, options, console)
    if getattr(options, "detach", False):
        ensure_host(home, journal, workspace)
        printer.see(journal.events(run_id))
        printer.end(_row(journal, run_id), (), DONE)
        return DONE
    is_interrupted = False
    try:
        is_interrupted = _driven(home, journal, workspace, run_id, options, printer, console)
    except Driven as held:
        console.note(f"Driven by pid {held.pid}; following it.")
        is_interrupted = _followed(journal, run_id, options, printer)
    row = _row(journal, run_id)
    waiting = pending_below(journal, run_id)
    code = exit_code(row, waiting, is_interrupted=is_interrupted)
    printer.end(row, waiting, code)
    for line in last_words(row, waiting, code):
        console.note(line)
    return code


def _row(journal: Journal, run_id: str) -> PipelineState:
    row = journal.pipeline_state(run_id)
    if row is None:
        raise LookupError(f"run {run_id} is gone")
    return row


def exit_code(row: PipelineState, waiting: tuple[str, ...], *, is_interrupted: bool) -> int:
    """Return the exit code for how a run stands."""
    if is_interrupted:
        return INTERRUPTED
    if row.status == "completed":
        return DONE
    if row.status == "waiting" and waiting:
        return PARKED
    is_unanswered = "expired" in row.error_message or "nobody" in row.error_message
    return UNANSWERED if row.status == "failed" and is_unanswered else FAILED


def last_words(row: PipelineState, waiting: tuple[str, ...], code: int) -> list[str]:
    """Return what a person should know about the end, for stderr."""
    again = f"workbench pipeline resume {row.pipeline_id[:8]} goes on with what is not completed."
    if code == PARKED:
        return [f"Parked: {len(waiting)} waiting. The last answer lets it go on, or resume does."]
    if code == INTERRUPTED:
        return [f"Interrupted. {again}"]
    return [] if code == DONE else [again]


def _driven(
    home: Home,
    journal: Journal,
    workspace: str,
    run_id: str,
    options: Namespace,
    printer: RunPrinter,
    console: Console,
) -> bool:
    """Drive the run here; return whether it was interrupted."""
    kit = open_kit(home, journal, workspace, provider=provider_of, can_ask=options.on_approval != "deny")
    driver = identity(journal, workspace, "run")
    stop = [False]

    waiting = _Waiting(console, journal, run_id, options)

    def until(coordinator: Coordinator) -> bool:
        if coordinator.is_waiting:
            waiting.say()
        return stop[0] or (options.on_approval == "park" and coordinator.is_waiting)

    async def run() -> None:
        with _interruptible(journal, stop):
            await drive_run(Driving(kit=kit, driver=driver, until=until, see=printer.see), run_id)

    try:
        with DriverLock(journal, driver):
            asyncio.run(run())
    except KeyboardInterrupt:
        return True
    finally:
        kit.root.close()
    return stop[0]


class _Waiting:
    """Says once, where nobody sits at a terminal, what a run waits for and how not to wait."""

    def __init__(self, console: Console, journal: Journal, run_id: str, options: Namespace) -> None:
        self._console, self._journal, self._run = console, journal, run_id
        self._is_said = options.on_approval != "wait" or sys.stdin.isatty()

    def say(self) -> None:
        """Say it, the first time."""
        ids = () if self._is_said else pending_below(self._journal, self._run)
        if ids:
            self._is_said = True
            self._console.note(
                f"Waits for an answer: workbench approvals show {ids[0]}. "
                "With --on-approval park it ends here instead, and the answer lets it go on."
            )


@contextmanager
def _interruptible(journal: Journal, stop: list[bool]) -> Generator[None, None, None]:
    """Let the first ctrl+c end the run in order; a second one ends everything at once."""
    loop = asyncio.get_running_loop()

    def ask() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        stop[0] = True
        journal.doorbell.announce()

    loop.add_signal_handler(signal.SIGINT, ask)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _followed(journal: Journal, run_id: str, options: Namespace, printer: RunPrinter) -> bool:
    """Tell what another driver does until the run is over or parks; return whether it was interrupted."""
    cursor = 0
    try:
        while True:
            events = journal.events(run_id, after=cursor)
            if events:
                cursor = events[-1].position
                printer.see(events)
            row = _row(journal, run_id)
            is_parked = options.on_approval != "wait" and row.status == "waiting"
            if row.status in ("completed", "failed", "cancelled") or is_parked:
                return False
            journal.wait(journal.last_position(), 1.0)
    except KeyboardInterrupt:
        return True
