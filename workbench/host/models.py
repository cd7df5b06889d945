"""Make the provider that a session was begun with.

Owns the check that a recording is still the one that the session started with, and which settings of a kind a
session's provider gets. Knows no wire format.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from workbench.config.values import Config
from workbench.domain.rows import Session
from workbench.domain.values import JsonObject
from workbench.host.endpoints import KIND, NoEndpoint, endpoint_of
from workbench.providers.base import Provider
from workbench.providers.endpoint import Endpoint
from workbench.providers.recording import Recording, RecordingBroken, load
from workbench.providers.registry import ProviderError, Sleep, make

ProviderMaker = Callable[[Session, Config], Provider]


class ProviderUnavailable(Exception):
    """A session's provider cannot be made; says what, why and what to do."""

    what = "The model was not called."

    def __init__(self, why: str, remedy: str) -> None:
        self.why, self.remedy = why, remedy
        super().__init__(f"{why} {remedy}")


def provider_of(session: Session, config: Config) -> Provider:
    """Return the provider of a session.

    Raises:
        ProviderUnavailable: its kind is unknown, its settings are gone, or its recording is gone, broken or
            another one.
    """
    return make_provider(session, config, None)


def paced_by(sleep: Sleep) -> ProviderMaker:
    """Return the same as `provider_of` with another way to wait."""
    return lambda session, config: make_provider(session, config, sleep)


def make_provider(session: Session, config: Config, sleep: Sleep | None) -> Provider:
    """Make a provider; see `provider_of`."""
    kind = kind_of(session.provider, config)
    try:
        settings = _settings(kind, session, config)
        return make(kind, settings, **({"sleep": sleep} if sleep else {}))
    except RecordingBroken as error:
        raise ProviderUnavailable(str(error), "Mend the recording and continue.") from None
    except NoEndpoint as error:
        raise ProviderUnavailable(error.why, error.remedy) from None
    except ProviderError as error:
        raise ProviderUnavailable(str(error), "Begin a session with another provider.") from None


def kind_of(name: str, config: Config) -> str:
    """Return the kind of a provider by its name; a name that is not set up is a kind itself."""
    found = config.providers.get(name)
    return found.kind if found else name


def _settings(kind: str, session: Session, config: Config) -> dict[str, object]:
    if kind == "recorded":
        return {"recording": _recording(session)}
    if kind == KIND:
        chosen = session.configuration.get("endpoint")
        named = cast("JsonObject", chosen) if isinstance(chosen, dict) else None
        return {"endpoint": _tempered(endpoint_of(config, session.provider, named), session)}
    return {}


def _tempered(endpoint: Endpoint, session: Session) -> Endpoint:
    """Return an endpoint with the temperature that a persona has, if the session is of one."""
    value = session.configuration.get("temperature")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return endpoint
    return replace(endpoint, sampling=replace(endpoint.sampling, temperature=float(value)))


def _recording(session: Session) -> object:
    facts = session.configuration.get("recording")
    if not isinstance(facts, dict):
        return None
    named = cast("JsonObject", facts)
    recording = _loaded(str(named.get("path", "")))
    if recording.sha256 != named.get("sha256"):
        why = f"The recording {recording.path} is not the one that the session began with."
        raise ProviderUnavailable(why, "Put that one back, or begin a new session.")
    return recording


def _loaded(path: str) -> Recording:
    """Return a recording, read again only when its file changed."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return load(path)
    return _read(path, found.st_mtime_ns, found.st_size, found.st_ino)


@functools.lru_cache(maxsize=16)
def _read(path: str, *_stamp: int) -> Recording:
    return load(path)
