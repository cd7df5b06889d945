"""Paths that a call names: where they really lead, and whether that may be touched.

Owns resolving as the kernel does it (links before `..`) and the list of protected names. It looks at the
file system but never opens a file, and it must never call a path inside that could lead outside.
"""

import os
import re
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


_REPOSITORY_FOLDERS: Final = {"objects": "objects", "refs": "refs"}
_REPOSITORY_FILES: Final = {"head": "HEAD", "commondir": "commondir", "gitdir": "gitdir", "config": "config"}
_NAMES_REPOSITORY: Final = frozenset({"head", "commondir", "gitdir"})
"""No ordinary folder has one of these beside another name of a repository."""


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
    not exist yet. A backslash is an ordinary character; nothing is expanded, and a path that looks as if
    something were to be is refused unless that file exists.

    Raises:
        PathRefused: It leads outside the workspace, in a circle, can be no path, or is no plain one.
    """
    _require_possible(given)
    root = os.path.realpath(workspace)
    why = _expected(given)
    if why is not None and not _exists(os.path.join(root, given)):  # noqa: PTH118
        raise PathRefused(given, why)
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


_EXPECTED: Final = (
    (re.compile(r"~[\w.+-]*"), "write the path itself: ~ is not expanded here"),
    (
        re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})"),
        "write the path itself: variables are not expanded here",
    ),
    (re.compile(r"[A-Za-z]:(?:\\.*)?"), "there are no drives here: write the path from the workspace"),
)
"""What a first component may not look like, and what to do instead."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _expected(given: str) -> str | None:
    """Return why a path is none unless a file of that very name exists."""
    if _CONTROL.search(given):
        return "holds a control character; write the path without it"
    if _SCHEME.match(given):
        return "is an address, no path: write the path of the file"
    first = given.partition("/")[0]
    return next((f"is no plain path; {hint}" for form, hint in _EXPECTED if form.fullmatch(first)), None)


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _encoding_problem(given: str) -> str | None:
    try:
        raw = given.encode()
    except UnicodeEncodeError:
        return "holds half a surrogate pair, which no file name can"
    if len(raw) > _LONGEST_PATH or max(map(len, raw.split(b"/"))) > _LONGEST_NAME:
        return "is longer than a path can be"
    return None


def real_path(folder: str, path: str) -> tuple[str, bool] | None:
    """Follow every link of a path that begins in a real folder; None for a circle.

    Returns:
        Where it leads, and whether something is there.

    Raises:
        OSError: A part of it cannot be looked at.
    """
    return _followed(path, "/" if path.startswith("/") else folder)


def _real(path: str) -> str | None:
    """Follow every link; None for a circle.

    Not `os.path.realpath`: in a circle of links that leaves the rest of the path unresolved.
    """
    followed = _followed(path, "/")
    return followed and followed[0]


def _followed(path: str, start: str) -> tuple[str, bool] | None:
    here, rest, links, missing = start, _parts(path), 0, 0
    while rest:
        name = rest.pop(0)
        if name == "..":
            here = os.path.dirname(here)  # noqa: PTH120 -- text, not a file
            missing = max(0, missing - 1)
            continue
        step = f"{here.rstrip('/')}/{name}"
        target = None if missing else _link_target(step)
        missing += target is None
        if not target:
            here = step
            continue
        links += 1
        if links > _MOST_LINKS:
            return None
        here, rest = ("/" if target.startswith("/") else here), _parts(target) + rest
    return here, not missing


def _parts(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _link_target(path: str) -> str | None:
    """Return what a link points to; empty where there is no link, None where there is nothing at all."""
    try:
        return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else ""  # noqa: PTH115
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
    here, name = os.path.split(path)
    is_file = True
    while is_below(here, root):
        if _is_part(here, "HEAD") and (
            _is_part(here, "commondir") or (_is_part(here, "objects") and _is_part(here, "refs"))
        ):
            return "belongs to git"
        if beside := _part_beside(here, name, is_file):
            return f"with {beside} beside it makes its folder a git repository"
        here, name = os.path.split(here)
        is_file = False
    return None


def _part_beside(here: str, name: str, is_file: bool) -> str | None:
    """Return what stands in a folder that a name must not join; None where that is nothing.

    git takes a folder for a repository by its HEAD with objects and refs, or with a file that names where
    these are, and then obeys the config beside them. A folder is neither HEAD nor such a file.
    """
    part = _spelled(name)
    if part not in _REPOSITORY_FOLDERS and not (is_file and part in _REPOSITORY_FILES):
        return None
    for other, spelled in {**_REPOSITORY_FOLDERS, **_REPOSITORY_FILES}.items():
        if other != part and _NAMES_REPOSITORY & {part, other} and _is_part(here, spelled):
            return spelled
    return None


def _is_part(here: str, name: str) -> bool:
    look = _look(f"{here}/{name}")
    return look is not None and (name in ("objects", "refs") or not stat.S_ISDIR(look.st_mode))


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
    if found.path == root:
        return "is the workspace itself"
    return protection(found.path, found.relative, os.path.realpath(Path.home()))


def protection(path: str, relative: str, home: str) -> str | None:
    """Return why a path below the workspace is protected by its name, in words.

    Args:
        path: Real and absolute.
        relative: From the workspace.
        home: The real home folder.
    """
    parts = [_spelled(name) for name in relative.split("/")]
    if ".git" in parts or "git~1" in parts:
        return "belongs to git"
    if parts[0] in _FOLDED_GOVERNING:
        return "governs this workspace"
    if len(parts) == 1 and parts[0] in _STARTS_SHELLS:
        return "is run or obeyed by your shell or login"
    if is_below(_folded(path), _folded(home)) and _is_home_name(os.path.relpath(path, home)):
        return "is run or obeyed by your shell or login"
    return None


def obeyed_by_git(root: str) -> tuple[str, ...]:
    """Return the real folders that git obeys in a workspace, also where its `.git` is a file or a link."""
    look = _look(f"{root}/.git")
    is_ordinary = look is not None and stat.S_ISDIR(look.st_mode)
    if look is None or (is_ordinary and not os.path.lexists(f"{root}/.git/commondir")):
        return (f"{root}/.git",)
    return tuple(os.path.realpath(place) for place in (f"{root}/.git", *_named_by(f"{root}/.git")))


def is_bare_repository(folder: str) -> bool:
    """Say whether git takes a folder for a repository without a work tree."""
    return all(os.path.lexists(f"{folder}/{name}") for name in ("HEAD", "objects", "refs"))


def folded(text: str) -> str:
    """Return a name or path as a file system sees it that tells neither case nor composition apart."""
    return _folded(text)


def _is_home_name(relative: str) -> bool:
    parts = _folded(relative).split("/")
    return any("/".join(parts[:count]) in _FOLDED_HOME_NAMES for count in range(1, len(parts) + 1))


def _spelled(name: str) -> str:
    """Return a name without what some file systems drop from its end: dots, blanks, the name of a stream."""
    return _folded(name).partition(":")[0].rstrip(". ") or name


def _folded(text: str) -> str:
    """Fold what file systems of macOS and Windows do not tell apart: case, composition, ignorables."""
    if text.isascii():
        return text.lower()
    visible = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFC", visible).casefold()


_FOLDED_GOVERNING: Final = frozenset(_folded(name) for name in GOVERNING)
_FOLDED_HOME_NAMES: Final = frozenset(_folded(name) for name in HOME_NAMES)
