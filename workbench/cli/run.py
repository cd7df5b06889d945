"""`workbench run`: run an agent without a screen, for terminals and scripts."""

import asyncio
import os
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from workbench.cli.arguments import CommandParser
from workbench.cli.config import require_valid_config
from workbench.cli.console import Console
from workbench.cli.errors import Refusal
from workbench.cli.headless_run import (
    STOP_SIGNALS,
    add_output_options,
    event_printer,
    signal_handlers,
)
from workbench.cli.journal_access import open_journal
from workbench.cli.rows import call_target
from workbench.cli.run_output import (
    EventConsumer,
    Printer,
    RunEnding,
    RunProgressLine,
    RunTally,
    actions_of_run,
    result_json,
    run_exit_code,
    ticking,
)
from workbench.cli.run_printers import HumanPrinter, JsonPrinter
from workbench.cli.run_session import (
    SessionPlan,
    begin_session,
    is_continuing,
    named_session,
    plan_session,
    positive_number,
    read_prompt,
    require_consistent_options,
    resume_session,
    tool_names,
    with_limits,
)
from workbench.cli.session_follower import (
    ApprovalMode,
    FollowEnding,
    Interruption,
    SessionFollower,
    deny_questions,
)
from workbench.config.model_prices import PriceList
from workbench.config.types import Config
from workbench.domain.events import SessionStatusChanged
from workbench.domain.machines import PauseReason
from workbench.domain.rows import Call, Session
from workbench.domain.values import Actor, SandboxLevel
from workbench.effects.files import workspace_path
from workbench.effects.path_files import write_atomic
from workbench.effects.process_table import become_subreaper
from workbench.host import driver_context, workspace_trust
from workbench.host.data_folder_cleanup import tidy_data_folder_if_due
from workbench.host.driver_context import DriverContext, following_config_changes, open_driver_context
from workbench.host.host_locks import driver_identity, refuse_inside_agents
from workbench.host.host_status import host_warnings
from workbench.host.old_rules import open_rules_question
from workbench.host.provider_keys import register_secrets
from workbench.host.session_driver import SessionProgress, drive_session
from workbench.host.session_provider import ProviderMaker, key_variable_of, provider_of
from workbench.host.session_sandbox import has_full_sandbox, prove_sandbox_once
from workbench.host.session_worktree import SessionPlace, session_place
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.workspace_config import load_workspace_config
from workbench.journal.errors import SessionDriven
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock, take_lease
from workbench.journal.usage_queries import session_usage
from workbench.policy.trust import TrustRefused
from workbench.providers.base import Provider
from workbench.providers.errors import KEY_MISSING
from workbench.providers.recording import ReplyRecorder
from workbench.text.human import error_sentence
from workbench.text.safe import one_line
from workbench.tools.registry import tool_registry
from workbench.views.usage import sum_usage

EXAMPLE = """workbench run -p "add a test for the parser" --model local/qwen3-coder
workbench run --continue --on-approval park --output-format json
workbench run -p - --provider local < task.md
workbench run -p "add a test for the parser" --base-url http://127.0.0.1:8080/v1
workbench run -p "add a test for the parser" --provider local --model qwen3-coder --record session.json
workbench run -p "add a test for the parser" --recording session.json
workbench run -p "what does the parser do?" --provider local --tools read_file,grep_search
workbench run -p "try another parser" --worktree
git diff | workbench run --recording session.json --quiet"""
EXIT_CODES = """exit codes:
  0    the agent is done; what you rejected is in its answer
  1    failed or stopped early: an error, --max-turns, --timeout, a reply cut
  2    the command line is wrong, or there is no prompt
  3    parked: it waits for an answer (--on-approval park)
  4    a question expired, or was denied (--on-approval deny)
  130  stopped by ctrl+c, SIGTERM or SIGHUP"""


