"""Providers for the screen's backend, loaded on first use: listed, tried, written down."""

import asyncio
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from workbench.backend.workspace import LocalWorkspace
from workbench.config.keys import PROVIDER_KINDS
from workbench.config.known_providers import LOCAL_SERVERS, LocalServer
from workbench.config.provider_edit import ProviderDraft
from workbench.config.types import Config
from workbench.host.host_locks import live_host
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.backend import BackendError, ProviderBackend, Trial
from workbench.views.provider_form import ProviderFields
from workbench.views.providers import FoundModel, ProviderReport, ProviderRow, ProviderStatus, ProviderUsage

if TYPE_CHECKING:
    from workbench.host.provider_config import ConfigEdit


_LIST_SECONDS = 5.0
"""Seconds that a server gets to list its models; somebody waits for it."""
_UNNAMED = "new"
"""What a provider is called while its form has no name yet."""


class LocalProviders(LocalWorkspace, ProviderBackend):
    """The providers of the user's configuration, as one workspace sees them."""

    def __init__(
        self,
        home: Home,
        journal: Journal,
        workspace: str,
        servers: Sequence[LocalServer] = LOCAL_SERVERS,
        env: Mapping[str, str] = os.environ,
    ) -> None:
        """Take what is read and written.

        Args:
            home: of the configuration.
            journal: of the home.
            workspace: whose settings are read along.
            servers: programs that are looked for on this machine.
            env: where keys are looked for.
        """
        super().__init__(home, journal, workspace)
        self._servers, self._env = servers, env
        self._undo: Callable[[], str] | None = None

    def kinds(self) -> Mapping[str, str]:
        return {kind.name: kind.default_base_url or "" for kind in PROVIDER_KINDS.values() if kind.has_server}

    def names(self) -> Sequence[str]:
        return tuple(self._config().providers)

    def is_set(self, variable: str) -> bool:
        return bool(self._env.get(variable, "").strip())

    def search(self) -> Sequence[FoundModel]:
        from workbench.host.model_discovery import find_models

        return find_models(self._config(), self._env, self._servers)

    def rows(self) -> Sequence[ProviderRow]:
        from workbench.host.provider_config import provider_rows

        host = live_host(self._home, self._journal, self._workspace)
        return provider_rows(self._loaded(), host, self._env)

    def offered_models(self, fields: ProviderFields) -> Sequence[str]:
        from workbench.host.model_selection import list_model_names
        from workbench.host.session_provider import server_provider
        from workbench.providers.base import KeyMissing, ModelsNotListed

        draft = _draft_of(fields)
        try:
            provider = server_provider(self._config_with(draft), draft.name)
            return list_model_names(provider, _LIST_SECONDS)
        except ModelsNotListed as error:
            raise BackendError(_sentences(error.failure.message, error.failure.remedy)) from None
        except KeyMissing as error:
            raise BackendError(_sentences(error.why, error.remedy)) from None

    def try_provider(self, fields: ProviderFields, trial: Trial) -> ProviderReport:
        from workbench.host.provider_probe import probe_provider

        draft = _draft_of(fields)
        with _stoppable():
            return probe_provider(self._config_with(draft), draft.name, draft.model, _progress_of(trial))

    def status(self, name: str, trial: Trial) -> ProviderStatus:
        from workbench.host.provider_probe import provider_status

        config = self._config()
        seconds = min(_LIST_SECONDS, config.api_timeout_seconds)
        with _stoppable():
            return provider_status(config, name, seconds, _progress_of(trial))

    def usage(self) -> Mapping[str, ProviderUsage]:
        from workbench.config.model_prices import PriceList
        from workbench.domain.rows import OWN_AGENT
        from workbench.journal.usage_queries import UsageScope, sessions_by_provider, usage_facts
        from workbench.views.usage import sum_usage

        price = PriceList.of(self._config()).cost
        with self._journal.snapshot() as database:
            counts = sessions_by_provider(database)
            facts = usage_facts(database, "provider", UsageScope(origin=OWN_AGENT))
        usage_by_name: dict[str, ProviderUsage] = {}
        for name, sessions in counts.items():
            usage_sum = sum_usage((fact for fact in facts if fact.group == name), price)
            usage_by_name[name] = ProviderUsage(
                sessions=sessions, input_tokens=usage_sum.usage.input_tokens,
                output_tokens=usage_sum.usage.output_tokens,
                cost=None if usage_sum.cost is None else usage_sum.cost / 1_000_000,
            )  # fmt: skip
        return usage_by_name

    def test(self, name: str, trial: Trial) -> ProviderReport:
        from workbench.host.provider_probe import probe_provider

        with _stoppable():
            return probe_provider(self._config(), name, None, _progress_of(trial))

    def save(self, fields: ProviderFields) -> str:
        from workbench.host.provider_config import put_provider, remove_provider

        before = self._config()
        text = put_provider(self._home, _draft_of(fields), is_default=fields.is_default)

        def undo() -> str:
            removed = remove_provider(self._home, fields.name)
            return _sentences(removed, self._restore_default(before))

        self._undo = undo if fields.name not in before.providers else None
        return text

    def form_of(self, name: str) -> ProviderFields:
        config = self._config()
        provider = config.providers.get(name)
        row = next((row for row in self.rows() if row.name == name), None)
        if provider is None or row is None:
            raise BackendError(f"There is no provider {name} any more.")
        if not row.is_own:
            raise BackendError(f"{name} is set in {row.file}. Change it there.")
        if not row.has_server:
            raise BackendError(f"{name} plays recordings: there is nothing of it in this form.")
        return ProviderFields(
            name=name, kind=row.kind, base_url=row.base_url, model=row.model,
            key_env=provider.key_env or "", key_command=provider.key_command or "", is_default=row.is_default,
        )  # fmt: skip

    def change(self, fields: ProviderFields) -> str:
        from workbench.host.provider_config import change_provider

        edited = change_provider(self._home, _draft_of(fields), is_default=fields.is_default)
        if not edited.is_changed:
            return f"{fields.name} in {edited.path} is as it was."
        self._undo_edit(edited)
        return f"Changed {fields.name} in {edited.path}."

    def asking_sessions(self, name: str) -> int:
        from workbench.host.session_requests import sessions_naming

        return len(sessions_naming(self._journal, name))

    def remove(self, name: str) -> str:
        from workbench.host.provider_config import removal_text, take_provider_out

        row = next((row for row in self.rows() if row.name == name), None)
        if row is not None and not row.is_own:
            raise BackendError(f"{name} is set in {row.file}. Remove it there.")
        edited = take_provider_out(self._home, name)
        self._undo_edit(edited)
        return removal_text(edited, name)

    def _undo_edit(self, edited: "ConfigEdit") -> None:
        from workbench.host.provider_config import undo_edit

        self._undo = lambda: undo_edit(self._home, edited)

    def make_default(self, name: str) -> str:
        from workbench.host.provider_config import set_default

        before = self._config()
        text = set_default(self._home, name)

        has_own_default = before.default_provider in before.providers
        self._undo = (lambda: self._restore_default(before)) if has_own_default else None
        return text

    def can_undo(self) -> bool:
        return self._undo is not None

    def undo(self) -> str:
        if self._undo is None:
            return super().undo()
        text = self._undo()
        self._undo = None
        return text

    def _restore_default(self, before: Config) -> str:
        from workbench.host.provider_config import set_default

        name = before.default_provider
        if name is None or name not in before.providers or before.providers[name].origin.layer != "user":
            return ""
        return set_default(self._home, name, before.default_model)

    def _config_with(self, draft: ProviderDraft) -> Config:
        from workbench.host.provider_config import config_with
        from workbench.host.provider_keys import register_secrets

        config = config_with(self._config(), draft)
        register_secrets(config, self._env)
        return config


def _progress_of(trial: Trial) -> Callable[[str], None]:
    """Return what tells a trial its progress, inside the loop that asks; to cancel ends it at once."""

    def progress(text: str) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()

        def stop() -> None:
            if task is not None:
                with suppress(RuntimeError):  # it has ended meanwhile
                    loop.call_soon_threadsafe(task.cancel)

        trial.progress(text, stop)

    return progress


@contextmanager
def _stoppable() -> Generator[None]:
    try:
        yield
    except asyncio.CancelledError:
        raise BackendError("The trial was stopped.") from None


def _draft_of(fields: ProviderFields) -> ProviderDraft:
    return ProviderDraft(
        name=fields.name or _UNNAMED, kind=fields.kind, base_url=fields.base_url or None,
        model=fields.model or None, key_env=fields.key_env or None, key_command=fields.key_command or None,
    )  # fmt: skip


def _sentences(*texts: str) -> str:
    from workbench.text.human import sentence

    return " ".join(sentence(text) for text in texts if text)
