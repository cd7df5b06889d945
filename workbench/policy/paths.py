"""Paths that a call names: where they really lead, and whether they may be touched.

Follows every link as the kernel would. Looks at the file system and never writes.
"""

# A file with several names is not written for an agent, because what its other names are cannot be seen.

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.domain.values import WORKSPACE_CONFIG_FILE
from workbench.text.safe import one_line

MAX_PATH_LENGTH: Final = 4096
"""Bytes of a path that the kernel accepts."""
_LONGEST_NAME: Final = 255
_MOST_LINKS: Final = 40
GOVERNING_FILES: Final = (WORKSPACE_CONFIG_FILE, "workbench.yaml", "wave.yaml")
GOVERNING_FOLDERS: Final = (".workbench", ".wave", ".agents")
GOVERNING_NAMES: Final = (*GOVERNING_FILES, *GOVERNING_FOLDERS)
"""Names that trust covers at the root of a workspace; no agent may write them there or in a folder below."""
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
_SHELL_STARTUP_FILES: Final = frozenset({
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc",
    ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login",
    ".logout",
})  # fmt: skip
"""Protected at the root of any workspace, which may be a home folder elsewhere."""
_REPOSITORY_FOLDERS: Final = {"objects": "objects", "refs": "refs"}
_REPOSITORY_FILES: Final = {"head": "HEAD", "commondir": "commondir", "gitdir": "gitdir", "config": "config"}
_REPOSITORY_MARKERS: Final = frozenset({"head", "commondir", "gitdir"})
"""No ordinary folder has one of these beside another name of a repository."""


class PathRefused(Exception):
    """A path may not be used; the message names it and says why."""

    def __init__(self, path: str, why: str, leads_to: str | None = None) -> None:
        super().__init__(f"{one_line(path, 160) or 'an empty path'}: {why}")
        self.given, self.why = path, why
        self.leads_to = leads_to
        """Where it really leads, if known."""


class ResolvedPath(Struct, frozen=True, kw_only=True):
    """Where a path leads once every link is followed."""

    path: str
    """Absolute and real."""
    relative: str
    """From the workspace; `.` is the workspace itself, `..` begins what is outside."""
    exists: bool
    given: str = ""

    @property
    def is_outside(self) -> bool:
        return self.relative.split("/", 1)[0] == ".."


def resolve_path(
    workspace: str, path: str, folder: str = "", *, may_be_outside: bool = False
) -> ResolvedPath:
    """Follow a path of a call to where it really leads.

    A relative path begins in `folder`, by default in the workspace. Links are followed before `..`, also
    where the last names do not exist yet. Nothing is expanded; a path with `~` or `$NAME` is refused unless
    that very file exists. Raises PathRefused: it leads in a circle, cannot be a path, or leads outside the
    workspace although it may not.
    """
    _require_possible(path)
    root = os.path.realpath(workspace)
    given = os.path.join(os.path.realpath(folder or root), path)  # noqa: PTH118 -- pathlib drops `.` and `//`
    why = _unlikely_path_reason(path)
    if why is not None and not _exists(given):
        raise PathRefused(path, why)
    try:
        real = _real_path(given)
    except OSError as error:
        raise PathRefused(path, os.strerror(error.errno or 0)) from None
    if real is None:
        raise PathRefused(path, "its links lead in a circle")
    if not may_be_outside and not is_below(real, root):
        raise PathRefused(path, f"leads outside the workspace, to {one_line(real, 120)}", real)
    return ResolvedPath(
        path=real, relative=os.path.relpath(real, root), exists=os.path.lexists(real), given=path
    )


def refuse_link(folder: str, path: str) -> None:
    """Raise `PathRefused` for a path whose last name is a symbolic link, whatever it leads to."""
    _require_possible(path)
    look = _stat_identity(os.path.join(os.path.realpath(folder), path).rstrip("/"))  # noqa: PTH118
    if look is not None and stat.S_ISLNK(look.st_mode):
        raise PathRefused(path, "is a symbolic link; name the file itself")


