"""From words to a command: finds it in the table, imports it, parses its arguments, runs it.

Owns help, usage errors and the last line of defence: whatever a command raises ends here as short lines on
stderr and an exit code.
"""

import gc
import importlib
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn, cast

from workbench import __version__
from workbench.cli.commands import COMMANDS, SCREEN, SCREEN_OPTIONS, CommandModule, Entry
from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse, report, silence
from workbench.records import dataclass
from workbench.text.safe import safe

if TYPE_CHECKING:
    from argparse import Namespace

_HELP = ("-h", "--help")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The words of a command line, taken apart as far as the table reaches."""

    path: tuple[str, ...]
    entry: Entry
    rest: tuple[str, ...]
    directory: str | None = None
    wants_help: bool = False
    wants_version: bool = False


def dispatch(words: Sequence[str], console: Console | None = None) -> int:
    """Run the command that the words name and return its exit code."""
    _make_encodable()
    console = console or Console()
    try:
        code = _run(words, console)
        console.out.flush()
    except BrokenPipeError:
        return silence(console)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else DONE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- the one place where errors become words
        return _reported(error, console)
    return code


def _reported(error: BaseException, console: Console) -> int:
    try:
        return report(error, console)
    except BrokenPipeError:
        return silence(console)


def _run(words: Sequence[str], console: Console) -> int:
    request = split(words)
    if request.wants_version:
        console.say(f"workbench {__version__}")
        return DONE
    if request.wants_help:
        console.say(overview(request.path, request.entry))
        return DONE
    if request.entry.below:
        return _incomplete(request)
    module = cast("CommandModule", importlib.import_module(request.entry.module))
    options = _options(request, module)
    _collect_again()
    return module.execute(options, console)


def _options(request: Request, module: CommandModule) -> "Namespace":
    """Return what the words behind the command say; of a command that opens a screen most need no parser."""
    simple = getattr(module, "simple", None)
    found = simple(request.rest) if simple is not None else None
    if found is not None:
        return cast("Namespace", SimpleNamespace(directory=request.directory, **found))
    from workbench.cli.parsing import parsed

    return parsed(request.path, request.entry, module, request.rest, request.directory)


def _collect_again() -> None:
    """Look for garbage from now on, but not in what was imported, which stays; once a process is enough."""
    if gc.get_freeze_count() == 0:
        gc.freeze()
    gc.enable()


def split(words: Sequence[str]) -> Request:
    """Walk down the table as far as the words name commands.

    Raises:
        Misuse: A word is no command or option of the place it stands at.
    """
    entry, directory = Entry(summary="", below=COMMANDS), None
    path: list[str] = []
    rest = list(words)
    while entry.below and rest:
        word = rest.pop(0)
        if word in _HELP or word == "--version":
            return _asked(tuple(path), entry, word)
        if word.startswith("-C"):
            directory = word[2:] or (rest.pop(0) if rest else _no_folder())
            continue
        is_folder = word not in entry.below and Path(word).expanduser().is_dir()
        if not path and (word in SCREEN_OPTIONS or is_folder):
            return _screen((word, *rest), directory)
        entry = _below(entry, tuple(path), word)
        path.append(word)
    if not path:
        return _screen((), directory)
    return Request(path=tuple(path), entry=entry, rest=tuple(rest), directory=directory)


def _screen(rest: Sequence[str], directory: str | None) -> Request:
    """Return what `workbench` without a command means: the screen on a folder."""
    return Request(path=(SCREEN,), entry=COMMANDS[SCREEN], rest=tuple(rest), directory=directory)


def _asked(path: tuple[str, ...], entry: Entry, word: str) -> Request:
    is_help = word in _HELP
    return Request(path=path, entry=entry, rest=(), wants_help=is_help, wants_version=not is_help)


def _below(entry: Entry, path: tuple[str, ...], word: str) -> Entry:
    found = entry.below.get(word)
    if found is None:
        names = ", ".join(_visible(entry.below))
        kind = "option" if word.startswith("-") else "command"
        asked = " ".join(["workbench", *path])
        folder = "" if path or kind == "option" else ", and no folder is there by that name"
        raise Misuse(
            f"{asked} has no {kind} “{safe(word, keep_newlines=False)}”{folder}",
            f"there is {names}",
            f"{_meant(word, entry)}see {asked} --help",
        )
    return found


def _meant(word: str, entry: Entry) -> str:
    """Return the command that was meant, as the beginning of a remedy; empty where none is like it."""
    import difflib

    near = difflib.get_close_matches(word, _visible(entry.below), n=1)
    return f"type {near[0]} if you meant that; " if near else ""


def _no_folder() -> NoReturn:
    raise Misuse("workbench was not started", "-C needs a folder behind it", "see workbench --help")


def _incomplete(request: Request) -> NoReturn:
    asked = " ".join(["workbench", *request.path])
    names = ", ".join(_visible(request.entry.below))
    raise Misuse(f"{asked} was not started", f"it needs a command: {names}", f"see {asked} --help")


def overview(path: Sequence[str], entry: Entry) -> str:
    """Return the help of the program or of a group of commands."""
    asked = " ".join(["workbench", *path])
    shown = {name: found for name, found in entry.below.items() if not found.is_hidden}
    width = max(len(name) for name in shown)
    lines = [f"usage: {asked} [-C DIR] COMMAND …", ""]
    lines += [f"  {name.ljust(width)}  {found.summary}" for name, found in shown.items()]
    lines += ["", "  -C DIR       work there instead of in this folder", "  --help       of each command too"]
    if not path:
        lines += ["  --version    print the version"]
    return "\n".join([*lines, "", "example:", f"  {_EXAMPLES[path[0] if path else '']}"])


_EXAMPLES: Mapping[str, str] = {
    "": "workbench demo",
    "approvals": "workbench approvals watch",
    "sessions": "workbench sessions list --json",
    "host": "workbench host status",
    "config": "workbench config show",
    "tools": "workbench tools schema read_file",
    "rules": "workbench rules list",
}


def _visible(below: Mapping[str, Entry]) -> list[str]:
    return [name for name, entry in below.items() if not entry.is_hidden]


def _make_encodable() -> None:
    """Let streams of other encodings show what they cannot as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