class RunSetup(Struct, frozen=True, kw_only=True):
    """One run: where, which session, and how questions are met."""

    journal: Journal
    console: Console
    workspace: str
    on_approval: ApprovalMode
    consumer: EventConsumer
    since: int
    config: Config


def configure(parser: CommandParser) -> None:
    parser.notes = EXIT_CODES
    parser.add_argument(
        "-p", dest="prompt", metavar="TEXT",
        help="what the agent should do; - reads standard input\nIn a pipe, leaving it out does the same.",
    )  # fmt: skip
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--continue",
        dest="goes_on",
        action="store_true",
        help="continue the newest session of this workspace",
    )
    which.add_argument("--session", metavar="ID", help="continue this session")
    parser.add_argument("--provider", metavar="NAME", help="a provider of config.json")
    parser.add_argument("--model", metavar="NAME", help="a model of the provider, or PROVIDER/MODEL")
    parser.add_argument("--base-url", metavar="URL", help="\nthe address of an OpenAI-compatible server")
    parser.add_argument("--key-env", metavar="NAME", help="\nthe environment variable that holds its key")
    parser.add_argument("--recording", metavar="FILE", help="\nplay a recording instead of asking a model")
    parser.add_argument(
        "--worktree", action="store_true",
        help="work in a git worktree of its own\nIt is next to the repository and on a new branch.",
    )  # fmt: skip
    parser.add_argument(
        "--tools", metavar="A,B", type=tool_names,
        help="tools that the agent has (default: all)\nNamed by id; workbench tools list prints them.",
    )  # fmt: skip
    parser.add_argument(
        "--sandbox", metavar="LEVEL", choices=get_args(SandboxLevel),
        help="what commands may touch: read-only, workspace or outside\n"
        "Nothing, the workspace without the network, or all that you may.",
    )  # fmt: skip
    parser.add_argument(
        "--sandboxed", metavar="MODE", choices=("ask", "auto"),
        help="whether commands in the sandbox ask: ask or auto\nWith auto they run inside, unless denied.",
    )  # fmt: skip
    parser.add_argument("--record", metavar="FILE", help="write what the model says as a recording")
    parser.add_argument(
        "--max-turns",
        metavar="N",
        type=positive_number(int),
        help="stop after N model calls for one prompt",
    )
    parser.add_argument(
        "--timeout", metavar="S", type=positive_number(float),
        help="stop after S seconds of work\nWaiting for an answer does not count.",
    )  # fmt: skip
    add_output_options(parser)
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="show no progress and no notes on stderr\nErrors and how it ended are still printed.",
    )


def execute(options: Namespace, console: Console) -> int:
    require_consistent_options(options)
    options.prompt = read_prompt(options.prompt, console, continues=is_continuing(options))
    provider = recording_provider_maker(options.record) if options.record is not None else provider_of
    with open_journal(expires_due=True) as journal:
        if options.sandbox is not None or options.sandboxed is not None:
            refuse_inside_agents(journal, journal.home, "choose the sandbox of a session")
        session = named_session(journal, options)
        workspace = session.workspace if session else workspace_path(options.directory)
        loaded = load_workspace_config(journal, workspace)
        require_valid_config(loaded, console)
        plan = None if session else with_limits(plan_session(options, loaded.config), options)
        if plan and plan.note and not options.quiet:
            console.note(plan.note)
        register_secrets(loaded.config)
        driver_context.sync_config_rules(journal, loaded, tool_registry().descriptors(), workspace)
        with session_place(journal, workspace, options.prompt or "", is_worktree=options.worktree) as place:
            if options.worktree and not options.quiet:
                console.note(f"Works in a git worktree of its own: {one_line(place.workspace, 300)}")
            task = _Task(session=session, plan=plan, place=place, origin=workspace, config=loaded.config)
            return _run_task(journal, console, task, provider, options)


class _Task(Struct, frozen=True, kw_only=True):
    """What a run begins or continues, and where."""

    session: Session | None
    """The session that continues; None for a new one, which `plan` describes."""
    plan: SessionPlan | None
    place: SessionPlace
    origin: str
    """The workspace that was named; a worktree was made from it."""
    config: Config


