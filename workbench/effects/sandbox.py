"""Turn the words of a command into the words that run it in a sandbox, a box: what it sees and can write.

bubblewrap builds a new root from the paths that the box names, without the network. Landlock refuses writes
elsewhere and the network, and hides nothing. `sandbox_proof.py` tells which of them works here.
"""

# bubblewrap mounts in the order of its words, and looks at all mounts again for each: the parts of a box are
# put into the order of their paths, so that what lies deeper holds, and there are as few as possible.
#
# What brings mounts of its own (/sys) comes last, and what looks at a mount again comes early.
#
# A folder that leads to a mount in a writable place is mounted too, since the kernel only keeps mounted
# folders from being renamed.

import base64
import os
import re
import stat
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.sandbox_strength import SandboxStrength, strength_of
from workbench.domain.values import SandboxBackend, SandboxLevel
from workbench.effects import landlock_start
from workbench.effects.box_start import FILTER_OPTION
from workbench.effects.file_primitives import FileKind
from workbench.effects.files import Root
from workbench.effects.folders import make_empty_file, make_folder, remove_below
from workbench.effects.own_processes import own_interpreter
from workbench.effects.syscall_filter import FilterName, syscall_filter


class Sandbox(Struct, frozen=True, kw_only=True):
    """What commands can be boxed with on this machine."""

    backend: SandboxBackend
    program: str = ""
    """Absolute path of bubblewrap."""
    problem: str = ""
    """Why it is not a full sandbox, in one sentence; empty for bubblewrap."""
    remedy: str = ""
    is_unsure: bool = False
    """Whether there may be one that could not be tried, such as on a machine without free memory."""

    @property
    def strength(self) -> SandboxStrength:
        """Return how much it holds."""
        return strength_of(self.backend)


class BoxDescription(Struct, frozen=True, kw_only=True):
    """What one command sees and can write; all paths are absolute and without links."""

    level: SandboxLevel
    workspace: str
    folder: str
    """Where the command starts."""
    visible: tuple[str, ...]
    """What is shown besides the system and the workspace; it cannot be written."""
    shown_as: tuple[tuple[str, str], ...] = ()
    """Real paths that are shown at another path too: names in the home folder that are links."""
    closed: tuple[str, ...]
    """Existing paths in a writable place that stay as they are."""
    hidden: tuple[str, ...]
    """Existing paths that cannot be read."""
    writable: tuple[str, ...] = ()
    home: str
    temporary: str
    """A folder that is shown as /tmp and /var/tmp."""
    caches: str
    """A folder whose folders are shown in the home folder, such as `cache` as ~/.cache."""
    can_nest: bool = False
    """Whether it may make namespaces, as an agent that boxes its own commands by bubblewrap must: it can then
    replace a closed path by another one, which is only noticed afterwards."""


CACHE_FOLDERS: Final = (".cache", ".npm", ".cargo", ".gradle", ".m2", "go")
"""Folders of the home folder where programs keep what they can make or fetch again."""
SYSTEM_FOLDERS: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/sys",
    "/home/linuxbrew/.linuxbrew", "/var/lib/dpkg", "/var/lib/ca-certificates",
)  # fmt: skip
_HIDDEN_OF_SYSTEM: Final = ("/sys/kernel", "/sys/firmware")
"""Of root, who could read them without privileges too."""
_KERNEL_SETTINGS: Final = (
    "sys", "fs", "scsi", "acpi", "mtrr", "driver", "asound", "dynamic_debug", "latency_stats",
)  # fmt: skip
"""In /proc: root could write these also without privileges, since they are files of root. bubblewrap itself
covers sysrq-trigger, irq and bus."""
_TEMPORARY_PLACES: Final = ("/tmp", "/var/tmp")
_MASK: Final = "/dev/null"
_LAST: Final = "/sys"


