"""`workbench pipeline run, resume, status, cancel`: begin or follow a run, show its state, end it."""

import os
from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from workbench.cli.arguments import add_json_option, add_run_argument, confirm
from workbench.cli.console import Console
from workbench.cli.context import user_actor
from workbench.cli.errors import EXIT_OK, Refusal, UsageError
from workbench.cli.headless_run import add_output_options
from workbench.cli.journal_access import open_journal
from workbench.cli.named_file import named_pipeline
from workbench.cli.pipeline_driving import drive_or_follow_run, running_commands_line
from workbench.cli.pipeline_output import (
    find_run,
    matrix_lines,
    matrix_summaries,
    outcome_lines,
    place_json,
    place_limit_words,
    refused_by_step,
    run_json,
    run_line,
    run_report_json,
    step_line,
)
from workbench.domain.machines import LOST
from workbench.domain.rows import PipelineState, run_title
from workbench.effects.files import workspace_path
from workbench.host.steps.run_requests import read_run_input
from workbench.host.workspace_config import load_workspace_config
from workbench.journal.journal import Journal
from workbench.journal.leases import is_driver_gone, is_lease_live
from workbench.journal.place_queue import wait_of_run
from workbench.journal.session_queries import pending_action_ids
from workbench.text.human import sentence
from workbench.text.safe import one_line, safe_text
from workbench.views.lost_drivers import listed_run, lost_sentence
from workbench.views.pipeline import step_counts_text, used_by_text
from workbench.views.status_icons import StepStatus, step_status_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.host.steps.run_requests import AskedRun, RunRequest
    from workbench.journal.leases import DriverIdentity
    from workbench.pipelines.accepted_commands import AcceptedCommand
    from workbench.pipelines.load import LoadedPipeline

RUN_EXAMPLE = """workbench pipeline run nightly --input "the login page"
workbench pipeline run nightly --dry-run
workbench pipeline run nightly --from-step tests --on-approval park --output-format stream-json"""


