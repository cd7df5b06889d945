"""`workbench sandbox status, try`: what holds commands of agents here, and a command that is held by it."""

import asyncio
import codecs
import os
import shutil
import signal
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.cli.arguments import add_json_option
from workbench.cli.config import require_valid_config
from workbench.cli.console import Console
from workbench.cli.errors import Refusal, UsageError
from workbench.cli.headless_run import STOP_SIGNALS, signal_handlers
from workbench.cli.journal_access import open_journal
from workbench.cli.run_session import positive_number
from workbench.config.layers import load_config
from workbench.config.sections import SandboxSettings
from workbench.config.types import LoadedConfig
from workbench.domain.codec import to_json_value
from workbench.domain.rows import Rule
from workbench.domain.sandbox_strength import SandboxStrength, held_text
from workbench.domain.values import SandboxBackend, SandboxLevel, SandboxRefusal
from workbench.effects.child_processes import GATE_NAME
from workbench.effects.command_execution import CommandExit, prepare_command
from workbench.effects.files import workspace_path
from workbench.effects.folders import remove_tree, temporary_folder
from workbench.effects.process_environment import agent_environment
from workbench.effects.process_marks import AGENT_VARIABLE
from workbench.effects.sandbox import Sandbox, boxed_argv, boxed_environment
from workbench.effects.sandbox_proof import bubblewrap_version
from workbench.host.box_folders import quarantine_folder
from workbench.host.boxed_command import closed_refusals
from workbench.host.closed_names import NO_DENIALS, PathDenials
from workbench.host.command_box import (
    BoxPlaces,
    BoxUnavailable,
    ClosedChanges,
    CommandBox,
    forget_box,
    plan_box,
    quarantine_new_closed,
)
from workbench.host.path_denials import folder_gate, path_denials, patterns_as_globs
from workbench.host.session_sandbox import prove_sandbox_once
from workbench.journal.home import DATABASE_NAME, default_home_path
from workbench.policy.sandbox_refusals import read_refusals
from workbench.text.human import sentence
from workbench.text.safe import one_line, safe_text
from workbench.tools.execution import MAX_COMMAND_SECONDS
from workbench.tools.registry import tool_registry
from workbench.views.event_text import refusals_text

STATUS_EXAMPLE = """workbench sandbox status
workbench sandbox status --json"""
TRY_EXAMPLE = """workbench sandbox try -- make test
workbench sandbox try --timeout 3600 -- make test
workbench sandbox try --level read-only -- sh -c 'echo x > file'"""
_STRENGTH_SENTENCES: Final[dict[SandboxStrength, str]] = {
    "full": "Commands inside are kept from other files, other processes and the network.",
    "files": "Commands write nowhere else, have no network, and ask as without a sandbox.",
    "none": "Commands run as you, and ask as if there were no sandbox.",
}
_OWN_PLACES: Final = "a /tmp and caches of their own"
_HARD_LINKS: Final = "Note: a file here that is also elsewhere by a hard link can be changed there."
_MOST_LISTED: Final = 20
_MOST_CELLS: Final = 200
_MOST_BYTES: Final = 1 << 40
_MOST_CHARACTERS: Final = 16_384
_ENDED_BY_SIGNAL: Final = 128
_EXIT_TIMED_OUT: Final = 124
"""As `timeout` says it."""


class SandboxStatus(Struct, frozen=True, kw_only=True):
    """What holds commands here, and the box that they get."""

    backend: SandboxBackend
    version: str
    strength: SandboxStrength
    problem: str
    """Why it is not a full sandbox."""
    remedy: str
    level: SandboxLevel
    workspace: str
    unavailable: str = ""
    """Why commands in this workspace get no box."""
    writable: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def configure_status(parser: ArgumentParser) -> None:
    add_json_option(parser)


def execute_status(options: Namespace, console: Console) -> int:
    status = _status(workspace_path(options.directory), console)
    return console.result(to_json_value(status), _status_lines(status), is_json=options.json)


def _status(workspace: str, console: Console) -> SandboxStatus:
    settings = _settings(workspace, console)
    sandbox = prove_sandbox_once(settings.backend)
    status = SandboxStatus(
        backend=sandbox.backend, version=bubblewrap_version(sandbox), strength=sandbox.strength,
        problem=sandbox.problem, remedy=sandbox.remedy, level=settings.level, workspace=workspace,
    )  # fmt: skip
    with _storage() as storage:
        try:
            places = _places(workspace, workspace, storage, settings)
            planned = plan_box(places, "workspace", _denials(workspace))
        except BoxUnavailable as error:
            return replace(status, unavailable=f"{error.why} {error.remedy}")
        forget_box(planned)
    box, can_write = planned.box, settings.level != "read-only"
    writable = (box.workspace, *box.writable) if can_write else ()
    match sandbox.strength:
        case "full":
            return replace(
                status, writable=writable, closed=tuple(sorted(planned.before)) if can_write else (),
                visible=box.visible, notes=planned.notes,
            )  # fmt: skip
        case "files":
            return replace(status, writable=writable, visible=("/",))
        case "none":
            return replace(status, writable=("/",), visible=("/",))


