"""Copies of whole folders, and of named files of one: reflinks where the file system has them.

A reflink shares its bytes with what it was made of until either is written; a hard link would go on sharing
them, so none is ever made.
"""

import contextlib
import errno
import fcntl
import os
import stat
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from workbench.effects import fault_points
from workbench.effects.file_primitives import FOLDER_FLAGS, FileMissing, FileRefused, translated_os_errors
from workbench.effects.files import Root
from workbench.effects.folders import MOST_FILES, SKIPPED_FOLDERS, make_folder, remove_tree

MOST_BYTES: Final = 4 * 1024**3
_CLONE: Final = 0x40049409
"""FICLONE of Linux: the request that makes one file a reflink of another."""
_NO_CLONES: Final = frozenset({
    errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM, errno.EACCES,
})  # fmt: skip
"""What a file system answers that makes no reflink of a file; a full disk is not among them."""
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PART_BYTES: Final = 1024 * 1024
_THREADS: Final = 2

OnCopied = Callable[[str], None]
"""Called with a folder's whole copy before it has its name."""


def copy_tree(
    source: str,
    target: str,
    *,
    is_readonly: bool,
    skip: frozenset[str] = frozenset(),
    on_copied: OnCopied | None = None,
) -> None:
    """Copy a folder or a file; links, devices, `SKIPPED_FOLDERS` and the real paths in `skip` are left out.

    With `is_readonly` every copy loses its write permission. Raises FileRefused: too large, or not copied.
    """
    copy = _TreeCopy(is_readonly=is_readonly)
    with translated_os_errors(source):
        make_folder(str(Path(target).parent))
        if Path(source).is_dir():
            _whole_or_nothing(target, lambda partial: copy.folder(source, partial, skip), on_copied)
            return
        with (
            _folder(str(Path(source).parent)) as source_folder,
            _folder(str(Path(target).parent)) as target_folder,
        ):
            copy.file(source_folder, Path(source).name, target_folder, source, Path(target).name)


def copy_named_files(
    source: str, target: str, names: Sequence[str], *, is_readonly: bool, on_copied: OnCopied | None = None
) -> list[str]:
    """Copy files of a folder by their paths in it; return those that are not there, or behind a link.

    Raises FileRefused: too large, or not copied.
    """
    copy, missing = _TreeCopy(is_readonly=is_readonly), list[str]()

    def copy_all(partial: str) -> None:
        make_folder(partial)
        with Root(source) as root:
            missing.extend(name for name in names if not copy.named_file(root, name, partial))
        copy.close_folders(os.path.normpath(f"{partial}/{name}") for name in _folders_of(names, missing))

    with translated_os_errors(source):
        make_folder(str(Path(target).parent))
        _whole_or_nothing(target, copy_all, on_copied)
    return missing


def _folders_of(names: Iterable[str], missing: Iterable[str]) -> list[str]:
    """Return the folders that files lie in, the topmost first."""
    names_present = set(names) - set(missing)
    above = {str(folder) for name in names_present for folder in Path(name).parents}
    return sorted(above, key=lambda name: (name != ".", name.count("/")))


def _whole_or_nothing(target: str, copy: Callable[[str], None], on_copied: OnCopied | None) -> None:
    """Make a copy beside its place: what a dead process left half-way is not taken for one."""
    partial = f"{target}.partial"
    remove_tree(partial)
    try:
        copy(partial)
        fault_points.fault_point("tree.copied")
        if on_copied is not None:
            on_copied(partial)
    except (OSError, FileRefused):
        with contextlib.suppress(OSError, FileRefused):
            remove_tree(partial)  # on a full disk it would be in the way of everything else
        raise
    os.rename(partial, target)  # noqa: PTH104 -- beside the calls below


class _folder(contextlib.AbstractContextManager[int]):  # noqa: N801 -- used like a function
    """An open folder, by its path."""

    def __init__(self, path: str) -> None:
        self._folder = os.open(path, FOLDER_FLAGS)

    def __enter__(self) -> int:
        return self._folder

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)