def _run_task(
    journal: Journal, console: Console, task: _Task, provider: ProviderMaker, options: Namespace
) -> int:  # fmt: skip
    workspace, session = task.place.workspace, task.session
    ask_trust(journal, workspace, task.config, None if options.quiet else console)
    start, since = journal.last_position(), journal.now()
    printer = run_printer(options.output_format or task.config.output_format, journal, console)
    context = open_driver_context(
        journal.home, journal, workspace, provider=provider, pipelines=SessionPipelineStarter,
        can_ask=options.on_approval != "deny",
    )  # fmt: skip
    with closing(context.root), DriverLock(journal, driver_identity(journal, workspace, "run")) as lock:
        open_rules_question(journal, workspace, task.config, context.prove_sandbox)
        owned_id = _take_session(journal, lock, task, options)
        session_id = owned_id or (session.id if session else "")
        run = RunSetup(
            journal=journal, console=console, workspace=workspace, since=since,
            on_approval=options.on_approval, config=task.config,
            consumer=_consumer(journal, session_id, printer, start, console, quiet=options.quiet),
        )  # fmt: skip
        ending = _drive(run, context, lock) if owned_id else _follow_or_drive(run, context, lock, options)
    return _print_result(run, ending, printer)


def _take_session(journal: Journal, lock: DriverLock, task: _Task, options: Namespace) -> str | None:
    """Start or continue a session as its driver and return its id; None where another process is that.

    A new session is this run's from its first event, so that whatever lives beside it, `--record`, the keys
    of this process and its signals hold.
    """
    session, plan = task.session, task.plan
    if session is None:
        assert plan is not None and options.prompt is not None
        settings = {**plan.configuration, **task.place.configuration}
        return begin_session(
            journal, replace(plan, configuration=settings), task.place.workspace, options.prompt,
            driver=lock.driver, instructed_by=task.origin,
        )  # fmt: skip
    try:
        take_lease(journal, session.id, lock.driver)
    except SessionDriven as driven:
        if options.record is not None:
            why = f"another process (pid {driven.pid}) runs this session, and only that process can record it"
            raise Refusal(_NOTHING_RUN, why, "wait until it rests, or leave --record out") from None
        return None
    resume_session(journal, session, options.prompt)
    return session.id


_NOTHING_RUN = "nothing was run"


def _consumer(
    journal: Journal, session_id: str, printer: Printer, start: int, console: Console, *, quiet: bool
) -> EventConsumer:
    consumer = EventConsumer(journal, session_id, printer, start)
    if console.has_status and not quiet:
        waiting = journal.actions(session_id, states=("pending",))
        consumer.progress = RunProgressLine(console, journal.now, waiting)
    return consumer


def ask_trust(journal: Journal, workspace: str, config: Config, console: Console | None) -> None:
    """Ask whether the workspace may act, and say that it does not yet, unless nothing is to be said."""
    if workspace_trust.is_trusted(journal, workspace):
        return
    notes = [f"Not trusted: {workspace}. Its own settings can only forbid; workbench trust changes that."]
    try:
        workspace_trust.open_trust_question(
            journal, workspace, offers_sandbox=lambda: has_full_sandbox(config, prove_sandbox_once)
        )
    except TrustRefused as error:
        notes.append(error_sentence(str(error)))
    if console is not None:
        console.note_lines(notes)


def run_printer(output: str, journal: Journal, console: Console) -> Printer:
    """Return the printer of an output format."""
    if output == "json":
        return JsonPrinter(console)
    return event_printer(output, journal, console) or HumanPrinter(journal, console)


