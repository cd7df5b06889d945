"""`workbench run`: run an agent without a screen, for terminals and scripts."""

import asyncio
import os
import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct

from workbench.agents.reducer import apply_event
from workbench.agents.state import TurnState
from workbench.cli.config import require_valid_config
from workbench.cli.console import Console
from workbench.cli.context import is_driven, load_workspace_config, open_journal, user_actor, workspace_path
from workbench.cli.errors import Refusal, sentence
from workbench.cli.headless_run import StreamPrinter, add_output_options, signal_handlers
from workbench.cli.run_output import (
    HumanPrinter,
    JsonPrinter,
    Printer,
    RunEnding,
    RunTally,
    actions_of_run,
    result_json,
    run_exit_code,
)
from workbench.cli.run_session import (
    SessionPlan,
    begin_session,
    named_session,
    plan_session,
    positive_number,
    require_consistent_options,
    resume_session,
    with_limits,
)
from workbench.config.types import Config, token_cost
from workbench.domain.events import Event, SessionStatusChanged
from workbench.domain.machines import PauseReason
from workbench.domain.rows import Action, Session
from workbench.domain.values import Actor, Decision
from workbench.effects.files import write_atomic
from workbench.effects.process_table import become_subreaper
from workbench.host import driver_context, session_requests, workspace_trust
from workbench.host.driver_context import DriverContext, following_config_changes, open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.lifecycle import host_warnings, tidy_data_folder_if_due
from workbench.host.model_selection import ProviderMaker, provider_of, register_secrets
from workbench.host.session_driver import SessionProgress, drive_session
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.decisions import decide_action, expire_due_actions
from workbench.journal.errors import SessionDriven
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock
from workbench.policy.trust import TrustRefused
from workbench.providers.base import Provider
from workbench.providers.recording import ReplyRecorder
from workbench.tools.registry import tool_registry

EXAMPLE = """workbench run -p "add a test for the parser" --base-url http://127.0.0.1:8080/v1
workbench run -p "add a test for the parser" --provider local --model qwen3-coder --record session.json
workbench run -p "add a test for the parser" --recording session.json
workbench run --continue --on-approval park --output-format json"""
ApprovalMode = Literal["wait", "park", "deny"]


class EventConsumer:
    """The eyes of a run on one session."""

    def __init__(self, journal: Journal, session_id: str, printer: Printer, start: int) -> None:
        self.journal, self.session_id, self.start = journal, session_id, start
        self.tally = RunTally()
        self.failure: OSError | None = None
        self._printer, self._cursor = printer, start

    def see(self, events: Iterable[Event]) -> None:
        """Take in what is new of some events."""
        fresh = [event for event in events if event.position > self._cursor]
        if not fresh:
            return
        self._cursor = fresh[-1].position
        self.tally.see(fresh)
        if self.failure is None:
            try:
                self._printer.see(fresh)
            except OSError as error:
                self.failure = error

    def catch_up(self) -> None:
        """Take in everything that is in the journal by now."""
        self.see(self.journal.events(self.session_id, after=self._cursor))

    def wait(self, seconds: float) -> None:
        """Wait until there is more, but not longer than some seconds."""
        self.journal.wait(self._cursor, seconds)

    def require_listener(self) -> None:
        """Raise what went wrong while telling."""
        if self.failure is not None:
            raise self.failure


class RunSetup(Struct, frozen=True, kw_only=True):
    """One run: where, which session, and how questions are met."""

    home: Home
    journal: Journal
    console: Console
    workspace: str
    on_approval: ApprovalMode
    consumer: EventConsumer
    since: int
    config: Config
    provider: ProviderMaker = provider_of