class _TreeCopy:
    """One copy under way: what it may still take, and whether reflinks work for it."""

    def __init__(self, *, is_readonly: bool) -> None:
        self._is_readonly = is_readonly
        self._files = self._bytes = 0
        self._lock, self._has_failed = threading.Lock(), False
        self._makes_clones = hasattr(fcntl, "ioctl")

    def folder(self, source: str, target: str, skip: frozenset[str]) -> None:
        """Make all folders, then the files of each in two threads, which mostly wait for the kernel."""
        folders: list[tuple[str, str, list[str]]] = []
        waiting = [(source, target)]
        while waiting:
            source_path, target_path = waiting.pop()
            os.mkdir(target_path, 0o700)  # noqa: PTH102 -- text
            names: list[str] = []
            with os.scandir(source_path) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        names.append(entry.name)
                    elif _is_entered(entry, f"{source_path}/{entry.name}", skip):
                        waiting.append((f"{source_path}/{entry.name}", f"{target_path}/{entry.name}"))
            folders.append((source_path, target_path, names))
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="copy") as threads:
            for _ in threads.map(self._files_of_folder, folders):
                pass
        self.close_folders(target_path for _, target_path, _ in folders)

    def _files_of_folder(self, folder: tuple[str, str, list[str]]) -> None:
        source_path, target_path, names = folder
        if not names or self._has_failed:
            return
        try:
            with _folder(source_path) as from_folder, _folder(target_path) as to_folder:
                for name in names:
                    self.file(from_folder, name, to_folder, f"{source_path}/{name}")
        except BaseException:
            self._has_failed = True  # nobody goes on with what is given up
            raise

    def close_folders(self, folders: Iterable[str]) -> None:
        for folder in reversed(list(folders)) if self._is_readonly else ():
            os.chmod(folder, 0o500)  # noqa: PTH101 -- text

    def named_file(self, root: Root, name: str, target: str) -> bool:
        """Copy a file by its path beneath a root; False for none, a link and what is skipped."""
        if not SKIPPED_FOLDERS.isdisjoint(Path(name).parts):
            return False
        with contextlib.ExitStack() as opened:
            try:
                source_folder, _ = opened.enter_context(root.folder(str(Path(name).parent)))
                status = os.stat(Path(name).name, dir_fd=source_folder, follow_symlinks=False)
            except (FileMissing, FileRefused, FileNotFoundError, NotADirectoryError):
                return False
            if not stat.S_ISREG(status.st_mode):
                return False
            make_folder(f"{target}/{Path(name).parent}")
            target_folder = opened.enter_context(_folder(f"{target}/{Path(name).parent}"))
            self.file(source_folder, Path(name).name, target_folder, name)
        return True

    def file(self, source_folder: int, name: str, target_folder: int, path: str, as_name: str = "") -> None:
        """Copy a file from one open folder into another; what has become none meanwhile is left out."""
        try:
            source = os.open(name, _READ_FLAGS, dir_fd=source_folder)
        except FileNotFoundError:
            return
        try:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode):
                return
            self._spend(path, status.st_size)
            target = os.open(as_name or name, _WRITE_FLAGS, 0o600, dir_fd=target_folder)
            try:
                self._content(source, target, status.st_size)
                mode = stat.S_IMODE(status.st_mode) & 0o755
                mode = mode & 0o555 if self._is_readonly else mode | 0o600
                if mode != 0o600:
                    os.fchmod(target, mode)
            finally:
                os.close(target)
        finally:
            os.close(source)

    def _content(self, source: int, target: int, size: int) -> None:
        if size and self._makes_clones:
            try:
                fcntl.ioctl(target, _CLONE, source)
                return
            except OSError as error:
                if error.errno not in _NO_CLONES:
                    raise
                self._makes_clones = False
        part_size = min(size + 1, _PART_BYTES)
        while data := os.read(source, part_size):
            is_last = len(data) < part_size  # of a file that grows, what comes later
            while data:
                data = data[os.write(target, data) :]
            if is_last:
                return

    def _spend(self, path: str, size: int) -> None:
        with self._lock:
            self._files += 1
            self._bytes += size
        if self._files > MOST_FILES or self._bytes > MOST_BYTES:
            why = f"it holds more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes"
            raise FileRefused(path, why, "mount a smaller folder, or use a worktree")


def _is_entered(entry: os.DirEntry[str], path: str, skip: frozenset[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name not in SKIPPED_FOLDERS and path not in skip
