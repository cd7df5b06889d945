"""Files in which a screen leaves something for the next one: draft, moment, folders, chosen settings."""

# A draft is a file, not an event. What stood in the composer when a screen was left is exact text that
# nobody sent; it is kept in a private file of its workspace until it is sent or cleared, and never
# recorded, searched or exported.

from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Final

import msgspec
from msgspec import Struct

from workbench.config.types import UiSettings
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import private_folder, read_bounded, write_atomic
from workbench.host.host_locks import workspace_hash
from workbench.journal.home import Home
from workbench.text.safe import safe_text

DRAFT_FOLDER: Final = "drafts"
LARGEST_DRAFT: Final = 10_000_000
"""Bytes; a longer draft is not kept."""


class Draft:
    """The draft of a workspace's screen; a screen that did not read it does not remove it."""

    def __init__(self, home: Home, workspace: str) -> None:
        self._path = home.path / DRAFT_FOLDER / f"{workspace_hash(workspace)}.txt"
        self._is_taken = False

    def read(self) -> str:
        """Return what was left; empty if nothing was, or if it cannot be read."""
        try:
            data = read_bounded(self._path, LARGEST_DRAFT)
        except FileRefused:
            return ""
        self._is_taken = bool(data)
        return safe_text((data or b"").decode("utf-8", "replace"))

    def keep(self, text: str) -> None:
        """Keep a text, or remove what was kept; a disk that cannot take it keeps no screen from ending."""
        data = text.encode("utf-8", "replace")
        with suppress(FileRefused, OSError):
            if text.strip() and len(data) <= LARGEST_DRAFT:
                private_folder(self._path.parent)
                write_atomic(self._path, data)
            elif self._is_taken:
                self._path.unlink(missing_ok=True)


FOLDERS_FILE: Final = "folders.json"
_MAX_FOLDERS_BYTES: Final = 1_000


class ShownChoice(Struct, frozen=True, kw_only=True):
    """What the panes of a screen showed last."""

    is_wide: bool = False
    """Whether the queue was that of all folders."""
    all_sessions: tuple[str, ...] = ()
    """The places that showed every session."""


def keep_shown(
    home: Home, *, is_wide: bool | None = None, all_sessions: tuple[str, ...] | None = None
) -> None:
    """Remember a choice in the data folder; None leaves it as it is."""
    before = shown_at_start(home)
    choice = ShownChoice(
        is_wide=before.is_wide if is_wide is None else is_wide,
        all_sessions=before.all_sessions if all_sessions is None else all_sessions,
    )
    write_atomic(home.path / FOLDERS_FILE, msgspec.json.encode(choice))


def shown_at_start(home: Home) -> ShownChoice:
    """Return what the panes showed last; the usual where nothing can be read of that."""
    try:
        data = read_bounded(home.path / FOLDERS_FILE, _MAX_FOLDERS_BYTES)
        return msgspec.json.decode(data or b"", type=ShownChoice)
    except (FileRefused, msgspec.MsgspecError):
        return ShownChoice()


LEFT_FOLDER: Final = "left"
_MAX_LEFT_BYTES: Final = 100


class LeftMoment:
    """When a screen of a workspace was left last."""

    def __init__(self, home: Home, workspace: str) -> None:
        self._path = home.path / LEFT_FOLDER / f"{workspace_hash(workspace)}.txt"

    def read(self) -> int | None:
        """Return the moment in microseconds; None if no screen was left here yet."""
        try:
            return int(read_bounded(self._path, _MAX_LEFT_BYTES) or b"")
        except (FileRefused, ValueError):
            return None

    def keep(self, at: int) -> None:
        """Remember a moment; a disk that cannot take it keeps no screen from ending."""
        with suppress(FileRefused, OSError):
            private_folder(self._path.parent)
            write_atomic(self._path, str(at).encode())


CHOICES_FILE: Final = "screen.json"
_MAX_CHOICES_BYTES: Final = 10_000
_UI_PREFIX: Final = "ui."


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
    choices = _read_choices(home)
    choices[path] = ScreenChoice(
        value=value, configured=attrgetter(path.removeprefix(_UI_PREFIX))(configured)
    )
    write_atomic(home.path / CHOICES_FILE, msgspec.json.encode(choices))


def choices_in_force(home: Home, configured: UiSettings) -> Mapping[str, str | bool]:
    """Return what was chosen, by dotted name, as far as the configuration still says what it said then."""
    known = dict(_settings_by_path(configured))
    return {
        path: choice.value
        for path, choice in _read_choices(home).items()
        if known.get(path) == choice.configured and type(choice.value) is type(known[path])
    }


def settings_with_choices(home: Home, configured: UiSettings) -> UiSettings:
    """Return the settings of a screen with what was chosen on the screens before it."""
    settings = configured
    for path, value in choices_in_force(home, configured).items():
        try:
            chosen = settings.with_value(path.removeprefix(_UI_PREFIX), value)
            settings = msgspec.convert(msgspec.to_builtins(chosen), UiSettings)
        except (msgspec.ValidationError, AttributeError):
            continue  # written by another version
    return settings


def _settings_by_path(settings: UiSettings) -> Mapping[str, object]:
    notify = {f"ui.notify.{name}": getattr(settings.notify, name) for name in ("bell", "title", "desktop")}
    return {f"ui.{name}": getattr(settings, name) for name in ("theme", "density", "motion")} | notify


def _read_choices(home: Home) -> _Choices:
    try:
        data = read_bounded(home.path / CHOICES_FILE, _MAX_CHOICES_BYTES)
        return msgspec.json.decode(data or b"{}", type=_Choices)
    except (FileRefused, msgspec.MsgspecError, UnicodeDecodeError):
        return {}
