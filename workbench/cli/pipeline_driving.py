"""Drive a run in this process, or follow the process that drives it, with one output and one exit code.

The request for a run and the lease of its driver are one transaction, so that the options of the command that
asked count in any case.
"""

import asyncio
import sys
from argparse import Namespace
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Literal

from workbench.cli.console import Console
from workbench.cli.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_PARKED,
    EXIT_UNANSWERED,
)
from workbench.cli.headless_run import STOP_SIGNALS, StopRequest, signal_handlers
from workbench.cli.output_format import prefers_json
from workbench.cli.pipeline_output import RunPrinter, named_steps, pipeline_printer
from workbench.cli.run_events import RunEvents
from workbench.cli.session_follower import deny_actions
from workbench.domain.machines import ENDED_RUN_STATES
from workbench.domain.rows import PipelineState
from workbench.host.steps.run_requests import AskedRun, RunRefused
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock, is_lease_live
from workbench.journal.session_queries import pending_action_ids
from workbench.pipelines.state import RunState, fold_run, is_run_unanswered

if TYPE_CHECKING:
    from workbench.host.driver_context import DriverContext
    from workbench.pipelines.coordinator import Coordinator

AskForRun = Callable[[DriverIdentity | None], AskedRun]
"""Makes a request for a run, whose driver owns it with the request; None leaves it to another process."""
FollowEnd = Literal["over", "parked", "interrupted", "undriven"]
"""How the following of a run ended: `undriven` where no process drives it any more."""
_FOLLOW_SECONDS: Final = 0.5


def drive_or_follow_run(
    journal: Journal, workspace: str, options: Namespace, console: Console, ask: AskForRun
) -> int:
    """Ask for a run, drive it or follow the process that does, and return the exit code.

    With `--detach` the background process drives it, and it is not followed.
    """
    if options.output_format is None and prefers_json(options):
        options.output_format = "json"
    if options.detach:
        return _leave_to_host(journal, workspace, options, console, ask)
    stop = StopRequest(journal)
    with stop.hearing(), _own_driver(journal, workspace, options) as (context, driver):
        command = _RunCommand(journal, options, console, stop)
        asked = ask(driver)
        while asked.driver_pid is not None:
            ending = command.follow(asked)
            if ending != "undriven" or not command.is_request_open(asked):
                return command.end(asked.run_id, ending)
            try:
                asked = ask(driver)
            except RunRefused:  # it ended between the two looks
                return command.end(asked.run_id, "over")
        return command.end(asked.run_id, command.drive(context, driver, asked))


def _leave_to_host(
    journal: Journal, workspace: str, options: Namespace, console: Console, ask: AskForRun
) -> int:
    from workbench.host.host_start import ensure_host

    before = journal.last_position()
    run_id = ask(None).run_id
    ensure_host(journal.home, journal, workspace)
    printer = pipeline_printer(journal, run_id, options, console)
    printer.see(journal.events(run_id, after=before))
    printer.end(run_row(journal, run_id), (), EXIT_OK)
    return EXIT_OK


@contextmanager
def _own_driver(
    journal: Journal, workspace: str, options: Namespace
) -> Generator[tuple["DriverContext", DriverIdentity], None, None]:
    """Make this process a driver of runs, before anything is asked for."""
    from workbench.host.driver_context import open_driver_context
    from workbench.host.host_locks import driver_identity
    from workbench.host.session_provider import provider_of
    from workbench.host.steps.pipeline_tool import SessionPipelineStarter

    context = open_driver_context(
        journal.home,
        journal,
        workspace,
        provider=provider_of,
        pipelines=SessionPipelineStarter,
        can_ask=options.on_approval != "deny",
    )
    try:
        with DriverLock(journal, driver_identity(journal, workspace, "run")) as lock:
            yield context, lock.driver
    finally:
        context.root.close()