def configure(parser: ArgumentParser) -> None:
    """Add the options of DESIGN section 8."""
    parser.add_argument("-p", dest="prompt", metavar="TEXT", help="what the agent should do")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--continue",
        dest="goes_on",
        action="store_true",
        help="continue the newest session of this workspace",
    )
    which.add_argument("--session", metavar="ID", help="continue this session")
    parser.add_argument("--provider", metavar="NAME", help="a provider of config.json")
    parser.add_argument("--model", metavar="NAME", help="a model of the provider")
    parser.add_argument("--base-url", metavar="URL", help="the address of an OpenAI-compatible server")
    parser.add_argument("--key-env", metavar="NAME", help="the environment variable that holds its key")
    parser.add_argument("--recording", metavar="FILE", help="play a recording instead of asking a model")
    parser.add_argument("--record", metavar="FILE", help="write what the model says as a recording")
    parser.add_argument(
        "--max-turns",
        metavar="N",
        type=positive_number(int),
        help="stop after so many model calls for one prompt",
    )
    parser.add_argument(
        "--timeout", metavar="S", type=positive_number(float),
        help="stop after so many seconds of work; waiting for an answer does not count",
    )  # fmt: skip
    add_output_options(parser)


def execute(options: Namespace, console: Console) -> int:
    """Run an agent and return the exit code."""
    require_consistent_options(options)
    provider = recording_provider_maker(options.record) if options.record is not None else provider_of
    with open_journal() as (home, journal):
        expire_due_actions(journal)
        session = named_session(journal, options)
        workspace = session.workspace if session else workspace_path(options.directory)
        loaded = load_workspace_config(home, journal, workspace)
        require_valid_config(loaded, console)
        plan = None if session else with_limits(plan_session(options, loaded.config), options)
        register_secrets(loaded.config)
        driver_context.sync_config_rules(journal, loaded, tool_registry().descriptors())
        ask_trust(journal, workspace, console)
        start, since = journal.last_position(), journal.now()
        session_id = _begin_or_resume(journal, session, plan, workspace, options.prompt)
        printer = run_printer(options.output_format or loaded.config.output_format, journal, console)
        run = RunSetup(
            home=home, journal=journal, console=console, workspace=workspace, since=since,
            on_approval=options.on_approval, provider=provider,
            consumer=EventConsumer(journal, session_id, printer, start),
            config=loaded.config,
        )  # fmt: skip
        return _print_result(run, _drive_or_follow(run), printer)


def ask_trust(journal: Journal, workspace: str, console: Console) -> None:
    """Ask whether the workspace may act, and say that it does not yet."""
    if workspace_trust.is_trusted(journal, workspace):
        return
    console.note(f"Not trusted: {workspace}. Its own settings can only forbid; workbench trust changes that.")
    try:
        workspace_trust.open_trust_question(journal, workspace)
    except TrustRefused as error:
        console.note(sentence(str(error)))


def run_printer(output: str, journal: Journal, console: Console) -> Printer:
    """Return the printer of an output format."""
    if output == "json":
        return JsonPrinter(console)
    return StreamPrinter(console) if output == "stream-json" else HumanPrinter(journal, console)


def _begin_or_resume(
    journal: Journal, session: Session | None, plan: SessionPlan | None, workspace: str, prompt: str | None
) -> str:
    if session is not None:
        resume_session(journal, session, prompt)
        return session.id
    assert plan is not None and prompt is not None
    return begin_session(journal, plan, workspace, prompt)


def _drive_or_follow(run: RunSetup) -> RunEnding:
    if run.on_approval == "deny":
        _deny_old_questions(run)
    context = open_driver_context(
        run.home,
        run.journal,
        run.workspace,
        provider=run.provider,
        pipelines=SessionPipelineStarter,
        can_ask=run.on_approval != "deny",
    )
    try:
        ending = drive_here(context, run.consumer, run.on_approval)
    except SessionDriven as held:
        if held.driver != "host":
            raise
        for warning in host_warnings(run.home, run.journal, run.workspace):
            run.console.note(warning)
        if run.provider is not provider_of:
            run.console.note(
                "Not recorded: the host of this workspace runs the session."
                " --record works only without a host."
            )
        return Follower(run.home, run.journal, run.consumer, run.on_approval).follow()
    finally:
        context.root.close()
    pause_session(run.journal, run.consumer.session_id, ending)
    # Whoever never opens a screen has nobody else who tidies.
    tidy_data_folder_if_due(run.home, run.journal, context.loaded().config.retention.sealed_days)
    return ending


def _deny_old_questions(run: RunSetup) -> None:
    for action in run.journal.actions(run.consumer.session_id, states=("pending",)):
        no = Decision(action_id=action.id, verdict="reject", reason=NOBODY_ASKED)
        run.consumer.tally.refused += decide_action(run.journal, no, action.digest, user_actor()).ok


