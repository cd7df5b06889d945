"""`workbench incidents run, resume`: read what a linter found and let agents work it off."""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from workbench.cli.arguments import CommandParser, add_list_argument
from workbench.cli.config import require_valid_config
from workbench.cli.console import Console
from workbench.cli.context import short_id, user_actor
from workbench.cli.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_PARKED,
    EXIT_UNANSWERED,
    Refusal,
    UsageError,
)
from workbench.cli.headless_run import (
    STOP_SIGNALS,
    MessagePrinter,
    StopRequest,
    StreamPrinter,
    add_output_options,
    event_printer,
    signal_handlers,
)
from workbench.cli.incident_lists import find_list, read_list, result_json, result_lines, row_line
from workbench.cli.journal_access import open_journal
from workbench.cli.rows import waiting_lines
from workbench.cli.run import ask_trust, recording_provider_maker
from workbench.cli.run_printers import print_error
from workbench.cli.run_session import positive_number
from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.incidents import SEVERITIES, BatchSize, Incident, IncidentOptions, IncidentSeverity
from workbench.domain.values import JsonObject
from workbench.effects.files import workspace_path
from workbench.effects.process_table import become_subreaper
from workbench.host import driver_context, redaction
from workbench.host.driver_context import DriverContext, following_config_changes, open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.incident_check import run_checker
from workbench.host.incident_driver import MOST_DETAIL, IncidentDriverOptions, drive_incidents
from workbench.host.incident_requests import (
    continue_incidents,
    list_incidents,
    read_findings_file,
    request_incidents,
    title_by_request,
)
from workbench.host.incident_sessions import incident_model
from workbench.host.provider_keys import register_secrets
from workbench.host.session_provider import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.workspace_config import load_workspace_config
from workbench.incidents.request import IncidentFilter
from workbench.incidents.state import UNANSWERED
from workbench.journal.errors import SessionDriven
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock, is_lease_live
from workbench.journal.session_queries import pending_action_ids
from workbench.text.human import counted
from workbench.text.safe import one_line
from workbench.tools.registry import tool_registry
from workbench.views.incidents import IncidentList, IncidentRow, plan_incidents

if TYPE_CHECKING:
    from workbench.formats.findings.read import FindingsFile
    from workbench.incidents.request import IncidentPrompt

_NOTHING: Final = "no incident was worked on"
RUN_EXAMPLE = """workbench incidents run --checker 'ruff check --output-format json'
workbench incidents run report.sarif --severity error --path src --dry-run
workbench incidents run report.sarif --checker 'semgrep scan --sarif' --batch one --on-approval park
workbench incidents run kantra/output.yaml --root /opt/input/source --only 481034a8cb0f
workbench incidents run report.json --baseline last-week.json --json
workbench incidents run report.sarif --batch one --record batch.json"""
_EXIT_CODES: Final = """exit codes:
  0    all are fixed: the checker no longer finds them
  1    not all of them; the result says how each ended
  2    the command line is wrong
  3    parked: it waits for an answer (--on-approval park)
  4    a question expired, or was denied (--on-approval deny)
  130  stopped by ctrl+c, SIGTERM or SIGHUP"""


