"""A session in which a model makes a shell command of words, for the command line and for the screen."""

import asyncio
import os
from contextlib import closing
from typing import TYPE_CHECKING

from workbench.ask.context import collect_context
from workbench.config.model_names import split_model_name
from workbench.domain.values import Refused
from workbench.host.call_context import folder_read_denials
from workbench.host.command_session import CommandPlan, CommandRefused, CommandSession
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.model_selection import ModelPreference, NoModelSelected, SelectedModel, select_model
from workbench.host.provider_keys import register_secrets
from workbench.host.session_provider import provider_of
from workbench.host.workspace_config import load_workspace_config
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock
from workbench.tools.registry import ToolRegistry
from workbench.views.tools import verdict_text

if TYPE_CHECKING:
    from workbench.config.sections import AskSettings
    from workbench.config.types import Config
    from workbench.domain.values import Actor
    from workbench.effects.files import Root
    from workbench.host.command_session import Suggestion
    from workbench.host.driver_context import SessionWriter
    from workbench.tools.base import PipelineStarter


def preferred_model(config: "Config") -> ModelPreference:
    """Return the model that `ask.model` names, if it names one."""
    provider, model = split_model_name(config, config.ask.model or "")
    return ModelPreference(provider=provider or None, model=model or None)


def open_command_session(
    journal: Journal, workspace: str, config: "Config", selected: SelectedModel, settings: "AskSettings",
    driver: DriverIdentity, actor: "Actor",
) -> "tuple[CommandSession, Root]":  # fmt: skip
    """Return a session that nothing was said in yet, and the root of its folder, to be closed."""
    register_secrets(config)
    context = open_driver_context(
        journal.home,
        journal,
        workspace,
        provider=provider_of,
        pipelines=_pipeline_starter,
        tools=ToolRegistry(()),
    )
    ask_context = collect_context(
        workspace, settings, data_folder=journal.home.path, environ=os.environ,
        is_denied=folder_read_denials(journal, workspace, context.recall_settings().loaded),
    )  # fmt: skip
    plan = CommandPlan(
        provider=selected.provider,
        model=selected.model,
        configuration=selected.configuration,
        context=ask_context,
    )
    return CommandSession(context, driver, plan, actor), context.root


def _pipeline_starter(writer: "SessionWriter") -> "PipelineStarter":
    """Return what would start pipelines; imported when it is wanted, as these sessions have no tools."""
    from workbench.host.steps.pipeline_tool import SessionPipelineStarter

    return SessionPipelineStarter(writer)


def suggest_command(journal: Journal, workspace: str, words: str, actor: "Actor") -> tuple[str, str]:
    """Make a command of words for a screen; return it with what to say, or raise CommandRefused."""
    config = load_workspace_config(journal, workspace).config
    with DriverLock(journal, driver_identity(journal, workspace, "run")) as lock:
        try:
            selected = select_model(config, preferred_model(config))
        except NoModelSelected as error:
            raise Refused("nothing was run", error.why, error.remedy) from None
        session, root = open_command_session(
            journal, workspace, config, selected, config.ask, lock.driver, actor
        )
        with closing(root):
            try:
                suggestion = asyncio.run(session.suggest(words))
                is_usable = not suggestion.is_denied and not suggestion.answer.is_hidden
                session.end("accepted" if is_usable else "quit")
            finally:
                session.end("quit")
                warning = session.write_log()
    if not is_usable:
        raise CommandRefused(why_refused(suggestion, "It is not put in the field"), "Say it in other words.")
    return suggestion.answer.command, " ".join(
        filter(None, (suggestion.answer.explanation, verdict_text(suggestion.verdict), warning))
    )


def why_refused(suggestion: "Suggestion", what: str) -> str:
    """Return why a command is not handed on; `what` says that it is not."""
    if suggestion.answer.is_hidden:
        return f"{what}: the command holds characters that cannot be seen."
    return f"{what}. {verdict_text(suggestion.verdict)}"
