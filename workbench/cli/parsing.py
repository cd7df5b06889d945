"""The parser of one command: what its words mean, its help, its usage errors.

Loaded for a command that has options to read. It runs nothing.
"""

import argparse
from collections.abc import Sequence
from typing import NoReturn

from workbench.cli.commands import CommandModule, Entry
from workbench.cli.errors import Misuse


class Parser(argparse.ArgumentParser):
    """A parser that explains itself in the house's three lines."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise Misuse(f"{self.prog} was not started", message, f"see {self.prog} --help")


def parsed(
    path: Sequence[str], entry: Entry, module: CommandModule, words: Sequence[str], directory: str | None
) -> argparse.Namespace:
    """Return the options that the words behind a command give.

    Raises:
        Misuse: They are none of its options.
        SystemExit: Its help was asked for, and printed.
    """
    return parser_for(path, entry, module).parse_args(list(words), argparse.Namespace(directory=directory))


def parser_for(path: Sequence[str], entry: Entry, module: CommandModule) -> argparse.ArgumentParser:
    """Return the parser of one command."""
    parser = Parser(
        prog=" ".join(["workbench", *path]),
        description=entry.summary[0].upper() + entry.summary[1:] + ".",
        epilog="example:\n" + "\n".join(f"  {line}" for line in module.EXAMPLE.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-C", dest="directory", metavar="DIR", help="work there instead of in this folder")
    module.configure(parser)
    return parser