def _status_lines(status: SandboxStatus) -> Iterator[str]:
    yield " ".join(filter(None, ("Sandbox:", status.backend, status.version)))
    yield f"  {_STRENGTH_SENTENCES[status.strength]}"
    if status.problem:
        yield f"Why not full: {status.problem}."
        yield f"What helps: {status.remedy}."
    yield f"Level: {status.level}"
    if status.level == "outside":
        yield "  The sandbox is switched off: commands run as you."
    elif status.strength != "none":
        yield f"  Commands {held_text(status.level, status.strength, 'have')}."
    if status.unavailable:
        yield f"Not in this workspace: {status.unavailable}"
    elif status.strength != "none" and status.level != "outside":
        yield from _box_lines(status)


def _box_lines(status: SandboxStatus) -> Iterator[str]:
    """Yield what commands inside can write and read."""
    yield from _list_lines("They can write", (*status.writable, _OWN_PLACES))
    if status.strength == "files":
        yield "They can read all that you can."
        yield "They can write .git and files that run automatically."
        yield "They can change times, owners, permissions and attributes of your files elsewhere."
        return
    if status.closed:
        yield from _list_lines("In it they cannot change what controls the workspace", status.closed)
    yield from _list_lines("They can also read folders of the system, such as /usr, and", status.visible)
    yield "The rest of your home folder is hidden."
    if status.writable:
        yield _HARD_LINKS
    yield from (f"Note: {one_line(note, _MOST_CELLS)}." for note in status.notes)


def _list_lines(title: str, paths: Sequence[str]) -> Iterator[str]:
    yield f"{title}: {'' if paths else 'nothing'}".rstrip()
    yield from (f"  {one_line(path, _MOST_CELLS)}" for path in paths[:_MOST_LISTED])
    if len(paths) > _MOST_LISTED:
        yield f"  and {len(paths) - _MOST_LISTED} more (all: workbench sandbox status --json)"


# --- try ------------------------------------------------------------------------------------------


def configure_try(parser: ArgumentParser) -> None:
    levels = ("read-only", "workspace")
    parser.add_argument("--level", choices=levels, help="what it may touch; else as in the settings")
    parser.add_argument("--folder", metavar="DIR", help="where it runs; else in the workspace")
    parser.add_argument(
        "--timeout", type=positive_number(float), default=float(MAX_COMMAND_SECONDS), metavar="S",
        help=f"end it when it takes longer (default: {MAX_COMMAND_SECONDS}, as for an agent)",
    )  # fmt: skip
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="after --: the command and its words")
    add_json_option(parser, "print how it ended as an object, with the end of what it printed")


class TriedCommand(Struct, kw_only=True):
    """How a command ended in the sandbox; what is not known yet is empty."""

    exit_code: int = 0
    level: SandboxLevel
    backend: SandboxBackend
    stdout: str = ""
    """The end of what it printed there."""
    stderr: str = ""
    refusals: tuple[SandboxRefusal, ...] = ()
    moved_to: str = ""
    """The folder of what was moved out of the workspace; empty where nothing was."""
    notes: tuple[str, ...] = ()
    """What is said of its end, as without `--json`."""


def execute_try(options: Namespace, console: Console) -> int:
    """Run the command and return its exit code."""
    workspace = workspace_path(options.directory)
    settings = _settings(workspace, console)
    level: SandboxLevel = options.level or settings.level
    sandbox = prove_sandbox_once(settings.backend)
    if level == "outside":
        raise UsageError(_NOT_RUN, "sandbox.level is outside", "choose a level with --level")
    if sandbox.strength == "none":
        raise Refusal(_NOT_RUN, sandbox.problem, sandbox.remedy)
    if sandbox.problem:
        console.note(f"{_STRENGTH_SENTENCES[sandbox.strength]} {sentence(sandbox.problem)}")
    folder = workspace_path(options.folder) if options.folder else workspace
    with _storage() as storage:
        places = _places(workspace, folder, storage, settings)
        tried = TriedCommand(level=level, backend=sandbox.backend)
        asyncio.run(_try(sandbox, places, tried, _denials(workspace), options, console))
    if options.json:
        console.json(to_json_value(tried))
    return tried.exit_code


