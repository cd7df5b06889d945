"""What the screen asks about how a session goes on: models, what is asked about, marks.

Owns what was wished before there is a session: the next one begins with it. Everything is done by the same
functions for every way in, and refused inside agents.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.screen.wished import Wished
from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.services import NotDone

if TYPE_CHECKING:
    from workbench.config.values import Config

_SHOWN = 200
"""Models that are offered."""


class Steering:
    """One workspace's sessions; each function imports what it needs when it is called."""

    def __init__(self, home: Home, journal: Journal, workspace: str, actor: Actor, wished: Wished) -> None:
        self._home, self._journal, self._workspace, self._actor = home, journal, workspace, actor
        self._wished = wished

    def models(self, session_id: str) -> tuple[Sequence[tuple[str, str]], str]:
        """Return the models that a session may ask, and which servers could not be asked."""
        from workbench.host.models import kind_of
        from workbench.host.steering import offer
        from workbench.text.safe import one_line

        config, session = self._config(), self._journal.session(session_id) if session_id else None
        if session is not None and kind_of(session.provider, config) == "recorded":
            return (), "This session plays a recording: it asks no model. ctrl+n begins another."
        found = offer(config, session)
        several = len({one.provider for one in found.models}) > 1
        now = (session.provider, session.model) if session is not None else None
        rows = [
            (
                one_line(f"{one.provider}/{one.model}" if several else one.model, 200),
                "asked now" if (one.provider, one.model) == now else "" if several else one.provider,
            )
            for one in found.models[:_SHOWN]
        ]
        silent = " ".join(f"{name}: {why}" for name, why in found.silent.items())
        return rows, silent if found.models or silent else "No provider that can be asked is set up."

    def set_model(self, session_id: str, text: str) -> str:
        """Let a session, or the next one, ask another model."""
        from workbench.host import steering

        config, session = self._config(), self._session(session_id)
        if session is not None:
            return steering.set_model(self._journal, config, session, text, self._actor)
        chosen = steering.choose_model(config, None, text)
        self._wished.choice = steering.choice_of(chosen)
        return steering.said_of(chosen, "The next session asks")

    def set_mode(self, session_id: str, word: str) -> str:
        """Change what a session, or the next one, asks about."""
        from workbench.host import steering

        session = self._session(session_id)
        if session is not None:
            return steering.set_mode(self._journal, session, word, self._actor)
        name = steering.mode_named(word)
        self._wished.members = {k: v for k, v in steering.mode_member(name).items() if v is not None}
        return f"The next session: {steering.MODES[name]}."

    def mark(self, session_id: str, label: str) -> str:
        """Mark this moment of a session."""
        from workbench.host import steering

        session = self._session(session_id)
        if session is None:
            raise NotDone("Nothing was marked: there is no session here.")
        return steering.mark(self._journal, session, label, self._actor)

    def _session(self, session_id: str) -> Session | None:
        """Return a session as it stands; None for the next one.

        Raises:
            NotDone: It is not there any more.
        """
        if not session_id:
            return None
        session = self._journal.session(session_id)
        if session is None:
            raise NotDone("Nothing was done: the session is not there any more.")
        return session

    def _config(self) -> "Config":
        from workbench.host import trusting
        from workbench.host.endpoints import teach
        from workbench.host.settings import Settings

        trusted = trusting.is_trusted(self._journal, self._workspace)
        config = Settings(self._home, self._workspace, {}).loaded(trusted=trusted).config
        teach(config)
        return config
