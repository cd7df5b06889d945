"""Settings of git, read from its files, and the files of a work tree that git runs or obeys because of them.

Git is not started. Conditions of `includeIf` are not evaluated: what may be included counts.
"""

import os
import re
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.search_path import link_chain
from workbench.policy.paths import git_config_folders, is_bare_repository, read_short_text

_MAX_CONFIG_BYTES: Final = 262_144
_MOST_FILES: Final = 50
_SETTLED_NANOSECONDS: Final = 50_000_000
"""After so long another change of a file shows in its times."""
_SECTION: Final = re.compile(r'(?i)^\s*\[\s*([a-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$')
_SETTING: Final = re.compile(r"(?i)^\s*([a-z][a-z0-9-]*)\s*=\s*(.*)$")
_VALUE_PART: Final = re.compile(r'"|\\(.)|[#;]|[^"\\#;]+|\\')
"""A quote, an escaped character, the start of a comment, or plain text (git-config, section Values)."""
_COMMAND_NAMES: Final = re.compile(
    r".*(command|cmd|program|prog|hook|pager|askpass)"
    r"|core\.(fsmonitor|editor|gitproxy|attributesfile)|sequence\.editor"
    r"|diff\.(external|textconv)|filter\.(clean|smudge|process)|merge\.driver"
    r"|(difftool|mergetool|man|browser)\.path|credential\.helper|interactive\.difffilter"
    r"|remote\.(uploadpack|receivepack)|submodule\.update|imap\.tunnel|sendemail\.smtpserver"
    r"|lfs\.(path|args|clean|smudge)|instaweb\.(httpd|browser)|(web|help)\.browser|secrets\.providers"
    r"|gpg\.(allowedsignersfile|revocationfile)|(http|sendemail)\..*ssl(cainfo|cert|certpath)"
)
"""Settings whose value is a command, or a file that git obeys, without their middle part.

The first line covers settings of programs that extend git too.
"""
_FOLDER_NAMES: Final = frozenset({
    "core.hookspath", "init.templatedir", "gitflow.hooks", "instaweb.modulepath", "http.sslcapath",
})  # fmt: skip
"""Settings whose value is a folder whose files git runs, copies to where it runs them, or trusts."""
_ADDRESS_NAMES: Final = frozenset({"remote.url", "remote.pushurl", "submodule.url"})
_COMMAND_ADDRESS: Final = "ext::"
"""The start of an address that is a command (git-remote-ext)."""
_RUNNING_ALIAS: Final = re.compile(
    r"!|(?:.*\s)?(-c|-x|--exec|--extcmd|--upload-pack|--receive-pack|foreach|run)[\s=]", re.DOTALL
)
"""What an alias begins with that runs a command: a shell command, or git with options that name one."""
_WORD_ENDS: Final = re.compile(r"[\s;&|()<>\"'`$!={}]+")
_SCRIPT_NAME: Final = re.compile(r"[\w.-]+\.(py|sh|bash|zsh|pl|rb|php|lua|[cm]?js|ts|bat|cmd|ps1)")
"""What is a file also where it is missing now, such as a script of another branch."""
_SYSTEM_FILES: Final = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")


class GitSetting(Struct, frozen=True, kw_only=True):
    """One setting; its name is `section.name` in lower case, without a middle part."""

    name: str
    value: str
    middle: str = ""
    """Such as the name of a remote, as it is written."""


