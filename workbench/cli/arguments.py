"""The argument parser of one command, with its help and its usage errors."""

import argparse
from collections.abc import Sequence
from typing import NoReturn

from workbench.cli.dispatch import Command, CommandEntry
from workbench.cli.errors import UsageError


class CommandParser(argparse.ArgumentParser):
    """A parser that explains itself in the house's three lines."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise UsageError(f"{self.prog} was not started", message, f"see {self.prog} --help")


def parse_options(
    path: Sequence[str],
    entry: CommandEntry,
    command: Command,
    words: Sequence[str],
    directory: str | None,
) -> argparse.Namespace:
    """Return the options that the words behind a command give."""
    return command_parser(path, entry, command).parse_args(
        list(words), argparse.Namespace(directory=directory)
    )


def command_parser(path: Sequence[str], entry: CommandEntry, command: Command) -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=" ".join(["workbench", *path]),
        description=entry.summary[0].upper() + entry.summary[1:] + ".",
        epilog="example:\n" + "\n".join(f"  {line}" for line in command.example.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "-C", dest="directory", metavar="DIR", help="work in DIR instead of the current folder"
    )
    command.configure(parser)
    return parser
