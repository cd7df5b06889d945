"""`workbench completion SHELL`: print a script that completes commands, options and their values."""

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any, Final

from workbench.cli.console import Console
from workbench.cli.errors import EXIT_OK

EXAMPLE = """workbench completion bash > ~/.local/share/bash-completion/completions/workbench
workbench completion zsh > ~/.zfunc/_workbench
workbench completion fish > ~/.config/fish/completions/workbench.fish"""
SHELLS: Final = ("bash", "zsh", "fish")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")


def execute(options: Namespace, console: Console) -> int:
    console.out.write(completion_script(options.shell))
    return EXIT_OK


def completion_script(shell: str) -> str:
    """Return what a shell reads to complete `workbench`; it starts no program when it completes."""
    import shtab

    from workbench.cli.command_parsers import program_parser

    parser = program_parser()
    for action in _every_action(parser):
        action.help = (action.help or "").strip().partition("\n")[0]
        if action.metavar in _PATHS:
            action.complete = getattr(shtab, _PATHS[str(action.metavar)])  # type: ignore[attr-defined]
    return shtab.complete(parser, shell)


_PATHS: Final = {"FILE": "FILE", "DIR": "DIRECTORY"}
"""What a shell completes by the names of files or folders, and what `shtab` calls that."""


def _every_action(parser: ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments and options of a parser and of all parsers below it."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage] no public twin
        yield action
        below: Any = action.choices if action.nargs == argparse.PARSER else None
        for command in below.values() if below else ():
            yield from _every_action(command)