class _RunCommand:
    """A command that drives or follows one run and prints its events."""

    def __init__(self, journal: Journal, options: Namespace, console: Console, stop: StopRequest) -> None:
        self._journal, self._options, self._console, self._stop = journal, options, console, stop
        self._printer: RunPrinter | None = None
        self._events: RunEvents | None = None

    def _print_new(self, asked: AskedRun) -> None:
        if self._events is None:
            self._events = RunEvents(self._journal, asked.run_id, asked.position)
            self._printer = pipeline_printer(self._journal, asked.run_id, self._options, self._console)
        assert self._printer is not None
        if self._options.output_format != "json":
            self._printer.see(self._events.read())

    def drive(self, context: "DriverContext", driver: DriverIdentity, asked: AskedRun) -> FollowEnd:
        """Drive a run that this process owns until it ends, waits, or a signal stops it."""
        from workbench.host.steps.run_driver import RunDriverOptions, drive_run

        stop, options, run_id = self._stop, self._options, asked.run_id
        waiting = _WaitingNotice(self._console, self._journal, run_id, options)

        def until(coordinator: "Coordinator") -> bool:
            if coordinator.is_waiting:
                waiting.print_once()
            return stop.is_wanted or (options.on_approval == "park" and coordinator.is_waiting)

        async def run() -> None:
            driving = RunDriverOptions(
                context=context, driver=driver, until=until, on_events=lambda _: self._print_new(asked)
            )
            with signal_handlers(STOP_SIGNALS, stop.hear), suppress(asyncio.CancelledError):
                await drive_run(driving, run_id)

        try:
            asyncio.run(run())
        except KeyboardInterrupt:
            stop.is_wanted = True
        self._print_new(asked)
        return "interrupted" if stop.is_wanted else "over"

    def follow(self, asked: AskedRun) -> FollowEnd:
        """Print what another process does with a run until it ends, waits, or is driven by none."""
        if self._events is None:
            self._console.note(
                f"Another process (pid {asked.driver_pid}) runs it; its events are printed here."
            )
        state = RunState()
        while True:
            seen = self._journal.last_position()
            ending = self._follow_end(asked, state)
            self._print_new(asked)
            if ending is not None or self._stop.is_wanted:
                return ending or "interrupted"
            self._journal.wait(seen, _FOLLOW_SECONDS)

    def _follow_end(self, asked: AskedRun, state: RunState) -> FollowEnd | None:
        """Return how a followed run ended; None while it continues.

        A run that was asked to continue is not over by how it ended before, unless its driver refuses.
        """
        journal, run_id = self._journal, asked.run_id
        is_driven = is_lease_live(journal.home, journal.lease(run_id))
        for event in journal.events(run_id, after=state.cursor):
            state.take(event)
        if state.status == "completed" or (
            state.status in ENDED_RUN_STATES and not state.is_continue_requested
        ):
            return "over"
        waiting = pending_action_ids(journal, run_id)
        if waiting and self._options.on_approval == "deny":
            deny_actions(journal, [a for key in waiting if (a := journal.action(key)) is not None])
        if waiting and self._options.on_approval == "park" and state.status == "waiting":
            return "parked"
        return None if is_driven or (waiting and state.status == "waiting") else "undriven"

    def is_request_open(self, asked: AskedRun) -> bool:
        """Return whether a run that no process drives still has to be continued for this command.

        A request that its driver did not live to see counts; one that the driver worked after does not.
        """
        run_id = asked.run_id
        state = RunState()
        for event in self._journal.events(run_id):
            state.take(event)
        later = self._journal.events(run_id, after=asked.position)
        is_unseen = all(event.kind in ("lease.released", "session.status_changed") for event in later)
        return state.is_continue_requested or state.status == "waiting" or is_unseen

    def end(self, run_id: str, ending: FollowEnd) -> int:
        """Print how a run ended and return the exit code."""
        row = run_row(self._journal, run_id)
        waiting = pending_action_ids(self._journal, run_id)
        code = pipeline_exit_code(self._journal, row, waiting, is_interrupted=ending == "interrupted")
        printer = self._printer or pipeline_printer(self._journal, run_id, self._options, self._console)
        printer.end(row, waiting, code)
        lease = self._journal.lease(run_id)
        if ending == "interrupted" and lease is not None and is_lease_live(self._journal.home, lease):
            self._console.note(_still_driven_line(row, lease.pid))
        else:
            self._console.note_lines(pipeline_closing_lines(row, waiting, code))
            if ending == "interrupted":
                self._console.note_lines(self._left_lines(run_id))
        return code

    def _left_lines(self, run_id: str) -> list[str]:
        """Return which commands continue without a driver, and how to end them."""
        steps = list(_left_steps(self._journal, run_id))
        end = f"workbench pipeline cancel {run_id[:8]} ends what still runs."
        return [f"Not ended: {named_steps(steps)}. {end}"] if steps else []


