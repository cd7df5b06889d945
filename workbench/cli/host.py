"""`workbench host status, stop, restart, serve`: the host process of a workspace."""

from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_OK, Refusal
from workbench.cli.hold import hold_json, hold_line
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, iso_time
from workbench.cli.rows import clock_time
from workbench.domain.rows import Host
from workbench.effects.file_locks import lock_holder
from workbench.effects.files import workspace_path
from workbench.host.host_locks import host_lock_path, refuse_inside_agents, workspace_hash
from workbench.host.host_start import ensure_host, start_failure_reason
from workbench.host.host_status import (
    HostStatus,
    host_status,
    inherited_variables,
    is_suspended,
    living_host_locks,
    suspended_host_sentence,
)
from workbench.host.host_stop import STOP_TIMEOUT_SECONDS, StopResult, stop_host, stop_lock_holder
from workbench.journal.errors import MigrationBlocked
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.place_queue import places_taken, waiting_runs
from workbench.text.human import SECOND_MICROS, counted, duration_text, size_text

STATUS_EXAMPLE = """workbench host status
workbench host status --all --json"""


def configure_status(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="the background processes of every workspace")
    add_json_option(parser, "print a JSON object; with --all an array")


def execute_status(options: Namespace, console: Console) -> int:
    workspace = None if options.all else workspace_path(options.directory)
    with open_home() as (home, journal):
        statuses = list(_host_statuses(home, journal, workspace))
        now = journal.now() if journal else 0
        steps = {status.workspace: _step_facts(home, status.workspace) for status in statuses}
        hold, held = (hold_json(journal), hold_line(journal)) if journal else (None, "")
    if journal is None:
        console.note("The journal is updated to this version when its background processes have ended.")
        console.note("workbench host stop --all ends them.")
    facts = [host_json(status, now) | {"steps": steps[status.workspace], "hold": hold} for status in statuses]
    lines = [*(_status_lines(statuses, now, steps) if statuses else ["No background process runs."])]
    lines += [held] if held else []
    return console.result(list(facts) if options.all else facts[0], lines, is_json=options.json)


def _host_statuses(home: Home, journal: Journal | None, workspace: str | None) -> Iterable[HostStatus]:
    lock = host_lock_path(home, workspace) if workspace is not None else None
    locks = living_host_locks(home, journal) if lock is None else {lock: workspace or ""}
    for path, where in locks.items():
        if journal is None or not where:
            yield _status_by_lock(where or path.stem, lock_holder(path))
        else:
            yield host_status(home, journal, where, inherited_variables(home, journal, where))


def _status_by_lock(workspace: str, pid: int | None) -> HostStatus:
    if pid is None:
        return HostStatus(workspace=workspace, state="absent")
    return HostStatus(workspace=workspace, state="stopped" if is_suspended(pid) else "running", pid=pid)


def host_json(status: HostStatus, now: int) -> JsonFields:
    """Return how a host stands as JSON."""
    host = status.host
    return {
        "workspace": status.workspace,
        "is_running": status.state == "running",
        "state": status.state,
        "id": host.id if host else None,
        "pid": status.pid,
        "started_at": iso_time(host.started_at) if host else None,
        "uptime_seconds": _uptime_seconds(host, now),
        "version": host.version if host else None,
        "schema": host.schema if host else None,
        "variables": list(host.variables) if host else [],
        "sessions": [session.id for session in status.sessions],
        "waiting": status.waiting,
        "log": str(status.log) if status.log else None,
        "log_bytes": status.log_bytes,
        "differences": list(status.differences),
    }


def _uptime_seconds(host: Host | None, now: int) -> int | None:
    return max(0, now - host.started_at) // SECOND_MICROS if host else None


def _step_facts(home: Home, workspace: str) -> dict[str, int]:
    """Return how many steps of pipelines work, and how many runs wait for a place."""
    here, everywhere = places_taken(home, workspace_hash(workspace)), places_taken(home)
    return {"workspace": here, "home": everywhere, "waiting_runs": len(waiting_runs(home))}


def _status_lines(
    statuses: Iterable[HostStatus], now: int, steps: Mapping[str, Mapping[str, int]]
) -> Iterable[str]:
    for status in statuses:
        yield _first_line(status)
        if any((at_work := steps[status.workspace]).values()):
            queue = (
                f", {counted(waiting, 'run')} waiting for a place"
                if (waiting := at_work["waiting_runs"])
                else ""
            )
            yield f"  steps      {at_work['workspace']} at work, {at_work['home']} in all workspaces{queue}"
        if status.host is not None:
            yield from _detail_lines(status, status.host, now)


def _first_line(status: HostStatus) -> str:
    match status.state:
        case "absent":
            return f"No background process runs for {status.workspace}."
        case "starting":
            return f"The background process of {status.workspace} is starting (pid {status.pid})."
        case "running":
            return f"The background process of {status.workspace} runs (pid {status.pid})."
        case "stopped":
            return f"{status.workspace}: {suspended_host_sentence(status.pid)}"