class _StopSignal(Struct):
    """Set by a signal that ends the command."""

    event: asyncio.Event = field(default_factory=asyncio.Event)
    number: int = 0

    def hear(self, number: int) -> bool:
        self.number = self.number or number
        self.event.set()
        return True


async def _try(
    sandbox: Sandbox,
    places: BoxPlaces,
    tried: TriedCommand,
    denials: PathDenials,
    options: Namespace,
    console: Console,
) -> None:
    """Run the command, and move out of the workspace what it may not leave there, whatever ends it."""
    stop = _StopSignal()
    with ExitStack() as handlers:
        for number in _STOP_SIGNALS:
            handlers.enter_context(signal_handlers((number,), partial(stop.hear, number)))
        planned = plan_box(places, tried.level, denials)
        environment = boxed_environment(agent_environment(os.environ, planned.box.folder), planned.box)
        try:
            end, is_silent = await _run(sandbox, planned, tried, options, environment, stop.event, console)
            notes = _end_notes(end, tried, planned, options, environment, is_silent=is_silent)
            _report(notes, tried, options, console)
            tried.exit_code = _exit_code(end, stop.number)
        finally:
            _report_closed(planned, tried, options, console)


_STOP_SIGNALS: Final = (*STOP_SIGNALS, signal.SIGQUIT)


def _end_notes(
    end: CommandExit,
    tried: TriedCommand,
    planned: CommandBox,
    options: Namespace,
    environment: Mapping[str, str],
    *,
    is_silent: bool,
) -> Iterator[str]:
    """Yield what is said of the end of a command; `is_silent`: it printed nothing that is its own."""
    if end.timed_out:
        yield f"It ran longer than {options.timeout:g} s and was ended. --timeout gives it longer."
    if is_silent and end.code in _NOT_STARTED_CODES:
        yield _not_started(options.command[0], end.code, environment.get("PATH", ""))
    output, workspace = tried.stdout + tried.stderr, planned.places.workspace
    if refusals := read_refusals(output, end.code, planned.box.level, workspace):
        tried.refusals = refusals
        yield f"The sandbox refused {refusals_text(refusals)}."


def _report_closed(planned: CommandBox, tried: TriedCommand, options: Namespace, console: Console) -> None:
    changes = quarantine_new_closed(planned)
    with suppress(OSError):  # the terminal may be gone
        _report(_closed_notes(changes, planned.places, tried), tried, options, console)


def _closed_notes(changes: ClosedChanges, places: BoxPlaces, tried: TriedCommand) -> Iterator[str]:
    if closed := closed_refusals(changes, places):
        tried.refusals += closed
        yield f"The sandbox refused {refusals_text(closed)}."
    kept = quarantine_folder(places.storage)
    if os.path.lexists(kept):
        tried.moved_to = kept
        yield f"What was moved out of the workspace, and a list, is in {kept}."


def _report(notes: Iterator[str], tried: TriedCommand, options: Namespace, console: Console) -> None:
    """Say each note, or keep it for the object that is printed."""
    for note in notes:
        tried.notes += (note,)
        if not options.json:
            console.note(note)


def _exit_code(end: CommandExit, stopped_by: int) -> int:
    if end.timed_out:
        return _EXIT_TIMED_OUT
    if end.stopped:
        return _ENDED_BY_SIGNAL + stopped_by
    return end.code if end.code is not None else _ENDED_BY_SIGNAL + (end.signal or 0)


_NOT_RUN: Final = "the command was not run"


async def _run(
    sandbox: Sandbox,
    planned: CommandBox,
    tried: TriedCommand,
    options: Namespace,
    environment: Mapping[str, str],
    stop: asyncio.Event,
    console: Console,
) -> tuple[CommandExit, bool]:
    """Run a command, print what it prints or keep the end of it; return whether it printed nothing.

    That is so of a program that was not started.
    """
    words = boxed_argv(sandbox, planned.box, options.command)
    prepared = prepare_command(words, planned.box.folder, environment, "try", is_apart=True, is_boxed=True)
    printed = _Printer(None if options.json else console.out)
    noted = _ErrorPrinter(None if options.json else console.err)
    end = await prepared.go(noted.feed, options.timeout, stop, _MOST_BYTES, on_stdout=printed.feed)
    printed.close()
    noted.close(end.code)
    tried.stdout, tried.stderr = printed.end, noted.end
    return end, not (printed.end or noted.end)


