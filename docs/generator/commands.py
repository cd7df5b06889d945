"""The page of commands, from the argument parsers."""

from collections.abc import Iterator, Sequence

from docs.generator.arguments import meaning, names, notes, own_arguments, usage
from docs.generator.tables import GENERATED, anchor, code, prose, sentence, table
from workbench.cli.arguments import CommandParser
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
    yield from _fence("text", [usage(parser)])
    yield from _options(parser)
    yield from _notes(parser)
    yield from _fence("sh", parser.examples)


def _options(parser: CommandParser) -> Iterator[str]:
    rows = [
        (", ".join(map(code, names(action))), meaning(action, prose, code))
        for action in own_arguments(parser)
    ]
    yield from table(("argument", "meaning"), rows)


def _notes(parser: CommandParser) -> Iterator[str]:
    for is_exit_codes, rows in notes(parser):
        head = "exit code" if is_exit_codes else "keys"
        yield from table((head, "meaning"), ((code(name), prose(text)) for name, text in rows))


def _fence(language: str, lines: Sequence[str]) -> Iterator[str]:
    yield from (f"```{language}", *lines, "```", "")
