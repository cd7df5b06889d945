"""Make a fork of a session, on request of a command or of the screen."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.rows import WORKTREE_SETTING, Session
from workbench.domain.values import Actor, Refused, SandboxLevel
from workbench.effects.files import workspace_path
from workbench.host.fork import ForkPlan, default_fork_plan, fork_session, require_conversation
from workbench.host.workspace_config import load_workspace_config
from workbench.host.workspace_copy import RestoredWorkspace, WorkspaceCopyKind, restore_workspace
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.replay import ReplayReader
from workbench.views.supervised import agent_name

NOT_FORKED = "the session was not forked"


class ForkRefused(Refused):
    """A session cannot be forked as it was asked for."""


class ForkOptions(Struct, frozen=True, kw_only=True):
    """What a fork is to be."""

    position: int | None = None
    """The moment, as a position of the journal; None: the session's end."""
    folder: str = ""
    """A new folder for the files of that moment; empty leaves files alone."""
    kind: WorkspaceCopyKind = "copy"
    directory: str | None = None
    """Where it works instead of where its source did."""
    title: str | None = None
    provider: str | None = None
    model: str | None = None


class ForkResult(Struct, frozen=True, kw_only=True):
    """A fork that was made."""

    session_id: str
    workspace: str
    restored: RestoredWorkspace | None


def make_fork(journal: Journal, session: Session, options: ForkOptions, actor: Actor) -> ForkResult:
    until = None
    if options.position is not None:
        until = ReplayReader(journal, session.id).number_at(session.id, options.position)
    require_conversation(journal, session, until)
    plan = plan_fork(journal, session, options)
    restored = None
    if options.folder:
        if is_imported_session(journal, session.id):
            why = "it was imported, and no file of it is kept here"
            raise ForkRefused(NOT_FORKED, why, "fork it without a folder for files")
        position = journal.last_position() if options.position is None else options.position
        restored = restore_workspace(journal, session.workspace, position, options.folder, options.kind)
        plan = replace(plan, workspace=restored.workspace)
    new = fork_session(journal, session, plan, actor, until)
    return ForkResult(session_id=new, workspace=plan.workspace, restored=restored)


def plan_fork(journal: Journal, session: Session, options: ForkOptions) -> ForkPlan:
    """Return what a fork is made of."""
    plan = _with_model(journal, session, default_fork_plan(session, _set_level(journal, session)), options)
    workspace = plan.workspace
    if not options.folder and (options.directory is not None or not (workspace and Path(workspace).is_dir())):
        workspace = workspace_path(options.directory)
    if options.folder or workspace != session.workspace or is_imported_session(journal, session.id):
        configuration = {k: v for k, v in plan.configuration.items() if k != WORKTREE_SETTING}
        plan = replace(plan, configuration=configuration)
    return replace(plan, workspace=workspace, title=plan.title if options.title is None else options.title)


def _set_level(journal: Journal, session: Session) -> SandboxLevel:
    """Return the level that the settings give; it only matters where another one was chosen."""
    if session.sandbox_level is None:
        return "workspace"
    return load_workspace_config(journal, session.workspace).config.sandbox.level


def _with_model(journal: Journal, session: Session, plan: ForkPlan, options: ForkOptions) -> ForkPlan:
    if (session.origin is not None or session.is_supervised) and options.provider is None:
        newest = _newest_chat(journal)
        if newest is None:
            whose = session.origin or agent_name(session)
            why = f"it comes from {whose}, and no session here says which model to continue with"
            raise ForkRefused(NOT_FORKED, why, "name one with --provider and --model")
        plan = replace(plan, provider=newest.provider, model=newest.model, configuration=newest.configuration)
    return replace(plan, provider=options.provider or plan.provider, model=options.model or plan.model)


def _newest_chat(journal: Journal) -> Session | None:
    own = (session for session in journal.sessions(kinds=("chat",)) if session.origin is None)
    return next(own, None)