def configure_run(parser: CommandParser) -> None:
    parser.notes = _EXIT_CODES
    parser.add_argument(
        "file", metavar="FILE", nargs="?",
        help="SARIF, Konveyor, S2, or the JSON of ruff or pyright",
    )  # fmt: skip
    parser.add_argument(
        "--checker", default="", metavar="COMMAND",
        help="command that prints such a list\n"
        "It runs after every change to see what is fixed, and at the start where there is no FILE "
        "(default: incidents.checker of the settings).",
    )  # fmt: skip
    parser.add_argument(
        "--only", default="", metavar="IDS", help="\nonly these incidents, ids with commas between"
    )
    parser.add_argument(
        "--severity", default="", metavar="NAMES", help=f"only of these: {', '.join(SEVERITIES)}"
    )
    parser.add_argument(
        "--rule", action="append", default=[], metavar="NAME", help="only of this rule; * is any text"
    )
    parser.add_argument(
        "--path",
        action="append",
        default=[],
        metavar="PATH",
        help="only in this file or folder; * is any text",
    )
    parser.add_argument(
        "--batch", choices=("one", "file", "rule"), default="file", metavar="BY",
        help="who shares an agent: one, file or rule (default: file)\n"
        "one: an agent for each incident; file, rule: one for those of a file or of a rule",
    )  # fmt: skip
    parser.add_argument(
        "--max-turns", metavar="N", type=positive_number(int), default=3,
        help="\nprompts for one incident while the checker still finds it (default: 3)",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", metavar="S", type=positive_number(int), default=600,
        help="seconds of work on one prompt (default: 600)\nWaiting for an answer does not count.",
    )  # fmt: skip
    parser.add_argument("--provider", default="", metavar="NAME", help="a provider of config.json")
    parser.add_argument(
        "--model", default="", metavar="NAME", help="a model of the provider, or PROVIDER/MODEL"
    )
    parser.add_argument(
        "--recording", default="", metavar="FILE", help="\nplay a recording instead of asking a model"
    )
    parser.add_argument("--record", metavar="FILE", help="\nwrite what the models say as a recording")
    parser.add_argument("--root", default="", metavar="DIR", help="\nwhat the paths in FILE start with")
    parser.add_argument("--baseline", metavar="FILE", help="leave out what this file has")
    parser.add_argument("--dry-run", action="store_true", help="print the prompts; ask nothing")
    add_output_options(parser)


def execute_run(options: Namespace, console: Console) -> int:
    """Make a list, let agents work it off, and return the exit code."""
    is_wanted = _filter(options)
    if options.record and options.recording:
        why = "a recording is played from its file and asks nobody"
        raise UsageError(_NOTHING, why, "leave --record or --recording out")
    workspace = workspace_path(options.directory)
    with open_journal(human_only=_NOTHING, expires_due=True) as journal:
        context = _open_context(journal, workspace, options, console)
        options.checker = options.checker or _settings_checker(context, options, console)
        with closing(context.root), DriverLock(journal, driver_identity(journal, workspace, "run")) as lock:
            work_options = _incident_options(options)
            # Refused before anything is read, if there is none.
            if not options.dry_run and (
                note := incident_model(context, work_options, checks_model=True).note
            ):
                console.note(note)
            findings = _findings(context, options, console)
            console.status(f"listing {counted(len(findings.incidents), 'incident')}")
            list_id = list_incidents(
                journal, workspace, findings, source=_source(options), checker=options.checker,
                baseline=_baseline(context, options), actor=user_actor(), driver=lock.driver,
            )  # fmt: skip
            incident_list = read_list(journal, list_id)
            rows = [row for row in incident_list.rows if is_wanted(row.incident)]
            console.clear_status()
            _say_what_was_found(console, incident_list, findings, len(rows))
            plan = plan_incidents(rows, work_options, options.checker)
            if options.dry_run:
                return _print_plan(console, incident_list, plan.ids, plan.left_out, workspace, options)
            requested_ids = [row.incident.id for row in rows if not row.is_dismissed]
            if not requested_ids:
                return _nothing_to_do(journal, console, list_id, options)
            request_incidents(journal, list_id, requested_ids, work_options, user_actor())
            title_by_request(journal, list_id, user_actor())
            return _drive(journal, context, lock.driver, list_id, options, console)


def _settings_checker(context: DriverContext, options: Namespace, console: Console) -> str:
    """Return the checker of the settings, and say where it stands; a workspace's counts only when trusted."""
    loaded = context.read_settings().loaded
    command = loaded.config.incidents.checker or ""
    if command:
        where = loaded.origins["incidents.checker"].where()
        console.note(f"Checker of {where}: {one_line(command, 200)}")
    elif not options.file:
        why, remedy = "neither a file nor a checker is named", "give FILE, or --checker COMMAND"
        raise UsageError(_NOTHING, why, remedy)
    return command


