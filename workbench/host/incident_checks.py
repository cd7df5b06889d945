"""What a driver of incidents sees of a workspace: files that differ, where lines are, what the checker says.

The checker is a command that a human named. It runs as hooks do, without secrets in its environment, in a
process group of its own, for a limited time, and what it prints is data.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from msgspec import DecodeError, Struct, field, json

from workbench.effects.child_processes import ProcessNotStarted
from workbench.effects.command_execution import CommandExit, prepare_command
from workbench.effects.file_primitives import FileRefused, FileStamp
from workbench.effects.files import Root
from workbench.effects.folders import WalkedFolder
from workbench.formats.findings.place import line_digest, read_lines
from workbench.formats.findings.raw import FindingsUnreadable
from workbench.formats.findings.read import FindingsFile, read_findings
from workbench.host import redaction
from workbench.host.driver_context import DriverContext
from workbench.incidents.comparison import LineCarrier, LineDigests
from workbench.policy.hooks import absolute_search_path
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line, safe_text
from workbench.tools.file_search import IgnoreFilter

CHECK_SECONDS: Final = 300.0
"""Seconds that a checker may take."""
MOST_CHECK_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes that it may print."""
_KEPT_OUTPUT: Final = 200_000
_MOST_FILES: Final = 100_000
_MOST_HASHED: Final = 32 * 1024 * 1024
"""Bytes of a file whose content is hashed; a larger one is known by size and time."""


class WorkspaceDigests:
    """The digests of a workspace's files; a file that looks untouched is not read again."""

    def __init__(self, root: Root, keyed: Callable[[bytes], str]) -> None:
        """`keyed`: the home's digest, which says nothing to who has no key."""
        self._root, self._keyed = root, keyed
        self._known: dict[str, tuple[FileStamp, str]] = {}
        self._is_cut = self._is_said = False
        """Whether there are more files than are looked at."""

    def take(self) -> dict[str, str]:
        """Return the digest of each file that is not ignored, by its path."""
        known, self._known, self._is_cut = self._known, {}, False
        for folder in IgnoreFilter(self._root, _is_open, with_ignored=False).folders("."):
            for name in folder.files:
                if len(self._known) >= _MOST_FILES:
                    self._is_cut = True
                    return self._digests()
                self._look(folder, name, known)
        return self._digests()

    def cut_words(self) -> str:
        """Return what is to be said of a folder with more files than are looked at; said once."""
        if not self._is_cut or self._is_said:
            return ""
        self._is_said = True
        return f"The folder has more than {_MOST_FILES:,} files: files_modified may be incomplete."

    def _look(self, folder: WalkedFolder, name: str, known: dict[str, tuple[FileStamp, str]]) -> None:
        path, stamp = folder.below(name), folder.stamp(name)
        if stamp is None:
            return
        before = known.get(path)
        if before is not None and before[0] == stamp:
            self._known[path] = before
            return
        try:
            self._known[path] = (stamp, self._digest(folder, name, stamp))
        except (FileRefused, OSError):
            return

    def _digest(self, folder: WalkedFolder, name: str, stamp: FileStamp) -> str:
        if stamp.size > _MOST_HASHED:
            return f"{stamp.size}-{stamp.changed}"
        with folder.open(name) as file:
            return self._keyed(file.read())[:24]

    def _digests(self) -> dict[str, str]:
        return {path: digest for path, (_, digest) in self._known.items()}


def _is_open(path: str) -> bool:
    del path
    return False


def decode_line_digests(data: bytes | None) -> LineDigests:
    """Return what is kept of the files of a list; nothing where that is gone."""
    try:
        return json.decode(data, type=dict[str, list[str]]) if data else {}
    except DecodeError:
        return {}


def line_carrier(root: Root, before: LineDigests) -> LineCarrier:
    """Return what carries lines of a list to the files as they are now."""
    return LineCarrier(before, lambda path: [line_digest(line) for line in read_lines(root, path)])


class CheckResult(Struct, frozen=True, kw_only=True):
    """How a run of the checker ended."""

    findings: FindingsFile | None = None
    """None where nothing could be read; `problem` says why."""
    problem: str = ""
    output: str = ""
    """What it printed, scrubbed, its beginning."""
    exit_code: int | None = None
    duration_ms: int = 0


class _Output(Struct):
    printed: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)


async def run_checker(context: DriverContext, command: str, stop: asyncio.Event | None = None) -> CheckResult:
    """Run a checker in the workspace and read what it prints; whatever it does is a result, no error."""
    path = absolute_search_path(context.environment.get("PATH", ""))
    environment = {**context.environment, "PATH": path} if path else dict(context.environment)
    output = _Output()
    try:
        prepared = prepare_command(
            ("/bin/sh", "-c", command), context.workspace, environment, f"check-{context.clock.new_id()}",
            is_apart=True,
        )  # fmt: skip
    except ProcessNotStarted as error:
        return CheckResult(problem=f"it was not started: {error}")
    ended = await prepared.go(
        output.errors.extend, CHECK_SECONDS, stop, MOST_CHECK_OUTPUT, on_stdout=output.printed.extend
    )
    return await asyncio.to_thread(_read_result, context, bytes(output.printed), bytes(output.errors), ended)


def _read_result(context: DriverContext, printed: bytes, errors: bytes, ended: CommandExit) -> CheckResult:
    facts = CheckResult(
        exit_code=ended.code, duration_ms=max(0, round(ended.duration * 1000)),
        output=_kept_text(printed if printed.strip() else errors),
    )  # fmt: skip
    if broken := _broken_end(ended):
        return _with_problem(facts, broken)
    try:
        findings = read_findings(printed, context.root)
    except FindingsUnreadable as error:
        return _with_problem(facts, f"{_exit_words(ended)}, and {error}{_first_line(errors or printed)}")
    return CheckResult(
        findings=findings, output=facts.output, exit_code=facts.exit_code, duration_ms=facts.duration_ms
    )


def _with_problem(facts: CheckResult, problem: str) -> CheckResult:
    return CheckResult(
        problem=problem, output=facts.output, exit_code=facts.exit_code, duration_ms=facts.duration_ms
    )


def _broken_end(ended: CommandExit) -> str:
    if ended.timed_out:
        return f"it took longer than {ended.duration:.0f} s and was ended"
    if ended.flooded:
        return f"it printed more than {MOST_CHECK_OUTPUT // 1024 // 1024} MB and was ended"
    if ended.stopped:
        return "it was stopped"
    return f"it was ended by signal {ended.signal}" if ended.signal is not None else ""


def _exit_words(ended: CommandExit) -> str:
    return f"it ended with {ended.code}"


def _first_line(data: bytes) -> str:
    text = one_line(redaction.redact_text(data[:4_000].decode("utf-8", "replace")).strip(), 160)
    return f" ({text})" if text else ""


def _kept_text(data: bytes) -> str:
    text = data[: _KEPT_OUTPUT * 2].decode("utf-8", "replace")
    return safe_text(scrub(text).text)[:_KEPT_OUTPUT]
