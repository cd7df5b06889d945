"""Run the checker of a list of findings and read its output.

The checker is a command that a human named. It runs as hooks do, without secrets in its environment, in a
process group of its own, for a limited time, and what it prints is data.
"""

import asyncio
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.effects.child_processes import ProcessNotStarted
from workbench.effects.command_execution import CommandExit, prepare_command
from workbench.effects.terminal_programs import NOT_FOUND
from workbench.formats.findings.read import FindingsFile, read_findings
from workbench.formats.findings.report import FindingsUnreadable
from workbench.host import redaction
from workbench.host.call_context import outside_environment
from workbench.host.driver_context import DriverContext
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line, safe_text

CHECK_SECONDS: Final = 300.0
"""Seconds that a checker may take."""
MOST_CHECK_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes that it may print."""
_NOT_FOUND: Final = "; a program in the workspace is only run where the command names its path"
_KEPT_OUTPUT: Final = 200_000


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
    output = _Output()
    try:
        prepared = prepare_command(
            ("/bin/sh", "-c", command), context.workspace, outside_environment(context),
            f"check-{context.clock.new_id()}", is_apart=True,
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
        return replace(facts, problem=broken)
    try:
        findings = read_findings(printed, context.root)
    except FindingsUnreadable as error:
        found = _NOT_FOUND if ended.code == NOT_FOUND else ""
        problem = f"it ended with {ended.code}, and {error}{_first_line(errors or printed)}{found}"
        return replace(facts, problem=problem)
    return replace(facts, findings=findings)


def _broken_end(ended: CommandExit) -> str:
    if ended.timed_out:
        return f"it took longer than {ended.duration:.0f} s and was ended"
    if ended.flooded:
        return f"it printed more than {MOST_CHECK_OUTPUT // 1024 // 1024} MB and was ended"
    if ended.stopped:
        return "it was stopped"
    return f"it was ended by signal {ended.signal}" if ended.signal is not None else ""


def _first_line(data: bytes) -> str:
    text = one_line(redaction.redact_text(data[:4_000].decode("utf-8", "replace")).strip(), 160)
    return f" ({text})" if text else ""


def _kept_text(data: bytes) -> str:
    text = data[: _KEPT_OUTPUT * 2].decode("utf-8", "replace")
    return safe_text(scrub(text).text)[:_KEPT_OUTPUT]
