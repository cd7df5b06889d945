"""What commands in a box see of the home folder: programs and toolchains, and settings without secrets.

Everything else in it is hidden, so that a secret that no table here knows is hidden too.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import read_bounded
from workbench.effects.private_files import holds_secret, private_files
from workbench.effects.sandbox import SYSTEM_FOLDERS
from workbench.effects.search_path import leads_through

TOOLCHAINS: Final = (
    ".pyenv", ".rbenv", ".goenv", ".nodenv", ".rustup", ".nvm", ".fnm", ".asdf", ".sdkman", ".volta",
    ".dotnet", ".deno/bin", ".bun/bin", ".ghcup/bin", ".ghcup/ghc", ".opam", ".gem/ruby", "miniconda3",
    "anaconda3", "miniforge3", ".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx",
    ".local/share/uv/python", ".local/share/uv/tools", ".local/share/mise", ".local/share/fnm",
    ".local/share/pnpm", ".cargo/bin", ".cargo/registry", ".cargo/git", "go/bin", "go/pkg/mod",
    ".m2/repository",
)  # fmt: skip
"""Folders of programs, libraries and packages that were installed or fetched."""
_PACKAGES: Final = frozenset({
    ".gem/ruby", ".local/lib", ".cargo/registry", ".cargo/git", "go/pkg/mod", ".m2/repository",
})  # fmt: skip
"""Folders that hold files of packages only, and no settings or keys of a tool."""
SETTINGS: Final = (
    ".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes", ".tool-versions",
    ".nvmrc", ".node-version", ".python-version", ".ruby-version", ".java-version", ".editorconfig",
    ".config/pip/pip.conf", ".cargo/config.toml", ".config/go/env",
)  # fmt: skip
"""Files that programs read; each is shown only where nothing in it looks like a secret."""
_INSTALLATION_PARTS: Final = (
    "bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "pkg", "src", "conf", "jmods",
    "release", "VERSION", "go.env", "conda-meta", "pyvenv.cfg",
)  # fmt: skip
"""What is shown of a folder whose `bin` is in PATH, if it has one of the next."""
_INSTALLATION_MARKS: Final = ("lib", "lib64", "libexec", "pyvenv.cfg", "conda-meta", "release")
_LARGEST_SETTINGS: Final = 65_536
_BASE_OF_ENVIRONMENT: Final = re.compile(r"(?m)^home\s*=\s*(/.*?)\s*$")


class HomeView(Struct, frozen=True, kw_only=True):
    """What is shown."""

    visible: tuple[str, ...]
    """Real paths."""
    shown_as: tuple[tuple[str, str], ...]
    """Real paths, each with the name that leads to it by a link."""
    withheld: tuple[str, ...]
    """Settings that are not shown: something in them looks like a secret."""
    private: tuple[str, ...] = ()
    """Files in what is shown that look private."""


def home_view(home: str, search_path: str, workspace: str) -> HomeView:
    """Return what is shown of a home folder, and of folders of PATH; `home` and `workspace` are real paths.

    What a command could have written in the workspace adds nothing.
    """
    names = [path for name in TOOLCHAINS if os.path.isdir(path := f"{home}/{name}")]  # noqa: PTH112 -- text
    settings = [path for name in SETTINGS if os.path.isfile(path := f"{home}/{name}")]  # noqa: PTH113 -- text
    withheld = [path for path in settings if holds_secret(path) is not False]
    names += [path for path in settings if path not in withheld]
    folders = dict.fromkeys(filter(os.path.isabs, search_path.split(os.pathsep)))
    names += _programs(folders, home, workspace)
    pairs = [(os.path.realpath(name), name) for name in names]
    pairs = [pair for pair in pairs if not _shows_too_much(pair[0], home)]
    plain = {f"{home}/{name}" for name in _PACKAGES}.union(settings)
    private = (file for real, name in pairs if name not in plain for file in private_files(real))
    return HomeView(
        visible=tuple(dict.fromkeys(real for real, _ in pairs)),
        shown_as=tuple(dict.fromkeys((real, name) for real, name in pairs if real != name)),
        withheld=tuple(withheld),
        private=tuple(dict.fromkeys(private)),
    )


def _programs(folders: Iterable[str], home: str, workspace: str) -> Iterator[str]:
    """Yield the folders of PATH, or what belongs to the installations that they are in."""
    for folder in folders:
        above, name = os.path.split(os.path.normpath(folder))
        real = os.path.realpath(folder)
        is_known = any(_is_below(real, known) for known in SYSTEM_FOLDERS)
        if is_known or leads_through(folder, workspace) or not os.path.isdir(folder):  # noqa: PTH112 -- text
            continue
        is_installation = name in ("bin", "sbin") and _is_installation(above)
        if not is_installation or _shows_too_much(os.path.realpath(above), home):
            yield os.path.normpath(folder)
            continue
        yield from _parts_of(above)
        base = os.path.dirname(_base_of_environment(above))  # noqa: PTH120 -- text
        if base and not _shows_too_much(os.path.realpath(base), home):
            yield from _parts_of(base)


def _parts_of(folder: str) -> Iterator[str]:
    """Yield the parts of an installation; the folder itself where it holds nothing else."""
    names = set(os.listdir(folder))  # noqa: PTH208 -- text
    parts = names.intersection(_INSTALLATION_PARTS)
    yield from (
        (folder,)
        if names - parts <= {".gitignore", "CACHEDIR.TAG"}
        else (f"{folder}/{part}" for part in sorted(parts))
    )


def _is_installation(folder: str) -> bool:
    """Return whether a folder looks installed, and not like a project that has a folder `bin`."""
    return not os.path.lexists(f"{folder}/.git") and any(
        os.path.lexists(f"{folder}/{name}") for name in _INSTALLATION_MARKS
    )


def _base_of_environment(folder: str) -> str:
    """Return the folder of the interpreter that a virtual environment was made with."""
    try:
        data = read_bounded(Path(folder, "pyvenv.cfg"), _LARGEST_SETTINGS)
    except FileRefused:
        return ""
    match = _BASE_OF_ENVIRONMENT.search((data or b"").decode("utf-8", "surrogateescape"))
    return match[1] if match and match[1] != f"{folder}/bin" else ""


def _shows_too_much(real: str, home: str) -> bool:
    private = (home, f"{home}/.local", f"{home}/.local/share", f"{home}/.config")
    return any(_is_below(folder, real) for folder in private)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