def _filter(options: Namespace) -> Callable[[Incident], bool]:
    severities = frozenset(_words(options.severity))
    unknown = severities - set(SEVERITIES)
    if unknown:
        why = f"there is no severity {one_line(min(unknown), 40)}"
        raise UsageError(_NOTHING, why, f"name one of {', '.join(SEVERITIES)}")
    return IncidentFilter(
        only=frozenset(_words(options.only)), rules=tuple(options.rule), paths=tuple(options.path),
        severities=cast("frozenset[IncidentSeverity]", severities),
    ).takes()  # fmt: skip


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _incident_options(options: Namespace) -> IncidentOptions:
    recording = str(Path(options.recording).expanduser().resolve()) if options.recording else ""
    for name, value, most in (("max-turns", options.max_turns, 20), ("timeout", options.timeout, 86_400)):
        if value > most:
            raise UsageError(_NOTHING, f"--{name} is at most {most:,}", "give a smaller number")
    return IncidentOptions(
        batch=cast("BatchSize", options.batch), max_turns=options.max_turns, timeout_s=options.timeout,
        provider=options.provider, model=options.model,
        recording=recording,
    )  # fmt: skip


def _source(options: Namespace) -> str:
    return str(Path(options.file).expanduser().resolve()) if options.file else options.checker


def _open_context(journal: Journal, workspace: str, options: Namespace, console: Console) -> DriverContext:
    loaded = load_workspace_config(journal, workspace)
    require_valid_config(loaded, console)
    options.output_format = options.output_format or loaded.config.output_format
    register_secrets(loaded.config)
    driver_context.sync_config_rules(journal, loaded, tool_registry().descriptors(), workspace)
    ask_trust(journal, workspace, loaded.config, console)
    record = getattr(options, "record", None)
    provider = recording_provider_maker(record, _NOTHING, has_sessions=True) if record else provider_of
    return open_driver_context(
        journal.home, journal, workspace, provider=provider, pipelines=SessionPipelineStarter,
        can_ask=options.on_approval != "deny",
    )  # fmt: skip


def _findings(context: DriverContext, options: Namespace, console: Console) -> "FindingsFile":
    if options.file:
        return _read(context, options.file, options.root, console)
    become_subreaper()
    console.status(f"running {one_line(options.checker, 60)}")
    result = asyncio.run(run_checker(context, options.checker))
    console.clear_status()
    if result.findings is None:
        forms = "SARIF or JSON, as ruff check --output-format json or pyright --outputjson do"
        remedy = f"run it by hand; it has to print {forms}"
        raise Refusal("the checker gave no list", result.problem, remedy)
    return result.findings


def _read(context: DriverContext, file: str, root: str, console: Console) -> "FindingsFile":
    def progress(done: int, _: int) -> None:
        console.status(f"reading {one_line(file, 60)}: {done:,} findings")

    try:
        on_progress = progress if console.has_status else None
        return read_findings_file(file, context.workspace, told_root=root, on_progress=on_progress)
    finally:
        console.clear_status()


def _baseline(context: DriverContext, options: Namespace) -> "tuple[str, FindingsFile] | None":
    if options.baseline is None:
        return None
    return options.baseline, read_findings_file(options.baseline, context.workspace, told_root=options.root)


def _say_what_was_found(
    console: Console, incident_list: IncidentList, findings: "FindingsFile", requested: int
) -> None:
    listed = incident_list.listed
    count = len(incident_list.rows)
    console.note(
        f"{counted(count, 'incident')} from {listed.source if listed else ''}, {requested:,} asked for."
    )
    if findings.root:
        console.note(
            f"Their paths start with {findings.root}, which is this folder here; --root says otherwise."
        )
    if listed is not None and listed.known:
        console.note(f"{listed.known:,} were known before and are left out.")
    for problem in findings.problems[:5]:
        console.note(f"{problem[:1].upper()}{problem[1:]}.")


def _print_plan(
    console: Console, incident_list: IncidentList, ids: Sequence[str], left_out: Sequence[str],
    workspace: str, options: Namespace,
) -> int:  # fmt: skip
    from workbench.cli.incident_lists import row_json
    from workbench.incidents.request import incident_prompt

    wanted = frozenset(ids)
    rows = [row for row in incident_list.rows if row.incident.id in wanted]
    prompts = [incident_prompt(row.incident, workspace) for row in rows]
    if options.output_format in ("json", "stream-json", "s2"):
        console.json(
            [{**row_json(row), **_prompt_json(prompt)} for row, prompt in zip(rows, prompts, strict=True)]
        )
        return EXIT_OK
    for row, prompt in zip(rows, prompts, strict=True):
        console.say(row_line(row, console.signs))
        console.say("\n".join(f"    {line}" for line in prompt.prompt_text.splitlines()))
    for why in left_out:
        console.note(f"{why[:1].upper()}{why[1:]}.")
    console.note(f"{counted(len(rows), 'incident')} would be asked about. Nothing was asked.")
    return EXIT_OK


