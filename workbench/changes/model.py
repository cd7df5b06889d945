"""The one shape of a proposed change that everything in this package speaks of.

Owns `FileChange`, which holds exact bytes and is therefore never recorded; what is recorded of it are
hunks and keyed digests. Never reads or writes files.
"""

from collections.abc import Iterable

from workbench.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """Exact bytes of one file before and after; DESIGN section 6."""

    path: str
    """Relative to the workspace, with `/` between its parts."""
    before: bytes | None
    """None: there is no file yet."""
    after: bytes | None
    """None: the file is deleted."""
    mode: int
    """Permission bits that the file has after the change."""


def refuse_repeated(paths: Iterable[str]) -> None:
    """Raise ValueError naming the first path that occurs twice: one action changes a file once."""
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            raise ValueError(f"{path} is changed twice in one action")
        seen.add(path)