def boxed_argv(sandbox: Sandbox, box: BoxDescription, argv: Sequence[str]) -> tuple[str, ...]:
    """Return the words that run a command in a box; give them to `prepare_command(is_boxed=True)`.

    Raises ValueError for a sandbox whose backend is none.
    """
    match sandbox.backend:
        case "bubblewrap":
            return (sandbox.program, *_bubblewrap_options(box), "--", *argv)
        case "landlock":
            return (*_landlock_options(box), "--", *argv)
        case "none":
            raise ValueError("there is no sandbox to run it in")


def boxed_environment(environment: Mapping[str, str], box: BoxDescription) -> dict[str, str]:
    """Return an environment without what leads out of a box, such as sockets of agents and displays."""
    passed = {name: value for name, value in environment.items() if not _OUTWARD_NAME.fullmatch(name)}
    own = {"HOME": box.home, "PWD": box.folder, "TMPDIR": _TEMPORARY_PLACES[0], "GIT_OPTIONAL_LOCKS": "0"}
    return {**passed, **own}


_OUTWARD_NAME: Final = re.compile(
    r"(SSH|GPG|DBUS|WAYLAND|DOCKER|PODMAN|CONTAINER|BUILDKIT|PULSE|PIPEWIRE|VSCODE|TMUX|KRB5|WSL)_?[A-Z0-9_]*"
    r"|[A-Z0-9_]*_(SOCK|SOCKET|AUTH_SOCK)|DISPLAY|XAUTHORITY|ICEAUTHORITY|SESSION_MANAGER|SWAYSOCK|I3SOCK|STY"
    r"|KUBECONFIG|XDG_(RUNTIME_DIR|CACHE_HOME|SESSION_[A-Z]+)|TMPDIR|TMP|TEMP|TEMPDIR"
    r"|(PIP|UV|npm_config|NPM_CONFIG|YARN|POETRY|PRE_COMMIT|HF|CCACHE)_(CACHE|CACHE_DIR|cache|HOME|DIR)"
    r"|GOCACHE|GOMODCACHE|GOPATH|CARGO_HOME|GRADLE_USER_HOME"
)
"""Also where caches are: in a box they are in the home folder."""


def make_places(box: BoxDescription) -> None:
    """Make the folders of a box that are ours, and what is mounted on in them. Raises FileRefused."""
    _parts.cache_clear()
    inner = [part for part in _parts(box) if part.holder]
    for place, source in _own_places(box):
        make_folder(source)
        held = {
            part.place[len(place) + 1 :]: part.is_folder
            for part in inner
            if _is_below(part.holder, source) and _is_below(part.place, place)
        }
        if not all(_is_made(f"{source}/{path}", is_folder=held[path]) for path in held):
            with Root(source) as root:
                for path, is_folder in held.items():
                    _make_place(root, path, is_folder=is_folder)
    for folder in (os.path.dirname(box.temporary), box.caches):  # noqa: PTH120 -- text
        os.utime(folder)  # what was not used for long is removed