def _prompt_json(prompt: "IncidentPrompt") -> JsonObject:
    """Return what an agent would be asked; S2 IncidentPrompt, whose text is named `prompt` here."""
    files = list(prompt.context_files)
    return {"prompt": prompt.prompt_text, "context_files": files, "workspace_path": prompt.workspace_path}


def _nothing_to_do(journal: Journal, console: Console, list_id: str, options: Namespace) -> int:
    console.note("Nothing is asked for. workbench incidents show lists what was found.")
    if options.output_format == "json":
        console.json(result_json(journal, list_id))
    return EXIT_OK


RESUME_EXAMPLE = """workbench incidents resume
workbench incidents resume 3f2a9c1d --on-approval park"""


def configure_resume(parser: ArgumentParser) -> None:
    add_list_argument(parser)
    add_output_options(parser)


def execute_resume(options: Namespace, console: Console) -> int:
    """Continue the work on a list and return the exit code."""
    with open_journal(human_only="nothing was continued", expires_due=True) as journal:
        session = find_list(journal, workspace_path(options.directory), options.list, "nothing was continued")
        context = _open_context(journal, session.workspace, options, console)
        identity = driver_identity(journal, session.workspace, "run")
        with closing(context.root), DriverLock(journal, identity) as lock:
            continue_incidents(journal, session.id, user_actor(), lock.driver)
            return _drive(journal, context, lock.driver, session.id, options, console)


# --- driving ---------------------------------------------------------------------------------------------


class _Printer:
    """A line for each incident that ends and each question that waits; progress on the status line."""

    def __init__(self, journal: Journal, console: Console, list_id: str) -> None:
        self._journal, self._console = journal, console
        self._folded = read_list(journal, list_id, with_events=False)
        self._asked, self._ended = 0, 0

    def see(self, events: Iterable[Event]) -> None:
        for event in events:
            self._folded.apply(event)
            self._tell(event)

    def _tell(self, event: Event) -> None:
        body = event.body
        if isinstance(body, e.IncidentsRequested):
            self._asked += len(body.ids)
        elif isinstance(body, e.IncidentStarted):
            self._status(body.incident)
        elif isinstance(body, e.IncidentChecked):
            self._say_new(body)
        elif isinstance(body, e.IncidentEnded):
            self._ended += 1
            row = self._folded.row(body.incident)
            if row is not None:
                self._console.say(row_line(row, self._console.signs))
        elif isinstance(body, e.ActionOpened):
            action = self._journal.action(event.action_id or "")
            if action is not None and action.state == "pending":
                self._console.say(waiting_lines(action, self._console.signs, self._journal.now()))
        elif isinstance(body, e.ErrorRaised):
            print_error(self._console, body)

    def _say_new(self, body: e.IncidentChecked) -> None:
        """Name what the checker found after a change and not before."""
        for finding in body.new:
            place = one_line(f"{finding.path}:{finding.line} {finding.rule}", 200)
            self._console.say(f"  new  {place}  {one_line(finding.message, 120)}")
        if (more := body.new_count - len(body.new)) > 0:
            self._console.say(f"  new  and {more:,} more")

    def _status(self, key: str) -> None:
        row = self._folded.row(key)
        if row is not None and self._console.has_status:
            number = f"{min(self._ended + 1, self._asked):,} of {self._asked:,}"
            self._console.status(f"{number}  {row.place} {one_line(row.incident.rule, 40)}")


def _printer(
    journal: Journal, console: Console, list_id: str, output: str | None
) -> StreamPrinter | MessagePrinter | _Printer | None:
    if output == "json":
        return None
    return event_printer(output, journal, console) or _Printer(journal, console, list_id)