def refuse_protected_path(
    target: ResolvedPath,
    workspace: str,
    closed: Iterable[str],
    *,
    writes: bool,
    governing: Iterable[str] = (),
) -> None:
    """Raise `PathRefused` for a path that agents may not touch, or, where the call writes, may only read."""
    look = _stat_identity(target.path)
    for place in closed:
        real = os.path.realpath(place)
        if is_below(folded_path(target.path), folded_path(real)) or _has_hard_link_in(look, real):
            raise PathRefused(target.given, "belongs to workbench; no agent may read or change it")
    if look is not None and not (stat.S_ISREG(look.st_mode) or stat.S_ISDIR(look.st_mode)):
        raise PathRefused(target.given, "is a pipe, a socket or a device, not a file")
    if not writes:
        return
    root = os.path.realpath(workspace)
    why = _protection_of_target(target, root) or _refuse_git_internals(target.path, root)
    if why is None and look is not None and stat.S_ISREG(look.st_mode) and look.st_nlink > 1:
        why = f"has {look.st_nlink} names (hard links), and where the others are is unknown"
    if why is None and folded_path(target.path) in {
        folded_path(os.path.realpath(path)) for path in governing
    }:
        why = "is run by the configuration (named by a hook or a manifest)"
    if why is not None:
        raise PathRefused(target.given, f"{why}; an agent may not write it")


def is_below(path: str, folder: str) -> bool:
    """Say whether a path is a folder or lies beneath it; both absolute and without `..`."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _require_possible(path: str) -> None:
    why = None
    if not path:
        why = "names nothing"
    elif "\0" in path:
        why = "holds a NUL character"
    else:
        why = _encoding_problem(path)
    if why is not None:
        raise PathRefused(path, why)


_UNLIKELY_PATHS: Final = (
    (re.compile(r"~[\w.+-]*"), "write the path itself: ~ is not expanded here"),
    (
        re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})"),
        "write the path itself: variables are not expanded here",
    ),
    (
        re.compile(r"[A-Za-z]:(?:\\.*)?"),
        "drive letters are not supported: write the path relative to the workspace",
    ),
)
"""Forms that a first component may not have, and what to do instead."""
_URL_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONTROL_CHARACTER: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _unlikely_path_reason(path: str) -> str | None:
    if _CONTROL_CHARACTER.search(path):
        return "holds a control character; write the path without it"
    if _URL_SCHEME.match(path):
        return "is a web address, not a path: write the path of the file"
    first = path.partition("/")[0]
    return next(
        (f"is not a plain path; {hint}" for form, hint in _UNLIKELY_PATHS if form.fullmatch(first)), None
    )


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _encoding_problem(path: str) -> str | None:
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        return "holds half a surrogate pair, which no file name can"
    if len(raw) > MAX_PATH_LENGTH or max(map(len, raw.split(b"/"))) > _LONGEST_NAME:
        return "is longer than a path can be"
    return None


def real_path(folder: str, path: str) -> tuple[str, bool] | None:
    """Return where a path leads from a real folder, and whether that exists; None for a circle of links."""
    return _followed(path, "/" if path.startswith("/") else folder)


def _real_path(path: str) -> str | None:
    """Unlike `os.path.realpath`, a circle of links gives None."""
    followed = _followed(path, "/")
    return followed and followed[0]


def _followed(path: str, start: str) -> tuple[str, bool] | None:
    folder, rest, links, missing = start, _parts(path), 0, 0
    while rest:
        name = rest.pop(0)
        if name == "..":
            folder = os.path.dirname(folder)  # noqa: PTH120 -- text, not a file
            missing = max(0, missing - 1)
            continue
        step = f"{folder.rstrip('/')}/{name}"
        target = None if missing else _link_target(step)
        missing += target is None
        if not target:
            folder = step
            continue
        links += 1
        if links > _MOST_LINKS:
            return None
        folder, rest = ("/" if target.startswith("/") else folder), _parts(target) + rest
    return folder, not missing


def _parts(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _link_target(path: str) -> str | None:
    try:
        return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else ""  # noqa: PTH115
    except (FileNotFoundError, NotADirectoryError):
        return None


def _stat_identity(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _has_hard_link_in(look: os.stat_result | None, place: str) -> bool:
    if look is None or look.st_nlink < 2 or not stat.S_ISREG(look.st_mode):
        return False
    try:
        with os.scandir(place) as entries:
            return any(
                entry.inode() == look.st_ino and entry.stat().st_dev == look.st_dev for entry in entries
            )
    except OSError:
        return False


def _refuse_git_internals(path: str, root: str) -> str | None:
    places = (f"{root}/.git", *_folders_named_by(f"{root}/.git"))
    if any(is_below(folded_path(path), folded_path(os.path.realpath(place))) for place in places):
        return "belongs to git"
    folder, name = os.path.split(path)
    is_file = True
    while is_below(folder, root):
        if _is_repository_part(folder, "HEAD") and (
            _is_repository_part(folder, "commondir")
            or (_is_repository_part(folder, "objects") and _is_repository_part(folder, "refs"))
        ):
            return "belongs to git"
        if beside := _repository_part_beside(folder, name, is_file):
            return f"with {beside} beside it makes its folder a git repository"
        folder, name = os.path.split(folder)
        is_file = False
    return None


def _repository_part_beside(folder: str, name: str, is_file: bool) -> str | None:
    """Git takes a folder with HEAD, objects and refs, or one that says where they are, for a repository."""
    part = _without_dropped_ending(name)
    if part not in _REPOSITORY_FOLDERS and not (is_file and part in _REPOSITORY_FILES):
        return None
    for other, spelled in {**_REPOSITORY_FOLDERS, **_REPOSITORY_FILES}.items():
        if other != part and _REPOSITORY_MARKERS & {part, other} and _is_repository_part(folder, spelled):
            return spelled
    return None


def _is_repository_part(folder: str, name: str) -> bool:
    look = _stat_identity(f"{folder}/{name}")
    return look is not None and (name in ("objects", "refs") or not stat.S_ISDIR(look.st_mode))


def _folders_named_by(git_file: str) -> Iterator[str]:
    for name, prefix in ((git_file, "gitdir:"), (f"{git_file}/commondir", "")):
        text = read_short_text(name)
        if text is None or not text.startswith(prefix) or not text.removeprefix(prefix).strip():
            continue
        folder = os.path.join(os.path.dirname(name), text.removeprefix(prefix).strip())  # noqa: PTH118, PTH120
        yield folder
        if common := read_short_text(f"{folder}/commondir"):
            yield os.path.join(folder, common.strip())  # noqa: PTH118


def git_config_folders(folder: str) -> tuple[str, ...]:
    """Return the folders where git would read the settings of a work tree."""
    return (f"{folder}/.git", *_folders_named_by(f"{folder}/.git"))


def read_short_text(path: str, most: int = MAX_PATH_LENGTH) -> str | None:
    """Return the first bytes of a regular file as text; None where there is none."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read(most).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return None


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def _protection_of_target(target: ResolvedPath, root: str) -> str | None:
    if target.path == root:
        return "is the workspace itself"
    if not _FOLDED_GOVERNING.isdisjoint(map(_without_dropped_ending, target.relative.split("/")[1:])):
        return "controls agents where its folder is opened as a workspace"
    return protection_reason(target.path, target.relative, os.path.realpath(Path.home()))


