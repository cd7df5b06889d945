"""`workbench host status`: whether a host acts for this workspace, and which sessions it drives."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import Facts, moment
from workbench.cli.render.rows import clock_time
from workbench.domain.rows import Host, Session
from workbench.host.places import live_host
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.lease import is_live

EXAMPLE = "workbench host status --json"


def configure(parser: ArgumentParser) -> None:
    """Add how it prints."""
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Say what the host of the workspace is doing."""
    workspace = workspace_of(options.directory)
    with opened() as (home, journal):
        host = live_host(home, journal, workspace)
        driven = _driven(home, journal, workspace, host)
        if options.json:
            console.json(host_facts(workspace, host, driven))
            return DONE
        for line in _lines(workspace, host, driven, journal.now()):
            console.say(line)
    return DONE


def host_facts(workspace: str, host: Host | None, driven: list[Session]) -> Facts:
    """Return the host of a workspace as JSON."""
    return {
        "workspace": workspace,
        "is_running": host is not None,
        "id": host.id if host else None,
        "pid": host.pid if host else None,
        "started_at": moment(host.started_at) if host else None,
        "version": host.version if host else None,
        "schema": host.schema if host else None,
        "variables": list(host.variables) if host else [],
        "sessions": [session.id for session in driven],
    }


def _driven(home: Home, journal: Journal, workspace: str, host: Host | None) -> list[Session]:
    if host is None:
        return []
    leases = ((session, journal.lease(session.id)) for session in journal.sessions(workspace=workspace))
    return [
        session for session, lease in leases if lease and lease.host_id == host.id and is_live(home, lease)
    ]


def _lines(workspace: str, host: Host | None, driven: list[Session], now: int) -> list[str]:
    if host is None:
        return [f"No host runs for {workspace}."]
    started = f"started {clock_time(host.started_at, now)}, version {host.version}"
    sessions = [f"  {session.id[:8]}  {session.status}  {session.title}" for session in driven]
    return [f"The host of {workspace} runs (pid {host.pid}), {started}.", *sessions]
