"""Private files in the folders of tools in a home folder, such as keys and tokens that a tool keeps there."""

# Tools are files that everybody may read, so a file that only its user may read is private, unless it is a
# program. Where many are like that it is how this user makes files, and says nothing.

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import read_bounded

MOST_FILES: Final = 20
"""Of one folder; each is a mount of every box."""
_MOST_FOLDERS: Final = 200
_KEPT_SECONDS: Final = 60
_LARGEST_SETTINGS: Final = 65_536
_KEY_NAME: Final = re.compile(
    r"(?i).+\.(pfx|p12|pkcs12|ppk|kdbx|token)|id_(rsa|dsa|ecdsa|ed25519)(_sk)?|[._]netrc|\.pypirc|\.git-credentials"
    r"|credentials(\.(json|toml|ya?ml|db))?|auth\.json",
    re.DOTALL,
)
_SETTINGS_NAME: Final = re.compile(
    r"(?i)\.?(npmrc|condarc|yarnrc|gemrc|curlrc|wgetrc|env)|pip\.conf|nuget\.config|settings\.(xml|json)"
    r"|gradle\.properties|config(\.(toml|json|ya?ml))?|hosts\.ya?ml|\.yarnrc\.yml",
    re.DOTALL,
)
"""Files that are private only if something in them looks like a secret."""
_NOT_ENTERED: Final = frozenset({
    "versions", "toolchains", "candidates", "installs", "envs", "pkgs", "lib", "lib32", "lib64", "libexec",
    "include", "share", "src", "doc", "docs", "man", "test", "tests", "node_modules", "site-packages",
    "registry", "repository", "objects", "refs", "logs", "hooks", "sdk", "shared", "packs", "archives",
    "sources", "completions", "conda-meta", "__pycache__",
})  # fmt: skip
"""Folders of installed programs and packages: many files, and none that a tool has written since."""


def private_files(folder: str) -> tuple[str, ...]:
    """Return the private files in a folder of tools, a few at most; they are looked for once a minute."""
    try:
        status = os.stat(folder)  # noqa: PTH116 -- text
    except OSError:
        return ()
    is_open = bool(status.st_mode & stat.S_IROTH)
    return _found(folder, status.st_ino, int(time.monotonic() / _KEPT_SECONDS), is_open=is_open)


@lru_cache(maxsize=64)
def _found(folder: str, *stamp: int, is_open: bool) -> tuple[str, ...]:
    del stamp
    known: list[str] = []
    closed: list[str] = []
    for entry in _entries(folder):
        with suppress(OSError):
            may_hold = _SETTINGS_NAME.fullmatch(entry.name)
            if _KEY_NAME.fullmatch(entry.name) or (may_hold and holds_secret(entry.path)):
                known.append(entry.path)
            elif is_open and _is_private(entry.stat(follow_symlinks=False).st_mode):
                closed.append(entry.path)
    return (*known[:MOST_FILES], *(closed if len(closed) <= MOST_FILES else ()))


def _entries(top: str) -> Iterator[os.DirEntry[str]]:
    """Yield the files at the top and in some of the folders below it, level by level."""
    due = [top]
    for folder in due:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    yield entry
                elif (
                    entry.is_dir(follow_symlinks=False)
                    and entry.name not in _NOT_ENTERED
                    and len(due) < _MOST_FOLDERS
                ):
                    due.append(entry.path)


def _is_private(mode: int) -> bool:
    return not mode & (stat.S_IROTH | stat.S_IXUSR)


def holds_secret(path: str) -> bool | None:
    """Return whether something in a file looks like a secret; None where it is too large or not readable."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- text
    except OSError:
        return None
    return _holds_secret(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=400)
def _holds_secret(path: str, *stamp: int) -> bool | None:
    from workbench.secrets.scrubber import scrub  # only the first command of a process needs it

    del stamp
    try:
        data = read_bounded(Path(path), _LARGEST_SETTINGS)
    except FileRefused:
        return None
    return bool(scrub((data or b"").decode("utf-8", "replace")).found)
