"""Providers in the user's config.json: rows of them, and changes written under a lock of the data folder."""

import os
import stat
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.config.config_file import MAX_CONFIG_BYTES
from workbench.config.keys import PROVIDER_KINDS
from workbench.config.layers import USER_CONFIG_FILE
from workbench.config.model_names import default_model_of
from workbench.config.provider_edit import (
    NOT_CHANGED,
    ProviderDraft,
    ProviderRefused,
    is_default_in,
    provider_members,
    require_valid_draft,
    settings_of,
    with_default,
    with_provider,
    without_default,
    without_provider,
)
from workbench.config.types import Config, LoadedConfig, ProviderSettings
from workbench.domain.rows import Host
from workbench.effects.file_locks import FileLock
from workbench.effects.file_primitives import BaseMoved, FileRefused, NotDurable
from workbench.effects.files import FileImage, Root
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.host_status import has_variable
from workbench.host.model_selection import is_default_provider
from workbench.journal.home import Home
from workbench.text.human import sentence
from workbench.views.providers import KeySource, ProviderRow

_LOCK_SECONDS: Final = 5.0
"""How long one change waits for another."""
_BYTE_ORDER_MARK: Final = "\ufeff"
_NEW_FILE_MODE: Final = 0o600


def provider_rows(
    loaded: LoadedConfig, host: Host | None, env: Mapping[str, str] = os.environ
) -> tuple[ProviderRow, ...]:
    """Return the configured providers in their order; `host` is the background process if one runs."""
    return tuple(_row(provider, loaded.config, host, env) for provider in loaded.config.providers.values())


def _row(
    provider: ProviderSettings, config: Config, host: Host | None, env: Mapping[str, str]
) -> ProviderRow:
    is_default = is_default_provider(config, provider.name)
    name = provider.key_env
    source: KeySource = "variable" if name else "command" if provider.key_command else "none"
    return ProviderRow(
        name=provider.name, kind=provider.kind, base_url=provider.base_url or "",
        model=default_model_of(config, provider.name) or provider.model or "",
        key=source, key_name=name or provider.key_command or "",
        is_key_here=bool(env.get(name, "").strip()) if name else None,
        is_key_in_background=has_variable(host, name) if name and host else None,
        is_default=is_default, has_server=PROVIDER_KINDS[provider.kind].has_server,
        file=provider.origin.file or "", is_own=provider.origin.layer == "user",
    )  # fmt: skip


def put_provider(
    home: Home, draft: ProviderDraft, *, is_default: bool = False, may_replace: bool = False
) -> str:
    """Write a provider into config.json, made (0600) where there is none; return what to say.

    The same provider again changes nothing and is no error. Raises ProviderRefused: the draft is not
    valid, another one has that name and `may_replace` is false, the file cannot be written, is not JSON, or
    was changed meanwhile.
    """
    require_valid_draft(draft, os.environ)
    existed: list[bool] = []

    def edit(text: str) -> str:
        existing = provider_members(text).get(draft.name)
        existed.append(existing is not None)
        if existing is not None and existing != draft.members and not may_replace:
            why = f"There is a provider {draft.name} already, with other settings."
            raise ProviderRefused(NOT_CHANGED, why, "Choose another name, or replace it.")
        text = with_provider(text, draft)
        return with_default(text, draft.name, draft.model) if is_default else text

    edited = edit_user_file(home, edit)
    default = f" {_default_sentence(draft.name, draft.model)}" if is_default else ""
    if not edited.is_changed:
        return f"{draft.name} is in {edited.path} already.{default}"
    return f"{'Changed' if existed[-1] else 'Added'} {draft.name} in {edited.path}.{default}"


def change_provider(home: Home, draft: ProviderDraft, *, is_default: bool) -> "ConfigEdit":
    """Change a provider that is in config.json, and whether new sessions ask it; what a draft has not stays.

    Raises ProviderRefused: the draft is not valid, or the provider is not there (any more).
    """
    require_valid_draft(draft, os.environ)

    def edit(text: str) -> str:
        if draft.name not in provider_members(text):
            why = f"It has no provider {draft.name}."
            raise ProviderRefused(NOT_CHANGED, why, "Add it again, or look where it is set.")
        text = with_provider(text, draft)
        if is_default:
            return with_default(text, draft.name, draft.model)
        return without_default(text, draft.name)

    return edit_user_file(home, edit)


def undo_edit(home: Home, edited: "ConfigEdit") -> str:
    """Write config.json as it was before an edit. Raises ProviderRefused: it was changed since."""

    def restore(text: str) -> str:
        if text != edited.after:
            why = f"{edited.path} was changed since, and that would be lost."
            raise ProviderRefused("Nothing was undone.", why, "Change it in the form, or in the file.")
        return edited.before

    edit_user_file(home, restore)
    return f"{edited.path} is as it was before."


def require_editable_config(home: Home, *, without: str | None = None) -> None:
    """Check before anybody is asked that config.json can be changed, or a provider be taken out of it.

    Raises ProviderRefused: the file cannot be read, is not JSON, or has no provider of that name.
    """

    def read(text: str) -> str:
        provider_members(text) if without is None else without_provider(text, without)
        return text

    edit_user_file(home, read)