def configure_run(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a pipeline of this project, or a file")
    parser.add_argument(
        "--input", default="", metavar="TEXT", help="what it works on; @FILE reads it from a file"
    )
    parser.add_argument(
        "--no-input",
        action="store_true",
        help="start without an input, though steps use {{ input }}\n"
        "Without it a terminal is asked, and a script is warned.",
    )
    parser.add_argument(
        "--from-step",
        default="",
        metavar="STEP",
        help="start at STEP\nResults of earlier steps come from the last run.",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the steps, questions and grants; run nothing"
    )
    parser.add_argument("--manifest", metavar="M", help="the manifest (default: the nearest one upwards)")
    parser.add_argument("--recording", metavar="DIR", help="play DIR/STEP.json instead of asking providers")
    parser.add_argument(
        "--grant",
        action="append",
        default=[],
        metavar="PATTERN",
        help="allow calls that match PATTERN in this run\nThey run without a question.",
    )
    parser.add_argument(
        "--grant-personas",
        action="store_true",
        help="grant the patterns that --dry-run lists for personas",
    )
    parser.add_argument(
        "--detach",
        action="store_true",
        help="run it in the background; print its id",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="accept commands in which a program reads the input as code\n--dry-run lists them.",
    )
    add_output_options(parser)


def execute_run(options: Namespace, console: Console) -> int:
    from workbench.cli.config import require_valid_config
    from workbench.cli.pipeline_plan import print_plan
    from workbench.host import driver_context
    from workbench.host.steps.run_requests import (
        AskedRun,
        RunRefused,
        load_requested_pipeline,
        request_run,
    )
    from workbench.tools.registry import tool_registry

    workspace = workspace_path(options.directory)
    try:
        request = _run_options(options, workspace)
        if options.dry_run:
            return print_plan(load_requested_pipeline(workspace, request), request, options, console)
        with open_journal(human_only="no run was started", expires_due=True) as journal:
            loaded = load_workspace_config(journal, workspace)
            require_valid_config(loaded, console)
            driver_context.sync_config_rules(journal, loaded, tool_registry().descriptors(), workspace)
            requested = load_requested_pipeline(workspace, request)
            _confirm_missing_input(requested, request, options, console)
            request = _with_accepted_commands(journal, requested, request, options, console)

            def ask(driver: "DriverIdentity | None") -> AskedRun:
                run_id = request_run(journal, workspace, request, user_actor(), driver=driver)
                return AskedRun(run_id=run_id, position=journal.last_position())

            return drive_or_follow_run(journal, workspace, options, console, ask)
    except RunRefused as error:
        console.note_lines(map(str, error.problems[1:]))
        raise


def _confirm_missing_input(
    loaded: "LoadedPipeline", request: "RunRequest", options: Namespace, console: Console
) -> None:
    """Ask at a terminal whether to start when steps use an input that is empty; a script gets a warning."""
    from workbench.host.steps.run_requests import steps_missing_input

    steps = steps_missing_input(loaded.pipeline, request.input) if loaded.report.is_ok else ()
    if not steps or options.no_input:
        return
    what, why = "no run was started", f"the input is empty, and {used_by_text(steps)}"
    remedy = "give one with --input TEXT, or start without it: --no-input"
    if not console.can_ask or options.output_format not in (None, "human"):
        console.note(f"Warning: {why}. --input TEXT gives one; --no-input starts without this warning.")
        return
    if not confirm(console, "Start without it?", "yes", what=what, remedy=remedy, lines=[sentence(why)]):
        raise Refusal(what, why, remedy)


def _with_accepted_commands(
    journal: Journal, loaded: "LoadedPipeline", request: "RunRequest", options: Namespace, console: Console
) -> "RunRequest":
    """Ask about the commands that read the input as code, and return the request with those accepted."""
    from workbench.host.steps.run_requests import commands_of_request, digests_of_commands

    commands = commands_of_request(loaded, request) if loaded.report.is_ok else []
    if not commands:
        return request
    if not options.yes:
        _require_answer(commands, console)
    return replace(request, accepted=digests_of_commands(journal, commands))


def _require_answer(commands: "Sequence[AcceptedCommand]", console: Console) -> None:
    what, first = "no run was started", commands[0]
    if not console.can_ask:
        why = one_line(f"{first.step}: {first.message}", 600)
        raise UsageError(what, why, "write it so, or accept the command as it is with --yes")
    lines = [line for command in commands for line in _command_lines(command)]
    if not confirm(console, "Run this as it is?", "yes", what=what, remedy="use --yes", lines=lines):
        raise Refusal(what, "the command was not accepted", "write it as shown above")


def _command_lines(command: "AcceptedCommand") -> "Iterator[str]":
    yield one_line(f"{command.step}: {command.message}", 600)
    yield from (f"    {line}" for line in safe_text(command.command).splitlines())


def _run_options(options: Namespace, workspace: str) -> "RunRequest":
    from workbench.host.steps.run_requests import RunRequest, load_requested_pipeline

    recordings = ""
    if options.recording is not None:
        recordings = str(Path(options.recording).expanduser().resolve())
        if not Path(recordings).is_dir():
            raise UsageError(
                "no run was started", f"{options.recording} is not a folder", "name one with STEP.json files"
            )
    request = RunRequest(
        name=named_pipeline(options.name), input=read_run_input(options.input), manifest=options.manifest,
        grants=tuple(options.grant), from_step=options.from_step, recordings=recordings,
    )  # fmt: skip
    if options.grant_personas:
        from workbench.pipelines.granted_patterns import granted_patterns
        from workbench.pipelines.repository_checks import with_personas

        loaded = with_personas(load_requested_pipeline(workspace, request), os.environ)
        granted = (*request.grants, *granted_patterns(loaded))
        return replace(request, grants=tuple(dict.fromkeys(granted)))
    return request


RESUME_EXAMPLE = """workbench pipeline resume nightly#41
workbench pipeline resume 3f2a9c1d --from-step tests
workbench pipeline resume nightly --as-it-is"""


def configure_resume(parser: ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument(
        "--from-step",
        default="",
        metavar="STEP",
        help="run this step and the steps that depend on it again, too",
    )
    files = parser.add_mutually_exclusive_group()
    files.add_argument(
        "--as-it-was", dest="reads_files", action="store_false", default=None,
        help="use the files as they were when the run was started",
    )  # fmt: skip
    files.add_argument(
        "--as-it-is", dest="reads_files", action="store_true", default=None,
        help="use the files as they are now; what is completed stays so",
    )  # fmt: skip
    parser.add_argument(
        "--detach",
        action="store_true",
        help="continue it in the background; print its id",
    )
    add_output_options(parser)


def execute_resume(options: Namespace, console: Console) -> int:
    from workbench.host.steps.run_start import interrupted_command_steps
    from workbench.pipelines.state import fold_run

    with open_journal(human_only="nothing was resumed", expires_due=True) as journal:
        run = find_run(journal, workspace_path(options.directory), options.run)
        session = journal.session(run.pipeline_id)
        workspace = session.workspace if session else workspace_path(options.directory)
        if not is_lease_live(journal.home, journal.lease(run.pipeline_id)):
            for step in interrupted_command_steps(fold_run(journal.events(run.pipeline_id))):
                console.note(
                    f"{step} was running when its driver ended; you are asked if its end is unknown."
                )
        start = journal.last_position()

        def ask(driver: "DriverIdentity | None") -> "AskedRun":
            return _ask_to_resume(journal, run, options, driver, start)

        return drive_or_follow_run(journal, workspace, options, console, ask)


def _ask_to_resume(
    journal: Journal, run: PipelineState, options: Namespace, driver: "DriverIdentity | None", start: int
) -> "AskedRun":
    """Ask for a run to continue; one that completed since `start` needs no request and is followed."""
    from workbench.host.steps.run_requests import AskedRun, RunRefused, resume_run

    try:
        return resume_run(
            journal, run.pipeline_id, user_actor(), options.from_step,
            reads_files=options.reads_files, driver=driver,
        )  # fmt: skip
    except RunRefused:
        now, lease = journal.pipeline_state(run.pipeline_id), journal.lease(run.pipeline_id)
        if now is None or lease is None or now.status != "completed" or run.status == "completed":
            raise
        return AskedRun(run_id=run.pipeline_id, position=start, driver_pid=lease.pid)


STATUS_EXAMPLE = "workbench pipeline status nightly#41 --json"


def configure_status(parser: ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument("--all", action="store_true", help="list every item of a matrix that has started")
    add_json_option(parser, "print an object")


def execute_status(options: Namespace, console: Console) -> int:
    with open_journal(expires_due=True) as journal:
        run = find_run(journal, workspace_path(options.directory), options.run)
        run = listed_run(journal.pipeline_state(run.pipeline_id) or run, partial(is_driver_gone, journal))
        waiting = pending_action_ids(journal, run.pipeline_id)
        place = wait_of_run(journal.home, run.pipeline_id)
        if options.json:
            console.json(run_report_json(journal, run, waiting) | {"place": place_json(place)})
            return EXIT_OK
        console.say(run_line(run, console.signs, journal.now()))
        if place is not None:
            console.say(f"  {place.text}; {place_limit_words(place)}")
        console.say_lines(_status_lines(journal, run.pipeline_id, console, lists_items=options.all))
        console.say_lines(outcome_lines(journal, run.pipeline_id))
        session = journal.session(run.pipeline_id)
        if run.status == LOST and session is not None:
            console.say(f"  {lost_sentence(session)}")
            if running := running_commands_line(journal, run.pipeline_id):
                console.say(f"  {running}")
        for action in waiting:
            console.say(f"  waits: workbench approvals show {action}")
    return EXIT_OK


def _status_lines(journal: Journal, run_id: str, console: Console, *, lists_items: bool) -> "Iterator[str]":
    """Yield the steps of a run; the items of a matrix are folded unless each is to be listed."""
    refused, steps = refused_by_step(journal, run_id), journal.own_step_states(run_id)
    if steps:
        states: list[StepStatus] = [step_status_name(step.state, is_warned=step.is_warned) for step in steps]
        yield f"  {step_counts_text(states)}"
    if lists_items:
        every = journal.step_states(run_id)
        yield from (step_line(step, console.signs, refused[step.step_id]) for step in every)
        return
    summaries = matrix_summaries(journal, run_id, steps)
    for step in steps:
        yield step_line(step, console.signs, refused[step.step_id])
        if step.step_id in summaries:
            yield from matrix_lines(summaries[step.step_id], console.signs, refused)


CANCEL_EXAMPLE = 'workbench pipeline cancel nightly#41 --reason "wrong branch"'
CANCEL_WAIT_SECONDS = 30.0
"""Seconds that the command waits for the run to end."""


def configure_cancel(parser: ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the record")
    add_json_option(parser, "print an object")


def execute_cancel(options: Namespace, console: Console) -> int:
    from workbench.host.host_start import ensure_host
    from workbench.host.steps.run_requests import cancel_run

    with open_journal(human_only="nothing was cancelled") as journal:
        run = find_run(journal, workspace_path(options.directory), options.run)
        cancel_run(journal, run.pipeline_id, user_actor(), options.reason)
        session = journal.session(run.pipeline_id)
        if session is not None and not is_lease_live(journal.home, journal.lease(run.pipeline_id)):
            ensure_host(journal.home, journal, session.workspace)
        until, row = journal.clock.monotonic() + CANCEL_WAIT_SECONDS, run
        while row.status not in ("cancelled", "failed", "completed") and journal.clock.monotonic() < until:
            journal.wait(journal.last_position(), 0.5)
            row = journal.pipeline_state(run.pipeline_id) or row
    outcome = "cancelled" if row.status == "cancelled" else f"{row.status}; it was asked to end"
    return console.result(run_json(row), [f"{run_title(row)}: {outcome}"], is_json=options.json)
