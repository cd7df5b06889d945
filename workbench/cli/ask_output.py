"""Where an accepted command of `workbench ask` goes: a file, the clipboard, or stdout."""

import base64
from argparse import Namespace
from pathlib import Path

from workbench.cli.console import Console
from workbench.cli.errors import Refusal


def deliver(options: Namespace, console: Console, command: str) -> None:
    """Hand an accepted command on, byte for byte: to a file, the clipboard, or stdout."""
    if options.output is not None:
        _write_file(options.output, command)
        console.note(f"Written to {options.output}.")
    if options.clipboard:
        console.err.write(clipboard_sequence(command))
        console.err.flush()
        console.note("Sent to the terminal's clipboard.")
    if options.output is None and not options.clipboard:
        console.out.write(f"{command}\n")
        console.out.flush()


def clipboard_sequence(text: str) -> str:
    """Return what lets a terminal copy a text (OSC 52)."""
    return f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"


def _write_file(name: str, command: str) -> None:
    from workbench.effects.file_primitives import FileRefused
    from workbench.effects.path_files import write_atomic_parts

    path = Path(name).expanduser()
    try:
        write_atomic_parts(path, [f"{command}\n".encode()])
    except FileRefused as error:
        raise Refusal("the command was not written", error.why, "name another file with --output") from None
