"""`workbench sessions fork`: a new session that begins where another one ended, or stood at a moment.

Owns where a fork works and with which model: as its source did, unless options or the place say otherwise.
Files go into a new folder that is named, or nowhere.
"""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse, Refusal
from workbench.cli.lookup import session_named, short
from workbench.cli.place import opened, person, workspace_of
from workbench.cli.sessions.naming import SESSION_HELP, named
from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.forking import ForkPlan, fork, plan_of, require_said
from workbench.host.restoring import Kind, Restored, restore
from workbench.journal.importing import is_imported
from workbench.journal.journal import Journal
from workbench.journal.reel import ReelReader
from workbench.text.safe import one_line

EXAMPLE = """workbench sessions fork 3f2a
workbench sessions fork 3f2a --at 12:01:31 --copy ~/src/shop-again
workbench sessions fork 3f2a --at '#412' --worktree ~/src/shop-412
workbench sessions fork 91bc --provider ollama --model qwen3-coder"""

_NOTHING = "the session was not forked"
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a fork is to be."""

    position: int | None = None
    """The moment, as a position of the journal; None: the session's end."""
    folder: str = ""
    """A new folder for the files of that moment; empty leaves files alone."""
    kind: Kind = "copy"
    directory: str | None = None
    """Where it works instead of where its source did."""
    title: str | None = None
    provider: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked:
    """A fork that was made."""

    session_id: str
    workspace: str
    restored: Restored | None


def configure(parser: ArgumentParser) -> None:
    """Add the id and what the fork has of its own."""
    parser.add_argument("id", metavar="ID", help=SESSION_HELP)
    at = "the moment: 12:01:31, 35%% or #412, as in replay; the end if not given"
    parser.add_argument("--at", metavar="T", help=at)
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--copy", metavar="DIR", help="work in a new copy of the files as they were then")
    worktree = "the same in a git worktree of the commit that is checked out"
    files.add_argument("--worktree", metavar="DIR", help=worktree)
    parser.add_argument("--title", metavar="TITLE", help="its title")
    parser.add_argument("--provider", metavar="NAME", help="its provider, when it is not the source's")
    parser.add_argument("--model", metavar="NAME", help="its model, when it is not the source's")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Fork it."""
    folder = options.copy or options.worktree or ""
    if folder and options.directory is not None:
        raise Misuse(_NOTHING, "-C and a folder for the files name two places", "leave one of them out")
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "fork a session")
        session = session_named(journal, options.id)
        wish = Wish(
            position=_position(journal, session, options.at), folder=folder,
            kind="worktree" if options.worktree else "copy", directory=options.directory,
            title=options.title, provider=options.provider, model=options.model,
        )  # fmt: skip
        made = forked(journal, session, wish, person())
        source, key = named(journal, session), short(journal, made.session_id)
    if options.json:
        console.json({
            "id": made.session_id, "forked_from": session.id, "workspace": made.workspace,
            "restored": list(made.restored.files) if made.restored else [],
            "not_restored": list(made.restored.lost) if made.restored else [],
        })  # fmt: skip
        return DONE
    console.say(f"Forked {source}: {made.session_id}")
    for line in told(made.restored):
        console.say(f"  {line}")
    place = f" -C {made.workspace}" if made.restored else ""
    console.say(f"  workbench run{place} --session {key} -p TEXT goes on")
    return DONE


def told(restored: Restored | None) -> list[str]:
    """Return what is to be said of the files of a fork."""
    if restored is None:
        return []
    count = len(restored.files)
    what = "1 file" if count == 1 else f"{count} files"
    lines = [f"{restored.workspace}: {what} as then; what commands and you changed is as it is now"]
    if restored.lost:
        names = ", ".join(one_line(path, 60) for path in restored.lost[:_SHOWN])
        more = f" and {len(restored.lost) - _SHOWN} more" if len(restored.lost) > _SHOWN else ""
        lines.append(f"not restored, their bytes of then are not kept: {names}{more}")
    return lines


def forked(journal: Journal, session: Session, wish: Wish, actor: Actor) -> Forked:
    """Make a fork.

    Raises:
        SessionRefused: Nothing was made.
        Refusal: Likewise: no model is known, or there are no files to be had.
    """
    until = None
    if wish.position is not None:
        until = ReelReader(journal, session.id).number_at(session.id, wish.position)
    require_said(journal, session, until)
    plan = planned(journal, session, wish)
    restored = None
    if wish.folder:
        if is_imported(journal, session.id):
            why = "it was imported, and no file of it is kept here"
            raise Refusal(_NOTHING, why, "fork it without a folder for files")
        position = journal.last_position() if wish.position is None else wish.position
        restored = restore(journal, session.workspace, position, wish.folder, wish.kind)
        plan = replace(plan, workspace=restored.workspace)
    new = fork(journal, session, plan, actor, until)
    return Forked(session_id=new, workspace=plan.workspace, restored=restored)


def _position(journal: Journal, session: Session, given: str | None) -> int | None:
    if given is None:
        return None
    from workbench.views.marks import WANTED
    from workbench.views.player import moment
    from workbench.views.reel import Reel

    reel = Reel(columns=ReelReader(journal, session.id).columns(WANTED))
    index = moment(given, reel)
    if index is None:
        why = f"“{one_line(given, 40)}” is no moment of it"
        raise Misuse(_NOTHING, why, f"name one as 12:01:31, 35% or #1 to #{len(reel)}")
    return reel.position(index)


def planned(journal: Journal, session: Session, wish: Wish) -> ForkPlan:
    """Return what a fork is made of.

    Raises:
        Refusal: The source was imported and no model is known to go on with.
    """
    plan = _with_model(journal, session, plan_of(session), wish)
    workspace = plan.workspace
    if not wish.folder and (wish.directory is not None or not (workspace and Path(workspace).is_dir())):
        workspace = workspace_of(wish.directory)
    return replace(plan, workspace=workspace, title=plan.title if wish.title is None else wish.title)


def _with_model(journal: Journal, session: Session, plan: ForkPlan, wish: Wish) -> ForkPlan:
    if session.origin is not None and wish.provider is None:
        like = _newest_chat(journal)
        if like is None:
            why = f"it comes from {session.origin}, and no session here says which model to go on with"
            raise Refusal(_NOTHING, why, "name one with --provider and --model")
        plan = replace(plan, provider=like.provider, model=like.model, configuration=like.configuration)
    return replace(plan, provider=wish.provider or plan.provider, model=wish.model or plan.model)


def _newest_chat(journal: Journal) -> Session | None:
    own = (one for one in journal.sessions(kinds=("chat",)) if one.origin is None)
    return next(own, None)
