"""Make the provider that a session was begun with.

Owns the check that a recording is still the one that the session started with. Knows no wire format.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import cast

from workbench.domain.rows import Session
from workbench.domain.values import JsonObject
from workbench.providers.base import Provider
from workbench.providers.recording import Recording, RecordingBroken, load
from workbench.providers.registry import ProviderError, Sleep, make


class ProviderUnavailable(Exception):
    """A session's provider cannot be made; says what, why and what to do."""

    what = "The model was not called."

    def __init__(self, why: str, remedy: str) -> None:
        self.why, self.remedy = why, remedy
        super().__init__(f"{why} {remedy}")


def provider_of(session: Session) -> Provider:
    """Return the provider of a session.

    Raises:
        ProviderUnavailable: its kind is unknown, or its recording is gone, broken or another one.
    """
    return make_provider(session, None)


def paced_by(sleep: Sleep) -> Callable[[Session], Provider]:
    """Return the same as `provider_of` with another way to wait."""
    return lambda session: make_provider(session, sleep)


def make_provider(session: Session, sleep: Sleep | None) -> Provider:
    """Make a provider; see `provider_of`."""
    try:
        settings = {"recording": _recording(session)} if session.provider == "recorded" else {}
        return make(session.provider, settings, **({"sleep": sleep} if sleep else {}))
    except RecordingBroken as error:
        raise ProviderUnavailable(str(error), "Mend the recording and continue.") from None
    except ProviderError as error:
        raise ProviderUnavailable(str(error), "Begin a session with another provider.") from None


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