def _drive(run: RunSetup, context: DriverContext, lock: DriverLock) -> RunEnding:
    if run.on_approval == "deny":
        deny_questions(run.consumer)
    try:
        ending = drive_here(context, lock.driver, run.consumer, run.on_approval)
    finally:
        run.console.clear_status()
    pause_session(run.journal, run.consumer.session_id, ending)
    # Whoever never opens a screen has nobody else who tidies.
    tidy_data_folder_if_due(
        run.journal.home, run.journal, context.recall_settings().config.retention.sealed_days
    )
    return ending


def _note_key_of_this_shell(run: RunSetup) -> None:
    """Say that the key which the background process lacks is in the shell that the run was started in."""
    session = run.journal.session(run.consumer.session_id)
    if session is None or run.consumer.tally.detail != KEY_MISSING:
        return
    name = key_variable_of(session, run.config)
    if name and os.environ.get(name, "").strip():
        run.console.note(f"{name} is set in this shell: workbench host restart hands it over.")


def _follow_or_drive(
    run: RunSetup, context: DriverContext, lock: DriverLock, options: Namespace
) -> RunEnding:
    """Follow the driver of a session, and drive it here where that driver ended before it saw the request."""
    journal, session_id = run.journal, run.consumer.session_id
    session, lease = journal.session(session_id), journal.lease(session_id)
    assert session is not None
    resume_session(journal, session, options.prompt)
    position = journal.last_position()
    if not options.quiet:
        if lease is not None and lease.driver == "run":
            run.console.note(
                f"Another process (pid {lease.pid}) runs this session; its events are printed here."
            )
        run.console.note_lines(host_warnings(journal.home, journal, run.workspace))
    while (ending := _follow(run)) == "undriven":
        if not _is_unseen(journal, session_id, position):
            raise Refusal(
                f"session {session_id[:8]} was not followed to its end", "the process that ran it is gone",
                f"workbench run --session {session_id} continues it",
            )  # fmt: skip
        with suppress(SessionDriven):
            take_lease(journal, session_id, lock.driver)
            resume_session(journal, session, None)
            return _drive(run, context, lock)
    return ending


def _is_unseen(journal: Journal, session_id: str, position: int) -> bool:
    """Return whether no driver has worked on a session since a request at a position of the journal."""
    ends = ("lease.released", "session.status_changed")
    return all(event.kind in ends for event in journal.events(session_id, after=position))


def _follow(run: RunSetup) -> FollowEnding:
    if run.on_approval == "deny":
        deny_questions(run.consumer)
    try:
        ending = SessionFollower(run.journal, run.consumer, run.on_approval).follow()
    finally:
        run.console.clear_status()
    _note_key_of_this_shell(run)
    return ending


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
        raise Refusal("the run has no result", "its session was deleted meanwhile", "start a new one")
    code = run_exit_code(consumer.tally, ending)
    actions = actions_of_run(
        journal.actions(session.id), journal.calls(session.id), consumer.start, run.since
    )
    denied = [call for key in consumer.tally.denied if (call := journal.call(key)) is not None]
    waiting = [action for action in actions if action.state == "pending"]
    facts = result_json(session, consumer.tally, actions, denied, code)
    printer.end({**facts, "cost": _cost_so_far(run, session)}, waiting)
    run.console.note_lines(closing_lines(session, consumer.tally, ending, denied))
    return code


def _cost_so_far(run: RunSetup, session: Session) -> float | None:
    """Return what the session cost so far in US dollars; None where the price of any of it is not known."""
    with run.journal.snapshot() as database:
        facts = session_usage(database, session.id)
    usage_sum = sum_usage(facts, PriceList.of(run.config).cost)
    return None if usage_sum.cost is None or not usage_sum.is_whole else usage_sum.cost / 1_000_000