def remove_provider(home: Home, name: str) -> str:
    """Take a provider out of config.json; return what to say. Raises ProviderRefused."""
    return removal_text(take_provider_out(home, name), name)


def take_provider_out(home: Home, name: str) -> "ConfigEdit":
    """Take a provider out of config.json. Raises ProviderRefused."""
    return edit_user_file(home, lambda text: without_provider(text, name))


def removal_text(edited: "ConfigEdit", name: str) -> str:
    """Return what to say of a provider that was taken out."""
    more = " It was the default; there is none now." if is_default_in(edited.before, name) else ""
    return f"Removed {name} from {edited.path}.{more}"


def set_default(home: Home, provider: str, model: str | None = None) -> str:
    """Make a provider (and a model) what new sessions ask; return what to say. Raises ProviderRefused."""
    edit_user_file(home, lambda text: with_default(text, provider, model))
    return _default_sentence(provider, model)


def _default_sentence(provider: str, model: str | None) -> str:
    return f"New sessions ask {model} ({provider})." if model else f"New sessions ask {provider}."


def config_with(config: Config, draft: ProviderDraft, file: str = "") -> Config:
    """Return a configuration as it will be with a draft, to test it before it is written.

    `file` is where it will be written: a `key_command` runs in its folder. Raises ProviderRefused: the draft
    is not valid.
    """
    require_valid_draft(draft, os.environ)
    settings = settings_of(draft, file)
    existing = config.providers.get(draft.name)
    if existing is not None and existing.origin.layer == "user":
        settings = replace(
            existing, kind=settings.kind, base_url=settings.base_url, model=settings.model,
            key_env=settings.key_env, key_command=settings.key_command, origin=settings.origin,
            headers=existing.headers if existing.base_url == settings.base_url else settings.headers,
        )  # fmt: skip
    return replace(config, providers={**config.providers, draft.name: settings})


class _UserFile(Struct, frozen=True, kw_only=True):
    """The user's config.json as it was read, behind a link where it is one."""

    folder: str
    name: str
    image: FileImage | None
    text: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


class ConfigEdit(Struct, frozen=True, kw_only=True):
    """A change of config.json: its path, and its text before and after."""

    path: str
    before: str
    after: str

    @property
    def is_changed(self) -> bool:
        """Return whether anything was written."""
        return self.before != self.after


def edit_user_file(home: Home, edit: Callable[[str], str]) -> ConfigEdit:
    """Change config.json by a function of its text; return what was changed.

    The function may raise ProviderRefused, which also says why the file cannot be read or written.
    """
    refuse_inside_agents(None, home, "change the configuration")
    try:
        with _config_lock(home):
            file = _read_user_file(home.path / USER_CONFIG_FILE)
            mark = _BYTE_ORDER_MARK * file.text.startswith(_BYTE_ORDER_MARK)
            before = file.text.removeprefix(mark)
            edited = ConfigEdit(path=file.path, before=before, after=edit(before))
            if edited.is_changed:
                _write_user_file(file, mark + edited.after)
        return edited
    except NotDurable as error:
        raise ProviderRefused(f"{USER_CONFIG_FILE} was changed.", sentence(error.why), error.remedy) from None
    except FileRefused as error:
        why = f"{home.path / USER_CONFIG_FILE}: {error.why}."
        raise ProviderRefused(NOT_CHANGED, why, sentence(error.remedy)) from None
    except BaseMoved:
        why = "Something else changed the file at the same moment."
        raise ProviderRefused(NOT_CHANGED, why, "Look at it, then do this again.") from None


@contextmanager
def _config_lock(home: Home) -> Generator[None, None, None]:
    with FileLock(home.run / "config.lock") as lock:
        if not lock.acquire_within(_LOCK_SECONDS):
            why = "Another workbench is changing it."
            raise ProviderRefused(NOT_CHANGED, why, "Do this again in a moment.")
        yield


def _read_user_file(path: Path) -> _UserFile:
    """Read the file, following links: a config.json may be kept among other settings of its user."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        why = f"{path} is a link that leads nowhere."
        raise ProviderRefused(NOT_CHANGED, why, "Remove the link, or put a file there.") from None
    with Root(real.parent) as folder:
        image = folder.image(real.name, MAX_CONFIG_BYTES)
    if image is not None and not image.mode & stat.S_IWUSR:
        raise ProviderRefused(NOT_CHANGED, f"{real} is read-only.", f"chmod u+w {real} allows it.")
    try:
        text = (image.data if image else b"").decode("utf-8")
    except UnicodeDecodeError:
        raise ProviderRefused(NOT_CHANGED, f"{real} is not UTF-8 text.", "Save it as UTF-8.") from None
    return _UserFile(folder=str(real.parent), name=real.name, image=image, text=text)


def _write_user_file(file: _UserFile, text: str) -> None:
    data = text.encode("utf-8")
    if len(data) > MAX_CONFIG_BYTES:
        raise ProviderRefused(NOT_CHANGED, f"{file.path} would be over 1 MB.", "Remove what is not needed.")
    before = file.image.data if file.image else None
    with Root(file.folder) as folder:
        staged = folder.stage(file.name, data, file.image.mode if file.image else _NEW_FILE_MODE)
        folder.commit(staged, lambda now: now == before)