def _is_made(path: str, *, is_folder: bool) -> bool:
    """Return whether a folder or a file is there; of the folders on the way to it that is known."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) if is_folder else stat.S_ISREG(mode)


def _make_place(root: Root, path: str, *, is_folder: bool) -> None:
    """Make a folder or an empty file, in the place of anything else, such as a link that a command left."""
    wanted: FileKind = "folder" if is_folder else "file"
    there = root.stat(path).kind
    if there == wanted:
        return
    if there is not None:
        remove_below(root, path)
    if is_folder:
        root.make_directory(path)
    else:
        make_empty_file(root, path)


# --- what is mounted ------------------------------------------------------------------------------

_Kind = Literal["shown", "writable", "hidden", "empty"]


class _Part(Struct, frozen=True, kw_only=True):
    """One mount."""

    place: str
    kind: _Kind
    source: str = ""
    is_folder: bool = True
    holder: str = ""
    """The source of the writable mount in which the place is; empty where it is in none."""


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _is_in_one_of(path: str, folders: frozenset[str]) -> bool:
    """Return whether a path is one of some folders or lies in one; there may be many."""
    while path not in folders and path not in ("", "/"):
        path = os.path.dirname(path)  # noqa: PTH120 -- text
    return path in folders


def _own_places(box: BoxDescription) -> Iterator[tuple[str, str]]:
    """Yield the places in the box of folders that are ours, and those folders."""
    yield from ((place, box.temporary) for place in _TEMPORARY_PLACES)
    home = box.home.rstrip("/")
    yield from ((f"{home}/{name}", f"{box.caches}/{name.lstrip('.')}") for name in CACHE_FOLDERS)


@lru_cache(maxsize=1)
def _parts(box: BoxDescription) -> tuple[_Part, ...]:
    """Return what is mounted, in the order of paths; of two at one place the stricter one.

    Kept from `make_places` to the words that are made next.
    """
    is_workspace = box.level == "workspace"
    writable = frozenset((box.workspace, *box.writable) if is_workspace else ())
    hidden = frozenset(box.hidden)
    parts = {path: _shown(path, path) for path in _system_folders()}
    if box.home != "/":
        parts[box.home] = _Part(place=box.home, kind="empty")
    for source, place in (*((path, path) for path in box.visible), *box.shown_as):
        if not (_is_in_one_of(place, writable) or _is_in_one_of(source, hidden)):
            parts[place] = _shown(place, source)
    for place, source in _own_places(box):
        parts[place] = _Part(place=place, kind="writable", source=source)
    parts[box.workspace] = _shown(box.workspace, box.workspace)
    for path in writable:
        parts[path] = _Part(place=path, kind="writable", source=path)
    for path in box.closed if is_workspace else ():
        parts[path] = _shown(path, path)
    for source, place in _hidden_places(box):
        parts[place] = _Part(place=place, kind="hidden", source=source, is_folder=os.path.isdir(source))  # noqa: PTH112
    ordered = sorted(parts.values(), key=lambda part: (_is_below(part.place, _LAST), part.place.split("/")))
    return tuple(_needed(ordered, (box.workspace, *writable)))


def _hidden_places(box: BoxDescription) -> Iterator[tuple[str, str]]:
    """Yield hidden paths and their places, of which some have several."""
    of_system = filter(os.path.isdir, _HIDDEN_OF_SYSTEM) if os.geteuid() == 0 else ()
    for path in (*box.hidden, *of_system):
        yield path, path
        for source, place in box.shown_as:
            if _is_below(path, source):
                yield path, f"{place}{path[len(source) :]}"


def _shown(place: str, source: str) -> _Part:
    return _Part(place=place, kind="shown", source=source, is_folder=os.path.isdir(source))  # noqa: PTH112


def _system_folders() -> Iterator[str]:
    return (path for path in SYSTEM_FOLDERS if os.path.isdir(path) and not os.path.islink(path))  # noqa: PTH112, PTH114


def _needed(ordered: Sequence[_Part], asked: Container[str]) -> Iterator[_Part]:
    """Leave out what the mount around it shows as well, and add the folders on the way in writable ones."""
    around: list[_Part] = []
    for part in ordered:
        while around and not _is_below(part.place, around[-1].place):
            around.pop()
        outer = around[-1] if around else None
        if not _is_needed(part, outer, is_asked=part.place in asked):
            continue
        for mounted in _with_way(part, outer):
            around.append(mounted)
            yield mounted


def _is_needed(part: _Part, outer: _Part | None, *, is_asked: bool) -> bool:
    if outer is None:
        return part.kind != "hidden"
    if outer.kind == "hidden":
        return is_asked
    if part.kind == "hidden":
        return part.source == _source_in(outer, part.place)
    return part.kind != outer.kind or part.source != _source_in(outer, part.place)


def _with_way(part: _Part, outer: _Part | None) -> Iterator[_Part]:
    if outer is None or outer.kind != "writable":
        yield part
        return
    holder, start = outer.source, len(outer.place) + 1
    names = part.place[start:].split("/")
    for count in range(1, len(names)):
        place = f"{outer.place}/{'/'.join(names[:count])}"
        yield _Part(place=place, kind="writable", source=_source_in(outer, place), holder=holder)
        holder = _source_in(outer, place)
    yield replace(part, holder=holder)


def _source_in(outer: _Part, place: str) -> str:
    return f"{outer.source}{place[len(outer.place) :]}"


# --- bubblewrap -----------------------------------------------------------------------------------


def _bubblewrap_options(box: BoxDescription) -> Iterator[str]:
    yield from (
        "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
        "--unshare-cgroup-try", "--die-with-parent", "--cap-drop", "ALL",
        FILTER_OPTION, _filter_name(box),
        "--dev", "/dev", "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
        "--proc", "/proc", *_kernel_settings(), "--dir", "/run",
    )  # fmt: skip
    for link in SYSTEM_FOLDERS:
        if os.path.islink(link):  # noqa: PTH114 -- text
            yield from ("--symlink", os.readlink(link), link)  # noqa: PTH115 -- text
    yield from _mounts(_parts(box))
    yield from ("--remount-ro", "/", "--chdir", box.folder)


def _filter_name(box: BoxDescription) -> FilterName:
    if box.can_nest:
        return "agent-setgid" if _has_setgid(box.workspace) else "agent"
    return "command-setgid" if _has_setgid(box.workspace) else "command"


def _landlock_filter_name(box: BoxDescription) -> FilterName:
    return "landlock-setgid" if _has_setgid(box.workspace) else "landlock"


def _has_setgid(folder: str) -> bool:
    try:
        return bool(os.stat(folder).st_mode & stat.S_ISGID)  # noqa: PTH116 -- text
    except OSError:
        return False


def _kernel_settings() -> Iterator[str]:
    """Yield what keeps root from writing the settings of the kernel, which are files of root."""
    if os.geteuid() == 0:
        for path in filter(os.path.lexists, (f"/proc/{name}" for name in _KERNEL_SETTINGS)):
            yield from ("--ro-bind", path, path)


def _mounts(parts: Sequence[_Part]) -> Iterator[str]:
    """Yield what mounts parts of a box; an empty folder is read-only as soon as nothing more comes in it."""
    emptied: list[str] = []
    for number, part in enumerate(parts):
        while emptied and not _is_below(part.place, emptied[-1]):
            yield from ("--remount-ro", emptied.pop())
        yield from _mount_words(part, parts[number + 1 : number + 2])
        if part.kind in ("hidden", "empty") and part.is_folder:
            emptied.append(part.place)
    for place in reversed(emptied):
        yield from ("--remount-ro", place)


def _mount_words(part: _Part, following: Sequence[_Part]) -> tuple[str, ...]:
    match part.kind:
        case "shown":
            return ("--ro-bind", part.source, part.place)
        case "writable":
            return ("--bind", part.source, part.place)
        case "empty":
            return ("--tmpfs", part.place)
        case "hidden" if not part.is_folder:
            return ("--ro-bind", _MASK, part.place)
        case "hidden":
            has_deeper = any(_is_below(deeper.place, part.place) for deeper in following)
            return ("--perms", "0111" if has_deeper else "0000", "--tmpfs", part.place)


# --- Landlock -------------------------------------------------------------------------------------


def _landlock_options(box: BoxDescription) -> Iterator[str]:
    """Yield the words that start the command by `landlock_start.py`, with the same writable places."""
    yield from (own_interpreter(), "-I", "-S", landlock_start.__file__)
    writable = (box.workspace, *box.writable) if box.level == "workspace" else ()
    for path in (*writable, box.temporary, box.caches):
        yield from ("--write", path)
    variables = {
        "TMPDIR": box.temporary,
        "XDG_CACHE_HOME": f"{box.caches}/cache",
        "npm_config_cache": f"{box.caches}/npm",
    }
    for name, value in variables.items():
        yield from ("--set", f"{name}={value}")
    yield from ("--filter", base64.b64encode(syscall_filter(_landlock_filter_name(box))).decode("ascii"))
    yield from ("--chdir", box.folder)
