"""`workbench trust`: show what controls a workspace, trust it or revoke that."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from workbench.cli.arguments import add_yes_option
from workbench.cli.console import Console
from workbench.cli.context import user_actor
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.output_format import prefers_json
from workbench.cli.row_json import JsonFields, iso_time
from workbench.domain.rows import Trust
from workbench.effects.files import workspace_path
from workbench.host import workspace_trust
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.trust_facts import WHOLE, TrustSummary
from workbench.journal.journal import Journal
from workbench.policy.trust import TrustRefused, worktree_sentence
from workbench.text.human import counted
from workbench.text.safe import one_line

_MOST_LISTED_FILES = 20
"""Most governing files that are listed by name; a longer list names their folders."""
_MOST_PATH_CELLS = 200
_NOTHING_TRUSTED = "nothing was trusted"
_SANDBOX_SENTENCE = "Commands run inside the sandbox without asking."


TRUST_EXAMPLE = """workbench trust
workbench trust ~/src/shop --read --yes
workbench trust --show --json"""


def configure_trust(parser: ArgumentParser) -> None:
    parser.add_argument("workspace", nargs="?", metavar="DIR", help="the workspace; else this folder")
    parser.add_argument("--read", action="store_true", help="agents may read files here without asking")
    parser.add_argument(
        "--sandbox", action="store_true", help="commands run inside the sandbox without asking"
    )
    parser.add_argument("--show", action="store_true", help="only print the state")
    parser.add_argument("--revoke", action="store_true", help="revoke the trust")
    add_yes_option(parser)
    parser.add_argument("--json", action="store_true", help="with --show: print a JSON object")


def execute_trust(options: Namespace, console: Console) -> int:
    _require_consistent_options(options)
    workspace = workspace_path(options.workspace or options.directory)
    with open_journal() as journal:
        if options.show:
            _print_trust(journal, workspace, console, as_json=options.json or prefers_json(options))
            return EXIT_OK
        refuse_inside_agents(journal, journal.home, "change the trust in a workspace")
        if not options.revoke:
            return _grant_trust(journal, workspace, console, options)
        console.say(_revoke_trust(journal, workspace))
    return EXIT_OK


def _require_consistent_options(options: Namespace) -> None:
    if options.workspace and options.directory:
        raise UsageError(_NOTHING_TRUSTED, "DIR and -C both name a folder", "name it once")
    if options.revoke and (options.read or options.sandbox or options.show):
        why = "--revoke goes with none of --read, --sandbox and --show"
        raise UsageError(_NOTHING_TRUSTED, why, "use one of them")
    if options.json and not options.show:
        raise UsageError(_NOTHING_TRUSTED, "--json goes with --show", "add --show")


def _grant_trust(journal: Journal, workspace: str, console: Console, options: Namespace) -> int:
    if not options.yes and not console.can_ask:
        remedy = "workbench trust --show shows what would be trusted, --yes trusts it"
        raise UsageError(_NOTHING_TRUSTED, "there is no terminal to ask at", remedy)
    content = workspace_trust.read_governing_content(journal, workspace)
    console.say(f"Trust covers {one_line(workspace, _MOST_PATH_CELLS)} with its files as they are now.")
    console.say_lines(_content_lines(content))
    if options.read:
        console.say("Agents would read files here without asking.")
    if options.sandbox:
        console.say("Commands would run here inside the sandbox without asking, unless one is denied.")
    if not options.yes and not _is_answered_yes(console, "Trust it?"):
        console.say("Nothing was trusted.")
        return EXIT_FAILED
    try:
        workspace_trust.grant_shown_trust(
            journal, content, options.read, user_actor(), sandbox=options.sandbox
        )
    except TrustRefused as error:
        raise Refusal(_NOTHING_TRUSTED, str(error), "look at them again") from None
    reads = "Agents read here without asking." if options.read else "Agents ask before they read."
    boxed = f" {_SANDBOX_SENTENCE}" if options.sandbox else ""
    console.say(f"Trusted: {one_line(workspace, _MOST_PATH_CELLS)}\n{reads}{boxed}")
    return EXIT_OK


def _is_answered_yes(console: Console, question: str) -> bool:
    console.write(f"{question} [y/N] ")
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _content_lines(content: workspace_trust.GoverningContent) -> Iterator[str]:
    if content.worktree_of:
        yield worktree_sentence(content.worktree_of)
    yield _governing_files_line(content.files)
    yield from content.summary.sentences(WHOLE)


def _revoke_trust(journal: Journal, workspace: str) -> str:
    if not workspace_trust.revoke_trust(journal, workspace, user_actor()):
        return f"Nothing to take back: {workspace} is not trusted."
    return f"{workspace} is no longer trusted: its settings can only restrict agents."


def _print_trust(journal: Journal, workspace: str, console: Console, *, as_json: bool) -> None:
    row, holds = journal.trust(workspace), workspace_trust.trust_state(journal, workspace)
    content, problem = None, ""
    try:
        content = workspace_trust.read_governing_content(journal, workspace)
    except TrustRefused as error:
        problem = str(error)
    facts = trust_json(workspace, row, holds.is_trusted, content.files if content else ())
    summary = content.summary if content else TrustSummary()
    facts |= {**summary.facts(), "grants_closed": holds.ended, "problem": problem}
    if as_json:
        console.json(facts)
        return
    console.say(_trust_line(facts))
    if content is None:
        console.say(f"It cannot be trusted as it is: {problem}.")
    else:
        console.say_lines(_content_lines(content))


def trust_json(workspace: str, row: Trust | None, is_current: bool, files: tuple[str, ...]) -> JsonFields:
    return {
        "workspace": workspace,
        "trusted": is_current,
        "read_grant": bool(row and row.read_grant and is_current),
        "sandbox_grant": bool(row and row.sandbox_grant and is_current),
        "decided_at": iso_time(row.decided_at) if row else None,
        "by": row.decided_by if row else None,
        "revoked_at": iso_time(row.revoked_at) if row else None,
        "content_hash": row.content_hash if row else None,
        "governing_files": list(files),
    }


def _trust_line(facts: JsonFields) -> str:
    workspace = one_line(str(facts["workspace"]), _MOST_PATH_CELLS)
    if facts["trusted"]:
        reads = "read without asking" if facts["read_grant"] else "ask before they read"
        boxed = f" {_SANDBOX_SENTENCE}" if facts["sandbox_grant"] else ""
        return f"Trusted: {workspace}, by {facts['by']}. Agents {reads}.{boxed}"
    if facts["decided_at"] and not facts["revoked_at"]:
        closed = facts["grants_closed"]
        why = f" Grants do not count: {closed}." if closed else ""
        return f"Not trusted: {workspace}. The files that control agents changed since it was trusted.{why}"
    return f"{workspace} is not trusted: its settings can only restrict agents."


def _governing_files_line(files: tuple[str, ...]) -> str:
    if len(files) <= _MOST_LISTED_FILES:
        names = ", ".join(one_line(name, _MOST_PATH_CELLS) for name in files)
        return f"Files that control agents: {names or 'none'}"
    folders: dict[str, int] = {}
    for file in files:
        folder = file.rpartition("/")[0]
        folders[f"{folder}/" if folder else file] = folders.get(f"{folder}/", 0) + 1
    width = max(map(len, folders))
    rows = [
        f"  {one_line(name, 200):<{width}}  {counted(count, 'file') if name.endswith('/') else ''}".rstrip()
        for name, count in sorted(folders.items())
    ]
    return "\n".join([f"{len(files)} files control agents (all: workbench trust --show --json):", *rows])