def pause_session(journal: Journal, session_id: str, ending: RunEnding) -> None:
    """Leave a session that was driven here paused, with the reason, unless it is so or has ended."""
    session = journal.session(session_id)
    if session is None or session.status not in ("ready", "processing"):
        return
    reason: PauseReason = "parked" if ending == "parked" else "run ended"
    if session.reason == "failed":
        reason = "failed"
    actor = Actor(kind="host", pid=os.getpid())
    journal.append([journal.event(SessionStatusChanged(status="paused", reason=reason), session_id, actor)])


def _print_result(run: RunSetup, ending: RunEnding, printer: Printer) -> int:
    consumer, journal = run.consumer, run.journal
    consumer.catch_up()
    consumer.require_listener()
    session = journal.session(consumer.session_id)
    if session is None:
        raise Refusal("the run has no result", "its session was deleted meanwhile", "begin a new one")
    code = run_exit_code(consumer.tally, ending)
    actions = actions_of_run(
        journal.actions(session.id), journal.calls(session.id), consumer.start, run.since
    )
    denied = [call for key in consumer.tally.denied if (call := journal.call(key)) is not None]
    waiting = [action for action in actions if action.state == "pending"]
    facts = result_json(session, consumer.tally, actions, denied, code)
    printer.end({**facts, "cost": token_cost(run.config, session.provider, session.usage)}, waiting)
    for line in closing_lines(session, consumer.tally, ending):
        run.console.note(line)
    return code


def closing_lines(session: Session, tally: RunTally, ending: RunEnding) -> list[str]:
    """Return what a person should know about the end of a run, for stderr."""
    goes_on = f"workbench run --session {session.id} lets it go on."
    if ending == "parked":
        return ["Parked: the last answer lets it go on."]
    if ending == "interrupted":
        return [f"Interrupted. {goes_on}"]
    if tally.outcome == "unattended":
        return [f"Nobody answered in time. Nothing was done. {goes_on}"]
    if tally.outcome == "limit":
        return [f"Stopped at a limit. {sentence(tally.detail)} {goes_on}"]
    if tally.outcome == "interrupted":
        return [f"Stopped by somebody else. {goes_on}"]
    return []


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """What ctrl+c asked for, and of which turn it was asked already."""

    def __init__(self, journal: Journal, session_id: str) -> None:
        self._journal, self._session_id = journal, session_id
        self._asked: str | None = None
        self.is_wanted = False

    def hear(self) -> bool:
        """Take a signal; False when it is not the first."""
        if self.is_wanted:
            return False
        self.is_wanted = True
        # Also without a turn: reading the event back is what makes the driver look again.
        session_requests.interrupt_session(self._journal, self._session_id, user_actor())
        return True

    def pass_on(self, open_turn: str | None) -> bool:
        """Ask the open turn to stop, once; True when there is none and all is over."""
        if open_turn is None:
            return True
        if open_turn != self._asked:
            self._asked = open_turn
            session_requests.interrupt_session(self._journal, self._session_id, user_actor())
        return False


def drive_here(context: DriverContext, consumer: EventConsumer, on_approval: ApprovalMode) -> RunEnding:
    """Drive the session that a consumer looks at, and say how that ended."""
    become_subreaper()
    with DriverLock(context.journal, driver := driver_identity(context.journal, context.workspace, "run")):
        return asyncio.run(_drive_until_over(context, consumer, on_approval, driver))


async def _drive_until_over(
    context: DriverContext, consumer: EventConsumer, on_approval: ApprovalMode, driver: DriverIdentity
) -> RunEnding:
    interruption = Interruption(context.journal, consumer.session_id)

    def is_over(progress: SessionProgress) -> bool:
        if consumer.failure is not None:
            return True
        if interruption.is_wanted:
            return interruption.pass_on(progress.open_turn) and progress.is_idle
        return _is_over(progress, on_approval)

    handlers = signal_handlers(_SIGNALS, interruption.hear)
    with handlers, following_config_changes(context), suppress(asyncio.CancelledError):
        last_progress = await drive_session(
            context, driver, consumer.session_id, until=is_over, on_events=consumer.see
        )
        return "interrupted" if interruption.is_wanted else _ending(last_progress)
    return "interrupted"


