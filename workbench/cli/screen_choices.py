"""Settings that were chosen on a screen, kept for the next ones in the data folder.

config.json is written by its user only. A choice stands beside what the configuration said when it was made,
and holds until the configuration says something else.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Final

import msgspec
from msgspec import Struct

from workbench.config.types import UiSettings
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import read_bounded, write_atomic
from workbench.journal.home import Home

CHOICES_FILE: Final = "screen.json"
_MAX_BYTES: Final = 10_000
_SECTION: Final = "ui."


class ScreenChoice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One setting that was chosen."""

    value: str | bool
    configured: str | bool
    """What the configuration said then."""


_Choices = dict[str, ScreenChoice]


def keep_choice(home: Home, path: str, value: str | bool, configured: UiSettings) -> None:
    """Remember a choice.

    Args:
        home: The data folder.
        path: Dotted name of a setting of the screen, such as `ui.theme`.
        value: What was chosen.
        configured: The settings of the screen as the configuration has them.
    """
    choices = _read(home)
    choices[path] = ScreenChoice(value=value, configured=attrgetter(path.removeprefix(_SECTION))(configured))
    write_atomic(home.path / CHOICES_FILE, msgspec.json.encode(choices))


def choices_in_force(home: Home, configured: UiSettings) -> Mapping[str, str | bool]:
    """Return what was chosen, by dotted name, as far as the configuration still says what it said then."""
    known = dict(_flat(configured))
    return {
        path: choice.value
        for path, choice in _read(home).items()
        if known.get(path) == choice.configured and type(choice.value) is type(known[path])
    }


def settings_with_choices(home: Home, configured: UiSettings) -> UiSettings:
    """Return the settings of a screen with what was chosen on the screens before it."""
    settings = configured
    for path, value in choices_in_force(home, configured).items():
        try:
            chosen = settings.with_value(path.removeprefix(_SECTION), value)
            settings = msgspec.convert(msgspec.to_builtins(chosen), UiSettings)
        except (msgspec.ValidationError, AttributeError):
            continue  # written by another version
    return settings


def _flat(settings: UiSettings) -> Mapping[str, object]:
    notify = {f"ui.notify.{name}": getattr(settings.notify, name) for name in ("bell", "title", "desktop")}
    return {f"ui.{name}": getattr(settings, name) for name in ("theme", "density", "motion")} | notify


def _read(home: Home) -> _Choices:
    try:
        data = read_bounded(home.path / CHOICES_FILE, _MAX_BYTES)
        return msgspec.json.decode(data or b"{}", type=_Choices)
    except (FileRefused, msgspec.MsgspecError, UnicodeDecodeError):
        return {}