def _left_steps(journal: Journal, run_id: str) -> Iterator[str]:
    """Yield the steps of a run whose commands continue, also those in a run below."""
    for step in fold_run(journal.events(run_id)).steps.values():
        if step.state != "running":
            continue
        below = step.session_id if step.process is None else None
        if step.process is not None or (below and any(_left_steps(journal, below))):
            yield step.id


def running_commands_line(journal: Journal, run_id: str) -> str:
    """Return which commands of a run without a driver still run and how to end them; empty if none does."""
    steps = list(_steps_with_owner(journal, run_id))
    end = f"workbench pipeline cancel {run_id[:8]} ends what still runs."
    return f"Still running: {named_steps(steps)}. {end}" if steps else ""


def _steps_with_owner(journal: Journal, run_id: str) -> Iterator[str]:
    """Yield the steps of a run whose commands an owner works on, also those in a run below."""
    from workbench.host.job_folders import is_owned

    jobs = journal.home.path / "jobs" / run_id
    for step in fold_run(journal.events(run_id)).steps.values():
        if step.state != "running":
            continue
        if step.process is not None:
            is_running = is_owned(jobs / step.process.mark)
        else:
            is_running = step.session_id is not None and any(_steps_with_owner(journal, step.session_id))
        if is_running:
            yield step.id


def _still_driven_line(row: PipelineState, pid: int) -> str:
    end = f"workbench pipeline cancel {row.pipeline_id[:8]} ends it."
    return f"Interrupted. The run continues in another process (pid {pid}); {end}"


def run_row(journal: Journal, run_id: str) -> PipelineState:
    """Return the row of a run that exists."""
    row = journal.pipeline_state(run_id)
    if row is None:
        raise LookupError(f"run {run_id} is gone")
    return row


def pipeline_exit_code(
    journal: Journal, row: PipelineState, waiting: tuple[str, ...], *, is_interrupted: bool
) -> int:
    """Return the exit code for the state of a run."""
    if is_interrupted:
        return EXIT_INTERRUPTED
    if row.status == "completed":
        return EXIT_OK
    if row.status == "waiting" and waiting:
        return EXIT_PARKED
    is_unanswered = row.status == "failed" and is_run_unanswered(fold_run(journal.events(row.pipeline_id)))
    return EXIT_UNANSWERED if is_unanswered else EXIT_FAILED


def pipeline_closing_lines(row: PipelineState, waiting: tuple[str, ...], code: int) -> list[str]:
    """Return what a person should know about the end, for stderr."""
    again = f"workbench pipeline resume {row.pipeline_id[:8]} continues with what is not completed."
    if code == EXIT_PARKED:
        return [
            f"Parked: {len(waiting)} waiting. It continues after your last answer, or with pipeline resume."
        ]
    if code == EXIT_INTERRUPTED:
        return [f"Interrupted. {again}"]
    return [] if code == EXIT_OK else [again]


class _WaitingNotice:
    """Says once, where no terminal is read, what a run waits for and how not to wait."""

    def __init__(self, console: Console, journal: Journal, run_id: str, options: Namespace) -> None:
        self._console, self._journal, self._run = console, journal, run_id
        self._is_printed = options.on_approval != "wait" or sys.stdin.isatty()

    def print_once(self) -> None:
        ids = () if self._is_printed else pending_action_ids(self._journal, self._run)
        if ids:
            self._is_printed = True
            self._console.note(
                f"Waits for an answer: workbench approvals show {ids[0]}. "
                "With --on-approval park it ends here instead, and continues after the answer."
            )
