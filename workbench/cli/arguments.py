"""The argument parser of one command, its help, and the options that several commands take.

Of the text of an option the help shows the first line; the reference has the lines below it too. An option
whose text begins with a line end is in the reference only.
"""

import argparse
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, Protocol

from workbench.cli.console import Console
from workbench.cli.errors import UsageError

_FREE_WORDS: Final = "has_free_words"
_MOST_EXAMPLES: Final = 3
"""Examples in the help of a command; the reference has all of them."""
_MOST_USAGE_LINES: Final = 2
_REFERENCE: Final = "all options and examples: workbench docs commands"


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Formats the first line of each text, and a long usage without its options."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None = None,
    ) -> None:
        whole = self._format_usage(usage, actions, groups, prefix)
        if len(whole.strip().splitlines()) > _MOST_USAGE_LINES:
            named = [action for action in actions if not action.option_strings]
            values = self._format_usage(None, named, (), "").strip().removeprefix(self._prog)
            usage, actions, groups = f"{self._prog} [OPTIONS]{values}".replace("%", "%%"), named, ()
        super().add_usage(usage, actions, groups, prefix)

    def add_argument(self, action: argparse.Action) -> None:
        if not is_in_reference_only(action):
            super().add_argument(action)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return super()._split_lines(text.partition("\n")[0], width)


def is_in_reference_only(action: argparse.Action) -> bool:
    return (action.help or "").startswith("\n")


class CommandParser(argparse.ArgumentParser):
    """A parser that explains itself in the house's three lines.

    A word that begins with a hyphen and is not an option of the command is text: the value of the option
    before it, or one of the free words of a command that has them.
    """

    notes: str = ""
    """Exit codes and keys, in paragraphs with a title; help has them above the examples."""
    examples: Sequence[str] = ()

    @property
    def arguments(self) -> Sequence[argparse.Action]:
        """The arguments and options in their order, without hidden ones."""
        return [action for action in self._actions if action.help != argparse.SUPPRESS]

    def format_help(self) -> str:
        """Return the help, with the examples and a pointer to the reference where it has more."""
        texts = [action.help or "" for action in self.arguments]
        is_cut = len(self.examples) > _MOST_EXAMPLES or any("\n" in text for text in texts)
        lines = [
            *([self.notes, ""] if self.notes else ()),
            "example:",
            *(f"  {line}" for line in self.examples[:_MOST_EXAMPLES]),
            *(["", _REFERENCE] if is_cut else ()),
        ]
        self.epilog = "\n".join(lines)
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise UsageError(f"{self.prog} was not started", message, f"see {self.prog} --help")

    def parse_words(self, words: Sequence[str], options: argparse.Namespace) -> argparse.Namespace:
        """Parse the words behind a command into `options`."""
        end = words.index("--") if "--" in words else len(words)
        typed = self._with_joined_values(words[:end])
        if not self.get_default(_FREE_WORDS):
            return self.parse_args([*typed, *words[end:]], options)
        named = [word for word in typed if self._is_option(word)]
        free = [word for word in typed if not self._is_option(word)]
        return self.parse_args([*named, "--", *free, *words[end + 1 :]], options)

    def _with_joined_values(self, words: Sequence[str]) -> list[str]:
        """Return words with every value in one word with its option: argparse takes none with a hyphen."""
        joined: list[str] = []
        rest = deque(words)
        while rest:
            word = rest.popleft()
            action = self._option_string_actions.get(word)
            is_valued = action is not None and action.nargs is None
            if is_valued and rest and not self._is_option(rest[0]):
                word = f"{word}={rest.popleft()}"
            joined.append(word)
        return joined

    def _is_option(self, word: str) -> bool:
        """Return whether a word is an option of this command, alone or with its value behind it."""
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        action = self._option_string_actions.get(name)
        return action is not None and (word == name or action.nargs is None)


def add_free_words(parser: argparse.ArgumentParser, name: str, what: str) -> None:
    """Add words of any number, in any place, that may begin with a hyphen."""
    parser.set_defaults(**{_FREE_WORDS: True})
    parser.add_argument(name, nargs="+", metavar="TEXT", help=what)


def command_parser(
    path: Sequence[str], summary: str, example: str, configure: Callable[[CommandParser], None]
) -> CommandParser:
    """Return the parser of the words behind a command; `configure` adds its own options."""
    parser = CommandParser(
        prog=" ".join(["workbench", *path]),
        description=summary[0].upper() + summary[1:] + ".",
        formatter_class=_HelpFormatter,
        allow_abbrev=False,
    )
    parser.examples = example.splitlines()
    parser.add_argument(
        "-C", dest="directory", metavar="DIR", help="work in DIR instead of the current folder"
    )
    configure(parser)
    return parser


class OptionHolder(Protocol):
    """What options are added to: a parser, or a group of one."""

    def add_argument(self, *names: str, **settings: Any) -> object:
        """Add an option."""
        ...


def add_json_option(parser: OptionHolder, what: str = "print a JSON object") -> None:
    """Add `--json` to a command that prints data; without it the setting `output_format` decides."""
    parser.add_argument("--json", action=argparse.BooleanOptionalAction, default=None, help=what)


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