def protection_reason(path: str, relative: str, home: str) -> str | None:
    """Return why a real path below the workspace is protected by its name; `home` is the real home folder."""
    parts = [_without_dropped_ending(name) for name in relative.split("/")]
    if ".git" in parts or "git~1" in parts:
        return "belongs to git"
    if parts[0] in _FOLDED_GOVERNING:
        return "controls this workspace"
    if len(parts) == 1 and parts[0] in _SHELL_STARTUP_FILES:
        return "is run or obeyed by your shell or login"
    if is_below(folded_path(path), folded_path(home)) and _is_protected_home_name(
        os.path.relpath(path, home)
    ):
        return "is run or obeyed by your shell or login"
    return None


def folders_obeyed_by_git(root: str) -> tuple[str, ...]:
    """Return the real folders that git obeys in a workspace, also where its `.git` is a file or a link."""
    look = _stat_identity(f"{root}/.git")
    is_ordinary = look is not None and stat.S_ISDIR(look.st_mode)
    if look is None or (is_ordinary and not os.path.lexists(f"{root}/.git/commondir")):
        return (f"{root}/.git",)
    return tuple(os.path.realpath(place) for place in (f"{root}/.git", *_folders_named_by(f"{root}/.git")))


def is_bare_repository(folder: str) -> bool:
    """Say whether git takes a folder for a repository without a work tree."""
    return all(os.path.lexists(f"{folder}/{name}") for name in ("HEAD", "objects", "refs"))


def _is_protected_home_name(relative: str) -> bool:
    parts = folded_path(relative).split("/")
    return any("/".join(parts[:count]) in _FOLDED_HOME_NAMES for count in range(1, len(parts) + 1))


def _without_dropped_ending(name: str) -> str:
    """Drop what some file systems drop from the end of a name: dots, blanks, the name of a stream."""
    return folded_path(name).partition(":")[0].rstrip(". ") or name


def folded_path(text: str) -> str:
    """Fold what file systems of macOS and Windows do not tell apart: case, composition, ignorables."""
    if text.isascii():
        return text.lower()
    visible = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFC", visible).casefold()


_FOLDED_GOVERNING: Final = frozenset(folded_path(name) for name in GOVERNING_NAMES)
_FOLDED_HOME_NAMES: Final = frozenset(folded_path(name) for name in HOME_NAMES)
