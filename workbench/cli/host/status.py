"""`workbench host status`: whether a host acts for this workspace, how it stands, and what it drives."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.host.reaching import reached
from workbench.cli.host.remarks import variables_here
from workbench.cli.place import workspace_of
from workbench.cli.render.facts import Facts, moment
from workbench.cli.render.rows import clock_time
from workbench.domain.rows import Host
from workbench.effects.locks import holder
from workbench.host.places import host_lock
from workbench.host.standing import Standing, hosted, is_stopped, standing, suspended
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.human import duration, size

EXAMPLE = """workbench host status
workbench host status --all --json"""

_MICROS = 1_000_000


def configure(parser: ArgumentParser) -> None:
    """Add which and how it prints."""
    parser.add_argument("--all", action="store_true", help="the hosts of every workspace")
    parser.add_argument("--json", action="store_true", help="print a JSON object; with --all an array")


def execute(options: Namespace, console: Console) -> int:
    """Say what the host of the workspace, or what every host is doing."""
    workspace = None if options.all else workspace_of(options.directory)
    with reached() as (home, journal):
        found = list(_found(home, journal, workspace))
        now = journal.now() if journal else 0
    if journal is None:
        console.note("The journal waits for its hosts to end before it gets the form of this version.")
        console.note("workbench host stop --all ends them.")
    if options.json:
        facts = [standing_facts(one, now) for one in found]
        console.json(list(facts) if options.all else facts[0])
        return DONE
    for line in _lines(found, now) if found else ["No host runs."]:
        console.say(line)
    return DONE


def _found(home: Home, journal: Journal | None, workspace: str | None) -> Iterable[Standing]:
    lock = host_lock(home, workspace) if workspace is not None else None
    locks = hosted(home, journal) if lock is None else {lock: workspace or ""}
    for path, where in locks.items():
        if journal is None or not where:
            yield _by_lock(where or path.stem, holder(path))
        else:
            yield standing(home, journal, where, variables_here(home, journal, where))


def _by_lock(workspace: str, pid: int | None) -> Standing:
    """Return what the kernel alone says."""
    if pid is None:
        return Standing(workspace=workspace, state="absent")
    return Standing(workspace=workspace, state="stopped" if is_stopped(pid) else "running", pid=pid)


def standing_facts(found: Standing, now: int) -> Facts:
    """Return how a host stands as JSON."""
    host = found.host
    return {
        "workspace": found.workspace,
        "is_running": found.state == "running",
        "state": found.state,
        "id": host.id if host else None,
        "pid": found.pid,
        "started_at": moment(host.started_at) if host else None,
        "uptime_seconds": _uptime(host, now),
        "version": host.version if host else None,
        "schema": host.schema if host else None,
        "variables": list(host.variables) if host else [],
        "sessions": [session.id for session in found.sessions],
        "waiting": found.waiting,
        "log": str(found.log) if found.log else None,
        "log_bytes": found.log_bytes,
        "differences": list(found.differences),
    }


def _uptime(host: Host | None, now: int) -> int | None:
    return max(0, now - host.started_at) // _MICROS if host else None


def _lines(found: Iterable[Standing], now: int) -> Iterable[str]:
    for one in found:
        yield _first_line(one)
        if one.host is not None:
            yield from _details(one, one.host, now)


def _first_line(found: Standing) -> str:
    match found.state:
        case "absent":
            return f"No host runs for {found.workspace}."
        case "starting":
            return f"The host of {found.workspace} is starting (pid {found.pid})."
        case "running":
            return f"The host of {found.workspace} runs (pid {found.pid})."
        case "stopped":
            return f"{found.workspace}: {suspended(found.pid)}"


def _details(found: Standing, host: Host, now: int) -> Iterable[str]:
    started = f"{clock_time(host.started_at, now)} ({duration(_uptime(host, now) or 0)} ago)"
    yield f"  started    {started}, version {host.version}, schema {host.schema}"
    yield f"  variables  {', '.join(host.variables) or 'none of a provider'}"
    if found.log is not None:
        yield f"  log        {found.log} ({size(found.log_bytes)})"
    waits = f", {found.waiting} waiting for an answer" if found.waiting else ""
    yield f"  drives     {len(found.sessions)} {'session' if len(found.sessions) == 1 else 'sessions'}{waits}"
    for session in found.sessions:
        yield f"    {session.id[:8]}  {session.status}  {session.title}"
    for difference in found.differences:
        yield f"  differs    {difference}"
    if found.differences:
        yield "  workbench host restart starts one like this program."
