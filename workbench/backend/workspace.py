"""One workspace on this machine: what the parts of the screen's backend have in common."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from workbench.domain.rows import WORKTREE_SETTING, Session
from workbench.domain.values import Actor, Json
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.backend import BackendError

if TYPE_CHECKING:
    from workbench.config.types import Config, LoadedConfig
    from workbench.host.model_selection import SelectedModel


def screen_actor() -> Actor:
    """Return the user of the screen as the author of an event."""
    return Actor(kind="user", pid=os.getpid(), via="screen")


class LocalWorkspace:
    """One workspace on this machine: what the backend and its parts have in common."""

    def __init__(self, home: Home, journal: Journal, workspace: str) -> None:
        self._home, self._journal, self._workspace = home, journal, workspace
        self._actor = screen_actor()

    def _loaded(self) -> "LoadedConfig":
        from workbench.host.workspace_config import load_workspace_config

        return load_workspace_config(self._journal, self._workspace)

    def _config(self) -> "Config":
        return self._loaded().config

    def _require_person(self, act: str) -> None:
        from workbench.host.host_locks import refuse_inside_agents

        refuse_inside_agents(self._journal, self._home, act)

    def _require_session(self, session_id: str, what: str = "Nothing was done") -> Session:
        session = self._journal.session(session_id)
        if session is None:
            raise BackendError(f"{what}: the session no longer exists.")
        return session

    def _selected_model(self) -> "SelectedModel":
        """Return the model that the settings name, else that of the newest session."""
        from workbench.host.model_selection import (
            ModelPreference,
            NoModelSelected,
            SelectedModel,
            is_provider_set_up,
            select_model,
        )
        from workbench.host.provider_keys import register_secrets
        from workbench.host.session_provider import usable_providers

        config = self._config()
        register_secrets(config)
        newest = self._newest_session()
        if newest is not None and not is_provider_set_up(config):
            settings = {k: v for k, v in newest.configuration.items() if k != WORKTREE_SETTING}
            return SelectedModel(provider=newest.provider, model=newest.model, configuration=settings)
        try:
            return select_model(config, ModelPreference())
        except NoModelSelected as error:
            # What the command line says of its options is no help on the screen.
            remedy = error.remedy if usable_providers(config) else "Add one: /provider, or 9."
            raise BackendError(f"{error.what} {error.why} {remedy}") from None

    def _newest_session(self) -> Session | None:
        newest = self._journal.sessions(workspace=self._workspace, kinds=("chat",), limit=1)
        return newest[0] if newest else None


class NextSession(Struct):
    """What the next session of this screen begins with."""

    choice: "SelectedModel | None" = None
    members: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Of its configuration."""
    is_worktree: bool = False
    """Whether it works in a git worktree of its own; it holds for one session."""
    active_tools: tuple[str, ...] = ()
    """Ids of the tools that it has; empty means all."""

    def change_members(self, changed: Mapping[str, Json]) -> None:
        """Change members of its configuration; None is as the settings say."""
        members = {**self.members, **changed}
        self.members = {name: value for name, value in members.items() if value is not None}
