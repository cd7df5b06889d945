"""Paths that a call names: where they really lead, and whether that may be touched.

Owns resolving as the kernel does it (links before `..`) and the list of protected names. It looks at the
file system but never opens a file, and it must never call a path inside that could lead outside.
"""

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from workbench.records import dataclass
from workbench.text.safe import one_line

_LONGEST_PATH: Final = 4096
_LONGEST_NAME: Final = 255
_MOST_LINKS: Final = 40

GOVERNING_FILES: Final = (".workbench.json", "workbench.yaml", "wave.yaml")
GOVERNING_FOLDERS: Final = (".workbench", ".wave", ".agents")
GOVERNING: Final = (*GOVERNING_FILES, *GOVERNING_FOLDERS)
"""What governs a workspace, at its root: trust covers it, and no agent may write it."""

HOME_NAMES: Final = frozenset({
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc",
    ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
    ".login", ".logout", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment",
    ".gitconfig", ".netrc", ".npmrc", ".pypirc", ".pythonrc.py", ".tmux.conf", ".vimrc", ".emacs",
    ".ssh", ".gnupg", ".config/fish", ".config/git", ".config/autostart", ".config/environment.d",
    ".config/systemd", ".config/pip", ".config/nvim", ".local/bin", "bin", "Library/LaunchAgents",
    ".bashrc.d", ".zshrc.d", ".zsh", ".oh-my-zsh", ".xonshrc", ".elvish", ".config/zsh", ".config/bash",
    ".config/nushell", ".config/xonsh", ".config/elvish", ".config/direnv", ".direnvrc", ".envrc",
    ".config/mise", ".config/tmux", ".config/kitty", ".config/emacs", ".config/user-dirs.dirs", ".screenrc",
    ".vim", ".gvimrc", ".exrc", ".nanorc", ".emacs.d", ".gdbinit", ".lldbinit", ".pdbrc", ".ipython",
    ".irbrc", ".rprofile", ".sqliterc", ".psqlrc", ".curlrc", ".wgetrc", ".hgrc", ".mailcap", ".gemrc",
    ".yarnrc", ".yarnrc.yml", ".bunfig.toml", ".cargo/env", ".cargo/bin", ".cargo/config",
    ".cargo/config.toml", ".docker/config.json", ".kube/config", ".aws/config", ".m2/settings.xml",
    ".gradle/init.gradle", ".gradle/init.d", ".gradle/gradle.properties", ".nvm", ".pyenv/shims",
    ".local/lib",
    ".local/share/applications", ".local/share/systemd", "go/bin",
})  # fmt: skip
"""Beneath the home folder: files that a shell, a login or a common program runs or obeys by itself."""


_STARTS_SHELLS: Final = frozenset({
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc",
    ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login",
    ".logout",
})  # fmt: skip
"""What a shell starts with: protected at the root of any workspace, which may be a home elsewhere."""


class PathRefused(Exception):
    """A path may not be used; the message names it and says why."""

    def __init__(self, given: str, why: str, leads_to: str | None = None) -> None:
        super().__init__(f"{one_line(given, 160) or 'an empty path'}: {why}")
        self.given, self.why = given, why
        self.leads_to = leads_to
        """Where it really leads, if that could be found out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPath:
    """Where a path leads once every link is followed."""

    path: str
    """Absolute and real."""
    relative: str
    """From the workspace; `.` is the workspace itself."""
    exists: bool
    given: str = ""
    """As the call named it."""


def resolve(workspace: str, given: str) -> ResolvedPath:
    """Follow a path of a call to where it really leads.

    A relative path starts at the workspace. Links are followed before `..`, also where the last names do
    not exist yet; a backslash and `~` are ordinary characters.

    Raises:
        PathRefused: It leads outside the workspace, in a circle, or can be no path.
    """
    _require_possible(given)
    root = os.path.realpath(workspace)
    try:
        real = _real(os.path.join(root, given))  # noqa: PTH118 -- pathlib would drop a `.` or a `//`
    except OSError as error:
        raise PathRefused(given, os.strerror(error.errno or 0)) from None
    if real is None:
        raise PathRefused(given, "its links lead in a circle")
    if not is_below(real, root):
        raise PathRefused(given, f"leads outside the workspace, to {one_line(real, 120)}", real)
    return ResolvedPath(
        path=real, relative=os.path.relpath(real, root), exists=os.path.lexists(real), given=given
    )


def refuse_protected(
    found: ResolvedPath,
    workspace: str,
    closed: Iterable[str],
    *,
    writes: bool,
    governing: Iterable[str] = (),
) -> None:
    """Refuse a resolved path that is closed to agents, or that they may only read.

    Args:
        found: What `resolve` returned.
        workspace: The workspace.
        closed: Real paths that may be neither read nor written, nor anything below them.
        writes: Whether the call would change it.
        governing: More real paths that govern the workspace, such as its hook scripts.

    Raises:
        PathRefused: With the reason.
    """
    look = _look(found.path)
    for place in closed:
        real = os.path.realpath(place)
        if is_below(_folded(found.path), _folded(real)) or _is_also_in(look, real):
            raise PathRefused(found.given, "belongs to this program; no agent may touch it")
    if look is not None and not (stat.S_ISREG(look.st_mode) or stat.S_ISDIR(look.st_mode)):
        raise PathRefused(found.given, "is a pipe, a socket or a device, no file")
    if not writes:
        return
    root = os.path.realpath(workspace)
    why = _protection(found, root) or _git_place(found.path, root)
    if why is None and look is not None and stat.S_ISREG(look.st_mode) and look.st_nlink > 1:
        why = f"has {look.st_nlink} names (hard links), and what the others are cannot be seen"
    if why is None and _folded(found.path) in {_folded(os.path.realpath(path)) for path in governing}:
        why = "is run by the configuration (named by a hook or a manifest)"
    if why is not None:
        raise PathRefused(found.given, f"{why}; an agent may not write it")


def is_below(path: str, folder: str) -> bool:
    """Say whether a path is a folder or lies beneath it; both absolute and without `..`."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _require_possible(given: str) -> None:
    why = None
    if not given:
        why = "names nothing"
    elif "\0" in given:
        why = "holds a NUL character"
    else:
        why = _encoding_problem(given)
    if why is not None:
        raise PathRefused(given, why)


