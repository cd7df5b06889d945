"""Models for the screen's backend, loaded on first use: listed, and chosen for a session."""

from collections.abc import Sequence
from typing import get_args

from workbench.backend.workspace import LocalWorkspace, NextSession
from workbench.config.types import Config
from workbench.domain.rows import Session
from workbench.domain.values import SandboxLevel
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.safe import one_line
from workbench.tui.backend import BackendError, ModelBackend

_MOST_MODELS_SHOWN = 200
"""Models that are offered."""


class LocalModels(LocalWorkspace, ModelBackend):
    """One workspace's sessions; each function imports what it needs when it is called."""

    def __init__(self, home: Home, journal: Journal, workspace: str, next_session: NextSession) -> None:
        super().__init__(home, journal, workspace)
        self._next_session = next_session

    def available_models(self, session_id: str) -> tuple[Sequence[tuple[str, str]], str]:
        from workbench.host.model_selection import available_models
        from workbench.host.session_provider import plays_recording

        config, session = self._config(), self._journal.session(session_id) if session_id else None
        if session is not None and plays_recording(session.provider, config):
            return (), "This session plays a recording: it asks no model. ctrl+n starts another."
        available = available_models(config, session)
        is_several = len({model.provider for model in available.models}) > 1
        current = (session.provider, session.model) if session is not None else None
        rows = [
            (
                one_line(f"{model.provider}/{model.model}" if is_several else model.model, 200),
                "asked now"
                if (model.provider, model.model) == current
                else ""
                if is_several
                else model.provider,
            )
            for model in available.models[:_MOST_MODELS_SHOWN]
        ]
        silent_providers = " ".join(f"{name}: {why}" for name, why in available.silent.items())
        return (
            rows,
            silent_providers
            if available.models or silent_providers
            else "No provider that can be asked is set up.",
        )

    def set_model(self, session_id: str, text: str) -> str:
        from workbench.host import model_selection

        config, session = self._config(), self._session(session_id)
        if session is not None:
            return model_selection.change_model(self._journal, config, session, text, self._actor)
        model = model_selection.model_named(config, None, text)
        self._next_session.choice = model_selection.selected_model_of(model)
        return model_selection.model_change_sentence(model, "The next session asks")

    def set_mode(self, session_id: str, mode: str) -> str:
        from workbench.host import session_requests

        session = self._session(session_id)
        if session is not None:
            return session_requests.set_approval_mode(self._journal, session, mode, self._actor)
        name = session_requests.approval_mode_named(mode)
        self._next_session.change_members(session_requests.approval_mode_setting(name))
        return f"The next session: {session_requests.APPROVAL_MODES[name]}."

    def set_sandbox(self, session_id: str, word: str) -> str:
        from workbench.host import session_requests

        self._require_person("choose the sandbox of a session")
        session = self._session(session_id)
        if session is not None:
            said = session_requests.set_sandbox(self._journal, session, word, self._actor)
            level = self._require_session(session_id).sandbox_level
            return f"{said} {self._sandbox_doubt(word, level)}".rstrip()
        setting = session_requests.sandbox_setting(word)
        self._next_session.change_members(setting)
        said = f"The next session: {session_requests.SANDBOX_WORDS[word.strip().casefold()][1]}."
        chosen = self._next_session.members.get("sandbox")
        level = next((level for level in get_args(SandboxLevel) if level == chosen), None)
        return f"{said} {self._sandbox_doubt(word, level)}".rstrip()

    def _sandbox_doubt(self, word: str, level: SandboxLevel | None) -> str:
        from workbench.host.session_sandbox import prove_sandbox_once, sandbox_doubt

        settings = self._config().sandbox
        return sandbox_doubt(word, level or settings.level, prove_sandbox_once(settings.backend))

    def choose_worktree(self, *, is_chosen: bool) -> str:
        self._next_session.is_worktree = False
        if not is_chosen:
            return ""
        from workbench.host.session_worktree import require_worktree, worktrees_folder

        folder = worktrees_folder(require_worktree(self._workspace))
        self._next_session.is_worktree = True
        return folder

    def set_tools(self, session_id: str, tools: str) -> str:
        from workbench.host import session_tools

        config, session = self._config(), self._session(session_id)
        if session is not None:
            return session_tools.narrow_tools(self._journal, config, session, tools, self._actor)
        choice = self._next_session.choice
        provider = choice.provider if choice is not None else config.default_provider or ""
        self._next_session.active_tools, said = session_tools.tools_of_next_session(config, provider, tools)
        return said

    def add_bookmark(self, session_id: str, label: str) -> str:
        from workbench.host import session_requests

        session = self._session(session_id)
        if session is None:
            raise BackendError("Nothing was marked: there is no session here.")
        return session_requests.add_bookmark(self._journal, session, label, self._actor)

    def _session(self, session_id: str) -> Session | None:
        """Return a session as it stands; None for the next one."""
        return self._require_session(session_id) if session_id else None

    def _config(self) -> Config:
        from workbench.host.provider_keys import register_secrets

        config = super()._config()
        register_secrets(config)
        return config
