"""`workbench trust`: trust the files that govern a workspace, let agents read there, or revoke either."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.context import open_journal, user_actor, workspace_path
from workbench.cli.errors import EXIT_OK, UsageError
from workbench.cli.rows import JsonFields, iso_time
from workbench.domain.rows import Trust
from workbench.host import workspace_trust
from workbench.host.host_locks import refuse_inside_agents
from workbench.journal.journal import Journal
from workbench.policy.trust import TrustRefused, governing_files

EXAMPLE = """workbench trust
workbench trust ~/src/shop --read
workbench trust --show --json"""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("workspace", nargs="?", metavar="DIR", help="the workspace; else this folder")
    parser.add_argument("--read", action="store_true", help="agents may read files here without asking")
    parser.add_argument("--show", action="store_true", help="only print the state")
    parser.add_argument("--revoke", action="store_true", help="revoke the trust")
    parser.add_argument("--json", action="store_true", help="with --show: print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    _require_consistent_options(options)
    workspace = workspace_path(options.workspace or options.directory)
    with open_journal() as (home, journal):
        if options.show:
            _print_trust(journal, workspace, console, as_json=options.json)
            return EXIT_OK
        refuse_inside_agents(journal, home, "change the trust in a workspace")
        console.say(
            _revoke_trust(journal, workspace)
            if options.revoke
            else _grant_trust(journal, workspace, options.read)
        )
    return EXIT_OK


def _require_consistent_options(options: Namespace) -> None:
    if options.workspace and options.directory:
        raise UsageError("nothing was trusted", "DIR and -C both name a folder", "name it once")
    if options.revoke and (options.read or options.show):
        raise UsageError(
            "nothing was trusted", "--revoke goes with neither --read nor --show", "use one of them"
        )
    if options.json and not options.show:
        raise UsageError("nothing was trusted", "--json goes with --show", "add --show")


def _grant_trust(journal: Journal, workspace: str, read: bool) -> str:
    workspace_trust.grant_trust(journal, workspace, read, user_actor())
    files = _governing_files_line(governing_files(workspace))
    reads = "Agents read here without asking." if read else "Agents ask before they read."
    return f"Trusted: {workspace}\n{files}\n{reads}"


def _revoke_trust(journal: Journal, workspace: str) -> str:
    if not workspace_trust.revoke_trust(journal, workspace, user_actor()):
        return f"Nothing to take back: {workspace} is not trusted."
    return f"Not trusted any more: {workspace}. What governs it only narrows from now on."


def _print_trust(journal: Journal, workspace: str, console: Console, *, as_json: bool) -> None:
    row, holds = journal.trust(workspace), workspace_trust.trust_state(journal, workspace)
    try:
        content = workspace_trust.read_governing_content(journal, workspace)
        files, summary, problem = content.files, content.summary, ""
    except TrustRefused as error:
        files, summary, problem = (), workspace_trust.TrustSummary(), str(error)
    facts = trust_json(workspace, row, holds.is_trusted, files)
    facts |= {**summary.facts(), "grants_closed": holds.ended, "problem": problem}
    if as_json:
        console.json(facts)
        return
    console.say(_trust_line(facts))
    if problem:
        console.say(f"It cannot be trusted as it is: {problem}.")
        return
    console.say(_governing_files_line(files))
    for sentence in summary.sentences():
        console.say(sentence)


def trust_json(workspace: str, row: Trust | None, is_current: bool, files: tuple[str, ...]) -> JsonFields:
    return {
        "workspace": workspace,
        "trusted": is_current,
        "read_grant": bool(row and row.read_grant and is_current),
        "decided_at": iso_time(row.decided_at) if row else None,
        "by": row.decided_by if row else None,
        "revoked_at": iso_time(row.revoked_at) if row else None,
        "content_hash": row.content_hash if row else None,
        "governing_files": list(files),
    }


def _trust_line(facts: JsonFields) -> str:
    workspace = facts["workspace"]
    if facts["trusted"]:
        reads = "read without asking" if facts["read_grant"] else "ask before they read"
        return f"Trusted: {workspace}, by {facts['by']}. Agents {reads}."
    if facts["decided_at"] and not facts["revoked_at"]:
        closed = facts["grants_closed"]
        why = f" Grants do not count: {closed}." if closed else ""
        return f"Not trusted: {workspace}. Its governing files changed since it was trusted.{why}"
    return f"Not trusted: {workspace}. What governs it only narrows."


def _governing_files_line(files: tuple[str, ...]) -> str:
    return "Governing files: " + (", ".join(files) if files else "none")