_NOT_FOUND, _NOT_PERMITTED = 127, 126
_NOT_STARTED_CODES: Final = (_NOT_FOUND, _NOT_PERMITTED)
"""By which a shell says that it could not run a program."""


def _not_started(program: str, code: int | None, path: str) -> str:
    """Return why a program did not start inside, and what to do."""
    name = one_line(program, _MOST_CELLS)
    if code == _NOT_PERMITTED:
        return f"{name} cannot be run inside: it is a folder, or no program, or may not be run."
    if "/" in program:
        return f"{name} was not found inside. workbench sandbox status lists what is visible."
    outside = shutil.which(program, path=path)
    if outside is None:
        return f"{name} was not found inside. PATH is {one_line(path, _MOST_CELLS)} there."
    return (
        f"{name} was not found inside. Outside it is {one_line(os.path.realpath(outside), _MOST_CELLS)}: "
        "add its folder to sandbox.visible in your own config.json."
    )


class _Printer:
    """Prints what a command prints: made safe on a terminal, as it is elsewhere; nothing without a stream."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.end = ""
        """Its last part."""

    def feed(self, data: bytes) -> None:
        self._write(self._decoder.decode(data))

    def close(self) -> None:
        self._write(self._decoder.decode(b"", final=True))

    def _write(self, text: str) -> None:
        self.end = (self.end + text)[-_MOST_CHARACTERS:]
        if self._stream is None:
            return
        self._stream.write(safe_text(text) if self._stream.isatty() else text)
        self._stream.flush()


class _ErrorPrinter(_Printer):
    """Holds back the first line if the gate of the command may have printed it."""

    _MARK: Final = f"{GATE_NAME}: ".encode()

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__(stream)
        self._held = b""
        self._is_holding = True

    def feed(self, data: bytes) -> None:
        if self._is_holding:
            self._held += data
            start = self._held[: len(self._MARK)]
            self._is_holding = self._MARK.startswith(start) and len(self._held) < _MOST_CHARACTERS
            data = self._held
        if not self._is_holding:
            super().feed(data)

    def close(self, code: int | None = None) -> None:
        """Print what is held, unless it is only why the program did not start."""
        if self._is_holding and not (code in _NOT_STARTED_CODES and self._held.count(b"\n") == 1):
            super().feed(self._held)
        super().close()


# --- what both need -------------------------------------------------------------------------------


def _is_inside_agent() -> bool:
    return AGENT_VARIABLE in os.environ and "WORKBENCH_HOME" not in os.environ


def _settings(workspace: str, console: Console) -> SandboxSettings:
    """Return the settings of the sandbox, refused as a run refuses them; an agent learns none of them."""
    if _is_inside_agent():
        return SandboxSettings()
    loaded = _loaded(workspace)
    require_valid_config(loaded, console)
    return loaded.config.sandbox


def _loaded(workspace: str) -> LoadedConfig:
    home = default_home_path(os.environ)
    return load_config(home, Path(workspace), trusted=False, env=os.environ, options={})


def _denials(workspace: str) -> PathDenials:
    """Return what the settings and rules deny of files; of rules only where there is a data folder."""
    if _is_inside_agent():
        return NO_DENIALS
    data, deny = default_home_path(os.environ), patterns_as_globs(_loaded(workspace).config.approvals.deny)
    rules: tuple[Rule, ...] = ()
    if (data / DATABASE_NAME).is_file():
        with open_journal() as journal:
            rules = tuple(journal.rules())
    now = time.time_ns() // 1000
    return path_denials(
        folder_gate(str(data), workspace, deny, rules, now, lambda: tool_registry().descriptors())
    )


def _places(workspace: str, folder: str, storage: str, settings: SandboxSettings) -> BoxPlaces:
    return BoxPlaces(
        data=os.path.realpath(default_home_path(os.environ)), storage=storage, caches=f"{storage}/caches",
        workspace=workspace, folder=folder, home=os.path.realpath(Path.home()),
        search_path=os.environ.get("PATH", ""), visible=settings.visible,
    )  # fmt: skip


@contextmanager
def _storage() -> Generator[str]:
    """Make a folder for what a box keeps; it stays only where something was moved out of the workspace."""
    try:
        folder = os.path.realpath(temporary_folder("workbench-sandbox-"))
    except OSError as error:
        raise Refusal(
            "no folder was made for the sandbox", error.strerror or str(error), "name another in TMPDIR"
        ) from None
    try:
        yield folder
    finally:
        if not os.path.lexists(quarantine_folder(folder)):
            remove_tree(folder)