def _encoding_problem(given: str) -> str | None:
    try:
        raw = given.encode()
    except UnicodeEncodeError:
        return "holds half a surrogate pair, which no file name can"
    if len(raw) > _LONGEST_PATH or max(map(len, raw.split(b"/"))) > _LONGEST_NAME:
        return "is longer than a path can be"
    return None


def _real(path: str) -> str | None:
    """Follow every link; None for a circle.

    Not `os.path.realpath`: in a circle of links that leaves the rest of the path unresolved.
    """
    here, rest, followed = "/", _parts(path), 0
    while rest:
        name = rest.pop(0)
        if name == "..":
            here = os.path.dirname(here)  # noqa: PTH120 -- text, not a file
            continue
        step = f"{here.rstrip('/')}/{name}"
        target = _link_target(step)
        if target is None:
            here = step
            continue
        followed += 1
        if followed > _MOST_LINKS:
            return None
        here, rest = ("/" if target.startswith("/") else here), _parts(target) + rest
    return here


def _parts(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _link_target(path: str) -> str | None:
    """Return what a link points to; None where there is no link or nothing at all."""
    try:
        return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else None  # noqa: PTH115
    except (FileNotFoundError, NotADirectoryError):
        return None


def _look(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_also_in(look: os.stat_result | None, place: str) -> bool:
    """Say whether a file with several names has one of them right in a folder."""
    if look is None or look.st_nlink < 2 or not stat.S_ISREG(look.st_mode):
        return False
    try:
        with os.scandir(place) as entries:
            return any(
                entry.inode() == look.st_ino and entry.stat().st_dev == look.st_dev for entry in entries
            )
    except OSError:
        return False


def _git_place(path: str, root: str) -> str | None:
    """Refuse what git reads where `.git` is a file or a link, and repositories without a work tree."""
    places = (f"{root}/.git", *_named_by(f"{root}/.git"))
    if any(is_below(_folded(path), _folded(os.path.realpath(place))) for place in places):
        return "belongs to git"
    here = os.path.dirname(path)  # noqa: PTH120 -- text, not a file
    while is_below(here, root):
        if all(os.path.lexists(f"{here}/{name}") for name in ("HEAD", "objects", "refs")):
            return "belongs to git"
        here = os.path.dirname(here)  # noqa: PTH120
    return None


def _named_by(git_file: str) -> Iterator[str]:
    """Yield the folders that a `.git` file names, as worktrees and submodules have one."""
    for name, prefix in ((git_file, "gitdir:"), (f"{git_file}/commondir", "")):
        text = _short_text(name)
        if text is None or not text.startswith(prefix) or not text.removeprefix(prefix).strip():
            continue
        folder = os.path.join(os.path.dirname(name), text.removeprefix(prefix).strip())  # noqa: PTH118, PTH120
        yield folder
        if common := _short_text(f"{folder}/commondir"):
            yield os.path.join(folder, common.strip())  # noqa: PTH118


def git_folders(folder: str) -> tuple[str, ...]:
    """Return the places where git would read the settings of a work tree."""
    return (f"{folder}/.git", *_named_by(f"{folder}/.git"))


def short_text(path: str, most: int) -> str | None:
    """Return the first bytes of a regular file as text; None where there is none."""
    return _short_text(path, most)


def _short_text(path: str, most: int = _LONGEST_PATH) -> str | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            return None
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(most).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return None


def _protection(found: ResolvedPath, root: str) -> str | None:
    parts = [_spelled(name) for name in found.relative.split("/")]
    if ".git" in parts or "git~1" in parts:
        return "belongs to git"
    if parts[0] in {_folded(name) for name in GOVERNING}:
        return "governs this workspace"
    if found.path == root:
        return "is the workspace itself"
    if len(parts) == 1 and parts[0] in _STARTS_SHELLS:
        return "is run or obeyed by your shell or login"
    home = os.path.realpath(Path.home())
    if is_below(_folded(found.path), _folded(home)) and _is_home_name(os.path.relpath(found.path, home)):
        return "is run or obeyed by your shell or login"
    return None


def _is_home_name(relative: str) -> bool:
    parts = _folded(relative).split("/")
    return any("/".join(parts[:count]) in _FOLDED_HOME_NAMES for count in range(1, len(parts) + 1))


def _spelled(name: str) -> str:
    """Return a name without what some file systems drop from its end: dots, blanks, the name of a stream."""
    return _folded(name).partition(":")[0].rstrip(". ") or name


def folded(text: str) -> str:
    """Return a path without what file systems of macOS and Windows do not tell apart."""
    return _folded(text)


def _folded(text: str) -> str:
    """Fold what file systems of macOS and Windows do not tell apart: case, composition, ignorables."""
    visible = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFC", visible).casefold()


_FOLDED_HOME_NAMES: Final = frozenset(_folded(name) for name in HOME_NAMES)
