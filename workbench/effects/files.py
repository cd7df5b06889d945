"""Files of a workspace by descriptors beneath its root; `Root` refuses links and files that changed."""

# A temporary file gets its name when it is whole (`O_TMPFILE`, then a link), so a death while it is written
# leaves nothing in a workspace. Where there are no files without a name, half of one goes after a minute.

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Self

from msgspec import Struct

from workbench.domain.values import Refused
from workbench.effects import file_primitives
from workbench.effects.file_primitives import (
    FOLDER_FLAGS,
    LARGEST_FILE,
    TEMPORARY_NAME,
    BaseMoved,
    FileKind,
    FileMissing,
    FileRefused,
    FileStamp,
    NotDurable,
    file_components,
    file_stamp,
    kind_of,
    open_folder,
    open_regular_file,
    path_components,
    read_all,
    require_regular,
    stat_name,
    sync_to_disk,
    translated_os_errors,
)

ExpectedContent = Callable[[bytes | None], bool]
Names = list[str]
_MOST_ENTRIES: Final = 100_000


class FileImage(Struct, frozen=True, kw_only=True):
    """A regular file as it was read."""

    data: bytes
    mode: int
    size: int
    links: int
    """Names of the file; more than 1 means that writing in place would change it elsewhere too."""


class FileStat(Struct, frozen=True, kw_only=True):
    """What is at a path; `kind` None and zeros if nothing."""

    kind: FileKind | None
    size: int = 0
    mode: int = 0
    links: int = 0


class FolderEntry(Struct, frozen=True, kw_only=True):
    """One name in a folder."""

    name: str
    kind: FileKind
    size: int


FolderEntries = list[FolderEntry]


class StagedFile(Struct, frozen=True, kw_only=True):
    """New bytes that wait beside their target."""

    path: str
    """The target, relative to the root."""
    temporary: str
    created: tuple[str, ...]
    """Folders that were missing, outermost first."""
    folder: tuple[int, int]
    """Device and inode of the folder, which must still be the one at this path."""
    file: FileStamp
    """The temporary file, which must still be the one that was written."""


