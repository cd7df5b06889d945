"""`workbench trust`: let what governs a workspace act, let agents read there, or take both back.

Owns the words around that decision. What is trusted is the workspace with its governing files as they are
now; a file that changes makes the question anew.
"""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse
from workbench.cli.place import opened, person, workspace_of
from workbench.cli.render.facts import Facts, moment
from workbench.domain.rows import Trust
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.trust_summary import TrustSummary
from workbench.host.trusting import described, grant, revoke, state
from workbench.journal.journal import Journal
from workbench.policy.trust import TrustRefused, governing_files

EXAMPLE = """workbench trust
workbench trust ~/src/shop --read
workbench trust --show --json"""


def configure(parser: ArgumentParser) -> None:
    """Add the folder and what to do with it."""
    parser.add_argument("workspace", nargs="?", metavar="DIR", help="the workspace; else this folder")
    parser.add_argument("--read", action="store_true", help="agents may read files here without asking")
    parser.add_argument("--show", action="store_true", help="only say how things are")
    parser.add_argument("--revoke", action="store_true", help="take the trust back")
    parser.add_argument("--json", action="store_true", help="with --show: print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Trust, show or revoke."""
    _refuse_contradictions(options)
    workspace = workspace_of(options.workspace or options.directory)
    with opened() as (home, journal):
        if options.show:
            _show(journal, workspace, console, as_json=options.json)
            return DONE
        refuse_inside_agents(journal, home, "change the trust in a workspace")
        console.say(
            _revoked(journal, workspace) if options.revoke else _trusted(journal, workspace, options.read)
        )
    return DONE


def _refuse_contradictions(options: Namespace) -> None:
    if options.workspace and options.directory:
        raise Misuse("nothing was trusted", "DIR and -C both name a folder", "name it once")
    if options.revoke and (options.read or options.show):
        raise Misuse("nothing was trusted", "--revoke goes with neither --read nor --show", "use one of them")
    if options.json and not options.show:
        raise Misuse("nothing was trusted", "--json goes with --show", "add --show")


def _trusted(journal: Journal, workspace: str, read: bool) -> str:
    grant(journal, workspace, read, person())
    files = _files(governing_files(workspace))
    reads = "Agents read here without asking." if read else "Agents ask before they read."
    return f"Trusted: {workspace}\n{files}\n{reads}"


def _revoked(journal: Journal, workspace: str) -> str:
    if not revoke(journal, workspace, person()):
        return f"Nothing to take back: {workspace} is not trusted."
    return f"Not trusted any more: {workspace}. What governs it only narrows from now on."


def _show(journal: Journal, workspace: str, console: Console, *, as_json: bool) -> None:
    row, holds = journal.trust(workspace), state(journal, workspace)
    try:
        content = described(journal, workspace)
        files, summary, problem = content.files, content.summary, ""
    except TrustRefused as error:
        files, summary, problem = (), TrustSummary(), str(error)
    facts = trust_facts(workspace, row, holds.is_trusted, files)
    facts |= {**summary.facts(), "grants_closed": holds.ended, "problem": problem}
    if as_json:
        console.json(facts)
        return
    console.say(_state(facts))
    if problem:
        console.say(f"It cannot be trusted as it is: {problem}.")
        return
    console.say(_files(files))
    for sentence in summary.sentences():
        console.say(sentence)


def trust_facts(workspace: str, row: Trust | None, is_current: bool, files: tuple[str, ...]) -> Facts:
    """Return the trust in a workspace as JSON."""
    return {
        "workspace": workspace,
        "trusted": is_current,
        "read_grant": bool(row and row.read_grant and is_current),
        "decided_at": moment(row.decided_at) if row else None,
        "by": row.decided_by if row else None,
        "revoked_at": moment(row.revoked_at) if row else None,
        "content_hash": row.content_hash if row else None,
        "governing_files": list(files),
    }


def _state(facts: Facts) -> str:
    workspace = facts["workspace"]
    if facts["trusted"]:
        reads = "read without asking" if facts["read_grant"] else "ask before they read"
        return f"Trusted: {workspace}, by {facts['by']}. Agents {reads}."
    if facts["decided_at"] and not facts["revoked_at"]:
        closed = facts["grants_closed"]
        why = f" Grants do not count: {closed}." if closed else ""
        return f"Not trusted: {workspace}. Its governing files changed since it was trusted.{why}"
    return f"Not trusted: {workspace}. What governs it only narrows."


def _files(files: tuple[str, ...]) -> str:
    return "Governing files: " + (", ".join(files) if files else "none")
