"""Settings of git, read from its files, and the files of a work tree that git runs or obeys because of them.

Git is not started. Conditions of `includeIf` are not evaluated: what may be included counts.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.search_path import link_chain
from workbench.policy.paths import git_config_folders, read_short_text

_MAX_CONFIG_BYTES: Final = 262_144
_MOST_FILES: Final = 50
_SECTION: Final = re.compile(r'(?i)^\s*\[\s*([a-z0-9.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*(.*)$')
_SETTING: Final = re.compile(r"(?i)^\s*([a-z][a-z0-9-]*)\s*=\s*(.*)$")
_ESCAPED: Final = re.compile(r'"|\\(.)')
"""A quote, which git drops, or an escaped character (git-config, section Values)."""
_COMMAND_NAMES: Final = re.compile(
    r"core\.(fsmonitor|sshcommand|editor|pager|askpass|gitproxy|attributesfile)|sequence\.editor"
    r"|diff\.(external|command|textconv)|filter\.(clean|smudge|process)|merge\.driver|(diff|merge)tool\.(cmd|path)"
    r"|gpg\.(program|defaultkeycommand)|pager\..*|credential\.helper|interactive\.difffilter|hook\.command"
    r"|trailer\.(command|cmd)|remote\.(uploadpack|receivepack)|submodule\.update|(man|browser)\.(cmd|path)"
    r"|uploadpack\.packobjectshook"
)
"""Settings whose value is a command, or a file that git obeys, without their middle part."""
_WORD_ENDS: Final = re.compile(r"[\s;&|()<>\"'`$!=]+")


class GitSetting(Struct, frozen=True, kw_only=True):
    """One setting; its name is `section.name` in lower case, without a middle part."""

    name: str
    value: str


def user_git_files(home: str) -> tuple[str, ...]:
    return f"{home}/.gitconfig", f"{home}/.config/git/config"


def repository_git_files(top: str) -> tuple[str, ...]:
    """Return the settings files of the repository whose work tree is at a folder."""
    return tuple(
        f"{place}/{name}" for place in git_config_folders(top) for name in ("config", "config.worktree")
    )


def read_git_settings(file: str) -> Iterator[GitSetting]:
    """Yield the settings in one file, without those of included files."""
    section = ""
    text = (read_short_text(file, _MAX_CONFIG_BYTES) or "").replace("\\\n", "")
    for line in text.splitlines():
        if match := _SECTION.match(line):
            section, line = match[1].lower().partition(".")[0], match[2]
        if match := _SETTING.match(line):
            value = _ESCAPED.sub(_plain_sign, re.split(r"\s[#;]", match[2])[0]).strip()
            if value and "\0" not in value:
                yield GitSetting(name=f"{section}.{match[1].lower()}", value=value)


def _plain_sign(escaped: re.Match[str]) -> str:
    return " " if escaped[1] in ("n", "t", "b") else escaped[1] or ""


def files_named_by_git(top: str, home: str) -> frozenset[str]:
    """Return what git runs or obeys for a work tree outside `.git`, as it is named and where it leads.

    Included settings, programs that settings name, and what links in the repository's folder lead to. It may
    be elsewhere, and some of it may not exist.
    """
    named = {*_linked_from_repository(top)}
    due, seen = [*repository_git_files(top), *user_git_files(home)], set[str]()
    while due and len(seen) < _MOST_FILES:
        file = due.pop(0)
        if file in seen:
            continue
        seen.add(file)
        for setting in read_git_settings(file):
            if setting.name in ("include.path", "includeif.path"):
                due.append(_joined(os.path.dirname(file), setting.value))  # noqa: PTH120 -- text
                named.update(_chain(due[-1]))
            elif setting.name == "core.hookspath":
                named.update(_chain(_joined(top, setting.value)))
            else:
                named.update(*map(_chain, _files_in_command(setting, top)))
    return frozenset(named)


def _files_in_command(setting: GitSetting, top: str) -> Iterator[str]:
    is_command = setting.name.startswith("alias.") and setting.value.startswith("!")
    if not is_command and not _COMMAND_NAMES.fullmatch(setting.name):
        return
    for word in _WORD_ENDS.split(setting.value):
        path = _joined(top, word)
        is_file = os.path.isfile(path)  # noqa: PTH113 -- text
        if is_file or ("/" in word and not os.path.isdir(path)):  # noqa: PTH112 -- text
            yield path


def _linked_from_repository(top: str) -> Iterator[str]:
    for place in git_config_folders(top):
        for folder in (place, f"{place}/hooks", f"{place}/info"):
            yield from _links_in(folder)


def _links_in(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            links = [entry.path for entry in entries if entry.is_symlink()]
    except OSError:
        return
    for link in links:
        yield from _chain(link)


def _chain(path: str) -> tuple[str, ...]:
    """Return a path, the links that it leads through, and where it ends."""
    return (path, *link_chain(path))


def _joined(folder: str, path: str) -> str:
    home = str(Path.home())
    expanded = f"{home}{path[1:]}" if path.startswith("~/") else path
    return os.path.normpath(os.path.join(folder, expanded))  # noqa: PTH118 -- text