class Root:
    """A folder by descriptor; every path below is relative to it and stays beneath it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a folder. Raises FileRefused: it is missing, no folder, or may not be entered."""
        self.path = str(Path(path).resolve())
        with translated_os_errors(self.path):
            self._folder = os.open(self.path, FOLDER_FLAGS)

    def close(self) -> None:
        """Give the descriptor back; twice is harmless."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def is_in_place(self) -> bool:
        """Return whether its path still leads to the folder that was opened."""
        try:
            return os.path.samestat(Path(self.path).stat(), os.fstat(self._folder))
        except OSError:
            return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def image(self, rel: str, limit: int | None = None) -> FileImage | None:
        """Read a regular file of `limit` bytes at most (256 MiB if not given); None if nothing is there.

        Raises FileRefused: it is or lies behind a link, is no regular file, too large, or cannot be read.
        """
        with contextlib.suppress(FileMissing), self._at(rel) as (directory, name):
            return _read_image(directory, name, rel, LARGEST_FILE if limit is None else limit)[0]
        return None

    def open_read(self, rel: str) -> BinaryIO:
        """Open a regular file to read it in parts. Raises FileMissing, and FileRefused as `image`."""
        with self._at(rel) as (directory, name):
            return os.fdopen(open_regular_file(directory, name, rel), "rb")

    def stage(self, rel: str, data: bytes, mode: int) -> StagedFile:
        """Write the bytes to a temporary file beside the target; missing folders are created.

        The target is a regular file or nothing; set-id bits of `mode` are dropped. Raises FileRefused:
        nothing is left of it, created folders included.
        """
        parts = file_components(rel)
        if TEMPORARY_NAME.fullmatch(parts[-1]):
            raise FileRefused(rel, "names of this form are kept for temporary files", "choose another name")
        created: list[str] = []
        try:
            with self._below(parts[:-1], rel, created) as directory, translated_os_errors(rel):
                return _stage_file(directory, parts[-1], rel, data, mode, created)
        except BaseException:
            self.remove_empty_folders(created)
            raise

    def commit(self, staged: StagedFile, expect: ExpectedContent) -> None:
        """Rename staged bytes into place if `expect`, given the target's bytes (None: no file), says so.

        Raises BaseMoved if it does not or the folder was exchanged, NotDurable if the file is in place but
        the folder was not synced, FileRefused if it was not renamed. The temporary file is gone afterwards.
        """
        try:
            with self._at(staged.path) as (directory, name):
                _commit_file(directory, name, staged, expect)
                _confirm_durable(directory, staged.path)
        except NotDurable:
            raise
        except BaseException:
            self.discard(staged)
            raise

    def discard(self, staged: StagedFile) -> None:
        """Remove the temporary file and those created folders that are empty; twice is harmless.

        Discard several in reverse order, so that folders are empty in time.
        """
        with contextlib.suppress(FileRefused), self._at(staged.path) as (directory, _):
            status = stat_name(directory, staged.temporary)
            if status and (status.st_dev, status.st_ino) == (staged.file.device, staged.file.inode):
                file_primitives.remove_file(directory, staged.temporary)
        self.remove_empty_folders(staged.created)

    def remove(self, rel: str, expect: ExpectedContent) -> None:
        """Remove a file if `expect` accepts its bytes. Raises as `commit`."""
        with self._at(rel) as (directory, name):
            if (stamp := _compare_file(directory, name, rel, expect)) is None:
                return
            with translated_os_errors(rel):
                _require_same(directory, name, rel, stamp)
                file_primitives.remove_file(directory, name)
            _confirm_durable(directory, rel)

    def make_directory(self, rel: str) -> Names:
        """Create a folder and those on the way; return the created paths, outermost first.

        Raises FileRefused: nothing was created.
        """
        created: list[str] = []
        try:
            with self._below(path_components(rel), rel, created):
                return created
        except BaseException:
            self.remove_empty_folders(created)
            raise

    def stat(self, rel: str) -> FileStat:
        """Say what is at a path without following it. Raises FileRefused: it lies behind a link."""
        parts = path_components(rel)
        try:
            with self._below(parts[:-1], rel) as directory, translated_os_errors(rel):
                status = stat_name(directory, parts[-1] if parts else ".")
        except FileMissing:
            status = None
        if status is None:
            return FileStat(kind=None)
        mode = stat.S_IMODE(status.st_mode)
        return FileStat(kind=kind_of(status.st_mode), size=status.st_size, mode=mode, links=status.st_nlink)

    def sweep(self, folders: Iterable[str], older_than: float) -> Names:
        """Remove temporary files of dead processes, older than so many seconds (0: all); return their paths.

        Folders that are missing or refused are passed over.
        """
        before = time.time() - older_than if older_than > 0 else float("inf")
        removed: list[str] = []
        for rel in folders:
            with (
                contextlib.suppress(FileRefused),
                self._below(path_components(rel), rel) as directory,
                translated_os_errors(rel),
            ):
                removed += [
                    "/".join((*path_components(rel), name)) for name in _sweep_folder(directory, before)
                ]
        return removed

    def list(self, rel: str) -> FolderEntries:
        """List a folder by name, links as links. Raises FileMissing; FileRefused: over 100,000 names."""
        with (
            self._below(path_components(rel), rel) as directory,
            translated_os_errors(rel),
            os.scandir(directory) as items,
        ):
            entries: FolderEntries = []
            for item in items:
                entries += _folder_entry(item)
                if len(entries) > _MOST_ENTRIES:
                    raise FileRefused(
                        rel, f"it has more than {_MOST_ENTRIES} names", "name a folder below it"
                    )
        return sorted(entries, key=lambda entry: entry.name)

    @contextlib.contextmanager
    def folder(self, rel: str) -> Generator[tuple[int, str], None, None]:
        """Give a folder's descriptor, and its path without `.`. Raises FileMissing, FileRefused."""
        parts = path_components(rel)
        with self._below(parts, rel) as directory:
            yield directory, "/".join(parts)

    @contextlib.contextmanager
    def _below(
        self, parts: tuple[str, ...], rel: str, created: Names | None = None
    ) -> Generator[int, None, None]:
        if self._folder < 0:
            raise ValueError("this root is closed")
        with contextlib.ExitStack() as stack:
            with translated_os_errors(rel):
                directory = stack.enter_context(open_folder(self._folder, parts, created))
            yield directory

    @contextlib.contextmanager
    def _at(self, rel: str) -> Generator[tuple[int, str], None, None]:
        parts = file_components(rel)
        with self._below(parts[:-1], rel) as directory:
            yield directory, parts[-1]

    def remove_empty_folders(self, created: Iterable[str]) -> None:
        """Remove folders that were created, outermost first, as far as they are empty."""
        for rel in reversed(tuple(created)):
            with contextlib.suppress(OSError, FileRefused), self._at(rel) as (directory, name):
                os.rmdir(name, dir_fd=directory)


