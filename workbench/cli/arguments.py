"""The argument parser of one command, and the options that several commands take."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from workbench.cli.console import Console
from workbench.cli.errors import UsageError


class CommandParser(argparse.ArgumentParser):
    """A parser that explains itself in the house's three lines."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise UsageError(f"{self.prog} was not started", message, f"see {self.prog} --help")


def command_parser(
    path: Sequence[str], summary: str, example: str, configure: Callable[[argparse.ArgumentParser], None]
) -> argparse.ArgumentParser:
    """Return the parser of the words behind a command; `configure` adds its own options."""
    parser = CommandParser(
        prog=" ".join(["workbench", *path]),
        description=summary[0].upper() + summary[1:] + ".",
        epilog="example:\n" + "\n".join(f"  {line}" for line in example.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "-C", dest="directory", metavar="DIR", help="work in DIR instead of the current folder"
    )
    configure(parser)
    return parser


def add_json_option(parser: argparse.ArgumentParser, what: str = "print a JSON object") -> None:
    parser.add_argument("--json", action="store_true", help=what)


def add_yes_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask; required where there is no terminal")


def confirm(
    console: Console, question: str, word: str, *, what: str, remedy: str, lines: Iterable[str] = ()
) -> bool:
    """Ask at the terminal, below some lines, and return whether the word was typed.

    Raises UsageError where there is no terminal: `what` was not done, and `remedy` does it without asking.
    """
    if not console.can_ask:
        raise UsageError(what, "there is no terminal to ask at", remedy)
    console.say_lines(lines)
    console.write(f"{question} Type {word}: ")
    return sys.stdin.readline().strip() == word


def add_session_argument(parser: argparse.ArgumentParser) -> None:
    from workbench.cli.context import SESSION_ID_HELP

    parser.add_argument("id", metavar="ID", help=SESSION_ID_HELP)


def add_action_argument(parser: argparse.ArgumentParser) -> None:
    from workbench.cli.context import ACTION_ID_HELP

    parser.add_argument("id", metavar="ID", help=ACTION_ID_HELP)


def add_actions_argument(parser: argparse.ArgumentParser) -> None:
    from workbench.cli.context import ACTION_ID_HELP

    parser.add_argument("ids", nargs="+", metavar="ID", help=ACTION_ID_HELP)


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    newest = "id, its beginning, or NAME#NUMBER (default: the newest)"
    parser.add_argument("run", metavar="RUN", nargs="?", help=newest)


def add_list_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("list", metavar="LIST", nargs="?", help="id of a list (default: the newest)")