def _is_over(progress: SessionProgress, on_approval: ApprovalMode) -> bool:
    if progress.is_idle:
        return True
    return progress.is_resting and (not progress.waiting or on_approval == "park")


def _ending(progress: SessionProgress) -> RunEnding:
    return "parked" if progress.waiting and not progress.is_idle else "finished"


FOLLOW_TICK_SECONDS = 0.5
MOST_UNDRIVEN_TICKS = 6
"""Ticks that a session may stay undriven before its driver counts as gone."""
NOBODY_ASKED = "nobody could be asked (--on-approval deny)"


class Follower:
    """One followed session."""

    def __init__(
        self, home: Home, journal: Journal, consumer: EventConsumer, on_approval: ApprovalMode
    ) -> None:
        self._home, self._journal, self._consumer, self._on_approval = home, journal, consumer, on_approval
        self._interruption = Interruption(journal, consumer.session_id)
        self._state, self._cursor, self._undriven = TurnState(), 0, 0

    def follow(self) -> RunEnding:
        """Follow until it is over and say how."""
        while True:
            try:
                ending = self._look()
                if ending is not None:
                    return ending
                self._consumer.wait(FOLLOW_TICK_SECONDS)
            except KeyboardInterrupt:
                if not self._interruption.hear():
                    return "interrupted"

    def _look(self) -> RunEnding | None:
        expire_due_actions(self._journal)
        self._catch_up()
        self._consumer.require_listener()
        if self._is_idle():
            return "interrupted" if self._interruption.is_wanted else "finished"
        if self._interruption.is_wanted:
            self._interruption.pass_on(self._state.turn.id if self._state.turn else None)
            return None
        waiting = self._journal.actions(self._consumer.session_id, states=("pending",))
        if waiting and self._on_approval == "deny":
            self._deny(waiting)
        if waiting and self._on_approval == "park" and self._is_resting():
            return "parked"
        self._require_driver()
        return None

    def _catch_up(self) -> None:
        events = self._journal.events(self._consumer.session_id, after=self._cursor)
        for event in events:
            self._state = apply_event(self._state, event)
            self._cursor = event.position
        self._consumer.see(events)

    def _is_idle(self) -> bool:
        state = self._state
        return state.turn is None and not state.waiting and not state.wants_turn

    def _is_resting(self) -> bool:
        calls = self._journal.calls(self._consumer.session_id, states=("pending", "approved", "executing"))
        return all(call.state == "pending" and call.proposed for call in calls)

    def _deny(self, waiting: list[Action]) -> None:
        for action in waiting:
            no = Decision(action_id=action.id, verdict="reject", reason=NOBODY_ASKED)
            self._consumer.tally.refused += decide_action(self._journal, no, action.digest, user_actor()).ok

    def _require_driver(self) -> None:
        is_waiting = bool(self._journal.actions(self._consumer.session_id, states=("pending",)))
        if is_waiting or is_driven(self._home, self._journal, self._consumer.session_id):
            self._undriven = 0
            return
        self._undriven += 1
        if self._undriven > MOST_UNDRIVEN_TICKS:
            key = self._consumer.session_id
            raise Refusal(
                f"session {key[:8]} was not followed to its end",
                "the process that drove it is gone",
                f"workbench run --session {key} lets it go on",
            )


def recording_provider_maker(name: str) -> ProviderMaker:
    """Return a maker of providers whose replies go into a file."""
    try:
        path = Path(name).expanduser().absolute()
        is_taken, has_folder = path.exists() or path.is_symlink(), path.parent.is_dir()
    except (OSError, ValueError, RuntimeError):
        raise Refusal(
            "nothing was run", f"{name} is no name for a recording", "give --record a path"
        ) from None
    if is_taken:
        raise Refusal("nothing was run", f"{path} is there already", "name a new file with --record")
    if not has_folder:
        raise Refusal("nothing was run", f"there is no folder {path.parent}", "make it, or name another file")
    recorder = ReplyRecorder(lambda data: write_atomic(path, data))

    def make(session: Session, config: Config) -> Provider:
        return recorder.recorded_provider(provider_of(session, config))

    return make