def _drive(
    journal: Journal, context: DriverContext, driver: DriverIdentity, list_id: str,
    options: Namespace, console: Console,
) -> int:  # fmt: skip
    become_subreaper()
    printer = _printer(journal, console, list_id, options.output_format)
    stop = StopRequest(journal)

    def see(events: Sequence[Event]) -> None:
        if printer is not None:
            printer.see(events)

    async def run() -> None:
        driver_options = IncidentDriverOptions(
            context=context, driver=driver, is_stopped=lambda: stop.is_wanted, on_events=see,
            parks=options.on_approval == "park",
        )  # fmt: skip
        with (
            signal_handlers(STOP_SIGNALS, stop.hear), following_config_changes(context),
            suppress(asyncio.CancelledError),
        ):  # fmt: skip
            await drive_incidents(driver_options, list_id)

    start = journal.last_position()
    with stop.hearing():
        try:
            asyncio.run(run())
        except SessionDriven as driven:
            console.note(f"Another process (pid {driven.pid}) works on it; what it does is printed here.")
            if getattr(options, "record", None):
                console.note("Nothing is recorded: only the process that asks the models can.")
            _follow(journal, list_id, see, start, stop, parks=options.on_approval == "park")
        finally:
            console.clear_status()
    if isinstance(printer, MessagePrinter):
        printer.end()
    return _print_end(journal, console, list_id, options, is_interrupted=stop.is_wanted)


def _follow(
    journal: Journal, list_id: str, see: Callable[[Sequence[Event]], None], cursor: int, stop: StopRequest, *,
    parks: bool,
) -> None:  # fmt: skip
    """Print what another driver does until it gives the list back, or a signal comes."""
    while not stop.is_wanted:
        is_driven = is_lease_live(journal.home, journal.lease(list_id))
        if events := journal.events(list_id, after=cursor):
            cursor = events[-1].position
            see(events)
        if not is_driven or (parks and _waits(journal, list_id)):
            return
        journal.wait(journal.last_position(), 0.5)


def _print_end(
    journal: Journal, console: Console, list_id: str, options: Namespace, *, is_interrupted: bool
) -> int:
    code = _exit_code(journal, list_id, is_interrupted=is_interrupted)
    if options.output_format == "json":
        console.json({**result_json(journal, list_id), "exit": code})
    elif options.output_format not in ("stream-json", "s2"):
        console.say_lines(result_lines(journal, list_id))
    name = short_id(journal, list_id)
    goes_on = f"workbench incidents resume {name} continues it."
    if code == EXIT_PARKED:
        console.note(f"Parked. It continues after the last answer, or with incidents resume {name}.")
    elif code == EXIT_INTERRUPTED:
        console.note(f"Interrupted. {goes_on}")
    elif journal.session(list_id) is not None and read_list(journal, list_id).has_open_request:
        console.note(f"Not all was worked on. {goes_on}")
    return code


def _exit_code(journal: Journal, list_id: str, *, is_interrupted: bool) -> int:
    if is_interrupted:
        return EXIT_INTERRUPTED
    session = journal.session(list_id)
    incident_list = read_list(journal, list_id)
    if session is not None and session.reason == "parked" and _waits(journal, list_id):
        return EXIT_PARKED
    requested = [row for row in incident_list.rows if row.is_requested or row.duration_ms or row.rounds]
    is_unanswered = any(_is_unanswered(journal, row) for row in requested)
    if is_unanswered or (session is not None and session.reason == "unattended"):
        return EXIT_UNANSWERED
    result = result_json(journal, list_id)
    counts = cast("dict[str, int]", result["counts"])
    return EXIT_OK if set(counts) <= {"fixed"} else EXIT_FAILED


def _is_unanswered(journal: Journal, row: IncidentRow) -> bool:
    """Return whether an incident ended as it did because nobody answered; words of others say nothing."""
    if row.reason in UNANSWERED.get(row.state, ()):
        return True
    if row.state not in ("changed", "unchanged", "failed") or not row.child_id:
        return False
    bodies = (event.body for event in journal.events(row.child_id))
    verdicts = (body.verdict for body in bodies if isinstance(body, e.CallProposed))
    return any(
        (verdict.outcome, verdict.step) == ("denied", "ask")
        and redaction.redact_line(verdict.reason, MOST_DETAIL) == row.reason
        for verdict in verdicts
    )


def _waits(journal: Journal, list_id: str) -> bool:
    children = journal.sessions(parent_id=list_id, kinds=("step",))
    return any(pending_action_ids(journal, key) for key in (list_id, *(child.id for child in children)))
