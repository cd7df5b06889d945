"""Arguments and options of a parser in words, for pages in any form."""

import argparse
import re
from collections.abc import Callable, Iterator

from docs.generator.tables import sentence
from workbench.cli.arguments import CommandParser

Form = Callable[[str], str]
"""Puts plain text into the form of a page: escapes it, or marks it as code."""
_NO_DEFAULTS = (None, False, "", [], (), argparse.SUPPRESS)


def usage(parser: CommandParser) -> str:
    """Return the words of a command line: the command, its options in one word, its arguments."""
    named = [action for action in parser.arguments if action.option_strings]
    values = [_argument(action) for action in parser.arguments if not action.option_strings]
    return " ".join([parser.prog, *(["[OPTIONS]"] if len(named) > 2 else ()), *values])


def _argument(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest.upper())
    forms = {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}
    return forms.get(str(action.nargs), name)


def own_arguments(parser: CommandParser) -> list[argparse.Action]:
    """Return the arguments and options of a command without those that all commands have."""
    return [action for action in parser.arguments if action.dest not in ("help", "directory")]


def names(action: argparse.Action) -> list[str]:
    """Return an argument, or an option in each of its forms with its value."""
    if not action.option_strings:
        return [_metavar(action) or action.dest]
    takes_value = action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction)
    value = f" {_metavar(action) or ('VALUE' if action.choices else action.dest.upper())}"
    more = " …" if action.nargs == "+" else ""
    return [name + (value + more if takes_value else "") for name in action.option_strings]


def _metavar(action: argparse.Action) -> str:
    return str(action.metavar or "").replace("|", " or ")


def meaning(action: argparse.Action, words: Form, code: Form) -> str:
    """Return sentences: what it does, which values it takes, and its default where they do not say so."""
    first, _, rest = (action.help or "").replace("%%", "%").partition("\n")
    choices = [str(choice) for choice in action.choices or ()]
    text = " ".join(filter(None, (_phrase(first, choices), _phrase(rest, choices))))
    parts = [words(text)]
    if any(choice not in text for choice in choices):
        parts.append(f"One of {', '.join(map(code, choices))}.")
    default = "" if action.default in _NO_DEFAULTS else _default(action.default)
    if default and "default" not in text and default not in text:
        parts.append(f"Default: {code(default)}.")
    return " ".join(parts)


def _phrase(text: str, choices: list[str]) -> str:
    """Return a sentence that begins with a capital letter, unless it begins with a value."""
    is_value = re.split(r"[ ,:(]", text, maxsplit=1)[0] in choices
    return text[:1] + sentence(text)[1:] if is_value else sentence(text)


def _default(value: object) -> str:
    """Return a default as it is typed; empty for a pair of numbers, which its text has."""
    if isinstance(value, tuple):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def notes(parser: CommandParser) -> Iterator[tuple[bool, list[tuple[str, str]]]]:
    """Yield each paragraph of a command's notes as rows, and whether it is about exit codes (else keys)."""
    for paragraph in filter(None, parser.notes.split("\n\n")):
        title, *lines = paragraph.splitlines()
        cut = [line.strip().split("  ", 1) for line in lines]
        yield title.startswith("exit"), [(name, sentence(text.strip())) for name, text in cut]
