"""`workbench sessions fork`: a new session that begins where another one ended, conversation only.

Owns where a fork works and with which model: as its source did, unless options or the place say otherwise.
"""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.lookup import session_named
from workbench.cli.place import opened, person, workspace_of
from workbench.cli.sessions.naming import SESSION_HELP, named
from workbench.domain.rows import Session
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.forking import ForkPlan, fork, plan_of
from workbench.journal.journal import Journal

EXAMPLE = """workbench sessions fork 3f2a
workbench sessions fork 91bc --provider ollama --model qwen3-coder"""


def configure(parser: ArgumentParser) -> None:
    """Add the id and what the fork has of its own."""
    parser.add_argument("id", metavar="ID", help=SESSION_HELP)
    parser.add_argument("--title", metavar="TITLE", help="its title")
    parser.add_argument("--provider", metavar="NAME", help="its provider, when it is not the source's")
    parser.add_argument("--model", metavar="NAME", help="its model, when it is not the source's")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Fork it."""
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "fork a session")
        session = session_named(journal, options.id)
        plan = planned(journal, session, options)
        new = fork(journal, session, plan, person())
    if options.json:
        console.json({"id": new, "forked_from": session.id, "workspace": plan.workspace})
        return DONE
    console.say(f"Forked {named(session)}: {new}")
    console.say(f"  workbench run --session {new[:8]} -p TEXT goes on")
    return DONE


def planned(journal: Journal, session: Session, options: Namespace) -> ForkPlan:
    """Return what a fork is made of.

    Raises:
        Refusal: The source was imported and no model is known to go on with.
    """
    plan = _with_model(journal, session, plan_of(session), options)
    workspace = plan.workspace
    if options.directory is not None or not (workspace and Path(workspace).is_dir()):
        workspace = workspace_of(options.directory)
    return replace(plan, workspace=workspace, title=plan.title if options.title is None else options.title)


def _with_model(journal: Journal, session: Session, plan: ForkPlan, options: Namespace) -> ForkPlan:
    provider, model = options.provider, options.model
    if session.origin is not None and provider is None:
        like = _newest_chat(journal)
        if like is None:
            why = f"it comes from {session.origin}, and no session here says which model to go on with"
            raise Refusal("the session was not forked", why, "name one with --provider and --model")
        plan = replace(plan, provider=like.provider, model=like.model, configuration=like.configuration)
    return replace(plan, provider=provider or plan.provider, model=model or plan.model)


def _newest_chat(journal: Journal) -> Session | None:
    own = (one for one in journal.sessions(kinds=("chat",)) if one.origin is None)
    return next(own, None)