def _read_image(directory: int, name: str, rel: str, limit: int) -> tuple[FileImage, FileStamp]:
    file = open_regular_file(directory, name, rel)
    try:
        data = read_all(file, rel, limit)
        status = os.fstat(file)
    finally:
        os.close(file)
    mode = stat.S_IMODE(status.st_mode)
    return FileImage(data=data, mode=mode, size=len(data), links=status.st_nlink), file_stamp(status)


def _stage_file(directory: int, name: str, rel: str, data: bytes, mode: int, created: Names) -> StagedFile:
    target = stat_name(directory, name)
    if target is not None:
        require_regular(target.st_mode, rel)
    new, written = file_primitives.write_temporary(
        directory, data, mode, like=None if target is None else name
    )
    folder = os.fstat(directory)
    return StagedFile(
        path=rel, temporary=new, created=tuple(created), folder=(folder.st_dev, folder.st_ino), file=written
    )


def _commit_file(directory: int, name: str, staged: StagedFile, expect: ExpectedContent) -> None:
    folder = os.fstat(directory)
    if (folder.st_dev, folder.st_ino) != staged.folder:
        raise BaseMoved(staged.path, "its folder was exchanged for another")
    stamp = _compare_file(directory, name, staged.path, expect)
    with translated_os_errors(staged.path):
        new = stat_name(directory, staged.temporary)
        if new is None or file_stamp(new) != staged.file or new.st_nlink != 1:
            raise FileRefused(staged.path, "its temporary file was changed by somebody else", "do it again")
        _require_same(directory, name, staged.path, stamp)
        try:
            place_file = file_primitives.put_new_file if stamp is None else file_primitives.replace_file
            place_file(directory, staged.temporary, name)
        except FileExistsError:
            raise BaseMoved(staged.path) from None


def _compare_file(directory: int, name: str, rel: str, expect: ExpectedContent) -> FileStamp | None:
    image, stamp = None, None
    with contextlib.suppress(FileMissing):
        image, stamp = _read_image(directory, name, rel, LARGEST_FILE)
    if not expect(image.data if image else None):
        raise BaseMoved(rel)
    return stamp


def _require_same(directory: int, name: str, rel: str, stamp: FileStamp | None) -> None:
    now = stat_name(directory, name)
    if (file_stamp(now) if now else None) != stamp:
        raise BaseMoved(rel)


def _confirm_durable(directory: int, rel: str) -> None:
    try:
        sync_to_disk(directory)
    except OSError as error:
        why = f"it is in place, but the disk did not confirm it ({os.strerror(error.errno or errno.EIO)})"
        raise NotDurable(rel, why, "check the disk", error.errno) from error


def _sweep_folder(directory: int, before: float) -> Iterator[str]:
    for name in sorted(filter(TEMPORARY_NAME.fullmatch, os.listdir(directory))):
        status = stat_name(directory, name)
        if (
            status
            and file_primitives.is_leftover_temporary(status, before)
            and file_primitives.remove_file(directory, name)
        ):
            yield name


def _folder_entry(item: os.DirEntry[str]) -> FolderEntries:
    try:
        status = item.stat(follow_symlinks=False)
    except FileNotFoundError:
        return []
    return [FolderEntry(name=item.name, kind=kind_of(status.st_mode), size=status.st_size)]


class NotAWorkspace(Refused):
    """A named folder does not exist, or is a file."""


def workspace_path(directory: str | None) -> str:
    """Return the real path of the named folder, else of the current one."""
    folder = directory if directory is not None else "."
    try:
        path = Path(folder).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or "the path cannot be followed"
        raise NotAWorkspace(f"“{folder}” is not a workspace", why, "name a folder that exists") from None
    if not path.is_dir():
        raise NotAWorkspace(f"“{folder}” is not a workspace", "it is a file", "name a folder with -C DIR")
    return str(path)
