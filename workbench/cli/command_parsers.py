"""The parsers of all commands together: for the reference, for completion in shells and for the manual page.

Imports the module of every command, which takes a second: nothing else needs all of them.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from workbench import __version__
from workbench.cli.arguments import CommandParser, command_parser
from workbench.cli.dispatch import COMMANDS, CommandEntry, load_command
from workbench.cli.screen import add_screen_options


class ParsedCommand(Struct, frozen=True, kw_only=True):
    """A command that a user can type: its words, its row of the table and its parser."""

    path: tuple[str, ...]
    entry: CommandEntry
    parser: CommandParser


def every_command(
    below: Mapping[str, CommandEntry] = COMMANDS, path: tuple[str, ...] = ()
) -> Iterator[ParsedCommand]:
    """Yield each command that is not hidden, in the order of the table."""
    for name, entry in below.items():
        if entry.is_hidden:
            continue
        if entry.module:
            yield parsed_command((*path, name), entry)
        yield from every_command(entry.below, (*path, name))


def parsed_command(path: Sequence[str], entry: CommandEntry) -> ParsedCommand:
    """Return one command with its parser."""
    command = load_command(entry)
    parser = command_parser(path, entry.summary, command.example, command.configure)
    return ParsedCommand(path=tuple(path), entry=entry, parser=parser)


def program_parser() -> argparse.ArgumentParser:
    """Return one parser of the whole program, with the commands as parsers below it.

    It is read and never parses: `workbench DIR` and `workbench FILE` are not in it.
    """
    parser = argparse.ArgumentParser(prog="workbench", allow_abbrev=False)
    parser.add_argument(
        "-C", dest="directory", metavar="DIR", help="work in DIR instead of the current folder"
    )
    parser.add_argument("--version", action="version", version=__version__, help="print the version")
    add_screen_options(parser)
    _add_commands(parser, COMMANDS, ())
    return parser


def _add_commands(
    parser: argparse.ArgumentParser, below: Mapping[str, CommandEntry], path: tuple[str, ...]
) -> None:
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, entry in below.items():
        if entry.is_hidden:
            continue
        whole = (*path, name)
        own = [parsed_command(whole, entry).parser] if entry.module else []
        command = commands.add_parser(name, help=entry.summary, parents=own, add_help=not own)
        if entry.below:
            # Words of its own would be in the place of the commands below it.
            options = [action for action in command._actions if action.option_strings]  # pyright: ignore[reportPrivateUsage]
            command._actions[:] = options  # pyright: ignore[reportPrivateUsage] no public twin
            _add_commands(command, entry.below, whole)