def _detail_lines(status: HostStatus, host: Host, now: int) -> Iterable[str]:
    started = f"{clock_time(host.started_at, now)} ({duration_text(_uptime_seconds(host, now) or 0)} ago)"
    yield f"  started    {started}, version {host.version}, schema {host.schema}"
    yield f"  variables  {', '.join(host.variables) or 'none of a provider'}"
    if status.log is not None:
        yield f"  log        {status.log} ({size_text(status.log_bytes)})"
    waits = f", {status.waiting} waiting for an answer" if status.waiting else ""
    count = len(status.sessions)
    yield f"  runs       {count} {'session' if count == 1 else 'sessions'}{waits}"
    for session in status.sessions:
        yield f"    {session.id[:8]}  {session.status}  {session.title}"
    for difference in status.differences:
        yield f"  differs    {difference}"
    if status.differences:
        yield "  workbench host restart starts one like this program."


STOP_EXAMPLE = """workbench host stop
workbench host stop --all --force"""


def configure_stop(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="the background processes of every workspace")
    parser.add_argument(
        "--force", action="store_true", help=f"kill one that has not ended after {STOP_TIMEOUT_SECONDS:.0f} s"
    )
    add_json_option(parser, "print a JSON array")


def execute_stop(options: Namespace, console: Console) -> int:
    """Stop the host; 1 when one still runs."""
    workspace = None if options.all else workspace_path(options.directory)
    with open_home() as (home, journal):
        refuse_inside_agents(journal, home, "stop the background process")
        locks = (
            [host_lock_path(home, workspace)]
            if workspace is not None
            else list(living_host_locks(home, journal))
        )
        results = [stop_lock_holder(lock, force=options.force) for lock in locks]
    ended_words = [result.words for result in results if result.is_gone]
    facts = [stopped_json(result) for result in results if result.pid is not None]
    console.result(facts, ended_words if results else ["No background process runs."], is_json=options.json)
    require_ended(home, results)
    return EXIT_OK


def stopped_json(result: StopResult) -> JsonFields:
    """Return what came of it as JSON."""
    return {"pid": result.pid, "is_gone": result.is_gone, "was_killed": result.was_killed}


def require_ended(home: Home, results: list[StopResult]) -> None:
    """Raise unless every host has ended."""
    running_pids = [str(result.pid) for result in results if not result.is_gone]
    if running_pids:
        why = f"pid {', '.join(running_pids)} still runs after {STOP_TIMEOUT_SECONDS:.0f} s"
        raise Refusal("the background process was not stopped", why, f"look into {home.logs}, or add --force")


RESTART_EXAMPLE = """workbench host restart
workbench host restart --force --json"""


def configure_restart(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--force", action="store_true", help=f"kill one that has not ended after {STOP_TIMEOUT_SECONDS:.0f} s"
    )
    add_json_option(parser)


def execute_restart(options: Namespace, console: Console) -> int:
    """Stop the host if there is one, and start another; 1 when none could be started."""
    workspace = workspace_path(options.directory)
    result = _stop_running_host(workspace, force=options.force)
    with open_journal() as journal:
        host = ensure_host(journal.home, journal, workspace)
        if host is None:
            remedy = f"look into {journal.home.logs}; workbench config validate"
            raise Refusal("no background process was started", start_failure_reason(journal.home), remedy)
    ended_text = f"The background process (pid {result.pid}) has ended. " if result.pid else ""
    started = f"A background process of {workspace} was started (pid {host.pid}, version {host.version})."
    facts = {"workspace": workspace, "ended": result.pid, "pid": host.pid, "version": host.version}
    return console.result(facts, [ended_text + started], is_json=options.json)


def _stop_running_host(workspace: str, *, force: bool) -> StopResult:
    with open_home() as (home, journal):
        refuse_inside_agents(journal, home, "restart the background process")
        result = stop_host(home, workspace, force=force)
        require_ended(home, [result])
    return result


SERVE_EXAMPLE = "workbench host serve ~/src/shop"


def configure_serve(parser: ArgumentParser) -> None:
    parser.add_argument("workspace", metavar="DIR", help="the workspace")
    parser.add_argument(
        "--id", metavar="ID", help="the id of this background process; a new one if not given"
    )


def execute_serve(options: Namespace, console: Console) -> int:
    del console
    from workbench.host.supervisor import serve_workspace  # the engine: no other command of hosts loads it

    return serve_workspace(Home.open(), workspace_path(options.workspace), options.id)


@contextmanager
def open_home() -> Generator[tuple[Home, Journal | None], None, None]:
    """Open the data folder; the journal is None where hosts of an older version keep it from its new form."""
    with ExitStack() as stack:
        try:
            journal = stack.enter_context(open_journal())
        except MigrationBlocked:
            yield Home.open(), None
            return
        yield journal.home, journal
