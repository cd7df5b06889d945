"""The page of commands, from the argument parsers."""

import argparse
import re
from collections.abc import Iterator, Mapping

from docs.generator.tables import GENERATED, anchor, code, prose, sentence, table
from workbench.cli.command_parsers import ParsedCommand, every_command, parsed_command
from workbench.cli.dispatch import COMMANDS, SCREEN_COMMAND, CommandEntry

_HEAD = f"""# Commands

{GENERATED}

Every command with its arguments, options, defaults, exit codes and examples. `--help` behind a command prints
the most used of them.

- `-C DIR` works in each command: it works in DIR instead of the current folder.
- A value may stand behind its option (`--limit 5`) or in one word with it (`--limit=5`).
- IDs may be shortened to a beginning that no other has.
- Where no exit codes are named: 0 is success, 1 a failure, 2 a wrong command line, 130 ctrl+c.
"""
_NO_DEFAULTS = (None, False, "", [], (), argparse.SUPPRESS)


def commands_page() -> str:
    """Return the whole page."""
    commands = list(every_command())
    screen = COMMANDS[SCREEN_COMMAND]
    lines = [_HEAD, *_contents(commands), "## The screen", ""]
    lines += _fence("text", ["workbench [DIR|FILE] [--continue] [--all] [--plain]"])
    lines += [
        "Without a command: open the screen on DIR, or on the current folder. A FILE opens as what it is:",
        "findings, a pipeline, a patch, settings, a session or a log.",
        "",
        *_options(parsed_command((SCREEN_COMMAND,), screen).parser),
    ]
    for command in commands:
        lines += _command_lines(command)
    return "\n".join(lines).rstrip() + "\n"


def _contents(commands: list[ParsedCommand]) -> Iterator[str]:
    yield from table(
        ("command", "what it does"),
        (
            (" ".join(_links(name, entry, commands)), sentence(prose(entry.summary)))
            for name, entry in COMMANDS.items()
            if not entry.is_hidden
        ),
    )


def _links(name: str, entry: CommandEntry, commands: list[ParsedCommand]) -> Iterator[str]:
    """Yield links to a command, or to those of a group."""
    if not entry.module:
        yield f"{name}:"
    for command in commands:
        if command.path[0] == name:
            words = " ".join(command.path)
            shown = words if entry.module else " ".join(command.path[1:])
            yield f"[{shown}](#{anchor(words)})"


def _command_lines(command: ParsedCommand) -> Iterator[str]:
    parser = command.parser
    yield from (f"## {' '.join(command.path)}", "", sentence(prose(command.entry.summary)), "")
    yield from _fence("text", [_usage(parser)])
    yield from _options(parser)
    yield from _notes(parser.notes)
    yield from _fence("sh", parser.examples)


def _usage(parser: argparse.ArgumentParser) -> str:
    named = [action for action in parser.arguments if action.option_strings]
    values = [_values(action) for action in parser.arguments if not action.option_strings]
    return " ".join([parser.prog, *(["[OPTIONS]"] if len(named) > 2 else ()), *values])


def _values(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest.upper())
    forms = {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}
    return forms.get(str(action.nargs), name)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    actions = [action for action in parser.arguments if action.dest not in ("help", "directory")]
    yield from table(("argument", "meaning"), ((_name(action), _meaning(action)) for action in actions))


def _name(action: argparse.Action) -> str:
    if not action.option_strings:
        return code(str(action.metavar or action.dest))
    takes_value = action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction)
    value = f" {action.metavar or '|'.join(map(str, action.choices or (action.dest.upper(),)))}"
    return ", ".join(code(name + (value if takes_value else "")) for name in action.option_strings)


def _meaning(action: argparse.Action) -> str:
    first, _, rest = (action.help or "").replace("%%", "%").partition("\n")
    words = [str(choice) for choice in action.choices or ()]
    text = " ".join(filter(None, (_phrase(first, words), _phrase(rest, words))))
    unnamed = [word for word in words if word not in text]
    if unnamed and action.metavar:
        text += f" One of {', '.join(map(code, words))}."
    default = action.default
    if (
        default not in _NO_DEFAULTS
        and "default" not in text
        and str(default) not in text
        and not _is_size(default)
    ):
        text += f" Default: {code(f'{default:g}' if isinstance(default, float) else str(default))}."
    return text


def _phrase(text: str, words: list[str]) -> str:
    """Return a sentence that begins with a capital letter, unless it begins with a value."""
    whole = sentence(prose(text))
    is_value = re.split(r"[ ,:(]", text, maxsplit=1)[0] in words
    return text[:1] + whole[1:] if is_value else whole


def _is_size(default: object) -> bool:
    """Return whether a default is a pair of numbers, which its text has in another form."""
    return isinstance(default, tuple)


def _notes(notes: str) -> Iterator[str]:
    """Yield paragraphs of exit codes and keys as tables."""
    for paragraph in filter(None, notes.split("\n\n")):
        title, *rows = paragraph.splitlines()
        heads: Mapping[bool, tuple[str, str]] = {True: ("exit code", "meaning"), False: ("keys", "meaning")}
        cut = [line.strip().split("  ", 1) for line in rows]
        yield from table(
            heads[title.startswith("exit")], ((code(name), sentence(prose(text))) for name, text in cut)
        )


def _fence(language: str, lines: list[str] | tuple[str, ...]) -> Iterator[str]:
    yield from (f"```{language}", *lines, "```", "")