def user_git_files(home: str) -> tuple[str, ...]:
    """Return the settings files that hold for all repositories of a user."""
    of_variables = filter(None, map(os.environ.get, ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")))
    settings = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    own = (f"{home}/.gitconfig", f"{home}/.config/git/config", f"{settings}/git/config")
    return tuple(dict.fromkeys((*own, *_SYSTEM_FILES, *of_variables)))


def repository_git_files(top: str) -> tuple[str, ...]:
    """Return the settings files of the repository whose work tree is at a folder, or which is that folder."""
    return tuple(f"{place}/{name}" for place in _git_folders(top) for name in ("config", "config.worktree"))


def _git_folders(top: str) -> tuple[str, ...]:
    folders = git_config_folders(top)
    return (*folders, top) if is_bare_repository(top) else folders


def read_git_settings(file: str) -> tuple[GitSetting, ...]:
    """Return the settings in one file, without those of included files; it is read again when it changed."""
    try:
        status = os.stat(file)  # noqa: PTH116 -- text
    except (OSError, ValueError):
        return ()
    if time.time_ns() - status.st_ctime_ns <= _SETTLED_NANOSECONDS:
        return tuple(_parse_settings(file))
    stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size, status.st_ctime_ns)
    return _known_settings(file, stamp)


@lru_cache(maxsize=1024)
def _known_settings(file: str, _stamp: tuple[int, ...]) -> tuple[GitSetting, ...]:
    return tuple(_parse_settings(file))


def _parse_settings(file: str) -> Iterator[GitSetting]:
    section = middle = ""
    text = (read_short_text(file, _MAX_CONFIG_BYTES) or "").removeprefix("\ufeff")
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        if match := _SECTION.match(line):
            section, _, dotted = match[1].lower().partition(".")
            middle, line = match[2] or dotted, match[3]
        if match := _SETTING.match(line):
            value = _plain_value(match[2])
            if value and "\0" not in value:
                yield GitSetting(name=f"{section}.{match[1].lower()}", value=value, middle=middle)


def _plain_value(written: str) -> str:
    """Return a value without quotes, escapes and a comment."""
    value, is_quoted = "", False
    for part in _VALUE_PART.finditer(written):
        if part[0] == '"':
            is_quoted = not is_quoted
        elif part[0] in ("#", ";") and not is_quoted:
            break
        elif part[1] is not None:
            value += " " if part[1] in ("n", "t", "b") else part[1]
        else:
            value += part[0]
    return value.strip()


def files_named_by_git(top: str, home: str) -> frozenset[str]:
    """Return what git runs or obeys for a repository outside `.git`, as it is named and where it leads.

    Included settings, programs that settings name, and what links in the repository's folder lead to. It may
    be elsewhere, and some of it may not exist. `top`: the folder of its work tree, or of a repository that
    has none.
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
            elif setting.name in _FOLDER_NAMES:
                named.update(_chain(_joined(top, setting.value)))
            else:
                named.update(*map(_chain, _files_in_command(_command_of(setting), top)))
    return frozenset(named)


def _command_of(setting: GitSetting) -> str:
    """Return the command that a setting names; empty for all other settings."""
    if setting.name.startswith("alias."):
        return setting.value if _RUNNING_ALIAS.match(setting.value) else ""
    if setting.name in _ADDRESS_NAMES or setting.name.startswith("url."):
        address = setting.middle if setting.name.startswith("url.") else setting.value
        return address.removeprefix(_COMMAND_ADDRESS) if address.startswith(_COMMAND_ADDRESS) else ""
    is_command = setting.name.startswith("pager.") or _COMMAND_NAMES.fullmatch(setting.name)
    return setting.value if is_command else ""


def _files_in_command(command: str, top: str) -> Iterator[str]:
    for word in filter(None, _WORD_ENDS.split(command)):
        path = _joined(top, word)
        is_file = os.path.isfile(path)  # noqa: PTH113 -- text
        is_path = "/" in word or _SCRIPT_NAME.fullmatch(word) is not None
        if is_file or (is_path and not os.path.isdir(path)):  # noqa: PTH112 -- text
            yield path
        if not is_file and "$" in command:
            yield from _files_below(top, word)


def _files_below(top: str, word: str) -> Iterator[str]:
    """Yield the files that a word names behind a folder that the shell puts in, such as `$PWD/tools/x`."""
    names = word.split("/")
    ends = (_joined(top, "/".join(names[start:])) for start in range(1, len(names)) if names[start])
    return filter(os.path.isfile, ends)


def _linked_from_repository(top: str) -> Iterator[str]:
    for place in _git_folders(top):
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
    joined = os.path.join(folder, expanded)  # noqa: PTH118 -- text
    # A folder before two dots may become a link, which leads elsewhere from there.
    return joined if ".." in expanded.split("/") else os.path.normpath(joined)