def closing_lines(
    session: Session, tally: RunTally, ending: RunEnding, denied: Sequence[Call] = ()
) -> list[str]:
    """Return what a person should know about the end of a run, for stderr; `denied` calls asked in vain."""
    goes_on = f"workbench run --session {session.id} continues it."
    if ending == "parked":
        return ["Parked. It continues after the last answer."]
    if ending == "interrupted":
        return [f"Interrupted. {goes_on}"]
    if tally.outcome == "unattended":
        return [f"Nobody answered in time. Nothing was done. {goes_on}"]
    if tally.outcome == "limit":
        return [f"Stopped at a limit. {error_sentence(tally.detail)} {goes_on}"]
    if tally.outcome == "loop":
        more = (
            f"workbench run --session {session.id} continues it,"
            f" workbench sessions stop {session.id} stops it."
        )
        return [f"Paused: the agent repeats the same call and gets the same result. {more}"]
    if tally.outcome == "interrupted":
        return [f"Stopped by somebody else. {goes_on}"]
    lines = [_denied_line(tally, denied)] if denied or tally.refused else []
    if tally.is_cut:
        goes_on = f"workbench run --session {session.id} -p continue asks for the rest."
        return [*lines, f"The last reply was cut, so this run failed. {goes_on}"]
    if ending == "finished" and tally.outcome is None and not lines:
        return [f"Nothing was left to do. workbench run --session {session.id} -p TEXT says what comes next."]
    return lines


_MOST_DENIED_NAMED = 3


def _denied_line(tally: RunTally, denied: Sequence[Call]) -> str:
    """Return which calls nobody could be asked about (`Denied 1 call, …: create_file new.txt.`)."""
    count = len(denied) + tally.refused
    names = [one_line(f"{call.tool} {call_target(call)}", 60) for call in denied[:_MOST_DENIED_NAMED]]
    rest = [f"{count - len(names)} more"] if names and count > len(names) else []
    names_text = f": {', '.join([*names, *rest])}" if names else ""
    calls = "1 call" if count == 1 else f"{count} calls"
    return f"Denied {calls}, because nobody could be asked (--on-approval deny){names_text}."


def drive_here(
    context: DriverContext, driver: DriverIdentity, consumer: EventConsumer, on_approval: ApprovalMode
) -> RunEnding:
    """Drive the session that a consumer looks at, under the lock of `driver`, and say how that ended."""
    become_subreaper()
    return asyncio.run(_drive_until_over(context, consumer, on_approval, driver))


async def _drive_until_over(
    context: DriverContext, consumer: EventConsumer, on_approval: ApprovalMode, driver: DriverIdentity
) -> RunEnding:
    interruption = Interruption(context.journal, consumer.session_id)
    progress = consumer.progress

    def is_over(progress_now: SessionProgress) -> bool:
        if consumer.failure is not None:
            return True
        if interruption.is_wanted:
            return interruption.pass_on(progress_now.open_turn) and progress_now.is_idle
        return _is_over(progress_now, on_approval)

    handlers = signal_handlers(STOP_SIGNALS, interruption.hear)
    counting = ticking(progress.tick) if progress is not None else nullcontext()
    with handlers, following_config_changes(context), suppress(asyncio.CancelledError):
        async with counting:
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


def recording_provider_maker(
    name: str, what: str = "nothing was run", *, has_sessions: bool = False
) -> ProviderMaker:
    """Return a maker of providers whose replies go into a file; `what` says that nothing was done.

    `has_sessions`: several sessions are recorded in it.
    """
    try:
        path = Path(name).expanduser().absolute()
        exists, has_folder = path.exists() or path.is_symlink(), path.parent.is_dir()
    except (OSError, ValueError, RuntimeError):
        raise Refusal(what, f"{name} is not a name for a recording", "give --record a path") from None
    if exists:
        raise Refusal(what, f"{path} is there already", "name a new file with --record")
    if not has_folder:
        raise Refusal(what, f"there is no folder {path.parent}", "make it, or name another file")
    recorder = ReplyRecorder(lambda data: write_atomic(path, data), has_sessions=has_sessions)

    def make(session: Session, config: Config) -> Provider:
        return recorder.recorded_provider(provider_of(session, config))

    return make
