"""Read the bytes of a configuration file as one located JSON object; refuse anything else with a reason."""

import os
import stat
from pathlib import Path

from workbench.text.json_nodes import JsonError, LocatedNode, parse_json_nodes

MAX_CONFIG_BYTES = 1_048_576


class UnreadableFile(Exception):
    """A file that is there and cannot be used as configuration."""

    def __init__(self, reason: str, remedy: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
        self.line = line
        self.column = column


def read_config_file(path: Path, *, may_be_link: bool) -> LocatedNode | None:
    """Return the object in a configuration file; None if the file does not exist.

    `may_be_link` is never true in a workspace. Raises UnreadableFile for anything else.
    """
    data = _read_bytes(path, may_be_link)
    if data is None:
        return None
    try:
        root = parse_json_nodes(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            "it is not UTF-8 text.", "Save it as UTF-8.", data.count(b"\n", 0, error.start) + 1
        ) from None
    except JsonError as error:
        raise UnreadableFile(f"{error.reason}.", "Correct it.", error.line, error.column) from None
    if root.members is None:
        raise UnreadableFile("it holds no JSON object.", 'Start it with "{".', root.line, root.column)
    return root


def _read_bytes(path: Path, may_be_link: bool) -> bytes | None:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if may_be_link else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = "it is a link." if path.is_symlink() and not may_be_link else f"{error.strerror}."
        raise UnreadableFile(reason, "Make it a regular file that you can read.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableFile("it is not a regular file.", "Make it a regular file.")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MAX_CONFIG_BYTES + 1)
    if len(data) > MAX_CONFIG_BYTES:
        raise UnreadableFile("it is over 1 MB.", "A configuration is smaller; look what was put there.")
    return data
