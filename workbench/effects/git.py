"""git by its plumbing: an index of its own, hooks and helpers off, nothing that reaches the network.

Owns how git is started and its scratch files. It never touches the user's index or working tree, never checks
anything out and never pushes; what is committed is decided elsewhere.
"""

import contextlib
import os
import tempfile
from collections.abc import Container, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.effects.hook import run_hook
from workbench.effects.spawn import NotStarted

MOST_SECONDS: Final = 60.0
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of one answer."""

_NOT_FOUND: Final = 127
_SETTINGS: Final = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.quotePath=false", "gc.auto=0",
    "maintenance.auto=false", "protocol.allow=never", "credential.helper=", "i18n.commitEncoding=UTF-8",
)  # fmt: skip
_ENVIRONMENT: Final = {
    "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_PAGER": "cat",
}  # fmt: skip


class GitFailed(Exception):
    """git did not do something; the message is what it said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """git in one folder, with a scratch folder for its index."""

    folder: str
    environment: Mapping[str, str]
    """Already scrubbed."""
    scratch: Path

    def run(self, *arguments: str, stdin: bytes = b"", no: Container[int] = ()) -> bytes:
        """Run git and return what it printed.

        Args:
            arguments: The command and what follows it.
            stdin: Written to it.
            no: Exit codes that are an answer, for which nothing is returned.

        Raises:
            GitFailed: With what git said; also where it is missing or takes too long.
        """
        code, output, said = self._run(arguments, stdin)
        if code == 0:
            return output
        if code is not None and code in no:
            return b""
        raise GitFailed(said or f"git {arguments[0]} ended with {code}")

    def merge(self, ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
        """Return our bytes with the change from base to theirs; None where both changed the same lines."""
        paths = [self.scratch / name for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        code, output, said = self._run(("merge-file", "-p", "-q", *map(str, paths)), b"")
        if code is None or code == _NOT_FOUND:
            raise GitFailed(said)
        return output if code == 0 else None

    def _run(self, arguments: Sequence[str], stdin: bytes) -> tuple[int | None, bytes, str]:
        errors = self.scratch / "stderr"
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        # The shell only sends away what git says beside its answer; no argument is read by it.
        argv = ("/bin/sh", "-c", 'exec 2>"$0"; exec git "$@"', str(errors), *settings, *arguments)
        try:
            end = run_hook(argv, stdin, self.folder, self.environment, MOST_SECONDS, keep=LARGEST + 1)
        except NotStarted as error:
            raise GitFailed(str(error)) from None
        if len(end.output) > LARGEST:
            raise GitFailed(f"git {arguments[0]} printed more than {LARGEST} bytes")
        said = (
            " ".join(errors.read_bytes()[:2000].decode("utf-8", "replace").split()) if errors.exists() else ""
        )
        if end.code == _NOT_FOUND:
            said = "git is not installed"
        elif end.timed_out:
            said = f"git {arguments[0]} took longer than {MOST_SECONDS:g} s"
        return end.code, end.output, said


@contextlib.contextmanager
def git_in(folder: str, environment: Mapping[str, str], objects: str | None = None) -> Generator[Git]:
    """Provide git in a folder with an index of its own, which is gone afterwards.

    Args:
        folder: Real path.
        environment: Already scrubbed.
        objects: The repository's folder of objects: what is made then goes to a scratch folder and only what
            is there is read from it. None: objects are kept.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-git-") as made:
        scratch = Path(made)
        own = {"GIT_INDEX_FILE": str(scratch / "index")}
        if objects is not None:
            (scratch / "objects").mkdir()
            own |= {
                "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects,
            }
        kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        yield Git(
            folder=os.path.realpath(folder), environment={**kept, **_ENVIRONMENT, **own}, scratch=scratch
        )
